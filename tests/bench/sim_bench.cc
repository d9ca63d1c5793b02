// The command streamer beside a walk over the same commands that counts them, and blits beside a
// memcpy of the same bytes.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/sinks/stats_sink.h"
#include "runtime/dump/dump.h"
#include "runtime/dump/memory.h"
#include "runtime/generations/generations.h"
#include "runtime/sim/blit/blit.h"
#include "runtime/sim/overlay_memory.h"
#include "runtime/sim/streamer.h"
#include "tests/bench/draw_batch.h"
#include "tests/sim/world.h"

namespace packsmith::bench {
namespace {

absl::Span<const uint8_t> BytesOf(const std::vector<uint32_t>& dwords) {
  return {reinterpret_cast<const uint8_t*>(dwords.data()), dwords.size() * 4};
}

// --- Commands ---

constexpr uint32_t kBatch = 0x100000, kData = 0x10000;

// What a driver does between draws: registers are loaded, computed with and stored, counters and
// times are written, draws are predicated.
const DrawBatch& RegisterBatch() {
  static const DrawBatch& made = *[] {
    auto* const out = new DrawBatch;
    constexpr int kTurns = 4000;
    const auto add = [out](const std::vector<uint32_t>& packet) {
      out->batch.insert(out->batch.end(), packet.begin(), packet.end());
      ++out->packets;
    };
    for (uint32_t turn = 0; turn < kTurns; ++turn) {
      const uint32_t at = kData + turn % 512 * 16;
      add(sim::LoadImmediate(sim::kGpr, turn));
      add(sim::LoadMemory(sim::kGpr + 8, at));
      add(sim::Math({sim::AluWord(0x080, 0x20, 0), sim::AluWord(0x080, 0x21, 1),
                     sim::AluWord(0x100), sim::AluWord(0x180, 2, 0x31)}));
      add(sim::StoreRegister(at, sim::kGpr + 16));
      add(sim::CopyRegister(0x2400, sim::kGpr + 16));
      // MI_PREDICATE: LOAD, SET, SRCS_EQUAL
      add({0x06000082});
      add(sim::StoreDword(at + 4, turn));
      // PIPE_CONTROL that writes a time
      add({0x7a000004, 3u << 14, at + 8, 0, 0, 0});
    }
    add({sim::kEnd});
    out->state.resize(512 * 4);
    if (!out->dump.memory.Map(0, kBatch, BytesOf(out->batch), out->batch.size() * 4).ok() ||
        !out->dump.memory.Map(0, kData, BytesOf(out->state), out->state.size() * 4).ok()) {
      std::abort();
    }
    Submission submission;
    submission.engine = "render";
    submission.batch_address = kBatch;
    submission.batch_length = out->batch.size() * 4;
    out->dump.submissions.push_back(submission);
    return out;
  }();
  return made;
}

void CountCommands(benchmark::State& state, uint64_t commands) {
  state.counters["commands/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * static_cast<double>(commands),
                         benchmark::Counter::kIsRate);
}

class Nothing : public decode::Output {
 public:
  void Append(absl::string_view text) override { benchmark::DoNotOptimize(text.data()); }
};

void Walk(benchmark::State& state, const DrawBatch& (*batch)()) {
  const DrawBatch& input = batch();
  const tables::Tables tables = *FindGeneration("gfx9");
  for (auto _ : state) {
    Nothing output;
    const std::unique_ptr<decode::Sink> sink = decode::MakeStatsSink(output);
    decode::Options options;
    options.follow = decode::Follow::kBatches;
    options.brief = true;
    decode::Decoder decoder(tables, *sink, options);
    decoder.Decode(input.dump);
    if (decoder.Finish().packets < input.packets) state.SkipWithError("packets are missing");
  }
  CountCommands(state, input.packets);
}
BENCHMARK_CAPTURE(Walk, draws, TheDrawBatch);
BENCHMARK_CAPTURE(Walk, registers, RegisterBatch);

struct Works : sim::Observer {
  void OnWork(const sim::Work&) override { ++works; }
  void OnProblem(const sim::Problem&) override { ++problems; }
  uint64_t works = 0, problems = 0;
};

void Simulate(benchmark::State& state, const DrawBatch& (*batch)()) {
  const DrawBatch& input = batch();
  const tables::Tables tables = *FindGeneration("gfx9");
  for (auto _ : state) {
    sim::OverlayMemory memory(input.dump.memory);
    Works works;
    sim::Streamer streamer(tables, memory, {}, works);
    streamer.EnterBatch(0, input.dump.submissions[0].batch_address);
    if (streamer.Run(10 * input.packets) != sim::Stop::kEnded || works.problems != 0 ||
        streamer.commands() + 1 < input.packets) {
      state.SkipWithError("the batch was not executed whole");
    }
  }
  CountCommands(state, input.packets);
}
BENCHMARK_CAPTURE(Simulate, draws, TheDrawBatch);
BENCHMARK_CAPTURE(Simulate, registers, RegisterBatch);

// --- Blits: of squares of pixels of 4 bytes ---

constexpr uint64_t kSource = 0x10000000, kDestination = 0x20000000, kRoom_B = 0x8000000;

void Copy(benchmark::State& state) {
  const auto bytes = static_cast<size_t>(4 * state.range(0) * state.range(0));
  std::vector<uint8_t> from(bytes, 1), to(bytes);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), bytes);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(bytes) * state.iterations());
}
BENCHMARK(Copy)->Arg(256)->Arg(1024);

void Blit(benchmark::State& state, sim::BlitTiling from, sim::BlitTiling to) {
  const int64_t side = state.range(0);
  const auto bytes = static_cast<size_t>(4 * side * side);
  // Whole tiles.
  const std::vector<uint8_t> pixels(2 * bytes, 1);
  Memory base;
  if (!base.Map(0, kSource, pixels, kRoom_B).ok() || !base.Map(0, kDestination, {}, kRoom_B).ok()) {
    std::abort();
  }
  sim::OverlayMemory memory(base);
  // Linear rows have a gap, as those of most images do.
  const auto pitch = [&](sim::BlitTiling tiling) {
    return 4 * side + (tiling == sim::BlitTiling::kLinear ? 64 : 0);
  };
  sim::Blit blit;
  blit.destination = {.address = kDestination, .pitch_B = pitch(to), .tiling = to};
  blit.rectangle = {.x1 = 0, .y1 = 0, .x2 = side, .y2 = side};
  blit.source =
      sim::SurfaceSource{.surface = {.address = kSource, .pitch_B = pitch(from), .tiling = from}};
  for (auto _ : state) {
    const sim::BlitOutcome outcome = sim::ExecuteBlit(blit, memory);
    if (!outcome.status.ok() || outcome.written_B != bytes) {
      state.SkipWithError(std::string(outcome.status.message()).c_str());
    }
  }
  state.SetBytesProcessed(static_cast<int64_t>(bytes) * state.iterations());
}

#define PACKSMITH_BLIT(name, from, to) \
  BENCHMARK_CAPTURE(Blit, name, sim::BlitTiling::from, sim::BlitTiling::to)->Arg(256)->Arg(1024)
PACKSMITH_BLIT(linear, kLinear, kLinear);
PACKSMITH_BLIT(to_x_tiles, kLinear, kX);
PACKSMITH_BLIT(to_y_tiles, kLinear, kY);
// What XY_FAST_COPY_BLT and XY_BLOCK_COPY_BLT do most: between tiles of the same kind.
PACKSMITH_BLIT(in_ys_tiles, kYs, kYs);
PACKSMITH_BLIT(from_tile4, kTile4, kLinear);

}  // namespace
}  // namespace packsmith::bench
