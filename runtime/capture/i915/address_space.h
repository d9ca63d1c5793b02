// Which object is at which GPU address: of a context, or of the whole device.
#ifndef PACKSMITH_RUNTIME_CAPTURE_I915_ADDRESS_SPACE_H_
#define PACKSMITH_RUNTIME_CAPTURE_I915_ADDRESS_SPACE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "runtime/capture/drm/object.h"

namespace packsmith::capture::i915 {

// Batches with relocations are not placed below: addresses before their begin stay positive.
inline constexpr uint64_t kLeastOfBatches = 256 << 10;

// Objects stay where they are from one submission to the next, until another one needs the place.
// Guarded by the kernel's lock.
class AddressSpace {
 public:
  // Addresses are below `size`. `global`: the page table of the device.
  AddressSpace(uint64_t size, bool global) : size_(size), global_(global) {}

  uint64_t size() const { return size_; }
  bool global() const { return global_; }

  // What a submission wants of an object's place.
  struct Wish {
    uint64_t object = 0;  // its id
    uint64_t size = 0;    // of the place: at least the object's
    uint64_t alignment = 4096;
    uint64_t most = ~uint64_t{0};  // ends at or below
    uint64_t least = 0;            // begins at or above
  };
  // Objects of the submission that is being made, whose places cannot be taken.
  using Kept = std::set<uint64_t>;

  std::optional<uint64_t> Find(uint64_t object) const;
  // Whether the place where the object is satisfies the wish.
  bool Suits(const Wish& wish) const;
  // Puts the object there and removes others that are in the way. False: one of them is kept.
  bool Place(const Wish& wish, uint64_t address, const Kept& kept);
  // Whether nothing is there.
  bool Free(uint64_t address, uint64_t size) const;
  // Finds a place. If there is none, everything that is not kept is removed first. Empty: there is
  // no room.
  std::optional<uint64_t> PlaceAnywhere(const Wish& wish, const Kept& kept);
  void Remove(uint64_t object);

 private:
  struct Range {
    uint64_t size = 0;
    uint64_t object = 0;
  };
  using Ranges = std::map<uint64_t, Range>;

  // The first range that ends above `address`.
  Ranges::const_iterator From(uint64_t address) const;
  std::optional<uint64_t> FindGap(const Wish& wish) const;
  void Insert(const Wish& wish, uint64_t address);

  const uint64_t size_;
  const bool global_;
  Ranges ranges_;
  std::unordered_map<uint64_t, uint64_t> address_of_;  // of objects' ids
};

}  // namespace packsmith::capture::i915

#endif  // PACKSMITH_RUNTIME_CAPTURE_I915_ADDRESS_SPACE_H_
