// Random inputs, packed, beside the manuals' bit tables, by hand. Source: PRMs, volume 2, these
// packets; the tables of Gfx8 to Xe3 differ only where a test says so.

#include <bit>
#include <cstdint>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/command/chunks.h"
#include "runtime/intel/binding/samplers.h"
#include "runtime/intel/binding/surface_states.h"
#include "runtime/intel/pipeline/depth_packets.h"
#include "runtime/intel/pipeline/output_packets.h"
#include "runtime/intel/pipeline/raster_packets.h"
#include "runtime/intel/pipeline/vertex_packets.h"
#include "tests/intel/batch/built.h"
#include "tests/intel/batch/tested.h"
#include "tests/intel/pipeline/bit_table.h"
#include "tests/intel/pipeline/packed.h"

namespace packsmith::intel {
namespace {

constexpr int kTimes = 500;

template <class Gen>
class BitsTest : public testing::Test {
 protected:
  bool Coin() { return Number(1) != 0; }
  uint32_t Number(uint32_t most) {
    return std::uniform_int_distribution<uint32_t>(0, most)(random_);
  }
  template <class E>
  E Enumerator(uint32_t last) {
    return static_cast<E>(Number(last));
  }
  float Fraction() { return static_cast<float>(Number(4000)) / 8 - 100; }
  StencilFace Face() {
    return {.fail = Enumerator<StencilOp>(7),
            .depth_fail = Enumerator<StencilOp>(7),
            .pass = Enumerator<StencilOp>(7),
            .compare = Enumerator<Compare>(7),
            .compare_mask = static_cast<uint8_t>(Number(255)),
            .write_mask = static_cast<uint8_t>(Number(3) == 0 ? 0 : Number(255)),
            .reference = static_cast<uint8_t>(Gen::kVersion == 80 ? 0 : Number(255))};
  }

