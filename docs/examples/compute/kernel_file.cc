// What docs/compute.md shows of kernels in files: prints the kernels of the file that is its
// argument, as ocloc has written it.
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "docs/examples/must.h"
#include "runtime/base/file.h"
#include "runtime/intel/compute/compute_kernel.h"
#include "runtime/intel/compute/kernel_binary.h"

namespace {

using example::Must;
using packsmith::FileBytes;
using namespace packsmith::intel;  // NOLINT: an example

void Print(const KernelBinary& binary, const ComputeKernel& kernel) {
  std::printf("%s: SIMD%u, %u registers, entry at byte %u of %zu, scratch %u\n",
              binary.name.c_str(), binary.simd, binary.registers, binary.entry,
              binary.instructions.size(), binary.scratch);
  std::printf("  groups of %u x %u x %u, constants of %u bytes, %u of them in the walker\n",
              kernel.local_size[0], kernel.local_size[1], kernel.local_size[2],
              kernel.constant_bytes, kernel.inline_bytes);
  std::printf("  local ids: %s\n", kernel.local_ids == LocalIds::kHardware   ? "by hardware"
                                   : kernel.local_ids == LocalIds::kInMemory ? "in memory"
                                                                             : "none");
  std::printf("  binding table entries: %u\n", kernel.binding_table_entries);
  for (const KernelArgument& argument : binary.arguments) {
    std::printf("  %s", argument.type.c_str());
    if (argument.index.has_value()) std::printf(" %u", *argument.index);
    std::printf(": %u bytes at %u\n", argument.size, argument.offset);
  }
}

// The constants of a dispatch whose kernel has one argument, an address.
std::vector<uint8_t> ConstantsOf(const KernelBinary& binary, uint64_t parameters) {
  // Page: file-constants
  std::vector<uint8_t> constants = DispatchConstants(binary, binary.kernel.local_size, {.x = 80});
  if (const KernelArgument* argument = binary.Find(0)) {
    std::memcpy(&constants[argument->offset], &parameters, argument->size);
  }
  // End
  return constants;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: kernel_file FILE\n");
    return 2;
  }
  const std::string path = argv[1];
  const uint32_t offset = 0x1000, buffer = 7;  // where Kernels::Upload() has put it
  // Page: file
  const FileBytes file = Must(packsmith::OpenFile(path));
  for (const KernelBinary& binary : Must(ReadKernelBinaries(file.bytes))) {
    const ComputeKernel kernel = LoadedKernel(binary, offset, buffer);
    Print(binary, kernel);
  }
  // End
  for (const KernelBinary& binary : Must(ReadKernelBinaries(file.bytes))) {
    const KernelArgument* argument = binary.Find(0);
    if (argument == nullptr || argument->size != sizeof(uint64_t)) continue;
    const std::vector<uint8_t> constants = ConstantsOf(binary, 0x123456789abc);
    uint64_t found;
    std::memcpy(&found, &constants[argument->offset], sizeof(found));
    std::printf("%s: the address 0x%" PRIx64 " is in its constants\n", binary.name.c_str(), found);
  }
  return 0;
}
