#include "runtime/intel/compute/compute_core.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "runtime/intel/device/generation_facts.h"

namespace packsmith::intel {

ComputeCore::ComputeCore(const ComputeLimits& limits, gpu::StateStream& states)
    : limits_(limits), constant_bytes_(kMostConstantBytes), states_(states, lifetime_) {}

absl::Status ComputeCore::TakeStatus() { return std::exchange(status_, absl::OkStatus()); }

bool ComputeCore::Refuse(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
  return false;
}

bool ComputeCore::Bind(const ComputeKernel& kernel) {
  const bool variable = kernel.local_size == std::array<uint32_t, 3>();
  // A variable size is checked when it is known; all else is checked now.
  absl::StatusOr<DispatchShape> shape = PlanDispatch(
      kernel, variable ? std::array<uint32_t, 3>{1, 1, 1} : kernel.local_size, limits_);
  if (!shape.ok()) return Refuse(shape.status());
  kernel_ = kernel;
  descriptor_changed_ = true;
  bound_ = true;
  has_shape_ = !variable;
  if (has_shape_) shape_ = *shape;
  return true;
}

bool ComputeCore::SetLocalSize(const std::array<uint32_t, 3>& size) {
  if (!bound_) {
    return Refuse(absl::FailedPreconditionError(
        absl::StrCat(limits_.generation, ": a local size was set, but no kernel is bound")));
  }
  if (kernel_.local_size != std::array<uint32_t, 3>()) {
    if (kernel_.local_size == size) return true;
    return Refuse(absl::FailedPreconditionError(
        absl::StrCat(limits_.generation, ": the kernel was compiled for groups of ",
                     kernel_.local_size[0], "x", kernel_.local_size[1], "x", kernel_.local_size[2],
                     "; only one whose local size is 0x0x0 takes another")));
  }
  absl::StatusOr<DispatchShape> shape = PlanDispatch(kernel_, size, limits_);
  if (!shape.ok()) return Refuse(shape.status());
  shape_ = *shape;
  descriptor_changed_ = true;
  has_shape_ = true;
  return true;
}

bool ComputeCore::SetConstants(absl::Span<const uint8_t> bytes, uint32_t offset) {
  if (bytes.size() > kMostConstantBytes || offset > kMostConstantBytes - bytes.size()) {
    return Refuse(absl::InvalidArgumentError(absl::StrCat(limits_.generation, ": ", bytes.size(),
                                                          " bytes of constants at offset ", offset,
                                                          "; there are ", kMostConstantBytes)));
  }
  if (bytes.empty() ||
      std::memcmp(constant_bytes_.data() + offset, bytes.data(), bytes.size()) == 0) {
    return true;
  }
  std::memcpy(constant_bytes_.data() + offset, bytes.data(), bytes.size());
  changed_end_ = std::max(changed_end_, offset + static_cast<uint32_t>(bytes.size()));
  return true;
}

bool ComputeCore::IsComplete() {
  if (!status_.ok()) return false;
  if (!bound_ || !has_shape_) {
    return Refuse(absl::FailedPreconditionError(absl::StrCat(
        limits_.generation, ": a dispatch needs ",
        bound_ ? "a local size, which the kernel leaves open: call SetLocalSize()" : "a kernel")));
  }
  if (entry().scratch > scratch_.per_thread) {
    return Refuse(absl::FailedPreconditionError(
        absl::StrCat(limits_.generation, ": a thread of the kernel needs ", entry().scratch,
                     " bytes of scratch memory for SIMD", shape_.width(), "; ", scratch_.per_thread,
                     " were set: call SetScratch()")));
  }
  return true;
}

ComputeCore::Layout ComputeCore::LayoutNow() const {
  return {kernel_.constant_bytes,
          kernel_.inline_bytes,
          kernel_.local_ids,
          shape_.constant_registers,
          shape_.thread_registers,
          shape_.threads,
          shape_.last_mask,
          shape_.entry,
          shape_.local};
}

bool ComputeCore::Allocate(uint32_t size, uint32_t alignment, gpu::State& to) {
  if (lifetime_.lost()) return Refuse(lifetime_.status());
  absl::StatusOr<gpu::State> state = states_->Allocate(size, alignment);
  if (!state.ok()) return Refuse(state.status());
  to = *state;
  return true;
}

bool ComputeCore::PrepareConstants(uint32_t alignment, Constants& to) {
  if (kept_ && changed_end_ <= kernel_.inline_bytes && LayoutNow() == layout_) {
    to = constants_;
    to.changed = false;
    return true;
  }
  to = {.size = ConstantMemoryBytes(shape_, limits_), .changed = true};
  if (to.size == 0) return true;
  // What follows the last register is fetched, too.
  const uint32_t room = (to.size + alignment - 1) / alignment * alignment;
  if (!Allocate(room, alignment, to.state)) return false;
  WriteConstantMemory(
      kernel_, shape_, limits_,
      absl::MakeConstSpan(constant_bytes_)
          .subspan(kernel_.inline_bytes, kernel_.constant_bytes - kernel_.inline_bytes),
      absl::MakeSpan(to.state.cpu, to.size));
  std::memset(to.state.cpu + to.size, 0, room - to.size);
  return true;
}

void ComputeCore::Keep(const Constants& constants) {
  if (constants.changed) {
    constants_ = constants;
    layout_ = LayoutNow();
    changed_end_ = 0;
  }
  kept_ = true;
}

namespace compute_errors {

absl::Status NoDevice(const char* generation, uint32_t threads, uint32_t subslices) {
  return absl::InvalidArgumentError(absl::StrCat(generation, ": the device has ", subslices,
                                                 " subslices of ", threads,
                                                 " compute threads; both must be at least 1"));
}

absl::Status Scratch(const char* generation, uint32_t per_thread) {
  return absl::InvalidArgumentError(
      absl::StrCat(generation, ": scratch memory of ", per_thread,
                   " bytes for each thread; it must be a power of two from ", kLeastScratch, " to ",
                   kMostScratch));
}

absl::Status NoScratch(const char* generation) {
  return absl::UnimplementedError(
      absl::StrCat(generation, ": how scratch surfaces are described is not known"));
}

absl::Status ScratchSurface(const char* generation, uint32_t offset) {
  return absl::InvalidArgumentError(
      absl::StrCat(generation, ": the surface state of scratch memory is at offset ", offset,
                   "; it must be a multiple of 64, and not 0"));
}

absl::Status DoesNotFit(const char* generation, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(generation, ": ", what));
}

}  // namespace compute_errors

}  // namespace packsmith::intel
