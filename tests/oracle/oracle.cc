#include "tests/oracle/oracle.h"

#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace packsmith {
namespace {

// A packet is at most a few thousand dwords; a larger index is a line that only looks like one.
constexpr uint64_t kMaxDwordIndex = 1 << 20;

bool TakeDigits(absl::string_view* text, uint64_t* value) {
  size_t n = 0;
  while (n < text->size() && absl::ascii_isdigit((*text)[n])) ++n;
  if (n == 0 || !absl::SimpleAtoi(text->substr(0, n), value)) return false;
  text->remove_prefix(n);
  return true;
}

bool TakeBareHex(absl::string_view* text, uint64_t* value) {
  size_t n = 0;
  uint64_t v = 0;
  while (n < text->size() && n < 16 && absl::ascii_isxdigit((*text)[n])) {
    const char c = absl::ascii_tolower((*text)[n]);
    v = v << 4 | static_cast<uint64_t>(absl::ascii_isdigit(c) ? c - '0' : c - 'a' + 10);
    ++n;
  }
  if (n == 0) return false;
  text->remove_prefix(n);
  *value = v;
  return true;
}

bool TakeHex(absl::string_view* text, uint64_t* value) {
  absl::string_view rest = *text;
  if (!absl::ConsumePrefix(&rest, "0x") || !TakeBareHex(&rest, value)) return false;
  *text = rest;
  return true;
}

bool IsName(absl::string_view text) {
  if (text.empty()) return false;
  for (char c : text) {
    if (!absl::ascii_isupper(c) && !absl::ascii_isdigit(c) && c != '_') return false;
  }
  return true;
}

bool IsNumber(absl::string_view text) {
  if (absl::ConsumePrefix(&text, "0x")) {
    uint64_t ignored;
    return TakeBareHex(&text, &ignored) && text.empty();
  }
  absl::ConsumePrefix(&text, "-");
  if (text == "nan" || text == "inf") return true;
  size_t digits = 0, points = 0;
  for (char c : text) {
    if (absl::ascii_isdigit(c)) {
      ++digits;
    } else if (c == '.') {
      ++points;
    } else {
      return false;
    }
  }
  return digits > 0 && points <= 1;
}

// A row of typed memory: numbers, possibly cut short by "...".
bool IsDataRow(absl::string_view text) {
  bool any = false;
  while (!(text = absl::StripLeadingAsciiWhitespace(text)).empty()) {
    const size_t end = text.find(' ');
    const absl::string_view word = text.substr(0, end);
    if (word != "..." && !IsNumber(word)) return false;
    any = true;
    text.remove_prefix(word.size());
  }
  return any;
}

// The headings that Gfx4 and 5 have in place of a structure's name.
absl::string_view UnitStateName(absl::string_view unit) {
  if (unit == "VS") return "VS_STATE";
  if (unit == "GS") return "GS_STATE";
  if (unit == "Clip") return "CLIP_STATE";
  if (unit == "SF") return "SF_STATE";
  if (unit == "WM") return "WM_STATE";
  if (unit == "CC") return "COLOR_CALC_STATE";
  return "";
}

class Parser {
 public:
  Oracle Parse(absl::string_view text) {
    while (!text.empty()) {
      const size_t end = text.find('\n');
      absl::string_view line = text.substr(0, end);
      text.remove_prefix(end == absl::string_view::npos ? text.size() : end + 1);
      absl::ConsumeSuffix(&line, "\r");
      ++oracle_.lines;
      if (const char* why = Line(line)) oracle_.unparsed.push_back({oracle_.lines, line, why});
    }
    return std::move(oracle_);
  }

 private:
  // A structure whose fields are being printed.
  struct Open {
    int field;  // index in the item's fields
    bool has_base = false;
    uint64_t base = 0;
  };

