#include "gen/model/resolve.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gen/model/flatten.h"
#include "gen/model/name_index.h"
#include "gen/model/names.h"
#include "gen/model/parse.h"

namespace packsmith::model {
namespace {

uint64_t Ones(uint32_t width) { return width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1; }

bool IsPowerOfTwo(uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }

std::string Bits(uint32_t bit, uint32_t width) {
  return absl::StrCat("bits ", bit + width - 1, ":", bit);
}

// A place in the text of a condition or an expression.
class Cursor {
 public:
  Cursor(absl::string_view text) : rest_(text) {}
  bool done() const { return rest_.empty(); }
  absl::string_view rest() const { return rest_; }
  bool Take(absl::string_view what) { return absl::ConsumePrefix(&rest_, what); }
  void Skip(size_t n) { rest_.remove_prefix(n); }
  // Whether, after `n` characters, a name has ended.
  bool EndsAfter(size_t n, std::initializer_list<absl::string_view> ends) const {
    const absl::string_view after = rest_.substr(n);
    if (after.empty()) return true;
    for (const absl::string_view end : ends) {
      if (after.substr(0, end.size()) == end) return true;
    }
    return false;
  }

 private:
  absl::string_view rest_;
};

class Resolver {
 public:
  Resolver(const Sources& sources, Diagnostics& diagnostics, Model& model)
      : sources_(sources), diagnostics_(diagnostics), model_(model) {}

  void Run() {
    Streams();
    IndexNames();
    for (Enum& e : model_.enums) CheckValues(e.values);
    States();
    for (Container& c : model_.containers) ResolveTypes(c.items);
    for (size_t i = 0; i < model_.enums.size(); ++i) {
      model_.enums[i].only_names = names_used_[i] && !enum_used_[i];
    }
    if (!OrderNesting()) return;  // circles make everything that follows endless
    // Sizes first: a field that nests a structure needs the structure's.
    for (const int i : model_.nesting_order) Size(model_.containers[static_cast<size_t>(i)]);
    for (Container& c : model_.containers) {
      container_ = &c;
      for (Item& item : c.items) CheckItem(item, 0);
      CheckTail(c);
      CheckOverlaps(c);
      Opcode(c);
      ServesWhom(c);
    }
    for (Container& c : model_.containers) {
      container_ = &c;
      Length(c);
      References(c);
    }
    CheckAmbiguity();
    CheckRegisters();
    Bases();
    Names();
    Warn();
  }

 private:
  Diagnostic& Problem(Code code, Location where, std::string text) {
    return diagnostics_.Add(code, where, std::move(text));
  }
  Location At(Location element, absl::string_view attribute) const {
    return AttributeLocation(sources_, element, attribute);
  }

  // --- Engines and streams -----------------------------------------------------------------------

  uint64_t EngineMask(const Deferred& text) {
    if (text.empty()) return ~uint64_t{0};
    uint64_t mask = 0;
    for (const absl::string_view name : absl::StrSplit(text.text, ' ', absl::SkipEmpty())) {
      bool found = false;
      for (size_t i = 0; i < model_.engines.size() && i < 64; ++i) {
        if (model_.engines[i].name == name) {
          mask |= uint64_t{1} << i;
          found = true;
        }
      }
      if (!found) {
        Problem(Code::kUnknownReference, text.where,
                absl::StrCat("there is no <engine name=\"", name, "\">"));
      }
    }
    return mask;
  }

  void Streams() {
    if (model_.engines.size() > 64) {
      Problem(Code::kTooLarge, model_.engines[64].where, "there can be 64 engines");
    }
    for (Stream& stream : model_.streams) stream.engines = EngineMask(stream.engines_text);
    for (Container& c : model_.containers) {
      c.engines = EngineMask(c.engines_text);
      if (c.kind != ContainerKind::kPacket) continue;
      if (c.stream_name.empty()) {
        c.stream = model_.streams.empty() ? -1 : 0;
        if (c.stream < 0) {
          Problem(Code::kUnknownReference, c.where,
                  "a packet stands in a stream, and the file declares none with <stream>");
        }
        continue;
      }
      c.stream = FindByName(model_.streams, c.stream_name.text);
      if (c.stream < 0) {
        Problem(Code::kUnknownReference, c.stream_name.where,
                absl::StrCat("there is no <stream name=\"", c.stream_name.text, "\">"));
      }
    }
    for (const Container& c : model_.containers) {
      if (c.stream < 0) continue;
      const Stream& stream = model_.streams[static_cast<size_t>(c.stream)];
      if ((c.engines & stream.engines) == 0) {
        Problem(Code::kContradiction, c.engines_text.where,
                absl::StrCat("no engine that reads \"", stream.name, "\" has this packet"))
            .notes.push_back({stream.where, "the stream is here"});
      }
    }
  }

  // In one of the model's lists, which no longer change.
  template <class T>
  int FindByName(const std::vector<T>& all, absl::string_view name) {
    const auto [index, is_new] = indices_.try_emplace(&all);
    if (is_new) index->second.Fill(all);
    const absl::optional<size_t> place = index->second.Find(name);
    return place ? static_cast<int>(*place) : -1;
  }

  // What a state looks like as a field.
  void States() {
    for (State& state : model_.states) {
      state.field.type = FieldType::kUint;
      if (state.of.empty()) continue;
      const auto e = enums_.find(state.of.text);
      if (e == enums_.end()) {
        Problem(Code::kUnknownType, state.of.where,
                absl::StrCat("there is no <enum name=\"", state.of.text, "\">"));
        continue;
      }
      state.field.type = FieldType::kEnum;
      state.field.type_index = e->second;
      names_used_[static_cast<size_t>(e->second)] = true;
    }
  }

  // --- Types ---

  void IndexNames() {
    for (size_t i = 0; i < model_.containers.size(); ++i) {
      containers_.emplace(model_.containers[i].name, static_cast<int>(i));
    }
    for (size_t i = 0; i < model_.enums.size(); ++i) {
      enums_.emplace(model_.enums[i].name, static_cast<int>(i));
    }
    UniqueNames();
    enum_used_.resize(model_.enums.size());
    names_used_.resize(model_.enums.size());
    leaves_state_.resize(model_.containers.size());
    for (const Container& c : model_.containers) {
      for (const Part& part : c.parts) {
        const int i = FindContainer(part.struct_name.text);
        if (i >= 0) leaves_state_[static_cast<size_t>(i)] = true;
      }
      if (c.kind == ContainerKind::kPacket) LeaveState(c.items);
    }
  }

  // What packets lead to is read with them.
  void LeaveState(const std::vector<Item>& items) {
    for (const Item& item : items) {
      for (const Points& points : item.points) {
        const int i = FindContainer(points.to.text);
        if (i >= 0) leaves_state_[static_cast<size_t>(i)] = true;
      }
      LeaveState(item.items);
    }
  }

  // What `type`, `to`, `engines` and tools look up by name must be one thing.
  void UniqueNames() {
    const auto claim = [this](std::map<std::string, Location>& names, absl::string_view name,
                              Location where) {
      const auto [old, fresh] = names.emplace(std::string(name), where);
      if (fresh || name.empty()) return;
      Problem(Code::kDuplicateName, where,
              absl::StrCat("there are two things named \"", name, "\""))
          .notes.push_back({old->second, "the first is here"});
    };
    std::map<std::string, Location> targets, engines, spaces;
    for (const DataKind& kind : model_.data_kinds) claim(targets, kind.name, kind.where);
    for (const Stream& stream : model_.streams) claim(targets, stream.name, stream.where);
    for (const Enum& e : model_.enums) claim(targets, e.name, e.where);
    for (const Container& c : model_.containers) claim(targets, c.name, c.where);
    for (const Container& c : model_.containers) {
      for (const std::string& alias : c.aliases) claim(targets, alias, At(c.where, "alias"));
    }
    for (const Engine& engine : model_.engines) {
      claim(engines, engine.name, engine.where);
      for (const absl::string_view alias : absl::StrSplit(engine.aliases, ' ', absl::SkipEmpty())) {
        claim(engines, alias, At(engine.where, "aliases"));
      }
    }
    for (const Space& space : model_.spaces) {
      const auto [old, fresh] = spaces.emplace(absl::StrCat(space.number), space.where);
      if (fresh) continue;
      Problem(Code::kDuplicateName, space.where,
              absl::StrCat("there are two spaces with the number ", space.number))
          .notes.push_back({old->second, "the first is here"});
    }
  }

  int FindContainer(absl::string_view name) const {
    const auto it = containers_.find(std::string(name));
    return it == containers_.end() ? -1 : it->second;
  }

  void ResolveTypes(std::vector<Item>& items) {
    for (Item& item : items) {
      if (item.kind == Item::Kind::kGroup) {
        ResolveTypes(item.items);
        continue;
      }
      if (!item.names.empty()) {
        const auto e = enums_.find(item.names.text);
        if (e != enums_.end()) names_used_[static_cast<size_t>(e->second)] = true;
        if (e == enums_.end()) {
          Problem(Code::kUnknownType, item.names.where,
                  absl::StrCat("there is no <enum name=\"", item.names.text, "\">"));
        } else if (item.type != FieldType::kUint || !item.values.empty()) {
          Problem(Code::kContradiction, item.names.where,
                  "names=\"…\" is for a uint without values of its own");
        } else {
          item.names_index = e->second;
        }
      }
      if (item.kind != Item::Kind::kField || item.type != FieldType::kEnum) continue;
      if (item.type_name.empty()) continue;
      if (const auto e = enums_.find(item.type_name.text); e != enums_.end()) {
        item.type_index = e->second;
        enum_used_[static_cast<size_t>(e->second)] = true;
        continue;
      }
      const int nested = FindContainer(item.type_name.text);
      if (nested >= 0 &&
          model_.containers[static_cast<size_t>(nested)].kind == ContainerKind::kStruct) {
        item.type = FieldType::kStruct;
        item.type_index = nested;
        continue;
      }
      Problem(
          Code::kUnknownType, item.type_name.where,
          absl::StrCat("there is no type, enumeration or structure \"", item.type_name.text, "\""));
      item.type = FieldType::kUint;
    }
  }

