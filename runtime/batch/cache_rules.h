// The packets that a CacheBarrier becomes, on the render engine.
//
//   if (!barrier.empty()) EmitBarrier(batch, barrier, scratch);
//
// Which field of PIPE_CONTROL writes back or forgets which cache is a table, as are the remarks of
// the manuals that go with it. Sources: PRMs, volume "Command Reference: Instructions",
// PIPE_CONTROL, and what Mesa's drivers found out; where they name a workaround, so does the table.

#ifndef PACKSMITH_RUNTIME_BATCH_CACHE_RULES_H_
#define PACKSMITH_RUNTIME_BATCH_CACHE_RULES_H_

#include <array>
#include <cstddef>

#include "packsmith/pack.h"
#include "runtime/batch/batch.h"
#include "runtime/batch/cache_tracker.h"

namespace packsmith::gpu {

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
  // Forgetting vertices only works together with a post-sync write.
  bool vertices_need_write = false;
  // … and behind a PIPE_CONTROL that does nothing. (Elsewhere that may hang.)
  bool vertices_need_nothing_before = false;
};

template <class Gen>
constexpr CacheRules<typename Gen::PipeControl> CacheRulesOf() {
  using Pipe = typename Gen::PipeControl;
  using D = CacheDomain;
  constexpr bool Pipe::*kColor = &Pipe::render_target_cache_flush_enable;
  constexpr bool Pipe::*kDepth = &Pipe::depth_cache_flush_enable;
  constexpr bool Pipe::*kData = &Pipe::dc_flush_enable;
  constexpr bool Pipe::*kOther = &Pipe::pipe_control_flush_enable;
  CacheRules<Pipe> r = {{{
      // A cache that writes forgets what it writes back.
      {D::kRender, true, {kColor}, {}, {kColor}},
      {D::kDepth, true, {kDepth}, {}, {kDepth}},
      {D::kData, true, {kData}, {kData}, {kData}},
      {D::kOtherWrite, false, {kOther}, {}, {kOther}},
      {D::kVertex, false, {}, {}, {&Pipe::vf_cache_invalidation_enable}},
      {D::kSampler, true, {}, {}, {&Pipe::texture_cache_invalidation_enable}},
      // Shaders pull them by way of the sampler's cache.
      {D::kConstant,
       true,
       {},
       {},
       {&Pipe::constant_cache_invalidation_enable, &Pipe::texture_cache_invalidation_enable}},
      {D::kOtherRead, false, {}, {}, {}},
  }}};
  const auto at = [&](D domain) -> auto& { return r.rules[static_cast<size_t>(domain)]; };
  if constexpr (Gen::kVersion >= 120) {
    // Data has a flush to L3 alone; vertices come through L3, which keeps them.
    at(D::kData).flush = at(D::kData).invalidate = {&Pipe::hdc_pipeline_flush_enable};
    at(D::kVertex).in_l3 = true;
    at(D::kVertex).invalidate[1] = &Pipe::l3_read_only_cache_invalidation_enable;
    r.from_memory = {&Pipe::l3_read_only_cache_invalidation_enable,
                     &Pipe::constant_cache_invalidation_enable};
  }
  if constexpr (Gen::kVersion >= 120 && Gen::kVersion < 200) {
    at(D::kRender).to_memory = at(D::kDepth).to_memory = {&Pipe::tile_cache_flush_enable};
  }
  if constexpr (Gen::kVersion == 120) {
    // Wa_1409600907.
    at(D::kDepth).flush[1] = at(D::kDepth).invalidate[1] = &Pipe::depth_stall_enable;
  }
  if constexpr (Gen::kVersion >= 125) {
    // Flushes the untyped part only together with the rest.
    at(D::kData).flush[1] = at(D::kData).invalidate[1] =
        &Pipe::untyped_data_port_cache_flush_enable;
  }
  r.vertices_need_write = Gen::kVersion <= 90;
  r.vertices_need_nothing_before = Gen::kVersion == 90;
  return r;
}

// The domains that go through L3: for CacheTracker.
template <class Gen>
constexpr CacheDomains L3DomainsOf() {
  CacheDomains domains = 0;
  for (const auto& rule : CacheRulesOf<Gen>().rules) {
    if (rule.in_l3) domains |= SetOf(rule.domain);
  }
  return domains;
}

// scratch: 8 bytes that are written to and mean nothing; what has been flushed is in place when the
// write is.
template <class Gen>
bool EmitBarrier(Batch<Gen>& batch, const CacheBarrier& barrier, const address& scratch) {
  using Pipe = typename Gen::PipeControl;
  static constexpr CacheRules<Pipe> kRules = CacheRulesOf<Gen>();
  const auto set = [](Pipe& pipe, const typename CacheRules<Pipe>::Fields& fields) {
    for (bool Pipe::*field : fields) {
      if (field != nullptr) pipe.*field = true;
    }
  };
  // Writing back comes first, and a packet of its own: caches forget when a packet is read, but
  // write back when it is done.
  Pipe flush{.post_sync_operation = Pipe::POST_SYNC_OPERATION_WRITE_IMMEDIATE_DATA,
             .command_streamer_stall_enable = true,
             .address = scratch};
  Pipe invalidate{.command_streamer_stall_enable = true};
  for (const auto& rule : kRules.rules) {
    const CacheDomains one = SetOf(rule.domain);
    if ((barrier.flush & one) != 0) set(flush, rule.flush);
    if ((barrier.to_memory & one) != 0) set(flush, rule.to_memory);
    if ((barrier.invalidate & one) != 0) set(invalidate, rule.invalidate);
  }
  if (barrier.from_memory) set(invalidate, kRules.from_memory);
  const bool vertices = (barrier.invalidate & SetOf(CacheDomain::kVertex)) != 0;
  // Gfx8 wants a stall to come with something to wait for. Of these the scoreboard is the least,
  // but does not go together with flushes of targets.
  constexpr CacheDomains kFlushes =
      SetOf(CacheDomain::kRender) | SetOf(CacheDomain::kDepth) | SetOf(CacheDomain::kData);
  if (vertices && kRules.vertices_need_write) {
    invalidate.post_sync_operation = flush.post_sync_operation;
    invalidate.address = scratch;
  } else if ((barrier.invalidate & kFlushes) == 0) {
    invalidate.stall_at_pixel_scoreboard = true;
  }
  const bool flushes = barrier.flush != 0 || barrier.to_memory != 0 || barrier.wait;
  const bool invalidates = barrier.invalidate != 0 || barrier.from_memory;
  if (!invalidates) return !flushes || batch.Emit(flush);
  if (vertices && kRules.vertices_need_nothing_before) {
    return flushes ? batch.Emit(flush, Pipe{}, invalidate) : batch.Emit(Pipe{}, invalidate);
  }
  return flushes ? batch.Emit(flush, invalidate) : batch.Emit(invalidate);
}

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_BATCH_CACHE_RULES_H_
