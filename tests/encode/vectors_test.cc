// Every packet, structure and register of every generation: the encoder makes of a vector's values
// the vector's bytes, and of what the decoder says of random bytes those bytes again, from JSON and
// from the short form.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/fields/undescribed.h"
#include "runtime/decode/fields/value.h"
#include "runtime/decode/record.h"
#include "runtime/decode/sinks/jsonl_sink.h"
#include "runtime/encode/assembler.h"
#include "runtime/encode/encoder.h"
#include "runtime/encode/json.h"
#include "runtime/encode/source.h"
#include "runtime/generations/generations.h"
#include "tests/vectors/reader.h"

namespace packsmith::encode {
namespace {

using tables::Container;
using tables::Tables;

absl::StatusOr<Tables> Find(absl::string_view name) { return FindGeneration(name); }

// A generation's vectors that no generation before it has: what it inherits is the same.
struct NewVectors {
  std::vector<vectors::ReadVector> vectors;
  std::set<std::string> containers;
};

const NewVectors& NewVectorsOf(const std::string& generation) {
  static auto& known = *new std::map<std::string, NewVectors>;
  static auto& seen = *new std::set<std::string>;  // lines
  const auto [at, is_new] = known.try_emplace(generation);
  if (!is_new) return at->second;
  const absl::StatusOr<std::string> text =
      vectors::ReadText(absl::StrCat("tests/vectors/", generation, ".jsonl.zst"));
  EXPECT_TRUE(text.ok()) << text.status();
  std::string lines;
  for (const absl::string_view line : absl::StrSplit(text.value_or(""), '\n')) {
    if (seen.insert(std::string(line)).second) absl::StrAppend(&lines, line, "\n");
  }
  absl::StatusOr<std::vector<vectors::ReadVector>> parsed = vectors::ParseVectors(lines);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  if (parsed.ok()) at->second.vectors = *std::move(parsed);
  for (const vectors::ReadVector& vector : at->second.vectors) {
    at->second.containers.insert(vector.container);
  }
  return at->second;
}

class EveryGeneration : public testing::TestWithParam<std::string> {
 protected:
  EveryGeneration() : new_(NewVectorsOf(GetParam())), tables_(*Find(GetParam())) {}

