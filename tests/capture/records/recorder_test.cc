#include "runtime/capture/records/recorder.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <future>
#include <memory>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/capture/records/made_up.h"

namespace packsmith::capture {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr size_t kPage = kMemoryPage;

// --- Content ---

TEST(RecorderTest, EveryRecordHasTheMemoryOfItsTime) {
  const Folder folder;
  const std::string run = folder / "run";
  std::vector<MadeUpBuffer> buffers = {
      {1, 0x10000, std::vector<uint8_t>(16 * kPage)},
      {2, 0x100000, RandomBytes(64 * kPage, 2)},
      {3, 0xffff00000000, std::vector<uint8_t>(5 * kPage + 100)},  // not a whole page
      {4, 0x300000, std::vector<uint8_t>(kPage)},
  };
  std::vector<std::vector<MadeUpBuffer>> snapshots;
  std::mt19937 random(5);
  {
    const std::unique_ptr<Recorder> recorder = MakeRecorder({.folder = run});
    ASSERT_NE(recorder, nullptr);
    for (uint64_t number = 1; number <= 50; ++number) {
      for (int change = 0; change < 6; ++change) {
        std::vector<uint8_t>& bytes = buffers[random() % buffers.size()].bytes;
        const size_t at = random() % bytes.size();
        switch (random() % 3) {
          case 0:  // one byte
            bytes[at] = static_cast<uint8_t>(random());
            break;
          case 1:  // a run of bytes
            for (size_t i = at; i < std::min(at + 3 * kPage, bytes.size()); ++i) {
              bytes[i] = static_cast<uint8_t>(random());
            }
            break;
          default:  // zeros
            std::fill(
                bytes.begin() + static_cast<ptrdiff_t>(at),
                bytes.begin() + static_cast<ptrdiff_t>(std::min(at + 3 * kPage, bytes.size())),
                uint8_t{0});
        }
      }
      if (number % 10 == 0) buffers[0].address += 0x1000000;  // bound elsewhere
      snapshots.push_back(buffers);
      EXPECT_TRUE(AddOne(*recorder, number, buffers));
    }
  }
  EXPECT_EQ(NumbersIn(run).size(), 50u);
  for (uint64_t number = 1; number <= 50; ++number) {
    ExpectRecord(run, number, snapshots[number - 1]);
  }
}

TEST(RecorderTest, ContentThatDidNotChangeIsNotStoredAgain) {
  const Folder folder;
  const std::unique_ptr<Recorder> recorder = MakeRecorder({.folder = folder / "run"});
  std::vector<MadeUpBuffer> buffers = {{1, 0x100000, RandomBytes(256 * kPage, 1)}};
  AddOne(*recorder, 1, buffers);
  EXPECT_EQ(recorder->totals().stored_bytes, 256 * kPage);
  const auto memory = std::filesystem::file_size(folder / "run/memory");
  EXPECT_EQ(memory, 257 * kPage);
  for (uint64_t number = 2; number <= 20; ++number) AddOne(*recorder, number, buffers);
  EXPECT_EQ(std::filesystem::file_size(folder / "run/memory"), memory);
  buffers[0].bytes[17 * kPage + 5] ^= 0xff;
  AddOne(*recorder, 21, buffers);
  EXPECT_EQ(std::filesystem::file_size(folder / "run/memory"), memory + kPage);
  EXPECT_EQ(recorder->totals().stored_bytes, 257 * kPage);
  EXPECT_EQ(recorder->totals().memory_bytes, 21 * 256 * kPage);
  // A core of unchanged memory is small.
  EXPECT_LT(std::filesystem::file_size(folder / "run/000020.core"), 1024u);
}

TEST(RecorderTest, TheSameContentInAnotherBufferIsNotStoredAgain) {
  const Folder folder;
  const std::unique_ptr<Recorder> recorder = MakeRecorder({.folder = folder / "run"});
  AddOne(*recorder, 1, {{1, 0x100000, RandomBytes(100 * kPage, 1)}});
  AddOne(*recorder, 2, {{9, 0x900000, RandomBytes(100 * kPage, 1)}});
  EXPECT_EQ(recorder->totals().stored_bytes, 100 * kPage);
  ExpectRecord(folder / "run", 2, {{9, 0x900000, RandomBytes(100 * kPage, 1)}});
}

TEST(RecorderTest, PagesOfZerosAreNotStored) {
  const Folder folder;
  const std::unique_ptr<Recorder> recorder = MakeRecorder({.folder = folder / "run"});
  std::vector<MadeUpBuffer> buffers = {{1, 0x100000, std::vector<uint8_t>(1000 * kPage)}};
  buffers[0].bytes[500 * kPage] = 1;
  buffers[0].bytes[999 * kPage + 4095] = 1;
  AddOne(*recorder, 1, buffers);
  EXPECT_EQ(recorder->totals().stored_bytes, 2 * kPage);
  ExpectRecord(folder / "run", 1, buffers);
}

TEST(RecorderTest, MemoryWithoutPartsIsRecordedToo) {
  const Folder folder;
  const std::unique_ptr<Recorder> recorder = MakeRecorder({.folder = folder / "run"});
  std::vector<MadeUpBuffer> buffers = {{1, 0x100000, RandomBytes(10 * kPage, 1)}};
  for (uint64_t number = 1; number <= 3; ++number) {
    const Dump dump = DumpOf(buffers);
    const absl::StatusOr<bool> added = recorder->Add({dump, {}, {.number = number}});
    ASSERT_TRUE(added.ok() && *added);
  }
  EXPECT_EQ(recorder->totals().stored_bytes, 10 * kPage);
  ExpectRecord(folder / "run", 3, buffers);
}

TEST(RecorderTest, WrongIdentitiesOfBuffersLoseNothing) {
  const Folder folder;
  const std::unique_ptr<Recorder> recorder = MakeRecorder({.folder = folder / "run"});
  std::vector<MadeUpBuffer> buffers = {{1, 0x100000, RandomBytes(10 * kPage, 1)},
                                       {1, 0x200000, RandomBytes(20 * kPage, 2)}};
  AddOne(*recorder, 1, buffers);
  std::swap(buffers[0].bytes, buffers[1].bytes);
  AddOne(*recorder, 2, buffers);
  ExpectRecord(folder / "run", 2, buffers);
  std::swap(buffers[0].bytes, buffers[1].bytes);
  ExpectRecord(folder / "run", 1, buffers);
}

TEST(RecorderTest, HolesOfASparseFileAreZerosAndStayHoles) {
  const Folder folder;
  const std::unique_ptr<Recorder> recorder = MakeRecorder({.folder = folder / "run"});
  constexpr uint64_t kSize = uint64_t{1} << 30;
  const int fd = memfd_create("buffer", MFD_CLOEXEC);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(ftruncate(fd, kSize), 0);
  void* const mapped = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  uint8_t* const bytes = static_cast<uint8_t*>(mapped);
  bytes[5 * kPage] = 5;
  bytes[kSize - 1] = 7;
  struct stat before {};
  fstat(fd, &before);
  {
    Dump dump;
    ASSERT_TRUE(dump.memory.Map(0, 0x10000000, absl::MakeConstSpan(bytes, kSize), kSize).ok());
    MemoryPart part{.address = 0x10000000, .size = kSize, .buffer = 1, .fd = fd};
    const absl::StatusOr<bool> added =
        recorder->Add({dump, absl::MakeConstSpan(&part, 1), {.number = 1}});
    ASSERT_TRUE(added.ok()) << added.status();
  }
  struct stat after {};
  fstat(fd, &after);
  EXPECT_EQ(after.st_blocks, before.st_blocks);
  EXPECT_EQ(recorder->totals().stored_bytes, 2 * kPage);
  const absl::StatusOr<Dump> read = ReadDump(folder / "run/000001.core");
  ASSERT_TRUE(read.ok());
  const auto byte = [&](uint64_t offset) {
    const absl::Span<const uint8_t> one = read->memory.Read(0, 0x10000000 + offset, 1);
    return one.empty() ? -1 : one[0];
  };
  EXPECT_EQ(byte(5 * kPage), 5);
  EXPECT_EQ(byte(kSize - 1), 7);
  EXPECT_EQ(byte(kSize / 2), 0);
  EXPECT_EQ(byte(kSize), -1);
  munmap(mapped, kSize);
  close(fd);
}

TEST(RecorderTest, WhatIsSaidNotToHaveChangedIsNotRead) {
  const Folder folder;
  const std::unique_ptr<Recorder> recorder = MakeRecorder({.folder = folder / "run"});
  std::vector<MadeUpBuffer> buffers = {{1, 0x100000, RandomBytes(10 * kPage, 1)}};
  std::fill_n(buffers[0].bytes.begin(), kPage, uint8_t{0});
  AddOne(*recorder, 1, buffers);
  std::vector<MadeUpBuffer> expected = buffers;
  for (const size_t page : {0, 2, 3, 9}) buffers[0].bytes[page * kPage] ^= 0x55;
  expected[0].bytes[3 * kPage] ^= 0x55;
  const Dump dump = DumpOf(buffers);
  std::vector<MemoryPart> parts = PartsOf(buffers);
  const Extent changed[] = {{3 * kPage + 100, 8}, {kPage, 0}};
  parts[0].changed = changed;
  ASSERT_TRUE(recorder->Add({dump, parts, {.number = 2}}).ok());
  ExpectRecord(folder / "run", 2, expected);
  // Without such a statement all is found.
  AddOne(*recorder, 3, buffers);
  ExpectRecord(folder / "run", 3, buffers);
}

// --- The folder ---

TEST(RecorderTest, TheIndexHasALineForEachSubmissionAndItsOutcome) {
  const Folder folder;
  const std::unique_ptr<Recorder> recorder = MakeRecorder({.folder = folder / "run"});
  const std::vector<MadeUpBuffer> buffers = {{1, 0x100000, RandomBytes(kPage, 1)}};
  const Dump dump = DumpOf(buffers, 3);
  SubmissionFacts facts;
  facts.number = recorder->NextNumber();
  facts.process = "a \"cube\"\n\xff";
  facts.pid = 12;
  facts.time = absl::FromUnixSeconds(0);
  facts.warnings = {"the batch is not aligned"};
  facts.flags = {"hang-at"};
  ASSERT_TRUE(recorder->Add({dump, {}, facts}).ok());
  ASSERT_TRUE(recorder->Finish(1, RecordOutcome::kHung, "reset").ok());
  ASSERT_TRUE(recorder->Finish(1, RecordOutcome::kCompleted).ok());  // the first outcome counts
  ASSERT_TRUE(recorder->Finish(99, RecordOutcome::kCompleted).ok());
  const std::string index = ContentOf(folder / "run/index.jsonl");
  EXPECT_THAT(index, HasSubstr("{\"type\":\"run\",\"version\":1,\"run\":\""));
  EXPECT_THAT(index, HasSubstr("\"program\":\"test\",\"command\":\"cube --frames 3\""));
  EXPECT_THAT(index,
              HasSubstr("{\"type\":\"submission\",\"number\":1,\"file\":\"000001.core\","
                        "\"time\":\"1970-01-01T00:00:00.000000Z\",\"process\":\"a \\\"cube\\\""
                        "\\n\xef\xbf\xbd\",\"pid\":12,\"engine\":\"render\",\"context\":3,"
                        "\"batch_address\":\"0x100000\",\"segments\":1,\"memory_bytes\":4096,"
                        "\"data_bytes\":4096,\"stored_bytes\":4096,\"flags\":[\"hang-at\"],"
                        "\"warnings\":[\"the batch is not aligned\"]}\n"));
  EXPECT_THAT(index, testing::EndsWith("{\"type\":\"outcome\",\"number\":1,\"outcome\":\"hung\","
                                       "\"detail\":\"reset\"}\n"));
  absl::StatusOr<RunFolder> run = ReadRunFolder(folder / "run");
  ASSERT_TRUE(run.ok());
  EXPECT_FALSE(run->ended);
  ASSERT_TRUE(recorder->Close().ok());
  run = ReadRunFolder(folder / "run");
  EXPECT_TRUE(run->ended);
  ASSERT_EQ(run->records.size(), 1u);
  EXPECT_EQ(run->records[0].outcome, "hung");
  EXPECT_EQ(run->records[0].process, "a \"cube\"\n\xef\xbf\xbd");
  EXPECT_THAT(run->records[0].warnings, ElementsAre("the batch is not aligned"));
  EXPECT_EQ(recorder->Add({dump, {}, {.number = 2}}).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(RecorderTest, AFolderWithARecordIsRefusedAndUntouched) {
  const Folder folder;
  AddOne(*MakeRecorder({.folder = folder / "run"}), 1, {{1, 0x1000, RandomBytes(kPage, 1)}});
  const std::string index = ContentOf(folder / "run/index.jsonl");
  const auto again = Recorder::Create({.folder = folder / "run"});
  EXPECT_EQ(again.status().code(), absl::StatusCode::kAlreadyExists) << again.status();
  EXPECT_EQ(ContentOf(folder / "run/index.jsonl"), index);
  std::filesystem::create_directory(folder / "cores");
  WriteFile(folder / "cores/a.core", "");
  EXPECT_FALSE(Recorder::Create({.folder = folder / "cores"}).ok());
  WriteFile(folder / "file", "");
  EXPECT_FALSE(Recorder::Create({.folder = folder / "file"}).ok());
}

TEST(RecorderTest, NumbersAreOfOneSubmission) {
  const Folder folder;
  const std::unique_ptr<Recorder> recorder = MakeRecorder({.folder = folder / "run"});
  const std::vector<MadeUpBuffer> buffers = {{1, 0x1000, RandomBytes(kPage, 1)}};
  AddOne(*recorder, 5, buffers);
  const Dump dump = DumpOf(buffers);
  for (const uint64_t number : {0, 5}) {
    EXPECT_EQ(recorder->Add({dump, {}, {.number = number}}).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_THAT(NumbersIn(folder / "run"), ElementsAre(5u));
}

TEST(RecorderTest, AFailedSubmissionLeavesNoTraceAndLaterOnesAreRecorded) {
  const Folder folder;
  const std::unique_ptr<Recorder> recorder = MakeRecorder({.folder = folder / "run"});
  std::vector<MadeUpBuffer> buffers = {{1, 0x1000, RandomBytes(3 * kPage, 1)}};
  AddOne(*recorder, 1, buffers);
  // The name of the temporary file is taken by a folder.
  std::filesystem::create_directory(folder / "run/.000002.core.tmp");
  buffers[0].bytes = RandomBytes(3 * kPage, 2);
  const Dump dump = DumpOf(buffers);
  EXPECT_FALSE(recorder->Add({dump, PartsOf(buffers), {.number = 2}}).ok());
  EXPECT_THAT(NumbersIn(folder / "run"), ElementsAre(1u));
  std::filesystem::remove(folder / "run/.000002.core.tmp");
  AddOne(*recorder, 2, buffers);
  ExpectRecord(folder / "run", 2, buffers);
}

TEST(RecorderTest, AShortenedMemoryFileIsAnError) {
  const Folder folder;
  const std::unique_ptr<Recorder> recorder = MakeRecorder({.folder = folder / "run"});
  const std::vector<MadeUpBuffer> buffers = {{1, 0x1000, RandomBytes(30 * kPage, 1)}};
  AddOne(*recorder, 1, buffers);
  std::filesystem::resize_file(folder / "run/memory", 2 * kPage);
  const Dump dump = DumpOf(buffers);
  EXPECT_EQ(recorder->Add({dump, PartsOf(buffers), {.number = 2}}).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(RecorderTest, AChildOfTheProcessCannotUseIt) {
  const Folder folder;
  const std::unique_ptr<Recorder> recorder = MakeRecorder({.folder = folder / "run"});
  const std::vector<MadeUpBuffer> buffers = {{1, 0x1000, RandomBytes(kPage, 1)}};
  AddOne(*recorder, 1, buffers);
  const std::string before = ContentOf(folder / "run/index.jsonl");
  const pid_t child = fork();
  if (child == 0) {
    const Dump dump = DumpOf(buffers);
    const bool refused = !recorder->Add({dump, {}, {.number = 2}}).ok() &&
                         !recorder->Finish(1, RecordOutcome::kHung).ok() && recorder->Close().ok();
    _exit(refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(ContentOf(folder / "run/index.jsonl"), before);
}

// Memory whose bytes take until the test says so.
class LateBytes : public DeferredBytes {
 public:
  std::promise<void> asked, given;

 protected:
  absl::Span<const uint8_t> Make() override {
    asked.set_value();
    given.get_future().wait();
    return {};
  }
};

TEST(RecorderTest, AChildIsRefusedWhileAnotherThreadOfTheParentRecords) {
  const Folder folder;
  const std::unique_ptr<Recorder> recorder = MakeRecorder({.folder = folder / "run"});
  const auto late = std::make_shared<LateBytes>();
  Dump dump;
  ASSERT_TRUE(dump.memory.MapDeferred(0, 0x1000, late, kPage).ok());
  std::thread thread([&] { EXPECT_TRUE(recorder->Add({dump, {}, {.number = 1}}).ok()); });
  late->asked.get_future().wait();
  const pid_t child = fork();
  if (child == 0) {
    // A child that waits for the parent's thread waits for good.
    alarm(20);
    const Dump none = {};
    const bool refused = !recorder->Wants({.number = 2}) &&
                         !recorder->Add({none, {}, {.number = 2}}).ok() &&
                         !recorder->Finish(1, RecordOutcome::kHung).ok() &&
                         recorder->totals().recorded == 0 && recorder->Close().ok();
    _exit(refused ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  late->given.set_value();
  thread.join();
}

// A process that is killed in the middle, at some moment.
TEST(RecorderTest, WhatAKilledProcessRecordedIsReadable) {
  for (int round = 0; round < 12; ++round) {
    const Folder folder;
    const std::string run = folder / "run";
    RecordOptions options{.folder = run};
    if (round % 2 != 0) options.limit = 200 * kPage;
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
      const std::unique_ptr<Recorder> recorder = MakeRecorder(options);
      for (uint32_t number = 1;; ++number) {
        const bool added =
            AddOne(*recorder, number, {{1, 0x1000, RandomBytes(17 * kPage, number)}});
        if (!added || (number == 3 && write(ready[1], "x", 1) != 1)) _exit(1);
      }
    }
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    usleep(static_cast<useconds_t>(1000 + round * 1700));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    close(ready[0]);
    close(ready[1]);
    const absl::StatusOr<RunFolder> read = ReadRunFolder(run);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_FALSE(read->ended);
    ASSERT_GE(read->records.size(), 3u);
    for (const RunRecord& record : read->records) {
      // Between the index and the removal, or between the file and the index, at most.
      if (!std::filesystem::exists(run + "/" + record.file)) {
        ADD_FAILURE() << record.file;
        continue;
      }
      ExpectRecord(run, record.number,
                   {{1, 0x1000, RandomBytes(17 * kPage, static_cast<uint32_t>(record.number))}});
    }
  }
}

// --- Filters ---

TEST(FilterTest, OnlyWhatMatchesIsRecorded) {
  const Folder folder;
  RecordOptions options{.folder = folder / "run"};
  options.only = *ParseOnly("context=2,from=4,count=3");
  const std::unique_ptr<Recorder> recorder = MakeRecorder(options);
  for (uint32_t number = 1; number <= 20; ++number) {
    const bool expected = number % 2 == 0 && number >= 4 && number <= 8;
    SubmissionFacts facts;
    facts.number = number;
    facts.context = number % 2 == 0 ? 2 : 1;
    EXPECT_EQ(recorder->Wants(facts), expected) << number;
    EXPECT_EQ(AddOne(*recorder, number, {{1, 0x1000, RandomBytes(kPage, number)}},
                     number % 2 == 0 ? 2 : 1),
              expected)
        << number;
  }
  EXPECT_THAT(NumbersIn(folder / "run"), ElementsAre(4u, 6u, 8u));
}

TEST(FilterTest, EnginesProcessesAndPidsAreAlternatives) {
  const Folder folder;
  RecordOptions options{.folder = folder / "run"};
  options.only = *ParseOnly("engine=render,engine=copy,process=a,pid=1,pid=2");
  const std::unique_ptr<Recorder> recorder = MakeRecorder(options);
  const auto wants = [&](const char* engine, const char* process, uint64_t pid) {
    return recorder->Wants({.number = 1, .engine = engine, .process = process, .pid = pid});
  };
  EXPECT_TRUE(wants("render", "a", 1));
  EXPECT_TRUE(wants("copy", "a", 2));
  EXPECT_FALSE(wants("video", "a", 1));
  EXPECT_FALSE(wants("render", "b", 1));
  EXPECT_FALSE(wants("render", "a", 3));
}

TEST(TriggerTest, RecordingStartsWhenTheFileAppears) {
  const Folder folder;
  const std::string trigger = folder / "go";
  const std::unique_ptr<Recorder> recorder =
      MakeRecorder({.folder = folder / "run", .trigger = trigger});
  uint64_t number = 0;
  const auto add = [&] {
    ++number;
    return AddOne(*recorder, number, {{1, 0x1000, RandomBytes(kPage, 1)}});
  };
  EXPECT_FALSE(recorder->Wants({.number = 1}));
  EXPECT_FALSE(add());
  WriteFile(trigger, "2\n");
  EXPECT_TRUE(recorder->Wants({.number = 1}));
  EXPECT_TRUE(add());
  EXPECT_FALSE(std::filesystem::exists(trigger));
  EXPECT_TRUE(add());
  EXPECT_FALSE(add());
  WriteFile(trigger, "");
  EXPECT_FALSE(add()) << "it may still be written";
  const timespec old[2] = {{100, 0}, {100, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, trigger.c_str(), old, 0), 0);
  EXPECT_TRUE(add());
  EXPECT_TRUE(add());
  WriteFile(trigger, "0");
  EXPECT_FALSE(add());
  EXPECT_THAT(NumbersIn(folder / "run"), ElementsAre(2u, 3u, 6u, 7u));
}

TEST(TriggerTest, OtherFilesAreRefused) {
  const Folder folder;
  const std::string trigger = folder / "go";
  const std::unique_ptr<Recorder> recorder =
      MakeRecorder({.folder = folder / "run", .trigger = trigger});
  const std::vector<MadeUpBuffer> buffers = {{1, 0x1000, RandomBytes(kPage, 1)}};
  const Dump dump = DumpOf(buffers);
  const auto add = [&] { return recorder->Add({dump, {}, {.number = 1}}); };
  WriteFile(trigger, "soon");
  EXPECT_THAT(add().status().ToString(), HasSubstr("must have a number"));
  EXPECT_FALSE(std::filesystem::exists(trigger));
  WriteFile(trigger, "-1");
  EXPECT_FALSE(add().ok());
  ASSERT_EQ(mkfifo(trigger.c_str(), 0600), 0);
  EXPECT_THAT(add().status().ToString(), HasSubstr("must be a regular file"));
  std::filesystem::remove(trigger);
  std::filesystem::create_directory(trigger);
  EXPECT_FALSE(add().ok());
}

// --- Throwing away ---

TEST(LimitTest, TheOldestIsThrownAwayAndTheRestStaysReadable) {
  const Folder folder;
  const std::string run = folder / "run";
  constexpr uint64_t kLimit = 100 * kPage;
  const std::unique_ptr<Recorder> recorder = MakeRecorder({.folder = run, .limit = kLimit});
  // 20 pages that all records share, and 7 of their own.
  std::vector<MadeUpBuffer> buffers = {{1, 0x100000, RandomBytes(20 * kPage, 1)},
                                       {2, 0x200000, {}}};
  std::map<uint64_t, std::vector<MadeUpBuffer>> snapshots;
  size_t most = 0;
  for (uint32_t number = 1; number <= 200; ++number) {
    buffers[1].bytes = RandomBytes(7 * kPage, 1000 + number);
    snapshots[number] = buffers;
    EXPECT_TRUE(AddOne(*recorder, number, buffers));
    EXPECT_LE(SizeOf(run), kLimit);
    EXPECT_LE(recorder->totals().folder_bytes, kLimit);
    if (number % 20 != 0) continue;
    const std::vector<uint64_t> kept = NumbersIn(run);
    ASSERT_FALSE(kept.empty());
    EXPECT_EQ(kept.back(), number);
    for (size_t i = 0; i < kept.size(); ++i) {
      EXPECT_EQ(kept[i], number - (kept.size() - 1 - i));  // the newest, without gaps
      ExpectRecord(run, kept[i], snapshots[kept[i]]);
    }
    most = std::max(most, kept.size());
  }
  // The shared pages are counted once: (100 - 1 - 20) / 7 records, without the index and cores.
  EXPECT_GE(most, 9u);
  EXPECT_EQ(recorder->totals().recorded, 200u);
  EXPECT_EQ(recorder->totals().dropped, 200 - NumbersIn(run).size());
}

TEST(LimitTest, ASubmissionThatIsTooLargeIsRefusedAndNothingIsThrownAway) {
  const Folder folder;
  const std::unique_ptr<Recorder> recorder =
      MakeRecorder({.folder = folder / "run", .limit = 50 * kPage});
  AddOne(*recorder, 1, {{1, 0x1000, RandomBytes(20 * kPage, 1)}});
  const std::vector<MadeUpBuffer> large = {{2, 0x1000, RandomBytes(60 * kPage, 2)}};
  const Dump dump = DumpOf(large);
  const absl::Status status = recorder->Add({dump, PartsOf(large), {.number = 2}}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("raise it"));
  EXPECT_THAT(NumbersIn(folder / "run"), ElementsAre(1u));
  // Zeros do not count.
  std::vector<MadeUpBuffer> sparse = {{3, 0x1000, std::vector<uint8_t>(1000 * kPage)}};
  sparse[0].bytes[5] = 1;
  EXPECT_TRUE(AddOne(*recorder, 3, sparse));
  EXPECT_THAT(NumbersIn(folder / "run"), ElementsAre(1u, 3u));
}

TEST(KeepTest, OnlyHungRecordsAndThoseBeforeThemStay) {
  const Folder folder;
  const std::string run = folder / "run";
  const std::unique_ptr<Recorder> recorder = MakeRecorder({.folder = run, .keep = Keep::kHung});
  std::map<uint64_t, std::vector<MadeUpBuffer>> snapshots;
  // Contexts 1 and 2 take turns; 9, of context 1, hangs, and 14, of context 2, faults.
  for (uint32_t number = 1; number <= 20; ++number) {
    snapshots[number] = {{1, 0x1000, RandomBytes(5 * kPage, number)}};
    AddOne(*recorder, number, snapshots[number], number % 2 == 1 ? 1 : 2);
    const RecordOutcome outcome = number == 9    ? RecordOutcome::kHung
                                  : number == 14 ? RecordOutcome::kFaulted
                                                 : RecordOutcome::kCompleted;
    ASSERT_TRUE(recorder->Finish(number, outcome).ok());
  }
  EXPECT_THAT(NumbersIn(run), ElementsAre(7u, 9u, 12u, 14u, 19u, 20u));
  AddOne(*recorder, 21, snapshots[1], 1);  // never finished
  ASSERT_TRUE(recorder->Close().ok());
  EXPECT_THAT(NumbersIn(run), ElementsAre(7u, 9u, 12u, 14u, 19u, 21u));
  for (const uint64_t number : {7, 9, 12, 14, 19}) ExpectRecord(run, number, snapshots[number]);
}

TEST(KeepTest, ManyCompletedSubmissionsLeaveNothingBehind) {
  const Folder folder;
  const std::string run = folder / "run";
  const std::unique_ptr<Recorder> recorder = MakeRecorder({.folder = run, .keep = Keep::kHung});
  std::vector<MadeUpBuffer> buffers = {{1, 0x100000, RandomBytes(50 * kPage, 1)}};
  for (uint32_t number = 1; number <= 2000; ++number) {
    buffers[0].bytes[0] = static_cast<uint8_t>(number);
    buffers[0].bytes[1] = static_cast<uint8_t>(number >> 8);
    AddOne(*recorder, number, buffers);
    ASSERT_TRUE(recorder->Finish(number, RecordOutcome::kCompleted).ok());
  }
  EXPECT_THAT(NumbersIn(run), ElementsAre(2000u));
  EXPECT_LE(std::filesystem::file_size(run + "/memory"), 60 * kPage);
  EXPECT_LE(std::filesystem::file_size(run + "/index.jsonl"), 40000u);
  ExpectRecord(run, 2000, buffers);
  ASSERT_TRUE(recorder->Close().ok());
  EXPECT_THAT(NumbersIn(run), ElementsAre());
}

// --- Threads ---

TEST(ThreadsTest, EightThreadsRecordAtOnce) {
  const Folder folder;
  const std::string run = folder / "run";
  const std::unique_ptr<Recorder> recorder =
      MakeRecorder({.folder = run, .limit = 600 * kPage, .keep = Keep::kHung});
  std::vector<std::thread> threads;
  std::vector<std::map<uint64_t, std::vector<MadeUpBuffer>>> all(8);
  for (uint32_t thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 30; ++i) {
        const uint64_t number = recorder->NextNumber();
        std::vector<MadeUpBuffer>& buffers = all[thread][number];
        buffers = {{1, 0x100000, RandomBytes(4 * kPage, 1)},  // the same for all
                   {10 + thread, 0x200000, RandomBytes(3 * kPage, static_cast<uint32_t>(number))}};
        recorder->Wants({.number = number});
        AddOne(*recorder, number, buffers, thread);
        recorder->Finish(number, i % 3 == 0 ? RecordOutcome::kHung : RecordOutcome::kCompleted)
            .IgnoreError();
        recorder->totals();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(recorder->Close().ok());
  const std::vector<uint64_t> kept = NumbersIn(run);
  EXPECT_GE(kept.size(), 80u);
  for (const uint64_t number : kept) {
    for (const auto& mine : all) {
      const auto found = mine.find(number);
      if (found != mine.end()) ExpectRecord(run, number, found->second);
    }
  }
}

}  // namespace
}  // namespace packsmith::capture
