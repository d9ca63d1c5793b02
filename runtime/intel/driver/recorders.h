// What is bound for draws and for dispatches, and the packets that say it: the parts of
// CommandBufferOf. Nothing here emits barriers or selects a pipeline; the command buffer does it
// from what uses() lists.

#ifndef PACKSMITH_RUNTIME_INTEL_DRIVER_RECORDERS_H_
#define PACKSMITH_RUNTIME_INTEL_DRIVER_RECORDERS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "packsmith/pack.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/cache_tracker.h"
#include "runtime/intel/batch/indirect.h"
#include "runtime/intel/binding/binder.h"
#include "runtime/intel/binding/sampler_tables.h"
#include "runtime/intel/compute/compute_state.h"
#include "runtime/intel/driver/context.h"
#include "runtime/intel/driver/draws.h"
#include "runtime/intel/driver/dynamic_state_of.h"
#include "runtime/intel/driver/graphics_pipeline_of.h"
#include "runtime/intel/driver/recorder_parts.h"
#include "runtime/intel/driver/recording.h"
#include "runtime/intel/driver/thread_scratch.h"
#include "runtime/intel/pipeline/depth_packets.h"
#include "runtime/intel/pipeline/output_packets.h"
#include "runtime/intel/pipeline/vertex_packets.h"
#include "runtime/intel/pipeline/viewport_packets.h"
#include "runtime/intel/state/draw_state.h"
#include "runtime/intel/state/stream_output.h"
#include "runtime/intel/state/urb.h"
#include "runtime/intel/state/vertex_reach.h"

namespace packsmith::intel {

// A use of a buffer through a cache.
struct TrackedUse {
  uint32_t buffer = 0;
  CacheDomain domain = CacheDomain::kOtherRead;
};

inline constexpr unsigned kMostTargets = 8;

inline gpu::UseFlags FlagsOf(CacheDomain domain) {
  return static_cast<size_t>(domain) < kWritingDomains ? gpu::kReads | gpu::kWrites : gpu::kReads;
}

// The binding table and samplers of one stage, and the packets that events of the binder require.
template <class Gen>
class StageTables {
 public:
  explicit StageTables(const RecorderParts<Gen>& parts) : parts_(parts) {}

  // The stage's views, after `leading` ones that others set.
  void SetViews(absl::Span<const View> views) {
    views_.assign(views.begin(), views.end());
    for (const View& view : views) Use(view);
    changed_ = true;
  }
  void SetLeading(absl::Span<const View> views) {
    leading_.assign(views.begin(), views.end());
    for (const View& view : views) Use(view);
    changed_ = true;
  }
  // Whether the table was set since it was bound, and what it refers to.
  bool changed() const { return changed_; }
  void Forget() { changed_ = !views_.empty() || !leading_.empty(); }
  template <class F>
  void EachUse(F f) const {
    for (const auto* list : {&leading_, &views_}) {
      for (const View& view : *list) {
        for (const gpu::BufferUse& use : view.uses.all()) f(TrackedUse{use.buffer, view.domain});
      }
    }
  }
  absl::Status Bind(BindingStage stage) {
    if (!changed_) return absl::OkStatus();
    std::array<uint32_t, kMostTableSurfaces> offsets;
    const size_t count = leading_.size() + views_.size();
    if (count > offsets.size()) {
      return absl::OutOfRangeError(
          absl::StrCat("a binding table of ", count, " surfaces; it has at most ", offsets.size()));
    }
    uint32_t* to = offsets.data();
    for (const View& view : leading_) *to++ = view.offset;
    for (const View& view : views_) *to++ = view.offset;
    absl::Status status =
        parts_.binder.Bind(parts_.batch, stage, absl::MakeConstSpan(offsets.data(), count));
    if (status.ok()) changed_ = false;
    return status;
  }

 private:
  void Use(const View& view) {
    parts_.batch.Use(view.state_buffer, gpu::kReads);
    for (const gpu::BufferUse& use : view.uses.all()) parts_.batch.Use(use.buffer, use.flags);
  }

