#include "runtime/decode/walk/follower.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/decode/fields/addresses.h"
#include "runtime/decode/fields/undescribed.h"
#include "runtime/decode/walk/draw_data.h"
#include "runtime/decode/walk/record_shower.h"
#include "runtime/decode/walk/residency.h"
#include "runtime/decode/walk/streams.h"

namespace packsmith::decode {
namespace {

// Enough for the field that states a structure's length.
constexpr uint64_t kLeastRead = 4;

}  // namespace

Follower::Follower(Walk& walk) : walk_(walk), tables_(walk.tables), programs_(walk) {}

void Follower::Check(const RecordView& record, const Shape* shape, Targets& targets) {
  Pointers& pointers = *walk_.pointers;
  targets.changes = walk_.state().changes();
  if (shape == nullptr) {
    pointers.ForEach(record, [&](const FieldAt& at, const tables::Pointer& pointer,
                                 const Scope& scope, size_t number) {
      if (!Follows(pointer)) return;
      const size_t before = targets.all.size();
      CheckOne(at, pointer, pointers.TargetOf(at, pointer, scope, record.bytes), false, scope,
               number, targets);
      if (targets.all.size() != before) targets.fields.push_back(at);
    });
    for (size_t i = 0; i < targets.all.size(); ++i) targets.all[i].at = &targets.fields[i];
    return;
  }
  const bool quick = !walk_.options.leads;
  for (const ShapePointer& known : shape->pointers) {
    if (known.pointer != nullptr && !Follows(*known.pointer)) continue;
    if (known.plain && known.somewhere && quick) {
      const Target target = pointers.PlainTarget(known, record.bytes);
      if (target.base_known && pointers.HasMemory(target) &&
          !pointers.IsNull(*known.pointer, target)) {
        // Else only faults are wanted.
        if (walk_.FollowsAll()) {
          targets.all.push_back({&known.at, known.pointer, target, known.number, std::nullopt});
        }
        continue;
      }
    }
    const Scope scope(tables_, known.at, record.bytes, walk_.state().bases());
    const tables::Pointer* pointer = known.pointer;
    if (pointer == nullptr) {
      pointer = pointers.PointerOf(tables_.extra(known.at.leaf->extra), scope);
    }
    if (pointer == nullptr || !Follows(*pointer)) continue;
    CheckOne(known.at, *pointer, pointers.TargetOf(known, *pointer, scope, record.bytes),
             known.somewhere, scope, known.number, targets);
  }
}

void Follower::CheckOne(const FieldAt& at, const tables::Pointer& pointer, const Target& target,
                        bool somewhere, const Scope& scope, size_t number, Targets& targets) {
  const Pointers& pointers = *walk_.pointers;
  if (pointers.IsNull(pointer, target)) return;
  if (walk_.options.leads && target.base_known) ReportLead(at, pointer, scope, target);
  const auto add_fault = [&](std::string text) {
    AddFault(FaultKind::kUnmapped, at.bit, at.width, target.address, std::move(text), walk_.faults);
  };
  // Usually only memory that is read can be missing: dumps rarely have textures and render targets.
  std::optional<uint64_t> size;
  if (!somewhere && pointers.PointsNowhere(pointer, scope, target, size)) {
    if (walk_.residency->IsForbidden(pointer, target)) {
      add_fault(walk_.residency->WhyMissing(at, target));
    }
    return;
  }
  if (!target.base_known) {
    // Of several possible bases, the one that always applies.
    uint32_t base = pointer.base;
    for (size_t i = 0; i < tables_.bases().size(); ++i) {
      if (tables_.bases()[base].otherwise == tables::kNone) break;
      base = tables_.bases()[base].otherwise;
    }
    add_fault(
        absl::StrCat("the ", tables_.string(tables_.bases()[base].name), " base is not known"));
  } else if (!pointers.HasMemory(target)) {
    add_fault(walk_.residency->WhyMissing(at, target));
  } else {
    targets.all.push_back({&at, &pointer, target, number, size});
  }
}

void Follower::ReportLead(const FieldAt& at, const tables::Pointer& pointer, const Scope& scope,
                          const Target& target) {
  const Pointers& pointers = *walk_.pointers;
  uint64_t size = 0;
  switch (pointer.target_kind) {
    case tables::TargetKind::kStruct: {
      const Pointers::Count count = pointers.CountOf(pointer, scope);
      const uint64_t bytes = tables_.container(pointer.target).bytes;
      size = pointers.Evaluate(pointer.size, scope).value_or(count.count * bytes);
      break;
    }
    case tables::TargetKind::kData:
      if (tables_.data(pointer.target).is_code == 0) size = pointers.SizeOf(pointer, scope, target);
      break;
    case tables::TargetKind::kStream:
      break;
  }
  walk_.out.sink().OnLead({&at, &pointer, target.space, target.address, size});
}

void Follower::Follow(const RecordView& record, const Targets& targets, uint64_t parent,
                      uint32_t depth) {
  Pointers& pointers = *walk_.pointers;
  const uint64_t own_address = walk_.record;
  size_t done = 0;
  for (const Targets::Found& found : targets.all) {
    if (walk_.state().changes() != targets.changes) break;
    // Following earlier pointers has shown other records.
    walk_.record = own_address;
    FollowOne(record, *found.at, *found.pointer,
              Scope(tables_, *found.at, record.bytes, walk_.state().bases()), found.target,
              found.size, parent, depth);
    done = found.number + 1;
  }
  if (walk_.state().changes() == targets.changes) return;
  // The remaining fields may point elsewhere now.
  pointers.ForEach(record, [&](const FieldAt& at, const tables::Pointer& pointer,
                               const Scope& scope, size_t number) {
    if (number < done) return;
    walk_.record = own_address;
    const Target target = pointers.TargetOf(at, pointer, scope, record.bytes);
    if (!target.base_known || !pointers.HasMemory(target)) return;
    if (pointers.IsNull(pointer, target)) return;
    std::optional<uint64_t> size;
    if (pointers.PointsNowhere(pointer, scope, target, size)) return;
    FollowOne(record, at, pointer, scope, target, size, parent, depth);
  });
}

void Follower::FollowOne(const RecordView& record, const FieldAt& at,
                         const tables::Pointer& pointer, const Scope& scope, const Target& target,
                         std::optional<uint64_t> size, uint64_t parent, uint32_t depth) {
  if (Observer* const observer = walk_.out.observer()) {
    observer->OnPointer(at, pointer, scope, target, parent);
  }
  if (depth >= walk_.options.deepest_pointer) {
    walk_.limits.Report(Limit::kPointers, [&] {
      return absl::StrCat("the packet at ", ShowAddress(walk_.here),
                          " begins a chain of more than ", depth,
                          " structures; not followed further; unpack --max-pointers=N allows more");
    });
    return;
  }
  switch (pointer.target_kind) {
    case tables::TargetKind::kStruct:
      return FollowStructs(pointer, scope, target, parent, depth);
    case tables::TargetKind::kStream:
      // The walk follows the packet's flow already.
      for (const tables::Flow& flow : tables_.flows(record.container.flows)) {
        if (flow.target != tables::kNone && &tables_.leaf(flow.target) == at.leaf) return;
      }
      return FollowStream(pointer.target, target, parent);
    case tables::TargetKind::kData:
      if (tables_.data(pointer.target).is_code != 0) {
        return FollowCode(pointer, scope, target, parent);
      }
      return FollowData(pointer, scope, target,
                        size ? *size : walk_.pointers->SizeOf(pointer, scope, target), parent);
  }
}

void Follower::FollowStream(uint32_t stream, const Target& target, uint64_t parent) {
  if (walk_.nested_streams >= walk_.options.deepest_call) {
    walk_.limits.Report(Limit::kStreams, [&] {
      return absl::StrCat("the stream at ", ShowAddress(target.address), " is ",
                          walk_.nested_streams + 1,
                          " streams deep and not followed; unpack --max-calls=N allows more");
    });
    return;
  }
  ++walk_.nested_streams;
  const uint64_t here = walk_.here;
  const uint32_t outer = walk_.stream;
  walk_.streams->Show(
      stream, walk_.engines,
      {target.space, target.address, ~uint64_t{0}, walk_.nested_streams, target.address}, parent);
  // This packet may not use what was read ahead for the inner stream.
  walk_.here = here;
  walk_.stream = outer;
  if (walk_.looked_ahead) walk_.state().Invalidate();
  walk_.looked_ahead = false;
  --walk_.nested_streams;
}

void Follower::FollowData(const tables::Pointer& pointer, const Scope& scope, const Target& target,
                          uint64_t size, uint64_t parent) {
  const uint64_t stride = walk_.pointers->Evaluate(pointer.stride, scope).value_or(0);
  const Pointers::Formatted formatted = walk_.pointers->FormatOf(pointer, scope);
  const absl::string_view name = walk_.strings.Get(tables_.data(pointer.target).name);
  if (formatted.format != nullptr) {
    DrawnData::Slot slot{
        true, target.space, target.address, size, stride, false, 1, formatted.format, {}};
    if (slot.stride == 0) slot.stride = formatted.format->bits / 8;
    const DataElement element{formatted.format, formatted.name, 0, 0};
    if (!walk_.draw_data->ShowRows(name, slot, {&element, 1}, -1, 0, ~uint64_t{0}, parent)
             .empty()) {
      return;
    }
  }
  if (!walk_.MayFollow(0)) return;
  walk_.faults.clear();
  Record record;
  record.type = RecordType::kData;
  record.parent = parent;
  record.space = target.space;
  record.address = target.address;
  record.name = name;
  record.bytes = walk_.memory.Bytes(target.space, target.address,
                                    std::min(size, walk_.options.most_data_bytes), data_);
  record.data_size = size;
  record.data_stride = stride;
  walk_.out.Emit(record);
}

void Follower::FollowCode(const tables::Pointer& pointer, const Scope& scope, const Target& target,
                          uint64_t parent) {
  if (!walk_.MayFollow(0)) return;
  const tables::DataKind& kind = tables_.data(pointer.target);
  const Programs::Code code = programs_.Find(kind, target.space, target.address,
                                             walk_.pointers->SizeOf(pointer, scope, target));
  if (code.is_cut) {
    walk_.limits.Note(Limit::kCode, [&] {
      return absl::StrCat("the program at ", ShowAddress(target.address), " is cut after ",
                          code.size, " bytes; unpack --max-code=N allows more");
    });
  }
  Kernel kernel;
  kernel.stage = walk_.strings.Get(pointer.stage);
  kernel.simd = static_cast<uint32_t>(
      std::min<uint64_t>(walk_.pointers->Evaluate(pointer.simd, scope).value_or(0), 0xffffffffu));
  kernel.ends = code.ends;
  kernel.code = walk_.memory.Bytes(target.space, target.address, code.size, data_);
  walk_.faults.clear();
  Record record;
  record.type = RecordType::kData;
  record.parent = parent;
  record.space = target.space;
  record.address = target.address;
  record.name = walk_.strings.Get(kind.name);
  record.bytes = kernel.code.subspan(0, walk_.options.most_data_bytes);
  record.data_size = kernel.code.size();
  record.kernel = &kernel;
  walk_.out.Emit(record);
}

void Follower::FollowStructs(const tables::Pointer& pointer, const Scope& scope,
                             const Target& target, uint64_t parent, uint32_t depth) {
  const Pointers& pointers = *walk_.pointers;
  const tables::Container& container = tables_.container(pointer.target);
  const auto [count, count_known] = pointers.CountOf(pointer, scope);
  Table table{pointer.target,
              pointer.other,
              count,
              pointers.Evaluate(pointer.size, scope),
              pointer.count != tables::kNone,
              !count_known && pointer.until_zero != 0};
  if (pointers.IsBoundedTable(pointer)) table.size.reset();
  table.is_table = table.is_table || (pointer.until_zero != 0 && !table.size);
  if (table.size && !table.is_table && container.variable == 0 && container.bytes != 0) {
    // The bytes of a table of structures that have a fixed size.
    table.is_table = *table.size > container.bytes;
    table.count = *table.size / container.bytes;
    table.size.reset();
  }
  // If their number is unknown, memory after the last one may look like one more.
  const bool guess = !count_known;
  walk_.guesses += guess;
  const bool whole = ShowTable(table, target.space, target.address, parent, depth);
  // Else their number does not follow from the record that points to them.
  if (!whole && walk_.out.observer() != nullptr) walk_.out.observer()->OnUncertain();
  walk_.guesses -= guess;
}

int Follower::Misfits(uint32_t index, absl::Span<const uint8_t> bytes) {
  const tables::Container& container = tables_.container(index);
  const PlacedParts parts = walk_.parts.Place(container, bytes);
  const RecordView record{container, bytes, parts};
  int misfits = static_cast<int>(Undescribed(tables_, record).size());
  ForEachField(tables_, record, [&](const FieldAt& at) {
    if (at.cut || at.leaf->named == tables::kNone) return;
    misfits += tables_.FindValue(*at.leaf, ReadBits(record.bytes, at.bit, at.width)) == nullptr;
  });
  Pointers& pointers = *walk_.pointers;
  pointers.ForEach(
      record, [&](const FieldAt& at, const tables::Pointer& pointer, const Scope& scope, size_t) {
        misfits += !pointers.HasMemory(pointers.TargetOf(at, pointer, scope, record.bytes));
      });
  walk_.faults.clear();
  walk_.fault_finder.Find(record, record.bytes.size(), false, walk_.faults);
  return misfits + static_cast<int>(walk_.faults.size());
}

uint32_t Follower::BetterFit(const Table& table, absl::Span<const uint8_t> bytes) {
  if (table.other == tables::kNone) return table.target;
  return Misfits(table.other, bytes) < Misfits(table.target, bytes) ? table.other : table.target;
}

bool Follower::ShowTable(const Table& table, uint32_t space, uint64_t address, uint64_t parent,
                         uint32_t depth) {
  std::vector<uint8_t> scratch;
  // An element's container may depend on its other candidate; and a record with parts that is shown
  // once more, on which of them count.
  const tables::Container& expected = tables_.container(table.target);
  const bool some = walk_.bound != nullptr && expected.parts.count != 0;
  const bool use_shapes = walk_.UsesShapes() && table.other == tables::kNone && !some;
  for (uint64_t i = 0; i < table.count; ++i) {
    if (!walk_.MayFollow(0)) return false;
    Shape* shape = nullptr;
    if (use_shapes) {
      shape =
          walk_.shapes.Find(table.target, walk_.memory.There(space, address, ShapeCache::kLongest),
                            table.size.value_or(ShapeCache::kOwnLength));
    }
    absl::Span<const uint8_t> bytes;
    uint64_t length = 0;
    if (shape != nullptr) {
      length = shape->bytes;
    } else {
      bytes = walk_.memory.Bytes(space, address, std::max<uint64_t>(expected.bytes, kLeastRead),
                                 scratch);
      if (bytes.empty()) return false;
      length = table.size ? *table.size : walk_.parts.Length(expected, bytes);
    }
    if (length == 0) return false;
    if (length > bytes.size()) bytes = walk_.memory.Bytes(space, address, length, scratch);
    bytes = bytes.subspan(0, length);
    if (table.until_zero &&
        std::all_of(bytes.begin(), bytes.end(), [](uint8_t b) { return b == 0; })) {
      return false;
    }
    walk_.record = address;
    Shown shown;
    shown.type = RecordType::kStruct;
    shown.container = BetterFit(table, bytes);
    shown.bytes = shown.now = bytes;
    shown.length = length;
    shown.stated_length = table.size.value_or(ShapeCache::kOwnLength);
    shown.learns = use_shapes;
    shown.space = space;
    shown.address = address;
    shown.parent = parent;
    shown.index = table.is_table ? static_cast<int64_t>(i) : -1;
    shown.pointers = depth + 1;
    walk_.shower->Show(shape, shown);
    if (bytes.size() < length) return false;
    address += length;
  }
  return true;
}

}  // namespace packsmith::decode
