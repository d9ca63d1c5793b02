// Batches of every generation: what is emitted, where it goes, and what remains after a failure.
#include "runtime/intel/batch/batch.h"

#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/command/chunks.h"
#include "tests/intel/batch/built.h"
#include "tests/intel/batch/generations.h"

namespace packsmith::intel {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;

template <class Gen>
class BatchTest : public testing::Test {
 protected:
  using Store = typename Gen::StoreData;
  using Pipe = typename Gen::PipeControl;

  Decoded Decode(const BatchCore& batch, const gpu::HostChunks& chunks) {
    return World().Put(chunks.chunks()).Decode(Gen::kName, batch.parts()[0].chunk.gpu);
  }
};
TYPED_TEST_SUITE(BatchTest, Generations);

template <class P>
std::vector<uint32_t> DwordsIn(const P& packet) {
  const auto words = packed(packet);
  return std::vector<uint32_t>(words.dw, words.dw + words.length);
}

std::vector<uint32_t> Joined(std::vector<std::vector<uint32_t>> runs) {
  std::vector<uint32_t> all;
  for (const auto& run : runs) all.insert(all.end(), run.begin(), run.end());
  return all;
}

TYPED_TEST(BatchTest, HoldsWhatWasEmittedAndAnEnd) {
  using Gen = TypeParam;
  using Pipe = typename Gen::PipeControl;
  gpu::HostChunks chunks;
  Batch<Gen> batch(chunks);
  const Pipe stall{.stall_at_pixel_scoreboard = true, .command_streamer_stall_enable = true};
  const typename Gen::StoreData store{.address = 0x10000, .immediate_data = 42};
  ASSERT_TRUE(batch.Emit(stall, store));
  ASSERT_TRUE(batch.Emit(typename Gen::Topology{}));
  ASSERT_TRUE(batch.End().ok());
  EXPECT_THAT(PacketsOf(batch), ElementsAreArray(Joined({DwordsIn(stall), DwordsIn(store),
                                                         DwordsIn(typename Gen::Topology{})})));
  const Decoded decoded = this->Decode(batch, chunks);
  EXPECT_THAT(decoded.Names(), ElementsAre("PIPE_CONTROL", "MI_STORE_DATA_IMM",
                                           "3DSTATE_VF_TOPOLOGY", "MI_BATCH_BUFFER_END"));
  EXPECT_THAT(decoded.problems, IsEmpty());
  EXPECT_EQ(batch.parts()[0].total % 2, 0u);
}

TYPED_TEST(BatchTest, PacketsWithItems) {
  using Gen = TypeParam;
  gpu::HostChunks chunks;
  Batch<Gen> batch(chunks);
  const typename Gen::VertexBuffer buffers[] = {
      {.buffer_pitch = 16, .mocs = 4, .buffer_starting_address = {0x20000, 7}, .buffer_size = 64},
      {.buffer_pitch = 32, .mocs = 4, .buffer_starting_address = {0x30000, 8}, .buffer_size = 64}};
  ASSERT_TRUE(batch.EmitItems(typename Gen::VertexBuffers{}, buffers));
  ASSERT_TRUE(batch.End().ok());
  std::vector<uint32_t> expected(Gen::VertexBuffers::dwords_needed(2));
  ASSERT_FALSE((typename Gen::VertexBuffers{}.pack(expected.data(), buffers)));
  EXPECT_THAT(PacketsOf(batch), ElementsAreArray(expected));
  EXPECT_EQ(batch.uses().Find(7)->flags, gpu::kReads);
  EXPECT_EQ(batch.uses().Find(8)->flags, gpu::kReads);
}

TYPED_TEST(BatchTest, OfSeveralPacketsAllOrNone) {
  using Gen = TypeParam;
  using Store = typename Gen::StoreData;
  gpu::HostChunks chunks;
  Batch<Gen> batch(chunks);
  ASSERT_TRUE(batch.Emit(Store{.address = 0x1000, .immediate_data = 1}));
  const size_t before = batch.dwords();
  EXPECT_FALSE(batch.Emit(Store{.address = {0x2000, 5}, .immediate_data = 2},
                          Store{.address = {0x2001, 6}, .immediate_data = 3}));
  EXPECT_EQ(batch.dwords(), before);
  EXPECT_FALSE(batch.uses().Find(5).has_value());
  EXPECT_THAT(std::string(batch.status().message()), HasSubstr("MI_STORE_DATA_IMM"));
  EXPECT_THAT(std::string(batch.status().message()), HasSubstr("address"));
  EXPECT_FALSE(batch.End().ok());
  // After the cause is mended, emitting continues.
  EXPECT_FALSE(batch.TakeStatus().ok());
  ASSERT_TRUE(batch.Emit(Store{.address = 0x3000, .immediate_data = 4}));
  ASSERT_TRUE(batch.End().ok());
  EXPECT_EQ(PacketsOf(batch).size(), 2 * before);
}

TYPED_TEST(BatchTest, AValueThatDoesNotFitAnItemLeavesTheBatch) {
  using Gen = TypeParam;
  gpu::HostChunks chunks;
  Batch<Gen> batch(chunks);
  const typename Gen::VertexBuffer buffers[] = {
      {.mocs = 4, .buffer_starting_address = {0x20000, 7}}, {.buffer_pitch = 5000, .mocs = 4}};
  EXPECT_FALSE(batch.EmitItems(typename Gen::VertexBuffers{}, buffers));
  EXPECT_EQ(batch.dwords(), 0u);
  EXPECT_EQ(batch.uses().size(), 0u);
  EXPECT_THAT(std::string(batch.status().message()), HasSubstr("buffer_pitch (item 1)"));
}

TYPED_TEST(BatchTest, UncheckedPacketsAreNotLookedAt) {
  using Gen = TypeParam;
  gpu::HostChunks chunks;
  Batch<Gen> batch(chunks);
  EXPECT_TRUE(batch.template Emit<checks::off>(typename Gen::StoreData{.address = 0x1001}));
  EXPECT_TRUE(batch.status().ok());
}

// A packet of a random size that contains its number.
template <class Gen>
bool EmitNumbered(Batch<Gen>& batch, std::mt19937& random, uint32_t number,
                  std::vector<uint32_t>& model) {
  const typename Gen::StoreData one{.address = 0x10000 + 8 * (number % 16),
                                    .immediate_data = number};
  const typename Gen::StoreData two{.store_qword = 1, .address = 0x20000, .immediate_data = number};
  const typename Gen::PipeControl pipe{.post_sync_operation = 1,
                                       .command_streamer_stall_enable = true,
                                       .address = 0x30000,
                                       .immediate_data = number};
  const uint32_t choice = random() % 6;
  std::vector<uint32_t> expected;
  bool emitted = false;
  if (choice == 0) {
    expected = DwordsIn(one);
    emitted = batch.Emit(one);
  } else if (choice == 1) {
    expected = DwordsIn(two);
    emitted = batch.Emit(two);
  } else if (choice == 2) {
    expected = Joined({DwordsIn(pipe), DwordsIn(one), DwordsIn(two)});
    emitted = batch.Emit(pipe, one, two);
  } else if (choice == 3) {
    expected = Joined({DwordsIn(two), DwordsIn(pipe)});
    emitted = batch.EmitDwords(expected);
  } else if (choice == 4) {
    expected = Joined({DwordsIn(one), DwordsIn(one), DwordsIn(pipe)});
    typename Batch<Gen>::Group group(batch, expected.size());
    group.Emit(one);
    group.Emit(one, pipe);
    emitted = group.ok();
  } else {
    expected = DwordsIn(pipe);
    uint32_t* const to = batch.Reserve(expected.size());
    emitted = to != nullptr;
    if (emitted) std::copy(expected.begin(), expected.end(), to);
  }
  if (emitted) model.insert(model.end(), expected.begin(), expected.end());
  return emitted;
}

TYPED_TEST(BatchTest, AgainstAVectorThroughManyChunks) {
  using Gen = TypeParam;
  std::mt19937 random(1);
  for (unsigned round = 0; round < 40; ++round) {
    const size_t chunk = 32 + random() % 64;
    gpu::HostChunks chunks({.chunk_dwords = chunk});
    Batch<Gen> batch(chunks, {.end_alignment = 8u << random() % 3});
    std::vector<uint32_t> model;
    const unsigned count = random() % 200;
    for (unsigned i = 0; i < count; ++i) {
      ASSERT_TRUE(EmitNumbered(batch, random, i, model)) << batch.status().message();
      ASSERT_EQ(batch.dwords(), model.size());
    }
    ASSERT_TRUE(batch.End().ok());
    ASSERT_EQ(PacketsOf(batch), model);
    // The jumps go from chunk to chunk, and nothing else is decoded.
    const Decoded decoded = this->Decode(batch, chunks);
    ASSERT_THAT(decoded.problems, IsEmpty());
    std::vector<uint32_t> met;
    size_t jumps = 0;
    for (const Met& packet : decoded.packets) {
      EXPECT_EQ(packet.faults, 0u) << packet.name;
      if (packet.name == "MI_BATCH_BUFFER_START") {
        ++jumps;
      } else if (packet.name != "MI_BATCH_BUFFER_END") {
        met.insert(met.end(), packet.dwords.begin(), packet.dwords.end());
      }
    }
    ASSERT_EQ(met, model);
    ASSERT_EQ(jumps + 1, batch.parts().size());
    ASSERT_EQ(decoded.packets.back().name, "MI_BATCH_BUFFER_END");
  }
}

// Gives out a number of chunks, then none until it is allowed more.
class Rationed : public gpu::HostChunks {
 public:
  explicit Rationed(size_t chunk_dwords) : gpu::HostChunks({.chunk_dwords = chunk_dwords}) {}
  absl::StatusOr<gpu::Chunk> NewChunk(size_t dwords) override {
    if (left == 0) return absl::ResourceExhaustedError("no more chunks today");
    --left;
    return gpu::HostChunks::NewChunk(dwords);
  }
  size_t left = 0;
};

TYPED_TEST(BatchTest, OutOfChunksAtEveryStepChangesNothing) {
  using Gen = TypeParam;
  for (size_t given = 0; given < 12; ++given) {
    std::mt19937 random(2);
    Rationed chunks(40);
    chunks.left = given;
    Batch<Gen> batch(chunks);
    std::vector<uint32_t> model;
    unsigned refused = 0;
    for (unsigned i = 0; i < 60; ++i) {
      const size_t dwords = batch.dwords(), room = batch.room(), parts = batch.parts().size();
      const std::mt19937 same = random;
      if (EmitNumbered(batch, random, i, model)) continue;
      ++refused;
      ASSERT_EQ(batch.dwords(), dwords);
      ASSERT_EQ(batch.room(), room);
      ASSERT_EQ(batch.parts().size(), parts);
      ASSERT_EQ(batch.TakeStatus().code(), absl::StatusCode::kResourceExhausted);
      // What was refused is accepted when there is memory again, as if nothing had happened.
      if (refused % 2 == 0) {
        chunks.left = 1;
        random = same;
        ASSERT_TRUE(EmitNumbered(batch, random, i, model));
      }
    }
    EXPECT_GT(refused, 0u);
    if (batch.parts().empty()) chunks.left = 1;
    (void)batch.TakeStatus();
    // There is always room for the end.
    const absl::Status ended = batch.End();
    ASSERT_TRUE(ended.ok()) << ended.message();
    ASSERT_EQ(PacketsOf(batch), model);
    EXPECT_THAT(this->Decode(batch, chunks).problems, IsEmpty());
  }
}

TYPED_TEST(BatchTest, KeptRoomOutlastsMemory) {
  using Gen = TypeParam;
  Rationed chunks(64);
  chunks.left = 1;
  Batch<Gen> batch(chunks, {.kept_dwords = Gen::PipeControl::length});
  while (batch.Emit(typename Gen::StoreData{.address = 0x1000})) {
  }
  EXPECT_FALSE(batch.Emit(typename Gen::PipeControl{}));
  (void)batch.TakeStatus();
  batch.OpenKept();
  EXPECT_TRUE(batch.Emit(typename Gen::PipeControl{.command_streamer_stall_enable = true}));
  EXPECT_TRUE(batch.End().ok());
  EXPECT_THAT(this->Decode(batch, chunks).problems, IsEmpty());
}

TYPED_TEST(BatchTest, AGroupIsNotSplit) {
  using Gen = TypeParam;
  using Pipe = typename Gen::PipeControl;
  gpu::HostChunks chunks({.chunk_dwords = 48});
  Batch<Gen> batch(chunks);
  for (unsigned i = 0; i < 5; ++i) ASSERT_TRUE(batch.Emit(Pipe{}));
  const size_t before = batch.dwords();
  {
    typename Batch<Gen>::Group group(batch, 5 * Pipe::length);
    ASSERT_TRUE(group.ok());
    for (unsigned i = 0; i < 5; ++i) EXPECT_TRUE(group.Emit(Pipe{}));
    EXPECT_EQ(group.room(), 0u);
    EXPECT_TRUE(group.ok());
  }
  ASSERT_TRUE(batch.End().ok());
  ASSERT_EQ(batch.parts().size(), 2u);
  EXPECT_EQ(batch.parts()[0].dwords, before);
  EXPECT_EQ(batch.parts()[1].dwords, 5 * Pipe::length);
}

TYPED_TEST(BatchTest, OfAGroupAllOrNothing) {
  using Gen = TypeParam;
  using Store = typename Gen::StoreData;
  gpu::HostChunks chunks;
  Batch<Gen> batch(chunks, {.relocations = true});
  ASSERT_TRUE(batch.Emit(Store{}));
  const size_t before = batch.dwords();
  const Label label = batch.NewLabel();
  for (unsigned wrong = 0; wrong < 4; ++wrong) {
    {
      typename Batch<Gen>::Group group(batch, 3 * Store::length);
      EXPECT_TRUE(group.Emit(Store{.address = {0x1000, 5}}));
      EXPECT_TRUE(group.Bind(label));
      EXPECT_TRUE(group.Emit(Store{.address = batch.At(label)}));
      if (wrong == 0) {
        EXPECT_FALSE(group.Emit(Store{.address = 0x1001}));
        EXPECT_THAT(std::string(batch.status().message()), HasSubstr("address"));
      } else if (wrong == 1) {
        EXPECT_FALSE(group.Emit(Store{}, Store{}));
        EXPECT_THAT(std::string(batch.status().message()), HasSubstr("open it with more"));
      } else if (wrong == 2) {
        EXPECT_FALSE(batch.Emit(Store{}));
        EXPECT_THAT(std::string(batch.status().message()), HasSubstr("a group is open"));
      } else {
        typename Batch<Gen>::Group inner(batch, 3);
        EXPECT_FALSE(inner.ok());
        inner.EmitDwords({1, 2, 3});
      }
      EXPECT_FALSE(group.ok());
      EXPECT_FALSE(batch.End().ok());
    }
    EXPECT_EQ(batch.dwords(), before);
    EXPECT_EQ(batch.relocations().size(), 0u);
    EXPECT_FALSE(batch.TakeStatus().ok());
  }
  {
    typename Batch<Gen>::Group group(batch, 2 * Store::length);
    EXPECT_TRUE(group.Bind(label));
    EXPECT_TRUE(group.Emit(Store{.address = batch.At(label)}));
    EXPECT_TRUE(group.ok());
  }
  EXPECT_EQ(batch.dwords(), before + Store::length);
  ASSERT_TRUE(batch.End().ok());
  EXPECT_THAT(this->Decode(batch, chunks).problems, IsEmpty());
}

TYPED_TEST(BatchTest, AGroupGivesRoomToFillAndNotesWhatItIsTold) {
  using Gen = TypeParam;
  using Store = typename Gen::StoreData;
  gpu::HostChunks chunks;
  Batch<Gen> batch(chunks, {.relocations = true});
  Store store;
  store.address = address(0x2000, 7);
  constexpr AddressPlace kPlace = AddressPlaceIn<Store>();
  {
    typename Batch<Gen>::Group group(batch, 2 * Store::length);
    uint32_t* const to = group.Reserve(Store::length);
    ASSERT_FALSE(store.pack(to));
    EXPECT_TRUE(
        group.Note(to + kPlace.dword, kPlace.bit, kPlace.width, store.address, gpu::kWrites));
    EXPECT_TRUE(group.Emit(store));
  }
  EXPECT_EQ(batch.dwords(), 2 * Store::length);
  EXPECT_EQ(batch.uses().Find(7), (gpu::BufferUse{7, gpu::kWrites}));
  ASSERT_EQ(batch.relocations().size(), 2u);
  EXPECT_EQ(batch.relocations()[0].dword + Store::length, batch.relocations()[1].dword);
  {
    // One dword too many: nothing of the group stays, and writing to it is harmless.
    typename Batch<Gen>::Group group(batch, Store::length);
    group.Emit(store);
    uint32_t* const to = group.Reserve(Store::length);
    ASSERT_FALSE(store.pack(to));
    group.Note(to + kPlace.dword, kPlace.bit, kPlace.width, address(0x3000, 8), gpu::kReads);
    EXPECT_FALSE(group.ok());
  }
  EXPECT_EQ(batch.dwords(), 2 * Store::length);
  EXPECT_EQ(batch.relocations().size(), 2u);
  EXPECT_FALSE(batch.TakeStatus().ok());
}

TYPED_TEST(BatchTest, AGroupThatFindsNoRoomTakesNothing) {
  using Gen = TypeParam;
  Rationed chunks(32);
  Batch<Gen> batch(chunks);
  {
    typename Batch<Gen>::Group group(batch, 8);
    EXPECT_FALSE(group.ok());
    group.Emit(typename Gen::StoreData{.address = {0x1000, 5}});
    group.EmitDwords({1, 2, 3});
    EXPECT_FALSE(group.ok());
  }
  EXPECT_EQ(batch.dwords(), 0u);
  EXPECT_EQ(batch.uses().size(), 0u);
  EXPECT_EQ(batch.TakeStatus().code(), absl::StatusCode::kResourceExhausted);
  chunks.left = 1;
  EXPECT_TRUE(batch.Emit(typename Gen::StoreData{}));
  ASSERT_TRUE(batch.End().ok());
  typename Batch<Gen>::Group late(batch, 8);
  EXPECT_FALSE(late.ok());
  late.Close();
  EXPECT_TRUE(batch.ended());
}

TYPED_TEST(BatchTest, LabelsAheadAndBehind) {
  using Gen = TypeParam;
  using Pipe = typename Gen::PipeControl;
  gpu::HostChunks chunks({.chunk_dwords = 32});
  Batch<Gen> batch(chunks);
  const Label ahead = batch.NewLabel();
  ASSERT_TRUE(batch.Jump(batch.At(ahead)));
  for (unsigned i = 0; i < 9; ++i) ASSERT_TRUE(batch.Emit(Pipe{}));  // jumped over
  ASSERT_TRUE(batch.Bind(ahead));
  ASSERT_TRUE(batch.Emit(typename Gen::Topology{}));
  const Label behind = batch.Here();
  ASSERT_TRUE(batch.Emit(typename Gen::StoreData{.address = batch.At(behind, 8)}));
  ASSERT_TRUE(batch.End().ok()) << batch.status().message();
  const Decoded decoded = this->Decode(batch, chunks);
  EXPECT_THAT(decoded.problems, IsEmpty());
  std::vector<std::string> names = decoded.Names();
  EXPECT_EQ(names.front(), "MI_BATCH_BUFFER_START");
  std::erase(names, "MI_BATCH_BUFFER_START");
  EXPECT_THAT(names,
              ElementsAre("3DSTATE_VF_TOPOLOGY", "MI_STORE_DATA_IMM", "MI_BATCH_BUFFER_END"));
  // The store goes to 8 bytes after its own address.
  const Met& store = decoded.packets[decoded.packets.size() - 2];
  EXPECT_EQ(Gen::StoreData::unpack(store.dwords.data()).address.gpu, store.address + 8);
  // The chunk is written to, so its use is a write.
  bool written = false;
  for (const BatchPart& part : batch.parts()) {
    written |= batch.uses().Find(part.chunk.buffer)->writes();
  }
  EXPECT_TRUE(written);
}

TYPED_TEST(BatchTest, WrongLabelsAreErrors) {
  using Gen = TypeParam;
  gpu::HostChunks chunks, others;
  Batch<Gen> batch(chunks), other(others);
  const Label never = batch.NewLabel();
  ASSERT_TRUE(batch.Jump(batch.At(never)));
  const size_t dwords = batch.dwords();
  EXPECT_THAT(std::string(batch.End().message()), HasSubstr("never bound"));
  EXPECT_FALSE(batch.ended());
  (void)batch.TakeStatus();
  ASSERT_TRUE(batch.Bind(never));
  EXPECT_FALSE(batch.Bind(never));
  (void)batch.TakeStatus();

  for (unsigned i = 0; i < 3; ++i) other.NewLabel();
  const Label foreign = other.NewLabel();
  EXPECT_FALSE(batch.Bind(foreign));
  (void)batch.TakeStatus();
  EXPECT_FALSE(batch.Jump(batch.At(foreign)));
  EXPECT_FALSE(batch.Emit(typename Gen::StoreData{.address = batch.At(never)},
                          typename Gen::StoreData{.address = batch.At(foreign)}));
  EXPECT_FALSE(batch.Jump(batch.At(Label())));
  (void)batch.TakeStatus();
  EXPECT_EQ(batch.dwords(), dwords);
  EXPECT_TRUE(batch.End().ok());
}

TYPED_TEST(BatchTest, ALabelThatIsNotAlignedForItsUserIsAnError) {
  using Gen = TypeParam;
  gpu::HostChunks chunks;
  Batch<Gen> batch(chunks);
  ASSERT_TRUE(batch.Emit(typename Gen::PipeControl{.post_sync_operation = 1}));
  ASSERT_TRUE(batch.AlignTo(64));
  ASSERT_TRUE(batch.EmitDwords(packed(typename Gen::Noop{})));
  const Label odd = batch.Here();
  EXPECT_FALSE(batch.Jump(batch.At(odd, 2)));
  EXPECT_THAT(std::string(batch.TakeStatus().message()), HasSubstr("MI_BATCH_BUFFER_START"));
  // This field holds multiples of 8, and the label's address is not one; that is known at the end.
  ASSERT_TRUE(batch.Emit(typename Gen::ConditionalEnd{.compare_address = batch.At(odd)}));
  EXPECT_THAT(std::string(batch.End().message()), HasSubstr("multiples of 8"));
}

TYPED_TEST(BatchTest, AlignmentIsMadeOfNothing) {
  using Gen = TypeParam;
  gpu::HostChunks chunks({.chunk_dwords = 40});
  Batch<Gen> batch(chunks, {.end_alignment = 64});
  for (unsigned i = 0; i < 12; ++i) {
    ASSERT_TRUE(batch.AlignTo(64));
    const Label here = batch.Here();
    ASSERT_TRUE(batch.Emit(typename Gen::StoreData{.address = batch.At(here)}));
  }
  EXPECT_FALSE(batch.AlignTo(48));
  (void)batch.TakeStatus();
  ASSERT_TRUE(batch.End().ok());
  const Decoded decoded = this->Decode(batch, chunks);
  EXPECT_THAT(decoded.problems, IsEmpty());
  size_t stores = 0;
  for (const Met& met : decoded.packets) {
    if (met.name != "MI_STORE_DATA_IMM") continue;
    ++stores;
    EXPECT_EQ(met.address % 64, 0u);
    EXPECT_EQ(Gen::StoreData::unpack(met.dwords.data()).address.gpu, met.address);
  }
  EXPECT_EQ(stores, 12u);
  const BatchPart& last = batch.parts().back();
  EXPECT_EQ((last.chunk.gpu + last.total * 4) % 64, 0u);
}

TYPED_TEST(BatchTest, CallsComeBack) {
  using Gen = TypeParam;
  gpu::HostChunks chunks({.gpu = 0x100000}), callee_chunks({.gpu = 0x900000, .chunk_dwords = 24});
  Batch<Gen> callee(callee_chunks, {.second_level = true});
  for (unsigned i = 0; i < 4; ++i) ASSERT_TRUE(callee.Emit(typename Gen::PipeControl{}));
  EXPECT_FALSE(callee.Call(address(0x1000)));
  (void)callee.TakeStatus();
  ASSERT_TRUE(callee.End().ok());
  ASSERT_GT(callee.parts().size(), 1u);

  Batch<Gen> batch(chunks);
  const gpu::Chunk& first = callee.parts()[0].chunk;
  ASSERT_TRUE(batch.Call(address(first.gpu, first.buffer)));
  ASSERT_TRUE(batch.Emit(typename Gen::Topology{}));
  ASSERT_TRUE(batch.End().ok());
  EXPECT_EQ(batch.uses().Find(first.buffer)->flags, gpu::kReads);

  const Decoded decoded = World()
                              .Put(chunks.chunks())
                              .Put(callee_chunks.chunks())
                              .Decode(Gen::kName, batch.parts()[0].chunk.gpu);
  EXPECT_THAT(decoded.problems, IsEmpty());
  std::vector<std::string> names = decoded.Names();
  std::erase(names, "MI_BATCH_BUFFER_START");
  std::erase(names, "MI_BATCH_BUFFER_END");
  EXPECT_THAT(names, ElementsAre("PIPE_CONTROL", "PIPE_CONTROL", "PIPE_CONTROL", "PIPE_CONTROL",
                                 "3DSTATE_VF_TOPOLOGY"));
}

TYPED_TEST(BatchTest, CallsOfBatchesThatReturnByAJump) {
  using Gen = TypeParam;
  gpu::HostChunks chunks({.gpu = 0x100000}), callee_chunks({.gpu = 0x900000, .chunk_dwords = 24});
  Batch<Gen> callee(callee_chunks);
  for (unsigned i = 0; i < 4; ++i) ASSERT_TRUE(callee.Emit(typename Gen::PipeControl{}));
  const absl::StatusOr<address> slot = callee.EndReturning();
  ASSERT_TRUE(slot.ok()) << slot.status().message();

  Batch<Gen> batch(chunks);
  const gpu::Chunk& first = callee.parts()[0].chunk;
  for (unsigned i = 0; i < 2; ++i) {
    ASSERT_TRUE(batch.CallReturning(address(first.gpu, first.buffer), *slot));
    ASSERT_TRUE(batch.Emit(typename Gen::Topology{}));
  }
  ASSERT_TRUE(batch.End().ok());
  EXPECT_TRUE(batch.uses().Find(slot->buffer)->writes());
  // A copy would jump to where the last caller wanted.
  Batch<Gen> copy(chunks);
  EXPECT_FALSE(copy.Append(callee));
  EXPECT_THAT(copy.status().message(), HasSubstr("a copy would not be written"));

  const Decoded decoded = World()
                              .Put(chunks.chunks())
                              .Put(callee_chunks.chunks())
                              .Decode(Gen::kName, batch.parts()[0].chunk.gpu);
  EXPECT_THAT(decoded.problems, IsEmpty());
  std::vector<std::string> names = decoded.Names();
  std::erase(names, "MI_BATCH_BUFFER_START");
  EXPECT_THAT(
      names, ElementsAre("MI_STORE_DATA_IMM", "MI_STORE_DATA_IMM", "PIPE_CONTROL", "PIPE_CONTROL",
                         "PIPE_CONTROL", "PIPE_CONTROL", "3DSTATE_VF_TOPOLOGY", "MI_STORE_DATA_IMM",
                         "MI_STORE_DATA_IMM", "PIPE_CONTROL", "PIPE_CONTROL", "PIPE_CONTROL",
                         "PIPE_CONTROL", "3DSTATE_VF_TOPOLOGY", "MI_BATCH_BUFFER_END"));
}

TYPED_TEST(BatchTest, AFailedCallLeavesNothingBehind) {
  using Gen = TypeParam;
  Rationed chunks(16);
  chunks.left = 1;
  Batch<Gen> batch(chunks);
  ASSERT_TRUE(batch.Emit(typename Gen::StoreData{}));
  EXPECT_FALSE(batch.CallReturning(address(0x10000, 3), address(0x20004, 4, access::write)));
  EXPECT_FALSE(batch.CallReturning(address(0x10001, 3), address(0x20004, 4, access::write)));
  EXPECT_EQ(batch.dwords(), Gen::StoreData::length);
  EXPECT_EQ(batch.uses().size(), 0u);
  (void)batch.TakeStatus();
  EXPECT_TRUE(batch.End().ok());
}

TYPED_TEST(BatchTest, CopiesOfBatches) {
  using Gen = TypeParam;
  std::mt19937 random(3);
  for (unsigned round = 0; round < 60; ++round) {
    gpu::HostChunks chunks({.gpu = 0x100000, .chunk_dwords = 40 + random() % 60});
    gpu::HostChunks others(
        {.gpu = 0x900000, .first_buffer = 1000, .chunk_dwords = 30 + random() % 40});
    Batch<Gen> other(others);
    std::vector<uint32_t> copied;
    const unsigned many = random() % 30;
    for (unsigned i = 0; i < many; ++i) EmitNumbered(other, random, i, copied);
    ASSERT_TRUE(other.Emit(typename Gen::StoreData{.address = {0x5000, 77}}));
    const Label label = other.NewLabel();
    ASSERT_TRUE(other.Jump(other.At(label)));
    ASSERT_TRUE(other.Emit(typename Gen::Topology{}));  // jumped over
    ASSERT_TRUE(other.Bind(label));
    if (round % 2 == 0) {
      ASSERT_TRUE(other.End().ok());
    }

    Batch<Gen> batch(chunks);
    for (unsigned i = 0; i < random() % 20; ++i) {
      std::vector<uint32_t> ignored;
      EmitNumbered(batch, random, i, ignored);
    }
    const size_t before = batch.dwords();
    ASSERT_TRUE(batch.Append(other)) << batch.status().message();
    ASSERT_TRUE(batch.Append(other));
    EXPECT_EQ(batch.dwords(), before + 2 * other.dwords());
    ASSERT_TRUE(batch.End().ok());
    EXPECT_EQ(batch.uses().Find(77)->flags, gpu::kWrites);
    for (const gpu::Chunk& chunk : others.chunks()) {
      EXPECT_FALSE(batch.uses().Find(chunk.buffer).has_value()) << "the copy has left its source";
    }
    // The source's memory no longer exists.
    const Decoded decoded = this->Decode(batch, chunks);
    ASSERT_THAT(decoded.problems, IsEmpty());
    const std::vector<std::string> names = decoded.Names();
    EXPECT_EQ(std::count(names.begin(), names.end(), "3DSTATE_VF_TOPOLOGY"), 0);
    EXPECT_EQ(names.back(), "MI_BATCH_BUFFER_END");
  }
}

TYPED_TEST(BatchTest, ACopyThatFindsNoRoomChangesNothing) {
  using Gen = TypeParam;
  gpu::HostChunks others({.chunk_dwords = 30});
  Batch<Gen> other(others);
  for (unsigned i = 0; i < 30; ++i)
    ASSERT_TRUE(other.Emit(typename Gen::StoreData{.address = {0x40, 9}}));
  for (size_t given = 1; given < 5; ++given) {
    Rationed chunks(40);
    chunks.left = given;
    Batch<Gen> batch(chunks);
    ASSERT_TRUE(batch.Emit(typename Gen::Topology{}));
    const size_t room = batch.room();
    EXPECT_FALSE(batch.Append(other));
    EXPECT_EQ(batch.room(), room);
    EXPECT_EQ(batch.dwords(), Gen::Topology::length);
    EXPECT_FALSE(batch.uses().Find(9).has_value());
    (void)batch.TakeStatus();
    ASSERT_TRUE(batch.End().ok());
    EXPECT_EQ(PacketsOf(batch), DwordsIn(typename Gen::Topology{}));
  }
}

TYPED_TEST(BatchTest, WhatCannotBeCopied) {
  using Gen = TypeParam;
  gpu::HostChunks chunks, others;
  Batch<Gen> batch(chunks), other(others), plain(others);
  EXPECT_FALSE(batch.Append(batch));
  (void)batch.TakeStatus();
  const Label never = other.NewLabel();
  ASSERT_TRUE(other.Jump(other.At(never)));
  EXPECT_FALSE(batch.Append(other));
  (void)batch.TakeStatus();
  EXPECT_FALSE(other.Emit(typename Gen::StoreData{.address = 1}));
  EXPECT_FALSE(batch.Append(other)) << "it has an error";
  Batch<Gen> moving(chunks, {.relocations = true});
  EXPECT_FALSE(moving.Append(plain)) << "it has not noted its addresses";
  EXPECT_EQ(batch.dwords(), 0u);
}

TYPED_TEST(BatchTest, RelocationsGiveTheSameDwordsBack) {
  using Gen = TypeParam;
  gpu::HostChunks chunks({.chunk_dwords = 32});
  Batch<Gen> batch(chunks, {.relocations = true});
  constexpr uint64_t kBase = 0x40000;
  for (unsigned i = 0; i < 12; ++i) {
    ASSERT_TRUE(batch.Emit(typename Gen::StoreData{
        .core_mode_enable = i % 2, .address = {kBase + 16 * i, 9}, .immediate_data = i}));
  }
  const Label here = batch.Here();
  ASSERT_TRUE(batch.Emit(typename Gen::StoreData{.address = batch.At(here, 4)}));
  ASSERT_TRUE(batch.End().ok());
  size_t of_nine = 0;
  for (const Relocation& one : batch.relocations()) {
    const uint32_t dword = batch.parts()[one.part].chunk.words[one.dword];
    const uint64_t base = one.buffer == 9 ? kBase : one.gpu;
    // If the buffer stays, so does the dword; if it moves, only the address changes.
    EXPECT_EQ(static_cast<uint32_t>(base) + batch.Delta(one, base), dword);
    of_nine += one.buffer == 9;
    if (one.buffer == 9) {
      EXPECT_EQ(one.flags, gpu::kWrites);
      EXPECT_EQ(batch.Delta(one, kBase) / 16, (one.gpu - kBase) / 16);
    }
  }
  EXPECT_EQ(of_nine, 12u);
  // A jump to each chunk but the first, and the label.
  EXPECT_EQ(batch.relocations().size(), 12 + batch.parts().size() - 1 + 1);
}

TYPED_TEST(BatchTest, NothingIsDoneInNoopMode) {
  using Gen = TypeParam;
  gpu::HostChunks chunks;
  Batch<Gen> batch(chunks, {.noop = true});
  ASSERT_TRUE(batch.Emit(typename Gen::StoreData{.address = {0x1000, 4}}));
  ASSERT_TRUE(batch.End().ok());
  EXPECT_THAT(this->Decode(batch, chunks).Names(), ElementsAre("MI_BATCH_BUFFER_END"));
  EXPECT_TRUE(batch.uses().Find(4).has_value());
}

TYPED_TEST(BatchTest, EndedBatchesGoOnInEachOtherAndEndAgain) {
  using Gen = TypeParam;
  gpu::HostChunks chunks;
  Batch<Gen> batches[] = {Batch<Gen>(chunks), Batch<Gen>(chunks, {.relocations = true}),
                          Batch<Gen>(chunks)};
  for (Batch<Gen>& batch : batches) ASSERT_TRUE(batch.Emit(typename Gen::PipeControl{}));
  const address elsewhere(0x7000, 7);
  EXPECT_EQ(batches[0].ContinueAt(elsewhere).code(), absl::StatusCode::kFailedPrecondition);
  for (Batch<Gen>& batch : batches) ASSERT_TRUE(batch.End().ok());
  const auto begin = [](const Batch<Gen>& batch) {
    const gpu::Chunk& chunk = batch.parts()[0].chunk;
    return address(chunk.gpu, chunk.buffer);
  };
  EXPECT_EQ(batches[0].ContinueAt(address(0x7001, 7)).code(), absl::StatusCode::kInvalidArgument);
  // In one order, in another, and alone.
  ASSERT_TRUE(batches[0].ContinueAt(begin(batches[1])).ok());
  ASSERT_TRUE(batches[1].ContinueAt(begin(batches[2])).ok());
  EXPECT_THAT(this->Decode(batches[0], chunks).Names(),
              ElementsAre("PIPE_CONTROL", "MI_BATCH_BUFFER_START", "PIPE_CONTROL",
                          "MI_BATCH_BUFFER_START", "PIPE_CONTROL", "MI_BATCH_BUFFER_END"));
  ASSERT_EQ(batches[1].relocations().size(), 1u);
  EXPECT_EQ(batches[1].relocations()[0].gpu, begin(batches[2]).gpu);
  EXPECT_EQ(batches[1].relocations()[0].buffer, begin(batches[2]).buffer);
  ASSERT_TRUE(batches[2].ContinueAt(begin(batches[0])).ok());
  ASSERT_TRUE(batches[0].ContinueAt(address()).ok());
  ASSERT_TRUE(batches[1].ContinueAt(address()).ok());
  EXPECT_THAT(batches[1].relocations(), IsEmpty());
  EXPECT_THAT(
      this->Decode(batches[2], chunks).Names(),
      ElementsAre("PIPE_CONTROL", "MI_BATCH_BUFFER_START", "PIPE_CONTROL", "MI_BATCH_BUFFER_END"));
  EXPECT_THAT(this->Decode(batches[1], chunks).Names(),
              ElementsAre("PIPE_CONTROL", "MI_BATCH_BUFFER_END"));
  for (Batch<Gen>& batch : batches) EXPECT_EQ(batch.parts()[0].total % 2, 0u);

  // One that does nothing continues, too.
  Batch<Gen> noop(chunks, {.noop = true});
  ASSERT_TRUE(noop.Emit(typename Gen::Noop{}));
  ASSERT_TRUE(noop.End().ok());
  ASSERT_TRUE(noop.ContinueAt(begin(batches[1])).ok());
  EXPECT_THAT(this->Decode(noop, chunks).Names(),
              ElementsAre("MI_BATCH_BUFFER_START", "PIPE_CONTROL", "MI_BATCH_BUFFER_END"));
  ASSERT_TRUE(noop.ContinueAt(address()).ok());
  EXPECT_THAT(this->Decode(noop, chunks).Names(), ElementsAre("MI_BATCH_BUFFER_END"));

  Batch<Gen> callee(chunks, {.second_level = true});
  ASSERT_TRUE(callee.End().ok());
  EXPECT_EQ(callee.ContinueAt(begin(batches[0])).code(), absl::StatusCode::kFailedPrecondition);
}

TYPED_TEST(BatchTest, PartsAreWholeQwordsWhereverTheyEnd) {
  using Gen = TypeParam;
  for (const bool second_level : {false, true}) {
    for (const uint32_t odd : {0, 1}) {
      gpu::HostChunks chunks({.chunk_dwords = 16 + odd});
      Batch<Gen> batch(chunks, {.second_level = second_level});
      for (int i = 0; i < 40; ++i) ASSERT_TRUE(batch.Emit(typename Gen::Noop{}));
      ASSERT_TRUE(batch.End().ok());
      ASSERT_GT(batch.parts().size(), 2u);
      for (const BatchPart& part : batch.parts()) {
        EXPECT_EQ(part.total % 2, 0u) << "as kernels require";
        EXPECT_LE(part.total, part.chunk.words.size());
      }
      EXPECT_EQ(this->Decode(batch, chunks).packets.back().name, "MI_BATCH_BUFFER_END");
    }
  }
}

TYPED_TEST(BatchTest, BuffersAreListedOnceWithAllTheirUses) {
  using Gen = TypeParam;
  std::mt19937 random(4);
  gpu::HostChunks chunks({.first_buffer = 1u << 24});
  Batch<Gen> batch(chunks);
  std::vector<gpu::UseFlags> model(3000);
  for (unsigned i = 0; i < 20000; ++i) {
    const uint32_t buffer = 1 + random() % 2999;
    const bool write = random() % 3 == 0;
    if (i % 7 == 0) {  // refused for its second packet: the first one's buffer is not listed
      EXPECT_FALSE(batch.Emit(typename Gen::StoreData{.address = {0x1000, 5000 + i}},
                              typename Gen::StoreData{.address = 0x1001}));
      EXPECT_FALSE(batch.TakeStatus().ok());
    }
    if (i % 1000 == 0) {
      EXPECT_FALSE(batch.uses().Find(5000 + i).has_value());
    }
    if (write) {
      ASSERT_TRUE(batch.Emit(typename Gen::StoreData{.address = {0x1000, buffer}}));
    } else {
      ASSERT_TRUE(batch.Emit(typename Gen::LoadRegister{.register_address = 0x2600,
                                                        .memory_address = {0x1000, buffer}}));
    }
    model[buffer] |= write ? gpu::kWrites : gpu::kReads;
  }
  size_t listed = 0;
  for (const gpu::BufferUse& use : batch.uses().all()) {
    ASSERT_EQ(use.flags, model[use.buffer]) << use.buffer;
    ++listed;
  }
  EXPECT_EQ(listed, model.size() - std::count(model.begin(), model.end(), 0u));
}

TYPED_TEST(BatchTest, ResetBeginsAnew) {
  using Gen = TypeParam;
  gpu::HostChunks chunks;
  Batch<Gen> batch(chunks);
  batch.Emit(typename Gen::StoreData{.address = {0x1000, 4}});
  ASSERT_TRUE(batch.End().ok());
  EXPECT_FALSE(batch.Emit(typename Gen::StoreData{}));
  EXPECT_FALSE(batch.End().ok());
  EXPECT_FALSE(batch.Bind(batch.NewLabel()));
  batch.Reset();
  EXPECT_TRUE(batch.status().ok());
  EXPECT_EQ(batch.dwords(), 0u);
  EXPECT_EQ(batch.uses().size(), 0u);
  ASSERT_TRUE(batch.Emit(typename Gen::Topology{}));
  ASSERT_TRUE(batch.End().ok());
  EXPECT_EQ(PacketsOf(batch), DwordsIn(typename Gen::Topology{}));
}

TYPED_TEST(BatchTest, AnEmptyBatchIsAnEnd) {
  using Gen = TypeParam;
  gpu::HostChunks chunks;
  Batch<Gen> batch(chunks);
  ASSERT_TRUE(batch.End().ok());
  EXPECT_THAT(this->Decode(batch, chunks).Names(), ElementsAre("MI_BATCH_BUFFER_END"));
}

TYPED_TEST(BatchTest, SizesAreKnownBefore) {
  using Gen = TypeParam;
  using Store = typename Gen::StoreData;
  static_assert(DwordsOf(Store{}, Store{.store_qword = 1}) == Store::length + Store::max_length);
  gpu::HostChunks chunks;
  Batch<Gen> batch(chunks);
  batch.Emit(Store{}, Store{.store_qword = 1});
  EXPECT_EQ(batch.dwords(), DwordsOf(Store{}, Store{.store_qword = 1}));
}

// A source that returns chunks that no batch can use.
class Broken : public gpu::ChunkSource {
 public:
  explicit Broken(const gpu::Chunk& chunk) : chunk_(chunk) {}
  absl::StatusOr<gpu::Chunk> NewChunk(size_t) override { return chunk_; }

