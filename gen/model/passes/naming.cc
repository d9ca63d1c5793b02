#include "gen/model/passes/naming.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gen/model/names.h"

namespace packsmith::model {
namespace {

class NamingPass : public Pass {
 public:
  explicit NamingPass(Context& context) : Pass(context) {}

  void Run() {
    std::map<std::string, Location> types, c_names;
    std::set<std::string> seen;  // two of one name were reported already
    const auto claim = [&](std::map<std::string, Location>& names, const std::string& name,
                           Location where, absl::string_view language) {
      const auto [old, fresh] = names.emplace(name, where);
      if (fresh) return;
      Report(Code::kNameCollision, where,
             absl::StrCat("two things become \"", name, "\" in ", language, "; give one of them ",
                          language == "C" ? "another name" : "alias=\"…\" or another name"))
          .notes.push_back({old->second, "the other is here"});
    };
    const auto spell = [&](const std::string& name, absl::string_view xml, Location where) {
      if (IsCIdentifier(name)) return;
      Report(Code::kNameCollision, where,
             absl::StrCat("\"", xml, "\" would be ", name, " in C, which cannot be a name there"));
    };
    for (const Enum& e : model_.enums) {
      spell(in_c_.EnumType(e.name), e.name, e.where);
      for (const Value& value : e.values) {
        if (value.value <= 0xffffffffu) continue;
        Report(
            Code::kValueTooWide, value.where,
            absl::StrCat("value \"", value.name, "\" of \"", e.name, "\" has more than 32 bits"));
      }
      seen.insert(e.name);
      claim(types, CppName(e.name), e.where, "C++");
      claim(c_names, in_c_.EnumType(e.name), e.where, "C");
      std::map<std::string, Location> enumerators;
      for (const Value& value : e.values) {
        const size_t claimed = enumerators.size();
        claim(enumerators, CppName(value.name), value.where, "C++");
        const std::string in_c = in_c_.Enumerator(e.name, e.prefix, value.name);
        spell(in_c, value.name, value.where);
        if (enumerators.size() != claimed && !e.only_names()) ClaimNumber(in_c, value);
      }
    }
    for (Container& c : model_.containers) {
      c.spelled.cpp = CppName(c.name);
      c.spelled.c = in_c_.Type(c.name);
      spell(c.spelled.c, c.name, c.where);
      if (seen.insert(c.name).second) {
        claim(types, c.spelled.cpp, c.where, "C++");
        claim(c_names, c.spelled.c, c.where, "C");
      }
      NameScope scope;
      constants_.clear();
      types_.clear();
      UseType(c.spelled.cpp, c.where);
      UseTypes(c.items);
      for (const Part& part : c.parts) {
        if (part.struct_name.index < 0) continue;
        UseType(CppName(model_.containers[static_cast<size_t>(part.struct_name.index)].name),
                part.where);
      }
      NameItems(c, c.items, scope, claim, spell);
      std::map<std::string, Location>& members = scope.cpp;
      for (Part& part : c.parts) {
        part.cpp = part.alias.empty() ? CppMember(part.name) : part.alias;
        claim(members, part.cpp, part.where, "C++");
      }
      for (const auto& [name, where] : members) CheckIsNoType(name, where);
    }
  }

 private:
  // The types that a container's members have, and its own, cannot be names of its members in C++.
  void UseTypes(const std::vector<Item>& items) {
    for (const Item& item : items) {
      if (const Group* const group = item.group()) UseTypes(group->items);
      const Field* const field = item.field();
      if (field == nullptr || field->type_index < 0) continue;
      const auto index = static_cast<size_t>(field->type_index);
      UseType(CppName(field->type == FieldType::kStruct ? model_.containers[index].name
                                                        : model_.enums[index].name),
              field->where);
    }
  }

  void UseType(std::string name, Location where) { types_.emplace(std::move(name), where); }

  void CheckIsNoType(const std::string& member, Location where) {
    const auto type = types_.find(member);
    if (type == types_.end()) return;
    Report(Code::kNameCollision, where,
           absl::StrCat("\"", member, "\" is also a type here in C++; give the member alias=\"…\""))
        .notes.push_back({type->second, "the type is used here"});
  }

