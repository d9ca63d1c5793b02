// Packets, structures and registers, and what they inherit from those that they amend or are like.
#ifndef PACKSMITH_GEN_MODEL_SYNTAX_CONTAINER_PARSER_H_
#define PACKSMITH_GEN_MODEL_SYNTAX_CONTAINER_PARSER_H_

#include <optional>
#include <pugixml.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gen/model/ast/model.h"
#include "gen/model/ast/name_index.h"
#include "gen/model/syntax/item_parser.h"

namespace packsmith::model {

class ContainerParser : public ItemParser {
 protected:
  ContainerParser(Parsed& parsed, Diagnostics& diagnostics, Model& model)
      : ItemParser(parsed, diagnostics), model_(model) {}

  void ParseContainer(pugi::xml_node node, ContainerKind kind);

  // One of the model's lists by name: containers, enumerations, engines …
  template <class T>
  NameIndex& IndexOf(const std::vector<T>& all) {
    const auto [index, is_new] = indices_.try_emplace(&all);
    if (is_new) index->second.Fill(all);
    return index->second;
  }
  template <class T>
  T* Find(std::vector<T>& all, absl::string_view name) {
    const std::optional<size_t> place = IndexOf(all).Find(name);
    return place ? &all[*place] : nullptr;
  }
  template <class T>
  T* Append(std::vector<T>& all, T&& item) {
    IndexOf(all).Add(item.name, all.size());
    all.push_back(std::move(item));
    return &all.back();
  }

  Model& model_;
  std::unordered_map<const void*, NameIndex> indices_;  // of the model's lists

 private:
  // <remove field="…"/>; or <remove relation="…"/>, of relations to a packet of that name; or
  // <remove rule="…"/>.
  void RemoveFrom(Container& container, ItemList& items, pugi::xml_node node);
  void ParseSize(pugi::xml_node node, bool inherited, Container& container);
  void ParseVariant(pugi::xml_node node, Container& container);
  void ParsePart(pugi::xml_node node, Container& container);
  void ParseFlow(pugi::xml_node node, Container& container);
  void ParseOperation(pugi::xml_node node, Container& container);
  // `declared`: the numbers of the rules before it in the same element.
  void ParseRule(pugi::xml_node node, Container& container, std::vector<std::string>& declared);
  void ParseDraws(pugi::xml_node node, Container& container);
  void ParseImage(pugi::xml_node node, Container& container);
};

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_SYNTAX_CONTAINER_PARSER_H_
