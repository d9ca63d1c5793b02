// cpp_test GENERATION.xml VECTORS.jsonl[.zst]: every type of a generation's C++ header against the
// description's tables and the file of vectors. Linked with a generated file that binds the types.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/decode/fields/addresses.h"
#include "tests/vectors/binding_cpp.h"
#include "tests/vectors/description.h"
#include "tests/vectors/reader.h"
#include "tests/vectors/vectors.h"

namespace packsmith::vectors {
namespace {

using decode::FieldAt;
using decode::Value;
using tables::Container;
using tables::Leaf;

// What memory holds around and below what pack writes.
constexpr unsigned char kCanary = 0xa5;
constexpr unsigned kMargin = 64;

// Objects of one type, in memory that is aligned for any.
class Storage {
 public:
  Storage(size_t object_size, unsigned count, void (*construct)(void*))
      : size_(object_size),
        count_(count),
        memory_(object_size * std::max(count, 1u) / sizeof(std::max_align_t) + 1) {
    for (unsigned i = 0; i < count; ++i) construct((*this)[i]);
  }
  void* operator[](unsigned i) { return reinterpret_cast<char*>(memory_.data()) + i * size_; }
  const void* operator[](unsigned i) const {
    return reinterpret_cast<const char*>(memory_.data()) + i * size_;
  }
  unsigned count() const { return count_; }

 private:
  size_t size_;
  unsigned count_;
  std::vector<std::max_align_t> memory_;
};

// A description and the types that were generated from it.
class World {
 public:
  static World& Get() { return *instance(); }
  static std::string Load(const std::string& xml, const std::string& vectors) {
    auto description = Description::Load(xml);
    if (!description.ok()) return std::string(description.status().message());
    const auto text = ReadText(vectors);
    if (!text.ok()) return std::string(text.status().message());
    auto parsed = ParseVectors(*text);
    if (!parsed.ok()) return std::string(parsed.status().message());
    instance().reset(new World);
    instance()->description = *std::move(description);
    const std::set<std::string> elsewhere(TypesTestedElsewhere().begin(),
                                          TypesTestedElsewhere().end());
    for (ReadVector& vector : *parsed) {
      if (elsewhere.count(vector.container) != 0) continue;
      instance()->vectors.push_back(std::move(vector));
    }
    instance()->Bind();
    return "";
  }

  // `part`: the leaf is that part's; empty: it is the container's own, or its tail's.
  const Member* Find(const Container& owner, absl::string_view part, const Leaf& leaf) const {
    const uint32_t index = description->IndexOf(leaf);
    if (part.empty()) return own_members_[index];
    const auto at = part_members_.find({&owner, std::string(part), index});
    return at == part_members_.end() ? nullptr : at->second;
  }
  const Container& container(const Type& type) const {
    return description->tables().container(description->tables().FindContainer(type.name));
  }
  const Type* type(const std::string& name) const {
    const auto at = types_.find(name);
    return at == types_.end() ? nullptr : at->second;
  }

  std::unique_ptr<Description> description;
  std::vector<ReadVector> vectors;
  std::vector<std::string> unbound;

 private:
  static std::unique_ptr<World>& instance() {
    static auto& world = *new std::unique_ptr<World>;
    return world;
  }

  void Bind() {
    const tables::Tables& t = description->tables();
    uint32_t leaves_in_all = 0;
    for (const Container& c : t.containers()) {
      for (const tables::Range range : {c.leaves, c.tail_leaves}) {
        leaves_in_all = std::max(leaves_in_all, range.first + range.count);
      }
    }
    own_members_.resize(leaves_in_all);
    for (const Type& type : BoundTypes()) {
      types_[type.name] = &type;
      if (t.FindContainer(type.name) == tables::kNone) {
        unbound.push_back(absl::StrCat("there is no container ", type.name));
        continue;
      }
      const Container& c = container(type);
      BindAll(c, "", t.leaves(c.leaves), type.members.data(), type.members.size());
      for (const tables::Part& part : t.parts(c.parts)) {
        const std::string name(t.string(part.name));
        const auto leaves = t.leaves(t.container(part.container).leaves);
        BindAll(c, name, leaves, type.members.data(), type.members.size());
        for (const List& list : type.lists) {
          if (list.part == name) BindAll(c, name, leaves, list.members, list.member_count, "");
        }
      }
      for (const List& list : type.lists) {
        if (list.part[0] == 0) {
          BindAll(c, "", t.leaves(c.tail_leaves), list.members, list.member_count, "");
        }
      }
    }
  }

