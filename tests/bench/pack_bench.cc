// Packing, beside what a person would write by hand and beside a copy of as many bytes.
//
// Each packet is measured with values that the compiler cannot see (an array of 64 different ones)
// and with constants; with checks and without; against (a) Hand, unchecked shifts and ors of the
// same fields, and (b) Copy, a memcpy of the packet's size. All write through the same 60 KB, in
// one run: compare columns, not machines.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "packsmith/gfx9.h"
#include "packsmith/pack.h"
#include "tests/bench/hand_packed.h"

namespace packsmith::bench {
namespace {

constexpr size_t kBatchDwords = 60 * 1024 / 4;

// Where packets go, one after the other, from the start again when it is full.
class Batch {
 public:
  uint32_t* Next(size_t dwords) {
    if (at_ + dwords > kBatchDwords) [[unlikely]]
      at_ = 0;
    uint32_t* const place = dwords_.data() + at_;
    at_ += dwords;
    return place;
  }

 private:
  std::vector<uint32_t> dwords_ = std::vector<uint32_t>(kBatchDwords);
  size_t at_ = 0;
};

template <class Packet>
std::vector<Packet> RandomValues() {
  std::mt19937 random(1);
  std::vector<Packet> values;
  while (values.size() < 64) {
    uint32_t dwords[Packet::length];
    for (uint32_t& dword : dwords) dword = random();
    // Any bits unpack to values that pack again; the few that the packet forbids are left out.
    const Packet packet = Packet::unpack(dwords);
    if (!packet.check()) values.push_back(packet);
  }
  return values;
}

template <class Packet, class Pack>
void Run(benchmark::State& state, const Pack& pack) {
  std::vector<Packet> values = RandomValues<Packet>();
  Batch batch;
  benchmark::DoNotOptimize(values.data());
  benchmark::ClobberMemory();
  size_t i = 0;
  for (auto _ : state) {
    pack(values[i++ % 64], batch.Next(Packet::length));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * Packet::length * 4);
}

template <class Packet>
void Checked(benchmark::State& state) {
  Run<Packet>(state, [](const Packet& v, uint32_t* dw) {
    if (v.template pack<checks::on>(dw)) std::abort();
  });
}

template <class Packet>
void Unchecked(benchmark::State& state) {
  Run<Packet>(state, [](const Packet& v, uint32_t* dw) { (void)v.template pack<checks::off>(dw); });
}

template <class Packet>
void ByHand(benchmark::State& state) {
  Run<Packet>(state, [](const Packet& v, uint32_t* dw) { Hand(v, dw); });
}

template <class Packet>
void Copy(benchmark::State& state) {
  std::vector<std::array<uint32_t, Packet::length>> packed(64);
  Batch batch;
  benchmark::DoNotOptimize(packed.data());
  benchmark::ClobberMemory();
  size_t i = 0;
  for (auto _ : state) {
    std::memcpy(batch.Next(Packet::length), packed[i++ % 64].data(), Packet::length * 4);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * Packet::length * 4);
}

// Constants: what is left is the copy.
template <class Packet>
struct Constants;

template <class Packet, checks kChecks>
void Constant(benchmark::State& state) {
  Batch batch;
  for (auto _ : state) {
    if (Constants<Packet>::kValue.template pack<kChecks>(batch.Next(Packet::length))) std::abort();
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * Packet::length * 4);
}

template <>
struct Constants<gfx9::VERTEX_BUFFER_STATE> {
  static constexpr gfx9::VERTEX_BUFFER_STATE kValue = {
      .buffer_pitch = 32,
      .address_modify_enable = true,
      .mocs = 4,
      .buffer_starting_address = 0x100000,
      .buffer_size = 4096,
  };
};
template <>
struct Constants<gfx9::VERTEX_ELEMENT_STATE> {
  static constexpr gfx9::VERTEX_ELEMENT_STATE kValue = {.source_element_offset = 12, .valid = true};
};
template <>
struct Constants<gfx9::SAMPLER_STATE> {
  static constexpr gfx9::SAMPLER_STATE kValue = {.max_lod = 14.0f, .min_lod = 0.5f};
};
template <>
struct Constants<gfx9::RENDER_SURFACE_STATE> {
  static constexpr gfx9::RENDER_SURFACE_STATE kValue = {
      .mocs = 4,
      .width = 1023,
      .height = 767,
      .surface_pitch = 4095,
      .surface_base_address = 0x200000,
  };
};
template <>
struct Constants<gfx9::_3DSTATE_VS> {
  static constexpr gfx9::_3DSTATE_VS kValue = {.kernel_start_pointer = 0x1000, .enable = true};
};
template <>
struct Constants<gfx9::_3DPRIMITIVE> {
  static constexpr gfx9::_3DPRIMITIVE kValue = {.vertex_count_per_instance = 3,
                                                .instance_count = 1};
};
template <>
struct Constants<gfx9::PIPE_CONTROL> {
  static constexpr gfx9::PIPE_CONTROL kValue = {.render_target_cache_flush_enable = true,
                                                .command_streamer_stall_enable = true};
};
template <>
struct Constants<gfx9::_3DSTATE_BINDING_TABLE_POINTERS_VS> {
  static constexpr gfx9::_3DSTATE_BINDING_TABLE_POINTERS_VS kValue = {.pointer_to_vs_binding_table =
                                                                          0x40};
};

#define PACKSMITH_BENCH(packet)                            \
  BENCHMARK_TEMPLATE(Copy, gfx9::packet);                  \
  BENCHMARK_TEMPLATE(ByHand, gfx9::packet);                \
  BENCHMARK_TEMPLATE(Unchecked, gfx9::packet);             \
  BENCHMARK_TEMPLATE(Checked, gfx9::packet);               \
  BENCHMARK_TEMPLATE(Constant, gfx9::packet, checks::off); \
  BENCHMARK_TEMPLATE(Constant, gfx9::packet, checks::on)

PACKSMITH_BENCH(VERTEX_BUFFER_STATE);
PACKSMITH_BENCH(VERTEX_ELEMENT_STATE);
PACKSMITH_BENCH(SAMPLER_STATE);
PACKSMITH_BENCH(RENDER_SURFACE_STATE);
PACKSMITH_BENCH(_3DSTATE_VS);
PACKSMITH_BENCH(_3DPRIMITIVE);
PACKSMITH_BENCH(PIPE_CONTROL);
PACKSMITH_BENCH(_3DSTATE_BINDING_TABLE_POINTERS_VS);

}  // namespace
}  // namespace packsmith::bench
