#include "runtime/sim/arithmetic.h"

#include <algorithm>

namespace packsmith::sim {
namespace {

absl::uint128 Mask(uint32_t bytes) {
  return bytes >= 16 ? ~absl::uint128(0) : (absl::uint128(1) << (8 * bytes)) - 1;
}

// Sign-extended, so that a signed comparison is one of 128 bits.
absl::int128 Signed(absl::uint128 value, uint32_t bytes) {
  const int shift = static_cast<int>(128 - 8 * bytes);
  return absl::int128(value << shift) >> shift;
}

}  // namespace

bool Alu::Compute(AluOpcode opcode) {
  carry = false;
  const auto shift = static_cast<uint32_t>(b & 63);
  bool good = true;
  switch (opcode) {
    case AluOpcode::kAdd:
      accumulator = a + b;
      carry = accumulator < a;
      break;
    case AluOpcode::kSubtract:
      accumulator = a - b;
      carry = a < b;
      break;
    case AluOpcode::kAnd:
      accumulator = a & b;
      break;
    case AluOpcode::kOr:
      accumulator = a | b;
      break;
    case AluOpcode::kXor:
      accumulator = a ^ b;
      break;
    case AluOpcode::kShiftLeft:
      accumulator = a << shift;
      good = b <= 32 && (b & (b - 1)) == 0;
      break;
    case AluOpcode::kShiftRight:
      accumulator = a >> shift;
      good = b <= 32 && (b & (b - 1)) == 0;
      break;
    case AluOpcode::kShiftRightSigned:
      accumulator = static_cast<uint64_t>(static_cast<int64_t>(a) >> shift);
      good = b <= 32 && (b & (b - 1)) == 0;
      break;
    default:
      return true;
  }
  zero = accumulator == 0;
  return good;
}

absl::uint128 ComputeAtomic(AtomicOpcode opcode, uint32_t bytes, absl::uint128 old,
                            absl::uint128 operand1, absl::uint128 operand2) {
  const absl::uint128 mask = Mask(bytes);
  old &= mask;
  const absl::uint128 one = operand1 & mask, two = operand2 & mask;
  absl::uint128 now = old;
  switch (opcode) {
    case AtomicOpcode::kAnd:
      now = old & one;
      break;
    case AtomicOpcode::kOr:
      now = old | one;
      break;
    case AtomicOpcode::kXor:
      now = old ^ one;
      break;
    case AtomicOpcode::kMove:
      now = one;
      break;
    case AtomicOpcode::kIncrement:
      now = old + 1;
      break;
    case AtomicOpcode::kDecrement:
    case AtomicOpcode::kPredecrement:
      now = old - 1;
      break;
    case AtomicOpcode::kAdd:
      now = old + one;
      break;
    case AtomicOpcode::kSubtract:
      now = old - one;
      break;
    case AtomicOpcode::kReverseSubtract:
      now = one - old;
      break;
    case AtomicOpcode::kSignedMax:
      now = Signed(old, bytes) < Signed(one, bytes) ? one : old;
      break;
    case AtomicOpcode::kSignedMin:
      now = Signed(one, bytes) < Signed(old, bytes) ? one : old;
      break;
    case AtomicOpcode::kUnsignedMax:
      now = std::max(old, one);
      break;
    case AtomicOpcode::kUnsignedMin:
      now = std::min(old, one);
      break;
    case AtomicOpcode::kCompareWrite:
      now = old == one ? two : old;
      break;
  }
  return now & mask;
}

bool Holds(Comparison comparison, uint32_t memory, uint32_t data) {
  switch (comparison) {
    case Comparison::kGreater:
      return memory > data;
    case Comparison::kGreaterOrEqual:
      return memory >= data;
    case Comparison::kLess:
      return memory < data;
    case Comparison::kLessOrEqual:
      return memory <= data;
    case Comparison::kEqual:
      return memory == data;
    case Comparison::kNotEqual:
      return memory != data;
  }
  return false;
}

}  // namespace packsmith::sim
