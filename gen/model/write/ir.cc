#include "gen/model/write/ir.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gen/model/names.h"
#include "gen/model/write/faces.h"
#include "gen/model/write/fixed.h"
#include "gen/model/write/json.h"
#include "gen/model/write/leaves.h"

namespace packsmith::model {
namespace {

class Writer {
 public:
  Writer(const Model& model, const Sources& sources)
      : model_(model), sources_(sources), faces_(model) {}

  std::string Run() {
    json_.StartObject();
    json_.Member("ir", 2);
    json_.Member("family", model_.family);
    json_.Member("generation", model_.generation);
    json_.Member("version_x10", model_.version_x10);
    json_.Member("title", model_.title);
    json_.Member("namespace", model_.cpp_namespace);
    json_.Member("c_prefix", model_.c_prefix);
    json_.Member("unit", model_.byte_unit ? "byte" : "dword");
    json_.Member("digest", model_.digest);
    json_.Strings("inputs", model_.inputs);
    json_.Member("doc", model_.doc);
    json_.Member("source", model_.source);
    json_.Array("engines", model_.engines, [this](const Engine& e) {
      json_.Member("name", e.name);
      json_.Strings("aliases", absl::StrSplit(e.aliases, ' ', absl::SkipEmpty()));
      json_.Member("doc", e.doc);
    });
    json_.Array("spaces", model_.spaces, [this](const Space& s) {
      json_.Member("name", s.name);
      json_.Member("number", s.number);
    });
    json_.Array("bases", model_.bases, [this](const Base& b) {
      json_.Member("name", b.name);
      json_.Member("doc", b.doc);
    });
    json_.Array("streams", model_.streams, [this](const Stream& s) {
      json_.Member("name", s.name);
      json_.Strings("engines", EngineNames(s.engines));
      json_.Member("align", s.align);
      json_.Member("doc", s.doc);
    });
    json_.Key("usual_leaf");
    WriteUsualLeaf(model_, faces_, json_);
    WriteEnums("enums", false);
    WriteEnums("codes", true);
    json_.Key("containers");
    json_.StartArray();
    for (const int i : model_.nesting_order) {
      json_.StartObject();
      WriteContainer(model_.containers[static_cast<size_t>(i)]);
      json_.EndObject();
    }
    json_.EndArray();
    json_.EndObject();
    return json_.Finish();
  }

 private:
  std::vector<std::string> EngineNames(uint64_t mask) const {
    std::vector<std::string> names;
    if (mask == ~uint64_t{0}) return names;
    for (size_t i = 0; i < model_.engines.size() && i < 64; ++i) {
      if (mask >> i & 1) names.push_back(model_.engines[i].name);
    }
    return names;
  }

  // --- Enumerations ---

  // only_names: those that are no member's type, but what the values of some members are called.
  void WriteEnums(absl::string_view key, bool only_names) {
    json_.Key(key);
    json_.StartArray();
    for (const Enum& e : model_.enums) {
      if (e.only_names() != only_names) continue;
      json_.StartObject();
      WriteEnum(e);
      json_.EndObject();
    }
    json_.EndArray();
  }
  void WriteEnum(const Enum& e) {
    json_.Member("name", e.name);
    json_.Member("doc", e.doc);
    json_.Member("source", e.source);
    json_.Member("cpp", CppName(e.name));
    json_.Member("c", faces_.c_names().EnumType(e.name));
    json_.Array("values", e.values, [&](const Value& v) {
      json_.Member("name", v.name);
      json_.Member("value", v.value);
      json_.Member("cpp", CppName(v.name));
      json_.Member("c", faces_.c_names().Enumerator(e.name, e.prefix, v.name));
      json_.Member("doc", v.doc);
      json_.Member("avoid", v.avoid);
    });
  }

  // --- Members ---

  void WriteDims(const std::vector<uint32_t>& dims) {
    json_.Key("dims");
    json_.StartArray();
    for (const uint32_t d : dims) json_.Uint(d);
    json_.EndArray();
  }

  void WriteMembers(const Container& c, const std::vector<Item>& items, std::vector<uint32_t> dims,
                    Face face) {
    for (const Item& described : items) {
      const Item& item = faces_.SeenAs(described, face);
      if (const Field* const field = item.field()) WriteMember(c, *field, dims, face);
      if (const Group* const group = item.group()) WriteGroup(c, *group, dims, face);
    }
  }

