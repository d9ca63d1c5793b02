// The counters of draws: MI_STORE_REGISTER_MEM after draws of known sizes.
#include "runtime/sim/statistics.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/dump/read.h"
#include "runtime/generations/generations.h"
#include "runtime/sim/overlay_memory.h"
#include "runtime/sim/streamer.h"
#include "runtime/sim/work.h"
#include "tests/sim/world.h"

namespace packsmith::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// From the manual's tables of Gfx9.
constexpr uint32_t kVertices = 0x2310, kPrimitives = 0x2318, kVertexShaders = 0x2320,
                   kPixelShaders = 0x2348, kDepthCount = 0x2350;
constexpr uint32_t kIndices = 0x8000, kOut = 0x4000;

std::vector<uint32_t> CountVertices(bool on) { return {0x680b0000 | (on ? 1u : 0u)}; }
std::vector<uint32_t> CountShaders(bool on) {
  return {0x78100007, 0, 0, 0, 0, 0, 0, on ? 1u << 10 : 0u, 0};
}
std::vector<uint32_t> Topology(uint32_t topology) { return {0x784b0000, topology}; }
std::vector<uint32_t> Draw(uint32_t count, uint32_t instances = 1, bool indexed = false,
                           uint32_t first = 0) {
  return {0x7b000005, indexed ? 0x100u : 0u, count, first, instances, 0, 0};
}
// The indices at kIndices, of 32 bits, and whether all ones end a strip.
std::vector<uint32_t> Indices(uint32_t count, bool cut) {
  return {0x780a0003, 2 << 8, kIndices, 0, 4 * count, 0x780c0000u | (cut ? 0x100u : 0u),
          0xffffffff};
}
std::vector<uint32_t> Store(uint32_t offset, uint32_t to) {
  return Join({StoreRegister(to, offset), StoreRegister(to + 4, offset + 4)});
}

class Counted : public testing::Test {
 protected:
  // What the counters of vertices, primitives and vertex shaders hold afterwards.
  std::vector<uint64_t> Run(std::vector<uint32_t> batch, std::vector<uint32_t> indices = {0}) {
    batch = Join({batch,
                  Store(kVertices, kOut),
                  Store(kPrimitives, kOut + 8),
                  Store(kVertexShaders, kOut + 16),
                  {kEnd}});
    world_.Put(0x1000, std::move(batch));
    world_.Put(kOut, std::vector<uint32_t>(64));
    world_.Put(kIndices, std::move(indices));
    EXPECT_EQ(world_.Run(0x1000), Stop::kEnded);
    return {world_.Read64(kOut), world_.Read64(kOut + 8), world_.Read64(kOut + 16)};
  }
  std::vector<std::string> Problems() const {
    std::vector<std::string> all;
    for (const Problem& problem : world_.problems()) {
      EXPECT_EQ(problem.kind, ProblemKind::kApproximate);
      all.push_back(problem.text);
    }
    return all;
  }

  World world_{"gfx9"};
};

struct OfTopology {
  const char* name;
  uint32_t number, vertices, primitives;
};
class Topologies : public Counted, public testing::WithParamInterface<OfTopology> {};

