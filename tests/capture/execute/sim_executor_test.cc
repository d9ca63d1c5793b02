#include "runtime/capture/execute/sim_executor.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/capture/devices/gpu_clock.h"
#include "tests/capture/execute/works.h"

namespace packsmith::capture {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint64_t kBatch = 0x100000, kData = 0x200000, kMore = 0x300000;

// An executor whose lines are kept.
class Lines {
 public:
  SimExecutorOptions Options() {
    SimExecutorOptions options;
    options.say = [this](absl::string_view line) { lines.emplace_back(line); };
    return options;
  }
  std::vector<std::string> lines;
};

class EveryGeneration : public ::testing::TestWithParam<const char*> {
 protected:
  EveryGeneration()
      : works_(GetParam()), batch_(works_.Place(kBatch)), data_(works_.Place(kData)) {}

  Outcome Run(const std::vector<std::vector<uint32_t>>& packets) {
    return executor_.Execute(works_.Batch(batch_, packets), why_);
  }

  Works works_;
  Placed batch_, data_;
  Lines lines_;
  SimExecutor executor_{lines_.Options()};
  std::string why_;
};

class Gfx8AndLater : public EveryGeneration {};

INSTANTIATE_TEST_SUITE_P(, EveryGeneration,
                         ::testing::Values("snb", "ivb", "hsw", "bdw", "skl", "icl", "tgl", "dg2",
                                           "lnl", "ptl"));
INSTANTIATE_TEST_SUITE_P(, Gfx8AndLater,
                         ::testing::Values("bdw", "skl", "icl", "tgl", "dg2", "mtl", "lnl", "ptl"));

TEST_P(EveryGeneration, StoresAreInLiveMemory) {
  EXPECT_EQ(Run({works_.Store(kData + 8, 0x12345678)}), Outcome::kDone) << why_;
  EXPECT_EQ(data_.words()[2], 0x12345678u);
  EXPECT_EQ(data_.words()[1], 0u);
  EXPECT_EQ(data_.words()[3], 0u);
  EXPECT_THAT(lines_.lines, IsEmpty());
}

TEST_P(EveryGeneration, BatchesChain) {
  const Placed next = works_.Place(kMore);
  works_.Put(next, 64, {works_.Store(kData, 7)});
  EXPECT_EQ(Run({works_.Jump(kMore + 64), works_.Store(kData + 4, 9)}), Outcome::kDone) << why_;
  EXPECT_EQ(data_.words()[0], 7u);
  EXPECT_EQ(data_.words()[1], 0u);  // after the jump
}

TEST_P(EveryGeneration, RegistersLiveOnInTheContextAndNotInOthers) {
  constexpr uint32_t kRegister = 0x2600;
  EXPECT_EQ(Run({works_.LoadRegister(kRegister, 0xabcd)}), Outcome::kDone) << why_;
  EXPECT_EQ(Run({works_.StoreRegister(kRegister, kData)}), Outcome::kDone) << why_;
  EXPECT_EQ(data_.words()[0], 0xabcdu);
  Work other = works_.Make(kBatch);
  other.context = 2;
  EXPECT_EQ(executor_.Execute(other, why_), Outcome::kDone);
  EXPECT_EQ(data_.words()[0], 0u);
  // A context that is gone, and one with its number, have nothing in common.
  executor_.ForgetContext(1);
  data_.words()[0] = 5;
  EXPECT_EQ(executor_.Execute(works_.Make(kBatch), why_), Outcome::kDone);
  EXPECT_EQ(data_.words()[0], 0u);
}

TEST_P(EveryGeneration, AnUnmappedStoreHangsAndSaysWhere) {
  EXPECT_EQ(Run({works_.Store(kData, 1), works_.Store(0x500000, 2), works_.Store(kData, 3)}),
            Outcome::kHung);
  EXPECT_THAT(why_, AllOf(HasSubstr("MI_STORE_DATA_IMM at 0x100010 writes 0x500000"),
                          HasSubstr("not mapped"), HasSubstr("bo2, 0x1000 bytes at 0x200000")));
  EXPECT_EQ(data_.words()[0], 1u);  // what comes after it is not executed
}

TEST_P(EveryGeneration, TheTimeIsTheDevices) {
  const uint64_t before = GpuTicks(works_.info(), MonotonicNow());
  EXPECT_EQ(Run({works_.PostSync(3, kData), works_.PostSync(3, kData + 8)}), Outcome::kDone)
      << why_;
  const uint64_t after = GpuTicks(works_.info(), MonotonicNow());
  EXPECT_LE(before, data_.Read64(0));
  EXPECT_LE(data_.Read64(0), data_.Read64(8));
  EXPECT_LE(data_.Read64(8), after);
}

TEST_P(EveryGeneration, ABatchThatStartsItselfHangsAfterItsCommands) {
  Lines lines;
  SimExecutorOptions options = lines.Options();
  options.max_commands = 1000;
  SimExecutor executor(options);
  EXPECT_EQ(executor.Execute(works_.Batch(batch_, {works_.Jump(kBatch)}), why_), Outcome::kHung);
  EXPECT_THAT(why_, AllOf(HasSubstr("does not end: 1000 commands"),
                          HasSubstr("MI_BATCH_BUFFER_START at 0x100000")));
}

TEST_P(Gfx8AndLater, MemoryIsCopied) {
  data_.words()[5] = 77;
  EXPECT_EQ(Run({works_.Copy(kData, kData + 20)}), Outcome::kDone) << why_;
  EXPECT_EQ(data_.words()[0], 77u);
}

TEST_P(Gfx8AndLater, RegistersAreAdded) {
  constexpr uint32_t kGpr = 0x2600;
  const auto alu = [](uint32_t opcode, uint32_t one, uint32_t two) {
    return opcode << 20 | one << 10 | two;
  };
  // SRCA = R0, SRCB = R1, ADD, R2 = ACCU.
  const std::vector<uint32_t> math = {0x0d000003, alu(0x080, 0x20, 0), alu(0x080, 0x21, 1),
                                      alu(0x100, 0, 0), alu(0x180, 2, 0x31)};
  EXPECT_EQ(Run({works_.LoadRegister(kGpr, 40), works_.LoadRegister(kGpr + 4, 0),
                 works_.LoadRegister(kGpr + 8, 2), works_.LoadRegister(kGpr + 12, 0), math,
                 works_.StoreRegister(kGpr + 16, kData)}),
            Outcome::kDone)
      << why_;
  EXPECT_EQ(data_.words()[0], 42u);
}

TEST_P(Gfx8AndLater, SecondLevelBatchesReturn) {
  const Placed second = works_.Place(kMore);
  works_.Put(second, 0, {works_.Store(kData, 1)});
  EXPECT_EQ(Run({works_.Jump(kMore, /*second_level=*/true), works_.Store(kData + 4, 2)}),
            Outcome::kDone)
      << why_;
  EXPECT_EQ(data_.words()[0], 1u);
  EXPECT_EQ(data_.words()[1], 2u);
}

TEST_P(Gfx8AndLater, AWaitContinuesWhereItWasOnceTheProcessorHasWritten) {
  const Work work = works_.Batch(
      batch_, {works_.Store(kData, 1), works_.Wait(kData + 64, 3), works_.Store(kData + 4, 2)});
  EXPECT_EQ(executor_.Execute(work, why_), Outcome::kWaiting);
  EXPECT_THAT(why_, HasSubstr("MI_SEMAPHORE_WAIT at 0x100010"));
  EXPECT_EQ(data_.words()[0], 1u);
  EXPECT_EQ(data_.words()[1], 0u);
  data_.words()[0] = 0;
  data_.words()[16] = 2;
  EXPECT_EQ(executor_.Execute(work, why_), Outcome::kWaiting);
  data_.words()[16] = 3;
  EXPECT_EQ(executor_.Execute(work, why_), Outcome::kDone);
  EXPECT_EQ(data_.words()[0], 0u);  // it does not begin again
  EXPECT_EQ(data_.words()[1], 2u);
  EXPECT_EQ(executor_.totals().submissions, 1u);
}

TEST(SimExecutor, WaitsInTheKernelEndWhenTheProcessorWritesOrPatienceEnds) {
  // Through the kernel's scheduler.
  Works works("skl");
  const Placed batch = works.Place(kBatch), data = works.Place(kData);
  const auto work =
      std::make_shared<Work>(works.Batch(batch, {works.Wait(kData, 1), works.Store(kData + 4, 2)}));
  SimExecutor executor;
  Scheduler scheduler;
  scheduler.set_executor(&executor);
  struct : Watcher {
    void OnDone(const Work&, Outcome outcome, absl::string_view why) override {
      last = outcome;
      text = std::string(why);
    }
    std::optional<Outcome> last;
    std::string text;
  } watcher;
  scheduler.set_watchers({&watcher});
  Job job;
  job.work = work;
  scheduler.Add(scheduler.NewQueue(), job);
  EXPECT_TRUE(scheduler.waiting());
  EXPECT_FALSE(watcher.last);
  data.words()[0] = 1;
  scheduler.Advance();
  EXPECT_EQ(watcher.last, Outcome::kDone);
  EXPECT_EQ(data.words()[1], 2u);

  data.words()[0] = 0;
  scheduler.set_patience(0);
  const auto second = std::make_shared<Work>(works.Make(kBatch));
  job.work = second;
  scheduler.Add(scheduler.NewQueue(), job);
  EXPECT_EQ(watcher.last, Outcome::kHung);
  EXPECT_EQ(watcher.text, "waited too long for MI_SEMAPHORE_WAIT at 0x100000");
  ASSERT_TRUE(executor.PlaceOfHang(*second));
  EXPECT_EQ(executor.PlaceOfHang(*second)->address, kBatch);
  EXPECT_FALSE(executor.PlaceOfHang(*work));
}

TEST(SimExecutor, AnEndlessBatchGivesWayToClientsWhichCanEndIt) {
  Works works("skl");
  const Placed batch = works.Place(kBatch);
  SimExecutorOptions options;
  int64_t now = 0;
  options.now = [&now] { return now += 1'000'000; };
  options.slice_ns = 5'000'000;
  SimExecutor executor(options);
  const Work work = works.Batch(batch, {works.Jump(kBatch)});
  std::string why;
  EXPECT_EQ(executor.Execute(work, why), Outcome::kWaiting);
  EXPECT_EQ(executor.Execute(work, why), Outcome::kWaiting);
  batch.words()[0] = 0x05000000;  // MI_BATCH_BUFFER_END
  EXPECT_EQ(executor.Execute(work, why), Outcome::kDone);
}

TEST(SimExecutor, AnEndlessBatchHangsAfterItsSeconds) {
  Works works("skl");
  const Placed batch = works.Place(kBatch);
  SimExecutorOptions options;
  int64_t now = 0;
  options.now = [&now] { return now += 20'000'000; };
  options.slice_ns = 100'000'000;
  options.max_seconds = 1;
  SimExecutor executor(options);
  const Work work = works.Batch(batch, {works.Jump(kBatch)});
  std::string why;
  int slices = 0;
  Outcome outcome = Outcome::kWaiting;
  while (outcome == Outcome::kWaiting && ++slices < 100) outcome = executor.Execute(work, why);
  EXPECT_EQ(outcome, Outcome::kHung);
  EXPECT_EQ(slices, 10);
  EXPECT_THAT(why, HasSubstr("in 1 seconds"));
}

TEST(SimExecutor, StatesOfAContextThatHungAreLost) {
  Works works("skl");
  const Placed batch = works.Place(kBatch), data = works.Place(kData);
  SimExecutor executor;
  std::string why;
  EXPECT_EQ(executor.Execute(
                works.Batch(batch, {works.LoadRegister(0x2600, 5), works.Store(0x500000, 1)}), why),
            Outcome::kHung);
  data.words()[0] = 9;
  EXPECT_EQ(executor.Execute(works.Batch(batch, {works.StoreRegister(0x2600, kData)}), why),
            Outcome::kDone)
      << why;
  EXPECT_EQ(data.words()[0], 0u);
  EXPECT_EQ(executor.totals().hung, 1u);
}

TEST(SimExecutor, WhatIsNotMappedIsAScratchPageIfThereIsOne) {
  Works works("skl");
  const Placed batch = works.Place(kBatch), data = works.Place(kData);
  data.words()[0] = 9;
  Work work = works.Batch(batch, {works.Store(0x500000, 1), works.Copy(kData, 0x500000)});
  work.scratch_page = true;
  Lines lines;
  SimExecutor executor(lines.Options());
  std::string why;
  EXPECT_EQ(executor.Execute(work, why), Outcome::kDone) << why;
  EXPECT_EQ(data.words()[0], 0u);
  EXPECT_THAT(lines.lines, ElementsAre(HasSubstr(
                               "MI_STORE_DATA_IMM at 0x100000 writes to 0x500000, which is not "
                               "mapped: the kernel's scratch page takes it")));
}

TEST(SimExecutor, ABatchThatRunsIntoTheScratchPageHangsAtOnce) {
  Works works("skl");
  works.Place(kBatch);  // no-ops
  Work work = works.Make(kBatch);
  work.scratch_page = true;
  SimExecutor executor;
  std::string why;
  EXPECT_EQ(executor.Execute(work, why), Outcome::kHung);
  EXPECT_THAT(why, HasSubstr("executes the kernel's scratch page"));
  EXPECT_LT(executor.totals().commands, 10000u);
}

TEST(SimExecutor, ABatchWithoutAnEndFaultsAtTheEndOfItsBuffer) {
  Works works("skl");
  const Placed batch = works.Place(kBatch);  // no-ops
  SimExecutor executor;
  std::string why;
  EXPECT_EQ(executor.Execute(works.Make(kBatch), why), Outcome::kHung);
  EXPECT_THAT(why, AllOf(HasSubstr("fetched from 0x101000"), HasSubstr("not mapped")));
}

TEST(SimExecutor, AWordThatIsNoPacketIsNotTakenForAMissingPage) {
  Works works("skl");
  const Placed batch = works.Place(kBatch);
  batch.words()[1023] = 0xe0000000;  // the last one before memory that is not mapped
  SimExecutor executor;
  std::string why;
  EXPECT_EQ(executor.Execute(works.Make(kBatch), why), Outcome::kHung);
  EXPECT_THAT(why, HasSubstr("0xe0000000 does not begin a packet"));
  EXPECT_EQ(why.find("mapped"), std::string::npos) << why;
}

TEST(SimExecutor, ReadOnlyMappingsRefuseWrites) {
  Works works("skl");
  const Placed batch = works.Place(kBatch), data = works.Place(kData, 4096, "constants");
  works.map().Map({.address = kData, .size = 4096, .object = data.object, .writable = false});
  SimExecutor executor;
  std::string why;
  EXPECT_EQ(executor.Execute(works.Batch(batch, {works.Store(kData, 1)}), why), Outcome::kHung);
  EXPECT_THAT(why, HasSubstr("mapped read-only (constants)"));
  EXPECT_EQ(data.words()[0], 0u);
}

TEST(SimExecutor, AddressesOfTheGlobalTableAreExecutedBeforeGfx6) {
  Works works("g45");
  const Placed batch = works.Place(kBatch), data = works.Place(kData);
  Work work = works.Batch(batch, {{0x10400002, 0, static_cast<uint32_t>(kData), 6}});
  work.global = true;
  SimExecutor executor;
  std::string why;
  EXPECT_EQ(executor.Execute(work, why), Outcome::kDone) << why;
  EXPECT_EQ(data.words()[0], 6u);
}

// Rows of `pitch` bytes, copied by the copy engine.
std::vector<uint32_t> CopyRows(const Works& works, uint64_t to, uint64_t from, uint32_t pitch,
                               uint32_t rows) {
  const tables::Tables& tables = works.tables();
  if (works.info().version_x10 >= 125) {
    return sim::Packet(tables, "XY_FAST_COPY_BLT",
                       {{"Color Depth", 3},
                        {"Destination Pitch", pitch},
                        {"Destination X2 Coordinate", pitch / 4},
                        {"Destination Y2 Coordinate", rows},
                        {"Destination Base Address", to},
                        {"Source Pitch", pitch},
                        {"Source Base Address", from}});
  }
  return sim::Packet(tables, "XY_SRC_COPY_BLT",
                     {{"Color Depth", 3},
                      {"32bpp Byte Mask", 3},
                      {"Raster Operation", 0xcc},
                      {"Destination Pitch", pitch},
                      {"Destination X2 Coordinate", pitch / 4},
                      {"Destination Y2 Coordinate", rows},
                      {"Destination Base Address", to},
                      {"Source Pitch", pitch},
                      {"Source Base Address", from}});
}

TEST_P(EveryGeneration, TheCopyEngineCopies) {
  const Placed to = works_.Place(kMore, 16384), from = works_.Place(0x400000, 16384);
  for (uint32_t i = 0; i < 4096; ++i) from.words()[i] = i * 3 + 1;
  const Work work = works_.Batch(batch_, {CopyRows(works_, kMore, 0x400000, 1024, 16)}, "copy");
  EXPECT_EQ(executor_.Execute(work, why_), Outcome::kDone) << why_;
  for (uint32_t i = 0; i < 4096; ++i) ASSERT_EQ(to.words()[i], i * 3 + 1) << i;
  EXPECT_THAT(lines_.lines, IsEmpty());
}

TEST(SimExecutor, ACopyThatLeavesItsMemoryHangs) {
  Works works("skl");
  const Placed batch = works.Place(kBatch);
  const Placed to = works.Place(kMore, 8192), from = works.Place(0x400000, 16384);
  SimExecutor executor;
  std::string why;
  const Work work = works.Batch(batch, {CopyRows(works, kMore, 0x400000, 1024, 16)}, "copy");
  EXPECT_EQ(executor.Execute(work, why), Outcome::kHung);
  EXPECT_THAT(why, AllOf(HasSubstr("XY_SRC_COPY_BLT at 0x100000 writes 0x302000"),
                         HasSubstr("not mapped")));
  ASSERT_TRUE(executor.PlaceOfHang(work));
  EXPECT_EQ(executor.PlaceOfHang(work)->unmapped, 0x302000u);
  EXPECT_TRUE(executor.PlaceOfHang(work)->unmapped_write);
  EXPECT_EQ(executor.PlaceOfHang(work)->header, batch.words()[0]);
}

TEST(SimExecutor, CopiesGiveWayToClientsAndAreBounded) {
  Works works("skl");
  const Placed batch = works.Place(kBatch);
  works.map().Map({.address = 0x10000000, .size = uint64_t{1} << 26, .object = nullptr});
  Lines lines;
  SimExecutorOptions options = lines.Options();
  int64_t now = 0;
  options.now = [&now] { return now += 1'000'000; };
  options.slice_ns = 3'000'000;
  options.most_bytes_of_a_blit = 6 << 20;
  SimExecutor executor(options);
  std::string why;
  // Of 8 MiB each.
  const std::vector<uint32_t> copy = CopyRows(works, 0x10000000, 0x12000000, 4096, 2048);
  const Work work = works.Batch(batch, {copy, copy, copy, copy, copy}, "copy");
  // The clock is read after each.
  EXPECT_EQ(executor.Execute(work, why), Outcome::kWaiting);
  EXPECT_EQ(executor.totals().commands, 3u);
  EXPECT_EQ(executor.Execute(work, why), Outcome::kDone);
  EXPECT_THAT(lines.lines, ElementsAre(AllOf(HasSubstr("not simulated at 0x100000"),
                                             HasSubstr("6291456 B, the limit"))));
}

TEST(SimExecutor, ACopyThatRunsOverItsBuffersEndIsSaidOnce) {
  Works works("skl");
  const Placed batch = works.Place(kBatch);
  works.Place(kMore, 8192, "target");
  works.Place(kMore + 8192, 8192, "victim");
  works.Place(0x400000, 16384);
  Lines lines;
  SimExecutor executor(lines.Options());
  std::string why;
  const Work work = works.Batch(batch, {CopyRows(works, kMore, 0x400000, 1024, 16)}, "copy");
  EXPECT_EQ(executor.Execute(work, why), Outcome::kDone);
  Work again = work;
  again.number = 2;
  EXPECT_EQ(executor.Execute(again, why), Outcome::kDone);
  EXPECT_THAT(lines.lines,
              ElementsAre(AllOf(HasSubstr("submission 1 (test[42], copy): XY_SRC_COPY_BLT at "),
                                HasSubstr("writes past the end of target into victim"),
                                HasSubstr("0x302000"))));
}

TEST(SimExecutor, StoresToBuffersNextToEachOtherAreNotOverruns) {
  Works works("skl");
  const Placed batch = works.Place(kBatch);
  works.Place(kMore, 4096);
  works.Place(kMore + 4096, 4096);
  Lines lines;
  SimExecutor executor(lines.Options());
  std::string why;
  // Two commands, each with its own address.
  EXPECT_EQ(
      executor.Execute(
          works.Batch(batch, {works.Store(kMore + 4092, 1), works.Store(kMore + 4096, 2)}), why),
      Outcome::kDone);
  EXPECT_THAT(lines.lines, IsEmpty());
}

TEST(SimExecutor, DrawsAreSaidOnceAndCounted) {
  Works works("skl");
  const Placed batch = works.Place(kBatch);
  Lines lines;
  SimExecutor executor(lines.Options());
  std::string why;
  const std::vector<uint32_t> draw = sim::Packet(
      works.tables(), "3DPRIMITIVE", {{"Vertex Count Per Instance", 3}, {"Instance Count", 1}});
  const std::vector<uint32_t> dispatch = sim::Packet(works.tables(), "GPGPU_WALKER", {});
  EXPECT_EQ(executor.Execute(works.Batch(batch, {draw, draw, dispatch}), why), Outcome::kDone);
  EXPECT_EQ(executor.Execute(works.Make(kBatch), why), Outcome::kDone);
  EXPECT_THAT(lines.lines, ElementsAre(HasSubstr("draws need shaders, which are not executed"),
                                       HasSubstr("dispatches need shaders")));
  EXPECT_EQ(executor.totals().draws, 4u);
  EXPECT_EQ(executor.totals().dispatches, 2u);
  EXPECT_THAT(executor.Summary(), HasSubstr("executed 2 submissions, 8 commands; without shaders "
                                            "4 draws, 2 dispatches"));
}

TEST(SimExecutor, EarlyReadsAreFoundIfAskedFor) {
  for (const bool asked : {false, true}) {
    Works works("skl");
    const Placed batch = works.Place(kBatch), data = works.Place(kData);
    Lines lines;
    SimExecutorOptions options = lines.Options();
    options.visibility = asked;
    SimExecutor executor(options);
    std::string why;
    std::vector<uint32_t> write = works.PostSync(1, kData, 5);
    write[1] &= ~(uint32_t{1} << 20);  // no stall
    EXPECT_EQ(executor.Execute(works.Batch(batch, {write, works.Copy(kData + 8, kData)}), why),
              Outcome::kDone);
    EXPECT_EQ(executor.totals().problems[static_cast<size_t>(sim::ProblemKind::kEarly)],
              asked ? 1u : 0u);
    EXPECT_THAT(lines.lines, SizeIs(asked ? 1 : 0));
    EXPECT_EQ(data.words()[2], asked ? 0u : 5u);
  }
}

TEST(SimExecutor, ProblemsOfAKindAreSaidAFewTimesAndCounted) {
  Works works("skl");
  const Placed batch = works.Place(kBatch);
  Lines lines;
  SimExecutor executor(lines.Options());
  std::string why;
  // Registers that a batch may not write, all different.
  std::vector<std::vector<uint32_t>> packets;
  for (uint32_t i = 0; i < 20; ++i) packets.push_back(works.LoadRegister(0x24d0 + 4 * i, i));
  for (uint32_t i = 0; i < 20; ++i) packets.push_back(works.LoadRegister(0x24d0 + 4 * i, i));
  EXPECT_EQ(executor.Execute(works.Batch(batch, packets), why), Outcome::kDone);
  const uint64_t denied =
      executor.totals().problems[static_cast<size_t>(sim::ProblemKind::kPrivileged)];
  EXPECT_GE(denied, 24u);  // FORCE_TO_NONPRIV: twelve registers
  EXPECT_THAT(lines.lines, SizeIs(8));
  EXPECT_THAT(lines.lines.back(), HasSubstr("further ones are only counted"));
  EXPECT_THAT(executor.Summary(), HasSubstr(absl::StrCat("lack of privilege: ", denied)));
}

TEST(SimExecutor, StreamsOfOneSubmissionRunAtTheSameTime) {
  Works works("tgl");
  const Placed first = works.Place(kBatch), second = works.Place(kMore);
  const Placed data = works.Place(kData);
  // The first waits for the second, which waits for the first.
  works.Put(first, 0, {works.Store(kData, 1), works.Wait(kData + 4, 1), works.Store(kData + 8, 3)});
  works.Put(second, 0, {works.Wait(kData, 1), works.Store(kData + 4, 1)});
  Work work = works.Make(kBatch, "video");
  work.streams.push_back({.address = kMore});
  SimExecutor executor;
  std::string why;
  EXPECT_EQ(executor.Execute(work, why), Outcome::kDone) << why;
  EXPECT_EQ(data.words()[2], 3u);
}

TEST(SimExecutor, MediaEnginesSayOnceWhatTheyLack) {
  Works works("tgl");
  const Placed batch = works.Place(kBatch), data = works.Place(kData);
  Lines lines;
  SimExecutor executor(lines.Options());
  std::string why;
  for (int i = 0; i < 2; ++i) {
    const Work work = works.Batch(batch, {works.Store(kData, 4)}, "video enhance");
    EXPECT_EQ(executor.Execute(work, why), Outcome::kDone) << why;
  }
  EXPECT_EQ(data.words()[0], 4u);
  EXPECT_THAT(lines.lines, ElementsAre(HasSubstr("what only video enhance engines do")));
}

TEST(SimExecutor, ApplesEnginesAreNotExecutedWhichIsSaidOnce) {
  Works works("m1");
  works.Place(kBatch);
  Lines lines;
  SimExecutor executor(lines.Options());
  std::string why;
  EXPECT_EQ(executor.Execute(works.Make(kBatch), why), Outcome::kDone);
  EXPECT_EQ(executor.Execute(works.Make(kBatch), why), Outcome::kDone);
  EXPECT_THAT(lines.lines, ElementsAre(HasSubstr("not executed: the description of")));
}

TEST(SimExecutor, AForgottenWaitFreesItsEngine) {
  Works works("skl");
  const Placed batch = works.Place(kBatch), data = works.Place(kData);
  SimExecutor executor;
  std::string why;
  const Work waits = works.Batch(batch, {works.Wait(kData, 1)});
  EXPECT_EQ(executor.Execute(waits, why), Outcome::kWaiting);
  // Another one of the same context on the same engine waits its turn.
  const Placed other = works.Place(kMore);
  const Work next = works.Batch(other, {works.Store(kData + 4, 1)});
  EXPECT_EQ(executor.Execute(next, why), Outcome::kWaiting);
  EXPECT_EQ(data.words()[1], 0u);
  executor.Forget(waits);
  EXPECT_EQ(executor.Execute(next, why), Outcome::kDone);
  EXPECT_EQ(data.words()[1], 1u);
  EXPECT_EQ(executor.totals().hung, 0u);
}

TEST(SimExecutor, NothingIsKeptAliveAfterASubmission) {
  Works works("skl");
  const Placed batch = works.Place(kBatch);
  SimExecutor executor;
  std::string why;
  std::weak_ptr<const AddressMap> map;
  {
    const Work work = works.Batch(batch, {});
    map = work.memory;
    EXPECT_EQ(executor.Execute(work, why), Outcome::kDone);
  }
  EXPECT_TRUE(map.expired());
}

TEST(SimExecutor, ManyContextsAreForgottenTheOldestFirst) {
  Works works("skl");
  const Placed batch = works.Place(kBatch), data = works.Place(kData);
  SimExecutor executor;
  std::string why;
  const auto run = [&](uint64_t context, const std::vector<std::vector<uint32_t>>& packets) {
    Work work = works.Batch(batch, packets);
    work.context = context;
    EXPECT_EQ(executor.Execute(work, why), Outcome::kDone) << why;
  };
  run(1, {works.LoadRegister(0x2600, 11)});
  run(2, {works.LoadRegister(0x2600, 22)});
  for (uint64_t context = 3; context <= 256; ++context) run(context, {});
  run(1, {});  // used again
  run(1000, {});
  run(1, {works.StoreRegister(0x2600, kData)});
  EXPECT_EQ(data.words()[0], 11u);
  run(2, {works.StoreRegister(0x2600, kData)});
  EXPECT_EQ(data.words()[0], 0u);
}

}  // namespace
}  // namespace packsmith::capture
