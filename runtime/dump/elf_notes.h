// The JSON inside a core's notes. Internal to elf_core.

#ifndef PACKSMITH_RUNTIME_DUMP_ELF_NOTES_H_
#define PACKSMITH_RUNTIME_DUMP_ELF_NOTES_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/dump/dump.h"

namespace packsmith {

inline constexpr uint32_t kDeviceNote = 0x50530001;
inline constexpr uint32_t kSubmissionNote = 0x50530002;
inline constexpr uint32_t kBuffersNote = 0x50530003;
inline constexpr uint32_t kMemoryNote = 0x50530004;
inline constexpr uint32_t kRunNote = 0x50530005;

// Adds the content of a note of that type to `dump`; other types are ignored. `offset` is the
// text's offset in the input. A text that breaks off or is not JSON yields the part before that,
// and a problem.
void ReadNote(uint32_t type, absl::string_view json, uint64_t offset, Dump& dump);

// The same for a note of type kRunNote: the run that it names, or "".
std::string ReadRunNote(absl::string_view json, uint64_t offset, Dump& dump);

std::string DeviceToJson(const Device& device);
std::string SubmissionToJson(const Submission& submission);
std::string BuffersToJson(absl::Span<const Buffer> buffers);
// What is known of `dump.memory` as a whole.
std::string MemoryToJson(const Dump& dump);
std::string RunToJson(absl::string_view run);

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_DUMP_ELF_NOTES_H_
