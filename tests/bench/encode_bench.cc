// pack: a batch of 128 KiB (the beginning of draw_batch.h's) from the records of unpack
// --format=jsonl and from the short form. Rates are those of the text; the copies move the same
// text.
#include <benchmark/benchmark.h>

#include <cstdint>
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

constexpr size_t kBatchBytes = 128 * 1024;

absl::StatusOr<tables::Tables> Find(absl::string_view name) { return FindGeneration(name); }

struct Texts {
  Dump dump;
  std::string json, short_form;
};

const Texts& TheTexts() {
  static const Texts& texts = *[] {
    auto* made = new Texts;
    const DrawBatch& whole = TheDrawBatch();
    Submission submission = whole.dump.submissions[0];
    submission.batch_length = kBatchBytes;
    made->dump.memory
        .Map(submission.space, submission.batch_address,
             {reinterpret_cast<const uint8_t*>(whole.batch.data()), kBatchBytes}, kBatchBytes)
        .IgnoreError();
    made->dump.submissions.push_back(submission);
    const absl::StatusOr<tables::Tables> tables = FindGeneration("gfx9");
    decode::StringOutput output;
    const auto sink = decode::MakeJsonlSink(output);
    decode::Decoder decoder(*tables, *sink, {.follow = decode::Follow::kBatches});
    decoder.Decode(made->dump);
    decoder.Finish();
    made->json = output.text();
    made->short_form = encode::WriteSource(*tables, made->dump);
    return made;
  }();
  return texts;
}

void Copy(benchmark::State& state, const std::string& text) {
  std::string to(text.size(), '\0');
  for (auto _ : state) {
    std::memcpy(&to[0], text.data(), text.size());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}
void CopyJson(benchmark::State& state) { Copy(state, TheTexts().json); }
BENCHMARK(CopyJson);
void CopyShortForm(benchmark::State& state) { Copy(state, TheTexts().short_form); }
BENCHMARK(CopyShortForm);

template <class Read>
void Pack(benchmark::State& state, const std::string& text, const Read& read) {
  const encode::Source source{"text", text};
  for (auto _ : state) {
    const absl::StatusOr<encode::Packed> packed = read(source);
    if (!packed.ok() || packed->image.Runs().empty() ||
        packed->image.Runs()[0].bytes.size() != kBatchBytes) {
      state.SkipWithError("the batch was not packed");
      break;
    }
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}

void FromJson(benchmark::State& state) {
  Pack(state, TheTexts().json,
       [](const encode::Source& source) { return encode::ReadJson(source, Find); });
}
BENCHMARK(FromJson);

void FromJsonFieldsOnly(benchmark::State& state) {
  Pack(state, TheTexts().json, [](const encode::Source& source) {
    return encode::ReadJson(source, Find, {.fields_only = true});
  });
}
BENCHMARK(FromJsonFieldsOnly);

void FromShortForm(benchmark::State& state) {
  Pack(state, TheTexts().short_form,
       [](const encode::Source& source) { return encode::Assemble(source, Find); });
}
BENCHMARK(FromShortForm);

void ToShortForm(benchmark::State& state) {
  const absl::StatusOr<tables::Tables> tables = FindGeneration("gfx9");
  size_t bytes = 0;
  for (auto _ : state) bytes += encode::WriteSource(*tables, TheTexts().dump).size();
  state.SetBytesProcessed(static_cast<int64_t>(bytes));
}
BENCHMARK(ToShortForm);

}  // namespace
}  // namespace packsmith::bench