  void Nested(const std::vector<Item>& items, std::vector<const Item*>& into) const {
    for (const Item& item : items) {
      if (item.kind == Item::Kind::kGroup) Nested(item.items, into);
      if (item.kind == Item::Kind::kField && item.type == FieldType::kStruct) into.push_back(&item);
    }
  }

  bool OrderNesting() {
    enum : char { kNew, kOpen, kDone };
    std::vector<char> state(model_.containers.size(), kNew);
    bool good = true;
    // Depth first without recursion: a chain of structures may be as long as the file.
    struct Frame {
      int container;
      std::vector<const Item*> nested;
      size_t next = 0;
    };
    for (size_t root = 0; root < model_.containers.size(); ++root) {
      if (state[root] != kNew) continue;
      std::vector<Frame> stack;
      const auto open = [&](int i) {
        state[static_cast<size_t>(i)] = kOpen;
        stack.push_back({i, {}, 0});
        Nested(model_.containers[static_cast<size_t>(i)].items, stack.back().nested);
      };
      open(static_cast<int>(root));
      while (!stack.empty()) {
        Frame& top = stack.back();
        if (top.next == top.nested.size()) {
          state[static_cast<size_t>(top.container)] = kDone;
          model_.nesting_order.push_back(top.container);
          stack.pop_back();
          continue;
        }
        const Item* item = top.nested[top.next++];
        const auto target = static_cast<size_t>(item->type_index);
        if (state[target] == kOpen) {
          Problem(Code::kStructCycle, item->where,
                  absl::StrCat("\"", model_.containers[target].name, "\" contains itself"));
          good = false;
        } else if (state[target] == kNew) {
          if (stack.size() > 16) {
            Problem(Code::kTooLarge, item->where, "structures nest at most 16 deep");
            return false;
          }
          open(item->type_index);
        }
      }
    }
    // Structures that are parts or items go before the packets that name them.
    std::stable_partition(model_.nesting_order.begin(), model_.nesting_order.end(), [this](int i) {
      return model_.containers[static_cast<size_t>(i)].kind == ContainerKind::kStruct;
    });
    return good;
  }

  // --- Sizes ---

  static uint64_t EndOf(const Item& item) {
    if (item.kind != Item::Kind::kGroup) return uint64_t{item.bit} + item.width;
    return item.tail ? item.bit : uint64_t{item.bit} + uint64_t{item.count} * item.width;
  }

  void Size(Container& c) {
    for (const Item& item : c.items) {
      if (item.kind == Item::Kind::kGroup && item.tail) c.tail = &item;
    }
    if (c.bytes == 0) {  // dwords="variable"
      uint64_t end = 0;
      for (const Item& item : c.items) end = std::max(end, EndOf(item));
      const uint32_t unit = c.byte_unit ? 2 : 4;
      c.bytes = static_cast<uint32_t>(
          std::min<uint64_t>((end + 8 * unit - 1) / (8 * unit) * unit, uint64_t{1} << 17));
      if (c.bytes == 0) {
        if (c.tail == nullptr && c.parts.empty()) {
          Problem(Code::kMissingLength, c.where,
                  absl::StrCat("\"", c.name, "\" has no size and no fields that give it one"));
        }
        if (c.tail == nullptr) c.bytes = unit;
      }
    }
    c.max_bytes = c.bytes;
    if (c.variable && !c.variants.empty()) {
      Problem(Code::kBadVariant, c.variants[0].where,
              "a packet with variants has a fixed shortest form; give dwords=\"…\" or bytes=\"…\"");
    }
    for (const Variant& variant : c.variants) {
      if (variant.bytes <= c.bytes || variant.bytes % (c.byte_unit ? 2 : 4) != 0) {
        Problem(Code::kBadVariant, variant.where,
                absl::StrCat("a variant is longer than the ", c.bytes, " bytes of its packet"));
      } else if (c.bytes % 4 != 0 || variant.bytes % 4 != 0) {
        Problem(Code::kBadVariant, variant.where,
                "a packet that has variants, and each of them, is a whole number of dwords");
      }
      c.max_bytes = std::max(c.max_bytes, variant.bytes);
    }
    // Of several whose condition holds the longest counts; whoever tries them in order finds it.
    std::stable_sort(c.variants.begin(), c.variants.end(),
                     [](const Variant& a, const Variant& b) { return a.bytes > b.bytes; });
    if (c.tail != nullptr && (!c.variants.empty() || !c.parts.empty())) {
      Problem(Code::kContradiction, c.tail->where,
              "a packet has a tail, or variants, or parts; not two of them");
    }
    if (!c.variants.empty() && !c.parts.empty()) {
      Problem(Code::kContradiction, c.variants[0].where,
              "a packet has variants or parts, not both");
    }
  }

  // --- Items ---

  // `limit`: bits of the enclosing group's item, 0 at top level.
  void CheckItem(Item& item, uint32_t limit) {
    if (item.unplaced) return;
    const uint64_t end = EndOf(item);
    const uint64_t bits = limit != 0 ? limit : uint64_t{container_->max_bytes} * 8;
    if (end > bits) {
      Problem(Code::kFieldOutsideContainer, item.where,
              absl::StrCat(item.name.empty() ? "this" : absl::StrCat("\"", item.name, "\""),
                           " ends at bit ", end - 1, ", its ", limit != 0 ? "item" : "container",
                           " has ", bits, " bits"));
    }
    switch (item.kind) {
      case Item::Kind::kGroup:
        for (Item& inner : item.items) {
          if (inner.kind == Item::Kind::kGroup && inner.tail) {
            Problem(Code::kBadGroup, inner.where, "a tail cannot be inside of another group");
            continue;
          }
          CheckItem(inner, item.width);
        }
        break;
      case Item::Kind::kReserved:
        break;
      case Item::Kind::kField:
        CheckField(item);
        break;
    }
  }

  void CheckField(Item& item) {
    CheckWidth(item);
    CheckEncoding(item);
    CheckDefault(item);
    CheckRange(item);
    CheckValues(item.values);
    if (!item.values.empty() && item.type == FieldType::kEnum) {
      Problem(Code::kContradiction, item.values[0].where,
              "the values of an enumeration stand in its <enum>");
    } else if (!item.values.empty() && (IsReal(item) || item.type == FieldType::kStruct)) {
      Problem(Code::kContradiction, item.values[0].where, "only integers have named values");
    }
    if (item.type == FieldType::kStruct && (item.forced || item.nonzero != NotZero::kMayBeZero ||
                                            item.min || item.max || !item.unit.empty())) {
      Problem(Code::kContradiction, item.where,
              "a structure's own fields are forced, have ranges and units");
    }
    if (item.forced && *item.forced > Ones(item.width)) {
      Problem(Code::kValueTooWide, At(item.where, "forced"),
              absl::StrCat("forced value ", *item.forced, " does not fit ", item.width, " bits"));
    }
    const bool encoded = item.encoding.minus != 0 || item.encoding.log2 ||
                         item.encoding.groups != 0 || item.encoding.align != 0 || item.shift_given;
    if (item.forced && (IsReal(item) || !item.default_text.empty() || encoded)) {
      Problem(Code::kContradiction, At(item.where, "forced"),
              "a forced field is a plain integer and has no other default");
    }
    const auto wide_value = [&](const Value& value) {
      const bool fits = item.type == FieldType::kInt ? FitsSigned(value.value, item.width)
                                                     : value.value <= MostValue(item);
      if (fits) return;
      Problem(Code::kValueTooWide, value.where,
              absl::StrCat("value \"", value.name, "\" = ", value.value, " does not fit the ",
                           item.width, " bits of \"", item.name, "\""));
    };
    for (const Value& value : item.values) wide_value(value);
    if (item.type == FieldType::kEnum && item.type_index >= 0) {
      const Enum& e = model_.enums[static_cast<size_t>(item.type_index)];
      for (const Value& value : e.values) {
        if (value.value <= Ones(item.width)) continue;
        Problem(Code::kValueTooWide, item.where,
                absl::StrCat("\"", item.name, "\" has ", item.width, " bits, value \"", value.name,
                             "\" of \"", e.name, "\" is ", value.value))
            .notes.push_back({value.where, "the value is here"});
      }
    }
  }

  static bool IsReal(const Item& item) {
    return item.type == FieldType::kFloat || item.type == FieldType::kHalf ||
           item.type == FieldType::kUfixed || item.type == FieldType::kSfixed;
  }

