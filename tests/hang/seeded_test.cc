// Dumps with a known cause get the verdict of that cause, and the table of docs/hang.md says which.

#include "tests/hang/seeded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/file.h"
#include "runtime/dump/read.h"
#include "runtime/generations/generations.h"
#include "runtime/hang/report.h"
#include "runtime/hang/report_text.h"
#include "runtime/hang/rings.h"

namespace packsmith::hang {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

struct Column {
  const char* generation;
  Form form;
  const char* title;
};
constexpr Column kColumns[] = {{"gfx9", Form::kI915, "Gfx9, i915"},
                               {"gfx125", Form::kI915Guc, "Gfx12.5, i915 with GuC"},
                               {"gfx125", Form::kXe, "Gfx12.5, xe"},
                               {"xe2", Form::kXe, "Xe2, xe"}};
constexpr Column kOfXe = kColumns[2];

struct Diagnosis {
  HangReport report;
  std::string text;
};

std::optional<Diagnosis> DiagnosisOf(const Column& column, Seed seed) {
  const tables::Tables tables = *FindGeneration(column.generation);
  const std::optional<SeededHang> made = SeedHang(tables, seed, column.form);
  if (!made) return std::nullopt;
  absl::StatusOr<Dump> dump = ReadDump(BytesOf(made->text));
  if (!dump.ok()) {
    ADD_FAILURE() << dump.status();
    return std::nullopt;
  }
  AddRings(tables, *dump);
  Diagnosis diagnosis;
  diagnosis.report = MakeHangReport(tables, *dump, made->events);
  diagnosis.text = ToText(tables, diagnosis.report);
  return diagnosis;
}

// What a report's best verdict should be; empty: none.
std::optional<VerdictKind> Expected(Seed seed) {
  switch (seed) {
    case Seed::kPageFault:
      return VerdictKind::kPageFault;
    case Seed::kCatError:
      return VerdictKind::kCatError;
    case Seed::kNeverStarted:
      return VerdictKind::kNeverStarted;
    case Seed::kSemaphore:
    case Seed::kSemaphoreOfOther:
      return VerdictKind::kSemaphoreWait;
    case Seed::kEvent:
      return VerdictKind::kEventWait;
    case Seed::kLoop:
    case Seed::kLoopOnMemory:
      return VerdictKind::kEndlessLoop;
    case Seed::kPreemption:
      return VerdictKind::kPreemptionTimeout;
    case Seed::kResetByOther:
      return VerdictKind::kResetByOther;
    case Seed::kAlreadyReset:
      return VerdictKind::kAlreadyReset;
    case Seed::kBatchMissing:
      return VerdictKind::kBatchMissing;
    case Seed::kUnknownCommand:
      return VerdictKind::kUnknownCommand;
    case Seed::kReservedBits:
      return VerdictKind::kReservedBits;
    case Seed::kShader:
      return VerdictKind::kShader;
    case Seed::kPipeline:
      return VerdictKind::kPipeline;
    case Seed::kNothing:
      return std::nullopt;
  }
  return std::nullopt;
}

class Seeds : public testing::TestWithParam<int> {};

TEST_P(Seeds, AreRecognized) {
  const auto seed = static_cast<Seed>(GetParam());
  for (const Column& column : kColumns) {
    const std::optional<Diagnosis> diagnosis = DiagnosisOf(column, seed);
    if (!diagnosis) continue;
    const std::vector<Verdict>& verdicts = diagnosis->report.verdicts;
    const std::optional<VerdictKind> expected = Expected(seed);
    if (!expected) {
      EXPECT_THAT(verdicts, IsEmpty()) << column.title << "\n" << diagnosis->text;
      EXPECT_THAT(diagnosis->text, testing::StartsWith("verdict  none"));
      continue;
    }
    ASSERT_THAT(verdicts, Not(IsEmpty())) << column.title << "\n" << diagnosis->text;
    EXPECT_EQ(verdicts[0].kind, *expected) << column.title << "\n" << diagnosis->text;
    EXPECT_THAT(verdicts[0].evidence, Not(IsEmpty())) << column.title;
    EXPECT_THAT(verdicts[0].alternative, Not(IsEmpty())) << column.title;
    EXPECT_THAT(diagnosis->text,
                testing::StartsWith(absl::StrCat("verdict  ", NameOf(verdicts[0].kind), " (")));
  }
}

INSTANTIATE_TEST_SUITE_P(Each, Seeds, testing::Range(0, kSeeds),
                         [](const testing::TestParamInfo<int>& one) {
                           std::string name(NameOf(static_cast<Seed>(one.param)));
                           for (char& c : name) {
                             if (!isalnum(static_cast<unsigned char>(c))) c = '_';
                           }
                           return name;
                         });

Verdict Best(const Column& column, Seed seed) {
  const std::optional<Diagnosis> diagnosis = DiagnosisOf(column, seed);
  if (!diagnosis || diagnosis->report.verdicts.empty()) {
    ADD_FAILURE() << column.title;
    return {};
  }
  return diagnosis->report.verdicts[0];
}

TEST(Verdicts, SayWhatASemaphoreSeesAndThatNothingWritesIt) {
  for (const Column& column : kColumns) {
    const Verdict verdict = Best(column, Seed::kSemaphore);
    EXPECT_EQ(verdict.confidence, Confidence::kHigh) << column.title;
    EXPECT_EQ(verdict.address, 0x300000u) << column.title;
    EXPECT_THAT(verdict.sentence, HasSubstr("until the dword at 0x300000 equals 0x7"));
    EXPECT_THAT(verdict.evidence, Contains(HasSubstr("The dump has 0x0 there")));
    EXPECT_THAT(verdict.alternative, HasSubstr("Nothing in the dump writes"));
  }
}

TEST(Verdicts, NameTheCommandThatWouldEndAWait) {
  for (const Column& column : kColumns) {
    const Verdict verdict = Best(column, Seed::kSemaphoreOfOther);
    EXPECT_THAT(verdict.evidence, Contains(testing::AllOf(HasSubstr("MI_STORE_DATA_IMM"),
                                                          HasSubstr("0x7, which ends the wait"))))
        << column.title;
  }
}

TEST(Verdicts, SayWhereAFaultWasAndThatNothingIsBoundThere) {
  for (const Column& column : kColumns) {
    const Verdict verdict = Best(column, Seed::kPageFault);
    EXPECT_EQ(verdict.address, 0x7fff0000u) << column.title;
    EXPECT_EQ(verdict.confidence, Confidence::kHigh) << column.title;
    EXPECT_THAT(verdict.evidence, Contains(HasSubstr("No buffer of the dump has the address")));
  }
}

TEST(Verdicts, OfAnEventNameIt) {
  for (const Column& column : kColumns) {
    EXPECT_THAT(Best(column, Seed::kEvent).sentence, HasSubstr("Vertical Blank Wait Enable"))
        << column.title;
  }
}

TEST(Verdicts, OfALoopSayWhereItIs) {
  for (const Column& column : kColumns) {
    const Verdict verdict = Best(column, Seed::kLoop);
    EXPECT_GE(verdict.address, 0x200000u) << column.title;
    EXPECT_LT(verdict.address, 0x201000u) << column.title;
  }
}

// Lines of a kernel log say what registers do not.
TEST(Verdicts, UseAKernelLog) {
  const tables::Tables tables = *FindGeneration(kOfXe.generation);
  const std::optional<SeededHang> made = SeedHang(tables, Seed::kNothing, kOfXe.form);
  ASSERT_TRUE(made.has_value());
  absl::StatusOr<Dump> dump = ReadDump(BytesOf(made->text));
  ASSERT_TRUE(dump.ok()) << dump.status();
  Event fault;
  fault.kind = EventKind::kPageFault;
  fault.source = "kernel log, line 1";
  fault.address = 0x301800;
  fault.access = "write";
  fault.text = "page fault";
  const HangReport report = MakeHangReport(tables, *dump, {&fault, 1});
  ASSERT_THAT(report.verdicts, SizeIs(1));
  EXPECT_EQ(report.verdicts[0].kind, VerdictKind::kPageFault);
  EXPECT_EQ(report.verdicts[0].confidence, Confidence::kMedium) << "it may be another job's";
  EXPECT_THAT(report.verdicts[0].evidence, Contains(HasSubstr("an access past that end?")));
}

TEST(Verdicts, WarnOfOldFirmware) {
  for (const auto& [version, warned] :
       std::vector<std::pair<std::string, bool>>{{"70.5.1", true},
                                                 {"70.6.2 (wanted 70.6.3)", true},
                                                 {"70.6.3", false},
                                                 {"70.44.1", false},
                                                 {"71.0.0", false},
                                                 {"69.9.9", true},
                                                 {"x", false},
                                                 {"70.5", false}}) {
    const tables::Tables tables = *FindGeneration("gfx125");
    std::string text = SeedHang(tables, Seed::kNothing, Form::kXe)->text;
    const std::string old = "GuC version: 70.44.1 (wanted 70.44.1)";
    const size_t at = text.find(old);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, old.size(), "GuC version: " + version);
    absl::StatusOr<Dump> dump = ReadDump(BytesOf(text));
    ASSERT_TRUE(dump.ok()) << dump.status();
    const HangReport report = MakeHangReport(tables, *dump);
    if (warned) {
      EXPECT_THAT(report.warnings, Contains(HasSubstr("GuC firmware"))) << version;
    } else {
      EXPECT_THAT(report.warnings, Not(Contains(HasSubstr("GuC firmware")))) << version;
    }
  }
}

