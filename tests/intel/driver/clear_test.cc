// Fills by copy engines, every byte of them, and clears and resolves of depth and stencil.
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/layout/copy.h"
#include "tests/intel/driver/draw_fixture.h"

namespace packsmith::intel {
namespace {

class ClearTest : public DrawFixture {
 protected:
  ~ClearTest() override { EXPECT_EQ(machine_.problems, std::vector<std::string>()); }

  DrawnBytes TexelsOf(const Image& image, uint32_t level, uint32_t layer) {
    const auto plan =
        layout::CopyPlan::Make(image.placement, layout::WholeLevel(image.placement, level, layer));
    EXPECT_TRUE(plan.ok());
    DrawnBytes bytes(plan->linear_size_B(plan->linear_row_B()));
    EXPECT_TRUE(plan->CopyOut(absl::MakeConstSpan(image.memory.cpu, image.placement.size_B()),
                              absl::MakeSpan(bytes), plan->linear_row_B())
                    .ok());
    return bytes;
  }
  // A depth buffer with hierarchical depth beside it.
  void SetDepthTarget(CommandBuffer& commands, bool hierarchical = true) {
    if (depth_ == nullptr) {
      depth_ = NewImage("Z32_FLOAT", SurfaceFormat::R32_FLOAT, "depth");
      blocks_ = machine_.BufferOf("hierarchical", DrawnBytes(65536, 0));
    }
    surface_ = machine_.context->SurfaceOf(*depth_, SurfacePurpose::kRenderTarget);
    RenderTargets targets{.depth = &surface_};
    if (hierarchical) {
      targets.hierarchical = {.memory = At(blocks_), .pitch = 128, .qpitch = 32};
    }
    EXPECT_TRUE(commands.SetTargets(targets)) << commands.status();
  }