  // The largest magnitude that a real field can hold; what it holds is less, or for float and half
  // at most that.
  static double MostReal(const Item& item) {
    switch (item.type) {
      case FieldType::kFloat:
        return std::numeric_limits<float>::max();
      case FieldType::kHalf:
        return 65504;
      default:
        return std::ldexp(1.0, static_cast<int>(item.width) - static_cast<int>(item.fraction_bits) -
                                   (item.type == FieldType::kSfixed ? 1 : 0));
    }
  }

  static bool FitsReal(const Item& item, double value) {
    const double most = MostReal(item);
    if (item.type == FieldType::kFloat || item.type == FieldType::kHalf) {
      return value >= -most && value <= most;
    }
    return value < most && value >= (item.type == FieldType::kUfixed ? 0 : -most);
  }

  // The least and the largest value, as far as 64 signed bits can tell.
  static int64_t Least(const Item& item) {
    if (item.type == FieldType::kInt) return -static_cast<int64_t>(Ones(item.width - 1)) - 1;
    return static_cast<int64_t>(item.encoding.log2 ? 1 : item.encoding.minus);
  }
  static int64_t Most(const Item& item) {
    const uint64_t most = item.type == FieldType::kInt ? Ones(item.width - 1) : MostValue(item);
    return static_cast<int64_t>(std::min<uint64_t>(most, std::numeric_limits<int64_t>::max()));
  }

  void CheckRange(const Item& item) {
    if (item.type == FieldType::kStruct) return;
    if ((item.min && item.max && *item.min > *item.max) ||
        (item.min_real && item.max_real && *item.min_real > *item.max_real)) {
      Problem(Code::kBadRange, At(item.where, "min"), "min is more than max");
      return;
    }
    for (const auto& [name, whole, real] : {std::make_tuple("min", item.min, item.min_real),
                                            std::make_tuple("max", item.max, item.max_real)}) {
      if (whole && (*whole < Least(item) || *whole > Most(item))) {
        Problem(Code::kBadRange, At(item.where, name),
                absl::StrCat(name, " is no value that the field can hold, ", Least(item), " to ",
                             Most(item)));
      } else if (real && !FitsReal(item, *real)) {
        Problem(Code::kBadRange, At(item.where, name),
                absl::StrCat(name, " is no value that the field can hold"));
      }
    }
    const bool below_or_above =
        (item.default_value &&
         ((item.min && static_cast<int64_t>(*item.default_value) < *item.min) ||
          (item.max && static_cast<int64_t>(*item.default_value) > *item.max))) ||
        (item.default_real && ((item.min_real && *item.default_real < *item.min_real) ||
                               (item.max_real && *item.default_real > *item.max_real)));
    if (below_or_above) {
      Problem(Code::kBadRange, item.default_text.where,
              "the default is less than min or more than max");
    } else if (item.nonzero != NotZero::kMayBeZero && item.default_value == uint64_t{0}) {
      Problem(Code::kBadRange, item.default_text.where,
              "the default is 0, and nonzero forbids that");
    } else if (item.default_value && item.multiple != 0 &&
               *item.default_value % item.multiple != 0) {
      Problem(Code::kBadRange, item.default_text.where,
              absl::StrCat("the default is no multiple of ", item.multiple));
    }
  }

  static bool FitsSigned(uint64_t value, uint32_t width) {
    if (width >= 64) return true;
    const uint64_t top = value >> (width - 1);
    return top == 0 || top == ~uint64_t{0} >> (width - 1);
  }

  // The largest value that an unsigned field can hold.
  static uint64_t MostValue(const Item& item) {
    const Encoding& e = item.encoding;
    const uint64_t raw = Ones(item.width);
    if (e.log2) return raw >= 63 ? ~uint64_t{0} : uint64_t{1} << raw;
    if (e.groups != 0) {
      return item.width >= 32 ? ~uint64_t{0} : (raw + 1) * e.groups;
    }
    if (e.shift != 0 && e.shift + item.width > 64) return ~uint64_t{0};
    const uint64_t shifted = raw << e.shift;
    return shifted + e.minus < shifted ? ~uint64_t{0} : shifted + e.minus;
  }

  void CheckWidth(Item& item) {
    const auto demand = [&](bool good, absl::string_view what) {
      if (!good) {
        Problem(Code::kBadWidth, At(item.where, "bits"),
                absl::StrCat(what, ", \"", item.name, "\" has ", item.width));
      }
    };
    switch (item.type) {
      case FieldType::kBool:
        demand(item.width == 1, "a bool has one bit");
        break;
      case FieldType::kFloat:
        demand(item.width == 32, "a float has 32 bits");
        break;
      case FieldType::kHalf:
        demand(item.width == 16, "a half has 16 bits");
        break;
      case FieldType::kStruct: {
        const Container& nested = model_.containers[static_cast<size_t>(item.type_index)];
        if (nested.tail != nullptr || !nested.parts.empty() || !nested.variants.empty()) {
          Problem(Code::kBadType, item.type_name.where,
                  absl::StrCat("\"", nested.name, "\" has no fixed size, so it cannot be nested"));
        }
        uint64_t needed = 0;
        for (const Item& inner : nested.items) needed = std::max(needed, EndOf(inner));
        if (item.width > nested.bytes * 8 || item.width < needed) {
          Problem(Code::kBadWidth, At(item.where, "bits"),
                  absl::StrCat("\"", nested.name, "\" describes ", needed, " of ", nested.bytes * 8,
                               " bits, the field has ", item.width));
        }
        break;
      }
      case FieldType::kUfixed:
      case FieldType::kSfixed:
        demand(item.width <= 32, "fixed point has at most 32 bits");
        break;
      case FieldType::kEnum:
        demand(item.width <= 32, "a field with the values of an enumeration has at most 32 bits");
        break;
      default:
        demand(item.width <= 64, "a field has at most 64 bits");
        break;
    }
    if (item.type != FieldType::kStruct && item.width > 64) item.width = 64;
  }

  void CheckEncoding(Item& item) {
    Encoding& e = item.encoding;
    const bool address = item.type == FieldType::kAddress || item.type == FieldType::kOffset;
    // An address stands in its place: the bits below it are implied to be zero.
    if (address && !item.shift_given) e.shift = item.bit % 32;
    const bool plain = item.type == FieldType::kUint || item.type == FieldType::kOffset;
    const bool integer = address || plain;
    if (!plain && (e.minus != 0 || e.log2 || e.groups != 0 || e.align != 0)) {
      Problem(Code::kBadEncoding, item.where,
              "minus, log2, groups and align are for uint and offset");
    } else if (!integer && (e.shift != 0 || item.multiple != 0)) {
      Problem(Code::kBadEncoding, item.where,
              "shift and multiple are for uint, address and offset");
    }
    if (item.clamp && (item.type != FieldType::kUfixed || !item.max_real || item.min_real)) {
      Problem(Code::kBadEncoding, item.where,
              "clamp is for unsigned fixed point with max and without min");
    }
    if ((e.minus != 0) + e.log2 + (e.groups != 0) > 1) {
      Problem(Code::kBadEncoding, item.where, "minus, log2 and groups exclude each other");
    }
    if ((e.log2 || e.groups != 0) && e.shift != 0) {
      Problem(Code::kBadEncoding, item.where, "log2 and groups exclude shift");
    }
    if (e.log2 && item.width > 6) {
      Problem(Code::kBadEncoding, item.where, "a logarithm has at most 6 bits");
    }
    if (e.groups != 0 && (item.width > 31 || (Ones(item.width) + 1) * e.groups > 0xffffffffu)) {
      Problem(Code::kBadEncoding, item.where, "what groups count must fit 32 bits");
    }
    if (e.align != 0 && !IsPowerOfTwo(e.align)) {
      Problem(Code::kBadEncoding, At(item.where, "align"), "align must be a power of two");
    }
    if (e.shift + item.width > 64 && integer) {
      Problem(Code::kBadEncoding, item.where, "shifted values must fit 64 bits");
      e.shift = 0;
    }
  }

  void CheckDefault(Item& item) {
    if (item.default_text.empty()) return;
    const std::string& text = item.default_text.text;
    const Location where = item.default_text.where;
    switch (item.type) {
      case FieldType::kFloat:
      case FieldType::kHalf:
      case FieldType::kUfixed:
      case FieldType::kSfixed: {
        double real = 0;
        if (!absl::SimpleAtod(text, &real) || !std::isfinite(real)) {
          Problem(Code::kBadNumber, where, absl::StrCat("default=\"", text, "\" is no number"));
          return;
        }
        item.default_real = real;
        if (!FitsReal(item, real)) {
          Problem(Code::kValueTooWide, where,
                  absl::StrCat("default ", text, " does not fit ", item.type_name.text));
        }
        return;
      }
      case FieldType::kStruct:
        Problem(Code::kContradiction, where, "a structure's fields have the defaults");
        return;
      case FieldType::kBool:
        if (text == "true" || text == "false") {
          item.default_value = text == "true" ? 1 : 0;
          return;
        }
        break;
      default:
        break;
    }
    const std::vector<Value>& named = NamedValues(item);
    for (const Value& value : named) {
      if (value.name == text) {
        item.default_value = value.value;
        return;
      }
    }
    uint64_t number = 0;
    int64_t negative = 0;
    const bool hex = text.size() > 2 && text[0] == '0' && (text[1] | 32) == 'x';
    if (hex ? absl::SimpleHexAtoi(text, &number) : absl::SimpleAtoi(text, &number)) {
      if (number > (item.type == FieldType::kInt ? Ones(item.width - 1) : MostValue(item))) {
        Problem(Code::kValueTooWide, where,
                absl::StrCat("default ", text, " does not fit ", item.width, " bits"));
      } else if (!CanEncode(item.encoding, number)) {
        Problem(Code::kValueTooWide, where,
                absl::StrCat("default ", text, " is no value that the encoding of \"", item.name,
                             "\" can give"));
      }
      item.default_value = number;
    } else if (item.type == FieldType::kInt && absl::SimpleAtoi(text, &negative)) {
      if (!FitsSigned(static_cast<uint64_t>(negative), item.width)) {
        Problem(Code::kValueTooWide, where,
                absl::StrCat("default ", text, " does not fit ", item.width, " bits"));
      }
      item.default_value = static_cast<uint64_t>(negative);
    } else {
      Problem(Code::kBadNumber, where,
              absl::StrCat("default=\"", text, "\" is neither a number nor one of the values"));
    }
  }

