#include "runtime/intel/pipeline/rasterization.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace packsmith::intel {
namespace {

constexpr SamplePattern kStandard = {
    .one = {{{8, 8}}},
    .two = {{{12, 12}, {4, 4}}},
    .four = {{{6, 2}, {14, 6}, {2, 10}, {10, 14}}},
    .eight = {{{9, 5}, {7, 11}, {13, 9}, {5, 3}, {3, 13}, {1, 7}, {11, 15}, {15, 1}}},
    .sixteen = {{{9, 9},
                 {7, 5},
                 {5, 10},
                 {12, 7},
                 {3, 6},
                 {10, 13},
                 {13, 11},
                 {11, 3},
                 {6, 14},
                 {8, 1},
                 {4, 2},
                 {2, 12},
                 {0, 8},
                 {15, 4},
                 {14, 15},
                 {1, 0}}},
};

}  // namespace

absl::Span<const SampleLocation> StandardSampleLocations(uint32_t samples) {
  switch (samples) {
    case 1:
      return kStandard.one;
    case 2:
      return kStandard.two;
    case 4:
      return kStandard.four;
    case 8:
      return kStandard.eight;
    case 16:
      return kStandard.sixteen;
    default:
      return {};
  }
}

SamplePattern StandardSamplePattern() { return kStandard; }

namespace raster_errors {

absl::Status Samples(uint32_t samples, uint32_t most) {
  return absl::InvalidArgumentError(
      absl::StrCat(samples, " samples; there must be a power of two, at most ", most));
}

absl::Status Viewports(uint32_t viewports) {
  return absl::InvalidArgumentError(absl::StrCat(viewports, " viewports; there must be 1 to 16"));
}

absl::Status NoConservative(const char* generation) {
  return absl::InvalidArgumentError(
      absl::StrCat(generation, " cannot rasterize conservatively; Gfx9 and later can"));
}

absl::Status ClipPlanes(const char* generation) {
  return absl::InvalidArgumentError(absl::StrCat(
      generation,
      " clips at both the near and the far plane, or at neither: set clip_near and clip_far to the "
      "same"));
}

absl::Status LineWidth(float width, float most) {
  return absl::InvalidArgumentError(
      absl::StrCat("lines of ", width, " pixels; the width must be 0 to ", most));
}

absl::Status PointSize(float size) {
  return absl::InvalidArgumentError(absl::StrCat(
      "points of ", size, " pixels; the size must be 0.125 to 255.875, or 0 if shaders write it"));
}

absl::Status NotANumber(const char* what) {
  return absl::InvalidArgumentError(absl::StrCat(what, " is not a number"));
}

absl::Status StippleFactor(uint32_t factor) {
  return absl::InvalidArgumentError(
      absl::StrCat("the factor of a line stipple is ", factor, "; it must be 1 to 256"));
}

absl::Status Location(uint32_t samples, size_t index, const SampleLocation& location) {
  return absl::InvalidArgumentError(absl::StrCat("sample ", index, " of ", samples, " at (",
                                                 location.x, ", ", location.y,
                                                 "); both must be 0 to 15 sixteenths"));
}

}  // namespace raster_errors
}  // namespace packsmith::intel
