// A stream of draws, emitted to a batch, beside copying the same packets one by one.
//
// State changes as in the captures of tests/data/captures/skl-gl-basic: of three draws one comes
// with new shaders, buffers and targets (51 packets), two with new constants and textures only (4
// packets). What a driver prepares with its objects (shaders, blending, vertex elements) is packed
// beforehand, here as there; addresses, pointers, sizes and draws are packed as they come, with
// range checks, space checks and residency on.
//
// The limit, Copy, knows the size of each packet while it is compiled, and looks at nothing.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "packsmith/gfx9.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/gfx9.h"

namespace packsmith::bench {
namespace {

using namespace packsmith::gfx9;  // NOLINT: names of packets
using gpu::Chunk;
using intel::Batch;
using intel::Gfx9;

constexpr unsigned kStates = 16, kDraws = 288, kBuffers = 40;
constexpr size_t kChunkDwords = 16 * 1024;

template <class P>
struct Packed {
  uint32_t dw[P::length];
};

// What a driver has of a pipeline and its targets.
struct State {
  // Packed beforehand.
  Packed<_3DSTATE_VS> vs;
  Packed<_3DSTATE_PS> ps;
  Packed<_3DSTATE_PS_EXTRA> ps_extra;
  Packed<_3DSTATE_PS_BLEND> ps_blend;
  Packed<_3DSTATE_WM_DEPTH_STENCIL> depth_stencil;
  Packed<_3DSTATE_CLIP> clip;
  Packed<_3DSTATE_SF> sf;
  Packed<_3DSTATE_RASTER> raster;
  Packed<_3DSTATE_SBE> sbe;
  Packed<_3DSTATE_WM> wm;
  Packed<_3DSTATE_VF_SGVS> sgvs;
  std::array<Packed<_3DSTATE_VF_INSTANCING>, 4> instancing;
  uint32_t elements[_3DSTATE_VERTEX_ELEMENTS::dwords_needed(4)];
  // To be packed.
  VERTEX_BUFFER_STATE vertices[2];
  _3D_Prim_Topo_Type topology;
  uint32_t urb_entries[4], urb_starts[4];
  uint32_t blend, color_calc, viewport, samplers, tables[4];
  address constants;
  address depth, stencil, hiz;
  uint32_t width, height, pitch;
};

struct Draw {
  address constants;
  uint32_t constant_length;
  uint32_t table;
  uint32_t count, first, instances;
};

struct Scene {
  std::vector<State> states;
  std::vector<Draw> draws;
};

template <class P>
Packed<P> RandomPacked(std::mt19937& random) {
  for (;;) {
    uint32_t dwords[P::length];
    for (uint32_t& dword : dwords) dword = static_cast<uint32_t>(random());
    Packed<P> packed;
    if (!P::unpack(dwords).pack(packed.dw)) return packed;
  }
}

Scene MakeScene() {
  std::mt19937 random(1);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  const auto somewhere = [&](uint32_t alignment) {
    const uint32_t buffer = 1 + below(kBuffers);
    return address((uint64_t{buffer} << 24) + uint64_t{below(1024)} * alignment, buffer);
  };
  Scene scene;
  for (unsigned i = 0; i < kStates; ++i) {
    State s = {};
    s.vs = RandomPacked<_3DSTATE_VS>(random);
    s.ps = RandomPacked<_3DSTATE_PS>(random);
    s.ps_extra = RandomPacked<_3DSTATE_PS_EXTRA>(random);
    s.ps_blend = RandomPacked<_3DSTATE_PS_BLEND>(random);
    s.depth_stencil = RandomPacked<_3DSTATE_WM_DEPTH_STENCIL>(random);
    s.clip = RandomPacked<_3DSTATE_CLIP>(random);
    s.sf = RandomPacked<_3DSTATE_SF>(random);
    s.raster = RandomPacked<_3DSTATE_RASTER>(random);
    s.sbe = RandomPacked<_3DSTATE_SBE>(random);
    s.wm = RandomPacked<_3DSTATE_WM>(random);
    s.sgvs = RandomPacked<_3DSTATE_VF_SGVS>(random);
    for (auto& one : s.instancing) one = RandomPacked<_3DSTATE_VF_INSTANCING>(random);
    for (uint32_t& dword : s.elements) dword = static_cast<uint32_t>(random());
    for (unsigned v = 0; v < 2; ++v) {
      s.vertices[v] = {.buffer_pitch = 4 * below(64),
                       .address_modify_enable = true,
                       .mocs = 4,
                       .vertex_buffer_index = v,
                       .buffer_starting_address = somewhere(64),
                       .buffer_size = 1 + below(1 << 20)};
    }
    s.topology = below(2) != 0 ? _3D_Prim_Topo_Type::TRILIST : _3D_Prim_Topo_Type::TRISTRIP;
    for (unsigned u = 0; u < 4; ++u) {
      s.urb_entries[u] = 64 + 8 * below(64);
      s.urb_starts[u] = 4 + below(16);
      s.tables[u] = 32 * below(2048);
    }
    s.blend = 64 * below(4096);
    s.color_calc = 64 * below(4096);
    s.viewport = 32 * below(4096);
    s.samplers = 32 * below(4096);
    s.constants = somewhere(32);
    s.depth = somewhere(4096);
    s.stencil = somewhere(4096);
    s.hiz = somewhere(4096);
    s.width = 64 + below(4096);
    s.height = 64 + below(4096);
    s.pitch = 128 * (1 + below(64));
    scene.states.push_back(s);
  }
  for (unsigned i = 0; i < kDraws; ++i) {
    scene.draws.push_back({somewhere(32), 1 + below(8), 32 * below(2048), 3 * (1 + below(1000)),
                           below(100), 1 + below(4)});
  }
  return scene;
}

// -- The stream, for whatever takes packets -----------------------------------------------------

constexpr size_t kDrawDwords = 80, kStateDwords = 400;

template <class To>
PACKSMITH_INLINE inline void EmitDraw(To& to, const Draw& d) {
  to.Emit(_3DSTATE_CONSTANT_PS{
      .mocs = 4,
      .constant_body = {.read_length = {0, 0, 0, d.constant_length},
                        .buffer = {{}, {}, {}, d.constants}},
  });
  to.Emit(_3DSTATE_BINDING_TABLE_POINTERS_PS{.pointer_to_ps_binding_table = d.table});
  to.Emit(_3DPRIMITIVE{
      .vertex_access_type = _3DPRIMITIVE::VERTEX_ACCESS_TYPE_RANDOM,
      .vertex_count_per_instance = d.count,
      .start_vertex_location = d.first,
      .instance_count = d.instances,
  });
  to.Emit(PIPE_CONTROL{.stall_at_pixel_scoreboard = true, .command_streamer_stall_enable = true});
}

template <class To>
PACKSMITH_INLINE inline void EmitState(To& to, const State& s) {
  to.Emit(PIPE_CONTROL{.depth_cache_flush_enable = true,
                       .dc_flush_enable = true,
                       .render_target_cache_flush_enable = true,
                       .command_streamer_stall_enable = true});
  to.EmitItems(_3DSTATE_VERTEX_BUFFERS{}, s.vertices);
  to.EmitDwords(s.elements);
  to.Emit(_3DSTATE_VF_STATISTICS{.statistics_enable = true});
  to.EmitDwords(s.sgvs.dw);
  to.EmitDwords(s.instancing[0].dw);
  to.EmitDwords(s.instancing[1].dw);
  to.EmitDwords(s.instancing[2].dw);
  to.EmitDwords(s.instancing[3].dw);
  to.Emit(_3DSTATE_VF_TOPOLOGY{.primitive_topology_type = s.topology});
  to.Emit(_3DSTATE_URB_VS{.vs_number_of_urb_entries = s.urb_entries[0],
                          .vs_urb_entry_allocation_size = 1,
                          .vs_urb_starting_address = s.urb_starts[0]});
  to.Emit(_3DSTATE_URB_HS{.hs_number_of_urb_entries = s.urb_entries[1],
                          .hs_urb_starting_address = s.urb_starts[1]});
  to.Emit(_3DSTATE_URB_DS{.ds_number_of_urb_entries = s.urb_entries[2],
                          .ds_urb_starting_address = s.urb_starts[2]});
  to.Emit(_3DSTATE_URB_GS{.gs_number_of_urb_entries = s.urb_entries[3],
                          .gs_urb_starting_address = s.urb_starts[3]});
  to.Emit(_3DSTATE_BLEND_STATE_POINTERS{.blend_state_pointer_valid = true,
                                        .blend_state_pointer = s.blend});
  to.EmitDwords(s.ps_blend.dw);
  to.Emit(_3DSTATE_CC_STATE_POINTERS{.color_calc_state_pointer_valid = true,
                                     .color_calc_state_pointer = s.color_calc});
  to.EmitDwords(s.depth_stencil.dw);
  to.Emit(_3DSTATE_CONSTANT_VS{
      .mocs = 4,
      .constant_body = {.read_length = {0, 0, 0, 4}, .buffer = {{}, {}, {}, s.constants}},
  });
  to.Emit(_3DSTATE_CONSTANT_HS{.mocs = 4});
  to.Emit(_3DSTATE_CONSTANT_DS{.mocs = 4});
  to.Emit(_3DSTATE_CONSTANT_GS{.mocs = 4});
  to.Emit(_3DSTATE_SAMPLER_STATE_POINTERS_PS{.pointer_to_ps_sampler_state = s.samplers});
  to.Emit(_3DSTATE_MULTISAMPLE{});
  to.Emit(_3DSTATE_SAMPLE_MASK{.sample_mask = 1});
  to.EmitDwords(s.vs.dw);
  to.Emit(_3DSTATE_HS{});
  to.Emit(_3DSTATE_TE{});
  to.Emit(_3DSTATE_DS{});
  to.Emit(_3DSTATE_STREAMOUT{});
  to.Emit(_3DSTATE_GS{});
  to.EmitDwords(s.clip.dw);
  to.EmitDwords(s.sf.dw);
  to.EmitDwords(s.raster.dw);
  to.EmitDwords(s.sbe.dw);
  to.EmitDwords(s.wm.dw);
  to.EmitDwords(s.ps.dw);
  to.EmitDwords(s.ps_extra.dw);
  to.Emit(_3DSTATE_VIEWPORT_STATE_POINTERS_CC{.cc_viewport_pointer = s.viewport});
  to.Emit(_3DSTATE_BINDING_TABLE_POINTERS_VS{.pointer_to_vs_binding_table = s.tables[0]});
  to.Emit(_3DSTATE_BINDING_TABLE_POINTERS_HS{.pointer_to_hs_binding_table = s.tables[1]});
  to.Emit(_3DSTATE_BINDING_TABLE_POINTERS_DS{.pointer_to_ds_binding_table = s.tables[2]});
  to.Emit(_3DSTATE_BINDING_TABLE_POINTERS_GS{.pointer_to_gs_binding_table = s.tables[3]});
  to.Emit(_3DSTATE_DEPTH_BUFFER{
      .surface_pitch = s.pitch - 1,
      .surface_format = _3DSTATE_DEPTH_BUFFER::SURFACE_FORMAT_D32_FLOAT,
      .hierarchical_depth_buffer_enable = true,
      .depth_write_enable = true,
      .surface_type = _3DSTATE_DEPTH_BUFFER::SURFACE_TYPE_SURFTYPE_2D,
      .surface_base_address = s.depth,
      .width = s.width - 1,
      .height = s.height - 1,
      .mocs = 4,
      .surface_qpitch = s.height / 4,
  });
  to.Emit(_3DSTATE_STENCIL_BUFFER{.surface_pitch = s.pitch - 1,
                                  .mocs = 4,
                                  .stencil_buffer_enable = true,
                                  .surface_base_address = s.stencil,
                                  .surface_qpitch = s.height / 4});
  to.Emit(_3DSTATE_HIER_DEPTH_BUFFER{.surface_pitch = s.pitch - 1,
                                     .mocs = 4,
                                     .surface_base_address = s.hiz,
                                     .surface_qpitch = s.height / 4});
  to.Emit(_3DSTATE_CLEAR_PARAMS{.depth_clear_value = 1.0f, .depth_clear_value_valid = true});
}

// -- Where it goes ------------------------------------------------------------------------------

// Two chunks, time and again.
class SameChunks : public gpu::ChunkSource {
 public:
  absl::StatusOr<Chunk> NewChunk(size_t dwords) override {
    if (dwords > kChunkDwords) return absl::ResourceExhaustedError("larger than the chunks");
    std::vector<uint32_t>& words = words_[next_++ % 2];
    return Chunk{0x100000, absl::MakeSpan(words), 1000 + next_ % 2};
  }

