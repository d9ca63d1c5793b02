// Arithmetic on the command streamer, run in software and compared with the same in C++.
#include "runtime/intel/batch/arithmetic.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/command/chunks.h"
#include "tests/intel/batch/built.h"
#include "tests/intel/batch/generations.h"
#include "tests/intel/batch/streamer.h"

namespace packsmith::intel {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kIn = 0x10000, kOut = 0x20000;
constexpr size_t kWords = 512;

template <class Gen>
class ArithmeticTest : public testing::Test {
 protected:
  using Math = Arithmetic<Gen>;
  using Value = typename Math::Value;

  ArithmeticTest() : chunks_({.gpu = 0x100000, .chunk_dwords = 200}), batch_(chunks_) {
    streamer_.Map(kIn, in_);
    streamer_.Map(kOut, std::vector<uint32_t>(kWords));
  }

  static address In(unsigned i) { return address(kIn + 8 * i, 1); }
  static address Out(unsigned i) { return address(kOut + 8 * i, 2, access::write); }
  void SetIn(unsigned i, uint64_t v) {
    const uint32_t words[] = {static_cast<uint32_t>(v), static_cast<uint32_t>(v >> 32)};
    streamer_.Map(kIn + 8 * i, words);
  }
  uint64_t Got(unsigned i) { return streamer_.Read64(kOut + 8 * i); }

  void Run() {
    const absl::Status ended = batch_.End();
    ASSERT_TRUE(ended.ok()) << ended.message();
    streamer_.Map(chunks_.chunks());
    ASSERT_EQ(streamer_.Run(batch_.parts()[0].chunk.gpu), "");
    // The decoder agrees.
    const Decoded decoded =
        World().Put(chunks_.chunks()).Decode(Gen::kName, batch_.parts()[0].chunk.gpu);
    EXPECT_THAT(decoded.problems, IsEmpty());
    for (const Met& met : decoded.packets) EXPECT_EQ(met.faults, 0u) << met.name;
  }

