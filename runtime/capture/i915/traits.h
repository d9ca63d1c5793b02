// What i915 makes depend on the platform, beyond what the table of devices says.
#ifndef PACKSMITH_RUNTIME_CAPTURE_I915_TRAITS_H_
#define PACKSMITH_RUNTIME_CAPTURE_I915_TRAITS_H_

#include <cstdint>

#include "runtime/capture/devices/device_info.h"
#include "runtime/kernel/uapi/i915.h"

namespace packsmith::capture::i915 {

// Source: Linux 6.8, i915_pci.c, i915_drv.h and intel_uc.c.
struct Traits {
  explicit Traits(const DeviceInfo& info);

  // Of graphics, times 100: 400, 750, 1255, 1270.
  unsigned version = 0;
  bool execlists = false;       // queues of the hardware (Gfx8 and up); rings before
  bool guc = false;             // a microcontroller schedules
  bool full_ppgtt = false;      // contexts have address spaces of their own
  bool relocations = false;     // execbuffer takes relocations
  bool wide_addresses = false;  // relocations are of 64 bits, addresses of 48
  bool pread_pwrite = false;
  bool old_mmap = false;   // GEM_MMAP
  bool bonds = false;      // the engines map's extension BOND
  bool perf = false;       // there are performance counters
  uint32_t scheduler = 0;  // uapi::i915::SchedulerCapability
  int command_parser = 0;  // its version; 0: batches are not parsed
  bool resets_engines = false;
};

inline Traits::Traits(const DeviceInfo& info) {
  version = info.version_x10 * 10u;
  if (!info.gts.empty() && info.gts[0].ip_major != 0) {
    version = info.gts[0].ip_major * 100u + info.gts[0].ip_minor;
  }
  const bool tiger = info.platform == "tgl", rocket = info.platform == "rkl";
  const bool alder_s = info.platform == "adls" || info.platform == "rpls";
  execlists = version >= 800;
  guc = version >= 1200 && !tiger && !rocket && !alder_s;
  full_ppgtt = info.ppgtt == Ppgtt::kFull;
  relocations = version < 1200 || tiger;
  wide_addresses = version >= 800;
  pread_pwrite = version < 1200 || tiger;
  old_mmap = version < 1200 || tiger || rocket || (version < 1270 && !info.discrete());
  bonds = !guc && (version < 1200 || tiger || rocket || alder_s);
  perf = version >= 750;
  using namespace uapi::i915;
  if (guc) {
    scheduler = kSchedulerEnabled | kSchedulerPriority | kSchedulerPreemption |
                kSchedulerEngineBusyStats | kSchedulerStaticPriorityMap;
  } else if (execlists) {
    scheduler =
        kSchedulerEnabled | kSchedulerPriority | kSchedulerSemaphores | kSchedulerEngineBusyStats;
    // The render engine of Gfx8 cannot be interrupted.
    if (version >= 900) scheduler |= kSchedulerPreemption;
  }
  // All engines of Gfx7, and the copy engine of Gfx9.
  if ((version >= 700 && version < 800) || (version >= 900 && version < 1000)) command_parser = 10;
  resets_engines = version >= 700;
}

}  // namespace packsmith::capture::i915

#endif  // PACKSMITH_RUNTIME_CAPTURE_I915_TRAITS_H_
