#include "runtime/capture/execute/submission_checks.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/capture/execute/works.h"

namespace packsmith::capture {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kBatch = 0x100000, kData = 0x200000;

class SubmissionChecksTest : public ::testing::Test {
 protected:
  void Submit(const Work& work) { checks_.OnSubmit(std::make_shared<Work>(work)); }
  void Submit(const std::vector<std::vector<uint32_t>>& packets) {
    Submit(works_.Batch(batch_, packets));
  }
  std::vector<uint32_t> StreamOutput(uint64_t address, uint32_t dwords) const {
    return sim::Packet(works_.tables(), "3DSTATE_SO_BUFFER",
                       {{"SO Buffer Enable", 1},
                        {"MOCS", 4},
                        {"Surface Base Address", address},
                        {"Surface Size", dwords - 1}});
  }

  Works works_{"skl"};
  Placed batch_ = works_.Place(kBatch);
  std::vector<std::string> lines_;
  SubmissionChecks checks_{
      [this](const Work&, absl::string_view line) { lines_.emplace_back(line); }};
};

TEST_F(SubmissionChecksTest, GoodSubmissionsHaveNoWarnings) {
  works_.Place(kData);
  Submit({works_.Store(kData, 1), works_.Copy(kData, kData + 8), StreamOutput(kData, 1024)});
  EXPECT_THAT(lines_, IsEmpty());
  EXPECT_EQ(checks_.warnings(), 0u);
}

TEST_F(SubmissionChecksTest, PointersToWhatIsNotMappedAreWarnedOfOnce) {
  Submit({works_.Store(0x500000, 1)});
  Submit({works_.LoadRegister(0x2600, 1), works_.Store(0x500000, 1)});
  EXPECT_THAT(lines_, ElementsAre("submission 1 (test[42], render): MI_STORE_DATA_IMM at 0x100000 "
                                  "points to 0x500000, which is not mapped"));
  // Another place.
  Submit({works_.Store(0x600000, 1)});
  EXPECT_THAT(lines_.back(), AllOf(HasSubstr("submission 3 "), HasSubstr("0x600000")));
  // Another context.
  Work work = works_.Make(kBatch);
  work.context = 2;
  Submit(work);
  EXPECT_EQ(checks_.warnings(), 3u);
}

TEST_F(SubmissionChecksTest, WhatWasMappedThereIsNamed) {
  works_.Place(kData, 8192, "vertices");
  Submit({works_.Store(kData, 1)});
  Submit({works_.Store(kData, 1)});
  works_.map().Unmap(kData, 8192);
  Submit({works_.Store(kData + 4096, 1)});
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("which is not mapped; it was vertices in "
                                            "submission 2")));
}

TEST_F(SubmissionChecksTest, NullStateAndUnknownBasesAreNotWarnedOf) {
  Submit({sim::Packet(works_.tables(), "3DSTATE_CC_STATE_POINTERS",
                      {{"Color Calc State Pointer", 64}, {"Color Calc State Pointer Valid", 1}})});
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(SubmissionChecksTest, StateOfEarlierSubmissionsCounts) {
  works_.Place(kData);
  Submit({sim::Packet(
      works_.tables(), "STATE_BASE_ADDRESS",
      {{"Dynamic State Base Address", kData}, {"Dynamic State Base Address Modify Enable", 1}})});
  const std::vector<uint32_t> pointer =
      sim::Packet(works_.tables(), "3DSTATE_CC_STATE_POINTERS",
                  {{"Color Calc State Pointer", 0x2000}, {"Color Calc State Pointer Valid", 1}});
  Submit({pointer});
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("points to 0x202000, which is not mapped")));
}

TEST_F(SubmissionChecksTest, WhatMayBeWrittenBeyondABuffersEndIsWarnedOf) {
  works_.Place(kData, 4096, "target");
  works_.Place(kData + 4096, 4096, "next");
  Submit({StreamOutput(kData + 64, 1024)});
  EXPECT_THAT(lines_, ElementsAre(HasSubstr(
                          "Surface Base Address of 3DSTATE_SO_BUFFER at 0x100000: 0x1000 bytes at "
                          "0x200040 may be written, and target ends after 0xfc0")));
}

TEST_F(SubmissionChecksTest, BuffersOfSeveralPiecesHaveNoEndBetweenThem) {
  const std::shared_ptr<Object> one = works_.MakeObject(8192), two = works_.MakeObject(8192);
  works_.map().Map({.address = kData, .size = 4096, .object = one});
  works_.map().Map({.address = kData + 4096, .size = 4096, .object = one, .offset = 4096});
  works_.map().Map({.address = kData + 8192, .size = 4096, .object = two, .offset = 4096});
  Submit({StreamOutput(kData, 1024 * 3)});
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(SubmissionChecksTest, BatchesThatDoNotEndAreWarnedOf) {
  Submit(works_.Make(kBatch + 4092));
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("submission 1 ")));
  Submit(works_.Make(0x700000));
  EXPECT_EQ(lines_.size(), 2u);
  EXPECT_THAT(lines_[1], HasSubstr("0x700000"));
}

TEST_F(SubmissionChecksTest, UnknownPacketsAreWarnedOf) {
  Submit(works_.Batch(batch_, {{0xe0000000}}));
  ASSERT_FALSE(lines_.empty());
  EXPECT_THAT(lines_[0], HasSubstr("1 dwords at 0x100000 are not of a packet that is described"));
}

TEST_F(SubmissionChecksTest, LinesCannotControlATerminal) {
  Work work = works_.Batch(batch_, {works_.Store(0x500000, 1)});
  work.process = "a\x1b[2J\n";
  Submit(work);
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_EQ(lines_[0].find_first_of("\x1b\n"), std::string::npos);
}

TEST_F(SubmissionChecksTest, WarningsAreBounded) {
  for (uint32_t i = 0; i < 5000; ++i) Submit({works_.Store(0x50000000 + uint64_t{i} * 4096, 1)});
  EXPECT_EQ(checks_.warnings(), 4096u);
}

TEST_F(SubmissionChecksTest, DevicesWithoutADescriptionAreLeftAlone) {
  Work work = works_.Make(kBatch);
  work.device = nullptr;
  Submit(work);
  EXPECT_THAT(lines_, IsEmpty());
}

}  // namespace
}  // namespace packsmith::capture
