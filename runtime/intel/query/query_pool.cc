#include "runtime/intel/query/query_pool.h"

#include <bit>
#include <cstring>
#include <limits>

#include "absl/strings/str_format.h"

namespace packsmith::intel {
namespace {

unsigned CountersOf(const QueryPoolOptions& options) {
  switch (options.kind) {
    case QueryKind::kStatistics:
      return static_cast<unsigned>(std::popcount(options.statistics));
    case QueryKind::kStreamOutput:
    case QueryKind::kStreamOverflow:
      return 2;
    default:
      return 1;
  }
}

absl::Status CheckOptions(const QueryPoolOptions& options) {
  if (options.count == 0) {
    return absl::InvalidArgumentError("a query pool must have at least 1 query");
  }
  if (options.kind == QueryKind::kStatistics &&
      (options.statistics == 0 || (options.statistics & ~kAllStatistics) != 0)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "pipeline statistics 0x%x: they must be some of 0x%x", options.statistics, kAllStatistics));
  }
  if (options.stream >= kStreams) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "stream %d of stream output; there are streams 0 to %d", options.stream, kStreams - 1));
  }
  return absl::OkStatus();
}

uint64_t BytesOfPool(const QueryPoolOptions& options) {
  return options.count * (8 + 16 * uint64_t{CountersOf(options)}) + 8;
}

}  // namespace

namespace query_errors {

absl::Status NotOfKind(QueryKind kind, const char* call) {
  return absl::InvalidArgumentError(
      absl::StrFormat("%s is not for a pool of this kind: %s", call, NameOf(kind)));
}

absl::Status WrongEngine(QueryKind kind, const char* where) {
  return absl::FailedPreconditionError(
      absl::StrFormat("%s needs %s, which this batch is not in", NameOf(kind), where));
}

}  // namespace query_errors

const char* NameOf(QueryKind kind) {
  switch (kind) {
    case QueryKind::kOcclusion:
    case QueryKind::kOcclusionBoolean:
      return "an occlusion query";
    case QueryKind::kStatistics:
      return "a query of pipeline statistics";
    case QueryKind::kStreamOutput:
    case QueryKind::kStreamOverflow:
      return "a query of stream output";
    case QueryKind::kPrimitivesGenerated:
      return "a query of primitives";
    case QueryKind::kTimestamp:
      return "a timestamp";
    case QueryKind::kTimeElapsed:
      return "a query of elapsed time";
  }
  return "a query";
}

absl::StatusOr<uint64_t> QueryPool::BytesFor(const QueryPoolOptions& options) {
  if (absl::Status status = CheckOptions(options); !status.ok()) return status;
  return BytesOfPool(options);
}

absl::StatusOr<QueryPool> QueryPool::Create(const GenerationFacts& facts,
                                            const QueryPoolOptions& options,
                                            const QueryMemory& memory) {
  if (absl::Status status = CheckOptions(options); !status.ok()) return status;
  if (memory.address % 8 != 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("queries at address 0x%x; it must be a multiple of 8", memory.address));
  }
  if (const uint64_t needed = BytesOfPool(options); memory.size < needed) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%d queries in %d bytes of memory; they need %d: QueryPool::BytesFor()",
                        options.count, memory.size, needed));
  }
  return QueryPool(facts, options, memory);
}

QueryPool::QueryPool(const GenerationFacts& facts, const QueryPoolOptions& options,
                     const QueryMemory& memory)
    : options_(options), memory_(memory), counters_(CountersOf(options)) {
  results_ = options.kind == QueryKind::kStreamOverflow ? 1 : counters_;
  if (facts.pixel_invocations_count_fourfold) pixel_shift_ = 2;
  const bool time =
      options.kind == QueryKind::kTimestamp || options.kind == QueryKind::kTimeElapsed;
  if (time && facts.timestamp_bits < 64) mask_ = (uint64_t{1} << facts.timestamp_bits) - 1;
}

unsigned QueryPool::shift(unsigned result) const {
  if (options_.kind != QueryKind::kStatistics || pixel_shift_ == 0) return 0;
  constexpr StatisticSet kPixel = SetOf(Statistic::kPixelInvocations);
  const StatisticSet before = options_.statistics & (kPixel - 1);
  const bool is_pixel =
      (options_.statistics & kPixel) != 0 && result == static_cast<unsigned>(std::popcount(before));
  return is_pixel ? pixel_shift_ : 0;
}

absl::Status QueryPool::Check(uint32_t first, uint32_t count) const {
  if (first <= options_.count && count <= options_.count - first) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrFormat("queries %d to %d of a pool of %d", first,
                                               uint64_t{first} + count - 1, options_.count));
}

