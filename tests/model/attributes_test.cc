// The tables of attributes, xml/packsmith.rng and docs/xml.md say the same.

#include "gen/model/syntax/attributes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <pugixml.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/model/marked_text.h"

namespace packsmith::model {
namespace {

// What a schema, or a table, says of an attribute.
struct Said {
  ValueKind kind = ValueKind::kText;
  bool required = false;  // wherever the element is
  std::set<std::string> words;
};
using SaidOf = std::map<std::string, Said>;  // by attribute

// Reads the attributes that xml/packsmith.rng gives each element. An element that has several
// definitions may have what any of them gives it, and must have what all of them demand.
class Schema {
 public:
  Schema() {
    EXPECT_TRUE(document_.load_file("xml/packsmith.rng"));
    for (const pugi::xml_node define : document_.document_element().children("define")) {
      defines_[define.attribute("name").value()] = define;
    }
    for (const auto& [name, define] : defines_) FindElements(define);
  }
  const std::map<std::string, SaidOf>& elements() const { return elements_; }

 private:
  void FindElements(pugi::xml_node node) {
    for (const pugi::xml_node child : node.children()) {
      if (std::string(child.name()) == "element") {
        SaidOf here;
        Gather(child, true, here);
        Merge(elements_.try_emplace(child.attribute("name").value(), here).first->second, here);
      }
      FindElements(child);
    }
  }

  static void Merge(SaidOf& into, const SaidOf& from) {
    for (auto& [name, said] : into) said.required = said.required && from.count(name) != 0;
    for (const auto& [name, said] : from) {
      const bool is_new = into.count(name) == 0;
      Said& old = into[name];
      if (is_new) {
        old = said;
        old.required = false;
      }
      old.required = old.required && said.required;
      old.words.insert(said.words.begin(), said.words.end());
    }
  }

  void Gather(pugi::xml_node node, bool required, SaidOf& into) {
    for (const pugi::xml_node child : node.children()) {
      const std::string what = child.name();
      if (what == "attribute") {
        Said& said = into[child.attribute("name").value()];
        said.required = required;
        Describe(child, said);
      } else if (what == "ref") {
        Gather(defines_[child.attribute("name").value()], required, into);
      } else if (what == "choice") {
        GatherChoice(child, required, into);
      } else if (what != "element") {
        Gather(child, required && what != "optional" && what != "zeroOrMore", into);
      }
    }
  }

  // Required is what each alternative requires.
  void GatherChoice(pugi::xml_node choice, bool required, SaidOf& into) {
    std::map<std::string, int> demanded;
    int alternatives = 0;
    for (const pugi::xml_node child : choice.children()) {
      if (child.type() != pugi::node_element) continue;
      SaidOf here;
      pugi::xml_document one;
      one.append_copy(child);
      Gather(one, true, here);
      ++alternatives;
      for (const auto& [name, said] : here) {
        demanded[name] += said.required ? 1 : 0;
        Said& all = into[name];
        all.kind = said.kind;
        all.words.insert(said.words.begin(), said.words.end());
      }
    }
    for (const auto& [name, count] : demanded) {
      into[name].required = required && count == alternatives;
    }
  }

  void Describe(pugi::xml_node node, Said& said) {
    for (const pugi::xml_node child : node.children()) {
      const std::string what = child.name();
      const std::string name = child.attribute("name").value();
      if (what == "value") {
        said.words.insert(child.child_value());
      } else if (what == "ref" && name == "flag") {
        said.kind = ValueKind::kFlag;
      } else if (what == "ref" && name == "number") {
        said.kind = ValueKind::kNumber;
      } else if (what == "ref") {
        Describe(defines_[name], said);
      } else {
        Describe(child, said);
      }
    }
  }

