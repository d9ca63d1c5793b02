// What a ring had before its head. Commands that an engine has read are still in the ring's memory
// until the driver writes over them: among them the packet that started the batch at fault.
#ifndef PACKSMITH_RUNTIME_HANG_PAST_H_
#define PACKSMITH_RUNTIME_HANG_PAST_H_

#include <cstdint>
#include <optional>

#include "runtime/dump/dump.h"
#include "runtime/hang/stop.h"
#include "runtime/tables/tables.h"

namespace packsmith::hang {

// Offsets count bytes from the start of the ring.
struct RingPast {
  uint64_t begin = 0;  // what the engine is at is decoded from here on
  // Where a walk began that comes to the head exactly, and how many packets that took.
  std::optional<uint64_t> from;
  uint64_t packets = 0;
  // The first place from which the walk does not come to the head, where none does.
  std::optional<uint64_t> astray;
};

// Of the ring of `size` bytes, not 0, at `address`, whose memory the dump has. Walks begin where a
// packet does as far as the dump says: at the head of the request at fault, at the tails of
// requests that are done, the last one first, and at what the driver has not given away. `begin` is
// the last packet before the head that starts a batch whose memory the dump has; else the head of
// the request at fault; else the head. At most kMostWalks walks.
RingPast FindRingPast(const tables::Tables& tables, const Dump& dump, const ErrorEngine& engine,
                      uint64_t address, uint64_t size, const Stop& stop);

inline constexpr int kMostWalks = 8;

}  // namespace packsmith::hang

#endif  // PACKSMITH_RUNTIME_HANG_PAST_H_
