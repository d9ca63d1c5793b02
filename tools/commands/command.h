// What all of unpack's commands share: exit codes, messages, the output, the files that are read.
#ifndef PACKSMITH_TOOLS_COMMANDS_COMMAND_H_
#define PACKSMITH_TOOLS_COMMANDS_COMMAND_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/dump/dump.h"
#include "runtime/tables/tables.h"
#include "tools/commands/arguments.h"
#include "tools/descriptions.h"
#include "tools/inputs.h"
#include "tools/output.h"

namespace packsmith::commands {

constexpr int kGood = 0;
constexpr int kNotDecoded = 1;  // the input could not be read or decoded whole
constexpr int kWrongUsage = 2;

// Prints a message, of one or several lines, to standard error.
void Complain(absl::string_view text);

// Complains, and returns the exit code of wrong usage.
int Refuse(absl::string_view text);

// The output that the arguments select.
absl::StatusOr<std::unique_ptr<tools::CliOutput>> Open(const Arguments& arguments);
// Writes all of it; complains if that fails, and returns false.
bool Write(const Arguments& arguments, absl::string_view text);

// The first description of the user's own; there must be one.
tools::Described ReadOwn(const Arguments& arguments);

// Files that are read, and must not be overwritten.
std::vector<std::string> ReadFiles(const Arguments& arguments, std::vector<std::string> dumps,
                                   absl::Span<const tools::Described> own);

// The name of the output, as RefuseToOverwrite() takes it.
std::string OutputName(const Arguments& arguments);

// Finds the tables of a dump; complains if there are none. `before`: the GPU of the dump before it.
using DescribeDump = std::function<absl::StatusOr<tables::Tables>(
    Dump& dump, const std::string& path, const std::optional<tools::Gpu>& before)>;

}  // namespace packsmith::commands

#endif  // PACKSMITH_TOOLS_COMMANDS_COMMAND_H_
