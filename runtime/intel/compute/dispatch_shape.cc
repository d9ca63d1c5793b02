#include "runtime/intel/compute/dispatch_shape.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/debug.h"

namespace packsmith::intel {
namespace {

constexpr uint32_t kMostHardwareInvocations = 1024;
constexpr uint32_t kUsualRegisters = 128;
constexpr uint32_t kRegisterBlock = 32;

uint32_t DivideUp(uint64_t a, uint32_t b) { return static_cast<uint32_t>((a + b - 1) / b); }

bool IsPowerOfTwo(uint32_t value) { return (value & (value - 1)) == 0; }

// x, y, z as the dimensions that are counted first, second and third.
constexpr std::array<std::array<uint8_t, 3>, 6> kOrders = {
    {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};

std::string Times(const std::array<uint32_t, 3>& size) { return absl::StrJoin(size, "x"); }

absl::Status CheckKernel(const ComputeKernel& kernel, const ComputeLimits& limits) {
  const auto refuse = [&](auto... text) {
    return absl::InvalidArgumentError(absl::StrCat(limits.generation, ": the kernel ", text...));
  };
  if (kernel.shared_bytes > limits.shared_bytes) {
    return refuse("has ", kernel.shared_bytes,
                  " bytes of shared local memory; a group has at most ", limits.shared_bytes);
  }
  if (kernel.barriers > limits.barriers) {
    return refuse("has ", kernel.barriers, " barriers; a group has at most ", limits.barriers);
  }
  if (kernel.registers > limits.most_registers) {
    return refuse("uses ", kernel.registers, " registers; a thread has at most ",
                  limits.most_registers, ": compile it for these");
  }
  if (kernel.constant_bytes > kMostConstantBytes) {
    return refuse("has ", kernel.constant_bytes, " bytes of constants; at most ",
                  kMostConstantBytes, " can be loaded: put the rest into a buffer");
  }
  if (kernel.inline_bytes > limits.inline_bytes) {
    return refuse("expects ", kernel.inline_bytes,
                  " bytes of constants in the walker, which holds ", limits.inline_bytes);
  }
  if (kernel.inline_bytes > kernel.constant_bytes) {
    return refuse("expects ", kernel.inline_bytes,
                  " bytes of constants in the walker, but has only ", kernel.constant_bytes);
  }
  if (kernel.local_ids == LocalIds::kHardware) {
    if (!limits.hardware_local_ids) {
      return refuse("expects local ids from hardware, which has none: use LocalIds::kInMemory");
    }
    if (kernel.local_id_components < 1 || kernel.local_id_components > 3) {
      return refuse("reads ", kernel.local_id_components, " components of local ids; 1 to 3 exist");
    }
  }
  if (kernel.local_ids == LocalIds::kInMemory && kernel.thread_data == ThreadData::kNumber &&
      !limits.number_in_header) {
    return refuse(
        "expects both local ids and its number in each thread's constants: the number follows from "
        "the first local id, so leave ThreadData::kNone");
  }
  for (unsigned i = 0; i < kSimdWidths; ++i) {
    const KernelEntry& entry = kernel.entries[i];
    if (!entry.present) continue;
    if (i < limits.first_width) {
      return refuse("has an entry for SIMD", 8u << i, "; the least width is ",
                    8u << limits.first_width);
    }
    if (entry.offset % 64 != 0) {
      return refuse("begins at offset ", entry.offset, " for SIMD", 8u << i,
                    "; kernels begin at multiples of 64");
    }
  }
  return absl::OkStatus();
}

// The entry, or an error.
absl::StatusOr<unsigned> ChooseEntry(const ComputeKernel& kernel, uint64_t invocations,
                                     const ComputeLimits& limits) {
  constexpr unsigned kSimd16 = 1;
  unsigned chosen = kSimdWidths, narrowest = kSimdWidths, widest = kSimdWidths;
  const bool no16 = DebugOn(DebugSwitch::kNo16) && kernel.entries[kSimd16].present;
  for (unsigned i = limits.first_width; i < kSimdWidths; ++i) {
    if (!kernel.entries[i].present || (no16 && i == kSimd16)) continue;
    widest = i;
    if (DivideUp(invocations, 8u << i) > limits.threads) continue;
    if (narrowest == kSimdWidths) narrowest = i;
    if (kernel.entries[i].scratch == 0) chosen = i;
    if (invocations <= 8u << i) break;  // wider ones would have idle lanes only
  }
  if (chosen != kSimdWidths) return chosen;
  if (narrowest != kSimdWidths) return narrowest;
  if (widest == kSimdWidths && no16) {
    return absl::FailedPreconditionError(
        absl::StrCat(limits.generation,
                     ": the kernel has an entry for SIMD16 only, which "
                     "PACKSMITH_DEBUG=no16 forbids"));
  }
  if (widest == kSimdWidths) {
    return absl::InvalidArgumentError(
        absl::StrCat(limits.generation, ": the kernel has no entry for any SIMD width"));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      limits.generation, ": a group of ", invocations, " invocations takes ",
      DivideUp(invocations, 8u << widest), " threads of SIMD", 8u << widest,
      ", the widest that the kernel has; a group has at most ", limits.threads,
      widest + 1 < kSimdWidths ? ": compile the kernel for a wider one, or use smaller groups"
                               : ": use smaller groups"));
}

// Hardware counts with masks: only the dimension that it counts last may be of any size (Intel's
// compute-runtime does the same, EncodeDispatchKernel::isRuntimeLocalIdsGenerationRequired).
absl::StatusOr<WalkOrder> ChooseOrder(const std::array<uint32_t, 3>& local, uint64_t invocations,
                                      const ComputeLimits& limits) {
  if (invocations <= kMostHardwareInvocations) {
    for (unsigned i = 0; i < kOrders.size(); ++i) {
      if (IsPowerOfTwo(local[kOrders[i][0]]) && IsPowerOfTwo(local[kOrders[i][1]])) {
        return static_cast<WalkOrder>(i);
      }
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      limits.generation, ": hardware makes no local ids for a group of ", Times(local),
      ": it makes them for at most ", kMostHardwareInvocations,
      " invocations, and two of the three sizes must be powers of two; use LocalIds::kInMemory"));
}

uint32_t IdRegisters(uint32_t width, const ComputeLimits& limits) {
  return DivideUp(uint64_t{2} * width, limits.register_bytes);
}

}  // namespace

uint32_t RegistersOf(const ComputeKernel& kernel, const ComputeLimits& limits) {
  const uint32_t used = kernel.registers == 0 ? kUsualRegisters : kernel.registers;
  if (!limits.register_blocks) return used <= kUsualRegisters ? kUsualRegisters : 256;
  // There is no size between 192 and 256.
  const uint32_t blocks = DivideUp(used, kRegisterBlock) * kRegisterBlock;
  return blocks <= 192 ? blocks : 256;
}

// Fewer registers than usual make room for threads of other groups, but not for larger groups.
uint32_t ThreadsWith(uint32_t registers, const ComputeLimits& limits) {
  return limits.threads * kUsualRegisters / std::max(registers, kUsualRegisters);
}

absl::StatusOr<DispatchShape> PlanDispatch(const ComputeKernel& kernel,
                                           const std::array<uint32_t, 3>& local_size,
                                           const ComputeLimits& of_device) {
  if (absl::Status status = CheckKernel(kernel, of_device); !status.ok()) return status;
  const uint32_t registers = RegistersOf(kernel, of_device);
  ComputeLimits limits = of_device;
  limits.threads = ThreadsWith(registers, of_device);
  // No more invocations in a dimension than a group may have; so their product fits 64 bits.
  const uint32_t most =
      std::min(limits.threads * 32, limits.local_size == 0 ? ~0u : limits.local_size);
  uint64_t invocations = 1;
  for (const uint32_t size : local_size) {
    if (size == 0 || size > most) {
      return absl::InvalidArgumentError(absl::StrCat(limits.generation, ": the local size is ",
                                                     Times(local_size), "; each must be from 1 to ",
                                                     most));
    }
    invocations *= size;
  }
  const absl::StatusOr<unsigned> entry = ChooseEntry(kernel, invocations, limits);
  if (!entry.ok()) return entry.status();
  DispatchShape shape{.entry = *entry, .local = local_size, .registers = registers};
  const uint32_t width = shape.width();
  shape.threads = DivideUp(invocations, width);
  const auto rest = static_cast<uint32_t>(invocations % width);
  const uint32_t lanes = rest == 0 ? width : rest;
  shape.last_mask = lanes == 32 ? ~0u : (1u << lanes) - 1;
  shape.constant_registers =
      DivideUp(kernel.constant_bytes - kernel.inline_bytes, limits.register_bytes);
  if (kernel.local_ids == LocalIds::kHardware) {
    const absl::StatusOr<WalkOrder> order = ChooseOrder(local_size, invocations, limits);
    if (!order.ok()) return order.status();
    shape.order = *order;
  } else if (kernel.local_ids == LocalIds::kInMemory) {
    shape.thread_registers = 3 * IdRegisters(width, limits);
  } else if (kernel.thread_data == ThreadData::kNumber && !limits.number_in_header) {
    shape.thread_registers = 1;
  }
  return shape;
}

uint32_t ConstantMemoryBytes(const DispatchShape& shape, const ComputeLimits& limits) {
  return (shape.constant_registers + shape.threads * shape.thread_registers) *
         limits.register_bytes;
}

void WriteConstantMemory(const ComputeKernel& kernel, const DispatchShape& shape,
                         const ComputeLimits& limits, absl::Span<const uint8_t> shared,
                         absl::Span<uint8_t> to) {
  const size_t shared_room = size_t{shape.constant_registers} * limits.register_bytes;
  const size_t copied = std::min(shared.size(), shared_room);
  if (copied != 0) std::memcpy(to.data(), shared.data(), copied);
  std::memset(to.data() + copied, 0, to.size() - copied);
  if (shape.thread_registers == 0) return;
  const uint32_t width = shape.width();
  const size_t thread_bytes = size_t{shape.thread_registers} * limits.register_bytes;
  uint8_t* thread = to.data() + shared_room;
  if (kernel.local_ids != LocalIds::kInMemory) {
    for (uint32_t t = 0; t < shape.threads; ++t, thread += thread_bytes) {
      std::memcpy(thread, &t, sizeof(t));
    }
    return;
  }
  const size_t component = size_t{IdRegisters(width, limits)} * limits.register_bytes;
  std::array<uint16_t, 3> id = {};
  for (uint32_t t = 0; t < shape.threads; ++t, thread += thread_bytes) {
    const uint32_t lanes = t + 1 < shape.threads || shape.last_mask == ~0u
                               ? width
                               : static_cast<uint32_t>(__builtin_popcount(shape.last_mask));
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      for (unsigned i = 0; i < 3; ++i) {
        std::memcpy(thread + i * component + lane * sizeof(id[i]), &id[i], sizeof(id[i]));
      }
      for (unsigned i = 0; i < 3; ++i) {
        if (++id[i] < shape.local[i]) break;
        id[i] = 0;
      }
    }
  }
}

}  // namespace packsmith::intel