  // Null if the line was understood, otherwise why not.
  const char* Line(absl::string_view line) {
    if (line.empty()) return nullptr;
    if (absl::StartsWith(line, "#### BATCH ")) return Batch(line);
    if (oracle_.batches.empty()) return "before the first batch";
    if (absl::StartsWith(line, "0x")) return AddressLine(line);
    if (line[0] == ' ') {
      if (line.size() > 4 && line.substr(0, 4) == "    " && line[4] != ' ' &&
          absl::StrContains(line, ": ")) {
        return Field(line.substr(4));
      }
      const absl::string_view trimmed = absl::StripAsciiWhitespace(line);
      if (absl::EndsWith(trimmed, " unavailable")) {
        Add(OracleKind::kUnavailable, trimmed);
        return nullptr;
      }
      if (IsDataRow(trimmed)) return DataRow(trimmed);
      return "an indented line that is neither field nor data";
    }
    return Heading(line);
  }

  const char* Batch(absl::string_view line) {
    absl::ConsumePrefix(&line, "#### BATCH ");
    uint64_t number = 0, address = 0;
    if (!TakeDigits(&line, &number) || number > std::numeric_limits<int>::max() ||
        !absl::ConsumePrefix(&line, " address=") || !TakeHex(&line, &address)) {
      return "a batch heading without number or address";
    }
    oracle_.batches.emplace_back();
    oracle_.batches.back().number = static_cast<int>(number);
    oracle_.batches.back().address = address;
    packet_ = -1;
    open_.clear();
    return nullptr;
  }

  OracleItem& Add(OracleKind kind, absl::string_view name) {
    std::vector<OracleItem>& items = oracle_.batches.back().items;
    items.emplace_back();
    OracleItem& item = items.back();
    item.kind = kind;
    item.name = name;
    item.line = oracle_.lines;
    if (kind == OracleKind::kPacket || kind == OracleKind::kUnknown) {
      packet_ = static_cast<int>(items.size()) - 1;
    } else {
      item.packet = packet_;
    }
    open_.clear();
    return item;
  }

  OracleItem* Current() {
    std::vector<OracleItem>& items = oracle_.batches.back().items;
    return items.empty() ? nullptr : &items.back();
  }

  const char* AddressLine(absl::string_view line) {
    uint64_t address = 0, value = 0;
    if (!TakeHex(&line, &address) || !absl::ConsumePrefix(&line, ":")) return "no address";
    absl::string_view rest = line;
    if (absl::ConsumePrefix(&rest, " unknown instruction ") && TakeBareHex(&rest, &value)) {
      OracleItem& item = Add(OracleKind::kUnknown, line.substr(1));
      item.has_address = true;
      item.address = address;
      item.heading_value = value;
      return nullptr;
    }
    line = absl::StripAsciiWhitespace(line);
    if (!TakeHex(&line, &value)) return "no dword after the address";
    rest = line;
    if (absl::ConsumePrefix(&rest, " : Dword ")) {
      uint64_t index = 0;
      if (!TakeDigits(&rest, &index) || !rest.empty() || index > kMaxDwordIndex) {
        return "a dword line without index";
      }
      return Dword(address, static_cast<uint32_t>(value), index);
    }
    if (absl::ConsumePrefix(&line, ":")) {
      line = absl::StripAsciiWhitespace(line);
      if (!IsName(line)) {
        // A few names of the oracle's tables have lower case letters.
        for (char c : line) {
          if (!absl::ascii_isalnum(c) && c != '_') return "not a packet's name";
        }
        if (line.empty()) return "no packet name";
      }
      OracleItem& item = Add(OracleKind::kPacket, line);
      item.has_address = true;
      item.address = address;
      return nullptr;
    }
    return "neither packet nor dword";
  }

  const char* Dword(uint64_t address, uint32_t value, uint64_t index) {
    OracleItem* item = Current();
    if (item == nullptr) return "a dword before the first packet";
    const uint64_t base = address - 4 * index;
    // The line right after "name: <struct X>" gives that structure's place.
    if (!open_.empty() && !open_.back().has_base) {
      if (index != 0) return "a structure that does not begin with its first dword";
      open_.back().base = base;
      open_.back().has_base = true;
      return nullptr;
    }
    for (size_t i = open_.size(); i-- > 0;) {
      if (open_[i].base == base) {
        open_.resize(i + 1);
        return nullptr;
      }
    }
    if (!item->has_address) {
      if (index != 0) return "a heading that is not followed by its first dword";
      item->has_address = true;
      item->address = base;
    }
    if (item->address != base) {
      // Gfx4 and 5: the viewport that a unit's state points to has no heading.
      if (index != 0 || item->kind == OracleKind::kPacket) return "a dword that belongs to nothing";
      item = &Add(OracleKind::kStruct, "");
      item->has_address = true;
      item->address = base;
    }
    open_.clear();
    if (index > item->dwords.size()) return "a dword was left out";
    if (index == item->dwords.size()) item->dwords.push_back(value);
    return item->dwords[index] == value ? nullptr : "a dword printed twice with two values";
  }

