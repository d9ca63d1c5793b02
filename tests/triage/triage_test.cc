// Signatures, rules, records and the state file. tests/tools/triage_test.py starts the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/dump/read.h"
#include "runtime/generations/generations.h"
#include "runtime/hang/report.h"
#include "runtime/hang/rings.h"
#include "runtime/triage/groups.h"
#include "runtime/triage/known_issues.h"
#include "runtime/triage/record.h"
#include "runtime/triage/signature.h"
#include "runtime/triage/state_file.h"

namespace packsmith::triage {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr char kFixture[] = "tests/data/hang/skl-gl-basic.error";

absl::StatusOr<tables::Tables> Gfx9(const Dump&) { return FindGeneration("gfx9"); }

Record Fixture() { return ReadRecord(*StampOf(kFixture), kDefaultMaxBytes, Gfx9); }

Signature SignatureOf(const std::string& text, const char* generation) {
  const tables::Tables tables = *FindGeneration(generation);
  absl::StatusOr<Dump> dump = ReadDump(BytesOf(text));
  EXPECT_TRUE(dump.ok()) << dump.status();
  if (!dump.ok()) return {};
  hang::AddRings(tables, *dump);
  return MakeSignature(tables, *dump, hang::MakeHangReport(tables, *dump));
}

// An xe dump without registers.
std::string Xe(absl::string_view started, absl::string_view ended, absl::string_view guc) {
  return absl::StrCat(
      "**** Xe Device Coredump ****\n"
      "Reason: Timedout job - seqno=7, lrc_seqno=4294967169, guc_id=5, flags=0x0\n"
      "kernel: 6.12.1\nSnapshot time: 1731234567.123\nProcess: ffmpeg\nPCI ID: 0x4908\n",
      guc,
      "**** GuC CT ****\n"
      "GuC ID: 5\n\tName: vcs5\n\tClass: 1\n\tHW Context Desc: 0x00506000\n"
      "\tStart seqno: (memory) ",
      started, "\n\tSeqno: (memory) ", ended,
      "\n**** Job ****\nbatch_addr[0]: 0xfffffffeeffe0000\n"
      "**** VM state ****\n[fffeeffe0000].length: 0x10\n[fffeeffe0000].data: zzzz\n");
}

TEST(Signatures, NameTheCommandWithoutAddresses) {
  const Record record = Fixture();
  ASSERT_EQ(record.outcome, Outcome::kHang) << record.trouble;
  const Signature& is = record.signature;
  EXPECT_EQ(is.generation, "gfx9");
  EXPECT_EQ(is.engine, "render");
  EXPECT_EQ(is.reason, "GPU HANG");
  EXPECT_EQ(is.verdict, "page-fault");
  EXPECT_EQ(is.command, "PIPE_CONTROL");
  EXPECT_EQ(is.fields, "Texture Cache Invalidation Enable=1");
  EXPECT_THAT(is.state_hash, SizeIs(16));
  EXPECT_EQ(is.kernel, "6.1.0-9-amd64");
  EXPECT_EQ(record.ecode, "9:1:0x85dffffb");
  EXPECT_EQ(record.time, 1700000000);
  EXPECT_FALSE(record.time_is_file);
  EXPECT_EQ(record.pci_id, "0x1912");
}

TEST(Signatures, OfQueuesSayHowFarTheJobCame) {
  EXPECT_EQ(SignatureOf(Xe("-128", "-129", ""), "gfx12").verdict, "never-started");
  EXPECT_EQ(SignatureOf(Xe("-127", "-128", ""), "gfx12").verdict, "not-ended");
  EXPECT_EQ(SignatureOf(Xe("-127", "-127", ""), "gfx12").verdict, "ended");
  const Signature video = SignatureOf(Xe("-127", "-128", ""), "gfx12");
  EXPECT_EQ(video.engine, "video");
  EXPECT_EQ(video.reason, "Timedout job");
  EXPECT_EQ(video.command, "");
}

TEST(Signatures, HaveTheFirmwareOfBothDrivers) {
  const auto firmware = [](absl::string_view text) {
    return SignatureOf(Xe("-127", "-128", text), "gfx12").firmware;
  };
  EXPECT_EQ(firmware("**** GuC Log ****\nGuC version: 70.6.3 (wanted 70.5.1)\n"), "70.6.3");
  EXPECT_EQ(firmware("**** GuC Log ****\nGuC version: unknown\n"), "");
  EXPECT_EQ(
      SignatureOf("GPU HANG: ecode 12:1:0x1, in a [1]\nKernel: 6.5.0 x86_64\nPCI ID: 0x4908\n"
                  "HuC firmware: h.bin\n\tstatus: RUNNING\n\tversion: wanted 7.9, found 7.9.3\n"
                  "GuC firmware: g.bin\n\tstatus: RUNNING\n\tversion: wanted 70.5, found 70.6.3\n",
                  "gfx12")
          .firmware,
      "70.6.3");
}

// A folder of packsmith-collect has the kernel's log too.
TEST(Records, TakeTheLogBesideTheDumpForEvidence) {
  const std::string folder = testing::TempDir() + "/beside";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string path = folder + "/data";
  std::ofstream(path) << Xe("-127", "-127", "");
  std::ofstream(folder + "/dmesg.txt")
      << "[ 1.0] xe 0000:83:00.0: [drm] Engine memory CAT error [18]: class=vcs, guc_id=5\n";
  const auto verdict = [&](absl::string_view device) {
    std::ofstream(folder + "/about.json")
        << R"({"type": "collected dump", "address": ")" << device << "\"}";
    return ReadRecord(*StampOf(path), kDefaultMaxBytes,
                      [](const Dump&) { return FindGeneration("gfx12"); })
        .signature.verdict;
  };
  EXPECT_EQ(verdict("0000:83:00.0"), "cat-error");
  EXPECT_EQ(verdict("0000:03:00.0"), "ended") << "the log's line is of another GPU";
}

