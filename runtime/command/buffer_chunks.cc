#include "runtime/command/buffer_chunks.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace packsmith::gpu {

BufferChunks::~BufferChunks() {
  // Before the memory that batches write to is reused.
  lifetime().End();
  if (buffers_) (void)Release();
}

absl::StatusOr<Chunk> BufferChunks::NewChunk(size_t dwords) {
  if (lifetime().lost()) return lifetime().status();
  if (handles_.size() >= options_.most_chunks) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "all %d chunks are in use: submit the batches, or allow more", options_.most_chunks));
  }
  const uint64_t grown = std::min(bytes_, options_.largest_chunk_bytes);
  const uint64_t bytes = std::max({options_.chunk_bytes, grown, uint64_t{dwords} * 4});
  absl::StatusOr<Buffer> buffer = buffers_->Create({.size = bytes,
                                                    .zone = options_.zone,
                                                    .name = options_.name,
                                                    .heap = options_.heap,
                                                    .alignment = 64});
  if (!buffer.ok()) return buffer.status();
  if (buffer->cpu == nullptr) {
    absl::Status status = buffers_->Release(buffer->handle);
    if (!status.ok()) return status;
    return absl::FailedPreconditionError("the heap of a batch must be one that the CPU can see");
  }
  handles_.push_back(buffer->handle);
  bytes_ += buffer->size;
  return Chunk{buffer->address,
               absl::MakeSpan(reinterpret_cast<uint32_t*>(buffer->cpu), buffer->size / 4),
               buffer->handle};
}

absl::Status BufferChunks::Flush(const Chunk& chunk, size_t dwords) {
  if (lifetime().lost()) return lifetime().status();
  if (!buffers_->NeedsFlush(options_.heap)) return absl::OkStatus();
  return buffers_->FlushForGpu(chunk.buffer, 0, uint64_t{dwords} * 4);
}

absl::Status BufferChunks::Release() {
  absl::Status status = lifetime().status();
  if (!status.ok()) return status;
  status = buffers_->ReleaseAll(handles_);
  handles_.clear();
  bytes_ = 0;
  return status;
}

}  // namespace packsmith::gpu
