// Records commands for one engine: draws, dispatches, copies, barriers. It owns what recording
// takes: a batch, binding tables, states, constants, and keeps the memory until the GPU is done.
//
//   absl::StatusOr<std::unique_ptr<CommandBuffer>> copies =
//       context.NewCommandBuffer({.engine = Engine::kCopy});
//   (*copies)->Copy({.source = staging, .destination = vertices, .size = 5000});
//   absl::StatusOr<gpu::Fence> fence = context.Submit(**copies);
//
// Errors: a call that cannot be recorded returns false and changes nothing; the first such error is
// kept, and every call after it returns false. status(), End() and Context::Submit() return it.
//
// Caches: each use of a buffer is tracked, and what has to be written back or invalidated between
// two uses of one command buffer is emitted before the second. Command buffers that are submitted
// one after the other see each other's results. What is not tracked is stated with Barrier(): two
// dispatches that write to the same buffer, and memory that shaders reach by addresses.
//
// Not thread-safe: each thread records its own. The context must outlive it.

#ifndef PACKSMITH_RUNTIME_INTEL_DRIVER_COMMAND_BUFFER_H_
#define PACKSMITH_RUNTIME_INTEL_DRIVER_COMMAND_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/intel/batch/batch_core.h"
#include "runtime/intel/batch/cache_tracker.h"
#include "runtime/intel/binding/binder_core.h"
#include "runtime/intel/binding/samplers.h"
#include "runtime/intel/compute/compute_kernel.h"
#include "runtime/intel/driver/copies.h"
#include "runtime/intel/driver/draws.h"
#include "runtime/intel/driver/dynamic_state.h"
#include "runtime/intel/driver/query_recorder.h"
#include "runtime/intel/driver/recording.h"
#include "runtime/intel/indirect/draw_list.h"
#include "runtime/intel/indirect/generation_kernel.h"
#include "runtime/intel/pipeline/output.h"
#include "runtime/intel/pipeline/vertex_input.h"
#include "runtime/intel/pipeline/viewport.h"
#include "runtime/memory/buffers.h"
#include "runtime/memory/device.h"

namespace packsmith::intel {

class Context;
class GraphicsPipeline;

enum class Engine : uint8_t {
  kRender,   // draws, dispatches, small copies of buffers
  kCompute,  // dispatches, small copies of buffers: from Gfx12.5 on
  kCopy,     // copies
};
// As gpu::Job calls it.
const char* NameOf(Engine engine);

struct CommandBufferOptions {
  Engine engine = Engine::kRender;
  // Run by other command buffers, any number of times: Execute().
  bool secondary = false;
  // The kernel that writes draws whose numbers are in memory, and from how many draws on it is
  // used: docs/indirect.md. It must live until recording ends. Null: the command streamer executes
  // them. A secondary with a kernel is never copied, but called by a jump, to which its caller
  // stores the return address: secondaries without a kernel cannot run it.
  const GenerationKernel* draw_kernel = nullptr;
  DrawThresholds draw_thresholds = {};
};

// Copies and fills by the command streamer of the render and compute engines are at most this long:
// it moves a dword at a time.
inline constexpr uint64_t kMostStreamerCopyBytes = 4096;
// A secondary command buffer up to this size is copied into its caller, a longer one is called: the
// half of a first chunk, as Mesa's anv chooses (anv_batch_chain.c). One secondary that runs another
// always copies it, because the hardware stores one return address; see
// CommandBufferOptions::draw_kernel.
inline constexpr size_t kMostCopiedDwords = 1024;

class CommandBuffer {
 public:
  // Its memory is freed when the GPU is done with it.
  virtual ~CommandBuffer();
  CommandBuffer(const CommandBuffer&) = delete;
  CommandBuffer& operator=(const CommandBuffer&) = delete;

  const CommandBufferOptions& options() const { return options_; }
  Context& context() const { return context_; }
  // The first error.
  virtual const absl::Status& status() const = 0;
  // Ends recording: results are written back to memory. Calls after the first one return the same.
  virtual absl::Status End() = 0;
  // Forgets everything, the error too, and begins to record again. FailedPrecondition if a job that
  // uses it is not done.
  virtual absl::Status Reset() = 0;

  // -- Draws, on the render engine --------------------------------------------------------------

  // The pipeline must live until the command buffer has ended.
  virtual bool Bind(const GraphicsPipeline& pipeline) = 0;
  virtual bool SetTargets(const RenderTargets& targets) = 0;
  // Up to 16; none: all of the targets, which is so until they are set.
  virtual bool SetViewports(absl::Span<const Viewport> viewports) = 0;
  virtual bool SetScissors(absl::Span<const Scissor> scissors) = 0;
  virtual bool SetColorConstants(const ColorConstants& constants) = 0;
  // Values of state that pipelines leave to draws: GraphicsPipelineOptions::dynamic. They are kept
  // until they are set again. One that does not fit is an error of the draw.
  virtual bool SetDynamic(const DynamicState& state) = 0;
  // Buffers 0, 1, …: up to 33, on Gfx8 and Gfx9 up to 31, because the others hold what vertices
  // read of their draw.
  virtual bool SetVertexBuffers(absl::Span<const VertexBuffer> buffers) = 0;
  virtual bool SetIndexBuffer(const IndexBuffer& buffer) = 0;
  virtual bool Draw(const DrawCall& draw) = 0;
  virtual bool Draw(const IndirectDrawCall& draws) = 0;
  // With a pipeline of meshes, from Gfx12.5 on.
  virtual bool Draw(const MeshDrawCall& draw) = 0;
  // Data of a task or mesh shader, up to kMostMeshDataBytes: the first 32 bytes are in its payload,
  // the others in memory, to which the payload points.
  virtual bool SetMeshData(MeshStage stage, absl::Span<const uint8_t> bytes) = 0;

