// What a draw or dispatch does, and the state that it sees.
#ifndef PACKSMITH_RUNTIME_SIM_WORK_H_
#define PACKSMITH_RUNTIME_SIM_WORK_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "runtime/sim/observer.h"
#include "runtime/sim/parameters.h"
#include "runtime/sim/streamer.h"
#include "runtime/sim/vertices/draw_state.h"
#include "runtime/tables/tables.h"

namespace packsmith::sim {

// As resolved: from the packet, registers, or memory.
std::vector<Parameter> ParametersOf(const tables::Tables& tables, const Work& work);

// The same for vertex fetch. Empty: it is not a draw that fetches vertices.
std::optional<DrawParameters> DrawParametersOf(const tables::Tables& tables, const Work& work);

// A packet that set state.
struct StatePacket {
  const tables::Container* container;
  absl::Span<const uint8_t> bytes;
  uint64_t number;  // Streamer::StateNumber
};

// The last packet of each kind that work of the role reads, in the order of execution. Valid until
// the streamer executes more.
std::vector<StatePacket> StateOf(const tables::Tables& tables, const Streamer& streamer,
                                 tables::Role role);

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_WORK_H_
