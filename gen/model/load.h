// From XML text to a checked Model.
#ifndef PACKSMITH_GEN_MODEL_LOAD_H_
#define PACKSMITH_GEN_MODEL_LOAD_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "gen/model/ast/model.h"
#include "gen/model/diagnostic.h"
#include "gen/model/source.h"
#include "gen/model/syntax/parse.h"

namespace packsmith::model {

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

// The same for descriptions that extend each other: each is parsed once if parents come before
// their heirs. Files must stay as they are meanwhile.
class Loader {
 public:
  explicit Loader(ReadFile read_file) : read_file_(std::move(read_file)) {}
  LoadResult Load(const std::string& path);

 private:
  ReadFile read_file_;
  Parsed parsed_;
};

// The text of all diagnostics as an error status, or Ok.
absl::Status ToStatus(const LoadResult& result);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_LOAD_H_
