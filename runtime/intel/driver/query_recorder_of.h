// Queries of command buffers of one generation: the packets of runtime/intel/query, and what they
// use tracked.

#ifndef PACKSMITH_RUNTIME_INTEL_DRIVER_QUERY_RECORDER_OF_H_
#define PACKSMITH_RUNTIME_INTEL_DRIVER_QUERY_RECORDER_OF_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "packsmith/pack.h"
#include "runtime/intel/batch/cache_tracker.h"
#include "runtime/intel/batch/engines.h"
#include "runtime/intel/batch/pipeline_select.h"
#include "runtime/intel/driver/command_buffer.h"
#include "runtime/intel/driver/context.h"
#include "runtime/intel/driver/perf_queries.h"
#include "runtime/intel/driver/query_recorder.h"
#include "runtime/intel/driver/recorders.h"
#include "runtime/intel/query/perf_reports.h"
#include "runtime/intel/query/queries.h"

namespace packsmith::intel {

template <class Gen>
class CommandBufferOf;

template <class Gen>
class QueryRecorderOf final : public QueryRecorder {
 public:
  explicit QueryRecorderOf(CommandBufferOf<Gen>& commands) : commands_(commands) {}

  bool Reset(const QueryPool& pool, uint32_t first, uint32_t count) override {
    return commands_.CanRecord() && ResetQueries(commands_.batch_, pool, first, count, Engine());
  }
  bool Begin(const QueryPool& pool, uint32_t query) override {
    return SelectFor(pool) && BeginQuery(commands_.batch_, pool, query, Engine());
  }
  bool End(const QueryPool& pool, uint32_t query) override {
    return SelectFor(pool) && EndQuery(commands_.batch_, pool, query, Engine());
  }
  bool WriteTimestamp(const QueryPool& pool, uint32_t query, TimestampAt when) override {
    return commands_.CanRecord() &&
           intel::WriteTimestamp(commands_.batch_, pool, query, when, Engine());
  }
  bool Copy(const QueryPool& pool, const QueryResults& results, const address& to) override {
    return CanCompute("copies results of queries") && Track(to, CacheDomain::kOtherWrite) &&
           CopyQueryResults(commands_.batch_, pool, results, to, Engine());
  }
  bool Reset(const PerfQueries& queries, uint32_t first, uint32_t count, uint32_t pass) override {
    if (!CanUse(queries, first, count, pass)) return false;
    for (uint32_t i = 0; i < count; ++i) {
      if (!ResetPerfQuery(commands_.batch_, queries.At(first + i, pass))) return false;
    }
    return true;
  }
  bool Begin(const PerfQueries& queries, uint32_t query, uint32_t pass) override {
    return CanUse(queries, query, 1, pass) &&
           BeginPerfQuery(commands_.batch_, queries.At(query, pass), queries.IdOf(query, pass),
                          Engine());
  }
  bool End(const PerfQueries& queries, uint32_t query, uint32_t pass) override {
    return CanUse(queries, query, 1, pass) &&
           EndPerfQuery(commands_.batch_, queries.At(query, pass), queries.IdOf(query, pass),
                        Engine());
  }

  bool SetCondition(const QueryPool& pool, uint32_t query,
                    const PredicateOptions& options) override {
    conditional_ = CanCompute("takes conditions") &&
                   SetQueryPredicate(commands_.batch_, pool, query, options, Engine());
    return conditional_;
  }
  bool SetCondition(const address& value, const PredicateOptions& options) override {
    conditional_ = CanCompute("takes conditions") && Track(value, CacheDomain::kOtherRead) &&
                   SetMemoryPredicate(commands_.batch_, value, options, Engine());
    return conditional_;
  }
  bool EndCondition() override {
    conditional_ = false;
    return commands_.CanRecord();
  }

  // Whether draws and dispatches depend on the predicate.
  bool conditional() const { return conditional_; }
  void Forget() { conditional_ = false; }

 private:
  QueryEngine Engine() const {
    const RenderDevice& device = commands_.context().device();
    QueryEngine engine{.pipeline = commands_.pipeline_,
                       .writes_need_stall = device.query_writes_need_stall,
                       .arithmetic = {.mocs = commands_.context().mocs()}};
    switch (commands_.options().engine) {
      case intel::Engine::kRender:
        break;
      case intel::Engine::kCompute:
        engine.kind = EngineKind::kCompute;
        engine.pipeline = Pipeline::kGpgpu;
        engine.arithmetic.engine_offset = Gen::kFacts.compute_registers_offset;
        break;
      case intel::Engine::kCopy:
        engine.kind = EngineKind::kCopy;
        engine.arithmetic.engine_offset = Gen::kFacts.copy_registers_offset;
        break;
    }
    return engine;
  }
  bool CanUse(const PerfQueries& queries, uint32_t first, uint32_t count, uint32_t pass) {
    return commands_.CanRecord() && commands_.Check(queries.Check(first, count, pass));
  }
  // Samples are counted by the 3D pipeline.
  bool SelectFor(const QueryPool& pool) {
    if (!commands_.CanRecord()) return false;
    const bool samples =
        pool.kind() == QueryKind::kOcclusion || pool.kind() == QueryKind::kOcclusionBoolean;
    return !samples || commands_.options().engine != intel::Engine::kRender ||
           commands_.Select(Pipeline::k3D);
  }
  bool CanCompute(const char* what) {
    if (!commands_.CanRecord()) return false;
    return commands_.options().engine != intel::Engine::kCopy ||
           commands_.Refuse(absl::FailedPreconditionError(absl::StrCat(
               "a command buffer of the copy engine ", what,
               "; record this for Engine::kRender or, from Gfx12.5 on, Engine::kCompute")));
  }
  bool Track(const address& memory, CacheDomain domain) {
    ++commands_.changes_;
    return commands_.Track(TrackedUse{memory.buffer, domain});
  }

  CommandBufferOf<Gen>& commands_;
  bool conditional_ = false;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DRIVER_QUERY_RECORDER_OF_H_
