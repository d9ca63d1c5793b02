#include "runtime/capture/i915/address_space.h"

#include <algorithm>
#include <iterator>

namespace packsmith::capture::i915 {
namespace {

uint64_t AlignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace

std::optional<uint64_t> AddressSpace::Find(uint64_t object) const {
  const auto it = address_of_.find(object);
  if (it == address_of_.end()) return std::nullopt;
  return it->second;
}

bool AddressSpace::Suits(const Wish& wish) const {
  const auto it = address_of_.find(wish.object);
  if (it == address_of_.end()) return false;
  const uint64_t address = it->second, size = ranges_.at(address).size;
  return size >= wish.size && address % wish.alignment == 0 && address >= wish.least &&
         address <= std::min(wish.most, size_) && std::min(wish.most, size_) - address >= size;
}

AddressSpace::Ranges::const_iterator AddressSpace::From(uint64_t address) const {
  auto it = ranges_.upper_bound(address);
  if (it != ranges_.begin()) {
    const auto before = std::prev(it);
    if (address - before->first < before->second.size) return before;
  }
  return it;
}

bool AddressSpace::Free(uint64_t address, uint64_t size) const {
  if (address > size_ || size_ - address < size) return false;
  const auto it = From(address);
  return it == ranges_.end() || (it->first > address && it->first - address >= size);
}

void AddressSpace::Insert(const Wish& wish, uint64_t address) {
  ranges_[address] = {wish.size, wish.object};
  address_of_[wish.object] = address;
}

bool AddressSpace::Place(const Wish& wish, uint64_t address, const Kept& kept) {
  const auto begin = From(address);
  auto end = begin;
  for (; end != ranges_.end() && (end->first < address || end->first - address < wish.size);
       ++end) {
    if (end->second.object != wish.object && kept.contains(end->second.object)) return false;
  }
  for (auto it = begin; it != end; ++it) address_of_.erase(it->second.object);
  ranges_.erase(begin, end);
  Remove(wish.object);
  Insert(wish, address);
  return true;
}

std::optional<uint64_t> AddressSpace::FindGap(const Wish& wish) const {
  const uint64_t most = std::min(wish.most, size_);
  // Drivers take the address 0 for none.
  constexpr uint64_t kLowest = 256 << 10;
  uint64_t at = AlignUp(std::max(wish.least, kLowest), wish.alignment);
  for (auto it = From(at);; ++it) {
    if (at > most || most - at < wish.size) return std::nullopt;
    if (it == ranges_.end() || (it->first >= at && it->first - at >= wish.size)) return at;
    at = AlignUp(it->first + it->second.size, wish.alignment);
  }
}

std::optional<uint64_t> AddressSpace::PlaceAnywhere(const Wish& wish, const Kept& kept) {
  Remove(wish.object);
  std::optional<uint64_t> address = FindGap(wish);
  if (!address) {
    for (auto it = ranges_.begin(); it != ranges_.end();) {
      if (kept.contains(it->second.object)) {
        ++it;
      } else {
        address_of_.erase(it->second.object);
        it = ranges_.erase(it);
      }
    }
    address = FindGap(wish);
  }
  if (address) Insert(wish, *address);
  return address;
}

void AddressSpace::Remove(uint64_t object) {
  const auto it = address_of_.find(object);
  if (it == address_of_.end()) return;
  ranges_.erase(it->second);
  address_of_.erase(it);
}

}  // namespace packsmith::capture::i915
