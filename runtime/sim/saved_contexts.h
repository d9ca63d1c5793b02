// What a switch of logical contexts by command (Gfx4 to Gfx7.5) saves and restores. The layout of
// an image is not public on these generations: contexts are kept here instead of in memory.
#ifndef PACKSMITH_RUNTIME_SIM_SAVED_CONTEXTS_H_
#define PACKSMITH_RUNTIME_SIM_SAVED_CONTEXTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "runtime/sim/predication.h"

namespace packsmith::sim {

// The last packet of a kind.
struct StatePacketBytes {
  std::vector<uint8_t> bytes;
  uint64_t number = 0;
};

struct SavedContext {
  absl::flat_hash_map<uint32_t, uint32_t> registers;  // by offset
  std::vector<StatePacketBytes> states;               // by container
  Noop noop;
};

// By the addresses of their images. Not thread-safe.
class SavedContexts {
 public:
  // Contexts that are kept; beyond them the one that was saved first is forgotten.
  static constexpr size_t kMost = 64;

  void Save(uint64_t image, SavedContext context);
  // Null: it has never been saved.
  const SavedContext* Find(uint64_t image) const;

 private:
  struct Kept {
    SavedContext context;
    uint64_t order = 0;
  };
  std::map<uint64_t, Kept> contexts_;
  uint64_t saves_ = 0;
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_SAVED_CONTEXTS_H_
