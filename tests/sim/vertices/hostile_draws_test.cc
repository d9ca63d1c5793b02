// Draws of values that only hostile state has: what is read is bounded, and no arithmetic overflows
// (which the sanitizers see).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "runtime/sim/memory_access.h"
#include "runtime/sim/vertices/vertex_fetch.h"

namespace packsmith::sim {
namespace {

// All addresses are mapped; every read is within them.
class Everywhere : public MemoryAccess {
 public:
  size_t Read(uint32_t, uint64_t address, absl::Span<uint8_t> out) const override {
    EXPECT_TRUE(out.empty() || address <= ~uint64_t{0} - (out.size() - 1)) << address;
    EXPECT_LE(out.size(), 4096u);
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<uint8_t>(address + i);
    return out.size();
  }
  size_t Write(uint32_t, uint64_t, absl::Span<const uint8_t>) override { return 0; }
};

class Hostile {
 public:
  explicit Hostile(uint64_t seed) : random_(seed) {}

  uint64_t Below(uint64_t most) { return random_() % most; }
  bool Coin() { return Below(2) == 0; }
  uint64_t Number() {
    constexpr uint64_t kNumbers[] = {0,
                                     1,
                                     2,
                                     3,
                                     7,
                                     16,
                                     64,
                                     4095,
                                     4096,
                                     0xffff,
                                     0x7fffffff,
                                     0x80000000,
                                     0xfffffffe,
                                     0xffffffff,
                                     0x100000000,
                                     0xffffffffffff,
                                     0x1000000000000,
                                     0x7fffffffffffffff,
                                     0x8000000000000000,
                                     0xfffffffffffffff0,
                                     0xffffffffffffffff};
    return kNumbers[Below(std::size(kNumbers))];
  }
  uint32_t Small() { return static_cast<uint32_t>(Number()); }
  ComponentSource Source() { return static_cast<ComponentSource>(Below(13)); }

  VertexDraw Make() {
    constexpr const char* kTopologies[] = {"POINTLIST",   "LINELOOP", "TRISTRIP",
                                           "TRIFAN",      "POLYGON",  "QUADSTRIP",
                                           "TRILIST_ADJ", "RECTLIST", "PATCHLIST_32"};
    constexpr uint32_t kSizes[] = {0, 1, 2, 3, 4, 8};
    VertexDraw draw;
    draw.indexed = Coin();
    draw.start_vertex = Small();
    draw.vertex_count = Small();
    draw.instance_count = Small();
    draw.start_instance = Small();
    draw.base_vertex = static_cast<int32_t>(Small());
    draw.indices = {.address = Number(), .size = Number(), .index_bytes = kSizes[Below(6)]};
    if (Coin()) draw.cut = Small();
    draw.cut_sequential = Coin();
    draw.vertex_id_offset = Coin();
    for (uint64_t n = Below(Below(8) == 0 ? 80 : 4); n != 0; --n) {
      VertexBuffer buffer = {
          .address = Number(), .size = Number(), .pitch = Small(), .null = Below(4) == 0};
      if (Below(4) == 0) buffer.last_row = Small();
      if (Coin()) buffer.step = Small();
      draw.buffers.push_back(buffer);
    }
    for (uint64_t n = Below(Below(8) == 0 ? 80 : 4); n != 0; --n) {
      VertexElement element = {.buffer = Below(8) == 0 ? Small() : static_cast<uint32_t>(Below(4)),
                               .offset = Small()};
      element.format.bytes = static_cast<uint32_t>(Below(40));
      for (ComponentSource& source : element.components) source = Source();
      element.edge_flag = Below(8) == 0;
      if (Coin()) element.step = Small();
      if (Below(8) == 0) element.destination = Small();
      element.enables = static_cast<uint8_t>(Below(16));
      draw.elements.push_back(element);
    }
    for (uint64_t n = Below(4); n != 0; --n) {
      draw.placements.push_back({Source(), Small(), static_cast<uint32_t>(Below(5))});
    }
    draw.topology = FindTopology(kTopologies[Below(std::size(kTopologies))]).value_or(Topology{});
    draw.assembly.provoking = {static_cast<uint8_t>(Below(256)), static_cast<uint8_t>(Below(256)),
                               static_cast<uint8_t>(Below(256))};
    draw.assembly.order = Coin() ? StripOrder::kLeading : StripOrder::kTrailing;
    if (Coin()) draw.address_mask = (uint64_t{1} << 48) - 1;
    return draw;
  }

 private:
  std::mt19937_64 random_;
};

TEST(HostileDraw, OfAnyValuesReadsABoundedAmountInsideTheAddressSpace) {
  constexpr uint64_t kMostVertices = 20;
  const Everywhere memory;
  uint64_t made = 0, vertices = 0, primitives = 0;
  for (uint64_t seed = 0; seed < 5000; ++seed) {
    absl::StatusOr<VertexFetch> fetch = VertexFetch::Make(memory, Hostile(seed).Make());
    if (!fetch.ok()) {
      EXPECT_TRUE(absl::IsInvalidArgument(fetch.status())) << fetch.status();
      continue;
    }
    ++made;
    VertexWalk walk(*fetch);
    if (seed % 2 == 0 && fetch->draw().instance_count != 0) {
      walk.Seek(fetch->draw().instance_count - 1);
    }
    for (uint64_t i = 0; i < kMostVertices && walk.Next(); ++i) {
      if (walk.vertex().index.restart) continue;
      fetch->Fetch(walk.vertex());
      ASSERT_EQ(fetch->vue().size(), fetch->layout().size());
      ++vertices;
    }
    PrimitiveWalk all(*fetch, kMostVertices);
    while (const Primitive* const primitive = all.Next()) {
      ASSERT_LT(primitive->provoking, primitive->size) << seed;
      ASSERT_LE(primitive->size, kMostPrimitiveVertices) << seed;
      ++primitives;
    }
    CountDraw(*fetch, kMostVertices);
  }
  EXPECT_GT(made, 1000u);
  EXPECT_GT(vertices, 10000u);
  EXPECT_GT(primitives, 1000u);
}

}  // namespace
}  // namespace packsmith::sim
