// The data that draws read: its layout, from packets, and the rows that a draw uses. Part of the
// Decoder.
#include <algorithm>
#include <optional>

#include "runtime/decode/decoder.h"
#include "runtime/decode/fields/addresses.h"

namespace packsmith::decode {

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

void Decoder::DescribeData(const RecordView& record) {
  const absl::Span<const uint8_t> bytes = record.bytes;
  // The elements of a packet replace those of the last one, for each kind of data.
  uint32_t described = tables::kNone;
  uint64_t number = 0;
  ForEachField(tables_, describing_, record, [&](const FieldAt& at) {
    if (at.cut) return;
    const tables::Extra& extra = tables_.extra(at.leaf->extra);
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
          if (pointer != nullptr && target.base_known && !IsNull(any, target)) {
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
  if (read.indexed) {
    read.indices_version = state_->rows[draw.indices].version;
    // If no field has it, it depends on the indices' size.
    if (Evaluate(draw.cuts, scope).value_or(0) != 0)
      read.cut = Evaluate(draw.cut, scope).value_or(0);
  }
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
        ShowRows(Text(tables_.data(draw.indices).name), slot, -1, first, count, parent);
    // Vertices are shown from the least of these indices on.
    const uint32_t width = std::min<uint32_t>(slot.format->bits, 64);
    const uint64_t most = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
    if (read.cut && draw.cut == tables::kNone) read.cut = most;
    std::optional<uint64_t> least;
    for (uint64_t at = 0; at + width / 8 <= shown.size(); at += slot.stride) {
      const uint64_t index = ReadBits(shown, at * 8, width);
      if (index != read.cut) least = std::min(index, least.value_or(index));
    }
    if (!least) return;
    // A negative bias may be added like this: numbers wrap.
    first = *least + read.bias;
    count = ~uint64_t{0};
  }
  const absl::string_view name = Text(tables_.data(draw.data).name);
  for (size_t i = 0; i < rows.slots.size(); ++i) {
    if (!rows.slots[i].set) continue;
    // Once for elements that advance by vertex, and once for each step by instance: elements of one
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

}  // namespace packsmith::decode
