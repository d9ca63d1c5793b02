// Chunks that are buffers: their bounds and lifetimes.
#include "runtime/command/buffer_chunks.h"

#include <memory>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/gfx9.h"
#include "runtime/intel/memory/driver_zones.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/buffers.h"
#include "runtime/memory/host_device.h"
#include "runtime/memory/zones.h"

namespace packsmith::intel {
namespace {

class BufferChunksTest : public testing::Test {
 protected:
  BufferChunksTest() {
    device_ = *gpu::HostDevice::Create(gpu::HostDevice::Options());
    space_ = *gpu::AddressSpace::Create(*gpu::LayOutZones(IrisZones(), {.verx10 = 90}));
    buffers_ = gpu::Buffers::Create(*device_, *space_, {});
    zone_ = *space_->FindZone("other");
  }

  std::unique_ptr<gpu::HostDevice> device_;
  std::unique_ptr<gpu::AddressSpace> space_;
  std::unique_ptr<gpu::Buffers> buffers_;
  gpu::ZoneId zone_ = {};
};

TEST_F(BufferChunksTest, AreBuffersUntilReleased) {
  {
    gpu::BufferChunks chunks(*buffers_, {.zone = zone_, .name = "mine", .chunk_bytes = 4096});
    Batch<Gfx9> batch(chunks);
    for (unsigned i = 0; i < 400; ++i) ASSERT_TRUE(batch.Emit(gfx9::PIPE_CONTROL{}));
    ASSERT_TRUE(batch.End().ok());
    ASSERT_GE(batch.parts().size(), 3u);
    EXPECT_EQ(buffers_->statistics().live, batch.parts().size());
    for (const BatchPart& part : batch.parts()) {
      EXPECT_EQ(*buffers_->Name(part.chunk.buffer), "mine");
      EXPECT_EQ(buffers_->Get(part.chunk.buffer)->address, part.chunk.gpu);
    }
    EXPECT_TRUE(chunks.Release().ok());
    EXPECT_EQ(buffers_->statistics().live, 0u);
    batch.Reset();
    ASSERT_TRUE(batch.Emit(gfx9::PIPE_CONTROL{}));
    EXPECT_EQ(buffers_->statistics().live, 1u);
  }
  EXPECT_EQ(buffers_->statistics().live, 0u);
}

TEST_F(BufferChunksTest, AsLargeAsAskedForAndNoMoreThanAllowed) {
  gpu::BufferChunks chunks(*buffers_, {.zone = zone_, .chunk_bytes = 4096, .most_chunks = 2});
  EXPECT_GE(chunks.NewChunk(100000)->words.size(), 100000u);
  EXPECT_GE(chunks.NewChunk(1)->words.size(), 1024u);
  EXPECT_EQ(chunks.NewChunk(1).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(BufferChunksTest, GrowWithTheBatchAsFarAsTheyMay) {
  gpu::BufferChunks chunks(*buffers_,
                           {.zone = zone_, .chunk_bytes = 8192, .largest_chunk_bytes = 65536});
  std::vector<uint64_t> bytes;
  for (int i = 0; i < 6; ++i) bytes.push_back(chunks.NewChunk(1)->words.size() * 4);
  EXPECT_EQ(bytes, (std::vector<uint64_t>{8192, 8192, 16384, 32768, 65536, 65536}));
  EXPECT_GE(chunks.NewChunk(100000)->words.size(), 100000u);
  ASSERT_TRUE(chunks.Release().ok());
  EXPECT_EQ(chunks.NewChunk(1)->words.size() * 4, 8192u) << "it begins anew";
}

TEST_F(BufferChunksTest, MemoryThatTheCpuCannotSeeIsAnError) {
  gpu::BufferChunks chunks(*buffers_, {.zone = zone_, .heap = gpu::Heap::kLocal});
  EXPECT_EQ(chunks.NewChunk(1).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(buffers_->statistics().live, 0u);
}

}  // namespace
}  // namespace packsmith::intel
