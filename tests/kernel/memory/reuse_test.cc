// Random jobs on mock kernels whose work is done late and in any order, with calls that fail:
// memory of work that is not done is never handed out again nor written, and nothing leaks.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/capture/drm/executor.h"
#include "runtime/memory/residency.h"
#include "runtime/submission/submitter.h"
#include "tests/kernel/memory/machine.h"

namespace packsmith::gpu {
namespace {

constexpr int kSteps = 20000;
constexpr size_t kMostJobs = 40, kMostBuffers = 60;

// The first words of a buffer: its number, which the CPU writes once, and the number again with the
// last job that wrote to it.
struct Words {
  uint64_t number = 0, written = 0;
};

struct UsedBuffer {
  uint64_t number = 0;
  Buffer buffer;
  bool written = false;
};

// A job on its way; the first buffer is its batch, whose number is the job's.
struct TestJob {
  uint64_t number = 0;
  std::vector<UsedBuffer> buffers;
  TimelinePoint point = {};
  bool taken = false;     // by the device
  bool released = false;  // the GPU may finish it
  bool done = false;
};

// The GPU: it finishes the jobs that the test releases, with a look at their memory.
class LateExecutor : public capture::Executor {
 public:
  capture::Outcome Execute(const capture::Work& work, std::string& why) override {
    MutexLock lock(mutex);
    Words words;
    if (!Read(work, work.streams.at(0).address, words)) {
      return Fault("the batch is not mapped", why);
    }
    const auto found = jobs.find(words.number);
    // The next user of its memory has written another number to it.
    if (found == jobs.end() || found->second.done) {
      return Fault(absl::StrCat("the memory of a batch has the number ", words.number), why);
    }
    TestJob& job = found->second;
    if (!job.released && !all) return capture::Outcome::kWaiting;
    for (const UsedBuffer& used : job.buffers) {
      if (!Read(work, used.buffer.address, words)) {
        return Fault(absl::StrCat("buffer ", used.number, " is not mapped"), why);
      }
      if (words.number != used.number) {
        return Fault(absl::StrCat("job ", job.number, " finds buffer ", words.number,
                                  " in place of ", used.number),
                     why);
      }
      if (!used.written) continue;
      words.written = used.number << 32 | job.number;
      Write(work, used.buffer.address, words);
    }
    job.done = true;
    return capture::Outcome::kDone;
  }

  Mutex mutex;
  std::map<uint64_t, TestJob> jobs;
  bool all = false;  // everything is done as soon as it can be
  std::vector<std::string> faults;

 private:
  // With addresses as the CPU has them, in the form without copies of the sign.
  static const capture::Mapping* Find(const capture::Work& work, uint64_t address) {
    const capture::Mapping* const found = work.memory->Find(address);
    return found != nullptr && found->object != nullptr ? found : nullptr;
  }
  static bool Read(const capture::Work& work, uint64_t address, Words& words) {
    const capture::Mapping* const at = Find(work, address);
    return at != nullptr &&
           at->object->Read(at->offset + address - at->address,
                            absl::MakeSpan(reinterpret_cast<uint8_t*>(&words), sizeof(words)));
  }
  static void Write(const capture::Work& work, uint64_t address, const Words& words) {
    const capture::Mapping* const at = Find(work, address);
    (void)at->object->Write(
        at->offset + address - at->address,
        absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(&words), sizeof(words)));
  }
  capture::Outcome Fault(std::string what, std::string& why) {
    faults.push_back(what);
    why = std::move(what);
    return capture::Outcome::kHung;
  }
};

class Story {
 public:
  Story(Gpu gpu, uint64_t seed)
      : random_(seed),
        machine_(gpu, &executor_),
        device_(machine_.Open(live_, &injector_)),
        on_(*device_, device_->properties().page,
            {.cache_bytes = 4 * kMiB, .largest_shared = seed % 2 == 0 ? 64 * kKiB : 0}),
        submitter_(Submitter::Create(
            *device_, {.submit = [this](const Job& job) { return on_.buffers->Submit(job); }})) {
    const auto& engines = device_->properties().engines;
    for (size_t i = 0; i < std::min<size_t>(3, engines.size()); ++i) {
      queues_.push_back(submitter_->AddQueue({.engine = engines[i].name}));
    }
    host_ = submitter_->AddTimeline();
  }

