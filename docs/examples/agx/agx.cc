// What docs/agx.md shows, built and run: a whole frame for the M1. Each block of the page is here
// between "// Page: <name>" and "// End", and a test compares the two. Arguments: see device.h.
#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "docs/examples/device.h"
#include "docs/examples/must.h"
#include "packsmith/agx_g13.h"
#include "runtime/agx/control_stream.h"
#include "runtime/agx/descriptors.h"
#include "runtime/agx/iterate.h"
#include "runtime/agx/ppp.h"
#include "runtime/agx/usc.h"
#include "runtime/agx/varying_records.h"
#include "runtime/agx/varyings.h"
#include "runtime/command/buffer_chunks.h"
#include "runtime/kernel/asahi/asahi_device.h"
#include "runtime/kernel/asahi/render_pass.h"
#include "runtime/layout/layout.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/buffers.h"
#include "runtime/memory/residency.h"
#include "runtime/memory/state_pool.h"
#include "runtime/memory/state_stream.h"

namespace {

using example::Expect;
using example::Must;
namespace g13 = packsmith::agx_g13;
using namespace packsmith::agx;  // NOLINT: an example
using namespace packsmith::gpu;  // NOLINT
using packsmith::address;

uint32_t Bits(float value) { return __builtin_bit_cast(uint32_t, value); }

// Page: generation
using G13 = g13::generation;  // or that of agx_g14.h, agx_g14x.h
// End

// Page: varyings
// What a compiler knows of its shaders: two vertex shaders, and the fragment shaders they go with.
constexpr Output kColored[] = {
    {.location = 0, .components = 1, .name = "material"},
    {.location = 1, .components = 3, .name = "colour"},
};
constexpr Input kColorInputs[] = {
    {.location = 0, .components = 1, .interpolation = Interpolation::kFlat, .name = "material"},
    {.location = 1, .components = 3, .name = "colour"},
};
constexpr Output kTextured[] = {
    {.location = 0, .components = 2, .name = "texcoord"},
    {.location = 2, .components = 3, .precision = Precision::k16, .name = "normal"},
};
constexpr Input kTextureInputs[] = {
    {.location = 0, .components = 2, .name = "texcoord"},
    {.location = 2, .components = 3, .precision = Precision::k16, .name = "normal"},
};
// End

// Page: memory
// Programs, code and bindings lie within 4 GiB from this address, which the kernel driver knows.
constexpr ZoneRow kZones[] = {
    {.name = "programs", .begin = 0x1100000000, .size = kGiB},
    {.name = "data", .begin = 0x1500000000, .size = 4 * kGiB},
};
const ProgramBase kPrograms(0x1100000000);
// End

// Page: tile
// 32 by 32 pixels of one sample, whose colours take 8 bytes: no less can be said.
constexpr g13::USC_Shared kTile{.uses_shared_memory = true,
                                .layout_ = g13::Shared_layout::_32x32,
                                .sample_stride_in_8_bytes = 1,
                                .bytes_per_threadgroup = 32 * 32 * 8};
// End

class Frame {
 public:
  Frame(Buffers& buffers, AddressSpace& space)
      : buffers_(buffers),
        program_zone_(Must(space.FindZone("programs"))),
        data_zone_(Must(space.FindZone("data"))),
        program_pool_(
            Must(StatePool::Create(buffers, space, {.zone = program_zone_, .name = "programs"}))),
        data_pool_(Must(StatePool::Create(buffers, space, {.zone = data_zone_, .name = "state"}))),
        programs_(*program_pool_, 64 * kKiB),
        data_(*data_pool_, 64 * kKiB) {}

  GpuMemory Program(size_t bytes) { return MemoryOf(Must(programs_.Allocate(bytes, 64))); }
  GpuMemory Data(size_t bytes) { return MemoryOf(Must(data_.Allocate(bytes, 64))); }
  // What a compiler would have made: placeholder bytes.
  address Code() {
    const GpuMemory code = Program(64);
    std::memset(code.bytes.data(), 0x11, 64);
    return code.gpu;
  }
  address Constants(absl::Span<const float> values) {
    const GpuMemory memory = Data(values.size() * sizeof(float));
    std::memcpy(memory.bytes.data(), values.data(), values.size() * sizeof(float));
    return memory.gpu;
  }
  Buffer Image(uint64_t bytes, const char* name) {
    return Must(buffers_.Create({.size = bytes, .zone = data_zone_, .name = name}));
  }

