// Formats of vertex attributes: how many components one has, and what completes them.
//
//   const VertexFormat* format = FindVertexFormat(SurfaceFormat::R32G32B32_FLOAT);
//   // format->components == 3, format->bytes == 12: the shader's w becomes 1.0

#ifndef PACKSMITH_RUNTIME_INTEL_PIPELINE_VERTEX_FORMATS_H_
#define PACKSMITH_RUNTIME_INTEL_PIPELINE_VERTEX_FORMATS_H_

#include <cstdint>

#include "absl/types/span.h"

namespace packsmith::intel {

enum class VertexFormatKind : uint8_t {
  kFloat,        // becomes 32-bit floats, whatever it is in memory; a missing w is 1.0
  kInteger,      // becomes 32-bit integers; a missing w is 1
  kPassthrough,  // 64-bit components, which the shader receives as they are
};

struct VertexFormat {
  uint32_t format = 0;  // a code of SurfaceFormat
  uint8_t components = 0;
  uint8_t bytes = 0;           // in memory
  uint8_t component_bits = 0;  // of the largest
  VertexFormatKind kind = VertexFormatKind::kFloat;
};

// All formats that the vertex fetch of Gfx8 and later can read, by their codes.
absl::Span<const VertexFormat> VertexFormats();
// nullptr: vertices cannot have this format.
const VertexFormat* FindVertexFormat(uint32_t format);

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_PIPELINE_VERTEX_FORMATS_H_
