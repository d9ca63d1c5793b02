// Decodes dumps of one GPU after the other, all to one output: what unpack does unless it is asked
// for something else.
#ifndef PACKSMITH_TOOLS_COMMANDS_DUMP_GROUPS_H_
#define PACKSMITH_TOOLS_COMMANDS_DUMP_GROUPS_H_

#include <string>
#include <vector>

#include "runtime/hang/events.h"
#include "tools/commands/arguments.h"
#include "tools/commands/command.h"
#include "tools/commands/plan.h"
#include "tools/inputs.h"

namespace packsmith::commands {

// `read_files` must not be overwritten. `events`: what is known of hangs beside the dumps. Returns
// the exit code.
int DecodeGroups(const Arguments& arguments, const Plan& plan, std::vector<std::string> read_files,
                 const std::vector<hang::Event>& events, tools::Inputs& inputs,
                 DescribeDump describe);

}  // namespace packsmith::commands

#endif  // PACKSMITH_TOOLS_COMMANDS_DUMP_GROUPS_H_
