// Arithmetic on the command streamer: values that the GPU computes while it reads a batch, without
// a shader.
//
//   Arithmetic<Gfx9> math(batch);
//   const auto count = math.Load32(count_address);
//   math.Store64(size_address, count * math.Constant(48) + math.Constant(16));
//   math.StoreIf32(math.Less(count, math.Constant(8)), flag_address, math.Constant(1));
//
// A Value is a 64-bit unsigned number in one of the streamer's sixteen general-purpose registers,
// or a constant, which costs nothing until a register is needed. Operators emit what computes the
// result; results of constants are computed at once. A register is free again when the last Value
// that refers to it is destroyed. When no register is free, or the batch refuses a packet, ok() is
// false for the result and all that is computed from it, and the batch's status() has the reason.
// What has been emitted by then has changed registers only.
//
// A Condition is the result of a comparison. Stores and jumps may depend on one.
//
// Memory is read and written when the streamer reaches the packet; it does not wait for shaders or
// the 3D pipeline. Facts of the arithmetic unit are those of the PRMs, volume "Command Stream
// Programming", section "Command streamer ALU".

#ifndef PACKSMITH_RUNTIME_INTEL_BATCH_ARITHMETIC_H_
#define PACKSMITH_RUNTIME_INTEL_BATCH_ARITHMETIC_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>

#include "absl/status/status.h"
#include "packsmith/pack.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/stores.h"

namespace packsmith::intel {

struct ArithmeticOptions {
  // Registers that may be used, a bit each; the others belong to the caller.
  uint32_t registers = 0xffff;
  // Offset of the engine's registers from the render engine's, in bytes.
  uint32_t engine_offset = 0;
  // The caching policy of MI_MATH from Gfx12.5 on, for instructions that access memory. Nothing
  // here uses them, but it must not be zero.
  uint32_t mocs = 2;
};

template <class Gen>
class Arithmetic {
 public:
  class Value;
  class Condition;
  class Variable;

  // The batch must outlive this, and this all values. Other packets may be emitted in between.
  explicit Arithmetic(Batch<Gen>& batch, const ArithmeticOptions& options = {})
      : batch_(batch), options_(options) {}
  Arithmetic(const Arithmetic&) = delete;
  Arithmetic& operator=(const Arithmetic&) = delete;

  // -- Loading and storing values ---------------------------------------------------------------
  // Addresses are multiples of 4. Registers are MMIO offsets.

  Value Constant(uint64_t value);
  Value Load32(const address& from);
  Value Load64(const address& from);
  Value LoadRegister32(uint32_t offset);
  Value LoadRegister64(uint32_t offset);

  // The low dword, or both.
  bool Store32(const address& to, const Value& value) { return Store(to, value, 1); }
  bool Store64(const address& to, const Value& value) { return Store(to, value, 2); }
  bool StoreRegister32(uint32_t offset, const Value& value) {
    return CopyToRegister(offset, value, 1);
  }
  bool StoreRegister64(uint32_t offset, const Value& value) {
    return CopyToRegister(offset, value, 2);
  }
  // Nothing is written unless the condition holds. Uses the predicate of MI_PREDICATE.
  bool StoreIf32(const Condition& condition, const address& to, const Value& value) {
    return StoreIf(condition, to, value, 1);
  }
  bool StoreIf64(const Condition& condition, const address& to, const Value& value) {
    return StoreIf(condition, to, value, 2);
  }
  // From memory to memory, without a register.
  bool Copy32(const address& to, const address& from) {
    return WaitForStores<Gen>::Emit(batch_) &&
           batch_.Emit(typename Gen::CopyMemory{.destination_memory_address = to,
                                                .source_memory_address = from});
  }

  // -- Computing --------------------------------------------------------------------------------
  // Also + - * & | ^ ~ << and >>, all modulo 2^64. A shift by a Value is modulo 64 and takes a few
  // hundred dwords; a product of two Values takes 17 for each bit of the narrower one, which has 32
  // bits if it was loaded as such, or 64.

  Condition Equal(Value a, Value b);
  Condition NotEqual(Value a, Value b);
  Condition Less(Value a, Value b);
  Condition GreaterEqual(Value a, Value b);
  Condition Greater(Value a, Value b);
  Condition LessEqual(Value a, Value b);
  // In two's complement.
  Condition LessSigned(Value a, Value b);
  Condition NonZero(Value a);
  // One of two values, without a jump.
  Value Select(const Condition& condition, Value yes, Value no);
  // In two's complement.
  Value ShiftRightSigned(Value value, unsigned bits);

  // -- Control ----------------------------------------------------------------------------------

  // A value that changes while the streamer runs: a register that Set() writes.
  Variable NewVariable(const Value& first);
  // Sets the predicate of draws, dispatches and stores that are predicated.
  bool SetPredicate(const Condition& condition) { return SetPredicate(condition, false); }
  // Runs what `body` emits if the condition holds; else jumps over it.
  template <class Body>
  bool If(const Condition& condition, const Body& body);
  // Repeats what `body` emits as long as the Condition that it returns holds, at least once. Values
  // that change from iteration to iteration are Variables.
  template <class Body>
  bool Repeat(const Body& body);

