// Images of all shapes: a model of the sampler finds each texel by their surface states, copies
// reach every level, layer and slice, and what does not fit is named.
#include "runtime/intel/driver/image.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "runtime/layout/copy.h"
#include "runtime/layout/format.h"
#include "tests/intel/driver/draw_fixture.h"

namespace packsmith::intel {
namespace {

uint32_t Minified(uint32_t size, uint32_t level) { return std::max(size >> level, 1u); }
uint32_t AlignedTo(uint32_t value, uint32_t to) { return (value + to - 1) / to * to; }

// Where the sampler reads an element, from a surface state alone (PRM, volume 5, "Memory Views"):
// the levels of a slice are one image, slices are QPitch rows apart, and bytes lie in tiles.
class SamplerModel {
 public:
  SamplerModel(const ImageSurface& surface, const layout::Format& format,
               const std::string& generation)
      : surface_(surface), format_(format) {
    const bool is_gfx8 = generation == "gfx8";
    const bool counts_bytes = generation == "gfx125" || generation[0] == 'x';
    // Gfx8 counts pixels, Gfx9 to Gfx12 elements, later ones bytes horizontally.
    align_w_ = surface.horizontal_alignment / (is_gfx8        ? format.block_w_px
                                               : counts_bytes ? format.block_B
                                                              : 1);
    align_h_ = surface.vertical_alignment / (is_gfx8 ? format.block_h_px : 1);
    slice_rows_ = surface.qpitch / (is_gfx8 ? format.block_h_px : 1);
    // Slices of 3D images have no gaps on Gfx8.
    if (is_gfx8 && surface.shape == SurfaceShape::k3D) slice_rows_ = AlignedTo(Height(0), align_h_);
  }

  // Of a layer, a slice, or a sample's slice.
  uint64_t AddressOf(uint32_t level, uint32_t slice, uint32_t x, uint32_t y) const {
    uint32_t left = 0, top = 0;
    if (level >= 1) top = AlignedTo(Height(0), align_h_);
    if (level >= 2) left = AlignedTo(Width(1), align_w_);
    for (uint32_t l = 2; l < level; ++l) top += AlignedTo(Height(l), align_h_);
    return InTiles(uint64_t{left + x} * format_.block_B, uint64_t{slice} * slice_rows_ + top + y);
  }
  uint32_t Width(uint32_t level) const {
    return AlignedTo(Minified(surface_.width, level), format_.block_w_px) / format_.block_w_px;
  }
  uint32_t Height(uint32_t level) const {
    return AlignedTo(Minified(surface_.height, level), format_.block_h_px) / format_.block_h_px;
  }

 private:
  uint64_t InTiles(uint64_t column, uint64_t row) const {
    const auto bit = [](uint64_t value, unsigned from, unsigned to) {
      return (value >> from & 1) << to;
    };
    if (surface_.tiling == SurfaceTiling::kLinear) return row * surface_.pitch + column;
    if (surface_.tiling == SurfaceTiling::kW) {
      // 64 bytes and rows, of twice the pitch that they take.
      const uint64_t tile = row / 64 * (surface_.pitch / 128) + column / 64;
      return tile * 4096 | column % 64 / 8 * 512 | row % 64 / 8 * 64 | bit(row, 2, 5) |
             bit(column, 2, 4) | bit(row, 1, 3) | bit(column, 1, 2) | bit(row, 0, 1) |
             bit(column, 0, 0);
    }
    const uint64_t tile = row / 32 * (surface_.pitch / 128) + column / 128;
    if (surface_.tiling == SurfaceTiling::kY) {
      return tile * 4096 | column % 128 / 16 * 512 | row % 32 * 16 | column % 16;
    }
    EXPECT_EQ(surface_.tiling, SurfaceTiling::k4);
    return tile * 4096 | row % 32 / 8 * 1024 | bit(column, 6, 9) | bit(row, 2, 8) |
           column % 64 / 16 * 64 | row % 4 * 16 | column % 16;
  }

