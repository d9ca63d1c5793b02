// Shows packets that point to the same as earlier ones of their shape.
//
// A trace's records are found by their pointers and compared one by one: the bits that identify
// this trace, what each record sets, and what others remember of it, in the same order. If all of
// it holds, the result is known, and is shown at once. If anything differs, the state is rolled
// back, and the packet is shown normally.
#ifndef PACKSMITH_RUNTIME_DECODE_TRACE_PLAYER_H_
#define PACKSMITH_RUNTIME_DECODE_TRACE_PLAYER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/types/span.h"
#include "runtime/decode/trace/trace.h"
#include "runtime/decode/walk/observer.h"
#include "runtime/decode/walk/record_shower.h"
#include "runtime/decode/walk/walk.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

class TracePlayer {
 public:
  // `walk` must outlive this.
  explicit TracePlayer(Walk& walk) : walk_(walk), tables_(walk.tables) {}

  // Shows a packet and all that it points to by one of its shape's traces. `bytes` are the
  // packet's, and more. False: none of them fits, and nothing has changed.
  bool Play(Shape& shape, const Shown& packet, absl::Span<const uint8_t> bytes);
  // Adds a trace to a shape, or replaces one.
  void Keep(Shape& shape, std::unique_ptr<Trace> trace);

 private:
  // The place of a record: one piece of memory, which may be longer than the record.
  struct Place {
    uint32_t space = 0;
    uint64_t address = 0;
    absl::Span<const uint8_t> bytes;
  };

  // Fills places_ from the second one on, and applies the records' effects to the state.
  bool FindAll(Trace& trace);
  // Finds one of them, which is not the first.
  bool FindPlace(const Trace& trace, size_t index);
  // Lets fields of the guard vary. False: the record is a different one.
  bool Widen(Trace& trace, size_t index);
  // Whether no other packet has such an opcode.
  static bool IsItself(const Guard& guard, absl::Span<const uint8_t> bytes);
  // Tests the guard's other conditions, and applies the record's effects to the state.
  bool HasMore(Trace& trace, size_t index);
  // Whether earlier packets have what was read of them.
  bool HasRead(absl::Span<const Guard::StateRead> all) const;
  // Whether the memory has the guard's program.
  bool IsCodeOf(Guard& guard, const Place& place);
  // The target of a pointer whose meaning depends on states, or that is not plain. Its base is not
  // known if its meaning has changed.
  Target ChosenTarget(const Trace& trace, size_t index) const;
  void Show(Trace& trace, const Shown& packet);

  Walk& walk_;
  const tables::Tables& tables_;
  uint64_t last_number_ = 0;
  std::array<Place, Trace::kMostGuards> places_;
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_TRACE_PLAYER_H_
