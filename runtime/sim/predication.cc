#include "runtime/sim/predication.h"

#include <vector>

#include "absl/strings/strip.h"
#include "runtime/sim/arithmetic.h"

namespace packsmith::sim {

NameIndex AtomicNames(const tables::Tables& tables, const tables::Leaf& leaf) {
  return NameIndex(tables, leaf, kAtomicNames, [](absl::string_view name) {
    if (!absl::ConsumeSuffix(&name, "16B")) absl::ConsumeSuffix(&name, "8B");
    return name;
  });
}

}  // namespace packsmith::sim
