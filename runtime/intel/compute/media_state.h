// Media threads, on Gfx8 to Gfx12: single ones, and walks over the blocks of a picture.
//
//   MediaState<Gfx9> media({.device = skylake, .subslices = 3}, states);
//   media.SetKernels(kernels);            // MediaKernel; threads name them by their index
//   media.SetConstants(bytes);
//   media.Walk(batch, {.kernel = 0, .width = 120, .height = 68});
//   media.Dispatch(batch, {.kernel = 1, .x = 3, .inline_data = data});
//   if (!media.Finish(batch)) …
//
// Emits MEDIA_VFE_STATE after a stall, MEDIA_CURBE_LOAD and MEDIA_INTERFACE_DESCRIPTOR_LOAD, each
// only if it has changed, and MEDIA_STATE_FLUSH between threads and a change of what they use. The
// context must have the media pipeline selected (EmitMediaSelect() below), and its base addresses
// set.
//
// Not thread-safe. Setting kernels and constants allocates if there are more than ever before;
// dispatches do not.

#ifndef PACKSMITH_RUNTIME_INTEL_COMPUTE_MEDIA_STATE_H_
#define PACKSMITH_RUNTIME_INTEL_COMPUTE_MEDIA_STATE_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "absl/types/span.h"
#include "packsmith/pack.h"
#include "packsmith/relations.h"
#include "runtime/command/buffer_uses.h"
#include "runtime/command/pack_status.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/pipeline_select.h"
#include "runtime/intel/compute/compute_fields.h"
#include "runtime/intel/compute/compute_state.h"
#include "runtime/intel/compute/media_core.h"
#include "runtime/intel/device/generation_facts.h"

namespace packsmith::intel {

// Selects the media pipeline, with what must precede that: in a group of PipelineSelectDwords(). It
// has the rules of Pipeline::kGpgpu, also for barriers. False if the group has been refused.
template <class Gen>
requires requires { typename Gen::Packets::MEDIA_OBJECT; }
bool EmitMediaSelect(typename Batch<Gen>::Group& group) {
  using Select = typename Gen::Packets::PIPELINE_SELECT;
  EmitBeforePipelineSelect<Gen>(group, Pipeline::kGpgpu);
  Select select{.pipeline_selection = Select::PIPELINE_SELECTION_MEDIA};
  // Only the two bits of the selection are written.
  if constexpr (requires { select.mask_bits; }) select.mask_bits = 3;
  group.Emit(select);
  return group.ok();
}

template <class Gen>
requires requires { typename Gen::Packets::MEDIA_OBJECT; }
class MediaState : public MediaCore {
 public:
  using Packets = typename Gen::Packets;
  // Whether threads can wait for others.
  static constexpr bool kHasScoreboard = requires(typename Packets::MEDIA_OBJECT o) {
    o.use_scoreboard;
  };
  static constexpr size_t kMostKernels =
      size_t{1}
      << MemberBitsIn<typename Packets::MEDIA_OBJECT>("interface_descriptor_offset").width;
  static constexpr uint32_t kMostBlocks =
      (1u << MemberBitsIn<typename Packets::MEDIA_OBJECT_WALKER>("block_resolution_x").width) - 1;
  static constexpr size_t kMostInlineDwords = 512;

  // states: for constants and descriptors. The offsets of its pool count from the dynamic state
  // base. It must outlive this.
  MediaState(const ComputeDevice& device, gpu::StateStream& states, const MediaUrb& urb = {});

  // Replaces all kernels. False, and the earlier ones stay, if there are none or too many, or a
  // value does not fit.
  bool SetKernels(absl::Span<const MediaKernel> kernels);
  // False, and the earlier one stays, if its size is not a power of two from 1 KiB to 2 MiB.
  bool SetScratch(const ComputeScratch& scratch);
  // What threads may wait for: up to 8 distances.
  bool SetScoreboard(absl::Span<const MediaDistance> distances) requires kHasScoreboard {
    if (distances.size() > distances_.size()) return RefuseScoreboard(~0u, distances.size());
    distances_ = {};
    std::copy(distances.begin(), distances.end(), distances_.begin());
    distance_count_ = distances.size();
    return true;
  }

