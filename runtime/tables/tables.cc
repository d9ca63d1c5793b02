#include "runtime/tables/tables.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace packsmith::tables {

// Checks each index of a block once. A block that passes can be read without further checks.
class Checker {
 public:
  Checker(absl::Span<const uint8_t> block, const Header& header) : block_(block), h_(header) {}

  absl::Status Run() {
    Array<char>("strings", h_.strings);
    Array<Container>("containers", h_.containers);
    Array<Leaf>("leaves", h_.leaves);
    Array<Extra>("extras", h_.extras);
    Array<Enum>("enums", h_.enums);
    Array<NamedValue>("values", h_.values);
    Array<Condition>("conditions", h_.conditions);
    Array<Term>("terms", h_.terms);
    Array<Expression>("expressions", h_.expressions);
    Array<Pointer>("pointers", h_.pointers);
    Array<Flow>("flows", h_.flows);
    Array<Operation>("operations", h_.operations);
    Array<Operand>("operands", h_.operands);
    Array<Part>("parts", h_.parts);
    Array<Variant>("variants", h_.variants);
    Array<Relation>("relations", h_.relations);
    Array<Stream>("streams", h_.streams);
    Array<UnknownLength>("unknown lengths", h_.unknown);
    Array<Platform>("platforms", h_.platforms);
    Array<uint32_t>("ids of platforms", h_.ids);
    Array<OpcodeGroup>("opcode groups", h_.groups);
    Array<Opcode>("opcodes", h_.opcodes);
    Array<Engine>("engines", h_.engines);
    Array<Base>("bases", h_.bases);
    Array<Space>("spaces", h_.spaces);
    Array<RegisterEntry>("registers", h_.registers);
    Array<Component>("components", h_.components);
    Array<Format>("formats", h_.formats);
    Array<DataKind>("kinds of data", h_.data);
    Array<Instruction>("instructions", h_.instructions);
    Array<Element>("elements", h_.elements);
    Array<Draw>("draws", h_.draws);
    Array<Image>("images", h_.images);
    Array<Reach>("reaches", h_.reaches);
    Array<Client>("clients of memory", h_.clients);
    Array<Rule>("rules", h_.rules);
    Array<Workaround>("workarounds", h_.workarounds);
    Array<Ask>("asks of workarounds", h_.asks);
    Array<uint32_t>("names", h_.by_name);
    Array<uint8_t>("reference text", h_.reference);
    if (!status_.ok()) return status_;
    // Every string ends inside the pool if the pool ends with a zero.
    if (h_.strings.count == 0 || block_[h_.strings.offset + h_.strings.count - 1] != 0) {
      Fail("the string pool must end with a zero", 0);
    }
    // 16 bits at least, and no gaps.
    if ((h_.address_mask & (h_.address_mask + 1)) != 0 || h_.address_mask < 0xffff) {
      Fail("addresses have an impossible width", h_.address_mask);
    }
    for (const uint32_t s : {h_.family, h_.generation, h_.title, h_.aliases, h_.digest}) String(s);
    if (!status_.ok()) return status_;
    Contents();
    return status_;
  }

 private:
  template <class T>
  void Array(const char* what, const Section& section) {
    if (section.offset % 8 != 0 || section.offset > block_.size() ||
        section.count > (block_.size() - section.offset) / sizeof(T)) {
      Fail(absl::StrCat("the array of ", what, " lies outside the block"), section.offset);
    }
  }

  template <class T>
  absl::Span<const T> All(const Section& section) const {
    return {reinterpret_cast<const T*>(block_.data() + section.offset), section.count};
  }

  void Fail(absl::string_view what, uint64_t where) {
    if (status_.ok()) {
      status_ = absl::InvalidArgumentError(
          absl::StrCat("decode tables: ", what, " (", where, "); make them again with packgen"));
    }
  }
  void String(uint32_t offset) {
    if (offset >= h_.strings.count) Fail("a name lies outside the string pool", offset);
  }
  void Index(uint32_t i, const Section& section, bool none_allowed) {
    if (i == kNone ? !none_allowed : i >= section.count) Fail("an index is out of range", i);
  }
  void Run(Range r, const Section& section) {
    if (r.first > section.count || r.count > section.count - r.first) {
      Fail("a range is out of range", r.first);
    }
  }

