// Memory that builders write to, and the addresses that records hold.

#ifndef PACKSMITH_RUNTIME_AGX_GPU_MEMORY_H_
#define PACKSMITH_RUNTIME_AGX_GPU_MEMORY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "packsmith/names.h"
#include "packsmith/pack.h"
#include "runtime/command/buffer_uses.h"

namespace packsmith::agx {

// A part of one buffer: the GPU reads at `gpu` what the CPU writes to `bytes`.
struct GpuMemory {
  address gpu;
  absl::Span<uint8_t> bytes;

  // The rest of it, from `offset`, which must be at most its size.
  GpuMemory From(size_t offset) const {
    return {{gpu.gpu + offset, gpu.buffer, gpu.use}, bytes.subspan(offset)};
  }
};

// From a type that has the members of gpu::State or gpu::Buffer.
template <class State>
GpuMemory MemoryOf(const State& state) {
  uint32_t handle;
  if constexpr (requires { state.buffer; }) {
    handle = state.buffer;
  } else {
    handle = state.handle;
  }
  return {{state.address, handle}, {state.cpu, static_cast<size_t>(state.size)}};
}

// Records of control streams hold an address in two fields, one of which is called "hi". Low()
// keeps the buffer, so that uses are noted once. Packing rejects an address that is too wide for
// the two, and names its upper field.
constexpr uint32_t High(const address& a) {
  const uint64_t high = a.gpu >> 32;
  return high > ~uint32_t{0} ? ~uint32_t{0} : static_cast<uint32_t>(high);
}
constexpr address Low(const address& a) { return {a.gpu & 0xffffffff, a.buffer, a.use}; }

// Addresses of programs, their code and coefficient bindings are 32-bit offsets from a base that
// the kernel driver is given for each job; zero by default.
class ProgramBase {
 public:
  ProgramBase() = default;
  explicit ProgramBase(uint64_t gpu) : gpu_(gpu) {}

  uint64_t gpu() const { return gpu_; }
  // What a record holds to point to `a`. OutOfRange unless `a` is within 4 GiB from the base.
  absl::StatusOr<address> Offset(const address& a) const {
    if (a.gpu < gpu_ || a.gpu - gpu_ > 0xffffffff) {
      return absl::OutOfRangeError(
          absl::StrFormat("32 bits cannot hold the offset of %#x, which is not within 4 GiB from "
                          "the base %#x: allocate programs, code and coefficient bindings there",
                          a.gpu, gpu_));
    }
    return address(a.gpu - gpu_, a.buffer, a.use);
  }

 private:
  uint64_t gpu_ = 0;
};

// Notes the buffers that a record's addresses point to.
template <class Record>
void NoteUses(gpu::BufferUses& uses, const Record& record) {
  record.for_each_address([&](const address& a, unsigned, unsigned, unsigned, access how) {
    const gpu::UseFlags flags = gpu::UseOf(how);
    if (a.buffer != 0 && !uses.Known(a.buffer, flags)) uses.Add(a.buffer, flags);
  });
}

// Size of a record in bytes, with the parts that it announces.
template <class Record>
constexpr uint32_t SizeOf(const Record& record) {
  if constexpr (requires { record.bytes_needed(); }) {
    return record.bytes_needed();
  } else {
    return Record::size;
  }
}

// The status for an error of pack().
inline absl::Status PackStatus(const error& e, absl::string_view what) {
  if (!e) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat("%s: %s", what, to_text(e)));
}

}  // namespace packsmith::agx

#endif  // PACKSMITH_RUNTIME_AGX_GPU_MEMORY_H_
