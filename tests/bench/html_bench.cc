// Pages for a browser, beside a copy of the batch's bytes: 1, 10 and 20 MB of draws, each with its
// state (draw_batch.h). The page goes to a buffer that nobody reads.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "runtime/decode/decoder.h"
#include "runtime/generations/generations.h"
#include "runtime/html/page.h"
#include "tests/bench/draw_batch.h"

namespace packsmith::bench {
namespace {

constexpr uint64_t kMegabyte = 1'000'000;

// Counts, and reads nothing.
class Discard : public decode::Output {
 public:
  void Append(absl::string_view text) override {
    bytes_ += text.size();
    benchmark::DoNotOptimize(text.data());
  }
  uint64_t bytes() const { return bytes_; }

 private:
  uint64_t bytes_ = 0;
};

// So often the batch, as one submission each.
uint64_t TimesFor(uint64_t megabytes) {
  const uint64_t batch = TheDrawBatch().batch.size() * 4;
  return (megabytes * kMegabyte + batch - 1) / batch;
}

void Copy(benchmark::State& state) {
  const DrawBatch& input = TheDrawBatch();
  const uint64_t times = TimesFor(static_cast<uint64_t>(state.range(0)));
  std::vector<uint32_t> to(input.batch.size());
  for (auto _ : state) {
    for (uint64_t i = 0; i < times; ++i) {
      std::memcpy(to.data(), input.batch.data(), to.size() * 4);
      benchmark::ClobberMemory();
    }
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * times * to.size() * 4));
}
BENCHMARK(Copy)->Arg(1)->Arg(10)->Arg(20)->Unit(benchmark::kMillisecond);

void Page(benchmark::State& state) {
  const DrawBatch& input = TheDrawBatch();
  const uint64_t times = TimesFor(static_cast<uint64_t>(state.range(0)));
  const absl::StatusOr<tables::Tables> tables = FindGeneration("gfx9");
  uint64_t bytes = 0, packets = 0;
  for (auto _ : state) {
    Discard output;
    const std::unique_ptr<html::Page> page = html::MakePage(output);
    decode::Options options;
    options.leads = true;
    decode::Decoder decoder(*tables, *page, options);
    for (uint64_t i = 0; i < times; ++i) decoder.Decode(input.dump);
    packets = decoder.Finish().packets;
    page->Finish();
    bytes = output.bytes();
  }
  if (packets != times * input.packets) state.SkipWithError("the batch was not decoded whole");
  const uint64_t read = times * input.batch.size() * 4;
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * read));
  state.counters["page/input"] = static_cast<double>(bytes) / static_cast<double>(read);
}
BENCHMARK(Page)->Arg(1)->Arg(10)->Arg(20)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace packsmith::bench
