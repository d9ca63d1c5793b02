#include "runtime/base/closest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace packsmith {
namespace {

TEST(ClosestTest, TheNearestNameComesFirst) {
  Closest closest("3dprimitiv");
  for (const char* name : {"3DSTATE_VS", "3DPRIMITIVE_EXTENDED", "3DPRIMITIVE", "MI_NOOP"}) {
    closest.Offer(name);
  }
  EXPECT_EQ(closest.Names(), (std::vector<std::string>{"3DPRIMITIVE", "3DPRIMITIVE_EXTENDED"}));
}

TEST(ClosestTest, NothingIsCloseToSomethingElse) {
  EXPECT_EQ(DidYouMean("weather", {"render", "blitter"}), "");
}

TEST(ClosestTest, ShortNamesOfOtherLettersAreNotClose) {
  EXPECT_EQ(DidYouMean("?", {"4", "5", "gm"}), "");
  EXPECT_EQ(DidYouMean("xy", {"4", "5", "gm", "x"}), "; did you mean x?");
}

TEST(ClosestTest, ANameIsSuggestedOnce) {
  EXPECT_EQ(DidYouMean("rendr", {"render", "render", "video"}), "; did you mean render?");
}

TEST(ClosestTest, AtMostEightAreSuggested) {
  Closest closest("name");
  for (int i = 0; i < 100; ++i) closest.Offer("name" + std::to_string(i));
  EXPECT_EQ(closest.Names().size(), 8u);
}

TEST(ClosestTest, LongTextsCostLittle) {
  const std::string long_text(1 << 20, 'a');
  Closest closest(long_text);
  closest.Offer(long_text);
  closest.Offer("a");
  EXPECT_TRUE(closest.Names().empty());
}

}  // namespace
}  // namespace packsmith
