// A command streamer: executes a ring or a batch on memory.
//
//   OverlayMemory memory(dump.memory);
//   Streamer streamer(tables, memory, {.engine = 0, .own_space = submission.space}, observer);
//   streamer.EnterBatch(submission.space, submission.batch_address);
//   Stop why = streamer.Run(1'000'000);
//
// What a packet does is what its <operation>, <flow>, <writes> and role in the XML say
// (docs/xml.md, Execution); the streamer knows no packet by name.
#ifndef PACKSMITH_RUNTIME_SIM_STREAMER_H_
#define PACKSMITH_RUNTIME_SIM_STREAMER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "runtime/sim/blit/blit_operation.h"
#include "runtime/sim/fetch_window.h"
#include "runtime/sim/memory_access.h"
#include "runtime/sim/observer.h"
#include "runtime/sim/plan.h"
#include "runtime/sim/predication.h"
#include "runtime/sim/registers.h"
#include "runtime/sim/saved_contexts.h"
#include "runtime/sim/seen_memory.h"
#include "runtime/sim/statistics.h"
#include "runtime/sim/used_memory.h"
#include "runtime/tables/packet_finder.h"
#include "runtime/tables/tables.h"

namespace packsmith::sim {

enum class Stop {
  kEnded,    // the batch, or the ring's contents
  kWaiting,  // for a change of memory or of a register; Run() tries again
  kFault,    // see Observer::OnProblem; Run() does nothing more
  kBudget,   // as many commands were executed as Run() was allowed to
};

struct Place {
  uint32_t space = 0;
  uint64_t address = 0;
};

struct StreamerOptions {
  uint32_t engine = 0;       // index in the tables
  bool all_engines = false;  // packets of all engines are executed
  uint32_t stream = 0;       // index in the tables
  uint32_t own_space = 0;    // the space of addresses that name no other
  // The hardware status pages, in the global space: global, and of the context. Empty: writes to
  // them are left out.
  std::optional<uint64_t> status_page = {}, context_status_page = {};
  // The entries of the global page table, where they can be written.
  struct PageTable {
    uint32_t space = 0;
    uint64_t address = 0;
    uint64_t entries = 0;
    uint32_t entry_bytes = 8;
  };
  std::optional<PageTable> global_table = {};
  uint32_t context = 0;  // the number that reports of performance counters give
  // Whether commands are fetched ahead as the hardware does it. Otherwise each is fetched when it
  // is executed.
  bool prefetch = true;
  // Bytes of destination pixels that all blits together go through. One that needs more stops.
  uint64_t most_blit_bytes = uint64_t{8} << 30;
  // The same of each.
  uint64_t most_bytes_of_a_blit = ~uint64_t{0};
  // Draws and dispatches that take their arguments from memory; further ones are left out.
  uint64_t most_indirect_draws = 1 << 22;
  // Whether reads before fences see old bytes and are reported. Otherwise all is visible at once.
  bool visibility = true;
  // Whether a command that reads or writes memory which is not mapped is a fault, at which the
  // simulation stops. Otherwise it reads zeros, and such writes are left out.
  bool unmapped_faults = false;
  // Not null: when it is true, Run() returns after the command, as if its commands were used up.
  const bool* pause = nullptr;
  // What registers that tell the time read. Empty: they count commands.
  std::function<uint64_t()> clock = {};
};

// The state of one context on one engine. Not thread-safe.
class Streamer {
 public:
  // All arguments must outlive the streamer.
  Streamer(const tables::Tables& tables, MemoryAccess& memory, const StreamerOptions& options,
           Observer& observer);
  ~Streamer();

  // Execution continues at the first command of a first-level batch. Registers and state stay. A
  // batch in the global space has privilege, as a ring has.
  void EnterBatch(uint32_t space, uint64_t address);
  // Execution continues at `head` of a ring, to `tail`: bytes from its beginning.
  struct Ring {
    uint64_t address = 0;  // in the global space
    uint64_t size = 0;
    uint64_t head = 0, tail = 0;
  };
  void EnterRing(const Ring& ring);
  // The ring has been given more; execution goes on where it was.
  void SetRingTail(uint64_t tail);