  // Registers that are free now.
  unsigned free_registers() const {
    return static_cast<unsigned>(__builtin_popcount(options_.registers & kAll & ~used_));
  }

 private:
  using Instruction = typename Gen::MathInstruction;
  using LoadConstant = typename Gen::LoadRegisterConstant;
  using Predicator = typename Gen::SetPredicate;

  static constexpr uint32_t kRegisters = 16, kAll = (1u << kRegisters) - 1;
  static constexpr uint64_t kSign = uint64_t{1} << 63;
  // Of one program. It is packed again when it grows, so it should not be too long.
  static constexpr unsigned kMostInstructions = 64;
  // Later generations shift, by 1, 2, 4, 8, 16 and 32 bits.
  static constexpr bool kShifts = requires { Instruction::ALU_OPCODE_SHL; };
  static_assert(Instruction::OPERAND_1_REG15 == Instruction::OPERAND_1_REG0 + 15 &&
                Instruction::OPERAND_2_REG15 == Instruction::OPERAND_2_REG0 + 15);

  // Results of a calculation. A flag is stored as all ones or zero; the carry of a difference means
  // that the first number was less.
  static constexpr uint32_t kResult = Instruction::OPERAND_2_ACCU,
                            kZero = Instruction::OPERAND_2_ZF, kCarry = Instruction::OPERAND_2_CF;
  static constexpr uint32_t kAdd = Instruction::ALU_OPCODE_ADD;

  // MMIO offset of either half of a general-purpose register.
  uint32_t Offset(unsigned gpr, bool upper = false) const {
    return Gen::GeneralRegister::register_offset + gpr * 8 + (upper ? 4 : 0) +
           options_.engine_offset;
  }

  static Instruction Load(uint32_t source, const Value& value);
  static Instruction Do(uint32_t opcode) { return {.alu_opcode = opcode}; }
  static Instruction Put(const Value& to, uint32_t what, bool inverted = false);
  static Instruction LoadA(const Value& v) { return Load(Instruction::OPERAND_1_SRCA, v); }
  static Instruction LoadB(const Value& v) { return Load(Instruction::OPERAND_1_SRCB, v); }

  // The bits that a number needs.
  static constexpr unsigned WidthOf(uint64_t v) {
    return v == 0 ? 0 : 64 - static_cast<unsigned>(__builtin_clzll(v));
  }

  // A new register, whose value will have at most `bits` bits.
  Value NewRegister(unsigned bits);
  Value InRegister(const Value& value);
  // A register that may be changed, with the value in it.
  Value OwnRegister(Value value);
  void Keep(unsigned gpr) { ++users_[gpr]; }
  void Drop(unsigned gpr) {
    if (--users_[gpr] == 0) used_ &= ~(1u << gpr);
  }

  // Emits instructions, as part of the last program if nothing has been emitted since.
  bool Run(std::initializer_list<Instruction> instructions);
  bool SetRegister(uint32_t offset, uint64_t value, unsigned dwords);

  Value Binary(uint32_t opcode, Value a, Value b, uint32_t what, bool inverted, unsigned bits);
  Condition Compare(Value a, Value b, uint32_t flag, bool inverted);
  // One half, as a number of 32 bits.
  Value Half(const Value& value, bool upper);
  // Bits 31:0 at bits 63:32.
  Value ToUpperHalf(const Value& value);
  Value ShiftLeft(Value value, unsigned bits);
  Value ShiftRight(Value value, unsigned bits);
  Value ShiftByPowers(uint32_t opcode, Value value, unsigned bits, unsigned width);
  Value ShiftByValue(Value value, const Value& by, Value (*shift)(Value, unsigned));
  Value Multiply(const Value& a, const Value& b);
  Value MultiplyBy(const Value& a, uint64_t factor);

  bool Store(const address& to, const Value& value, unsigned dwords);
  bool StoreIf(const Condition& condition, const address& to, const Value& value, unsigned dwords);
  bool StoreGpr(const address& to, unsigned gpr, unsigned dwords, bool predicated);
  bool CopyToRegister(uint32_t offset, const Value& value, unsigned dwords);
  bool SetPredicate(const Condition& condition, bool inverted);
  // What predicated jumps test before Gfx12.5.
  bool SetStartPredicate(uint32_t value);
  // Jumps if the condition is `wanted`.
  bool JumpIf(const Condition& condition, bool wanted, Label label);
  // Binds a label that JumpIf() may jump to.
  bool BindTarget(Label label);

  static address Upper(const address& a) { return address(a.gpu + 4, a.buffer, a.use); }

