// Memory as the parts of an engine see it: a read that comes too early gets the old bytes, where
// they are kept, and is reported.
#ifndef PACKSMITH_RUNTIME_SIM_SEEN_MEMORY_H_
#define PACKSMITH_RUNTIME_SIM_SEEN_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/sim/memory_access.h"
#include "runtime/sim/observer.h"
#include "runtime/sim/visibility/visibility_tracker.h"
#include "runtime/tables/tables.h"

namespace packsmith::sim {

class SeenMemory {
 public:
  // All arguments must outlive this. `engine`: index in the tables. Without `tracks` all is visible
  // at once.
  SeenMemory(const tables::Tables& tables, MemoryAccess& memory, Observer& observer,
             uint32_t engine, bool tracks)
      : tables_(tables),
        memory_(memory),
        observer_(observer),
        engine_(engine),
        rules_(tables),
        tracker_(rules_),
        tracks_(tracks && rules_.any()) {}
  SeenMemory(const SeenMemory&) = delete;
  SeenMemory& operator=(const SeenMemory&) = delete;

  // As MemoryAccess::Write(); `packet` wrote.
  size_t Write(tables::ClientKind writer, uint32_t space, uint64_t address,
               absl::Span<const uint8_t> bytes, const Command& packet);
  // As MemoryAccess::Read(); `packet` reads.
  size_t Read(tables::ClientKind reader, uint32_t space, uint64_t address, absl::Span<uint8_t> out,
              const Command& packet);
  // As if it had been read. `what`, if not empty, says what it is, for reports.
  void Look(tables::ClientKind reader, const MemoryRange& range, const Command& packet,
            absl::string_view what = {});
  // As if it had been written, by hardware that is not simulated.
  void Mark(tables::ClientKind writer, const MemoryRange& range, const Command& packet);

  // Whether nothing has been written that anybody might not see.
  bool idle() const { return tracker_.idle(); }
  bool tracks() const { return tracks_; }
  // Whether fetching a command there needs Look().
  bool MayBeEarly(tables::ClientKind reader, uint32_t space, uint64_t address,
                  uint64_t size) const {
    return tracker_.MayBeEarly(reader, {space, address, size});
  }

  void BeginFence(tables::CacheActions actions) { tracker_.BeginFence(actions); }
  void EndFence(tables::CacheActions actions) { tracker_.EndFence(actions); }
  // Between requests.
  void Synchronize();

 private:
  void Report(const EarlyRead& early, const Command& packet, absl::string_view what, bool is_read);

  const tables::Tables& tables_;
  MemoryAccess& memory_;
  Observer& observer_;
  const uint32_t engine_;
  const VisibilityRules rules_;
  VisibilityTracker tracker_;
  const bool tracks_;
  std::vector<uint8_t> old_;
  // What was reported: the writer's space, address and kind, and who read.
  absl::flat_hash_set<std::tuple<uint32_t, uint64_t, uint32_t, tables::ClientKind>> reported_;
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_SEEN_MEMORY_H_
