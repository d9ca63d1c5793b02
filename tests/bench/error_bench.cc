// Reading error states: a buffer of 16 MiB as ASCII85 and as ASCII85 of a zlib stream, beside zlib
// alone on the same bytes; and a whole error state of 100 MB, from the text to the report.
//
// The bytes are what such buffers hold: batches, repeated with other numbers, and zeros.
#include <benchmark/benchmark.h>
#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "runtime/base/file.h"
#include "runtime/dump/ascii85.h"
#include "runtime/dump/read.h"
#include "runtime/dump/text_bytes.h"
#include "runtime/generations/generations.h"
#include "runtime/hang/report.h"
#include "runtime/hang/report_text.h"
#include "runtime/hang/rings.h"

namespace packsmith::bench {
namespace {

constexpr size_t kBuffer = size_t{16} << 20;
constexpr size_t kPage = 4096;

const std::vector<uint8_t>& Content() {
  static const std::vector<uint8_t> kContent = [] {
    std::mt19937 random(7);
    std::vector<uint32_t> words(kBuffer / 4);
    for (size_t i = 0; i < words.size() / 2; i += 6) {
      const auto number = static_cast<uint32_t>(random());
      const uint32_t packet[6] = {0x7a000004, 0x00100000 | (number & 0xff), number, 0xfffe, 0, 0};
      for (size_t k = 0; k < 6 && i + k < words.size(); ++k) words[i + k] = packet[k];
    }
    std::vector<uint8_t> bytes(kBuffer);
    std::memcpy(bytes.data(), words.data(), kBuffer);
    return bytes;
  }();
  return kContent;
}

// As the kernel does it: a flush after each page.
const std::vector<uint8_t>& Deflated() {
  static const std::vector<uint8_t> kDeflated = [] {
    z_stream stream = {};
    if (deflateInit(&stream, Z_BEST_SPEED) != Z_OK) std::abort();
    std::vector<uint8_t> out(deflateBound(&stream, kBuffer) + kBuffer / kPage * 16);
    stream.next_out = out.data();
    stream.avail_out = static_cast<uInt>(out.size());
    for (size_t at = 0; at < kBuffer; at += kPage) {
      stream.next_in = const_cast<Bytef*>(Content().data() + at);  // zlib only reads it
      stream.avail_in = kPage;
      deflate(&stream, at + kPage == kBuffer ? Z_FINISH : Z_SYNC_FLUSH);
    }
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
  }();
  return kDeflated;
}

std::string Text(const std::vector<uint8_t>& bytes) {
  std::string text;
  AppendAscii85(bytes, text);
  return text;
}

void Read(benchmark::State& state, TextEncoding encoding, const std::vector<uint8_t>& bytes) {
  const std::string text = Text(bytes);
  for (auto unused : state) {
    auto budget = std::make_shared<TextBudget>();
    budget->bytes_left = kBuffer;
    const auto problems = std::make_shared<LateProblems>();
    const auto buffer = DeferText(encoding, {{text, 0}}, budget, problems);
    if (buffer->Get().size() != kBuffer) std::abort();
    benchmark::DoNotOptimize(buffer->Get().data());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * kBuffer));
}

void Ascii85(benchmark::State& state) { Read(state, TextEncoding::kAscii85, Content()); }
BENCHMARK(Ascii85)->Unit(benchmark::kMillisecond);

void Ascii85Zlib(benchmark::State& state) { Read(state, TextEncoding::kAscii85Zlib, Deflated()); }
BENCHMARK(Ascii85Zlib)->Unit(benchmark::kMillisecond);

// The limit of the one above.
void ZlibAlone(benchmark::State& state) {
  std::vector<uint8_t> out(kBuffer);
  for (auto unused : state) {
    z_stream stream = {};
    if (inflateInit(&stream) != Z_OK) std::abort();
    stream.next_in = const_cast<Bytef*>(Deflated().data());
    stream.avail_in = static_cast<uInt>(Deflated().size());
    stream.next_out = out.data();
    stream.avail_out = static_cast<uInt>(out.size());
    if (inflate(&stream, Z_FINISH) != Z_STREAM_END) std::abort();
    inflateEnd(&stream);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * kBuffer));
}
BENCHMARK(ZlibAlone)->Unit(benchmark::kMillisecond);

// 100 MB of text: a batch of 64 KiB that hangs, and as many user buffers of 1 MiB as it takes.
const std::string& ErrorState() {
  static const std::string kText = [] {
    std::string text =
        "GPU HANG: ecode 9:1:0x85dffffb, in bench [1]\nPCI ID: 0x1912\n"
        "rcs0 command stream:\n  ACTHD: 0x00000001 00008010\n  IPEHR: 0x7a000004\n"
        "  HEAD: 0x00000010\n  TAIL: 0x00000020\n  hung: yes\n"
        "rcs0 --- batch = 0x00000001 00000000\n~";
    AppendAscii85(absl::MakeConstSpan(Content()).subspan(0, 65532), text);
    const uint8_t end[4] = {0, 0, 0, 5};
    AppendAscii85(end, text);
    std::string buffer = "\n~";
    AppendAscii85(absl::MakeConstSpan(Content()).subspan(0, 1 << 20), buffer);
    for (uint32_t i = 0; text.size() < 100'000'000; ++i) {
      absl::StrAppendFormat(&text, "\nrcs0 --- user = 0x00000002 %08x", i << 20);
      text += buffer;
    }
    text.push_back('\n');
    return text;
  }();
  return kText;
}

void Report100MB(benchmark::State& state) {
  const absl::StatusOr<tables::Tables> tables = FindGeneration("gfx9");
  const std::string& text = ErrorState();
  for (auto unused : state) {
    FileBytes file;
    file.bytes = {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
    file.name = "error";
    absl::StatusOr<Dump> dump = ReadDump(std::move(file));
    if (!dump.ok()) std::abort();
    hang::AddRings(*tables, *dump);
    const std::string report = hang::ToText(*tables, hang::MakeHangReport(*tables, *dump));
    benchmark::DoNotOptimize(report.data());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}
BENCHMARK(Report100MB)->Unit(benchmark::kMillisecond);

// The limit of the one above: each byte is looked at once.
void FindLineEnds100MB(benchmark::State& state) {
  const std::string& text = ErrorState();
  for (auto unused : state) {
    size_t lines = 0;
    for (const char* at = text.data();
         (at = static_cast<const char*>(std::memchr(
              at, '\n', static_cast<size_t>(text.data() + text.size() - at)))) != nullptr;
         ++at) {
      ++lines;
    }
    benchmark::DoNotOptimize(lines);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}
BENCHMARK(FindLineEnds100MB)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace packsmith::bench
