// Any bytes as a batch: the first byte chooses the GPU (Gfx9, the invented one of tests/mini,
// AGX). The second byte chooses what is followed and which stream it is. The rest is memory from
// address 0 on, so that small numbers are pointers into it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gen/model/load.h"
#include "gen/model/write/tables.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/sinks/jsonl_sink.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/dump/dump.h"
#include "runtime/tables/tables.h"

namespace packsmith {
namespace {

constexpr uint64_t kMostPackets = 2000;

// A sanitizer or libFuzzer reports the trap together with the input.
void Demand(bool condition) {
  if (!condition) __builtin_trap();
}

tables::Tables Described(const char* path) {
  const model::LoadResult loaded = model::Load(path, model::ReadFileFromDisk);
  const absl::Status status = model::ToStatus(loaded);
  if (!status.ok()) {
    std::fprintf(stderr, "run this from the workspace's root: %s\n", status.ToString().c_str());
    std::exit(1);
  }
  // Lives as long as the program, and is reachable for leak checkers.
  static auto& blocks = *new std::deque<std::vector<uint64_t>>;
  const std::vector<uint64_t>* block = &blocks.emplace_back(model::WriteTables(loaded.model));
  return *tables::Tables::Open(
      {reinterpret_cast<const uint8_t*>(block->data()), block->size() * sizeof(uint64_t)});
}

class LineOutput : public decode::Output {
 public:
  void Append(absl::string_view text) override {
    // No terminal control characters.
    Demand(!text.empty());
    bool harmless = true;
    for (const char c : text) harmless &= c == '\n' || static_cast<unsigned char>(c) >= 0x20;
    Demand(harmless);
    text_.append(text.data(), text.size());
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

struct Said {
  decode::Summary summary;
  std::string text;
};

Said Decode(const tables::Tables& tables, const Dump& dump, const decode::Options& options,
            bool json) {
  LineOutput output;
  const std::unique_ptr<decode::Sink> sink =
      json ? decode::MakeJsonlSink(output) : decode::MakeTextSink(output);
  decode::Decoder decoder(tables, *sink, options);
  decoder.Decode(dump);
  // Again: state persists.
  decoder.Decode(dump);
  const decode::Summary summary = decoder.Finish();
  Demand(!output.text().empty() && output.text().back() == '\n');
  return {summary, output.text()};
}

}  // namespace
}  // namespace packsmith

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace packsmith;
  static const tables::Tables kGfx9 = Described("xml/intel/gfx9.xml");
  static const tables::Tables kAgx = Described("xml/agx/g13.xml");
  static const tables::Tables kMini = Described("tests/mini/mini.xml");
  if (size < 3) return 0;
  const tables::Tables& tables = data[0] % 3 == 0 ? kGfx9 : data[0] % 3 == 1 ? kMini : kAgx;
  const uint8_t how = data[1];
  // A block of its own, so that a sanitizer sees reads past it.
  const std::vector<uint8_t> memory(data + 2, data + size);
  Dump dump;
  Demand(dump.memory.Map(0, 0, memory, memory.size()).ok());
  Submission submission;
  submission.batch_length = (how & 0x80) != 0 ? 0 : memory.size();
  submission.stream =
      std::string(tables.string(tables.streams()[(how >> 2 & 7) % tables.streams().size()].name));
  dump.submissions.push_back(submission);
  decode::Options options;
  options.follow = static_cast<decode::Follow>(std::min(how & 3, 2));
  options.most_packets = kMostPackets;
  options.most_structs = kMostPackets;
  const Said said = Decode(tables, dump, options, false);
  const decode::Summary text = said.summary;
  const decode::Summary json = Decode(tables, dump, options, true).summary;
  Demand(text.packets <= 2 * kMostPackets && text.structs <= 2 * (kMostPackets + 1024));
  Demand(text.packets == json.packets && text.structs == json.structs &&
         text.problems == json.problems && text.faults == json.faults);
  // Results reused from earlier records equal those computed anew.
  options.shapes = false;
  Demand(Decode(tables, dump, options, false).text == said.text);
  return 0;
}