  void Contents() {
    for (const Leaf& leaf : All<Leaf>(h_.leaves)) {
      String(leaf.name);
      String(leaf.name_suffix);
      Index(leaf.named, h_.enums, true);
      Index(leaf.extra, h_.extras, true);
      const bool reserved = (leaf.flags & (kMustBeZero | kMustBeOne)) != 0;
      if (leaf.width == 0 || (leaf.width > 64 && !reserved) || leaf.bit > (1u << 30)) {
        Fail("a field has an impossible width", leaf.bit);
      }
      if (leaf.shift > 63 || leaf.type > kLastLeafType || leaf.fraction_bits > 63) {
        Fail("a field has an impossible encoding", leaf.bit);
      }
    }
    for (const Extra& extra : All<Extra>(h_.extras)) {
      Index(extra.pointer, h_.pointers, true);
      Index(extra.sets_base, h_.bases, true);
      Index(extra.sets_when, h_.conditions, true);
      Index(extra.counts_when, h_.conditions, true);
      Index(extra.writes_leaf, h_.leaves, true);
      Index(extra.high, h_.expressions, true);
      Index(extra.stores_leaf, h_.leaves, true);
      Index(extra.stores_when, h_.conditions, true);
      Index(extra.element, h_.elements, true);
      Index(extra.sets_size, h_.expressions, true);
      Index(extra.sets_size_when, h_.conditions, true);
      if (static_cast<uint32_t>(extra.meaning) >= kMeanings || extra.meaning_at > 63)
        Fail("a meaning out of range", extra.unit);
      String(extra.unit);
    }
    for (const Enum& e : All<Enum>(h_.enums)) {
      String(e.name);
      Run(e.values, h_.values);
    }
    for (const NamedValue& v : All<NamedValue>(h_.values)) {
      String(v.name);
      Index(v.format, h_.formats, true);
    }
    Data();
    for (const Condition& c : All<Condition>(h_.conditions)) Run(c.terms, h_.terms);
    for (const Term& t : All<Term>(h_.terms)) {
      Index(t.leaf, t.of_state != 0 ? h_.bases : h_.leaves, false);
    }
    for (const Expression& e : All<Expression>(h_.expressions)) {
      if (e.kind > ExpressionKind::kState) Fail("an expression of unknown kind", 0);
      if (e.kind != ExpressionKind::kConstant) Index(e.leaf, h_.leaves, false);
      if (e.kind == ExpressionKind::kState) Index(e.container, h_.containers, false);
    }
    for (uint32_t i = 0; i < h_.pointers.count; ++i) {
      const Pointer& p = All<Pointer>(h_.pointers)[i];
      switch (p.target_kind) {
        case TargetKind::kStruct:
          Index(p.target, h_.containers, false);
          break;
        case TargetKind::kData:
          Index(p.target, h_.data, false);
          break;
        case TargetKind::kStream:
          Index(p.target, h_.streams, false);
          break;
        default:
          Fail("a pointer of unknown kind", 0);
      }
      Index(p.base, h_.bases, true);
      Index(p.space_when, h_.conditions, true);
      Index(p.when, h_.conditions, true);
      Index(p.count, h_.expressions, true);
      Index(p.unlimited_when, h_.conditions, true);
      Index(p.size, h_.expressions, true);
      Index(p.stride, h_.expressions, true);
      for (const uint32_t e : {p.end, p.slot, p.format, p.step, p.simd, p.scale, p.align}) {
        Index(e, h_.expressions, true);
      }
      String(p.stage);
      Index(p.other, h_.containers, true);
      Index(p.next, h_.pointers, true);
      // So that a chain ends.
      if (p.next <= i) Fail("a pointer is followed by an earlier one", i);
      if (p.access > Access::kReadWrite) Fail("an access of unknown kind", 0);
    }
    for (const Flow& f : All<Flow>(h_.flows)) {
      if (f.kind > FlowKind::kTerminate) Fail("a flow of unknown kind", 0);
      Index(f.when, h_.conditions, true);
      const bool goes = f.kind == FlowKind::kJump || f.kind == FlowKind::kCall;
      Index(f.target, h_.leaves, !goes);
      Index(f.maybe, h_.conditions, true);
    }
    for (const Operation& o : All<Operation>(h_.operations)) {
      if (static_cast<uint32_t>(o.kind) >= kOperationKinds) Fail("an operation of unknown kind", 0);
      Index(o.when, h_.conditions, true);
      Run(o.operands, h_.operands);
    }
    for (const Operand& o : All<Operand>(h_.operands)) {
      if (static_cast<uint32_t>(o.role) >= kOperandRoles) Fail("an operand of unknown role", 0);
      Index(o.expression, h_.expressions, false);
    }
    for (const Part& p : All<Part>(h_.parts)) {
      String(p.name);
      Index(p.container, h_.containers, false);
      Index(p.when, h_.conditions, true);
      Index(p.repeat, h_.expressions, true);
    }
    for (const Variant& v : All<Variant>(h_.variants)) Index(v.when, h_.conditions, true);
    for (const Relation& r : All<Relation>(h_.relations)) {
      if (r.kind > RelationKind::kInvalidates) Fail("a relation of unknown kind", 0);
      Index(r.container, h_.containers, false);
    }
    for (const Container& c : All<Container>(h_.containers)) {
      String(c.name);
      String(c.doc);
      Run(c.leaves, h_.leaves);
      Run(c.tail_leaves, h_.leaves);
      Run(c.variants, h_.variants);
      Run(c.parts, h_.parts);
      Run(c.flows, h_.flows);
      Run(c.operations, h_.operations);
      Run(c.relations, h_.relations);
      Index(c.length_leaf, h_.leaves, true);
      Index(c.draw, h_.draws, true);
      Run(c.images, h_.images);
      Run(c.rules, h_.rules);
      Index(c.pad_when, h_.conditions, true);
      if (c.pad_to > 64) Fail("padding to an impossible size", c.pad_to);
      if (c.bytes > (1u << 24) || c.max_bytes > (1u << 24) || c.max_bytes < c.bytes ||
          c.tail_size % 8 != 0 || c.tail_bit % 8 != 0 || c.kind > ContainerKind::kRegister ||
          c.role > Role::kDispatch || c.serves > static_cast<uint8_t>(Role::kDispatch)) {
        Fail("a container has an impossible size", c.bytes);
      }
    }
    for (const Stream& s : All<Stream>(h_.streams)) {
      String(s.name);
      Run(s.groups, h_.groups);
      Run(s.unknown, h_.unknown);
      Index(s.levels, h_.expressions, true);
      if (s.align == 0 || s.align > 4096) Fail("a stream has an impossible alignment", s.align);
    }
    for (const UnknownLength& u : All<UnknownLength>(h_.unknown)) {
      if (u.length_bit > 31 || u.length_width > 16 || u.bias == 0 || u.bias > 255) {
        Fail("an unknown packet has an impossible length", u.value);
      }
    }
    for (const OpcodeGroup& g : All<OpcodeGroup>(h_.groups)) Run(g.opcodes, h_.opcodes);
    for (const Opcode& o : All<Opcode>(h_.opcodes)) {
      Index(o.container, h_.containers, false);
      if (!status_.ok()) return;
      const Container& c = All<Container>(h_.containers)[o.container];
      if (c.bytes == 0) Fail("a packet of length 0", o.container);
    }
    for (const Engine& e : All<Engine>(h_.engines)) {
      String(e.name);
      String(e.aliases);
    }
    for (const Base& b : All<Base>(h_.bases)) {
      String(b.name);
      if (b.otherwise != kZeroBase) Index(b.otherwise, h_.bases, true);
    }
    for (const Space& s : All<Space>(h_.spaces)) String(s.name);
    for (const DataKind& d : All<DataKind>(h_.data)) {
      if (d.client != kNone && d.client >= kClientKinds) Fail("a client of unknown kind", d.client);
    }
    for (const Client& c : All<Client>(h_.clients)) {
      if (static_cast<uint32_t>(c.kind) >= kClientKinds) Fail("a client of unknown kind", 0);
    }
    for (const Rule& r : All<Rule>(h_.rules)) {
      for (const uint32_t s : {r.number, r.doc, r.source}) String(s);
      Index(r.when, h_.conditions, true);
      Index(r.left, h_.expressions, true);
      Index(r.right, h_.expressions, r.left == kNone);
      if (static_cast<uint32_t>(r.severity) >= kSeverities ||
          static_cast<uint32_t>(r.is) >= kComparisons) {
        Fail("a rule of unknown kind", r.number);
      }
    }
    for (const Workaround& w : All<Workaround>(h_.workarounds)) {
      for (const uint32_t s : {w.number, w.doc, w.source, w.platforms}) String(s);
      Run(w.asks, h_.asks);
    }
    for (const Ask& a : All<Ask>(h_.asks)) {
      if (static_cast<uint32_t>(a.kind) >= kAskKinds) Fail("an ask of unknown kind", a.of);
      Index(a.of, h_.containers, false);
      Index(a.with, h_.containers, true);
      Index(a.leaf, h_.leaves, true);
      Index(a.when, h_.conditions, true);
    }
    for (const RegisterEntry& r : All<RegisterEntry>(h_.registers)) {
      Index(r.container, h_.containers, false);
      String(r.dumped_as);
    }
    for (const Platform& p : All<Platform>(h_.platforms)) {
      String(p.name);
      String(p.title);
      Run(p.pci_ids, h_.ids);
      Run(p.chip_ids, h_.ids);
    }
    for (const uint32_t i : All<uint32_t>(h_.by_name)) Index(i, h_.containers, false);
  }

