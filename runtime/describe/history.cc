#include "runtime/describe/history.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace packsmith::describe {
namespace {

// Members that are not facts about the hardware, or are compared separately.
bool Ignored(absl::string_view key) {
  for (const absl::string_view one :
       {"name", "kind", "doc", "source", "aliases", "workarounds", "on", "honored"}) {
    if (key == one) return true;
  }
  return false;
}

// A member in words: "render, copy"; "kind jump, to Target; kind end".
std::string PlainText(const Json& value) {
  if (value.IsString()) return {value.GetString(), value.GetStringLength()};
  if (value.IsBool()) return value.GetBool() ? "yes" : "no";
  if (value.IsUint64()) return absl::StrCat(value.GetUint64());
  if (value.IsInt64()) return absl::StrCat(value.GetInt64());
  if (value.IsDouble()) return absl::StrCat(value.GetDouble());
  std::vector<std::string> parts;
  if (value.IsArray()) {
    bool objects = false;
    for (const Json& one : value.GetArray()) {
      parts.push_back(PlainText(one));
      objects |= one.IsObject();
    }
    return absl::StrJoin(parts, objects ? "; " : ", ");
  }
  if (value.IsObject()) {
    for (const auto& [key, member] : value.GetObject()) {
      const std::string name = absl::StrReplaceAll(key.GetString(), {{"_", " "}});
      parts.push_back(member.IsTrue() ? name : absl::StrCat(name, " ", PlainText(member)));
    }
  }
  return absl::StrJoin(parts, ", ");
}

// What an absent member means.
std::string Absent(const Json& other) { return other.IsBool() ? "no" : ""; }

// Whether two names have a word in common: with the same place and type, one is the other's new
// name.
bool ShareAWord(absl::string_view a, absl::string_view b) {
  const auto words = [](absl::string_view name) {
    std::set<std::string> all;
    for (const absl::string_view word :
         absl::StrSplit(name, absl::ByAnyChar(" _-.[]/"), absl::SkipEmpty())) {
      if (word.size() >= 3) all.insert(absl::AsciiStrToLower(word));
    }
    return all;
  };
  const std::set<std::string> of_a = words(a), of_b = words(b);
  return std::any_of(of_a.begin(), of_a.end(),
                     [&](const std::string& word) { return of_b.count(word) != 0; });
}

void AddMembers(const Json& owner, const char* key, const std::string& prefix,
                const std::string& index, std::vector<Member>& into) {
  for (const Json& item : Array(owner, key)) {
    const absl::string_view name = Text(item, "name");
    if (!item.HasMember("count")) {
      into.push_back({name.empty() ? "" : absl::StrCat(prefix, name, index), &item});
      continue;
    }
    // If a group has no name, its index belongs to each of its fields.
    if (name.empty()) {
      into.push_back({"", &item});
      AddMembers(item, "items", prefix, index + "[]", into);
    } else {
      const std::string path = absl::StrCat(prefix, name, index, "[]");
      into.push_back({path, &item});
      AddMembers(item, "items", path + ".", "", into);
    }
  }
}

// Members by what identifies them across generations: their path, or without one their place.
using Keyed = std::map<std::string, const Member*>;

Keyed ByKey(const std::vector<Member>& members) {
  Keyed keyed;
  for (const Member& member : members) {
    std::string key = member.path;
    if (key.empty()) {
      const Place place = PlaceOf(*member.item);
      key = absl::StrCat("\n", place.bit, " ", place.width);
    }
    while (!keyed.emplace(key, &member).second) key += "'";
  }
  return keyed;
}

std::string ItemText(const Json& item) {
  std::string text = PlaceText(PlaceOf(item));
  const absl::string_view type = Text(item, "type");
  if (!type.empty()) absl::StrAppend(&text, ", ", type);
  if (item.HasMember("must")) text += ", reserved";
  return text;
}

std::string NameOf(const Member& member) {
  if (!member.path.empty()) return member.path;
  return member.item->HasMember("count") ? "(group)" : "(no name)";
}

class Differ {
 public:
  std::vector<Change> Run(const Json& from, const Json& to) {
    Scalars(from, to, "");
    Values(from, to, "");
    Fields(from, to);
    return std::move(changes_);
  }

 private:
  void Add(absl::string_view what, absl::string_view field, std::string from, std::string to) {
    changes_.push_back({std::string(what), std::string(field), std::move(from), std::move(to)});
  }

