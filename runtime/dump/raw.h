// A batch without a container: bytes and the address that they are placed at.

#ifndef PACKSMITH_RUNTIME_DUMP_RAW_H_
#define PACKSMITH_RUNTIME_DUMP_RAW_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/base/file.h"
#include "runtime/dump/dump.h"

namespace packsmith {

// What the input itself does not have.
struct RawOptions {
  std::string format;             // ReadDump() only: one of DumpFormats(); empty: detect
  std::string generation;         // "gfx9": see DeviceOfGeneration()
  std::string engine = "render";  // of the submission
  uint32_t context = 0;
  uint32_t slot = 0;
  uint32_t space = 0;                     // the space that the bytes are placed in
  uint64_t address = 0;                   // of the first byte (hex text: where no address is given)
  std::optional<uint64_t> batch_address;  // unset: where the bytes begin
  std::optional<uint64_t> batch_length;   // unset: to the end of the first contiguous run
  std::string stream;
  uint64_t max_bytes = kDefaultMaxBytes;  // of decompressed or piped input
};

// The one batch of an input without submissions; `begin` is the address of its first byte.
Submission SubmissionOf(const RawOptions& options, uint64_t begin, const Memory& memory);

// `address` in the plain form (addresses.h) if the options name an Intel GPU, else unchanged.
uint64_t AddressFor(const RawOptions& options, uint64_t address);

// One submission over all bytes. OutOfRange if they do not fit below 2^64.
absl::StatusOr<Dump> ReadRaw(FileBytes file, const RawOptions& options);

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_DUMP_RAW_H_