  void Data() {
    for (const Component& c : All<Component>(h_.components)) {
      String(c.name);
      if (c.width == 0 || c.width > 64 || c.bit > 1024 || c.type > ComponentType::kUnused) {
        Fail("a component has an impossible width", c.bit);
      }
    }
    for (const Format& f : All<Format>(h_.formats)) {
      Run(f.components, h_.components);
      if (!status_.ok()) return;
      if (f.bits == 0 || f.bits > 1024 || f.bits % 8 != 0) {
        Fail("a format has an impossible size", f.bits);
      }
      for (uint32_t i = 0; i < f.components.count; ++i) {
        const Component& c = All<Component>(h_.components)[f.components.first + i];
        if (uint32_t{c.bit} + c.width > f.bits) Fail("a component lies outside its format", c.bit);
      }
    }
    for (const Instruction& i : All<Instruction>(h_.instructions)) {
      if (i.bytes == 0 || i.bytes > 256 || (i.end_bit != kNone && i.end_bit >= i.bytes * 8)) {
        Fail("an instruction has an impossible size", i.bytes);
      }
    }
    for (const DataKind& d : All<DataKind>(h_.data)) {
      String(d.name);
      Index(d.format, h_.formats, true);
      Run(d.instructions, h_.instructions);
      Run(d.reaches, h_.reaches);
    }
    for (const Reach& r : All<Reach>(h_.reaches)) {
      if (r.width == 0 || r.width > 32 || r.bit + r.width > 8 * sizeof(r.mask) ||
          r.use > SurfaceUse::kTarget) {
        Fail("an instruction has an impossible surface number", r.bit);
      }
    }
    for (const Image& i : All<Image>(h_.images)) {
      if (i.use > SurfaceUse::kTarget) Fail("an image of unknown use", i.address);
      if (static_cast<uint32_t>(i.tiling) >= kTilings) {
        Fail("an image of unknown tiling", i.address);
      }
      Index(i.when, h_.conditions, true);
      Index(i.address, h_.leaves, false);
      Index(i.format, h_.leaves, true);
      Index(i.type, h_.leaves, true);
      for (const uint32_t x : {i.width, i.height, i.depth, i.pitch}) {
        Index(x, h_.expressions, true);
      }
    }
    for (const Element& e : All<Element>(h_.elements)) {
      if (e.kind > ElementKind::kStep) Fail("an element of unknown kind", 0);
      Index(e.data, h_.data, false);
      Index(e.when, h_.conditions, true);
      for (const uint32_t x : {e.number, e.slot, e.offset}) Index(x, h_.expressions, true);
    }
    for (const Draw& d : All<Draw>(h_.draws)) {
      Index(d.data, h_.data, false);
      Index(d.indices, h_.data, true);
      for (const uint32_t x : {d.indexed, d.when}) Index(x, h_.conditions, true);
      for (const uint32_t x :
           {d.first, d.count, d.first_instance, d.instances, d.bias, d.cuts, d.cut}) {
        Index(x, h_.expressions, true);
      }
    }
  }

