// unpack --contexts: the registers in the context images of dumps, and how images differ.
#ifndef PACKSMITH_TOOLS_CONTEXTS_H_
#define PACKSMITH_TOOLS_CONTEXTS_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/dump/dump.h"
#include "runtime/tables/tables.h"
#include "tools/inputs.h"

namespace packsmith::tools {

struct ContextsResult {
  std::string text;
  bool complete = true;  // all dumps could be read, and had context images that could be read
};

// `describe` finds the tables of a dump, or complains; `complain` writes a message.
ContextsResult ShowContexts(
    Inputs& inputs,
    const std::function<absl::StatusOr<tables::Tables>(Dump&, const std::string&)>& describe,
    const std::function<void(absl::string_view)>& complain);

}  // namespace packsmith::tools

#endif  // PACKSMITH_TOOLS_CONTEXTS_H_
