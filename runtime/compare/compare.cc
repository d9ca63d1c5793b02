#include "runtime/compare/compare.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "runtime/compare/align.h"
#include "runtime/compare/places.h"
#include "runtime/compare/record_fields.h"
#include "runtime/decode/fields/value.h"

namespace packsmith::compare {
namespace {

using decode::RecordType;

// Compares pairs of items, first to find out which memory corresponds, then for the differences.
class PairComparer {
 public:
  PairComparer(const Trail& a, const Trail& b, const CompareOptions& options)
      : a_(a), b_(b), places_(a, b, options.one_dump) {}

  void Vote(const Item& a, const Item& b) {
    voting_ = true;
    Items(a, b);
  }
  void Count() { places_.Count(); }
  std::vector<Change> Differences(const Item& a, const Item& b) {
    voting_ = false;
    path_.clear();
    changes_.clear();
    Items(a, b);
    return std::exchange(changes_, {});
  }
  uint64_t repeated() const { return repeated_; }

 private:
  void Report(absl::string_view field, std::optional<std::string> a, std::optional<std::string> b) {
    if (!voting_) changes_.push_back({path_, std::string(field), std::move(a), std::move(b)});
  }

  void Items(const Item& a, const Item& b) {
    if (a.type == RecordType::kData) return Data(a, b);
    if (a.own_hash == b.own_hash && a.container == b.container &&
        a.addresses.size() == b.addresses.size()) {
      // Only addresses may differ.
      for (size_t i = 0; i < a.addresses.size(); ++i) {
        const Address &of_a = a.addresses[i], &of_b = b.addresses[i];
        if (Same(a, &of_a, b, &of_b)) continue;
        Report(of_a.field, Text(a_, a, of_a), Text(b_, b, of_b));
      }
    } else if (!voting_ || !a.addresses.empty()) {
      Fields(a, b);
    }
    Children(a, b);
  }

  static std::string Text(const Trail& trail, const Item& item, const Address& address) {
    for (const RecordField& field : FieldsOf(trail.tables, item)) {
      if (field.bit == address.bit) return TextOf(trail.tables, field);
    }
    return absl::StrFormat("0x%x", address.address);
  }

  // Whether the memory that a field points to is among the item's children.
  static bool IsReached(const Item& item, const Trail& trail, const Address& address) {
    return address.is_lead &&
           std::any_of(item.children.begin(), item.children.end(), [&](uint32_t child) {
             const Item& one = trail.items[child];
             return one.by == address.field || (one.index <= 0 && one.space == address.space &&
                                                one.address == address.address);
           });
  }

  // The child that a field points to, though another field of the same address reached it first; or
  // null.
  static const Item* AlsoReached(const Item& item, const Trail& trail, const Item& like) {
    const auto address_of = [&](absl::string_view field) {
      return std::find_if(item.addresses.begin(), item.addresses.end(),
                          [&](const Address& one) { return one.is_lead && one.field == field; });
    };
    const auto wanted = address_of(like.by);
    if (wanted == item.addresses.end()) return nullptr;
    for (const uint32_t child : item.children) {
      const Item& one = trail.items[child];
      if (one.index != like.index || one.name != like.name) continue;
      const auto by = address_of(one.by);
      if (by != item.addresses.end() && by->space == wanted->space &&
          by->address == wanted->address) {
        return &one;
      }
    }
    return nullptr;
  }

  // Whether two fields of the same name, one of which is an address, have the same target.
  bool Same(const Item& a, const Address* of_a, const Item& b, const Address* of_b) {
    if (of_a == nullptr || of_b == nullptr) return false;
    // Packets of other batches are compared as such.
    if (of_a->is_batch && of_b->is_batch) {
      if (voting_) places_.Vote(*of_a, *of_b);
      return true;
    }
    if (voting_) {
      places_.Vote(*of_a, *of_b);
      return true;
    }
    const bool reached = IsReached(a, a_, *of_a);
    if (reached != IsReached(b, b_, *of_b)) return false;
    return reached || places_.IsSame(*of_a, *of_b);
  }