  const char* Field(absl::string_view line) {
    OracleItem* item = Current();
    if (item == nullptr) return "a field before the first packet";
    // Names may hold colons ("[5:4]"), and so may the text in brackets; a colon with a space after
    // it is in no name, and in the text in brackets it comes later.
    const size_t colon = line.find(": ");
    OracleField field;
    field.name = line.substr(0, colon);
    absl::string_view value = line.substr(colon + 2);
    if (absl::ConsumePrefix(&value, "<struct ")) {
      if (!absl::ConsumeSuffix(&value, ">") || value.empty()) return "an unfinished structure";
      field.struct_name = value;
      CloseSameType(*item, value);
      field.parent = open_.empty() ? -1 : open_.back().field;
      item->fields.push_back(field);
      open_.push_back({static_cast<int>(item->fields.size()) - 1});
      return nullptr;
    }
    const size_t space = value.find(' ');
    field.value = value.substr(0, space);
    if (space != absl::string_view::npos) {
      absl::string_view in_brackets = value.substr(space + 1);
      if (!absl::ConsumePrefix(&in_brackets, "(") || !absl::ConsumeSuffix(&in_brackets, ")")) {
        return "text after a value";
      }
      field.enum_name = in_brackets;
    }
    if (field.value != "true" && field.value != "false" && !IsNumber(field.value)) {
      return "not a value";
    }
    if (!open_.empty() && !open_.back().has_base) return "a structure without a dword";
    field.parent = open_.empty() ? -1 : open_.back().field;
    item->fields.push_back(field);
    return nullptr;
  }

  // A type cannot hold itself, so the next structure of an open type closes the one before.
  void CloseSameType(const OracleItem& item, absl::string_view type) {
    for (size_t i = 0; i < open_.size(); ++i) {
      if (item.fields[open_[i].field].struct_name == type) {
        open_.resize(i);
        return;
      }
    }
  }

  const char* DataRow(absl::string_view line) {
    OracleItem* item = Current();
    // Indices and CURBE contents have no heading of their own.
    if (item == nullptr || item->kind != OracleKind::kData) {
      item = &Add(OracleKind::kData, "data without heading");
    }
    while (!(line = absl::StripLeadingAsciiWhitespace(line)).empty()) {
      const absl::string_view word = line.substr(0, line.find(' '));
      line.remove_prefix(word.size());
      if (word == "...") continue;
      OracleField field;
      field.value = word;
      item->fields.push_back(field);
    }
    return nullptr;
  }

