// Command buffers of one generation: CommandBuffer with its packets. Programs that emit packets of
// their own include this; others need command_buffer.h only, and compile faster.
//
//   auto& commands = static_cast<CommandBufferOf<Gfx9>&>(**any);
//   commands.packets().Emit(gfx9::MI_STORE_DATA_IMM{…});
//   commands.state().Set(gfx9::_3DSTATE_VF_TOPOLOGY{…});

#ifndef PACKSMITH_RUNTIME_INTEL_DRIVER_COMMAND_BUFFER_OF_H_
#define PACKSMITH_RUNTIME_INTEL_DRIVER_COMMAND_BUFFER_OF_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "packsmith/pack.h"
#include "runtime/base/debug.h"
#include "runtime/command/buffer_chunks.h"
#include "runtime/intel/batch/arithmetic.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/cache_rules.h"
#include "runtime/intel/batch/engines.h"
#include "runtime/intel/batch/generated_draws.h"
#include "runtime/intel/batch/indirect.h"
#include "runtime/intel/batch/pipeline_select.h"
#include "runtime/intel/batch/secondaries.h"
#include "runtime/intel/binding/binder.h"
#include "runtime/intel/binding/surface_states.h"
#include "runtime/intel/compute/compute_mode.h"
#include "runtime/intel/compute/compute_state.h"
#include "runtime/intel/driver/blits.h"
#include "runtime/intel/driver/command_buffer.h"
#include "runtime/intel/driver/context.h"
#include "runtime/intel/driver/draw_values_of.h"
#include "runtime/intel/driver/emit_blit.h"
#include "runtime/intel/driver/indirect_draws_of.h"
#include "runtime/intel/driver/query_recorder_of.h"
#include "runtime/intel/driver/recorders.h"
#include "runtime/intel/driver/slice_plan_of.h"
#include "runtime/intel/pipeline/raster_packets.h"
#include "runtime/intel/state/draw_state.h"
#include "runtime/intel/state/l3.h"
#include "runtime/intel/state/multiview.h"
#include "runtime/intel/state/slice_hashing.h"

namespace packsmith::intel {

template <class Gen>
class CommandBufferOf final : public CommandBuffer {
  using G = typename Gen::Packets;

 public:
  // The context's generation must be Gen.
  static absl::StatusOr<std::unique_ptr<CommandBuffer>> New(Context& context,
                                                            const CommandBufferOptions& options);
  ~CommandBufferOf() override = default;

  const absl::Status& status() const override { return status_.ok() ? batch_.status() : status_; }
  absl::Status End() override;
  absl::Status Reset() override;
  bool Bind(const GraphicsPipeline& pipeline) override;
  bool SetTargets(const RenderTargets& targets) override;
  bool SetViewports(absl::Span<const Viewport> viewports) override;
  bool SetScissors(absl::Span<const Scissor> scissors) override;
  bool SetColorConstants(const ColorConstants& constants) override;
  bool SetDynamic(const DynamicState& state) override;
  bool SetVertexBuffers(absl::Span<const VertexBuffer> buffers) override;
  bool SetIndexBuffer(const IndexBuffer& buffer) override;
  bool Draw(const DrawCall& draw) override;
  bool Draw(const IndirectDrawCall& draws) override;
  bool Draw(const MeshDrawCall& draw) override;
  bool SetMeshData(MeshStage stage, absl::Span<const uint8_t> bytes) override;
  bool BeginStreamOutput(absl::Span<const StreamOutputBuffer> buffers) override;
  bool EndStreamOutput() override;
  bool Draw(const StreamOutputDraw& draw) override;
  bool Operate(const DepthOperationOptions& operation) override;
  bool Bind(const ComputeKernel& kernel) override;
  bool Dispatch(const GroupCount& groups) override;
  bool DispatchIndirect(const address& arguments) override;
  View MakeView(const ImageSurface& image) override;
  View MakeView(const BufferSurface& buffer) override;
  bool SetViews(BindingStage stage, absl::Span<const View> views) override;
  bool SetSamplers(BindingStage stage, absl::Span<const Sampler> samplers) override;
  bool SetConstants(BindingStage stage, absl::Span<const uint8_t> bytes) override;
  bool Copy(const BufferCopy& copy) override;
  bool Copy(const ImageCopy& copy) override;
  bool Copy(const BufferImageCopy& copy) override;
  bool Fill(const BufferFill& fill) override;
  bool Fill(const ImageFill& fill) override;
  QueryRecorder& queries() override { return queries_; }
  bool Use(const gpu::Buffer& buffer, CacheDomain domain) override;
  using CommandBuffer::Barrier;
  bool Barrier(const CacheBarrier& barrier) override;
  bool Execute(CommandBuffer& secondary) override;
  const BatchCore& batch() const override { return batch_; }

  // The parts, for packets of the caller's own. After packets that set what they keep track of,
  // they must be told: DrawState::Emitted(), CacheTracker::Apply().
  Batch<Gen>& packets() { return batch_; }
  DrawState<Gen>& state() { return *state_; }
  Binder<Gen>* binder() { return binder_.get(); }
  CacheTracker& caches() { return *caches_; }
  Pipeline pipeline() const { return pipeline_; }
  // Selects a pipeline of the render engine, if the other one is selected.
  bool Select(Pipeline to);

 protected:
  bool Refuse(absl::Status status) override {
    if (status_.ok()) status_ = std::move(status);
    return false;
  }
  void UseBuffer(uint32_t buffer, gpu::UseFlags flags) override { batch_.Use(buffer, flags); }

