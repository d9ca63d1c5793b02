// What a device with the xe interface says of itself.
#ifndef PACKSMITH_RUNTIME_CAPTURE_XE_QUERIES_H_
#define PACKSMITH_RUNTIME_CAPTURE_XE_QUERIES_H_

#include <cstdint>

#include "runtime/capture/drm/caller.h"
#include "runtime/capture/xe/device.h"
#include "runtime/kernel/uapi/xe.h"

namespace packsmith::capture {

// DEVICE_QUERY, in two steps: without a size it tells the size; with exactly that size it writes
// the reply.
Result AnswerXeQuery(const XeDevice& device, const Caller& caller, uapi::xe::device_query& args);

// The highest priority that EXEC_QUEUE_CREATE allows to programs without CAP_SYS_NICE.
inline constexpr uint64_t kXeHighestPriority = 1;

// Null: the device has no such engine.
const EngineInfo* FindXeEngine(const DeviceInfo& info,
                               const uapi::xe::engine_class_instance& engine);

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_XE_QUERIES_H_
