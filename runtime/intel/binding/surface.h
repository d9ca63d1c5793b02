// Descriptions of surfaces that do not depend on the generation. surface_states.h writes them for
// the hardware.
//
// Sizes and counts are actual values, never less one; lengths are in texels or bytes as noted.
// Formats are codes of SurfaceFormat, caching policies ("mocs") those of the kernel driver's table,
// times 2, as in all packets.

#ifndef PACKSMITH_RUNTIME_INTEL_BINDING_SURFACE_H_
#define PACKSMITH_RUNTIME_INTEL_BINDING_SURFACE_H_

#include <array>
#include <cstdint>

#include "packsmith/gfx9_codes.h"
#include "packsmith/pack.h"

namespace packsmith::intel {

// The manual's formats. Their codes are the same in all generations.
using SurfaceFormat = gfx9::SURFACE_FORMAT;

// The source of a component of a texel.
enum class Channel : uint8_t { kZero, kOne, kRed, kGreen, kBlue, kAlpha };

struct Swizzle {
  Channel red = Channel::kRed, green = Channel::kGreen, blue = Channel::kBlue,
          alpha = Channel::kAlpha;
};

// Reads return zeros, writes are discarded. As a render target it has a size, which clips.
struct NullSurface {
  uint32_t width = 1, height = 1;  // texels
  uint32_t layers = 1;
  uint32_t mocs = 0;  // not 0
};

// A buffer of entries: typed (texel buffers, and uniform buffers, whose entries have 16 bytes), or
// of bytes.
struct BufferSurface {
  // Of the first entry. If its `use` is not set, `writable` determines it.
  address memory = {};
  bool writable = false;
  uint64_t size = 0;    // bytes; an incomplete last entry does not count
  uint32_t stride = 1;  // bytes of an entry; 1 for a buffer of bytes
  uint32_t format = SurfaceFormat::RAW;
  uint32_t mocs = 0;  // not 0
  Swizzle swizzle = {};
};

// Memory that threads spill to, a piece for each thread that can run at once: from Gfx12.5 on,
// where packets have the offset of such a state instead of an address.
struct ScratchSurface {
  // Of the first thread's piece. If its `use` is not set, it is read and written.
  address memory = {};
  uint64_t size = 0;         // bytes, of all threads
  uint32_t per_thread = 64;  // bytes: a multiple of 64, up to 256 KiB
  uint32_t mocs = 0;         // not 0
};

enum class SurfaceShape : uint8_t { k1D, k2D, k3D, kCube };
enum class SurfacePurpose : uint8_t { kTexture, kRenderTarget, kStorage };
enum class SurfaceTiling : uint8_t {
  kLinear,
  kX,
  kY,   // up to Gfx12
  kW,   // stencil, up to Gfx11
  kYf,  // Gfx9 to Gfx12: 4 KiB …
  kYs,  // … and 64 KiB
  k4,   // from Gfx12.5 on, instead of Y
  k64,  // from Gfx12.5 on
};

enum class AuxiliaryMode : uint8_t {
  kNone,
  kMcs,     // compressed samples
  kMcsCcs,  // Gfx12 and 12.5: the same, itself compressed
  kCcsD,    // fast clears only
  kCcsE,    // compressed colour; from Gfx12 on also depth and stencil, with `depth_stencil`
  kHiz,     // depth, up to Gfx11
};

// The auxiliary surface of an image that is compressed, or was cleared fast.
struct AuxiliarySurface {
  AuxiliaryMode mode = AuxiliaryMode::kNone;
  // Where the mode's surface is. From Gfx12 on the hardware finds that of colour compression
  // through tables, and only multisampling has one here.
  address memory = {};
  uint32_t pitch_tiles = 0;  // from row to row; at least 1 if there is a surface
  uint32_t qpitch = 0;       // rows from slice to slice: a multiple of 4
  // The value of fast-cleared texels. Gfx8: 0 or 1 each; Gfx9 and 11: the bits of a float or
  // integer each; later: ignored, it is in memory.
  std::array<uint32_t, 4> clear_color = {};
  // Gfx11 to 12.5: where the clear colour is, a multiple of 64 bytes. 0: not in memory.
  address clear_color_at = {};
  // From Gfx12.5 on: how a texel is compressed, by the manual's codes.
  uint32_t compression_format = 0;
};

struct ImageSurface {
  SurfacePurpose purpose = SurfacePurpose::kTexture;
  SurfaceShape shape = SurfaceShape::k2D;  // except in textures, a cube is layers of 2D
  // If its `use` is not set: textures are read, others read and written.
  address memory = {};
  uint32_t format = 0;
  uint32_t mocs = 0;                          // not 0
  uint32_t width = 1, height = 1, depth = 1;  // texels of level 0; depth is of 3D
  uint32_t samples = 1;                       // a power of two, up to 16 (Gfx8: 8)
  bool interleaved_samples = false;           // depth and stencil
  uint32_t first_level = 0, levels = 1;       // of the view; targets use only the first one
  uint32_t first_layer = 0, layers = 1;       // of the view; 3D: slices that can be written
  float least_level = 0;                      // finer ones do not exist
  SurfaceTiling tiling = SurfaceTiling::kLinear;
  // Bytes from row to row, as packets have it: of W, twice the distance of rows. 1D: 0, not used.
  uint32_t pitch = 0;
  uint32_t qpitch = 0;  // rows from slice to slice: a multiple of 4
  // The alignment of slices and levels in the image's layout. Gfx8 to 12: texels, 4, 8 or 16. From
  // Gfx12.5 on: horizontally bytes, 16, 32, 64 or 128. 0: the generation's minimum.
  uint32_t horizontal_alignment = 0, vertical_alignment = 0;
  uint32_t mip_tail_level = 15;         // the first one in the tail; 15: none
  uint32_t x_offset = 0, y_offset = 0;  // into the first tile: multiples of 4
  bool depth_stencil = false;           // from Gfx12 on: compressed like depth and stencil
  Swizzle swizzle = {};
  AuxiliarySurface auxiliary = {};
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BINDING_SURFACE_H_
