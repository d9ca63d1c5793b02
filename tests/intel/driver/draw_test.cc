// Draws and dispatches of command buffers, executed: each sees what was asked for.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/intel/batch/indirect.h"
#include "tests/intel/driver/draw_fixture.h"

namespace packsmith::intel {
namespace {

class DrawTest : public DrawFixture {};
INSTANTIATE_TEST_SUITE_P(, DrawTest, testing::ValuesIn(DriverGenerations()),
                         [](const auto& info) { return info.param; });

TEST_P(DrawTest, ADrawIsExecutedWithWhatWasAsked) {
  const auto pipeline = NewPipeline();
  auto commands = New();
  BindAll(*commands, *pipeline);
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  EXPECT_TRUE(commands->Draw({.vertices = 6, .instances = 2, .indexed = true}));
  machine_.Run(*commands);
  EXPECT_EQ(machine_.works.size(), 2u);
  EXPECT_EQ(machine_.problems, std::vector<std::string>());
  // The second draw emits nothing but itself.
  const auto first = std::find(machine_.packets.begin(), machine_.packets.end(), "3DPRIMITIVE");
  ASSERT_NE(first, machine_.packets.end());
  EXPECT_EQ(*(first + 1), "3DPRIMITIVE");
}

TEST_P(DrawTest, WithoutAPipelineNothingIsDrawn) {
  auto commands = New();
  EXPECT_FALSE(commands->Draw({.vertices = 3}));
  EXPECT_EQ(commands->status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(commands->status().message().find("Bind()"), std::string::npos);
  EXPECT_FALSE(commands->Barrier());  // it is kept
  EXPECT_FALSE(commands->End().ok());
  // Reset() forgets it.
  EXPECT_TRUE(commands->Reset().ok());
  EXPECT_TRUE(commands->Barrier());
  machine_.Run(*commands);
}

TEST_P(DrawTest, OnlyEnginesThatDrawDraw) {
  auto commands = New({.engine = Engine::kCopy});
  EXPECT_FALSE(commands->Draw({.vertices = 3}));
  EXPECT_NE(commands->status().message().find("Engine::kRender"), std::string::npos);
  commands = New({.engine = Engine::kCopy});
  EXPECT_FALSE(commands->Dispatch({.x = 1}));
  EXPECT_NE(commands->status().message().find("Engine::kCompute"), std::string::npos);
}

// The address of the only constants of the packet that sets them for a stage.
TEST_P(DrawTest, ConstantsAndSamplersAreInTheMemoryOfTheRecording) {
  const auto pipeline = NewPipeline({.constants = {true, false, false, false, true}});
  auto commands = New();
  BindAll(*commands, *pipeline);
  const float constants[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_TRUE(commands->SetConstants(BindingStage::kVertex, AsBytes(constants)));
  EXPECT_TRUE(commands->SetSamplers(
      BindingStage::kPixel, {{{.min_filter = Filter::kLinear},
                              {.wrap = {Wrap::kClampToBorder}, .border_color = {1, 2, 3, 4}}}}))
      << commands->status();
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  machine_.Run(*commands);
  EXPECT_EQ(machine_.works.size(), 1u);
  EXPECT_EQ(machine_.problems, std::vector<std::string>());
  EXPECT_EQ(machine_.context->border_colors().in_use(), 1u);
  EXPECT_TRUE(commands->Reset().ok());
  EXPECT_EQ(machine_.context->border_colors().in_use(), 0u);
}

TEST_P(DrawTest, ADrawSeesWhatAnotherHasDrawn) {
  const auto pipeline = NewPipeline();
  auto commands = New();
  BindAll(*commands, *pipeline);
  EXPECT_TRUE(commands->Draw({.vertices = 3}));
  // The target becomes a texture; another image the target.
  const auto other = NewImage("R8G8B8A8_UNORM", SurfaceFormat::R8G8B8A8_UNORM, "other");
  const ImageSurface colors[] = {
      machine_.context->SurfaceOf(*other, SurfacePurpose::kRenderTarget)};
  EXPECT_TRUE(commands->SetTargets({.colors = colors}));
  const View texture =
      commands->MakeView(machine_.context->SurfaceOf(*target_, SurfacePurpose::kTexture));
  EXPECT_TRUE(commands->SetViews(BindingStage::kPixel, {texture}));
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  // Shaders write the target, and then read it.
  int draws = 0;
  machine_.shaders = [&](const sim::Work&, sim::WorkMemory& memory) {
    uint8_t bytes[4] = {1, 2, 3, 4};
    if (draws++ == 0) {
      memory.Write(tables::ClientKind::kRenderTarget, 0, target_->memory.address, bytes);
    } else {
      uint8_t read[4] = {};
      memory.Read(tables::ClientKind::kSampler, 0, target_->memory.address, absl::MakeSpan(read));
      EXPECT_EQ(std::memcmp(read, bytes, 4), 0);
    }
  };
  machine_.Run(*commands);
  EXPECT_EQ(draws, 2);
  EXPECT_EQ(machine_.problems, std::vector<std::string>());  // nothing was read too early
}

TEST_P(DrawTest, ADispatchSeesWhatWasDrawnAndADrawWhatWasDispatched) {
  const auto pipeline = NewPipeline();
  const auto code = machine_.context->NewKernel(DrawnBytes(64, 0));
  ASSERT_TRUE(code.ok());
  const gpu::Buffer results = machine_.BufferOf("results", DrawnBytes(4096, 0));
  auto commands = New();
  BindAll(*commands, *pipeline);
  EXPECT_TRUE(commands->Draw({.vertices = 3}));
  ComputeKernel kernel;
  kernel.simd16() = {.present = true, .offset = *code};
  kernel.local_size = {8, 8, 1};
  kernel.constant_bytes = 32;
  EXPECT_TRUE(commands->Bind(kernel)) << commands->status();
  EXPECT_TRUE(commands->SetViews(
      BindingStage::kCompute,
      {commands->MakeView(machine_.context->SurfaceOf(*target_, SurfacePurpose::kTexture)),
       commands->MakeView(BufferSurface{.memory = At(results),
                                        .writable = true,
                                        .size = 4096,
                                        .mocs = machine_.context->mocs()})}));
  const uint32_t constants[8] = {64, 32};
  EXPECT_TRUE(commands->SetConstants(BindingStage::kCompute, AsBytes(constants)));
  EXPECT_TRUE(commands->Dispatch({.x = 8, .y = 4})) << commands->status();
  // What was computed are vertices.
  const VertexBuffer buffers[] = {{.memory = At(results), .size = 4096, .stride = 8}};
  EXPECT_TRUE(commands->SetVertexBuffers(buffers));
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  int works = 0;
  machine_.shaders = [&](const sim::Work&, sim::WorkMemory& memory) {
    using tables::ClientKind;
    uint8_t bytes[4] = {9, 8, 7, 6}, read[4] = {};
    switch (works++) {
      case 0:
        memory.Write(ClientKind::kRenderTarget, 0, target_->memory.address, bytes);
        break;
      case 1:
        memory.Read(ClientKind::kSampler, 0, target_->memory.address, absl::MakeSpan(read));
        EXPECT_EQ(std::memcmp(read, bytes, 4), 0);
        memory.Write(ClientKind::kDataPort, 0, results.address, bytes);
        break;
      default:
        memory.Read(ClientKind::kVertexFetch, 0, results.address, absl::MakeSpan(read));
        EXPECT_EQ(std::memcmp(read, bytes, 4), 0);
    }
  };
  machine_.Run(*commands);
  EXPECT_EQ(works, 3);
  EXPECT_EQ(machine_.problems, std::vector<std::string>());
}

TEST_P(DrawTest, AnImageThatOneDispatchStoresToAndSamplesIsFlushedBeforeTheNext) {
  const auto code = machine_.context->NewKernel(DrawnBytes(64, 0));
  ASSERT_TRUE(code.ok());
  auto commands = New();
  ComputeKernel kernel;
  kernel.simd16() = {.present = true, .offset = *code};
  kernel.local_size = {8, 8, 1};
  EXPECT_TRUE(commands->Bind(kernel)) << commands->status();
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(commands->SetViews(
        BindingStage::kCompute,
        {commands->MakeView(machine_.context->SurfaceOf(*target_, SurfacePurpose::kStorage)),
         commands->MakeView(machine_.context->SurfaceOf(*target_, SurfacePurpose::kTexture))}));
    EXPECT_TRUE(commands->Dispatch({.x = 8, .y = 4})) << commands->status();
  }
  int works = 0;
  machine_.shaders = [&](const sim::Work&, sim::WorkMemory& memory) {
    using tables::ClientKind;
    uint8_t bytes[4] = {9, 8, 7, 6}, read[4] = {};
    if (works++ == 0) {
      memory.Write(ClientKind::kDataPort, 0, target_->memory.address, bytes);
    } else {
      memory.Read(ClientKind::kSampler, 0, target_->memory.address, absl::MakeSpan(read));
      EXPECT_EQ(std::memcmp(read, bytes, 4), 0);
    }
  };
  machine_.Run(*commands);
  EXPECT_EQ(works, 2);
  EXPECT_EQ(machine_.problems, std::vector<std::string>());
}

TEST_P(DrawTest, ParametersInMemoryAreThoseThatTheBatchHasCopied) {
  const auto pipeline = NewPipeline();
  const DrawArguments arguments[] = {{.vertex_count = 3, .instance_count = 4}};
  const gpu::Buffer source = machine_.BufferOf("source", AsBytes(arguments));
  const gpu::Buffer place = machine_.BufferOf("arguments", DrawnBytes(64, 0));
  auto commands = New();
  BindAll(*commands, *pipeline);
  EXPECT_TRUE(commands->Copy(
      BufferCopy{.source = source, .destination = place, .size = sizeof(arguments)}));
  EXPECT_TRUE(commands->Draw(IndirectDrawCall{.arguments = At(place)})) << commands->status();
  machine_.Run(*commands);
  EXPECT_EQ(machine_.works.size(), 1u);
  EXPECT_EQ(machine_.problems, std::vector<std::string>());
}

TEST_P(DrawTest, DepthAndStencilBuffersAreTargets) {
  const auto depth = NewImage("Z32_FLOAT", SurfaceFormat::R32_FLOAT, "depth");
  const auto pipeline =
      NewPipeline({.depth_stencil = {
                       .depth_test = true, .depth_write = true, .depth_compare = Compare::kLess}});
  auto commands = New();
  BindAll(*commands, *pipeline);
  const ImageSurface surface = machine_.context->SurfaceOf(*depth, SurfacePurpose::kRenderTarget);
  EXPECT_TRUE(commands->SetTargets({.depth = &surface})) << commands->status();
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  machine_.Run(*commands);
  EXPECT_EQ(machine_.works.size(), 1u);
  const std::vector<uint32_t> packet = StateOf(0, "3DSTATE_DEPTH_BUFFER");
  ASSERT_GE(packet.size(), 4u);
  EXPECT_EQ(packet[2], static_cast<uint32_t>(depth->memory.address));
}

TEST_P(DrawTest, SecondariesAreCopiedIfShortAndCalledIfLong) {
  const auto pipeline = NewPipeline();
  const auto record = [&](size_t draws) {
    auto secondary = New({.secondary = true});
    BindAll(*secondary, *pipeline);
    for (size_t i = 0; i < draws; ++i) {
      EXPECT_TRUE(secondary->Draw({.vertices = 3})) << secondary->status();
    }
    EXPECT_TRUE(secondary->End().ok());
    return secondary;
  };
  const auto small = record(1), large = record(kMostCopiedDwords / 7);
  EXPECT_LE(small->batch().dwords(), kMostCopiedDwords);
  EXPECT_GT(large->batch().dwords(), kMostCopiedDwords);
  auto primary = New();
  BindAll(*primary, *pipeline);
  EXPECT_TRUE(primary->Draw({.vertices = 3}));
  EXPECT_TRUE(primary->Execute(*small)) << primary->status();
  EXPECT_TRUE(primary->Execute(*large)) << primary->status();
  EXPECT_TRUE(primary->Draw({.vertices = 3})) << primary->status();
  machine_.Run(*primary);
  EXPECT_EQ(machine_.works.size(), 3 + kMostCopiedDwords / 7);
  // One call; the other start is a jump between chunks, if there is one.
  const size_t starts = Count("MI_BATCH_BUFFER_START");
  EXPECT_GE(starts, 1u);
  EXPECT_EQ(machine_.problems, std::vector<std::string>());
  // The last draw has the primary's state, which all was set again.
  for (const auto& [name, dwords] : machine_.works.front().states) {
    if (name.find("BINDING_TABLE_POINTERS_PS") != std::string::npos ||
        name.find("POINTERS") == std::string::npos) {
      EXPECT_EQ(StateOf(machine_.works.size() - 1, name.c_str()).size(), dwords.size()) << name;
    }
  }
}

TEST_P(DrawTest, SecondariesOfSecondariesAreCopied) {
  const auto pipeline = NewPipeline();
  auto inner = New({.secondary = true});
  BindAll(*inner, *pipeline);
  EXPECT_TRUE(inner->Draw({.vertices = 3}));
  EXPECT_TRUE(inner->End().ok());
  auto outer = New({.secondary = true});
  EXPECT_TRUE(outer->Execute(*inner)) << outer->status();
  EXPECT_TRUE(outer->End().ok());
  auto primary = New();
  EXPECT_TRUE(primary->Execute(*outer)) << primary->status();
  machine_.Run(*primary);
  EXPECT_EQ(machine_.works.size(), 1u);
  EXPECT_EQ(machine_.problems, std::vector<std::string>());
}

TEST_P(DrawTest, ASecondaryThatIsGoneIsAnErrorOrWasCopied) {
  const auto pipeline = NewPipeline();
  for (const size_t draws : {size_t{1}, kMostCopiedDwords / 7}) {
    auto primary = New();
    {
      auto secondary = New({.secondary = true});
      BindAll(*secondary, *pipeline);
      for (size_t i = 0; i < draws; ++i) EXPECT_TRUE(secondary->Draw({.vertices = 3}));
      EXPECT_TRUE(secondary->End().ok());
      EXPECT_TRUE(primary->Execute(*secondary));
    }
    // Its packets, or its tables, are no longer there.
    EXPECT_EQ(machine_.context->Submit(*primary).status().code(), absl::StatusCode::kNotFound);
  }
}

TEST_P(DrawTest, ExecuteSaysWhatItTakes) {
  auto secondary = New({.secondary = true});
  auto primary = New();
  EXPECT_FALSE(primary->Execute(*secondary));
  EXPECT_NE(primary->status().message().find("End()"), std::string::npos) << primary->status();
  const auto other = New();
  primary = New();
  EXPECT_FALSE(primary->Execute(*other));
  EXPECT_EQ(primary->status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(machine_.context->Submit(*secondary).ok());
}

TEST_P(DrawTest, MemoryIsKeptUntilTheJobIsDone) {
  Machine machine(GetParam(), {.complete_by_hand = true});
  auto commands = machine.context->NewCommandBuffer({});
  ASSERT_TRUE(commands.ok());
  const auto staging = machine.context->NewBuffer(4096, "staging");
  ASSERT_TRUE(staging.ok());
  (*commands)->Keep(*staging);
  EXPECT_NE((*commands)->Upload(DrawnBytes(100, 1)).cpu, nullptr);
  const auto fence = machine.context->Submit(**commands);
  ASSERT_TRUE(fence.ok()) << fence.status();
  EXPECT_EQ((*commands)->Reset().code(), absl::StatusCode::kFailedPrecondition);
  const uint64_t live = machine.context->dynamic_pool().statistics().live_states;
  EXPECT_GT(live, 0u);
  commands->reset();
  // Destroyed, but its memory is the job's.
  EXPECT_EQ(machine.context->dynamic_pool().statistics().live_states, live);
  EXPECT_TRUE(machine.context->buffers().Get(staging->handle).ok());
  machine.device->Complete(*fence);
  const auto next = machine.context->NewCommandBuffer({});
  EXPECT_TRUE(next.ok());
  EXPECT_LT(machine.context->dynamic_pool().statistics().live_states, live);
  EXPECT_FALSE(machine.context->buffers().Get(staging->handle).ok());
}

TEST_P(DrawTest, ACommandBufferMayBeSubmittedAgainAndReset) {
  const auto pipeline = NewPipeline();
  auto commands = New();
  BindAll(*commands, *pipeline);
  EXPECT_TRUE(commands->Draw({.vertices = 3}));
  machine_.Run(*commands);
  machine_.Run(*commands);
  EXPECT_EQ(machine_.works.size(), 2u);
  ASSERT_TRUE(commands->Reset().ok());
  EXPECT_FALSE(commands->Draw({.vertices = 3}));  // nothing is bound any more
  ASSERT_TRUE(commands->Reset().ok());
  BindAll(*commands, *pipeline);
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  machine_.Run(*commands);
  EXPECT_EQ(machine_.works.size(), 3u);
  EXPECT_EQ(machine_.problems, std::vector<std::string>());
}

TEST_P(DrawTest, ComputeEnginesDispatch) {
  auto made = machine_.context->NewCommandBuffer({.engine = Engine::kCompute});
  if (!made.ok()) {
    EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_TRUE(GetParam() == "gfx8" || GetParam() == "gfx9" || GetParam() == "gfx11" ||
                GetParam() == "gfx12");
    return;
  }
  const auto code = machine_.context->NewKernel(DrawnBytes(64, 0));
  ComputeKernel kernel;
  kernel.simd16() = {.present = true, .offset = *code};
  kernel.local_size = {16, 1, 1};
  EXPECT_TRUE((*made)->Bind(kernel)) << (*made)->status();
  EXPECT_TRUE((*made)->Dispatch({.x = 3})) << (*made)->status();
  EXPECT_TRUE((*made)->Barrier());
  EXPECT_TRUE((*made)->Dispatch({.x = 3})) << (*made)->status();
  // Loaded into registers of the compute engine, not of the render engine.
  const DispatchArguments arguments[] = {{.groups_x = 5, .groups_y = 6, .groups_z = 7}};
  const gpu::Buffer place = machine_.BufferOf("arguments", AsBytes(arguments));
  EXPECT_TRUE((*made)->DispatchIndirect(At(place))) << (*made)->status();
  machine_.Run(**made);
  ASSERT_EQ(machine_.works.size(), 3u);
  EXPECT_EQ(machine_.works[1].groups, (std::array<int64_t, 3>{3, 1, 1}));
  EXPECT_EQ(machine_.works[2].groups, (std::array<int64_t, 3>{5, 6, 7}));
  EXPECT_EQ(machine_.engines.back(), "compute");
  EXPECT_EQ(machine_.problems, std::vector<std::string>());
}

}  // namespace
}  // namespace packsmith::intel
