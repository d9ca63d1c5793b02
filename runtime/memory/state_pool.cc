#include "runtime/memory/state_pool.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/strings/str_format.h"
#include "runtime/base/addresses.h"

namespace packsmith::gpu {
namespace {

constexpr uint64_t kPage = 4096;

}  // namespace

absl::StatusOr<std::unique_ptr<StatePool>> StatePool::Create(Buffers& buffers,
                                                             const AddressSpace& addresses,
                                                             const Options& options) {
  if (!std::has_single_bit(options.smallest) || !std::has_single_bit(options.first_block) ||
      !std::has_single_bit(options.largest_block) || options.smallest > options.first_block ||
      options.first_block > options.largest_block || options.first_block < kPage) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "pool \"%s\": states from 0x%x bytes, blocks from 0x%x to 0x%x; these must be ascending "
        "powers of two, and blocks whole pages",
        options.name, options.smallest, options.first_block, options.largest_block));
  }
  if (!CpuCanSee(options.heap)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("pool \"%s\": the CPU cannot see its heap", options.name));
  }
  if (const absl::Status status = addresses.CheckZone(options.zone); !status.ok()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("pool \"%s\": %s", options.name, status.message()));
  }
  const Zone& zone = addresses.zone(options.zone);
  const unsigned bits = addresses.address_bits();
  const std::optional<uint64_t> base =
      options.base.has_value() ? PlainIfAddress(*options.base, bits) : zone.begin;
  if (!base.has_value() || *base > zone.begin) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "pool \"%s\": its base, 0x%x, must be an address at or before the zone's first, 0x%x",
        options.name, *options.base, zone.begin));
  }
  const uint64_t end = std::min(zone.end - *base, options.end == 0 ? 4 * kGiB : options.end);
  const uint64_t begin = std::max(zone.begin - *base, options.begin);
  // Every block must be aligned to its size.
  const uint64_t mask = options.largest_block - 1;
  const uint64_t first = begin < end ? ((*base + begin + mask) & ~mask) - *base : end;
  if (options.end > 4 * kGiB || first >= end || end - first < options.first_block) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "pool \"%s\": between the offsets 0x%x and 0x%x from 0x%x, zone \"%s\" has no block of "
        "0x%x "
        "bytes that begins at a multiple of 0x%x; offsets are less than 4 GiB",
        options.name, begin, end, *base, zone.name, options.first_block, options.largest_block));
  }
  return std::unique_ptr<StatePool>(new StatePool(
      buffers, options, *base, first, (end - first) & ~(options.first_block - 1), bits));
}

StatePool::StatePool(Buffers& buffers, const Options& options, uint64_t base, uint64_t first,
                     uint64_t room, unsigned address_bits)
    : buffers_(buffers, lifetime_),
      options_(options),
      base_(Canonical(base, address_bits)),
      first_(first),
      room_(room),
      address_bits_(address_bits),
      smallest_shift_(std::countr_zero(options.smallest)),
      orders_(std::countr_zero(options.largest_block) - smallest_shift_ + 1),
      free_(orders_) {}

StatePool::~StatePool() {
  lifetime_.End();
  if (!buffers_) return;
  MutexLock lock(mutex_);
  (void)ReleaseFrom(0);
}

unsigned StatePool::OrderOf(uint64_t size) const {
  return std::bit_width((std::max(size, options_.smallest) - 1) >> smallest_shift_);
}

const StatePool::Block& StatePool::BlockOf(uint64_t position) const {
  return *std::prev(
      std::upper_bound(blocks_.begin(), blocks_.end(), position,
                       [](uint64_t at, const Block& block) { return at < block.begin; }));
}

absl::Status StatePool::ReleaseFrom(size_t first) {
  std::vector<BufferHandle> handles;
  for (size_t i = first; i < blocks_.size(); ++i) handles.push_back(blocks_[i].buffer.handle);
  return handles.empty() ? absl::OkStatus() : buffers_->ReleaseAll(handles);
}

