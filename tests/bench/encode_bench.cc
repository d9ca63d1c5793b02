// Texts of packets as memory, and memory as such texts: a part of the batch of draws
// (draw_batch.h), a few MB of text. Each Copy moves the bytes of the text in the same run: the
// limit for the others, whose bytes a second are those of the text too.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/sinks/jsonl_sink.h"
#include "runtime/encode/assembler.h"
#include "runtime/encode/json.h"
#include "runtime/encode/source.h"
#include "runtime/generations/generations.h"
#include "tests/bench/draw_batch.h"

namespace packsmith::bench {
namespace {

// The whole batch would be 100 MB of JSON.
constexpr size_t kPart = 8;

absl::StatusOr<tables::Tables> Find(absl::string_view name) { return FindGeneration(name); }

// Memory that ends in the middle of the batch.
Dump PartOfBatch() {
  const DrawBatch& whole = TheDrawBatch();
  Dump dump;
  dump.device = whole.dump.device;
  dump.submissions = whole.dump.submissions;
  Submission& submission = dump.submissions.front();
  submission.batch_length = whole.batch.size() / kPart * 4;
  const auto* const bytes = reinterpret_cast<const uint8_t*>(whole.batch.data());
  if (!dump.memory
           .Map(0, submission.batch_address, absl::MakeConstSpan(bytes, submission.batch_length),
                submission.batch_length)
           .ok()) {
    std::abort();
  }
  return dump;
}

std::string WriteJson(const tables::Tables& tables, const Dump& dump) {
  decode::StringOutput output;
  const auto sink = decode::MakeJsonlSink(output);
  decode::Decoder decoder(tables, *sink);
  decoder.Decode(dump);
  decoder.Finish();
  return std::string(output.text());
}

struct Texts {
  tables::Tables tables = *FindGeneration("gfx9");
  Dump dump = PartOfBatch();
  std::string json = WriteJson(tables, dump);
  std::string source = encode::WriteSource(tables, dump);
};

const Texts& TheTexts() {
  static const Texts* const texts = new Texts;
  return *texts;
}

void Copy(benchmark::State& state, const std::string& text) {
  std::string to(text.size(), 0);
  for (auto _ : state) {
    std::memcpy(to.data(), text.data(), to.size());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * to.size()));
}

void CopyJson(benchmark::State& state) { Copy(state, TheTexts().json); }
BENCHMARK(CopyJson);

void CopySource(benchmark::State& state) { Copy(state, TheTexts().source); }
BENCHMARK(CopySource);

template <class Make>
void Encode(benchmark::State& state, const std::string& text, const Make& make) {
  for (auto _ : state) {
    const absl::StatusOr<encode::Packed> packed = make(encode::Source{"bench", text});
    if (!packed.ok() || packed->submissions.empty()) {
      return state.SkipWithError("the text is not accepted");
    }
    benchmark::DoNotOptimize(packed->submissions.data());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}

void ReadJson(benchmark::State& state) {
  Encode(state, TheTexts().json,
         [](const encode::Source& source) { return encode::ReadJson(source, Find); });
}
BENCHMARK(ReadJson);

void ReadSource(benchmark::State& state) {
  Encode(state, TheTexts().source,
         [](const encode::Source& source) { return encode::Assemble(source, Find); });
}
BENCHMARK(ReadSource);

template <class Make>
void Write(benchmark::State& state, size_t size, const Make& make) {
  for (auto _ : state) {
    std::string text = make(TheTexts());
    if (text.size() != size) return state.SkipWithError("the text is not what it was");
    benchmark::DoNotOptimize(text.data());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * size));
}

void WriteJson(benchmark::State& state) {
  Write(state, TheTexts().json.size(),
        [](const Texts& texts) { return WriteJson(texts.tables, texts.dump); });
}
BENCHMARK(WriteJson);

void WriteSource(benchmark::State& state) {
  Write(state, TheTexts().source.size(),
        [](const Texts& texts) { return encode::WriteSource(texts.tables, texts.dump); });
}
BENCHMARK(WriteSource);

}  // namespace
}  // namespace packsmith::bench
