// What builders wrote, decoded from the descriptions that are built in.
#ifndef PACKSMITH_TESTS_AGX_BUILT_H_
#define PACKSMITH_TESTS_AGX_BUILT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/agx/control_stream.h"
#include "runtime/agx/gpu_memory.h"
#include "runtime/generations/generations.h"
#include "tests/decode/world.h"

namespace packsmith::agx {

// CPU memory that is given an address of the GPU.
class FakeMemory {
 public:
  FakeMemory(uint64_t gpu, size_t bytes, uint32_t buffer = 0)
      : gpu_(gpu, buffer), bytes_(bytes, 0xee) {}

  GpuMemory get() { return {gpu_, absl::MakeSpan(bytes_)}; }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  address gpu_;
  std::vector<uint8_t> bytes_;
};

inline void PutStream(decode::World& world, const StreamCore& stream) {
  for (const StreamPart& part : stream.parts()) {
    const auto* const bytes = reinterpret_cast<const uint8_t*>(part.chunk.words.data());
    world.PutBytes(part.chunk.gpu, {bytes, bytes + part.total});
  }
}

inline decode::Story TellStream(const StreamCore& stream, absl::string_view name) {
  decode::World world;
  PutStream(world, stream);
  world.Submit(stream.parts()[0].chunk.gpu, 0, name);
  return decode::Tell(*FindGeneration("g13"), world);
}

}  // namespace packsmith::agx

#endif  // PACKSMITH_TESTS_AGX_BUILT_H_
