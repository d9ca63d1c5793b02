// c_test GENERATION.xml VECTORS.jsonl[.zst]: the C header of a generation, which was compiled as
// C11, against the description and the file of vectors. Linked with a generated file that binds it.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "tests/vectors/binding.h"
#include "tests/vectors/description.h"
#include "tests/vectors/reader.h"

namespace packsmith::vectors {
namespace {

using decode::FieldAt;
using decode::Value;
using tables::Container;
using tables::Leaf;

using Member = binding_member;
using Type = binding_c_type;

constexpr unsigned char kCanary = 0xa5;
constexpr unsigned kMargin = 64;

std::unique_ptr<Description> g_description;
std::vector<ReadVector> g_vectors;
std::map<std::string, uint64_t> g_figures;
// By container and leaf.
std::map<std::pair<const Type*, uint32_t>, const Member*> g_members;
std::vector<std::string> g_unbound;

void Complain(const std::string& text) {
  static int said = 0;
  if (++said <= 40) {
    ADD_FAILURE() << text;
  } else {
    GTEST_FAIL_AT(__FILE__, __LINE__) << "one more";
  }
}

const tables::Tables& T() { return g_description->tables(); }
const Container& ContainerOf(const Type& type) {
  return T().container(T().FindContainer(type.name));
}
const model::Container& ModelOf(const Type& type) {
  return g_description->model().containers[g_description->model().FindContainer(type.name)];
}
const Type* TypeOf(const std::string& name) {
  static const auto& types = *[] {
    auto* all = new std::map<std::string, const Type*>;
    for (unsigned i = 0; i < bound_c.type_count; ++i) {
      (*all)[bound_c.types[i].name] = &bound_c.types[i];
    }
    return all;
  }();
  const auto at = types.find(name);
  return at == types.end() ? nullptr : at->second;
}
// What _pack writes at least: _length dwords, whatever the packet has.
size_t PackedBytes(const Type& type) {
  const model::Container& c = ModelOf(type);
  return c.in_c.dwords ? *c.in_c.dwords * size_t{4} : c.bytes;
}
// Up to where it packs what the length field counts: members of longer forms, and those that have
// items of a tail.
size_t MostBytes(const Type& type) {
  const model::Container& c = ModelOf(type);
  size_t most = PackedBytes(type);
  if (c.length_field == nullptr || c.byte_unit) return most;
  most = std::max<size_t>(most, c.max_bytes);
  if (c.tail == nullptr) return most;
  return std::max<size_t>(most, (c.tail->bit + c.tail->in_c.count * c.tail->width) / 8);
}
bool IsBytes(const Type& type) { return ModelOf(type).byte_unit; }

// Reserved bits are not members; in records of bytes, opcodes are not members either, by the
// interface that their users know.
bool IsMember(const Type& type, const Leaf& leaf) {
  if ((leaf.flags & (tables::kMustBeZero | tables::kMustBeOne)) != 0) return false;
  return (leaf.flags & tables::kForced) == 0 || !IsBytes(type);
}

// All items of a group as one field, of which the member has the low 64 bits.
bool IsWhole(const Member& member) { return member.width > 64; }

// Whether a member has items of the packet's tail, or a field of one.
bool IsOfTail(const Type& type, const Member& member) {
  const Container& c = ContainerOf(type);
  return c.tail_size != 0 && member.bit >= c.tail_bit;
}
// The member that has this bit of the tail, or null.
const Member* MemberOfTail(const Type& type, uint32_t bit) {
  for (unsigned i = 0; i < type.member_count; ++i) {
    const Member& member = type.members[i];
    if (IsOfTail(type, member) && bit >= member.bit && bit < member.bit + member.width) {
      return &member;
    }
  }
  return nullptr;
}

void Bind() {
  for (unsigned t = 0; t < bound_c.type_count; ++t) {
    const Type& type = bound_c.types[t];
    if (T().FindContainer(type.name) == tables::kNone) {
      g_unbound.push_back(absl::StrCat("there is no container ", type.name));
      continue;
    }
    const Container& c = ContainerOf(type);
    for (unsigned i = 0; i < type.member_count; ++i) {
      const Member& member = type.members[i];
      if (IsOfTail(type, member)) continue;
      std::vector<const Leaf*> found;
      for (const Leaf& leaf : T().leaves(c.leaves)) {
        if (leaf.bit == member.bit && leaf.width == member.width && IsMember(type, leaf)) {
          found.push_back(&leaf);
        }
      }
      if (found.size() > 1) {  // views of the same bits
        found.erase(
            std::remove_if(found.begin(), found.end(),
                           [&](const Leaf* leaf) { return T().string(leaf->name) != member.name; }),
            found.end());
      }
      if (IsWhole(member)) {
        for (const Leaf& leaf : T().leaves(c.leaves)) {
          if (leaf.bit < member.bit || leaf.bit + leaf.width > member.bit + member.width) continue;
          g_members[{&type, g_description->IndexOf(leaf)}] = &member;
          found.push_back(&leaf);
        }
        if (!found.empty()) continue;
      }
      if (found.size() != 1) {
        g_unbound.push_back(absl::StrCat(type.name, ": there is no field ", member.path));
        continue;
      }
      g_members[{&type, g_description->IndexOf(*found[0])}] = &member;
    }
  }
}

// -- Members
// ---------------------------------------------------------------------------------------

template <class V>
void Store(char* object, const Member& member, V v) {
  std::memcpy(object + member.offset, &v, sizeof(v));
}
template <class V>
V Load(const char* object, const Member& member) {
  V v;
  std::memcpy(&v, object + member.offset, sizeof(v));
  return v;
}

void Set(char* object, const Member& member, uint64_t integer, double real) {
  switch (member.kind) {
    case BINDING_BOOL:
      return Store(object, member, integer != 0);
    case BINDING_U32:
    case BINDING_I32:
      return Store(object, member, static_cast<uint32_t>(integer));
    case BINDING_FLOAT:
      return Store(object, member, static_cast<float>(real));
    case BINDING_DOUBLE:
      return Store(object, member, real);
    default:
      return Store(object, member, integer);
  }
}
// Of a whole group one item, at a bit of the container.
void SetItem(char* object, const Member& member, uint32_t bit, uint64_t integer) {
  if (bit - member.bit >= 64) return;
  Store(object, member, Load<uint64_t>(object, member) | integer << (bit - member.bit));
}
uint64_t IntegerOf(const Value& value) {
  return value.kind == decode::ValueKind::kSigned ? static_cast<uint64_t>(value.signed_value)
                                                  : value.unsigned_value;
}
bool Equals(const char* object, const Member& member, uint64_t integer, double real) {
  switch (member.kind) {
    case BINDING_BOOL:
      return Load<uint8_t>(object, member) == integer;
    case BINDING_U32:
      return Load<uint32_t>(object, member) == integer;
    case BINDING_I32:
      return int64_t{Load<int32_t>(object, member)} == static_cast<int64_t>(integer);
    case BINDING_FLOAT:
      return Load<float>(object, member) == static_cast<float>(real);
    case BINDING_DOUBLE:
      return Load<double>(object, member) == real;
    default:
      return Load<uint64_t>(object, member) == integer;
  }
}

std::string Hex(const std::vector<uint8_t>& memory) {
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(memory.data()), memory.size()));
}

