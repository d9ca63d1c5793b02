// A context of one generation: a batch, what is needed to fill it, and the packets at its beginning
// and end.

#ifndef PACKSMITH_DOCS_EXAMPLES_FRAME_CONTEXT_H_
#define PACKSMITH_DOCS_EXAMPLES_FRAME_CONTEXT_H_

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>

#include "absl/types/span.h"
#include "docs/examples/frame/memory.h"
#include "docs/examples/frame/part.h"
#include "docs/examples/must.h"
#include "packsmith/pack.h"
#include "runtime/command/buffer_chunks.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/cache_rules.h"
#include "runtime/intel/batch/cache_tracker.h"
#include "runtime/intel/batch/pipeline_select.h"
#include "runtime/intel/binding/binder.h"
#include "runtime/intel/binding/sampler_tables.h"
#include "runtime/intel/binding/surface_states.h"
#include "runtime/intel/device/render_devices.h"
#include "runtime/intel/pipeline/raster_packets.h"
#include "runtime/intel/state/draw_state.h"
#include "runtime/intel/state/l3.h"
#include "runtime/memory/residency.h"

namespace frame {

template <class Gen>
struct Context {
  using G = typename Gen::Packets;

  Context(Memory& memory_, const Part& part_);

  // Begins the batch with what the hardware needs before anything else.
  void Begin();
  // Ends the batch and hands it to the device.
  gpu::Fence Submit();
  // Prints the buffers that the job uses, one per line.
  void PrintUses() const;

  void Select(intel::Pipeline to);
  // The buffer is used through a cache: emits the waits and flushes that other uses of it require.
  void Use(const gpu::Buffer& buffer, intel::CacheDomain domain);

  // Packs a state and returns its offset from the dynamic state base.
  template <class State>
  uint32_t Dynamic(const State& state, uint64_t alignment) {
    return Write(memory.dynamic, State::length * 4, alignment,
                 [&](uint32_t* to) { return state.pack(to); });
  }
  uint32_t DynamicBytes(absl::Span<const uint8_t> bytes, uint64_t alignment);
  // The offset from the surface state base.
  template <class Surface>
  uint32_t SurfaceState(const Surface& surface);
  // Room for a kernel, and its offset from the instruction base.
  uint32_t Kernel();

  Memory& memory;
  const Part& part;
  const intel::L3Partition l3;
  const gpu::Buffer scratch;
  gpu::BufferChunks chunks;
  intel::Batch<Gen> batch;
  const std::unique_ptr<intel::Binder<Gen>> binder;
  intel::SamplerTables<Gen> samplers;
  intel::CacheTracker caches;
  intel::DrawState<Gen> state;
  intel::Pipeline pipeline = intel::Pipeline::k3D;  // the one that is selected

 private:
  static std::unique_ptr<intel::Binder<Gen>> MakeBinder(const Memory& memory, const Part& part,
                                                        const gpu::Buffer& scratch);
  packsmith::address ScratchAddress() const {
    return {scratch.address, scratch.handle, packsmith::access::write};
  }
  template <class Register>
  void SetRegister(const Register& value);

