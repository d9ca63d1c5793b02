// What holds for every image, tried on random ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

#include "runtime/layout/layout.h"
#include "tests/layout/images.h"

namespace packsmith::layout {
namespace {

TEST(Invariants, NoTwoElementsShareAByteAndAllLieInTheirLevel) {
  std::mt19937 random(2);
  for (int round = 0; round < 100; ++round) {
    const ImageDescription image = RandomImage(random, 200);
    const Layout layout = LayOut(image);
    const uint32_t sample_B = image.format->block_B;
    std::vector<bool> taken(layout.size_B());
    for (uint32_t l = 0; l < layout.levels().size(); ++l) {
      const Level& level = layout.levels()[l];
      for (uint32_t layer = 0; layer < level.layers; ++layer) {
        const uint64_t layer_begin =
            (layer >> level.tile_d_log2) * level.layer_stride_B + level.offset_B;
        for (uint32_t y = 0; y < level.height_el; ++y) {
          for (uint32_t x = 0; x < level.width_el; ++x) {
            for (uint32_t s = 0; s < image.samples; ++s) {
              const uint64_t begin =
                  layer_begin + (s >> layout.TilingOf(l).samples_log2()) * layout.sample_stride_B();
              const uint64_t address = layout.AddressOf({l, layer, x, y, s}).value();
              ASSERT_GE(address, begin) << Text(image);
              ASSERT_LE(address + sample_B, begin + level.size_B)
                  << Text(image) << ", level " << l << " (" << x << ", " << y << ")";
              ASSERT_FALSE(taken[address]) << Text(image);
              // Elements are aligned to their size, so the first byte stands for all.
              taken[address] = true;
            }
          }
        }
      }
    }
  }
}

TEST(Invariants, AddressesLeadBackToTheirElements) {
  std::mt19937 random(3);
  for (int round = 0; round < 400; ++round) {
    const ImageDescription image = RandomImage(random, 2000);
    const Layout layout = LayOut(image);
    for (int i = 0; i < 20; ++i) {
      Element element;
      element.level = static_cast<uint32_t>(random() % layout.levels().size());
      element.layer = static_cast<uint32_t>(random() % layout.levels()[element.level].layers);
      element.x_el = static_cast<uint32_t>(random() % layout.levels()[element.level].width_el);
      element.y_el = static_cast<uint32_t>(random() % layout.levels()[element.level].height_el);
      element.sample = static_cast<uint32_t>(random() % image.samples);
      const uint64_t address = layout.AddressOf(element).value();
      ASSERT_EQ(layout.ElementAt(address + random() % image.format->block_B), element)
          << Text(image);
    }
    // The inverse: the element found at an address has that address.
    for (int i = 0; i < 20; ++i) {
      const uint64_t address = random() % layout.size_B();
      const std::optional<Element> element = layout.ElementAt(address);
      if (!element.has_value()) continue;
      const std::optional<uint64_t> begin = layout.AddressOf(*element);
      ASSERT_TRUE(begin.has_value()) << Text(image);
      ASSERT_LE(*begin, address) << Text(image);
      ASSERT_LT(address, *begin + image.format->block_B) << Text(image);
    }
  }
}

TEST(Invariants, LevelsAndLayersDoNotOverlap) {
  std::mt19937 random(4);
  for (int round = 0; round < 3000; ++round) {
    const ImageDescription image = RandomImage(random, 16384);
    const Layout layout = LayOut(image);
    // Levels follow each other in a layer, or with all of their layers.
    const bool alike = layout.layer_stride_B() != 0;
    uint64_t end = 0;
    for (const Level& level : layout.levels()) {
      // Levels of Intel's images share tiles.
      if (image.scheme < Scheme::kIntelLinear) {
        ASSERT_GE(level.offset_B, end) << Text(image);
      }
      ASSERT_GT(level.size_B, 0u) << Text(image);
      if (alike) {
        ASSERT_EQ(level.layers, image.layers) << Text(image);
        ASSERT_EQ(level.layer_stride_B, layout.layer_stride_B()) << Text(image);
      }
      ASSERT_GE(level.layer_stride_B, level.size_B) << Text(image);
      const uint64_t others_B = alike ? 0 : (level.layers - 1) * level.layer_stride_B;
      end = std::max(end, level.offset_B + others_B + level.size_B);
    }
    ASSERT_GE(alike ? layout.layer_stride_B() : layout.size_B(), end) << Text(image);
    const uint32_t tile_d_el = layout.levels()[0].tile_d_el();
    ASSERT_GE(layout.size_B(), layout.layer_stride_B() * ((image.layers - 1) / tile_d_el + 1))
        << Text(image);
    ASSERT_GE(layout.levels().size(), image.levels) << Text(image);
    const Metadata* const metadata = layout.metadata();
    ASSERT_EQ(metadata != nullptr, image.scheme == Scheme::kAgxCompressed);
    if (metadata == nullptr) continue;
    ASSERT_EQ(metadata->offset_B, layout.layer_stride_B() * image.layers);
    ASSERT_EQ(layout.size_B(), metadata->offset_B + metadata->layer_stride_B * image.layers);
  }
}

TEST(Invariants, WordsOfMetadataDoNotOverlap) {
  std::mt19937 random(5);
  int seen = 0;
  while (seen < 40) {
    const ImageDescription image = RandomImage(random, 1500);
    if (image.scheme != Scheme::kAgxCompressed) continue;
    ++seen;
    const Layout layout = LayOut(image);
    std::vector<bool> taken((layout.size_B() - layout.metadata()->offset_B) / 8);
    for (uint32_t layer = 0; layer < image.layers; ++layer) {
      for (uint32_t l = 0; l < layout.levels().size(); ++l) {
        for (uint32_t y = 0; layout.MetadataAddressOf(l, layer, 0, y).has_value(); ++y) {
          for (uint32_t x = 0; layout.MetadataAddressOf(l, layer, x, y).has_value(); ++x) {
            const uint64_t word =
                (*layout.MetadataAddressOf(l, layer, x, y) - layout.metadata()->offset_B) / 8;
            ASSERT_LT(word, taken.size()) << Text(image);
            ASSERT_FALSE(taken[word]) << Text(image);
            taken[word] = true;
          }
        }
      }
    }
  }
}

TEST(Invariants, TilingsOfAllImagesAreBijective) {
  std::mt19937 random(6);
  for (int round = 0; round < 1000; ++round) {
    const ImageDescription image = RandomImage(random, 16384);
    const Layout layout = LayOut(image);
    for (uint32_t l = 0; l < layout.levels().size(); ++l) {
      const Tiling tiling = layout.TilingOf(l);
      ASSERT_TRUE(tiling.IsBijective()) << Text(image) << ": " << tiling.Text();
      ASSERT_EQ(tiling.width_log2(), layout.levels()[l].tile_w_log2) << Text(image);
      ASSERT_EQ(tiling.height_log2(), layout.levels()[l].tile_h_log2) << Text(image);
      ASSERT_EQ(tiling.depth_log2(), layout.levels()[l].tile_d_log2) << Text(image);
    }
  }
}

}  // namespace
}  // namespace packsmith::layout
