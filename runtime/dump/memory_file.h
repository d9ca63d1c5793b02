// The memory of a run of GPU core dumps, in one file next to them: pages that several cores have
// are stored once. docs/recording.md describes the folder.
//
//   memory        page 0 names the run; the others, of 4096 bytes, have content
//   000001.core   a core whose segments list the numbers of their pages: see elf_core.h
#ifndef PACKSMITH_RUNTIME_DUMP_MEMORY_FILE_H_
#define PACKSMITH_RUNTIME_DUMP_MEMORY_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/base/file.h"

namespace packsmith {

// Bytes, whatever the pages of the GPU or the processor are.
inline constexpr size_t kMemoryPage = 4096;

// The file's name, in the folder of the cores. Cores do not name it, so that no core can refer to a
// file elsewhere.
inline constexpr absl::string_view kMemoryFile = "memory";

// `count` consecutive pages of a segment. `first` is the number of their first page in the file; 0:
// they are zero, and are not in the file.
struct PageRun {
  uint32_t count = 0;
  uint32_t first = 0;

  friend bool operator==(const PageRun&, const PageRun&) = default;
};

// A segment of a core whose content is in the memory file. The runs begin at `address` and have as
// many pages as `memory_size` needs; bytes of the last page beyond it are not used.
struct PagedSegment {
  uint32_t space = 0;
  uint64_t address = 0;
  uint64_t memory_size = 0;  // bytes
  std::vector<PageRun> runs = {};
};

// Page 0 of the memory file of a run: kMemoryPage bytes that begin with a line of text. `run` has
// letters and digits only.
std::string MemoryFileHeader(absl::string_view run);

// The run that page 0 names, or "": this is not a memory file.
absl::string_view RunOfMemoryFile(absl::string_view content);

// Opens the memory file in `folder`. FailedPrecondition if it is not a regular file (so that a pipe
// does not block), NotFound, or the code of another system error.
absl::StatusOr<FileBytes> OpenMemoryFile(const std::string& folder);

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_DUMP_MEMORY_FILE_H_