 private:
  std::mt19937 random_{7};
};
TYPED_TEST_SUITE(BitsTest, Generations);

// The manuals' codes, in the order of Vulkan's enumerations.
constexpr uint32_t kCompares[] = {1, 2, 3, 4, 5, 6, 7, 0};
constexpr uint32_t kStencilOps[] = {0, 1, 2, 3, 4, 7, 5, 6};
constexpr uint32_t kFactors[] = {17, 1, 2, 18, 5, 21, 3, 19, 4, 20, 7, 23, 8, 24, 6, 9, 25, 10, 26};
constexpr uint32_t kLogicOps[] = {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15};

template <class E>
uint32_t CodeOf(const uint32_t* codes, E value) {
  return codes[static_cast<unsigned>(value)];
}
uint32_t If(bool set, unsigned bit) { return uint32_t{set} << bit; }

TYPED_TEST(BitsTest, DepthAndStencil) {
  for (int i = 0; i < kTimes; ++i) {
    DepthStencil from{.depth_test = this->Coin(),
                      .depth_write = this->Coin(),
                      .depth_compare = this->template Enumerator<Compare>(7),
                      .stencil_test = this->Coin(),
                      .front = this->Face(),
                      .back = this->Face()};
    if (this->Coin()) from.back = from.front;
    typename TypeParam::Packets::_3DSTATE_WM_DEPTH_STENCIL packet;
    const absl::Status status = DescribeDepthStencil<TypeParam>(from, packet);
    ASSERT_TRUE(status.ok()) << status;
    const Dwords dwords = DwordsOf(packet);
    const StencilFace &front = from.front, &back = from.back;
    const auto keeps = [](const StencilFace& face) {
      return face.write_mask == 0 ||
             (face.fail == StencilOp::kKeep && face.depth_fail == StencilOp::kKeep &&
              face.pass == StencilOp::kKeep);
    };
    EXPECT_EQ(
        dwords[1],
        CodeOf(kStencilOps, front.fail) << 29 | CodeOf(kStencilOps, front.depth_fail) << 26 |
            CodeOf(kStencilOps, front.pass) << 23 | CodeOf(kCompares, back.compare) << 20 |
            CodeOf(kStencilOps, back.fail) << 17 | CodeOf(kStencilOps, back.depth_fail) << 14 |
            CodeOf(kStencilOps, back.pass) << 11 | CodeOf(kCompares, front.compare) << 8 |
            CodeOf(kCompares, from.depth_compare) << 5 | If(from.stencil_test, 4) |
            If(from.stencil_test, 3) | If(from.stencil_test && !(keeps(front) && keeps(back)), 2) |
            If(from.depth_test, 1) | If(from.depth_test && from.depth_write, 0));
    EXPECT_EQ(dwords[2], uint32_t{front.compare_mask} << 24 | uint32_t{front.write_mask} << 16 |
                             uint32_t{back.compare_mask} << 8 | back.write_mask);
    if (TypeParam::kVersion > 80) {
      EXPECT_EQ(dwords[3], uint32_t{front.reference} << 8 | back.reference);
    }
  }
}

TYPED_TEST(BitsTest, Blending) {
  using G = typename TypeParam::Packets;
  for (int i = 0; i < kTimes; ++i) {
    std::array<BlendTarget, kMostBlendTargets> targets;
    for (BlendTarget& target : targets) {
      target = {.enable = this->Coin(),
                .src_color = this->template Enumerator<BlendFactor>(14),
                .dst_color = this->template Enumerator<BlendFactor>(14),
                .color_op = this->template Enumerator<BlendOp>(4),
                .src_alpha = this->template Enumerator<BlendFactor>(14),
                .dst_alpha = this->template Enumerator<BlendFactor>(14),
                .alpha_op = this->template Enumerator<BlendOp>(4),
                .write_mask = static_cast<uint8_t>(this->Number(15))};
    }
    // A shader's second colour: with one target only.
    const bool dual = this->Number(3) == 0;
    if (dual)
      targets[0].src_color =
          this->Coin() ? BlendFactor::kSrc1Color : BlendFactor::kOneMinusSrc1Alpha;
    const size_t count = dual ? 1 : this->Number(8);
    const PixelTraits pixels{.writes_color = this->Coin(), .dual_source = this->Coin()};
    const ColorBlend from{.targets = absl::MakeConstSpan(targets).first(count),
                          .logic_op_enable = this->Number(3) == 0,
                          .logic_op = this->template Enumerator<LogicOp>(15),
                          .alpha_to_coverage = this->Coin(),
                          .alpha_to_coverage_dither = this->Coin(),
                          .dither = this->Coin(),
                          .alpha_test = this->Coin(),
                          .alpha_compare = this->template Enumerator<Compare>(7)};
    BlendPackets<TypeParam> packets;
    const absl::Status status = DescribeColorBlend<TypeParam>(from, pixels, packets);
    ASSERT_TRUE(status.ok()) << status;
    bool independent = false, writes = false;
    uint32_t first = 0;
    ASSERT_EQ(packets.count, std::max<size_t>(count, 1));
    for (unsigned t = 0; t < packets.count; ++t) {
      const BlendTarget none{.write_mask = 0};
      const BlendTarget& target = count == 0 ? none : targets[t];
      const auto minmax = [](BlendOp op) { return op == BlendOp::kMin || op == BlendOp::kMax; };
      const auto color = [&](BlendFactor f) {
        return minmax(target.color_op) ? BlendFactor::kOne : f;
      };
      const auto alpha = [&](BlendFactor f) {
        return minmax(target.alpha_op) ? BlendFactor::kOne : f;
      };
      const bool second = dual && !minmax(target.color_op);
      const bool on = target.enable && !from.logic_op_enable && !(second && !pixels.dual_source);
      uint32_t expected =
          If((target.write_mask & kAlpha) == 0, 3) | If((target.write_mask & kRed) == 0, 2) |
          If((target.write_mask & kGreen) == 0, 1) | If((target.write_mask & kBlue) == 0, 0);
      if (on) {
        const uint32_t sc = CodeOf(kFactors, color(target.src_color)),
                       dc = CodeOf(kFactors, color(target.dst_color)),
                       sa = CodeOf(kFactors, alpha(target.src_alpha)),
                       da = CodeOf(kFactors, alpha(target.dst_alpha));
        expected |= 1u << 31 | sc << 26 | dc << 21 | static_cast<uint32_t>(target.color_op) << 18 |
                    sa << 13 | da << 8 | static_cast<uint32_t>(target.alpha_op) << 5;
        independent |= sc != sa || dc != da || target.color_op != target.alpha_op;
        if (t == 0) first = 1u << 29 | sa << 24 | da << 19 | sc << 14 | dc << 9;
      }
      writes |= target.write_mask != 0;
      const Dwords entry = DwordsOf(packets.entries[t]);
      EXPECT_EQ(entry[0], expected);
      // Clamps before and after, to the target's format.
      EXPECT_EQ(entry[1],
                (from.logic_op_enable ? 1u << 31 | CodeOf(kLogicOps, from.logic_op) << 27 : 0) |
                    2u << 2 | 1u << 1 | 1u);
    }
    uint32_t header = 0;
    Dwords all(G::BLEND_STATE::dwords_needed(1));
    ASSERT_FALSE(packets.blend.pack(
        all.data(), span<const typename G::BLEND_STATE_ENTRY>(packets.entries.data(), 1)));
    header = all[0];
    EXPECT_EQ(header, If(from.alpha_to_coverage, 31) | If(independent, 30) |
                          If(from.alpha_to_coverage && from.alpha_to_coverage_dither, 28) |
                          If(from.alpha_test, 27) | CodeOf(kCompares, from.alpha_compare) << 24 |
                          If(from.dither, 23));
    EXPECT_EQ(DwordsOf(packets.ps_blend)[1], If(from.alpha_to_coverage, 31) |
                                                 If(writes && pixels.writes_color, 30) | first |
                                                 If(from.alpha_test, 8) | If(independent, 7));
  }
}

TYPED_TEST(BitsTest, Rasterization) {
  for (int i = 0; i < kTimes; ++i) {
    Rasterization from{
        .primitive = this->template Enumerator<RasterPrimitive>(2),
        .front_mode = this->template Enumerator<PolygonMode>(2),
        .back_mode = this->template Enumerator<PolygonMode>(2),
        .cull = this->template Enumerator<CullMode>(3),
        .front_face = this->template Enumerator<FrontFace>(1),
        .provoking_vertex = this->template Enumerator<ProvokingVertex>(1),
        .discard = this->Coin(),
        .clip_near = this->Coin(),
        .clip_far = this->Coin(),
        .depth_range = this->template Enumerator<DepthRange>(1),
        .depth_bias = {.fill = this->Coin(),
                       .line = this->Coin(),
                       .point = this->Coin(),
                       .constant = this->Fraction(),
                       .slope = this->Fraction(),
                       .clamp = this->Fraction()},
        .clip_distances = {.clip = static_cast<uint8_t>(this->Number(255)),
                           .cull = static_cast<uint8_t>(this->Number(255)),
                           .clip_forced = this->Coin(),
                           .cull_forced = this->Coin()},
        .scissor = this->Coin(),
        .line_mode = this->template Enumerator<LineMode>(3),
        .line_width = static_cast<float>(this->Number(896)) / 128,
        .last_line_pixel = this->Coin(),
        .line_stipple = this->Coin(),
        .polygon_stipple = this->Coin(),
        .point_size = this->Coin() ? 0 : static_cast<float>(this->Number(2046) + 1) / 8,
        .smooth_points = this->Coin(),
        .point_origin_upper_right = this->Coin(),
        .conservative = TypeParam::kVersion > 80 && this->Coin(),
        .viewports = this->Number(15) + 1,
        .layered = this->Coin(),
        .statistics = this->Coin(),
        .dereference = this->Number(2),
        .multisample = {.samples = 1u << this->Number(3),
                        .sample_mask = this->Number(0xffff),
                        .pixel_center_at_corner = this->Coin()}};
    if (TypeParam::kVersion == 80) from.clip_far = from.clip_near;
    const PixelTraits pixels{.barycentric = this->Number(63),
                             .tests = this->template Enumerator<TestOrder>(2),
                             .position = this->template Enumerator<PositionInterpolation>(2),
                             .force_dispatch = this->Coin()};
    RasterPackets<TypeParam> packets;
    const absl::Status status = DescribeRasterization<TypeParam>(from, pixels, packets);
    ASSERT_TRUE(status.ok()) << status;

    const bool triangles = from.primitive == RasterPrimitive::kTriangles;
    const auto has = [&](PolygonMode mode) {
      return triangles && (from.front_mode == mode || from.back_mode == mode);
    };
    const bool points = from.primitive == RasterPrimitive::kPoints || has(PolygonMode::kPoint);
    const bool lines =
        from.primitive == RasterPrimitive::kLines || (!points && has(PolygonMode::kLine));
    const bool several = from.multisample.samples > 1;
    const bool smooth = from.line_mode == LineMode::kSmooth;

    // Lines: the manual's table of modes. 2 is DX10.1.
    uint32_t api = 0;
    bool enable = several;
    if (lines && from.line_mode == LineMode::kRectangular) {
      // Wide ones are parallelograms before Gfx11.
      api = 2;
      enable = TypeParam::kVersion >= 110 || from.line_width <= 1;
    }
    if (lines && (smooth || from.line_mode == LineMode::kBresenham)) enable = false;
    constexpr uint32_t kCull[] = {1, 2, 3, 0};
    const Dwords raster = DwordsOf(packets.raster);
    EXPECT_EQ(raster[1],
              If(from.clip_near, 0) | If(from.scissor, 1) | If(smooth, 2) |
                  static_cast<uint32_t>(from.back_mode) << 3 |
                  static_cast<uint32_t>(from.front_mode) << 5 | If(from.depth_bias.point, 7) |
                  If(from.depth_bias.line, 8) | If(from.depth_bias.fill, 9) | If(enable, 12) |
                  If(from.smooth_points, 13) | CodeOf(kCull, from.cull) << 16 |
                  If(from.front_face == FrontFace::kCounterClockwise, 21) | api << 22 |
                  If(from.conservative, 24) | If(TypeParam::kVersion > 80 && from.clip_far, 26));
    EXPECT_EQ(raster[2], std::bit_cast<uint32_t>(from.depth_bias.constant));
    EXPECT_EQ(raster[3], std::bit_cast<uint32_t>(from.depth_bias.slope));
    EXPECT_EQ(raster[4], std::bit_cast<uint32_t>(from.depth_bias.clamp));

    const bool last = from.provoking_vertex == ProvokingVertex::kLast;
    const uint32_t strip = last ? 2 : 0, line = last ? 1 : 0, fan = last ? 2 : 1;
    const Dwords clip = DwordsOf(packets.clip);
    EXPECT_EQ(clip[1], from.clip_distances.cull | If(from.statistics, 10) |
                           If(from.clip_distances.clip_forced, 17) | 1u << 18 |
                           If(from.clip_distances.cull_forced, 20));
    EXPECT_EQ(clip[2], 1u << 31 | If(from.depth_range == DepthRange::kZeroToOne, 30) |
                           If(!points && !lines, 28) | 1u << 26 |
                           uint32_t{from.clip_distances.clip} << 16 |
                           (from.discard ? 3u : 0u) << 13 | If(pixels.barycentric >> 3 != 0, 8) |
                           strip << 4 | line << 2 | fan);
    // Points of 1/8 to 255 7/8 pixels, in eighths.
    EXPECT_EQ(clip[3], 1u << 17 | 2047u << 6 | If(!from.layered, 5) | (from.viewports - 1));

    float width = from.line_width;
    if (!several && !smooth && from.line_mode != LineMode::kRectangular) {
      width = std::floor(width + 0.5f);
    }
    if (!several && smooth && width < 1.5f) width = 0;
    uint32_t steps = static_cast<uint32_t>(std::lround(width * 128));
    const bool narrow = TypeParam::kVersion == 80;
    if (narrow) steps = std::min(steps, 1023u);
    const Dwords sf = DwordsOf(packets.sf);
    EXPECT_EQ(sf[1], (narrow ? 0 : steps << 12) | If(from.statistics, 10) | 1u << 1);
    EXPECT_EQ(sf[2], (narrow ? steps << 18 : 0) | (smooth ? 1u : 0u) << 16 |
                         (TypeParam::kVersion >= 120 ? from.dereference << 29 : 0));
    const uint32_t size = from.point_size == 0 ? 8 : static_cast<uint32_t>(from.point_size * 8);
    EXPECT_EQ(sf[3], If(from.last_line_pixel, 31) | strip << 29 | line << 27 | fan << 25 |
                         1u << 14 | If(from.smooth_points, 13) | If(from.point_size != 0, 11) |
                         size);

    constexpr uint32_t kOrders[] = {0, 2, 1}, kPositions[] = {0, 2, 3};
    const uint32_t granularity = TypeParam::kVersion >= 125 ? 2u << 24 : 0;  // 64 x 64 pixels
    EXPECT_EQ(DwordsOf(packets.wm)[1],
              If(from.statistics, 31) | granularity | CodeOf(kOrders, pixels.tests) << 21 |
                  (pixels.force_dispatch ? 2u : 0u) << 19 |
                  CodeOf(kPositions, pixels.position) << 17 | pixels.barycentric << 11 | 1u << 6 |
                  If(from.polygon_stipple, 4) | If(from.line_stipple, 3) |
                  If(from.point_origin_upper_right, 2));
    EXPECT_EQ(DwordsOf(packets.multisample)[1],
              If(from.multisample.pixel_center_at_corner, 4) |
                  static_cast<uint32_t>(std::countr_zero(from.multisample.samples)) << 1);
    EXPECT_EQ(DwordsOf(packets.sample_mask)[1],
              from.multisample.sample_mask & ((1u << from.multisample.samples) - 1));
  }
}

// Two layouts: up to Gfx11, and that of Xe2 and Xe3. (Those between are the captures'.)
TYPED_TEST(BitsTest, DepthBuffers) {
  if (TypeParam::kVersion > 110 && TypeParam::kVersion < 200) GTEST_SKIP() << "see captures_test";
  const bool is_new = TypeParam::kVersion >= 200;
  constexpr uint32_t kFormats[] = {SurfaceFormat::R32_FLOAT, SurfaceFormat::R24_UNORM_X8_TYPELESS,
                                   SurfaceFormat::R16_UNORM};
  constexpr uint32_t kCodes[] = {1, 3, 5};  // D32_FLOAT, D24_UNORM_X8_UINT, D16_UNORM
  for (int i = 0; i < kTimes; ++i) {
    const uint32_t format = this->Number(2);
    ImageSurface depth{.memory = {uint64_t{this->Number(0xffffff)} << 12 | uint64_t{1} << 40},
                       .format = kFormats[format],
                       .mocs = this->Number(62) + 1,
                       .width = this->Number(16383) + 1,
                       .height = this->Number(16383) + 1,
                       .first_level = this->Number(14),
                       .first_layer = this->Number(1000),
                       .layers = this->Number(1000) + 1,
                       .tiling = is_new ? SurfaceTiling::k4 : SurfaceTiling::kY,
                       .pitch = (this->Number(2047) + 1) * 128,
                       .qpitch = this->Number(0x7fff) * 4};
    // 64 KiB tiles, and compression by a code of the manual.
    if (is_new && this->Coin()) depth.tiling = SurfaceTiling::k64;
    if (is_new && this->Coin()) {
      depth.auxiliary = {.mode = AuxiliaryMode::kCcsE, .compression_format = this->Number(15)};
    }
    ImageSurface stencil = depth;
    stencil.format = SurfaceFormat::R8_UINT;
    stencil.memory.gpu += 0x1000000;
    stencil.pitch = (this->Number(1023) + 1) * 128;
    if (!is_new) stencil.tiling = SurfaceTiling::kW;
    const HierarchicalDepth blocks{.memory = {uint64_t{this->Number(0xffffff)} << 12 | 1u << 30},
                                   .pitch = (this->Number(1023) + 1) * 128,
                                   .qpitch = this->Number(0x7fff) * 4};
    const bool has_stencil = this->Coin();
    DepthPackets<TypeParam> packets;
    const absl::Status status =
        DescribeDepthTargets<TypeParam>({.depth = &depth,
                                         .stencil = has_stencil ? &stencil : nullptr,
                                         .hierarchical = blocks,
                                         .mocs = 2},
                                        packets);
    ASSERT_TRUE(status.ok()) << status;
    const uint32_t w = depth.width - 1, h = depth.height - 1, last = depth.layers - 1;
    const uint32_t tiles = depth.tiling == SurfaceTiling::k64 ? 1 : 3;
    const auto low = [](const address& a) { return static_cast<uint32_t>(a.gpu); };
    const auto high = [](const address& a) { return static_cast<uint32_t>(a.gpu >> 32); };
    // The dwords after the address, which both buffers have from Xe2 on.
    const Dwords shape = {h << 17 | w << 1, last << 20 | depth.first_layer << 8 | depth.mocs,
                          tiles << 30 | 15u << 26 | depth.auxiliary.compression_format,
                          last << 21 | depth.first_level << 16 | depth.qpitch / 4};
    const Dwords d = DwordsOf(packets.depth), s = DwordsOf(packets.stencil);
    EXPECT_EQ(d[2], low(depth.memory));
    EXPECT_EQ(d[3], high(depth.memory));
    if (is_new) {
      EXPECT_EQ(d[1], 1u << 29 | 1u << 28 | kCodes[format] << 24 | 1u << 22 | (depth.pitch - 1));
      EXPECT_EQ(Dwords(d.begin() + 4, d.begin() + 8), shape);
    } else {
      EXPECT_EQ(d[1], 1u << 29 | 1u << 28 | If(has_stencil, 27) | 1u << 22 | kCodes[format] << 18 |
                          (depth.pitch - 1));
      EXPECT_EQ(d[4], h << 18 | w << 4 | depth.first_level);
      EXPECT_EQ(d[5], last << 21 | depth.first_layer << 10 | depth.mocs);
      EXPECT_EQ(d[7], last << 21 | depth.qpitch / 4);
    }
    if (has_stencil) {
      EXPECT_EQ(s[2], low(stencil.memory));
      EXPECT_EQ(s[3], high(stencil.memory));
      if (is_new) {
        EXPECT_EQ(s[1], 1u << 29 | 1u << 28 | (stencil.pitch - 1));
        EXPECT_EQ(Dwords(s.begin() + 4, s.begin() + 8), shape);
      } else {
        EXPECT_EQ(s[1], 1u << 31 | stencil.mocs << 22 | (stencil.pitch - 1));
        EXPECT_EQ(s[4], stencil.qpitch / 4);
      }
    } else {
      // Type 7: none.
      EXPECT_EQ(s[1], is_new ? 7u << 29 : 2u << 22);
    }
    // Stencil alone: up to Gfx11 the packet of depth has its size, later there is no depth.
    DepthPackets<TypeParam> alone;
    const absl::Status stencil_status =
        DescribeDepthTargets<TypeParam>({.stencil = &stencil, .mocs = 2}, alone);
    ASSERT_TRUE(stencil_status.ok()) << stencil_status;
    const Dwords a = DwordsOf(alone.depth);
    EXPECT_EQ(a[1] >> 29, is_new ? 7u : 1u);
    EXPECT_EQ(a[4], is_new ? 0 : h << 18 | w << 4 | depth.first_level);
    const Dwords b = DwordsOf(packets.hierarchical);
    EXPECT_EQ(b[1], depth.mocs << 25 | (is_new ? 3u << 22 : 0) | (blocks.pitch - 1));
    EXPECT_EQ(b[2], low(blocks.memory));
    EXPECT_EQ(b[3], high(blocks.memory));
    EXPECT_EQ(b[4], blocks.qpitch / 4);
  }
}

// Codes of formats.
struct ElementFormat {
  uint32_t code;
  unsigned components;
  bool integers;
};
constexpr ElementFormat kElementFormats[] = {
    {0x000, 4, false},  // R32G32B32A32_FLOAT
    {0x002, 4, true},   // R32G32B32A32_UINT
    {0x040, 3, false},  // R32G32B32_FLOAT
    {0x085, 2, false},  // R32G32_FLOAT
    {0x0c7, 4, false},  // R8G8B8A8_UNORM
    {0x0ce, 2, true},   // R16G16_SINT
    {0x0d7, 1, true},   // R32_UINT
    {0x0d8, 1, false},  // R32_FLOAT
};

TYPED_TEST(BitsTest, VertexElements) {
  using G = typename TypeParam::Packets;
  for (int i = 0; i < kTimes; ++i) {
    const ElementFormat& format = kElementFormats[this->Number(std::size(kElementFormats) - 1)];
    const VertexAttribute attributes[] = {
        {.format = 0x143,  // R8_UINT
         .buffer = this->Number(32),
         .offset = this->Number(2047),
         .edge_flag = true},
        {.format = format.code, .buffer = this->Number(32), .offset = this->Number(2047)}};
    const auto plan = PlanVertexInput({.attributes = attributes}, {});
    ASSERT_TRUE(plan.ok()) << plan.status();
    ASSERT_EQ(plan->count, 2u);
    // 1: from memory, 2: zero, 3 and 4: one, as a float and as an integer.
    uint32_t controls[4];
    for (unsigned c = 0; c < 4; ++c) {
      controls[c] = c < format.components ? 1 : c < 3 ? 2 : format.integers ? 4 : 3;
    }
    EXPECT_EQ(DwordsOf(ElementOf<G>(plan->elements[0])),
              StructureFromBits(2, {{0, 11, attributes[1].offset},
                                    {16, 24, format.code},
                                    {25, 25, 1},
                                    {26, 31, attributes[1].buffer},
                                    {48, 50, controls[3]},
                                    {52, 54, controls[2]},
                                    {56, 58, controls[1]},
                                    {60, 62, controls[0]}}));
    // Edge flags come last, and store no component but their own.
    EXPECT_EQ(DwordsOf(ElementOf<G>(plan->elements[1])),
              StructureFromBits(2, {{0, 11, attributes[0].offset},
                                    {15, 15, 1},
                                    {16, 24, 0x143},
                                    {25, 25, 1},
                                    {26, 31, attributes[0].buffer},
                                    {60, 62, 1}}));
  }
}

TYPED_TEST(BitsTest, VertexFetch) {
  const bool packs = TypeParam::kVersion >= 90, has_parameters = TypeParam::kVersion >= 110;
  const VertexAttribute attributes[] = {{.format = SurfaceFormat::R32G32B32_FLOAT, .read = 0b101},
                                        {.format = SurfaceFormat::R16G16_SINT,
                                         .buffer = 3,
                                         .offset = 20,
                                         .step = VertexStep::kInstance,
                                         .divisor = 7,
                                         .read = 0b11}};
  gpu::HostChunks chunks;
  Batch<TypeParam> batch(chunks);
  DrawState<TypeParam> state(address(0x1000, 1));
  state.InheritAll();
  const auto plan = SetVertexInput({.attributes = attributes,
                                    .ids = {.first_vertex = true,
                                            .first_instance = true,
                                            .vertex = true,
                                            .instance = true,
                                            .draw = true},
                                    .pack_components = packs},
                                   state);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_TRUE(state.Flush(batch)) << state.status();
  ASSERT_TRUE(batch.End().ok());
  const auto decoded =
      World().Put(chunks.chunks()).Decode(TypeParam::kName, batch.parts()[0].chunk.gpu);
  std::map<std::string, std::vector<Dwords>> emitted;
  for (const Met& met : decoded.packets) emitted[met.name].push_back(met.dwords);

  // Elements 2 and 3 are the ids: four components in the one, the draw's number in the other.
  using All = std::vector<Dwords>;
  EXPECT_EQ(emitted["3DSTATE_VF_INSTANCING"],
            (All{FromBits(3, 0x49, {{32, 37, 0}}),
                 FromBits(3, 0x49, {{32, 37, 1}, {40, 40, 1}, {64, 95, 7}}),
                 FromBits(3, 0x49, {{32, 37, 2}}), FromBits(3, 0x49, {{32, 37, 3}})}));
  EXPECT_EQ(emitted["3DSTATE_VF_SGVS"],
            (All{FromBits(
                2, 0x4a,
                {{32, 37, 2}, {45, 46, 2}, {47, 47, 1}, {48, 53, 2}, {61, 62, 3}, {63, 63, 1}})}));
  if (packs) {
    EXPECT_EQ(
        emitted["3DSTATE_VF_COMPONENT_PACKING"],
        (All{FromBits(5, 0x55, {{32, 35, 0b101}, {36, 39, 0b11}, {40, 43, 0xf}, {44, 47, 1}})}));
  }
  // The first vertex and instance, not the parameters 0 and 1 of the draw; and parameter 2.
  if (has_parameters) {
    EXPECT_EQ(emitted["3DSTATE_VF_SGVS_2"], (All{FromBits(3, 0x56,
                                                          {{32, 37, 2},
                                                           {44, 44, 1},
                                                           {45, 46, 0},
                                                           {47, 47, 1},
                                                           {48, 53, 2},
                                                           {60, 60, 1},
                                                           {61, 62, 1},
                                                           {63, 63, 1},
                                                           {64, 69, 3},
                                                           {77, 78, 0},
                                                           {79, 79, 1}})}));
  }
}

TYPED_TEST(BitsTest, Samplers) {
  // The manual's functions tell which texels are rejected.
  constexpr uint32_t kRejected[] = {0, 4, 6, 2, 7, 3, 5, 1};
  constexpr uint32_t kMipFilters[] = {0, 1, 3}, kReductions[] = {0, 2, 3};
  for (int i = 0; i < kTimes; ++i) {
    const uint32_t bias = this->Number(8191), least = this->Number(14 * 256),
                   most = this->Number(14 * 256);
    const Sampler from{
        .min_filter = this->template Enumerator<Filter>(1),
        .mag_filter = this->template Enumerator<Filter>(1),
        .mip_filter = this->template Enumerator<MipFilter>(2),
        .wrap = {this->template Enumerator<Wrap>(6), this->template Enumerator<Wrap>(6),
                 this->template Enumerator<Wrap>(6)},
        .lod_bias = static_cast<float>(bias) / 256 - 16,
        .min_lod = static_cast<float>(least) / 256,
        .max_lod = static_cast<float>(most) / 256,
        .anisotropy = this->Number(15) + 1,
        .compares = this->Coin(),
        .compare = this->template Enumerator<Compare>(7),
        .reduction = TypeParam::kVersion > 80 ? this->template Enumerator<Reduction>(2)
                                              : Reduction::kAverage,
        .unnormalized = this->Coin(),
        .seamless = this->Coin()};
    const uint32_t border = this->Number(0xffff) << 6;
    SamplerState<TypeParam> state;
    const absl::Status status = DescribeSampler<TypeParam>(from, border, state);
    ASSERT_TRUE(status.ok()) << status;

    // Images of textures without levels that skip some are always smaller.
    const bool smaller = from.mip_filter == MipFilter::kNone && least != 0;
    const bool linear_min = from.min_filter == Filter::kLinear;
    const bool linear_mag = (smaller ? from.min_filter : from.mag_filter) == Filter::kLinear;
    const bool anisotropic = from.anisotropy > 1;
    const uint32_t linear = anisotropic ? 2 : 1;
    const Dwords d = DwordsOf(state);
    ASSERT_EQ(d.size(), 4u);
    EXPECT_EQ(d[0], If(anisotropic, 0) | ((bias - 4096) & 0x1fff) << 1 |
                        (linear_min ? linear : 0) << 14 | (linear_mag ? linear : 0) << 17 |
                        CodeOf(kMipFilters, from.mip_filter) << 20 | 2u << 27);
    EXPECT_EQ(d[1], If(from.seamless, 0) |
                        (from.compares ? CodeOf(kRejected, from.compare) : 0) << 1 | most << 8 |
                        (smaller ? 0 : least) << 20);
    EXPECT_EQ(d[2], border);
    EXPECT_EQ(d[3], static_cast<uint32_t>(from.wrap[2]) | static_cast<uint32_t>(from.wrap[1]) << 3 |
                        static_cast<uint32_t>(from.wrap[0]) << 6 |
                        If(from.reduction != Reduction::kAverage, 9) | If(from.unnormalized, 10) |
                        If(linear_min, 13) | If(linear_mag, 14) | If(linear_min, 15) |
                        If(linear_mag, 16) | If(linear_min, 17) | If(linear_mag, 18) |
                        (anisotropic ? (from.anisotropy - 2) / 2 : 0) << 19 |
                        CodeOf(kReductions, from.reduction) << 22);
  }
}

// What packets of stages and CFE_STATE point to, on Gfx12.5 and Xe2: a buffer with an entry for
// each thread.
TYPED_TEST(BitsTest, ScratchSurfaces) {
  const ScratchSurface from{
      .memory = {0x123456789000, 3}, .size = 4096 * 1000, .per_thread = 4096, .mocs = 6};
  Dwords dwords(SurfaceState<TypeParam>::length);
  const absl::Status status = WriteSurface<TypeParam>(from, dwords.data());
  EXPECT_EQ(status.ok(), TypeParam::kFacts.has_scratch_surfaces) << status;
  if (!status.ok()) return;
  // 999, the last entry, has its low 7 bits in the width, and the others in the height.
  EXPECT_EQ(dwords, StructureFromBits(16, {{14, 15, 3},      // 128 bytes
                                           {16, 17, 1},      // 4 rows
                                           {18, 26, 0x1ff},  // RAW
                                           {29, 31, 6},
                                           {56, 62, 6},
                                           {64, 77, 999 % 128},
                                           {80, 93, 999 / 128},
                                           {96, 113, 4095},
                                           {176, 178, 2},  // the first level writes back
                                           {240, 242, 7},
                                           {243, 245, 6},
                                           {246, 248, 5},
                                           {249, 251, 4},
                                           {256, 319, 0x123456789000}}));
}

}  // namespace
}  // namespace packsmith::intel
