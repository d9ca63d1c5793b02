// What docs/indirect.md shows of the kernel that writes draws: prints what GenerationKernelOf()
// finds in the file that is its argument, as ocloc has written it.
#include "runtime/intel/indirect/generation_kernel.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "docs/examples/must.h"
#include "runtime/base/file.h"
#include "runtime/intel/compute/compute_kernel.h"
#include "runtime/intel/compute/kernel_binary.h"

namespace {

using example::Must;
using packsmith::FileBytes;
using namespace packsmith::intel;  // NOLINT: an example

struct Uploaded {
  uint32_t offset, buffer;
};

void Print(const GenerationKernel& kernel) {
  const ComputeKernel& code = kernel.kernel;
  for (unsigned i = 0; i < kSimdWidths; ++i) {
    const KernelEntry& entry = code.entries[i];
    if (entry.present)
      std::printf("SIMD%u at %u of buffer %u\n", 8u << i, entry.offset, entry.buffer);
  }
  std::printf("the parameters' address: 8 bytes at %u of %u, %u of them in the walker\n",
              kernel.parameters_at, code.constant_bytes, code.inline_bytes);
  std::printf("local ids: %s\n", code.local_ids == LocalIds::kHardware   ? "by hardware"
                                 : code.local_ids == LocalIds::kInMemory ? "in memory"
                                                                         : "none");
  for (size_t at = 0; at + 4 <= kernel.constants.size(); at += 4) {
    uint32_t dword;
    std::memcpy(&dword, &kernel.constants[at], sizeof(dword));
    if (dword != 0) std::printf("constant at %zu: %u\n", at, dword);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: generation_kernel FILE\n");
    return 2;
  }
  const std::string path = argv[1];
  const Uploaded code{.offset = 0x1000, .buffer = 7};  // by Kernels::Upload(binary.instructions)
  // Page: kernel
  const FileBytes file = Must(packsmith::OpenFile(path));
  const KernelBinary binary = Must(ReadKernelBinaries(file.bytes)).at(0);
  const GenerationKernel kernel = Must(GenerationKernelOf(binary, code.offset, code.buffer));
  // End
  Print(kernel);
  return 0;
}
