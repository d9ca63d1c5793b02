// unpack: decodes dumps of GPU command streams.
#include <optional>

#include "absl/strings/string_view.h"
#include "tools/commands/arguments.h"
#include "tools/commands/command.h"
#include "tools/commands/decode.h"
#include "tools/commands/descriptions.h"
#include "tools/commands/diff.h"
#include "tools/commands/hang.h"
#include "tools/commands/lint.h"
#include "tools/commands/triage.h"

namespace packsmith::commands {
namespace {

int Unpack(int argc, char** argv) {
  Arguments arguments;
  if (const std::optional<int> done = ParseArguments(argc, argv, arguments)) return *done;
  if (arguments.list || arguments.describe) return ShowDescriptions(arguments);
  if (arguments.ecode) return ShowEcode(arguments);
  if (arguments.own() > 1) {
    return Refuse("at most one --xml or --tables can be given to decode a dump");
  }
  if (arguments.files.empty()) {
    return Refuse("no file was given; - is standard input; unpack --help says more");
  }
  return Decode(arguments);
}

// Subcommands: `unpack NAME ...`. A file of such a name must be given as ./NAME.
struct Command {
  absl::string_view name;
  int (*run)(int argc, char** argv);
};
constexpr Command kCommands[] = {
    {"decode", Unpack}, {"diff", Diff}, {"lint", Lint}, {"triage", TriageDumps}};

}  // namespace
}  // namespace packsmith::commands

int main(int argc, char** argv) {
  for (const packsmith::commands::Command& command : packsmith::commands::kCommands) {
    if (argc > 1 && command.name == argv[1]) return command.run(argc - 1, argv + 1);
  }
  return packsmith::commands::Unpack(argc, argv);
}
