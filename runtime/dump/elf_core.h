// GPU core dumps: ELF64 little-endian core files.
//
//   PT_LOAD  p_vaddr is the GPU virtual address, p_paddr the number of the address space; bytes
//            from p_filesz to p_memsz read as zero
//   PT_NOTE  owner "packsmith", JSON: type 0x50530001 device, 0x50530002 submission (any number),
//            0x50530003 list of buffers, 0x50530004 {"complete": 1, "physical": 3}: whether the
//            file has all memory that the submissions may use (Dump::memory_is_complete), and the
//            space of physical addresses (Dump::physical_space), 0x50530005 {"run": NAME}: of paged
//            segments, the run that the memory file must be of; other notes are skipped
//   paged    type 0x65053001: as PT_LOAD, but the p_filesz bytes at p_offset are a list of pages of
//            the file `memory` in the core's folder: PageRun's two numbers of 32 bits, repeated
//
// e_machine is 205 for Intel and EM_NONE for AGX. More than 65,534 segments use PN_XNUM.
// `readelf -lhn` shows all of it.

#ifndef PACKSMITH_RUNTIME_DUMP_ELF_CORE_H_
#define PACKSMITH_RUNTIME_DUMP_ELF_CORE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/base/file.h"
#include "runtime/dump/dump.h"
#include "runtime/dump/memory_file.h"

namespace packsmith {

// Whether the bytes begin like an ELF file of any kind.
bool IsElf(absl::Span<const uint8_t> bytes);

// Addresses as the file has them, or those of Intel's GPUs in the form of PlainAddress(), so that
// addresses in packets and registers are found however the core was written.
enum class CoreAddresses { kAsWritten, kPlain };

// Reads a core; the dump keeps `file.owner`, and pages of segments are read only on access.
// A damaged segment or note yields its good part and a Problem: bytes missing from the file are
// unmapped, of overlapping segments the first in the file wins. Sizes and counts in the file are
// not trusted: time and memory are bounded by the size of the file.
//
// folder: where the memory file of paged segments is; "": nowhere. Pages that it does not have are
// unmapped, with a Problem.
//
// InvalidArgument (offset and remedy in the text) only if the file is not an ELF64 little-endian
// core or ends within the ELF header.
absl::StatusOr<Dump> ReadElfCore(FileBytes file,
                                 CoreAddresses addresses = CoreAddresses::kAsWritten,
                                 absl::string_view folder = {});

// Writes a core, whole or not at all. Every segment of `dump.memory` becomes a PT_LOAD; zeros at
// its end are not stored. Errors of FileWriter; InvalidArgument if notes exceed 4 GiB.
absl::Status WriteElfCore(const Dump& dump, const std::string& path);

// The notes of the core that WriteElfCore() makes of a dump, and its e_machine, for programs that
// write cores themselves.
struct CoreNote {
  uint32_t type;
  std::string json;
};
std::vector<CoreNote> CoreNotes(const Dump& dump);
uint16_t CoreMachine(const Device& device);

// The bytes of a core whose memory is `segments`, paged, in the memory file of `run`. Everything
// else is from `about`, whose own memory is ignored. InvalidArgument if notes exceed 4 GiB.
absl::StatusOr<std::vector<uint8_t>> MakePagedCore(const Dump& about, absl::string_view run,
                                                   absl::Span<const PagedSegment> segments);

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_DUMP_ELF_CORE_H_
