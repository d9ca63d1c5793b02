// unpack --convert: writes dumps in another format, and unpack --format=cpp and --format=c:
// programs.
#ifndef PACKSMITH_TOOLS_CONVERT_H_
#define PACKSMITH_TOOLS_CONVERT_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/dump/dump.h"
#include "runtime/tables/tables.h"
#include "tools/inputs.h"

namespace packsmith::tools {

// What --convert takes.
std::vector<std::string> ConvertFormats();

// What is written.
struct Conversion {
  std::string format;  // of ConvertFormats(), or "cpp" or "c"
  std::string output;
  std::string data;  // programs: the folder of files with large pieces of memory; "": none
};

// Writes the dumps of `inputs` to the output, which appears whole or not at all. Only a recording
// can hold several. `describe` finds the tables of a dump, or complains. `complain` gets a sentence
// with what the format cannot hold, and one for each problem of an input; `complete` becomes false
// if there is one of these, or an input that could not be read.
absl::Status Convert(
    Inputs& inputs, const Conversion& conversion,
    const std::function<absl::StatusOr<tables::Tables>(Dump&, const std::string&)>& describe,
    const std::function<void(absl::string_view)>& complain, bool& complete);

}  // namespace packsmith::tools

#endif  // PACKSMITH_TOOLS_CONVERT_H_
