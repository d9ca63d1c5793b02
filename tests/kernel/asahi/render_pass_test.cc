// Render passes from API terms. Numbers are made by hand: offsets of the command are those of the
// interface, bits those of the description.
#include "runtime/kernel/asahi/render_pass.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "packsmith/agx_g13.h"
#include "packsmith/agx_g14x.h"

namespace packsmith::gpu {
namespace {

using layout::Layout;
using layout::Scheme;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using G13 = agx_g13::generation;

constexpr uint64_t kStream = 0x1500000000, kColor = 0x1500100000, kDepth = 0x1500400000,
                   kStencil = 0x1500800000;

Layout Placed(const char* format, uint32_t width, uint32_t height,
              layout::ImageDescription more = {}) {
  more.format = layout::FindFormat(format);
  more.width_px = width;
  more.height_px = height;
  const auto layout = Layout::Of(more);
  EXPECT_TRUE(layout.ok()) << layout.status();
  return *layout;
}

// The command buffer of one render pass.
class CommandBytes {
 public:
  explicit CommandBytes(const AsahiRender& render) {
    const AsahiCommand command = render;
    const absl::Status status =
        PackAsahiCommands({&command, 1}, {.commands = 64, .attachments = 16}, bytes_);
    EXPECT_TRUE(status.ok()) << status;
  }
  size_t size() const { return bytes_.size(); }
  template <typename T>
  T At(size_t offset) const {
    T value = {};
    EXPECT_LE(offset + sizeof(T), bytes_.size());
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }
  uint32_t Word(size_t offset) const { return At<uint32_t>(offset); }
  uint64_t Long(size_t offset) const { return At<uint64_t>(offset); }

 private:
  AsahiCommandBuffer bytes_;
};

class RenderPassTest : public ::testing::Test {
 protected:
  // A pass of all attachments, 800 by 600, that is taken.
  RenderPassTest() {
    colors_.push_back({.layout = &color_, .image = {kColor, 1}});
    pass_.stream = kStream;
    pass_.width = 800;
    pass_.height = 600;
    pass_.depth = {.layout = &depth_, .image = {kDepth, 2}};
    pass_.stencil = {.layout = &stencil_,
                     .image = {kStencil, 3},
                     .load = PassLoad::kLoad,
                     .store = PassStore::kDiscard};
    pass_.clear_depth = 0.5f;
    pass_.clear_stencil = 0x80;
    pass_.load = {.program = 0x1000, .resources = 0x11};
    pass_.store = {.program = 0x2000, .resources = 0x22};
    pass_.partial_load = {.program = 0x3000, .resources = 0x33};
    pass_.partial_store = {.program = 0x4000, .resources = 0x44};
  }
  absl::StatusOr<AsahiRender> TryMake() {
    pass_.colors = colors_;
    return RenderOf<G13>(pass_, uses_, attachments_);
  }
  AsahiRender Make() {
    const auto render = TryMake();
    EXPECT_TRUE(render.ok()) << render.status();
    return render.ok() ? *render : AsahiRender{};
  }

