// Descriptors of textures, of images that the pixel back end writes, and of samplers: made from
// image layouts, checked against what the hardware can do, and written as tables.
//
//   ImageView<G13> view{.layout = &layout, .image = {buffer.address, buffer.handle},
//                       .channels = Channels::R8G8B8A8};
//   absl::StatusOr<Texture> texture = TextureOf(view);
//   absl::Status status = WriteTable<Texture>(memory, uses, {&*texture, 1});
//   program.Emit(USC_Texture{.count = 1, .buffer = memory.gpu});
//
// Check() finds what a descriptor's fields allow, but the hardware does not: all functions here
// call it, and it can be called for descriptors that were filled in by hand.

#ifndef PACKSMITH_RUNTIME_AGX_DESCRIPTORS_H_
#define PACKSMITH_RUNTIME_AGX_DESCRIPTORS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "packsmith/pack.h"
#include "runtime/agx/gpu_memory.h"
#include "runtime/command/buffer_uses.h"
#include "runtime/layout/layout.h"

namespace packsmith::agx {

// -- Limits --------------------------------------------------------------------------------------

// What the limits of textures and images depend on.
struct ImageLimits {
  bool linear, compressed;
  bool one_dimensional, array, cube, three_dimensional, multisampled;
  bool block_format;  // its elements are blocks of several pixels
  uint32_t width_px, height_px, depth;
  uint32_t first_level, last_level;
  bool extended;    // the descriptor's last eight bytes count
  bool has_stride;  // in the bits that hold levels and layers unless it is linear
  bool has_layers;
  bool has_acceleration_buffer;
  bool has_linear_layers;  // in the bits of the acceleration buffer
  // Flags that share bits with the upper end of the stride.
  bool page_aligned_layers;
  bool stride_reads_as_extended;
};
absl::Status CheckImage(const ImageLimits& image, absl::string_view what);

// Block-compressed formats have the higher numbers, from PVRTC on.
template <class Channels>
constexpr bool IsBlockFormat(Channels channels) {
  return channels >= Channels::PVRTC_2bpp;
}

template <class Dimension>
constexpr bool IsMultisampled(Dimension is) {
  return is == Dimension::_2D_Multisampled || is == Dimension::_2D_Array_Multisampled;
}

// Whether this stride alone makes a descriptor read as extended.
template <class Descriptor>
bool ReadsAsExtended(uint32_t stride) {
  uint8_t bytes[Descriptor::size];
  (void)Descriptor{.stride = stride}.template pack<checks::off>(bytes);
  return Descriptor::unpack(bytes).extended;
}

template <class Descriptor>
ImageLimits LimitsOf(const Descriptor& d) {
  using Dimension = decltype(d.dimension);
  using Layout = decltype(d.layout_);
  const Dimension is = d.dimension;
  return {
      .linear = d.layout_ == Layout::Linear,
      .compressed = d.layout_ == Layout::Compressed,
      .one_dimensional = is == Dimension::_1D || is == Dimension::_1D_Array,
      .array = is == Dimension::_1D_Array || is == Dimension::_2D_Array ||
               is == Dimension::Cube_Array || is == Dimension::_2D_Array_Multisampled,
      .cube = is == Dimension::Cube || is == Dimension::Cube_Array,
      .three_dimensional = is == Dimension::_3D,
      .multisampled = IsMultisampled(is),
      .block_format = IsBlockFormat(d.channels),
      .width_px = d.width,
      .height_px = d.height,
      .depth = 1,
      .first_level = 0,
      .last_level = 0,
      .extended = d.extended,
      .has_stride = d.stride != 0,
      .has_layers = false,
      .has_acceleration_buffer = d.acceleration_buffer.gpu != 0,
      .has_linear_layers = d.depth_linear != 1 || d.layer_stride_linear != 0,
      .page_aligned_layers = d.page_aligned_layers,
      .stride_reads_as_extended = ReadsAsExtended<Descriptor>(d.stride),
  };
}

// InvalidArgument, with the reason.
template <class Texture>
requires requires(Texture t) { t.last_level; }
absl::Status Check(const Texture& texture) {
  if (const error e = texture.check()) return PackStatus(e, "texture");
  using Layout = decltype(texture.layout_);
  if ((texture.layout_ == Layout::Null) != texture.null) {
    return absl::InvalidArgumentError(
        "texture: an absent texture must have the layout Null, and be marked as null");
  }
  if (texture.null) return absl::OkStatus();
  ImageLimits limits = LimitsOf(texture);
  limits.depth = texture.depth;
  limits.first_level = texture.first_level;
  limits.last_level = texture.last_level;
  limits.has_layers = texture.depth != 1;
  return CheckImage(limits, "texture");
}

template <class Pbe>
requires requires(Pbe p) { p.levels; }
absl::Status Check(const Pbe& image) {
  if (const error e = image.check()) return PackStatus(e, "image");
  ImageLimits limits = LimitsOf(image);
  limits.depth = image.layers;
  limits.last_level = image.levels - 1;
  limits.has_layers = image.layers != 1 || image.levels != 1;
  if (image.layout_ == decltype(image.layout_)::Null) {
    return absl::InvalidArgumentError("image: the layout of a written image cannot be Null");
  }
  if (limits.block_format) {
    return absl::InvalidArgumentError(
        "image: the pixel back end cannot write blocks of a block-compressed format");
  }
  if (image.level >= image.levels) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "image: level %d cannot be written: there are %d levels", image.level, image.levels));
  }
  return CheckImage(limits, "image");
}

