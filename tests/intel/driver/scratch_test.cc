// Scratch memory: shaders and kernels say how many bytes a thread needs, and find memory of the
// context, which their job lists.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/intel/device/generation_facts.h"
#include "runtime/intel/driver/generation_driver.h"
#include "tests/intel/driver/draw_fixture.h"

namespace packsmith::intel {
namespace {

class ScratchTest : public DrawFixture {
 protected:
  // Packets have the offset of a surface state, not an address.
  bool HasSurfaces() const { return facts().scratch_pointer_shift != 0; }

  absl::StatusOr<std::unique_ptr<GraphicsPipeline>> NewSpilling(const ShaderScratch& vertex,
                                                                const ShaderScratch& fragment) {
    const auto kernel = machine_.context->NewKernel(DrawnBytes(64, 0));
    EXPECT_TRUE(kernel.ok());
    vertex_ = {.entry = {.offset = *kernel, .start_register = 2}, .urb_read_length = 1};
    fragment_ = {.simd16 = ShaderEntry{.offset = *kernel, .start_register = 4}};
    vertex_.program.scratch = vertex;
    fragment_.program.scratch = fragment;
    return machine_.context->NewGraphicsPipeline(
        {.shaders = {.vertex = &vertex_, .fragment = &fragment_},
         .vertices = {.attributes = attribute_},
         .blend = {.targets = blend_}});
  }
  ComputeKernel NewSpillingKernel(uint32_t bytes) {
    const auto code = machine_.context->NewKernel(DrawnBytes(64, 0));
    EXPECT_TRUE(code.ok());
    ComputeKernel kernel;
    kernel.simd16() = {.present = true, .offset = *code, .scratch = bytes};
    kernel.local_size = {8, 8, 1};
    return kernel;
  }
  std::string FrontEnd() const { return HasSurfaces() ? "CFE_STATE" : "MEDIA_VFE_STATE"; }

