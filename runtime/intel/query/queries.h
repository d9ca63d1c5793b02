// Queries in batches: their beginnings and ends, timestamps, results, and predicates made of them.
//
//   ResetQueries(batch, pool, 0, 16);
//   BeginQuery(batch, pool, 3);
//   …                                         // draws
//   EndQuery(batch, pool, 3);
//   CopyQueryResults(batch, pool, {.first = 3, .wait = true}, {results.address, results.handle});
//   SetQueryPredicate(batch, pool, 3);        // for draws with `predicate_enable`
//
// Each returns false, and emits nothing of what it describes, if the batch has refused something:
// its status() says what. Sources: PRMs, volume "Command Reference: Instructions", PIPE_CONTROL;
// what Mesa's iris and anv do where the manuals say nothing.

#ifndef PACKSMITH_RUNTIME_INTEL_QUERY_QUERIES_H_
#define PACKSMITH_RUNTIME_INTEL_QUERY_QUERIES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "packsmith/pack.h"
#include "runtime/intel/batch/arithmetic.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/cache_rules.h"
#include "runtime/intel/batch/cache_tracker.h"
#include "runtime/intel/batch/engines.h"
#include "runtime/intel/batch/pipeline_select.h"
#include "runtime/intel/batch/stores.h"
#include "runtime/intel/query/query_pool.h"

namespace packsmith::intel {

// What a batch runs on.
struct QueryEngine {
  EngineKind kind = EngineKind::kRender;
  Pipeline pipeline = Pipeline::k3D;  // the selected one
  // RenderDevice::query_writes_need_stall, of runtime/intel/device.
  bool writes_need_stall = false;
  // For results and predicates: at least 6 registers. Its `engine_offset` is also that of registers
  // that are stored: timestamps and counts.
  ArithmeticOptions arithmetic = {};
};

// Makes results unavailable, before the first use of queries and before each further one. Waits for
// what still writes to them.
template <class Gen>
bool ResetQueries(Batch<Gen>& batch, const QueryPool& pool, uint32_t first, uint32_t count,
                  const QueryEngine& engine = {});

// Counts from here on, until EndQuery() in the same batch or a later one of the context. Refused:
// OutOfRange for a query that the pool does not have; InvalidArgument for a pool of timestamps;
// FailedPrecondition for samples outside the 3D pipeline, on compute engines for all but elapsed
// time and compute shaders' invocations, and on copy and video engines for all but elapsed time.
template <class Gen>
bool BeginQuery(Batch<Gen>& batch, const QueryPool& pool, uint32_t query,
                const QueryEngine& engine = {});
// The result becomes available when all that was counted is done.
template <class Gen>
bool EndQuery(Batch<Gen>& batch, const QueryPool& pool, uint32_t query,
              const QueryEngine& engine = {});
// For a pool of timestamps, on any engine; otherwise InvalidArgument.
template <class Gen>
bool WriteTimestamp(Batch<Gen>& batch, const QueryPool& pool, uint32_t query,
                    TimestampAt when = TimestampAt::kEnd, const QueryEngine& engine = {});
// Makes results of 0 available: of further views of a multiview draw, whose first query counts all.
template <class Gen>
bool ZeroQueries(Batch<Gen>& batch, const QueryPool& pool, uint32_t first, uint32_t count,
                 const QueryEngine& engine = {});

// Writes results to memory, as QueryPool::Read() does: `to` is a multiple of 4. Errors of
// QueryPool::Check(); FailedPrecondition on copy and video engines. The command streamer stores
// them: for a CacheTracker this is CacheDomain::kOtherWrite. Predicates are not changed.
template <class Gen>
bool CopyQueryResults(Batch<Gen>& batch, const QueryPool& pool, const QueryResults& results,
                      const address& to, const QueryEngine& engine = {});

// Sets the predicate of draws and dispatches to whether a query's (first) result is not 0, or
// whether the 4 bytes at `value` are not. It stays until it is set again, which StoreIf32() and
// If() of Arithmetic do, too.
template <class Gen>
bool SetQueryPredicate(Batch<Gen>& batch, const QueryPool& pool, uint32_t query,
                       const PredicateOptions& options = {}, const QueryEngine& engine = {});
template <class Gen>
bool SetMemoryPredicate(Batch<Gen>& batch, const address& value,
                        const PredicateOptions& options = {}, const QueryEngine& engine = {});

// -- Implementation -----------------------------------------------------------------------------

// The parts of the functions above.
template <class Gen>
class QueryCommands {
  using G = typename Gen::Packets;
  using Pipe = typename Gen::PipeControl;
  using Math = Arithmetic<Gen>;
  using Value = typename Math::Value;

