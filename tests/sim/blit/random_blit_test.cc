// Random blits against an implementation that goes from pixel to pixel and from bit to bit.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <variant>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/layout/format.h"
#include "runtime/layout/layout.h"
#include "runtime/sim/blit/blit.h"
#include "tests/sim/blit/segments.h"

namespace packsmith::sim {
namespace {

constexpr uint64_t kDestination = 0x1000000, kSource = 0x2000000, kData = 0x3000000;
constexpr size_t kSurface_B = 1 << 18;
constexpr size_t kData_B = 1 << 14;
constexpr int64_t kPitch_B = 4096;

using Bytes = std::vector<uint8_t>;
using Pixel = std::array<uint8_t, 16>;

// The place of a pixel in `bytes` by the layout's addresses, one by one.
class NaiveSurface {
 public:
  NaiveSurface(const BlitSurface& surface, uint64_t base, uint32_t pixel_B)
      : surface_(surface), first_(surface.address - base), pixel_B_(pixel_B) {
    if (surface.tiling == BlitTiling::kLinear) return;
    constexpr std::array<const char*, 17> kFormats = {nullptr,
                                                      "R8_UINT",
                                                      "R16_UINT",
                                                      nullptr,
                                                      "R32_UINT",
                                                      nullptr,
                                                      nullptr,
                                                      nullptr,
                                                      "R32G32_UINT",
                                                      nullptr,
                                                      nullptr,
                                                      nullptr,
                                                      nullptr,
                                                      nullptr,
                                                      nullptr,
                                                      nullptr,
                                                      "R32G32B32A32_UINT"};
    constexpr std::array<layout::Scheme, kBlitTilings> kSchemes = {
        layout::Scheme::kIntelLinear, layout::Scheme::kIntelX,        layout::Scheme::kIntelY,
        layout::Scheme::kIntelTile4,  layout::Scheme::kIntelYf,       layout::Scheme::kIntelYs,
        layout::Scheme::kIntelTile64, layout::Scheme::kIntelTile64Xe2};
    layout::ImageDescription image;
    image.scheme = kSchemes[static_cast<size_t>(surface.tiling)];
    image.format = layout::FindFormat(kFormats[pixel_B]);
    image.width_px = static_cast<uint32_t>(surface.pitch_B) / pixel_B;
    image.height_px = 256;
    image.stride_B = static_cast<uint64_t>(surface.pitch_B);
    image.bit6_swizzle = surface.bit6_swizzle;
    layout_ = layout::Layout::Of(image).value();
  }

  size_t At(int64_t x, int64_t y) const {
    x += surface_.x_offset_px;
    y += surface_.y_offset_px;
    if (layout_.has_value()) {
      return first_ +
             layout_->AddressOf({0, 0, static_cast<uint32_t>(x), static_cast<uint32_t>(y), 0})
                 .value();
    }
    return first_ + static_cast<uint64_t>(y * surface_.pitch_B + x * pixel_B_);
  }