// A struct with a vector's values, its opcodes and its length. What bits the fixed part has.
std::vector<char> StructOf(const Type& type, const ReadVector& vector) {
  const Container& c = ContainerOf(type);
  std::vector<char> object(type.size);
  std::map<std::string, Number> given(vector.fields.begin(), vector.fields.end());
  for (const FieldAt& at : FieldsOf(T(), c, vector.packed)) {
    const auto found = g_members.find({&type, g_description->IndexOf(*at.leaf)});
    const auto field = given.find(NameOf(at));
    const Member* const of_tail = at.in_tail ? MemberOfTail(type, at.bit) : nullptr;
    if (of_tail != nullptr && field != given.end()) {
      if (of_tail->width == at.width) {
        Set(object.data(), *of_tail, field->second.integer, field->second.real);
      } else {
        SetItem(object.data(), *of_tail, at.bit, field->second.integer);
      }
    }
    if (at.in_tail || !at.name.part.empty() || found == g_members.end()) continue;
    if (IsWhole(*found->second)) {
      if (field != given.end()) {
        SetItem(object.data(), *found->second, at.bit, field->second.integer);
      }
    } else if (field != given.end()) {
      Set(object.data(), *found->second, field->second.integer, field->second.real);
    } else {
      // Opcodes and the length as they are; everything else that is not mentioned is zero.
      const uint64_t raw =
          Description::IsValue(*at.leaf) ? 0 : decode::ReadBits(vector.packed, at.bit, at.width);
      const Value value = g_description->Decoded(*at.leaf, raw);
      Set(object.data(), *found->second, IntegerOf(value), value.real);
    }
  }
  return object;
}

