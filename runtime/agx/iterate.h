// What a fragment shader reads from a coefficient register: interpolation in software, so that a
// test can say what the hardware should have made of a vertex shader's outputs.
//
// Smooth values are interpolated with perspective: each vertex's value counts by its share of the
// screen, divided by its W. Linear ones count by their share of the screen alone. Flat ones are
// those of one vertex, bit by bit. W itself is what linear interpolation makes of 1/W, as in
// gl_FragCoord.w. Single precision would round where it likes; all of it is done in double.

#ifndef PACKSMITH_RUNTIME_AGX_ITERATE_H_
#define PACKSMITH_RUNTIME_AGX_ITERATE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/agx/varyings.h"

namespace packsmith::agx {

// A vertex shader's outputs: floats, halves in pairs, or whatever flat varyings hold.
using OutputWords = absl::Span<const uint32_t>;

// A place in a primitive.
struct Fragment {
  // How much of the screen each vertex has a share in: the barycentric coordinates without
  // perspective, which add up to 1. The first as many as the primitive has vertices.
  double shares[3] = {1, 0, 0};
  double point_coord[2] = {0, 0};  // for Source::kPointCoord
  uint32_t primitive_id = 0;
  // The viewport's transform of Z, from clip space divided by W to the depth buffer.
  double z_scale = 1, z_translate = 0;
};

// The bits of the register at this place: of a float, of two halves (slots of 16 bits), or whatever
// a flat varying is. InvalidArgument for registers that are not bound, slots that there are not,
// and vertices that have too few words.
absl::StatusOr<uint32_t> Iterate(const OutputShape& shape, absl::Span<const Binding> bindings,
                                 unsigned reg, absl::Span<const OutputWords> vertices,
                                 const Fragment& fragment);

}  // namespace packsmith::agx

#endif  // PACKSMITH_RUNTIME_AGX_ITERATE_H_
