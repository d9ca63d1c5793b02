// What Linux's xe driver says of a device.
#ifndef PACKSMITH_RUNTIME_KERNEL_XE_XE_INFO_H_
#define PACKSMITH_RUNTIME_KERNEL_XE_XE_INFO_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/kernel/drm/calls.h"
#include "runtime/kernel/drm/properties.h"
#include "runtime/kernel/uapi/xe.h"
#include "runtime/memory/device.h"

namespace packsmith::gpu {

// Entries of the table of page attributes that the driver sets up (xe_pat.c): bindings name one.
struct XePat {
  uint16_t coherent = 0;    // cached by the GPU and coherent with the CPU's caches
  uint16_t uncached = 0;    // for memory that the CPU sees without caches, and the GPU's own
  uint16_t display = 0;     // for memory that displays show
  uint16_t compressed = 0;  // 0: the table has no such entry
};

struct XeInfo {
  DeviceProperties properties;

  // A way to submit, in the order of DeviceProperties::engines.
  struct EngineKind {
    // One of them executes a job: the kernel chooses.
    std::vector<uapi::xe::engine_class_instance> engines;
  };
  std::vector<EngineKind> engines;

  uint32_t system_region = 0,
           local_region = 0;      // a bit for gem_create::placement; 0: there is none
  uint64_t highest_priority = 1;  // that this process may set
  // The architecture and release of the main GT; 0 before Meteor Lake, where the kernel does not
  // say.
  unsigned ip_major = 0, ip_minor = 0;
  XePat pat;
  // The firmware's table of the hardware: values by key. Empty: it has none.
  std::map<uint32_t, std::vector<uint32_t>> hwconfig;
};

// DataLoss if a reply is not what the interface says. `info.properties` has no heaps of other
// devices.
absl::StatusOr<XeInfo> QueryXe(const Calls& calls);

// The table of hwconfig: a key, the number of values, and the values, again and again. DataLoss if
// the last entry has fewer values than it says.
absl::StatusOr<std::map<uint32_t, std::vector<uint32_t>>> ParseHwconfig(
    absl::Span<const uint32_t> words);

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_KERNEL_XE_XE_INFO_H_
