#include "runtime/intel/state/slice_hashing.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/command/chunks.h"
#include "runtime/dump/read.h"
#include "tests/intel/batch/built.h"
#include "tests/intel/batch/tested.h"

namespace packsmith::intel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

PixelPipes Pipes(std::initializer_list<uint8_t> subslices) {
  PixelPipes pipes;
  std::copy(subslices.begin(), subslices.end(), pipes.subslices.begin());
  return pipes;
}

TEST(PixelPipesTest, AreOfConsecutiveSubslices) {
  EXPECT_EQ(PixelPipesOf({0b10111111}, FactsOf(110)), Pipes({4, 3}));
  EXPECT_EQ(PixelPipesOf({0b110111}, FactsOf(120)), Pipes({2, 1, 2}));
  EXPECT_EQ(PixelPipesOf({0b1111, 0, 0b0101}, FactsOf(125)), Pipes({2, 2, 0, 0, 1, 1}));
  EXPECT_EQ(PixelPipesOf({}, FactsOf(125)), PixelPipes());
  // Of slices whose last pipes are all fused off, the others keep their numbers.
  EXPECT_EQ(PixelPipesOf({0b0011, 0b0011}, FactsOf(125), 4), Pipes({2, 0, 2, 0}));
  EXPECT_EQ(PixelPipesOf({0b0011, 0b0011}, FactsOf(125)), Pipes({2, 2}));
}

TEST(SpreadPixelsTest, EachPipeHasItsShareAndNeighboursDiffer) {
  std::mt19937 random(1);
  for (unsigned round = 0; round < 500; ++round) {
    PixelPipes pipes;
    const unsigned count = 1 + random() % 8;
    unsigned weight = 0, most = 0;
    for (unsigned pipe = 0; pipe < count; ++pipe) {
      pipes.subslices[pipe] = static_cast<uint8_t>(random() % 3);
      weight += pipes.subslices[pipe];
      most = std::max<unsigned>(most, pipes.subslices[pipe]);
    }
    if (weight == 0) continue;
    const PixelTable table = SpreadPixels(pipes);
    for (unsigned y = 0; y < 16; ++y) {
      std::map<unsigned, double> seen;
      for (unsigned x = 0; x < 16; ++x) ++seen[table[y][x]];
      for (unsigned pipe = 0; pipe < kMostPixelPipes; ++pipe) {
        // A row is at most two blocks off.
        ASSERT_NEAR(seen[pipe], 16.0 * pipes.subslices[pipe] / weight, 2.0)
            << round << ", row " << y << ", pipe " << pipe;
        if (pipes.subslices[pipe] == 0) {
          ASSERT_EQ(seen[pipe], 0);
        }
      }
      for (unsigned x = 1; x < 16 && 2 * most < weight; ++x) {
        ASSERT_NE(table[y][x], table[y][x - 1]) << round;
      }
    }
  }
}

// Mesa's table of a DG2 with all pipes equal.
TEST(SpreadPixelsTest, IsTheDriversTableForEqualPipes) {
  const auto dump = ReadDump("tests/data/captures/dg2-gl-basic/00.core.zst");
  ASSERT_TRUE(dump.ok()) << dump.status();
  constexpr uint64_t kTable = 0x27fe00000;
  const auto bytes = dump->memory.Read(dump->submissions.at(0).space, kTable, 16 * 16 / 2);
  ASSERT_EQ(bytes.size(), 16u * 16 / 2);
  PixelTable theirs;
  std::array<unsigned, kMostPixelPipes> blocks = {};
  for (unsigned i = 0; i < 256; ++i) {
    const uint8_t pipe = bytes[i / 2] >> 4 * (i % 2) & 15;
    theirs[i / 16][i % 16] = pipe;
    ++blocks[pipe];
  }
  PixelPipes pipes;
  unsigned most = 0;
  for (const unsigned count : blocks) most = std::max(most, count);
  for (unsigned pipe = 0; pipe < kMostPixelPipes; ++pipe) {
    if (blocks[pipe] == 0) continue;
    ASSERT_EQ(blocks[pipe], most) << "the capture's pipes are equal";
    pipes.subslices[pipe] = 2;
  }
  EXPECT_EQ(SpreadPixels(pipes), theirs);
}

