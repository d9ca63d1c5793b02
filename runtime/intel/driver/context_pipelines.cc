// Pipelines and kernels of contexts, and what the context's cache keeps of them.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/command/buffer_uses.h"
#include "runtime/intel/compute/compute_kernel.h"
#include "runtime/intel/driver/context.h"
#include "runtime/intel/driver/generation_driver.h"
#include "runtime/intel/driver/graphics_pipeline.h"
#include "runtime/intel/driver/saved_bytes.h"
#include "runtime/intel/driver/thread_scratch.h"
#include "runtime/intel/shader/pipeline_cache.h"
#include "runtime/intel/state/multiview.h"

namespace packsmith::intel {
namespace {

// What the bytes are: "kern", in which form, and of which generation. The form's number must change
// when the meaning of a kernel's members does.
constexpr uint64_t KernelTagOf(unsigned generation) {
  constexpr uint64_t kForm = 2;
  return uint64_t{0x6b65726e} << 32 | kForm << 16 | generation;
}

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

// A pipeline's options, in which shaders that spill have scratch memory of the context.
class SpillingShaders {
 public:
  // Errors of Context::ScratchFor(), with the stage.
  absl::Status Fill(const Context& context, const GraphicsPipelineOptions& from) {
    using enum ScratchStage;
    context_ = &context;
    options_ = from;
    ShaderStages& shaders = options_.shaders;
    Fill("vertex shader", kVertex, vertex_, shaders.vertex);
    Fill("tessellation control shader", kHull, tess_control_, shaders.tess_control);
    Fill("tessellation evaluation shader", kDomain, tess_eval_, shaders.tess_eval);
    Fill("geometry shader", kGeometry, geometry_, shaders.geometry);
    Fill("fragment shader", kPixel, fragment_, shaders.fragment);
    Fill("task shader", kTask, task_, options_.task);
    Fill("mesh shader", kMesh, mesh_, options_.mesh);
    return status_;
  }
  const GraphicsPipelineOptions& options() const { return options_; }
  std::vector<gpu::BufferUse> TakeUses() { return std::move(uses_); }
  const ScratchBytes& bytes() const { return bytes_; }
  // Shaders spill to memory of the program's own, whose place is not known in other runs.
  bool have_own() const { return have_own_; }

 private:
  template <class Shader>
  static ShaderProgram& ProgramOf(Shader& shader) {
    if constexpr (requires { shader.group; }) {
      return shader.group.program;
    } else {
      return shader.program;
    }
  }
  // Puts a copy in the place of a shader.
  template <class Shader>
  void Fill(const char* name, ScratchStage stage, Shader& copy, const Shader*& shader) {
    if (!status_.ok() || shader == nullptr) return;
    copy = *shader;
    ShaderScratch& scratch = ProgramOf(copy).scratch;
    if (scratch.bytes_per_thread == 0) return;
    if (scratch.place.gpu != 0 || scratch.surface != 0) {
      have_own_ = true;
      return;
    }
    const absl::StatusOr<ThreadScratch> memory =
        context_->ScratchFor(stage, scratch.bytes_per_thread);
    if (!memory.ok()) {
      status_ =
          absl::Status(memory.status().code(), absl::StrCat(name, ": ", memory.status().message()));
      return;
    }
    scratch.place = memory->place;
    scratch.surface = memory->surface;
    memory->AddUsesTo(uses_);
    bytes_[stage] = scratch.bytes_per_thread;
    shader = &copy;
  }

  const Context* context_ = nullptr;
  GraphicsPipelineOptions options_;
  absl::Status status_;
  std::vector<gpu::BufferUse> uses_;
  ScratchBytes bytes_;
  bool have_own_ = false;
  VertexShader vertex_;
  TessControlShader tess_control_;
  TessEvalShader tess_eval_;
  GeometryShader geometry_;
  FragmentShader fragment_;
  TaskShader task_;
  MeshShader mesh_;
};

}  // namespace

absl::StatusOr<MultiviewPlan> Context::PlanViews(const MultiviewOptions& options) const {
  return PlanMultiview(options, generation_.replicates);
}

absl::StatusOr<std::unique_ptr<GraphicsPipeline>> Context::NewGraphicsPipeline(
    const GraphicsPipelineOptions& options) const {
  SpillingShaders shaders;
  if (absl::Status filled = shaders.Fill(*this, options); !filled.ok()) return filled;
  auto made = generation_.new_graphics_pipeline(*this, shaders.options());
  if (made.ok()) (*made)->scratch_uses_ = shaders.TakeUses();
  if (made.ok() && options.key != nullptr && pipelines_ != nullptr && !shaders.have_own()) {
    SavedBytes bytes;
    if ((*made)->Save(*this, shaders.bytes(), bytes)) {
      bytes.Seal();
      pipelines_->Add(*options.key, bytes.bytes());
    }
  }
  return made;
}

absl::StatusOr<std::unique_ptr<GraphicsPipeline>> Context::FindGraphicsPipeline(
    const CacheKey& key) {
  const std::optional<absl::Span<const uint8_t>> kept =
      pipelines_ == nullptr ? std::nullopt : pipelines_->Find(key);
  if (!kept.has_value()) return NotKept(key);
  SavedReader reader(*kept);
  if (!reader.Unseal()) {
    return absl::DataLossError("what the cache has under this key is damaged, or not a pipeline");
  }
  return generation_.load_graphics_pipeline(*this, reader);
}

absl::StatusOr<ComputeKernel> Context::NewComputeKernel(const CacheKey& key,
                                                        absl::Span<const uint8_t> code,
                                                        const ComputeKernel& kernel) {
  const absl::StatusOr<ComputeKernel> placed = Place(*this, code, kernel);
  if (placed.ok() && pipelines_ != nullptr) {
    SavedBytes bytes;
    bytes.Put(KernelTagOf(generation_.version));
    bytes.PutSized(kernel);
    bytes.PutAll(code);
    bytes.Seal();
    pipelines_->Add(key, bytes.bytes());
  }
  return placed;
}

absl::StatusOr<ComputeKernel> Context::FindComputeKernel(const CacheKey& key) {
  const std::optional<absl::Span<const uint8_t>> kept =
      pipelines_ == nullptr ? std::nullopt : pipelines_->Find(key);
  if (!kept.has_value()) return NotKept(key);
  SavedReader reader(*kept);
  const uint64_t expected = KernelTagOf(generation_.version);
  uint64_t tag = 0;
  ComputeKernel kernel;
  std::vector<uint8_t> code;
  if (!reader.Unseal() || !reader.Get(tag) || tag != expected || !reader.GetSized(kernel) ||
      !reader.GetAll(code) || !reader.empty()) {
    return absl::DataLossError(
        "what the cache has under this key is damaged, or not a compute kernel of this generation "
        "and version");
  }
  return Place(*this, code, kernel);
}

}  // namespace packsmith::intel