  void Fields(const Item& a, const Item& b) {
    const std::vector<RecordField> of_a = FieldsOf(a_.tables, a), of_b = FieldsOf(b_.tables, b);
    // The same name may come twice: two views of the same bits.
    std::map<std::pair<absl::string_view, size_t>, const RecordField*> by_name;
    std::map<absl::string_view, size_t> seen_a, seen_b;
    for (const RecordField& field : of_b) by_name[{field.name, seen_b[field.name]++}] = &field;
    for (const RecordField& field : of_a) {
      const auto found = by_name.find({field.name, seen_a[field.name]++});
      if (found == by_name.end()) {
        Report(field.name, TextOf(a_.tables, field), std::nullopt);
        continue;
      }
      const RecordField& other = *found->second;
      by_name.erase(found);
      const bool is_address = field.address != nullptr || other.address != nullptr;
      const bool same = is_address && field.address != nullptr && other.address != nullptr
                            ? Same(a, field.address, b, other.address)
                        : field.leaf == other.leaf && field.width == other.width
                            ? field.raw == other.raw
                            : TextOf(a_.tables, field) == TextOf(b_.tables, other);
      if (!same) Report(field.name, TextOf(a_.tables, field), TextOf(b_.tables, other));
    }
    std::vector<const RecordField*> left;
    for (const auto& entry : by_name) left.push_back(entry.second);
    std::sort(left.begin(), left.end());  // in bit order, as in `of_b`
    for (const RecordField* field : left) {
      Report(field->name, std::nullopt, TextOf(b_.tables, *field));
    }
    if (a.container == nullptr || a.container != b.container) return;
    if (a.bytes.size() == b.bytes.size()) Undescribed(a, of_a, b);
  }

  // Bits that no field has.
  void Undescribed(const Item& a, const std::vector<RecordField>& fields, const Item& b) {
    const std::vector<uint8_t> other = OtherBits(a, fields);
    const uint64_t bits = a.bytes.size() * 8;
    for (uint64_t bit = 0; bit < bits; bit += 32) {
      const auto width = static_cast<uint32_t>(std::min<uint64_t>(32, bits - bit));
      const uint64_t mask = decode::ReadBits(other, bit, width);
      const uint64_t of_a = decode::ReadBits(a.bytes, bit, width) & mask;
      const uint64_t of_b = decode::ReadBits(b.bytes, bit, width) & mask;
      if (of_a == of_b) continue;
      Report(absl::StrCat("bits of dword ", bit / 32, " without a field"),
             absl::StrFormat("0x%x", of_a), absl::StrFormat("0x%x", of_b));
    }
  }

  void Data(const Item& a, const Item& b) {
    if (voting_ || a.own_hash == b.own_hash) return;
    if (a.data_size != b.data_size) {
      Report("size", absl::StrCat(a.data_size), absl::StrCat(b.data_size));
    }
    // The first dword that differs, and the number of them.
    const std::vector<RecordField> of_a = FieldsOf(a_.tables, a), of_b = FieldsOf(b_.tables, b);
    const RecordField *first_a = nullptr, *first_b = nullptr;
    uint64_t count = 0;
    for (size_t i = 0; i < std::min(of_a.size(), of_b.size()); ++i) {
      if (of_a[i].raw == of_b[i].raw && of_a[i].width == of_b[i].width) continue;
      if (count++ != 0) continue;
      first_a = &of_a[i];
      first_b = &of_b[i];
    }
    if (first_a == nullptr) {
      if (a.data_size == b.data_size) {
        Report(absl::StrCat("after byte ", Trail::kMostBytes), "some bytes", "others");
      }
      return;
    }
    // Pieces of data may overlap.
    const uint64_t byte = first_a->bit / 8;
    if (!known_.insert({a.space, a.address + byte, b.space, b.address + byte, ""}).second) {
      ++repeated_;
      return;
    }
    std::string field = first_a->name;
    if (count > 1) absl::StrAppend(&field, ", first of ", count, " dwords");
    Report(field, TextOf(a_.tables, *first_a), TextOf(b_.tables, *first_b));
  }

