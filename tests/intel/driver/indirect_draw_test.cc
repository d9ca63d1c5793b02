// Draws of command buffers whose numbers are in memory, executed in each way.
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/generations/generations.h"
#include "runtime/intel/batch/indirect.h"
#include "runtime/intel/driver/graphics_pipeline.h"
#include "runtime/intel/generated_draws/generator.h"
#include "runtime/sim/observer.h"
#include "runtime/sim/work.h"
#include "tests/intel/driver/drawn_values.h"
#include "tests/intel/driver/machine.h"

namespace packsmith::intel {
namespace {

constexpr uint32_t kAddressAt = 8;  // in the constants of the kernel

class IndirectDrawTest : public testing::TestWithParam<std::string> {
 protected:
  IndirectDrawTest()
      : machine_(GetParam()), generator_(packsmith_find_draw_generator(GetParam().c_str())) {
    const std::vector<uint8_t> code(64, 0);
    const auto kernel = machine_.context->NewKernel(code);
    EXPECT_TRUE(kernel.ok()) << kernel.status();
    kernel_.kernel.simd16() = {.present = true, .offset = *kernel};
    kernel_.kernel.local_size = {PACKSMITH_GENERATE_GROUP, 1, 1};
    kernel_.kernel.constant_bytes = 32;
    kernel_.parameters_at = kAddressAt;
    vertex_ = {.entry = {.offset = *kernel, .start_register = 2}, .urb_read_length = 1};
    fragment_ = {.simd16 = ShaderEntry{.offset = *kernel, .start_register = 4}};
    GraphicsPipelineOptions options;
    options.shaders.vertex = &vertex_;
    options.shaders.fragment = &fragment_;
    options.vertices.ids = {.first_vertex = true, .first_instance = true, .draw = true};
    auto pipeline = machine_.context->NewGraphicsPipeline(options);
    EXPECT_TRUE(pipeline.ok()) << pipeline.status();
    pipeline_ = *std::move(pipeline);
    std::vector<DrawArguments> draws;
    for (uint32_t i = 0; i < 2 * kDraws; ++i) draws.push_back({3 + i, 1 + i % 2, i, 0});
    numbers_ = machine_.BufferOf("draws",
                                 absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(draws.data()),
                                                     draws.size() * sizeof(draws[0])));
    count_ = machine_.BufferOf("count", std::vector<uint8_t>(4, 0));
    machine_.shaders = [this](const sim::Work& work, sim::WorkMemory& memory) {
      if (work.role == tables::Role::kDispatch) {
        Generate(work, memory);
      } else {
        vertices_.push_back(0);
        for (const sim::Parameter& parameter : sim::ParametersOf(tables_, work)) {
          if (parameter.kind == sim::ParameterKind::kCount) {
            vertices_.back() = static_cast<uint32_t>(parameter.value);
          }
        }
        values_.push_back(reader_.Read(work, memory));
      }
    };
  }

