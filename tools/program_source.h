// unpack --format=cpp and --format=c: a dump as a program.
#ifndef PACKSMITH_TOOLS_PROGRAM_SOURCE_H_
#define PACKSMITH_TOOLS_PROGRAM_SOURCE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "runtime/dump/dump.h"
#include "runtime/tables/tables.h"

namespace packsmith::tools {

struct ProgramRequest {
  std::string format;  // "cpp" or "c"
  std::string output;
  std::string data;   // a folder for large pieces of memory, which is created; "": none
  std::string input;  // the dump's path
};

bool IsProgramFormat(absl::string_view format);

// Files of `data` are written before the program, each whole or not at all.
absl::Status WriteProgramSource(const tables::Tables& tables, const Dump& dump,
                                const ProgramRequest& request);

}  // namespace packsmith::tools

#endif  // PACKSMITH_TOOLS_PROGRAM_SOURCE_H_
