// Any bytes as a recording, through to its memory and submissions, and to another recording. Of the
// first byte the lower half chooses the generation; bit 7 asks for images of contexts, bit 6 for
// the other recording.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/types/span.h"
#include "runtime/aub/play.h"
#include "runtime/aub/write.h"
#include "runtime/base/file.h"
#include "runtime/dump/aub.h"
#include "runtime/generations/generations.h"
#include "tests/fuzz/touch_dump.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const absl::Span<const packsmith::tables::Tables> all = packsmith::BuiltInGenerations();
  const packsmith::tables::Tables& tables = all[data[0] % all.size()];
  packsmith::FileBytes file;
  file.bytes = absl::MakeConstSpan(data + 1, size - 1);
  file.name = "input";
  absl::StatusOr<packsmith::Dump> dump = packsmith::ReadAub(std::move(file), {});
  if (!dump.ok()) return 0;
  packsmith::aub::Play(tables, *dump, {.images = (data[0] & 0x80) != 0});
  packsmith::TouchDump(*dump);
  // Larger ones take too long.
  if ((data[0] & 0x40) == 0 || dump->memory.segments().size() > 256) return 0;
  auto writer = packsmith::aub::RecordingWriter::Create(tables, dump->device, "/dev/null");
  if (writer.ok() && writer->Add(*dump).ok()) static_cast<void>(writer->Finish());
  return 0;
}
