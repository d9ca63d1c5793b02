// Lines of kernel logs, as i915 and xe write them.

#include "runtime/hang/kernel_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace packsmith::hang {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<EventKind> KindsOf(absl::string_view text) {
  std::vector<EventKind> kinds;
  for (const Event& event : ReadKernelLog(text)) kinds.push_back(event.kind);
  return kinds;
}

TEST(KernelLog, OfXeIsRead) {
  const std::vector<Event> events = ReadKernelLog(
      "[  812.100000] usb 1-1: new device\n"
      "[  812.345678] xe 0000:03:00.0: [drm] Tile0: GT0: Engine reset: engine_class=ccs, "
      "logical_mask: 0x1, guc_id=9, state=0x3\n"
      "[  812.345700] xe 0000:03:00.0: [drm] Tile0: GT0: Engine memory CAT error [18]: class=rcs, "
      "logical_mask: 0x1, guc_id=3\n"
      "[  812.400000] xe 0000:03:00.0: [drm] Tile0: GT0: Timedout job: seqno=7, lrc_seqno=7, "
      "guc_id=3, flags=0x0 in python3 [4242]\n"
      "[  812.500000] xe 0000:03:00.0: [drm] Xe device coredump has been created\n");
  ASSERT_THAT(events, SizeIs(4));
  EXPECT_EQ(events[0].kind, EventKind::kReset);
  EXPECT_EQ(events[0].queue, 9u);
  EXPECT_EQ(events[0].engine, "ccs");
  EXPECT_EQ(events[0].seconds, 812.345678);
  EXPECT_EQ(events[0].source, "kernel log, line 2");
  EXPECT_EQ(events[1].kind, EventKind::kCatError);
  EXPECT_EQ(events[1].queue, 3u);
  EXPECT_EQ(events[2].kind, EventKind::kTimeout);
  EXPECT_EQ(events[3].kind, EventKind::kSaved);
  EXPECT_EQ(events[1].text.substr(0, 23), "Engine memory CAT error");
}

// One message of several lines, of which all but the first have no prefix.
TEST(KernelLog, JoinsTheLinesOfAPageFault) {
  const std::vector<Event> events = ReadKernelLog(
      "[  812.3] xe 0000:03:00.0: [drm] Tile0: GT0: \n"
      "\tASID: 42\n\tFaulted Address: 0x0000ffffdead0000\n\tFaultType: 0\n\tAccessType: 1\n"
      "\tFaultLevel: 4\n\tEngineClass: 5 ccs\n\tEngineInstance: 0\n"
      "[  812.3] xe 0000:03:00.0: [drm] Tile0: GT0: Fault response: Unsuccessful -EINVAL\n"
      "\tASID: 43\n\tFaulted Address: 0x1000\n");
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[0].kind, EventKind::kPageFault);
  EXPECT_EQ(events[0].asid, 42u);
  EXPECT_EQ(events[0].address, 0xffffdead0000u);
  EXPECT_EQ(events[0].access, "write");
  EXPECT_EQ(events[0].engine, "ccs");
  EXPECT_EQ(events[0].text, "page fault at 0xffffdead0000, write, ASID 42, ccs");
  EXPECT_EQ(events[1].address, 0x1000u);
}

TEST(KernelLog, OfI915IsRead) {
  EXPECT_THAT(KindsOf("[ 1.5] i915 0000:00:02.0: [drm] Resetting rcs0 for preemption time out\n"
                      "i915 0000:00:02.0: [drm] Resetting rcs0 for CS error\n"
                      "i915 0000:00:02.0: [drm] Resetting chip for stopped heartbeat on rcs0\n"
                      "i915 0000:00:02.0: [drm] chrome[12] context reset due to GPU hang\n"
                      "Got hung context on rcs0 with active request 1:2 [0x5] not yet started\n"
                      "[drm] GPU error state saved to /sys/class/drm/card0/error\n"),
              ElementsAre(EventKind::kPreemption, EventKind::kRefused, EventKind::kReset,
                          EventKind::kReset, EventKind::kNotStarted, EventKind::kSaved));
  const std::vector<Event> events =
      ReadKernelLog("i915 0000:00:02.0: [drm] Resetting vcs1 for stopped heartbeat on vcs1\n");
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].engine, "vcs1");
  EXPECT_EQ(events[0].why, "stopped heartbeat on vcs1");
}

