// From XML text to a checked Model.
#ifndef PACKSMITH_GEN_MODEL_LOAD_H_
#define PACKSMITH_GEN_MODEL_LOAD_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "gen/model/diagnostic.h"
#include "gen/model/model.h"
#include "gen/model/source.h"

namespace packsmith::model {

// Gives the text of a file. Tests and fuzzers hand out memory, tools read files.
using ReadFile = std::function<absl::StatusOr<std::string>(const std::string& path)>;

// Reads a file of the file system.
absl::StatusOr<std::string> ReadFileFromDisk(const std::string& path);

struct LoadResult {
  Sources sources;
  Diagnostics diagnostics;  // sorted
  Model model;              // complete only if there are no errors
};

// Reads `path` and what it extends (paths relative to the file that names them), merges, resolves
// and checks. Never fails as a whole: whatever is wrong is in the diagnostics, all of it.
LoadResult Load(const std::string& path, const ReadFile& read_file);

// The text of all diagnostics as an error status, or Ok.
absl::Status ToStatus(const LoadResult& result);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_LOAD_H_
