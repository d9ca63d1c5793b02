// Rejects combinations of unpack's options that have no meaning.
#ifndef PACKSMITH_TOOLS_COMBINATIONS_H_
#define PACKSMITH_TOOLS_COMBINATIONS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace packsmith::tools {

// `given`: the options of the call, as "--draw"; others have their defaults. `format`, `follow`:
// the values of the options of that name. InvalidArgument if an option would be ignored.
absl::Status CheckCombinations(absl::Span<const std::string> given, absl::string_view format,
                               absl::string_view follow);

}  // namespace packsmith::tools

#endif  // PACKSMITH_TOOLS_COMBINATIONS_H_