  static bool Compared(absl::string_view key) {
    return !Ignored(key) && key != "fields" && key != "items" && key != "values" && key != "bits" &&
           key != "of" && key != "must";
  }

  // Members of both objects, or of only one of them. `of` follows from the type, and readers see
  // reserved bits as a type.
  void Scalars(const Json& from, const Json& to, absl::string_view field) {
    for (const auto& [key, value] : from.GetObject()) {
      const absl::string_view name(key.GetString(), key.GetStringLength());
      if (!Compared(name)) continue;
      const auto other = to.FindMember(key);
      if (other == to.MemberEnd()) {
        Add(name, field, PlainText(value), Absent(value));
      } else if (other->value != value) {
        Add(name, field, PlainText(value), PlainText(other->value));
      }
    }
    for (const auto& [key, value] : to.GetObject()) {
      const absl::string_view name(key.GetString(), key.GetStringLength());
      if (Compared(name) && !from.HasMember(key)) {
        Add(name, field, Absent(value), PlainText(value));
      }
    }
  }

  void Values(const Json& from, const Json& to, absl::string_view field) {
    // By name first; a new name for a number whose old name is gone is a renaming.
    std::map<absl::string_view, const Json*> before, after;
    for (const Json& value : Array(from, "values")) before.emplace(Text(value, "name"), &value);
    for (const Json& value : Array(to, "values")) after.emplace(Text(value, "name"), &value);
    std::map<std::string, const Json*> gone;
    for (const auto& [name, value] : before) {
      if (after.count(name) == 0) gone.emplace(PlainText((*value)["value"]), value);
    }
    for (const Json& value : Array(to, "values")) {
      const auto it = before.find(Text(value, "name"));
      if (it != before.end()) {
        if ((*it->second)["value"] != value["value"]) {
          Add("value changed", field, ValueText(*it->second), ValueText(value));
        }
        continue;
      }
      const auto other = gone.find(PlainText(value["value"]));
      if (other == gone.end()) {
        Add("value added", field, "", ValueText(value));
      } else {
        Add("value renamed", field, ValueText(*other->second), ValueText(value));
        gone.erase(other);
      }
    }
    for (const Json& value : Array(from, "values")) {
      const auto it = gone.find(PlainText(value["value"]));
      if (it != gone.end() && it->second == &value) {
        Add("value removed", field, ValueText(value), "");
      }
    }
  }

  static std::string ValueText(const Json& value) {
    return absl::StrCat(PlainText(value["value"]), " ", Text(value, "name"));
  }

  static std::string Reserved(const Json& item) {
    return item.HasMember("must") ? absl::StrCat("reserved, must be ", Text(item, "must")) : "";
  }

  void Both(const Member& from, const Member& to, absl::string_view name) {
    const Place was = PlaceOf(*from.item), is = PlaceOf(*to.item);
    if (was.bit != is.bit || was.width != is.width) {
      Add("moved", name, PlaceText(was), PlaceText(is));
    }
    const std::string must = Reserved(*from.item), must_be = Reserved(*to.item);
    if (must != must_be) {
      Add("type", name, must.empty() ? std::string(Text(*from.item, "type")) : must,
          must_be.empty() ? std::string(Text(*to.item, "type")) : must_be);
    } else {
      Scalars(*from.item, *to.item, name);
    }
    Values(*from.item, *to.item, name);
  }

  void Fields(const Json& from, const Json& to) {
    const std::vector<Member> was = MembersOf(from), is = MembersOf(to);
    const Keyed before = ByKey(was), after = ByKey(is);
    std::set<const Member*> gone;
    for (const auto& [key, member] : before) {
      if (after.count(key) == 0) gone.insert(member);
    }
    std::map<const Member*, const Member*> partner;
    for (const auto& [key, member] : after) {
      const auto it = before.find(key);
      if (it != before.end()) partner[member] = it->second;
    }
    // A new member where a similar one is gone is a renaming.
    for (const Member& member : is) {
      if (partner.count(&member) != 0 || member.path.empty()) continue;
      for (const Member* old : gone) {
        if (old->path.empty() || ItemText(*old->item) != ItemText(*member.item) ||
            Prefix(old->path) != Prefix(member.path) || !ShareAWord(old->path, member.path) ||
            old->item->HasMember("must") != member.item->HasMember("must") ||
            old->item->HasMember("count") != member.item->HasMember("count")) {
          continue;
        }
        partner[&member] = old;
        gone.erase(old);
        break;
      }
    }
    for (const Member& member : was) {
      if (gone.count(&member) != 0) Add("removed", NameOf(member), ItemText(*member.item), "");
    }
    for (const Member& member : is) {
      const auto it = partner.find(&member);
      if (it == partner.end()) {
        Add("added", NameOf(member), "", ItemText(*member.item));
        continue;
      }
      if (it->second->path != member.path) {
        Add("renamed", NameOf(member), NameOf(*it->second), NameOf(member));
      }
      Both(*it->second, member, NameOf(member));
    }
  }

