// Which buffers a batch lists, when many handles collide in its hash tables.
#include "runtime/command/buffer_uses.h"

#include <cstdint>
#include <map>
#include <random>

#include "gtest/gtest.h"
#include "runtime/command/chunks.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/gfx9.h"

namespace packsmith::intel {
namespace {

using Model = std::map<uint32_t, gpu::UseFlags>;

Model Listed(const gpu::BufferUses& uses) {
  Model listed;
  for (const gpu::BufferUse& use : uses.all()) {
    EXPECT_TRUE(listed.emplace(use.buffer, use.flags).second) << use.buffer << " is listed twice";
  }
  return listed;
}

// Few handles, many of them equal in their low bits; 0 is not a buffer.
uint32_t RandomHandle(std::mt19937& random) {
  return 64 * static_cast<uint32_t>(random() % 5) + static_cast<uint32_t>(random() % 3);
}

TEST(BufferUsesTest, AgainstAMap) {
  std::mt19937 random(1);
  gpu::BufferUses uses;
  for (unsigned round = 0; round < 200; ++round) {
    Model model;
    for (unsigned i = 0; i < 400; ++i) {
      const uint32_t buffer = 1 + RandomHandle(random) + (round % 2 == 0 ? 0 : i);
      const gpu::UseFlags flags = 1 + static_cast<gpu::UseFlags>(random() % 3);
      if (uses.Known(buffer, flags)) {
        ASSERT_EQ(model[buffer] & flags, flags) << buffer << " is not known";
      } else if (random() % 2 == 0) {
        uses.Add(buffer, flags, random() % 2 == 0);
      } else if (!uses.AddLater(buffer, flags)) {
        uses.Add(buffer, flags);
      }
      model[buffer] |= flags;
      if (random() % 50 == 0) {
        const gpu::BufferUses::Mark before = uses.mark();
        if (uses.AddLater(9999, gpu::kReads)) uses.DropSince(before);
      }
      if (random() % 50 == 0) {
        ASSERT_EQ(uses.Find(buffer)->flags, model[buffer]);
      }
    }
    ASSERT_EQ(Listed(uses), model);
    uses.Clear();
    ASSERT_EQ(uses.size(), 0u);
    ASSERT_FALSE(uses.Known(65, gpu::kReads));
  }
}

// The same through packets: one by one, several at once, as groups and as items.
TEST(BufferUsesTest, OfPackets) {
  std::mt19937 random(2);
  gpu::HostChunks chunks({.first_buffer = 100000, .chunk_dwords = 512});
  Batch<Gfx9> batch(chunks);
  Model model;
  const auto some = [&](gpu::UseFlags flags) {
    const uint32_t handle = RandomHandle(random);
    if (handle != 0) model[handle] |= flags;
    return address(0x1000, handle);
  };
  for (unsigned i = 0; i < 5000; ++i) {
    const address read = some(gpu::kReads), written = some(gpu::kWrites);
    const gfx9::MI_LOAD_REGISTER_MEM load{.register_address = 0x2600, .memory_address = read};
    const gfx9::MI_STORE_DATA_IMM store{.address = written};
    switch (random() % 4) {
      case 0:
        ASSERT_TRUE(batch.Emit(load));
        ASSERT_TRUE(batch.Emit(store));
        break;
      case 1:
        ASSERT_TRUE(batch.Emit(store, load));
        break;
      case 2: {
        Batch<Gfx9>::Group group(batch, DwordsOf(load, store));
        group.Emit(load, store);
        ASSERT_TRUE(group.ok());
        break;
      }
      default: {
        const gfx9::VERTEX_BUFFER_STATE items[] = {{.mocs = 4, .buffer_starting_address = read},
                                                   {.mocs = 4, .buffer_starting_address = 0x2000}};
        ASSERT_TRUE(batch.EmitItems(gfx9::_3DSTATE_VERTEX_BUFFERS{}, items));
        ASSERT_TRUE(batch.Emit(store));
      }
    }
    // Both of a depth buffer; refused, so that it is not listed.
    if (i % 100 == 0) {
      ASSERT_FALSE(batch.Emit(gfx9::_3DSTATE_DEPTH_BUFFER{.surface_base_address = {0x1000, 7777}},
                              gfx9::MI_STORE_DATA_IMM{.address = 0x1001}));
      ASSERT_FALSE(batch.TakeStatus().ok());
    }
  }
  EXPECT_EQ(Listed(batch.uses()), model);
}

}  // namespace
}  // namespace packsmith::intel
