// Programs in the packets that Naive knows, made of choices: random ones, or those of a fuzzer.
#ifndef PACKSMITH_TESTS_SIM_RANDOM_PROGRAM_H_
#define PACKSMITH_TESTS_SIM_RANDOM_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "tests/sim/world.h"

namespace packsmith::sim {

inline constexpr uint32_t kProgramBatch = 0x10000, kProgramCalled = 0x18000, kProgramData = 0x20000;
inline constexpr uint32_t kProgramDataDwords = 32;

struct Program {
  std::vector<uint32_t> batch;   // of the first level, at kProgramBatch
  std::vector<uint32_t> called;  // of the second level, at kProgramCalled
  std::vector<uint32_t> data;    // kProgramDataDwords, at kProgramData
};

class ProgramMaker {
 public:
  // A number below `below`; any number if that is 0.
  using Choose = std::function<uint64_t(uint64_t below)>;

  // Tame programs end, and write data only. Others also loop, jump into data and over packets, and
  // write themselves.
  ProgramMaker(Choose choose, bool tame) : choose_(std::move(choose)), tame_(tame) {}

  // Of `commands` commands in the first level.
  Program Make(uint64_t commands) {
    Program out;
    out.called = Body(kProgramCalled, 1 + choose_(4), false);
    out.called.push_back(kEnd);
    out.batch = Body(kProgramBatch, commands, true);
    out.batch.push_back(kEnd);
    out.data.resize(kProgramDataDwords);
    for (uint32_t& word : out.data) word = Value();
    return out;
  }

 private:
  uint32_t Below(uint64_t below) { return static_cast<uint32_t>(choose_(below)); }
  bool Coin() { return choose_(2) == 0; }

  uint32_t Value() {
    // The first dwords of packets, for programs that write themselves.
    constexpr uint32_t kHeads[] = {kNoop,      kEnd,       0x06000082, 0x0d000001,
                                   0x10000002, 0x11000001, 0x12000002, 0x14800002,
                                   0x15000001, 0x17000003, 0x17800701, 0x18800101};
    if (!tame_ && choose_(4) == 0) return kHeads[choose_(std::size(kHeads))];
    return Coin() ? Below(4) : Below(0);
  }
  uint32_t Register() {
    // General-purpose registers, the predicate's, and RESULT_1.
    constexpr uint32_t kSome[] = {0x2400, 0x2404, 0x2408, 0x240c, 0x2418, 0x241c};
    return choose_(3) == 0 ? kSome[choose_(std::size(kSome))] : kGpr + 4 * Below(32);
  }
  // In the program itself, rather in what comes next.
  uint32_t Own() {
    if (choose_(4) != 0) return here_ + 4 * Below(24);
    return (Coin() ? kProgramBatch : kProgramCalled) + 4 * Below(48);
  }
  uint32_t Target() {
    if (choose_(4) == 0) return Address();
    return Coin() ? kProgramBatch : kProgramCalled;
  }
  uint32_t Address() {
    if (!tame_ && choose_(3) == 0) return Own();
    return kProgramData + 4 * Below(kProgramDataDwords);
  }
  uint32_t QwordAddress() { return Address() & ~7u; }

  uint32_t Instruction() {
    constexpr uint32_t kResults[] = {0x31, 0x32, 0x33};
    const uint32_t source = 0x20 + Below(2);
    switch (choose_(8)) {
      case 0:
      case 1:
        return AluWord(0x080, source, Below(16));
      case 2:
        return AluWord(0x480, source, Below(16));
      case 3:
        return AluWord(Coin() ? 0x081 : 0x481, source);
      case 4:
      case 5:
        return AluWord(0x100 + Below(5));
      case 6:
        return AluWord(0x180, Below(16), kResults[choose_(3)]);
      default:
        return AluWord(0x580, Below(16), kResults[choose_(3)]);
    }
  }

  // At here_.
  std::vector<uint32_t> Packet(bool first_level) {
    switch (choose_(first_level ? (tame_ ? 14 : 16) : 10)) {
      case 0:
      case 1:
        return LoadImmediate(Register(), Value());
      case 2:
        return LoadMemory(Register(), Address());
      case 3:
        return StoreRegister(Address(), Register(), Coin());
      case 4:
        return CopyRegister(Register(), Register());
      case 5:
        return Coin() ? StoreDword(Address(), Value()) : StoreQword(QwordAddress(), choose_(0));
      case 6:
        return CopyMemory(Address(), Address());
      case 7: {
        std::vector<uint32_t> instructions;
        for (uint64_t n = 1 + choose_(12); n != 0; --n) instructions.push_back(Instruction());
        return Math(instructions);
      }
      case 8: {
        constexpr uint32_t kLoads[] = {0, 2, 3};
        return {0x06000000 | kLoads[choose_(3)] << 6 | Below(4) << 3 | Below(3)};
      }
      case 9: {
        const uint32_t opcode = 1 + Below(15);
        const bool wide = Coin();
        return {
            0x17800001 | (opcode + (wide ? 0x20 : 0)) << 8 | (wide ? 1u << 19 : 0) | Below(2) << 16,
            QwordAddress(), 0};
      }
      case 10:
        return Jump(kProgramCalled, kSecondLevel | (Coin() ? kPredicated : 0));
      case 11:
        // Continue when memory is greater.
        return {0x1b200002, Value(), QwordAddress(), 0};
      case 14:
      case 15:
        return Jump(Target(), (Coin() ? kPredicated : 0) | (Coin() ? kSecondLevel : 0));
      default: {
        // Over no-ops, which are executed where the predicate forbids the jump.
        const uint32_t skipped = Below(3);
        std::vector<uint32_t> out = Jump(here_ + 4 * (3 + skipped), Coin() ? kPredicated : 0);
        out.resize(out.size() + skipped, kNoop);
        return out;
      }
    }
  }

  std::vector<uint32_t> Body(uint32_t at, uint64_t count, bool first_level) {
    std::vector<uint32_t> out;
    for (uint64_t i = 0; i < count; ++i) {
      here_ = static_cast<uint32_t>(at + 4 * out.size());
      const std::vector<uint32_t> packet = Packet(first_level);
      out.insert(out.end(), packet.begin(), packet.end());
    }
    return out;
  }

  const Choose choose_;
  const bool tame_;
  uint32_t here_ = 0;
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_TESTS_SIM_RANDOM_PROGRAM_H_