  static bool CanEncode(const Encoding& e, uint64_t value) {
    if (e.log2) return IsPowerOfTwo(value);
    if (value < e.minus) return false;
    return e.align != 0 || ((value - e.minus) & Ones(e.shift)) == 0;
  }

  const std::vector<Value>& NamedValues(const Item& item) const {
    if (item.type == FieldType::kEnum && item.type_index >= 0) {
      return model_.enums[static_cast<size_t>(item.type_index)].values;
    }
    if (item.names_index >= 0) return model_.enums[static_cast<size_t>(item.names_index)].values;
    return item.values;
  }

  void CheckValues(const std::vector<Value>& values) {
    std::map<uint64_t, const Value*> seen;
    for (const Value& value : values) {
      const auto [old, fresh] = seen.emplace(value.value, &value);
      if (fresh) continue;
      Problem(Code::kValueTwice, value.where,
              absl::StrCat("\"", value.name, "\" and \"", old->second->name, "\" are both ",
                           value.value, "; decoding shows the first"))
          .notes.push_back({old->second->where, "the first is here"});
    }
  }

  void CheckTail(const Container& c) {
    size_t tails = 0;
    for (const Item& item : c.items) {
      if (item.kind != Item::Kind::kGroup || !item.tail) continue;
      ++tails;
      const uint32_t unit = c.byte_unit ? 16 : 32;
      if (item.width % unit != 0 || item.bit % unit != 0) {
        Problem(Code::kBadGroup, item.where,
                absl::StrCat("a tail starts at and has items of whole ",
                             c.byte_unit ? "pairs of bytes" : "dwords"));
      }
      for (const Item& other : c.items) {
        if (&other != &item && EndOf(other) > item.bit) {
          Problem(
              Code::kBadGroup, item.where,
              absl::StrCat("a tail comes last, but \"", other.name, "\" lies behind its start"));
        }
      }
      if (uint64_t{c.bytes} * 8 != item.bit && !c.variable) {
        Problem(Code::kBadGroup, item.where,
                "the tail must start where the fixed part ends; dwords=\"variable\" derives that");
      }
    }
    if (tails > 1) Problem(Code::kBadGroup, c.where, "a container has one tail at most");
  }

  void CheckOverlaps(const Container& c) {
    const Flat flat = Flatten(model_, c);
    if (flat.too_large) {
      Problem(Code::kTooLarge, c.where,
              absl::StrCat("\"", c.name, "\" has more fields than anything that exists"));
      return;
    }
    leaves_ += flat.leaves.size() + flat.tail_leaves.size();
    if (leaves_ > (1 << 20)) {
      Problem(Code::kTooLarge, c.where, "the file describes more than a million fields");
      return;
    }
    Sweep(flat.leaves);
    Sweep(flat.tail_leaves);
  }

  // Leaves come in bit order. Each pair of items is reported once, however often it repeats.
  void Sweep(const std::vector<FlatLeaf>& leaves) {
    std::vector<const FlatLeaf*> open;
    for (const FlatLeaf& leaf : leaves) {
      open.erase(
          std::remove_if(open.begin(), open.end(),
                         [&](const FlatLeaf* o) { return o->bit + o->item->width <= leaf.bit; }),
          open.end());
      for (const FlatLeaf* other : open) {
        // A field that meets its own next repetition is longer than its item, which was said.
        if (leaf.overlap || other->overlap || leaf.item == other->item) continue;
        if (!overlaps_.emplace(other->item, leaf.item).second) continue;
        Problem(
            Code::kOverlap, leaf.item->where,
            absl::StrCat("\"", leaf.name, "\" (", Bits(leaf.bit, leaf.item->width), ") overlaps \"",
                         other->name, "\" (", Bits(other->bit, other->item->width),
                         "); overlap=\"true\" says that it is meant"))
            .notes.push_back({other->item->where, "the other is here"});
      }
      // Views of the same bits pile up only where somebody means it.
      if (open.size() < 64) open.push_back(&leaf);
    }
  }

  // --- Opcodes and lengths ---

  void Opcode(Container& c) {
    if (c.kind != ContainerKind::kPacket) return;
    for (const Item& item : c.items) {
      if (!item.forced || item.bit >= 32) continue;
      for (uint32_t i = 0; i < item.width && item.bit + i < 32; ++i) {
        c.identify_mask |= 1u << (item.bit + i);
        c.identify_value |= static_cast<uint32_t>(*item.forced >> i & 1) << (item.bit + i);
      }
    }
    c.identify_bytes = 1;
    while (c.identify_bytes < 4 && c.identify_mask >> (8 * c.identify_bytes) != 0) {
      ++c.identify_bytes;
    }
    if (c.identify_mask == 0) {
      Problem(Code::kMissingOpcode, c.where,
              absl::StrCat("packet \"", c.name,
                           "\" has no forced field in its first dword, so nothing tells it apart"));
    } else if (c.bytes < c.identify_bytes) {
      Problem(Code::kMissingOpcode, c.where,
              absl::StrCat("packet \"", c.name, "\" is shorter than its opcode"));
    }
  }

  // What only draws, or only dispatches, read of what the packet sets.
  void ServesWhom(Container& c) {
    if (c.kind != ContainerKind::kPacket || c.stream < 0) return;
    for (const Serves& serves : model_.streams[static_cast<size_t>(c.stream)].serves) {
      if ((c.identify_mask & serves.mask) != serves.mask ||
          (c.identify_value & serves.mask) != serves.value) {
        continue;
      }
      c.serves = serves.role;
      return;
    }
  }

  void Length(Container& c) {
    if (!c.length_name.empty()) {
      for (const Item& item : c.items) {
        if (item.kind == Item::Kind::kField && item.name == c.length_name.text) {
          c.length_field = &item;
        }
      }
      if (c.length_field == nullptr) {
        Problem(Code::kBadLengthField, c.length_name.where,
                absl::StrCat("\"", c.name, "\" has no field \"", c.length_name.text, "\""));
      } else if (c.length_field->type != FieldType::kUint || c.length_field->width > 16 ||
                 c.length_field->forced || c.length_field->bit + c.length_field->width > 32 ||
                 HasEncoding(*c.length_field)) {
        Problem(Code::kBadLengthField, c.length_field->where,
                "a length is a plain uint of at most 16 bits in the first dword");
      } else {
        const uint32_t unit = c.byte_unit ? 1 : 4;
        for (const uint32_t bytes : {c.bytes, c.max_bytes}) {
          const uint32_t length = bytes / unit;
          if (c.variable ||
              (length >= c.length_bias && length - c.length_bias <= Ones(c.length_field->width))) {
            continue;
          }
          Problem(
              Code::kBadLengthField, c.length_field->where,
              absl::StrCat("a length of ", length, unit == 1 ? " bytes" : " dwords", " with bias ",
                           c.length_bias, " does not fit ", c.length_field->width, " bits"));
          break;
        }
      }
      return;
    }
    if (c.kind == ContainerKind::kPacket && c.tail != nullptr) {
      Problem(
          Code::kMissingLength, c.tail->where,
          absl::StrCat("\"", c.name, "\" repeats as its length says, but has no length=\"FIELD\""));
    }
    if (c.kind == ContainerKind::kPacket && c.variable && c.tail == nullptr && c.parts.empty()) {
      Problem(
          Code::kMissingLength, c.where,
          absl::StrCat("\"", c.name, "\" is variable and has neither length=\"FIELD\" nor parts"));
    }
  }

  static bool HasEncoding(const Item& item) {
    const Encoding& e = item.encoding;
    return e.minus != 0 || e.shift != 0 || e.log2 || e.groups != 0 || e.align != 0;
  }

  // Whether raw bits of zero mean the value zero, so that a test for it needs no decoding.
  static bool ZeroIsZero(const Item& item) {
    const Encoding& e = item.encoding;
    return e.minus == 0 && !e.log2 && e.groups == 0;
  }