 private:
  std::vector<uint32_t> words_[2] = {std::vector<uint32_t>(kChunkDwords),
                                     std::vector<uint32_t>(kChunkDwords)};
  uint32_t next_ = 0;
};

// Copies what was packed before.
struct Copier {
  uint32_t* to;
  const uint32_t* from;

  template <unsigned N>
  PACKSMITH_INLINE void Copy() {
    std::memcpy(to, from, N * 4);
    to += N;
    from += N;
  }
  template <class P>
  PACKSMITH_INLINE void Emit(const P&) {
    Copy<P::length>();
  }
  template <class P, unsigned N>
  PACKSMITH_INLINE void EmitItems(const P&, const typename P::ps_item (&)[N]) {
    Copy<P::dwords_needed(N)>();
  }
  template <unsigned N>
  PACKSMITH_INLINE void EmitDwords(const uint32_t (&)[N]) {
    Copy<N>();
  }
};

const Scene& TheScene() {
  static const Scene* const scene = new Scene(MakeScene());
  return *scene;
}

// What is emitted of states and draws, packet by packet. Inlined, here and for the copy: what a
// call costs is not to be measured.
template <class To>
struct PacketByPacket {
  To& to;

  PACKSMITH_INLINE void operator()(const State& s) const { EmitState(to, s); }
  PACKSMITH_INLINE void operator()(const Draw& d) const { EmitDraw(to, d); }
};

// The same as groups.
struct GroupByGroup {
  Batch<Gfx9>& to;

