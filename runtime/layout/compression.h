// AGX's metadata of compressed images, and which views of them are allowed.
#ifndef PACKSMITH_RUNTIME_LAYOUT_COMPRESSION_H_
#define PACKSMITH_RUNTIME_LAYOUT_COMPRESSION_H_

#include <cstdint>

#include "runtime/layout/format.h"

namespace packsmith::layout {

// A word describes 16x16 samples: one byte, the mode, for each 8x4 of them. The order of the bytes
// is not known.
inline constexpr uint32_t kMetadataTile_sa = 16;
inline constexpr uint32_t kMetadataWord_B = 8;

// All samples have one value.
inline constexpr uint8_t kMetadataModeSolid = 0x03;
// The samples are in the image uncompressed. `element_B` is 1, 2, 4, 8, 16 or more.
constexpr uint8_t MetadataModeUncompressed(uint32_t element_B) {
  return element_B >= 8 ? 0xff : element_B == 4 ? 0x7f : element_B == 2 ? 0x3f : 0x1f;
}
// A word whose eight modes are equal.
constexpr uint64_t MetadataWord(uint8_t mode) { return mode * 0x0101010101010101u; }

// Whether memory that was written as `image` may be read as `view`: compression depends on the
// layout of the channels, not on their type.
inline bool MayViewCompressed(const Format& image, const Format& view) {
  return image.agx_compressible() && view.agx_compressible() &&
         image.agx_channels == view.agx_channels;
}

}  // namespace packsmith::layout

#endif  // PACKSMITH_RUNTIME_LAYOUT_COMPRESSION_H_