// -- The tests
// -------------------------------------------------------------------------------------

TEST(CTypes, EveryContainerIsATypeAndEveryFieldAMember) {
  for (const std::string& problem : g_unbound) Complain(problem);
  for (const Container& c : T().containers()) {
    const std::string name(T().string(c.name));
    const Type* type = TypeOf(name);
    if (type == nullptr) {
      Complain("no type for " + name);
      continue;
    }
    ++g_figures["types"];
    for (const Leaf& leaf : T().leaves(c.leaves)) {
      if (!IsMember(*type, leaf) || leaf.bit >= c.bytes * 8) continue;
      ++g_figures["fields"];
      if (g_members.count({type, g_description->IndexOf(leaf)}) == 0) {
        Complain(absl::StrCat(name, ": no member for ", T().string(leaf.name)));
      }
    }
  }
}

TEST(CTypes, LengthsBiasesAndRegisterNumbersAreTheDescriptions) {
  for (unsigned i = 0; i < bound_c.type_count; ++i) {
    const Type& type = bound_c.types[i];
    const model::Container& c = ModelOf(type);
    // Records of bytes have a size even where more follows; the others have no length then.
    const long units = static_cast<long>(c.byte_unit ? c.bytes : PackedBytes(type) / 4);
    const long length = c.variable && !c.byte_unit && !c.in_c.dwords ? -1 : units;
    EXPECT_EQ(type.length, length) << type.name;
    if (c.byte_unit) continue;
    const bool biased = c.length_field != nullptr || c.length_bias != 0;
    EXPECT_EQ(type.length_bias, biased ? static_cast<long>(c.length_bias) : -1) << type.name;
    EXPECT_EQ(type.num, c.kind == model::ContainerKind::kRegister
                            ? static_cast<long>(c.in_c.offset.value_or(c.register_offset))
                            : -1)
        << type.name;
    g_figures["lengths, biases, numbers"] += 3;
  }
}

