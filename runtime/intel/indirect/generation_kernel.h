// The kernel that writes draws, as a compiler has made it: the hook for its binary.
//
//   const KernelBinary binary = ReadKernelBinaries(file)->at(0);
//   absl::StatusOr<Kernel> code = kernels.Upload(binary.instructions);
//   absl::StatusOr<GenerationKernel> kernel =
//       GenerationKernelOf(binary, code->offset, code->buffer);
//
// Its source is runtime/intel/generated_draws/kernel.cl, with one argument: the address of a struct
// packsmith_generate_draws. The invocation with the global id i writes draw i of a dispatch.

#ifndef PACKSMITH_RUNTIME_INTEL_INDIRECT_GENERATION_KERNEL_H_
#define PACKSMITH_RUNTIME_INTEL_INDIRECT_GENERATION_KERNEL_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/intel/batch/cache_tracker.h"
#include "runtime/intel/compute/compute_kernel.h"
#include "runtime/intel/compute/kernel_binary.h"

namespace packsmith::intel {

struct GenerationKernel {
  // Entry, SIMD widths, registers and layout of constants. Groups of PACKSMITH_GENERATE_GROUP
  // invocations along x.
  ComputeKernel kernel = {};
  // Byte of the constants at which the 8 bytes of the parameters' address begin.
  uint32_t parameters_at = 0;
  // What else the compiler expects in the constants, from byte 0 on: sizes, for example. Fewer
  // bytes than ComputeKernel::constant_bytes: the rest is 0.
  std::vector<uint8_t> constants = {};
  // The caches through which it reads parameters, counts and draws' numbers, and writes draws.
  CacheDomain reads = CacheDomain::kData, writes = CacheDomain::kData;
};

// Of a file of Intel's compilers (kernel_binary.h), whose instructions are at `offset` from the
// instruction base, in the buffer with this handle. InvalidArgument if the kernel has no argument
// that is an address, or CheckGenerationKernel() has an error.
absl::StatusOr<GenerationKernel> GenerationKernelOf(const KernelBinary& binary, uint32_t offset,
                                                    uint32_t buffer);

// InvalidArgument: there is no code, groups have another size, or the constants do not hold the
// address and what else they must.
absl::Status CheckGenerationKernel(const GenerationKernel& kernel);

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_INDIRECT_GENERATION_KERNEL_H_
