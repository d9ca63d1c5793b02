#include "gen/model/passes/types.h"

#include "absl/strings/str_cat.h"

namespace packsmith::model {
namespace {

class TypePass : public Pass {
 public:
  explicit TypePass(Context& context) : Pass(context) {}

  void Run() {
    ResolveStates();
    for (Container& c : model_.containers) ResolveItems(c.items);
  }

 private:
  // What a state looks like as a field.
  void ResolveStates() {
    for (State& state : model_.states) {
      state.field.type = FieldType::kUint;
      if (state.of.empty()) continue;
      const int e = Find(model_.enums, state.of.text);
      if (e < 0) {
        Report(Code::kUnknownType, state.of.where,
               absl::StrCat("there is no <enum name=\"", state.of.text, "\">"));
        continue;
      }
      state.field.type = FieldType::kEnum;
      state.field.type_index = e;
      model_.enums[static_cast<size_t>(e)].gives_names = true;
    }
  }

  void ResolveItems(std::vector<Item>& items) {
    for (Item& item : items) {
      if (Group* const group = item.group()) ResolveItems(group->items);
      if (Field* const field = item.field()) ResolveField(*field);
    }
  }

  void ResolveField(Field& field) {
    if (!field.names.empty()) {
      const int e = Find(model_.enums, field.names.text);
      if (e >= 0) model_.enums[static_cast<size_t>(e)].gives_names = true;
      if (e < 0) {
        Report(Code::kUnknownType, field.names.where,
               absl::StrCat("there is no <enum name=\"", field.names.text, "\">"));
      } else if (field.type != FieldType::kUint || !field.values.empty()) {
        Report(Code::kContradiction, field.names.where,
               "names=\"…\" is for a uint without values of its own");
      } else {
        field.names.index = e;
      }
    }
    if (field.type != FieldType::kEnum) return;
    if (field.type_name.empty()) return;
    if (const int e = Find(model_.enums, field.type_name.text); e >= 0) {
      field.type_index = e;
      model_.enums[static_cast<size_t>(e)].is_type = true;
      return;
    }
    const int nested = FindContainer(field.type_name.text);
    if (nested >= 0 &&
        model_.containers[static_cast<size_t>(nested)].kind == ContainerKind::kStruct) {
      field.type = FieldType::kStruct;
      field.type_index = nested;
      return;
    }
    Report(
        Code::kUnknownType, field.type_name.where,
        absl::StrCat("there is no type, enumeration or structure \"", field.type_name.text, "\""));
    field.type = FieldType::kUint;
  }
};

}  // namespace

void ResolveTypes(Context& context) { TypePass(context).Run(); }

}  // namespace packsmith::model
