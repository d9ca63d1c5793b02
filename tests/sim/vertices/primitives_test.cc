#include "runtime/sim/vertices/primitives.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace packsmith::sim {
namespace {

constexpr uint32_t kCut = ~uint32_t{0};

// "id:vertices", the provoking one with a star, adjacent ones in brackets.
std::string Say(const Primitive& primitive) {
  std::vector<std::string> words;
  for (uint32_t i = 0; i < primitive.size; ++i) {
    std::string word = absl::StrCat(primitive.vertices[i]);
    if ((primitive.adjacent >> i & 1) != 0) word = absl::StrCat("(", word, ")");
    if (i == primitive.provoking) word += "*";
    words.push_back(word);
  }
  return absl::StrCat(primitive.id, ":", absl::StrJoin(words, " "));
}

std::vector<Primitive> Assemble(const Topology& topology, const std::vector<uint32_t>& vertices,
                                const AssemblyOptions& options = {}) {
  PrimitiveAssembler assembler(topology, options);
  std::vector<Primitive> all;
  const auto keep = [&](const Primitive* primitive) {
    if (primitive != nullptr) all.push_back(*primitive);
  };
  for (const uint32_t vertex : vertices) {
    keep(vertex == kCut ? assembler.EndStrip() : assembler.Add(vertex));
  }
  keep(assembler.EndStrip());
  return all;
}

std::string Assembled(absl::string_view name, const std::vector<uint32_t>& vertices,
                      const AssemblyOptions& options = {}) {
  const std::optional<Topology> topology = FindTopology(name);
  if (!topology) return "unknown";
  std::vector<std::string> all;
  for (const Primitive& one : Assemble(*topology, vertices, options)) all.push_back(Say(one));
  return absl::StrJoin(all, ", ");
}

std::vector<uint32_t> Up(uint32_t count) {
  std::vector<uint32_t> all;
  for (uint32_t i = 0; i < count; ++i) all.push_back(i);
  return all;
}

struct Expected {
  const char* topology;
  uint32_t vertices;
  const char* primitives;
};

// Vertex 0 provokes.
TEST(Primitives, EveryTopologyMakesThePrimitivesOfItsDefinition) {
  const Expected all[] = {
      {"POINTLIST", 3, "0:0*, 1:1*, 2:2*"},
      {"POINTLIST_BF", 2, "0:0*, 1:1*"},
      {"LINELIST", 5, "0:0* 1, 1:2* 3"},
      {"LINESTRIP", 4, "0:0* 1, 1:1* 2, 2:2* 3"},
      {"LINESTRIP_BF", 3, "0:0* 1, 1:1* 2"},
      {"LINESTRIP_CONT", 3, "0:0* 1, 1:1* 2"},
      {"LINESTRIP_CONT_BF", 3, "0:0* 1, 1:1* 2"},
      {"LINELOOP", 4, "0:0* 1, 1:1* 2, 2:2* 3, 3:3* 0"},
      {"LINELOOP", 2, "0:0* 1, 1:1* 0"},
      {"LINELIST_ADJ", 9, "0:(0) 1* 2 (3), 1:(4) 5* 6 (7)"},
      {"LINESTRIP_ADJ", 6, "0:(0) 1* 2 (3), 1:(1) 2* 3 (4), 2:(2) 3* 4 (5)"},
      {"TRILIST", 8, "0:0* 1 2, 1:3* 4 5"},
      {"TRISTRIP", 6, "0:0* 1 2, 1:1* 3 2, 2:2* 3 4, 3:3* 5 4"},
      {"TRISTRIP_REVERSE", 5, "0:0* 2 1, 1:1* 2 3, 2:2* 4 3"},
      {"TRIFAN", 5, "0:0* 1 2, 1:0* 2 3, 2:0* 3 4"},
      {"TRIFAN_NOSTIPPLE", 4, "0:0* 1 2, 1:0* 2 3"},
      {"TRILIST_ADJ", 13, "0:0* (1) 2 (3) 4 (5), 1:6* (7) 8 (9) 10 (11)"},
      {"POLYGON", 6, "0:0* 1 2, 0:0* 2 3, 0:0* 3 4, 0:0* 4 5"},
      {"QUADLIST", 9, "0:0 1 2 3*, 1:4 5 6 7*"},
      {"QUADSTRIP", 7, "0:0 1 3* 2, 1:2 3 5* 4"},
      {"RECTLIST", 7, "0:0* 1 2, 1:3* 4 5"},
      {"PATCHLIST_1", 2, "0:0*, 1:1*"},
      {"PATCHLIST_3", 7, "0:0* 1 2, 1:3* 4 5"},
      // A strip of one triangle, of two, of four; a vertex too many changes nothing.
      {"TRISTRIP_ADJ", 6, "0:0* (1) 2 (5) 4 (3)"},
      {"TRISTRIP_ADJ", 7, "0:0* (1) 2 (5) 4 (3)"},
      {"TRISTRIP_ADJ", 8, "0:0* (1) 2 (6) 4 (3), 1:2* (5) 6 (7) 4 (0)"},
      {"TRISTRIP_ADJ", 12,
       "0:0* (1) 2 (6) 4 (3), 1:2* (5) 6 (8) 4 (0), 2:4* (2) 6 (10) 8 (7), 3:6* (9) 10 (11) 8 "
       "(4)"},
      {"TRISTRIP_ADJ", 13,
       "0:0* (1) 2 (6) 4 (3), 1:2* (5) 6 (8) 4 (0), 2:4* (2) 6 (10) 8 (7), 3:6* (9) 10 (11) 8 "
       "(4)"},
  };
  for (const Expected& one : all) {
    EXPECT_EQ(Assembled(one.topology, Up(one.vertices)), one.primitives)
        << one.topology << " of " << one.vertices;
  }
}

TEST(Primitives, PatchesHaveUpTo32Vertices) {
  for (uint32_t points = 1; points <= 32; ++points) {
    const std::optional<Topology> topology = FindTopology(absl::StrCat("PATCHLIST_", points));
    ASSERT_TRUE(topology.has_value());
    const std::vector<Primitive> all = Assemble(*topology, Up(2 * points + points - 1));
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[1].kind, PrimitiveKind::kPatch);
    EXPECT_EQ(all[1].size, points);
    EXPECT_EQ(all[1].vertices[0], points);
    EXPECT_EQ(all[1].vertices[points - 1], 2 * points - 1);
  }
}

