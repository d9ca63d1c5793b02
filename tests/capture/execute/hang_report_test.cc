#include "runtime/capture/execute/hang_report.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/capture/execute/sim_executor.h"
#include "runtime/decode/fields/pipeline_units.h"
#include "runtime/dump/read.h"
#include "runtime/hang/report.h"
#include "tests/capture/execute/works.h"

namespace packsmith::capture {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSubsetOf;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr uint64_t kBatch = 0x100000, kData = 0x200000;

struct Hang {
  std::string text;
  Dump dump;
  hang::HangReport report;
};

// Executes the work, which hangs, and reads what is saved of it.
Hang HangOf(const Works& works, const Work& work) {
  SimExecutor executor;
  std::string why;
  EXPECT_EQ(executor.Execute(work, why), Outcome::kHung);
  Hang hang;
  HangReporter reporter([&](const Work& of) { return executor.PlaceOfHang(of); },
                        [&](const Work&, const std::optional<HangPlace>&, std::string text) {
                          hang.text = std::move(text);
                        });
  reporter.OnDone(work, Outcome::kHung, why);
  auto bytes = std::make_shared<std::string>(hang.text);
  absl::StatusOr<Dump> dump = ReadDump(
      FileBytes{{reinterpret_cast<const uint8_t*>(bytes->data()), bytes->size()}, bytes, "error"});
  EXPECT_TRUE(dump.ok()) << dump.status() << hang.text;
  if (dump.ok()) hang.dump = *std::move(dump);
  if (hang.dump.error_state) hang.report = hang::MakeHangReport(works.tables(), hang.dump);
  return hang;
}

class I915 : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, I915,
                         ::testing::Values("g45", "ilk", "snb", "ivb", "hsw", "bdw", "skl", "icl",
                                           "tgl", "dg2"));

TEST_P(I915, AnErrorStateSaysWhereAndWhy) {
  Works works(GetParam());
  const Placed batch = works.Place(kBatch);
  Work work = works.Batch(batch, {works.Store(0x500000, 1)});
  work.global = works.info().version_x10 < 60;
  const Hang hang = HangOf(works, work);
  EXPECT_THAT(hang.text, AllOf(StartsWith("GPU HANG: ecode "), HasSubstr("in test [42]\n"),
                               HasSubstr("writes 0x500000, which is not mapped")));
  EXPECT_EQ(hang.report.kind, "i915 error state");
  EXPECT_EQ(hang.dump.device.pci_id, works.info().pci_id);
  ASSERT_THAT(hang.report.engines, SizeIs(1));
  const hang::EngineReport& engine = hang.report.engines[0];
  EXPECT_EQ(engine.name, "rcs0");
  ASSERT_TRUE(engine.where);
  EXPECT_EQ(engine.where->address, kBatch);
  if (works.info().version_x10 >= 60) {
    ASSERT_TRUE(engine.fault);
    EXPECT_EQ(engine.fault->address, 0x500000u);
  }
}

class Xe : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, Xe, ::testing::Values("tgl", "dg2", "lnl", "bmg", "ptl"));

TEST_P(Xe, ADeviceCoreDumpSaysWhereAndWhy) {
  Works works(GetParam());
  const Placed batch = works.Place(kBatch);
  Work work = works.Batch(batch, {works.Store(kBatch + 64, 0), works.Store(0x500000, 1)});
  work.interface = "xe";
  const Hang hang = HangOf(works, work);
  EXPECT_THAT(hang.text,
              AllOf(StartsWith("**** Xe Device Coredump ****\n"), HasSubstr("Process: test [42]\n"),
                    HasSubstr("batch_addr[0]: 0x0000000000100000\n"),
                    HasSubstr("writes 0x500000, which is not mapped")));
  EXPECT_EQ(hang.report.kind, "xe devcoredump");
  ASSERT_THAT(hang.report.engines, SizeIs(1));
  ASSERT_TRUE(hang.report.engines[0].where);
  EXPECT_EQ(hang.report.engines[0].where->address, kBatch + 16);
}