 public:
  QueryCommands(Batch<Gen>& batch, const QueryPool& pool, const QueryEngine& engine)
      : batch_(batch), pool_(pool), engine_(engine) {}

  bool Reset(uint32_t first, uint32_t count) {
    if (absl::Status status = pool_.Check(first, count); !status.ok()) return batch_.Refuse(status);
    if (pool_.pipelined() && !Drain()) return false;
    for (uint32_t i = 0; i < count; ++i) {
      if (!Store64(pool_.availability(first + i), 0)) return false;
    }
    // What is written by others from now on must not be overtaken.
    return WaitForStores<Gen>::Emit(batch_);
  }

  bool Zero(uint32_t first, uint32_t count) {
    if (absl::Status status = pool_.Check(first, count); !status.ok()) return batch_.Refuse(status);
    for (uint32_t i = 0; i < count; ++i) {
      for (unsigned counter = 0; counter < pool_.counters(); ++counter) {
        if (!Store64(pool_.begin(first + i, counter), 0) ||
            !Store64(pool_.end(first + i, counter), 0)) {
          return false;
        }
      }
      if (!Store64(pool_.availability(first + i), 1)) return false;
    }
    return true;
  }

  bool Snapshot(uint32_t query, bool end) {
    if (!CanCount(query)) return false;
    const auto at = [&](unsigned counter) {
      return end ? pool_.end(query, counter) : pool_.begin(query, counter);
    };
    switch (pool_.kind()) {
      case QueryKind::kOcclusion:
      case QueryKind::kOcclusionBoolean: {
        if (Gen::kFacts.depth_count_needs_stall_before &&
            !batch_.Emit(Pipe{.depth_stall_enable = true})) {
          return false;
        }
        return batch_.Emit(Pipe{
                   .depth_stall_enable = true,
                   .post_sync_operation = Pipe::POST_SYNC_OPERATION_WRITE_PS_DEPTH_COUNT,
                   .command_streamer_stall_enable = engine_.writes_need_stall,
                   .address = at(0),
               }) &&
               (!end || PublishAtEnd(query));
      }
      case QueryKind::kTimeElapsed:
        return StampAtEnd(at(0)) && (!end || PublishAtEnd(query));
      default:
        break;
    }
    // The streamer stores registers when it gets there: all that they count must be done.
    if (!StallForRegisters()) return false;
    const std::array<uint32_t, kStatisticKinds> registers = Registers();
    for (unsigned counter = 0; counter < pool_.counters(); ++counter) {
      if (!StoreRegister(at(counter), registers[counter])) return false;
    }
    if (!end) return true;
    if (Gen::kFacts.stream_counts_need_stall && pool_.kind() == QueryKind::kStreamOutput &&
        !batch_.Emit(Pipe{.command_streamer_stall_enable = true})) {
      return false;
    }
    return Store64(pool_.availability(query), 1);
  }

  bool Stamp(uint32_t query, TimestampAt when) {
    if (absl::Status status = pool_.Check(query, 1); !status.ok()) return batch_.Refuse(status);
    if (pool_.kind() != QueryKind::kTimestamp) {
      return batch_.Refuse(query_errors::NotOfKind(pool_.kind(), "WriteTimestamp()"));
    }
    if (when == TimestampAt::kEnd) {
      return StampAtEnd(pool_.end(query, 0)) && PublishAtEnd(query);
    }
    return StoreRegister(pool_.end(query, 0), G::TIMESTAMP::register_offset) &&
           Store64(pool_.availability(query), 1);
  }

