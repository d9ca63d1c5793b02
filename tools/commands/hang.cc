#include "tools/commands/hang.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/file.h"
#include "runtime/base/unicode.h"
#include "runtime/generations/generations.h"
#include "runtime/hang/beside.h"
#include "runtime/hang/ecode.h"
#include "runtime/hang/kernel_events.h"
#include "runtime/hang/report.h"
#include "runtime/hang/report_json.h"
#include "runtime/hang/report_text.h"
#include "tools/output.h"

namespace packsmith::commands {
using tools::Then;

absl::StatusOr<std::vector<hang::Event>> ReadEvents(const Arguments& arguments) {
  if (arguments.dmesg.empty()) return std::vector<hang::Event>();
  absl::StatusOr<FileBytes> log = OpenFile(arguments.dmesg);
  if (!log.ok()) return log.status();
  return hang::ReadKernelLog(
      absl::string_view(reinterpret_cast<const char*>(log->bytes.data()), log->bytes.size()));
}

std::vector<hang::Event> EventsOf(const Arguments& arguments,
                                  const std::vector<hang::Event>& events, const Dump& dump,
                                  const std::string& path) {
  const hang::Beside beside = hang::ReadBeside(path);
  return hang::EventsNear(dump, arguments.dmesg.empty() ? beside.events : events,
                          arguments.device.empty() ? beside.device : arguments.device);
}

int ShowEcode(const Arguments& arguments) {
  if (!arguments.files.empty()) return Refuse("--ecode takes no dump");
  const std::optional<hang::Ecode> ecode = hang::ParseEcode(*arguments.ecode);
  if (!ecode) {
    return Refuse(absl::StrCat("--ecode=", *arguments.ecode,
                               ": not a code such as 12:1:85dffffb (version, engines, code)"));
  }
  absl::StatusOr<tables::Tables> tables = absl::NotFoundError("");
  if (!arguments.generation.empty()) {
    tables = FindGeneration(arguments.generation);
  } else if (absl::StatusOr<LikelyGeneration> likely =
                 FindLikelyGeneration("intel", "", ecode->version * 10);
             likely.ok()) {
    tables = likely->tables;
    // The code has no digit after the version's point: 12 may be 12.5, which has more engines.
    constexpr int kNewest = 9;
    const bool lacks = !ecode->engine.empty() && tables->FindEngine(ecode->engine) == tables::kNone;
    if (absl::StatusOr<LikelyGeneration> newest =
            FindLikelyGeneration("intel", "", ecode->version * 10 + kNewest);
        lacks && newest.ok()) {
      tables = newest->tables;
    }
  } else {
    tables = likely.status();
  }
  if (!tables.ok()) return Refuse(tables.status().message());
  if (!ecode->engine.empty() && tables->FindEngine(ecode->engine) == tables::kNone) {
    return Refuse(
        absl::StrCat("--ecode: ", tables->generation(), " has no engine \"", ecode->engine, "\""));
  }
  return Write(arguments, hang::EcodeToText(*tables, *ecode)) ? kGood : kNotDecoded;
}

int ShowHangs(const Arguments& arguments, const std::vector<hang::Event>& events,
              tools::Inputs& inputs, const DescribeDump& describe) {
  const bool text = arguments.format == "text";
  const bool color = text && tools::UseColor(arguments.color, arguments.output);
  int result = kGood;
  std::string reports;
  std::optional<tools::Gpu> gpu;
  inputs.ForEach(false, [&](Dump& dump, const std::string& path) {
    const absl::StatusOr<tables::Tables> tables = describe(dump, path, gpu);
    if (!tables.ok()) return Then::kRefuse;
    gpu = tools::Gpu{*tables, dump.device};
    if (dump.error_state == nullptr) {
      Complain(
          absl::StrCat(path, " is not a dump of a hang: --hang needs one that the kernel saved"));
      result = kNotDecoded;
      return Then::kGoOn;
    }
    const hang::HangReport report =
        hang::MakeHangReport(*tables, dump, EventsOf(arguments, events, dump, path));
    reports += text ? hang::ToText(*tables, report, color)
                    : JsonWithHiddenEscaped(hang::ToJson(*tables, report));
    std::vector<Problem> problems = dump.problems;
    if (dump.late_problems != nullptr) {
      const std::vector<Problem> late = dump.late_problems->All();
      problems.insert(problems.end(), late.begin(), late.end());
    }
    for (const Problem& problem : problems) {
      Complain(absl::StrCat("input, byte ", problem.offset, ": ", problem.text));
      result = kNotDecoded;
    }
    return Then::kGoOn;
  });
  if (inputs.failed()) result = kNotDecoded;
  return Write(arguments, reports) ? result : kNotDecoded;
}

}  // namespace packsmith::commands
