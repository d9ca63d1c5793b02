// Random vertex inputs: a model of the vertex fetch executes the packets, and the shader must
// receive what the attributes ask for.

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "runtime/command/chunks.h"
#include "runtime/intel/pipeline/vertex_packets.h"
#include "tests/intel/batch/built.h"
#include "tests/intel/batch/tested.h"
#include "tests/intel/pipeline/packed.h"

namespace packsmith::intel {
namespace {

constexpr uint32_t kOne = 0x3f800000;  // 1.0
constexpr size_t kBuffers = 33;

// Formats that the fetch does not convert.
struct PlainFormat {
  uint32_t format;
  unsigned dwords;
  bool integer;
  bool wide;  // 64-bit components
};
constexpr PlainFormat kPlain[] = {
    {SurfaceFormat::R32_UINT, 1, true, false},
    {SurfaceFormat::R32_FLOAT, 1, false, false},
    {SurfaceFormat::R32G32_SINT, 2, true, false},
    {SurfaceFormat::R32G32_UINT, 2, true, false},
    {SurfaceFormat::R32G32_FLOAT, 2, false, false},
    {SurfaceFormat::R32G32B32_UINT, 3, true, false},
    {SurfaceFormat::R32G32B32_FLOAT, 3, false, false},
    {SurfaceFormat::R32G32B32A32_UINT, 4, true, false},
    {SurfaceFormat::R32G32B32A32_FLOAT, 4, false, false},
    {SurfaceFormat::R64_PASSTHRU, 2, false, true},
    {SurfaceFormat::R64G64_PASSTHRU, 4, false, true},
    {SurfaceFormat::R64G64B64_PASSTHRU, 6, false, true},
    {SurfaceFormat::R64G64B64A64_PASSTHRU, 8, false, true},
};
const PlainFormat& Plain(uint32_t format) {
  for (const PlainFormat& plain : kPlain) {
    if (plain.format == format) return plain;
  }
  ADD_FAILURE() << format;
  return kPlain[0];
}

// A vertex of a draw, and what the command streamer knows of it.
struct Vertex {
  uint32_t index, instance, first_vertex, first_instance, draw;
};
using Memory = std::vector<std::vector<uint32_t>>;  // of each buffer, whose items are `kStride`
constexpr uint32_t kStride = 64;                    // dwords

uint32_t Read(const Memory& memory, uint32_t buffer, uint32_t item, uint32_t offset,
              unsigned dword) {
  return memory[buffer][item * kStride + offset / 4 + dword];
}

// What the packets make of it.
template <class Gen>
class Fetch {
  using G = typename Gen::Packets;

 public:
  explicit Fetch(absl::Span<const Met> packets) {
    for (const Met& met : packets) {
      const uint32_t* const dwords = met.dwords.data();
      if (met.name == "3DSTATE_VERTEX_ELEMENTS") {
        for (size_t i = 1; i < met.dwords.size(); i += 2) {
          elements_.push_back(G::VERTEX_ELEMENT_STATE::unpack(dwords + i));
        }
      } else if (met.name == "3DSTATE_VF_INSTANCING") {
        instancing_.push_back(G::_3DSTATE_VF_INSTANCING::unpack(dwords));
      } else if (met.name == "3DSTATE_VF_SGVS") {
        ids_ = G::_3DSTATE_VF_SGVS::unpack(dwords);
      } else if (met.name == "3DSTATE_VF_SGVS_2") {
        parameters_ = met.dwords;
      } else if (met.name == "3DSTATE_VF_COMPONENT_PACKING") {
        packing_ = met.dwords;
      } else if (met.name == "3DSTATE_VF") {
        fetch_ = G::_3DSTATE_VF::unpack(dwords);
      }
    }
  }

  std::vector<uint32_t> Run(const Memory& memory, const Vertex& vertex) const {
    std::vector<uint32_t> received;
    for (unsigned i = 0; i < elements_.size(); ++i) {
      if (!elements_[i].valid || elements_[i].edge_flag_enable) continue;
      std::vector<uint32_t> stored = Store(i, memory, vertex);
      Generate(i, vertex, stored);
      bool packs = false;
      if constexpr (requires { fetch_.component_packing_enable; }) {
        packs = fetch_.component_packing_enable && i < 32;
      }
      for (unsigned c = 0; c < stored.size(); ++c) {
        // Four bits for each element, from the packet's second dword on.
        if (!packs || (packing_[1 + i / 8] >> (i % 8 * 4 + c) & 1) != 0) {
          received.push_back(stored[c]);
        }
      }
    }
    return received;
  }
  bool edge_flag(const Memory& memory, const Vertex& vertex) const {
    const auto& last = elements_.back();
    return last.edge_flag_enable &&
           Read(memory, last.vertex_buffer_index, Item(elements_.size() - 1, vertex),
                last.source_element_offset, 0) != 0;
  }