 private:
  BlitSurface surface_;
  uint64_t first_;
  uint32_t pixel_B_;
  std::optional<layout::Layout> layout_;
};

Pixel Load(const Bytes& bytes, size_t at, uint32_t pixel_B) {
  Pixel pixel = {};
  std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(at), pixel_B, pixel.begin());
  return pixel;
}

Pixel OfColor(const BlitColor& color) {
  Pixel pixel;
  for (size_t i = 0; i < 16; ++i) pixel[i] = static_cast<uint8_t>(color[i / 4] >> 8 * (i % 4));
  return pixel;
}

bool BitAt(const Bytes& bytes, uint64_t bit) { return (bytes[bit / 8] << bit % 8 & 0x80) != 0; }

bool InRange(const ChromaKey& key, BlitFormat format, bool alpha, const Pixel& pixel) {
  const uint32_t value = static_cast<uint32_t>(pixel[0]) | pixel[1] << 8 | pixel[2] << 16 |
                         static_cast<uint32_t>(pixel[3]) << 24;
  // First and last bits of each channel; the fourth is alpha.
  std::vector<std::array<int, 2>> channels;
  switch (format) {
    case BlitFormat::k8:
      channels = {{0, 7}};
      break;
    case BlitFormat::k565:
      channels = {{0, 4}, {5, 10}, {11, 15}};
      break;
    case BlitFormat::k1555:
      channels = {{0, 4}, {5, 9}, {10, 14}, {15, 15}};
      break;
    default:
      channels = {{0, 7}, {8, 15}, {16, 23}, {24, 31}};
      break;
  }
  if (!alpha && channels.size() == 4) channels.pop_back();
  for (const auto& [first, last] : channels) {
    const auto channel = [first = first, last = last](uint32_t color) {
      return color >> first & ((uint64_t{2} << (last - first)) - 1);
    };
    if (channel(value) < channel(key.low) || channel(value) > channel(key.high)) return false;
  }
  return true;
}

// Changes `destination` as the blit does. All bytes of one-bit data and patterns are in `data`.
void NaiveBlit(const Blit& blit, Bytes& destination, const Bytes& source, const Bytes& data) {
  const uint32_t pixel_B = BytesOf(blit.format);
  const NaiveSurface to(blit.destination, kDestination, pixel_B);
  const auto* surface = std::get_if<SurfaceSource>(&blit.source);
  const auto* mono = std::get_if<MonoSource>(&blit.source);
  std::optional<NaiveSurface> from;
  if (surface != nullptr) from.emplace(surface->surface, kSource, pixel_B);
  const BlitRectangle& r = blit.rectangle;
  for (int64_t y = r.y1; y < r.y2; ++y) {
    for (int64_t x = r.x1; x < r.x2; ++x) {
      if (blit.clip.has_value() &&
          (x < blit.clip->x1 || x >= blit.clip->x2 || y < blit.clip->y1 || y >= blit.clip->y2)) {
        continue;
      }
      const size_t at = to.At(x, y);
      const Pixel d = Load(destination, at, pixel_B);
      Pixel s = {}, p = {};
      if (surface != nullptr) {
        s = Load(source, from->At(x - r.x1 + surface->x1, y - r.y1 + surface->y1), pixel_B);
      }
      if (mono != nullptr) {
        const auto width = static_cast<uint64_t>(r.x2 - r.x1);
        uint64_t row_bits = width;
        while (mono->rows != MonoRows::kBitPacked &&
               (row_bits < mono->first_bit + width ||
                row_bits % (mono->rows == MonoRows::kWordAligned ? 16 : 8) != 0)) {
          ++row_bits;
        }
        const bool set = BitAt(data, (mono->bits.address - kData) * 8 + mono->first_bit +
                                         static_cast<uint64_t>(y - r.y1) * row_bits +
                                         static_cast<uint64_t>(x - r.x1));
        if (!set && mono->transparent) continue;
        s = OfColor(set ? mono->foreground : mono->background);
      }
      if (const auto* solid = std::get_if<SolidPattern>(&blit.pattern)) p = OfColor(solid->color);
      const auto cell = [x, y](uint32_t x_seed, uint32_t y_seed) {
        return static_cast<size_t>((y + 80000 + y_seed) % 8 * 8 + (x + 80000 + x_seed) % 8);
      };
      if (const auto* color = std::get_if<ColorPattern>(&blit.pattern)) {
        p = Load(data, color->pixels.address - kData + cell(color->x_seed, color->y_seed) * pixel_B,
                 pixel_B);
      }
      if (const auto* bits = std::get_if<MonoPattern>(&blit.pattern)) {
        const size_t i = cell(bits->x_seed, bits->y_seed);
        const bool set = (bits->rows[i / 8] << i % 8 & 0x80) != 0;
        if (!set && bits->transparent) continue;
        p = OfColor(set ? bits->foreground : bits->background);
      }
      if (blit.chroma_key.has_value()) {
        const ChromaKey& key = *blit.chroma_key;
        const bool alpha = key.mode == ChromaKey::Mode::kSourceAndAlpha ||
                           key.mode == ChromaKey::Mode::kDestinationAndAlpha;
        const bool of_source =
            key.mode == ChromaKey::Mode::kSource || key.mode == ChromaKey::Mode::kSourceAndAlpha;
        if (InRange(key, blit.format, alpha, of_source ? s : d) == of_source) continue;
      }
      for (size_t i = 0; i < pixel_B; ++i) {
        if (blit.format == BlitFormat::k8888 && !(i == 3 ? blit.write_alpha : blit.write_rgb)) {
          continue;
        }
        uint8_t result = 0;
        for (int bit = 0; bit < 8; ++bit) {
          const int index = (p[i] >> bit & 1) * 4 + (s[i] >> bit & 1) * 2 + (d[i] >> bit & 1);
          result = static_cast<uint8_t>(result | (blit.raster_operation >> index & 1) << bit);
        }
        destination[at + i] = result;
      }
    }
  }
}

class RandomBlits {
 public:
  explicit RandomBlits(uint32_t seed) : random_(seed) {}

