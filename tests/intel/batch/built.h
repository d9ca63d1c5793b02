// A batch's packets, seen through the decoder.
#ifndef PACKSMITH_TESTS_INTEL_BATCH_BUILT_H_
#define PACKSMITH_TESTS_INTEL_BATCH_BUILT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/command/chunks.h"
#include "runtime/decode/record.h"
#include "runtime/dump/dump.h"
#include "runtime/intel/batch/batch_core.h"

namespace packsmith::intel {

// A packet as the decoder met it.
struct Met {
  std::string name;
  uint64_t address = 0;
  uint32_t depth = 0;  // +1 a call
  std::vector<uint32_t> dwords;
  size_t faults = 0;
};

struct Decoded {
  std::vector<Met> packets;
  decode::Summary summary;
  std::vector<std::string> problems;

  std::vector<std::string> Names() const;
};

// Memory with the chunks of some sources in it, and perhaps more.
class World {
 public:
  World() = default;
  explicit World(Dump dump) : dump_(std::move(dump)) {}
  World& Put(absl::Span<const gpu::Chunk> chunks);
  World& Put(uint64_t gpu, absl::Span<const uint32_t> words);
  // What the GPU executes from `gpu` on.
  Decoded Decode(absl::string_view generation, uint64_t gpu);

 private:
  Dump dump_;
};

// The packets of a batch that has ended, chunk by chunk, without jumps and end.
std::vector<uint32_t> PacketsOf(const BatchCore& batch);

}  // namespace packsmith::intel

#endif  // PACKSMITH_TESTS_INTEL_BATCH_BUILT_H_
