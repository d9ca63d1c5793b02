// Execution lists: which context runs when, and the events that are reported, in both encodings.
#include "runtime/sim/contexts/execlists.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/generations/generations.h"
#include "tests/sim/contexts/fake_memory.h"
#include "tests/sim/contexts/fake_runner.h"

namespace packsmith::sim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint64_t kStatusPage = 0x8000;
constexpr uint64_t kImages = 0x100000;  // of context i: kImages + i * 0x10000
constexpr uint64_t kRings = 0x200000;

// Events until Gfx11: the lower half.
constexpr uint64_t kIdleToActive = 1;
constexpr uint64_t kPreempted = 2;
constexpr uint64_t kElementSwitch = 4;
constexpr uint64_t kActiveToIdle = 8;
constexpr uint64_t kComplete = 0x10;
constexpr uint64_t kLiteRestore = 0x8000;

struct World {
  FakeMemory memory;
  FakeRunner runner{memory};
  tables::Tables tables;
  std::unique_ptr<Execlists> lists;
  uint64_t seen = 0;  // events

  explicit World(const std::string& generation, bool preemption = true)
      : tables(*FindGeneration(generation)) {
    memory.Map(1, kStatusPage, 4096);
    absl::StatusOr<Execlists> made = Execlists::Make(
        tables, memory, runner, {.status_page = kStatusPage, .preemption = preemption});
    EXPECT_TRUE(made.ok()) << made.status();
    lists = std::make_unique<Execlists>(*std::move(made));
  }

  uint64_t ImageOf(uint64_t id) const { return kImages + id * 0x10000; }
  uint64_t RingOf(uint64_t id) const { return kRings + id * 0x10000; }

  // A context whose ring has the commands.
  void Add(uint64_t id, const std::vector<uint32_t>& commands, bool inhibit = false) {
    memory.Map(1, ImageOf(id), 0x2000);
    memory.Map(1, RingOf(id), 0x1000);
    ContextDescription description;
    description.ring_address = RingOf(id);
    description.ring_bytes = 4096;
    description.restore_inhibit = inhibit;
    const absl::StatusOr<std::vector<uint8_t>> image = MakeContextImage(tables, description);
    ASSERT_TRUE(image.ok()) << image.status();
    ASSERT_EQ(memory.Write(1, ImageOf(id), *image), image->size());
    Append(id, commands);
  }

  // More commands, as a driver adds them: also while the context runs.
  void Append(uint64_t id, const std::vector<uint32_t>& commands) {
    const uint64_t at = ImageOf(id) + 4096 + 7 * 4;
    uint32_t tail = memory.Dword(1, at);
    for (const uint32_t command : commands) {
      memory.Put(1, RingOf(id) + tail, command, 4);
      tail += 4;
    }
    memory.Put(1, at, tail, 4);
  }

  uint32_t HeadOf(uint64_t id) const { return memory.Dword(1, ImageOf(id) + 4096 + 5 * 4); }
  uint32_t TailOf(uint64_t id) const { return memory.Dword(1, ImageOf(id) + 4096 + 7 * 4); }

  // A descriptor with the id where the generation has it.
  uint64_t Descriptor(uint64_t id, uint64_t flags = 0) const {
    const Structure structure = *Structure::Find(tables, "CONTEXT_DESCRIPTOR");
    std::vector<uint8_t> bytes(8);
    StructureField field = structure.Field("Context ID");
    if (!field) field = structure.Field("Software Context ID");
    EXPECT_TRUE(structure.Set(absl::MakeSpan(bytes), field, id).ok());
    uint64_t value = 0;
    for (size_t i = 0; i < 8; ++i) value |= uint64_t{bytes[i]} << 8 * i;
    return value | ImageOf(id) | 0x119 | flags;
  }

  absl::Status Submit(const std::vector<uint64_t>& ids) {
    std::vector<uint64_t> descriptors;
    for (const uint64_t id : ids) descriptors.push_back(Descriptor(id));
    return lists->Submit(descriptors);
  }

  // What was reported since the last call, from memory, as a driver reads it.
  std::vector<uint64_t> Events() {
    const bool eleven = lists->events().entries() == 12;
    std::vector<uint64_t> events;
    const uint64_t entries = lists->events().entries();
    EXPECT_EQ(memory.Dword(1, kStatusPage + (eleven ? 0x2f : 0x1f) * 4), lists->events().last());
    for (; seen != lists->events().written(); ++seen) {
      events.push_back(memory.Qword(1, kStatusPage + 0x40 + seen % entries * 8));
    }
    return events;
  }
};

