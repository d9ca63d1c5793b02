// What each pair of writer and reader needs, generation by generation, from the manuals and the
// drivers that follow them: with all of it nothing is reported, without one of it that is named.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/generations/generations.h"
#include "tests/sim/visibility/packets.h"
#include "tests/sim/world.h"

namespace packsmith::sim {
namespace {

using tables::ClientKind;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr absl::string_view kRt = "Render Target Cache Flush Enable",
                            kZf = "Depth Cache Flush Enable", kDc = "DC Flush Enable",
                            kHdc = "HDC Pipeline Flush Enable",
                            kUdp = "Untyped Data Port Cache Flush Enable",
                            kTcf = "Tile Cache Flush Enable", kDepthStall = "Depth Stall Enable",
                            kStall = "Command Streamer Stall Enable",
                            kWrite = "Post Sync Operation", kVfi = "VF Cache Invalidation Enable",
                            kTi = "Texture Cache Invalidation Enable",
                            kCi = "Constant Cache Invalidation Enable",
                            kIi = "Instruction Cache Invalidate Enable",
                            kL3r = "L3 Read Only Cache Invalidation Enable";

using Fields = std::vector<absl::string_view>;

struct Cell {
  ClientKind writer, reader;
  Fields flush, invalidate;
};

// Fields of generations 6 to 9 and 11 (before 12), of 12.0, of 12.5, and of Xe2 and Xe3.
enum class Era { k6, k7, kBefore12, k12, k125, kXe2 };

Era EraOf(absl::string_view generation) {
  if (generation == "gfx6") return Era::k6;
  if (generation == "gfx7") return Era::k7;
  if (generation == "gfx12") return Era::k12;
  if (generation == "gfx125") return Era::k125;
  if (generation == "xe2" || generation == "xe3") return Era::kXe2;
  return Era::kBefore12;
}

Fields operator+(Fields a, const Fields& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<Cell> CellsOf(absl::string_view generation) {
  using C = ClientKind;
  const Era era = EraOf(generation);
  const bool l3_readers = era >= Era::k12;
  const Fields depth = era == Era::k12 ? Fields{kZf, kDepthStall} : Fields{kZf};
  const Fields tiles = era == Era::k12 || era == Era::k125 ? Fields{kTcf} : Fields{};
  const Fields data = era == Era::k6    ? Fields{kRt}
                      : era == Era::k12 ? Fields{kHdc}
                      : era > Era::k12  ? Fields{kHdc, kUdp}
                                        : Fields{kDc};
  const Fields data_to_memory = l3_readers ? data + Fields{kDc} : data;
  const Fields vertices = l3_readers ? Fields{kVfi, kL3r} : Fields{kVfi};
  // Memory below the third level: what it has read before is old.
  const Fields from_memory = era == Era::k6 ? Fields{}
                             : l3_readers   ? Fields{kL3r, kCi}
                                            : Fields{kCi};
  // Constants are read through the sampler, or through the data port, whose flush is as good.
  const Fields constants = l3_readers       ? Fields{kCi}
                           : era == Era::k6 ? Fields{kCi, kTi}
                                            : Fields{kCi};

  std::vector<Cell> cells = {
      // 2.1 Render target or depth.
      {C::kDepth, C::kSampler, depth, {kTi}},
      {C::kRenderTarget, C::kSampler, {kRt}, {kTi}},
      {C::kRenderTarget, C::kConstants, {kRt}, {kCi, kTi}},
      {C::kRenderTarget, C::kVertexFetch, Fields{kRt} + (l3_readers ? Fields{} : tiles), vertices},
      {C::kRenderTarget, C::kStreamer, Fields{kRt} + tiles, {}},
      {C::kRenderTarget, C::kOther, Fields{kRt} + tiles, {}},
      {C::kDepth, C::kOther, depth + tiles, {}},
      // 2.2 Shaders' writes.
      {C::kDataPort, C::kSampler, data, {kTi}},
      {C::kDataPort, C::kVertexFetch, data, vertices},
      {C::kDataPort, C::kConstants, data, constants},
      {C::kDataPort, C::kInstructions, data, {kIi}},
      {C::kDataPort, C::kRenderTarget, era == Era::k6 ? data : data + Fields{kRt}, {}},
      {C::kDataPort, C::kDepth, data + Fields{kZf}, {}},
      {C::kDataPort, C::kStreamer, data_to_memory, {}},
      {C::kDataPort, C::kOther, data_to_memory, {}},
      // 2.3 What goes to memory.
      {C::kPostSync, C::kStreamer, {}, {}},
      {C::kPostSync, C::kVertexFetch, {}, vertices},
      {C::kPostSync, C::kSampler, {}, Fields{kTi} + from_memory},
      {C::kPostSync, C::kInstructions, {}, {kIi}},
      {C::kPostSync, C::kCommands, {}, {}},
      {C::kStreamOutput, C::kStreamer, {}, {}},
      {C::kStreamOutput, C::kVertexFetch, {}, vertices},
      {C::kStreamOutput, C::kSampler, {}, Fields{kTi} + from_memory},
      {C::kStreamOutput, C::kRenderTarget, {kRt}, {}},
  };
  // Typed writes of Gfx7 go through the render cache, so that either flush may do.
  if (era == Era::k7) {
    std::erase_if(cells, [](const Cell& c) { return c.writer == C::kDataPort; });
  }
  if (l3_readers) {
    cells.push_back({C::kRenderTarget, C::kDataPort, Fields{kRt} + data, {}});
    cells.push_back({C::kStreamOutput, C::kDataPort, data, {kL3r}});
  }
  return cells;
}

class CellsTest : public testing::TestWithParam<absl::string_view> {
 protected:
  // Draws; the first writes and the last reads.
  class Drawing : public World {
   public:
    Drawing(absl::string_view generation, const Cell& cell) : World(generation), cell_(cell) {}
    void OnShaders(const Work& work, WorkMemory& memory) override {
      uint8_t bytes[8] = {};
      if (work.number == 0) memory.Write(cell_.writer, 0, kAt, bytes);
      if (work.number == 1) memory.Read(cell_.reader, 0, kAt, absl::MakeSpan(bytes));
    }
    static constexpr uint64_t kAt = 0x8000;

   private:
    const Cell cell_;
  };

  const tables::Tables tables_ = *FindGeneration(GetParam());

  std::vector<uint32_t> PipeControl(const Fields& fields) const {
    std::vector<FieldValue> values;
    for (const absl::string_view field : fields) values.emplace_back(field, 1);
    if (std::find(fields.begin(), fields.end(), kWrite) != fields.end()) {
      values.emplace_back("Address", 0x9000);
    }
    return Packet(tables_, "PIPE_CONTROL", values);
  }

  // The texts of early reads of a batch with these packets between the draws.
  std::vector<std::string> Early(const Cell& cell, const std::vector<Fields>& packets) const {
    Drawing world(GetParam(), cell);
    world.Put(Drawing::kAt, {1, 2});
    world.Put(0x9000, {0, 0});
    std::vector<uint32_t> batch = Packet(tables_, "3DPRIMITIVE", {});
    const auto add = [&](const std::vector<uint32_t>& words) {
      batch.insert(batch.end(), words.begin(), words.end());
    };
    for (const Fields& fields : packets) {
      if (!fields.empty()) add(PipeControl(fields));
    }
    add(Packet(tables_, "3DPRIMITIVE", {}));
    batch.push_back(kEnd);
    world.Put(0x1000, batch);
    EXPECT_EQ(world.Run(0x1000), Stop::kEnded);
    std::vector<std::string> texts;
    for (const Problem& problem : world.problems()) {
      if (problem.kind == ProblemKind::kEarly) texts.push_back(problem.text);
    }
    return texts;
  }

  static std::string TextOf(const Cell& cell) {
    return absl::StrCat(NameOf(cell.writer), " to ", NameOf(cell.reader));
  }
};

TEST_P(CellsTest, WithAllThatIsNeededNothingIsReported) {
  for (const Cell& cell : CellsOf(GetParam())) {
    EXPECT_THAT(Early(cell, {cell.flush + Fields{kStall, kWrite}, cell.invalidate}), IsEmpty())
        << TextOf(cell);
    // A stall may come later, in a packet of its own.
    EXPECT_THAT(Early(cell, {cell.flush, {kStall, kWrite}, cell.invalidate}), IsEmpty())
        << TextOf(cell);
  }
}

TEST_P(CellsTest, WithoutOneThatIsNamed) {
  for (const Cell& cell : CellsOf(GetParam())) {
    const auto expect_named = [&](absl::string_view missing, const Fields& flush,
                                  const Fields& invalidate) {
      const std::vector<std::string> texts = Early(cell, {flush, invalidate});
      ASSERT_THAT(texts, SizeIs(1)) << TextOf(cell) << " without " << missing;
      EXPECT_THAT(texts[0], HasSubstr(missing)) << TextOf(cell);
      EXPECT_THAT(texts[0], HasSubstr("0x8000"));
      EXPECT_THAT(texts[0], HasSubstr("3DPRIMITIVE at 0x1000"));
      EXPECT_THAT(texts[0], HasSubstr("PIPE_CONTROL is needed"));
    };
    const Fields flush = cell.flush + Fields{kStall, kWrite};
    const auto without = [](Fields fields, absl::string_view one) {
      fields.erase(std::find(fields.begin(), fields.end(), one));
      return fields;
    };
    for (const absl::string_view one : cell.flush) {
      expect_named(one, without(flush, one), cell.invalidate);
    }
    expect_named(kStall, without(flush, kStall), cell.invalidate);
    for (const absl::string_view one : cell.invalidate) {
      expect_named(one, flush, without(cell.invalidate, one));
    }
    // An invalidation of the reader's cache needs the end of the pipe: a write after the flush. The
    // data port's is invalidated by a flush.
    if (!cell.invalidate.empty() && !cell.flush.empty() && cell.reader != ClientKind::kDataPort) {
      expect_named(kWrite, without(flush, kWrite), cell.invalidate);
    }
  }
}

TEST_P(CellsTest, FlushAndInvalidationInOnePacketAreARace) {
  for (const Cell& cell : CellsOf(GetParam())) {
    if (cell.invalidate.empty()) continue;
    const Fields all = cell.flush + Fields{kStall, kWrite} + cell.invalidate;
    const std::vector<std::string> texts = Early(cell, {all});
    ASSERT_THAT(texts, SizeIs(1)) << TextOf(cell);
    EXPECT_THAT(texts[0], HasSubstr("in a packet after the one that writes back"));
    for (const absl::string_view one : cell.invalidate) EXPECT_THAT(texts[0], HasSubstr(one));
    // The wrong order.
    EXPECT_THAT(Early(cell, {cell.invalidate, cell.flush + Fields{kStall, kWrite}}), SizeIs(1))
        << TextOf(cell);
    EXPECT_THAT(Early(cell, {all, cell.invalidate}), IsEmpty()) << TextOf(cell);
  }
}

TEST_P(CellsTest, AUnitSeesWhatItWroteItself) {
  for (const ClientKind client : {ClientKind::kRenderTarget, ClientKind::kDepth}) {
    EXPECT_THAT(Early({client, client, {}, {}}, {}), IsEmpty());
  }
  // Shaders of a later draw need a flush or a stall at least.
  EXPECT_THAT(Early({ClientKind::kDataPort, ClientKind::kDataPort, {}, {}}, {}), SizeIs(1));
}

TEST_P(CellsTest, WritingWhatWasReadNeedsNothing) {
  class ReadsThenWrites : public World {
   public:
    using World::World;
    void OnShaders(const Work& work, WorkMemory& memory) override {
      uint8_t bytes[8] = {};
      if (work.number == 0) memory.Read(ClientKind::kSampler, 0, 0x8000, absl::MakeSpan(bytes));
      if (work.number == 1) memory.Write(ClientKind::kRenderTarget, 0, 0x8000, bytes);
    }
  };
  ReadsThenWrites world(GetParam());
  world.Put(0x8000, {1, 2});
  const std::vector<uint32_t> draw = Packet(tables_, "3DPRIMITIVE", {});
  world.Put(0x1000, Join({draw, draw, {kEnd}}));
  EXPECT_EQ(world.Run(0x1000), Stop::kEnded);
  EXPECT_THAT(world.problems(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Generations, CellsTest,
                         testing::Values("gfx6", "gfx7", "gfx75", "gfx8", "gfx9", "gfx11", "gfx12",
                                         "gfx125", "xe2", "xe3"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace packsmith::sim
