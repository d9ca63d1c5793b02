// The life of contexts as a driver lives it: created, pinned to addresses, given requests, switched
// by an engine, complete, unpinned, destroyed; or banned.
//
//   ContextPool pool = *ContextPool::Make(description, memory, lists, base);
//   const uint32_t id = *pool.Create({...});
//   status = pool.Pin(id, /*image=*/0x100000, /*ring=*/0x200000);
//   status = pool.Submit(id, dwords);
//   while (lists.Run(1000) == EngineState::kBusy) status = pool.HandleEvents();
#ifndef PACKSMITH_RUNTIME_SIM_CONTEXTS_CONTEXT_POOL_H_
#define PACKSMITH_RUNTIME_SIM_CONTEXTS_CONTEXT_POOL_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/sim/contexts/context_image.h"
#include "runtime/sim/contexts/execlists.h"
#include "runtime/sim/contexts/ring.h"
#include "runtime/sim/memory_access.h"
#include "runtime/tables/tables.h"

namespace packsmith::sim {

enum class ContextState : uint8_t {
  kCreated,    // has an image, but no address
  kPinned,     // in memory, nothing to do
  kQueued,     // has requests that no engine has been given yet
  kSubmitted,  // an engine has it in a list
};

struct ContextInfo {
  ContextState state = ContextState::kCreated;
  bool banned = false;
  uint64_t image = 0;       // address in the global space, once pinned
  uint64_t descriptor = 0;  // as it is submitted
  uint32_t head = 0;        // in the image: as of the last switch
  uint32_t tail = 0;
};

// Contexts of one engine. Runs nothing itself: Execlists::Run() does.
class ContextPool {
 public:
  static constexpr size_t kMostContexts = 1024;

  // All must outlive this.
  static absl::StatusOr<ContextPool> Make(const tables::Tables& tables, MemoryAccess& memory,
                                          Execlists& lists, uint32_t space);

  // A context; its id is at least 1. `description.ring_bytes` must not be 0; the ring's address,
  // head and tail are set when it is pinned. Errors of MakeContextImage(); ResourceExhausted: there
  // are kMostContexts.
  absl::StatusOr<uint32_t> Create(const ContextDescription& description);

  // Writes the image and an empty ring to memory that exists. Addresses are multiples of 4096.
  // FailedPrecondition: it is pinned; NotFound: there is no memory.
  absl::Status Pin(uint32_t id, uint64_t image, uint64_t ring);

  // Appends commands to the context's ring, and gives the context to the engine as soon as that has
  // room. FailedPrecondition: not pinned, or banned; errors of Ring::Write() and of
  // Execlists::Submit().
  absl::Status Submit(uint32_t id, absl::Span<const uint32_t> dwords);

  // Reads the events that the engine has written, as drivers do, and submits what is queued.
  // DataLoss: an event does not fit what was submitted.
  absl::Status HandleEvents();

  // Nothing more of the context is executed: requests are refused, its queue is dropped, and if the
  // engine has it, the engine is reset and gets the other contexts again.
  absl::Status Ban(uint32_t id);

  // FailedPrecondition: it is submitted or queued.
  absl::Status Unpin(uint32_t id);
  // FailedPrecondition: it is pinned.
  absl::Status Destroy(uint32_t id);

  absl::StatusOr<ContextInfo> Info(uint32_t id) const;
  size_t size() const { return contexts_.size(); }

 private:
  struct Context {
    std::vector<uint8_t> bytes;  // while it is not pinned
    uint64_t image_bytes = 0;
    uint32_t ring_bytes = 0;
    PageTableKind levels = PageTableKind::kFourLevels;
    uint64_t image = 0;
    uint64_t descriptor = 0;
    std::optional<Ring> ring;
    std::optional<ContextImage> registers;
    bool banned = false;
    bool submitted = false;
    bool queued = false;
  };

  // What an event says, in either encoding.
  struct Event {
    bool takes_over = false;  // the submitted list has become the one that runs
    bool completes = false;   // the first context of the list that runs has completed
  };

  ContextPool(const tables::Tables& tables, MemoryAccess& memory, Execlists& lists, uint32_t space,
              const Structure& descriptor, const Structure& status);

  absl::StatusOr<Context*> FindPinned(uint32_t id);
  // Finds a register in the image: its description, and the address of its value.
  absl::StatusOr<std::pair<Structure, uint64_t>> Locate(const Context& context,
                                                        absl::string_view name) const;
  absl::StatusOr<uint32_t> ReadField(const Context& context, absl::string_view name,
                                     absl::string_view field) const;
  absl::Status WriteField(const Context& context, absl::string_view name, absl::string_view field,
                          uint64_t value);
  absl::StatusOr<uint64_t> DescriptorOf(uint32_t id, const Context& context) const;
  Event Understand(uint64_t event) const;
  absl::Status SubmitQueued();
  void Finish(uint32_t id);

  tables::Tables tables_;
  MemoryAccess* memory_;
  Execlists* lists_;
  uint32_t space_;
  Structure descriptor_, status_;
  std::map<uint32_t, Context> contexts_;
  uint32_t next_id_ = 1;
  std::deque<uint32_t> queue_;
  // What the engine has been given, by id.
  std::vector<uint32_t> inflight_, pending_;
  uint64_t events_read_ = 0;
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_CONTEXTS_CONTEXT_POOL_H_
