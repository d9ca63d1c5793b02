// What it costs to emit what has changed: a flush with no group dirty, with three, and with all,
// beside copying the same dwords, in one piece and to memory of the same size. Then what changes
// them: packets that are set, fields, pipelines.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "packsmith/gfx9.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/state/draw_state.h"
#include "runtime/intel/state/gfx9.h"

namespace packsmith::bench {
namespace {

using namespace packsmith::gfx9;  // NOLINT: names of packets
using gpu::Chunk;
using intel::Batch;
using intel::DrawState;
using intel::Gfx9;
using intel::PipelineState;

constexpr size_t kChunkDwords = 16 * 1024;
// Flushes between two resets of the batch.
constexpr int kFlushes = 64;

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

template <class P>
P RandomValues(std::mt19937& random) {
  for (;;) {
    uint32_t dwords[P::length];
    for (uint32_t& dword : dwords) dword = static_cast<uint32_t>(random());
    const P packet = P::unpack(dwords);
    if (!packet.check()) return packet;
  }
}

template <class... P>
void SetRandom(DrawState<Gfx9>& state, std::mt19937& random) {
  (state.Set(RandomValues<P>(random)), ...);
}

// All that a draw of an ordinary pipeline needs.
void SetAll(DrawState<Gfx9>& state) {
  std::mt19937 random(1);
  SetRandom<_3DSTATE_VIEWPORT_STATE_POINTERS_CC, _3DSTATE_VIEWPORT_STATE_POINTERS_SF_CLIP,
            _3DSTATE_URB_VS, _3DSTATE_URB_HS, _3DSTATE_URB_DS, _3DSTATE_URB_GS,
            _3DSTATE_BLEND_STATE_POINTERS, _3DSTATE_CC_STATE_POINTERS,
            _3DSTATE_BINDING_TABLE_POINTERS_VS, _3DSTATE_BINDING_TABLE_POINTERS_HS,
            _3DSTATE_BINDING_TABLE_POINTERS_DS, _3DSTATE_BINDING_TABLE_POINTERS_GS,
            _3DSTATE_BINDING_TABLE_POINTERS_PS, _3DSTATE_SAMPLER_STATE_POINTERS_VS,
            _3DSTATE_SAMPLER_STATE_POINTERS_PS, _3DSTATE_MULTISAMPLE, _3DSTATE_SAMPLE_MASK,
            _3DSTATE_VS, _3DSTATE_HS, _3DSTATE_TE, _3DSTATE_DS, _3DSTATE_GS, _3DSTATE_STREAMOUT,
            _3DSTATE_CLIP, _3DSTATE_RASTER, _3DSTATE_SF, _3DSTATE_WM, _3DSTATE_SBE,
            _3DSTATE_SBE_SWIZ, _3DSTATE_PS, _3DSTATE_PS_EXTRA, _3DSTATE_PS_BLEND,
            _3DSTATE_WM_DEPTH_STENCIL, _3DSTATE_SCISSOR_STATE_POINTERS, _3DSTATE_VF_TOPOLOGY,
            _3DSTATE_VF_SGVS, _3DSTATE_VF_STATISTICS, _3DSTATE_VF>(state, random);
  const auto constants = [&]<class P>(P packet, uint32_t buffer) {
    packet.mocs = 4;
    packet.constant_body.read_length[3] = 4;
    packet.constant_body.buffer[3] = address(uint64_t{buffer} << 24, buffer);
    state.Set(packet);
  };
  constants(_3DSTATE_CONSTANT_VS(), 1);
  constants(_3DSTATE_CONSTANT_HS(), 2);
  constants(_3DSTATE_CONSTANT_DS(), 3);
  constants(_3DSTATE_CONSTANT_GS(), 4);
  constants(_3DSTATE_CONSTANT_PS(), 5);
  state.Set(_3DSTATE_DEPTH_BUFFER{.surface_base_address = {0x6000000, 6}, .mocs = 4});
  state.Set(_3DSTATE_STENCIL_BUFFER{.mocs = 4, .surface_base_address = {0x7000000, 7}});
  state.Set(_3DSTATE_HIER_DEPTH_BUFFER{.mocs = 4, .surface_base_address = {0x8000000, 8}});
  state.Set(_3DSTATE_CLEAR_PARAMS{.depth_clear_value_valid = true});
  VERTEX_BUFFER_STATE buffers[2];
  for (uint32_t i = 0; i < 2; ++i) {
    buffers[i] = {.buffer_pitch = 16,
                  .address_modify_enable = true,
                  .mocs = 4,
                  .vertex_buffer_index = i,
                  .buffer_starting_address = {uint64_t{9 + i} << 24, 9 + i},
                  .buffer_size = 4096};
  }
  state.SetItems(_3DSTATE_VERTEX_BUFFERS{}, buffers);
  VERTEX_ELEMENT_STATE elements[4];
  _3DSTATE_VF_INSTANCING instancing[4];
  for (uint32_t i = 0; i < 4; ++i) {
    elements[i] = RandomValues<VERTEX_ELEMENT_STATE>(random);
    instancing[i].vertex_element_index = i;
  }
  state.SetItems(_3DSTATE_VERTEX_ELEMENTS{}, elements);
  state.SetEach(instancing);
  state.Set(_3DSTATE_INDEX_BUFFER{.mocs = 4, .buffer_starting_address = {0xb000000, 11}});
}

// Calls `change` and flushes, again and again.
template <class F>
void Measure(benchmark::State& bench, DrawState<Gfx9>& state, F change) {
  SameChunks chunks;
  Batch<Gfx9> batch(chunks);
  int flushes = 0;
  size_t dwords = 0;
  for (auto _ : bench) {
    change();
    if (!state.Flush(batch)) std::abort();
    if (++flushes == kFlushes) {
      flushes = 0;
      dwords = batch.dwords() / kFlushes;
      if (!batch.End().ok()) std::abort();
      benchmark::ClobberMemory();
      batch.Reset();
    }
  }
  bench.counters["dwords"] = static_cast<double>(dwords);
}

void FlushNothing(benchmark::State& bench) {
  DrawState<Gfx9> state;
  SetAll(state);
  SameChunks chunks;
  Batch<Gfx9> batch(chunks);
  if (!state.Flush(batch)) std::abort();
  for (auto _ : bench) {
    benchmark::DoNotOptimize(&state);
    benchmark::ClobberMemory();
    bool good = state.Flush(batch);
    benchmark::DoNotOptimize(good);
  }
}
BENCHMARK(FlushNothing);

// Three groups that bring no others.
void FlushThree(benchmark::State& bench) {
  DrawState<Gfx9> state;
  SetAll(state);
  Measure(bench, state, [&] {
    state.Emitted<_3DSTATE_VF_TOPOLOGY>();
    state.Emitted<_3DSTATE_RASTER>();
    state.Emitted<_3DSTATE_SCISSOR_STATE_POINTERS>();
  });
}
BENCHMARK(FlushThree);

void FlushAll(benchmark::State& bench) {
  DrawState<Gfx9> state;
  SetAll(state);
  Measure(bench, state, [&] { state.Forget(); });
}
BENCHMARK(FlushAll);

// As many dwords, copied at once.
void Copy(benchmark::State& bench) {
  const size_t dwords = static_cast<size_t>(bench.range(0));
  const std::vector<uint32_t> from(dwords);
  std::vector<uint32_t> to(kChunkDwords);
  size_t at = 0;
  int copies = 0;
  for (auto _ : bench) {
    std::memcpy(to.data() + at, from.data(), dwords * 4);
    at += dwords;
    if (++copies == kFlushes || at + dwords > to.size()) {
      benchmark::ClobberMemory();
      copies = 0;
      at = 0;
    }
  }
  bench.counters["dwords"] = static_cast<double>(dwords);
}
BENCHMARK(Copy)->Arg(9)->Arg(254);

// A draw's constants and table, packed and set with checks.
void SetConstantsAndFlush(benchmark::State& bench) {
  DrawState<Gfx9> state;
  SetAll(state);
  uint32_t i = 0;
  Measure(bench, state, [&] {
    ++i;
    state.Set(_3DSTATE_CONSTANT_PS{
        .mocs = 4,
        .constant_body = {.read_length = {0, 0, 0, 4},
                          .buffer = {{}, {}, {}, {0x5000000 + 128 * (i % 1024), 5}}}});
    state.Set(_3DSTATE_BINDING_TABLE_POINTERS_PS{.pointer_to_ps_binding_table = 32 * (i % 2048)});
  });
}
BENCHMARK(SetConstantsAndFlush);

// -- Packets that change with each draw, beside an emitter written by hand
// -------------------------

// The values of the i-th draw.
struct DrawValues {
  uint32_t i;