TEST(CTypes, HeadersHaveOpcodesLengthsAndDefaults) {
  for (unsigned i = 0; i < bound_c.type_count; ++i) {
    const Type& type = bound_c.types[i];
    const Container& c = ContainerOf(type);
    const model::Container& model = ModelOf(type);
    if (type.header == nullptr) {
      // Nothing to initialise, or no packet.
      for (const Leaf& leaf : T().leaves(c.leaves)) {
        if (model.byte_unit || c.kind != tables::ContainerKind::kPacket) break;
        EXPECT_EQ(leaf.flags & tables::kForced, 0) << type.name << " has no header";
      }
      continue;
    }
    const char* header = static_cast<const char*>(type.header);
    for (const Leaf& leaf : T().leaves(c.leaves)) {
      const auto found = g_members.find({&type, g_description->IndexOf(leaf)});
      if (found == g_members.end()) continue;
      const Member& member = *found->second;
      const std::string path = member.path;
      uint64_t integer = 0;
      double real = 0;
      // Arrays and structures are not initialised.
      if (path.find('[') == std::string::npos && path.find('.') == std::string::npos) {
        if ((leaf.flags & tables::kForced) != 0) {
          integer = T().extra(leaf.extra).forced;
        } else if ((leaf.flags & tables::kLength) != 0) {
          const model::Field& field = g_description->field(leaf);
          integer = field.in_c.has_no_default ? 0
                    : field.default_value     ? *field.default_value
                    : !model.variable         ? PackedBytes(type) / c.length_unit - c.length_bias
                                              : field.default_value.value_or(0);
        } else {
          const Value value = g_description->DefaultValue(leaf);
          integer = IntegerOf(value);
          real = value.real;
        }
      }
      ++g_figures["defaults"];
      if (!Equals(header, member, integer, real)) {
        Complain(absl::StrCat(type.name, "_header: .", path, " is not ", integer, " / ", real));
      }
    }
  }
}

TEST(CTypes, PackingTheVectorsValuesGivesTheirBytesUpToTheLengthTheyState) {
  for (const ReadVector& vector : g_vectors) {
    const Type* type = TypeOf(vector.container);
    ASSERT_NE(type, nullptr) << vector.container;
    // The vector's own length is in its length field.
    const size_t bytes =
        std::max(PackedBytes(*type), std::min(MostBytes(*type), vector.packed.size()));
    if (bytes > PackedBytes(*type)) ++g_figures["vectors longer than _length"];
    const std::vector<char> object = StructOf(*type, vector);
    std::vector<uint8_t> memory(bytes + 2 * kMargin, kCanary);
    std::fill(memory.begin() + kMargin, memory.end() - kMargin, 0xff);
    std::vector<uint8_t> want(bytes + 2 * kMargin, kCanary);
    std::fill(want.begin() + kMargin, want.end() - kMargin, 0);  // a length beyond the packet's own
    std::copy_n(vector.packed.begin(), std::min(bytes, vector.packed.size()),
                want.begin() + kMargin);
    for (unsigned i = 0; i < type->member_count; ++i) {
      const Member& member = type->members[i];
      if (!IsWhole(member)) continue;
      const size_t first = std::min<size_t>(bytes, member.bit / 8 + 8);
      const size_t last = std::min<size_t>(bytes, (member.bit + member.width) / 8);
      std::fill(want.begin() + kMargin + first, want.begin() + kMargin + last, 0);
    }
    type->pack(memory.data() + kMargin, object.data());
    ++g_figures["vectors"];
    if (memory != want) {
      Complain(absl::StrCat(vector.container, ", ", vector.what, ":\npacked ", Hex(memory),
                            "\nnot    ", Hex(want)));
    }
  }
}

TEST(CTypes, RealNumbersAreRoundedToTheNearest) {
  for (const ReadVector& vector : g_vectors) {
    if (!absl::StartsWith(vector.what, "least")) continue;
    const Type& type = *TypeOf(vector.container);
    const Container& c = ContainerOf(type);
    std::vector<char> object = StructOf(type, vector);
    for (const Leaf& leaf : T().leaves(c.leaves)) {
      const auto found = g_members.find({&type, g_description->IndexOf(leaf)});
      if (!IsReal(leaf) || found == g_members.end() ||
          leaf.bit + leaf.width > PackedBytes(type) * 8)
        continue;
      const std::vector<char> before = object;
      for (const double v : {1 / 3.0, -1 / 3.0, 2 / 3.0, 0.1, 1.9, -1.9, 5.1, 1e-5}) {
        const Value value =
            g_description->ValueOf(leaf, 0, static_cast<double>(static_cast<float>(v)));
        const std::optional<uint64_t> raw = g_description->Encoded(leaf, value);
        if (!raw) continue;  // out of range
        Set(object.data(), *found->second, 0, v);
        std::vector<uint8_t> packed(std::max<size_t>(c.bytes, PackedBytes(type)));
        type.pack(packed.data(), object.data());
        ++g_figures["numbers rounded"];
        const uint64_t got = decode::ReadBits(packed, leaf.bit, leaf.width);
        if (got != *raw) {
          Complain(absl::StrCat(type.name, ": ", found->second->path, " = ", v, " was packed as 0x",
                                absl::Hex(got), ", not 0x", absl::Hex(*raw)));
        }
      }
      object = before;
    }
  }
}

