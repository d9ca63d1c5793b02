// What completes a program's command line in a shell.
#ifndef PACKSMITH_RUNTIME_BASE_PROGRAM_COMPLETIONS_H_
#define PACKSMITH_RUNTIME_BASE_PROGRAM_COMPLETIONS_H_

#include <string>
#include <vector>

#include "runtime/base/program/facts.h"

namespace packsmith::tools {

// "bash", "zsh", "fish".
std::vector<std::string> Shells();

// The script of a program is Begin, then for each of its subcommands that subcommand's Completions,
// then its own Completions. `shell` is one of Shells().
std::string BeginCompletions(const std::string& shell, const ProgramFacts& program);
std::string Completions(const std::string& shell, const ProgramFacts& program);

}  // namespace packsmith::tools

#endif  // PACKSMITH_RUNTIME_BASE_PROGRAM_COMPLETIONS_H_