  template <class P>
  PACKSMITH_INLINE P Constants(uint64_t memory, uint32_t buffer) const {
    return {.mocs = 4,
            .constant_body = {.read_length = {0, 0, 0, 4},
                              .buffer = {{}, {}, {}, {memory + 128 * (i % 1024), buffer}}}};
  }
  PACKSMITH_INLINE uint32_t Table() const { return 32 * (i % 2048); }
  PACKSMITH_INLINE void Streams(VERTEX_BUFFER_STATE (&streams)[2]) const {
    for (uint32_t s = 0; s < 2; ++s) {
      streams[s] = {.buffer_pitch = 16,
                    .address_modify_enable = true,
                    .mocs = 4,
                    .vertex_buffer_index = s,
                    .buffer_starting_address = {(uint64_t{9 + s} << 24) + 64 * (i % 1024), 9 + s},
                    .buffer_size = 4096};
    }
  }
};

// What a careful person writes for a few packets: they are checked, compared with the last ones and
// emitted if they differ, and the batch knows their buffers.
class HandEmitter {
 public:
  explicit HandEmitter(Batch<Gfx9>& batch) : batch_(batch) {}

  template <class P>
  PACKSMITH_INLINE void Emit(const P& packet, uint32_t (&last)[P::length]) {
    uint32_t dwords[P::length];
    if (packet.pack(dwords)) std::abort();
    Write(dwords, last, P::length);
    packet.for_each_address(
        [&](const address& a, auto&&...) { batch_.Use(a.buffer, gpu::kReads); });
  }
  PACKSMITH_INLINE void EmitStreams(const VERTEX_BUFFER_STATE (&streams)[2], uint32_t (&last)[9]) {
    uint32_t dwords[9];
    if (_3DSTATE_VERTEX_BUFFERS().pack(dwords, streams)) std::abort();
    Write(dwords, last, 9);
    for (const auto& stream : streams) {
      batch_.Use(stream.buffer_starting_address.buffer, gpu::kReads);
    }
  }

