#include "runtime/kernel/asahi/render_pass.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"

namespace packsmith::gpu {
namespace {

using layout::ImageDescription;
using layout::Scheme;

// Of addresses, as the hardware holds them.
constexpr uint64_t kAddresses = uint64_t{1} << 40;
// What addresses of depth and stencil buffers are multiples of, and the distances of their layers.
constexpr uint64_t kDepthUnit = 128, kLayerUnit = 16384;
// In which USC Shared counts.
constexpr uint64_t kSampleUnit = 8;

absl::Status Wrong(absl::string_view what, absl::string_view problem) {
  return absl::InvalidArgumentError(absl::StrCat("render pass, ", what, ": ", problem));
}

uint32_t Minify(uint32_t size, uint32_t level) { return std::max(size >> level, uint32_t{1}); }

// What holds for all attachments.
absl::Status CheckImage(const AsahiPass& pass, const AsahiPassImage& image,
                        absl::string_view what) {
  if (image.layout == nullptr) return Wrong(what, "it has no layout");
  const ImageDescription& is = image.layout->description();
  if (is.scheme != Scheme::kAgxLinear && is.scheme != Scheme::kAgxTwiddled &&
      is.scheme != Scheme::kAgxCompressed) {
    return Wrong(what, absl::StrFormat("this hardware does not have the layout %s",
                                       layout::SchemeName(is.scheme)));
  }
  if (image.level >= is.levels) {
    return Wrong(what, absl::StrFormat("level %d of an image that has %d", image.level, is.levels));
  }
  const uint32_t width = Minify(is.width_px, image.level);
  const uint32_t height = Minify(is.height_px, image.level);
  if (pass.width > width || pass.height > height) {
    return Wrong(what,
                 absl::StrFormat("the pass has %d by %d pixels, and level %d of the image %d by %d",
                                 pass.width, pass.height, image.level, width, height));
  }
  if (pass.samples != is.samples) {
    return Wrong(what, absl::StrFormat("the pass has %d samples, and the image %d", pass.samples,
                                       is.samples));
  }
  const uint32_t layers = is.dim == layout::Dim::k3d ? Minify(is.layers, image.level) : is.layers;
  if (image.first_layer >= layers || pass.layers > layers - image.first_layer) {
    return Wrong(what, absl::StrFormat("the pass has %d layers from layer %d on, and the image %d",
                                       pass.layers, image.first_layer, layers));
  }
  if (image.image.gpu == 0) return Wrong(what, "it has no address");
  if (image.image.gpu >= kAddresses || image.layout->size_B() > kAddresses - image.image.gpu) {
    return Wrong(what, absl::StrFormat("0x%x bytes at 0x%x go past the end of 40-bit addresses",
                                       image.layout->size_B(), image.image.gpu));
  }
  return absl::OkStatus();
}

absl::Status CheckColors(const AsahiPass& pass, uint64_t& bytes) {
  bytes = 0;
  bool loads = false, stores = false;
  for (size_t i = 0; i < pass.colors.size(); ++i) {
    const AsahiPassImage& color = pass.colors[i];
    const std::string what = absl::StrCat("colour ", i);
    if (absl::Status status = CheckImage(pass, color, what); !status.ok()) return status;
    const layout::Format& format = *color.layout->description().format;
    if (!format.agx_renderable()) {
      return Wrong(what, absl::StrCat("the hardware cannot render to ", format.name));
    }
    bytes += format.block_B;
    loads = loads || color.load != PassLoad::kDiscard;
    stores = stores || color.store == PassStore::kStore;
  }
  bytes = (bytes + kSampleUnit - 1) / kSampleUnit * kSampleUnit;
  const auto missing = [](const AsahiTileProgram& program) { return program.program == 0; };
  if (loads && missing(pass.load)) {
    return Wrong("program",
                 "colours are loaded or cleared, and `load`, which does that, is missing");
  }
  if (stores && missing(pass.store)) {
    return Wrong("program", "colours are stored, and `store`, which does that, is missing");
  }
  if (!pass.colors.empty() && (missing(pass.partial_load) || missing(pass.partial_store))) {
    return Wrong("program",
                 "the hardware may split a pass, and `partial_load` or `partial_store`, which keep "
                 "its colours meanwhile, is missing");
  }
  return absl::OkStatus();
}

// Depth or stencil.
absl::Status PlanBuffer(const AsahiPass& pass, const AsahiPassImage& image, absl::string_view what,
                        AsahiDepthBuffer& buffer, AsahiDepthPlan::Side& side,
                        AsahiDepthPlan& plan) {
  if (absl::Status status = CheckImage(pass, image, what); !status.ok()) return status;
  const layout::Layout& placement = *image.layout;
  const ImageDescription& is = placement.description();
  if (is.scheme == Scheme::kAgxLinear) {
    return Wrong(what, "the image is linear: it must be twiddled or compressed");
  }
  const uint32_t width = Minify(is.width_px, image.level);
  const uint32_t height = Minify(is.height_px, image.level);
  if (plan.width != 0 && (plan.width != width || plan.height != height)) {
    return Wrong(what, absl::StrFormat("the image has %d by %d pixels, and that of depth %d by %d: "
                                       "the hardware knows one size of both",
                                       width, height, plan.width, plan.height));
  }
  plan.width = width;
  plan.height = height;
  if (image.image.gpu % kDepthUnit != 0) {
    return Wrong(what, absl::StrFormat("its address 0x%x is not a multiple of %d", image.image.gpu,
                                       kDepthUnit));
  }
  const uint64_t stride = placement.layer_stride_B();
  buffer.address =
      image.image.gpu + image.first_layer * stride + placement.levels()[image.level].offset_B;
  // Levels that are too small are not compressed.
  const layout::Metadata* const metadata = placement.metadata();
  side.is_compressed = metadata != nullptr && image.level < static_cast<uint32_t>(metadata->levels);
  if (side.is_compressed) {
    buffer.metadata = image.image.gpu + metadata->offset_B +
                      image.first_layer * metadata->layer_stride_B +
                      metadata->level_offset_B[image.level];
  }
  if (pass.layers > 1) {
    constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();
    if (stride % kLayerUnit != 0) {
      return Wrong(what, absl::StrFormat(
                             "its layers are 0x%x bytes apart, and those of a pass whole pages of "
                             "16 KiB: set ImageDescription::renderable",
                             stride));
    }
    if (stride > kMost || (side.is_compressed && metadata->layer_stride_B > kMost)) {
      return Wrong(what,
                   absl::StrFormat("its layers are 0x%x bytes apart, which does not fit in 32 bits",
                                   stride));
    }
    buffer.layer_stride = static_cast<uint32_t>(stride);
    if (side.is_compressed) {
      buffer.metadata_layer_stride = static_cast<uint32_t>(metadata->layer_stride_B);
    }
  }
  side.loads = image.load == PassLoad::kLoad;
  side.stores = image.store == PassStore::kStore;
  return absl::OkStatus();
}

absl::Status PlanDepth(const AsahiPass& pass, AsahiRender& render, AsahiDepthPlan& plan) {
  constexpr char kWhat[] = "depth";
  absl::Status status = PlanBuffer(pass, pass.depth, kWhat, render.depth, plan.depth, plan);
  if (!status.ok()) return status;
  const absl::string_view format = pass.depth.layout->description().format->name;
  plan.is_16_bit = format == "Z16_UNORM";
  if (!plan.is_16_bit && format != "Z32_FLOAT") {
    return Wrong(kWhat, absl::StrCat("the hardware has Z16_UNORM and Z32_FLOAT, not ", format));
  }
  const float clear = pass.clear_depth;
  if (!(clear >= 0 && clear <= 1)) {
    return Wrong(kWhat, absl::StrFormat("the value to clear with is %g: it must be 0 to 1", clear));
  }
  constexpr float kMost16 = 65535;
  render.clear_depth = plan.is_16_bit ? static_cast<uint32_t>(std::lround(clear * kMost16))
                                      : std::bit_cast<uint32_t>(clear);
  return absl::OkStatus();
}

absl::Status PlanStencil(const AsahiPass& pass, AsahiRender& render, AsahiDepthPlan& plan) {
  constexpr char kWhat[] = "stencil";
  absl::Status status = PlanBuffer(pass, pass.stencil, kWhat, render.stencil, plan.stencil, plan);
  if (!status.ok()) return status;
  const absl::string_view format = pass.stencil.layout->description().format->name;
  if (format != "S8_UINT") {
    return Wrong(kWhat, absl::StrCat("the hardware has S8_UINT, not ", format));
  }
  render.clear_stencil = pass.clear_stencil;
  return absl::OkStatus();
}

// The tile, and the bytes of a sample, of which the colours take `least`.
absl::Status PlanTile(const AsahiPass& pass, uint64_t least, AsahiRender& render) {
  const uint64_t bytes =
      pass.bytes_per_sample != 0 ? pass.bytes_per_sample : std::max(least, kSampleUnit);
  if (bytes < least || bytes % kSampleUnit != 0) {
    return Wrong("tile",
                 absl::StrFormat("%d bytes a sample: they must be a multiple of %d, and the "
                                 "colours take %d",
                                 bytes, kSampleUnit, least));
  }
  struct Tile {
    uint32_t width, height;
  };
  constexpr Tile kTiles[] = {{32, 32}, {32, 16}, {16, 16}};
  Tile tile = {pass.tile_width, pass.tile_height};
  if (tile.width == 0 && tile.height == 0) {
    for (const Tile& one : kTiles) {
      tile = one;
      if (CheckAsahiTile(tile.width, tile.height, pass.samples, bytes).ok()) break;
    }
  }
  const absl::Status status = CheckAsahiTile(tile.width, tile.height, pass.samples, bytes);
  if (!status.ok()) return Wrong("tile", status.message());
  render.tile_width = static_cast<uint8_t>(tile.width);
  render.tile_height = static_cast<uint8_t>(tile.height);
  render.samples = static_cast<uint8_t>(pass.samples);
  render.bytes_per_sample = static_cast<uint8_t>(bytes);
  return absl::OkStatus();
}

bool IsCleared(const AsahiPassImage& image) {
  return image.layout != nullptr && image.load == PassLoad::kClear;
}

}  // namespace

absl::Status CheckAsahiProgram(uint64_t offset) {
  constexpr uint64_t kUnit = 8;
  if (offset == 0) {
    return absl::InvalidArgumentError(
        "the program of a tile is at the base of programs, which the kernel takes for none: leave "
        "the first bytes of their zone to other programs");
  }
  if (offset <= std::numeric_limits<uint32_t>::max() && offset % kUnit == 0) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrFormat("the program of a tile at %#x: it must be what UscProgram::End() returns, 32 "
                      "bits from the base of programs on, and a multiple of %d",
                      offset, kUnit));
}

