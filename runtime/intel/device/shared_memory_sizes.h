// The sizes of shared local memory that a group of threads can have, and how packets state them:
// one encoding for compute, task and mesh shaders.
//
//   constexpr auto kSizes = SharedMemorySizes<gfx9::INTERFACE_DESCRIPTOR_DATA>();
//   uint32_t code = CodeOf(kSizes, 5000);   // of 8 KiB

#ifndef PACKSMITH_RUNTIME_INTEL_DEVICE_SHARED_MEMORY_SIZES_H_
#define PACKSMITH_RUNTIME_INTEL_DEVICE_SHARED_MEMORY_SIZES_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace packsmith::intel {

// A value's number, and its code in a field.
struct CodedSize {
  uint32_t size, code;
};
// The code of the least that is not below `size`, or of the last.
template <class Codes>
constexpr uint32_t CodeOf(const Codes& codes, uint32_t size) {
  uint32_t code = 0;
  for (const CodedSize& c : codes) {
    code = c.code;
    if (size <= c.size) break;
  }
  return code;
}

// In bytes, from 0 on. Descriptor: a generation's INTERFACE_DESCRIPTOR_DATA, which has the names.
template <class Descriptor>
constexpr auto SharedMemorySizes() {
  using D = Descriptor;
  constexpr uint32_t kKiB = 1024;
  constexpr bool kSmall = requires { D::SHARED_LOCAL_MEMORY_SIZE_ENCODES_1K; };
  constexpr bool kLarge = requires { D::SHARED_LOCAL_MEMORY_SIZE_ENCODES_384K; };
  std::array<CodedSize, size_t{6} + (kSmall ? 2u : 0u) + (kLarge ? 5u : 0u)> codes = {};
  size_t n = 0;
  codes[n++] = {0, D::SHARED_LOCAL_MEMORY_SIZE_ENCODES_0K};
  if constexpr (kSmall) {
    codes[n++] = {1 * kKiB, D::SHARED_LOCAL_MEMORY_SIZE_ENCODES_1K};
    codes[n++] = {2 * kKiB, D::SHARED_LOCAL_MEMORY_SIZE_ENCODES_2K};
  }
  codes[n++] = {4 * kKiB, D::SHARED_LOCAL_MEMORY_SIZE_ENCODES_4K};
  codes[n++] = {8 * kKiB, D::SHARED_LOCAL_MEMORY_SIZE_ENCODES_8K};
  codes[n++] = {16 * kKiB, D::SHARED_LOCAL_MEMORY_SIZE_ENCODES_16K};
  codes[n++] = {32 * kKiB, D::SHARED_LOCAL_MEMORY_SIZE_ENCODES_32K};
  codes[n++] = {64 * kKiB, D::SHARED_LOCAL_MEMORY_SIZE_ENCODES_64K};
  if constexpr (kLarge) {
    codes[n++] = {96 * kKiB, D::SHARED_LOCAL_MEMORY_SIZE_ENCODES_96K};
    codes[n++] = {128 * kKiB, D::SHARED_LOCAL_MEMORY_SIZE_ENCODES_128K};
    codes[n++] = {192 * kKiB, D::SHARED_LOCAL_MEMORY_SIZE_ENCODES_192K};
    codes[n++] = {256 * kKiB, D::SHARED_LOCAL_MEMORY_SIZE_ENCODES_256K};
    codes[n++] = {384 * kKiB, D::SHARED_LOCAL_MEMORY_SIZE_ENCODES_384K};
  }
  return codes;
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DEVICE_SHARED_MEMORY_SIZES_H_
