#include "gen/model/syntax/item_parser.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gen/model/ast/field_limits.h"
#include "gen/model/syntax/attributes.h"
#include "gen/model/syntax/text.h"

namespace packsmith::model {
namespace {

constexpr int kDeepestGroup = 4;

bool IsFilledBy(const Group& group, const Field* field) {
  return field != nullptr && field->type == FieldType::kUint && field->bit == 0 &&
         field->width == group.width;
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
  if (what == "field") {
    const Field* const old = FindAmended(node, into);
    Item item;  // parsed in place: fields are large, and many
    Field& field = *item.field();
    if (old != nullptr) field = *old;
    field.where = At(node);
    ParseField(node, field, old != nullptr);
    into.Add(std::move(item));
  } else if (what == "reserved") {
    Reserved reserved;
    reserved.where = At(node);
    Allow(node, ReservedAttributes());
    Read(node, ReservedAttributes(), reserved);
    ParseBits(node, reserved);
    ReadChildren(node, reserved);
    into.Add(std::move(reserved));
  } else if (what == "group") {
    Group group;
    group.where = At(node);
    ParseGroup(node, group, depth);
    into.Add(std::move(group));
  } else {
    return false;
  }
  return true;
}

const Field* ItemParser::FindAmended(pugi::xml_node node, ItemList& items) {
  if (!ReadFlag(node, "amend")) return nullptr;
  const std::string name = ReadText(node, "name");
  const Field* const old = items.FindField(name);
  if (old == nullptr) {
    Report(Code::kNothingToInherit, At(node, "amend"),
           absl::StrCat("there is no inherited field \"", name, "\" to amend"));
  }
  return old;
}

void ItemParser::ParseBits(pugi::xml_node node, ItemBase& item) {
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

void ItemParser::ParseType(pugi::xml_node node, Field& field) {
  static constexpr std::pair<absl::string_view, FieldType> kSimple[] = {
      {"uint", FieldType::kUint},     {"int", FieldType::kInt},   {"bool", FieldType::kBool},
      {"float", FieldType::kFloat},   {"half", FieldType::kHalf}, {"address", FieldType::kAddress},
      {"offset", FieldType::kOffset},
  };
  const std::string& text = field.type_name.text;
  for (const auto& [name, type] : kSimple) {
    if (text == name) {
      field.type = type;
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
    field.type = text[0] == 'u' ? FieldType::kUfixed : FieldType::kSfixed;
    field.fraction_bits = static_cast<uint32_t>(std::min<uint64_t>(fraction, 63));
    const uint64_t bits = whole + fraction + (text[0] == 's' ? 1 : 0);
    if (bits != field.width && !field.unplaced) {
      Report(Code::kBadWidth, At(node, "type"),
             absl::StrCat("type ", text, " takes ", bits, " bits, the field has ", field.width));
    }
    return;
  }
  field.type = FieldType::kEnum;  // or a structure; resolved by name later
}

void ItemParser::ParseRange(pugi::xml_node node, Field& field) {
  const bool real = IsReal(field);
  for (const char* name : {"min", "max"}) {
    if (!FindAttribute(node, name)) continue;
    const std::string text = ReadText(node, name);
    const bool is_min = name[1] == 'i';
    int64_t integer = 0;
    double number = 0;
    if (real && absl::SimpleAtod(text, &number) && std::isfinite(number)) {
      (is_min ? field.min_real : field.max_real) = number;
    } else if (!real && ParseSigned(text, integer)) {
      (is_min ? field.min : field.max) = integer;
    } else {
      Report(Code::kBadNumber, At(node, name),
             absl::StrCat(name, "=\"", text, "\" must be a number"));
    }
  }
}

void ItemParser::ParsePublished(pugi::xml_node node, Field& field, bool amend) {
  if (!amend || FindAttribute(node, "c-bits")) {
    field.in_c.bits = ReadSmall(node, "c-bits", 0, kLargestContainer * 8);
  }
  if (FindAttribute(node, "c-default")) {
    ReadWord(node, "c-default", kNoneWords);
    field.in_c.has_no_default = true;
  }
  if (FindAttribute(node, "c-type")) {
    ReadWord(node, "c-type", kUintWords);
    field.in_c.is_uint = true;
    if (field.type != FieldType::kOffset) {
      Report(Code::kContradiction, At(node, "c-type"), "only an offset has another type in C");
    }
  }
}

void ItemParser::ParseField(pugi::xml_node node, Field& field, bool amend) {
  Allow(node, FieldAttributes());
  const auto says = [&](const char* attribute) { return !amend || FindAttribute(node, attribute); };
  if (says("alias")) field.alias = ReadIdentifier(node);
  const bool moves = says("dword") || says("bits");
  if (moves) ParseBits(node, field);
  if (says("type")) {
    Require(node, "type");
    field.type_name = ReadLater(node, "type");
  }
  if (moves || says("type")) ParseType(node, field);
  if (says("minus")) field.encoding.minus = ReadNumber(node, "minus", 1u << 31).value_or(0);
  if (says("shift")) {
    field.shift_given = FindAttribute(node, "shift");
    field.encoding.shift = ReadSmall(node, "shift", 0, 63);
  }
  if (says("log2")) field.encoding.log2 = ReadFlag(node, "log2");
  if (says("groups")) field.encoding.groups = ReadNumber(node, "groups", 1u << 31).value_or(0);
  if (says("align")) field.encoding.align = ReadNumber(node, "align", 1u << 31).value_or(0);
  for (const char* power : {"align", "groups"}) {
    if (FindAttribute(node, power) && ReadNumber(node, power) == uint64_t{0}) {
      Report(Code::kBadEncoding, At(node, power), absl::StrCat(power, " cannot be 0"));
    }
  }
  Read(node, FieldAttributes(), field, amend);
  if (says("forced")) field.forced = ReadNumber(node, "forced");
  ParsePublished(node, field, amend);
  if (FindAttribute(node, "means")) {
    field.meaning = static_cast<Meaning>(1 + ReadWord(node, "means", kMeaningNames));
  }
  ParseRange(node, field);
  // What a field points to, sets and writes is replaced as a whole, or stays.
  bool points_said = !amend, sets_said = !amend, writes_said = !amend, elements_said = !amend;
  const auto fresh = [](bool& said, auto&&... all) {
    if (!said) ((all = {}), ...);
    said = true;
  };
  ValueList values(field.values, amend);
  for (const pugi::xml_node child : node.children()) {
    const absl::string_view what = child.name();
    if (ParseValueOrRemove(child, values)) {
      // Done.
    } else if (what == "points") {
      fresh(points_said, field.points);
      ParsePoints(child, field);
    } else if (what == "sets") {
      fresh(sets_said, field.sets);
      ParseSets(child, field);
    } else if (what == "writes") {
      fresh(writes_said, field.writes_register, field.writes_memory);
      ParseWrites(child, field);
    } else if (what == "element" || what == "step") {
      fresh(elements_said, field.elements);
      ParseElement(child, field);
    } else if (!ReadWords(child, field)) {
      ReportUnknown(child, node);
    }
  }
  values.Finish();
  if (field.unplaced) field.overlap = true;
}

void ItemParser::ParseSets(pugi::xml_node node, Field& field) {
  Allow(node, SetsAttributes());
  ExpectEmpty(node);
  const bool is_state = FindAttribute(node, "state");
  if (!is_state) Require(node, "base");
  if (!field.sets.empty() || (is_state && FindAttribute(node, "base"))) {
    Report(Code::kContradiction, At(node), "a field sets one base or one state");
  }
  SetsBase sets;
  Read(node, SetsAttributes(), sets);
  sets.is_state = is_state;
  static_cast<Deferred&>(sets.base) = ReadLater(node, is_state ? "state" : "base");
  field.sets.assign(1, std::move(sets));
}

void ItemParser::ParseWrites(pugi::xml_node node, Field& field) {
  Allow(node, WritesAttributes());
  ExpectEmpty(node);
  if (!field.writes_register.empty() || !field.writes_memory.empty()) {
    Report(Code::kContradiction, At(node), "a field writes one register");
  }
  Read(node, WritesAttributes(), field);
  if (field.writes_memory.empty()) {
    Require(node, "register");
  } else if (FindAttribute(node, "register")) {
    Report(Code::kContradiction, At(node, "memory"), "register and memory exclude each other");
  }
  if (!field.writes_when.empty() && field.writes_memory.empty()) {
    Report(Code::kContradiction, At(node, "when"), "only writes to memory have when");
  }
}

void ItemParser::ParseElement(pugi::xml_node node, Field& field) {
  ElementOf element;
  element.is_step = absl::string_view(node.name()) == "step";
  const Attributes<ElementOf>& table = element.is_step ? StepAttributes() : ElementAttributes();
  Allow(node, table);
  Read(node, table, element);
  ExpectEmpty(node);
  if (!field.elements.empty()) {
    Report(Code::kContradiction, At(node), "a field says one thing of elements");
  }
  element.where = At(node);
  field.elements.assign(1, std::move(element));
}

void ItemParser::ParsePoints(pugi::xml_node node, Field& field) {
  Allow(node, PointsAttributes());
  ExpectEmpty(node);
  if (!field.points.empty() && field.points.back().when.empty()) {
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
  field.points.push_back(std::move(points));
}

void ItemParser::ParseGroup(pugi::xml_node node, Group& group, int depth) {
  Allow(node, GroupAttributes());
  group.alias = ReadIdentifier(node);
  Require(node, "dword");
  group.bit = ReadSmall(node, "dword", 0, kLargestContainer / 4) * 32 +
              ReadSmall(node, "bit", 0, kLargestContainer * 8);
  Read(node, GroupAttributes(), group);
  group.in_c.count = ReadSmall(node, "c-count", 0, kMostRepeats);
  group.in_c.is_whole = ReadFlag(node, "c-whole");
  const std::string count = Require(node, "count");
  group.tail = count == "tail";
  if (!group.tail && !count.empty()) group.count = ReadSmall(node, "count", 0, kMostRepeats);
  if (FindAttribute(node, "max")) group.most = ReadSmall(node, "max", 1, kMostRepeats);
  if (group.most != 0 && !group.tail) {
    Report(Code::kContradiction, At(node, "max"),
           "max=\"…\" bounds a tail; any other group has as many items as count=\"…\" says");
  }
  if (group.most != 0 && group.in_c.count > group.most) {
    Report(Code::kContradiction, At(node, "c-count"),
           "more items would be members in C than max=\"…\" allows");
  }
  if (group.in_c.count != 0 && !group.tail) {
    Report(Code::kContradiction, At(node, "c-count"),
           "c-count is for tails: all items of any other group are members in C");
  }
  if (group.width == 0 || (!group.tail && group.count == 0)) {
    Report(Code::kBadGroup, group.where, "a group repeats at least once, and has items of bits");
    group.width = group.width == 0 ? 32 : group.width;
    group.count = group.tail ? 0 : 1;
  }
  if (depth + 1 >= kDeepestGroup) {
    Report(Code::kTooLarge, group.where,
           absl::StrCat("groups nest at most ", kDeepestGroup - 1, " deep"));
    return;
  }
  ItemList items(group.items, false);
  for (const pugi::xml_node child : node.children()) {
    if (!ParseItem(child, items, depth + 1) && !ReadWords(child, group)) {
      ReportUnknown(child, node);
    }
  }
  if (group.items.empty()) {
    Report(Code::kBadGroup, group.where, "a group holds at least one field");
  }
  if (group.in_c.is_whole && ((group.tail && group.in_c.count == 0) || group.items.size() != 1 ||
                              !IsFilledBy(group, group.items[0].field()))) {
    Report(Code::kContradiction, At(node, "c-whole"),
           "only items of one uint field that fills them are one field in C");
  }
}

}  // namespace packsmith::model
