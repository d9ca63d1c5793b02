// Random programs, executed by the streamer and by an interpreter that shares nothing with it: it
// knows the packets of Gfx9 by their bits.
#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tests/sim/naive.h"
#include "tests/sim/world.h"

namespace packsmith::sim {
namespace {

constexpr uint32_t kBatch = 0x10000, kCalled = 0x18000, kData = 0x20000, kDataDwords = 32;

class Program {
 public:
  explicit Program(uint64_t seed) : random_(seed) {}

  // The first-level batch, and the second-level one that it may call.
  void Make() {
    called_ = Body(kCalled, 1 + random_() % 4, false);
    called_.push_back(kEnd);
    batch_ = Body(kBatch, 3 + random_() % 20, true);
    batch_.push_back(kEnd);
    data_.resize(kDataDwords);
    for (uint32_t& word : data_) word = Value();
  }
  const std::vector<uint32_t>& batch() const { return batch_; }
  const std::vector<uint32_t>& called() const { return called_; }
  const std::vector<uint32_t>& data() const { return data_; }

 private:
  uint32_t Value() { return random_() % 2 == 0 ? random_() % 4 : static_cast<uint32_t>(random_()); }
  uint32_t Register() {
    // General-purpose registers, the predicate's, and RESULT_1.
    constexpr uint32_t kSome[] = {0x2400, 0x2404, 0x2408, 0x240c, 0x2418, 0x241c};
    return random_() % 3 == 0 ? kSome[random_() % 6]
                              : kGpr + 4 * static_cast<uint32_t>(random_() % 32);
  }
  uint32_t Address() { return kData + 4 * static_cast<uint32_t>(random_() % kDataDwords); }
  uint32_t QwordAddress() {
    return kData + 8 * static_cast<uint32_t>(random_() % (kDataDwords / 2));
  }
  uint32_t Instruction() {
    const auto r = [&] { return static_cast<uint32_t>(random_() % 16); };
    constexpr uint32_t kResults[] = {0x31, 0x32, 0x33};
    const uint32_t source = 0x20 + static_cast<uint32_t>(random_() % 2);
    switch (random_() % 8) {
      case 0:
      case 1:
        return AluWord(0x080, source, r());
      case 2:
        return AluWord(0x480, source, r());
      case 3:
        return AluWord(random_() % 2 == 0 ? 0x081 : 0x481, source);
      case 4:
      case 5:
        return AluWord(0x100 + static_cast<uint32_t>(random_() % 5));
      case 6:
        return AluWord(0x180, r(), kResults[random_() % 3]);
      default:
        return AluWord(0x580, r(), kResults[random_() % 3]);
    }
  }
  std::vector<uint32_t> Body(uint32_t at, uint64_t count, bool first_level) {
    std::vector<uint32_t> out;
    for (uint64_t i = 0; i < count; ++i) {
      std::vector<uint32_t> one;
      switch (random_() % (first_level ? 14 : 10)) {
        case 0:
        case 1:
          one = LoadImmediate(Register(), Value());
          break;
        case 2:
          one = LoadMemory(Register(), Address());
          break;
        case 3:
          one = StoreRegister(Address(), Register(), random_() % 2 == 0);
          break;
        case 4:
          one = CopyRegister(Register(), Register());
          break;
        case 5:
          one = random_() % 2 == 0 ? StoreDword(Address(), Value())
                                   : StoreQword(QwordAddress(), random_());
          break;
        case 6:
          one = CopyMemory(Address(), Address());
          break;
        case 7: {
          std::vector<uint32_t> instructions;
          for (uint64_t n = 1 + random_() % 12; n != 0; --n) instructions.push_back(Instruction());
          one = Math(instructions);
          break;
        }
        case 8: {
          constexpr uint32_t kLoads[] = {0, 2, 3};
          one = {0x06000000 | kLoads[random_() % 3] << 6 |
                 static_cast<uint32_t>(random_() % 4) << 3 | static_cast<uint32_t>(random_() % 3)};
          break;
        }
        case 9: {
          const auto opcode = static_cast<uint32_t>(1 + random_() % 15);
          const bool wide = random_() % 2 == 0;
          one = {0x17800001 | (opcode + (wide ? 0x20 : 0)) << 8 | (wide ? 1u << 19 : 0) |
                     static_cast<uint32_t>(random_() % 2) << 16,
                 QwordAddress(), 0};
          break;
        }
        case 10:
          one = Jump(kCalled, kSecondLevel | (random_() % 2 == 0 ? kPredicated : 0));
          break;
        case 11:
          // Continue when memory is greater.
          one = {0x1b200002, Value(), QwordAddress(), 0};
          break;
        default: {
          // Over some garbage, which is executed where the predicate forbids the jump.
          const uint32_t skipped = static_cast<uint32_t>(random_() % 3);
          const auto here = static_cast<uint32_t>(at + 4 * out.size());
          one = Jump(here + 4 * (3 + skipped), random_() % 2 == 0 ? kPredicated : 0);
          one.resize(one.size() + skipped, kNoop);
          break;
        }
      }
      out.insert(out.end(), one.begin(), one.end());
    }
    return out;
  }

  std::mt19937_64 random_;
  std::vector<uint32_t> batch_, called_, data_;
};

TEST(RandomPrograms, LeaveTheSameMemoryAndRegistersAsTheNaiveInterpreter) {
  constexpr uint64_t kPrograms = 10000;
  uint64_t stores = 0;
  for (uint64_t seed = 0; seed < kPrograms; ++seed) {
    Program program(seed);
    program.Make();
    Naive naive;
    const auto fill = [&](uint32_t at, const std::vector<uint32_t>& words) {
      for (size_t i = 0; i < words.size(); ++i) naive.memory[at + 4 * i] = words[i];
    };
    fill(kBatch, program.batch());
    fill(kCalled, program.called());
    fill(kData, program.data());
    ASSERT_TRUE(naive.Run(kBatch, 10000)) << seed;

    World world("gfx9");
    world.Put(kBatch, program.batch());
    world.Put(kCalled, program.called());
    world.Put(kData, program.data());
    ASSERT_EQ(world.Run(kBatch), Stop::kEnded) << seed;
    for (uint32_t i = 0; i < kDataDwords; ++i) {
      ASSERT_EQ(world.Read32(kData + 4 * i), naive.memory[kData + 4 * i])
          << "program " << seed << ", dword " << i;
      stores += naive.memory[kData + 4 * i] != program.data()[i] ? 1 : 0;
    }
    for (uint32_t offset = 0x2400; offset < 0x2680; offset += 4) {
      if (offset == 0x2410 || offset == 0x2414) continue;
      ASSERT_EQ(world.streamer().registers().Read(offset), naive.registers[offset])
          << "program " << seed << ", register " << std::hex << offset;
    }
    ASSERT_TRUE(world.problems().empty()) << seed << " " << world.problems()[0].text;
  }
  EXPECT_GT(stores, 10000u);
}

}  // namespace
}  // namespace packsmith::sim
