#include "runtime/base/debug.h"

#include <cstdlib>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace packsmith {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(DebugTest, WordsAreSwitches) {
  EXPECT_EQ(ParseDebug("").switches, 0u);
  const ParsedDebug parsed = ParseDebug("sync, reemit\tbat,,");
  EXPECT_EQ(parsed.switches, static_cast<uint32_t>(DebugSwitch::kSync) |
                                 static_cast<uint32_t>(DebugSwitch::kReemit) |
                                 static_cast<uint32_t>(DebugSwitch::kBatches));
  EXPECT_THAT(parsed.messages, IsEmpty());
  uint32_t all = 0;
  for (const DebugSwitchRow& row : DebugSwitches()) {
    EXPECT_EQ(ParseDebug(row.word).switches, static_cast<uint32_t>(row.which)) << row.word;
    EXPECT_EQ(all & static_cast<uint32_t>(row.which), 0u) << row.word;
    all |= static_cast<uint32_t>(row.which);
  }
  EXPECT_EQ(ParseDebug("all").switches, all);
}

TEST(DebugTest, UnknownWordsAreReportedAndTheOthersApply) {
  const ParsedDebug parsed = ParseDebug("sinc,reemit");
  EXPECT_EQ(parsed.switches, static_cast<uint32_t>(DebugSwitch::kReemit));
  EXPECT_EQ(parsed.messages, "PACKSMITH_DEBUG: there is no switch \"sinc\"; did you mean sync?\n");
  EXPECT_THAT(ParseDebug("somethingelse").messages, HasSubstr("PACKSMITH_DEBUG=help lists them"));
}

TEST(DebugTest, HelpListsAll) {
  const std::string help = ParseDebug("help").messages;
  for (const DebugSwitchRow& row : DebugSwitches()) {
    EXPECT_THAT(help, HasSubstr(std::string(row.word)));
    EXPECT_THAT(help, HasSubstr(std::string(row.effect)));
  }
}

TEST(DebugTest, TheVariableIsReadOnce) {
  ASSERT_EQ(setenv("PACKSMITH_DEBUG", "capture", 1), 0);
  EXPECT_TRUE(DebugOn(DebugSwitch::kCapture));
  EXPECT_FALSE(DebugOn(DebugSwitch::kSync));
  ASSERT_EQ(setenv("PACKSMITH_DEBUG", "sync", 1), 0);
  EXPECT_TRUE(DebugOn(DebugSwitch::kCapture));
  EXPECT_FALSE(DebugOn(DebugSwitch::kSync));
  SetDebug(static_cast<uint32_t>(DebugSwitch::kSync));
  EXPECT_TRUE(DebugOn(DebugSwitch::kSync));
  EXPECT_FALSE(DebugOn(DebugSwitch::kCapture));
}

}  // namespace
}  // namespace packsmith
