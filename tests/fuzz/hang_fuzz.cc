// Error states and device core dumps, from the text to the report about the hang and the records.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/base/file.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/dump/read.h"
#include "runtime/generations/generations.h"
#include "runtime/hang/report.h"
#include "runtime/hang/report_json.h"
#include "runtime/hang/report_text.h"
#include "runtime/hang/rings.h"
#include "tests/fuzz/touch_dump.h"

namespace packsmith {
namespace {

// A sanitizer or libFuzzer reports the trap together with the input.
void Demand(bool condition) {
  if (!condition) __builtin_trap();
}

// No terminal control characters.
void DemandHarmless(absl::string_view text) {
  for (const char c : text) Demand(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
}

class Harmless : public decode::Output {
 public:
  void Append(absl::string_view text) override { DemandHarmless(text); }
};

}  // namespace
}  // namespace packsmith

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace packsmith;
  constexpr uint64_t kMostWork = 4096;
  if (size < 2) return 0;
  // The first byte chooses the generation: a dump's PCI id alone would hardly ever be known.
  const absl::Span<const tables::Tables> all = BuiltInGenerations();
  const tables::Tables& tables = all[data[0] % all.size()];
  for (const char* format : {"i915-error", "xe-devcoredump"}) {
    RawOptions options;
    options.format = format;
    options.max_bytes = 1 << 22;
    absl::StatusOr<Dump> dump =
        ReadDump(BytesOf(std::string(reinterpret_cast<const char*>(data) + 1, size - 1)), options);
    if (!dump.ok()) continue;
    TouchDump(*dump);
    hang::AddRings(tables, *dump);
    const hang::HangReport report = hang::MakeHangReport(tables, *dump);
    DemandHarmless(hang::ToText(tables, report));
    const std::string json = hang::ToJson(tables, report);
    Demand(json.find('\n') == json.size() - 1);
    Harmless output;
    const std::unique_ptr<decode::Sink> sink = decode::MakeTextSink(output);
    decode::Options decode_options;
    decode_options.most_packets = kMostWork;
    decode_options.most_structs = kMostWork;
    decode::Decoder decoder(tables, *sink, decode_options);
    decoder.Decode(*dump);
    decoder.Finish();
  }
  return 0;
}