TEST(CTypes, UnpackingRecordsOfBytesGivesTheVectorsValues) {
  for (const ReadVector& vector : g_vectors) {
    const Type& type = *TypeOf(vector.container);
    if (type.unpack == nullptr) continue;
    std::vector<char> object(type.size);
    const std::vector<uint8_t> exact(vector.packed.begin(),
                                     vector.packed.begin() + ContainerOf(type).bytes);
    EXPECT_TRUE(type.unpack(exact.data(), object.data())) << vector.container;
    for (const FieldAt& at : FieldsOf(T(), ContainerOf(type), vector.packed)) {
      const auto found = g_members.find({&type, g_description->IndexOf(*at.leaf)});
      if (at.in_tail || !at.name.part.empty() || found == g_members.end()) continue;
      const Value value =
          g_description->Decoded(*at.leaf, decode::ReadBits(vector.packed, at.bit, at.width));
      ++g_figures["fields read"];
      if (!Equals(object.data(), *found->second, IntegerOf(value), value.real)) {
        Complain(absl::StrCat(vector.container, ", ", vector.what, ": unpacked another ",
                              found->second->path));
      }
    }
    // A wrong opcode or reserved bit is not as described.
    for (const FieldAt& at : FieldsOf(T(), ContainerOf(type), exact)) {
      constexpr uint16_t kFixed = tables::kForced | tables::kMustBeZero | tables::kMustBeOne;
      if ((at.leaf->flags & kFixed) == 0 || at.in_tail || !at.name.part.empty()) continue;
      std::vector<uint8_t> wrong = exact;
      wrong[at.bit / 8] ^= static_cast<uint8_t>(1u << at.bit % 8);
      ++g_figures["wrong bits reported"];
      EXPECT_FALSE(type.unpack(wrong.data(), object.data()))
          << vector.container << ": " << NameOf(at);
    }
  }
}

enum class Match { kNo, kField, kInside };

// Whether a leaf is the field (in a named group, or with indices), or lies in the structure of that
// name. Names may have brackets and points of their own.
Match MatchOf(absl::string_view name, absl::string_view field) {
  size_t start = 0;
  do {
    absl::string_view rest = name.substr(start);
    if (!absl::ConsumePrefix(&rest, field)) continue;
    while (absl::StartsWith(rest, "[")) {
      const size_t end = rest.find_first_not_of("0123456789", 1);
      if (end == 1 || end == absl::string_view::npos || rest[end] != ']') break;
      rest.remove_prefix(end + 1);
    }
    if (rest.empty()) return Match::kField;
    if (rest[0] == '.') return Match::kInside;
  } while ((start = name.find('.', start) + 1) != 0);
  return Match::kNo;
}

// The width of a group that is one field in C, by that field's name; 0: there is none.
uint32_t WidthOfWhole(const std::vector<model::Item>& items, const std::string& name) {
  for (const model::Item& item : items) {
    const model::Group* const group = item.group();
    if (group == nullptr) continue;
    if (group->in_c.is_whole && group->items[0].base().name == name) {
      return group->width * (group->tail ? group->in_c.count : group->count);
    }
    const uint32_t width = WidthOfWhole(group->items, name);
    if (width != 0) return width;
  }
  return 0;
}

