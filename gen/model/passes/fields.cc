#include "gen/model/passes/fields.h"

#include "absl/strings/str_cat.h"
#include "gen/model/ast/facts.h"
#include "gen/model/passes/defaults.h"
#include "gen/model/passes/ranges.h"
#include "gen/model/passes/values.h"
#include "gen/model/passes/widths.h"

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
    if (item.unplaced) return;
    const uint64_t end = EndOf(item);
    const uint64_t bits = limit != 0 ? limit : uint64_t{container_.max_bytes} * 8;
    if (end > bits) {
      Report(Code::kFieldOutsideContainer, item.where,
             absl::StrCat(item.name.empty() ? "this" : absl::StrCat("\"", item.name, "\""),
                          " ends at bit ", end - 1, ", its ", limit != 0 ? "item" : "container",
                          " has ", bits, " bits"));
    }
    switch (item.kind) {
      case Item::Kind::kGroup:
        for (Item& inner : item.items) {
          if (inner.kind == Item::Kind::kGroup && inner.tail) {
            Report(Code::kBadGroup, inner.where, "a tail cannot be inside of another group");
            continue;
          }
          CheckItem(inner, item.width);
        }
        break;
      case Item::Kind::kReserved:
        break;
      case Item::Kind::kField:
        CheckField(item);
        break;
    }
  }

  void CheckField(Item& item) {
    CheckWidth(context_, item);
    CheckEncoding(context_, item);
    ResolveDefault(context_, item);
    CheckRange(context_, item);
    CheckValues(context_, item.values);
    if (!item.values.empty() && item.type == FieldType::kEnum) {
      Report(Code::kContradiction, item.values[0].where,
             "the values of an enumeration stand in its <enum>");
    } else if (!item.values.empty() && (IsReal(item) || item.type == FieldType::kStruct)) {
      Report(Code::kContradiction, item.values[0].where, "only integers have named values");
    }
    if (item.type == FieldType::kStruct && (item.forced || item.nonzero != NotZero::kMayBeZero ||
                                            item.min || item.max || !item.unit.empty())) {
      Report(Code::kContradiction, item.where,
             "a structure's own fields are forced, have ranges and units");
    }
    if (item.forced && *item.forced > Ones(item.width)) {
      Report(Code::kValueTooWide, At(item.where, "forced"),
             absl::StrCat("forced value ", *item.forced, " does not fit ", item.width, " bits"));
    }
    const bool encoded = item.encoding.minus != 0 || item.encoding.log2 ||
                         item.encoding.groups != 0 || item.encoding.align != 0 || item.shift_given;
    if (item.forced && (IsReal(item) || !item.default_text.empty() || encoded)) {
      Report(Code::kContradiction, At(item.where, "forced"),
             "a forced field is a plain integer and has no other default");
    }
    const auto wide_value = [&](const Value& value) {
      const bool fits = item.type == FieldType::kInt ? FitsSigned(value.value, item.width)
                                                     : value.value <= MostValue(item);
      if (fits) return;
      Report(Code::kValueTooWide, value.where,
             absl::StrCat("value \"", value.name, "\" = ", value.value, " does not fit the ",
                          item.width, " bits of \"", item.name, "\""));
    };
    for (const Value& value : item.values) wide_value(value);
    if (item.type == FieldType::kEnum && item.type_index >= 0) {
      const Enum& e = model_.enums[static_cast<size_t>(item.type_index)];
      for (const Value& value : e.values) {
        if (value.value <= Ones(item.width)) continue;
        Report(Code::kValueTooWide, item.where,
               absl::StrCat("\"", item.name, "\" has ", item.width, " bits, value \"", value.name,
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
