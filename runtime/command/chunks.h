// Where a batch's dwords go: chunks of memory that the GPU can read and the CPU can write.

#ifndef PACKSMITH_RUNTIME_COMMAND_CHUNKS_H_
#define PACKSMITH_RUNTIME_COMMAND_CHUNKS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/base/lifetime.h"

namespace packsmith::gpu {

// A part of one buffer. `words` is the CPU's view of the memory that the GPU has at `gpu`.
struct Chunk {
  uint64_t gpu = 0;            // a multiple of 8: command streamers fetch qwords
  absl::Span<uint32_t> words;  // may be write-combined: a batch hardly ever reads them
  uint32_t buffer = 0;         // the handle, as packsmith::address has it; not 0
};

// Where a batch gets memory from when it starts, and whenever a chunk is full. Chunks belong to the
// source, which must keep them at least until the batch is reset or destroyed.
class ChunkSource {
 public:
  virtual ~ChunkSource() = default;

  // A chunk that no batch uses, of at least `dwords`. Called once a chunk, so that the cost of a
  // virtual call does not matter. The batch reports its error.
  virtual absl::StatusOr<Chunk> NewChunk(size_t dwords) = 0;

  // The first `dwords` of a chunk have been written, and the GPU must see them: called when a batch
  // ends, and when its end is changed. The batch returns its error.
  virtual absl::Status Flush(const Chunk& chunk, size_t dwords) {
    (void)chunk, (void)dwords;
    return absl::OkStatus();
  }

  // The generation whose packets the memory is for, as Device::generation(). Empty: any.
  virtual std::string generation() const { return {}; }

  // For those that refer to this source.
  Lifetime& lifetime() const { return lifetime_; }

 private:
  mutable Lifetime lifetime_{"source of chunks"};
};

// Chunks of ordinary memory with made-up addresses, one after the other: for batches that are
// appended to others later, and for tests.
class HostChunks : public ChunkSource {
 public:
  struct Options {
    uint64_t gpu = 0x100000;      // of the first chunk, a multiple of 4096; others follow
    uint32_t first_buffer = 1;    // the first chunk's handle; others count up from it
    size_t chunk_dwords = 16384;  // of each chunk, unless more is requested
    size_t most_chunks = ~size_t{0};
  };

  HostChunks() = default;
  explicit HostChunks(const Options& options) : options_(options), next_gpu_(options.gpu) {}

  // ResourceExhausted when there are `most_chunks`.
  absl::StatusOr<Chunk> NewChunk(size_t dwords) override;

  // All chunks that were handed out, in order.
  absl::Span<const Chunk> chunks() const { return chunks_; }

 private:
  Options options_;
  uint64_t next_gpu_ = Options().gpu;
  std::vector<Chunk> chunks_;
  std::vector<std::unique_ptr<uint32_t[]>> memory_;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_COMMAND_CHUNKS_H_
