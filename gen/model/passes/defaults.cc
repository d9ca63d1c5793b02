#include "gen/model/passes/defaults.h"

#include <cmath>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gen/model/ast/field_limits.h"

namespace packsmith::model {

void ResolveDefault(Context& context, Field& field) {
  if (field.default_text.empty()) return;
  const std::string& text = field.default_text.text;
  const Location where = field.default_text.where;
  if (IsReal(field)) {
    double real = 0;
    if (!absl::SimpleAtod(text, &real) || !std::isfinite(real)) {
      context.Report(Code::kBadNumber, where,
                     absl::StrCat("default=\"", text, "\" must be a number"));
      return;
    }
    field.default_real = real;
    if (!FitsReal(field, real)) {
      context.Report(Code::kValueTooWide, where,
                     absl::StrCat("default ", text, " does not fit ", field.type_name.text));
    }
    return;
  }
  if (field.type == FieldType::kStruct) {
    context.Report(Code::kContradiction, where, "a structure's fields have the defaults");
    return;
  }
  if (field.type == FieldType::kBool && (text == "true" || text == "false")) {
    field.default_value = text == "true" ? 1 : 0;
    return;
  }
  const std::vector<Value>& named = NamedValues(context.model, field);
  for (const Value& value : named) {
    if (value.name == text) {
      field.default_value = value.value;
      return;
    }
  }
  uint64_t number = 0;
  int64_t negative = 0;
  const bool hex = text.size() > 2 && text[0] == '0' && (text[1] | 32) == 'x';
  if (hex ? absl::SimpleHexAtoi(text, &number) : absl::SimpleAtoi(text, &number)) {
    if (number > (field.type == FieldType::kInt ? Ones(field.width - 1) : MostValue(field))) {
      context.Report(Code::kValueTooWide, where,
                     absl::StrCat("default ", text, " does not fit ", field.width, " bits"));
    } else if (!CanEncode(field.encoding, number)) {
      context.Report(
          Code::kValueTooWide, where,
          absl::StrCat("the encoding of \"", field.name, "\" cannot represent the default ", text));
    }
    field.default_value = number;
  } else if (field.type == FieldType::kInt && absl::SimpleAtoi(text, &negative)) {
    if (!FitsSigned(static_cast<uint64_t>(negative), field.width)) {
      context.Report(Code::kValueTooWide, where,
                     absl::StrCat("default ", text, " does not fit ", field.width, " bits"));
    }
    field.default_value = static_cast<uint64_t>(negative);
  } else {
    context.Report(
        Code::kBadNumber, where,
        absl::StrCat("default=\"", text, "\" is neither a number nor one of the values"));
  }
}

}  // namespace packsmith::model
