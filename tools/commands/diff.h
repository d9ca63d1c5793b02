// unpack diff: what differs between two dumps, two draws, or two descriptions.
#ifndef PACKSMITH_TOOLS_COMMANDS_DIFF_H_
#define PACKSMITH_TOOLS_COMMANDS_DIFF_H_

namespace packsmith::commands {

// `argv[0]` is the subcommand's name. Returns the exit code: 0 nothing differs, 1 something does,
// 2 trouble.
int Diff(int argc, char** argv);

}  // namespace packsmith::commands

#endif  // PACKSMITH_TOOLS_COMMANDS_DIFF_H_
