// Records submissions to a GPU, each as a GPU core dump, in one folder: runtime/dump/run_folder.h.
//
//   RecordOptions options{.folder = "run"};
//   auto recorder = Recorder::Create(options, {.program = "packsmith-mock"});
//
//   // For each submission; `dump` has views of the buffers.
//   const uint64_t number = (*recorder)->NextNumber();
//   (*recorder)->Add({.dump = dump, .parts = parts, .facts = {.number = number, ...}});
//   ...
//   (*recorder)->Finish(number, RecordOutcome::kCompleted);
//
// When Add() returns, the record is in the folder, and readable if the process is killed.
#ifndef PACKSMITH_RUNTIME_CAPTURE_RECORDS_RECORDER_H_
#define PACKSMITH_RUNTIME_CAPTURE_RECORDS_RECORDER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "runtime/base/mutex.h"
#include "runtime/capture/records/index_writer.h"
#include "runtime/capture/records/kept_records.h"
#include "runtime/capture/records/options.h"
#include "runtime/capture/records/page_store.h"
#include "runtime/capture/records/seen_pages.h"
#include "runtime/capture/records/trigger.h"
#include "runtime/dump/dump.h"
#include "runtime/dump/memory_file.h"

namespace packsmith::capture {

// Bytes from `begin` on.
struct Extent {
  uint64_t begin = 0;
  uint64_t size = 0;
};

// What is known of a range of a dump's memory: it saves time, and changes nothing of what is
// recorded, unless it is wrong. It applies to segments that it contains; memory without a part
// is recorded too.
struct MemoryPart {
  uint32_t space = 0;
  uint64_t address = 0;
  uint64_t size = 0;    // bytes
  uint64_t buffer = 0;  // the same for the same buffer in every submission; not 0
  uint64_t offset = 0;  // of the range in the buffer
  // A file whose holes are the buffer's zeros, such as a memfd: they are not read, and reading them
  // would allocate them. -1: none. `fd_offset` is that of the range's first byte.
  int fd = -1;
  uint64_t fd_offset = 0;
  // If set: nothing else of the range has changed since it was last passed to an Add() that
  // returned true, with the same `fd`. Offsets are from `address`.
  std::optional<absl::Span<const Extent>> changed = {};
};

// For the index, and for --only.
struct SubmissionFacts {
  uint64_t number = 0;      // from 1, and of no other submission: NextNumber(), or the caller's own
  std::string engine = {};  // empty: of the dump's first submission, here and for `context`
  std::optional<uint64_t> context = {};
  std::string process = {};  // name
  uint64_t pid = 0;
  std::optional<absl::Time> time = {};  // of the submission; not set: now
  std::vector<std::string> warnings = {};
  std::vector<std::string> flags = {};  // single words: "hang-at"
};

struct Submitted {
  // All members but `memory` are copied. `index` of the submissions is replaced by the number.
  // Contexts of different processes have different numbers: unpack carries the state of a context
  // from one submission to the next. The bytes of `memory` are read during the call only. If they
  // change meanwhile, each page is recorded as it was at some time during the call.
  const Dump& dump;
  absl::Span<const MemoryPart> parts = {};
  SubmissionFacts facts = {};
};

// Of the run, for the first line of the index.
struct RunFacts {
  std::string program = {};
  std::string command = {};  // what is recorded
};

// Thread-safe. After fork() it belongs to the parent alone: the child's calls are refused, whatever
// the parent's threads are doing, and its totals are zero.
class Recorder {
 public:
  // AlreadyExists if the folder has a record or GPU core dumps, or the code of a system error.
  static absl::StatusOr<std::unique_ptr<Recorder>> Create(const RecordOptions& options,
                                                          const RunFacts& run = {});
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder();  // Close()

  // 1, 2, 3, ...
  uint64_t NextNumber() { return next_number_.fetch_add(1, std::memory_order_relaxed); }

  // Whether Add() may record a submission with these facts: if not, no dump needs to be made. (The
  // trigger's file and --only=count may make Add() decide otherwise.)
  bool Wants(const SubmissionFacts& facts) const;

  // Records a submission, unless the options exclude it: then false. O(bytes of memory).
  //
  // After an error the submission is not in the record, and later ones may be: InvalidArgument for
  // a number that is 0 or used already, or a trigger that cannot be read; ResourceExhausted if the
  // submission alone is larger than the limit, or the disk is full; the code of a system error.
  absl::StatusOr<bool> Add(const Submitted& submitted);

  // What became of a submission. Numbers that are not in the record, or not any more, are ignored.
  //
  // With Keep::kHung a record that completed is thrown away when the next one of its context (and
  // process) completed too: a record that hung or faulted stays together with the one before it,
  // from which it inherits state. Records without an outcome stay: a hang may end the process.
  absl::Status Finish(uint64_t number, RecordOutcome outcome, absl::string_view detail = "");

  // Ends the run. Later calls of Add() are FailedPrecondition. What has no outcome stays.
  absl::Status Close();

  struct Totals {
    uint64_t recorded = 0;      // submissions
    uint64_t dropped = 0;       // of these, thrown away
    uint64_t memory_bytes = 0;  // of all memory of the recorded submissions
    uint64_t stored_bytes = 0;  // of it, written
    uint64_t folder_bytes = 0;  // what the folder has now
  };
  Totals totals() const;

 private:
  // A record that is being made.
  struct Draft;

  Recorder(RecordOptions options, std::string run, std::unique_ptr<PageStore> store,
           IndexWriter index);

  bool Matches(const SubmissionFacts& facts) const;

  // Before the lock is taken: in a child, another thread of the parent may hold it for good.
  absl::Status CheckProcess() const ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status CheckOpen() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status MakeDraft(const Submitted& submitted, Draft& draft)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status AddSegment(const Memory::Segment& segment, const MemoryPart* part, Draft& draft)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status AddPage(const uint8_t* bytes, size_t size, PageStore::Place* seen, Draft& draft)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Store(const uint8_t* page, PageStore::Place* seen, Draft& draft)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Use(uint32_t number, Draft& draft) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status WriteDraft(const Submitted& submitted, Draft& draft)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const RecordOptions options_;
  const std::string run_;
  const int64_t process_;
  std::atomic<uint64_t> next_number_{1};

  mutable Mutex mutex_;
  std::unique_ptr<PageStore> store_ ABSL_GUARDED_BY(mutex_);
  KeptRecords kept_ ABSL_GUARDED_BY(mutex_);
  Trigger trigger_ ABSL_GUARDED_BY(mutex_);
  SeenPages seen_ ABSL_GUARDED_BY(mutex_);
  uint64_t counted_ ABSL_GUARDED_BY(mutex_) = 0;  // for --only=count
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  Totals totals_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_RECORDS_RECORDER_H_