 private:
  uint32_t Item(size_t element, const Vertex& vertex) const {
    EXPECT_EQ(instancing_[element].vertex_element_index, element);
    if (!instancing_[element].instancing_enable) return vertex.index;
    const uint32_t step = instancing_[element].instance_data_step_rate;
    return step == 0 ? 0 : vertex.instance / step;
  }
  std::vector<uint32_t> Store(unsigned i, const Memory& memory, const Vertex& vertex) const {
    using Control = typename G::_3D_Vertex_Component_Control;
    const auto& element = elements_[i];
    const unsigned size = Plain(element.source_element_format).wide ? 2 : 1;
    const Control controls[] = {element.component_0_control, element.component_1_control,
                                element.component_2_control, element.component_3_control};
    std::vector<uint32_t> stored;
    for (unsigned c = 0; c < 4; ++c) {
      if (controls[c] == Control::NOSTORE) continue;
      for (unsigned half = 0; half < size; ++half) {
        stored.push_back(controls[c] == Control::STORE_0      ? 0
                         : controls[c] == Control::STORE_1_FP ? kOne
                         : controls[c] == Control::STORE_1_INT
                             ? 1
                             : Read(memory, element.vertex_buffer_index, Item(i, vertex),
                                    element.source_element_offset, c * size + half));
      }
    }
    return stored;
  }
  void Generate(unsigned i, const Vertex& vertex, std::vector<uint32_t>& stored) const {
    if (ids_.vertexid_enable && ids_.vertexid_element_offset == i) {
      stored[ids_.vertexid_component_number] = vertex.index;
    }
    if (ids_.instanceid_enable && ids_.instanceid_element_offset == i) {
      stored[ids_.instanceid_component_number] = vertex.instance;
    }
    if constexpr (requires { typename G::_3DSTATE_VF_SGVS_2; }) {
      using Parameters = typename G::_3DSTATE_VF_SGVS_2;
      const Parameters p = Parameters::unpack(parameters_.data());
      if (p.xp0_enable && p.xp0_element_offset == i) {
        EXPECT_EQ(p.xp0_source_select, Parameters::XP0_SOURCE_SELECT_VERTEX_LOCATION);
        stored[p.xp0_component_number] = vertex.first_vertex;
      }
      if (p.xp1_enable && p.xp1_element_offset == i) {
        EXPECT_EQ(p.xp1_source_select, Parameters::XP1_SOURCE_SELECT_STARTING_INSTANCE_LOCATION);
        stored[p.xp1_component_number] = vertex.first_instance;
      }
      if (p.xp2_enable && p.xp2_element_offset == i) stored[p.xp2_component_number] = vertex.draw;
    }
  }

