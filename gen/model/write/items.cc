#include "gen/model/write/items.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gen/model/ast/field_limits.h"
#include "gen/model/names.h"

namespace packsmith::model {
namespace {

// The shortest text that reads back as the same number, with a point or an
// exponent.
std::string RealText(double value) {
  for (int precision = 1; precision < 18; ++precision) {
    char text[40];
    std::snprintf(text, sizeof(text), "%.*g", precision, value);
    if (std::atof(text) == value) {
      return absl::string_view(text).find_first_of(".e") == absl::string_view::npos
                 ? absl::StrCat(text, ".0")
                 : text;
    }
  }
  return absl::StrFormat("%.17g", value);
}

class ItemWriter {
 public:
  ItemWriter(const Model& model, Json& json) : model_(model), json_(json) {}

  void WriteUsual() {
    usual_ = true;
    json_.StartObject();
    json_.Member("kind", "field");
    WriteField({}, {});
    json_.EndObject();
    usual_ = false;
  }

  void WriteAll(const Container& c, const std::vector<Item>& items) {
    json_.Key("items");
    json_.StartArray();
    for (const Item& item : items) {
      json_.StartObject();
      json_.Member("name", item.base().name);
      json_.Member("bit", item.base().bit);
      json_.Member("width", item.base().width);
      if (const Reserved* const run = item.reserved()) WriteReserved(*run);
      if (const Group* const group = item.group()) WriteGroup(c, *group);
      if (const Field* const field = item.field()) {
        WriteSpelling(json_, field->spelled);
        json_.Member("type", TypeName(*field));
        WriteField(c, *field);
      }
      json_.EndObject();
    }
    json_.EndArray();
  }

 private:
  void WriteReserved(const Reserved& run) {
    json_.Member("kind", "reserved");
    json_.Member("must", run.must_be_one ? 1 : 0);
  }

  void WriteGroup(const Container& c, const Group& group) {
    json_.Member("kind", "group");
    json_.Member("doc", group.doc);
    WriteSpelling(json_, group.spelled);
    json_.Member("tail", group.tail);
    json_.Member("count", group.count);
    json_.Member("most", group.most);
    json_.Key("in_c");
    json_.StartObject();
    json_.Member("count", group.in_c.count);
    json_.Member("is_whole", group.in_c.is_whole);
    json_.EndObject();
    WriteAll(c, group.items);
  }

  // A member that most fields have alike: left out where it is what
  // "usual_item" says.
  template <class T>
  void MemberIfUnusual(absl::string_view key, const T& value) {
    if (usual_ || value != T{}) json_.Member(key, value);
  }
  void TextOrNull(absl::string_view key, const std::string& text) {
    if (usual_ || !text.empty()) json_.MemberOrNull(key, text);
  }

  // Numbers as text: not all readers of JSON have 64-bit integers.
  static std::string NumberText(const std::optional<int64_t>& integer,
                                const std::optional<double>& real) {
    return integer ? absl::StrCat(*integer) : real ? RealText(*real) : "";
  }
  static std::string DefaultText(const Field& field) {
    if (field.default_value && field.type != FieldType::kInt) {
      return absl::StrCat(*field.default_value);
    }
    std::optional<int64_t> integer;
    if (field.default_value) integer = static_cast<int64_t>(*field.default_value);
    return NumberText(integer, field.default_real);
  }

  // The name of the type of enumerations and structures.
  std::string TypeNamed(const Field& field) const {
    const auto index = static_cast<size_t>(field.type_index);
    if (field.type == FieldType::kEnum) return model_.enums[index].name;
    return field.type == FieldType::kStruct ? model_.containers[index].name : "";
  }

