#include "tools/payloads.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/intel/pipeline/packet_payloads.h"
#include "tools/json_line.h"

namespace packsmith::tools {
namespace {

using decode::Record;
using decode::RecordType;
using intel::KernelPayload;

// A draw or dispatch, and what it finds set.
struct Work {
  // A packet or structure.
  struct Part {
    std::string name;
    std::vector<uint32_t> dwords;
    int64_t index = -1;

    intel::SeenPacket packet() const { return {name, dwords, index}; }
  };

  bool is_draw = true;
  uint64_t number = 0;
  uint32_t submission = 0, space = 0;
  uint64_t address = 0;
  Part packet;
  std::vector<Part> state;

  std::string Name() const { return absl::StrCat(is_draw ? "draw " : "dispatch ", number); }
};

Work::Part PartOf(const Record& record) {
  Work::Part part{std::string(record.name), std::vector<uint32_t>(record.bytes.size() / 4),
                  record.index};
  if (!part.dwords.empty()) {
    std::memcpy(part.dwords.data(), record.bytes.data(), part.dwords.size() * 4);
  }
  return part;
}

class PayloadsSink : public decode::Sink {
 public:
  PayloadsSink(decode::Output& output, bool jsonl) : output_(output), jsonl_(jsonl) {}

  void OnSchema(const tables::Tables& tables) override {
    generation_ = std::string(tables.generation());
  }
  void OnDevice(const Device&, uint64_t) override {}
  void OnSubmission(const Submission&, uint64_t) override { Finish(); }
  void OnRecord(const Record& record) override {
    if (record.type != RecordType::kPacket && record.type != RecordType::kStruct) return;
    if (record.type == RecordType::kPacket && !record.bound &&
        record.container->role != tables::Role::kOther) {
      Finish();
      Begin(record);
      return;
    }
    if (!work_ || (work_->is_draw ? record.draw : record.dispatch) != work_->number) return;
    if (record.register_offset < 0) work_->state.push_back(PartOf(record));
  }
  void OnRemark(absl::string_view text, bool is_problem) override {
    if (!is_problem) return;
    Finish();
    output_.Append(jsonl_ ? JsonLine().Text("type", "problem").Text("text", text).Take()
                          : absl::StrCat("problem: ", decode::Harmless(text), "\n"));
  }
  void OnSummary(const decode::Summary&) override { Finish(); }

 private:
  void Begin(const Record& record) {
    Work& work = work_.emplace();
    work.is_draw = record.container->role == tables::Role::kDraw;
    work.number = work.is_draw ? record.draw : record.dispatch;
    work.submission = record.submission;
    work.space = record.space;
    work.address = record.address;
    work.packet = PartOf(record);
  }

  void Finish() {
    if (!work_) return;
    const Work work = *std::exchange(work_, std::nullopt);
    std::vector<intel::SeenPacket> state;
    for (const Work::Part& part : work.state) state.push_back(part.packet());
    const auto kernels = intel::PayloadsOf(generation_, work.packet.packet(), state);
    output_.Append(jsonl_ ? Json(work, kernels) : Text(work, kernels));
  }

  // What is as in the work before is not repeated.
  std::string Text(const Work& work, const absl::StatusOr<std::vector<KernelPayload>>& kernels) {
    std::string text;
    if (!kernels.ok()) {
      absl::StrAppend(&text, "  ", decode::Harmless(kernels.status().message()), "\n");
    } else if (kernels->empty()) {
      text = "  no kernel\n";
    } else {
      for (const KernelPayload& kernel : *kernels) absl::StrAppend(&text, KernelText(kernel));
    }
    std::string line = absl::StrFormat("%-12s  sub %d  0x%012x  %s", work.Name(), work.submission,
                                       work.address, decode::Harmless(work.packet.name));
    if (text == last_text_) return absl::StrCat(line, "  as ", last_name_, "\n");
    last_text_ = text;
    last_name_ = work.Name();
    return absl::StrCat(line, "\n", text);
  }
  static std::string KernelText(const KernelPayload& kernel) {
    std::string text = absl::StrFormat("  %s, kernel 0x%x", kernel.stage, kernel.kernel);
    if (!kernel.payload.ok()) {
      return absl::StrCat(text, ": ", kernel.payload.status().message(), "\n");
    }
    absl::StrAppend(&text, ", SIMD", kernel.payload->lanes);
    if (kernel.payload->polygons > 1) {
      absl::StrAppend(&text, " of ", kernel.payload->polygons, " polygons");
    }
    absl::StrAppend(&text, "\n");
    const std::string parts = kernel.payload->ToText();
    for (const absl::string_view line : absl::StrSplit(parts, '\n', absl::SkipEmpty())) {
      absl::StrAppend(&text, "    ", line, "\n");
    }
    return text;
  }

  static std::string Json(const Work& work,
                          const absl::StatusOr<std::vector<KernelPayload>>& kernels) {
    const absl::string_view type = work.is_draw ? "draw" : "dispatch";
    JsonLine line;
    line.Text("type", type)
        .Number(type, work.number)
        .Number("submission", work.submission)
        .Text("name", work.packet.name)
        .Number("space", work.space)
        .Text("address", absl::StrFormat("0x%x", work.address));
    if (!kernels.ok()) return line.Text("error", kernels.status().message()).Take();
    line.List("kernels", [&] {
      for (const KernelPayload& kernel : *kernels) {
        line.Object("", [&] { PutKernel(kernel, line); });
      }
    });
    return line.Take();
  }
  static void PutKernel(const KernelPayload& kernel, JsonLine& line) {
    line.Text("stage", kernel.stage).Text("kernel", absl::StrFormat("0x%x", kernel.kernel));
    if (!kernel.payload.ok()) {
      line.Text("error", kernel.payload.status().message());
      return;
    }
    const intel::ThreadPayload& payload = *kernel.payload;
    line.Number("simd", payload.lanes).Number("registers", payload.registers);
    if (payload.polygons > 1) line.Number("polygons", payload.polygons);
    line.List("parts", [&] {
      for (const intel::PayloadPart& part : payload.parts) {
        line.Object("", [&] {
          line.Number("first", part.first)
              .Number("count", part.count)
              .Text("holds", payload.DescriptionOf(part));
        });
      }
    });
  }

  decode::Output& output_;
  const bool jsonl_;
  std::string generation_;
  std::optional<Work> work_;  // that records belong to
  std::string last_text_, last_name_;
};

}  // namespace

std::unique_ptr<decode::Sink> MakePayloadsSink(decode::Output& output, bool jsonl) {
  return std::make_unique<PayloadsSink>(output, jsonl);
}

}  // namespace packsmith::tools