  // Emits what has changed, and one thread or a walk: one group of the batch's packets, or nothing.
  // False if there is no room, or something does not fit; nothing has changed then.
  bool Dispatch(Batch<Gen>& batch, const MediaThread& thread);
  bool Walk(Batch<Gen>& batch, const MediaWalk& walk);
  // After the last thread, before other packets: MEDIA_STATE_FLUSH, if threads were dispatched.
  bool Finish(Batch<Gen>& batch) {
    if (busy_ && !batch.Emit(typename Packets::MEDIA_STATE_FLUSH{})) return false;
    busy_ = false;
    return true;
  }

  // As ComputeState's.
  template <class P>
  void Emitted() {
    Lose<P>();
    Lose(typename relations<P>::invalidates());
  }
  void Forget() { front_known_ = constants_known_ = descriptors_known_ = false; }
  void Resume(Batch<Gen>& batch) {
    Lose(typename relations<typename Gen::BatchEnd>::invalidates());
    Use(batch, constant_state_, descriptor_state_);
  }

 private:
  using Front = typename Packets::MEDIA_VFE_STATE;
  using Descriptor = typename Packets::INTERFACE_DESCRIPTOR_DATA;
  using Object = typename Packets::MEDIA_OBJECT;
  using Walker = typename Packets::MEDIA_OBJECT_WALKER;
  static_assert(std::is_same_v<decltype(Object::ps_item::inline_data), uint32_t>);

  template <class P>
  void Lose() {
    if constexpr (std::is_same_v<P, Front>) front_known_ = false;
    if constexpr (std::is_same_v<P, typename Packets::MEDIA_CURBE_LOAD>) constants_known_ = false;
    if constexpr (std::is_same_v<P, typename Packets::MEDIA_INTERFACE_DESCRIPTOR_LOAD>) {
      descriptors_known_ = false;
    }
  }
  template <class... P>
  void Lose(types<P...>) {
    (Lose<P>(), ...);
  }
  void Use(Batch<Gen>& batch, const gpu::State& constants, const gpu::State& descriptors) const {
    if (scratch_.per_thread != 0) {
      batch.Use(scratch_.base.buffer, gpu::kReads | gpu::kWrites);
      batch.Use(scratch_.memory_buffer, gpu::kReads | gpu::kWrites);
    }
    for (const uint32_t buffer : kernel_buffers_) batch.Use(buffer, gpu::kReads);
    if (!constants_.empty()) batch.Use(constants.buffer, gpu::kReads);
    batch.Use(descriptors.buffer, gpu::kReads);
  }
  Front MakeFront() const;
  // The checks that threads and walks share.
  bool Check(uint32_t kernel, absl::Span<const uint32_t> inline_data, uint32_t waits_for);
  template <class Packet>
  bool Emit(Batch<Gen>& batch, const Packet& packet, absl::Span<const uint32_t> inline_data);

