// A description that extends one of packsmith's own.
#include "packsmith/gfx9_marked.h"

#include <cstdint>

#include "gtest/gtest.h"
#include "packsmith/gfx9.h"
#include "packsmith/gfx9_marked_video.h"

namespace {

namespace ours = packsmith::gfx9_marked;
namespace theirs = packsmith::gfx9;

TEST(Gfx9Marked, HasWhatItAdds) {
  EXPECT_EQ(ours::FIRMWARE_STATE::register_offset, 0x3ffc0u);
  constexpr auto frame = packed(ours::MI_NOOP{
      .identification_number = ours::MI_NOOP::IDENTIFICATION_NUMBER_FRAME,
      .identification_number_register_write_enable = true,
  });
  EXPECT_EQ(frame.dw[0], 0x00400100u);
}

// The header of the video engines declares nothing that the whole one has declared.
TEST(Gfx9Marked, HasAPartAsWell) {
  constexpr auto start = packed(ours::HUC_START{.last_stream_object = true});
  EXPECT_EQ(start.dw[0], 0x75a10000u);
  EXPECT_EQ(start.dw[1], 1u);
}

TEST(Gfx9Marked, HasWhatItInherits) {
  constexpr auto stall = packed(ours::PIPE_CONTROL{.command_streamer_stall_enable = true});
  constexpr auto expected = packed(theirs::PIPE_CONTROL{.command_streamer_stall_enable = true});
  EXPECT_EQ(ours::PIPE_CONTROL::length, theirs::PIPE_CONTROL::length);
  for (unsigned i = 0; i < ours::PIPE_CONTROL::length; ++i) EXPECT_EQ(stall.dw[i], expected.dw[i]);
}

}  // namespace
