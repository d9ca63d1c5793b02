// The names of packets' types, for messages.

#ifndef PACKSMITH_RUNTIME_BASE_TYPE_NAME_H_
#define PACKSMITH_RUNTIME_BASE_TYPE_NAME_H_

#include <cstddef>

#include "absl/strings/string_view.h"

namespace packsmith {

// "packsmith::gfx9::PIPE_CONTROL" of "bool … [with P = packsmith::gfx9::PIPE_CONTROL]": of the
// __PRETTY_FUNCTION__ of a template whose parameter P is the type.
inline absl::string_view TypeNameIn(absl::string_view function) {
  const size_t at = function.rfind("P = ");
  if (at == absl::string_view::npos) return function;
  const absl::string_view rest = function.substr(at + 4);
  return rest.substr(0, rest.find_first_of(";]"));
}

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_BASE_TYPE_NAME_H_
