// XML text to declarations: one file and all that it extends, merged, nothing resolved yet.
#ifndef PACKSMITH_GEN_MODEL_SYNTAX_PARSE_H_
#define PACKSMITH_GEN_MODEL_SYNTAX_PARSE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gen/model/ast/model.h"
#include "gen/model/diagnostic.h"
#include "gen/model/source.h"

namespace packsmith::model {

// Gives the text of a file. Tests and fuzzers hand out memory, tools read files.
using ReadFile = std::function<absl::StatusOr<std::string>(const std::string& path)>;

// What is known after parsing, before anything is resolved.
struct Parsed {
  Sources sources;
  std::vector<int32_t> layers;          // by file: the first file of the layer that it belongs to
  std::map<std::string, Model> models;  // by path, those without a problem
};

// Reads `path` and its ancestors into `model`, from `parsed` where they are known there. Problems
// go to `diagnostics`, texts to `parsed`.
void Parse(const std::string& path, const ReadFile& read_file, Parsed& parsed,
           Diagnostics& diagnostics, Model& model);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_SYNTAX_PARSE_H_