// `extended`: a custom border colour follows the sampler.
template <class Sampler>
absl::Status CheckSampler(const Sampler& sampler, bool extended) {
  if (const error e = sampler.check()) return PackStatus(e, "sampler");
  constexpr uint32_t kMostAnisotropy = 16;
  if (sampler.maximum_anisotropy > kMostAnisotropy) {
    return absl::InvalidArgumentError(
        absl::StrFormat("sampler: an anisotropy of %d, but the maximum is %d",
                        sampler.maximum_anisotropy, kMostAnisotropy));
  }
  if (!(sampler.minimum_lod <= sampler.maximum_lod)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("sampler: levels of detail from %g to %g: the minimum is larger",
                        sampler.minimum_lod, sampler.maximum_lod));
  }
  using Border = decltype(sampler.border_colour);
  if (sampler.border_colour == Border::Custom && !extended) {
    return absl::InvalidArgumentError(
        "sampler: a custom border colour needs an extended sampler, which includes it");
  }
  using Wrap = decltype(sampler.wrap_s);
  const auto clamps = [](Wrap wrap) {
    return wrap == Wrap::Clamp_to_edge || wrap == Wrap::Clamp_to_border;
  };
  if (sampler.pixel_coordinates && (!clamps(sampler.wrap_s) || !clamps(sampler.wrap_t) ||
                                    sampler.mip_filter != decltype(sampler.mip_filter)::None)) {
    return absl::InvalidArgumentError(
        "sampler: pixel coordinates cannot repeat or choose a level: clamp them, and leave the mip "
        "filter at None");
  }
  return absl::OkStatus();
}

template <class Sampler>
requires requires(Sampler s) { s.border_colour; }
absl::Status Check(const Sampler& sampler) { return CheckSampler(sampler, /*extended=*/false); }
template <class Extended>
requires requires(Extended e) { e.sampler; }
absl::Status Check(const Extended& extended) {
  if (const error e = extended.border.check()) return PackStatus(e, "border colour");
  return CheckSampler(extended.sampler, /*extended=*/true);
}

// -- Images --------------------------------------------------------------------------------------