  // What the kernel would do, for the parameters of each dispatch.
  void Generate(const sim::Work& work, sim::WorkMemory& memory) {
    packsmith_gpu_memory gpu = {
        &memory,
        [](void* context, uint64_t at, void* to, uint32_t bytes) {
          return static_cast<sim::WorkMemory*>(context)->Read(
                     tables::ClientKind::kDataPort, 0, at,
                     absl::MakeSpan(static_cast<uint8_t*>(to), bytes)) == bytes;
        },
        [](void* context, uint64_t at, const void* from, uint32_t bytes) {
          return static_cast<sim::WorkMemory*>(context)->Write(
                     tables::ClientKind::kDataPort, 0, at,
                     absl::MakeSpan(static_cast<const uint8_t*>(from), bytes)) == bytes;
        }};
    ++dispatches_;
    const uint64_t parameters = Parameters(work);
    ASSERT_NE(parameters, 0u);
    for (uint32_t item = 0; item < 64; ++item) {
      ASSERT_TRUE(generator_->generate_in(&gpu, parameters, item));
    }
  }
  // A field, by the end of its name; empty if the packet has none.
  std::optional<uint64_t> Field(const tables::Container& container, absl::Span<const uint8_t> bytes,
                                const char* name) {
    const decode::Scope scope(tables_, container, bytes);
    for (uint32_t i = 0; i < container.leaves.count; ++i) {
      const uint32_t leaf = container.leaves.first + i;
      if (absl::EndsWith(tables_.string(tables_.leaf(leaf).name), name)) return scope.Number(leaf);
    }
    return std::nullopt;
  }
  // The parameters of the dispatch at hand. Its constants are where a packet says.
  uint64_t Parameters(const sim::Work& work) {
    std::optional<uint64_t> at =
        Field(*work.command.container, work.command.bytes, "Indirect Data Start Address");
    for (const auto& [name, dwords] : machine_.works.back().states) {
      if (name != "MEDIA_CURBE_LOAD") continue;
      at = Field(
          tables_.container(tables_.FindContainer(name)),
          absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(dwords.data()), dwords.size() * 4),
          "CURBE Data Start Address");
    }
    EXPECT_TRUE(at.has_value());
    uint64_t parameters = 0;
    EXPECT_TRUE(machine_.device
                    ->Read(0, machine_.context->dynamic_pool().base() + at.value_or(0) + kAddressAt,
                           absl::MakeSpan(reinterpret_cast<uint8_t*>(&parameters), 8))
                    .ok());
    return parameters;
  }
  // Lists without a count, with one, and with one that a copy between them has changed.
  // In a secondary command buffer, if wanted.
  void Draw(const DrawThresholds& thresholds, int dispatches, bool in_secondary = false) {
    SCOPED_TRACE(testing::Message() << thresholds.generated << ", " << thresholds.ring);
    vertices_.clear();
    values_.clear();
    dispatches_ = 0;
    CommandBufferOptions options;
    options.secondary = in_secondary;
    options.draw_kernel = &kernel_;
    options.draw_thresholds = thresholds;
    auto commands = machine_.context->NewCommandBuffer(options);
    ASSERT_TRUE(commands.ok()) << commands.status();
    CommandBuffer& to = **commands;
    ASSERT_TRUE(to.Bind(*pipeline_));
    ASSERT_TRUE(to.SetTargets({.width = 8, .height = 8}));
    const address numbers(numbers_.address, numbers_.handle);
    const address count(count_.address, count_.handle);
    const uint32_t first = 3, second = 7;
    std::memcpy(count_.cpu, &first, 4);
    const gpu::Buffer source = machine_.BufferOf(
        "source", absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(&second), 4));
    ASSERT_TRUE(to.Draw(IndirectDrawCall{.arguments = numbers, .draws = kDraws})) << to.status();
    ASSERT_TRUE(to.Draw(IndirectDrawCall{
        .arguments = numbers, .draws = kDraws, .stride = 32, .indexed = false, .count = count}));
    ASSERT_TRUE(to.Copy(BufferCopy{.source = source, .destination = count_, .size = 4}));
    ASSERT_TRUE(to.Draw(IndirectDrawCall{
        .arguments = numbers, .draws = kDraws, .stride = 0, .indexed = false, .count = count}));
    ASSERT_TRUE(to.Draw(DrawCall{.vertices = 1000, .first = 8, .number = 9}));
    if (in_secondary) {
      ASSERT_TRUE(to.End().ok()) << to.status();
      auto primary = machine_.context->NewCommandBuffer({});
      ASSERT_TRUE(primary.ok()) << primary.status();
      ASSERT_TRUE((*primary)->Execute(to)) << (*primary)->status();
      machine_.Run(**primary);
    } else {
      machine_.Run(to);
    }
    EXPECT_TRUE(machine_.problems.empty()) << machine_.problems[0];
    std::vector<uint32_t> expected;
    std::vector<DrawnValues> values;
    for (uint32_t i = 0; i < kDraws; ++i) expected.push_back(3 + i), values.push_back({i, 0, i});
    for (uint32_t i = 0; i < first; ++i) {
      expected.push_back(3 + 2 * i), values.push_back({2 * i, 0, i});
    }
    for (uint32_t i = 0; i < second; ++i) expected.push_back(3 + i), values.push_back({i, 0, i});
    expected.push_back(1000), values.push_back({8, 0, 9});
    EXPECT_EQ(vertices_, expected);
    EXPECT_EQ(values_, values);
    EXPECT_EQ(dispatches_, dispatches);
  }

  static constexpr uint32_t kDraws = 20;
  Machine machine_;
  const packsmith_draw_generator* const generator_;
  GenerationKernel kernel_;
  std::unique_ptr<GraphicsPipeline> pipeline_;
  VertexShader vertex_;
  FragmentShader fragment_;
  gpu::Buffer numbers_, count_;
  const tables::Tables tables_ = *FindGeneration(GetParam());
  DrawnValuesReader reader_{machine_, tables_};
  std::vector<uint32_t> vertices_;  // of each draw
  std::vector<DrawnValues> values_;
  int dispatches_ = 0;
};
INSTANTIATE_TEST_SUITE_P(, IndirectDrawTest, testing::ValuesIn(DriverGenerations()),
                         [](const auto& info) { return info.param; });

TEST_P(IndirectDrawTest, DrawsAreTheSameInEachWay) {
  Draw({.generated = ~0u, .ring = ~0u}, 0);
  // The list after the copy is of another group.
  Draw({.generated = 0, .ring = ~0u}, 3);
  Draw({.generated = 0, .ring = 0}, 3);
}

TEST_P(IndirectDrawTest, SecondariesWithAKernelDrawTheSame) {
  Draw({.generated = ~0u, .ring = ~0u}, 0, true);
  Draw({.generated = 0, .ring = ~0u}, 3, true);
  Draw({.generated = 0, .ring = 0}, 3, true);
}

TEST_P(IndirectDrawTest, ASecondaryWithoutAKernelCannotRunOneThatHasIt) {
  CommandBufferOptions options;
  options.secondary = true;
  auto outer = machine_.context->NewCommandBuffer(options);
  options.draw_kernel = &kernel_;
  auto inner = machine_.context->NewCommandBuffer(options);
  auto caller = machine_.context->NewCommandBuffer(options);
  ASSERT_TRUE(outer.ok() && inner.ok() && caller.ok());
  ASSERT_TRUE((*inner)->Bind(*pipeline_));
  ASSERT_TRUE((*inner)->Draw({.vertices = 3}));
  ASSERT_TRUE((*inner)->End().ok()) << (*inner)->status();
  EXPECT_FALSE((*outer)->Execute(**inner));
  EXPECT_NE((*outer)->status().message().find("the caller is a second-level batch"),
            std::string::npos)
      << (*outer)->status();
  // One with a kernel can, any number of times.
  ASSERT_TRUE((*caller)->Execute(**inner)) << (*caller)->status();
  ASSERT_TRUE((*caller)->Execute(**inner)) << (*caller)->status();
  ASSERT_TRUE((*caller)->End().ok()) << (*caller)->status();
  auto primary = machine_.context->NewCommandBuffer({});
  ASSERT_TRUE(primary.ok());
  ASSERT_TRUE((*primary)->Execute(**caller)) << (*primary)->status();
  machine_.Run(**primary);
  EXPECT_EQ(vertices_, (std::vector<uint32_t>{3, 3}));
  EXPECT_TRUE(machine_.problems.empty()) << machine_.problems[0];
}

}  // namespace
}  // namespace packsmith::intel
