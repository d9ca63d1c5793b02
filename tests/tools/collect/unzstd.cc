// Writes what a file in zstd's format has to standard output; 1: it is damaged or cut off.
#include <cstdio>
#include <utility>

#include "absl/status/statusor.h"
#include "runtime/base/file.h"
#include "runtime/dump/compressed.h"

int main(int argc, char** argv) {
  using namespace packsmith;
  absl::StatusOr<FileBytes> file = OpenFile(argc == 2 ? argv[1] : "-");
  if (!file.ok() || !IsCompressed(file->bytes)) return 1;
  const absl::StatusOr<Decompressed> unpacked = Decompress(*std::move(file));
  if (!unpacked.ok() || unpacked->problem) return 1;
  const absl::Span<const uint8_t> bytes = unpacked->file.bytes;
  return std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size() ? 0 : 1;
}