  const RecorderParts<Gen>& parts_;
  std::vector<View> leading_, views_;
  bool changed_ = false;
};

// Writes a table of samplers; its offset from the dynamic state base, 0 for none.
template <class Gen>
absl::StatusOr<uint32_t> WriteSamplers(const RecorderParts<Gen>& parts,
                                       absl::Span<const Sampler> samplers,
                                       SamplerTables<Gen>& tables) {
  if (samplers.empty()) return 0;
  if (samplers.size() > kMostTableSamplers) {
    return absl::OutOfRangeError(absl::StrCat("a table of ", samplers.size(),
                                              " samplers; it has at most ", kMostTableSamplers));
  }
  constexpr size_t kBytes = SamplerState<Gen>::length * 4;
  // Prefetching reads groups of four (PRM, 3DSTATE_PS, "Sampler Count"): the rest is zero.
  const size_t count = (samplers.size() + 3) & ~size_t{3};
  const absl::StatusOr<gpu::State> place =
      parts.recording.dynamic().Allocate(count * kBytes, kSamplerTableAlignment);
  if (!place.ok()) return place.status();
  std::memset(place->cpu, 0, count * kBytes);
  for (size_t i = 0; i < samplers.size(); ++i) {
    const absl::StatusOr<PackedSampler> packed = tables.Pack(samplers[i]);
    if (!packed.ok()) return packed.status();
    std::memcpy(place->cpu + i * kBytes, packed->dwords.data(), kBytes);
    if (packed->border_color != 0) {
      parts.recording.KeepColor(packed->border_color);
      parts.batch.Use(packed->border_buffer, gpu::kReads);
    }
  }
  parts.batch.Use(place->buffer, gpu::kReads);
  return place->offset;
}

// Tells the states what the binder has emitted.
template <class Gen>
BindingEvents TakeBindingEvents(const RecorderParts<Gen>& parts) {
  using G = typename Gen::Packets;
  const BindingEvents events = parts.binder.TakeEvents();
  if ((events & kSurfaceBaseMoved) != 0) {
    parts.state.template Emitted<typename G::STATE_BASE_ADDRESS>();
    parts.compute.template Emitted<typename G::STATE_BASE_ADDRESS>();
  }
  if ((events & kTablePoolMoved) != 0) {
    parts.state.template Emitted<typename G::_3DSTATE_BINDING_TABLE_POOL_ALLOC>();
  }
  if ((events & kPipelineReselected) != 0) {
    parts.state.template Emitted<typename G::PIPELINE_SELECT>();
    parts.compute.template Emitted<typename G::PIPELINE_SELECT>();
  }
  return events;
}

template <class Gen>
class DrawRecorder {
  using G = typename Gen::Packets;

 public:
  explicit DrawRecorder(const RecorderParts<Gen>& parts);

  absl::Status Bind(const GraphicsPipeline& pipeline);
  absl::Status SetTargets(const RenderTargets& targets, absl::Span<const View> colors);
  absl::Status SetViewports(absl::Span<const Viewport> viewports);
  absl::Status SetScissors(absl::Span<const Scissor> scissors);
  absl::Status SetVertexBuffers(absl::Span<const VertexBuffer> buffers);
  absl::Status SetIndexBuffer(const IndexBuffer& buffer);
  absl::Status SetViews(BindingStage stage, absl::Span<const View> views);
  absl::Status SetSamplers(BindingStage stage, absl::Span<const Sampler> samplers);
  absl::Status SetConstants(BindingStage stage, absl::Span<const uint8_t> bytes);
  // While it is on, draws write vertices, if their pipeline has stream output.
  void SetStreaming(bool on) {
    streaming_ = on;
    SetStreamOut();
  }
  // For tasks or meshes.
  absl::Status SetMeshData(MeshStage stage, absl::Span<const uint8_t> bytes);
  // The one that is bound; null: none.
  const GraphicsPipeline* pipeline() const { return pipeline_; }
  // A clear or resolve of the targets' depth and stencil, whose caches the caller flushes.
  absl::Status Operate(DepthOperationOptions operation);
  // The targets of that.
  const std::vector<TrackedUse>& targets() const { return targets_; }
  DynamicRecorder<Gen>& dynamic() { return dynamic_; }

  // Everything that draws use, by which cache; whether it has changed since it was asked for.
  const std::vector<TrackedUse>& uses();
  bool uses_changed() const { return uses_changed_; }
  // The cache of vertices may hold those of other addresses: a barrier must precede the draw.
  bool vertices_stale() const { return Gen::kFacts.vertices_know_32_bits && reach_.stale(); }
  void VerticesInvalidated() { reach_.Invalidated(); }
  // For vertex buffers that others set.
  VertexReach& reach() { return reach_; }
  // Sets what a draw needs; the caller then flushes the state. meshes: the draw is of groups.
  absl::Status Prepare(bool meshes = false);
  // Other code may draw next: removes what it must not find.
  absl::Status Leave();
  // Other code has used the context: everything is set again.
  void Forget();

 private:
  static constexpr unsigned kStages = 5;  // of BindingStage, those of draws

  static constexpr bool kMeshes = requires { typename G::_3DSTATE_MESH_SHADER; };

