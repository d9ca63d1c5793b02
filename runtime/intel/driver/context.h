// What the command buffers of a driver share: memory in the zones that packets can reach, pools of
// states, and the queue of jobs.
//
//   absl::StatusOr<std::unique_ptr<Context>> context = Context::Create(*device, {});
//   absl::StatusOr<gpu::Buffer> vertices = (*context)->NewBuffer(5000, "vertices");
//   auto commands = (*context)->NewCommandBuffer({});   // command_buffer.h
//   …
//   absl::StatusOr<gpu::Fence> fence = (*context)->Submit(**commands);
//   absl::StatusOr<bool> done = (*context)->Wait(*fence, absl::Seconds(1));
//
// The generation is the device's, chosen at run time: code that uses these classes is written and
// compiled once. command_buffer_of.h has the same classes for one generation, with its packets.
//
// Thread-safe: each thread records its own command buffers.

#ifndef PACKSMITH_RUNTIME_INTEL_DRIVER_CONTEXT_H_
#define PACKSMITH_RUNTIME_INTEL_DRIVER_CONTEXT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "packsmith/pack.h"
#include "runtime/base/mutex.h"
#include "runtime/intel/device/render_devices.h"
#include "runtime/intel/driver/image.h"
#include "runtime/intel/driver/perf_queries.h"
#include "runtime/intel/driver/query_recorder.h"
#include "runtime/intel/driver/recording.h"
#include "runtime/intel/driver/slice_plan.h"
#include "runtime/intel/driver/thread_scratch.h"
#include "runtime/intel/memory/border_colors.h"
#include "runtime/intel/shader/kernels.h"
#include "runtime/intel/state/multiview.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/buffers.h"
#include "runtime/memory/device.h"
#include "runtime/memory/state_pool.h"

namespace packsmith::intel {

struct CacheKey;
class CommandBuffer;
struct CommandBufferOptions;
struct ComputeKernel;
struct GenerationDriver;
class GraphicsPipeline;
struct GraphicsPipelineOptions;
class PipelineCache;

struct ContextOptions {
  // By the XML's name ("gfx9"). Empty: the device's, Device::generation().
  std::string generation = {};
  // Empty: the first device of the generation that render_devices.h knows, which are in the order
  // of their size; of a generation without one, the last device before it. Drivers ask the kernel
  // which device they have.
  std::optional<RenderDevice> device = {};
  // Those that work; from Gfx12 on dual ones.
  unsigned subslices = 1;
  // Which of them work, a mask a slice, as kernels report it: `subslices` is then their number.
  // Where the generation leaves it to drivers, jobs spread pixels over them accordingly. Empty: not
  // known, and hardware spreads pixels as if all were alike.
  absl::Span<const uint32_t> slices = {};
  // How many a slice has, whether they work or not; 0: as many as the fullest one.
  unsigned subslices_of_slice = 0;
  // The kernel's numbers of the page tables, and of the context for jobs.
  uint32_t space = 0, kernel_context = 0;
  uint64_t page = 0;  // Buffers::Options::page
  // Of the page tables; 0: as many as the device has, Device::address_space(). Of more than 2^48
  // the lower 2^47 are used. In 16 GiB or less zones are those of CompactZones().
  uint64_t address_space_bytes = 0;
  // Keeps pipelines that are made with a key, in memory and in a file that another run maps
  // (runtime/intel/shader/pipeline_cache.h). Must outlive the context; null: nothing is kept.
  PipelineCache* pipelines = nullptr;
};

class Context {
 public:
  // `device` must outlive the result. NotFound, with the known names: no such generation, or it has
  // none of this runtime's drivers (Gfx8 to Xe3); InvalidArgument: the RenderDevice is of another
  // generation, or it has no such slices; errors of memory.
  static absl::StatusOr<std::unique_ptr<Context>> Create(gpu::Device& device,
                                                         const ContextOptions& options);
  // Waits for the jobs whose memory it frees. All command buffers must be destroyed.
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // -- Memory -----------------------------------------------------------------------------------

  // Zeroed memory that the CPU sees. Buffers released while jobs use them are reused when those are
  // done. Errors of Buffers::Create().
  absl::StatusOr<gpu::Buffer> NewBuffer(uint64_t size, absl::string_view name);
  // Errors of LayOutImage() and Buffers::Create(). Released as its `memory`.
  absl::StatusOr<Image> NewImage(const ImageOptions& options);
  absl::Status Release(const gpu::Buffer& buffer) { return buffers_->Release(buffer.handle); }
  // Code in the zone of shaders, with what the hardware may fetch beyond its end; the result is its
  // offset from the instruction base. Equal code has one place. It lives as long as the context.
  // Errors of Kernels::Upload().
  absl::StatusOr<uint32_t> NewKernel(absl::Span<const uint8_t> code);

  // Queries with memory of their own, which the CPU sees; reset them before their first use. Errors
  // of QueryPool::Create() and Buffers::Create().
  absl::StatusOr<Queries> NewQueries(const QueryPoolOptions& options);

  // Performance counters of parts of command buffers: perf_queries.h. InvalidArgument for no
  // queries, or more than have numbers; errors of Buffers::Create().
  absl::StatusOr<PerfQueries> NewPerfQueries(const PerfQueryOptions& options);

  // Memory for threads that spill, as packets name it, for those of a program's own: pipelines and
  // kernels take it by themselves. It is the context's, and lives as long. Errors of
  // ThreadScratchPool::Get().
  absl::StatusOr<ThreadScratch> ScratchFor(ScratchStage stage, uint32_t bytes_per_thread) const {
    return thread_scratch_->Get(stage, bytes_per_thread);
  }

