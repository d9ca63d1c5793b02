// Headers of parts in the order that costs most: one alone, another, then the whole, which declares
// nothing again.
#include "packsmith/gfx125_video.h"

namespace {
// Before the whole header: a part alone is enough to pack its packets.
using packsmith::gfx125::AVP_BSD_OBJECT;
using packsmith::gfx125::MI_NOOP;
}  // namespace

#include <gtest/gtest.h>

#include "packsmith/gfx125_render.h"
// The others, and all of them under one name.
#include "packsmith/gfx125.h"

namespace packsmith {
namespace {

TEST(Parts, APacketIsTheSameInItsPartAndInTheWhole) {
  static_assert(std::is_same_v<AVP_BSD_OBJECT, gfx125::generation::AVP_BSD_OBJECT>);
  static_assert(std::is_same_v<gfx125::PIPE_CONTROL, gfx125::generation::PIPE_CONTROL>);
  static_assert(std::is_same_v<MI_NOOP, gfx125::generation::MI_NOOP>);
  static_assert(gfx125::generation::version_x10 == 125);
}

TEST(Parts, PacketsOfAPartPack) {
  uint32_t dw[AVP_BSD_OBJECT::length];
  const AVP_BSD_OBJECT tile{.tile_indirect_bsd_data_length = 0x1234,
                            .tile_indirect_data_start_address = 0x40};
  ASSERT_FALSE(tile.pack(dw));
  EXPECT_EQ(dw[0], 0x71a00001u);
  EXPECT_EQ(dw[1], 0x1234u);
  EXPECT_EQ(dw[2], 0x40u);
}

}  // namespace
}  // namespace packsmith
