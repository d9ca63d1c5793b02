// One JSON object on one line, for reports.
#ifndef PACKSMITH_RUNTIME_LINT_JSON_OBJECT_H_
#define PACKSMITH_RUNTIME_LINT_JSON_OBJECT_H_

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cstdint>
#include <string>

#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "runtime/base/unicode.h"

namespace packsmith::lint {

class JsonObject {
 public:
  JsonObject() { json_.StartObject(); }

  void Key(absl::string_view key) {
    json_.Key(key.data(), static_cast<rapidjson::SizeType>(key.size()));
  }
  void Value(absl::string_view text) {
    json_.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  }
  void Text(absl::string_view key, absl::string_view text) {
    Key(key);
    Value(text);
  }
  // Nothing if it is empty.
  void Some(absl::string_view key, absl::string_view text) {
    if (!text.empty()) Text(key, text);
  }
  void Number(absl::string_view key, uint64_t number) {
    Key(key);
    json_.Uint64(number);
  }
  void Hex(absl::string_view key, uint64_t number) { Text(key, absl::StrFormat("0x%x", number)); }
  void Bool(absl::string_view key, bool value) {
    Key(key);
    json_.Bool(value);
  }
  // `write` writes the members, or the elements.
  template <class Write>
  void Object(absl::string_view key, const Write& write) {
    if (!key.empty()) Key(key);
    json_.StartObject();
    write();
    json_.EndObject();
  }
  template <class Write>
  void Array(absl::string_view key, const Write& write) {
    Key(key);
    json_.StartArray();
    write();
    json_.EndArray();
  }
  // The last call.
  std::string Take() {
    json_.EndObject();
    return JsonWithHiddenEscaped(std::string(buffer_.GetString(), buffer_.GetSize()));
  }

 private:
  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> json_{buffer_};
};

}  // namespace packsmith::lint

#endif  // PACKSMITH_RUNTIME_LINT_JSON_OBJECT_H_