  std::vector<uint32_t> in_ = std::vector<uint32_t>(kWords);
  gpu::HostChunks chunks_;
  Batch<Gen> batch_;
  Streamer<Gen> streamer_;
};
TYPED_TEST_SUITE(ArithmeticTest, Generations);

// Edge values, and others.
uint64_t Interesting(std::mt19937_64& random) {
  switch (random() % 8) {
    case 0:
      return random() % 4;
    case 1:
      return ~uint64_t{0} - random() % 4;
    case 2:
      return uint64_t{1} << random() % 64;
    case 3:
      return (uint64_t{1} << random() % 64) - 1;
    case 4:
      return random() & 0xffffffff;
    default:
      return random();
  }
}

uint64_t Mask(bool b) { return b ? ~uint64_t{0} : 0; }

constexpr unsigned kOperations = 17;

// One of them, on the streamer …
template <class Math>
typename Math::Value Compute(Math& math, unsigned operation, const typename Math::Value& a,
                             const typename Math::Value& b, unsigned bits) {
  switch (operation) {
    case 0:
      return a + b;
    case 1:
      return a - b;
    case 2:
      return a & b;
    case 3:
      return a | b;
    case 4:
      return a ^ b;
    case 5:
      return ~a;
    case 6:
      return a << bits;
    case 7:
      return a >> bits;
    case 8:
      return math.ShiftRightSigned(a, bits);
    case 9:
      return math.Equal(a, b).mask();
    case 10:
      return math.NotEqual(a, b).mask();
    case 11:
      return math.Less(a, b).mask();
    case 12:
      return math.GreaterEqual(a, b).mask();
    case 13:
      return math.LessSigned(a, b).mask();
    case 14:
      return math.Select(math.Greater(a, b), a, b);
    case 15:
      return (math.LessEqual(a, b) && !math.NonZero(b & math.Constant(1))).mask();
    default:
      return a * b;
  }
}

// … and here.
uint64_t Compute(unsigned operation, uint64_t a, uint64_t b, unsigned bits) {
  switch (operation) {
    case 0:
      return a + b;
    case 1:
      return a - b;
    case 2:
      return a & b;
    case 3:
      return a | b;
    case 4:
      return a ^ b;
    case 5:
      return ~a;
    case 6:
      return bits > 63 ? 0 : a << bits;
    case 7:
      return bits > 63 ? 0 : a >> bits;
    case 8:
      return static_cast<uint64_t>(static_cast<int64_t>(a) >> std::min(bits, 63u));
    case 9:
      return Mask(a == b);
    case 10:
      return Mask(a != b);
    case 11:
      return Mask(a < b);
    case 12:
      return Mask(a >= b);
    case 13:
      return Mask(static_cast<int64_t>(a) < static_cast<int64_t>(b));
    case 14:
      return std::max(a, b);
    case 15:
      return Mask(a <= b && b % 2 == 0);
    default:
      return a * b;
  }
}

TYPED_TEST(ArithmeticTest, ComputesAsTheHostDoes) {
  using Math = Arithmetic<TypeParam>;
  using Value = typename Math::Value;
  std::mt19937_64 random(1);
  Math math(this->batch_);
  std::vector<uint64_t> expected;
  for (unsigned i = 0; i < 120; ++i) {
    const uint64_t x = Interesting(random), y = random() % 5 == 0 ? x : Interesting(random);
    this->SetIn(2 * i, x);
    this->SetIn(2 * i + 1, y);
    // Either may be a constant, or both.
    const uint64_t kind = random() % 6;
    const Value a = kind == 1 || kind == 3 ? math.Constant(x) : math.Load64(this->In(2 * i));
    const Value b = kind == 2 || kind == 3 ? math.Constant(y) : math.Load64(this->In(2 * i + 1));
    const unsigned bits = static_cast<unsigned>(random() % 66);
    const unsigned operation = i % kOperations;
    const Value result = Compute(math, operation, a, b, bits);
    ASSERT_TRUE(math.Store64(this->Out(i), result)) << this->batch_.status().message();
    EXPECT_EQ(result.is_constant() || kind != 3, true) << "constants are computed at once";
    expected.push_back(Compute(operation, x, y, bits));
  }
  EXPECT_EQ(math.free_registers(), 16u);
  this->Run();
  for (unsigned i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(this->Got(i), expected[i]) << i << ", operation " << i % kOperations;
  }
}

TYPED_TEST(ArithmeticTest, LongExpressions) {
  using Math = Arithmetic<TypeParam>;
  using Value = typename Math::Value;
  std::mt19937_64 random(2);
  Math math(this->batch_);
  std::vector<uint64_t> expected;
  for (unsigned i = 0; i < 20; ++i) {
    std::vector<Value> values;
    std::vector<uint64_t> model;
    for (unsigned v = 0; v < 4; ++v) {
      model.push_back(Interesting(random));
      this->SetIn(4 * i + v, model.back());
      values.push_back(v == 0 ? math.Constant(model.back()) : math.Load64(this->In(4 * i + v)));
    }
    for (unsigned step = 0; step < 12; ++step) {
      const size_t a = random() % 4, b = random() % 4, to = random() % 4;
      const unsigned operation = static_cast<unsigned>(random() % (kOperations - 1));
      const unsigned bits = static_cast<unsigned>(random() % 40);
      values[to] = Compute(math, operation, values[a], values[b], bits);
      ASSERT_TRUE(values[to].ok()) << this->batch_.status().message();
      model[to] = Compute(operation, model[a], model[b], bits);
    }
    for (unsigned v = 0; v < 4; ++v) {
      ASSERT_TRUE(math.Store64(this->Out(4 * i + v), values[v]));
      expected.push_back(model[v]);
    }
  }
  this->Run();
  for (unsigned i = 0; i < expected.size(); ++i) EXPECT_EQ(this->Got(i), expected[i]) << i;
}

TYPED_TEST(ArithmeticTest, NumbersOf32Bits) {
  using Math = Arithmetic<TypeParam>;
  std::mt19937_64 random(3);
  Math math(this->batch_);
  std::vector<uint64_t> expected;
  for (unsigned i = 0; i < 60; ++i) {
    const uint64_t x = Interesting(random), y = Interesting(random), low = 0xffffffff;
    this->SetIn(2 * i, x);
    this->SetIn(2 * i + 1, y);
    const auto a = math.Load32(this->In(2 * i)), b = math.Load32(this->In(2 * i + 1));
    const unsigned bits = static_cast<unsigned>(random() % 40);
    const uint32_t factor = static_cast<uint32_t>(Interesting(random));
    ASSERT_TRUE(math.Store64(this->Out(4 * i), a >> bits));
    ASSERT_TRUE(math.Store64(this->Out(4 * i + 1), a * math.Constant(factor) + b));
    ASSERT_TRUE(math.Store32(this->Out(4 * i + 2), a - b));
    ASSERT_TRUE(math.Store64(this->Out(4 * i + 3), i % 10 == 0 ? a * b : (a + b) >> 1));
    expected.push_back((x & low) >> bits);
    expected.push_back((x & low) * factor + (y & low));
    expected.push_back(((x & low) - (y & low)) & low);
    expected.push_back(i % 10 == 0 ? (x & low) * (y & low) : ((x & low) + (y & low)) >> 1);
  }
  this->Run();
  for (unsigned i = 0; i < expected.size(); ++i) EXPECT_EQ(this->Got(i), expected[i]) << i;
}

TYPED_TEST(ArithmeticTest, ShiftsByValues) {
  using Math = Arithmetic<TypeParam>;
  std::mt19937_64 random(4);
  Math math(this->batch_);
  std::vector<uint64_t> expected;
  for (unsigned i = 0; i < 8; ++i) {
    const uint64_t x = random(), y = random();
    this->SetIn(2 * i, x);
    this->SetIn(2 * i + 1, y);
    const auto a = math.Load64(this->In(2 * i)), b = math.Load64(this->In(2 * i + 1));
    ASSERT_TRUE(math.Store64(this->Out(3 * i), a << b));
    ASSERT_TRUE(math.Store64(this->Out(3 * i + 1), a >> b));
    ASSERT_TRUE(math.Store64(this->Out(3 * i + 2), math.Constant(x) >> b));
    expected.insert(expected.end(), {x << y % 64, x >> y % 64, x >> y % 64});
  }
  this->Run();
  for (unsigned i = 0; i < expected.size(); ++i) EXPECT_EQ(this->Got(i), expected[i]) << i;
}

TYPED_TEST(ArithmeticTest, RegistersAndCopies) {
  using Math = Arithmetic<TypeParam>;
  Math math(this->batch_);
  // MI_PREDICATE_SRC0 and MI_PREDICATE_SRC1, which any batch may write.
  constexpr uint32_t kRegister = 0x2400, kOther = 0x2408;
  this->SetIn(0, 0x1122334455667788);
  ASSERT_TRUE(math.StoreRegister64(kRegister, math.Load64(this->In(0))));
  ASSERT_TRUE(math.Store64(this->Out(0), math.LoadRegister64(kRegister) + math.Constant(1)));
  ASSERT_TRUE(math.Store64(this->Out(1), math.LoadRegister32(kRegister + 4)));
  ASSERT_TRUE(math.StoreRegister64(kOther, math.Constant(0x99aabbccddeeff00)));
  ASSERT_TRUE(math.StoreRegister32(kOther, math.Constant(5)));
  ASSERT_TRUE(math.Store64(this->Out(2), math.LoadRegister64(kOther)));
  ASSERT_TRUE(math.Copy32(this->Out(3), this->In(0)));
  ASSERT_TRUE(math.Store64(this->Out(4), math.Constant(0x0102030405060708)));
  ASSERT_TRUE(math.Store32(this->Out(5), math.Constant(0x0102030405060708)));
  this->Run();
  EXPECT_EQ(this->Got(0), 0x1122334455667789u);
  EXPECT_EQ(this->Got(1), 0x11223344u);
  EXPECT_EQ(this->Got(2), 0x99aabbcc00000005u);
  EXPECT_EQ(this->Got(3), 0x55667788u);
  EXPECT_EQ(this->Got(4), 0x0102030405060708u);
  EXPECT_EQ(this->Got(5), 0x05060708u);
  EXPECT_EQ(this->batch_.uses().Find(1)->flags, gpu::kReads);
  EXPECT_EQ(this->batch_.uses().Find(2)->flags, gpu::kWrites);
}

TYPED_TEST(ArithmeticTest, StoresThatDependOnAComparison) {
  using Math = Arithmetic<TypeParam>;
  Math math(this->batch_);
  this->SetIn(0, 7);
  this->SetIn(1, 9);
  const auto seven = math.Load64(this->In(0)), nine = math.Load64(this->In(1));
  unsigned i = 0;
  for (const auto& condition :
       {math.Less(seven, nine), math.Less(nine, seven), math.Equal(seven, nine),
        math.Less(math.Constant(1), math.Constant(2)),
        math.Less(math.Constant(2), math.Constant(1)),
        math.NonZero(seven) || math.Equal(seven, nine)}) {
    ASSERT_TRUE(math.StoreIf64(condition, this->Out(i++), seven));
    ASSERT_TRUE(math.StoreIf32(condition, this->Out(i++), math.Constant(3)));
  }
  this->Run();
  const uint64_t expected[] = {7, 3, 0, 0, 0, 0, 7, 3, 0, 0, 7, 3};
  for (i = 0; i < std::size(expected); ++i) EXPECT_EQ(this->Got(i), expected[i]) << i;
}

TYPED_TEST(ArithmeticTest, BranchesAreTakenOrNot) {
  using Math = Arithmetic<TypeParam>;
  Math math(this->batch_);
  this->SetIn(0, 5);
  const auto five = math.Load64(this->In(0));
  for (unsigned i = 0; i < 10; ++i) {
    ASSERT_TRUE(math.If(math.Less(five, math.Constant(i)), [&] {
      math.Store64(this->Out(i), math.Constant(100 + i));
      math.If(math.Equal(five + math.Constant(3), math.Constant(i)),
              [&] { math.Store64(this->Out(20 + i), five); });
    }));
  }
  ASSERT_TRUE(math.If(math.Equal(math.Constant(1), math.Constant(1)),
                      [&] { math.Store64(this->Out(40), five); }));
  ASSERT_TRUE(math.If(math.Equal(math.Constant(1), math.Constant(2)),
                      [&] { math.Store64(this->Out(41), five); }));
  this->Run();
  for (unsigned i = 0; i < 10; ++i) {
    EXPECT_EQ(this->Got(i), i > 5 ? 100 + i : 0) << i;
    EXPECT_EQ(this->Got(20 + i), i == 8 ? 5u : 0u) << i;
  }
  EXPECT_EQ(this->Got(40), 5u);
  EXPECT_EQ(this->Got(41), 0u);
}

TYPED_TEST(ArithmeticTest, LoopsTurnAsOftenAsMemorySays) {
  using Math = Arithmetic<TypeParam>;
  Math math(this->batch_);
  this->SetIn(0, 10);
  this->SetIn(1, 1000);
  auto step = math.Load64(this->In(1));
  auto left = math.NewVariable(math.Load64(this->In(0)));
  auto sum = math.NewVariable(math.Constant(0));
  auto product = math.NewVariable(math.Constant(1));
  ASSERT_TRUE(math.Repeat([&] {
    product.Set(product * math.Constant(3));
    // The program's last use of `step`: its register is still needed in the next iteration.
    sum.Set(sum + std::move(step) + left);
    auto inner = math.NewVariable(math.Constant(2));
    math.Repeat([&] {
      sum.Set(sum + math.Constant(1));
      inner.Set(inner - math.Constant(1));
      return math.NonZero(inner);
    });
    left.Set(left - math.Constant(1));
    return math.NonZero(left);
  }));
  ASSERT_TRUE(math.Store64(this->Out(0), sum));
  ASSERT_TRUE(math.Store64(this->Out(1), product));
  this->Run();
  EXPECT_EQ(this->Got(0), 10 * 1000 + 55 + 20u);
  EXPECT_EQ(this->Got(1), 59049u);
}

TYPED_TEST(ArithmeticTest, NeighbouringOperationsBecomeOneProgram) {
  using Math = Arithmetic<TypeParam>;
  using Noop = typename TypeParam::Noop;
  Math math(this->batch_);
  const auto a = math.Load64(this->In(0));
  const size_t before = this->batch_.dwords();
  auto sum = a + a;
  sum = sum + a;
  EXPECT_EQ(this->batch_.dwords(), before + 1 + 4 + 4);
  // Not across other packets, nor across a label.
  ASSERT_TRUE(this->batch_.Emit(Noop{}));
  sum = sum + a;
  EXPECT_EQ(this->batch_.dwords(), before + 9 + 1 + 5);
  this->batch_.Here();
  sum = sum + a;
  EXPECT_EQ(this->batch_.dwords(), before + 15 + 5);
  ASSERT_TRUE(math.Store64(this->Out(0), sum));
  this->SetIn(0, 11);
  this->Run();
  EXPECT_EQ(this->Got(0), 55u);
}

TYPED_TEST(ArithmeticTest, ResetForgetsTheProgram) {
  using Math = Arithmetic<TypeParam>;
  std::vector<uint32_t> words(256);
  class Same : public gpu::ChunkSource {
   public:
    explicit Same(std::vector<uint32_t>& words) : words_(words) {}
    absl::StatusOr<gpu::Chunk> NewChunk(size_t) override {
      return gpu::Chunk{0x100000, absl::MakeSpan(words_), 1};
    }

   private:
    std::vector<uint32_t>& words_;
  } source(words);
  Batch<TypeParam> batch(source);
  Math math(batch);
  const auto a = math.LoadRegister64(0x2358);
  (void)(a + a);
  const size_t dwords = batch.dwords();
  batch.Reset();
  // As many dwords of something else.
  ASSERT_TRUE(batch.EmitDwords(std::vector<uint32_t>(dwords)));
  (void)(a + a);
  EXPECT_EQ(batch.dwords(), dwords + 5);
}

TYPED_TEST(ArithmeticTest, RegistersRunOut) {
  using Math = Arithmetic<TypeParam>;
  using Value = typename Math::Value;
  Math math(this->batch_, {.registers = 0x01f0});
  EXPECT_EQ(math.free_registers(), 5u);
  std::vector<Value> values;
  for (unsigned i = 0; i < 5; ++i) values.push_back(math.Load64(this->In(i)));
  EXPECT_EQ(math.free_registers(), 0u);
  const Value none = math.Load64(this->In(5));
  EXPECT_FALSE(none.ok());
  EXPECT_EQ(this->batch_.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(this->batch_.TakeStatus().message()), HasSubstr("register"));
  // A result of invalid operands is invalid, and is not stored.
  EXPECT_FALSE((none + values[0]).ok());
  EXPECT_FALSE((none * values[0]).ok());
  EXPECT_FALSE((none << 3).ok());
  EXPECT_FALSE((values[0] >> none).ok());
  EXPECT_FALSE((~none).ok());
  EXPECT_FALSE(math.Less(none, values[0]).ok());
  EXPECT_FALSE(math.Store64(this->Out(0), none));
  EXPECT_FALSE(math.StoreIf64(math.NonZero(values[0]), this->Out(0), none));
  EXPECT_FALSE(math.SetPredicate(math.NonZero(none)));
  EXPECT_FALSE(math.If(math.NonZero(none), [] {}));
  EXPECT_FALSE(math.NewVariable(none).ok());
  EXPECT_FALSE(math.Select(math.NonZero(none), values[0], values[1]).ok());
  (void)this->batch_.TakeStatus();
  // The operand's own register is available.
  values[0] = std::move(values[0]) + values[1];
  EXPECT_TRUE(values[0].ok());
  values.clear();
  EXPECT_EQ(math.free_registers(), 5u);
  ASSERT_TRUE(math.Store64(this->Out(0), math.Load64(this->In(0)) * math.Load32(this->In(1))));
  this->SetIn(0, 6);
  this->SetIn(1, 7);
  this->Run();
  EXPECT_EQ(this->Got(0), 42u);
  // Only those that were allowed.
  for (uint32_t gpr = 0; gpr < 16; ++gpr) {
    if (gpr >= 4 && gpr < 9) continue;
    EXPECT_EQ(this->streamer_.Register(TypeParam::GeneralRegister::register_offset + 8 * gpr), 0u);
  }
}

TYPED_TEST(ArithmeticTest, OutOfMemoryAtEveryStep) {
  using Math = Arithmetic<TypeParam>;
  for (size_t most = 1; most < 30; ++most) {
    gpu::HostChunks chunks({.gpu = 0x400000, .chunk_dwords = 24, .most_chunks = most});
    Batch<TypeParam> batch(chunks);
    Math math(batch);
    const auto a = math.Load64(this->In(0)), b = math.Load32(this->In(1));
    auto variable = math.NewVariable(a);
    math.Repeat([&] {
      variable.Set((variable << 3) + a);
      return math.Less(variable, b);
    });
    math.StoreIf64(math.Equal(a, b), this->Out(0), variable);
    math.Store64(this->Out(1), a >> 5);
    (void)batch.TakeStatus();
    // What is there is whole, and runs to the end. Jumps to labels that are not bound do not.
    const absl::Status ended = batch.End();
    if (!ended.ok()) {
      EXPECT_THAT(std::string(ended.message()), HasSubstr("never bound"));
      continue;
    }
    const Decoded decoded =
        World().Put(chunks.chunks()).Decode(TypeParam::kName, batch.parts()[0].chunk.gpu);
    ASSERT_THAT(decoded.problems, IsEmpty());
  }
}

}  // namespace
}  // namespace packsmith::intel
