// Golden (an invented GPU): relations between packets, for C++20.
// Made by packsmith from golden.xml. Do not edit.
//
//   packsmith::relations<T>  of a packet: what it commits, needs and invalidates, as types<…>
#ifndef PACKSMITH_GOLDEN_RELATIONS_H_
#define PACKSMITH_GOLDEN_RELATIONS_H_

#include "packsmith/golden.h"
#include "packsmith/relations.h"

namespace packsmith {

template <>
struct relations<golden::VERTEX_BUFFERS> {
  using commits = types<golden::_3DSTATE_DEPTH, golden::SURFACE>;
  using needs = types<>;
  using invalidates = types<>;
};
template <>
struct relations<golden::END> {
  using commits = types<>;
  using needs = types<golden::VERTEX_BUFFERS>;
  using invalidates = types<golden::_3DSTATE_DEPTH>;
};

}  // namespace packsmith

#endif  // PACKSMITH_GOLDEN_RELATIONS_H_
