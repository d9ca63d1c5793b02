// Compute state between dispatches: tracks what the GPU has, and emits what has changed, with the
// packets that each generation requires around it.
//
//   #include "runtime/intel/compute/compute_state.h"
//   #include "runtime/intel/compute/gfx9.h"
//
//   ComputeState<Gfx9> compute({.device = skylake, .subslices = 3}, states);
//   compute.Bind(kernel);                    // a ComputeKernel
//   compute.SetTables({.bindings = binder.pointer(BindingStage::kCompute)});
//   compute.SetConstants(bytes);
//   if (!compute.Dispatch(batch, {.x = 8, .y = 4})) {
//     return compute.status().ok() ? batch.status() : compute.status();
//   }
//
// Up to Gfx12 a dispatch needs MEDIA_VFE_STATE, MEDIA_CURBE_LOAD, MEDIA_INTERFACE_DESCRIPTOR_LOAD,
// GPGPU_WALKER and MEDIA_STATE_FLUSH; from Gfx12.5 on CFE_STATE and COMPUTE_WALKER. The context
// must have the GPGPU pipeline selected (pipeline_select.h) and its base addresses set; on Gfx12.5
// and later, STATE_COMPUTE_MODE if its defaults are not wanted, and on Xe3 EnableRegisterBlocks().
// Caches are the caller's (cache_rules.h).
//
// On Gfx12.5 and Xe2 a kernel of more than 128 registers needs another mode of the context, which
// is emitted when it changes: RestoreMode() precedes what others dispatch, and the context's end.
//
// The constants and descriptors that dispatches refer to are in the stream's memory: when it is
// rewound, call Forget().

#ifndef PACKSMITH_RUNTIME_INTEL_COMPUTE_COMPUTE_STATE_H_
#define PACKSMITH_RUNTIME_INTEL_COMPUTE_COMPUTE_STATE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <tuple>
#include <type_traits>

#include "packsmith/pack.h"
#include "packsmith/relations.h"
#include "runtime/command/buffer_uses.h"
#include "runtime/command/pack_status.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/indirect.h"
#include "runtime/intel/compute/compute_core.h"
#include "runtime/intel/compute/compute_fields.h"
#include "runtime/intel/compute/compute_kernel.h"
#include "runtime/intel/compute/compute_mode.h"
#include "runtime/intel/device/generation_facts.h"
#include "runtime/intel/device/render_devices.h"

namespace packsmith::intel {

struct ComputeDevice {
  RenderDevice device;
  uint32_t subslices = 0;  // that work; from Gfx12 on dual ones
  // Caching policy of what a walker writes after its work, from Gfx12.5 on. 0:
  // device.caching.cached.
  uint32_t mocs = 0;
};

struct DispatchOptions {
  bool predicated = false;  // only if MI_PREDICATE_RESULT is not 0
};

template <class Gen>
class ComputeState : public ComputeCore {
 public:
  using Packets = typename Gen::Packets;

  // states: for constants and descriptors. The offsets of its pool count from the dynamic state
  // base; from Gfx12.5 on, from the general state base. It must outlive this.
  ComputeState(const ComputeDevice& device, gpu::StateStream& states);

  bool SetScratch(const ComputeScratch& scratch) override;

  // Emits what has changed, and a dispatch of this many groups: one group of the batch's packets,
  // or nothing. Nothing, successfully, if there are no groups. False if there is no room, or
  // something does not fit; nothing has changed then.
  bool Dispatch(Batch<Gen>& batch, const GroupCount& groups, const DispatchOptions& options = {}) {
    if (groups.x == 0 || groups.y == 0 || groups.z == 0) return status().ok();
    return Walk(batch, groups, nullptr, options);
  }
  // The numbers of groups are DispatchArguments in memory, at a multiple of 4, which the streamer
  // reads when it gets there: caches that wrote them must have been flushed. From Xe2 on one packet
  // (EXECUTE_INDIRECT_DISPATCH), before registers that are loaded, and the walker.
  bool DispatchIndirect(Batch<Gen>& batch, const address& arguments,
                        const DispatchOptions& options = {}) {
    return Walk(batch, {0, 0, 0}, &arguments, options);
  }