  // Packets that one engine can see in one stream must not match the same dword.
  void CheckAmbiguity() {
    std::vector<const Container*> packets;
    for (const Container& c : model_.containers) {
      if (c.broken) continue;  // its opcode may be another one
      if (c.kind == ContainerKind::kPacket && c.identify_mask != 0) packets.push_back(&c);
    }
    // Two packets match the same dword if their values agree in the bits that both masks have. Per
    // pair of masks, packets are grouped by those bits, so that this is linear in the packets.
    std::set<uint32_t> masks;
    for (const Container* c : packets) masks.insert(c->identify_mask);
    if (masks.size() > 64) {
      Problem(Code::kTooLarge, packets[0]->where, "packets have more than 64 forms of opcode");
      return;
    }
    std::map<uint32_t, std::vector<const Container*>> by_mask;
    for (const Container* c : packets) by_mask[c->identify_mask].push_back(c);
    std::set<std::pair<const Container*, const Container*>> reported;
    for (const uint32_t a : masks) {
      for (const uint32_t b : masks) {
        if (b < a) continue;
        std::multimap<uint32_t, const Container*> by_value;
        for (const Container* c : by_mask[a]) by_value.emplace(c->identify_value & a & b, c);
        for (const Container* c : by_mask[b]) {
          const auto [begin, end] = by_value.equal_range(c->identify_value & a & b);
          size_t looked = 0;
          for (auto it = begin; it != end && ++looked < 256; ++it) {
            const Container* other = it->second;
            if (other == c || other->stream != c->stream || (other->engines & c->engines) == 0) {
              continue;
            }
            if (!reported.insert(std::minmax(other, c)).second) continue;
            const bool c_later = std::make_pair(other->where.file, other->where.offset) <
                                 std::make_pair(c->where.file, c->where.offset);
            Problem(Code::kAmbiguousOpcode, (c_later ? c : other)->where,
                    absl::StrCat("\"", (c_later ? other : c)->name, "\" and \"",
                                 (c_later ? c : other)->name,
                                 "\" match the same dword on the same engine"))
                .notes.push_back({(c_later ? other : c)->where, "the other is here"});
          }
        }
      }
    }
  }

  void CheckRegisters() {
    std::map<uint32_t, Location> offsets;
    for (const Container& c : model_.containers) {
      if (c.kind != ContainerKind::kRegister) continue;
      if (c.register_offset % 4 != 0) {
        Problem(Code::kBadRegister, At(c.where, "offset"), "registers lie at multiples of 4 bytes");
      }
      const auto [old, fresh] = offsets.emplace(c.register_offset, c.where);
      if (fresh) continue;
      Problem(Code::kBadRegister, At(c.where, "offset"),
              absl::StrCat("two registers are at offset ", c.register_offset))
          .notes.push_back({old->second, "the other is here"});
    }
  }

  // --- References ---

  // Whoever asks: a field in `group`, or (nullptr) something at the top level.
  struct Scope {
    const Container* container;
    const Item* group;
  };

  // The longest field name that `cursor` begins with.
  FieldRef TakeField(Cursor& cursor, const Scope& scope,
                     std::initializer_list<absl::string_view> ends) {
    const FieldNames& names = NamesIn(*scope.container);
    FieldRef best;
    size_t length = 0;
    names.prefixes.Longest(cursor.rest(), length, [&](size_t n) {
      if (!cursor.EndsAfter(n, ends)) return false;
      const auto [begin, end] = names.fields.equal_range(cursor.rest().substr(0, n));
      best = {};
      // Of several fields of one name, the one nearest to who asks; else the first.
      for (auto at = begin; at != end; ++at) {
        const FieldRef& field = at->second;
        const bool is_nearest = field.group != nullptr && field.group == scope.group;
        if (is_nearest || (best.field == nullptr && RunsInStep(field.group, scope.group))) {
          best = field;
          if (is_nearest) break;
        }
      }
      return best.field != nullptr;
    });
    cursor.Skip(best.field == nullptr ? 0 : length);
    return best;
  }

  // Whether a field of one group can ask fields of another: item i there goes with item i here.
  static bool RunsInStep(const Item* group, const Item* asks) {
    if (group == nullptr || group == asks) return true;
    return asks != nullptr && !group->tail && !asks->tail && group->count == asks->count;
  }

  // A container's fields, at the top level and in groups there, by their names.
  struct FieldNames {
    PrefixIndex prefixes;
    std::multimap<absl::string_view, FieldRef> fields;  // of one name: in their order
  };
  const FieldNames& NamesIn(const Container& container) {
    const auto [at, is_new] = fields_.try_emplace(&container);
    FieldNames& names = at->second;
    if (!is_new) return names;
    const auto add = [&](const Item& item, const Item* group) {
      if (item.kind != Item::Kind::kField) return;
      names.prefixes.Add(item.name, 0);
      names.fields.emplace(item.name, FieldRef{&item, group});
    };
    for (const Item& item : container.items) {
      add(item, nullptr);
      if (item.kind != Item::Kind::kGroup) continue;
      for (const Item& inner : item.items) add(inner, &item);
    }
    return names;
  }

  static bool IsWhole(const Item& item) {
    switch (item.type) {
      case FieldType::kFloat:
      case FieldType::kHalf:
      case FieldType::kUfixed:
      case FieldType::kSfixed:
      case FieldType::kStruct:
        return false;
      default:
        return true;
    }
  }

  // The state whose name `cursor` begins with.
  int TakeState(Cursor& cursor) {
    const absl::optional<size_t> best =
        TakeName(cursor, model_.states, {"=", "!=", " and ", " or "});
    return best ? static_cast<int>(*best) : -1;
  }

  // Which of a list's names `cursor` begins with: the longest.
  template <class T>
  absl::optional<size_t> TakeName(Cursor& cursor, const std::vector<T>& all,
                                  std::initializer_list<absl::string_view> ends) {
    const auto [at, is_new] = prefixes_.try_emplace(&all);
    for (size_t i = 0; is_new && i < all.size(); ++i) at->second.Add(all[i].name, i);
    size_t length = 0;
    const absl::optional<size_t> best = at->second.Longest(
        cursor.rest(), length, [&](size_t n) { return cursor.EndsAfter(n, ends); });
    cursor.Skip(length);
    return best;
  }

  // `asks_states`: whoever decides knows what packets before this one have said.
  Condition ParseCondition(const Deferred& text, const Scope& scope, bool asks_states = false) {
    Condition condition;
    if (text.empty()) return condition;
    Cursor cursor(text.text);
    condition.emplace_back();
    while (true) {
      Term term;
      const bool negated = cursor.Take("!");
      term.ref = TakeField(cursor, scope, {"=", "!=", " and ", " or "});
      if (term.ref.field == nullptr && asks_states) {
        term.state = TakeState(cursor);
        if (term.state >= 0) term.ref = {&model_.states[static_cast<size_t>(term.state)].field};
      }
      if (term.ref.field == nullptr) {
        Problem(Code::kUnknownField, text.where,
                absl::StrCat("\"", cursor.rest(), "\" begins with no field of \"",
                             scope.container->name, "\""));
        return {};
      }
      const bool compares = cursor.rest().substr(0, 1) == "=" || cursor.rest().substr(0, 2) == "!=";
      if (!IsWhole(*term.ref.field) ||
          (compares ? HasEncoding(*term.ref.field) : !ZeroIsZero(*term.ref.field))) {
        Problem(Code::kBadCondition, text.where,
                absl::StrCat("\"", term.ref.field->name,
                             "\" cannot be compared: only integers without an encoding can"));
        return {};
      }
      const bool unequal = cursor.Take("!=");
      if (unequal || cursor.Take("=")) {
        const absl::string_view written = cursor.rest();
        const absl::optional<uint64_t> value = TakeValue(cursor, *term.ref.field);
        if (!value || negated) {
          Problem(Code::kBadCondition, text.where,
                  negated ? std::string("write A!=v, not !A=v")
                          : absl::StrCat("\"", cursor.rest(),
                                         "\" is neither a number nor a value of \"",
                                         term.ref.field->name, "\""));
          return {};
        }
        // Negative values have all high bits set.
        if (term.ref.field->type != FieldType::kInt && !term.ref.field->unplaced &&
            *value > Ones(term.ref.field->width)) {
          Problem(Code::kBadCondition, text.where,
                  absl::StrCat("\"", written, "\": \"", term.ref.field->name, "\" has ",
                               term.ref.field->width, " bits and never holds that"));
          return {};
        }
        term.negated = unequal;
        term.value = *value & Ones(term.ref.field->width);
      } else {
        // A alone: not zero.
        term.negated = !negated;
      }
      condition.back().push_back(term);
      if (condition.size() > 64 || condition.back().size() > 64) {
        Problem(Code::kTooLarge, text.where, "this condition is too long");
        return {};
      }
      if (cursor.done()) return condition;
      if (cursor.Take(" or ")) {
        condition.emplace_back();
      } else if (!cursor.Take(" and ")) {
        Problem(Code::kBadCondition, text.where,
                absl::StrCat("\"", cursor.rest(), "\": \" and \" or \" or \" was expected here"));
        return {};
      }
    }
  }

  absl::optional<uint64_t> TakeValue(Cursor& cursor, const Item& field) {
    const std::vector<Value>& values = NamedValues(field);
    const absl::optional<size_t> best = TakeName(cursor, values, {" and ", " or "});
    return best ? values[*best].value : TakeNumber(cursor);
  }

  static absl::optional<uint64_t> TakeNumber(Cursor& cursor) {
    const bool hex = cursor.rest().size() > 2 && cursor.rest()[0] == '0' && cursor.rest()[1] == 'x';
    size_t n = hex ? 2 : 0;
    while (n < cursor.rest().size() &&
           (hex ? absl::ascii_isxdigit(static_cast<unsigned char>(cursor.rest()[n]))
                : absl::ascii_isdigit(static_cast<unsigned char>(cursor.rest()[n])))) {
      ++n;
    }
    uint64_t value = 0;
    const absl::string_view digits = cursor.rest().substr(0, n);
    if (n == 0 || !(hex ? absl::SimpleHexAtoi(digits, &value) : absl::SimpleAtoi(digits, &value))) {
      return absl::nullopt;
    }
    cursor.Skip(n);
    return value;
  }

