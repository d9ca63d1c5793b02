// Where packets go: pipelines with open members, draw states, memory; and what is refused.

#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "runtime/command/chunks.h"
#include "runtime/intel/memory/driver_zones.h"
#include "runtime/intel/pipeline/depth_packets.h"
#include "runtime/intel/pipeline/output_packets.h"
#include "runtime/intel/pipeline/raster_packets.h"
#include "runtime/intel/pipeline/vertex_packets.h"
#include "runtime/intel/pipeline/viewport_packets.h"
#include "runtime/memory/state_stream.h"
#include "tests/base/allocations.h"
#include "tests/intel/batch/built.h"
#include "tests/intel/batch/tested.h"
#include "tests/intel/binding/memory.h"
#include "tests/intel/pipeline/packed.h"

namespace packsmith::intel {
namespace {

void ExpectRefused(const absl::Status& status, absl::string_view words) {
  ASSERT_FALSE(status.ok()) << words;
  EXPECT_TRUE(absl::StrContains(status.message(), words)) << status;
}

template <class Gen>
class PacketsTest : public testing::Test {
 protected:
  using G = typename Gen::Packets;

  PacketsTest()
      : memory_(IrisZones(), Gen::kVersion, Gen::kName),
        pool_(memory_.Pool("dynamic", memory_.Begin("dynamic"))),
        dynamic_(*pool_, 16384),
        batch_(chunks_),
        state_(address(0x1000, 1)) {
    state_.InheritAll();
  }

  // The packets of what was set.
  std::vector<Met> Flushed() {
    EXPECT_TRUE(state_.Flush(batch_)) << state_.status();
    EXPECT_TRUE(batch_.End().ok());
    return World().Put(chunks_.chunks()).Decode(Gen::kName, batch_.parts()[0].chunk.gpu).packets;
  }
  static const Met* Find(const std::vector<Met>& packets, const std::string& name) {
    for (const Met& met : packets) {
      if (met.name == name) return &met;
    }
    return nullptr;
  }
  // The dwords at an offset of the dynamic states, which the batch must name.
  Dwords At(uint32_t offset, size_t count) {
    const uint64_t gpu = memory_.Begin("dynamic") + offset;
    Dwords dwords(count);
    bool found = false;
    for (const gpu::BufferUse& use : batch_.uses().all()) {
      const auto buffer = memory_.buffers->Get(use.buffer);
      if (!buffer.ok() || gpu < buffer->address || gpu >= buffer->address + buffer->size) continue;
      found = true;
      std::memcpy(dwords.data(), buffer->cpu + (gpu - buffer->address), count * 4);
    }
    EXPECT_TRUE(found) << "the batch does not name the states' buffer";
    return dwords;
  }

