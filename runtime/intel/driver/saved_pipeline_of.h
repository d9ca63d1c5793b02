// What another run needs of a graphics pipeline: its packets, the code of its kernels, and where
// packets point to those. Methods of GraphicsPipelineOf.

#ifndef PACKSMITH_RUNTIME_INTEL_DRIVER_SAVED_PIPELINE_OF_H_
#define PACKSMITH_RUNTIME_INTEL_DRIVER_SAVED_PIPELINE_OF_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "packsmith/pack.h"
#include "runtime/intel/device/generation_facts.h"
#include "runtime/intel/driver/context.h"
#include "runtime/intel/driver/graphics_pipeline_of.h"
#include "runtime/intel/driver/saved_bytes.h"
#include "runtime/intel/driver/thread_scratch.h"
#include "runtime/intel/pipeline/stage_packets.h"
#include "runtime/intel/pipeline/stages.h"
#include "runtime/intel/shader/kernels.h"
#include "runtime/intel/shader/scratch.h"
#include "runtime/intel/state/fields.h"
#include "runtime/intel/state/saved_pipeline.h"
#include "runtime/intel/state/state_layout.h"
#include "runtime/intel/state/state_tables.h"

namespace packsmith::intel {

// A member that points to a kernel, in a packed packet.
template <auto Member>
struct KernelPointer {
  using Fields = FieldBits<Member>;
  using P = typename Fields::Packet;