  uint32_t ps[_3DSTATE_CONSTANT_PS::length] = {}, streams[9] = {};
  uint32_t vs_table[2] = {}, ps_table[2] = {}, samplers[2] = {}, viewport[2] = {};

 private:
  PACKSMITH_INLINE void Write(const uint32_t* dwords, uint32_t* last, size_t count) {
    if (std::memcmp(dwords, last, count * 4) == 0) return;
    uint32_t* const to = batch_.Reserve(count);
    if (to == nullptr) std::abort();
    std::memcpy(last, dwords, count * 4);
    std::memcpy(to, dwords, count * 4);
  }
  Batch<Gfx9>& batch_;
};

template <class F>
void MeasureByHand(benchmark::State& bench, F emit) {
  SameChunks chunks;
  Batch<Gfx9> batch(chunks);
  HandEmitter emitter(batch);
  uint32_t i = 0;
  for (auto _ : bench) {
    emit(emitter, DrawValues{++i});
    if (i % kFlushes == 0) {
      if (!batch.End().ok()) std::abort();
      benchmark::ClobberMemory();
      batch.Reset();
    }
  }
}
template <class F>
void MeasureDraws(benchmark::State& bench, F set) {
  DrawState<Gfx9> state;
  SetAll(state);
  uint32_t i = 0;
  Measure(bench, state, [&] { set(state, DrawValues{++i}); });
}

void SetTable(benchmark::State& bench) {
  MeasureDraws(bench, [](DrawState<Gfx9>& state, DrawValues values) {
    state.Set(_3DSTATE_BINDING_TABLE_POINTERS_PS{.pointer_to_ps_binding_table = values.Table()});
  });
}
BENCHMARK(SetTable);
void SetTableByHand(benchmark::State& bench) {
  MeasureByHand(bench, [](HandEmitter& to, DrawValues values) {
    to.Emit(_3DSTATE_BINDING_TABLE_POINTERS_PS{.pointer_to_ps_binding_table = values.Table()},
            to.ps_table);
  });
}
BENCHMARK(SetTableByHand);

// With the table pointer that commits them.
void SetConstants(benchmark::State& bench) {
  MeasureDraws(bench, [](DrawState<Gfx9>& state, DrawValues values) {
    state.Set(values.Constants<_3DSTATE_CONSTANT_PS>(0x5000000, 5));
  });
}
BENCHMARK(SetConstants);
void SetConstantsByHand(benchmark::State& bench) {
  MeasureByHand(bench, [](HandEmitter& to, DrawValues values) {
    to.Emit(values.Constants<_3DSTATE_CONSTANT_PS>(0x5000000, 5), to.ps);
    to.ps_table[0] = 0;  // must be emitted again
    to.Emit(_3DSTATE_BINDING_TABLE_POINTERS_PS{.pointer_to_ps_binding_table = 64}, to.ps_table);
  });
}
BENCHMARK(SetConstantsByHand);

void SetStreams(benchmark::State& bench) {
  MeasureDraws(bench, [](DrawState<Gfx9>& state, DrawValues values) {
    VERTEX_BUFFER_STATE streams[2];
    values.Streams(streams);
    state.SetItems(_3DSTATE_VERTEX_BUFFERS{}, streams);
  });
}
BENCHMARK(SetStreams);
void SetStreamsByHand(benchmark::State& bench) {
  MeasureByHand(bench, [](HandEmitter& to, DrawValues values) {
    VERTEX_BUFFER_STATE streams[2];
    values.Streams(streams);
    to.EmitStreams(streams, to.streams);
  });
}
BENCHMARK(SetStreamsByHand);

// Five groups: constants, tables of two stages, samplers and a viewport.
void SetFive(benchmark::State& bench) {
  MeasureDraws(bench, [](DrawState<Gfx9>& state, DrawValues values) {
    state.Set(values.Constants<_3DSTATE_CONSTANT_PS>(0x5000000, 5));
    state.Set(_3DSTATE_BINDING_TABLE_POINTERS_VS{.pointer_to_vs_binding_table = values.Table()});
    state.Set(_3DSTATE_BINDING_TABLE_POINTERS_PS{.pointer_to_ps_binding_table = values.Table()});
    state.Set(_3DSTATE_SAMPLER_STATE_POINTERS_PS{.pointer_to_ps_sampler_state = values.Table()});
    state.Set(_3DSTATE_VIEWPORT_STATE_POINTERS_CC{.cc_viewport_pointer = values.Table()});
  });
}
BENCHMARK(SetFive);
void SetFiveByHand(benchmark::State& bench) {
  MeasureByHand(bench, [](HandEmitter& to, DrawValues values) {
    to.Emit(values.Constants<_3DSTATE_CONSTANT_PS>(0x5000000, 5), to.ps);
    to.Emit(_3DSTATE_BINDING_TABLE_POINTERS_VS{.pointer_to_vs_binding_table = values.Table()},
            to.vs_table);
    to.Emit(_3DSTATE_BINDING_TABLE_POINTERS_PS{.pointer_to_ps_binding_table = values.Table()},
            to.ps_table);
    to.Emit(_3DSTATE_SAMPLER_STATE_POINTERS_PS{.pointer_to_ps_sampler_state = values.Table()},
            to.samplers);
    to.Emit(_3DSTATE_VIEWPORT_STATE_POINTERS_CC{.cc_viewport_pointer = values.Table()},
            to.viewport);
  });
}
BENCHMARK(SetFiveByHand);

void SetWhatIsSet(benchmark::State& bench) {
  DrawState<Gfx9> state;
  SetAll(state);
  uint32_t table = 64;
  Measure(bench, state, [&] {
    benchmark::DoNotOptimize(table);
    state.Set(_3DSTATE_BINDING_TABLE_POINTERS_PS{.pointer_to_ps_binding_table = table});
  });
}
BENCHMARK(SetWhatIsSet);

void AddPipeline(PipelineState<Gfx9>& pipeline, std::mt19937& random) {
  const bool good =
      pipeline.Add(RandomValues<_3DSTATE_VS>(random)) && pipeline.Add(_3DSTATE_HS()) &&
      pipeline.Add(_3DSTATE_TE()) && pipeline.Add(_3DSTATE_DS()) && pipeline.Add(_3DSTATE_GS()) &&
      pipeline.Add(RandomValues<_3DSTATE_CLIP>(random)) &&
      pipeline.AddPartial<&_3DSTATE_RASTER::cull_mode, &_3DSTATE_RASTER::front_winding>(
          RandomValues<_3DSTATE_RASTER>(random)) &&
      pipeline.AddPartial<&_3DSTATE_SF::line_width>(RandomValues<_3DSTATE_SF>(random)) &&
      pipeline.Add(RandomValues<_3DSTATE_WM>(random)) &&
      pipeline.Add(RandomValues<_3DSTATE_SBE>(random)) && pipeline.Add(_3DSTATE_SBE_SWIZ()) &&
      pipeline.Add(RandomValues<_3DSTATE_PS>(random)) &&
      pipeline.Add(RandomValues<_3DSTATE_PS_EXTRA>(random)) &&
      pipeline.Add(RandomValues<_3DSTATE_PS_BLEND>(random)) &&
      pipeline.AddPartial<&_3DSTATE_WM_DEPTH_STENCIL::stencil_reference_value>(
          RandomValues<_3DSTATE_WM_DEPTH_STENCIL>(random)) &&
      pipeline.Add(RandomValues<_3DSTATE_VF_SGVS>(random));
  if (!good) std::abort();
}

// Two pipelines in turn: about half of their packets differ.
void BindAndFlush(benchmark::State& bench) {
  DrawState<Gfx9> state;
  SetAll(state);
  std::mt19937 random(2);
  PipelineState<Gfx9> pipelines[2];
  for (auto& pipeline : pipelines) AddPipeline(pipeline, random);
  uint32_t i = 0;
  Measure(bench, state, [&] { state.Bind(pipelines[++i % 2]); });
}
BENCHMARK(BindAndFlush);

void SetFieldsAndFlush(benchmark::State& bench) {
  DrawState<Gfx9> state;
  SetAll(state);
  std::mt19937 random(2);
  PipelineState<Gfx9> pipeline;
  AddPipeline(pipeline, random);
  state.Bind(pipeline);
  uint32_t i = 0;
  Measure(bench, state, [&] {
    ++i;
    state.SetFields<&_3DSTATE_WM_DEPTH_STENCIL::stencil_reference_value>(i % 256);
  });
}
BENCHMARK(SetFieldsAndFlush);

}  // namespace
}  // namespace packsmith::bench
