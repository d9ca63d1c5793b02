#include "runtime/source/designators.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/fields/value.h"

namespace packsmith::source {
namespace {

using decode::FieldAt;

constexpr size_t kColumns = 100;
constexpr size_t kDeepest = 32;     // structures in structures
constexpr uint64_t kSmall = 10000;  // numbers below it are written in decimal

uint64_t Ones(uint32_t width) { return width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1; }

int64_t Signed(uint64_t raw, uint32_t width) {
  return width >= 64 ? static_cast<int64_t>(raw)
                     : static_cast<int64_t>(raw << (64 - width)) >> (64 - width);
}

double HalfOf(uint64_t raw) {
  const int exponent = static_cast<int>(raw >> 10 & 0x1f);
  const double fraction = static_cast<double>(raw & 0x3ff) / 1024;
  const double sign = (raw & 0x8000) != 0 ? -1 : 1;
  if (exponent == 0x1f) return std::numeric_limits<double>::quiet_NaN();
  return sign *
         (exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15));
}

bool IsReal(MemberType type) {
  switch (type) {
    case MemberType::kFloat:
    case MemberType::kHalf:
    case MemberType::kUfixed:
    case MemberType::kSfixed:
      return true;
    case MemberType::kNone:
    case MemberType::kUint:
    case MemberType::kInt:
    case MemberType::kBool:
    case MemberType::kAddress:
    case MemberType::kOffset:
    case MemberType::kEnum:
      break;
  }
  return false;
}

double RealOf(const Member& member, uint64_t raw) {
  switch (member.type) {
    case MemberType::kFloat: {
      if (member.width == 64) {
        double real;
        std::memcpy(&real, &raw, sizeof(real));
        return real;
      }
      const auto bits = static_cast<uint32_t>(raw);
      float real;
      std::memcpy(&real, &bits, sizeof(real));
      return real;
    }
    case MemberType::kHalf:
      return HalfOf(raw);
    case MemberType::kSfixed:
      return std::ldexp(static_cast<double>(Signed(raw, member.width)),
                        -static_cast<int>(member.fraction));
    case MemberType::kUfixed:
      return std::ldexp(static_cast<double>(raw), -static_cast<int>(member.fraction));
    case MemberType::kNone:
    case MemberType::kUint:
    case MemberType::kInt:
    case MemberType::kBool:
    case MemberType::kAddress:
    case MemberType::kOffset:
    case MemberType::kEnum:
      break;
  }
  return static_cast<double>(raw);
}

// The value of an integer; nothing if no value packs to these bits.
std::optional<uint64_t> IntegerOf(const Member& member, uint64_t raw) {
  uint64_t value = raw;
  if (member.log2) {
    if (raw >= 64) return std::nullopt;
    value = uint64_t{1} << raw;
  } else if (member.groups != 0) {
    value = (raw == 0 ? Ones(member.width) + 1 : raw) * member.groups;
  }
  value = (value << member.shift) + member.minus;
  if (member.align != 0 && value % member.align != 0) return std::nullopt;
  return value;
}

uint64_t InitialRaw(const Member& member) {
  if (member.initial.empty()) {
    // Zero, of which some encodings make other bits.
    return 0;
  }
  double real = 0;
  if (!absl::SimpleAtod(member.initial, &real)) return 0;
  uint64_t raw = 0;
  if (IsReal(member.type)) {
    if (member.type == MemberType::kFloat && member.width == 32) {
      const auto single = static_cast<float>(real);
      uint32_t bits;
      std::memcpy(&bits, &single, sizeof(bits));
      raw = bits;
    } else if (member.type == MemberType::kUfixed || member.type == MemberType::kSfixed) {
      raw = static_cast<uint64_t>(
          static_cast<int64_t>(std::llround(std::ldexp(real, static_cast<int>(member.fraction)))));
    } else {
      // The few others are found by trying.
      for (uint64_t each = 0; each <= Ones(std::min(member.width, 16u)); ++each) {
        if (RealOf(member, each) == real) return each;
      }
    }
    return raw & Ones(member.width);
  }
  uint64_t value = 0;
  int64_t negative = 0;
  if (!absl::SimpleAtoi(member.initial, &value)) {
    if (!absl::SimpleAtoi(member.initial, &negative)) return 0;
    value = static_cast<uint64_t>(negative);
  }
  value = (value - member.minus) >> member.shift;
  if (member.log2) {
    value = value == 0 ? 0 : static_cast<uint64_t>(63 - __builtin_clzll(value));
  } else if (member.groups != 0) {
    value /= member.groups;
  }
  return value & Ones(member.width);
}

template <class Real>
std::string Shortest(Real real) {
  char digits[64];
  std::string text(digits, std::to_chars(digits, digits + sizeof(digits), real).ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

size_t WidthOf(const Initializer& one) {
  size_t width = one.member.size();
  if (!one.has_parts) return width + one.value.size();
  width += 2;
  for (size_t i = 0; i < one.parts.size(); ++i) width += WidthOf(one.parts[i]) + (i != 0 ? 2 : 0);
  return width;
}

void AppendOnLine(absl::Span<const Initializer> initializers, std::string& text) {
  for (size_t i = 0; i < initializers.size(); ++i) {
    const Initializer& one = initializers[i];
    absl::StrAppend(&text, i != 0 ? ", " : "", one.member);
    if (!one.has_parts) {
      text += one.value;
      continue;
    }
    text += '{';
    AppendOnLine(one.parts, text);
    text += '}';
  }
}

}  // namespace

std::string InitializersText(absl::Span<const Initializer> initializers, size_t indent, size_t used,
                             size_t after) {
  size_t width = used + after;
  for (const Initializer& one : initializers) width += WidthOf(one) + 2;
  std::string text;
  if (width <= kColumns) {
    AppendOnLine(initializers, text);
    return text;
  }
  const std::string pad(indent + 4, ' ');
  for (size_t i = 0; i < initializers.size(); ++i) {
    const Initializer& one = initializers[i];
    absl::StrAppend(&text, "\n", pad, one.member);
    if (one.has_parts) {
      absl::StrAppend(
          &text, "{",
          InitializersText(one.parts, indent + 4, indent + 4 + one.member.size() + 1, 2), "}");
    } else {
      text += one.value;
    }
    if (i + 1 != initializers.size()) text += ',';
  }
  return text;
}

DesignatorReader::DesignatorReader(const tables::Tables& tables, const Spelling& spelling,
                                   const Symbols& symbols, Language language,
                                   const tables::Container& container,
                                   absl::Span<const uint8_t> bytes,
                                   absl::Span<const Target> targets, uint32_t space,
                                   std::vector<uint8_t>& packed)
    : tables_(tables),
      spelling_(spelling),
      symbols_(symbols),
      language_(language),
      bytes_(bytes),
      targets_(targets),
      space_(space),
      packed_(packed) {
  decode::ForEachField(tables, container, bytes, [&](const FieldAt& at) {
    if (at.cut) return;
    const bool counts =
        at.leaf->extra == tables::kNone ||
        decode::Scope(tables, at, bytes).Holds(tables.extra(at.leaf->extra).counts_when);
    LeafThere& there = leaves_[{at.bit, at.width}];
    if (there.leaf == nullptr || (counts && !there.counts)) there = {at.leaf, counts};
  });
}

std::vector<Initializer> DesignatorReader::Read(const std::vector<Member>& members,
                                                absl::string_view owner, uint64_t base,
                                                uint64_t end) {
  return ReadAt(members, {owner, base, end});
}

std::vector<Initializer> DesignatorReader::ReadAt(const std::vector<Member>& members,
                                                  const Place& place) {
  std::vector<Initializer> initializers;
  for (const Member& member : members) {
    std::optional<Initializer> one = ReadMember(member, place, 0, place.base + member.bit);
    if (!one) continue;
    one->member = absl::StrCat(".", member.name, " = ");
    initializers.push_back(*std::move(one));
  }
  return initializers;
}

std::optional<Initializer> DesignatorReader::ReadMember(const Member& member, const Place& place,
                                                        size_t dimension, uint64_t bit) {
  Initializer made;
  if (dimension < member.dimensions.size()) {
    // Elements after the last one that differs are left out.
    const Member::Dimension& each = member.dimensions[dimension];
    size_t used = 0;
    for (uint32_t i = 0; i < each.count; ++i) {
      std::optional<Initializer> element =
          ReadMember(member, place, dimension + 1, bit + uint64_t{i} * each.stride);
      if (element) {
        made.parts.push_back(*std::move(element));
        used = made.parts.size();
        continue;
      }
      Initializer initial;
      if (language_ == Language::kCpp || member.type == MemberType::kNone ||
          dimension + 1 < member.dimensions.size()) {
        initial.has_parts = true;
        if (language_ == Language::kC) initial.parts.push_back({.value = "0"});
      } else {
        initial.value = "0";
      }
      made.parts.push_back(std::move(initial));
    }
    if (used == 0) return std::nullopt;
    made.parts.resize(used);
    made.has_parts = true;
    return made;
  }
  if (member.type != MemberType::kNone) {
    // Elements of an array that is given have no defaults, nor have structures in structures in C.
    const bool nested =
        !member.dimensions.empty() || (language_ == Language::kC && place.depth != 0);
    const bool always = nested && !member.initial.empty();
    std::optional<std::string> value = ReadValue(member, place, bit, always);
    if (!value) return std::nullopt;
    made.value = *std::move(value);
    return made;
  }
  if (place.depth == kDeepest) return std::nullopt;
  Place inside{place.owner, bit, place.end, place.depth + 1};
  const std::vector<Member>* members = &member.members;
  if (!member.structure.empty()) {
    const Type* type = spelling_.FindType(member.structure);
    if (type == nullptr) return std::nullopt;
    members = &type->Members(language_);
    inside.owner = type->cpp;
  }
  made.parts = ReadAt(*members, inside);
  made.has_parts = true;
  if (made.parts.empty()) return std::nullopt;
  return made;
}

std::optional<std::string> DesignatorReader::ReadValue(const Member& member, const Place& place,
                                                       uint64_t bit, bool always) {
  if (member.width == 0 || member.width > 64) return std::nullopt;
  const uint64_t initial = InitialRaw(member);
  const uint64_t end = std::min<uint64_t>(place.end, bytes_.size() * 8);
  // The low bits of a number may be all that there is of it.
  const bool number = member.type == MemberType::kUint || member.type == MemberType::kOffset ||
                      (member.type == MemberType::kAddress && language_ == Language::kCpp);
  if (bit >= end || (bit + member.width > end && !number)) {
    // It is packed all the same, as far as there is room.
    Check(member, initial);
    Pack(bit, member.width, initial);
    return std::nullopt;
  }
  const auto there = static_cast<uint32_t>(std::min<uint64_t>(member.width, end - bit));
  const uint64_t raw = decode::ReadBits(bytes_, bit, there);
  const auto leaf = leaves_.find({bit, member.width});
  const bool counts = leaf == leaves_.end() || leaf->second.counts;
  std::optional<std::string> text;
  if (((raw != initial && (counts || initial != 0)) || always) &&
      !SharesAnAddress(member, bit, there)) {
    text = TextOf(member, place, bit, raw);
  }
  const uint64_t packs = text ? raw : initial;
  if (text && member.type == MemberType::kAddress) addresses_.emplace_back(bit, there);
  Check(member, packs);
  Pack(bit, member.width, packs);
  if (!text && always) return language_ == Language::kCpp ? "{}" : "0";
  return text;
}

// C adds addresses to the other bits of their dwords. Of views of the same bits, only the first one
// has a value if one of them is an address.
bool DesignatorReader::SharesAnAddress(const Member& member, uint64_t bit, uint32_t width) const {
  if (language_ == Language::kCpp) return false;
  if (member.type == MemberType::kAddress) return decode::ReadBits(packed_, bit, width) != 0;
  return std::any_of(addresses_.begin(), addresses_.end(), [&](const auto& address) {
    return bit < address.first + address.second && address.first < bit + width;
  });
}

void DesignatorReader::Pack(uint64_t bit, uint32_t width, uint64_t raw) {
  const uint64_t bits = packed_.size() * 8;
  if (bit >= bits || raw == 0) return;
  width = static_cast<uint32_t>(std::min<uint64_t>(width, bits - bit));
  const absl::Span<uint8_t> packed = absl::MakeSpan(packed_);
  decode::WriteBits(packed, bit, width,
                    (decode::ReadBits(packed_, bit, width) | raw) & Ones(width));
}

// Whether pack would refuse the value.
void DesignatorReader::Check(const Member& member, uint64_t raw) {
  if (IsReal(member.type)) {
    const double real = RealOf(member, raw);
    double limit = 0;
    if (absl::SimpleAtod(member.least, &limit) && !member.least.empty() && real < limit) {
      refused_ = true;
    }
    if (absl::SimpleAtod(member.most, &limit) && !member.most.empty() && real > limit) {
      refused_ = true;
    }
    return;
  }
  const std::optional<uint64_t> integer = IntegerOf(member, raw);
  const uint64_t value = integer.value_or(0);
  if (member.nonzero && value == 0) refused_ = true;
  if (member.multiple != 0 && value % member.multiple != 0) refused_ = true;
  int64_t least = 0, most = 0;
  uint64_t unsigned_most = 0;
  const bool is_signed = member.type == MemberType::kInt;
  const int64_t signed_value = is_signed ? Signed(raw, member.width) : 0;
  if (absl::SimpleAtoi(member.least, &least) &&
      (is_signed ? signed_value < least : least > 0 && value < static_cast<uint64_t>(least))) {
    refused_ = true;
  }
  if (is_signed ? absl::SimpleAtoi(member.most, &most) && signed_value > most
                : absl::SimpleAtoi(member.most, &unsigned_most) && value > unsigned_most) {
    refused_ = true;
  }
  const uint32_t bits = spelling_.address_bits();
  if (member.type == MemberType::kAddress && bits < 64 && (value >> bits) != 0 &&
      Signed(value, bits) != static_cast<int64_t>(value)) {
    refused_ = true;
  }
}

std::optional<std::string> DesignatorReader::RealText(const Member& member, uint64_t raw) const {
  const double real = RealOf(member, raw);
  double most = 0;
  if (!std::isfinite(real) ||
      (member.clamped && absl::SimpleAtod(member.most, &most) && real > most)) {
    return std::nullopt;
  }
  const bool fixed = member.type == MemberType::kUfixed || member.type == MemberType::kSfixed;
  const bool is_double = language_ == Language::kCpp && fixed ? member.width > 24 : false;
  if (is_double) return Shortest(real);
  const auto single = static_cast<float>(real);
  // A single does not hold it: C has no others.
  if (static_cast<double>(single) != real) return std::nullopt;
  return Shortest(single) + "f";
}

std::string DesignatorReader::CodeText(uint64_t bit, const Member& member, uint64_t value) const {
  const auto leaf = leaves_.find({bit, member.width});
  if (leaf == leaves_.end() || leaf->second.leaf->named == tables::kNone) return {};
  const absl::string_view name = tables_.string(tables_.enumeration(leaf->second.leaf->named).name);
  const Enumeration* codes = name.empty() ? nullptr : spelling_.FindCodes(name);
  if (codes == nullptr) return {};
  const absl::string_view text = NameOf(codes->Values(language_), value);
  if (text.empty()) return {};
  return language_ == Language::kCpp ? absl::StrCat(codes->cpp, "::", text) : std::string(text);
}

// A number, or an expression if it points to a buffer.
std::string DesignatorReader::IntegerText(const Member& member, uint64_t bit,
                                          uint64_t value) const {
  const auto target = std::find_if(targets_.begin(), targets_.end(),
                                   [&](const Target& one) { return one.bit == bit; });
  if (target != targets_.end()) {
    const std::string symbol = symbols_.Find(target->space, target->address);
    if (!symbol.empty() && target->address == value) return symbol;
    const uint64_t base = target->address - value;
    if (!symbol.empty() && target->has_base && target->address > value) {
      const std::string base_text = symbols_.Find(target->space, base);
      return absl::StrCat(symbol, " - ",
                          base_text.empty() ? Hex(base)
                          : base_text.find(' ') == std::string::npos
                              ? base_text
                              : absl::StrCat("(", base_text, ")"));
    }
  }
  if (member.type == MemberType::kAddress && value != 0) {
    std::string symbol = symbols_.Find(space_, value);
    if (!symbol.empty()) return symbol;
    // In the hardware's canonical form, which buffers' addresses do not have.
    const uint32_t bits = spelling_.address_bits();
    const uint64_t plain = value & Ones(bits);
    const uint32_t space = target != targets_.end() ? target->space : space_;
    if (plain != value && static_cast<uint64_t>(Signed(plain, bits)) == value) {
      symbol = symbols_.Find(space, plain);
      if (!symbol.empty()) return absl::StrCat("PS_CANONICAL(", bits, ", ", symbol, ")");
    }
  }
  return value < kSmall ? absl::StrCat(value) : Hex(value);
}

std::optional<std::string> DesignatorReader::TextOf(const Member& member, const Place& place,
                                                    uint64_t bit, uint64_t raw) {
  if (IsReal(member.type)) return RealText(member, raw);
  if (member.type == MemberType::kBool) return raw != 0 ? "true" : "false";
  if (member.type == MemberType::kInt) {
    const int64_t value = Signed(raw, member.width);
    if (value == std::numeric_limits<int64_t>::min()) return std::nullopt;
    return absl::StrCat(value);
  }
  const std::optional<uint64_t> value = IntegerOf(member, raw);
  if (!value) return std::nullopt;
  if (member.type == MemberType::kEnum) {
    const Enumeration* enumeration = spelling_.FindEnumeration(member.enumeration);
    if (enumeration == nullptr) return std::nullopt;
    const absl::string_view name = NameOf(enumeration->Values(language_), *value);
    if (language_ == Language::kC) {
      return name.empty() ? absl::StrCat("(", member.enumeration_type, ")", *value)
                          : std::string(name);
    }
    return name.empty() ? absl::StrCat("static_cast<", enumeration->cpp, ">(", *value, ")")
                        : absl::StrCat(enumeration->cpp, "::", name);
  }
  const absl::string_view name = NameOf(member.values, *value);
  if (!name.empty()) {
    return language_ == Language::kCpp ? absl::StrCat(place.owner, "::", name) : std::string(name);
  }
  if (member.type == MemberType::kUint) {
    std::string code = CodeText(bit, member, *value);
    if (!code.empty()) return code;
  }
  return IntegerText(member, bit, *value);
}

}  // namespace packsmith::source
