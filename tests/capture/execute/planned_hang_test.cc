// Hangs that a user asks for: what can be asked, and where they are.
#include "runtime/capture/execute/planned_hang.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/capture/execute/sim_executor.h"
#include "tests/capture/execute/works.h"

namespace packsmith::capture {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr uint64_t kBatch = 0x100000, kData = 0x200000;

TEST(PlannedHang, IsANumberAKindAndAnAddress) {
  absl::StatusOr<PlannedHang> hang = ParsePlannedHang("3");
  ASSERT_TRUE(hang.ok()) << hang.status();
  EXPECT_EQ(hang->submission, 3u);
  EXPECT_EQ(hang->kind, HangKind::kCommand);
  EXPECT_EQ(hang->address, std::nullopt);
  hang = ParsePlannedHang("17:not-started");
  ASSERT_TRUE(hang.ok()) << hang.status();
  EXPECT_EQ(hang->submission, 17u);
  EXPECT_EQ(hang->kind, HangKind::kNotStarted);
  hang = ParsePlannedHang("1:CL@0x800040");
  ASSERT_TRUE(hang.ok()) << hang.status();
  EXPECT_EQ(hang->kind, HangKind::kPipeline);
  EXPECT_EQ(hang->unit, "CL");
  EXPECT_EQ(hang->address, 0x800040u);
  hang = ParsePlannedHang("1@64");
  ASSERT_TRUE(hang.ok()) << hang.status();
  EXPECT_EQ(hang->address, 64u);
}

TEST(PlannedHang, SaysWhatIsWrong) {
  for (const char* text :
       {"", "0", "-1", "x", "1x", "1:", ":shader", "1@", "1@x", "1@0x", "1@0x10000000000000000",
        "18446744073709551616", "1:not-started@0x1000"}) {
    const absl::StatusOr<PlannedHang> hang = ParsePlannedHang(text);
    EXPECT_TRUE(absl::IsInvalidArgument(hang.status())) << text;
    EXPECT_THAT(hang.status().message(), HasSubstr("N[:KIND][@ADDRESS]")) << text;
  }
}

TEST(PlannedHang, IsAtItsCommandAndWhatIsBeforeItIsExecuted) {
  Works works("skl");
  const Placed batch = works.Place(kBatch), data = works.Place(kData);
  const Work work = works.Batch(batch, {works.Store(kData, 7), works.Store(kData + 4, 8)});
  SimExecutor executor({.stop_at = {{work.number, kBatch + 16}}});
  std::string why;
  EXPECT_EQ(executor.Execute(work, why), Outcome::kHung);
  EXPECT_THAT(why, HasSubstr("as asked for; the next one is MI_STORE_DATA_IMM at 0x100010"));
  EXPECT_EQ(data.words()[0], 7u);
  EXPECT_EQ(data.words()[1], 0u);
  const PlannedHang plans[] = {
      {.submission = work.number, .kind = HangKind::kShader, .address = kBatch + 16}};
  const std::optional<HangPlace> place = PlannedPlace(plans, work, executor.PlaceOfHang(work));
  ASSERT_TRUE(place);
  EXPECT_EQ(place->address, kBatch + 16);
  EXPECT_EQ(place->header, 0x10000002u);
  EXPECT_EQ(place->kind, HangKind::kShader);
}

TEST(PlannedHang, ThatIsNotExecutedIsAtItsAddressOrTheBatch) {
  Works works("skl");
  const Placed batch = works.Place(kBatch);
  const Work work = works.Batch(batch, {});
  PlannedHang plan = {.submission = work.number};
  EXPECT_EQ(PlannedPlace({&plan, 1}, work, std::nullopt)->address, kBatch);
  plan.address = kBatch + 8;
  EXPECT_EQ(PlannedPlace({&plan, 1}, work, std::nullopt)->address, kBatch + 8);
  plan.submission = work.number + 1;
  EXPECT_FALSE(PlannedPlace({&plan, 1}, work, std::nullopt).has_value());
}

// What hung by itself before the command keeps its place and its cause.
TEST(PlannedHang, DoesNotReplaceTheCauseOfAnEarlierOne) {
  Works works("skl");
  const Placed batch = works.Place(kBatch);
  const Work work = works.Batch(batch, {works.Store(0x500000, 1), works.Store(kBatch + 0x800, 2)});
  std::vector<std::string> said;
  SimExecutor executor({.say = [&](absl::string_view line) { said.emplace_back(line); },
                        .stop_at = {{work.number, kBatch + 16}}});
  std::string why;
  EXPECT_EQ(executor.Execute(work, why), Outcome::kHung);
  EXPECT_THAT(why, HasSubstr("writes 0x500000, which is not mapped"));
  const PlannedHang plans[] = {{.submission = work.number,
                                .kind = HangKind::kPipeline,
                                .unit = "CL",
                                .address = kBatch + 16}};
  const std::optional<HangPlace> place = PlannedPlace(plans, work, executor.PlaceOfHang(work));
  ASSERT_TRUE(place);
  EXPECT_EQ(place->address, kBatch);
  EXPECT_EQ(place->unmapped, 0x500000u);
  EXPECT_EQ(place->kind, HangKind::kCommand);
  EXPECT_EQ(place->unit, "");
  EXPECT_THAT(said, Contains(HasSubstr("does not hang as asked for: its batch does not reach "
                                       "0x100010")));
}

TEST(PlannedHang, ThatIsReachedIsNotSaidToBeMissed) {
  Works works("skl");
  const Placed batch = works.Place(kBatch), data = works.Place(kData);
  const Work work = works.Batch(batch, {works.Store(kData, 7), works.Store(kData + 4, 8)});
  std::vector<std::string> said;
  SimExecutor executor({.say = [&](absl::string_view line) { said.emplace_back(line); },
                        .stop_at = {{work.number, kBatch + 16}}});
  std::string why;
  EXPECT_EQ(executor.Execute(work, why), Outcome::kHung);
  EXPECT_THAT(said, Not(Contains(HasSubstr("does not hang as asked for"))));
}

// A batch that the command never comes up in ends well.
TEST(PlannedHang, AtACommandThatIsNotReachedIsNone) {
  Works works("skl");
  const Placed batch = works.Place(kBatch), data = works.Place(kData);
  const Work work = works.Batch(batch, {works.Store(kData, 7)});
  std::vector<std::string> said;
  SimExecutor executor({.say = [&](absl::string_view line) { said.emplace_back(line); },
                        .stop_at = {{work.number, kBatch + 0x100}}});
  std::string why;
  EXPECT_EQ(executor.Execute(work, why), Outcome::kDone);
  EXPECT_THAT(said, Contains(HasSubstr("does not reach 0x100100")));
}

}  // namespace
}  // namespace packsmith::capture
