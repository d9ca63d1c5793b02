// The submissions of real drivers, recorded, decode as they did.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "runtime/decode/decoder.h"
#include "runtime/decode/sinks/jsonl_sink.h"
#include "runtime/dump/elf_core.h"
#include "runtime/dump/read.h"
#include "runtime/generations/generations.h"
#include "tests/capture/records/made_up.h"

namespace packsmith::capture {
namespace {

// All that the decoder says about dumps of one GPU.
class Decoded {
 public:
  void Add(Dump& dump, uint32_t number) {
    for (Submission& submission : dump.submissions) submission.index = number;
    if (decoder_ == nullptr) {
      const absl::StatusOr<tables::Tables> tables = FindGeneration(dump.device.generation);
      ASSERT_TRUE(tables.ok()) << tables.status();
      tables_ = std::make_unique<tables::Tables>(*tables);
      sink_ = decode::MakeJsonlSink(output_, {});
      decoder_ = std::make_unique<decode::Decoder>(*tables_, *sink_, decode::Options());
    }
    decoder_->Decode(dump);
  }
  std::string Text() {
    if (decoder_ != nullptr) decoder_->Finish();
    return output_.text();
  }

 private:
  decode::StringOutput output_;
  std::unique_ptr<tables::Tables> tables_;
  std::unique_ptr<decode::Sink> sink_;
  std::unique_ptr<decode::Decoder> decoder_;
};

class CapturesTest : public testing::TestWithParam<std::string> {};

TEST_P(CapturesTest, DecodeTheSameAsARecordAndAsACoreMadeOfIt) {
  const Folder folder;
  const std::string run = folder / "run";
  const absl::StatusOr<std::vector<std::string>> files =
      DumpsIn("tests/data/captures/" + GetParam());
  ASSERT_TRUE(files.ok());
  Decoded original, recorded, alone;
  {
    const std::unique_ptr<Recorder> recorder = MakeRecorder({.folder = run});
    for (const std::string& file : *files) {
      absl::StatusOr<Dump> dump = ReadDump(file);
      ASSERT_TRUE(dump.ok()) << dump.status();
      const uint64_t number = recorder->NextNumber();
      const absl::StatusOr<bool> added = recorder->Add({*dump, {}, {.number = number}});
      ASSERT_TRUE(added.ok()) << added.status();
      original.Add(*dump, static_cast<uint32_t>(number));
    }
  }
  const absl::StatusOr<FoundDumps> found = FindDumps(run);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->paths.size(), files->size());
  uint32_t number = 0;
  for (const std::string& path : found->paths) {
    absl::StatusOr<Dump> dump = ReadDump(path);
    ASSERT_TRUE(dump.ok()) << dump.status();
    recorded.Add(*dump, ++number);
    const std::string core = folder / "alone.core";
    ASSERT_TRUE(WriteElfCore(*dump, core).ok());
    absl::StatusOr<Dump> again = ReadDump(core);
    ASSERT_TRUE(again.ok()) << again.status();
    alone.Add(*again, number);
  }
  const std::string expected = original.Text();
  EXPECT_GT(expected.size(), 1000u);
  EXPECT_TRUE(recorded.Text() == expected);
  EXPECT_TRUE(alone.Text() == expected);
}

std::vector<std::string> Folders() {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator("tests/data/captures")) {
    if (entry.is_directory()) out.push_back(entry.path().filename());
  }
  std::sort(out.begin(), out.end());
  return out;
}

INSTANTIATE_TEST_SUITE_P(All, CapturesTest, testing::ValuesIn(Folders()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace packsmith::capture