  Expression ParseExpression(const Deferred& text, const Scope& scope) {
    Expression expression;
    if (text.empty()) return expression;
    Cursor cursor(text.text);
    if (absl::ascii_isdigit(static_cast<unsigned char>(cursor.rest()[0]))) {
      const FieldRef field = TakeField(cursor, scope, {"*", "+"});
      if (field.field == nullptr && cursor.rest().substr(0, 2) != "2^") {
        const absl::optional<uint64_t> number = TakeNumber(cursor);
        if (number && cursor.done()) {
          expression.kind = Expression::Kind::kConstant;
          expression.add = *number;
          return expression;
        }
        cursor = Cursor(text.text);
      } else {
        cursor = Cursor(text.text);
      }
    }
    Scope where = scope;
    expression.kind = Expression::Kind::kField;
    expression.power = cursor.Take("2^");
    const Container* state = nullptr;
    for (size_t i = 0; i < model_.containers.size(); ++i) {
      const Container& c = model_.containers[i];
      // Parts are words of a stream too, so they leave state behind as packets do. So do registers
      // that packets write, and structures that packets lead to.
      if ((c.kind != ContainerKind::kStruct || leaves_state_[i]) &&
          cursor.rest().size() > c.name.size() &&
          cursor.rest().substr(0, c.name.size()) == c.name && cursor.rest()[c.name.size()] == '.' &&
          (state == nullptr || c.name.size() > state->name.size())) {
        state = &c;
      }
    }
    if (state != nullptr) {
      cursor.Skip(state->name.size() + 1);
      expression.kind = Expression::Kind::kState;
      expression.container = static_cast<int>(state - model_.containers.data());
      where = {state, nullptr};
    }
    expression.ref = TakeField(cursor, where, {"*", "+"});
    if (expression.ref.field == nullptr) {
      Problem(Code::kUnknownField, text.where,
              absl::StrCat("\"", cursor.rest(), "\" begins with no field of \"",
                           where.container->name, "\""));
      return {};
    }
    if (!IsWhole(*expression.ref.field)) {
      Problem(Code::kBadExpression, text.where,
              absl::StrCat("\"", expression.ref.field->name, "\" is no integer"));
      return {};
    }
    absl::optional<uint64_t> factor = 1, addend = 0;
    if (cursor.Take("*")) factor = TakeNumber(cursor);
    if (cursor.Take("+")) addend = TakeNumber(cursor);
    if (!factor || !addend || !cursor.done() || *factor > 1u << 31 || *addend > 1u << 31) {
      Problem(Code::kBadExpression, text.where,
              absl::StrCat("\"", text.text, "\" must be a number or [2^][PACKET.]FIELD[*N][+N]"));
      return {};
    }
    expression.multiply = *factor;
    expression.add = *addend;
    return expression;
  }

  void Bases() {
    for (Base& base : model_.bases) {
      if (base.otherwise.empty()) continue;
      if (base.otherwise.text == "0") {
        base.otherwise_index = Base::kZero;
        continue;
      }
      base.otherwise_index = FindByName(model_.bases, base.otherwise.text);
      if (base.otherwise_index >= 0) continue;
      Problem(Code::kUnknownReference, base.otherwise.where,
              absl::StrCat("there is no <base name=\"", base.otherwise.text, "\">"));
    }
  }

  void References(Container& c) {
    const Scope top{&c, nullptr};
    for (Item& item : c.items) ItemReferences(item, top);
    for (Variant& variant : c.variants) {
      variant.condition = ParseCondition(variant.when, top);
      for (const auto& clause : variant.condition) {
        for (const Term& term : clause) {
          if (term.ref.field->bit + term.ref.field->width > c.bytes * 8) {
            Problem(Code::kBadVariant, variant.where,
                    "what decides about a variant must lie in the packet's shortest form");
          }
        }
      }
    }
    for (Part& part : c.parts) {
      part.struct_index = FindContainer(part.struct_name.text);
      if (part.struct_index < 0 || model_.containers[static_cast<size_t>(part.struct_index)].kind !=
                                       ContainerKind::kStruct) {
        Problem(Code::kBadPart, part.struct_name.where,
                absl::StrCat("there is no structure \"", part.struct_name.text, "\""));
        part.struct_index = -1;
      } else {
        const Container& nested = model_.containers[static_cast<size_t>(part.struct_index)];
        if (nested.tail != nullptr || !nested.parts.empty() || !nested.variants.empty() ||
            nested.bytes % (c.byte_unit ? 2 : 4) != 0) {
          Problem(Code::kBadPart, part.struct_name.where,
                  absl::StrCat("\"", nested.name, "\" has no fixed size, so it cannot be a part"));
        } else if (nested.byte_unit != c.byte_unit) {
          Problem(Code::kBadPart, part.struct_name.where,
                  absl::StrCat("the size of \"", nested.name, "\" is given in ",
                               nested.byte_unit ? "bytes" : "dwords", ", that of \"", c.name,
                               "\" is not; a part counts as what it is a part of"));
        }
      }
      part.condition = ParseCondition(part.when, top);
      part.repeat_expression = ParseExpression(part.repeat, top);
      if (part.repeat_expression.kind == Expression::Kind::kState) {
        Problem(Code::kBadPart, part.repeat.where, "a part repeats as its own header says");
      }
    }
    if (c.pad.to != 0) {
      const uint32_t unit = c.byte_unit ? 2 : 4;
      if (c.parts.empty() || c.length_field != nullptr || c.pad.to % unit != 0 ||
          !IsPowerOfTwo(c.pad.to)) {
        Problem(Code::kBadPart, c.pad.where,
                absl::StrCat("padding stands behind parts of a packet without a length, up to a "
                             "power of two of at least ",
                             unit, " bytes"));
      }
      c.pad.condition = ParseCondition(c.pad.when, top);
    }
    for (Draws& draws : c.draws) ResolveDraws(draws, top);
    for (Image& image : c.images) ResolveImage(image, top);
    for (Flow& flow : c.flows) {
      flow.condition = ParseCondition(flow.when, top);
      flow.uncertain = ParseCondition(flow.maybe, top);
      const bool goes = flow.kind == Flow::Kind::kJump || flow.kind == Flow::Kind::kCall;
      if (goes != !flow.to.empty()) {
        Problem(Code::kBadFlow, flow.where,
                goes ? "a jump or call needs to=\"FIELD\"" : "only jumps and calls go somewhere");
        continue;
      }
      if (!goes) {
        if (!flow.maybe.empty()) {
          Problem(Code::kBadFlow, flow.maybe.where, "only jumps and calls may be left out");
        }
        continue;
      }
      Cursor cursor(flow.to.text);
      flow.target = TakeField(cursor, top, {});
      if (flow.target.field == nullptr || !cursor.done() ||
          (flow.target.field->type != FieldType::kAddress &&
           flow.target.field->type != FieldType::kOffset)) {
        Problem(Code::kBadFlow, flow.to.where,
                absl::StrCat("\"", flow.to.text, "\" is no address field of \"", c.name, "\""));
        flow.target = {};
      }
    }
    if (!c.flows.empty() && c.kind != ContainerKind::kPacket) {
      Problem(Code::kBadFlow, c.flows[0].where, "only packets jump, call, return and end");
    }
    for (Relation& relation : c.relations) {
      relation.container = FindContainer(relation.packet.text);
      if (relation.container < 0 ||
          model_.containers[static_cast<size_t>(relation.container)].kind !=
              ContainerKind::kPacket) {
        Problem(Code::kUnknownReference, relation.packet.where,
                absl::StrCat("there is no packet \"", relation.packet.text, "\""));
      }
    }
  }

  void ItemReferences(Item& item, const Scope& scope) {
    if (item.kind == Item::Kind::kGroup) {
      const Scope inner{scope.container, scope.group != nullptr ? scope.group : &item};
      for (Item& child : item.items) ItemReferences(child, inner);
      return;
    }
    for (Points& points : item.points) {
      ResolvePoints(item, points, scope);
    }
    for (ElementOf& element : item.elements) ResolveElement(item, element, scope);
    if (!item.when.empty()) View(item, scope);
    if (!item.writes_memory.empty()) WritesMemory(item, scope);
    if (!item.high_text.empty()) HighBits(item, scope);
    for (SetsBase& sets : item.sets) {
      sets.condition = ParseCondition(sets.when, scope);
      if (sets.is_state) {
        sets.base_index = FindByName(model_.states, sets.base.text);
        if (sets.base_index < 0) {
          Problem(Code::kUnknownReference, sets.base.where,
                  absl::StrCat("there is no <state name=\"", sets.base.text, "\">"));
        } else if (!IsWhole(item) || HasEncoding(item)) {
          Problem(Code::kBadType, item.where, "a state is an integer without an encoding");
        }
        continue;
      }
      sets.base_index = FindByName(model_.bases, sets.base.text);
      if (sets.base_index < 0) {
        Problem(Code::kUnknownReference, sets.base.where,
                absl::StrCat("there is no <base name=\"", sets.base.text, "\">"));
      }
      if (item.type != FieldType::kAddress && item.type != FieldType::kOffset) {
        Problem(Code::kBadType, item.where, "only an address or offset can be a base");
      }
    }
    if (!item.writes_register.empty()) {
      Cursor cursor(item.writes_register.text);
      item.writes_ref = TakeField(cursor, scope, {});
      if (item.writes_ref.field == nullptr || !cursor.done() ||
          item.writes_ref.field->type != FieldType::kOffset) {
        Problem(Code::kBadRegister, item.writes_register.where,
                absl::StrCat("\"", item.writes_register.text,
                             "\" is no offset field next to this one"));
        item.writes_ref = {};
      }
    }
  }

