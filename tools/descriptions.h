// Descriptions of GPUs: those built in, and those that a user names.
#ifndef PACKSMITH_TOOLS_DESCRIPTIONS_H_
#define PACKSMITH_TOOLS_DESCRIPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/dump/dump.h"
#include "runtime/tables/tables.h"

namespace packsmith::tools {

// Tables, and what keeps them alive.
struct Described {
  absl::StatusOr<tables::Tables> tables = absl::NotFoundError("");
  std::vector<uint64_t> block;
  std::vector<std::string> inputs;  // files that were read for them
};

Described ReadXml(const std::string& path);
// What packgen --tables has written.
Described ReadTables(const std::string& path);

// The built-in tables of `generation`, or if that is empty, of the GPU that the dump is from.
// `note` becomes a remark about the choice, which must be shown; it is not changed if there is
// none.
absl::StatusOr<tables::Tables> TablesOf(absl::string_view generation, const Dump& dump,
                                        std::string& note);

}  // namespace packsmith::tools

#endif  // PACKSMITH_TOOLS_DESCRIPTIONS_H_
