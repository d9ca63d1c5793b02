#include "gen/model/write/tables.h"

#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gen/model/ast/flatten.h"
#include "gen/model/write/reference.h"
#include "runtime/tables/tables.h"

namespace packsmith::model {
namespace {

namespace t = packsmith::tables;

// What a leaf is found by: the structure it was reached through, the field, which item of its
// group.
using LeafKey = std::tuple<uint32_t, const ItemBase*, uint32_t>;

class TablesWriter {
 public:
  explicit TablesWriter(const Model& model) : model_(model) { Intern(""); }

  std::vector<uint64_t> Run() {
    // Leaves of all containers first, since conditions and expressions may name any of them.
    for (const Container& c : model_.containers) FlattenContainer(c);
    for (size_t i = 0; i < model_.containers.size(); ++i) AddContainer(i);
    AddStreams();
    for (const Platform& p : model_.platforms) {
      platforms_.push_back(
          {Intern(p.name),
           Intern(p.title),
           {static_cast<uint32_t>(ids_.size()), static_cast<uint32_t>(p.pci_ids.size())},
           {static_cast<uint32_t>(ids_.size() + p.pci_ids.size()),
            static_cast<uint32_t>(p.chip_ids.size())}});
      ids_.insert(ids_.end(), p.pci_ids.begin(), p.pci_ids.end());
      ids_.insert(ids_.end(), p.chip_ids.begin(), p.chip_ids.end());
    }
    for (const Engine& e : model_.engines) {
      engines_.push_back({Intern(e.name), Intern(e.aliases), e.registers});
    }
    for (const DataKind& kind : model_.data_kinds) {
      const auto first = static_cast<uint32_t>(instructions_.size());
      for (const Instruction& i : kind.instructions) {
        instructions_.push_back({i.mask, i.value, i.bytes, i.end_bit.value_or(t::kNone)});
      }
      const auto first_reach = static_cast<uint32_t>(reaches_.size());
      for (const Reach& from : kind.reaches) {
        t::Reach out{};
        std::copy(std::begin(from.mask), std::end(from.mask), out.mask);
        std::copy(std::begin(from.value), std::end(from.value), out.value);
        out.bit = static_cast<uint16_t>(from.bit);
        out.width = static_cast<uint16_t>(from.width);
        out.use = from.use;
        reaches_.push_back(out);
      }
      data_.push_back({Intern(kind.name),
                       AddFormat(kind.format),
                       kind.is_code,
                       kind.client ? static_cast<uint32_t>(*kind.client) : t::kNone,
                       {first, static_cast<uint32_t>(kind.instructions.size())},
                       {first_reach, static_cast<uint32_t>(kind.reaches.size())}});
    }
    for (const Base& b : model_.bases) {
      bases_.push_back({Intern(b.name), b.otherwise.index == Base::kZero
                                            ? t::kZeroBase
                                            : static_cast<uint32_t>(b.otherwise.index)});
    }
    for (const Client& c : model_.clients) clients_.push_back(c.is);
    AddWorkarounds();
    for (const State& s : model_.states) bases_.push_back({Intern(s.name), t::kNone});
    for (const Space& s : model_.spaces) {
      spaces_.push_back({Intern(s.name), s.number, s.privileged ? 1u : 0u});
    }
    std::stable_sort(
        registers_.begin(), registers_.end(),
        [](const t::RegisterEntry& a, const t::RegisterEntry& b) { return a.offset < b.offset; });
    for (uint32_t i = 0; i < containers_.size(); ++i) by_name_.push_back(i);
    std::sort(by_name_.begin(), by_name_.end(), [this](uint32_t a, uint32_t b) {
      return model_.containers[a].name < model_.containers[b].name;
    });
    return MakeBlock();
  }

 private:
  uint32_t Intern(const std::string& text) {
    const auto [it, fresh] = interned_.emplace(text, static_cast<uint32_t>(strings_.size()));
    if (fresh) strings_.insert(strings_.end(), text.c_str(), text.c_str() + text.size() + 1);
    return it->second;
  }

  // --- Leaves ---

  struct Flattened {
    Flat flat;
    t::Range leaves, tail_leaves;
    std::map<LeafKey, uint32_t> index;
  };