TEST(Primitives, OnlyTheManualsNamesAreTopologies) {
  EXPECT_TRUE(FindTopology("POINTLIST _BF").has_value()) << "as Gfx4's manual spells it";
  for (const char* name : {"", "TRI", "TRILISTS", "PATCHLIST_0", "PATCHLIST_33", "PATCHLIST_"}) {
    EXPECT_FALSE(FindTopology(name).has_value()) << name;
  }
}

TEST(Primitives, TopologiesTellHowTheyAreRasterized) {
  EXPECT_TRUE(FindTopology("POINTLIST_BF")->backfacing);
  EXPECT_TRUE(FindTopology("LINESTRIP_CONT_BF")->backfacing);
  EXPECT_TRUE(FindTopology("LINESTRIP_CONT_BF")->continues_stipple);
  EXPECT_TRUE(FindTopology("LINESTRIP_CONT")->continues_stipple);
  EXPECT_FALSE(FindTopology("LINESTRIP")->continues_stipple);
  EXPECT_FALSE(FindTopology("TRIFAN_NOSTIPPLE")->stippled);
  EXPECT_TRUE(FindTopology("TRIFAN")->stippled);
}

// The vertices are numbered as they arrive.
TEST(Primitives, TheChosenVertexProvokes) {
  const AssemblyOptions last = {.provoking = {.lines = 1, .triangles = 2, .fans = 2}};
  EXPECT_EQ(Assembled("LINELIST", Up(2), last), "0:0 1*");
  EXPECT_EQ(Assembled("LINESTRIP", Up(3), last), "0:0 1*, 1:1 2*");
  EXPECT_EQ(Assembled("LINELOOP", Up(3), last), "0:0 1*, 1:1 2*, 2:2 0*");
  EXPECT_EQ(Assembled("LINELIST_ADJ", Up(4), last), "0:(0) 1 2* (3)");
  EXPECT_EQ(Assembled("LINESTRIP_ADJ", Up(4), last), "0:(0) 1 2* (3)");
  EXPECT_EQ(Assembled("TRILIST", Up(3), last), "0:0 1 2*");
  EXPECT_EQ(Assembled("TRISTRIP", Up(4), last), "0:0 1 2*, 1:1 3* 2");
  EXPECT_EQ(Assembled("TRILIST_ADJ", Up(6), last), "0:0 (1) 2 (3) 4* (5)");
  EXPECT_EQ(Assembled("TRISTRIP_ADJ", Up(8), last), "0:0 (1) 2 (6) 4* (3), 1:2 (5) 6* (7) 4 (0)");
  EXPECT_EQ(Assembled("TRIFAN", Up(4), last), "0:0 1 2*, 1:0 2 3*");
  EXPECT_EQ(Assembled("POLYGON", Up(4), last), "0:0* 1 2, 0:0* 2 3") << "always the first";
  EXPECT_EQ(Assembled("QUADSTRIP", Up(4), last), "0:0 1 3* 2") << "always the last";
  EXPECT_EQ(Assembled("RECTLIST", Up(3), last), "0:0 1 2*");
  EXPECT_EQ(Assembled("POINTLIST", Up(1), last), "0:0*");

  const AssemblyOptions second = {.provoking = {.lines = 1, .triangles = 1, .fans = 1}};
  EXPECT_EQ(Assembled("TRISTRIP", Up(4), second), "0:0 1* 2, 1:1 3 2*");
  EXPECT_EQ(Assembled("TRISTRIP_ADJ", Up(8), second), "0:0 (1) 2* (6) 4 (3), 1:2 (5) 6 (7) 4* (0)");
  EXPECT_EQ(Assembled("TRIFAN", Up(4), second), "0:0 1* 2, 1:0 2* 3");

  // A field of two bits can hold 3.
  const AssemblyOptions wild = {.provoking = {.lines = 3, .triangles = 3, .fans = 3}};
  EXPECT_EQ(Assembled("LINELIST", Up(2), wild), "0:0 1*");
  EXPECT_EQ(Assembled("TRILIST", Up(3), wild), "0:0 1 2*");
}