  // If kernels of more than 128 registers have changed the context's mode: changes it back. False
  // if there is no room.
  bool RestoreMode(Batch<Gen>& batch) {
    if constexpr (ComputeFields<Gen>::kRegisterMode) {
      if (!large_registers_) return true;
      typename Batch<Gen>::Group group(batch, ComputeModeDwords<Gen>());
      EmitRegisterMode(group, false);
      if (!group.ok()) return false;
      large_registers_ = mode_lost_ = false;
    }
    return true;
  }

  // Other code has emitted this packet: what it invalidates is emitted again.
  template <class P>
  void Emitted() {
    Lose<P>();
    Lose(typename relations<P>::invalidates());
  }
  // The context is another one, or the stream was rewound: everything is emitted again.
  void Forget() {
    front_known_ = false;
    ForgetConstants();
    descriptor_known_ = false;
    mode_lost_ |= large_registers_;
  }
  // The context continues in another batch, which must list the buffers that the GPU still refers
  // to.
  void Resume(Batch<Gen>& batch) {
    Lose(typename relations<typename Gen::BatchEnd>::invalidates());
    UseScratch(batch);
    if (constants_kept()) batch.Use(kept_constants().state.buffer, gpu::kReads);
    if (descriptor_known_) batch.Use(descriptor_state_.buffer, gpu::kReads);
  }

 private:
  // Up to Gfx12 packets of the media pipeline dispatch.
  static constexpr bool kMedia = ComputeFields<Gen>::kMedia;
  using Front = typename ComputeFields<Gen>::Front;  // MEDIA_VFE_STATE or CFE_STATE
  using Descriptor = typename Packets::INTERFACE_DESCRIPTOR_DATA;
  using Walker = typename ComputeFields<Gen>::Walker;

  // One packet reads the numbers of groups and dispatches.
  static constexpr bool kExecutesIndirect = Gen::kFacts.executes_indirect_draws && requires {
    typename Packets::EXECUTE_INDIRECT_DISPATCH;
  };

  template <class P>
  void Lose() {
    if constexpr (std::is_same_v<P, Front>) front_known_ = false;
    if constexpr (kMedia) {
      if constexpr (std::is_same_v<P, typename Packets::MEDIA_CURBE_LOAD>) ForgetConstants();
      if constexpr (std::is_same_v<P, typename Packets::MEDIA_INTERFACE_DESCRIPTOR_LOAD>) {
        descriptor_known_ = false;
      }
    }
  }
  template <class... P>
  void Lose(types<P...>) {
    (Lose<P>(), ...);
  }
  void UseScratch(Batch<Gen>& batch) const {
    constexpr gpu::UseFlags kBoth = gpu::kReads | gpu::kWrites;
    if (scratch_.per_thread == 0) return;
    batch.Use(scratch_.base.buffer, kBoth);
    batch.Use(scratch_.memory_buffer, kBoth);
    batch.Use(scratch_.surface_buffer, gpu::kReads);
  }

  template <class Group>
  static void EmitRegisterMode(Group& group, bool large) {
    typename Packets::STATE_COMPUTE_MODE mode;
    mode.large_grf_mode = large;
    mode.large_grf_mode_mask = true;
    EmitComputeMode<Gen>(group, mode);
  }

  Front MakeFront(uint32_t constant_registers) const;
  Descriptor Describe() const;
  Walker MakeWalker(const GroupCount& groups, bool indirect, const Constants& constants,
                    const DispatchOptions& options) const;
  bool Walk(Batch<Gen>& batch, const GroupCount& groups, const address* arguments,
            const DispatchOptions& options);
  // Writes the descriptor into memory, unless it is there. False if that fails.
  bool PrepareDescriptor(gpu::State& state, uint32_t (&dwords)[Descriptor::length], bool& changed);