  // All levels and layers of an image, for CommandBuffer::MakeView() and RenderTargets.
  ImageSurface SurfaceOf(const Image& image, SurfacePurpose purpose) const {
    return intel::SurfaceOf(image, purpose, mocs());
  }
  // How a pipeline with these options draws several views, for the compiler of its shaders:
  // runtime/intel/state/multiview.h says what they must do. Errors of intel::PlanMultiview().
  absl::StatusOr<MultiviewPlan> PlanViews(const MultiviewOptions& options) const;
  // InvalidArgument and the like, naming what does not fit, of runtime/intel/pipeline; of
  // ScratchFor(), with the stage, for shaders that spill. With GraphicsPipelineOptions::key the
  // cache keeps its packets and the code of its kernels, if these are of NewKernel() and have no
  // scratch memory of the program's own, whose place differs in each run.
  absl::StatusOr<std::unique_ptr<GraphicsPipeline>> NewGraphicsPipeline(
      const GraphicsPipelineOptions& options) const;
  // The pipeline that the cache has under this key, without a compiler: its kernels are uploaded,
  // or found, and its packets are those of the earlier run. NotFound: compile it, and make it with
  // the key; DataLoss: what is kept is not a pipeline of this generation; errors of
  // NewKernel() and ScratchFor().
  absl::StatusOr<std::unique_ptr<GraphicsPipeline>> FindGraphicsPipeline(const CacheKey& key);
  // The same of compute kernels. The entries' offsets count from the beginning of `code`; those of
  // the result from the instruction base, as CommandBuffer::Bind() takes it.
  absl::StatusOr<ComputeKernel> NewComputeKernel(const CacheKey& key,
                                                 absl::Span<const uint8_t> code,
                                                 const ComputeKernel& kernel);
  absl::StatusOr<ComputeKernel> FindComputeKernel(const CacheKey& key);

  // -- Recording and submitting -----------------------------------------------------------------

  // InvalidArgument if the generation has no such engine.
  absl::StatusOr<std::unique_ptr<CommandBuffer>> NewCommandBuffer(
      const CommandBufferOptions& options);
  // Ends the command buffer if it has not ended, and hands it to its engine. The job begins when
  // `after` are done, and those jobs of other engines that use the same buffers. May be submitted
  // again. Its error if it has one; errors of Buffers::Submit().
  absl::StatusOr<gpu::Fence> Submit(CommandBuffer& commands,
                                    absl::Span<const gpu::Fence> after = {});
  // Device::Wait().
  absl::StatusOr<bool> Wait(gpu::Fence fence, absl::Duration timeout);

  // -- The parts --------------------------------------------------------------------------------

  const GenerationDriver& generation() const { return generation_; }
  const RenderDevice& device() const { return render_device_; }
  unsigned subslices() const { return subslices_; }
  // The caching policy of memory that only the GPU uses.
  uint32_t mocs() const { return render_device_.caching.cached; }
  gpu::Buffers& buffers() { return *buffers_; }
  gpu::AddressSpace& space() { return *space_; }
  gpu::ZoneId zone(absl::string_view name) const;  // of IrisZones(), or CompactZones()
  gpu::StatePool& dynamic_pool() { return *dynamic_pool_; }
  gpu::StatePool& surface_pool() { return *surface_pool_; }
  gpu::StatePool& kernel_pool() { return *kernel_pool_; }
  BorderColors& border_colors() { return *border_colors_; }
  // 8 bytes that packets may overwrite.
  address scratch() const { return {scratch_.address, scratch_.handle, access::write}; }
  const Kernels& kernels() const { return *kernels_; }
  // How pixels are spread over slices, and where its table is; null: as hardware does.
  const SlicePlan* slice_plan() const { return slice_plan_.get(); }
  const gpu::State& slice_table() const { return slice_table_; }
  // The buffers that hold kernels.
  std::vector<gpu::BufferHandle> kernel_buffers() const;

  // For command buffers: memory for a recording, and its return, to be freed when its jobs are
  // done.
  std::shared_ptr<Recording> NewRecording();
  void Retire(std::shared_ptr<Recording> recording);
  gpu::Device& kernel_device() { return device_; }

 private:
  Context(gpu::Device& device, const GenerationDriver& generation,
          const RenderDevice& render_device, const ContextOptions& options);
  absl::Status CreateMemory(const ContextOptions& options);
  absl::Status PlanSlices(const ContextOptions& options);
  // Frees recordings that are done.
  void Collect();

  gpu::Device& device_;
  const GenerationDriver& generation_;
  const RenderDevice render_device_;
  const unsigned subslices_;
  const uint32_t space_number_, kernel_context_;
  PipelineCache* const pipelines_;

  std::unique_ptr<gpu::AddressSpace> space_;
  std::unique_ptr<gpu::Buffers> buffers_;
  std::unique_ptr<gpu::StatePool> kernel_pool_, surface_pool_, dynamic_pool_;
  std::unique_ptr<Kernels> kernels_;
  std::unique_ptr<BorderColors> border_colors_;
  gpu::Buffer scratch_;
  std::unique_ptr<ThreadScratchPool> thread_scratch_;
  std::unique_ptr<SlicePlan> slice_plan_;
  gpu::State slice_table_;

  Mutex submit_mutex_;
  mutable Mutex mutex_;
  std::vector<std::shared_ptr<Recording>> retired_ ABSL_GUARDED_BY(mutex_);
  std::vector<gpu::BufferHandle> kernel_buffers_ ABSL_GUARDED_BY(mutex_);
  uint64_t perf_ids_ ABSL_GUARDED_BY(mutex_) = 0;  // that reports have had so far
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DRIVER_CONTEXT_H_
