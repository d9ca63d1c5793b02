#include "runtime/intel/driver/thread_scratch.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/intel/binding/surface.h"
#include "runtime/intel/device/generation_facts.h"
#include "runtime/intel/driver/generation_driver.h"
#include "runtime/memory/zones.h"

namespace packsmith::intel {
namespace {

// What packets reach from the general state base, which is 0 up to Gfx12.
constexpr uint64_t kReach = 4 * gpu::kGiB;
// A surface state, and its alignment.
constexpr uint64_t kStateBytes = 64;
// There are few states: one for each power of two.
constexpr uint64_t kStatesBytes = 256 * gpu::kKiB;

}  // namespace

absl::StatusOr<std::unique_ptr<ThreadScratchPool>> ThreadScratchPool::Create(
    gpu::Buffers& buffers, const gpu::AddressSpace& space, const GenerationDriver& generation,
    const Options& options) {
  const GenerationFacts& facts = FactsOf(generation.version);
  const bool surfaces = facts.scratch_pointer_shift != 0;
  const absl::StatusOr<gpu::ZoneId> other = space.FindZone("other");
  if (!other.ok()) return other.status();
  ScratchPool::Options memory{.device = options.device,
                              .subslices = options.subslices,
                              .facts = &facts,
                              .zone = *other,
                              .general_base = 0};
  if (!surfaces && space.zone(*other).end > kReach) {
    // Kernels take this zone from its beginning.
    const absl::StatusOr<gpu::ZoneId> low = space.FindZone("shader");
    if (!low.ok()) return low.status();
    memory.zone = *low;
    memory.placement = gpu::Placement::kHighest;
  }
  std::unique_ptr<ThreadScratchPool> made(
      new ThreadScratchPool(buffers, generation, options, memory));
  if (!surfaces) return made;
  const absl::StatusOr<gpu::ZoneId> zone = space.FindZone("scratch");
  if (!zone.ok()) return zone.status();
  // Offset 0 is that of no surface.
  absl::StatusOr<std::unique_ptr<gpu::StatePool>> states =
      gpu::StatePool::Create(buffers, space,
                             {.zone = *zone,
                              .name = "scratch surfaces",
                              .begin = kStateBytes,
                              .smallest = kStateBytes,
                              .first_block = kStatesBytes,
                              .largest_block = kStatesBytes});
  if (!states.ok()) return states.status();
  made->states_ = *std::move(states);
  return made;
}

absl::StatusOr<ThreadScratch> ThreadScratchPool::Get(ScratchStage stage,
                                                     uint32_t bytes_per_thread) {
  const GenerationFacts& facts = FactsOf(generation_.version);
  if (states_ != nullptr && !facts.has_scratch_surfaces) {
    return absl::UnimplementedError(
        absl::StrCat(generation_.name,
                     ": how surfaces of scratch memory are described is not "
                     "known; let the shader use a buffer instead"));
  }
  const absl::StatusOr<Scratch> memory = memory_.Get(stage, bytes_per_thread);
  if (!memory.ok()) return memory.status();
  MutexLock lock(mutex_);
  if (const auto found = known_.find(memory->memory.handle); found != known_.end()) {
    return found->second;
  }
  return Describe(*memory);
}

absl::StatusOr<ThreadScratch> ThreadScratchPool::Describe(const Scratch& memory) {
  ThreadScratch made{.per_thread = memory.per_thread, .memory = memory.memory.handle};
  if (states_ == nullptr) {
    made.place = memory.base;
  } else {
    const absl::StatusOr<gpu::State> state = states_->Allocate(kStateBytes, kStateBytes);
    if (!state.ok()) return state.status();
    const ScratchSurface surface{.memory = {memory.memory.address, memory.memory.handle},
                                 .size = memory.threads * memory.per_thread,
                                 .per_thread = memory.per_thread,
                                 .mocs = options_.mocs};
    absl::Status status = generation_.write_scratch_surface(
        surface, reinterpret_cast<uint32_t*>(state->cpu), nullptr);
    if (status.ok()) status = states_->Flush(*state, kStateBytes);
    if (!status.ok()) {
      (void)states_->Free(state->offset);
      return status;
    }
    made.surface = state->offset;
    made.states = state->buffer;
  }
  known_.emplace(made.memory, made);
  return made;
}

bool ThreadScratchPool::Has(gpu::BufferHandle buffer) const {
  MutexLock lock(mutex_);
  return known_.count(buffer) != 0;
}

}  // namespace packsmith::intel