  int FindData(const Deferred& text) {
    const int data = FindByName(model_.data_kinds, text.text);
    if (data < 0 && !text.empty()) {
      Problem(Code::kUnknownReference, text.where,
              absl::StrCat("there is no <data name=\"", text.text, "\">"));
    }
    return data;
  }

  static bool HasFormats(const std::vector<Value>& values) {
    return std::any_of(values.begin(), values.end(),
                       [](const Value& value) { return !value.format.empty(); });
  }

  void ResolveElement(const Item& item, ElementOf& element, const Scope& scope) {
    element.data_index = FindData(element.data);
    element.number_expression = ParseExpression(element.number, scope);
    element.slot_expression = ParseExpression(element.slot, scope);
    element.offset_expression = ParseExpression(element.offset, scope);
    element.condition = ParseCondition(element.when, scope);
    if (!element.is_step && !HasFormats(NamedValues(item))) {
      Problem(Code::kBadData, element.where,
              absl::StrCat("no value of \"", item.name, "\" has components=\"…\""));
    } else if (element.is_step && !IsWhole(item)) {
      Problem(Code::kBadData, element.where,
              absl::StrCat("\"", item.name, "\" is no integer, so it counts no instances"));
    }
  }

  // Memory is written in dwords: what is stored is read again as fields of packets.
  void WritesMemory(Item& item, const Scope& scope) {
    Cursor cursor(item.writes_memory.text);
    const FieldRef target = TakeField(cursor, scope, {});
    if (target.field == nullptr || !cursor.done() ||
        (target.field->type != FieldType::kAddress && target.field->type != FieldType::kOffset)) {
      Problem(Code::kBadData, item.writes_memory.where,
              absl::StrCat("\"", item.writes_memory.text, "\" is no address next to this field"));
    } else if (item.width % 32 != 0 || item.bit % 8 != 0) {
      Problem(Code::kBadData, item.writes_memory.where,
              absl::StrCat("\"", item.name, "\" is no whole number of dwords"));
    } else {
      item.stores_ref = target;
    }
    item.stores_condition = ParseCondition(item.writes_when, scope);
  }

  // Of bits that hold something else where the condition does not hold.
  void View(Item& item, const Scope& scope) {
    item.condition = ParseCondition(item.when, scope);
    if (!item.overlap) {
      Problem(Code::kContradiction, item.when.where,
              "a field with when shares its bits: it has overlap=\"true\"");
    }
    if (item.forced || item.nonzero != NotZero::kMayBeZero || item.min || item.max ||
        item.type == FieldType::kStruct || !item.points.empty() || !item.sets.empty() ||
        !item.elements.empty() || !item.writes_register.empty() || !item.writes_memory.empty()) {
      Problem(Code::kContradiction, item.when.where,
              "a field with when only shows a number: it has no fields of its own, no range, leads "
              "nowhere, and sets nothing");
    }
  }

  void ResolveDraws(Draws& draws, const Scope& scope) {
    draws.data_index = FindData(draws.data);
    draws.indices_index = FindData(draws.indices);
    draws.indexed_condition = ParseCondition(draws.indexed, scope);
    draws.condition = ParseCondition(draws.when, scope);
    draws.first_expression = ParseExpression(draws.first, scope);
    draws.count_expression = ParseExpression(draws.count, scope);
    draws.first_instance_expression = ParseExpression(draws.first_instance, scope);
    draws.instances_expression = ParseExpression(draws.instances, scope);
    draws.bias_expression = ParseExpression(draws.bias, scope);
    draws.cuts_expression = ParseExpression(draws.cuts, scope);
    draws.cut_expression = ParseExpression(draws.cut, scope);
  }

  void ResolveImage(Image& image, const Scope& scope) {
    const auto field = [&](const Deferred& text) {
      if (text.empty()) return FieldRef{};
      Cursor cursor(text.text);
      const FieldRef ref = TakeField(cursor, scope, {});
      if (ref.field != nullptr && cursor.done()) return ref;
      Problem(Code::kUnknownReference, text.where,
              absl::StrCat("there is no field \"", text.text, "\" here"));
      return FieldRef{};
    };
    image.condition = ParseCondition(image.when, scope);
    image.address_ref = field(image.address);
    if (image.address_ref.field != nullptr &&
        image.address_ref.field->type != FieldType::kAddress) {
      Problem(Code::kBadType, image.address.where,
              absl::StrCat("\"", image.address.text, "\" is no address"));
    }
    image.format_ref = field(image.format);
    image.type_ref = field(image.type);
    for (const auto& [ref, text] : {std::make_pair(image.format_ref, &image.format),
                                    std::make_pair(image.type_ref, &image.type)}) {
      if (ref.field != nullptr && NamedValues(*ref.field).empty()) {
        Problem(Code::kBadData, text->where,
                absl::StrCat("no value of \"", text->text, "\" has a name"));
      }
    }
    image.width_expression = ParseExpression(image.width, scope);
    image.height_expression = ParseExpression(image.height, scope);
    image.depth_expression = ParseExpression(image.depth, scope);
    image.pitch_expression = ParseExpression(image.pitch, scope);
  }

  // high="FIELD": the value of FIELD stands above the bits of this one.
  void HighBits(Item& item, const Scope& scope) {
    item.high = ParseExpression(item.high_text, scope);
    const Item* field = item.high.ref.field;
    if (item.high.kind == Expression::Kind::kNone) return;
    const uint32_t from = item.width + item.encoding.shift;
    if (item.type != FieldType::kAddress && item.type != FieldType::kOffset) {
      Problem(Code::kBadType, item.high_text.where,
              "only an address or offset continues in another field");
    } else if (item.high.kind == Expression::Kind::kConstant || item.high.multiply != 1 ||
               item.high.power || item.high.add != 0 || field->type != FieldType::kUint ||
               field == &item || HasEncoding(*field)) {
      Problem(Code::kBadExpression, item.high_text.where,
              absl::StrCat("high=\"", item.high_text.text,
                           "\" must name another field, a uint without an encoding"));
    } else if (from + field->width > 64) {
      Problem(Code::kBadWidth, item.high_text.where,
              absl::StrCat("the address and its high bits take ", from + field->width, " bits"));
    } else {
      item.high.multiply = uint64_t{1} << from;
      return;
    }
    item.high = {};
  }

  // or="STRUCT": an element of the table may be that instead.
  void OtherTarget(Points& points) {
    if (points.other.empty()) return;
    points.other_index = FindContainer(points.other.text);
    const auto fixed = [&](int i) {
      if (i < 0) return uint32_t{0};
      const Container& c = model_.containers[static_cast<size_t>(i)];
      const bool good = c.kind == ContainerKind::kStruct && c.tail == nullptr && c.parts.empty() &&
                        c.variants.empty();
      return good ? c.bytes : 0;
    };
    const uint32_t bytes = fixed(points.other_index);
    if (points.target == Points::Target::kStruct && bytes != 0 &&
        bytes == fixed(points.target_index)) {
      return;
    }
    points.other_index = -1;
    Problem(Code::kUnknownReference, points.other.where,
            absl::StrCat("\"", points.other.text,
                         "\" is no structure of the same, fixed size as to=\"…\""));
  }

  void ResolvePoints(const Item& item, Points& points, const Scope& scope) {
    if (item.type != FieldType::kAddress && item.type != FieldType::kOffset) {
      Problem(Code::kBadType, points.where, "only an address or offset points to something");
    }
    if (const int data = FindByName(model_.data_kinds, points.to.text); data >= 0) {
      points.target = Points::Target::kData;
      points.target_index = data;
    } else if (const int stream = FindByName(model_.streams, points.to.text); stream >= 0) {
      points.target = Points::Target::kStream;
      points.target_index = stream;
    } else if (const int target = FindContainer(points.to.text);
               target >= 0 &&
               model_.containers[static_cast<size_t>(target)].kind == ContainerKind::kStruct) {
      points.target = Points::Target::kStruct;
      points.target_index = target;
    } else if (!points.to.empty()) {
      Problem(Code::kUnknownReference, points.to.where,
              absl::StrCat("there is no structure, stream or <data> \"", points.to.text, "\""));
    }
    if (!points.base.empty()) {
      points.base_index = FindByName(model_.bases, points.base.text);
      if (points.base_index < 0) {
        Problem(Code::kUnknownReference, points.base.where,
                absl::StrCat("there is no <base name=\"", points.base.text, "\">"));
      }
    }
    if (!points.space.empty()) {
      const int space = FindByName(model_.spaces, points.space.text);
      if (space < 0) {
        Problem(Code::kUnknownReference, points.space.where,
                absl::StrCat("there is no <space name=\"", points.space.text, "\">"));
      } else {
        points.space_number = model_.spaces[static_cast<size_t>(space)].number;
      }
    }
    if (!points.space_when.empty() && points.space.empty()) {
      Problem(Code::kMissingAttribute, points.where, "space-when=\"…\" needs space=\"…\"");
    }
    points.space_condition = ParseCondition(points.space_when, scope);
    points.condition = ParseCondition(points.when, scope, true);
    OtherTarget(points);
    points.count_expression = ParseExpression(points.count, scope);
    points.size_expression = ParseExpression(points.size, scope);
    points.stride_expression = ParseExpression(points.stride, scope);
    points.end_expression = ParseExpression(points.end, scope);
    points.slot_expression = ParseExpression(points.slot, scope);
    points.format_expression = ParseExpression(points.format, scope);
    points.step_expression = ParseExpression(points.step, scope);
    points.simd_expression = ParseExpression(points.simd, scope);
    points.scale_expression = ParseExpression(points.scale, scope);
    const Expression& format = points.format_expression;
    if (format.kind != Expression::Kind::kNone &&
        (format.kind == Expression::Kind::kConstant || format.power || format.multiply != 1 ||
         format.add != 0 || !HasFormats(NamedValues(*format.ref.field)))) {
      Problem(Code::kBadData, points.format.where,
              absl::StrCat("\"", points.format.text,
                           "\" names no field whose values have components=\"…\""));
      points.format_expression = {};
    }
    if (points.target == Points::Target::kData && points.target_index >= 0) {
      const DataKind& kind = model_.data_kinds[static_cast<size_t>(points.target_index)];
      if (!kind.is_code && (!points.stage.empty() || !points.simd.empty())) {
        Problem(
            Code::kBadData, points.where,
            absl::StrCat("\"", kind.name, "\" is no program (code=\"true\"), so it has no stage"));
      }
    }
  }

