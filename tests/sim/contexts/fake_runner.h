// An engine for tests. Each dword of its ring is a command: 0 does nothing, kWait waits as long as
// `waiting`, kFault cannot be executed, any other number is added to CS_GPR0 and noted.
#ifndef PACKSMITH_TESTS_SIM_CONTEXTS_FAKE_RUNNER_H_
#define PACKSMITH_TESTS_SIM_CONTEXTS_FAKE_RUNNER_H_

#include <cstdint>
#include <map>
#include <vector>

#include "runtime/sim/contexts/ring_runner.h"
#include "tests/sim/contexts/fake_memory.h"

namespace packsmith::sim {

class FakeRunner : public RingRunner {
 public:
  static constexpr uint32_t kWait = 0xaaaaaaaa;
  static constexpr uint32_t kFault = 0xffffffff;
  static constexpr uint32_t kTail = 0x30, kHead = 0x34, kStart = 0x38, kControl = 0x3c;
  static constexpr uint32_t kGpr0 = 0x600;

  explicit FakeRunner(FakeMemory& memory, uint32_t base = 0x2000) : memory_(memory), base_(base) {}

  RunResult Run(uint64_t budget, bool yield) override {
    RunResult result;
    for (;;) {
      uint32_t& head = registers[base_ + kHead];
      if (head == registers[base_ + kTail]) return {RingStop::kDrained, result.commands};
      if (yield && arbitration) return {RingStop::kPreemptible, result.commands};
      if (result.commands == budget) return {RingStop::kBudget, result.commands};
      const uint32_t command = memory_.Dword(1, registers[base_ + kStart] + head);
      if (command == kWait && waiting) return {RingStop::kWaiting, result.commands};
      if (command == kFault) return {RingStop::kFault, result.commands};
      if (command != 0 && command != kWait) {
        registers[base_ + kGpr0] += command;
        executed.push_back(command);
      }
      const uint32_t bytes = (registers[base_ + kControl] & 0x1ff000) + 4096;
      head = (head + 4) % bytes;
      ++result.commands;
    }
  }

  uint32_t ReadRegister(uint32_t offset, uint32_t occurrence) override {
    return registers[offset] + occurrence;
  }
  void WriteRegister(uint32_t offset, uint32_t value) override { registers[offset] = value; }
  void BeginContext(uint64_t image, bool fresh) override {
    registers.clear();
    ++contexts;
    loaded = image;
    loaded_fresh = fresh;
  }

  std::map<uint32_t, uint32_t> registers;
  std::vector<uint32_t> executed;
  int contexts = 0;  // that were loaded
  uint64_t loaded = 0;
  bool loaded_fresh = false;
  bool arbitration = true;
  bool waiting = true;

 private:
  FakeMemory& memory_;
  const uint32_t base_;
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_TESTS_SIM_CONTEXTS_FAKE_RUNNER_H_
