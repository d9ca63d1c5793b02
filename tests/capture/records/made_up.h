// Made-up memory of a GPU's client, dumps with views of it, and what records say about it.
#ifndef PACKSMITH_TESTS_CAPTURE_RECORDS_MADE_UP_H_
#define PACKSMITH_TESTS_CAPTURE_RECORDS_MADE_UP_H_

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "runtime/capture/records/recorder.h"
#include "runtime/dump/dump.h"
#include "runtime/dump/read.h"
#include "runtime/dump/run_folder.h"

namespace packsmith::capture {

// A folder that is removed at the end.
class Folder {
 public:
  Folder() {
    std::string name = testing::TempDir() + "/records-XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

struct MadeUpBuffer {
  uint64_t id = 0;
  uint64_t address = 0;
  std::vector<uint8_t> bytes;
};

inline Dump DumpOf(const std::vector<MadeUpBuffer>& buffers, uint32_t context = 1) {
  Dump dump;
  dump.device.family = "intel";
  dump.device.generation = "gfx9";
  dump.device.verx10 = 90;
  dump.device.pci_id = 0x1912;
  Submission submission;
  submission.engine = "render";
  submission.context = context;
  for (const MadeUpBuffer& buffer : buffers) {
    EXPECT_TRUE(dump.memory.Map(0, buffer.address, buffer.bytes, buffer.bytes.size()).ok());
    dump.buffers.push_back(
        {0, buffer.address, buffer.bytes.size(), "bo" + std::to_string(buffer.id)});
    if (submission.batch_address == 0) submission.batch_address = buffer.address;
  }
  dump.submissions.push_back(submission);
  return dump;
}

inline std::vector<MemoryPart> PartsOf(const std::vector<MadeUpBuffer>& buffers) {
  std::vector<MemoryPart> parts;
  for (const MadeUpBuffer& buffer : buffers) {
    MemoryPart part;
    part.address = buffer.address;
    part.size = buffer.bytes.size();
    part.buffer = buffer.id;
    parts.push_back(part);
  }
  return parts;
}

// Records one submission of all buffers, and returns whether it was recorded.
inline bool AddOne(Recorder& recorder, uint64_t number, const std::vector<MadeUpBuffer>& buffers,
                   uint32_t context = 1) {
  const Dump dump = DumpOf(buffers, context);
  const std::vector<MemoryPart> parts = PartsOf(buffers);
  SubmissionFacts facts;
  facts.number = number;
  facts.process = "cube";
  facts.pid = 77;
  const absl::StatusOr<bool> added = recorder.Add({dump, parts, facts});
  EXPECT_TRUE(added.ok()) << added.status();
  return added.ok() && *added;
}

inline std::unique_ptr<Recorder> MakeRecorder(const RecordOptions& options) {
  absl::StatusOr<std::unique_ptr<Recorder>> recorder =
      Recorder::Create(options, {.program = "test", .command = "cube --frames 3"});
  EXPECT_TRUE(recorder.ok()) << recorder.status();
  return recorder.ok() ? *std::move(recorder) : nullptr;
}

inline std::vector<uint8_t> RandomBytes(size_t size, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> bytes(size);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random() | 1);
  return bytes;
}

// The numbers of the records that `folder` has, all of which must be readable.
inline std::vector<uint64_t> NumbersIn(const std::string& folder) {
  const absl::StatusOr<RunFolder> run = ReadRunFolder(folder);
  EXPECT_TRUE(run.ok()) << run.status();
  std::vector<uint64_t> numbers;
  if (!run.ok()) return numbers;
  for (const std::string& problem : run->problems) ADD_FAILURE() << problem;
  for (const RunRecord& record : run->records) {
    const absl::StatusOr<Dump> dump = ReadDump(folder + "/" + record.file);
    EXPECT_TRUE(dump.ok()) << dump.status();
    if (dump.ok()) {
      for (const Problem& problem : dump->problems) ADD_FAILURE() << problem.text;
    }
    numbers.push_back(record.number);
  }
  return numbers;
}

// Whether the record has exactly these buffers.
inline void ExpectRecord(const std::string& folder, uint64_t number,
                         const std::vector<MadeUpBuffer>& buffers) {
  const absl::StatusOr<Dump> dump = ReadDump(folder + "/" + RecordFile(number));
  ASSERT_TRUE(dump.ok()) << dump.status();
  for (const Problem& problem : dump->problems) ADD_FAILURE() << problem.text;
  uint64_t mapped = 0, expected = 0;
  for (const Memory::Segment& segment : dump->memory.segments()) mapped += segment.memory_size;
  for (const MadeUpBuffer& buffer : buffers) {
    std::vector<uint8_t> bytes(buffer.bytes.size());
    EXPECT_EQ(dump->memory.Copy(0, buffer.address, absl::MakeSpan(bytes)), bytes.size());
    EXPECT_TRUE(bytes == buffer.bytes) << "record " << number << ", buffer " << buffer.id;
    expected += bytes.size();
  }
  EXPECT_EQ(mapped, expected);
  ASSERT_EQ(dump->submissions.size(), 1u);
  EXPECT_EQ(dump->submissions[0].index, number);
  EXPECT_EQ(dump->buffers.size(), buffers.size());
  EXPECT_EQ(dump->device.pci_id, 0x1912u);
}

inline std::string ContentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

inline void WriteFile(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

// Bytes of all files of a folder, without holes.
inline uint64_t SizeOf(const std::string& folder) {
  uint64_t size = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    struct stat about {};
    EXPECT_EQ(stat(entry.path().c_str(), &about), 0);
    size += static_cast<uint64_t>(std::min<int64_t>(about.st_size, about.st_blocks * 512));
  }
  return size;
}

}  // namespace packsmith::capture

#endif  // PACKSMITH_TESTS_CAPTURE_RECORDS_MADE_UP_H_
