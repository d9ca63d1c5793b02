#include "runtime/decode/fields/data.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace packsmith::decode {
namespace {

double FloatOf(uint64_t raw, uint32_t width) {
  if (width == 64) {
    double real = 0;
    std::memcpy(&real, &raw, 8);
    return real;
  }
  if (width == 32) {
    const auto bits = static_cast<uint32_t>(raw);
    float real = 0;
    std::memcpy(&real, &bits, 4);
    return static_cast<double>(real);
  }
  if (width < 10 || width > 16) return std::nan("");
  // Five bits of exponent in all of the small ones; those of 10 and 11 bits have no sign.
  const uint32_t mantissa_bits = width == 16 ? 10 : width - 5;
  const bool negative = width == 16 && (raw >> 15) != 0;
  const auto exponent = static_cast<int>(raw >> mantissa_bits & 31);
  const auto mantissa = static_cast<double>(raw & ((uint64_t{1} << mantissa_bits) - 1));
  const double one = std::ldexp(1.0, static_cast<int>(mantissa_bits));
  double real = 0;
  if (exponent == 31) {
    real = mantissa == 0 ? HUGE_VAL : std::nan("");
  } else if (exponent == 0) {
    real = std::ldexp(mantissa / one, -14);
  } else {
    real = std::ldexp(1 + mantissa / one, exponent - 15);
  }
  return negative ? -real : real;
}

int64_t SignedOf(uint64_t raw, uint32_t width) {
  const uint32_t unused = 64 - width;
  return static_cast<int64_t>(raw << unused) >> unused;
}

Value Real(double real) {
  Value value;
  value.kind = ValueKind::kReal;
  value.real = real;
  value.needs_raw = !std::isfinite(real);
  return value;
}

// Whether no instruction begins like the code, however it continues.
bool IsUnknown(const tables::Tables& tables, const tables::DataKind& kind,
               absl::Span<const uint8_t> code) {
  const absl::Span<const tables::Instruction> known = tables.instructions(kind);
  uint32_t word = 0;
  if (code.size() < sizeof(word)) return known.empty();
  std::memcpy(&word, code.data(), sizeof(word));
  return std::none_of(known.begin(), known.end(), [&](const tables::Instruction& one) {
    return (word & one.mask) == one.value;
  });
}

}  // namespace

Value DecodeComponent(const tables::Component& component, absl::Span<const uint8_t> element) {
  const uint32_t width = component.width;
  const uint64_t raw = ReadBits(element, component.bit, width);
  Value value;
  switch (component.type) {
    case tables::ComponentType::kUint:
    case tables::ComponentType::kUnused:
      value.kind = width > 32 ? ValueKind::kWide : ValueKind::kUnsigned;
      value.unsigned_value = raw;
      return value;
    case tables::ComponentType::kSint:
      value.kind = ValueKind::kSigned;
      value.signed_value = SignedOf(raw, width);
      return value;
    case tables::ComponentType::kUnorm:
      return Real(static_cast<double>(raw) /
                  static_cast<double>(width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1));
    case tables::ComponentType::kSnorm: {
      // The least value means -1, too.
      if (width == 1) return Real(raw == 0 ? 0.0 : -1.0);
      const auto most = static_cast<double>((uint64_t{1} << (width - 1)) - 1);
      return Real(std::max(static_cast<double>(SignedOf(raw, width)) / most, -1.0));
    }
    case tables::ComponentType::kUscaled:
      return Real(static_cast<double>(raw));
    case tables::ComponentType::kSscaled:
      return Real(static_cast<double>(SignedOf(raw, width)));
    case tables::ComponentType::kFloat:
      return Real(FloatOf(raw, width));
    case tables::ComponentType::kFixed:
      return Real(static_cast<double>(SignedOf(raw, width)) / 65536.0);
  }
  return value;
}

uint64_t RowsShown(const Record& record) {
  if (record.elements.empty()) return 0;
  uint64_t extent = 0;
  for (const DataElement& element : record.elements) {
    extent = std::max<uint64_t>(extent, element.offset + element.format->bits / 8);
  }
  if (record.bytes.size() < extent) return 0;
  const uint64_t fit =
      record.data_stride == 0 ? 1 : (record.bytes.size() - extent) / record.data_stride + 1;
  return std::min(fit, record.data_rows);
}

namespace {

// The instruction that `code` begins with; null if its length is unknown, or it is incomplete.
const tables::Instruction* InstructionAt(const tables::Tables& tables, const tables::DataKind& kind,
                                         absl::Span<const uint8_t> code) {
  uint32_t word = 0;
  if (code.size() < sizeof(word)) return nullptr;
  std::memcpy(&word, code.data(), sizeof(word));
  for (const tables::Instruction& instruction : tables.instructions(kind)) {
    if ((word & instruction.mask) != instruction.value) continue;
    return instruction.bytes <= code.size() ? &instruction : nullptr;
  }
  return nullptr;
}

bool Matches(const tables::Reach& reach, absl::Span<const uint8_t> instruction) {
  for (size_t i = 0; i < 4; ++i) {
    if (reach.mask[i] == 0) continue;
    uint32_t word = 0;
    if (4 * i + sizeof(word) > instruction.size()) return false;
    std::memcpy(&word, instruction.data() + 4 * i, sizeof(word));
    if ((word & reach.mask[i]) != reach.value[i]) return false;
  }
  return reach.bit + reach.width <= instruction.size() * 8;
}

}  // namespace

CodeEnd FindCodeEnd(const tables::Tables& tables, const tables::DataKind& kind,
                    absl::Span<const uint8_t> code) {
  uint64_t at = 0;
  while (const tables::Instruction* found = InstructionAt(tables, kind, code.subspan(at))) {
    const bool last = found->end_bit != tables::kNone &&
                      ReadBits(code.subspan(at, found->bytes), found->end_bit, 1) != 0;
    at += found->bytes;
    if (last) return {at, true, false};
  }
  return {at, false, IsUnknown(tables, kind, code.subspan(at))};
}

std::vector<Reached> FindReached(const tables::Tables& tables, const tables::DataKind& kind,
                                 absl::Span<const uint8_t> code) {
  std::vector<Reached> all;
  uint64_t at = 0;
  while (const tables::Instruction* found = InstructionAt(tables, kind, code.subspan(at))) {
    const absl::Span<const uint8_t> instruction = code.subspan(at, found->bytes);
    at += found->bytes;
    for (const tables::Reach& reach : tables.reaches(kind)) {
      if (!Matches(reach, instruction)) continue;
      all.push_back({reach.use, ReadBits(instruction, reach.bit, reach.width)});
    }
  }
  return all;
}

}  // namespace packsmith::decode
