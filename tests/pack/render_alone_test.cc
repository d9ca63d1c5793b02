// What the render engines have declares nothing of the video engines: their names are free.
#include "packsmith/gfx125_render.h"

namespace packsmith::gfx125 {
struct AVP_BSD_OBJECT {};
struct VEBOX_STATE {};
struct XY_BLOCK_COPY_BLT {};
}  // namespace packsmith::gfx125

#include <gtest/gtest.h>

namespace packsmith::gfx125 {
namespace {

TEST(RenderAlone, HasWhatItsEnginesAndAllHave) {
  constexpr auto kStall = packed(PIPE_CONTROL{.command_streamer_stall_enable = true});
  EXPECT_EQ(kStall.dw[0], 0x7a000004u);
  constexpr auto kNothing = packed(MI_NOOP{});
  EXPECT_EQ(kNothing.dw[0], 0u);
  EXPECT_EQ(COMPUTE_WALKER::length, 39u);
}

}  // namespace
}  // namespace packsmith::gfx125
