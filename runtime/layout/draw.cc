#include "runtime/layout/draw.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace packsmith::layout {
namespace {

constexpr int kMargin = 16, kBarHeight = 28, kTextHeight = 18;
constexpr int kWidth = 720;  // of the larger side of a tile, and of the bar

struct Color {
  uint8_t red, green, blue;
};

// From blue by way of green to red.
Color ColorOf(double share) {
  const auto channel = [&](double center) {
    const double x = std::clamp(1.5 - std::abs(share - center) * 3.5, 0.0, 1.0);
    return static_cast<uint8_t>(std::lround(40 + 190 * x));
  };
  return {channel(0.9), static_cast<uint8_t>(channel(0.5) * 0.8), channel(0.1)};
}
std::string Text(const Color& color) {
  return absl::StrFormat("#%02x%02x%02x", color.red, color.green, color.blue);
}

constexpr Color kPadding = {190, 190, 190};

// Of a level, in the bar. Neighbours differ.
Color ColorOfLevel(size_t level) {
  return ColorOf(std::fmod(0.1 + 0.38 * static_cast<double>(level), 1));
}

struct Point {
  double x, y;
};

// Both pictures have the same things at the same places.
struct Picture {
  double cell = 0;           // side of an element
  std::vector<Point> curve;  // centres of elements, in memory order
  double tile_w = 0, tile_h = 0;
  double bar_y = 0;
  struct Segment {
    double x, w;
    Color color;
  };
  std::vector<Segment> bar;
  int width = 0, height = 0;  // without text
};

Picture MakePicture(const Layout& layout, uint32_t level) {
  Picture picture;
  const Tiling tiling = layout.TilingOf(level);
  const uint32_t larger = std::max(tiling.width_el(), tiling.height_el());
  picture.cell = std::min(48.0, static_cast<double>(kWidth) / larger);
  picture.tile_w = picture.cell * tiling.width_el();
  picture.tile_h = picture.cell * tiling.height_el();
  const std::optional<Tiling::Inverse> inverse = tiling.Invert();
  for (uint32_t index = 0; inverse.has_value() && index < 1u << tiling.index_bits(); ++index) {
    const TilePosition place = inverse->PositionOf(index);
    if (place.sample != 0 || place.z != 0) continue;
    picture.curve.push_back(
        {kMargin + (place.x + 0.5) * picture.cell, kMargin + (place.y + 0.5) * picture.cell});
  }
  picture.bar_y = kMargin + picture.tile_h + kMargin;
  // A layer; or the whole image, if layers differ between levels.
  const bool all = layout.layer_stride_B() == 0;
  const double scale =
      kWidth / static_cast<double>(all ? layout.size_B() : layout.layer_stride_B());
  picture.bar.push_back({kMargin, kWidth, kPadding});
  for (size_t l = 0; l < layout.levels().size(); ++l) {
    const Level& about = layout.levels()[l];
    const uint64_t size_B = about.size_B * (all ? about.layers : 1);
    picture.bar.push_back(
        {kMargin + about.offset_B * scale, std::max(1.0, size_B * scale), ColorOfLevel(l)});
  }
  picture.width = kMargin + kWidth + kMargin;
  picture.height = static_cast<int>(std::ceil(picture.bar_y)) + kBarHeight + kMargin;
  return picture;
}

void AppendBigEndian(std::string& bytes, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(value >> shift));
}

void AppendPngChunk(std::string& png, const std::string& name, const std::string& data) {
  AppendBigEndian(png, static_cast<uint32_t>(data.size()));
  const std::string checked = name + data;
  png += checked;
  AppendBigEndian(png,
                  static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(checked.data()),
                                              static_cast<uInt>(checked.size()))));
}

// 8 bits a channel, rows without filters.
std::string Png(uint32_t width, uint32_t height, const std::vector<Color>& pixels) {
  std::string rows;
  for (uint32_t y = 0; y < height; ++y) {
    rows.push_back(0);
    for (uint32_t x = 0; x < width; ++x) {
      const Color& color = pixels[size_t{y} * width + x];
      rows.push_back(static_cast<char>(color.red));
      rows.push_back(static_cast<char>(color.green));
      rows.push_back(static_cast<char>(color.blue));
    }
  }
  uLongf packed_B = compressBound(rows.size());
  std::string packed(packed_B, '\0');
  // Cannot fail: there is room for the worst case.
  compress(reinterpret_cast<Bytef*>(packed.data()), &packed_B,
           reinterpret_cast<const Bytef*>(rows.data()), rows.size());
  packed.resize(packed_B);

  std::string png = "\x89PNG\r\n\x1a\n";
  std::string header;
  AppendBigEndian(header, width);
  AppendBigEndian(header, height);
  for (const char byte : {8, 2, 0, 0, 0}) header.push_back(byte);  // 8 bits, RGB, nothing special
  AppendPngChunk(png, "IHDR", header);
  AppendPngChunk(png, "IDAT", packed);
  AppendPngChunk(png, "IEND", "");
  return png;
}

}  // namespace

