// --run: executes the batches instead of decoding them.
#ifndef PACKSMITH_TOOLS_COMMANDS_SIMULATE_H_
#define PACKSMITH_TOOLS_COMMANDS_SIMULATE_H_

#include "tools/commands/arguments.h"
#include "tools/commands/command.h"
#include "tools/inputs.h"

namespace packsmith::commands {

// Returns the exit code.
int Simulate(const Arguments& arguments, tools::Inputs& inputs, const DescribeDump& describe);

}  // namespace packsmith::commands

#endif  // PACKSMITH_TOOLS_COMMANDS_SIMULATE_H_