  void WriteField(const Container& c, const Field& field) {
    constexpr absl::string_view kAccess[] = {"none", "read", "write", "readwrite"};
    const Encoding& e = field.encoding;
    MemberIfUnusual("doc", field.doc);
    MemberIfUnusual("unit", field.unit);
    TextOrNull("of", TypeNamed(field));
    MemberIfUnusual("frac", field.fraction_bits);
    MemberIfUnusual("shift", e.shift);
    MemberIfUnusual("minus", e.minus);
    MemberIfUnusual("log2", e.log2);
    MemberIfUnusual("groups", e.groups);
    MemberIfUnusual("align", e.align);
    TextOrNull("min", NumberText(field.min, field.min_real));
    TextOrNull("max", NumberText(field.max, field.max_real));
    TextOrNull("default", DefaultText(field));
    TextOrNull("forced", field.forced ? absl::StrFormat("0x%x", *field.forced) : "");
    MemberIfUnusual("is_length", !usual_ && &field == c.length_field);
    MemberIfUnusual("nonzero", field.nonzero != NotZero::kMayBeZero);
    MemberIfUnusual("multiple", field.multiple);
    MemberIfUnusual("clamp", field.clamp);
    if (usual_ || !field.points.empty()) {
      json_.Member("access",
                   kAccess[field.points.empty() ? 0 : static_cast<size_t>(field.points[0].access)]);
    }
    MemberIfUnusual("overlap", field.overlap);
    WriteAvoided(field);
    WriteValues(field);
    WriteInC(field.in_c);
  }

  void WriteAvoided(const Field& field) {
    std::vector<uint64_t> avoided;
    // Names that a number borrows from an enumeration are for readers: its
    // values are any.
    const bool borrowed = field.type != FieldType::kEnum && field.names.index >= 0;
    for (const Value& v : borrowed ? field.values : NamedValues(model_, field)) {
      if (v.avoid) avoided.push_back(v.value);
    }
    if (avoided.empty() && !usual_) return;
    json_.Key("avoid");
    json_.StartArray();
    for (const uint64_t value : avoided) json_.Uint64(value);
    json_.EndArray();
  }

  void WriteValues(const Field& field) {
    if (field.values.empty() && !usual_) return;
    const CNames in_c(model_.c_prefix, model_.byte_unit);
    json_.Array("values", field.values, [&](const Value& v) {
      json_.Member("name", v.name);
      // Values of an int are kept in two's complement, and may be negative.
      if (field.type == FieldType::kInt) {
        json_.Member("value", static_cast<int64_t>(v.value));
      } else {
        json_.Member("value", v.value);
      }
      json_.Member("doc", v.doc);
      WriteSpelling(json_, {CppConstant(field.alias.empty() ? field.name : field.alias, v.name),
                            in_c.FieldValue(field.prefix, v.name)});
    });
  }

  void WriteInC(const FieldInC& in_c) {
    const bool any = in_c.is_uint || in_c.has_no_default || in_c.bits != 0;
    if (!any && !usual_) return;
    json_.Key("in_c");
    json_.StartObject();
    if (any) {
      json_.Member("is_uint", in_c.is_uint);
      json_.Member("has_no_default", in_c.has_no_default);
      json_.Member("bits", in_c.bits);
    }
    json_.EndObject();
  }

  const Model& model_;
  Json& json_;
  bool usual_ = false;  // the field that is written is the usual one
};

}  // namespace

absl::string_view TypeName(const Field& field) {
  switch (field.type) {
    case FieldType::kInt:
      return "int";
    case FieldType::kBool:
      return "bool";
    case FieldType::kFloat:
      return "float";
    case FieldType::kHalf:
      return "half";
    case FieldType::kUfixed:
      return "ufixed";
    case FieldType::kSfixed:
      return "sfixed";
    case FieldType::kAddress:
      return "address";
    case FieldType::kOffset:
      return "offset";
    case FieldType::kEnum:
      return "enum";
    case FieldType::kStruct:
      return "struct";
    case FieldType::kUint:
      break;
  }
  return "uint";
}

void WriteSpelling(Json& json, const Spelling& spelled) {
  json.Member("cpp", spelled.cpp);
  json.Member("c", spelled.c);
}

void WriteUsualItem(const Model& model, Json& json) { ItemWriter(model, json).WriteUsual(); }

void WriteItems(const Model& model, Json& json, const Container& c) {
  ItemWriter(model, json).WriteAll(c, c.items);
}

}  // namespace packsmith::model
