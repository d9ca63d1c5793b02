// Messages of the firmware in the memory of its channel, whole and damaged.

#include "runtime/guc/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "packsmith/guc.h"
#include "runtime/guc/channel.h"
#include "runtime/guc/log.h"

namespace packsmith::guc {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr uint32_t kEvent = GUC_HXG_TYPE::EVENT;
constexpr uint32_t kFast = GUC_HXG_TYPE::FAST_REQUEST;

size_t Put(Channel& channel, bool from_guc, size_t at, uint32_t type, uint32_t action,
           const std::vector<uint32_t>& payload) {
  EXPECT_TRUE(channel.Put(from_guc, at, type, action, payload));
  return at;
}

// The kernel's own constants: Linux, drivers/gpu/drm/xe/abi.
TEST(Messages, HaveTheNumbersOfTheInterface) {
  uint32_t word[1];
  EXPECT_FALSE((HXG_MESSAGE{.action = 0x1000, .type = 2}.pack(word)));
  EXPECT_EQ(word[0], 0x20001000u);
  EXPECT_FALSE((HXG_MESSAGE{.action = 0x1002, .type = 1, .from_guc = true}.pack(word)));
  EXPECT_EQ(word[0], 0x90001002u);
  EXPECT_FALSE((HXG_MESSAGE{.type = 7, .from_guc = true}.pack(word)));
  EXPECT_EQ(word[0], 0xf0000000u);
}

TEST(Messages, AreReadInOrderWithWhatIsPending) {
  Channel channel;
  size_t at = Put(channel, false, 0, kFast, GUC_ACTION::SCHED_CONTEXT, {3});
  const size_t head = at;
  at = Put(channel, false, at, kFast, GUC_ACTION::SCHED_CONTEXT_MODE_SET, {3, 0});
  EXPECT_TRUE(channel.Descriptor(false, head, at));
  at = Put(channel, true, 0, kEvent, GUC_ACTION::CONTEXT_RESET_NOTIFICATION, {3});
  at = Put(channel, true, at, kEvent, GUC_ACTION::NOTIFY_MEMORY_CAT_ERROR, {0xffffffff, 18});
  EXPECT_TRUE(channel.Descriptor(true, at, at));
  const std::vector<Message> messages = ReadMessages(channel.bytes());
  ASSERT_THAT(messages, SizeIs(4));
  EXPECT_TRUE(messages[0].Is(GUC_ACTION::SCHED_CONTEXT));
  EXPECT_FALSE(messages[0].pending);
  EXPECT_TRUE(messages[1].Is(GUC_ACTION::SCHED_CONTEXT_MODE_SET));
  EXPECT_TRUE(messages[1].pending);
  EXPECT_TRUE(messages[2].from_guc);
  EXPECT_EQ(messages[2].As<CONTEXT_RESET_NOTIFICATION>().guc_id, 3u);
  EXPECT_THAT(messages[3].payload, ElementsAre(0xffffffffu, 18u));
  EXPECT_EQ(InWords(messages[2]), "CONTEXT_RESET_NOTIFICATION: GuC ID 3");
  EXPECT_EQ(InWords(messages[3]), "NOTIFY_MEMORY_CAT_ERROR: GuC ID 0xffffffff, Error Type 18");
}

TEST(Messages, WrapInTheRingFromTheFirmware) {
  Channel channel;
  const size_t size = kChannel - kFromGuc;
  const size_t at =
      Put(channel, true, size - 2, kEvent, GUC_ACTION::SCHED_CONTEXT_MODE_DONE, {5, 1});
  EXPECT_TRUE(channel.Descriptor(true, at, at));
  const std::vector<Message> messages = ReadMessages(channel.bytes());
  ASSERT_THAT(messages, SizeIs(1));
  EXPECT_THAT(messages[0].payload, ElementsAre(5u, 1u));
}

TEST(Messages, ThatAreListedAreAllPending) {
  Channel channel;
  EXPECT_TRUE(channel.ToGuc(GUC_ACTION::SCHED_CONTEXT, {3}));
  EXPECT_TRUE(channel.ToGuc(GUC_ACTION::SCHED_CONTEXT_MODE_SET, {3, 0}));
  const std::vector<uint8_t> bytes = channel.bytes();
  const auto of_ring = [&](size_t size) {
    return ReadPendingMessages(absl::MakeSpan(bytes).subspan(kToGuc * 4, size), false);
  };
  const std::vector<Message> messages = of_ring(7 * 4);
  ASSERT_THAT(messages, SizeIs(2));
  EXPECT_TRUE(messages[1].Is(GUC_ACTION::SCHED_CONTEXT_MODE_SET));
  EXPECT_TRUE(messages[1].pending);
  EXPECT_EQ(messages[1].offset, 12u);
  EXPECT_THAT(of_ring(6 * 4), SizeIs(1)) << "the last one is cut off";
  EXPECT_THAT(of_ring(0), IsEmpty());
  EXPECT_THAT(ReadPendingMessages(absl::MakeSpan(bytes).subspan(kToGuc * 4, 28), true), IsEmpty())
      << "of the other direction";
}

TEST(Messages, WordsForFlagsAndValuesAreThoseOfTheDescription) {
  EXPECT_EQ(FlagsInWords("QUEUE_STATE", 0x203), "registered, enabled, banned");
  EXPECT_EQ(FlagsInWords("QUEUE_STATE", 0), "");
  EXPECT_EQ(FlagsInWords("NO_SUCH", 1), "");
  EXPECT_EQ(NameOfValue("WORK_QUEUE_DESCRIPTOR", "Status", 3), "command error");
  EXPECT_EQ(NameOfValue("WORK_QUEUE_DESCRIPTOR", "Status", 99), "");
  EXPECT_EQ(UnitName(3), "Command streamer");
  EXPECT_EQ(UnitName(0xee), "unit 0xee");
}

// The oldest message was overwritten from its start: its rest must not be taken for messages.
TEST(Messages, AreFoundBehindTheRestOfAnOverwrittenOne) {
  Channel channel;
  size_t at = 0;
  for (uint32_t i = 0; i < 8; ++i) {
    at = Put(channel, true, at, kEvent, GUC_ACTION::REPORT_PAGE_FAULT_REQ_DESC, {i, 0, 0, 0});
  }
  const size_t end = at;
  // The next lap has begun, with a message of another length.
  at = Put(channel, true, 0, kEvent, GUC_ACTION::CONTEXT_RESET_NOTIFICATION, {7});
  EXPECT_TRUE(channel.Descriptor(true, at, at));
  const std::vector<Message> messages = ReadMessages(channel.bytes());
  ASSERT_THAT(messages, SizeIs(8)) << "seven old ones and the new one";
  EXPECT_EQ(messages[0].payload[0], 1u);
  EXPECT_TRUE(messages[7].Is(GUC_ACTION::CONTEXT_RESET_NOTIFICATION));
  EXPECT_EQ(end % 6, 0u);
}

TEST(Messages, OfAPageFaultSayWhereWhoAndHow) {
  REPORT_PAGE_FAULT_REQ_DESC fault;
  fault.fault_level = 2;
  fault.source_unit = 0x20;
  fault.engine_class = 5;
  fault.asid = 77;
  fault.access = 1;
  fault.address = uint64_t{0x7ffff2345000};
  Channel channel;
  std::vector<uint32_t> payload(REPORT_PAGE_FAULT_REQ_DESC::length);
  ASSERT_FALSE(fault.pack(payload.data()));
  EXPECT_EQ(payload[3], 0x7fffu);
  EXPECT_EQ(payload[1] >> 12, 77u);
  const size_t at = Put(channel, true, 0, kEvent, GUC_ACTION::REPORT_PAGE_FAULT_REQ_DESC, payload);
  EXPECT_TRUE(channel.Descriptor(true, at, at));
  const std::vector<Message> messages = ReadMessages(channel.bytes());
  ASSERT_THAT(messages, SizeIs(1));
  EXPECT_THAT(InWords(messages[0]), HasSubstr("Source Unit Instruction cache"));
  EXPECT_THAT(InWords(messages[0]), HasSubstr("Engine Class COMPUTE"));
  EXPECT_THAT(InWords(messages[0]), HasSubstr("ASID 77"));
  EXPECT_THAT(InWords(messages[0]), HasSubstr("Access WRITE"));
  EXPECT_THAT(InWords(messages[0]), HasSubstr("Address 0x7ffff2345000"));
  EXPECT_EQ(UnitName(0x20), "Instruction cache");
  EXPECT_EQ(UnitName(0xee), "unit 0xee");
}

TEST(Messages, OfActionsThatAreNotKnownAreLeftOut) {
  Channel channel;
  size_t at = Put(channel, true, 0, kEvent, 0x7abc, {1, 2});
  at = Put(channel, true, at, kEvent, GUC_ACTION::CONTEXT_RESET_NOTIFICATION, {3});
  EXPECT_TRUE(channel.Descriptor(true, at, at));
  EXPECT_THAT(ReadMessages(channel.bytes()), SizeIs(1));
}

TEST(Messages, ThatAreDamagedNeverStopTheReader) {
  std::mt19937 random(1);
  Channel channel;
  size_t at = 0;
  for (uint32_t i = 0; i < 200; ++i) {
    at = Put(channel, true, at, kEvent, GUC_ACTION::CONTEXT_RESET_NOTIFICATION, {i});
  }
  EXPECT_TRUE(channel.Descriptor(true, at, at));
  EXPECT_THAT(ReadMessages(channel.bytes()), SizeIs(200));
  for (int round = 0; round < 200; ++round) {
    Channel damaged = channel;
    for (int i = 0; i < 50; ++i) {
      damaged.words()[kFromGuc + random() % 700] = static_cast<uint32_t>(random());
    }
    if (round % 3 == 0) damaged.words()[0x800 / 4 + random() % 3] = static_cast<uint32_t>(random());
    for (const Message& message : ReadMessages(damaged.bytes())) {
      EXPECT_LE(message.payload.size(), 254u);
      (void)InWords(message);
    }
  }
}

TEST(Messages, OfBytesThatAreNoChannelAreNone) {
  EXPECT_THAT(ReadMessages({}), IsEmpty());
  for (const size_t size : {1u, 63u, 0x7ffu, 0x800u, 0x83fu, 0x1000u, 0x1001u, 0x1fffu, 0x2003u}) {
    EXPECT_THAT(ReadMessages(std::vector<uint8_t>(size, 0xff)), IsEmpty()) << size;
    EXPECT_THAT(ReadMessages(std::vector<uint8_t>(size)), IsEmpty()) << size;
  }
}

TEST(Messages, WithValuesThatDoNotFitAreNotWritten) {
  Channel channel;
  ASSERT_TRUE(channel.FromGuc(GUC_ACTION::CONTEXT_RESET_NOTIFICATION, {3}));
  const std::vector<uint8_t> before = channel.bytes();
  EXPECT_FALSE(channel.FromGuc(0x10000, {3})) << "an action has 16 bits";
  EXPECT_FALSE(channel.ToGuc(GUC_ACTION::SCHED_CONTEXT, std::vector<uint32_t>(255)));
  size_t at = 2;
  EXPECT_FALSE(channel.Put(true, at, 8, GUC_ACTION::CONTEXT_RESET_NOTIFICATION, {3}));
  EXPECT_EQ(at, 2u);
  EXPECT_EQ(channel.bytes(), before);
  REPORT_PAGE_FAULT_REQ_DESC fault;
  fault.asid = 0xfffff;
  EXPECT_TRUE(Channel::Payload(fault).has_value());
  fault.asid = 0x100000;
  EXPECT_FALSE(Channel::Payload(fault).has_value());
}

TEST(Messages, MayBeMoreThanThereAreFences) {
  Channel channel;
  for (uint32_t i = 0; i < 70000; ++i) {
    ASSERT_TRUE(channel.FromGuc(GUC_ACTION::CONTEXT_RESET_NOTIFICATION, {i})) << i;
  }
  const std::vector<Message> messages = ReadMessages(channel.bytes());
  ASSERT_THAT(messages, Not(IsEmpty()));
  EXPECT_THAT(messages.back().payload, ElementsAre(69999u));
}

// --- The log ---

std::vector<uint8_t> MakeLog() {
  std::vector<uint32_t> words((4096 + 65536) / 4);
  LOG_BUFFER_STATE state;
  state.marker = 0xcabba9e6;
  state.section = 0xdeadfeed;
  state.read_pointer = 0x100;
  state.write_pointer = 0x240;
  state.section_size = 65536;
  state.times_full = 2;
  EXPECT_FALSE(state.pack(&words[0]));
  state.marker = 0xcabba9f7;
  state.section = 0xbeeffeed;
  state.section_size = 0x100000;
  EXPECT_FALSE(state.pack(&words[9]));
  EXPECT_FALSE(
      (LOG_CONSTANTS{.magic = 0x8086900d, .version = 0x10000, .dwords = 5}.pack(&words[18])));
  EXPECT_FALSE((LOG_CONSTANT{.words = 1, .key = 3}.pack(&words[21])));
  words[22] = 19200;
  EXPECT_FALSE((LOG_CONSTANT{.words = 2, .key = 99}.pack(&words[23])));
  words[24] = 7;
  words[25] = 8;
  std::vector<uint8_t> bytes(words.size() * 4);
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

TEST(Log, HasSectionsByTheirMarkersAndConstants) {
  const Log log = ReadLog(MakeLog());
  ASSERT_THAT(log.sections, SizeIs(2));
  EXPECT_EQ(log.sections[0].name, "events");
  EXPECT_EQ(log.sections[0].offset, 4096u);
  EXPECT_EQ(log.sections[0].write, 0x240u);
  EXPECT_EQ(log.sections[0].times_full, 2u);
  EXPECT_EQ(log.sections[1].name, "state capture");
  EXPECT_EQ(log.sections[1].size, 0u) << "the log is cut off there";
  ASSERT_THAT(log.constants, SizeIs(2));
  EXPECT_EQ(log.constants[0].name, "TIMESTAMP_KHZ");
  EXPECT_THAT(log.constants[0].words, ElementsAre(19200u));
  EXPECT_EQ(log.constants[1].name, "key 0x63");
}

TEST(Log, ThatIsDescribedHasBlocks) {
  std::vector<uint32_t> words(LFD_HEADER::length);
  EXPECT_FALSE(
      (LFD_HEADER{.magic_low = 0x474c5346, .magic_high = 0x8086aaaa, .major_version = 1}.pack(
          words.data())));
  const auto add = [&](uint32_t type, const std::vector<uint32_t>& data, uint32_t dwords) {
    words.resize(words.size() + LFD_BLOCK::length);
    EXPECT_FALSE((LFD_BLOCK{.tag = 0x8086, .type = type, .dwords = dwords}.pack(
        &words[words.size() - LFD_BLOCK::length])));
    words.insert(words.end(), data.begin(), data.end());
  };
  add(3, {19200}, 1);
  add(0x9999, {1, 2}, 2);
  add(0x2000, {1, 2, 3}, 8);  // cut off
  std::vector<uint8_t> bytes(words.size() * 4);
  std::memcpy(bytes.data(), words.data(), bytes.size());
  EXPECT_EQ(bytes[0], 'F');
  const Log log = ReadLog(bytes);
  ASSERT_THAT(log.constants, SizeIs(2));
  EXPECT_EQ(log.constants[0].name, "TIMESTAMP_KHZ");
  EXPECT_THAT(log.constants[0].words, ElementsAre(19200u));
  EXPECT_EQ(log.constants[1].name, "type 0x9999");
  ASSERT_THAT(log.sections, SizeIs(1));
  EXPECT_EQ(log.sections[0].name, "EVENTS");
  EXPECT_EQ(log.sections[0].size, 12u);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_LE(ReadLog(absl::MakeSpan(bytes).subspan(0, size)).constants.size(), 2u);
  }
}

TEST(Log, ThatIsCutOrDamagedIsReadAsFarAsItGoes) {
  const std::vector<uint8_t> whole = MakeLog();
  for (size_t size = 0; size < 200; ++size) {
    const Log log = ReadLog(absl::MakeSpan(whole).subspan(0, size));
    EXPECT_LE(log.sections.size(), 2u);
  }
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    std::vector<uint8_t> damaged = whole;
    for (int i = 0; i < 8; ++i) damaged[random() % 128] = static_cast<uint8_t>(random());
    EXPECT_LE(ReadLog(damaged).constants.size(), kMostLogConstants);
  }
}

}  // namespace
}  // namespace packsmith::guc
