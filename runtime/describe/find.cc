#include "runtime/describe/find.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/base/closest.h"
#include "runtime/decode/sinks/filter_sink.h"
#include "runtime/describe/history.h"

namespace packsmith::describe {
namespace {

constexpr size_t kMostSuggestions = 8;
// The longest name before a field's dot; no description comes near it.
constexpr size_t kLongestOwner = 512;

// Each name once, though several generations have it, in the order of finding.
class Collected {
 public:
  void Add(const Reference& reference, const Entry& entry) {
    if (seen_.emplace(reference.family(), entry.kind, entry.name).second) {
      found_.push_back({reference.family(), entry.kind, entry.name, ""});
    }
  }
  void Add(const Collected& others) {
    for (const Found& one : others.found_) {
      if (seen_.emplace(one.family, one.kind, one.name).second) found_.push_back(one);
    }
  }
  bool empty() const { return found_.empty(); }
  std::vector<Found> Take() { return std::move(found_); }

 private:
  std::set<std::tuple<absl::string_view, absl::string_view, std::string>> seen_;
  std::vector<Found> found_;
};

// Family by family, of each the newest generation first.
std::vector<const Reference*> NewestFirst(absl::Span<const Reference> references) {
  std::vector<const Reference*> order;
  for (const Reference& reference : references) {
    const auto same = std::find_if(order.begin(), order.end(), [&](const Reference* other) {
      return other->family() == reference.family();
    });
    order.insert(same, &reference);
  }
  return order;
}

// Calls use(entry, reference) for all.
template <class Use>
void ForEach(absl::Span<const Reference> references, const Use& use) {
  for (const Reference* reference : NewestFirst(references)) {
    for (const Entry& entry : reference->entries()) use(entry, *reference);
  }
}

bool IsCalled(const Entry& entry, absl::string_view name) {
  if (absl::EqualsIgnoreCase(entry.name, name)) return true;
  return std::any_of(entry.aliases.begin(), entry.aliases.end(),
                     [&](const std::string& alias) { return absl::EqualsIgnoreCase(alias, name); });
}

// Exact names win over names that differ in case only.
Collected Named(absl::Span<const Reference> references, absl::string_view name) {
  Collected exact, any;
  ForEach(references, [&](const Entry& entry, const Reference& reference) {
    if (entry.name == name) exact.Add(reference, entry);
    if (IsCalled(entry, name)) any.Add(reference, entry);
  });
  return exact.empty() ? any : exact;
}

absl::Status NotFound(absl::string_view what, const std::vector<std::string>& close) {
  return absl::NotFoundError(
      close.empty() ? absl::StrCat(what, "; --list with --gen shows all names")
                    : absl::StrCat(what, "; did you mean ", absl::StrJoin(close, ", "), "?"));
}

// --- Numbers ---

const Entry* EntryOf(const Reference& reference, uint32_t container) {
  constexpr absl::string_view kKinds[] = {"packet", "struct", "register"};
  const tables::Container& c = reference.tables().container(container);
  return reference.Find(kKinds[static_cast<size_t>(c.kind)], reference.tables().string(c.name));
}

absl::StatusOr<std::vector<Found>> FindRegister(absl::Span<const Reference> references,
                                                uint32_t offset) {
  Collected found;
  // The nearest on both sides.
  std::map<uint32_t, std::string> near;
  ForEach(references, [&](const Entry& entry, const Reference& reference) {
    if (entry.kind != "register") return;
    const uint32_t i = reference.tables().FindContainer(entry.name);
    if (i == tables::kNone) return;
    const uint32_t at = reference.tables().container(i).register_offset;
    if (at == offset) found.Add(reference, entry);
    near.emplace(at, entry.name);
  });
  if (!found.empty()) return found.Take();
  std::vector<std::string> close;
  const auto above = near.upper_bound(offset);
  for (auto it = above == near.begin() ? above : std::prev(above); it != near.end(); ++it) {
    close.push_back(absl::StrFormat("%s (0x%x)", it->second, it->first));
    if (it == above) break;
  }
  return NotFound(absl::StrFormat("no register at 0x%x is described (the first dword of a packet "
                                  "must have eight digits: 0x%08x)",
                                  offset, offset),
                  close);
}

absl::StatusOr<std::vector<Found>> FindPacket(absl::Span<const Reference> references,
                                              uint32_t word) {
  // Packets that are identified by the most bits first: they are the least likely to match by
  // chance.
  std::map<int, Collected, std::greater<>> by_bits;
  for (const Reference* reference : NewestFirst(references)) {
    const tables::Tables& tables = reference->tables();
    for (uint32_t stream = 0; stream < tables.streams().size(); ++stream) {
      for (uint32_t engine = 0; engine < 64; ++engine) {
        if (engine != 0 && engine >= tables.engines().size()) break;
        const uint32_t i = tables.FindPacket(stream, uint64_t{1} << engine, word, 4);
        const Entry* entry = i == tables::kNone ? nullptr : EntryOf(*reference, i);
        if (entry == nullptr) continue;
        by_bits[__builtin_popcount(tables.container(i).identify_mask)].Add(*reference, *entry);
      }
    }
  }
  Collected found;
  for (auto& [bits, some] : by_bits) found.Add(some);
  if (!found.empty()) return found.Take();
  return NotFound(absl::StrFormat("no packet begins with 0x%08x", word), {});
}

// --- Fields ---

// The path of the field as it is written, if the record has it. "Edge.Width" is as good as
// "Edge[].Width", and so is "Edge[1].Width".
std::optional<std::string> FieldNamed(const Json& record, absl::string_view field) {
  const auto bare = [](absl::string_view path) {
    std::string text;
    bool inside = false;
    for (const char c : path) {
      inside = c == '[' || (inside && c != ']');
      if (!inside && c != ']') text += absl::ascii_tolower(static_cast<unsigned char>(c));
    }
    return text;
  };
  std::optional<std::string> close;
  for (const Member& member : MembersOf(record)) {
    if (absl::EqualsIgnoreCase(member.path, field)) return member.path;
    if (!member.path.empty() && bare(member.path) == bare(field) && !close) close = member.path;
  }
  return close;
}

// NAME.FIELD. Names may have dots, too.
absl::StatusOr<std::vector<Found>> FindField(absl::Span<const Reference> references,
                                             absl::string_view query) {
  for (size_t dot = query.find('.'); dot <= kLongestOwner; dot = query.find('.', dot + 1)) {
    const absl::string_view name = query.substr(0, dot), field = query.substr(dot + 1);
    std::vector<Found> owners = Named(references, name).Take();
    if (owners.empty()) continue;
    Closest closest(field);
    std::vector<Found> found;
    for (Found& owner : owners) {
      for (const Reference* reference : NewestFirst(references)) {
        const Entry* entry = reference->Find(owner.kind, owner.name);
        if (entry == nullptr || reference->family() != owner.family) continue;
        const rapidjson::Document record = Parse(entry->line);
        owner.field = FieldNamed(record, field).value_or("");
        if (!owner.field.empty()) break;
        for (const Member& member : MembersOf(record)) closest.Offer(member.path);
      }
      if (!owner.field.empty()) found.push_back(std::move(owner));
    }
    if (!found.empty()) return found;
    return NotFound(absl::StrCat(owners[0].name, " has no field \"", field, "\""), closest.Names());
  }
  return absl::NotFoundError("");
}

// What has a field or value of that name, for a query without its owner.
std::vector<std::string> OwnersOf(absl::Span<const Reference> references, absl::string_view name) {
  const std::string quoted = absl::StrCat("{\"name\":\"", name, "\",");
  std::set<std::string> seen;
  std::vector<std::string> owners;
  ForEach(references, [&](const Entry& entry, const Reference&) {
    if (owners.size() == kMostSuggestions || !absl::StrContains(entry.line.substr(1), quoted) ||
        !seen.insert(entry.name).second) {
      return;
    }
    const rapidjson::Document record = Parse(entry.line);
    const std::optional<std::string> field = FieldNamed(record, name);
    owners.push_back(field ? absl::StrCat(entry.name, ".", *field) : entry.name);
  });
  return owners;
}

}  // namespace

absl::StatusOr<std::vector<Found>> Find(absl::Span<const Reference> references,
                                        absl::string_view query) {
  query = absl::StripAsciiWhitespace(query);
  if (Collected named = Named(references, query); !named.empty()) return named.Take();
  if (absl::StartsWithIgnoreCase(query, "0x")) {
    uint32_t number = 0;
    if (!absl::SimpleHexAtoi(query, &number)) {
      return absl::NotFoundError(absl::StrCat(query, " is not a 32-bit hexadecimal number"));
    }
    return query.size() == 10 ? FindPacket(references, number) : FindRegister(references, number);
  }
  if (absl::StrContains(query, '*') || absl::StrContains(query, '?')) {
    Collected matching;
    ForEach(references, [&](const Entry& entry, const Reference& reference) {
      if (decode::MatchesGlob(query, entry.name)) matching.Add(reference, entry);
    });
    if (!matching.empty()) return matching.Take();
    return NotFound(absl::StrCat("no name matches \"", query, "\""), {});
  }
  absl::StatusOr<std::vector<Found>> field = FindField(references, query);
  if (field.ok() || !field.status().message().empty()) return field;
  const std::vector<std::string> owners = OwnersOf(references, query);
  if (!owners.empty()) {
    return absl::NotFoundError(
        absl::StrCat("\"", query, "\" is part of ", absl::StrJoin(owners, ", "),
                     owners.size() == kMostSuggestions ? ", …" : "", "; ask for one of these"));
  }
  Closest closest(query);
  ForEach(references, [&](const Entry& entry, const Reference&) {
    closest.Offer(entry.name);
    for (const std::string& alias : entry.aliases) closest.Offer(alias);
  });
  return NotFound(absl::StrCat("nothing is called \"", query, "\""), closest.Names());
}

}  // namespace packsmith::describe