  // --- Names ---

  void Names() {
    std::map<std::string, Location> types, c_names;
    std::set<std::string> seen;  // two of one name were reported already
    const CNames in_c(model_.c_prefix, model_.byte_unit);
    const auto claim = [&](std::map<std::string, Location>& names, const std::string& name,
                           Location where, absl::string_view language) {
      const auto [old, fresh] = names.emplace(name, where);
      if (fresh) return;
      Problem(Code::kNameCollision, where,
              absl::StrCat("two things become \"", name, "\" in ", language, "; give one of them ",
                           language == "C" ? "another name" : "alias=\"…\" or another name"))
          .notes.push_back({old->second, "the other is here"});
    };
    const auto spell = [&](const std::string& name, absl::string_view xml, Location where) {
      if (IsCIdentifier(name)) return;
      Problem(Code::kNameCollision, where,
              absl::StrCat("\"", xml, "\" would be ", name, " in C, which cannot be a name there"));
    };
    for (const Enum& e : model_.enums) {
      spell(in_c.EnumType(e.name), e.name, e.where);
      for (const Value& value : e.values) {
        if (value.value <= 0xffffffffu) continue;
        Problem(
            Code::kValueTooWide, value.where,
            absl::StrCat("value \"", value.name, "\" of \"", e.name, "\" has more than 32 bits"));
      }
      seen.insert(e.name);
      claim(types, CppName(e.name), e.where, "C++");
      claim(c_names, in_c.EnumType(e.name), e.where, "C");
      std::map<std::string, Location> enumerators;
      for (const Value& value : e.values) {
        claim(enumerators, CppName(value.name), value.where, "C++");
        spell(in_c.Enumerator(e.name, e.prefix, value.name), value.name, value.where);
      }
    }
    for (Container& c : model_.containers) {
      c.cpp = CppName(c.name);
      c.c = in_c.Type(c.name);
      spell(c.c, c.name, c.where);
      if (seen.insert(c.name).second) {
        claim(types, c.cpp, c.where, "C++");
        claim(c_names, c.c, c.where, "C");
      }
      NameScope scope;
      constants_.clear();
      types_.clear();
      UseType(c.cpp, c.where);
      TypesOf(c.items);
      for (const Part& part : c.parts) {
        if (part.struct_index < 0) continue;
        UseType(CppName(model_.containers[static_cast<size_t>(part.struct_index)].name),
                part.where);
      }
      NameItems(c, c.items, scope, claim, spell);
      std::map<std::string, Location>& members = scope.cpp;
      for (Part& part : c.parts) {
        part.cpp = part.alias.empty() ? CppMember(part.name) : part.alias;
        claim(members, part.cpp, part.where, "C++");
      }
      for (const auto& [name, where] : members) NotAType(name, where);
    }
  }

  // The types that a container's members have, and its own, are no names of its members in C++.
  void TypesOf(const std::vector<Item>& items) {
    for (const Item& item : items) {
      TypesOf(item.items);
      if (item.kind != Item::Kind::kField || item.type_index < 0) continue;
      const auto index = static_cast<size_t>(item.type_index);
      UseType(CppName(item.type == FieldType::kStruct ? model_.containers[index].name
                                                      : model_.enums[index].name),
              item.where);
    }
  }
  void UseType(std::string name, Location where) { types_.emplace(std::move(name), where); }
  void NotAType(const std::string& member, Location where) {
    const auto type = types_.find(member);
    if (type == types_.end()) return;
    Problem(
        Code::kNameCollision, where,
        absl::StrCat("\"", member, "\" is also a type here in C++; give the member alias=\"…\""))
        .notes.push_back({type->second, "the type is used here"});
  }

  struct NameScope {
    std::map<std::string, Location> xml, cpp, c;
  };

  template <class Claim, class Spell>
  void NameItems(const Container& c, std::vector<Item>& items, NameScope& scope, const Claim& claim,
                 const Spell& spell) {
    const CNames in_c(model_.c_prefix, model_.byte_unit);
    for (Item& item : items) {
      if (item.kind == Item::Kind::kReserved) continue;
      item.c = in_c.Member(item.name);
      item.cpp = item.alias.empty() ? CppMember(item.name) : item.alias;
      const auto [old, fresh] = scope.xml.emplace(item.name, item.where);
      const bool twice = !fresh && !item.name.empty();
      if (twice) {
        Problem(Code::kDuplicateName, item.where,
                absl::StrCat("\"", c.name, "\" has two fields \"", item.name, "\""))
            .notes.push_back({old->second, "the first is here"});
      }
      if (item.kind == Item::Kind::kField) {
        const bool in_cpp = !item.forced && &item != c.length_field;
        if (!twice && in_cpp) claim(scope.cpp, item.cpp, item.where, "C++");
        if (!twice) claim(scope.c, item.c, item.where, "C");
        if (!twice) spell(item.c, item.name, item.where);
        for (const Value& value : item.values) {
          spell(in_c.FieldValue(item.prefix, value.name), value.name, value.where);
        }
        NameConstants(item);
        continue;
      }
      // The items of a tail are no members; a named group has members of its own in C++ only.
      if (!twice && !item.tail && !item.name.empty()) {
        claim(scope.cpp, item.cpp, item.where, "C++");
      }
      if (item.tail) {
        NameScope own;
        NameItems(c, item.items, own, claim, spell);
        for (const auto& [name, where] : own.cpp) NotAType(name, where);
      } else if (item.name.empty()) {
        NameItems(c, item.items, scope, claim, spell);
      } else {
        NameScope own;
        std::swap(own.c, scope.c);
        NameItems(c, item.items, own, claim, spell);
        for (const auto& [name, where] : own.cpp) NotAType(name, where);
        std::swap(own.c, scope.c);
      }
    }
  }

  // Values listed inside fields are constants of the container; two of one name must be equal.
  void NameConstants(const Item& item) {
    for (const Value& value : item.values) {
      const std::string name = CppConstant(item.alias.empty() ? item.name : item.alias, value.name);
      const auto [old, fresh] = constants_.emplace(name, &value);
      if (fresh || old->second->value == value.value) continue;
      Problem(Code::kNameCollision, value.where,
              absl::StrCat("two values become the constant ", name, " in C++; rename one of them"))
          .notes.push_back({old->second->where, "the other is here"});
    }
  }

  // --- Warnings ---

  void Warn() {
    for (const Container& c : model_.containers) {
      if (c.doc.empty() && c.kind == ContainerKind::kPacket) {
        Problem(Code::kNoDocumentation, c.where,
                absl::StrCat("packet \"", c.name, "\" has no <doc>"));
      }
    }
    for (size_t i = 0; i < model_.enums.size(); ++i) {
      if (!enum_used_[i] && !names_used_[i]) {
        Problem(Code::kUnusedEnum, model_.enums[i].where,
                absl::StrCat("no field has the type \"", model_.enums[i].name, "\""));
      }
    }
  }

  const Sources& sources_;
  Diagnostics& diagnostics_;
  Model& model_;
  Container* container_ = nullptr;
  std::map<std::string, int> containers_, enums_;
  std::unordered_map<const void*, NameIndex> indices_;     // of the model's lists
  std::unordered_map<const void*, PrefixIndex> prefixes_;  // of those that conditions ask
  std::unordered_map<const Container*, FieldNames> fields_;
  std::vector<bool> enum_used_, names_used_;
  std::vector<bool> leaves_state_;  // structures that are parts, or that a packet leads to
  std::map<std::string, const Value*> constants_;  // of the container at hand
  std::map<std::string, Location> types_;          // that it uses, as C++ names them
  std::set<std::pair<const Item*, const Item*>> overlaps_;
  size_t leaves_ = 0;
};

}  // namespace

void Resolve(const Sources& sources, Diagnostics& diagnostics, Model& model) {
  Resolver(sources, diagnostics, model).Run();
}

}  // namespace packsmith::model
