// Pipelines and kernels of contexts, and what the context's cache keeps of them.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "runtime/intel/compute/compute_kernel.h"
#include "runtime/intel/driver/context.h"
#include "runtime/intel/driver/generation_driver.h"
#include "runtime/intel/driver/graphics_pipeline.h"
#include "runtime/intel/driver/saved_bytes.h"
#include "runtime/intel/shader/pipeline_cache.h"

namespace packsmith::intel {
namespace {

// What the bytes are: "kern".
constexpr uint32_t kKernelTag = 0x6b65726e;

absl::Status NotKept(const CacheKey& key) {
  return absl::NotFoundError(
      absl::StrFormat("the cache has nothing under the key %016x%016x", key.high, key.low));
}

// The offsets of its entries from where `code` is.
absl::StatusOr<ComputeKernel> Place(Context& context, absl::Span<const uint8_t> code,
                                    ComputeKernel kernel) {
  for (const KernelEntry& entry : kernel.entries) {
    if (!entry.present || entry.offset < code.size()) continue;
    return absl::InvalidArgumentError(
        absl::StrFormat("a kernel's entry at offset %d of %d bytes of code; offsets count from the "
                        "beginning of the code",
                        entry.offset, code.size()));
  }
  const absl::StatusOr<uint32_t> offset = context.NewKernel(code);
  if (!offset.ok()) return offset.status();
  for (KernelEntry& entry : kernel.entries) {
    if (entry.present) entry.offset += *offset;
    entry.buffer = 0;  // command buffers list all kernels
  }
  return kernel;
}

}  // namespace

bool HasScratch(const GraphicsPipelineOptions& options) {
  const auto spills = [](const ShaderProgram& program) {
    return program.scratch.bytes_per_thread != 0;
  };
  const ShaderStages& shaders = options.shaders;
  return (shaders.vertex != nullptr && spills(shaders.vertex->program)) ||
         (shaders.tess_control != nullptr && spills(shaders.tess_control->program)) ||
         (shaders.tess_eval != nullptr && spills(shaders.tess_eval->program)) ||
         (shaders.geometry != nullptr && spills(shaders.geometry->program)) ||
         (shaders.fragment != nullptr && spills(shaders.fragment->program)) ||
         (options.task != nullptr && spills(options.task->group.program)) ||
         (options.mesh != nullptr && spills(options.mesh->group.program));
}

absl::StatusOr<std::unique_ptr<GraphicsPipeline>> Context::NewGraphicsPipeline(
    const GraphicsPipelineOptions& options) const {
  auto made = generation_.new_graphics_pipeline(*this, options);
  if (made.ok() && options.key != nullptr && pipelines_ != nullptr) {
    SavedBytes bytes;
    if ((*made)->Save(*this, bytes)) pipelines_->Add(*options.key, bytes.bytes());
  }
  return made;
}

absl::StatusOr<std::unique_ptr<GraphicsPipeline>> Context::FindGraphicsPipeline(
    const CacheKey& key) {
  const std::optional<absl::Span<const uint8_t>> kept =
      pipelines_ == nullptr ? std::nullopt : pipelines_->Find(key);
  if (!kept.has_value()) return NotKept(key);
  SavedReader reader(*kept);
  return generation_.load_graphics_pipeline(*this, reader);
}

absl::StatusOr<ComputeKernel> Context::NewComputeKernel(const CacheKey& key,
                                                        absl::Span<const uint8_t> code,
                                                        const ComputeKernel& kernel) {
  const absl::StatusOr<ComputeKernel> placed = Place(*this, code, kernel);
  if (placed.ok() && pipelines_ != nullptr) {
    SavedBytes bytes;
    bytes.Put(kKernelTag);
    bytes.Put(kernel);
    bytes.PutAll(code);
    pipelines_->Add(key, bytes.bytes());
  }
  return placed;
}

absl::StatusOr<ComputeKernel> Context::FindComputeKernel(const CacheKey& key) {
  const std::optional<absl::Span<const uint8_t>> kept =
      pipelines_ == nullptr ? std::nullopt : pipelines_->Find(key);
  if (!kept.has_value()) return NotKept(key);
  SavedReader reader(*kept);
  uint32_t tag = 0;
  ComputeKernel kernel;
  std::vector<uint8_t> code;
  if (!reader.Get(tag) || tag != kKernelTag || !reader.Get(kernel) || !reader.GetAll(code) ||
      !reader.empty()) {
    return absl::DataLossError("what the cache has under this key is not a compute kernel");
  }
  return Place(*this, code, kernel);
}

}  // namespace packsmith::intel