  std::unique_ptr<Image> depth_;
  gpu::Buffer blocks_;
  ImageSurface surface_;
};
INSTANTIATE_TEST_SUITE_P(, ClearTest, testing::ValuesIn(DriverGenerations()),
                         [](const auto& info) { return info.param; });

TEST_P(ClearTest, BuffersAreFilledFromAnyDwordOn) {
  const struct {
    uint64_t offset, size;
    Engine engine;
  } cases[] = {{0, 64, Engine::kCopy},       {4, 60, Engine::kCopy},  {12, 40000, Engine::kCopy},
               {100, 100000, Engine::kCopy}, {8, 4, Engine::kRender}, {0, 4096, Engine::kRender},
               {20, 0, Engine::kCopy}};
  for (const auto& one : cases) {
    SCOPED_TRACE(testing::Message() << one.offset << " " << one.size);
    const size_t size = one.offset + one.size + 36;
    const gpu::Buffer buffer = machine_.BufferOf("filled", DrawnBytes(size, 0xee));
    auto commands = New({.engine = one.engine});
    EXPECT_TRUE(commands->Fill(BufferFill{
        .destination = buffer, .offset = one.offset, .size = one.size, .value = 0x04030201}))
        << commands->status();
    machine_.Run(*commands);
    DrawnBytes expected(size, 0xee);
    for (uint64_t i = 0; i < one.size; ++i) {
      expected[one.offset + i] = static_cast<uint8_t>(1 + i % 4);
    }
    EXPECT_EQ(DrawnBytes(buffer.cpu, buffer.cpu + size), expected);
  }
}

TEST_P(ClearTest, ImagesAreFilledInTheirTiles) {
  const struct {
    const char* format;
    uint32_t bytes;
    bool repeats;
  } formats[] = {{"R8_UNORM", 1, false},       {"R16_UNORM", 2, false},
                 {"R8G8B8A8_UNORM", 4, false}, {"R32G32_FLOAT", 8, true},
                 {"R32G32_FLOAT", 8, false},   {"R32G32B32A32_FLOAT", 16, false}};
  const bool wide = GetParam() != "gfx8" && GetParam() != "gfx9" && GetParam() != "gfx11";
  for (const auto& [format, bytes, repeats] : formats) {
    for (const bool linear : {false, true}) {
      SCOPED_TRACE(testing::Message() << format << (linear ? " linear" : " tiled"));
      const auto image = machine_.context->NewImage({.format = format,
                                                     .width = 77,
                                                     .height = 45,
                                                     .layers = 3,
                                                     .levels = 2,
                                                     .linear = linear});
      ASSERT_TRUE(image.ok()) << image.status();
      ImageFill fill{.destination = {.image = &*image, .level = 1, .layer = 1, .x = 3, .y = 5},
                     .width = 30,
                     .height = 11,
                     .layers = 2};
      for (uint32_t i = 0; i < bytes; ++i) {
        fill.texel[i] = static_cast<uint8_t>(0x11 + (repeats ? i % 4 : i));
      }
      auto commands = New({.engine = Engine::kCopy});
      if (bytes > 4 && !repeats && !wide) {
        EXPECT_FALSE(commands->Fill(fill));
        EXPECT_EQ(commands->status().code(), absl::StatusCode::kUnimplemented);
        EXPECT_EQ(commands->batch().dwords(), 0u);
        continue;
      }
      EXPECT_TRUE(commands->Fill(fill)) << commands->status();
      machine_.Run(*commands);
      for (uint32_t layer = 0; layer < 3; ++layer) {
        DrawnBytes expected(size_t{38} * 22 * bytes, 0);
        for (uint32_t y = 5; layer >= 1 && y < 16; ++y) {
          for (uint32_t x = 3; x < 33; ++x) {
            std::memcpy(&expected[(y * 38 + x) * bytes], fill.texel.data(), bytes);
          }
        }
        EXPECT_EQ(TexelsOf(*image, 1, layer), expected) << layer;
        EXPECT_EQ(TexelsOf(*image, 0, layer), DrawnBytes(size_t{77} * 45 * bytes, 0));
      }
    }
  }
}

TEST_P(ClearTest, ACopySeesAFillBefore) {
  const gpu::Buffer to = machine_.BufferOf("to", DrawnBytes(64 * 32 * 4, 0));
  auto commands = New({.engine = Engine::kCopy});
  EXPECT_TRUE(commands->Fill(ImageFill{
      .destination = {.image = target_.get()}, .width = 64, .height = 32, .texel = {1, 2, 3, 4}}));
  EXPECT_TRUE(commands->Copy(BufferImageCopy{.buffer = to,
                                             .image = {.image = target_.get()},
                                             .width = 64,
                                             .height = 32,
                                             .to_image = false}));
  machine_.Run(*commands);
  EXPECT_EQ(Load(to, 0), 0x04030201u);
  EXPECT_EQ(Load(to, 64 * 32 - 1), 0x04030201u);
  // A flush between the two.
  const auto first = std::find_if(
      machine_.packets.begin(), machine_.packets.end(),
      [](const std::string& name) { return name.find("COLOR_BLT") != std::string::npos; });
  EXPECT_NE(std::find(first, machine_.packets.end(), "MI_FLUSH_DW"), machine_.packets.end());
}

TEST_P(ClearTest, FillsThatDoNotFitAreRefused) {
  const gpu::Buffer buffer = machine_.BufferOf("buffer", DrawnBytes(8192, 0));
  const auto refuses = [&](const auto& fill, Engine engine, absl::StatusCode code) {
    auto commands = New({.engine = engine});
    EXPECT_FALSE(commands->Fill(fill));
    EXPECT_EQ(commands->status().code(), code) << commands->status();
  };
  using enum absl::StatusCode;
  refuses(BufferFill{.destination = buffer, .offset = 2, .size = 4}, Engine::kCopy,
          kInvalidArgument);
  refuses(BufferFill{.destination = buffer, .offset = 4, .size = buffer.size}, Engine::kCopy,
          kOutOfRange);
  refuses(BufferFill{.destination = buffer, .size = 8192}, Engine::kRender, kUnimplemented);
  refuses(ImageFill{.destination = {.image = target_.get()}, .width = 4, .height = 4},
          Engine::kRender, kUnimplemented);
  refuses(ImageFill{.destination = {.image = target_.get()}, .width = 65, .height = 4},
          Engine::kCopy, kOutOfRange);
  refuses(ImageFill{}, Engine::kCopy, kInvalidArgument);
}

TEST_P(ClearTest, DepthIsClearedAndResolvedWithoutADraw) {
  auto commands = New();
  SetDepthTarget(*commands);
  EXPECT_TRUE(commands->Operate({.clear_depth = true, .depth_value = 0.5f})) << commands->status();
  EXPECT_TRUE(commands->Operate({.operation = DepthOperation::kResolveDepth}))
      << commands->status();
  machine_.Run(*commands);
  auto operations = DwordsOf("3DSTATE_WM_HZ_OP");
  // Each is ended by one without an operation, and so does a recording begin.
  ASSERT_EQ(operations.size(), 5u);
  operations.erase(operations.begin());
  EXPECT_NE(operations[0][1] & 1u << 30, 0u);    // depth clear
  EXPECT_NE(operations[2][1] & 1u << 28, 0u);    // depth resolve
  EXPECT_EQ(operations[0][3], 64u | 32u << 16);  // all of the target
  for (size_t i = 1; i < operations[1].size(); ++i) EXPECT_EQ(operations[1][i], 0u);
  // The target is set before, and its cache written back around it.
  const auto at = [&](const char* name) {
    return std::find(machine_.packets.begin(), machine_.packets.end(), name) -
           machine_.packets.begin();
  };
  const auto last =
      std::find(machine_.packets.rbegin(), machine_.packets.rend(), "3DSTATE_WM_HZ_OP").base() -
      machine_.packets.begin();
  EXPECT_LT(at("3DSTATE_DEPTH_BUFFER"), last);
  EXPECT_LT(at("3DSTATE_MULTISAMPLE"), last);
  const auto clear_values = DwordsOf("3DSTATE_CLEAR_PARAMS");
  if (!clear_values.empty()) {
    EXPECT_EQ(clear_values[0][1], 0x3f000000u);
  }
}

TEST_P(ClearTest, TheNextDrawSetsItsOwnStateAgain) {
  const auto pipeline =
      NewPipeline({.rasterization = {.cull = CullMode::kBack},
                   .depth_stencil = {
                       .depth_test = true, .depth_write = true, .depth_compare = Compare::kLess}});
  auto commands = New();
  BindAll(*commands, *pipeline);
  SetDepthTarget(*commands);
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  EXPECT_TRUE(commands->Operate({.clear_depth = true})) << commands->status();
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  machine_.Run(*commands);
  ASSERT_EQ(machine_.works.size(), 2u);
  for (const char* packet : {"3DSTATE_RASTER", "3DSTATE_DEPTH_BUFFER", "3DSTATE_MULTISAMPLE"}) {
    EXPECT_EQ(StateOf(0, packet), StateOf(1, packet)) << packet;
  }
}

// What a pixel shader is for is part of its pipeline: clears and resolves of colours are draws.
TEST_P(ClearTest, FastClearsAndResolvesOfColorsAreDrawsOfTheirPipelines) {
  // From Xe2 on colours need no resolve.
  const bool resolves = GetParam() != "xe2" && GetParam() != "xe3";
  std::vector<std::unique_ptr<GraphicsPipeline>> pipelines;
  for (const PixelOperation operation :
       {PixelOperation::kDraw, PixelOperation::kFastClear, PixelOperation::kFullResolve}) {
    if (operation == PixelOperation::kFullResolve && !resolves) continue;
    pipelines.push_back(NewPipeline({.shaders = {.target = {.operation = operation}}}));
  }
  auto commands = New();
  for (const auto& pipeline : pipelines) {
    BindAll(*commands, *pipeline);
    EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  }
  machine_.Run(*commands);
  ASSERT_EQ(machine_.works.size(), pipelines.size());
  const auto shader = [&](size_t work) { return StateOf(work, "3DSTATE_PS"); };
  EXPECT_NE(shader(0), shader(1));
  if (!resolves) return;
  EXPECT_NE(shader(0), shader(2));
  EXPECT_NE(shader(1), shader(2));
}

TEST_P(ClearTest, OperationsWithoutTheirTargetAreRefused) {
  auto commands = New();
  EXPECT_FALSE(commands->Operate({.clear_depth = true}));
  EXPECT_EQ(commands->status().code(), absl::StatusCode::kFailedPrecondition);
  commands = New();
  SetDepthTarget(*commands, /*hierarchical=*/false);
  EXPECT_FALSE(commands->Operate({.operation = DepthOperation::kResolveDepth}));
  EXPECT_NE(commands->status().message().find("hierarchical"), std::string::npos);
  commands = New();
  SetDepthTarget(*commands);
  EXPECT_FALSE(commands->Operate({.clear_depth = true, .clear_stencil = true}));
  commands = New();
  SetDepthTarget(*commands);
  EXPECT_FALSE(commands->Operate({.clear_depth = true, .x = 60, .width = 8, .height = 8}));
  EXPECT_EQ(commands->status().code(), absl::StatusCode::kInvalidArgument);
  commands = New({.engine = Engine::kCopy});
  EXPECT_FALSE(commands->Operate({.clear_depth = true}));
  EXPECT_EQ(commands->status().code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace packsmith::intel
