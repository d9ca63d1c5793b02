#include "tools/commands/hang.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/unicode.h"
#include "runtime/hang/report.h"
#include "runtime/hang/report_json.h"
#include "runtime/hang/report_text.h"
#include "tools/output.h"

namespace packsmith::commands {
using tools::Then;

int ShowHangs(const Arguments& arguments, tools::Inputs& inputs, const DescribeDump& describe) {
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
    const hang::HangReport report = hang::MakeHangReport(*tables, dump);
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
