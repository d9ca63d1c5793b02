// The packets of shader stages, compared with tables of bits, and what they refuse.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/intel/device/render_devices.h"
#include "runtime/intel/pipeline/payload_packets.h"
#include "runtime/intel/pipeline/stage_packets.h"
#include "tests/intel/batch/tested.h"
#include "tests/intel/pipeline/bit_table.h"
#include "tests/intel/pipeline/packed.h"

namespace packsmith::intel {
namespace {

using testing::AllOf;
using testing::HasSubstr;

RenderDevice DeviceOf(unsigned version) {
  for (const RenderDevice& device : RenderDevices()) {
    if (device.version == version) return device;
  }
  return *FindRenderDevice("xe2");  // there is none of Xe3
}

template <class Gen>
class StagesTest : public testing::Test {
 protected:
  static constexpr unsigned kVersion = Gen::kVersion;
  static constexpr bool kSurfaces = kVersion >= 125;
  static constexpr bool kWide = kVersion >= 200;  // SIMD16
  static constexpr bool kBlocks = kVersion >= 300;
  // Samplers are not prefetched on Gfx11.
  static constexpr unsigned kSamplers = kVersion == 110 ? 0 : 2;

  const RenderDevice device_ = DeviceOf(kVersion);

  // With all that programs of any stage have.
  static ShaderProgram Program() {
    return {.registers = kBlocks ? 96u : 0u,
            .binding_table_entries = 7,
            .samplers = 5,
            .scratch = {.bytes_per_thread = 5000, .place = {0x12345400, 3}, .surface = 0x40c0},
            .vector_mask = true,
            .alternate_float = true,
            .writes_memory = true};
  }
  // Scratch: 8 KiB is 1 KiB shifted left by 3.
  static BitField ScratchSize(unsigned first) {
    return kSurfaces ? BitField{} : BitField{first, first + 3, 3};
  }
  static BitField ScratchPlace(unsigned first) {
    if (kSurfaces) return {first + 10, first + 31, 0x40c0, kWide ? 6u : 4u};
    return {first + 10, first + 63, 0x12345400, 10};
  }
  // 96 registers are three blocks.
  static BitField Registers(unsigned first) {
    return kBlocks ? BitField{first, first + 5, 2} : BitField{};
  }
  template <class T>
  static void ExpectBits(const absl::StatusOr<T>& packet, const Dwords& expected) {
    ASSERT_TRUE(packet.ok()) << packet.status();
    EXPECT_EQ(DwordsOf(*packet), expected);
  }
  template <class T>
  static void ExpectError(const absl::StatusOr<T>& packet, const std::string& text) {
    ASSERT_FALSE(packet.ok());
    EXPECT_THAT(packet.status().message(), HasSubstr(text));
  }
};
TYPED_TEST_SUITE(StagesTest, Generations);

TYPED_TEST(StagesTest, VertexShadersAreTheirBits) {
  const VertexShader shader{.program = this->Program(),
                            .entry = {.offset = 0x12340, .start_register = 5},
                            .urb_read_offset = 1,
                            .urb_read_length = 9,
                            .distances = {.clip = 0x0f, .cull = 0x30},
                            .cached = false};
  const unsigned threads = this->kVersion >= 110 ? 246 : 247;
  this->ExpectBits(VertexShaderPacket<TypeParam>(&shader, this->device_),
                   FromBits(9, 0x10,
                            {{38, 95, 0x12340, 6},
                             this->Registers(96),
                             {108, 108, 1},
                             {112, 112, 1},
                             {114, 121, 7},
                             {123, 125, this->kSamplers},
                             {126, 126, 1},
                             this->ScratchSize(128),
                             this->ScratchPlace(128),
                             {196, 201, 1},
                             {203, 208, 9},
                             {212, 216, 5},
                             {224, 224, 1},
                             {225, 225, 1},
                             {226, 226, !this->kWide},
                             {234, 234, 1},
                             {threads, 255, this->device_.threads.vertex - 1},
                             {256, 263, 0x30},
                             {264, 271, 0x0f}}));
}

TYPED_TEST(StagesTest, TessControlShadersAreTheirBits) {
  const bool lanes = this->kVersion >= 90;
  const TessControlShader shader{
      .program = this->Program(),
      .entry = {.offset = 0x240, .start_register = lanes ? 37u : 21u},
      .dispatch = lanes ? HullDispatch::kPatchPerLane : HullDispatch::kSinglePatch,
      .instances = 3,
      .urb_read_offset = 2,
      .urb_read_length = 4,
      .primitive_id = lanes,
      .patch_count_threshold = this->kVersion >= 120 ? 5u : 0u};
  const unsigned threshold = this->kWide ? 32 : 225;
  this->ExpectBits(TessControlPacket<TypeParam>(&shader, this->device_),
                   FromBits(this->kWide ? 8 : 9, 0x1b,
                            {{threshold, threshold + 2, shader.patch_count_threshold},
                             this->Registers(36),
                             {48, 48, 1},
                             {50, 57, 7},
                             {59, 61, this->kSamplers},
                             {64, 67, 2},
                             {72, 80, this->device_.threads.hull - 1},
                             {93, 93, 1},
                             {95, 95, 1},
                             {102, 159, 0x240, 6},
                             this->ScratchSize(160),
                             this->ScratchPlace(160),
                             {224, 224, lanes},
                             {228, 233, 2},
                             {235, 240, 4},
                             {241, 242, lanes && !this->kWide ? 2u : 0u},
                             {243, 247, lanes ? 5u : 21u},
                             {248, 248, 1},
                             {249, 249, 1},
                             {250, 250, 1},
                             {252, 252, lanes}}));
}

TYPED_TEST(StagesTest, TessellatorsAreTheirBits) {
  const Tessellator tessellator{.domain = TessDomain::kQuad,
                                .spacing = TessSpacing::kFractionalEven,
                                .output = TessOutput::kTriangleClockwise};
  const bool spread = this->kVersion >= 125;
  // 63.0 and 64.0.
  const Dwords expected = FromBits(this->kWide ? 5 : 4, 0x1c,
                                   {{32, 32, 1},
                                    {36, 37, 0},
                                    {40, 41, 2},
                                    {42, 43, this->kWide ? 2u : 0u},
                                    {44, 45, 2},
                                    {46, 47, spread ? 2u : 0u},
                                    {49, 50, this->kWide},
                                    {56, 57, spread ? 3u : 0u},
                                    {58, 61, spread ? 8u : 0u},
                                    {62, 63, spread},
                                    {64, 95, 0x427c0000},
                                    {96, 127, 0x42800000}});
  EXPECT_EQ(DwordsOf(TessellatorPacket<TypeParam>(&tessellator, false)), expected);
  // Wa_14015055625: a primitive's id keeps patches on their slices.
  Dwords with_id = expected;
  if (this->kVersion == 125) with_id[1] &= ~0xc000u;
  EXPECT_EQ(DwordsOf(TessellatorPacket<TypeParam>(&tessellator, true)), with_id);
}

TYPED_TEST(StagesTest, TessEvalShadersAreTheirBits) {
  const TessEvalShader shader{.program = this->Program(),
                              .entry = {.offset = 0x40, .start_register = 6},
                              .tessellator = {.domain = TessDomain::kTriangle},
                              .patch_read_offset = 3,
                              .patch_read_length = 70,
                              .primitive_id = false,
                              .distances = {.clip = 3, .cull = 4}};
  const unsigned last = this->kVersion >= 110 ? 254 : 253;
  this->ExpectBits(TessEvalPacket<TypeParam>(&shader, this->device_),
                   FromBits(this->kVersion >= 90 ? 11 : 9, 0x1d,
                            {{38, 95, 0x40, 6},       this->Registers(96),
                             {110, 110, 1},           {112, 112, 1},
                             {114, 121, 7},           {123, 125, this->kSamplers},
                             {126, 126, 1},           this->ScratchSize(128),
                             this->ScratchPlace(128), {196, 201, 3},
                             {203, 209, 70},          {212, 216, 6},
                             {224, 224, 1},           {226, 226, 1},
                             {227, 227, 1},           {233, 233, this->kVersion >= 120},
                             {234, 234, 1},           {245, last, this->device_.threads.domain - 1},
                             {256, 263, 4},           {264, 271, 3}}));
}

TYPED_TEST(StagesTest, GeometryShadersAreTheirBits) {
  const bool wide_start = this->kVersion >= 90;
  const GeometryShader shader{.program = this->Program(),
                              .entry = {.offset = 0x1000, .start_register = wide_start ? 38u : 9u},
                              .urb_read_offset = 1,
                              .urb_read_length = 2,
                              .input_vertices = 6,
                              .primitive_id = true,
                              .invocations = 4,
                              .output = GeometryOutput::kLineStrip,
                              .output_vertex_bytes = 96,
                              .control = GeometryControl::kStreamId,
                              .control_bytes = 64,
                              .default_stream = 1,
                              .output_vertices = 12,
                              .discard_adjacency = true,
                              .distances = {.clip = 1, .cull = 2}};
  const bool pairs = this->kVersion == 80;
  const unsigned threads = this->device_.threads.geometry;
  this->ExpectBits(
      GeometryShaderPacket<TypeParam>(&shader, this->device_),
      FromBits(10, 0x11,
               {{38, 95, 0x1000, 6},
                {96, 101, 6},
                {108, 108, 1},
                {112, 112, 1},
                {114, 121, 7},
                {123, 125, this->kSamplers},
                {126, 126, 1},
                this->ScratchSize(128),
                this->ScratchPlace(128),
                {192, 195, wide_start ? 6u : 9u},
                {196, 201, 1},
                {202, 202, 1},
                {203, 208, 2},
                {209, 214, 3},
                {215, 220, 5},
                {221, 222, wide_start ? 2u : 0u},
                {224, 224, 1},
                {225, 225, 1},
                {226, 226, 1},
                {228, 228, 1},
                {234, 234, 1},
                {235, 236, this->kWide ? 0u : 3u},
                {237, 238, 1},
                {239, 243, 3},
                {244, 247, 2},
                this->Registers(250),
                pairs ? BitField{248, 255, threads / 2 - 1} : BitField{256, 264, threads - 1},
                {272, 282, 12},
                {286, 286, 1},
                {287, 287, 1},
                {288, 295, 2},
                {296, 303, 1},
                {304, 308, 2},
                {309, 314, 1}}));
}

TYPED_TEST(StagesTest, FragmentShadersAreTheirBits) {
  FragmentShader shader{.program = this->Program(),
                        .simd16 = ShaderEntry{.offset = 0x2000, .start_register = 8},
                        .simd32 = ShaderEntry{.offset = 0x3000, .start_register = 14},
                        .inputs = 3,
                        .constants = true,
                        .position_offset = PositionOffset::kCentroid};
  if (!this->kWide) shader.simd8 = ShaderEntry{.offset = 0x1000, .start_register = 5};
  const unsigned threads = this->device_.threads.pixel - (this->kVersion == 80 ? 2 : 1);
  if (this->kWide) {
    this->ExpectBits(FragmentShaderPacket<TypeParam>(&shader, {}, this->device_),
                     FromBits(12, 0x20,
                              {{32, 32, 1},
                               {38, 95, 0x2000, 6},
                               this->Registers(96),
                               {112, 112, 1},
                               {114, 121, 7},
                               {123, 125, this->kSamplers},
                               {126, 126, 1},
                               this->ScratchPlace(128),
                               {195, 196, 2},
                               {215, 223, threads},
                               {232, 239, 14},
                               {240, 247, 8},
                               {248, 250, 3},
                               {256, 256, 1},
                               {257, 257, 1},
                               {262, 319, 0x3000, 6}}));
  } else {
    this->ExpectBits(FragmentShaderPacket<TypeParam>(&shader, {}, this->device_),
                     FromBits(12, 0x20,
                              {{38, 95, 0x1000, 6},
                               {112, 112, 1},
                               {114, 121, 7},
                               {123, 125, this->kSamplers},
                               {126, 126, 1},
                               this->ScratchSize(128),
                               this->ScratchPlace(128),
                               {192, 194, 7},
                               {195, 196, 2},
                               {203, 203, 1},
                               {215, 223, threads},
                               {224, 230, 8},
                               {232, 238, 14},
                               {240, 246, 5},
                               {262, 319, 0x3000, 6},
                               {326, 383, 0x2000, 6}}));
  }
}

TYPED_TEST(StagesTest, KernelsOfSeveralPolygonsAreTheirBits) {
  FragmentShader shader{
      .program = this->Program(),
      .simd16 = ShaderEntry{.offset = 0x2000, .start_register = 8},
      .multi_polygon = MultiPolygonEntry{.entry = {.offset = 0x1000, .start_register = 5}}};
  const auto read = [&] {
    return ReadFragmentShader<TypeParam>(
        *FragmentShaderPacket<TypeParam>(&shader, {}, this->device_),
        *FragmentExtraPacket<TypeParam>(&shader), {}, {});
  };
  if (this->kVersion < 120) {
    const auto packet = FragmentShaderPacket<TypeParam>(&shader, {}, this->device_);
    EXPECT_THAT(packet.status().message(), HasSubstr("work on one polygon"));
    return;
  }
  const unsigned threads = this->device_.threads.pixel - 1;
  if (!this->kWide) {
    this->ExpectBits(FragmentShaderPacket<TypeParam>(&shader, {}, this->device_),
                     FromBits(12, 0x20,
                              {{38, 95, 0x1000, 6},
                               {112, 112, 1},
                               {114, 121, 7},
                               {123, 125, this->kSamplers},
                               {126, 126, 1},
                               this->ScratchSize(128),
                               this->ScratchPlace(128),
                               {192, 193, 3},
                               {197, 197, 1},
                               {215, 223, threads},
                               {224, 230, 8},
                               {240, 246, 5},
                               {262, 319, 0x1000, 6},
                               {326, 383, 0x2000, 6}}));
    ASSERT_TRUE(read().multi_polygon.has_value());
    EXPECT_EQ(read().multi_polygon->entry.start_register, 5u);
    EXPECT_EQ(read().multi_polygon->lanes(), 16u);
    EXPECT_FALSE(read().simd8.has_value());
    EXPECT_EQ(read().simd16->offset, 0x2000u);
    return;
  }
  const struct {
    uint32_t polygons, lanes, wide, packing;
    bool beside;  // SIMD16 runs, too
  } rows[] = {{2, 8, 0, 4, true}, {2, 16, 1, 3, false}, {4, 8, 1, 4, false}};
  for (const auto& row : rows) {
    shader.multi_polygon->polygons = row.polygons;
    shader.multi_polygon->polygon_lanes = row.lanes;
    this->ExpectBits(FragmentShaderPacket<TypeParam>(&shader, {}, this->device_),
                     FromBits(12, 0x20,
                              {{32, 32, 1},
                               {33, 33, row.wide},
                               {38, 95, 0x1000, 6},
                               this->Registers(96),
                               {112, 112, 1},
                               {114, 121, 7},
                               {123, 125, this->kSamplers},
                               {126, 126, 1},
                               this->ScratchPlace(128),
                               {215, 223, threads},
                               {232, 239, row.beside ? 8u : 0u},
                               {240, 247, 5},
                               {248, 250, row.packing},
                               {251, 253, row.polygons - 1},
                               {256, 256, row.beside},
                               {262, 319, row.beside ? 0x2000u : 0x1000u, 6}}));
    ASSERT_TRUE(read().multi_polygon.has_value());
    EXPECT_EQ(read().multi_polygon->polygons, row.polygons);
    EXPECT_EQ(read().multi_polygon->polygon_lanes, row.lanes);
    EXPECT_EQ(read().simd16.has_value(), row.beside);
  }
}

TYPED_TEST(StagesTest, ExtraBitsOfFragmentShaders) {
  const bool gfx9 = this->kVersion >= 90, gfx11 = this->kVersion >= 110;
  const FragmentShader shader{.program = {.writes_memory = true},
                              .inputs = 1,
                              .source_depth = true,
                              .source_w = true,
                              .coverage = gfx9 ? CoverageInput::kInner : CoverageInput::kNormal,
                              .sample_offsets = gfx11,
                              .depth_w_coefficients = gfx11,
                              .perspective_coefficients = gfx11,
                              .linear_coefficients = gfx11,
                              .coarse_pixel_size = gfx11,
                              .per_coarse_pixel = gfx11,
                              .per_sample = true,
                              .pulls_barycentrics = true,
                              .kills_pixels = true,
                              .writes_sample_mask = true,
                              .writes_stencil = gfx9,
                              .computed_depth = ComputedDepth::kLessOrEqual};
  this->ExpectBits(FragmentExtraPacket<TypeParam>(&shader),
                   FromBits(2, 0x4f,
                            {{32, 33, 2},
                             {34, 34, 1},
                             {35, 35, gfx9 && !this->kWide},
                             {36, 36, gfx11},
                             {37, 37, gfx9},
                             {38, 38, 1},
                             {40, 40, !this->kWide},
                             {50, 54, gfx11 ? 31u : 0u},
                             {55, 55, 1},
                             {56, 56, 1},
                             {58, 59, 3},
                             {60, 60, 1},
                             {61, 61, 1},
                             {63, 63, 1}}));
}

TYPED_TEST(StagesTest, StagesThatAreOffHaveZeroes) {
  using G = typename TypeParam::Packets;
  const RenderDevice& device = this->device_;
  this->ExpectBits(VertexShaderPacket<TypeParam>(nullptr, device),
                   DwordsOf(typename G::_3DSTATE_VS()));
  const auto zero = [](auto packet) {
    ASSERT_TRUE(packet.ok());
    const Dwords dwords = DwordsOf(*packet);
    for (size_t i = 1; i < dwords.size(); ++i) EXPECT_EQ(dwords[i], 0u) << i;
  };
  zero(VertexShaderPacket<TypeParam>(nullptr, device));
  zero(TessControlPacket<TypeParam>(nullptr, device));
  zero(TessEvalPacket<TypeParam>(nullptr, device));
  zero(GeometryShaderPacket<TypeParam>(nullptr, device));
  zero(FragmentShaderPacket<TypeParam>(nullptr, {}, device));
  zero(FragmentExtraPacket<TypeParam>(nullptr));
  PipelineState<TypeParam> pipeline;
  EXPECT_TRUE(AddShaders({}, device, pipeline).ok());
}

TYPED_TEST(StagesTest, APipelineTakesAllStagesAndReportsTheFirstError) {
  const VertexShader vertex{.entry = {.offset = 0x40, .start_register = 2}};
  FragmentShader fragment{.simd16 = ShaderEntry{.offset = 0x80, .start_register = 4}};
  {
    PipelineState<TypeParam> pipeline;
    const absl::Status status =
        AddShaders({.vertex = &vertex, .fragment = &fragment}, this->device_, pipeline);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_TRUE(pipeline.status().ok());
    // All of them are there already.
    EXPECT_EQ(AddShaders({}, this->device_, pipeline).code(), absl::StatusCode::kAlreadyExists);
  }
  PipelineState<TypeParam> pipeline;
  fragment.simd16->offset = 0x41;
  const absl::Status status =
      AddShaders({.vertex = &vertex, .fragment = &fragment}, this->device_, pipeline);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("fragment shader"), HasSubstr("0x41"),
                                      HasSubstr("a multiple of 64 bytes")));
}