  void BindAll(const Container& owner, const std::string& key, absl::Span<const Leaf> leaves,
               const Member* members, size_t count, std::optional<std::string> part = {}) {
    const std::string wanted = part ? *part : key;
    const tables::Tables& t = description->tables();
    for (size_t i = 0; i < count; ++i) {
      const Member& member = members[i];
      if (member.part != wanted) continue;
      std::vector<const Leaf*> found;
      for (const Leaf& leaf : leaves) {
        if (leaf.bit == member.bit && leaf.width == member.width && Description::IsValue(leaf)) {
          found.push_back(&leaf);
        }
      }
      if (found.size() > 1) {  // views of the same bits
        const auto other = [&](const Leaf* leaf) {
          // In a tail the name is cut at the index.
          const absl::string_view name = t.string(leaf->name), suffix = t.string(leaf->name_suffix);
          return name != member.name && absl::StrCat(name, suffix) != member.name;
        };
        found.erase(std::remove_if(found.begin(), found.end(), other), found.end());
      }
      if (found.size() != 1) {
        unbound.push_back(absl::StrCat(t.string(owner.name), ": there is no field ", member.path));
        continue;
      }
      const uint32_t index = description->IndexOf(*found[0]);
      if (key.empty()) {
        own_members_[index] = &member;
      } else {
        part_members_[{&owner, key, index}] = &member;
      }
    }
  }

  std::map<std::string, const Type*> types_;
  std::vector<const Member*> own_members_;  // by leaf index
  std::map<std::tuple<const Container*, std::string, uint32_t>, const Member*> part_members_;
};

// Counts what was done, for the log.
std::map<std::string, uint64_t>& Figures() {
  static auto& figures = *new std::map<std::string, uint64_t>;
  return figures;
}

// A failure each, but not ten thousand.
void Complain(const std::string& text) {
  static int said = 0;
  if (++said <= 40) {
    ADD_FAILURE() << text;
  } else {
    GTEST_FAIL_AT(__FILE__, __LINE__) << "one more";
  }
}

// -- Members
// ---------------------------------------------------------------------------------------

template <class V>
V Load(const void* object, const Member& member) {
  V v;
  std::memcpy(&v, static_cast<const char*>(object) + member.offset, sizeof(v));
  return v;
}
template <class V>
void Store(void* object, const Member& member, V v) {
  std::memcpy(static_cast<char*>(object) + member.offset, &v, sizeof(v));
}

void Set(void* object, const Member& member, uint64_t integer, double real) {
  switch (member.kind) {
    case BINDING_BOOL:
      return Store(object, member, integer != 0);
    case BINDING_U32:
    case BINDING_I32:
      return Store(object, member, static_cast<uint32_t>(integer));
    case BINDING_U64:
    case BINDING_I64:
      return Store(object, member, integer);
    case BINDING_FLOAT:
      return Store(object, member, static_cast<float>(real));
    case BINDING_DOUBLE:
      return Store(object, member, real);
  }
}
void Set(void* object, const Member& member, const Value& value) {
  const bool is_signed = value.kind == decode::ValueKind::kSigned;
  Set(object, member, is_signed ? static_cast<uint64_t>(value.signed_value) : value.unsigned_value,
      value.real);
}

struct Got {
  uint64_t integer = 0;
  double real = 0;
};
Got Get(const void* object, const Member& member) {
  switch (member.kind) {
    case BINDING_BOOL:
      return {Load<uint8_t>(object, member), 0};
    case BINDING_U32:
      return {Load<uint32_t>(object, member), 0};
    case BINDING_I32:
      return {static_cast<uint64_t>(int64_t{Load<int32_t>(object, member)}), 0};
    case BINDING_FLOAT:
      return {0, static_cast<double>(Load<float>(object, member))};
    case BINDING_DOUBLE:
      return {0, Load<double>(object, member)};
    default:
      return {Load<uint64_t>(object, member), 0};
  }
}
bool IsRealMember(const Member& member) {
  return member.kind == BINDING_FLOAT || member.kind == BINDING_DOUBLE;
}

// Whether a member has the value that the tables read.
bool Equals(const void* object, const Member& member, const Value& value) {
  const Got got = Get(object, member);
  if (IsRealMember(member)) {
    const double want = member.kind == BINDING_FLOAT
                            ? static_cast<double>(static_cast<float>(value.real))
                            : value.real;
    if (std::isnan(want)) return std::isnan(got.real);
    return got.real == want && std::signbit(got.real) == std::signbit(want);
  }
  if (value.kind == decode::ValueKind::kSigned) {
    return got.integer == static_cast<uint64_t>(value.signed_value);
  }
  if (value.kind == decode::ValueKind::kAddress) {
    // Records have the bits of an address alone; a wide offset may hold more.
    const uint64_t mask = World::Get().description->tables().address_mask();
    return decode::MaskAddress(got.integer, mask) == value.unsigned_value;
  }
  return got.integer == value.unsigned_value;
}

std::string Show(const void* object, const Member& member) {
  const Got got = Get(object, member);
  return IsRealMember(member) ? absl::StrCat(member.path, " = ", got.real)
                              : absl::StrCat(member.path, " = 0x", absl::Hex(got.integer));
}

// -- Packets
// ---------------------------------------------------------------------------------------

// A packet as C++ has it: the object and what follows it.
struct Packet {
  explicit Packet(const Type& t)
      : type(&t), container(&World::Get().container(t)), head(t.object_size, 1, t.construct) {}

