#include "runtime/intel/driver/context.h"

#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/command/buffer_uses.h"
#include "runtime/intel/batch/batch_core.h"
#include "runtime/intel/driver/command_buffer.h"
#include "runtime/intel/driver/generation_driver.h"
#include "runtime/intel/driver/graphics_pipeline.h"
#include "runtime/intel/memory/driver_zones.h"
#include "runtime/intel/state/slice_hashing.h"
#include "runtime/memory/residency.h"
#include "runtime/memory/zones.h"

namespace packsmith::intel {
namespace {

// For all jobs that are left when a context ends.
constexpr absl::Duration kPatience = absl::Seconds(60);

uint64_t AddressSpaceOf(const gpu::Device& device, const ContextOptions& options) {
  const uint64_t bytes =
      options.address_space_bytes != 0 ? options.address_space_bytes : device.address_space();
  // Addresses of 48 and of 57 bits are the same up to here.
  constexpr uint64_t kSame = uint64_t{1} << 47;
  return bytes > 2 * kSame ? kSame : bytes;
}

unsigned SubslicesOf(const ContextOptions& options) {
  if (options.slices.empty()) return options.subslices;
  unsigned all = 0;
  for (const uint32_t mask : options.slices) all += static_cast<unsigned>(std::popcount(mask));
  return all;
}

}  // namespace

Context::Context(gpu::Device& device, const GenerationDriver& generation,
                 const RenderDevice& render_device, const ContextOptions& options)
    : device_(device),
      generation_(generation),
      render_device_(render_device),
      subslices_(SubslicesOf(options)),
      space_number_(options.space),
      kernel_context_(options.kernel_context),
      pipelines_(options.pipelines) {}

absl::Status Context::CreateMemory(const ContextOptions& options) {
  const unsigned number = generation_.version;
  const uint64_t bytes = AddressSpaceOf(device_, options);
  const auto zones =
      gpu::LayOutZones(ZonesFor(bytes), {.verx10 = static_cast<int>(number), .top = bytes});
  if (!zones.ok()) return zones.status();
  auto space = gpu::AddressSpace::Create(*zones);
  if (!space.ok()) return space.status();
  space_ = *std::move(space);
  buffers_ = gpu::Buffers::Create(device_, *space_, {.space = options.space, .page = options.page});

  // Offsets of kernels count from 0, those of dynamic states from the border colours, to which
  // pointers have few bits.
  const struct {
    std::unique_ptr<gpu::StatePool>& pool;
    gpu::StatePool::Options options;
  } pools[] = {
      {kernel_pool_, {.zone = zone("shader"), .name = "kernels", .base = 0}},
      {surface_pool_, {.zone = zone("surface"), .name = "surfaces"}},
      {dynamic_pool_,
       {.zone = zone("dynamic"),
        .name = "dynamic",
        .base = space_->zone(zone("border colors")).begin}},
  };
  for (const auto& wanted : pools) {
    auto pool = gpu::StatePool::Create(*buffers_, *space_, wanted.options);
    if (!pool.ok()) return pool.status();
    wanted.pool = *std::move(pool);
  }
  kernels_ = std::make_unique<Kernels>(
      *kernel_pool_,
      Kernels::Options{.prefetch_bytes = FactsOf(generation_.version).kernel_prefetch_bytes});
  auto colors = BorderColors::Create(*buffers_, {.zone = zone("border colors")});
  if (!colors.ok()) return colors.status();
  border_colors_ = *std::move(colors);
  const auto scratch = NewBuffer(64, "scratch");
  if (!scratch.ok()) return scratch.status();
  scratch_ = *scratch;
  auto thread_scratch = ThreadScratchPool::Create(
      *buffers_, *space_, generation_,
      {.device = render_device_, .subslices = subslices_, .mocs = mocs()});
  if (!thread_scratch.ok()) return thread_scratch.status();
  thread_scratch_ = *std::move(thread_scratch);
  return PlanSlices(options);
}

absl::Status Context::PlanSlices(const ContextOptions& options) {
  if (options.slices.empty()) return absl::OkStatus();
  if (subslices_ == 0) {
    return absl::InvalidArgumentError(
        "no subslice of ContextOptions::slices works; each slice has a mask of those that do");
  }
  const PixelPipes pipes =
      PixelPipesOf(options.slices, FactsOf(generation_.version), options.subslices_of_slice);
  auto plan = generation_.plan_slices(pipes);
  if (!plan.ok()) {
    return absl::Status(
        plan.status().code(),
        absl::StrCat(generation_.name, ": slices and subslices: ", plan.status().message()));
  }
  if (const absl::Span<const uint32_t> table = (*plan)->table(); !table.empty()) {
    constexpr uint64_t kAlignment = 64;
    const uint64_t bytes = table.size() * sizeof(uint32_t);
    const absl::StatusOr<gpu::State> place = dynamic_pool_->Allocate(bytes, kAlignment);
    if (!place.ok()) return place.status();
    std::memcpy(place->cpu, table.data(), bytes);
    if (absl::Status status = dynamic_pool_->Flush(*place, bytes); !status.ok()) return status;
    slice_table_ = *place;
  }
  slice_plan_ = *std::move(plan);
  return absl::OkStatus();
}

Context::~Context() {
  MutexLock lock(mutex_);
  for (const std::shared_ptr<Recording>& recording : retired_) {
    (void)recording->IsDone(device_, kPatience);
  }
  retired_.clear();
}

gpu::ZoneId Context::zone(absl::string_view name) const {
  const absl::StatusOr<gpu::ZoneId> found = space_->FindZone(name);
  return found.ok() ? *found : gpu::ZoneId();
}

absl::StatusOr<gpu::Buffer> Context::NewBuffer(uint64_t size, absl::string_view name) {
  return buffers_->Create({.size = size, .zone = zone("other"), .name = name, .zeroed = true});
}

absl::StatusOr<uint32_t> Context::NewKernel(absl::Span<const uint8_t> code) {
  const absl::StatusOr<Kernel> kernel = kernels_->Upload(code);
  if (!kernel.ok()) return kernel.status();
  MutexLock lock(mutex_);
  bool known = false;
  for (const gpu::BufferHandle buffer : kernel_buffers_) known |= buffer == kernel->buffer;
  if (!known) kernel_buffers_.push_back(kernel->buffer);
  return kernel->offset;
}

absl::StatusOr<Queries> Context::NewQueries(const QueryPoolOptions& options) {
  const absl::StatusOr<uint64_t> bytes = QueryPool::BytesFor(options);
  if (!bytes.ok()) return bytes.status();
  const absl::StatusOr<gpu::Buffer> memory = NewBuffer(*bytes, "queries");
  if (!memory.ok()) return memory.status();
  const absl::StatusOr<QueryPool> pool = QueryPool::Create(FactsOf(generation_.version), options,
                                                           {.address = memory->address,
                                                            .buffer = memory->handle,
                                                            .cpu = memory->cpu,
                                                            .size = memory->size});
  if (!pool.ok()) {
    (void)Release(*memory);
    return pool.status();
  }
  return Queries{*pool, *memory};
}

absl::StatusOr<PerfQueries> Context::NewPerfQueries(const PerfQueryOptions& options) {
  const uint64_t number = uint64_t{options.count} * options.passes;
  if (number == 0 || number > kPerfQueryNumbers) {
    return absl::InvalidArgumentError(absl::StrCat(
        options.count, " queries of performance counters in ", options.passes,
        " passes; there must be at least one of each, and at most ", kPerfQueryNumbers, " in all"));
  }
  const absl::StatusOr<gpu::Buffer> memory =
      buffers_->Create({.size = number * generation_.perf_query_bytes,
                        .zone = zone("other"),
                        .name = "performance counters",
                        .alignment = 64,
                        .zeroed = true});
  if (!memory.ok()) return memory.status();
  MutexLock lock(mutex_);
  if (number > kPerfQueryNumbers - perf_ids_) perf_ids_ = 0;
  const auto first = static_cast<uint32_t>(perf_ids_);
  perf_ids_ += number;
  return PerfQueries(generation_, options, *memory, first);
}

std::vector<gpu::BufferHandle> Context::kernel_buffers() const {
  MutexLock lock(mutex_);
  return kernel_buffers_;
}

absl::StatusOr<std::unique_ptr<CommandBuffer>> Context::NewCommandBuffer(
    const CommandBufferOptions& options) {
  return generation_.new_command_buffer(*this, options);
}

absl::StatusOr<gpu::Fence> Context::Submit(CommandBuffer& commands,
                                           absl::Span<const gpu::Fence> after) {
  if (absl::Status status = commands.End(); !status.ok()) return status;
  if (commands.options().secondary) {
    return absl::FailedPreconditionError(
        "a secondary command buffer is not submitted: a primary one runs it, with Execute()");
  }
  Collect();
  gpu::Residency residency(*buffers_);
  for (const gpu::BufferUse& use : commands.batch().uses().all()) {
    // What is in scratch memory does not matter, so engines need not wait for each other.
    const bool writes =
        use.writes() && use.buffer != scratch_.handle && !thread_scratch_->Has(use.buffer);
    if (absl::Status status = residency.Add(use.buffer, writes); !status.ok()) return status;
  }
  // Of two threads' jobs that use a buffer the later one finds the earlier.
  MutexLock lock(submit_mutex_);
  absl::StatusOr<std::vector<gpu::Fence>> before = buffers_->JobsBefore(residency.uses());
  if (!before.ok()) return before.status();
  before->insert(before->end(), after.begin(), after.end());
  const BatchPart& begin = commands.batch().parts()[0];
  const absl::StatusOr<gpu::Fence> fence =
      buffers_->Submit({.space = space_number_,
                        .context = kernel_context_,
                        .engine = NameOf(commands.options().engine),
                        .batch_address = begin.chunk.gpu,
                        .batch_length = begin.total * uint64_t{4},
                        .residents = residency.residents(),
                        .after = *before},
                       residency.uses());
  if (fence.ok()) commands.NoteJob(*fence);
  return fence;
}

absl::StatusOr<bool> Context::Wait(gpu::Fence fence, absl::Duration timeout) {
  return device_.Wait(fence, timeout);
}

std::shared_ptr<Recording> Context::NewRecording() {
  Collect();
  return std::make_shared<Recording>(*buffers_, *border_colors_, *surface_pool_, *dynamic_pool_);
}

void Context::Retire(std::shared_ptr<Recording> recording) {
  if (recording->IsDone(device_, absl::ZeroDuration())) return;
  MutexLock lock(mutex_);
  retired_.push_back(std::move(recording));
}

void Context::Collect() {
  // Destroyed without the lock.
  std::vector<std::shared_ptr<Recording>> done;
  MutexLock lock(mutex_);
  for (size_t i = 0; i < retired_.size();) {
    if (retired_[i]->IsDone(device_, absl::ZeroDuration())) {
      done.push_back(std::move(retired_[i]));
      retired_[i] = std::move(retired_.back());
      retired_.pop_back();
    } else {
      ++i;
    }
  }
}

}  // namespace packsmith::intel
