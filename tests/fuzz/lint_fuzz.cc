// Any bytes as a batch that is held against rules: the first byte chooses the GPU, the second one
// the stream and the form of the report. The rest is memory from address 0 on, in two buffers, so
// that small numbers are pointers into it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/decode/decoder.h"
#include "runtime/dump/dump.h"
#include "runtime/generations/generations.h"
#include "runtime/lint/lint.h"
#include "runtime/lint/report.h"
#include "runtime/lint/rules.h"
#include "runtime/tables/tables.h"

namespace packsmith {
namespace {

constexpr uint64_t kMostPackets = 2000;

// A sanitizer or libFuzzer reports the trap together with the input.
void Demand(bool condition) {
  if (!condition) __builtin_trap();
}

class LineOutput : public decode::Output {
 public:
  void Append(absl::string_view text) override {
    // No terminal control characters.
    bool harmless = true;
    for (const char c : text) harmless &= c == '\n' || static_cast<unsigned char>(c) >= 0x20;
    Demand(harmless);
    text_.append(text.data(), text.size());
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string Lint(const tables::Tables& tables, const Dump& dump, lint::ReportFormat format,
                 bool shapes) {
  LineOutput output;
  const std::unique_ptr<lint::Report> report =
      lint::MakeReport(format, lint::ListRules({&tables, 1}), output);
  lint::LintOptions options;
  options.most_of_a_rule = 50;
  const std::unique_ptr<lint::LintSink> sink = lint::MakeLintSink(*report, options);
  decode::Options decoding = lint::LintDecoding();
  decoding.most_packets = kMostPackets;
  decoding.most_structs = kMostPackets;
  decoding.shapes = shapes;
  decode::Decoder decoder(tables, *sink, decoding);
  decoder.Decode(dump);
  // Again: state persists.
  decoder.Decode(dump);
  decoder.Finish();
  uint64_t counted = 0;
  for (const auto& [number, count] : sink->counts().by_rule) counted += count;
  Demand(counted == sink->counts().From(lint::Severity::kNote));
  report->Finish(sink->counts(), true);
  Demand(!output.text().empty() && output.text().back() == '\n');
  return output.text();
}

}  // namespace
}  // namespace packsmith

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace packsmith;
  if (size < 3) return 0;
  const auto generations = BuiltInGenerations();
  const tables::Tables& tables = generations[data[0] % generations.size()];
  const uint8_t how = data[1];
  // A block of its own, so that a sanitizer sees reads past it.
  const std::vector<uint8_t> memory(data + 2, data + size);
  Dump dump;
  Demand(dump.memory.Map(0, 0, memory, memory.size()).ok());
  Submission submission;
  submission.batch_length = (how & 0x80) != 0 ? 0 : memory.size();
  if ((how & 0x40) != 0) {
    submission.stream =
        std::string(tables.string(tables.streams()[(how >> 2 & 7) % tables.streams().size()].name));
  }
  dump.submissions.push_back(submission);
  dump.buffers.push_back({.space = 0, .address = 0, .size = memory.size() / 2, .name = "low"});
  dump.buffers.push_back(
      {.space = 0, .address = memory.size() / 2, .size = memory.size(), .name = "high"});
  dump.SortBuffers();
  dump.memory_is_complete = (how & 0x20) != 0;
  const auto format = static_cast<lint::ReportFormat>((how & 3) % 3);
  // Results that are reused from earlier records are the same as those computed anew.
  Demand(Lint(tables, dump, format, true) == Lint(tables, dump, format, false));
  return 0;
}
