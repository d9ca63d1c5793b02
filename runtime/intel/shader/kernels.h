// Kernels in the GPU's memory: each content once, with what hardware may fetch after it.
//
//   Kernels kernels(pool, {.prefetch_bytes = Gfx9::kFacts.kernel_prefetch_bytes});
//   absl::StatusOr<Kernel> kernel = kernels.Upload(instructions);
//   packet.kernel_start_pointer = kernel->offset;
//   batch.Use(kernel->buffer, gpu::kReads);
//   ...
//   absl::Status status = kernels.Release(*kernel);   // the GPU is done with it
//
// Thread-safe.

#ifndef PACKSMITH_RUNTIME_INTEL_SHADER_KERNELS_H_
#define PACKSMITH_RUNTIME_INTEL_SHADER_KERNELS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/base/lifetime.h"
#include "runtime/base/mutex.h"
#include "runtime/memory/state_pool.h"

namespace packsmith::intel {

struct Kernel {
  uint32_t offset = 0;   // from the base of the pool: a multiple of 64
  uint64_t address = 0;  // GPU address
  uint32_t size = 0;     // bytes of instructions, without what follows them
  gpu::BufferHandle buffer = 0;
};

struct KernelStatistics {
  uint64_t kernels = 0;       // in memory
  uint64_t kernel_bytes = 0;  // of their instructions
  uint64_t uploads = 0;       // so far, that took memory …
  uint64_t hits = 0;          // … and that did not, since the content was there
};

class Kernels {
 public:
  struct Options {
    // Bytes after the last instruction that may be fetched: a generation's kernel_prefetch_bytes.
    // They are mapped, and 0.
    uint32_t prefetch_bytes = 512;
    bool share = true;  // false: every upload takes memory of its own
  };

  // pool: in the zone that the instruction base reaches, with that base. It must outlive this.
  Kernels(gpu::StatePool& pool, const Options& options)
      : pool_(pool, lifetime_), options_(options) {}
  // Frees all kernels; the GPU must be done with them.
  ~Kernels();
  Kernels(const Kernels&) = delete;
  Kernels& operator=(const Kernels&) = delete;

  // Instructions in the GPU's memory. InvalidArgument if there are none, or if their size is not a
  // multiple of 8; errors of StatePool::Allocate(); FailedPrecondition if
  // the pool was destroyed.
  absl::StatusOr<Kernel> Upload(absl::Span<const uint8_t> instructions);
  // Undoes one Upload(). Once all of a content are undone its memory is free: the GPU must be done
  // with it. NotFound if there is no such kernel.
  absl::Status Release(const Kernel& kernel);

  // The kernel whose instructions have this offset from the base of the pool among them, and the
  // instructions, which stay where they are until it is released. nullopt: there is none, or
  // kernels are not shared.
  struct Found {
    Kernel kernel;
    absl::Span<const uint8_t> instructions;
  };
  std::optional<Found> At(uint64_t offset) const;

  KernelStatistics statistics() const;

 private:
  struct Entry {
    Kernel kernel;
    uint64_t users = 0;
    const std::string* content = nullptr;  // the key of by_content_; null if it is not shared
  };

  Lifetime lifetime_{"kernels"};
  const Reference<gpu::StatePool> pool_;
  const Options options_;
  mutable Mutex mutex_;
  // Offsets of kernels. Contents are compared whole: two with the same hash are not confused.
  absl::node_hash_map<std::string, uint32_t> by_content_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<uint32_t, Entry> by_offset_ ABSL_GUARDED_BY(mutex_);
  KernelStatistics statistics_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_SHADER_KERNELS_H_
