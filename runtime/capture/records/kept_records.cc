#include "runtime/capture/records/kept_records.h"

#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/capture/records/index_line.h"
#include "runtime/dump/run_folder.h"

namespace packsmith::capture {
namespace {

// The index may have as many bytes of records that were thrown away, and these beside.
constexpr uint64_t kLeastToShorten = 16384;

absl::string_view NameOf(RecordOutcome outcome) {
  switch (outcome) {
    case RecordOutcome::kCompleted:
      return "completed";
    case RecordOutcome::kFaulted:
      return "faulted";
    case RecordOutcome::kHung:
      return "hung";
  }
  return "";
}

}  // namespace

KeptRecords::KeptRecords(const RecordOptions& options, PageStore& store, IndexWriter index)
    : folder_(options.folder),
      limit_(options.limit),
      keep_(options.keep),
      store_(store),
      index_(std::move(index)) {}

absl::Status KeptRecords::Start(std::string run_line) {
  run_line_ = std::move(run_line);
  live_lines_bytes_ = run_line_.size();
  return index_.Append(run_line_);
}

absl::Status KeptRecords::MakeRoom(uint64_t bytes) {
  if (limit_ == 0) return absl::OkStatus();
  while (store_.used_bytes() + cores_bytes_ + index_.size() + bytes > limit_) {
    if (records_.empty()) {
      if (index_.size() > live_lines_bytes_ + kLeastToShorten / 4) {
        if (absl::Status status = ShortenIndex(); !status.ok()) return status;
        continue;
      }
      return absl::ResourceExhaustedError(
          absl::StrFormat("a submission alone has more than the limit of the record (%u bytes); "
                          "raise it",
                          limit_));
    }
    if (absl::Status status = Drop(records_.begin()->first, "limit"); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status KeptRecords::Add(uint64_t number, const Context& context,
                              absl::Span<const uint8_t> core, std::string line,
                              absl::Span<const PagedSegment> segments) {
  if (absl::Status status = MakeRoom(core.size() + line.size()); !status.ok()) return status;
  const std::string file = RecordFile(number);
  absl::Status status = WriteNewFile(
      folder_, file, absl::string_view(reinterpret_cast<const char*>(core.data()), core.size()));
  if (!status.ok()) return status;
  status = index_.Append(line);
  if (!status.ok()) {
    unlink(absl::StrCat(folder_, "/", file).c_str());
    return status;
  }
  Record record;
  record.core_bytes = core.size();
  cores_bytes_ += core.size();
  live_lines_bytes_ += line.size();
  if (ThrowsAway()) {
    record.line = std::move(line);
    for (const PagedSegment& segment : segments) {
      for (const PageRun& run : segment.runs) {
        if (run.first != 0) record.runs.push_back(run);
      }
    }
  }
  records_.emplace(number, std::move(record));
  if (keep_ == Keep::kHung) {
    undecided_[context].push_back(number);
    context_of_.emplace(number, context);
  }
  if (limit_ != 0 && folder_bytes() > limit_) store_.ReturnUnused();
  return absl::OkStatus();
}

absl::Status KeptRecords::Drop(uint64_t number, absl::string_view reason) {
  const auto found = records_.find(number);
  IndexLine line("dropped");
  line.Put("number", number);
  line.Put("reason", reason);
  // In this order, so that the folder can be read whenever the process is killed: the line, the
  // file, and only then its pages may get other content.
  if (absl::Status status = index_.Append(line.End()); !status.ok()) return status;
  const std::string path = absl::StrCat(folder_, "/", RecordFile(number));
  if (unlink(path.c_str()) != 0 && errno != ENOENT) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot remove ", path));
  }
  const Record& record = found->second;
  store_.Release(record.runs);
  cores_bytes_ -= record.core_bytes;
  live_lines_bytes_ -= record.line.size() + record.outcome_line.size();
  records_.erase(found);
  context_of_.erase(number);
  ++dropped_;
  return index_.size() > 2 * live_lines_bytes_ + kLeastToShorten ? ShortenIndex()
                                                                 : absl::OkStatus();
}

absl::Status KeptRecords::ShortenIndex() {
  IndexLine dropped("shortened");
  dropped.Put("dropped", dropped_);
  std::string lines = absl::StrCat(run_line_, dropped.End());
  for (const auto& [number, record] : records_) {
    absl::StrAppend(&lines, record.line, record.outcome_line);
  }
  return index_.Replace(lines);
}

absl::Status KeptRecords::Finish(uint64_t number, RecordOutcome outcome, absl::string_view detail) {
  const auto found = records_.find(number);
  if (found == records_.end() || found->second.outcome) return absl::OkStatus();
  IndexLine line("outcome");
  line.Put("number", number);
  line.Put("outcome", NameOf(outcome));
  line.Put("detail", detail);
  std::string text = line.End();
  if (absl::Status status = index_.Append(text); !status.ok()) return status;
  found->second.outcome = outcome;
  live_lines_bytes_ += text.size();
  if (ThrowsAway()) found->second.outcome_line = std::move(text);
  const auto context = context_of_.find(number);
  return context == context_of_.end() ? absl::OkStatus()
                                      : Settle(undecided_[context->second], /*at_end=*/false);
}

// Throws away, from the oldest on, what is known to be neither hung nor followed by what hung.
absl::Status KeptRecords::Settle(std::deque<uint64_t>& numbers, bool at_end) {
  while (!numbers.empty()) {
    const uint64_t number = numbers.front();
    const auto record = records_.find(number);
    if (record == records_.end()) {  // thrown away already
      numbers.pop_front();
      continue;
    }
    if (!record->second.outcome) {
      if (!at_end) break;
    } else if (*record->second.outcome == RecordOutcome::kCompleted) {
      const auto next = numbers.size() > 1 ? records_.find(numbers[1]) : records_.end();
      const bool has_next = next != records_.end();
      if (!at_end && (numbers.size() == 1 || (has_next && !next->second.outcome))) break;
      if (!has_next || next->second.outcome == RecordOutcome::kCompleted) {
        if (absl::Status status = Drop(number, "completed"); !status.ok()) return status;
        numbers.pop_front();
        continue;
      }
    }
    context_of_.erase(number);
    numbers.pop_front();
  }
  return absl::OkStatus();
}

absl::Status KeptRecords::End(uint64_t recorded) {
  absl::Status status;
  for (auto& [context, numbers] : undecided_) status.Update(Settle(numbers, /*at_end=*/true));
  IndexLine line("end");
  line.Put("recorded", recorded);
  line.Put("dropped", dropped_);
  status.Update(index_.Append(line.End()));
  return status;
}

}  // namespace packsmith::capture
