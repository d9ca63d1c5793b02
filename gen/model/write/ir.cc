#include "gen/model/write/ir.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gen/model/names.h"
#include "gen/model/write/items.h"
#include "gen/model/write/json.h"

namespace packsmith::model {
namespace {

class Writer {
 public:
  Writer(const Model& model, const Sources& sources) : model_(model), sources_(sources) {}

  std::string Run() {
    json_.StartObject();
    json_.Member("ir", 3);
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
    json_.Member("address_bits", model_.address_bits);
    json_.Key("usual_item");
    WriteUsualItem(model_, json_);
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

  // only_names: the enumerations that only name values, and are not the type of a member.
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
    WriteSpelling(json_, {CppName(e.name), c_names_.EnumType(e.name)});
    json_.Array("values", e.values, [&](const Value& v) {
      json_.Member("name", v.name);
      json_.Member("value", v.value);
      WriteSpelling(json_, {CppName(v.name), c_names_.Enumerator(e.name, e.prefix, v.name)});
      json_.Member("doc", v.doc);
      json_.Member("avoid", v.avoid);
    });
  }

  // --- Containers ---

  void WriteField(const Field& field) {
    json_.Member("name", field.name);
    WriteSpelling(json_, field.spelled);
  }

  // Alternatives, each of tests that all hold; null: always.
  void WriteCondition(absl::string_view key, const Condition& condition) {
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
        WriteField(*term.ref.field);
        json_.Member("type", TypeName(*term.ref.field));
        json_.Member("op", term.negated ? "ne" : "eq");
        json_.Member("value", term.value);
        json_.EndObject();
      }
      json_.EndArray();
    }
    json_.EndArray();
  }

  // Null: once.
  void WriteRepeat(const Expression& repeat) {
    json_.Key("repeat");
    if (repeat.kind == Expression::Kind::kNone) {
      json_.Null();
      return;
    }
    json_.StartObject();
    if (repeat.kind == Expression::Kind::kField) {
      json_.Key("field");
      json_.StartObject();
      WriteField(*repeat.ref.field);
      json_.EndObject();
    } else {
      json_.Null("field");
    }
    json_.Member("power", repeat.power);
    json_.Member("multiply", repeat.multiply);
    json_.Member("add", repeat.add);
    json_.EndObject();
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
    WriteSpelling(json_, c.spelled);
    json_.Member("unit", c.byte_unit ? "byte" : "dword");
    json_.Member("bytes", c.bytes);
    json_.Member("max_bytes", c.max_bytes);
    json_.Member("variable", c.variable);
    WriteInC(c.in_c);
    if (c.length_field != nullptr) {
      json_.Member("length_bias", c.length_bias);
      json_.Key("length");
      json_.StartObject();
      WriteField(*c.length_field);
      json_.Member("bit", c.length_field->bit);
      json_.Member("width", c.length_field->width);
      json_.Member("bias", c.length_bias);
      json_.Member("unit_bytes", c.byte_unit ? 1 : 4);
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
    } else {
      json_.Null("register_offset");
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
    WriteItems(model_, json_, c);
    json_.Array("variants", c.variants, [this](const Variant& v) {
      json_.Member("bytes", v.bytes);
      WriteCondition("when", v.when.is);
    });
    json_.Array("parts", c.parts, [this](const Part& p) {
      json_.Member("name", p.name);
      json_.Member("cpp", p.cpp);
      json_.Member("struct", model_.containers[static_cast<size_t>(p.struct_name.index)].name);
      WriteCondition("when", p.when.is);
      WriteRepeat(p.repeat.is);
    });
    json_.Key("pad");
    if (c.pad.to == 0) {
      json_.Null();
    } else {
      json_.StartObject();
      json_.Member("to", c.pad.to);
      WriteCondition("when", c.pad.when.is);
      json_.EndObject();
    }
    json_.Array("relations", c.relations, [this](const Relation& r) {
      json_.Member("kind", kRelationNames[static_cast<size_t>(r.kind)]);
      json_.Member("packet", model_.containers[static_cast<size_t>(r.packet.index)].name);
    });
  }

  void WriteInC(const ContainerInC& in_c) {
    json_.Key("in_c");
    json_.StartObject();
    if (in_c.dwords) json_.Member("dwords", *in_c.dwords);
    if (in_c.offset) json_.Member("offset", *in_c.offset);
    json_.EndObject();
  }

  const Model& model_;
  const Sources& sources_;
  const CNames c_names_{model_.c_prefix, model_.byte_unit};
  Json json_;
};

}  // namespace

std::string WriteIr(const Model& model, const Sources& sources) {
  return Writer(model, sources).Run();
}

}  // namespace packsmith::model