  // A vertex program with its code and constants; what the VDM needs of it.
  g13::VDM_State VertexState(const Linkage& linkage, absl::Span<const float> constants) {
    // Page: usc
    UscProgram<G13> program(Program(64), kPrograms, uses);
    program.Uniforms(0, Constants(constants), static_cast<uint32_t>(constants.size()) * 2);
    program.Emit(g13::USC_Shared{.layout_ = g13::Shared_layout::Vertex_compute});
    program.Shader({}, Code());
    program.Emit(g13::USC_Registers{.register_count = 32});
    const address pipeline = Must(program.End());
    // End
    g13::VDM_State state{
        .vertex_shader_word_0_present = true,
        .vertex_shader_word_1_present = true,
        .vertex_outputs_present = true,
        .vertex_unknown_present = true,
    };
    state.vertex_shader_word_0 = {.uniform_register_count = 64, .texture_state_register_count = 0};
    state.vertex_shader_word_1.pipeline = pipeline;
    state.vertex_outputs = VertexOutputWord<G13>(linkage.shape());
    state.vertex_unknown = FlatShadingWord<G13>(linkage);
    return state;
  }

  // What every draw of this frame has: how it is rasterized.
  static g13::PPP_Header Rasterization() {
    g13::PPP_Header header{
        .fragment_control = true,
        .fragment_front_face = true,
        .fragment_front_face_2 = true,
        .w_clamp = true,
        .cull = true,
        .cull_2 = true,
    };
    header.fragment_front_face_state.line_width = 0x0f;
    header.fragment_front_face_state.depth_function = g13::ZS_Func::Lequal;
    header.fragment_front_face_2_state.depth_function = g13::ZS_Func::Always;
    header.w_clamp_state.w_clamp = 1e-10f;
    header.cull_state.depth_clip = true;
    return header;
  }

  // The parts that go with a fragment shader.
  g13::PPP_Header FragmentState(const Linkage& linkage, const address& pipeline,
                                g13::Sampler_states samplers) {
    // Page: bindings
    const GpuMemory table = Program(4 + 4 * linkage.bindings().size());
    Must(PackBindings<G13>(linkage, table.bytes));

    g13::PPP_Header header{.fragment_control_2 = true, .fragment_shader = true};
    SetVaryings<G13>(linkage, header);
    SetFlatShading<G13>(linkage, header);
    header.fragment_shader_word_0 = {
        .uniform_register_count = 64,
        .texture_state_register_count = 8,
        .sampler_state_register_count = samplers,
        .cf_binding_count = static_cast<uint32_t>(linkage.bindings().size()),
    };
    header.fragment_shader_word_1.pipeline = pipeline;
    header.fragment_shader_word_2.cf_bindings = Must(kPrograms.Offset(table.gpu));
    // End
    return header;
  }

  BufferUses uses;