  static uint64_t Read(const uint32_t* packed) { return P::unpack(packed).*Member; }
  // False if it does not fit.
  static bool Write(uint32_t* packed, uint64_t offset) {
    P packet;
    packet.*Member = offset;
    uint32_t bits[P::length];
    if (Fields::Pack(packet, bits)) return false;
    for (const MaskedDword& masked : Fields::kMask) {
      packed[masked.dword] = (packed[masked.dword] & ~masked.mask) | bits[masked.dword];
    }
    return true;
  }
};

// Calls f(pointer, its packet's dwords) for each that the pipeline has, in a fixed order, until one
// returns false.
template <class Gen, class F>
bool EachKernelPointer(PipelineCore& core, F f) {
  using G = typename Gen::Packets;
  const auto one = [&]<class Pointer>(Pointer pointer) {
    constexpr unsigned kIndex = StateLayoutOf<Gen>::template IndexOf<typename Pointer::P>();
    const PipelinePacket* const found = FindPacket(core, kIndex);
    return found == nullptr || f(pointer, core.dwords.data() + found->dword);
  };
  bool good = one(KernelPointer<&G::_3DSTATE_VS::kernel_start_pointer>()) &&
              one(KernelPointer<&G::_3DSTATE_HS::kernel_start_pointer>()) &&
              one(KernelPointer<&G::_3DSTATE_DS::kernel_start_pointer>()) &&
              one(KernelPointer<&G::_3DSTATE_GS::kernel_start_pointer>()) &&
              one(KernelPointer<&G::_3DSTATE_PS::kernel_start_pointer_0>()) &&
              one(KernelPointer<&G::_3DSTATE_PS::kernel_start_pointer_1>());
  if constexpr (requires(typename G::_3DSTATE_PS ps) { ps.kernel_start_pointer_2; }) {
    good = good && one(KernelPointer<&G::_3DSTATE_PS::kernel_start_pointer_2>());
  }
  if constexpr (requires(typename G::_3DSTATE_DS ds) { ds.dual_patch_kernel_start_pointer; }) {
    good = good && one(KernelPointer<&G::_3DSTATE_DS::dual_patch_kernel_start_pointer>());
  }
  if constexpr (requires { typename G::_3DSTATE_MESH_SHADER; }) {
    good = good && one(KernelPointer<&G::_3DSTATE_TASK_SHADER::kernel_start_pointer>()) &&
           one(KernelPointer<&G::_3DSTATE_MESH_SHADER::kernel_start_pointer>());
  }
  return good;
}

// Puts where a stage spills to into its packet of the pipeline; of no bytes: nowhere. False if the
// stage would spill and has no packet, or more than threads can have.
template <class Gen, class P>
bool PutScratch(const ShaderScratch& scratch, PipelineCore& core) {
  const PipelinePacket* const found = FindPacket(core, StateLayoutOf<Gen>::template IndexOf<P>());
  if (found == nullptr) return scratch.bytes_per_thread == 0;
  if (found->addresses != AddressesIn<P>() || scratch.bytes_per_thread > MostScratch(Gen::kFacts)) {
    return false;
  }
  uint32_t* const packed = core.dwords.data() + found->dword;
  P packet = P::unpack(packed);
  if (!stages::SetScratch<Gen>(scratch, packet).ok()) return false;
  if (packet.template pack<checks::on>(packed)) return false;
  StateAddress* next = core.addresses.data() + found->address;
  AddressWriter writer{next};
  bits::addresses(packet, writer);
  return true;
}

// Calls f<P>(stage) for each stage, P being the packet that says where its threads spill to, until
// one returns false.
template <class Gen, class F>
bool EachScratchPacket(F f) {
  using G = typename Gen::Packets;
  using enum ScratchStage;
  bool good = f.template operator()<typename G::_3DSTATE_VS>(kVertex) &&
              f.template operator()<typename G::_3DSTATE_HS>(kHull) &&
              f.template operator()<typename G::_3DSTATE_DS>(kDomain) &&
              f.template operator()<typename G::_3DSTATE_GS>(kGeometry) &&
              f.template operator()<typename G::_3DSTATE_PS>(kPixel);
  if constexpr (requires { typename G::_3DSTATE_MESH_CONTROL; }) {
    good = good && f.template operator()<typename G::_3DSTATE_TASK_CONTROL>(kTask) &&
           f.template operator()<typename G::_3DSTATE_MESH_CONTROL>(kMesh);
  }
  return good;
}
// Puts sizes without places. False also if other stages than those of pipelines have any.
template <class Gen>
bool PutScratchSizes(const ScratchBytes& scratch, PipelineCore& core) {
  ScratchBytes others = scratch;
  return EachScratchPacket<Gen>([&]<class P>(ScratchStage stage) {
           others[stage] = 0;
           return PutScratch<Gen, P>({.bytes_per_thread = scratch[stage]}, core);
         }) &&
         others.stages == decltype(others.stages)();
}

// Where a pointer points: into code, by its number, or to nothing.
struct SavedKernelPointer {
  static constexpr uint32_t kNothing = ~uint32_t{0};
  uint32_t code = kNothing;
  uint32_t offset = 0;
};
// What the bytes are: "pipe", of which version, and of which generation. The version must change
// when the meaning of what is kept does, unless its size or the layout of states shows it.
inline constexpr uint64_t kSavedPipelineVersion = 3;
template <class Gen>
constexpr uint64_t kPipelineTag =
    uint64_t{0x70697065} << 32 | kSavedPipelineVersion << 16 | Gen::kVersion;
// What a pipeline draws, a bit each.
inline constexpr uint32_t kSavedMeshes = 1, kSavedTasks = 2, kSavedDrawId = 4, kSavedFirst = 8;

template <class Gen>
template <class F>
bool GraphicsPipelineOf<Gen>::EachPlainPart(F f) {
  return f(vertex_plan_) && f(attributes_) && f(views_) && f(urb_) && f(mesh_urb_) &&
         f(constants_) && f(rasterization_) && f(pixels_) && f(dynamic_) &&
         f(restarts_at_greatest_) && f(fetch_) && f(streams_out_) && f(streamed_.buffers) &&
         f(writing_) && f(not_writing_);
}

template <class Gen>
bool GraphicsPipelineOf<Gen>::Save(const Context& context, const ScratchBytes& scratch,
                                   SavedBytes& to) const {
  // Nothing below changes it.
  auto& self = const_cast<GraphicsPipelineOf&>(*this);
  PipelineCore core = state_.core();
  std::vector<uint32_t> words;
  if (!PutScratchSizes<Gen>(scratch, core) ||
      !SavePipeline(TablesOf<Gen>::kTables.layout, core, words)) {
    return false;
  }
  std::vector<Kernels::Found> codes;
  std::vector<SavedKernelPointer> pointers;
  const bool known =
      EachKernelPointer<Gen>(core, [&]<class Pointer>(Pointer, const uint32_t* packed) {
        const uint64_t offset = Pointer::Read(packed);
        const std::optional<Kernels::Found> found = context.kernels().At(offset);
        if (!found.has_value()) {
          pointers.emplace_back();
          return offset == 0;  // a stage that is off
        }
        size_t code = 0;
        while (code < codes.size() && codes[code].kernel.offset != found->kernel.offset) ++code;
        if (code == codes.size()) codes.push_back(*found);
        pointers.push_back(
            {static_cast<uint32_t>(code), static_cast<uint32_t>(offset - found->kernel.offset)});
        return true;
      });
  if (!known) return false;
  to.Put(kPipelineTag<Gen>);
  to.Put((draws_meshes() ? kSavedMeshes : 0) | (has_tasks() ? kSavedTasks : 0) |
         (reads_draw_id() ? kSavedDrawId : 0) | (reads_first() ? kSavedFirst : 0));
  to.Put(static_cast<uint32_t>(codes.size()));
  for (const Kernels::Found& code : codes) to.PutAll(code.instructions);
  to.PutAll(absl::MakeConstSpan(pointers));
  to.PutAll(absl::MakeConstSpan(words));
  to.PutAll(absl::MakeConstSpan(blend_));
  for (const auto& stream : streamed_.streams) to.PutAll(absl::MakeConstSpan(stream));
  to.PutSized(scratch);
  return self.EachPlainPart([&](const auto& part) {
    to.PutSized(part);
    return true;
  });
}

template <class Gen>
absl::StatusOr<std::unique_ptr<GraphicsPipeline>> GraphicsPipelineOf<Gen>::Load(Context& context,
                                                                                SavedReader& from) {
  const auto damaged = [] {
    return absl::DataLossError(
        "what the cache has under this key is not a graphics pipeline of this generation");
  };
  uint64_t tag = 0;
  uint32_t flags = 0, count = 0;
  if (!from.Get(tag) || tag != kPipelineTag<Gen> || !from.Get(flags) || !from.Get(count)) {
    return damaged();
  }
  const Kind kind{.draws_meshes = (flags & kSavedMeshes) != 0,
                  .has_tasks = (flags & kSavedTasks) != 0,
                  .reads_draw_id = (flags & kSavedDrawId) != 0,
                  .reads_first = (flags & kSavedFirst) != 0};
  std::vector<std::vector<uint8_t>> codes;
  for (uint32_t i = 0; i < count; ++i) {
    if (!from.GetAll(codes.emplace_back())) return damaged();
  }
  std::vector<SavedKernelPointer> pointers;
  std::vector<uint32_t> words;
  std::unique_ptr<GraphicsPipelineOf> made(new GraphicsPipelineOf(kind));
  bool whole = from.GetAll(pointers) && from.GetAll(words) && from.GetAll(made->blend_);
  for (auto& stream : made->streamed_.streams) whole = whole && from.GetAll(stream);
  ScratchBytes scratch;
  whole = whole && from.GetSized(scratch) &&
          made->EachPlainPart([&](auto& part) { return from.GetSized(part); });
  constexpr unsigned kBlendDwords = Gen::Packets::BLEND_STATE::dwords_needed(kMostBlendTargets);
  if (!whole || !from.empty() || made->blend_.size() != kBlendDwords ||
      made->views_.views - 1 >= kMostViews) {
    return damaged();
  }
  PipelineCore& core = made->state_.core();
  absl::Status loaded = LoadPipeline(TablesOf<Gen>::kTables.layout, words, core);
  if (!loaded.ok()) return loaded;
  if (!PutScratchSizes<Gen>(scratch, core)) return damaged();

  std::vector<uint32_t> offsets;
  for (const std::vector<uint8_t>& code : codes) {
    const absl::StatusOr<uint32_t> offset = context.NewKernel(code);
    if (!offset.ok()) return offset.status();
    offsets.push_back(*offset);
  }
  size_t next = 0;
  const bool placed = EachKernelPointer<Gen>(core, [&]<class Pointer>(Pointer, uint32_t* packed) {
    if (next == pointers.size()) return false;
    const SavedKernelPointer& pointer = pointers[next++];
    if (pointer.code == SavedKernelPointer::kNothing) return true;
    return pointer.code < offsets.size() && pointer.offset < codes[pointer.code].size() &&
           Pointer::Write(packed, uint64_t{offsets[pointer.code]} + pointer.offset);
  });
  if (!placed || next != pointers.size()) return damaged();
  absl::Status status;
  const bool spills = EachScratchPacket<Gen>([&]<class P>(ScratchStage stage) {
    const uint32_t bytes = scratch[stage];
    if (bytes == 0) return true;
    const absl::StatusOr<ThreadScratch> memory = context.ScratchFor(stage, bytes);
    status = memory.status();
    if (!status.ok()) return false;
    memory->AddUsesTo(made->scratch_uses_);
    return PutScratch<Gen, P>(
        {.bytes_per_thread = bytes, .place = memory->place, .surface = memory->surface}, core);
  });
  if (!status.ok()) return status;
  if (!spills) return damaged();
  return std::unique_ptr<GraphicsPipeline>(std::move(made));
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DRIVER_SAVED_PIPELINE_OF_H_
