// Makes tables from a list of groups: the place of each packet in a store, and the groups that are
// emitted together. All of it is computed at compile time, and only what is named: a program that
// sets packets computes their places; the rest is computed once, in the library (state_tables.h).

#ifndef PACKSMITH_RUNTIME_INTEL_STATE_STATE_LAYOUT_H_
#define PACKSMITH_RUNTIME_INTEL_STATE_STATE_LAYOUT_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "packsmith/pack.h"
#include "packsmith/relations.h"
#include "runtime/intel/state/groups.h"

namespace packsmith::intel {

// A set of groups: bit i is the i-th group in the order of emission.
using StateGroups = uint64_t;
inline constexpr StateGroups StateGroup(unsigned index) { return StateGroups{1} << index; }

// One kind of packet.
struct StatePacket {
  uint16_t dword = 0;    // in the store
  uint16_t dwords = 0;   // maximum, without what follows it
  uint16_t address = 0;  // in the list of addresses
  uint16_t addresses = 0;
  uint8_t group = 0;
  // Its bit among the group's packets that must be set before the group can be emitted. 0: a
  // companion.
  uint8_t part = 0;
  const char* function = nullptr;  // for TypeNameIn()
};

struct StateGroupPlace {
  uint16_t dword = 0;   // where it begins in the store: even
  uint16_t dwords = 0;  // 0 if the size varies
  uint16_t address = 0;
  uint16_t ahead = 0;   // dwords of a LedBy that come before the packet
  uint16_t behind = 0;  // dwords that follow, regardless of the group's size
  uint8_t parts = 0;    // all that must be set
};

// What StateCore needs to know of a generation.
struct StateLayout {
  unsigned groups = 0;
  const StateGroupPlace* places = nullptr;  // of groups, and one after the last
  const StatePacket* packets = nullptr;
  unsigned packet_count = 0;
  StateGroups fixed = 0;              // groups whose size never changes
  StateGroups pairs = 0;              // of these, those of two dwords
  StateGroups draw_needs = 0;         // what 3DPRIMITIVE needs
  const StateGroups* with = nullptr;  // of each group: what is emitted if it is
};

// Packets by their types. Not found: kNoPacket.
inline constexpr unsigned kNoPacket = ~0u;
template <unsigned Index, class P>
struct IndexedPacket {};
template <class P, unsigned Index>
constexpr unsigned IndexOfPacket(const IndexedPacket<Index, P>*) {
  return Index;
}
template <class P>
constexpr unsigned IndexOfPacket(const void*) {
  return kNoPacket;
}

template <class P>
constexpr const char* FunctionNaming() {
  return __PRETTY_FUNCTION__;
}

struct AddressCounter : bits::visitor<AddressCounter> {
  unsigned count = 0;
  constexpr void member(const auto&, const auto&, unsigned, unsigned, const char*) {}
  constexpr void member(const bits::kinds::address&, const packsmith::address&, unsigned, unsigned,
                        const char*) {
    ++count;
  }
};
template <class P>
constexpr unsigned AddressesIn() {
  AddressCounter counter;
  P packet;
  P::ps_layout(packet, counter);
  return counter.count;
}

// What is emitted for a type in a Group: itself, a companion's packet, or a derived packet.
template <class P>
struct InGroup {
  using Packet = P;
  static constexpr bool kIsCompanion = false, kIsDerived = false;
  static constexpr unsigned kAddresses = AddressesIn<P>();
};
template <class C>
requires requires { C::kNeedsScratch; }
struct InGroup<C> {
  using Packet = typename C::Packet;
  static constexpr bool kIsCompanion = true, kIsDerived = false;
  static constexpr unsigned kAddresses = C::kNeedsScratch ? 1 : 0;
};
template <class D>
requires requires { typename D::From; }
struct InGroup<D> {
  using Packet = typename D::Packet;
  static constexpr bool kIsCompanion = false, kIsDerived = true;
  static constexpr unsigned kAddresses = 0;
};

template <class... Lists>
struct Concatenated;
template <>
struct Concatenated<> {
  using Types = types<>;
};
template <class... P>
struct Concatenated<types<P...>> {
  using Types = types<P...>;
};
template <class... A, class... B, class... Rest>
struct Concatenated<types<A...>, types<B...>, Rest...> {
  using Types = typename Concatenated<types<A..., B...>, Rest...>::Types;
};

template <class G>
struct GroupTraits;
template <class... P>
struct GroupTraits<Group<P...>> {
  using Packets = types<P...>;
  static constexpr bool kFixed = true;
  static constexpr unsigned kAhead = 0, kBehind = 0;

