// `unpack triage`: many dumps of hangs, sorted into groups of one cause.
#ifndef PACKSMITH_TOOLS_COMMANDS_TRIAGE_H_
#define PACKSMITH_TOOLS_COMMANDS_TRIAGE_H_

namespace packsmith::commands {

// argv[0] is the subcommand's name. Returns the exit code.
int TriageDumps(int argc, char** argv);

}  // namespace packsmith::commands

#endif  // PACKSMITH_TOOLS_COMMANDS_TRIAGE_H_
