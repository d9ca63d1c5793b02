// What a compute kernel expects of the hardware and of the memory that it is given, as a compiler
// knows it.
//
//   ComputeKernel kernel;
//   kernel.simd16() = {.present = true, .offset = 0x1000, .buffer = code.buffer};
//   kernel.local_size = {8, 8, 1};
//   kernel.shared_bytes = 4096;
//   kernel.barriers = 1;
//   kernel.constant_bytes = 64;
//
// Plain data, without a generation. ComputeState checks it.

#ifndef PACKSMITH_RUNTIME_INTEL_COMPUTE_COMPUTE_KERNEL_H_
#define PACKSMITH_RUNTIME_INTEL_COMPUTE_COMPUTE_KERNEL_H_

#include <array>
#include <cstdint>

#include "packsmith/pack.h"

namespace packsmith::intel {

// A kernel that was compiled for a SIMD width: the number of invocations that a thread has.
struct KernelEntry {
  bool present = false;
  uint32_t offset = 0;   // of the first instruction from the instruction base: a multiple of 64
  uint32_t buffer = 0;   // handle of the buffer with the instructions; 0: listed by the caller
  uint32_t scratch = 0;  // bytes of scratch memory that a thread needs; 0: none
};
// Widths 8, 16 and 32: KernelEntry i has 8 << i. From Xe2 on there is no width 8.
inline constexpr unsigned kSimdWidths = 3;

// Where a kernel finds the local id of its invocations: three numbers, x, y and z.
enum class LocalIds : uint8_t {
  // It computes them from the number of its thread in the group. Up to Gfx12 ThreadData::kNumber
  // provides that; from Gfx12.5 on it is in the thread's header.
  kComputed,
  // From Gfx12.5 on: hardware writes them to registers. At most 1024 invocations, and at most one
  // dimension of the local size is not a power of two.
  kHardware,
  // In the constants of each thread: all x, then all y, then all z, in 16 bits each; each of the
  // three begins with a register.
  kInMemory,
};

// What else is in each thread's constants, up to Gfx12. (Gfx12.5 and later have it in the header.)
enum class ThreadData : uint8_t {
  kNone,
  kNumber,  // one register, whose first dword is the number of the thread in its group
};

struct ComputeKernel {
  std::array<KernelEntry, kSimdWidths> entries = {};
  std::array<uint32_t, 3> local_size = {};  // 0, 0, 0: the caller sets it before it dispatches
  uint32_t shared_bytes = 0;                // shared local memory of a group
  uint32_t barriers = 0;                    // up to Gfx12 at most 1; later at most 32
  // Registers that a thread uses; 0: 128. Gfx12.5 and Xe2 give threads 128 or 256, Xe3 blocks of 32
  // up to 256; earlier ones 128. Threads with more take the place of others: groups have fewer.
  uint32_t registers = 0;
  // Constants that all threads of a dispatch share; at most kMostConstantBytes.
  uint32_t constant_bytes = 0;
  // From Gfx12.5 on: the first bytes of these, at most 32, are in the walker and reach the
  // kernel in a register. The others are in memory.
  uint32_t inline_bytes = 0;
  LocalIds local_ids = LocalIds::kComputed;
  // kHardware: how many of x, y and z the kernel reads, 1 to 3.
  uint32_t local_id_components = 3;
  ThreadData thread_data = ThreadData::kNone;
  // Entries of the binding table, and samplers, that are prefetched for each thread group. More are
  // reachable; 0 prefetches none.
  uint32_t binding_table_entries = 0;
  uint32_t samplers = 0;

  KernelEntry& simd8() { return entries[0]; }
  KernelEntry& simd16() { return entries[1]; }
  KernelEntry& simd32() { return entries[2]; }
};

// 255 registers of 32 bytes: what the interface descriptor can state (PRM,
// INTERFACE_DESCRIPTOR_DATA, Cross-Thread Constant Data Read Length). The same limit on generations
// that load them otherwise.
inline constexpr uint32_t kMostConstantBytes = 255 * 32;

// Numbers of groups in x, y and z.
struct GroupCount {
  uint32_t x = 1, y = 1, z = 1;

  friend bool operator==(const GroupCount&, const GroupCount&) = default;
};

// Tables that a kernel's messages index.
struct ComputeTables {
  uint32_t bindings = 0;  // as Binder::pointer(BindingStage::kCompute)
  uint32_t samplers = 0;  // offset from the dynamic state base: a multiple of 32

  friend bool operator==(const ComputeTables&, const ComputeTables&) = default;
};

// Scratch memory for compute kernels: see runtime/intel/shader/scratch.h, which makes one.
struct ComputeScratch {
  uint32_t per_thread = 0;  // bytes; 0: none
  // Up to Gfx12: where it is, from the general state base; a multiple of 1024.
  address base = {};
  // From Gfx12.5 on: offset of its surface state, a multiple of 64; and the buffers of both, which
  // the batch must list.
  uint32_t surface = 0;
  uint32_t surface_buffer = 0, memory_buffer = 0;

  friend bool operator==(const ComputeScratch& a, const ComputeScratch& b) {
    return a.per_thread == b.per_thread && a.base.gpu == b.base.gpu &&
           a.base.buffer == b.base.buffer && a.surface == b.surface &&
           a.surface_buffer == b.surface_buffer && a.memory_buffer == b.memory_buffer;
  }
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_COMPUTE_COMPUTE_KERNEL_H_