 private:
  CommandBufferOf(Context& context, const CommandBufferOptions& options)
      : CommandBuffer(context, options, context.NewRecording()),
        chunks_(context.buffers(), {.zone = context.zone("other"),
                                    .name = "batch",
                                    .chunk_bytes = 8192,
                                    .largest_chunk_bytes = 1 << 20}),
        batch_(chunks_, {.second_level = options.secondary && !Returns(options)}) {}

  // Whether it is called by a jump, and returns by another one: kernels write jumps of first-level
  // batches.
  static bool Returns(const CommandBufferOptions& options) {
    return options.secondary && options.engine == Engine::kRender && options.draw_kernel != nullptr;
  }
  // Whether a call can record at all.
  bool CanRecord() {
    if (ended_) {
      return Refuse(absl::FailedPreconditionError(
          "the command buffer has ended; Reset() begins a new recording"));
    }
    return status_.ok() && batch_.status().ok();
  }

  absl::Status Begin();
  absl::Status BeginRender();
  absl::StatusOr<std::unique_ptr<Binder<Gen>>> MakeBinder();
  // After the caches or bases have been changed by others.
  bool EmitSelect(Pipeline to);
  template <class Register>
  void SetRegister(const Register& value);
  // Emits a barrier, in the pipeline that can.
  bool EmitTracked(const CacheBarrier& barrier);
  // What a draw or dispatch uses: one barrier for all, then the uses.
  bool Track(absl::Span<const TrackedUse> uses);
  bool Track(const TrackedUse& use) { return Track(absl::MakeConstSpan(&use, 1)); }
  // For calls that draws take, or dispatches: on engines that have them.
  bool CanDraw();
  bool CanDispatch();
  // Keeps an error.
  bool Check(absl::Status status) { return status.ok() || Refuse(std::move(status)); }
  // A part has failed: its error, or the batch's, which is kept there.
  bool Fail(const absl::Status& part) { return Check(part), false; }
  // Draw: the packet that follows.
  template <class Draw = typename G::_3DPRIMITIVE>
  bool BeginDraw(const address& arguments);
  // The same for a draw of vertices that read these numbers; to(packet) fills in the draw, which is
  // then emitted.
  template <class F>
  bool EmitDraw(const DrawNumbers& numbers, const address& arguments, F to);
  // The instances that are drawn for those of the application, with the bound pipeline's views.
  bool TakeViews(uint32_t& instances);
  // The same of numbers in memory: copies of them, in memory of the recording.
  bool TakeViews(IndirectDrawCall& draws);
  // What stream output writes, and where its sizes are.
  bool TrackStreamOutput(bool begins);
  bool BeginDispatch(const address& arguments);
  template <class Surface>
  View WriteView(const Surface& surface, CacheDomain domain);
  // Copies that read or write what one before writes begin after it.
  bool Order(const gpu::Buffer& source, const gpu::Buffer& destination);
  template <class C>
  bool Blits(const C& copy, const gpu::Buffer& source, const gpu::Buffer& destination);
  template <class F>
  bool FillBlits(const F& fill, const gpu::Buffer& destination);

  friend class QueryRecorderOf<Gen>;

