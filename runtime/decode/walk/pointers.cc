#include "runtime/decode/walk/pointers.h"

#include <algorithm>

#include "runtime/decode/walk/bound_settings.h"

namespace packsmith::decode {
namespace {

bool IsPointer(const tables::Tables& tables, const tables::Leaf& leaf) {
  return leaf.extra != tables::kNone && tables.extra(leaf.extra).pointer != tables::kNone;
}

}  // namespace

Pointers::Pointers(Walk& walk)
    : walk_(walk), tables_(walk.tables), fields_(walk.tables, IsPointer) {}

const tables::Pointer* Pointers::PointerOf(const tables::Extra& extra, const Scope& scope) const {
  for (uint32_t i = extra.pointer; i != tables::kNone; i = tables_.pointer(i).next) {
    if (scope.Holds(tables_.pointer(i).when)) return &tables_.pointer(i);
  }
  return nullptr;
}

bool Pointers::IsBound(const RecordView& record, const FieldAt& at,
                       const tables::Pointer& pointer) const {
  return walk_.bound_settings->IsBound(record, at, pointer);
}

Target Pointers::TargetOf(const FieldAt& at, const tables::Pointer& pointer, const Scope& scope,
                          absl::Span<const uint8_t> bytes) const {
  Target target{SpaceOf(pointer, scope, walk_.own_space), 0, true};
  const uint64_t raw = ReadBits(bytes, at.bit, at.width);
  target.address = NumberOfBits(tables_, *at.leaf, at.width, raw);
  target.address *= Evaluate(pointer.scale, scope).value_or(1);
  // An address may be split over two fields.
  target.address += Evaluate(tables_.extra(at.leaf->extra).high, scope).value_or(0);
  if (pointer.relative != 0) target.address += walk_.record;
  if (pointer.base != tables::kNone) {
    const std::optional<uint64_t> base = walk_.state().Base(tables_, pointer.base);
    target.base_known = base.has_value();
    target.address += base.value_or(0);
  }
  target.address = MaskAddress(target.address, walk_.address_mask);
  return target;
}

bool Pointers::PointsNowhere(const tables::Pointer& pointer, const Scope& scope,
                             const Target& target, std::optional<uint64_t>& size) const {
  if (pointer.target_kind == tables::TargetKind::kData) {
    if (tables_.data(pointer.target).is_code != 0) return false;
    size = SizeOf(pointer, scope, target);
    return *size == 0;
  }
  return CountOf(pointer, scope).count == 0;
}

Pointers::Count Pointers::CountOf(const tables::Pointer& pointer, const Scope& scope) const {
  Count count = StatedCountOf(pointer, scope);
  if (!IsBoundedTable(pointer)) return count;
  // The stated or guessed number, bounded by the size.
  const std::optional<uint64_t> bytes = Evaluate(pointer.size, scope);
  if (bytes) count.count = std::min(count.count, *bytes / tables_.container(pointer.target).bytes);
  return count;
}

bool Pointers::IsBoundedTable(const tables::Pointer& pointer) const {
  if (pointer.target_kind != tables::TargetKind::kStruct || pointer.count == tables::kNone ||
      pointer.size == tables::kNone) {
    return false;
  }
  const tables::Container& container = tables_.container(pointer.target);
  return container.variable == 0 && container.bytes != 0;
}

Pointers::Count Pointers::StatedCountOf(const tables::Pointer& pointer, const Scope& scope) const {
  if (pointer.count == tables::kNone) {
    return pointer.until_zero != 0 ? Count{pointer.limit, false} : Count{1, true};
  }
  const std::optional<uint64_t> stated = Evaluate(pointer.count, scope);
  // Drivers state 0 entries if none should be prefetched; a table of pointers ends with a zero, so
  // it can be read without a count.
  if (pointer.until_zero != 0 && stated.value_or(0) == 0) return {pointer.limit, false};
  return {stated.value_or(1), stated.has_value()};
}

uint64_t Pointers::SizeOf(const tables::Pointer& pointer, const Scope& scope,
                          const Target& target) const {
  if (pointer.end == tables::kNone) {
    if (pointer.size != tables::kNone || pointer.count == tables::kNone) {
      return Evaluate(pointer.size, scope).value_or(0);
    }
    // N elements of a stride, at most an address space.
    const uint64_t count = Evaluate(pointer.count, scope).value_or(0);
    const uint64_t stride = Evaluate(pointer.stride, scope).value_or(0);
    const uint64_t most = walk_.address_mask;
    return stride != 0 && count > most / stride ? most : count * stride;
  }
  const std::optional<uint64_t> end = Evaluate(pointer.end, scope);
  if (!end) return 0;
  uint64_t last = *end;
  if (pointer.base != tables::kNone) {
    last += walk_.state().Base(tables_, pointer.base).value_or(0);
  }
  last = MaskAddress(last, walk_.address_mask);
  return last < target.address ? 0 : last - target.address + 1;
}

Pointers::Formatted Pointers::FormatOf(const tables::Pointer& pointer, const Scope& scope) const {
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

std::optional<uint64_t> Pointers::Evaluate(uint32_t expression, const Scope& scope) const {
  if (expression == tables::kNone) return std::nullopt;
  return decode::Evaluate(
      tables_.expression(expression), [&](uint32_t leaf) { return scope.Number(leaf); },
      [&](uint32_t container, uint32_t leaf) { return StateOf(container, leaf); });
}

std::optional<uint64_t> Pointers::StateOf(uint32_t index, uint32_t leaf) const {
  const tables::Container& container = tables_.container(index);
  if (walk_.looked_ahead) {
    const std::vector<uint8_t>* const ahead = walk_.context->ahead.Find(index, walk_.here);
    if (ahead != nullptr) return Scope(tables_, container, *ahead).Number(leaf);
  }
  const absl::Span<const uint8_t> last = walk_.state().Remembered(walk_.actions.of[index].memory);
  if (last.empty()) return std::nullopt;
  return Scope(tables_, container, last).Number(leaf);
}

}  // namespace packsmith::decode