  // Makes room for what `bytes` say: items and parts that repeat.
  void Grow(absl::Span<const uint8_t> bytes) {
    const World& world = World::Get();
    lists.clear();
    if (type->lists.empty()) return;
    std::vector<unsigned> counts(type->lists.size());
    for (const FieldAt& at : FieldsOf(world.description->tables(), world.container(*type), bytes)) {
      const int list = ListOf(at);
      if (list >= 0) counts[list] = std::max(counts[list], IndexIn(at) + 1);
    }
    for (size_t i = 0; i < counts.size(); ++i) {
      lists.emplace_back(type->lists[i].size, counts[i], type->lists[i].construct);
    }
  }

  static unsigned IndexIn(const FieldAt& at) {
    return static_cast<unsigned>(at.in_tail ? at.name.index : at.name.part_index);
  }
  // -1: the object itself.
  int ListOf(const FieldAt& at) const {
    if (!at.in_tail && at.name.part_index < 0) return -1;
    for (size_t i = 0; i < type->lists.size(); ++i) {
      if (at.in_tail ? type->lists[i].part[0] == 0 : at.name.part == type->lists[i].part) {
        return static_cast<int>(i);
      }
    }
    return -1;
  }
  void* ObjectOf(const FieldAt& at) {
    const int list = ListOf(at);
    return list < 0 ? head[0] : lists[list][IndexIn(at)];
  }
  const Member* MemberOf(const FieldAt& at) const {
    return World::Get().Find(*container, at.name.part, *at.leaf);
  }

  std::vector<Objects> Lists() const {
    std::vector<Objects> all(std::max<size_t>(lists.size(), 1));
    for (size_t i = 0; i < lists.size(); ++i) all[i] = {lists[i][0], lists[i].count()};
    return all;
  }
  unsigned Needed() const { return type->needed(head[0], lists.empty() ? 0 : lists[0].count()); }
  error Pack(std::vector<uint8_t>& to, checks how = checks::on) const {
    return type->pack(head[0], Lists().data(), to.data() + kMargin, how);
  }

  // All members of the object that bits decide, to what zero bits mean.
  void Zero() {
    const World& world = World::Get();
    for (const Leaf& leaf : world.description->tables().leaves(container->leaves)) {
      const Member* member = world.Find(*container, "", leaf);
      if (member != nullptr) Set(head[0], *member, world.description->Decoded(leaf, 0));
    }
  }

  void Read(absl::Span<const uint8_t> bytes) {
    const std::vector<uint8_t> copy = Room(bytes);
    const unsigned words = static_cast<unsigned>(bytes.size()) / type->word;
    type->unpack(copy.data(), words, head[0]);
    lists.clear();
    for (const List& list : type->lists) {
      const unsigned count = list.read(copy.data(), words, nullptr, 0);
      lists.emplace_back(list.size, count, list.construct);
      list.read(copy.data(), words, lists.back()[0], count);
    }
  }

  // A copy at an address of its own, so that a sanitizer sees reads past the end.
  static std::vector<uint8_t> Room(absl::Span<const uint8_t> bytes) {
    return {bytes.begin(), bytes.end()};
  }

  const Type* type;
  const Container* container;
  Storage head;
  std::vector<Storage> lists;
};

std::vector<uint8_t> Canaries(size_t bytes, unsigned char fill = kCanary) {
  std::vector<uint8_t> memory(bytes + 2 * kMargin, kCanary);
  std::fill(memory.begin() + kMargin, memory.end() - kMargin, fill);
  return memory;
}
std::vector<uint8_t> InCanaries(const std::vector<uint8_t>& bytes) {
  std::vector<uint8_t> memory = Canaries(bytes.size());
  std::copy(bytes.begin(), bytes.end(), memory.begin() + kMargin);
  return memory;
}
std::string Hex(const std::vector<uint8_t>& memory) {
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(memory.data()), memory.size()));
}

// The aggregate that a vector describes. Complains and returns null where it does not fit the
// types.
std::unique_ptr<Packet> PacketOf(const ReadVector& vector) {
  World& world = World::Get();
  const std::string where = absl::StrCat(vector.container, ", ", vector.what, ": ");
  const Type* type = world.type(vector.container);
  if (type == nullptr) {
    Complain(where + "no such type");
    return nullptr;
  }
  auto packet = std::make_unique<Packet>(*type);
  packet->Grow(vector.packed);
  packet->Zero();
  std::map<std::string, Number> given(vector.fields.begin(), vector.fields.end());
  for (const FieldAt& at :
       FieldsOf(world.description->tables(), world.container(*type), vector.packed)) {
    if (!Description::IsValue(*at.leaf)) continue;
    const Member* member = packet->MemberOf(at);
    if (member == nullptr) {
      Complain(absl::StrCat(where, "no member for ", NameOf(at)));
      return nullptr;
    }
    const auto field = given.empty() ? given.end() : given.find(NameOf(at));
    if (field == given.end()) {
      Set(packet->ObjectOf(at), *member, world.description->Decoded(*at.leaf, 0));
    } else {
      Set(packet->ObjectOf(at), *member, field->second.integer, field->second.real);
      given.erase(field);
    }
  }
  for (const auto& [name, number] : given) {
    Complain(absl::StrCat(where, "the packet has no field ", name));
  }
  return packet;
}

