// The packets that a CacheBarrier becomes, on render and compute engines.
//
//   if (!barrier.empty()) EmitBarrier(batch, barrier, scratch);
//   if (!barrier.empty()) EmitBarrier(batch, barrier, scratch, Pipeline::kGpgpu);
//   EmitSignal(batch, progress, 42, {.to_memory = SetOf(CacheDomain::kRender)});
//
// A table says which field of PIPE_CONTROL writes back or invalidates which cache; the manuals'
// remarks on it are in generation_facts.h. Gfx4 to Gfx5 have MI_FLUSH instead. Sources: PRMs,
// volume "Command Reference: Instructions", PIPE_CONTROL and MI_FLUSH, and findings of Mesa's
// drivers.

#ifndef PACKSMITH_RUNTIME_INTEL_BATCH_CACHE_RULES_H_
#define PACKSMITH_RUNTIME_INTEL_BATCH_CACHE_RULES_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "packsmith/pack.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/cache_tracker.h"
#include "runtime/intel/batch/pipeline_select.h"
#include "runtime/intel/batch/stores.h"
#include "runtime/intel/device/generation_facts.h"

namespace packsmith::intel {

// Whether PIPE_CONTROL stalls. Where it does not, MI_FLUSH waits for everything before, and writes
// back and invalidates all caches.
template <class Gen>
concept PipeControlStalls = requires(typename Gen::PipeControl pipe) {
  pipe.command_streamer_stall_enable;
};

// What a signal overwrites: its 8 bytes, and where another write must come first, the 8 bytes after
// them.
template <class Gen>
inline constexpr uint64_t kSignalBytes = Gen::kFacts.flush_needs_write_before ? 16 : 8;

template <class Pipe>
struct CacheRules {
  using Fields = std::array<bool Pipe::*, 2>;
  struct Rule {
    CacheDomain domain = {};
    bool in_l3 = false;
    Fields flush = {}, to_memory = {}, invalidate = {};
  };

