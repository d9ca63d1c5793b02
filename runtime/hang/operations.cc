#include "runtime/hang/operations.h"

#include <algorithm>
#include <iterator>

#include "runtime/decode/fields/addresses.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/sim/plan.h"

namespace packsmith::hang {
namespace {

using tables::kNone;
using tables::OperandRole;

// The operands of one operation, for the bytes of one command.
class Operands {
 public:
  Operands(const tables::Tables& tables, const tables::Container& packet,
           absl::Span<const uint8_t> bytes, const tables::Operation& operation)
      : tables_(tables), bytes_(bytes), scope_(tables, packet, bytes), operation_(operation) {}

  const tables::Operand* Find(OperandRole role) const {
    for (const tables::Operand& operand : tables_.operands(operation_)) {
      if (operand.role == role) return &operand;
    }
    return nullptr;
  }

  std::optional<uint64_t> Number(OperandRole role) const {
    const tables::Operand* const operand = Find(role);
    if (operand == nullptr) return std::nullopt;
    // The value of an earlier packet is not known here.
    return decode::Evaluate(
        tables_.expression(operand->expression), [&](uint32_t leaf) { return NumberOf(leaf); },
        [](uint32_t, uint32_t) { return std::optional<uint64_t>(); });
  }

  // The short form of a packet has only the lower part of some fields.
  std::optional<uint64_t> NumberOf(uint32_t index) const {
    if (const std::optional<uint64_t> number = scope_.Number(index)) return number;
    const tables::Leaf& leaf = tables_.leaf(index);
    const uint64_t bits = bytes_.size() * 8;
    if (leaf.bit >= bits || leaf.width > 64) return std::nullopt;
    const auto width = static_cast<uint32_t>(std::min<uint64_t>(leaf.width, bits - leaf.bit));
    return decode::NumberOfBits(tables_, leaf, width, decode::ReadBits(bytes_, leaf.bit, width));
  }

  std::optional<NamedOperation::At> Memory(uint32_t own_space) const {
    const tables::Operand* const operand = Find(OperandRole::kMemory);
    const std::optional<uint64_t> address = Number(OperandRole::kMemory);
    if (!address) return std::nullopt;
    NamedOperation::At at{own_space, *address + (Number(OperandRole::kHigh).value_or(0) << 32)};
    const uint32_t leaf = sim::LeafOf(tables_, *operand);
    if (leaf != kNone) {
      if (const tables::Pointer* const pointer = sim::PointerOf(tables_, leaf, scope_)) {
        at.space = decode::SpaceOf(*pointer, scope_, own_space);
      }
    }
    at.address = decode::MaskAddress(at.address, tables_.address_mask());
    return at;
  }

  std::optional<sim::Comparison> Comparison() const {
    const tables::Operand* const operand = Find(OperandRole::kCompare);
    // As the simulator takes it.
    if (operand == nullptr) return sim::Comparison::kGreater;
    const uint32_t leaf = sim::LeafOf(tables_, *operand);
    if (leaf == kNone) return std::nullopt;
    const sim::NameIndex names(tables_, tables_.leaf(leaf), sim::kComparisonNames);
    const std::optional<uint64_t> raw = scope_.Raw(leaf);
    const std::optional<uint32_t> found = raw ? names.Find(*raw) : std::nullopt;
    if (!found) return std::nullopt;
    return static_cast<sim::Comparison>(*found);
  }

  bool Applies() const { return scope_.Holds(operation_.when); }

 private:
  const tables::Tables& tables_;
  const absl::Span<const uint8_t> bytes_;
  const decode::Scope scope_;
  const tables::Operation& operation_;
};

}  // namespace

std::vector<NamedOperation> OperationsOf(const tables::Tables& tables,
                                         const tables::Container& packet,
                                         absl::Span<const uint8_t> bytes, uint32_t own_space) {
  std::vector<NamedOperation> all;
  for (const tables::Operation& operation : tables.operations(packet)) {
    const Operands operands(tables, packet, bytes, operation);
    if (!operands.Applies()) continue;
    NamedOperation& named = all.emplace_back();
    named.kind = operation.kind;
    named.memory = operands.Memory(own_space);
    named.register_offset = operands.Number(OperandRole::kRegister);
    named.value = operands.Number(OperandRole::kValue);
    named.bytes = operands.Number(OperandRole::kBytes).value_or(4);
    if (operation.kind == tables::OperationKind::kWait) named.comparison = operands.Comparison();
  }
  return all;
}

const char* InWords(sim::Comparison comparison) {
  constexpr const char* kWords[] = {"is greater than", "is at least", "is less than",
                                    "is at most",      "equals",      "is not"};
  static_assert(std::size(kWords) == std::size(sim::kComparisonNames));
  return kWords[static_cast<size_t>(comparison)];
}

}  // namespace packsmith::hang
