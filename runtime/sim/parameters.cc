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

absl::Span<const ParameterKind> ArgumentsOf(ArgumentFormat format) {
  using enum ParameterKind;
  static constexpr ParameterKind kDraw[] = {kCount, kInstances, kFirst, kFirstInstance};
  static constexpr ParameterKind kIndexedDraw[kMostArguments] = {kCount, kInstances, kFirst, kBias,
                                                                 kFirstInstance};
  static constexpr ParameterKind kMesh[] = {kGroupsX, kGroupsY, kGroupsZ};
  switch (format) {
    case ArgumentFormat::kDraw:
      return kDraw;
    case ArgumentFormat::kDrawIndexed:
      return kIndexedDraw;
    case ArgumentFormat::kMesh3d:
      return kMesh;
    case ArgumentFormat::kMesh1d:
      return absl::MakeConstSpan(kMesh).first(1);
  }
  return {};
}

}  // namespace packsmith::sim
