// Each generation matches what others have published of it, except for what is listed with a
// reason: no field, value, position, default, size or offset is missing, superfluous or different.
#include "runtime/generations/generations.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gen/model/load.h"
#include "gtest/gtest.h"
#include "tests/generations/facts.h"

namespace packsmith {
namespace {

// Of published.tsv.
struct Published {
  std::map<std::string, uint32_t> counts;  // by word
  std::string digest;
};

// Of deviations.txt.
struct Deviation {
  int line = 0;  // where it begins
  std::string reason, source;
  std::vector<std::string> generations, published, here;
};

std::string Read(const std::string& path) {
  absl::StatusOr<std::string> text = model::ReadFileFromDisk(path);
  EXPECT_TRUE(text.ok()) << path << ": " << text.status();
  return text.ok() ? *std::move(text) : "";
}

std::map<std::string, Published> ReadPublished() {
  std::map<std::string, Published> all;
  for (const absl::string_view line :
       absl::StrSplit(Read("tests/generations/published.tsv"), '\n', absl::SkipEmpty())) {
    const std::vector<std::string> cells = absl::StrSplit(line, '\t');
    EXPECT_EQ(cells.size(), 8u) << line;
    if (cells.size() != 8 || cells[0] == "generation") continue;
    Published& one = all[cells[0]];
    const char* const kWords[] = {"packet", "struct", "register", "enum", "field", "value"};
    for (size_t i = 0; i < 6; ++i) {
      EXPECT_TRUE(absl::SimpleAtoi(cells[i + 1], &one.counts[kWords[i]])) << line;
    }
    one.digest = cells[7];
  }
  return all;
}

// Intel's that are built in, the oldest first.
std::vector<std::string> InOrder() {
  std::vector<std::string> names;
  for (const tables::Tables& one : BuiltInGenerations()) {
    if (one.family() == "intel") names.emplace_back(one.generation());
  }
  return names;
}

// Of "gfx4 gfx9+": the plus means all generations after that one.
std::vector<std::string> Listed(absl::string_view text) {
  static const std::vector<std::string> kOrder = InOrder();
  std::vector<std::string> names;
  for (absl::string_view name : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    const bool later = absl::ConsumeSuffix(&name, "+");
    const auto at = std::find(kOrder.begin(), kOrder.end(), name);
    EXPECT_NE(at, kOrder.end()) << name;
    if (at == kOrder.end()) continue;
    names.insert(names.end(), at, later ? kOrder.end() : at + 1);
  }
  return names;
}

std::vector<Deviation> ReadDeviations() {
  std::vector<Deviation> all;
  int number = 0;
  bool inside = false;
  for (const absl::string_view line :
       absl::StrSplit(Read("tests/generations/deviations.txt"), '\n')) {
    ++number;
    if (line.empty()) {
      inside = false;
      continue;
    }
    if (!inside) all.emplace_back().line = number;
    inside = true;
    Deviation& one = all.back();
    EXPECT_GE(line.size(), 3u) << number;
    const std::string rest(line.substr(std::min<size_t>(2, line.size())));
    switch (line[0]) {
      case '#':
        (absl::StartsWith(rest, "Source: ") || !one.source.empty() ? one.source : one.reason) +=
            rest;
        break;
      case '@':
        one.generations = Listed(rest);
        break;
      case '-':
        one.published.push_back(rest);
        break;
      case '+':
        one.here.push_back(rest);
        break;
      default:
        ADD_FAILURE() << "line " << number << " begins with none of # @ - +";
    }
  }
  // The remark at the head of the file.
  if (!all.empty() && all.front().generations.empty()) all.erase(all.begin());
  return all;
}

std::vector<Fact> FactsIn(const std::string& generation) {
  const model::LoadResult result =
      model::Load(absl::StrCat("xml/intel/", generation, ".xml"), model::ReadFileFromDisk);
  EXPECT_FALSE(result.diagnostics.has_errors()) << model::ToStatus(result);
  return FactsOf(result.model);
}

// Removes the facts that a line of a deviation names; false if there is no such fact. The line
// "packet NAME *" names all of the packet.
bool TakeOut(absl::string_view line, std::vector<Fact>& facts) {
  const size_t before = facts.size();
  const bool all = absl::ConsumeSuffix(&line, " *");
  const absl::string_view name = line.substr(line.find(' ') + 1);
  const auto is_meant = [&](const Fact& fact) { return all ? fact.of == name : fact.text == line; };
  facts.erase(std::remove_if(facts.begin(), facts.end(), is_meant), facts.end());
  return facts.size() != before;
}

TEST(Generations, AllThatAreBuiltInHaveBeenCompared) {
  std::set<std::string> compared, built_in;
  for (const auto& [generation, published] : ReadPublished()) compared.insert(generation);
  for (const tables::Tables& one : BuiltInGenerations()) {
    if (one.family() == "intel") built_in.emplace(one.generation());
  }
  EXPECT_EQ(built_in, compared);
}

TEST(Generations, DeviationsMayHoldFromAGenerationOn) {
  EXPECT_EQ(Listed("gfx9"), std::vector<std::string>{"gfx9"});
  const std::vector<std::string> all = Listed("gfx4+"), later = Listed("gfx6 xe2+");
  EXPECT_EQ(all, InOrder());
  EXPECT_EQ(later[0], "gfx6");
  EXPECT_EQ(later[1], "xe2");
  EXPECT_EQ(later.back(), InOrder().back());
}

TEST(Generations, DeviationsHaveAReasonASourceAndGenerations) {
  const std::map<std::string, Published> published = ReadPublished();
  const std::vector<Deviation> deviations = ReadDeviations();
  EXPECT_FALSE(deviations.empty());
  for (const Deviation& one : deviations) {
    EXPECT_FALSE(one.reason.empty()) << "line " << one.line;
    EXPECT_FALSE(one.source.empty()) << "line " << one.line;
    EXPECT_FALSE(one.generations.empty()) << "line " << one.line;
    EXPECT_FALSE(one.published.empty() && one.here.empty()) << "line " << one.line;
    for (const std::string& generation : one.generations) {
      EXPECT_EQ(published.count(generation), 1u) << "line " << one.line << ": " << generation;
    }
  }
}

TEST(Generations, SayWhatIsPublishedExceptForTheDeviations) {
  const std::vector<Deviation> deviations = ReadDeviations();
  for (const auto& [generation, published] : ReadPublished()) {
    SCOPED_TRACE(generation);
    std::vector<Fact> facts = FactsIn(generation);
    for (const Deviation& one : deviations) {
      if (std::count(one.generations.begin(), one.generations.end(), generation) == 0) continue;
      for (const std::string& line : one.published) {
        EXPECT_FALSE(TakeOut(line, facts))
            << "deviations.txt, line " << one.line << " no longer applies: " << line << " is there";
      }
      for (const std::string& line : one.here) {
        EXPECT_TRUE(TakeOut(line, facts))
            << "deviations.txt, line " << one.line << " no longer applies: there is no " << line;
      }
      for (const std::string& line : one.published) facts.push_back({"", line});
    }
    for (const auto& [word, count] : published.counts) {
      EXPECT_EQ(CountOf(facts, word), count) << word;
    }
    EXPECT_EQ(DigestOf(facts), published.digest)
        << "a fact has changed; README.md explains how to find it";
  }
}

TEST(Generations, AProductIsOfOneGeneration) {
  std::map<uint32_t, std::string> products;
  for (const tables::Tables& one : BuiltInGenerations()) {
    const model::LoadResult result =
        model::Load(absl::StrCat("xml/intel/", one.generation(), ".xml"), model::ReadFileFromDisk);
    if (one.family() != "intel") continue;
    EXPECT_FALSE(result.model.platforms.empty()) << one.generation();
    for (const model::Platform& platform : result.model.platforms) {
      // Workarounds name Nova Lake-U, whose ids are not public.
      EXPECT_EQ(platform.pci_ids.empty(), platform.name == "nvlu") << platform.name;
      for (const uint32_t id : platform.pci_ids) {
        const auto [it, is_new] = products.emplace(id, platform.name);
        EXPECT_TRUE(is_new) << platform.name << " and " << it->second << " have the PCI id " << id;
        const absl::StatusOr<tables::Tables> found = FindGenerationOfPciId(id);
        ASSERT_TRUE(found.ok()) << found.status();
        EXPECT_EQ(found->generation(), one.generation());
      }
    }
  }
  EXPECT_GT(products.size(), 300u);
}

TEST(Generations, HaveTheNamesThatPeopleUse) {
  const std::map<std::string, std::string> kNames = {
      {"4", "gfx4"},     {"4.5", "gfx45"}, {"g4x", "gfx45"}, {"ilk", "gfx5"},  {"snb", "gfx6"},
      {"ivb", "gfx7"},   {"75", "gfx75"},  {"HSW", "gfx75"}, {"bdw", "gfx8"},  {"9", "gfx9"},
      {"skl", "gfx9"},   {"icl", "gfx11"}, {"tgl", "gfx12"}, {"120", "gfx12"}, {"12.5", "gfx125"},
      {"dg2", "gfx125"}, {"20", "xe2"},    {"gfx20", "xe2"}, {"lnl", "xe2"},   {"gfx30", "xe3"},
      {"ptl", "xe3"}};
  for (const auto& [name, generation] : kNames) {
    const absl::StatusOr<tables::Tables> found = FindGeneration(name);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(found->generation(), generation) << name;
  }
  std::map<std::string, std::string> names;
  for (const tables::Tables& one : BuiltInGenerations()) {
    std::vector<std::string> all = absl::StrSplit(one.aliases(), ' ', absl::SkipEmpty());
    all.emplace_back(one.generation());
    for (const std::string& name : all) {
      EXPECT_TRUE(names.emplace(name, one.generation()).second) << name;
    }
  }
}

}  // namespace
}  // namespace packsmith
