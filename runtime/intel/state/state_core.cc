#include "runtime/intel/state/state_core.h"

#include <algorithm>
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

StateCore::StateCore(const StateLayout& layout) : layout_(layout) {
  const StateGroupPlace& end = layout.places[layout.groups];
  wanted_.resize(end.dword);
  emitted_.resize(end.dword);
  values_.resize(end.dword);
  wanted_addresses_.resize(end.address);
  emitted_addresses_.resize(end.address);
  dynamic_.resize(layout.packet_count);
  for (unsigned g = 0; g < layout.groups; ++g) {
    unset_[g] = not_inherited_[g] = layout.places[g].parts;
    if (layout.with[g] == StateGroup(g)) alone_ |= StateGroup(g);
    if ((layout.fixed & StateGroup(g)) != 0) {
      wanted_sizes_[g] = emitted_sizes_[g] =
          static_cast<uint16_t>(layout.places[g + 1].dword - layout.places[g].dword);
    }
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

void StateCore::InheritAll() {
  for (unsigned p = 0; p < layout_.packet_count; ++p) InheritPacket(layout_.packets[p]);
}

void StateCore::DisinheritParts(StateGroups groups) {
  for (StateGroups left = groups & partly_inherited_; left != 0; left &= left - 1) {
    const unsigned g = static_cast<unsigned>(__builtin_ctzll(left));
    not_inherited_[g] = layout_.places[g].parts;
  }
  inherited_ &= ~groups;
  partly_inherited_ &= ~groups;
}

bool StateCore::RefuseIncomplete(StateGroups draw_needs) {
  const StateGroups needed = ToEmit() | (draw_needs & ~inherited_);
  std::vector<std::string> missing;
  for (unsigned p = 0; p < layout_.packet_count; ++p) {
    const StatePacket& packet = layout_.packets[p];
    if ((needed & StateGroup(packet.group)) != 0 && (unset_[packet.group] & packet.part) != 0) {
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

StateGroups StateCore::ToEmit() const {
  StateGroups all = dirty_;
  for (StateGroups left = dirty_ & ~alone_; left != 0; left &= left - 1) {
    all |= layout_.with[__builtin_ctzll(left)];
  }
  return all;
}

void StateCore::SetEmitted(StateGroups groups) {
  EachRun(groups, [&](StateGroups, uint32_t dword, size_t dwords) {
    CopyDwords(emitted_.data() + dword, wanted_.data() + dword, dwords);
  });
  for (StateGroups left = groups & ~layout_.fixed; left != 0; left &= left - 1) {
    const int group = __builtin_ctzll(left);
    emitted_sizes_[group] = wanted_sizes_[group];
  }
  for (StateGroups left = groups & wanted_addressed_; left != 0; left &= left - 1) {
    const int group = __builtin_ctzll(left);
    const unsigned first = layout_.places[group].address;
    emitted_counts_[group] = wanted_counts_[group];
    std::copy_n(wanted_addresses_.begin() + first, wanted_counts_[group],
                emitted_addresses_.begin() + first);
  }
  emitted_addressed_ = (emitted_addressed_ & ~groups) | (wanted_addressed_ & groups);
  known_ |= groups;
  dirty_ &= ~groups;
  // All of it again at the next draw.
  if (DebugOn(DebugSwitch::kReemit)) Lose(groups);
}

bool StateCore::ReplaceOnce(unsigned packet, unsigned index, absl::Span<const uint32_t> dwords,
                            absl::Span<const StateAddress> addresses) {
  const StatePacket& place = layout_.packets[packet];
  const StateGroupPlace& group = layout_.places[place.group];
  const absl::string_view name = TypeNameIn(place.function);
  const uint32_t first = static_cast<uint32_t>(place.dword + index * dwords.size());
  const bool fixed = (layout_.fixed & StateGroup(place.group)) != 0;
  const uint32_t end =
      fixed ? place.dword + place.dwords : group.dword + wanted_sizes_[place.group] - group.behind;
  if ((unset_[place.group] & place.part) != 0 || first + dwords.size() > end) {
    return Refuse(absl::FailedPreconditionError(
        absl::StrCat(name, " ", index, " cannot be overridden once: it has not been set")));
  }
  const StateAddress* const own =
      wanted_addresses_.data() + place.address + index * addresses.size();
  if (!std::equal(addresses.begin(), addresses.end(), own)) {
    return Refuse(absl::InvalidArgumentError(
        absl::StrCat(name, " ", index, " cannot be overridden once with other addresses")));
  }
  DropOnce(first, static_cast<uint32_t>(dwords.size()));
  unsigned differences = 0;
  for (size_t i = 0; i < dwords.size(); ++i) differences += dwords[i] != wanted_[first + i];
  if (differences > once_.size() - once_count_) {
    return Refuse(absl::ResourceExhaustedError(
        absl::StrCat(name, " ", index, " is overridden once in ", differences,
                     " more dwords; all packets together can have ", once_.size())));
  }
  for (uint32_t i = 0; i < dwords.size(); ++i) {
    if (dwords[i] != wanted_[first + i]) once_[once_count_++] = {first + i, dwords[i], place.group};
  }
  UpdateOnceGroups();
  Compare(place.group);
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
  EachRun(groups, [&](StateGroups, uint32_t dword, size_t dwords) {
    for (unsigned i = 0; i < once_count_; ++i) {
      // For dwords before this run the difference wraps around.
      const uint32_t at = once_[i].dword - dword;
      if (at < dwords) to[at] = once_[i].value;
    }
    to += dwords;
  });
}

void StateCore::UpdateOnceGroups() {
  once_groups_ = 0;
  for (unsigned i = 0; i < once_count_; ++i) once_groups_ |= StateGroup(once_[i].group);
}

void StateCore::MarkAddressed(unsigned group, size_t count) {
  const StateAddress* const first = wanted_addresses_.data() + layout_.places[group].address;
  bool any = false;
  for (size_t i = 0; i < count; ++i) any |= first[i].buffer != 0;
  wanted_counts_[group] = static_cast<uint16_t>(count);
  wanted_addressed_ = (wanted_addressed_ & ~StateGroup(group)) | (any ? StateGroup(group) : 0);
}

void StateCore::Compare(unsigned group) {
  const StateGroupPlace& place = layout_.places[group];
  bool differs = wanted_sizes_[group] != emitted_sizes_[group] ||
                 std::memcmp(wanted_.data() + place.dword, emitted_.data() + place.dword,
                             size_t{wanted_sizes_[group]} * 4) != 0;
  if (!differs && ((wanted_addressed_ | emitted_addressed_) & StateGroup(group)) != 0) {
    differs = ((wanted_addressed_ ^ emitted_addressed_) & StateGroup(group)) != 0 ||
              wanted_counts_[group] != emitted_counts_[group] ||
              !std::equal(wanted_addresses_.begin() + place.address,
                          wanted_addresses_.begin() + place.address + wanted_counts_[group],
                          emitted_addresses_.begin() + place.address);
  }
  MarkDirty(group, differs);
}

void StateCore::Merge(unsigned packet) {
  const unsigned first = layout_.packets[packet].dword;
  for (const MaskedDword& bits : dynamic_[packet]) {
    uint32_t& word = wanted_[first + bits.dword];
    word = (word & ~bits.mask) | (values_[first + bits.dword] & bits.mask);
  }
}

void StateCore::BindCore(const PipelineCore& pipeline) {
  if (pipeline.number == bound_) return;
  StateGroups touched = 0;
  for (const PipelinePacket& from : pipeline.packets) {
    const StatePacket& to = layout_.packets[from.packet];
    const unsigned group = to.group;
    CopyDwords(wanted_.data() + to.dword, pipeline.dwords.data() + from.dword, from.dwords);
    if ((layout_.fixed & StateGroup(group)) == 0) {
      wanted_sizes_[group] = static_cast<uint16_t>(layout_.places[group].ahead + from.dwords);
    }
    dynamic_[from.packet] = from.dynamic;
    if (!from.dynamic.empty()) Merge(from.packet);
    if (to.addresses != 0) {
      const uint32_t begin = to.dword - layout_.places[group].dword;
      for (uint32_t i = 0; i < from.addresses; ++i) {
        StateAddress& address = wanted_addresses_[to.address + i];
        address = pipeline.addresses[from.address + i];
        address.dword += begin;
      }
      MarkAddressed(group, (layout_.fixed & StateGroup(group)) != 0
                               ? layout_.places[group + 1].address - layout_.places[group].address
                               : from.addresses);
    }
    MarkSet(from.packet);
    touched |= StateGroup(group);
  }
  if (bits::rarely((touched & once_groups_) != 0)) {
    for (const PipelinePacket& from : pipeline.packets) {
      const StatePacket& to = layout_.packets[from.packet];
      DropOnce(to.dword, to.dwords);
    }
  }
  for (StateGroups left = touched; left != 0; left &= left - 1) {
    Compare(static_cast<unsigned>(__builtin_ctzll(left)));
  }
  bound_ = pipeline.number;
  bound_groups_ = touched;
}

}  // namespace packsmith::intel