// i915 writes the version below the name of the firmware's file.
TEST(Verdicts, WarnOfOldFirmwareInAnyDriversDump) {
  const tables::Tables tables = *FindGeneration("gfx125");
  for (const auto& [version, warned] :
       std::vector<std::pair<std::string, bool>>{{"70.5.1", true}, {"70.6.3", false}}) {
    const std::string text = absl::StrCat(
        SeedHang(tables, Seed::kNothing, Form::kI915Guc)->text,
        "GuC firmware: i915/dg2_guc_70.bin\n\tstatus: RUNNING\n\tversion: wanted 70.5, found ",
        version, "\nHuC firmware: i915/dg2_huc.bin\n\tversion: wanted 7.9, found 7.9.3\n");
    absl::StatusOr<Dump> dump = ReadDump(BytesOf(text));
    ASSERT_TRUE(dump.ok()) << dump.status();
    const HangReport report = MakeHangReport(tables, *dump);
    EXPECT_EQ(report.versions.guc, version);
    EXPECT_EQ(report.versions.huc, "7.9.3");
    EXPECT_EQ(report.warnings.size(), warned ? 1u : 0u) << version;
    EXPECT_THAT(ToText(tables, report),
                HasSubstr(absl::StrCat("  firmware  GuC ", version, ", HuC 7.9.3\n")));
  }
}

