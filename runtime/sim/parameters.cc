#include "runtime/sim/parameters.h"

#include <iterator>

namespace packsmith::sim {

absl::string_view NameOf(ParameterKind kind) {
  constexpr absl::string_view kNames[] = {"count",          "first",    "instances",
                                          "first-instance", "bias",     "indexed",
                                          "groups x",       "groups y", "groups z"};
  static_assert(std::size(kNames) == kParameterKinds);
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace packsmith::sim
