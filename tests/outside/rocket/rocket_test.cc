// packsmith_library in another workspace: headers of two generations and decode tables.
#include <cstdint>

#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "packsmith/rocket1.h"
#include "packsmith/rocket1_names.h"
#include "packsmith/rocket1_tables.h"
#include "packsmith/rocket2.h"
#include "packsmith/rocket2_tables.h"
#include "runtime/tables/tables.h"

namespace {

TEST(Rocket, PacketsComeBack) {
  uint32_t dwords[packsmith::rocket1::CLEAR::length];
  ASSERT_FALSE((packsmith::rocket1::CLEAR{.width = 7, .target = 0x100}.pack(dwords)));
  const auto clear = packsmith::rocket1::CLEAR::unpack(dwords);
  EXPECT_EQ(clear.width, 7u);
  EXPECT_EQ(clear.target, packsmith::address(0x100));
}

TEST(Rocket, AValueThatDoesNotFitIsRefusedByName) {
  uint32_t dwords[packsmith::rocket1::CLEAR::length];
  const packsmith::error wrong = packsmith::rocket1::CLEAR{.width = 65537}.pack(dwords);
  EXPECT_EQ(packsmith::to_text(wrong), "width needs more bits than its field has");
}

TEST(Rocket, AnHeirHasWhatItAddsAndWhatItInherits) {
  EXPECT_EQ(packsmith::rocket2::CLEAR::length, 6u);
  uint32_t dwords[packsmith::rocket2::CLEAR::length];
  ASSERT_FALSE((packsmith::rocket2::CLEAR{.color = 3, .depth = 1.0f}.pack(dwords)));
  EXPECT_EQ(dwords[0], 0x10000004u);
  EXPECT_EQ(dwords[4], 3u);
  EXPECT_EQ(dwords[5], 0x3f800000u);
  EXPECT_EQ(packsmith::rocket2::END::length, 1u);
}

TEST(Rocket, DecodeTablesAreEmbedded) {
  for (const packsmith::tables::EmbeddedBlock* block :
       {&packsmith::tables::rocket1_tables, &packsmith::tables::rocket2_tables}) {
    const auto tables = packsmith::tables::Tables::Open(
        absl::MakeSpan(reinterpret_cast<const uint8_t*>(block->words), block->bytes));
    ASSERT_TRUE(tables.ok()) << tables.status();
    EXPECT_EQ(tables->family(), "acme");
  }
}

}  // namespace
