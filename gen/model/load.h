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

// Reads a whole file. NotFound if it cannot be opened, DataLoss if it cannot be read.
absl::StatusOr<std::string> ReadFileFromDisk(const std::string& path);

struct LoadResult {
  Sources sources;
  Diagnostics diagnostics;  // sorted
  Model model;              // complete only if there are no errors
};

// Reads `path` and what it extends (paths are relative to the file that names them), merges,
// resolves and checks. Never fails as a whole: the diagnostics have all problems.
LoadResult Load(const std::string& path, const ReadFile& read_file);

// The same for descriptions that extend each other: each is parsed once if bases are loaded before
// the descriptions derived from them. Files must not change meanwhile.
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
