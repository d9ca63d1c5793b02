// Reads many dumps with several threads.
//
//   std::vector<std::string> paths = FindFiles({"/srv/dumps"}, problems);
//   Survey(paths, {.jobs = 2, .max_bytes = 1 << 30, .describe = describe}, state,
//          [&](const Record& record) { groups.Add(record); });
#ifndef PACKSMITH_RUNTIME_TRIAGE_SURVEY_H_
#define PACKSMITH_RUNTIME_TRIAGE_SURVEY_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/triage/record.h"
#include "runtime/triage/state_file.h"

namespace packsmith::triage {

// A file to read. A named one must be a dump of a hang; what else a folder has is left out.
struct Found {
  std::string path;
  bool named = false;

  friend bool operator==(const Found&, const Found&) = default;
};

// The files of `given`, folders replaced by the files in and below them, in the order of their
// names. Names that begin with a point, links to folders and whatever is not a regular file are
// left out of folders. `problems`: a line for each folder that cannot be read.
std::vector<Found> FindFiles(const std::vector<std::string>& given,
                             std::vector<std::string>& problems);

struct SurveyOptions {
  unsigned jobs = 1;       // threads, at least 1; each has one dump in memory
  uint64_t max_bytes = 0;  // of a file after decompression
  // Called from several threads at once.
  Describe describe;
};

struct SurveyCount {
  uint64_t read = 0;   // files that were read
  uint64_t known = 0;  // files whose record the state file had
};

// Calls `take` with the record of each file, in the order of `files`, from one thread at a time.
// `state` may be null; it is only used from one thread at a time. A file that is named twice is
// taken once.
//
// Errors of StateFile::Append(); the survey then stops.
absl::StatusOr<SurveyCount> Survey(const std::vector<Found>& files, const SurveyOptions& options,
                                   StateFile* state,
                                   const std::function<void(const Record&)>& take);

}  // namespace packsmith::triage

#endif  // PACKSMITH_RUNTIME_TRIAGE_SURVEY_H_
