// Packets that iris submitted for tessellation, geometry and many kinds of fragment shaders
// (drivers_packets.txt): each of them is what these functions make of the facts that its compiler
// knew, which are stated here.
#include <cstdint>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "runtime/intel/device/render_devices.h"
#include "runtime/intel/pipeline/payload_packets.h"
#include "runtime/intel/pipeline/stage_packets.h"
#include "runtime/intel/pipeline/varying_packets.h"
#include "tests/intel/batch/tested.h"
#include "tests/intel/pipeline/packed.h"

namespace packsmith::intel {
namespace {

template <class Gen>
class DriversPacketsTest : public testing::Test {
 protected:
  using G = typename Gen::Packets;
  // From Gfx12 on iris compiles hull shaders for a patch in each lane.
  static constexpr bool kPatchPerLane = Gen::kVersion >= 120;

  void SetUp() override {
    if (Gen::kVersion >= 200) GTEST_SKIP() << "this iris does not know " << Gen::kName;
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
  static std::vector<Dwords> PacketsOf(const std::string& name) {
    std::vector<Dwords> packets;
    std::ifstream file("tests/intel/pipeline/drivers_packets.txt");
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string generation, packet;
      words >> generation >> packet;
      if (generation != Gen::kName || packet != name) continue;
      packets.emplace_back();
      for (std::string word; words >> word;) {
        packets.back().push_back(static_cast<uint32_t>(std::stoul(word, nullptr, 16)));
      }
    }
    EXPECT_FALSE(packets.empty()) << name;
    return packets;
  }
  template <class P>
  static P Packet(const absl::StatusOr<P>& packet) {
    EXPECT_TRUE(packet.ok()) << packet.status();
    return packet.ok() ? *packet : P();
  }
  // `ours` makes packets of the driver's kernels; one of them must be the driver's.
  template <class P, class F>
  static void ExpectAll(const std::string& name, F ours) {
    for (const Dwords& theirs : PacketsOf(name)) {
      bool found = false;
      for (const P& packet : ours(P::unpack(theirs.data()))) found |= DwordsOf(packet) == theirs;
      std::string text;
      for (const uint32_t dword : theirs) absl::StrAppendFormat(&text, " %08x", dword);
      EXPECT_TRUE(found) << name << text;
    }
  }
};
TYPED_TEST_SUITE(DriversPacketsTest, Generations);

TYPED_TEST(DriversPacketsTest, VertexShaders) {
  using P = typename TypeParam::Packets::_3DSTATE_VS;
  this->template ExpectAll<P>("3DSTATE_VS", [&](const P& theirs) {
    const VertexShader shader{.entry = {.offset = theirs.kernel_start_pointer, .start_register = 2},
                              .urb_read_length = 1};
    return std::vector<P>{this->Packet(VertexShaderPacket<TypeParam>(nullptr, this->Device())),
                          this->Packet(VertexShaderPacket<TypeParam>(&shader, this->Device()))};
  });
}

TYPED_TEST(DriversPacketsTest, HullShaders) {
  using P = typename TypeParam::Packets::_3DSTATE_HS;
  this->template ExpectAll<P>("3DSTATE_HS", [&](const P& theirs) {
    TessControlShader shader{.program = {.binding_table_entries = 1},
                             .entry = {.offset = theirs.kernel_start_pointer, .start_register = 5},
                             .input_control_points = 4};
    if (this->kPatchPerLane) {
      shader.dispatch = HullDispatch::kPatchPerLane;
      shader.instances = 4;
      shader.primitive_id = true;
      shader.entry.start_register = 7;
    }
    const P ours = this->Packet(TessControlPacket<TypeParam>(&shader, this->Device()));
    // The start register is the least that is permitted.
    EXPECT_EQ(PayloadOf(ReadTessControl<TypeParam>(ours), TypeParam::kFacts)->before_start,
              shader.entry.start_register);
    return std::vector<P>{P(), ours};
  });
}

TYPED_TEST(DriversPacketsTest, Tessellators) {
  using P = typename TypeParam::Packets::_3DSTATE_TE;
  // GL's clockwise is the hardware's other way around.
  const Tessellator quads{.domain = TessDomain::kQuad,
                          .spacing = TessSpacing::kFractionalOdd,
                          .output = TessOutput::kTriangleCounterClockwise};
  const Tessellator triangles{.output = TessOutput::kTriangleClockwise};
  this->template ExpectAll<P>("3DSTATE_TE", [&](const P&) {
    return std::vector<P>{P(), TessellatorPacket<TypeParam>(&quads, false),
                          TessellatorPacket<TypeParam>(&triangles, false)};
  });
}

TYPED_TEST(DriversPacketsTest, DomainShaders) {
  using P = typename TypeParam::Packets::_3DSTATE_DS;
  this->template ExpectAll<P>("3DSTATE_DS", [&](const P& theirs) {
    TessEvalShader shader{.entry = {.offset = theirs.kernel_start_pointer, .start_register = 5},
                          .patch_read_length = 4,
                          .primitive_id = false};
    const P triangles = this->Packet(TessEvalPacket<TypeParam>(&shader, this->Device()));
    EXPECT_EQ(PayloadOf(shader, TypeParam::kFacts)->before_start, 5u);
    shader.tessellator.domain = TessDomain::kQuad;
    shader.program.binding_table_entries = 1;
    return std::vector<P>{P(), triangles,
                          this->Packet(TessEvalPacket<TypeParam>(&shader, this->Device()))};
  });
}

TYPED_TEST(DriversPacketsTest, GeometryShaders) {
  using P = typename TypeParam::Packets::_3DSTATE_GS;
  this->template ExpectAll<P>("3DSTATE_GS", [&](const P& theirs) {
    const GeometryShader triangles{
        .entry = {.offset = theirs.kernel_start_pointer, .start_register = 6},
        .urb_read_length = 1,
        .primitive_id = true,
        .invocations = 2,
        .output_vertex_bytes = 64,
        .control_bytes = 32,
        .output_vertices = 3};
    const GeometryShader points{
        .entry = {.offset = theirs.kernel_start_pointer, .start_register = 3},
        .urb_read_length = 2,
        .input_vertices = 1,
        .output = GeometryOutput::kLineStrip,
        .output_vertex_bytes = 64,
        .control_bytes = 32,
        .output_vertices = 2};
    std::vector<P> ours = {P()};
    for (const GeometryShader* shader : {&triangles, &points}) {
      ours.push_back(this->Packet(GeometryShaderPacket<TypeParam>(shader, this->Device())));
      EXPECT_EQ(PayloadOf(*shader, TypeParam::kFacts)->before_start, shader->entry.start_register);
    }
    return ours;
  });
}

TYPED_TEST(DriversPacketsTest, FragmentShaders) {
  using P = typename TypeParam::Packets::_3DSTATE_PS;
  this->template ExpectAll<P>("3DSTATE_PS", [&](const P& theirs) {
    std::vector<P> ours;
    if constexpr (requires { theirs._8_pixel_dispatch_enable; }) {
      // One perspective input; the start registers follow from what else is read.
      FragmentShader shader{.inputs = 1, .barycentrics = kPerspectivePixel};
      shader.program.vector_mask = theirs.vector_mask_enable;
      const auto add = [&](const FragmentShader& changed, const PixelTarget& target = {}) {
        FragmentShader placed = changed;
        // Which kernels there are is the compiler's choice; they are where the driver put them.
        const bool alone = !theirs._8_pixel_dispatch_enable;
        const auto start = [&](unsigned lanes) {
          return static_cast<uint32_t>(PayloadOf(placed, lanes, TypeParam::kFacts)->before_start);
        };
        placed.simd8 = ShaderEntry{.offset = alone ? theirs.kernel_start_pointer_1
                                                   : theirs.kernel_start_pointer_0};
        placed.simd16 = ShaderEntry{.offset = alone ? theirs.kernel_start_pointer_0
                                                    : theirs.kernel_start_pointer_2};
        if (theirs._32_pixel_dispatch_enable) {
          placed.simd32 = ShaderEntry{.offset = theirs.kernel_start_pointer_1};
          placed.simd32->start_register = start(32);
        }
        placed.simd8->start_register = start(8);
        placed.simd16->start_register = start(16);
        ours.push_back(
            this->Packet(FragmentShaderPacket<TypeParam>(&placed, target, this->Device())));
      };
      const auto with = [&](uint32_t entries, auto change) {
        FragmentShader changed = shader;
        changed.program.binding_table_entries = entries;
        change(changed);
        return changed;
      };
      add(with(1, [](FragmentShader&) {}));
      add(with(1, [](FragmentShader& s) { s.coverage = CoverageInput::kNormal; }));
      const auto position = [](FragmentShader& s) { s.source_depth = s.source_w = true; };
      add(with(2, position));  // writes a buffer
      add(with(2, [&](FragmentShader& s) {
        position(s);
        s.constants = true;  // the height of the target, for gl_FragCoord
      }));
      add(with(2, [&](FragmentShader& s) {
        position(s);
        s.constants = true;
        s.barycentrics = kPerspectivePixel | kPerspectiveCentroid;
      }));
      // Once a sample: of one, and of four.
      add(with(1, [](FragmentShader& s) { s.per_sample = true; }));
      add(with(1,
               [](FragmentShader& s) {
                 s.per_sample = true;
                 s.barycentrics = kPerspectivePixel | kPerspectiveSample;
               }),
          {.samples = 4});
      // Where scratch memory is, is the driver's choice, too.
      ShaderScratch scratch{.bytes_per_thread = 256 << 10};
      bool scratches = true;
      if constexpr (requires { theirs.scratch_space_buffer; }) {
        scratch.surface = theirs.scratch_space_buffer << TypeParam::kFacts.scratch_pointer_shift;
        scratches = scratch.surface != 0;
      } else {
        scratch.place = theirs.scratch_space_base_pointer;
      }
      if (scratches) {
        add(with(2, [&](FragmentShader& s) {
          s.constants = true;
          s.program.scratch = scratch;
        }));
      }
      // A clear to a color, by the driver's library for copies.
      for (const auto operation : {PixelOperation::kFastClear, PixelOperation::kDraw}) {
        FragmentShader clear{.program = {.binding_table_entries = 1}};
        clear.simd16 = ShaderEntry{.offset = theirs.kernel_start_pointer_0, .start_register = 2};
        ours.push_back(this->Packet(
            FragmentShaderPacket<TypeParam>(&clear, {.operation = operation}, this->Device())));
      }
    }
    return ours;
  });
}

TYPED_TEST(DriversPacketsTest, ExtraBits) {
  using P = typename TypeParam::Packets::_3DSTATE_PS_EXTRA;
  this->template ExpectAll<P>("3DSTATE_PS_EXTRA", [&](const P&) {
    const FragmentShader shaders[] = {
        {.inputs = 1},
        {.inputs = 1, .source_depth = true, .source_w = true},
        {.inputs = 1, .source_depth = true, .source_w = true, .kills_pixels = true},
        {.inputs = 1, .computed_depth = ComputedDepth::kAny},
        {.inputs = 1, .per_sample = true},
        {.inputs = 1, .coverage = CoverageInput::kNormal},
        {.inputs = 1, .coverage = CoverageInput::kNormal, .writes_sample_mask = true},
    };
    std::vector<P> ours;
    for (const FragmentShader& shader : shaders) {
      ours.push_back(this->Packet(FragmentExtraPacket<TypeParam>(&shader)));
    }
    return ours;
  });
}

TYPED_TEST(DriversPacketsTest, Attributes) {
  using Sbe = typename TypeParam::Packets::_3DSTATE_SBE;
  using Swizzles = typename TypeParam::Packets::_3DSTATE_SBE_SWIZ;
  const Varying written[] = {Location(0), Location(1), Location(2)};
  const auto plan_of = [&](std::vector<FragmentInput> inputs) {
    FragmentInputs all;
    for (const FragmentInput& input : inputs) all.Add(input);
    AttributePlan plan = *PlanAttributes(*MakeVertexLayout(written), all);
    // iris always allows overrides, and replaces what points read only while points are drawn.
    plan.overrides = plan.sprite_origin_is_below = true;
    plan.sprites = 0;
    return plan;
  };
  const FragmentInput zero{.what = Location(0)}, one{.what = Location(1)}, two{.what = Location(2)};
  FragmentInput flat_one = one, flat_two = two;
  flat_one.interpolation = flat_two.interpolation = Interpolation::kFlat;
  const FragmentInput id{.what = Varying::kPrimitiveId}, point{.what = Varying::kPointCoordinate};
  std::vector<AttributePlan> plans = {plan_of({zero, one}), plan_of({zero, flat_one}),
                                      plan_of({zero, one, flat_two}),
                                      plan_of({id, point, zero, one})};
  this->template ExpectAll<Swizzles>("3DSTATE_SBE_SWIZ", [&](const Swizzles&) {
    std::vector<Swizzles> ours;
    for (const AttributePlan& plan : plans) ours.push_back(SwizzlePacket<TypeParam>(plan));
    return ours;
  });
  // The clear, which has no such packet.
  plans.push_back(plan_of({{.what = Location(0), .interpolation = Interpolation::kFlat}}));
  plans.back().overrides = plans.back().sprite_origin_is_below = false;
  this->template ExpectAll<Sbe>("3DSTATE_SBE", [&](const Sbe&) {
    std::vector<Sbe> ours;
    for (const AttributePlan& plan : plans) ours.push_back(SetupPacket<TypeParam>(plan));
    return ours;
  });
}

}  // namespace
}  // namespace packsmith::intel