TEST(Primitives, StripsCanKeepTheirLastVerticesInOrder) {
  AssemblyOptions options = {.provoking = {.triangles = 2}, .order = StripOrder::kTrailing};
  EXPECT_EQ(Assembled("TRISTRIP", Up(5), options), "0:0 1 2*, 1:2 1 3*, 2:2 3 4*");
  EXPECT_EQ(Assembled("TRISTRIP_REVERSE", Up(4), options), "0:1 0 2*, 1:1 2 3*");
  EXPECT_EQ(Assembled("TRISTRIP_ADJ", Up(8), options),
            "0:0 (1) 2 (6) 4* (3), 1:4 (0) 2 (5) 6* (7)");
  options.provoking.triangles = 0;
  EXPECT_EQ(Assembled("TRISTRIP", Up(4), options), "0:0* 1 2, 1:2 1* 3");
  EXPECT_EQ(Assembled("TRISTRIP_ADJ", Up(8), options),
            "0:0* (1) 2 (6) 4 (3), 1:4 (0) 2* (5) 6 (7)");
}

TEST(Primitives, ARestartBeginsANewStripAndDropsWhatIsIncomplete) {
  const std::vector<uint32_t> cut = {0, 1, 2, 3, kCut, 4, 5, kCut, 6, 7, 8};
  EXPECT_EQ(Assembled("TRISTRIP", cut), "0:0* 1 2, 1:1* 3 2, 2:6* 7 8");
  EXPECT_EQ(Assembled("TRIFAN", cut), "0:0* 1 2, 1:0* 2 3, 2:6* 7 8");
  EXPECT_EQ(Assembled("TRILIST", cut), "0:0* 1 2, 1:6* 7 8");
  EXPECT_EQ(Assembled("LINESTRIP", cut), "0:0* 1, 1:1* 2, 2:2* 3, 3:4* 5, 4:6* 7, 5:7* 8");
  EXPECT_EQ(Assembled("LINELOOP", cut),
            "0:0* 1, 1:1* 2, 2:2* 3, 3:3* 0, 4:4* 5, 5:5* 4, 6:6* 7, 7:7* 8, 8:8* 6");
  EXPECT_EQ(Assembled("POLYGON", cut), "0:0* 1 2, 0:0* 2 3, 1:6* 7 8");
  EXPECT_EQ(Assembled("QUADSTRIP", cut), "0:0 1 3* 2");
  EXPECT_EQ(Assembled("PATCHLIST_2", cut), "0:0* 1, 1:2* 3, 2:4* 5, 3:6* 7");
  EXPECT_EQ(Assembled("TRISTRIP", {kCut, kCut, 0, 1, 2, kCut}), "0:0* 1 2");
  // The winding of a strip begins anew, too.
  EXPECT_EQ(Assembled("TRISTRIP_ADJ", {0, 1, 2, 3, 4, 5, 6, 7, kCut, 10, 11, 12, 13, 14, 15}),
            "0:0* (1) 2 (6) 4 (3), 1:2* (5) 6 (7) 4 (0), 2:10* (11) 12 (15) 14 (13)");
}

