// Memory of a recording of the memory trace family. Internal to this folder.
#ifndef PACKSMITH_RUNTIME_AUB_TRACE_MEMORY_H_
#define PACKSMITH_RUNTIME_AUB_TRACE_MEMORY_H_

#include <cstdint>
#include <map>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/aub/recording_parts.h"
#include "runtime/dump/aub.h"
#include "runtime/dump/dump.h"
#include "runtime/sim/contexts/page_tables.h"
#include "runtime/tables/tables.h"

namespace packsmith::aub {

// Chooses physical pages of the system's memory, and writes page tables and bytes.
class TraceMemory {
 public:
  // All must outlive this.
  TraceMemory(const tables::Tables& tables, AubWriter& packets, Lost& lost)
      : tables_(tables), packets_(packets), lost_(lost) {}

  // Writes the dump's global space. What an earlier dump had there stays, unless this one has the
  // same pages. Other spaces are written when RootOf() names them, and count for this dump only.
  absl::Status Begin(const Dump& dump);

  // The page tables of a space of the dump, with its memory.
  absl::StatusOr<sim::PageTableRoot> RootOf(const Dump& dump, uint32_t space);

  // The address of whole pages of the global space that neither the dump nor the recording uses,
  // mapped and zero. ResourceExhausted: there is no room.
  absl::StatusOr<uint64_t> NewGlobal(const Dump& dump, uint64_t bytes);

 private:
  uint64_t NewPage() { return kPageBytes * ++last_page_; }
  absl::Status WritePhysical(uint64_t page, absl::Span<const uint8_t> bytes);
  absl::StatusOr<uint64_t> ZeroPage();
  absl::Status MapGlobal(uint64_t address, uint64_t physical);

  // Not at the start of the global space, which drivers keep free.
  static constexpr uint64_t kFirstGlobal = uint64_t{1} << 20;

  const tables::Tables& tables_;
  AubWriter& packets_;
  Lost& lost_;
  uint64_t last_page_ = 0;  // that was taken, by number
  uint64_t zero_page_ = 0;  // one for all pages of zeros; 0: not yet
  uint64_t next_global_ = kFirstGlobal;
  std::map<uint32_t, sim::PageTableRoot> roots_;  // of the dump, by space
};

}  // namespace packsmith::aub

#endif  // PACKSMITH_RUNTIME_AUB_TRACE_MEMORY_H_