TYPED_TEST(StagesTest, WhatDoesNotFitIsNamed) {
  RenderDevice device = this->device_;
  const auto vertex = [&](const VertexShader& shader) {
    return VertexShaderPacket<TypeParam>(&shader, device);
  };
  this->ExpectError(vertex({.entry = {.offset = 0x20}}), "vertex shader: the kernel is at 0x20");
  this->ExpectError(vertex({.entry = {.start_register = 32}}),
                    "vertex shader: start register 32; on ");
  this->ExpectError(vertex({.program = {.registers = 257}}), "uses 257 registers");
  device.threads.vertex = 2000;
  this->ExpectError(vertex({}), ": 2000; the packet holds");
  device.threads.vertex = 0;
  this->ExpectError(vertex({}), ": 0; the packet holds");
  device.threads.pixel = 0;
  const FragmentShader pixel{.simd16 = ShaderEntry{}};
  this->ExpectError(FragmentShaderPacket<TypeParam>(&pixel, {}, device), ": 0; the packet holds");
  device = this->device_;
  if (this->kSurfaces) {
    this->ExpectError(vertex({.program = {.scratch = {.bytes_per_thread = 64}}}),
                      "has no surface of scratch");
    this->ExpectError(vertex({.program = {.scratch = {.bytes_per_thread = 64, .surface = 96}}}),
                      "the surface state of scratch is at 0x60");
  } else {
    this->ExpectError(vertex({.program = {.scratch = {.bytes_per_thread = 2097153}}}),
                      "2097153 bytes of scratch a thread; it must be at most 2097152");
    this->ExpectError(
        vertex({.program = {.scratch = {.bytes_per_thread = 64, .place = {0x200, 1}}}}),
        "scratch memory at 0x200");
  }

  const auto hull = [&](const TessControlShader& shader) {
    return TessControlPacket<TypeParam>(&shader, device);
  };
  const HullDispatch dispatch =
      this->kWide ? HullDispatch::kPatchPerLane : HullDispatch::kSinglePatch;
  this->ExpectError(hull({.dispatch = dispatch, .instances = 0}), "0 instances");
  this->ExpectError(hull({.dispatch = dispatch, .instances = 33}), "33 instances");
  this->ExpectError(hull({.entry = {.start_register = 64}, .dispatch = dispatch}),
                    "start register 64");
  if (this->kWide) {
    this->ExpectError(hull({}), "one patch in each thread");
  } else if (this->kVersion == 80) {
    this->ExpectError(hull({.dispatch = HullDispatch::kPatchPerLane}), "a patch in each lane");
    this->ExpectError(hull({.primitive_id = true}), "no registers of primitive ids");
    this->ExpectError(hull({.patch_count_threshold = 1}), "no threshold of patches");
  }

  const auto geometry = [&](const GeometryShader& shader) {
    return GeometryShaderPacket<TypeParam>(&shader, device);
  };
  this->ExpectError(geometry({.input_vertices = 33}), "33 vertices");
  this->ExpectError(geometry({.invocations = 0}), "0 invocations");
  this->ExpectError(geometry({.output_vertex_bytes = 48}), "an output vertex of 48 bytes");
  this->ExpectError(geometry({.control_bytes = 512}), "a control header of 512 bytes");
  this->ExpectError(geometry({.entry = {.start_register = 64}}), "start register 64");

  const auto extra = [&](const FragmentShader& shader) {
    return FragmentExtraPacket<TypeParam>(&shader);
  };
  if (this->kVersion == 80) {
    this->ExpectError(extra({.coverage = CoverageInput::kInner}), "inner coverage; gfx8 has none");
    this->ExpectError(extra({.writes_stencil = true}), "stencil output; gfx8 has none");
  }
  if (this->kVersion < 110) {
    this->ExpectError(extra({.sample_offsets = true}), "offsets of samples");
    this->ExpectError(extra({.linear_coefficients = true}), "coefficients of planes");
    this->ExpectError(extra({.per_coarse_pixel = true}), "coarse pixels");
  }
  const ShaderEntry kernel{.offset = 0x40, .start_register = 256};
  const FragmentShader far{.simd16 = kernel};
  this->ExpectError(FragmentShaderPacket<TypeParam>(&far, {}, device), "start register 256");
  const FragmentShader simd16{.simd16 = ShaderEntry{}};
  if (this->kVersion == 80) {
    this->ExpectError(FragmentShaderPacket<TypeParam>(
                          &simd16, {.operation = PixelOperation::kPartialResolve}, device),
                      "gfx8 cannot resolve partially");
  }
}

