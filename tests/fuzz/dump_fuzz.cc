// Any bytes as a dump in a format that must be detected: hex text, raw, compressed, core.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/types/span.h"
#include "runtime/base/file.h"
#include "runtime/dump/read.h"
#include "tests/fuzz/touch_dump.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  packsmith::FileBytes file;
  file.bytes = absl::MakeConstSpan(data, size);
  file.name = "input";
  packsmith::RawOptions options;
  options.max_bytes = 1 << 22;
  const absl::StatusOr<packsmith::Dump> dump = packsmith::ReadDump(std::move(file), options);
  if (dump.ok()) packsmith::TouchDump(*dump);
  return 0;
}
