// Executes contexts with the command streamer: what Execlists runs.
//
//   StreamerRunner runner(description, memory, observer, {.engine = 0, .engine_base = 0x2000});
//   absl::StatusOr<Execlists> lists = Execlists::Make(description, memory, runner, {...});
#ifndef PACKSMITH_RUNTIME_SIM_CONTEXTS_STREAMER_RUNNER_H_
#define PACKSMITH_RUNTIME_SIM_CONTEXTS_STREAMER_RUNNER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "absl/strings/string_view.h"
#include "runtime/sim/contexts/ring_runner.h"
#include "runtime/sim/contexts/structure.h"
#include "runtime/sim/memory_access.h"
#include "runtime/sim/observer.h"
#include "runtime/sim/streamer.h"
#include "runtime/tables/tables.h"

namespace packsmith::sim {

// Each context has a streamer of its own, which keeps what an image does not say: the batch that
// was preempted, and the state of the pipeline. What the image says wins.
class StreamerRunner : public RingRunner {
 public:
  // Contexts that are kept; beyond them the one that ran first begins anew.
  static constexpr size_t kMostContexts = 256;

  struct Options {
    StreamerOptions streamer;  // `own_space` is used unless `space_of` is given
    uint32_t engine_base = 0x2000;
    // The space of a context's own addresses, by the address of its image.
    std::function<uint32_t(uint64_t image)> space_of = {};
  };

  // All must outlive this.
  StreamerRunner(const tables::Tables& tables, MemoryAccess& memory, Observer& observer,
                 const Options& options);

  RunResult Run(uint64_t budget, bool yield) override;
  uint32_t ReadRegister(uint32_t offset, uint32_t occurrence) override;
  void WriteRegister(uint32_t offset, uint32_t value) override;
  void BeginContext(uint64_t image, bool fresh) override;

  // The context that is loaded; null before the first one.
  Streamer* streamer() { return current_ != nullptr ? current_->streamer.get() : nullptr; }

 private:
  struct Context {
    std::unique_ptr<Streamer> streamer;
    uint64_t began = 0;  // the number of the switch to it
    Streamer::Ring ring = {};
    bool entered = false;
  };
  // A register of this engine.
  struct Register {
    std::optional<Structure> structure;
    uint32_t offset = 0;  // 0: the generation does not have it
  };

  Register Find(absl::string_view name) const;
  uint64_t Get(const Register& from, absl::string_view field) const;
  // The ring that the registers describe.
  Streamer::Ring RingOfRegisters() const;
  void EnterRing();
  RingStop Execute(uint64_t budget, bool yield);
  // Executes the batches that the restored registers name: INDIRECT_CTX, then BB_PER_CTX_PTR.
  void FinishRestore();
  bool InBatch() const;
  // Whether the next command is one before which another context may take over.
  bool AtPreemptionPoint() const;

  const tables::Tables& tables_;
  MemoryAccess& memory_;
  Observer& observer_;
  const Options options_;
  const Register head_, tail_, start_, start_high_, control_, batch_, batch_high_, indirect_,
      per_context_;
  std::map<uint64_t, Context> contexts_;  // by image
  Context* current_ = nullptr;
  uint64_t switches_ = 0;
  bool restored_ = false;  // and what a restore executes has not been executed
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_CONTEXTS_STREAMER_RUNNER_H_
