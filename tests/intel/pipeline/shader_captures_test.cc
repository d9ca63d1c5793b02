// The packets of shader stages that iris (and, on Gfx8, hasvk) submitted: each of them is what
// these functions make of the facts that the driver's compiler knew.
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "runtime/intel/device/render_devices.h"
#include "runtime/intel/pipeline/payload_packets.h"
#include "runtime/intel/pipeline/stage_packets.h"
#include "runtime/intel/pipeline/thread_payload.h"
#include "runtime/intel/pipeline/varying_packets.h"
#include "tests/intel/batch/tested.h"
#include "tests/intel/pipeline/capture.h"
#include "tests/intel/pipeline/packed.h"

namespace packsmith::intel {
namespace {

template <class Gen>
class ShaderCapturesTest : public testing::Test {
 protected:
  using G = typename Gen::Packets;

  void SetUp() override {
    if (CaptureOf(Gen::kName).empty()) GTEST_SKIP() << "there is no capture of " << Gen::kName;
  }
  static RenderDevice Device() {
    const struct {
      unsigned version;
      const char* device;
    } devices[] = {
        {80, "bdw gt2"}, {90, "skl gt2"}, {110, "icl 8 banks"}, {120, "tgl 8 banks"}, {125, "dg2"},
    };
    for (const auto& each : devices) {
      if (each.version == Gen::kVersion) return *FindRenderDevice(each.device);
    }
    return {};
  }
  static std::set<Dwords> Captured(const char* name) {
    const auto& all = CaptureOf(Gen::kName);
    const auto found = all.find(name);
    return found == all.end() ? std::set<Dwords>() : found->second;
  }
  // Every packet of the driver is one of ours.
  static void ExpectAll(const char* name, const std::set<Dwords>& ours) {
    const std::set<Dwords> theirs = Captured(name);
    EXPECT_FALSE(theirs.empty()) << name;
    for (const Dwords& packet : theirs) {
      std::string text;
      for (const uint32_t dword : packet) absl::StrAppendFormat(&text, " %08x", dword);
      EXPECT_EQ(ours.count(packet), 1u) << name << text;
    }
  }
};
TYPED_TEST_SUITE(ShaderCapturesTest, Generations);

TYPED_TEST(ShaderCapturesTest, VertexShaders) {
  using P = typename TypeParam::Packets::_3DSTATE_VS;
  std::set<Dwords> ours = {DwordsOf(*VertexShaderPacket<TypeParam>(nullptr, this->Device()))};
  for (const Dwords& packet : this->Captured("3DSTATE_VS")) {
    // Where the kernel is, is not for packets to decide.
    const VertexShader shader{
        .program = {.binding_table_entries = 1},
        .entry = {.offset = P::unpack(packet.data()).kernel_start_pointer, .start_register = 2},
        .urb_read_length = 1};
    ours.insert(DwordsOf(*VertexShaderPacket<TypeParam>(&shader, this->Device())));
  }
  this->ExpectAll("3DSTATE_VS", ours);
}

TYPED_TEST(ShaderCapturesTest, StagesThatAreOff) {
  const RenderDevice device = this->Device();
  this->ExpectAll("3DSTATE_HS", {DwordsOf(*TessControlPacket<TypeParam>(nullptr, device))});
  this->ExpectAll("3DSTATE_TE", {DwordsOf(TessellatorPacket<TypeParam>(nullptr, false))});
  this->ExpectAll("3DSTATE_DS", {DwordsOf(*TessEvalPacket<TypeParam>(nullptr, device))});
  this->ExpectAll("3DSTATE_GS", {DwordsOf(*GeometryShaderPacket<TypeParam>(nullptr, device))});
}

TYPED_TEST(ShaderCapturesTest, FragmentShaders) {
  using P = typename TypeParam::Packets::_3DSTATE_PS;
  std::set<Dwords> ours;
  size_t without_kernel = 0;
  for (const Dwords& dwords : this->Captured("3DSTATE_PS")) {
    const P theirs = P::unpack(dwords.data());
    if constexpr (requires { theirs._8_pixel_dispatch_enable; }) {
      const uint64_t first = theirs.kernel_start_pointer_0, second = theirs.kernel_start_pointer_2;
      if (!theirs._8_pixel_dispatch_enable && !theirs._16_pixel_dispatch_enable) {
        // A clear of depth: a kernel that never runs. We call it off, and the packet is zero but
        // for what the driver left in it.
        ++without_kernel;
        ours.insert(dwords);
        continue;
      }
      // The program's own shader: constants, a texture and a target.
      const FragmentShader draw{
          .program = {.binding_table_entries = 3, .samplers = 1, .vector_mask = true},
          .simd8 = ShaderEntry{.offset = first, .start_register = 4},
          .simd16 = ShaderEntry{.offset = second, .start_register = 6},
          .inputs = 1,
          .constants = true};
      // A copy from a texture to a target.
      const FragmentShader copy{.program = {.binding_table_entries = 2, .samplers = 1},
                                .simd8 = ShaderEntry{.offset = first, .start_register = 4},
                                .simd16 = ShaderEntry{.offset = second, .start_register = 6},
                                .inputs = 2};
      // A clear to a color.
      const FragmentShader clear{.program = {.binding_table_entries = 1},
                                 .simd16 = ShaderEntry{.offset = first, .start_register = 2},
                                 .inputs = 1};
      const auto insert = [&](const FragmentShader& shader, PixelOperation operation) {
        const auto packet =
            FragmentShaderPacket<TypeParam>(&shader, {.operation = operation}, this->Device());
        if (!packet.ok()) return;  // Gfx8 does not resolve partially
        ours.insert(DwordsOf(*packet));
        if (shader.constants) {
          // iris does not know Wa_1606682166; the driver's library for copies does.
          P prefetching = *packet;
          prefetching.sampler_count = 1;
          ours.insert(DwordsOf(prefetching));
        }
      };
      insert(draw, PixelOperation::kDraw);
      insert(copy, PixelOperation::kDraw);
      insert(clear, PixelOperation::kDraw);
      insert(clear, PixelOperation::kFastClear);
      insert(clear, PixelOperation::kPartialResolve);
    }
  }
  EXPECT_LE(without_kernel, 1u);
  this->ExpectAll("3DSTATE_PS", ours);
}

// Mesa's compilers let constants begin directly behind what the hardware delivers first.
TYPED_TEST(ShaderCapturesTest, StartRegistersAreThoseOfPayloads) {
  using G = typename TypeParam::Packets;
  int vertex_shaders = 0, fragment_shaders = 0;
  for (const Dwords& dwords : this->Captured("3DSTATE_VS")) {
    const auto packet = G::_3DSTATE_VS::unpack(dwords.data());
    if (!packet.enable) continue;
    const VertexShader shader = ReadVertexShader<TypeParam>(packet);
    const auto payload = PayloadOf(shader, TypeParam::kFacts);
    ASSERT_TRUE(payload.ok()) << payload.status();
    EXPECT_EQ(payload->before_start, shader.entry.start_register);
    ++vertex_shaders;
  }
  for (const Dwords& dwords : this->Captured("3DSTATE_PS")) {
    const auto packet = G::_3DSTATE_PS::unpack(dwords.data());
    if constexpr (requires { packet.push_constant_enable; }) {
      if (!packet.push_constant_enable) continue;
      // The program's own shader, which reads one perspective input.
      const FragmentShader shader = ReadFragmentShader<TypeParam>(
          packet, {.attribute_enable = true, .pixel_shader_valid = true},
          {.barycentric_interpolation_mode = kPerspectivePixel},
          {.number_of_sf_output_attributes = 1});
      for (const unsigned lanes : {8, 16}) {
        const auto payload = PayloadOf(shader, lanes, TypeParam::kFacts);
        ASSERT_TRUE(payload.ok()) << payload.status();
        EXPECT_EQ(payload->before_start,
                  (lanes == 8 ? shader.simd8 : shader.simd16)->start_register);
      }
      ++fragment_shaders;
    }
  }
  // hasvk's capture has only clears and copies.
  const bool draws = TypeParam::kVersion != 80;
  EXPECT_EQ(vertex_shaders > 0, draws);
  EXPECT_EQ(fragment_shaders > 0, draws);
}

TYPED_TEST(ShaderCapturesTest, ExtraBits) {
  const FragmentShader plain{.inputs = 1}, kills{.inputs = 1, .kills_pixels = true};
  this->ExpectAll("3DSTATE_PS_EXTRA", {DwordsOf(*FragmentExtraPacket<TypeParam>(nullptr)),
                                       DwordsOf(*FragmentExtraPacket<TypeParam>(&plain)),
                                       DwordsOf(*FragmentExtraPacket<TypeParam>(&kills))});
}

TYPED_TEST(ShaderCapturesTest, Attributes) {
  const Varying written[] = {Location(0), Location(1)};
  const auto plan = [&](unsigned count, Interpolation interpolation) {
    FragmentInputs inputs;
    for (unsigned i = 0; i < count; ++i) {
      inputs.Add({.what = written[i], .interpolation = interpolation});
    }
    return *PlanAttributes(*MakeVertexLayout(written), inputs);
  };
  AttributePlan drawn = plan(1, Interpolation::kPerspective);
  drawn.sprite_origin_is_below = true;
  EXPECT_FALSE(drawn.overrides);
  drawn.overrides = true;  // iris always says so; here it has no effect
  std::set<Dwords> ours = {DwordsOf(SetupPacket<TypeParam>(drawn))};
  for (const unsigned count : {0, 1, 2}) {
    ours.insert(DwordsOf(SetupPacket<TypeParam>(plan(count, Interpolation::kFlat))));
  }
  this->ExpectAll("3DSTATE_SBE", ours);
  if (!this->Captured("3DSTATE_SBE_SWIZ").empty()) {
    this->ExpectAll("3DSTATE_SBE_SWIZ", {DwordsOf(SwizzlePacket<TypeParam>(drawn))});
  }
}

}  // namespace
}  // namespace packsmith::intel
