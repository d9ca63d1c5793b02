#include "tests/agx/frame.h"

#include <algorithm>

namespace packsmith::agx {

using namespace g13;

Bytes& Bytes::Words(std::initializer_list<uint32_t> words) {
  for (const uint32_t word : words) {
    for (int shift = 0; shift < 32; shift += 8)
      bytes_.push_back(static_cast<uint8_t>(word >> shift));
  }
  return *this;
}

PPP_State PppState(uint64_t address, uint32_t bytes) {
  return {.pointer_hi = static_cast<uint32_t>(address >> 32),
          .size_words = bytes / 4,
          .pointer_lo = address & 0xffffffff};
}

VDM_Stream_Link Link(uint64_t target, bool with_return) {
  return {.target_hi = static_cast<uint32_t>(target >> 32),
          .with_return = with_return,
          .target_lo = target & 0xffffffff};
}

Bytes WholePppRecord() {
  PPP_Header header{
      .fragment_control = true,
      .fragment_control_2 = true,
      .fragment_front_face = true,
      .fragment_front_face_2 = true,
      .fragment_front_stencil = true,
      .fragment_back_face = true,
      .fragment_back_face_2 = true,
      .fragment_back_stencil = true,
      .depth_bias_scissor = true,
      .region_clip = true,
      .viewport = true,
      .viewport_count = 2,
      .w_clamp = true,
      .output_select = true,
      .varying_counts_32 = true,
      .varying_counts_16 = true,
      .cull = true,
      .cull_2 = true,
      .fragment_shader = true,
      .occlusion_query = true,
      .occlusion_query_2 = true,
      .output_unknown = true,
      .output_size = true,
      .varying_word_2 = true,
  };
  header.fragment_control_state.visibility_mode = Visibility_Mode::Counting;
  header.fragment_control_2_state.pass_type = Pass_type::Punch_through;
  header.fragment_front_face_state = {.stencil_reference = 0x12, .line_width = 0x0f};
  header.fragment_front_face_2_state.conservative_depth = Conservative_depth::Unchanged;
  header.fragment_front_stencil_state = {.write_mask = 0xff, .read_mask = 0xff};
  header.fragment_back_face_state.polygon_mode = Polygon_Mode::Line;
  header.fragment_back_face_2_state.object_type = Object_Type::Line;
  header.fragment_back_stencil_state.stencil_fail = Stencil_Op::Incr_Wrap;
  header.depth_bias_scissor_state = {.scissor = 3, .depth_bias = 5};
  header.w_clamp_state.w_clamp = 1e-10f;
  header.output_select_state = {.varyings = true, .frag_coord_z = true};
  header.varying_counts_32_state = {.smooth = 4, .flat = 2, .linear = 1};
  header.varying_counts_16_state.smooth = 6;
  header.cull_state.cull_back = true;
  header.cull_2_state.clamp_w = true;
  header.fragment_shader_word_0 = {
      .sampler_state_register_count = Sampler_states::_8_extended,
      .cf_binding_count = 2,
  };
  header.fragment_shader_word_1.pipeline = kFragmentProgram;
  header.fragment_shader_word_2.cf_bindings = kBindings;
  header.fragment_shader_word_3.unknown = 1;
  header.occlusion_query_state.index = 77;
  header.output_size_state.count = 9;
  const Region_clip clips[2] = {{.max_x = 20, .max_y = 10}, {.max_x = 1, .enable = true}};
  const Viewport viewports[2] = {{.translate_x = 320, .scale_x = 320}, {.scale_z = 0.5f}};
  Bytes bytes;
  bytes.Add(header, span<const Region_clip>(clips), span<const Viewport>(viewports));
  return bytes;
}

void PutPrograms(decode::World& world) {
  world.PutBytes(kVertexProgram,
                 Bytes()
                     .Add(USC_Uniform{.start_halfs = 0, .size_halfs = 8, .buffer = kUniforms})
                     .Add(USC_Sampler{.count = 2, .buffer = kSamplers})
                     .Add(USC_Shared{.layout_ = Shared_layout::Vertex_compute})
                     .Add(USC_Shader{.unk_2 = 3, .code = kCode})
                     .Add(USC_Registers{.register_count = 16})
                     .Add(USC_No_Preshader{})
                     .get());
  world.PutBytes(kFragmentProgram,
                 Bytes()
                     .Add(USC_Texture{.count = 2, .buffer = kTextures})
                     .Add(USC_Sampler{.count = 2, .buffer = kSamplers})
                     .Add(USC_Uniform_High{.start_halfs = 1, .size_halfs = 64, .buffer = kUniforms})
                     .Add(USC_Shader{.loads_varyings = true, .code = kCode + 0x100})
                     .Add(USC_Fragment_Properties{.early_z_testing = true})
                     .Add(USC_Preshader{.code = kPreshader})
                     .get());
  world.PutBytes(kKernel,
                 Bytes().Add(USC_Registers{.register_count = 256}).Add(USC_No_Preshader{}).get());
  world.PutBytes(kCode, std::vector<uint8_t>(0x200, 0x11));
  world.PutBytes(kPreshader, std::vector<uint8_t>(0x20, 0x22));
  const CF_binding bindings[2] = {
      {.components = 1, .shade_model = Shade_model::Linear},
      {.components = 4,
       .shade_model = Shade_model::Perspective,
       .base_slot = 2,
       .base_coefficient_register = 1},
  };
  uint8_t table[12] = {};
  EXPECT_FALSE(
      (CF_binding_header{.number_of_32_bit_slots = 6, .number_of_coefficient_registers = 5}.pack(
          table, bindings)));
  world.PutBytes(kBindings, {table, table + sizeof(table)});
  world.PutBytes(kUniforms, std::vector<uint8_t>(256, 0x3c));
  world.PutBytes(kTexels, std::vector<uint8_t>(64, 0x80));
  // Descriptors for sampling and for writing look alike; the second's address, read as the first's,
  // is another one.
  world.PutBytes(kTextures, Bytes()
                                .Add(Texture{.dimension = Texture_dimension::_2D,
                                             .layout_ = Layout::Twiddled,
                                             .channels = Channels::R8G8B8A8,
                                             .swizzle_g = Channel::G,
                                             .swizzle_b = Channel::B,
                                             .swizzle_a = Channel::_1,
                                             .width = 4,
                                             .height = 4,
                                             .address = kTexels})
                                .Add(PBE{.dimension = Texture_dimension::_2D,
                                         .layout_ = Layout::Twiddled,
                                         .channels = Channels::R16,
                                         .swizzle_g = 1,
                                         .swizzle_b = 2,
                                         .swizzle_a = 3,
                                         .width = 300,
                                         .height = 200,
                                         .buffer = kTexels,
                                         .levels = 2})
                                .get());
  // As two plain samplers, or as two with borders: the word that binds them decides.
  const Sampler sampler{.maximum_lod = 14.0f, .border_colour = Border_colour::Custom};
  Bytes samplers;
  for (uint32_t i = 0; i < 2; ++i) {
    samplers.Add(sampler).Add(Border{.channel_0 = 0x3f800000 + i, .channel_3 = i});
  }
  world.PutBytes(kSamplers, samplers.get());
}

void PutFrame(decode::World& world) {
  const Bytes record = WholePppRecord();
  world.PutBytes(kPpp, record.get());
  world.PutBytes(kIndices, {0, 0, 1, 0, 2, 0, 2, 0, 1, 0, 3, 0, 5, 0, 0, 0, 7, 0, 0, 0});
  VDM_State state{
      .restart_index_present = true,
      .vertex_shader_word_0_present = true,
      .vertex_shader_word_1_present = true,
      .vertex_outputs_present = true,
      .tessellation_present = true,
      .vertex_unknown_present = true,
  };
  state.restart_index.value = 0xffff;
  state.vertex_shader_word_0.sampler_state_register_count = Sampler_states::_4_compact;
  state.vertex_shader_word_1.pipeline = kVertexProgram;
  state.vertex_outputs = {.output_count_1 = 12, .output_count_2 = 12};
  state.tessellation.max_tess_factor = 64;
  state.vertex_unknown.flat_shading_control = VDM_Vertex::_2;
  VDM_State scale{.tessellation_scale_present = true};
  scale.tessellation_scale.scale = 1.5f;
  Index_List plain{.primitive = Primitive::Triangle_strip,
                   .index_count_present = true,
                   .instance_count_present = true,
                   .start_present = true};
  plain.index_count.count = 4;
  plain.instance_count.count = 2;
  Index_List indexed = plain;
  indexed.primitive = Primitive::Triangles;
  indexed.index_buffer_hi = kIndices >> 32;
  indexed.index_size = Index_size::U16;
  indexed.index_buffer_present = indexed.index_buffer_size_present = true;
  indexed.index_count.count = 6;
  indexed.index_buffer.buffer_lo = kIndices & 0xffffffff;
  indexed.index_buffer_size.size_ = 12;
  Index_List indirect{.primitive = Primitive::Points,
                      .unk_1_present = true,
                      .indirect_buffer_present = true,
                      .unk_2_present = true};
  indirect.indirect_buffer = {.address_hi = kIndices >> 32, .address_lo = kIndices & 0xffffffff};
  VDM_Tessellate patches{.factor_buffer_hi = kUniforms >> 32,
                         .factor_buffer_present = true,
                         .patch_count_present = true,
                         .indirect_present = true,
                         .factor_buffer_size_present = true};
  patches.factor_buffer.factor_buffer_lo = kUniforms & 0xffffffff;
  patches.patch_count.patch_count = 3;
  patches.instance_count.instance_count = 1;
  patches.indirect = {
      .address_hi = kIndices >> 32, .address_lo = (kIndices & 0xffffffff), .size_ = 12};
  patches.factor_buffer_size.size_words = 9;
  world.PutBytes(kVdm, Bytes()
                           .Add(PppState(kPpp, record.size()))
                           .Add(state)
                           .Add(scale)
                           .Add(plain)
                           .Add(Link(kCalled, true))
                           .Add(indexed)
                           .Add(Link(kSecondVdm, false))
                           .get());
  world.PutBytes(
      kCalled,
      Bytes().Add(VDM_Barrier{.usc_cache_inval = true}).Add(VDM_Barrier{.returns = true}).get());
  world.PutBytes(kSecondVdm, Bytes().Add(indirect).Add(patches).Add(VDM_Stream_Terminate{}).get());
  PutPrograms(world);
  world.Submit(kVdm, 0, "vdm", "render");
}

void PutCompute(decode::World& world) {
  CDM_Launch_Word_0 direct{.mode = CDM_Mode::Direct};
  direct.launch_word_1.pipeline = kKernel;
  direct.global_size = {.x = 64, .y = 32, .z = 1};
  direct.local_size = {.x = 8, .y = 4, .z = 1};
  CDM_Launch_Word_0 global = direct;
  global.mode = CDM_Mode::Indirect_global;
  global.indirect = {.address_hi = kIndices >> 32, .address_lo = kIndices & 0xffffffff};
  CDM_Launch_Word_0 local = global;
  local.mode = CDM_Mode::Indirect_local;
  world.PutBytes(kCdm, Bytes()
                           .Add(direct)
                           .Add(CDM_Barrier{.usc_cache_inval = true, .unk_5 = true})
                           .Add(global)
                           .Add(CDM_Stream_Link{.target_hi = kCdm >> 32,
                                                .target_lo = (kCdm & 0xffffffff) + 0x1000})
                           .get());
  world.PutBytes(kCdm + 0x1000, Bytes().Add(local).Add(CDM_Stream_Terminate{}).get());
  world.PutBytes(kIndices, std::vector<uint8_t>(24, 1));
  world.PutBytes(kKernel,
                 Bytes().Add(USC_Registers{.register_count = 256}).Add(USC_No_Preshader{}).get());
  world.Submit(kCdm, 0, "", "compute");
}

}  // namespace packsmith::agx
