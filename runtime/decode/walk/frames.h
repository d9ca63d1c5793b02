// Where the walk of a stream is: the batch, the batches that it calls, and the jumps that each has
// taken.
#ifndef PACKSMITH_RUNTIME_DECODE_WALK_FRAMES_H_
#define PACKSMITH_RUNTIME_DECODE_WALK_FRAMES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"

namespace packsmith::decode {

// Where a frame has been, and where else it might go.
struct Visited {
  // The frame's beginning and its jumps' targets (space, address), with the version of the stored
  // memory: a frame that returns to one of these repeats itself.
  absl::flat_hash_set<std::tuple<uint32_t, uint64_t, uint64_t>> seen;
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> been;      // (space, begin) to end
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> branches;  // (space, address) to the jump
};

struct Frame {
  uint32_t space;
  uint64_t address;
  uint64_t end;  // no packet begins at or after this
  uint32_t depth;
  uint64_t call = 0;      // where the frame began
  bool ring = false;      // a piece of a ring: it ends without a packet that ends it
  bool past_end = false;  // after its end: it stops where the memory does
  // The part of a ring that wraps to its beginning.
  uint64_t wrapped_begin = 0, wrapped_end = 0;
  uint64_t version = 0;      // of the stored memory when the frame began
  uint64_t begin = address;  // of the memory that has been decoded without a jump
  // On a path that begins at a jump which may have been taken, after the path that ignores the
  // jump. Ends where the frame has been before.
  bool branching = false;
  std::unique_ptr<Visited> visited = nullptr;  // from the first jump on

  // Bytes up to the end.
  uint64_t left() const { return end > address ? end - address : 0; }
  // Whether the frame has decoded what is there.
  bool HasBeen(uint32_t at_space, uint64_t at_address) const;
  // It continues there.
  void Go(uint32_t to_space, uint64_t to_address);
  // It jumps there, in memory of that version. False: it repeats itself.
  bool See(uint32_t to_space, uint64_t to_address, uint64_t memory_version);
  // The jump at `jump` may be taken. False: its target is decoded already.
  bool MayGo(uint32_t to_space, uint64_t to_address, uint64_t jump);
  // Its path has ended: it continues at the target of a jump that may be taken. Returns the jump's
  // address; empty: there is none left.
  std::optional<uint64_t> Branch();

  // Its jumps, from the first one on.
  Visited& Visits() {
    if (visited == nullptr) visited = std::make_unique<Visited>();
    return *visited;
  }
};

// Streams rarely call others; those that pointers point to are many, and short.
using Frames = absl::InlinedVector<Frame, 2>;

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_WALK_FRAMES_H_
