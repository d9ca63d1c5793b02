// Stream output: vertices that are written to buffers.
//
//   const StreamOutVarying written[] = {{.register_index = 1, .buffer = 0, .offset = 0}};
//   absl::StatusOr<StreamOutPlan> plan = PlanStreamOut(written);
//   bool good = SetStreamOutDeclarations(state, *plan);
//   absl::Status status = SetStreamOutBuffers(
//       state, {{.memory = target, .size = 4096, .progress = progress, .begin = 0}}, mocs);
//
// The GPU counts how much of each buffer is written. If it keeps that in memory (`progress`),
// writing continues where it ended when the packets are emitted again, in another context for
// example.
//
// Sources: PRMs, 3DSTATE_SO_BUFFER, 3DSTATE_SO_DECL_LIST and SO_DECL; workarounds are in groups.h.

#ifndef PACKSMITH_RUNTIME_INTEL_STATE_STREAM_OUTPUT_H_
#define PACKSMITH_RUNTIME_INTEL_STATE_STREAM_OUTPUT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "packsmith/names.h"
#include "packsmith/pack.h"
#include "runtime/intel/state/groups.h"

namespace packsmith::intel {

inline constexpr unsigned kVertexStreams = 4;

// Where a register of a vertex is written; registers have four components of 32 bits.
struct StreamOutVarying {
  unsigned stream = 0;          // 0 to 3
  unsigned register_index = 0;  // of the vertex: 0 to 63
  unsigned components = 0xf;    // a bit for each that is written: 1 is x, 8 is w
  unsigned buffer = 0;          // 0 to 3
  unsigned offset = 0;          // in bytes, from the vertex's beginning in the buffer
};

// A declaration of what comes next in the buffer, in the hardware's order.
struct StreamOutDeclaration {
  unsigned buffer = 0;
  unsigned register_index = 0;
  unsigned components = 0;
  bool hole = false;  // `components` are skipped