  const char* Heading(absl::string_view line) {
    absl::string_view rest = line;
    uint64_t number = 0, value = 0;
    if (absl::ConsumePrefix(&rest, "pointer ")) {
      if (!TakeDigits(&rest, &number) || !absl::ConsumePrefix(&rest, ": ")) {
        return "a pointer without number";
      }
      const absl::string_view text = rest.substr(0, rest.find(' '));
      if (!TakeHex(&rest, &value)) return "a pointer without value";
      OracleItem* item = Current();
      if (item == nullptr || item->kind != OracleKind::kPointerTable ||
          item->fields.size() != number) {
        item = &Add(OracleKind::kPointerTable, "binding table");
      }
      OracleField field;
      // The digits, wherever they are in the line.
      field.name = line.substr(8, line.find(':') - 8);
      field.value = text;
      field.enum_name = absl::StripAsciiWhitespace(rest);
      item->fields.push_back(field);
      return nullptr;
    }
    if (absl::ConsumePrefix(&rest, "register ")) {
      const size_t space = rest.find(' ');
      if (space == absl::string_view::npos) return "a register without offset";
      const absl::string_view name = rest.substr(0, space);
      rest.remove_prefix(space);
      if (!absl::ConsumePrefix(&rest, " (") || !TakeHex(&rest, &number) ||
          !absl::ConsumePrefix(&rest, "): ") || !TakeHex(&rest, &value)) {
        return "a register without offset or value";
      }
      OracleItem& item = Add(OracleKind::kRegister, name);
      item.has_address = true;
      item.address = number;
      item.heading_value = value;
      return nullptr;
    }
    if (absl::StartsWith(line, "Referenced ")) {
      const size_t at = line.find(" at ");
      if (at == absl::string_view::npos) return "a reference without address";
      rest = line.substr(at + 4);
      if (!TakeHex(&rest, &value) || !rest.empty()) return "a reference without address";
      OracleItem& item = Add(OracleKind::kReference, line.substr(0, at));
      item.has_address = true;
      item.address = value;
      return nullptr;
    }
    if (absl::ConsumePrefix(&rest, "vertex buffer ") ||
        absl::ConsumePrefix(&rest, "constant buffer ")) {
      const absl::string_view kind = line.substr(0, line.size() - rest.size() - 1);
      int index = -1;
      if (TakeDigits(&rest, &number)) {
        index = static_cast<int>(number & 0xffff);
        if (!absl::ConsumePrefix(&rest, ", ")) return "a buffer without size";
      }
      if (!absl::ConsumePrefix(&rest, "size ") || !TakeDigits(&rest, &value)) {
        return "a buffer without size";
      }
      OracleItem& item = Add(OracleKind::kData, kind);
      item.index = index;
      item.heading_value = value;
      return nullptr;
    }
    if (absl::ConsumePrefix(&rest, "sampler state ")) {
      if (!TakeDigits(&rest, &number) || !rest.empty()) return "a sampler without number";
      Add(OracleKind::kStruct, "SAMPLER_STATE").index = static_cast<int>(number & 0xffff);
      return nullptr;
    }
    if (absl::ConsumePrefix(&rest, "descriptor ")) {
      if (!TakeDigits(&rest, &number) || !absl::ConsumePrefix(&rest, ": ") ||
          !TakeBareHex(&rest, &value)) {
        return "a descriptor without number or offset";
      }
      Add(OracleKind::kStruct, "INTERFACE_DESCRIPTOR_DATA").index =
          static_cast<int>(number & 0xffff);
      return nullptr;
    }
    if (absl::ConsumeSuffix(&rest, " Binding Table:")) {
      Add(OracleKind::kPointerTable, rest);
      return nullptr;
    }
    if (absl::ConsumeSuffix(&rest, " State Table:")) {
      const absl::string_view name = UnitStateName(rest);
      if (name.empty()) return "a unit that is not known";
      Add(OracleKind::kStruct, name);
      return nullptr;
    }
    const size_t space = rest.find(' ');
    const absl::string_view name = rest.substr(0, space);
    if (IsName(name)) {
      int index = -1;
      if (space != absl::string_view::npos) {
        rest.remove_prefix(space + 1);
        if (!TakeDigits(&rest, &number) || !rest.empty()) return "text after a structure's name";
        index = static_cast<int>(number & 0xffff);
      }
      Add(OracleKind::kStruct, name).index = index;
      return nullptr;
    }
    return "a heading of no known kind";
  }

  Oracle oracle_;
  int packet_ = -1;
  std::vector<Open> open_;
};

}  // namespace

const char* OracleKindName(OracleKind kind) {
  switch (kind) {
    case OracleKind::kPacket:
      return "packet";
    case OracleKind::kStruct:
      return "struct";
    case OracleKind::kRegister:
      return "register";
    case OracleKind::kPointerTable:
      return "pointer table";
    case OracleKind::kData:
      return "data";
    case OracleKind::kReference:
      return "shader reference";
    case OracleKind::kUnavailable:
      return "unavailable memory";
    case OracleKind::kUnknown:
      return "unknown dword";
  }
  return "?";
}

Oracle ParseOracle(absl::string_view text) { return Parser().Parse(text); }

std::string OracleFieldPath(const OracleItem& item, absl::string_view name, int parent) {
  std::string path(name);
  while (parent >= 0) {
    path = absl::StrCat(item.fields[parent].name, ".", path);
    parent = item.fields[parent].parent;
  }
  return path;
}

}  // namespace packsmith