std::string DrawSvg(const Layout& layout, uint32_t level) {
  const Picture picture = MakePicture(layout, level);
  const ImageDescription& image = layout.description();
  const int height = picture.height + kTextHeight * static_cast<int>(layout.levels().size() + 2);
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
      "font-family=\"monospace\" font-size=\"13\">\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
      picture.width, height, picture.width, height);
  absl::StrAppendFormat(&svg,
                        "<rect x=\"%d\" y=\"%d\" width=\"%g\" height=\"%g\" fill=\"#f4f4f4\" "
                        "stroke=\"#888\"/>\n",
                        kMargin, kMargin, picture.tile_w, picture.tile_h);
  // Colours change in steps, so that a large tile does not make a large file.
  constexpr size_t kSteps = 64;
  const size_t points = picture.curve.size();
  for (size_t step = 0; step < kSteps && points > 1; ++step) {
    const size_t begin = step * (points - 1) / kSteps, end = (step + 1) * (points - 1) / kSteps;
    if (begin == end) continue;
    absl::StrAppendFormat(
        &svg, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%.3g\" points=\"",
        Text(ColorOf((step + 0.5) / kSteps)), std::clamp(picture.cell / 6, 0.5, 3.0));
    for (size_t i = begin; i <= end; ++i) {
      absl::StrAppendFormat(&svg, "%.5g,%.5g ", picture.curve[i].x, picture.curve[i].y);
    }
    absl::StrAppend(&svg, "\"/>\n");
  }
  for (const Picture::Segment& segment : picture.bar) {
    absl::StrAppendFormat(&svg,
                          "<rect x=\"%.6g\" y=\"%g\" width=\"%.6g\" height=\"%d\" fill=\"%s\"/>\n",
                          segment.x, picture.bar_y, segment.w, kBarHeight, Text(segment.color));
  }
  int y = picture.height + kTextHeight / 2;
  const auto line = [&](const Color& color, const std::string& text) {
    absl::StrAppendFormat(&svg, "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>\n", kMargin, y,
                          Text(color), text);
    y += kTextHeight;
  };
  const Level& drawn = layout.levels()[level];
  line({0, 0, 0}, absl::StrFormat("%s %s %dx%d, a tile of level %d: %dx%d el",
                                  SchemeName(image.scheme), image.format->name, image.width_px,
                                  image.height_px, level, drawn.tile_w_el(), drawn.tile_h_el()));
  line({0, 0, 0}, absl::StrCat("bits of an index: ", layout.TilingOf(level).Text()));
  for (size_t l = 0; l < layout.levels().size(); ++l) {
    const Level& about = layout.levels()[l];
    line(ColorOfLevel(l), absl::StrFormat("level %d at %d: %d B", l, about.offset_B, about.size_B));
  }
  absl::StrAppend(&svg, "</svg>\n");
  return svg;
}

std::string DrawPng(const Layout& layout, uint32_t level) {
  const Picture picture = MakePicture(layout, level);
  std::vector<Color> pixels(size_t(picture.width) * picture.height, Color{255, 255, 255});
  const auto fill = [&](double x, double y, double w, double h, Color color) {
    for (int row = std::max(0, int(y)); row < std::min<double>(y + h, picture.height); ++row) {
      for (int column = std::max(0, int(x)); column < std::min<double>(x + w, picture.width);
           ++column) {
        pixels[size_t(row) * picture.width + column] = color;
      }
    }
  };
  fill(kMargin, kMargin, picture.tile_w, picture.tile_h, {244, 244, 244});
  const double pen = std::clamp(picture.cell / 6, 1.0, 3.0);
  const size_t points = picture.curve.size();
  for (size_t i = 0; i + 1 < points; ++i) {
    const Point &a = picture.curve[i], &b = picture.curve[i + 1];
    const int steps =
        static_cast<int>(std::ceil(std::max(std::abs(b.x - a.x), std::abs(b.y - a.y))));
    for (int step = 0; step <= steps; ++step) {
      const double share = steps == 0 ? 0 : static_cast<double>(step) / steps;
      fill(a.x + (b.x - a.x) * share - pen / 2, a.y + (b.y - a.y) * share - pen / 2, pen, pen,
           ColorOf(static_cast<double>(i) / points));
    }
  }
  for (const Picture::Segment& segment : picture.bar) {
    fill(segment.x, picture.bar_y, segment.w, kBarHeight, segment.color);
  }
  return Png(picture.width, picture.height, pixels);
}

}  // namespace packsmith::layout
