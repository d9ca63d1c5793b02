// How vertex fetch converts an element of a vertex buffer: from the bits of its format to the
// dwords that the vertex shader gets.
#ifndef PACKSMITH_RUNTIME_SIM_VERTICES_VERTEX_FORMAT_H_
#define PACKSMITH_RUNTIME_SIM_VERTICES_VERTEX_FORMAT_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/tables/tables.h"

namespace packsmith::sim {

inline constexpr uint32_t kMostElementBytes = 32;

// A format with its components in the order in which the shader has them: red, green, blue, alpha.
struct VertexFormat {
  uint32_t bytes = 0;  // of one element, 1 to 32
  // Components of 64 bits are stored whole, in two dwords each (the formats that pass through).
  bool wide = false;
  // width 0: the format lacks the component.
  std::array<tables::Component, 4> components = {};
};

// The format that tables declare. A luminance component becomes red, green and blue, an intensity
// component all four; unused bits become nothing. InvalidArgument if an element is not made of 1 to
// 32 whole bytes, or if one of its components is not one that vertices can have.
absl::StatusOr<VertexFormat> MakeVertexFormat(const tables::Tables& tables,
                                              const tables::Format& format);

// The bits of one component as the shader gets them: integers extended to 32 bits, everything else
// as a float; whole if the format is wide. `element` has format.bytes bytes. A component that the
// format lacks is 0, alpha is 1 (a float; an integer if the format's components are integers).
uint64_t ConvertComponent(const VertexFormat& format, uint32_t component,
                          absl::Span<const uint8_t> element);

// The bits of a 32-bit float, from those of a smaller one: 16 bits, or 11 or 10 bits without a
// sign. Exact; NaN stays NaN.
uint32_t WidenFloat(uint32_t bits, uint32_t width);

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_VERTICES_VERTEX_FORMAT_H_