 private:
  Buffers& buffers_;
  const ZoneId program_zone_, data_zone_;
  std::unique_ptr<StatePool> program_pool_, data_pool_;
  StateStream programs_, data_;
};

absl::StatusOr<packsmith::layout::Layout> LayoutOf(const char* format,
                                                   packsmith::layout::ImageDescription image) {
  image.format = packsmith::layout::FindFormat(format);
  return packsmith::layout::Layout::Of(image);
}

g13::Index_List Triangles(uint32_t vertices) {
  g13::Index_List draw{
      .primitive = g13::Primitive::Triangles,
      .index_count_present = true,
      .instance_count_present = true,
      .start_present = true,
  };
  draw.index_count.count = vertices;
  draw.instance_count.count = 1;
  return draw;
}

// What the fragment shader of the second draw reads half-way between two vertices, from the records
// alone.
void CheckVaryings(const Linkage& linkage, const CoefficientLayout& registers) {
  // Page: iterate
  // Two vertices as the vertex shader wrote them: position, texcoord, and normals in halves.
  const std::array<uint32_t, 8> near = {0, 0, 0, Bits(1), Bits(0), Bits(0), 0x3c00, 0};
  const std::array<uint32_t, 8> far = {0, 0, 0, Bits(3), Bits(1), Bits(1), 0x0000, 0};
  const OutputWords vertices[] = {near, far};
  const unsigned u = *registers.Find(/*location=*/0, /*component=*/0);
  const uint32_t value =
      Must(Iterate(linkage.shape(), linkage.bindings(), u, vertices, {.shares = {0.5, 0.5}}));
  // 0.25: the nearer half takes more of the screen.
  // End
  Expect(value == Bits(0.25f), "perspective is corrected");
}

void All(const example::DeviceOption& option) {
  auto device = option.Open({
      .device = {.family = "agx", .generation = "agx_g13", .chip_id = 0x8103},
      .address_bits = 40,
  });
  auto space = Must(AddressSpace::Create(Must(LayOutZones(kZones, {.top = uint64_t{1} << 40})),
                                         {.address_bits = 40}));
  auto buffers = Buffers::Create(*device, *space, {});
  const ZoneId data_zone = Must(space->FindZone("data"));
  Frame frame(*buffers, *space);
  BufferUses& uses = frame.uses;

  // Page: stream
  BufferChunks chunks(*buffers, {.zone = data_zone, .name = "vdm"});
  VdmStream<G13> vdm(chunks, uses);
  // End

  // Every record of the frame has the same rasterization, packed once.
  // Page: ppp
  const auto rasterization = Must(PppRecord<G13>::Of(Frame::Rasterization()));
  // End
  const g13::Viewport viewport[1] = {{.translate_x = 64,
                                      .scale_x = 64,
                                      .translate_y = 64,
                                      .scale_y = -64,
                                      .translate_z = 0,
                                      .scale_z = 1}};
  const g13::Region_clip clip[1] = {{.max_x = 4, .enable = true, .max_y = 4}};

  // -- Clear: a triangle that covers everything, in a colour that is a uniform --------------------
  {
    const Linkage nothing = Must(Link(VertexOutputs(), FragmentInputs()));
    UscProgram<G13> program(frame.Program(64), kPrograms, uses);
    program.Uniforms(0, frame.Constants({0.25f, 0.5f, 0.75f, 1.0f}), 8);
    program.Emit(kTile);
    program.Shader({}, frame.Code());
    program.Emit(g13::USC_Registers{.register_count = 16});
    program.Emit(g13::USC_Fragment_Properties{.early_z_testing = true});
    const auto shader = Must(PppRecord<G13>::Of(
        frame.FragmentState(nothing, Must(program.End()), g13::Sampler_states::_0)));
    const auto window =
        Must(PppRecord<G13>::Of({.region_clip = true, .viewport = true}, clip, viewport));
    // Page: merge
    const PppRecord<G13>* parts[] = {&rasterization, &shader, &window};
    const g13::PPP_State block = Must(MergePpp<G13>(frame.Data(512), uses, parts));
    vdm.Emit(block, frame.VertexState(nothing, {-1.0f, 3.0f}), Triangles(3));
    // End
  }

  // -- Two draws ---------------------------------------------------------------------------------
  {
    // Page: link
    const Linkage linkage = Must(Link({.varyings = kColored}, {.inputs = kColorInputs}));
    // End
    UscProgram<G13> program(frame.Program(64), kPrograms, uses);
    program.Shader({.loads_varyings = true}, frame.Code());
    program.Emit(g13::USC_Registers{.register_count = 32});
    program.Emit(g13::USC_Fragment_Properties{.early_z_testing = true});
    const auto shader = Must(PppRecord<G13>::Of(
        frame.FragmentState(linkage, Must(program.End()), g13::Sampler_states::_0)));
    const PppRecord<G13>* parts[] = {&rasterization, &shader};
    vdm.Emit(Must(MergePpp<G13>(frame.Data(512), uses, parts)),
             frame.VertexState(linkage, {1, 0, 0, 1}));

    // Page: indices
    const GpuMemory indices = frame.Data(12);
    const uint16_t kQuad[] = {0, 1, 2, 2, 1, 3};
    std::memcpy(indices.bytes.data(), kQuad, sizeof(kQuad));
    g13::Index_List draw = Triangles(6);
    draw.index_buffer_present = draw.index_buffer_size_present = true;
    draw.index_size = g13::Index_size::U16;
    draw.index_buffer_hi = High(indices.gpu);
    draw.index_buffer.buffer_lo = Low(indices.gpu);
    draw.index_buffer_size.size_ = sizeof(kQuad);
    vdm.Emit(draw);
    // End
  }
  {
    // Page: apart
    // The fragment shader was compiled with these registers, before any vertex shader was known.
    const FragmentInputs inputs = {.inputs = kTextureInputs, .reads_z = true};
    const CoefficientLayout registers = Must(CoefficientLayout::Of(inputs));
    const unsigned normal_x = *registers.Find(/*location=*/2, /*component=*/0);

    // Later the two are linked; the vertex shader looks up the places of its outputs.
    const OutputLayout outputs = Must(OutputLayout::Of({.varyings = kTextured}, inputs));
    const Linkage linkage = Must(Link(outputs, inputs, registers));
    const std::array<uint16_t, kLocations> words = outputs.WordTable();
    // End
    Expect(normal_x == 4 && words[2] == 6 && words[1] == OutputLayout::kNotWritten,
           "varyings are where the page says");
    CheckVaryings(linkage, registers);

    // Page: texture
    const auto layout = Must(
        packsmith::layout::Layout::Of({.format = packsmith::layout::FindFormat("R8G8B8A8_UNORM"),
                                       .width_px = 256,
                                       .height_px = 256,
                                       .levels = 9}));
    const Buffer image = frame.Image(layout.size_B(), "checkerboard");
    const g13::Texture texture = Must(TextureOf<G13>({
        .layout = &layout,
        .image = {image.address, image.handle},
        .channels = g13::Channels::R8G8B8A8,
        .srgb = true,
    }));
    const GpuMemory textures = frame.Data(g13::Texture::size);
    Must(WriteTable<g13::Texture>(textures, uses, {&texture, 1}));

    const g13::Sampler sampler{
        .maximum_lod = 14.0f,
        .maximum_anisotropy = 4,
        .magnify = g13::Filter::Linear,
        .minify = g13::Filter::Linear,
        .mip_filter = g13::Mip_filter::Linear,
    };
    const GpuMemory samplers = frame.Data(g13::Sampler::size);
    Must(WriteTable<g13::Sampler>(samplers, uses, {&sampler, 1}));
    // End

    UscProgram<G13> program(frame.Program(64), kPrograms, uses);
    program.Emit(g13::USC_Texture{.count = 1, .buffer = textures.gpu});
    program.Emit(g13::USC_Sampler{.count = 1, .buffer = samplers.gpu});
    program.Shader({.loads_varyings = true}, frame.Code());
    program.Emit(g13::USC_Registers{.register_count = 64});
    const address pipeline = Must(program.End(frame.Code()));
    const auto shader = Must(PppRecord<G13>::Of(
        frame.FragmentState(linkage, pipeline, Must(SamplerStatesFor<G13>(1, false)))));
    const PppRecord<G13>* parts[] = {&rasterization, &shader};
    vdm.Emit(Must(MergePpp<G13>(frame.Data(512), uses, parts)),
             frame.VertexState(linkage, {0, 0, 0, 0, 1, 1, 1, 1}), Triangles(36));
  }

  // Page: attachments
  const packsmith::layout::ImageDescription size = {
      .width_px = 128, .height_px = 128, .renderable = true};
  const auto color_layout = Must(LayoutOf("R8G8B8A8_UNORM", size));
  const auto depth_layout = Must(LayoutOf("Z32_FLOAT", size));
  const Buffer color = frame.Image(color_layout.size_B(), "colour");
  const Buffer depth = frame.Image(depth_layout.size_B(), "depth");
  // End

  // Page: tiles
  // What fills a tile with a colour, and what writes it to the image.
  UscProgram<G13> clear(frame.Program(64), kPrograms, uses);
  clear.Uniforms(0, frame.Constants({0, 0, 0, 1}), 8);
  clear.Emit(kTile);
  clear.Shader({}, frame.Code());
  clear.Emit(g13::USC_Registers{.register_count = 16});

  const g13::PBE image =
      Must(WrittenImageOf<G13>({.layout = &color_layout, .image = {color.address, color.handle}}));
  const GpuMemory images = frame.Data(g13::PBE::size);
  Must(WriteTable<g13::PBE>(images, uses, {&image, 1}));
  UscProgram<G13> store(frame.Program(64), kPrograms, uses);
  store.Emit(g13::USC_Texture{.count = 1, .buffer = images.gpu});
  store.Emit(kTile);
  store.Shader({}, frame.Code());
  store.Emit(g13::USC_Registers{.register_count = 16});

  // The hardware splits a pass whose primitives do not fit in memory: what there is of the image is
  // stored then, and read again. This reads it.
  const g13::Texture reload =
      Must(TextureOf<G13>({.layout = &color_layout, .image = {color.address, color.handle}}));
  const GpuMemory reloads = frame.Data(g13::Texture::size);
  Must(WriteTable<g13::Texture>(reloads, uses, {&reload, 1}));
  UscProgram<G13> load(frame.Program(64), kPrograms, uses);
  load.Emit(g13::USC_Texture{.count = 1, .buffer = reloads.gpu});
  load.Emit(kTile);
  load.Shader({}, frame.Code());
  load.Emit(g13::USC_Registers{.register_count = 16});
  // End

  // Page: pass
  Must(vdm.End());
  const StreamPart& first = vdm.parts().front();
  const AsahiPassImage colors[] = {
      {.layout = &color_layout, .image = {color.address, color.handle}}};  // cleared and stored
  AsahiPass pass = {.stream = first.chunk.gpu, .width = 128, .height = 128, .colors = colors};
  pass.depth = {.layout = &depth_layout,
                .image = {depth.address, depth.handle},
                .store = PassStore::kDiscard};
  pass.load = Must(TileProgramOf<G13>(Must(clear.End()), {.uniform_register_count = 64}));
  pass.store = Must(TileProgramOf<G13>(Must(store.End()), {.texture_state_register_count = 8}));
  pass.partial_load =
      Must(TileProgramOf<G13>(Must(load.End()), {.texture_state_register_count = 8}));
  pass.partial_store = pass.store;
  AsahiAttachments attachments;
  AsahiRender render = Must(RenderOf<G13>(pass, uses, attachments));
  // End

  // Page: submit
  Residency residency(*buffers);
  for (const BufferUse& use : uses.all()) Must(residency.Add(use.buffer, use.writes()));
  const JobBase bases[] = {{"programs", kPrograms.gpu()}};
  const Job drawing = {.engine = "render",
                       .batch_address = first.chunk.gpu,
                       .batch_length = first.total,
                       .residents = residency.residents(),
                       .bases = bases};
  auto* const gpu = dynamic_cast<AsahiDevice*>(device.get());  // null: a host
  std::optional<AsahiTimestamps> times;                        // that the GPU takes
  Fence rendered = 0;
  if (gpu != nullptr) {
    times.emplace(Must(gpu->CreateTimestamps(6)));
    render.vertex_begins = times->At(0);
    render.vertex_ends = times->At(1);
    render.fragment_begins = times->At(2);
    render.fragment_ends = times->At(3);
    rendered = Must(gpu->SubmitRender(drawing, render));
  } else {
    rendered = Must(device->Submit(drawing));
  }
  Must(buffers->Use(residency.handles(), rendered));
  // End

  // -- A dispatch ---------------------------------------------------------------------------------

  // Page: compute
  BufferChunks compute_chunks(*buffers, {.zone = data_zone, .name = "cdm"});
  CdmStream<G13> cdm(compute_chunks, uses);

  UscProgram<G13> kernel(frame.Program(64), kPrograms, uses);
  kernel.Emit(g13::USC_Shared{.layout_ = g13::Shared_layout::Vertex_compute});
  kernel.Shader({}, frame.Code());
  kernel.Emit(g13::USC_Registers{.register_count = 32});

  g13::CDM_Launch_Word_0 launch{.texture_state_register_count = 0};
  launch.launch_word_1.pipeline = Must(kernel.End());
  launch.global_size = {.x = 128, .y = 128, .z = 1};
  launch.local_size = {.x = 8, .y = 8, .z = 1};
  cdm.Emit(launch, g13::CDM_Barrier{.usc_cache_inval = true});
  Must(cdm.End());
  // End
  residency.Clear();
  for (const BufferUse& use : uses.all()) Must(residency.Add(use.buffer, use.writes()));
  const StreamPart& compute = cdm.parts().front();
  const Job job = {.engine = "compute",
                   .batch_address = compute.chunk.gpu,
                   .batch_length = compute.total,
                   .residents = residency.residents(),
                   .after = {&rendered, 1},
                   .bases = bases};
  Fence computed = 0;
  if (gpu != nullptr) {
    computed = Must(gpu->SubmitCompute(job, {.stream = compute.chunk.gpu,
                                             .stream_end = compute.chunk.gpu + compute.total,
                                             .begins = times->At(4),
                                             .ends = times->At(5)}));
  } else {
    computed = Must(device->Submit(job));
  }
  Must(buffers->Use(residency.handles(), computed));
  // Page: wait
  const bool drawn = Must(device->Wait(rendered, absl::Seconds(10)));
  // End
  Expect(drawn, "the frame is drawn");
  Expect(Must(device->Wait(computed, absl::Seconds(10))), "the dispatch after it is done, too");
  if (!times.has_value()) return;
  constexpr const char* kWork[] = {"vertices", "fragments", "compute"};
  for (uint32_t i = 0; i < 3; ++i) {
    std::printf("%s began %" PRIu64 ", ended %" PRIu64 "\n", kWork[i], times->Read(2 * i),
                times->Read(2 * i + 1));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const example::DeviceOption option(argc, argv, "RENDER_CORE COMPUTE_CORE", 2);
  All(option);
  option.KeepCores();
  return 0;
}
