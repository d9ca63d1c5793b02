// The VMs of a device of Linux's asahi driver.
#ifndef PACKSMITH_RUNTIME_KERNEL_ASAHI_SPACES_H_
#define PACKSMITH_RUNTIME_KERNEL_ASAHI_SPACES_H_

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/base/mutex.h"
#include "runtime/kernel/asahi/info.h"
#include "runtime/kernel/drm/calls.h"
#include "runtime/kernel/uapi/asahi.h"

namespace packsmith::gpu {

// A VM is made when its space is first needed. Thread-safe.
class AsahiSpaces {
 public:
  // Both outlive it.
  AsahiSpaces(const Calls& calls, const AsahiInfo& info) : calls_(calls), info_(info) {}

  absl::StatusOr<uint32_t> Vm(uint32_t space);
  using Ops = absl::InlinedVector<uapi::asahi::gem_bind_op, 4>;
  // All of the operations or none. InvalidArgument for addresses that are the kernel's.
  absl::Status Bind(uint32_t space, absl::Span<const uapi::asahi::gem_bind_op> ops);
  // What these operations have bound, all or none.
  absl::Status Unbind(uint32_t space, absl::Span<const uapi::asahi::gem_bind_op> bound);

 private:
  absl::Status CallBind(uint32_t vm, absl::Span<const uapi::asahi::gem_bind_op> ops) const;
  // Whatever was bound by these operations.
  absl::Status CallUnbind(uint32_t vm, absl::Span<const uapi::asahi::gem_bind_op> bound) const;

  const Calls& calls_;
  const AsahiInfo& info_;
  Mutex mutex_;
  absl::flat_hash_map<uint32_t, uint32_t> vms_ ABSL_GUARDED_BY(mutex_);  // by space
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_KERNEL_ASAHI_SPACES_H_