  void FlattenContainer(const Container& c) {
    Flattened f;
    f.flat = Flatten(model_, c);
    f.leaves = AddLeaves(c, f.flat.leaves, f.index);
    f.tail_leaves = AddLeaves(c, f.flat.tail_leaves, f.index);
    flattened_.push_back(std::move(f));
  }

  t::Range AddLeaves(const Container& c, const std::vector<FlatLeaf>& flat,
                     std::map<LeafKey, uint32_t>& index) {
    const auto first = static_cast<uint32_t>(leaves_.size());
    for (const FlatLeaf& from : flat) {
      index.emplace(LeafKey{from.scope, from.item, from.index},
                    static_cast<uint32_t>(leaves_.size()));
      leaves_.push_back(MakeLeaf(c, from));
    }
    return {first, static_cast<uint32_t>(flat.size())};
  }

  t::Leaf MakeLeaf(const Container& c, const FlatLeaf& from) {
    t::Leaf leaf{};
    leaf.name = Intern(from.name);
    leaf.name_suffix = Intern(from.suffix);
    leaf.bit = from.bit;
    leaf.width = static_cast<uint16_t>(std::min<uint32_t>(from.item->width, 0xffff));
    leaf.named = t::kNone;
    leaf.extra = t::kNone;
    if (from.field == nullptr) {
      leaf.flags =
          static_cast<const Reserved&>(*from.item).must_be_one ? t::kMustBeOne : t::kMustBeZero;
      return leaf;
    }
    const Field& field = *from.field;
    leaf.type = LeafTypeOf(field);
    leaf.fraction_bits = static_cast<uint8_t>(field.fraction_bits);
    leaf.shift = static_cast<uint8_t>(field.encoding.shift);
    uint32_t flags = 0;
    if (field.forced) flags |= t::kForced;
    if (&field == c.length_field) flags |= t::kLength;
    if (field.encoding.log2) flags |= t::kLog2;
    if (field.nonzero == NotZero::kAlways) flags |= t::kNonzero;
    if (from.overlap) flags |= t::kOverlap;
    if (field.min) flags |= t::kHasMin;
    if (field.max) flags |= t::kHasMax;
    if (from.scope == 0 && !c.variants.empty() && from.bit + field.width > c.bytes * 8) {
      flags |= t::kVariantOnly;
    }
    leaf.flags = static_cast<uint16_t>(flags);
    leaf.named = AddNames(field);
    return leaf;
  }

  static t::LeafType LeafTypeOf(const Field& field) {
    switch (field.type) {
      case FieldType::kInt:
        return t::LeafType::kInt;
      case FieldType::kBool:
        return t::LeafType::kBool;
      case FieldType::kFloat:
        return t::LeafType::kFloat;
      case FieldType::kHalf:
        return t::LeafType::kHalf;
      case FieldType::kUfixed:
        return t::LeafType::kUfixed;
      case FieldType::kSfixed:
        return t::LeafType::kSfixed;
      case FieldType::kAddress:
        return t::LeafType::kAddress;
      case FieldType::kOffset:
        return t::LeafType::kOffset;
      case FieldType::kUint:
      case FieldType::kEnum:
      case FieldType::kStruct:
        break;
    }
    return t::LeafType::kUint;
  }

  // One list of named values per enumeration, or per field that lists its own.
  uint32_t AddNames(const Field& field) {
    if (field.type == FieldType::kEnum && field.type_index >= 0) {
      const Enum& e = model_.enums[static_cast<size_t>(field.type_index)];
      return AddNames(&e, e.name, e.values);
    }
    if (field.names.index >= 0) {
      const Enum& e = model_.enums[static_cast<size_t>(field.names.index)];
      return AddNames(&e, e.name, e.values);
    }
    return field.values.empty() ? t::kNone : AddNames(&field, "", field.values);
  }

  uint32_t AddFormat(const DataFormat& format) {
    if (format.empty()) return t::kNone;
    const auto first = static_cast<uint32_t>(components_.size());
    for (const DataComponent& c : format.components) {
      components_.push_back(
          {Intern(c.name), static_cast<uint16_t>(c.bit), static_cast<uint8_t>(c.width), c.type});
    }
    formats_.push_back({{first, static_cast<uint32_t>(format.components.size())}, format.bits});
    return static_cast<uint32_t>(formats_.size()) - 1;
  }

