// How the invocations of a thread group are divided among hardware threads.
//
//   absl::StatusOr<DispatchShape> shape = PlanDispatch(kernel, {8, 8, 1}, limits);
//   shape->threads;     // 4, of 16 invocations each
//   shape->last_mask;   // 0xffff: all lanes of the last one run
//
// Lane l of thread t is invocation t * width + l. Masks and limits are the same for all groups of a
// dispatch.

#ifndef PACKSMITH_RUNTIME_INTEL_COMPUTE_DISPATCH_SHAPE_H_
#define PACKSMITH_RUNTIME_INTEL_COMPUTE_DISPATCH_SHAPE_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/intel/compute/compute_kernel.h"

namespace packsmith::intel {

// Of a device and its generation.
struct ComputeLimits {
  const char* generation = "";
  unsigned first_width = 0;       // of KernelEntry that the hardware has: 0, or 1 for SIMD16
  uint32_t threads = 0;           // of a group, at most
  uint32_t local_size = 0;        // of each dimension, at most; 0: whatever the threads allow
  uint32_t shared_bytes = 0;      // of a group, at most
  uint32_t barriers = 0;          // of a group, at most
  uint32_t register_bytes = 32;   // of a thread's register
  uint32_t inline_bytes = 0;      // of the walker, at most; 0: it has none
  uint32_t most_registers = 128;  // of a thread
  bool register_blocks = false;   // threads have any number of 32 registers; else 128 or all
  bool hardware_local_ids = false;
  bool number_in_header = false;  // of a thread: ThreadData takes no constants
};

// The order in which hardware counts local ids: the dimension that changes first, then the others.
// As Walk Order of COMPUTE_WALKER.
enum class WalkOrder : uint8_t { kXyz, kXzy, kYxz, kYzx, kZxy, kZyx };

// The registers that a thread of the kernel is given: 128 or, with register_blocks, fewer; or more.
uint32_t RegistersOf(const ComputeKernel& kernel, const ComputeLimits& limits);
// The threads of a group, at most, if each has this many registers.
uint32_t ThreadsWith(uint32_t registers, const ComputeLimits& limits);

struct DispatchShape {
  unsigned entry = 0;  // index of the KernelEntry
  std::array<uint32_t, 3> local = {};
  uint32_t threads = 0;    // of a group
  uint32_t last_mask = 0;  // lanes that run in a group's last thread
  WalkOrder order = WalkOrder::kXyz;
  uint32_t constant_registers = 0;  // that all threads share, without those of the walker
  uint32_t thread_registers = 0;    // of each thread's constants
  uint32_t registers = 128;         // that a thread is given

  uint32_t width() const { return 8u << entry; }
};

// Chooses the SIMD width and computes the rest. Of the widths that the kernel has and whose threads
// are few enough, the widest without scratch memory; but none that is wider than a group needs if
// a narrower one takes it in one thread. If all need scratch memory, the narrowest.
//
// InvalidArgument if the kernel or local size does not fit the limits; the message names the value,
// the limit and what to change.
absl::StatusOr<DispatchShape> PlanDispatch(const ComputeKernel& kernel,
                                           const std::array<uint32_t, 3>& local_size,
                                           const ComputeLimits& limits);

// Bytes of the constants in memory: what all threads share, then each thread's own.
uint32_t ConstantMemoryBytes(const DispatchShape& shape, const ComputeLimits& limits);
// Writes them: `shared` is what all threads share, as long as the registers for it at most. `to`
// has ConstantMemoryBytes(); bytes without a meaning become 0.
void WriteConstantMemory(const ComputeKernel& kernel, const DispatchShape& shape,
                         const ComputeLimits& limits, absl::Span<const uint8_t> shared,
                         absl::Span<uint8_t> to);

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_COMPUTE_DISPATCH_SHAPE_H_