TEST(Signatures, ReasonsHaveNoNumbers) {
  EXPECT_EQ(ReasonOf("GPU HANG: ecode 9:1:0x85dffffb, in gl-basic [1234]"), "GPU HANG");
  EXPECT_EQ(
      ReasonOf("GPU HANG: ecode 9:0:0x85dffffb, in X [1], reason: Hang on rcs0, action: reset"),
      "Hang on rcs");
  EXPECT_EQ(ReasonOf("GPU HANG: ecode 9:0:0x0, reason: hang on rcs1, action: reset"),
            "hang on rcs");
  EXPECT_EQ(ReasonOf("Timedout job - seqno=1, lrc_seqno=2, guc_id=3, flags=0x0"), "Timedout job");
  EXPECT_EQ(ReasonOf("Schedule disable failed to respond, guc_id=5, ret=-62, guc_read=4"),
            "Schedule disable failed to respond");
  EXPECT_EQ(ReasonOf("CTB is dead - 0x7"), "CTB is dead");
  EXPECT_EQ(ReasonOf(""), "");
  EXPECT_EQ(EcodeOf("GPU HANG: ecode 12:1:85dffffb, in X"), "12:1:85dffffb");
  EXPECT_EQ(EcodeOf("Timedout job"), "");
  EXPECT_EQ(SecondsOf("1700000000 s 123456 us"), 1700000000);
  EXPECT_EQ(SecondsOf("1731234567.123456789"), 1731234567);
  EXPECT_EQ(SecondsOf("yesterday"), 0);
}

TEST(Signatures, IdsCountTheFieldsOfTheSetOnly) {
  Signature a, b;
  a.engine = b.engine = "render";
  a.kernel = "6.1";
  b.kernel = "6.2";
  const FieldSet engine = *FieldsNamed("engine");
  EXPECT_EQ(IdOf(a, engine), IdOf(b, engine));
  EXPECT_NE(IdOf(a, kAllFields), IdOf(b, kAllFields));
  EXPECT_EQ(Only(a, engine).kernel, "");
  // A value that moves from one field to the next is another signature.
  Signature c, d;
  c.engine = "ab";
  d.engine = "a";
  d.reason = "b";
  EXPECT_NE(KeyOf(c, kAllFields), KeyOf(d, kAllFields));
  // Stored ids stay valid.
  EXPECT_EQ(IdOf(a, engine), "82f995e803388fdc");
  EXPECT_THAT(FieldsNamed("engine,color").status().message(),
              HasSubstr("\"color\" is not a field of a signature"));
}

TEST(KnownIssuesTest, CompareVersionsAsNumbers) {
  EXPECT_LT(CompareVersions("6.9", "6.10"), 0);
  EXPECT_LT(CompareVersions("70.6.2", "70.6.3"), 0);
  EXPECT_EQ(CompareVersions("6.8.0-45-generic", "6.8"), 0);
  EXPECT_GT(CompareVersions("10", "9.99.99"), 0);
  EXPECT_GT(CompareVersions("6.1.99999999999999999999999", "6.1.2"), 0);
  EXPECT_EQ(CompareVersions("", ""), 0);
}