  absl::Span<const uint8_t> block_;
  const Header& h_;
  absl::Status status_;
};

absl::StatusOr<Tables> Tables::Open(absl::Span<const uint8_t> block) {
  if (reinterpret_cast<uintptr_t>(block.data()) % 8 != 0) {
    return absl::InvalidArgumentError("decode tables: the block is not aligned to 8 bytes");
  }
  if (block.size() < sizeof(Header)) {
    return absl::InvalidArgumentError(
        absl::StrCat("decode tables: ", block.size(), " bytes are too few for a header"));
  }
  const Header& header = *reinterpret_cast<const Header*>(block.data());
  if (header.magic != kMagic) {
    return absl::InvalidArgumentError("decode tables: the block does not begin with \"PCKT\"");
  }
  if (header.version != kVersion) {
    return absl::InvalidArgumentError(absl::StrCat("decode tables: version ", header.version,
                                                   ", this program reads ", kVersion,
                                                   "; make them again with packgen"));
  }
  if (header.bytes > block.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("decode tables: cut off at ", block.size(), " of ", header.bytes, " bytes"));
  }
  const absl::Status status = Checker(block.first(header.bytes), header).Run();
  if (!status.ok()) return status;
  return Tables(block.data());
}

uint32_t Tables::FindPacket(uint32_t stream_index, uint64_t engines, uint32_t first_word,
                            uint32_t bytes) const {
  const Stream& s = stream(stream_index);
  for (const OpcodeGroup& group : run<OpcodeGroup>(header().groups, s.groups)) {
    const absl::Span<const Opcode> opcodes = run<Opcode>(header().opcodes, group.opcodes);
    const uint32_t value = first_word & group.mask;
    auto it = std::lower_bound(opcodes.begin(), opcodes.end(), value,
                               [](const Opcode& o, uint32_t v) { return o.value < v; });
    // Engines share opcodes: a value may occur several times.
    for (; it != opcodes.end() && it->value == value; ++it) {
      const Container& c = container(it->container);
      if ((c.engines & engines) != 0 && c.identify_bytes <= bytes) return it->container;
    }
  }
  return kNone;
}