  uint32_t AddNames(const void* key, const std::string& name, const std::vector<Value>& values) {
    const auto [it, fresh] = named_.emplace(key, static_cast<uint32_t>(enums_.size()));
    if (!fresh) return it->second;
    const auto first = static_cast<uint32_t>(values_.size());
    for (const Value& v : values) {
      values_.push_back({v.value, Intern(v.name), AddFormat(v.format), v.avoid ? 1u : 0u, 0});
    }
    std::stable_sort(
        values_.begin() + first, values_.end(),
        [](const t::NamedValue& a, const t::NamedValue& b) { return a.value < b.value; });
    enums_.push_back({Intern(name), {first, static_cast<uint32_t>(values.size())}});
    return it->second;
  }

  // --- Conditions and expressions ---

  // What refers to a leaf: another leaf, or the container itself.
  struct Asker {
    const Flattened* flattened;
    uint32_t scope;
    uint32_t index;
  };

  uint32_t LeafOf(const FieldRef& ref, const Asker& asker) const {
    const LeafKey key{asker.scope, ref.field, ref.group != nullptr ? asker.index : 0};
    const auto it = asker.flattened->index.find(key);
    return it == asker.flattened->index.end() ? t::kNone : it->second;
  }

  uint32_t AddCondition(const Condition& condition, const Asker& asker) {
    if (condition.empty()) return t::kNone;
    const auto first = static_cast<uint32_t>(terms_.size());
    for (const std::vector<Term>& clause : condition) {
      for (const Term& term : clause) {
        t::Term out{};
        out.of_state = term.state >= 0;
        out.leaf = out.of_state != 0 ? static_cast<uint32_t>(model_.bases.size()) +
                                           static_cast<uint32_t>(term.state)
                                     : LeafOf(term.ref, asker);
        out.negated = term.negated;
        out.ends_clause = &term == &clause.back();
        out.value = term.value;
        terms_.push_back(out);
      }
    }
    conditions_.push_back({{first, static_cast<uint32_t>(terms_.size()) - first}});
    return static_cast<uint32_t>(conditions_.size()) - 1;
  }

  uint32_t AddExpression(const Expression& expression, const Asker& asker) {
    t::Expression out{};
    out.container = t::kNone;
    out.leaf = t::kNone;
    out.power = expression.power;
    out.multiply = expression.multiply;
    out.add = expression.add;
    switch (expression.kind) {
      case Expression::Kind::kNone:
        return t::kNone;
      case Expression::Kind::kConstant:
        out.kind = t::ExpressionKind::kConstant;
        break;
      case Expression::Kind::kField:
        out.kind = t::ExpressionKind::kLeaf;
        out.leaf = LeafOf(expression.ref, asker);
        break;
      case Expression::Kind::kState:
        out.kind = t::ExpressionKind::kState;
        out.container = static_cast<uint32_t>(expression.container);
        out.leaf =
            LeafOf(expression.ref, {&flattened_[static_cast<size_t>(expression.container)], 0, 0});
        break;
    }
    expressions_.push_back(out);
    return static_cast<uint32_t>(expressions_.size()) - 1;
  }

  // --- Everything that refers to leaves ---

