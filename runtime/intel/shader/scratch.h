// Scratch memory: what threads of shaders spill to, one piece for each thread of the device.
//
//   ScratchPool scratch(buffers, {.device = skylake, .subslices = 3,
//                                 .facts = &Gfx9::kFacts, .zone = low, .general_base = 0});
//   absl::StatusOr<Scratch> vertex = scratch.Get(ScratchStage::kVertex, 3000);
//   packet.per_thread_scratch_space = vertex->code;
//   packet.scratch_space_base_pointer = vertex->base;
//
// A stage's memory of one size is allocated when it is first asked for, and kept. From Gfx12.5 on
// packets name a surface state instead (binding/surface_states.h), and stages share the memory:
//
//   ScratchSurface surface{.memory = {s.memory.address, s.memory.handle},
//                          .size = s.threads * s.per_thread, .per_thread = s.per_thread, …};
//   packet.scratch_space_buffer = ScratchPointer(Gfx125::kFacts, offset_of_its_state);
//
// Thread-safe.

#ifndef PACKSMITH_RUNTIME_INTEL_SHADER_SCRATCH_H_
#define PACKSMITH_RUNTIME_INTEL_SHADER_SCRATCH_H_

#include <cstdint>
#include <map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "packsmith/pack.h"
#include "runtime/base/lifetime.h"
#include "runtime/base/mutex.h"
#include "runtime/intel/device/generation_facts.h"
#include "runtime/intel/device/render_devices.h"
#include "runtime/memory/buffers.h"

namespace packsmith::intel {

enum class ScratchStage : uint8_t {
  kVertex,
  kHull,
  kDomain,
  kGeometry,
  kPixel,
  kCompute,
  kTask,
  kMesh
};
inline constexpr unsigned kScratchStages = static_cast<unsigned>(ScratchStage::kMesh) + 1;

struct Scratch {
  uint32_t per_thread = 0;  // bytes, at least what was asked for: a power of two from 1024 on
  uint32_t code = 0;        // of Per-Thread Scratch Space, up to Gfx12: log2 of the KiB
  uint64_t threads = 0;     // that the memory is for
  // Where it is, from the general state base: Scratch Space Base Pointer, up to Gfx12.
  address base = {};
  gpu::Buffer memory;
};

// Threads of a stage that use scratch memory at the same time, at most: those of the device that
// the hardware numbers, whether it has them or not.
uint64_t ScratchThreads(const RenderDevice& device, const GenerationFacts& facts,
                        uint32_t subslices, ScratchStage stage);

class ScratchPool {
 public:
  struct Options {
    RenderDevice device;
    uint32_t subslices = 0;  // that work; from Gfx12 on dual ones
    const GenerationFacts* facts = nullptr;
    gpu::ZoneId zone = {};
    uint64_t general_base = 0;  // the general state base
    // Where in the zone: at its end, if others take it from its beginning.
    gpu::Placement placement = gpu::Placement::kBest;
  };

  // `buffers` must outlive this.
  ScratchPool(gpu::Buffers& buffers, const Options& options)
      : buffers_(buffers, lifetime_), options_(options) {}
  // Releases all of it.
  ~ScratchPool();
  ScratchPool(const ScratchPool&) = delete;
  ScratchPool& operator=(const ScratchPool&) = delete;

  // Memory for shaders of a stage whose threads need this many bytes each. InvalidArgument if that
  // is 0 or more than 2 MiB (Gfx12.5 and later: 256 KiB); errors of Buffers::Create().
  absl::StatusOr<Scratch> Get(ScratchStage stage, uint32_t per_thread);

  uint64_t allocated_bytes() const;

 private:
  Lifetime lifetime_{"scratch pool"};
  const Reference<gpu::Buffers> buffers_;
  const Options options_;
  mutable Mutex mutex_;
  // By stage and code.
  std::map<std::pair<ScratchStage, uint32_t>, Scratch> all_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_SHADER_SCRATCH_H_
