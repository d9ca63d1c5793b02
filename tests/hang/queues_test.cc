// The firmware's queues and the job in xe dumps, with registers and without.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/file.h"
#include "runtime/dump/read.h"
#include "runtime/generations/generations.h"
#include "runtime/hang/report.h"
#include "runtime/hang/report_json.h"
#include "runtime/hang/report_text.h"
#include "runtime/hang/rings.h"

namespace packsmith::hang {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const tables::Tables& Gfx12() {
  static const tables::Tables* const kTables = new tables::Tables(*FindGeneration("gfx12"));
  return *kTables;
}

Dump Read(const std::string& text) {
  absl::StatusOr<Dump> dump = ReadDump(BytesOf(text));
  EXPECT_TRUE(dump.ok()) << dump.status();
  if (!dump.ok()) return {};
  AddRings(Gfx12(), *dump);
  return *std::move(dump);
}

// Of one queue, with or without the number of the job at fault.
std::string Text(absl::string_view reason, absl::string_view started, absl::string_view ended) {
  return absl::StrCat(
      "**** Xe Device Coredump ****\n", reason,
      "kernel: 6.12.1\nProcess: ffmpeg\nPCI ID: 0x4908\n"
      "**** GuC CT ****\n"
      "GuC ID: 5\n\tName: vcs5\n\tClass: 1\n\tHW Context Desc: 0x00506000\n"
      "\tLRC Head: (memory) 0\n\tLRC Tail: (internal) 632, (memory) 632\n"
      "\tStart seqno: (memory) ",
      started, "\n\tSeqno: (memory) ", ended,
      "\n**** Job ****\nbatch_addr[0]: 0xfffffffeeffe0000\n"
      "**** VM state ****\n[fffeeffe0000].length: 0x10\n[fffeeffe0000].data: zzzz\n");
}
constexpr char kJob[] =
    "Reason: Timedout job - seqno=7, lrc_seqno=4294967169, guc_id=5, flags=0x0\n";

JobState StateOf(absl::string_view reason, absl::string_view started, absl::string_view ended) {
  const HangReport report = MakeHangReport(Gfx12(), Read(Text(reason, started, ended)));
  EXPECT_THAT(report.contexts, SizeIs(1));
  return report.contexts.empty() ? JobState::kUnknown : report.contexts[0].state;
}

TEST(Queues, AreShownWithoutAnEnginesRegisters) {
  const HangReport report = MakeHangReport(Gfx12(), Read(Text("", "-127", "-128")));
  EXPECT_THAT(report.engines, IsEmpty());
  const std::string text = ToText(Gfx12(), report);
  EXPECT_THAT(text, HasSubstr("No engine's registers are in the dump."));
  EXPECT_THAT(text,
              HasSubstr("context   GuC ID 5, vcs5, image at 0x506000, ring from 0x0 to 0x278"));
  EXPECT_THAT(text, HasSubstr("a job has begun and not ended"));
  EXPECT_THAT(text, HasSubstr("job       batch at 0xfffeeffe0000, in a buffer of 16 bytes at "
                              "0xfffeeffe0000"));
}

TEST(Queues, AreInJsonToo) {
  rapidjson::Document json;
  json.Parse(ToJson(Gfx12(), MakeHangReport(Gfx12(), Read(Text("", "-127", "-128")))).c_str());
  ASSERT_FALSE(json.HasParseError());
  ASSERT_EQ(json["contexts"].Size(), 1u);
  const auto& context = json["contexts"][0];
  EXPECT_STREQ(context["id"].GetString(), "5");
  EXPECT_STREQ(context["engine"].GetString(), "vcs5");
  EXPECT_STREQ(context["tail"].GetString(), "0x278");
  EXPECT_EQ(context["started"].GetInt(), -127);
  EXPECT_EQ(context["ended"].GetInt(), -128);
  EXPECT_STREQ(context["state"].GetString(), "runs");
  ASSERT_EQ(json["batches"].Size(), 1u);
  EXPECT_STREQ(json["batches"][0]["address"].GetString(), "0xfffeeffe0000");
  EXPECT_TRUE(json["batches"][0]["mapped"].GetBool());
}

TEST(Queues, ComparedWithTheJobAtFaultSayHowFarItIs) {
  EXPECT_EQ(StateOf(kJob, "-128", "-128"), JobState::kNotBegun);
  EXPECT_EQ(StateOf(kJob, "-127", "-128"), JobState::kRuns);
  EXPECT_EQ(StateOf(kJob, "-127", "-127"), JobState::kEnded);
  EXPECT_EQ(StateOf(kJob, "-126", "-127"), JobState::kEnded) << "the job at fault has ended";
}

TEST(Queues, WithoutTheJobSayWhetherSomethingRuns) {
  EXPECT_EQ(StateOf("", "4", "3"), JobState::kRuns);
  EXPECT_EQ(StateOf("", "4", "4"), JobState::kEnded);
  EXPECT_EQ(StateOf("", "-2147483648", "2147483647"), JobState::kRuns) << "numbers wrap";
  EXPECT_EQ(StateOf("", "x", "3"), JobState::kUnknown);
}

}  // namespace
}  // namespace packsmith::hang