  // Compares those that are reached in the same way.
  void Children(const Item& a, const Item& b) {
    using Key = std::tuple<absl::string_view, int64_t, absl::string_view>;
    const auto key_of = [](const Item& item) { return Key(item.by, item.index, item.name); };
    std::multimap<Key, uint32_t> of_b;
    for (const uint32_t child : b.children) of_b.emplace(key_of(b_.items[child]), child);
    for (const uint32_t child : a.children) {
      const Item& one = a_.items[child];
      const auto found = of_b.lower_bound(key_of(one));
      if (found == of_b.end() || found->first != key_of(one)) {
        if (const Item* const other = AlsoReached(b, b_, one)) {
          Pair(one, *other);
        } else {
          Alone(one, true);
        }
        continue;
      }
      const Item& other = b_.items[found->second];
      of_b.erase(found);
      Pair(one, other);
    }
    std::vector<uint32_t> left;
    for (const auto& entry : of_b) left.push_back(entry.second);
    std::sort(left.begin(), left.end());
    for (const uint32_t child : left) {
      const Item& one = b_.items[child];
      if (const Item* const other = AlsoReached(a, a_, one)) {
        Pair(*other, one);
      } else {
        Alone(one, false);
      }
    }
  }

  void Enter(const Item& item) {
    if (!item.by.empty()) path_.push_back(item.by);
    path_.push_back(item.index < 0 ? item.name : absl::StrCat(item.name, "[", item.index, "]"));
  }

  void Pair(const Item& a, const Item& b) {
    const std::vector<std::string> path = path_;
    const size_t changes = changes_.size();
    Enter(a);
    Items(a, b);
    path_ = path;
    if (changes_.size() == changes || a.type == RecordType::kData) return;
    // What other packets point to, too, is listed only once.
    if (!known_.insert({a.space, a.address, b.space, b.address, a.name}).second) {
      changes_.resize(changes);
      ++repeated_;
    }
  }

  void Alone(const Item& item, bool is_a) {
    const std::vector<std::string> path = path_;
    Enter(item);
    const std::string where = absl::StrFormat("0x%x", item.address);
    Report("", is_a ? std::make_optional(where) : std::nullopt,
           is_a ? std::nullopt : std::make_optional(where));
    path_ = path;
  }

  const Trail& a_;
  const Trail& b_;
  Places places_;
  bool voting_ = false;
  std::vector<std::string> path_;
  std::vector<Change> changes_;
  std::set<std::tuple<uint32_t, uint64_t, uint32_t, uint64_t, std::string>> known_;
  uint64_t repeated_ = 0;
};

// The sequences of both sides, aligned.
struct AlignedSequences {
  const Sequence* a;  // null: only the other side has it
  const Sequence* b;
  std::vector<Match> matches;
};

template <class Element, class Key>
std::vector<uint64_t> Keys(const std::vector<Element>& all, const Key& key) {
  std::vector<uint64_t> keys;
  keys.reserve(all.size());
  for (const Element& one : all) keys.push_back(key(one));
  return keys;
}

// Calls visit(index or -1, index or -1) in the order of both; unmatched ones of `a` come first.
template <class Visit>
void Merge(size_t a, size_t b, const std::vector<Match>& matches, const Visit& visit) {
  ptrdiff_t next_a = 0, next_b = 0;
  const auto up_to = [&](size_t end_a, size_t end_b) {
    while (next_a < static_cast<ptrdiff_t>(end_a)) visit(next_a++, -1);
    while (next_b < static_cast<ptrdiff_t>(end_b)) visit(-1, next_b++);
  };
  for (const Match& match : matches) {
    up_to(match.a, match.b);
    visit(next_a++, next_b++);
  }
  up_to(a, b);
}

class Comparer {
 public:
  Comparer(const Trail& a, const Trail& b, const CompareOptions& options)
      : a_(a), b_(b), pairs_(a, b, options) {}