  void AddContainer(size_t i) {
    const Container& c = model_.containers[i];
    const Flattened& f = flattened_[i];
    AddExtras(f, f.flat.leaves, f.leaves.first);
    AddExtras(f, f.flat.tail_leaves, f.tail_leaves.first);
    const Asker self{&f, 0, 0};

    t::Container out{};
    out.name = Intern(c.name);
    out.doc = Intern(c.doc);
    out.kind = c.kind;
    out.variable = c.variable || !c.variants.empty() || !c.parts.empty() || c.tail != nullptr;
    out.length_unit = c.byte_unit ? 1 : 4;
    out.identify_bytes = static_cast<uint8_t>(c.identify_bytes);
    out.bytes = c.bytes;
    out.max_bytes = c.max_bytes;
    out.identify_mask = c.identify_mask;
    out.identify_value = c.identify_value;
    out.length_leaf =
        c.length_field == nullptr ? t::kNone : LeafOf({c.length_field, nullptr}, self);
    out.length_bias = c.length_bias;
    out.role = c.role;
    out.masked = c.masked ? 1 : 0;
    out.privileged = c.privileged ? 1 : 0;
    out.serves = static_cast<uint8_t>(c.serves);
    out.engines = c.engines;
    out.register_offset = c.register_offset;
    out.leaves = f.leaves;
    out.tail_leaves = f.tail_leaves;
    if (c.tail != nullptr) {
      out.tail_bit = c.tail->bit;
      out.tail_size = c.tail->width;
      out.tail_max = static_cast<uint16_t>(c.tail->most);
    }
    out.variants.first = static_cast<uint32_t>(variants_.size());
    out.variants.count = static_cast<uint32_t>(c.variants.size());
    for (const Variant& v : c.variants) {
      variants_.push_back({AddCondition(v.when.is, self), v.bytes});
    }
    out.parts.first = static_cast<uint32_t>(parts_.size());
    out.parts.count = static_cast<uint32_t>(c.parts.size());
    for (const Part& p : c.parts) {
      parts_.push_back({Intern(p.name), static_cast<uint32_t>(p.struct_name.index),
                        AddCondition(p.when.is, self), AddExpression(p.repeat.is, self)});
    }
    out.pad_to = static_cast<uint16_t>(c.pad.to);
    out.pad_when = AddCondition(c.pad.when.is, self);
    out.flows.first = static_cast<uint32_t>(flows_.size());
    out.flows.count = static_cast<uint32_t>(c.flows.size());
    for (const Flow& flow : c.flows) {
      flows_.push_back({flow.kind, AddCondition(flow.when.is, self),
                        flow.to.is.field == nullptr ? t::kNone : LeafOf(flow.to.is, self),
                        AddCondition(flow.maybe.is, self)});
    }
    out.operations.first = static_cast<uint32_t>(operations_.size());
    for (const Operation& operation : c.operations) AddOperation(operation, self);
    if (c.kind == ContainerKind::kPacket) {
      for (const NestedStruct& nested : f.flat.nested) {
        for (const Operation& operation : nested.container->operations) {
          AddOperation(operation, {&f, nested.scope, 0});
        }
      }
    }
    out.operations.count = static_cast<uint32_t>(operations_.size()) - out.operations.first;
    out.relations.first = static_cast<uint32_t>(relations_.size());
    out.relations.count = static_cast<uint32_t>(c.relations.size());
    for (const Relation& r : c.relations) {
      relations_.push_back({r.kind, static_cast<uint32_t>(r.packet.index)});
    }
    out.draw = c.draws.empty() ? t::kNone : AddDraw(c.draws[0], self);
    out.images.first = static_cast<uint32_t>(images_.size());
    out.images.count = static_cast<uint32_t>(c.images.size());
    for (const Image& image : c.images) AddImage(image, self);
    out.rules.first = static_cast<uint32_t>(rules_.size());
    AddRules(c, self, false);
    for (const NestedStruct& nested : f.flat.nested) {
      AddRules(*nested.container, {&f, nested.scope, 0}, false);
    }
    for (const NestedStruct& nested : f.flat.tail_nested) {
      AddRules(*nested.container, {&f, nested.scope, 0}, true);
    }
    out.rules.count = static_cast<uint32_t>(rules_.size()) - out.rules.first;
    containers_.push_back(out);
    if (c.kind == ContainerKind::kRegister) {
      registers_.push_back({c.register_offset, static_cast<uint32_t>(i), Intern(c.dumped_as)});
    }
  }