  const NewVectors& new_;
  const Tables tables_;
};

TEST_P(EveryGeneration, ValuesBecomeTheVectorsBytes) {
  Encoder encoder(tables_);
  std::vector<uint8_t> bytes;
  std::vector<FieldProblem> problems;
  size_t wrong = 0;
  for (const vectors::ReadVector& vector : new_.vectors) {
    std::vector<Field> fields;
    for (const auto& [name, number] : vector.fields) {
      const auto integer = static_cast<int64_t>(number.integer);
      // A vector has signed numbers as they are, without a sign of their own.
      const bool negative = !number.is_real && integer < 0 && number.real < 0;
      fields.push_back({.name = name,
                        .value = number.is_real ? Given::Real(number.real)
                                 : negative     ? Given::Signed(integer)
                                                : Given::Integer(number.integer)});
    }
    problems.clear();
    EncodeRequest request;
    request.container = tables_.FindContainer(vector.container);
    ASSERT_NE(request.container, tables::kNone) << vector.container;
    // What a vector omits is zero, also where zero is not valid; the last items of a tail may be.
    request.lenient = true;
    request.fields = fields;
    request.bytes = vector.packed.size();
    const bool good = encoder.Encode(request, bytes, problems);
    if (good && bytes == vector.packed) continue;
    if (++wrong > 5) break;
    ADD_FAILURE() << vector.container << ", " << vector.what << ": "
                  << (problems.empty() ? "other bytes" : problems[0].text);
  }
}

// Random bits with the opcode of the container, as long as they say; empty if that is impossible.
std::vector<uint8_t> RandomRecord(const Tables& t, const Container& c, uint64_t& seed) {
  const auto next = [&] {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed >> 32;
  };
  std::vector<uint8_t> bytes(std::max(c.max_bytes, c.bytes) + 256);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(next() & next());
  for (const tables::Leaf& leaf : t.leaves(c.leaves)) {
    if ((leaf.flags & tables::kForced) == 0 || leaf.bit + leaf.width > bytes.size() * 8) continue;
    decode::WriteBits(absl::MakeSpan(bytes), leaf.bit, leaf.width, t.extra(leaf.extra).forced);
  }
  if (c.length_leaf != tables::kNone) {
    // One of the lengths that fit.
    const tables::Leaf& leaf = t.leaf(c.length_leaf);
    const uint64_t least = c.bytes / c.length_unit, most = bytes.size() / c.length_unit;
    uint64_t steps =
        c.tail_size != 0 || c.variants.count != 0 ? least + next() % (most - least + 1) : least;
    if (steps < c.length_bias) return {};
    decode::WriteBits(absl::MakeSpan(bytes), leaf.bit, leaf.width, steps - c.length_bias);
  }
  const uint64_t size = decode::LengthOf(t, c, bytes);
  if (size == 0 || size > bytes.size()) return {};
  bytes.resize(size);
  return bytes;
}

TEST_P(EveryGeneration, RecordsComeBackFromJsonAndFromTheShortForm) {
  const Tables& t = tables_;
  uint64_t seed = 1;
  size_t records = 0, numbers = 0;
  std::vector<std::vector<uint8_t>> all;
  std::vector<uint32_t> containers;
  for (uint32_t i = 0; i < t.containers().size(); ++i) {
    if (!new_.containers.contains(std::string(t.string(t.container(i).name)))) continue;
    for (int round = 0; round < 3; ++round) {
      std::vector<uint8_t> bytes = RandomRecord(t, t.container(i), seed);
      if (bytes.empty()) continue;
      all.push_back(std::move(bytes));
      containers.push_back(i);
    }
  }
  // All of them in one text each, a page apart.
  decode::StringOutput json;
  std::string source = absl::StrCat(".gen ", t.generation(), "\n");
  {
    const std::unique_ptr<decode::Sink> sink = decode::MakeJsonlSink(json, {.undescribed = true});
    sink->OnSchema(t);
    for (size_t i = 0; i < all.size(); ++i) {
      const Container& container = t.container(containers[i]);
      const decode::PlacedParts parts = decode::PlaceParts(t, container, all[i]);
      decode::Record record;
      record.type = decode::RecordType::kStruct;
      record.id = i;
      record.address = i << 16;
      record.container = &container;
      record.name = t.string(container.name);
      record.bytes = all[i];
      record.parts = parts;
      // What is wrong is not in the fields.
      std::vector<decode::Fault> faults;
      faults.push_back({decode::FaultKind::kRange, 0, 1, 0, "random"});
      decode::ForEachField(t, {container, all[i], parts}, [&](const decode::FieldAt& at) {
        if ((at.leaf->flags & (tables::kMustBeZero | tables::kMustBeOne | tables::kForced)) == 0 &&
            !at.cut) {
          return;
        }
        for (uint32_t done = 0; done < at.width; done += 64) {
          const uint32_t width = std::min(64u, at.width - done);
          faults.push_back({decode::FaultKind::kReserved, at.bit + done, width,
                            decode::ReadBits(all[i], at.bit + done, width), "random"});
        }
      });
      record.faults = faults;
      sink->OnRecord(record);
      absl::StrAppend(&source, ".org 0x", absl::Hex(record.address), "\n",
                      RecordSource(t, container, all[i]));
      ++records;
    }
    sink->OnSummary({});
  }
  for (size_t at = source.find("no short form"); at != std::string::npos;
       at = source.find("no short form", at + 1)) {
    ++numbers;
  }
  EXPECT_GE(records, new_.containers.size());
  // Nearly every bit pattern has a short form.
  EXPECT_LE(numbers * 20, records) << source.substr(source.find("no short form") - 60, 100);

  const Source json_source{"records.jsonl", json.text()};
  const absl::StatusOr<Packed> from_json = ReadJson(json_source, Find, {.fields_only = true});
  ASSERT_TRUE(from_json.ok()) << from_json.status();
  const Source text_source{"records.asm", source};
  const absl::StatusOr<Packed> from_text = Assemble(text_source, Find);
  ASSERT_TRUE(from_text.ok()) << from_text.status();
  for (const Packed* packed : {&*from_json, &*from_text}) {
    const std::vector<Image::Run> runs = packed->image.Runs();
    ASSERT_EQ(runs.size(), all.size());
    size_t wrong = 0;
    for (size_t i = 0; i < all.size() && wrong < 5; ++i) {
      EXPECT_EQ(runs[i].address, i << 16);
      if (runs[i].bytes == all[i]) continue;
      ++wrong;
      std::string bits;
      for (size_t b = 0; b < std::min(all[i].size(), runs[i].bytes.size()); ++b) {
        if (all[i][b] != runs[i].bytes[b]) absl::StrAppend(&bits, " ", b);
      }
      ADD_FAILURE() << (packed == &*from_json ? "json: " : "text: ")
                    << t.string(t.container(containers[i]).name) << ": " << runs[i].bytes.size()
                    << " bytes of " << all[i].size() << ", wrong:" << bits << "\n"
                    << RecordSource(t, t.container(containers[i]), all[i]);
    }
  }
}

TEST(Vectors, AreMany) {
  size_t vectors = 0, containers = 0;
  for (const Tables& tables : BuiltInGenerations()) {
    vectors += NewVectorsOf(std::string(tables.generation())).vectors.size();
    containers += NewVectorsOf(std::string(tables.generation())).containers.size();
  }
  EXPECT_GT(vectors, 10000u);
  EXPECT_GT(containers, 1000u);
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const Tables& tables : BuiltInGenerations()) names.emplace_back(tables.generation());
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, EveryGeneration, testing::ValuesIn(Names()),
                         [](const testing::TestParamInfo<std::string>& info) {
                           return info.param;
                         });

}  // namespace
}  // namespace packsmith::encode