  int32_t Below(int32_t end) {
    return static_cast<int32_t>(random_() % static_cast<uint32_t>(end));
  }
  bool Maybe() { return Below(2) == 0; }
  BlitColor Color() { return {Word(), Word(), Word(), Word()}; }
  uint32_t Word() { return static_cast<uint32_t>(random_()); }
  Bytes Data(size_t size) {
    Bytes bytes(size);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random_());
    return bytes;
  }

  // A surface with room for coordinates from -40 to 160 if linear, from 0 otherwise.
  BlitSurface Surface(uint64_t base, BlitFormat format) {
    BlitSurface surface;
    surface.tiling = static_cast<BlitTiling>(Below(kBlitTilings));
    if (format == BlitFormat::k96) surface.tiling = BlitTiling::kLinear;
    surface.address = base;
    surface.pitch_B = kPitch_B;
    if (surface.tiling == BlitTiling::kLinear) {
      surface.pitch_B = 800 + Below(400);
      surface.address += 100000 + static_cast<uint64_t>(Below(1000));
      if (BytesOf(format) > 4) surface.pitch_B = 160;
      if (Maybe()) surface.pitch_B = -surface.pitch_B;
    } else {
      surface.x_offset_px = static_cast<uint32_t>(Below(9));
      surface.y_offset_px = static_cast<uint32_t>(Below(9));
      surface.bit6_swizzle =
          (surface.tiling == BlitTiling::kX || surface.tiling == BlitTiling::kY) && Maybe();
    }
    return surface;
  }

  Blit Next() {
    Blit blit;
    blit.format = static_cast<BlitFormat>(Below(kBlitFormats));
    blit.destination = Surface(kDestination, blit.format);
    const int32_t least = blit.destination.tiling == BlitTiling::kLinear ? -20 : 0;
    blit.rectangle.x1 = least + Below(60);
    blit.rectangle.y1 = least + Below(20);
    blit.rectangle.x2 = blit.rectangle.x1 + Below(60) - 2;
    blit.rectangle.y2 = blit.rectangle.y1 + Below(20) - 2;
    if (Maybe()) {
      const BlitRectangle& r = blit.rectangle;
      blit.clip = {r.x1 + Below(20) - 5, r.y1 + Below(10) - 3, r.x2 - Below(20) + 5,
                   r.y2 - Below(10) + 3};
    }
    blit.raster_operation = static_cast<uint8_t>(Word());
    if (Below(4) == 0) blit.raster_operation = Maybe() ? 0xcc : 0xf0;
    blit.write_rgb = Below(4) != 0;
    blit.write_alpha = Below(4) != 0;
    if (Maybe()) {
      SurfaceSource source;
      source.surface = Surface(kSource, blit.format);
      const int32_t first = source.surface.tiling == BlitTiling::kLinear ? -20 : 0;
      source.x1 = first + Below(60);
      source.y1 = first + Below(20);
      blit.source = source;
    } else {
      MonoSource source;
      source.bits.address = kData + static_cast<uint64_t>(Below(1000));
      source.first_bit = static_cast<uint32_t>(Below(8));
      source.rows = static_cast<MonoRows>(Below(3));
      source.background = Color();
      source.foreground = Color();
      source.transparent = Maybe();
      blit.source = source;
    }
    switch (Below(3)) {
      case 0:
        blit.pattern = SolidPattern{Color()};
        break;
      case 1:
        blit.pattern = ColorPattern{{.address = kData + static_cast<uint64_t>(Below(1000))},
                                    static_cast<uint32_t>(Below(8)),
                                    static_cast<uint32_t>(Below(8))};
        break;
      default: {
        MonoPattern pattern;
        for (uint8_t& row : pattern.rows) row = static_cast<uint8_t>(Word());
        pattern.x_seed = static_cast<uint32_t>(Below(8));
        pattern.y_seed = static_cast<uint32_t>(Below(8));
        pattern.background = Color();
        pattern.foreground = Color();
        pattern.transparent = Maybe();
        blit.pattern = pattern;
      }
    }
    if (BytesOf(blit.format) <= 4 && Below(3) == 0) {
      blit.chroma_key = ChromaKey{static_cast<ChromaKey::Mode>(Below(4)), Word() & 0x3f3f3f3f,
                                  Word() | 0xc0c0c0c0};
    }
    blit.order = static_cast<BlitOrder>(Below(3));
    return blit;
  }

 private:
  std::mt19937 random_;
};

