// What draws are recorded with in tests: a machine, a target, vertices, and a pipeline of kernels
// that are never read.
#ifndef PACKSMITH_TESTS_INTEL_DRIVER_DRAW_FIXTURE_H_
#define PACKSMITH_TESTS_INTEL_DRIVER_DRAW_FIXTURE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/intel/device/generation_facts.h"
#include "runtime/intel/driver/generation_driver.h"
#include "runtime/intel/driver/graphics_pipeline.h"
#include "tests/intel/driver/machine.h"

namespace packsmith::intel {

using DrawnBytes = std::vector<uint8_t>;

template <class T, size_t N>
absl::Span<const uint8_t> AsBytes(const T (&values)[N]) {
  return {reinterpret_cast<const uint8_t*>(values), sizeof(values)};
}

inline constexpr float kTriangle[] = {0, -0.5f, 0.5f, 0.5f, -0.5f, 0.5f};
inline constexpr uint16_t kIndexes[] = {0, 1, 2, 2, 1, 0};

class DrawFixture : public testing::TestWithParam<std::string> {
 protected:
  DrawFixture() : machine_(GetParam()) {
    target_ = NewImage("R8G8B8A8_UNORM", SurfaceFormat::R8G8B8A8_UNORM, "target");
    vertices_ = machine_.BufferOf("vertices", AsBytes(kTriangle));
    indices_ = machine_.BufferOf("indices", AsBytes(kIndexes));
  }

  std::unique_ptr<Image> NewImage(const char* format, uint32_t surface_format, const char* name) {
    auto image = machine_.context->NewImage({.format = format,
                                             .surface_format = surface_format,
                                             .width = 64,
                                             .height = 32,
                                             .name = name});
    EXPECT_TRUE(image.ok()) << image.status();
    return std::make_unique<Image>(*std::move(image));
  }
  std::unique_ptr<CommandBuffer> New(const CommandBufferOptions& options = {}) {
    auto commands = machine_.context->NewCommandBuffer(options);
    EXPECT_TRUE(commands.ok()) << commands.status();
    return *std::move(commands);
  }
  std::unique_ptr<GraphicsPipeline> NewPipeline(GraphicsPipelineOptions options = {}) {
    const auto kernel = machine_.context->NewKernel(DrawnBytes(64, 0));
    EXPECT_TRUE(kernel.ok());
    vertex_ = {.entry = {.offset = *kernel, .start_register = 2}, .urb_read_length = 1};
    fragment_ = {.simd16 = ShaderEntry{.offset = *kernel, .start_register = 4}};
    if (options.mesh == nullptr) options.shaders.vertex = &vertex_;
    options.shaders.fragment = &fragment_;
    options.vertices.attributes = attribute_;
    options.blend.targets = blend_;
    auto pipeline = machine_.context->NewGraphicsPipeline(options);
    EXPECT_TRUE(pipeline.ok()) << pipeline.status();
    return *std::move(pipeline);
  }
  address At(const gpu::Buffer& buffer) { return {buffer.address, buffer.handle}; }
  void BindAll(CommandBuffer& commands, const GraphicsPipeline& pipeline) {
    EXPECT_TRUE(commands.Bind(pipeline)) << commands.status();
    const ImageSurface colors[] = {
        machine_.context->SurfaceOf(*target_, SurfacePurpose::kRenderTarget)};
    EXPECT_TRUE(commands.SetTargets({.colors = colors})) << commands.status();
    const VertexBuffer buffers[] = {
        {.memory = At(vertices_), .size = sizeof(kTriangle), .stride = 8}};
    EXPECT_TRUE(commands.SetVertexBuffers(buffers)) << commands.status();
    EXPECT_TRUE(commands.SetIndexBuffer(
        {.memory = At(indices_), .size = sizeof(kIndexes), .type = IndexType::kUint16}));
  }
  // The executed packets of a kind.
  std::vector<std::vector<uint32_t>> DwordsOf(const char* packet) {
    std::vector<std::vector<uint32_t>> found;
    for (size_t i = 0; i < machine_.packets.size(); ++i) {
      if (machine_.packets[i] == packet) found.push_back(machine_.dwords[i]);
    }
    return found;
  }
  const GenerationFacts& facts() const { return FactsOf(machine_.context->generation().version); }
  // How memory that threads spill to is described.
  bool KnowsScratch() const {
    return facts().scratch_pointer_shift == 0 || facts().has_scratch_surfaces;
  }
  bool HasMeshes() const {
    return GetParam() == "gfx125" || GetParam() == "xe2" || GetParam() == "xe3";
  }
  uint32_t Load(const gpu::Buffer& buffer, size_t dword) {
    uint32_t value;
    std::memcpy(&value, buffer.cpu + dword * 4, 4);
    return value;
  }
  size_t Count(const char* packet) {
    return static_cast<size_t>(
        std::count(machine_.packets.begin(), machine_.packets.end(), packet));
  }
  // The dwords of a state in effect at a draw; empty: it was not executed.
  std::vector<uint32_t> StateOf(size_t work, const char* packet) {
    for (const auto& [name, dwords] : machine_.works.at(work).states) {
      if (name == packet) return dwords;
    }
    return {};
  }

  // A field of that.
  uint64_t StateField(size_t work, const char* packet, const char* field) {
    const std::vector<uint32_t> dwords = StateOf(work, packet);
    EXPECT_FALSE(dwords.empty()) << packet;
    if (dwords.empty()) return ~uint64_t{0};
    const std::optional<uint64_t> value = machine_.Field(packet, dwords, field);
    EXPECT_TRUE(value.has_value()) << packet << ", " << field;
    return value.value_or(~uint64_t{0});
  }

  Machine machine_;
  std::unique_ptr<Image> target_;
  gpu::Buffer vertices_, indices_;
  VertexShader vertex_;
  FragmentShader fragment_;
  const VertexAttribute attribute_[1] = {{.format = SurfaceFormat::R32G32_FLOAT}};
  const BlendTarget blend_[1] = {{}};
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_TESTS_INTEL_DRIVER_DRAW_FIXTURE_H_
