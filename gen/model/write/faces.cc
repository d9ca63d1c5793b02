#include "gen/model/write/faces.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gen/model/ast/facts.h"

namespace packsmith::model {
namespace {

bool IsWide(const Field& field) {
  const Encoding& e = field.encoding;
  if (field.width + e.shift > 32) return true;
  if (e.log2) return field.width > 5;
  if (e.groups != 0) return (Ones(field.width) + 1) * e.groups > 0xffffffffu;
  return (Ones(field.width) << e.shift) + e.minus > 0xffffffffu;
}

// What raw zero decodes to, unless the XML says otherwise.
uint64_t DefaultOf(const Field& field) {
  if (field.default_value) return *field.default_value;
  if (field.encoding.log2) return 1;
  if (field.encoding.groups != 0) return (Ones(field.width) + 1) * field.encoding.groups;
  return field.encoding.minus;
}

}  // namespace

std::string RealText(double value) {
  // The shortest text that reads back as the same number.
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

std::string Faces::CppType(const Field& field) const {
  switch (field.type) {
    case FieldType::kBool:
      return "bool";
    case FieldType::kInt:
      return field.width > 32 ? "int64_t" : "int32_t";
    case FieldType::kFloat:
    case FieldType::kHalf:
      return "float";
    case FieldType::kUfixed:
    case FieldType::kSfixed:
      return field.width > 24 ? "double" : "float";
    case FieldType::kAddress:
      return "address";
    case FieldType::kEnum:
      return CppName(model_.enums[static_cast<size_t>(field.type_index)].name);
    case FieldType::kStruct:
      return model_.containers[static_cast<size_t>(field.type_index)].spelled.cpp;
    case FieldType::kUint:
    case FieldType::kOffset:
      break;
  }
  return IsWide(field) ? "uint64_t" : "uint32_t";
}

std::string Faces::CType(const Field& field) const {
  switch (field.type) {
    case FieldType::kBool:
      return "bool";
    case FieldType::kInt:
      return field.width > 33 ? "int64_t" : "int32_t";
    case FieldType::kFloat:
    case FieldType::kHalf:
    case FieldType::kUfixed:
    case FieldType::kSfixed:
      return "float";
    case FieldType::kAddress:
      return "__gen_address_type";
    case FieldType::kOffset:
      return "uint64_t";
    case FieldType::kEnum:
      return absl::StrCat(
          "enum ", c_names_.EnumType(model_.enums[static_cast<size_t>(field.type_index)].name));
    case FieldType::kStruct:
      return absl::StrCat("struct ",
                          model_.containers[static_cast<size_t>(field.type_index)].spelled.c);
    case FieldType::kUint:
      break;
  }
  // The interface that C drivers know widens a member where its last bit lies more than 32 bits
  // behind its first.
  return field.width > 33 || (field.width <= 33 && IsWide(field) && model_.byte_unit) ? "uint64_t"
                                                                                      : "uint32_t";
}

std::string Faces::CppDefault(const Field& field) const {
  switch (field.type) {
    case FieldType::kBool:
      return DefaultOf(field) != 0 ? "true" : "false";
    case FieldType::kFloat:
    case FieldType::kHalf:
      return absl::StrCat(RealText(field.default_real.value_or(0)), "f");
    case FieldType::kUfixed:
    case FieldType::kSfixed:
      return absl::StrCat(RealText(field.default_real.value_or(0)), field.width > 24 ? "" : "f");
    case FieldType::kStruct:
      return "{}";
    case FieldType::kEnum: {
      const Enum& e = model_.enums[static_cast<size_t>(field.type_index)];
      for (const Value& v : e.values) {
        if (v.value == DefaultOf(field))
          return absl::StrCat(CppName(e.name), "::", CppName(v.name));
      }
      return absl::StrCat("static_cast<", CppName(e.name), ">(", DefaultOf(field), ")");
    }
    case FieldType::kInt:
      return absl::StrCat(static_cast<int64_t>(DefaultOf(field)));
    default:
      return absl::StrCat(DefaultOf(field));
  }
}

std::string Faces::CDefault(const Container& c, const Field& field) const {
  if (field.in_c.has_no_default) return "";
  if (field.forced) return absl::StrCat(*field.forced);
  if (field.default_real) return RealText(*field.default_real);
  if (field.default_value) {
    return field.type == FieldType::kInt ? absl::StrCat(static_cast<int64_t>(*field.default_value))
                                         : absl::StrCat(*field.default_value);
  }
  if (&field == c.length_field && !c.variable) {
    const uint32_t length = c.in_c.dwords.value_or(c.bytes / (c.byte_unit ? 1 : 4));
    return absl::StrCat(length - c.length_bias);
  }
  const Encoding& e = field.encoding;
  if (e.log2 || e.groups != 0 || e.minus != 0) return absl::StrCat(DefaultOf(field));
  return "";
}

const Item& Faces::SeenAs(const Item& item, Face face) {
  const Field* const field = item.field();
  const Group* const group = item.group();
  const bool as_uint = field != nullptr && field->in_c.is_uint;
  const bool whole = group != nullptr && group->in_c.is_whole;
  if (face == Face::kCpp || !(whole || as_uint)) return item;
  const auto [it, is_new] = as_c_.try_emplace(&item);
  if (!is_new) return it->second;
  Field seen = whole ? *group->items[0].field() : *field;
  if (whole) {
    seen.bit = group->bit;
    seen.width = group->width * (group->tail ? group->in_c.count : group->count);
  } else {
    seen.type = FieldType::kUint;
    seen.encoding.shift = 0;
  }
  return it->second = std::move(seen);
}

uint32_t Faces::ItemsIn(const Group& group, Face face) {
  if (!group.tail) return group.count;
  return face == Face::kC ? group.in_c.count : 0;
}

}  // namespace packsmith::model
