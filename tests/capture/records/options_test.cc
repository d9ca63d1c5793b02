#include "runtime/capture/records/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "runtime/capture/records/command_line.h"

namespace packsmith::capture {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

RecordOptions Parse(const std::vector<std::string>& arguments) {
  RecordOptions options;
  CLI::App app;
  AddRecordOptions(app, options);
  // CLI11 takes them from the back.
  app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  return options;
}

std::string ErrorOf(const std::vector<std::string>& arguments) {
  try {
    Parse(arguments);
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return "no error";
}

TEST(OptionsTest, AllAreReadFromACommandLine) {
  const RecordOptions options =
      Parse({"--record=/tmp/run", "--only=engine=render,engine=copy,context=3,process=a,pid=7",
             "--trigger=/tmp/go", "--record-limit=2G", "--keep=hung"});
  EXPECT_EQ(options.folder, "/tmp/run");
  EXPECT_THAT(options.only.engines, ElementsAre("render", "copy"));
  EXPECT_THAT(options.only.contexts, ElementsAre(3u));
  EXPECT_THAT(options.only.processes, ElementsAre("a"));
  EXPECT_THAT(options.only.pids, ElementsAre(7u));
  EXPECT_EQ(options.only.from, 1u);
  EXPECT_EQ(options.only.count, Only::kAll);
  EXPECT_EQ(options.trigger, "/tmp/go");
  EXPECT_EQ(options.limit, uint64_t{2} << 30);
  EXPECT_EQ(options.keep, Keep::kHung);
}

TEST(OptionsTest, TheirTextGivesTheSameOptions) {
  const std::vector<std::string> arguments = {
      "--record=/tmp/run", "--only=engine=render,process=a b,context=0,pid=1,from=100,count=10",
      "--trigger=go", "--record-limit=1000", "--keep=hung"};
  EXPECT_EQ(RecordArguments(Parse(arguments)), arguments);
  EXPECT_EQ(Parse(RecordArguments(Parse(arguments))), Parse(arguments));
  EXPECT_THAT(RecordArguments({}), ElementsAre());
}

TEST(OptionsTest, WrongValuesAreNamedWithARemedy) {
  const auto with = [](const std::string& argument) { return ErrorOf({"--record=r", argument}); };
  EXPECT_THAT(with("--only=engin=render"), HasSubstr("did you mean engine?"));
  EXPECT_THAT(with("--only=engine"), HasSubstr("must be KEY=VALUE"));
  EXPECT_THAT(with("--only=engine="), HasSubstr("must be KEY=VALUE"));
  EXPECT_THAT(with("--only=,"), HasSubstr("must be KEY=VALUE"));
  EXPECT_THAT(with("--only=from=0"), HasSubstr("must be a whole number from 1"));
  EXPECT_THAT(with("--only=count=x"), HasSubstr("must be a whole number from 1"));
  EXPECT_THAT(with("--only=count=18446744073709551616"), HasSubstr("must be a whole number"));
  EXPECT_THAT(with("--only=from=1,from=2"), HasSubstr("from is given twice"));
  EXPECT_THAT(with("--keep=hang"), HasSubstr("must be all or hung"));
  EXPECT_THAT(with("--record-limit=2X"), HasSubstr("must be a number of bytes"));
  EXPECT_THAT(ErrorOf({"--keep=hung"}), HasSubstr("--record"));
  EXPECT_THAT(ErrorOf({"--record="}), HasSubstr("--record"));
}

TEST(OptionsTest, SizesHaveUnitsAndBounds) {
  EXPECT_EQ(*ParseSize("1"), 1u);
  EXPECT_EQ(*ParseSize("3k"), 3072u);
  EXPECT_EQ(*ParseSize("512M"), uint64_t{512} << 20);
  EXPECT_EQ(*ParseSize("8388608T"), uint64_t{1} << 63);
  for (const char* const wrong : {"", "0", "G", "-1", "1.5G", "8388609T", "18446744073709551616"}) {
    EXPECT_FALSE(ParseSize(wrong).ok()) << wrong;
  }
}

TEST(OptionsTest, OtherNamesAreNotOptions) {
  RecordOptions options;
  EXPECT_EQ(SetRecordOption("format", "x", options).code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace packsmith::capture
