#include "runtime/source/spelling.h"

#include <rapidjson/document.h>
#include <zlib.h>

#include <cstring>
#include <utility>

#include "absl/status/status.h"

namespace packsmith::source {
namespace {

using Json = rapidjson::Value;

constexpr uint64_t kMostText = uint64_t{1} << 28;

std::string Text(const Json& object, const char* key) {
  const auto found = object.FindMember(key);
  if (found == object.MemberEnd() || !found->value.IsString()) return {};
  return std::string(found->value.GetString(), found->value.GetStringLength());
}

uint64_t Number(const Json& object, const char* key) {
  const auto found = object.FindMember(key);
  return found != object.MemberEnd() && found->value.IsUint64() ? found->value.GetUint64() : 0;
}

uint32_t Small(const Json& object, const char* key) {
  return static_cast<uint32_t>(Number(object, key));
}

// The elements of an array that is a member; none if it is not there.
template <class Visit>
void ForEach(const Json& object, const char* key, Visit&& visit) {
  const auto found = object.FindMember(key);
  if (found == object.MemberEnd() || !found->value.IsArray()) return;
  for (const Json& element : found->value.GetArray()) visit(element);
}

// [value, name, ...]: the name at `at`.
void AddValue(const Json& row, rapidjson::SizeType at, std::vector<NamedValue>& values) {
  if (!row.IsArray() || row.Size() <= at || !row[0].IsUint64() || !row[at].IsString()) return;
  values.push_back({row[0].GetUint64(), row[at].GetString()});
}

std::vector<Member> Members(const Json& object, const char* key);

Member MemberOf(const Json& row) {
  Member member;
  member.name = Text(row, "n");
  member.bit = Small(row, "b");
  member.width = Small(row, "w");
  ForEach(row, "d", [&](const Json& one) {
    if (!one.IsArray() || one.Size() != 2 || !one[0].IsUint() || !one[1].IsUint()) return;
    member.dimensions.push_back({one[0].GetUint(), one[1].GetUint()});
  });
  const std::string type = Text(row, "t");
  if (!type.empty()) member.type = static_cast<MemberType>(type[0]);
  member.structure = Text(row, "s");
  member.members = Members(row, "m");
  member.enumeration = Text(row, "of");
  member.enumeration_type = Text(row, "y");
  member.shift = Small(row, "z");
  member.fraction = Small(row, "f");
  member.minus = Number(row, "k");
  member.groups = Number(row, "g");
  member.align = Number(row, "al");
  member.multiple = Number(row, "mu");
  member.log2 = Number(row, "l") != 0;
  member.nonzero = Number(row, "nz") != 0;
  member.clamped = Number(row, "cl") != 0;
  member.initial = Text(row, "i");
  member.least = Text(row, "lo");
  member.most = Text(row, "hi");
  ForEach(row, "v", [&](const Json& one) { AddValue(one, 1, member.values); });
  return member;
}

std::vector<Member> Members(const Json& object, const char* key) {
  std::vector<Member> members;
  ForEach(object, key, [&](const Json& row) {
    if (row.IsObject()) members.push_back(MemberOf(row));
  });
  return members;
}

Type TypeOf(const Json& object) {
  Type type;
  type.cpp = Text(object, "cpp");
  type.c = Text(object, "c");
  type.in_bytes = Number(object, "by") != 0;
  type.has_header = Number(object, "h") != 0;
  if (object.HasMember("cb")) type.c_bytes = Number(object, "cb");
  type.members = Members(object, "m");
  type.c_members = Members(object, "cm");
  const auto tail = object.FindMember("tail");
  if (tail != object.MemberEnd() && tail->value.IsObject()) {
    const Json& row = tail->value;
    type.tail = Tail{Small(row, "b"), Small(row, "w"),  Number(row, "min"), Number(row, "max"),
                     Text(row, "s"),  Text(row, "cpp"), Members(row, "m")};
  }
  ForEach(object, "parts", [&](const Json& row) {
    if (row.IsObject())
      type.parts.push_back({Text(row, "n"), Text(row, "s"), Number(row, "r") != 0});
  });
  return type;
}

Enumeration EnumerationOf(const Json& object) {
  Enumeration enumeration;
  enumeration.cpp = Text(object, "cpp");
  ForEach(object, "v", [&](const Json& row) {
    AddValue(row, 1, enumeration.cpp_values);
    AddValue(row, 2, enumeration.c_values);
  });
  return enumeration;
}

template <class Map, class Make>
void ReadMap(const Json& object, const char* key, Map& map, Make&& make) {
  const auto found = object.FindMember(key);
  if (found == object.MemberEnd() || !found->value.IsObject()) return;
  for (const auto& one : found->value.GetObject()) {
    if (one.value.IsObject()) map.emplace(one.name.GetString(), make(one.value));
  }
}

template <class Map>
const typename Map::mapped_type* Find(const Map& map, absl::string_view name) {
  const auto found = map.find(name);
  return found == map.end() ? nullptr : &found->second;
}

}  // namespace

absl::string_view NameOf(const std::vector<NamedValue>& values, uint64_t value) {
  for (const NamedValue& one : values) {
    if (one.value == value) return one.name;
  }
  return {};
}

absl::StatusOr<Spelling> Spelling::Open(absl::Span<const uint8_t> bytes) {
  const absl::Status damaged = absl::DataLossError(
      "the names of generated headers are damaged; they must be those that render.py --spelling "
      "writes");
  uint64_t size = 0;
  if (bytes.size() <= sizeof(size)) return damaged;
  std::memcpy(&size, bytes.data(), sizeof(size));
  if (size > kMostText) return damaged;
  std::string text(size, '\0');
  uLongf written = size;
  if (uncompress(reinterpret_cast<Bytef*>(text.data()), &written, bytes.data() + sizeof(size),
                 bytes.size() - sizeof(size)) != Z_OK ||
      written != size) {
    return damaged;
  }
  rapidjson::Document json;
  json.Parse(text.data(), text.size());
  if (json.HasParseError() || !json.IsObject() || Number(json, "spelling") != 1) return damaged;
  Spelling spelling;
  spelling.generation_ = Text(json, "generation");
  spelling.namespace_ = Text(json, "namespace");
  spelling.address_bits_ = Small(json, "address_bits");
  ReadMap(json, "containers", spelling.types_, TypeOf);
  ReadMap(json, "enums", spelling.enumerations_, EnumerationOf);
  ReadMap(json, "codes", spelling.codes_, EnumerationOf);
  return spelling;
}

const Type* Spelling::FindType(absl::string_view name) const { return Find(types_, name); }
const Enumeration* Spelling::FindEnumeration(absl::string_view name) const {
  return Find(enumerations_, name);
}
const Enumeration* Spelling::FindCodes(absl::string_view name) const { return Find(codes_, name); }

}  // namespace packsmith::source
