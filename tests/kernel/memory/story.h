// Random jobs on mock kernels whose work is done late and in any order, with calls that fail:
// none runs before those whose values it waits for, memory of work that is not done is never handed
// out again nor written, and nothing leaks.
#ifndef PACKSMITH_TESTS_KERNEL_MEMORY_STORY_H_
#define PACKSMITH_TESTS_KERNEL_MEMORY_STORY_H_

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/base/mutex.h"
#include "runtime/capture/drm/executor.h"
#include "runtime/memory/residency.h"
#include "runtime/submission/submitter.h"
#include "tests/kernel/memory/machine.h"

namespace packsmith::gpu {

inline constexpr size_t kMostJobs = 40, kMostBuffers = 60;

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
  size_t queue = 0;  // in Story::queues_
  std::vector<TimelinePoint> waits = {};
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
    for (const TimelinePoint point : job.waits) {
      const auto signals = signalled_by.find(point.timeline);
      if (signals == signalled_by.end()) continue;
      const auto signal = signals->second.lower_bound(point.value);
      if (signal == signals->second.end()) continue;  // the CPU has signalled it
      if (job.released || all) ++ordered;
      // Those that were done are forgotten.
      const auto before = jobs.find(signal->second);
      if (before != jobs.end() && !before->second.done) {
        return Fault(absl::StrCat("job ", job.number, " begins before job ", signal->second,
                                  ", whose value it waits for"),
                     why);
      }
    }
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
  // The job that signals each value.
  std::map<TimelineId, std::map<uint64_t, uint64_t>> signalled_by;
  uint64_t ordered = 0;  // waits that were found to be in order
  bool all = false;      // everything is done as soon as it can be
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

// A queue with a context of its own, and the timeline that its jobs signal.
struct StoryQueue {
  std::string engine;
  uint32_t context = 0;
  QueueId queue = {};
  TimelineId timeline = {};
  uint64_t promised = 0, waited = 0;  // values
};

struct StoryOptions {
  uint64_t seed = 0;
  int steps = 0;
  bool thread = false;  // Submitter::Options::thread
};

class Story {
 public:
  Story(Gpu gpu, StoryOptions options)
      : options_(options),
        random_(options.seed),
        machine_(gpu, &executor_),
        device_(machine_.Open(live_, &injector_)),
        on_(*device_, device_->properties().page,
            {.cache_bytes = 4 * kMiB, .largest_shared = options.seed % 2 == 0 ? 64 * kKiB : 0}),
        submitter_(Submitter::Create(
            *device_, {.thread = options.thread,
                       .submit = [this](const Job& job) { return on_.buffers->Submit(job); }})) {
    const auto& engines = device_->properties().engines;
    for (size_t i = 0; i < std::min<size_t>(3, engines.size()); ++i) {
      current_.push_back(AddQueue(engines[i].name).value());
    }
    host_ = submitter_->AddTimeline();
  }

