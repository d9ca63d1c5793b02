// Members of a packet, named by pointers to them, and the bits that they are packed to.
//
//   constexpr auto& mask = FieldBits<&gfx9::_3DSTATE_RASTER::cull_mode>::kMask;
//
// The bits of a member come from the generated header at compile time. Members are integers, enums,
// fixed-point, float and bool, or arrays of these.

#ifndef PACKSMITH_RUNTIME_INTEL_STATE_FIELDS_H_
#define PACKSMITH_RUNTIME_INTEL_STATE_FIELDS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "absl/types/span.h"
#include "packsmith/pack.h"

namespace packsmith::intel {

template <class T>
struct MemberPointer;
template <class P, class V>
struct MemberPointer<V P::*> {
  using Packet = P;
  using Value = V;
};
template <auto Member>
using PacketOf = typename MemberPointer<decltype(Member)>::Packet;
template <auto Member>
using ValueOf = typename MemberPointer<decltype(Member)>::Value;

template <class V>
PACKSMITH_INLINE constexpr bool IsIn(const V& member, const void* one) {
  if constexpr (std::is_array_v<V>) {
    for (const auto& element : member) {
      if (IsIn(element, one)) return true;
    }
    return false;
  } else {
    return static_cast<const void*>(&member) == one;
  }
}

// Passes only some members of a packet to a visitor.
template <class Visitor, auto... Members>
struct OnlyVisitor : bits::visitor<OnlyVisitor<Visitor, Members...>> {
  using Packet = std::common_type_t<PacketOf<Members>...>;

  Visitor& visitor;
  const Packet& packet;

  PACKSMITH_INLINE constexpr OnlyVisitor(Visitor& v, const Packet& p) : visitor(v), packet(p) {}

  template <class T>
  PACKSMITH_INLINE constexpr bool Has(const T& v) const {
    return (IsIn(packet.*Members, static_cast<const void*>(&v)) || ...);
  }
  PACKSMITH_INLINE constexpr void index(unsigned i) { visitor.index(i); }
  template <class Kind, class T>
  PACKSMITH_INLINE constexpr void member(const Kind& kind, const T& v, unsigned bit, unsigned width,
                                         const char* name) {
    if (Has(v)) visitor.member(kind, v, bit, width, name);
  }
  // Addresses need relocations, and cannot be set by themselves.
  PACKSMITH_INLINE constexpr void member(const bits::kinds::address&, const address&, unsigned,
                                         unsigned, const char*) {}
  template <class Rule, class T>
  PACKSMITH_INLINE constexpr void rule(const Rule& rule, const T& v, const char* name) {
    if (Has(v)) visitor.rule(rule, v, name);
  }
};

// Sets all bits of the members that it visits.
template <unsigned Dwords>
struct BitMarker : bits::visitor<BitMarker<Dwords>> {
  uint32_t words[Dwords] = {};

  constexpr void member(const auto&, const auto&, unsigned bit, unsigned width, const char*) {
    bits::put(words, bit, width, ~uint64_t{0});
  }
};

// A dword of a packet that has such members, and their bits.
struct MaskedDword {
  uint32_t dword = 0;
  uint32_t mask = 0;
};
using MaskedDwords = absl::Span<const MaskedDword>;

template <auto... Members>
struct FieldBits {
  using Packet = std::common_type_t<PacketOf<Members>...>;
  static constexpr unsigned kDwords = Packet::length;

  template <auto... Some>
  static constexpr BitMarker<kDwords> Mark() {
    Packet packet;
    BitMarker<kDwords> marker;
    OnlyVisitor<BitMarker<kDwords>, Some...> only(marker, packet);
    Packet::ps_layout(packet, only);
    return marker;
  }
  template <auto Member>
  static constexpr bool HasBits() {
    for (uint32_t word : Mark<Member>().words) {
      if (word != 0) return true;
    }
    return false;
  }
  static_assert((HasBits<Members>() && ...),
                "the bits of addresses and structures cannot be set by themselves");
  static constexpr BitMarker<kDwords> kMarked = Mark<Members...>();

  static constexpr size_t kCount = [] {
    size_t count = 0;
    for (uint32_t word : kMarked.words) count += word != 0;
    return count;
  }();
  // The dwords that have bits of the members.
  static constexpr std::array<MaskedDword, kCount> kMask = [] {
    std::array<MaskedDword, kCount> mask = {};
    size_t at = 0;
    for (unsigned i = 0; i < kDwords; ++i) {
      if (kMarked.words[i] != 0) mask[at++] = {i, kMarked.words[i]};
    }
    return mask;
  }();

  // Packs only these members of `packet`; all other bits are zero. An error if one does not fit:
  // nothing is written then.
  template <checks Checks = default_checks>
  PACKSMITH_INLINE static constexpr error Pack(const Packet& packet, uint32_t* to) {
    if constexpr (Checks == checks::on) {
      bits::tester<bits::scope::every> tester;
      OnlyVisitor<bits::tester<bits::scope::every>, Members...> tested(tester, packet);
      Packet::ps_layout(packet, tested);
      if (bits::rarely(tester.anything())) return Find(packet);
    }
    bits::packer<kDwords> packer;
    OnlyVisitor<bits::packer<kDwords>, Members...> packed(packer, packet);
    Packet::ps_layout(packet, packed);
    packer.close();
    for (unsigned i = 0; i < kDwords; ++i) to[i] = packer.w[i];
    return {};
  }

 private:
  [[gnu::cold, gnu::noinline]] static error Find(const Packet& packet) {
    bits::finder finder;
    OnlyVisitor<bits::finder, Members...> only(finder, packet);
    Packet::ps_layout(packet, only);
    return finder.found;
  }
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_STATE_FIELDS_H_
