// The folder of a recorded run: an index, and a GPU core dump for each submission.
//
//   index.jsonl   a JSON object a line, each with a "type":
//                 run         the first line: "run", the name that the memory file has too
//                 submission  "number", from 1; "file"; "engine", "context", "process", "pid",
//                             "time", "warnings", "flags", ...
//                 outcome     "number", "outcome" ("completed", "faulted", "hung"), "detail"
//                 dropped     "number", "reason": the record was thrown away
//                 shortened   "dropped": as many submissions had been thrown away when the lines
//                             about them were removed
//                 end         the recorder ended in good order
//   000012.core   submission 12
//   memory        their memory: memory_file.h
//
// Readers ignore types and members that they do not know. docs/recording.md is for users.
#ifndef PACKSMITH_RUNTIME_DUMP_RUN_FOLDER_H_
#define PACKSMITH_RUNTIME_DUMP_RUN_FOLDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace packsmith {

inline constexpr absl::string_view kIndexFile = "index.jsonl";

// The file of a submission: "000012.core".
std::string RecordFile(uint64_t number);

// What the index says about one submission. Strings are valid UTF-8, but may hold control
// characters. Empty or 0: it does not say.
struct RunRecord {
  uint64_t number = 0;
  std::string file;  // a name in the folder
  std::string process;
  uint64_t pid = 0;
  std::string outcome;
  std::string detail;  // of the outcome
  std::vector<std::string> warnings;
  std::vector<std::string> flags;
};

// What is worth telling about a submission: "submission 12 of vkcube [1234]: hung: reset; warning:
// ...". Empty if it completed without a warning, or the index does not say.
std::string RemarkOf(const RunRecord& record);

struct RunFolder {
  std::string run;
  std::vector<RunRecord> records;     // in the order of their numbers
  std::vector<std::string> problems;  // what could not be read, at most kMostProblems
  bool ended = false;                 // false: the recorder is still there, or died

  static constexpr size_t kMostProblems = 100;
};

// Reads the index of a folder. A line that cannot be read costs that line. Records that were
// dropped are left out if their file is gone; cores in the folder that the index does not have are
// listed after their numbers. Files that are missing are listed, so that opening them reports it.
//
// NotFound if the folder has no index.
absl::StatusOr<RunFolder> ReadRunFolder(const std::string& folder);

// The same for the content of an index, and the names of the folder's cores.
RunFolder ReadRunIndex(absl::string_view index, absl::Span<const std::string> cores);

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_DUMP_RUN_FOLDER_H_