  // Executes a batch in the global space, then execution continues where it was. `bytes`: the batch
  // ends there, too; 0: only by itself. Predicates do not apply. Not kEnded: the batch did not end,
  // after at most `most` commands, and nothing can be executed any more.
  Stop RunAside(uint64_t address, uint64_t bytes, uint64_t most);
  // A packet was executed before, as far as it sets state; else false. Counts as a command.
  bool Inherit(const tables::Container& container, absl::Span<const uint8_t> packet);

  // What either writes to registers of the other's engine arrives there. Both must outlive it.
  void Connect(Streamer& other);

  // Executes at most `most` commands, skipped ones included.
  Stop Run(uint64_t most);

  Registers& registers() { return registers_; }
  const Registers& registers() const { return registers_; }
  uint64_t commands() const { return commands_; }
  // The position of the command that is executed next, or that has faulted.
  uint32_t space() const { return position_.space; }
  uint64_t address() const { return position_.address; }
  // Of the ring, after all that was executed.
  uint64_t ring_head() const { return ring_.head; }
  bool arbitration() const { return arbitration_; }
  bool pre_parser() const { return window_.enabled(); }
  bool privileged() const { return privileged_; }

  // The last packet of a kind that has been executed, for state; empty if there was none.
  absl::Span<const uint8_t> StateOf(const tables::Container& container) const;
  // The value of a leaf of that packet; empty if there was none.
  std::optional<uint64_t> StateValue(uint32_t container, uint32_t leaf) const;
  // Numbered in the order in which the packets were executed; 0 if there was none.
  uint64_t StateNumber(const tables::Container& container) const;

 private:
  friend class Execution;
  friend class ExecutedBlit;

  // Where a level continues.
  struct Return {
    Place place;
    bool privileged;
  };

  enum class Result { kDone, kWaiting, kFault };
  Result Step();
  Result Execute(const Plan& plan, absl::Span<const uint8_t> bytes);
  Result Follow(tables::FlowKind kind, std::optional<Place> target);
  // At most `size` bytes at the position; fewer: the rest is not mapped, or not in the ring.
  absl::Span<const uint8_t> Fetch(uint64_t size);
  void Advance(uint64_t bytes);
  void ReportStale(const tables::Container& container, absl::Span<const uint8_t> bytes);
  const Plan& PlanOf(const tables::Container& container);
  void KeepState(const Plan& plan, absl::Span<const uint8_t> bytes);
  // `position_` moves; the window is refilled there.
  void Jump(const Place& to);
  // The same, from the end of a command that says so.
  void Continue(const Place& to);
  void Leave(bool all_levels);
  uint64_t Levels() const;
  bool IsNoop() const;
  void Report(ProblemKind kind, std::string text, bool unmapped = false);
  // The command has read or written memory that is not mapped.
  void ReportUnmapped(std::string text);

  const tables::Tables& tables_;
  MemoryAccess& memory_;
  SeenMemory seen_;
  UsedMemory used_;
  const StreamerOptions options_;
  Observer& observer_;
  tables::PacketFinder finder_;
  Registers registers_;
  BlitUnit blits_;
  Statistics statistics_;
  FetchWindow window_;
  std::vector<std::unique_ptr<Plan>> plans_;  // by container
  std::vector<StatePacketBytes> states_;      // by container
  Ring ring_;
  bool in_ring_ = false;
  // Where the levels below the current one continue; levels are counted from the ring.
  std::vector<Return> returns_;
  Place position_;
  uint32_t level_ = 0;
  bool ended_ = true;
  bool failed_ = false;
  bool unmapped_ = false;  // the command at hand has faulted
  bool arbitration_ = true;
  // Of the current batch, and whether the one that the command starts has none.
  bool privileged_ = true, drops_privilege_ = false;
  Noop noop_;
  // Of contexts that are switched by command: their images.
  SavedContexts contexts_;
  std::optional<uint64_t> context_;
  std::vector<Streamer*> connected_;
  uint64_t commands_ = 0, works_ = 0, indirect_draws_left_;
  std::vector<uint8_t> patched_, ring_bytes_;
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_STREAMER_H_
