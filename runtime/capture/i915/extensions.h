// Chains of extensions that calls bring.
#ifndef PACKSMITH_RUNTIME_CAPTURE_I915_EXTENSIONS_H_
#define PACKSMITH_RUNTIME_CAPTURE_I915_EXTENSIONS_H_

#include <cstdint>

#include "runtime/capture/drm/caller.h"
#include "runtime/kernel/uapi/i915.h"

namespace packsmith::capture::i915 {

// Calls `take(name, address)` for each structure of the chain that begins at `address`, in order,
// until one fails. -E2BIG: the chain is longer than 512. Names that `take` does not know are its
// own to refuse, with -EINVAL.
template <typename Take>
Result WalkExtensions(const Caller& caller, uint64_t address, const Take& take) {
  constexpr int kMost = 512;
  for (int i = 0; address != 0; ++i) {
    if (i == kMost) return -E2BIG;
    uapi::i915::user_extension extension = {};
    if (const Result bad = caller.Get(address, extension)) return bad;
    if (extension.flags != 0) return -EINVAL;
    for (const uint32_t reserved : extension.rsvd) {
      if (reserved != 0) return -EINVAL;
    }
    if (const Result bad = take(extension.name, address)) return bad;
    address = extension.next_extension;
  }
  return 0;
}

// For calls that have extensions and know none.
inline Result RefuseExtensions(const Caller& caller, uint64_t address) {
  return WalkExtensions(caller, address, [](uint32_t, uint64_t) { return -EINVAL; });
}

}  // namespace packsmith::capture::i915

#endif  // PACKSMITH_RUNTIME_CAPTURE_I915_EXTENSIONS_H_
