// What iris (and, on Gfx8, hasvk) submitted for known inputs of an API, and what these functions
// make of the same inputs. The program of the captures draws with depth, stencil, scissors, depth
// bias, blending, strips, fans, loops and points: //tests/data/README.md.

#include <optional>
#include <set>
#include <string>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "runtime/command/chunks.h"
#include "runtime/intel/pipeline/depth_packets.h"
#include "runtime/intel/pipeline/output_packets.h"
#include "runtime/intel/pipeline/raster_packets.h"
#include "runtime/intel/pipeline/vertex_packets.h"
#include "runtime/intel/pipeline/viewport_packets.h"
#include "tests/intel/batch/built.h"
#include "tests/intel/batch/tested.h"
#include "tests/intel/pipeline/capture.h"
#include "tests/intel/pipeline/packed.h"

namespace packsmith::intel {
namespace {

template <class Gen>
class CapturesTest : public testing::Test {
 protected:
  using G = typename Gen::Packets;

  // hasvk's capture of Gfx8 has only what clears and copies need; of Xe2 and Xe3 there is none.
  static bool HasDraws() { return Gen::kVersion >= 90 && Gen::kVersion <= 125; }
  // From Gfx12 on iris emits 3DSTATE_WM_DEPTH_STENCIL twice, each time with half of it masked off.
  static bool HasWholeStencil() { return Gen::kVersion >= 90 && Gen::kVersion < 120; }