// The part of an image that a shader sees.
template <class Gen>
struct ImageView {
  const layout::Layout* layout = nullptr;  // one of AGX
  address image = {};                      // of its first byte
  typename Gen::Texture_dimension dimension = Gen::Texture_dimension::_2D;
  typename Gen::Channels channels = Gen::Channels::R8G8B8A8;
  typename Gen::Texture_Type type = Gen::Texture_Type::Unorm;
  bool srgb = false;
  typename Gen::Channel swizzle[4] = {Gen::Channel::R, Gen::Channel::G, Gen::Channel::B,
                                      Gen::Channel::A};  // of textures
  uint32_t first_level = 0, levels = 0;                  // 0: all from the first on
  uint32_t first_layer = 0, layers = 0;
};

// The parts of a view that do not depend on the descriptor.
struct ViewRange {
  uint32_t levels, layers;     // that are seen
  uint64_t offset_B;           // from the image's start to the first layer
  uint64_t metadata_offset_B;  // … to the metadata of the first layer
  uint64_t stride_B, layer_stride_B;
};
absl::StatusOr<ViewRange> RangeOf(const layout::Layout* layout, uint32_t first_level,
                                  uint32_t levels, uint32_t first_layer, uint32_t layers,
                                  bool block_format, bool multisampled);

// Fills in what a Texture and a PBE have in common.
template <class Gen, class Descriptor>
void FillImage(const ImageView<Gen>& view, const ViewRange& range, Descriptor& d) {
  using Layout = typename Gen::Layout;
  const layout::ImageDescription& image = view.layout->description();
  d.dimension = view.dimension;
  d.layout_ = image.scheme == layout::Scheme::kAgxLinear     ? Layout::Linear
              : image.scheme == layout::Scheme::kAgxTwiddled ? Layout::Twiddled
                                                             : Layout::Compressed;
  d.channels = view.channels;
  d.type = view.type;
  d.width = image.width_px;
  d.height = image.height_px;
  if (image.samples == 4) d.samples = Gen::Sample_Count::_4;
  constexpr uint64_t kPage_B = 16384;
  d.page_aligned_layers = d.layout_ != Layout::Linear && range.layer_stride_B % kPage_B == 0;
  if (d.layout_ == Layout::Compressed) {
    d.compressed_1 = d.extended = true;
    d.acceleration_buffer = view.image;
    d.acceleration_buffer.gpu += range.metadata_offset_B;
  }
  if (d.layout_ == Layout::Linear && range.layers > 1) {
    // The hardware takes the stride minus its first step.
    constexpr uint64_t kStep_B = 128;
    d.extended = true;
    d.depth_linear = range.layers;
    d.layer_stride_linear = range.layer_stride_B - kStep_B;
  }
}

// The number of layers of a view: a cube counts as one, for six layers.
template <class Gen>
absl::StatusOr<uint32_t> DepthOf(const ImageView<Gen>& view, uint32_t layers) {
  using Dimension = typename Gen::Texture_dimension;
  const bool cube = view.dimension == Dimension::Cube || view.dimension == Dimension::Cube_Array;
  if (cube && layers % 6 != 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("a cube has 6 layers, but the view has %d", layers));
  }
  return cube ? layers / 6 : layers;
}

template <class Gen>
absl::StatusOr<typename Gen::Texture> TextureOf(const ImageView<Gen>& view) {
  const absl::StatusOr<ViewRange> range =
      RangeOf(view.layout, view.first_level, view.levels, view.first_layer, view.layers,
              IsBlockFormat(view.channels), IsMultisampled(view.dimension));
  if (!range.ok()) return range.status();
  const absl::StatusOr<uint32_t> depth = DepthOf(view, range->layers);
  if (!depth.ok()) return depth.status();
  typename Gen::Texture texture;
  FillImage(view, *range, texture);
  texture.swizzle_r = view.swizzle[0];
  texture.swizzle_g = view.swizzle[1];
  texture.swizzle_b = view.swizzle[2];
  texture.swizzle_a = view.swizzle[3];
  texture.first_level = view.first_level;
  texture.last_level = view.first_level + range->levels - 1;
  texture.address = view.image;
  texture.address.gpu += range->offset_B;
  (view.channels == Gen::Channels::R8G8 ? texture.srgb_2_channel : texture.srgb) = view.srgb;
  if (texture.layout_ == Gen::Layout::Linear) {
    constexpr uint64_t kStep_B = 16;  // which the hardware adds
    texture.stride = static_cast<uint32_t>(range->stride_B - kStep_B);
  } else {
    texture.depth = *depth;
  }
  if (absl::Status status = Check(texture); !status.ok()) return status;
  return texture;
}

