// What the options ask for, in the terms of the libraries.
#ifndef PACKSMITH_TOOLS_COMMANDS_PLAN_H_
#define PACKSMITH_TOOLS_COMMANDS_PLAN_H_

#include "absl/status/statusor.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/sinks/filter_sink.h"
#include "runtime/dump/raw.h"
#include "tools/commands/arguments.h"
#include "tools/failures.h"

namespace packsmith::commands {

struct Plan {
  RawOptions raw;  // of bare batches
  decode::Filter filter;
  decode::Options options;
  tools::FailOn fail_on;
};

// InvalidArgument: a value is not of its option's kind, or options do not go together; the message
// names them.
absl::StatusOr<Plan> PlanOf(const Arguments& arguments);

}  // namespace packsmith::commands

#endif  // PACKSMITH_TOOLS_COMMANDS_PLAN_H_