  absl::Status SetViewportStates();
  void SetPointers();
  // The restart index, where it follows the indices' type.
  void SetRestart() {
    if (pipeline_ == nullptr || !pipeline_->restarts_at_greatest()) return;
    auto fetch = pipeline_->fetch();
    fetch.cut_index = index_type_ == IndexType::kUint8    ? 0xff
                      : index_type_ == IndexType::kUint16 ? 0xffff
                                                          : 0xffffffff;
    parts_.state.Set(fetch);
  }
  // The packets of meshes that a draw of vertices must not find.
  void SetNoMeshes();
  void SetStreamOut() {
    parts_.state.Set(pipeline_ == nullptr ? typename G::_3DSTATE_STREAMOUT()
                                          : pipeline_->stream_out(streaming_));
  }
  template <class F>
  static bool OfConstants(BindingStage stage, F f);

  const RecorderParts<Gen> parts_;
  DynamicRecorder<Gen> dynamic_{parts_};
  SamplerTables<Gen> samplers_;
  const GraphicsPipelineOf<Gen>* pipeline_ = nullptr;
  const GraphicsPipelineOf<Gen>* drawn_ = nullptr;  // by the last draw, whose URB the GPU has
  uint64_t moves_ = 0;                              // of the binder, that draws know of
  std::vector<StageTables<Gen>> tables_;            // by stage
  std::vector<Viewport> viewports_;
  std::vector<Scissor> scissors_;
  uint32_t width_ = 1, height_ = 1;  // of the targets
  uint32_t layers_ = ~uint32_t{0};   // of those that have the fewest
  DepthTargets depth_targets_;       // their images are the next two
  ImageSurface depth_, stencil_;
  // What the GPU is told for clears and resolves, apart from what draws have set.
  std::unique_ptr<DrawState<Gen>> operations_;
  bool streaming_ = false;
  bool viewports_changed_ = true;
  std::vector<TrackedUse> targets_, vertices_, uses_;
  uint32_t indices_ = 0;
  IndexType index_type_ = IndexType::kUint32;
  bool uses_changed_ = true;
  VertexReach reach_;
};

template <class Gen>
class DispatchRecorder {
 public:
  explicit DispatchRecorder(const RecorderParts<Gen>& parts)
      : parts_(parts),
        samplers_(parts.context.dynamic_pool(), parts.context.border_colors(), 0),
        table_(parts_) {}

  absl::Status Bind(const ComputeKernel& kernel) {
    if (!parts_.compute.Bind(kernel)) return parts_.compute.status();
    return SetScratch(kernel);
  }
  absl::Status SetViews(absl::Span<const View> views) {
    table_.SetViews(views);
    uses_changed_ = true;
    return absl::OkStatus();
  }
  absl::Status SetSamplers(absl::Span<const Sampler> samplers) {
    const absl::StatusOr<uint32_t> offset = WriteSamplers(parts_, samplers, samplers_);
    if (offset.ok()) sampler_table_ = *offset;
    return offset.status();
  }
  absl::Status SetConstants(absl::Span<const uint8_t> bytes) {
    return parts_.compute.SetConstants(bytes) ? absl::OkStatus() : parts_.compute.status();
  }
  const std::vector<TrackedUse>& uses() {
    if (uses_changed_) {
      uses_.clear();
      table_.EachUse([&](const TrackedUse& use) { uses_.push_back(use); });
      uses_changed_ = false;
    }
    return uses_;
  }
  bool uses_changed() const { return uses_changed_; }
  // In the pipeline that dispatches.
  absl::Status Prepare() {
    absl::Status status = table_.Bind(BindingStage::kCompute);
    TakeBindingEvents(parts_);
    parts_.compute.SetTables(
        {.bindings = parts_.binder.pointer(BindingStage::kCompute), .samplers = sampler_table_});
    return status;
  }
  void Forget() {
    parts_.compute.Forget();
    table_.Forget();
    uses_changed_ = true;
  }

 private:
  // The context's scratch memory for the width that runs, unless an earlier kernel had enough.
  absl::Status SetScratch(const ComputeKernel& kernel) {
    uint32_t needed = 0;
    for (unsigned i = 0; i < kSimdWidths; ++i) {
      // Without a local size the width is not known yet.
      const bool may_run = !parts_.compute.has_shape() || parts_.compute.shape().entry == i;
      if (kernel.entries[i].present && may_run)
        needed = std::max(needed, kernel.entries[i].scratch);
    }
    if (needed <= scratch_bytes_) return absl::OkStatus();
    const absl::StatusOr<ThreadScratch> scratch =
        parts_.context.ScratchFor(ScratchStage::kCompute, needed);
    if (!scratch.ok()) {
      return absl::Status(scratch.status().code(),
                          absl::StrCat("compute kernel: ", scratch.status().message()));
    }
    if (!parts_.compute.SetScratch({.per_thread = scratch->per_thread,
                                    .base = scratch->place,
                                    .surface = scratch->surface,
                                    .surface_buffer = scratch->states,
                                    .memory_buffer = scratch->memory})) {
      return parts_.compute.status();
    }
    scratch_bytes_ = scratch->per_thread;
    return absl::OkStatus();
  }

