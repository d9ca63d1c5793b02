// What the command streamer computes: instructions of MI_MATH, atomic operations, comparisons.
#ifndef PACKSMITH_RUNTIME_SIM_ARITHMETIC_H_
#define PACKSMITH_RUNTIME_SIM_ARITHMETIC_H_

#include <cstdint>

#include "absl/numeric/int128.h"
#include "absl/strings/string_view.h"

namespace packsmith::sim {

// The instructions of MI_MATH, by the manual's names.
enum class AluOpcode : uint32_t {
  kNoop,
  kLoad,
  kLoadInverted,
  kLoadZero,
  kLoadOnes,
  kAdd,
  kSubtract,
  kAnd,
  kOr,
  kXor,
  kShiftLeft,
  kShiftRight,
  kShiftRightSigned,
  kStore,
  kStoreInverted,
  kLoadIndirect,
  kStoreIndirect,
  kFenceReads,
  kFenceWrites,
};
inline constexpr absl::string_view kAluOpcodeNames[] = {
    "NOOP",     "LOAD",    "LOADINV",  "LOAD0",    "LOAD1",   "ADD", "SUB",
    "AND",      "OR",      "XOR",      "SHL",      "SHR",     "SAR", "STORE",
    "STOREINV", "LOADIND", "STOREIND", "FENCE_RD", "FENCE_WR"};

// Its operands: sixteen registers, then these.
enum AluOperand : uint32_t { kSourceA = 16, kSourceB, kAccumulator, kZeroFlag, kCarryFlag };
inline constexpr absl::string_view kAluOperandNames[] = {
    "REG0",  "REG1",  "REG2",  "REG3",  "REG4",  "REG5", "REG6", "REG7", "REG8", "REG9", "REG10",
    "REG11", "REG12", "REG13", "REG14", "REG15", "SRCA", "SRCB", "ACCU", "ZF",   "CF"};

// The arithmetic unit. Its state does not outlive an MI_MATH.
struct Alu {
  uint64_t a = 0, b = 0, accumulator = 0;
  bool zero = false, carry = false;

  // ADD to SAR. Carry is the carry of an addition and the borrow of a subtraction, else false.
  // Hardware shifts by powers of two up to 32 only; false: by another amount, which shifts by as
  // many bits as its lowest six bits say.
  bool Compute(AluOpcode opcode);
};

// Atomic operations, without the suffix that gives their width.
enum class AtomicOpcode : uint32_t {
  kAnd,
  kOr,
  kXor,
  kMove,
  kIncrement,
  kDecrement,
  kAdd,
  kSubtract,
  kReverseSubtract,
  kSignedMax,
  kSignedMin,
  kUnsignedMax,
  kUnsignedMin,
  kCompareWrite,
  kPredecrement,
};
inline constexpr absl::string_view kAtomicNames[] = {"AND",  "OR",   "XOR",  "MOVE",   "INC",
                                                     "DEC",  "ADD",  "SUB",  "RSUB",   "IMAX",
                                                     "IMIN", "UMAX", "UMIN", "CMP_WR", "PREDEC"};

// The new value of `bytes` (4, 8 or 16) of memory.
absl::uint128 ComputeAtomic(AtomicOpcode opcode, uint32_t bytes, absl::uint128 old,
                            absl::uint128 operand1, absl::uint128 operand2);

// Comparisons of memory (SAD) with the data of a packet (SDD).
enum class Comparison : uint32_t {
  kGreater,
  kGreaterOrEqual,
  kLess,
  kLessOrEqual,
  kEqual,
  kNotEqual
};
inline constexpr absl::string_view kComparisonNames[] = {
    "SAD_GREATER_THAN_SDD", "SAD_GREATER_THAN_OR_EQUAL_SDD",
    "SAD_LESS_THAN_SDD",    "SAD_LESS_THAN_OR_EQUAL_SDD",
    "SAD_EQUAL_SDD",        "SAD_NOT_EQUAL_SDD"};
bool Holds(Comparison comparison, uint32_t memory, uint32_t data);

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_ARITHMETIC_H_
