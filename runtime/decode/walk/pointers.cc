// The targets of pointers: structures, streams, programs, data. Part of the Decoder.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/fields/addresses.h"
#include "runtime/decode/fields/data.h"
#include "runtime/decode/fields/undescribed.h"

namespace packsmith::decode {
namespace {

// Enough for the field that states a structure's length.
constexpr uint64_t kLeastRead = 4;

}  // namespace

template <class Visit>
void Decoder::ForEachPointer(const RecordView& record, const Visit& visit) {
  size_t number = 0;
  ForEachField(tables_, pointers_, record, [&](const FieldAt& at) {
    ++number;
    if (at.cut) return;
    const Scope scope(tables_, at, record.bytes, state_->bases);
    const tables::Pointer* const pointer = PointerOf(tables_.extra(at.leaf->extra), scope);
    if (pointer == nullptr || (bound_ != nullptr && !IsBound(record, at, *pointer))) return;
    visit(at, *pointer, scope, number - 1);
  });
}

Decoder::Target Decoder::TargetOf(const FieldAt& at, const tables::Pointer& pointer,
                                  const Scope& scope, absl::Span<const uint8_t> bytes) const {
  Target target{SpaceOf(pointer, scope, own_space_), 0, true};
  const uint64_t raw = ReadBits(bytes, at.bit, at.width);
  target.address = NumberOfBits(tables_, *at.leaf, at.width, raw);
  target.address *= Evaluate(pointer.scale, scope).value_or(1);
  // An address may be split over two fields.
  target.address += Evaluate(tables_.extra(at.leaf->extra).high, scope).value_or(0);
  if (pointer.relative != 0) target.address += record_;
  if (pointer.base != tables::kNone) {
    const std::optional<uint64_t> base = BaseNow(pointer.base);
    target.base_known = base.has_value();
    target.address += base.value_or(0);
  }
  target.address = MaskAddress(target.address, address_mask_);
  return target;
}

const tables::Pointer* Decoder::PointerOf(const tables::Extra& extra, const Scope& scope) const {
  for (uint32_t i = extra.pointer; i != tables::kNone; i = tables_.pointer(i).next) {
    if (scope.Holds(tables_.pointer(i).when)) return &tables_.pointer(i);
  }
  return nullptr;
}

void Decoder::CheckPointers(const RecordView& record, const Shape* shape, Targets& leads) {
  leads.changes = state_->changes;
  if (shape == nullptr) {
    ForEachPointer(record, [&](const FieldAt& at, const tables::Pointer& pointer,
                               const Scope& scope, size_t number) {
      const size_t before = leads.all.size();
      CheckPointer(at, pointer, TargetOf(at, pointer, scope, record.bytes), false, scope, number,
                   leads);
      if (leads.all.size() != before) leads.fields.push_back(at);
    });
    for (size_t i = 0; i < leads.all.size(); ++i) leads.all[i].at = &leads.fields[i];
    return;
  }
  const bool all = options_.follow == Follow::kAll && !options_.leads;
  for (const ShapePointer& known : shape->pointers) {
    if (known.plain && known.somewhere && all) {
      const Target target = PlainTarget(known, record.bytes);
      if (target.base_known && Find(target.space, target.address) != nullptr &&
          !IsNull(*known.pointer, target)) {
        leads.all.push_back({&known.at, known.pointer, target, known.number, std::nullopt});
        continue;
      }
    }
    const Scope scope(tables_, known.at, record.bytes, state_->bases);
    const tables::Pointer* pointer = known.pointer;
    if (pointer == nullptr) pointer = PointerOf(tables_.extra(known.at.leaf->extra), scope);
    if (pointer == nullptr) continue;
    CheckPointer(known.at, *pointer,
                 known.plain ? PlainTarget(known, record.bytes)
                             : TargetOf(known.at, *pointer, scope, record.bytes),
                 known.somewhere, scope, known.number, leads);
  }
}

void Decoder::CheckPointer(const FieldAt& at, const tables::Pointer& pointer, const Target& target,
                           bool somewhere, const Scope& scope, size_t number, Targets& leads) {
  if (options_.follow != Follow::kAll && pointer.target_kind != tables::TargetKind::kStream) {
    return;
  }
  if (IsNull(pointer, target)) return;
  if (options_.leads && target.base_known) SayLead(at, pointer, scope, target);
  // Usually only memory that is read can be missing: dumps rarely have textures and render targets.
  std::optional<uint64_t> size;
  if (!somewhere && PointsNowhere(pointer, scope, target, size)) {
    if (IsForbidden(pointer, target)) {
      AddFault(FaultKind::kUnmapped, at.bit, at.width, target.address, WhyMissing(at, target));
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
    AddFault(
        FaultKind::kUnmapped, at.bit, at.width, target.address,
        absl::StrCat("the ", tables_.string(tables_.bases()[base].name), " base is not known"));
  } else if (Find(target.space, target.address) == nullptr) {
    AddFault(FaultKind::kUnmapped, at.bit, at.width, target.address, WhyMissing(at, target));
  } else {
    leads.all.push_back({&at, &pointer, target, number, size});
  }
}

bool Decoder::IsForbidden(const tables::Pointer& pointer, const Target& target) const {
  if (complete_ == nullptr || guesses_ != 0 || !target.base_known || target.space != own_space_) {
    return false;
  }
  return IsUnread(tables_, pointer) && !IsNull(pointer, target) &&
         target.address != BaseNow(pointer.base).value_or(0) &&
         Find(target.space, target.address) == nullptr;
}

bool Decoder::HasForbidden(const Shape& shape, absl::Span<const uint8_t> bytes) const {
  if (complete_ == nullptr || !shape.has_unread) return false;
  return std::any_of(shape.pointers.begin(), shape.pointers.end(), [&](const ShapePointer& known) {
    if (!known.unread) return false;
    const Scope scope(tables_, known.at, bytes, state_->bases);
    return IsForbidden(*known.pointer, known.plain
                                           ? PlainTarget(known, bytes)
                                           : TargetOf(known.at, *known.pointer, scope, bytes));
  });
}

std::string Decoder::WhyMissing(const FieldAt& at, const Target& target) const {
  const std::string where = ShowAddress(target.address);
  if (complete_ == nullptr) return absl::StrCat("the dump has no memory at ", where);
  const Buffer* const buffer = complete_->FindBuffer(target.space, target.address);
  if (buffer == nullptr) {
    return absl::StrCat("the job may not use memory at ", where);
  }
  return absl::StrCat(tables_.string(at.leaf->name), " points to ", where, ", in \"", buffer->name,
                      "\", which the job may not use: add its memory to the job's residents, as "
                      "Use() of a batch does");
}

void Decoder::FollowPointers(const RecordView& record, const Targets& leads, uint64_t parent,
                             uint32_t depth) {
  const uint64_t own_address = record_;
  size_t done = 0;
  for (const Lead& lead : leads.all) {
    if (state_->changes != leads.changes) break;
    // Following earlier pointers has shown other records.
    record_ = own_address;
    FollowPointer(record, *lead.at, *lead.pointer,
                  Scope(tables_, *lead.at, record.bytes, state_->bases), lead.target, lead.size,
                  parent, depth);
    done = lead.number + 1;
  }
  if (state_->changes == leads.changes) return;
  // The remaining fields may point elsewhere now.
  ForEachPointer(record, [&](const FieldAt& at, const tables::Pointer& pointer, const Scope& scope,
                             size_t number) {
    if (number < done) return;
    record_ = own_address;
    const Target target = TargetOf(at, pointer, scope, record.bytes);
    if (!target.base_known || Find(target.space, target.address) == nullptr) return;
    if (IsNull(pointer, target)) return;
    std::optional<uint64_t> size;
    if (PointsNowhere(pointer, scope, target, size)) return;
    FollowPointer(record, at, pointer, scope, target, size, parent, depth);
  });
}

void Decoder::FollowPointer(const RecordView& record, const FieldAt& at,
                            const tables::Pointer& pointer, const Scope& scope,
                            const Target& target, std::optional<uint64_t> size, uint64_t parent,
                            uint32_t depth) {
  if (recorder_ != nullptr) NotePointer(at, pointer, scope, target, parent);
  if (depth >= options_.deepest_pointer) {
    ProblemOnce(said_pointers_, absl::StrCat("the packet at ", ShowAddress(here_),
                                             " begins a chain of more than ", depth,
                                             " structures; not followed further; unpack "
                                             "--max-pointers=N allows more"));
    return;
  }
  switch (pointer.target_kind) {
    case tables::TargetKind::kStruct:
      FollowStructs(pointer, scope, target.space, target.address, parent, depth);
      break;
    case tables::TargetKind::kStream: {
      // The walk follows the packet's flow already.
      for (const tables::Flow& flow : tables_.flows(record.container.flows)) {
        if (flow.target != tables::kNone && &tables_.leaf(flow.target) == at.leaf) return;
      }
      if (nested_streams_ >= options_.deepest_call) {
        ProblemOnce(
            said_streams_,
            absl::StrCat("the stream at ", ShowAddress(target.address), " is ", nested_streams_ + 1,
                         " streams deep and not followed; unpack --max-calls=N allows "
                         "more"));
        return;
      }
      ++nested_streams_;
      const uint64_t here = here_;
      const uint32_t stream = stream_;
      WalkStream(pointer.target, engines_,
                 {target.space, target.address, ~uint64_t{0}, nested_streams_, target.address},
                 parent);
      // This packet may not use what was read ahead for the inner stream.
      here_ = here;
      stream_ = stream;
      state_->changes += looked_ahead_;
      looked_ahead_ = false;
      --nested_streams_;
      break;
    }
    case tables::TargetKind::kData:
      if (tables_.data(pointer.target).is_code != 0) {
        FollowCode(pointer, scope, target, parent);
      } else {
        FollowData(pointer, scope, target, size ? *size : SizeOf(pointer, scope, target), parent);
      }
      break;
  }
}

bool Decoder::MayFollow(uint64_t bytes) {
  if (structs_ >= most_structs_) {
    ProblemOnce(said_structs_,
                absl::StrCat("stopped following pointers after ", most_structs_,
                             " structures, the limit for a dump of this size; unpack "
                             "--max-structs=N allows more"));
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
  const std::optional<uint64_t> value = Evaluate(pointer.format, scope);
  if (!value || e.kind == tables::ExpressionKind::kConstant) return {};
  const tables::NamedValue* named = tables_.FindValue(tables_.leaf(e.leaf), *value);
  if (named == nullptr || named->format == tables::kNone) return {};
  return {&tables_.format(named->format), tables_.string(named->name)};
}

void Decoder::FollowData(const tables::Pointer& pointer, const Scope& scope, const Target& target,
                         uint64_t size, uint64_t parent) {
  const uint64_t stride = Evaluate(pointer.stride, scope).value_or(0);
  const Formatted formatted = FormatOf(pointer, scope);
  const absl::string_view name = Text(tables_.data(pointer.target).name);
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

Decoder::Code Decoder::CodeOf(const tables::DataKind& kind, const tables::Pointer& pointer,
                              const Scope& scope, const Target& target) {
  const std::pair<uint32_t, uint64_t> key{target.space, target.address};
  const auto known = code_.find(key);
  if (known != code_.end()) return known->second;
  code_begins_.insert(key);
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
  kernel.stage = Text(pointer.stage);
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
  record.name = Text(kind.name);
  record.bytes = kernel.code.subspan(0, options_.most_data_bytes);
  record.data_size = kernel.code.size();
  record.kernel = &kernel;
  Emit(record);
}

void Decoder::FollowStructs(const tables::Pointer& pointer, const Scope& scope, uint32_t space,
                            uint64_t address, uint64_t parent, uint32_t depth) {
  const tables::Container& container = tables_.container(pointer.target);
  const auto [count, count_known] = CountOf(pointer, scope);
  Table table{pointer.target,
              pointer.other,
              count,
              Evaluate(pointer.size, scope),
              pointer.count != tables::kNone,
              !count_known && pointer.until_zero != 0};
  if (IsBoundedTable(pointer)) table.size.reset();
  table.is_table = table.is_table || (pointer.until_zero != 0 && !table.size);
  if (table.size && !table.is_table && container.variable == 0 && container.bytes != 0) {
    // The bytes of a table of structures that have a fixed size.
    table.is_table = *table.size > container.bytes;
    table.count = *table.size / container.bytes;
    table.size.reset();
  }
  // If their number is unknown, memory after the last one may look like one more.
  const bool guess = !count_known;
  guesses_ += guess;
  // Their number does not follow from the record that points to them.
  if (!ShowTable(table, space, address, parent, depth)) Abort();
  guesses_ -= guess;
}

int Decoder::Misfits(const RecordView& record) {
  int misfits = static_cast<int>(Undescribed(tables_, record).size());
  ForEachField(tables_, record, [&](const FieldAt& at) {
    if (at.cut || at.leaf->named == tables::kNone) return;
    misfits += tables_.FindValue(*at.leaf, ReadBits(record.bytes, at.bit, at.width)) == nullptr;
  });
  ForEachPointer(
      record, [&](const FieldAt& at, const tables::Pointer& pointer, const Scope& scope, size_t) {
        const Target target = TargetOf(at, pointer, scope, record.bytes);
        misfits += Find(target.space, target.address) == nullptr;
      });
  faults_.clear();
  CheckFields(record, record.bytes.size(), false);
  return misfits + static_cast<int>(faults_.size());
}

bool Decoder::ShowTable(const Table& table, uint32_t space, uint64_t address, uint64_t parent,
                        uint32_t depth) {
  std::vector<uint8_t> scratch;
  // An element's container may depend on its other candidate; and a record with parts that is shown
  // once more, on which of them count.
  const bool some = bound_ != nullptr && tables_.container(table.target).parts.count != 0;
  const bool use_shapes = UseShapes() && table.other == tables::kNone && !some;
  for (uint64_t i = 0; i < table.count; ++i) {
    if (!MayFollow(0)) return false;
    uint32_t index = table.target;
    const tables::Container& expected = tables_.container(index);
    Shape* const shape = use_shapes
                             ? shapes_.Find(index, There(space, address, ShapeCache::kLongest),
                                            table.size.value_or(ShapeCache::kOwnLength))
                             : nullptr;
    absl::Span<const uint8_t> bytes;
    uint64_t length = 0;
    if (shape != nullptr) {
      length = shape->bytes;
    } else {
      bytes = Bytes(space, address, std::max<uint64_t>(expected.bytes, kLeastRead), scratch);
      if (bytes.empty()) return false;
      length = table.size ? *table.size : parts_.Length(expected, bytes);
    }
    if (length == 0) return false;
    if (length > bytes.size()) bytes = Bytes(space, address, length, scratch);
    bytes = bytes.subspan(0, length);
    if (table.until_zero &&
        std::all_of(bytes.begin(), bytes.end(), [](uint8_t b) { return b == 0; })) {
      return false;
    }
    record_ = address;
    if (table.other != tables::kNone) {
      const auto misfits = [&](uint32_t container) {
        const tables::Container& c = tables_.container(container);
        const PlacedParts parts = parts_.Place(c, bytes);
        return Misfits({c, bytes, parts});
      };
      if (misfits(table.other) < misfits(index)) index = table.other;
    }
    const tables::Container& container = tables_.container(index);
    PlacedParts found;
    if (shape == nullptr) found = parts_.Place(container, bytes);
    const ShapeUse use(shape);
    const RecordView view{container, bytes,
                          shape != nullptr ? absl::MakeConstSpan(shape->parts) : found};
    structs_ += bytes.size() / 1024;
    Remember(index, view);
    faults_.clear();
    if (shape == nullptr) {
      CheckFields(view, length, !table.size);
      if (use_shapes && faults_.empty())
        Learn(index, view, table.size.value_or(ShapeCache::kOwnLength));
    }
    Targets leads;
    if (actions_[index].pointers) CheckPointers(view, shape, leads);
    const uint64_t id = EmitDescribed(RecordType::kStruct, view, space, address, parent, 0,
                                      table.is_table ? static_cast<int64_t>(i) : -1, shape);
    if (actions_[index].sets_or_writes) SetsAndWrites(view, shape, space, address, id);
    if (options_.follow == Follow::kAll && !options_.brief) {
      FollowPointers(view, leads, id, depth + 1);
    }
    if (bytes.size() < length) return false;
    address += length;
  }
  return true;
}

Decoder::Count Decoder::CountOf(const tables::Pointer& pointer, const Scope& scope) const {
  Count count = SaidCountOf(pointer, scope);
  if (!IsBoundedTable(pointer)) return count;
  // The stated or guessed number, bounded by the size.
  const std::optional<uint64_t> bytes = Evaluate(pointer.size, scope);
  if (bytes) count.count = std::min(count.count, *bytes / tables_.container(pointer.target).bytes);
  return count;
}

bool Decoder::IsBoundedTable(const tables::Pointer& pointer) const {
  if (pointer.target_kind != tables::TargetKind::kStruct || pointer.count == tables::kNone ||
      pointer.size == tables::kNone) {
    return false;
  }
  const tables::Container& container = tables_.container(pointer.target);
  return container.variable == 0 && container.bytes != 0;
}

Decoder::Count Decoder::SaidCountOf(const tables::Pointer& pointer, const Scope& scope) const {
  if (pointer.count == tables::kNone) {
    return pointer.until_zero != 0 ? Count{pointer.limit, false} : Count{1, true};
  }
  const std::optional<uint64_t> said = Evaluate(pointer.count, scope);
  // Drivers state 0 entries if none should be prefetched; a table of pointers ends with a zero, so
  // it can be read without a count.
  if (pointer.until_zero != 0 && said.value_or(0) == 0) return {pointer.limit, false};
  return {said.value_or(1), said.has_value()};
}

bool Decoder::PointsNowhere(const tables::Pointer& pointer, const Scope& scope,
                            const Target& target, std::optional<uint64_t>& size) const {
  if (pointer.target_kind == tables::TargetKind::kData) {
    if (tables_.data(pointer.target).is_code != 0) return false;
    size = SizeOf(pointer, scope, target);
    return *size == 0;
  }
  return CountOf(pointer, scope).count == 0;
}

uint64_t Decoder::SizeOf(const tables::Pointer& pointer, const Scope& scope,
                         const Target& target) const {
  if (pointer.end == tables::kNone) {
    if (pointer.size != tables::kNone || pointer.count == tables::kNone) {
      return Evaluate(pointer.size, scope).value_or(0);
    }
    // N elements of a stride, at most an address space.
    const uint64_t count = Evaluate(pointer.count, scope).value_or(0);
    const uint64_t stride = Evaluate(pointer.stride, scope).value_or(0);
    const uint64_t most = address_mask_;
    return stride != 0 && count > most / stride ? most : count * stride;
  }
  const std::optional<uint64_t> end = Evaluate(pointer.end, scope);
  if (!end) return 0;
  uint64_t last = *end;
  if (pointer.base != tables::kNone) last += BaseNow(pointer.base).value_or(0);
  last = MaskAddress(last, address_mask_);
  return last < target.address ? 0 : last - target.address + 1;
}

}  // namespace packsmith::decode
