#include "runtime/agx/descriptors.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "packsmith/agx_g13.h"
#include "tests/agx/built.h"

namespace packsmith::agx {
namespace {

using gpu::BufferUse;
using gpu::BufferUses;
using layout::Layout;
using layout::Scheme;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

namespace g13 = ::packsmith::agx_g13;
using G13 = g13::generation;
using g13::Texture_dimension;

constexpr uint64_t kImage = 0x1500000000;

Layout LayoutOf(const layout::ImageDescription& description) {
  const auto layout = Layout::Of(description);
  EXPECT_TRUE(layout.ok()) << layout.status();
  return *layout;
}
layout::ImageDescription Rgba8(Scheme scheme, uint32_t width, uint32_t height) {
  return {.scheme = scheme,
          .format = layout::FindFormat("R8G8B8A8_UNORM"),
          .width_px = width,
          .height_px = height};
}

template <class T>
std::string Message(const absl::StatusOr<T>& result) {
  return std::string(result.status().message());
}
std::string Message(const absl::Status& status) { return std::string(status.message()); }

TEST(Textures, AreMadeOfLinearLayouts) {
  const Layout layout = LayoutOf(Rgba8(Scheme::kAgxLinear, 100, 50));
  const auto texture = TextureOf<G13>({.layout = &layout, .image = {kImage, 7}});
  ASSERT_TRUE(texture.ok()) << texture.status();
  EXPECT_EQ(texture->layout_, g13::Layout::Linear);
  EXPECT_EQ(texture->width, 100u);
  EXPECT_EQ(texture->height, 50u);
  // 400 bytes a row, rounded up to 512; the field is 16 less.
  EXPECT_EQ(texture->stride, 512u - 16);
  EXPECT_EQ(texture->address, address(kImage, 7));
  EXPECT_FALSE(texture->extended);
}

TEST(Textures, OfLinearArraysHaveTheirLayersInTheLastBytes) {
  layout::ImageDescription description = Rgba8(Scheme::kAgxLinear, 100, 50);
  description.layers = 5;
  const Layout layout = LayoutOf(description);
  const auto texture = TextureOf<G13>(
      {.layout = &layout, .image = kImage, .dimension = Texture_dimension::_2D_Array});
  ASSERT_TRUE(texture.ok()) << texture.status();
  EXPECT_TRUE(texture->extended);
  EXPECT_EQ(texture->depth_linear, 5u);
  EXPECT_EQ(texture->layer_stride_linear, layout.layer_stride_B() - 128);
  EXPECT_EQ(texture->depth, 1u);
}

TEST(Textures, SeePartsOfAnImage) {
  layout::ImageDescription description = Rgba8(Scheme::kAgxTwiddled, 256, 256);
  description.layers = 6;
  description.levels = 9;
  const Layout layout = LayoutOf(description);
  const auto texture = TextureOf<G13>({.layout = &layout,
                                       .image = kImage,
                                       .dimension = Texture_dimension::_2D_Array,
                                       .srgb = true,
                                       .first_level = 2,
                                       .levels = 3,
                                       .first_layer = 1,
                                       .layers = 4});
  ASSERT_TRUE(texture.ok()) << texture.status();
  EXPECT_EQ(texture->first_level, 2u);
  EXPECT_EQ(texture->last_level, 4u);
  EXPECT_EQ(texture->depth, 4u);
  EXPECT_EQ(texture->address.gpu, kImage + layout.layer_stride_B());
  EXPECT_TRUE(texture->srgb);
  EXPECT_EQ(texture->page_aligned_layers, layout.layer_stride_B() % 16384 == 0);
  const auto cube =
      TextureOf<G13>({.layout = &layout, .image = kImage, .dimension = Texture_dimension::Cube});
  ASSERT_TRUE(cube.ok()) << cube.status();
  EXPECT_EQ(cube->depth, 1u);
}

TEST(Textures, OfCompressedImagesHaveMetadata) {
  layout::ImageDescription description = Rgba8(Scheme::kAgxCompressed, 64, 64);
  description.layers = 2;
  const Layout layout = LayoutOf(description);
  const auto texture = TextureOf<G13>({.layout = &layout, .image = {kImage, 7}, .first_layer = 1});
  ASSERT_TRUE(texture.ok()) << texture.status();
  EXPECT_EQ(texture->layout_, g13::Layout::Compressed);
  EXPECT_TRUE(texture->extended && texture->compressed_1);
  EXPECT_EQ(texture->acceleration_buffer.gpu,
            kImage + layout.metadata()->offset_B + layout.metadata()->layer_stride_B);
}

TEST(WrittenImages, SayWhichLevelIsWritten) {
  layout::ImageDescription description = Rgba8(Scheme::kAgxTwiddled, 256, 128);
  description.levels = 9;
  const Layout layout = LayoutOf(description);
  const auto image =
      WrittenImageOf<G13>({.layout = &layout, .image = {kImage, 7}, .first_level = 3});
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(image->level, 3u);
  EXPECT_EQ(image->levels, 9u);
  EXPECT_EQ(image->width, 256u);
  EXPECT_EQ(image->swizzle_a, 3u);
  const Layout rows = LayoutOf(Rgba8(Scheme::kAgxLinear, 100, 50));
  const auto linear = WrittenImageOf<G13>({.layout = &rows, .image = kImage});
  ASSERT_TRUE(linear.ok()) << linear.status();
  EXPECT_EQ(linear->stride, 512u - 4);
}

TEST(Views, StayWithinTheImage) {
  const Layout layout = LayoutOf(Rgba8(Scheme::kAgxTwiddled, 64, 64));
  EXPECT_THAT(Message(TextureOf<G13>({.layout = &layout, .first_level = 1})),
              HasSubstr("levels from level 1, but the image has 1"));
  EXPECT_THAT(Message(TextureOf<G13>({.layout = &layout, .layers = 2})),
              HasSubstr("2 layers from layer 0"));
  EXPECT_THAT(Message(TextureOf<G13>({.layout = &layout, .channels = g13::Channels::BC1})),
              HasSubstr("R8G8B8A8_UNORM and the channels of the view must both"));
  const Layout other = LayoutOf(Rgba8(Scheme::kIntelY, 64, 64));
  EXPECT_THAT(Message(TextureOf<G13>({.layout = &other})), HasSubstr("intel-y"));
  EXPECT_THAT(Message(TextureOf<G13>({.layout = &layout, .dimension = Texture_dimension::Cube})),
              HasSubstr("a cube has 6 layers"));
  EXPECT_THAT(Message(TextureOf<G13>({})), HasSubstr("needs the image's layout"));
  EXPECT_THAT(Message(WrittenImageOf<G13>({})), HasSubstr("needs the image's layout"));
  EXPECT_THAT(Message(TextureOf<G13>({.layout = &layout, .image = uint64_t{1} << 40})),
              HasSubstr("address needs more bits"));
  EXPECT_THAT(Message(TextureOf<G13>({.layout = &layout, .image = kImage + 8})),
              HasSubstr("address has low bits"));
}

TEST(Views, HaveAsManySamplesAsTheImage) {
  layout::ImageDescription description = Rgba8(Scheme::kAgxTwiddled, 64, 64);
  const Layout one = LayoutOf(description);
  for (const uint32_t samples : {2u, 4u}) {
    description.samples = samples;
    const Layout layout = LayoutOf(description);
    const auto texture =
        TextureOf<G13>({.layout = &layout, .dimension = Texture_dimension::_2D_Multisampled});
    ASSERT_TRUE(texture.ok()) << texture.status();
    EXPECT_EQ(texture->samples, samples == 2 ? g13::Sample_Count::_2 : g13::Sample_Count::_4);
    EXPECT_THAT(Message(TextureOf<G13>({.layout = &layout})),
                HasSubstr(" samples has a view whose dimension is not multisampled"));
    EXPECT_THAT(Message(WrittenImageOf<G13>({.layout = &layout})), HasSubstr("multisampled"));
  }
  EXPECT_THAT(Message(TextureOf<G13>(
                  {.layout = &one, .dimension = Texture_dimension::_2D_Array_Multisampled})),
              HasSubstr("1 sample has a view whose dimension is multisampled"));
}

// Each rule, by a texture that breaks it alone.
TEST(Limits, OfTexturesAreSaid) {
  const g13::Texture good{.dimension = Texture_dimension::_2D,
                          .layout_ = g13::Layout::Twiddled,
                          .channels = g13::Channels::R8G8B8A8,
                          .width = 64,
                          .height = 64,
                          .last_level = 6,
                          .address = kImage};
  ASSERT_TRUE(Check(good).ok()) << Check(good);
  const auto broken = [&](auto&& breaks) {
    g13::Texture texture = good;
    breaks(texture);
    return Message(Check(texture));
  };
  EXPECT_THAT(broken([](auto& t) { t.width = 16385; }), HasSubstr("width needs more bits"));
  EXPECT_THAT(broken([](auto& t) { t.last_level = 7; }), HasSubstr("the last one is 6"));
  EXPECT_THAT(broken([](auto& t) { t.first_level = 7; }), HasSubstr("first is larger"));
  EXPECT_THAT(broken([](auto& t) { t.dimension = Texture_dimension::_1D; }),
              HasSubstr("a height of 1, not 64"));
  EXPECT_THAT(broken([](auto& t) {
                t.dimension = Texture_dimension::Cube;
                t.height = 32;
              }),
              HasSubstr("must be square, not 64 by 32"));
  EXPECT_THAT(broken([](auto& t) { t.dimension = Texture_dimension::_2D_Multisampled; }),
              HasSubstr("one level"));
  EXPECT_THAT(broken([](auto& t) {
                t.dimension = Texture_dimension::_2D_Multisampled;
                t.channels = g13::Channels::BC7;
                t.last_level = 0;
              }),
              HasSubstr("cannot be multisampled"));
  EXPECT_THAT(broken([](auto& t) { t.depth = 2; }), HasSubstr("neither an array nor a 3D image"));
  EXPECT_THAT(broken([](auto& t) { t.stride = 16; }),
              HasSubstr("only linear images can have a stride"));
  EXPECT_THAT(broken([](auto& t) { t.depth_linear = 2; }), HasSubstr("depth_linear"));
  EXPECT_THAT(broken([](auto& t) { t.acceleration_buffer = kImage; }),
              HasSubstr("only compressed images can have metadata"));
  EXPECT_THAT(broken([](auto& t) { t.layout_ = g13::Layout::Compressed; }),
              HasSubstr("needs the address of its metadata"));
  EXPECT_THAT(broken([](auto& t) {
                t.layout_ = g13::Layout::Compressed;
                t.acceleration_buffer = kImage;
              }),
              HasSubstr("a compressed image must be extended"));
  EXPECT_THAT(broken([](auto& t) {
                t.layout_ = g13::Layout::Compressed;
                t.acceleration_buffer = kImage;
                t.extended = true;
                t.channels = g13::Channels::BC1;
              }),
              HasSubstr("cannot be compressed again"));
  EXPECT_THAT(broken([](auto& t) { t.null = true; }), HasSubstr("layout Null"));
  EXPECT_THAT(broken([](auto& t) { t.layout_ = g13::Layout::Null; }), HasSubstr("marked as null"));
  const auto linear = [&](auto&& breaks) {
    return broken([&](auto& t) {
      t.layout_ = g13::Layout::Linear;
      t.stride = 256 - 16;
      t.last_level = 0;
      breaks(t);
    });
  };
  EXPECT_EQ(linear([](auto&) {}), "");
  EXPECT_THAT(linear([](auto& t) { t.stride = 250; }), HasSubstr("stride has low bits set"));
  EXPECT_THAT(linear([](auto& t) { t.last_level = 1; }), HasSubstr("one level"));
  EXPECT_THAT(linear([](auto& t) { t.dimension = Texture_dimension::_3D; }),
              HasSubstr("cannot be linear"));
  EXPECT_THAT(linear([](auto& t) { t.dimension = Texture_dimension::_2D_Multisampled; }),
              HasSubstr("cannot be linear"));
  EXPECT_THAT(linear([](auto& t) { t.channels = g13::Channels::ETC2_RGB8; }),
              HasSubstr("cannot be linear"));
  EXPECT_THAT(linear([](auto& t) { t.depth = 2; }), HasSubstr("depth_linear"));
  EXPECT_THAT(linear([](auto& t) { t.page_aligned_layers = true; }),
              HasSubstr("shares its bit with the stride"));
  EXPECT_EQ(linear([](auto& t) { t.stride = (2u << 20) - 16; }), "");
  EXPECT_THAT(linear([](auto& t) { t.stride = 2u << 20; }), HasSubstr("says extended"));
  EXPECT_THAT(linear([](auto& t) { t.depth_linear = 2; }), HasSubstr("must be extended"));
  EXPECT_THAT(linear([](auto& t) {
                t.depth_linear = 2;
                t.extended = true;
              }),
              HasSubstr("must be an array"));
}

TEST(Limits, OfWrittenImagesAreSaid) {
  const g13::PBE good{.dimension = Texture_dimension::_2D,
                      .layout_ = g13::Layout::Twiddled,
                      .channels = g13::Channels::R8G8B8A8,
                      .width = 64,
                      .height = 64,
                      .buffer = kImage};
  ASSERT_TRUE(Check(good).ok()) << Check(good);
  const auto broken = [&](auto&& breaks) {
    g13::PBE image = good;
    breaks(image);
    return Message(Check(image));
  };
  EXPECT_THAT(broken([](auto& i) { i.level = 1; }), HasSubstr("level 1 cannot be written"));
  EXPECT_THAT(broken([](auto& i) { i.levels = 8; }), HasSubstr("there is no level 7"));
  EXPECT_THAT(broken([](auto& i) { i.channels = g13::Channels::ASTC_4x4; }),
              HasSubstr("cannot write blocks"));
  EXPECT_THAT(broken([](auto& i) { i.layout_ = g13::Layout::Null; }), HasSubstr("cannot be Null"));
  EXPECT_THAT(broken([](auto& i) { i.swizzle_r = 4; }), HasSubstr("swizzle_r needs more bits"));
  EXPECT_THAT(broken([](auto& i) {
                i.layout_ = g13::Layout::Linear;
                i.page_aligned_layers = true;
              }),
              HasSubstr("shares its bit with the stride"));
}

TEST(Limits, OfSamplersAreSaid) {
  const auto message = [](const g13::Sampler& sampler, bool extended = false) {
    return Message(CheckSampler(sampler, extended));
  };
  EXPECT_EQ(message({.maximum_lod = 14.0f, .maximum_anisotropy = 16}), "");
  EXPECT_THAT(message({.maximum_anisotropy = 32}), HasSubstr("an anisotropy of 32"));
  EXPECT_THAT(message({.maximum_anisotropy = 3}), HasSubstr("not a power of two"));
  EXPECT_THAT(message({.minimum_lod = 2, .maximum_lod = 1}), HasSubstr("the minimum is larger"));
  EXPECT_THAT(message({.border_colour = g13::Border_colour::Custom}), HasSubstr("extended"));
  EXPECT_EQ(message({.border_colour = g13::Border_colour::Custom}, true), "");
  EXPECT_THAT(message({.wrap_s = g13::Wrap::Repeat, .pixel_coordinates = true}),
              HasSubstr("clamp them"));
  EXPECT_THAT(message({.mip_filter = g13::Mip_filter::Linear, .pixel_coordinates = true}),
              HasSubstr("mip filter"));
}

TEST(Tables, NoteWhatIsReadAndWritten) {
  FakeMemory memory(kImage + 0x10000, 48);
  BufferUses uses;
  const g13::Texture texture{.dimension = Texture_dimension::_2D,
                             .layout_ = g13::Layout::Twiddled,
                             .address = address(kImage, 7)};
  const g13::PBE image{.dimension = Texture_dimension::_2D,
                       .layout_ = g13::Layout::Twiddled,
                       .buffer = address(kImage, 8)};
  ASSERT_TRUE(WriteTable<g13::Texture>(memory.get(), uses, {&texture, 1}).ok());
  ASSERT_TRUE(WriteTable<g13::PBE>(memory.get().From(24), uses, {&image, 1}).ok());
  EXPECT_THAT(uses.all(), ElementsAre(BufferUse{7, gpu::kReads}, BufferUse{8, gpu::kWrites}));
  EXPECT_EQ(g13::Texture::unpack(memory.bytes().data()).address, address(kImage));
  EXPECT_EQ(g13::PBE::unpack(memory.bytes().data() + 24).buffer, address(kImage));
}

TEST(Tables, AreWrittenAsAWholeOrNotAtAll) {
  FakeMemory memory(kImage, 48);
  BufferUses uses;
  g13::Texture textures[3] = {{.layout_ = g13::Layout::Twiddled}, {}, {}};
  textures[1] = textures[2] = textures[0];
  EXPECT_THAT(Message(WriteTable<g13::Texture>(memory.get(), uses, textures)),
              HasSubstr("3 descriptors take 72 bytes, but there is room for 48"));
  textures[1].last_level = 5;
  EXPECT_THAT(Message(WriteTable<g13::Texture>(memory.get(), uses, {textures, 2})),
              HasSubstr("entry 1 of the table: texture: there is no level 5"));
  EXPECT_THAT(memory.bytes(), Each(0xee));
  EXPECT_EQ(uses.size(), 0u);
}

TEST(Tables, OfSamplersHaveBordersWhereTheyAreExtended) {
  FakeMemory memory(kImage, 48);
  BufferUses uses;
  const g13::Sampler plain[2] = {{.maximum_lod = 1}, {.maximum_lod = 2}};
  ASSERT_TRUE(WriteTable<g13::Sampler>(memory.get(), uses, plain).ok());
  EXPECT_EQ(g13::Sampler::unpack(memory.bytes().data() + 8).maximum_lod, 2.0f);
  g13::Extended_sampler extended[3];
  extended[1].sampler.border_colour = g13::Border_colour::Custom;
  extended[1].border.channel_3 = 0x3f800000;
  ASSERT_TRUE(WriteTable<g13::Extended_sampler>(memory.get(), uses, {extended, 2}).ok());
  EXPECT_EQ(g13::Border::unpack(memory.bytes().data() + 32).channel_3, 0x3f800000u);
  EXPECT_FALSE(WriteTable<g13::Extended_sampler>(memory.get(), uses, extended).ok());
  const g13::Sampler custom[1] = {{.border_colour = g13::Border_colour::Custom}};
  EXPECT_THAT(Message(WriteTable<g13::Sampler>(memory.get(), uses, custom)),
              HasSubstr("entry 0 of the table: sampler"));
}

TEST(Tables, OfSamplersNeedEnoughRegisters) {
  using g13::Sampler_states;
  const auto states = [](size_t count, bool extended) {
    return *SamplerStatesFor<G13>(count, extended);
  };
  EXPECT_EQ(states(0, false), Sampler_states::_0);
  EXPECT_EQ(states(4, false), Sampler_states::_4_compact);
  EXPECT_EQ(states(5, false), Sampler_states::_8_compact);
  EXPECT_EQ(states(12, false), Sampler_states::_12_compact);
  EXPECT_EQ(states(13, false), Sampler_states::_16_compact);
  EXPECT_EQ(states(1, true), Sampler_states::_8_extended);
  EXPECT_EQ(states(9, true), Sampler_states::_16_extended);
  EXPECT_FALSE(SamplerStatesFor<G13>(17, false).ok());
}

}  // namespace
}  // namespace packsmith::agx
