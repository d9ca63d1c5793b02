#include "runtime/triage/survey.h"

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/mutex.h"

namespace packsmith::triage {
namespace {

namespace fs = std::filesystem;

// How far a thread may be ahead of the slowest one, in files for each thread: finished records wait
// for their turn in memory.
constexpr size_t kAhead = 64;

// What the threads share.
class Queue {
 public:
  Queue(const std::vector<Found>& files, const SurveyOptions& options, StateFile* state,
        const std::function<void(const Record&)>& take)
      : files_(files), options_(options), take_(take), state_(state) {}

  // A thread's work.
  void Run() {
    while (const std::optional<size_t> at = Next()) {
      const Found& found = files_[*at];
      Done done;
      absl::StatusOr<FileStamp> stamp = StampOf(found.path);
      if (!stamp.ok()) {
        done.record.file.path = found.path;
        done.record.trouble = std::string(stamp.status().message());
        done.keep = false;
      } else if (std::optional<Record> known = Find(*stamp)) {
        done.record = *std::move(known);
        done.keep = false;
        done.known = true;
      } else {
        done.record = ReadRecord(*stamp, options_.max_bytes, options_.describe);
      }
      // A user who names a file expects a dump.
      done.refuse = found.named && done.record.outcome == Outcome::kOther;
      Finish(*at, std::move(done));
    }
  }

  absl::StatusOr<SurveyCount> Result() {
    const MutexLock lock(mutex_);
    if (!status_.ok()) return status_;
    return count_;
  }

 private:
  struct Done {
    Record record;
    bool keep = true;     // in the state file
    bool known = false;   // it was there
    bool refuse = false;  // it counts as one that cannot be read
  };

  std::optional<size_t> Next() ABSL_LOCKS_EXCLUDED(mutex_) {
    const MutexLock lock(mutex_);
    // Not all threads wait here: one reads the file that comes next.
    while (status_.ok() && next_ < files_.size() &&
           next_ - taken_ >= kAhead * std::max(1u, options_.jobs)) {
      moved_.wait(mutex_);
    }
    if (!status_.ok() || next_ == files_.size()) return std::nullopt;
    return next_++;
  }

  std::optional<Record> Find(const FileStamp& stamp) ABSL_LOCKS_EXCLUDED(mutex_) {
    const MutexLock lock(mutex_);
    if (state_ == nullptr) return std::nullopt;
    return state_->Find(stamp);
  }

  // Takes all records whose turn it is.
  void Finish(size_t at, Done done) ABSL_LOCKS_EXCLUDED(mutex_) {
    const MutexLock lock(mutex_);
    ++(done.known ? count_.known : count_.read);
    // At once, not when its turn comes: a run that is interrupted has not read it in vain.
    if (state_ != nullptr && done.keep && status_.ok()) status_ = state_->Append(done.record);
    if (done.refuse) done.record.outcome = Outcome::kUnreadable;
    waiting_.emplace(at, std::move(done.record));
    while (!waiting_.empty() && waiting_.begin()->first == taken_) {
      take_(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
      ++taken_;
    }
    moved_.notify_all();
  }

  const std::vector<Found>& files_;
  const SurveyOptions& options_;
  const std::function<void(const Record&)>& take_;
  Mutex mutex_;
  std::condition_variable_any moved_;
  StateFile* const state_ ABSL_PT_GUARDED_BY(mutex_);
  size_t next_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t taken_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<size_t, Record> waiting_ ABSL_GUARDED_BY(mutex_);
  SurveyCount count_ ABSL_GUARDED_BY(mutex_);
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

void FindBelow(const std::string& folder, std::vector<Found>& files,
               std::vector<std::string>& problems) {
  std::error_code error;
  fs::recursive_directory_iterator at(folder, error), end;
  std::vector<std::string> found;
  while (!error && at != end) {
    const fs::directory_entry& entry = *at;
    std::error_code ignored;
    if (entry.path().filename().native().starts_with('.')) {
      at.disable_recursion_pending();
    } else if (entry.is_regular_file(ignored)) {
      found.push_back(entry.path().native());
    }
    at.increment(error);
  }
  if (error) {
    problems.push_back(
        absl::StrCat("cannot read all of the folder ", folder, ": ", error.message()));
  }
  std::sort(found.begin(), found.end());
  for (std::string& path : found) files.push_back({std::move(path), false});
}

}  // namespace

std::vector<Found> FindFiles(const std::vector<std::string>& given,
                             std::vector<std::string>& problems) {
  std::vector<Found> all;
  for (const std::string& path : given) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
      FindBelow(path, all, problems);
    } else {
      all.push_back({path, true});
    }
  }
  std::set<std::string> seen;
  std::erase_if(all, [&](const Found& one) { return !seen.insert(one.path).second; });
  return all;
}

absl::StatusOr<SurveyCount> Survey(const std::vector<Found>& files, const SurveyOptions& options,
                                   StateFile* state,
                                   const std::function<void(const Record&)>& take) {
  Queue queue(files, options, state, take);
  std::vector<std::thread> threads;
  const size_t jobs =
      std::min<size_t>(std::max(1u, options.jobs), std::max<size_t>(1, files.size()));
  threads.reserve(jobs);
  for (size_t i = 1; i < jobs; ++i) threads.emplace_back([&queue] { queue.Run(); });
  queue.Run();
  for (std::thread& thread : threads) thread.join();
  return queue.Result();
}

}  // namespace packsmith::triage