TEST(HangReport, HasTheMemoryThatTheDriverWants) {
  Works works("skl");
  const Placed batch = works.Place(kBatch), other = works.Place(kData);
  const Placed wanted = works.Place(0x300000);
  wanted.words()[7] = 0x1234;
  works.map().Map(
      {.address = wanted.address, .size = 4096, .object = wanted.object, .dumpable = true});
  const Hang hang = HangOf(works, works.Batch(batch, {works.Store(0x500000, 1)}));
  const auto read = [&](uint64_t address) {
    const absl::Span<const uint8_t> bytes = hang.dump.memory.Read(0, address, 4);
    uint32_t value = 0;
    if (bytes.size() == 4) std::memcpy(&value, bytes.data(), 4);
    return bytes.size() == 4 ? std::optional(value) : std::nullopt;
  };
  EXPECT_EQ(read(kBatch), 0x10000002u);
  EXPECT_EQ(read(0x30001c), 0x1234u);
  EXPECT_EQ(read(kData), std::nullopt);
}

TEST(HangReport, WithoutAPlaceTheBatchIsAtItsBeginning) {
  Works works("skl");
  const Placed batch = works.Place(kBatch);
  const Work work = works.Batch(batch, {});
  const absl::StatusOr<std::string> text = MakeHangReport(work, std::nullopt, "as asked for", 9);
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(*text, AllOf(HasSubstr("Time: 9 s 0 us\n"), HasSubstr("Simulation: as asked for\n"),
                           HasSubstr("ACTHD: 0x00000000 00100000\n"), Not(HasSubstr("FAULT"))));
}

// Whatever the description's field is called in full.
TEST(HangReport, TheUnitThatDoesNotFinishIsTheLastBusyOneOfThePipeline) {
  for (const char* device : {"skl", "tgl", "dg2"}) {
    Works works(device);
    const Placed batch = works.Place(kBatch);
    const Work work = works.Batch(batch, {});
    const std::vector<decode::PipelineUnit> units = decode::PipelineUnits(works.tables());
    ASSERT_THAT(units, Not(IsEmpty()));
    for (const decode::PipelineUnit& unit : units) {
      const HangPlace place = {.address = kBatch, .kind = HangKind::kPipeline, .unit = unit.name};
      const absl::StatusOr<std::string> text = MakeHangReport(work, place, "as asked for", 9);
      ASSERT_TRUE(text.ok()) << text.status();
      const absl::StatusOr<Dump> dump = ReadDump(FileBytes{
          {reinterpret_cast<const uint8_t*>(text->data()), text->size()}, nullptr, "error"});
      ASSERT_TRUE(dump.ok()) << dump.status();
      const hang::HangReport report = hang::MakeHangReport(works.tables(), *dump);
      ASSERT_THAT(report.engines, SizeIs(1));
      const hang::BusyPipeline& pipeline = report.engines[0].stop.pipeline;
      // Reports do not have all registers of a place that many units share.
      std::vector<std::string> same_place;
      for (const decode::PipelineUnit& one : units) {
        if (one.place == unit.place) same_place.push_back(one.name);
      }
      EXPECT_THAT(pipeline.last, AllOf(Not(IsEmpty()), IsSubsetOf(same_place)))
          << device << " " << unit.name;
      if (unit.place == units.front().place) {
        EXPECT_THAT(pipeline.before, IsEmpty()) << device << " " << unit.name;
      } else {
        EXPECT_THAT(pipeline.before, Contains(units.front().name)) << device << " " << unit.name;
      }
    }
  }
}

TEST(HangReport, NamesCannotAddLines) {
  Works works("skl");
  const Placed batch = works.Place(kBatch);
  Work work = works.Batch(batch, {});
  work.process = "a\nPCI ID: 0x1234";
  const absl::StatusOr<std::string> text = MakeHangReport(work, std::nullopt, "b\nc: d", 9);
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(*text, AllOf(Not(HasSubstr("\nPCI ID: 0x1234")), Not(HasSubstr("\nc: d"))));
}