// For writing level `view.first_level`. The swizzle is ignored: channels are written in their
// order.
template <class Gen>
absl::StatusOr<typename Gen::PBE> WrittenImageOf(const ImageView<Gen>& view) {
  const absl::StatusOr<ViewRange> range =
      RangeOf(view.layout, 0, 0, view.first_layer, view.layers, IsBlockFormat(view.channels),
              IsMultisampled(view.dimension));
  if (!range.ok()) return range.status();
  typename Gen::PBE image;
  FillImage(view, *range, image);
  image.swizzle_r = static_cast<uint32_t>(Gen::Channel::R);
  image.swizzle_g = static_cast<uint32_t>(Gen::Channel::G);
  image.swizzle_b = static_cast<uint32_t>(Gen::Channel::B);
  image.swizzle_a = static_cast<uint32_t>(Gen::Channel::A);
  image.buffer = view.image;
  image.buffer.gpu += range->offset_B;
  image.level = view.first_level;
  image.srgb = view.srgb;
  if (image.layout_ == Gen::Layout::Linear) {
    constexpr uint64_t kStep_B = 4;  // which the hardware adds
    image.stride = static_cast<uint32_t>(range->stride_B - kStep_B);
  } else {
    image.levels = range->levels;
    image.layers = range->layers;
  }
  if (absl::Status status = Check(image); !status.ok()) return status;
  return image;
}

// -- Tables --------------------------------------------------------------------------------------

// Packs descriptors consecutively: Textures and PBEs, which may follow each other in one table,
// Samplers or Extended_samplers. Nothing is written if there is an error, which names the entry.
template <class Descriptor>
absl::Status WriteTable(const GpuMemory& to, gpu::BufferUses& uses,
                        absl::Span<const Descriptor> descriptors) {
  if (to.bytes.size() / Descriptor::size < descriptors.size()) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "%d descriptors take %d bytes, but there is room for %d", descriptors.size(),
        descriptors.size() * Descriptor::size, to.bytes.size()));
  }
  for (size_t i = 0; i < descriptors.size(); ++i) {
    if (const absl::Status status = Check(descriptors[i]); !status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrFormat("entry %d of the table: %s", i, status.message()));
    }
  }
  for (size_t i = 0; i < descriptors.size(); ++i) {
    (void)descriptors[i].template pack<checks::off>(to.bytes.data() + i * Descriptor::size);
    NoteUses(uses, descriptors[i]);
  }
  return absl::OkStatus();
}

// The value for `samplers` samplers in the word that binds a program. InvalidArgument for more than
// there are registers for.
template <class Gen>
absl::StatusOr<typename Gen::Sampler_states> SamplerStatesFor(size_t samplers, bool extended) {
  using States = typename Gen::Sampler_states;
  if (samplers == 0) return States::_0;
  if (samplers <= 4 && !extended) return States::_4_compact;
  if (samplers <= 8) return extended ? States::_8_extended : States::_8_compact;
  if (samplers <= 12 && !extended) return States::_12_compact;
  if (samplers <= 16) return extended ? States::_16_extended : States::_16_compact;
  return absl::InvalidArgumentError(
      absl::StrFormat("%d samplers, but a program has registers for 16", samplers));
}

}  // namespace packsmith::agx

#endif  // PACKSMITH_RUNTIME_AGX_DESCRIPTORS_H_
