// Which memory is bound at which addresses of one space.
#ifndef PACKSMITH_RUNTIME_MEMORY_PAGE_TABLE_H_
#define PACKSMITH_RUNTIME_MEMORY_PAGE_TABLE_H_

#include <cstdint>
#include <iterator>
#include <map>

#include "runtime/memory/device.h"

namespace packsmith::gpu {

// Not thread-safe. Addresses are plain (runtime/base/addresses.h).
class PageTable {
 public:
  // What one call of Device::Bind() has bound.
  struct Pages {
    uint64_t size = 0;
    MemoryId memory = {};
    uint64_t offset = 0;
    bool writable = false;
  };
  using Map = std::map<uint64_t, Pages>;  // by address

  const Map& pages() const { return pages_; }

  // One of those that have a byte in [address, address + size); end() if none has.
  Map::const_iterator Overlap(uint64_t address, uint64_t size) const {
    const auto next = pages_.lower_bound(address);
    if (next != pages_.end() && next->first - address < size) return next;
    if (next == pages_.begin()) return pages_.end();
    const auto previous = std::prev(next);
    return address - previous->first < previous->second.size ? previous : pages_.end();
  }
  // Null: nothing was bound with exactly this address and size.
  const Pages* Find(uint64_t address, uint64_t size) const {
    const auto found = pages_.find(address);
    return found == pages_.end() || found->second.size != size ? nullptr : &found->second;
  }
  // Null: nothing was bound that begins there.
  const Pages* FindAt(uint64_t address) const {
    const auto found = pages_.find(address);
    return found == pages_.end() ? nullptr : &found->second;
  }
  // The addresses must be free.
  void Insert(uint64_t address, const Pages& pages) { pages_.emplace(address, pages); }
  void Erase(uint64_t address) { pages_.erase(address); }

 private:
  Map pages_;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_MEMORY_PAGE_TABLE_H_
