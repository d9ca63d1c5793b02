// i915's objects.
#ifndef PACKSMITH_RUNTIME_CAPTURE_I915_OBJECT_H_
#define PACKSMITH_RUNTIME_CAPTURE_I915_OBJECT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/capture/drm/object.h"
#include "runtime/capture/i915/tiled_view.h"

namespace packsmith::capture::i915 {

class I915Object : public Object {
 public:
  using Object::Object;

  // Where the object may be.
  bool system = true, local = false;
  uint32_t caching = 0;  // uapi::i915::kCachingNone...
  bool chosen_pat = false;
  uint32_t pat_index = 0;
  uint32_t tiling = 0, stride = 0;  // kTilingNone...; bytes
  uint32_t madvise = 0;             // kMadvWillneed...
  bool read_only = false;           // for the GPU
  // What the aperture shows, if the object was mapped there while it was tiled.
  std::unique_ptr<TiledView> view;
  // Brings the view in line with the object.
  void SyncView() {
    if (view) view->Sync(*this);
  }

  // Work that uses the object, with the class of its engine: what GEM_BUSY reports.
  void AddBusy(const std::shared_ptr<Fence>& fence, uint16_t engine_class, bool writes);
  // GEM_BUSY's answer: the lower half is the class of the engine that writes, plus one; the upper
  // half has a bit for the class of each engine that uses the object.
  uint32_t busy() const;

 private:
  struct Busy {
    std::shared_ptr<Fence> fence;
    uint16_t engine_class = 0;
    bool writes = false;
  };
  std::vector<Busy> busy_;
};

}  // namespace packsmith::capture::i915

#endif  // PACKSMITH_RUNTIME_CAPTURE_I915_OBJECT_H_
