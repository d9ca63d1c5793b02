// The largest tables of a shader stage, for everything that makes them.
#ifndef PACKSMITH_RUNTIME_INTEL_BINDING_TABLE_LIMITS_H_
#define PACKSMITH_RUNTIME_INTEL_BINDING_TABLE_LIMITS_H_

#include <cstdint>

namespace packsmith::intel {

// Entries of a binding table. Shaders number surfaces by 8 bits, of which the highest values have
// meanings of their own.
inline constexpr uint32_t kMostTableSurfaces = 240;
// Samplers of a table. Shaders number them by 8 bits; no API has more of them.
inline constexpr uint32_t kMostTableSamplers = 128;

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BINDING_TABLE_LIMITS_H_
