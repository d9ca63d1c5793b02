// Random draws, held against a computation that knows nothing of windows, plans or layouts: it
// looks at single bytes and single bits.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "runtime/sim/vertices/vertex_fetch.h"
#include "tests/sim/vertices/host_memory.h"

namespace packsmith::sim {
namespace {

using tables::ComponentType;

struct Kind {
  uint32_t components, width;
  ComponentType type;
};

constexpr Kind kKinds[] = {
    {1, 8, ComponentType::kUint},     {4, 8, ComponentType::kSint},
    {3, 8, ComponentType::kUnorm},    {2, 16, ComponentType::kSnorm},
    {4, 16, ComponentType::kUscaled}, {3, 16, ComponentType::kSscaled},
    {4, 32, ComponentType::kFloat},   {2, 32, ComponentType::kSint},
    {3, 64, ComponentType::kUint},    {1, 64, ComponentType::kUint},
};

VertexFormat FormatOf(const Kind& kind) {
  VertexFormat format;
  format.bytes = kind.components * kind.width / 8;
  format.wide = kind.width == 64;
  for (uint32_t i = 0; i < kind.components; ++i) {
    format.components[i] = {0, static_cast<uint16_t>(i * kind.width),
                            static_cast<uint8_t>(kind.width), kind.type};
  }
  return format;
}

uint32_t BitsOf(double value) {
  const auto real = static_cast<float>(value);
  uint32_t bits = 0;
  std::memcpy(&bits, &real, sizeof(bits));
  return bits;
}

// The draw's memory as single bytes.
using Bytes = std::map<uint64_t, uint8_t>;

class Naive {
 public:
  Naive(const VertexDraw& draw, const std::vector<Kind>& kinds, const Bytes& bytes)
      : draw_(draw), kinds_(kinds), bytes_(bytes) {}

  // What a position stands for; empty: a restart.
  std::optional<uint32_t> Index(uint32_t number) const {
    if (!draw_.indexed) return number;
    const uint64_t at = (uint64_t{draw_.start_vertex} + number) * draw_.indices.index_bytes;
    uint32_t index = 0;
    if (at + draw_.indices.index_bytes <= draw_.indices.size) {
      index = static_cast<uint32_t>(Little(draw_.indices.address + at, draw_.indices.index_bytes));
    }
    if (draw_.cut == index) return std::nullopt;
    return index;
  }

  std::vector<uint32_t> Vertex(uint32_t index, uint32_t instance) const {
    std::vector<uint32_t> dwords;
    const uint32_t row = draw_.indexed ? index + static_cast<uint32_t>(draw_.base_vertex)
                                       : index + draw_.start_vertex;
    for (uint32_t i = 0; i < draw_.elements.size(); ++i) {
      for (uint32_t component = 0; component < 4; ++component) {
        const uint64_t value = Component(i, component, row, index, instance);
        if (draw_.elements[i].components[component] == ComponentSource::kNothing) continue;
        if ((draw_.elements[i].enables & 1 << component) == 0) continue;
        dwords.push_back(static_cast<uint32_t>(value));
        if (kinds_[i].width == 64) dwords.push_back(static_cast<uint32_t>(value >> 32));
      }
    }
    return dwords;
  }

 private:
  uint64_t Little(uint64_t address, uint32_t count) const {
    uint64_t value = 0;
    for (uint32_t i = 0; i < count; ++i) {
      const auto byte = bytes_.find(address + i);
      if (byte == bytes_.end()) return 0;
      value |= uint64_t{byte->second} << (8 * i);
    }
    return value;
  }

  // All of an element is there, or nothing.
  bool IsMapped(uint64_t address, uint32_t count) const {
    for (uint32_t i = 0; i < count; ++i) {
      if (bytes_.count(address + i) == 0) return false;
    }
    return true;
  }

