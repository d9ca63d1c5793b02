// What the firmware's messages in a dump say: which of them count as evidence, and which do not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "packsmith/guc.h"
#include "packsmith/guc_codes.h"
#include "runtime/generations/generations.h"
#include "runtime/guc/channel.h"
#include "runtime/hang/report.h"
#include "runtime/hang/report_text.h"

namespace packsmith::hang {
namespace {

using guc::Channel;
using guc::GUC_ACTION;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr uint32_t kQueue = 3, kOther = 9;

const tables::Tables& Gfx125() {
  static const tables::Tables* const kTables = new tables::Tables(*FindGeneration("gfx125"));
  return *kTables;
}

class Given : public DeferredBytes {
 public:
  explicit Given(std::vector<uint8_t> bytes) : bytes_(std::move(bytes)) {}

 protected:
  absl::Span<const uint8_t> Make() override { return bytes_; }

 private:
  const std::vector<uint8_t> bytes_;
};

// A dump of one queue with nothing but messages.
Dump DumpOf(const Channel& channel) {
  auto state = std::make_shared<ErrorState>();
  state->kind = "xe devcoredump";
  state->contexts.emplace_back().id = std::to_string(kQueue);
  state->blobs.push_back({"CTB", std::make_shared<Given>(channel.bytes())});
  Dump dump;
  dump.device.family = "intel";
  dump.device.uapi = "xe";
  dump.error_state = std::move(state);
  return dump;
}
HangReport ReportOf(const Channel& channel) { return MakeHangReport(Gfx125(), DumpOf(channel)); }

guc::REPORT_PAGE_FAULT_REQ_DESC Fault(uint64_t page, uint32_t asid = 42, uint32_t data = 0x123) {
  guc::REPORT_PAGE_FAULT_REQ_DESC fault;
  fault.asid = asid;
  fault.address = page << 12;
  fault.process_data_low = data & 0xf;
  fault.process_data_high = data >> 4;
  return fault;
}
guc::PAGE_FAULT_RES_DESC Answer(bool failed, uint32_t asid = 42, uint32_t data = 0x123) {
  guc::PAGE_FAULT_RES_DESC answer;
  answer.valid = true;
  answer.failed = failed;
  answer.asid = asid;
  answer.process_data = data;
  return answer;
}

std::vector<uint64_t> FaultsOf(const Channel& channel) {
  std::vector<uint64_t> pages;
  for (const Event& event : ReportOf(channel).events) {
    if (event.kind == EventKind::kPageFault) pages.push_back(*event.address >> 12);
  }
  return pages;
}

void Put(Channel& channel, const guc::REPORT_PAGE_FAULT_REQ_DESC& fault) {
  const std::optional<std::vector<uint32_t>> payload = Channel::Payload(fault);
  ASSERT_TRUE(payload);
  ASSERT_TRUE(channel.FromGuc(GUC_ACTION::REPORT_PAGE_FAULT_REQ_DESC, *payload));
}
void Put(Channel& channel, const guc::PAGE_FAULT_RES_DESC& answer) {
  const std::optional<std::vector<uint32_t>> payload = Channel::Payload(answer);
  ASSERT_TRUE(payload);
  ASSERT_TRUE(channel.ToGuc(GUC_ACTION::PAGE_FAULT_RES_DESC, *payload));
}

TEST(FirmwareEvents, FaultsThatWereServedAreNoneAlthoughAnotherOfTheSpaceFailed) {
  Channel channel;
  Put(channel, Fault(1));
  Put(channel, Answer(false));
  Put(channel, Fault(2));
  Put(channel, Answer(true));
  Put(channel, Fault(3));
  Put(channel, Answer(false));
  EXPECT_THAT(FaultsOf(channel), ElementsAre(2u));
}

TEST(FirmwareEvents, AnAnswerBelongsToTheFaultOfItsSpaceAndData) {
  Channel channel;
  Put(channel, Fault(1, 42, 1));
  Put(channel, Fault(2, 42, 2));
  Put(channel, Fault(3, 43, 1));
  Put(channel, Answer(false, 42, 2));
  Put(channel, Answer(true, 42, 1));
  EXPECT_THAT(FaultsOf(channel), ElementsAre(1u, 3u)) << "the last one was not answered";
}

// Of a long run both rings have only the end.
TEST(FirmwareEvents, TheLastAnswersBelongToTheLastFaults) {
  Channel channel;
  Put(channel, Fault(1));
  Put(channel, Fault(2));
  Put(channel, Answer(false));
  EXPECT_THAT(FaultsOf(channel), ElementsAre(1u)) << "its answer was overwritten";
}

TEST(FirmwareEvents, APrefetchIsNotBlamed) {
  Channel channel;
  guc::REPORT_PAGE_FAULT_REQ_DESC fault = Fault(1);
  fault.prefetch = true;
  Put(channel, fault);
  EXPECT_THAT(FaultsOf(channel), IsEmpty());
  EXPECT_THAT(ReportOf(channel).verdicts, IsEmpty());
}

TEST(FirmwareEvents, AStopThatIsNotAnsweredIsAPreemptionThatTimedOut) {
  Channel channel;
  EXPECT_TRUE(channel.ToGuc(GUC_ACTION::SCHED_CONTEXT_MODE_SET, {kQueue, 1}));
  EXPECT_TRUE(channel.FromGuc(GUC_ACTION::SCHED_CONTEXT_MODE_DONE, {kQueue, 1}));
  EXPECT_TRUE(channel.ToGuc(GUC_ACTION::SCHED_CONTEXT_MODE_SET, {kQueue, 0}));
  const HangReport report = ReportOf(channel);
  ASSERT_THAT(report.verdicts, SizeIs(1));
  EXPECT_EQ(report.verdicts[0].kind, VerdictKind::kPreemptionTimeout);
  EXPECT_EQ(report.verdicts[0].confidence, Confidence::kMedium);
  EXPECT_THAT(report.verdicts[0].evidence, Contains(HasSubstr("SCHED_CONTEXT_MODE_SET: GuC ID 3")));
  EXPECT_THAT(report.verdicts[0].evidence, Contains(HasSubstr("has not answered")));
}

TEST(FirmwareEvents, AStopThatIsAnsweredOrOfAnotherQueueOrNotReadYetIsNone) {
  Channel answered;
  EXPECT_TRUE(answered.ToGuc(GUC_ACTION::SCHED_CONTEXT_MODE_SET, {kQueue, 0}));
  EXPECT_TRUE(answered.FromGuc(GUC_ACTION::SCHED_CONTEXT_MODE_DONE, {kQueue, 0}));
  EXPECT_THAT(ReportOf(answered).verdicts, IsEmpty());
  Channel enabled;
  EXPECT_TRUE(enabled.ToGuc(GUC_ACTION::SCHED_CONTEXT_MODE_SET, {kQueue, 0}));
  EXPECT_TRUE(enabled.ToGuc(GUC_ACTION::SCHED_CONTEXT_MODE_SET, {kQueue, 1}));
  EXPECT_THAT(ReportOf(enabled).verdicts, IsEmpty());
  Channel other;
  EXPECT_TRUE(other.ToGuc(GUC_ACTION::SCHED_CONTEXT_MODE_SET, {kOther, 0}));
  EXPECT_THAT(ReportOf(other).verdicts, IsEmpty());
  Channel unread;
  size_t end = 0;
  EXPECT_TRUE(unread.Put(false, end, guc::GUC_HXG_TYPE::FAST_REQUEST,
                         GUC_ACTION::SCHED_CONTEXT_MODE_SET, {kQueue, 0}));
  EXPECT_TRUE(unread.Descriptor(false, 0, end));
  EXPECT_THAT(ReportOf(unread).verdicts, IsEmpty());
}

// --- What makes a dump doubtful ---

std::vector<std::string> WarningsOf(Dump dump, std::vector<Event> events = {}) {
  return MakeHangReport(Gfx125(), dump, events).warnings;
}
// Fills the engine of a dump.
Dump WithRegisters(std::vector<ErrorRegister> registers, std::optional<uint64_t> image = {}) {
  Dump dump = DumpOf(Channel());
  auto state = std::make_shared<ErrorState>(*dump.error_state);
  state->contexts[0].image = image;
  ErrorEngine& engine = state->engines.emplace_back();
  engine.name = "rcs0";
  engine.hung = true;
  engine.registers = std::move(registers);
  dump.error_state = std::move(state);
  return dump;
}

TEST(Warnings, OfRegistersOfAnotherContext) {
  const auto warnings = [](uint64_t loaded) {
    return WarningsOf(WithRegisters({{"CURRENT_LRCA", loaded, false, {}}}, 0x506000));
  };
  EXPECT_THAT(warnings(0x506001), IsEmpty());
  EXPECT_THAT(warnings(0), IsEmpty()) << "none is loaded";
  EXPECT_THAT(warnings(0x706001),
              ElementsAre(HasSubstr("CURRENT_LRCA of rcs0 is 0x706000, which is not the context")));
}

TEST(Warnings, OfRegistersWithoutValues) {
  const std::vector<ErrorRegister> ones = {{"ACTHD", 0xffffffff, false, {}},
                                           {"IPEHR", 0xffffffff, false, {}}};
  EXPECT_THAT(WarningsOf(WithRegisters(ones)), Contains(HasSubstr("had no power")));
  EXPECT_THAT(WarningsOf(WithRegisters({ones[0], {"IPEHR", 0, false, {}}})), IsEmpty());
  EXPECT_THAT(WarningsOf(WithRegisters(
                  {{"ACTHD", 0x1000, false, {}}, {"RING_START", 0xdeadf00d, false, {}}})),
              ElementsAre(HasSubstr("RING_START of rcs0 is 0xdeadf00d")));
}

TEST(Warnings, OfFirmwareThatFailed) {
  Channel channel;
  EXPECT_TRUE(channel.FromGuc(GUC_ACTION::NOTIFY_EXCEPTION, {}));
  EXPECT_THAT(WarningsOf(DumpOf(channel)),
              ElementsAre(HasSubstr("The firmware itself failed. GuC message at 0x2000")));
}

TEST(Warnings, OfAScratchPage) {
  Dump dump = DumpOf(Channel());
  dump.vm_flags = 3;
  EXPECT_THAT(WarningsOf(std::move(dump)), ElementsAre(HasSubstr("scratch page")));
  Dump without = DumpOf(Channel());
  without.vm_flags = 2;
  EXPECT_THAT(WarningsOf(std::move(without)), IsEmpty());
}

TEST(Warnings, OfALogOfSeveralGpus) {
  Event one, other;
  one.kind = other.kind = EventKind::kTimeout;
  one.device = "0000:03:00.0";
  other.device = "0000:83:00.0";
  EXPECT_THAT(WarningsOf(DumpOf(Channel()), {one, one}), IsEmpty());
  EXPECT_THAT(WarningsOf(DumpOf(Channel()), {one, other}),
              ElementsAre(testing::AllOf(HasSubstr("0000:03:00.0, 0000:83:00.0"),
                                         HasSubstr("--device=ADDRESS"))));
}

// --- The kernel's log in the report ---

TEST(ReportText, ShowsTheLogsLinesThatCount) {
  std::vector<Event> events(25);
  for (size_t i = 0; i < events.size(); ++i) {
    events[i].source = "kernel log, line " + std::to_string(i + 1);
    events[i].text = "Engine reset: engine_class=ccs";
  }
  Channel channel;
  EXPECT_TRUE(channel.FromGuc(GUC_ACTION::CONTEXT_RESET_NOTIFICATION, {kQueue}));
  const std::string text = ToText(Gfx125(), MakeHangReport(Gfx125(), DumpOf(channel), events));
  EXPECT_THAT(text, HasSubstr("\n  log       5 lines before\n"
                              "  log       kernel log, line 6: Engine reset: engine_class=ccs\n"));
  EXPECT_THAT(text, HasSubstr("\n  log       kernel log, line 25: Engine reset"));
  EXPECT_THAT(text, Not(HasSubstr("log       GuC message")));
}

}  // namespace
}  // namespace packsmith::hang
