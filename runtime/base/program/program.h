// The command line of a program or subcommand, with what all of them answer alike.
//
//   CLI::App app("", "pack");
//   app.add_option("--format", format)->check(OneOf({"core", "bytes"}));
//   const std::optional<int> done =
//       ParseCommandLine(app, {.name = "pack", .help = kHelp}, argc, argv, Complain);
//   if (done) return *done;
#ifndef PACKSMITH_RUNTIME_BASE_PROGRAM_PROGRAM_H_
#define PACKSMITH_RUNTIME_BASE_PROGRAM_PROGRAM_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/base/program/facts.h"

namespace packsmith::tools {

struct Program {
  std::string name;  // as users call it: "unpack", "unpack diff"
  std::string help;  // the text of --help, in the form that help_text.h describes
  // Makes the digest of the descriptions that are built in; null: there are none.
  std::string (*descriptions)() = nullptr;
  std::vector<Verb> verbs = {};  // its subcommands
};

// Adds to `app`: -h, --help and --version, and, hidden, --help-man, --completions=SHELL and
// --verbs. Parses the command line and answers these. An exit code: there is nothing left to do; 0,
// or 2 for a wrong command line, of which `complain` is told why, or 1 if --help-man finds that
// --help and `app` disagree. The application's own help flag must not be set.
std::optional<int> ParseCommandLine(CLI::App& app, const Program& program, int argc,
                                    const char* const* argv,
                                    const std::function<void(absl::string_view)>& complain);

// What --version prints: "unpack 0.1.0 (descriptions 0123456789abcdef)".
std::string VersionLine(const Program& program);

}  // namespace packsmith::tools

#endif  // PACKSMITH_RUNTIME_BASE_PROGRAM_PROGRAM_H_