  friend bool operator==(const StreamOutDeclaration&, const StreamOutDeclaration&) = default;
};

struct StreamOutPlan {
  std::array<std::vector<StreamOutDeclaration>, kVertexStreams> streams;
  std::array<unsigned, kVertexStreams> buffers = {};  // buffers that the stream writes, a bit each
};

// Varyings may be in any order; holes are filled in. InvalidArgument, naming the varying, for
// numbers out of range, offsets that are not multiples of 4, overlaps, a buffer that two streams
// write, and more than 128 declarations of a stream.
absl::StatusOr<StreamOutPlan> PlanStreamOut(absl::Span<const StreamOutVarying> varyings);

// Sets the declarations of a draw state. False if the state refuses them.
template <class State>
bool SetStreamOutDeclarations(State& state, const StreamOutPlan& plan) {
  using G = typename State::Packets;
  std::array<typename G::SO_DECL_ENTRY, kMostStreamOutDeclarations> entries = {};
  size_t count = 0;
  const auto fill = [&](unsigned stream, auto member) {
    for (size_t i = 0; i < plan.streams[stream].size() && i < entries.size(); ++i) {
      const StreamOutDeclaration& from = plan.streams[stream][i];
      entries[i].*member = {.component_mask = from.components,
                            .register_index = from.register_index,
                            .hole_flag = from.hole,
                            .output_buffer_slot = from.buffer};
      if (i >= count) count = i + 1;
    }
    return static_cast<uint32_t>(plan.streams[stream].size());
  };
  using Entry = typename G::SO_DECL_ENTRY;
  const auto& [buffers_0, buffers_1, buffers_2, buffers_3] = plan.buffers;
  const typename G::_3DSTATE_SO_DECL_LIST list{
      .stream_to_buffer_selects_0 = buffers_0,
      .stream_to_buffer_selects_1 = buffers_1,
      .stream_to_buffer_selects_2 = buffers_2,
      .stream_to_buffer_selects_3 = buffers_3,
      .num_entries_0 = fill(0, &Entry::stream_0_decl),
      .num_entries_1 = fill(1, &Entry::stream_1_decl),
      .num_entries_2 = fill(2, &Entry::stream_2_decl),
      .num_entries_3 = fill(3, &Entry::stream_3_decl),
  };
  return state.SetItems(list, span<const Entry>(entries.data(), static_cast<unsigned>(count)));
}

struct StreamOutBuffer {
  address memory = {};    // a multiple of 4
  uint64_t size = 0;      // in bytes: a multiple of 4, up to 4 GiB; 0: no buffer
  address progress = {};  // 4 bytes, in which the GPU keeps how much is written; 0: in a register
  // Where the next draw begins to write: bytes from the buffer's beginning. nullopt: it continues.
  std::optional<uint32_t> begin = {};
};

// Sets all four buffers of a draw state; those that are not given are off. `begin` applies only to
// the next flush; setting buffers again before that cancels it. InvalidArgument, naming the buffer,
// for values that do not fit: nothing is set then.
template <class State>
absl::Status SetStreamOutBuffers(State& state, absl::Span<const StreamOutBuffer> buffers,
                                 uint32_t mocs) {
  using G = typename State::Packets;
  // All ones: from memory.
  constexpr uint32_t kFromMemory = ~uint32_t{0};
  if (buffers.size() > kStreamOutBuffers) {
    return absl::InvalidArgumentError(
        absl::StrCat(buffers.size(), " buffers for stream output; the maximum is 4"));
  }
  // `body`: that of a packet, or the packet itself. once: with the values for the next draw.
  const auto describe = [&](auto& body, size_t i, bool once) {
    body.mocs = mocs;
    if (i >= buffers.size() || buffers[i].size == 0) return;
    const StreamOutBuffer& from = buffers[i];
    const bool in_memory = from.progress.gpu != 0;
    body.so_buffer_enable = true;
    body.surface_base_address = from.memory;
    body.surface_size = static_cast<uint32_t>(from.size / 4 - 1);
    body.stream_output_buffer_offset_address_enable = in_memory;
    body.stream_output_buffer_offset_address = from.progress;
    once = once && from.begin.has_value();
    body.stream_offset_write_enable = in_memory || once;
    body.stream_offset = once ? *from.begin : in_memory ? kFromMemory : 0;
  };
  const auto check = [&](size_t i, const error& e) {
    const StreamOutBuffer& from = i < buffers.size() ? buffers[i] : StreamOutBuffer();
    if (from.size % 4 != 0 || from.size > uint64_t{1} << 32 || from.begin.value_or(0) % 4 != 0 ||
        from.begin == kFromMemory) {
      return absl::InvalidArgumentError(
          absl::StrCat("stream output buffer ", i, " of ", from.size, " bytes, written from ",
                       from.begin.value_or(0), " on; both must be multiples of 4, up to 4 GiB"));
    }
    if (!e) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("stream output buffer ", i, ": ", to_text(e)));
  };
  const auto starts = [&](size_t i) {
    return i < buffers.size() && buffers[i].size != 0 && buffers[i].begin.has_value();
  };

  if constexpr (requires { typename G::_3DSTATE_SO_BUFFER_INDEX_0; }) {
    const auto each = [&](auto f) {
      f(0, typename G::_3DSTATE_SO_BUFFER_INDEX_0());
      f(1, typename G::_3DSTATE_SO_BUFFER_INDEX_1());
      f(2, typename G::_3DSTATE_SO_BUFFER_INDEX_2());
      f(3, typename G::_3DSTATE_SO_BUFFER_INDEX_3());
    };
    absl::Status status;
    each([&](size_t i, auto packet) {
      describe(packet.so_buffer_index_state_body, i, true);
      if (status.ok()) status = check(i, packet.check());
    });
    if (!status.ok()) return status;
    each([&](size_t i, auto packet) {
      describe(packet.so_buffer_index_state_body, i, false);
      state.Set(packet);
      describe(packet.so_buffer_index_state_body, i, true);
      if (starts(i)) state.SetOnce(packet);
    });
  } else {
    using Packet = typename G::_3DSTATE_SO_BUFFER;
    Packet packets[kStreamOutBuffers], first[kStreamOutBuffers];
    for (unsigned i = 0; i < kStreamOutBuffers; ++i) {
      packets[i].so_buffer_index = first[i].so_buffer_index = i;
      describe(packets[i], i, false);
      describe(first[i], i, true);
      if (absl::Status status = check(i, first[i].check()); !status.ok()) return status;
    }
    state.SetEach(packets);
    for (unsigned i = 0; i < kStreamOutBuffers; ++i) {
      if (starts(i)) state.SetOnce(first[i], i);
    }
  }
  return absl::OkStatus();
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_STATE_STREAM_OUTPUT_H_
