// What the kernel writes, as a function, beside packets of the runtime's packers.
#include "runtime/intel/generated_draws/generator.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "packsmith/pack.h"
#include "runtime/intel/batch/generated_draws.h"
#include "tests/intel/batch/tested.h"

namespace packsmith::intel {
namespace {

using Parameters = packsmith_generate_draws;

// Dwords at GPU addresses, between others that must remain.
class Arena {
 public:
  static constexpr uint64_t kAddress = 0x7f00'0000'1000;
  // Parameters, a count, numbers, draw ids, commands.
  static constexpr size_t kCount = 32, kNumbers = 64, kIds = 2048, kCommands = 2560, kEnd = 4608;

  explicit Arena(std::mt19937& random) : words_(kEnd) {
    for (uint32_t& word : words_) word = random();
  }
  uint64_t At(size_t word) const { return kAddress + 4 * word; }
  uint32_t* words(uint64_t address) { return words_.data() + (address - kAddress) / 4; }
  const std::vector<uint32_t>& all() const { return words_; }
  void Put(size_t word, absl::Span<const uint32_t> from) {
    std::copy(from.begin(), from.end(), words_.begin() + word);
  }
  void Put(const Parameters& parameters) {
    std::memcpy(words_.data(), &parameters, sizeof(parameters));
  }
  Parameters parameters() const {
    Parameters parameters;
    std::memcpy(&parameters, words_.data(), sizeof(parameters));
    return parameters;
  }
  bool Has(uint64_t address, uint32_t bytes) const {
    return address % 4 == 0 && address >= kAddress && address + bytes <= At(kEnd);
  }
  packsmith_gpu_memory memory() {
    return {this,
            [](void* context, uint64_t address, void* to, uint32_t bytes) {
              Arena& arena = *static_cast<Arena*>(context);
              if (!arena.Has(address, bytes)) return false;
              std::memcpy(to, arena.words(address), bytes);
              return true;
            },
            [](void* context, uint64_t address, const void* from, uint32_t bytes) {
              Arena& arena = *static_cast<Arena*>(context);
              if (!arena.Has(address, bytes)) return false;
              std::memcpy(arena.words(address), from, bytes);
              return true;
            }};
  }

 private:
  std::vector<uint32_t> words_;
};

template <class Gen>
class GeneratorTest : public testing::Test {
 protected:
  using G = typename Gen::Packets;
  using Draw = typename GeneratedDraw<Gen>::Packet;

  const packsmith_draw_generator& generator() const {
    const packsmith_draw_generator* found = packsmith_find_draw_generator(Gen::kName);
    EXPECT_NE(found, nullptr);
    return *found;
  }

  // A call of random kind: a pass of a ring, or one of the dispatches of a call in place.
  void Choose(Arena& arena) {
    Parameters p = {};
    p.flags = Below(64);
    p.items = 1 + Below(40);
    const uint32_t dispatches = 1 + Below(4), dispatch = Below(dispatches);
    p.draw_base = dispatch * p.items;
    p.max_draws = dispatches * p.items;
    if (Below(2)) p.max_draws = Below(p.max_draws + 1);
    p.stride = 4 * (5 + Below(4));
    p.indirect = arena.At(Arena::kNumbers) - uint64_t{p.draw_base} * p.stride;
    p.commands = arena.At(Arena::kCommands);
    p.draw_ids = arena.At(Arena::kIds);
    p.next_pass = 0xff00'0000 + 4 * Below(1000);
    p.end = 0xffff'ff00'0000 + 4 * Below(1000);
    p.instance_multiplier = 1 + Below(3);
    p.mocs = 1 + Below(127);
    p.base_buffer = Below(33);
    p.draw_id_buffer = Below(33);
    const uint32_t counts[] = {
        0, p.draw_base, p.draw_base + Below(p.items), p.draw_base + p.items, p.max_draws, ~0u};
    arena.Put(Arena::kCount, {counts[Below(6)]});
    if (Below(2)) p.count = arena.At(Arena::kCount);
    arena.Put(p);
  }

  static std::vector<uint32_t> Jump(uint64_t target) {
    std::vector<uint32_t> words(G::MI_BATCH_BUFFER_START::length);
    typename G::MI_BATCH_BUFFER_START jump{};
    jump.address_space_indicator = decltype(jump.address_space_indicator)(1);
    jump.batch_buffer_start_address = address(target, 0);
    EXPECT_FALSE(jump.template pack<checks::on>(words.data()));
    return words;
  }