uint64_t Old(uint64_t bits, uint64_t id) { return bits | id << 32; }

// Gfx12: ids at bits 25:15 and 57:47.
uint64_t Gfx12(uint64_t to, uint64_t away, uint64_t new_queue, uint64_t detail) {
  return new_queue | to << 15 | detail << 32 | away << 47;
}

// Gfx12.5: ids at bits 25:10 and 57:42.
uint64_t Gfx125(uint64_t to, uint64_t away, uint64_t new_queue, uint64_t detail) {
  return detail | to << 10 | new_queue << 33 | away << 42;
}

constexpr uint64_t kNone12 = 0x7ff;
constexpr uint64_t kNone125 = 0xffff;

TEST(Execlists, AListRunsItsContextsInOrder) {
  World world("gfx9");
  world.Add(1, {1, 2, 3});
  world.Add(2, {10, 20});
  ASSERT_TRUE(world.Submit({1, 2}).ok());
  EXPECT_FALSE(world.lists->idle());
  EXPECT_EQ(world.lists->Run(1000), EngineState::kIdle);
  EXPECT_THAT(world.runner.executed, ElementsAre(1, 2, 3, 10, 20));
  EXPECT_THAT(
      world.Events(),
      ElementsAre(Old(kIdleToActive, 0), Old(kComplete | kElementSwitch, world.Descriptor(1) >> 32),
                  Old(kComplete | kActiveToIdle, 2)));
  EXPECT_EQ(world.HeadOf(1), 12u);
  EXPECT_EQ(world.HeadOf(2), 8u);
  EXPECT_THAT(world.lists->problems(), IsEmpty());
}

