// Any bytes as the JSON of a core's note, whose type the first byte chooses. What was read is
// written and read again, and must be the same.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>

#include "absl/strings/string_view.h"
#include "runtime/dump/elf_notes.h"
#include "tests/fuzz/touch_dump.h"

namespace packsmith {
namespace {

// A sanitizer or libFuzzer reports the trap together with the input.
void Demand(bool condition) {
  if (!condition) __builtin_trap();
}

}  // namespace
}  // namespace packsmith

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace packsmith;
  constexpr uint32_t kTypes[] = {kDeviceNote, kSubmissionNote, kBuffersNote, 0};
  if (size == 0) return 0;
  const absl::string_view json(reinterpret_cast<const char*>(data) + 1, size - 1);
  Dump dump;
  ReadNote(kTypes[data[0] % std::size(kTypes)], json, 0, dump);
  dump.SortBuffers();
  TouchDump(dump);

  Dump again;
  ReadNote(kDeviceNote, DeviceToJson(dump.device), 0, again);
  for (const Submission& submission : dump.submissions) {
    ReadNote(kSubmissionNote, SubmissionToJson(submission), 0, again);
  }
  if (!dump.buffers.empty()) ReadNote(kBuffersNote, BuffersToJson(dump.buffers), 0, again);
  again.SortBuffers();
  Demand(again.device == dump.device && again.submissions == dump.submissions &&
         again.buffers == dump.buffers);
  return 0;
}
