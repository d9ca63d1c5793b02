// Samplers of every generation, read back by the generated headers.
#include "runtime/intel/binding/samplers.h"

#include <cstdint>
#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/intel/batch/generations.h"

namespace packsmith::intel {
namespace {

using testing::HasSubstr;

template <class Gen>
class SamplersTest : public testing::Test {
 protected:
  using State = SamplerState<Gen>;
  using Mode = typename Gen::Packets::Texture_Coordinate_Mode;

  State Written(const Sampler& sampler, uint32_t border_color = 0) {
    uint32_t dwords[State::length] = {};
    const absl::Status status = WriteSampler<Gen>(sampler, border_color, dwords);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_FALSE(State::verify(dwords));
    return State::unpack(dwords);
  }
  std::string Wrong(const Sampler& sampler, uint32_t border_color = 0) {
    uint32_t dwords[State::length] = {};
    const absl::Status status = WriteSampler<Gen>(sampler, border_color, dwords);
    EXPECT_FALSE(status.ok());
    for (const uint32_t dword : dwords) EXPECT_EQ(dword, 0u);
    return std::string(status.message());
  }
};
TYPED_TEST_SUITE(SamplersTest, Generations);

TYPED_TEST(SamplersTest, FiltersRoundUnlessTheyTakeTheNearest) {
  using S = typename TestFixture::State;
  S state = this->Written({.min_filter = Filter::kLinear});
  EXPECT_EQ(state.min_mode_filter, S::MIN_MODE_FILTER_LINEAR);
  EXPECT_EQ(state.mag_mode_filter, S::MAG_MODE_FILTER_NEAREST);
  EXPECT_EQ(state.mip_mode_filter, S::MIP_MODE_FILTER_NONE);
  EXPECT_TRUE(state.u_address_min_filter_rounding_enable);
  EXPECT_TRUE(state.r_address_min_filter_rounding_enable);
  EXPECT_FALSE(state.v_address_mag_filter_rounding_enable);
  state = this->Written({.mag_filter = Filter::kLinear, .mip_filter = MipFilter::kLinear});
  EXPECT_EQ(state.mag_mode_filter, S::MAG_MODE_FILTER_LINEAR);
  EXPECT_EQ(state.mip_mode_filter, S::MIP_MODE_FILTER_LINEAR);
  EXPECT_TRUE(state.v_address_mag_filter_rounding_enable);
}

TYPED_TEST(SamplersTest, AnisotropyIsForLinearFilters) {
  using S = typename TestFixture::State;
  S state = this->Written({.min_filter = Filter::kLinear, .anisotropy = 16});
  EXPECT_EQ(state.min_mode_filter, S::MIN_MODE_FILTER_ANISOTROPIC);
  EXPECT_EQ(state.mag_mode_filter, S::MAG_MODE_FILTER_NEAREST);
  EXPECT_EQ(state.maximum_anisotropy, S::MAXIMUM_ANISOTROPY_RATIO_16_1);
  state = this->Written({.mag_filter = Filter::kLinear, .anisotropy = 2});
  EXPECT_EQ(state.mag_mode_filter, S::MAG_MODE_FILTER_ANISOTROPIC);
  EXPECT_EQ(state.maximum_anisotropy, S::MAXIMUM_ANISOTROPY_RATIO_2_1);
  EXPECT_THAT(this->Wrong({.anisotropy = 17}), HasSubstr("anisotropy is 17"));
  EXPECT_THAT(this->Wrong({.anisotropy = 0}), HasSubstr("anisotropy is 0"));
}

TYPED_TEST(SamplersTest, LevelsOfDetailAreBroughtIntoTheHardwaresRange) {
  auto state = this->Written({.lod_bias = -100, .min_lod = -5, .max_lod = 1000});
  EXPECT_EQ(state.texture_lod_bias, -16);
  EXPECT_EQ(state.min_lod, 0);
  EXPECT_EQ(state.max_lod, 14);
  state = this->Written(
      {.mip_filter = MipFilter::kNearest, .lod_bias = 100, .min_lod = 1.5f, .max_lod = 2.25f});
  EXPECT_EQ(state.texture_lod_bias, 16 - 1.0f / 256);
  EXPECT_EQ(state.min_lod, 1.5f);
  EXPECT_EQ(state.max_lod, 2.25f);
  EXPECT_THAT(this->Wrong({.lod_bias = std::numeric_limits<float>::quiet_NaN()}),
              HasSubstr("not a number"));
}

TYPED_TEST(SamplersTest, WithoutLevelsALeastOneMeansThatImagesAreSmallerThanTheirTexture) {
  using S = typename TestFixture::State;
  S state =
      this->Written({.min_filter = Filter::kLinear, .mag_filter = Filter::kNearest, .min_lod = 1});
  EXPECT_EQ(state.min_lod, 0);
  EXPECT_EQ(state.mag_mode_filter, S::MAG_MODE_FILTER_LINEAR);
  EXPECT_TRUE(state.u_address_mag_filter_rounding_enable);
  state = this->Written({.min_filter = Filter::kNearest,
                         .mag_filter = Filter::kLinear,
                         .min_lod = 0.25f,
                         .anisotropy = 4});
  EXPECT_EQ(state.min_lod, 0);
  EXPECT_EQ(state.mag_mode_filter, S::MAG_MODE_FILTER_NEAREST);
  EXPECT_FALSE(state.u_address_mag_filter_rounding_enable);
  // Both filters count if there are levels and none is excluded.
  state = this->Written(
      {.mag_filter = Filter::kLinear, .mip_filter = MipFilter::kNearest, .min_lod = 1});
  EXPECT_EQ(state.min_lod, 1);
  EXPECT_EQ(state.mag_mode_filter, S::MAG_MODE_FILTER_LINEAR);
  state = this->Written({.mag_filter = Filter::kLinear, .min_lod = -1});
  EXPECT_EQ(state.mag_mode_filter, S::MAG_MODE_FILTER_LINEAR);
}

TYPED_TEST(SamplersTest, ComparisonsSayWhatPasses) {
  using S = typename TestFixture::State;
  // The hardware's function selects the texels to reject: less than, for those that pass at
  // greater or equal.
  const auto function = [&](Compare compare) {
    return this->Written({.compares = true, .compare = compare}).shadow_function;
  };
  EXPECT_EQ(function(Compare::kNever), S::SHADOW_FUNCTION_ALWAYS);
  EXPECT_EQ(function(Compare::kLess), S::SHADOW_FUNCTION_LEQUAL);
  EXPECT_EQ(function(Compare::kEqual), S::SHADOW_FUNCTION_NOTEQUAL);
  EXPECT_EQ(function(Compare::kLessEqual), S::SHADOW_FUNCTION_LESS);
  EXPECT_EQ(function(Compare::kGreater), S::SHADOW_FUNCTION_GEQUAL);
  EXPECT_EQ(function(Compare::kNotEqual), S::SHADOW_FUNCTION_EQUAL);
  EXPECT_EQ(function(Compare::kGreaterEqual), S::SHADOW_FUNCTION_GREATER);
  EXPECT_EQ(function(Compare::kAlways), S::SHADOW_FUNCTION_NEVER);
}

TYPED_TEST(SamplersTest, WrapsAndBorders) {
  using Mode = typename TestFixture::Mode;
  const Sampler sampler{.wrap = {Wrap::kMirror, Wrap::kClampToEdge, Wrap::kClampToBorder},
                        .unnormalized = true};
  EXPECT_TRUE(sampler.uses_border());
  EXPECT_FALSE(Sampler().uses_border());
  const auto state = this->Written(sampler, 0x1240);
  EXPECT_EQ(state.tcx_address_control_mode, Mode::MIRROR);
  EXPECT_EQ(state.tcy_address_control_mode, Mode::CLAMP);
  EXPECT_EQ(state.tcz_address_control_mode, Mode::CLAMP_BORDER);
  EXPECT_EQ(state.border_color_pointer, 0x1240u);
  EXPECT_TRUE(state.non_normalized_coordinate_enable);
  EXPECT_THAT(this->Wrong(sampler, 0x1244), HasSubstr("border_color_pointer"));
}

TYPED_TEST(SamplersTest, ReductionsAreThereFromGfx9On) {
  const Sampler sampler{.reduction = Reduction::kMaximum};
  using S = typename TestFixture::State;
  if constexpr (requires(S state) { state.reduction_type; }) {
    const auto state = this->Written(sampler);
    EXPECT_TRUE(state.reduction_type_enable);
    EXPECT_EQ(state.reduction_type, S::REDUCTION_TYPE_MAXIMUM);
  } else {
    EXPECT_EQ(TypeParam::kVersion, 80u);
    EXPECT_THAT(this->Wrong(sampler), HasSubstr("averages only"));
  }
}

}  // namespace
}  // namespace packsmith::intel
