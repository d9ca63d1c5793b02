// What a driver says of a range of a GPU's address space, beside its memory: whether it may be
// written, what it is bound to, where that is and how it is cached.
//
//   VmaProperties properties;
//   properties.Parse("read_write|bo|mem_region=0x2|pat_index=3|cpu_caching=1");
//   properties.Describe(buffer);   // access "read-write", flags "bo, memory regions 0x2, PAT 3,
//   ..."
//
// Source: Mesa, src/intel/common/intel_hang_dump.h, version 2; lines `[...].properties` of the xe
// driver's device core dumps, from Linux 7.0 on.

#ifndef PACKSMITH_RUNTIME_DUMP_VMA_PROPERTIES_H_
#define PACKSMITH_RUNTIME_DUMP_VMA_PROPERTIES_H_

#include <array>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "runtime/dump/dump.h"

namespace packsmith {

// As hang dumps of version 2 number the values. 0: not known.
struct VmaProperties {
  enum Index {
    kPermission,  // 1 read-only, 2 read-write
    kKind,        // one of the below
    kRegions,     // bit mask: 0 system, 1 and 2 local memory
    kPat,         // index into the page attribute table
    kCaching,     // by the CPU: 1 write-back, 2 write-combined
    kCount
  };
  static constexpr uint32_t kBufferObject = 1, kUserptr = 2;
  // Without memory: reads yield zero, writes have no effect.
  static constexpr uint32_t kSparse = 3;

  std::array<uint32_t, kCount> values = {};

  bool any() const;

  // Reads words separated by `|`, as the kernel writes them. False: at least one word has another
  // form; the others are read.
  [[nodiscard]] bool Parse(absl::string_view text);

  // Writes them into `access` and `flags` of the buffer, as words.
  void Describe(Buffer& buffer) const;
  // The inverse of Describe(). False: the words are of another format.
  [[nodiscard]] bool Read(const Buffer& buffer);
};

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_DUMP_VMA_PROPERTIES_H_