  const uint32_t threads_;  // of the device
  const uint32_t mocs_;
  // What the GPU has.
  bool front_known_ = false;
  uint32_t front_[Front::length] = {};
  uint32_t front_registers_ = 0;  // for constants
  bool descriptor_known_ = false;
  uint32_t descriptor_[Descriptor::length] = {};
  gpu::State descriptor_state_;
  // Gfx12.5 and Xe2: the context's mode; it may be another one since Forget().
  bool large_registers_ = false, mode_lost_ = false;
};

// -- How it is done -------------------------------------------------------------------------------

template <class Gen>
ComputeState<Gen>::ComputeState(const ComputeDevice& device, gpu::StateStream& states)
    : ComputeCore(ComputeFields<Gen>::LimitsOf(device.device), states),
      threads_(device.device.threads.compute * device.subslices),
      mocs_(device.mocs == 0 ? device.device.caching.cached : device.mocs) {
  if (threads_ == 0) {
    Refuse(compute_errors::NoDevice(Gen::kName, device.device.threads.compute, device.subslices));
  }
}

template <class Gen>
bool ComputeState<Gen>::SetScratch(const ComputeScratch& scratch) {
  if (scratch.per_thread != 0) {
    if constexpr (kMedia) {
      if (!ComputeFields<Gen>::ScratchFits(scratch.per_thread)) {
        return Refuse(compute_errors::Scratch(Gen::kName, scratch.per_thread));
      }
    } else if constexpr (Gen::kFacts.has_scratch_surfaces) {
      if (scratch.surface == 0 || scratch.surface % 64 != 0) {
        return Refuse(compute_errors::ScratchSurface(Gen::kName, scratch.surface));
      }
    } else {
      return Refuse(compute_errors::NoScratch(Gen::kName));
    }
  }
  front_changed_ = true;
  scratch_ = scratch;
  return true;
}

template <class Gen>
typename ComputeState<Gen>::Front ComputeState<Gen>::MakeFront(uint32_t constant_registers) const {
  if constexpr (kMedia) {
    // Two entries of two registers: what Mesa's drivers use for kernels without inline data.
    Front front{.number_of_urb_entries = 2,
                .maximum_number_of_threads = threads_ - 1,
                .curbe_allocation_size = constant_registers,
                .urb_entry_allocation_size = 2};
    if (scratch_.per_thread != 0) {
      front.per_thread_scratch_space = ScratchCode(scratch_.per_thread);
      front.scratch_space_base_pointer = scratch_.base;
    }
    // Kernels do not use the gateway's protocol, nor its timer's earlier state (as Mesa's drivers).
    if constexpr (requires { front.bypass_gateway_control; }) front.bypass_gateway_control = 1;
    if constexpr (requires { front.reset_gateway_timer; }) front.reset_gateway_timer = 1;
    return front;
  } else {
    return {.scratch_space_buffer =
                scratch_.per_thread == 0 ? 0 : ScratchPointer(Gen::kFacts, scratch_.surface),
            .maximum_number_of_threads = threads_};
  }
}

template <class Gen>
typename ComputeState<Gen>::Descriptor ComputeState<Gen>::Describe() const {
  using Fields = ComputeFields<Gen>;
  Descriptor d{
      .kernel_start_pointer = entry().offset,
      .sampler_count = Gen::kFacts.wa_1606682166 ? 0 : Fields::SamplerCode(kernel_.samplers),
      .sampler_state_pointer = tables_.samplers,
      .binding_table_entry_count = Fields::BindingEntries(kernel_.binding_table_entries),
      .binding_table_pointer = tables_.bindings,
      .number_of_threads_in_gpgpu_thread_group = shape().threads,
      .shared_local_memory_size = Fields::SharedCode(kernel_.shared_bytes)};
  if constexpr (kMedia) {
    d.constant_urb_entry_read_length = shape().thread_registers;
    d.cross_thread_constant_data_read_length = shape().constant_registers;
    d.barrier_enable = kernel_.barriers != 0;
  } else {
    d.number_of_barriers = Fields::BarrierCode(kernel_.barriers);
    Fields::PreferShared(d, kernel_.shared_bytes,
                         ThreadsWith(shape().registers, limits()) / shape().threads);
    if constexpr (Gen::kFacts.has_register_blocks) {
      d.registers_per_thread = Fields::RegisterCode(shape().registers);
    }
  }
  if constexpr (Gen::kFacts.bars_thread_preemption) d.thread_preemption_disable = true;
  return d;
}

template <class Gen>
typename ComputeState<Gen>::Walker ComputeState<Gen>::MakeWalker(
    const GroupCount& groups, bool indirect, const Constants& constants,
    const DispatchOptions& options) const {
  using Fields = ComputeFields<Gen>;
  if constexpr (kMedia) {
    return {.predicate_enable = options.predicated,
            .indirect_parameter_enable = indirect,
            .thread_width_counter_maximum = shape().threads - 1,
            .simd_size = Fields::SimdCode(shape().entry),
            .thread_group_id_x_dimension = groups.x,
            .thread_group_id_y_dimension = groups.y,
            .thread_group_id_z_dimension = groups.z,
            .right_execution_mask = shape().last_mask,
            .bottom_execution_mask = ~0u};
  } else {
    const bool from_hardware = kernel_.local_ids == LocalIds::kHardware;
    Walker walker{
        .predicate_enable = options.predicated,
        .indirect_parameter_enable = indirect,
        .body = {.indirect_data_length = constants.size,
                 .indirect_data_start_address = constants.size == 0 ? 0 : constants.state.offset,
                 .message_simd = Fields::MessageCode(shape().entry),
                 .walk_order = static_cast<uint32_t>(shape().order),
                 .emit_inline_parameter = kernel_.inline_bytes != 0,
                 .emit_local = from_hardware ? Fields::LocalCode(kernel_.local_id_components) : 0,
                 .generate_local_id = from_hardware,
                 .simd_size = Fields::SimdCode(shape().entry),
                 .execution_mask = shape().last_mask,
                 .local_x_maximum = shape().local[0] - 1,
                 .local_y_maximum = shape().local[1] - 1,
                 .local_z_maximum = shape().local[2] - 1,
                 .thread_group_id_x_dimension = groups.x,
                 .thread_group_id_y_dimension = groups.y,
                 .thread_group_id_z_dimension = groups.z,
                 .interface_descriptor = Describe(),
                 .post_sync = {.mocs = mocs_}}};
    std::memcpy(walker.body.inline_data, constant_bytes_.data(), kernel_.inline_bytes);
    return walker;
  }
}

template <class Gen>
bool ComputeState<Gen>::PrepareDescriptor(gpu::State& state, uint32_t (&dwords)[Descriptor::length],
                                          bool& changed) {
  if (const error e = Describe().pack(dwords)) {
    return Refuse(PackStatus("INTERFACE_DESCRIPTOR_DATA", e));
  }
  changed = !descriptor_known_ || std::memcmp(dwords, descriptor_, sizeof(dwords)) != 0;
  state = descriptor_state_;
  if (!changed) return true;
  // PRM, MEDIA_INTERFACE_DESCRIPTOR_LOAD: aligned to 64 bytes.
  if (!Allocate(sizeof(dwords), 64, state)) return false;
  std::memcpy(state.cpu, dwords, sizeof(dwords));
  return true;
}

template <class Gen>
bool ComputeState<Gen>::Walk(Batch<Gen>& batch, const GroupCount& groups, const address* arguments,
                             const DispatchOptions& options) {
  if (!IsComplete()) return false;
  // Constants are loaded in pairs of registers (PRM, MEDIA_CURBE_LOAD: a multiple of 64 bytes).
  constexpr uint32_t kPair = 64;
  Constants constants;
  if (!PrepareConstants(kPair, constants)) return false;
  uint32_t registers = 0;
  if constexpr (kMedia) {
    registers = (constants.size + kPair - 1) / kPair * (kPair / limits_.register_bytes);
    // A larger room than needed costs nothing, changing it does.
    if (front_known_) registers = std::max(registers, front_registers_);
  }
  Front front;
  uint32_t packed_front[Front::length];
  bool new_front = !front_known_ || front_changed_ || registers != front_registers_;
  if (new_front) {
    front = MakeFront(registers);
    if (const error e = front.pack(packed_front)) return Refuse(PackStatus("the front end", e));
    new_front = !front_known_ || std::memcmp(packed_front, front_, sizeof(front_)) != 0;
  }
  const bool load_constants = kMedia && constants.size != 0 && (constants.changed || new_front);
  [[maybe_unused]] gpu::State descriptor;
  [[maybe_unused]] uint32_t packed_descriptor[Descriptor::length];
  bool new_descriptor = false, load_descriptor = false;
  if constexpr (kMedia) {
    descriptor = descriptor_state_;
    if ((descriptor_changed_ || !descriptor_known_) &&
        !PrepareDescriptor(descriptor, packed_descriptor, new_descriptor)) {
      return false;
    }
    load_descriptor = new_descriptor || new_front;
  }

  UseScratch(batch);
  batch.Use(entry().buffer, gpu::kReads);
  if (constants.size != 0) batch.Use(constants.state.buffer, gpu::kReads);
  constexpr size_t kLoads = std::tuple_size_v<decltype(DispatchLoads<Gen>(address()))>;
  constexpr size_t kWalkDwords = [] {
    if constexpr (kExecutesIndirect) {
      return size_t{Packets::EXECUTE_INDIRECT_DISPATCH::length};
    } else {
      return kLoads * Gen::LoadRegister::length + Walker::length;
    }
  }();
  constexpr bool kRegisterMode = ComputeFields<Gen>::kRegisterMode;
  constexpr size_t kModeDwords = [] {
    if constexpr (kRegisterMode) {
      return ComputeModeDwords<Gen>();
    } else {
      return size_t{0};
    }
  }();
  constexpr size_t kMostDwords = Gen::PipeControl::length + Front::length + kWalkDwords +
                                 ComputeFields<Gen>::kMediaDwords + kModeDwords;
  const bool large = shape().registers > 128;
  const bool new_mode = kRegisterMode && (large != large_registers_ || mode_lost_);
  {
    typename Batch<Gen>::Group group(batch, kMostDwords);
    if constexpr (kRegisterMode) {
      if (new_mode) EmitRegisterMode(group, large);
    }
    if (new_front) {
      if constexpr (kMedia) {
        // PRM, MEDIA_VFE_STATE: a stalling PIPE_CONTROL must precede it.
        group.Emit(
            typename Gen::PipeControl{.stall_at_pixel_scoreboard = Gen::kFacts.stall_needs_company,
                                      .command_streamer_stall_enable = true});
      }
      group.Emit(front);
    }
    if constexpr (kMedia) {
      if (load_constants) {
        group.Emit(typename Packets::MEDIA_CURBE_LOAD{
            .curbe_total_data_length = (constants.size + kPair - 1) / kPair * kPair,
            .curbe_data_start_address = constants.state.offset});
      }
      if (load_descriptor) {
        batch.Use(descriptor.buffer, gpu::kReads);
        group.Emit(typename Packets::MEDIA_INTERFACE_DESCRIPTOR_LOAD{
            .interface_descriptor_total_length = sizeof(packed_descriptor),
            .interface_descriptor_data_start_address = descriptor.offset});
      }
    }
    if constexpr (kExecutesIndirect) {
      const Walker walker = MakeWalker(groups, false, constants, options);
      if (arguments != nullptr) {
        group.Emit(
            typename Packets::EXECUTE_INDIRECT_DISPATCH{.predicate_enable = options.predicated,
                                                        .mocs = mocs_,
                                                        .max_count = 1,
                                                        .argument_buffer_start_address = *arguments,
                                                        .compute_walker_body = walker.body});
      } else {
        group.Emit(walker);
      }
    } else {
      if (arguments != nullptr) {
        for (const auto& load : DispatchLoads<Gen>(*arguments)) group.Emit(load);
      }
      group.Emit(MakeWalker(groups, arguments != nullptr, constants, options));
    }
    // PRM, MEDIA_STATE_FLUSH: descriptors are loaded only after one.
    if constexpr (kMedia) group.Emit(typename Packets::MEDIA_STATE_FLUSH{});
    if (!group.ok()) return false;
  }
  if (new_front) {
    std::memcpy(front_, packed_front, sizeof(front_));
    front_registers_ = registers;
    front_known_ = true;
  }
  if (new_mode) {
    large_registers_ = large;
    mode_lost_ = false;
  }
  Keep(constants);
  front_changed_ = descriptor_changed_ = false;
  if constexpr (kMedia) {
    if (new_descriptor) {
      std::memcpy(descriptor_, packed_descriptor, sizeof(descriptor_));
      descriptor_state_ = descriptor;
      descriptor_known_ = true;
    }
  }
  return true;
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_COMPUTE_COMPUTE_STATE_H_
