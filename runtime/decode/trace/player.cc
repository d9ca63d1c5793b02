#include "runtime/decode/trace/player.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/decode/walk/follower.h"
#include "runtime/decode/walk/pointers.h"
#include "runtime/decode/walk/residency.h"

namespace packsmith::decode {
namespace {

constexpr size_t kMostTraces = 4;  // of a shape
// Packets without a matching trace, of a shape that has kMostTraces, before one of them is
// replaced.
constexpr uint32_t kBackOff = 16;
constexpr size_t kPlayed = ShapeCache::kLongest;  // bytes of a record that are read

}  // namespace

void TracePlayer::Keep(Shape& shape, std::unique_ptr<Trace> trace) {
  trace->number = ++last_number_;
  if (shape.traces.size() < kMostTraces) {
    shape.traces.push_back(std::move(trace));
  } else {
    shape.traces[shape.next_trace++ % kMostTraces] = std::move(trace);
  }
  shape.back_off = shape.traces.size() < kMostTraces ? 1 : kBackOff;
}

bool TracePlayer::Play(Shape& shape, const Shown& packet, absl::Span<const uint8_t> bytes) {
  const Costs& costs = walk_.costs;
  for (size_t i = 0; i < shape.traces.size(); ++i) {
    Trace& trace = *shape.traces[i];
    if (trace.engines != walk_.engines || trace.nested_streams != walk_.nested_streams ||
        trace.counts.structs_cost >
            costs.most_structs - std::min(costs.most_structs, costs.structs) ||
        trace.counts.packets_cost >
            costs.most_packets - std::min(costs.most_packets, costs.packets)) {
      continue;
    }
    places_[0] = {packet.space, packet.address, bytes};
    const ContextState::Checkpoint before = walk_.state().Mark();
    if (!FindAll(trace)) {
      walk_.state().RollBack(before);
      continue;
    }
    walk_.state().Keep(before);
    shape.without_trace = 0;
    // The last trace is the most likely one.
    if (i != 0) std::swap(shape.traces[i], shape.traces[0]);
    Show(trace, packet);
    return true;
  }
  return false;
}

// Inline where it is called: finding records is most of the work.
[[gnu::always_inline]] inline bool TracePlayer::FindPlace(const Trace& trace, size_t index) {
  const Trace::Step& step = trace.steps[index];
  Place& place = places_[index];
  if (step.from != nullptr) {
    const Place& from = places_[step.parent];
    walk_.record = from.address;
    // Bytes after the record are not read.
    const Target target = step.chosen ? ChosenTarget(trace, index)
                                      : walk_.pointers->PlainTarget(*step.from, from.bytes);
    if (!target.base_known || walk_.pointers->IsNull(*trace.guards[index].to, target)) return false;
    place = {target.space, target.address,
             walk_.memory.There(target.space, target.address, kPlayed)};
    return true;
  }
  const Place& before = places_[step.before];
  if (step.distance > ~before.address) return false;
  place.space = before.space;
  place.address = before.address + step.distance;
  if (step.distance + step.bytes <= before.bytes.size()) {
    place.bytes = before.bytes.subspan(step.distance);
  } else {
    place.bytes = walk_.memory.There(place.space, place.address, kPlayed);
  }
  return true;
}

bool TracePlayer::FindAll(Trace& trace) {
  if (trace.shapes != walk_.shapes.made()) {
    if (!trace.HasShapes()) return false;
    trace.shapes = walk_.shapes.made();
  }
  const size_t count = trace.steps.size();
  bool widened = false;
  for (size_t i = 0; i < count; ++i) {
    const Trace::Step& step = trace.steps[i];
    const Place& place = places_[i];
    if (i != 0 && !FindPlace(trace, i)) return false;
    if (place.bytes.size() < step.bytes) return false;
    if (step.compared != 0 && !widened) {
      const absl::Span<const MaskedBytes::Word> words(trace.words.data() + step.words,
                                                      step.words_count);
      widened = !MaskedBytes::AreIn(words, step.compared, place.bytes);
    }
    if (widened && !Widen(trace, i)) return false;
    if (walk_.complete != nullptr && trace.guards[i].shape != nullptr) {
      walk_.record = place.address;
      if (walk_.residency->HasForbidden(*trace.guards[i].shape,
                                        place.bytes.subspan(0, step.bytes))) {
        return false;
      }
    }
    if (step.more && !HasMore(trace, i)) return false;
  }
  if (widened) {
    trace.MakeSteps();
    // Users that know it by its number must see another trace now.
    trace.number = ++last_number_;
  }
  return true;
}

bool TracePlayer::Widen(Trace& trace, size_t index) {
  Guard& guard = trace.guards[index];
  // This may change the guard's steps.
  const absl::Span<const uint8_t> bytes = places_[index].bytes;
  return trace.Widen(tables_, guard, bytes) && (guard.finder == nullptr || IsItself(guard, bytes));
}

bool TracePlayer::IsItself(const Guard& guard, absl::Span<const uint8_t> bytes) {
  uint32_t first = 0;
  // The rest of the opcode may be in the next segment.
  if (bytes.size() < sizeof(first)) return false;
  std::memcpy(&first, bytes.data(), sizeof(first));
  return guard.finder->Find(first, bytes.size()) == guard.container;
}

bool TracePlayer::HasMore(Trace& trace, size_t index) {
  const Trace::Step& step = trace.steps[index];
  const Place& place = places_[index];
  Guard& guard = trace.guards[index];
  if (!guard.reads.empty() && !HasRead(guard.reads)) return false;
  if (guard.has_kernel && !IsCodeOf(guard, place)) return false;
  if (step.asks_limits && !guard.shape->Has(place.bytes)) return false;
  if (step.asks_finder && !IsItself(guard, place.bytes)) return false;
  for (const Guard::Remembered& part : guard.remembered) {
    walk_.state().Remember(part.memory, place.bytes.subspan(part.byte, part.size));
  }
  const absl::Span<const uint8_t> bytes = place.bytes.subspan(0, step.bytes);
  for (const Guard::Set& set : guard.sets) walk_.shower->SetBase(*set.at, bytes, set.holds);
  return true;
}

bool TracePlayer::HasRead(absl::Span<const Guard::StateRead> all) const {
  return std::all_of(all.begin(), all.end(), [&](const Guard::StateRead& read) {
    return walk_.state().BitsOf(read.memory, read.bit, read.width) == read.raw;
  });
}

Target TracePlayer::ChosenTarget(const Trace& trace, size_t index) const {
  const Guard& guard = trace.guards[index];
  const Guard& parent = trace.guards[guard.parent];
  const ShapePointer& known = parent.shape->pointers[guard.pointer];
  const absl::Span<const uint8_t> bytes = places_[guard.parent].bytes.subspan(0, parent.bytes);
  const Scope scope(tables_, known.at, bytes, walk_.state().bases());
  const tables::Extra& extra = tables_.extra(known.at.leaf->extra);
  if (guard.chosen && walk_.pointers->PointerOf(extra, scope) != guard.to) return {0, 0, false};
  return walk_.pointers->TargetOf(known.at, *guard.to, scope, bytes);
}

bool TracePlayer::IsCodeOf(Guard& guard, const Place& place) {
  const Programs& programs = walk_.follower->programs();
  if (guard.code_epoch == programs.epoch() && guard.code_address == place.address &&
      guard.code_space == place.space) {
    return true;
  }
  const Programs::Code* const known = programs.FindKnown(place.space, place.address);
  if (known == nullptr || known->ends != guard.kernel.ends ||
      known->size != guard.kernel.code.size()) {
    return false;
  }
  const absl::Span<const uint8_t> code =
      walk_.memory.There(place.space, place.address, known->size);
  if (code.size() != known->size) return false;
  guard.kernel.code = code;
  guard.code_epoch = programs.epoch();
  guard.code_address = place.address;
  guard.code_space = place.space;
  return true;
}

void TracePlayer::Show(Trace& trace, const Shown& packet) {
  const size_t count = trace.guards.size();
  const uint64_t first_id = walk_.out.next_id();
  for (size_t i = 0; i < count; ++i) {
    const Guard& guard = trace.guards[i];
    const Place& place = places_[i];
    Record& record = trace.records[i];
    walk_.out.Own(record, i);
    record.parent = i == 0 ? packet.parent : first_id + guard.parent;
    record.space = place.space;
    record.address = place.address;
    record.bytes = place.bytes.subspan(0, guard.bytes);
  }
  trace.records[0].depth = packet.depth;
  walk_.costs.packets += trace.counts.packets_cost;
  walk_.costs.structs += trace.counts.structs_cost;
  Summary& summary = walk_.out.summary();
  summary.packets += trace.counts.packets;
  summary.structs += trace.counts.structs;
  summary.data += trace.counts.data;
  walk_.out.EmitTrace({trace.number, trace.records, trace.varying_of});
}

}  // namespace packsmith::decode