  struct NameScope {
    std::map<std::string, Location> xml, cpp, c;
  };

  // Spells a field or group, and reports two of one name. False: there are two, which claim
  // nothing.
  bool Name(const Container& c, ItemBase& item, NameScope& scope) {
    item.spelled.c = in_c_.Member(item.name);
    item.spelled.cpp = item.alias.empty() ? CppMember(item.name) : item.alias;
    const auto [old, fresh] = scope.xml.emplace(item.name, item.where);
    if (fresh || item.name.empty()) return true;
    Report(Code::kDuplicateName, item.where,
           absl::StrCat("\"", c.name, "\" has two fields \"", item.name, "\""))
        .notes.push_back({old->second, "the first is here"});
    return false;
  }

  template <class Claim, class Spell>
  void NameItems(const Container& c, std::vector<Item>& items, NameScope& scope, const Claim& claim,
                 const Spell& spell) {
    for (Item& item : items) {
      if (Field* const field = item.field()) NameField(c, *field, scope, claim, spell);
      if (Group* const group = item.group()) NameGroup(c, *group, scope, claim, spell);
    }
  }

  template <class Claim, class Spell>
  void NameField(const Container& c, Field& field, NameScope& scope, const Claim& claim,
                 const Spell& spell) {
    if (Name(c, field, scope)) {
      const bool in_cpp = !field.forced && &field != c.length_field;
      if (in_cpp) claim(scope.cpp, field.spelled.cpp, field.where, "C++");
      claim(scope.c, field.spelled.c, field.where, "C");
      spell(field.spelled.c, field.name, field.where);
    }
    for (const Value& value : field.values) {
      const std::string in_c = in_c_.FieldValue(field.prefix, value.name);
      spell(in_c, value.name, value.where);
      if (ClaimConstant(field, value)) ClaimNumber(in_c, value);
    }
  }

  template <class Claim, class Spell>
  void NameGroup(const Container& c, Group& group, NameScope& scope, const Claim& claim,
                 const Spell& spell) {
    const bool is_new = Name(c, group, scope);
    // The items of a tail are not members; a named group has members of its own in C++ only.
    if (is_new && !group.tail && !group.name.empty()) {
      claim(scope.cpp, group.spelled.cpp, group.where, "C++");
    }
    if (!group.tail && group.name.empty()) {
      NameItems(c, group.items, scope, claim, spell);
      return;
    }
    NameScope own;
    if (!group.tail) std::swap(own.c, scope.c);
    NameItems(c, group.items, own, claim, spell);
    for (const auto& [name, where] : own.cpp) CheckIsNoType(name, where);
    if (!group.tail) std::swap(own.c, scope.c);
  }

  // Values listed inside fields are constants of the container; two of one name must be equal.
  // False: they are not.
  bool ClaimConstant(const Field& field, const Value& value) {
    const std::string name =
        CppConstant(field.alias.empty() ? field.name : field.alias, value.name);
    const auto [old, fresh] = constants_.emplace(name, &value);
    if (fresh || old->second->value == value.value) return true;
    Report(Code::kNameCollision, value.where,
           absl::StrCat("two values become the constant ", name, " in C++; rename one of them"))
        .notes.push_back({old->second->where, "the other is here"});
    return false;
  }

  // In C, values of all fields and enumerations are constants of the whole generation; two of one
  // name must be equal.
  void ClaimNumber(const std::string& name, const Value& value) {
    const auto [old, fresh] = numbers_.emplace(name, &value);
    if (fresh || old->second->value == value.value) return;
    Report(Code::kNameCollision, value.where,
           absl::StrCat("the values ", old->second->value, " and ", value.value, " both become ",
                        name, " in C; give one of them prefix=\"…\" or another name"))
        .notes.push_back({old->second->where, "the other is here"});
  }

  const CNames in_c_{model_.c_prefix, model_.byte_unit};
  std::map<std::string, const Value*> constants_;  // of the container at hand
  std::map<std::string, const Value*> numbers_;    // of values in C
  std::map<std::string, Location> types_;          // that it uses, as C++ names them
};

}  // namespace

void AssignNames(Context& context) { NamingPass(context).Run(); }

}  // namespace packsmith::model
