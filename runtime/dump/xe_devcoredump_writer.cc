#include "runtime/dump/xe_devcoredump_writer.h"

#include <algorithm>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/dump/ascii85.h"
#include "runtime/dump/engine_names.h"

namespace packsmith {
namespace {

constexpr uint32_t kJobSpace = 0;
constexpr uint64_t kStatusPage = 4096;

class Writer {
 public:
  Writer(const Dump& dump, const XeDevcoredumpOptions& options) : dump_(dump), options_(options) {}

  absl::StatusOr<std::string> Write() {
    for (const Submission& submission : dump_.submissions) {
      const std::string name(KernelEngineName(submission.engine, true));
      if (!engine_.empty() && engine_ != name) {
        return absl::FailedPreconditionError(
            absl::StrCat("a device core dump has one engine, and this dump has submissions to ",
                         engine_, " and ", name, "; write each engine by itself"));
      }
      engine_ = name;
    }
    Head();
    Firmware("GuC Log", "LOG");
    Firmware("GuC CT", "CTB");
    if (options_.contexts_apart) Section("Contexts");
    Contexts();
    Section("Job");
    size_t batches = 0;
    for (const Submission& submission : dump_.submissions) {
      if (!IsBatch(submission)) continue;
      absl::StrAppendFormat(&text_, "batch_addr[%u]: 0x%016x\n", batches++,
                            submission.batch_address);
    }
    Section("HW Engines");
    Engines();
    Section("VM state");
    for (const Memory::Segment& mapped : dump_.memory.segments()) {
      if (mapped.space != kJobSpace) continue;
      const Memory::Segment& segment = dump_.memory.Resolve(mapped);
      Blob("", absl::StrFormat("%x", segment.address), segment.space, segment.address,
           segment.memory_size);
    }
    return std::move(text_);
  }

 private:
  static bool IsBatch(const Submission& submission) {
    return submission.kind.empty() || submission.kind == "batch";
  }

  void Section(absl::string_view title) { absl::StrAppend(&text_, "\n**** ", title, " ****\n"); }

  void Head() {
    text_ = "**** Xe Device Coredump ****\n";
    if (dump_.error_state != nullptr) {
      for (const ErrorFact& fact : dump_.error_state->facts) {
        if (fact.section.empty() && !fact.key.empty() && fact.key != "PCI ID") {
          absl::StrAppend(&text_, fact.key, ": ", fact.value, "\n");
        }
      }
    }
    if (dump_.device.pci_id) {
      absl::StrAppendFormat(&text_, "PCI ID: 0x%04x\n", *dump_.device.pci_id);
    }
  }

  // A section of the firmware, with its facts and bytes. That of its messages always is there.
  void Firmware(absl::string_view title, const std::string& name) {
    const ErrorState* const state = dump_.error_state.get();
    const absl::Span<const uint8_t> bytes =
        state == nullptr ? absl::Span<const uint8_t>() : state->BlobOf(name);
    std::string lines;
    if (state != nullptr) {
      for (const ErrorFact& fact : state->facts) {
        if (fact.section == title && !fact.key.empty()) {
          absl::StrAppend(&lines, fact.key, ": ", fact.value, "\n");
        }
      }
    }
    if (bytes.empty() && lines.empty() && title != "GuC CT") return;
    Section(title);
    text_ += lines;
    if (!bytes.empty()) Data("", name, bytes);
  }

  // The firmware's queues, as far as they are known.
  void Queues() {
    for (const ErrorContext& context : dump_.error_state->contexts) {
      absl::StrAppend(&text_, "GuC ID: ", context.id, "\n\tName: ", context.engine, "\n");
      if (context.width > 1) absl::StrAppend(&text_, "\tWidth: ", context.width, "\n");
      Lrc(context);
      for (const ErrorLrc& lrc : context.parallel) Lrc(lrc);
      if (context.schedule_state) {
        absl::StrAppendFormat(&text_, "\tSchedule State: 0x%x\n", *context.schedule_state);
      }
      const auto number = [this](absl::string_view key, const auto& value) {
        if (value) absl::StrAppend(&text_, "\t", key, ": ", *value, " (memory)\n");
      };
      number("WQ head", context.work_head);
      number("WQ tail", context.work_tail);
      number("WQ status", context.work_status);
    }
  }

