// A context image of a dump as the state that a streamer begins with.
//
//   absl::StatusOr<InheritedState> state = StartFromImage(tables, "render", list, streamer);
#ifndef PACKSMITH_RUNTIME_SIM_CONTEXTS_IMAGE_START_H_
#define PACKSMITH_RUNTIME_SIM_CONTEXTS_IMAGE_START_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/sim/streamer.h"
#include "runtime/tables/tables.h"

namespace packsmith::sim {

// What an image held.
struct InheritedState {
  size_t registers = 0;
  // That set state; `bytes` are those of the list, and `at` is where they begin in it.
  struct Packet {
    const tables::Container* container;
    uint64_t at;
    absl::Span<const uint8_t> bytes;
  };
  std::vector<Packet> packets = {};
};

// Gives the streamer the values of the registers in an image, and the packets in it that set state.
// `list` begins after the image's status page; `engine` is a name of the engine, which may have a
// number. InvalidArgument: it is not an image; NotFound: the generation has no such engine.
absl::StatusOr<InheritedState> StartFromImage(const tables::Tables& tables,
                                              absl::string_view engine,
                                              absl::Span<const uint8_t> list, Streamer& streamer);

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_CONTEXTS_IMAGE_START_H_
