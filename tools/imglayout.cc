// imglayout: shows where the pixels of an image are in memory.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "runtime/base/command_line.h"
#include "runtime/base/file.h"
#include "runtime/base/program/program.h"
#include "runtime/base/same_file.h"
#include "runtime/layout/copy.h"
#include "runtime/layout/draw.h"
#include "runtime/layout/layout.h"
#include "tools/imglayout_json.h"

namespace packsmith::layout {
namespace {

constexpr int kGood = 0;
constexpr int kNotRead = 1;  // a file could not be read or written
constexpr int kWrongUsage = 2;

constexpr const char* kHelp = R"(imglayout shows where the pixels of an image are in memory.

Examples:
  imglayout agx --pixel-format=R8G8B8A8_UNORM --size=1032x2749 --levels=full
  imglayout agx --compressed --pixel-format=R8G8B8A8_UNORM --size=512x512 --format=json
  imglayout u-interleaved --pixel-format=R8_UNORM --size=16x16 --svg=curve.svg --png=curve.png
  imglayout tile agx --pixel-format=R8G8B8A8_UNORM --size=640x480 rows.raw image.raw
  imglayout untile agx --pixel-format=R8G8B8A8_UNORM --size=640x480 image.raw rows.raw
  imglayout --batch < descriptions.jsonl

imglayout LAYOUT [options]              sizes, levels, tiles
imglayout tile LAYOUT [options] IN OUT  converts a raw file of rows to an image
imglayout untile LAYOUT [options] IN OUT
                                        converts an image to rows; - is standard input or output
imglayout --batch                       reads a description (JSON) a line, writes an answer a line

LAYOUT is agx-linear, agx-twiddled (or just agx), agx-compressed, u-interleaved, intel-linear, intel-x,
intel-y, intel-w, intel-tile4, intel-yf, intel-ys, intel-tile64 or intel-tile64-xe2.

The image:
  --pixel-format=NAME   as in Gallium or Vulkan: R8G8B8A8_UNORM, ETC2_RGB8, BC1_RGBA_UNORM
  --size=WxH            in pixels
  --levels=N            levels of detail, or full (default: 1)
  --layers=N            of an array; the depth of a 3d image; 6 for each cube (default: 1)
  --samples=N           of each pixel (default: 1)
  --dim=DIM             2d (default), 3d or cube
  --usage=USE,...       agx: renderable, writeable
  --compressed          agx: with metadata for lossless compression
  --stride=BYTES        from a row to the next (u-interleaved: a row of tiles)
  --bit6-swizzle        intel-x, intel-y
  --align=WxH           intel: levels begin at multiples of WxH elements (default: 4x4; 8x8 for intel-w)
  --interleave-samples  intel: interleave samples of colour too, as of depth and stencil (Gfx6)
  --mip-tail=N          intel-yf, intel-ys, intel-tile64: this level and all after it share a tile

What is shown:
  --format=FORMAT       text (default) or json
  --svg=FILE, --png=FILE
                        draw the element order of a tile, and the places of levels
  --level=N             draw a tile of this level; tile, untile: this level (default: 0)
  --layer=N             tile, untile: this layer (default: 0)
  --batch               descriptions of images, a line each, from standard input
  -h, --help            this text
  --version             the version

Exit code: 0 good; 1 a file could not be read or written; 2 wrong usage, or an impossible image.
)";

void Complain(absl::string_view text) {
  const std::string line = absl::StrCat("imglayout: ", text, "\n");
  std::fwrite(line.data(), 1, line.size(), stderr);
}

// "64x64", or "16x16x16" of a tile that is several layers deep.
std::string TileText(const Level& level) {
  std::string text = absl::StrCat(level.tile_w_el(), "x", level.tile_h_el());
  if (level.tile_d_el() != 1) absl::StrAppend(&text, "x", level.tile_d_el());
  return text;
}

std::string Text(const Layout& layout) {
  const ImageDescription& image = layout.description();
  std::string layers = absl::StrCat(layout.layers(), layout.layers() == 1 ? " layer" : " layers");
  const uint32_t together = layout.levels()[0].tile_d_el();
  if (together != 1) absl::StrAppend(&layers, ", each ", together);
  const bool alike = layout.layer_stride_B() != 0;
  if (alike) absl::StrAppend(&layers, " of ", layout.layer_stride_B(), " B");
  std::string text = absl::StrFormat("%s %s %dx%d px: %d B, %s, %d B an element\n",
                                     SchemeName(image.scheme), image.format->name, image.width_px,
                                     image.height_px, layout.size_B(), layers, layout.element_B());
  if (layout.sample_stride_B() != 0) {
    const uint32_t samples = layout.TilingOf(0).samples();
    absl::StrAppend(&text, "each ", samples == 1 ? "sample" : absl::StrCat(samples, " samples"),
                    " of a layer in ", layout.sample_stride_B(), " B of its own\n");
  }
  absl::StrAppend(&text, "level    offset B      size B     elements         tile   pitch el\n");
  for (size_t l = 0; l < layout.levels().size(); ++l) {
    const Level& level = layout.levels()[l];
    absl::StrAppendFormat(&text, "%5d %11d %11d %12s %12s %10d", l, level.offset_B, level.size_B,
                          absl::StrCat(level.width_el, "x", level.height_el), TileText(level),
                          level.pitch_el);
    if (level.x_el != 0 || level.y_el != 0) {
      absl::StrAppend(&text, "  from (", level.x_el, ", ", level.y_el, ") of a tile on");
    }
    if (!alike) absl::StrAppend(&text, "  ", level.layers, " of ", level.layer_stride_B, " B");
    absl::StrAppend(&text, "\n");
  }
  if (const Metadata* const metadata = layout.metadata()) {
    absl::StrAppendFormat(&text, "metadata at %d, %d B a layer; levels at", metadata->offset_B,
                          metadata->layer_stride_B);
    for (int l = 0; l < metadata->levels; ++l) {
      absl::StrAppend(&text, " ", metadata->level_offset_B[l]);
    }
    absl::StrAppend(&text, "\n");
  }
  absl::StrAppend(&text, "index in a tile of level 0: ", layout.TilingOf(0).Text(), "\n");
  return text;
}

int Batch() {
  std::string line;
  while (std::getline(std::cin, line)) {
    const absl::StatusOr<ImageDescription> image = ImageOfJson(line);
    const absl::StatusOr<Layout> layout = image.ok() ? Layout::Of(*image) : image.status();
    const std::string answer =
        absl::StrCat(layout.ok() ? ToJson(*layout) : ErrorToJson(layout.status()), "\n");
    // At once: the caller may wait for the answer before it asks for more.
    if (std::fwrite(answer.data(), 1, answer.size(), stdout) != answer.size() ||
        std::fflush(stdout) != 0) {
      Complain("standard output cannot be written");
      return kNotRead;
    }
  }
  if (std::cin.bad()) {
    Complain("standard input cannot be read");
    return kNotRead;
  }
  return kGood;
}

struct Arguments {
  std::vector<std::string> words;
  std::string pixel_format, size, align, levels = "1", dim = "2d", usage, format = "text", svg, png;
  uint32_t layers = 1, samples = 1, level = 0, layer = 0;
  uint64_t stride_B = 0;
  uint32_t mip_tail_level = kNoMipTail;
  bool compressed = false, bit6_swizzle = false, interleave_samples = false, batch = false;
};

// CLI11 alone would take -1 for 2^64 - 1, and so anything larger. Returns the error, or "".
std::string IsNumber(const std::string& text) {
  uint64_t number = 0;
  const bool digits = std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
  if (digits && absl::SimpleAtoi(text, &number)) return "";
  return absl::StrCat("'", text, "' is not an integer below 2^64");
}

// "640x480"
bool IsPair(absl::string_view text, uint32_t& x, uint32_t& y) {
  const std::vector<absl::string_view> sides = absl::StrSplit(text, 'x');
  return sides.size() == 2 && absl::SimpleAtoi(sides[0], &x) && absl::SimpleAtoi(sides[1], &y);
}

absl::StatusOr<Layout> LayoutOf(const std::string& name, const Arguments& arguments) {
  ImageDescription image;
  const absl::StatusOr<Scheme> scheme = SchemeOf(name);
  if (!scheme.ok()) return scheme.status();
  image.scheme = *scheme;
  if (arguments.compressed) {
    if (image.scheme != Scheme::kAgxTwiddled && image.scheme != Scheme::kAgxCompressed) {
      return absl::InvalidArgumentError("--compressed is for agx");
    }
    image.scheme = Scheme::kAgxCompressed;
  }
  if (arguments.pixel_format.empty())
    return absl::InvalidArgumentError(
        "no format was given; name one, such as --pixel-format=R8G8B8A8_UNORM");
  const absl::StatusOr<const Format*> format = FormatOf(arguments.pixel_format);
  if (!format.ok()) return format.status();
  image.format = *format;
  if (!IsPair(arguments.size, image.width_px, image.height_px)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--size=", arguments.size, " must be a size, such as --size=640x480"));
  }
  image.layers = arguments.layers;
  image.samples = arguments.samples;
  const absl::StatusOr<Dim> dim = DimOf(arguments.dim);
  if (!dim.ok()) return dim.status();
  image.dim = *dim;
  if (arguments.levels == "full") {
    uint32_t side = std::max(image.width_px, image.height_px);
    if (image.dim == Dim::k3d) side = std::max(side, image.layers);
    for (image.levels = 1; side > 1; side /= 2) ++image.levels;
  } else if (!absl::SimpleAtoi(arguments.levels, &image.levels)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--levels=", arguments.levels, " must be a number or full"));
  }
  for (const absl::string_view use : absl::StrSplit(arguments.usage, ',', absl::SkipWhitespace())) {
    const absl::Status status = SetUse(use, image);
    if (!status.ok()) return status;
  }
  image.stride_B = arguments.stride_B;
  image.bit6_swizzle = arguments.bit6_swizzle;
  image.interleave_samples = arguments.interleave_samples;
  image.mip_tail_level = arguments.mip_tail_level;
  if (!arguments.align.empty() && !IsPair(arguments.align, image.align_w_el, image.align_h_el)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--align=", arguments.align, " must be a pair of numbers, such as --align=16x4"));
  }
  return Layout::Of(image);
}

struct Free {
  void operator()(uint8_t* bytes) const { std::free(bytes); }
};

// Copies between two files.
int Copy(const Layout& layout, const Arguments& arguments, bool in) {
  const absl::StatusOr<CopyPlan> plan =
      CopyPlan::Make(layout, WholeLevel(layout, arguments.level, arguments.layer));
  if (!plan.ok()) {
    Complain(plan.status().message());
    return kWrongUsage;
  }
  const std::string& from = arguments.words[2];
  const std::string& to = arguments.words[3];
  if (const absl::Status refused = RefuseToOverwrite(to, {from}); !refused.ok()) {
    Complain(refused.message());
    return kWrongUsage;
  }
  const absl::StatusOr<FileBytes> input = OpenFile(from);
  if (!input.ok()) {
    Complain(input.status().message());
    return kNotRead;
  }
  const uint64_t stride_B = plan->linear_row_B();
  const uint64_t needed_B = in ? plan->linear_size_B(stride_B) : layout.size_B();
  if (input->bytes.size() != needed_B) {
    Complain(absl::StrCat(from, " has ", input->bytes.size(), " B; ",
                          in ? "the rows of the level have " : "the image has ", needed_B));
    return kNotRead;
  }
  // A small level may be part of an image that is larger than any memory.
  const uint64_t output_B = in ? layout.size_B() : plan->linear_size_B(stride_B);
  const auto size_B = static_cast<size_t>(output_B);
  const std::unique_ptr<uint8_t, Free> memory(
      size_B == output_B ? static_cast<uint8_t*>(std::calloc(size_B, 1)) : nullptr);
  if (memory == nullptr) {
    Complain(absl::StrCat("not enough memory for the ", output_B, " B of ", to));
    return kNotRead;
  }
  const absl::Span<uint8_t> output(memory.get(), size_B);
  absl::Status status = in ? plan->CopyIn(input->bytes, stride_B, output)
                           : plan->CopyOut(input->bytes, output, stride_B);
  if (status.ok()) status = WriteFileWhole(to, absl::MakeConstSpan(output));
  if (!status.ok()) {
    Complain(status.message());
    return kNotRead;
  }
  return kGood;
}

int Show(const Layout& layout, const Arguments& arguments) {
  if (arguments.level >= layout.levels().size()) {
    Complain(absl::StrCat("--level=", arguments.level, ": the image has ", layout.levels().size(),
                          " levels, counted from 0"));
    return kWrongUsage;
  }
  using Draw = std::string (*)(const Layout&, uint32_t);
  const std::pair<const std::string&, Draw> drawings[] = {{arguments.svg, DrawSvg},
                                                          {arguments.png, DrawPng}};
  for (const auto& [file, draw] : drawings) {
    if (file.empty()) continue;
    const absl::Status status =
        WriteFileWhole(file, absl::string_view(draw(layout, arguments.level)));
    if (!status.ok()) {
      Complain(status.message());
      return kNotRead;
    }
  }
  const std::string text = arguments.format == "json" ? ToJson(layout) + "\n" : Text(layout);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    Complain("standard output cannot be written");
    return kNotRead;
  }
  return kGood;
}