TEST(Primitives, AnInstanceNumbersItsPrimitivesFromZero) {
  PrimitiveAssembler assembler(*FindTopology("POINTLIST"), {});
  EXPECT_EQ(assembler.Add(5)->id, 0u);
  EXPECT_EQ(assembler.Add(6)->id, 1u);
  assembler.EndStrip();
  EXPECT_EQ(assembler.Add(7)->id, 2u);
  assembler.EndStrip();
  assembler.StartInstance();
  EXPECT_EQ(assembler.Add(8)->id, 0u);
}

TEST(Primitives, TheFirstPrimitiveOfAStripIsMarked) {
  const auto starts = [](absl::string_view name, const std::vector<uint32_t>& vertices) {
    std::string all;
    for (const Primitive& one : Assemble(*FindTopology(name), vertices)) {
      all += one.starts_strip ? '1' : '0';
    }
    return all;
  };
  EXPECT_EQ(starts("LINESTRIP", {0, 1, 2, 3, kCut, 4, 5, 6}), "10010");
  EXPECT_EQ(starts("LINELIST", {0, 1, 2, 3}), "11");
  EXPECT_EQ(starts("LINELOOP", {0, 1, 2, kCut, 0, 1}), "10010");
}

TEST(Primitives, OnlyAPolygonsOuterEdgesAreItsOutline) {
  const auto outline = [](absl::string_view name, uint32_t vertices) {
    std::vector<uint32_t> all;
    for (const Primitive& one : Assemble(*FindTopology(name), Up(vertices))) {
      all.push_back(one.outline);
    }
    return all;
  };
  EXPECT_EQ(outline("POLYGON", 3), (std::vector<uint32_t>{0b111}));
  EXPECT_EQ(outline("POLYGON", 4), (std::vector<uint32_t>{0b011, 0b110}));
  EXPECT_EQ(outline("POLYGON", 5), (std::vector<uint32_t>{0b011, 0b010, 0b110}));
  EXPECT_EQ(outline("TRIFAN", 4), (std::vector<uint32_t>{0b111, 0b111}));
  EXPECT_EQ(outline("QUADLIST", 4), (std::vector<uint32_t>{0b1111}));
}

const char* const kAll[] = {
    "POINTLIST",        "LINELIST",     "LINESTRIP",    "TRILIST",          "TRISTRIP",
    "TRIFAN",           "QUADLIST",     "QUADSTRIP",    "LINELIST_ADJ",     "LINESTRIP_ADJ",
    "TRILIST_ADJ",      "TRISTRIP_ADJ", "POLYGON",      "TRISTRIP_REVERSE", "RECTLIST",
    "LINELOOP",         "POINTLIST_BF", "LINESTRIP_BF", "LINESTRIP_CONT",   "LINESTRIP_CONT_BF",
    "TRIFAN_NOSTIPPLE", "PATCHLIST_1",  "PATCHLIST_7",  "PATCHLIST_32"};