// Every field of a packet against what the tables read in `bytes`.
void ExpectFields(Packet& packet, absl::Span<const uint8_t> bytes, const std::string& where) {
  World& world = World::Get();
  static uint64_t& fields_read = Figures()["fields read"];
  for (const FieldAt& at : FieldsOf(world.description->tables(), *packet.container, bytes)) {
    if (!Description::IsValue(*at.leaf)) continue;
    const Member* member = packet.MemberOf(at);
    if (member == nullptr) continue;  // another test's
    const int list = packet.ListOf(at);
    if (list >= 0 && packet.lists[list].count() <= Packet::IndexIn(at)) {
      Complain(absl::StrCat(where, ": unpacking did not find ", NameOf(at)));
      continue;
    }
    const Value want =
        world.description->Decoded(*at.leaf, decode::ReadBits(bytes, at.bit, at.width));
    ++fields_read;
    if (!Equals(packet.ObjectOf(at), *member, want)) {
      Complain(absl::StrCat(where, ": unpacked ", Show(packet.ObjectOf(at), *member),
                            ", but the tables read 0x", absl::Hex(want.unsigned_value), " / ",
                            want.signed_value, " / ", want.real));
    }
  }
}

// Everything that must hold of a packet whose values are good and whose bytes are known.
void ExpectPacks(Packet& packet, const std::vector<uint8_t>& packed, const std::string& where) {
  const Type& type = *packet.type;
  const std::vector<uint8_t> want = InCanaries(packed);
  if (packet.Needed() != packed.size()) {
    Complain(absl::StrCat(where, ": needs ", packet.Needed(), " bytes, not ", packed.size()));
    return;
  }
  for (const checks how : {checks::on, checks::off}) {
    for (const unsigned char fill : {0xff, 0x00}) {
      std::vector<uint8_t> memory = Canaries(packed.size(), fill);
      const error e = packet.Pack(memory, how);
      ++Figures()["packed"];
      if (e) {
        Complain(absl::StrCat(where, ": a good value was refused: ", to_text(e)));
        return;
      }
      if (memory != want) {
        Complain(absl::StrCat(where, how == checks::on ? "" : " (unchecked)", ":\npacked ",
                              Hex(memory), "\nnot    ", Hex(want)));
        return;
      }
    }
  }
  if (const error e = type.check(packet.head[0])) {
    Complain(absl::StrCat(where, ": check() does not agree with pack: ", to_text(e)));
  }
  if (const error e = type.verify(packed.data())) {
    Complain(absl::StrCat(where, ": does not verify: ", to_text(e)));
  }
  uint32_t first = 0;
  std::memcpy(&first, packed.data(), std::min<size_t>(4, packed.size()));
  if (type.matches(first) == 0) Complain(where + ": its own opcode does not match");
}

// -- The tests
// -------------------------------------------------------------------------------------

TEST(CppTypes, EveryContainerIsATypeAndEveryFieldAMember) {
  World& world = World::Get();
  const tables::Tables& t = world.description->tables();
  for (const std::string& problem : world.unbound) Complain(problem);
  std::set<std::string> seen;
  for (const Type& type : BoundTypes()) {
    EXPECT_TRUE(seen.insert(type.name).second) << type.name;
    ++Figures()["types"];
  }
  for (const std::string& name : TypesTestedElsewhere()) {
    EXPECT_TRUE(seen.insert(name).second) << name;
    EXPECT_NE(t.FindContainer(name), tables::kNone) << name;
    ++Figures()["types tested elsewhere"];
  }
  for (const Container& c : t.containers()) {
    const std::string name(t.string(c.name));
    if (world.type(name) == nullptr && seen.count(name) != 0) continue;
    if (world.type(name) == nullptr) {
      Complain("no type for " + name);
      continue;
    }
    const auto expect = [&](absl::Span<const Leaf> leaves, const std::string& key) {
      for (const Leaf& leaf : leaves) {
        if (!Description::IsValue(leaf)) continue;
        ++Figures()["fields"];
        if (world.Find(c, key, leaf) == nullptr) {
          Complain(absl::StrCat(name, ": no member for ", key, " ", t.string(leaf.name)));
        }
      }
    };
    expect(t.leaves(c.leaves), "");
    expect(t.leaves(c.tail_leaves), "");
    for (const tables::Part& part : t.parts(c.parts)) {
      expect(t.leaves(t.container(part.container).leaves), std::string(t.string(part.name)));
    }
  }
}

TEST(CppTypes, PackingTheVectorsValuesGivesTheirBytesAndNothingBesideThem) {
  std::set<std::string> containers;
  for (const ReadVector& vector : World::Get().vectors) {
    ++Figures()["vectors"];
    containers.insert(vector.container);
    const std::unique_ptr<Packet> packet = PacketOf(vector);
    if (packet == nullptr) continue;
    ExpectPacks(*packet, vector.packed, absl::StrCat(vector.container, ", ", vector.what));
  }
  EXPECT_EQ(containers.size(), BoundTypes().size()) << "containers without vectors";
}

