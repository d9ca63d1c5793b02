#include "runtime/describe/reference.h"

#include <zstd.h>

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace packsmith::describe {
namespace {

// Far above what the limits of descriptions allow.
constexpr unsigned long long kMostBytes = 256ull << 20;

absl::Status Damaged(const tables::Tables& tables, absl::string_view what) {
  return absl::DataLossError(
      absl::StrCat("the reference text of ", tables.generation(), " ", what,
                   "; regenerate its tables with packgen, or use --xml with the description"));
}

// The string whose opening quote is at `at`; moves `at` after the closing one.
std::string TakeString(absl::string_view line, size_t& at) {
  const size_t first = at;
  for (++at; at < line.size() && line[at] != '"'; ++at) {
    if (line[at] == '\\') ++at;
  }
  at = std::min(at + 1, line.size());
  const absl::string_view quoted = line.substr(first, at - first);
  if (quoted.size() < 2) return "";
  if (quoted.find('\\') == absl::string_view::npos) {
    return std::string(quoted.substr(1, quoted.size() - 2));
  }
  const rapidjson::Document document = Parse(quoted);
  return document.IsString() ? std::string(document.GetString(), document.GetStringLength()) : "";
}

bool Skip(absl::string_view line, size_t& at, absl::string_view expected) {
  if (line.substr(std::min(at, line.size()), expected.size()) != expected) return false;
  at += expected.size();
  return true;
}

// Name, kind and aliases come first, in this order; the rest is read on demand.
bool TakeHead(Entry& entry) {
  const absl::string_view line = entry.line;
  size_t at = 0;
  if (!Skip(line, at, "{\"name\":")) return false;
  entry.name = TakeString(line, at);
  if (!Skip(line, at, ",\"kind\":\"")) return false;
  const size_t end = line.find('"', at);
  if (end == absl::string_view::npos) return false;
  entry.kind = line.substr(at, end - at);
  at = end + 1;
  if (!Skip(line, at, ",\"aliases\":[")) return true;
  while (at < line.size() && line[at] == '"') {
    entry.aliases.push_back(TakeString(line, at));
    Skip(line, at, ",");
  }
  return true;
}

}  // namespace

absl::StatusOr<Reference> Reference::Open(const tables::Tables& tables) {
  const absl::Span<const uint8_t> packed = tables.reference();
  const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR || size > kMostBytes) {
    return Damaged(tables, "is missing or damaged");
  }
  Reference reference(tables);
  reference.text_.resize(size);
  const size_t got = ZSTD_decompress(reference.text_.data(), size, packed.data(), packed.size());
  if (ZSTD_isError(got) || got != size) return Damaged(tables, "is damaged");
  for (const absl::string_view line :
       absl::StrSplit(absl::string_view(reference.text_.data(), size), '\n', absl::SkipEmpty())) {
    Entry entry;
    entry.line = line;
    if (!TakeHead(entry)) return Damaged(tables, "has an unknown format");
    reference.entries_.push_back(std::move(entry));
  }
  if (reference.entries_.empty()) return Damaged(tables, "is empty");
  for (uint32_t i = 0; i < reference.entries_.size(); ++i) reference.by_name_.push_back(i);
  std::stable_sort(reference.by_name_.begin(), reference.by_name_.end(),
                   [&](uint32_t a, uint32_t b) {
                     return reference.entries_[a].name < reference.entries_[b].name;
                   });
  return reference;
}

const Entry* Reference::Find(absl::string_view kind, absl::string_view name) const {
  auto it = std::lower_bound(
      by_name_.begin(), by_name_.end(), name,
      [this](uint32_t i, absl::string_view wanted) { return entries_[i].name < wanted; });
  for (; it != by_name_.end() && entries_[*it].name == name; ++it) {
    if (entries_[*it].kind == kind) return &entries_[*it];
  }
  return nullptr;
}

rapidjson::Document Parse(absl::string_view line) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(line.data(), line.size());
  if (document.HasParseError()) document.SetObject();
  return document;
}

absl::string_view Text(const Json& object, const char* key) {
  const auto it = object.FindMember(key);
  if (it == object.MemberEnd() || !it->value.IsString()) return {};
  return {it->value.GetString(), it->value.GetStringLength()};
}

uint64_t Number(const Json& object, const char* key) {
  const auto it = object.FindMember(key);
  return it != object.MemberEnd() && it->value.IsUint64() ? it->value.GetUint64() : 0;
}

bool Flag(const Json& object, const char* key) {
  const auto it = object.FindMember(key);
  return it != object.MemberEnd() && it->value.IsTrue();
}

absl::Span<const Json> Array(const Json& object, const char* key) {
  const auto it = object.FindMember(key);
  if (it == object.MemberEnd() || !it->value.IsArray()) return {};
  return {it->value.Begin(), it->value.Size()};
}

Place PlaceOf(const Json& item) {
  const absl::Span<const Json> bits = Array(item, "bits");
  if (bits.size() != 2 || !bits[0].IsUint() || !bits[1].IsUint()) return {0, 0};
  return {bits[1].GetUint(), bits[0].GetUint() - bits[1].GetUint() + 1};
}

}  // namespace packsmith::describe