  // The draw's commands, by the runtime's packers.
  static std::vector<uint32_t> Slot(const Parameters& p, uint32_t number, uint64_t at,
                                    const uint32_t* numbers, uint64_t id) {
    const bool indexed = p.flags & PACKSMITH_GENERATE_INDEXED;
    std::vector<uint32_t> words;
    using Buffers = typename G::_3DSTATE_VERTEX_BUFFERS;
    std::vector<typename Buffers::ps_item> items;
    const auto add = [&](uint32_t index, uint64_t address_of, uint32_t bytes) {
      typename Buffers::ps_item item{};
      item.vertex_buffer_index = index;
      item.address_modify_enable = true;
      item.mocs = p.mocs;
      item.buffer_starting_address = address(address_of, 0);
      item.buffer_size = bytes;
      if constexpr (requires { item.l3_bypass_disable; }) item.l3_bypass_disable = true;
      items.push_back(item);
    };
    if (p.flags & PACKSMITH_GENERATE_BASE) add(p.base_buffer, at + (indexed ? 12 : 8), 8);
    if (p.flags & PACKSMITH_GENERATE_DRAW_ID) add(p.draw_id_buffer, id, 4);
    if (!items.empty()) {
      words.resize(Buffers::dwords_needed(items.size()));
      EXPECT_FALSE(Buffers().template pack<checks::on>(
          words.data(), {items.data(), static_cast<unsigned>(items.size())}));
    }
    Draw draw{.vertex_count_per_instance = numbers[0],
              .start_vertex_location = numbers[2],
              .instance_count = numbers[1] * p.instance_multiplier};
    draw.predicate_enable = (p.flags & PACKSMITH_GENERATE_PREDICATED) != 0;
    if (indexed) {
      draw.vertex_access_type = decltype(draw.vertex_access_type)(1);
      draw.base_vertex_location = static_cast<int32_t>(numbers[3]);
    }
    draw.start_instance_location = numbers[indexed ? 4 : 3];
    if constexpr (requires { draw.tbimr_enable; }) {
      draw.tbimr_enable = (p.flags & PACKSMITH_GENERATE_TBIMR) != 0;
    }
    if constexpr (requires { draw.extended_parameter_0; }) {
      draw.extended_parameter_0 = numbers[indexed ? 3 : 2];
      draw.extended_parameter_1 = numbers[indexed ? 4 : 3];
      draw.extended_parameter_2 = number;
    }
    words.resize(words.size() + Draw::length);
    EXPECT_FALSE(draw.template pack<checks::on>(words.data() + words.size() - Draw::length));
    return words;
  }

  // What all items of a dispatch leave, told from its draws in order.
  void Expect(Arena& arena) {
    const Parameters p = arena.parameters();
    uint32_t draws = p.max_draws;
    if (p.count != 0) draws = std::min(draws, arena.all()[Arena::kCount]);
    const bool ring = p.flags & PACKSMITH_GENERATE_RING;
    size_t to = Arena::kCommands;
    uint32_t number = p.draw_base, item = 0;
    for (; item < p.items && number < draws; ++item, ++number) {
      const uint64_t at = p.indirect + uint64_t{number} * p.stride;
      const uint64_t id = p.draw_ids + 4 * item;
      if (p.flags & PACKSMITH_GENERATE_DRAW_ID) *arena.words(id) = number;
      const std::vector<uint32_t> slot = Slot(p, number, at, arena.words(at), id);
      arena.Put(to, slot);
      to += slot.size();
    }
    if (item < p.items || (ring && number == draws)) {
      arena.Put(to, Jump(p.end));
    } else if (ring) {
      arena.Put(to, Jump(p.next_pass));
    }
  }

  uint32_t Below(uint32_t n) { return random_() % n; }

