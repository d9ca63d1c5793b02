#include "runtime/sim/used_memory.h"

#include <algorithm>
#include <utility>

#include "runtime/decode/fields/addresses.h"
#include "runtime/decode/fields/value.h"

namespace packsmith::sim {
namespace {

using decode::FieldAt;
using decode::Scope;
using tables::ClientKind;
using tables::kNone;
using tables::Meaning;
using tables::TargetKind;

// Of programs, whose length no pointer says: what is certainly read.
constexpr uint64_t kFirstInstructions = 64;
// Of one packet; more are not looked at.
constexpr size_t kMostUses = 256;

bool Matters(const tables::Tables& tables, const tables::Leaf& leaf) {
  if (leaf.extra == kNone) return false;
  const tables::Extra& extra = tables.extra(leaf.extra);
  return extra.pointer != kNone || extra.meaning == Meaning::kAddressModify;
}

}  // namespace

UsedMemory::UsedMemory(const tables::Tables& tables, uint64_t engines, uint32_t own_space)
    : tables_(tables),
      own_space_(own_space),
      chosen_(tables, Matters),
      kinds_(tables.containers().size()),
      bases_(tables.bases().size()) {
  for (const tables::Container& container : tables.containers()) {
    if (container.kind != tables::ContainerKind::kPacket || (container.engines & engines) == 0) {
      continue;
    }
    const uint32_t index = tables.IndexOf(container);
    Kind& kind = kinds_[index];
    for (const tables::Range leaves : {container.leaves, container.tail_leaves}) {
      for (uint32_t i = leaves.first; i < leaves.first + leaves.count; ++i) {
        const tables::Leaf& leaf = tables.leaf(i);
        if (leaf.extra == kNone) continue;
        const tables::Extra& extra = tables.extra(leaf.extra);
        if (extra.sets_base != kNone) kind.sets_bases = true;
        if (extra.element != kNone &&
            (describe_elements_.empty() || describe_elements_.back() != index)) {
          describe_elements_.push_back(index);
        }
        if (extra.meaning == Meaning::kStreamOutput) stream_output_.push_back({index, i});
        for (uint32_t p = extra.pointer; p != kNone; p = tables.pointer(p).next) {
          if (!ClientOf(tables.pointer(p))) continue;
          kind.matters = true;
          if (tables.pointer(p).slot != kNone) kind.has_slots = true;
        }
      }
    }
    // Commands read what they point to when they are executed.
    kind.matters = kind.matters && container.operations.count == 0 && container.flows.count == 0;
    kind.has_slots = kind.has_slots && kind.matters;
  }
}

std::optional<ClientKind> UsedMemory::ClientOf(const tables::Pointer& pointer) const {
  switch (pointer.target_kind) {
    case TargetKind::kStruct:
      return ClientKind::kState;
    case TargetKind::kData: {
      const uint32_t client = tables_.data(pointer.target).client;
      if (client == kNone) return std::nullopt;
      return static_cast<ClientKind>(client);
    }
    case TargetKind::kStream:
      break;
  }
  return std::nullopt;
}

std::optional<uint64_t> UsedMemory::Evaluate(uint32_t expression, const Scope& scope,
                                             StateOf state) const {
  if (expression == kNone) return std::nullopt;
  const tables::Expression& e = tables_.expression(expression);
  std::optional<uint64_t> value;
  switch (e.kind) {
    case tables::ExpressionKind::kConstant:
      return e.add;
    case tables::ExpressionKind::kLeaf:
      value = scope.Number(e.leaf);
      break;
    case tables::ExpressionKind::kState: {
      const tables::Container& container = tables_.container(e.container);
      const absl::Span<const uint8_t> bytes = state(container).bytes;
      if (!bytes.empty()) value = Scope(tables_, container, bytes).Number(e.leaf);
      break;
    }
  }
  if (!value) return std::nullopt;
  return decode::Apply(e, *value);
}

std::optional<uint64_t> UsedMemory::BaseOf(uint32_t base) const {
  // Each base is read at most once: descriptions may be circular.
  for (size_t i = 0; i < bases_.size() && base != kNone; ++i) {
    if (bases_[base]) return bases_[base];
    base = tables_.bases()[base].otherwise;
    if (base == tables::kZeroBase) return 0;
  }
  return std::nullopt;
}

void UsedMemory::SetBases(const tables::Container& container, absl::Span<const uint8_t> bytes) {
  const Scope scope(tables_, container, bytes);
  for (uint32_t i = container.leaves.first; i < container.leaves.first + container.leaves.count;
       ++i) {
    const tables::Leaf& leaf = tables_.leaf(i);
    if (leaf.extra == kNone) continue;
    const tables::Extra& extra = tables_.extra(leaf.extra);
    if (extra.sets_base == kNone || !scope.Holds(extra.sets_when)) continue;
    const std::optional<uint64_t> value = scope.Number(i);
    if (!value) continue;
    bases_[extra.sets_base] = *value;
    ++epoch_;
  }
}

void UsedMemory::Find(const tables::Container& container, absl::Span<const uint8_t> bytes,
                      StateOf state, std::vector<Use>& uses) {
  // The item whose buffer keeps its address: the field that says so comes before the address.
  std::optional<uint64_t> keeping;
  const decode::PlacedParts parts = decode::PlaceParts(tables_, container, bytes);
  decode::ForEachField(tables_, chosen_, {container, bytes, parts}, [&](const FieldAt& at) {
    if (at.cut || at.width > 64) return;
    const tables::Extra& extra = tables_.extra(at.leaf->extra);
    const uint64_t raw = decode::ReadBits(bytes, at.bit, at.width);
    if (extra.meaning == Meaning::kAddressModify && raw == 0) keeping = at.base;
    if (extra.pointer == kNone) return;
    const Scope scope(tables_, at, bytes, bases_);
    uint32_t index = extra.pointer;
    while (index != kNone && !scope.Holds(tables_.pointer(index).when)) {
      index = tables_.pointer(index).next;
    }
    const tables::Pointer& any = tables_.pointer(index == kNone ? extra.pointer : index);
    const uint64_t slot = Evaluate(any.slot, scope, state).value_or(0);
    if (any.slot != kNone) {
      if (keeping == at.base) return;
      std::erase_if(uses, [&](const Use& use) { return use.slot == slot; });
    }
    if (index == kNone || any.relative != 0 || any.scale != kNone) return;
    const std::optional<ClientKind> client = ClientOf(any);
    if (!client || uses.size() >= kMostUses) return;
    uint64_t address = decode::NumberOfBits(tables_, *at.leaf, at.width, raw) +
                       Evaluate(extra.high, scope, state).value_or(0);
    if (any.base != kNone) {
      const std::optional<uint64_t> base = BaseOf(any.base);
      if (!base) return;
      address += *base;
    }
    MemoryRange range{own_space_, decode::MaskAddress(address, tables_.address_mask()), 0};
    const bool named = any.space_when == kNone ? any.space != 0 : scope.Holds(any.space_when);
    if (named) range.space = any.space;
    absl::string_view what;
    uint32_t data = kNone;
    if (any.target_kind == TargetKind::kStruct) {
      const tables::Container& target = tables_.container(any.target);
      what = tables_.string(target.name);
      const uint64_t size = Evaluate(any.size, scope, state).value_or(target.bytes);
      const uint64_t count = any.count == kNone ? 1 : Evaluate(any.count, scope, state).value_or(0);
      range.size = size * std::min<uint64_t>(count, any.limit == 0 ? 1 : any.limit);
    } else {
      const tables::DataKind& target = tables_.data(any.target);
      data = any.target;
      what = tables_.string(target.name);
      range.size = Evaluate(any.size, scope, state).value_or(0);
      if (any.end != kNone) {
        const uint64_t last = decode::MaskAddress(Evaluate(any.end, scope, state).value_or(0),
                                                  tables_.address_mask());
        range.size = last < range.address ? 0 : last - range.address + 1;
      }
      if (target.is_code != 0) range.size = kFirstInstructions;
    }
    if (range.size == 0) return;
    const bool writes = any.access == tables::Access::kWrite;
    uses.push_back({{*client, writes, range, what}, slot, data});
  });
}

void UsedMemory::Update(const tables::Container& container, StateOf state) {
  const StateBytes now = state(container);
  Kind& kind = kinds_[tables_.IndexOf(container)];
  if (now.bytes.empty() || (kind.number == now.number && kind.epoch == epoch_)) return;
  if (!kind.has_slots) kind.uses.clear();
  kind.number = now.number;
  kind.epoch = epoch_;
  Find(container, now.bytes, state, kind.uses);
}

void UsedMemory::KeepOne(const tables::Container& container, absl::Span<const uint8_t> bytes,
                         StateOf state) {
  const uint32_t index = tables_.IndexOf(container);
  Kind& kind = kinds_[index];
  if (kind.matters && !kind.active) {
    kind.active = true;
    active_.push_back(index);
  }
  if (kind.has_slots) Update(container, state);
  if (kind.sets_bases) SetBases(container, bytes);
}

uint64_t UsedMemory::FetchedSlots(uint32_t data, StateOf state) const {
  uint64_t slots = 0;
  for (const uint32_t index : describe_elements_) {
    const tables::Container& container = tables_.container(index);
    const absl::Span<const uint8_t> bytes = state(container).bytes;
    const auto add = [&](const tables::Range& leaves, const Scope& scope) {
      for (const tables::Leaf& leaf : tables_.leaves(leaves)) {
        const uint32_t number = leaf.extra == kNone ? kNone : tables_.extra(leaf.extra).element;
        if (number == kNone) continue;
        const tables::Element& element = tables_.element(number);
        if (element.kind != tables::ElementKind::kFormat || element.data != data ||
            !scope.Holds(element.when)) {
          continue;
        }
        const uint64_t slot = Evaluate(element.slot, scope, state).value_or(0);
        if (slot < 64) slots |= uint64_t{1} << slot;
      }
    };
    add(container.leaves, Scope(tables_, container, bytes));
    if (container.tail_size == 0) continue;
    for (uint64_t bit = container.tail_bit; bit + container.tail_size <= bytes.size() * 8;
         bit += container.tail_size) {
      add(container.tail_leaves, Scope(tables_, container, bytes, 0, bit));
    }
  }
  return slots;
}

bool UsedMemory::StreamsOut(StateOf state) const {
  for (const Switch& at : stream_output_) {
    const tables::Container& container = tables_.container(at.container);
    const absl::Span<const uint8_t> bytes = state(container).bytes;
    if (!bytes.empty() && Scope(tables_, container, bytes).Raw(at.leaf).value_or(0) != 0) {
      return true;
    }
  }
  return false;
}

void UsedMemory::ForEach(const tables::Container& work, absl::Span<const uint8_t> bytes,
                         StateOf state, absl::FunctionRef<void(const MemoryUse&)> visit) {
  const bool streams_out = work.draw != kNone && StreamsOut(state);
  uint64_t slots = 0;
  uint32_t vertices = kNone, indices = kNone;
  if (work.draw != kNone) {
    const tables::Draw& draw = tables_.draw(work.draw);
    vertices = draw.data;
    slots = FetchedSlots(vertices, state);
    if (Scope(tables_, work, bytes).Holds(draw.indexed)) indices = draw.indices;
  }
  const auto fetched = [&](const Use& use) {
    return use.data == vertices ? use.slot < 64 && (slots >> use.slot & 1) != 0
                                : use.data == indices;
  };
  for (const uint32_t index : active_) {
    const tables::Container& container = tables_.container(index);
    const auto serves = static_cast<tables::Role>(container.serves);
    if (serves != tables::Role::kOther && serves != work.role) continue;
    Update(container, state);
    for (const Use& use : kinds_[index].uses) {
      const ClientKind client = use.is.client;
      if (client == ClientKind::kStreamOutput && !streams_out) continue;
      if (client == ClientKind::kVertexFetch && !fetched(use)) continue;
      visit(use.is);
    }
  }
}

}  // namespace packsmith::sim