// Payloads are of the modes that stage_packets.h states.
TYPED_TEST(StagesTest, OtherDispatchModesHaveNoPayload) {
  const auto vertex = *VertexShaderPacket<TypeParam>(nullptr, this->device_);
  EXPECT_TRUE(CheckDispatchMode(vertex).ok());  // off
  const TessEvalShader domain{.entry = {.offset = 0xc0, .start_register = 5}};
  auto eval = *TessEvalPacket<TypeParam>(&domain, this->device_);
  EXPECT_TRUE(CheckDispatchMode(eval).ok());
  // Gfx8 has no kernel for two patches.
  if constexpr (requires { decltype(eval)::DISPATCH_MODE_SIMD8_SINGLE_OR_DUAL_PATCH; }) {
    eval.dispatch_mode = decltype(eval)::DISPATCH_MODE_SIMD8_SINGLE_OR_DUAL_PATCH;
    EXPECT_EQ(CheckDispatchMode(eval).code(), absl::StatusCode::kUnimplemented);
    eval.enable = false;
    EXPECT_TRUE(CheckDispatchMode(eval).ok());
  }
  const GeometryShader geometry{.entry = {.offset = 0x100}};
  auto gs = *GeometryShaderPacket<TypeParam>(&geometry, this->device_);
  EXPECT_TRUE(CheckDispatchMode(gs).ok());
  if constexpr (requires { decltype(gs)::DISPATCH_MODE_DUAL_OBJECT; }) {
    gs.dispatch_mode = decltype(gs)::DISPATCH_MODE_DUAL_OBJECT;
    EXPECT_EQ(CheckDispatchMode(gs).code(), absl::StatusCode::kUnimplemented);
  }
  const FragmentShader fragment{.simd8 = ShaderEntry{.offset = 0x40}};
  EXPECT_EQ(PayloadOf(fragment, 8, TypeParam::kFacts).ok(), this->kVersion < 200);
  const TessControlShader single{.dispatch = HullDispatch::kSinglePatch};
  EXPECT_EQ(PayloadOf(single, TypeParam::kFacts).ok(), TypeParam::kFacts.hull_single_patch);
  const TessControlShader lanes{.dispatch = HullDispatch::kPatchPerLane};
  EXPECT_EQ(PayloadOf(lanes, TypeParam::kFacts).ok(), TypeParam::kFacts.hull_patch_per_lane);
}