  uint64_t Component(uint32_t number, uint32_t component, uint32_t row, uint32_t index,
                     uint32_t instance) const {
    const VertexElement& element = draw_.elements[number];
    ComponentSource source = element.components[component];
    for (const Placement& one : draw_.placements) {
      if (one.element == number && one.component == component) source = one.source;
    }
    if (source == ComponentSource::kOneFloat) return 0x3f800000;
    if (source == ComponentSource::kOneInteger) return 1;
    if (source == ComponentSource::kVertexId) return index;
    if (source == ComponentSource::kInstanceId) return instance;
    if (source != ComponentSource::kData) return 0;
    const Kind& kind = kinds_[number];
    const bool is_integer = kind.type == ComponentType::kUint || kind.type == ComponentType::kSint;
    if (component >= kind.components) return component < 3 ? 0 : is_integer ? 1 : 0x3f800000;
    const VertexBuffer& buffer = draw_.buffers[element.buffer];
    const std::optional<uint32_t> step = element.step ? element.step : buffer.step;
    if (step) row = draw_.start_instance + (*step == 0 ? 0 : instance / *step);
    const uint64_t offset = uint64_t{row} * buffer.pitch + element.offset;
    const uint32_t bytes = kind.components * kind.width / 8;
    uint64_t raw = 0;
    if (!buffer.null && offset + bytes <= buffer.size && IsMapped(buffer.address + offset, bytes)) {
      raw = Little(buffer.address + offset + component * (kind.width / 8), kind.width / 8);
    }
    const double ones = std::exp2(kind.width) - 1;
    const double half = std::exp2(kind.width - 1);
    const bool is_negative = static_cast<double>(raw) >= half;
    const double number_of = static_cast<double>(raw) - (is_negative ? ones + 1 : 0);
    switch (kind.type) {
      case ComponentType::kSint:
        return static_cast<uint32_t>(static_cast<int64_t>(number_of));
      case ComponentType::kUnorm:
        return BitsOf(static_cast<double>(raw) / ones);
      case ComponentType::kSnorm:
        return BitsOf(std::max(number_of / (half - 1), -1.0));
      case ComponentType::kUscaled:
        return BitsOf(static_cast<double>(raw));
      case ComponentType::kSscaled:
        return BitsOf(number_of);
      default:
        return raw;
    }
  }

  const VertexDraw& draw_;
  const std::vector<Kind>& kinds_;
  const Bytes& bytes_;
};

class RandomDraw {
 public:
  explicit RandomDraw(uint32_t seed) : random_(seed) {
    for (uint64_t i = 0; i < 3; ++i) AddBuffer(0x10000 * (i + 1));
    const uint32_t elements = 1 + Below(5);
    for (uint32_t i = 0; i < elements; ++i) AddElement();
    for (uint32_t i = Below(3); i > 0; --i) {
      draw.placements.push_back(
          {Below(2) == 0 ? ComponentSource::kVertexId : ComponentSource::kInstanceId,
           Below(elements), Below(4)});
    }
    draw.vertex_count = Below(40);
    draw.instance_count = Below(5);
    draw.start_vertex = Below(6);
    draw.start_instance = Below(4);
    draw.indexed = Below(2) == 0;
    draw.base_vertex = static_cast<int32_t>(Below(7)) - 3;
    draw.indices = {.address = 0x80000, .size = Below(100), .index_bytes = 1u << Below(3)};
    if (Below(2) == 0) draw.cut = Below(2) == 0 ? Below(4) : 0xff;
    std::vector<uint8_t> indices(100);
    for (uint32_t i = 0; i < indices.size(); ++i) {
      // Small numbers; for wide indices some that are too large.
      if (i % draw.indices.index_bytes == 0) indices[i] = static_cast<uint8_t>(Below(20));
      if (Below(30) == 0) indices[i] = static_cast<uint8_t>(random_());
    }
    Put(draw.indices.address, indices);
  }

  VertexDraw draw;
  std::vector<Kind> kinds;
  HostMemory memory;
  Bytes bytes;

 private:
  uint32_t Below(uint32_t end) { return static_cast<uint32_t>(random_() % end); }

  void Put(uint64_t address, const std::vector<uint8_t>& data) {
    memory.Put(address, data);
    for (size_t i = 0; i < data.size(); ++i) bytes[address + i] = data[i];
  }

  void AddBuffer(uint64_t address) {
    VertexBuffer buffer = {.address = address + Below(9),
                           .size = Below(400),
                           .pitch = Below(4) == 0 ? 0 : Below(40),
                           .null = Below(10) == 0};
    if (Below(4) == 0) buffer.step = Below(3);
    draw.buffers.push_back(buffer);
    // Sometimes less than the buffer has is mapped.
    std::vector<uint8_t> data(Below(3) == 0 ? buffer.size / 2 : buffer.size);
    for (uint8_t& byte : data) byte = static_cast<uint8_t>(random_());
    Put(buffer.address, data);
  }

  void AddElement() {
    kinds.push_back(kKinds[Below(std::size(kKinds))]);
    VertexElement element = {
        .buffer = Below(3), .offset = Below(30), .format = FormatOf(kinds.back())};
    constexpr ComponentSource kSources[] = {
        ComponentSource::kData,   ComponentSource::kData,     ComponentSource::kData,
        ComponentSource::kZero,   ComponentSource::kOneFloat, ComponentSource::kOneInteger,
        ComponentSource::kNothing};
    for (ComponentSource& source : element.components)
      source = kSources[Below(std::size(kSources))];
    if (Below(3) == 0) element.enables = static_cast<uint8_t>(Below(16));
    if (Below(4) == 0) element.step = Below(4);
    draw.elements.push_back(element);
  }

