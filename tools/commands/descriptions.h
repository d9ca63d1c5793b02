// --describe and --list: descriptions instead of dumps.
#ifndef PACKSMITH_TOOLS_COMMANDS_DESCRIPTIONS_H_
#define PACKSMITH_TOOLS_COMMANDS_DESCRIPTIONS_H_

#include "tools/commands/arguments.h"

namespace packsmith::commands {

// Returns the exit code.
int ShowDescriptions(const Arguments& arguments);

}  // namespace packsmith::commands

#endif  // PACKSMITH_TOOLS_COMMANDS_DESCRIPTIONS_H_