// Its lines have neither time nor device: those of the line before count.
TEST(KernelLog, APageFaultHasTheTimeAndTheDeviceOfItsFirstLine) {
  const std::vector<Event> events = ReadKernelLog(
      "[  700.5] xe 0000:03:00.0: [drm] Tile0: GT0: \n\tASID: 42\n\tFaulted Address: 0x1000\n"
      "[  812.0] xe 0000:83:00.1: [drm] Tile0: GT0: \n\tASID: 43\n\tFaulted Address: 0x2000\n");
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[0].seconds, 700.5);
  EXPECT_EQ(events[0].device, "0000:03:00.0");
  EXPECT_EQ(events[1].seconds, 812.0);
  EXPECT_EQ(events[1].device, "0000:83:00.1");
  Dump dump;
  auto state = std::make_shared<ErrorState>();
  state->facts = {{"", "Uptime", "812.5", 0}};
  dump.error_state = state;
  ASSERT_THAT(EventsNear(dump, events), SizeIs(1));
  EXPECT_EQ(EventsNear(dump, events)[0].address, 0x2000u);
}

std::vector<std::optional<uint32_t>> QueuesNear(const std::string& log,
                                                absl::string_view device = "") {
  std::vector<std::optional<uint32_t>> queues;
  for (const Event& event : EventsNear(Dump(), ReadKernelLog(log), device)) {
    if (event.queue) queues.push_back(event.queue);
  }
  return queues;
}

TEST(KernelLog, OfOtherDevicesIsLeftOut) {
  const std::string resets =
      "[ 1.0] xe 0000:03:00.0: [drm] Engine reset: engine_class=ccs, guc_id=1\n"
      "[ 1.0] xe 0000:83:00.0: [drm] Engine reset: engine_class=ccs, guc_id=2\n"
      "Engine reset: engine_class=ccs, guc_id=3\n";
  EXPECT_THAT(QueuesNear(resets), ElementsAre(1u, 2u, 3u)) << "which is not said";
  EXPECT_THAT(QueuesNear(resets, "0000:83:00.0"), ElementsAre(2u, 3u));
  EXPECT_THAT(QueuesNear(resets, "83:00.0"), ElementsAre(2u, 3u));
  EXPECT_THAT(QueuesNear(resets, "0000:04:00.0"), ElementsAre(3u));
  const std::string saved = "[ 1.1] xe 0000:03:00.0: [drm] Xe device coredump has been created\n";
  EXPECT_THAT(QueuesNear(resets + saved), ElementsAre(1u, 3u)) << "the dump is of that one";
  EXPECT_THAT(QueuesNear(resets + saved, "83:00.0"), ElementsAre(2u, 3u));
  const std::string both =
      saved + "[ 1.1] xe 0000:83:00.0: [drm] Xe device coredump has been created\n";
  EXPECT_THAT(QueuesNear(resets + both), ElementsAre(1u, 2u, 3u));
}

TEST(KernelLog, OfOtherTimesIsLeftOut) {
  Dump dump;
  auto state = std::make_shared<ErrorState>();
  state->facts = {{"", "Uptime", "812.500000000", 0}};
  dump.error_state = state;
  const std::vector<Event> events = ReadKernelLog(
      "[  700.0] xe 0000:03:00.0: [drm] Engine reset: engine_class=ccs, guc_id=1\n"
      "[  812.0] xe 0000:03:00.0: [drm] Engine reset: engine_class=ccs, guc_id=2\n"
      "xe 0000:03:00.0: [drm] Engine reset: engine_class=ccs, guc_id=3\n"
      "[  900.0] xe 0000:03:00.0: [drm] Engine reset: engine_class=ccs, guc_id=4\n");
  ASSERT_THAT(events, SizeIs(4));
  const std::vector<Event> near = EventsNear(dump, events);
  ASSERT_THAT(near, SizeIs(2));
  EXPECT_EQ(near[0].queue, 2u);
  EXPECT_EQ(near[1].queue, 3u);
  state->facts.clear();
  EXPECT_THAT(EventsNear(dump, events), SizeIs(4)) << "the dump does not say when it was taken";
}

TEST(KernelLog, OfAnyBytesIsRead) {
  EXPECT_THAT(ReadKernelLog(""), IsEmpty());
  EXPECT_THAT(ReadKernelLog("\n\n\n"), IsEmpty());
  std::mt19937 random(3);
  const std::string line =
      "[  812.3] xe 0000:03:00.0: [drm] Tile0: GT0: Engine reset: engine_class=ccs, guc_id=9\n"
      "\tASID: 42\n\tFaulted Address: 0x0000ffffdead0000\n\tAccessType: 1\n";
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = line;
    for (int i = 0; i < 6; ++i) damaged[random() % damaged.size()] = static_cast<char>(random());
    EXPECT_LE(ReadKernelLog(damaged).size(), 8u);
  }
  std::string many;
  for (size_t i = 0; i < kMostKernelEvents + 10; ++i) many += "Timedout job: guc_id=1\n";
  EXPECT_THAT(ReadKernelLog(many), SizeIs(kMostKernelEvents));
}

}  // namespace
}  // namespace packsmith::hang
