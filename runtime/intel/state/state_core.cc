#include "runtime/intel/state/state_core.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "packsmith/names.h"
#include "runtime/base/debug.h"
#include "runtime/base/type_name.h"

namespace packsmith::intel {
uint64_t PipelineCore::NewNumber() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

bool PipelineCore::Add(const StateTables& tables, unsigned packet, const UnpackedPackets& from,
                       MaskedDwords dynamic) {
  const StatePacket& place = tables.layout.packets[packet];
  const auto refuse = [&](absl::Status why) {
    if (status.ok()) status = std::move(why);
    return false;
  };
  const absl::string_view name = TypeNameIn(place.function);
  for (const PipelinePacket& other : packets) {
    if (other.packet == packet) {
      return refuse(absl::AlreadyExistsError(absl::StrCat(name, ": the pipeline already has one")));
    }
  }
  if (from.dwords > place.dwords) {
    return refuse(absl::OutOfRangeError(
        absl::StrCat(name, " of ", from.dwords, " dwords; it must be at most ", place.dwords)));
  }
  const size_t first = dwords.size(), first_address = addresses.size();
  const size_t size = from.dwords + tables.layout.places[place.group].behind;
  dwords.resize(first + size);
  addresses.resize(first_address + place.addresses);
  uint32_t* const to = dwords.data() + first;
  StateAddress* next = addresses.data() + first_address;
  if (const error e = tables.pack[packet](from, checks::on, to, next)) {
    dwords.resize(first);
    addresses.resize(first_address);
    return refuse(absl::InvalidArgumentError(absl::StrCat(name, ": ", to_text(e))));
  }
  const auto count = static_cast<size_t>(next - (addresses.data() + first_address));
  addresses.resize(first_address + count);
  for (const MaskedDword& bits : dynamic) to[bits.dword] &= ~bits.mask;
  packets.push_back({packet, static_cast<uint32_t>(first), static_cast<uint32_t>(size),
                     static_cast<uint32_t>(first_address), static_cast<uint32_t>(count), dynamic});
  return true;
}

StateCore::StateCore(const StateTables& tables)
    : tables_(tables),
      layout_(tables.layout),
      dwords_of_side_(layout_.places[layout_.groups].dword) {
  dwords_.resize(size_t{2} * dwords_of_side_);
  addresses_.resize(size_t{2} * kAddressesOfSide);
  values_.resize(dwords_of_side_);
  dynamic_.resize(layout_.packet_count);
  for (unsigned g = 0; g < layout_.groups; ++g) {
    const StateGroupPlace &begin = layout_.places[g], &end = layout_.places[g + 1];
    unset_[g] = not_inherited_[g] = begin.parts;
    if (layout_.with[g] == StateGroup(g)) alone_ |= StateGroup(g);
    if (!IsFixed(g)) continue;
    sizes_[0][g] = sizes_[1][g] = begin.dwords;
    counts_[0][g] = counts_[1][g] = static_cast<uint16_t>(end.address - begin.address);
  }
}

absl::Status StateCore::TakeStatus() { return std::exchange(status_, absl::OkStatus()); }

bool StateCore::Refuse(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
  return false;
}

bool StateCore::RefusePacket(const error& e, unsigned packet) {
  return Refuse(absl::InvalidArgumentError(
      absl::StrFormat("%s: %s (item %d): %s", TypeNameIn(layout_.packets[packet].function),
                      e.field == nullptr ? "a value" : e.field, e.item, packsmith::text(e.why))));
}

bool StateCore::RefuseSize(unsigned packet, size_t dwords) {
  const StatePacket& place = layout_.packets[packet];
  return Refuse(absl::OutOfRangeError(absl::StrFormat(
      "%s of %d dwords; it must be at most %d", TypeNameIn(place.function), dwords, place.dwords)));
}

bool StateCore::RefuseScratch(const char* generation) {
  return Refuse(absl::InvalidArgumentError(
      absl::StrCat("the draw state of ", generation,
                   " needs 8 bytes of scratch: a write follows some of its packets")));
}

void StateCore::InheritPacket(unsigned packet) {
  const StatePacket& place = layout_.packets[packet];
  not_inherited_[place.group] &= static_cast<uint8_t>(~place.part);
  partly_inherited_ |= StateGroup(place.group);
  if (not_inherited_[place.group] == 0) inherited_ |= StateGroup(place.group);
  FindAbsent();
}

void StateCore::InheritAll() {
  for (unsigned p = 0; p < layout_.packet_count; ++p) InheritPacket(p);
}

void StateCore::DisinheritParts(StateGroups groups) {
  for (StateGroups left = groups & partly_inherited_; left != 0; left &= left - 1) {
    const unsigned g = static_cast<unsigned>(__builtin_ctzll(left));
    not_inherited_[g] = layout_.places[g].parts;
  }
  inherited_ &= ~groups;
  partly_inherited_ &= ~groups;
  FindAbsent();
}

void StateCore::Lose(StateGroups groups) {
  known_ &= ~groups;
  sure_ &= ~groups;
  // What is wanted of a clean group is on the side of the GPU's values.
  const StateGroups now = groups & set_ & ~dirty_;
  for (StateGroups left = now & ~layout_.pairs; left != 0; left &= left - 1) {
    Swap(static_cast<unsigned>(__builtin_ctzll(left)));
  }
  dirty_ |= now;
  Settle();
}

void StateCore::Settle(StateGroups emitted) {
  known_ |= emitted;
  sure_ = known_ & ~once_groups_;
  settled_ = set_ & sure_ & ~special_;
  quick_ = settled_ & alone_ & layout_.fixed & ~derived_from_ & ~addressed_[0] & ~addressed_[1];
  if (DebugOn(DebugSwitch::kReemit)) {
    // Without short cuts each flush comes here; what it has emitted is dirty again.
    settled_ = quick_ = 0;
    if (emitted != 0) Lose(emitted);
  }
  slow_ = ~(quick_ & layout_.pairs);
  FindAbsent();
}

void StateCore::FindAbsent() {
  absent_ = ~(set_ | inherited_);
  held_ = (layout_.draw_needs & absent_) != 0 ? ~StateGroups{0} : slow_;
}

bool StateCore::RefuseIncomplete(StateGroups draw_needs) {
  const StateGroups needed = ToEmit() | (draw_needs & ~inherited_);
  std::vector<std::string> missing;
  for (unsigned p = 0; p < layout_.packet_count; ++p) {
    const StatePacket& packet = layout_.packets[p];
    if ((needed & StateGroup(packet.group)) != 0 && !IsSet(packet)) {
      missing.emplace_back(TypeNameIn(packet.function));
    }
  }
  return Refuse(absl::FailedPreconditionError(
      absl::StrCat("packets that a draw or the next emission needs were never set: ",
                   absl::StrJoin(missing, ", "),
                   "; set them, or Inherit() those that the context already has")));
}

std::string StateCore::NamesOf(StateGroups groups) const {
  std::vector<absl::string_view> names;
  for (unsigned p = 0; p < layout_.packet_count; ++p) {
    const StatePacket& packet = layout_.packets[p];
    if ((groups & StateGroup(packet.group)) == 0 || packet.part == 0) continue;
    absl::string_view name = TypeNameIn(packet.function);
    name.remove_prefix(name.rfind(':') + 1);
    names.push_back(name);
  }
  return absl::StrJoin(names, ", ");
}

// Of packets that were stored just now, see CopyDwords().
static bool SameDwords(const uint32_t* a, const uint32_t* b, size_t dwords) {
  uint32_t differences = 0;
  for (size_t i = 0; i < dwords; ++i) differences |= a[i] ^ b[i];
  return differences == 0;
}

// -- Setting --------------------------------------------------------------------------------------

unsigned StateCore::Open(unsigned group, bool all) {
  const unsigned gpu = GpuSide(group), side = gpu ^ 1;
  if ((dirty_ & StateGroup(group)) != 0) return side;
  dirty_ |= StateGroup(group);
  if (all) return side;
  const StateGroupPlace& place = layout_.places[group];
  sizes_[side][group] = sizes_[gpu][group];
  counts_[side][group] = counts_[gpu][group];
  CopyDwords(dwords_on(side) + place.dword, dwords_on(gpu) + place.dword, sizes_[gpu][group]);
  std::copy_n(addresses_on(gpu) + place.address, counts_[gpu][group],
              addresses_on(side) + place.address);
  addressed_[side] =
      (addressed_[side] & ~StateGroup(group)) | (addressed_[gpu] & StateGroup(group));
  return side;
}

void StateCore::Compare(unsigned group) {
  if ((sure_ & StateGroup(group)) == 0) return;
  const StateGroupPlace& place = layout_.places[group];
  const unsigned count = counts_[0][group];
  const bool same =
      sizes_[0][group] == sizes_[1][group] && counts_[1][group] == count &&
      SameDwords(dwords_on(0) + place.dword, dwords_on(1) + place.dword, sizes_[0][group]) &&
      std::equal(addresses_on(0) + place.address, addresses_on(0) + place.address + count,
                 addresses_on(1) + place.address);
  if (same) dirty_ &= ~StateGroup(group);
}

void StateCore::MarkSet(const StatePacket& place) {
  unset_[place.group] &= static_cast<uint8_t>(~place.part);
  if (unset_[place.group] == 0) set_ |= StateGroup(place.group);
  FindAbsent();
}

void StateCore::MarkAddressed(unsigned group, unsigned side) {
  const StateAddress* const first = addresses_on(side) + layout_.places[group].address;
  bool any = false;
  for (unsigned i = 0; i < counts_[side][group]; ++i) any |= BufferOf(first[i]) != 0;
  const StateGroups one = StateGroup(group);
  addressed_[side] = (addressed_[side] & ~one) | (any ? one : 0);
  unlisted_ |= one;
}

bool StateCore::SetPackets(unsigned packet, const UnpackedPackets& from, checks which) {
  const StatePacket& place = layout_.packets[packet];
  const unsigned group = place.group;
  if (from.dwords > place.dwords) return RefuseSize(packet, from.dwords);
  // The packet is all of its group, but for companions, which are the same on both sides.
  const bool all = layout_.places[group].parts == place.part;
  const StateGroups dirty = dirty_;
  const unsigned side = Open(group, all);
  StateAddress* const addresses = addresses_on(side) + place.address;
  StateAddress* next = addresses;
  const error e = tables_.pack[packet](from, which, dwords_on(side) + place.dword, next);
  if (bits::rarely(static_cast<bool>(e))) {
    dirty_ = dirty;
    return RefusePacket(e, packet);
  }
  if (!IsFixed(group)) {
    const StateGroupPlace& in = layout_.places[group];
    sizes_[side][group] = static_cast<uint16_t>(in.ahead + from.dwords + in.behind);
    counts_[side][group] = static_cast<uint16_t>(next - addresses);
  }
  if (place.addresses != 0) MarkAddressed(group, side);
  if ((special_ & StateGroup(group)) != 0) TakeFromPipeline(packet);
  MarkSet(place);
  Compare(group);
  return true;
}

void StateCore::SetDwords(unsigned packet, const uint32_t* dwords) {
  const StatePacket& place = layout_.packets[packet];
  const unsigned side = Open(place.group);
  CopyDwords(dwords_on(side) + place.dword, dwords, place.dwords);
  if ((special_ & StateGroup(place.group)) != 0) TakeFromPipeline(packet);
  MarkSet(place);
  Compare(place.group);
}

void StateCore::SetCompanion(unsigned packet, const uint32_t* dwords, const address& scratch) {
  const StatePacket& place = layout_.packets[packet];
  for (unsigned side = 0; side < 2; ++side) {
    CopyDwords(dwords_on(side) + place.dword, dwords, place.dwords);
    if (place.addresses == 0) continue;
    addresses_on(side)[place.address] = StateAddressOf(scratch, scratch.use);
    MarkAddressed(place.group, side);
  }
}

void StateCore::TakeFromPipeline(unsigned packet) {
  const StatePacket& place = layout_.packets[packet];
  const StateGroups one = StateGroup(place.group);
  dynamic_[packet] = {};
  if ((bound_groups_ & one) != 0) bound_ = 0;
  if ((once_groups_ & one) != 0) DropOnce(place.dword, place.dwords);
  // Other packets of the group may still be the pipeline's.
  if (layout_.places[place.group].parts == place.part && (once_groups_ & one) == 0) {
    special_ &= ~one;
  }
  Settle();
}

void StateCore::Merge(unsigned packet, uint32_t* to) const {
  const uint32_t* const values = values_.data() + layout_.packets[packet].dword;
  for (const MaskedDword& bits : dynamic_[packet]) {
    to[bits.dword] = (to[bits.dword] & ~bits.mask) | (values[bits.dword] & bits.mask);
  }
}

void StateCore::SetValues(unsigned packet, MaskedDwords masks, const uint32_t* packed) {
  const StatePacket& place = layout_.packets[packet];
  uint32_t* const values = values_.data() + place.dword;
  for (const MaskedDword& bits : masks) {
    values[bits.dword] = (values[bits.dword] & ~bits.mask) | packed[bits.dword];
  }
  if (dynamic_[packet].empty()) return;
  Merge(packet, dwords_on(Open(place.group)) + place.dword);
  Compare(place.group);
}

bool StateCore::HasAlready(const PipelineCore& pipeline, const PipelinePacket& from) const {
  const StatePacket& place = layout_.packets[from.packet];
  const StateGroups one = StateGroup(place.group);
  if ((dirty_ & one) != 0 || (sure_ & one) == 0 || !from.dynamic.empty()) return false;
  const unsigned side = GpuSide(place.group);
  if (!IsFixed(place.group) &&
      (sizes_[side][place.group] != layout_.places[place.group].ahead + from.dwords ||
       counts_[side][place.group] != from.addresses)) {
    return false;
  }
  return std::memcmp(dwords_on(side) + place.dword, pipeline.dwords.data() + from.dword,
                     size_t{from.dwords} * 4) == 0 &&
         std::equal(pipeline.addresses.begin() + from.address,
                    pipeline.addresses.begin() + from.address + from.addresses,
                    addresses_on(side) + place.address);
}

void StateCore::BindCore(const PipelineCore& pipeline) {
  if (pipeline.number == bound_) return;
  StateGroups touched = 0;
  for (const PipelinePacket& from : pipeline.packets) {
    const StatePacket& place = layout_.packets[from.packet];
    const unsigned group = place.group;
    touched |= StateGroup(group);
    dynamic_[from.packet] = from.dynamic;
    if (HasAlready(pipeline, from)) continue;
    const unsigned side = Open(group, layout_.places[group].parts == place.part);
    uint32_t* const to = dwords_on(side) + place.dword;
    CopyDwords(to, pipeline.dwords.data() + from.dword, from.dwords);
    if (!from.dynamic.empty()) Merge(from.packet, to);
    if (!IsFixed(group)) {
      sizes_[side][group] = static_cast<uint16_t>(layout_.places[group].ahead + from.dwords);
      counts_[side][group] = static_cast<uint16_t>(from.addresses);
    }
    if (from.addresses != 0) {
      std::copy_n(pipeline.addresses.begin() + from.address, from.addresses,
                  addresses_on(side) + place.address);
    }
    if (place.addresses != 0) MarkAddressed(group, side);
    if ((once_groups_ & StateGroup(group)) != 0) DropOnce(place.dword, place.dwords);
    MarkSet(place);
  }
  for (StateGroups left = touched & dirty_; left != 0; left &= left - 1) {
    Compare(static_cast<unsigned>(__builtin_ctzll(left)));
  }
  bound_ = pipeline.number;
  bound_groups_ = touched;
  special_ |= touched;
  Settle();
}

bool StateCore::ReplaceOnce(unsigned packet, unsigned index, const UnpackedPackets& from,
                            checks which) {
  const StatePacket& place = layout_.packets[packet];
  const StateGroupPlace& group = layout_.places[place.group];
  const absl::string_view name = TypeNameIn(place.function);
  // At the packet's place in its group.
  std::array<uint32_t, kMostFixedDwords> packed;
  const uint32_t begin = place.dword - group.dword;
  uint32_t* const dwords = packed.data() + begin;
  std::array<StateAddress, kMostFixedDwords> addresses;
  StateAddress* next = addresses.data();
  if (const error e = tables_.pack[packet](from, which, dwords, next)) {
    return RefusePacket(e, packet);
  }
  const auto count = static_cast<size_t>(next - addresses.data());
  const unsigned side = WantedSide(place.group);
  const uint32_t first = static_cast<uint32_t>(place.dword + index * from.dwords);
  const uint32_t end = IsFixed(place.group)
                           ? place.dword + place.dwords
                           : group.dword + sizes_[side][place.group] - group.behind;
  if (!IsSet(place) || first + from.dwords > end) {
    return Refuse(absl::FailedPreconditionError(
        absl::StrCat(name, " ", index, " cannot be overridden once: it has not been set")));
  }
  const uint32_t* own = dwords_on(side) + first;
  // Of the first packet of the kind.
  const StateAddressPlace* const places = tables_.addresses + place.address;
  bool same =
      std::equal(addresses.data(), next, addresses_on(side) + place.address + index * count);
  for (size_t i = 0; i < count; ++i) {
    same &= places[i].In(own - begin) == places[i].In(packed.data());
  }
  if (!same) {
    return Refuse(absl::InvalidArgumentError(
        absl::StrCat(name, " ", index, " cannot be overridden once with other addresses")));
  }
  unsigned others = 0, differences = 0;
  for (unsigned i = 0; i < once_count_; ++i) others += once_[i].dword - first >= from.dwords;
  for (size_t i = 0; i < from.dwords; ++i) differences += dwords[i] != own[i];
  if (differences > once_.size() - others) {
    return Refuse(absl::ResourceExhaustedError(
        absl::StrCat(name, " ", index, " is overridden once in ", differences,
                     " more dwords; all packets together can have ", once_.size())));
  }
  DropOnce(first, static_cast<uint32_t>(from.dwords));
  if (differences != 0) own = dwords_on(Open(place.group)) + first;
  for (uint32_t i = 0; i < from.dwords; ++i) {
    if (dwords[i] != own[i]) once_[once_count_++] = {first + i, dwords[i], place.group};
  }
  UpdateOnceGroups();
  if ((dirty_ & StateGroup(place.group)) != 0) Compare(place.group);
  return true;
}

void StateCore::DropOnce(uint32_t dword, uint32_t dwords) {
  for (unsigned i = 0; i < once_count_;) {
    if (once_[i].dword - dword < dwords) {
      once_[i] = once_[--once_count_];
    } else {
      ++i;
    }
  }
  UpdateOnceGroups();
}

void StateCore::DropOnceOf(StateGroups groups) {
  for (unsigned i = 0; i < once_count_;) {
    if ((groups & StateGroup(once_[i].group)) != 0) {
      once_[i] = once_[--once_count_];
    } else {
      ++i;
    }
  }
  UpdateOnceGroups();
}

void StateCore::WriteOnce(uint32_t* to, StateGroups groups) const {
  for (StateGroups left = groups; left != 0; left &= left - 1) {
    const unsigned group = static_cast<unsigned>(__builtin_ctzll(left));
    for (unsigned i = 0; i < once_count_; ++i) {
      if (once_[i].group == group)
        to[once_[i].dword - layout_.places[group].dword] = once_[i].value;
    }
    to += sizes_[WantedSide(group)][group];
  }
}

void StateCore::UpdateOnceGroups() {
  once_groups_ = 0;
  for (unsigned i = 0; i < once_count_; ++i) once_groups_ |= StateGroup(once_[i].group);
  special_ |= once_groups_;
  Settle();
}

}  // namespace packsmith::intel