  Batch<Gen>& batch_;
  const ArithmeticOptions options_;
  uint32_t used_ = 0;                            // registers, a bit each
  std::array<uint32_t, kRegisters> users_ = {};  // values that refer to each
  std::array<Instruction, kMostInstructions> program_ = {};
  unsigned instructions_ = 0;
  // The batch's cursor after the program, and the batch's resets() at that time.
  const uint32_t* program_end_ = nullptr;
  uint32_t program_resets_ = 0;
};

template <class Gen>
class Arithmetic<Gen>::Value {
 public:
  Value() = default;  // none
  Value(const Value& other)
      : math_(other.math_),
        constant_(other.constant_),
        bits_(other.bits_),
        gpr_(other.gpr_),
        kind_(other.kind_) {
    if (kind_ == Kind::kRegister) math_->Keep(gpr_);
  }
  Value(Value&& other) noexcept { Swap(other); }
  Value& operator=(Value other) noexcept {
    Swap(other);
    return *this;
  }
  ~Value() {
    if (kind_ == Kind::kRegister) math_->Drop(gpr_);
  }

  bool ok() const { return kind_ != Kind::kNone; }
  bool is_constant() const { return kind_ == Kind::kConstant; }
  uint64_t constant() const { return constant_; }  // if it is one

  friend Value operator+(Value a, Value b) {
    if (a.Is(0)) return b;
    if (b.Is(0)) return a;
    if (Constants(a, b)) return Value(a.math_, a.constant_ + b.constant_);
    const unsigned bits = std::min(64u, std::max(a.bits_, b.bits_) + 1);
    return Compute(kAdd, std::move(a), std::move(b), bits);
  }
  friend Value operator-(Value a, Value b) {
    if (b.Is(0)) return a;
    if (Constants(a, b)) return Value(a.math_, a.constant_ - b.constant_);
    return Compute(Instruction::ALU_OPCODE_SUB, std::move(a), std::move(b), 64);
  }
  friend Value operator&(Value a, Value b) {
    if (a.Is(kOnes) || b.Is(0)) return b;
    if (b.Is(kOnes) || a.Is(0)) return a;
    if (Constants(a, b)) return Value(a.math_, a.constant_ & b.constant_);
    const unsigned bits = std::min(a.bits_, b.bits_);
    return Compute(Instruction::ALU_OPCODE_AND, std::move(a), std::move(b), bits);
  }
  friend Value operator|(Value a, Value b) {
    if (a.Is(0) || b.Is(kOnes)) return b;
    if (b.Is(0) || a.Is(kOnes)) return a;
    if (Constants(a, b)) return Value(a.math_, a.constant_ | b.constant_);
    const unsigned bits = std::max(a.bits_, b.bits_);
    return Compute(Instruction::ALU_OPCODE_OR, std::move(a), std::move(b), bits);
  }
  friend Value operator^(Value a, Value b) {
    if (a.Is(0)) return b;
    if (b.Is(0)) return a;
    if (Constants(a, b)) return Value(a.math_, a.constant_ ^ b.constant_);
    const unsigned bits = std::max(a.bits_, b.bits_);
    return Compute(Instruction::ALU_OPCODE_XOR, std::move(a), std::move(b), bits);
  }
  friend Value operator~(Value a) {
    Value ones(a.math_, kOnes);
    return std::move(a) ^ std::move(ones);
  }
  friend Value operator*(const Value& a, const Value& b) { return Times(a, b); }
  friend Value operator<<(Value a, unsigned bits) { return Left(std::move(a), bits); }
  friend Value operator>>(Value a, unsigned bits) { return Right(std::move(a), bits); }
  friend Value operator<<(Value a, const Value& by) { return ShiftBy(std::move(a), by, Left); }
  friend Value operator>>(Value a, const Value& by) { return ShiftBy(std::move(a), by, Right); }

 private:
  friend class Arithmetic;
  friend class Variable;
  enum class Kind : uint8_t { kNone, kConstant, kRegister };
  static constexpr uint64_t kOnes = ~uint64_t{0};

  Value(Arithmetic* math, uint64_t constant)
      : math_(math), constant_(constant), bits_(WidthOf(constant)), kind_(Kind::kConstant) {
    if (math == nullptr) kind_ = Kind::kNone;
  }

  bool Is(uint64_t constant) const { return is_constant() && constant_ == constant; }
  static bool Constants(const Value& a, const Value& b) {
    return a.is_constant() && b.is_constant();
  }
  static Value Compute(uint32_t opcode, Value a, Value b, unsigned bits) {
    if (!a.ok() || !b.ok()) return Value();
    Arithmetic& math = *a.math_;
    return math.Binary(opcode, std::move(a), std::move(b), kResult, false, bits);
  }
  static Arithmetic& Math(const Value& v) { return *v.math_; }
  static Value Times(const Value& a, const Value& b) {
    return a.ok() && b.ok() ? a.math_->Multiply(a, b) : Value();
  }
  static Value Left(Value a, unsigned bits) {
    return a.ok() ? Math(a).ShiftLeft(std::move(a), bits) : Value();
  }
  static Value Right(Value a, unsigned bits) {
    return a.ok() ? Math(a).ShiftRight(std::move(a), bits) : Value();
  }
  static Value ShiftBy(Value a, const Value& by, Value (*shift)(Value, unsigned)) {
    return a.ok() && by.ok() ? Math(a).ShiftByValue(std::move(a), by, shift) : Value();
  }
  void Swap(Value& other) noexcept {
    std::swap(math_, other.math_);
    std::swap(constant_, other.constant_);
    std::swap(bits_, other.bits_);
    std::swap(gpr_, other.gpr_);
    std::swap(kind_, other.kind_);
  }

