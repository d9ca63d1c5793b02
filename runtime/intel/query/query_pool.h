// The memory of queries: where each has its values, and what they mean. No packets: queries.h has
// those.
//
//   absl::StatusOr<QueryPool> pool = QueryPool::Create(
//       Gfx9::kFacts, {.kind = QueryKind::kOcclusion, .count = 16},
//       {.address = buffer.address, .buffer = buffer.handle, .cpu = buffer.cpu, .size =
//       buffer.size});
//   BeginQuery(batch, *pool, 3);   // queries.h
//   …
//   EndQuery(batch, *pool, 3);
//   …                              // when the job is done
//   uint64_t samples = 0;
//   absl::StatusOr<bool> done = pool->Read({.first = 3}, &samples, sizeof(samples));
//
// A query has a dword pair that says whether its result is available, then the value of each of its
// counters at the beginning and at the end. A result is computed from those when it is read, by the
// CPU or by the command streamer, both as described here.

#ifndef PACKSMITH_RUNTIME_INTEL_QUERY_QUERY_POOL_H_
#define PACKSMITH_RUNTIME_INTEL_QUERY_QUERY_POOL_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "packsmith/pack.h"
#include "runtime/intel/device/generation_facts.h"

namespace packsmith::intel {

enum class QueryKind : uint8_t {
  kOcclusion,            // samples that pass the depth and stencil tests
  kOcclusionBoolean,     // 1 if there are any, else 0
  kStatistics,           // QueryPoolOptions::statistics, in the order of Statistic
  kStreamOutput,         // primitives written by a stream, then primitives that it had to write
  kStreamOverflow,       // 1 if these two differ, else 0
  kPrimitivesGenerated,  // primitives that reach the clipper, or a stream other than 0
  kTimestamp,            // ticks
  kTimeElapsed,          // ticks between beginning and end
};

// Counters of the pipeline, in Vulkan's order (VkQueryPipelineStatisticFlagBits). Each counts only
// while its stage's packet has statistics enabled: 3DSTATE_VF_STATISTICS, 3DSTATE_VS, …
enum class Statistic : uint8_t {
  kInputVertices,
  kInputPrimitives,
  kVertexInvocations,
  kGeometryInvocations,
  kGeometryPrimitives,
  kClippingInvocations,
  kClippingPrimitives,
  kPixelInvocations,
  kHullInvocations,
  kDomainInvocations,
  kComputeInvocations,
};
inline constexpr unsigned kStatisticKinds = 11;
// A set of them, a bit each: the same bits as Vulkan's.
using StatisticSet = uint32_t;
constexpr StatisticSet SetOf(Statistic statistic) {
  return StatisticSet{1} << static_cast<unsigned>(statistic);
}
inline constexpr StatisticSet kAllStatistics = (StatisticSet{1} << kStatisticKinds) - 1;

inline constexpr unsigned kStreams = 4;  // of stream output

struct QueryPoolOptions {
  QueryKind kind = QueryKind::kOcclusion;
  uint32_t count = 1;           // queries
  StatisticSet statistics = 0;  // of kStatistics
  uint8_t stream = 0;           // of kStreamOutput, kStreamOverflow, kPrimitivesGenerated
};

// Memory that the pool's owner provides, and keeps as long as jobs use it.
struct QueryMemory {
  uint64_t address = 0;    // GPU address, a multiple of 8
  uint32_t buffer = 0;     // handle
  uint8_t* cpu = nullptr;  // null if the CPU does not read results
  uint64_t size = 0;       // bytes: at least QueryPool::BytesFor()
};

// Which results, and how they are written: as vkCmdCopyQueryPoolResults() does.
struct QueryResults {
  uint32_t first = 0, count = 1;
  // Bytes from one query's results to the next one's; 0: as many as they take.
  uint64_t stride = 0;
  bool wide = true;           // values have 8 bytes; otherwise 4: the lower half of each
  bool availability = false;  // after the results, a value of 1, or 0 if they are not available
  // Results that are not available are 0; otherwise the memory keeps its content.
  bool partial = false;
  // The GPU waits until all are available, which another engine may cause. They must become so.
  bool wait = false;
};

// When a timestamp is taken.
enum class TimestampAt : uint8_t {
  kStreamer,  // when the command streamer gets there, in two reads of 4 bytes
  kEnd,       // when all that was emitted before has reached the end of the pipeline
};

// Whether draws and dispatches are executed, by a value in memory or a query's (first) result.
struct PredicateOptions {
  bool inverted = false;  // draws are executed if the value is 0, instead of if it is not
  // Of queries: waits until the result is available. Otherwise draws are executed while it is not.
  bool wait = true;
};

// A plain value: copies refer to the same memory. Thread-safe, except that reads of results race
// with Reset() of the same queries.
class QueryPool {
 public:
  // The memory that such a pool needs, in bytes. Errors as Create()'s.
  static absl::StatusOr<uint64_t> BytesFor(const QueryPoolOptions& options);
  // facts: of the generation, Gen::kFacts. InvalidArgument for no queries, for kStatistics without
  // any or with unknown ones, for a stream of 4 or more, and for memory that is too small or not
  // aligned. What is in the memory is not changed: reset queries before their first use.
  static absl::StatusOr<QueryPool> Create(const GenerationFacts& facts,
                                          const QueryPoolOptions& options,
                                          const QueryMemory& memory);

