#include "tests/generations/facts.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace packsmith {
namespace {

using model::Container;
using model::ContainerKind;
using model::Field;
using model::FieldType;
using model::Group;
using model::Item;

class Lister {
 public:
  explicit Lister(const model::Model& model) : model_(model) {}

  std::vector<Fact> All() {
    for (const Container& container : model_.containers) List(container);
    for (const model::Enum& e : model_.enums) {
      if (e.only_names()) continue;
      Add(e.name, absl::StrCat("enum ", e.name, ": prefix=", e.prefix));
      for (const model::Value& value : e.values) {
        Add(e.name, absl::StrCat("value ", e.name, ": ", value.name, "=",
                                 static_cast<int64_t>(value.value)));
      }
    }
    std::sort(facts_.begin(), facts_.end(),
              [](const Fact& a, const Fact& b) { return a.text < b.text; });
    return std::move(facts_);
  }

 private:
  void Add(const std::string& of, std::string text) { facts_.push_back({of, std::move(text)}); }

  void List(const Container& c) {
    const std::string dwords =
        c.variable ? "variable" : absl::StrCat(c.in_c.dwords.value_or(c.bytes / 4));
    switch (c.kind) {
      case ContainerKind::kPacket:
        Add(c.name, absl::StrCat("packet ", c.name, ": dwords=", dwords, " bias=", c.length_bias,
                                 " engines=", Engines(c)));
        break;
      case ContainerKind::kStruct:
        Add(c.name, absl::StrCat("struct ", c.name, ": dwords=", dwords));
        break;
      case ContainerKind::kRegister:
        Add(c.name, absl::StrFormat("register %s: dwords=%s offset=0x%x", c.name, dwords,
                                    c.in_c.offset.value_or(c.register_offset)));
        break;
    }
    Items(c, c.items, "", 0);
  }

  static std::string Engines(const Container& c) {
    if (c.engines_text.empty()) return "all";
    std::vector<std::string> names = absl::StrSplit(c.engines_text.text, ' ', absl::SkipEmpty());
    std::sort(names.begin(), names.end());
    return absl::StrJoin(names, "|");
  }

  void Items(const Container& c, const std::vector<Item>& items, const std::string& groups,
             uint32_t base) {
    for (const Item& item : items) {
      if (const Field* const field = item.field()) AddField(c, *field, groups, base);
      if (const Group* const group = item.group()) AddGroup(c, *group, groups, base);
    }
  }

  void AddGroup(const Container& c, const Group& group, const std::string& groups, uint32_t base) {
    const uint32_t count = group.tail ? group.in_c.count : group.count;
    if (group.in_c.is_whole) {
      Field whole = *group.items[0].field();
      whole.bit = group.bit;
      whole.width = group.width * count;
      AddField(c, whole, groups, base);
    } else if (group.in_c.count == 1) {
      Items(c, group.items, groups, base + group.bit);
    } else {
      const std::string times = count == 0 ? "*" : absl::StrCat(count);
      Items(c, group.items,
            absl::StrFormat("%s[%sx%d@%d]", groups, times, group.width, base + group.bit), 0);
    }
  }

  void AddField(const Container& c, const Field& field, const std::string& groups, uint32_t base) {
    const uint32_t first = base + field.bit;
    const uint32_t width = field.in_c.bits != 0 ? field.in_c.bits : field.width;
    Add(c.name,
        absl::StrFormat("field %s: %s%s%s %d-%d %s%s%s", c.name, groups, groups.empty() ? "" : " ",
                        field.name, first, first + width - 1,
                        field.in_c.is_uint ? "uint" : field.type_name.text, Default(c, field),
                        field.prefix.empty() ? "" : absl::StrCat(" prefix=", field.prefix)));
    const uint64_t bits = field.width >= 64 ? ~uint64_t{0} : (uint64_t{1} << field.width) - 1;
    for (const model::Value& value : field.values) {
      Add(c.name, absl::StrCat("value ", c.name, ": ", field.name, ", ", value.name, "=",
                               field.type == FieldType::kInt ? value.value & bits : value.value));
    }
  }

  static std::string Default(const Container& c, const Field& field) {
    if (field.in_c.has_no_default) return "";
    if (field.forced) return absl::StrCat(" default=", *field.forced);
    if (field.default_real) return absl::StrCat(" default=", *field.default_real);
    if (field.default_value) {
      return absl::StrCat(" default=", static_cast<int64_t>(*field.default_value));
    }
    if (&field == c.length_field && !c.variable) {
      return absl::StrCat(" default=", c.in_c.dwords.value_or(c.bytes / 4) - c.length_bias);
    }
    return "";
  }

  const model::Model& model_;
  std::vector<Fact> facts_;
};

}  // namespace

std::vector<Fact> FactsOf(const model::Model& model) { return Lister(model).All(); }

uint32_t CountOf(const std::vector<Fact>& facts, absl::string_view word) {
  return static_cast<uint32_t>(std::count_if(facts.begin(), facts.end(), [&](const Fact& fact) {
    return absl::StartsWith(fact.text, word) && fact.text[word.size()] == ' ';
  }));
}

std::string DigestOf(std::vector<Fact> facts) {
  std::sort(facts.begin(), facts.end(),
            [](const Fact& a, const Fact& b) { return a.text < b.text; });
  // FNV-1a: differences come from mistakes, not from deliberate collisions.
  uint64_t hash = 0xcbf29ce484222325u;
  for (const Fact& fact : facts) {
    for (const char c : absl::StrCat(fact.text, "\n")) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    }
  }
  return absl::StrFormat("%016x", hash);
}

}  // namespace packsmith
