// The writer's side of a ring buffer, from which an engine reads commands.
//
//   Ring ring(memory, kGlobalSpace, 0x100000, 16384);
//   absl::StatusOr<uint32_t> tail = ring.Write(request, head);   // then: RING_TAIL = *tail
#ifndef PACKSMITH_RUNTIME_SIM_CONTEXTS_RING_H_
#define PACKSMITH_RUNTIME_SIM_CONTEXTS_RING_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/sim/memory_access.h"

namespace packsmith::sim {

// Offsets are in bytes from the ring's start. Commands are in [head, tail), and head == tail means
// that there are none. A request is never torn by the ring's end: the rest is filled with MI_NOOPs,
// and it begins at offset 0.
class Ring {
 public:
  static constexpr uint32_t kMostBytes = 2u << 20;
  // Bytes before the head that are never written: the engine has fetched the head's cache line, and
  // a tail that catches up with the head would say that the ring is empty.
  static constexpr uint32_t kReserve = 64;

  // `bytes`: a power of two, from 4096 to kMostBytes. `memory` must outlive this.
  static absl::StatusOr<Ring> Make(MemoryAccess& memory, uint32_t space, uint64_t address,
                                   uint32_t bytes);

  // The largest request in bytes: it fits whatever fills the end before it.
  uint32_t most_bytes() const { return bytes_ / 2 - kReserve; }

  uint64_t address() const { return address_; }
  uint32_t size() const { return bytes_; }
  // The end of what was written; a multiple of 8.
  uint32_t tail() const { return tail_; }

  // Bytes that can be written while the engine is at `head`. A request may take more than its size,
  // see Needed().
  uint32_t Free(uint32_t head) const;
  // Bytes that a request of `dwords` takes, with what pads it to a multiple of 8 bytes and
  // with what fills the ring's end.
  uint32_t Needed(size_t dwords) const;

  // Appends a request. Returns the new tail. ResourceExhausted: there is no room before the engine
  // has read more; InvalidArgument: the request is larger than most_bytes(), or `head` is outside;
  // NotFound: the ring's memory does not exist. Then the tail is unchanged.
  absl::StatusOr<uint32_t> Write(absl::Span<const uint32_t> dwords, uint32_t head);

  // The ring is empty, and the next request is written at `tail`, a multiple of 8 inside the ring.
  absl::Status Reset(uint32_t tail = 0);

 private:
  Ring(MemoryAccess& memory, uint32_t space, uint64_t address, uint32_t bytes)
      : memory_(&memory), space_(space), address_(address), bytes_(bytes) {}

  MemoryAccess* memory_;
  uint32_t space_;
  uint64_t address_;
  uint32_t bytes_;
  uint32_t tail_ = 0;
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_CONTEXTS_RING_H_
