#include "runtime/base/program/program.h"

#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/command_line.h"
#include "runtime/base/program/completions.h"
#include "runtime/base/program/manual.h"
#include "runtime/base/program/options.h"
#include "runtime/base/version.h"

namespace packsmith::tools {
namespace {

constexpr int kGood = 0, kFailed = 1, kWrongUsage = 2;

void Print(absl::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

ProgramFacts FactsOf(CLI::App& app, const Program& program) {
  ProgramFacts facts;
  facts.name = program.name;
  facts.version = Version();
  facts.help = ParseHelp(program.name, program.help);
  facts.options = OptionsOf(app, facts.help);
  facts.verbs = program.verbs;
  return facts;
}

int PrintManual(const ProgramFacts& facts, const std::function<void(absl::string_view)>& complain) {
  const std::vector<std::string> disagreements = Disagreements(facts.options, facts.help);
  for (const std::string& sentence : disagreements) complain(sentence);
  if (!disagreements.empty()) return kFailed;
  Print(ManualPage(facts));
  return kGood;
}

int PrintCompletions(const ProgramFacts& facts, const std::string& shell) {
  Print(BeginCompletions(shell, facts));
  for (const Verb& verb : facts.verbs) {
    // Subcommands print their own part.
    std::string name = verb.name, option = "--completions=" + shell;
    char* arguments[] = {name.data(), option.data(), nullptr};
    if (const int code = verb.run(2, arguments); code != kGood) return code;
  }
  Print(Completions(shell, facts));
  return kGood;
}

}  // namespace

std::string VersionLine(const Program& program) {
  return absl::StrCat(program.name.substr(0, program.name.find(' ')), " ", Version(),
                      program.descriptions == nullptr
                          ? ""
                          : absl::StrCat(" (descriptions ", program.descriptions(), ")"));
}

std::optional<int> ParseCommandLine(CLI::App& app, const Program& program, int argc,
                                    const char* const* argv,
                                    const std::function<void(absl::string_view)>& complain) {
  bool help = false, version = false, manual = false, verbs = false;
  std::string shell;
  const CLI::Option* const asked[] = {
      app.add_flag("-h,--help", help), app.add_flag("--version", version),
      app.add_flag("--help-man", manual)->group(""),
      app.add_option("--completions", shell)->check(OneOf(Shells()))->group(""),
      app.add_flag("--verbs", verbs)->group("")};
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    bool answered = false;
    for (const CLI::Option* const option : asked) answered |= option->count() != 0;
    // Help does not need what is required.
    if (!answered || dynamic_cast<const CLI::RequiredError*>(&error) == nullptr) {
      complain(
          absl::StrCat(WhatIsWrong(app, error), "; ", program.name, " --help lists the options"));
      return kWrongUsage;
    }
  }
  if (version) {
    Print(VersionLine(program) + "\n");
  } else if (help) {
    Print(program.help);
  } else if (verbs) {
    for (const Verb& verb : program.verbs) Print(absl::StrCat(verb.name, "\n"));
  } else if (manual) {
    return PrintManual(FactsOf(app, program), complain);
  } else if (!shell.empty()) {
    return PrintCompletions(FactsOf(app, program), shell);
  } else {
    return std::nullopt;
  }
  return kGood;
}

}  // namespace packsmith::tools
