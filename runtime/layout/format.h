// Pixel formats, for layouts: the number of pixels and bytes of an element.
#ifndef PACKSMITH_RUNTIME_LAYOUT_FORMAT_H_
#define PACKSMITH_RUNTIME_LAYOUT_FORMAT_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace packsmith::layout {

// An element is a pixel, or a block of pixels if the format is block-compressed.
struct Format {
  absl::string_view name;           // as Gallium has it, without PIPE_FORMAT_
  uint32_t block_w_px, block_h_px;  // of an element
  uint32_t block_B;                 // of an element (of one sample)
  // AGX's layout of the channels in memory; empty if AGX has no such format. Images that share
  // memory may differ in the type of the channels, but not in this.
  absl::string_view agx_channels;
  // The format in which AGX's pixel back end, which writes images, holds pixels; empty if it cannot
  // write this format.
  absl::string_view agx_register_format;
  bool depth_or_stencil;

  bool is_block_compressed() const { return block_w_px != 1 || block_h_px != 1; }
  bool agx_renderable() const { return !agx_register_format.empty(); }
  // Only formats that the GPU can render to can be losslessly compressed.
  bool agx_compressible() const {
    return (agx_renderable() || (depth_or_stencil && !agx_channels.empty())) &&
           !is_block_compressed();
  }
};

// All formats, in no particular order.
absl::Span<const Format> Formats();

// By its name in Gallium or Vulkan: R8G8B8A8_UNORM, DXT1_RGBA or BC1_RGBA_UNORM, D32_SFLOAT; the
// prefixes PIPE_FORMAT_ and VK_FORMAT_ and the suffix _BLOCK are ignored. Null if there is none.
const Format* FindFormat(absl::string_view name);

}  // namespace packsmith::layout

#endif  // PACKSMITH_RUNTIME_LAYOUT_FORMAT_H_
