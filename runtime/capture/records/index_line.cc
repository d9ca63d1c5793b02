#include "runtime/capture/records/index_line.h"

#include "absl/strings/str_cat.h"
#include "runtime/dump/dump.h"

namespace packsmith::capture {

IndexLine::IndexLine(absl::string_view type) : writer_(out_) {
  writer_.StartObject();
  Put("type", type);
}

void IndexLine::Put(const char* name, absl::string_view value) {
  if (value.empty()) return;
  writer_.Key(name);
  PutText(value);
}

void IndexLine::Put(const char* name, uint64_t value) {
  writer_.Key(name);
  writer_.Uint64(value);
}

void IndexLine::Put(const char* name, absl::Span<const std::string> values) {
  if (values.empty()) return;
  writer_.Key(name);
  writer_.StartArray();
  for (const std::string& value : values) PutText(value);
  writer_.EndArray();
}

void IndexLine::Put(const char* name, absl::Time value) {
  Put(name, absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", value, absl::UTCTimeZone()));
}

std::string IndexLine::End() {
  writer_.EndObject();
  return absl::StrCat(absl::string_view(out_.GetString(), out_.GetSize()), "\n");
}

void IndexLine::PutText(absl::string_view value) {
  const std::string text = ValidUtf8(value);
  writer_.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

}  // namespace packsmith::capture
