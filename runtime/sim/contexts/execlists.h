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

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/dump/memory.h"
#include "runtime/sim/contexts/context_image.h"
#include "runtime/sim/contexts/structure.h"
#include "runtime/sim/memory_access.h"
#include "runtime/tables/tables.h"

namespace packsmith::sim {

// Why a ring is not executed any further.
enum class RingStop : uint8_t {
  kDrained,      // the head has reached the tail
  kPreemptible,  // another context may take over here, and the caller wanted to know
  kWaiting,      // nothing goes on until memory or another engine changes; preemptible, too
  kBudget,       // the commands that were allowed have been executed
  kFault,        // the next command cannot be executed
};

struct RunResult {
  RingStop stop = RingStop::kDrained;
  uint64_t commands = 0;  // executed
};

// An engine that has one context loaded, and executes its ring.
class RingRunner {
 public:
  virtual ~RingRunner() = default;

  // Executes at most `budget` commands of the ring, from its head on, with the batches that they
  // start. If `yield`, stops at the first point where a context can be preempted, before the
  // command there is executed.
  virtual RunResult Run(uint64_t budget, bool yield) = 0;

  // Registers by their offsets. A register that is a stack (BB_STACK_WRITE_PORT) is in an image
  // several times: `occurrence` counts from 0.
  virtual uint32_t ReadRegister(uint32_t offset, uint32_t occurrence) = 0;
  virtual void WriteRegister(uint32_t offset, uint32_t value) = 0;

  // Before the registers of a context are loaded. State that is not in registers belongs to the
  // context whose image is at `image`: it is as it was when that context ran last, or has its
  // defaults if `fresh`.
  virtual void BeginContext(uint64_t /*image*/, bool /*fresh*/) {}
};

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

  // The buffer of events: `last` is the index of the last one.
  size_t entries() const { return events_.size(); }
  size_t last() const { return last_; }
  uint64_t event(size_t index) const { return events_[index]; }
  uint64_t events_written() const { return events_written_; }

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

  // Why the engine goes from one context to another.
  enum class Reason : uint8_t { kStart, kNext, kEnd, kPreempted, kLiteRestore };

  // Offsets of registers; 0: the generation does not have it.
  struct Offsets {
    uint32_t elsp = 0, control = 0, status = 0, status_high = 0, lrca = 0, pointer = 0;
    std::vector<uint32_t> queue, buffer;
  };

  Execlists(const tables::Tables& tables, MemoryAccess& memory, RingRunner& runner,
            const Options& options, const Structure& descriptor, const Structure& status,
            const Structure& page);

  absl::Status FindRegisters();
  absl::Status FindEntries();
  uint32_t OffsetOf(absl::string_view name) const;
  size_t MostElements() const;

  uint64_t ImageOf(uint64_t descriptor) const;
  bool Flag(uint64_t descriptor, absl::string_view field) const;
  // What events call the context.
  uint64_t IdOf(uint64_t descriptor) const;

  struct Image;
  absl::StatusOr<Image> ReadImage(uint64_t address, uint64_t bytes) const;
  bool HasRingPage(const Image& image, uint64_t* address) const;
  absl::Status Restore(uint64_t descriptor);
  absl::Status RestoreTail(uint64_t descriptor);
  absl::Status Save(uint64_t descriptor);
  absl::Status SaveList(uint64_t address, const Image& image, bool clears_inhibit);

  absl::Status Begin(List list, Reason reason, uint64_t away);
  absl::Status Complete();
  absl::Status Preempt();
  void Report(Reason reason, uint64_t to, uint64_t away);
  void WriteEvent(uint64_t event);
  uint32_t StatusDword() const;

  tables::Tables tables_;
  MemoryAccess* memory_;
  RingRunner* runner_;
  Options options_;
  Structure descriptor_, status_, page_;
  Offsets offsets_;
  StructureField last_field_;            // of the status page
  std::vector<uint32_t> entry_offsets_;  // in the status page, in bytes

  std::optional<List> running_, pending_;
  int next_slot_ = 0;
  absl::InlinedVector<uint32_t, 4> port_;  // writes to ELSP that are not a submission yet
  std::vector<uint32_t> queue_;            // dwords of the submit queue
  std::vector<uint64_t> events_;
  size_t last_ = 0;
  uint32_t read_pointer_ = 0;
  uint64_t events_written_ = 0;
  uint64_t last_reason_ = 0;  // the lower half of the last event, without a context
  std::vector<std::string> problems_;
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_CONTEXTS_EXECLISTS_H_
