// Execution lists: how contexts are given to an engine, which of them runs, and what the engine
// reports about it.
//
//   Execlists lists = *Execlists::Make(description, memory, runner, {.status_page = 0x10000});
//   status = lists.Submit({descriptor});                 // or by WriteRegister(), as drivers do
//   while (lists.Run(1000) == EngineState::kBusy) { ... }
//
// Source of the order of events: the model of an engine in Linux, drivers/gpu/drm/i915/gvt
// (Gfx8 to Gfx11); what drivers accept, gt/intel_execlists_submission.c (from Gfx12 on).
#ifndef PACKSMITH_RUNTIME_SIM_CONTEXTS_EXECLISTS_H_
#define PACKSMITH_RUNTIME_SIM_CONTEXTS_EXECLISTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/dump/memory.h"
#include "runtime/sim/contexts/context_status.h"
#include "runtime/sim/contexts/context_switch.h"
#include "runtime/sim/contexts/execlist_registers.h"
#include "runtime/sim/contexts/ring_runner.h"
#include "runtime/sim/contexts/structure.h"
#include "runtime/sim/memory_access.h"
#include "runtime/tables/tables.h"

namespace packsmith::sim {

enum class EngineState : uint8_t {
  kIdle,
  kBusy,     // the budget is used up
  kWaiting,  // RingStop::kWaiting, and no list is pending
  kFault,
};

class Execlists {
 public:
  struct Options {
    uint32_t engine_base = 0x2000;
    absl::string_view engine = "render";  // whose commands context images consist of
    uint32_t engine_class = 0;            // for events from Gfx12 on
    uint32_t engine_instance = 0;
    uint32_t space = kGlobalSpace;  // of images and of the status page
    uint64_t status_page = 0;  // address of the hardware status page; 0: events only in registers
    uint64_t image_bytes = 4096;  // that are read of an image, after its status page
    // Whether a list with another context takes over at the next point of preemption; otherwise
    // when what runs is complete.
    bool preemption = true;
  };

  // `memory` and `runner` must outlive this. NotFound: the generation has no execution lists.
  static absl::StatusOr<Execlists> Make(const tables::Tables& tables, MemoryAccess& memory,
                                        RingRunner& runner, const Options& options);

  // A list of context descriptors. FailedPrecondition: a list is pending already; InvalidArgument:
  // the first descriptor is not valid, or there are too many; and errors of reading the first
  // context's image. Nothing has changed then.
  absl::Status Submit(absl::Span<const uint64_t> descriptors);

  // Executes at most `budget` commands, in as many contexts as they take. Errors of saving and
  // restoring contexts are in problems(), and the state is kFault.
  EngineState Run(uint64_t budget);

  bool idle() const { return !running_.has_value(); }
  bool pending() const { return pending_.has_value(); }
  // The descriptor that is executed; 0: none.
  uint64_t active() const;
  // All that were submitted and have neither completed nor been preempted.
  std::vector<uint64_t> Submitted() const;

  // What drivers write and read: submit ports, the submit queue, status. False or empty: another
  // register. An error is that of the submission which the write has caused.
  absl::StatusOr<bool> WriteRegister(uint32_t offset, uint32_t value);
  std::optional<uint32_t> ReadRegister(uint32_t offset) const;

  const ContextStatusBuffer& events() const { return events_; }

  // The engine is reset: nothing runs, nothing is saved, no event is reported.
  void Reset();

  // Misuse that hardware would not survive, and failures while running.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  struct List {
    absl::InlinedVector<uint64_t, 8> descriptors;
    size_t active = 0;
    int slot = 0;  // which of the two execution lists it is
    uint64_t now() const { return descriptors[active]; }
  };

  Execlists(RingRunner& runner, const Options& options, const Structure& descriptor,
            ContextStatusBuffer events, ExeclistRegisters registers, ContextSwitch contexts)
      : runner_(&runner),
        options_(options),
        descriptor_(descriptor),
        events_(std::move(events)),
        registers_(std::move(registers)),
        contexts_(std::move(contexts)) {}

  uint64_t ImageOf(uint64_t descriptor) const;
  bool Flag(uint64_t descriptor, absl::string_view field) const;

  absl::Status Begin(List list, SwitchReason reason, uint64_t away);
  absl::Status Complete();
  absl::Status Preempt();
  void Report(SwitchReason reason, uint64_t to, uint64_t away);
  void AddProblem(std::string text);

  RingRunner* runner_;
  Options options_;
  Structure descriptor_;
  ContextStatusBuffer events_;
  ExeclistRegisters registers_;
  ContextSwitch contexts_;

  std::optional<List> running_, pending_;
  int next_slot_ = 0;
  std::vector<std::string> problems_;
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_CONTEXTS_EXECLISTS_H_
