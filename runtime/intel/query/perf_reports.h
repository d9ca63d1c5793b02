// Performance counters around a part of a batch: two reports of the observation architecture (OA).
//
//   // Memory of PerfQueryBytes<Gfx9>() bytes, a multiple of 64:
//   ResetPerfQuery(batch, at);
//   BeginPerfQuery(batch, at, 0x100);
//   …
//   EndPerfQuery(batch, at, 0x100);
//   // When the job is done:
//   absl::StatusOr<PerfDelta> delta = ReadPerfQuery<Gfx9>(memory.cpu, 0x100);
//
// What the counters count is the kernel's matter: it must have been told which metric set to
// configure, and that reports have the format of OA_REPORT in the generation's description (i915:
// DRM_I915_PERF_PROP_OA_METRICS_SET, OA_FORMAT; xe: DRM_XE_OA_PROPERTY_OA_METRIC_SET, OA_FORMAT).
// perf_passes.h plans how often work must be repeated if its metrics are of several sets.
//
// Sources: PRMs, volume "Observability", and Mesa, src/intel/perf, for when reports are taken.

#ifndef PACKSMITH_RUNTIME_INTEL_QUERY_PERF_REPORTS_H_
#define PACKSMITH_RUNTIME_INTEL_QUERY_PERF_REPORTS_H_

#include <cstdint>
#include <cstring>
#include <iterator>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "packsmith/pack.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/cache_rules.h"
#include "runtime/intel/query/perf_delta.h"
#include "runtime/intel/query/queries.h"

