// Payloads of threads, compared with what Mesa's compilers rely on.
#include "runtime/intel/pipeline/thread_payload.h"

#include <cstdint>
#include <optional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace packsmith::intel {
namespace {

using testing::HasSubstr;

std::string TextOf(const absl::StatusOr<ThreadPayload>& payload) {
  return payload.ok() ? payload->ToText() : std::string(payload.status().message());
}

TEST(ThreadPayload, VertexShaders) {
  const VertexShader shader{.entry = {.start_register = 2}, .urb_read_length = 1};
  EXPECT_EQ(TextOf(PayloadOf(shader, FactsOf(90), {.constant_units = 4})),
            "r0       thread header\n"
            "r1       URB handles of 8 outputs\n"
            "r2-r5    push constants\n"
            "r6-r9    vertex element 0: x, y, z, w of 8 vertices\n"
            "r10-r13  vertex element 1: x, y, z, w of 8 vertices\n");
  // Registers of 64 bytes, and 16 lanes: URB data begin with a whole register.
  EXPECT_EQ(TextOf(PayloadOf(shader, FactsOf(200), {.constant_units = 5})),
            "r0       thread header\n"
            "r1       URB handles of 16 outputs\n"
            "r2-r4    push constants\n"
            "r5-r8    vertex element 0: x, y, z, w of 16 vertices\n"
            "r9-r12   vertex element 1: x, y, z, w of 16 vertices\n");
}

TEST(ThreadPayload, HullShaders) {
  const TessControlShader single{.entry = {.start_register = 5}, .input_control_points = 3};
  EXPECT_EQ(TextOf(PayloadOf(single, FactsOf(80), {.constant_units = 1})),
            "r0       thread header\n"
            "r1-r4    URB handles of 32 input control points\n"
            "r5       push constants\n");
  const TessControlShader lanes{.entry = {.start_register = 6},
                                .dispatch = HullDispatch::kPatchPerLane,
                                .input_control_points = 3,
                                .primitive_id = true};
  const auto payload = PayloadOf(lanes, FactsOf(120), {.constant_units = 1});
  EXPECT_EQ(TextOf(payload),
            "r0       thread header\n"
            "r1       URB handles of 8 output patches\n"
            "r2       ids of 8 primitives\n"
            "r3       URB handles of control point 0 in 8 patches\n"
            "r4       URB handles of control point 1 in 8 patches\n"
            "r5       URB handles of control point 2 in 8 patches\n"
            "r6       push constants\n");
  EXPECT_EQ(payload->before_start, 6u);
}

TEST(ThreadPayload, ComputeShaders) {
  EXPECT_EQ(
      TextOf(PayloadOf(ComputeThreads{.lanes = 16, .shared_registers = 2, .thread_registers = 1},
                       FactsOf(90))),
      "r0       thread header\n"
      "r1-r2    constants that all threads share\n"
      "r3       constants of the thread\n");
  // A word in each lane; registers have 32 bytes, from Xe2 on 64.
  const ComputeThreads threads{.lanes = 32, .local_ids = 0b101, .inline_data = true};
  EXPECT_EQ(TextOf(PayloadOf(threads, FactsOf(125))),
            "r0       thread header\n"
            "r1-r2    local ids x of 32 invocations\n"
            "r3-r4    local ids z of 32 invocations\n"
            "r5       inline data\n");
  EXPECT_EQ(TextOf(PayloadOf(threads, FactsOf(200))),
            "r0       thread header\n"
            "r1       local ids x of 32 invocations\n"
            "r2       local ids z of 32 invocations\n"
            "r3       inline data\n");
  EXPECT_EQ(TextOf(PayloadOf(ComputeThreads{.lanes = 8, .ray_stack_ids = true}, FactsOf(125))),
            "r0       thread header\n"
            "r1       stack ids of 8 rays\n");
  EXPECT_THAT(TextOf(PayloadOf(ComputeThreads{.lanes = 8}, FactsOf(300))),
              HasSubstr("kernels have 16 or 32"));
  EXPECT_THAT(TextOf(PayloadOf(ComputeThreads{.lanes = 4}, FactsOf(90))),
              HasSubstr("kernels have 8, 16 or 32"));
}

TEST(ThreadPayload, DomainShaders) {
  const TessEvalShader shader{.entry = {.start_register = 5}, .patch_read_length = 3};
  EXPECT_EQ(TextOf(PayloadOf(shader, FactsOf(110))),
            "r0       thread header\n"
            "r1       u of domain points\n"
            "r2       v of domain points\n"
            "r3       w of domain points\n"
            "r4       URB handles of 8 outputs\n"
            "r5-r7    URB data of the patch\n");
  EXPECT_EQ(PayloadOf(shader, FactsOf(200))->registers, 7u) << "three units are two registers";
}

TEST(ThreadPayload, GeometryShaders) {
  const GeometryShader shader{.entry = {.start_register = 5},
                              .urb_read_length = 1,
                              .input_vertices = 2,
                              .primitive_id = true};
  EXPECT_EQ(TextOf(PayloadOf(shader, FactsOf(90))),
            "r0       thread header\n"
            "r1       URB handles of 8 outputs\n"
            "r2       ids of 8 primitives\n"
            "r3       URB handles of vertex 0 of 8 primitives\n"
            "r4       URB handles of vertex 1 of 8 primitives\n"
            "r5-r12   URB data of vertex 0\n"
            "r13-r20  URB data of vertex 1\n");
}

TEST(ThreadPayload, FragmentShadersOfAllWidths) {
  FragmentShader shader{.simd8 = ShaderEntry{.start_register = 8},
                        .simd16 = ShaderEntry{.start_register = 14},
                        .simd32 = ShaderEntry{.start_register = 25},
                        .inputs = 2,
                        .constants = true,
                        .barycentrics = kPerspectivePixel | kLinearSample,
                        .source_depth = true,
                        .coverage = CoverageInput::kNormal};
  EXPECT_EQ(TextOf(PayloadOf(shader, 8, FactsOf(90), {.constant_units = 1})),
            "r0       thread header\n"
            "r1       masks and positions of pixels\n"
            "r2-r3    barycentric coordinates (perspective, pixel)\n"
            "r4-r5    barycentric coordinates (linear, sample)\n"
            "r6       depth\n"
            "r7       coverage\n"
            "r8       push constants\n"
            "r9-r10   planes of attribute 0\n"
            "r11-r12  planes of attribute 1\n");
  shader.constants = false;
  EXPECT_THAT(TextOf(PayloadOf(shader, 8, FactsOf(90), {.constant_units = 1})),
              testing::EndsWith("r7       coverage\n"
                                "r8-r9    planes of attribute 0\n"
                                "r10-r11  planes of attribute 1\n"));
  // Two registers for each of 16 lanes.
  const auto wide = PayloadOf(shader, 16, FactsOf(90));
  ASSERT_TRUE(wide.ok()) << wide.status();
  EXPECT_EQ(wide->before_start, 2u + 4u + 4u + 2u + 2u);
}

TEST(ThreadPayload, OfSeveralPolygonsEachHasItsPlanes) {
  FragmentShader shader{.multi_polygon = MultiPolygonEntry{.entry = {.start_register = 8}},
                        .inputs = 1,
                        .constants = true,
                        .barycentrics = kPerspectivePixel,
                        .depth_w_coefficients = true};
  EXPECT_EQ(TextOf(MultiPolygonPayloadOf(shader, FactsOf(120), {.constant_units = 1})),
            "r0       thread header\n"
            "r1       masks and positions of pixels\n"
            "r2-r5    barycentric coordinates (perspective, pixel)\n"
            "r6-r7    coefficients of depth and w, each register for 2 polygons\n"
            "r8       push constants\n"
            "r9-r12   planes of attribute 0, each register for 2 polygons\n");
  shader.multi_polygon = MultiPolygonEntry{.polygons = 4};
  EXPECT_EQ(TextOf(MultiPolygonPayloadOf(shader, FactsOf(200))),
            "r0       thread header; masks and positions of pixels, lanes 0-15\n"
            "r1       masks and positions of pixels, lanes 16-31\n"
            "r2-r3    barycentric coordinates (perspective, pixel), lanes 0-15\n"
            "r4-r5    barycentric coordinates (perspective, pixel), lanes 16-31\n"
            "r6-r9    coefficients of depth, w and perspective barycentric coordinates, each "
            "register for 4 polygons\n"
            "r10-r13  planes of attributes, five components in each register, each register for 4 "
            "polygons\n");
  EXPECT_THAT(TextOf(MultiPolygonPayloadOf(shader, FactsOf(120))), HasSubstr("2 of 8"));
  shader.multi_polygon = std::nullopt;
  EXPECT_EQ(MultiPolygonPayloadOf(shader, FactsOf(120)).status().code(),
            absl::StatusCode::kNotFound);
}

TEST(ThreadPayload, Simd32HasTwoHalves) {
  const FragmentShader shader{.simd32 = ShaderEntry{.start_register = 15},
                              .inputs = 1,
                              .barycentrics = kPerspectivePixel,
                              .source_w = true};
  EXPECT_EQ(TextOf(PayloadOf(shader, 32, FactsOf(110))),
            "r0       thread header\n"
            "r1       masks and positions of pixels, lanes 0-15\n"
            "r2       masks and positions of pixels, lanes 16-31\n"
            "r3-r6    barycentric coordinates (perspective, pixel), lanes 0-15\n"
            "r7-r8    w, lanes 0-15\n"
            "r9-r12   barycentric coordinates (perspective, pixel), lanes 16-31\n"
            "r13-r14  w, lanes 16-31\n"
            "r15-r16  planes of attribute 0\n");
  FragmentShader xe2 = shader;
  xe2.simd32->start_register = 8;
  xe2.inputs = 3;
  EXPECT_EQ(TextOf(PayloadOf(xe2, 32, FactsOf(200))),
            "r0       thread header; masks and positions of pixels, lanes 0-15\n"
            "r1       masks and positions of pixels, lanes 16-31\n"
            "r2-r3    barycentric coordinates (perspective, pixel), lanes 0-15\n"
            "r4       w, lanes 0-15\n"
            "r5-r6    barycentric coordinates (perspective, pixel), lanes 16-31\n"
            "r7       w, lanes 16-31\n"
            "r8-r10   planes of attributes, five components in each register\n");
}

TEST(ThreadPayload, CoefficientsAndOffsets) {
  const FragmentShader shader{.simd16 = ShaderEntry{.start_register = 9},
                              .position_offset = PositionOffset::kSample,
                              .sample_offsets = true,
                              .depth_w_coefficients = true,
                              .perspective_coefficients = true,
                              .linear_coefficients = true};
  EXPECT_EQ(TextOf(PayloadOf(shader, 16, FactsOf(125))),
            "r0       thread header\n"
            "r1       masks and positions of pixels\n"
            "r2       offsets of positions\n"
            "r3       coefficients of depth and w\n"
            "r4       coefficients of perspective barycentric coordinates\n"
            "r5       coefficients of linear barycentric coordinates\n"
            "r6       offsets of samples\n");
  EXPECT_EQ(TextOf(PayloadOf(shader, 16, FactsOf(200))),
            "r0       thread header; masks and positions of pixels\n"
            "r1       offsets of positions\n"
            "r2       offsets of samples\n"
            "r3       coefficients of depth, w and perspective barycentric coordinates\n"
            "r4       coefficients of linear barycentric coordinates\n");
}

// The largest payload: six modes, depth, w, coverage, SIMD32.
TEST(ThreadPayload, TheLargestPixelPayload) {
  const FragmentShader shader{.simd32 = ShaderEntry{.start_register = 70},
                              .barycentrics = 63,
                              .source_depth = true,
                              .source_w = true,
                              .coverage = CoverageInput::kNormal,
                              .position_offset = PositionOffset::kCentroid};
  EXPECT_EQ(PayloadOf(shader, 32, FactsOf(125))->before_start,
            1u + 2u + 2u * (24u + 2u + 2u + 1u + 2u));
}

TEST(ThreadPayload, TasksAndMeshes) {
  EXPECT_EQ(TextOf(PayloadOf(WorkgroupProgram{.simd = 32, .invocations = 32}, FactsOf(125))),
            "r0       thread header\n"
            "r1-r2    local ids x of 32 invocations\n"
            "r3       inline data\n");
  EXPECT_EQ(TextOf(PayloadOf(WorkgroupProgram{.simd = 32, .inline_data = false}, FactsOf(300))),
            "r0       thread header\n"
            "r1       local ids x of 32 invocations\n");
  EXPECT_FALSE(PayloadOf(WorkgroupProgram{.simd = 8}, FactsOf(200)).ok());
}

TEST(ThreadPayload, RegistersAreFoundByNumber) {
  const VertexShader shader{.entry = {.start_register = 4}, .urb_read_length = 1};
  const auto payload = PayloadOf(shader, FactsOf(90));
  ASSERT_TRUE(payload.ok());
  EXPECT_EQ(payload->At(0)->kind, PayloadKind::kHeader);
  EXPECT_EQ(payload->At(2), nullptr) << "between the handles and the start register";
  EXPECT_EQ(payload->At(9)->kind, PayloadKind::kVertexElement);
  EXPECT_EQ(payload->At(9)->index, 1);
  EXPECT_EQ(payload->At(12), nullptr);
  EXPECT_EQ(payload->registers, 12u);
}

TEST(ThreadPayload, WhatDoesNotFitIsNamed) {
  EXPECT_THAT(TextOf(PayloadOf(VertexShader{.entry = {.start_register = 1}, .urb_read_length = 1},
                               FactsOf(90))),
              HasSubstr("vertex shader: the start register is 1; it must be at least 2"));
  // Without data from the start register on, it has no meaning; 0 is the least one.
  EXPECT_EQ(PayloadOf(VertexShader{.urb_read_length = 1}, FactsOf(90))->registers, 10u);
  EXPECT_TRUE(PayloadOf(VertexShader{}, FactsOf(90)).ok());
  EXPECT_THAT(TextOf(PayloadOf(VertexShader{.entry = {.start_register = 2}, .urb_read_length = 16},
                               FactsOf(90))),
              HasSubstr("the payload takes 130 registers; a thread has 128"));
  EXPECT_TRUE(
      PayloadOf(VertexShader{.entry = {.start_register = 2}, .urb_read_length = 16}, FactsOf(300))
          .ok());
  EXPECT_EQ(PayloadOf(FragmentShader{}, 16, FactsOf(90)).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(PayloadOf(FragmentShader{}, 9, FactsOf(90)).status().code(),
            absl::StatusCode::kNotFound);
  const FragmentShader planes{.simd8 = ShaderEntry{}, .linear_coefficients = true};
  EXPECT_THAT(TextOf(PayloadOf(planes, 8, FactsOf(90))), HasSubstr("from Gfx11 on"));
  const TessControlShader pushed{.dispatch = HullDispatch::kPatchPerLane, .urb_read_length = 1};
  EXPECT_THAT(TextOf(PayloadOf(pushed, FactsOf(120))), HasSubstr("with urb_read_length 0"));
}

TEST(ThreadPayload, CountsOfAnySizeAreRefused) {
  constexpr uint32_t kHuge[] = {257, 0x08000000, 0x20000000, 0x80000000, 0xfffffffe, 0xffffffff};
  const auto expect = [](const absl::StatusOr<ThreadPayload>& payload) {
    EXPECT_EQ(payload.status().code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(TextOf(payload), HasSubstr("takes more than 256 registers; a thread has"));
  };
  for (const uint32_t huge : kHuge) {
    for (const unsigned version : {90u, 300u}) {
      const GenerationFacts& facts = FactsOf(version);
      const PayloadInputs constants{.constant_units = huge};
      expect(
          PayloadOf(VertexShader{.entry = {.start_register = huge}, .urb_read_length = 1}, facts));
      expect(PayloadOf(VertexShader{.urb_read_length = huge}, facts));
      if (huge > 512) expect(PayloadOf(VertexShader{}, facts, constants));
      if (facts.hull_patch_per_lane) {
        expect(PayloadOf(TessControlShader{.dispatch = HullDispatch::kPatchPerLane,
                                           .input_control_points = huge},
                         facts));
      }
      if (facts.hull_single_patch) {
        expect(PayloadOf(TessControlShader{.urb_read_length = 2, .input_control_points = huge},
                         facts));
      }
      if (huge > 512) expect(PayloadOf(TessEvalShader{.patch_read_length = huge}, facts));
      expect(PayloadOf(GeometryShader{.input_vertices = huge}, facts));
      expect(PayloadOf(GeometryShader{.urb_read_length = huge, .input_vertices = 1}, facts));
      // Nothing is read, and nothing delivered.
      EXPECT_TRUE(
          PayloadOf(GeometryShader{.input_vertices = huge, .vertex_handles = false}, facts).ok());
      if (huge > 512) {
        expect(PayloadOf(FragmentShader{.simd16 = ShaderEntry{}, .inputs = huge}, 16, facts));
      }
    }
  }
}

}  // namespace
}  // namespace packsmith::intel
