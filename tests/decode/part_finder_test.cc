#include "runtime/decode/fields/part_finder.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "runtime/decode/fields/fields.h"
#include "runtime/generations/generations.h"

namespace packsmith::decode {
namespace {

// Bytes with few bits set, so that records with few parts come as well as records with many.
std::vector<uint8_t> RandomBytes(std::mt19937& random) {
  std::vector<uint8_t> bytes(random() % 160);
  for (uint8_t& byte : bytes) {
    byte = static_cast<uint8_t>(random() & (random() % 2 == 0 ? random() : 0xff));
  }
  return bytes;
}

TEST(PartFinder, FindsThePartsThatTheTablesSay) {
  const tables::Tables tables = *FindGeneration("g13");
  PartFinder finder(tables);
  std::mt19937 random(1);
  uint64_t placed_parts = 0;
  for (const tables::Container& container : tables.containers()) {
    if (container.parts.count == 0) continue;
    for (int i = 0; i < 500; ++i) {
      const std::vector<uint8_t> bytes = RandomBytes(random);
      const PlacedParts expected = PlaceParts(tables, container, bytes);
      const PlacedParts placed = finder.Place(container, bytes);
      ASSERT_EQ(placed.size(), expected.size()) << tables.string(container.name);
      for (size_t k = 0; k < placed.size(); ++k) {
        EXPECT_EQ(placed[k].part, expected[k].part);
        EXPECT_EQ(placed[k].bit, expected[k].bit);
        EXPECT_EQ(placed[k].count, expected[k].count);
      }
      EXPECT_EQ(finder.Length(container, bytes), LengthOf(tables, container, bytes));
      placed_parts += placed.size();
    }
  }
  EXPECT_GT(placed_parts, 5000u);
}

// Parts past the record's end have no place, and the last one may be cut.
TEST(PartFinder, PlacesWhatBeginsInsideOfTheRecord) {
  const tables::Tables tables = *FindGeneration("g13");
  PartFinder finder(tables);
  const tables::Container& container = tables.container(tables.FindContainer("PPP Header"));
  // Region clips (eight bytes) of three viewports.
  std::vector<uint8_t> bytes = {0x00, 0x24, 0x00, 0x00};
  EXPECT_TRUE(finder.Place(container, bytes).empty());
  bytes.resize(4 + 12);
  const PlacedParts placed = finder.Place(container, bytes);
  ASSERT_EQ(placed.size(), 1u);
  EXPECT_EQ(tables.string(placed[0].part->name), "Region clip");
  EXPECT_EQ(placed[0].bit, 32u);
  EXPECT_EQ(placed[0].count, 2u);
  EXPECT_EQ(finder.Length(container, bytes), 4u + 3 * 8);
}

}  // namespace
}  // namespace packsmith::decode