TEST(CppTypes, UnpackingTheVectorsBytesGivesTheirValues) {
  for (const ReadVector& vector : World::Get().vectors) {
    const Type* type = World::Get().type(vector.container);
    ASSERT_NE(type, nullptr) << vector.container;
    Packet packet(*type);
    packet.Read(vector.packed);
    const std::string where = absl::StrCat(vector.container, ", ", vector.what);
    ExpectFields(packet, vector.packed, where);
    // Members that are mentioned have the very values that the file says.
    std::map<std::string, Number> given(vector.fields.begin(), vector.fields.end());
    for (const FieldAt& at : FieldsOf(World::Get().description->tables(),
                                      World::Get().container(*type), vector.packed)) {
      const auto field = given.empty() ? given.end() : given.find(NameOf(at));
      const Member* member = packet.MemberOf(at);
      if (field == given.end() || member == nullptr) continue;
      const Got got = Get(packet.ObjectOf(at), *member);
      if (IsRealMember(*member) ? got.real != field->second.real
                                : got.integer != field->second.integer) {
        Complain(absl::StrCat(where, ": unpacked ", Show(packet.ObjectOf(at), *member)));
      }
      given.erase(field);
    }
    // One field alone is printed as it is among others.
    if (vector.what.compare(0, 4, "only") == 0) continue;
    const std::string text = type->text(packet.head[0]);
    if (text.compare(0, std::strlen(type->name), type->name) != 0) {
      Complain(absl::StrCat(where, ": printed as ", text));
    }
  }
}

TEST(CppTypes, RandomValuesSurviveBeingPackedAndUnpacked) {
  World& world = World::Get();
  for (const Type& type : BoundTypes()) {
    Random random(SeedOf(absl::StrCat("survive ", type.name)));
    for (int i = 0; i < 8; ++i) {
      const std::optional<Vector> made =
          RandomVector(*world.description, world.container(type), random);
      if (!made) continue;  // a form that the length cannot say
      ReadVector vector{type.name, absl::StrCat("random ", i), made->packed, {}};
      for (const FieldValue& field : made->fields) {
        Number number;
        number.integer = field.value.kind == decode::ValueKind::kSigned
                             ? static_cast<uint64_t>(field.value.signed_value)
                             : field.value.unsigned_value;
        number.real = field.value.real;
        vector.fields.emplace_back(field.name, number);
      }
      const std::unique_ptr<Packet> packet = PacketOf(vector);
      if (packet == nullptr) continue;
      const std::string where = absl::StrCat(type.name, ", survive ", i);
      ExpectPacks(*packet, vector.packed, where);
      Packet again(type);
      again.Read(vector.packed);
      ExpectFields(again, vector.packed, where);
      std::vector<uint8_t> memory = Canaries(vector.packed.size());
      if (const error e = again.Pack(memory)) {
        Complain(absl::StrCat(where, ": refused what it unpacked: ", to_text(e)));
      } else {
        EXPECT_EQ(Hex(memory), Hex(InCanaries(vector.packed))) << where;
      }
    }
  }
}

TEST(CppTypes, RandomBitsAreReadAsTheTablesReadThemAndNothingDescribedIsLost) {
  World& world = World::Get();
  for (const Type& type : BoundTypes()) {
    const Container& c = world.container(type);
    Random random(SeedOf(absl::StrCat("bits ", type.name)));
    for (int i = 0; i < 8; ++i) {
      const std::string where = absl::StrCat(type.name, ", bits ", i);
      // The fixed part and items; parts are other tests'.
      constexpr unsigned kItems = 3;
      const size_t size =
          c.tail_size == 0 ? c.max_bytes : c.tail_bit / 8 + kItems * (c.tail_size / 8);
      std::vector<uint8_t> bytes(size);
      for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.Next());
      if (c.length_leaf != tables::kNone) {
        // A length that cuts nothing off.
        const Leaf& leaf = world.description->tables().leaf(c.length_leaf);
        decode::WriteBits(absl::MakeSpan(bytes), leaf.bit, leaf.width,
                          size / c.length_unit - c.length_bias);
      }
      Packet packet(type);
      packet.Read(bytes);
      const size_t present = c.parts.count != 0      ? c.bytes
                             : c.variants.count != 0 ? std::min<size_t>(packet.Needed(), size)
                                                     : size;
      const absl::Span<const uint8_t> head = absl::MakeConstSpan(bytes).subspan(0, present);
      ExpectFields(packet, head, where);
      if (c.parts.count != 0) continue;
      std::vector<uint8_t> once = Canaries(size), twice = once, checked = once;
      (void)packet.Pack(once, checks::off);
      if (const error e = type.verify(once.data() + kMargin)) {
        Complain(absl::StrCat(where, ": does not verify: ", to_text(e)));
      }
      Packet second(type);
      second.Read(absl::MakeConstSpan(once).subspan(kMargin, size));
      (void)second.Pack(twice, checks::off);
      if (once != twice)
        Complain(where + ":\n" + Hex(once) + "\nis packed again as\n" + Hex(twice));
      const error e = packet.Pack(checked);
      if (checked != (e ? Canaries(size) : once)) {
        Complain(where + ": checked and unchecked pack differ, or an error wrote something");
      }
    }
  }
}

