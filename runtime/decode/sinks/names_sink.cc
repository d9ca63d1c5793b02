#include "runtime/decode/sinks/names_sink.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/decode/text/chunk_writer.h"

namespace packsmith::decode {
namespace {

class NamesSink : public Sink {
 public:
  NamesSink(Output& output, const NamesOptions& options) : out_(output), options_(options) {}

  void OnSchema(const tables::Tables& tables) override {
    // 64 bytes from each line on can be read, and the strings do not move.
    lines_.reserve(tables.containers().size());
    for (const tables::Container& container : tables.containers()) {
      lines_.push_back(absl::StrCat(tables.string(container.name), "\n"));
      sizes_.push_back(static_cast<uint32_t>(lines_.back().size()));
      lines_.back().resize(std::max<size_t>(64, sizes_.back()));
    }
  }
  void OnDevice(const Device&, uint64_t) override {}
  void OnSubmission(const Submission& s, uint64_t) override {
    out_.Put(absl::StrCat("submission ", s.index, "  engine ",
                          s.engine.empty() ? "not known" : Harmless(s.engine), ", context ",
                          s.context, ", slot ", s.slot, "\n"));
  }
  void OnPackets(absl::Span<const Brief> packets) override {
    for (const Brief& packet : packets) {
      if (packet.depth != 0) out_.Fill(' ', 2 * size_t{packet.depth});
      if (options_.offsets) {
        out_.Address(packet.address);
        out_.Put("  ");
      }
      if (packet.container == tables::kNone) {
        Unknown(packet.bytes);
      } else {
        out_.PutPadded({lines_[packet.container].data(), sizes_[packet.container]});
      }
    }
  }
  void OnRecord(const Record& record) override {
    if (record.type != RecordType::kPacket && record.type != RecordType::kUnknown) return;
    out_.Fill(' ', 2 * size_t{record.depth});
    if (options_.offsets) {
      out_.Address(record.address);
      out_.Put("  ");
    }
    if (record.type == RecordType::kPacket) {
      out_.Put(record.name);
      out_.Put('\n');
    } else {
      Unknown(record.bytes.size());
    }
  }
  void OnRemark(absl::string_view text, bool is_problem) override {
    out_.Put(absl::StrCat(is_problem ? "problem: " : "note: ", Harmless(text), "\n"));
  }
  void OnSummary(const Summary&) override { out_.Flush(); }
  void OnPause() override { out_.Flush(); }

 private:
  void Unknown(size_t bytes) {
    const size_t dwords = (bytes + 3) / 4;
    out_.Put("unknown, ");
    out_.Decimal(dwords);
    out_.Put(absl::string_view(dwords == 1 ? " dword\n" : " dwords\n"));
  }

  ChunkWriter out_;
  NamesOptions options_;
  std::vector<std::string> lines_;
  std::vector<uint32_t> sizes_;
};

}  // namespace

std::unique_ptr<Sink> MakeNamesSink(Output& output, const NamesOptions& options) {
  return std::make_unique<NamesSink>(output, options);
}

}  // namespace packsmith::decode
