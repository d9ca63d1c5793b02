#include "runtime/intel/shader/scratch.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace packsmith::intel {
namespace {

// What shaders of a stage have for themselves: RenderDevice::threads.
uint64_t ThreadsOf(const RenderDevice& device, uint64_t subslices, ScratchStage stage) {
  switch (stage) {
    case ScratchStage::kVertex:
      return device.threads.vertex;
    case ScratchStage::kHull:
      return device.threads.hull;
    case ScratchStage::kDomain:
      return device.threads.domain;
    case ScratchStage::kGeometry:
      return device.threads.geometry;
    case ScratchStage::kPixel:
      // No subslice has more than two dispatchers.
      return 2 * subslices * device.threads.pixel;
    default:
      return 0;
  }
}

}  // namespace

uint64_t ScratchThreads(const RenderDevice& device, const GenerationFacts& facts,
                        uint32_t subslices, ScratchStage stage) {
  const uint64_t numbered = std::max(
      {subslices, facts.scratch_subslices_of_slice * device.slices, facts.scratch_subslices});
  uint64_t of_subslice = device.scratch_threads;
  if (of_subslice == 0) of_subslice = facts.scratch_threads;
  if (of_subslice == 0) of_subslice = device.threads.compute;
  if (facts.stages_share_scratch || stage >= ScratchStage::kCompute) return numbered * of_subslice;
  const uint64_t of_pixels =
      std::max<uint64_t>(numbered, facts.pixel_scratch_subslices_of_slice * device.slices);
  return ThreadsOf(device, of_pixels, stage);
}

ScratchPool::~ScratchPool() {
  lifetime_.End();
  if (!buffers_) return;
  MutexLock lock(mutex_);
  for (const auto& [key, scratch] : all_) (void)buffers_->Release(scratch.memory.handle);
}

absl::StatusOr<Scratch> ScratchPool::Get(ScratchStage stage, uint32_t per_thread) {
  if (lifetime_.lost()) return lifetime_.status();
  const GenerationFacts& facts = *options_.facts;
  const uint32_t most = MostScratch(facts);
  if (per_thread == 0 || per_thread > most) {
    return absl::InvalidArgumentError(
        absl::StrCat("scratch memory of ", per_thread, " bytes for each thread; 1 to ", most,
                     " are possible: let the shader use a buffer instead"));
  }
  const uint32_t code = ScratchCode(per_thread);
  // Where stages share their numbers of threads, they share the memory.
  if (facts.stages_share_scratch) stage = ScratchStage::kCompute;
  MutexLock lock(mutex_);
  const auto found = all_.find({stage, code});
  if (found != all_.end()) return found->second;
  Scratch scratch{.per_thread = kLeastScratch << code,
                  .code = code,
                  .threads = ScratchThreads(options_.device, facts, options_.subslices, stage),
                  .base = {},
                  .memory = {}};
  if (scratch.threads == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the device has no threads of this stage: subslices ", options_.subslices));
  }
  absl::StatusOr<gpu::Buffer> memory =
      buffers_->Create({.size = scratch.threads * scratch.per_thread,
                        .zone = options_.zone,
                        .name = "scratch",
                        .alignment = 4096,
                        .placement = options_.placement});
  if (!memory.ok()) return memory.status();
  scratch.memory = *memory;
  scratch.base = {memory->address - options_.general_base, memory->handle};
  all_.emplace(std::pair(stage, code), scratch);
  return scratch;
}

uint64_t ScratchPool::allocated_bytes() const {
  MutexLock lock(mutex_);
  uint64_t bytes = 0;
  for (const auto& [key, scratch] : all_) bytes += scratch.memory.size;
  return bytes;
}

}  // namespace packsmith::intel