// a[1].b[2] and error{"a[].b[2]", item 1}; loops in loops name only the innermost index.
bool Names(const error& e, const std::string& path) {
  if (e.field == nullptr) return false;
  const std::string field = e.field;
  if (field.find("[]") == std::string::npos) return field == path;
  std::string index;
  size_t at = 0;
  for (size_t i = 0; i < field.size(); ++i) {
    if (field.compare(i, 2, "[]") == 0) {
      if (at >= path.size() || path[at] != '[') return false;
      const size_t end = path.find(']', at);
      index = path.substr(at + 1, end - at - 1);
      at = end + 1;
      ++i;
    } else if (at < path.size() && path[at] == field[i]) {
      ++at;
    } else {
      return false;
    }
  }
  return at == path.size() && index == std::to_string(e.item);
}

// Values around the edges of what a field can take; some fit.
std::vector<std::pair<uint64_t, double>> Edges(const Leaf& leaf, const Member& member) {
  const Description& d = *World::Get().description;
  const model::Field& field = d.field(leaf);
  std::vector<std::pair<uint64_t, double>> edges;
  if (field.clamp) return edges;  // anything fits
  if (IsRealMember(member)) {
    const double infinity = std::numeric_limits<double>::infinity();
    if (leaf.type == tables::LeafType::kUfixed || leaf.type == tables::LeafType::kSfixed) {
      const bool is_signed = leaf.type == tables::LeafType::kSfixed;
      const double top = std::ldexp(1.0, leaf.width - leaf.fraction_bits - (is_signed ? 1 : 0));
      edges = {{0, top},          {0, -top},     {0, 2 * top + 1},
               {0, -2 * top - 1}, {0, infinity}, {0, -infinity},
               {0, std::nan("")}, {0, top / 2},  {0, -top / 2}};
    } else if (leaf.type == tables::LeafType::kHalf) {
      edges = {{0, 65504}, {0, 65536}, {0, -65536}, {0, 1e10}};
    }
    if (leaf.type != tables::LeafType::kFloat) {
      // Between what the field can hold: rounded, and never from the very middle.
      for (const double v : {1 / 3.0, -1 / 3.0, 2 / 3.0, 0.1, 1.9, -1.9, 5.1, 1e-5}) {
        edges.push_back({0, v});
      }
    }
    for (const auto& limit : {field.min_real, field.max_real}) {
      if (!limit) continue;
      edges.push_back({0, *limit});
      edges.push_back({0, *limit + 1});
      edges.push_back({0, *limit - 1});
    }
    return edges;
  }
  std::set<uint64_t> values = {0, 1, 2, 3, ~uint64_t{0}};
  const auto around = [&](uint64_t v) { values.insert({v - 1, v, v + 1}); };
  const Value most = d.Decoded(leaf, Ones(leaf.width)), least = d.Decoded(leaf, 0);
  around(most.unsigned_value);
  around(least.unsigned_value);
  values.insert(most.unsigned_value + (uint64_t{1} << leaf.shift));
  around(uint64_t{1} << (leaf.width - 1));
  around(~uint64_t{0} << (leaf.width - 1));
  if (leaf.width + leaf.shift < 64) around(uint64_t{1} << (leaf.width + leaf.shift));
  if (leaf.width + leaf.shift < 63) around(uint64_t{1} << (leaf.width + leaf.shift + 1));
  if ((leaf.flags & tables::kLog2) != 0 && leaf.width < 6) {
    around(uint64_t{1} << Ones(leaf.width));
    values.insert(uint64_t{2} << Ones(leaf.width));
  }
  if (leaf.extra != tables::kNone) {
    const tables::Extra& extra = d.tables().extra(leaf.extra);
    if (extra.groups != 0) around(extra.groups * (Ones(leaf.width) + 1));
    if (extra.multiple != 0) around(extra.multiple);
    if (extra.align != 0) around(extra.align);
  }
  if (field.min) around(static_cast<uint64_t>(*field.min));
  if (field.max) around(static_cast<uint64_t>(*field.max));
  if (leaf.type == tables::LeafType::kAddress) {
    for (const unsigned bits : {48u, d.tables().address_bits()}) {
      values.insert({uint64_t{1} << (bits - 1), ~uint64_t{0} << (bits - 1)});
      if (bits < 64) values.insert({uint64_t{1} << bits, ~uint64_t{0} << bits});
    }
    values.insert(uint64_t{1} << 63);
  }
  for (const uint64_t v : values) edges.push_back({v, 0});
  return edges;
}

// What a field may hold, by the tables: the raw bits, or nothing.
std::optional<uint64_t> Wanted(const Leaf& leaf, const Value& value) {
  const Description& d = *World::Get().description;
  if (!d.IsAllowed(leaf, value)) return std::nullopt;
  if (leaf.type == tables::LeafType::kAddress) {
    // A dump may hold any bits. What is packed is an address of as many bits as the hardware's
    // have, or one sign-extended.
    const int64_t above =
        static_cast<int64_t>(value.unsigned_value) >> (d.tables().address_bits() - 1);
    if (above < -1 || above > 1) return std::nullopt;
  }
  return d.Encoded(leaf, value);
}

