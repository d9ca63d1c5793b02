// Images for tests: short to write down, and random ones.
#ifndef PACKSMITH_TESTS_LAYOUT_IMAGES_H_
#define PACKSMITH_TESTS_LAYOUT_IMAGES_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/layout/format.h"
#include "runtime/layout/layout.h"

namespace packsmith::layout {

inline ImageDescription Image(Scheme scheme, absl::string_view format, uint32_t width_px,
                              uint32_t height_px, uint32_t levels = 1, uint32_t layers = 1,
                              uint32_t samples = 1) {
  ImageDescription image;
  image.scheme = scheme;
  image.format = FindFormat(format);
  EXPECT_NE(image.format, nullptr) << format;
  image.width_px = width_px;
  image.height_px = height_px;
  image.levels = levels;
  image.layers = layers;
  image.samples = samples;
  return image;
}

inline std::string Text(const ImageDescription& image) {
  return absl::StrCat(SchemeName(image.scheme), " ", image.format->name, " ", image.width_px, "x",
                      image.height_px, ", levels ", image.levels, ", layers ", image.layers,
                      ", samples ", image.samples, ", dim ", static_cast<int>(image.dim),
                      ", mip tail from ", image.mip_tail_level,
                      image.interleave_samples ? ", interleaved" : "");
}

inline Layout LayOut(const ImageDescription& image) {
  absl::StatusOr<Layout> layout = Layout::Of(image);
  EXPECT_TRUE(layout.ok()) << Text(image) << ": " << layout.status();
  return *layout;
}

// The rule that an impossible image breaks.
inline std::string BrokenRuleOf(const ImageDescription& image) {
  const absl::StatusOr<Layout> layout = Layout::Of(image);
  EXPECT_EQ(layout.status().code(), absl::StatusCode::kInvalidArgument) << Text(image);
  return std::string(layout.status().message());
}

// A random image that can be laid out, with sides of at most `max_px`.
inline ImageDescription RandomImage(std::mt19937& random, uint32_t max_px) {
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  for (;;) {
    ImageDescription image;
    image.scheme = static_cast<Scheme>(below(kSchemes));
    image.format = &Formats()[below(static_cast<uint32_t>(Formats().size()))];
    if (image.scheme == Scheme::kIntelW) image.format = FindFormat("S8_UINT");
    image.width_px = 1 + below(below(2) == 0 ? max_px : 40);
    image.height_px = 1 + below(below(2) == 0 ? max_px : 40);
    image.layers = below(2) == 0 ? 1 : 1 + below(7);
    image.dim = static_cast<Dim>(below(8) < 6 ? 0 : 1 + below(2));
    if (image.dim == Dim::kCube) {
      image.layers = 6;
      image.height_px = image.width_px;
    }
    const uint32_t samples[] = {1, 1, 1, 2, 4, 8, 16};
    image.samples = samples[below(7)];
    image.levels = below(2) == 0 ? 1 : 1 + below(10);
    image.renderable = below(2) == 0;
    image.writeable = below(4) == 0;
    image.bit6_swizzle = below(4) == 0;
    if (image.scheme >= Scheme::kIntelLinear) {
      if (below(4) == 0) image.align_h_el = 8u << below(3);
      if (below(2) == 0) image.mip_tail_level = below(image.levels);
      image.interleave_samples = below(4) == 0;
    }
    if (Layout::Of(image).ok()) return image;
  }
}

}  // namespace packsmith::layout

#endif  // PACKSMITH_TESTS_LAYOUT_IMAGES_H_
