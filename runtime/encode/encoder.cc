#include "runtime/encode/encoder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/closest.h"
#include "runtime/decode/fields/value.h"

namespace packsmith::encode {
namespace {

using decode::ReadBits;
using decode::WriteBits;
using tables::Container;
using tables::kNone;
using tables::Leaf;
using tables::LeafType;

constexpr uint16_t kReserved = tables::kMustBeZero | tables::kMustBeOne;
constexpr uint64_t kHighestItem = kMostRecordBytes;
// Searching for similar names takes longer than all else.
constexpr uint32_t kMostSuggestions = 20;

uint64_t OnesOf(uint32_t width) { return width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1; }

// A name in the form in which names are compared when they are not the same.
std::string Plain(absl::string_view name) {
  std::string plain(name);
  for (char& c : plain) c = c == '_' ? ' ' : absl::ascii_tolower(static_cast<unsigned char>(c));
  return plain;
}

// Offers a name unless its length tells that it is not close.
void Offer(Closest& closest, absl::string_view wanted, absl::string_view name) {
  const size_t most = std::max<size_t>(2, wanted.size() / 4);
  if (name.size() + most < wanted.size()) return;
  const auto same = [](char a, char b) {
    return absl::ascii_tolower(static_cast<unsigned char>(a)) ==
           absl::ascii_tolower(static_cast<unsigned char>(b));
  };
  if (name.size() > wanted.size() + most &&
      std::search(name.begin(), name.end(), wanted.begin(), wanted.end(), same) == name.end()) {
    return;
  }
  closest.Offer(name);
}

std::string NumberText(const decode::Value& value) {
  switch (value.kind) {
    case decode::ValueKind::kSigned:
      return absl::StrCat(value.signed_value);
    case decode::ValueKind::kReal:
      return absl::StrCat(value.real);
    case decode::ValueKind::kAddress:
    case decode::ValueKind::kWide:
      return absl::StrCat("0x", absl::Hex(value.unsigned_value));
    default:
      return absl::StrCat(value.unsigned_value);
  }
}

std::string TextOf(const Given& given) {
  switch (given.kind) {
    case Given::Kind::kBool:
      return given.integer != 0 ? "true" : "false";
    case Given::Kind::kInteger:
      if (given.negative) return absl::StrCat(static_cast<int64_t>(given.integer));
      return given.integer > 0xffff ? absl::StrCat("0x", absl::Hex(given.integer))
                                    : absl::StrCat(given.integer);
    case Given::Kind::kReal:
      return absl::StrCat(given.real);
    case Given::Kind::kName:
      return std::string(given.name);
    case Given::Kind::kRaw:
      return absl::StrCat("raw(0x", absl::Hex(given.integer), ")");
    case Given::Kind::kNothing:
      break;
  }
  return "nothing";
}

}  // namespace

// How a container's fields are called.
struct Encoder::Plan {
  struct Name {
    std::string name;  // of a tail's field: with "[]" for the item
    uint32_t leaf;     // index in the tables
    uint32_t next;     // another field of the same name, or kNone
  };
  std::vector<Name> names, tail;
  absl::flat_hash_map<std::string, uint32_t> by_name, tail_by_name;  // the first of its name
  // By Plain(): kNone: there are several.
  absl::flat_hash_map<std::string, uint32_t> by_plain, tail_by_plain;
  uint32_t expected = 0;        // fields come in the order of the names, mostly
  bool may_be_missing = false;  // a field of the fixed part or the tail must not be zero
};

// A field that has been found.
struct Encoder::Resolved {
  uint32_t field = 0;  // of the request
  uint32_t leaf = kNone;
  uint32_t part = kNone;  // index of a part
  uint64_t item = 0;      // of the tail, or which of several parts
  uint64_t bit = 0;       // from the start of the record; of a part's field, of the part
  uint32_t width = 0;     // less than the leaf's: what a short form of the packet has of it
  bool in_tail = false;
};

struct Encoder::Job {
  const EncodeRequest& request;
  const Container& container;
  Plan& plan;
  std::vector<uint8_t>& bytes;
  std::vector<FieldProblem>& problems;
  bool length_given = false;
  bool changed = false;  // the record differs from its base

