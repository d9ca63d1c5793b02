// A generation's tables for state_core.h: the layout, the positions of all addresses, and a
// function for each type of packet. The library has those of its generations (gfx.cc.in); where
// another generation's are needed, they are made there.

#ifndef PACKSMITH_RUNTIME_INTEL_STATE_STATE_TABLES_H_
#define PACKSMITH_RUNTIME_INTEL_STATE_STATE_TABLES_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "packsmith/pack.h"
#include "runtime/intel/state/state_core.h"
#include "runtime/intel/state/state_layout.h"

namespace packsmith::intel {

// Writes where a packet's addresses are.
struct AddressPlacer : bits::visitor<AddressPlacer> {
  StateAddressPlace* next;
  unsigned begin;  // the packet's first dword, from the group's start

  constexpr void member(const auto&, const auto&, unsigned, unsigned, const char*) {}
  constexpr void member(const bits::kinds::address& kind, const packsmith::address&, unsigned bit,
                        unsigned width, const char*) {
    *next++ = {static_cast<uint16_t>(begin + bit / 32), static_cast<uint8_t>(bit % 32),
               static_cast<uint8_t>(width), static_cast<uint8_t>(kind.shift)};
  }
};
template <class P>
constexpr void PlaceAddresses(StateAddressPlace*& next, unsigned begin) {
  static_assert(!bits::has_variants<P>, "the places of addresses must be known");
  AddressPlacer placer{{}, next, begin};
  P packet;
  P::ps_layout(packet, placer);
  next = placer.next;
}

// Notes the buffers of a packet's addresses.
struct AddressWriter {
  StateAddress*& next;
  PACKSMITH_INLINE void operator()(const address& a, unsigned, unsigned, unsigned, access how) {
    *next++ = StateAddressOf(a, how);
  }
};

template <class Gen>
struct TablesOf {
  static const StateTables kTables;
};

// How they are made. Nothing here is instantiated where the library has the tables.
template <class Gen>
struct TableMaker {
  using Layout = StateLayoutOf<Gen>;
  static_assert(Layout::InOrder(), "the XML's relations do not allow this order of groups");

  // -- Where addresses are ------------------------------------------------------------------------

  template <class... P>
  static constexpr void PlaceIn(const Group<P...>*, StateAddressPlace*& next, unsigned begin) {
    ((PlaceOne<P>(next, begin), begin += InGroup<P>::Packet::length), ...);
  }
  template <class P>
  static constexpr void PlaceOne(StateAddressPlace*& next, unsigned begin) {
    if constexpr (InGroup<P>::kAddresses != 0) {
      PlaceAddresses<typename InGroup<P>::Packet>(next, begin);
    }
  }
  template <class P, unsigned Most, class... Behind>
  static constexpr void PlaceIn(const Tail<P, Most, Behind...>*, StateAddressPlace*& next,
                                unsigned begin) {
    PlaceAddresses<P>(next, begin);
    for (unsigned i = 0; i < Most; ++i) {
      PlaceAddresses<typename P::ps_item>(next, begin + P::dwords_needed(i));
    }
  }
  template <class P, unsigned Most, class... Behind>
  static constexpr void PlaceIn(const Several<P, Most, Behind...>*, StateAddressPlace*& next,
                                unsigned begin) {
    for (unsigned i = 0; i < Most; ++i) PlaceAddresses<P>(next, begin + i * P::length);
  }
  template <class Ahead, class T>
  static constexpr void PlaceIn(const LedBy<Ahead, T>*, StateAddressPlace*& next, unsigned) {
    PlaceIn(static_cast<const T*>(nullptr), next, Ahead::Packet::length);
  }
  static constexpr unsigned kAddressCount = Layout::kLayout.places[Layout::kGroups].address;
  static_assert(kAddressCount <= kAddressesOfSide, "kAddressesOfSide is too small");
  template <class... G>
  static constexpr auto PlacesIn(GroupList<G...>) {
    std::array<StateAddressPlace, kAddressCount + 1> places = {};
    StateAddressPlace* next = places.data();
    (PlaceIn(static_cast<const G*>(nullptr), next, 0), ...);
    return places;
  }
  static constexpr auto kPlaces = PlacesIn(decltype(DrawGroups<Gen>())());