TEST(ThreePipesTest, FusingsHaveTheirFractions) {
  const auto shares = [](const PixelPipes& pipes) {
    const auto logical = ThreePipes(pipes);
    EXPECT_TRUE(logical.ok()) << logical.status();
    std::array<unsigned, 3> seen = {};
    if (!logical->needed) return seen;
    for (unsigned x = 0; x < logical->period; ++x) ++seen[logical->PipeOf(x, 0)];
    return seen;
  };
  EXPECT_THAT(shares(Pipes({2, 2, 2})), ElementsAre(0, 0, 0));
  EXPECT_THAT(shares(Pipes({0, 2, 0})), ElementsAre(0, 0, 0));
  EXPECT_THAT(shares(Pipes({2, 0, 2})), ElementsAre(1, 1, 0));
  EXPECT_THAT(shares(Pipes({1, 2, 0})), ElementsAre(2, 1, 0));
  EXPECT_THAT(shares(Pipes({2, 1, 2})), ElementsAre(2, 2, 1));
  EXPECT_THAT(ThreePipes(Pipes({1, 1, 1})).status().message(), HasSubstr("1, 1, 1 dual subslices"));
  EXPECT_THAT(ThreePipes(Pipes({2, 2, 2, 1})).status().message(), HasSubstr("pixel pipe 3"));
  EXPECT_THAT(ThreePipes({}).status().message(), HasSubstr("no pixel pipe"));
}

template <class Gen>
class SliceHashingTest : public testing::Test {
 protected:
  static std::vector<Met> PacketsFor(const PixelPipes& pipes) {
    const auto plan = PlanSliceHashing<Gen>(pipes);
    EXPECT_TRUE(plan.ok()) << plan.status();
    gpu::HostChunks chunks;
    Batch<Gen> batch(chunks);
    EXPECT_TRUE(EmitSliceHashing(batch, *plan, 0x40)) << batch.status();
    EXPECT_TRUE(batch.End().ok());
    World world;
    auto packets =
        world.Put(chunks.chunks()).Decode(Gen::kName, batch.parts()[0].chunk.gpu).packets;
    packets.pop_back();  // the end
    return packets;
  }
  static std::vector<std::string> NamesFor(const PixelPipes& pipes) {
    std::vector<std::string> names;
    for (const Met& met : PacketsFor(pipes)) names.push_back(met.name);
    return names;
  }
};
TYPED_TEST_SUITE(SliceHashingTest, Generations);

TYPED_TEST(SliceHashingTest, UnequalPipesGetATable) {
  const std::vector<std::string> names = this->NamesFor(Pipes({2, 1}));
  switch (TypeParam::kFacts.pixel_hashing) {
    case PixelHashing::kNone:
      EXPECT_THAT(names, IsEmpty());
      break;
    case PixelHashing::kTwoPipes:
    case PixelHashing::kAnyPipes:
      EXPECT_THAT(names, ElementsAre("3DSTATE_SLICE_TABLE_STATE_POINTERS", "3DSTATE_3D_MODE"));
      break;
    case PixelHashing::kThreePipes:
      EXPECT_THAT(names, ElementsAre("3DSTATE_SUBSLICE_HASH_TABLE", "3DSTATE_3D_MODE"));
      break;
  }
}

TYPED_TEST(SliceHashingTest, EqualPipesNeedOneOnlyIfAnyNumberIsPossible) {
  const bool needs = TypeParam::kFacts.pixel_hashing == PixelHashing::kAnyPipes;
  // Of two pipes one alone has all pixels, too.
  EXPECT_EQ(this->NamesFor(Pipes({2})).empty(), !needs);
  if (TypeParam::kFacts.pixel_hashing == PixelHashing::kTwoPipes) {
    EXPECT_THAT(this->NamesFor(Pipes({4, 4})), IsEmpty());
  }
}

TYPED_TEST(SliceHashingTest, TheLargerOfTwoPipesHasTwoThirds) {
  if constexpr (TypeParam::kFacts.pixel_hashing == PixelHashing::kTwoPipes) {
    for (const bool first : {false, true}) {
      const auto plan = PlanSliceHashing<TypeParam>(first ? Pipes({4, 3}) : Pipes({3, 4}));
      ASSERT_TRUE(plan.ok());
      const auto table = TypeParam::Packets::SLICE_HASH_TABLE::unpack(plan->table.data());
      unsigned larger = 0;
      for (unsigned y = 0; y < 15; ++y) {
        for (unsigned x = 0; x < 15; ++x) larger += table.entry[y][x] == (first ? 0u : 1u);
      }
      EXPECT_EQ(larger, 150u);
    }
  }
}