TEST(KnownIssuesTest, PatternsMatchWholeTexts) {
  EXPECT_TRUE(Matches("pipe_*", "PIPE_CONTROL"));
  EXPECT_FALSE(Matches("PIPE", "PIPE_CONTROL"));
  EXPECT_TRUE(Matches("*a*b", "xxaxxabxab"));
  EXPECT_TRUE(Matches("?b*", "ab"));
  EXPECT_TRUE(Matches("", ""));
  EXPECT_FALSE(Matches("?", ""));
  // Many stars take no exponential time.
  EXPECT_FALSE(Matches(std::string(200, '*') + "b", std::string(2000, 'a')));
}

TEST(KnownIssuesTest, AllRulesMustHold) {
  const absl::StatusOr<KnownIssues> issues = ParseKnownIssues(
      "# a comment\n[one]\ntitle = First\nurl = https://example.org/?a=b\n"
      "command = MI_* | PIPE_CONTROL\nkernel = >= 6.1 < 6.5\r\n\n[two]\nfirmware = < 70.6.3\n"
      "[three]\nfirmware =\n",
      "issues.txt");
  ASSERT_TRUE(issues.ok()) << issues.status();
  const auto names = [&](const Signature& signature) {
    std::string all;
    for (const KnownIssue* one : issues->Of(signature)) absl::StrAppend(&all, one->id, " ");
    return all;
  };
  Signature is;
  is.command = "PIPE_CONTROL";
  is.kernel = "6.1.0-9-amd64";
  EXPECT_EQ(names(is), "one three ");
  is.firmware = "70.5.1";
  EXPECT_EQ(names(is), "one two ");
  is.kernel = "6.5.0";
  is.firmware = "70.6.3";
  EXPECT_EQ(names(is), "");
  EXPECT_EQ(issues->all()[0].title, "First");
  EXPECT_EQ(issues->all()[0].url, "https://example.org/?a=b");
}

TEST(KnownIssuesTest, MistakesNameTheirLine) {
  const auto message = [](absl::string_view text) {
    return std::string(ParseKnownIssues(text, "f").status().message());
  };
  EXPECT_THAT(message("command = X\n"), HasSubstr("f:1: a rule must follow a section"));
  EXPECT_THAT(message("[a]\n\nboard = X\n"), HasSubstr("f:3: \"board\" is not a field"));
  EXPECT_THAT(message("[a]\ntitle = T\n[b]\ncommand = X\n"), HasSubstr("f:1: [a] has no rule"));
  EXPECT_THAT(message("[a]\ncommand = X\n[a]\ncommand = Y\n"), HasSubstr("f:3: a section [a]"));
  EXPECT_THAT(message("[a\n"), HasSubstr("f:1: a section begins"));
  EXPECT_THAT(message("[a]\ncommand\n"), HasSubstr("f:2: a rule has the form"));
  EXPECT_THAT(message("[a]\nkernel = < x\n"), HasSubstr("f:2: \"< x\" must be versions"));
}

TEST(Records, AreTheSameAfterJson) {
  Record record = Fixture();
  record.trouble = "a \"quoted\" \xe2\x80\xae text\n";
  record.problems = 3;
  const std::string line = ToJson(record);
  EXPECT_THAT(line, Not(HasSubstr("\xe2\x80\xae")));
  const std::optional<Record> again = FromJson(line);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(*again, record);
  Record other;
  other.outcome = Outcome::kOther;
  EXPECT_EQ(FromJson(ToJson(other)), other);
}

TEST(Records, OfOtherJsonAreNone) {
  const std::string line = ToJson(Fixture());
  // Whatever the line is cut to, and whatever becomes of one of its bytes, it is a record or none.
  for (size_t i = 0; i < line.size(); ++i) {
    EXPECT_FALSE(FromJson(line.substr(0, i)).has_value());
    std::string changed = line;
    changed[i] = '"';
    (void)FromJson(changed);
  }
  EXPECT_FALSE(FromJson(std::string(100000, '[')).has_value());
  EXPECT_FALSE(FromJson("{\"type\":\"dump\",\"version\":\"0.0.0\"}").has_value());
  EXPECT_FALSE(FromJson("7").has_value());
}

TEST(Records, OfFilesThatAreNoDumps) {
  const auto outcome = [](const std::string& path) {
    return ReadRecord(*StampOf(path), kDefaultMaxBytes, Gfx9).outcome;
  };
  const std::string folder = testing::TempDir();
  const auto file = [&](const char* name, const std::string& content) {
    std::ofstream(folder + name, std::ios::binary) << content;
    return outcome(folder + name);
  };
  EXPECT_EQ(file("notes.txt", "Notes about the hang\n"), Outcome::kOther);
  EXPECT_EQ(file("about.json", "{\"kernel\":\"6.1\"}\n"), Outcome::kOther);
  EXPECT_EQ(file("empty", ""), Outcome::kUnreadable);
  EXPECT_EQ(file("cut.zst", std::string("\x28\xb5\x2f\xfd\x04", 5)), Outcome::kUnreadable);
  EXPECT_FALSE(StampOf(folder + "missing").ok());
}

