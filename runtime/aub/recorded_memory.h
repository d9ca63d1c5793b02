// Memory that a recording writes, by physical pages that keep what they held at earlier moments.
//
//   RecordedMemory memory(most_bytes);
//   memory.Write(RecordedMemory::kSystem, 0x1000, bytes);
//   const uint8_t* page = memory.Page(RecordedMemory::kSystem, 0x1000);
//   memory.Freeze();  // from now on a write makes a new page; `page` stays as it is
#ifndef PACKSMITH_RUNTIME_AUB_RECORDED_MEMORY_H_
#define PACKSMITH_RUNTIME_AUB_RECORDED_MEMORY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "runtime/sim/memory_access.h"

namespace packsmith::aub {

class RecordedMemory : public sim::MemoryAccess {
 public:
  static constexpr uint64_t kPage = 4096;

  // Spaces of MemoryAccess.
  enum Space : uint32_t {
    kSystem,   // physical
    kDevice,   // physical, of a discrete GPU
    kTables,   // physical, of page tables, which may be in either: no page is written here
    kEntries,  // of the global page table, bytes from its first entry
    kGlobal,   // addresses of the global space for which there is no entry
    kSpaces,
  };

  struct Version {
    uint8_t* bytes = nullptr;
    uint32_t moment = 0;

    // Whether all bytes are zero. Only after Freeze(): the answer is kept.
    bool IsZero() const;

   private:
    friend class RecordedMemory;
    enum class Zero : uint8_t { kUnknown, kYes, kNo };
    mutable Zero zero_ = Zero::kUnknown;
  };
  // By address.
  using Pages = absl::btree_map<uint64_t, Version>;

  // Pages take at most `most_bytes`.
  explicit RecordedMemory(uint64_t most_bytes) : most_bytes_(most_bytes) {}

  size_t Read(uint32_t space, uint64_t address, absl::Span<uint8_t> out) const override;
  // Makes the pages that do not exist, of zeros. Stops where no more memory may be taken.
  size_t Write(uint32_t space, uint64_t address, absl::Span<const uint8_t> bytes) override;
  bool exhausted() const override { return exhausted_; }

  // The pages at `address` of kDevice hold page tables, even if there are such pages of kSystem.
  void MarkTables(uint64_t address, uint64_t size);

  // The page of kPage bytes that begins at `address`, a multiple of kPage; null: nothing was
  // written to it. What it points to changes until the next Freeze(), and never after it.
  const uint8_t* Page(uint32_t space, uint64_t address) const;
  const Pages& pages(uint32_t space) const { return pages_[space]; }

  void Freeze() { ++moment_; }

  // The pages of kTables that are read from now on; null: nothing is noted.
  struct TableRead {
    uint64_t address;
    const uint8_t* bytes;
  };
  void NoteTables(std::vector<TableRead>* reads) { reads_ = reads; }

  // Keeps all pages, beyond the life of this.
  std::shared_ptr<const void> owner() const { return slabs_; }

 private:
  using Slab = std::unique_ptr<uint8_t[]>;
  // A small recording takes little memory.
  static constexpr size_t kFirstSlab = 8, kMostOfSlab = 512;

  uint8_t* NewPage();

  const uint64_t most_bytes_;
  std::array<Pages, kSpaces> pages_;
  absl::flat_hash_set<uint64_t> device_tables_;
  std::shared_ptr<std::vector<Slab>> slabs_ = std::make_shared<std::vector<Slab>>();
  size_t slab_ = 0, used_ = 0;  // pages of the last slab, and how many of them are taken
  uint64_t taken_ = 0;          // bytes of pages
  uint32_t moment_ = 0;
  bool exhausted_ = false;
  std::vector<TableRead>* reads_ = nullptr;
};

}  // namespace packsmith::aub

#endif  // PACKSMITH_RUNTIME_AUB_RECORDED_MEMORY_H_
