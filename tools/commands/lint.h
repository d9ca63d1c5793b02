// unpack lint: holds dumps against rules.
#ifndef PACKSMITH_TOOLS_COMMANDS_LINT_H_
#define PACKSMITH_TOOLS_COMMANDS_LINT_H_

namespace packsmith::commands {

// The command line from the subcommand's name on. Returns the exit code: 0 no alarm that counts, 1
// there are some, 2 wrong usage or trouble.
int Lint(int argc, char** argv);

}  // namespace packsmith::commands

#endif  // PACKSMITH_TOOLS_COMMANDS_LINT_H_
