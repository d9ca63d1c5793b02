// Blits of values that no packet has, or that only a hostile one has: they end within the limit,
// and no arithmetic overflows (which the sanitizers see).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <vector>

#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "runtime/sim/blit/blit.h"
#include "runtime/sim/memory_access.h"

namespace packsmith::sim {
namespace {

constexpr uint64_t kMost_B = 1 << 15;

// All addresses are mapped, so that nothing ends early.
class Everywhere : public MemoryAccess {
 public:
  size_t Read(uint32_t, uint64_t, absl::Span<uint8_t> out) const override {
    std::fill(out.begin(), out.end(), uint8_t{0x5a});
    return out.size();
  }
  size_t Write(uint32_t, uint64_t, absl::Span<const uint8_t> bytes) override {
    return bytes.size();
  }
};

class Hostile {
 public:
  explicit Hostile(uint64_t seed) : random_(seed) {}

  uint64_t Below(uint64_t most) { return random_() % most; }
  bool Coin() { return Below(2) == 0; }
  int64_t Number() {
    constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
    constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
    constexpr int64_t kNumbers[] = {0,
                                    1,
                                    -1,
                                    3,
                                    8,
                                    64,
                                    128,
                                    512,
                                    4096,
                                    -4096,
                                    65535,
                                    65536,
                                    -65536,
                                    int64_t{1} << 31,
                                    -(int64_t{1} << 31),
                                    (int64_t{1} << 32) - 1,
                                    kMaxCoordinate - 1,
                                    kMaxCoordinate,
                                    -kMaxCoordinate,
                                    2 * kMaxCoordinate,
                                    -2 * kMaxCoordinate,
                                    int64_t{1} << 62,
                                    kMax,
                                    kMin};
    // Rather numbers that packets have, the first 13.
    return kNumbers[Below(Below(6) == 0 ? std::size(kNumbers) : 13)];
  }
  uint32_t Small() { return static_cast<uint32_t>(Number()); }
  BlitRectangle Rectangle() { return {Number(), Number(), Number(), Number()}; }
  BlitSurface Surface() {
    BlitSurface out;
    out.space = static_cast<uint32_t>(Below(2));
    out.address = static_cast<uint64_t>(Number());
    out.pitch_B = Number();
    if (Coin()) out.tiling = static_cast<BlitTiling>(Below(kBlitTilings));
    out.bit6_swizzle = Below(8) == 0;
    if (Coin()) out.x_offset_px = Small();
    if (Coin()) out.y_offset_px = Small();
    if (Below(4) == 0) {
      out.level = BlitLevel{.width_px = Small(),
                            .height_px = Small(),
                            .is_3d = Coin(),
                            .level = static_cast<uint32_t>(Below(20)),
                            .mip_tail_level = static_cast<uint32_t>(Below(17)),
                            .align_w_B = Small(),
                            .align_h_px = Small(),
                            .slice = Small(),
                            .qpitch_px = Small()};
    }
    return out;
  }
  BlitBytes Bytes() {
    BlitBytes out;
    out.address = static_cast<uint64_t>(Number());
    static const std::vector<uint8_t>& kSome = *new std::vector<uint8_t>(100, 0x33);
    if (Coin()) out.immediate = absl::MakeConstSpan(kSome).first(Below(100));
    return out;
  }
  Blit Make() {
    Blit out;
    out.format = static_cast<BlitFormat>(Below(kBlitFormats));
    out.destination = Surface();
    out.rectangle = Rectangle();
    if (Coin()) out.clip = Rectangle();
    if (Coin()) out.raster_operation = static_cast<uint8_t>(Below(256));
    out.write_rgb = Below(4) != 0;
    out.write_alpha = Below(4) != 0;
    out.order = static_cast<BlitOrder>(Below(3));
    switch (Below(4)) {
      case 0:
        break;
      case 1:
        out.source = MonoSource{.bits = Bytes(),
                                .first_bit = static_cast<uint32_t>(Below(8)),
                                .rows = static_cast<MonoRows>(Below(3)),
                                .transparent = Coin()};
        break;
      default: {
        SurfaceSource source{.surface = Surface(), .x1 = Number(), .y1 = Number()};
        // The same surface, or one of the same grid.
        if (Coin()) source.surface = out.destination;
        if (Below(4) == 0) source.surface.address = static_cast<uint64_t>(Number());
        out.source = source;
      }
    }
    switch (Below(4)) {
      case 0:
        out.pattern = SolidPattern{.color = {1, 2, 3, 4}};
        break;
      case 1:
        out.pattern = ColorPattern{.pixels = Bytes(), .x_seed = Small(), .y_seed = Small()};
        break;
      case 2:
        out.pattern = MonoPattern{.x_seed = Small(), .y_seed = Small(), .transparent = Coin()};
        break;
      default:
        break;
    }
    if (Below(4) == 0) {
      out.chroma_key = ChromaKey{.mode = static_cast<ChromaKey::Mode>(Below(4)), .high = Small()};
    }
    return out;
  }

 private:
  std::mt19937_64 random_;
};

TEST(HostileBlit, OfAnyValuesEndsWithinTheLimit) {
  Everywhere memory;
  uint64_t done = 0, stopped = 0, refused = 0;
  for (uint64_t seed = 0; seed < 20000; ++seed) {
    const Blit blit = Hostile(seed).Make();
    const BlitOutcome outcome = ExecuteBlit(blit, memory, {.max_B = kMost_B});
    ASSERT_LE(outcome.processed_B, kMost_B) << seed;
    ASSERT_LE(outcome.written_B, outcome.processed_B) << seed;
    done += outcome.status.ok() ? 1 : 0;
    stopped += absl::IsResourceExhausted(outcome.status) ? 1 : 0;
    refused += absl::IsInvalidArgument(outcome.status) ? 1 : 0;
  }
  EXPECT_GT(done, 1000u);
  EXPECT_GT(stopped, 100u);
  EXPECT_GT(refused, 1000u);
}

TEST(HostileBlit, TheLargestRectangleWithoutGapsEndsAtTheLimit) {
  Everywhere memory;
  constexpr int64_t kPitch_B = int64_t{1} << 24;
  Blit blit;
  blit.format = BlitFormat::k128;
  blit.destination = {.pitch_B = kPitch_B};
  blit.rectangle = {0, -kMaxCoordinate, kPitch_B / 16, kMaxCoordinate};
  blit.raster_operation = RasterOperation::kPattern;
  blit.pattern = SolidPattern{};
  const BlitOutcome outcome = ExecuteBlit(blit, memory, {.max_B = kMost_B});
  EXPECT_TRUE(absl::IsResourceExhausted(outcome.status)) << outcome.status;
  EXPECT_EQ(outcome.written_B, kMost_B);
}

TEST(HostileBlit, APitchThatNoPacketHasIsRefused) {
  // It has no positive counterpart.
  Everywhere memory;
  Blit blit;
  blit.destination = {.address = 64, .pitch_B = std::numeric_limits<int64_t>::min()};
  blit.rectangle = {0, 0, 16, 16};
  blit.source =
      SurfaceSource{.surface = {.address = 0, .pitch_B = std::numeric_limits<int64_t>::min()}};
  const BlitOutcome outcome = ExecuteBlit(blit, memory, {.max_B = kMost_B});
  EXPECT_TRUE(absl::IsInvalidArgument(outcome.status)) << outcome.status;
}

}  // namespace
}  // namespace packsmith::sim
