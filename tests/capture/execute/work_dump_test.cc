#include "runtime/capture/execute/work_dump.h"

#include <sys/stat.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/dump/memory.h"
#include "tests/capture/execute/works.h"

namespace packsmith::capture {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint64_t kBatch = 0x100000, kData = 0x200000;

std::optional<uint32_t> Read32(const Dump& dump, uint64_t address, uint32_t space = 0) {
  uint32_t value = 0;
  uint8_t bytes[4] = {};
  if (dump.memory.Copy(space, address, absl::MakeSpan(bytes)) != 4) return std::nullopt;
  std::memcpy(&value, bytes, 4);
  return value;
}

// Memory of a process: `mapped` bytes from address 0x10000 on.
class ProcessBytes : public UserMemory {
 public:
  explicit ProcessBytes(size_t mapped) : bytes(mapped) {}
  bool Read(uint64_t address, absl::Span<uint8_t> out) const override {
    if (address < 0x10000 || address - 0x10000 + out.size() > bytes.size()) return false;
    std::memcpy(out.data(), bytes.data() + (address - 0x10000), out.size());
    return true;
  }
  bool Write(uint64_t, absl::Span<const uint8_t>) const override { return false; }
  std::vector<uint8_t> bytes;
};

TEST(WorkDump, SaysWhatWasSubmittedToWhom) {
  Works works("tgl");
  works.Place(kBatch);
  Work work = works.Make(kBatch, "copy");
  work.number = 17;
  work.context = 5;
  work.engine_instance = 2;
  work.streams[0].length = 256;
  work.bases.push_back({"Base", 0x5000});
  const WorkDump made = DumpOf(work);
  const Device& device = made.dump.device;
  EXPECT_EQ(device.family, "intel");
  EXPECT_EQ(device.generation, "gfx12");
  EXPECT_EQ(device.platform, "tgl");
  EXPECT_EQ(device.uapi, "i915");
  EXPECT_EQ(device.verx10, 120);
  ASSERT_THAT(made.dump.submissions, SizeIs(1));
  const Submission& submission = made.dump.submissions[0];
  EXPECT_EQ(submission.index, 17u);
  EXPECT_EQ(submission.engine, "blitter");  // as the description calls it
  EXPECT_EQ(submission.context, 5u);
  EXPECT_EQ(submission.slot, 33u);
  EXPECT_EQ(submission.space, 0u);
  EXPECT_EQ(submission.batch_address, kBatch);
  EXPECT_EQ(submission.batch_length, 256u);
  EXPECT_THAT(submission.bases, ElementsAre(Submission::Base{"Base", 0x5000}));
  EXPECT_TRUE(made.dump.memory_is_complete);
  EXPECT_THAT(made.dump.problems, IsEmpty());
}

TEST(WorkDump, MemoryIsLiveAndLivesAsLongAsTheDump) {
  WorkDump made;
  uint32_t* words = nullptr;
  {
    Works works("skl");
    const Placed data = works.Place(kData, 4096, "data");
    data.words()[3] = 5;
    words = data.words();
    made = DumpOf(works.Make(kData));
    // What is mapped later is not the dump's.
    works.Place(kBatch);
  }
  EXPECT_EQ(Read32(made.dump, kData + 12), 5u);
  words[3] = 6;
  EXPECT_EQ(Read32(made.dump, kData + 12), 6u);
  EXPECT_EQ(Read32(made.dump, kBatch), std::nullopt);
}

TEST(WorkDump, BuffersAndPartsNameTheObjects) {
  Works works("skl");
  const Placed batch = works.Place(kBatch);
  const std::shared_ptr<Object> named = works.MakeObject(16384, "vertices");
  works.map().Map(
      {.address = kData, .size = 8192, .object = named, .offset = 4096, .writable = false});
  const WorkDump made = DumpOf(works.Make(kBatch));
  ASSERT_THAT(made.dump.buffers, SizeIs(2));
  EXPECT_EQ(made.dump.FindBuffer(0, kBatch + 100)->name, "bo1");
  const Buffer* const buffer = made.dump.FindBuffer(0, kData + 8191);
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ(buffer->name, "vertices");
  EXPECT_EQ(buffer->size, 8192u);
  EXPECT_EQ(buffer->flags, "read-only");
  ASSERT_THAT(made.parts, SizeIs(2));
  EXPECT_EQ(made.parts[0].object, batch.object->id());
  const WorkPart& part = made.parts[1];
  EXPECT_EQ(part.space, 0u);
  EXPECT_EQ(part.address, kData);
  EXPECT_EQ(part.size, 8192u);
  EXPECT_EQ(part.object, named->id());
  EXPECT_EQ(part.name, "vertices");
  EXPECT_EQ(part.offset, 4096u);
  EXPECT_EQ(part.fd, named->memory()->fd());
}

TEST(WorkDump, GlobalAddressesAreInTheGlobalSpace) {
  Works works("g45");
  const Placed batch = works.Place(kBatch);
  batch.words()[0] = 3;
  Work work = works.Make(kBatch);
  work.global = true;
  const WorkDump made = DumpOf(work);
  EXPECT_EQ(made.dump.submissions[0].space, kGlobalSpace);
  EXPECT_EQ(Read32(made.dump, kBatch, kGlobalSpace), 3u);
  EXPECT_EQ(made.dump.buffers[0].space, kGlobalSpace);
  EXPECT_EQ(made.parts[0].space, kGlobalSpace);
  const WorkDump own = DumpOf(work, {.as_own_space = true});
  EXPECT_EQ(own.dump.submissions[0].space, 0u);
  EXPECT_EQ(Read32(own.dump, kBatch), 3u);
}

TEST(WorkDump, RangesWithoutMemoryAreZeros) {
  Works works("skl");
  works.Place(kBatch);
  works.map().Map({.address = kData, .size = uint64_t{1} << 40, .object = nullptr});
  const WorkDump made = DumpOf(works.Make(kBatch));
  EXPECT_EQ(Read32(made.dump, kData + (uint64_t{1} << 39)), 0u);
  EXPECT_EQ(Read32(made.dump, kData + (uint64_t{1} << 40)), std::nullopt);
  EXPECT_THAT(made.parts, SizeIs(1));
}

TEST(WorkDump, BytesThatRepeatAreThereAsOftenAsTheyAreMapped) {
  Works works("m1");
  const std::shared_ptr<Object> page = works.MakeObject(16384);
  reinterpret_cast<uint32_t*>(page->memory()->bytes().data())[1024 + 2] = 9;
  constexpr uint64_t kSize = uint64_t{3} << 20;
  works.map().Map(
      {.address = kData, .size = kSize, .object = page, .offset = 4096, .repeats = 4096});
  const WorkDump made = DumpOf(works.Make(kData));
  EXPECT_EQ(Read32(made.dump, kData + 8), 9u);
  EXPECT_EQ(Read32(made.dump, kData + 4096 * 300 + 8), 9u);
  EXPECT_EQ(Read32(made.dump, kData + kSize - 4096 + 8), 9u);
  EXPECT_EQ(Read32(made.dump, kData + kSize - 4096 + 12), 0u);
  EXPECT_EQ(Read32(made.dump, kData + kSize), std::nullopt);
  EXPECT_THAT(made.dump.memory.segments(), SizeIs(3));
  EXPECT_THAT(made.parts, IsEmpty());
}

TEST(WorkDump, RepeatedZerosAreOneSegmentAndHugeRangesAreBounded) {
  Works works("m1");
  const std::shared_ptr<Object> page = works.MakeObject(16384);
  constexpr uint64_t kSize = uint64_t{1} << 40;
  works.map().Map({.address = kData, .size = kSize, .object = page, .repeats = 16384});
  const WorkDump zeros = DumpOf(works.Make(kData));
  EXPECT_THAT(zeros.dump.memory.segments(), SizeIs(1));
  EXPECT_EQ(Read32(zeros.dump, kData + kSize - 4), 0u);
  page->memory()->bytes()[0] = 1;
  const WorkDump made = DumpOf(works.Make(kData));
  EXPECT_THAT(made.dump.memory.segments(), SizeIs(4096));
  ASSERT_THAT(made.dump.problems, SizeIs(1));
  EXPECT_THAT(made.dump.problems[0].text, HasSubstr("which repeat, only the first 0x100000000"));
}

TEST(WorkDump, MemoryOfAProcessIsCopiedWhenItIsLookedAt) {
  Works works("skl");
  const auto process = std::make_shared<ProcessBytes>(16384);
  process->bytes[4096] = 7;
  works.map().Map({.address = kData,
                   .size = 8192,
                   .object = works.MakeUserObject(process, 0x10000, 16384),
                   .offset = 4096});
  const WorkDump made = DumpOf(works.Make(kData));
  process->bytes[4096] = 8;
  EXPECT_EQ(Read32(made.dump, kData), 8u);
  process->bytes[4096] = 9;
  EXPECT_EQ(Read32(made.dump, kData), 8u);
  ASSERT_THAT(made.parts, SizeIs(1));
  EXPECT_EQ(made.parts[0].fd, -1);
  EXPECT_EQ(made.parts[0].offset, 4096u);
}

TEST(WorkDump, MemoryThatAProcessHasUnmappedEndsThere) {
  Works works("skl");
  const auto process = std::make_shared<ProcessBytes>(8192);
  process->bytes[4096] = 7;
  works.map().Map(
      {.address = kData, .size = 16384, .object = works.MakeUserObject(process, 0x10000, 16384)});
  const WorkDump made = DumpOf(works.Make(kData));
  EXPECT_EQ(Read32(made.dump, kData + 4096), 7u);
  EXPECT_EQ(Read32(made.dump, kData + 8192), std::nullopt);
}

TEST(WorkDump, AMappingIsNotLargerThanItsObject) {
  Works works("skl");
  const std::shared_ptr<Object> object = works.MakeObject(4096);
  works.map().Map({.address = kData, .size = 16384, .object = object});
  works.map().Map({.address = kBatch, .size = 4096, .object = object, .offset = 8192});
  const WorkDump made = DumpOf(works.Make(kData));
  EXPECT_EQ(Read32(made.dump, kData + 4092), 0u);
  EXPECT_EQ(Read32(made.dump, kData + 4096), std::nullopt);
  EXPECT_EQ(Read32(made.dump, kBatch), std::nullopt);
  EXPECT_THAT(made.parts, SizeIs(1));
}

TEST(WorkDump, OfAHangHasTheBatchAndWhatTheDriverWants) {
  Works works("skl");
  works.Place(kBatch);
  works.Place(kData);
  const Placed wanted = works.Place(0x300000);
  works.map().Map(
      {.address = wanted.address, .size = 4096, .object = wanted.object, .dumpable = true});
  const WorkDump made = DumpOf(works.Make(kBatch + 64), {.dumpable_only = true});
  EXPECT_EQ(Read32(made.dump, kBatch), 0u);
  EXPECT_EQ(Read32(made.dump, 0x300000), 0u);
  EXPECT_EQ(Read32(made.dump, kData), std::nullopt);
  EXPECT_FALSE(made.dump.memory_is_complete);
}

TEST(WorkDump, OfSeveralStreamsHasOneSubmissionForEachEngine) {
  Works works("tgl");
  works.Place(kBatch);
  Work work = works.Make(kBatch, "video");
  work.streams.push_back({.address = kBatch + 64});
  const WorkDump made = DumpOf(work);
  ASSERT_THAT(made.dump.submissions, SizeIs(2));
  EXPECT_EQ(made.dump.submissions[1].batch_address, kBatch + 64);
  EXPECT_NE(made.dump.submissions[0].slot, made.dump.submissions[1].slot);
}

TEST(WorkDump, OfApplesHasTheStreamsAndBases) {
  Works works("m1");
  works.Place(kBatch, 16384);
  Work work = works.Make(kBatch);
  work.interface = "asahi";
  work.streams[0].stream = "vdm";
  work.bases.push_back({"usc", 0x1100000000});
  const WorkDump made = DumpOf(work);
  EXPECT_EQ(made.dump.device.family, "agx");
  EXPECT_EQ(made.dump.device.uapi, "asahi");
  EXPECT_TRUE(made.dump.device.chip_id);
  EXPECT_FALSE(made.dump.device.pci_id);
  ASSERT_THAT(made.dump.submissions, SizeIs(1));
  EXPECT_EQ(made.dump.submissions[0].stream, "vdm");
  EXPECT_EQ(made.dump.submissions[0].engine, "render");
  EXPECT_THAT(made.dump.submissions[0].bases, ElementsAre(Submission::Base{"usc", 0x1100000000}));
}

TEST(WorkDump, IsDecodedWithUnmappedPointersAsFaults) {
  Works works("skl");
  const Placed batch = works.Place(kBatch);
  const Work work = works.Batch(batch, {works.Store(kData, 1)});
  const WorkDump made = DumpOf(work);
  decode::StringOutput output;
  const auto sink = decode::MakeTextSink(output);
  decode::Decoder decoder(works.tables(), *sink);
  decoder.Decode(made.dump);
  const decode::Summary summary = decoder.Finish();
  EXPECT_EQ(summary.packets, 2u);
  EXPECT_EQ(summary.faults[static_cast<size_t>(decode::FaultKind::kUnmapped)], 1u);
}

}  // namespace
}  // namespace packsmith::capture
