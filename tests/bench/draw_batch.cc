#include "tests/bench/draw_batch.h"

#include <cstddef>
#include <cstdlib>
#include <utility>

#include "absl/types/span.h"
#include "packsmith/gfx9.h"

namespace packsmith::bench {
namespace {

constexpr uint64_t kBatchAddress = 0x100000000;
constexpr uint64_t kStateAddress = 0x200000000;

class Writer {
 public:
  template <class Packet>
  void Emit(const Packet& packet) {
    const size_t at = dwords_.size();
    dwords_.resize(at + Packet::length);
    if (packet.pack(dwords_.data() + at)) std::abort();
  }
  template <class Packet, class Item>
  void Emit(const Packet& packet, const Item& item) {
    const size_t at = dwords_.size();
    dwords_.resize(at + Packet::dwords_needed(1));
    if (packet.pack(dwords_.data() + at, {&item, 1})) std::abort();
  }
  // Packs a structure at a byte offset.
  template <class Struct>
  void Place(size_t offset, const Struct& value) {
    if (dwords_.size() < offset / 4 + Struct::length) dwords_.resize(offset / 4 + Struct::length);
    if (value.pack(dwords_.data() + offset / 4)) std::abort();
  }
  std::vector<uint32_t> Take() { return std::move(dwords_); }

 private:
  std::vector<uint32_t> dwords_;
};

}  // namespace

const DrawBatch& TheDrawBatch() {
  static DrawBatch* const kInput = [] {
    auto* input = new DrawBatch;
    Writer state;
    state.Place(0, gfx9::BINDING_TABLE_STATE{.surface_state_pointer = 0x100});
    state.Place(4, gfx9::BINDING_TABLE_STATE{.surface_state_pointer = 0x140});
    state.Place(8, gfx9::BINDING_TABLE_STATE{.surface_state_pointer = 0x180});
    for (const size_t offset : {0x100, 0x140, 0x180}) {
      state.Place(offset, gfx9::RENDER_SURFACE_STATE{
                              .surface_format = 199,
                              .surface_type = gfx9::RENDER_SURFACE_STATE::SURFACE_TYPE_SURFTYPE_2D,
                              .mocs = 4,
                              .width = 1023,
                              .height = 767,
                              .surface_pitch = 4095,
                              .surface_base_address = 0x300000000,
                          });
    }
    state.Place(0x200, gfx9::SAMPLER_STATE{.max_lod = 14.0f});
    state.Place(0x210, gfx9::SAMPLER_STATE{.max_lod = 2.0f});
    input->state = state.Take();
    input->state.resize(1024);

    Writer batch;
    batch.Emit(gfx9::STATE_BASE_ADDRESS{
        .general_state_mocs = 4,
        .stateless_data_port_access_mocs = 4,
        .surface_state_base_address_modify_enable = true,
        .surface_state_mocs = 4,
        .surface_state_base_address = kStateAddress,
        .dynamic_state_base_address_modify_enable = true,
        .dynamic_state_mocs = 4,
        .dynamic_state_base_address = kStateAddress,
        .indirect_object_mocs = 4,
        .instruction_mocs = 4,
        .bindless_surface_state_mocs = 4,
    });
    for (uint64_t draw = 0; draw < kDrawBatchDraws; ++draw) {
      const auto n = static_cast<uint32_t>(draw);
      if (draw % 10 == 0) {
        batch.Emit(gfx9::PIPE_CONTROL{.texture_cache_invalidation_enable = true,
                                      .command_streamer_stall_enable = true});
      }
      batch.Emit(gfx9::_3DSTATE_VERTEX_BUFFERS{},
                 gfx9::VERTEX_BUFFER_STATE{.buffer_pitch = 32,
                                           .address_modify_enable = true,
                                           .mocs = 4,
                                           .buffer_starting_address = kStateAddress + 0x400,
                                           .buffer_size = 256 + n % 256});
      batch.Emit(gfx9::_3DSTATE_INDEX_BUFFER{
          .mocs = 4,
          .index_format = gfx9::_3DSTATE_INDEX_BUFFER::INDEX_FORMAT_WORD,
          .buffer_starting_address = kStateAddress + 0x800,
          .buffer_size = 64});
      gfx9::_3DSTATE_CONSTANT_PS constants{.mocs = 4};
      constants.constant_body.read_length[3] = 2;
      constants.constant_body.buffer[3] = kStateAddress + 0xc00;
      batch.Emit(constants);
      batch.Emit(gfx9::_3DSTATE_BINDING_TABLE_POINTERS_PS{.pointer_to_ps_binding_table = 0});
      batch.Emit(gfx9::_3DSTATE_SAMPLER_STATE_POINTERS_PS{.pointer_to_ps_sampler_state = 0x200});
      batch.Emit(
          gfx9::_3DSTATE_VF_TOPOLOGY{.primitive_topology_type = gfx9::_3D_Prim_Topo_Type::TRILIST});
      batch.Emit(gfx9::_3DPRIMITIVE{
          .vertex_access_type = gfx9::_3DPRIMITIVE::VERTEX_ACCESS_TYPE_RANDOM,
          .vertex_count_per_instance = 3 * (n % 1000),
          .start_vertex_location = n,
          .instance_count = 1,
      });
      input->packets += 7 + (draw % 10 == 0 ? 1 : 0);
    }
    batch.Emit(gfx9::MI_BATCH_BUFFER_END{});
    input->packets += 2;
    input->batch = batch.Take();

    const auto bytes = [](const std::vector<uint32_t>& dwords) {
      return absl::Span<const uint8_t>(reinterpret_cast<const uint8_t*>(dwords.data()),
                                       dwords.size() * 4);
    };
    const auto map = [&](uint64_t address, const std::vector<uint32_t>& dwords) {
      if (!input->dump.memory.Map(0, address, bytes(dwords), dwords.size() * 4).ok()) std::abort();
    };
    map(kBatchAddress, input->batch);
    map(kStateAddress, input->state);
    Submission submission;
    submission.engine = "render";
    submission.batch_address = kBatchAddress;
    submission.batch_length = input->batch.size() * 4;
    input->dump.submissions.push_back(submission);
    return input;
  }();
  return *kInput;
}

}  // namespace packsmith::bench
