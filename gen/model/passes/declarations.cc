#include "gen/model/passes/declarations.h"

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace packsmith::model {

void CheckDeclarations(Context& context) {
  const Model& model = context.model;
  const auto claim = [&context](std::map<std::string, Location>& names, absl::string_view name,
                                Location where) {
    const auto [old, fresh] = names.emplace(std::string(name), where);
    if (fresh || name.empty()) return;
    context
        .Report(Code::kDuplicateName, where,
                absl::StrCat("there are two things named \"", name, "\""))
        .notes.push_back({old->second, "the first is here"});
  };
  std::map<std::string, Location> targets, engines, spaces;
  for (const DataKind& kind : model.data_kinds) claim(targets, kind.name, kind.where);
  for (const Stream& stream : model.streams) claim(targets, stream.name, stream.where);
  for (const Enum& e : model.enums) claim(targets, e.name, e.where);
  for (const Container& c : model.containers) claim(targets, c.name, c.where);
  for (const Container& c : model.containers) {
    for (const std::string& alias : c.aliases) claim(targets, alias, context.At(c.where, "alias"));
  }
  for (const Engine& engine : model.engines) {
    claim(engines, engine.name, engine.where);
    for (const absl::string_view alias : absl::StrSplit(engine.aliases, ' ', absl::SkipEmpty())) {
      claim(engines, alias, context.At(engine.where, "aliases"));
    }
  }
  for (const Space& space : model.spaces) {
    const auto [old, fresh] = spaces.emplace(absl::StrCat(space.number), space.where);
    if (fresh) continue;
    context
        .Report(Code::kDuplicateName, space.where,
                absl::StrCat("there are two spaces with the number ", space.number))
        .notes.push_back({old->second, "the first is here"});
  }
}

}  // namespace packsmith::model
