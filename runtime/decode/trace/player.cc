// Packets that point to the same as earlier ones of their shape. Part of the Decoder.
//
// While a packet and its records are shown, Note...() record where each record was found and the
// conditions for that. The next packet of the shape is compared record by record: the same
// pointers, the bits that identify this trace, what the record sets and what others remember of it,
// in the same order. If all of it holds, the result is known, and is shown at once. If anything
// differs, all changes are reverted, and the packet is decoded normally.
#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "runtime/decode/decoder.h"

namespace packsmith::decode {
namespace {

constexpr size_t kMostTraces = 4;  // of a shape
constexpr size_t kUsualGuards = 16;
// Packets without a matching trace, of a shape that has kMostTraces, before one of them is
// replaced.
constexpr uint32_t kBackOff = 16;
// The same, if recording one has failed again and again.
constexpr uint32_t kMostBackOff = 1 << 16;

}  // namespace

// A trace that is being made.
struct Decoder::TraceRecorder {
  // A pointer of a guard that was followed.
  struct Followed {
    uint32_t pointer;  // of the guard's shape
    const tables::Pointer* to;
    std::vector<Guard::StateRead> reads;
    uint64_t address;
    uint32_t last = Guard::kBehind;  // last guard found by it; kBehind: none
  };

  std::unique_ptr<Trace> trace = std::make_unique<Trace>();
  std::vector<std::vector<Followed>> followed;  // of each guard
  uint64_t first_id = 0;
  bool aborted = false;
};

bool Decoder::IsRecording() const { return recorder_ != nullptr && !recorder_->aborted; }

void Decoder::Abort() {
  if (recorder_ != nullptr) recorder_->aborted = true;
}

void Decoder::ShowRecording(Shape& shape, const tables::Container& container, const Frame& frame,
                            absl::Span<const uint8_t> bytes, uint64_t parent) {
  const auto show = [&] {
    if (shape.quiet) return QuietPacket(shape, container, frame, bytes, parent);
    stored_.clear();
    Packet(tables_.IndexOf(container), frame, bytes, bytes, bytes.size(), parent, &shape);
  };
  if (IsRecording() || ++shape.without_trace < shape.back_off) return show();
  shape.without_trace = 0;
  TraceRecorder recorder;
  recorder.first_id = next_id_;
  recorder.trace->guards.reserve(kUsualGuards);
  recorder.trace->records.reserve(kUsualGuards);
  recorder.followed.reserve(kUsualGuards);
  recorder.trace->engines = engines_;
  recorder.trace->nested_streams = nested_streams_;
  const auto counts = [&] {
    return Trace::Counts{packets_, structs_, summary_.packets, summary_.structs, summary_.data};
  };
  const Trace::Counts before = counts();
  const uint64_t problems = summary_.problems, number = shape.number;
  const size_t codes = code_.size();
  TraceRecorder* const outer = std::exchange(recorder_, &recorder);  // which is aborted
  show();
  recorder_ = outer;
  Trace& trace = *recorder.trace;
  const Trace::Counts after = counts();
  trace.counts = {after.packets_cost - before.packets_cost,
                  after.structs_cost - before.structs_cost, after.packets - before.packets,
                  after.structs - before.structs, after.data - before.data};
  if (shape.number != number) return;
  if (recorder.aborted || trace.guards.size() < 2 ||
      next_id_ - recorder.first_id != trace.guards.size() || summary_.problems != problems ||
      code_.size() != codes || !overlay_.empty() || !Finish(recorder)) {
    shape.back_off = std::min(shape.back_off * 2, kMostBackOff);
    return;
  }
  trace.number = ++last_trace_;
  if (shape.traces.size() < kMostTraces) {
    shape.traces.push_back(std::move(recorder.trace));
  } else {
    shape.traces[shape.next_trace++ % kMostTraces] = std::move(recorder.trace);
  }
  shape.back_off = shape.traces.size() < kMostTraces ? 1 : kBackOff;
}

void Decoder::NotePointer(const FieldAt& at, const tables::Pointer& pointer, const Scope& scope,
                          const Target& target, uint64_t parent) {
  TraceRecorder& recorder = *recorder_;
  if (recorder.aborted) return;
  recorder.aborted = true;
  const uint64_t index = parent - recorder.first_id;
  if (index >= recorder.trace->guards.size()) return;
  const Shape* const shape = recorder.trace->guards[index].shape;
  if (shape == nullptr) return;
  const auto known = std::find_if(
      shape->pointers.begin(), shape->pointers.end(),
      [&](const ShapePointer& p) { return p.at.leaf == at.leaf && p.at.bit == at.bit; });
  if (known == shape->pointers.end()) return;
  if (pointer.target_kind == tables::TargetKind::kData &&
      FormatOf(pointer, scope).format != nullptr) {
    return;
  }
  if (pointer.until_zero != 0 || pointer.other != tables::kNone || pointer.end != tables::kNone) {
    return;
  }
  TraceRecorder::Followed followed{
      static_cast<uint32_t>(known - shape->pointers.begin()), &pointer, {}, target.address};
  for (const uint32_t e : ExpressionsOf(pointer)) {
    if (e == tables::kNone) continue;
    const tables::Expression& expression = tables_.expression(e);
    if (expression.kind != tables::ExpressionKind::kState) continue;
    const tables::Leaf& leaf = tables_.leaf(expression.leaf);
    if (leaf.width > 64) return;
    const uint32_t memory = actions_[expression.container].memory;
    followed.reads.push_back({memory, leaf.bit, leaf.width, Said(memory, leaf.bit, leaf.width)});
  }
  recorder.followed[index].push_back(std::move(followed));
  recorder.aborted = false;
}

void Decoder::NoteRecord(const Record& record, const Shape* shape) {
  TraceRecorder& recorder = *recorder_;
  if (recorder.aborted) return;
  recorder.aborted = true;
  Trace& trace = *recorder.trace;
  const bool is_data = record.type == RecordType::kData;
  if (trace.guards.size() >= Trace::kMostGuards ||
      record.id != recorder.first_id + trace.guards.size() || (shape == nullptr) != is_data ||
      !record.faults.empty() || !record.stored.empty() || record.register_offset >= 0 ||
      !record.elements.empty() || record.slot >= 0 || record.bytes.empty()) {
    return;
  }
  Guard guard;
  guard.bytes = record.bytes.size();
  guard.first_byte = trace.said.size();
  trace.said.insert(trace.said.end(), record.bytes.begin(), record.bytes.end());
  trace.must.resize(trace.said.size());
  if (!trace.guards.empty()) {
    const uint64_t parent = record.parent - recorder.first_id;
    if (parent >= trace.guards.size() || recorder.followed[parent].empty()) return;
    guard.parent = static_cast<uint32_t>(parent);
    TraceRecorder::Followed& from = recorder.followed[parent].back();
    guard.to = from.to;
    if (from.last == Guard::kBehind) {
      if (record.address != from.address) return;
      guard.pointer = from.pointer;
      guard.chosen = trace.guards[parent].shape->pointers[from.pointer].pointer == nullptr;
      guard.reads = std::move(from.reads);
    } else {
      const Record& before = trace.records[from.last];
      if (is_data || before.space != record.space || record.address < before.address) return;
      guard.before = from.last;
      guard.distance = record.address - before.address;
    }
    from.last = static_cast<uint32_t>(trace.guards.size());
  }
  if (is_data) {
    if (record.kernel != nullptr) {
      guard.has_kernel = true;
      guard.kernel = *record.kernel;
    } else if (guard.bytes != std::min(record.data_size, options_.most_data_bytes)) {
      return;
    }
  } else {
    guard.container = tables_.IndexOf(*record.container);
    const Actions& actions = actions_[guard.container];
    if (shape->asks_state || actions.describes_data || record.container->draw != tables::kNone ||
        record.container->role != tables::Role::kOther || guard.bytes != shape->bytes) {
      return;
    }
    for (const FieldAt& at : shape->acting) {
      const tables::Extra& extra = tables_.extra(at.leaf->extra);
      if (extra.stores_leaf != tables::kNone || extra.writes_leaf != tables::kNone) return;
    }
    const Scope scope(tables_, *record.container, record.bytes);
    for (const tables::Flow& flow : tables_.flows(record.container->flows)) {
      if (!shape->flows_by_bits) return;
      if (!scope.Holds(flow.when)) continue;
      if (flow.kind != tables::FlowKind::kTerminate && flow.kind != tables::FlowKind::kEnd) return;
      break;
    }
    guard.shape = shape;
    guard.shape_number = shape->number;
    shape->same.AddMask(trace.Of(guard, trace.must));
    const RecordView view{*record.container, record.bytes, shape->parts};
    ForEachRemembered(guard.container, view, [&](uint32_t memory, uint64_t byte, uint64_t size) {
      guard.remembered.push_back({memory, byte, size});
    });
    for (const FieldAt& at : shape->acting) {
      const uint32_t when = tables_.extra(at.leaf->extra).sets_when;
      const Scope field(tables_, at, record.bytes);
      guard.sets.push_back({&at, field.Holds(when)});
      if (when == tables::kNone) continue;
      for (const tables::Term& term : tables_.terms(tables_.condition(when).terms)) {
        if (term.of_state != 0) return;
        SetBits(field.BitOf(term.leaf), tables_.leaf(term.leaf).width, trace.Of(guard, trace.must));
      }
    }
    if (record.type == RecordType::kPacket && !trace.guards.empty()) {
      if (guard.to->target_kind != tables::TargetKind::kStream) return;
      guard.finder = &Finder(guard.to->target, engines_);
    }
  }
  trace.guards.push_back(std::move(guard));
  trace.records.push_back(record);
  recorder.followed.emplace_back();
  recorder.aborted = false;
}

bool Decoder::Finish(TraceRecorder& recorder) {
  Trace& trace = *recorder.trace;
  // The trace must not set bases that its own pointers use: all pointers of a record are checked
  // before the first of them is followed.
  std::vector<bool> sets(tables_.bases().size());
  for (const Guard& guard : trace.guards) {
    for (const Guard::Set& set : guard.sets) {
      const uint32_t base = tables_.extra(set.at->leaf->extra).sets_base;
      if (base != tables::kNone) sets[base] = true;
    }
  }
  const auto counts_from_outside = [&](const tables::Pointer& pointer) {
    uint32_t base = pointer.base;
    for (size_t i = 0; i < sets.size() && base != tables::kNone && base != tables::kZeroBase; ++i) {
      if (sets[base]) return false;
      base = tables_.bases()[base].otherwise;
    }
    return pointer.scale == tables::kNone ||
           tables_.expression(pointer.scale).kind != tables::ExpressionKind::kState;
  };
  for (size_t i = 0; i < trace.guards.size(); ++i) {
    Guard& guard = trace.guards[i];
    if (guard.shape == nullptr) continue;
    if (guard.shape->number != guard.shape_number) return false;
    const absl::Span<const uint8_t> bytes = trace.Of(guard, trace.said);
    const auto must_be = [&](uint32_t expression, const Scope& scope) {
      if (expression == tables::kNone) return true;
      const tables::Expression& e = tables_.expression(expression);
      if (e.kind == tables::ExpressionKind::kLeaf) {
        SetBits(scope.BitOf(e.leaf), tables_.leaf(e.leaf).width, trace.Of(guard, trace.must));
      }
      return e.kind != tables::ExpressionKind::kState;
    };
    for (size_t p = 0; p < guard.shape->pointers.size(); ++p) {
      const ShapePointer& known = guard.shape->pointers[p];
      const Scope scope(tables_, known.at, bytes, state_->bases);
      const tables::Extra& extra = tables_.extra(known.at.leaf->extra);
      if (extra.high != tables::kNone &&
          tables_.expression(extra.high).kind == tables::ExpressionKind::kState) {
        return false;
      }
      const auto is_of_it = [&](const TraceRecorder::Followed& f) { return f.pointer == p; };
      const auto& followed = recorder.followed[i];
      const auto from = std::find_if(followed.begin(), followed.end(), is_of_it);
      if (from != followed.end()) {
        if (from->last == Guard::kBehind) return false;
        // The address is the same for all of them.
        for (uint32_t k = extra.pointer; known.pointer == nullptr && k != tables::kNone;
             k = tables_.pointer(k).next) {
          const tables::Pointer& other = tables_.pointer(k);
          if (other.base != from->to->base || other.relative != from->to->relative ||
              other.scale != from->to->scale || other.space_when != tables::kNone ||
              other.space != from->to->space) {
            return false;
          }
        }
        if (!counts_from_outside(*from->to)) return false;
        for (const uint32_t e : ExpressionsOf(*from->to)) (void)must_be(e, scope);
        continue;
      }
      // A pointer to nothing, for reasons that are in the record.
      if (known.pointer == nullptr || known.somewhere) return false;
      for (const uint32_t e : ExpressionsOf(*known.pointer)) {
        if (!must_be(e, scope)) return false;
      }
      if (known.pointer->end != tables::kNone || known.pointer->until_zero != 0) return false;
      std::optional<uint64_t> size;
      if (!PointsNowhere(*known.pointer, scope, TargetOf(known.at, *known.pointer, scope, bytes),
                         size)) {
        return false;
      }
    }
  }
  trace.varying.resize(trace.said.size());
  for (size_t i = 0; i < trace.guards.size(); ++i) {
    Guard& guard = trace.guards[i];
    trace.varying_of.push_back(trace.Of(guard, trace.varying));
    Record& record = trace.records[i];
    if (guard.shape != nullptr) record.parts = guard.shape->parts;
    if (guard.has_kernel) record.kernel = &guard.kernel;
    record.faults = {};
    record.stored = {};
  }
  trace.MakeSteps();
  trace.shapes = shapes_.made();
  return true;
}

bool Decoder::Replays(Shape& shape, const Frame& frame, absl::Span<const uint8_t> bytes,
                      uint64_t parent) {
  for (size_t i = 0; i < shape.traces.size(); ++i) {
    Trace& trace = *shape.traces[i];
    if (trace.engines != engines_ || trace.nested_streams != nested_streams_ ||
        trace.counts.structs_cost > most_structs_ - std::min(most_structs_, structs_) ||
        trace.counts.packets_cost > most_packets_ - std::min(most_packets_, packets_)) {
      continue;
    }
    places_[0] = {frame.space, frame.address, bytes};
    replaying_ = true;
    const bool found = FindAll(trace);
    replaying_ = false;
    if (!found) {
      Undo();
      continue;
    }
    done_.clear();
    done_bytes_.clear();
    shape.without_trace = 0;
    // The last trace is the most likely one.
    if (i != 0) std::swap(shape.traces[i], shape.traces[0]);
    Show(trace, frame.depth, parent);
    return true;
  }
  return false;
}

bool Decoder::FindAll(Trace& trace) {
  if (trace.shapes != shapes_.made()) {
    if (!trace.HasShapes()) return false;
    trace.shapes = shapes_.made();
  }
  const size_t count = trace.steps.size();
  bool widened = false;
  for (size_t i = 0; i < count; ++i) {
    const Trace::Step& step = trace.steps[i];
    Place& place = places_[i];
    if (step.from != nullptr) {
      const Place& from = places_[step.parent];
      record_ = from.address;
      // Bytes after the record are not read.
      const Target target =
          step.chosen ? ChosenTarget(trace, i) : PlainTarget(*step.from, from.bytes);
      if (!target.base_known || IsNull(*trace.guards[i].to, target)) return false;
      place = {target.space, target.address, There(target.space, target.address, kReplayed)};
    } else if (i != 0) {
      const Place& before = places_[step.before];
      if (step.distance > ~before.address) return false;
      place.space = before.space;
      place.address = before.address + step.distance;
      if (step.distance + step.bytes <= before.bytes.size()) {
        place.bytes = before.bytes.subspan(step.distance);
      } else {
        place.bytes = There(place.space, place.address, kReplayed);
      }
    }
    if (place.bytes.size() < step.bytes) return false;
    if (step.compared != 0 && !widened) {
      const absl::Span<const MaskedBytes::Word> words(trace.words.data() + step.words,
                                                      step.words_count);
      widened = !MaskedBytes::AreIn(words, step.compared, place.bytes);
    }
    if (widened && !Widen(trace, i)) return false;
    if (complete_ != nullptr && trace.guards[i].shape != nullptr) {
      record_ = place.address;
      if (HasForbidden(*trace.guards[i].shape, place.bytes.subspan(0, step.bytes))) return false;
    }
    if (step.more && !HasMore(trace, i)) return false;
  }
  if (widened) {
    trace.MakeSteps();
    // Users that know it by its number must see another trace now.
    trace.number = ++last_trace_;
  }
  return true;
}

bool Decoder::Widen(Trace& trace, size_t index) {
  Guard& guard = trace.guards[index];
  // This may change the guard's steps.
  const absl::Span<const uint8_t> bytes = places_[index].bytes;
  return trace.Widen(tables_, guard, bytes) && (guard.finder == nullptr || IsItself(guard, bytes));
}

bool Decoder::IsItself(const Guard& guard, absl::Span<const uint8_t> bytes) {
  uint32_t first = 0;
  // The rest of the opcode may be in the next segment.
  if (bytes.size() < sizeof(first)) return false;
  std::memcpy(&first, bytes.data(), sizeof(first));
  return guard.finder->Find(first, bytes.size()) == guard.container;
}

bool Decoder::HasMore(Trace& trace, size_t index) {
  const Trace::Step& step = trace.steps[index];
  const Place& place = places_[index];
  Guard& guard = trace.guards[index];
  if (!guard.reads.empty() && !IsSaid(guard.reads)) return false;
  if (guard.has_kernel && !IsCodeOf(guard, place)) return false;
  if (step.asks_limits && !guard.shape->Has(place.bytes)) return false;
  if (step.asks_finder && !IsItself(guard, place.bytes)) return false;
  for (const Guard::Remembered& part : guard.remembered) {
    RememberBytes(part.memory, place.bytes.subspan(part.byte, part.size));
  }
  const absl::Span<const uint8_t> bytes = place.bytes.subspan(0, step.bytes);
  for (const Guard::Set& set : guard.sets) SetBase(*set.at, bytes, set.holds);
  return true;
}

std::optional<uint64_t> Decoder::Said(uint32_t memory, uint64_t bit, uint32_t width) const {
  const std::vector<uint8_t>& last = state_->last[memory];
  if (bit + width > last.size() * 8) return std::nullopt;
  return ReadBits(last, bit, width);
}

bool Decoder::IsSaid(absl::Span<const Guard::StateRead> all) const {
  return std::all_of(all.begin(), all.end(), [&](const Guard::StateRead& reads) {
    return Said(reads.memory, reads.bit, reads.width) == reads.raw;
  });
}

Decoder::Target Decoder::ChosenTarget(const Trace& trace, size_t index) const {
  const Guard& guard = trace.guards[index];
  const Guard& parent = trace.guards[guard.parent];
  const ShapePointer& known = parent.shape->pointers[guard.pointer];
  const absl::Span<const uint8_t> bytes = places_[guard.parent].bytes.subspan(0, parent.bytes);
  const Scope scope(tables_, known.at, bytes, state_->bases);
  if (guard.chosen && PointerOf(tables_.extra(known.at.leaf->extra), scope) != guard.to) {
    return {0, 0, false};
  }
  return TargetOf(known.at, *guard.to, scope, bytes);
}

bool Decoder::IsCodeOf(Guard& guard, const Place& place) {
  if (guard.code_epoch == code_epoch_ && guard.code_address == place.address &&
      guard.code_space == place.space) {
    return true;
  }
  const auto known = code_.find({place.space, place.address});
  if (known == code_.end() || known->second.ends != guard.kernel.ends ||
      known->second.size != guard.kernel.code.size()) {
    return false;
  }
  const absl::Span<const uint8_t> code = There(place.space, place.address, known->second.size);
  if (code.size() != known->second.size) return false;
  guard.kernel.code = code;
  guard.code_epoch = code_epoch_;
  guard.code_address = place.address;
  guard.code_space = place.space;
  return true;
}

void Decoder::Undo() {
  for (; !done_.empty(); done_.pop_back()) {
    const Done& done = done_.back();
    if (done.is_base) {
      state_->bases[done.number] = done.base;
      continue;
    }
    const auto bytes = done_bytes_.end() - static_cast<ptrdiff_t>(done.bytes);
    state_->last[done.number].assign(bytes, done_bytes_.end());
    done_bytes_.erase(bytes, done_bytes_.end());
  }
}

void Decoder::Show(Trace& trace, uint32_t depth, uint64_t parent) {
  const size_t count = trace.guards.size();
  for (size_t i = 0; i < count; ++i) {
    const Guard& guard = trace.guards[i];
    const Place& place = places_[i];
    Record& record = trace.records[i];
    record.id = next_id_ + i;
    record.parent = i == 0 ? parent : next_id_ + guard.parent;
    Attribute(record);
    record.space = place.space;
    record.address = place.address;
    record.bytes = place.bytes.subspan(0, guard.bytes);
  }
  trace.records[0].depth = depth;
  next_id_ += count;
  packets_ += trace.counts.packets_cost;
  structs_ += trace.counts.structs_cost;
  summary_.packets += trace.counts.packets;
  summary_.structs += trace.counts.structs;
  summary_.data += trace.counts.data;
  sink_.OnTrace({trace.number, trace.records, trace.varying_of});
}

}  // namespace packsmith::decode
