#include "tools/failures.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/decode/text/chunk_writer.h"
#include "runtime/decode/text/json_writer.h"

namespace packsmith::tools {

using decode::Counted;

std::vector<Failure> FailuresOf(const decode::Summary& summary,
                                const decode::UndescribedSeen& undescribed, const FailOn& fail_on) {
  std::vector<Failure> failures;
  if (summary.problems != 0) {
    failures.push_back({"problem",
                        Counted(summary.problems, "problem"),
                        summary.problems,
                        {},
                        summary.first_problem});
  }
  if (summary.unknown_dwords != 0) {
    failures.push_back({"unknown", Counted(summary.unknown_dwords, "unknown dword"),
                        summary.unknown_dwords, summary.first_unknown, ""});
  }
  for (size_t i = 0; i < decode::kFaultKinds; ++i) {
    if (!fail_on.faults[i] || summary.faults[i] == 0) continue;
    const absl::string_view kind = decode::FaultKindName(static_cast<decode::FaultKind>(i));
    failures.push_back({std::string(kind),
                        absl::StrCat(Counted(summary.faults[i], "fault"), " (", kind, ")"),
                        summary.faults[i], summary.first_faults[i], ""});
  }
  if (fail_on.undescribed && undescribed.runs != 0) {
    failures.push_back(
        {"undescribed",
         Counted(undescribed.runs, "run") + " of bits that are set and not described",
         undescribed.runs, undescribed.first, ""});
  }
  return failures;
}

std::string FailuresText(absl::Span<const Failure> failures, bool offsets) {
  std::string text = "exit code 1: ";
  absl::string_view between;
  for (const Failure& failure : failures) {
    absl::StrAppend(&text, std::exchange(between, "; "), failure.what);
    const absl::string_view the_first = failure.count == 1 ? ", " : ", the first ";
    if (!failure.problem.empty()) {
      absl::StrAppend(
          &text, failure.count == 1 ? ": " : ", the first: ", decode::Harmless(failure.problem));
      continue;
    }
    const decode::FirstSeen& first = failure.first;
    if (!first.name.empty()) {
      absl::StrAppend(&text, the_first, "in ", first.is_register ? "the register " : "",
                      decode::Harmless(first.name));
    }
    if (offsets && !first.is_register) {
      absl::StrAppendFormat(&text, "%sat 0x%x", first.name.empty() ? the_first : " ",
                            first.address);
    }
  }
  return text;
}

std::string FailuresJson(absl::Span<const Failure> failures) {
  decode::StringOutput text;
  {
    decode::ChunkWriter out(text);
    decode::JsonWriter json(out);
    for (const Failure& failure : failures) {
      out.Put("{\"type\":\"failure\",\"kind\":");
      json.String(failure.kind);
      out.Put(",\"count\":");
      out.Decimal(failure.count);
      out.Put(",\"first\":{");
      const decode::FirstSeen& first = failure.first;
      if (!failure.problem.empty()) {
        out.Put("\"text\":");
        json.String(failure.problem);
      } else if (first.is_register) {
        out.Put("\"register\":");
        json.String(first.name);
      } else {
        if (!first.name.empty()) {
          out.Put("\"name\":");
          json.String(first.name);
          out.Put(',');
        }
        out.Put("\"space\":");
        out.Decimal(first.space);
        out.Put(absl::StrFormat(",\"address\":\"0x%x\"", first.address));
      }
      out.Put("}}\n");
    }
  }
  return text.text();
}

}  // namespace packsmith::tools
