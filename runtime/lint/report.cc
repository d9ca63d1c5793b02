#include "runtime/lint/report.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/lint/json_object.h"
#include "runtime/lint/sarif.h"

namespace packsmith::lint {
namespace {

using decode::Harmless;

// "bits 31:23 of dword 4".
std::string BitsText(const Alarm& alarm) {
  const uint64_t dword = alarm.bit / 32, low = alarm.bit % 32;
  if (alarm.width == 1) return absl::StrFormat("bit %d of dword %d", low, dword);
  return absl::StrFormat("bits %d:%d of dword %d", low + alarm.width - 1, low, dword);
}

std::string Counted(uint64_t number, absl::string_view what) {
  return absl::StrCat(number, " ", what, number == 1 ? "" : "s");
}

class TextReport : public Report {
 public:
  explicit TextReport(decode::Output& output) : output_(output) {}

  void OnAlarm(const Alarm& alarm) override {
    std::string line;
    if (!file().empty()) absl::StrAppend(&line, Harmless(file()), ": ");
    absl::StrAppend(&line, alarm.number, " ", NameOf(alarm.severity), ": ");
    if (!alarm.record.empty()) {
      absl::StrAppend(&line, Harmless(alarm.record));
      if (!alarm.field.empty()) absl::StrAppend(&line, " > ", Harmless(alarm.field));
      if (alarm.width != 0) absl::StrAppend(&line, " (", BitsText(alarm), ")");
      absl::StrAppend(&line, "\n    ");
    }
    absl::StrAppend(&line, TitleOf(alarm), alarm.what.empty() ? "" : ": ", Harmless(alarm.what),
                    "\n    at ", Where(alarm), "\n    why: ", Harmless(alarm.why), "\n");
    if (!alarm.source.empty()) {
      absl::StrAppend(&line, "    source: ", Harmless(alarm.source), "\n");
    }
    output_.Append(line);
  }

  void Finish(const AlarmCounts& counts, bool) override {
    std::string line = absl::StrCat(Counted(counts.by_severity[2], "error"), ", ",
                                    Counted(counts.by_severity[1], "warning"), ", ",
                                    Counted(counts.by_severity[0], "note"));
    if (counts.not_shown != 0) {
      absl::StrAppend(&line, "; ", counts.not_shown, " of them are not listed");
    }
    output_.Append(line + "\n");
  }

 private:
  static std::string TitleOf(const Alarm& alarm) {
    for (const RuleInfo& rule : BuiltInRules()) {
      if (rule.number == alarm.number) return std::string(rule.title);
    }
    return "rule of the description";
  }

  static std::string Where(const Alarm& alarm) {
    std::string text = absl::StrFormat("0x%x", alarm.address);
    absl::StrAppend(&text, ", ",
                    alarm.buffer.empty() ? "batch" : absl::StrCat("\"", alarm.buffer, "\""),
                    absl::StrFormat(" + 0x%x", alarm.offset), ", submission ", alarm.submission);
    if (!alarm.engine.empty()) absl::StrAppend(&text, " (", alarm.engine, ")");
    if (alarm.draw != 0) absl::StrAppend(&text, ", draw ", alarm.draw);
    if (alarm.dispatch != 0) absl::StrAppend(&text, ", dispatch ", alarm.dispatch);
    if (!alarm.packet.empty() && alarm.packet_address != alarm.address) {
      absl::StrAppend(&text, ", by ", alarm.packet,
                      absl::StrFormat(" at 0x%x", alarm.packet_address));
    }
    return Harmless(text);
  }

  decode::Output& output_;
};

class JsonReport : public Report {
 public:
  explicit JsonReport(decode::Output& output) : output_(output) {}

  void OnAlarm(const Alarm& alarm) override {
    JsonObject json;
    json.Text("type", "alarm");
    json.Text("rule", alarm.number);
    json.Text("severity", NameOf(alarm.severity));
    json.Some("file", file());
    json.Number("submission", alarm.submission);
    json.Some("engine", alarm.engine);
    json.Number("space", alarm.space);
    json.Hex("address", alarm.address);
    json.Some("buffer", alarm.buffer);
    json.Number("offset", alarm.offset);
    json.Some("packet", alarm.packet);
    if (!alarm.packet.empty()) json.Hex("packet_address", alarm.packet_address);
    json.Some("record", alarm.record);
    json.Some("field", alarm.field);
    if (alarm.width != 0) {
      json.Number("bit", alarm.bit);
      json.Number("width", alarm.width);
    }
    if (alarm.draw != 0) json.Number("draw", alarm.draw);
    if (alarm.dispatch != 0) json.Number("dispatch", alarm.dispatch);
    json.Some("text", alarm.what);
    json.Text("why", alarm.why);
    json.Some("source", alarm.source);
    output_.Append(json.Take() + "\n");
  }

  void Finish(const AlarmCounts& counts, bool is_whole) override {
    JsonObject json;
    json.Text("type", "summary");
    json.Number("errors", counts.by_severity[2]);
    json.Number("warnings", counts.by_severity[1]);
    json.Number("notes", counts.by_severity[0]);
    json.Number("not_listed", counts.not_shown);
    json.Bool("whole", is_whole);
    json.Object("by_rule", [&] {
      for (const auto& [number, count] : counts.by_rule) json.Number(number, count);
    });
    output_.Append(json.Take() + "\n");
  }

 private:
  decode::Output& output_;
};

}  // namespace

std::unique_ptr<Report> MakeReport(ReportFormat format, std::vector<ListedRule> rules,
                                   decode::Output& output) {
  switch (format) {
    case ReportFormat::kText:
      return std::make_unique<TextReport>(output);
    case ReportFormat::kJsonLines:
      return std::make_unique<JsonReport>(output);
    case ReportFormat::kSarif:
      break;
  }
  return MakeSarifReport(std::move(rules), output);
}

void WriteRules(absl::Span<const ListedRule> rules, ReportFormat format, decode::Output& output) {
  for (const ListedRule& rule : rules) {
    if (format != ReportFormat::kText) {
      JsonObject json;
      json.Text("type", "rule");
      json.Text("rule", rule.number);
      json.Text("severity", NameOf(rule.severity));
      json.Text("title", rule.title);
      json.Text("why", rule.why);
      json.Some("source", rule.source);
      json.Bool("declared", rule.declared);
      output.Append(json.Take() + "\n");
      continue;
    }
    std::string text = absl::StrFormat("%-5s %-7s  %s\n", rule.number, NameOf(rule.severity),
                                       Harmless(rule.title));
    absl::StrAppend(&text, "               ", Harmless(rule.why), "\n");
    if (!rule.source.empty()) {
      absl::StrAppend(&text, "               source: ", Harmless(rule.source), "\n");
    }
    output.Append(text);
  }
}

}  // namespace packsmith::lint
