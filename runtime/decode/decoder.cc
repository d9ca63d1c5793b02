#include "runtime/decode/decoder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/decode/data.h"

namespace packsmith::decode {
namespace {

// Read at once to find out what a packet is and how long; longer packets are read again.
constexpr uint64_t kWindow = 256;
// Largest piece of one `unknown` record.
constexpr uint64_t kLongestUnknown = 4096;
// Structures begin with what says how long they are.
constexpr uint64_t kLeastRead = 4;
constexpr size_t kMostFaults = 64;  // of one record
constexpr int kFarthestLook = 256;  // packets
constexpr size_t kMostSlots = 64;   // vertex buffers, vertex elements
constexpr uint64_t kBriefWindow = 1 << 20;
constexpr size_t kBriefs = 256;  // handed over at a time

// Addresses count up to 2^64, where they do not begin again.
uint64_t AddSaturated(uint64_t a, uint64_t b) {
  return b > ~uint64_t{0} - a ? ~uint64_t{0} : a + b;
}

uint64_t AlignUp(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

uint32_t FirstWord(absl::Span<const uint8_t> bytes) {
  uint32_t word = 0;
  std::memcpy(&word, bytes.data(), std::min<size_t>(bytes.size(), 4));
  return word;
}

std::string Bytes48(uint64_t address) { return absl::StrFormat("0x%x", address); }

}  // namespace

absl::string_view FaultKindName(FaultKind kind) {
  constexpr absl::string_view kNames[kFaultKinds] = {"reserved",      "forced",   "range",
                                                     "beyond-length", "unmapped", "truncated"};
  return kNames[static_cast<size_t>(kind)];
}

Decoder::Decoder(const tables::Tables& tables, Sink& sink, const Options& options)
    : tables_(tables),
      sink_(sink),
      options_(options),
      actions_(tables.containers().size()),
      checks_(tables),
      drawn_(tables.data_kinds().size()) {
  for (const tables::Draw& draw : tables.draws()) {
    drawn_[draw.data] = true;
    if (draw.indices != tables::kNone) drawn_[draw.indices] = true;
  }
  for (const tables::Expression& e : tables.expressions()) {
    if (e.kind == tables::ExpressionKind::kState) actions_[e.container].remembered = true;
  }
  const auto note = [&](Actions& actions, tables::Range leaves) {
    for (const tables::Leaf& leaf : tables.leaves(leaves)) {
      if (leaf.extra == tables::kNone) continue;
      const tables::Extra& extra = tables.extra(leaf.extra);
      const auto asks = [&](uint32_t e) {
        actions.asks_state |=
            e != tables::kNone && tables.expression(e).kind == tables::ExpressionKind::kState;
      };
      for (uint32_t p = extra.pointer; p != tables::kNone; p = tables.pointer(p).next) {
        const tables::Pointer& pointer = tables.pointer(p);
        actions.pointers = true;
        for (const uint32_t e : {pointer.count, pointer.size, pointer.stride, pointer.end,
                                 pointer.slot, pointer.format, pointer.step, pointer.simd}) {
          asks(e);
        }
        actions.describes_data |=
            pointer.target_kind == tables::TargetKind::kData && drawn_[pointer.target];
      }
      if (extra.pointer != tables::kNone) asks(extra.high);
      if (extra.element != tables::kNone) {
        const tables::Element& element = tables.element(extra.element);
        for (const uint32_t e : {element.number, element.slot, element.offset}) asks(e);
        actions.describes_data |= drawn_[element.data];
      }
      actions.sets_or_writes |= extra.sets_base != tables::kNone ||
                                extra.writes_leaf != tables::kNone ||
                                extra.stores_leaf != tables::kNone;
    }
  };
  for (size_t i = 0; i < actions_.size(); ++i) {
    const tables::Container& container = tables.container(static_cast<uint32_t>(i));
    note(actions_[i], container.leaves);
    note(actions_[i], container.tail_leaves);
    for (const tables::Part& part : tables.parts(container.parts)) {
      note(actions_[i], tables.container(part.container).leaves);
      actions_[i].parts_remembered |= actions_[part.container].remembered;
    }
  }
  marks_.resize(actions_.size());
  for (size_t i = 0; i < actions_.size(); ++i) {
    const tables::Container& container = tables.container(static_cast<uint32_t>(i));
    const bool busy = container.flows.count != 0 || actions_[i].sets_or_writes;
    marks_[i] = static_cast<uint8_t>((container.role == tables::Role::kDraw ? kDraw : 0) |
                                     (container.role == tables::Role::kDispatch ? kDispatch : 0) |
                                     (busy ? kBusy : 0));
  }
  // What a packet's structures ask for, the packet asks for. Deeper ones than the bound are not
  // read.
  for (uint32_t depth = 0; depth < options_.deepest_pointer && !options_.brief; ++depth) {
    bool changed = false;
    for (size_t i = 0; i < actions_.size(); ++i) {
      if (actions_[i].asks_state) continue;
      const tables::Container& container = tables_.container(static_cast<uint32_t>(i));
      const auto asks = [&](tables::Range leaves) {
        for (const tables::Leaf& leaf : tables_.leaves(leaves)) {
          if (leaf.extra == tables::kNone) continue;
          for (uint32_t i = tables_.extra(leaf.extra).pointer; i != tables::kNone;
               i = tables_.pointer(i).next) {
            const tables::Pointer& p = tables_.pointer(i);
            if (p.target_kind == tables::TargetKind::kStruct && actions_[p.target].asks_state) {
              return true;
            }
          }
        }
        return false;
      };
      bool asked = asks(container.leaves) || asks(container.tail_leaves);
      for (const tables::Part& part : tables_.parts(container.parts)) {
        asked = asked || asks(tables_.container(part.container).leaves);
      }
      actions_[i].asks_state = asked;
      changed |= asked;
    }
    if (!changed) break;
  }
  sink_.OnSchema(tables_);
  ++next_id_;
}

void Decoder::Decode(const Dump& dump) {
  if (!device_shown_) {
    sink_.OnDevice(dump.device, next_id_++);
    device_shown_ = true;
  }
  for (const packsmith::Problem& problem : dump.problems) {
    Problem(absl::StrCat("input, byte ", problem.offset, ": ", problem.text));
  }
  sink_.OnDump(&dump);
  reached_.clear();
  note_reached_ =
      std::any_of(dump.submissions.begin(), dump.submissions.end(),
                  [](const Submission& submission) { return submission.unless_reached; });
  for (const Submission& submission : dump.submissions) {
    const std::pair<uint32_t, uint64_t> begin{submission.space, submission.batch_address};
    if (submission.unless_reached && reached_.contains(begin)) continue;
    if (note_reached_) reached_.insert(begin);
    WalkSubmission(dump, submission);
  }
  FlushBriefs();
  if (dump.late_problems != nullptr) {
    for (const packsmith::Problem& problem : dump.late_problems->Take()) {
      Problem(absl::StrCat("input, byte ", problem.offset, ": ", problem.text));
    }
  }
  sink_.OnDump(nullptr);
}

tables::PacketFinder& Decoder::Finder(uint32_t stream, uint64_t engines) const {
  for (const std::unique_ptr<tables::PacketFinder>& finder : finders_) {
    if (finder->stream() == stream && finder->engines() == engines) return *finder;
  }
  finders_.push_back(std::make_unique<tables::PacketFinder>(tables_, stream, engines, marks_));
  return *finders_.back();
}

void Decoder::WalkBriefly(tables::PacketFinder& finder, Frame& frame) {
  const uint64_t left = frame.end > frame.address ? frame.end - frame.address : 0;
  const absl::Span<const uint8_t> memory =
      memory_->Read(frame.space, frame.address, std::min(left, kBriefWindow));
  size_t at = 0;
  uint64_t draws = 0, dispatches = 0;
  while (memory.size() - at >= 4 && packets_ < most_packets_) {
    uint32_t word = 0;
    std::memcpy(&word, memory.data() + at, 4);
    const tables::PacketFinder::Kind& kind = finder.Find(word);
    if (!kind.plain || (kind.mark & kBusy) != 0) break;
    const uint32_t length = kind.Bytes(word);
    if (length > memory.size() - at) break;
    draws += kind.mark & kDraw;
    dispatches += (kind.mark & kDispatch) != 0;
    packets_ += 1 + length / 64;
    AddBrief(
        {frame.address + at, memory.data() + at, length, kind.container, frame.depth, frame.space});
    at += length;
  }
  summary_.draws += draws;
  summary_.dispatches += dispatches;
  frame.address += at;
}

inline void Decoder::AddBrief(const Brief& brief) {
  briefs_.push_back(brief);
  if (briefs_.size() == kBriefs) FlushBriefs();
}

void Decoder::FlushBriefs() {
  if (briefs_.empty()) return;
  for (const Brief& brief : briefs_) {
    if (brief.container == tables::kNone) {
      summary_.unknown_dwords += (brief.bytes + 3) / 4;
    } else {
      ++summary_.packets;
    }
  }
  next_id_ += briefs_.size();
  sink_.OnPackets(briefs_);
  briefs_.clear();
}

Summary Decoder::Finish() {
  sink_.OnSummary(summary_);
  return summary_;
}

void Decoder::WalkSubmission(const Dump& dump, const Submission& submission) {
  memory_ = &dump.memory;
  state_ = &states_[{submission.context, submission.slot}];
  state_->bases.resize(tables_.bases().size());
  state_->rows.resize(drawn_.size());
  for (size_t i = 0; i < drawn_.size(); ++i) {
    if (!drawn_[i]) continue;
    state_->rows[i].slots.resize(kMostSlots);
    state_->rows[i].elements.resize(kMostSlots);
  }
  // What is read is shown once a submission at least: its memory may be other memory.
  state_->last_read.reset();
  overlay_.Clear();
  code_.clear();
  code_begins_.clear();
  // The same addresses may hold other packets now.
  state_->ahead.clear();
  state_->ahead_begin = 1;
  state_->ahead_end = 0;
  looked_ahead_ = false;
  own_space_ = submission.own_space.value_or(submission.space);
  uint64_t fewest = kFewest;
  for (const Memory::Segment& segment : dump.memory.segments()) {
    // How much deferred memory there is, only looking at it would tell.
    const uint64_t bytes = segment.deferred == nullptr
                               ? segment.bytes.size()
                               : std::min(segment.memory_size, kDeferredSize);
    fewest += bytes / 4 * kRepeats;
  }
  most_packets_ = std::min(options_.most_packets, fewest);
  most_structs_ = std::min(options_.most_structs, fewest);
  packets_ = 0;
  structs_ = 0;
  nested_streams_ = 0;
  said_packets_ = said_structs_ = said_pointers_ = said_streams_ = said_stores_ = false;
  FlushBriefs();
  ++summary_.submissions;
  sink_.OnSubmission(submission, next_id_++);
  const uint64_t parent = next_id_ - 1;

  engines_ = ~uint64_t{0};
  if (!submission.engine.empty()) {
    const uint32_t engine = tables_.FindEngine(submission.engine);
    if (engine != tables::kNone) {
      engines_ = uint64_t{1} << engine;
    } else {
      sink_.OnRemark(absl::StrCat("engine \"", submission.engine,
                                  "\" is not described; packets of all engines are tried"),
                     false);
    }
  }
  const uint32_t stream = submission.stream.empty() ? 0 : tables_.FindStream(submission.stream);
  if (stream >= tables_.streams().size()) {
    Problem(
        absl::StrCat("there is no stream \"", submission.stream, "\" in ", tables_.generation()));
    return;
  }
  // A length of zero says nothing about the batch.
  const uint64_t end = submission.batch_length == 0
                           ? ~uint64_t{0}
                           : AddSaturated(submission.batch_address, submission.batch_length);
  Frame frame{submission.space, submission.batch_address, end, 0, submission.batch_address};
  if (submission.ring) {
    frame.ring = true;
    const uint64_t ring_end = AddSaturated(submission.ring->address, submission.ring->size);
    if (end > ring_end) {
      frame.end = ring_end;
      frame.wrapped_begin = submission.ring->address;
      frame.wrapped_end = std::min(submission.ring->address + (end - ring_end), ring_end);
    }
  }
  WalkStream(stream, engines_, std::move(frame), parent);
}

void Decoder::WalkStream(uint32_t stream, uint64_t engines, Frame frame, uint64_t parent) {
  const uint64_t align = tables_.stream(stream).align;
  frame.seen = {{frame.space, frame.address, overlay_.version()}};
  std::vector<Frame> stack{std::move(frame)};
  std::vector<uint8_t> scratch, patched;
  tables::PacketFinder& finder = Finder(stream, engines);
  while (!stack.empty()) {
    Frame& top = stack.back();
    if (options_.brief) WalkBriefly(finder, top);
    if (packets_ >= most_packets_) {
      ProblemOnce(said_packets_, absl::StrCat("stopped at ", Bytes48(top.address),
                                              ": the submission has more than ", most_packets_,
                                              " packets, more than a dump of this size should"));
      return;
    }
    const uint64_t left = top.end > top.address ? top.end - top.address : 0;
    if (left == 0 && top.ring) {
      if (top.wrapped_end == 0) return;
      top.address = top.wrapped_begin;
      top.end = std::exchange(top.wrapped_end, 0);
      continue;
    }
    absl::Span<const uint8_t> window =
        Bytes(top.space, top.address, std::min(left, kWindow), scratch);
    if (window.empty()) {
      Problem(absl::StrCat("the stream goes on at ", Bytes48(top.address), ", where ",
                           left == 0 ? "the batch ends" : "the dump has no memory"));
      stack.pop_back();
      continue;
    }
    const uint32_t container = finder.Find(FirstWord(window), window.size());
    if (container == tables::kNone) {
      top.address =
          AddSaturated(top.address, AlignUp(Unknown(stream, engines, top, parent), align));
      continue;
    }
    const tables::Container& c = tables_.container(container);
    const uint64_t length = LengthOf(tables_, c, window);
    if (length > window.size()) {
      window = Bytes(top.space, top.address, std::min(left, length), scratch);
    }
    const absl::Span<const uint8_t> bytes = window.subspan(0, length);
    here_ = top.address;
    looked_ahead_ =
        actions_[container].asks_state && options_.follow == Follow::kAll && !options_.brief;
    if (looked_ahead_) LookAhead(stream, engines, top);
    const absl::Span<const uint8_t> now = Patched(top.space, top.address, bytes, patched);
    Packet(container, top, bytes, now, length, parent);
    if (bytes.size() < length) {
      Problem(absl::StrCat(tables_.string(c.name), " at ", Bytes48(top.address), " has ", length,
                           " bytes, ", bytes.size(), " of them are there"));
      stack.pop_back();
      continue;
    }
    const uint64_t next = AddSaturated(top.address, AlignUp(length, align));
    if (c.flows.count == 0) {
      top.address = next;
    } else if (!Flow(c, now, next, stack)) {
      return;
    }
  }
}

bool Decoder::Flow(const tables::Container& container, absl::Span<const uint8_t> bytes,
                   uint64_t next, std::vector<Frame>& stack) {
  const Scope scope(tables_, container, bytes);
  const uint64_t here = stack.back().address;
  stack.back().address = next;
  for (const tables::Flow& flow : tables_.flows(container.flows)) {
    if (!scope.Holds(flow.when)) continue;
    switch (flow.kind) {
      case tables::FlowKind::kTerminate:
        return false;
      case tables::FlowKind::kEnd:
        stack.pop_back();
        return true;
      case tables::FlowKind::kReturn:
        stack.pop_back();
        if (stack.empty()) {
          Problem(absl::StrCat(tables_.string(container.name), " at ", Bytes48(here),
                               " returns, but nothing was called"));
        }
        return true;
      case tables::FlowKind::kJump:
      case tables::FlowKind::kCall:
        break;
    }
    // Whatever starts a batch from a ring comes back to it.
    const bool call = flow.kind == tables::FlowKind::kCall || stack.back().ring;
    if (options_.follow == Follow::kNone) return call;
    const tables::Leaf& leaf = tables_.leaf(flow.target);
    FieldAt at{};
    at.leaf = &leaf;
    at.bit = leaf.bit;
    at.width = leaf.width;
    at.owner = &container;
    Target target{own_space_, 0, true};
    if (leaf.extra != tables::kNone && tables_.extra(leaf.extra).pointer != tables::kNone) {
      const tables::Extra& extra = tables_.extra(leaf.extra);
      const tables::Pointer* pointer = PointerOf(extra, scope);
      target = TargetOf(at, pointer != nullptr ? *pointer : tables_.pointer(extra.pointer), scope,
                        bytes);
    } else {
      // Without a pointer nobody has looked at the target yet.
      target.address = scope.Number(flow.target).value_or(0);
      if (memory_->Find(target.space, target.address) == nullptr) {
        Problem(absl::StrCat(tables_.string(container.name), " at ", Bytes48(here), " leads to ",
                             Bytes48(target.address), ", where the dump has no memory"));
      }
    }
    if (!target.base_known || memory_->Find(target.space, target.address) == nullptr) {
      // The packet carries the fault. A call comes back; a jump has nowhere to go on.
      if (!call) stack.pop_back();
      return true;
    }
    if (note_reached_) reached_.insert({target.space, target.address});
    if (call) {
      if (stack.size() > options_.deepest_call) {
        Problem(absl::StrCat("the call at ", Bytes48(here), " is ", stack.size(),
                             " deep and not followed"));
        return true;
      }
      for (const Frame& frame : stack) {
        if (frame.space == target.space && frame.call == target.address) {
          Problem(absl::StrCat("the call at ", Bytes48(here), " leads to ", Bytes48(target.address),
                               ", which is being decoded: the batch calls itself"));
          return true;
        }
      }
      const uint32_t depth = stack.back().depth + 1;
      stack.push_back({target.space,
                       target.address,
                       ~uint64_t{0},
                       depth,
                       target.address,
                       false,
                       0,
                       0,
                       {{target.space, target.address, overlay_.version()}}});
      return true;
    }
    if (!stack.back().seen.insert({target.space, target.address, overlay_.version()}).second) {
      FlushBriefs();
      sink_.OnRemark(absl::StrCat("the jump at ", Bytes48(here), " leads back to ",
                                  Bytes48(target.address), ", which is decoded already"),
                     false);
      stack.pop_back();
      return true;
    }
    stack.back().space = target.space;
    stack.back().address = target.address;
    stack.back().end = ~uint64_t{0};
    return true;
  }
  return true;
}

void Decoder::Packet(uint32_t index, const Frame& frame, absl::Span<const uint8_t> bytes,
                     absl::Span<const uint8_t> now, uint64_t length, uint64_t parent) {
  const tables::Container& container = tables_.container(index);
  const Actions& actions = actions_[index];
  packets_ += 1 + bytes.size() / 64;
  // Before its pointers are looked at: parts ask for fields of the header that they follow.
  Remember(index, now);
  faults_.clear();
  if (!options_.brief) {
    CheckFields(container, bytes, length);
    if (actions.pointers && options_.follow != Follow::kNone) CheckPointers(container, now);
  }
  Record record;
  record.type = RecordType::kPacket;
  record.parent = parent;
  record.space = frame.space;
  record.address = frame.address;
  record.depth = frame.depth;
  record.container = &container;
  record.name = tables_.string(container.name);
  record.bytes = bytes;
  record.faults = faults_;
  record.stored = stored_;
  Emit(record);
  if (container.role == tables::Role::kDraw) ++summary_.draws;
  if (container.role == tables::Role::kDispatch) ++summary_.dispatches;
  if (actions.sets_or_writes) {
    SetsAndWrites(container, now, frame.space, frame.address, record.id);
  }
  if (options_.follow != Follow::kAll || options_.brief) return;
  if (actions.describes_data) DescribeData(container, now);
  if (actions.pointers) FollowPointers(container, now, record.id, 0);
  if (container.draw != tables::kNone) DrawData(container, now, record.id);
}

absl::Span<const uint8_t> Decoder::Patched(uint32_t space, uint64_t address,
                                           absl::Span<const uint8_t> bytes,
                                           std::vector<uint8_t>& scratch) {
  stored_.clear();
  overlay_.ForEach(space, address, bytes.size(), [&](uint64_t at, uint32_t value, uint64_t by) {
    if (std::memcmp(bytes.data() + at, &value, 4) == 0) return;
    if (stored_.empty()) scratch.assign(bytes.begin(), bytes.end());
    std::memcpy(scratch.data() + at, &value, 4);
    stored_.push_back({at * 8, 32, value, by});
  });
  return stored_.empty() ? bytes : absl::MakeConstSpan(scratch);
}

void Decoder::LookAhead(uint32_t stream, uint64_t engines, const Frame& frame) {
  State& state = *state_;
  if (frame.space == state.ahead_space && frame.address >= state.ahead_begin &&
      frame.address < state.ahead_end) {
    return;
  }
  state.ahead.clear();
  state.ahead_space = frame.space;
  state.ahead_begin = frame.address;
  uint64_t address = frame.address;
  std::vector<uint8_t> scratch;
  tables::PacketFinder& finder = Finder(stream, engines);
  for (int packets = 0; packets < kFarthestLook && address < frame.end; ++packets) {
    absl::Span<const uint8_t> bytes =
        Bytes(frame.space, address, std::min(frame.end - address, kWindow), scratch);
    if (bytes.empty()) break;
    const uint32_t index = finder.Find(FirstWord(bytes), bytes.size());
    if (index == tables::kNone) break;
    const tables::Container& c = tables_.container(index);
    const uint64_t length = LengthOf(tables_, c, bytes);
    if (c.flows.count != 0 || length > bytes.size()) break;
    if (actions_[index].remembered) {
      bytes = bytes.subspan(0, length);
      state.ahead[index] = {address, {bytes.begin(), bytes.end()}};
    }
    if (c.role != tables::Role::kOther) break;
    address = AddSaturated(address, AlignUp(length, tables_.stream(stream).align));
  }
  state.ahead_end = std::max(address, frame.address + 1);
}

// Later packets may ask for fields of this one, or of its parts.
void Decoder::Remember(uint32_t index, absl::Span<const uint8_t> bytes) {
  if (actions_[index].remembered) state_->last[index].assign(bytes.begin(), bytes.end());
  if (!actions_[index].parts_remembered) return;
  ForEachPart(tables_, tables_.container(index), bytes,
              [&](const tables::Part& part, int64_t, uint64_t base) {
                if (!actions_[part.container].remembered) return;
                const absl::Span<const uint8_t> own =
                    bytes.subspan(base / 8, tables_.container(part.container).bytes);
                state_->last[part.container].assign(own.begin(), own.end());
              });
}

bool Decoder::Plausible(uint32_t stream, uint64_t engines, absl::Span<const uint8_t> bytes) const {
  tables::PacketFinder& finder = Finder(stream, engines);
  const uint32_t container = finder.Find(FirstWord(bytes), bytes.size());
  if (container == tables::kNone) return false;
  const tables::Container& c = tables_.container(container);
  if (c.flows.count != 0) return true;
  const uint64_t next = AlignUp(LengthOf(tables_, c, bytes), tables_.stream(stream).align);
  if (next >= bytes.size()) return next == bytes.size();
  const absl::Span<const uint8_t> rest = bytes.subspan(next);
  return finder.Find(FirstWord(rest), rest.size()) != tables::kNone;
}

bool Decoder::LeadsToPacket(uint32_t stream, uint64_t engines,
                            absl::Span<const uint8_t> bytes) const {
  constexpr int kMostInARow = 16;
  for (int i = 0; i < kMostInARow; ++i) {
    const uint64_t length =
        AlignUp(tables_.UnknownBytes(stream, FirstWord(bytes)), tables_.stream(stream).align);
    if (length == 0 || length > bytes.size()) return false;
    bytes = bytes.subspan(length);
    if (bytes.empty() ||
        Finder(stream, engines).Find(FirstWord(bytes), bytes.size()) != tables::kNone) {
      return true;
    }
  }
  return false;
}

uint64_t Decoder::Unknown(uint32_t stream, uint64_t engines, const Frame& frame, uint64_t parent) {
  const uint64_t align = tables_.stream(stream).align;
  std::vector<uint8_t> scratch;
  const absl::Span<const uint8_t> bytes = Bytes(
      frame.space, frame.address, std::min(frame.end - frame.address, kLongestUnknown), scratch);
  // Most packets say how long they are even to those who do not know them. Where that leads to
  // nothing that makes sense, the next packet is looked for.
  uint64_t length = AlignUp(tables_.UnknownBytes(stream, FirstWord(bytes)), align);
  if (!LeadsToPacket(stream, engines, bytes)) {
    length = align;
    while (length < bytes.size() && !Plausible(stream, engines, bytes.subspan(length))) {
      length += align;
    }
  }
  length = std::min<uint64_t>(length, bytes.size());
  // Work on what nobody can decode counts too.
  packets_ += 1 + length / 64;
  faults_.clear();
  Record record;
  record.type = RecordType::kUnknown;
  record.parent = parent;
  record.space = frame.space;
  record.address = frame.address;
  record.depth = frame.depth;
  record.bytes = bytes.subspan(0, length);
  Emit(record);
  return length;
}

void Decoder::CheckFields(const tables::Container& container, absl::Span<const uint8_t> bytes,
                          uint64_t length) {
  if (bytes.size() == length && checks_.Passes(container, bytes)) return;
  if (bytes.size() < length) {
    AddFault(FaultKind::kTruncated, bytes.size() * 8, (length - bytes.size()) * 8, 0,
             absl::StrCat("the memory ends ", length - bytes.size(), " bytes too early"));
  } else {
    uint64_t needed = container.bytes;
    if (container.parts.count != 0) needed = LengthOf(tables_, container, bytes);
    if (length < needed) {
      AddFault(FaultKind::kBeyondLength, length * 8, (needed - length) * 8, 0,
               absl::StrCat(length, " bytes are said to be there, the fields need ", needed));
    }
  }
  ForEachField(tables_, container, bytes, [&](const FieldAt& at) {
    const tables::Leaf& leaf = *at.leaf;
    if ((leaf.flags & (tables::kMustBeZero | tables::kMustBeOne)) != 0) {
      for (uint32_t done = 0; done < at.width; done += 64) {
        const uint32_t n = std::min(64u, at.width - done);
        const uint64_t raw = ReadBits(bytes, at.bit + done, n);
        const uint64_t must = (leaf.flags & tables::kMustBeOne) == 0 ? 0
                              : n >= 64                              ? ~uint64_t{0}
                                                                     : (uint64_t{1} << n) - 1;
        if (raw != must) {
          AddFault(FaultKind::kReserved, at.bit + done, n, raw,
                   must == 0 ? "reserved bits must be zero" : "reserved bits must be one");
        }
      }
      return;
    }
    if (at.cut) {
      // A field may begin in a packet's short form and go on in the long one: then this is all of
      // it.
      if (container.variants.count == 0 && bytes.size() >= length) {
        AddFault(FaultKind::kBeyondLength, at.bit, leaf.width,
                 ReadBits(bytes, at.bit, std::min(at.width, 64u)),
                 "the packet ends inside of this field");
      }
      return;
    }
    constexpr uint16_t kChecked =
        tables::kForced | tables::kNonzero | tables::kHasMin | tables::kHasMax;
    if ((leaf.flags & kChecked) == 0) return;
    const uint64_t raw = ReadBits(bytes, at.bit, at.width);
    if ((leaf.flags & tables::kForced) != 0) {
      const uint64_t forced = tables_.extra(leaf.extra).forced;
      if (raw != forced) {
        AddFault(FaultKind::kForced, at.bit, at.width, raw,
                 absl::StrCat(tables_.string(leaf.name), " is always ", forced));
      }
      return;
    }
    if ((leaf.flags & tables::kNonzero) != 0 && raw == 0) {
      AddFault(FaultKind::kRange, at.bit, at.width, raw,
               absl::StrCat(tables_.string(leaf.name), " must not be zero"));
    }
    if ((leaf.flags & (tables::kHasMin | tables::kHasMax)) != 0) {
      const tables::Extra& extra = tables_.extra(leaf.extra);
      const uint64_t number = NumberOf(DecodeValue(tables_, leaf, at.width, raw), raw);
      const auto is_less = [&](uint64_t a, uint64_t b) {
        return leaf.type == tables::LeafType::kInt
                   ? static_cast<int64_t>(a) < static_cast<int64_t>(b)
                   : a < b;
      };
      const bool low =
          (leaf.flags & tables::kHasMin) != 0 && is_less(number, static_cast<uint64_t>(extra.min));
      const bool high =
          (leaf.flags & tables::kHasMax) != 0 && is_less(static_cast<uint64_t>(extra.max), number);
      if (low || high) {
        AddFault(FaultKind::kRange, at.bit, at.width, raw,
                 absl::StrCat(tables_.string(leaf.name), low ? " is less than " : " is more than ",
                              low ? extra.min : extra.max));
      }
    }
  });
}

Decoder::Target Decoder::TargetOf(const FieldAt& at, const tables::Pointer& pointer,
                                  const Scope& scope, absl::Span<const uint8_t> bytes) const {
  constexpr uint64_t kAddressMask = (uint64_t{1} << 48) - 1;
  Target target{own_space_, 0, true};
  if (pointer.space_when != tables::kNone && scope.Holds(pointer.space_when)) {
    target.space = pointer.space;
  }
  const uint64_t raw = ReadBits(bytes, at.bit, at.width);
  target.address = NumberOf(DecodeValue(tables_, *at.leaf, at.width, raw), raw);
  // An address may be split over two fields.
  target.address += Evaluate(tables_.extra(at.leaf->extra).high, scope).value_or(0);
  if (pointer.base != tables::kNone) {
    const absl::optional<uint64_t>& base = state_->bases[pointer.base];
    target.base_known = base.has_value();
    target.address += base.value_or(0);
  }
  target.address &= kAddressMask;
  return target;
}

const tables::Pointer* Decoder::PointerOf(const tables::Extra& extra, const Scope& scope) const {
  for (uint32_t i = extra.pointer; i != tables::kNone; i = tables_.pointer(i).next) {
    if (scope.Holds(tables_.pointer(i).when)) return &tables_.pointer(i);
  }
  return nullptr;
}

// Calls visit(at, pointer, scope) for each field that points somewhere now.
namespace {

template <class Visit>
void ForEachPointer(const tables::Tables& tables, const tables::Container& container,
                    absl::Span<const uint8_t> bytes, const Visit& visit) {
  ForEachField(tables, container, bytes, [&](const FieldAt& at) {
    if (at.leaf->extra == tables::kNone || at.cut) return;
    const tables::Extra& extra = tables.extra(at.leaf->extra);
    if (extra.pointer == tables::kNone) return;
    const Scope scope(tables, at, bytes);
    for (uint32_t i = extra.pointer; i != tables::kNone; i = tables.pointer(i).next) {
      const tables::Pointer& pointer = tables.pointer(i);
      if (!scope.Holds(pointer.when)) continue;
      visit(at, pointer, scope);
      break;
    }
  });
}

}  // namespace

void Decoder::CheckPointers(const tables::Container& container, absl::Span<const uint8_t> bytes) {
  ForEachPointer(
      tables_, container, bytes,
      [&](const FieldAt& at, const tables::Pointer& pointer, const Scope& scope) {
        if (options_.follow != Follow::kAll && pointer.target_kind != tables::TargetKind::kStream) {
          return;
        }
        // Only what would be read can be missing: dumps rarely have textures and render
        // targets.
        const Target target = TargetOf(at, pointer, scope, bytes);
        if (LeadsNowhere(pointer, scope, target)) return;
        if (!target.base_known) {
          AddFault(FaultKind::kUnmapped, at.bit, at.width, target.address,
                   absl::StrCat("the ", tables_.string(tables_.bases()[pointer.base].name),
                                " base is not known"));
        } else if (memory_->Find(target.space, target.address) == nullptr) {
          AddFault(FaultKind::kUnmapped, at.bit, at.width, target.address,
                   absl::StrCat("the dump has no memory at ", Bytes48(target.address)));
        }
      });
}

void Decoder::SetsAndWrites(const tables::Container& container, absl::Span<const uint8_t> bytes,
                            uint32_t space, uint64_t address, uint64_t parent) {
  ForEachField(tables_, container, bytes, [&](const FieldAt& at) {
    if (at.leaf->extra == tables::kNone) return;
    const tables::Extra& extra = tables_.extra(at.leaf->extra);
    if (extra.stores_leaf != tables::kNone) {
      // A short form of the packet may have only some of the field's dwords; those are stored.
      const Scope scope(tables_, at, bytes);
      const tables::Leaf& leaf = tables_.leaf(extra.stores_leaf);
      FieldAt to = at;
      to.leaf = &leaf;
      to.bit = scope.BitOf(extra.stores_leaf);
      to.width = leaf.width;
      if (at.bit % 8 == 0 && to.bit + to.width <= bytes.size() * 8 &&
          scope.Holds(extra.stores_when)) {
        Target target{own_space_, scope.Number(extra.stores_leaf).value_or(0), true};
        if (leaf.extra != tables::kNone) {
          const tables::Pointer* pointer = PointerOf(tables_.extra(leaf.extra), scope);
          if (pointer != nullptr) target = TargetOf(to, *pointer, scope, bytes);
        }
        if (target.base_known && !overlay_.Store(target.space, target.address,
                                                 bytes.subspan(at.bit / 8, at.width / 8), parent)) {
          ProblemOnce(said_stores_,
                      absl::StrCat("packets of the submission store more than ", Overlay::kMost,
                                   " dwords; jumps to where later ones lead are not "
                                   "followed"));
        }
      }
    }
    if (at.cut) return;
    if (extra.sets_base == tables::kNone && extra.writes_leaf == tables::kNone) return;
    const Scope scope(tables_, at, bytes);
    if (extra.sets_base != tables::kNone && scope.Holds(extra.sets_when)) {
      const uint64_t raw = ReadBits(bytes, at.bit, at.width);
      state_->bases[extra.sets_base] = NumberOf(DecodeValue(tables_, *at.leaf, at.width, raw), raw);
    }
    if (extra.writes_leaf == tables::kNone || at.bit % 8 != 0 || options_.brief) return;
    const absl::optional<uint64_t> offset = scope.Number(extra.writes_leaf);
    if (!offset || *offset > 0xffffffffu) return;
    const uint32_t index = tables_.FindRegister(static_cast<uint32_t>(*offset));
    if (index == tables::kNone) return;
    faults_.clear();
    const tables::Container& described = tables_.container(index);
    Record record;
    record.type = RecordType::kStruct;
    record.parent = parent;
    record.space = space;
    record.address = address + at.bit / 8;
    record.container = &described;
    record.name = tables_.string(described.name);
    // One write may be half of a register.
    record.bytes = bytes.subspan(at.bit / 8, std::min(at.width / 8, described.bytes));
    record.register_offset = static_cast<int64_t>(*offset);
    CheckFields(described, record.bytes, record.bytes.size());
    faults_.erase(std::remove_if(faults_.begin(), faults_.end(),
                                 [](const Fault& f) { return f.kind == FaultKind::kBeyondLength; }),
                  faults_.end());
    record.faults = faults_;
    Emit(record);
  });
}

void Decoder::FollowPointers(const tables::Container& container, absl::Span<const uint8_t> bytes,
                             uint64_t parent, uint32_t depth) {
  ForEachPointer(
      tables_, container, bytes,
      [&](const FieldAt& at, const tables::Pointer& pointer, const Scope& scope) {
        const Target target = TargetOf(at, pointer, scope, bytes);
        if (!target.base_known || memory_->Find(target.space, target.address) == nullptr) return;
        if (LeadsNowhere(pointer, scope, target)) return;
        if (depth >= options_.deepest_pointer) {
          ProblemOnce(
              said_pointers_,
              absl::StrCat("pointers of the packet at ", Bytes48(here_), " lead to more than ",
                           depth, " structures, one to the next; not followed further"));
          return;
        }
        switch (pointer.target_kind) {
          case tables::TargetKind::kStruct:
            FollowStructs(pointer, scope, target.space, target.address, parent, depth);
            break;
          case tables::TargetKind::kStream: {
            // Where the packet's flow goes, the walk goes already.
            for (const tables::Flow& flow : tables_.flows(container.flows)) {
              if (flow.target != tables::kNone && &tables_.leaf(flow.target) == at.leaf) return;
            }
            if (nested_streams_ >= options_.deepest_call) {
              ProblemOnce(said_streams_,
                          absl::StrCat("the stream at ", Bytes48(target.address), " is ",
                                       nested_streams_ + 1, " streams deep and not followed"));
              return;
            }
            ++nested_streams_;
            const uint64_t here = here_;
            WalkStream(
                pointer.target, engines_,
                {target.space, target.address, ~uint64_t{0}, nested_streams_, target.address},
                parent);
            // What the inner stream has looked ahead to is not what this packet may
            // ask for.
            here_ = here;
            looked_ahead_ = false;
            --nested_streams_;
            break;
          }
          case tables::TargetKind::kData:
            if (tables_.data(pointer.target).is_code != 0) {
              FollowCode(pointer, scope, target, parent);
            } else {
              FollowData(pointer, scope, target, parent);
            }
            break;
        }
      });
}

bool Decoder::MayFollow(uint64_t bytes) {
  if (structs_ >= most_structs_) {
    ProblemOnce(said_structs_,
                absl::StrCat("stopped following pointers after ", most_structs_,
                             " structures, more than a dump of this size should have"));
    return false;
  }
  structs_ += 1 + bytes / 1024;
  return true;
}

Decoder::Formatted Decoder::FormatOf(const tables::Pointer& pointer, const Scope& scope) const {
  if (pointer.format == tables::kNone) {
    const uint32_t format = tables_.data(pointer.target).format;
    return format == tables::kNone ? Formatted{} : Formatted{&tables_.format(format), {}};
  }
  const tables::Expression& e = tables_.expression(pointer.format);
  const absl::optional<uint64_t> value = Evaluate(pointer.format, scope);
  if (!value || e.kind == tables::ExpressionKind::kConstant) return {};
  const tables::NamedValue* named = tables_.FindValue(tables_.leaf(e.leaf), *value);
  if (named == nullptr || named->format == tables::kNone) return {};
  return {&tables_.format(named->format), tables_.string(named->name)};
}

void Decoder::FollowData(const tables::Pointer& pointer, const Scope& scope, const Target& target,
                         uint64_t parent) {
  const uint64_t size = SizeOf(pointer, scope, target);
  const uint64_t stride = Evaluate(pointer.stride, scope).value_or(0);
  const Formatted formatted = FormatOf(pointer, scope);
  const absl::string_view name = tables_.string(tables_.data(pointer.target).name);
  if (formatted.format != nullptr) {
    Slot slot{true, target.space, target.address, size, stride, false, 1, formatted.format, {}};
    if (slot.stride == 0) slot.stride = formatted.format->bits / 8;
    elements_.assign(1, {formatted.format, formatted.name, 0, 0});
    if (!ShowRows(name, slot, -1, 0, ~uint64_t{0}, parent).empty()) return;
  }
  if (!MayFollow(0)) return;
  faults_.clear();
  Record record;
  record.type = RecordType::kData;
  record.parent = parent;
  record.space = target.space;
  record.address = target.address;
  record.name = name;
  record.bytes =
      Bytes(target.space, target.address, std::min(size, options_.most_data_bytes), row_bytes_);
  record.data_size = size;
  record.data_stride = stride;
  Emit(record);
}

absl::Span<const uint8_t> Decoder::ShowRows(absl::string_view name, const Slot& slot,
                                            int64_t number, uint64_t first, uint64_t most,
                                            uint64_t parent) {
  uint64_t extent = 0;
  for (const DataElement& element : elements_) {
    extent = std::max<uint64_t>(extent, element.offset + element.format->bits / 8);
  }
  if (extent == 0 || slot.size < extent) return {};
  uint64_t rows = 1;
  if (slot.stride != 0) {
    const uint64_t have = (slot.size - extent) / slot.stride + 1;
    if (first >= have) return {};
    rows = std::min(most, have - first);
  } else {
    first = 0;
  }
  uint64_t shown = std::min(rows, std::max<uint64_t>(options_.most_rows, 1));
  if (slot.stride != 0) {
    const uint64_t fit =
        options_.most_row_bytes > extent ? (options_.most_row_bytes - extent) / slot.stride + 1 : 1;
    shown = std::min(shown, fit);
  }
  if (shown == 0 || !MayFollow(shown * slot.stride)) return {};
  const uint64_t skip = first * slot.stride;  // less than the slot's size
  faults_.clear();
  Record record;
  record.type = RecordType::kData;
  record.parent = parent;
  record.space = slot.space;
  record.address = AddSaturated(slot.address, skip);
  record.name = name;
  record.bytes = Bytes(slot.space, record.address, (shown - 1) * slot.stride + extent, row_bytes_);
  if (record.bytes.size() < extent) return {};
  record.data_size = slot.size - skip;
  record.data_stride = slot.stride;
  record.elements = elements_;
  record.data_first = first;
  record.data_rows = rows;
  record.slot = number;
  record.per_instance = slot.per_instance;
  record.step = slot.step;
  Emit(record);
  return record.bytes;
}

Decoder::Code Decoder::CodeOf(const tables::DataKind& kind, const tables::Pointer& pointer,
                              const Scope& scope, const Target& target) {
  const std::pair<uint32_t, uint64_t> key{target.space, target.address};
  code_begins_.insert(key);
  const auto known = code_.find(key);
  if (known != code_.end()) return known->second;
  Code code{options_.most_code_bytes, "limit"};
  if (const uint64_t said = SizeOf(pointer, scope, target); said != 0) {
    code = {std::min(said, code.size), "size"};
  }
  // The next program that is known, if it begins before this one ends.
  const auto next = code_begins_.upper_bound(key);
  if (next != code_begins_.end() && next->first == target.space &&
      next->second - target.address < code.size) {
    code = {next->second - target.address, "next kernel"};
  }
  const absl::Span<const uint8_t> bytes =
      Bytes(target.space, target.address, code.size, row_bytes_);
  if (bytes.size() < code.size) code = {bytes.size(), "memory"};
  const CodeEnd end = FindCodeEnd(tables_, kind, bytes);
  if (end.found) code = {end.bytes, "end"};
  structs_ += bytes.size() / 1024;
  code_.emplace(key, code);
  return code;
}

void Decoder::FollowCode(const tables::Pointer& pointer, const Scope& scope, const Target& target,
                         uint64_t parent) {
  if (!MayFollow(0)) return;
  const tables::DataKind& kind = tables_.data(pointer.target);
  const Code code = CodeOf(kind, pointer, scope, target);
  Kernel kernel;
  kernel.stage = tables_.string(pointer.stage);
  kernel.simd = static_cast<uint32_t>(
      std::min<uint64_t>(Evaluate(pointer.simd, scope).value_or(0), 0xffffffffu));
  kernel.ends = code.ends;
  kernel.code = Bytes(target.space, target.address, code.size, row_bytes_);
  faults_.clear();
  Record record;
  record.type = RecordType::kData;
  record.parent = parent;
  record.space = target.space;
  record.address = target.address;
  record.name = tables_.string(kind.name);
  record.bytes = kernel.code.subspan(0, options_.most_data_bytes);
  record.data_size = kernel.code.size();
  record.kernel = &kernel;
  Emit(record);
}

void Decoder::DescribeData(const tables::Container& container, absl::Span<const uint8_t> bytes) {
  // The elements of a packet replace those of the last one, for each kind of data.
  uint32_t described = tables::kNone;
  uint64_t number = 0;
  ForEachField(tables_, container, bytes, [&](const FieldAt& at) {
    if (at.leaf->extra == tables::kNone || at.cut) return;
    const tables::Extra& extra = tables_.extra(at.leaf->extra);
    if (extra.pointer == tables::kNone && extra.element == tables::kNone) return;
    const Scope scope(tables_, at, bytes);
    if (extra.pointer != tables::kNone) {
      const tables::Pointer* pointer = PointerOf(extra, scope);
      const tables::Pointer& any = pointer != nullptr ? *pointer : tables_.pointer(extra.pointer);
      if (any.target_kind == tables::TargetKind::kData && drawn_[any.target]) {
        Rows& rows = state_->rows[any.target];
        const uint64_t i = Evaluate(any.slot, scope).value_or(0);
        if (i < rows.slots.size()) {
          ++rows.version;
          Slot& slot = rows.slots[i];
          slot = {};
          const Target target = TargetOf(at, any, scope, bytes);
          if (pointer != nullptr && target.base_known) {
            const Formatted formatted = FormatOf(any, scope);
            slot.set = true;
            slot.space = target.space;
            slot.address = target.address;
            slot.size = SizeOf(any, scope, target);
            slot.stride = Evaluate(any.stride, scope).value_or(0);
            slot.per_instance = any.step != tables::kNone;
            slot.step = static_cast<uint32_t>(Evaluate(any.step, scope).value_or(1));
            slot.format = formatted.format;
            slot.name = formatted.name;
          }
        }
      }
    }
    if (extra.element == tables::kNone) return;
    const tables::Element& element = tables_.element(extra.element);
    if (!drawn_[element.data]) return;
    Rows& rows = state_->rows[element.data];
    ++rows.version;
    const uint64_t raw = ReadBits(bytes, at.bit, at.width);
    const bool holds = scope.Holds(element.when);
    uint64_t i = number;
    if (element.kind == tables::ElementKind::kStep || element.number != tables::kNone) {
      i = Evaluate(element.number, scope).value_or(~uint64_t{0});
    } else {
      if (described != element.data) {
        described = element.data;
        number = i = 0;
        for (RowElement& old : rows.elements) old.set = false;
      }
      ++number;
    }
    if (i >= rows.elements.size()) return;
    RowElement& row = rows.elements[i];
    if (element.kind == tables::ElementKind::kStep) {
      row.per_instance = holds;
      row.step = static_cast<uint32_t>(raw);
      return;
    }
    const tables::NamedValue* named = tables_.FindValue(*at.leaf, raw);
    row.set = holds && named != nullptr && named->format != tables::kNone;
    if (!row.set) return;
    row.slot = Evaluate(element.slot, scope).value_or(0);
    row.offset = std::min<uint64_t>(Evaluate(element.offset, scope).value_or(0), 1 << 20);
    row.format = &tables_.format(named->format);
    row.name = tables_.string(named->name);
  });
}

void Decoder::DrawData(const tables::Container& container, absl::Span<const uint8_t> bytes,
                       uint64_t parent) {
  const tables::Draw& draw = tables_.draw(container.draw);
  const Scope scope(tables_, container, bytes);
  const bool known = scope.Holds(draw.when);
  const auto number = [&](uint32_t expression, uint64_t otherwise) {
    return known ? Evaluate(expression, scope).value_or(otherwise) : otherwise;
  };
  Read read{};
  read.first = number(draw.first, 0);
  read.count = number(draw.count, ~uint64_t{0});
  read.first_instance = number(draw.first_instance, 0);
  read.instances = number(draw.instances, ~uint64_t{0});
  read.bias = number(draw.bias, 0);
  read.indexed = draw.indices != tables::kNone && scope.Holds(draw.indexed);
  const Rows& rows = state_->rows[draw.data];
  read.rows_version = rows.version;
  if (read.indexed) read.indices_version = state_->rows[draw.indices].version;
  if (state_->last_read == read) return;
  state_->last_read = read;
  if (read.count == 0 || read.instances == 0) return;

  uint64_t first = read.first;
  uint64_t count = read.count;
  if (read.indexed) {
    Slot slot = state_->rows[draw.indices].slots[0];
    if (!slot.set || slot.format == nullptr) return;
    if (slot.stride == 0) slot.stride = slot.format->bits / 8;
    elements_.assign(1, {slot.format, slot.name, 0, 0});
    const absl::Span<const uint8_t> shown =
        ShowRows(tables_.string(tables_.data(draw.indices).name), slot, -1, first, count, parent);
    // Vertices are shown from the least of these indices on.
    const uint32_t width = std::min<uint32_t>(slot.format->bits, 64);
    const uint64_t restart = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
    uint64_t least = restart;
    for (uint64_t at = 0; at + width / 8 <= shown.size(); at += slot.stride) {
      least = std::min(least, ReadBits(shown, at * 8, width));
    }
    if (least == restart) return;
    // A negative bias is added all the same: numbers wrap.
    first = least + read.bias;
    count = ~uint64_t{0};
  }
  const absl::string_view name = tables_.string(tables_.data(draw.data).name);
  for (size_t i = 0; i < rows.slots.size(); ++i) {
    if (!rows.slots[i].set) continue;
    // Once for what advances by vertex, and once for each step by instance: elements of one
    // buffer may differ in that.
    for (size_t from = 0; from < rows.elements.size(); ++from) {
      const RowElement& lead = rows.elements[from];
      if (!lead.set || lead.slot != i) continue;
      Slot slot = rows.slots[i];
      const auto same = [&](const RowElement& other) {
        return other.set && other.slot == i && other.per_instance == lead.per_instance &&
               (!lead.per_instance || other.step == lead.step);
      };
      if (std::any_of(rows.elements.begin(), rows.elements.begin() + from, same)) continue;
      elements_.clear();
      for (size_t k = from; k < rows.elements.size(); ++k) {
        const RowElement& other = rows.elements[k];
        if (!same(other)) continue;
        elements_.push_back({other.format, other.name, other.offset, static_cast<uint32_t>(k)});
      }
      if (lead.per_instance) {
        slot.per_instance = true;
        slot.step = lead.step;
      }
      uint64_t begin = first, most = count;
      if (slot.per_instance) {
        // Instance n has row first_instance + n / step.
        begin = read.first_instance;
        most = slot.step == 0 ? 1 : (read.instances - 1) / slot.step + 1;
      }
      ShowRows(name, slot, static_cast<int64_t>(i), begin, most, parent);
    }
  }
}

void Decoder::FollowStructs(const tables::Pointer& pointer, const Scope& scope, uint32_t space,
                            uint64_t address, uint64_t parent, uint32_t depth) {
  const tables::Container& container = tables_.container(pointer.target);
  auto [count, count_known] = CountOf(pointer, scope);
  absl::optional<uint64_t> said = Evaluate(pointer.size, scope);
  bool is_table = pointer.count != tables::kNone || (pointer.until_zero != 0 && !said);
  if (said && !is_table && container.variable == 0 && container.bytes != 0) {
    // The bytes of a table of structures that have a fixed size.
    is_table = *said > container.bytes;
    count = *said / container.bytes;
    said.reset();
  }
  std::vector<uint8_t> scratch;
  for (uint64_t i = 0; i < count; ++i) {
    if (!MayFollow(0)) return;
    absl::Span<const uint8_t> bytes =
        Bytes(space, address, std::max<uint64_t>(container.bytes, kLeastRead), scratch);
    if (bytes.empty()) return;
    const uint64_t length = said ? *said : LengthOf(tables_, container, bytes);
    if (length == 0) return;
    if (length > bytes.size()) bytes = Bytes(space, address, length, scratch);
    bytes = bytes.subspan(0, length);
    if (!count_known && pointer.until_zero != 0 &&
        std::all_of(bytes.begin(), bytes.end(), [](uint8_t b) { return b == 0; })) {
      return;
    }
    structs_ += bytes.size() / 1024;
    faults_.clear();
    CheckFields(container, bytes, length);
    CheckPointers(container, bytes);
    Record record;
    record.type = RecordType::kStruct;
    record.parent = parent;
    record.space = space;
    record.address = address;
    record.container = &container;
    record.name = tables_.string(container.name);
    record.bytes = bytes;
    record.index = is_table ? static_cast<int64_t>(i) : -1;
    record.faults = faults_;
    Emit(record);
    FollowPointers(container, bytes, record.id, depth + 1);
    if (bytes.size() < length) return;
    address += length;
  }
}

Decoder::Count Decoder::CountOf(const tables::Pointer& pointer, const Scope& scope) const {
  if (pointer.count == tables::kNone) {
    return pointer.until_zero != 0 ? Count{pointer.limit, false} : Count{1, true};
  }
  const absl::optional<uint64_t> said = Evaluate(pointer.count, scope);
  // Drivers say that a table has no entries where they only mean that none should be prefetched; a
  // table of pointers ends with a zero, so that it can be looked at all the same.
  if (pointer.until_zero != 0 && said.value_or(0) == 0) return {pointer.limit, false};
  return {said.value_or(1), said.has_value()};
}

bool Decoder::LeadsNowhere(const tables::Pointer& pointer, const Scope& scope,
                           const Target& target) const {
  if (pointer.target_kind == tables::TargetKind::kData) {
    return tables_.data(pointer.target).is_code == 0 && SizeOf(pointer, scope, target) == 0;
  }
  return CountOf(pointer, scope).count == 0;
}

uint64_t Decoder::SizeOf(const tables::Pointer& pointer, const Scope& scope,
                         const Target& target) const {
  if (pointer.end == tables::kNone) return Evaluate(pointer.size, scope).value_or(0);
  const absl::optional<uint64_t> end = Evaluate(pointer.end, scope);
  if (!end) return 0;
  uint64_t last = *end;
  if (pointer.base != tables::kNone) last += state_->bases[pointer.base].value_or(0);
  last &= (uint64_t{1} << 48) - 1;
  return last < target.address ? 0 : last - target.address + 1;
}

absl::optional<Decoder::Asked> Decoder::Ask(const tables::Expression& e) const {
  const tables::Container& container = tables_.container(e.container);
  const auto ahead = state_->ahead.find(e.container);
  if (looked_ahead_ && ahead != state_->ahead.end() && here_ < ahead->second.address) {
    return Asked{&container, ahead->second.bytes};
  }
  const auto last = state_->last.find(e.container);
  if (last == state_->last.end()) return absl::nullopt;
  return Asked{&container, last->second};
}

absl::optional<uint64_t> Decoder::Evaluate(uint32_t expression, const Scope& scope) const {
  if (expression == tables::kNone) return absl::nullopt;
  const tables::Expression& e = tables_.expression(expression);
  absl::optional<uint64_t> value;
  switch (e.kind) {
    case tables::ExpressionKind::kConstant:
      return e.add;
    case tables::ExpressionKind::kLeaf:
      value = scope.Number(e.leaf);
      break;
    case tables::ExpressionKind::kState:
      if (const absl::optional<Asked> asked = Ask(e)) {
        value = Scope(tables_, *asked->container, asked->bytes).Number(e.leaf);
      }
      break;
  }
  if (!value) return absl::nullopt;
  return Apply(e, *value);
}

absl::Span<const uint8_t> Decoder::Bytes(uint32_t space, uint64_t address, uint64_t size,
                                         std::vector<uint8_t>& scratch) const {
  const absl::Span<const uint8_t> direct = memory_->Read(space, address, size);
  if (direct.size() == size || direct.empty()) return direct;
  // A length may say much more than there is: no room for that.
  uint64_t have = 0;
  for (uint64_t want = std::min(size, kWindow);; want = std::min(size, want * 4)) {
    scratch.resize(want);
    const absl::Span<uint8_t> rest = absl::MakeSpan(scratch).subspan(have);
    const uint64_t copied = memory_->Copy(space, AddSaturated(address, have), rest);
    have += copied;
    if (copied < rest.size() || want == size) break;
  }
  return absl::MakeConstSpan(scratch).subspan(0, have);
}

void Decoder::Emit(Record& record) {
  if (options_.brief) {
    record.id = next_id_ + briefs_.size();
    AddBrief({record.address, record.bytes.data(), static_cast<uint32_t>(record.bytes.size()),
              record.container == nullptr
                  ? tables::kNone
                  : static_cast<uint32_t>(record.container - tables_.containers().data()),
              record.depth, record.space});
    // The bytes may be a copy that does not live on.
    FlushBriefs();
    return;
  }
  record.id = next_id_++;
  switch (record.type) {
    case RecordType::kPacket:
      ++summary_.packets;
      break;
    case RecordType::kStruct:
      ++summary_.structs;
      break;
    case RecordType::kData:
      ++summary_.data;
      break;
    case RecordType::kUnknown:
      summary_.unknown_dwords += (record.bytes.size() + 3) / 4;
      break;
  }
  for (const Fault& fault : record.faults) ++summary_.faults[static_cast<size_t>(fault.kind)];
  sink_.OnRecord(record);
}

void Decoder::Problem(absl::string_view text) {
  FlushBriefs();
  ++summary_.problems;
  sink_.OnRemark(text, true);
}

void Decoder::ProblemOnce(bool& said, absl::string_view text) {
  if (!said) Problem(text);
  said = true;
}

void Decoder::AddFault(FaultKind kind, uint64_t bit, uint64_t width, uint64_t value,
                       std::string text) {
  if (faults_.size() >= kMostFaults) return;
  faults_.push_back({kind, bit, static_cast<uint32_t>(std::min<uint64_t>(width, 0xffffffffu)),
                     value, std::move(text)});
}

}  // namespace packsmith::decode
