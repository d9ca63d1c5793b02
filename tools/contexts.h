// unpack --contexts: the registers in the context images of dumps, and how images differ; unpack
// --page-tables: the page tables that these images name.
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
  // All dumps could be read, and had context images that could be read; of page tables: and these.
  bool complete = true;
};

// `describe` finds the tables of a dump, or complains; `complain` writes a message.
ContextsResult ShowContexts(
    Inputs& inputs,
    const std::function<absl::StatusOr<tables::Tables>(Dump&, const std::string&)>& describe,
    const std::function<void(absl::string_view)>& complain);

ContextsResult ShowPageTables(
    Inputs& inputs,
    const std::function<absl::StatusOr<tables::Tables>(Dump&, const std::string&)>& describe,
    const std::function<void(absl::string_view)>& complain);

}  // namespace packsmith::tools

#endif  // PACKSMITH_TOOLS_CONTEXTS_H_
