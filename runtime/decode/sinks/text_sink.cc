#include "runtime/decode/sinks/text_sink.h"

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/unicode.h"
#include "runtime/decode/fields/addresses.h"
#include "runtime/decode/fields/value.h"
#include "runtime/decode/text/chunk_writer.h"
#include "runtime/decode/text/record_text.h"

namespace packsmith::decode {

std::string Counted(uint64_t count, absl::string_view what) {
  return absl::StrCat(count, " ", what, count == 1 ? "" : "s");
}

std::string Harmless(absl::string_view text) {
  std::string harmless;
  while (!text.empty()) {
    const CodePoint first = FirstCodePoint(text);
    if (!first.valid || (first.bytes == 1 && IsHidden(first.value))) {
      absl::StrAppendFormat(&harmless, "\\x%02x", first.value);
    } else if (first.bytes != 1 && IsHidden(first.value)) {
      if (first.value < 0x10000) {
        absl::StrAppendFormat(&harmless, "\\u%04x", first.value);
      } else {
        absl::StrAppendFormat(&harmless, "\\U%08x", first.value);
      }
    } else {
      absl::StrAppend(&harmless, text.substr(0, first.bytes));
    }
    text.remove_prefix(first.bytes);
  }
  return harmless;
}

namespace {

class TextSink : public Sink {
 public:
  TextSink(Output& output, const TextOptions& options)
      : out_(output), options_(options), colors_(options.color), records_(out_, options_) {}

  void OnSchema(const tables::Tables& tables) override {
    tables_ = &tables;
    records_.Begin(tables);
  }

  void OnDevice(const Device& device, uint64_t) override {
    std::string text =
        absl::StrCat(colors_.bold, "device", colors_.plain, "  ", Harmless(tables_->title()));
    if (!device.platform.empty()) absl::StrAppend(&text, ", platform ", Harmless(device.platform));
    if (device.pci_id) absl::StrAppendFormat(&text, ", PCI id 0x%04x", *device.pci_id);
    if (device.chip_id) absl::StrAppendFormat(&text, ", chip id 0x%04x", *device.chip_id);
    if (!device.driver.empty()) absl::StrAppend(&text, ", driver ", Harmless(device.driver));
    absl::StrAppend(&text, "\n", options_.overview);
    out_.Put(text);
  }

  void OnDump(const Dump* dump) override {
    FinishRun();
    records_.BeginDump(dump);
    registers_begun_ = false;
  }

  void OnInsert(absl::string_view text) override {
    FinishRun();
    out_.Put(text);
  }

  void OnSubmission(const Submission& s, uint64_t id) override {
    FinishRun();
    path_.assign(1, {id, 0});
    records_.BeginSubmission(s.space);
    std::string text =
        absl::StrCat("\n", colors_.bold, "submission ", s.index, colors_.plain, "  engine ",
                     s.engine.empty() ? "not known" : Harmless(s.engine), ", context ", s.context,
                     ", slot ", s.slot);
    if (options_.offsets) {
      absl::StrAppendFormat(&text, ", %s at 0x%x", s.kind.empty() ? "batch" : Harmless(s.kind),
                            s.batch_address);
    }
    absl::StrAppend(&text, ", ", ShowLength(s.batch_length));
    for (const Submission::Base& base : s.bases) {
      absl::StrAppendFormat(&text, ", %s from 0x%x on", Harmless(base.name), base.address);
    }
    out_.Put(text);
    if (options_.offsets) records_.PutBuffer(s.space, s.batch_address);
    out_.Put('\n');
  }

  void OnRecord(const Record& record) override {
    if (record.type == RecordType::kPacket && record.bytes.size() == 4 && record.faults.empty() &&
        record.stored.empty()) {
      AddToRun(record);
      return;
    }
    FinishRun();
    if (record.type == RecordType::kRegister) return Register(record);
    Show(record, {});
  }

  void OnTrace(const RecordTrace& trace) override {
    FinishRun();
    const Record& root = trace.records[0];
    const size_t indent = 2 * Depth(root);
    const auto indent_of = [&](const Record& record) {
      return &record == &root ? indent : 2 * Depth(record);
    };
    if (records_.Put(trace, indent, indent_of)) return;
    path_.pop_back();
    for (const Record& record : trace.records) OnRecord(record);
  }

  void OnRemark(absl::string_view text, bool is_problem) override {
    FinishRun();
    out_.Put(is_problem ? colors_.red : "");
    out_.Put(absl::string_view(is_problem ? "problem: " : "note: "));
    out_.Put(Harmless(text));
    out_.Put(is_problem ? colors_.plain : "");
    out_.Put('\n');
  }

