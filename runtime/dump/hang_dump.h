// Intel hang dumps (.dmp), of versions 1 and 2: what Mesa's tools make of an error state in order
// to execute a batch again.
//
// A header, then blocks in any order, little-endian, without padding between them: buffers with
// their bytes, ranges that were mapped without bytes, addresses of batches, the image of the
// context, flags of the address space. One address space; no GPU, no engine, no checksum.
// Source: Mesa, src/intel/common/intel_hang_dump.h (Mesa 24.3 writes version 1).

#ifndef PACKSMITH_RUNTIME_DUMP_HANG_DUMP_H_
#define PACKSMITH_RUNTIME_DUMP_HANG_DUMP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/base/file.h"
#include "runtime/dump/dump.h"
#include "runtime/dump/raw.h"

namespace packsmith {

// Whether the bytes begin with the header's magic number.
bool IsHangDump(absl::Span<const uint8_t> bytes);

// Reads a hang dump; the dump keeps `file.owner`. Buffers are in space 0; those without bytes are
// only in `buffers`. Each batch is a submission to options.engine, in the order of the file: a
// program that executes the dump again takes the last one. The context's image, which has no
// address in the file, is in the global space from kHangDumpImage on. The GPU is that of
// options.generation.
//
// A damaged block yields its good part and a Problem; a block of an unknown type ends the reading,
// since its length is not known.
//
// InvalidArgument: no header of version 1 or 2.
absl::StatusOr<Dump> ReadHangDump(FileBytes file, const RawOptions& options);

// Of the image's status page; the registers are in the page after it.
inline constexpr uint64_t kHangDumpImage = 0x1000;

struct HangDumpOptions {
  uint32_t version = 2;  // or 1
};

// Writes the address space of the last batch: its memory, its buffers without memory, its batches
// in their order, and the last image of its context. The file appears whole or not at all. Returns
// a phrase for each thing of the dump that the format cannot hold.
//
// FailedPrecondition: the dump has no batch, or is not of Intel's GPUs; InvalidArgument: unknown
// version; errors of FileWriter.
absl::StatusOr<std::vector<std::string>> WriteHangDump(const Dump& dump, const std::string& path,
                                                       const HangDumpOptions& options = {});

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_DUMP_HANG_DUMP_H_
