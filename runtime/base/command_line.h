// How all programs handle an invalid command line.
#ifndef PACKSMITH_RUNTIME_BASE_COMMAND_LINE_H_
#define PACKSMITH_RUNTIME_BASE_COMMAND_LINE_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace packsmith::tools {

// Checks that the value of an option is one of `names`; the error lists them and suggests the
// closest.
CLI::Validator OneOf(std::vector<std::string> names);

// The names that OneOf() checks the option's value for; empty: it does not.
std::vector<std::string> ChoicesOf(CLI::Option& option);

// The error message. A misspelt option gets a suggestion.
std::string WhatIsWrong(const CLI::App& app, const CLI::ParseError& error);

// The options that were given, without hidden ones, by their long names: "--draw".
std::vector<std::string> GivenOptions(const CLI::App& app);

}  // namespace packsmith::tools

#endif  // PACKSMITH_RUNTIME_BASE_COMMAND_LINE_H_