  void OnSummary(const Summary& s) override {
    FinishRun();
    std::string text = absl::StrCat(
        "\n", colors_.bold, "summary", colors_.plain, "  ", Counted(s.submissions, "submission"),
        ", ", Counted(s.packets, "packet"), ", ", Counted(s.structs, "structure"), ", ",
        Counted(s.draws, "draw"), ", ", s.dispatches,
        s.dispatches == 1 ? " dispatch; " : " dispatches; ",
        Counted(s.unknown_dwords, "unknown dword"), ", ", Counted(s.problems, "problem"));
    bool any = false;
    for (size_t i = 0; i < kFaultKinds; ++i) {
      if (s.faults[i] == 0) continue;
      absl::StrAppend(&text, any ? ", " : "; faults: ", s.faults[i], " ",
                      FaultKindName(static_cast<FaultKind>(i)));
      any = true;
    }
    absl::StrAppend(&text, any ? "\n" : ", no faults\n");
    out_.Put(text);
    out_.Flush();
  }

  void OnPause() override {
    FinishRun();
    out_.Flush();
  }

 private:
  // Equal packets of one dword wait here until something else comes.
  void AddToRun(const Record& record) {
    const auto dword = static_cast<uint32_t>(ReadBits(record.bytes, 0, 32));
    if (run_count_ != 0 && run_.container == record.container && run_dword_ == dword &&
        run_.depth == record.depth && run_.parent == record.parent && run_.space == record.space) {
      ++run_count_;
      run_.id = record.id;
      run_last_ = record.address;
      return;
    }
    FinishRun();
    // The only members that such packets have.
    run_.id = record.id;
    run_.parent = record.parent;
    run_.space = record.space;
    run_.address = record.address;
    run_.depth = record.depth;
    run_.draw = record.draw;
    run_.dispatch = record.dispatch;
    run_.container = record.container;
    run_.name = record.name;
    run_.shape = record.shape;
    run_parts_.assign(record.parts.begin(), record.parts.end());
    run_.parts = run_parts_;
    run_dword_ = dword;
    run_count_ = 1;
    run_last_ = record.address;
  }

  void FinishRun() {
    if (run_count_ == 0) return;
    uint8_t bytes[4];
    std::memcpy(bytes, &run_dword_, 4);
    run_.bytes = bytes;
    const RecordText::Run run{run_count_, run_last_};
    run_count_ = 0;
    Show(run_, run);
    run_.bytes = {};
  }

  void Show(const Record& record, const RecordText::Run& run) {
    records_.Put(record, 2 * Depth(record), run);
  }

  // As in the dump, then by its description.
  void Register(const Record& record) {
    if (!registers_begun_ || record.engine != registers_of_) {
      registers_begun_ = true;
      registers_of_ = std::string(record.engine);
      out_.Put(absl::StrCat("\n", colors_.bold, "registers of ",
                            registers_of_.empty() ? "the device" : Harmless(registers_of_),
                            colors_.plain, "\n"));
    }
    const ErrorRegister& one = *record.dumped;
    out_.Put(absl::StrFormat("  %s 0x%0*x", Harmless(one.name), one.is_64 ? 16 : 8, one.value));
    for (size_t i = 0; i < one.extra.size(); ++i) {
      out_.Put(absl::StrFormat("%s0x%x", i == 0 ? " [" : ", ", one.extra[i]));
    }
    if (!one.extra.empty()) out_.Put(']');
    if (record.container == nullptr) {
      out_.Put(", which is not described\n");
      return;
    }
    out_.Put("  ");
    records_.PutDescribed(record, 2, {});
  }

  // Packets are indented by call, and their targets below them.
  size_t Depth(const Record& record) {
    // A record comes right after its parent or after another target of its parent.
    while (!path_.empty() && path_.back().first != record.parent) path_.pop_back();
    const bool below =
        record.type == RecordType::kStruct || record.type == RecordType::kData || record.bound;
    const size_t depth = !below ? record.depth : path_.empty() ? 1 : path_.back().second + 1;
    path_.emplace_back(record.id, depth);
    return depth;
  }

  ChunkWriter out_;
  const TextOptions options_;
  const Colors colors_;
  RecordText records_;
  const tables::Tables* tables_ = nullptr;
  bool registers_begun_ = false;
  std::string registers_of_;
  // From the submission to the record at hand: id and depth of each.
  std::vector<std::pair<uint64_t, size_t>> path_;
  Record run_;
  std::vector<PlacedPart> run_parts_;
  uint32_t run_dword_ = 0;
  uint64_t run_count_ = 0;
  uint64_t run_last_ = 0;
};

}  // namespace

std::unique_ptr<Sink> MakeTextSink(Output& output, const TextOptions& options) {
  return std::make_unique<TextSink>(output, options);
}

}  // namespace packsmith::decode
