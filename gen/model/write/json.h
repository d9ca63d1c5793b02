// JSON as the writers of this folder write it: members by name, without blanks.
#ifndef PACKSMITH_GEN_MODEL_WRITE_JSON_H_
#define PACKSMITH_GEN_MODEL_WRITE_JSON_H_

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace packsmith::model {

class Json {
 public:
  void StartObject() { writer_.StartObject(); }
  void EndObject() { writer_.EndObject(); }
  void StartArray() { writer_.StartArray(); }
  void EndArray() { writer_.EndArray(); }
  void Null() { writer_.Null(); }
  void Uint(uint32_t value) { writer_.Uint(value); }
  void Uint64(uint64_t value) { writer_.Uint64(value); }

  void Key(absl::string_view key) {
    writer_.Key(key.data(), static_cast<rapidjson::SizeType>(key.size()));
  }
  void Text(absl::string_view text) {
    writer_.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  }
  void Member(absl::string_view key, absl::string_view value) {
    Key(key);
    Text(value);
  }
  void Member(absl::string_view key, const char* value) { Member(key, absl::string_view(value)); }
  void Member(absl::string_view key, const std::string& value) {
    Member(key, absl::string_view(value));
  }
  template <class T>
  requires std::is_integral_v<T>
  void Member(absl::string_view key, T value) {
    Key(key);
    if constexpr (std::is_same_v<T, bool>) {
      writer_.Bool(value);
    } else if constexpr (std::is_signed_v<T>) {
      writer_.Int64(value);
    } else {
      writer_.Uint64(value);
    }
  }
  void Null(absl::string_view key) {
    Key(key);
    writer_.Null();
  }
  void MemberOrNull(absl::string_view key, absl::string_view value) {
    Key(key);
    if (value.empty()) {
      writer_.Null();
    } else {
      Text(value);
    }
  }
  void Hex(absl::string_view key, uint64_t value) { Member(key, absl::StrFormat("0x%x", value)); }
  void Strings(absl::string_view key, const std::vector<std::string>& all) {
    Key(key);
    writer_.StartArray();
    for (const std::string& one : all) Text(one);
    writer_.EndArray();
  }
  template <class T, class Write>
  void Array(absl::string_view key, const std::vector<T>& all, const Write& write) {
    Key(key);
    writer_.StartArray();
    for (const T& one : all) {
      writer_.StartObject();
      write(one);
      writer_.EndObject();
    }
    writer_.EndArray();
  }

  // All that was written, and a line's end.
  std::string Finish() {
    buffer_.Put('\n');
    return std::string(buffer_.GetString(), buffer_.GetSize());
  }

 private:
  // Without blanks: they would be a third of the ten megabytes of a large generation.
  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> writer_{buffer_};
};

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_WRITE_JSON_H_
