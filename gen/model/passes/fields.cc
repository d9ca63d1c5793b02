#include "gen/model/passes/fields.h"

#include "absl/strings/str_cat.h"
#include "gen/model/ast/field_limits.h"
#include "gen/model/passes/defaults.h"
#include "gen/model/passes/field_widths.h"
#include "gen/model/passes/value_ranges.h"
#include "gen/model/passes/values.h"

namespace packsmith::model {
namespace {

class FieldPass : public Pass {
 public:
  FieldPass(Context& context, Container& container) : Pass(context), container_(container) {}

  void Run() {
    for (Item& item : container_.items) CheckItem(item, 0);
  }

 private:
  // `limit`: bits of the enclosing group's item, 0 at top level.
  void CheckItem(Item& item, uint32_t limit) {
    const ItemBase& base = item.base();
    if (base.unplaced) return;
    const uint64_t end = EndOf(item);
    const uint64_t bits = limit != 0 ? limit : uint64_t{container_.max_bytes} * 8;
    if (end > bits) {
      Report(Code::kFieldOutsideContainer, base.where,
             absl::StrCat(base.name.empty() ? "this" : absl::StrCat("\"", base.name, "\""),
                          " ends at bit ", end - 1, ", its ", limit != 0 ? "item" : "container",
                          " has ", bits, " bits"));
    }
    if (Field* const field = item.field()) CheckField(*field);
    Group* const group = item.group();
    if (group == nullptr) return;
    for (Item& inner : group->items) {
      const Group* const nested = inner.group();
      if (nested != nullptr && nested->tail) {
        Report(Code::kBadGroup, nested->where, "a tail cannot be inside another group");
        continue;
      }
      CheckItem(inner, group->width);
    }
  }

  void CheckField(Field& field) {
    CheckWidth(context_, field);
    CheckEncoding(context_, field);
    ResolveDefault(context_, field);
    CheckRange(context_, field);
    CheckValues(context_, field.values);
    if (!field.values.empty() && field.type == FieldType::kEnum) {
      Report(Code::kContradiction, field.values[0].where,
             "the values of an enumeration must be in its <enum>");
    } else if (!field.values.empty() && (IsReal(field) || field.type == FieldType::kStruct)) {
      Report(Code::kContradiction, field.values[0].where, "only integers have named values");
    }
    if (field.type == FieldType::kStruct && (field.forced || field.nonzero != NotZero::kMayBeZero ||
                                             field.min || field.max || !field.unit.empty())) {
      Report(Code::kContradiction, field.where,
             "a structure's own fields are forced, have ranges and units");
    }
    if (field.forced && *field.forced > Ones(field.width)) {
      Report(Code::kValueTooWide, At(field.where, "forced"),
             absl::StrCat("forced value ", *field.forced, " does not fit ", field.width, " bits"));
    }
    const bool encoded = field.encoding.minus != 0 || field.encoding.log2 ||
                         field.encoding.groups != 0 || field.encoding.align != 0 ||
                         field.shift_given;
    if (field.forced && (IsReal(field) || !field.default_text.empty() || encoded)) {
      Report(Code::kContradiction, At(field.where, "forced"),
             "a forced field is a plain integer and has no other default");
    }
    const auto wide_value = [&](const Value& value) {
      const bool fits = field.type == FieldType::kInt ? FitsSigned(value.value, field.width)
                                                      : value.value <= MostValue(field);
      if (fits) return;
      Report(Code::kValueTooWide, value.where,
             absl::StrCat("value \"", value.name, "\" = ", value.value, " does not fit the ",
                          field.width, " bits of \"", field.name, "\""));
    };
    for (const Value& value : field.values) wide_value(value);
    if (field.type == FieldType::kEnum && field.type_index >= 0) {
      const Enum& e = model_.enums[static_cast<size_t>(field.type_index)];
      for (const Value& value : e.values) {
        if (value.value <= Ones(field.width)) continue;
        Report(Code::kValueTooWide, field.where,
               absl::StrCat("\"", field.name, "\" has ", field.width, " bits, value \"", value.name,
                            "\" of \"", e.name, "\" is ", value.value))
            .notes.push_back({value.where, "the value is here"});
      }
    }
  }

  Container& container_;
};

}  // namespace

void CheckFields(Context& context, Container& c) { FieldPass(context, c).Run(); }

}  // namespace packsmith::model