uint32_t Tables::UnknownBytes(uint32_t stream_index, uint32_t first_word) const {
  for (const UnknownLength& u :
       run<UnknownLength>(header().unknown, stream(stream_index).unknown)) {
    if ((first_word & u.mask) != u.value) continue;
    const uint32_t length =
        u.length_width == 0 ? 0 : first_word >> u.length_bit & ((1u << u.length_width) - 1);
    return (length + u.bias) * 4;
  }
  return 0;
}

uint32_t Tables::FindContainer(absl::string_view name) const {
  const absl::Span<const uint32_t> order = all<uint32_t>(header().by_name);
  const auto it = std::lower_bound(
      order.begin(), order.end(), name,
      [this](uint32_t i, absl::string_view n) { return string(container(i).name) < n; });
  return it != order.end() && string(container(*it).name) == name ? *it : kNone;
}

uint32_t Tables::FindRegister(uint32_t offset) const {
  const absl::Span<const RegisterEntry> registers = all<RegisterEntry>(header().registers);
  const auto it = std::lower_bound(registers.begin(), registers.end(), offset,
                                   [](const RegisterEntry& r, uint32_t o) { return r.offset < o; });
  return it != registers.end() && it->offset == offset ? it->container : kNone;
}

uint32_t Tables::FindDumped(absl::string_view name, uint64_t engines) const {
  const size_t open = name.find('[');
  const size_t close = name.rfind(']');
  std::string plain(name.substr(0, open));
  if (open < close && close != absl::string_view::npos) {
    absl::StrAppend(&plain, name.substr(close + 1));
  }
  const absl::string_view forms[] = {name, plain};
  for (const absl::string_view form : forms) {
    uint32_t general = kNone;
    for (const RegisterEntry& entry : all<RegisterEntry>(header().registers)) {
      const uint64_t has = container(entry.container).engines;
      if ((has & engines) == 0) continue;
      for (const absl::string_view one :
           absl::StrSplit(string(entry.dumped_as), ' ', absl::SkipEmpty())) {
        if (one != form) continue;
        if (has != ~uint64_t{0}) return entry.container;
        if (general == kNone) general = entry.container;
      }
    }
    if (general != kNone) return general;
  }
  return kNone;
}

