// The options of a program: what its CLI11 application takes, with what --help says of it.
#ifndef PACKSMITH_RUNTIME_BASE_PROGRAM_OPTIONS_H_
#define PACKSMITH_RUNTIME_BASE_PROGRAM_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "runtime/base/program/facts.h"
#include "runtime/base/program/help_text.h"

namespace packsmith::tools {

// In the application's order, without positional arguments and hidden options.
std::vector<ProgramOption> OptionsOf(CLI::App& app, const HelpText& help);

// Sentences about options that only one of the two has.
std::vector<std::string> Disagreements(const std::vector<ProgramOption>& options,
                                       const HelpText& help);

}  // namespace packsmith::tools

#endif  // PACKSMITH_RUNTIME_BASE_PROGRAM_OPTIONS_H_
