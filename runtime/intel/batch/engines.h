// Ordering work of several engines: how each tells that it is done, and how a batch waits for what
// another engine tells.
//
//   // In a batch of the copy engine:
//   EmitSignal(copies, EngineKind::kCopy, uploads, 7);
//   // In one of the render engine, before what reads it; the CacheTracker takes it for a write by
//   // others:
//   EmitWait(draws, uploads, 7);
//   EmitBarrier(draws, tracker.Use(texture.handle, CacheDomain::kSampler), scratch);
//
// The render and compute engines have PIPE_CONTROL (cache_rules.h), before Gfx6 MI_FLUSH; copy and
// video engines have no caches that others must know of, and MI_FLUSH_DW. A wait in a batch keeps
// its engine busy, or lets the kernel run another context: for waits of longer than other work
// takes, give the kernel fences (runtime/submission).

#ifndef PACKSMITH_RUNTIME_INTEL_BATCH_ENGINES_H_
#define PACKSMITH_RUNTIME_INTEL_BATCH_ENGINES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "packsmith/pack.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/cache_rules.h"
#include "runtime/intel/batch/cache_tracker.h"
#include "runtime/intel/batch/pipeline_select.h"

namespace packsmith::intel {

// Engines by what they flush with.
enum class EngineKind : uint8_t { kRender, kCompute, kCopy, kVideo };

// All that a batch of the copy or a video engine did before is done and in memory before what
// follows. With a `to`, which must be a multiple of 8, `value` is then stored in the 8 bytes there.
// Sources: PRMs, volume "Command Reference: Instructions", MI_FLUSH_DW: on video engines it also
// invalidates what they have read of the memory that a flush was for.
template <class Gen>
requires requires { typename Gen::Packets::MI_FLUSH_DW; }
bool EmitFlush(Batch<Gen>& batch, EngineKind engine, const address& to = {}, uint64_t value = 0) {
  using Flush = typename Gen::Packets::MI_FLUSH_DW;
  if (engine == EngineKind::kRender || engine == EngineKind::kCompute) {
    return batch.Refuse(absl::InvalidArgumentError(
        "MI_FLUSH_DW is a packet of copy and video engines; others have barriers: EmitBarrier()"));
  }
  Flush flush{.video_pipeline_cache_invalidate = engine == EngineKind::kVideo};
  if (to.gpu != 0 || to.buffer != 0) {
    flush.post_sync_operation = Flush::POST_SYNC_OPERATION_WRITE_IMMEDIATE_DATA;
    flush.address = to;
    if constexpr (requires { flush.immediate_data[1]; }) {
      flush.immediate_data[0] = static_cast<uint32_t>(value);
      flush.immediate_data[1] = static_cast<uint32_t>(value >> 32);
    } else {
      flush.immediate_data = value;
    }
  }
  return batch.Emit(flush);
}

// When all that was emitted before is done and in memory, for other engines and the CPU to see,
// `value` is stored in the 8 bytes at `to`, which must be a multiple of 8, or the signal is
// refused. (kSignalBytes of cache_rules.h.) Before Gfx6, copies are made by the render engine, and
// signals of copy and video engines are refused.
template <class Gen>
bool EmitSignal(Batch<Gen>& batch, EngineKind engine, const address& to, uint64_t value) {
  constexpr CacheDomains kWriting = (1u << kWritingDomains) - 1;
  switch (engine) {
    case EngineKind::kRender:
      return EmitSignal(batch, to, value, {.flush = kWriting, .to_memory = kWriting});
    case EngineKind::kCompute: {
      constexpr CacheDomains kCompute = SetOf(CacheDomain::kData) | SetOf(CacheDomain::kOtherWrite);
      return EmitSignal(batch, to, value, {.flush = kCompute, .to_memory = kCompute},
                        Pipeline::kGpgpu);
    }
    case EngineKind::kCopy:
    case EngineKind::kVideo:
      break;
  }
  if (to.gpu % sizeof(value) != 0) {
    return batch.Refuse(absl::InvalidArgumentError(absl::StrFormat(
        "a signal's 8 bytes are at %#x; the address must be a multiple of 8", to.gpu)));
  }
  if constexpr (requires { typename Gen::Packets::MI_FLUSH_DW; }) {
    return EmitFlush(batch, engine, to, value);
  } else {
    return batch.Refuse(absl::UnimplementedError(absl::StrFormat(
        "%s has no MI_FLUSH_DW, with which copy and video engines signal: blits are "
        "packets of its render engine, whose signals cover them",
        Gen::kName)));
  }
}

// The engine waits until the low 32 bits of the value at `at`, a multiple of 4, are at least
// `value`: for values that grow, such as those of EmitSignal(), and stay below 2^32.
template <class Gen>
requires requires { typename Gen::Packets::MI_SEMAPHORE_WAIT; }
bool EmitWait(Batch<Gen>& batch, const address& at, uint32_t value) {
  using Wait = typename Gen::Packets::MI_SEMAPHORE_WAIT;
  return batch.Emit(Wait{.compare_operation = Wait::COMPARE_OPERATION_SAD_GREATER_THAN_OR_EQUAL_SDD,
                         .wait_mode = Wait::WAIT_MODE_POLLING_MODE,
                         .semaphore_data_dword = value,
                         .semaphore_address = at});
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BATCH_ENGINES_H_
