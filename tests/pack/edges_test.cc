// pack tests packets in memory many bytes at a time, and only suspects at first. Here: that it
// gives the same result as check(), which tests one member after the other, at and next to the
// edges of what each member may hold. Built with optimisation, without which there is only one way.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "packsmith/gfx9.h"
#include "packsmith/gfx9_names.h"

namespace packsmith {
namespace {

// The edge values of a member.
template <class T>
constexpr std::array<uint64_t, 29> Edges() {
  std::array<uint64_t, 29> edges = {0, 1, ~uint64_t{0}, uint64_t{1} << 63, uint64_t{1} << 31};
  unsigned n = 5;
  for (const unsigned width : {1u, 3u, 6u, 7u, 11u, 12u, 47u, 48u}) {
    edges[n++] = (uint64_t{1} << width) - 1;
    edges[n++] = uint64_t{1} << width;
    edges[n++] = ~uint64_t{0} << width;
  }
  return edges;
}

// noinline, and through a pointer that the compiler cannot follow: it knows nothing of the values.
template <class Packet>
[[gnu::noinline]] error PackFromMemory(const Packet* packet, uint32_t* dw) {
  return packet->pack(dw);
}

template <class Packet>
void ExpectSameVerdict(const Packet& packet) {
  uint32_t dw[Packet::length];
  std::memset(dw, 0x5a, sizeof(dw));
  const error one_by_one = packet.check();
  const error packed_error = PackFromMemory(&packet, dw);
  ASSERT_STREQ(packed_error.field, one_by_one.field);
  ASSERT_EQ(packed_error.why, one_by_one.why);
  for (const uint32_t word : dw) {
    if (one_by_one) {
      ASSERT_EQ(word, 0x5a5a5a5au) << "written in spite of an error";
    }
  }
  if (!one_by_one) {
    uint32_t unchecked[Packet::length];
    ASSERT_FALSE(packet.template pack<checks::off>(unchecked));
    ASSERT_EQ(std::memcmp(dw, unchecked, sizeof(dw)), 0);
  }
}

// Sets each member in turn, through the visitor that unpacks.
template <class Packet>
struct EachMember : bits::visitor<EachMember<Packet>> {
  Packet& packet;
  const Packet good;

  explicit EachMember(Packet& p) : packet(p), good(p) {}
  template <class Kind, class T>
  void member(const Kind&, T& v, unsigned, unsigned, const char*) {
    if constexpr (std::is_same_v<T, bool>) {
      for (const bool edge : {true, false}) Try(v, edge);
    } else if constexpr (std::is_floating_point_v<T>) {
      for (const double edge :
           {0.0, -0.0, 0.5, -0.5, 0.001, -0.001, -0.0019, -0.00196, 1.0, 4095.0, 15.99, 15.997,
            15.999, 1e30, -1e30, -16.0, -16.01, 1.0 / 0.0, __builtin_nan("")}) {
        Try(v, edge);
      }
    } else {
      for (const uint64_t edge : Edges<T>()) Try(v, edge);
    }
    packet = good;
  }
  template <class T, class Edge>
  void Try(T& v, Edge edge) {
    v = static_cast<T>(edge);
    ExpectSameVerdict(packet);
  }
};

struct MakeGood : bits::visitor<MakeGood> {
  void member(const auto&, const auto&, unsigned, unsigned, const char*) {}
  template <class T>
  void member(const bits::kinds::positive&, T& v, unsigned, unsigned, const char*) {
    v = static_cast<T>(1);
  }
  template <class T>
  void member(const bits::kinds::bounded& kind, T& v, unsigned, unsigned, const char*) {
    v = static_cast<T>(kind.low);
  }
};

template <class Packet>
class EdgesTest : public testing::Test {};

using Packets =
    testing::Types<gfx9::VERTEX_BUFFER_STATE, gfx9::VERTEX_ELEMENT_STATE, gfx9::SAMPLER_STATE,
                   gfx9::RENDER_SURFACE_STATE, gfx9::_3DSTATE_VS, gfx9::_3DPRIMITIVE,
                   gfx9::PIPE_CONTROL, gfx9::_3DSTATE_BINDING_TABLE_POINTERS_VS,
                   gfx9::STATE_BASE_ADDRESS, gfx9::_3DSTATE_CLIP, gfx9::_3DSTATE_SF>;
TYPED_TEST_SUITE(EdgesTest, Packets);

TYPED_TEST(EdgesTest, PackAgreesWithCheckOnEachMembersEdges) {
  // Values that pack, so that each fault is the only one.
  TypeParam packet;
  MakeGood make_good;
  TypeParam::ps_layout(packet, make_good);
  ASSERT_FALSE(packet.check());
  ExpectSameVerdict(packet);
  EachMember<TypeParam> each(packet);
  TypeParam::ps_layout(packet, each);
}

TYPED_TEST(EdgesTest, EverythingThatUnpacksGetsTheSameVerdict) {
  uint32_t random = 1;
  for (int i = 0; i < 2000; ++i) {
    uint32_t dw[TypeParam::length];
    for (uint32_t& word : dw) word = random = random * 1664525 + 1013904223;
    const TypeParam packet = TypeParam::unpack(dw);
    ExpectSameVerdict(packet);
  }
}

// Members with bounds have visitor methods of their own, which printing must not forget.
TEST(Printing, ShowsMembersThatHaveBounds) {
  const std::string text = to_text(gfx9::VERTEX_BUFFER_STATE{.buffer_pitch = 77, .mocs = 4});
  EXPECT_NE(text.find(": 77"), std::string::npos) << text;
  EXPECT_NE(text.find("MOCS: 4"), std::string::npos) << text;
}

}  // namespace
}  // namespace packsmith
