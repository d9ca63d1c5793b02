// What a command buffer can copy: CommandBuffer::Copy().

#ifndef PACKSMITH_RUNTIME_INTEL_DRIVER_COPIES_H_
#define PACKSMITH_RUNTIME_INTEL_DRIVER_COPIES_H_

#include <array>
#include <cstdint>

#include "runtime/intel/driver/image.h"
#include "runtime/memory/buffers.h"

namespace packsmith::intel {

// Bytes from one buffer to another. The two must not overlap.
struct BufferCopy {
  gpu::Buffer source, destination;
  uint64_t source_offset = 0, destination_offset = 0;  // bytes
  uint64_t size = 0;                                   // bytes
};

// Where a rectangle of an image begins. In block-compressed formats x and y are corners of blocks.
struct ImagePlace {
  const Image* image = nullptr;  // not null
  uint32_t level = 0, layer = 0;
  uint32_t x = 0, y = 0;  // pixels
};

// A rectangle of texels, of one or several layers. Both formats have texels of the same size. The
// two must not overlap.
struct ImageCopy {
  ImagePlace source, destination;
  uint32_t width = 0, height = 0;  // pixels of the source
  uint32_t layers = 1;             // from the places' layers on
};

// Texels in rows, in a buffer.
struct BufferImageCopy {
  gpu::Buffer buffer;
  uint64_t offset = 0;       // bytes, of the first texel
  uint32_t row_pitch = 0;    // bytes from row to row; 0: without gaps
  uint64_t layer_pitch = 0;  // bytes from layer to layer; 0: without gaps
  ImagePlace image;
  uint32_t width = 0, height = 0;  // pixels
  uint32_t layers = 1;
  bool to_image = true;  // else from the image to the buffer
};

// A pattern of 4 bytes in a buffer.
struct BufferFill {
  gpu::Buffer destination;
  uint64_t offset = 0;  // bytes: a multiple of 4, as the size
  uint64_t size = 0;    // bytes
  uint32_t value = 0;
};

// One texel in a rectangle of an image: a clear of colours, depth or stencil without a shader.
struct ImageFill {
  ImagePlace destination;
  uint32_t width = 0, height = 0;  // pixels
  uint32_t layers = 1;             // from the place's layer on
  // As it is in memory: the first bytes of it, as many as a texel of the image's format has.
  std::array<uint8_t, 16> texel = {};
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DRIVER_COPIES_H_