  static absl::string_view Prefix(absl::string_view path) {
    const size_t dot = path.rfind("].");
    return dot == absl::string_view::npos ? absl::string_view() : path.substr(0, dot);
  }

  std::vector<Change> changes_;
};

// Adds the texts of `from` that are not in `to`, which may have no such member, before its own.
void AddTexts(const Json& from, const char* key, Json& to, rapidjson::Document& owner) {
  Json all(rapidjson::kArrayType);
  for (const Json* const one : {&from, static_cast<const Json*>(&to)}) {
    for (const Json& text : Array(*one, key)) {
      const auto is_same = [&](const Json& other) { return other == text; };
      if (std::none_of(all.Begin(), all.End(), is_same)) {
        all.PushBack(Json(text, owner.GetAllocator()), owner.GetAllocator());
      }
    }
  }
  if (all.Empty()) return;
  to.RemoveMember(key);
  to.AddMember(Json(key, owner.GetAllocator()), all, owner.GetAllocator());
}

// What a workaround at a container is, whatever the products.
bool IsSame(const Json& a, const Json& b) {
  for (const char* const key : {"name", "kind", "with", "field", "value"}) {
    if (Text(a, key) != Text(b, key)) return false;
  }
  return true;
}

// A version of several generations has the workarounds of all: which products they are for is part
// of each.
void AddWorkarounds(const Json& from, rapidjson::Document& to) {
  AddTexts(from, "on", to, to);
  Json all(rapidjson::kArrayType);
  for (const Json& one : Array(from, "workarounds")) {
    all.PushBack(Json(one, to.GetAllocator()), to.GetAllocator());
  }
  if (all.Empty()) return;
  for (const Json& one : Array(to, "workarounds")) {
    const auto old =
        std::find_if(all.Begin(), all.End(), [&](const Json& other) { return IsSame(other, one); });
    if (old == all.End()) {
      all.PushBack(Json(one, to.GetAllocator()), to.GetAllocator());
    } else {
      Json both(one, to.GetAllocator());
      AddTexts(*old, "on", both, to);
      *old = both;
    }
  }
  to.RemoveMember("workarounds");
  to.AddMember("workarounds", all, to.GetAllocator());
}

}  // namespace

std::vector<Member> MembersOf(const Json& record) {
  std::vector<Member> members;
  AddMembers(record, "fields", "", "", members);
  return members;
}

std::string PlaceText(Place place) {
  const uint32_t low = place.bit % 32, high = low + place.width - 1;
  return place.width == 1 ? absl::StrCat("dword ", place.bit / 32, ", bit ", low)
                          : absl::StrCat("dword ", place.bit / 32, ", bits ", high, ":", low);
}

std::vector<Change> Changes(const Json& from, const Json& to) { return Differ().Run(from, to); }

History HistoryOf(absl::Span<const Reference> references, absl::string_view family,
                  absl::string_view kind, absl::string_view name) {
  History history{family, kind, std::string(name), {}};
  for (const Reference& reference : references) {
    const Entry* entry = reference.Find(kind, name);
    if (entry == nullptr || reference.family() != family) continue;
    rapidjson::Document record = Parse(entry->line);
    std::vector<Change> changes;
    if (!history.versions.empty()) {
      changes = Changes(history.versions.back().record, record);
      if (changes.empty()) {
        history.versions.back().generations.push_back(reference.generation());
        AddWorkarounds(history.versions.back().record, record);
        history.versions.back().record = std::move(record);
        continue;
      }
    }
    Version version;
    version.generations.push_back(reference.generation());
    version.record = std::move(record);
    version.changes = std::move(changes);
    history.versions.push_back(std::move(version));
  }
  return history;
}

}  // namespace packsmith::describe