  void WriteGroup(const Container& c, const Group& group, const std::vector<uint32_t>& dims,
                  Face face) {
    const uint32_t count = Faces::ItemsIn(group, face);
    if (count == 0) return;
    std::vector<uint32_t> inner = dims;
    // One item of a tail is no array.
    if (!group.tail || count > 1) inner.push_back(count);
    if (group.name.empty() || face == Face::kC) {
      WriteMembers(c, group.items, inner, face);
      return;
    }
    json_.StartObject();
    json_.Member("name", group.name);
    json_.Member("doc", group.doc);
    json_.Member("id", group.spelled.cpp);
    // The type is declared in place; its name must differ from the member's.
    json_.Member("type", absl::StrCat(group.spelled.cpp, "_item"));
    WriteDims(inner);
    json_.Null("default");
    json_.Key("members");
    json_.StartArray();
    WriteMembers(c, group.items, {}, face);
    json_.EndArray();
    json_.EndObject();
  }

  void WriteMember(const Container& c, const Field& field, const std::vector<uint32_t>& dims,
                   Face face) {
    if (face == Face::kCpp && (field.forced || &field == c.length_field)) return;
    json_.StartObject();
    json_.Member("name", field.name);
    json_.Member("doc", field.doc);
    json_.Member("unit", field.unit);
    json_.Member("id", face == Face::kCpp ? field.spelled.cpp : field.spelled.c);
    json_.Member("type", faces_.TypeOf(field, face));
    WriteDims(dims);
    if (face == Face::kCpp) {
      json_.Member("default", faces_.CppDefault(field));
    } else {
      json_.MemberOrNull("default", dims.empty() ? faces_.CDefault(c, field) : "");
    }
    json_.EndObject();
  }

  // --- Containers ---

  void WriteCondition(absl::string_view key, const Condition& condition, Face face) {
    json_.Key(key);
    if (condition.empty()) {
      json_.Null();
      return;
    }
    json_.StartArray();
    for (const std::vector<Term>& clause : condition) {
      json_.StartArray();
      for (const Term& term : clause) {
        json_.StartObject();
        json_.Member("path",
                     face == Face::kCpp ? term.ref.field->spelled.cpp : term.ref.field->spelled.c);
        json_.Member("op", term.negated ? "ne" : "eq");
        json_.Member("value", term.value);
        json_.Member("type", TypeName(*term.ref.field));
        json_.EndObject();
      }
      json_.EndArray();
    }
    json_.EndArray();
  }

  void WritePositions(const Container& c, const std::vector<Item>& items, uint32_t base,
                      std::set<std::string>& seen) {
    for (const Item& described : items) {
      const Item& item = faces_.SeenAs(described, Face::kC);
      if (const Group* const group = item.group()) {
        WritePositions(c, group->items, base + group->bit, seen);
      } else if (const Field* const field = item.field()) {
        const std::string name = absl::StrCat(c.spelled.c, "_", field->spelled.c);
        if (!seen.insert(name).second) continue;
        json_.StartObject();
        json_.Member("name", field->name);
        json_.Member("c", name);
        json_.Member("start", base + field->bit);
        json_.Member("bits", field->in_c.bits == 0 ? field->width : field->in_c.bits);
        json_.EndObject();
      }
    }
  }

  // Values of an int are kept in two's complement, and may be negative.
  void WriteConstantValue(const Field& field, const Value& v) {
    if (field.type == FieldType::kInt) {
      json_.Member("value", static_cast<int64_t>(v.value));
    } else {
      json_.Member("value", v.value);
    }
  }

  void WriteConstants(const std::vector<Item>& items, std::set<std::string>& seen) {
    for (const Item& item : items) {
      if (const Group* const group = item.group()) WriteConstants(group->items, seen);
      const Field* const field = item.field();
      if (field == nullptr) continue;
      for (const Value& v : field->values) {
        const std::string name =
            CppConstant(field->alias.empty() ? field->name : field->alias, v.name);
        if (!seen.insert(name).second) continue;
        json_.StartObject();
        json_.Member("cpp", name);
        json_.Member("type", faces_.CppType(*field));
        WriteConstantValue(*field, v);
        json_.Member("doc", v.doc);
        json_.EndObject();
      }
    }
  }

