#include "tests/vectors/vectors.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace packsmith::vectors {
namespace {

using decode::FieldAt;
using tables::Container;
using tables::kNone;
using tables::Leaf;

// The most parts of one kind, and the numbers of items that tails get.
constexpr uint64_t kMostParts = 3;
constexpr uint32_t kItemCounts[] = {0, 1, 3};

// A form that a container can take: raw bits of the fields that decide about variants and parts,
// and the number of items after it.
struct Form {
  std::map<uint32_t, uint64_t> controls;  // by leaf index
  uint32_t items = 0;
  std::string name;  // empty: the plain one
};

// The raw bits that a field gets; empty: those of zero bits, if there is no choice.
using Choose = std::function<std::optional<uint64_t>(const FieldAt&, const std::string& name)>;

class Maker {
 public:
  Maker(const Description& description, const Container& container)
      : d_(description), t_(description.tables()), container_(container) {
    FindControls();
  }

  std::vector<Form> Forms() const;
  Form RandomForm(Random& random) const;
  // `order` of the fields matters where they share bits: the first one gets them.
  std::optional<Vector> Make(const Form& form, const std::string& what, const Choose& choose,
                             Random* order = nullptr) const;
  std::vector<Vector> All() const;

 private:
  struct Control {
    const Leaf* leaf;
    std::vector<uint64_t> choices;  // good raw bits; the first is the plain form's
  };

  std::string NameOfLeaf(const Leaf& leaf) const { return std::string(t_.string(leaf.name)); }
  void FindControls();
  void AddControl(uint32_t leaf, const std::vector<uint64_t>& choices);
  std::optional<std::vector<uint8_t>> Empty(const Form& form) const;