uint64_t QueryPool::StrideOf(const QueryResults& results) const {
  const uint64_t taken = (results_ + (results.availability ? 1 : 0)) * (results.wide ? 8 : 4);
  return results.stride == 0 ? taken : results.stride;
}

uint64_t QueryPool::BytesOf(const QueryResults& results) const {
  if (results.count == 0) return 0;
  const uint64_t taken = (results_ + (results.availability ? 1 : 0)) * (results.wide ? 8 : 4);
  return (results.count - 1) * StrideOf(results) + taken;
}

absl::Status QueryPool::Check(const QueryResults& results) const {
  if (absl::Status status = Check(results.first, results.count); !status.ok()) return status;
  const uint64_t value = results.wide ? 8 : 4;
  const uint64_t taken = (results_ + (results.availability ? 1 : 0)) * value;
  const uint64_t stride = StrideOf(results);
  constexpr uint64_t kMostStride = std::numeric_limits<uint32_t>::max();
  if (stride % value != 0 || stride > kMostStride || (results.count > 1 && stride < taken)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "results of queries at a stride of %d bytes; it must be a multiple of %d, at least the %d "
        "that they take, and at most %d",
        stride, value, taken, kMostStride));
  }
  if (results.partial && options_.kind == QueryKind::kTimestamp) {
    return absl::InvalidArgumentError("a timestamp has no partial result");
  }
  return absl::OkStatus();
}

uint64_t QueryPool::Load(uint64_t offset) const {
  // The GPU may be writing: one access, and those after it are not read before it.
  return __atomic_load_n(reinterpret_cast<const uint64_t*>(memory_.cpu + offset), __ATOMIC_ACQUIRE);
}

uint64_t QueryPool::ResultOf(uint32_t query, unsigned result) const {
  const uint64_t at = query * stride() + 8;
  const auto difference = [&](unsigned counter) {
    return Load(at + 16 * counter + 8) - Load(at + 16 * counter);
  };
  if (options_.kind == QueryKind::kTimestamp) return Load(at + 8) & mask_;
  if (differs()) return difference(0) != (counters_ == 2 ? difference(1) : 0) ? 1 : 0;
  return (difference(result) & mask_) >> shift(result);
}

namespace {

absl::Status NoCpu() {
  return absl::FailedPreconditionError(
      "the CPU cannot see the memory of these queries: use a heap that it can access");
}

}  // namespace

absl::StatusOr<bool> QueryPool::Available(uint32_t query) const {
  if (memory_.cpu == nullptr) return NoCpu();
  if (absl::Status status = Check(query, 1); !status.ok()) return status;
  return Load(query * stride()) != 0;
}

absl::StatusOr<bool> QueryPool::Read(const QueryResults& results, void* to, size_t bytes) const {
  if (memory_.cpu == nullptr) return NoCpu();
  if (absl::Status status = Check(results); !status.ok()) return status;
  if (results.wait) {
    return absl::InvalidArgumentError(
        "reading results does not wait: wait for the job first, with Device::Wait()");
  }
  if (const uint64_t needed = BytesOf(results); bytes < needed) {
    return absl::OutOfRangeError(absl::StrFormat("results of %d queries in %d bytes; they take %d",
                                                 results.count, bytes, needed));
  }
  auto* row = static_cast<uint8_t*>(to);
  bool all = true;
  for (uint32_t i = 0; i < results.count; ++i) {
    const uint32_t query = results.first + i;
    const bool available = Load(query * stride()) != 0;
    all &= available;
    uint8_t* at = row + i * StrideOf(results);
    const auto write = [&](uint64_t value, bool keeps) {
      const auto low = static_cast<uint32_t>(value);
      const size_t size = results.wide ? 8 : 4;
      if (!keeps && results.wide) std::memcpy(at, &value, 8);
      if (!keeps && !results.wide) std::memcpy(at, &low, 4);
      at += size;
    };
    for (unsigned result = 0; result < results_; ++result) {
      write(available ? ResultOf(query, result) : 0, !available && !results.partial);
    }
    if (results.availability) write(available ? 1 : 0, false);
  }
  return all;
}

absl::Status QueryPool::Reset(uint32_t first, uint32_t count) const {
  if (memory_.cpu == nullptr) return NoCpu();
  if (absl::Status status = Check(first, count); !status.ok()) return status;
  for (uint32_t i = 0; i < count; ++i) {
    __atomic_store_n(reinterpret_cast<uint64_t*>(memory_.cpu + (first + i) * stride()), 0,
                     __ATOMIC_RELEASE);
  }
  return absl::OkStatus();
}

}  // namespace packsmith::intel
