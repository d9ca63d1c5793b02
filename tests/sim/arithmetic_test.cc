// MI_MATH and MI_ATOMIC, against the same in C++.
#include "runtime/sim/arithmetic.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sim/world.h"

namespace packsmith::sim {
namespace {

using testing::IsEmpty;

constexpr uint32_t kA = 0x20, kB = 0x21, kAccu = 0x31, kZf = 0x32, kCf = 0x33;
constexpr uint64_t kBatch = 0x10000, kData = 0x20000;

uint64_t Interesting(std::mt19937_64& random) {
  switch (random() % 6) {
    case 0:
      return random() % 3;
    case 1:
      return ~uint64_t{0} - random() % 3;
    case 2:
      return uint64_t{1} << random() % 64;
    default:
      return random();
  }
}

TEST(Math, EachOperationWithItsFlagsIsThatOf64Bits) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 500; ++i) {
    const uint64_t a = Interesting(random), b = random() % 4 == 0 ? a : Interesting(random);
    World world("gfx9");
    std::vector<uint32_t> batch = Join({LoadImmediate(kGpr, static_cast<uint32_t>(a)),
                                        LoadImmediate(kGpr + 4, static_cast<uint32_t>(a >> 32)),
                                        LoadImmediate(kGpr + 8, static_cast<uint32_t>(b)),
                                        LoadImmediate(kGpr + 12, static_cast<uint32_t>(b >> 32))});
    for (const uint32_t opcode : {0x100u, 0x101u, 0x102u, 0x103u, 0x104u}) {
      const uint32_t to = 2 + 2 * (opcode - 0x100);
      batch = Join({batch, Math({AluWord(0x080, kA, 0), AluWord(0x080, kB, 1), AluWord(opcode),
                                 AluWord(0x180, to, kAccu), AluWord(0x180, to + 1, kCf)})});
    }
    batch = Join({batch,
                  // Inverted loads and stores, constants, the zero flag.
                  Math({AluWord(0x480, kA, 0), AluWord(0x081, kB), AluWord(0x100),
                        AluWord(0x580, 12, kAccu), AluWord(0x481, kA), AluWord(0x081, kB),
                        AluWord(0x102), AluWord(0x180, 13, kZf), AluWord(0x580, 14, kZf)}),
                  {kEnd}});
    world.Put(kBatch, batch);
    ASSERT_EQ(world.Run(kBatch), Stop::kEnded);
    const auto got = [&](uint32_t n) { return world.streamer().registers().Read64(kGpr + 8 * n); };
    const auto mask = [](bool bit) { return bit ? ~uint64_t{0} : 0; };
    EXPECT_EQ(got(2), a + b);
    EXPECT_EQ(got(3), mask(a + b < a));
    EXPECT_EQ(got(4), a - b);
    EXPECT_EQ(got(5), mask(a < b));
    EXPECT_EQ(got(6), a & b);
    EXPECT_EQ(got(7), 0u);
    EXPECT_EQ(got(8), a | b);
    EXPECT_EQ(got(10), a ^ b);
    EXPECT_EQ(got(12), a);
    EXPECT_EQ(got(13), ~uint64_t{0});
    EXPECT_EQ(got(14), 0u);
    EXPECT_THAT(world.problems(), IsEmpty());
  }
}

TEST(Math, ShiftsByPowersOfTwoFromGfx125) {
  Alu alu;
  alu.a = 0x8000000000000010;
  alu.b = 4;
  EXPECT_TRUE(alu.Compute(AluOpcode::kShiftLeft));
  EXPECT_EQ(alu.accumulator, 0x100u);
  EXPECT_TRUE(alu.Compute(AluOpcode::kShiftRight));
  EXPECT_EQ(alu.accumulator, 0x0800000000000001u);
  EXPECT_TRUE(alu.Compute(AluOpcode::kShiftRightSigned));
  EXPECT_EQ(alu.accumulator, 0xf800000000000001u);
  alu.b = 3;
  EXPECT_FALSE(alu.Compute(AluOpcode::kShiftLeft));
  alu.b = 64;
  EXPECT_FALSE(alu.Compute(AluOpcode::kShiftLeft));
}

TEST(Math, AnUnknownInstructionIsReportedAndTheNextIsExecuted) {
  World world("gfx9");
  world.Put(kBatch, Join({Math({AluWord(0x7ff), AluWord(0x481, kA), AluWord(0x081, kB),
                                AluWord(0x103), AluWord(0x180, 3, kAccu)}),
                          {kEnd}}));
  EXPECT_EQ(world.Run(kBatch), Stop::kEnded);
  EXPECT_EQ(world.problems().size(), 1u);
  EXPECT_EQ(world.streamer().registers().Read64(kGpr + 24), ~uint64_t{0});
}

