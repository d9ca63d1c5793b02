// What was read already, so that a second run reads only new and changed files, and a run that was
// interrupted goes on where it was.
//
//   StateFile state = *StateFile::Open("fleet.state");
//   if (const Record* known = state.Find(stamp)) … else … state.Append(record);
//   state.Finish();
//
// The file has a line for each dump, as ToJson() writes it: other programs may read it, also while
// it grows. Each line is written at once; a last line that is cut off, and lines of another version
// of packsmith, count for nothing.
#ifndef PACKSMITH_RUNTIME_TRIAGE_STATE_FILE_H_
#define PACKSMITH_RUNTIME_TRIAGE_STATE_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/base/unique_fd.h"
#include "runtime/triage/record.h"

namespace packsmith::triage {

class StateFile {
 public:
  // Makes the file, readable by its owner only, if there is none. FailedPrecondition: another
  // program uses it, or it has a line that triage does not write; codes of system errors.
  static absl::StatusOr<StateFile> Open(const std::string& path);

  // What is known of the file, if it is as it was then. One read of the state file.
  std::optional<Record> Find(const FileStamp& file) const;

  // A later record of the same path replaces the earlier one.
  absl::Status Append(const Record& record);

  // If most lines are replaced ones, writes the file anew without them, whole or not at all.
  absl::Status Finish();

  // The number of files that are known.
  size_t size() const { return lines_.size(); }

 private:
  // Where a record's line is, and of which file.
  struct Line {
    uint64_t offset = 0;
    uint32_t bytes = 0;
    uint64_t size = 0;
    int64_t modified_ns = 0;
  };

  StateFile() = default;
  absl::Status Load();
  std::optional<std::string> Read(const Line& line) const;

  std::string path_;
  UniqueFd fd_;
  uint64_t end_ = 0;                             // where the next line begins
  uint64_t replaced_ = 0;                        // lines that count for nothing
  std::unordered_map<std::string, Line> lines_;  // by path
};

}  // namespace packsmith::triage

#endif  // PACKSMITH_RUNTIME_TRIAGE_STATE_FILE_H_