// For each field of each form: values at the edges of its range are packed or named, as the tables
// say.
TEST(CppTypes, AValueThatDoesNotFitIsNamedAndNothingIsWritten) {
  World& world = World::Get();
  const Description& d = *world.description;
  std::set<std::string> refused;
  std::set<std::string> done;
  for (const ReadVector& vector : world.vectors) {
    if (vector.what.compare(0, 5, "least") != 0) continue;
    const Type& type = *world.type(vector.container);
    const std::unique_ptr<Packet> packet = PacketOf(vector);
    if (packet == nullptr) continue;
    for (const FieldAt& at : FieldsOf(d.tables(), world.container(type), vector.packed)) {
      const Leaf& leaf = *at.leaf;
      const Member* member = packet->MemberOf(at);
      if (!Description::IsValue(leaf) || member == nullptr) continue;
      const std::string name = absl::StrCat(vector.container, ": ", NameOf(at));
      if (!done.insert(name).second) continue;
      void* object = packet->ObjectOf(at);
      const Got before = Get(object, *member);
      for (const auto& [integer, real] : Edges(leaf, *member)) {
        Set(object, *member, integer, real);
        const Got got = Get(object, *member);  // as wide as the member
        const Value value = d.ValueOf(leaf, got.integer, got.real);
        const std::optional<uint64_t> raw = Wanted(leaf, value);
        std::vector<uint8_t> memory = Canaries(vector.packed.size());
        if (raw && packet->Needed() != vector.packed.size()) continue;  // another form
        const error e = packet->Pack(memory);
        const std::string where = absl::StrCat(name, ": ", Show(object, *member));
        if (raw) {
          if (e && e.why == reason::count_differs) continue;  // other items would have to follow
          ++Figures()["edge values that fit"];
          if (e) {
            Complain(absl::StrCat(where, " fits, but was refused: ", to_text(e)));
          } else if (decode::ReadBits(memory, at.bit + 8 * kMargin, at.width) != *raw) {
            Complain(
                absl::StrCat(where, " was packed as 0x",
                             absl::Hex(decode::ReadBits(memory, at.bit + 8 * kMargin, at.width)),
                             ", not 0x", absl::Hex(*raw)));
          }
          continue;
        }
        ++Figures()["values refused"];
        refused.insert(name);
        // Within its own struct, for parts.
        std::string path = member->path;
        if (member->part[0] != 0) path = path.substr(path.find('.') + 1);
        const int list = packet->ListOf(at);
        // In an item, item is the item's index, unless the member is in a loop of its own.
        const bool in_loop = e.field != nullptr && std::strstr(e.field, "[]") != nullptr;
        const bool named = Names(e, path) && (list < 0 || in_loop || e.item == Packet::IndexIn(at));
        if (!e) {
          Complain(absl::StrCat(where, " does not fit, but was packed"));
        } else if (!named) {
          Complain(absl::StrCat(where, " does not fit, but the error is: ", to_text(e)));
        } else if (memory != Canaries(vector.packed.size())) {
          Complain(absl::StrCat(where, " does not fit, but something was written"));
        }
        if (list < 0 && member->part[0] == 0 && !Names(type.check(object), path)) {
          Complain(absl::StrCat(where, ": check() names ", to_text(type.check(object))));
        }
      }
      Set(object, *member, before.integer, before.real);
    }
  }
  // Not all fields can be given a wrong value: a bool, 32 bits of 32.
  Figures()["fields with values refused"] = refused.size();
}

TEST(CppTypes, BitsInWordsThatAFormDoesNotHaveAreNamed) {
  World& world = World::Get();
  const Description& d = *world.description;
  for (const ReadVector& vector : world.vectors) {
    if (vector.what.compare(0, 5, "least") != 0) continue;
    const Container& c = world.container(*world.type(vector.container));
    if (c.variants.count == 0 || vector.packed.size() == c.max_bytes) continue;
    const std::unique_ptr<Packet> packet = PacketOf(vector);
    if (packet == nullptr) continue;
    for (const Leaf& leaf : d.tables().leaves(c.leaves)) {
      const Member* member = world.Find(c, "", leaf);
      if (member == nullptr || leaf.bit < vector.packed.size() * 8) continue;
      const Got before = Get(packet->head[0], *member);
      Set(packet->head[0], *member, d.Decoded(leaf, *d.Most(leaf)));
      std::vector<uint8_t> memory = Canaries(vector.packed.size());
      const error e = packet->Pack(memory);
      ++Figures()["absent fields refused"];
      if (!e || e.why != reason::absent || !Names(e, member->path)) {
        Complain(absl::StrCat(vector.container, ": ", Show(packet->head[0], *member),
                              " has no room; the error is: ", to_text(e)));
      }
      EXPECT_EQ(memory, Canaries(vector.packed.size())) << vector.container;
      Set(packet->head[0], *member, before.integer, before.real);
    }
  }
}

