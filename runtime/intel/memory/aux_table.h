// The table in memory that maps compressed surfaces to their compression data, on hardware that has
// one: Gfx12 and Gfx12.5, except DG2.
//
//   auto table = AuxTable::Create(pool, AuxTableHardwareOf<Gfx12>());   // binding/aux_tables.h
//   absl::Status status = (*table)->Map({.surface = image.address, .auxiliary = ccs.address,
//                                        .size = image.size, .format = format});
//
// Compression data is found by the surface's address, for each page (64 KiB, or 1 MiB), in three
// levels of tables. The address of the highest one is set once for each engine. Engines cache what
// they have read: when version() has changed, that must be invalidated before a surface is used.

#ifndef PACKSMITH_RUNTIME_INTEL_MEMORY_AUX_TABLE_H_
#define PACKSMITH_RUNTIME_INTEL_MEMORY_AUX_TABLE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/base/lifetime.h"
#include "runtime/base/mutex.h"
#include "runtime/memory/buffers.h"
#include "runtime/memory/residency.h"
#include "runtime/memory/state_pool.h"

namespace packsmith::intel {

// How texels are compressed, as encoded in an entry: AuxFormatOf() (binding/aux_tables.h).
enum class AuxFormat : uint64_t {};

// The structure of one generation's table. Entries have 64 bits.
struct AuxTableHardware {
  static constexpr unsigned kLevels = 3;
  struct Level {
    unsigned index_bit = 0, index_bits = 0;  // of a surface's address: the index of the entry
    uint64_t alignment = 0;                  // bytes, of a table
  };

  std::array<Level, kLevels> levels = {};  // the lowest first
  // For levels above the lowest: makes the entry for a table of the level below.
  std::array<uint64_t (*)(uint64_t table), kLevels> table_entry = {};
  // For the lowest one: makes the entry for compression data, without the format.
  uint64_t (*surface_entry)(uint64_t auxiliary) = nullptr;
  uint64_t valid = 0;                // the bits that valid entries have set
  uint64_t auxiliary_alignment = 0;  // bytes
  uint64_t auxiliary_ratio = 0;      // bytes of a surface for each byte of compression data

  // The bytes of a surface that one entry is for: surfaces begin at multiples of it.
  constexpr uint64_t page() const { return uint64_t{1} << levels[0].index_bit; }
};

// A compressed surface, or a part of one.
struct AuxRange {
  uint64_t surface = 0;    // GPU address: a multiple of AuxTable::page()
  uint64_t auxiliary = 0;  // GPU address of its compression data
  uint64_t size = 0;       // bytes of the surface; the last page need not be whole
  AuxFormat format = {};
};

struct AuxTableStatistics {
  uint64_t pages = 0;         // mapped to compression data
  uint64_t tables = 0;        // of all levels
  uint64_t memory_bytes = 0;  // memory of the tables
};

// Thread-safe.
class AuxTable {
 public:
  // Errors of StatePool::Allocate(). Tables are states of the pool, of up to 32 KiB; it must
  // outlive the result.
  static absl::StatusOr<std::unique_ptr<AuxTable>> Create(gpu::StatePool& pool,
                                                          const AuxTableHardware& hardware);
  // The GPU must be done with it.
  ~AuxTable();

  AuxTable(const AuxTable&) = delete;
  AuxTable& operator=(const AuxTable&) = delete;

  // Maps the surface's pages to its compression data, until they have been unmapped as often as
  // they were mapped. On an error nothing is mapped: InvalidArgument for addresses that are
  // unaligned or out of range, AlreadyExists for a page that is mapped elsewhere, errors of
  // StatePool::Allocate().
  absl::Status Map(const AuxRange& range);
  // NotFound if one of its pages is not mapped; then nothing is unmapped. The GPU must be done with
  // the surface.
  absl::Status Unmap(uint64_t surface, uint64_t size);
  // The page of an address, and where its compression data is. NotFound if it is not mapped.
  absl::StatusOr<AuxRange> Find(uint64_t surface) const;

  // For the engines' registers: canonical.
  uint64_t base() const { return root_.state.address; }
  uint64_t page() const { return hardware_.page(); }
  // Increases when data that engines may have cached is no longer valid.
  uint64_t version() const;
  // Adds the tables, which all users of compressed surfaces read.
  absl::Status AddTo(gpu::Residency& residency) const;

  // Frees tables in which nothing is mapped. The GPU must be done with all earlier jobs; engines
  // must invalidate: version() increases if there were any.
  absl::Status Trim();
  AuxTableStatistics statistics() const;

 private:
  static constexpr unsigned kLowest = 0, kHighest = AuxTableHardware::kLevels - 1;

  struct Page {
    uint64_t entry = 0;  // the last one that was written, even if it is invalid now
    uint64_t users = 0;  // how often it is mapped
    uint64_t auxiliary = 0;
    AuxFormat format = {};
  };
  struct Table {
    gpu::State state;
    uint32_t used = 0;                          // valid entries
    std::vector<std::unique_ptr<Table>> below;  // tables of the next level; none for the lowest
    std::vector<Page> pages;                    // of the lowest level
  };

  AuxTable(gpu::StatePool& pool, const AuxTableHardware& hardware)
      : pool_(pool, lifetime_), hardware_(hardware) {}

  // The number of bits of valid addresses.
  unsigned bits() const {
    return hardware_.levels[kHighest].index_bit + hardware_.levels[kHighest].index_bits;
  }
  uint64_t auxiliary_page() const { return page() / hardware_.auxiliary_ratio; }
  uint32_t IndexIn(unsigned level, uint64_t surface) const;
  absl::StatusOr<Table> NewTable(unsigned level) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status FreeTable(const Table& table) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The table of the lowest level for an address. Null if there is none.
  Table* Lowest(uint64_t surface) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  const Table* Lowest(uint64_t surface) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return const_cast<AuxTable*>(this)->Lowest(surface);
  }
  // The same; makes missing tables.
  absl::StatusOr<Table*> MakeLowest(uint64_t surface) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // A surface's address without sign extension; an error if it or its size is invalid.
  absl::StatusOr<uint64_t> PlainSurface(uint64_t surface, uint64_t size) const;
  absl::Status FreeEmpty(Table& table, bool& any) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FreeAll(const Table& table) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static void Write(const Table& table, uint32_t index, uint64_t entry);

  Lifetime lifetime_{"aux table"};
  const Reference<gpu::StatePool> pool_;
  const AuxTableHardware hardware_;
  mutable Mutex mutex_;
  // Its state does not change; the rest is guarded by mutex_.
  Table root_;
  uint64_t version_ ABSL_GUARDED_BY(mutex_) = 1;
  AuxTableStatistics statistics_ ABSL_GUARDED_BY(mutex_);
  // The number of tables in each.
  absl::flat_hash_map<gpu::BufferHandle, uint32_t> buffers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_MEMORY_AUX_TABLE_H_