  const uint32_t threads_;
  const MediaUrb urb_;
  ComputeScratch scratch_;
  std::array<MediaDistance, 8> distances_ = {};
  size_t distance_count_ = 0;
  std::vector<uint32_t> descriptors_;  // packed
  std::vector<uint32_t> kernel_buffers_;
  uint32_t constant_end_ = 0;  // registers of constants that kernels read
  uint32_t constant_end_of_ = 0;
  bool descriptors_changed_ = false;
  // What the GPU has.
  bool front_known_ = false, constants_known_ = false, descriptors_known_ = false;
  bool busy_ = false;  // threads were dispatched since the last MEDIA_STATE_FLUSH
  uint32_t front_[Front::length] = {};
  gpu::State constant_state_, descriptor_state_;
};

// -- How it is done -------------------------------------------------------------------------------

template <class Gen>
requires requires { typename Gen::Packets::MEDIA_OBJECT; }
MediaState<Gen>::MediaState(const ComputeDevice& device, gpu::StateStream& states,
                            const MediaUrb& urb)
    : MediaCore(Gen::kName, states),
      threads_(device.device.threads.compute * device.subslices),
      urb_(urb) {
  if (threads_ == 0) RefuseDevice(device.device.threads.compute, device.subslices);
}

template <class Gen>
requires requires { typename Gen::Packets::MEDIA_OBJECT; }
bool MediaState<Gen>::SetKernels(absl::Span<const MediaKernel> kernels) {
  using Fields = DescriptorFields<Gen>;
  if (kernels.empty() || kernels.size() > kMostKernels) {
    return RefuseCount(kernels.size(), kMostKernels);
  }
  std::vector<uint32_t> packed(kernels.size() * Descriptor::length);
  std::vector<uint32_t> buffers;
  uint32_t end = 0, end_of = 0;
  for (uint32_t i = 0; i < kernels.size(); ++i) {
    const MediaKernel& kernel = kernels[i];
    if (kernel.offset % 64 != 0) return RefuseOffset(i, kernel.offset);
    Descriptor d{
        .kernel_start_pointer = kernel.offset,
        .sampler_count = Gen::kFacts.wa_1606682166 ? 0 : Fields::SamplerCode(kernel.sampler_count),
        .sampler_state_pointer = kernel.samplers,
        .binding_table_entry_count = Fields::BindingEntries(kernel.binding_table_entries),
        .binding_table_pointer = kernel.bindings,
        .constant_urb_entry_read_offset = kernel.first_constant,
        .constant_urb_entry_read_length = kernel.constant_registers};
    if (const error e = d.pack(packed.data() + size_t{i} * Descriptor::length)) {
      return Refuse(PackStatus("INTERFACE_DESCRIPTOR_DATA", e));
    }
    const uint32_t kernel_end =
        kernel.constant_registers == 0 ? 0 : kernel.first_constant + kernel.constant_registers;
    if (kernel_end > end) end = kernel_end, end_of = i;
    buffers.push_back(kernel.buffer);
  }
  constant_end_ = end;
  constant_end_of_ = end_of;
  kernel_buffers_ = std::move(buffers);
  if (packed != descriptors_) {
    descriptors_ = std::move(packed);
    descriptors_changed_ = true;
  }
  return true;
}

template <class Gen>
requires requires { typename Gen::Packets::MEDIA_OBJECT; }
bool MediaState<Gen>::SetScratch(const ComputeScratch& scratch) {
  if (scratch.per_thread != 0 && !ComputeFields<Gen>::ScratchFits(scratch.per_thread)) {
    return RefuseScratch(scratch.per_thread);
  }
  scratch_ = scratch;
  return true;
}

template <class Gen>
requires requires { typename Gen::Packets::MEDIA_OBJECT; }
typename MediaState<Gen>::Front MediaState<Gen>::MakeFront() const {
  Front front{.number_of_urb_entries = urb_.entries,
              .maximum_number_of_threads = threads_ - 1,
              // In pairs of registers.
              .curbe_allocation_size = static_cast<uint32_t>((constants_.size() + 63) / 64 * 2),
              .urb_entry_allocation_size = urb_.entry_registers};
  if (scratch_.per_thread != 0) {
    front.per_thread_scratch_space = ScratchCode(scratch_.per_thread);
    front.scratch_space_base_pointer = scratch_.base;
  }
  if constexpr (kHasScoreboard) {
    if (distance_count_ != 0) {
      front.scoreboard_enable = true;
      // Threads wait where they are, and do not block later ones.
      front.scoreboard_type = Front::SCOREBOARD_TYPE_NON_STALLING_SCOREBOARD;
      front.scoreboard_mask = (1u << distance_count_) - 1;
      const auto& d = distances_;
      front.scoreboard_0_delta_x = d[0].x, front.scoreboard_0_delta_y = d[0].y;
      front.scoreboard_1_delta_x = d[1].x, front.scoreboard_1_delta_y = d[1].y;
      front.scoreboard_2_delta_x = d[2].x, front.scoreboard_2_delta_y = d[2].y;
      front.scoreboard_3_delta_x = d[3].x, front.scoreboard_3_delta_y = d[3].y;
      front.scoreboard_4_delta_x = d[4].x, front.scoreboard_4_delta_y = d[4].y;
      front.scoreboard_5_delta_x = d[5].x, front.scoreboard_5_delta_y = d[5].y;
      front.scoreboard_6_delta_x = d[6].x, front.scoreboard_6_delta_y = d[6].y;
      front.scoreboard_7_delta_x = d[7].x, front.scoreboard_7_delta_y = d[7].y;
    }
  }
  return front;
}

template <class Gen>
requires requires { typename Gen::Packets::MEDIA_OBJECT; }
bool MediaState<Gen>::Check(uint32_t kernel, absl::Span<const uint32_t> inline_data,
                            uint32_t waits_for) {
  if (!status().ok()) return false;
  const size_t kernels = descriptors_.size() / Descriptor::length;
  if (kernel >= kernels) return RefuseKernel(kernel, kernels);
  if (constant_end_ > (constants_.size() + 31) / 32) {
    return RefuseConstants(constant_end_of_, constant_end_);
  }
  const size_t room = std::min<size_t>(urb_.entry_registers * size_t{8}, kMostInlineDwords);
  if (inline_data.size() > room) return RefuseInline(inline_data.size(), room);
  if (waits_for >> distance_count_ != 0) return RefuseScoreboard(waits_for, distance_count_);
  return true;
}

template <class Gen>
requires requires { typename Gen::Packets::MEDIA_OBJECT; }
bool MediaState<Gen>::Dispatch(Batch<Gen>& batch, const MediaThread& thread) {
  if (!Check(thread.kernel, thread.inline_data, thread.waits_for)) return false;
  Object object{.interface_descriptor_offset = thread.kernel};
  if constexpr (kHasScoreboard) {
    object.use_scoreboard = thread.waits_for != 0;
    object.scoreboard_x = thread.x;
    object.scoredboard_y = thread.y;
    object.scoreboard_mask = thread.waits_for;
  } else {
    object.x_position = thread.x;
    object.y_position = thread.y;
  }
  return Emit(batch, object, thread.inline_data);
}

template <class Gen>
requires requires { typename Gen::Packets::MEDIA_OBJECT; }
bool MediaState<Gen>::Walk(Batch<Gen>& batch, const MediaWalk& walk) {
  if (!Check(walk.kernel, walk.inline_data, walk.waits_for)) return false;
  if (walk.width == 0 || walk.height == 0 || std::max(walk.width, walk.height) > kMostBlocks) {
    return RefuseWalk(walk.width, walk.height, kMostBlocks);
  }
  // The whole picture is one block of the outer, global, walk; loops end at its edges, before the
  // counters do (as Intel's video drivers set walkers).
  constexpr uint32_t kMostLoops = (1u << MemberBitsIn<Walker>("local_loop_exec_count").width) - 1;
  const bool rows = walk.order == MediaOrder::kRows;
  Walker walker{.interface_descriptor_offset = walk.kernel,
                .local_loop_exec_count = kMostLoops,
                .global_loop_exec_count = kMostLoops,
                .block_resolution_x = walk.width,
                .block_resolution_y = walk.height,
                .local_outer_loop_stride_x = rows ? 0 : 1,
                .local_outer_loop_stride_y = rows ? 1 : 0,
                .local_inner_loop_unit_x = rows ? 1 : 0,
                .local_inner_loop_unit_y = rows ? 0 : 1,
                .global_resolution_x = walk.width,
                .global_resolution_y = walk.height,
                .global_outer_loop_stride_x = static_cast<int32_t>(walk.width),
                .global_inner_loop_unit_y = static_cast<int32_t>(walk.height)};
  if constexpr (kHasScoreboard) {
    walker.use_scoreboard = walk.waits_for != 0;
    walker.scoreboard_mask = walk.waits_for;
  }
  return Emit(batch, walker, walk.inline_data);
}

template <class Gen>
requires requires { typename Gen::Packets::MEDIA_OBJECT; }
template <class Packet>
bool MediaState<Gen>::Emit(Batch<Gen>& batch, const Packet& packet,
                           absl::Span<const uint32_t> inline_data) {
  using Flush = typename Packets::MEDIA_STATE_FLUSH;
  using LoadConstants = typename Packets::MEDIA_CURBE_LOAD;
  using LoadDescriptors = typename Packets::MEDIA_INTERFACE_DESCRIPTOR_LOAD;
  const Front front = MakeFront();
  uint32_t packed_front[Front::length];
  if (const error e = front.pack(packed_front)) return Refuse(PackStatus("MEDIA_VFE_STATE", e));
  const bool new_front = !front_known_ || std::memcmp(packed_front, front_, sizeof(front_)) != 0;
  // The front end's state divides the URB, where constants are.
  const bool load_constants =
      !constants_.empty() && (new_front || !constants_known_ || constants_changed_);
  const bool load_descriptors = new_front || !descriptors_known_ || descriptors_changed_;
  gpu::State constants = constant_state_, descriptors = descriptor_state_;
  if (load_constants && !WriteState(constants_, constants)) return false;
  const absl::Span<const uint8_t> descriptor_bytes(
      reinterpret_cast<const uint8_t*>(descriptors_.data()), descriptors_.size() * 4);
  if (load_descriptors && !WriteState(descriptor_bytes, descriptors)) return false;

  using Item = typename Packet::ps_item;
  std::array<Item, kMostInlineDwords> items;
  for (size_t i = 0; i < inline_data.size(); ++i) items[i].inline_data = inline_data[i];
  const size_t packet_dwords = Packet::dwords_needed(static_cast<unsigned>(inline_data.size()));
  Use(batch, constants, descriptors);
  {
    typename Batch<Gen>::Group group(batch, Flush::length + Gen::PipeControl::length +
                                                Front::length + LoadConstants::length +
                                                LoadDescriptors::length + packet_dwords);
    if (busy_ && (new_front || load_constants || load_descriptors)) group.Emit(Flush{});
    if (new_front) {
      group.Emit(
          typename Gen::PipeControl{.stall_at_pixel_scoreboard = Gen::kFacts.stall_needs_company,
                                    .command_streamer_stall_enable = true});
      group.Emit(front);
    }
    if (load_constants) {
      group.Emit(LoadConstants{
          .curbe_total_data_length = static_cast<uint32_t>((constants_.size() + 63) / 64 * 64),
          .curbe_data_start_address = constants.offset});
    }
    if (load_descriptors) {
      group.Emit(LoadDescriptors{
          .interface_descriptor_total_length = static_cast<uint32_t>(descriptor_bytes.size()),
          .interface_descriptor_data_start_address = descriptors.offset});
    }
    group.EmitItems(packet, span<const Item>(items.data(), inline_data.size()));
    if (!group.ok()) return false;
  }
  std::memcpy(front_, packed_front, sizeof(front_));
  front_known_ = constants_known_ = descriptors_known_ = busy_ = true;
  constants_changed_ = descriptors_changed_ = false;
  constant_state_ = constants;
  descriptor_state_ = descriptors;
  return true;
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_COMPUTE_MEDIA_STATE_H_