  // Where a packet says that the memory is. Checks that a thread has `per_thread` bytes of it, and
  // that the last job may use it.
  uint64_t PlaceIn(const std::string& packet, const std::vector<uint32_t>& dwords,
                   uint32_t per_thread) {
    const auto field = [&](const std::string& of, const std::vector<uint32_t>& from,
                           const char* name) {
      const std::optional<uint64_t> value = machine_.Field(of, from, name);
      EXPECT_TRUE(value.has_value()) << of << ", " << name;
      return value.value_or(0);
    };
    const std::vector<uint32_t> bases = DwordsOf("STATE_BASE_ADDRESS").back();
    uint64_t place = 0;
    if (HasSurfaces()) {
      const uint64_t offset = field(packet, dwords, "Scratch Space Buffer")
                              << facts().scratch_pointer_shift;
      EXPECT_NE(offset, 0u);
      const uint64_t at =
          field("STATE_BASE_ADDRESS", bases, "Bindless Surface State Base Address") + offset;
      std::vector<uint32_t> state(16);
      EXPECT_TRUE(machine_.IsResident(at, 64)) << at;
      EXPECT_TRUE(
          machine_.device->Read(0, at, absl::MakeSpan(reinterpret_cast<uint8_t*>(state.data()), 64))
              .ok());
      constexpr uint64_t kScratch = 6;  // SURFTYPE_SCRATCH
      EXPECT_EQ(field("RENDER_SURFACE_STATE", state, "Surface Type"), kScratch);
      EXPECT_EQ(field("RENDER_SURFACE_STATE", state, "Surface Pitch"), per_thread - 1);
      place = field("RENDER_SURFACE_STATE", state, "Surface Base Address");
    } else {
      const bool joined = packet == "3DSTATE_VS";  // how the manual writes it
      EXPECT_EQ(
          uint64_t{1024} << field(packet, dwords,
                                  joined ? "Per-Thread Scratch Space" : "Per Thread Scratch Space"),
          per_thread);
      place = field(packet, dwords, "Scratch Space Base Pointer");
      EXPECT_EQ(field("STATE_BASE_ADDRESS", bases, "General State Base Address"), 0u);
      EXPECT_LT(place, uint64_t{1} << 32);  // what is in reach of it
    }
    EXPECT_NE(place, 0u);
    // At least the threads of one subslice.
    EXPECT_TRUE(machine_.IsResident(place, uint64_t{per_thread} * 32)) << packet;
    return place;
  }
};
INSTANTIATE_TEST_SUITE_P(, ScratchTest, testing::ValuesIn(DriverGenerations()),
                         [](const auto& info) { return info.param; });

TEST_P(ScratchTest, ShadersThatSpillHaveMemoryThatTheirJobLists) {
  const auto pipeline = NewSpilling({.bytes_per_thread = 3000}, {.bytes_per_thread = 1500});
  if (!KnowsScratch()) {
    EXPECT_EQ(pipeline.status().code(), absl::StatusCode::kUnimplemented);
    EXPECT_NE(pipeline.status().message().find("vertex shader"), std::string::npos);
    return;
  }
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  auto commands = New();
  BindAll(*commands, **pipeline);
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  machine_.Run(*commands);
  ASSERT_EQ(machine_.works.size(), 1u);
  const uint64_t vertex = PlaceIn("3DSTATE_VS", StateOf(0, "3DSTATE_VS"), 4096);
  const uint64_t fragment = PlaceIn("3DSTATE_PS", StateOf(0, "3DSTATE_PS"), 2048);
  EXPECT_NE(vertex, fragment);
  EXPECT_EQ(machine_.problems, std::vector<std::string>());
}

TEST_P(ScratchTest, AJobWithoutSpillsListsNone) {
  if (!KnowsScratch()) GTEST_SKIP();
  const auto scratch = machine_.context->ScratchFor(ScratchStage::kVertex, 1024);
  ASSERT_TRUE(scratch.ok()) << scratch.status();
  const auto memory = machine_.context->buffers().Get(scratch->memory);
  ASSERT_TRUE(memory.ok());
  const auto pipeline = NewSpilling({}, {});
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  EXPECT_TRUE((*pipeline)->scratch_uses().empty());
  auto commands = New();
  BindAll(*commands, **pipeline);
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  machine_.Run(*commands);
  EXPECT_FALSE(machine_.IsResident(memory->address, 4096));
}

TEST_P(ScratchTest, ASecondarysMemoryIsListedByItsCaller) {
  if (!KnowsScratch()) GTEST_SKIP();
  const auto pipeline = NewSpilling({.bytes_per_thread = 1024}, {});
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  auto secondary = New({.secondary = true});
  BindAll(*secondary, **pipeline);
  EXPECT_TRUE(secondary->Draw({.vertices = 3})) << secondary->status();
  EXPECT_TRUE(secondary->End().ok());
  auto commands = New();
  EXPECT_TRUE(commands->Execute(*secondary)) << commands->status();
  machine_.Run(*commands);
  ASSERT_EQ(machine_.works.size(), 1u);
  PlaceIn("3DSTATE_VS", StateOf(0, "3DSTATE_VS"), 1024);
}

TEST_P(ScratchTest, KernelsHaveMemoryThatIsSetAgainOnlyIfItGrows) {
  auto commands = New();
  const bool bound = commands->Bind(NewSpillingKernel(5000));
  if (!KnowsScratch()) {
    EXPECT_FALSE(bound);
    EXPECT_EQ(commands->status().code(), absl::StatusCode::kUnimplemented);
    EXPECT_NE(commands->status().message().find("compute kernel"), std::string::npos);
    return;
  }
  EXPECT_TRUE(bound) << commands->status();
  EXPECT_TRUE(commands->Dispatch({.x = 2})) << commands->status();
  EXPECT_TRUE(commands->Bind(NewSpillingKernel(1024)));
  EXPECT_TRUE(commands->Dispatch({.x = 2})) << commands->status();
  EXPECT_TRUE(commands->Bind(NewSpillingKernel(20000)));
  EXPECT_TRUE(commands->Dispatch({.x = 2})) << commands->status();
  machine_.Run(*commands);
  ASSERT_EQ(machine_.works.size(), 3u);
  // Selecting a pipeline may need a front end without scratch before.
  std::vector<std::vector<uint32_t>> fronts = DwordsOf(FrontEnd().c_str());
  const char* const pointer = HasSurfaces() ? "Scratch Space Buffer" : "Scratch Space Base Pointer";
  std::erase_if(fronts, [&](const auto& front) {
    return machine_.Field(FrontEnd(), front, pointer).value_or(0) == 0;
  });
  ASSERT_EQ(fronts.size(), 2u);
  EXPECT_NE(PlaceIn(FrontEnd(), fronts[0], 8192), PlaceIn(FrontEnd(), fronts[1], 32768));
  EXPECT_EQ(machine_.problems, std::vector<std::string>());
}

TEST_P(ScratchTest, EqualSizesShareMemory) {
  if (!KnowsScratch()) GTEST_SKIP();
  const auto first = NewSpilling({.bytes_per_thread = 1025}, {});
  const auto second = NewSpilling({.bytes_per_thread = 2048}, {});
  const auto third = NewSpilling({.bytes_per_thread = 2049}, {});
  ASSERT_TRUE(first.ok() && second.ok() && third.ok());
  const auto memory = [](const auto& pipeline) { return (*pipeline)->scratch_uses()[0].buffer; };
  EXPECT_EQ(memory(first), memory(second));
  EXPECT_NE(memory(first), memory(third));
}

TEST_P(ScratchTest, TooMuchIsRefusedWithTheStage) {
  if (!KnowsScratch()) GTEST_SKIP();
  constexpr uint32_t kTooMuch = 3 << 20;
  const auto pipeline = NewSpilling({}, {.bytes_per_thread = kTooMuch});
  EXPECT_EQ(pipeline.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(pipeline.status().message().find("fragment shader"), std::string::npos)
      << pipeline.status();
  EXPECT_NE(pipeline.status().message().find("3145728"), std::string::npos) << pipeline.status();
  auto commands = New();
  EXPECT_FALSE(commands->Bind(NewSpillingKernel(kTooMuch)));
  EXPECT_NE(commands->status().message().find("compute kernel"), std::string::npos);
}

TEST_P(ScratchTest, MemoryOfAProgramsOwnIsKept) {
  const ShaderScratch own{.bytes_per_thread = 1024, .place = {0x40000}, .surface = 0x1c0};
  const auto pipeline = NewSpilling(own, {});
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  EXPECT_TRUE((*pipeline)->scratch_uses().empty());
  auto commands = New();
  BindAll(*commands, **pipeline);
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  machine_.Run(*commands);
  ASSERT_EQ(machine_.works.size(), 1u);
  if (HasSurfaces()) {
    EXPECT_EQ(StateField(0, "3DSTATE_VS", "Scratch Space Buffer"),
              0x1c0u >> facts().scratch_pointer_shift);
  } else {
    EXPECT_EQ(StateField(0, "3DSTATE_VS", "Scratch Space Base Pointer"), 0x40000u);
  }
}

TEST_P(ScratchTest, EnginesDoNotWaitForEachOthersSpills) {
  Machine machine(GetParam(), {.complete_by_hand = true});
  auto dispatches = machine.context->NewCommandBuffer({.engine = Engine::kCompute});
  if (!dispatches.ok() || !KnowsScratch()) GTEST_SKIP();
  std::vector<std::unique_ptr<CommandBuffer>> both;
  both.push_back(*std::move(dispatches));
  auto render = machine.context->NewCommandBuffer({});
  ASSERT_TRUE(render.ok());
  both.push_back(*std::move(render));
  const auto code = machine.context->NewKernel(DrawnBytes(64, 0));
  ASSERT_TRUE(code.ok());
  ComputeKernel kernel;
  kernel.simd16() = {.present = true, .offset = *code, .scratch = 1024};
  kernel.local_size = {8, 8, 1};
  gpu::Fence last = 0;
  for (const auto& commands : both) {
    EXPECT_TRUE(commands->Bind(kernel)) << commands->status();
    EXPECT_TRUE(commands->Dispatch({.x = 1})) << commands->status();
    const auto fence = machine.context->Submit(*commands);
    ASSERT_TRUE(fence.ok()) << fence.status();
    last = *fence;
  }
  EXPECT_EQ(machine.after[1], std::vector<gpu::Fence>());
  machine.device->Complete(last);
}

}  // namespace
}  // namespace packsmith::intel