  bool has_base() const { return !request.base.empty(); }
  void Say(uint32_t field, std::string text) { problems.push_back({field, std::move(text)}); }
};

Encoder::Encoder(const tables::Tables& tables)
    : tables_(tables), plans_(tables.containers().size()) {}

Encoder::~Encoder() = default;

uint32_t Encoder::Find(absl::string_view name) {
  const uint32_t exact = tables_.FindContainer(name);
  if (exact != kNone) return exact;
  if (containers_.empty()) {
    for (uint32_t i = 0; i < plans_.size(); ++i) {
      const auto [at, inserted] =
          containers_.try_emplace(Plain(tables_.string(tables_.container(i).name)), i);
      if (!inserted) at->second = kNone;
    }
  }
  const auto at = containers_.find(Plain(name));
  return at == containers_.end() ? kNone : at->second;
}

Encoder::Plan& Encoder::PlanOf(const Container& container) {
  std::unique_ptr<Plan>& plan = plans_[tables_.IndexOf(container)];
  if (plan != nullptr) return *plan;
  plan = std::make_unique<Plan>();
  const auto add = [&](tables::Range leaves, bool tail) {
    std::vector<Plan::Name>& names = tail ? plan->tail : plan->names;
    auto& by_name = tail ? plan->tail_by_name : plan->by_name;
    auto& by_plain = tail ? plan->tail_by_plain : plan->by_plain;
    for (uint32_t i = leaves.first; i < leaves.first + leaves.count; ++i) {
      const Leaf& leaf = tables_.leaf(i);
      if ((leaf.flags & kReserved) != 0 || leaf.width > 64) continue;
      constexpr uint16_t kLimited = tables::kNonzero | tables::kHasMin | tables::kHasMax;
      if ((leaf.flags & kLimited) != 0 && !IsValid(leaf, 0)) plan->may_be_missing = true;
      const auto index = static_cast<uint32_t>(names.size());
      names.push_back({absl::StrCat(tables_.string(leaf.name), tail ? "[]" : "",
                                    tables_.string(leaf.name_suffix)),
                       i, kNone});
      const auto [at, inserted] = by_name.try_emplace(names.back().name, index);
      if (inserted) {
        const auto [plain, is_new] = by_plain.try_emplace(Plain(names.back().name), index);
        if (!is_new) plain->second = kNone;
        continue;
      }
      uint32_t last = at->second;
      while (names[last].next != kNone) last = names[last].next;
      names[last].next = index;
    }
  };
  add(container.leaves, false);
  add(container.tail_leaves, true);
  return *plan;
}

std::string Encoder::UnknownContainer(absl::string_view name) {
  std::string text =
      absl::StrCat(tables_.generation(), " has no packet or structure \"", name, "\"");
  if (suggestions_++ >= kMostSuggestions) return text;
  Closest closest(name);
  for (const Container& each : tables_.containers()) {
    Offer(closest, name, tables_.string(each.name));
  }
  return text + DidYouMean(closest);
}

std::string Encoder::UnknownField(const Container& container, absl::string_view name) {
  std::string text = absl::StrCat(tables_.string(container.name), " of ", tables_.generation(),
                                  " has no field \"", name, "\"");
  if (suggestions_++ >= kMostSuggestions) return text;
  Closest closest(name);
  const auto offer = [&](tables::Range leaves, absl::string_view before, bool tail) {
    for (const Leaf& leaf : tables_.leaves(leaves)) {
      if ((leaf.flags & (kReserved | tables::kForced)) != 0) continue;
      Offer(closest, name,
            absl::StrCat(before, tables_.string(leaf.name), tail ? "[0]" : "",
                         tables_.string(leaf.name_suffix)));
    }
  };
  offer(container.leaves, "", false);
  offer(container.tail_leaves, "", true);
  for (const tables::Part& part : tables_.parts(container.parts)) {
    offer(tables_.container(part.container).leaves,
          absl::StrCat(tables_.string(part.name), part.repeat != kNone ? "[0]." : "."), false);
  }
  return text + DidYouMean(closest);
}

bool Encoder::Resolve(Job& job, uint32_t index, Resolved& resolved) {
  const Field& field = job.request.fields[index];
  Plan& plan = job.plan;
  resolved = {.field = index, .leaf = kNone};
  // Of several fields of one name, the one at the stated bits.
  const auto choose = [&](const std::vector<Plan::Name>& names, uint32_t first, uint64_t base) {
    if (field.at && names[first].next != kNone) {
      for (uint32_t i = first; i != kNone; i = names[i].next) {
        const Leaf& leaf = tables_.leaf(names[i].leaf);
        if (base + leaf.bit == field.at->bit && leaf.width >= field.at->width) return i;
      }
    }
    return first;
  };
  const auto find = [](const Plan& in, bool tail, absl::string_view name) {
    const auto& exact = tail ? in.tail_by_name : in.by_name;
    if (const auto at = exact.find(name); at != exact.end()) return at->second;
    const auto& plain = tail ? in.tail_by_plain : in.by_plain;
    const auto at = plain.find(Plain(name));
    return at == plain.end() ? kNone : at->second;
  };
  const auto number_at = [](absl::string_view text, uint64_t& number) {
    return !text.empty() && text.size() < 9 && absl::SimpleAtoi(text, &number) &&
           number < kHighestItem && absl::ascii_isdigit(static_cast<unsigned char>(text[0]));
  };

  uint32_t found = kNone;
  if (plan.expected < plan.names.size() && plan.names[plan.expected].name == field.name) {
    found = plan.expected;
  } else {
    found = find(plan, false, field.name);
  }
  if (found != kNone) {
    found = choose(plan.names, found, 0);
    plan.expected = found + 1;
    resolved.leaf = plan.names[found].leaf;
    resolved.bit = tables_.leaf(resolved.leaf).bit;
  }
  // "Item[3].Channel[1]": any of the brackets may be that of the tail's item.
  std::string without;
  for (size_t open = 0; found == kNone && !plan.tail.empty(); ++open) {
    open = field.name.find('[', open);
    if (open == absl::string_view::npos) break;
    const size_t close = field.name.find(']', open);
    if (close == absl::string_view::npos) break;
    uint64_t item = 0;
    if (!number_at(field.name.substr(open + 1, close - open - 1), item)) continue;
    without = absl::StrCat(field.name.substr(0, open + 1), field.name.substr(close));
    found = find(plan, true, without);
    if (found == kNone) continue;
    const uint64_t base = job.container.tail_bit + item * job.container.tail_size;
    found = choose(plan.tail, found, base);
    resolved.leaf = plan.tail[found].leaf;
    resolved.in_tail = true;
    resolved.item = item;
    resolved.bit = base + tables_.leaf(resolved.leaf).bit;
    if (resolved.bit / 8 >= kMostRecordBytes) {
      job.Say(index, absl::StrCat("item ", item, " would make the record larger than ",
                                  kMostRecordBytes, " bytes"));
      return false;
    }
  }
  const absl::Span<const tables::Part> parts = tables_.parts(job.container.parts);
  for (uint32_t p = 0; found == kNone && p < parts.size(); ++p) {
    absl::string_view rest = field.name;
    const absl::string_view part_name = tables_.string(parts[p].name);
    if (rest.size() <= part_name.size() ||
        (rest.substr(0, part_name.size()) != part_name &&
         Plain(rest.substr(0, part_name.size())) != Plain(part_name))) {
      continue;
    }
    rest.remove_prefix(part_name.size());
    uint64_t item = 0;
    if (rest[0] == '[') {
      const size_t close = rest.find(']');
      if (close == absl::string_view::npos || !number_at(rest.substr(1, close - 1), item)) continue;
      rest.remove_prefix(close + 1);
    }
    if (rest.empty() || rest[0] != '.') continue;
    const Plan& nested = PlanOf(tables_.container(parts[p].container));
    found = find(nested, false, rest.substr(1));
    if (found == kNone) continue;
    resolved.leaf = nested.names[found].leaf;
    resolved.part = p;
    resolved.item = item;
    resolved.bit = tables_.leaf(resolved.leaf).bit;
  }
  if (found == kNone) {
    job.Say(index, UnknownField(job.container, field.name));
    return false;
  }
  const Leaf& leaf = tables_.leaf(resolved.leaf);
  resolved.width = leaf.width;
  if (field.at && resolved.part == kNone) {
    // A record may end inside a field.
    const uint64_t size = job.has_base() ? job.request.base.size() : job.request.bytes.value_or(0);
    const bool cut = field.at->width < leaf.width && field.at->bit + field.at->width == size * 8;
    if (field.at->bit != resolved.bit || (field.at->width != leaf.width && !cut)) {
      job.Say(index, absl::StrCat("\"", field.name, "\" has bits ", resolved.bit + leaf.width - 1,
                                  " to ", resolved.bit, ", not ",
                                  field.at->bit + field.at->width - 1, " to ", field.at->bit));
      return false;
    }
    resolved.width = field.at->width;
  }
  job.length_given = job.length_given || (leaf.flags & tables::kLength) != 0;
  return true;
}

bool Encoder::IsValid(const Leaf& leaf, uint64_t raw) const {
  if ((leaf.flags & tables::kNonzero) != 0 && raw == 0) return false;
  if ((leaf.flags & (tables::kHasMin | tables::kHasMax)) == 0) return true;
  const tables::Extra& extra = tables_.extra(leaf.extra);
  const uint64_t number =
      decode::NumberOf(decode::DecodeValue(tables_, leaf, leaf.width, raw), raw);
  const auto is_less = [&](uint64_t a, uint64_t b) {
    return leaf.type == LeafType::kInt ? static_cast<int64_t>(a) < static_cast<int64_t>(b) : a < b;
  };
  return !((leaf.flags & tables::kHasMin) != 0 &&
           is_less(number, static_cast<uint64_t>(extra.min))) &&
         !((leaf.flags & tables::kHasMax) != 0 &&
           is_less(static_cast<uint64_t>(extra.max), number));
}

std::string Encoder::Limits(const Leaf& leaf) const {
  if (leaf.type == LeafType::kBool) return "true or false";
  if (leaf.type == LeafType::kFloat) return "numbers of 32 bits";
  if (leaf.type == LeafType::kHalf) return "numbers of 16 bits";
  const uint64_t ones = OnesOf(leaf.width);
  const bool is_signed = leaf.type == LeafType::kInt || leaf.type == LeafType::kSfixed;
  const auto decoded = [&](uint64_t raw) {
    return decode::DecodeValue(tables_, leaf, leaf.width, raw);
  };
  decode::Value low = decoded(is_signed ? (ones >> 1) + 1 : 0);
  decode::Value high = decoded(is_signed ? ones >> 1 : ones);
  std::string steps;
  if (leaf.type == LeafType::kUfixed || leaf.type == LeafType::kSfixed) {
    steps = absl::StrCat(" in steps of ", std::ldexp(1.0, -leaf.fraction_bits));
  } else if ((leaf.flags & tables::kLog2) != 0) {
    steps = ", powers of two";
    if (leaf.width > 6) high = decoded(63);
  } else if (leaf.shift != 0) {
    steps = absl::StrCat(", multiples of ", uint64_t{1} << leaf.shift);
  }
  if (leaf.extra != kNone && !IsReal(leaf.type)) {
    const tables::Extra& extra = tables_.extra(leaf.extra);
    if (extra.groups != 0) {
      low.unsigned_value = 0;
      high = decoded(0);
    }
    if (extra.multiple != 0) steps = absl::StrCat(", multiples of ", extra.multiple);
    const auto limit = [&](decode::Value& value, int64_t to) {
      value.signed_value = to;
      value.unsigned_value = static_cast<uint64_t>(to);
    };
    if ((leaf.flags & tables::kHasMin) != 0) limit(low, extra.min);
    if ((leaf.flags & tables::kHasMax) != 0) limit(high, extra.max);
  }
  std::string nonzero;
  if ((leaf.flags & tables::kNonzero) != 0) nonzero = ", not zero";
  return absl::StrCat(NumberText(low), " to ", NumberText(high), steps, nonzero);
}

bool Encoder::Says(const Leaf& leaf, uint64_t raw, const Given& given) const {
  if (given.kind == Given::Kind::kNothing) return true;
  if (given.kind == Given::Kind::kRaw) return raw == given.integer;
  if (given.otherwise && !tables_.NamedValueOf(leaf, given.name)) {
    return Says(leaf, raw, Given::Integer(*given.otherwise));
  }
  const decode::Value value = decode::DecodeValue(tables_, leaf, leaf.width, raw);
  switch (given.kind) {
    case Given::Kind::kName: {
      const uint64_t number = decode::NumberOf(value, raw);
      return tables_.ValueName(leaf, number) == given.name ||
             tables_.NamedValueOf(leaf, given.name) == number;
    }
    case Given::Kind::kReal:
      if (value.kind == decode::ValueKind::kReal) {
        return value.real == given.real && std::signbit(value.real) == std::signbit(given.real);
      }
      return static_cast<double>(value.unsigned_value) == given.real;
    default:
      break;
  }
  switch (value.kind) {
    case decode::ValueKind::kSigned:
      // Decoded records have the bits of those of more than 32 bits.
      return static_cast<uint64_t>(value.signed_value) == given.integer ||
             (leaf.width > 32 && !given.negative && raw == given.integer);
    case decode::ValueKind::kReal:
      return value.real == (given.negative
                                ? static_cast<double>(static_cast<int64_t>(given.integer))
                                : static_cast<double>(given.integer)) &&
             !(value.real == 0 && std::signbit(value.real));
    default:
      return value.unsigned_value == given.integer && !given.negative;
  }
}

std::optional<uint64_t> Encoder::RawOf(Job& job, uint32_t index, const Leaf& leaf,
                                       absl::string_view name, const Given& given) {
  std::optional<uint64_t> raw;
  decode::Value value;
  const auto integer = [&](uint64_t number, bool negative) {
    value.unsigned_value = number;
    value.signed_value = static_cast<int64_t>(number);
    value.real =
        negative ? static_cast<double>(static_cast<int64_t>(number)) : static_cast<double>(number);
    const bool wants_signed = leaf.type == LeafType::kInt;
    const bool fits = IsReal(leaf.type) || (wants_signed ? negative || value.signed_value >= 0
                                                         : !negative || number == 0);
    if (fits) raw = decode::EncodeValue(tables_, leaf, value);
    if (!raw && wants_signed && leaf.width > 32 && !negative && number <= OnesOf(leaf.width)) {
      raw = number;
    }
  };
  switch (given.kind) {
    case Given::Kind::kNothing:
      job.Say(index, absl::StrCat("\"", name, "\" has no value"));
      return std::nullopt;
    case Given::Kind::kRaw:
      if (given.integer <= OnesOf(leaf.width)) return given.integer;
      job.Say(index, absl::StrCat(TextOf(given), " does not fit: \"", name, "\" has ", leaf.width,
                                  leaf.width == 1 ? " bit" : " bits"));
      return std::nullopt;
    case Given::Kind::kName: {
      const std::optional<uint64_t> number = tables_.NamedValueOf(leaf, given.name);
      if (!number && given.otherwise) {
        integer(*given.otherwise, false);
        break;
      }
      if (!number) {
        if (leaf.named == kNone) {
          job.Say(index, absl::StrCat("\"", given.name, "\" is neither a number nor a label: \"",
                                      name, "\" holds ", Limits(leaf)));
          return std::nullopt;
        }
        std::string text = absl::StrCat("\"", name, "\" has no value \"", given.name, "\"");
        if (suggestions_++ < kMostSuggestions) {
          Closest closest(given.name);
          for (const tables::NamedValue& each :
               tables_.values(tables_.enumeration(leaf.named).values)) {
            Offer(closest, given.name, tables_.string(each.name));
          }
          text += DidYouMean(closest);
        }
        job.Say(index, std::move(text));
        return std::nullopt;
      }
      if (IsReal(leaf.type)) return *number;
      integer(*number, leaf.type == LeafType::kInt && static_cast<int64_t>(*number) < 0);
      break;
    }
    case Given::Kind::kBool:
      if (leaf.width != 1) {
        job.Say(index, absl::StrCat("\"", name, "\" is a number: it holds ", Limits(leaf), ", not ",
                                    TextOf(given)));
        return std::nullopt;
      }
      return given.integer;
    case Given::Kind::kInteger:
      integer(given.integer, given.negative);
      break;
    case Given::Kind::kReal:
      if (IsReal(leaf.type)) {
        value.real = given.real;
        raw = decode::EncodeValue(tables_, leaf, value);
      } else if (given.real == std::trunc(given.real) && std::fabs(given.real) < 0x1p62) {
        const auto whole = static_cast<int64_t>(given.real);
        integer(static_cast<uint64_t>(whole), whole < 0);
      }
      break;
  }
  if (!raw || (!job.request.lenient && !IsValid(leaf, *raw))) {
    job.Say(index,
            absl::StrCat(TextOf(given), " does not fit: \"", name, "\" holds ", Limits(leaf)));
    return std::nullopt;
  }
  return raw;
}

// The bits of a field of which a text may say up to three things.
std::optional<uint64_t> Encoder::RawOverBase(Job& job, uint32_t index, const Leaf& leaf,
                                             uint64_t old) {
  const Field& field = job.request.fields[index];
  const Given name = Given::Name(field.value_name);
  const bool has_name = !field.value_name.empty();
  if (!job.has_base()) {
    std::optional<uint64_t> raw;
    if (field.raw) {
      raw = RawOf(job, index, leaf, field.name, Given::Raw(*field.raw));
    } else if (field.value.kind != Given::Kind::kNothing || !has_name) {
      raw = RawOf(job, index, leaf, field.name, field.value);
    } else {
      return RawOf(job, index, leaf, field.name, name);
    }
    if (!raw || (Says(leaf, *raw, field.value) && (!has_name || Says(leaf, *raw, name)))) {
      return raw;
    }
  } else {
    const bool same_value = Says(leaf, old, field.value);
    const bool same_raw = !field.raw || *field.raw == old;
    const bool same_name = !has_name || Says(leaf, old, name);
    if (same_value && same_raw && same_name) return old;
    std::optional<uint64_t> raw;
    bool one = true;
    const auto consider = [&](const Given& given) {
      const std::optional<uint64_t> bits = RawOf(job, index, leaf, field.name, given);
      if (!bits) return false;
      one = one && (!raw || *raw == *bits);
      raw = bits;
      return true;
    };
    if (!same_value && !consider(field.value)) return std::nullopt;
    if (!same_raw && !consider(Given::Raw(*field.raw))) return std::nullopt;
    if (!same_name && !consider(name)) return std::nullopt;
    if (one) return raw;
  }
  job.Say(index, absl::StrCat("the statements about \"", field.name,
                              "\" are contradictory: leave out all but one of its value, its bits "
                              "and the value's name"));
  return std::nullopt;
}

void Encoder::Write(Job& job, const Resolved& resolved) {
  Leaf leaf = tables_.leaf(resolved.leaf);
  leaf.width = static_cast<uint16_t>(resolved.width);
  const uint64_t bit = resolved.bit;
  const absl::Span<uint8_t> bytes = absl::MakeSpan(job.bytes);
  const Field& field = job.request.fields[resolved.field];
  if (bit + leaf.width > bytes.size() * 8) {
    job.Say(resolved.field, absl::StrCat("\"", field.name,
                                         "\" is beyond the end of the record, "
                                         "which has ",
                                         bytes.size(), " bytes"));
    return;
  }
  const uint64_t old = ReadBits(bytes, bit, leaf.width);
  const std::optional<uint64_t> raw = RawOverBase(job, resolved.field, leaf, old);
  if (!raw) return;
  if ((leaf.flags & tables::kForced) != 0 && *raw != tables_.extra(leaf.extra).forced &&
      !job.has_base()) {
    job.Say(resolved.field, absl::StrCat("\"", field.name, "\" is always ",
                                         tables_.extra(leaf.extra).forced, " in this packet"));
    return;
  }
  if (job.has_base()) {
    if (*raw == old) return;
    job.changed = true;
  }
  const uint64_t mask = ReadBits(written_, bit, leaf.width);
  if (((old ^ *raw) & mask) != 0) {
    job.Say(resolved.field, absl::StrCat("\"", field.name,
                                         "\" shares bits with a field that has been given, and "
                                         "has another value"));
    return;
  }
  WriteBits(bytes, bit, leaf.width, *raw);
  WriteBits(absl::MakeSpan(written_), bit, leaf.width, OnesOf(leaf.width));
}

// Opcodes, and reserved bits that must be one; not over bits of fields that were given.
void Encoder::WriteForced(Job& job, tables::Range leaves, uint64_t base) {
  for (const Leaf& leaf : tables_.leaves(leaves)) {
    const bool forced = (leaf.flags & tables::kForced) != 0;
    if (!forced && (leaf.flags & tables::kMustBeOne) == 0) continue;
    for (uint32_t done = 0; done < leaf.width; done += 64) {
      const uint64_t bit = base + leaf.bit + done;
      if (bit >= job.bytes.size() * 8) break;
      const auto width = static_cast<uint32_t>(
          std::min<uint64_t>({64, uint64_t{leaf.width} - done, job.bytes.size() * 8 - bit}));
      const uint64_t bits = forced ? tables_.extra(leaf.extra).forced : ~uint64_t{0};
      const uint64_t mask = ReadBits(written_, bit, width);
      const uint64_t old = ReadBits(job.bytes, bit, width);
      WriteBits(absl::MakeSpan(job.bytes), bit, width, (old & mask) | (bits & ~mask));
    }
  }
}

// Gives the record its size. All fields before the parts have been written.
bool Encoder::SizeOf(Job& job) {
  const Container& c = job.container;
  const decode::Scope scope(tables_, c, job.bytes);
  uint64_t size = c.bytes;
  if (job.request.bytes) {
    size = *job.request.bytes;
  } else if (c.length_leaf != kNone && job.length_given) {
    size = decode::LengthOf(tables_, c, job.bytes);
  } else if (c.tail_size != 0) {
    uint64_t items = 0;
    for (const Resolved& resolved : resolved_) {
      if (resolved.in_tail) items = std::max(items, resolved.item + 1);
    }
    size = (c.tail_bit + items * c.tail_size + 7) / 8;
    if (c.tail_max != 0 && items > c.tail_max && !job.request.lenient) {
      job.Say(kNone, absl::StrCat(items, " items; the hardware takes at most ", c.tail_max));
    }
  } else if (c.parts.count != 0) {
    for (const tables::Part& part : tables_.parts(c.parts)) {
      if (!scope.Holds(part.when)) continue;
      size += decode::RepeatOf(tables_, part, scope) * tables_.container(part.container).bytes;
    }
    if (c.pad_to != 0 && scope.Holds(c.pad_when))
      size = (size + c.pad_to - 1) / c.pad_to * c.pad_to;
  } else if (c.variants.count != 0) {
    for (const tables::Variant& variant : tables_.variants(c.variants)) {
      if (scope.Holds(variant.when)) size = std::max<uint64_t>(size, variant.bytes);
    }
  }
  if (size > kMostRecordBytes) {
    job.Say(kNone, absl::StrCat("the record would have ", size, " bytes; at most ",
                                kMostRecordBytes, " are possible"));
    return false;
  }
  // What does not fit any more.
  for (const Resolved& resolved : resolved_) {
    if (resolved.part != kNone || resolved.bit + resolved.width <= size * 8) continue;
    const uint64_t cut = resolved.bit < size * 8 ? size * 8 - resolved.bit : 0;
    // Fields that the record's size takes away may be zero there.
    if (cut != 0 &&
        ReadBits(job.bytes, resolved.bit + cut, static_cast<uint32_t>(resolved.width - cut)) == 0) {
      continue;
    }
    job.Say(resolved.field,
            absl::StrCat("\"", job.request.fields[resolved.field].name,
                         "\" is beyond the end of the record, which has ", size, " bytes",
                         c.variants.count != 0 ? "; other fields say whether it is longer" : ""));
  }
  job.bytes.resize(size);
  written_.resize(size);
  return true;
}

void Encoder::PlaceAndWriteParts(Job& job) {
  const Container& c = job.container;
  const decode::PlacedParts placed = decode::PlaceParts(tables_, c, job.bytes);
  const absl::Span<const tables::Part> parts = tables_.parts(c.parts);
  for (Resolved& resolved : resolved_) {
    if (resolved.part == kNone) continue;
    const tables::Part* const part = &parts[resolved.part];
    const auto at = std::find_if(placed.begin(), placed.end(),
                                 [&](const decode::PlacedPart& p) { return p.part == part; });
    if (at == placed.end() || resolved.item >= at->count) {
      job.Say(resolved.field,
              absl::StrCat("the record does not have the part of \"",
                           job.request.fields[resolved.field].name,
                           "\": other fields, which come first, say which parts there are"));
      continue;
    }
    resolved.bit += at->bit + resolved.item * tables_.container(part->container).bytes * 8;
    Write(job, resolved);
  }
  if (job.has_base()) {
    if (!job.changed || c.length_leaf != kNone) return;
    const uint64_t size = decode::LengthOf(tables_, c, job.bytes);
    if (size != job.bytes.size()) {
      job.Say(kNone, absl::StrCat("with these values the record has ", size, " bytes, not ",
                                  job.bytes.size(), ": leave out its bytes"));
    }
    return;
  }
  for (const decode::PlacedPart& each : placed) {
    const Container& nested = tables_.container(each.part->container);
    for (uint64_t i = 0; i < each.count; ++i) {
      WriteForced(job, nested.leaves, each.bit + i * nested.bytes * 8);
    }
  }
}

void Encoder::WriteLength(Job& job) {
  const Container& c = job.container;
  if (c.length_leaf == kNone || job.length_given) return;
  const Leaf& leaf = tables_.leaf(c.length_leaf);
  const uint64_t steps = job.bytes.size() / std::max<uint64_t>(c.length_unit, 1);
  if (steps < c.length_bias || steps - c.length_bias > OnesOf(leaf.width)) {
    job.Say(kNone, absl::StrCat("\"", tables_.string(leaf.name),
                                "\" cannot say that the packet has ", job.bytes.size(), " bytes"));
    return;
  }
  WriteBits(absl::MakeSpan(job.bytes), leaf.bit, leaf.width, steps - c.length_bias);
}

void Encoder::WriteBitRanges(Job& job) {
  for (uint32_t i = 0; i < job.request.fields.size(); ++i) {
    const Field& field = job.request.fields[i];
    if (!field.name.empty() || !field.at) continue;
    const BitRange at = *field.at;
    if (at.width == 0 || at.width > 64 || at.bit + at.width > job.bytes.size() * 8) {
      job.Say(i, absl::StrCat("bits ", at.bit + at.width - 1, " to ", at.bit,
                              " are beyond the end of the record, which has ", job.bytes.size(),
                              " bytes"));
      continue;
    }
    if (field.value.integer > OnesOf(at.width)) {
      job.Say(i, absl::StrCat("0x", absl::Hex(field.value.integer), " does not fit into ", at.width,
                              at.width == 1 ? " bit" : " bits"));
      continue;
    }
    WriteBits(absl::MakeSpan(job.bytes), at.bit, at.width, field.value.integer);
    WriteBits(absl::MakeSpan(written_), at.bit, at.width, OnesOf(at.width));
  }
}

void Encoder::CheckMissing(Job& job, const Container& owner, tables::Range leaves, uint64_t base,
                           bool in_tail, const decode::FieldName& prefix) {
  for (const Leaf& leaf : tables_.leaves(leaves)) {
    constexpr uint16_t kLimited = tables::kNonzero | tables::kHasMin | tables::kHasMax;
    constexpr uint16_t kNotAsked = kReserved | tables::kForced | tables::kLength | tables::kOverlap;
    if ((leaf.flags & kLimited) == 0 || (leaf.flags & kNotAsked) != 0 || leaf.width > 64) continue;
    const uint64_t bit = base + leaf.bit;
    if (bit + leaf.width > job.bytes.size() * 8) continue;
    if (ReadBits(written_, bit, leaf.width) != 0) continue;
    if (IsValid(leaf, ReadBits(job.bytes, bit, leaf.width))) continue;
    if (leaf.extra != kNone) {
      const decode::Scope scope(tables_, owner, job.bytes, in_tail ? 0 : base, in_tail ? base : 0);
      if (!scope.Holds(tables_.extra(leaf.extra).counts_when)) continue;
    }
    decode::FieldName name = prefix;
    name.head = tables_.string(leaf.name).data();
    name.tail = tables_.string(leaf.name_suffix).data();
    std::string text;
    decode::AppendFieldName(name, text);
    job.Say(kNone, absl::StrCat("\"", text,
                                "\" is missing; without it the bits are zero, and it "
                                "holds ",
                                Limits(leaf)));
  }
}

void Encoder::CheckMissing(Job& job) {
  const Container& c = job.container;
  const decode::FieldName none;
  if (job.plan.may_be_missing) {
    CheckMissing(job, c, c.leaves, 0, false, none);
    int64_t item = 0;
    for (uint64_t base = c.tail_bit; c.tail_size != 0 && base < job.bytes.size() * 8;
         base += c.tail_size) {
      decode::FieldName name;
      name.index = item++;
      CheckMissing(job, c, c.tail_leaves, base, true, name);
      if (job.problems.size() > 100) return;
    }
  }
  if (c.parts.count == 0) return;
  for (const decode::PlacedPart& each : decode::PlaceParts(tables_, c, job.bytes)) {
    const Container& nested = tables_.container(each.part->container);
    if (!PlanOf(nested).may_be_missing) continue;
    decode::FieldName name;
    name.part = tables_.string(each.part->name);
    for (uint64_t i = 0; i < each.count && job.problems.size() <= 100; ++i) {
      if (each.part->repeat != kNone) name.part_index = static_cast<int64_t>(i);
      CheckMissing(job, nested, nested.leaves, each.bit + i * nested.bytes * 8, false, name);
    }
  }
}

bool Encoder::Encode(const EncodeRequest& request, std::vector<uint8_t>& bytes,
                     std::vector<FieldProblem>& problems) {
  const size_t before = problems.size();
  if (EncodeInOrder(request, bytes, problems)) return true;
  // In the order of the text; those of the whole record come last.
  std::stable_sort(problems.begin() + static_cast<ptrdiff_t>(before), problems.end(),
                   [](const FieldProblem& a, const FieldProblem& b) { return a.field < b.field; });
  return false;
}

bool Encoder::EncodeInOrder(const EncodeRequest& request, std::vector<uint8_t>& bytes,
                            std::vector<FieldProblem>& problems) {
  const size_t before = problems.size();
  const Container& container = tables_.container(request.container);
  Job job{request, container, PlanOf(container), bytes, problems};
  job.plan.expected = 0;
  resolved_.clear();
  uint64_t end = std::max(container.bytes, container.max_bytes);
  for (uint32_t i = 0; i < request.fields.size(); ++i) {
    if (request.fields[i].name.empty()) continue;
    Resolved resolved;
    if (!Resolve(job, i, resolved)) continue;
    if (resolved.part == kNone) end = std::max(end, (resolved.bit + resolved.width + 7) / 8);
    resolved_.push_back(resolved);
  }
  if (request.bytes && *request.bytes > kMostRecordBytes) {
    job.Say(kNone, absl::StrCat("the record would have ", *request.bytes, " bytes; at most ",
                                kMostRecordBytes, " are possible"));
    return false;
  }
  if (job.has_base()) {
    bytes.assign(request.base.begin(), request.base.end());
    written_.assign(bytes.size(), 0);
  } else {
    bytes.assign(end, 0);
    written_.assign(end, 0);
    WriteForced(job, container.leaves, 0);
  }
  for (const Resolved& resolved : resolved_) {
    if (resolved.part == kNone) Write(job, resolved);
  }
  if (!job.has_base()) {
    if (!SizeOf(job)) return false;
    for (uint64_t base = container.tail_bit; container.tail_size != 0 && base < bytes.size() * 8;
         base += container.tail_size) {
      WriteForced(job, container.tail_leaves, base);
    }
  }
  if (container.parts.count != 0) PlaceAndWriteParts(job);
  if (!job.has_base()) WriteLength(job);
  WriteBitRanges(job);
  // With other problems, what is missing may only be misspelt.
  if (!job.has_base() && !request.lenient && problems.size() == before) CheckMissing(job);
  return problems.size() == before;
}

}  // namespace packsmith::encode
