// What calls of the xe interface are refused for, as far as it does not depend on an open file.
#ifndef PACKSMITH_RUNTIME_CAPTURE_XE_CHECKS_H_
#define PACKSMITH_RUNTIME_CAPTURE_XE_CHECKS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "runtime/capture/drm/caller.h"
#include "runtime/capture/xe/device.h"
#include "runtime/kernel/uapi/xe.h"

namespace packsmith::capture {

// All return 0 or a negative errno.

// GEM_CREATE, up to its address space.
Result CheckXeGemCreate(const XeDevice& device, const uapi::xe::gem_create& args);

// One operation of VM_BIND by itself: its fields, and what of them goes together.
Result CheckXeBindOp(const XeDevice& device, const uapi::xe::vm_bind_op& op);
// What kMap may do with its object.
Result CheckXeBindObject(const XeDevice& device, const uapi::xe::vm_bind_op& op,
                         const XeObject& object);

// The engines of an exec queue: `width` of each of the placements. Engines of a queue are of one
// class and one GT; those of a placement follow each other.
Result CheckXeEngines(const DeviceInfo& info,
                      absl::Span<const uapi::xe::engine_class_instance> engines, unsigned width);
// The chain of extensions of EXEC_QUEUE_CREATE.
Result CheckXeQueueExtensions(const Caller& caller, uint64_t address);

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_XE_CHECKS_H_
