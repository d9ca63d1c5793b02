// Which pixel pipe draws which block of pixels, where fused-off subslices make pipes unequal: a
// table of blocks, emitted once for each context.
//
//   // Subslices that are enabled, four in a pipe: the second pipe lacks one.
//   const PixelPipes pipes = PixelPipesOf({0b1011'1111}, Gfx11::kFacts);
//   absl::StatusOr<SliceHashing<Gfx11>> hashing = PlanSliceHashing<Gfx11>(pipes);
//   if (hashing->has_table) { … }                    // copy hashing->table to dynamic state
//   EmitSliceHashing(batch, *hashing, offset);
//
// Before Gfx11 there is nothing to choose, and from Xe2 on drivers leave it to hardware: then
// nothing is emitted. Sources: Mesa's iris and anv (emit_slice_hashing_state), for which
// tables each generation has, and that on Gfx12.5 all seven must be equal.

#ifndef PACKSMITH_RUNTIME_INTEL_STATE_SLICE_HASHING_H_
#define PACKSMITH_RUNTIME_INTEL_STATE_SLICE_HASHING_H_

#include <array>
#include <cstdint>
#include <iterator>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "packsmith/pack.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/device/generation_facts.h"

namespace packsmith::intel {

inline constexpr unsigned kMostPixelPipes = 16;

// Enabled subslices (from Gfx12 on dual subslices) of each pixel pipe; 0: the pipe is fused off.
struct PixelPipes {
  std::array<uint8_t, kMostPixelPipes> subslices = {};

  unsigned present() const;
  friend bool operator==(const PixelPipes&, const PixelPipes&) = default;
};

// From the masks of enabled subslices that kernels report, one a slice. A pipe has four subslices
// on Gfx11 and two dual subslices later. subslices_of_slice: how many a slice has, fused off or
// not, as kernels report it; pipes are numbered by these. 0: as many as the fullest slice has, in
// whole pipes, which is right unless the last pipes of all slices are fused off.
PixelPipes PixelPipesOf(absl::Span<const uint32_t> slices, const GenerationFacts& facts,
                        unsigned subslices_of_slice = 0);

// 16 by 16 blocks.
using PixelTable = std::array<std::array<uint8_t, 16>, 16>;

// A table in which each pipe has blocks in proportion to its subslices, one or two, and in which
// neighbours in a row are of different pipes, as far as these proportions permit. Rows are shifted
// against each other so that small areas, too, have all pipes.
PixelTable SpreadPixels(const PixelPipes& pipes);

// Which of three logical pipes, the one with most subslices first, has a block at column x and row
// y of a table.
struct LogicalPipes {
  bool needed = false;  // otherwise hardware's own spreading is right
  unsigned period = 1;  // blocks repeat with x + y modulo this
  bool third = false;   // the last of them is the third pipe's
  // The other blocks alternate between the first and the second.
  uint8_t PipeOf(unsigned x, unsigned y) const {
    const unsigned k = (x + y) % period;
    return third && k == period - 1 ? 2 : static_cast<uint8_t>(k % 2);
  }
};
// Of Gfx12. InvalidArgument for pipes that no device has: more than three, or a fusing that drivers
// do not know.
absl::StatusOr<LogicalPipes> ThreePipes(const PixelPipes& pipes);

template <class Gen>
struct SliceHashing {
  static constexpr unsigned kTableDwords = [] {
    if constexpr (requires { typename Gen::Packets::SLICE_HASH_TABLE; }) {
      return unsigned{Gen::Packets::SLICE_HASH_TABLE::length};
    }
    return 1u;
  }();