// What _bits says: what the XML says for C, that of a whole group, or the field's width.
uint32_t PublishedWidth(const binding_c_position& p, const Leaf& leaf) {
  const uint32_t published = g_description->field(leaf).in_c.bits;
  if (published != 0) return published;
  const model::Model& model = g_description->model();
  const uint32_t whole =
      WidthOfWhole(model.containers[model.FindContainer(p.container)].items, p.field);
  return whole != 0 ? whole : leaf.width;
}

TEST(CTypes, PositionsAreTheTables) {
  for (unsigned i = 0; i < bound_c.position_count; ++i) {
    const binding_c_position& p = bound_c.positions[i];
    const Container& c = T().container(T().FindContainer(p.container));
    const std::string field = p.field;
    // The first item's; a field of a named group is known by its own name.
    const Leaf* same = nullptr;
    uint32_t low = ~0u, high = 0, base = 0;
    const auto look = [&](absl::Span<const Leaf> leaves, uint32_t start) {
      for (const Leaf& leaf : leaves) {
        const std::string name = absl::StrCat(T().string(leaf.name), T().string(leaf.name_suffix));
        const Match match = MatchOf(name, field);
        if (same == nullptr && match == Match::kField) {
          same = &leaf;
          base = start;
        }
        if (match == Match::kInside) {
          low = std::min(low, start + leaf.bit);
          if (start + leaf.bit < p.start + p.bits) {
            high = std::max<uint32_t>(high, start + leaf.bit + leaf.width);
          }
        }
      }
    };
    look(T().leaves(c.leaves), 0);
    look(T().leaves(c.tail_leaves), c.tail_bit);
    ++g_figures["positions"];
    if (same == nullptr && low != ~0u) {  // a structure: its fields lie inside
      if (low < p.start || high > p.start + p.bits) {
        Complain(absl::StrCat(p.container, "_", field, ": its fields are at ", low, " to ", high));
      }
    } else if (same == nullptr) {
      Complain(absl::StrCat(p.container, "_", field, ": no such field"));
    } else if (base + same->bit != p.start || PublishedWidth(p, *same) != p.bits) {
      Complain(absl::StrCat(p.container, "_", field, " is at ", base + same->bit, ", ", same->width,
                            " bits, not ", p.start, ", ", p.bits));
    }
  }
}

TEST(CTypes, NamedValuesAreTheXmls) {
  // A field may list values of an enumeration, too.
  std::map<std::string, long long> seen;
  for (unsigned i = 0; i < bound_c.value_count; ++i) {
    const binding_c_value& v = bound_c.values[i];
    ++g_figures["values"];
    EXPECT_EQ(v.value, v.expected) << v.name;
    EXPECT_EQ(seen.emplace(v.name, v.value).first->second, v.value) << v.name << " is two values";
  }
}

}  // namespace

bool LoadAll(const std::string& xml, const std::string& vectors) {
  auto description = Description::Load(xml);
  if (!description.ok()) {
    std::fprintf(stderr, "%s\n", std::string(description.status().message()).c_str());
    return false;
  }
  g_description = *std::move(description);
  const auto text = ReadText(vectors);
  const auto parsed = text.ok() ? ParseVectors(*text) : text.status();
  if (!parsed.ok()) {
    std::fprintf(stderr, "%s\n", std::string(parsed.status().message()).c_str());
    return false;
  }
  g_vectors = *parsed;
  Bind();
  return true;
}

void PrintFigures() {
  for (const auto& [what, count] : g_figures) {
    std::printf("%8llu %s\n", static_cast<unsigned long long>(count), what.c_str());
  }
}

}  // namespace packsmith::vectors

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 3) {
    std::fprintf(stderr, "usage: c_test GENERATION.xml VECTORS.jsonl[.zst]\n");
    return 2;
  }
  if (!packsmith::vectors::LoadAll(argv[1], argv[2])) return 1;
  const int result = RUN_ALL_TESTS();
  packsmith::vectors::PrintFigures();
  return result;
}
