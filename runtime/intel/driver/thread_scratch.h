// Scratch memory of a context, as packets name it: what threads of shaders spill to.
//
//   absl::StatusOr<ThreadScratch> vertex = context.ScratchFor(ScratchStage::kVertex, 3000);
//   packet.scratch_space_base_pointer = vertex->place;   // up to Gfx12
//
// Pipelines and kernels take it by themselves: ShaderScratch::bytes_per_thread and
// KernelEntry::scratch say how much. It is allocated when it is first asked for, and kept.

#ifndef PACKSMITH_RUNTIME_INTEL_DRIVER_THREAD_SCRATCH_H_
#define PACKSMITH_RUNTIME_INTEL_DRIVER_THREAD_SCRATCH_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "packsmith/pack.h"
#include "runtime/base/mutex.h"
#include "runtime/command/buffer_uses.h"
#include "runtime/intel/device/render_devices.h"
#include "runtime/intel/shader/scratch.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/buffers.h"
#include "runtime/memory/state_pool.h"

namespace packsmith::intel {

struct GenerationDriver;

struct ThreadScratch {
  uint32_t per_thread = 0;  // bytes, at least what was asked for: a power of two
  // Up to Gfx12: where it is, from the general state base of command buffers.
  address place = {};
  // From Gfx12.5 on: the offset of its surface state, from their base of bindless surface states.
  uint32_t surface = 0;
  // The buffers of both, which a job lists; 0: none.
  gpu::BufferHandle memory = 0, states = 0;

  void AddUsesTo(std::vector<gpu::BufferUse>& uses) const {
    uses.push_back({memory, gpu::kReads | gpu::kWrites});
    if (states != 0) uses.push_back({states, gpu::kReads});
  }
};

// Bytes of the context's memory that a thread of each stage of a pipeline needs; 0: none.
struct ScratchBytes {
  std::array<uint32_t, kScratchStages> stages = {};
  uint32_t& operator[](ScratchStage stage) { return stages[static_cast<size_t>(stage)]; }
  uint32_t operator[](ScratchStage stage) const { return stages[static_cast<size_t>(stage)]; }
};

// Thread-safe.
class ThreadScratchPool {
 public:
  struct Options {
    RenderDevice device;
    uint32_t subslices = 0;
    uint32_t mocs = 0;
  };

  // What the zones of `space` are called: those of IrisZones(). All must outlive the result.
  static absl::StatusOr<std::unique_ptr<ThreadScratchPool>> Create(
      gpu::Buffers& buffers, const gpu::AddressSpace& space, const GenerationDriver& generation,
      const Options& options);

  // Errors of ScratchPool::Get(); Unimplemented on Xe3, whose surfaces of scratch are not known.
  absl::StatusOr<ThreadScratch> Get(ScratchStage stage, uint32_t bytes_per_thread);
  // Whether the buffer is memory of this pool. Its content matters to nobody but the threads that
  // are running, which all have their own part of it: jobs that use it need not wait for each
  // other.
  bool Has(gpu::BufferHandle buffer) const;

 private:
  ThreadScratchPool(gpu::Buffers& buffers, const GenerationDriver& generation,
                    const Options& options, const ScratchPool::Options& memory)
      : generation_(generation), options_(options), memory_(buffers, memory) {}

  absl::StatusOr<ThreadScratch> Describe(const Scratch& memory)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const GenerationDriver& generation_;
  const Options options_;
  ScratchPool memory_;
  std::unique_ptr<gpu::StatePool> states_;  // of surfaces, from Gfx12.5 on
  mutable Mutex mutex_;
  std::map<gpu::BufferHandle, ThreadScratch> known_ ABSL_GUARDED_BY(mutex_);  // by the memory
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DRIVER_THREAD_SCRATCH_H_
