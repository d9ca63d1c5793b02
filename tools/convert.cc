#include "tools/convert.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/aub/write.h"
#include "runtime/base/file.h"
#include "runtime/dump/elf_core.h"
#include "runtime/dump/hang_dump.h"
#include "runtime/encode/source.h"
#include "tools/program_source.h"

namespace packsmith::tools {
namespace {

using Lost = std::vector<std::string>;

constexpr absl::string_view kRecording = "aub";

// Formats that hold one dump.
struct Format {
  absl::string_view name;
  absl::StatusOr<Lost> (*write)(const tables::Tables& tables, const Dump& dump,
                                const std::string& path);
};

Lost LostInCore(const Dump& dump) {
  if (dump.error_state == nullptr) return {};
  return {absl::StrCat("all that the ", dump.error_state->kind, " has beyond memory and batches")};
}

constexpr Format kFormats[] = {
    {"elf",
     [](const tables::Tables&, const Dump& dump, const std::string& path) -> absl::StatusOr<Lost> {
       absl::Status status = WriteElfCore(dump, path);
       if (!status.ok()) return status;
       return LostInCore(dump);
     }},
    {"asm",
     [](const tables::Tables& tables, const Dump& dump,
        const std::string& path) -> absl::StatusOr<Lost> {
       absl::Status status =
           WriteFileWhole(path, absl::string_view(encode::WriteSource(tables, dump)));
       if (!status.ok()) return status;
       return LostInCore(dump);
     }},
    {"hang-dump", [](const tables::Tables&, const Dump& dump,
                     const std::string& path) { return WriteHangDump(dump, path); }},
    {"hang-dump-v1",
     [](const tables::Tables&, const Dump& dump, const std::string& path) {
       return WriteHangDump(dump, path, {.version = 1});
     }},
};

// The files of one call: the first one chooses the GPU.
class Converter {
 public:
  explicit Converter(const Conversion& conversion)
      : conversion_(conversion), format_(conversion.format), output_(conversion.output) {}

  absl::Status Add(const tables::Tables& tables, const Dump& dump, const std::string& path) {
    if (gpu_ && (format_ != kRecording || !gpu_->IsSame(tables, dump.device))) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, format_ == kRecording ? " is from another GPU than the file before it"
                                      : " is a second dump; only --convert=aub can hold several"));
    }
    if (!gpu_) gpu_ = Gpu{tables, dump.device};
    if (IsProgramFormat(format_)) {
      lost_ = LostInCore(dump);
      return WriteProgramSource(tables, dump, {format_, output_, conversion_.data, path});
    }
    if (format_ != kRecording) {
      for (const Format& format : kFormats) {
        if (format.name != format_) continue;
        absl::StatusOr<Lost> lost = format.write(tables, dump, output_);
        if (!lost.ok()) return lost.status();
        lost_ = *std::move(lost);
      }
      return absl::OkStatus();
    }
    if (!recording_) {
      auto made = aub::RecordingWriter::Create(tables, dump.device, output_);
      if (!made.ok()) return made.status();
      recording_ = *std::move(made);
    }
    return recording_->Add(dump);
  }

  absl::StatusOr<Lost> Finish() {
    if (recording_) return recording_->Finish();
    return std::move(lost_);
  }

 private:
  const Conversion& conversion_;
  const std::string& format_;
  const std::string& output_;
  std::optional<Gpu> gpu_;
  std::optional<aub::RecordingWriter> recording_;
  Lost lost_;
};

}  // namespace

std::vector<std::string> ConvertFormats() {
  std::vector<std::string> names = {std::string(kRecording)};
  for (const Format& format : kFormats) names.emplace_back(format.name);
  return names;
}

absl::Status Convert(
    Inputs& inputs, const Conversion& conversion,
    const std::function<absl::StatusOr<tables::Tables>(Dump&, const std::string&)>& describe,
    const std::function<void(absl::string_view)>& complain, bool& complete) {
  Converter converter(conversion);
  absl::Status status;
  bool any = false;
  inputs.ForEach(false, [&](Dump& dump, const std::string& path) {
    const absl::StatusOr<tables::Tables> tables = describe(dump, path);
    if (!tables.ok()) return Then::kRefuse;
    any = true;
    status = converter.Add(*tables, dump, path);
    std::vector<Problem> problems = dump.problems;
    if (dump.late_problems != nullptr) {
      const std::vector<Problem> late = dump.late_problems->All();
      problems.insert(problems.end(), late.begin(), late.end());
    }
    for (const Problem& problem : problems) {
      complain(absl::StrCat("input, byte ", problem.offset, ": ", problem.text));
    }
    complete = complete && problems.empty();
    return status.ok() ? Then::kGoOn : Then::kStop;
  });
  if (inputs.failed() || !any) complete = false;
  if (!status.ok() || !any) return status;
  const absl::StatusOr<Lost> lost = converter.Finish();
  if (!lost.ok()) return lost.status();
  if (!lost->empty()) {
    complain(absl::StrCat(
        "note: ",
        conversion.output.empty() || conversion.output == "-" ? "<stdout>" : conversion.output,
        ": what ", conversion.format, " cannot hold was left out: ", absl::StrJoin(*lost, "; ")));
  }
  return absl::OkStatus();
}

}  // namespace packsmith::tools
