// The records of a run that are in its folder: which of them stay, and for how long.
#ifndef PACKSMITH_RUNTIME_CAPTURE_RECORDS_KEPT_RECORDS_H_
#define PACKSMITH_RUNTIME_CAPTURE_RECORDS_KEPT_RECORDS_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/capture/records/index_writer.h"
#include "runtime/capture/records/options.h"
#include "runtime/capture/records/page_store.h"
#include "runtime/dump/memory_file.h"

namespace packsmith::capture {

enum class RecordOutcome { kCompleted, kFaulted, kHung };

// Cores, and the lines of the index about them. Whenever the process is killed, the folder can be
// read: a core is written before its line; it is removed after the line that says so, and its pages
// get other content only after that. Not thread-safe.
class KeptRecords {
 public:
  // A process and its context.
  using Context = std::pair<uint64_t, uint64_t>;

  // Uses the folder, the limit and Keep of the options. `store` must live as long. The index is
  // empty; `run_line` becomes its first line with Start().
  KeptRecords(const RecordOptions& options, PageStore& store, IndexWriter index);
  absl::Status Start(std::string run_line);

  bool Has(uint64_t number) const { return records_.count(number) != 0; }

  // Throws away the oldest until `bytes` more fit below the limit. ResourceExhausted if they do not
  // fit then.
  absl::Status MakeRoom(uint64_t bytes);

  // Adds a record: its core, its line, and the references to its pages, which it takes over only if
  // it succeeds.
  absl::Status Add(uint64_t number, const Context& context, absl::Span<const uint8_t> core,
                   std::string line, absl::Span<const PagedSegment> segments);

  // See Recorder::Finish().
  absl::Status Finish(uint64_t number, RecordOutcome outcome, absl::string_view detail);

  // Decides about the last record of each context, and appends the index's last line.
  absl::Status End(uint64_t recorded);

  uint64_t dropped() const { return dropped_; }
  // Bytes that the folder occupies.
  uint64_t folder_bytes() const { return store_.file_bytes() + cores_bytes_ + index_.size(); }

 private:
  struct Record {
    std::vector<PageRun> runs;  // only if records are thrown away
    uint64_t core_bytes = 0;
    std::string line;  // of the index, only if records are thrown away
    std::string outcome_line;
    std::optional<RecordOutcome> outcome;
  };

  bool ThrowsAway() const { return limit_ != 0 || keep_ == Keep::kHung; }
  absl::Status Drop(uint64_t number, absl::string_view reason);
  absl::Status Settle(std::deque<uint64_t>& numbers, bool at_end);
  absl::Status ShortenIndex();

  const std::string folder_;
  const uint64_t limit_;
  const Keep keep_;
  PageStore& store_;
  IndexWriter index_;
  std::string run_line_;
  std::map<uint64_t, Record> records_;
  // With Keep::kHung, what is not decided: by context, in order.
  std::map<Context, std::deque<uint64_t>> undecided_;
  std::map<uint64_t, Context> context_of_;
  uint64_t cores_bytes_ = 0;
  uint64_t live_lines_bytes_ = 0;  // of the index
  uint64_t dropped_ = 0;
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_RECORDS_KEPT_RECORDS_H_