  QueryKind kind() const { return options_.kind; }
  uint32_t count() const { return options_.count; }
  StatisticSet statistics() const { return options_.statistics; }
  uint8_t stream() const { return options_.stream; }
  unsigned counters() const { return counters_; }  // of a query
  unsigned results() const { return results_; }    // values that a query gives
  // Values are written by the 3D or GPGPU pipeline when it gets there, not by the streamer.
  bool pipelined() const {
    return options_.kind == QueryKind::kOcclusion ||
           options_.kind == QueryKind::kOcclusionBoolean ||
           options_.kind == QueryKind::kTimestamp || options_.kind == QueryKind::kTimeElapsed;
  }

  // Where a query's 8 bytes are: not 0 if the result is available.
  address availability(uint32_t query) const { return At(uint64_t{query} * stride()); }
  // Where a counter's 8 bytes at the beginning and at the end are. A timestamp has only `end`.
  address begin(uint32_t query, unsigned counter) const {
    return At(uint64_t{query} * stride() + 8 + 16 * uint64_t{counter});
  }
  address end(uint32_t query, unsigned counter) const {
    return At(uint64_t{query} * stride() + 16 + 16 * uint64_t{counter});
  }
  // 8 bytes that barriers overwrite.
  address scratch() const { return At(uint64_t{count()} * stride()); }
  uint64_t stride() const { return 8 + 16 * uint64_t{counters_}; }

  // How a result comes from its counters: the difference of end and beginning, shifted right, the
  // lower bits of it; with `differs` whether that of counter 0 is unlike that of counter 1 (of one
  // counter: unlike 0).
  unsigned shift(unsigned result) const;
  uint64_t mask() const { return mask_; }
  bool differs() const {
    return options_.kind == QueryKind::kOcclusionBoolean ||
           options_.kind == QueryKind::kStreamOverflow;
  }

  // OutOfRange unless these are queries of the pool; InvalidArgument for results with a stride that
  // is too small or not a multiple of a value, and for partial timestamps, which Vulkan excludes.
  absl::Status Check(uint32_t first, uint32_t count) const;
  absl::Status Check(const QueryResults& results) const;
  // The bytes that results take, without the gap after the last query's; valid after Check().
  uint64_t BytesOf(const QueryResults& results) const;
  uint64_t StrideOf(const QueryResults& results) const;

  // -- On the CPU -------------------------------------------------------------------------------
  // FailedPrecondition if it cannot see the memory; errors of Check(). Memory that is not coherent
  // must have been invalidated: Buffers::InvalidateForCpu().

  absl::StatusOr<bool> Available(uint32_t query) const;
  // Writes the results to `to`, which has `bytes` bytes. Returns whether all are available; those
  // that are not are left out, or are 0: QueryResults::partial. OutOfRange if there is too little
  // room; InvalidArgument for QueryResults::wait, since waiting is the device's: Device::Wait().
  absl::StatusOr<bool> Read(const QueryResults& results, void* to, size_t bytes) const;
  // Makes results unavailable. The GPU must be done with these queries.
  absl::Status Reset(uint32_t first, uint32_t count) const;

 private:
  QueryPool(const GenerationFacts& facts, const QueryPoolOptions& options,
            const QueryMemory& memory);

  address At(uint64_t offset) const { return {memory_.address + offset, memory_.buffer}; }
  uint64_t Load(uint64_t offset) const;
  uint64_t ResultOf(uint32_t query, unsigned result) const;

  QueryPoolOptions options_;
  QueryMemory memory_;
  unsigned counters_ = 0, results_ = 0;
  unsigned pixel_shift_ = 0;
  uint64_t mask_ = ~uint64_t{0};
};

// For messages: "an occlusion query".
const char* NameOf(QueryKind kind);

namespace query_errors {
absl::Status NotOfKind(QueryKind kind, const char* call);
absl::Status WrongEngine(QueryKind kind, const char* where);
}  // namespace query_errors

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_QUERY_QUERY_POOL_H_
