// The numbers of a draw or dispatch, whether they come from its packet, from registers, or from
// memory.
#ifndef PACKSMITH_RUNTIME_SIM_PARAMETERS_H_
#define PACKSMITH_RUNTIME_SIM_PARAMETERS_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace packsmith::sim {

enum class ParameterKind : uint8_t {
  kCount,          // vertices, or indices, of an instance
  kFirst,          // the first of them
  kInstances,      //
  kFirstInstance,  //
  kBias,           // signed; added to each index
  kIndexed,        // 0 or 1
  kGroupsX,        // of a dispatch, or of meshes
  kGroupsY,
  kGroupsZ,
};
inline constexpr size_t kParameterKinds = static_cast<size_t>(ParameterKind::kGroupsZ) + 1;

// "count", "first", "instances", "first-instance", "bias", "indexed", "groups x" …
absl::string_view NameOf(ParameterKind kind);

struct Parameter {
  ParameterKind kind;
  int64_t value;
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_PARAMETERS_H_
