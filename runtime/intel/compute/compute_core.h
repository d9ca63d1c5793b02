// The generation-independent part of ComputeState: what is wanted, and the constants in memory.

#ifndef PACKSMITH_RUNTIME_INTEL_COMPUTE_COMPUTE_CORE_H_
#define PACKSMITH_RUNTIME_INTEL_COMPUTE_COMPUTE_CORE_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/intel/compute/compute_kernel.h"
#include "runtime/intel/compute/dispatch_shape.h"
#include "runtime/memory/state_stream.h"

namespace packsmith::intel {

// Not thread-safe. Only the constructor allocates, and the stream when its block is full.
class ComputeCore {
 public:
  ComputeCore(const ComputeCore&) = delete;
  ComputeCore& operator=(const ComputeCore&) = delete;

  // The first error since the beginning, or since TakeStatus().
  const absl::Status& status() const { return status_; }
  absl::Status TakeStatus();

  // The next dispatches run this kernel. It is copied. False, and the earlier one stays, if it does
  // not fit the device: see PlanDispatch().
  bool Bind(const ComputeKernel& kernel);
  // Of a kernel whose own is 0, 0, 0; called after Bind(). False, and the earlier one stays, if no
  // SIMD width of the kernel takes a group of this size.
  bool SetLocalSize(const std::array<uint32_t, 3>& size);
  // Constants that all threads share, from byte `offset` on; they are 0 until they are set, and are
  // kept when another kernel is bound. False if they end after kMostConstantBytes.
  bool SetConstants(absl::Span<const uint8_t> bytes, uint32_t offset = 0);
  void SetTables(const ComputeTables& tables) {
    descriptor_changed_ |= !(tables == tables_);
    tables_ = tables;
  }
  // False, and the earlier one stays, if its size does not fit the generation's encoding.
  virtual bool SetScratch(const ComputeScratch& scratch) = 0;

  const ComputeLimits& limits() const { return limits_; }
  // Of the bound kernel, as it will be dispatched; valid if has_shape().
  const DispatchShape& shape() const { return shape_; }
  bool has_shape() const { return has_shape_; }

 protected:
  // states: memory for constants and descriptors; the offsets of its pool count from the base that
  // the generation's packets name. It must outlive this.
  ComputeCore(const ComputeLimits& limits, gpu::StateStream& states);
  virtual ~ComputeCore() = default;

  bool Refuse(absl::Status status);
  // Whether there is something to dispatch, with scratch memory that is large enough.
  bool IsComplete();

  const KernelEntry& entry() const { return kernel_.entries[shape_.entry]; }
  // The constants in memory, with each thread's own. Written anew if they have changed; `size` 0:
  // there are none. Null if there is no memory. They are current once Keep() is called.
  struct Constants {
    gpu::State state = {};
    uint32_t size = 0;  // bytes: whole registers
    bool changed = false;
  };
  bool PrepareConstants(uint32_t alignment, Constants& to);
  void Keep(const Constants& constants);
  void ForgetConstants() { kept_ = false; }
  const Constants& kept_constants() const { return constants_; }
  bool constants_kept() const { return kept_; }
  // `size` bytes of memory, or false.
  bool Allocate(uint32_t size, uint32_t alignment, gpu::State& to);

  const ComputeLimits limits_;
  ComputeKernel kernel_;
  ComputeTables tables_;
  ComputeScratch scratch_;
  std::vector<uint8_t> constant_bytes_;
  // Since the last dispatch, what the descriptor and the front end's packet depend on may have
  // changed.
  bool descriptor_changed_ = true, front_changed_ = true;

 private:
  // What the layout of the constants in memory depends on.
  struct Layout {
    uint32_t constant_bytes = 0, inline_bytes = 0;
    LocalIds local_ids = LocalIds::kComputed;
    uint32_t registers = 0, thread_registers = 0, threads = 0, last_mask = 0;
    unsigned entry = 0;
    std::array<uint32_t, 3> local = {};

    friend bool operator==(const Layout&, const Layout&) = default;
  };
  Layout LayoutNow() const;

  gpu::StateStream& states_;
  absl::Status status_;
  bool bound_ = false, has_shape_ = false;
  DispatchShape shape_;
  Constants constants_;
  Layout layout_;
  bool kept_ = false;
  uint32_t changed_end_ = 0;  // constants before this have been set since the last Keep()
};

// Sentences of ComputeState's errors.
namespace compute_errors {
absl::Status NoDevice(const char* generation, uint32_t threads, uint32_t subslices);
absl::Status Scratch(const char* generation, uint32_t per_thread);
absl::Status NoScratch(const char* generation);
absl::Status ScratchSurface(const char* generation, uint32_t offset);
// Of a field of the descriptor or a packet.
absl::Status DoesNotFit(const char* generation, const std::string& what);
}  // namespace compute_errors

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_COMPUTE_COMPUTE_CORE_H_