  const Layout color_ = Placed("R8G8B8A8_UNORM", 800, 600, {.renderable = true});
  const Layout depth_ = Placed("Z32_FLOAT", 800, 600, {.renderable = true});
  const Layout stencil_ = Placed("S8_UINT", 800, 600, {.renderable = true});
  std::vector<AsahiPassImage> colors_;
  AsahiPass pass_;
  BufferUses uses_;
  AsahiAttachments attachments_;
};

TEST_F(RenderPassTest, TheCommandIsThatOfTheInterface) {
  const CommandBytes bytes(Make());
  // The fragments' attachments: a header of type 3, and the images.
  ASSERT_EQ(bytes.size(), 8u + 3 * 24 + 8 + 240);
  EXPECT_EQ(bytes.Long(0), 0xffffffff'0048'0003u);
  EXPECT_EQ(bytes.Long(8), kColor);
  EXPECT_EQ(bytes.Long(16), 130u * 16384);  // 13 by 10 tiles of 64 by 64 pixels
  EXPECT_EQ(bytes.Long(32), kDepth);
  EXPECT_EQ(bytes.Long(40), 130u * 16384);
  EXPECT_EQ(bytes.Long(56), kStencil);
  EXPECT_EQ(bytes.Long(64), 35u * 16384);  // 7 by 5 tiles of 128 by 128
  // The render command: type 0, 240 bytes, after all that is earlier.
  EXPECT_EQ(bytes.Long(80), 240u << 16);
  constexpr size_t kAt = 88;
  EXPECT_EQ(bytes.Word(kAt + 0), 2u);  // empty tiles, too
  EXPECT_EQ(bytes.Word(kAt + 4), 799u | 599u << 15);
  EXPECT_EQ(bytes.Long(kAt + 8), kStream);
  EXPECT_EQ(bytes.Long(kAt + 72), kDepth);
  EXPECT_EQ(bytes.Long(kAt + 80), 0u);
  EXPECT_EQ(bytes.Long(kAt + 88), 0u);
  EXPECT_EQ(bytes.Long(kAt + 96), kStencil);
  EXPECT_EQ(bytes.Long(kAt + 120), 1u << 19 | 1u << 14);  // depth is stored, stencil loaded
  EXPECT_EQ(bytes.Word(kAt + 148), 800u | 600u << 16);
  EXPECT_EQ(bytes.Word(kAt + 152), 1u);              // layers, and no samplers
  EXPECT_EQ(bytes.Word(kAt + 156), 0x08'01'20'20u);  // 32 by 32, one sample of 8 bytes
  EXPECT_EQ(bytes.Long(kAt + 168), 0x11'0000'1004u);
  EXPECT_EQ(bytes.Long(kAt + 176), 0x22'0000'2004u);
  EXPECT_EQ(bytes.Long(kAt + 184), 0x33'0000'3004u);
  EXPECT_EQ(bytes.Long(kAt + 192), 0x44'0000'4004u);
  EXPECT_EQ(bytes.Word(kAt + 200), 0x3f000000u);
  EXPECT_EQ(bytes.Word(kAt + 204), 0x80u);
  // What the job writes, and what it reads as well.
  EXPECT_THAT(uses_.all(), ElementsAre(BufferUse{1, kWrites}, BufferUse{2, kWrites},
                                       BufferUse{3, kReads | kWrites}));
}

TEST_F(RenderPassTest, EachGenerationHasThisCommand) {
  pass_.colors = colors_;
  const auto render = RenderOf<agx_g14x::generation>(pass_, uses_, attachments_);
  ASSERT_TRUE(render.ok()) << render.status();
  EXPECT_EQ(render->zls_control, 0x84000u);
  EXPECT_EQ(render->zls_pixels, 0x12b831fu);
}

TEST_F(RenderPassTest, ZlsControlIsWhatHappensToDepthAndStencil) {
  const auto word = [this](PassLoad depth_load, PassStore depth_store, PassLoad stencil_load,
                           PassStore stencil_store) {
    pass_.depth.load = depth_load;
    pass_.depth.store = depth_store;
    pass_.stencil.load = stencil_load;
    pass_.stencil.store = stencil_store;
    return Make().zls_control;
  };
  const auto load = PassLoad::kLoad, clear = PassLoad::kClear, any = PassLoad::kDiscard;
  const auto store = PassStore::kStore, drop = PassStore::kDiscard;
  EXPECT_EQ(word(load, store, load, store), 0xcc000u);
  EXPECT_EQ(word(clear, store, clear, store), 0xc0000u);
  EXPECT_EQ(word(load, drop, any, drop), 0x8000u);
  EXPECT_EQ(word(any, drop, load, drop), 0x4000u);
  EXPECT_EQ(word(clear, drop, any, store), 0x40000u);
  EXPECT_EQ(word(any, drop, any, drop), 0u);
}

TEST_F(RenderPassTest, OnlyWhatIsClearedNeedsEmptyTiles) {
  EXPECT_TRUE(Make().process_empty_tiles);
  colors_[0].load = PassLoad::kDiscard;
  EXPECT_TRUE(Make().process_empty_tiles) << "depth is cleared";
  pass_.depth.load = PassLoad::kLoad;
  EXPECT_FALSE(Make().process_empty_tiles);
  pass_.stencil.load = PassLoad::kClear;
  EXPECT_TRUE(Make().process_empty_tiles);
}

TEST_F(RenderPassTest, DepthOf16BitsHasItsFormatAndItsClearValue) {
  const Layout depth = Placed("D16_UNORM", 800, 600);
  pass_.depth.layout = &depth;
  pass_.stencil = {};
  const struct {
    float value;
    uint32_t bits;
  } kValues[] = {{0, 0}, {0.25f, 0x4000}, {0.5f, 0x8000}, {1, 0xffff}};
  for (const auto& [value, bits] : kValues) {
    pass_.clear_depth = value;
    const AsahiRender render = Make();
    EXPECT_EQ(render.clear_depth, bits) << value;
    EXPECT_EQ(render.zls_control, 0x4080000u);
    EXPECT_EQ(render.stencil.address, 0u);
    EXPECT_EQ(render.clear_stencil, 0u);
  }
}

TEST_F(RenderPassTest, WithoutDepthAndStencilTheirWordsAreZero) {
  pass_.depth = pass_.stencil = {};
  const AsahiRender render = Make();
  EXPECT_EQ(render.zls_control, 0u);
  EXPECT_EQ(render.zls_pixels, 0u);
  EXPECT_EQ(render.clear_depth, 0u);
  EXPECT_THAT(render.fragment_attachments, SizeIs(1));
}

TEST_F(RenderPassTest, APassWithoutColoursNeedsNoPrograms) {
  colors_.clear();
  pass_.load = pass_.store = pass_.partial_load = pass_.partial_store = {};
  const AsahiRender render = Make();
  EXPECT_EQ(render.bytes_per_sample, 8);
  EXPECT_EQ(render.tile_width, 32);
  EXPECT_EQ(render.tile_height, 32);
  EXPECT_THAT(render.fragment_attachments, SizeIs(2));
}

TEST_F(RenderPassTest, LayersAreAtTheirDistance) {
  const layout::ImageDescription array = {.layers = 6, .renderable = true};
  const Layout color = Placed("R8G8B8A8_UNORM", 64, 64, array);
  const Layout depth = Placed("Z32_FLOAT", 64, 64, array);
  colors_[0] = {.layout = &color, .image = {kColor, 1}, .first_layer = 2};
  pass_.depth = {.layout = &depth, .image = {kDepth, 2}, .first_layer = 2};
  pass_.stencil = {};
  pass_.width = pass_.height = 64;
  pass_.layers = 4;
  AsahiRender render = Make();
  EXPECT_EQ(render.layers, 4);
  // A layer is a tile of 64 by 64 pixels: one page.
  EXPECT_EQ(render.depth.address, kDepth + 2 * 0x4000);
  EXPECT_EQ(render.depth.layer_stride, 0x4000u);
  EXPECT_EQ(render.depth.metadata_layer_stride, 0u);
  // The distance counts only if there are several.
  pass_.layers = 1;
  render = Make();
  EXPECT_EQ(render.depth.address, kDepth + 2 * 0x4000);
  EXPECT_EQ(render.depth.layer_stride, 0u);
}

TEST_F(RenderPassTest, ALevelHasItsPlaceAndItsSize) {
  const layout::ImageDescription levels = {.levels = 2, .renderable = true};
  const Layout color = Placed("R8G8B8A8_UNORM", 128, 128, levels);
  const Layout depth = Placed("Z32_FLOAT", 128, 128, levels);
  colors_[0] = {.layout = &color, .image = {kColor, 1}, .level = 1};
  pass_.depth = {.layout = &depth, .image = {kDepth, 2}, .level = 1};
  pass_.stencil = {};
  pass_.width = 40;
  pass_.height = 64;
  const AsahiRender render = Make();
  EXPECT_EQ(render.depth.address, kDepth + 4 * 0x4000);
  EXPECT_EQ(render.zls_pixels, 63u | 63u << 15) << "the buffer's size, not the pass's";
  EXPECT_EQ(render.width, 40);
}

TEST_F(RenderPassTest, CompressedBuffersHaveTheirMetadata) {
  const layout::ImageDescription array = {
      .scheme = Scheme::kAgxCompressed, .layers = 3, .renderable = true};
  const Layout depth = Placed("Z32_FLOAT", 64, 64, array);
  const Layout stencil = Placed("S8_UINT", 64, 64, array);
  const Layout color = Placed("R8G8B8A8_UNORM", 64, 64, {.layers = 3, .renderable = true});
  colors_[0].layout = &color;
  pass_.depth = {.layout = &depth, .image = {kDepth, 2}, .first_layer = 1};
  pass_.stencil = {.layout = &stencil, .image = {kStencil, 3}, .first_layer = 1};
  pass_.width = pass_.height = 64;
  pass_.layers = 2;
  const AsahiRender render = Make();
  EXPECT_EQ(render.zls_control, 0xc0000u | 1u << 2 | 1u << 6 | 1u << 4 | 1u << 8);
  // Three layers of a page, then 16 words of 8 bytes for each.
  EXPECT_EQ(render.depth.address, kDepth + 0x4000);
  EXPECT_EQ(render.depth.metadata, kDepth + 3 * 0x4000 + 128);
  EXPECT_EQ(render.depth.metadata_layer_stride, 128u);
  EXPECT_EQ(render.stencil.metadata, kStencil + 3 * 0x4000 + 128);
}

TEST_F(RenderPassTest, LevelsThatAreTooSmallForMetadataAreNotCompressed) {
  const Layout depth = Placed("Z32_FLOAT", 64, 64, {.scheme = Scheme::kAgxCompressed, .levels = 7});
  ASSERT_EQ(depth.metadata()->levels, 3);  // 64, 32 and 16 pixels
  colors_.clear();
  pass_.stencil = {};
  pass_.width = pass_.height = 8;
  for (const uint32_t level : {2u, 3u}) {
    pass_.depth = {.layout = &depth, .image = {kDepth, 2}, .level = level};
    const AsahiRender render = Make();
    EXPECT_EQ(render.depth.metadata != 0, level == 2) << level;
    EXPECT_EQ((render.zls_control & 0x44) != 0, level == 2) << level;
  }
}

TEST_F(RenderPassTest, TheTileIsTheLargestThatFits) {
  pass_.depth = pass_.stencil = {};
  pass_.width = pass_.height = 64;
  const struct {
    const char* format;
    size_t colors;
    uint32_t samples;
    unsigned width, height, bytes;
  } kCases[] = {
      {"R8_UNORM", 1, 1, 32, 32, 8},
      {"R8G8B8A8_UNORM", 3, 1, 32, 32, 16},
      {"R16G16B16A16_FLOAT", 1, 4, 32, 32, 8},
      {"R32G32B32A32_FLOAT", 2, 1, 32, 32, 32},
      {"R32G32B32A32_FLOAT", 3, 1, 32, 16, 48},
      {"R32G32B32A32_FLOAT", 4, 1, 32, 16, 64},
      {"R32G32B32A32_FLOAT", 5, 1, 16, 16, 80},
      {"R32G32B32A32_FLOAT", 8, 1, 16, 16, 128},
      {"R32G32B32A32_FLOAT", 2, 4, 16, 16, 32},
  };
  for (const auto& one : kCases) {
    SCOPED_TRACE(testing::Message() << one.format << " " << one.colors << " " << one.samples);
    const Layout color = Placed(one.format, 64, 64, {.samples = one.samples});
    colors_.assign(one.colors, {.layout = &color, .image = {kColor, 1}});
    pass_.samples = one.samples;
    const AsahiRender render = Make();
    EXPECT_EQ(render.tile_width, one.width);
    EXPECT_EQ(render.tile_height, one.height);
    EXPECT_EQ(render.samples, one.samples);
    EXPECT_EQ(render.bytes_per_sample, one.bytes);
  }
}

TEST_F(RenderPassTest, ASmallerTileAndGapsBetweenColoursCanBeChosen) {
  pass_.tile_width = 32;
  pass_.tile_height = 16;
  pass_.bytes_per_sample = 24;
  const AsahiRender render = Make();
  EXPECT_EQ(render.tile_height, 16);
  EXPECT_EQ(render.bytes_per_sample, 24);
}

TEST_F(RenderPassTest, WhatDoesNotFitIsNamed) {
  const Layout intel = Placed("R8G8B8A8_UNORM", 800, 600, {.scheme = Scheme::kIntelY});
  const Layout linear = Placed("R8_UNORM", 800, 600, {.scheme = Scheme::kAgxLinear});
  const Layout small = Placed("R8G8B8A8_UNORM", 799, 600);
  const Layout low = Placed("Z32_FLOAT", 800, 599);
  const Layout blocks = Placed("DXT1_RGB", 800, 600);
  const Layout both = Placed("Z24_UNORM_S8_UINT", 800, 600);
  const Layout four = Placed("Z32_FLOAT", 800, 600, {.samples = 4});
  const Layout huge = Placed("Z32_FLOAT", 16384, 16384, {.layers = 2, .samples = 4});
  const Layout unaligned = Placed("Z32_FLOAT", 24, 24, {.layers = 2});
  const Layout pair = Placed("R8G8B8A8_UNORM", 800, 600, {.layers = 2, .renderable = true});
  const Layout volume =
      Placed("R8G8B8A8_UNORM", 16, 16, {.layers = 8, .levels = 4, .dim = layout::Dim::k3d});
  const Layout wide = Placed("R32G32B32A32_FLOAT", 800, 600);
  const Layout larger = Placed("S8_UINT", 801, 600);
  struct Bad {
    std::function<void(AsahiPass&, std::vector<AsahiPassImage>&)> change;
    const char* says;
  };
  using P = AsahiPass;
  using C = std::vector<AsahiPassImage>;
  const Bad kBad[] = {
      {[](P& p, C&) { p.width = 0; }, "size: an image of 0 by 600"},
      {[](P& p, C&) { p.height = 16385; }, "16385"},
      {[](P& p, C&) { p.width = 0x10320; }, "66336"},
      {[](P& p, C&) { p.layers = 0; }, "0 layers"},
      {[](P& p, C&) { p.layers = 0xffffffff; }, "4294967295 layers"},
      {[](P& p, C&) { p.layers = 2; }, "colour 0: the pass has 2 layers from layer 0 on"},
      {[](P&, C& c) { c[0].first_layer = 1; }, "colour 0: the pass has 1 layers from layer 1 on"},
      {[](P&, C& c) { c[0].first_layer = 0xffffffff; }, "from layer 4294967295 on"},
      {[](P& p, C&) { p.depth.level = 1; }, "depth: level 1 of an image that has 1"},
      {[](P& p, C&) { p.stencil.level = 0xffffffff; }, "stencil: level 4294967295"},
      {[](P&, C& c) { c.emplace_back(); }, "colour 1: it has no layout"},
      {[&](P&, C& c) { c[0].layout = &intel; }, "does not have the layout intel-y"},
      {[&](P&, C& c) { c[0].layout = &small; }, "level 0 of the image 799 by 600"},
      {[&](P&, C& c) { c[0].layout = &blocks; },
       "colour 0: the hardware cannot render to DXT1_RGB"},
      {[&](P&, C& c) { c[0].layout = &both; }, "cannot render to Z24_UNORM_S8_UINT"},
      {[&](P& p, C& c) {
         c[0] = {.layout = &volume, .image = {kColor, 1}, .level = 1};
         p.width = p.height = 8;
         p.layers = 5;
       },
       "the image 4"},
      {[](P&, C& c) { c[0].image = {}; }, "colour 0: it has no address"},
      {[](P& p, C&) { p.depth.image.gpu = 0xfffffff000; }, "past the end of 40-bit addresses"},
      {[](P& p, C&) { p.depth.image.gpu = ~uint64_t{0}; }, "past the end of 40-bit addresses"},
      {[](P& p, C&) { p.depth.image.gpu += 64; },
       "depth: its address 0x1500400040 is not a multiple"},
      {[&](P& p, C&) { p.depth.layout = &low; }, "depth: the pass has 800 by 600 pixels"},
      {[&](P& p, C&) { p.depth.layout = &linear; }, "depth: the image is linear"},
      {[&](P& p, C&) { p.depth.layout = &both; }, "Z32_FLOAT, not Z24_UNORM_S8_UINT"},
      {[&](P& p, C&) { p.depth.layout = &color_; }, "not R8G8B8A8_UNORM"},
      {[&](P& p, C&) { p.depth.layout = &four; }, "the pass has 1 samples, and the image 4"},
      {[&](P& p, C&) { p.stencil.layout = &depth_; }, "stencil: the hardware has S8_UINT, not"},
      {[&](P& p, C&) { p.stencil.layout = &larger; }, "stencil: the image has 801 by 600 pixels"},
      {[&](P& p, C& c) {
         c.clear();
         p.stencil = {};
         p.depth.layout = &huge;
         p.samples = 4;
         p.layers = 2;
       },
       "0x100000000 bytes apart"},
      {[&](P& p, C& c) {
         c.clear();
         p.stencil = {};
         p.depth.layout = &unaligned;
         p.width = p.height = 24;
         p.layers = 2;
       },
       "set ImageDescription::renderable"},
      {[&](P& p, C& c) {
         c[0].layout = &pair;
         p.layers = 2;
       },
       "depth: the pass has 2 layers from layer 0 on, and the image 1"},
      {[](P& p, C&) { p.samples = 3; }, "the pass has 3 samples, and the image 1"},
      {[](P& p, C& c) {
         c.clear();
         p.samples = 0;
       },
       "tile: 0 samples"},
      {[](P& p, C&) { p.clear_depth = 1.5f; }, "1.5: it must be 0 to 1"},
      {[](P& p, C&) { p.clear_depth = std::nanf(""); }, "nan"},
      {[](P& p, C&) { p.tile_width = 16; }, "tiles of 16 by 0 pixels"},
      {[](P& p, C&) { p.tile_width = p.tile_height = 64; }, "tiles of 64 by 64 pixels"},
      {[](P& p, C&) { p.bytes_per_sample = 4; }, "tile: 4 bytes a sample"},
      {[](P& p, C&) { p.bytes_per_sample = 0xfffffff8; }, "4294967288 bytes"},
      {[&](P& p, C& c) {
         c[0].layout = &wide;
         p.bytes_per_sample = 8;
       },
       "the colours take 16"},
      {[&](P& p, C& c) {
         c.assign(4, {.layout = &wide, .image = {kColor, 1}});
         p.tile_width = p.tile_height = 32;
       },
       "has room for 32 bytes a sample"},
      {[&](P&, C& c) {
         c.assign(9, {.layout = &wide, .image = {kColor, 1}});
       },
       "16 by 16 pixels has room for 128 bytes"},
      {[](P& p, C&) { p.load = {}; }, "`load`, which does that, is missing"},
      {[](P& p, C&) { p.store = {}; }, "`store`, which does that, is missing"},
      {[](P& p, C&) { p.partial_load = {}; }, "the hardware may split a pass"},
      {[](P& p, C&) { p.partial_store = {}; }, "the hardware may split a pass"},
  };
  const AsahiPass pass = pass_;
  const std::vector<AsahiPassImage> colors = colors_;
  for (const Bad& bad : kBad) {
    pass_ = pass;
    colors_ = colors;
    bad.change(pass_, colors_);
    const auto render = TryMake();
    EXPECT_EQ(render.status().code(), absl::StatusCode::kInvalidArgument) << bad.says;
    EXPECT_THAT(std::string(render.status().message()), HasSubstr(bad.says));
    EXPECT_THAT(uses_.all(), IsEmpty()) << bad.says;
    EXPECT_THAT(attachments_, IsEmpty()) << bad.says;
  }
  // None of this would be an error by itself.
  pass_ = pass;
  colors_ = colors;
  Make();
}

TEST(TileProgramTest, HasItsOffsetAndWhatItBinds) {
  const auto program = TileProgramOf<G13>({0x12340, 7}, {.uniform_register_count = 64,
                                                         .texture_state_register_count = 8,
                                                         .preshader_register_count = 16});
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->program, 0x12340u);
  EXPECT_EQ(program->resources, 1u << 12 | 1u << 4 | 1u << 1);
}

TEST(TileProgramTest, AddressesThatAreNoOffsetsAreRefused) {
  for (const uint64_t bad : {uint64_t{4}, uint64_t{0x1100000000}, ~uint64_t{7}}) {
    const auto program = TileProgramOf<G13>({bad}, {});
    EXPECT_EQ(program.status().code(), absl::StatusCode::kInvalidArgument) << bad;
    EXPECT_THAT(std::string(program.status().message()), HasSubstr("UscProgram::End()"));
  }
  const auto first = TileProgramOf<G13>({}, {});
  EXPECT_EQ(first.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(first.status().message()), HasSubstr("at the base of programs"));
  const auto program = TileProgramOf<G13>({0x1000}, {.uniform_register_count = 10000});
  EXPECT_EQ(program.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(program.status().message()), HasSubstr("uniform_register_count"));
}

}  // namespace
}  // namespace packsmith::gpu
