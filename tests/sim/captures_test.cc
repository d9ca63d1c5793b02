// The batches of real drivers, executed to their end.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/record.h"
#include "runtime/decode/sinks/stats_sink.h"
#include "runtime/dump/read.h"
#include "runtime/generations/generations.h"
#include "runtime/sim/overlay_memory.h"
#include "runtime/sim/streamer.h"

namespace packsmith::sim {
namespace {

using testing::IsEmpty;

class Counts : public Observer {
 public:
  void OnCommand(const Command&) override { ++commands; }
  void OnSkipped(const Command&) override { ++commands; }
  void OnWork(const Work& work) override {
    ++(work.role == tables::Role::kDraw ? draws : dispatches);
  }
  void OnProblem(const Problem& problem) override {
    if (problem.kind != ProblemKind::kApproximate) problems.insert(problem.text);
  }
  uint64_t commands = 0, draws = 0, dispatches = 0;
  std::set<std::string> problems;
};

class Captures : public testing::TestWithParam<std::string> {};

TEST_P(Captures, RunToTheirEndWithTheDrawsOfTheStream) {
  const absl::StatusOr<std::vector<std::string>> files =
      DumpsIn("tests/data/captures/" + GetParam());
  ASSERT_TRUE(files.ok()) << files.status().message();
  Counts counts;
  decode::StringOutput text;
  const std::unique_ptr<decode::Sink> sink = decode::MakeStatsSink(text);
  std::unique_ptr<decode::Decoder> decoder;
  std::unique_ptr<tables::Tables> tables;
  const Memory empty;
  OverlayMemory memory(empty);
  std::map<std::pair<uint32_t, std::string>, std::unique_ptr<Streamer>> streamers;
  for (const std::string& file : *files) {
    const absl::StatusOr<Dump> dump = ReadDump(file);
    ASSERT_TRUE(dump.ok()) << dump.status().message();
    if (tables == nullptr) {
      const absl::StatusOr<tables::Tables> found = FindGeneration(dump->device.generation);
      ASSERT_TRUE(found.ok()) << found.status().message();
      tables = std::make_unique<tables::Tables>(*found);
      decode::Options options;
      options.brief = true;
      decoder = std::make_unique<decode::Decoder>(*tables, *sink, options);
    }
    decoder->Decode(*dump);
    memory.Continue(dump->memory);
    for (const Submission& submission : dump->submissions) {
      std::unique_ptr<Streamer>& streamer = streamers[{submission.context, submission.engine}];
      if (streamer == nullptr) {
        const uint32_t engine = tables->FindEngine(submission.engine);
        ASSERT_NE(engine, tables::kNone);
        streamer = std::make_unique<Streamer>(
            *tables, memory, StreamerOptions{.engine = engine, .own_space = submission.space},
            counts);
      }
      streamer->EnterBatch(submission.space, submission.batch_address);
      EXPECT_EQ(streamer->Run(1000000), Stop::kEnded)
          << file << " at " << std::hex << streamer->address();
    }
    memory.Detach();
  }
  const decode::Summary summary = decoder->Finish();
  EXPECT_GT(counts.commands, 0u);
  EXPECT_EQ(counts.draws, summary.draws);
  EXPECT_EQ(counts.dispatches, summary.dispatches);
  EXPECT_THAT(counts.problems, IsEmpty());
}

std::vector<std::string> Folders() {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator("tests/data/captures")) {
    if (entry.is_directory()) out.push_back(entry.path().filename());
  }
  std::sort(out.begin(), out.end());
  return out;
}

INSTANTIATE_TEST_SUITE_P(All, Captures, testing::ValuesIn(Folders()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace packsmith::sim