TEST_P(Topologies, CountWhatTheyMakeOfTheirVertices) {
  const OfTopology& topology = GetParam();
  EXPECT_THAT(Run(Join({CountVertices(true), CountShaders(true), Topology(topology.number),
                        Draw(topology.vertices)})),
              ElementsAre(topology.vertices, topology.primitives, topology.vertices));
  EXPECT_THAT(Problems(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    All, Topologies,
    testing::Values(OfTopology{"Points", 1, 5, 5}, OfTopology{"Lines", 2, 5, 2},
                    OfTopology{"LineStrip", 3, 5, 4}, OfTopology{"Triangles", 4, 7, 2},
                    OfTopology{"TriangleStrip", 5, 5, 3}, OfTopology{"TriangleFan", 6, 5, 3},
                    OfTopology{"Quads", 7, 9, 2}, OfTopology{"LinesAdjacent", 9, 9, 2},
                    OfTopology{"LineStripAdjacent", 10, 6, 3},
                    OfTopology{"TrianglesAdjacent", 11, 13, 2},
                    OfTopology{"TriangleStripAdjacent", 12, 8, 2}, OfTopology{"LineLoop", 16, 4, 4},
                    OfTopology{"Patches", 0x22, 7, 2}, OfTopology{"Rectangles", 15, 6, 2}),
    [](const auto& info) { return info.param.name; });

TEST_F(Counted, InstancesAndDrawsAddUp) {
  EXPECT_THAT(Run(Join({CountVertices(true), CountShaders(true), Topology(4), Draw(6, 3), Draw(3),
                        Topology(1), Draw(5, 2)})),
              ElementsAre(18 + 3 + 10, 6 + 1 + 10, 18 + 3 + 10));
}

TEST_F(Counted, OnlyWhileItIsEnabled) {
  EXPECT_THAT(Run(Join({Topology(4), Draw(3), CountVertices(true), Draw(6), CountShaders(true),
                        Draw(9), CountVertices(false), Draw(12), CountShaders(false), Draw(15)})),
              ElementsAre(6 + 9, 2 + 3, 9 + 12));
  EXPECT_THAT(Problems(), IsEmpty());
}

TEST_F(Counted, RestartsAreNoVerticesAndEndStrips) {
  const std::vector<uint32_t> indices = {0, 1, 2, 0xffffffff, 1, 2, 3, 4};
  EXPECT_THAT(
      Run(Join({CountVertices(true), Topology(5), Indices(8, true), Draw(8, 2, true)}), indices),
      ElementsAre(14, 6, 0));
  EXPECT_THAT(Problems(), IsEmpty());
}

TEST_F(Counted, WithoutACutAllIndicesAreVertices) {
  const std::vector<uint32_t> indices = {0, 1, 2, 0xffffffff, 1, 2, 3, 4};
  EXPECT_THAT(
      Run(Join({CountVertices(true), Topology(5), Indices(8, false), Draw(8, 1, true)}), indices),
      ElementsAre(8, 6, 0));
}

TEST_F(Counted, IndicesAreThoseOfTheMomentOfTheDraw) {
  const std::vector<uint32_t> draw = Draw(4, 1, true, 1);
  EXPECT_THAT(Run(Join({CountVertices(true), Topology(1), Indices(8, true), draw,
                        StoreDword(kIndices + 8, 0xffffffff), draw,
                        StoreDword(kIndices + 12, 0xffffffff), draw}),
                  {9, 9, 9, 9, 9, 9, 9, 9}),
              ElementsAre(4 + 3 + 2, 4 + 3 + 2, 0));
}

TEST_F(Counted, InvocationsForIndicesAreAnAssumption) {
  EXPECT_THAT(
      Run(Join({CountShaders(true), Topology(4), Indices(3, false), Draw(3, 1, true)}), {0, 1, 0}),
      ElementsAre(0, 0, 3));
  ASSERT_EQ(Problems().size(), 2u);
  EXPECT_THAT(Problems()[0], HasSubstr("VS_INVOCATION_COUNT is read: each index counts"));
}

TEST_F(Counted, TheNumbersOfADrawMayBeInRegisters) {
  EXPECT_THAT(Run(Join({CountVertices(true),
                        Topology(4),
                        LoadImmediate(0x2434, 9),
                        LoadImmediate(0x2438, 2),
                        {0x7b000405, 0, 0, 0, 0, 0, 0}})),
              ElementsAre(18, 6, 0));
}

TEST_F(Counted, CountersHave64BitsAndCanBeSet) {
  EXPECT_THAT(Run(Join({CountVertices(true), Topology(4), LoadImmediate(kVertices, 0xffffffff),
                        LoadImmediate(kPrimitives + 4, 7), Draw(3)})),
              ElementsAre(uint64_t{1} << 32 | 2, uint64_t{7} << 32 | 1, 0));
}

TEST_F(Counted, WhatShadersCountKeepsItsValueAndIsApproximateAfterWork) {
  Run(Join({CountVertices(true), Topology(4), LoadImmediate(kPixelShaders, 5),
            StoreRegister(kOut + 64, kPixelShaders), Draw(3),
            StoreRegister(kOut + 68, kPixelShaders), CopyRegister(kGpr, kDepthCount)}));
  EXPECT_EQ(world_.Read32(kOut + 64), 5u);
  EXPECT_EQ(world_.Read32(kOut + 68), 5u);
  EXPECT_THAT(Problems(),
              ElementsAre(HasSubstr("PS_INVOCATION_COUNT is read: shaders are not executed"),
                          HasSubstr("PS_DEPTH_COUNT is read: shaders are not executed")));
}

TEST_F(Counted, ReadingIndicesIsBounded) {
  const uint32_t count = (1u << 20) + 5;
  Run(Join({CountVertices(true), Topology(1), Indices(count, true), Draw(count, 1, true)}),
      std::vector<uint32_t>(count, 0xffffffff));
  EXPECT_EQ(world_.Read64(kOut), 5u);
  ASSERT_FALSE(Problems().empty());
  EXPECT_THAT(Problems()[0], HasSubstr("IA_VERTICES_COUNT is read: not all vertices"));
}

TEST(CountedOnGfx125, ArgumentsInMemoryAndRestarts) {
  World world("gfx125");
  // EXECUTE_INDIRECT_DRAW of two draws with indices, then of one without.
  world.Put(0x1000, Join({CountVertices(true),
                          Topology(5),
                          Indices(8, true),
                          {0x7c000404, 2, 0, 0, 0x3000, 0},
                          {0x7c000004, 1, 0, 0, 0x3040, 0},
                          Store(kVertices, kOut),
                          Store(kPrimitives, kOut + 8),
                          {kEnd}}));
  world.Put(0x3000, {8, 2, 0, 0, 0, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6, 3, 0, 0});
  world.Put(kOut, std::vector<uint32_t>(16));
  world.Put(kIndices, {0, 1, 2, 0xffffffff, 1, 2, 3, 4});
  ASSERT_EQ(world.Run(0x1000), Stop::kEnded);
  EXPECT_EQ(world.Read64(kOut), 14u + 3u + 18u);
  EXPECT_EQ(world.Read64(kOut + 8), 6u + 1u + 12u);
  for (const Problem& problem : world.problems()) ADD_FAILURE() << problem.text;
}

TEST_F(Counted, ADrawOfAnUnknownTopologyIsNotCounted) {
  EXPECT_THAT(Run(Join({CountVertices(true), Topology(0x1f), Draw(3)})), ElementsAre(0, 0, 0));
  ASSERT_FALSE(Problems().empty());
}

// --- Real drivers ---

class DrawSums : public Observer {
 public:
  explicit DrawSums(const tables::Tables& tables) : tables_(tables) {}
  void OnCommand(const Command& command) override {
    if (tables_.string(command.container->name) != "3DSTATE_VF_STATISTICS") return;
    on_ = (command.bytes[0] & 1) != 0;
  }
  void OnWork(const Work& work) override {
    const std::optional<DrawParameters> draw = DrawParametersOf(tables_, work);
    if (!draw || !on_) return;
    ++draws;
    vertices += uint64_t{*draw->vertex_count} * draw->instance_count.value_or(1);
  }
  uint64_t draws = 0, vertices = 0;

 private:
  const tables::Tables& tables_;
  bool on_ = false;
};

TEST(CountersOfCaptures, GrowByTheVerticesOfTheirDraws) {
  uint64_t draws = 0;
  for (const std::string capture : {"skl-gl-basic", "ivb-gl-basic", "tgl-gl-basic"}) {
    const auto files = DumpsIn("tests/data/captures/" + capture);
    ASSERT_TRUE(files.ok()) << files.status().message();
    std::unique_ptr<tables::Tables> tables;
    const Memory empty;
    OverlayMemory memory(empty);
    struct Engine {
      std::unique_ptr<DrawSums> sums;
      std::unique_ptr<Streamer> streamer;
    };
    std::map<std::pair<uint32_t, std::string>, Engine> engines;
    for (const std::string& file : *files) {
      const absl::StatusOr<Dump> dump = ReadDump(file);
      ASSERT_TRUE(dump.ok()) << dump.status().message();
      if (tables == nullptr) {
        const auto found = FindGeneration(dump->device.generation);
        ASSERT_TRUE(found.ok()) << found.status().message();
        tables = std::make_unique<tables::Tables>(*found);
      }
      memory.Continue(dump->memory);
      for (const Submission& submission : dump->submissions) {
        Engine& engine = engines[{submission.context, submission.engine}];
        if (engine.streamer == nullptr) {
          engine.sums = std::make_unique<DrawSums>(*tables);
          engine.streamer = std::make_unique<Streamer>(
              *tables, memory,
              StreamerOptions{.engine = tables->FindEngine(submission.engine),
                              .own_space = submission.space},
              *engine.sums);
        }
        engine.streamer->EnterBatch(submission.space, submission.batch_address);
        ASSERT_EQ(engine.streamer->Run(1000000), Stop::kEnded) << file;
      }
      memory.Detach();
    }
    for (const auto& [key, engine] : engines) {
      const Registers& registers = engine.streamer->registers();
      EXPECT_EQ(registers.Read64(kVertices), engine.sums->vertices) << capture;
      EXPECT_LE(registers.Read64(kPrimitives), registers.Read64(kVertices)) << capture;
      EXPECT_GE(registers.Read64(kPrimitives), engine.sums->draws) << capture;
      EXPECT_LE(registers.Read64(kVertexShaders), registers.Read64(kVertices)) << capture;
      draws += engine.sums->draws;
    }
  }
  EXPECT_GT(draws, 50u);
}

}  // namespace
}  // namespace packsmith::sim
