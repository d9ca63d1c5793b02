// `unpack --describe` and `unpack --list`: what the descriptions say, instead of a dump.
#ifndef PACKSMITH_TOOLS_DESCRIBE_H_
#define PACKSMITH_TOOLS_DESCRIBE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/decode/record.h"
#include "runtime/tables/tables.h"

namespace packsmith::tools {

struct DescribeOptions {
  std::string name;        // as describe::Find takes it; empty: list what there is
  std::string generation;  // by name or alias; empty: the newest that has it
  bool jsonl = false;
  bool color = false;
};

// `generations` are those to look in, the oldest first. Errors: NotFound, with what is close;
// nothing was written then.
absl::Status Describe(absl::Span<const tables::Tables> generations, const DescribeOptions& options,
                      decode::Output& output);

}  // namespace packsmith::tools

#endif  // PACKSMITH_TOOLS_DESCRIBE_H_
