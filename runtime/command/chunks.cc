#include "runtime/command/chunks.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"

namespace packsmith::gpu {

absl::StatusOr<Chunk> HostChunks::NewChunk(size_t dwords) {
  if (chunks_.size() >= options_.most_chunks) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("a chunk of %d dwords was requested, but all %d chunks are in use: submit "
                        "the batches, or allow more",
                        dwords, options_.most_chunks));
  }
  constexpr uint64_t kPage = 4096;
  const size_t count = std::max(dwords, options_.chunk_dwords);
  memory_.push_back(std::make_unique<uint32_t[]>(count));
  chunks_.push_back({next_gpu_, absl::MakeSpan(memory_.back().get(), count),
                     options_.first_buffer + static_cast<uint32_t>(chunks_.size())});
  next_gpu_ += (count * 4 + kPage - 1) / kPage * kPage;
  return chunks_.back();
}

}  // namespace packsmith::gpu