  void Lrc(const ErrorLrc& lrc) {
    if (lrc.image) absl::StrAppendFormat(&text_, "\tHW Context Desc: 0x%08x\n", *lrc.image);
    const auto number = [this](absl::string_view key, const auto& value) {
      if (value) absl::StrAppend(&text_, "\t", key, ": (memory) ", *value, "\n");
    };
    number("LRC Head", lrc.head);
    number("LRC Tail", lrc.tail);
    number("Start seqno", lrc.started);
    number("Seqno", lrc.finished);
    if (lrc.timestamp) absl::StrAppendFormat(&text_, "\tTimestamp: 0x%08x\n", *lrc.timestamp);
    if (lrc.job_timestamp) {
      absl::StrAppendFormat(&text_, "\tJob Timestamp: 0x%08x\n", *lrc.job_timestamp);
    }
    if (lrc.image) Image(kGlobalSpace, *lrc.image);
  }

  // The status page and the context image after it.
  void Image(uint32_t space, uint64_t page) {
    const Memory::Segment* segment = dump_.memory.Find(space, page + kStatusPage);
    if (segment == nullptr) return;
    Blob("\t", "HWSP", space, page, kStatusPage);
    const Memory::Segment& whole = dump_.memory.Resolve(*segment);
    Blob("\t", "HWCTX", space, page + kStatusPage,
         whole.memory_size - (page + kStatusPage - whole.address));
  }

  void Contexts() {
    if (dump_.error_state != nullptr && !dump_.error_state->contexts.empty()) return Queues();
    uint32_t id = 0;
    for (const Submission& image : dump_.submissions) {
      if (image.kind != "context image" || image.batch_address < kStatusPage) continue;
      const uint64_t page = image.batch_address - kStatusPage;
      absl::StrAppendFormat(&text_, "GuC ID: %u\n\tName: %s\n\tHW Context Desc: 0x%08x\n", ++id,
                            engine_, page);
      Blob("\t", "HWSP", image.space, page, kStatusPage);
      const Memory::Segment* segment = dump_.memory.Find(image.space, image.batch_address);
      if (segment == nullptr) continue;
      const Memory::Segment& whole = dump_.memory.Resolve(*segment);
      Blob("\t", "HWCTX", image.space, image.batch_address,
           whole.memory_size - (image.batch_address - whole.address));
    }
    // Without an image the dump still names the engine.
    if (id == 0) absl::StrAppend(&text_, "GuC ID: 0\n\tName: ", engine_, "\n");
  }

  void Engines() {
    if (dump_.error_state == nullptr) return;
    for (const ErrorEngine& engine : dump_.error_state->engines) {
      absl::StrAppend(&text_, KernelEngineName(engine.name, true),
                      " (physical), logical instance=0\n");
      for (const ErrorRegister& one : engine.registers) {
        absl::StrAppendFormat(&text_, "\t%s: 0x%0*x\n", one.name, one.is_64 ? 16 : 8, one.value);
      }
    }
  }

  void Blob(absl::string_view indent, absl::string_view name, uint32_t space, uint64_t address,
            uint64_t size) {
    std::vector<uint8_t> bytes(size);
    dump_.memory.Copy(space, address, absl::MakeSpan(bytes));
    Data(indent, name, bytes);
  }

  void Data(absl::string_view indent, absl::string_view name, absl::Span<const uint8_t> bytes) {
    absl::StrAppendFormat(&text_, "%s[%s].length: 0x%x\n%s[%s].data: ", indent, name, bytes.size(),
                          indent, name);
    std::string data;
    AppendAscii85(bytes, data);
    const size_t length = options_.line_length == 0 ? data.size() : options_.line_length;
    for (size_t at = 0; at < data.size(); at += length) {
      absl::StrAppend(&text_, absl::string_view(data).substr(at, length), "\n");
    }
    if (data.empty()) text_.push_back('\n');
  }

  const Dump& dump_;
  const XeDevcoredumpOptions options_;
  std::string engine_;
  std::string text_;
};

}  // namespace

absl::StatusOr<std::string> WriteXeDevcoredump(const Dump& dump,
                                               const XeDevcoredumpOptions& options) {
  return Writer(dump, options).Write();
}

}  // namespace packsmith
