#include "gen/model/syntax/item_parser.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gen/model/syntax/attributes.h"
#include "gen/model/syntax/text.h"

namespace packsmith::model {
namespace {

constexpr int kDeepestGroup = 4;

bool IsFilledBy(const Item& group, const Item& item) {
  return item.kind == Item::Kind::kField && item.type == FieldType::kUint && item.bit == 0 &&
         item.width == group.width;
}

}  // namespace

DataFormat ItemParser::ReadComponents(pugi::xml_node node) {
  if (!FindAttribute(node, "components")) return {};
  absl::StatusOr<DataFormat> format = ParseComponents(ReadText(node, "components"));
  if (format.ok()) return *std::move(format);
  Report(Code::kBadData, At(node, "components"),
         absl::StrCat("components=\"", ReadText(node, "components"),
                      "\": ", std::string(format.status().message())));
  return {};
}

bool ItemParser::ParseValueOrRemove(pugi::xml_node node, ValueList& into) {
  const absl::string_view what = node.name();
  if (what == "value") {
    ParseValue(node, into);
    return true;
  }
  if (what != "remove" || !into.amends()) return false;
  Allow(node, RemoveValueAttributes());
  ExpectEmpty(node);
  const std::string name = Require(node, "value");
  if (!name.empty() && !into.Remove(name)) {
    Report(Code::kNothingRemoved, At(node), "there is nothing of that name to remove");
  }
  return true;
}

void ItemParser::ParseValue(pugi::xml_node node, ValueList& into) {
  Allow(node, ValueAttributes());
  Value value;
  value.format = ReadComponents(node);
  value.where = At(node);
  Read(node, ValueAttributes(), value);
  const std::string text = Require(node, "value");
  int64_t negative = 0;
  if (!text.empty() && text[0] == '-' && ParseSigned(text, negative)) {
    value.value = static_cast<uint64_t>(negative);
  } else {
    value.value = ReadNumber(node, "value").value_or(0);
  }
  ReadChildren(node, value);
  if (Value* const old = into.Find(value.name)) {
    if (into.amends() && !InThisLayer(old->where)) {
      *old = std::move(value);
      return;
    }
    Report(Code::kDuplicateName, value.where,
           absl::StrCat("there are two values with the name \"", value.name, "\""))
        .notes.push_back({old->where, "the first is here"});
    return;
  }
  into.Add(std::move(value));
}

bool ItemParser::ParseItem(pugi::xml_node node, ItemList& into, int depth) {
  const absl::string_view what = node.name();
  Item item;
  if (what == "field") {
    const Item* old = FindAmended(node, into);
    if (old != nullptr) item = *old;
    item.where = At(node);
    ParseField(node, item, old != nullptr);
  } else if (what == "reserved") {
    item.kind = Item::Kind::kReserved;
    item.where = At(node);
    Allow(node, ReservedAttributes());
    Read(node, ReservedAttributes(), item);
    ParseBits(node, item);
    ReadChildren(node, item);
  } else if (what == "group") {
    item.kind = Item::Kind::kGroup;
    item.where = At(node);
    ParseGroup(node, item, depth);
  } else {
    return false;
  }
  into.Add(std::move(item));
  return true;
}

const Item* ItemParser::FindAmended(pugi::xml_node node, ItemList& items) {
  if (!ReadFlag(node, "amend")) return nullptr;
  const std::string name = ReadText(node, "name");
  const Item* const old = items.FindField(name);
  if (old == nullptr) {
    Report(Code::kNothingToInherit, At(node, "amend"),
           absl::StrCat("there is no inherited field \"", name, "\" to amend"));
  }
  return old;
}

void ItemParser::ParseBits(pugi::xml_node node, Item& item) {
  Require(node, "dword");
  const uint32_t dword = ReadSmall(node, "dword", 0, kLargestContainer / 4);
  const std::string text = Require(node, "bits");
  uint64_t high = 0, low = 0;
  const bool good = ParseHighLow(text, high, low);
  item.unplaced = false;
  if (!good || high < low || high > kLargestContainer * 8) {
    if (!text.empty()) {
      Report(Code::kBadBits, At(node, "bits"),
             absl::StrCat("bits=\"", text,
                          "\" must be \"high:low\" or one bit, counted from the dword's start"));
    }
    // The wrong way round, it is clear what is meant.
    item.unplaced = high >= low || low > kLargestContainer * 8;
    if (item.unplaced) high = low = 0;
    item.overlap = item.unplaced;
    if (high < low) std::swap(high, low);
  }
  item.bit = dword * 32 + static_cast<uint32_t>(low);
  item.width = static_cast<uint32_t>(high - low + 1);
}

void ItemParser::ParseType(pugi::xml_node node, Item& item) {
  static constexpr std::pair<absl::string_view, FieldType> kSimple[] = {
      {"uint", FieldType::kUint},     {"int", FieldType::kInt},   {"bool", FieldType::kBool},
      {"float", FieldType::kFloat},   {"half", FieldType::kHalf}, {"address", FieldType::kAddress},
      {"offset", FieldType::kOffset},
  };
  const std::string& text = item.type_name.text;
  for (const auto& [name, type] : kSimple) {
    if (text == name) {
      item.type = type;
      return;
    }
  }
  // uI.F and sI.F.
  uint64_t whole = 0, fraction = 0;
  const std::vector<absl::string_view> halves =
      absl::StrSplit(absl::string_view(text).substr(text.empty() ? 0 : 1), '.');
  if (!text.empty() && (text[0] == 'u' || text[0] == 's') && halves.size() == 2 &&
      ParseUnsigned(halves[0], whole) && ParseUnsigned(halves[1], fraction) && whole <= 64 &&
      fraction <= 64) {
    item.type = text[0] == 'u' ? FieldType::kUfixed : FieldType::kSfixed;
    item.fraction_bits = static_cast<uint32_t>(std::min<uint64_t>(fraction, 63));
    const uint64_t bits = whole + fraction + (text[0] == 's' ? 1 : 0);
    if (bits != item.width && !item.unplaced) {
      Report(Code::kBadWidth, At(node, "type"),
             absl::StrCat("type ", text, " takes ", bits, " bits, the field has ", item.width));
    }
    return;
  }
  item.type = FieldType::kEnum;  // or a structure; resolved by name later
}

void ItemParser::ParseRange(pugi::xml_node node, Item& item) {
  const bool real = item.type == FieldType::kFloat || item.type == FieldType::kHalf ||
                    item.type == FieldType::kUfixed || item.type == FieldType::kSfixed;
  for (const char* name : {"min", "max"}) {
    if (!FindAttribute(node, name)) continue;
    const std::string text = ReadText(node, name);
    const bool is_min = name[1] == 'i';
    int64_t integer = 0;
    double number = 0;
    if (real && absl::SimpleAtod(text, &number) && std::isfinite(number)) {
      (is_min ? item.min_real : item.max_real) = number;
    } else if (!real && ParseSigned(text, integer)) {
      (is_min ? item.min : item.max) = integer;
    } else {
      Report(Code::kBadNumber, At(node, name), absl::StrCat(name, "=\"", text, "\" is no number"));
    }
  }
}

void ItemParser::ParsePublished(pugi::xml_node node, Item& item, bool amend) {
  if (!amend || FindAttribute(node, "c-bits")) {
    item.c_bits = ReadSmall(node, "c-bits", 0, kLargestContainer * 8);
  }
  if (FindAttribute(node, "c-default")) {
    ReadWord(node, "c-default", kNoneWords);
    item.c_no_default = true;
  }
  if (FindAttribute(node, "c-type")) {
    ReadWord(node, "c-type", kUintWords);
    item.c_uint = true;
    if (item.type != FieldType::kOffset) {
      Report(Code::kContradiction, At(node, "c-type"), "only an offset has another type in C");
    }
  }
}

void ItemParser::ParseField(pugi::xml_node node, Item& item, bool amend) {
  Allow(node, FieldAttributes());
  const auto says = [&](const char* attribute) { return !amend || FindAttribute(node, attribute); };
  if (says("alias")) item.alias = ReadIdentifier(node);
  const bool moves = says("dword") || says("bits");
  if (moves) ParseBits(node, item);
  if (says("type")) {
    Require(node, "type");
    item.type_name = ReadLater(node, "type");
  }
  if (moves || says("type")) ParseType(node, item);
  if (says("minus")) item.encoding.minus = ReadNumber(node, "minus", 1u << 31).value_or(0);
  if (says("shift")) {
    item.shift_given = FindAttribute(node, "shift");
    item.encoding.shift = ReadSmall(node, "shift", 0, 63);
  }
  if (says("log2")) item.encoding.log2 = ReadFlag(node, "log2");
  if (says("groups")) item.encoding.groups = ReadNumber(node, "groups", 1u << 31).value_or(0);
  if (says("align")) item.encoding.align = ReadNumber(node, "align", 1u << 31).value_or(0);
  for (const char* power : {"align", "groups"}) {
    if (FindAttribute(node, power) && ReadNumber(node, power) == uint64_t{0}) {
      Report(Code::kBadEncoding, At(node, power), absl::StrCat(power, " cannot be 0"));
    }
  }
  Read(node, FieldAttributes(), item, amend);
  if (says("forced")) item.forced = ReadNumber(node, "forced");
  ParsePublished(node, item, amend);
  if (FindAttribute(node, "means")) {
    item.meaning = static_cast<Meaning>(1 + ReadWord(node, "means", kMeaningNames));
  }
  ParseRange(node, item);
  // What a field points to, sets and writes is said anew, or stays as a whole.
  bool points_said = !amend, sets_said = !amend, writes_said = !amend, elements_said = !amend;
  const auto fresh = [](bool& said, auto&&... all) {
    if (!said) ((all = {}), ...);
    said = true;
  };
  ValueList values(item.values, amend);
  for (const pugi::xml_node child : node.children()) {
    const absl::string_view what = child.name();
    if (ParseValueOrRemove(child, values)) {
      // Done.
    } else if (what == "points") {
      fresh(points_said, item.points);
      ParsePoints(child, item);
    } else if (what == "sets") {
      fresh(sets_said, item.sets);
      ParseSets(child, item);
    } else if (what == "writes") {
      fresh(writes_said, item.writes_register, item.writes_memory);
      ParseWrites(child, item);
    } else if (what == "element" || what == "step") {
      fresh(elements_said, item.elements);
      ParseElement(child, item);
    } else if (!ReadWords(child, item)) {
      ReportUnknown(child, node);
    }
  }
  values.Finish();
  if (item.unplaced) item.overlap = true;
}

void ItemParser::ParseSets(pugi::xml_node node, Item& item) {
  Allow(node, SetsAttributes());
  ExpectEmpty(node);
  const bool is_state = FindAttribute(node, "state");
  if (!is_state) Require(node, "base");
  if (!item.sets.empty() || (is_state && FindAttribute(node, "base"))) {
    Report(Code::kContradiction, At(node), "a field sets one base or one state");
  }
  SetsBase sets;
  Read(node, SetsAttributes(), sets);
  sets.is_state = is_state;
  static_cast<Deferred&>(sets.base) = ReadLater(node, is_state ? "state" : "base");
  item.sets.assign(1, std::move(sets));
}

void ItemParser::ParseWrites(pugi::xml_node node, Item& item) {
  Allow(node, WritesAttributes());
  ExpectEmpty(node);
  if (!item.writes_register.empty() || !item.writes_memory.empty()) {
    Report(Code::kContradiction, At(node), "a field writes one register");
  }
  Read(node, WritesAttributes(), item);
  if (item.writes_memory.empty()) {
    Require(node, "register");
  } else if (FindAttribute(node, "register")) {
    Report(Code::kContradiction, At(node, "memory"), "register and memory exclude each other");
  }
  if (!item.writes_when.empty() && item.writes_memory.empty()) {
    Report(Code::kContradiction, At(node, "when"), "only writes to memory have when");
  }
}

void ItemParser::ParseElement(pugi::xml_node node, Item& item) {
  ElementOf element;
  element.is_step = absl::string_view(node.name()) == "step";
  const Attributes<ElementOf>& table = element.is_step ? StepAttributes() : ElementAttributes();
  Allow(node, table);
  Read(node, table, element);
  ExpectEmpty(node);
  if (!item.elements.empty()) {
    Report(Code::kContradiction, At(node), "a field says one thing of elements");
  }
  element.where = At(node);
  item.elements.assign(1, std::move(element));
}

void ItemParser::ParsePoints(pugi::xml_node node, Item& item) {
  Allow(node, PointsAttributes());
  ExpectEmpty(node);
  if (!item.points.empty() && item.points.back().when.empty()) {
    Report(Code::kContradiction, At(node),
           "a field points to one thing; of several, all but the last need when=\"…\"");
  }
  Points points;
  points.where = At(node);
  Read(node, PointsAttributes(), points);
  if (points.relative && !points.base.empty()) {
    Report(Code::kContradiction, At(node, "relative"),
           "an offset counts from a base or from its own record");
  }
  if (points.keeps && !FindAttribute(node, "when")) {
    Report(Code::kContradiction, At(node, "keeps"),
           "a pointer that always counts keeps nothing; keeps=\"true\" needs when=\"…\"");
  }
  if (!points.end.empty() && !points.size.empty()) {
    Report(Code::kContradiction, At(node, "end"), "size and end exclude each other");
  }
  item.points.push_back(std::move(points));
}

void ItemParser::ParseGroup(pugi::xml_node node, Item& item, int depth) {
  Allow(node, GroupAttributes());
  item.alias = ReadIdentifier(node);
  Require(node, "dword");
  item.bit = ReadSmall(node, "dword", 0, kLargestContainer / 4) * 32 +
             ReadSmall(node, "bit", 0, kLargestContainer * 8);
  Read(node, GroupAttributes(), item);
  const std::string count = Require(node, "count");
  item.tail = count == "tail";
  if (!item.tail && !count.empty()) item.count = ReadSmall(node, "count", 0, kMostRepeats);
  if (FindAttribute(node, "max")) item.most = ReadSmall(node, "max", 1, kMostRepeats);
  if (item.most != 0 && !item.tail) {
    Report(Code::kContradiction, At(node, "max"),
           "max=\"…\" bounds a tail; any other group has as many items as count=\"…\" says");
  }
  if (item.most != 0 && item.c_count > item.most) {
    Report(Code::kContradiction, At(node, "c-count"),
           "more items would be members in C than max=\"…\" allows");
  }
  if (item.c_count != 0 && !item.tail) {
    Report(Code::kContradiction, At(node, "c-count"),
           "all items of a group that is no tail are members in C");
  }
  if (item.width == 0 || (!item.tail && item.count == 0)) {
    Report(Code::kBadGroup, item.where, "a group repeats at least once, and has items of bits");
    item.width = item.width == 0 ? 32 : item.width;
    item.count = item.tail ? 0 : 1;
  }
  if (depth + 1 >= kDeepestGroup) {
    Report(Code::kTooLarge, item.where,
           absl::StrCat("groups nest at most ", kDeepestGroup - 1, " deep"));
    return;
  }
  ItemList items(item.items, false);
  for (const pugi::xml_node child : node.children()) {
    if (!ParseItem(child, items, depth + 1) && !ReadWords(child, item)) {
      ReportUnknown(child, node);
    }
  }
  if (item.items.empty()) {
    Report(Code::kBadGroup, item.where, "a group holds at least one field");
  }
  if (item.c_whole && ((item.tail && item.c_count == 0) || item.items.size() != 1 ||
                       !IsFilledBy(item, item.items[0]))) {
    Report(Code::kContradiction, At(node, "c-whole"),
           "only items of one uint field that fills them are one field in C");
  }
}

}  // namespace packsmith::model
