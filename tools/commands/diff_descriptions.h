// unpack diff --descriptions: what differs between two descriptions of GPUs.
#ifndef PACKSMITH_TOOLS_COMMANDS_DIFF_DESCRIPTIONS_H_
#define PACKSMITH_TOOLS_COMMANDS_DIFF_DESCRIPTIONS_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime/tables/tables.h"

namespace packsmith::commands {

// Lines about all names that only one has, or that differ; empty if there are none. With `jsonl`, a
// JSON object a line. DataLoss: the tables have no descriptions that can be read.
absl::StatusOr<std::string> DiffDescriptions(const tables::Tables& a, const tables::Tables& b,
                                             bool jsonl);

}  // namespace packsmith::commands

#endif  // PACKSMITH_TOOLS_COMMANDS_DIFF_DESCRIPTIONS_H_
