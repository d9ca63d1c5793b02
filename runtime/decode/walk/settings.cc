#include "runtime/decode/walk/settings.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <tuple>

#include "runtime/decode/fields/addresses.h"
#include "runtime/decode/fields/value.h"

namespace packsmith::decode {
namespace {

// The pointer of a leaf to a record of parts that depends neither on the packet's address nor on
// state; or null.
const tables::Pointer* PartsBehind(const tables::Tables& tables, const tables::Leaf& leaf) {
  if (leaf.extra == tables::kNone || tables.extra(leaf.extra).pointer == tables::kNone) {
    return nullptr;
  }
  const tables::Extra& extra = tables.extra(leaf.extra);
  const tables::Pointer& pointer = tables.pointer(extra.pointer);
  if (extra.high != tables::kNone &&
      tables.expression(extra.high).kind != tables::ExpressionKind::kLeaf) {
    return nullptr;
  }
  const bool plain = pointer.target_kind == tables::TargetKind::kStruct &&
                     pointer.when == tables::kNone && pointer.base == tables::kNone &&
                     pointer.scale == tables::kNone && pointer.relative == 0;
  return plain && tables.container(pointer.target).parts.count != 0 ? &pointer : nullptr;
}

}  // namespace

bool SettingKey::operator<(const SettingKey& other) const {
  return std::tie(container, what, number) < std::tie(other.container, other.what, other.number);
}

SettingRules::SettingRules(const tables::Tables& tables) : tables_(tables) {
  for (const tables::Container& container : tables.containers()) {
    const auto any = [&](const auto& is) {
      const auto of = [&](tables::Range leaves) {
        const absl::Span<const tables::Leaf> all = tables.leaves(leaves);
        return std::any_of(all.begin(), all.end(), [&](const tables::Leaf& leaf) {
          return leaf.extra != tables::kNone && is(tables.extra(leaf.extra));
        });
      };
      return of(container.leaves) || of(container.tail_leaves);
    };
    by_register_.push_back(
        any([](const tables::Extra& extra) { return extra.writes_leaf != tables::kNone; }));
    selective_.push_back(any([&](const tables::Extra& extra) {
      for (uint32_t i = extra.pointer; i != tables::kNone; i = tables.pointer(i).next) {
        if (tables.pointer(i).keeps != 0 || tables.pointer(i).slot != tables::kNone) return true;
      }
      return false;
    }));
    sets_bases_.push_back(any([](const tables::Extra& extra) {
      return extra.sets_base != tables::kNone && extra.sets_when != tables::kNone;
    }));
    uint32_t number = tables::kNone;
    for (const tables::Leaf& leaf : tables.leaves(container.leaves)) {
      if (leaf.extra == tables::kNone || tables.extra(leaf.extra).element == tables::kNone)
        continue;
      number = tables.element(tables.extra(leaf.extra).element).number;
    }
    const bool own =
        number != tables::kNone && tables.expression(number).kind == tables::ExpressionKind::kLeaf;
    elements_.push_back(own ? number : tables::kNone);
    std::vector<uint32_t>& to_parts = to_parts_.emplace_back();
    for (uint32_t i = 0; i < container.leaves.count; ++i) {
      const uint32_t leaf = container.leaves.first + i;
      if (PartsBehind(tables, tables.leaf(leaf)) != nullptr) to_parts.push_back(leaf);
    }
  }
  for (const tables::Stream& stream : tables.streams()) {
    bool work = false;
    for (const tables::OpcodeGroup& group : tables.groups(stream.groups)) {
      for (const tables::Opcode& opcode : tables.opcodes(group.opcodes)) {
        work |= tables.container(opcode.container).role != tables::Role::kOther;
      }
    }
    has_work_.push_back(work);
  }
}

void SettingRules::ForEach(uint32_t container, absl::Span<const uint8_t> packet,
                           const Memory* memory, uint32_t space,
                           absl::FunctionRef<void(const SettingKey&)> visit) const {
  const tables::Container& c = tables_.container(container);
  // Flow control is not state.
  if (c.flows.count != 0 || packet.size() <= 4) return;
  SettingKey all{container, SettingKey::What::kAll, 0};
  // Each register is state of its own; its offset comes first.
  if (by_register_[container] && packet.size() >= 8) {
    uint32_t offset = 0;
    std::memcpy(&offset, packet.data() + 4, 4);
    all = {container, SettingKey::What::kRegister, offset};
  }
  if (elements_[container] != tables::kNone) {
    const tables::Expression& expression = tables_.expression(elements_[container]);
    if (const auto number = Scope(tables_, c, packet).Number(expression.leaf)) {
      all = {container, SettingKey::What::kElement, Apply(expression, *number)};
    }
  }
  visit(all);
  if (sets_bases_[container]) Bases(container, packet, visit);
  Parts(container, packet, visit);
  if (selective_[container]) {
    const PlacedParts parts = PlaceParts(tables_, c, packet);
    const RecordView record{c, packet, parts};
    ForEachField(tables_, record, [&](const FieldAt& at) {
      if (at.cut || at.leaf->extra == tables::kNone) return;
      const Scope scope(tables_, at, packet);
      for (uint32_t i = tables_.extra(at.leaf->extra).pointer; i != tables::kNone;
           i = tables_.pointer(i).next) {
        const tables::Pointer& pointer = tables_.pointer(i);
        // A piece of data that no longer exists is set to nothing.
        const bool last = pointer.next == tables::kNone;
        if (!scope.Holds(pointer.when) && (pointer.keeps != 0 || !last)) continue;
        const std::optional<SettingKey> key = KeyOf(record, at, pointer, true);
        if (key && key->what != SettingKey::What::kAll) visit(*key);
        return;
      }
    });
  }
  if (memory == nullptr) return;
  for (const uint32_t i : to_parts_[container]) {
    const tables::Leaf& leaf = tables_.leaf(i);
    Parts(PartsBehind(tables_, leaf)->target, RecordAt(c, packet, leaf, *memory, space), visit);
  }
}

std::optional<SettingKey> SettingRules::KeyOf(const RecordView& record, const FieldAt& at,
                                              const tables::Pointer& pointer, bool packet) const {
  const uint32_t container = tables_.IndexOf(record.container);
  const tables::Part* const all = tables_.parts(record.container.parts).data();
  for (const PlacedPart& placed : record.parts) {
    const uint64_t bits = placed.count * tables_.container(placed.part->container).bytes * 8;
    if (at.bit < placed.bit || at.bit - placed.bit >= bits) continue;
    return SettingKey{container, SettingKey::What::kPart, static_cast<uint64_t>(placed.part - all)};
  }
  if (!packet) return std::nullopt;
  if (const tables::Extra& extra = tables_.extra(at.leaf->extra);
      extra.sets_base != tables::kNone && extra.sets_when != tables::kNone) {
    return SettingKey{container, SettingKey::What::kBase, extra.sets_base};
  }
  if (pointer.slot != tables::kNone) {
    const tables::Expression& slot = tables_.expression(pointer.slot);
    std::optional<uint64_t> number;
    if (slot.kind == tables::ExpressionKind::kConstant) number = slot.add;
    if (slot.kind == tables::ExpressionKind::kLeaf) {
      number = Scope(tables_, at, record.bytes).Number(slot.leaf);
      if (number) number = Apply(slot, *number);
    }
    if (number) return SettingKey{container, SettingKey::What::kSlot, *number};
  }
  if (pointer.keeps != 0) {
    const auto leaf = static_cast<uint64_t>(at.leaf - &tables_.leaf(0));
    return SettingKey{container, SettingKey::What::kPointer, leaf};
  }
  return SettingKey{container, SettingKey::What::kAll, 0};
}

void SettingRules::Bases(uint32_t container, absl::Span<const uint8_t> packet,
                         absl::FunctionRef<void(const SettingKey&)> visit) const {
  ForEachField(tables_, tables_.container(container), packet, [&](const FieldAt& at) {
    if (at.cut || at.leaf->extra == tables::kNone) return;
    const tables::Extra& extra = tables_.extra(at.leaf->extra);
    if (extra.sets_base == tables::kNone || extra.sets_when == tables::kNone) return;
    if (!Scope(tables_, at, packet).Holds(extra.sets_when)) return;
    visit({container, SettingKey::What::kBase, extra.sets_base});
  });
}

void SettingRules::Parts(uint32_t container, absl::Span<const uint8_t> record,
                         absl::FunctionRef<void(const SettingKey&)> visit) const {
  const absl::Span<const tables::Part> all = tables_.parts(tables_.container(container).parts);
  if (all.empty()) return;
  for (const PlacedPart& placed : PlaceParts(tables_, tables_.container(container), record)) {
    visit({container, SettingKey::What::kPart, static_cast<uint64_t>(placed.part - all.data())});
  }
}

absl::Span<const uint8_t> SettingRules::RecordAt(const tables::Container& container,
                                                 absl::Span<const uint8_t> packet,
                                                 const tables::Leaf& leaf, const Memory& memory,
                                                 uint32_t space) const {
  if (leaf.bit + leaf.width > packet.size() * 8) return {};
  uint64_t address =
      NumberOfBits(tables_, leaf, leaf.width, ReadBits(packet, leaf.bit, leaf.width));
  if (const uint32_t high = tables_.extra(leaf.extra).high; high != tables::kNone) {
    const tables::Expression& expression = tables_.expression(high);
    const Scope scope(tables_, container, packet);
    address += Apply(expression, scope.Number(expression.leaf).value_or(0));
  }
  address = MaskAddress(address, tables_.address_mask());
  const tables::Container& record = tables_.container(PartsBehind(tables_, leaf)->target);
  const absl::Span<const uint8_t> head = memory.Read(space, address, record.bytes);
  if (head.size() < record.bytes) return {};
  return memory.Read(space, address, LengthOf(tables_, record, head));
}

std::vector<std::shared_ptr<const Setting>> Settings::All() const {
  std::vector<std::shared_ptr<const Setting>> all;
  all.reserve(all_.size());
  for (const auto& [key, setting] : all_) all.push_back(setting);
  const auto before = [](const auto& a, const auto& b) { return a->order < b->order; };
  std::sort(all.begin(), all.end(), before);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace packsmith::decode