TYPED_TEST(SliceHashingTest, ThePointerIsThatOfTheTableAndTheModeUsesIt) {
  using G = typename TypeParam::Packets;
  constexpr PixelHashing kHashing = TypeParam::kFacts.pixel_hashing;
  if constexpr (kHashing == PixelHashing::kTwoPipes || kHashing == PixelHashing::kAnyPipes) {
    const PixelPipes other = kHashing == PixelHashing::kTwoPipes ? Pipes({1, 2}) : Pipes({0, 2});
    for (const PixelPipes& pipes : {Pipes({2, 1}), other}) {
      const std::vector<Met> packets = this->PacketsFor(pipes);
      ASSERT_EQ(packets.size(), 2u);
      using Pointers = typename G::_3DSTATE_SLICE_TABLE_STATE_POINTERS;
      const auto pointers = Pointers::unpack(packets[0].dwords.data());
      EXPECT_TRUE(pointers.slice_hash_state_pointer_valid);
      EXPECT_EQ(pointers.slice_hash_table_state_pointer, 0x40u);
      using Mode = typename G::_3DSTATE_3D_MODE;
      const auto mode = Mode::unpack(packets[1].dwords.data());
      EXPECT_TRUE(mode.slice_hashing_table_enable);
      if constexpr (requires { mode.cross_slice_hashing_mode_mask; }) {
        EXPECT_TRUE(mode.slice_hashing_table_enable_mask);
        EXPECT_EQ(mode.cross_slice_hashing_mode_mask, 3u);
      }
      if constexpr (kHashing == PixelHashing::kAnyPipes) {
        // Across pipes only where there are several.
        EXPECT_EQ(mode.cross_slice_hashing_mode, pipes.present() > 1
                                                     ? Mode::CROSS_SLICE_HASHING_MODE_HASHING_32X32
                                                     : Mode::CROSS_SLICE_HASHING_MODE_NORMAL_MODE);
      }
    }
  }
}

TYPED_TEST(SliceHashingTest, AllTablesOfAnyPipesAreEqual) {
  if constexpr (TypeParam::kFacts.pixel_hashing == PixelHashing::kAnyPipes) {
    const PixelPipes pipes = Pipes({2, 1, 0, 2});
    const auto plan = PlanSliceHashing<TypeParam>(pipes);
    ASSERT_TRUE(plan.ok());
    const PixelTable expected = SpreadPixels(pipes);
    const auto table = TypeParam::Packets::SLICE_HASH_TABLE::unpack(plan->table.data());
    size_t tables = 0;
    for (const auto& of_count : table.entry) {
      ++tables;
      for (unsigned y = 0; y < 16; ++y) {
        for (unsigned x = 0; x < 16; ++x) {
          ASSERT_EQ(of_count[y][x], expected[y][x]) << tables << ": " << x << ", " << y;
        }
      }
    }
    EXPECT_EQ(tables, 7u);
  }
}

TYPED_TEST(SliceHashingTest, ThreePipesHaveTheirBlocksInThePacket) {
  if constexpr (TypeParam::kFacts.pixel_hashing == PixelHashing::kThreePipes) {
    using Table = typename TypeParam::Packets::_3DSTATE_SUBSLICE_HASH_TABLE;
    using Mode = typename TypeParam::Packets::_3DSTATE_3D_MODE;
    // Blocks of the three logical pipes: two of three, the half, and two of five.
    const struct {
      PixelPipes pipes;
      std::vector<unsigned> row;  // the first period of the first row
      bool two_way;
    } kCases[] = {{Pipes({2, 1}), {0, 1, 0}, true},
                  {Pipes({2, 0, 2}), {0, 1}, true},
                  {Pipes({2, 1, 2}), {0, 1, 0, 1, 2}, false}};
    for (const auto& c : kCases) {
      const std::vector<Met> packets = this->PacketsFor(c.pipes);
      ASSERT_EQ(packets.size(), 2u);
      const Table table = Table::unpack(packets[0].dwords.data());
      EXPECT_EQ(table.slice_hash_control[0], Table::SLICE_HASH_CONTROL_TABLE_0);
      EXPECT_EQ(table.slice_table_mode, Table::SLICE_TABLE_MODE_SINGLE_TABLE);
      for (unsigned y = 0; y < 8; ++y) {
        for (unsigned x = 0; x < 16; ++x) {
          const unsigned pipe = c.row[(x + y) % c.row.size()];
          ASSERT_EQ(table.three_way_table_entry[y][x], pipe) << x << ", " << y;
          ASSERT_EQ(table.two_way_table_entry[y][x], c.two_way ? pipe : 0) << x << ", " << y;
        }
      }
      const Mode mode = Mode::unpack(packets[1].dwords.data());
      EXPECT_TRUE(mode.subslice_hashing_table_enable);
      EXPECT_TRUE(mode.subslice_hashing_table_enable_mask);
    }
  }
}

}  // namespace
}  // namespace packsmith::intel