  template <class T>
  static constexpr unsigned Dwords() {
    return InGroup<T>::Packet::length;
  }
  template <class T>
  static constexpr unsigned Addresses() {
    return InGroup<T>::kAddresses;
  }
};
template <class P, unsigned Most, class... Behind>
struct GroupTraits<Tail<P, Most, Behind...>> {
  using Packets = types<P, Behind...>;
  static constexpr bool kFixed = false;
  static constexpr unsigned kAhead = 0, kBehind = (0u + ... + InGroup<Behind>::Packet::length);
  static_assert((!Behind::kNeedsScratch && ...), "a companion with an address cannot be here");

  template <class T>
  static constexpr unsigned Dwords() {
    if constexpr (InGroup<T>::kIsCompanion)
      return InGroup<T>::Packet::length;
    else
      return P::dwords_needed(Most);
  }
  template <class T>
  static constexpr unsigned Addresses() {
    if constexpr (InGroup<T>::kIsCompanion)
      return 0;
    else
      return AddressesIn<P>() + Most * AddressesIn<typename P::ps_item>();
  }
};
template <class P, unsigned Most, class... Behind>
struct GroupTraits<Several<P, Most, Behind...>> {
  using Packets = types<P, Behind...>;
  static constexpr bool kFixed = false;
  static constexpr unsigned kAhead = 0, kBehind = (0u + ... + InGroup<Behind>::Packet::length);
  static_assert((!Behind::kNeedsScratch && ...), "a companion with an address cannot be here");

  template <class T>
  static constexpr unsigned Dwords() {
    return InGroup<T>::kIsCompanion ? InGroup<T>::Packet::length : Most * P::length;
  }
  template <class T>
  static constexpr unsigned Addresses() {
    return InGroup<T>::kIsCompanion ? 0 : Most * AddressesIn<P>();
  }
};
template <class Ahead, class T>
struct GroupTraits<LedBy<Ahead, T>> : GroupTraits<T> {
  using Packets = typename Concatenated<types<Ahead>, typename GroupTraits<T>::Packets>::Types;
  static constexpr unsigned kAhead = InGroup<Ahead>::Packet::length;
  static_assert(!Ahead::kNeedsScratch, "a companion with an address cannot be here");
};

template <class Gen, class List>
struct StateLayoutFor;

template <class Gen, class... Groups>
struct StateLayoutFor<Gen, GroupList<Groups...>> {
  static constexpr unsigned kGroups = sizeof...(Groups);
  static_assert(kGroups <= 64, "a set of groups has 64 bits");

  template <class Types>
  struct Flat;
  template <class... P>
  struct Flat<types<P...>> {
    static constexpr unsigned kCount = sizeof...(P);
    template <unsigned... I>
    struct Map : IndexedPacket<I, P>... {};
    template <unsigned... I>
    static constexpr Map<I...> MapOf(bits::indices<I...>);
    using Index = decltype(MapOf(bits::first_indices<kCount>()));

    // Companions appear more than once, and are not looked up.
    template <class F>
    static constexpr void Each(F f) {
      unsigned index = 0;
      (f(static_cast<P*>(nullptr), index++), ...);
    }
  };
  using Packets = typename Concatenated<typename GroupTraits<Groups>::Packets...>::Types;
  static constexpr unsigned kPackets = Flat<Packets>::kCount;

  // Without what is in Whole.
  struct Made {
    std::array<StatePacket, kPackets> packets;
    std::array<StateGroupPlace, kGroups + 1> places;
    StateGroups fixed = 0, pairs = 0;
    bool needs_scratch = false;
  };

  template <class P>
  static constexpr unsigned IndexOf();
  // The groups that have one of these packets.
  template <class... P>
  static constexpr StateGroups GroupsOf(const Made& made, types<P...>) {
    return (StateGroups{0} | ... | GroupOf<P>(made));
  }
  template <class P>
  static constexpr StateGroups GroupOf(const Made& made) {
    constexpr unsigned kIndex = IndexOf<P>();
    if constexpr (kIndex == kNoPacket)
      return 0;
    else
      return StateGroup(made.packets[kIndex].group);
  }

