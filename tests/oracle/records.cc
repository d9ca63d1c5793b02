#include "tests/oracle/records.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "rapidjson/document.h"
#include "rapidjson/error/en.h"

namespace packsmith {
namespace {

using JsonValue = rapidjson::Value;

absl::string_view View(const JsonValue& value) {
  return {value.GetString(), value.GetStringLength()};
}

bool Hex(absl::string_view text, uint64_t* value) {
  return absl::ConsumePrefix(&text, "0x") && absl::SimpleHexAtoi(text, value);
}

const JsonValue* Member(const JsonValue& object, const char* name) {
  const auto it = object.FindMember(name);
  return it == object.MemberEnd() ? nullptr : &it->value;
}

std::string Text(const JsonValue& object, const char* name) {
  const JsonValue* value = Member(object, name);
  return value != nullptr && value->IsString() ? std::string(View(*value)) : std::string();
}

std::optional<uint64_t> Number(const JsonValue& object, const char* name) {
  const JsonValue* value = Member(object, name);
  uint64_t hex = 0;
  if (value == nullptr) return std::nullopt;
  if (value->IsUint64()) return value->GetUint64();
  if (value->IsString() && Hex(View(*value), &hex)) return hex;
  return std::nullopt;
}

void Bits(const JsonValue& object, int* high, int* low) {
  const JsonValue* bits = Member(object, "bits");
  if (bits == nullptr || !bits->IsArray() || bits->Size() != 2) return;
  if (!(*bits)[0].IsInt() || !(*bits)[1].IsInt()) return;
  *high = (*bits)[0].GetInt();
  *low = (*bits)[1].GetInt();
}

RecordValue Value(const JsonValue* json) {
  RecordValue value;
  if (json == nullptr) return value;
  if (json->IsBool()) {
    value.kind = RecordValue::Kind::kBool;
    value.bits = json->GetBool() ? 1 : 0;
    value.real = static_cast<double>(value.bits);
    value.text = json->GetBool() ? "true" : "false";
  } else if (json->IsUint64()) {
    value.kind = RecordValue::Kind::kInteger;
    value.bits = json->GetUint64();
    value.real = static_cast<double>(value.bits);
    value.text = absl::StrCat(value.bits);
  } else if (json->IsInt64()) {
    value.kind = RecordValue::Kind::kInteger;
    value.bits = static_cast<uint64_t>(json->GetInt64());
    value.negative = json->GetInt64() < 0;
    value.real = static_cast<double>(json->GetInt64());
    value.text = absl::StrCat(json->GetInt64());
  } else if (json->IsDouble()) {
    value.kind = RecordValue::Kind::kReal;
    value.real = json->GetDouble();
    value.text = absl::StrFormat("%.9g", value.real);
  } else if (json->IsString()) {
    value.kind = RecordValue::Kind::kText;
    value.text = std::string(View(*json));
    value.is_hex = Hex(value.text, &value.bits);
  }
  return value;
}

void Fields(const JsonValue& json, Record* record) {
  const JsonValue* fields = Member(json, "fields");
  if (fields == nullptr || !fields->IsArray()) return;
  record->fields.reserve(fields->Size());
  for (const JsonValue& f : fields->GetArray()) {
    if (!f.IsObject()) continue;
    RecordField field;
    field.name = Text(f, "name");
    Bits(f, &field.high_bit, &field.low_bit);
    field.value = Value(Member(f, "value"));
    field.enum_name = Text(f, "enum");
    field.raw = Number(f, "raw");
    record->fields.push_back(std::move(field));
  }
}

void Faults(const JsonValue& json, Record* record) {
  const JsonValue* faults = Member(json, "faults");
  if (faults == nullptr || !faults->IsArray()) return;
  for (const JsonValue& f : faults->GetArray()) {
    if (!f.IsObject()) continue;
    RecordFault fault;
    fault.kind = Text(f, "kind");
    Bits(f, &fault.high_bit, &fault.low_bit);
    record->faults.push_back(std::move(fault));
  }
}

void Dwords(const JsonValue& json, Record* record) {
  const JsonValue* dwords = Member(json, "dwords");
  if (dwords == nullptr || !dwords->IsArray()) return;
  record->dwords.reserve(dwords->Size());
  for (const JsonValue& d : dwords->GetArray()) {
    uint64_t value = 0;
    if (d.IsString()) {
      absl::string_view text = View(d);
      absl::ConsumePrefix(&text, "0x");
      if (!absl::SimpleHexAtoi(text, &value)) return;
    } else if (d.IsUint()) {
      value = d.GetUint();
    } else {
      return;
    }
    record->dwords.push_back(static_cast<uint32_t>(value));
  }
}

// Empty if the text is not pairs of digits.
std::vector<uint8_t> BytesOfHex(absl::string_view text) {
  absl::ConsumePrefix(&text, "0x");
  if (text.size() % 2 != 0) return {};
  for (char c : text) {
    if (!absl::ascii_isxdigit(c)) return {};
  }
  const std::string raw = absl::HexStringToBytes(text);
  return {raw.begin(), raw.end()};
}

}  // namespace

absl::StatusOr<std::vector<Record>> ParseRecords(absl::string_view jsonl) {
  std::vector<Record> records;
  absl::flat_hash_map<uint64_t, int> by_id;
  int line_number = 0;
  int submission = -1;
  while (!jsonl.empty()) {
    const size_t end = jsonl.find('\n');
    const absl::string_view line = absl::StripAsciiWhitespace(jsonl.substr(0, end));
    jsonl.remove_prefix(end == absl::string_view::npos ? jsonl.size() : end + 1);
    ++line_number;
    if (line.empty()) continue;
    rapidjson::Document json;
    json.Parse<rapidjson::kParseFullPrecisionFlag>(line.data(), line.size());
    if (json.HasParseError()) {
      return absl::InvalidArgumentError(
          absl::StrFormat("records line %d, column %d: %s", line_number, json.GetErrorOffset() + 1,
                          rapidjson::GetParseError_En(json.GetParseError())));
    }
    if (!json.IsObject() || Text(json, "type").empty()) {
      return absl::InvalidArgumentError(
          absl::StrFormat("records line %d: not an object with a type", line_number));
    }
    Record record;
    record.type = Text(json, "type");
    if (record.type == "submission") ++submission;
    record.line = line_number;
    record.submission = submission;
    record.name = Text(json, "name");
    if (const auto index = Number(json, "index")) record.index = static_cast<int>(*index);
    if (const auto address = Number(json, "address")) {
      record.has_address = true;
      record.address = *address;
    }
    record.register_offset = Number(json, "register");
    if (const auto parent = Number(json, "parent")) {
      const auto it = by_id.find(*parent);
      if (it != by_id.end()) record.parent = it->second;
    }
    Dwords(json, &record);
    record.bytes = BytesOfHex(Text(json, "bytes"));
    record.size = Number(json, "size").value_or(0);
    Fields(json, &record);
    Faults(json, &record);
    if (const auto id = Number(json, "id")) by_id[*id] = static_cast<int>(records.size());
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace packsmith