TEST(RandomBlitTest, BlitsGiveWhatGoingFromPixelToPixelGives) {
  RandomBlits random(2026);
  Segments memory;
  auto& destination = memory.Map(0, kDestination, kSurface_B);
  auto& source = memory.Map(0, kSource, kSurface_B);
  auto& data = memory.Map(0, kData, kData_B);
  source = random.Data(kSurface_B);
  data = random.Data(kData_B);
  destination = random.Data(kSurface_B);
  Bytes expected = destination;
  const Bytes source_before = source;
  int drawn = 0;
  for (int i = 0; i < 4000; ++i) {
    const Blit blit = random.Next();
    NaiveBlit(blit, expected, source, data);
    const BlitOutcome outcome = ExecuteBlit(blit, memory);
    ASSERT_TRUE(outcome.status.ok()) << i << ": " << outcome.status;
    ASSERT_FALSE(outcome.overlap_undefined) << i;
    ASSERT_TRUE(std::memcmp(destination.data(), expected.data(), kSurface_B) == 0)
        << "blit " << i << ", raster operation " << int{blit.raster_operation} << ", format "
        << static_cast<int>(blit.format);
    if (outcome.written_B != 0) ++drawn;
  }
  EXPECT_EQ(source, source_before);
  EXPECT_GT(drawn, 2000);
}

// Puts a number that hurts in place of every fourth: limits of types, of coordinates, of memory.
template <class T>
void Spoil(RandomBlits& random, T& number) {
  switch (random.Below(24)) {
    case 0:
      number = std::numeric_limits<T>::max();
      break;
    case 1:
      number = std::numeric_limits<T>::min();
      break;
    case 2:
      number = static_cast<T>(random.Word() | uint64_t{random.Word()} << 32);
      break;
    case 3:
      number = static_cast<T>(random.Maybe() ? kMaxCoordinate : -kMaxCoordinate);
      break;
    case 4:
      number = static_cast<T>(512 * random.Below(9));
      break;
    case 5:
      number = static_cast<T>(random.Below(65536) - 32768);
      break;
    default:
      break;
  }
}

void Spoil(RandomBlits& random, BlitRectangle& rectangle) {
  Spoil(random, rectangle.x1);
  Spoil(random, rectangle.y1);
  Spoil(random, rectangle.x2);
  Spoil(random, rectangle.y2);
}

void Spoil(RandomBlits& random, BlitSurface& surface) {
  Spoil(random, surface.address);
  Spoil(random, surface.pitch_B);
  Spoil(random, surface.x_offset_px);
  Spoil(random, surface.y_offset_px);
  if (random.Below(4) != 0) return;
  BlitLevel level = {.width_px = 64, .height_px = 64, .is_3d = random.Maybe()};
  Spoil(random, level.width_px);
  Spoil(random, level.height_px);
  Spoil(random, level.level);
  Spoil(random, level.mip_tail_level);
  Spoil(random, level.align_w_B);
  Spoil(random, level.align_h_px);
  Spoil(random, level.slice);
  Spoil(random, level.qpitch_px);
  surface.level = level;
}

TEST(RandomBlitTest, BlitsOfHostileNumbersAreBounded) {
  RandomBlits random(7);
  Segments memory;
  for (const uint64_t address : {kDestination, kSource}) memory.Map(0, address, kSurface_B);
  memory.Map(0, kData, kData_B);
  memory.Map(0, 0, 4096);
  memory.Map(0, ~uint64_t{0} - 4095, 4096);
  constexpr uint64_t kMost_B = 1 << 16;
  int drawn = 0, failed = 0;
  for (int i = 0; i < 20000; ++i) {
    Blit blit = random.Next();
    Spoil(random, blit.destination);
    Spoil(random, blit.rectangle);
    if (blit.clip.has_value()) Spoil(random, *blit.clip);
    if (auto* const source = std::get_if<SurfaceSource>(&blit.source)) {
      Spoil(random, source->surface);
      Spoil(random, source->x1);
      Spoil(random, source->y1);
    } else {
      auto& mono = std::get<MonoSource>(blit.source);
      Spoil(random, mono.bits.address);
      Spoil(random, mono.first_bit);
    }
    if (auto* const pattern = std::get_if<ColorPattern>(&blit.pattern)) {
      Spoil(random, pattern->pixels.address);
      Spoil(random, pattern->x_seed);
    }
    const BlitOutcome outcome = ExecuteBlit(blit, memory, {.max_B = kMost_B});
    ASSERT_LE(outcome.processed_B, kMost_B) << i;
    ASSERT_LE(outcome.written_B, outcome.processed_B) << i;
    if (outcome.written_B != 0) ++drawn;
    if (!outcome.status.ok()) ++failed;
  }
  EXPECT_GT(drawn, 300);
  EXPECT_GT(failed, 1000);
}

}  // namespace
}  // namespace packsmith::sim
