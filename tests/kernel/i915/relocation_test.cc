// Jobs on GPUs whose page table all programs share: what the kernel moves, and the words that it
// corrects.
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/kernel/i915/rig.h"

namespace packsmith::gpu {
namespace {

namespace api = uapi::i915;
using ::testing::IsEmpty;

constexpr uint64_t kBatch = 0x100000, kData = 0x200000;

// A batch whose word 2 holds the address of a word of the data.
struct Scene : Rig {
  static constexpr uint32_t kDelta = 0x24;

  explicit Scene(absl::string_view name) : Rig(name), batch(Place(kBatch)), data(Place(kData)) {
    Write();
    residents = {data.AsResident(/*written=*/true), batch.AsResident()};
    relocations = {
        {.in = batch.memory, .offset = 8, .target = data.memory, .delta = kDelta, .written = true}};
  }
  void Write() { Put(batch, {Store(kData + kDelta, 5)}); }
  Job MakeJob() const {
    return {.batch_address = kBatch, .residents = residents, .relocations = relocations};
  }
  bool Run(const Job& job) {
    const auto fence = device->Submit(job);
    EXPECT_TRUE(fence.ok()) << fence.status();
    return fence.ok() && WaitFor(*fence);
  }
  uint64_t DataAddress(size_t work) const {
    for (const auto& [address, mapping] : machine.watcher.works.at(work)->memory->mappings()) {
      if (address != machine.watcher.works[work]->streams[0].address) return address;
    }
    return 0;
  }

  Placed batch, data;
  std::vector<Resident> residents;
  std::vector<Relocation> relocations;
};

// Another program, whose memory is at a place in the page table that all have.
class Intruder {
 public:
  Intruder(capture::Machine& machine, uint64_t address) : client_(machine) {
    std::vector<api::gem_exec_object2> objects = {
        capture::Client::Pinned(client_.Create(4096), address)};
    EXPECT_EQ(client_.Submit(objects), 0);
  }