  Comparison Run() {
    const auto name_of = [](const Trail& trail) {
      return [&trail](uint32_t item) {
        return absl::HashOf(trail.items[item].by, trail.items[item].name);
      };
    };
    const std::vector<Match> registers =
        Align(Keys(a_.registers, name_of(a_)), Keys(b_.registers, name_of(b_)));
    const std::vector<AlignedSequences> all = Sequences();
    for (const Match& match : registers) {
      pairs_.Vote(a_.items[a_.registers[match.a]], b_.items[b_.registers[match.b]]);
    }
    for (const AlignedSequences& one : all) {
      for (const Match& match : one.matches) {
        pairs_.Vote(a_.items[one.a->items[match.a]], b_.items[one.b->items[match.b]]);
      }
    }
    pairs_.Count();
    Facts();
    of_ = Of::kRegister;
    Merge(a_.registers.size(), b_.registers.size(), registers, [&](ptrdiff_t i, ptrdiff_t j) {
      Both(i < 0 ? nullptr : &a_.items[a_.registers[static_cast<size_t>(i)]],
           j < 0 ? nullptr : &b_.items[b_.registers[static_cast<size_t>(j)]], 0, 0);
    });
    of_ = Of::kPacket;
    for (const AlignedSequences& one : all) {
      const Sequence& either = one.a != nullptr ? *one.a : *one.b;
      const bool is_state = either.is_state;
      engine_ = either.engine;
      Merge(one.a == nullptr ? 0 : one.a->items.size(), one.b == nullptr ? 0 : one.b->items.size(),
            one.matches, [&](ptrdiff_t i, ptrdiff_t j) {
              Both(i < 0 ? nullptr : &a_.items[one.a->items[static_cast<size_t>(i)]],
                   j < 0 ? nullptr : &b_.items[one.b->items[static_cast<size_t>(j)]],
                   is_state ? 0 : static_cast<uint64_t>(i + 1),
                   is_state ? 0 : static_cast<uint64_t>(j + 1));
            });
    }
    comparison_.repeated = pairs_.repeated();
    return std::move(comparison_);
  }

 private:
  // By content, then by names and lengths, then by names.
  std::vector<Match> Packets(const Sequence& a, const Sequence& b) const {
    const auto keys = [&](const auto& key) {
      return std::make_pair(Keys(a.items, [&](uint32_t item) { return key(a_.items[item]); }),
                            Keys(b.items, [&](uint32_t item) { return key(b_.items[item]); }));
    };
    const auto content =
        keys([](const Item& item) -> uint64_t { return absl::HashOf(item.hash, item.key); });
    const auto length = keys([](const Item& item) -> uint64_t {
      return absl::HashOf(item.name, item.bytes.size(), item.key);
    });
    const auto name =
        keys([](const Item& item) -> uint64_t { return absl::HashOf(item.name, item.key); });
    std::vector<Match> matches = Align(content.first, content.second);
    AlignRest(length.first, length.second, matches);
    AlignRest(name.first, name.second, matches);
    return matches;
  }

  // Submissions are aligned as packets are.
  std::vector<AlignedSequences> Sequences() const {
    const auto content = [](const Trail& trail) {
      return [&trail](const Sequence& sequence) -> uint64_t {
        uint64_t hash = absl::HashOf(sequence.engine, sequence.kind);
        for (const uint32_t item : sequence.items) {
          hash = absl::HashOf(hash, trail.items[item].hash);
        }
        return hash;
      };
    };
    const auto names = [](const Trail& trail) {
      return [&trail](const Sequence& sequence) -> uint64_t {
        uint64_t hash = absl::HashOf(sequence.engine, sequence.kind);
        for (const uint32_t item : sequence.items) {
          hash = absl::HashOf(hash, trail.items[item].name);
        }
        return hash;
      };
    };
    const auto engine = [](const Sequence& sequence) -> uint64_t {
      return absl::HashOf(sequence.engine, sequence.kind);
    };
    std::vector<Match> matches =
        Align(Keys(a_.sequences, content(a_)), Keys(b_.sequences, content(b_)));
    AlignRest(Keys(a_.sequences, names(a_)), Keys(b_.sequences, names(b_)), matches);
    AlignRest(Keys(a_.sequences, engine), Keys(b_.sequences, engine), matches);
    std::vector<AlignedSequences> all;
    Merge(a_.sequences.size(), b_.sequences.size(), matches, [&](ptrdiff_t i, ptrdiff_t j) {
      AlignedSequences one{i < 0 ? nullptr : &a_.sequences[static_cast<size_t>(i)],
                           j < 0 ? nullptr : &b_.sequences[static_cast<size_t>(j)],
                           {}};
      if (one.a != nullptr && one.b != nullptr) one.matches = Packets(*one.a, *one.b);
      all.push_back(std::move(one));
    });
    return all;
  }

