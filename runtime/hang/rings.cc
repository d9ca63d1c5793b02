#include "runtime/hang/rings.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "runtime/hang/engine_state.h"
#include "runtime/hang/ring_history.h"

namespace packsmith::hang {
namespace {

// Copies registers to the members that submissions have for them.
void Fill(const Stop& stop, Submission& submission) {
  if (stop.ring_head) submission.head = stop.ring_head->value;
  if (stop.ring_tail) submission.tail = stop.ring_tail->value;
  if (stop.active_head) submission.acthd = stop.active_head->value;
  if (stop.header) submission.ipehr = static_cast<uint32_t>(stop.header->value);
}

}  // namespace

void AddRings(const tables::Tables& tables, Dump& dump) {
  if (dump.error_state == nullptr) return;
  if (std::any_of(dump.submissions.begin(), dump.submissions.end(),
                  [](const Submission& one) { return one.ring.has_value(); })) {
    return;
  }
  std::vector<Submission> rings;
  const ErrorState& state = *dump.error_state;
  for (size_t i = 0; i < state.engines.size(); ++i) {
    const ErrorEngine& engine = state.engines[i];
    const Stop stop = StopOf(tables, state, engine);
    for (Submission& submission : dump.submissions) {
      if (submission.engine == engine.name && submission.kind == "batch") Fill(stop, submission);
    }
    if (!engine.ring_address || !stop.ring_head || !stop.ring_tail) continue;
    const Memory::Segment* found = dump.memory.Find(kGlobalSpace, *engine.ring_address);
    if (found == nullptr) continue;
    const uint64_t size = dump.memory.Resolve(*found).memory_size;
    const uint64_t head = stop.ring_head->value;
    const uint64_t tail = stop.ring_tail->value;
    if (size == 0) continue;
    if (head >= size || tail >= size) {
      dump.AddProblem(0, absl::StrFormat("the ring of %s has 0x%x bytes, its head is at 0x%x and "
                                         "its tail at 0x%x; it is not decoded",
                                         engine.name, size, head, tail));
      continue;
    }
    const uint64_t begin =
        FindRingPast(tables, dump, engine, *engine.ring_address, size, stop).begin;
    if (begin == tail) continue;
    Submission ring;
    ring.engine = engine.name;
    ring.context = static_cast<uint32_t>(i);
    ring.space = kGlobalSpace;
    ring.own_space = engine.space;
    ring.batch_address = *engine.ring_address + begin;
    ring.batch_length = (tail + size - begin) % size;
    ring.ring = Submission::Ring{*engine.ring_address, size};
    ring.kind = "ring";
    Fill(stop, ring);
    rings.push_back(std::move(ring));
  }
  dump.submissions.insert(dump.submissions.begin(), std::make_move_iterator(rings.begin()),
                          std::make_move_iterator(rings.end()));
  for (size_t i = 0; i < dump.submissions.size(); ++i) {
    dump.submissions[i].index = static_cast<uint32_t>(i);
  }
}

}  // namespace packsmith::hang