  const RecorderParts<Gen> parts_;
  SamplerTables<Gen> samplers_;
  StageTables<Gen> table_;
  uint32_t scratch_bytes_ = 0;  // of a thread, that the compute state has
  uint32_t sampler_table_ = 0;
  std::vector<TrackedUse> uses_;
  bool uses_changed_ = true;
};

// -- Implementation -----------------------------------------------------------------------------

template <class Gen>
DrawRecorder<Gen>::DrawRecorder(const RecorderParts<Gen>& parts)
    : parts_(parts), samplers_(parts.context.dynamic_pool(), parts.context.border_colors(), 0) {
  for (unsigned i = 0; i < kStages; ++i) tables_.emplace_back(parts_);
  // What a pipeline does not have, and draws need: nothing is bound.
  for (unsigned i = 0; i < kStages; ++i) {
    (void)SetConstants(static_cast<BindingStage>(i), {});
    (void)SetSamplers(static_cast<BindingStage>(i), {});
  }
  SetStreamOut();
  // Another command buffer may have drawn meshes.
  SetNoMeshes();
  depth_targets_.mocs = parts.context.mocs();
  (void)SetDepthTargets(depth_targets_, parts.state);
  SetPointers();
}

// Calls f with the packet of a stage's constants.
template <class Gen>
template <class F>
bool DrawRecorder<Gen>::OfConstants(BindingStage stage, F f) {
  switch (stage) {
    case BindingStage::kVertex:
      return f(typename G::_3DSTATE_CONSTANT_VS());
    case BindingStage::kHull:
      return f(typename G::_3DSTATE_CONSTANT_HS());
    case BindingStage::kDomain:
      return f(typename G::_3DSTATE_CONSTANT_DS());
    case BindingStage::kGeometry:
      return f(typename G::_3DSTATE_CONSTANT_GS());
    default:
      return f(typename G::_3DSTATE_CONSTANT_PS());
  }
}

template <class Gen>
absl::Status DrawRecorder<Gen>::SetConstants(BindingStage stage, absl::Span<const uint8_t> bytes) {
  constexpr uint32_t kRegister = 32, kMostRegisters = 64;
  const auto registers = static_cast<uint32_t>((bytes.size() + kRegister - 1) / kRegister);
  if (registers > kMostRegisters) {
    return absl::OutOfRangeError(absl::StrCat("push constants of ", bytes.size(),
                                              " bytes; a stage has at most ",
                                              kMostRegisters * kRegister));
  }
  address place;
  if (registers != 0) {
    const absl::StatusOr<gpu::State> state =
        parts_.recording.dynamic().Allocate(uint64_t{registers} * kRegister, kRegister);
    if (!state.ok()) return state.status();
    std::memset(state->cpu, 0, uint64_t{registers} * kRegister);
    std::memcpy(state->cpu, bytes.data(), bytes.size());
    place = {state->address, state->buffer};
  }
  const bool set = OfConstants(stage, [&](auto packet) {
    if constexpr (requires { packet.mocs; }) packet.mocs = parts_.context.mocs();
    // Slots are filled from the last of the four.
    packet.constant_body.read_length[3] = registers;
    packet.constant_body.buffer[3] = place;
    return parts_.state.Set(packet);
  });
  return set ? absl::OkStatus() : parts_.state.status();
}

template <class Gen>
absl::Status DrawRecorder<Gen>::SetSamplers(BindingStage stage,
                                            absl::Span<const Sampler> samplers) {
  const absl::StatusOr<uint32_t> offset = WriteSamplers(parts_, samplers, samplers_);
  if (!offset.ok()) return offset.status();
  DrawState<Gen>& state = parts_.state;
  bool set = false;
  switch (stage) {
    case BindingStage::kVertex:
      set = state.Set(
          typename G::_3DSTATE_SAMPLER_STATE_POINTERS_VS{.pointer_to_vs_sampler_state = *offset});
      break;
    case BindingStage::kHull:
      set = state.Set(
          typename G::_3DSTATE_SAMPLER_STATE_POINTERS_HS{.pointer_to_hs_sampler_state = *offset});
      break;
    case BindingStage::kDomain:
      set = state.Set(
          typename G::_3DSTATE_SAMPLER_STATE_POINTERS_DS{.pointer_to_ds_sampler_state = *offset});
      break;
    case BindingStage::kGeometry:
      set = state.Set(
          typename G::_3DSTATE_SAMPLER_STATE_POINTERS_GS{.pointer_to_gs_sampler_state = *offset});
      break;
    default:
      set = state.Set(
          typename G::_3DSTATE_SAMPLER_STATE_POINTERS_PS{.pointer_to_ps_sampler_state = *offset});
  }
  return set ? absl::OkStatus() : state.status();
}

template <class Gen>
void DrawRecorder<Gen>::SetPointers() {
  using enum BindingStage;
  const Binder<Gen>& binder = parts_.binder;
  DrawState<Gen>& state = parts_.state;
  state.Set(typename G::_3DSTATE_BINDING_TABLE_POINTERS_VS{.pointer_to_vs_binding_table =
                                                               binder.pointer(kVertex)});
  state.Set(typename G::_3DSTATE_BINDING_TABLE_POINTERS_HS{.pointer_to_hs_binding_table =
                                                               binder.pointer(kHull)});
  state.Set(typename G::_3DSTATE_BINDING_TABLE_POINTERS_DS{.pointer_to_ds_binding_table =
                                                               binder.pointer(kDomain)});
  state.Set(typename G::_3DSTATE_BINDING_TABLE_POINTERS_GS{.pointer_to_gs_binding_table =
                                                               binder.pointer(kGeometry)});
  state.Set(typename G::_3DSTATE_BINDING_TABLE_POINTERS_PS{.pointer_to_ps_binding_table =
                                                               binder.pointer(kPixel)});
}

template <class Gen>
absl::Status DrawRecorder<Gen>::Bind(const GraphicsPipeline& pipeline) {
  if (std::strcmp(pipeline.generation(), Gen::kName) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("a pipeline of ", pipeline.generation(),
                                                   " in a command buffer of ", Gen::kName));
  }
  const auto& next = static_cast<const GraphicsPipelineOf<Gen>&>(pipeline);
  if (pipeline_ == &next) return absl::OkStatus();
  pipeline_ = &next;
  for (const gpu::BufferUse& use : next.scratch_uses()) parts_.batch.Use(use.buffer, use.flags);
  viewports_changed_ = true;
  parts_.state.Bind(next.state());
  dynamic_.SetStale();
  if constexpr (kMeshes) {
    if (next.draws_meshes()) {
      SetMeshUrb(parts_.state, next.mesh_urb());
      using Task = typename G::_3DSTATE_TASK_SHADER_DATA;
      using Mesh = typename G::_3DSTATE_MESH_SHADER_DATA;
      using State = DrawState<Gen>;
      const StateGroups set = parts_.state.set();
      if ((set & State::template kGroup<Task>) == 0) parts_.state.Set(Task());
      if ((set & State::template kGroup<Mesh>) == 0) parts_.state.Set(Mesh());
    } else {
      SetNoMeshes();
      SetUrb(parts_.state, next.urb());
    }
  } else {
    SetUrb(parts_.state, next.urb());
  }
  SetRestart();
  if (next.streams_out()) SetStreamOutDeclarations(parts_.state, next.streamed());
  SetStreamOut();
  SetPushConstants(parts_.state, next.constants());
  constexpr uint64_t kBlendAlignment = 64;
  const absl::StatusOr<uint32_t> blend =
      WriteDynamic(next.blend(), kBlendAlignment, parts_.recording.dynamic(), parts_.batch);
  if (!blend.ok()) return blend.status();
  return PutPacket(parts_.state,
                   typename G::_3DSTATE_BLEND_STATE_POINTERS{.blend_state_pointer_valid = true,
                                                             .blend_state_pointer = *blend});
}

