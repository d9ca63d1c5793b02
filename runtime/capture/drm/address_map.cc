#include "runtime/capture/drm/address_map.h"

#include <iterator>
#include <optional>
#include <utility>

namespace packsmith::capture {

void AddressMap::Map(Mapping mapping) {
  Unmap(mapping.address, mapping.size);
  const uint64_t address = mapping.address;
  mappings_.emplace(address, std::move(mapping));
}

bool AddressMap::Unmap(uint64_t address, uint64_t size) {
  // Last bytes: an end may not fit.
  const uint64_t last = address + (size - 1);
  std::optional<Mapping> head, tail;
  bool found = false;
  for (auto it = From(address); it != mappings_.end() && it->first <= last;) {
    found = true;
    const Mapping& old = it->second;
    if (old.address < address) {
      head = old;
      head->size = address - old.address;
    }
    if (old.address + (old.size - 1) > last) {
      const uint64_t cut = last + 1 - old.address;
      tail = old;
      tail->address += cut;
      tail->size -= cut;
      if (old.repeats == 0) tail->offset += cut;
    }
    it = mappings_.erase(it);
  }
  if (head) mappings_.emplace(head->address, *std::move(head));
  if (tail) mappings_.emplace(tail->address, *std::move(tail));
  return found;
}

bool AddressMap::UnmapObject(const Object& object) {
  bool found = false;
  for (auto it = mappings_.begin(); it != mappings_.end();) {
    if (it->second.object.get() == &object) {
      it = mappings_.erase(it);
      found = true;
    } else {
      ++it;
    }
  }
  return found;
}

AddressMap::Mappings::const_iterator AddressMap::From(uint64_t address) const {
  auto it = mappings_.upper_bound(address);
  if (it != mappings_.begin()) {
    const auto before = std::prev(it);
    if (address - before->first < before->second.size) return before;
  }
  return it;
}

const Mapping* AddressMap::FindFrom(uint64_t address) const {
  const auto it = From(address);
  return it == mappings_.end() ? nullptr : &it->second;
}

const Mapping* AddressMap::Find(uint64_t address) const {
  const Mapping* const found = FindFrom(address);
  return found && found->address <= address ? found : nullptr;
}

}  // namespace packsmith::capture
