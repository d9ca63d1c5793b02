// --hang: the report of a hang alone.
#ifndef PACKSMITH_TOOLS_COMMANDS_HANG_H_
#define PACKSMITH_TOOLS_COMMANDS_HANG_H_

#include "tools/commands/arguments.h"
#include "tools/commands/command.h"
#include "tools/inputs.h"

namespace packsmith::commands {

// Returns the exit code.
int ShowHangs(const Arguments& arguments, tools::Inputs& inputs, const DescribeDump& describe);

}  // namespace packsmith::commands

#endif  // PACKSMITH_TOOLS_COMMANDS_HANG_H_
