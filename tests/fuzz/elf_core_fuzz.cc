// Any bytes as a GPU core dump.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/types/span.h"
#include "runtime/base/file.h"
#include "runtime/dump/elf_core.h"
#include "tests/fuzz/touch_dump.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  packsmith::FileBytes file;
  file.bytes = absl::MakeConstSpan(data, size);
  file.name = "input";
  const absl::StatusOr<packsmith::Dump> dump = packsmith::ReadElfCore(std::move(file));
  if (dump.ok()) packsmith::TouchDump(*dump);
  return 0;
}
