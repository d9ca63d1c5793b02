#include "runtime/intel/compute/media_core.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "runtime/intel/compute/compute_core.h"

namespace packsmith::intel {

absl::Status MediaCore::TakeStatus() { return std::exchange(status_, absl::OkStatus()); }

bool MediaCore::Refuse(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
  return false;
}

bool MediaCore::SetConstants(absl::Span<const uint8_t> bytes) {
  if (bytes.size() > kMostConstants) {
    return Refuse(absl::InvalidArgumentError(
        absl::StrCat(generation_, ": ", bytes.size(), " bytes of constants; at most ",
                     kMostConstants, " can be loaded: put the rest into a buffer")));
  }
  if (std::equal(bytes.begin(), bytes.end(), constants_.begin(), constants_.end())) return true;
  constants_.assign(bytes.begin(), bytes.end());
  constants_changed_ = true;
  return true;
}

bool MediaCore::RefuseDevice(uint32_t threads, uint32_t subslices) {
  return Refuse(compute_errors::NoDevice(generation_, threads, subslices));
}
bool MediaCore::RefuseCount(size_t kernels, size_t most) {
  return Refuse(absl::InvalidArgumentError(
      absl::StrCat(generation_, ": ", kernels, " media kernels; there are from 1 to ", most)));
}
bool MediaCore::RefuseConstants(uint32_t kernel, uint32_t end) {
  return Refuse(absl::FailedPreconditionError(
      absl::StrCat(generation_, ": kernel ", kernel, " reads ", end, " registers of constants; ",
                   constants_.size(), " bytes were set")));
}
bool MediaCore::RefuseOffset(uint32_t kernel, uint32_t offset) {
  return Refuse(absl::InvalidArgumentError(absl::StrCat(generation_, ": kernel ", kernel,
                                                        " begins at offset ", offset,
                                                        "; kernels begin at multiples of 64")));
}
bool MediaCore::RefuseKernel(uint32_t kernel, size_t count) {
  return Refuse(absl::InvalidArgumentError(
      absl::StrCat(generation_, ": a thread of kernel ", kernel, "; ", count, " were set")));
}
bool MediaCore::RefuseInline(size_t dwords, size_t most) {
  return Refuse(absl::InvalidArgumentError(
      absl::StrCat(generation_, ": ", dwords, " dwords of inline data; an entry of the URB has ",
                   most, ": see MediaUrb::entry_registers")));
}
bool MediaCore::RefuseWalk(uint32_t width, uint32_t height, uint32_t most) {
  return Refuse(absl::InvalidArgumentError(absl::StrCat(generation_, ": a walk of ", width, "x",
                                                        height, " blocks; each must be from 1 to ",
                                                        most, ": divide the picture")));
}
bool MediaCore::RefuseScoreboard(uint32_t waits_for, size_t distances) {
  return Refuse(absl::InvalidArgumentError(
      absl::StrCat(generation_, ": a thread waits for distances ", absl::Hex(waits_for),
                   ", a mask, of ", distances, " that the scoreboard has")));
}
bool MediaCore::RefuseScratch(uint32_t per_thread) {
  return Refuse(compute_errors::Scratch(generation_, per_thread));
}

bool MediaCore::WriteState(absl::Span<const uint8_t> bytes, gpu::State& to) {
  const uint64_t room = (bytes.size() + 63) / 64 * 64;
  absl::StatusOr<gpu::State> state = states_.Allocate(room, 64);
  if (!state.ok()) return Refuse(state.status());
  to = *state;
  std::memcpy(to.cpu, bytes.data(), bytes.size());
  std::memset(to.cpu + bytes.size(), 0, room - bytes.size());
  return true;
}

}  // namespace packsmith::intel
