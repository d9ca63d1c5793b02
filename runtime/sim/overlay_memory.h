// The memory of a simulation: what a dump holds, and what was written since.
//
//   OverlayMemory memory(dump.memory);
//   memory.Write(0, 0x1000, bytes);   // dump.memory is unchanged
#ifndef PACKSMITH_RUNTIME_SIM_OVERLAY_MEMORY_H_
#define PACKSMITH_RUNTIME_SIM_OVERLAY_MEMORY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "runtime/dump/memory.h"
#include "runtime/sim/memory_access.h"

namespace packsmith::sim {

// Pages are copied when they are written first. Not thread-safe.
class OverlayMemory : public MemoryAccess {
 public:
  // At most `most_pages` pages of kPage bytes are copied; a write that needs more is not done.
  // `base` must outlive this; what is mapped in it must stay so, until Continue() or Detach().
  explicit OverlayMemory(const Memory& base, size_t most_pages = size_t{1} << 18)
      : base_(&base), most_pages_(most_pages) {}

  // `next` takes the place of the memory below. Its bytes count, except where they equal those of
  // the memory before it and differ from what was written there.
  void Continue(const Memory& next);
  // The memory below may go away: until Continue() nothing is mapped.
  void Detach();

  static constexpr uint64_t kPage = 4096;

  size_t Read(uint32_t space, uint64_t address, absl::Span<uint8_t> out) const override;
  size_t Write(uint32_t space, uint64_t address, absl::Span<const uint8_t> bytes) override;

  // All of it as it is now, as views of this and of the memory below: valid until the next Write(),
  // Continue() or Detach().
  Memory Snapshot() const;

  // Whether a write was refused because too many pages have been copied.
  bool exhausted() const override { return exhausted_; }

 private:
  struct Page {
    std::array<uint8_t, kPage> below = {}, now = {};
    bool whole = false;  // all of it is mapped
  };
  using Place = std::pair<uint32_t, uint64_t>;  // space, number of the page

  // A page that was looked up; `page` is null if it has not been copied.
  struct Recent {
    uint32_t space = 0;
    uint64_t number = ~uint64_t{0};
    Page* page = nullptr;
  };
  static constexpr size_t kRecent = 64;

  // Fills a page from the memory below; bytes that are not mapped are not changed. Whether all of
  // them are mapped.
  bool ReadBelow(uint32_t space, uint64_t begin, std::array<uint8_t, kPage>& page) const;
  // At most `size` bytes of the memory below; empty if the first is not mapped.
  absl::Span<const uint8_t> Below(uint32_t space, uint64_t address, uint64_t size) const;
  // Null: it has not been copied.
  Page* FindPage(uint32_t space, uint64_t number) const;
  // Null: there are too many.
  Page* CopyPage(uint32_t space, uint64_t number);

  const Memory* base_;
  const size_t most_pages_;
  absl::flat_hash_map<Place, std::unique_ptr<Page>> pages_;
  bool exhausted_ = false;
  // What was found last, since accesses are mostly near each other: pages by their number, and
  // bytes of the memory below.
  mutable std::array<Recent, kRecent> recent_;
  mutable struct {
    uint32_t space = 0;
    uint64_t address = 0;
    absl::Span<const uint8_t> bytes;
  } run_;
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_OVERLAY_MEMORY_H_