TEST(CppTypes, AWrongForcedOrReservedBitIsReportedByItsName) {
  World& world = World::Get();
  const Description& d = *world.description;
  for (const ReadVector& vector : world.vectors) {
    if (vector.what.compare(0, 5, "least") != 0 && vector.what.compare(0, 4, "most") != 0) continue;
    const Type& type = *world.type(vector.container);
    for (const FieldAt& at : FieldsOf(d.tables(), world.container(type), vector.packed)) {
      constexpr uint16_t kReserved = tables::kMustBeZero | tables::kMustBeOne;
      const bool forced = (at.leaf->flags & tables::kForced) != 0;
      if ((!forced && (at.leaf->flags & kReserved) == 0) || at.in_tail || !at.name.part.empty()) {
        continue;
      }
      const std::string& own = d.item(*at.leaf).name;
      const std::string name = own.empty() ? "reserved" : own;
      for (const uint32_t bit : std::set<uint32_t>{0, at.width / 2, at.width - 1}) {
        std::vector<uint8_t> bytes = vector.packed;
        bytes[(at.bit + bit) / 8] ^= static_cast<uint8_t>(1u << (at.bit + bit) % 8);
        const error e = type.verify(bytes.data());
        ++Figures()["wrong bits reported"];
        if (!e || e.field != name || e.why != (forced ? reason::forced : reason::reserved)) {
          Complain(absl::StrCat(vector.container, ": bit ", at.bit + bit, " of ", name,
                                " is wrong; verify says: ", e ? to_text(e) : "all is well"));
        }
      }
    }
  }
}

TEST(CppTypes, DefaultsAreThoseOfTheXml) {
  World& world = World::Get();
  const Description& d = *world.description;
  for (const Type& type : BoundTypes()) {
    const Container& c = world.container(type);
    const auto expect = [&](absl::Span<const Leaf> leaves, const std::string& key,
                            const void* object) {
      for (const Leaf& leaf : leaves) {
        const Member* member = world.Find(c, key, leaf);
        if (member == nullptr) continue;
        ++Figures()["defaults"];
        if (!Equals(object, *member, d.DefaultValue(leaf))) {
          Complain(absl::StrCat(type.name, ": by default ", Show(object, *member)));
        }
      }
    };
    const Storage head(type.object_size, 1, type.construct);
    expect(d.tables().leaves(c.leaves), "", head[0]);
    for (const tables::Part& part : d.tables().parts(c.parts)) {
      if (part.repeat != tables::kNone) continue;
      expect(d.tables().leaves(d.tables().container(part.container).leaves),
             std::string(d.tables().string(part.name)), head[0]);
    }
    for (const List& list : type.lists) {
      const Storage item(list.size, 1, list.construct);
      if (list.part[0] == 0) expect(d.tables().leaves(c.tail_leaves), "", item[0]);
    }
  }
}

TEST(CppTypes, AddressesAreVisitedWhereTheyAre) {
  World& world = World::Get();
  const Description& d = *world.description;
  using Seen = std::tuple<uint64_t, unsigned, uint64_t, access>;  // bit, width, value, use
  for (const ReadVector& vector : world.vectors) {
    if (vector.what.compare(0, 6, "random") != 0) continue;
    const Type& type = *world.type(vector.container);
    const std::unique_ptr<Packet> packet = PacketOf(vector);
    if (packet == nullptr) continue;
    std::vector<Seen> want, seen;
    for (const FieldAt& at : FieldsOf(d.tables(), world.container(type), vector.packed)) {
      // Parts that repeat are passed to pack alone.
      if (at.leaf->type != tables::LeafType::kAddress || at.name.part_index >= 0 ||
          !Description::IsValue(*at.leaf)) {
        continue;
      }
      const model::Field& field = d.field(*at.leaf);
      constexpr access kUse[] = {access::none, access::read, access::write, access::read_write};
      want.emplace_back(at.bit, at.width, Get(packet->ObjectOf(at), *packet->MemberOf(at)).integer,
                        kUse[field.points.empty() ? 0 : static_cast<int>(field.points[0].access)]);
    }
    type.addresses(packet->head[0], packet->Lists().data(),
                   [&](const address& a, unsigned dword, unsigned bit, unsigned width, access use) {
                     seen.emplace_back(uint64_t{dword} * 32 + bit, width, a.gpu, use);
                   });
    std::sort(want.begin(), want.end());
    std::sort(seen.begin(), seen.end());
    Figures()["addresses"] += want.size();
    if (want != seen) {
      std::string text = absl::StrCat(vector.container, ", ", vector.what, ": visited");
      for (const auto& [bit, width, gpu, use] : seen) absl::StrAppend(&text, " ", bit, "+", width);
      absl::StrAppend(&text, " instead of");
      for (const auto& [bit, width, gpu, use] : want) absl::StrAppend(&text, " ", bit, "+", width);
      Complain(text);
    }
  }
}

}  // namespace
}  // namespace packsmith::vectors

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 3) {
    std::fprintf(stderr, "usage: cpp_test GENERATION.xml VECTORS.jsonl[.zst]\n");
    return 2;
  }
  const std::string problem = packsmith::vectors::World::Load(argv[1], argv[2]);
  if (!problem.empty()) {
    std::fprintf(stderr, "%s\n", problem.c_str());
    return 1;
  }
  const int result = RUN_ALL_TESTS();
  for (const auto& [what, count] : packsmith::vectors::Figures()) {
    std::printf("%8llu %s\n", static_cast<unsigned long long>(count), what.c_str());
  }
  return result;
}