TEST(StateFileTest, KnowsFilesAsTheyWere) {
  const std::string path = testing::TempDir() + "state.jsonl";
  std::remove(path.c_str());
  const Record record = Fixture();
  {
    absl::StatusOr<StateFile> state = StateFile::Open(path);
    ASSERT_TRUE(state.ok()) << state.status();
    EXPECT_FALSE(state->Find(record.file).has_value());
    ASSERT_TRUE(state->Append(record).ok());
    EXPECT_EQ(state->Find(record.file), record);
    // Nobody else may write to it meanwhile.
    EXPECT_THAT(StateFile::Open(path).status().message(), HasSubstr("in use by another run"));
  }
  // The last line was cut off.
  { std::ofstream(path, std::ios::app) << "{\"type\":\"dump\",\"ver"; }
  absl::StatusOr<StateFile> state = StateFile::Open(path);
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(state->Find(record.file), record);
  FileStamp changed = record.file;
  ++changed.modified_ns;
  EXPECT_FALSE(state->Find(changed).has_value());
  // Replaced lines are dropped at the end.
  for (int i = 0; i < 5; ++i) {
    Record later = record;
    later.file.modified_ns += i;
    ASSERT_TRUE(state->Append(later).ok());
  }
  ASSERT_TRUE(state->Finish().ok());
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  changed.modified_ns = record.file.modified_ns + 4;
  const std::optional<Record> left = FromJson(text.substr(0, text.size() - 1));
  ASSERT_TRUE(left.has_value());
  EXPECT_EQ(left->file, changed);
}

TEST(StateFileTest, OtherFilesAreNotTouched) {
  const std::string path = testing::TempDir() + "other.txt";
  for (const char* const text : {"my notes\n", "my notes without an end"}) {
    { std::ofstream(path, std::ios::binary) << text; }
    EXPECT_EQ(StateFile::Open(path).status().code(), absl::StatusCode::kFailedPrecondition);
    std::ifstream file(path);
    EXPECT_EQ(std::string((std::istreambuf_iterator<char>(file)), {}), text);
  }
}

TEST(GroupsTest, CountAndChooseAnExample) {
  Groups groups(kAllFields, *ParseKnownIssues("[x]\ncommand = PIPE_CONTROL\n", "f"));
  Record record = Fixture();
  record.problems = 1;
  record.trouble = "byte 7: cut off";
  EXPECT_THAT(groups.Add(record), HasSubstr("\"issues\":[\"x\"]"));
  record.problems = 0;
  record.time = 1800000000;
  record.file.path = "later";
  groups.Add(record);
  Record other;
  other.outcome = Outcome::kOther;
  EXPECT_EQ(groups.Add(other), "");
  Record bad;
  bad.file.path = "bad|name";
  bad.trouble = "not\x1b[31m a dump";
  groups.Add(bad);
  const Triage triage = groups.Take();
  ASSERT_THAT(triage.groups, SizeIs(1));
  EXPECT_EQ(triage.groups[0].count, 2u);
  EXPECT_EQ(triage.groups[0].first, 1700000000);
  EXPECT_EQ(triage.groups[0].last, 1800000000);
  // One without damage is better than an earlier one.
  EXPECT_EQ(triage.groups[0].example.file.path, "later");
  EXPECT_EQ(triage.others, 1u);
  EXPECT_THAT(triage.damages, SizeIs(2));
  EXPECT_THAT(ToText(triage, 0), HasSubstr("2 dumps of hangs in 1 group; 1 dump has damaged parts; "
                                           "1 dump could not be read; 1 other file\n"));
  EXPECT_THAT(ToText(triage, 0), Not(HasSubstr("\x1b")));
  EXPECT_THAT(ToMarkdown(triage, 0), HasSubstr("bad\\|name"));
  EXPECT_THAT(ToJsonLines(triage), HasSubstr("\"count\":2,\"first\":1700000000"));
}

TEST(GroupsTest, TalliesAreBounded) {
  Tally tally;
  for (int i = 0; i < 1000; ++i) tally.Add(absl::StrCat("process", i));
  tally.Add("process3");
  EXPECT_THAT(tally.Sorted(), SizeIs(Tally::kMost));
  EXPECT_EQ(tally.Sorted()[0].first, "process3");
  EXPECT_EQ(tally.others(), 1000 - Tally::kMost);
}

}  // namespace
}  // namespace packsmith::triage
