// Stream output of command buffers of one generation: methods of CommandBufferOf.
//
// How much of a buffer is written is in registers, SO_WRITE_OFFSET0 to 3, which are loaded at the
// beginning and stored at the end, as Mesa's anv does (genX_cmd_buffer.c,
// CmdBeginTransformFeedbackEXT).

#ifndef PACKSMITH_RUNTIME_INTEL_DRIVER_STREAM_OUTPUT_OF_H_
#define PACKSMITH_RUNTIME_INTEL_DRIVER_STREAM_OUTPUT_OF_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "packsmith/pack.h"
#include "runtime/intel/batch/arithmetic.h"
#include "runtime/intel/driver/command_buffer_of.h"
#include "runtime/intel/state/stream_output.h"

namespace packsmith::intel {

// The byte offsets of the registers that hold how much is written.
template <class Gen>
constexpr std::array<uint32_t, kStreamOutBuffers> WrittenRegisters() {
  using G = typename Gen::Packets;
  return {G::SO_WRITE_OFFSET0::register_offset, G::SO_WRITE_OFFSET1::register_offset,
          G::SO_WRITE_OFFSET2::register_offset, G::SO_WRITE_OFFSET3::register_offset};
}

// Division of numbers below 2^30 by a constant, as a product: exact, because the factor is rounded
// up and has 30 bits more than the divisor (Granlund and Montgomery, "Division by Invariant
// Integers using Multiplication", theorem 4.2).
struct DivisionFactor {
  uint64_t factor = 1;
  unsigned shift = 0;
};
constexpr DivisionFactor DivisionBy(uint32_t divisor) {
  if (std::has_single_bit(divisor)) {
    return {1, static_cast<unsigned>(std::countr_zero(divisor))};
  }
  const unsigned shift = 30 + static_cast<unsigned>(std::bit_width(divisor));
  return {((uint64_t{1} << shift) + divisor - 1) / divisor, shift};
}

template <class Gen>
bool CommandBufferOf<Gen>::TrackStreamOutput(bool begins) {
  std::array<TrackedUse, 2 * kStreamOutBuffers> uses;
  size_t count = 0;
  for (const StreamOutputBuffer& buffer : streamed_) {
    if (buffer.memory.gpu == 0) continue;
    uses[count++] = {buffer.memory.buffer, CacheDomain::kOtherWrite};
    if (begins ? !buffer.append : buffer.written.gpu == 0) continue;
    uses[count++] = {buffer.written.buffer,
                     begins ? CacheDomain::kOtherRead : CacheDomain::kOtherWrite};
  }
  ++changes_;
  // The registers must not change while draws use them, and have their values when draws are done.
  return Track(absl::MakeConstSpan(uses.data(), count)) &&
         EmitTracked({.flush = SetOf(CacheDomain::kOtherWrite), .wait = true});
}

template <class Gen>
bool CommandBufferOf<Gen>::BeginStreamOutput(absl::Span<const StreamOutputBuffer> buffers) {
  if (!CanDraw()) return false;
  if (streaming_) {
    return Refuse(absl::FailedPreconditionError(
        "stream output has begun already; EndStreamOutput() must precede"));
  }
  if (buffers.size() > kStreamOutBuffers) {
    return Refuse(absl::InvalidArgumentError(absl::StrCat(
        buffers.size(), " buffers for stream output; there are at most ", kStreamOutBuffers)));
  }
  std::array<StreamOutBuffer, kStreamOutBuffers> set;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const StreamOutputBuffer& from = buffers[i];
    if (from.written.gpu % 4 != 0 || (from.append && from.written.gpu == 0)) {
      return Refuse(absl::InvalidArgumentError(
          absl::StrCat("stream output buffer ", i,
                       from.append && from.written.gpu == 0
                           ? " continues, but says not where its size is: set `written`"
                           : " keeps its size at an address that is not a multiple of 4")));
    }
    if (from.memory.gpu != 0) set[i] = {.memory = from.memory, .size = from.size};
  }
  if (!Check(SetStreamOutBuffers(*state_, absl::MakeConstSpan(set), context().mocs()))) {
    return false;
  }
  streamed_ = {};
  for (size_t i = 0; i < buffers.size(); ++i) streamed_[i] = buffers[i];
  if (!Select(Pipeline::k3D) || !TrackStreamOutput(true)) return false;
  constexpr auto kRegisters = WrittenRegisters<Gen>();
  for (size_t i = 0; i < streamed_.size(); ++i) {
    const StreamOutputBuffer& from = streamed_[i];
    if (from.memory.gpu == 0) continue;
    const bool good = from.append
                          ? batch_.Emit(typename Gen::LoadRegister{
                                .register_address = kRegisters[i], .memory_address = from.written})
                          : batch_.Emit(typename Gen::LoadRegisterConstant{
                                .register_offset_ = kRegisters[i], .data_dword = 0});
    if (!good) return false;
  }
  streaming_ = true;
  draws_->SetStreaming(true);
  return true;
}

