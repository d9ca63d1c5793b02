// The packets of a dump that can be left out.
#ifndef PACKSMITH_RUNTIME_REDUCE_PACKETS_H_
#define PACKSMITH_RUNTIME_REDUCE_PACKETS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/dump/dump.h"
#include "runtime/tables/tables.h"

namespace packsmith::reduce {

struct Packet {
  uint32_t space;
  uint64_t address;
  uint32_t bytes;
  std::string name;
};

// In the order of decoding, each place once: packets of all batches that submissions reach, except
// those that have no effect and those that end a batch.
//
// A packet is left out by zeros, so that all others keep their addresses. FailedPrecondition if a
// stream takes zeros for anything but a packet without effect, by the description (AGX's do).
absl::StatusOr<std::vector<Packet>> FindPackets(const tables::Tables& tables, const Dump& dump);

// The dump with zeros in place of all `packets` whose numbers are not in `kept` (ascending). It
// refers to memory of `dump`, which must outlive it.
Dump WithoutOthers(const Dump& dump, const std::vector<Packet>& packets,
                   const std::vector<size_t>& kept);

}  // namespace packsmith::reduce

#endif  // PACKSMITH_RUNTIME_REDUCE_PACKETS_H_
