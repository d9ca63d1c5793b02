#include "gen/model/syntax/element.h"

#include "gen/model/names.h"
#include "gen/model/syntax/text.h"

namespace packsmith::model {

Location ElementReader::At(pugi::xml_node node) const {
  // The parser gives the place of an element's name; the bracket before it is easier to see.
  const ptrdiff_t offset = node.offset_debug() - 1;
  return {file_, offset < 0 ? 0 : static_cast<uint32_t>(offset)};
}

bool ElementReader::InThisLayer(Location where) const {
  return parsed_.layers[static_cast<size_t>(where.file)] ==
         parsed_.layers[static_cast<size_t>(file_)];
}

pugi::xml_attribute ElementReader::FindAttribute(pugi::xml_node node,
                                                 absl::string_view name) const {
  if (node != attributes_of_) {
    attributes_of_ = node;
    attributes_.clear();
    for (const pugi::xml_attribute one : node.attributes()) {
      attributes_.emplace_back(one.name(), one);
    }
  }
  for (const auto& [present, attribute] : attributes_) {
    if (present == name) return attribute;
  }
  return {};
}

void ElementReader::Allow(pugi::xml_node node, const std::vector<AttributeInfo>& allowed) {
  for (const pugi::xml_attribute attribute : node.attributes()) {
    const absl::string_view name = attribute.name();
    if (FindAttribute(node, attribute.name()) != attribute) {
      Report(Code::kMalformedXml, At(node, attribute.name()),
             absl::StrCat("<", node.name(), "> has the attribute \"", name, "\" twice"));
    }
    if (FirstBadByte(attribute.value()) != absl::string_view(attribute.value()).size()) {
      Report(Code::kMalformedXml, At(node, attribute.name()),
             absl::StrCat("the value of \"", name, "\" holds a character that XML forbids"));
    }
    const auto is_it = [&](const AttributeInfo& info) { return info.name == name; };
    if (std::none_of(allowed.begin(), allowed.end(), is_it)) {
      Report(Code::kUnknownAttribute, At(node, attribute.name()),
             absl::StrCat("<", node.name(), "> has no attribute \"", name, "\"; it may have ",
                          allowed.size() == 0
                              ? "none"
                              : absl::StrJoin(allowed, ", ",
                                              [](std::string* out, const AttributeInfo& info) {
                                                absl::StrAppend(out, info.name);
                                              })));
    }
  }
}

void ElementReader::ReportUnknown(pugi::xml_node node, pugi::xml_node inside) {
  if (node.type() == pugi::node_element) {
    Report(Code::kUnknownElement, At(node),
           absl::StrCat("<", inside.name(), "> cannot hold <", node.name(), ">"));
  } else if (node.type() == pugi::node_pcdata || node.type() == pugi::node_cdata) {
    Report(Code::kUnknownElement, At(inside),
           absl::StrCat("<", inside.name(), "> cannot hold text; put it into <doc>"));
  }
}

std::string ElementReader::Require(pugi::xml_node node, absl::string_view name) {
  std::string value = ReadText(node, name);
  if (value.empty()) {
    Report(Code::kMissingAttribute, At(node),
           absl::StrCat("<", node.name(), "> needs ", name, "=\"…\""));
  }
  return value;
}

Deferred ElementReader::ReadLater(pugi::xml_node node, absl::string_view name) const {
  const pugi::xml_attribute attribute = FindAttribute(node, name);
  if (!attribute) return {{}, At(node)};
  return {attribute.value(), At(node, name)};
}

std::optional<uint64_t> ElementReader::ReadNumber(pugi::xml_node node, absl::string_view name,
                                                  uint64_t most) {
  const pugi::xml_attribute attribute = FindAttribute(node, name);
  if (!attribute) return std::nullopt;
  uint64_t value = 0;
  if (!ParseUnsigned(attribute.value(), value)) {
    Report(Code::kBadNumber, At(node, name),
           absl::StrCat(name, "=\"", attribute.value(),
                        "\" must be a number, in decimal or in hexadecimal as 0x…"));
    return std::nullopt;
  }
  if (value > most) {
    Report(Code::kBadNumber, At(node, name),
           absl::StrCat(name, "=\"", attribute.value(), "\" is more than ", most));
    return std::nullopt;
  }
  return value;
}

bool ElementReader::ReadFlag(pugi::xml_node node, absl::string_view name) {
  const std::string value = ReadText(node, name);
  if (value.empty() || value == "false") return false;
  if (value != "true") {
    Report(Code::kBadNumber, At(node, name),
           absl::StrCat(name, "=\"", value, "\" must be true or false"));
  }
  return true;
}

size_t ElementReader::ReadWord(pugi::xml_node node, absl::string_view name,
                               absl::Span<const absl::string_view> words) {
  const std::string value = ReadText(node, name);
  if (value.empty()) return 0;
  const auto it = std::find(words.begin(), words.end(), value);
  if (it == words.end()) {
    Report(Code::kBadNumber, At(node, name),
           absl::StrCat(name, "=\"", value, "\" must be one of ", absl::StrJoin(words, ", ")));
    return 0;
  }
  return static_cast<size_t>(it - words.begin());
}

std::string ElementReader::FoldText(pugi::xml_node node) {
  Allow(node, std::vector<AttributeInfo>());
  std::string text;
  for (const pugi::xml_node child : node.children()) {
    if (child.type() == pugi::node_element) {
      ReportUnknown(child, node);
    } else {
      text += child.value();
    }
  }
  return FoldedText(text);
}

void ElementReader::ExpectEmpty(pugi::xml_node node) {
  for (const pugi::xml_node child : node.children()) ReportUnknown(child, node);
}

std::string ElementReader::ReadIdentifier(pugi::xml_node node) {
  std::string alias = ReadText(node, "alias");
  if (!alias.empty() && CppMember(alias) != alias) {
    Report(Code::kNameCollision, At(node, "alias"),
           absl::StrCat("alias=\"", alias, "\" cannot be a member in C++; \"", CppMember(alias),
                        "\" could"));
  }
  return alias;
}

}  // namespace packsmith::model
