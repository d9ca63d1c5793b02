// What programs answer alike, with a program that was made for these tests.
#include "runtime/base/program/program.h"

#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/base/command_line.h"

namespace packsmith::tools {
namespace {

constexpr const char* kHelp = R"(tool does "things" .with \ and - 'quotes'.

tool [options] FILE

  --format=FORMAT   one of two
  -o, --output=FILE where to
  --deep[=LEVEL]    how deep
  --loud
  -h, --help        this text
  --version         the version

Exit code: 0 good.
)";

struct Outcome {
  std::optional<int> code;
  std::string out, complaints;
  std::string format, output;
};

int RunVerb(int argc, char** argv) {
  CLI::App app("", "tool turn");
  app.set_help_flag();
  std::string way;
  app.add_option("--way", way)->check(OneOf({"left", "right"}));
  return ParseCommandLine(
             app,
             {.name = "tool turn",
              .help = "tool turn turns.\n\n  --way=WAY  where\n  --version, -h, --help\n"},
             argc, argv, [](absl::string_view) {})
      .value_or(7);
}

Outcome RunTool(std::vector<std::string> arguments, const char* help = kHelp) {
  Outcome run;
  CLI::App app("", "tool");
  app.set_help_flag();
  std::string deep;
  bool loud = false;
  std::vector<std::string> files;
  app.add_option("FILE", files)->required();
  app.add_option("--format", run.format)->check(OneOf({"text", "json"}));
  app.add_option("-o,--output", run.output);
  app.add_option("--deep", deep)->expected(0, 1);
  app.add_flag("--loud", loud);
  std::vector<const char*> argv = {"tool"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  testing::internal::CaptureStdout();
  run.code =
      ParseCommandLine(app,
                       {.name = "tool",
                        .help = help,
                        .descriptions = [] { return std::string("0123"); },
                        .verbs = {{"turn", RunVerb, "turns it"}}},
                       static_cast<int>(argv.size()), argv.data(),
                       [&](absl::string_view text) { run.complaints += std::string(text) + "\n"; });
  std::fflush(stdout);
  run.out = testing::internal::GetCapturedStdout();
  return run;
}

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Program, ParsesItsOwnOptions) {
  const Outcome run = RunTool({"--format=json", "-o", "x", "in"});
  EXPECT_FALSE(run.code.has_value());
  EXPECT_EQ(run.format, "json");
  EXPECT_EQ(run.output, "x");
  EXPECT_EQ(run.out, "");
}

TEST(Program, AnswersHelpAndVersionWithoutWhatIsRequired) {
  EXPECT_EQ(RunTool({"--help"}).out, kHelp);
  EXPECT_EQ(RunTool({"-h"}).code, 0);
  const Outcome version = RunTool({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_TRUE(Has(version.out, " (descriptions 0123)\n")) << version.out;
  EXPECT_EQ(version.out.substr(0, 5), "tool ");
  EXPECT_EQ(RunTool({"--verbs"}).out, "turn\n");
}

TEST(Program, SaysWhatIsWrong) {
  const Outcome run = RunTool({"--formt=json", "in"});
  EXPECT_EQ(run.code, 2);
  EXPECT_TRUE(Has(run.complaints, "did you mean --format")) << run.complaints;
  EXPECT_TRUE(Has(run.complaints, "tool --help")) << run.complaints;
  EXPECT_EQ(RunTool({}).code, 2);
  EXPECT_EQ(RunTool({"--help", "--no-such", "in"}).code, 2);
}

TEST(Program, DoesNotOfferHiddenOptions) {
  EXPECT_FALSE(Has(RunTool({"--completion=bash", "in"}).complaints, "--completions"));
}

TEST(Program, WritesAPageInWhichNothingOfTheTextIsARequest) {
  const Outcome run = RunTool({"--help-man"});
  EXPECT_EQ(run.code, 0) << run.complaints;
  EXPECT_TRUE(Has(run.out, "tool \\- does \"things\" .with \\e and \\- \\(aqquotes\\(aq\n"))
      << run.out;
  EXPECT_TRUE(Has(run.out, ".B \"\\-\\-format=FORMAT\"\none of two; one of: text, json\n"))
      << run.out;
  EXPECT_TRUE(Has(run.out, ".BR tool\\-turn (1)\n")) << run.out;
}

TEST(Program, RefusesAPageThatWouldBeWrong) {
  const Outcome run = RunTool({"--help-man"},
                              "tool is.\n\n  --format=FORMAT x\n  --gone   y\n"
                              "  --loud=HOW\n  -o, --output=FILE\n  --deep=N\n");
  EXPECT_EQ(run.code, 1);
  EXPECT_EQ(run.out, "");
  EXPECT_TRUE(Has(run.complaints, "--gone is in --help, and is not an option")) << run.complaints;
  EXPECT_TRUE(Has(run.complaints, "--help is an option, and --help does not have it"));
  EXPECT_TRUE(Has(run.complaints, "--loud has a value in --help, and takes none"));
}

TEST(Program, CompletesSubcommandsToo) {
  for (const char* const shell : {"bash", "zsh", "fish"}) {
    const Outcome run = RunTool({std::string("--completions=") + shell});
    EXPECT_EQ(run.code, 0);
    for (const char* const word : {"format", "text json", "turn", "left right", "deep"}) {
      EXPECT_TRUE(Has(run.out, word)) << shell << ": " << word << "\n" << run.out;
    }
    EXPECT_FALSE(Has(run.out, "help-man")) << shell;
  }
  EXPECT_EQ(RunTool({"--completions=cmd"}).code, 2);
}

}  // namespace
}  // namespace packsmith::tools