  absl::Status status_;
  bool ended_ = false;
  std::optional<address> return_slot_;  // of a secondary that returns by a jump
  gpu::BufferChunks chunks_;
  Batch<Gen> batch_;
  std::unique_ptr<Binder<Gen>> binder_;  // none on the copy engine
  // Of one recording: made by Begin().
  std::optional<CacheTracker> caches_;
  std::optional<DrawState<Gen>> state_;
  Pipeline pipeline_ = Pipeline::k3D;  // the selected one
  std::optional<BlitEmitter<Gen>> blits_;
  std::optional<ComputeState<Gen>> compute_;
  std::optional<DrawRecorder<Gen>> draws_;
  std::optional<DispatchRecorder<Gen>> dispatches_;
  std::optional<IndirectRecorder<Gen>> indirect_;
  std::optional<DrawBuffers<Gen>> draw_buffers_;
  // Grows with each barrier and each use; that at which draws, and dispatches, were tracked last.
  uint64_t changes_ = 1, draws_tracked_ = 0, dispatches_tracked_ = 0;
  absl::flat_hash_set<uint32_t> blit_sources_, blit_destinations_;
  QueryRecorderOf<Gen> queries_{*this};
  bool streaming_ = false;
  std::array<StreamOutputBuffer, kStreamOutBuffers> streamed_;
};

// -- Implementation -----------------------------------------------------------------------------

template <class Gen>
absl::StatusOr<std::unique_ptr<CommandBuffer>> CommandBufferOf<Gen>::New(
    Context& context, const CommandBufferOptions& options) {
  if constexpr (!requires { typename G::CFE_STATE; }) {
    if (options.engine == Engine::kCompute) {
      return absl::InvalidArgumentError(absl::StrCat(
          Gen::kName, " has no compute engine; the render engine takes dispatches, too"));
    }
  }
  std::unique_ptr<CommandBufferOf> made(new CommandBufferOf(context, options));
  if (absl::Status status = made->Begin(); !status.ok()) return status;
  return std::unique_ptr<CommandBuffer>(std::move(made));
}

template <class Gen>
absl::Status CommandBufferOf<Gen>::Begin() {
  caches_.emplace(L3DomainsOf<Gen>());
  state_.emplace(context().scratch());
  draws_.reset();
  dispatches_.reset();
  indirect_.reset();
  draw_buffers_.reset();
  blits_.emplace(batch_, CopyMocs(context().device().caching));
  blit_sources_.clear();
  blit_destinations_.clear();
  queries_.Forget();
  streaming_ = false;
  // Secondaries are left out with what calls them.
  if (DebugOn(DebugSwitch::kNoop) && !options().secondary) batch_.Emit(typename Gen::BatchEnd{});
  return_slot_ = std::nullopt;
  if (Returns(options())) {
    // Callers turn it off for the jump.
    for (const auto& packet : PreParser<Gen>(true)) batch_.Emit(packet);
  }
  return options().engine == Engine::kCopy ? absl::OkStatus() : BeginRender();
}

template <class Gen>
absl::StatusOr<std::unique_ptr<Binder<Gen>>> CommandBufferOf<Gen>::MakeBinder() {
  // The largest size that the fields hold, in pages: nothing is out of bounds.
  constexpr uint32_t kAll = 0xfffff;
  const gpu::Zone& surfaces = context().space().zone(context().zone("surface"));
  const uint32_t mocs = context().mocs();
  const uint64_t dynamic = context().dynamic_pool().base();
  typename Binder<Gen>::Options options{
      .zone = context().zone("binder"),
      .surface_base = surfaces.begin,
      .surface_bytes = surfaces.size(),
      .bases = {.general_state_base_address_modify_enable = true,
                .general_state_mocs = mocs,
                .stateless_data_port_access_mocs = mocs,
                .surface_state_mocs = mocs,
                .dynamic_state_base_address_modify_enable = true,
                .dynamic_state_mocs = mocs,
                .dynamic_state_base_address = dynamic,
                .indirect_object_base_address_modify_enable = true,
                .indirect_object_mocs = mocs,
                .instruction_base_address_modify_enable = true,
                .instruction_mocs = mocs,
                .instruction_base_address = context().kernel_pool().base(),
                .general_state_buffer_size_modify_enable = true,
                .general_state_buffer_size = kAll,
                .dynamic_state_buffer_size_modify_enable = true,
                .dynamic_state_buffer_size = kAll,
                .indirect_object_buffer_size_modify_enable = true,
                .indirect_object_buffer_size = kAll,
                .instruction_buffer_size_modify_enable = true,
                .instruction_buffer_size = kAll},
      .mocs = mocs,
      .scratch = context().scratch(),
      .forgets_before_moves = context().device().forgets_before_moves,
  };
  auto& bases = options.bases;
  if constexpr (Gen::kFacts.scratch_pointer_shift != 0) {
    // Data of kernels counts from this base, and surfaces of scratch memory from the other one.
    bases.general_state_base_address = dynamic;
    bases.bindless_surface_state_base_address_modify_enable = true;
    bases.bindless_surface_state_base_address =
        context().space().zone(context().zone("scratch")).begin;
    bases.bindless_surface_state_size = ~uint32_t{0};
  }
  if constexpr (requires { bases.bindless_surface_state_mocs; }) {
    bases.bindless_surface_state_mocs = mocs;
  }
  if constexpr (requires { bases.bindless_sampler_state_mocs; }) {
    bases.bindless_sampler_state_mocs = mocs;
  }
  if constexpr (requires { bases.l1_cache_control; }) {
    bases.l1_cache_control = G::STATE_BASE_ADDRESS::L1_CACHE_CONTROL_WB;
  }
  return Binder<Gen>::Create(context().buffers(), options);
}

template <class Gen>
absl::Status CommandBufferOf<Gen>::BeginRender() {
  absl::StatusOr<std::unique_ptr<Binder<Gen>>> binder = MakeBinder();
  if (!binder.ok()) return binder.status();
  binder_ = *std::move(binder);
  compute_.emplace(ComputeDevice{.device = context().device(),
                                 .subslices = context().subslices(),
                                 .mocs = context().mocs()},
                   recording().dynamic());
  const bool render = options().engine == Engine::kRender;
  if (!EmitSelect(render ? Pipeline::k3D : Pipeline::kGpgpu)) return status();
  // Secondaries have their caller's.
  if (!options().secondary && !EnableRegisterBlocks(batch_)) return status();
  if (render && !options().secondary && !L3Partitions(context().device()).empty()) {
    const absl::StatusOr<L3Partition> l3 =
        ChooseL3(context().device(), {.slm = 1, .urb = 1, .all = 1});
    if (!l3.ok()) return l3.status();
    typename Batch<Gen>::Group group(batch_, L3Dwords<Gen>());
    EmitL3<Gen>(group, *l3);
  }
  if (absl::Status set = binder_->EmitSetup(batch_); !set.ok()) return set;
  if (absl::Status begun = binder_->Begin(batch_); !begun.ok()) return begun;
  (void)binder_->TakeEvents();
  const RecorderParts<Gen> parts{context(), recording(), batch_, *binder_, *state_, *compute_};
  dispatches_.emplace(parts);
  if (!render) return status();
  draws_.emplace(parts);
  indirect_.emplace(parts, chunks_, options());
  draw_buffers_.emplace(parts);
  if (absl::Status fixed = EmitFixedState<Gen>(batch_); !fixed.ok()) return fixed;
  if (!options().secondary && context().slice_plan() != nullptr) {
    const auto& plan = static_cast<const SlicePlanOf<Gen>&>(*context().slice_plan());
    const gpu::State& table = context().slice_table();
    if (table.buffer != 0) batch_.Use(table.buffer, gpu::kReads);
    if (!EmitSliceHashing(batch_, plan.hashing(), table.offset)) return status();
  }
  // Pushed constants have addresses that are not relative to a base.
  if constexpr (requires { typename G::CS_DEBUG_MODE2; }) {
    SetRegister(typename G::CS_DEBUG_MODE2{.constant_buffer_address_offset_disable = true,
                                           .constant_buffer_address_offset_disable_mask = true});
  } else {
    SetRegister(typename G::INSTPM{.constant_buffer_address_offset_disable = true,
                                   .constant_buffer_address_offset_disable_mask = true});
  }
  return status();
}

template <class Gen>
template <class Register>
void CommandBufferOf<Gen>::SetRegister(const Register& value) {
  const auto dwords = packed(value);
  static_assert(Register::length == 1);
  batch_.Emit(typename Gen::LoadRegisterConstant{.register_offset_ = Register::register_offset,
                                                 .data_dword = dwords.dw[0]});
}

template <class Gen>
absl::Status CommandBufferOf<Gen>::End() {
  if (ended_) return status();
  if (streaming_) {
    Refuse(absl::FailedPreconditionError(
        "the recording ends within stream output: EndStreamOutput() must precede"));
  }
  ended_ = true;
  if (!status().ok()) return status();
  if (options().engine == Engine::kCopy) {
    blits_->Restore();
    EmitFlush(batch_, EngineKind::kCopy);
  } else {
    if (options().engine == Engine::kRender) {
      Select(Pipeline::k3D);
      Check(draws_->Leave());
    }
    compute_->RestoreMode(batch_);
    EmitTracked(kFullBarrier);
    if (indirect_) indirect_->End();
    for (const gpu::BufferHandle buffer : context().kernel_buffers()) {
      batch_.Use(buffer, gpu::kReads);
    }
  }
  if (Returns(options())) {
    absl::StatusOr<address> slot = batch_.EndReturning();
    if (!slot.ok()) return Refuse(slot.status()), status();
    return_slot_ = *slot;
  } else if (absl::Status ended = batch_.End(); !ended.ok()) {
    return Refuse(std::move(ended)), status();
  }
  if (absl::Status flushed = recording().Flush(); !flushed.ok()) Refuse(std::move(flushed));
  return status();
}

template <class Gen>
absl::Status CommandBufferOf<Gen>::Reset() {
  if (absl::Status rewound = RewindRecording(); !rewound.ok()) return rewound;
  indirect_.reset();  // what it has recorded is in the chunks
  batch_.Reset();
  (void)batch_.TakeStatus();
  if (absl::Status released = chunks_.Release(); !released.ok()) return released;
  status_ = absl::OkStatus();
  ended_ = false;
  absl::Status begun = Begin();
  if (!begun.ok()) Refuse(begun);
  return begun;
}

template <class Gen>
bool CommandBufferOf<Gen>::EmitSelect(Pipeline to) {
  {
    typename Batch<Gen>::Group group(batch_, PipelineSelectDwords<Gen>());
    if (!EmitPipelineSelect<Gen>(group, to)) return false;
  }
  pipeline_ = to;
  binder_->SetPipeline(to);
  state_->template Emitted<typename G::PIPELINE_SELECT>();
  compute_->template Emitted<typename G::PIPELINE_SELECT>();
  if constexpr (Gen::kFacts.select_takes_media_state) {
    compute_->template Emitted<typename G::MEDIA_VFE_STATE>();
  }
  return true;
}

template <class Gen>
bool CommandBufferOf<Gen>::Select(Pipeline to) {
  if (to == pipeline_) return true;
  // Threads of draws have the usual registers.
  if (to == Pipeline::k3D && !compute_->RestoreMode(batch_)) return false;
  return EmitSelect(to);
}

template <class Gen>
bool CommandBufferOf<Gen>::EmitTracked(const CacheBarrier& barrier) {
  if (barrier.empty()) return true;
  if (indirect_ && !indirect_->Before(barrier)) return false;
  constexpr CacheDomains kOf3D =
      SetOf(CacheDomain::kRender) | SetOf(CacheDomain::kDepth) | SetOf(CacheDomain::kVertex);
  CacheBarrier emitted = barrier;
  if (options().engine == Engine::kCompute) {
    // It has none of these.
    emitted.flush &= static_cast<CacheDomains>(~kOf3D);
    emitted.to_memory &= static_cast<CacheDomains>(~kOf3D);
    emitted.invalidate &= static_cast<CacheDomains>(~kOf3D);
  }
  // Some generations take barriers of these caches only while 3D is selected.
  ++changes_;
  const Pipeline before = pipeline_;
  const bool needs_3d = options().engine == Engine::kRender &&
                        ((emitted.to_memory | emitted.invalidate) & kOf3D) != 0;
  if (needs_3d && !Select(Pipeline::k3D)) return false;
  if (!EmitBarrier(batch_, emitted, context().scratch(), pipeline_)) return false;
  return Select(before);
}

template <class Gen>
bool CommandBufferOf<Gen>::Use(const gpu::Buffer& buffer, CacheDomain domain) {
  if (!CanRecord()) return false;
  batch_.Use(buffer.handle, static_cast<size_t>(domain) < kWritingDomains
                                ? gpu::kReads | gpu::kWrites
                                : gpu::kReads);
  if (options().engine == Engine::kCopy) {
    const bool writes = static_cast<size_t>(domain) < kWritingDomains;
    if ((blit_destinations_.contains(buffer.handle) ||
         (writes && blit_sources_.contains(buffer.handle))) &&
        !Barrier(CacheBarrier{.wait = true})) {
      return false;
    }
    (writes ? blit_destinations_ : blit_sources_).insert(buffer.handle);
    return true;
  }
  ++changes_;
  return Track(TrackedUse{buffer.handle, domain});
}

template <class Gen>
bool CommandBufferOf<Gen>::Barrier(const CacheBarrier& barrier) {
  if (!CanRecord()) return false;
  if (options().engine == Engine::kCopy) {
    blit_sources_.clear();
    blit_destinations_.clear();
    return EmitFlush(batch_, EngineKind::kCopy);
  }
  if (!EmitTracked(barrier)) return false;
  caches_->Apply(barrier);
  return true;
}

template <class Gen>
bool CommandBufferOf<Gen>::Order(const gpu::Buffer& source, const gpu::Buffer& destination) {
  if (blit_destinations_.contains(source.handle) ||
      blit_destinations_.contains(destination.handle) ||
      blit_sources_.contains(destination.handle)) {
    if (!Barrier(CacheBarrier{.wait = true})) return false;
  }
  blit_sources_.insert(source.handle);
  blit_destinations_.insert(destination.handle);
  return true;
}

template <class Gen>
template <class C>
bool CommandBufferOf<Gen>::Blits(const C& copy, const gpu::Buffer& source,
                                 const gpu::Buffer& destination) {
  if (!CanRecord()) return false;
  if (options().engine != Engine::kCopy) {
    return Refuse(absl::UnimplementedError(absl::StrCat(
        "the ", NameOf(options().engine), " engine has no packet that copies images, or more than ",
        kMostStreamerCopyBytes, " bytes; record the copy in a command buffer of Engine::kCopy")));
  }
  // Checked before anything is emitted.
  absl::Status planned = PlanCopy(copy, BlitLimitsOf<Gen>(), [](const Blit&) { return false; });
  if (!planned.ok()) return Refuse(std::move(planned));
  if (!Order(source, destination)) return false;
  planned =
      PlanCopy(copy, BlitLimitsOf<Gen>(), [&](const Blit& blit) { return blits_->Emit(blit); });
  return planned.ok() ? batch_.status().ok() : Refuse(std::move(planned));
}

template <class Gen>
bool CommandBufferOf<Gen>::Copy(const BufferCopy& copy) {
  if (!CanRecord()) return false;
  if (absl::Status checked = CheckCopy(copy); !checked.ok()) return Refuse(std::move(checked));
  if (copy.size == 0) return true;
  if (options().engine == Engine::kCopy) {
    if constexpr (CopiesBytes<G>) {
      bool taken;
      return Order(copy.source, copy.destination) && blits_->EmitBytes(copy, taken);
    } else {
      return Blits(copy, copy.source, copy.destination);
    }
  }
  if (copy.size > kMostStreamerCopyBytes) return Blits(copy, copy.source, copy.destination);
  const uint64_t from = copy.source.address + copy.source_offset;
  const uint64_t to = copy.destination.address + copy.destination_offset;
  if (((from | to | copy.size) & 3) != 0) {
    return Refuse(absl::UnimplementedError(
        absl::StrCat("a copy of ", copy.size, " bytes from offset ", copy.source_offset, " to ",
                     copy.destination_offset, "; the ", NameOf(options().engine),
                     " engine copies whole dwords, Engine::kCopy any bytes")));
  }
  if (!Use(copy.source, CacheDomain::kOtherRead) ||
      !Use(copy.destination, CacheDomain::kOtherWrite)) {
    return false;
  }
  for (uint64_t done = 0; done < copy.size; done += 4) {
    if (!batch_.Emit(typename Gen::CopyMemory{
            .destination_memory_address = {to + done, copy.destination.handle},
            .source_memory_address = {from + done, copy.source.handle}})) {
      return false;
    }
  }
  return true;
}

template <class Gen>
bool CommandBufferOf<Gen>::Copy(const ImageCopy& copy) {
  if (copy.source.image == nullptr || copy.destination.image == nullptr) {
    return Refuse(absl::InvalidArgumentError("a copy of images without a source or destination"));
  }
  return Blits(copy, copy.source.image->memory, copy.destination.image->memory);
}

template <class Gen>
bool CommandBufferOf<Gen>::Copy(const BufferImageCopy& copy) {
  if (copy.image.image == nullptr) {
    return Refuse(absl::InvalidArgumentError("a copy of an image without the image"));
  }
  const gpu::Buffer& image = copy.image.image->memory;
  return copy.to_image ? Blits(copy, copy.buffer, image) : Blits(copy, image, copy.buffer);
}

template <class Gen>
bool CommandBufferOf<Gen>::Execute(CommandBuffer& secondary) {
  static constexpr SecondaryRule kRules[] = {{SecondaryWay::kCopied, kMostCopiedDwords},
                                             {SecondaryWay::kSecondLevel},
                                             {SecondaryWay::kReturning},
                                             {SecondaryWay::kCopied}};
  if (!CanRecord()) return false;
  if (!secondary.options().secondary || secondary.options().engine != options().engine ||
      &secondary.context() != &context() || &secondary == this) {
    return Refuse(absl::InvalidArgumentError(
        "Execute() takes a secondary command buffer of the same context and engine"));
  }
  auto& other = static_cast<CommandBufferOf&>(secondary);
  if (!other.ended_ || !other.status().ok()) {
    return Refuse(absl::FailedPreconditionError(
        absl::StrCat("the secondary command buffer has ",
                     other.ended_ ? other.status().ToString() : "not ended: call its End()")));
  }
  if (queries_.conditional() || streaming_) {
    return Refuse(absl::FailedPreconditionError(
        queries_.conditional()
            ? "Execute() on a condition, which secondaries do not take: "
              "EndCondition() must precede"
            : "Execute() within stream output, which secondaries do not inherit: "
              "EndStreamOutput() must precede"));
  }
  if (draws_ && !Check(draws_->Leave())) return false;
  if (compute_ && !compute_->RestoreMode(batch_)) return false;
  if (!Barrier()) return false;
  if (!EmitSecondary<Gen>(batch_, {other.batch_, other.return_slot_}, kRules).ok()) return false;
  NoteSecondary(secondary);
  if (options().engine == Engine::kCopy) return true;
  // It ended with a barrier and, on the render engine, in the 3D pipeline.
  pipeline_ = other.pipeline_;
  binder_->SetPipeline(pipeline_);
  if (absl::Status begun = binder_->Begin(batch_); !begun.ok()) return Refuse(std::move(begun));
  (void)binder_->TakeEvents();
  if (draws_) {
    draws_->Forget();
    draw_buffers_->Forget();
  }
  dispatches_->Forget();
  ++changes_;
  return true;
}

// -- Draws and dispatches -----------------------------------------------------------------------

template <class Gen>
bool CommandBufferOf<Gen>::Track(absl::Span<const TrackedUse> uses) {
  CacheBarrier barrier;
  for (const TrackedUse& use : uses) {
    const CacheBarrier one = caches_->Needs(use.buffer, use.domain);
    barrier.flush |= one.flush;
    barrier.to_memory |= one.to_memory;
    barrier.invalidate |= one.invalidate;
    barrier.from_memory |= one.from_memory;
    barrier.wait |= one.wait;
  }
  if (!barrier.empty()) {
    if (!EmitTracked(barrier)) return false;
    caches_->Apply(barrier);
  }
  for (const TrackedUse& use : uses) {
    batch_.Use(use.buffer, FlagsOf(use.domain));
    caches_->Note(use.buffer, use.domain);
  }
  return true;
}

template <class Gen>
bool CommandBufferOf<Gen>::CanDraw() {
  if (!CanRecord()) return false;
  return draws_ || Refuse(absl::UnimplementedError(
                       absl::StrCat("the ", NameOf(options().engine),
                                    " engine does not draw; record draws for Engine::kRender")));
}

template <class Gen>
bool CommandBufferOf<Gen>::CanDispatch() {
  if (!CanRecord()) return false;
  return dispatches_ ||
         Refuse(absl::UnimplementedError("the copy engine does not dispatch; record dispatches for "
                                         "Engine::kRender or Engine::kCompute"));
}

template <class Gen>
bool CommandBufferOf<Gen>::Bind(const GraphicsPipeline& pipeline) {
  return CanDraw() && Check(draws_->Bind(pipeline));
}

template <class Gen>
bool CommandBufferOf<Gen>::SetTargets(const RenderTargets& targets) {
  if (!CanDraw()) return false;
  if (targets.colors.size() > kMostTargets) {
    return Refuse(absl::OutOfRangeError(
        absl::StrCat(targets.colors.size(), " colour targets; there are at most ", kMostTargets)));
  }
  std::array<View, kMostTargets> views;
  size_t count = 0;
  for (const ImageSurface& color : targets.colors) {
    if (color.purpose != SurfacePurpose::kRenderTarget) {
      return Refuse(absl::InvalidArgumentError(
          "a colour target must be a surface of SurfacePurpose::kRenderTarget"));
    }
    views[count++] = MakeView(color);
  }
  if (count == 0) {
    // Shaders that write colours find a surface that discards them.
    views[count++] = WriteView(
        NullSurface{.width = targets.width, .height = targets.height, .mocs = context().mocs()},
        CacheDomain::kRender);
  }
  if (!CanRecord()) return false;
  return Check(draws_->SetTargets(targets, absl::MakeConstSpan(views.data(), count)));
}

template <class Gen>
bool CommandBufferOf<Gen>::SetViewports(absl::Span<const Viewport> viewports) {
  return CanDraw() && Check(draws_->SetViewports(viewports));
}
template <class Gen>
bool CommandBufferOf<Gen>::SetScissors(absl::Span<const Scissor> scissors) {
  return CanDraw() && Check(draws_->SetScissors(scissors));
}
template <class Gen>
bool CommandBufferOf<Gen>::SetColorConstants(const ColorConstants& constants) {
  return CanDraw() && Check(draws_->dynamic().SetConstants(constants));
}
template <class Gen>
bool CommandBufferOf<Gen>::SetDynamic(const DynamicState& state) {
  if (!CanDraw()) return false;
  draws_->dynamic().Set(state);
  return true;
}
template <class Gen>
bool CommandBufferOf<Gen>::SetVertexBuffers(absl::Span<const VertexBuffer> buffers) {
  return CanDraw() && Check(draws_->SetVertexBuffers(buffers));
}
template <class Gen>
bool CommandBufferOf<Gen>::SetIndexBuffer(const IndexBuffer& buffer) {
  return CanDraw() && Check(draws_->SetIndexBuffer(buffer));
}

template <class Gen>
template <class Draw>
bool CommandBufferOf<Gen>::BeginDraw(const address& arguments) {
  if (!CanDraw() || !Select(Pipeline::k3D)) return false;
  if (arguments.buffer != 0) {
    ++changes_;
    if (!Track(TrackedUse{arguments.buffer, CacheDomain::kOtherRead})) return false;
  }
  if (draws_->uses_changed() || draws_tracked_ != changes_) {
    if (!Track(draws_->uses())) return false;
    draws_tracked_ = changes_;
  }
  if (draws_->vertices_stale()) {
    if (!Barrier(CacheBarrier{.invalidate = SetOf(CacheDomain::kVertex), .wait = true})) {
      return false;
    }
    draws_->VerticesInvalidated();
  }
  constexpr bool kMeshes = !std::is_same_v<Draw, typename G::_3DPRIMITIVE>;
  if (!Check(draws_->Prepare(kMeshes))) return false;
  return state_->template Flush<Draw>(batch_) || Fail(state_->status());
}

template <class Gen>
template <class F>
bool CommandBufferOf<Gen>::EmitDraw(const DrawNumbers& numbers, const address& arguments, F to) {
  if (!CanDraw()) return false;
  const bool buffers = DrawBuffers<Gen>::NeededBy(draws_->pipeline());
  if (buffers && !Check(draw_buffers_->Prepare(numbers, draws_->reach()))) return false;
  if (!BeginDraw(arguments)) return false;
  if (buffers && !draw_buffers_->Emit()) return false;
  const auto emit = [&](auto packet) {
    packet.predicate_enable = queries_.conditional();
    return to(packet) && batch_.Emit(packet);
  };
  if constexpr (!kHasDrawBuffers<Gen>) {
    if (draws_->pipeline()->reads_draw_id()) {
      typename G::_3DPRIMITIVE_EXTENDED packet;
      packet.extended_parameter_2 = numbers.draw;
      return emit(packet);
    }
  }
  return emit(typename G::_3DPRIMITIVE());
}

template <class Gen>
bool CommandBufferOf<Gen>::TakeViews(uint32_t& instances) {
  if (!CanDraw()) return false;
  const GraphicsPipeline* const pipeline = draws_->pipeline();
  if (pipeline == nullptr) return true;  // which Prepare() refuses
  const absl::StatusOr<uint32_t> all = InstancesOf(pipeline->views(), instances);
  if (!all.ok()) return Refuse(all.status());
  instances = *all;
  return true;
}

template <class Gen>
bool CommandBufferOf<Gen>::TakeViews(IndirectDrawCall& draws) {
  const GraphicsPipeline* const pipeline = draws_->pipeline();
  const uint32_t views = pipeline == nullptr ? 1 : pipeline->views().instance_multiplier();
  if (views == 1 || draws.draws == 0) return true;
  if (draws.draws > kMostIndirectViewDraws) {
    return Refuse(absl::OutOfRangeError(
        absl::StrCat(draws.draws,
                     " draws whose numbers are in memory, of a pipeline that draws its views as "
                     "instances; it takes at most ",
                     kMostIndirectViewDraws, " at a time")));
  }
  const uint64_t bytes = draws.indexed ? sizeof(IndexedDrawArguments) : sizeof(DrawArguments);
  const uint64_t stride = draws.stride == 0 ? bytes : draws.stride;
  constexpr uint64_t kAlignment = 64;
  const absl::StatusOr<gpu::State> place =
      recording().dynamic().Allocate(draws.draws * bytes, kAlignment);
  if (!place.ok()) return Refuse(place.status());
  const TrackedUse uses[] = {{draws.arguments.buffer, CacheDomain::kOtherRead},
                             {place->buffer, CacheDomain::kOtherWrite}};
  ++changes_;
  if (!Track(uses)) return false;
  static_assert(offsetof(DrawArguments, instance_count) ==
                offsetof(IndexedDrawArguments, instance_count));
  Arithmetic<Gen> math(batch_, {.mocs = context().mocs()});
  for (uint32_t i = 0; i < draws.draws; ++i) {
    for (uint64_t at = 0; at < bytes; at += 4) {
      const address from(draws.arguments.gpu + i * stride + at, draws.arguments.buffer);
      const address to(place->address + i * bytes + at, place->buffer);
      if (!(at == offsetof(DrawArguments, instance_count)
                ? math.Store32(to, math.Load32(from) * math.Constant(views))
                : math.Copy32(to, from))) {
        return false;
      }
    }
  }
  draws.arguments = {place->address, place->buffer};
  draws.stride = static_cast<uint32_t>(bytes);
  return true;
}

template <class Gen>
bool CommandBufferOf<Gen>::Draw(const DrawCall& draw) {
  uint32_t instances = draw.instances;
  if (!TakeViews(instances)) return false;
  const DrawNumbers numbers{
      .first_vertex = draw.indexed ? static_cast<uint32_t>(draw.vertex_offset) : draw.first,
      .first_instance = draw.first_instance,
      .draw = draw.number};
  return EmitDraw(numbers, {}, [&]<class P>(P& packet) {
    packet.vertex_access_type =
        draw.indexed ? P::VERTEX_ACCESS_TYPE_RANDOM : P::VERTEX_ACCESS_TYPE_SEQUENTIAL;
    packet.vertex_count_per_instance = draw.vertices;
    packet.start_vertex_location = draw.first;
    packet.instance_count = instances;
    packet.start_instance_location = draw.first_instance;
    packet.base_vertex_location = draw.vertex_offset;
    return true;
  });
}

template <class Gen>
bool CommandBufferOf<Gen>::Draw(const IndirectDrawCall& call) {
  if (!CanDraw() || !Select(Pipeline::k3D)) return false;
  IndirectDrawCall draws = call;
  if (!TakeViews(draws)) return false;
  if (DrawBuffers<Gen>::NeededBy(draws_->pipeline())) {
    // Vertices read where the draw begins from its parameters.
    ++changes_;
    if (!Track(TrackedUse{draws.arguments.buffer, CacheDomain::kVertex})) return false;
    draw_buffers_->LeaveTo(draws.arguments, draws_->reach());
  }
  for (const address& numbers : {draws.arguments, draws.count.value_or(address())}) {
    if (numbers.buffer == 0) continue;
    const CacheBarrier barrier = indirect_->NeedsOf(*caches_, numbers);
    if (!EmitTracked(barrier)) return false;
    caches_->Apply(barrier);
    caches_->Note(numbers.buffer, CacheDomain::kOtherRead);
  }
  return BeginDraw({}) && indirect_->Draw(draws, *draws_->pipeline(), queries_.conditional());
}

template <class Gen>
bool CommandBufferOf<Gen>::Bind(const ComputeKernel& kernel) {
  return CanDispatch() && Check(dispatches_->Bind(kernel));
}

template <class Gen>
bool CommandBufferOf<Gen>::BeginDispatch(const address& arguments) {
  if (!CanDispatch()) return false;
  if (arguments.buffer != 0) {
    ++changes_;
    if (!Track(TrackedUse{arguments.buffer, CacheDomain::kOtherRead})) return false;
  }
  if (dispatches_->uses_changed() || dispatches_tracked_ != changes_) {
    if (!Track(dispatches_->uses())) return false;
    dispatches_tracked_ = changes_;
  }
  return Select(Pipeline::kGpgpu) && Check(dispatches_->Prepare());
}

template <class Gen>
bool CommandBufferOf<Gen>::Dispatch(const GroupCount& groups) {
  if (!BeginDispatch({})) return false;
  return compute_->Dispatch(batch_, groups, {.predicated = queries_.conditional()}) ||
         Fail(compute_->status());
}

template <class Gen>
bool CommandBufferOf<Gen>::DispatchIndirect(const address& arguments) {
  if (!BeginDispatch(arguments)) return false;
  return compute_->DispatchIndirect(batch_, arguments, {.predicated = queries_.conditional()}) ||
         Fail(compute_->status());
}

template <class Gen>
template <class Surface>
View CommandBufferOf<Gen>::WriteView(const Surface& surface, CacheDomain domain) {
  constexpr uint64_t kBytes = SurfaceState<Gen>::length * 4;
  if (!CanDispatch()) return {};
  const absl::StatusOr<gpu::State> place = recording().surfaces().Allocate(kBytes, kBytes);
  if (!place.ok()) return Refuse(place.status()), View();
  View view{.offset = place->offset, .domain = domain, .state_buffer = place->buffer, .uses = {}};
  absl::Status written =
      WriteSurface<Gen>(surface, reinterpret_cast<uint32_t*>(place->cpu), &view.uses);
  return Check(std::move(written)) ? view : View();
}

template <class Gen>
View CommandBufferOf<Gen>::MakeView(const ImageSurface& image) {
  switch (image.purpose) {
    case SurfacePurpose::kTexture:
      return WriteView(image, CacheDomain::kSampler);
    case SurfacePurpose::kRenderTarget:
      return WriteView(image, CacheDomain::kRender);
    case SurfacePurpose::kStorage:
      break;
  }
  return WriteView(image, CacheDomain::kData);
}

template <class Gen>
View CommandBufferOf<Gen>::MakeView(const BufferSurface& buffer) {
  // Buffers of bytes are read through the cache that writes them.
  const bool data = buffer.writable || buffer.format == SurfaceFormat::RAW;
  return WriteView(buffer, data ? CacheDomain::kData : CacheDomain::kConstant);
}

template <class Gen>
bool CommandBufferOf<Gen>::SetViews(BindingStage stage, absl::Span<const View> views) {
  if (stage == BindingStage::kCompute) return CanDispatch() && Check(dispatches_->SetViews(views));
  return CanDraw() && Check(draws_->SetViews(stage, views));
}
template <class Gen>
bool CommandBufferOf<Gen>::SetSamplers(BindingStage stage, absl::Span<const Sampler> samplers) {
  if (stage == BindingStage::kCompute) {
    return CanDispatch() && Check(dispatches_->SetSamplers(samplers));
  }
  return CanDraw() && Check(draws_->SetSamplers(stage, samplers));
}
template <class Gen>
bool CommandBufferOf<Gen>::SetConstants(BindingStage stage, absl::Span<const uint8_t> bytes) {
  if (stage == BindingStage::kCompute) {
    return CanDispatch() && Check(dispatches_->SetConstants(bytes));
  }
  return CanDraw() && Check(draws_->SetConstants(stage, bytes));
}

}  // namespace packsmith::intel

// The other methods.
#include "runtime/intel/driver/fills_of.h"          // IWYU pragma: export
#include "runtime/intel/driver/mesh_draws_of.h"     // IWYU pragma: export
#include "runtime/intel/driver/stream_output_of.h"  // IWYU pragma: export

#endif  // PACKSMITH_RUNTIME_INTEL_DRIVER_COMMAND_BUFFER_OF_H_
