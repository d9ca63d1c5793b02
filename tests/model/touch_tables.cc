#include "tests/model/touch_tables.h"

namespace packsmith::model {
namespace {

namespace t = packsmith::tables;

class Toucher {
 public:
  explicit Toucher(const t::Tables& tables) : tables_(tables) {}

  uint64_t Run() {
    for (const absl::string_view text : {tables_.family(), tables_.generation(), tables_.title(),
                                         tables_.aliases(), tables_.digest()})
      Text(text);
    for (const t::Container& c : tables_.containers()) Container(c);
    for (uint32_t s = 0; s < tables_.streams().size(); ++s) {
      Text(tables_.string(tables_.stream(s).name));
      for (const uint32_t word : {0u, 0x10000000u, 0x88u, 0xc0800038u, 0xffffffffu}) {
        for (const uint32_t bytes : {1u, 4u})
          sum_ += tables_.FindPacket(s, ~uint64_t{0}, word, bytes);
      }
    }
    for (const t::Engine& engine : tables_.engines()) Text(tables_.string(engine.aliases));
    for (const t::Base& base : tables_.bases()) Text(tables_.string(base.name));
    for (const t::Space& space : tables_.spaces()) Text(tables_.string(space.name));
    for (const char* name : {"", "Draw", "Set State", "zzz"}) {
      sum_ += tables_.FindContainer(name) + tables_.FindEngine(name) + tables_.FindStream(name);
    }
    for (const uint32_t offset : {0u, 0x1000u, 0xffffffffu}) sum_ += tables_.FindRegister(offset);
    return sum_;
  }

 private:
  void Text(absl::string_view text) {
    for (const char c : text) sum_ = sum_ * 31 + static_cast<unsigned char>(c);
  }
  void Condition(uint32_t i) {
    if (i == t::kNone) return;
    for (const t::Term& term : tables_.terms(tables_.condition(i).terms))
      sum_ += tables_.leaf(term.leaf).bit + term.value;
  }
  void Expression(uint32_t i) {
    if (i == t::kNone) return;
    const t::Expression& e = tables_.expression(i);
    if (e.kind != t::ExpressionKind::kConstant) sum_ += tables_.leaf(e.leaf).bit;
    if (e.kind == t::ExpressionKind::kState) sum_ += tables_.container(e.container).bytes;
  }
  void Pointer(uint32_t i) {
    if (i == t::kNone) return;
    const t::Pointer& p = tables_.pointer(i);
    if (p.target_kind == t::TargetKind::kData) {
      Data(p.target);
    } else if (p.target_kind == t::TargetKind::kStream) {
      sum_ += tables_.stream(p.target).align;
    } else {
      sum_ += tables_.container(p.target).bytes;
    }
    if (p.base != t::kNone) Text(tables_.string(tables_.bases()[p.base].name));
    for (const uint32_t condition : {p.space_when, p.when, p.unlimited_when}) Condition(condition);
    for (const uint32_t e : {p.count, p.size, p.stride, p.end, p.slot, p.format, p.step, p.simd})
      Expression(e);
    Text(tables_.string(p.stage));
    Pointer(p.next);
  }
  void Format(uint32_t i) {
    if (i == t::kNone) return;
    for (const t::Component& c : tables_.components(tables_.format(i))) {
      Text(tables_.string(c.name));
      sum_ += c.bit + c.width;
    }
  }
  void Data(uint32_t i) {
    const t::DataKind& kind = tables_.data(i);
    Text(tables_.string(kind.name));
    Format(kind.format);
    for (const t::Instruction& instruction : tables_.instructions(kind)) sum_ += instruction.bytes;
    for (const t::Reach& reach : tables_.reaches(kind)) {
      for (size_t i = 0; i < 4; ++i) sum_ += reach.mask[i] + reach.value[i];
      sum_ += reach.bit + reach.width;
    }
  }
  void Element(uint32_t i) {
    if (i == t::kNone) return;
    const t::Element& e = tables_.element(i);
    Data(e.data);
    Condition(e.when);
    for (const uint32_t x : {e.number, e.slot, e.offset}) Expression(x);
  }
  void Draw(uint32_t i) {
    if (i == t::kNone) return;
    const t::Draw& d = tables_.draw(i);
    Data(d.data);
    if (d.indices != t::kNone) Data(d.indices);
    for (const uint32_t x : {d.indexed, d.when}) Condition(x);
    for (const uint32_t x :
         {d.first, d.count, d.first_instance, d.instances, d.bias, d.cuts, d.cut})
      Expression(x);
  }
  void Leaf(const t::Leaf& leaf) {
    Text(tables_.string(leaf.name));
    Text(tables_.string(leaf.name_suffix));
    for (const uint64_t value : {uint64_t{0}, uint64_t{3}, ~uint64_t{0}})
      Text(tables_.ValueName(leaf, value));
    sum_ += tables_.NamedValueOf(leaf, "3D").value_or(0);
    if (leaf.named != t::kNone) {
      for (const t::NamedValue& v : tables_.values(tables_.enumeration(leaf.named).values))
        Format(v.format);
    }
    if (leaf.extra == t::kNone) return;
    const t::Extra& extra = tables_.extra(leaf.extra);
    Pointer(extra.pointer);
    Condition(extra.sets_when);
    Expression(extra.high);
    Element(extra.element);
    Condition(extra.stores_when);
    Condition(extra.counts_when);
    if (extra.stores_leaf != t::kNone) sum_ += tables_.leaf(extra.stores_leaf).bit;
    if (extra.writes_leaf != t::kNone) sum_ += tables_.leaf(extra.writes_leaf).bit;
    Text(tables_.string(extra.unit));
  }
  void Container(const t::Container& c) {
    Text(tables_.string(c.name));
    Text(tables_.string(c.doc));
    for (const t::Leaf& leaf : tables_.leaves(c.leaves)) Leaf(leaf);
    for (const t::Leaf& leaf : tables_.leaves(c.tail_leaves)) Leaf(leaf);
    for (const t::Variant& v : tables_.variants(c.variants)) Condition(v.when);
    for (const t::Part& part : tables_.parts(c.parts)) {
      Text(tables_.string(part.name));
      sum_ += tables_.container(part.container).bytes;
      Condition(part.when);
      Expression(part.repeat);
    }
    for (const t::Flow& flow : tables_.flows(c.flows)) {
      Condition(flow.when);
      if (flow.target != t::kNone) sum_ += tables_.leaf(flow.target).bit;
    }
    for (const t::Relation& r : tables_.relations(c.relations))
      sum_ += tables_.container(r.container).bytes;
    Draw(c.draw);
    for (const t::Image& image : tables_.images(c)) {
      Condition(image.when);
      sum_ += static_cast<uint32_t>(image.tiling);
      sum_ += tables_.leaf(image.address).bit;
      for (const uint32_t leaf : {image.format, image.type}) {
        if (leaf != t::kNone) Text(tables_.ValueName(tables_.leaf(leaf), 1));
      }
      for (const uint32_t x : {image.width, image.height, image.depth, image.pitch}) Expression(x);
    }
    if (c.length_leaf != t::kNone) sum_ += tables_.leaf(c.length_leaf).bit;
  }

  const t::Tables& tables_;
  uint64_t sum_ = 0;
};

}  // namespace

uint64_t TouchTables(const t::Tables& tables) { return Toucher(tables).Run(); }

}  // namespace packsmith::model