  PACKSMITH_INLINE void operator()(const State& s) const {
    Batch<Gfx9>::Group group(to, kStateDwords);
    EmitState(group, s);
  }
  PACKSMITH_INLINE void operator()(const Draw& d) const {
    Batch<Gfx9>::Group group(to, kDrawDwords);
    EmitDraw(group, d);
  }
};

// All draws of the scene; one in three brings state.
template <class Emission>
PACKSMITH_INLINE inline void EachDraw(const Scene& scene, const Emission& emit) {
  for (unsigned i = 0; i < kDraws; ++i) {
    if (i % 3 == 0) emit(scene.states[i / 3 % kStates]);
    emit(scene.draws[i]);
  }
}

// The stream as one run of dwords.
std::vector<uint32_t> Prepacked(const Scene& scene) {
  gpu::HostChunks chunks({.chunk_dwords = kChunkDwords * 4});
  Batch<Gfx9> batch(chunks);
  EachDraw(scene, PacketByPacket<Batch<Gfx9>>{batch});
  if (!batch.End().ok() || batch.parts().size() != 1) std::abort();
  const auto words = batch.parts()[0].chunk.words;
  return std::vector<uint32_t>(words.begin(), words.begin() + batch.parts()[0].dwords);
}

void Count(benchmark::State& state, int64_t draws) {
  state.SetItemsProcessed(state.iterations() * draws);
}

void Copy(benchmark::State& state) {
  const Scene& scene = TheScene();
  const std::vector<uint32_t> packed = Prepacked(scene);
  std::vector<uint32_t> words(packed.size());
  for (auto _ : state) {
    Copier copier{words.data(), packed.data()};
    EachDraw(scene, PacketByPacket<Copier>{copier});
    benchmark::ClobberMemory();
  }
  Count(state, kDraws);
}
BENCHMARK(Copy);

// Batches of as many draws as the argument says.
template <class Emission>
PACKSMITH_INLINE inline void Batches(benchmark::State& state) {
  const Scene& scene = TheScene();
  SameChunks chunks;
  Batch<Gfx9> batch(chunks);
  const int64_t times = state.range(0) / kDraws;
  for (auto _ : state) {
    for (int64_t time = 0; time < times; ++time) EachDraw(scene, Emission{batch});
    if (!batch.End().ok()) std::abort();
    benchmark::ClobberMemory();
    batch.Reset();
  }
  Count(state, times * kDraws);
}

// Each packet by a call of the batch's.
void Emit(benchmark::State& state) { Batches<PacketByPacket<Batch<Gfx9>>>(state); }
BENCHMARK(Emit)->Arg(kDraws)->Arg(10 * kDraws);

// State and draw as groups.
void EmitGroups(benchmark::State& state) { Batches<GroupByGroup>(state); }
BENCHMARK(EmitGroups)->Arg(kDraws)->Arg(10 * kDraws);

// -- The first use of a buffer in a batch ---------------------------------------------------------

// Handles in an order that no cache can guess.
std::vector<uint32_t> Handles(int64_t count) {
  std::vector<uint32_t> handles(static_cast<size_t>(count));
  for (uint32_t i = 0; i < handles.size(); ++i) handles[i] = 1 + i;
  std::shuffle(handles.begin(), handles.end(), std::mt19937(3));
  return handles;
}

// A batch that stores to each buffer once.
void FirstUse(benchmark::State& state) {
  const std::vector<uint32_t> handles = Handles(state.range(0));
  SameChunks chunks;
  Batch<Gfx9> batch(chunks);
  for (auto _ : state) {
    for (const uint32_t handle : handles) {
      batch.Emit(MI_STORE_DATA_IMM{.address = {uint64_t{handle} << 16, handle}});
    }
    if (batch.uses().size() != handles.size()) std::abort();
    benchmark::ClobberMemory();
    batch.Reset();
  }
}
BENCHMARK(FirstUse)->Arg(100)->Arg(300)->Arg(1000);

// The same with a list of the driver's own. Each buffer notes its index in the list of the batch
// that used it last.
template <class Buffer, class List>
void UseLists(benchmark::State& state, List& list) {
  const std::vector<uint32_t> handles = Handles(state.range(0));
  std::vector<Buffer> buffers(handles.size());
  for (size_t i = 0; i < handles.size(); ++i) buffers[i].handle = handles[i];
  SameChunks chunks;
  Batch<Gfx9> batch(chunks);
  for (auto _ : state) {
    for (Buffer& buffer : buffers) {
      list.Use(buffer);
      batch.Emit(MI_STORE_DATA_IMM{.address = uint64_t{buffer.handle} << 16});
    }
    if (list.buffers.size() != handles.size()) std::abort();
    benchmark::ClobberMemory();
    batch.Reset();
    list.Clear();
  }
}

// The least that a list can do: it has neither what is written nor what keeps buffers alive.
void FirstUseByIndex(benchmark::State& state) {
  struct Buffer {
    uint32_t handle = 0, index = 0;
  };
  struct {
    std::vector<Buffer*> buffers;

    void Use(Buffer& buffer) {
      if (buffer.index < buffers.size() && buffers[buffer.index] == &buffer) return;
      buffer.index = static_cast<uint32_t>(buffers.size());
      buffers.push_back(&buffer);
    }
    void Clear() { buffers.clear(); }
  } list;
  UseLists<Buffer>(state, list);
}
BENCHMARK(FirstUseByIndex)->Arg(100)->Arg(300)->Arg(1000);

// What iris does at a first use (iris_use_pinned_bo() and iris_batch_reset() of Mesa 24, for one
// batch): a reference to the buffer, its size added to the batch's, an index, a bit if it is
// written. Reset takes back the indices and the references.
void FirstUseAsIris(benchmark::State& state) {
  static constexpr uint32_t kNone = ~uint32_t{0};
  struct Buffer {
    uint32_t handle = 0, index = kNone;
    uint64_t size = 4096;
    std::atomic<uint32_t> references{1};
  };
  struct {
    std::vector<Buffer*> buffers;
    std::vector<uint64_t> written = std::vector<uint64_t>(16);
    uint64_t bytes = 0;

    void Use(Buffer& buffer) {
      if (buffer.index < buffers.size() && buffers[buffer.index] == &buffer) return;
      buffer.references.fetch_add(1);
      bytes += buffer.size;
      buffer.index = static_cast<uint32_t>(buffers.size());
      if (buffer.index / 64 >= written.size()) written.resize(2 * written.size());
      written[buffer.index / 64] |= uint64_t{1} << buffer.index % 64;
      buffers.push_back(&buffer);
    }
    void Clear() {
      for (Buffer* const buffer : buffers) {
        buffer->index = kNone;
        buffer->references.fetch_sub(1);
      }
      buffers.clear();
      std::fill(written.begin(), written.end(), 0);
      bytes = 0;
    }
  } list;
  UseLists<Buffer>(state, list);
}
BENCHMARK(FirstUseAsIris)->Arg(100)->Arg(300)->Arg(1000);

}  // namespace
}  // namespace packsmith::bench