 private:
  gpu::Chunk chunk_;
};

TYPED_TEST(BatchTest, ChunksThatCannotBeUsedAreErrors) {
  using Gen = TypeParam;
  std::vector<uint32_t> words(64);
  for (const gpu::Chunk& chunk :
       {gpu::Chunk{0x1004, absl::MakeSpan(words), 1}, gpu::Chunk{0x1000, {}, 1},
        gpu::Chunk{0x1000, absl::MakeSpan(words), 0},
        gpu::Chunk{0x1000, absl::MakeSpan(words), ~uint32_t{0}}}) {
    Broken source(chunk);
    Batch<Gen> batch(source);
    EXPECT_FALSE(batch.Emit(typename Gen::Topology{}));
    EXPECT_EQ(batch.status().code(), absl::StatusCode::kInternal);
    EXPECT_EQ(batch.parts().size(), 0u);
  }
}

TEST(ConflictsTest, AreBuffersThatEitherWrites) {
  gpu::BufferUses a, b;
  a.Add(1, gpu::kReads);
  a.Add(2, gpu::kReads);
  a.Add(3, gpu::kWrites);
  a.Add(4, gpu::kReads | gpu::kWrites);
  for (uint32_t i = 10; i < 200; ++i) b.Add(i, gpu::kWrites);
  b.Add(1, gpu::kReads);
  b.Add(2, gpu::kWrites);
  b.Add(3, gpu::kReads);
  b.Add(4, gpu::kReads);
  EXPECT_THAT(gpu::Conflicts(a, b), testing::UnorderedElementsAre(2, 3, 4));
  EXPECT_THAT(gpu::Conflicts(b, a), testing::UnorderedElementsAre(2, 3, 4));
  EXPECT_THAT(gpu::Conflicts(a, gpu::BufferUses()), IsEmpty());
}

}  // namespace
}  // namespace packsmith::intel
