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
      if (item.kind == Item::Kind::kGroup) {
        ResolveItems(item.items);
        continue;
      }
      if (!item.names.empty()) {
        const int e = Find(model_.enums, item.names.text);
        if (e >= 0) model_.enums[static_cast<size_t>(e)].gives_names = true;
        if (e < 0) {
          Report(Code::kUnknownType, item.names.where,
                 absl::StrCat("there is no <enum name=\"", item.names.text, "\">"));
        } else if (item.type != FieldType::kUint || !item.values.empty()) {
          Report(Code::kContradiction, item.names.where,
                 "names=\"…\" is for a uint without values of its own");
        } else {
          item.names.index = e;
        }
      }
      if (item.kind != Item::Kind::kField || item.type != FieldType::kEnum) continue;
      if (item.type_name.empty()) continue;
      if (const int e = Find(model_.enums, item.type_name.text); e >= 0) {
        item.type_index = e;
        model_.enums[static_cast<size_t>(e)].is_type = true;
        continue;
      }
      const int nested = FindContainer(item.type_name.text);
      if (nested >= 0 &&
          model_.containers[static_cast<size_t>(nested)].kind == ContainerKind::kStruct) {
        item.type = FieldType::kStruct;
        item.type_index = nested;
        continue;
      }
      Report(
          Code::kUnknownType, item.type_name.where,
          absl::StrCat("there is no type, enumeration or structure \"", item.type_name.text, "\""));
      item.type = FieldType::kUint;
    }
  }
};

}  // namespace

void ResolveTypes(Context& context) { TypePass(context).Run(); }

}  // namespace packsmith::model