  std::mt19937 random_;
};

TEST(RandomDraws, VerticesAreThoseOfANaiveComputation) {
  uint64_t vertices = 0, restarts = 0, dwords = 0;
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    RandomDraw one(seed);
    const Naive naive(one.draw, one.kinds, one.bytes);
    absl::StatusOr<VertexFetch> fetch = VertexFetch::Make(one.memory, one.draw);
    ASSERT_TRUE(fetch.ok()) << fetch.status();
    VertexWalk walk(*fetch);
    for (uint32_t instance = 0; instance < one.draw.instance_count; ++instance) {
      for (uint32_t number = 0; number < one.draw.vertex_count; ++number) {
        ASSERT_TRUE(walk.Next()) << seed;
        ASSERT_EQ(walk.vertex().instance, instance) << seed;
        ASSERT_EQ(walk.vertex().number, number) << seed;
        const std::optional<uint32_t> index = naive.Index(number);
        ASSERT_EQ(walk.vertex().index.restart, !index) << seed;
        if (!index) {
          ++restarts;
          continue;
        }
        fetch->Fetch(walk.vertex());
        const std::vector<uint32_t> expected = naive.Vertex(*index, instance);
        ASSERT_EQ(std::vector<uint32_t>(fetch->vue().begin(), fetch->vue().end()), expected)
            << "seed " << seed << ", instance " << instance << ", vertex " << number;
        ++vertices;
        dwords += expected.size();
      }
    }
    ASSERT_FALSE(walk.Next()) << seed;
  }
  EXPECT_GT(vertices, 50000u);
  EXPECT_GT(restarts, 1000u);
  EXPECT_GT(dwords, 200000u);
}

TEST(RandomDraws, CountsAreThoseOfTheWalks) {
  const char* const topologies[] = {"POINTLIST", "LINESTRIP",   "TRISTRIP", "TRISTRIP_ADJ",
                                    "QUADLIST",  "PATCHLIST_5", "LINELOOP"};
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    RandomDraw one(seed);
    one.draw.topology = *FindTopology(topologies[seed % std::size(topologies)]);
    one.draw.cut_sequential = seed % 2 == 0;
    absl::StatusOr<VertexFetch> fetch = VertexFetch::Make(one.memory, one.draw);
    ASSERT_TRUE(fetch.ok()) << fetch.status();
    DrawCounts expected;
    VertexWalk vertices(*fetch);
    while (vertices.Next()) expected.vertices += vertices.vertex().index.restart ? 0 : 1;
    PrimitiveWalk primitives(*fetch, 1000);
    while (primitives.Next() != nullptr) ++expected.primitives;
    const DrawCounts counts = CountDraw(*fetch, 1000);
    EXPECT_EQ(counts.vertices, expected.vertices) << seed;
    EXPECT_EQ(counts.primitives, expected.primitives) << seed;
    EXPECT_TRUE(counts.exact);
  }
}

// Numbers of any size, as a corrupt dump has them: nothing is read that is not there, and the time
// is that of what is asked for.
TEST(RandomDraws, WildNumbersAreHarmless) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    std::mt19937_64 random(seed);
    RandomDraw one(seed);
    const auto wild = [&]() -> uint64_t {
      const uint64_t any = random();
      return any >> (random() % 64);
    };
    one.draw.vertex_count = static_cast<uint32_t>(wild());
    one.draw.instance_count = static_cast<uint32_t>(wild());
    one.draw.start_vertex = static_cast<uint32_t>(wild());
    one.draw.start_instance = static_cast<uint32_t>(wild());
    one.draw.base_vertex = static_cast<int32_t>(wild());
    one.draw.indices.address = wild();
    one.draw.indices.size = wild();
    one.draw.address_mask = seed % 2 == 0 ? 0xffff'ffff : ~uint64_t{0};
    for (VertexBuffer& buffer : one.draw.buffers) {
      buffer.address = wild();
      buffer.size = wild();
      buffer.pitch = static_cast<uint32_t>(wild());
    }
    for (VertexElement& element : one.draw.elements) {
      element.offset = static_cast<uint32_t>(wild());
      element.buffer = static_cast<uint32_t>(wild());
    }
    absl::StatusOr<VertexFetch> fetch = VertexFetch::Make(one.memory, one.draw);
    ASSERT_TRUE(fetch.ok()) << fetch.status();
    VertexWalk vertices(*fetch);
    for (int i = 0; i < 100 && vertices.Next(); ++i) fetch->Fetch(vertices.vertex());
    PrimitiveWalk primitives(*fetch, 1000);
    while (primitives.Next() != nullptr) {
    }
    CountDraw(*fetch, 1000);
  }
}

}  // namespace
}  // namespace packsmith::sim
