// Page tables as hardware reads them: the global one, and those of a process, with two levels (Gfx6
// to Gfx7.5), three or four (from Gfx8 on), five (from Xe2 on). They can be written, walked and
// listed.
//
//   absl::StatusOr<PageTables> tables = PageTables::Open(
//       description, memory, {.kind = PageTableKind::kFourLevels, .tables = {pml4}}, spaces);
//   const PageWalk walk = tables->Walk(0x7000'0000'1000);
//   if (!walk.mapped()) return absl::NotFoundError(walk.Explain());
//
// The entries' bits are those of the XML: GGTT_ENTRY, PPGTT_PD_ENTRY and so on. Memory is
// untrusted: a walk reads an entry a level, listing reads a bounded number of tables.
#ifndef PACKSMITH_RUNTIME_SIM_CONTEXTS_PAGE_TABLES_H_
#define PACKSMITH_RUNTIME_SIM_CONTEXTS_PAGE_TABLES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/sim/contexts/page_table_format.h"
#include "runtime/sim/memory_access.h"
#include "runtime/tables/tables.h"

namespace packsmith::sim {

// Where an address space begins.
struct PageTableRoot {
  PageTableKind kind = PageTableKind::kFourLevels;
  // Physical addresses. kGlobal: of the first entry. kTwoLevels: of the directory's first entry.
  // kThreeLevels: of the four directories (0: none). kFourLevels, kFiveLevels: of the table of the
  // highest level.
  std::array<uint64_t, 4> tables = {};
  uint64_t entries = 0;  // kGlobal: how many there are
};

// The spaces of MemoryAccess in which physical addresses are.
struct PhysicalSpaces {
  uint32_t tables = 0;  // of page tables
  uint32_t system = 0;  // of pages in system memory
  uint32_t device = 0;  // of pages in the memory of a discrete GPU
};

enum class WalkEnd : uint8_t {
  kMapped,
  kBeyond,      // the address is above all that the tables can map
  kUnreadable,  // an entry is in memory that does not exist
  kNotPresent,  // an entry says so
};

// An entry that a walk has read, or could not read.
struct WalkStep {
  absl::string_view entry;  // the structure's name
  uint64_t address = 0;     // physical
  uint64_t value = 0;
};

struct PageWalk {
  uint64_t address = 0;  // that was looked for
  WalkEnd end = WalkEnd::kNotPresent;
  absl::InlinedVector<WalkStep, 4> steps;  // from the highest level on; the last one decided
  // If it is mapped:
  uint32_t space = 0;
  uint64_t physical = 0;  // of `address` itself, not of the page's start
  uint64_t page_bytes = 0;
  PageAttributes attributes;

  bool mapped() const { return end == WalkEnd::kMapped; }
  // One sentence: where the address is, or which entry is missing.
  std::string Explain() const;
};

// Consecutive pages with the same attributes and of the same size, physically consecutive, too.
struct MappedRange {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint32_t space = 0;
  uint64_t physical = 0;
  uint64_t page_bytes = 0;
  PageAttributes attributes;
};

// How far listing came.
struct PageTableListing {
  uint64_t tables = 0;  // that were read
  // Tables that were not read: their memory does not exist; they are above themselves; there were
  // too many.
  uint64_t unreadable = 0;
  uint64_t loops = 0;
  uint64_t skipped = 0;
  bool complete() const { return unreadable == 0 && loops == 0 && skipped == 0; }
};

struct MappingRequest {
  uint64_t address = 0;
  uint64_t physical = 0;
  uint64_t bytes = 0;
  uint64_t page_bytes = 4096;  // 4 KiB, 64 KiB, 2 MiB or 1 GiB, where the generation has them
  PageAttributes attributes = {};
};

class PageTables {
 public:
  static constexpr uint64_t kPage = PageTableFormat::kPage;
  // Most pages of one MappingRequest.
  static constexpr uint64_t kMostPages = uint64_t{1} << 22;

  // `memory` must outlive this. NotFound: the generation does not have this kind.
  static absl::StatusOr<PageTables> Open(const tables::Tables& tables, MemoryAccess& memory,
                                         const PageTableRoot& root, const PhysicalSpaces& spaces);

  const PageTableRoot& root() const { return root_; }
  // The first address that cannot be mapped.
  uint64_t limit() const;

  PageWalk Walk(uint64_t address) const;

  // Through the tables; both stop before the first page that is not mapped, a write also before the
  // first that is not writable. Return the number of bytes that were done.
  size_t Read(uint64_t address, absl::Span<uint8_t> out) const;
  size_t Write(uint64_t address, absl::Span<const uint8_t> bytes);

  // Maps pages that are not mapped yet. `new_table` gives physical addresses of 4 KiB of memory for
  // tables. InvalidArgument: sizes or alignment; AlreadyExists: a page is mapped; OutOfRange: above
  // limit(); errors of `new_table`. The pages before the failing one are then mapped.
  absl::Status Map(const MappingRequest& request,
                   absl::FunctionRef<absl::StatusOr<uint64_t>()> new_table);

  // Pages that begin in [address, address + bytes) are not mapped any more. Tables stay.
  // InvalidArgument if a larger page is only partly in it; ResourceExhausted after kMostPages
  // pages.
  absl::Status Unmap(uint64_t address, uint64_t bytes);

  // In the order of addresses. At most `most_tables` tables are read.
  PageTableListing List(absl::FunctionRef<void(const MappedRange&)> visit,
                        uint64_t most_tables = kMostTables) const;
  static constexpr uint64_t kMostTables = 65536;

 private:
  PageTables(MemoryAccess& memory, const PageTableRoot& root, const PhysicalSpaces& spaces,
             PageTableFormat format)
      : memory_(&memory), root_(root), spaces_(spaces), format_(std::move(format)) {}

  // 0: there is no table.
  const uint64_t& RootTable(uint64_t address) const;
  uint64_t EntryAddress(size_t level, uint64_t table, uint64_t address,
                        PageArrangement arranged) const;
  bool ReadEntry(size_t level, uint64_t address, uint64_t* value) const;
  absl::Status WriteEntry(size_t level, uint64_t address, uint64_t value);
  absl::StatusOr<uint64_t> NewTable(absl::FunctionRef<absl::StatusOr<uint64_t>()> new_table);
  absl::Status CheckRequest(const MappingRequest& request) const;
  absl::Status MapPage(const MappingRequest& request, uint64_t address, uint64_t physical,
                       absl::FunctionRef<absl::StatusOr<uint64_t>()> new_table);
  // In a table of the last level, from `entry` on.
  absl::Status WritePages(uint64_t entry, uint64_t physical, const PageAttributes& attributes,
                          uint64_t count);

  struct Lister;

  MemoryAccess* memory_;
  PageTableRoot root_;
  PhysicalSpaces spaces_;
  PageTableFormat format_;
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_CONTEXTS_PAGE_TABLES_H_