TEST(Primitives, CountsAreThoseOfAssembly) {
  for (const char* name : kAll) {
    const Topology topology = *FindTopology(name);
    for (uint32_t vertices = 0; vertices < 80; ++vertices) {
      PrimitiveAssembler assembler(topology, {});
      for (uint32_t i = 0; i < vertices; ++i) assembler.Add(i);
      const uint64_t whole = CountPrimitives(topology, vertices);
      // Where the last one needs the end to be made, it is complete before.
      if (topology.rule == AssemblyRule::kTriangleStripAdjacent) {
        EXPECT_EQ(CountCompleted(topology, vertices), whole) << name << " of " << vertices;
      } else {
        EXPECT_EQ(CountCompleted(topology, vertices), assembler.next_id())
            << name << " of " << vertices;
      }
      assembler.EndStrip();
      EXPECT_EQ(whole, assembler.next_id()) << name << " of " << vertices;
    }
  }
}

// The same from the whole sequence, by formulas on positions.
std::vector<std::vector<uint32_t>> Naive(absl::string_view name, const std::vector<uint32_t>& v) {
  std::vector<std::vector<uint32_t>> all;
  const size_t n = v.size();
  if (name == "TRISTRIP") {
    for (size_t i = 0; i + 2 < n; ++i) {
      if (i % 2 == 0) all.push_back({v[i], v[i + 1], v[i + 2]});
      if (i % 2 == 1) all.push_back({v[i], v[i + 2], v[i + 1]});
    }
  } else if (name == "TRIFAN") {
    for (size_t i = 2; i < n; ++i) all.push_back({v[0], v[i - 1], v[i]});
  } else if (name == "LINELOOP") {
    for (size_t i = 0; i < n && n > 1; ++i) all.push_back({v[i], v[(i + 1) % n]});
  } else if (name == "QUADSTRIP") {
    for (size_t i = 0; i + 3 < n; i += 2) all.push_back({v[i], v[i + 1], v[i + 3], v[i + 2]});
  } else if (name == "TRISTRIP_ADJ") {
    const size_t triangles = n < 6 ? 0 : (n - 4) / 2;
    for (size_t i = 0; i < triangles; ++i) {
      const size_t at = 2 * i;
      const uint32_t before = i == 0 ? v[1] : v[at - 2];
      const uint32_t after = i + 1 == triangles ? v[at + 5] : v[at + 6];
      if (i % 2 == 0) all.push_back({v[at], before, v[at + 2], after, v[at + 4], v[at + 3]});
      if (i % 2 == 1) all.push_back({v[at], v[at + 3], v[at + 4], after, v[at + 2], before});
    }
  }
  return all;
}

TEST(Primitives, LongStripsWithRestartsAreThoseOfANaiveAssembly) {
  std::mt19937 random(18);
  for (const char* name : {"TRISTRIP", "TRIFAN", "LINELOOP", "QUADSTRIP", "TRISTRIP_ADJ"}) {
    for (int round = 0; round < 50; ++round) {
      std::vector<uint32_t> sequence, strip;
      std::vector<std::vector<uint32_t>> expected;
      const auto end = [&] {
        for (std::vector<uint32_t>& one : Naive(name, strip)) expected.push_back(std::move(one));
        strip.clear();
      };
      for (int i = 0; i < 300; ++i) {
        if (random() % 20 == 0) {
          sequence.push_back(kCut);
          end();
        } else {
          strip.push_back(random() % 1000);
          sequence.push_back(strip.back());
        }
      }
      end();
      std::vector<std::vector<uint32_t>> got;
      for (const Primitive& one : Assemble(*FindTopology(name), sequence)) {
        got.emplace_back(one.vertices.begin(), one.vertices.begin() + one.size);
      }
      ASSERT_EQ(got, expected) << name;
    }
  }
}

}  // namespace
}  // namespace packsmith::sim
