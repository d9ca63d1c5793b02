// One JSON object a line.
#ifndef PACKSMITH_TOOLS_JSON_LINE_H_
#define PACKSMITH_TOOLS_JSON_LINE_H_

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace packsmith::tools {

// Keys may be empty inside a list.
class JsonLine {
 public:
  JsonLine() { writer_.StartObject(); }

  JsonLine& Text(absl::string_view key, absl::string_view value) {
    Key(key);
    writer_.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
    return *this;
  }
  JsonLine& Number(absl::string_view key, uint64_t value) {
    Key(key);
    writer_.Uint64(value);
    return *this;
  }
  JsonLine& Signed(absl::string_view key, int64_t value) {
    Key(key);
    writer_.Int64(value);
    return *this;
  }
  // What JSON has no number for is a string.
  JsonLine& Real(absl::string_view key, double value) {
    if (!std::isfinite(value))
      return Text(key, std::isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity");
    Key(key);
    writer_.Double(value);
    return *this;
  }
  JsonLine& Bool(absl::string_view key, bool value) {
    Key(key);
    writer_.Bool(value);
    return *this;
  }
  JsonLine& Null(absl::string_view key) {
    Key(key);
    writer_.Null();
    return *this;
  }
  // A list of one text each.
  template <class Strings>
  JsonLine& Texts(absl::string_view key, const Strings& values) {
    return List(key, [&] {
      for (const auto& value : values) Text("", value);
    });
  }
  // `write` adds what it contains.
  template <class Write>
  JsonLine& List(absl::string_view key, const Write& write) {
    Key(key);
    writer_.StartArray();
    write();
    writer_.EndArray();
    return *this;
  }
  template <class Write>
  JsonLine& Object(absl::string_view key, const Write& write) {
    Key(key);
    writer_.StartObject();
    write();
    writer_.EndObject();
    return *this;
  }
  std::string Take() {
    writer_.EndObject();
    return std::string(buffer_.GetString(), buffer_.GetSize()) + "\n";
  }

 private:
  void Key(absl::string_view key) {
    if (!key.empty()) writer_.Key(key.data(), static_cast<rapidjson::SizeType>(key.size()));
  }

  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> writer_{buffer_};
};

}  // namespace packsmith::tools

#endif  // PACKSMITH_TOOLS_JSON_LINE_H_