  void AddExtras(const Flattened& f, const std::vector<FlatLeaf>& flat, uint32_t first) {
    for (size_t i = 0; i < flat.size(); ++i) {
      if (flat[i].field == nullptr) continue;
      const Field& field = *flat[i].field;
      const Encoding& e = field.encoding;
      const bool any = e.minus != 0 || e.groups != 0 || e.align != 0 || field.multiple != 0 ||
                       field.forced || field.min || field.max || !field.points.empty() ||
                       !field.sets.empty() || field.writes_register.is.field != nullptr ||
                       !field.unit.empty() || field.high.is.kind != Expression::Kind::kNone ||
                       field.writes_memory.is.field != nullptr || !field.elements.empty() ||
                       field.meaning != Meaning::kNone || !field.when.is.empty();
      if (!any) continue;
      const Asker asker{&f, flat[i].scope, flat[i].index};
      t::Extra extra{};
      extra.minus = e.minus;
      extra.groups = e.groups;
      extra.align = e.align;
      extra.multiple = field.multiple;
      extra.forced = field.forced.value_or(0);
      extra.min = field.min.value_or(0);
      extra.max = field.max.value_or(0);
      extra.pointer = AddPointers(field.points, asker);
      extra.sets_base = t::kNone;
      extra.sets_when = t::kNone;
      extra.sets_size = t::kNone;
      extra.sets_size_when = t::kNone;
      if (!field.sets.empty()) {
        const auto states = static_cast<uint32_t>(field.sets[0].is_state ? model_.bases.size() : 0);
        extra.sets_base = states + static_cast<uint32_t>(field.sets[0].base.index);
        extra.sets_when = AddCondition(field.sets[0].when.is, asker);
        extra.sets_size = AddExpression(field.sets[0].size.is, asker);
        extra.sets_size_when = AddCondition(field.sets[0].size_when.is, asker);
      }
      extra.writes_leaf = field.writes_register.is.field == nullptr
                              ? t::kNone
                              : LeafOf(field.writes_register.is, asker);
      extra.unit = Intern(field.unit);
      extra.high = AddExpression(field.high.is, asker);
      extra.stores_leaf = field.writes_memory.is.field == nullptr
                              ? t::kNone
                              : LeafOf(field.writes_memory.is, asker);
      extra.stores_when = AddCondition(field.writes_when.is, asker);
      extra.meaning = field.meaning;
      extra.meaning_at = static_cast<uint16_t>(field.meaning_at);
      extra.counts_when = AddCondition(field.when.is, asker);
      extra.element = field.elements.empty() ? t::kNone : AddElement(field.elements[0], asker);
      leaves_[first + i].extra = static_cast<uint32_t>(extras_.size());
      extras_.push_back(extra);
    }
  }

  void AddOperation(const Operation& from, const Asker& asker) {
    t::Operation out{};
    out.kind = from.kind;
    out.when = AddCondition(from.when.is, asker);
    out.operands.first = static_cast<uint32_t>(operands_.size());
    for (uint32_t role = 0; role < t::kOperandRoles; ++role) {
      const uint32_t expression = AddExpression(from.operands[role].is, asker);
      if (expression == t::kNone) continue;
      operands_.push_back(
          {static_cast<t::OperandRole>(role), expression, from.is_register[role] ? 1u : 0u});
    }
    out.operands.count = static_cast<uint32_t>(operands_.size()) - out.operands.first;
    operations_.push_back(out);
  }

  void AddRules(const Container& c, const Asker& asker, bool in_tail) {
    for (const Rule& rule : c.rules) {
      rules_.push_back({Intern(rule.number), Intern(rule.doc), Intern(rule.source), rule.severity,
                        AddCondition(rule.when.is, asker), AddExpression(rule.left.is, asker),
                        AddExpression(rule.right.is, asker), rule.is, in_tail ? 1u : 0u});
    }
  }

  void AddWorkarounds() {
    for (const Workaround& one : model_.workarounds) {
      if (one.here.empty()) continue;
      const auto first = static_cast<uint32_t>(asks_.size());
      for (const Ask& ask : one.asks) {
        if (ask.checked) AddAsk(ask);
      }
      const auto count = static_cast<uint32_t>(asks_.size()) - first;
      if (count == 0) continue;
      workarounds_.push_back({Intern(one.name),
                              Intern(one.doc),
                              Intern(one.source),
                              Intern(absl::StrJoin(one.here, " ")),
                              {first, count}});
    }
  }

