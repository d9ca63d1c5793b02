// What is mapped where in a GPU's address space.
#ifndef PACKSMITH_RUNTIME_CAPTURE_DRM_ADDRESS_MAP_H_
#define PACKSMITH_RUNTIME_CAPTURE_DRM_ADDRESS_MAP_H_

#include <cstdint>
#include <memory>

#include "absl/container/btree_map.h"
#include "runtime/capture/drm/object.h"

namespace packsmith::capture {

// One range: [address, address + size) is `object` from `offset` on.
struct Mapping {
  uint64_t address = 0;  // without the copies of the sign bit: below 2^48 or 2^57
  uint64_t size = 0;
  // Null: reads are zeros, and writes have no effect (sparse).
  std::shared_ptr<Object> object;
  uint64_t offset = 0;
  // Bytes of the object, from `offset` on, that repeat over the range: a divisor of the size of
  // pages, at whose multiples ranges begin and end. 0: nothing repeats.
  uint64_t repeats = 0;
  bool writable = true;
  // The driver wants it in dumps of hangs.
  bool dumpable = false;
  // The driver's own flags and cache settings, for records.
  uint32_t flags = 0;
  uint32_t pat_index = 0;
};

// A submission has a copy: later changes do not concern it.
class AddressMap {
 public:
  using Mappings = absl::btree_map<uint64_t, Mapping>;

  // Replaces what is mapped there; mappings that are covered in part keep the rest. The range does
  // not pass 2^64; its size is not 0.
  void Map(Mapping mapping);
  // Removes exactly the range. Whether anything was mapped in it.
  bool Unmap(uint64_t address, uint64_t size);
  // Every mapping of an object.
  bool UnmapObject(const Object& object);
  void Clear() { mappings_.clear(); }

  // Null: nothing is mapped there. Valid until the map changes.
  const Mapping* Find(uint64_t address) const;
  // The first mapping that ends above `address`: the one that holds it, or else the next. Null:
  // there is none.
  const Mapping* FindFrom(uint64_t address) const;

  // In the order of addresses; they do not overlap.
  const Mappings& mappings() const { return mappings_; }

 private:
  Mappings::const_iterator From(uint64_t address) const;

  Mappings mappings_;
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_DRM_ADDRESS_MAP_H_
