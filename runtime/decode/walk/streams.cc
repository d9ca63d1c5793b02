#include "runtime/decode/walk/streams.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/decode/fields/addresses.h"
#include "runtime/decode/trace/player.h"
#include "runtime/decode/trace/recorder.h"
#include "runtime/decode/walk/bound_settings.h"
#include "runtime/decode/walk/pointers.h"
#include "runtime/decode/walk/record_shower.h"

namespace packsmith::decode {
namespace {

// Read at once to identify a packet and its length; longer packets are read again.
constexpr uint64_t kWindow = 256;
// Largest piece of one `unknown` record.
constexpr uint64_t kLongestUnknown = 4096;
constexpr int kFarthestLook = 256;  // packets
constexpr uint64_t kBriefWindow = 1 << 20;

uint64_t AlignUp(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

uint32_t FirstWord(absl::Span<const uint8_t> bytes) {
  uint32_t word = 0;
  if (bytes.size() >= 4) {
    std::memcpy(&word, bytes.data(), 4);
  } else if (!bytes.empty()) {
    std::memcpy(&word, bytes.data(), bytes.size());
  }
  return word;
}

[[gnu::always_inline]] inline uint32_t FindPacket(tables::PacketFinder& finder,
                                                  absl::Span<const uint8_t> bytes) {
  return finder.Find(FirstWord(bytes), bytes.size());
}

}  // namespace

Streams::Streams(Walk& walk) : walk_(walk), tables_(walk.tables), options_(walk.options) {}

void Streams::KeepReached(bool keep) {
  reached_.clear();
  keeps_reached_ = keep;
}

void Streams::AddReached(uint32_t space, uint64_t address) {
  if (keeps_reached_) reached_.insert({space, address});
}

void Streams::WalkBriefly(const Position& at, Frame& frame) {
  const absl::Span<const uint8_t> memory =
      walk_.memory.memory().Read(frame.space, frame.address, std::min(frame.left(), kBriefWindow));
  size_t done = 0;
  uint64_t draws = 0, dispatches = 0;
  Costs& costs = walk_.costs;
  while (memory.size() - done >= 4 && costs.packets < costs.most_packets) {
    uint32_t word = 0;
    std::memcpy(&word, memory.data() + done, 4);
    const tables::PacketFinder::Kind& kind = at.finder.Find(word);
    if (!kind.plain || (kind.mark & kBusy) != 0) break;
    const uint32_t length = kind.Bytes(word);
    if (length > memory.size() - done) break;
    draws += kind.mark & kDraw;
    dispatches += (kind.mark & kDispatch) != 0;
    costs.AddPacket(length);
    walk_.out.EmitBrief({frame.address + done, memory.data() + done, length, kind.container,
                         frame.depth, frame.space});
    done += length;
  }
  walk_.out.summary().draws += draws;
  walk_.out.summary().dispatches += dispatches;
  frame.address += done;
}

// Inline where it is called: each packet comes here.
[[gnu::always_inline]] inline bool Streams::ShowPacket(Position& at, uint32_t container,
                                                       absl::Span<const uint8_t> window) {
  Frame& top = at.frames.back();
  const tables::Container& c = tables_.container(container);
  walk_.here = top.address;
  walk_.looked_ahead = false;
  walk_.stream = at.stream;
  Shape* shape =
      walk_.UsesShapes() ? walk_.shapes.Find(container, window, ShapeCache::kOwnLength) : nullptr;
  Shown& shown = at.packet;
  shown.container = container;
  shown.space = top.space;
  shown.address = top.address;
  shown.depth = top.depth;
  shown.learns = false;
  const bool is_traced = shape != nullptr && shape->is_traced && at.traces;
  if (shape != nullptr && (is_traced || shape->quiet) && walk_.overlay.empty()) {
    const uint64_t bytes = shape->bytes;
    shown.bytes = window.subspan(0, bytes);
    shown.now = window.subspan(0, bytes);
    shown.length = bytes;
    walk_.stored.clear();
    const auto show = [&] { walk_.shower->Show(shape, shown); };
    const bool is_recorded = walk_.out.observer() != nullptr;
    if (!is_traced) {
      show();
    } else if (is_recorded || !walk_.traces->Play(*shape, shown, window)) {
      ShowAndRecord(walk_, *shape, show);
    }
    top.address = AddSaturated(top.address, AlignUp(bytes, at.align));
    return true;
  }
  const uint64_t length = shape != nullptr ? shape->bytes : walk_.parts.Length(c, window);
  if (length > window.size()) {
    window = walk_.memory.Bytes(top.space, top.address, std::min(top.left(), length), at.scratch);
  }
  shown.bytes = window.subspan(0, length);
  shown.length = length;
  shown.learns = walk_.UsesShapes();
  walk_.looked_ahead =
      (shape != nullptr ? shape->asks_state : walk_.actions.of[container].asks_state) &&
      walk_.FollowsAll() && !options_.brief;
  if (walk_.looked_ahead) LookAhead(at, top);
  shown.now = Patched(top.space, top.address, shown.bytes, at.patched);
  if (!walk_.stored.empty()) shape = nullptr;
  walk_.shower->Show(shape, shown);
  if (shown.bytes.size() < length) {
    walk_.out.Problem(absl::StrCat(tables_.string(c.name), " at ", ShowAddress(top.address),
                                   " has ", length, " bytes, of which ", shown.bytes.size(),
                                   " are available"));
    Leave(at.frames);
    return true;
  }
  const uint64_t next = AddSaturated(top.address, AlignUp(length, at.align));
  if (c.flows.count != 0) return Flow(c, shown.now, next, at.frames);
  top.address = next;
  return true;
}

void Streams::Show(uint32_t stream, uint64_t engines, Frame frame, uint64_t parent) {
  const bool keeps = walk_.bound_settings != nullptr && walk_.bound_settings->HasWork(stream);
  Position at{stream,
              engines,
              tables_.stream(stream).align,
              walk_.FinderOf(stream, engines),
              !options_.leads && !keeps,
              {},
              {},
              {},
              {}};
  at.packet.parent = parent;
  frame.version = walk_.overlay.version();
  at.frames.push_back(std::move(frame));
  const Memory::Segment* segment = nullptr;  // where the last packet was
  while (!at.frames.empty()) {
    Frame& top = at.frames.back();
    if (options_.brief) WalkBriefly(at, top);
    if (walk_.costs.packets >= walk_.costs.most_packets) {
      walk_.limits.Report(Limit::kPackets, [&] {
        return absl::StrCat("stopped at ", ShowAddress(top.address),
                            ": the submission has more than ", walk_.costs.most_packets,
                            " packets, the limit for a dump of this size; "
                            "unpack --max-packets=N allows more");
      });
      return;
    }
    const uint64_t left = top.left();
    if (left == 0 && top.ring) {
      if (top.wrapped_end == 0) return;
      top.address = top.wrapped_begin;
      top.end = std::exchange(top.wrapped_end, 0);
      continue;
    }
    if (segment == nullptr || !segment->Contains(top.space, top.address)) {
      segment = walk_.memory.Find(top.space, top.address);
    }
    absl::Span<const uint8_t> window;
    if (segment != nullptr) {
      window = walk_.memory.BytesFrom(*segment, top.address, std::min(left, kWindow), at.scratch);
    }
    if (window.empty()) {
      if (!top.past_end && !(top.branching && left == 0)) ReportEnd(top, at.frames.size());
      Leave(at.frames);
      continue;
    }
    const uint32_t container = FindPacket(at.finder, window);
    if (container == tables::kNone) {
      top.address = AddSaturated(top.address, AlignUp(ShowUnknown(at, top), at.align));
      continue;
    }
    if (!ShowPacket(at, container, window)) return;
  }
}

void Streams::ReportEnd(const Frame& frame, size_t depth) {
  const std::string at = ShowAddress(frame.address);
  if (walk_.bare_begin != Walk::kNoAddress && depth == 1 && walk_.nested_streams == 0 &&
      frame.address != frame.begin) {
    // Raw words need not be a whole batch.
    walk_.out.Remark(
        absl::StrCat("the words end at ", at, " without a packet that ends the batch"));
    return;
  }
  walk_.out.Problem(
      absl::StrCat("the stream continues at ", at, ", where ",
                   frame.address >= frame.end ? "the batch ends" : "the dump has no memory"));
}

bool Streams::Flow(const tables::Container& container, absl::Span<const uint8_t> bytes,
                   uint64_t next, Frames& frames) {
  const Scope scope(tables_, container, bytes);
  const uint64_t here = frames.back().address;
  frames.back().address = next;
  for (const tables::Flow& flow : tables_.flows(container.flows)) {
    if (!scope.Holds(flow.when)) continue;
    switch (flow.kind) {
      case tables::FlowKind::kTerminate:
        return false;
      case tables::FlowKind::kEnd:
        if (options_.continue_past_end &&
            (frames.size() == 1 || (frames.size() == 2 && frames.front().ring))) {
          frames.back().past_end = true;
        } else {
          Leave(frames);
        }
        return true;
      case tables::FlowKind::kReturn:
        if (frames.size() == 1) {
          walk_.out.Problem(absl::StrCat(tables_.string(container.name), " at ", ShowAddress(here),
                                         " returns, but nothing was called"));
        }
        Leave(frames);
        return true;
      case tables::FlowKind::kJump:
      case tables::FlowKind::kCall:
        break;
    }
    // A batch that is started from a ring returns to it.
    const bool call = flow.kind == tables::FlowKind::kCall || frames.back().ring;
    const bool maybe = !call && flow.maybe != tables::kNone && scope.Holds(flow.maybe);
    if (options_.follow == Follow::kNone) return call || maybe || options_.continue_past_end;
    const Target target = TargetOf(flow, container, scope, bytes, here);
    if (!target.base_known || !walk_.pointers->HasMemory(target)) {
      // The packet has the fault. A call returns; a jump cannot be continued.
      if (!call && !maybe) Leave(frames);
      return true;
    }
    AddReached(target.space, target.address);
    if (call) {
      Call(here, target, frames);
    } else {
      Jump(here, target, maybe, frames);
    }
    return true;
  }
  return true;
}

Target Streams::TargetOf(const tables::Flow& flow, const tables::Container& container,
                         const Scope& scope, absl::Span<const uint8_t> bytes, uint64_t here) {
  const tables::Leaf& leaf = tables_.leaf(flow.target);
  const uint32_t first =
      leaf.extra == tables::kNone ? tables::kNone : tables_.extra(leaf.extra).pointer;
  if (first != tables::kNone) {
    FieldAt at{};
    at.leaf = &leaf;
    at.bit = leaf.bit;
    at.width = leaf.width;
    at.owner = &container;
    const tables::Pointer* const pointer =
        walk_.pointers->PointerOf(tables_.extra(leaf.extra), scope);
    return walk_.pointers->TargetOf(at, pointer != nullptr ? *pointer : tables_.pointer(first),
                                    scope, bytes);
  }
  // Without a pointer the target has not been checked yet.
  const Target target{walk_.own_space, scope.Number(flow.target).value_or(0), true};
  if (!walk_.pointers->HasMemory(target)) {
    walk_.out.Problem(absl::StrCat(tables_.string(container.name), " at ", ShowAddress(here),
                                   " points to ", ShowAddress(target.address),
                                   ", where the dump has no memory"));
  }
  return target;
}

void Streams::Call(uint64_t here, const Target& target, Frames& frames) {
  if (frames.size() > options_.deepest_call) {
    walk_.out.Problem(absl::StrCat("the call at ", ShowAddress(here), " is ", frames.size(),
                                   " deep and not followed; unpack --max-calls=N allows more"));
    return;
  }
  for (const Frame& frame : frames) {
    if (frame.space != target.space || frame.call != target.address) continue;
    walk_.out.Problem(absl::StrCat("the call at ", ShowAddress(here), " goes to ",
                                   ShowAddress(target.address),
                                   ", which is being decoded: the batch calls itself"));
    return;
  }
  const uint32_t depth = frames.back().depth + 1;
  frames.push_back({target.space, target.address, ~uint64_t{0}, depth, target.address, false, false,
                    0, 0, walk_.overlay.version()});
}

void Streams::Jump(uint64_t here, const Target& target, bool maybe, Frames& frames) {
  Frame& frame = frames.back();
  if (maybe) {
    const bool may_go = frame.MayGo(target.space, target.address, here);
    walk_.out.FlushBriefs();
    walk_.out.Remark(
        absl::StrCat("the jump at ", ShowAddress(here), " to ", ShowAddress(target.address),
                     " may be taken or not: ",
                     may_go ? "the packets after it come first" : "its target is decoded already"));
    return;
  }
  if (frame.branching && frame.HasBeen(target.space, target.address)) return Leave(frames);
  if (!frame.See(target.space, target.address, walk_.overlay.version())) {
    walk_.out.FlushBriefs();
    walk_.out.Remark(absl::StrCat("the jump at ", ShowAddress(here), " goes back to ",
                                  ShowAddress(target.address), ", which is decoded already"));
    return Leave(frames);
  }
  frame.Go(target.space, target.address);
}

void Streams::Leave(Frames& frames) {
  const std::optional<uint64_t> jump = frames.back().Branch();
  if (!jump) {
    frames.pop_back();
    return;
  }
  walk_.out.FlushBriefs();
  walk_.out.Remark(absl::StrCat("from here on, the jump at ", ShowAddress(*jump), " is taken"));
}

absl::Span<const uint8_t> Streams::Patched(uint32_t space, uint64_t address,
                                           absl::Span<const uint8_t> bytes,
                                           std::vector<uint8_t>& scratch) {
  std::vector<Stored>& stored = walk_.stored;
  stored.clear();
  walk_.overlay.ForEach(space, address, bytes.size(),
                        [&](uint64_t at, uint32_t value, uint64_t by) {
                          if (std::memcmp(bytes.data() + at, &value, 4) == 0) return;
                          if (stored.empty()) scratch.assign(bytes.begin(), bytes.end());
                          std::memcpy(scratch.data() + at, &value, 4);
                          stored.push_back({at * 8, 32, value, by});
                        });
  return stored.empty() ? bytes : absl::MakeConstSpan(scratch);
}

void Streams::LookAhead(const Position& at, const Frame& frame) {
  Ahead& ahead = walk_.context->ahead;
  if (ahead.Covers(frame.space, frame.address)) return;
  ahead.Restart(frame.space, frame.address);
  uint64_t address = frame.address;
  std::vector<uint8_t> scratch;
  bool bases_change = false;
  for (int packets = 0; packets < kFarthestLook && address < frame.end; ++packets) {
    absl::Span<const uint8_t> bytes =
        walk_.memory.Bytes(frame.space, address, std::min(frame.end - address, kWindow), scratch);
    if (bytes.empty()) break;
    const uint32_t index = FindPacket(at.finder, bytes);
    if (index == tables::kNone) break;
    const tables::Container& c = tables_.container(index);
    const Actions& actions = walk_.actions.of[index];
    const Shape* const shape =
        options_.shapes ? walk_.shapes.Find(index, bytes, ShapeCache::kOwnLength) : nullptr;
    const uint64_t length = shape != nullptr ? shape->bytes : walk_.parts.Length(c, bytes);
    if (c.flows.count != 0 || length > bytes.size()) break;
    if (actions.remembered) ahead.Note(index, bytes.subspan(0, length), address);
    // With other bases, structures are elsewhere.
    bases_change |= actions.sets_or_writes;
    if (actions.points_to_remembered && !bases_change) {
      NoteTargets(index, bytes.subspan(0, length), address);
    }
    if (c.role != tables::Role::kOther) break;
    address = AddSaturated(address, AlignUp(length, at.align));
  }
  ahead.EndAt(std::max(address, frame.address + 1));
}

void Streams::NoteTargets(uint32_t packet, absl::Span<const uint8_t> bytes, uint64_t address) {
  const RecordView record{tables_.container(packet), bytes, {}};
  std::vector<uint8_t> scratch;
  const Pointers& pointers = *walk_.pointers;
  walk_.pointers->ForEachOf(record, [&](const FieldAt& at) {
    if (at.cut) return;
    const Scope scope(tables_, at, bytes, walk_.state().bases());
    const tables::Pointer* const pointer = pointers.PointerOf(tables_.extra(at.leaf->extra), scope);
    if (pointer == nullptr || pointer->target_kind != tables::TargetKind::kStruct ||
        pointer->relative != 0 || !walk_.actions.of[pointer->target].remembered) {
      return;
    }
    const Target target = pointers.TargetOf(at, *pointer, scope, bytes);
    if (!target.base_known || pointers.IsNull(*pointer, target)) return;
    const uint64_t size = tables_.container(pointer->target).bytes;
    const absl::Span<const uint8_t> there =
        walk_.memory.Bytes(target.space, target.address, size, scratch);
    if (there.size() == size) walk_.context->ahead.Note(pointer->target, there, address);
  });
}

bool Streams::IsPlausible(const Position& at, absl::Span<const uint8_t> bytes) const {
  const uint32_t container = FindPacket(at.finder, bytes);
  if (container == tables::kNone) return false;
  const tables::Container& c = tables_.container(container);
  if (c.flows.count != 0) return true;
  const uint64_t next = AlignUp(LengthOf(tables_, c, bytes), at.align);
  if (next >= bytes.size()) return next == bytes.size();
  return FindPacket(at.finder, bytes.subspan(next)) != tables::kNone;
}

bool Streams::ReachesPacket(const Position& at, absl::Span<const uint8_t> bytes) const {
  constexpr int kMostInARow = 16;
  for (int i = 0; i < kMostInARow; ++i) {
    const uint64_t length = AlignUp(tables_.UnknownBytes(at.stream, FirstWord(bytes)), at.align);
    if (length == 0 || length > bytes.size()) return false;
    bytes = bytes.subspan(length);
    if (bytes.empty() || FindPacket(at.finder, bytes) != tables::kNone) return true;
  }
  return false;
}

uint64_t Streams::ShowUnknown(const Position& at, const Frame& frame) {
  std::vector<uint8_t> scratch;
  const absl::Span<const uint8_t> bytes = walk_.memory.Bytes(
      frame.space, frame.address, std::min(frame.end - frame.address, kLongestUnknown), scratch);
  // Most packets state their length in a common place. If no plausible packet follows there, the
  // next one is searched for.
  uint64_t length = AlignUp(tables_.UnknownBytes(at.stream, FirstWord(bytes)), at.align);
  if (!ReachesPacket(at, bytes)) {
    length = at.align;
    while (length < bytes.size() && !IsPlausible(at, bytes.subspan(length))) length += at.align;
  }
  length = std::min<uint64_t>(length, bytes.size());
  // Work on undecodable dwords counts, too.
  walk_.costs.AddPacket(length);
  walk_.faults.clear();
  Record record;
  record.type = RecordType::kUnknown;
  record.parent = at.packet.parent;
  record.space = frame.space;
  record.address = frame.address;
  record.depth = frame.depth;
  record.bytes = bytes.subspan(0, length);
  walk_.out.Emit(record);
  return length;
}

}  // namespace packsmith::decode
