#include "runtime/intel/indirect/generation_kernel.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/intel/generated_draws/parameters.h"

namespace packsmith::intel {

absl::StatusOr<GenerationKernel> GenerationKernelOf(const KernelBinary& binary, uint32_t offset,
                                                    uint32_t buffer) {
  const KernelArgument* const parameters = binary.Find(0);
  if (parameters == nullptr || parameters->size != sizeof(uint64_t)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the kernel ", binary.name,
        " has no address of 8 bytes as its first argument in its constants; it must be "
        "that of runtime/intel/generated_draws/kernel.cl"));
  }
  GenerationKernel kernel;
  kernel.kernel = LoadedKernel(binary, offset, buffer);
  kernel.parameters_at = parameters->offset;
  kernel.constants.resize(kernel.kernel.constant_bytes);
  const auto& size = kernel.kernel.local_size;
  for (const char* type : {"local_size", "enqueued_local_size"}) {
    const KernelArgument* const at = binary.Find(type);
    if (at == nullptr || at->size > sizeof(size) ||
        uint64_t{at->offset} + at->size > kernel.constants.size()) {
      continue;
    }
    std::memcpy(&kernel.constants[at->offset], size.data(), at->size);
  }
  if (absl::Status checked = CheckGenerationKernel(kernel); !checked.ok()) return checked;
  return kernel;
}

absl::Status CheckGenerationKernel(const GenerationKernel& kernel) {
  const ComputeKernel& code = kernel.kernel;
  if (std::none_of(code.entries.begin(), code.entries.end(),
                   [](const KernelEntry& entry) { return entry.present; })) {
    return absl::InvalidArgumentError(
        "the kernel that writes draws has no code of any SIMD width: set one of its entries");
  }
  const auto& size = code.local_size;
  if (size[0] != PACKSMITH_GENERATE_GROUP || size[1] != 1 || size[2] != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("the kernel that writes draws has groups of ", size[0], " x ", size[1], " x ",
                     size[2], " invocations; they must be ", PACKSMITH_GENERATE_GROUP, " x 1 x 1"));
  }
  if (uint64_t{kernel.parameters_at} + 8 > code.constant_bytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the address of the parameters is 8 bytes at byte ", kernel.parameters_at,
        " of the constants of the kernel that writes draws, which have ", code.constant_bytes));
  }
  if (kernel.constants.size() > code.constant_bytes) {
    return absl::InvalidArgumentError(absl::StrCat("the kernel that writes draws has ",
                                                   code.constant_bytes, " bytes of constants, but ",
                                                   kernel.constants.size(), " were stated"));
  }
  return absl::OkStatus();
}

}  // namespace packsmith::intel
