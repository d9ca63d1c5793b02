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
  // `base` must outlive this.
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
  };
  using Place = std::pair<uint32_t, uint64_t>;  // space, number of the page

  // Fills a page from the memory below; bytes that are not mapped are not changed.
  void ReadBelow(uint32_t space, uint64_t begin, std::array<uint8_t, kPage>& page) const;

  const Memory* base_;
  const size_t most_pages_;
  absl::flat_hash_map<Place, std::unique_ptr<Page>> pages_;
  bool exhausted_ = false;
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_OVERLAY_MEMORY_H_