int Main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("", "imglayout");
  app.set_help_flag();
  app.add_option("WORDS", arguments.words);
  app.add_option("--pixel-format", arguments.pixel_format);
  app.add_option("--size", arguments.size);
  app.add_option("--levels", arguments.levels);
  app.add_option("--layers", arguments.layers)->check(IsNumber);
  app.add_option("--samples", arguments.samples)->check(IsNumber);
  app.add_option("--dim", arguments.dim);
  app.add_option("--usage", arguments.usage);
  app.add_flag("--compressed", arguments.compressed);
  app.add_option("--stride", arguments.stride_B)->check(IsNumber);
  app.add_flag("--bit6-swizzle", arguments.bit6_swizzle);
  app.add_option("--align", arguments.align);
  app.add_flag("--interleave-samples", arguments.interleave_samples);
  app.add_option("--mip-tail", arguments.mip_tail_level)->check(IsNumber);
  app.add_option("--format", arguments.format)->check(tools::OneOf({"text", "json"}));
  app.add_option("--svg", arguments.svg);
  app.add_option("--png", arguments.png);
  app.add_option("--level", arguments.level)->check(IsNumber);
  app.add_option("--layer", arguments.layer)->check(IsNumber);
  app.add_flag("--batch", arguments.batch);
  if (const std::optional<int> done = tools::ParseCommandLine(
          app, {.name = "imglayout", .help = kHelp}, argc, argv, Complain)) {
    return *done;
  }
  if (arguments.batch) {
    if (argc == 2) return Batch();
    Complain("--batch takes no other argument: it reads descriptions from standard input");
    return kWrongUsage;
  }
  const std::vector<std::string>& words = arguments.words;
  const bool copies = !words.empty() && (words[0] == "tile" || words[0] == "untile");
  if (words.size() != (copies ? 4 : 1)) {
    Complain(copies ? absl::StrCat(words[0], " takes a layout and two files")
                    : "exactly one layout must be given; imglayout --help says more");
    return kWrongUsage;
  }
  if (copies && !(arguments.svg.empty() && arguments.png.empty())) {
    Complain(absl::StrCat("--svg and --png draw a layout; ", words[0], " draws nothing"));
    return kWrongUsage;
  }
  if (copies && app.count("--format") != 0) {
    Complain(absl::StrCat("--format is for showing a layout; ", words[0], " shows nothing"));
    return kWrongUsage;
  }
  const std::string& svg = arguments.svg;
  if (!svg.empty() && (svg == arguments.png || IsSameFile(svg, arguments.png))) {
    Complain(absl::StrCat("--svg and --png would both be written to ", svg));
    return kWrongUsage;
  }
  if (!copies && app.count("--layer") != 0) {
    Complain("--layer is for tile and untile: all layers have the same layout");
    return kWrongUsage;
  }
  const absl::StatusOr<Layout> layout = LayoutOf(words[copies ? 1 : 0], arguments);
  if (!layout.ok()) {
    Complain(layout.status().message());
    return kWrongUsage;
  }
  return copies ? Copy(*layout, arguments, words[0] == "tile") : Show(*layout, arguments);
}

}  // namespace
}  // namespace packsmith::layout

int main(int argc, char** argv) { return packsmith::layout::Main(argc, argv); }