  void Steps() {
    for (int step = 0; step < options_.steps; ++step) {
      SCOPED_TRACE(step);
      // One call at a time: if the one that undoes another fails, too, only the end of the file
      // undoes it.
      constexpr int kErrors[] = {ENOMEM, EINTR, EAGAIN, ENOSPC, EIO, ENODEV};
      if (step == 0 || injector_.failed()) {
        ++injected_;
        injector_.FailAfter(1 + static_cast<int>(Pick(40)), kErrors[Pick(std::size(kErrors))]);
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
    // A value that no job has promised in the end is the CPU's: first those of the last queues,
    // which wait for no other's.
    for (size_t i = queues_.size(); i-- > 0;) {
      StoryQueue& queue = queues_[i];
      if (queue.waited <= queue.promised) continue;
      if (queue.promised != 0) {
        (void)submitter_->Wait({queue.timeline, queue.promised}, absl::Seconds(60));
      }
      EXPECT_TRUE(submitter_->Signal({queue.timeline, queue.waited}).ok());
    }
    std::vector<TimelinePoint> points;
    {
      MutexLock lock(executor_.mutex);
      for (const auto& [number, job] : executor_.jobs) points.push_back(job.point);
    }
    for (const TimelinePoint point : points) {
      const auto reached = submitter_->Wait(point, absl::Seconds(60));
      EXPECT_TRUE(!reached.ok() || *reached);
    }
    ASSERT_TRUE(machine_.kernel.WaitIdle(20'000'000'000));
    CheckExecutor();
    EXPECT_EQ(submitter_->held(), 0u);
    TakeReturned();
    for (const StoryQueue& queue : queues_) {
      EXPECT_TRUE(device_->DestroyContext(queue.context).ok());
    }
    // Jobs that the device refused later have kept their buffers.
    for (auto& [number, job] : executor_.jobs) {
      EXPECT_EQ(job.taken, job.done) << number;
      if (job.taken) continue;
      for (const UsedBuffer& used : job.buffers) {
        EXPECT_TRUE(buffers().Release(used.buffer.handle).ok());
      }
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
    const auto steps = static_cast<uint64_t>(options_.steps);
    EXPECT_GT(jobs_done_, steps / 20);
    EXPECT_GT(left.reused + left.suballocated, steps / 20);
    // Most failures are of calls that ask, or that are made again.
    EXPECT_GT(injected_, steps / 40);
    EXPECT_GT(executor_.ordered, steps / 100);
    EXPECT_GT(failures_, steps / 1000);
    // Contexts were lost, and replaced; which calls fail with a thread is not the same in each run.
    EXPECT_TRUE(options_.thread || queues_.size() > current_.size());
  }

 private:
  // With a context of its own. Empty: a call has failed.
  std::optional<size_t> AddQueue(const std::string& engine) {
    const auto context = device_->CreateContext({});
    if (!Good(context.status())) return std::nullopt;
    queues_.push_back({.engine = engine,
                       .context = *context,
                       .queue = submitter_->AddQueue({.engine = engine, .context = *context}),
                       .timeline = submitter_->AddTimeline()});
    return queues_.size() - 1;
  }
  // A job was refused because its context is lost: later ones are of another context.
  void Replace(size_t queue) {
    const auto current = std::find(current_.begin(), current_.end(), queue);
    if (current == current_.end()) return;
    const auto added = AddQueue(queues_[queue].engine);
    if (added.has_value()) *current = *added;
  }

  Buffers& buffers() { return *on_.buffers; }
  size_t Pick(size_t count) { return random_() % count; }

  // Calls that fail for the injector's sake are counted, others must not fail.
  bool Good(const absl::Status& status) {
    if (status.ok()) return true;
    ++failures_;
    // With a thread, another call may have been chosen meanwhile to fail.
    EXPECT_TRUE(options_.thread || injector_.failed()) << status;
    return false;
  }
  // What jobs that were taken have left to the test.
  void TakeReturned() {
    MutexLock lock(returned_mutex_);
    mine_.insert(mine_.end(), returned_.begin(), returned_.end());
    returned_.clear();
  }

  void CheckExecutor() {
    MutexLock lock(executor_.mutex);
    for (const std::string& fault : executor_.faults) ADD_FAILURE() << fault;
  }

  void Step() {
    TakeReturned();
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
    // Then only those that release others.
    const bool full = open >= kMostJobs;
    const StoryQueue& last = queues_[current_.back()];
    if (full && last.waited <= last.promised) return;
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
    const size_t place = full ? current_.size() - 1 : Pick(current_.size());
    const size_t queue = current_[place];
    // Values that were promised, and of the last queue also later ones: it waits for no other.
    std::vector<TimelinePoint> waits;
    if (Pick(8) == 0) waits.push_back({host_, ++promised_});
    for (size_t count = place + 1 < current_.size() ? Pick(3) : 0; count > 0; --count) {
      StoryQueue& other = queues_[current_[Pick(current_.size())]];
      const bool ahead = &other == &queues_[current_.back()] && Pick(2) == 0;
      const uint64_t value = other.promised + (ahead ? 1 + Pick(2) : 0);
      if (value == 0 || &other == &queues_[queue]) continue;
      other.waited = std::max(other.waited, value);
      waits.push_back({other.timeline, value});
    }
    std::vector<TimelinePoint> signals;
    if (full || Pick(2) == 0)
      signals.push_back({queues_[queue].timeline, queues_[queue].promised + 1});
    job.queue = queue;
    job.waits = waits;
    {
      MutexLock lock(executor_.mutex);
      executor_.jobs[number] = job;
      for (const TimelinePoint point : signals) {
        executor_.signalled_by[point.timeline][point.value] = number;
      }
    }
    const size_t keep = Pick(2) == 0 ? 0 : job.buffers.size();
    const auto point = submitter_->Submit(
        queues_[queue].queue, {.batch_address = batch->buffer.address,
                               .batch_length = 64,
                               .residents = residency.residents(),
                               .after = *before,
                               .waits = waits,
                               .signals = signals,
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
                                     MutexLock lock(returned_mutex_);
                                     returned_.push_back(used[i]);
                                   } else {
                                     Good(buffers().Release(used[i].buffer.handle));
                                   }
                                 }
                               }});
    if (point.ok()) {
      if (!signals.empty()) ++queues_[queue].promised;
      MutexLock lock(executor_.mutex);
      executor_.jobs[number].point = *point;
      return;
    }
    // A job that waits for one that was refused is refused, too.
    if (!absl::IsFailedPrecondition(point.status())) Good(point.status());
    // Nothing has changed: everything is still the test's.
    Good(buffers().Release(batch->buffer.handle));
    mine_.insert(mine_.end(), job.buffers.begin() + 1, job.buffers.end());
    {
      MutexLock lock(executor_.mutex);
      executor_.jobs.erase(number);
      for (const TimelinePoint one : signals) executor_.signalled_by[one.timeline].erase(one.value);
    }
    if (absl::IsAborted(point.status())) Replace(queue);
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
      {
        // The thread may have handed it over in between.
        MutexLock lock(executor_.mutex);
        if (executor_.jobs[job.number].taken) continue;
      }
      ++failures_;
      Good(buffers().Release(job.buffers[0].buffer.handle));
      mine_.insert(mine_.end(), job.buffers.begin() + 1, job.buffers.end());
      {
        MutexLock lock(executor_.mutex);
        executor_.jobs.erase(job.number);
      }
      if (absl::IsAborted(reached.status())) Replace(job.queue);
    }
    // Nobody promises values of a queue that was replaced.
    for (size_t i = 0; i < queues_.size(); ++i) {
      StoryQueue& queue = queues_[i];
      if (queue.waited <= queue.promised ||
          std::find(current_.begin(), current_.end(), i) != current_.end()) {
        continue;
      }
      (void)submitter_->Value(queue.timeline);  // notices what is done
      if (submitter_->Signal({queue.timeline, queue.waited}).ok()) queue.promised = queue.waited;
    }
    machine_.kernel.Advance();
  }

  const StoryOptions options_;
  std::mt19937_64 random_;
  LateExecutor executor_;
  Live live_;
  Injector injector_;
  KernelOf machine_;
  std::unique_ptr<DrmDevice> device_;
  BuffersOn on_;
  std::unique_ptr<Submitter> submitter_;
  std::vector<StoryQueue> queues_;  // all, also those that were replaced
  std::vector<size_t> current_;     // those that take jobs; the last one waits for none of them
  TimelineId host_ = {};
  uint64_t promised_ = 0, signalled_ = 0;
  uint64_t numbers_ = 0, jobs_done_ = 0, injected_ = 0;
  std::atomic<uint64_t> failures_ = 0;
  std::vector<UsedBuffer> mine_;
  Mutex returned_mutex_;
  std::vector<UsedBuffer> returned_ ABSL_GUARDED_BY(returned_mutex_);
};

inline void RunStory(Gpu gpu, const StoryOptions& options) {
  SCOPED_TRACE(options.seed);
  Story story(gpu, options);
  story.Steps();
  if (testing::Test::HasFailure()) return;
  story.End();
}

inline auto StoryGpus() {
  return testing::Values(Gpu{"i915", "skl"}, Gpu{"i915", "dg2"}, Gpu{"xe", "tgl"}, Gpu{"xe", "lnl"},
                         Gpu{"asahi", "g13g"});
}

}  // namespace packsmith::gpu

#endif  // PACKSMITH_TESTS_KERNEL_MEMORY_STORY_H_