 private:
  capture::Client client_;
};

class Gfx4To7 : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, Gfx4To7,
                         ::testing::Values("i965", "gm45", "ilk", "snb", "ivb", "byt", "hsw"));

TEST_P(Gfx4To7, NothingIsWrittenWhereNothingMoved) {
  Scene scene(GetParam());
  ASSERT_TRUE(scene.Run(scene.MakeJob()));
  EXPECT_EQ(scene.DataAddress(0), kData);
  EXPECT_EQ(scene.batch.Word(2), kData + Scene::kDelta);
  // The kernel did not look: it would have written this word.
  scene.batch.SetWord(2, 0x77);
  ASSERT_TRUE(scene.Run(scene.MakeJob()));
  EXPECT_EQ(scene.batch.Word(2), 0x77u);
  EXPECT_THAT(scene.machine.watcher.warnings, IsEmpty());
}

TEST_P(Gfx4To7, TheKernelCorrectsWordsOfWhatItMoved) {
  Scene scene(GetParam());
  const Intruder intruder(scene.machine, kData);
  ASSERT_TRUE(scene.Run(scene.MakeJob()));
  const uint64_t moved = scene.DataAddress(1);
  EXPECT_NE(moved, kData);
  EXPECT_EQ(scene.batch.Word(2), moved + Scene::kDelta);
}

TEST_P(Gfx4To7, WordsThatWereCorrectedAndNewOnesAreBothRight) {
  Scene scene(GetParam());
  const Intruder intruder(scene.machine, kData);
  ASSERT_TRUE(scene.Run(scene.MakeJob()));
  const uint64_t moved = scene.DataAddress(1);
  // The same batch again: its word holds where the data is now.
  ASSERT_TRUE(scene.Run(scene.MakeJob()));
  EXPECT_EQ(scene.DataAddress(2), moved);
  EXPECT_EQ(scene.batch.Word(2), moved + Scene::kDelta);
  // A batch that was written anew holds where it is bound.
  scene.Write();
  ASSERT_TRUE(scene.Run(scene.MakeJob()));
  EXPECT_EQ(scene.batch.Word(2), moved + Scene::kDelta);
  // It moves back, and the word still holds the other place.
  { const Intruder second(scene.machine, moved); }
  Job pinned = scene.MakeJob();
  pinned.relocations = {};
  ASSERT_TRUE(scene.Run(pinned));
  ASSERT_TRUE(scene.Run(scene.MakeJob()));
  const size_t last = scene.machine.watcher.works.size() - 1;
  EXPECT_EQ(scene.batch.Word(2), scene.DataAddress(last) + Scene::kDelta);
  EXPECT_THAT(scene.machine.watcher.warnings, IsEmpty());
}

TEST_P(Gfx4To7, WordsInSeveralMemoriesAreEachCorrected) {
  Scene scene(GetParam());
  const Placed state = scene.Place(0x300000);
  state.SetWord(4, kBatch + 0x10);
  state.SetWord(5, kData);
  scene.residents.push_back(state.AsResident());
  scene.relocations.push_back({.in = state.memory, .offset = 20, .target = scene.data.memory});
  scene.relocations.push_back(
      {.in = scene.batch.memory, .offset = 64, .target = state.memory, .delta = 8});
  scene.relocations.push_back(
      {.in = state.memory, .offset = 16, .target = scene.batch.memory, .delta = 0x10});
  const Intruder data(scene.machine, kData), batch(scene.machine, kBatch),
      third(scene.machine, 0x300000);
  ASSERT_TRUE(scene.Run(scene.MakeJob()));
  const capture::Work& work = *scene.machine.watcher.works.back();
  const uint64_t at_batch = work.streams[0].address;
  EXPECT_NE(at_batch, kBatch);
  const uint64_t at_data = scene.batch.Word(2) - Scene::kDelta;
  const uint64_t at_state = scene.batch.Word(16) - 8;
  ASSERT_NE(work.memory->Find(at_data), nullptr);
  ASSERT_NE(work.memory->Find(at_state), nullptr);
  EXPECT_NE(at_data, at_state);
  EXPECT_EQ(state.Word(4), at_batch + 0x10);
  EXPECT_EQ(state.Word(5), at_data);
}

TEST_P(Gfx4To7, AJobWithoutRelocationsIsWhereItIsBoundOrFails) {
  Scene scene(GetParam());
  Job job = scene.MakeJob();
  job.relocations = {};
  const Intruder intruder(scene.machine, kData);
  // The other program is idle: it makes way.
  ASSERT_TRUE(scene.Run(job));
  EXPECT_EQ(scene.DataAddress(1), kData);
}

TEST(I915RelocationTest, OnlyGfx4To7MoveMemory) {
  for (const char* const name : {"bdw", "skl", "tgl", "dg2"}) {
    Rig rig(name);
    EXPECT_FALSE(rig.device->properties().moves_memory) << name;
    const Placed batch = rig.Place(kBatch);
    rig.Put(batch, {});
    const Resident resident = batch.AsResident();
    // It is ignored, be it right or wrong.
    const Relocation wrong = {.in = {}, .offset = 3, .target = {}};
    EXPECT_TRUE(
        rig.device
            ->Submit(
                {.batch_address = kBatch, .residents = {&resident, 1}, .relocations = {&wrong, 1}})
            .ok());
  }
}

TEST(I915RelocationTest, RelocationsMustBeInTheJobsMemory) {
  Scene scene("hsw");
  const Relocation good = scene.relocations[0];
  const auto code = [&](const Relocation& relocation) {
    scene.relocations = {relocation};
    return scene.device->Submit(scene.MakeJob()).status().code();
  };
  Relocation bad = good;
  bad.offset = 4094;
  EXPECT_EQ(code(bad), absl::StatusCode::kInvalidArgument);
  bad.offset = 4096;
  EXPECT_EQ(code(bad), absl::StatusCode::kInvalidArgument);
  bad = good;
  bad.delta = uint64_t{1} << 32;
  EXPECT_EQ(code(bad), absl::StatusCode::kInvalidArgument);
  bad = good;
  bad.target = scene.Place(0x500000).memory;  // not a resident
  EXPECT_EQ(code(bad), absl::StatusCode::kInvalidArgument);
  bad = good;
  bad.in = MemoryId{12345};
  EXPECT_EQ(code(bad), absl::StatusCode::kNotFound);
  EXPECT_EQ(code(good), absl::StatusCode::kOk);
}

TEST(I915RelocationTest, WhatGfx6WritesIsInTheGlobalPageTable) {
  Scene scene("snb");
  ASSERT_TRUE(scene.Run(scene.MakeJob()));
  const capture::Work& work = *scene.machine.watcher.works.at(0);
  EXPECT_NE(work.memory->Find(kData)->flags & api::kObjectNeedsGtt, 0u);
  EXPECT_EQ(work.memory->Find(kBatch)->flags & api::kObjectNeedsGtt, 0u);
}

}  // namespace
}  // namespace packsmith::gpu