  BindingMemory memory_;
  const std::unique_ptr<gpu::StatePool> pool_;
  gpu::StateStream dynamic_;
  gpu::HostChunks chunks_;
  Batch<Gen> batch_;
  DrawState<Gen> state_;
};
TYPED_TEST_SUITE(PacketsTest, Generations);

TYPED_TEST(PacketsTest, PipelinesLeaveMembersOpen) {
  using G = typename TypeParam::Packets;
  using Raster = typename G::_3DSTATE_RASTER;
  using Test = typename G::_3DSTATE_WM_DEPTH_STENCIL;
  // A member of a packet that a function does not add is a compile error.
  static_assert(PacketsAre<Test, Raster>::template kHaveAll<&Raster::cull_mode>);
  static_assert(
      !PacketsAre<Test>::template kHaveAll<&Test::depth_test_function, &Raster::cull_mode>);
  static_assert(VertexInputHasAll<G, &G::_3DSTATE_VF_TOPOLOGY::primitive_topology_type>());
  static_assert(!VertexInputHasAll<G, &Raster::cull_mode>());
  PipelineState<TypeParam> pipeline;
  const Rasterization rasterization{.cull = CullMode::kBack, .front_face = FrontFace::kClockwise};
  ASSERT_TRUE(
      (AddRasterization<&Raster::cull_mode, &Raster::front_winding>(rasterization, {}, pipeline)
           .ok()));
  ASSERT_TRUE(AddDepthStencil<&Test::depth_test_function>(
                  {.depth_test = true, .depth_compare = Compare::kLess}, pipeline)
                  .ok());
  ASSERT_TRUE(AddColorBlend({}, {}, pipeline).ok());
  const auto plan = AddVertexInput<&G::_3DSTATE_VF_TOPOLOGY::primitive_topology_type>(
      {.topology = Topology::kLineList}, pipeline);
  ASSERT_TRUE(plan.ok()) << plan.status();
  this->state_.Bind(pipeline);
  this->state_.template SetFields<&Raster::cull_mode, &Raster::front_winding>(
      CullModeOf<TypeParam>(CullMode::kFront),
      FrontWindingOf<TypeParam>(FrontFace::kCounterClockwise));
  this->state_.template SetFields<&Test::depth_test_function>(
      CompareFunctionOf<TypeParam>(Compare::kGreater));
  this->state_.template SetFields<&G::_3DSTATE_VF_TOPOLOGY::primitive_topology_type>(
      *TopologyOf<TypeParam>(Topology::kTriangleFan));
  const std::vector<Met> packets = this->Flushed();
  const Met* const raster = this->Find(packets, "3DSTATE_RASTER");
  ASSERT_NE(raster, nullptr);
  EXPECT_EQ(Raster::unpack(raster->dwords.data()).cull_mode, uint32_t{Raster::CULL_MODE_FRONT});
  EXPECT_EQ(Raster::unpack(raster->dwords.data()).front_winding,
            uint32_t{Raster::FRONT_WINDING_COUNTER_CLOCKWISE});
  EXPECT_TRUE(Raster::unpack(raster->dwords.data()).scissor_rectangle_enable);
  const Met* const test = this->Find(packets, "3DSTATE_WM_DEPTH_STENCIL");
  ASSERT_NE(test, nullptr);
  EXPECT_EQ(Test::unpack(test->dwords.data()).depth_test_function,
            G::_3D_Compare_Function::GREATER);
  EXPECT_TRUE(Test::unpack(test->dwords.data()).depth_test_enable);
  const Met* const topology = this->Find(packets, "3DSTATE_VF_TOPOLOGY");
  ASSERT_NE(topology, nullptr);
  EXPECT_EQ(G::_3DSTATE_VF_TOPOLOGY::unpack(topology->dwords.data()).primitive_topology_type,
            G::_3D_Prim_Topo_Type::TRIFAN);
  // A pipeline has each packet once, and says which one it already has.
  ExpectRefused(AddDepthStencil({}, pipeline), "WM_DEPTH_STENCIL");
}

TYPED_TEST(PacketsTest, StatesAreWhereThePointersPoint) {
  using G = typename TypeParam::Packets;
  const Viewport viewports[] = {{.width = 100, .height = 50},
                                {.x = 3, .y = 70, .width = 64, .height = -32, .max_depth = 0.5f}};
  const Scissor scissors[] = {{.width = 10, .height = 10},
                              {.x = 5, .y = 6, .width = 7, .height = 8}};
  const ViewportTarget target{.width = 100, .height = 80, .clip_far = false};
  const BlendTarget targets[] = {BlendTarget::Over(), {.write_mask = kGreen}};
  const ColorBlend blend{.targets = targets};
  // Later generations have references elsewhere.
  const bool has_references = TypeParam::kVersion == 80;
  const ColorConstants constants{.blend = {0.25f, 0.5f, 0.75f, 1},
                                 .alpha_reference = 0.125f,
                                 .front_stencil_reference = has_references ? 3u : 0u,
                                 .back_stencil_reference = has_references ? 4u : 0u};
  for (const ColorConstants& references : {ColorConstants{.front_stencil_reference = 3},
                                           ColorConstants{.back_stencil_reference = 4}}) {
    if (has_references) continue;
    ExpectRefused(
        SetColorConstants<TypeParam>(references, this->dynamic_, this->batch_, this->state_),
        "set them in DepthStencil");
  }
  // Some of the pointers need 3DSTATE_MULTISAMPLE along with them.
  ASSERT_TRUE(SetRasterization<TypeParam>({}, {}, this->state_).ok());
  ASSERT_TRUE(
      SetViewports<TypeParam>(viewports, target, this->dynamic_, this->batch_, this->state_).ok());
  ASSERT_TRUE(
      SetScissors<TypeParam>(scissors, target, this->dynamic_, this->batch_, this->state_).ok());
  ASSERT_TRUE(
      SetBlendStates<TypeParam>(blend, {}, this->dynamic_, this->batch_, this->state_).ok());
  ASSERT_TRUE(
      SetColorConstants<TypeParam>(constants, this->dynamic_, this->batch_, this->state_).ok());
  const std::vector<Met> packets = this->Flushed();
  const auto pointer = [&](const char* name) {
    const Met* const met = this->Find(packets, name);
    EXPECT_NE(met, nullptr) << name;
    return met == nullptr ? 0 : met->dwords[1] & ~31u;  // the lowest bit may say that it is valid
  };
  for (unsigned i = 0; i < 2; ++i) {
    typename G::SF_CLIP_VIEWPORT clip;
    typename G::CC_VIEWPORT depth;
    ASSERT_TRUE(DescribeViewport<TypeParam>(viewports[i], target, clip, depth).ok());
    EXPECT_EQ(this->At(pointer("3DSTATE_VIEWPORT_STATE_POINTERS_SF_CLIP") + i * 64, 16),
              DwordsOf(clip));
    EXPECT_EQ(this->At(pointer("3DSTATE_VIEWPORT_STATE_POINTERS_CC") + i * 8, 2), DwordsOf(depth));
    EXPECT_EQ(this->At(pointer("3DSTATE_SCISSOR_STATE_POINTERS") + i * 8, 2),
              DwordsOf(ScissorOf<TypeParam>(scissors[i], target)));
  }
  BlendPackets<TypeParam> described;
  ASSERT_TRUE(DescribeColorBlend<TypeParam>(blend, {}, described).ok());
  Dwords all(G::BLEND_STATE::dwords_needed(2));
  ASSERT_FALSE(described.blend.pack(
      all.data(), span<const typename G::BLEND_STATE_ENTRY>(described.entries.data(), 2)));
  EXPECT_EQ(this->At(pointer("3DSTATE_BLEND_STATE_POINTERS"), all.size()), all);
  EXPECT_EQ(pointer("3DSTATE_BLEND_STATE_POINTERS") % 64, 0u);
  const Dwords calc = this->At(pointer("3DSTATE_CC_STATE_POINTERS"), 6);
  // PRM, COLOR_CALC_STATE: float references, then red, green, blue and alpha.
  const uint32_t floats[] = {0x3e000000, 0x3e800000, 0x3f000000, 0x3f400000, 0x3f800000};
  EXPECT_EQ(calc, (Dwords{TypeParam::kVersion == 80 ? 3u << 24 | 4u << 16 | 1u : 1u, floats[0],
                          floats[1], floats[2], floats[3], floats[4]}));
  ExpectRefused(SetViewports<TypeParam>({}, target, this->dynamic_, this->batch_, this->state_),
                "0 viewports");
  ExpectRefused(SetScissors<TypeParam>(std::vector<Scissor>(17), target, this->dynamic_,
                                       this->batch_, this->state_),
                "17 scissors");
}

TYPED_TEST(PacketsTest, BuffersOfVertices) {
  using Buffer = typename TypeParam::Packets::VERTEX_BUFFER_STATE;
  const VertexBuffer buffers[] = {{.memory = {0x10000, 1}, .size = 100, .stride = 20}, {}};
  ASSERT_TRUE(SetVertexBuffers<TypeParam>(buffers, 4, this->state_).ok());
  const Dwords dwords = this->Find(this->Flushed(), "3DSTATE_VERTEX_BUFFERS")->dwords;
  ASSERT_EQ(dwords.size(), 9u);
  const Buffer first = Buffer::unpack(&dwords[1]), second = Buffer::unpack(&dwords[5]);
  EXPECT_EQ(first.buffer_starting_address.gpu, 0x10000u);
  EXPECT_EQ(first.buffer_size, 100u);
  EXPECT_EQ(first.buffer_pitch, 20u);
  EXPECT_EQ(first.vertex_buffer_index, 0u);
  EXPECT_FALSE(first.null_vertex_buffer);
  EXPECT_EQ(second.vertex_buffer_index, 1u);
  EXPECT_TRUE(second.null_vertex_buffer);
  ExpectRefused(SetVertexBuffers<TypeParam>(std::vector<VertexBuffer>(34), 4, this->state_),
                "34 vertex buffers");
  const VertexBuffer large[] = {{.memory = {0x10000, 1}, .size = uint64_t{1} << 32}};
  ExpectRefused(SetVertexBuffers<TypeParam>(large, 4, this->state_), "4 GiB");
  ExpectRefused(SetIndexBuffer<TypeParam>({.size = uint64_t{1} << 32}, 4, this->state_), "4 GiB");
  const VertexBuffer sparse[] = {{.memory = {0x10000, 1}, .size = 100, .stride = 2049}};
  ExpectRefused(SetVertexBuffers<TypeParam>(sparse, 4, this->state_), "buffer_pitch");
}

// What each draw may do takes no memory but the stream's.
TYPED_TEST(PacketsTest, DrawsAllocateNothing) {
  const Viewport viewports[] = {{.width = 100, .height = 50}};
  const Scissor scissors[] = {{.width = 10, .height = 10}};
  const BlendTarget targets[] = {BlendTarget::Over()};
  const VertexBuffer buffers[] = {{.memory = {0x10000, 1}, .size = 100, .stride = 20}};
  const ImageSurface depth{
      .memory = {0x10000},
      .format = SurfaceFormat::R32_FLOAT,
      .mocs = 4,
      .width = 64,
      .height = 32,
      .tiling = TypeParam::kVersion >= 125 ? SurfaceTiling::k4 : SurfaceTiling::kY,
      .pitch = 256,
      .qpitch = 32};
  bool good = true;
  const auto set = [&] {
    good &= SetViewports<TypeParam>(viewports, {}, this->dynamic_, this->batch_, this->state_).ok();
    good &= SetScissors<TypeParam>(scissors, {}, this->dynamic_, this->batch_, this->state_).ok();
    good &= SetBlendStates<TypeParam>({.targets = targets}, {}, this->dynamic_, this->batch_,
                                      this->state_)
                .ok();
    good &= SetColorConstants<TypeParam>({}, this->dynamic_, this->batch_, this->state_).ok();
    good &= SetVertexBuffers<TypeParam>(buffers, 4, this->state_).ok();
    good &= SetIndexBuffer<TypeParam>({.size = 6}, 4, this->state_).ok();
    good &= SetDepthTargets<TypeParam>({.depth = &depth, .mocs = 4}, this->state_).ok();
    good &= SetRasterization<TypeParam>({}, {}, this->state_).ok();
    good &= SetDepthStencil<TypeParam>({}, this->state_).ok();
    good &= SetVertexInput<TypeParam>({}, this->state_).ok();
  };
  set();
  const size_t before = Allocations();
  for (int i = 0; i < 10; ++i) set();
  EXPECT_EQ(Allocations(), before);
  EXPECT_TRUE(good);
}

TYPED_TEST(PacketsTest, Stipples) {
  using G = typename TypeParam::Packets;
  ASSERT_TRUE(SetLineStipple<TypeParam>({.pattern = 0xf0f0, .factor = 3}, this->state_).ok());
  std::array<uint32_t, 32> rows;
  for (unsigned i = 0; i < 32; ++i) rows[i] = 0x80000000u >> i;
  ASSERT_TRUE(SetPolygonStipple<TypeParam>(rows, this->state_).ok());
  const std::vector<Met> packets = this->Flushed();
  const Met* const line = this->Find(packets, "3DSTATE_LINE_STIPPLE");
  ASSERT_NE(line, nullptr);
  EXPECT_EQ(line->dwords[1], 0xf0f0u);
  // u1.16 above the count: a third.
  EXPECT_EQ(line->dwords[2], uint32_t{21845} << 15 | 3u);
  const Met* const polygon = this->Find(packets, "3DSTATE_POLY_STIPPLE_PATTERN");
  ASSERT_NE(polygon, nullptr);
  EXPECT_EQ(Dwords(polygon->dwords.begin() + 1, polygon->dwords.end()),
            Dwords(rows.begin(), rows.end()));
  ExpectRefused(SetLineStipple<TypeParam>({.factor = 0}, this->state_), "factor");
  ExpectRefused(SetLineStipple<TypeParam>({.factor = 257}, this->state_), "1 to 256");
  static_cast<void>(sizeof(G));
}

TYPED_TEST(PacketsTest, RasterizationRefusesWhatDoesNotFit) {
  RasterPackets<TypeParam> packets;
  const auto describe = [&](const Rasterization& from) {
    return DescribeRasterization<TypeParam>(from, {}, packets);
  };
  ExpectRefused(describe({.multisample = {.samples = 0}}), "0 samples");
  ExpectRefused(describe({.multisample = {.samples = 6}}), "power of two");
  ExpectRefused(describe({.multisample = {.samples = 32}}), "32 samples");
  EXPECT_EQ(describe({.multisample = {.samples = 16}}).ok(), TypeParam::kVersion > 80);
  ExpectRefused(describe({.viewports = 0}), "0 viewports");
  ExpectRefused(describe({.viewports = 17}), "1 to 16");
  ExpectRefused(describe({.line_width = -1}), "lines of -1");
  ExpectRefused(describe({.line_width = 2048}), "lines of 2048");
  EXPECT_EQ(describe({.line_width = 8}).ok(), TypeParam::kVersion > 80);
  EXPECT_TRUE(describe({.line_width = 8, .cherryview = true}).ok());
  const float nothing = std::numeric_limits<float>::quiet_NaN();
  ExpectRefused(describe({.line_width = nothing}), "lines of nan");
  ExpectRefused(describe({.point_size = 0.1f}), "0.125");
  ExpectRefused(describe({.point_size = 256}), "255.875");
  ExpectRefused(describe({.depth_bias = {.slope = nothing}}), "depth bias");
  if (TypeParam::kVersion == 80) {
    ExpectRefused(describe({.clip_far = false}), "clip_near and clip_far");
    ExpectRefused(describe({.conservative = true}), "Gfx9");
  } else {
    EXPECT_TRUE(describe({.clip_far = false, .conservative = true}).ok());
  }
  SamplePattern pattern = StandardSamplePattern();
  pattern.four[2].y = 16;
  typename TypeParam::Packets::_3DSTATE_SAMPLE_PATTERN samples;
  ExpectRefused(DescribeSamplePattern<TypeParam>(pattern, samples), "sample 2 of 4");
  ExpectRefused(EmitFixedState(this->batch_, pattern), "sample 2 of 4");
  EXPECT_EQ(this->batch_.dwords(), 0u);
  ExpectRefused(TopologyOf<TypeParam>(Topology::kPatchList, 0).status(), "patches of 0");
  ExpectRefused(TopologyOf<TypeParam>(Topology::kPatchList, 33).status(), "1 to 32");
  EXPECT_EQ(static_cast<uint32_t>(*TopologyOf<TypeParam>(Topology::kPatchList, 3)), 34u);
}

TYPED_TEST(PacketsTest, OutputRefusesWhatDoesNotFit) {
  BlendPackets<TypeParam> packets;
  const auto describe = [&](absl::Span<const BlendTarget> targets) {
    return DescribeColorBlend<TypeParam>({.targets = targets}, {.dual_source = true}, packets);
  };
  ExpectRefused(describe(std::vector<BlendTarget>(9)), "9 targets");
  const BlendTarget wide[] = {{}, {.write_mask = 16}};
  ExpectRefused(describe(wide), "target 1: the write mask is 16");
  const BlendTarget two[] = {{.enable = true, .src_color = BlendFactor::kSrc1Color}, {}};
  ExpectRefused(describe(two), "second colour");
  typename TypeParam::Packets::_3DSTATE_WM_DEPTH_STENCIL test;
  const auto depth = [&](const DepthStencil& from) {
    return DescribeDepthStencil<TypeParam>(from, test);
  };
  if (TypeParam::kVersion < 120) {
    ExpectRefused(depth({.bounds_test = true}), "Gfx12");
  } else {
    ExpectRefused(depth({.bounds_test = true, .min_bound = 1, .max_bound = 0.5f}), "1 to 0.5");
    ExpectRefused(
        depth({.bounds_test = true, .min_bound = std::numeric_limits<float>::quiet_NaN()}),
        "bounds nan");
    EXPECT_TRUE(depth({.bounds_test = true}).ok());
  }
  EXPECT_EQ(depth({.front = {.reference = 1}}).ok(), TypeParam::kVersion > 80);
}

TYPED_TEST(PacketsTest, DepthBoundsAreFromGfx12On) {
  if constexpr (requires { typename TypeParam::Packets::_3DSTATE_DEPTH_BOUNDS; }) {
    ASSERT_TRUE(SetDepthStencil<TypeParam>(
                    {.bounds_test = true, .min_bound = 0.25f, .max_bound = 0.5f}, this->state_)
                    .ok());
    const Dwords dwords = this->Find(this->Flushed(), "3DSTATE_DEPTH_BOUNDS")->dwords;
    EXPECT_EQ(dwords[1] & 1, 1u);
    EXPECT_EQ(dwords[2], 0x3e800000u);
    EXPECT_EQ(dwords[3], 0x3f000000u);
  }
}

TYPED_TEST(PacketsTest, DepthTargetsRefuseWhatDoesNotFit) {
  constexpr unsigned kVersion = TypeParam::kVersion;
  constexpr SurfaceTiling kTiling = kVersion >= 125 ? SurfaceTiling::k4 : SurfaceTiling::kY;
  const ImageSurface depth{.memory = {0x10000},
                           .format = SurfaceFormat::R16_UNORM,
                           .mocs = 4,
                           .width = 64,
                           .height = 32,
                           .layers = 4,
                           .tiling = kTiling,
                           .pitch = 128,
                           .qpitch = 32};
  ImageSurface stencil = depth;
  stencil.format = SurfaceFormat::R8_UINT;
  stencil.tiling = kVersion >= 120 ? kTiling : SurfaceTiling::kW;
  DepthPackets<TypeParam> packets;
  const auto describe = [&](const ImageSurface* d, const ImageSurface* s,
                            const HierarchicalDepth& h = {}) {
    return DescribeDepthTargets<TypeParam>({.depth = d, .stencil = s, .hierarchical = h, .mocs = 4},
                                           packets = {});
  };
  EXPECT_TRUE(describe(&depth, &stencil).ok()) << describe(&depth, &stencil);
  EXPECT_EQ(packets.depth.surface_format,
            uint32_t{decltype(packets.depth)::SURFACE_FORMAT_D16_UNORM});
  EXPECT_EQ(packets.depth.depth, 3u);
  EXPECT_EQ(packets.depth.render_target_view_extent, 3u);
  const auto with = [&](auto change, bool of_stencil = false) {
    ImageSurface changed = of_stencil ? stencil : depth;
    change(changed);
    return of_stencil ? describe(nullptr, &changed) : describe(&changed, nullptr);
  };
  ExpectRefused(with([](ImageSurface& i) { i.format = SurfaceFormat::R8_UINT; }), "depth buffer");
  ExpectRefused(with([](ImageSurface& i) { i.format = SurfaceFormat::R16_UNORM; }, true),
                "stencil R8_UINT");
  ExpectRefused(with([](ImageSurface& i) { i.tiling = SurfaceTiling::kLinear; }), "linear");
  ExpectRefused(with([](ImageSurface& i) { i.tiling = SurfaceTiling::kX; }, true), "tiling X");
  ExpectRefused(with([&](ImageSurface& i) {
                  i.tiling = kVersion >= 125 ? SurfaceTiling::kY : SurfaceTiling::k4;
                }),
                "tiling");
  EXPECT_EQ(with([](ImageSurface& i) { i.shape = SurfaceShape::k3D; }).ok(), kVersion == 80);
  ExpectRefused(with([](ImageSurface& i) { i.layers = 0; }), "0 layers");
  ExpectRefused(with([](ImageSurface& i) { i.first_layer = 2045; }), "below 2048");
  ExpectRefused(with([](ImageSurface& i) { i.width = 0; }), "width of depth");
  ExpectRefused(with([](ImageSurface& i) { i.height = 0; }), "height of depth");
  ExpectRefused(with([](ImageSurface& i) { i.pitch = 0; }), "pitch of depth");
  ExpectRefused(with([](ImageSurface& i) { i.memory = {}; }), "address of depth");
  ExpectRefused(with([](ImageSurface& i) { i.qpitch = 30; }), "multiple of 4");
  ExpectRefused(with([](ImageSurface& i) { i.auxiliary.mode = AuxiliaryMode::kMcs; }),
                "compressed depth");
  EXPECT_EQ(with([](ImageSurface& i) { i.auxiliary.mode = AuxiliaryMode::kCcsE; }).ok(),
            kVersion >= 120);
  EXPECT_EQ(with([](ImageSurface& i) { i.auxiliary.mode = AuxiliaryMode::kCcsE; }, true).ok(),
            kVersion >= 120);
  ImageSurface other = stencil;
  other.width = 65;
  ExpectRefused(describe(&depth, &other), "64 x 32 pixels with stencil of 65 x 32");
  const HierarchicalDepth blocks{.memory = {0x20000}, .pitch = 128, .qpitch = 16};
  EXPECT_TRUE(describe(&depth, nullptr, blocks).ok());
  ExpectRefused(describe(nullptr, nullptr, blocks), "without a depth buffer");
  HierarchicalDepth odd = blocks;
  odd.qpitch = 2;
  ExpectRefused(describe(&depth, nullptr, odd), "qpitch of hierarchical depth");
  odd.pitch = 0;
  ExpectRefused(describe(&depth, nullptr, odd), "pitch of hierarchical depth");
  // A state takes all of it or says why not.
  ASSERT_TRUE(SetDepthTargets<TypeParam>({.depth = &depth,
                                          .stencil = &stencil,
                                          .hierarchical = blocks,
                                          .clear_depth = 1,
                                          .mocs = 4},
                                         this->state_)
                  .ok());
  const std::vector<Met> flushed = this->Flushed();
  for (const char* name :
       {"3DSTATE_DEPTH_BUFFER", "3DSTATE_STENCIL_BUFFER", "3DSTATE_HIER_DEPTH_BUFFER"}) {
    EXPECT_NE(this->Find(flushed, name), nullptr) << name;
  }
  const Met* const clear = this->Find(flushed, "3DSTATE_CLEAR_PARAMS");
  ASSERT_EQ(clear != nullptr, kVersion < 200);
  if (clear != nullptr) {
    EXPECT_EQ(clear->dwords[1], 0x3f800000u);
  }
}

TYPED_TEST(PacketsTest, DepthOperationsEndThemselves) {
  using Operation = typename TypeParam::Packets::_3DSTATE_WM_HZ_OP;
  const absl::Status status = EmitDepthOperation<TypeParam>(
      {.operation = DepthOperation::kResolveDepth, .samples = 4, .width = 64, .height = 32},
      {0x2000, 7}, this->batch_);
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_TRUE(this->batch_.End().ok());
  const auto decoded = World()
                           .Put(this->chunks_.chunks())
                           .Decode(TypeParam::kName, this->batch_.parts()[0].chunk.gpu);
  ASSERT_GE(decoded.packets.size(), 3u);
  EXPECT_EQ(decoded.packets[0].name, "3DSTATE_WM_HZ_OP");
  const Operation operation = Operation::unpack(decoded.packets[0].dwords.data());
  EXPECT_TRUE(operation.depth_buffer_resolve_enable);
  EXPECT_FALSE(operation.depth_buffer_clear_enable);
  EXPECT_FALSE(operation.full_surface_depth_and_stencil_clear);
  EXPECT_EQ(operation.number_of_multisamples, 2u);
  EXPECT_EQ(operation.clear_rectangle_x_max, 64u);
  EXPECT_EQ(decoded.packets[1].name, "PIPE_CONTROL");
  EXPECT_EQ(decoded.packets[2].name, "3DSTATE_WM_HZ_OP");
  EXPECT_EQ(decoded.packets[2].dwords, DwordsOf(Operation()));
  typename TypeParam::Packets::_3DSTATE_WM_HZ_OP clear;
  ASSERT_TRUE(DescribeDepthOperation<TypeParam>({.clear_stencil = true,
                                                 .stencil_value = 9,
                                                 .x = 8,
                                                 .width = 8,
                                                 .height = 4,
                                                 .level_width = 32,
                                                 .level_height = 32},
                                                clear)
                  .ok());
  EXPECT_TRUE(clear.stencil_buffer_clear_enable);
  EXPECT_EQ(clear.stencil_clear_value, 9u);
  EXPECT_FALSE(clear.full_surface_depth_and_stencil_clear);
  ExpectRefused(EmitDepthOperation<TypeParam>({}, {0x2000, 7}, this->batch_), "neither");
}

}  // namespace
}  // namespace packsmith::intel