  const Description& d_;
  const tables::Tables& t_;
  const Container& container_;
  std::vector<Control> controls_;
};

void Maker::AddControl(uint32_t leaf_index, const std::vector<uint64_t>& choices) {
  const Leaf& leaf = t_.leaf(leaf_index);
  // Of several views of the same bits, one is enough.
  auto at = std::find_if(controls_.begin(), controls_.end(), [&](const Control& c) {
    return c.leaf->bit == leaf.bit && c.leaf->width == leaf.width;
  });
  if (at == controls_.end()) at = controls_.insert(at, {&leaf, {}});
  for (const uint64_t raw : choices) {
    if (d_.IsGood(leaf, raw) &&
        std::find(at->choices.begin(), at->choices.end(), raw) == at->choices.end()) {
      at->choices.push_back(raw);
    }
  }
}

void Maker::FindControls() {
  const auto condition = [&](uint32_t index) {
    if (index == kNone) return;
    for (const tables::Term& term : t_.terms(t_.condition(index).terms)) {
      // The value itself, another value, and zero.
      AddControl(term.leaf, {0, term.value, term.value + 1, term.value ^ 1});
    }
  };
  for (const tables::Variant& variant : t_.variants(container_.variants)) condition(variant.when);
  condition(container_.pad_when);
  for (const tables::Part& part : t_.parts(container_.parts)) {
    condition(part.when);
    if (part.repeat == kNone) continue;
    const tables::Expression& e = t_.expression(part.repeat);
    if (e.kind != tables::ExpressionKind::kLeaf) continue;
    const Leaf& leaf = t_.leaf(e.leaf);
    std::vector<uint64_t> few;
    std::vector<uint8_t> bytes(container_.max_bytes);
    for (uint64_t raw = 0; raw <= std::min<uint64_t>(Ones(leaf.width), 15); ++raw) {
      decode::WriteBits(absl::MakeSpan(bytes), leaf.bit, leaf.width, raw);
      if (RepeatOf(t_, part, decode::Scope(t_, container_, bytes)) <= kMostParts) {
        few.push_back(raw);
      }
    }
    AddControl(e.leaf, few);
  }
}

std::vector<Form> Maker::Forms() const {
  std::vector<Form> forms(1);
  Form& plain = forms[0];
  for (const Control& c : controls_) {
    if (!c.choices.empty()) plain.controls[d_.IndexOf(*c.leaf)] = c.choices[0];
  }
  const Form base = plain;
  Form full = base;
  for (const Control& c : controls_) {
    for (size_t i = 1; i < c.choices.size(); ++i) {
      Form form = base;
      form.controls[d_.IndexOf(*c.leaf)] = c.choices[i];
      form.name = absl::StrCat(NameOfLeaf(*c.leaf), "=", c.choices[i]);
      forms.push_back(form);
      if (i == 1) full.controls[d_.IndexOf(*c.leaf)] = c.choices[i];
    }
  }
  if (controls_.size() > 1) {
    full.name = "all parts";
    forms.push_back(full);
  }
  if (container_.tail_size == 0) return forms;
  std::vector<Form> with_items;
  for (const uint32_t items : kItemCounts) {
    if (container_.tail_max != 0 && items > container_.tail_max) continue;
    for (Form form : forms) {
      form.items = items;
      absl::StrAppend(&form.name, form.name.empty() ? "" : ", ", items,
                      items == 1 ? " item" : " items");
      with_items.push_back(std::move(form));
    }
  }
  return with_items;
}

Form Maker::RandomForm(Random& random) const {
  Form form;
  for (const Control& c : controls_) {
    if (!c.choices.empty()) {
      form.controls[d_.IndexOf(*c.leaf)] = c.choices[random.Below(c.choices.size())];
    }
  }
  if (container_.tail_size != 0) {
    const uint32_t most = container_.tail_max == 0 ? 5 : std::min<uint32_t>(5, container_.tail_max);
    form.items = static_cast<uint32_t>(random.Below(most + 1));
  }
  return form;
}

// A record of that form, all zeros but for what makes it that form, and its length.
std::optional<std::vector<uint8_t>> Maker::Empty(const Form& form) const {
  std::vector<uint8_t> bytes(container_.max_bytes);
  for (const auto& [index, raw] : form.controls) {
    const Leaf& leaf = t_.leaf(index);
    decode::WriteBits(absl::MakeSpan(bytes), leaf.bit, leaf.width, raw);
  }
  const decode::Scope scope(t_, container_, bytes);
  uint64_t size = container_.bytes;
  for (const tables::Variant& variant : t_.variants(container_.variants)) {
    if (scope.Holds(variant.when)) size = std::max<uint64_t>(size, variant.bytes);
  }
  if (container_.tail_size != 0) {
    size = container_.tail_bit / 8 + uint64_t{form.items} * (container_.tail_size / 8);
  }
  for (const tables::Part& part : t_.parts(container_.parts)) {
    if (!scope.Holds(part.when)) continue;
    size += RepeatOf(t_, part, scope) * t_.container(part.container).bytes;
  }
  if (container_.pad_to != 0 && scope.Holds(container_.pad_when)) {
    size = (size + container_.pad_to - 1) / container_.pad_to * container_.pad_to;
  }
  bytes.resize(size);
  if (container_.length_leaf != kNone) {
    const Leaf& leaf = t_.leaf(container_.length_leaf);
    const uint64_t steps = size / container_.length_unit;
    if (steps < container_.length_bias || steps - container_.length_bias > Ones(leaf.width)) {
      return std::nullopt;
    }
    decode::WriteBits(absl::MakeSpan(bytes), leaf.bit, leaf.width, steps - container_.length_bias);
  }
  return bytes;
}

std::optional<Vector> Maker::Make(const Form& form, const std::string& what, const Choose& choose,
                                  Random* order) const {
  std::optional<std::vector<uint8_t>> bytes = Empty(form);
  if (!bytes) return std::nullopt;
  Vector vector;
  vector.container = std::string(t_.string(container_.name));
  vector.what = form.name.empty() ? what : absl::StrCat(what, ", ", form.name);

  std::vector<FieldAt> fields = FieldsOf(t_, container_, *bytes);
  std::vector<bool> mentioned(fields.size()), owner(fields.size());
  std::vector<bool> taken(bytes->size() * 8);
  const auto is_control = [&](const FieldAt& at) {
    return at.name.part.empty() && form.controls.count(d_.IndexOf(*at.leaf)) != 0;
  };
  std::vector<size_t> turn(fields.size());
  for (size_t i = 0; i < turn.size(); ++i) turn[i] = i;
  if (order != nullptr) {
    for (size_t i = turn.size(); i > 1; --i) std::swap(turn[i - 1], turn[order->Below(i)]);
  }
  // Controls first: others must not take their bits. Then the deliberate choices.
  std::vector<std::optional<uint64_t>> chosen(fields.size());
  for (const size_t i : turn) {
    if (Description::IsValue(*fields[i].leaf) && !is_control(fields[i])) {
      chosen[i] = choose(fields[i], NameOf(fields[i]));
    }
  }
  std::stable_sort(turn.begin(), turn.end(), [&](size_t a, size_t b) {
    const auto rank = [&](size_t i) { return is_control(fields[i]) ? 0 : chosen[i] ? 1 : 2; };
    return rank(a) < rank(b);
  });
  for (const size_t i : turn) {
    const FieldAt& at = fields[i];
    const Leaf& leaf = *at.leaf;
    uint64_t raw = 0;
    if ((leaf.flags & tables::kMustBeOne) != 0) {
      for (uint32_t b = 0; b < at.width; ++b) {
        decode::WriteBits(absl::MakeSpan(*bytes), at.bit + b, 1, 1);
      }
      continue;
    }
    if ((leaf.flags & tables::kForced) != 0) {
      raw = t_.extra(leaf.extra).forced;
    } else if (!Description::IsValue(leaf)) {
      continue;
    } else if (is_control(at)) {
      raw = form.controls.at(d_.IndexOf(leaf));
    } else {
      const std::optional<uint64_t> least = d_.Least(leaf);
      if (!chosen[i] && !least) return std::nullopt;
      raw = chosen[i] ? *chosen[i] : *least;
    }
    bool is_taken = false;
    for (uint64_t b = at.bit; b < at.bit + at.width; ++b) is_taken = is_taken || taken[b];
    if (is_taken) {
      // Another view of the same bits has them. This one stays at zero, if it may.
      if (raw != 0 && !d_.IsGood(leaf, 0)) return std::nullopt;
      continue;
    }
    // Zero is omitted if zero bits mean it.
    const decode::Value value = d_.Decoded(leaf, raw);
    mentioned[i] = Description::IsValue(leaf) &&
                   (raw != 0 || (!IsReal(leaf) && decode::NumberOf(value, raw) != 0));
    // A control's zero is a choice as well: another view of its bits would be another form.
    if (raw == 0 && !is_control(at)) continue;
    owner[i] = true;
    for (uint64_t b = at.bit; b < at.bit + at.width; ++b) taken[b] = true;
    decode::WriteBits(absl::MakeSpan(*bytes), at.bit, at.width, raw);
  }
  for (size_t i = 0; i < fields.size(); ++i) {
    const FieldAt& at = fields[i];
    const uint64_t raw = decode::ReadBits(*bytes, at.bit, at.width);
    if (!mentioned[i] || (raw != 0 && !owner[i])) continue;
    vector.fields.push_back({NameOf(at), d_.Decoded(*at.leaf, raw)});
  }
  vector.packed = *std::move(bytes);
  return vector;
}

std::vector<Vector> Maker::All() const {
  std::vector<Vector> all;
  std::set<std::string> alone, seen;
  bool first = true;
  Random random(SeedOf(t_.string(container_.name)));
  const auto add = [&](std::optional<Vector> vector) {
    // Without a choice many are the same.
    if (vector && seen.insert(ToJson(Vector{"", "", vector->fields, vector->packed})).second) {
      all.push_back(*std::move(vector));
    }
  };
  for (const Form& form : Forms()) {
    if (!Empty(form)) continue;
    add(Make(form, "least", [](const FieldAt&, const std::string&) { return std::nullopt; }));
    const auto each = [&](std::optional<uint64_t> (Description::*raw)(const Leaf&) const) {
      return [this, raw](const FieldAt& at, const std::string&) { return (d_.*raw)(*at.leaf); };
    };
    add(Make(form, "default", each(&Description::Default)));
    add(Make(form, "most", each(&Description::Most)));
    for (int i = 1; i <= (first ? 3 : 1); ++i) {
      add(Make(
          form, absl::StrCat("random ", i),
          [&](const FieldAt& at, const std::string&) { return RandomRaw(d_, *at.leaf, random); },
          &random));
    }
    first = false;
    // Each field alone, once: of what a form has in common with an earlier one nothing is new.
    for (const FieldAt& at : FieldsOf(t_, container_, *Empty(form))) {
      if (!Description::IsValue(*at.leaf)) continue;
      const std::string name = NameOf(at);
      if (!alone.insert(name).second) continue;
      const std::optional<uint64_t> most = d_.Most(*at.leaf), lowest = d_.Lowest(*at.leaf),
                                    least = d_.Least(*at.leaf);
      if (!most || !least || form.controls.count(d_.IndexOf(*at.leaf)) != 0) continue;
      const auto only = [&](uint64_t raw) -> Choose {
        return [&, raw](const FieldAt&, const std::string& n) -> std::optional<uint64_t> {
          if (n == name) return raw;
          return std::nullopt;
        };
      };
      add(Make(form, absl::StrCat("only ", name), only(*most)));
      if (*lowest != *least) {
        add(Make(form, absl::StrCat("only ", name, ", lowest"), only(*lowest)));
      }
    }
  }
  return all;
}

}  // namespace

