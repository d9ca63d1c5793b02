// Relations between packets, as the XML states them: relations<P> of every packet, specialised in
// the generated <generation>_relations.h. Apart from pack.h, because packing does not need them.
//
//   #include "packsmith/gfx9_relations.h"
//   using committed = packsmith::relations<gfx9::_3DSTATE_BINDING_TABLE_POINTERS_VS>::commits;
//   // packsmith::types<gfx9::_3DSTATE_CONSTANT_VS>: takes effect with the binding table pointer.
#ifndef PACKSMITH_RUNTIME_PACK_RELATIONS_H_
#define PACKSMITH_RUNTIME_PACK_RELATIONS_H_

namespace packsmith {

template <class... T>
struct types {};

// For packets without relations in the XML.
template <class P>
struct relations {
  using commits = types<>;      // what these set takes effect with P
  using needs = types<>;        // P must not be emitted without these (XML: requires)
  using invalidates = types<>;  // what these set is lost with P
};

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_PACK_RELATIONS_H_