  PixelHashing kind = PixelHashing::kNone;  // kNone: nothing is emitted
  bool has_table = false;                   // a SLICE_HASH_TABLE must be in dynamic state
  std::array<uint32_t, kTableDwords> table = {};
  LogicalPipes logical;     // of kThreePipes
  bool many_pipes = false;  // of kAnyPipes
};

// InvalidArgument for no pipe at all, for more pipes than the generation has, and as ThreePipes().
template <class Gen>
absl::StatusOr<SliceHashing<Gen>> PlanSliceHashing(const PixelPipes& pipes);
// Emits the packets. table: the offset of the table from the dynamic state base, a multiple of 64.
// False if the batch refused one.
template <class Gen>
bool EmitSliceHashing(Batch<Gen>& batch, const SliceHashing<Gen>& hashing, uint32_t table = 0);

// -- Implementation -----------------------------------------------------------------------------

// That the generation has no more than `most` of them, and one.
absl::Status CheckPixelPipes(const PixelPipes& pipes, unsigned most);

template <class Gen>
absl::StatusOr<SliceHashing<Gen>> PlanSliceHashing(const PixelPipes& pipes) {
  SliceHashing<Gen> plan;
  constexpr PixelHashing kKind = Gen::kFacts.pixel_hashing;
  if constexpr (kKind == PixelHashing::kTwoPipes) {
    if (absl::Status status = CheckPixelPipes(pipes, 2); !status.ok()) return status;
    const unsigned first = pipes.subslices[0], second = pipes.subslices[1];
    // Of equal pipes hardware's own spreading is right; to a pipe that is fused off nothing is
    // spread.
    if (first == second || first == 0 || second == 0) return plan;
    typename Gen::Packets::SLICE_HASH_TABLE table;
    for (unsigned y = 0; y < 16; ++y) {
      for (unsigned x = 0; x < 16; ++x) {
        // The larger pipe has two of three blocks.
        table.entry[y][x] = ((x + y) % 3 == 1) == (first > second) ? 1 : 0;
      }
    }
    (void)table.template pack<checks::off>(plan.table.data());
    plan.kind = kKind;
    plan.has_table = true;
  } else if constexpr (kKind == PixelHashing::kThreePipes) {
    const absl::StatusOr<LogicalPipes> logical = ThreePipes(pipes);
    if (!logical.ok()) return logical.status();
    plan.logical = *logical;
    if (logical->needed) plan.kind = kKind;
  } else if constexpr (kKind == PixelHashing::kAnyPipes) {
    if (absl::Status status = CheckPixelPipes(pipes, kMostPixelPipes); !status.ok()) return status;
    const PixelTable spread = SpreadPixels(pipes);
    typename Gen::Packets::SLICE_HASH_TABLE table;
    for (auto& of_count : table.entry) {
      for (unsigned y = 0; y < 16; ++y) {
        for (unsigned x = 0; x < 16; ++x) of_count[y][x] = spread[y][x];
      }
    }
    (void)table.template pack<checks::off>(plan.table.data());
    plan.kind = kKind;
    plan.has_table = true;
    plan.many_pipes = pipes.present() > 1;
  }
  return plan;
}

template <class Gen>
bool EmitSliceHashing(Batch<Gen>& batch, const SliceHashing<Gen>& hashing, uint32_t table) {
  constexpr PixelHashing kKind = Gen::kFacts.pixel_hashing;
  if (hashing.kind == PixelHashing::kNone) return true;
  using G = typename Gen::Packets;
  if constexpr (kKind == PixelHashing::kTwoPipes || kKind == PixelHashing::kAnyPipes) {
    typename G::_3DSTATE_3D_MODE mode{.slice_hashing_table_enable = true};
    if constexpr (requires { mode.slice_hashing_table_enable_mask; }) {
      using Mode = typename G::_3DSTATE_3D_MODE;
      mode.slice_hashing_table_enable_mask = true;
      mode.cross_slice_hashing_mode = hashing.many_pipes
                                          ? Mode::CROSS_SLICE_HASHING_MODE_HASHING_32X32
                                          : Mode::CROSS_SLICE_HASHING_MODE_NORMAL_MODE;
      mode.cross_slice_hashing_mode_mask = 3;  // both bits
    }
    return batch.Emit(
        typename G::_3DSTATE_SLICE_TABLE_STATE_POINTERS{.slice_hash_state_pointer_valid = true,
                                                        .slice_hash_table_state_pointer = table},
        mode);
  } else if constexpr (kKind == PixelHashing::kThreePipes) {
    using Table = typename G::_3DSTATE_SUBSLICE_HASH_TABLE;
    Table packet;
    packet.slice_hash_control[0] = Table::SLICE_HASH_CONTROL_TABLE_0;
    for (unsigned y = 0; y < 8; ++y) {
      for (unsigned x = 0; x < 16; ++x) {
        const uint8_t pipe = hashing.logical.PipeOf(x, y);
        packet.three_way_table_entry[y][x] = pipe;
        // Hardware with two pipes reads this one.
        if (!hashing.logical.third) packet.two_way_table_entry[y][x] = pipe;
      }
    }
    return batch.Emit(packet,
                      typename G::_3DSTATE_3D_MODE{.subslice_hashing_table_enable = true,
                                                   .subslice_hashing_table_enable_mask = true});
  }
  return true;
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_STATE_SLICE_HASHING_H_