  pugi::xml_document document_;
  std::map<std::string, pugi::xml_node> defines_;
  std::map<std::string, SaidOf> elements_;
};

// <remove> has a table for each place.
std::map<std::string, SaidOf> Tables() {
  std::map<std::string, SaidOf> elements;
  for (const ElementInfo& element : AllElements()) {
    SaidOf& said = elements[std::string(element.name)];
    for (const AttributeInfo& info : element.attributes) {
      said[std::string(info.name)] = {
          info.kind, info.required, {info.words.begin(), info.words.end()}};
    }
  }
  return elements;
}

std::string ReadText(const std::string& path) {
  std::ifstream in(path);
  EXPECT_TRUE(in) << "cannot open " << path;
  return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

template <class Map>
std::set<std::string> Keys(const Map& map) {
  std::set<std::string> keys;
  for (const auto& [key, value] : map) keys.insert(std::string(key));
  return keys;
}

TEST(Schema, HasTheElementsThatHaveTables) { EXPECT_EQ(Keys(Schema().elements()), Keys(Tables())); }

TEST(Schema, GivesEachElementTheAttributesOfItsTable) {
  const Schema schema;
  for (const auto& [element, table] : Tables()) {
    const auto at = schema.elements().find(element);
    ASSERT_NE(at, schema.elements().end()) << element;
    EXPECT_EQ(Keys(at->second), Keys(table)) << "<" << element << ">";
  }
}

TEST(Schema, DemandsTheAttributesThatItsTableDemands) {
  const Schema schema;
  // What an element that amends another one may leave out, and one of several that exclude each
  // other, is for the parser to demand.
  const std::set<std::string> conditional = {"field dword", "field bits", "field type",
                                             "remove value", "packsmith generation"};
  for (const auto& [element, table] : Tables()) {
    const SaidOf& said = schema.elements().at(element);
    for (const auto& [name, info] : table) {
      const std::string both = absl::StrCat(element, " ", name);
      if (conditional.count(both) != 0 || said.count(name) == 0) continue;
      EXPECT_EQ(said.at(name).required, info.required) << both;
    }
  }
}

TEST(Schema, GivesAttributesTheValuesThatTheParserTakes) {
  const Schema schema;
  for (const auto& [element, table] : Tables()) {
    const SaidOf& said = schema.elements().at(element);
    for (const auto& [name, info] : table) {
      if (said.count(name) == 0) continue;
      const std::string both = absl::StrCat(element, " ", name);
      if (info.kind == ValueKind::kFlag || info.kind == ValueKind::kNumber) {
        // A flag that only ever says true, and a number that may be negative, have patterns of
        // their own there.
        if (said.at(name).kind == ValueKind::kText) continue;
        EXPECT_EQ(said.at(name).kind, info.kind) << both;
      } else if (info.kind == ValueKind::kWord) {
        std::set<std::string> words = info.words;
        words.erase("");
        EXPECT_EQ(said.at(name).words, words) << both;
      } else {
        EXPECT_NE(said.at(name).kind, ValueKind::kFlag) << both;
      }
    }
  }
}

// The rows of docs/xml.md that begin with an element.
std::map<std::string, std::string> Rows() {
  std::map<std::string, std::string> rows;
  const std::string page = ReadText("docs/xml.md");
  for (const absl::string_view line :
       absl::StrSplit(page.substr(page.find("## Reference")), '\n')) {
    // That of <enum> says what amended values are taken out with.
    if (absl::StrContains(line, "`<remove value=")) rows["remove"] += "`value`";
    if (!absl::StartsWith(line, "| `<")) continue;
    const size_t end = line.find('>');
    absl::StrAppend(&rows[std::string(line.substr(4, end - 4))], line);
  }
  return rows;
}

TEST(XmlPageRows, TheRowOfAnElementNamesItsAttributes) {
  const std::map<std::string, std::string> rows = Rows();
  EXPECT_GT(rows.size(), 20u);
  for (const auto& [element, table] : Tables()) {
    const auto row = rows.find(element);
    if (row == rows.end()) continue;  // a table of its own, by attribute
    for (const auto& [name, info] : table) {
      EXPECT_TRUE(absl::StrContains(row->second, absl::StrCat("`", name, "`")) ||
                  absl::StrContains(row->second, absl::StrCat("`", name, "=")))
          << "the row of <" << element << "> does not name " << name;
    }
  }
}

TEST(Attributes, AreListedWhereOneIsUnknown) {
  const LoadResult result = LoadBody(
      "<struct name=\"S\" dwords=\"1\"><field name=\"F\" dword=\"0\" bits=\"31:0\" type=\"offset\">"
      "<points too=\"S\" to=\"S\"/></field></struct>");
  ASSERT_EQ(result.diagnostics.all().size(), 1u);
  EXPECT_EQ(result.diagnostics.all()[0].code, Code::kUnknownAttribute);
  std::string all;
  for (const AttributeInfo& info : PointsAttributes().infos()) {
    absl::StrAppend(&all, all.empty() ? "" : ", ", info.name);
  }
  EXPECT_EQ(result.diagnostics.all()[0].text,
            absl::StrCat("<points> has no attribute \"too\"; it may have ", all));
}

TEST(Attributes, ThatAreAbsentBecomeWhatTheirTableSays) {
  const LoadResult result = LoadBody(
      "<struct name=\"S\" dwords=\"1\"><field name=\"F\" dword=\"0\" bits=\"31:0\" type=\"offset\">"
      "<points to=\"S\"/></field></struct>");
  const Points& points = ContainerNamed(result, "S").items[0].field()->points[0];
  EXPECT_EQ(points.limit, 32u);
  EXPECT_EQ(points.access, Access::kNone);
  EXPECT_FALSE(points.until_zero);
  EXPECT_TRUE(points.base.empty());
}

TEST(Attributes, AWordIsStoredAsItsEnumerator) {
  const LoadResult result = LoadBody(
      "<struct name=\"S\" dwords=\"1\"><field name=\"F\" dword=\"0\" bits=\"31:0\" type=\"offset\">"
      "<points to=\"S\" access=\"write\" until=\"zero\" limit=\"7\"/></field></struct>");
  const Points& points = ContainerNamed(result, "S").items[0].field()->points[0];
  EXPECT_EQ(points.access, Access::kWrite);
  EXPECT_TRUE(points.until_zero);
  EXPECT_EQ(points.limit, 7u);
}

}  // namespace
}  // namespace packsmith::model
