// The content of a ring before its head. Commands that an engine has read stay in the ring's memory
// until the driver overwrites them: among them the packet that started the batch at fault.
#ifndef PACKSMITH_RUNTIME_HANG_RING_HISTORY_H_
#define PACKSMITH_RUNTIME_HANG_RING_HISTORY_H_

#include <cstdint>
#include <optional>

#include "runtime/dump/dump.h"
#include "runtime/hang/engine_state.h"
#include "runtime/tables/tables.h"

namespace packsmith::hang {

// Offsets count bytes from the start of the ring.
struct RingPast {
  uint64_t begin = 0;  // decoding begins here
  // Where a walk began that reaches the head exactly, and its number of packets.
  std::optional<uint64_t> from;
  uint64_t packets = 0;
  // If no walk reaches the head: where the first walk began.
  std::optional<uint64_t> astray;
};

// For the ring of `size` bytes, not 0, at `address`, whose memory the dump must have. Walks begin
// where the dump says that a packet begins: at the head of the request at fault, at the tails of
// requests that are done, the last one first, and at the head that the driver itself keeps. `begin`
// is the last packet before the head that starts a batch whose memory the dump has; else the head
// of the request at fault; else the head. At most kMostWalks walks.
RingPast FindRingPast(const tables::Tables& tables, const Dump& dump, const ErrorEngine& engine,
                      uint64_t address, uint64_t size, const Stop& stop);

inline constexpr int kMostWalks = 8;

}  // namespace packsmith::hang

#endif  // PACKSMITH_RUNTIME_HANG_RING_HISTORY_H_
