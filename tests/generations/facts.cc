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
using model::FieldType;
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
        c.variable ? "variable" : absl::StrCat(c.c_dwords.value_or(c.bytes / 4));
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
                                    c.c_offset.value_or(c.register_offset)));
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
      if (item.kind == Item::Kind::kField) {
        Field(c, item, groups, base);
      } else if (item.kind == Item::Kind::kGroup && item.c_whole) {
        Item whole = item.items[0];
        whole.bit = item.bit;
        whole.width = item.width * (item.tail ? item.c_count : item.count);
        Field(c, whole, groups, base);
      } else if (item.kind == Item::Kind::kGroup && item.c_count == 1) {
        Items(c, item.items, groups, base + item.bit);
      } else if (item.kind == Item::Kind::kGroup) {
        const std::string count = item.tail && item.c_count == 0
                                      ? "*"
                                      : absl::StrCat(item.tail ? item.c_count : item.count);
        Items(c, item.items,
              absl::StrFormat("%s[%sx%d@%d]", groups, count, item.width, base + item.bit), 0);
      }
    }
  }

  void Field(const Container& c, const Item& item, const std::string& groups, uint32_t base) {
    const uint32_t first = base + item.bit;
    const uint32_t width = item.c_bits != 0 ? item.c_bits : item.width;
    Add(c.name, absl::StrFormat("field %s: %s%s%s %d-%d %s%s%s", c.name, groups,
                                groups.empty() ? "" : " ", item.name, first, first + width - 1,
                                item.c_uint ? "uint" : item.type_name.text, Default(c, item),
                                item.prefix.empty() ? "" : absl::StrCat(" prefix=", item.prefix)));
    const uint64_t bits = item.width >= 64 ? ~uint64_t{0} : (uint64_t{1} << item.width) - 1;
    for (const model::Value& value : item.values) {
      Add(c.name, absl::StrCat("value ", c.name, ": ", item.name, ", ", value.name, "=",
                               item.type == FieldType::kInt ? value.value & bits : value.value));
    }
  }

  static std::string Default(const Container& c, const Item& item) {
    if (item.c_no_default) return "";
    if (item.forced) return absl::StrCat(" default=", *item.forced);
    if (item.default_real) return absl::StrCat(" default=", *item.default_real);
    if (item.default_value) {
      return absl::StrCat(" default=", static_cast<int64_t>(*item.default_value));
    }
    if (&item == c.length_field && !c.variable) {
      return absl::StrCat(" default=", c.c_dwords.value_or(c.bytes / 4) - c.length_bias);
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