  void Steps() {
    for (int step = 0; step < kSteps; ++step) {
      SCOPED_TRACE(step);
      // One call at a time: if the one that undoes another fails, too, only the end of the file
      // undoes it.
      constexpr int kErrors[] = {ENOMEM, EINTR, EAGAIN, ENOSPC};
      if (step == 0 || injector_.failed()) {
        ++injected_;
        injector_.FailAfter(1 + static_cast<int>(Pick(40)), kErrors[Pick(4)]);
      }
      Step();
      CheckExecutor();
      if (testing::Test::HasFailure()) return;
    }
  }

  // Everything ends, and nothing is left.
  void End() {
    injector_.Stop();
    if (signalled_ < promised_) {
      EXPECT_TRUE(submitter_->Signal({host_, promised_}).ok());
    }
    {
      MutexLock lock(executor_.mutex);
      executor_.all = true;
    }
    ASSERT_TRUE(machine_.kernel.WaitIdle(20'000'000'000));
    CheckExecutor();
    EXPECT_EQ(submitter_->held(), 0u);
    // Jobs that the device refused later have kept their batch.
    for (auto& [number, job] : executor_.jobs) {
      EXPECT_EQ(job.taken, job.done) << number;
      if (!job.taken) buffers().Release(job.buffers[0].buffer.handle).IgnoreError();
    }
    for (const UsedBuffer& used : mine_) {
      CheckContent(used);
      EXPECT_TRUE(buffers().Release(used.buffer.handle).ok());
    }
    const absl::Status trimmed = buffers().Trim();
    EXPECT_TRUE(trimmed.ok()) << trimmed;
    const BufferStatistics left = buffers().statistics();
    EXPECT_EQ(left.live, 0u);
    EXPECT_EQ(left.waiting_bytes, 0u);
    EXPECT_EQ(left.lost_bytes, 0u);
    EXPECT_EQ(left.memory_bytes, 0u);
    EXPECT_EQ(on_.addresses->statistics(BuffersOn::kAll).live_ranges, 0u);
    EXPECT_EQ(live_.objects, 0);
    submitter_ = nullptr;
    on_.buffers = nullptr;
    device_ = nullptr;
    EXPECT_TRUE(live_.none()) << live_.objects << " objects, " << live_.syncobjs << " syncobjs, "
                              << live_.maps << " maps";
    // The test has done what it is for.
    EXPECT_GT(jobs_done_, kSteps / 20u);
    EXPECT_GT(left.reused + left.suballocated, kSteps / 20u);
    // Most failures are of calls that ask, or that are made again.
    EXPECT_GT(injected_, kSteps / 40u);
    EXPECT_GT(failures_, 20u);
  }

 private:
  Buffers& buffers() { return *on_.buffers; }
  size_t Pick(size_t count) { return random_() % count; }

  // Calls that fail for the injector's sake are counted, others must not fail.
  bool Good(const absl::Status& status) {
    if (status.ok()) return true;
    ++failures_;
    EXPECT_TRUE(injector_.failed()) << status;
    return false;
  }

  void CheckExecutor() {
    MutexLock lock(executor_.mutex);
    for (const std::string& fault : executor_.faults) ADD_FAILURE() << fault;
  }

  void Step() {
    switch (Pick(12)) {
      case 0:
      case 1:
      case 2:
        if (mine_.size() < kMostBuffers) {
          const auto made = Make(++numbers_, 16);
          if (made.has_value()) mine_.push_back(*made);
        }
        break;
      case 3:
      case 4:
        if (!mine_.empty()) {
          const UsedBuffer gone = TakeOne();
          // The memory goes back even if a call fails; that is tried again later.
          Good(buffers().Release(gone.buffer.handle));
        }
        break;
      case 5:
      case 6:
      case 7:
        Submit();
        break;
      case 8:
        Touch();
        break;
      case 9:
        if (signalled_ < promised_) {
          ++signalled_;
          Good(submitter_->Signal({host_, signalled_}));
        }
        break;
      case 10:
        if (Pick(20) == 0) Good(buffers().Trim(Pick(2) * kMiB));
        break;
      default:
        Progress();
        break;
    }
  }

  // A buffer whose memory nobody uses, with its number in it.
  std::optional<UsedBuffer> Make(uint64_t number, size_t size) {
    const Heap heap = Pick(4) == 0 && device_->CachingOf(Heap::kSystemUncached, 0).available
                          ? Heap::kSystemUncached
                          : Heap::kSystem;
    const auto made = buffers().Create({.size = std::max<size_t>(size, 1u << Pick(18)),
                                        .zone = BuffersOn::kAll,
                                        .name = "data",
                                        .heap = heap,
                                        .zeroed = Pick(4) == 0,
                                        .dedicated = Pick(4) == 0});
    if (!Good(made.status())) return std::nullopt;
    MutexLock lock(executor_.mutex);
    for (const auto& [other, job] : executor_.jobs) {
      if (!job.taken || job.done) continue;
      for (const UsedBuffer& used : job.buffers) {
        const bool apart = made->address + made->size <= used.buffer.address ||
                           used.buffer.address + used.buffer.size <= made->address;
        EXPECT_TRUE(apart) << "addresses of job " << other;
        const bool bytes_apart = made->cpu + made->size <= used.buffer.cpu ||
                                 used.buffer.cpu + used.buffer.size <= made->cpu;
        EXPECT_TRUE(bytes_apart) << "memory of job " << other;
      }
    }
    const Words words = {.number = number};
    std::memcpy(made->cpu, &words, sizeof(words));
    return UsedBuffer{.number = number, .buffer = *made};
  }

  UsedBuffer TakeOne() {
    std::swap(mine_[Pick(mine_.size())], mine_.back());
    const UsedBuffer taken = mine_.back();
    mine_.pop_back();
    return taken;
  }

  static void CheckContent(const UsedBuffer& used) {
    Words words;
    std::memcpy(&words, used.buffer.cpu, sizeof(words));
    EXPECT_EQ(words.number, used.number);
    if (words.written != 0) {
      EXPECT_EQ(words.written >> 32, used.number) << "written by a job of another";
    }
  }

  // The CPU writes to a buffer that no job uses any more.
  void Touch() {
    if (mine_.empty()) return;
    const UsedBuffer& used = mine_[Pick(mine_.size())];
    const auto free = buffers().Wait(used.buffer.handle, /*to_write=*/true, absl::ZeroDuration());
    if (!Good(free.status()) || !*free) return;
    MutexLock lock(executor_.mutex);
    for (const auto& [number, job] : executor_.jobs) {
      if (!job.taken || job.done) continue;
      for (const UsedBuffer& busy : job.buffers) {
        EXPECT_NE(busy.buffer.handle, used.buffer.handle) << "job " << number;
      }
    }
    CheckContent(used);
    std::memset(used.buffer.cpu + sizeof(uint64_t), 0, sizeof(uint64_t));
  }

  void Submit() {
    size_t open = 0;
    {
      MutexLock lock(executor_.mutex);
      for (const auto& [number, job] : executor_.jobs) open += job.done ? 0 : 1;
    }
    if (open >= kMostJobs) return;
    const uint64_t number = ++numbers_;
    const auto batch = Make(number, 64);
    if (!batch.has_value()) return;
    TestJob job = {.number = number, .buffers = {*batch}};
    Residency residency(buffers());
    EXPECT_TRUE(residency.Add(batch->buffer.handle, false).ok());
    std::vector<BufferHandle> released = {batch->buffer.handle};
    for (size_t count = Pick(5); count > 0 && !mine_.empty(); --count) {
      // Taken out, so that no other job that is held has it, and nobody releases it.
      UsedBuffer used = TakeOne();
      used.written = Pick(2) == 0;
      EXPECT_TRUE(residency.Add(used.buffer.handle, used.written).ok());
      job.buffers.push_back(used);
    }
    const auto before = buffers().JobsBefore(residency.uses());
    EXPECT_TRUE(before.ok());
    std::vector<TimelinePoint> waits;
    if (Pick(8) == 0) waits.push_back({host_, ++promised_});
    {
      MutexLock lock(executor_.mutex);
      executor_.jobs[number] = job;
    }
    const size_t keep = Pick(2) == 0 ? 0 : job.buffers.size();
    const auto point =
        submitter_->Submit(queues_[Pick(queues_.size())],
                           {.batch_address = batch->buffer.address,
                            .batch_length = 64,
                            .residents = residency.residents(),
                            .after = *before,
                            .waits = waits,
                            .taken = [this, number,
                                      uses = std::vector<BufferAccess>(residency.uses().begin(),
                                                                       residency.uses().end()),
                                      used = job.buffers, keep](Fence fence) {
                              EXPECT_TRUE(buffers().Use(uses, fence).ok());
                              {
                                MutexLock lock(executor_.mutex);
                                executor_.jobs[number].taken = true;
                              }
                              Good(buffers().Release(used[0].buffer.handle));
                              for (size_t i = 1; i < used.size(); ++i) {
                                if (i < keep) {
                                  mine_.push_back(used[i]);
                                } else {
                                  Good(buffers().Release(used[i].buffer.handle));
                                }
                              }
                            }});
    if (Good(point.status())) {
      MutexLock lock(executor_.mutex);
      executor_.jobs[number].point = *point;
      return;
    }
    // Nothing has changed: everything is still the test's.
    Good(buffers().Release(batch->buffer.handle));
    mine_.insert(mine_.end(), job.buffers.begin() + 1, job.buffers.end());
    MutexLock lock(executor_.mutex);
    executor_.jobs.erase(number);
  }

  // The GPU finishes some job; those that ended, one way or the other, are forgotten.
  void Progress() {
    std::vector<UsedBuffer> refused;
    {
      MutexLock lock(executor_.mutex);
      std::vector<TestJob*> open;
      for (auto it = executor_.jobs.begin(); it != executor_.jobs.end();) {
        TestJob& job = it->second;
        if (job.done) {
          ++jobs_done_;
          it = executor_.jobs.erase(it);
          continue;
        }
        if (job.taken && !job.released) open.push_back(&job);
        ++it;
      }
      for (size_t count = Pick(4); count > 0 && !open.empty(); --count) {
        open[Pick(open.size())]->released = true;
      }
    }
    // A job that was refused later than when it was submitted has left its buffers.
    std::vector<TestJob> held;
    {
      MutexLock lock(executor_.mutex);
      for (const auto& [number, job] : executor_.jobs) {
        if (!job.taken) held.push_back(job);
      }
    }
    for (const TestJob& job : held) {
      const auto reached = submitter_->Wait(job.point, absl::ZeroDuration());
      if (reached.ok()) continue;
      ++failures_;
      Good(buffers().Release(job.buffers[0].buffer.handle));
      mine_.insert(mine_.end(), job.buffers.begin() + 1, job.buffers.end());
      MutexLock lock(executor_.mutex);
      executor_.jobs.erase(job.number);
    }
    machine_.kernel.Advance();
  }

  std::mt19937_64 random_;
  LateExecutor executor_;
  Live live_;
  Injector injector_;
  KernelOf machine_;
  std::unique_ptr<DrmDevice> device_;
  BuffersOn on_;
  std::unique_ptr<Submitter> submitter_;
  std::vector<QueueId> queues_;
  TimelineId host_ = {};
  uint64_t promised_ = 0, signalled_ = 0;
  uint64_t numbers_ = 0, jobs_done_ = 0, injected_ = 0, failures_ = 0;
  std::vector<UsedBuffer> mine_;
};

class MemoryOfJobs : public testing::TestWithParam<Gpu> {};
INSTANTIATE_TEST_SUITE_P(, MemoryOfJobs,
                         testing::Values(Gpu{"i915", "skl"}, Gpu{"i915", "dg2"}, Gpu{"xe", "tgl"},
                                         Gpu{"xe", "lnl"}, Gpu{"asahi", "g13g"}),
                         testing::PrintToStringParamName());

TEST_P(MemoryOfJobs, IsNotUsedAgainBeforeTheyAreDoneWhateverFails) {
  for (const uint64_t seed : {1, 2}) {
    SCOPED_TRACE(seed);
    Story story(GetParam(), seed);
    story.Steps();
    if (HasFailure()) return;
    story.End();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace packsmith::gpu