template <class Gen>
absl::Status DrawRecorder<Gen>::SetTargets(const RenderTargets& targets,
                                           absl::Span<const View> colors) {
  const ImageSurface* first = !targets.colors.empty()      ? &targets.colors[0]
                              : targets.depth != nullptr   ? targets.depth
                              : targets.stencil != nullptr ? targets.stencil
                                                           : nullptr;
  if (absl::Status status = SetDepthTargets({.depth = targets.depth,
                                             .stencil = targets.stencil,
                                             .hierarchical = targets.hierarchical,
                                             .clear_depth = targets.clear_depth,
                                             .mocs = parts_.context.mocs()},
                                            parts_.state);
      !status.ok()) {
    return status;
  }
  if (targets.depth != nullptr) depth_ = *targets.depth;
  if (targets.stencil != nullptr) stencil_ = *targets.stencil;
  depth_targets_ = {.depth = targets.depth != nullptr ? &depth_ : nullptr,
                    .stencil = targets.stencil != nullptr ? &stencil_ : nullptr,
                    .hierarchical = targets.hierarchical,
                    .clear_depth = targets.clear_depth,
                    .mocs = parts_.context.mocs()};
  const auto at_level = [](uint32_t size, uint32_t level) { return std::max(1u, size >> level); };
  width_ = first != nullptr ? at_level(first->width, first->first_level) : targets.width;
  height_ = first != nullptr ? at_level(first->height, first->first_level) : targets.height;
  layers_ = ~uint32_t{0};
  for (const ImageSurface& color : targets.colors) layers_ = std::min(layers_, color.layers);
  for (const ImageSurface* depth : {targets.depth, targets.stencil}) {
    if (depth != nullptr) layers_ = std::min(layers_, depth->layers);
  }
  viewports_changed_ = true;
  tables_[static_cast<unsigned>(BindingStage::kPixel)].SetLeading(colors);
  targets_.clear();
  for (const ImageSurface* depth : {targets.depth, targets.stencil}) {
    if (depth != nullptr) targets_.push_back({depth->memory.buffer, CacheDomain::kDepth});
  }
  if (targets.hierarchical.memory.buffer != 0) {
    targets_.push_back({targets.hierarchical.memory.buffer, CacheDomain::kDepth});
  }
  uses_changed_ = true;
  return absl::OkStatus();
}

