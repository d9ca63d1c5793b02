#include "gen/model/syntax/container_parser.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gen/model/syntax/attributes.h"

namespace packsmith::model {

void ContainerParser::ParseContainer(pugi::xml_node node, ContainerKind kind) {
  const Attributes<Container>& table = kind == ContainerKind::kPacket   ? PacketAttributes()
                                       : kind == ContainerKind::kStruct ? StructAttributes()
                                                                        : RegisterAttributes();
  Allow(node, table);
  const size_t errors = diagnostics_.errors();
  const std::string name = Require(node, "name");
  const bool amend = ReadFlag(node, "amend");
  Container container;
  bool inherited = false;
  Container* old = name.empty() ? nullptr : Find(model_.containers, name);
  if (old != nullptr && InThisLayer(old->where)) {
    Report(Code::kDuplicateName, At(node),
           absl::StrCat("there are two containers with the name \"", name, "\""))
        .notes.push_back({old->where, "the first is here"});
    return;
  }
  const std::string like = ReadText(node, "like");
  if (amend && !like.empty()) {
    Report(Code::kContradiction, At(node, "amend"), "amend and like exclude each other");
  } else if (amend) {
    if (old != nullptr) {
      container = *old;
      inherited = true;
      if (old->kind != kind) {
        Report(Code::kContradiction, At(node),
               absl::StrCat("\"", name, "\" was not a <", node.name(),
                            ">, and amending cannot change that"))
            .notes.push_back({old->where, "what is amended is here"});
        kind = old->kind;
      }
    } else {
      Report(Code::kNothingToInherit, At(node, "amend"),
             absl::StrCat("there is no earlier \"", name, "\" to amend"));
    }
  } else if (!like.empty()) {
    if (const Container* model = Find(model_.containers, like)) {
      container = *model;
      container.aliases.clear();
      inherited = true;
    } else {
      Report(Code::kNothingToInherit, At(node, "like"),
             absl::StrCat("there is no \"", like, "\" above to be like"));
    }
  }
  container.kind = kind;
  container.name = name;
  container.where = At(node);
  if (const std::string alias = ReadText(node, "alias"); !alias.empty()) {
    container.aliases = absl::StrSplit(alias, ',', absl::SkipEmpty());
  }
  ParseSize(node, inherited, container);
  Read(node, table, container, true);
  if (kind == ContainerKind::kRegister && (FindAttribute(node, "offset") || !inherited)) {
    Require(node, "offset");
    container.register_offset = ReadSmall(node, "offset", 0, 0x7fffffff);
  }
  // What C says in place of one size it does not say in place of another.
  if (FindAttribute(node, "dwords")) container.in_c.dwords.reset();
  if (FindAttribute(node, "c-dwords")) {
    container.in_c.dwords = ReadSmall(node, "c-dwords", 0, kLargestContainer / 4);
  }
  if (FindAttribute(node, "c-offset"))
    container.in_c.offset = ReadSmall(node, "c-offset", 0, 0x7fffffff);
  bool variants_cleared = false, parts_cleared = false, flows_cleared = false;
  bool relations_cleared = false, draws_cleared = false, images_cleared = false;
  bool operations_cleared = false;
  // What a derived container says of variants, parts, flows, operations or relations replaces all
  // that it inherited of that sort: their order matters, so there is no merging one by one.
  const auto fresh = [&](bool& cleared, auto& all) {
    if (!cleared && inherited) all.clear();
    cleared = true;
  };
  std::vector<std::string> rules;  // numbers that are declared here
  ItemList items(container.items, inherited);
  for (const pugi::xml_node child : node.children()) {
    const absl::string_view what = child.name();
    if (what == "variant") {
      fresh(variants_cleared, container.variants);
      ParseVariant(child, container);
    } else if (what == "part") {
      if (!parts_cleared && inherited) container.pad = {};
      fresh(parts_cleared, container.parts);
      ParsePart(child, container);
    } else if (what == "pad") {
      Allow(child, PadAttributes());
      ExpectEmpty(child);
      container.pad = {};
      container.pad.where = At(child);
      Read(child, PadAttributes(), container.pad);
    } else if (what == "flow") {
      fresh(flows_cleared, container.flows);
      ParseFlow(child, container);
    } else if (what == "operation") {
      fresh(operations_cleared, container.operations);
      ParseOperation(child, container);
    } else if (what == "relation") {
      fresh(relations_cleared, container.relations);
      Allow(child, RelationAttributes());
      ExpectEmpty(child);
      Read(child, RelationAttributes(), container.relations.emplace_back());
    } else if (what == "rule") {
      ParseRule(child, container, rules);
    } else if (what == "draws" && kind != ContainerKind::kRegister) {
      if (!draws_cleared) container.draws.clear();
      draws_cleared = true;
      ParseDraws(child, container);
    } else if (what == "image") {
      fresh(images_cleared, container.images);
      ParseImage(child, container);
    } else if (what == "remove" && inherited) {
      // What is left of the relations is kept, and new ones are added after it.
      if (FindAttribute(child, "relation")) relations_cleared = true;
      RemoveFrom(container, items, child);
    } else if (!ParseItem(child, items, 0) && !ReadWords(child, container)) {
      ReportUnknown(child, node);
    }
  }
  items.Finish();
  if (name.empty()) return;
  container.broken = diagnostics_.errors() != errors;
  if (old != nullptr) {
    *old = std::move(container);
  } else {
    Append(model_.containers, std::move(container));
  }
}

void ContainerParser::RemoveFrom(Container& container, ItemList& items, pugi::xml_node node) {
  Allow(node, RemoveFieldAttributes());
  ExpectEmpty(node);
  size_t removed = 0;
  const int named = (FindAttribute(node, "relation") ? 1 : 0) +
                    (FindAttribute(node, "rule") ? 1 : 0) + (FindAttribute(node, "field") ? 1 : 0);
  if (named > 1) {
    Report(Code::kContradiction, At(node), "<remove> takes out one thing");
    return;
  }
  if (FindAttribute(node, "rule")) {
    const std::string number = ReadText(node, "rule");
    removed =
        std::erase_if(container.rules, [&](const Rule& rule) { return rule.number == number; });
  } else if (!FindAttribute(node, "relation")) {
    const std::string field = Require(node, "field");
    if (field.empty()) return;
    removed = items.Remove(field);
  } else {
    const std::string packet = ReadText(node, "relation");
    removed = std::erase_if(container.relations,
                            [&](const Relation& r) { return r.packet.text == packet; });
  }
  if (removed == 0) {
    Report(Code::kNothingRemoved, At(node), "there is nothing of that name to remove");
  }
}

void ContainerParser::ParseSize(pugi::xml_node node, bool inherited, Container& container) {
  const bool has_dwords = FindAttribute(node, "dwords"), has_bytes = FindAttribute(node, "bytes");
  if (has_dwords && has_bytes) {
    Report(Code::kContradiction, At(node, "bytes"), "dwords and bytes exclude each other");
  }
  if (!has_dwords && !has_bytes) {
    if (inherited) return;
    Report(Code::kMissingAttribute, At(node),
           absl::StrCat("<", node.name(), "> needs dwords=\"…\" or bytes=\"…\""));
    container.variable = true;
    return;
  }
  const char* attribute = has_dwords ? "dwords" : "bytes";
  container.byte_unit = !has_dwords;
  container.variable = ReadText(node, attribute) == "variable";
  if (container.variable) {
    container.bytes = 0;
    return;
  }
  const uint32_t unit = has_dwords ? 4 : 1;
  container.bytes = ReadSmall(node, attribute, 0, kLargestContainer / unit) * unit;
  if (container.bytes == 0 || container.bytes % 2 != 0) {
    Report(Code::kBadNumber, At(node, attribute),
           "a container has at least two bytes, and a whole number of pairs of bytes");
    container.bytes = 4;
  }
}

void ContainerParser::ParseVariant(pugi::xml_node node, Container& container) {
  Allow(node, VariantAttributes());
  ExpectEmpty(node);
  Variant variant;
  variant.where = At(node);
  Read(node, VariantAttributes(), variant);
  const uint32_t unit = FindAttribute(node, "bytes") ? 1 : 4;
  const char* attribute = unit == 1 ? "bytes" : "dwords";
  Require(node, attribute);
  variant.bytes = ReadSmall(node, attribute, 0, kLargestContainer / unit) * unit;
  container.variants.push_back(std::move(variant));
}

void ContainerParser::ParsePart(pugi::xml_node node, Container& container) {
  Allow(node, PartAttributes());
  ExpectEmpty(node);
  Part part;
  part.where = At(node);
  Read(node, PartAttributes(), part);
  part.alias = ReadIdentifier(node);
  if (part.struct_name.empty()) part.struct_name.text = part.name;
  container.parts.push_back(std::move(part));
}

void ContainerParser::ParseFlow(pugi::xml_node node, Container& container) {
  Allow(node, FlowAttributes());
  ExpectEmpty(node);
  const size_t problems = diagnostics_.errors();
  Flow flow;
  flow.where = At(node);
  Read(node, FlowAttributes(), flow);
  // Of an unknown kind nothing more can be said.
  if (problems == diagnostics_.errors()) container.flows.push_back(std::move(flow));
}

void ContainerParser::ParseOperation(pugi::xml_node node, Container& container) {
  Allow(node, OperationAttributes());
  ExpectEmpty(node);
  const size_t problems = diagnostics_.errors();
  Operation operation;
  operation.where = At(node);
  Read(node, OperationAttributes(), operation);
  if (problems == diagnostics_.errors()) container.operations.push_back(std::move(operation));
}

void ContainerParser::ParseRule(pugi::xml_node node, Container& container,
                                std::vector<std::string>& declared) {
  Allow(node, RuleAttributes());
  const size_t problems = diagnostics_.errors();
  Rule rule;
  rule.where = At(node);
  Read(node, RuleAttributes(), rule);
  for (const pugi::xml_node child : node.children()) {
    if (!ReadWords(child, rule)) ReportUnknown(child, node);
  }
  if (problems != diagnostics_.errors()) return;
  const auto old = std::find_if(container.rules.begin(), container.rules.end(),
                                [&](const Rule& one) { return one.number == rule.number; });
  if (std::find(declared.begin(), declared.end(), rule.number) != declared.end()) {
    Report(Code::kDuplicateName, At(node),
           absl::StrCat("there are two rules with the number \"", rule.number, "\" here"))
        .notes.push_back({old->where, "the first is here"});
    return;
  }
  declared.push_back(rule.number);
  if (old == container.rules.end()) {
    container.rules.push_back(std::move(rule));
  } else {
    *old = std::move(rule);
  }
}

void ContainerParser::ParseDraws(pugi::xml_node node, Container& container) {
  Allow(node, DrawsAttributes());
  ExpectEmpty(node);
  Draws draws;
  draws.where = At(node);
  Read(node, DrawsAttributes(), draws);
  for (const auto& [what, needs] :
       {std::make_pair("cut", "cuts"), std::make_pair("cuts", "indices")}) {
    if (FindAttribute(node, what) && !FindAttribute(node, needs)) {
      Report(Code::kContradiction, At(node, what),
             absl::StrCat(what, " is only of use with ", needs));
    }
  }
  if (!container.draws.empty()) {
    Report(Code::kContradiction, At(node), "a packet draws once");
  }
  container.draws.assign(1, std::move(draws));
}

void ContainerParser::ParseImage(pugi::xml_node node, Container& container) {
  Allow(node, ImageAttributes());
  ExpectEmpty(node);
  Image image;
  image.where = At(node);
  Read(node, ImageAttributes(), image);
  container.images.push_back(std::move(image));
}

}  // namespace packsmith::model
