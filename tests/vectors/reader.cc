#include "tests/vectors/reader.h"

#include <rapidjson/document.h>

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/base/file.h"
#include "runtime/dump/compressed.h"

namespace packsmith::vectors {
namespace {

bool ParseNumber(const rapidjson::Value& json, Number& number) {
  if (json.IsBool()) {
    number.integer = json.GetBool();
  } else if (json.IsString()) {
    if (!absl::SimpleHexAtoi(json.GetString(), &number.integer)) return false;
  } else if (json.IsUint64()) {
    number.integer = json.GetUint64();
    number.real = static_cast<double>(number.integer);
  } else if (json.IsInt64()) {
    number.integer = static_cast<uint64_t>(json.GetInt64());
    number.real = static_cast<double>(json.GetInt64());
  } else if (json.IsDouble()) {
    number.is_real = true;
    number.real = json.GetDouble();
  } else {
    return false;
  }
  return true;
}

bool ParseLine(absl::string_view line, ReadVector& vector) {
  rapidjson::Document json;
  json.Parse<rapidjson::kParseFullPrecisionFlag>(line.data(), line.size());
  if (json.HasParseError() || !json.IsObject()) return false;
  for (const char* member : {"name", "case", "packed"}) {
    if (!json.HasMember(member) || !json[member].IsString()) return false;
  }
  if (!json.HasMember("fields") || !json["fields"].IsObject()) return false;
  vector.container = json["name"].GetString();
  vector.what = json["case"].GetString();
  const std::string bytes = absl::HexStringToBytes(json["packed"].GetString());
  vector.packed.assign(bytes.begin(), bytes.end());
  const rapidjson::Value& fields = json["fields"];
  // By index: C++20's clang does not take these iterators' comparison.
  for (rapidjson::SizeType i = 0; i < fields.MemberCount(); ++i) {
    const auto& field = *(fields.MemberBegin() + static_cast<ptrdiff_t>(i));
    Number number;
    if (!ParseNumber(field.value, number)) return false;
    vector.fields.emplace_back(field.name.GetString(), number);
  }
  return true;
}

}  // namespace

absl::StatusOr<std::string> ReadText(const std::string& path) {
  absl::StatusOr<FileBytes> file = OpenFile(path);
  if (!file.ok()) return file.status();
  const absl::StatusOr<Decompressed> whole = Decompress(*std::move(file));
  if (!whole.ok()) return whole.status();
  if (whole->problem) return absl::DataLossError(absl::StrCat(path, " is damaged"));
  return std::string(whole->file.bytes.begin(), whole->file.bytes.end());
}

absl::StatusOr<std::vector<ReadVector>> ParseVectors(const std::string& text) {
  std::vector<ReadVector> vectors;
  size_t number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (line.empty()) continue;
    vectors.emplace_back();
    if (!ParseLine(line, vectors.back())) {
      return absl::InvalidArgumentError(absl::StrCat("line ", number, " is no vector"));
    }
  }
  return vectors;
}

}  // namespace packsmith::vectors