  std::array<Rule, kCacheDomains> rules;
  Fields from_memory = {};
};

template <class Gen>
constexpr CacheRules<typename Gen::PipeControl> CacheRulesOf() {
  using Pipe = typename Gen::PipeControl;
  using D = CacheDomain;
  constexpr bool Pipe::*kColor = &Pipe::render_target_cache_flush_enable;
  constexpr bool Pipe::*kDepth = &Pipe::depth_cache_flush_enable;
  // Before there was an L3, the data port wrote through the cache of colours.
  constexpr bool kHasL3 = requires { &Pipe::dc_flush_enable; };
  constexpr bool Pipe::*kData = [] {
    if constexpr (kHasL3) {
      return &Pipe::dc_flush_enable;
    } else {
      return &Pipe::render_target_cache_flush_enable;
    }
  }();
  constexpr bool Pipe::*kOther = [] {
    bool Pipe::*none = nullptr;
    if constexpr (requires { &Pipe::pipe_control_flush_enable; }) {
      none = &Pipe::pipe_control_flush_enable;
    }
    return none;  // there, the stall is enough
  }();
  CacheRules<Pipe> r = {{{
      // A cache that writes is invalidated when it writes back.
      {D::kRender, kHasL3, {kColor}, {}, {kColor}},
      {D::kDepth, kHasL3, {kDepth}, {}, {kDepth}},
      {D::kData, kHasL3, {kData}, {kData}, {kData}},
      {D::kOtherWrite, false, {kOther}, {}, {kOther}},
      {D::kVertex, false, {}, {}, {&Pipe::vf_cache_invalidation_enable}},
      {D::kSampler, kHasL3, {}, {}, {&Pipe::texture_cache_invalidation_enable}},
      // Shaders pull them through the sampler's cache.
      {D::kConstant,
       kHasL3,
       {},
       {},
       {&Pipe::constant_cache_invalidation_enable, &Pipe::texture_cache_invalidation_enable}},
      {D::kOtherRead, false, {}, {}, {}},
  }}};
  const auto at = [&](D domain) -> auto& { return r.rules[static_cast<size_t>(domain)]; };
  if constexpr (requires { &Pipe::l3_read_only_cache_invalidation_enable; }) {
    // Data has a flush to L3 only; vertices are read through L3, which caches them.
    at(D::kData).flush = at(D::kData).invalidate = {&Pipe::hdc_pipeline_flush_enable};
    at(D::kVertex).in_l3 = true;
    at(D::kVertex).invalidate[1] = &Pipe::l3_read_only_cache_invalidation_enable;
    r.from_memory = {&Pipe::l3_read_only_cache_invalidation_enable,
                     &Pipe::constant_cache_invalidation_enable};
  } else {
    // What L3 has read is old until constants are invalidated.
    r.from_memory = {&Pipe::constant_cache_invalidation_enable};
  }
  if constexpr (Gen::kFacts.targets_stay_in_tile_cache) {
    at(D::kRender).to_memory = at(D::kDepth).to_memory = {&Pipe::tile_cache_flush_enable};
  }
  if constexpr (Gen::kFacts.wa_1409600907) {
    at(D::kDepth).flush[1] = at(D::kDepth).invalidate[1] = &Pipe::depth_stall_enable;
  }
  if constexpr (requires { &Pipe::untyped_data_port_cache_flush_enable; }) {
    // The untyped part is flushed only together with the rest.
    at(D::kData).flush[1] = at(D::kData).invalidate[1] =
        &Pipe::untyped_data_port_cache_flush_enable;
  }
  return r;
}

// The domains that go through L3: for CacheTracker.
template <class Gen>
constexpr CacheDomains L3DomainsOf() {
  CacheDomains domains = 0;
  if constexpr (PipeControlStalls<Gen>) {
    for (const auto& rule : CacheRulesOf<Gen>().rules) {
      if (rule.in_l3) domains |= SetOf(rule.domain);
    }
  }
  return domains;
}

// A PIPE_CONTROL that stores `value` in the 8 bytes at `to`.
template <class Gen>
constexpr typename Gen::PipeControl PipeWrite(const address& to, uint64_t value) {
  using Pipe = typename Gen::PipeControl;
  Pipe pipe{.post_sync_operation = Pipe::POST_SYNC_OPERATION_WRITE_IMMEDIATE_DATA,
            .address = to,
            .immediate_data = value};
  if constexpr (Gen::kFacts.writes_are_global) {
    pipe.destination_address_type = Pipe::DESTINATION_ADDRESS_TYPE_GGTT;
  }
  return pipe;
}

// MI_FLUSH, and with `signals` a write of `value` to `to` after it.
template <class Gen>
bool EmitFlushAndWrite(Batch<Gen>& batch, const address& to, uint64_t value, bool signals) {
  using Flush = typename Gen::Packets::MI_FLUSH;
  typename Batch<Gen>::Group group(batch, Flush::length + (signals ? Gen::PipeControl::length : 0));
  group.Emit(Flush{});
  if (signals) {
    typename Gen::PipeControl write = PipeWrite<Gen>(to, value);
    write.write_cache_flush = true;
    group.Emit(write);
  }
  return group.ok();
}

// Emits a barrier whose writes store `value` in the 8 bytes at `to`. See below. `before`: where a
// write comes before, if one must.
template <class Gen>
bool EmitBarrierAndWrite(Batch<Gen>& batch, const CacheBarrier& barrier, const address& to,
                         uint64_t value, const address& before, Pipeline pipeline) {
  using Pipe = typename Gen::PipeControl;
  using D = CacheDomain;
  static constexpr CacheRules<Pipe> kRules = CacheRulesOf<Gen>();
  constexpr CacheDomains kOf3D = SetOf(D::kRender) | SetOf(D::kDepth) | SetOf(D::kVertex);
  const bool gpgpu = pipeline == Pipeline::kGpgpu;
  CacheDomains barred = 0;
  if (gpgpu && Gen::kFacts.gpgpu_bars_3d_caches) barred |= kOf3D;
  if (gpgpu && Gen::kFacts.compute_bars_vertices) barred |= SetOf(D::kVertex);
  if (((barrier.to_memory | barrier.invalidate) & barred) != 0) {
    return batch.Refuse(
        absl::FailedPreconditionError("the barrier includes caches of the 3D pipeline, but is one "
                                      "of the GPGPU pipeline: select 3D first, or state k3D"));
  }
  // Writing back comes first, in its own packet: caches are invalidated when a packet is read, but
  // write back when it is done.
  Pipe flush = PipeWrite<Gen>(to, value);
  flush.command_streamer_stall_enable = true;
  Pipe invalidate;
  bool invalidates = false;
  const auto set = [](Pipe& pipe, const typename CacheRules<Pipe>::Fields& fields) {
    bool any = false;
    for (bool Pipe::*field : fields) {
      if (field == nullptr) continue;
      pipe.*field = any = true;
    }
    return any;
  };
  for (const auto& rule : kRules.rules) {
    const CacheDomains one = SetOf(rule.domain);
    if ((barrier.flush & one & ~barred) != 0) set(flush, rule.flush);
    if ((barrier.to_memory & one) != 0) set(flush, rule.to_memory);
    if ((barrier.invalidate & one) != 0) invalidates |= set(invalidate, rule.invalidate);
  }
  if (barrier.from_memory) invalidates |= set(invalidate, kRules.from_memory);
  const bool vertices = (barrier.invalidate & SetOf(D::kVertex)) != 0;
  const bool write = vertices && Gen::kFacts.vertices_need_write;
  if (write) {
    invalidate.post_sync_operation = flush.post_sync_operation;
    invalidate.address = to;
    invalidate.immediate_data = value;
  }
  // A stall that writes back data comes before, if it must: the packet that flushes, or its own.
  const bool flushes = barrier.flush != 0 || barrier.to_memory != 0 || barrier.wait;
  bool stalls_before = false;
  if constexpr (Gen::kFacts.invalidation_needs_data_flush_before) {
    stalls_before = invalidates && !flushes;
    if (invalidates) flush.dc_flush_enable = true;
  }
  // A read-only cache is invalid once the packet has been read. A cache that writes must write back
  // first, which needs a stall; and in the GPGPU pipeline the manuals require a stall with
  // textures.
  constexpr CacheDomains kWriting = (1u << kWritingDomains) - 1;
  invalidate.command_streamer_stall_enable =
      gpgpu || (barrier.invalidate & kWriting) != 0 || Gen::kFacts.fourth_pipe_must_stall;
  // The scoreboard is the least that a stall can wait for, but cannot be combined with flushes of
  // targets.
  constexpr CacheDomains kFlushes = SetOf(D::kRender) | SetOf(D::kDepth) | SetOf(D::kData);
  invalidate.stall_at_pixel_scoreboard = Gen::kFacts.stall_needs_company && !write &&
                                         invalidate.command_streamer_stall_enable &&
                                         (barrier.invalidate & kFlushes) == 0;

  std::array<Pipe, 6> pipes;
  size_t count = 0;
  if constexpr (Gen::kFacts.flush_needs_write_before) {
    // A packet that invalidates writes back, too, if the cache writes.
    if (flush.render_target_cache_flush_enable || invalidate.render_target_cache_flush_enable) {
      pipes[count].command_streamer_stall_enable = true;
      pipes[count++].stall_at_pixel_scoreboard = true;
      pipes[count++] = PipeWrite<Gen>(before, 0);
    }
  }
  if constexpr (Gen::kFacts.invalidation_needs_data_flush_before) {
    if (stalls_before) {
      pipes[count].command_streamer_stall_enable = true;
      pipes[count++].dc_flush_enable = true;
    }
  }
  constexpr bool kStallsFirst = Gen::kFacts.gpgpu_write_needs_stall || Gen::kFacts.wa_14014966230;
  if (gpgpu && kStallsFirst && (flushes || write)) {
    pipes[count++].command_streamer_stall_enable = true;
  }
  if (flushes) pipes[count++] = flush;
  if (vertices && Gen::kFacts.vertices_need_nothing_before) ++count;
  if (invalidates) pipes[count++] = invalidate;
  if (count == 0) return true;
  // Stores of the streamer may be in a queue that PIPE_CONTROL does not wait for.
  using Stores = WaitForStores<Gen>;
  const bool stores = ((barrier.flush | barrier.to_memory) & SetOf(D::kOtherWrite)) != 0;
  typename Batch<Gen>::Group group(batch, (stores ? Stores::kLength : 0) + count * Pipe::length);
  if (stores) Stores::Emit(group);
  for (size_t i = 0; i < count; ++i) group.Emit(pipes[i]);
  return group.ok();
}

// scratch: 8 bytes that are overwritten; flushed data is in memory once the write is done.
// pipeline: the selected one. From Gfx12 on, caches of the 3D pipeline can be invalidated or
// written back to memory only while it is selected; otherwise the barrier is refused.
template <class Gen>
bool EmitBarrier(Batch<Gen>& batch, const CacheBarrier& barrier, const address& scratch,
                 Pipeline pipeline = Pipeline::k3D) {
  if constexpr (PipeControlStalls<Gen>) {
    return EmitBarrierAndWrite(batch, barrier, scratch, 0, scratch, pipeline);
  } else {
    return barrier.empty() || EmitFlushAndWrite(batch, scratch, 0, /*signals=*/false);
  }
}

// Makes what was written through one cache visible to reads through others. Everything before is
// done then.
template <class Gen, size_t N>
bool EmitBetween(Batch<Gen>& batch, CacheDomain written, const std::array<CacheDomain, N>& read,
                 const address& scratch) {
  constexpr uint32_t kSomething = 1;
  CacheTracker tracker(L3DomainsOf<Gen>());
  tracker.Use(kSomething, written);
  for (CacheDomain domain : read) {
    const CacheBarrier barrier = tracker.Use(kSomething, domain);
    if (!barrier.empty() && !EmitBarrier(batch, barrier, scratch)) return false;
  }
  return true;
}

// Signals progress to the CPU or another engine: when all that was emitted before is done, and
// written back as the barrier says, `value` is in the 8 bytes at `to`, which must be a multiple of
// 8, or the signal is refused. With increasing numbers this is a fence within a job. The signal's
// place takes kSignalBytes<Gen>.
template <class Gen>
bool EmitSignal(Batch<Gen>& batch, const address& to, uint64_t value, CacheBarrier barrier = {},
                Pipeline pipeline = Pipeline::k3D) {
  if (to.gpu % sizeof(value) != 0) {
    return batch.Refuse(absl::InvalidArgumentError(absl::StrFormat(
        "a signal's 8 bytes are at %#x; the address must be a multiple of 8", to.gpu)));
  }
  if constexpr (PipeControlStalls<Gen>) {
    barrier.wait = true;
    const address before(to.gpu + sizeof(value), to.buffer, to.use);
    return EmitBarrierAndWrite(batch, barrier, to, value, before, pipeline);
  } else {
    return EmitFlushAndWrite(batch, to, value, /*signals=*/true);
  }
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BATCH_CACHE_RULES_H_
