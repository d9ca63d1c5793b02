#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "absl/strings/str_cat.h"
#include "runtime/base/unicode.h"
#include "runtime/base/version.h"
#include "runtime/triage/record.h"

namespace packsmith::triage {
namespace {

// The members of a record that are texts, and their names.
struct TextMember {
  const char* name;
  std::string Record::*member;
};
constexpr TextMember kTexts[] = {
    {"trouble", &Record::trouble}, {"format", &Record::format},   {"title", &Record::title},
    {"ecode", &Record::ecode},     {"process", &Record::process}, {"pci_id", &Record::pci_id},
};
constexpr const char* kOutcomes[] = {"hang", "other", "unreadable"};

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

void Text(Writer& json, absl::string_view text) {
  json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}
void Key(Writer& json, absl::string_view name) {
  json.Key(name.data(), static_cast<rapidjson::SizeType>(name.size()));
}

// Whether the object has such a text; `to` is then that.
bool TakeText(const rapidjson::Value& object, absl::string_view name, std::string& to) {
  const auto found = object.FindMember(rapidjson::StringRef(name.data(), name.size()));
  if (found == object.MemberEnd() || !found->value.IsString()) return false;
  to.assign(found->value.GetString(), found->value.GetStringLength());
  return true;
}

template <class Number>
bool TakeValue(const rapidjson::Value& object, const char* name, Number& to) {
  const auto found = object.FindMember(name);
  if (found == object.MemberEnd() || !found->value.Is<Number>()) return false;
  to = found->value.Get<Number>();
  return true;
}

}  // namespace

std::string JsonText(absl::string_view text) {
  rapidjson::StringBuffer out;
  Writer json(out);
  Text(json, ValidUtf8(text));
  return JsonWithHiddenEscaped(std::string(out.GetString(), out.GetSize()));
}

std::string ToJson(const Record& record, absl::string_view more) {
  rapidjson::StringBuffer out;
  Writer json(out);
  json.StartObject();
  Key(json, "type");
  Text(json, "dump");
  Key(json, "version");
  Text(json, Version());
  Key(json, "path");
  Text(json, ValidUtf8(record.file.path));
  Key(json, "size");
  json.Uint64(record.file.size);
  Key(json, "modified_ns");
  json.Int64(record.file.modified_ns);
  Key(json, "outcome");
  Text(json, kOutcomes[static_cast<int>(record.outcome)]);
  if (record.outcome == Outcome::kHang) {
    for (const SignatureField& field : kSignatureFields) {
      Key(json, field.name);
      Text(json, record.signature.*field.member);
    }
  }
  Key(json, "time");
  json.Int64(record.time);
  Key(json, "time_is_file");
  json.Bool(record.time_is_file);
  if (record.problems != 0) {
    Key(json, "problems");
    json.Uint64(record.problems);
  }
  for (const TextMember& text : kTexts) {
    if ((record.*text.member).empty()) continue;
    Key(json, text.name);
    Text(json, record.*text.member);
  }
  json.EndObject();
  std::string line = JsonWithHiddenEscaped(std::string(out.GetString(), out.GetSize()));
  if (!more.empty()) {
    line.pop_back();
    absl::StrAppend(&line, ",", more, "}");
  }
  return line;
}

std::optional<Record> FromJson(absl::string_view line) {
  rapidjson::Document json;
  // Without recursion: hostile input may be deep.
  json.Parse<rapidjson::kParseIterativeFlag>(line.data(), line.size());
  if (json.HasParseError() || !json.IsObject()) return std::nullopt;
  std::string type, version, outcome;
  Record record;
  if (!TakeText(json, "type", type) || type != "dump" || !TakeText(json, "version", version) ||
      version != Version() || !TakeText(json, "path", record.file.path) ||
      !TakeValue(json, "size", record.file.size) ||
      !TakeValue(json, "modified_ns", record.file.modified_ns) ||
      !TakeText(json, "outcome", outcome) || !TakeValue(json, "time", record.time) ||
      !TakeValue(json, "time_is_file", record.time_is_file)) {
    return std::nullopt;
  }
  size_t kind = 0;
  while (kind < std::size(kOutcomes) && outcome != kOutcomes[kind]) ++kind;
  if (kind == std::size(kOutcomes)) return std::nullopt;
  record.outcome = static_cast<Outcome>(kind);
  if (record.outcome == Outcome::kHang) {
    for (const SignatureField& field : kSignatureFields) {
      if (!TakeText(json, field.name, record.signature.*field.member)) return std::nullopt;
    }
  }
  TakeValue(json, "problems", record.problems);
  for (const TextMember& text : kTexts) TakeText(json, text.name, record.*text.member);
  return record;
}

}  // namespace packsmith::triage
