// Finds names of descriptions from user input.
#ifndef PACKSMITH_RUNTIME_DESCRIBE_FIND_H_
#define PACKSMITH_RUNTIME_DESCRIBE_FIND_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/describe/reference.h"

namespace packsmith::describe {

struct Found {
  absl::string_view family;
  absl::string_view kind;
  std::string name;
  std::string field;  // path of the field that was asked for; empty: all of it
};

// `query` is a name or an alias in either case, a glob, NAME.FIELD, the offset of a register
// ("0x2358"), or the first dword of a packet (eight hexadecimal digits after 0x). `references` are
// the generations to search, the oldest first. Each combination of family, kind and name is
// returned once, ordered as in the newest generation that has it. Errors: NotFound, with similar
// names.
absl::StatusOr<std::vector<Found>> Find(absl::Span<const Reference> references,
                                        absl::string_view query);

}  // namespace packsmith::describe

#endif  // PACKSMITH_RUNTIME_DESCRIBE_FIND_H_
