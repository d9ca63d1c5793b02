// A map from 32-bit numbers to places in a list, for headers that must be compiled quickly.
//
//   NumberMap places;
//   std::vector<Resident> list;
//   if (places.Find(handle) == NumberMap::kNone) {
//     places.Add(handle, static_cast<uint32_t>(list.size()));
//     list.push_back(…);
//   }

#ifndef PACKSMITH_RUNTIME_BASE_NUMBER_MAP_H_
#define PACKSMITH_RUNTIME_BASE_NUMBER_MAP_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace packsmith {

// Keys are never removed one by one. Not thread-safe.
class NumberMap {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  // kNone if the key is not in the map. O(1).
  uint32_t Find(uint32_t key) const;
  // The key must not be in the map, and the place must not be kNone. O(1) amortised.
  void Add(uint32_t key, uint32_t place);
  // Memory is kept for later keys.
  void Clear();

 private:
  // Where the key is, or would be. There is an empty slot.
  size_t SlotOf(uint32_t key) const;
  void Grow();

  // The key, and in the lower half the place plus one; 0: empty. A power of two of them.
  std::vector<uint64_t> slots_;
  size_t count_ = 0;
};

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_BASE_NUMBER_MAP_H_
