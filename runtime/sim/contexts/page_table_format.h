// The entries of page tables, level by level, from the decode tables.
#ifndef PACKSMITH_RUNTIME_SIM_CONTEXTS_PAGE_TABLE_FORMAT_H_
#define PACKSMITH_RUNTIME_SIM_CONTEXTS_PAGE_TABLE_FORMAT_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/sim/contexts/structure.h"
#include "runtime/tables/tables.h"

namespace packsmith::sim {

enum class PageTableKind : uint8_t {
  kGlobal,       // one table, an entry for each page
  kTwoLevels,    // Gfx6 to Gfx7.5: 2 GiB, the directory is among the entries of the global table
  kThreeLevels,  // 4 GiB: four page directories, whose addresses are in registers
  kFourLevels,   // 48 bits
  kFiveLevels,   // 57 bits, from Xe2 on
};

struct PageAttributes {
  bool writable = true;
  bool null = false;    // reads give zero, writes are dropped
  bool device = false;  // in the memory of a discrete GPU
  uint32_t pat = 0;     // index of the caching policy

  friend bool operator==(const PageAttributes&, const PageAttributes&) = default;
};

// How the entries of a table of the last level are arranged.
enum class PageArrangement : uint8_t {
  kSmall,   // an entry for each page of 4 KiB
  kSparse,  // for each page of 64 KiB the first of sixteen entries
  kDense,   // an entry for each page of 64 KiB
};

// What an entry says.
struct PageEntry {
  bool present = false;
  bool is_page = false;                             // else it points to a table
  uint64_t table = 0;                               // physical
  uint64_t physical = 0;                            // of the page
  PageArrangement below = PageArrangement::kSmall;  // of the table
  bool part = false;  // the page is one of sixteen that together are one of 64 KiB
  PageAttributes attributes;
};

class PageTableFormat {
 public:
  static constexpr uint64_t kPage = 4096;
  static constexpr uint64_t kLargePage = 65536;
  static constexpr uint64_t kPartsOfLargePage = kLargePage / kPage;

  // One level of tables.
  struct Level {
    explicit Level(const Structure& structure) : entry(structure) {}

    Structure entry;
    StructureField present, writable, null, device;
    StructureField next;     // address of the next level's table; none in the last level
    StructureField page;     // address of a page
    StructureField is_page;  // the entry is a page although there is a next level
    // Two ways to have pages of 64 KiB in the next level's table.
    StructureField sparse, dense;
    StructureField part;
    std::array<StructureField, 5> pat;
    uint32_t shift = 0;    // address bits below the index
    uint64_t entries = 0;  // of a table

    // Bytes of the address space that an entry stands for.
    uint64_t span() const { return uint64_t{1} << shift; }
  };

  // `global_entries`: of kGlobal. NotFound: the generation does not have this kind.
  static absl::StatusOr<PageTableFormat> Make(const tables::Tables& tables, PageTableKind kind,
                                              uint64_t global_entries);

  // The highest level first.
  const std::vector<Level>& levels() const { return levels_; }
  bool is_last(size_t level) const { return level + 1 == levels_.size(); }
  bool HasPagesOf(uint64_t bytes) const;

  PageEntry Decode(size_t level, uint64_t value) const;
  // Bytes of the page of an entry in a table that is arranged so.
  uint64_t PageBytes(size_t level, const PageEntry& entry, PageArrangement arranged) const;

  // InvalidArgument: the address or an attribute does not fit.
  absl::StatusOr<uint64_t> EncodePage(size_t level, uint64_t physical,
                                      const PageAttributes& attributes, bool part) const;
  // Of an entry that points to a table, whose pages have 64 KiB if `large` and there is a way.
  absl::StatusOr<uint64_t> EncodeTable(size_t level, uint64_t table, bool large) const;

 private:
  absl::Status AddLevel(const tables::Tables& tables, absl::string_view name,
                        absl::string_view next);

  std::vector<Level> levels_;
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_CONTEXTS_PAGE_TABLE_FORMAT_H_