  void AddAsk(const Ask& ask) {
    const auto of = static_cast<size_t>(ask.of.index);
    t::Ask out{};
    out.kind = ask.kind;
    out.of = static_cast<uint32_t>(of);
    out.with = ask.with.index < 0 ? t::kNone : static_cast<uint32_t>(ask.with.index);
    out.leaf = t::kNone;
    if (ask.is_field != nullptr) {
      const Flattened& owner = flattened_[ask.with.index < 0 ? of : out.with];
      for (const auto& [key, leaf] : owner.index) {
        if (std::get<1>(key) == ask.is_field) out.leaf = std::min(out.leaf, leaf);
      }
    }
    out.when = AddCondition(ask.when.is, {&flattened_[of], 0, 0});
    out.has_value = ask.raw ? 1 : 0;
    out.value = ask.raw.value_or(0);
    asks_.push_back(out);
  }

  // Each names the one that counts where its own condition does not hold.
  uint32_t AddPointers(const std::vector<Points>& all, const Asker& asker) {
    uint32_t first = t::kNone, last = t::kNone;
    for (const Points& points : all) {
      const uint32_t index = AddPointer(points, asker);
      if (first == t::kNone) first = index;
      if (last != t::kNone) pointers_[last].next = index;
      last = index;
    }
    return first;
  }

  uint32_t AddElement(const ElementOf& from, const Asker& asker) {
    t::Element out{};
    out.kind = from.is_step ? t::ElementKind::kStep : t::ElementKind::kFormat;
    out.data = static_cast<uint32_t>(from.data.index);
    out.number = AddExpression(from.number.is, asker);
    out.slot = AddExpression(from.slot.is, asker);
    out.offset = AddExpression(from.offset.is, asker);
    out.when = AddCondition(from.when.is, asker);
    elements_.push_back(out);
    return static_cast<uint32_t>(elements_.size()) - 1;
  }

  uint32_t AddDraw(const Draws& from, const Asker& asker) {
    t::Draw out{};
    out.data = static_cast<uint32_t>(from.data.index);
    out.indices = from.indices.index < 0 ? t::kNone : static_cast<uint32_t>(from.indices.index);
    out.indexed = AddCondition(from.indexed.is, asker);
    out.when = AddCondition(from.when.is, asker);
    out.first = AddExpression(from.first.is, asker);
    out.count = AddExpression(from.count.is, asker);
    out.first_instance = AddExpression(from.first_instance.is, asker);
    out.instances = AddExpression(from.instances.is, asker);
    out.bias = AddExpression(from.bias.is, asker);
    out.cuts = AddExpression(from.cuts.is, asker);
    out.cut = AddExpression(from.cut.is, asker);
    draws_.push_back(out);
    return static_cast<uint32_t>(draws_.size()) - 1;
  }

  void AddImage(const Image& from, const Asker& asker) {
    const auto leaf = [&](const FieldRef& ref) {
      return ref.field == nullptr ? t::kNone : LeafOf(ref, asker);
    };
    t::Image out{};
    out.use = from.use;
    out.tiling = from.tiling;
    out.when = AddCondition(from.when.is, asker);
    out.address = leaf(from.address.is);
    out.format = leaf(from.format.is);
    out.type = leaf(from.type.is);
    out.width = AddExpression(from.width.is, asker);
    out.height = AddExpression(from.height.is, asker);
    out.depth = AddExpression(from.depth.is, asker);
    out.pitch = AddExpression(from.pitch.is, asker);
    images_.push_back(out);
  }

  uint32_t AddPointer(const Points& points, const Asker& asker) {
    t::Pointer out{};
    out.next = t::kNone;
    out.target_kind = points.target;
    out.target = static_cast<uint32_t>(points.to.index);
    out.other = points.other.index < 0 ? t::kNone : static_cast<uint32_t>(points.other.index);
    out.relative = points.relative;
    out.keeps = points.keeps;
    out.base = points.base.index < 0 ? t::kNone : static_cast<uint32_t>(points.base.index);
    if (points.space.index >= 0) {
      out.space = model_.spaces[static_cast<size_t>(points.space.index)].number;
    }
    out.space_when = AddCondition(points.space_when.is, asker);
    out.when = AddCondition(points.when.is, asker);
    out.count = AddExpression(points.count.is, asker);
    // No condition would always hold.
    out.unlimited_when =
        points.unlimited_when.empty() ? t::kNone : AddCondition(points.unlimited_when.is, asker);
    out.size = AddExpression(points.size.is, asker);
    out.stride = AddExpression(points.stride.is, asker);
    out.end = AddExpression(points.end.is, asker);
    out.slot = AddExpression(points.slot.is, asker);
    out.format = AddExpression(points.format.is, asker);
    out.step = AddExpression(points.step.is, asker);
    out.simd = AddExpression(points.simd.is, asker);
    out.scale = AddExpression(points.scale.is, asker);
    out.align = AddExpression(points.align.is, asker);
    out.stage = Intern(points.stage);
    out.limit = points.limit;
    out.access = points.access;
    out.until_zero = points.until_zero;
    pointers_.push_back(out);
    return static_cast<uint32_t>(pointers_.size()) - 1;
  }

