#include "runtime/decode/decoder.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/decode/fields/addresses.h"

namespace packsmith::decode {
namespace {

// Read at once to identify a packet and its length; longer packets are read again.
constexpr uint64_t kWindow = 256;
// Largest piece of one `unknown` record.
constexpr uint64_t kLongestUnknown = 4096;
constexpr size_t kMostFaults = 64;  // of one record
constexpr int kFarthestLook = 256;  // packets
constexpr size_t kMostSlots = 64;   // vertex buffers, vertex elements
constexpr uint64_t kBriefWindow = 1 << 20;
constexpr size_t kBriefs = 256;  // handed over at a time

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

bool Points(const tables::Tables& tables, const tables::Leaf& leaf) {
  return leaf.extra != tables::kNone && tables.extra(leaf.extra).pointer != tables::kNone;
}

bool MayDescribeData(const tables::Tables& tables, const tables::Leaf& leaf) {
  return Points(tables, leaf) ||
         (leaf.extra != tables::kNone && tables.extra(leaf.extra).element != tables::kNone);
}

// The registers of a command streamer begin less than this number of bytes after the engine's.
constexpr uint32_t kEngineRegisters = 0x1000;

// The description of a register of another engine than the first; kNone if there is none.
uint32_t FindRegisterOfFirstEngine(const tables::Tables& tables, uint32_t offset) {
  const absl::Span<const tables::Engine> engines = tables.engines();
  for (size_t i = 1; i < engines.size(); ++i) {
    const uint32_t begin = engines[i].registers;
    if (begin == 0 || offset < begin || offset - begin >= kEngineRegisters) continue;
    const uint32_t found = tables.FindRegister(engines[0].registers + (offset - begin));
    if (found == tables::kNone) continue;
    const uint64_t has = tables.container(found).engines;
    if ((has >> i & 1) != 0) return found;
  }
  return tables::kNone;
}

}  // namespace

absl::string_view FaultKindName(FaultKind kind) {
  constexpr absl::string_view kNames[kFaultKinds] = {"reserved",      "forced",   "range",
                                                     "beyond-length", "unmapped", "truncated"};
  return kNames[static_cast<size_t>(kind)];
}

Decoder::Decoder(const tables::Tables& tables, Sink& sink, const Options& options)
    : tables_(tables),
      address_mask_(tables.address_mask()),
      sink_(sink),
      options_(options),
      actions_(tables.containers().size()),
      checks_(tables),
      parts_(tables),
      shapes_(tables),
      pointers_(tables, Points),
      acting_(tables, Acts),
      describing_(tables, MayDescribeData),
      next_id_(options.first_id),
      drawn_(tables.data_kinds().size()) {
  for (const tables::Draw& draw : tables.draws()) {
    drawn_[draw.data] = true;
    if (draw.indices != tables::kNone) drawn_[draw.indices] = true;
  }
  for (const tables::Expression& e : tables.expressions()) {
    if (e.kind == tables::ExpressionKind::kState && !actions_[e.container].remembered) {
      actions_[e.container].remembered = true;
      actions_[e.container].memory = memories_++;
    }
  }
  // Calls visit(container) for each structure that leaves point to.
  const auto for_each_target = [&](tables::Range leaves, const auto& visit) {
    for (const tables::Leaf& leaf : tables.leaves(leaves)) {
      if (leaf.extra == tables::kNone) continue;
      for (uint32_t p = tables.extra(leaf.extra).pointer; p != tables::kNone;
           p = tables.pointer(p).next) {
        const tables::Pointer& pointer = tables.pointer(p);
        if (pointer.target_kind == tables::TargetKind::kStruct) visit(pointer.target);
      }
    }
  };
  // Packets are read ahead, with the structures that they point to.
  std::vector<bool> seen_ahead(actions_.size());
  for (uint32_t i = 0; i < actions_.size(); ++i) {
    if (tables.container(i).kind != tables::ContainerKind::kPacket) continue;
    seen_ahead[i] = true;
    for_each_target(tables.container(i).leaves, [&](uint32_t target) {
      seen_ahead[target] = true;
      actions_[i].points_to_remembered |= actions_[target].remembered;
    });
  }
  const auto note = [&](Actions& actions, tables::Range leaves) {
    for (const tables::Leaf& leaf : tables.leaves(leaves)) {
      if (leaf.extra == tables::kNone) continue;
      const tables::Extra& extra = tables.extra(leaf.extra);
      const auto asks = [&](uint32_t e) {
        actions.asks_state |= e != tables::kNone &&
                              tables.expression(e).kind == tables::ExpressionKind::kState &&
                              seen_ahead[tables.expression(e).container];
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
  // A packet asks for what its structures ask for. Structures deeper than the bound are not read.
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
  if (options_.bound.any()) rules_ = std::make_unique<SettingRules>(tables);
  sink_.OnSchema(tables_);
  ++next_id_;
}

void Decoder::Decode(const Dump& dump) { Decode(dump, dump.submissions); }

void Decoder::Decode(const Dump& dump, absl::Span<const Submission> submissions) {
  if (!device_shown_) {
    sink_.OnDevice(dump.device, next_id_++);
    device_shown_ = true;
  }
  for (const packsmith::Problem& problem : dump.problems) {
    Problem(absl::StrCat("input, byte ", problem.offset, ": ", problem.text));
  }
  sink_.OnDump(&dump);
  if (dump.error_state != nullptr && !options_.brief) {
    ShowRegisters("", dump.error_state->registers);
    for (const ErrorEngine& engine : dump.error_state->engines) {
      ShowRegisters(engine.name, engine.registers);
    }
  }
  reached_.clear();
  note_reached_ =
      std::any_of(submissions.begin(), submissions.end(),
                  [](const Submission& submission) { return submission.unless_reached; });
  for (const Submission& submission : submissions) {
    const std::pair<uint32_t, uint64_t> begin{submission.space, submission.batch_address};
    if (submission.unless_reached && reached_.contains(begin)) continue;
    if (note_reached_) reached_.insert(begin);
    WalkSubmission(dump, submission);
  }
  FlushBriefs();
  if (dump.late_problems != nullptr) {
    for (const packsmith::Problem& problem : dump.late_problems->All()) {
      Problem(absl::StrCat("input, byte ", problem.offset, ": ", problem.text));
    }
  }
  sink_.OnDump(nullptr);
}

void Decoder::ShowRegisters(absl::string_view engine, absl::Span<const ErrorRegister> registers) {
  const uint32_t number = tables_.FindEngine(engine);
  const uint64_t engines = number == tables::kNone ? ~uint64_t{0} : uint64_t{1} << number;
  for (const ErrorRegister& one : registers) {
    uint8_t bytes[8];
    for (size_t i = 0; i < sizeof(bytes); ++i) bytes[i] = static_cast<uint8_t>(one.value >> 8 * i);
    const auto show = [&](uint32_t index, absl::Span<const uint8_t> part) {
      PlacedParts parts;
      Record record;
      record.type = RecordType::kRegister;
      record.engine = engine;
      record.dumped = &one;
      record.name = one.name;
      if (index != tables::kNone) {
        record.container = &tables_.container(index);
        record.name = tables_.string(record.container->name);
        record.register_offset = record.container->register_offset;
        part = part.subspan(0, record.container->bytes);
        faults_.clear();
        parts = parts_.Place(*record.container, part);
        CheckFields({*record.container, part, parts}, part.size(), false);
        record.faults = faults_;
        record.parts = parts;
      }
      record.bytes = part;
      Emit(record);
    };
    const absl::Span<const uint8_t> all(bytes, one.is_64 ? 8 : 4);
    show(tables_.FindDumped(one.name, engines), all);
    if (!one.is_64) continue;
    const uint32_t high = tables_.FindDumped(absl::StrCat(one.name, ":high"), engines);
    if (high != tables::kNone) show(high, all.subspan(4));
  }
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
      CountUnknown(brief.space, brief.address, brief.bytes);
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

uint64_t Decoder::BeginSubmission(const Dump& dump, const Submission& submission) {
  memory_ = &dump.memory;
  complete_ = dump.memory_is_complete ? &dump : nullptr;
  recent_.fill(nullptr);
  state_ = &states_[{submission.context, submission.slot}];
  state_->bases.resize(tables_.bases().size());
  state_->last.resize(memories_);
  if (rules_ != nullptr) state_->settings.resize(tables_.streams().size());
  after_work_ = settings_;
  bound_packets_ = bound_structs_ = 0;
  for (const Submission::Base& base : submission.bases) {
    for (size_t i = 0; i < tables_.bases().size(); ++i) {
      if (tables_.string(tables_.bases()[i].name) == base.name) state_->bases[i] = base.address;
    }
  }
  state_->rows.resize(drawn_.size());
  for (size_t i = 0; i < drawn_.size(); ++i) {
    if (!drawn_[i]) continue;
    state_->rows[i].slots.resize(kMostSlots);
    state_->rows[i].elements.resize(kMostSlots);
  }
  // What draws read is shown at least once a submission: its memory may differ.
  state_->last_read.reset();
  overlay_.Clear();
  code_.clear();
  ++code_epoch_;
  code_begins_.clear();
  // The same addresses may hold other packets now.
  ++state_->looks;
  state_->ahead_begin = 1;
  state_->ahead_end = 0;
  looked_ahead_ = false;
  own_space_ = submission.own_space.value_or(submission.space);
  bare_begin_ = submission.bare ? submission.batch_address : kNoAddress;
  submission_ = submission.index;
  uint64_t fewest = kFewest;
  for (const Memory::Segment& segment : dump.memory.segments()) {
    // The size of deferred memory is known only after it is read.
    const uint64_t bytes = segment.deferred == nullptr
                               ? segment.bytes.size()
                               : std::min(segment.memory_size, kDeferredSize);
    fewest += bytes / 4 * kRepeats;
  }
  most_packets_ = std::max(std::min(options_.most_packets, fewest), options_.least_packets);
  most_structs_ = std::max(std::min(options_.most_structs, fewest), options_.least_structs);
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
  return parent;
}

void Decoder::WalkSubmission(const Dump& dump, const Submission& submission) {
  const uint64_t parent = BeginSubmission(dump, submission);
  uint32_t stream = 0;
  if (submission.stream.empty()) {
    // The first that the engine reads.
    while (stream + 1 < tables_.streams().size() &&
           (tables_.stream(stream).engines & engines_) == 0) {
      ++stream;
    }
  } else {
    stream = tables_.FindStream(submission.stream);
  }
  if (stream >= tables_.streams().size()) {
    const uint32_t index = tables_.FindContainer(submission.stream);
    if (index == tables::kNone || tables_.container(index).kind != tables::ContainerKind::kStruct) {
      Problem(absl::StrCat("there is no stream and no structure \"", submission.stream, "\" in ",
                           tables_.generation()));
      return;
    }
    const tables::Container& container = tables_.container(index);
    const uint64_t fit = container.variable == 0 ? submission.batch_length / container.bytes : 1;
    here_ = submission.batch_address;
    ShowTable({index, tables::kNone, std::max<uint64_t>(fit, 1), std::nullopt, fit > 1, false},
              submission.space, submission.batch_address, parent, 0);
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
  // For a trace, leads are not reported and settings are not kept.
  const bool traces = !options_.leads && (rules_ == nullptr || !rules_->HasWork(stream));
  frame.version = overlay_.version();
  Stack stack;
  stack.push_back(std::move(frame));
  std::vector<uint8_t> scratch, patched;
  tables::PacketFinder& finder = Finder(stream, engines);
  const Memory::Segment* segment = nullptr;  // where the last packet was
  while (!stack.empty()) {
    Frame& top = stack.back();
    if (options_.brief) WalkBriefly(finder, top);
    if (packets_ >= most_packets_) {
      ProblemOnce(said_packets_, absl::StrCat("stopped at ", ShowAddress(top.address),
                                              ": the submission has more than ", most_packets_,
                                              " packets, the limit for a dump of this size; "
                                              "unpack --max-packets=N allows more"));
      return;
    }
    const uint64_t left = top.end > top.address ? top.end - top.address : 0;
    if (left == 0 && top.ring) {
      if (top.wrapped_end == 0) return;
      top.address = top.wrapped_begin;
      top.end = std::exchange(top.wrapped_end, 0);
      continue;
    }
    if (segment == nullptr || !segment->Contains(top.space, top.address)) {
      segment = Find(top.space, top.address);
    }
    absl::Span<const uint8_t> window;
    if (segment != nullptr) {
      window = BytesFrom(*segment, top.address, std::min(left, kWindow), scratch);
    }
    if (window.empty()) {
      if (!top.past_end && !(top.branching && left == 0)) SayWhereItEnds(top, stack.size());
      Leave(stack);
      continue;
    }
    const uint32_t container = finder.Find(FirstWord(window), window.size());
    if (container == tables::kNone) {
      top.address =
          AddSaturated(top.address, AlignUp(Unknown(stream, engines, top, parent), align));
      continue;
    }
    const tables::Container& c = tables_.container(container);
    here_ = top.address;
    looked_ahead_ = false;
    stream_ = stream;
    Shape* shape = UseShapes() ? shapes_.Find(container, window, ShapeCache::kOwnLength) : nullptr;
    if (shape != nullptr && shape->is_traced && overlay_.empty() && traces) {
      if (IsRecording() || !Replays(*shape, top, window, parent)) {
        ShowRecording(*shape, c, top, window.subspan(0, shape->bytes), parent);
      }
      top.address = AddSaturated(top.address, AlignUp(shape->bytes, align));
      continue;
    }
    if (shape != nullptr && shape->quiet && overlay_.empty()) {
      QuietPacket(*shape, c, top, window.subspan(0, shape->bytes), parent);
      top.address = AddSaturated(top.address, AlignUp(shape->bytes, align));
      continue;
    }
    const uint64_t length = shape != nullptr ? shape->bytes : parts_.Length(c, window);
    if (length > window.size()) {
      window = Bytes(top.space, top.address, std::min(left, length), scratch);
    }
    const absl::Span<const uint8_t> bytes = window.subspan(0, length);
    looked_ahead_ = (shape != nullptr ? shape->asks_state : actions_[container].asks_state) &&
                    options_.follow == Follow::kAll && !options_.brief;
    if (looked_ahead_) LookAhead(stream, engines, top);
    const absl::Span<const uint8_t> now = Patched(top.space, top.address, bytes, patched);
    if (!stored_.empty()) shape = nullptr;
    Packet(container, top, bytes, now, length, parent, shape);
    if (bytes.size() < length) {
      Problem(absl::StrCat(tables_.string(c.name), " at ", ShowAddress(top.address), " has ",
                           length, " bytes, of which ", bytes.size(), " are available"));
      Leave(stack);
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

void Decoder::SayWhereItEnds(const Frame& frame, size_t depth) {
  const std::string at = ShowAddress(frame.address);
  if (bare_begin_ != kNoAddress && depth == 1 && nested_streams_ == 0 &&
      frame.address != frame.begin) {
    // Raw words need not be a whole batch.
    sink_.OnRemark(absl::StrCat("the words end at ", at, " without a packet that ends the batch"),
                   false);
    return;
  }
  Problem(absl::StrCat("the stream continues at ", at, ", where ",
                       frame.address >= frame.end ? "the batch ends" : "the dump has no memory"));
}

bool Decoder::Flow(const tables::Container& container, absl::Span<const uint8_t> bytes,
                   uint64_t next, Stack& stack) {
  const Scope scope(tables_, container, bytes);
  const uint64_t here = stack.back().address;
  stack.back().address = next;
  for (const tables::Flow& flow : tables_.flows(container.flows)) {
    if (!scope.Holds(flow.when)) continue;
    switch (flow.kind) {
      case tables::FlowKind::kTerminate:
        return false;
      case tables::FlowKind::kEnd:
        if (options_.continue_past_end &&
            (stack.size() == 1 || (stack.size() == 2 && stack.front().ring))) {
          stack.back().past_end = true;
          return true;
        }
        Leave(stack);
        return true;
      case tables::FlowKind::kReturn:
        if (stack.size() == 1) {
          Problem(absl::StrCat(tables_.string(container.name), " at ", ShowAddress(here),
                               " returns, but nothing was called"));
        }
        Leave(stack);
        return true;
      case tables::FlowKind::kJump:
      case tables::FlowKind::kCall:
        break;
    }
    // A batch that is started from a ring returns to it.
    const bool call = flow.kind == tables::FlowKind::kCall || stack.back().ring;
    const bool maybe = !call && flow.maybe != tables::kNone && scope.Holds(flow.maybe);
    if (options_.follow == Follow::kNone) return call || maybe || options_.continue_past_end;
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
      // Without a pointer the target has not been checked yet.
      target.address = scope.Number(flow.target).value_or(0);
      if (Find(target.space, target.address) == nullptr) {
        Problem(absl::StrCat(tables_.string(container.name), " at ", ShowAddress(here),
                             " points to ", ShowAddress(target.address),
                             ", where the dump has no memory"));
      }
    }
    if (!target.base_known || Find(target.space, target.address) == nullptr) {
      // The packet has the fault. A call returns; a jump cannot be continued.
      if (!call && !maybe) Leave(stack);
      return true;
    }
    if (note_reached_) reached_.insert({target.space, target.address});
    if (call) {
      if (stack.size() > options_.deepest_call) {
        Problem(absl::StrCat("the call at ", ShowAddress(here), " is ", stack.size(),
                             " deep and not followed; unpack --max-calls=N allows more"));
        return true;
      }
      for (const Frame& frame : stack) {
        if (frame.space == target.space && frame.call == target.address) {
          Problem(absl::StrCat("the call at ", ShowAddress(here), " goes to ",
                               ShowAddress(target.address),
                               ", which is being decoded: the batch calls itself"));
          return true;
        }
      }
      const uint32_t depth = stack.back().depth + 1;
      stack.push_back({target.space, target.address, ~uint64_t{0}, depth, target.address, false,
                       false, 0, 0, overlay_.version()});
      return true;
    }
    Frame& frame = stack.back();
    if (frame.visited == nullptr) frame.visited = std::make_unique<Visited>();
    if (maybe) {
      const bool been = HasBeen(frame, target.space, target.address);
      if (!been) frame.visited->branches.insert({{target.space, target.address}, here});
      FlushBriefs();
      sink_.OnRemark(
          absl::StrCat("the jump at ", ShowAddress(here), " to ", ShowAddress(target.address),
                       " may be taken or not: ",
                       been ? "its target is decoded already" : "the packets after it come first"),
          false);
      return true;
    }
    if (frame.branching && HasBeen(frame, target.space, target.address)) {
      Leave(stack);
      return true;
    }
    auto& seen = frame.visited->seen;
    if (seen.empty()) seen.insert({frame.space, frame.call, frame.version});
    if (!seen.insert({target.space, target.address, overlay_.version()}).second) {
      FlushBriefs();
      sink_.OnRemark(absl::StrCat("the jump at ", ShowAddress(here), " goes back to ",
                                  ShowAddress(target.address), ", which is decoded already"),
                     false);
      Leave(stack);
      return true;
    }
    Go(frame, target.space, target.address);
    return true;
  }
  return true;
}

bool Decoder::HasBeen(const Frame& frame, uint32_t space, uint64_t address) {
  if (space == frame.space && address >= frame.begin && address < frame.address) return true;
  const auto& been = frame.visited->been;
  auto after = been.upper_bound({space, address});
  if (after == been.begin()) return false;
  const auto& [begin, end] = *--after;
  return begin.first == space && address < end;
}

void Decoder::Go(Frame& frame, uint32_t space, uint64_t address) {
  auto& been = frame.visited->been;
  uint64_t& end = been[{frame.space, frame.begin}];
  end = std::max(end, frame.address);
  frame.space = space;
  frame.address = frame.begin = address;
  const auto next = been.lower_bound({space, address});
  const bool meets = frame.branching && next != been.end() && next->first.first == space;
  frame.end = meets ? next->first.second : ~uint64_t{0};
}

void Decoder::Leave(Stack& stack) {
  Frame& frame = stack.back();
  while (frame.visited != nullptr && !frame.visited->branches.empty()) {
    const auto [to, jump] = *frame.visited->branches.begin();
    frame.visited->branches.erase(frame.visited->branches.begin());
    if (HasBeen(frame, to.first, to.second)) continue;
    FlushBriefs();
    sink_.OnRemark(absl::StrCat("from here on, the jump at ", ShowAddress(jump), " is taken"),
                   false);
    frame.branching = true;
    frame.past_end = false;
    Go(frame, to.first, to.second);
    return;
  }
  stack.pop_back();
}

void Decoder::Packet(uint32_t index, const Frame& frame, absl::Span<const uint8_t> bytes,
                     absl::Span<const uint8_t> now, uint64_t length, uint64_t parent,
                     Shape* shape) {
  const tables::Container& container = tables_.container(index);
  const Actions& actions = actions_[index];
  packets_ += 1 + bytes.size() / 64;
  PlacedParts found, found_now;
  if (shape == nullptr) found = parts_.Place(container, bytes);
  if (!stored_.empty()) found_now = parts_.Place(container, now);
  const ShapeUse use(shape);
  const RecordView shown{container, bytes,
                         shape != nullptr ? absl::MakeConstSpan(shape->parts) : found};
  const RecordView changed{container, now, found_now};
  const RecordView& view = stored_.empty() ? shown : changed;
  // Before its pointers are checked: parts ask for fields of the header that they follow.
  Remember(index, view);
  faults_.clear();
  record_ = frame.address;
  const Working working(*this, container.role);
  Targets leads;
  if (!options_.brief) {
    if (shape == nullptr) {
      CheckFields(shown, length, true);
      if (UseShapes() && stored_.empty() && faults_.empty())
        Learn(index, shown, ShapeCache::kOwnLength);
    }
    if (actions.pointers && options_.follow != Follow::kNone) CheckPointers(view, shape, leads);
  }
  const uint64_t id = EmitDescribed(RecordType::kPacket, shown, frame.space, frame.address, parent,
                                    frame.depth, -1, shape);
  if (actions.sets_or_writes) SetsAndWrites(view, shape, frame.space, frame.address, id);
  if (options_.brief) return;
  if (options_.follow != Follow::kAll) {
    if (rules_ != nullptr) KeepOrShowBound(index, frame, now, id);
    return;
  }
  if (actions.describes_data) DescribeData(view);
  if (actions.pointers) FollowPointers(view, leads, id, 0);
  if (container.draw != tables::kNone) {
    // When one draw is shown, the one before it is not.
    if (options_.bound.draw != 0 && options_.bound.draw == draw_) state_->last_read.reset();
    DrawData(container, now, id);
  }
  if (rules_ != nullptr) KeepOrShowBound(index, frame, now, id);
}

void Decoder::QuietPacket(Shape& shape, const tables::Container& container, const Frame& frame,
                          absl::Span<const uint8_t> bytes, uint64_t parent) {
  packets_ += 1 + bytes.size() / 64;
  const Working working(*this, container.role);
  faults_.clear();
  stored_.clear();
  const RecordView view{container, bytes, shape.parts};
  if (shape.remembered) {
    Remember(tables_.IndexOf(container), view);
  }
  const bool follow = options_.follow == Follow::kAll;
  const auto keep = [&](uint64_t id) {
    if (rules_ == nullptr) return;
    const uint32_t index = tables_.IndexOf(container);
    KeepOrShowBound(index, frame, bytes, id);
  };
  if (shape.pointers.empty() || options_.follow == Follow::kNone) {
    keep(EmitDescribed(RecordType::kPacket, view, frame.space, frame.address, parent, frame.depth,
                       -1, &shape));
    return;
  }
  const ShapeUse use(&shape);
  record_ = frame.address;
  Targets leads;
  CheckPointers(view, &shape, leads);
  const uint64_t id = EmitDescribed(RecordType::kPacket, view, frame.space, frame.address, parent,
                                    frame.depth, -1, &shape);
  if (follow) FollowPointers(view, leads, id, 0);
  keep(id);
}

void Decoder::Learn(uint32_t index, const RecordView& record, uint64_t size) {
  Shape* const shape = shapes_.Learn(record, size);
  if (shape == nullptr) return;
  const Actions& actions = actions_[index];
  const tables::Container& container = record.container;
  const bool describes_data = actions.describes_data || container.draw != tables::kNone;
  shape->asks_state = actions.asks_state && (!shape->pointers.empty() || describes_data);
  shape->remembered = actions.remembered;
  for (const PlacedPart& placed : shape->parts) {
    shape->remembered |= actions_[placed.part->container].remembered;
  }
  const bool alone = !shape->asks_state && !describes_data && container.flows.count == 0;
  shape->quiet = alone && shape->acting.empty();
  shape->is_traced = alone && !shape->pointers.empty() && options_.follow == Follow::kAll &&
                     !options_.continue_past_end && container.role == tables::Role::kOther;
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
  ++state.looks;
  state.ahead_space = frame.space;
  state.ahead_begin = frame.address;
  uint64_t address = frame.address;
  std::vector<uint8_t> scratch;
  bool bases_change = false;
  tables::PacketFinder& finder = Finder(stream, engines);
  for (int packets = 0; packets < kFarthestLook && address < frame.end; ++packets) {
    absl::Span<const uint8_t> bytes =
        Bytes(frame.space, address, std::min(frame.end - address, kWindow), scratch);
    if (bytes.empty()) break;
    const uint32_t index = finder.Find(FirstWord(bytes), bytes.size());
    if (index == tables::kNone) break;
    const tables::Container& c = tables_.container(index);
    const Shape* const shape =
        options_.shapes ? shapes_.Find(index, bytes, ShapeCache::kOwnLength) : nullptr;
    const uint64_t length = shape != nullptr ? shape->bytes : parts_.Length(c, bytes);
    if (c.flows.count != 0 || length > bytes.size()) break;
    if (actions_[index].remembered) NoteAhead(index, bytes.subspan(0, length), address);
    // With other bases, structures are elsewhere.
    bases_change |= actions_[index].sets_or_writes;
    if (actions_[index].points_to_remembered && !bases_change) {
      LookBehind(index, bytes.subspan(0, length), address);
    }
    if (c.role != tables::Role::kOther) break;
    address = AddSaturated(address, AlignUp(length, tables_.stream(stream).align));
  }
  state.ahead_end = std::max(address, frame.address + 1);
}

void Decoder::LookBehind(uint32_t packet, absl::Span<const uint8_t> bytes, uint64_t address) {
  const RecordView record{tables_.container(packet), bytes, {}};
  std::vector<uint8_t> scratch;
  ForEachField(tables_, pointers_, record, [&](const FieldAt& at) {
    if (at.cut) return;
    const Scope scope(tables_, at, bytes, state_->bases);
    const tables::Pointer* const pointer = PointerOf(tables_.extra(at.leaf->extra), scope);
    if (pointer == nullptr || pointer->target_kind != tables::TargetKind::kStruct ||
        pointer->relative != 0 || !actions_[pointer->target].remembered) {
      return;
    }
    const Target target = TargetOf(at, *pointer, scope, bytes);
    if (!target.base_known || IsNull(*pointer, target)) return;
    const uint64_t size = tables_.container(pointer->target).bytes;
    const absl::Span<const uint8_t> there = Bytes(target.space, target.address, size, scratch);
    if (there.size() == size) NoteAhead(pointer->target, there, address);
  });
}

void Decoder::NoteAhead(uint32_t container, absl::Span<const uint8_t> bytes, uint64_t address) {
  State::Ahead& ahead = state_->ahead[container];
  ahead.look = state_->looks;
  ahead.address = address;
  ahead.bytes.assign(bytes.begin(), bytes.end());
}

// Later packets may ask for fields of this one, or of its parts.
void Decoder::Remember(uint32_t index, const RecordView& record) {
  ForEachRemembered(index, record, [&](uint32_t memory, uint64_t byte, uint64_t size) {
    RememberBytes(memory, record.bytes.subspan(byte, size));
  });
}

void Decoder::RememberBytes(uint32_t memory, absl::Span<const uint8_t> bytes) {
  std::vector<uint8_t>& last = state_->last[memory];
  if (absl::MakeConstSpan(last) == bytes) return;
  if (replaying_) {
    done_bytes_.insert(done_bytes_.end(), last.begin(), last.end());
    done_.push_back({false, memory, std::nullopt, last.size()});
  }
  last.assign(bytes.begin(), bytes.end());
  ++state_->changes;
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

bool Decoder::ReachesPacket(uint32_t stream, uint64_t engines,
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
  // Most packets state their length in a common place. If no plausible packet follows there, the
  // next one is searched for.
  uint64_t length = AlignUp(tables_.UnknownBytes(stream, FirstWord(bytes)), align);
  if (!ReachesPacket(stream, engines, bytes)) {
    length = align;
    while (length < bytes.size() && !Plausible(stream, engines, bytes.subspan(length))) {
      length += align;
    }
  }
  length = std::min<uint64_t>(length, bytes.size());
  // Work on undecodable dwords counts, too.
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

void Decoder::CheckFields(const RecordView& record, uint64_t length, bool own_length) {
  const tables::Container& container = record.container;
  const absl::Span<const uint8_t> bytes = record.bytes;
  uint64_t needed = container.bytes;
  if (container.parts.count != 0) needed = own_length ? length : parts_.Length(container, bytes);
  const bool ends_with_parts = container.parts.count == 0 || needed == length;
  if (bytes.size() == length && ends_with_parts && checks_.Passes(record)) return;
  if (bytes.size() < length) {
    AddFault(FaultKind::kTruncated, bytes.size() * 8, (length - bytes.size()) * 8, 0,
             absl::StrCat("the memory ends ", length - bytes.size(), " bytes too early"));
  } else {
    // Sizes count words: less than one word of slack is allowed.
    if (length >= needed + 4 && container.parts.count != 0) {
      AddFault(
          FaultKind::kBeyondLength, needed * 8, (length - needed) * 8, 0,
          absl::StrCat("the stated length is ", length, " bytes, the parts end after ", needed));
    } else if (length < needed) {
      AddFault(FaultKind::kBeyondLength, length * 8, (needed - length) * 8, 0,
               absl::StrCat("the stated length is ", length, " bytes, the fields need ", needed));
    }
  }
  if (container.tail_max != 0) {
    const uint64_t end = std::min<uint64_t>(bytes.size(), length) * 8;
    const uint64_t most = container.tail_bit + uint64_t{container.tail_max} * container.tail_size;
    if (end >= most + container.tail_size) {
      AddFault(FaultKind::kRange, most, end - most, 0,
               absl::StrCat((end - container.tail_bit) / container.tail_size,
                            " items, the hardware takes at most ", container.tail_max));
    }
  }
  ForEachField(tables_, record, [&](const FieldAt& at) {
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
      // A field may begin in a packet's short form and continue in the long one: then this is all
      // of it.
      if (container.variants.count == 0 && bytes.size() >= length) {
        AddFault(FaultKind::kBeyondLength, at.bit, leaf.width,
                 ReadBits(bytes, at.bit, std::min(at.width, 64u)),
                 "the packet ends inside this field");
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
                 absl::StrCat(tables_.string(leaf.name), " must be ", forced));
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

void Decoder::SetsAndWrites(const RecordView& packet, const Shape* shape, uint32_t space,
                            uint64_t address, uint64_t parent) {
  const absl::Span<const uint8_t> bytes = packet.bytes;
  const auto act = [&](const FieldAt& at) {
    const tables::Extra& extra = tables_.extra(at.leaf->extra);
    if (extra.stores_leaf != tables::kNone && bound_ == nullptr) {
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
                                   " dwords; jumps to targets that are stored later are not "
                                   "followed"));
        }
      }
    }
    if (at.cut) return;
    if (extra.sets_base == tables::kNone && extra.writes_leaf == tables::kNone) return;
    const Scope scope(tables_, at, bytes);
    SetBase(at, bytes, scope.Holds(extra.sets_when));
    if (extra.writes_leaf == tables::kNone || at.bit % 8 != 0 || options_.brief) return;
    const std::optional<uint64_t> offset = scope.Number(extra.writes_leaf);
    if (!offset || *offset > 0xffffffffu) return;
    uint32_t index = tables_.FindRegister(static_cast<uint32_t>(*offset));
    // Registers that all engines have are described for the first one.
    const bool of_another_engine = index == tables::kNone;
    if (of_another_engine) {
      index = FindRegisterOfFirstEngine(tables_, static_cast<uint32_t>(*offset));
      if (index == tables::kNone) return;
    }
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
    const PlacedParts parts = parts_.Place(described, record.bytes);
    record.parts = parts;
    const RecordView view{described, record.bytes, parts};
    CheckFields(view, record.bytes.size(), false);
    faults_.erase(std::remove_if(faults_.begin(), faults_.end(),
                                 [](const Fault& f) { return f.kind == FaultKind::kBeyondLength; }),
                  faults_.end());
    record.faults = faults_;
    Emit(record);
    // What another engine's register sets is not the first one's state.
    if (of_another_engine) return;
    RememberRegister(index, record.bytes);
    if (actions_[index].sets_or_writes) {
      SetsAndWrites(view, nullptr, space, record.address, record.id);
    }
  };
  if (shape == nullptr) return ForEachField(tables_, acting_, packet, act);
  for (const FieldAt& at : shape->acting) act(at);
}

void Decoder::SetBase(const FieldAt& at, absl::Span<const uint8_t> bytes, bool holds) {
  const tables::Extra& extra = tables_.extra(at.leaf->extra);
  if (at.cut || extra.sets_base == tables::kNone) return;
  std::optional<uint64_t>& base = state_->bases[extra.sets_base];
  const std::optional<uint64_t> before = base;
  if (holds) {
    base = NumberOfBits(tables_, *at.leaf, at.width, ReadBits(bytes, at.bit, at.width));
  } else if (tables_.bases()[extra.sets_base].otherwise != tables::kNone) {
    base.reset();  // switched off: the other one is used again
  }
  if (base == before) return;
  ++state_->changes;
  if (replaying_) done_.push_back({true, extra.sets_base, before, 0});
}

void Decoder::RememberRegister(uint32_t index, absl::Span<const uint8_t> written) {
  // After a packet that is shown once more, others may have written the register.
  if (!actions_[index].remembered || bound_ != nullptr) return;
  std::vector<uint8_t>& now = state_->last[actions_[index].memory];
  ++state_->changes;
  if (tables_.container(index).masked == 0 || written.size() != 4) {
    now.assign(written.begin(), written.end());
    return;
  }
  now.resize(4);
  for (size_t i = 0; i < 2; ++i) {
    now[i] = static_cast<uint8_t>((now[i] & ~written[i + 2]) | (written[i] & written[i + 2]));
  }
}

std::optional<uint64_t> Decoder::Ask(uint32_t container_index, uint32_t leaf) const {
  const tables::Container& container = tables_.container(container_index);
  if (looked_ahead_) {
    const auto ahead = state_->ahead.find(container_index);
    if (ahead != state_->ahead.end() && ahead->second.look == state_->looks &&
        here_ < ahead->second.address) {
      return Scope(tables_, container, ahead->second.bytes).Number(leaf);
    }
  }
  const std::vector<uint8_t>& last = state_->last[actions_[container_index].memory];
  if (last.empty()) return std::nullopt;
  return Scope(tables_, container, last).Number(leaf);
}

std::optional<uint64_t> Decoder::Evaluate(uint32_t expression, const Scope& scope) const {
  if (expression == tables::kNone) return std::nullopt;
  return decode::Evaluate(
      tables_.expression(expression), [&](uint32_t leaf) { return scope.Number(leaf); },
      [&](uint32_t container, uint32_t leaf) { return Ask(container, leaf); });
}

const Memory::Segment* Decoder::FindAnew(uint32_t space, uint64_t address) const {
  const Memory::Segment* const found = memory_->Find(space, address);
  if (found == nullptr) return nullptr;
  std::copy_backward(recent_.begin(), recent_.end() - 1, recent_.end());
  return recent_[0] = found;
}

absl::Span<const uint8_t> Decoder::BytesAcross(uint32_t space, uint64_t address, uint64_t size,
                                               std::vector<uint8_t>& scratch) const {
  const absl::Span<const uint8_t> direct = memory_->Read(space, address, size);
  if (direct.size() == size || direct.empty()) return direct;
  // Nothing is mapped after it that would have to be joined.
  if (Find(space, AddSaturated(address, direct.size())) == nullptr) return direct;
  // A length may be much larger than the memory: do not allocate that much.
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
              record.container == nullptr ? tables::kNone : tables_.IndexOf(*record.container),
              record.depth, record.space});
    // The bytes may be a temporary copy.
    FlushBriefs();
    return;
  }
  record.id = next_id_++;
  Attribute(record);
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
      CountUnknown(record.space, record.address, record.bytes.size());
      break;
    case RecordType::kRegister:
      break;
  }
  if (!record.faults.empty()) CountFaults(record);
  if (recorder_ != nullptr) NoteRecord(record, nullptr);
  sink_.OnRecord(record);
}

uint64_t Decoder::EmitDescribed(RecordType type, const RecordView& view, uint32_t space,
                                uint64_t address, uint64_t parent, uint32_t depth, int64_t index,
                                const Shape* shape) {
  described_.type = type;
  described_.parent = parent;
  described_.space = space;
  described_.address = address;
  described_.depth = depth;
  described_.container = &view.container;
  described_.name = shape != nullptr ? shape->name : Text(view.container.name);
  described_.bytes = view.bytes;
  described_.parts = view.parts;
  described_.index = index;
  described_.stored = {};
  described_.bound = bound_itself_;
  if (type == RecordType::kPacket) described_.stored = stored_;
  described_.faults = faults_;
  described_.shape = shape != nullptr ? shape->number : 0;
  Attribute(described_);
  if (shape == nullptr) {
    Emit(described_);
    return described_.id;
  }
  // As Emit(), without testing the type.
  described_.id = next_id_++;
  ++(type == RecordType::kPacket ? summary_.packets : summary_.structs);
  if (!faults_.empty()) CountFaults(described_);
  if (recorder_ != nullptr) NoteRecord(described_, shape);
  sink_.OnRecord(described_);
  return described_.id;
}

absl::string_view Decoder::Text(uint32_t string) {
  KnownText& known = texts_[string % texts_.size()];
  if (known.text.data() == nullptr || known.string != string) {
    known = {string, tables_.string(string)};
  }
  return known.text;
}

void Decoder::Problem(absl::string_view text) {
  FlushBriefs();
  if (summary_.problems++ == 0) summary_.first_problem = std::string(text);
  sink_.OnRemark(text, true);
}

void Decoder::ProblemOnce(bool& said, absl::string_view text) {
  if (!said) Problem(text);
  said = true;
}

void Decoder::CountFaults(const Record& record) {
  for (const Fault& fault : record.faults) {
    const auto kind = static_cast<size_t>(fault.kind);
    if (summary_.faults[kind]++ != 0) continue;
    summary_.first_faults[kind] = {std::string(record.name), record.space, record.address,
                                   record.type == RecordType::kRegister};
  }
}

void Decoder::CountUnknown(uint32_t space, uint64_t address, uint64_t bytes) {
  if (summary_.unknown_dwords == 0) summary_.first_unknown = {"", space, address, false};
  summary_.unknown_dwords += (bytes + 3) / 4;
}

void Decoder::AddFault(FaultKind kind, uint64_t bit, uint64_t width, uint64_t value,
                       std::string text) {
  if (faults_.size() >= kMostFaults) return;
  faults_.push_back({kind, bit, static_cast<uint32_t>(std::min<uint64_t>(width, 0xffffffffu)),
                     value, std::move(text)});
}

}  // namespace packsmith::decode