// What payloads need of a packet is what was put in.
TYPED_TEST(StagesTest, PacketsAreReadBack) {
  const VertexShader vertex{
      .entry = {.offset = 0x40, .start_register = 7}, .urb_read_offset = 1, .urb_read_length = 3};
  const auto read =
      ReadVertexShader<TypeParam>(*VertexShaderPacket<TypeParam>(&vertex, this->device_));
  EXPECT_EQ(read.entry.offset, 0x40u);
  EXPECT_EQ(read.entry.start_register, 7u);
  EXPECT_EQ(read.urb_read_offset, 1u);
  EXPECT_EQ(read.urb_read_length, 3u);

  if (this->kVersion >= 90) {
    const TessControlShader hull{.entry = {.offset = 0x80, .start_register = 35},
                                 .dispatch = HullDispatch::kPatchPerLane,
                                 .instances = 2,
                                 .input_control_points = 32,
                                 .primitive_id = true};
    const auto control =
        ReadTessControl<TypeParam>(*TessControlPacket<TypeParam>(&hull, this->device_));
    EXPECT_EQ(control.entry.start_register, 35u);
    EXPECT_EQ(control.dispatch, HullDispatch::kPatchPerLane);
    EXPECT_EQ(control.input_control_points, 32u);
    EXPECT_EQ(control.instances, 2u);
    EXPECT_TRUE(control.primitive_id);
  }
  const TessEvalShader domain{.entry = {.offset = 0xc0, .start_register = 5},
                              .patch_read_length = 12};
  const auto eval = ReadTessEval<TypeParam>(*TessEvalPacket<TypeParam>(&domain, this->device_));
  EXPECT_EQ(eval.entry.start_register, 5u);
  EXPECT_EQ(eval.patch_read_length, 12u);

  const uint32_t start = this->kVersion == 80 ? 11 : 43;
  const GeometryShader geometry{.entry = {.offset = 0x100, .start_register = start},
                                .urb_read_length = 2,
                                .input_vertices = 4,
                                .primitive_id = true,
                                .invocations = 7};
  const auto gs =
      ReadGeometryShader<TypeParam>(*GeometryShaderPacket<TypeParam>(&geometry, this->device_));
  EXPECT_EQ(gs.entry.start_register, start);
  EXPECT_EQ(gs.input_vertices, 4u);
  EXPECT_EQ(gs.invocations, 7u);
  EXPECT_TRUE(gs.primitive_id);
  EXPECT_TRUE(gs.vertex_handles);

  FragmentShader fragment{.simd16 = ShaderEntry{.offset = 0x140, .start_register = 9},
                          .inputs = 5,
                          .barycentrics = kPerspectivePixel | kLinearSample,
                          .source_depth = true,
                          .coverage = CoverageInput::kNormal,
                          .position_offset = PositionOffset::kSample};
  for (const bool wide : {false, true}) {
    if (wide) fragment.simd32 = ShaderEntry{.offset = 0x180, .start_register = 17};
    typename TypeParam::Packets::_3DSTATE_WM windower;
    windower.barycentric_interpolation_mode = TraitsOf(&fragment).barycentric;
    const auto ps = ReadFragmentShader<TypeParam>(
        *FragmentShaderPacket<TypeParam>(&fragment, {}, this->device_),
        *FragmentExtraPacket<TypeParam>(&fragment), windower,
        {.number_of_sf_output_attributes = 5});
    EXPECT_FALSE(ps.simd8.has_value());
    ASSERT_TRUE(ps.simd16.has_value());
    EXPECT_EQ(ps.simd16->offset, 0x140u);
    EXPECT_EQ(ps.simd16->start_register, 9u);
    ASSERT_EQ(ps.simd32.has_value(), wide);
    if (wide) {
      EXPECT_EQ(ps.simd32->offset, 0x180u);
      EXPECT_EQ(ps.simd32->start_register, 17u);
    }
    EXPECT_EQ(ps.inputs, 5u);
    EXPECT_EQ(ps.barycentrics, kPerspectivePixel | kLinearSample);
    EXPECT_TRUE(ps.source_depth);
    EXPECT_FALSE(ps.source_w);
    EXPECT_EQ(ps.coverage, CoverageInput::kNormal);
    EXPECT_EQ(ps.position_offset, PositionOffset::kSample);
  }
}

}  // namespace
}  // namespace packsmith::intel