  void AddStreams() {
    std::vector<std::vector<size_t>> packets(model_.streams.size());
    for (size_t i = 0; i < model_.containers.size(); ++i) {
      const Container& c = model_.containers[i];
      if (c.kind != ContainerKind::kPacket || c.stream < 0) continue;
      packets[static_cast<size_t>(c.stream)].push_back(i);
    }
    for (size_t s = 0; s < model_.streams.size(); ++s) {
      const Stream& stream = model_.streams[s];
      std::map<uint32_t, std::vector<t::Opcode>> by_mask;
      for (const size_t i : packets[s]) {
        const Container& c = model_.containers[i];
        by_mask[c.identify_mask].push_back({c.identify_value, static_cast<uint32_t>(i)});
      }
      std::vector<uint32_t> masks;
      for (auto& [mask, opcodes] : by_mask) {
        masks.push_back(mask);
        std::stable_sort(opcodes.begin(), opcodes.end(),
                         [](const t::Opcode& a, const t::Opcode& b) { return a.value < b.value; });
      }
      std::stable_sort(masks.begin(), masks.end(), [](uint32_t a, uint32_t b) {
        return __builtin_popcount(a) > __builtin_popcount(b);
      });
      t::Stream out{};
      out.name = Intern(stream.name);
      out.align = stream.align;
      out.engines = stream.engines;
      out.groups.first = static_cast<uint32_t>(groups_.size());
      out.groups.count = static_cast<uint32_t>(masks.size());
      for (const uint32_t mask : masks) {
        const std::vector<t::Opcode>& opcodes = by_mask[mask];
        groups_.push_back(
            {mask,
             {static_cast<uint32_t>(opcodes_.size()), static_cast<uint32_t>(opcodes.size())}});
        opcodes_.insert(opcodes_.end(), opcodes.begin(), opcodes.end());
      }
      out.unknown.first = static_cast<uint32_t>(unknown_.size());
      out.unknown.count = static_cast<uint32_t>(stream.unknown.size());
      for (const UnknownLength& u : stream.unknown) {
        unknown_.push_back({u.mask, u.value, static_cast<uint16_t>(u.length_bit),
                            static_cast<uint16_t>(u.length_width), u.bias});
      }
      out.levels = AddExpression(stream.levels.is, {nullptr, 0, 0});
      out.prefetch = stream.prefetch;
      streams_.push_back(out);
    }
  }

  // --- The block ---

  template <class T>
  t::Section Append(const std::vector<T>& records) {
    const t::Section section{static_cast<uint32_t>(block_.size() * 8),
                             static_cast<uint32_t>(records.size())};
    block_.resize(block_.size() + (records.size() * sizeof(T) + 7) / 8);
    if (!records.empty()) {
      std::memcpy(reinterpret_cast<char*>(block_.data()) + section.offset, records.data(),
                  records.size() * sizeof(T));
    }
    return section;
  }

  // Text that is rarely read. Empty if there is no memory to pack it.
  static std::vector<uint8_t> Pack(const std::string& text) {
    constexpr int kLevel =
        3;  // a higher one takes a percent off the tables, and three times as long
    std::vector<uint8_t> packed(ZSTD_compressBound(text.size()));
    const size_t size =
        ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), kLevel);
    packed.resize(ZSTD_isError(size) ? 0 : size);
    return packed;
  }