TEST(Verdicts, TakeNoEngineOfAParallelQueueForAnotherContext) {
  const tables::Tables tables = *FindGeneration(kOfXe.generation);
  absl::StatusOr<Dump> dump =
      ReadDump(BytesOf(SeedHang(tables, Seed::kSemaphore, Form::kXe, 2)->text));
  ASSERT_TRUE(dump.ok()) << dump.status();
  AddRings(tables, *dump);
  const HangReport report = MakeHangReport(tables, *dump);
  ASSERT_THAT(report.contexts, SizeIs(1));
  EXPECT_THAT(report.contexts[0].said.parallel, SizeIs(1));
  EXPECT_TRUE(report.contexts[0].at_fault);
  EXPECT_THAT(report.warnings, IsEmpty()) << "the registers are those of the first engine";
  ASSERT_THAT(report.verdicts, Not(IsEmpty()));
  EXPECT_EQ(report.verdicts[0].kind, VerdictKind::kSemaphoreWait);
  const std::string text = ToText(tables, report);
  EXPECT_THAT(text, HasSubstr("on 2 engines at once, image at 0x500000"));
  EXPECT_THAT(text, HasSubstr("engine 2 of it, image at 0x510000"));
}

TEST(Verdicts, OfEveryKindHaveNames) {
  std::vector<absl::string_view> names;
  for (int i = 0; i < kVerdictKinds; ++i) {
    const absl::string_view name = NameOf(static_cast<VerdictKind>(i));
    EXPECT_THAT(name, Not(IsEmpty()));
    EXPECT_THAT(names, Not(Contains(name)));
    names.push_back(name);
  }
}

// The table of the documentation is what the rules say now.
TEST(Verdicts, AreInTheDocumentation) {
  std::string table = "| hang that was made |";
  for (const Column& column : kColumns) absl::StrAppend(&table, " ", column.title, " |");
  table += "\n|---|---|---|---|---|\n";
  for (int i = 0; i < kSeeds; ++i) {
    const auto seed = static_cast<Seed>(i);
    absl::StrAppend(&table, "| ", NameOf(seed), " |");
    for (const Column& column : kColumns) {
      const std::optional<Diagnosis> diagnosis = DiagnosisOf(column, seed);
      if (!diagnosis) {
        table += " not in such a dump |";
      } else if (diagnosis->report.verdicts.empty()) {
        table += " none |";
      } else {
        const Verdict& verdict = diagnosis->report.verdicts[0];
        absl::StrAppend(&table, " ", NameOf(verdict.kind), ", ", NameOf(verdict.confidence), " |");
      }
    }
    table += "\n";
  }
  const absl::StatusOr<FileBytes> page = OpenFile("docs/hang.md");
  ASSERT_TRUE(page.ok()) << page.status();
  const std::string text(reinterpret_cast<const char*>(page->bytes.data()), page->bytes.size());
  EXPECT_THAT(text, HasSubstr(table)) << table;
}

}  // namespace
}  // namespace packsmith::hang
