// Decoding a 1 MiB batch of 7,000 draws (draw_batch.h). The runs "with state" show the binding
// table and the samplers again for each draw.
//
// Output goes through a 64 KiB buffer that nobody reads. Copy moves the batch's bytes in the same
// run: the limit for the others.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "runtime/decode/decoder.h"
#include "runtime/decode/sinks/jsonl_sink.h"
#include "runtime/decode/sinks/names_sink.h"
#include "runtime/decode/sinks/stats_sink.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/generations/generations.h"
#include "tests/bench/draw_batch.h"

namespace packsmith::bench {
namespace {

// 64 KiB that everything is written over, again and again.
class Discard : public decode::Output {
 public:
  void Append(absl::string_view text) override {
    while (!text.empty()) {
      const size_t n = std::min(text.size(), buffer_.size() - at_);
      std::memcpy(buffer_.data() + at_, text.data(), n);
      at_ = (at_ + n) % buffer_.size();
      bytes_ += n;
      text.remove_prefix(n);
    }
    benchmark::DoNotOptimize(buffer_.data());
  }
  uint64_t bytes() const { return bytes_; }

 private:
  std::vector<char> buffer_ = std::vector<char>(64 * 1024);
  size_t at_ = 0;
  uint64_t bytes_ = 0;
};

template <class MakeSink>
void Decode(benchmark::State& state, decode::Follow follow, const MakeSink& make_sink,
            bool brief = false) {
  const DrawBatch& input = TheDrawBatch();
  const absl::StatusOr<tables::Tables> tables = FindGeneration("gfx9");
  uint64_t bytes = 0;
  decode::Summary summary;
  for (auto _ : state) {
    Discard output;
    const std::unique_ptr<decode::Sink> sink = make_sink(output);
    decode::Options options;
    options.follow = follow;
    options.brief = brief;
    decode::Decoder decoder(*tables, *sink, options);
    decoder.Decode(input.dump);
    summary = decoder.Finish();
    bytes += output.bytes();
  }
  if (summary.packets != input.packets || summary.unknown_dwords != 0 || summary.problems != 0) {
    state.SkipWithError("the batch was not decoded whole");
  }
  const auto runs = static_cast<double>(state.iterations());
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * input.batch.size() * 4));
  state.counters["packets/s"] =
      benchmark::Counter(runs * static_cast<double>(summary.packets), benchmark::Counter::kIsRate);
  state.counters["structs/s"] =
      benchmark::Counter(runs * static_cast<double>(summary.structs), benchmark::Counter::kIsRate);
  state.counters["output/input"] =
      static_cast<double>(bytes) / (runs * static_cast<double>(input.batch.size() * 4));
}

void Copy(benchmark::State& state) {
  const DrawBatch& input = TheDrawBatch();
  std::vector<uint32_t> to(input.batch.size());
  for (auto _ : state) {
    std::memcpy(to.data(), input.batch.data(), to.size() * 4);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * to.size() * 4));
}
BENCHMARK(Copy);

void Text(benchmark::State& state) {
  Decode(state, decode::Follow::kBatches,
         [](decode::Output& output) { return decode::MakeTextSink(output); });
}
BENCHMARK(Text);

void TextWithState(benchmark::State& state) {
  Decode(state, decode::Follow::kAll,
         [](decode::Output& output) { return decode::MakeTextSink(output); });
}
BENCHMARK(TextWithState);

void Jsonl(benchmark::State& state) {
  Decode(state, decode::Follow::kBatches,
         [](decode::Output& output) { return decode::MakeJsonlSink(output); });
}
BENCHMARK(Jsonl);

void JsonlWithState(benchmark::State& state) {
  Decode(state, decode::Follow::kAll,
         [](decode::Output& output) { return decode::MakeJsonlSink(output); });
}
BENCHMARK(JsonlWithState);

void Names(benchmark::State& state) {
  Decode(
      state, decode::Follow::kBatches,
      [](decode::Output& output) { return decode::MakeNamesSink(output); }, true);
}
BENCHMARK(Names);

void Stats(benchmark::State& state) {
  Decode(
      state, decode::Follow::kBatches,
      [](decode::Output& output) { return decode::MakeStatsSink(output); }, true);
}
BENCHMARK(Stats);

}  // namespace
}  // namespace packsmith::bench
