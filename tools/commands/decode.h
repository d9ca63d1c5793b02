// unpack without a command's name: everything that begins with reading dumps.
#ifndef PACKSMITH_TOOLS_COMMANDS_DECODE_H_
#define PACKSMITH_TOOLS_COMMANDS_DECODE_H_

#include "tools/commands/arguments.h"

namespace packsmith::commands {

// Returns the exit code.
int Decode(const Arguments& arguments);

}  // namespace packsmith::commands

#endif  // PACKSMITH_TOOLS_COMMANDS_DECODE_H_