absl::Status PlanAsahiRender(const AsahiPass& pass, AsahiRender& render, AsahiDepthPlan& plan) {
  if (const absl::Status status = CheckAsahiImage(pass.width, pass.height, pass.layers);
      !status.ok()) {
    return Wrong("size", status.message());
  }
  uint64_t bytes = 0;
  absl::Status status = CheckColors(pass, bytes);
  if (status.ok()) status = PlanTile(pass, bytes, render);
  if (status.ok() && pass.depth.layout != nullptr) status = PlanDepth(pass, render, plan);
  if (status.ok() && pass.stencil.layout != nullptr) status = PlanStencil(pass, render, plan);
  if (!status.ok()) return status;
  render.stream = pass.stream;
  render.width = static_cast<uint16_t>(pass.width);
  render.height = static_cast<uint16_t>(pass.height);
  render.layers = static_cast<uint16_t>(pass.layers);
  render.process_empty_tiles = IsCleared(pass.depth) || IsCleared(pass.stencil) ||
                               std::any_of(pass.colors.begin(), pass.colors.end(), IsCleared);
  render.load = pass.load;
  render.store = pass.store;
  render.partial_load = pass.partial_load;
  render.partial_store = pass.partial_store;
  return absl::OkStatus();
}

void ListAsahiAttachments(const AsahiPass& pass, BufferUses& uses, AsahiAttachments& attachments) {
  attachments.clear();
  const auto list = [&](const AsahiPassImage& image) {
    if (image.layout == nullptr) return;
    // Also what is discarded at the end: a pass that is split stores it meanwhile.
    attachments.push_back({.address = image.image.gpu, .size = image.layout->size_B()});
    const UseFlags flags = image.load == PassLoad::kLoad ? kReads | kWrites : kWrites;
    if (image.image.buffer != 0) uses.Add(image.image.buffer, flags);
  };
  for (const AsahiPassImage& color : pass.colors) list(color);
  list(pass.depth);
  list(pass.stencil);
}

}  // namespace packsmith::gpu
