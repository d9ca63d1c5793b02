#include "gen/model/write/faces.h"

#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gen/model/ast/facts.h"

namespace packsmith::model {
namespace {

bool IsWide(const Item& item) {
  const Encoding& e = item.encoding;
  if (item.width + e.shift > 32) return true;
  if (e.log2) return item.width > 5;
  if (e.groups != 0) return (Ones(item.width) + 1) * e.groups > 0xffffffffu;
  return (Ones(item.width) << e.shift) + e.minus > 0xffffffffu;
}

// What raw zero decodes to, unless the XML says otherwise.
uint64_t DefaultOf(const Item& item) {
  if (item.default_value) return *item.default_value;
  if (item.encoding.log2) return 1;
  if (item.encoding.groups != 0) return (Ones(item.width) + 1) * item.encoding.groups;
  return item.encoding.minus;
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

std::string Faces::CppType(const Item& item) const {
  switch (item.type) {
    case FieldType::kBool:
      return "bool";
    case FieldType::kInt:
      return item.width > 32 ? "int64_t" : "int32_t";
    case FieldType::kFloat:
    case FieldType::kHalf:
      return "float";
    case FieldType::kUfixed:
    case FieldType::kSfixed:
      return item.width > 24 ? "double" : "float";
    case FieldType::kAddress:
      return "address";
    case FieldType::kEnum:
      return CppName(model_.enums[static_cast<size_t>(item.type_index)].name);
    case FieldType::kStruct:
      return model_.containers[static_cast<size_t>(item.type_index)].cpp;
    case FieldType::kUint:
    case FieldType::kOffset:
      break;
  }
  return IsWide(item) ? "uint64_t" : "uint32_t";
}

std::string Faces::CType(const Item& item) const {
  switch (item.type) {
    case FieldType::kBool:
      return "bool";
    case FieldType::kInt:
      return item.width > 33 ? "int64_t" : "int32_t";
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
          "enum ", c_names_.EnumType(model_.enums[static_cast<size_t>(item.type_index)].name));
    case FieldType::kStruct:
      return absl::StrCat("struct ", model_.containers[static_cast<size_t>(item.type_index)].c);
    case FieldType::kUint:
      break;
  }
  // The interface that C drivers know widens a member where its last bit lies more than 32 bits
  // behind its first.
  return item.width > 33 || (item.width <= 33 && IsWide(item) && model_.byte_unit) ? "uint64_t"
                                                                                   : "uint32_t";
}

std::string Faces::CppDefault(const Item& item) const {
  switch (item.type) {
    case FieldType::kBool:
      return DefaultOf(item) != 0 ? "true" : "false";
    case FieldType::kFloat:
    case FieldType::kHalf:
      return absl::StrCat(RealText(item.default_real.value_or(0)), "f");
    case FieldType::kUfixed:
    case FieldType::kSfixed:
      return absl::StrCat(RealText(item.default_real.value_or(0)), item.width > 24 ? "" : "f");
    case FieldType::kStruct:
      return "{}";
    case FieldType::kEnum: {
      const Enum& e = model_.enums[static_cast<size_t>(item.type_index)];
      for (const Value& v : e.values) {
        if (v.value == DefaultOf(item)) return absl::StrCat(CppName(e.name), "::", CppName(v.name));
      }
      return absl::StrCat("static_cast<", CppName(e.name), ">(", DefaultOf(item), ")");
    }
    case FieldType::kInt:
      return absl::StrCat(static_cast<int64_t>(DefaultOf(item)));
    default:
      return absl::StrCat(DefaultOf(item));
  }
}

std::string Faces::CDefault(const Container& c, const Item& item) const {
  if (item.c_no_default) return "";
  if (item.forced) return absl::StrCat(*item.forced);
  if (item.default_real) return RealText(*item.default_real);
  if (item.default_value) {
    return item.type == FieldType::kInt ? absl::StrCat(static_cast<int64_t>(*item.default_value))
                                        : absl::StrCat(*item.default_value);
  }
  if (&item == c.length_field && !c.variable) {
    const uint32_t length = c.c_dwords.value_or(c.bytes / (c.byte_unit ? 1 : 4));
    return absl::StrCat(length - c.length_bias);
  }
  const Encoding& e = item.encoding;
  if (e.log2 || e.groups != 0 || e.minus != 0) return absl::StrCat(DefaultOf(item));
  return "";
}

const Item& Faces::SeenAs(const Item& item, Face face) {
  if (face == Face::kCpp || !(item.c_whole || item.c_uint)) return item;
  const auto [it, is_new] = as_c_.try_emplace(&item);
  Item& seen = it->second;
  if (!is_new) return seen;
  if (item.c_whole) {
    seen = item.items[0];
    seen.bit = item.bit;
    seen.width = item.width * (item.tail ? item.c_count : item.count);
  } else {
    seen = item;
    seen.type = FieldType::kUint;
    seen.encoding.shift = 0;
  }
  return seen;
}

uint32_t Faces::ItemsIn(const Item& group, Face face) {
  if (!group.tail) return group.count;
  return face == Face::kC ? group.c_count : 0;
}

}  // namespace packsmith::model