uint64_t Random::Next() {  // splitmix64
  uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

uint64_t SeedOf(absl::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash;
}

uint64_t RandomRaw(const Description& d, const Leaf& leaf, Random& random) {
  const uint64_t kind = random.Below(8);
  if (kind == 0) return d.Least(leaf).value_or(0);
  if (kind == 1) return d.Most(leaf).value_or(0);
  for (int tries = 0; tries < 64; ++tries) {
    uint64_t raw = random.Next() & Ones(leaf.width);
    // Few of the values of a wide field would be good.
    if (tries > 8) raw >>= random.Below(leaf.width);
    if (d.IsGood(leaf, raw)) return raw;
  }
  return d.Least(leaf).value_or(0);
}

std::vector<Vector> VectorsOf(const Description& description, const Container& container) {
  return Maker(description, container).All();
}

std::optional<Vector> RandomVector(const Description& description, const Container& container,
                                   Random& random) {
  const Maker maker(description, container);
  return maker.Make(
      maker.RandomForm(random), "random",
      [&](const FieldAt& at, const std::string&) {
        return RandomRaw(description, *at.leaf, random);
      },
      &random);
}

std::string ToJson(const Vector& vector) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> json(buffer);
  const auto text = [&](absl::string_view s) {
    json.String(s.data(), static_cast<rapidjson::SizeType>(s.size()));
  };
  json.StartObject();
  json.Key("name");
  text(vector.container);
  json.Key("case");
  text(vector.what);
  json.Key("packed");
  text(absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(vector.packed.data()),
                                                vector.packed.size())));
  json.Key("fields");
  json.StartObject();
  for (const FieldValue& field : vector.fields) {
    text(field.name);
    const decode::Value& value = field.value;
    switch (value.kind) {
      case decode::ValueKind::kBool:
        json.Bool(value.unsigned_value != 0);
        break;
      case decode::ValueKind::kUnsigned:
        json.Uint64(value.unsigned_value);
        break;
      case decode::ValueKind::kSigned:
        json.Int64(value.signed_value);
        break;
      case decode::ValueKind::kWide:
      case decode::ValueKind::kAddress:
        text(absl::StrCat("0x", absl::Hex(value.unsigned_value)));
        break;
      case decode::ValueKind::kReal:
        json.Double(value.real);
        break;
    }
  }
  json.EndObject();
  json.EndObject();
  return std::string(buffer.GetString(), buffer.GetSize());
}

std::string Jsonl(const Description& description) {
  std::string lines;
  for (const Container& container : description.tables().containers()) {
    for (const Vector& vector : VectorsOf(description, container)) {
      absl::StrAppend(&lines, ToJson(vector), "\n");
    }
  }
  return lines;
}

}  // namespace packsmith::vectors
