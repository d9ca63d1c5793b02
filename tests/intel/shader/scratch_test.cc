#include "runtime/intel/shader/scratch.h"

#include <cstdint>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/intel/device/render_devices.h"
#include "tests/intel/compute/gpu_memory.h"

namespace packsmith::intel {
namespace {

using testing::HasSubstr;
using enum ScratchStage;

TEST(ScratchTest, ThreadsAreThoseThatTheHardwareNumbers) {
  const auto threads = [](const char* name, uint32_t subslices, ScratchStage stage) {
    const RenderDevice device = Must(FindRenderDevice(name));
    return ScratchThreads(device, FactsOf(device.version), subslices, stage);
  };
  // Mesa's intel_device_info_init_common: max_scratch_ids.
  EXPECT_EQ(threads("bdw gt2", 3, kCompute), 3u * 56);
  EXPECT_EQ(threads("skl gt2", 3, kCompute), 4u * 56);
  EXPECT_EQ(threads("skl gt4", 9, kCompute), 12u * 56);
  EXPECT_EQ(threads("icl 8 banks", 8, kCompute), 8u * 64);
  EXPECT_EQ(threads("icl 8 banks", 6, kCompute), 8u * 64) << "those that do not work count, too";
  EXPECT_EQ(threads("tgl 8 banks", 5, kCompute), 6u * 128);
  EXPECT_EQ(threads("dg2", 24, kCompute), 32u * 128);
  EXPECT_EQ(threads("dg2", 24, kVertex), 32u * 128) << "stages share the numbers";
  EXPECT_EQ(threads("skl gt2", 3, kVertex), 336u);
  EXPECT_EQ(threads("tgl 8 banks", 6, kHull), 336u);
  EXPECT_EQ(threads("icl 8 banks", 8, kDomain), 364u);
  EXPECT_EQ(threads("bdw gt2", 3, kGeometry), 504u);
  // 3DSTATE_PS has no more on these: 384 on Broadwell GT2, 64 a subslice on Skylake.
  EXPECT_GE(threads("bdw gt2", 3, kPixel), 384u);
  EXPECT_GE(threads("skl gt2", 3, kPixel), 256u);
  // Mesa: 128 threads of a PSD in 8 subslices of each slice, whether they work or not.
  EXPECT_EQ(threads("icl 8 banks", 6, kPixel), 1024u);
  EXPECT_EQ(threads("tgl 8 banks", 5, kPixel), 1024u);
  EXPECT_EQ(threads("tgl 8 banks", 6, kPixel), 1024u);
  EXPECT_EQ(threads("dg1", 6, kPixel), 1024u);
  EXPECT_EQ(threads("chv", 2, kCompute), 112u) << "as if its subslices had 8 execution units";
}

TEST(ScratchTest, SizesAreRoundedUpAndEncoded) {
  GpuMemory memory;
  const RenderDevice skylake = Must(FindRenderDevice("skl gt2"));
  ScratchPool pool(*memory.buffers, {.device = skylake,
                                     .subslices = 3,
                                     .facts = &FactsOf(90),
                                     .zone = memory.low,
                                     .general_base = 0x1000});
  const struct {
    uint32_t bytes, per_thread, code;
  } kCases[] = {{1, 1024, 0},      {1024, 1024, 0},    {1025, 2048, 1},
                {65536, 65536, 6}, {65537, 131072, 7}, {2 << 20, 2 << 20, 11}};
  for (const auto& c : kCases) {
    const Scratch scratch = Must(pool.Get(kHull, c.bytes));
    EXPECT_EQ(scratch.per_thread, c.per_thread);
    EXPECT_EQ(scratch.code, c.code);
    EXPECT_EQ(scratch.threads, 336u);
    EXPECT_GE(scratch.memory.size, uint64_t{336} * c.per_thread);
    EXPECT_EQ(scratch.base.gpu, scratch.memory.address - 0x1000);
    EXPECT_EQ(scratch.base.gpu % 1024, 0u);
    EXPECT_EQ(scratch.base.buffer, scratch.memory.handle);
  }
  EXPECT_THAT(pool.Get(kHull, 0).status().message(), HasSubstr("1 to 2097152 are possible"));
  EXPECT_THAT(pool.Get(kHull, (2 << 20) + 1).status().message(), HasSubstr("2097153 bytes"));
}

TEST(ScratchTest, AStageHasOneOfEachSize) {
  GpuMemory memory;
  const RenderDevice skylake = Must(FindRenderDevice("skl gt2"));
  const RenderDevice arc = Must(FindRenderDevice("dg2"));
  ScratchPool nine(*memory.buffers,
                   {.device = skylake, .subslices = 3, .facts = &FactsOf(90), .zone = memory.low});
  EXPECT_EQ(Must(nine.Get(kVertex, 1500)).memory.handle,
            Must(nine.Get(kVertex, 2048)).memory.handle);
  EXPECT_NE(Must(nine.Get(kVertex, 2048)).memory.handle,
            Must(nine.Get(kVertex, 2049)).memory.handle);
  EXPECT_NE(Must(nine.Get(kVertex, 2048)).memory.handle,
            Must(nine.Get(kPixel, 2048)).memory.handle);
  const uint64_t before = nine.allocated_bytes();
  EXPECT_GT(before, 0u);
  Must(nine.Get(kVertex, 2048));
  EXPECT_EQ(nine.allocated_bytes(), before);

  ScratchPool twelve(*memory.buffers,
                     {.device = arc, .subslices = 32, .facts = &FactsOf(125), .zone = memory.low});
  EXPECT_EQ(Must(twelve.Get(kVertex, 2048)).memory.handle,
            Must(twelve.Get(kMesh, 2048)).memory.handle);
  EXPECT_THAT(twelve.Get(kVertex, (256 << 10) + 1).status().message(),
              HasSubstr("1 to 262144 are possible"));
}

TEST(ScratchTest, PointersToSurfacesOmitTheLowBits) {
  EXPECT_EQ(ScratchPointer(FactsOf(125), 0x1240), 0x124u);
  EXPECT_EQ(ScratchPointer(FactsOf(200), 0x1240), 0x49u);
}

}  // namespace
}  // namespace packsmith::intel