// In 64 bits, where both widths fit.
uint64_t Model(uint32_t opcode, bool wide, uint64_t old, uint64_t one, uint64_t two) {
  const uint64_t mask = wide ? ~uint64_t{0} : 0xffffffff;
  old &= mask;
  one &= mask;
  two &= mask;
  const auto sign = [&](uint64_t v) {
    return wide ? static_cast<int64_t>(v) : int64_t{static_cast<int32_t>(v)};
  };
  switch (opcode) {
    case 0x01:
      return old & one;
    case 0x02:
      return old | one;
    case 0x03:
      return old ^ one;
    case 0x04:
      return one;
    case 0x05:
      return (old + 1) & mask;
    case 0x06:
    case 0x0f:
      return (old - 1) & mask;
    case 0x07:
      return (old + one) & mask;
    case 0x08:
      return (old - one) & mask;
    case 0x09:
      return (one - old) & mask;
    case 0x0a:
      return sign(old) > sign(one) ? old : one;
    case 0x0b:
      return sign(old) < sign(one) ? old : one;
    case 0x0c:
      return std::max(old, one);
    case 0x0d:
      return std::min(old, one);
    default:
      return old == one ? two : old;
  }
}

TEST(Atomic, EveryOperationOfBothWidthsWithInlineAndRegisterOperands) {
  std::mt19937_64 random(2);
  for (const char* generation : {"gfx8", "gfx9", "gfx125", "xe3"}) {
    for (uint32_t opcode = 1; opcode <= 0x0f; ++opcode) {
      for (const bool wide : {false, true}) {
        for (const bool in_packet : {false, true}) {
          const uint64_t old = Interesting(random),
                         one = random() % 3 == 0 ? old : Interesting(random),
                         two = Interesting(random);
          World world(generation);
          world.Put(kData,
                    {static_cast<uint32_t>(old), static_cast<uint32_t>(old >> 32), 0x5555, 0});
          const auto low = [](uint64_t v) { return static_cast<uint32_t>(v); };
          const auto high = [](uint64_t v) { return static_cast<uint32_t>(v >> 32); };
          const uint32_t head =
              0x17800000 | (opcode + (wide ? 0x20 : 0)) << 8 | (wide ? 1u << 19 : 0) | 1u << 16;
          std::vector<uint32_t> atomic = {head | 1, kData, 0};
          if (in_packet) {
            atomic = {head | 1u << 18 | 9, kData, 0, low(one), low(two), high(one),
                      high(two),           0,     0, 0,        0};
          }
          world.Put(kBatch, Join({LoadImmediate(kGpr, low(one)),
                                  LoadImmediate(kGpr + 4, high(one)),
                                  LoadImmediate(kGpr + 16, low(two)),
                                  LoadImmediate(kGpr + 20, high(two)),
                                  atomic,
                                  {kEnd}}));
          ASSERT_EQ(world.Run(kBatch), Stop::kEnded);
          const uint64_t expected = Model(opcode, wide, old, one, two);
          const uint64_t got = wide ? world.Read64(kData) : world.Read32(kData);
          EXPECT_EQ(got, expected) << generation << " " << opcode << " " << wide << in_packet;
          EXPECT_EQ(world.Read32(kData + 8), 0x5555u);
          const uint64_t returned = world.streamer().registers().Read64(kGpr + 32);
          const uint64_t mask = wide ? ~uint64_t{0} : 0xffffffff;
          EXPECT_EQ(returned & mask, opcode == 0x0f ? expected : old & mask);
          EXPECT_THAT(world.problems(), IsEmpty());
        }
      }
    }
  }
}

TEST(Atomic, ComparesAndWritesSixteenBytes) {
  const absl::uint128 old = absl::MakeUint128(1, 2), two = absl::MakeUint128(3, 4);
  EXPECT_EQ(ComputeAtomic(AtomicOpcode::kCompareWrite, 16, old, old, two), two);
  EXPECT_EQ(ComputeAtomic(AtomicOpcode::kCompareWrite, 16, old, two, two), old);
}

TEST(Comparison, IsUnsigned) {
  EXPECT_TRUE(Holds(Comparison::kGreater, 0x80000000, 1));
  EXPECT_FALSE(Holds(Comparison::kGreater, 1, 1));
  EXPECT_TRUE(Holds(Comparison::kGreaterOrEqual, 1, 1));
  EXPECT_TRUE(Holds(Comparison::kLess, 0, 1));
  EXPECT_TRUE(Holds(Comparison::kLessOrEqual, 1, 1));
  EXPECT_TRUE(Holds(Comparison::kEqual, 5, 5));
  EXPECT_TRUE(Holds(Comparison::kNotEqual, 5, 6));
}

}  // namespace
}  // namespace packsmith::sim
