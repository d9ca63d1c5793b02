// unpack: decodes dumps of GPU command streams.
#include <optional>

#include "absl/strings/string_view.h"
#include "runtime/base/program/facts.h"
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

// Subcommands: `unpack NAME ...`. A file of such a name must be given as ./NAME.
constexpr tools::Verb kVerbs[] = {
    {"diff", Diff, "what differs between two dumps, draws or descriptions"},
    {"lint", Lint, "what breaks the rules of the descriptions"},
    {"triage", TriageDumps, "many dumps of hangs, in groups of one cause"},
};

int Unpack(int argc, char** argv) {
  Arguments arguments;
  if (const std::optional<int> done = ParseArguments(argc, argv, kVerbs, arguments)) return *done;
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

int Main(int argc, char** argv) {
  const absl::string_view first = argc > 1 ? argv[1] : "";
  for (const tools::Verb& verb : kVerbs) {
    if (first == verb.name) return verb.run(argc - 1, argv + 1);
  }
  // What unpack does without a subcommand has a name, too.
  return first == "decode" ? Unpack(argc - 1, argv + 1) : Unpack(argc, argv);
}

}  // namespace
}  // namespace packsmith::commands

int main(int argc, char** argv) { return packsmith::commands::Main(argc, argv); }
