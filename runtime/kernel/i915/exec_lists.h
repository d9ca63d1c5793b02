// The lists that EXECBUFFER2 takes, made of a job that was checked.
#ifndef PACKSMITH_RUNTIME_KERNEL_I915_EXEC_LISTS_H_
#define PACKSMITH_RUNTIME_KERNEL_I915_EXEC_LISTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/kernel/uapi/i915.h"

namespace packsmith::gpu::i915 {

// Used for one job after the other, so that submitting does not allocate.
struct ExecLists {
  // The batch's object is where the kernel expects it, in the place of the one that is there in the
  // job's list: see PlaceOf().
  std::vector<uapi::i915::gem_exec_object2> objects;
  size_t batch_place = 0;  // of the batch's object
  std::vector<uapi::i915::gem_exec_fence> fences;
  std::vector<uint64_t> points;  // of each fence; 0: it is no timeline's. Empty: none is
  // By the object that holds the words.
  std::vector<uapi::i915::gem_relocation_entry> relocations;
  // Of the job's objects, in its order: where the kernel had it last, if that was ever another
  // place than where it is bound.
  struct Moved {
    bool moved = false;
    uint64_t address = 0;
  };
  std::vector<Moved> moved;
  bool any_moved = false;
  std::vector<uint32_t> next;  // the place of each object's next relocation
};

// Where the object `index` of the job's list is in the kernel's, if the batch's object `batch` is
// exchanged with the one at `batch_place`.
inline size_t PlaceOf(size_t index, size_t batch, size_t batch_place) {
  if (index == batch) return batch_place;
  return index == batch_place ? batch : index;
}

}  // namespace packsmith::gpu::i915

#endif  // PACKSMITH_RUNTIME_KERNEL_I915_EXEC_LISTS_H_