namespace packsmith::intel {

template <class Gen>
using PerfReport = typename Gen::Packets::OA_REPORT;

// Of a query: 64 bytes, of which the first 8 tell that it is done and the next 8 are scratch, then
// both reports.
template <class Gen>
constexpr uint64_t PerfQueryBytes() {
  static_assert(PerfReport<Gen>::length % 16 == 0, "reports are at multiples of 64 bytes");
  return 64 + 2 * uint64_t{PerfReport<Gen>::length} * 4;
}

// `at` is a multiple of 64, as must be the memory of each pass: at + pass * PerfQueryBytes<Gen>().
template <class Gen>
bool ResetPerfQuery(Batch<Gen>& batch, const address& at);
// id: a number for both reports, below kPerfQueryNumbers, which tells them from older ones. Takes
// the report when all that was emitted before is done. For the render engine, from Gfx12.5 on also
// compute engines; otherwise refused with FailedPrecondition. InvalidArgument for `at` and id.
template <class Gen>
bool BeginPerfQuery(Batch<Gen>& batch, const address& at, uint32_t id,
                    const QueryEngine& engine = {});
template <class Gen>
bool EndPerfQuery(Batch<Gen>& batch, const address& at, uint32_t id,
                  const QueryEngine& engine = {});

// From the report at the beginning and the one at the end, PerfReport<Gen>::length dwords each.
// DataLoss if they are not a query's with this id; FailedPrecondition if they are of different
// contexts.
template <class Gen>
absl::StatusOr<PerfDelta> DeltaOf(const uint32_t* begin, const uint32_t* end, uint32_t id);
// The same from a query's memory. Unavailable if it has not ended yet.
template <class Gen>
absl::StatusOr<PerfDelta> ReadPerfQuery(const uint8_t* memory, uint32_t id);

// -- Implementation -----------------------------------------------------------------------------

namespace perf_errors {
absl::Status BadPlace(uint64_t at);
absl::Status BadId(uint32_t id);
absl::Status WrongEngine();
absl::Status NotAPair(uint64_t begin, uint64_t end, uint32_t id);
absl::Status OtherContext(uint64_t begin, uint64_t end);
absl::Status NotEnded();
}  // namespace perf_errors

template <class Gen>
bool EmitPerfReport(Batch<Gen>& batch, const address& at, uint32_t id, bool end,
                    const QueryEngine& engine) {
  using Pipe = typename Gen::PipeControl;
  using Report = typename Gen::Packets::MI_REPORT_PERF_COUNT;
  if (at.gpu % 64 != 0) return batch.Refuse(perf_errors::BadPlace(at.gpu));
  if (id >= kPerfQueryNumbers) return batch.Refuse(perf_errors::BadId(id));
  const bool compute = engine.kind == EngineKind::kCompute;
  if (engine.kind != EngineKind::kRender && !(compute && Gen::kFacts.compute_engines_report)) {
    return batch.Refuse(perf_errors::WrongEngine());
  }
  const bool in_3d = !compute && engine.pipeline == Pipeline::k3D;
  const bool stalled =
      in_3d ? batch.Emit(
                  Pipe{.stall_at_pixel_scoreboard = true, .command_streamer_stall_enable = true})
            : EmitBarrier(batch, {.wait = true}, address(at.gpu + 8, at.buffer), Pipeline::kGpgpu);
  const uint64_t to = at.gpu + 64 + (end ? PerfReport<Gen>::length * 4 : 0);
  return stalled && batch.Emit(Report{.memory_address = address(to, at.buffer),
                                      .report_id = id << 1 | (end ? 1u : 0u)});
}

template <class Gen>
bool ResetPerfQuery(Batch<Gen>& batch, const address& at) {
  using Store = typename Gen::StoreData;
  if (at.gpu % 64 != 0) return batch.Refuse(perf_errors::BadPlace(at.gpu));
  return batch.Emit(Store{.address = at, .immediate_data = 0}) && WaitForStores<Gen>::Emit(batch);
}

template <class Gen>
bool BeginPerfQuery(Batch<Gen>& batch, const address& at, uint32_t id, const QueryEngine& engine) {
  return EmitPerfReport(batch, at, id, false, engine);
}

template <class Gen>
bool EndPerfQuery(Batch<Gen>& batch, const address& at, uint32_t id, const QueryEngine& engine) {
  using Store = typename Gen::StoreData;
  return EmitPerfReport(batch, at, id, true, engine) &&
         batch.Emit(Store{.address = at, .immediate_data = 1});
}

template <class Gen>
absl::StatusOr<PerfDelta> DeltaOf(const uint32_t* begin, const uint32_t* end, uint32_t id) {
  const PerfReport<Gen> from = PerfReport<Gen>::unpack(begin), to = PerfReport<Gen>::unpack(end);
  if (from.report_id != id << 1 || to.report_id != (id << 1 | 1)) {
    return perf_errors::NotAPair(from.report_id, to.report_id, id);
  }
  if (from.context_id != to.context_id) {
    return perf_errors::OtherContext(from.context_id, to.context_id);
  }
  PerfDelta delta;
  // In the members' own types, so that differences wrap as the counters do.
  delta.ticks = static_cast<decltype(to.timestamp)>(to.timestamp - from.timestamp);
  delta.clocks = static_cast<decltype(to.gpu_clock)>(to.gpu_clock - from.gpu_clock);
  if constexpr (requires { from.counter; }) {
    static_assert(std::size(PerfReport<Gen>{}.counter) == 64);
    for (unsigned i = 0; i < 64; ++i) delta.a[i] = to.counter[i] - from.counter[i];
  } else {
    constexpr unsigned kLong = std::size(PerfReport<Gen>{}.a);
    for (unsigned i = 0; i < kLong; ++i) {
      const uint64_t first = uint64_t{from.a_high[i]} << 32 | from.a[i];
      const uint64_t last = uint64_t{to.a_high[i]} << 32 | to.a[i];
      delta.a[i] = (last - first) & ((uint64_t{1} << 40) - 1);
    }
    for (unsigned i = 0; i < std::size(from.a32_up); ++i) {
      delta.a[kLong + i] = to.a32_up[i] - from.a32_up[i];
    }
    for (unsigned i = 0; i < 8; ++i) delta.b[i] = to.b[i] - from.b[i];
    for (unsigned i = 0; i < 8; ++i) delta.c[i] = to.c[i] - from.c[i];
  }
  return delta;
}

template <class Gen>
absl::StatusOr<PerfDelta> ReadPerfQuery(const uint8_t* memory, uint32_t id) {
  constexpr unsigned kDwords = PerfReport<Gen>::length;
  if (__atomic_load_n(reinterpret_cast<const uint32_t*>(memory), __ATOMIC_ACQUIRE) == 0) {
    return perf_errors::NotEnded();
  }
  uint32_t reports[2 * kDwords];
  std::memcpy(reports, memory + 64, sizeof(reports));
  return DeltaOf<Gen>(reports, reports + kDwords, id);
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_QUERY_PERF_REPORTS_H_
