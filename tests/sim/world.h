// Memory, a streamer and what it told, for tests. Packets are written as dwords by hand.
#ifndef PACKSMITH_TESTS_SIM_WORLD_H_
#define PACKSMITH_TESTS_SIM_WORLD_H_

#include <cstdint>
#include <cstring>
#include <list>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "runtime/dump/memory.h"
#include "runtime/generations/generations.h"
#include "runtime/sim/overlay_memory.h"
#include "runtime/sim/streamer.h"
#include "runtime/sim/work.h"

namespace packsmith::sim {

class World : public Observer {
 public:
  explicit World(absl::string_view generation, StreamerOptions options = {})
      : tables_(*FindGeneration(generation)), options_(options) {}

  void Put(uint64_t address, std::vector<uint32_t> words, uint32_t space = 0) {
    const std::vector<uint32_t>& kept = kept_.emplace_back(std::move(words));
    const absl::Status mapped =
        base_.Map(space, address, {reinterpret_cast<const uint8_t*>(kept.data()), kept.size() * 4},
                  kept.size() * 4);
    ASSERT_TRUE(mapped.ok()) << mapped.message();
  }
  Streamer& streamer() {
    if (streamer_ == nullptr) {
      streamer_ = std::make_unique<Streamer>(tables_, memory_, options_, *this);
    }
    return *streamer_;
  }
  Stop Run(uint64_t address, uint64_t most = 10000) {
    streamer().EnterBatch(0, address);
    return streamer().Run(most);
  }
  uint32_t Read32(uint64_t address, uint32_t space = 0) const {
    uint32_t value = 0xdeadbeef;
    uint8_t bytes[4] = {};
    if (memory_.Read(space, address, bytes) == 4) std::memcpy(&value, bytes, 4);
    return value;
  }
  uint64_t Read64(uint64_t address) const {
    return Read32(address) | uint64_t{Read32(address + 4)} << 32;
  }

  void OnCommand(const Command& command) override {
    names_.emplace_back(tables_.string(command.container->name));
  }
  void OnSkipped(const Command& command) override {
    skipped_.emplace_back(tables_.string(command.container->name));
  }
  void OnWork(const Work& work) override {
    std::vector<int64_t> values;
    for (const Parameter& parameter : ParametersOf(tables_, work))
      values.push_back(parameter.value);
    works_.push_back(std::move(values));
  }
  void OnProblem(const Problem& problem) override { problems_.push_back(problem); }

  const tables::Tables& tables() const { return tables_; }
  OverlayMemory& memory() { return memory_; }
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<std::string>& skipped() const { return skipped_; }
  const std::vector<std::vector<int64_t>>& works() const { return works_; }
  const std::vector<Problem>& problems() const { return problems_; }

 private:
  const tables::Tables tables_;
  const StreamerOptions options_;
  std::list<std::vector<uint32_t>> kept_;
  Memory base_;
  OverlayMemory memory_{base_};
  std::unique_ptr<Streamer> streamer_;
  std::vector<std::string> names_, skipped_;
  std::vector<std::vector<int64_t>> works_;
  std::vector<Problem> problems_;
};

// Packets of Gfx8 and later, from the hardware manual's bit tables.
inline constexpr uint32_t kNoop = 0, kEnd = 0x05000000;
inline std::vector<uint32_t> LoadImmediate(uint32_t offset, uint32_t value) {
  return {0x11000001, offset, value};
}
inline std::vector<uint32_t> LoadMemory(uint32_t offset, uint32_t address) {
  return {0x14800002, offset, address, 0};
}
inline std::vector<uint32_t> StoreRegister(uint32_t address, uint32_t offset,
                                           bool predicated = false) {
  return {0x12000002 | (predicated ? 1u << 21 : 0), offset, address, 0};
}
inline std::vector<uint32_t> CopyRegister(uint32_t to, uint32_t from) {
  return {0x15000001, from, to};
}
inline std::vector<uint32_t> StoreDword(uint32_t address, uint32_t value) {
  return {0x10000002, address, 0, value};
}
inline std::vector<uint32_t> StoreQword(uint32_t address, uint64_t value) {
  return {0x10200003, address, 0, static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)};
}
inline std::vector<uint32_t> CopyMemory(uint32_t to, uint32_t from) {
  return {0x17000003, to, 0, from, 0};
}
inline constexpr uint32_t kSecondLevel = 1u << 22, kPredicated = 1u << 15;
inline std::vector<uint32_t> Jump(uint32_t address, uint32_t flags = 0) {
  return {0x18800101 | flags, address, 0};
}
inline std::vector<uint32_t> Math(const std::vector<uint32_t>& instructions) {
  std::vector<uint32_t> out = {0x0d000000 | static_cast<uint32_t>(instructions.size() - 1)};
  out.insert(out.end(), instructions.begin(), instructions.end());
  return out;
}
inline constexpr uint32_t AluWord(uint32_t opcode, uint32_t operand1 = 0, uint32_t operand2 = 0) {
  return opcode << 20 | operand1 << 10 | operand2;
}
inline constexpr uint32_t kGpr = 0x2600;

inline std::vector<uint32_t> Join(std::initializer_list<std::vector<uint32_t>> parts) {
  std::vector<uint32_t> out;
  for (const std::vector<uint32_t>& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

}  // namespace packsmith::sim

#endif  // PACKSMITH_TESTS_SIM_WORLD_H_
