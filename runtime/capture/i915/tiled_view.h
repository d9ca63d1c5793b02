// What programs see of a tiled object through the aperture: rows, as fences of Gfx4 to Gfx11 show
// them.
#ifndef PACKSMITH_RUNTIME_CAPTURE_I915_TILED_VIEW_H_
#define PACKSMITH_RUNTIME_CAPTURE_I915_TILED_VIEW_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/capture/drm/object.h"
#include "runtime/layout/copy.h"

namespace packsmith::capture::i915 {

// A second memory, which is brought in line with the object's whenever a call says that one of the
// two is about to be used; the hardware has no such moments. Guarded by the kernel's lock.
class TiledView {
 public:
  // Null: there is no memory left.
  static std::unique_ptr<TiledView> Make(uint64_t size);

  // `mode`: uapi::i915::kTilingX, kTilingY, or none: the view is the object as it is. `swizzled`:
  // the memory's channels are interleaved by bit 6. To be called after Sync().
  void SetTiling(uint32_t mode, uint32_t stride, bool swizzled);
  // Carries what was written to either side since the last time to the other. Bytes that were
  // written on both sides are those of the view.
  void Sync(Object& object);

  const std::shared_ptr<SharedMemory>& memory() const { return memory_; }

 private:
  explicit TiledView(std::shared_ptr<SharedMemory> memory) : memory_(std::move(memory)) {}

  // The object's bytes in the order of the view, and back.
  void Read(const Object& object, std::vector<uint8_t>& rows) const;
  void Write(Object& object, const std::vector<uint8_t>& rows) const;

  const std::shared_ptr<SharedMemory> memory_;
  // What the view held when it was last brought in line.
  std::vector<uint8_t> last_;
  // Of the whole tiles. Empty: none.
  std::optional<layout::CopyPlan> plan_;
  uint64_t stride_ = 0, tiled_size_ = 0;
};

}  // namespace packsmith::capture::i915

#endif  // PACKSMITH_RUNTIME_CAPTURE_I915_TILED_VIEW_H_
