// The events that an engine reports about the contexts of its execution lists: a small ring in
// registers and in the hardware status page.
#ifndef PACKSMITH_RUNTIME_SIM_CONTEXTS_CONTEXT_STATUS_H_
#define PACKSMITH_RUNTIME_SIM_CONTEXTS_CONTEXT_STATUS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/sim/contexts/structure.h"
#include "runtime/sim/memory_access.h"
#include "runtime/tables/tables.h"

namespace packsmith::sim {

// Why an engine goes from one context to another.
enum class SwitchReason : uint8_t {
  kStart,        // from nothing to the first context of a list
  kNext,         // a context is complete, the next one of its list follows
  kEnd,          // the last context of a list is complete
  kPreempted,    // another list takes over
  kLiteRestore,  // another list takes over, whose first context is the one that runs
};

class ContextStatusBuffer {
 public:
  struct Options {
    uint32_t engine_class = 0;  // for events from Gfx12 on
    uint32_t engine_instance = 0;
    uint32_t space = 0;        // of the status page
    uint64_t status_page = 0;  // its address; 0: events are only in registers
  };

  // `memory` must outlive this. NotFound: the generation has no such events.
  static absl::StatusOr<ContextStatusBuffer> Make(const tables::Tables& tables,
                                                  MemoryAccess& memory, const Options& options);

  // Writes an event, then the index of the last entry. Descriptors; 0: no context. InvalidArgument:
  // an id does not fit; NotFound: there is no memory for the page. The registers have it then.
  absl::Status Report(SwitchReason reason, uint64_t to, uint64_t away);

  // The next event is entry 0.
  void Reset();

  size_t entries() const { return events_.size(); }
  size_t last() const { return last_; }  // the entry that was written last
  uint64_t event(size_t index) const { return events_[index]; }
  uint64_t written() const { return written_; }  // so far
  // The lower half of the last event, as EXECLIST_STATUS has a part of it; until Gfx11.
  uint64_t last_reason() const { return last_reason_; }

 private:
  ContextStatusBuffer(const tables::Tables& tables, MemoryAccess& memory, const Options& options,
                      const Structure& descriptor, const Structure& status, const Structure& page)
      : tables_(tables),
        memory_(&memory),
        options_(options),
        descriptor_(descriptor),
        status_(status),
        page_(page) {}

  absl::Status FindEntries();
  // Until Gfx11 an event has flags and one context, from Gfx12 on both contexts and a reason.
  absl::StatusOr<uint64_t> Flags(SwitchReason reason, uint64_t away);
  absl::StatusOr<uint64_t> Switch(SwitchReason reason, uint64_t to, uint64_t away) const;

  tables::Tables tables_;
  MemoryAccess* memory_;
  Options options_;
  Structure descriptor_, status_, page_;
  StructureField last_field_;            // of the status page
  std::vector<uint32_t> entry_offsets_;  // in the status page, in bytes
  std::vector<uint64_t> events_;
  size_t last_ = 0;
  uint64_t written_ = 0;
  uint64_t last_reason_ = 0;
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_CONTEXTS_CONTEXT_STATUS_H_
