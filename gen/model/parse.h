// XML text to declarations: one file and all that it extends, merged, nothing resolved yet.
#ifndef PACKSMITH_GEN_MODEL_PARSE_H_
#define PACKSMITH_GEN_MODEL_PARSE_H_

#include <string>

#include "gen/model/load.h"

namespace packsmith::model {

// Reads `path` and its ancestors into `model`, from `parsed` where they are known there. Problems
// go to `diagnostics`, texts to `parsed`.
void Parse(const std::string& path, const ReadFile& read_file, Parsed& parsed,
           Diagnostics& diagnostics, Model& model);

// Where attribute `name` of the element at `element` stands; the element itself if it has none.
Location AttributeLocation(const Sources& sources, Location element, absl::string_view name);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_PARSE_H_
