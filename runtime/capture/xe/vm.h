// Address spaces and queues of the xe interface.
#ifndef PACKSMITH_RUNTIME_CAPTURE_XE_VM_H_
#define PACKSMITH_RUNTIME_CAPTURE_XE_VM_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/capture/drm/address_map.h"
#include "runtime/capture/drm/fence.h"
#include "runtime/capture/drm/work.h"
#include "runtime/kernel/uapi/xe.h"

namespace packsmith::capture {

// One operation of a VM_BIND call that has passed all checks.
struct XeBindStep {
  uapi::xe::BindOp op = uapi::xe::kMap;
  // The range; of kMap and kMapUserptr the whole mapping, of kUnmapAll its object only.
  Mapping mapping;
};

// Guarded by the kernel's lock.
class XeVm {
 public:
  // `size`: bytes, a power of two. `queue`: the scheduler's, of binds that name none.
  XeVm(uint32_t flags, uint64_t size, uint64_t queue) : flags_(flags), size_(size), queue_(queue) {}

  uint64_t size() const { return size_; }
  uint64_t queue() const { return queue_; }
  bool scratch_page() const { return (flags_ & uapi::xe::kVmScratchPage) != 0; }
  bool long_running() const { return (flags_ & uapi::xe::kVmLrMode) != 0; }

  // Notes what a call is going to change. Whether it removes or replaces something: then it waits
  // for uses().
  bool Plan(const std::vector<XeBindStep>& steps);
  // Changes what engines see.
  void Apply(const std::vector<XeBindStep>& steps);
  // What engines see now; later changes do not concern it.
  std::shared_ptr<const AddressMap> Bound();

  // Fences of the work in it that is not done.
  std::vector<std::shared_ptr<Fence>> uses();
  void AddUse(std::shared_ptr<Fence> fence);

  // How many exec queues have it.
  uint32_t exec_queues = 0;

 private:
  static void Change(const std::vector<XeBindStep>& steps, AddressMap& map);

  const uint32_t flags_;
  const uint64_t size_;
  const uint64_t queue_;
  // After all calls that were made, and after those that are done.
  AddressMap planned_;
  std::shared_ptr<AddressMap> bound_ = std::make_shared<AddressMap>();
  bool handed_out_ = false;  // bound_: it is copied before it changes
  std::vector<std::shared_ptr<Fence>> uses_;
};

// Guarded by the kernel's lock.
struct XeExecQueue {
  std::shared_ptr<XeVm> vm;
  uint64_t queue = 0;                           // the scheduler's
  uint64_t context = 0;                         // Work::context
  uint32_t width = 1;                           // batches of a call
  uapi::xe::engine_class_instance engine = {};  // the first that it may use
  bool binds() const { return engine.engine_class == uapi::xe::kVmBindClass; }
  bool banned = false;  // it hung, or its file was closed
  uint32_t jobs = 0;    // that are not done
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_XE_VM_H_
