#include "runtime/layout/format.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "runtime/layout/compression.h"

namespace packsmith::layout {
namespace {

TEST(Format, NamesAreUnique) {
  std::set<absl::string_view> names;
  for (const Format& format : Formats())
    EXPECT_TRUE(names.insert(format.name).second) << format.name;
}

TEST(Format, IsFoundUnderTheNamesOfGalliumAndVulkan) {
  for (const Format& format : Formats()) EXPECT_EQ(FindFormat(format.name), &format);
  EXPECT_EQ(FindFormat("VK_FORMAT_R32_SFLOAT"), FindFormat("R32_FLOAT"));
  EXPECT_EQ(FindFormat("PIPE_FORMAT_R8_UNORM"), FindFormat("R8_UNORM"));
  EXPECT_EQ(FindFormat("BC1_RGBA_UNORM"), FindFormat("DXT1_RGBA"));
  EXPECT_EQ(FindFormat("VK_FORMAT_BC7_SRGB_BLOCK"), FindFormat("BPTC_SRGBA"));
  EXPECT_EQ(FindFormat("VK_FORMAT_ASTC_10x8_UNORM_BLOCK"), FindFormat("ASTC_10x8"));
  EXPECT_EQ(FindFormat("D32_SFLOAT"), FindFormat("Z32_FLOAT"));
  EXPECT_NE(FindFormat("D32_SFLOAT"), nullptr);
  EXPECT_EQ(FindFormat("R8G8B8A8"), nullptr);
  EXPECT_EQ(FindFormat(""), nullptr);
}

TEST(Format, EveryAliasLeadsSomewhere) {
  for (const char* name : {"BC1_RGB_UNORM",
                           "BC1_RGB_SRGB",
                           "BC1_RGBA_SRGB",
                           "BC2_UNORM",
                           "BC2_SRGB",
                           "BC3_UNORM",
                           "BC3_SRGB",
                           "BC4_UNORM",
                           "BC4_SNORM",
                           "BC5_UNORM",
                           "BC5_SNORM",
                           "BC6H_UFLOAT",
                           "BC6H_SFLOAT",
                           "BC7_UNORM",
                           "ETC2_R8G8B8_UNORM",
                           "ETC2_R8G8B8A1_SRGB",
                           "ETC2_R8G8B8A8_UNORM",
                           "EAC_R11_SNORM",
                           "EAC_R11G11_UNORM",
                           "D16_UNORM",
                           "D32_SFLOAT_S8_UINT",
                           "D24_UNORM_S8_UINT",
                           "X8_D24_UNORM_PACK32",
                           "B10G11R11_UFLOAT_PACK32",
                           "E5B9G9R9_UFLOAT_PACK32",
                           "A2B10G10R10_UNORM_PACK32",
                           "A2R10G10B10_UINT_PACK32"}) {
    EXPECT_NE(FindFormat(name), nullptr) << name;
  }
}

// Vulkan names the channels of a packed word from its highest bit on.
TEST(Format, PackedChannelsHaveTheOtherOrderInVulkan) {
  const auto name = [](const char* vulkan) { return FindFormat(vulkan)->name; };
  EXPECT_EQ(name("VK_FORMAT_A8B8G8R8_UNORM_PACK32"), "R8G8B8A8_UNORM");
  EXPECT_EQ(name("VK_FORMAT_R5G6B5_UNORM_PACK16"), "B5G6R5_UNORM");
  EXPECT_EQ(name("VK_FORMAT_A1R5G5B5_UNORM_PACK16"), "B5G5R5A1_UNORM");
  EXPECT_EQ(name("VK_FORMAT_R4G4B4A4_UNORM_PACK16"), "A4B4G4R4_UNORM");
  EXPECT_EQ(name("VK_FORMAT_A2B10G10R10_UNORM_PACK32"), "R10G10B10A2_UNORM");
  EXPECT_EQ(name("VK_FORMAT_B10G11R11_UFLOAT_PACK32"), "R11G11B10_FLOAT");
  EXPECT_EQ(name("VK_FORMAT_E5B9G9R9_UFLOAT_PACK32"), "R9G9B9E5_FLOAT");
  for (const char* none : {"_PACK32", "8_PACK8", "R_PACK16", "R8G8B8A8_PACK32"}) {
    EXPECT_EQ(FindFormat(none), nullptr) << none;
  }
}

// The bytes of an element are those of all channels that its name has.
TEST(Format, SizesOfPlainFormatsFollowFromTheirNames) {
  int plain = 0;
  for (const Format& format : Formats()) {
    if (format.is_block_compressed()) continue;
    ++plain;
    int bits = 0, channel_bits = 0;
    for (const char c : std::string(format.name) + "_") {
      if (c >= '0' && c <= '9') {
        channel_bits = channel_bits * 10 + c - '0';
        continue;
      }
      bits += channel_bits;
      channel_bits = 0;
    }
    // Stencil that shares a word of 32 bits with 16 bits of depth is followed by nothing.
    const int padding = format.name == "Z16_UNORM_S8_UINT" ? 8 : 0;
    EXPECT_EQ(format.block_B * 8, static_cast<uint32_t>(bits + padding)) << format.name;
  }
  EXPECT_GT(plain, 200);
}

// 43 channel layouts, and 90 formats that the GPU renders to through 12 register formats.
TEST(Format, AgxHasItsChannelLayoutsAndRegisterFormats) {
  std::set<absl::string_view> channels;
  std::map<absl::string_view, int> registers;
  for (const Format& format : Formats()) {
    if (!format.agx_channels.empty()) channels.insert(format.agx_channels);
    if (format.agx_renderable()) ++registers[format.agx_register_format];
  }
  EXPECT_EQ(channels.size(), 43u);
  EXPECT_EQ(registers, (std::map<absl::string_view, int>{{"F16", 14},
                                                         {"I32", 12},
                                                         {"I8", 12},
                                                         {"U8NORM", 10},
                                                         {"SRGBA8", 10},
                                                         {"S8NORM", 10},
                                                         {"I16", 10},
                                                         {"RGB10A2", 4},
                                                         {"U16NORM", 3},
                                                         {"S16NORM", 3},
                                                         {"RG11B10F", 1},
                                                         {"RGB9E5", 1}}));
}

TEST(Format, OneChannelLayoutHasOneSizeOfBlock) {
  std::map<absl::string_view, const Format*> first;
  for (const Format& format : Formats()) {
    // Depth of 32 bits with stencil is two images for the hardware, each with its own channels.
    if (format.agx_channels.empty() || format.depth_or_stencil) continue;
    const Format* const other = first.emplace(format.agx_channels, &format).first->second;
    EXPECT_EQ(other->block_B, format.block_B) << other->name << " " << format.name;
    EXPECT_EQ(other->block_w_px, format.block_w_px) << other->name << " " << format.name;
    EXPECT_EQ(other->block_h_px, format.block_h_px) << other->name << " " << format.name;
  }
}

TEST(Format, OnlyWhatIsRenderedToIsCompressible) {
  EXPECT_TRUE(FindFormat("R8G8B8A8_UNORM")->agx_compressible());
  EXPECT_TRUE(FindFormat("Z32_FLOAT")->agx_compressible());
  EXPECT_FALSE(FindFormat("ETC2_RGB8")->agx_compressible());
  EXPECT_FALSE(FindFormat("L8_UNORM")->agx_compressible());
  EXPECT_FALSE(FindFormat("R16G16B16_FLOAT")->agx_compressible());
}

TEST(Compression, ViewsHaveTheSameChannels) {
  const auto may = [](const char* image, const char* view) {
    return MayViewCompressed(*FindFormat(image), *FindFormat(view));
  };
  EXPECT_TRUE(may("R8G8B8A8_UNORM", "R8G8B8A8_SRGB"));
  EXPECT_TRUE(may("R32_FLOAT", "R32_UINT"));
  EXPECT_FALSE(may("R8G8B8A8_UNORM", "R32_UINT"));
  EXPECT_FALSE(may("R16G16_FLOAT", "R32_FLOAT"));
  EXPECT_FALSE(may("ETC2_RGB8", "ETC2_SRGB8"));
}

TEST(Compression, ModesDependOnTheSizeOfAnElement) {
  EXPECT_EQ(MetadataModeUncompressed(1), 0x1f);
  EXPECT_EQ(MetadataModeUncompressed(2), 0x3f);
  EXPECT_EQ(MetadataModeUncompressed(4), 0x7f);
  EXPECT_EQ(MetadataModeUncompressed(8), 0xff);
  EXPECT_EQ(MetadataModeUncompressed(16), 0xff);
  EXPECT_EQ(MetadataWord(kMetadataModeSolid), 0x0303030303030303u);
}

}  // namespace
}  // namespace packsmith::layout