  bool Copy(const QueryResults& results, const address& to) {
    if (absl::Status status = pool_.Check(results); !status.ok()) return batch_.Refuse(status);
    if (!CanCompute("reads results") || !Drain()) return false;
    Math math(batch_, engine_.arithmetic);
    const uint64_t stride = pool_.StrideOf(results);
    for (uint32_t i = 0; i < results.count; ++i) {
      const uint32_t query = results.first + i;
      if (results.wait && !EmitWait(batch_, pool_.availability(query), 1)) return false;
      address at(to.gpu + i * stride, to.buffer, to.use);
      if (!CopyOne(math, results, query, at)) return false;
    }
    return true;
  }

  bool Predicate(uint32_t query, const PredicateOptions& options) {
    if (absl::Status status = pool_.Check(query, 1); !status.ok()) return batch_.Refuse(status);
    if (!CanCompute("sets predicates") || !Drain()) return false;
    if (options.wait && !EmitWait(batch_, pool_.availability(query), 1)) return false;
    Math math(batch_, engine_.arithmetic);
    auto holds = math.NonZero(ResultOf(math, query, 0));
    if (options.inverted) holds = !std::move(holds);
    if (!options.wait) {
      holds =
          std::move(holds) || math.Equal(math.Load32(pool_.availability(query)), math.Constant(0));
    }
    return math.SetPredicate(holds);
  }

 private:
  bool on_pipeline() const {
    return engine_.kind == EngineKind::kRender || engine_.kind == EngineKind::kCompute;
  }
  bool in_3d() const {
    return engine_.kind == EngineKind::kRender && engine_.pipeline == Pipeline::k3D;
  }
  Pipeline pipeline() const {
    return engine_.kind == EngineKind::kCompute ? Pipeline::kGpgpu : engine_.pipeline;
  }

  bool CanCompute(const char* what) {
    return on_pipeline() || batch_.Refuse(absl::FailedPreconditionError(absl::StrFormat(
                                "a batch of a copy or video engine %s of queries; the render and "
                                "compute engines can",
                                what)));
  }
  // Compute engines have no 3D pipeline, whose stages the other registers count.
  bool CountsOnEngine() const {
    if (engine_.kind != EngineKind::kCompute) return on_pipeline();
    return pool_.kind() == QueryKind::kStatistics &&
           pool_.statistics() == SetOf(Statistic::kComputeInvocations);
  }
  bool CanCount(uint32_t query) {
    const QueryKind kind = pool_.kind();
    if (absl::Status status = pool_.Check(query, 1); !status.ok()) return batch_.Refuse(status);
    if (kind == QueryKind::kTimestamp) {
      return batch_.Refuse(query_errors::NotOfKind(kind, "BeginQuery() and EndQuery()"));
    }
    if (kind != QueryKind::kTimeElapsed && !CountsOnEngine()) {
      return batch_.Refuse(query_errors::WrongEngine(kind, "the render engine"));
    }
    const bool samples = kind == QueryKind::kOcclusion || kind == QueryKind::kOcclusionBoolean;
    if (samples && !in_3d()) {
      return batch_.Refuse(query_errors::WrongEngine(kind, "the 3D pipeline"));
    }
    return true;
  }

  // Waits until all writes of the pipeline, which the streamer does not wait for, are in memory.
  bool Drain() {
    if (!on_pipeline()) return EmitFlush(batch_, engine_.kind);
    return EmitBarrier(batch_, {.flush = SetOf(CacheDomain::kOtherWrite), .wait = true},
                       pool_.scratch(), pipeline());
  }
  bool StallForRegisters() {
    if (!in_3d()) {
      return EmitBarrier(batch_, {.wait = true}, pool_.scratch(), pipeline());
    }
    return batch_.Emit(
        Pipe{.stall_at_pixel_scoreboard = true, .command_streamer_stall_enable = true});
  }

