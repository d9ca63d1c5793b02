// Address spaces of a recording at one moment, and their way into a dump. Internal to this folder.
#ifndef PACKSMITH_RUNTIME_AUB_SPACES_H_
#define PACKSMITH_RUNTIME_AUB_SPACES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/aub/recorded_memory.h"
#include "runtime/dump/dump.h"
#include "runtime/sim/contexts/page_tables.h"
#include "runtime/tables/tables.h"

namespace packsmith::aub {

// Bytes that are adjacent in an address space and on the host.
struct Run {
  uint64_t address = 0;
  const uint8_t* bytes = nullptr;  // null: zeros
  uint64_t size = 0;

  friend bool operator==(const Run&, const Run&) = default;
};

// In the order in which page tables have them; adjacent ones are joined. Addresses are in the plain
// form (addresses.h).
using Runs = std::vector<Run>;
void AddRun(Runs& runs, const Run& added);

// Physical memory that page tables name.
inline constexpr sim::PhysicalSpaces kPhysicalSpaces = {
    .tables = RecordedMemory::kTables,
    .system = RecordedMemory::kSystem,
    .device = RecordedMemory::kDevice,
};

// What walks and listings may still take, for the whole recording.
struct Budget {
  uint64_t tables = 0;
  uint64_t pages = 0;
  uint64_t segments = 0;
};

// The global address space, through the entries that were written so far.
class GlobalSpace : public sim::MemoryAccess {
 public:
  // `memory` must outlive this. NotFound: the generation has no global page table.
  static absl::StatusOr<GlobalSpace> Make(const tables::Tables& tables, RecordedMemory& memory);

  size_t Read(uint32_t space, uint64_t address, absl::Span<uint8_t> out) const override;
  size_t Write(uint32_t space, uint64_t address, absl::Span<const uint8_t> bytes) override;

  // All of it.
  Runs List(Budget& budget) const;

 private:
  GlobalSpace(RecordedMemory& memory, sim::PageTables entries, uint64_t entry_bytes)
      : memory_(&memory), entries_(std::move(entries)), entry_bytes_(entry_bytes) {}

  // The page at `address`, a multiple of a page; null: there is none.
  const uint8_t* Page(uint64_t address) const;

  RecordedMemory* memory_;
  sim::PageTables entries_;
  uint64_t entry_bytes_;
};

// The address space of a context.
class ProcessSpace {
 public:
  static absl::StatusOr<ProcessSpace> Make(const tables::Tables& tables, RecordedMemory& memory,
                                           const sim::PageTableRoot& root);

  // All of it; RecordedMemory::Freeze() must have been called. `problem` becomes what could not be
  // listed, or stays empty.
  Runs List(Budget& budget, std::string& problem);

 private:
  ProcessSpace(RecordedMemory& memory, sim::PageTables tables)
      : memory_(&memory), tables_(std::move(tables)) {}

  bool IsListed() const;
  void AddRange(const sim::MappedRange& range, Budget& budget, Runs& runs) const;

  RecordedMemory* memory_;
  sim::PageTables tables_;
  // The last listing, and the page tables that it read.
  std::vector<sim::MappedRange> ranges_;
  std::vector<RecordedMemory::TableRead> reads_;
  std::string problem_;
};

}  // namespace packsmith::aub

#endif  // PACKSMITH_RUNTIME_AUB_SPACES_H_
