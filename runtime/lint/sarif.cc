#include "runtime/lint/sarif.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/version.h"
#include "runtime/lint/json_object.h"

namespace packsmith::lint {
namespace {

// A path as a relative or absolute URI reference.
std::string UriOf(absl::string_view path) {
  std::string uri = absl::StartsWith(path, "/") ? "file://" : "";
  for (const char c : path) {
    const auto u = static_cast<unsigned char>(c);
    const bool plain =
        absl::ascii_isalnum(u) || absl::string_view("/-._~").find(c) != absl::string_view::npos;
    if (plain) {
      uri += c;
    } else {
      absl::StrAppendFormat(&uri, "%%%02X", u);
    }
  }
  return uri;
}

absl::string_view LevelOf(Severity severity) { return NameOf(severity); }

class SarifReport : public Report {
 public:
  SarifReport(std::vector<ListedRule> rules, decode::Output& output)
      : rules_(std::move(rules)), output_(output) {
    for (size_t i = 0; i < rules_.size(); ++i) indices_[rules_[i].number] = i;
    output_.Append(
        "{\"version\":\"2.1.0\",\"$schema\":"
        "\"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
        "sarif-schema-2.1.0.json\",\"runs\":[{\"tool\":{\"driver\":" +
        Driver() + "},\n\"results\":[");
  }

  void OnAlarm(const Alarm& alarm) override {
    output_.Append(first_ ? "\n" : ",\n");
    first_ = false;
    JsonObject json;
    json.Text("ruleId", alarm.number);
    if (const auto index = indices_.find(alarm.number); index != indices_.end()) {
      json.Number("ruleIndex", index->second);
    }
    json.Text("level", LevelOf(alarm.severity));
    json.Object("message", [&] { json.Text("text", Message(alarm)); });
    json.Array("locations", [&] { json.Object("", [&] { Location(alarm, json); }); });
    json.Object("properties", [&] {
      json.Number("submission", alarm.submission);
      json.Some("engine", alarm.engine);
      json.Number("space", alarm.space);
      json.Hex("address", alarm.address);
      json.Some("buffer", alarm.buffer);
      json.Number("offset", alarm.offset);
      if (!alarm.packet.empty()) json.Hex("packetAddress", alarm.packet_address);
      if (alarm.draw != 0) json.Number("draw", alarm.draw);
      if (alarm.dispatch != 0) json.Number("dispatch", alarm.dispatch);
      json.Some("source", alarm.source);
    });
    output_.Append(json.Take());
  }

  void Finish(const AlarmCounts& counts, bool is_whole) override {
    JsonObject invocation;
    invocation.Bool("executionSuccessful", is_whole);
    JsonObject properties;
    properties.Number("notListed", counts.not_shown);
    output_.Append(absl::StrCat("\n],\"columnKind\":\"utf16CodeUnits\",\"invocations\":[",
                                invocation.Take(), "],\"properties\":", properties.Take(),
                                "}]}\n"));
  }

 private:
  std::string Driver() const {
    JsonObject json;
    json.Text("name", "unpack lint");
    json.Text("version", Version());
    json.Array("rules", [&] {
      for (const ListedRule& rule : rules_) {
        json.Object("", [&] {
          json.Text("id", rule.number);
          json.Object("shortDescription", [&] { json.Text("text", rule.title); });
          json.Object("fullDescription", [&] { json.Text("text", rule.why); });
          if (!rule.source.empty()) {
            json.Object("help", [&] { json.Text("text", absl::StrCat("Source: ", rule.source)); });
          }
          json.Object("defaultConfiguration", [&] { json.Text("level", LevelOf(rule.severity)); });
        });
      }
    });
    return json.Take();
  }

  std::string Message(const Alarm& alarm) const {
    std::string text = alarm.record;
    if (!alarm.field.empty()) absl::StrAppend(&text, text.empty() ? "" : ".", alarm.field);
    const auto index = indices_.find(alarm.number);
    if (index != indices_.end() && !rules_[index->second].declared) {
      absl::StrAppend(&text, text.empty() ? "" : ": ", rules_[index->second].title);
    }
    if (!alarm.what.empty()) absl::StrAppend(&text, text.empty() ? "" : ": ", alarm.what);
    return absl::StrCat(text, ". ", alarm.why);
  }

  void Location(const Alarm& alarm, JsonObject& json) const {
    json.Object("physicalLocation", [&] {
      json.Object("artifactLocation", [&] { json.Text("uri", UriOf(file())); });
      json.Object("address", [&] {
        // JSON's readers have integers of 53 bits.
        if (alarm.address >> 53 == 0) json.Number("absoluteAddress", alarm.address);
        if (alarm.offset >> 53 == 0) json.Number("offsetFromParent", alarm.offset);
        json.Text("kind", "instruction");
        json.Some("fullyQualifiedName", alarm.buffer);
      });
    });
    if (alarm.record.empty()) return;
    json.Array("logicalLocations", [&] {
      json.Object("", [&] {
        std::string name;
        if (alarm.packet != alarm.record) absl::StrAppend(&name, alarm.packet, "/");
        absl::StrAppend(&name, alarm.record);
        if (!alarm.field.empty()) absl::StrAppend(&name, "/", alarm.field);
        json.Text("name", alarm.field.empty() ? alarm.record : alarm.field);
        json.Text("fullyQualifiedName", name);
        json.Text("kind", "member");
      });
    });
  }

  const std::vector<ListedRule> rules_;
  decode::Output& output_;
  std::map<std::string, size_t> indices_;
  bool first_ = true;
};

}  // namespace

std::unique_ptr<Report> MakeSarifReport(std::vector<ListedRule> rules, decode::Output& output) {
  return std::make_unique<SarifReport>(std::move(rules), output);
}

}  // namespace packsmith::lint
