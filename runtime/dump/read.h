// Reads dumps of all formats: the entry point for programs.

#ifndef PACKSMITH_RUNTIME_DUMP_READ_H_
#define PACKSMITH_RUNTIME_DUMP_READ_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/base/file.h"
#include "runtime/dump/dump.h"
#include "runtime/dump/raw.h"

namespace packsmith {

// What options.format may name.
std::vector<absl::string_view> DumpFormats();

// Opens `path` ("-": standard input), decompresses zstd and gzip (up to 4 levels of it), removes a
// byte order mark and the prefixes of a kernel log (then offsets in problems count without them),
// detects the format (unless options.format names it; input that is not text and in no other format
// is raw), and reads. A recording has no memory and no submissions before aub::Play() of
// runtime/aub has played it: that needs the GPU's description. Options about addresses, engines and
// generations apply to formats that do not have these; a core's own notes take precedence.
//
// Errors of OpenFile() and of the format's reader; InvalidArgument for an unknown options.format,
// for text in no known format, and, unless options.format names one, for empty input and formats
// that other programs unpack (foreign.h); ResourceExhausted if the input unpacks to more than
// options.max_bytes.
absl::StatusOr<Dump> ReadDump(const std::string& path, const RawOptions& options = {});

// The files of a directory to pass to ReadDump(), in order.
struct FoundDumps {
  std::vector<std::string> paths;
  // What is wrong with the directory's index, each with its path; of these dumps nothing is lost.
  std::vector<std::string> problems;
  std::vector<std::string> others;  // files that are read beside the dumps
  // By path: what the index says about a dump beyond its content, such as that it hung.
  std::map<std::string, std::string> remarks;
};

// Searches `directory`: a recorded run's folder (run_folder.h) has its submissions, also those
// whose file is missing; else what a kernel shows there (a card's or a device core dump's directory
// in /sys, or a copy: `error`, `i915_error_state`, `data`), else all GPU core dumps
// (`*.core`, 2.core before 10.core), else its only file. Each of them may be compressed, with .gz
// or .zst after its name. Subdirectories are not searched, except `device/devcoredump`.
//
// NotFound if there are none of these; the message says what was looked for.
absl::StatusOr<FoundDumps> FindDumps(const std::string& directory);

// The paths alone.
absl::StatusOr<std::vector<std::string>> DumpsIn(const std::string& directory);

// ReadDump() for bytes in memory.
absl::StatusOr<Dump> ReadDump(FileBytes file, const RawOptions& options = {});

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_DUMP_READ_H_