TEST(HangReport, OtherEnginesHaveTheirNames) {
  Works works("tgl");
  const Placed batch = works.Place(kBatch);
  Work work = works.Batch(batch, {}, "video");
  work.engine_instance = 2;
  work.streams.push_back({.address = kBatch});
  absl::StatusOr<std::string> text = MakeHangReport(work, HangPlace{.stream = 1}, "", 9);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(*text, AllOf(HasSubstr("ecode 12:4:"), HasSubstr("vcs2 command stream"),
                           HasSubstr("vcs3 command stream"), HasSubstr("(on ring vcs3)")));
  work.interface = "xe";
  text = MakeHangReport(work, HangPlace{.stream = 1}, "", 9);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(*text, AllOf(HasSubstr("batch_addr[1]"), HasSubstr("vcs3 (physical)")));
}

// What the log says of a hang must not contradict the dump.
TEST(KernelLog, OfXeHasTheReasonOfTheDump) {
  Works works("bmg");
  const Placed batch = works.Place(kBatch);
  Work work = works.Batch(batch, {});
  work.interface = "xe";
  work.context = 7;
  const auto log = [&](HangKind kind) {
    return KernelLogOfHang(work, HangPlace{.address = kBatch, .kind = kind}, "0000:03:00.0");
  };
  const auto dump = [&](HangKind kind) {
    return MakeHangReport(work, HangPlace{.address = kBatch, .kind = kind}, "", 9).value_or("");
  };
  const std::string end = "xe 0000:03:00.0: [drm] Xe device coredump has been created\n";
  EXPECT_EQ(log(HangKind::kShader),
            "xe 0000:03:00.0: [drm] Tile0: GT0: Timedout job: seqno=1, lrc_seqno=1, guc_id=7, "
            "flags=0x0 in test [42]\n" +
                end);
  EXPECT_THAT(dump(HangKind::kShader),
              HasSubstr("Reason: Timedout job - seqno=1, lrc_seqno=1, guc_id=7, flags=0x0\n"));
  EXPECT_EQ(
      log(HangKind::kNotYielding),
      "xe 0000:03:00.0: [drm] Tile0: GT0: Schedule disable failed to respond, guc_id=7\n" + end);
  EXPECT_THAT(dump(HangKind::kNotYielding),
              AllOf(HasSubstr("Reason: Schedule disable failed to respond, guc_id=7, ret=-62, "
                              "guc_read=1\n"),
                    Not(HasSubstr("Timedout"))));
  EXPECT_EQ(log(HangKind::kResetByOther),
            "xe 0000:03:00.0: [drm] Tile0: GT0: Engine reset: engine_class=rcs, logical_mask: 0x1, "
            "guc_id=8\n"
            "xe 0000:03:00.0: [drm] Tile0: GT0: Timedout job: seqno=1, lrc_seqno=1, guc_id=7, "
            "flags=0x0 in test [42]\n" +
                end);
}

TEST(KernelLog, OfI915SaysWhyTheEngineWasReset) {
  Works works("skl");
  const Placed batch = works.Place(kBatch);
  const Work work = works.Batch(batch, {});
  const auto log = [&](HangKind kind) {
    return KernelLogOfHang(work, HangPlace{.address = kBatch, .kind = kind}, "0000:00:02.0");
  };
  const std::string end = "i915 0000:00:02.0: [drm] test [42] context reset due to GPU hang\n";
  const std::string begin = "i915 0000:00:02.0: [drm] Resetting rcs0 for ";
  EXPECT_EQ(log(HangKind::kNotYielding), begin + "preemption time out\n" + end);
  EXPECT_EQ(log(HangKind::kRefused), begin + "CS error\n" + end);
  EXPECT_EQ(log(HangKind::kShader), begin + "stopped heartbeat on rcs0\n" + end);
}

TEST(HangReport, ApplesKernelSavesNothing) {
  Works works("m1");
  works.Place(kBatch);
  Work work = works.Make(kBatch);
  work.interface = "asahi";
  EXPECT_TRUE(absl::IsUnimplemented(MakeHangReport(work, std::nullopt, "", 9).status()));
}

}  // namespace
}  // namespace packsmith::capture