  std::mt19937 random_{20};
};
TYPED_TEST_SUITE(GeneratorTest, Generations);

TYPED_TEST(GeneratorTest, ASlotIsAsLargeAsTheRuntimeSays) {
  for (uint32_t buffers : {0u, PACKSMITH_GENERATE_BASE, PACKSMITH_GENERATE_DRAW_ID,
                           PACKSMITH_GENERATE_BASE | PACKSMITH_GENERATE_DRAW_ID}) {
    const uint32_t number = (buffers & PACKSMITH_GENERATE_BASE ? 1 : 0) +
                            (buffers & PACKSMITH_GENERATE_DRAW_ID ? 1 : 0);
    EXPECT_EQ(this->generator().slot_dwords(buffers), GeneratedDraw<TypeParam>::Dwords(number));
  }
}

TYPED_TEST(GeneratorTest, ItWritesWhatThePackersWriteAndNothingElse) {
  for (unsigned i = 0; i < 600; ++i) {
    Arena arena(this->random_);
    this->Choose(arena);
    const Parameters p = arena.parameters();
    SCOPED_TRACE(testing::Message() << "case " << i << ", flags " << p.flags);
    Arena expected = arena;
    this->Expect(expected);
    const packsmith_gpu_memory memory = arena.memory();
    // In any order, with the superfluous items of the last group.
    std::vector<uint32_t> items(p.items + 5);
    for (uint32_t item = 0; item < items.size(); ++item) items[item] = item;
    std::shuffle(items.begin(), items.end(), this->random_);
    for (uint32_t item : items) {
      ASSERT_TRUE(this->generator().generate_in(&memory, Arena::kAddress, item));
    }
    for (size_t word = 0; word < Arena::kEnd; ++word) {
      ASSERT_EQ(arena.all()[word], expected.all()[word]) << "dword " << word;
    }
  }
}

TYPED_TEST(GeneratorTest, InThisProgramsMemoryItDoesTheSame) {
  for (unsigned i = 0; i < 300; ++i) {
    Arena arena(this->random_);
    this->Choose(arena);
    Parameters p = arena.parameters();
    // The same words by their addresses here.
    const uint64_t here = reinterpret_cast<uintptr_t>(arena.words(Arena::kAddress));
    for (uint64_t Parameters::*member : {&Parameters::indirect, &Parameters::commands,
                                         &Parameters::draw_ids, &Parameters::count}) {
      if (p.*member != 0) p.*member += here - Arena::kAddress;
    }
    p.flags &= ~PACKSMITH_GENERATE_BASE & ~PACKSMITH_GENERATE_DRAW_ID;  // these hold addresses
    Parameters theirs = arena.parameters();
    theirs.flags = p.flags;
    arena.Put(theirs);
    Arena expected = arena;
    this->Expect(expected);
    for (uint32_t item = 0; item < p.items + 5; ++item) this->generator().generate(&p, item);
    ASSERT_EQ(arena.all(), expected.all()) << "case " << i;
  }
}

TYPED_TEST(GeneratorTest, ValuesThatDoNotFitAreCutAndChangeNothingElse) {
  Arena arena(this->random_);
  this->Choose(arena);
  Parameters p = arena.parameters();
  p.flags = PACKSMITH_GENERATE_BASE | PACKSMITH_GENERATE_DRAW_ID;
  p.items = p.max_draws = 1;
  p.indirect += uint64_t{p.draw_base} * p.stride;
  p.draw_base = 0;
  p.count = 0;
  Parameters fits = p;
  p.mocs |= 0xffffff80;
  p.base_buffer |= 0xffffffc0;
  p.draw_id_buffer |= 0xffffffc0;
  arena.Put(fits);
  Arena expected = arena;
  const packsmith_gpu_memory memory = arena.memory();
  ASSERT_TRUE(this->generator().generate_in(&memory, Arena::kAddress, 0));
  const packsmith_gpu_memory other = expected.memory();
  expected.Put(p);
  ASSERT_TRUE(this->generator().generate_in(&other, Arena::kAddress, 0));
  arena.Put(p);
  EXPECT_EQ(arena.all(), expected.all());
}

TYPED_TEST(GeneratorTest, AFailedAccessIsReported) {
  Arena arena(this->random_);
  this->Choose(arena);
  Parameters p = arena.parameters();
  p.flags = PACKSMITH_GENERATE_DRAW_ID | PACKSMITH_GENERATE_RING;
  p.items = p.max_draws = 2;
  p.indirect += uint64_t{p.draw_base} * p.stride;
  p.draw_base = 0;
  p.count = arena.At(Arena::kCount);
  arena.Put(Arena::kCount, {2});
  const packsmith_gpu_memory memory = arena.memory();
  const auto succeeds = [&](const Parameters& parameters) {
    arena.Put(parameters);
    return this->generator().generate_in(&memory, Arena::kAddress, 1);
  };
  EXPECT_TRUE(succeeds(p));
  for (uint64_t Parameters::*member :
       {&Parameters::indirect, &Parameters::commands, &Parameters::draw_ids, &Parameters::count}) {
    Parameters bad = p;
    bad.*member = arena.At(Arena::kEnd);
    EXPECT_FALSE(succeeds(bad));
  }
  // The slot is inside, the jump after it is not.
  Parameters bad = p;
  bad.commands = arena.At(Arena::kEnd) - 8 * this->generator().slot_dwords(p.flags);
  EXPECT_FALSE(succeeds(bad));
  EXPECT_FALSE(this->generator().generate_in(&memory, arena.At(Arena::kEnd), 1));
}

TYPED_TEST(GeneratorTest, OtherNamesHaveNoGenerator) {
  EXPECT_EQ(packsmith_find_draw_generator("gfx75"), nullptr);
  EXPECT_EQ(packsmith_find_draw_generator(""), nullptr);
}

}  // namespace
}  // namespace packsmith::intel
