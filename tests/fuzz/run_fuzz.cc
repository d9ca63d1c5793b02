// Any bytes as a file of a recorded run's folder: as the index, if they begin with a brace, else as
// a core whose memory is in a file beside it.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/base/file.h"
#include "runtime/dump/elf_core.h"
#include "runtime/dump/memory_file.h"
#include "runtime/dump/run_folder.h"
#include "tests/fuzz/touch_dump.h"

namespace packsmith {
namespace {

// A sanitizer or libFuzzer reports the trap together with the input.
void Demand(bool condition) {
  if (!condition) __builtin_trap();
}

// A folder with the memory file of the run "r", which has three pages with content. It stays: it
// is in the test's own temporary folder, or in the system's.
std::string MakeFolder() {
  const char* const temporary = std::getenv("TEST_TMPDIR");
  std::string folder = absl::StrCat(temporary != nullptr ? temporary : "/tmp", "/run-fuzz-XXXXXX");
  Demand(mkdtemp(folder.data()) != nullptr);
  std::string memory = MemoryFileHeader("r");
  for (const char page : {'a', 'b', 'c'}) memory.append(kMemoryPage, page);
  Demand(WriteFileWhole(absl::StrCat(folder, "/", kMemoryFile), memory).ok());
  return folder;
}

void ReadIndex(absl::string_view index) {
  const RunFolder run = ReadRunIndex(index, {"000001.core", "000012.core", "x.core"});
  Demand(run.problems.size() <= RunFolder::kMostProblems);
  uint64_t last = 0;
  for (const RunRecord& record : run.records) {
    Demand(record.number >= last);
    last = record.number;
    Demand(record.file.find('/') == std::string::npos && record.file.size() > 5);
    Demand(ValidUtf8(RemarkOf(record)) == RemarkOf(record));
  }
}

}  // namespace
}  // namespace packsmith

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace packsmith;
  static const std::string& folder = *new std::string(MakeFolder());
  if (size != 0 && data[0] == '{') {
    ReadIndex(absl::string_view(reinterpret_cast<const char*>(data), size));
    return 0;
  }
  FileBytes file;
  file.bytes = absl::MakeConstSpan(data, size);
  file.name = "input";
  const absl::StatusOr<Dump> dump = ReadElfCore(std::move(file), CoreAddresses::kPlain, folder);
  if (dump.ok()) TouchDump(*dump);
  return 0;
}