  const ImageSurface surface_;
  const layout::Format& format_;
  uint32_t align_w_ = 0, align_h_ = 0, slice_rows_ = 0;
};

constexpr ImageOptions kImages[] = {
    {.format = "R8G8B8A8_UNORM", .width = 130, .height = 70, .layers = 3, .levels = 8},
    {.format = "R8_UNORM", .width = 77, .height = 45, .layers = 2, .levels = 7},
    {.format = "R16_UNORM", .width = 100, .height = 33, .layers = 2, .levels = 7},
    {.format = "R32G32B32A32_FLOAT", .width = 35, .height = 65, .layers = 2, .levels = 7},
    {.format = "R8G8B8A8_UNORM",
     .width = 50,
     .height = 30,
     .layers = 3,
     .levels = 6,
     .linear = true},
    {.format = "BC1_RGBA_UNORM", .width = 100, .height = 60, .layers = 4, .levels = 7},
    {.format = "BC3_UNORM", .width = 68, .height = 130, .layers = 2, .levels = 8},
    {.format = "R8G8B8A8_UNORM",
     .shape = SurfaceShape::kCube,
     .width = 48,
     .height = 48,
     .layers = 12,
     .levels = 6},
    {.format = "BC1_RGBA_UNORM",
     .shape = SurfaceShape::kCube,
     .width = 64,
     .height = 64,
     .layers = 6,
     .levels = 7},
    {.format = "R8G8B8A8_UNORM",
     .shape = SurfaceShape::k3D,
     .width = 40,
     .height = 24,
     .depth = 10,
     .levels = 6},
    {.format = "BC1_RGBA_UNORM",
     .shape = SurfaceShape::k3D,
     .width = 100,
     .height = 32,
     .depth = 8,
     .levels = 7},
    {.format = "R16_UNORM", .shape = SurfaceShape::k3D, .width = 48, .height = 64, .depth = 5},
    {.format = "R8G8B8A8_UNORM",
     .shape = SurfaceShape::k3D,
     .width = 20,
     .height = 10,
     .depth = 4,
     .linear = true},
    {.format = "Z32_FLOAT", .width = 100, .height = 70, .layers = 3, .levels = 7},
    {.format = "Z16_UNORM", .width = 100, .height = 70, .layers = 2, .levels = 7},
    {.format = "S8_UINT", .width = 100, .height = 70, .layers = 2, .levels = 7},
};

class ImageTest : public DrawFixture {
 protected:
  // Gfx8 has no levels of 3D images here.
  bool Has(const ImageOptions& options) const {
    return GetParam() != "gfx8" || options.shape != SurfaceShape::k3D || options.levels == 1;
  }
  bool HasTile64() const { return HasMeshes(); }
  bool HasW() const {
    return GetParam() == "gfx8" || GetParam() == "gfx9" || GetParam() == "gfx11";
  }
  Image Made(const ImageOptions& options) {
    auto image = machine_.context->NewImage(options);
    EXPECT_TRUE(image.ok()) << image.status();
    return *std::move(image);
  }
  static std::string Name(const ImageOptions& o) {
    return testing::PrintToString(std::string(o.format)) + " " + std::to_string(o.width) + "x" +
           std::to_string(o.height) + "x" + std::to_string(o.depth) + ", " +
           std::to_string(o.layers) + " layers, " + std::to_string(o.levels) + " levels";
  }
};
INSTANTIATE_TEST_SUITE_P(, ImageTest, testing::ValuesIn(DriverGenerations()),
                         [](const auto& info) { return info.param; });

TEST_P(ImageTest, SurfaceStatesLeadToEveryLevelLayerAndSlice) {
  std::minstd_rand random(3);
  size_t compared = 0;
  for (const ImageOptions& options : kImages) {
    if (!Has(options)) continue;
    SCOPED_TRACE(Name(options));
    const Image image = Made(options);
    const ImageSurface surface = machine_.context->SurfaceOf(image, SurfacePurpose::kTexture);
    EXPECT_EQ(surface.shape, options.shape);
    EXPECT_EQ(surface.depth, options.depth);
    const SamplerModel sampler(surface, *layout::FindFormat(options.format), GetParam());
    for (uint32_t level = 0; level < options.levels; ++level) {
      for (uint32_t slice = 0; slice < image.LayersOf(level); ++slice) {
        for (unsigned i = 0; i < 20; ++i) {
          const uint32_t x = static_cast<uint32_t>(random()) % sampler.Width(level),
                         y = static_cast<uint32_t>(random()) % sampler.Height(level);
          const auto place =
              image.placement.AddressOf({.level = level, .layer = slice, .x_el = x, .y_el = y});
          ASSERT_TRUE(place.has_value());
          ASSERT_EQ(sampler.AddressOf(level, slice, x, y), *place)
              << "level " << level << ", slice " << slice << ", " << x << ", " << y;
          ++compared;
        }
      }
    }
    // The generation's state can say it.
    auto commands = New();
    commands->MakeView(surface);
    EXPECT_TRUE(commands->status().ok()) << commands->status();
  }
  EXPECT_GT(compared, 1000u);
}

// Packets of depth do not say where levels begin.
TEST_P(ImageTest, LevelsOfDepthBeginWhereTheManualHasThem) {
  const struct {
    const char* format;
    uint32_t bytes;
    std::pair<uint32_t, uint32_t> old, since_gfx12;  // texels
  } rows[] = {{"Z32_FLOAT", 4, {4, 4}, {8, 4}},
              {"Z16_UNORM", 2, {8, 4}, {8, 8}},
              {"S8_UINT", 1, {8, 8}, {16, 8}}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.format);
    const auto [width, height] = GetParam() == "gfx12" || HasTile64() ? row.since_gfx12 : row.old;
    // 25 x 17 texels of level 2 are to the right of 51 x 35, below 102 x 70.
    const Image image = Made({.format = row.format, .width = 102, .height = 70, .levels = 3});
    const auto place = image.placement.AddressOf({.level = 2});
    ImageSurface flat = machine_.context->SurfaceOf(image, SurfacePurpose::kTexture);
    const SamplerModel sampler(flat, *layout::FindFormat(row.format), GetParam());
    EXPECT_EQ(place, sampler.AddressOf(0, 0, AlignedTo(51, width), AlignedTo(70, height)));
  }
}

TEST_P(ImageTest, CopiesReachEveryLevelLayerAndSlice) {
  for (const ImageOptions& options : kImages) {
    if (!Has(options) || (HasW() && options.format == "S8_UINT")) continue;
    SCOPED_TRACE(Name(options));
    const Image image = Made(options);
    const layout::Format& format = *layout::FindFormat(options.format);
    std::minstd_rand random(7);
    std::vector<DrawnBytes> contents;
    const auto for_each_part = [&](auto act) {
      for (uint32_t level = 0; level < options.levels; ++level) {
        for (uint32_t layer = 0; layer < image.LayersOf(level); ++layer) {
          const uint32_t width = Minified(options.width, level),
                         height = Minified(options.height, level);
          const size_t bytes = size_t{AlignedTo(width, format.block_w_px) / format.block_w_px} *
                               (AlignedTo(height, format.block_h_px) / format.block_h_px) *
                               format.block_B;
          act(level, layer, width, height, bytes);
        }
      }
    };
    auto commands = New({.engine = Engine::kCopy});
    for_each_part(
        [&](uint32_t level, uint32_t layer, uint32_t width, uint32_t height, size_t bytes) {
          DrawnBytes content(bytes);
          for (uint8_t& byte : content) byte = static_cast<uint8_t>(random() >> 8);
          const gpu::Buffer buffer = machine_.BufferOf("content", content);
          contents.push_back(std::move(content));
          commands->Copy(BufferImageCopy{.buffer = buffer,
                                         .image = {.image = &image, .level = level, .layer = layer},
                                         .width = width,
                                         .height = height});
          commands->Keep(buffer);
        });
    ASSERT_TRUE(commands->status().ok()) << commands->status();
    machine_.Run(*commands);
    // Each is where the layout has it, and none has overwritten another.
    size_t part = 0;
    for_each_part([&](uint32_t level, uint32_t layer, uint32_t, uint32_t, size_t bytes) {
      const auto plan = layout::CopyPlan::Make(image.placement,
                                               layout::WholeLevel(image.placement, level, layer));
      ASSERT_TRUE(plan.ok()) << plan.status();
      DrawnBytes found(bytes);
      ASSERT_TRUE(plan->CopyOut(absl::MakeConstSpan(image.memory.cpu, image.placement.size_B()),
                                absl::MakeSpan(found), plan->linear_row_B())
                      .ok());
      EXPECT_EQ(found, contents[part++]) << "level " << level << ", layer " << layer;
    });
    EXPECT_TRUE(machine_.context->Release(image.memory).ok());
  }
  EXPECT_EQ(machine_.problems, std::vector<std::string>());
}

TEST_P(ImageTest, SlicesThatALevelDoesNotHaveAreNotCopied) {
  if (GetParam() == "gfx8") GTEST_SKIP() << "3D images have one level";
  const Image image = Made({.format = "R8G8B8A8_UNORM",
                            .shape = SurfaceShape::k3D,
                            .width = 16,
                            .height = 16,
                            .depth = 8,
                            .levels = 3});
  const gpu::Buffer buffer = machine_.BufferOf("buffer", DrawnBytes(4096, 0));
  for (const uint32_t layer : {3u, 4u}) {
    auto commands = New({.engine = Engine::kCopy});
    EXPECT_EQ(commands->Copy(BufferImageCopy{.buffer = buffer,
                                             .image = {.image = &image, .level = 1, .layer = layer},
                                             .width = 8,
                                             .height = 8}),
              layer == 3);
    EXPECT_EQ(absl::StrContains(commands->status().message(), "4 layers there"), layer == 4)
        << commands->status();
  }
}

TEST_P(ImageTest, SamplesHaveTheirPlaces) {
  for (const char* format : {"R8G8B8A8_UNORM", "Z32_FLOAT", "S8_UINT"}) {
    for (const uint32_t samples : {2u, 4u, 8u, 16u}) {
      if (samples == 16 && GetParam() == "gfx8") continue;
      SCOPED_TRACE(std::string(format) + " " + std::to_string(samples));
      const Image image =
          Made({.format = format, .width = 40, .height = 20, .layers = 2, .samples = samples});
      const ImageSurface surface = machine_.context->SurfaceOf(image, SurfacePurpose::kTexture);
      const bool is_color = std::string(format) == "R8G8B8A8_UNORM";
      EXPECT_EQ(surface.samples, samples);
      EXPECT_EQ(surface.interleaved_samples, !is_color);
      EXPECT_EQ(surface.tiling, HasTile64()                                  ? SurfaceTiling::k64
                                : HasW() && std::string(format) == "S8_UINT" ? SurfaceTiling::kW
                                                                             : SurfaceTiling::kY);
      EXPECT_EQ(image.memory.address % (HasTile64() ? 64 << 10 : 4 << 10), 0u);
      const SamplerModel sampler(surface, *layout::FindFormat(format), GetParam());
      std::set<uint64_t> seen;
      const uint32_t columns = samples >= 8 ? 4 : 2, rows = samples == 2    ? 1
                                                            : samples == 16 ? 4
                                                                            : 2;
      for (uint32_t layer = 0; layer < 2; ++layer) {
        for (uint32_t y = 0; y < 20; ++y) {
          for (uint32_t x = 0; x < 40; ++x) {
            std::set<uint64_t> block;
            for (uint32_t sample = 0; sample < samples; ++sample) {
              const auto place = image.placement.AddressOf(
                  {.layer = layer, .x_el = x, .y_el = y, .sample = sample});
              ASSERT_TRUE(place.has_value());
              ASSERT_LT(*place, image.placement.size_B());
              ASSERT_TRUE(seen.insert(*place).second);
              block.insert(*place);
              // Slices, one after the other.
              if (is_color && !HasTile64()) {
                ASSERT_EQ(*place, sampler.AddressOf(0, layer * samples + sample, x, y));
              }
            }
            if (is_color || HasTile64() || y % 8 != 3) continue;
            // A block of samples, of an image that is as many times as wide and high, interleaved
            // with those of the neighbours (PRM, volume 5, on MSFMT_DEPTH_STENCIL).
            const auto interleaved = [](uint32_t pixel, uint32_t sample, uint32_t count) {
              return (pixel & ~1u) * count + 2 * sample + (pixel & 1);
            };
            std::set<uint64_t> expected;
            for (uint32_t i = 0; i < samples; ++i) {
              expected.insert(sampler.AddressOf(0, layer, interleaved(x, i % columns, columns),
                                                interleaved(y, i / columns, rows)));
            }
            ASSERT_EQ(block, expected) << x << ", " << y;
          }
        }
      }
      auto commands = New();
      commands->MakeView(surface);
      EXPECT_TRUE(commands->status().ok()) << commands->status();
    }
  }
}

TEST_P(ImageTest, CopyEnginesRefuseSamples) {
  const Image image = Made({.format = "R8G8B8A8_UNORM", .width = 16, .height = 16, .samples = 4});
  const gpu::Buffer buffer = machine_.BufferOf("buffer", DrawnBytes(8192, 0));
  auto commands = New({.engine = Engine::kCopy});
  EXPECT_FALSE(commands->Copy(
      BufferImageCopy{.buffer = buffer, .image = {.image = &image}, .width = 16, .height = 16}));
  EXPECT_EQ(commands->status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_TRUE(absl::StrContains(commands->status().message(), "has 4 samples"))
      << commands->status();
}

TEST_P(ImageTest, SeveralSamplesAreDrawnTo) {
  constexpr uint32_t kSamples = 4;
  const Image color = Made({.format = "R8G8B8A8_UNORM",
                            .surface_format = SurfaceFormat::R8G8B8A8_UNORM,
                            .width = 64,
                            .height = 32,
                            .samples = kSamples});
  const Image depth = Made({.format = "Z32_FLOAT",
                            .surface_format = SurfaceFormat::R32_FLOAT,
                            .width = 64,
                            .height = 32,
                            .samples = kSamples});
  GraphicsPipelineOptions options{.rasterization = {.multisample = {.samples = kSamples}},
                                  .depth_stencil = {.depth_test = true, .depth_write = true}};
  options.shaders.target.samples = kSamples;
  const auto pipeline = NewPipeline(options);
  auto commands = New();
  BindAll(*commands, *pipeline);
  const ImageSurface colors[] = {machine_.context->SurfaceOf(color, SurfacePurpose::kRenderTarget)};
  const ImageSurface depth_surface =
      machine_.context->SurfaceOf(depth, SurfacePurpose::kRenderTarget);
  EXPECT_TRUE(commands->SetTargets({.colors = colors, .depth = &depth_surface}))
      << commands->status();
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  machine_.Run(*commands);
  EXPECT_EQ(machine_.problems, std::vector<std::string>());
  ASSERT_EQ(machine_.works.size(), 1u);
  const std::vector<uint32_t> multisample = StateOf(0, "3DSTATE_MULTISAMPLE");
  ASSERT_EQ(multisample.size(), 2u);
  EXPECT_EQ(multisample[1] >> 1 & 7, 2u);
}

TEST_P(ImageTest, LevelsAndSlicesAreDrawnTo) {
  const Image cube = Made({.format = "R8G8B8A8_UNORM",
                           .surface_format = SurfaceFormat::R8G8B8A8_UNORM,
                           .shape = SurfaceShape::kCube,
                           .width = 64,
                           .height = 64,
                           .layers = 6,
                           .levels = 3});
  const Image volume = Made({.format = "R8G8B8A8_UNORM",
                             .surface_format = SurfaceFormat::R8G8B8A8_UNORM,
                             .shape = SurfaceShape::k3D,
                             .width = 64,
                             .height = 64,
                             .depth = 8});
  const auto pipeline = NewPipeline();
  auto commands = New();
  BindAll(*commands, *pipeline);
  for (const Image* image : {&cube, &volume}) {
    ImageSurface colors[] = {machine_.context->SurfaceOf(*image, SurfacePurpose::kRenderTarget)};
    colors[0].first_level = image == &cube ? 2 : 0;
    colors[0].first_layer = 5;
    colors[0].layers = 1;
    EXPECT_TRUE(commands->SetTargets({.colors = colors})) << commands->status();
    EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  }
  machine_.Run(*commands);
  EXPECT_EQ(machine_.problems, std::vector<std::string>());
  EXPECT_EQ(machine_.works.size(), 2u);
}

TEST_P(ImageTest, WhatDoesNotFitIsNamed) {
  const auto refuses = [&](ImageOptions options, const char* text) {
    if (options.format.empty()) options.format = "R8G8B8A8_UNORM";
    options.name = "thing";
    const auto image = machine_.context->NewImage(options);
    ASSERT_FALSE(image.ok()) << text;
    EXPECT_TRUE(absl::StrContains(image.status().message(), text)) << image.status();
    EXPECT_TRUE(absl::StrContains(image.status().message(), "image \"thing\"")) << image.status();
  };
  constexpr SurfaceShape k3D = SurfaceShape::k3D, kCube = SurfaceShape::kCube;
  refuses({.format = "RGBA"}, "no format is called \"RGBA\"");
  refuses({.shape = SurfaceShape::k1D, .width = 8}, "a 2D one of height 1");
  refuses({.depth = 4}, "a depth of 4");
  refuses({.shape = k3D, .layers = 2}, "2 layers of a 3D image");
  refuses({.shape = k3D, .width = 2049, .height = 4}, "2049 x 4 x 1 pixels; each side");
  refuses({.shape = kCube, .width = 64, .height = 32, .layers = 6}, "square");
  refuses({.shape = kCube, .width = 64, .height = 64, .layers = 4}, "multiple of 6, not 4");
  refuses({.width = 16385}, "at most 16384");
  refuses({.layers = 2049}, "at most 2048 layers");
  refuses({.width = 64, .height = 64, .levels = 8}, "at most 7, not 8");
  refuses({.samples = 3}, "1, 2, 4, 8 or 16 samples, not 3");
  refuses({.samples = 32}, "32 samples; this generation has at most");
  refuses({.width = 64, .height = 64, .levels = 2, .samples = 4}, "one level");
  refuses({.format = "BC1_RGBA_UNORM", .width = 64, .height = 64, .samples = 4}, "one sample");
  refuses({.samples = 4, .linear = true}, "must be in Y, W, Yf, Ys or Tile64 tiles");
  refuses({.shape = k3D, .width = 8, .height = 8, .samples = 4}, "only 2D images");
  if (GetParam() != "gfx8") return;
  refuses({.samples = 16}, "at most 8");
  refuses({.shape = k3D, .width = 64, .height = 64, .depth = 4, .levels = 2}, "2 levels");
  refuses({.shape = k3D, .width = 64, .height = 40, .depth = 4}, "40 rows of elements");
  refuses({.format = "ASTC_8x5", .width = 64, .height = 64}, "blocks of 8 x 5 pixels");
}

}  // namespace
}  // namespace packsmith::intel
