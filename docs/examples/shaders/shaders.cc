// What docs/pipeline.md shows of shaders, built and run. Each block of the page is here between
// "// Page: <name>" and "// End", and a test compares the two.
#include <cstdint>
#include <cstdio>

#include "docs/examples/must.h"
#include "runtime/intel/device/render_devices.h"
#include "runtime/intel/pipeline/color_operations.h"
#include "runtime/intel/pipeline/mesh_packets.h"
#include "runtime/intel/pipeline/payload_packets.h"
#include "runtime/intel/pipeline/stage_packets.h"
#include "runtime/intel/pipeline/thread_payload.h"
#include "runtime/intel/pipeline/varying_packets.h"
#include "runtime/intel/state/gfx125.h"
#include "runtime/intel/state/gfx9.h"
#include "runtime/intel/state/pipeline_state.h"

namespace {

using example::Expect;
using example::Must;
using namespace packsmith::intel;  // NOLINT: an example

void Shaders() {
  const RenderDevice device = Must(FindRenderDevice("skl gt2"));
  // Page: shaders
  // What a compiler says of its two programs. Offsets are from the instruction base.
  const VertexShader vertex{
      .program = {.binding_table_entries = 1},
      .entry = {.offset = 0x1000, .start_register = 2},
      .urb_read_length = 2,  // three or four vertex elements
  };
  FragmentShader fragment{
      .program = {.binding_table_entries = 3, .samplers = 1, .vector_mask = true},
      .simd8 = ShaderEntry{.offset = 0x2000, .start_register = 6},
      .simd16 = ShaderEntry{.offset = 0x2400, .start_register = 10},
      .constants = true,
      .kills_pixels = true,
  };
  // End

  PipelineState<Gfx9> pipeline;
  // Page: varyings
  // The vertex shader writes two locations, the fragment shader reads them the other way around.
  const Varying written[] = {Location(0), Location(5)};
  const VertexLayout layout = Must(MakeVertexLayout(written));
  FragmentInputs inputs;
  inputs.Add({.what = Location(5), .place = InterpolationPlace::kCentroid});
  inputs.Add({.what = Location(0), .interpolation = Interpolation::kFlat});
  inputs.Add({.what = Varying::kPrimitiveId, .interpolation = Interpolation::kFlat});

  fragment.inputs = inputs.count;
  fragment.barycentrics = BarycentricsOf(inputs, fragment.per_sample);
  Must(AddAttributes(Must(PlanAttributes(layout, inputs)), pipeline));
  // End

  // Page: add
  Must(AddShaders({.vertex = &vertex,
                   .fragment = &fragment,
                   .fragment_reads_primitive_id = true,
                   .target = {.samples = 4}},
                  device, pipeline));
  const PixelTraits traits = TraitsOf(&fragment);  // for AddRasterization()
  // End
  Expect(traits.barycentric == kPerspectiveCentroid && traits.force_dispatch, "the traits");

  // Page: payload
  const ThreadPayload payload = Must(PayloadOf(fragment, 8, Gfx9::kFacts, {.constant_units = 2}));
  std::fputs(payload.ToText().c_str(), stdout);
  // r0       thread header
  // r1       masks and positions of pixels
  // r2-r3    barycentric coordinates (perspective, centroid)
  // r6-r7    push constants
  // r8-r9    planes of attribute 0
  // r10-r11  planes of attribute 1
  // r12-r13  planes of attribute 2
  // End
  Expect(payload.before_start <= fragment.simd8->start_register, "the start register");

  const auto packet = Must(VertexShaderPacket<Gfx9>(&vertex, device));
  uint32_t dwords[packsmith::gfx9::_3DSTATE_VS::length];
  Expect(!packet.pack(dwords), "the packet packs");
  // Page: read
  const auto found = packsmith::gfx9::_3DSTATE_VS::unpack(dwords);  // of a dump
  const ThreadPayload registers =
      Must(PayloadOf(ReadVertexShader<Gfx9>(found), Gfx9::kFacts, {.constant_units = 4}));
  const PayloadPart* const part = registers.At(9);
  // End
  Expect(part != nullptr && part->kind == PayloadKind::kVertexElement && part->index == 0,
         "register 9 has the first element's w");
}

void Clears() {
  // Page: color
  // All of a level with texels of 4 bytes.
  const ColorRectangle rectangle = Must(PlanColorOperation({.operation = PixelOperation::kFastClear,
                                                            .width = 256,
                                                            .height = 128,
                                                            .level_width = 256,
                                                            .level_height = 128},
                                                           Gfx9::kFacts));
  // From 0, 0 to 4, 4: each pixel of the draw stands for 64 x 32 pixels.
  // End
  Expect(rectangle == ColorRectangle{0, 0, 4, 4}, "the rectangle");
}

void Meshes() {
  const RenderDevice device = Must(FindRenderDevice("dg2"));
  PipelineState<Gfx125> pipeline;
  // Page: meshes
  // From Gfx12.5 on scratch memory is a surface; here its state is 0x40 after the base.
  const MeshShader mesh{
      .group = {.program = {.scratch = {.bytes_per_thread = 2048, .surface = 0x40}},
                .entry = 0x3000,
                .simd = 16,
                .invocations = 32,
                .local_bytes = 4096,
                .barriers = 1},
      .output = MeshOutput::kTriangles,
      .most_primitives = 64,
      .vertex_pitch_bytes = 64,
      .vertex_header_bytes = 32,  // the header and the position
      .vertex_read_bytes = 32,
  };
  const FragmentShader fragment{.simd16 = ShaderEntry{.offset = 0x4000, .start_register = 6}};
  Must(AddMeshShaders({.mesh = &mesh, .fragment = &fragment}, device, pipeline));
  // End
}

}  // namespace

int main() {
  Shaders();
  Clears();
  Meshes();
  return 0;
}