template <class Gen>
bool CommandBufferOf<Gen>::EndStreamOutput() {
  if (!CanDraw()) return false;
  if (!streaming_) {
    return Refuse(absl::FailedPreconditionError(
        "stream output has not begun: BeginStreamOutput() begins it"));
  }
  streaming_ = false;
  draws_->SetStreaming(false);
  if (!Select(Pipeline::k3D) || !TrackStreamOutput(false)) return false;
  constexpr auto kRegisters = WrittenRegisters<Gen>();
  for (size_t i = 0; i < streamed_.size(); ++i) {
    const StreamOutputBuffer& from = streamed_[i];
    if (from.memory.gpu == 0 || from.written.gpu == 0) continue;
    if (!batch_.Emit(typename Gen::StoreRegister{.register_address = kRegisters[i],
                                                 .memory_address = from.written})) {
      return false;
    }
  }
  return Check(SetStreamOutBuffers(*state_, {}, context().mocs()));
}

template <class Gen>
bool CommandBufferOf<Gen>::Draw(const StreamOutputDraw& draw) {
  using Load = typename Gen::LoadRegisterConstant;
  if (!CanDraw()) return false;
  if (draw.stride == 0 || draw.stride % 4 != 0 || draw.offset % 4 != 0 || draw.written.gpu == 0) {
    return Refuse(absl::InvalidArgumentError(absl::StrCat(
        "a draw of what stream output wrote, from offset ", draw.offset, " on with a stride of ",
        draw.stride, " bytes; both must be multiples of 4, the stride not 0, and `written` set")));
  }
  uint32_t instances = draw.instances;
  if (!TakeViews(instances)) return false;
  const auto set = [](uint32_t offset, uint32_t value) {
    return Load{.register_offset_ = offset, .data_dword = value};
  };
  constexpr bool kHasDrawNumber = requires { typename G::_3DPRIM_XP2; };
  return EmitDraw({.first_instance = draw.first_instance}, draw.written, [&]<class P>(P& packet) {
    packet.indirect_parameter_enable = true;
    packet.vertex_access_type = P::VERTEX_ACCESS_TYPE_SEQUENTIAL;
    if constexpr (kHasDrawNumber) {
      if constexpr (requires { packet.extended_parameter_2; }) {
        if (!batch_.Emit(set(G::_3DPRIM_XP2::register_offset, 0))) return false;
      }
    }
    Arithmetic<Gen> math(batch_, {.mocs = context().mocs()});
    const DivisionFactor divisor = DivisionBy(draw.stride / 4);
    const auto dwords = (math.Load32(draw.written) - math.Constant(draw.offset)) >> 2;
    const auto vertices = (dwords * math.Constant(divisor.factor)) >> divisor.shift;
    return math.StoreRegister32(G::_3DPRIM_VERTEX_COUNT::register_offset, vertices) &&
           batch_.Emit(set(G::_3DPRIM_INSTANCE_COUNT::register_offset, instances),
                       set(G::_3DPRIM_START_VERTEX::register_offset, 0),
                       set(G::_3DPRIM_START_INSTANCE::register_offset, draw.first_instance),
                       set(G::_3DPRIM_BASE_VERTEX::register_offset, 0));
  });
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DRIVER_STREAM_OUTPUT_OF_H_