// The next block is as large as all before it together, limited by the largest size and the room,
// so it begins at a multiple of its size. For a state that needs more, several blocks are added,
// all or none, and the state is in the last one.
absl::Status StatePool::Grow(uint64_t at_least) {
  std::vector<BufferOptions> wanted;
  uint64_t size, end = end_;
  do {
    size = end == 0 ? options_.first_block : std::min(end & (~end + 1), options_.largest_block);
    const uint64_t most = size;
    while (size > room_ - end && size >= options_.first_block) size /= 2;
    if (size < options_.first_block || (size < most && size < at_least)) {
      return absl::ResourceExhaustedError(absl::StrFormat(
          "pool \"%s\" has no room for a block with 0x%x bytes: 0x%x of 0x%x bytes are taken, 0x%x "
          "by live states; free states, or use a larger zone",
          options_.name, at_least, end, room_, statistics_.live_bytes));
    }
    wanted.push_back(
        {.size = size,
         .zone = options_.zone,
         .name = options_.name,
         .heap = options_.heap,
         .address = Canonical(Plain(base_, address_bits_) + first_ + end, address_bits_),
         .dedicated = true});
    end += size;
  } while (size < at_least);
  const absl::StatusOr<std::vector<Buffer>> buffers = buffers_->CreateAll(wanted);
  if (!buffers.ok()) return buffers.status();
  for (size_t i = 0; i < wanted.size(); ++i) {
    const uint64_t bytes = wanted[i].size;
    blocks_.push_back({end_, bytes, (*buffers)[i]});
    end_ += bytes;
    for (unsigned order = 0; order < orders_; ++order) {
      free_[order].Grow(end_ >> (smallest_shift_ + order));
    }
    order_.resize(end_ >> smallest_shift_);
    const unsigned order = OrderOf(bytes);
    free_[order].Insert((end_ - bytes) >> (smallest_shift_ + order));
    statistics_.memory_bytes += bytes;
    ++statistics_.blocks;
  }
  return absl::OkStatus();
}

absl::StatusOr<State> StatePool::Allocate(uint64_t size, uint64_t alignment) {
  if (lifetime_.lost()) return lifetime_.status();
  if (size == 0 || !std::has_single_bit(alignment) ||
      std::max(size, alignment) > options_.largest_block) {
    return absl::InvalidArgumentError(
        absl::StrFormat("pool \"%s\": a state of 0x%x bytes, aligned to 0x%x; states must have 1 "
                        "to 0x%x bytes, and "
                        "alignments be powers of two",
                        options_.name, size, alignment, options_.largest_block));
  }
  const unsigned order = OrderOf(std::max(size, alignment));
  MutexLock lock(mutex_);
  unsigned from = order;
  std::optional<size_t> found;
  // At most twice: after growing there is a free one.
  while (true) {
    for (from = order; from < orders_ && !(found = free_[from].Least()).has_value();) ++from;
    if (found.has_value()) break;
    const absl::Status status = Grow(uint64_t{1} << (smallest_shift_ + order));
    if (!status.ok()) return status;
  }
  free_[from].Erase(*found);
  // The lower half is used, the upper one becomes free, down to the size that is needed.
  size_t number = *found;
  while (from > order) {
    --from;
    number *= 2;
    free_[from].Insert(number + 1);
  }
  const uint64_t position = uint64_t{number} << (smallest_shift_ + order);
  const uint64_t bytes = uint64_t{1} << (smallest_shift_ + order);
  order_[position >> smallest_shift_] = order + 1;
  ++statistics_.live_states;
  statistics_.live_bytes += bytes;
  const Block& block = BlockOf(position);
  const uint64_t within = position - block.begin;
  return State{static_cast<uint32_t>(first_ + position), block.buffer.address + within, bytes,
               block.buffer.cpu + within, block.buffer.handle};
}

