// What docs/pipeline.md shows, built and run. Each block of the page is here between
// "// Page: <name>" and "// End", and a test compares the two. Arguments: see device.h.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>

#include "docs/examples/device.h"
#include "docs/examples/must.h"
#include "runtime/command/buffer_chunks.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/pipeline_select.h"
#include "runtime/intel/memory/driver_zones.h"
#include "runtime/intel/pipeline/depth_packets.h"
#include "runtime/intel/pipeline/output_packets.h"
#include "runtime/intel/pipeline/raster_packets.h"
#include "runtime/intel/pipeline/vertex_packets.h"
#include "runtime/intel/pipeline/viewport_packets.h"
#include "runtime/intel/state/draw_state.h"
#include "runtime/intel/state/gfx9.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/buffers.h"
#include "runtime/memory/residency.h"
#include "runtime/memory/state_stream.h"

namespace {

using example::Expect;
using example::Must;
using namespace packsmith::gpu;    // NOLINT: an example
using namespace packsmith::intel;  // NOLINT: an example
using packsmith::address;
namespace gfx9 = packsmith::gfx9;

// Page: attributes
struct Corner {
  float position[3];
  uint8_t color[4];
};
constexpr VertexAttribute kAttributes[] = {
    {.format = SurfaceFormat::R32G32B32_FLOAT, .offset = offsetof(Corner, position)},
    {.format = SurfaceFormat::R8G8B8A8_UNORM, .offset = offsetof(Corner, color)},
    {.format = SurfaceFormat::R32G32B32A32_FLOAT, .buffer = 1, .step = VertexStep::kInstance},
};
// End

void MakePipeline(PipelineState<Gfx9>& pipeline) {
  // Page: vertices
  const VertexPlan inputs = Must(AddVertexInput(
      {.attributes = kAttributes, .ids = {.vertex = true}, .topology = Topology::kTriangleStrip},
      pipeline));
  const gfx9::_3DSTATE_VS vertex_shader{.vertex_urb_entry_read_length = inputs.read_length};
  // End
  pipeline.Add(vertex_shader);
  // Page: raster
  const PixelTraits pixels{.barycentric = kPerspectivePixel};
  Must(AddRasterization<&gfx9::_3DSTATE_RASTER::cull_mode>(
      {.depth_bias = {.fill = true, .constant = 2, .slope = 1}, .multisample = {.samples = 4}},
      pixels, pipeline));
  // End
  // Page: output
  const BlendTarget targets[] = {BlendTarget::Over(), {.write_mask = kRed | kGreen}};
  const ColorBlend blend{.targets = targets, .alpha_to_coverage = true};
  Must(AddColorBlend(blend, pixels, pipeline));
  Must(AddDepthStencil({.depth_test = true, .depth_write = true, .depth_compare = Compare::kLess},
                       pipeline));
  Must(pipeline.status());
  // End
  // Page: refused
  PipelineState<Gfx9> other;
  const absl::Status status = AddRasterization({.line_width = 5000}, pixels, other);
  std::printf("%s\n", status.ToString().c_str());
  // INVALID_ARGUMENT: lines of 5000 pixels; the width must be 0 to 2047.99
  // End
  Expect(status.message() == "lines of 5000 pixels; the width must be 0 to 2047.99", "the error");
}

void All(const example::DeviceOption& option) {
  auto device = option.Open({.device = {.family = "intel", .generation = "gfx9", .verx10 = 90}});
  auto space = Must(AddressSpace::Create(Must(LayOutZones(IrisZones(), {.verx10 = 90}))));
  auto buffers = Buffers::Create(*device, *space, {});
  const ZoneId other = Must(space->FindZone("other"));
  const Buffer vertices = Must(buffers->Create({.size = 4096, .zone = other, .name = "vertices"}));
  const Buffer image =
      Must(buffers->Create({.size = 1024 * 128, .zone = other, .name = "depth", .zeroed = true}));
  const Buffer scratch = Must(buffers->Create({.size = 4096, .zone = other, .name = "scratch"}));
  auto pool = Must(StatePool::Create(*buffers, *space, {.zone = Must(space->FindZone("dynamic"))}));
  constexpr uint32_t kMocs = 4;

  PipelineState<Gfx9> pipeline;
  MakePipeline(pipeline);

  BufferChunks chunks(*buffers, {.zone = other});
  StateStream dynamic(*pool, 16384);
  Batch<Gfx9> batch(chunks);
  {
    Batch<Gfx9>::Group group(batch, PipelineSelectDwords<Gfx9>());
    EmitPipelineSelect<Gfx9>(group, Pipeline::k3D);
  }
  batch.Emit(gfx9::STATE_BASE_ADDRESS{.general_state_mocs = kMocs,
                                      .stateless_data_port_access_mocs = kMocs,
                                      .surface_state_mocs = kMocs,
                                      .dynamic_state_base_address_modify_enable = true,
                                      .dynamic_state_mocs = kMocs,
                                      .dynamic_state_base_address = pool->base(),
                                      .indirect_object_mocs = kMocs,
                                      .instruction_mocs = kMocs,
                                      .bindless_surface_state_mocs = kMocs});
  // Page: fixed
  Must(EmitFixedState(batch));
  // End
  DrawState<Gfx9> state;
  state.InheritAll();  // only what this page is about is emitted

  // Page: dynamic
  state.Bind(pipeline);
  state.SetFields<&gfx9::_3DSTATE_RASTER::cull_mode>(CullModeOf<Gfx9>(CullMode::kBack));
  const ViewportTarget target{.width = 256, .height = 128};
  const Viewport viewports[] = {{.width = 256, .height = 128}};
  const Scissor scissors[] = {{.x = 8, .y = 8, .width = 64, .height = 64}};
  Must(SetViewports<Gfx9>(viewports, target, dynamic, batch, state));
  Must(SetScissors<Gfx9>(scissors, target, dynamic, batch, state));
  // End
  // Page: blend
  const BlendTarget targets[] = {BlendTarget::Over(), {.write_mask = kRed | kGreen}};
  Must(SetBlendStates<Gfx9>({.targets = targets, .alpha_to_coverage = true}, {}, dynamic, batch,
                            state));
  Must(SetColorConstants<Gfx9>({.blend = {1, 1, 1, 0.5f}}, dynamic, batch, state));
  // End
  // Page: buffers
  const VertexBuffer streams[] = {
      {.memory = {vertices.address, vertices.handle}, .size = 2048, .stride = sizeof(Corner)},
      {.memory = {vertices.address + 2048, vertices.handle}, .size = 2048, .stride = 16},
  };
  Must(SetVertexBuffers<Gfx9>(streams, kMocs, state));
  // End
  // Page: depth
  const ImageSurface depth{.memory = {image.address, image.handle},
                           .format = SurfaceFormat::R32_FLOAT,
                           .mocs = kMocs,
                           .width = 256,
                           .height = 128,
                           .tiling = SurfaceTiling::kY,
                           .pitch = 1024,
                           .qpitch = 128};
  Must(SetDepthTargets<Gfx9>({.depth = &depth, .mocs = kMocs}, state));
  // End
  Expect(state.Flush(batch), "the state is emitted");
  // Page: clear
  const address overwritten(scratch.address, scratch.handle);
  Must(EmitDepthOperation<Gfx9>({.operation = DepthOperation::kClear,
                                 .clear_depth = true,
                                 .samples = 4,
                                 .width = 256,
                                 .height = 128},
                                overwritten, batch));
  // End
  Must(batch.End());

  Residency residency(*buffers);
  for (const BufferUse& use : batch.uses().all()) Must(residency.Add(use.buffer, use.writes()));
  const BatchPart& begin = batch.parts()[0];
  const Fence fence = Must(device->Submit({.engine = "render",
                                           .batch_address = begin.chunk.gpu,
                                           .batch_length = begin.total * uint64_t{4},
                                           .residents = residency.residents()}));
  Must(buffers->Use(residency.handles(), fence));
}

}  // namespace

int main(int argc, char** argv) {
  const example::DeviceOption option(argc, argv, "CORE");
  All(option);
  option.KeepCores();
  return 0;
}
