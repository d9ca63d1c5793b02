#include "runtime/decode/trace/recorder.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/decode/fields/masked_bytes.h"
#include "runtime/decode/trace/player.h"
#include "runtime/decode/walk/follower.h"
#include "runtime/decode/walk/pointers.h"

namespace packsmith::decode {
namespace {

constexpr size_t kUsualGuards = 16;
// The most packets between two attempts to record one, if they have failed again and again.
constexpr uint32_t kMostBackOff = 1 << 16;

}  // namespace

void ShowAndRecord(Walk& walk, Shape& shape, absl::FunctionRef<void()> show) {
  if (walk.out.observer() != nullptr || ++shape.without_trace < shape.back_off) return show();
  shape.without_trace = 0;
  const uint64_t number = shape.number;
  TraceRecorder recorder(walk);
  show();
  // It is another one now.
  if (shape.number != number) return;
  std::unique_ptr<Trace> trace = recorder.Finish();
  if (trace == nullptr) {
    shape.back_off = std::min(shape.back_off * 2, kMostBackOff);
  } else {
    walk.traces->Keep(shape, std::move(trace));
  }
}

TraceRecorder::TraceRecorder(Walk& walk)
    : walk_(walk),
      tables_(walk.tables),
      trace_(std::make_unique<Trace>()),
      first_id_(walk.out.next_id()),
      before_(Count()) {
  trace_->guards.reserve(kUsualGuards);
  trace_->records.reserve(kUsualGuards);
  followed_.reserve(kUsualGuards);
  trace_->engines = walk.engines;
  trace_->nested_streams = walk.nested_streams;
  walk.out.Observe(this);
}

TraceRecorder::~TraceRecorder() {
  if (!aborted_) walk_.out.Observe(nullptr);
}

void TraceRecorder::Abort() {
  aborted_ = true;
  walk_.out.Observe(nullptr);
}

TraceRecorder::Before TraceRecorder::Count() const {
  const Summary& summary = walk_.out.summary();
  return {walk_.costs.packets,
          walk_.costs.structs,
          summary.packets,
          summary.structs,
          summary.data,
          summary.problems,
          walk_.follower->programs().known()};
}

void TraceRecorder::OnPointer(const FieldAt& at, const tables::Pointer& pointer, const Scope& scope,
                              const Target& target, uint64_t parent) {
  if (!AddPointer(at, pointer, scope, target, parent)) Abort();
}

void TraceRecorder::OnRecord(const Record& record, const Shape* shape) {
  if (!AddRecord(record, shape)) Abort();
}

bool TraceRecorder::AddPointer(const FieldAt& at, const tables::Pointer& pointer,
                               const Scope& scope, const Target& target, uint64_t parent) {
  const uint64_t index = parent - first_id_;
  if (index >= trace_->guards.size()) return false;
  const Shape* const shape = trace_->guards[index].shape;
  if (shape == nullptr) return false;
  const auto known = std::find_if(
      shape->pointers.begin(), shape->pointers.end(),
      [&](const ShapePointer& p) { return p.at.leaf == at.leaf && p.at.bit == at.bit; });
  if (known == shape->pointers.end()) return false;
  if (pointer.target_kind == tables::TargetKind::kData &&
      walk_.pointers->FormatOf(pointer, scope).format != nullptr) {
    return false;
  }
  if (pointer.until_zero != 0 || pointer.other != tables::kNone || pointer.end != tables::kNone) {
    return false;
  }
  Followed followed{
      static_cast<uint32_t>(known - shape->pointers.begin()), &pointer, {}, target.address};
  for (const uint32_t e : AmountExpressions(pointer)) {
    if (e == tables::kNone) continue;
    const tables::Expression& expression = tables_.expression(e);
    if (expression.kind != tables::ExpressionKind::kState) continue;
    const tables::Leaf& leaf = tables_.leaf(expression.leaf);
    if (leaf.width > 64) return false;
    const uint32_t memory = walk_.actions.of[expression.container].memory;
    followed.reads.push_back(
        {memory, leaf.bit, leaf.width, walk_.state().BitsOf(memory, leaf.bit, leaf.width)});
  }
  followed_[index].push_back(std::move(followed));
  return true;
}

bool TraceRecorder::AddRecord(const Record& record, const Shape* shape) {
  Trace& trace = *trace_;
  const bool is_data = record.type == RecordType::kData;
  if (trace.guards.size() >= Trace::kMostGuards || record.id != first_id_ + trace.guards.size() ||
      (shape == nullptr) != is_data || !record.faults.empty() || !record.stored.empty() ||
      record.register_offset >= 0 || !record.elements.empty() || record.slot >= 0 ||
      record.bytes.empty()) {
    return false;
  }
  Guard guard;
  guard.bytes = record.bytes.size();
  guard.first_byte = trace.seen.size();
  trace.seen.insert(trace.seen.end(), record.bytes.begin(), record.bytes.end());
  trace.must.resize(trace.seen.size());
  if (!trace.guards.empty() && !AddPlace(record, guard)) return false;
  if (!is_data) {
    if (!AddDescribed(record, *shape, guard)) return false;
  } else if (record.kernel != nullptr) {
    guard.has_kernel = true;
    guard.kernel = *record.kernel;
  } else if (guard.bytes != std::min(record.data_size, walk_.options.most_data_bytes)) {
    return false;
  }
  trace.guards.push_back(std::move(guard));
  trace.records.push_back(record);
  followed_.emplace_back();
  return true;
}

bool TraceRecorder::AddPlace(const Record& record, Guard& guard) {
  Trace& trace = *trace_;
  const uint64_t parent = record.parent - first_id_;
  if (parent >= trace.guards.size() || followed_[parent].empty()) return false;
  guard.parent = static_cast<uint32_t>(parent);
  Followed& from = followed_[parent].back();
  guard.to = from.to;
  if (from.last == Guard::kBehind) {
    if (record.address != from.address) return false;
    guard.pointer = from.pointer;
    guard.chosen = trace.guards[parent].shape->pointers[from.pointer].pointer == nullptr;
    guard.reads = std::move(from.reads);
  } else {
    const Record& before = trace.records[from.last];
    if (record.type == RecordType::kData || before.space != record.space ||
        record.address < before.address) {
      return false;
    }
    guard.before = from.last;
    guard.distance = record.address - before.address;
  }
  from.last = static_cast<uint32_t>(trace.guards.size());
  return true;
}

bool TraceRecorder::AddDescribed(const Record& record, const Shape& shape, Guard& guard) {
  const tables::Container& container = *record.container;
  guard.container = tables_.IndexOf(container);
  if (shape.asks_state || walk_.actions.of[guard.container].describes_data ||
      container.draw != tables::kNone || container.role != tables::Role::kOther ||
      guard.bytes != shape.bytes) {
    return false;
  }
  const Scope scope(tables_, container, record.bytes);
  for (const tables::Flow& flow : tables_.flows(container.flows)) {
    if (!shape.flows_by_bits) return false;
    if (!scope.Holds(flow.when)) continue;
    if (flow.kind != tables::FlowKind::kTerminate && flow.kind != tables::FlowKind::kEnd) {
      return false;
    }
    break;
  }
  guard.shape = &shape;
  guard.shape_number = shape.number;
  shape.same.AddMask(trace_->Of(guard, trace_->must));
  const RecordView view{container, record.bytes, shape.parts};
  walk_.actions.ForEachRemembered(tables_, guard.container, view,
                                  [&](uint32_t memory, uint64_t byte, uint64_t size) {
                                    guard.remembered.push_back({memory, byte, size});
                                  });
  if (!AddSets(record, shape, guard)) return false;
  if (record.type != RecordType::kPacket || trace_->guards.empty()) return true;
  if (guard.to->target_kind != tables::TargetKind::kStream) return false;
  guard.finder = &walk_.FinderOf(guard.to->target, walk_.engines);
  return true;
}

bool TraceRecorder::AddSets(const Record& record, const Shape& shape, Guard& guard) {
  for (const FieldAt& at : shape.acting) {
    const tables::Extra& extra = tables_.extra(at.leaf->extra);
    if (extra.stores_leaf != tables::kNone || extra.writes_leaf != tables::kNone) return false;
    const Scope field(tables_, at, record.bytes);
    guard.sets.push_back({&at, field.Holds(extra.sets_when)});
    if (extra.sets_when == tables::kNone) continue;
    for (const tables::Term& term : tables_.terms(tables_.condition(extra.sets_when).terms)) {
      if (term.of_state != 0) return false;
      SetBits(field.BitOf(term.leaf), tables_.leaf(term.leaf).width,
              trace_->Of(guard, trace_->must));
    }
  }
  return true;
}

std::unique_ptr<Trace> TraceRecorder::Finish() {
  Trace& trace = *trace_;
  const Before after = Count();
  trace.counts = {after.packets_cost - before_.packets_cost,
                  after.structs_cost - before_.structs_cost, after.packets - before_.packets,
                  after.structs - before_.structs, after.data - before_.data};
  if (aborted_ || trace.guards.size() < 2 ||
      walk_.out.next_id() - first_id_ != trace.guards.size() ||
      after.problems != before_.problems || after.programs != before_.programs ||
      !walk_.overlay.empty()) {
    return nullptr;
  }
  sets_.resize(tables_.bases().size());
  for (const Guard& guard : trace.guards) {
    for (const Guard::Set& set : guard.sets) {
      const uint32_t base = tables_.extra(set.at->leaf->extra).sets_base;
      if (base != tables::kNone) sets_[base] = true;
    }
  }
  for (size_t i = 0; i < trace.guards.size(); ++i) {
    if (trace.guards[i].shape != nullptr && !CheckPointers(i)) return nullptr;
  }
  trace.varying.resize(trace.seen.size());
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
  trace.shapes = walk_.shapes.made();
  return std::move(trace_);
}

bool TraceRecorder::CountsFromOutside(const tables::Pointer& pointer) const {
  uint32_t base = pointer.base;
  for (size_t i = 0; i < sets_.size() && base != tables::kNone && base != tables::kZeroBase; ++i) {
    if (sets_[base]) return false;
    base = tables_.bases()[base].otherwise;
  }
  return pointer.scale == tables::kNone ||
         tables_.expression(pointer.scale).kind != tables::ExpressionKind::kState;
}

bool TraceRecorder::MustBe(uint32_t expression, const Scope& scope, Guard& guard) {
  if (expression == tables::kNone) return true;
  const tables::Expression& e = tables_.expression(expression);
  if (e.kind == tables::ExpressionKind::kLeaf) {
    SetBits(scope.BitOf(e.leaf), tables_.leaf(e.leaf).width, trace_->Of(guard, trace_->must));
  }
  return e.kind != tables::ExpressionKind::kState;
}

bool TraceRecorder::CheckPointers(size_t index) {
  Guard& guard = trace_->guards[index];
  if (guard.shape->number != guard.shape_number) return false;
  const Pointers& pointers = *walk_.pointers;
  const absl::Span<const uint8_t> bytes = trace_->Of(guard, trace_->seen);
  for (size_t p = 0; p < guard.shape->pointers.size(); ++p) {
    const ShapePointer& known = guard.shape->pointers[p];
    const Scope scope(tables_, known.at, bytes, walk_.state().bases());
    const uint32_t high = tables_.extra(known.at.leaf->extra).high;
    if (high != tables::kNone && tables_.expression(high).kind == tables::ExpressionKind::kState) {
      return false;
    }
    const std::vector<Followed>& followed = followed_[index];
    const auto from = std::find_if(followed.begin(), followed.end(),
                                   [&](const Followed& f) { return f.pointer == p; });
    if (from != followed.end()) {
      if (!CheckFollowed(known, *from, scope, guard)) return false;
      continue;
    }
    // A pointer to nothing, for reasons that are in the record.
    if (known.pointer == nullptr || known.somewhere) return false;
    for (const uint32_t e : AmountExpressions(*known.pointer)) {
      if (!MustBe(e, scope, guard)) return false;
    }
    if (known.pointer->end != tables::kNone || known.pointer->until_zero != 0) return false;
    std::optional<uint64_t> size;
    const Target target = pointers.TargetOf(known.at, *known.pointer, scope, bytes);
    if (!pointers.PointsNowhere(*known.pointer, scope, target, size)) return false;
  }
  return true;
}

bool TraceRecorder::CheckFollowed(const ShapePointer& known, const Followed& from,
                                  const Scope& scope, Guard& guard) {
  if (from.last == Guard::kBehind) return false;
  // The address is the same for all pointers of the field.
  for (uint32_t k = tables_.extra(known.at.leaf->extra).pointer;
       known.pointer == nullptr && k != tables::kNone; k = tables_.pointer(k).next) {
    const tables::Pointer& other = tables_.pointer(k);
    if (other.base != from.to->base || other.relative != from.to->relative ||
        other.scale != from.to->scale || other.space_when != tables::kNone ||
        other.space != from.to->space) {
      return false;
    }
  }
  if (!CountsFromOutside(*from.to)) return false;
  for (const uint32_t e : AmountExpressions(*from.to)) (void)MustBe(e, scope, guard);
  return true;
}

}  // namespace packsmith::decode