  static constexpr bool FixedGroupsFit() {
    for (unsigned g = 0; g < Layout::kGroups; ++g) {
      const auto& places = Layout::kMade.places;
      if ((Layout::kMade.fixed & StateGroup(g)) != 0 &&
          places[g + 1].dword - places[g].dword > int{kMostFixedDwords}) {
        return false;
      }
    }
    return true;
  }
  static_assert(FixedGroupsFit(), "kMostFixedDwords is too small");

  template <unsigned... G>
  static constexpr bool PairsHaveNoAddresses(bits::indices<G...>) {
    const auto& places = Layout::kLayout.places;
    return (((Layout::kMade.pairs & StateGroup(G)) == 0 ||
             places[G].address == places[G + 1].address) &&
            ...);
  }
  static_assert(PairsHaveNoAddresses(bits::first_indices<Layout::kGroups>()),
                "flushes of pairs look at no addresses");

  // -- How packets are packed ---------------------------------------------------------------------

  template <class P>
  static error PackOne(const UnpackedPackets& from, checks which, uint32_t* to,
                       StateAddress*& addresses) {
    const P& packet = *static_cast<const P*>(from.packet);
    const error e = which == checks::on ? packet.template pack<checks::on>(to)
                                        : packet.template pack<checks::off>(to);
    if (e) return e;
    AddressWriter writer{addresses};
    bits::addresses(packet, writer);
    return {};
  }
  template <class P>
  static error PackItems(const UnpackedPackets& from, checks which, uint32_t* to,
                         StateAddress*& addresses) {
    using Item = typename P::ps_item;
    const P& packet = *static_cast<const P*>(from.packet);
    const span<const Item> items(static_cast<const Item*>(from.items), from.count);
    const error e = which == checks::on ? packet.template pack<checks::on>(to, items)
                                        : packet.template pack<checks::off>(to, items);
    if (e) return e;
    AddressWriter writer{addresses};
    bits::addresses(packet, writer);
    for (const Item& item : items) bits::addresses(item, writer);
    Layout::template WriteBehind<P>(to + from.dwords);
    return {};
  }
  template <class P>
  static error PackEach(const UnpackedPackets& from, checks which, uint32_t* to,
                        StateAddress*& addresses) {
    const span<const P> packets(static_cast<const P*>(from.packet), from.count);
    if (which == checks::on) {
      if (const error e = bits::test<checks::on>(packets)) return e;
    }
    AddressWriter writer{addresses};
    for (const P& packet : packets) {
      (void)packet.template pack<checks::off>(to);
      bits::addresses(packet, writer);
      to += P::length;
    }
    Layout::template WriteBehind<P>(to);
    return {};
  }
  template <class T>
  static constexpr PackPackets PackerOf() {
    if constexpr (InGroup<T>::kIsCompanion) {
      return nullptr;
    } else if constexpr ((Layout::kMade.fixed & Layout::template GroupOf<T>(Layout::kMade)) != 0) {
      return PackOne<typename InGroup<T>::Packet>;
    } else if constexpr (requires { typename T::ps_item; }) {
      return PackItems<T>;
    } else {
      return PackEach<T>;
    }
  }
  template <class... P>
  static constexpr auto PackersOf(types<P...>) {
    return std::array<PackPackets, sizeof...(P)>{PackerOf<P>()...};
  }
  static constexpr auto kPackers = PackersOf(typename Layout::Packets());
};

template <class Gen>
const StateTables TablesOf<Gen>::kTables = {
    StateLayoutOf<Gen>::kLayout, TableMaker<Gen>::kPlaces.data(), TableMaker<Gen>::kPackers.data()};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_STATE_STATE_TABLES_H_
