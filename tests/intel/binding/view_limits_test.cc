#include "runtime/intel/binding/view_limits.h"

#include <cstdint>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/intel/batch/generations.h"

namespace packsmith::intel {
namespace {

using testing::HasSubstr;

template <class Gen>
class ViewLimitsTest : public testing::Test {
 protected:
  static constexpr ViewLimits kLimits = ViewLimitsOf<Gen>();

  static ImageSurface Image() {
    ImageSurface image;
    image.mocs = 2;
    image.pitch = 64;
    return image;
  }
  // Whether it is within the limits, and whether a state of it can be written.
  static void Expect(const ImageSurface& image, bool fits, const char* what) {
    const absl::Status status = CheckView(image, kLimits);
    EXPECT_EQ(status.ok(), fits) << status;
    if (!fits) {
      EXPECT_THAT(status.message(), HasSubstr(what));
    }
    uint32_t dwords[SurfaceState<Gen>::length];
    StateUses uses;
    if (fits) {
      const absl::Status written = WriteSurface<Gen>(image, dwords, &uses);
      EXPECT_TRUE(written.ok()) << what << ": " << written;
    }
  }
};
TYPED_TEST_SUITE(ViewLimitsTest, Generations);

TYPED_TEST(ViewLimitsTest, StatesHoldTheLimitsAndChecksNameThem) {
  constexpr ViewLimits kLimits = ViewLimitsTest<TypeParam>::kLimits;
  EXPECT_EQ(kLimits.size_2d, 16384u);
  EXPECT_EQ(kLimits.size_3d, 2048u);
  EXPECT_EQ(kLimits.levels, 15u);
  EXPECT_EQ(kLimits.samples, TypeParam::kFacts.pixel_invocations_count_fourfold ? 8u : 16u);
  for (const uint32_t over : {0u, 1u}) {
    ImageSurface image = this->Image();
    image.width = kLimits.size_2d + over;
    this->Expect(image, over == 0, "width is 16385; it may be at most 16384");
    image = this->Image();
    image.height = kLimits.size_2d + over;
    this->Expect(image, over == 0, "height is 16385");
    image = this->Image();
    image.shape = SurfaceShape::k3D;
    image.depth = kLimits.size_3d + over;
    this->Expect(image, over == 0, "depth is 2049; it may be at most 2048");
    image.depth = 1;
    image.width = kLimits.size_3d + over;
    this->Expect(image, over == 0, "width is 2049");
    image = this->Image();
    image.first_layer = 48;
    image.layers = kLimits.layers - 48 + over;
    this->Expect(image, over == 0, "the end of a view's layers is 2049");
    image = this->Image();
    image.levels = kLimits.levels + over;
    this->Expect(image, over == 0, "the end of a view's levels is 16");
    image = this->Image();
    image.samples = kLimits.samples << over;
    this->Expect(image, over == 0, "number of samples");
    image = this->Image();
    image.pitch = kLimits.pitch + over;
    this->Expect(image, over == 0, "pitch");
  }
  BufferSurface buffer;
  buffer.size = kLimits.buffer_bytes;
  EXPECT_TRUE(CheckView(buffer, kLimits).ok());
  ++buffer.size;
  EXPECT_THAT(CheckView(buffer, kLimits).message(), HasSubstr("size in bytes"));
  buffer.stride = 16;
  buffer.size = kLimits.entries * 16 + 15;
  EXPECT_TRUE(CheckView(buffer, kLimits).ok());
  ++buffer.size;
  EXPECT_THAT(CheckView(buffer, kLimits).message(), HasSubstr("number of entries is 134217729"));
}

}  // namespace
}  // namespace packsmith::intel
