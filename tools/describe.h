// `unpack --describe` and `unpack --list`: show descriptions instead of a dump.
#ifndef PACKSMITH_TOOLS_DESCRIBE_H_
#define PACKSMITH_TOOLS_DESCRIBE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/decode/record.h"
#include "runtime/tables/tables.h"

namespace packsmith::tools {

struct DescribeOptions {
  std::string name;        // as describe::Find takes it; empty: list all
  std::string generation;  // by name or alias; empty: the newest that has it
  bool jsonl = false;
  bool color = false;
};

// `generations`: those to search, the oldest first. Errors: NotFound, with similar names; nothing
// is written then.
absl::Status Describe(absl::Span<const tables::Tables> generations, const DescribeOptions& options,
                      decode::Output& output);

}  // namespace packsmith::tools

#endif  // PACKSMITH_TOOLS_DESCRIBE_H_
