// Compute kernels as Intel's compilers write them: "zebin", ELF files of ocloc and of its drivers.
//
//   absl::StatusOr<std::vector<KernelBinary>> binaries = ReadKernelBinaries(file);
//   const KernelBinary& binary = (*binaries)[0];
//   absl::StatusOr<Kernel> code = kernels.Upload(binary.instructions);
//   ComputeKernel kernel = LoadedKernel(binary, code->offset, code->buffer);
//   std::vector<uint8_t> constants = DispatchConstants(binary, kernel.local_size, {.x = 80});
//   const KernelArgument* first = binary.Find(0);   // where the first argument's value goes
//
// ocloc writes such files with -internal_options -cl-intel-allow-zebin. Format: .text.NAME has a
// kernel's instructions, .ze_info (YAML) everything else (intel-graphics-compiler,
// documentation/igc/ZEBinary).

#ifndef PACKSMITH_RUNTIME_INTEL_COMPUTE_KERNEL_BINARY_H_
#define PACKSMITH_RUNTIME_INTEL_COMPUTE_KERNEL_BINARY_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/intel/compute/compute_kernel.h"

namespace packsmith::intel {

// Something that a kernel expects in its constants.
struct KernelArgument {
  std::string type;     // as the file has it: "arg_byvalue", "global_id_offset", "local_size"
  uint32_t offset = 0;  // bytes from the start of the constants
  uint32_t size = 0;    // bytes; 0: it is not in the constants, but in the binding table
  std::optional<uint32_t> index;  // of the source's argument; none: the compiler's own
  uint32_t source_offset = 0;     // of an argument in several parts: where this one begins in it
};

struct KernelBinary {
  std::string name;
  absl::Span<const uint8_t> instructions;  // in the file
  uint32_t entry = 0;                      // byte of the instructions where threads start
  uint32_t simd = 0;                       // 8, 16 or 32 invocations a thread
  uint32_t registers = 0;                  // of a thread
  uint32_t scratch = 0;                    // bytes of scratch memory a thread
  uint32_t local_id_bytes = 0;             // that each thread has, of its invocations' local ids
  // Groups, shared memory, barriers, and the layout of constants; without entries.
  ComputeKernel kernel;
  std::vector<KernelArgument> arguments;  // in the file's order

  // The first part of an argument of the source, or what the compiler calls `type`. Null: the
  // kernel does not use it.
  const KernelArgument* Find(uint32_t index) const;
  const KernelArgument* Find(absl::string_view type) const;
};

// The kernels of a file, which must outlive their instructions. InvalidArgument if it is something
// else, damaged, or in the older format; Unimplemented if a kernel needs what would have to be
// linked, or global memory of its own. Names the kernel and the remedy.
absl::StatusOr<std::vector<KernelBinary>> ReadKernelBinaries(absl::Span<const uint8_t> file);

// For a ComputeState: the kernel at `offset` from the instruction base, in the buffer with this
// handle.
ComputeKernel LoadedKernel(const KernelBinary& binary, uint32_t offset, uint32_t buffer);

// The constants of a dispatch, KernelBinary::kernel.constant_bytes: what the compiler itself
// expects there of sizes and numbers of groups. The source's arguments are 0, and so is everything
// else.
std::vector<uint8_t> DispatchConstants(const KernelBinary& binary,
                                       const std::array<uint32_t, 3>& local_size,
                                       const GroupCount& groups);

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_COMPUTE_KERNEL_BINARY_H_