absl::Status StatePool::Free(uint32_t offset) {
  if (lifetime_.lost()) return lifetime_.status();
  MutexLock lock(mutex_);
  uint64_t position = offset - first_;
  if (offset < first_ || position >= end_ || position % options_.smallest != 0 ||
      order_[position >> smallest_shift_] == 0) {
    return absl::NotFoundError(absl::StrFormat(
        "pool \"%s\": no state begins at offset 0x%x; it was freed before, or never allocated",
        options_.name, offset));
  }
  unsigned order = order_[position >> smallest_shift_] - 1;
  order_[position >> smallest_shift_] = 0;
  --statistics_.live_states;
  statistics_.live_bytes -= uint64_t{1} << (smallest_shift_ + order);
  // Up to the whole block: adjacent blocks are separate memory.
  const unsigned whole = OrderOf(BlockOf(position).size);
  size_t number = position >> (smallest_shift_ + order);
  while (order < whole && free_[order].Contains(number ^ 1)) {
    free_[order].Erase(number ^ 1);
    number /= 2;
    ++order;
  }
  free_[order].Insert(number);
  return absl::OkStatus();
}

absl::Status StatePool::Flush(const State& state, uint64_t size) const {
  if (lifetime_.lost()) return lifetime_.status();
  if (!buffers_->NeedsFlush(options_.heap)) return absl::OkStatus();
  Buffer buffer;
  {
    MutexLock lock(mutex_);
    const uint64_t position = state.offset - first_;
    if (state.offset < first_ || position >= end_) {
      return absl::OutOfRangeError(
          absl::StrFormat("pool \"%s\" has no state at offset 0x%x", options_.name, state.offset));
    }
    buffer = BlockOf(position).buffer;
  }
  return buffers_->FlushForGpu(buffer.handle, state.address - buffer.address, size);
}

absl::Status StatePool::Trim() {
  if (lifetime_.lost()) return lifetime_.status();
  MutexLock lock(mutex_);
  size_t left = blocks_.size();
  for (; left != 0; --left) {
    const Block& last = blocks_[left - 1];
    const unsigned order = OrderOf(last.size);
    const size_t number = last.begin >> (smallest_shift_ + order);
    if (!free_[order].Contains(number)) break;
    free_[order].Erase(number);
    end_ = last.begin;
    statistics_.memory_bytes -= last.size;
    --statistics_.blocks;
  }
  // The buffers are gone even if the device reports an error.
  absl::Status status = ReleaseFrom(left);
  blocks_.resize(left);
  return status;
}

StatePoolStatistics StatePool::statistics() const {
  MutexLock lock(mutex_);
  return statistics_;
}

absl::Status StatePool::Verify() const {
  MutexLock lock(mutex_);
  // Free and live states together, in order, must make up each block.
  uint64_t position = 0, live = 0;
  for (const Block& block : blocks_) {
    if (block.begin != position) return absl::InternalError("blocks do not follow each other");
    while (position < block.begin + block.size) {
      if (const uint8_t state = order_[position >> smallest_shift_]; state != 0) {
        position += uint64_t{1} << (smallest_shift_ + state - 1);
        ++live;
        continue;
      }
      unsigned order = 0;
      while (order < orders_ && (position % (uint64_t{1} << (smallest_shift_ + order)) != 0 ||
                                 !free_[order].Contains(position >> (smallest_shift_ + order)))) {
        ++order;
      }
      if (order == orders_) {
        return absl::InternalError(
            absl::StrFormat("what begins at 0x%x is neither free nor live", position));
      }
      const size_t number = position >> (smallest_shift_ + order);
      if (order < OrderOf(block.size) && free_[order].Contains(number ^ 1)) {
        return absl::InternalError(absl::StrFormat("free halves at 0x%x are not merged", position));
      }
      position += uint64_t{1} << (smallest_shift_ + order);
    }
    if (position != block.begin + block.size) {
      return absl::InternalError(
          absl::StrFormat("a state crosses the end of the block at 0x%x", block.begin));
    }
  }
  return position == end_ && live == statistics_.live_states
             ? absl::OkStatus()
             : absl::InternalError("the counts are wrong");
}

}  // namespace packsmith::gpu
