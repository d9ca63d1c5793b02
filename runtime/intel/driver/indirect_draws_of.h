// Draws of command buffers whose numbers lie in memory: through IndirectDrawer, which chooses how
// they are executed.

#ifndef PACKSMITH_RUNTIME_INTEL_DRIVER_INDIRECT_DRAWS_OF_H_
#define PACKSMITH_RUNTIME_INTEL_DRIVER_INDIRECT_DRAWS_OF_H_

#include "packsmith/pack.h"
#include "runtime/command/chunks.h"
#include "runtime/intel/batch/cache_tracker.h"
#include "runtime/intel/compute/compute_state.h"
#include "runtime/intel/driver/command_buffer.h"
#include "runtime/intel/driver/context.h"
#include "runtime/intel/driver/draws.h"
#include "runtime/intel/driver/graphics_pipeline.h"
#include "runtime/intel/driver/recorders.h"
#include "runtime/intel/indirect/draw_list.h"
#include "runtime/intel/indirect/indirect_drawer.h"

namespace packsmith::intel {

template <class Gen>
class IndirectRecorder {
 public:
  // chunks: for what the kernel's dispatches and draws take.
  IndirectRecorder(const RecorderParts<Gen>& parts, gpu::ChunkSource& chunks,
                   const CommandBufferOptions& options)
      : parts_(parts),
        drawer_(parts.batch, {.device = {.device = parts.context.device(),
                                         .subslices = parts.context.subslices(),
                                         .mocs = parts.context.mocs()},
                              .kernel = options.draw_kernel,
                              .chunks = &chunks,
                              .states = &parts.recording.dynamic(),
                              .thresholds = options.draw_thresholds,
                              .mocs = parts.context.mocs()}) {}

  // What must be emitted before the numbers at an address are read, by the streamer or the kernel.
  static CacheBarrier NeedsOf(const CacheTracker& caches, const address& numbers) {
    CacheBarrier barrier = caches.Needs(numbers.buffer, CacheDomain::kOtherRead);
    const CacheBarrier kernel = caches.Needs(numbers.buffer, CacheDomain::kData);
    barrier.flush |= kernel.flush;  // the kernel only reads: it need not wait for readers
    barrier.to_memory |= kernel.to_memory;
    barrier.invalidate |= kernel.invalidate;
    barrier.from_memory |= kernel.from_memory;
    if (!barrier.empty()) barrier.invalidate |= SetOf(CacheDomain::kOtherRead);
    return barrier;
  }
  // Before any barrier: if it makes draws' numbers visible, those before it are generated before
  // it.
  bool Before(const CacheBarrier& barrier) {
    const bool closes = (barrier.invalidate & SetOf(CacheDomain::kOtherRead)) != 0;
    return !closes || drawer_.Close();
  }
  // State and caches are the draws' already. pipeline: the one that is bound.
  bool Draw(const IndirectDrawCall& draws, const GraphicsPipeline& pipeline, bool predicated) {
    const DrawList list{.arguments = draws.arguments,
                        .draws = draws.draws,
                        .stride = draws.stride,
                        .indexed = draws.indexed,
                        .count = draws.count,
                        .predicated = predicated,
                        .reads_base = pipeline.reads_first(),
                        .reads_number = pipeline.reads_draw_id()};
    return drawer_.Draw(list, [this](bool dispatched) {
      if (!dispatched) return true;
      parts_.state.template Emitted<typename Gen::Packets::PIPELINE_SELECT>();
      parts_.compute.Forget();
      return parts_.state.Flush(parts_.batch) || parts_.batch.Refuse(parts_.state.status());
    });
  }
  bool End() { return drawer_.End(); }

 private:
  const RecorderParts<Gen> parts_;
  IndirectDrawer<Gen> drawer_;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DRIVER_INDIRECT_DRAWS_OF_H_