const Platform* Tables::FindPciId(uint32_t pci_id) const {
  for (const Platform& platform : platforms()) {
    for (const uint32_t one : ids(platform.pci_ids)) {
      if (one == pci_id) return &platform;
    }
  }
  return nullptr;
}

const Platform* Tables::FindChipId(uint32_t chip_id) const {
  for (const Platform& platform : platforms()) {
    for (const uint32_t one : ids(platform.chip_ids)) {
      if (one == chip_id) return &platform;
    }
  }
  return nullptr;
}

uint32_t Tables::FindEngine(absl::string_view name) const {
  const absl::Span<const Engine> all_engines = engines();
  for (uint32_t i = 0; i < all_engines.size(); ++i) {
    if (string(all_engines[i].name) == name) return i;
    for (const absl::string_view alias :
         absl::StrSplit(string(all_engines[i].aliases), ' ', absl::SkipEmpty())) {
      if (alias == name) return i;
    }
  }
  const size_t number = name.find_last_not_of("0123456789") + 1;
  return number == 0 || number == name.size() ? kNone : FindEngine(name.substr(0, number));
}

uint32_t Tables::FindStream(absl::string_view name) const {
  for (uint32_t i = 0; i < streams().size(); ++i) {
    if (string(streams()[i].name) == name) return i;
  }
  return kNone;
}

absl::string_view Tables::ValueName(const Leaf& leaf, uint64_t value) const {
  const NamedValue* named = FindValue(leaf, value);
  return named == nullptr ? absl::string_view() : string(named->name);
}

const NamedValue* Tables::FindValue(const Leaf& leaf, uint64_t value) const {
  if (leaf.named == kNone) return nullptr;
  const absl::Span<const NamedValue> named = values(enumeration(leaf.named).values);
  // Most enumerations are dense from zero: try that place first.
  if (value < named.size() && named[value].value == value) return &named[value];
  const auto it = std::lower_bound(named.begin(), named.end(), value,
                                   [](const NamedValue& n, uint64_t v) { return n.value < v; });
  return it != named.end() && it->value == value ? &*it : nullptr;
}

std::optional<uint64_t> Tables::NamedValueOf(const Leaf& leaf, absl::string_view name) const {
  if (leaf.named == kNone) return std::nullopt;
  for (const NamedValue& named : values(enumeration(leaf.named).values)) {
    if (string(named.name) == name) return named.value;
  }
  return std::nullopt;
}

}  // namespace packsmith::tables
