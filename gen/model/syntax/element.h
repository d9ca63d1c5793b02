// Reading an element: its attributes by their tables, its words, and what it cannot hold.
#ifndef PACKSMITH_GEN_MODEL_SYNTAX_ELEMENT_H_
#define PACKSMITH_GEN_MODEL_SYNTAX_ELEMENT_H_

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gen/model/ast/model.h"
#include "gen/model/diagnostic.h"
#include "gen/model/source.h"
#include "gen/model/syntax/attribute.h"
#include "gen/model/syntax/parse.h"

namespace packsmith::model {

class ElementReader {
 protected:
  ElementReader(Parsed& parsed, Diagnostics& diagnostics)
      : parsed_(parsed), sources_(parsed.sources), diagnostics_(diagnostics) {}

  Location At(pugi::xml_node node) const;
  Location At(pugi::xml_node node, absl::string_view attribute) const {
    return AttributeLocation(sources_, At(node), attribute);
  }
  Diagnostic& Report(Code code, Location where, std::string text) {
    return diagnostics_.Add(code, where, std::move(text));
  }
  // Whether a place is in the file that is parsed, or in one that it includes or is included by.
  bool InThisLayer(Location where) const;

  // --- By tables ---

  // Reports every attribute that the element may not have, and those that no well-formed XML has.
  void Allow(pugi::xml_node node, const std::vector<AttributeInfo>& allowed);
  template <class T>
  void Allow(pugi::xml_node node, const Attributes<T>& table) {
    Allow(node, table.infos());
  }
  // Stores what the table can store, and reports what of it is required and absent. What is absent
  // becomes what the table says; where `amends`, it stays what it is.
  template <class T>
  void Read(pugi::xml_node node, const Attributes<T>& table, T& into, bool amends = false);

  // --- One by one ---

  // What pugi's own look-up gives.
  pugi::xml_attribute FindAttribute(pugi::xml_node node, absl::string_view name) const;
  std::string ReadText(pugi::xml_node node, absl::string_view name) const {
    return FindAttribute(node, name).value();
  }
  // The text, which is there and not empty, or a problem is reported.
  std::string Require(pugi::xml_node node, absl::string_view name);
  Deferred ReadLater(pugi::xml_node node, absl::string_view name) const;
  std::optional<uint64_t> ReadNumber(pugi::xml_node node, absl::string_view name,
                                     uint64_t most = ~uint64_t{0});
  uint32_t ReadSmall(pugi::xml_node node, absl::string_view name, uint32_t otherwise,
                     uint32_t most) {
    return static_cast<uint32_t>(ReadNumber(node, name, most).value_or(otherwise));
  }
  bool ReadFlag(pugi::xml_node node, absl::string_view name);
  // One of the given words; the first where the attribute is absent.
  size_t ReadWord(pugi::xml_node node, absl::string_view name,
                  absl::Span<const absl::string_view> words);
  // alias="…" of a field, group or part: the identifier in C++.
  std::string ReadIdentifier(pugi::xml_node node);

  // --- What an element holds ---

  void ReportUnknown(pugi::xml_node node, pugi::xml_node inside);
  // For elements that hold nothing.
  void ExpectEmpty(pugi::xml_node node);
  // For elements that hold <doc> and <source> only.
  template <class T>
  void ReadChildren(pugi::xml_node node, T& into) {
    for (const pugi::xml_node child : node.children()) {
      if (!ReadWords(child, into)) ReportUnknown(child, node);
    }
  }
  // <doc> and <source>, which any element may hold.
  template <class T>
  bool ReadWords(pugi::xml_node child, T& into) {
    const absl::string_view name = child.name();
    if (name == "doc") {
      into.doc = FoldText(child);
      return true;
    }
    if constexpr (requires { into.source; }) {
      if (name == "source") {
        into.source = FoldText(child);
        return true;
      }
    }
    return false;
  }
  // The text of an element that holds nothing else.
  std::string FoldText(pugi::xml_node node);

  // Documents come and go: an element of one may be where one of another was.
  void ForgetElement() { attributes_of_ = {}; }

  Parsed& parsed_;
  Sources& sources_;
  Diagnostics& diagnostics_;
  int32_t file_ = -1;

 private:
  // An element is asked for thirty attributes, of which it has five: those are gathered once.
  mutable pugi::xml_node attributes_of_;
  mutable std::vector<std::pair<absl::string_view, pugi::xml_attribute>> attributes_;
};

template <class T>
void ElementReader::Read(pugi::xml_node node, const Attributes<T>& table, T& into, bool amends) {
  for (const Attribute<T>& attribute : table.all()) {
    const absl::string_view name = attribute.info.name;
    const bool is_given = FindAttribute(node, name);
    if (amends && !is_given) continue;
    if (attribute.info.required && attribute.is_stored()) Require(node, name);
    if (attribute.text != nullptr) into.*attribute.text = ReadText(node, name);
    if (attribute.later != nullptr) attribute.later(into) = ReadLater(node, name);
    if (attribute.flag != nullptr) into.*attribute.flag = ReadFlag(node, name);
    if (attribute.number != nullptr) {
      attribute.number(into, ReadNumber(node, name, attribute.most).value_or(attribute.otherwise));
    }
    if (attribute.word != nullptr) attribute.word(into, ReadWord(node, name, attribute.info.words));
  }
}

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_SYNTAX_ELEMENT_H_