template <class Gen>
absl::Status DrawRecorder<Gen>::SetViewports(absl::Span<const Viewport> viewports) {
  viewports_.assign(viewports.begin(), viewports.end());
  viewports_changed_ = true;
  return absl::OkStatus();
}

template <class Gen>
absl::Status DrawRecorder<Gen>::SetScissors(absl::Span<const Scissor> scissors) {
  scissors_.assign(scissors.begin(), scissors.end());
  viewports_changed_ = true;
  return absl::OkStatus();
}

template <class Gen>
absl::Status DrawRecorder<Gen>::SetVertexBuffers(absl::Span<const VertexBuffer> buffers) {
  if constexpr (!requires { typename G::_3DPRIMITIVE_EXTENDED; }) {
    constexpr uint32_t kMost = VertexIds().first_buffer;
    if (buffers.size() > kMost) {
      return absl::OutOfRangeError(absl::StrCat(buffers.size(), " vertex buffers; on ", Gen::kName,
                                                " there are at most ", kMost,
                                                ", because later ones hold the values of draws"));
    }
  }
  if (absl::Status status = intel::SetVertexBuffers(buffers, parts_.context.mocs(), parts_.state);
      !status.ok()) {
    return status;
  }
  vertices_.clear();
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].memory.buffer == 0) continue;
    vertices_.push_back({buffers[i].memory.buffer, CacheDomain::kVertex});
    reach_.Set(static_cast<unsigned>(i), buffers[i].memory.gpu);
  }
  uses_changed_ = true;
  return absl::OkStatus();
}

template <class Gen>
absl::Status DrawRecorder<Gen>::SetIndexBuffer(const IndexBuffer& buffer) {
  if (absl::Status status = intel::SetIndexBuffer(buffer, parts_.context.mocs(), parts_.state);
      !status.ok()) {
    return status;
  }
  indices_ = buffer.memory.buffer;
  index_type_ = buffer.type;
  SetRestart();
  reach_.Set(VertexReach::kIndices, buffer.memory.gpu);
  uses_changed_ = true;
  return absl::OkStatus();
}

template <class Gen>
absl::Status DrawRecorder<Gen>::SetViews(BindingStage stage, absl::Span<const View> views) {
  tables_[static_cast<unsigned>(stage)].SetViews(views);
  uses_changed_ = true;
  return absl::OkStatus();
}

template <class Gen>
const std::vector<TrackedUse>& DrawRecorder<Gen>::uses() {
  if (!uses_changed_) return uses_;
  uses_ = targets_;
  uses_.insert(uses_.end(), vertices_.begin(), vertices_.end());
  if (indices_ != 0) uses_.push_back({indices_, CacheDomain::kVertex});
  for (const StageTables<Gen>& table : tables_) {
    table.EachUse([&](const TrackedUse& use) { uses_.push_back(use); });
  }
  uses_changed_ = false;
  return uses_;
}

