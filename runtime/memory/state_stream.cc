#include "runtime/memory/state_stream.h"

#include <bit>

#include "absl/strings/str_format.h"

namespace packsmith::gpu {

StateStream::~StateStream() {
  lifetime_.End();
  if (!pool_) return;
  for (const State& block : blocks_) (void)pool_->Free(block.offset);
  for (const State& block : large_) (void)pool_->Free(block.offset);
}

absl::StatusOr<State> StateStream::Allocate(uint64_t size, uint64_t alignment) {
  if (lifetime_.lost()) return lifetime_.status();
  if (size == 0 || !std::has_single_bit(alignment)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "0x%x bytes of state, aligned to 0x%x, which must be a power of two", size, alignment));
  }
  if (size > block_size_ || alignment > block_size_) {
    absl::StatusOr<State> state = pool_->Allocate(size, alignment);
    if (state.ok()) {
      large_.push_back(*state);
      used_ += state->size;
    }
    return state;
  }
  uint64_t at = (next_ + alignment - 1) & ~(alignment - 1);
  // Blocks are aligned to their size, so aligning offsets in a block aligns addresses.
  if (current_ == blocks_.size() || at > block_size_ - size) {
    const size_t next = current_ == blocks_.size() ? current_ : current_ + 1;
    if (next == blocks_.size()) {
      const absl::StatusOr<State> block = pool_->Allocate(block_size_);
      if (!block.ok()) return block;
      blocks_.push_back(*block);
    }
    if (next != current_) used_ += block_size_ - next_;
    current_ = next;
    next_ = at = 0;
  }
  used_ += at + size - next_;
  next_ = at + size;
  const State& block = blocks_[current_];
  return State{block.offset + static_cast<uint32_t>(at), block.address + at, size, block.cpu + at,
               block.buffer};
}

absl::Status StateStream::Flush() {
  if (lifetime_.lost()) return lifetime_.status();
  for (; flushed_large_ < large_.size(); ++flushed_large_) {
    const State& state = large_[flushed_large_];
    if (absl::Status status = pool_->Flush(state, state.size); !status.ok()) return status;
  }
  while (flushed_block_ < blocks_.size() && flushed_block_ <= current_) {
    const State& block = blocks_[flushed_block_];
    const uint64_t end = flushed_block_ == current_ ? next_ : block_size_;
    if (flushed_to_ < end) {
      const State rest{block.offset + static_cast<uint32_t>(flushed_to_),
                       block.address + flushed_to_, end - flushed_to_, block.cpu + flushed_to_,
                       block.buffer};
      if (absl::Status status = pool_->Flush(rest, rest.size); !status.ok()) return status;
      flushed_to_ = end;
    }
    if (flushed_block_ == current_) break;
    ++flushed_block_;
    flushed_to_ = 0;
  }
  return absl::OkStatus();
}

absl::Status StateStream::Rewind() {
  if (lifetime_.lost()) return lifetime_.status();
  flushed_block_ = flushed_large_ = 0;
  flushed_to_ = 0;
  absl::Status status;
  for (const State& block : large_) status.Update(pool_->Free(block.offset));
  large_.clear();
  current_ = 0;
  next_ = used_ = 0;
  return status;
}

}  // namespace packsmith::gpu
