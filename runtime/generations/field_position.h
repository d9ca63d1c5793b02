// Finds the position of a field, for programs that know its name only at run time.
#ifndef PACKSMITH_RUNTIME_GENERATIONS_FIELD_POSITION_H_
#define PACKSMITH_RUNTIME_GENERATIONS_FIELD_POSITION_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/tables/tables.h"

namespace packsmith {

// In bits, from the start of the container.
struct FieldPosition {
  uint32_t bit;
  uint32_t width;
};

// Names are the manual's, as decoded records have them: "Surface Format", "Constant
// Body.Buffer[1]", "Vertex Buffer State[2].Buffer Pitch". The name of a structure, or of a group
// without an index, means everything in it, from its first field to its last; of a group that
// repeats up to the packet's length, the first item. `container` may be an alias. NotFound says
// which of the names is not known.
absl::StatusOr<FieldPosition> FindFieldPosition(const tables::Tables& tables,
                                                absl::string_view container,
                                                absl::string_view field);

// The same in a built-in generation, by its name or alias ("gfx9", "skl").
absl::StatusOr<FieldPosition> FindFieldPosition(absl::string_view generation,
                                                absl::string_view container,
                                                absl::string_view field);

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_GENERATIONS_FIELD_POSITION_H_