  struct PacketSize {
    unsigned dwords;
    bool companion, needs_scratch;
  };
  template <class Traits, class T>
  static constexpr PacketSize SizeOf() {
    if constexpr (InGroup<T>::kIsCompanion) {
      return {Traits::template Dwords<T>(), true, T::kNeedsScratch};
    } else {
      return {Traits::template Dwords<T>(), false, false};
    }
  }
  template <class Traits, class... P>
  static constexpr void Place(Made& made, StateGroupPlace& at, unsigned& packet, unsigned group,
                              types<P...>) {
    const PacketSize sizes[] = {SizeOf<Traits, P>()...};
    at.dword = static_cast<uint16_t>(at.dword + at.dword % 2);
    made.places[group] = {at.dword, 0, 0, Traits::kAhead, Traits::kBehind, 0};
    for (const PacketSize& size : sizes) {
      StatePacket& to = made.packets[packet++];
      to.dword = at.dword;
      to.dwords = static_cast<uint16_t>(size.dwords);
      to.group = static_cast<uint8_t>(group);
      if (size.companion) {
        made.needs_scratch |= size.needs_scratch;
      } else {
        to.part = static_cast<uint8_t>(made.places[group].parts + 1);
        made.places[group].parts = static_cast<uint8_t>(made.places[group].parts << 1 | 1);
      }
      at.dword = static_cast<uint16_t>(at.dword + to.dwords);
    }
    if (!Traits::kFixed) return;
    made.fixed |= StateGroup(group);
    made.places[group].dwords = static_cast<uint16_t>(at.dword - made.places[group].dword);
    if (made.places[group].dwords == 2) made.pairs |= StateGroup(group);
  }

  static constexpr Made Make() {
    Made made = {};
    StateGroupPlace at;
    unsigned packet = 0, group = 0;
    (Place<GroupTraits<Groups>>(made, at, packet, group++, typename GroupTraits<Groups>::Packets()),
     ...);
    at.dword = static_cast<uint16_t>(at.dword + at.dword % 2);
    made.places[kGroups] = at;
    return made;
  }
  static constexpr Made kMade = Make();

  // Where groups begin, for flushes.
  static constexpr std::array<uint16_t, kGroups> kBegins = [] {
    std::array<uint16_t, kGroups> begins = {};
    for (unsigned g = 0; g < kGroups; ++g) begins[g] = kMade.places[g].dword;
    return begins;
  }();

  // The same with names, addresses and the relations between groups.
  struct Whole {
    std::array<StatePacket, kPackets> packets;
    std::array<StateGroupPlace, kGroups + 1> places;
    std::array<StateGroups, kGroups> with = {};
  };
  template <class Traits, class... P>
  static constexpr void AddTo(Whole& whole, uint16_t& address, unsigned& packet, unsigned group,
                              types<P...>) {
    whole.places[group].address = address;
    const auto one = [&](const char* function, unsigned addresses) {
      StatePacket& to = whole.packets[packet++];
      to.function = function;
      to.address = address;
      to.addresses = static_cast<uint16_t>(addresses);
      address = static_cast<uint16_t>(address + addresses);
    };
    (one(FunctionNaming<typename InGroup<P>::Packet>(), Traits::template Addresses<P>()), ...);
  }
  static constexpr Whole MakeWhole() {
    Whole whole = {kMade.packets, kMade.places, {}};
    uint16_t address = 0;
    unsigned packet = 0, group = 0;
    (AddTo<GroupTraits<Groups>>(whole, address, packet, group++,
                                typename GroupTraits<Groups>::Packets()),
     ...);
    whole.places[kGroups].address = address;
    // The direct relations in the XML …
    auto& with = whole.with;
    for (unsigned g = 0; g < kGroups; ++g) with[g] = StateGroup(g);
    Flat<Packets>::Each([&]<class P>(P*, unsigned index) {
      const unsigned g = kMade.packets[index].group;
      with[g] |= GroupsOf(kMade, typename relations<P>::needs());
      with[g] |= GroupsOf(kMade, typename relations<P>::invalidates());
      const StateGroups committed = GroupsOf(kMade, typename relations<P>::commits());
      for (unsigned c = 0; c < kGroups; ++c) {
        if ((committed & StateGroup(c)) != 0) with[c] |= StateGroup(g);
      }
    });
    // … and their transitive closure.
    for (bool changed = true; changed;) {
      changed = false;
      for (StateGroups& one : with) {
        StateGroups all = one;
        for (unsigned g = 0; g < kGroups; ++g) {
          if ((one & StateGroup(g)) != 0) all |= with[g];
        }
        changed |= all != one;
        one = all;
      }
    }
    return whole;
  }
  static constexpr Whole kWhole = MakeWhole();

