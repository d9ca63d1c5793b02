#include "runtime/base/program/help_text.h"

#include "gtest/gtest.h"

namespace packsmith::tools {
namespace {

constexpr const char* kHelp = R"(tool shows things: many, in order.

Examples:
  tool a.core                 all of it
  tool --only=this,that a.core
                              some of it
  tool --nothing

tool [options] FILE...        FILE is a dump,
                              of some kind
tool --list                   lists

Free text of two
lines.

What is shown:
  --only=NAME,...   names
                    of things
  -o, --output=FILE the wrong gap
  --one=A, --two=B
                    both

  --late            in a section without a title
Exit code: 0 good;
1 bad.
)";

TEST(HelpText, HasTheFirstSentenceWithoutTheProgramsName) {
  EXPECT_EQ(ParseHelp("tool", kHelp).summary, "shows things");
  EXPECT_EQ(ParseHelp("tool", "tool [OPTIONS] APP\nRuns APP as if. More.\n").summary,
            "runs APP as if");
  EXPECT_EQ(ParseHelp("tool", "GPUs are shown.\n").summary, "GPUs are shown");
  EXPECT_EQ(ParseHelp("tool", "").summary, "");
}

TEST(HelpText, JoinsLinesThatAreIndentedFurther) {
  const HelpText help = ParseHelp("tool", kHelp);
  ASSERT_EQ(help.examples.size(), 3u);
  EXPECT_EQ(help.examples[1].left, "tool --only=this,that a.core");
  EXPECT_EQ(help.examples[1].right, "some of it");
  EXPECT_EQ(help.examples[2].right, "");
  ASSERT_EQ(help.usage.size(), 2u);
  EXPECT_EQ(help.usage[0].left, "tool [options] FILE...");
  EXPECT_EQ(help.usage[0].right, "FILE is a dump, of some kind");
  EXPECT_EQ(help.usage[1].left, "tool --list");
}

TEST(HelpText, HasSectionsWithAndWithoutTitles) {
  const HelpText help = ParseHelp("tool", kHelp);
  ASSERT_EQ(help.sections.size(), 2u);
  EXPECT_EQ(help.sections[0].title, "What is shown");
  ASSERT_EQ(help.sections[0].entries.size(), 3u);
  EXPECT_EQ(help.sections[0].entries[0].right, "names of things");
  EXPECT_EQ(help.sections[0].entries[2].left, "--one=A, --two=B");
  EXPECT_EQ(help.sections[0].entries[2].right, "both");
  EXPECT_EQ(help.sections[1].title, "");
  ASSERT_EQ(help.sections[1].entries.size(), 1u);
}

TEST(HelpText, HasParagraphsAndTheExitCode) {
  const HelpText help = ParseHelp("tool", kHelp);
  ASSERT_EQ(help.paragraphs.size(), 2u);
  EXPECT_EQ(help.paragraphs[1], "Free text of two lines.");
  EXPECT_EQ(help.exit_code, "0 good; 1 bad.");
}

}  // namespace
}  // namespace packsmith::tools