  static bool Has(const char* name, const Dwords& dwords) {
    const Captured& captured = CaptureOf(Gen::kName);
    const auto found = captured.find(name);
    return found != captured.end() && found->second.count(dwords) != 0;
  }
  // The driver submitted this packet.
  template <class P>
  void ExpectCaptured(const char* name, const P& packet) {
    EXPECT_TRUE(Has(name, DwordsOf(packet))) << name << ": the driver's differ\n"
                                             << Differing(name, DwordsOf(packet));
  }
  // The dwords that differ from those of the driver's packets.
  static std::string Differing(const char* name, const Dwords& ours) {
    std::string text;
    const Captured& captured = CaptureOf(Gen::kName);
    const auto found = captured.find(name);
    if (found == captured.end()) return "it has none";
    for (const Dwords& theirs : found->second) {
      for (size_t i = 0; i < theirs.size() && i < ours.size(); ++i) {
        if (theirs[i] != ours[i])
          text += absl::StrFormat(" [%d] %08x, ours %08x;", i, theirs[i], ours[i]);
      }
      text += "\n";
    }
    return text;
  }
  // What the program's rasterization has in common: OpenGL's conventions.
  static Rasterization OpenGl() {
    return {.front_face = FrontFace::kClockwise,
            .provoking_vertex = ProvokingVertex::kLast,
            .depth_range = DepthRange::kMinusOneToOne,
            .clip_distances = {.clip_forced = true},
            .scissor = false};
  }
  static RasterPackets<Gen> Rasterized(const Rasterization& from) {
    RasterPackets<Gen> packets;
    const absl::Status status =
        DescribeRasterization<Gen>(from, {.barycentric = kPerspectivePixel}, packets);
    EXPECT_TRUE(status.ok()) << status;
    return packets;
  }
};
TYPED_TEST_SUITE(CapturesTest, Generations);

TYPED_TEST(CapturesTest, VertexElementsAreTheDrivers) {
  using G = typename TypeParam::Packets;
  if (!this->HasDraws()) GTEST_SKIP() << "no capture of draws";
  const VertexAttribute attributes[] = {{.format = SurfaceFormat::R32G32B32_FLOAT},
                                        {.format = SurfaceFormat::R32G32_FLOAT, .offset = 12}};
  const auto plan = PlanVertexInput({.attributes = attributes}, {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->count, 2u);
  const typename G::VERTEX_ELEMENT_STATE elements[] = {ElementOf<G>(plan->elements[0]),
                                                       ElementOf<G>(plan->elements[1])};
  using Elements = typename G::_3DSTATE_VERTEX_ELEMENTS;
  Dwords dwords(Elements::dwords_needed(2));
  ASSERT_FALSE(Elements().pack(dwords.data(), elements));
  EXPECT_TRUE(this->Has("3DSTATE_VERTEX_ELEMENTS", dwords));
}

// Clears and copies of Mesa fetch a position from one buffer, and flat values from another one,
// whose stride is 0.
TYPED_TEST(CapturesTest, VertexElementsOfClearsAreTheDrivers) {
  using G = typename TypeParam::Packets;
  const Captured& captured = CaptureOf(TypeParam::kName);
  if (captured.empty()) GTEST_SKIP() << "no capture";
  const VertexAttribute attributes[] = {
      {.format = SurfaceFormat::R32G32B32_FLOAT, .buffer = 0},
      {.format = SurfaceFormat::R32G32B32A32_FLOAT, .buffer = 1, .offset = 16},
      {.format = SurfaceFormat::R32G32B32A32_FLOAT, .buffer = 1, .offset = 32}};
  const auto plan = PlanVertexInput({.attributes = attributes}, {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  constexpr size_t kFirst = 3;  // after the header and the element of ids
  bool found = false;
  for (const Dwords& packet : captured.at("3DSTATE_VERTEX_ELEMENTS")) {
    if (packet.size() != kFirst + 3 * 2) continue;
    found = true;
    for (unsigned i = 0; i < 3; ++i) {
      const Dwords ours = DwordsOf(ElementOf<G>(plan->elements[i]));
      EXPECT_EQ(packet[kFirst + i * 2], ours[0]) << i;
      EXPECT_EQ(packet[kFirst + i * 2 + 1], ours[1]) << i;
    }
  }
  EXPECT_TRUE(found);
}

TYPED_TEST(CapturesTest, FetchIsTheDrivers) {
  using G = typename TypeParam::Packets;
  if (!this->HasDraws()) GTEST_SKIP() << "no capture of draws";
  PipelineState<TypeParam> pipeline;
  std::set<Dwords> topologies;
  for (Topology topology :
       {Topology::kTriangleStrip, Topology::kTriangleList, Topology::kLineLoop,
        Topology::kPointList, Topology::kTriangleFan, Topology::kRectangleList}) {
    const auto type = TopologyOf<TypeParam>(topology);
    ASSERT_TRUE(type.ok());
    topologies.insert(DwordsOf(typename G::_3DSTATE_VF_TOPOLOGY{.primitive_topology_type = *type}));
  }
  EXPECT_EQ(topologies, CaptureOf(TypeParam::kName).at("3DSTATE_VF_TOPOLOGY"));
  // The rest, as a draw state emits it.
  gpu::HostChunks chunks;
  Batch<TypeParam> batch(chunks);
  DrawState<TypeParam> state(address(0x1000, 1));
  state.InheritAll();
  const VertexAttribute attributes[] = {{.format = SurfaceFormat::R32G32B32_FLOAT},
                                        {.format = SurfaceFormat::R32G32_FLOAT, .offset = 12}};
  const auto plan = SetVertexInput({.attributes = attributes}, state);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_TRUE(state.Flush(batch)) << state.status();
  ASSERT_TRUE(batch.End().ok());
  size_t compared = 0;
  const auto decoded =
      World().Put(chunks.chunks()).Decode(TypeParam::kName, batch.parts()[0].chunk.gpu);
  for (const Met& met : decoded.packets) {
    if (met.name.rfind("3DSTATE_VF", 0) != 0 || met.name == "3DSTATE_VF_COMPONENT_PACKING" ||
        met.name == "3DSTATE_VF_SGVS_2") {
      continue;  // iris has no use for these
    }
    EXPECT_TRUE(this->Has(met.name.c_str(), met.dwords))
        << met.name << this->Differing(met.name.c_str(), met.dwords);
    ++compared;
  }
  EXPECT_GE(compared, 6u);
}

TYPED_TEST(CapturesTest, RasterizationIsTheDrivers) {
  if (!this->HasDraws()) GTEST_SKIP() << "no capture of draws";
  Rasterization culled = this->OpenGl(), biased = this->OpenGl(), both = this->OpenGl();
  culled.scissor = both.scissor = true;
  culled.cull = CullMode::kBack;
  // glPolygonOffset(1.5, 2): iris doubles the units.
  biased.depth_bias = both.depth_bias = {.fill = true, .constant = 4, .slope = 1.5f};
  for (const Rasterization& each : {this->OpenGl(), culled, biased, both}) {
    auto packets = this->Rasterized(each);
    // The description's default, that of later drivers, is 64 x 64 pixels; iris of 2022 has 16
    // x 16.
    if constexpr (requires { packets.wm.walking_granularity; }) {
      packets.wm.walking_granularity = 0;
    }
    this->ExpectCaptured("3DSTATE_RASTER", packets.raster);
    this->ExpectCaptured("3DSTATE_CLIP", packets.clip);
    this->ExpectCaptured("3DSTATE_SF", packets.sf);
    this->ExpectCaptured("3DSTATE_WM", packets.wm);
    this->ExpectCaptured("3DSTATE_MULTISAMPLE", packets.multisample);
  }
  // All that the program's draws used is above: the other packets are those of clears.
  EXPECT_EQ(CaptureOf(TypeParam::kName).at("3DSTATE_RASTER").size(), 4u + 1u);
  Rasterization points = this->OpenGl();
  points.primitive = RasterPrimitive::kPoints;
  this->ExpectCaptured("3DSTATE_CLIP", this->Rasterized(points).clip);
  EXPECT_EQ(CaptureOf(TypeParam::kName).at("3DSTATE_CLIP").size(), 2u + 1u);
}

// Clears draw with one sample.
TYPED_TEST(CapturesTest, SamplesOfClearsAreTheDrivers) {
  if (CaptureOf(TypeParam::kName).empty()) GTEST_SKIP() << "no capture";
  const auto packets = this->Rasterized({});
  this->ExpectCaptured("3DSTATE_SAMPLE_MASK", packets.sample_mask);
  this->ExpectCaptured("3DSTATE_MULTISAMPLE", packets.multisample);
}

TYPED_TEST(CapturesTest, FixedStateIsTheDrivers) {
  using G = typename TypeParam::Packets;
  if (!this->HasDraws()) GTEST_SKIP() << "no capture of a context's beginning";
  gpu::HostChunks chunks;
  Batch<TypeParam> batch(chunks);
  ASSERT_TRUE(EmitFixedState(batch).ok());
  ASSERT_TRUE(batch.End().ok());
  const auto decoded =
      World().Put(chunks.chunks()).Decode(TypeParam::kName, batch.parts()[0].chunk.gpu);
  for (const Met& met : decoded.packets) {
    if (met.name == "MI_BATCH_BUFFER_END") continue;
    EXPECT_TRUE(this->Has(met.name.c_str(), met.dwords))
        << met.name << this->Differing(met.name.c_str(), met.dwords);
  }
  EXPECT_GE(decoded.packets.size(), 6u);
  static_cast<void>(sizeof(G));
}

TYPED_TEST(CapturesTest, BlendingIsTheDrivers) {
  using G = typename TypeParam::Packets;
  if (!this->HasDraws()) GTEST_SKIP() << "no capture of draws";
  BlendTarget masked = BlendTarget::Over();
  masked.write_mask = kRed | kBlue;
  for (const BlendTarget& target : {BlendTarget(), BlendTarget::Over(), masked}) {
    BlendPackets<TypeParam> packets;
    const absl::Status status = DescribeColorBlend<TypeParam>(
        {.targets = {&target, 1}, .dither = true, .alpha_compare = Compare::kNever}, {}, packets);
    ASSERT_TRUE(status.ok()) << status;
    this->ExpectCaptured("3DSTATE_PS_BLEND", packets.ps_blend);
    // iris does not write the entries that it does not use.
    Dwords ours(G::BLEND_STATE::dwords_needed(1));
    ASSERT_FALSE(packets.blend.pack(
        ours.data(), span<const typename G::BLEND_STATE_ENTRY>(packets.entries.data(), 1)));
    bool found = false;
    for (const Dwords& theirs : CaptureOf(TypeParam::kName).at("BLEND_STATE")) {
      found |= Dwords(theirs.begin(), theirs.begin() + static_cast<ptrdiff_t>(ours.size())) == ours;
    }
    EXPECT_TRUE(found);
  }
  EXPECT_EQ(CaptureOf(TypeParam::kName).at("3DSTATE_PS_BLEND").size(), 2u);
}

TYPED_TEST(CapturesTest, DepthAndStencilTestsAreTheDrivers) {
  using G = typename TypeParam::Packets;
  const StencilFace never{
      .compare = Compare::kNever, .compare_mask = 0, .write_mask = 0, .reference = 0};
  const StencilFace face{.depth_fail = StencilOp::kIncrementAndClamp,
                         .pass = StencilOp::kReplace,
                         .compare = Compare::kLessEqual,
                         .compare_mask = 0x7f,
                         .write_mask = 0xff,
                         .reference = 5};
  const DepthStencil depth{.depth_test = true,
                           .depth_write = true,
                           .depth_compare = Compare::kLess,
                           .front = never,
                           .back = never};
  DepthStencil stencil = depth;
  stencil.stencil_test = true;
  stencil.front = stencil.back = face;
  const auto packed = [](const DepthStencil& from) {
    typename G::_3DSTATE_WM_DEPTH_STENCIL packet;
    const absl::Status status = DescribeDepthStencil<TypeParam>(from, packet);
    EXPECT_TRUE(status.ok()) << status;
    return packet;
  };
  // iris tests one side if OpenGL's program asks for one; here back faces always have their own
  // state, which may change later.
  const auto as_iris = [&](const DepthStencil& from) {
    auto packet = packed(from);
    EXPECT_EQ(packet.double_sided_stencil_enable, from.stencil_test);
    packet.double_sided_stencil_enable = false;
    return packet;
  };
  if (this->HasWholeStencil()) {
    this->ExpectCaptured("3DSTATE_WM_DEPTH_STENCIL", as_iris(depth));
    this->ExpectCaptured("3DSTATE_WM_DEPTH_STENCIL", as_iris(stencil));
  } else if (this->HasDraws()) {
    // The first of two packets leaves the references, the second one sets nothing else.
    if constexpr (requires(typename G::_3DSTATE_WM_DEPTH_STENCIL p) {
                    p.stencil_reference_value_modify_disable;
                  }) {
      for (const DepthStencil& from : {depth, stencil}) {
        auto first = as_iris(from);
        first.stencil_reference_value_modify_disable = true;
        first.stencil_reference_value = first.backface_stencil_reference_value = 0;
        this->ExpectCaptured("3DSTATE_WM_DEPTH_STENCIL", first);
      }
      typename G::_3DSTATE_WM_DEPTH_STENCIL second{.stencil_test_mask_modify_disable = true,
                                                   .stencil_write_mask_modify_disable = true,
                                                   .stencil_state_modify_disable = true,
                                                   .depth_state_modify_disable = true};
      second.stencil_reference_value = packed(stencil).stencil_reference_value;
      second.backface_stencil_reference_value = packed(stencil).backface_stencil_reference_value;
      this->ExpectCaptured("3DSTATE_WM_DEPTH_STENCIL", second);
    }
  }
  // Clears test nothing.
  if (!CaptureOf(TypeParam::kName).empty()) {
    const StencilFace off{.compare_mask = 0, .write_mask = 0};
    this->ExpectCaptured("3DSTATE_WM_DEPTH_STENCIL", packed({.front = off, .back = off}));
  }
}

TYPED_TEST(CapturesTest, ViewportsAndScissorsAreTheDrivers) {
  using G = typename TypeParam::Packets;
  const Captured& captured = CaptureOf(TypeParam::kName);
  if (captured.empty()) GTEST_SKIP() << "no capture";
  const ViewportTarget target{
      .width = 256, .height = 128, .depth_range = DepthRange::kMinusOneToOne};
  typename G::SF_CLIP_VIEWPORT clip;
  typename G::CC_VIEWPORT depth;
  ASSERT_TRUE(DescribeViewport<TypeParam>({.width = 256, .height = 128}, target, clip, depth).ok());
  this->ExpectCaptured("CC_VIEWPORT", depth);
  if (!this->HasDraws()) return;
  this->ExpectCaptured("SF_CLIP_VIEWPORT", clip);
  EXPECT_EQ(captured.at("SF_CLIP_VIEWPORT").size(), 1u);
  std::set<Dwords> scissors;
  for (const Scissor& scissor : {Scissor(), Scissor{.x = 5, .y = 6, .width = 70, .height = 80}}) {
    scissors.insert(DwordsOf(ScissorOf<TypeParam>(scissor, target)));
  }
  EXPECT_EQ(scissors, captured.at("SCISSOR_RECT"));
}

// Drivers write addresses of 48 bits with copies of their highest bit above them.
address Canonical(const address& a) {
  return {static_cast<uint64_t>(static_cast<int64_t>(a.gpu << 16) >> 16)};
}

// The values of a captured member, to state what the driver had: addresses and caching.
template <class P>
std::optional<P> Find(const Captured& captured, const char* name, bool (*is)(const P&)) {
  for (const Dwords& dwords : captured.at(name)) {
    if (dwords.size() == P::length && is(P::unpack(dwords.data()))) return P::unpack(dwords.data());
  }
  return std::nullopt;
}

TYPED_TEST(CapturesTest, DepthTargetsAreTheDrivers) {
  using G = typename TypeParam::Packets;
  const Captured& captured = CaptureOf(TypeParam::kName);
  if (captured.empty()) GTEST_SKIP() << "no capture";
  using Depth = typename G::_3DSTATE_DEPTH_BUFFER;
  using Stencil = typename G::_3DSTATE_STENCIL_BUFFER;
  using Hierarchical = typename G::_3DSTATE_HIER_DEPTH_BUFFER;
  const auto nothing = Find<Depth>(captured, "3DSTATE_DEPTH_BUFFER", [](const Depth& p) {
    return p.surface_type == Depth::SURFACE_TYPE_SURFTYPE_NULL;
  });
  ASSERT_TRUE(nothing.has_value());
  DepthPackets<TypeParam> packets;
  ASSERT_TRUE(DescribeDepthTargets<TypeParam>({.mocs = nothing->mocs}, packets).ok());
  this->ExpectCaptured("3DSTATE_DEPTH_BUFFER", packets.depth);
  this->ExpectCaptured("3DSTATE_STENCIL_BUFFER", packets.stencil);
  this->ExpectCaptured("3DSTATE_HIER_DEPTH_BUFFER", packets.hierarchical);
  if (!this->HasDraws()) return;

  // The program's: 256 x 128 pixels of 24 bits with 8 of stencil.
  for (const Dwords& dwords : captured.at("3DSTATE_DEPTH_BUFFER")) {
    const Depth theirs = Depth::unpack(dwords.data());
    if (theirs.surface_base_address.gpu == 0) continue;
    ImageSurface depth{.memory = Canonical(theirs.surface_base_address),
                       .format = SurfaceFormat::R24_UNORM_X8_TYPELESS,
                       .mocs = theirs.mocs,
                       .width = 256,
                       .height = 128,
                       .tiling = TypeParam::kVersion >= 125 ? SurfaceTiling::k4 : SurfaceTiling::kY,
                       .pitch = 1024,
                       .qpitch = 128};
    bool with_stencil = false;
    if constexpr (requires { theirs.stencil_write_enable; }) {
      with_stencil = theirs.stencil_write_enable;
    } else {
      // Lossless compression, as in the manual's table of formats for Gfx12.5: 17.
      depth.auxiliary = {.mode = AuxiliaryMode::kCcsE, .compression_format = 17};
    }
    const ImageSurface stencil{.memory = {0x1000},
                               .format = SurfaceFormat::R8_UINT,
                               .mocs = theirs.mocs,
                               .width = 256,
                               .height = 128,
                               .tiling = TypeParam::kVersion >= 125   ? SurfaceTiling::k4
                                         : TypeParam::kVersion >= 120 ? SurfaceTiling::kY
                                                                      : SurfaceTiling::kW,
                               .pitch = 512,
                               .qpitch = 128};
    const auto status = DescribeDepthTargets<TypeParam>(
        {.depth = &depth,
         .stencil = with_stencil ? &stencil : nullptr,
         .hierarchical = {.memory = {0x2000}, .pitch = 256, .qpitch = 128},
         .mocs = theirs.mocs},
        packets = {});
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(DwordsOf(packets.depth), dwords);
  }
  for (const Dwords& dwords : captured.at("3DSTATE_STENCIL_BUFFER")) {
    const Stencil theirs = Stencil::unpack(dwords.data());
    if (theirs.surface_base_address.gpu == 0) continue;
    // Of W, twice the distance of rows, 256 bytes; compressed, iris aligns it to 512 bytes.
    ImageSurface stencil{.memory = Canonical(theirs.surface_base_address),
                         .format = SurfaceFormat::R8_UINT,
                         .mocs = theirs.mocs,
                         .width = 256,
                         .height = 128,
                         .tiling = SurfaceTiling::kW,
                         .pitch = 512,
                         .qpitch = 128};
    if (TypeParam::kVersion >= 120) {
      stencil.tiling = TypeParam::kVersion >= 125 ? SurfaceTiling::k4 : SurfaceTiling::kY;
      stencil.auxiliary = {.mode = AuxiliaryMode::kCcsE, .compression_format = 24};
    }
    const auto status =
        DescribeDepthTargets<TypeParam>({.stencil = &stencil, .mocs = theirs.mocs}, packets = {});
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(DwordsOf(packets.stencil), dwords);
    // From Gfx12 on the stencil packet has its own size, and there is no depth.
    EXPECT_EQ(packets.depth.surface_type, TypeParam::kVersion >= 120
                                              ? Depth::SURFACE_TYPE_SURFTYPE_NULL
                                              : Depth::SURFACE_TYPE_SURFTYPE_2D);
  }
  for (const Dwords& dwords : captured.at("3DSTATE_HIER_DEPTH_BUFFER")) {
    const Hierarchical theirs = Hierarchical::unpack(dwords.data());
    if (theirs.surface_base_address.gpu == 0) continue;
    const ImageSurface depth{
        .memory = {0x3000},
        .format = SurfaceFormat::R24_UNORM_X8_TYPELESS,
        .mocs = theirs.mocs,
        .width = 256,
        .height = 128,
        .tiling = TypeParam::kVersion >= 125 ? SurfaceTiling::k4 : SurfaceTiling::kY,
        .pitch = 1024,
        .qpitch = 128};
    const auto status = DescribeDepthTargets<TypeParam>(
        {.depth = &depth,
         .hierarchical = {.memory = Canonical(theirs.surface_base_address),
                          .pitch = 256,
                          .qpitch = 128}},
        packets = {});
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(DwordsOf(packets.hierarchical), dwords);
  }
}

TYPED_TEST(CapturesTest, DepthClearsAreTheDrivers) {
  using G = typename TypeParam::Packets;
  if (!this->HasDraws()) GTEST_SKIP() << "no capture of a depth clear";
  typename G::_3DSTATE_WM_HZ_OP operation;
  const absl::Status status = DescribeDepthOperation<TypeParam>(
      {.clear_depth = true, .width = 256, .height = 128}, operation);
  ASSERT_TRUE(status.ok()) << status;
  this->ExpectCaptured("3DSTATE_WM_HZ_OP", operation);
}

TYPED_TEST(CapturesTest, IndexBuffersAreTheDrivers) {
  using Packet = typename TypeParam::Packets::_3DSTATE_INDEX_BUFFER;
  if (!this->HasDraws()) GTEST_SKIP() << "no capture of draws";
  const Captured& captured = CaptureOf(TypeParam::kName);
  const Dwords& theirs = *captured.at("3DSTATE_INDEX_BUFFER").begin();
  const Packet values = Packet::unpack(theirs.data());
  gpu::HostChunks chunks;
  Batch<TypeParam> batch(chunks);
  DrawState<TypeParam> state(address(0x1000, 1));
  state.InheritAll();
  const absl::Status status = SetIndexBuffer(
      {.memory = Canonical(values.buffer_starting_address), .size = 22, .type = IndexType::kUint16},
      values.mocs, state);
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_TRUE(state.Flush(batch)) << state.status();
  ASSERT_TRUE(batch.End().ok());
  const auto decoded =
      World().Put(chunks.chunks()).Decode(TypeParam::kName, batch.parts()[0].chunk.gpu);
  ASSERT_FALSE(decoded.packets.empty());
  EXPECT_EQ(decoded.packets[0].dwords, theirs);
}

}  // namespace
}  // namespace packsmith::intel