  void WriteCValues(const std::vector<Item>& items) {
    for (const Item& item : items) {
      if (const Group* const group = item.group()) WriteCValues(group->items);
      const Field* const field = item.field();
      if (field == nullptr) continue;
      for (const Value& v : field->values) {
        const std::string name = faces_.c_names().FieldValue(field->prefix, v.name);
        if (!c_values_.insert(name).second) continue;
        json_.StartObject();
        json_.Member("c", name);
        WriteConstantValue(*field, v);
        json_.EndObject();
      }
    }
  }

  // Up to where C packs members. What lies beyond <T>_length, of a longer variant or of a tail that
  // users of genxml know as members, is packed as far as the length field counts it.
  static uint32_t BitsInC(const Container& c) {
    uint32_t bits = std::max(c.byte_unit || c.variable ? c.max_bytes * 8 : c.bytes * 8,
                             c.in_c.dwords.value_or(0) * 32);
    if (c.length_field == nullptr || c.byte_unit) return bits;
    bits = std::max(bits, c.max_bytes * 8);
    if (c.tail != nullptr) bits = std::max(bits, c.tail->bit + c.tail->in_c.count * c.tail->width);
    return bits;
  }

  void WriteContainer(const Container& c) {
    constexpr const char* kKinds[] = {"packet", "struct", "register"};
    const LineColumn at = sources_.file(c.where.file).Find(c.where.offset);
    json_.Member("kind", kKinds[static_cast<int>(c.kind)]);
    json_.Member("name", c.name);
    json_.Strings("aliases", c.aliases);
    json_.Member("doc", c.doc);
    json_.Member("source", c.source);
    json_.Member("file", sources_.file(c.where.file).path());
    json_.Member("line", at.line);
    json_.Member("cpp", c.spelled.cpp);
    json_.Member("c", c.spelled.c);
    json_.Member("unit", c.byte_unit ? "byte" : "dword");
    json_.Member("bytes", c.bytes);
    json_.Member("max_bytes", c.max_bytes);
    json_.Member("words", (c.max_bytes + 3) / 4);
    if (c.in_c.dwords) {
      json_.Member("c_length", *c.in_c.dwords);
    } else if (c.variable || c.byte_unit) {
      json_.Null("c_length");
    } else {
      json_.Member("c_length", c.bytes / 4);
    }
    if (c.length_field != nullptr) {
      json_.Member("length_bias", c.length_bias);
      json_.Key("length");
      json_.StartObject();
      json_.Member("name", c.length_field->name);
      json_.Member("bit", c.length_field->bit);
      json_.Member("width", c.length_field->width);
      json_.Member("bias", c.length_bias);
      json_.Member("unit_bytes", c.byte_unit ? 1 : 4);
      json_.Member("c", c.length_field->spelled.c);
      json_.EndObject();
    } else {
      if (c.kind == ContainerKind::kPacket && c.length_bias != 0) {
        json_.Member("length_bias", c.length_bias);
      } else {
        json_.Null("length_bias");
      }
      json_.Null("length");
    }
    json_.Strings("engines", c.kind == ContainerKind::kPacket ? EngineNames(c.engines)
                                                              : std::vector<std::string>());
    json_.Member("stream",
                 c.stream < 0 ? std::string() : model_.streams[static_cast<size_t>(c.stream)].name);
    constexpr const char* kRoles[] = {"other", "draw", "dispatch"};
    json_.Member("role", kRoles[static_cast<int>(c.role)]);
    if (c.kind == ContainerKind::kRegister) {
      json_.Member("register_offset", c.register_offset);
      json_.Member("c_offset", c.in_c.offset.value_or(c.register_offset));
    } else {
      json_.Null("register_offset");
      json_.Null("c_offset");
    }
    json_.Key("identify");
    if (c.identify_mask == 0) {
      json_.Null();
    } else {
      json_.StartObject();
      json_.Hex("mask", c.identify_mask);
      json_.Hex("value", c.identify_value);
      json_.Member("bytes", c.identify_bytes);
      json_.EndObject();
    }
    WriteBody(c);
    json_.Key("c_values");
    json_.StartArray();
    WriteCValues(c.items);
    json_.EndArray();
    json_.Key("c_members");
    json_.StartArray();
    WriteMembers(c, c.items, {}, Face::kC);
    json_.EndArray();
    WriteLeaves(model_, faces_, json_, c, Face::kC, BitsInC(c), "c_leaves", "c_loops");
    std::set<std::string> seen;
    json_.Key("positions");
    json_.StartArray();
    WritePositions(c, c.items, 0, seen);
    json_.EndArray();
    json_.Array("variants", c.variants, [this](const Variant& v) {
      json_.Member("bytes", v.bytes);
      WriteCondition("when", v.when.is, Face::kCpp);
    });
    json_.Array("parts", c.parts, [this](const Part& p) {
      const Container& nested = model_.containers[static_cast<size_t>(p.struct_name.index)];
      json_.Member("name", p.name);
      json_.Member("id", p.cpp);
      json_.Member("struct", nested.spelled.cpp);
      json_.Member("bytes", nested.bytes);
      WriteCondition("when", p.when.is, Face::kCpp);
      const Expression& repeat = p.repeat.is;
      if (repeat.kind == Expression::Kind::kNone) {
        json_.Null("repeat");
        return;
      }
      json_.Key("repeat");
      json_.StartObject();
      json_.MemberOrNull(
          "path", repeat.kind == Expression::Kind::kField ? repeat.ref.field->spelled.cpp : "");
      if (repeat.power) json_.Member("power", true);
      json_.Member("multiply", repeat.multiply);
      json_.Member("add", repeat.add);
      json_.EndObject();
    });
    json_.Key("pad");
    if (c.pad.to == 0) {
      json_.Null();
    } else {
      json_.StartObject();
      json_.Member("to", c.pad.to);
      WriteCondition("when", c.pad.when.is, Face::kCpp);
      json_.EndObject();
    }
    json_.Array("relations", c.relations, [this](const Relation& r) {
      json_.Member("kind", kRelationNames[static_cast<size_t>(r.kind)]);
      json_.Member("packet", model_.containers[static_cast<size_t>(r.packet.index)].name);
    });
    WriteTail(c);
  }