  // A write at the end of the pipeline, with what must precede it.
  bool EmitWrite(Pipe pipe) {
    constexpr bool kStallsFirst = Gen::kFacts.gpgpu_write_needs_stall || Gen::kFacts.wa_14014966230;
    if (kStallsFirst && pipeline() == Pipeline::kGpgpu &&
        !batch_.Emit(Pipe{.command_streamer_stall_enable = true})) {
      return false;
    }
    if (Gen::kFacts.gpgpu_write_stalls && pipeline() == Pipeline::kGpgpu) {
      pipe.command_streamer_stall_enable = true;
    }
    return batch_.Emit(pipe);
  }
  bool StampAtEnd(const address& to) {
    if (!on_pipeline()) {
      using Flush = typename G::MI_FLUSH_DW;
      return batch_.Emit(
          Flush{.post_sync_operation = Flush::POST_SYNC_OPERATION_WRITE_TIMESTAMP, .address = to});
    }
    return EmitWrite({.post_sync_operation = Pipe::POST_SYNC_OPERATION_WRITE_TIMESTAMP,
                      .command_streamer_stall_enable = engine_.writes_need_stall,
                      .address = to});
  }
  // Post-sync writes are done in their order.
  bool PublishAtEnd(uint32_t query) {
    const address to = pool_.availability(query);
    if (!on_pipeline()) return EmitFlush(batch_, engine_.kind, to, 1);
    return EmitWrite({.pipe_control_flush_enable = true,
                      .post_sync_operation = Pipe::POST_SYNC_OPERATION_WRITE_IMMEDIATE_DATA,
                      .address = to,
                      .immediate_data = 1});
  }

  // offset: of the render engine's register.
  bool StoreRegister(const address& to, uint32_t offset) {
    using Store = typename Gen::StoreRegister;
    offset += engine_.arithmetic.engine_offset;
    return batch_.Emit(
        Store{.register_address = offset, .memory_address = to},
        Store{.register_address = offset + 4, .memory_address = address(to.gpu + 4, to.buffer)});
  }
  bool Store64(const address& to, uint32_t value) {
    using Store = typename Gen::StoreData;
    return batch_.Emit(Store{.address = to, .immediate_data = value},
                       Store{.address = address(to.gpu + 4, to.buffer), .immediate_data = 0});
  }

  // MMIO offsets, one a counter.
  std::array<uint32_t, kStatisticKinds> Registers() const {
    static constexpr uint32_t kStatisticsRegisters[] = {
        G::IA_VERTICES_COUNT::register_offset,   G::IA_PRIMITIVES_COUNT::register_offset,
        G::VS_INVOCATION_COUNT::register_offset, G::GS_INVOCATION_COUNT::register_offset,
        G::GS_PRIMITIVES_COUNT::register_offset, G::CL_INVOCATION_COUNT::register_offset,
        G::CL_PRIMITIVES_COUNT::register_offset, G::PS_INVOCATION_COUNT::register_offset,
        G::HS_INVOCATION_COUNT::register_offset, G::DS_INVOCATION_COUNT::register_offset,
        G::CS_INVOCATION_COUNT::register_offset};
    static_assert(sizeof(kStatisticsRegisters) == kStatisticKinds * sizeof(uint32_t));
    static constexpr uint32_t kWritten[kStreams] = {
        G::SO_NUM_PRIMS_WRITTEN0::register_offset, G::SO_NUM_PRIMS_WRITTEN1::register_offset,
        G::SO_NUM_PRIMS_WRITTEN2::register_offset, G::SO_NUM_PRIMS_WRITTEN3::register_offset};
    static constexpr uint32_t kNeeded[kStreams] = {
        G::SO_PRIM_STORAGE_NEEDED0::register_offset, G::SO_PRIM_STORAGE_NEEDED1::register_offset,
        G::SO_PRIM_STORAGE_NEEDED2::register_offset, G::SO_PRIM_STORAGE_NEEDED3::register_offset};
    switch (pool_.kind()) {
      case QueryKind::kStatistics: {
        std::array<uint32_t, kStatisticKinds> registers = {};
        unsigned counter = 0;
        for (StatisticSet rest = pool_.statistics(); rest != 0; rest &= rest - 1) {
          registers[counter++] = kStatisticsRegisters[__builtin_ctz(rest)];
        }
        return registers;
      }
      case QueryKind::kPrimitivesGenerated:
        // Stream 0 goes on to the clipper, and need not be written.
        return {pool_.stream() == 0 ? G::CL_INVOCATION_COUNT::register_offset
                                    : kNeeded[pool_.stream()]};
      default:
        return {kWritten[pool_.stream()], kNeeded[pool_.stream()]};
    }
  }

