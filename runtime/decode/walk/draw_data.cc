#include "runtime/decode/walk/draw_data.h"

#include <algorithm>
#include <optional>

#include "runtime/decode/fields/addresses.h"
#include "runtime/decode/walk/pointers.h"

namespace packsmith::decode {
namespace {

bool MayDescribeData(const tables::Tables& tables, const tables::Leaf& leaf) {
  if (leaf.extra == tables::kNone) return false;
  const tables::Extra& extra = tables.extra(leaf.extra);
  return extra.pointer != tables::kNone || extra.element != tables::kNone;
}

}  // namespace

DrawData::DrawData(Walk& walk)
    : walk_(walk), tables_(walk.tables), fields_(walk.tables, MayDescribeData) {}

absl::Span<const uint8_t> DrawData::ShowRows(absl::string_view name, const DrawnData::Slot& slot,
                                             absl::Span<const DataElement> elements, int64_t number,
                                             uint64_t first, uint64_t most, uint64_t parent) {
  const Options& options = walk_.options;
  uint64_t extent = 0;
  for (const DataElement& element : elements) {
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
  uint64_t shown = std::min(rows, std::max<uint64_t>(options.most_rows, 1));
  if (slot.stride != 0) {
    const uint64_t fit =
        options.most_row_bytes > extent ? (options.most_row_bytes - extent) / slot.stride + 1 : 1;
    shown = std::min(shown, fit);
  }
  if (shown == 0 || !walk_.MayFollow(shown * slot.stride)) return {};
  const uint64_t skip = first * slot.stride;  // less than the slot's size
  walk_.faults.clear();
  Record record;
  record.type = RecordType::kData;
  record.parent = parent;
  record.space = slot.space;
  record.address = AddSaturated(slot.address, skip);
  record.name = name;
  record.bytes =
      walk_.memory.Bytes(slot.space, record.address, (shown - 1) * slot.stride + extent, bytes_);
  if (record.bytes.size() < extent) return {};
  record.data_size = slot.size - skip;
  record.data_stride = slot.stride;
  record.elements = elements;
  record.data_first = first;
  record.data_rows = rows;
  record.slot = number;
  record.per_instance = slot.per_instance;
  record.step = slot.step;
  walk_.out.Emit(record);
  return record.bytes;
}

void DrawData::Describe(const RecordView& record) {
  // The elements of a packet replace those of the last one, for each kind of data.
  uint32_t described = tables::kNone;
  uint64_t number = 0;
  ForEachField(tables_, fields_, record, [&](const FieldAt& at) {
    if (at.cut) return;
    const tables::Extra& extra = tables_.extra(at.leaf->extra);
    const Scope scope(tables_, at, record.bytes);
    if (extra.pointer != tables::kNone) DescribeSlot(record, at, scope);
    if (extra.element != tables::kNone) DescribeElement(record, at, scope, described, number);
  });
}

void DrawData::DescribeSlot(const RecordView& record, const FieldAt& at, const Scope& scope) {
  const Pointers& pointers = *walk_.pointers;
  const tables::Extra& extra = tables_.extra(at.leaf->extra);
  const tables::Pointer* const pointer = pointers.PointerOf(extra, scope);
  const tables::Pointer& any = pointer != nullptr ? *pointer : tables_.pointer(extra.pointer);
  if (any.target_kind != tables::TargetKind::kData || !walk_.actions.drawn[any.target]) return;
  DrawnData::Rows& rows = walk_.context->drawn.rows[any.target];
  const uint64_t i = pointers.Evaluate(any.slot, scope).value_or(0);
  if (i >= rows.slots.size()) return;
  ++rows.version;
  DrawnData::Slot& slot = rows.slots[i];
  slot = {};
  const Target target = pointers.TargetOf(at, any, scope, record.bytes);
  if (pointer == nullptr || !target.base_known || pointers.IsNull(any, target)) return;
  const Pointers::Formatted formatted = pointers.FormatOf(any, scope);
  slot.set = true;
  slot.space = target.space;
  slot.address = target.address;
  slot.size = pointers.SizeOf(any, scope, target);
  slot.stride = pointers.Evaluate(any.stride, scope).value_or(0);
  slot.per_instance = any.step != tables::kNone;
  slot.step = static_cast<uint32_t>(pointers.Evaluate(any.step, scope).value_or(1));
  slot.format = formatted.format;
  slot.name = formatted.name;
}

void DrawData::DescribeElement(const RecordView& record, const FieldAt& at, const Scope& scope,
                               uint32_t& described, uint64_t& number) {
  const Pointers& pointers = *walk_.pointers;
  const tables::Element& element = tables_.element(tables_.extra(at.leaf->extra).element);
  if (!walk_.actions.drawn[element.data]) return;
  DrawnData::Rows& rows = walk_.context->drawn.rows[element.data];
  ++rows.version;
  const uint64_t raw = ReadBits(record.bytes, at.bit, at.width);
  const bool holds = scope.Holds(element.when);
  uint64_t i = number;
  if (element.kind == tables::ElementKind::kStep || element.number != tables::kNone) {
    i = pointers.Evaluate(element.number, scope).value_or(~uint64_t{0});
  } else {
    if (described != element.data) {
      described = element.data;
      number = i = 0;
      for (DrawnData::Element& old : rows.elements) old.set = false;
    }
    ++number;
  }
  if (i >= rows.elements.size()) return;
  DrawnData::Element& row = rows.elements[i];
  if (element.kind == tables::ElementKind::kStep) {
    row.per_instance = holds;
    row.step = static_cast<uint32_t>(raw);
    return;
  }
  const tables::NamedValue* named = tables_.FindValue(*at.leaf, raw);
  row.set = holds && named != nullptr && named->format != tables::kNone;
  if (!row.set) return;
  row.slot = pointers.Evaluate(element.slot, scope).value_or(0);
  row.offset = std::min<uint64_t>(pointers.Evaluate(element.offset, scope).value_or(0), 1 << 20);
  row.format = &tables_.format(named->format);
  row.name = tables_.string(named->name);
}

DrawnData::Read DrawData::ReadOf(const tables::Draw& draw, const Scope& scope) const {
  const Pointers& pointers = *walk_.pointers;
  const std::vector<DrawnData::Rows>& rows = walk_.context->drawn.rows;
  const bool known = scope.Holds(draw.when);
  const auto number = [&](uint32_t expression, uint64_t otherwise) {
    return known ? pointers.Evaluate(expression, scope).value_or(otherwise) : otherwise;
  };
  DrawnData::Read read{};
  read.first = number(draw.first, 0);
  read.count = number(draw.count, ~uint64_t{0});
  read.first_instance = number(draw.first_instance, 0);
  read.instances = number(draw.instances, ~uint64_t{0});
  read.bias = number(draw.bias, 0);
  read.indexed = draw.indices != tables::kNone && scope.Holds(draw.indexed);
  read.rows_version = rows[draw.data].version;
  if (!read.indexed) return read;
  read.indices_version = rows[draw.indices].version;
  // If no field has it, it depends on the indices' size.
  if (pointers.Evaluate(draw.cuts, scope).value_or(0) != 0) {
    read.cut = pointers.Evaluate(draw.cut, scope).value_or(0);
  }
  return read;
}

void DrawData::Show(const tables::Container& container, absl::Span<const uint8_t> bytes,
                    uint64_t parent) {
  const tables::Draw& draw = tables_.draw(container.draw);
  DrawnData& drawn = walk_.context->drawn;
  DrawnData::Read read = ReadOf(draw, Scope(tables_, container, bytes));
  if (drawn.last_read == read) return;
  drawn.last_read = read;
  if (read.count == 0 || read.instances == 0) return;
  if (read.indexed) {
    const std::optional<uint64_t> least = ShowIndices(draw, read, parent);
    if (!least) return;
    // Vertices are shown from the least of the indices on. A negative bias may be added like this:
    // numbers wrap.
    read.first = *least + read.bias;
    read.count = ~uint64_t{0};
  }
  const DrawnData::Rows& rows = drawn.rows[draw.data];
  for (size_t i = 0; i < rows.slots.size(); ++i) {
    if (rows.slots[i].set) ShowSlot(draw, rows, i, read, parent);
  }
}

std::optional<uint64_t> DrawData::ShowIndices(const tables::Draw& draw, const DrawnData::Read& read,
                                              uint64_t parent) {
  DrawnData::Slot slot = walk_.context->drawn.rows[draw.indices].slots[0];
  if (!slot.set || slot.format == nullptr) return std::nullopt;
  if (slot.stride == 0) slot.stride = slot.format->bits / 8;
  elements_.assign(1, {slot.format, slot.name, 0, 0});
  const absl::Span<const uint8_t> shown =
      ShowRows(walk_.strings.Get(tables_.data(draw.indices).name), slot, elements_, -1, read.first,
               read.count, parent);
  const uint32_t width = std::min<uint32_t>(slot.format->bits, 64);
  const uint64_t most = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  std::optional<uint64_t> cut = read.cut;
  if (cut && draw.cut == tables::kNone) cut = most;
  std::optional<uint64_t> least;
  for (uint64_t at = 0; at + width / 8 <= shown.size(); at += slot.stride) {
    const uint64_t index = ReadBits(shown, at * 8, width);
    if (index != cut) least = std::min(index, least.value_or(index));
  }
  return least;
}

void DrawData::ShowSlot(const tables::Draw& draw, const DrawnData::Rows& rows, size_t number,
                        const DrawnData::Read& read, uint64_t parent) {
  const absl::string_view name = walk_.strings.Get(tables_.data(draw.data).name);
  // Once for elements that advance by vertex, and once for each step by instance: elements of one
  // buffer may differ in that.
  for (size_t from = 0; from < rows.elements.size(); ++from) {
    const DrawnData::Element& lead = rows.elements[from];
    if (!lead.set || lead.slot != number) continue;
    DrawnData::Slot slot = rows.slots[number];
    const auto same = [&](const DrawnData::Element& other) {
      return other.set && other.slot == number && other.per_instance == lead.per_instance &&
             (!lead.per_instance || other.step == lead.step);
    };
    const auto begin = rows.elements.begin();
    if (std::any_of(begin, begin + static_cast<ptrdiff_t>(from), same)) continue;
    elements_.clear();
    for (size_t k = from; k < rows.elements.size(); ++k) {
      const DrawnData::Element& other = rows.elements[k];
      if (!same(other)) continue;
      elements_.push_back({other.format, other.name, other.offset, static_cast<uint32_t>(k)});
    }
    if (lead.per_instance) {
      slot.per_instance = true;
      slot.step = lead.step;
    }
    uint64_t first = read.first, most = read.count;
    if (slot.per_instance) {
      // Instance n has row first_instance + n / step.
      first = read.first_instance;
      most = slot.step == 0 ? 1 : (read.instances - 1) / slot.step + 1;
    }
    ShowRows(name, slot, elements_, static_cast<int64_t>(number), first, most, parent);
  }
}

}  // namespace packsmith::decode