  // What a container and the item of a tail have in common.
  void WriteBody(const Container& c) {
    std::set<std::string> seen;
    json_.Key("constants");
    json_.StartArray();
    WriteConstants(c.items, seen);
    json_.EndArray();
    json_.Key("members");
    json_.StartArray();
    WriteMembers(c, c.items, {}, Face::kCpp);
    json_.EndArray();
    WriteLeaves(model_, faces_, json_, c, Face::kCpp, c.max_bytes * 8, "leaves", "loops");
    WriteFixed(model_, json_, c);
  }

  void WriteTail(const Container& c) {
    json_.Key("tail");
    if (c.tail == nullptr) {
      json_.Null();
      return;
    }
    const Group& tail = *c.tail;
    const ItemBase& named = tail.name.empty() ? tail.items[0].base() : tail;
    json_.StartObject();
    json_.Member("name", named.name);
    json_.Member("id", named.spelled.cpp);
    json_.Member("start_bit", tail.bit);
    json_.Member("item_bytes", tail.width / 8);
    if (tail.most != 0) {
      json_.Member("max", tail.most);
    } else {
      json_.Null("max");
    }
    const Field* const only = tail.items.size() == 1 ? tail.items[0].field() : nullptr;
    const bool one_struct = only != nullptr && only->type == FieldType::kStruct && only->bit == 0;
    if (one_struct) {
      json_.Member("struct", model_.containers[static_cast<size_t>(only->type_index)].spelled.cpp);
      json_.Null("item");
    } else {
      json_.Null("struct");
      // The item as a container of its own, declared inside of its packet.
      Container item;
      item.kind = ContainerKind::kStruct;
      item.name = c.name;
      item.where = tail.where;
      item.byte_unit = c.byte_unit;
      item.bytes = item.max_bytes = tail.width / 8;
      item.items = tail.items;
      json_.Key("item");
      json_.StartObject();
      json_.Member("cpp", "item");
      json_.Member("unit", item.byte_unit ? "byte" : "dword");
      json_.Member("bytes", item.bytes);
      json_.Member("max_bytes", item.max_bytes);
      json_.Member("words", (item.bytes + 3) / 4);
      json_.Member("doc", tail.doc);
      WriteBody(item);
      json_.EndObject();
    }
    json_.EndObject();
  }

  const Model& model_;
  const Sources& sources_;
  Faces faces_;
  Json json_;
  std::set<std::string> c_values_;
};

}  // namespace

std::string WriteIr(const Model& model, const Sources& sources) {
  return Writer(model, sources).Run();
}

}  // namespace packsmith::model
