// Chunks that are buffers of a device.

#ifndef PACKSMITH_RUNTIME_COMMAND_BUFFER_CHUNKS_H_
#define PACKSMITH_RUNTIME_COMMAND_BUFFER_CHUNKS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/base/lifetime.h"
#include "runtime/command/chunks.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/buffers.h"

namespace packsmith::gpu {

// Not thread-safe.
class BufferChunks : public ChunkSource {
 public:
  struct Options {
    ZoneId zone = {};
    std::string name = "batch";
    uint64_t chunk_bytes = 64 * 1024;  // unless more is requested
    // If this is more than `chunk_bytes`, each further chunk is as large as all before it together,
    // up to this size: short batches take little memory, and long ones few jumps. (anv: 8 KiB to 16
    // MiB.)
    uint64_t largest_chunk_bytes = 0;
    Heap heap = Heap::kSystem;  // one that the CPU can see
    size_t most_chunks = ~size_t{0};
  };

  // `buffers` must outlive this.
  BufferChunks(Buffers& buffers, const Options& options)
      : buffers_(buffers, lifetime()), options_(options) {}
  // Releases them.
  ~BufferChunks() override;
  BufferChunks(const BufferChunks&) = delete;
  BufferChunks& operator=(const BufferChunks&) = delete;

  // Errors of Buffers::Create(); ResourceExhausted when there are `most_chunks`.
  absl::StatusOr<Chunk> NewChunk(size_t dwords) override;
  // Buffers::FlushForGpu().
  absl::Status Flush(const Chunk& chunk, size_t dwords) override;
  std::string generation() const override {
    return buffers_ ? buffers_->generation() : std::string();
  }

  // Releases all chunks. No batch may use them any more. Jobs that do were passed to
  // Buffers::Use(): their memory is reused when they are done.
  absl::Status Release();

 private:
  const Reference<Buffers> buffers_;
  const Options options_;
  std::vector<BufferHandle> handles_;
  uint64_t bytes_ = 0;  // of these
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_COMMAND_BUFFER_CHUNKS_H_