  void Facts() {
    const std::map<std::string, std::string> of_a(a_.facts.begin(), a_.facts.end());
    const std::map<std::string, std::string> of_b(b_.facts.begin(), b_.facts.end());
    const auto add = [&](Kind kind, const std::string& name, std::optional<std::string> a,
                         std::optional<std::string> b) {
      Difference difference;
      difference.kind = kind;
      difference.of = Of::kFact;
      difference.name = name;
      difference.changes.push_back({{}, name, std::move(a), std::move(b)});
      comparison_.differences.push_back(std::move(difference));
    };
    for (const auto& [name, value] : a_.facts) {
      const auto other = of_b.find(name);
      if (other == of_b.end()) {
        ++comparison_.counts.removed;
        add(Kind::kRemoved, name, value, std::nullopt);
      } else if (other->second == value) {
        ++comparison_.counts.same;
      } else {
        ++comparison_.counts.changed;
        add(Kind::kChanged, name, value, other->second);
      }
    }
    for (const auto& [name, value] : b_.facts) {
      if (of_a.count(name) != 0) continue;
      ++comparison_.counts.added;
      add(Kind::kAdded, name, std::nullopt, value);
    }
  }

  static Where WhereOf(const Item& item, uint64_t number) {
    return {item.submission, number, item.space, item.address, item.draw, item.dispatch};
  }

  // One of them may be null.
  void Both(const Item* a, const Item* b, uint64_t number_a, uint64_t number_b) {
    Difference difference;
    difference.engine = engine_;
    difference.of = of_;
    difference.name = a != nullptr ? a->name : b->name;
    if (a != nullptr && of_ == Of::kPacket) difference.a = WhereOf(*a, number_a);
    if (b != nullptr && of_ == Of::kPacket) difference.b = WhereOf(*b, number_b);
    if (a != nullptr && b != nullptr) {
      difference.changes = pairs_.Differences(*a, *b);
      if (difference.changes.empty()) {
        ++comparison_.counts.same;
        return;
      }
      ++comparison_.counts.changed;
    } else {
      difference.kind = a != nullptr ? Kind::kRemoved : Kind::kAdded;
      difference.changes = a != nullptr ? Set(a_, *a, true) : Set(b_, *b, false);
      ++(a != nullptr ? comparison_.counts.removed : comparison_.counts.added);
    }
    comparison_.differences.push_back(std::move(difference));
  }

  // The fields that are not zero.
  static std::vector<Change> Set(const Trail& trail, const Item& item, bool is_a) {
    std::vector<Change> changes;
    for (const RecordField& field : FieldsOf(trail.tables, item)) {
      if (field.raw == 0 || (field.leaf != nullptr && (field.leaf->flags & tables::kLength) != 0)) {
        continue;
      }
      Change change{{}, field.name, std::nullopt, std::nullopt};
      (is_a ? change.a : change.b) = TextOf(trail.tables, field);
      changes.push_back(std::move(change));
    }
    return changes;
  }

  const Trail& a_;
  const Trail& b_;
  PairComparer pairs_;
  Comparison comparison_;
  std::string engine_;
  Of of_ = Of::kPacket;
};

}  // namespace

Comparison Compare(const Trail& a, const Trail& b, const CompareOptions& options) {
  return Comparer(a, b, options).Run();
}

}  // namespace packsmith::compare