TEST(Execlists, TheSameContextIsOnlyGivenItsNewTail) {
  World world("gfx9");
  world.Add(1, {1, 2, 3});
  ASSERT_TRUE(world.Submit({1}).ok());
  EXPECT_EQ(world.lists->Run(2), EngineState::kBusy);
  world.Append(1, {4});
  ASSERT_TRUE(world.Submit({1}).ok());
  EXPECT_EQ(world.runner.contexts, 1);
  EXPECT_EQ(world.lists->Run(1000), EngineState::kIdle);
  EXPECT_THAT(world.runner.executed, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(world.Events(), ElementsAre(Old(kIdleToActive, 0), Old(kPreempted | kLiteRestore, 1),
                                          Old(kComplete | kActiveToIdle, 1)));
}

TEST(Execlists, TheSecondContextOfAListIsRestoredLightly) {
  World world("gfx8");
  world.Add(1, {1});
  world.Add(2, {2, 3, 4});
  world.Add(3, {5});
  ASSERT_TRUE(world.Submit({1, 2}).ok());
  EXPECT_EQ(world.lists->Run(3), EngineState::kBusy);
  ASSERT_TRUE(world.Submit({2, 3}).ok());
  EXPECT_EQ(world.lists->Run(1000), EngineState::kIdle);
  EXPECT_THAT(world.runner.executed, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(world.Events(),
              ElementsAre(Old(kIdleToActive, 0), Old(kComplete | kElementSwitch, 1),
                          Old(kPreempted | kLiteRestore, 2), Old(kComplete | kElementSwitch, 2),
                          Old(kComplete | kActiveToIdle, 3)));
}

TEST(Execlists, AForcedRestoreLoadsEverything) {
  World world("gfx9");
  world.Add(1, {1, 2, 3});
  ASSERT_TRUE(world.Submit({1}).ok());
  EXPECT_EQ(world.lists->Run(2), EngineState::kBusy);
  ASSERT_TRUE(world.lists->Submit({world.Descriptor(1, 4)}).ok());
  EXPECT_EQ(world.runner.contexts, 2);
  EXPECT_EQ(world.lists->Run(1000), EngineState::kIdle);
  EXPECT_THAT(world.runner.executed, ElementsAre(1, 2, 3));
  EXPECT_THAT(world.lists->problems(), IsEmpty());
}

TEST(Execlists, AnUnchangedTailIsReported) {
  World world("gfx9");
  world.Add(1, {1, 2, 3});
  ASSERT_TRUE(world.Submit({1}).ok());
  ASSERT_TRUE(world.Submit({1}).ok());
  ASSERT_EQ(world.lists->problems().size(), 1u);
  EXPECT_EQ(world.lists->problems()[0],
            "the context at 0x110000 was submitted again, and its ring's tail is where it was");
}

TEST(Execlists, AnotherContextPreemptsAtTheNextPoint) {
  World world("gfx9");
  world.Add(1, {1, 2, 3, 4});
  world.Add(2, {10});
  ASSERT_TRUE(world.Submit({1}).ok());
  EXPECT_EQ(world.lists->Run(2), EngineState::kBusy);
  ASSERT_TRUE(world.Submit({2}).ok());
  EXPECT_TRUE(world.lists->pending());
  EXPECT_EQ(world.lists->Run(1000), EngineState::kIdle);
  EXPECT_THAT(world.runner.executed, ElementsAre(1, 2, 10));
  EXPECT_EQ(world.HeadOf(1), 8u);
  ASSERT_TRUE(world.Submit({1}).ok());
  EXPECT_EQ(world.lists->Run(1000), EngineState::kIdle);
  EXPECT_THAT(world.runner.executed, ElementsAre(1, 2, 10, 3, 4));
  EXPECT_THAT(world.Events(), ElementsAre(Old(kIdleToActive, 0), Old(kPreempted, 1),
                                          Old(kComplete | kActiveToIdle, 2), Old(kIdleToActive, 0),
                                          Old(kComplete | kActiveToIdle, 1)));
}

TEST(Execlists, WithArbitrationOffThePendingListWaits) {
  World world("gfx9");
  world.Add(1, {1, 2, 3});
  world.Add(2, {10});
  world.runner.arbitration = false;
  ASSERT_TRUE(world.Submit({1}).ok());
  EXPECT_EQ(world.lists->Run(1), EngineState::kBusy);
  ASSERT_TRUE(world.Submit({2}).ok());
  EXPECT_EQ(world.lists->Run(1000), EngineState::kIdle);
  EXPECT_THAT(world.runner.executed, ElementsAre(1, 2, 3, 10));
  EXPECT_THAT(world.Events(),
              ElementsAre(Old(kIdleToActive, 0), Old(kComplete | kActiveToIdle, 1),
                          Old(kIdleToActive, 0), Old(kComplete | kActiveToIdle, 2)));
}

TEST(Execlists, WithoutPreemptionThePendingListWaitsForTheWholeList) {
  World world("gfx8", false);
  world.Add(1, {1, 2});
  world.Add(2, {3});
  world.Add(3, {4});
  ASSERT_TRUE(world.Submit({1, 2}).ok());
  ASSERT_TRUE(world.Submit({3}).ok());
  EXPECT_EQ(world.lists->Run(1000), EngineState::kIdle);
  EXPECT_THAT(world.Events(), ElementsAre(Old(kIdleToActive, 0), Old(kComplete | kElementSwitch, 1),
                                          Old(kComplete | kActiveToIdle, 2), Old(kIdleToActive, 0),
                                          Old(kComplete | kActiveToIdle, 3)));
}

TEST(Execlists, AThirdListIsRefused) {
  World world("gfx9");
  for (uint64_t id = 1; id <= 3; ++id) world.Add(id, {1, 2});
  ASSERT_TRUE(world.Submit({1}).ok());
  ASSERT_TRUE(world.Submit({2}).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(world.Submit({3})));
  EXPECT_EQ(world.lists->Submitted(),
            (std::vector<uint64_t>{world.Descriptor(1), world.Descriptor(2)}));
}

TEST(Execlists, AWaitEndsAtAPendingList) {
  World world("gfx9");
  world.Add(1, {1, FakeRunner::kWait, 2});
  world.Add(2, {10});
  ASSERT_TRUE(world.Submit({1}).ok());
  EXPECT_EQ(world.lists->Run(1000), EngineState::kWaiting);
  ASSERT_TRUE(world.Submit({2}).ok());
  EXPECT_EQ(world.lists->Run(1000), EngineState::kIdle);
  world.runner.waiting = false;
  ASSERT_TRUE(world.Submit({1}).ok());
  EXPECT_EQ(world.lists->Run(1000), EngineState::kIdle);
  EXPECT_THAT(world.runner.executed, ElementsAre(1, 10, 2));
}

TEST(Execlists, EventsOfGfx12NameBothContexts) {
  World world("gfx12");
  world.Add(1, {1, 2, 3});
  world.Add(2, {10, 20});
  world.Add(3, {30});
  ASSERT_TRUE(world.Submit({1, 2}).ok());
  EXPECT_EQ(world.lists->Run(1), EngineState::kBusy);
  world.Append(1, {4});
  ASSERT_TRUE(world.Submit({1, 2}).ok());
  EXPECT_EQ(world.lists->Run(3), EngineState::kBusy);
  ASSERT_TRUE(world.Submit({3}).ok());
  EXPECT_EQ(world.lists->Run(1000), EngineState::kIdle);
  EXPECT_THAT(world.runner.executed, ElementsAre(1, 2, 3, 4, 30));
  EXPECT_THAT(world.Events(),
              ElementsAre(Gfx12(1, kNone12, 1, 0), Gfx12(1, 1, 1, 5), Gfx12(2, 1, 0, 0),
                          Gfx12(3, 2, 1, 5), Gfx12(kNone12, 3, 0, 0)));
}

TEST(Execlists, EventsOfGfx125AndLaterAreArrangedOtherwise) {
  for (const char* generation : {"gfx125", "xe2", "xe3"}) {
    World world(generation);
    world.Add(1, {1, 2});
    world.Add(2, {10, 20});
    ASSERT_TRUE(world.Submit({1, 2}).ok());
    EXPECT_EQ(world.lists->Run(1000), EngineState::kIdle);
    EXPECT_THAT(world.Events(), ElementsAre(Gfx125(1, kNone125, 1, 0), Gfx125(2, 1, 0, 0),
                                            Gfx125(kNone125, 2, 0, 0)))
        << generation;
  }
}

TEST(Execlists, FourWritesToThePortAreASubmission) {
  World world("gfx9");
  world.Add(1, {1});
  world.Add(2, {2});
  const uint64_t first = world.Descriptor(1), second = world.Descriptor(2);
  for (const uint64_t value : {second >> 32, second, first >> 32}) {
    EXPECT_TRUE(*world.lists->WriteRegister(0x2230, static_cast<uint32_t>(value)));
    EXPECT_TRUE(world.lists->idle());
  }
  EXPECT_TRUE(*world.lists->WriteRegister(0x2230, static_cast<uint32_t>(first)));
  EXPECT_EQ(world.lists->active(), first);
  EXPECT_EQ(world.lists->Run(1000), EngineState::kIdle);
  EXPECT_THAT(world.runner.executed, ElementsAre(1, 2));
  EXPECT_FALSE(*world.lists->WriteRegister(0x2510, 0));
}

TEST(Execlists, TheQueueIsSubmittedByItsControlRegister) {
  World world("gfx11");
  world.Add(1, {1});
  world.Add(2, {2});
  uint32_t offset = 0x2510;
  for (const uint64_t id : {1, 2}) {
    const uint64_t descriptor = world.Descriptor(id);
    EXPECT_TRUE(*world.lists->WriteRegister(offset, static_cast<uint32_t>(descriptor)));
    EXPECT_TRUE(*world.lists->WriteRegister(offset + 4, static_cast<uint32_t>(descriptor >> 32)));
    offset += 8;
  }
  EXPECT_TRUE(world.lists->idle());
  EXPECT_TRUE(*world.lists->WriteRegister(0x2550, 1));
  EXPECT_EQ(world.lists->Run(1000), EngineState::kIdle);
  EXPECT_THAT(world.runner.executed, ElementsAre(1, 2));
  EXPECT_EQ(world.lists->events().entries(), 12u);
  EXPECT_THAT(
      world.Events(),
      ElementsAre(Old(kIdleToActive, 0), Old(kComplete | kElementSwitch, world.Descriptor(1) >> 32),
                  Old(kComplete | kActiveToIdle, world.Descriptor(2) >> 32)));
  EXPECT_FALSE(*world.lists->WriteRegister(0x2230, 0));
}

TEST(Execlists, StatusSaysWhichElementRuns) {
  World world("gfx9");
  world.Add(1, {1});
  world.Add(2, {2, 3});
  world.Add(3, {4});
  EXPECT_EQ(*world.lists->ReadRegister(0x2234), 1u << 16);
  EXPECT_EQ(*world.lists->ReadRegister(0x2240), 0u);
  ASSERT_TRUE(world.Submit({1, 2}).ok());
  EXPECT_EQ(world.lists->Run(2), EngineState::kBusy);
  ASSERT_TRUE(world.Submit({3}).ok());
  // List 0 is valid and active in element 1 (code 2), list 1 is valid, the queue is full; the last
  // event was complete and element switch.
  EXPECT_EQ(*world.lists->ReadRegister(0x2234),
            1u << 18 | 1u << 16 | 2u << 14 | 0x14u << 5 | 1u << 4 | 1u << 3 | 1u << 2);
  EXPECT_EQ(*world.lists->ReadRegister(0x2238), 2u);
  EXPECT_EQ(*world.lists->ReadRegister(0x2240), 0x120001u);
}

TEST(Execlists, StatusOfGfx11IsWhatSoftwarePolls) {
  World world("gfx11");
  world.Add(1, {1});
  EXPECT_EQ(*world.lists->ReadRegister(0x2234), 0x8001u);
  ASSERT_TRUE(world.Submit({1}).ok());
  EXPECT_EQ(*world.lists->ReadRegister(0x2234), 0x81u);
}

TEST(Execlists, TheBufferOfEventsWraps) {
  World world("gfx9");
  world.Add(1, {1});
  EXPECT_EQ(*world.lists->ReadRegister(0x23a0) & 7, 5u);
  for (int i = 0; i < 5; ++i) {
    world.Append(1, {1});
    ASSERT_TRUE(world.Submit({1}).ok());
    EXPECT_EQ(world.lists->Run(1000), EngineState::kIdle);
  }
  EXPECT_EQ(world.lists->events().written(), 10u);
  EXPECT_EQ(world.lists->events().last(), 3u);
  EXPECT_EQ(world.memory.Dword(1, kStatusPage + 0x1f * 4), 3u);
  EXPECT_EQ(*world.lists->ReadRegister(0x2370 + 3 * 8), kComplete | kActiveToIdle);
  EXPECT_EQ(*world.lists->ReadRegister(0x2374 + 3 * 8), 1u);
  // The driver writes its read pointer with a mask.
  EXPECT_TRUE(*world.lists->WriteRegister(0x23a0, 0x07000300));
  EXPECT_EQ(*world.lists->ReadRegister(0x23a0), 0x303u);
  EXPECT_TRUE(*world.lists->WriteRegister(0x23a0, 0x500));
  EXPECT_EQ(*world.lists->ReadRegister(0x23a0), 0x303u);
}

TEST(Execlists, AFreshContextLoadsOnlyItsRing) {
  World world("gfx9");
  world.Add(1, {1}, true);
  world.memory.Put(1, world.ImageOf(1) + 4096 + 0x69 * 4, 1000, 4);  // CS_GPR0
  ASSERT_TRUE(world.Submit({1}).ok());
  EXPECT_EQ(world.lists->Run(1000), EngineState::kIdle);
  EXPECT_EQ(world.memory.Dword(1, world.ImageOf(1) + 4096 + 0x69 * 4), 1u);
  EXPECT_EQ(world.runner.loaded, world.ImageOf(1));
  EXPECT_TRUE(world.runner.loaded_fresh);
  // What was saved is restored the next time.
  world.Append(1, {2});
  ASSERT_TRUE(world.Submit({1}).ok());
  EXPECT_EQ(world.lists->Run(1000), EngineState::kIdle);
  EXPECT_EQ(world.memory.Dword(1, world.ImageOf(1) + 4096 + 0x69 * 4), 3u);
  EXPECT_FALSE(world.runner.loaded_fresh);
}

TEST(Execlists, TwoContextsThatPreemptEachOtherGiveWhatEachGivesAlone) {
  World world("gfx12");
  std::vector<uint32_t> ones(200, 1), sevens(150, 7);
  world.Add(1, ones);
  world.Add(2, sevens);
  uint64_t now = 1;
  ASSERT_TRUE(world.Submit({now}).ok());
  for (int i = 0; i < 1000 && !world.lists->idle(); ++i) {
    if (world.lists->Run(7) == EngineState::kIdle) break;
    now = 3 - now;
    if (world.HeadOf(now) != world.TailOf(now)) {
      ASSERT_TRUE(world.Submit({now}).ok());
    }
  }
  for (const uint64_t id : {1, 2}) {
    if (world.HeadOf(id) == world.TailOf(id)) continue;
    ASSERT_TRUE(world.Submit({id}).ok());
    EXPECT_EQ(world.lists->Run(10000), EngineState::kIdle);
  }
  EXPECT_GT(world.lists->events().written(), 20u);
  EXPECT_EQ(world.memory.Dword(1, world.ImageOf(1) + 4096 + 0x75 * 4), 200u);
  EXPECT_EQ(world.memory.Dword(1, world.ImageOf(2) + 4096 + 0x75 * 4), 150u * 7);
}

TEST(Execlists, ATailThatIsMovedWhileTheContextRunsIsNotLost) {
  World world("gfx9");
  world.Add(1, {1, 2});
  ASSERT_TRUE(world.Submit({1}).ok());
  EXPECT_EQ(world.lists->Run(1), EngineState::kBusy);
  world.Append(1, {3});
  // The engine does not know of it yet.
  EXPECT_EQ(world.lists->Run(1000), EngineState::kIdle);
  EXPECT_THAT(world.runner.executed, ElementsAre(1, 2));
  EXPECT_EQ(world.TailOf(1), 12u);
}

TEST(Execlists, RegistersOfTheRingMayBeOnAPageOfTheirOwn) {
  World world("xe2");
  world.Add(1, {});
  world.memory.Map(1, 0x90000, 4096);
  ContextDescription description;
  description.ring_address = world.RingOf(1);
  description.ring_bytes = 4096;
  description.ring_tail = 8;
  description.indirect_ring_state = 0x90000;
  world.memory.Put(1, world.RingOf(1), 5, 4);
  world.memory.Put(1, world.RingOf(1) + 4, 6, 4);
  ASSERT_EQ(world.memory.Write(1, world.ImageOf(1), *MakeContextImage(world.tables, description)),
            0x2000u);
  ASSERT_EQ(world.memory.Write(1, 0x90000, *MakeIndirectRingState(world.tables, description)),
            0x1000u);
  ASSERT_TRUE(world.Submit({1}).ok());
  EXPECT_EQ(world.lists->Run(1000), EngineState::kIdle);
  EXPECT_THAT(world.runner.executed, ElementsAre(5, 6));
  EXPECT_EQ(world.memory.Dword(1, 0x90000 + 3 * 4), 8u);  // the head
  EXPECT_EQ(world.memory.Dword(1, 0x90000 + 5 * 4), 8u);  // the tail
  EXPECT_EQ(world.memory.Dword(1, 0x90000 + 0x19 * 4), 0u);
  EXPECT_EQ(world.memory.Dword(1, 0x90000 + 0x1b * 4), 1u);  // the second entry of the stack
}

TEST(Execlists, AFaultStopsTheEngineWithItsContext) {
  World world("gfx9");
  world.Add(1, {1, FakeRunner::kFault});
  ASSERT_TRUE(world.Submit({1}).ok());
  EXPECT_EQ(world.lists->Run(1000), EngineState::kFault);
  EXPECT_EQ(world.lists->active(), world.Descriptor(1));
  world.lists->Reset();
  EXPECT_TRUE(world.lists->idle());
  EXPECT_EQ(world.lists->events().last(), 5u);
}

TEST(Execlists, ContextsThatAreNotInMemoryAreRefused) {
  World world("gfx9");
  world.Add(1, {1});
  const absl::Status missing = world.lists->Submit({0x7770119});
  EXPECT_FALSE(missing.ok());
  EXPECT_TRUE(world.lists->idle());
  EXPECT_TRUE(absl::IsInvalidArgument(world.lists->Submit({0})));
  EXPECT_TRUE(absl::IsInvalidArgument(world.lists->Submit({})));
  EXPECT_TRUE(absl::IsInvalidArgument(
      world.lists->Submit({world.Descriptor(1), world.Descriptor(1), world.Descriptor(1)})));
  // The second one of a list is found out when it is its turn.
  ASSERT_TRUE(world.lists->Submit({world.Descriptor(1), 0x7770119}).ok());
  EXPECT_EQ(world.lists->Run(1000), EngineState::kFault);
  EXPECT_EQ(world.lists->problems().size(), 1u);
}

TEST(Execlists, GenerationsWithoutListsSaySo) {
  FakeMemory memory;
  FakeRunner runner(memory);
  EXPECT_TRUE(
      absl::IsNotFound(Execlists::Make(*FindGeneration("gfx75"), memory, runner, {}).status()));
}

}  // namespace
}  // namespace packsmith::sim