  // -- Stream output, of pipelines that have one ------------------------------------------------

  // Vertices of the next draws are written to these buffers, 0 to 3, until EndStreamOutput().
  // FailedPrecondition if it has begun.
  virtual bool BeginStreamOutput(absl::Span<const StreamOutputBuffer> buffers) = 0;
  // The bytes that were written are stored where StreamOutputBuffer::written says.
  virtual bool EndStreamOutput() = 0;
  // As many vertices as an earlier stream output has written.
  virtual bool Draw(const StreamOutputDraw& draw) = 0;

  // -- Clears and resolves of depth and stencil, without a shader -------------------------------

  // Of the targets. A rectangle without a size is all of the target. Errors of
  // CheckDepthOperation(), FailedPrecondition without such a target.
  virtual bool Operate(const DepthOperationOptions& operation) = 0;

  // -- Dispatches, on the render and the compute engine -----------------------------------------

  // With scratch memory of the context, if the kernel spills: KernelEntry::scratch.
  virtual bool Bind(const ComputeKernel& kernel) = 0;
  virtual bool Dispatch(const GroupCount& groups) = 0;
  // The groups are DispatchArguments at a multiple of 4.
  virtual bool DispatchIndirect(const address& arguments) = 0;

  // -- What shaders reach: of a stage, or BindingStage::kCompute --------------------------------

  // A surface state in this recording's memory. An offset of 0, and the error is kept, if it cannot
  // be made.
  virtual View MakeView(const ImageSurface& image) = 0;
  virtual View MakeView(const BufferSurface& buffer) = 0;
  // The stage's binding table; that of the fragment shader begins with the targets' colours.
  virtual bool SetViews(BindingStage stage, absl::Span<const View> views) = 0;
  virtual bool SetSamplers(BindingStage stage, absl::Span<const Sampler> samplers) = 0;
  // Constants that are pushed into registers, up to 2 KiB (of a compute kernel: its
  // constant_bytes).
  virtual bool SetConstants(BindingStage stage, absl::Span<const uint8_t> bytes) = 0;

  // -- Copies -----------------------------------------------------------------------------------

  // Recorded for the copy engine, any copy; on others only those between buffers of whole dwords,
  // up to kMostStreamerCopyBytes. Errors of PlanCopy(); Unimplemented on an engine that lacks them,
  // with the one that has.
  virtual bool Copy(const BufferCopy& copy) = 0;
  virtual bool Copy(const ImageCopy& copy) = 0;
  virtual bool Copy(const BufferImageCopy& copy) = 0;
  // Fills, by the same rule: an image only by the copy engine, whatever its format. Errors of
  // PlanFill().
  virtual bool Fill(const BufferFill& fill) = 0;
  virtual bool Fill(const ImageFill& fill) = 0;

  // -- Queries and conditions: query_recorder.h -------------------------------------------------

  virtual QueryRecorder& queries() = 0;

  // -- Caches -----------------------------------------------------------------------------------

  // What follows uses the buffer through this cache: emits what earlier uses require. For packets
  // that the caller emits; draws, dispatches and copies do it themselves.
  virtual bool Use(const gpu::Buffer& buffer, CacheDomain domain) = 0;
  // Emits this barrier, whatever was tracked.
  virtual bool Barrier(const CacheBarrier& barrier) = 0;
  // Everything before is done, and visible to everything after.
  bool Barrier() { return Barrier(kFullBarrier); }
  static constexpr CacheBarrier kFullBarrier = {
      .flush = 0x0f, .to_memory = 0x0f, .invalidate = 0xff, .from_memory = true, .wait = true};

  // -- Other command buffers --------------------------------------------------------------------

  // Runs a secondary command buffer of the same context and engine, which has ended. It must live,
  // and not be reset, until this one's last job is done. It sees what came before, and what follows
  // sees its results. It inherits no state, and afterwards all state of this one is set again by
  // the next draw or dispatch.
  virtual bool Execute(CommandBuffer& secondary) = 0;

  // -- Memory -----------------------------------------------------------------------------------

  // Bytes for this recording, which packets reach from the dynamic state base, and everything by
  // its address. `alignment`: a power of two. Null `cpu`: there is no memory, and the error is
  // kept.
  gpu::State Upload(absl::Span<const uint8_t> bytes, uint64_t alignment = 64);
  // The buffer is released with this recording, when its jobs are done.
  void Keep(const gpu::Buffer& buffer) { recording_->Keep(buffer.handle); }

  // -- For those that submit --------------------------------------------------------------------

  virtual const BatchCore& batch() const = 0;
  // A job of this command buffer: its memory, and that of the secondaries that it runs, is needed
  // until then.
  void NoteJob(gpu::Fence fence);

 protected:
  CommandBuffer(Context& context, const CommandBufferOptions& options,
                std::shared_ptr<Recording> recording);

  // Keeps the first error. Returns false, for callers to pass on.
  virtual bool Refuse(absl::Status status) = 0;
  virtual void UseBuffer(uint32_t buffer, gpu::UseFlags flags) = 0;

  Recording& recording() { return *recording_; }
  // A secondary command buffer is part of this one: its memory is kept for the same jobs.
  void NoteSecondary(const CommandBuffer& secondary);
  // All jobs are done: for Reset().
  absl::Status RewindRecording();

 private:
  Context& context_;
  const CommandBufferOptions options_;
  // Shared with the command buffers that run this one.
  std::shared_ptr<Recording> recording_;
  std::vector<std::shared_ptr<Recording>> secondaries_;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DRIVER_COMMAND_BUFFER_H_