template <class Gen>
absl::Status DrawRecorder<Gen>::SetViewportStates() {
  const Rasterization& from = pipeline_->rasterization();
  const ViewportTarget target{.width = width_,
                              .height = height_,
                              .depth_range = from.depth_range,
                              .clip_near = from.clip_near,
                              .clip_far = from.clip_far};
  const Viewport whole{.width = static_cast<float>(width_), .height = static_cast<float>(height_)};
  const Scissor all{.width = width_, .height = height_};
  gpu::StateStream& dynamic = parts_.recording.dynamic();
  if (absl::Status status = intel::SetViewports<Gen>(
          viewports_.empty() ? absl::MakeConstSpan(&whole, 1) : absl::MakeConstSpan(viewports_),
          target, dynamic, parts_.batch, parts_.state);
      !status.ok()) {
    return status;
  }
  return intel::SetScissors<Gen>(
      scissors_.empty() ? absl::MakeConstSpan(&all, 1) : absl::MakeConstSpan(scissors_), target,
      dynamic, parts_.batch, parts_.state);
}

template <class Gen>
void DrawRecorder<Gen>::SetNoMeshes() {
  if constexpr (kMeshes) {
    parts_.state.Set(typename G::_3DSTATE_TASK_CONTROL());
    parts_.state.Set(typename G::_3DSTATE_MESH_CONTROL());
    parts_.state.Set(typename G::_3DSTATE_URB_ALLOC_MESH());
    parts_.state.Set(typename G::_3DSTATE_URB_ALLOC_TASK());
  }
}

template <class Gen>
absl::Status DrawRecorder<Gen>::Leave() {
  if constexpr (Gen::kFacts.wa_16014912113) {
    // What draws next divides the URB without knowing of the domain stage's part.
    if (drawn_ != nullptr && DomainPartChanges(drawn_->urb(), UrbPartition())) {
      typename Batch<Gen>::Group group(parts_.batch, LeaveDomainDwords<Gen>());
      if (!LeaveDomain(parts_.state, group, drawn_->urb())) return parts_.batch.status();
    }
    drawn_ = nullptr;
  }
  if constexpr (kMeshes) {
    if (drawn_ == nullptr || !drawn_->draws_meshes()) return absl::OkStatus();
    if constexpr (Gen::kFacts.wa_14015814527) {
      if (drawn_->has_tasks()) {
        typename Batch<Gen>::Group group(parts_.batch, LeaveTasksDwords<Gen>());
        if (!LeaveTasks(parts_.state, group, parts_.context.scratch())) {
          return parts_.batch.status();
        }
      }
    }
    drawn_ = nullptr;
  }
  return absl::OkStatus();
}

template <class Gen>
absl::Status DrawRecorder<Gen>::SetMeshData(MeshStage stage, absl::Span<const uint8_t> bytes) {
  if (bytes.size() > kMostMeshDataBytes) {
    return absl::OutOfRangeError(absl::StrCat("data of ", bytes.size(),
                                              " bytes for a task or mesh shader; it has at most ",
                                              kMostMeshDataBytes));
  }
  if constexpr (kMeshes) {
    const auto set = [&](auto packet) -> absl::Status {
      const size_t in_line = std::min(bytes.size(), sizeof(packet.inline_data));
      if (in_line != 0) std::memcpy(packet.inline_data, bytes.data(), in_line);
      if (const auto rest = bytes.subspan(in_line); !rest.empty()) {
        constexpr uint64_t kAlignment = 64;
        const absl::StatusOr<gpu::State> place =
            parts_.recording.dynamic().Allocate(rest.size(), kAlignment);
        if (!place.ok()) return place.status();
        std::memcpy(place->cpu, rest.data(), rest.size());
        parts_.batch.Use(place->buffer, gpu::kReads);
        packet.indirect_data_start_address = place->offset;
      }
      return PutPacket(parts_.state, packet);
    };
    return stage == MeshStage::kTask ? set(typename G::_3DSTATE_TASK_SHADER_DATA())
                                     : set(typename G::_3DSTATE_MESH_SHADER_DATA());
  } else {
    return absl::UnimplementedError(
        absl::StrCat(Gen::kName, " has no mesh shaders; Gfx12.5 and later generations have"));
  }
}

