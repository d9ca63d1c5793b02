// What a fragment shader reads from a coefficient register: interpolation in software, so that
// tests can compute the results that the hardware should give for a vertex shader's outputs.
//
// Smooth values are interpolated with perspective: each vertex's value is weighted by its share of
// the screen, divided by its W. Linear ones are weighted by their share of the screen alone. Flat
// ones are those of one vertex, bit by bit. W itself is 1/W, linearly interpolated, as in
// gl_FragCoord.w. Everything is computed in double precision, so that rounding is not visible.

#ifndef PACKSMITH_RUNTIME_AGX_ITERATE_H_
#define PACKSMITH_RUNTIME_AGX_ITERATE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/agx/varyings.h"

namespace packsmith::agx {

// A vertex shader's outputs: floats, halves in pairs, or any type for flat varyings.
using OutputWords = absl::Span<const uint32_t>;

// A place in a primitive.
struct Fragment {
  // Each vertex's share of the screen: the barycentric coordinates without perspective, which add
  // up to 1. Only the first ones count, one for each vertex of the primitive.
  double shares[3] = {1, 0, 0};
  double point_coord[2] = {0, 0};  // for Source::kPointCoord
  uint32_t primitive_id = 0;
  // The viewport's transform of Z, from clip space divided by W to the depth buffer.
  double z_scale = 1, z_translate = 0;
};

// The bits of the register at this place: of a float, of two halves (slots of 16 bits), or of any
// type if the varying is flat. InvalidArgument for registers that are not bound, slots that do not
// exist, and vertices that have too few words.
absl::StatusOr<uint32_t> Iterate(const OutputShape& shape, absl::Span<const Binding> bindings,
                                 unsigned reg, absl::Span<const OutputWords> vertices,
                                 const Fragment& fragment);

}  // namespace packsmith::agx

#endif  // PACKSMITH_RUNTIME_AGX_ITERATE_H_
