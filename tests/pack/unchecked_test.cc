#include "tests/pack/unchecked.h"

#include "gtest/gtest.h"
#include "packsmith/kinds.h"

bool PackedWithChecksFails(uint32_t* dw) {
  volatile uint32_t sixteen = 16;
  return static_cast<bool>(packsmith::kinds::INTEGERS{.small = sixteen}.pack(dw));
}

namespace {

TEST(Checks, TwoFilesWithDifferentDefaultsKeepThem) {
  uint32_t dw[packsmith::kinds::INTEGERS::length];
  EXPECT_TRUE(PackedWithChecksFails(dw));
  EXPECT_FALSE(PackedWithoutChecksFails(dw));
  EXPECT_TRUE(PackedWithChecksFails(dw));
}

}  // namespace