  std::vector<uint64_t> MakeBlock() {
    t::Header header{};
    header.magic = t::kMagic;
    header.version = t::kVersion;
    header.family = Intern(model_.family);
    header.generation = Intern(model_.generation);
    header.title = Intern(model_.title);
    header.aliases = Intern(model_.aliases);
    header.digest = Intern(model_.digest);
    header.address_mask = ~uint64_t{0} >> (64 - model_.address_bits);
    block_.resize((sizeof(header) + 7) / 8);
    header.containers = Append(containers_);
    header.leaves = Append(leaves_);
    header.extras = Append(extras_);
    header.enums = Append(enums_);
    header.values = Append(values_);
    header.conditions = Append(conditions_);
    header.terms = Append(terms_);
    header.expressions = Append(expressions_);
    header.pointers = Append(pointers_);
    header.flows = Append(flows_);
    header.operations = Append(operations_);
    header.operands = Append(operands_);
    header.parts = Append(parts_);
    header.variants = Append(variants_);
    header.relations = Append(relations_);
    header.streams = Append(streams_);
    header.unknown = Append(unknown_);
    header.platforms = Append(platforms_);
    header.ids = Append(ids_);
    header.groups = Append(groups_);
    header.opcodes = Append(opcodes_);
    header.engines = Append(engines_);
    header.bases = Append(bases_);
    header.spaces = Append(spaces_);
    header.registers = Append(registers_);
    header.components = Append(components_);
    header.formats = Append(formats_);
    header.data = Append(data_);
    header.instructions = Append(instructions_);
    header.elements = Append(elements_);
    header.draws = Append(draws_);
    header.images = Append(images_);
    header.reaches = Append(reaches_);
    header.clients = Append(clients_);
    header.rules = Append(rules_);
    header.workarounds = Append(workarounds_);
    header.asks = Append(asks_);
    header.by_name = Append(by_name_);
    header.reference = Append(Pack(WriteReference(model_)));
    header.strings = Append(strings_);
    header.bytes = static_cast<uint32_t>(block_.size() * 8);
    std::memcpy(block_.data(), &header, sizeof(header));
    return std::move(block_);
  }

  const Model& model_;
  std::unordered_map<std::string, uint32_t> interned_;
  std::unordered_map<const void*, uint32_t> named_;
  std::vector<Flattened> flattened_;
  std::vector<char> strings_;
  std::vector<t::Container> containers_;
  std::vector<t::Leaf> leaves_;
  std::vector<t::Extra> extras_;
  std::vector<t::Enum> enums_;
  std::vector<t::NamedValue> values_;
  std::vector<t::Condition> conditions_;
  std::vector<t::Term> terms_;
  std::vector<t::Expression> expressions_;
  std::vector<t::Pointer> pointers_;
  std::vector<t::Flow> flows_;
  std::vector<t::Operation> operations_;
  std::vector<t::Client> clients_;
  std::vector<t::Operand> operands_;
  std::vector<t::Part> parts_;
  std::vector<t::Variant> variants_;
  std::vector<t::Relation> relations_;
  std::vector<t::Stream> streams_;
  std::vector<t::UnknownLength> unknown_;
  std::vector<t::Component> components_;
  std::vector<t::Format> formats_;
  std::vector<t::DataKind> data_;
  std::vector<t::Instruction> instructions_;
  std::vector<t::Element> elements_;
  std::vector<t::Draw> draws_;
  std::vector<t::Image> images_;
  std::vector<t::Reach> reaches_;
  std::vector<t::Rule> rules_;
  std::vector<t::Workaround> workarounds_;
  std::vector<t::Ask> asks_;
  std::vector<t::OpcodeGroup> groups_;
  std::vector<t::Opcode> opcodes_;
  std::vector<t::Engine> engines_;
  std::vector<t::Platform> platforms_;
  std::vector<uint32_t> ids_;
  std::vector<t::Base> bases_;
  std::vector<t::Space> spaces_;
  std::vector<t::RegisterEntry> registers_;
  std::vector<uint32_t> by_name_;
  std::vector<uint64_t> block_;
};

}  // namespace

std::vector<uint64_t> WriteTables(const Model& model) { return TablesWriter(model).Run(); }

}  // namespace packsmith::model
