// Queries of a command buffer, draws and dispatches that are executed on a condition, and
// performance counters (perf_queries.h).
//
//   absl::StatusOr<Queries> samples = context.NewQueries({.kind = QueryKind::kOcclusion,
//                                                         .count = 16});
//   commands.queries().Reset(samples->pool, 0, 16);
//   commands.queries().Begin(samples->pool, 3);
//   commands.Draw({.vertices = 3});
//   commands.queries().End(samples->pool, 3);
//   commands.queries().SetCondition(samples->pool, 3);  // the next draws, if it was seen
//   …
//   commands.queries().EndCondition();
//   …                                                   // when the job is done
//   absl::StatusOr<bool> done = samples->pool.Read({.first = 3}, &count, sizeof(count));
//
// Errors are those of command buffers: a call that cannot be recorded returns false, and the
// command buffer keeps the first error.

#ifndef PACKSMITH_RUNTIME_INTEL_DRIVER_QUERY_RECORDER_H_
#define PACKSMITH_RUNTIME_INTEL_DRIVER_QUERY_RECORDER_H_

#include <cstdint>

#include "packsmith/pack.h"
#include "runtime/intel/driver/perf_queries.h"
#include "runtime/intel/query/query_pool.h"
#include "runtime/memory/buffers.h"

namespace packsmith::intel {

// Queries with memory of their own: Context::NewQueries(). Released as its `memory`.
struct Queries {
  QueryPool pool;
  gpu::Buffer memory;
};

// Pools may be of any memory, which their owner keeps as long as jobs use it.
class QueryRecorder {
 public:
  QueryRecorder(const QueryRecorder&) = delete;
  QueryRecorder& operator=(const QueryRecorder&) = delete;

  // Makes results unavailable: before the first use of queries, and before each further one.
  virtual bool Reset(const QueryPool& pool, uint32_t first, uint32_t count) = 0;
  // Counts from here on until End(), which may be in another command buffer. Samples are counted on
  // the render engine; compute engines count elapsed time and invocations of compute shaders, copy
  // engines elapsed time: others are FailedPrecondition.
  virtual bool Begin(const QueryPool& pool, uint32_t query) = 0;
  virtual bool End(const QueryPool& pool, uint32_t query) = 0;
  // Of a pool of timestamps, on any engine.
  virtual bool WriteTimestamp(const QueryPool& pool, uint32_t query,
                              TimestampAt when = TimestampAt::kEnd) = 0;
  // Writes results to memory, as QueryPool::Read() does, for what follows: `to` is a multiple of 4.
  // Not on the copy engine.
  virtual bool Copy(const QueryPool& pool, const QueryResults& results, const address& to) = 0;

  // Performance counters: what they counted between the two, in one pass of the work. On the render
  // engine, from Gfx12.5 on also on compute engines; otherwise FailedPrecondition. Reset() before
  // each use after the first one.
  virtual bool Reset(const PerfQueries& queries, uint32_t first, uint32_t count,
                     uint32_t pass = 0) = 0;
  virtual bool Begin(const PerfQueries& queries, uint32_t query, uint32_t pass = 0) = 0;
  virtual bool End(const PerfQueries& queries, uint32_t query, uint32_t pass = 0) = 0;

  // Draws and dispatches after this are executed only if a query's (first) result, or the 4 bytes
  // at `value`, are not 0; or, inverted, if they are. Until EndCondition(), or another condition.
  // A secondary command buffer neither takes nor may change it: Execute() refuses to be called
  // between. Not on the copy engine.
  virtual bool SetCondition(const QueryPool& pool, uint32_t query,
                            const PredicateOptions& options = {}) = 0;
  virtual bool SetCondition(const address& value, const PredicateOptions& options = {}) = 0;
  virtual bool EndCondition() = 0;

 protected:
  QueryRecorder() = default;
  ~QueryRecorder() = default;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DRIVER_QUERY_RECORDER_H_