  Value Difference(Math& math, uint32_t query, unsigned counter) {
    return math.Load64(pool_.end(query, counter)) - math.Load64(pool_.begin(query, counter));
  }
  Value ResultOf(Math& math, uint32_t query, unsigned result) {
    if (pool_.kind() == QueryKind::kTimestamp) {
      return math.Load64(pool_.end(query, 0)) & math.Constant(pool_.mask());
    }
    Value value = Difference(math, query, pool_.differs() ? 0 : result);
    if (pool_.differs()) {
      if (pool_.counters() == 2) value = std::move(value) ^ Difference(math, query, 1);
      return math.NonZero(std::move(value)).mask() & math.Constant(1);
    }
    return (std::move(value) & math.Constant(pool_.mask())) >> pool_.shift(result);
  }
  bool CopyOne(Math& math, const QueryResults& results, uint32_t query, address at) {
    const Value available = math.Load32(pool_.availability(query));
    const auto is = math.NonZero(available);
    const auto store = [&](const Value& value) {
      const address to = at;
      at = address(at.gpu + (results.wide ? 8 : 4), at.buffer, at.use);
      return results.wide ? math.Store64(to, value) : math.Store32(to, value);
    };
    for (unsigned result = 0; result < pool_.results(); ++result) {
      Value value = ResultOf(math, query, result);
      if (results.partial) {
        value = std::move(value) & is.mask();
      } else if (!results.wait) {
        // The memory's content again: a store that depends on a predicate would lose the one that
        // draws have.
        value = math.Select(is, std::move(value), results.wide ? math.Load64(at) : math.Load32(at));
      }
      if (!store(value)) return false;
    }
    return !results.availability || store(is.mask() & math.Constant(1));
  }

  Batch<Gen>& batch_;
  const QueryPool& pool_;
  const QueryEngine& engine_;
};

template <class Gen>
bool ResetQueries(Batch<Gen>& batch, const QueryPool& pool, uint32_t first, uint32_t count,
                  const QueryEngine& engine) {
  return QueryCommands<Gen>(batch, pool, engine).Reset(first, count);
}
template <class Gen>
bool BeginQuery(Batch<Gen>& batch, const QueryPool& pool, uint32_t query,
                const QueryEngine& engine) {
  return QueryCommands<Gen>(batch, pool, engine).Snapshot(query, false);
}
template <class Gen>
bool EndQuery(Batch<Gen>& batch, const QueryPool& pool, uint32_t query, const QueryEngine& engine) {
  return QueryCommands<Gen>(batch, pool, engine).Snapshot(query, true);
}
template <class Gen>
bool WriteTimestamp(Batch<Gen>& batch, const QueryPool& pool, uint32_t query, TimestampAt when,
                    const QueryEngine& engine) {
  return QueryCommands<Gen>(batch, pool, engine).Stamp(query, when);
}
template <class Gen>
bool ZeroQueries(Batch<Gen>& batch, const QueryPool& pool, uint32_t first, uint32_t count,
                 const QueryEngine& engine) {
  return QueryCommands<Gen>(batch, pool, engine).Zero(first, count);
}
template <class Gen>
bool CopyQueryResults(Batch<Gen>& batch, const QueryPool& pool, const QueryResults& results,
                      const address& to, const QueryEngine& engine) {
  return QueryCommands<Gen>(batch, pool, engine).Copy(results, to);
}
template <class Gen>
bool SetQueryPredicate(Batch<Gen>& batch, const QueryPool& pool, uint32_t query,
                       const PredicateOptions& options, const QueryEngine& engine) {
  return QueryCommands<Gen>(batch, pool, engine).Predicate(query, options);
}
template <class Gen>
bool SetMemoryPredicate(Batch<Gen>& batch, const address& value, const PredicateOptions& options,
                        const QueryEngine& engine) {
  Arithmetic<Gen> math(batch, engine.arithmetic);
  auto holds = math.NonZero(math.Load32(value));
  return math.SetPredicate(options.inverted ? !std::move(holds) : std::move(holds));
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_QUERY_QUERIES_H_