  Arithmetic* math_ = nullptr;
  uint64_t constant_ = 0;
  unsigned bits_ = 0;  // all higher ones are zero
  uint8_t gpr_ = 0;
  Kind kind_ = Kind::kNone;
};

// A boolean on the GPU: all bits of a value, or none.
template <class Gen>
class Arithmetic<Gen>::Condition {
 public:
  Condition() = default;  // none

  bool ok() const { return mask_.ok(); }
  // All ones where it holds, else zero.
  const Value& mask() const { return mask_; }

  friend Condition operator&&(Condition a, Condition b) {
    return Condition(std::move(a.mask_) & std::move(b.mask_));
  }
  friend Condition operator||(Condition a, Condition b) {
    return Condition(std::move(a.mask_) | std::move(b.mask_));
  }
  friend Condition operator!(Condition a) { return Condition(~std::move(a.mask_)); }

 private:
  friend class Arithmetic;
  explicit Condition(Value mask) : mask_(std::move(mask)) {}

  Value mask_;
};

// The register itself: what is computed from it uses its value at that time, but a Value that
// refers to it changes with the next Set().
template <class Gen>
class Arithmetic<Gen>::Variable : public Value {
 public:
  bool Set(const Value& value);

 private:
  friend class Arithmetic;
  explicit Variable(Value value) : Value(std::move(value)) {}
};

// -- Registers ----------------------------------------------------------------------------------

template <class Gen>
typename Arithmetic<Gen>::Value Arithmetic<Gen>::NewRegister(unsigned bits) {
  const uint32_t free = options_.registers & kAll & ~used_;
  if (free == 0) {
    batch_.Refuse(absl::ResourceExhaustedError(
        "all general-purpose registers are in use: destroy values that are no longer needed"));
    return Value();
  }
  Value value;
  value.math_ = this;
  value.bits_ = bits;
  value.gpr_ = static_cast<uint8_t>(__builtin_ctz(free));
  value.kind_ = Value::Kind::kRegister;
  used_ |= 1u << value.gpr_;
  users_[value.gpr_] = 1;
  return value;
}

template <class Gen>
bool Arithmetic<Gen>::SetRegister(uint32_t offset, uint64_t value, unsigned dwords) {
  const LoadConstant lower{.register_offset_ = offset, .data_dword = static_cast<uint32_t>(value)};
  if (dwords == 1) return batch_.Emit(lower);
  return batch_.EmitItems(
      lower, {{.register_offset_ = offset + 4, .data_dword = static_cast<uint32_t>(value >> 32)}});
}

template <class Gen>
typename Arithmetic<Gen>::Value Arithmetic<Gen>::InRegister(const Value& value) {
  if (!value.is_constant()) return value;
  Value result = NewRegister(value.bits_);
  if (!result.ok() || !SetRegister(Offset(result.gpr_), value.constant_, 2)) return Value();
  return result;
}

template <class Gen>
typename Arithmetic<Gen>::Value Arithmetic<Gen>::OwnRegister(Value value) {
  if (value.is_constant()) return InRegister(value);
  if (!value.ok() || users_[value.gpr_] == 1) return value;
  Value result = NewRegister(value.bits_);
  const Value zero = Constant(0);
  if (!result.ok() || !Run({LoadA(value), LoadB(zero), Do(kAdd), Put(result, kResult)})) {
    return Value();
  }
  return result;
}

// -- Comparisons --------------------------------------------------------------------------------

template <class Gen>
typename Arithmetic<Gen>::Value Arithmetic<Gen>::Constant(uint64_t value) {
  return Value(this, value);
}

template <class Gen>
typename Arithmetic<Gen>::Condition Arithmetic<Gen>::Equal(Value a, Value b) {
  return Compare(std::move(a), std::move(b), kZero, false);
}

template <class Gen>
typename Arithmetic<Gen>::Condition Arithmetic<Gen>::NotEqual(Value a, Value b) {
  return Compare(std::move(a), std::move(b), kZero, true);
}

template <class Gen>
typename Arithmetic<Gen>::Condition Arithmetic<Gen>::Less(Value a, Value b) {
  return Compare(std::move(a), std::move(b), kCarry, false);
}

template <class Gen>
typename Arithmetic<Gen>::Condition Arithmetic<Gen>::GreaterEqual(Value a, Value b) {
  return Compare(std::move(a), std::move(b), kCarry, true);
}

template <class Gen>
typename Arithmetic<Gen>::Condition Arithmetic<Gen>::Greater(Value a, Value b) {
  return Less(std::move(b), std::move(a));
}

template <class Gen>
typename Arithmetic<Gen>::Condition Arithmetic<Gen>::LessEqual(Value a, Value b) {
  return GreaterEqual(std::move(b), std::move(a));
}

template <class Gen>
typename Arithmetic<Gen>::Condition Arithmetic<Gen>::LessSigned(Value a, Value b) {
  // With the signs inverted, the order is that of unsigned numbers.
  return Less(std::move(a) ^ Constant(kSign), std::move(b) ^ Constant(kSign));
}

template <class Gen>
typename Arithmetic<Gen>::Condition Arithmetic<Gen>::NonZero(Value a) {
  return NotEqual(std::move(a), Constant(0));
}

// -- Programs -----------------------------------------------------------------------------------

template <class Gen>
typename Arithmetic<Gen>::Instruction Arithmetic<Gen>::Load(uint32_t source, const Value& value) {
  // These two constants need no register.
  if (value.is_constant()) {
    return {.operand_1 = source,
            .alu_opcode = value.constant_ == 0 ? Instruction::ALU_OPCODE_LOAD0
                                               : Instruction::ALU_OPCODE_LOAD1};
  }
  return {.operand_2 = Instruction::OPERAND_2_REG0 + value.gpr_,
          .operand_1 = source,
          .alu_opcode = Instruction::ALU_OPCODE_LOAD};
}

template <class Gen>
typename Arithmetic<Gen>::Instruction Arithmetic<Gen>::Put(const Value& to, uint32_t what,
                                                           bool inverted) {
  return {
      .operand_2 = what,
      .operand_1 = Instruction::OPERAND_1_REG0 + to.gpr_,
      .alu_opcode = inverted ? Instruction::ALU_OPCODE_STOREINV : Instruction::ALU_OPCODE_STORE};
}

template <class Gen>
bool Arithmetic<Gen>::Run(std::initializer_list<Instruction> instructions) {
  using Math = typename Gen::Math;
  unsigned count = instructions_;
  unsigned taken_back = Math::dwords_needed(count);
  if (program_end_ == nullptr || batch_.cursor_ != program_end_ ||
      batch_.resets() != program_resets_ || count + instructions.size() > kMostInstructions ||
      !batch_.Retract(taken_back)) {
    count = taken_back = 0;
  }
  std::copy(instructions.begin(), instructions.end(), program_.begin() + count);
  count += static_cast<unsigned>(instructions.size());
  Math head;
  if constexpr (requires { head.mocs; }) head.mocs = options_.mocs;
  if (!batch_.EmitItems(head, span<const Instruction>(program_.data(), count))) {
    batch_.cursor_ += taken_back;  // the shorter program is still there
    return false;
  }
  instructions_ = count;
  program_end_ = batch_.cursor_;
  program_resets_ = batch_.resets();
  return true;
}

template <class Gen>
typename Arithmetic<Gen>::Value Arithmetic<Gen>::Binary(uint32_t opcode, Value a, Value b,
                                                        uint32_t what, bool inverted,
                                                        unsigned bits) {
  if (!a.Is(0) && !a.Is(Value::kOnes)) a = InRegister(a);
  if (!b.Is(0) && !b.Is(Value::kOnes)) b = InRegister(b);
  if (!a.ok() || !b.ok()) return Value();
  // Into the register of an operand that is no longer needed, or a new one.
  const auto is_spare = [&](const Value& v) { return !v.is_constant() && users_[v.gpr_] == 1; };
  Value result = is_spare(a) ? a : is_spare(b) ? b : NewRegister(bits);
  if (!result.ok() || !Run({LoadA(a), LoadB(b), Do(opcode), Put(result, what, inverted)})) {
    return Value();
  }
  result.bits_ = bits;
  return result;
}

template <class Gen>
typename Arithmetic<Gen>::Condition Arithmetic<Gen>::Compare(Value a, Value b, uint32_t flag,
                                                             bool inverted) {
  if (!a.ok() || !b.ok()) return Condition();
  if (Value::Constants(a, b)) {
    const bool set = flag == kZero ? a.constant_ == b.constant_ : a.constant_ < b.constant_;
    return Condition(Constant(set != inverted ? Value::kOnes : 0));
  }
  return Condition(
      Binary(Instruction::ALU_OPCODE_SUB, std::move(a), std::move(b), flag, inverted, 64));
}

template <class Gen>
typename Arithmetic<Gen>::Value Arithmetic<Gen>::Select(const Condition& condition, Value yes,
                                                        Value no) {
  return (std::move(yes) & condition.mask_) | (std::move(no) & ~condition.mask_);
}

// -- Shifts and products ------------------------------------------------------------------------

template <class Gen>
typename Arithmetic<Gen>::Value Arithmetic<Gen>::Half(const Value& value, bool upper) {
  if (!upper && value.bits_ <= 32) return value;
  Value half = NewRegister(32);
  if (!half.ok() ||
      !batch_.Emit(typename Gen::CopyRegister{.source_register_address = Offset(value.gpr_, upper),
                                              .destination_register_address = Offset(half.gpr_)},
                   LoadConstant{.register_offset_ = Offset(half.gpr_, true)})) {
    return Value();
  }
  return half;
}

template <class Gen>
typename Arithmetic<Gen>::Value Arithmetic<Gen>::ToUpperHalf(const Value& value) {
  Value moved = NewRegister(64);
  if (!moved.ok() ||
      !batch_.Emit(
          typename Gen::CopyRegister{.source_register_address = Offset(value.gpr_),
                                     .destination_register_address = Offset(moved.gpr_, true)},
          LoadConstant{.register_offset_ = Offset(moved.gpr_)})) {
    return Value();
  }
  return moved;
}

template <class Gen>
typename Arithmetic<Gen>::Value Arithmetic<Gen>::ShiftByPowers(uint32_t opcode, Value value,
                                                               unsigned bits, unsigned width) {
  for (unsigned power = 1; power <= bits; power *= 2) {
    if ((bits & power) == 0) continue;
    value = Binary(opcode, std::move(value), Constant(power), kResult, false, width);
    if (!value.ok()) break;
  }
  return value;
}

template <class Gen>
typename Arithmetic<Gen>::Value Arithmetic<Gen>::ShiftLeft(Value value, unsigned bits) {
  if (bits >= 64) return Constant(0);
  if (value.is_constant()) return Constant(value.constant_ << bits);
  const unsigned width = std::min(64u, value.bits_ + bits);
  if constexpr (kShifts) {
    // By one or two bits, adding is shorter.
    if (bits > 2) {
      return ShiftByPowers(Instruction::ALU_OPCODE_SHL, std::move(value), bits, width);
    }
  }
  if (bits >= 32) {
    value = ToUpperHalf(value);
    bits -= 32;
  }
  for (; bits != 0 && value.ok(); --bits) {
    Value same = value;
    value = std::move(value) + std::move(same);
  }
  if (value.ok()) value.bits_ = width;
  return value;
}

template <class Gen>
typename Arithmetic<Gen>::Value Arithmetic<Gen>::ShiftRight(Value value, unsigned bits) {
  if (bits >= 64 || bits >= value.bits_) return Constant(0);
  if (bits == 0) return value;
  if (value.is_constant()) return Constant(value.constant_ >> bits);
  const unsigned width = value.bits_ - bits;
  if constexpr (kShifts) {
    return ShiftByPowers(Instruction::ALU_OPCODE_SHR, std::move(value), bits, width);
  }
  // The upper half of a value shifted left by 32 - n is the value shifted right by n.
  if (bits >= 32) {
    value = Half(value, true);
    bits -= 32;
    if (bits != 0 && value.ok()) value = Half(ShiftLeft(std::move(value), 32 - bits), true);
  } else if (value.bits_ <= 32) {
    value = Half(ShiftLeft(std::move(value), 32 - bits), true);
  } else {
    Value upper = Half(value, true), lower = Half(value, false);
    if (!upper.ok() || !lower.ok()) return Value();
    value = Value();  // frees its register
    lower = ShiftLeft(std::move(lower), 32 - bits);
    if (!lower.ok()) return Value();
    value = ShiftLeft(std::move(upper), 32 - bits) | Half(lower, true);
  }
  if (value.ok()) value.bits_ = width;
  return value;
}

template <class Gen>
typename Arithmetic<Gen>::Value Arithmetic<Gen>::ShiftRightSigned(Value value, unsigned bits) {
  if (!value.ok()) return value;
  bits = std::min(bits, 63u);
  if (bits == 0) return value;
  if (value.is_constant()) {
    return Constant(static_cast<uint64_t>(static_cast<int64_t>(value.constant_) >> bits));
  }
  if constexpr (kShifts) {
    return ShiftByPowers(Instruction::ALU_OPCODE_SAR, std::move(value), bits, 64);
  }
  const Condition negative = GreaterEqual(value, Constant(kSign));
  return ShiftRight(std::move(value), bits) | (negative.mask_ & Constant(~(Value::kOnes >> bits)));
}

template <class Gen>
typename Arithmetic<Gen>::Value Arithmetic<Gen>::ShiftByValue(Value value, const Value& by,
                                                              Value (*shift)(Value, unsigned)) {
  if (by.is_constant()) return shift(value, static_cast<unsigned>(by.constant_ % 64));
  for (unsigned power = 1; power < 64 && value.ok(); power *= 2) {
    const Condition set = NonZero(by & Constant(power));
    Value shifted = shift(value, power);
    value = Select(set, std::move(shifted), std::move(value));
  }
  if (value.ok() && !value.is_constant()) value.bits_ = 64;
  return value;
}

template <class Gen>
typename Arithmetic<Gen>::Value Arithmetic<Gen>::MultiplyBy(const Value& a, uint64_t factor) {
  if (factor == 0) return Constant(0);
  if (a.is_constant()) return Constant(a.constant_ * factor);
  if ((factor & (factor - 1)) == 0) return ShiftLeft(a, WidthOf(factor) - 1);
  Value product = a;
  for (unsigned bit = WidthOf(factor) - 1; bit-- > 0 && product.ok();) {
    Value same = product;
    product = std::move(product) + std::move(same);
    if ((factor >> bit & 1) != 0) product = std::move(product) + a;
  }
  if (product.ok()) product.bits_ = std::min(64u, a.bits_ + WidthOf(factor));
  return product;
}

template <class Gen>
typename Arithmetic<Gen>::Value Arithmetic<Gen>::Multiply(const Value& a, const Value& b) {
  if (b.is_constant()) return MultiplyBy(a, b.constant_);
  if (a.is_constant()) return MultiplyBy(b, a.constant_);
  const Value& wide = a.bits_ >= b.bits_ ? a : b;
  const Value& narrow = a.bits_ >= b.bits_ ? b : a;
  const unsigned steps = narrow.bits_ <= 32 ? 32 : 64;
  // The highest bit of `rest` is the next one: doubling carries it out.
  Value rest = steps == 32 ? ToUpperHalf(narrow) : OwnRegister(narrow);
  Value product = InRegister(Constant(0)), part = NewRegister(64);
  if (!rest.ok() || !product.ok() || !part.ok()) return Value();
  for (unsigned i = 0; i < steps; ++i) {
    if (!Run({LoadA(product), LoadB(product), Do(kAdd), Put(product, kResult)}) ||
        !Run({LoadA(rest), LoadB(rest), Do(kAdd), Put(rest, kResult), Put(part, kCarry)}) ||
        !Run({LoadA(part), LoadB(wide), Do(Instruction::ALU_OPCODE_AND), Put(part, kResult)}) ||
        !Run({LoadA(product), LoadB(part), Do(kAdd), Put(product, kResult)})) {
      return Value();
    }
  }
  product.bits_ = std::min(64u, wide.bits_ + narrow.bits_);
  return product;
}

// -- Memory and registers -----------------------------------------------------------------------

template <class Gen>
typename Arithmetic<Gen>::Value Arithmetic<Gen>::Load32(const address& from) {
  Value value = NewRegister(32);
  if (!value.ok() || !WaitForStores<Gen>::Emit(batch_) ||
      !batch_.Emit(typename Gen::LoadRegister{.register_address = Offset(value.gpr_),
                                              .memory_address = from},
                   LoadConstant{.register_offset_ = Offset(value.gpr_, true)})) {
    return Value();
  }
  return value;
}

template <class Gen>
typename Arithmetic<Gen>::Value Arithmetic<Gen>::Load64(const address& from) {
  using LoadRegister = typename Gen::LoadRegister;
  Value value = NewRegister(64);
  if (!value.ok() || !WaitForStores<Gen>::Emit(batch_) ||
      !batch_.Emit(LoadRegister{.register_address = Offset(value.gpr_), .memory_address = from},
                   LoadRegister{.register_address = Offset(value.gpr_, true),
                                .memory_address = Upper(from)})) {
    return Value();
  }
  return value;
}

template <class Gen>
typename Arithmetic<Gen>::Value Arithmetic<Gen>::LoadRegister32(uint32_t offset) {
  Value value = NewRegister(32);
  if (!value.ok() ||
      !batch_.Emit(typename Gen::CopyRegister{.source_register_address = offset,
                                              .destination_register_address = Offset(value.gpr_)},
                   LoadConstant{.register_offset_ = Offset(value.gpr_, true)})) {
    return Value();
  }
  return value;
}

template <class Gen>
typename Arithmetic<Gen>::Value Arithmetic<Gen>::LoadRegister64(uint32_t offset) {
  using CopyRegister = typename Gen::CopyRegister;
  Value value = NewRegister(64);
  if (!value.ok() ||
      !batch_.Emit(CopyRegister{.source_register_address = offset,
                                .destination_register_address = Offset(value.gpr_)},
                   CopyRegister{.source_register_address = offset + 4,
                                .destination_register_address = Offset(value.gpr_, true)})) {
    return Value();
  }
  return value;
}

template <class Gen>
bool Arithmetic<Gen>::CopyToRegister(uint32_t offset, const Value& value, unsigned dwords) {
  using CopyRegister = typename Gen::CopyRegister;
  if (!value.ok()) return false;
  if (value.is_constant()) return SetRegister(offset, value.constant_, dwords);
  const CopyRegister lower{.source_register_address = Offset(value.gpr_),
                           .destination_register_address = offset};
  if (dwords == 1) return batch_.Emit(lower);
  return batch_.Emit(lower, CopyRegister{.source_register_address = Offset(value.gpr_, true),
                                         .destination_register_address = offset + 4});
}

template <class Gen>
bool Arithmetic<Gen>::StoreGpr(const address& to, unsigned gpr, unsigned dwords, bool predicated) {
  using StoreRegister = typename Gen::StoreRegister;
  const StoreRegister lower{
      .predicate_enable = predicated, .register_address = Offset(gpr), .memory_address = to};
  if (dwords == 1) return batch_.Emit(lower);
  return batch_.Emit(lower, StoreRegister{.predicate_enable = predicated,
                                          .register_address = Offset(gpr, true),
                                          .memory_address = Upper(to)});
}

template <class Gen>
bool Arithmetic<Gen>::Store(const address& to, const Value& value, unsigned dwords) {
  using StoreData = typename Gen::StoreData;
  if (!value.ok()) return false;
  if (!value.is_constant()) return StoreGpr(to, value.gpr_, dwords, false);
  const StoreData lower{.address = to, .immediate_data = value.constant_ & 0xffffffff};
  if (dwords == 1) return batch_.Emit(lower);
  return batch_.Emit(lower,
                     StoreData{.address = Upper(to), .immediate_data = value.constant_ >> 32});
}

template <class Gen>
bool Arithmetic<Gen>::StoreIf(const Condition& condition, const address& to, const Value& value,
                              unsigned dwords) {
  if (!condition.ok() || !value.ok()) return false;
  if (condition.mask_.is_constant()) {
    return condition.mask_.Is(0) ? true : Store(to, value, dwords);
  }
  const Value stored = InRegister(value);
  return stored.ok() && SetPredicate(condition) && StoreGpr(to, stored.gpr_, dwords, true);
}

// -- Control ------------------------------------------------------------------------------------

template <class Gen>
typename Arithmetic<Gen>::Variable Arithmetic<Gen>::NewVariable(const Value& first) {
  // A copy, even of a value that the caller no longer needs: its register is written to.
  Value own = NewRegister(64);
  if (!first.ok() || !own.ok()) return Variable(Value());
  Variable variable(std::move(own));
  return variable.Set(first) ? std::move(variable) : Variable(Value());
}

template <class Gen>
bool Arithmetic<Gen>::Variable::Set(const Value& value) {
  if (!this->ok() || !value.ok()) return false;
  Arithmetic& math = *this->math_;
  if (value.is_constant()) {
    return math.SetRegister(math.Offset(this->gpr_), value.constant_, 2);
  }
  const Value zero = math.Constant(0);
  return math.Run({LoadA(value), LoadB(zero), Do(kAdd), Put(*this, kResult)});
}

template <class Gen>
bool Arithmetic<Gen>::SetPredicate(const Condition& condition, bool inverted) {
  using Predicate = typename Gen::Predicate;
  if (!condition.ok()) return false;
  // The predicate becomes "the sources differ", or inverted, "they are equal".
  return CopyToRegister(Gen::PredicateSource0::register_offset + options_.engine_offset,
                        condition.mask_, 2) &&
         SetRegister(Gen::PredicateSource1::register_offset + options_.engine_offset, 0, 2) &&
         batch_.Emit(Predicate{.compare_operation = Predicate::COMPARE_OPERATION_SRCS_EQUAL,
                               .combine_operation = Predicate::COMBINE_OPERATION_SET,
                               .load_operation = inverted ? Predicate::LOAD_OPERATION_LOAD
                                                          : Predicate::LOAD_OPERATION_LOADINV});
}

template <class Gen>
bool Arithmetic<Gen>::BindTarget(Label label) {
  // Jumps to this place leave packets, or later jumps, predicated.
  if constexpr (Gen::kStartAsksSetPredicate) {
    constexpr auto kNever =
        packed(Predicator{.predicate_enable = Predicator::PREDICATE_ENABLE_NOOP_NEVER});
    return batch_.Bind(label) && batch_.EmitDwords(kNever);
  } else {
    return batch_.Bind(label) && SetStartPredicate(0);
  }
}

template <class Gen>
bool Arithmetic<Gen>::SetStartPredicate(uint32_t value) {
  return SetRegister(Gen::StartPredicate::register_offset + options_.engine_offset, value, 1);
}

template <class Gen>
bool Arithmetic<Gen>::JumpIf(const Condition& condition, bool wanted, Label label) {
  using Start = typename Gen::BatchStart;
  if (!condition.ok()) return false;
  if (condition.mask_.is_constant()) {
    return condition.mask_.Is(0) == wanted || batch_.Jump(batch_.At(label));
  }
  Start jump = BatchCommandsOf<Gen>::StartTo(batch_.At(label), batch_.options().second_level,
                                             batch_.options().global);
  jump.predication_enable = true;
  if (!SetPredicate(condition, !wanted)) return false;
  if constexpr (Gen::kStartAsksSetPredicate) {
    return batch_.Emit(
        Predicator{.predicate_enable = Predicator::PREDICATE_ENABLE_NOOP_ON_RESULT_CLEAR}, jump,
        Predicator{.predicate_enable = Predicator::PREDICATE_ENABLE_NOOP_NEVER});
  } else {
    using CopyRegister = typename Gen::CopyRegister;
    const uint32_t engine = options_.engine_offset;
    return batch_.Emit(
               CopyRegister{
                   .source_register_address = Gen::PredicateResult::register_offset + engine,
                   .destination_register_address = Gen::StartPredicate::register_offset + engine},
               jump) &&
           SetStartPredicate(0);
  }
}

template <class Gen>
template <class Body>
bool Arithmetic<Gen>::If(const Condition& condition, const Body& body) {
  const Label behind = batch_.NewLabel();
  if (!JumpIf(condition, false, behind)) return false;
  body();
  return BindTarget(behind);
}

template <class Gen>
template <class Body>
bool Arithmetic<Gen>::Repeat(const Body& body) {
  // Values from before the loop are needed in every iteration, even if the body destroys them.
  const uint32_t before = used_;
  for (unsigned gpr = 0; gpr < kRegisters; ++gpr) {
    if ((before >> gpr & 1) != 0) Keep(gpr);
  }
  const Label begin = batch_.NewLabel();
  const bool good = BindTarget(begin) && JumpIf(body(), true, begin);
  for (unsigned gpr = 0; gpr < kRegisters; ++gpr) {
    if ((before >> gpr & 1) != 0) Drop(gpr);
  }
  return good;
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BATCH_ARITHMETIC_H_