template <class Gen>
absl::Status DrawRecorder<Gen>::Operate(DepthOperationOptions operation) {
  const bool clears = operation.operation == DepthOperation::kClear;
  const bool stencil_alone = clears && !operation.clear_depth;
  const ImageSurface* const target = stencil_alone ? depth_targets_.stencil : depth_targets_.depth;
  if (target == nullptr || (operation.clear_stencil && depth_targets_.stencil == nullptr)) {
    return absl::FailedPreconditionError(
        "a clear or resolve of depth or stencil that is not a target: SetTargets() sets it");
  }
  if (!stencil_alone && depth_targets_.hierarchical.memory.gpu == 0) {
    return absl::FailedPreconditionError(
        "a clear or resolve of depth without RenderTargets::hierarchical; without it a draw "
        "clears, "
        "or Fill() on the copy engine");
  }
  const auto at_level = [&](uint32_t size) { return std::max(1u, size >> target->first_level); };
  operation.level_width = at_level(target->width);
  operation.level_height = at_level(target->height);
  if (operation.width == 0 && operation.height == 0) {
    operation.width = operation.level_width;
    operation.height = operation.level_height;
  }
  typename G::_3DSTATE_WM_HZ_OP checked;
  if (absl::Status status = DescribeDepthOperation<Gen>(operation, checked); !status.ok()) {
    return status;
  }
  if (clears && operation.clear_depth) {
    depth_targets_.clear_depth = operation.depth_value;
    if (absl::Status set = SetDepthTargets(depth_targets_, parts_.state); !set.ok()) return set;
  }
  if (operations_ == nullptr) {
    operations_ = std::make_unique<DrawState<Gen>>(parts_.context.scratch());
  }
  DrawState<Gen>& own = *operations_;
  own.Forget();
  absl::Status status = SetDepthTargets(depth_targets_, own);
  if (status.ok()) status = PutPacket(own, typename G::_3DSTATE_RASTER());
  if (status.ok()) {
    status = PutPacket(own, typename G::_3DSTATE_MULTISAMPLE{.number_of_multisamples =
                                                                 checked.number_of_multisamples});
  }
  if (!status.ok()) return status;
  if (!own.template Flush<typename G::_3DSTATE_WM_HZ_OP>(parts_.batch)) {
    return own.status().ok() ? parts_.batch.status() : own.status();
  }
  status = EmitDepthOperation(operation, parts_.context.scratch(), parts_.batch);
  parts_.state.template Emitted<typename G::_3DSTATE_DEPTH_BUFFER>();
  parts_.state.template Emitted<typename G::_3DSTATE_RASTER>();
  parts_.state.template Emitted<typename G::_3DSTATE_MULTISAMPLE>();
  return status;
}

template <class Gen>
absl::Status DrawRecorder<Gen>::Prepare(bool meshes) {
  if (pipeline_ == nullptr) {
    return absl::FailedPreconditionError("a draw without a pipeline: Bind() one before");
  }
  if (meshes != pipeline_->draws_meshes()) {
    return absl::FailedPreconditionError(
        meshes
            ? "a draw of groups of meshes with a pipeline of vertices: Bind() one with a mesh "
              "shader"
            : "a draw of vertices with a pipeline of meshes: these draw groups, by MeshDrawCall");
  }
  if (pipeline_->views().layer_count() > layers_) {
    return absl::OutOfRangeError(absl::StrCat(
        "a draw of view ", pipeline_->views().layer_count() - 1, ", whose layer targets of ",
        layers_, layers_ == 1 ? " layer" : " layers", " lack: SetTargets() others"));
  }
  if (viewports_changed_) {
    if (absl::Status status = SetViewportStates(); !status.ok()) return status;
    viewports_changed_ = false;
  }
  if (absl::Status status = dynamic_.Apply(*pipeline_); !status.ok()) return status;
  for (unsigned i = 0; i < kStages; ++i) {
    if (!tables_[i].changed()) continue;
    if (absl::Status status = tables_[i].Bind(static_cast<BindingStage>(i)); !status.ok()) {
      return status;
    }
  }
  // A dispatch may have moved the tables of all stages, and taken the events.
  const BindingEvents events = TakeBindingEvents(parts_);
  const uint64_t moves = parts_.binder.statistics().moves;
  if (events != 0 || moves != moves_) SetPointers();
  moves_ = moves;
  if constexpr (Gen::kFacts.wa_16014912113) {
    if (drawn_ != nullptr && DomainPartChanges(drawn_->urb(), pipeline_->urb())) {
      typename Batch<Gen>::Group group(parts_.batch, LeaveDomainDwords<Gen>());
      if (!LeaveDomain(parts_.state, group, drawn_->urb())) return parts_.batch.status();
    }
  }
  if (kMeshes && drawn_ != nullptr && drawn_->has_tasks() && !pipeline_->has_tasks()) {
    if (absl::Status status = Leave(); !status.ok()) return status;
  }
  drawn_ = pipeline_;
  return absl::OkStatus();
}

template <class Gen>
void DrawRecorder<Gen>::Forget() {
  drawn_ = nullptr;
  parts_.state.Forget();
  for (StageTables<Gen>& table : tables_) table.Forget();
  uses_changed_ = true;
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DRIVER_RECORDERS_H_
