// An engine that executes the ring of the context that is loaded.
#ifndef PACKSMITH_RUNTIME_SIM_CONTEXTS_RING_RUNNER_H_
#define PACKSMITH_RUNTIME_SIM_CONTEXTS_RING_RUNNER_H_

#include <cstdint>

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

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_CONTEXTS_RING_RUNNER_H_