  std::vector<typename G::VERTEX_ELEMENT_STATE> elements_;
  std::vector<typename G::_3DSTATE_VF_INSTANCING> instancing_;
  typename G::_3DSTATE_VF_SGVS ids_;
  typename G::_3DSTATE_VF fetch_;
  Dwords parameters_, packing_;
};

// What an input asks for.
std::vector<uint32_t> Wanted(const VertexInput& input, const Memory& memory, const Vertex& vertex) {
  std::vector<uint32_t> wanted;
  const auto add = [&](uint32_t value, unsigned component, uint32_t read) {
    if (!input.pack_components || (read >> component & 1) != 0) wanted.push_back(value);
  };
  for (const VertexAttribute& attribute : input.attributes) {
    if (attribute.edge_flag) continue;
    const PlainFormat& plain = Plain(attribute.format);
    const uint32_t item = attribute.step == VertexStep::kVertex ? vertex.index
                          : attribute.divisor == 0              ? 0
                                                   : vertex.instance / attribute.divisor;
    const unsigned count = plain.wide && plain.dwords > 4 ? 8 : 4;
    for (unsigned c = 0; c < count; ++c) {
      const uint32_t missing = c == 3 && !plain.wide ? (plain.integer ? 1 : kOne) : 0;
      add(c < plain.dwords ? Read(memory, attribute.buffer, item, attribute.offset, c) : missing,
          c % 4, plain.wide ? 0xf : attribute.read);
    }
  }
  const VertexIds& ids = input.ids;
  if (ids.first_vertex || ids.first_instance || ids.vertex || ids.instance) {
    const uint32_t read =
        ids.first_vertex | ids.first_instance << 1 | ids.vertex << 2 | ids.instance << 3;
    add(vertex.first_vertex, 0, read);
    add(vertex.first_instance, 1, read);
    add(vertex.index, 2, read);
    add(vertex.instance, 3, read);
  }
  if (ids.draw) {
    add(vertex.draw, 0, 1);
    for (unsigned c = 1; c < 4; ++c) add(0, c, 1);
  }
  return wanted;
}

template <class Gen>
class VertexFetchTest : public testing::Test {};
TYPED_TEST_SUITE(VertexFetchTest, Generations);

TYPED_TEST(VertexFetchTest, ShadersReceiveWhatAttributesAskFor) {
  std::mt19937 random(3);
  const auto number = [&](uint32_t most) {
    return std::uniform_int_distribution<uint32_t>(0, most)(random);
  };
  constexpr bool kPacks = TypeParam::kVersion >= 90, kParameters = TypeParam::kVersion >= 110;
  for (int time = 0; time < 150; ++time) {
    VertexInput input{.ids = {.vertex = number(1) != 0,
                              .instance = number(1) != 0,
                              .draw = number(2) == 0,
                              .first_buffer = 31,
                              .draw_buffer = 32},
                      .split_64_bit = number(1) != 0,
                      .pack_components = kPacks && number(1) != 0};
    // All of an element of ids or none, unless components are packed: others have any value.
    input.ids.first_vertex = input.ids.first_instance = input.ids.vertex = input.ids.instance =
        input.ids.vertex;
    if (input.pack_components) {
      input.ids.first_vertex = number(1) != 0;
      input.ids.instance = number(1) != 0;
      input.split_64_bit = true;
    }
    std::vector<VertexAttribute> attributes(number(9) + 1);
    for (VertexAttribute& attribute : attributes) {
      attribute = {.format = kPlain[number(std::size(kPlain) - 1)].format,
                   .buffer = number(30),
                   .offset = number(20) * 8,
                   .step = number(1) != 0 ? VertexStep::kInstance : VertexStep::kVertex,
                   .divisor = number(3),
                   .read = static_cast<uint8_t>(number(14) + 1)};
    }
    if (number(2) == 0) {
      attributes.insert(attributes.begin() + number(static_cast<uint32_t>(attributes.size())),
                        {.format = SurfaceFormat::R32_UINT, .buffer = 5, .edge_flag = true});
    }
    input.attributes = attributes;

    gpu::HostChunks chunks;
    Batch<TypeParam> batch(chunks);
    DrawState<TypeParam> state(address(0x1000, 1));
    state.InheritAll();
    const auto plan = SetVertexInput(input, state);
    ASSERT_TRUE(plan.ok()) << plan.status();
    ASSERT_TRUE(state.Flush(batch)) << state.status();
    ASSERT_TRUE(batch.End().ok());
    const Decoded decoded =
        World().Put(chunks.chunks()).Decode(TypeParam::kName, batch.parts()[0].chunk.gpu);
    EXPECT_TRUE(decoded.problems.empty());

    const Vertex vertex{.index = number(3),
                        .instance = number(7),
                        .first_vertex = number(1000),
                        .first_instance = number(1000),
                        .draw = number(1000)};
    Memory memory(kBuffers, std::vector<uint32_t>(kStride * 8));
    for (auto& buffer : memory) {
      for (uint32_t& dword : buffer) dword = number(0x7fffffff);
    }
    if (!kParameters) {
      for (unsigned i = 0; i < 8; ++i) {
        memory[31][i * kStride] = vertex.first_vertex;
        memory[31][i * kStride + 1] = vertex.first_instance;
        memory[32][i * kStride] = vertex.draw;
      }
    }
    const Fetch<TypeParam> fetch(decoded.packets);
    const std::vector<uint32_t> received = fetch.Run(memory, vertex);
    ASSERT_EQ(received, Wanted(input, memory, vertex)) << time;
    // All of it is read, and not a whole unit more.
    EXPECT_EQ(plan->read_length, (received.size() + 7) / 8);
    const bool has_edge = plan->elements[plan->count - 1].edge_flag;
    EXPECT_EQ(fetch.edge_flag(memory, vertex),
              has_edge && Read(memory, 5, vertex.index, 0, 0) != 0);
  }
}

}  // namespace
}  // namespace packsmith::intel