  template <class Pack>
  uint32_t Write(gpu::StateStream& stream, size_t bytes, uint64_t alignment, Pack pack) {
    const gpu::State place = Must(stream.Allocate(bytes, alignment));
    if (const packsmith::error e = pack(reinterpret_cast<uint32_t*>(place.cpu))) {
      Must(absl::InvalidArgumentError(packsmith::to_text(e)));
    }
    batch.Use(place.buffer, gpu::kReads);
    return place.offset;
  }
};

// -- How it is done -------------------------------------------------------------------------------

template <class Gen>
Context<Gen>::Context(Memory& memory_, const Part& part_)
    : memory(memory_),
      part(part_),
      // From Xe2 on there is no choice.
      l3(L3Partitions(part.device).empty() ? intel::L3Partition()
                                           : Must(ChooseL3(part.device, {.urb = 1, .all = 1}))),
      scratch(memory.NewBuffer(64, "scratch")),
      chunks(*memory.buffers, {.zone = memory.Zone("other")}),
      batch(chunks),
      binder(MakeBinder(memory, part, scratch)),
      samplers(*memory.dynamic_pool, *memory.border_colors, 0),
      caches(intel::L3DomainsOf<Gen>()),
      state(ScratchAddress()) {}

template <class Gen>
std::unique_ptr<intel::Binder<Gen>> Context<Gen>::MakeBinder(const Memory& memory, const Part& part,
                                                             const gpu::Buffer& scratch) {
  using intel::Binder;
  const gpu::Zone& surfaces = memory.space->zone(memory.Zone("surface"));
  const uint32_t mocs = part.mocs();
  typename Binder<Gen>::Options options{
      .zone = memory.Zone("binder"),
      .surface_base = surfaces.begin,
      .surface_bytes = surfaces.size(),
      .bases = {.general_state_base_address_modify_enable = true,
                .general_state_mocs = mocs,
                .general_state_base_address = memory.dynamic_pool->base(),
                .stateless_data_port_access_mocs = mocs,
                .surface_state_mocs = mocs,
                .dynamic_state_base_address_modify_enable = true,
                .dynamic_state_mocs = mocs,
                .dynamic_state_base_address = memory.dynamic_pool->base(),
                .indirect_object_base_address_modify_enable = true,
                .indirect_object_mocs = mocs,
                .instruction_base_address_modify_enable = true,
                .instruction_mocs = mocs,
                .instruction_base_address = memory.kernel_pool->base(),
                .general_state_buffer_size_modify_enable = true,
                .general_state_buffer_size = 0xfffff,
                .dynamic_state_buffer_size_modify_enable = true,
                .dynamic_state_buffer_size = 0xfffff,
                .indirect_object_buffer_size_modify_enable = true,
                .indirect_object_buffer_size = 0xfffff,
                .instruction_buffer_size_modify_enable = true,
                .instruction_buffer_size = 0xfffff},
      .mocs = mocs,
      .scratch = {scratch.address, scratch.handle},
  };
  auto& bases = options.bases;
  if constexpr (requires { bases.bindless_surface_state_mocs; }) {
    bases.bindless_surface_state_mocs = mocs;
  }
  if constexpr (requires { bases.bindless_sampler_state_mocs; }) {
    bases.bindless_sampler_state_mocs = mocs;
  }
  if constexpr (requires { bases.l1_cache_control; }) {
    bases.l1_cache_control = G::STATE_BASE_ADDRESS::L1_CACHE_CONTROL_WB;
  }
  return Must(Binder<Gen>::Create(*memory.buffers, options));
}

// Page: begin
template <class Gen>
void Context<Gen>::Begin() {
  Select(intel::Pipeline::k3D);
  if (l3 != intel::L3Partition()) {
    typename intel::Batch<Gen>::Group group(batch, intel::L3Dwords<Gen>());
    intel::EmitL3<Gen>(group, l3);
  }
  Must(binder->EmitSetup(batch));
  Must(binder->Begin(batch));
  // Pushed constants have addresses that are not relative to a base.
  if constexpr (requires { typename G::CS_DEBUG_MODE2; }) {
    SetRegister(typename G::CS_DEBUG_MODE2{.constant_buffer_address_offset_disable = true,
                                           .constant_buffer_address_offset_disable_mask = true});
  } else {
    SetRegister(typename G::INSTPM{.constant_buffer_address_offset_disable = true,
                                   .constant_buffer_address_offset_disable_mask = true});
  }
  // These never change: the drawing rectangle limits nothing, and samples lie where APIs prescribe.
  Must(intel::EmitFixedState(batch));
}
// End

template <class Gen>
template <class Register>
void Context<Gen>::SetRegister(const Register& value) {
  const auto dwords = packed(value);
  static_assert(Register::length == 1);
  batch.Emit(typename Gen::LoadRegisterConstant{.register_offset_ = Register::register_offset,
                                                .data_dword = dwords.dw[0]});
}

template <class Gen>
void Context<Gen>::Select(intel::Pipeline to) {
  {
    typename intel::Batch<Gen>::Group group(batch, intel::PipelineSelectDwords<Gen>());
    intel::EmitPipelineSelect<Gen>(group, to);
  }
  pipeline = to;
  binder->SetPipeline(to);
  state.template Emitted<typename G::PIPELINE_SELECT>();
}

template <class Gen>
void Context<Gen>::Use(const gpu::Buffer& buffer, intel::CacheDomain domain) {
  const intel::CacheBarrier barrier = caches.Use(buffer.handle, domain);
  if (!barrier.empty()) intel::EmitBarrier(batch, barrier, ScratchAddress(), pipeline);
}

template <class Gen>
uint32_t Context<Gen>::DynamicBytes(absl::Span<const uint8_t> bytes, uint64_t alignment) {
  return Write(memory.dynamic, bytes.size(), alignment, [&](uint32_t* to) {
    std::memcpy(to, bytes.data(), bytes.size());
    return packsmith::error();
  });
}

template <class Gen>
template <class Surface>
uint32_t Context<Gen>::SurfaceState(const Surface& surface) {
  constexpr uint64_t kBytes = intel::SurfaceState<Gen>::length * 4;
  const gpu::State place = Must(memory.surfaces.Allocate(kBytes, kBytes));
  intel::StateUses uses;
  Must(intel::WriteSurface<Gen>(surface, reinterpret_cast<uint32_t*>(place.cpu), &uses));
  batch.Use(place.buffer, gpu::kReads);
  for (const gpu::BufferUse& use : uses.all()) batch.Use(use.buffer, use.flags);
  return place.offset;
}

// Making kernels is a compiler's work and out of scope here. Memory of zeros is an illegal
// instruction on all generations: a GPU stops there, and does nothing else.
template <class Gen>
uint32_t Context<Gen>::Kernel() {
  return Write(memory.kernels, 256, 64, [](uint32_t* to) {
    std::memset(to, 0, 256);
    return packsmith::error();
  });
}

template <class Gen>
void Context<Gen>::PrintUses() const {
  for (const gpu::BufferUse& use : batch.uses().all()) {
    std::printf("%s %s\n", use.writes() ? "writes" : "reads ",
                Must(memory.buffers->Name(use.buffer)).c_str());
  }
}

// Page: submit
template <class Gen>
gpu::Fence Context<Gen>::Submit() {
  Must(state.status());
  Must(batch.End());
  gpu::Residency residency(*memory.buffers);
  for (const gpu::BufferUse& use : batch.uses().all()) {
    Must(residency.Add(use.buffer, use.writes()));
  }
  const intel::BatchPart& begin = batch.parts()[0];
  const gpu::Fence fence = Must(memory.device->Submit({.engine = "render",
                                                       .batch_address = begin.chunk.gpu,
                                                       .batch_length = begin.total * uint64_t{4},
                                                       .residents = residency.residents()}));
  Must(memory.buffers->Use(residency.handles(), fence));
  return fence;
}
// End

}  // namespace frame

#endif  // PACKSMITH_DOCS_EXAMPLES_FRAME_CONTEXT_H_