  // Writes the companions that follow P, if that is a packet of variable size or number.
  template <class P>
  static void WriteBehind(uint32_t* to) {
    (WriteBehindIn<P>(static_cast<const Groups*>(nullptr), to), ...);
  }
  template <class P, class G>
  static void WriteBehindIn(const G*, uint32_t*) {}
  template <class P, unsigned Most, class... Behind>
  static void WriteBehindIn(const Tail<P, Most, Behind...>*, uint32_t* to) {
    WriteCompanions<Behind...>(to);
  }
  template <class P, unsigned Most, class... Behind>
  static void WriteBehindIn(const Several<P, Most, Behind...>*, uint32_t* to) {
    WriteCompanions<Behind...>(to);
  }
  template <class P, class Ahead, unsigned Most, class... Behind>
  static void WriteBehindIn(const LedBy<Ahead, Tail<P, Most, Behind...>>*, uint32_t* to) {
    WriteCompanions<Behind...>(to);
  }
  template <class... C>
  static void WriteCompanions([[maybe_unused]] uint32_t* to) {
    ((std::copy_n(kPacked<C>.dw, kPacked<C>.length, to), to += kPacked<C>.length), ...);
  }
  template <class C>
  static constexpr auto kPacked = packed(C::Make({}));

  // Whether a group has no addresses.
  template <unsigned Index, class G>
  static constexpr bool HasNone(const IndexedPacket<Index, G>*) {
    return []<class... P>(types<P...>) {
      return ((InGroup<P>::kAddresses == 0) && ...);
    }(typename GroupTraits<G>::Packets());
  }
  template <unsigned Index>
  static constexpr bool HasNoAddresses() {
    return HasNone<Index>(static_cast<const typename Flat<types<Groups...>>::Index*>(nullptr));
  }

  // Calls f(Companion*, index) for each.
  template <class F>
  static void EachCompanion(F f) {
    Flat<Packets>::Each([&]<class T>(const T* type, unsigned index) {
      if constexpr (InGroup<T>::kIsCompanion) f(type, index);
    });
  }

  // Calls f(Derived*) for each.
  template <class F>
  static constexpr void EachDerived(F f) {
    Flat<Packets>::Each([&]<class T>(T* type, unsigned) {
      if constexpr (InGroup<T>::kIsDerived) f(type);
    });
  }
  // The groups of derived packets, and those together with the groups that they are derived from.
  static constexpr StateGroups kDerived = [] {
    StateGroups all = 0;
    EachDerived([&]<class D>(D*) { all |= GroupOf<D>(kMade); });
    return all;
  }();
  static constexpr StateGroups kDerivedOrFrom = [] {
    StateGroups all = kDerived;
    EachDerived([&]<class D>(D*) { all |= GroupsOf(kMade, typename D::From()); });
    return all;
  }();

  // Whether a packet is derived without a request.
  static constexpr bool kDerivedAlways = [] {
    bool any = false;
    EachDerived([&]<class D>(D*) { any |= !D::kOnRequest; });
    return any;
  }();

  // Whether committed groups come first, and invalidated groups later.
  static constexpr bool InOrder() {
    bool good = true;
    Flat<Packets>::Each([&]<class P>(P*, unsigned index) {
      const StateGroups own = StateGroup(kMade.packets[index].group);
      good &= GroupsOf(kMade, typename relations<P>::commits()) < own;
      const StateGroups lost = GroupsOf(kMade, typename relations<P>::invalidates());
      good &= (lost & (own | (own - 1))) == 0;
    });
    return good;
  }
  // The groups that must be set before this draw packet.
  template <class Draw>
  static constexpr StateGroups kNeededBy = GroupsOf(kMade, typename relations<Draw>::needs());

  // The groups that are lost when P is emitted.
  template <class P>
  static constexpr StateGroups kLostWith = GroupsOf(kMade, typename relations<P>::invalidates());

  static constexpr StateLayout kLayout = {
      .groups = kGroups,
      .places = kWhole.places.data(),
      .packets = kWhole.packets.data(),
      .packet_count = kPackets,
      .fixed = kMade.fixed,
      .pairs = kMade.pairs,
      .draw_needs = kNeededBy<typename Gen::Packets::_3DPRIMITIVE>,
      .with = kWhole.with.data(),
  };
};

template <class Gen, class... Groups>
template <class P>
constexpr unsigned StateLayoutFor<Gen, GroupList<Groups...>>::IndexOf() {
  using Index = typename Flat<Packets>::Index;
  return IndexOfPacket<P>(static_cast<const Index*>(nullptr));
}

template <class Gen>
using StateLayoutOf = StateLayoutFor<Gen, decltype(DrawGroups<Gen>())>;

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_STATE_STATE_LAYOUT_H_
