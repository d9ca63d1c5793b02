#include "runtime/intel/shader/kernels.h"

#include <cstdint>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/intel/compute/gpu_memory.h"

namespace packsmith::intel {
namespace {

using testing::HasSubstr;

std::vector<uint8_t> Code(uint32_t seed, size_t size = 200) {
  std::mt19937 random(seed);
  std::vector<uint8_t> code(size);
  for (uint8_t& byte : code) byte = static_cast<uint8_t>(random());
  return code;
}

TEST(KernelsTest, AContentIsUploadedOnceAndPadded) {
  GpuMemory memory;
  Kernels kernels(*memory.pool, {.prefetch_bytes = 512});
  const auto code = Code(1);
  const Kernel first = Must(kernels.Upload(code));
  EXPECT_EQ(first.offset % 64, 0u);
  EXPECT_EQ(first.size, 200u);
  std::vector<uint8_t> bytes(200 + 512, 0xff);
  ASSERT_TRUE(memory.device->Read(0, first.address, absl::MakeSpan(bytes)).ok());
  EXPECT_EQ(std::memcmp(bytes.data(), code.data(), 200), 0);
  for (size_t i = 200; i < bytes.size(); ++i) ASSERT_EQ(bytes[i], 0) << i;

  EXPECT_EQ(Must(kernels.Upload(code)).offset, first.offset);
  EXPECT_NE(Must(kernels.Upload(Code(2))).offset, first.offset);
  // A prefix is another kernel.
  EXPECT_NE(Must(kernels.Upload(absl::MakeConstSpan(code).subspan(0, 192))).offset, first.offset);
  const KernelStatistics statistics = kernels.statistics();
  EXPECT_EQ(statistics.uploads, 3u);
  EXPECT_EQ(statistics.hits, 1u);
  EXPECT_EQ(statistics.kernels, 3u);
  EXPECT_EQ(statistics.kernel_bytes, 200u + 200 + 192);
}

TEST(KernelsTest, MemoryIsFreeAfterAsManyReleasesAsUploads) {
  GpuMemory memory;
  Kernels kernels(*memory.pool, {});
  const Kernel kernel = Must(kernels.Upload(Code(1)));
  Must(kernels.Upload(Code(1)));
  ASSERT_TRUE(kernels.Release(kernel).ok());
  EXPECT_EQ(memory.pool->statistics().live_states, 1u);
  ASSERT_TRUE(kernels.Release(kernel).ok());
  EXPECT_EQ(memory.pool->statistics().live_states, 0u);
  EXPECT_TRUE(absl::IsNotFound(kernels.Release(kernel)));
  // The content is not known any more.
  Must(kernels.Upload(Code(1)));
  EXPECT_EQ(kernels.statistics().uploads, 2u);
}

TEST(KernelsTest, SharingCanBeTurnedOff) {
  GpuMemory memory;
  Kernels kernels(*memory.pool, {.share = false});
  const Kernel a = Must(kernels.Upload(Code(1))), b = Must(kernels.Upload(Code(1)));
  EXPECT_NE(a.offset, b.offset);
  EXPECT_TRUE(kernels.Release(a).ok());
  EXPECT_TRUE(kernels.Release(b).ok());
  EXPECT_EQ(kernels.statistics().hits, 0u);
  EXPECT_EQ(kernels.statistics().kernels, 0u);
}

TEST(KernelsTest, NoInstructionsOrPartsOfOneAreRefused) {
  GpuMemory memory;
  Kernels kernels(*memory.pool, {});
  EXPECT_THAT(kernels.Upload({}).status().message(), HasSubstr("a kernel of 0 bytes"));
  EXPECT_THAT(kernels.Upload(Code(1, 12)).status().message(), HasSubstr("a multiple of 8"));
  // More than a pool has in a block.
  EXPECT_FALSE(kernels.Upload(std::vector<uint8_t>(32 << 20)).ok());
  EXPECT_EQ(kernels.statistics().kernels, 0u);
}

TEST(KernelsTest, ThreadsUploadAndReleaseTheSame) {
  GpuMemory memory;
  Kernels kernels(*memory.pool, {});
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < 300; ++i) {
        const auto code = Code(random() % 8);
        const Kernel kernel = Must(kernels.Upload(code));
        uint8_t begin[8];
        EXPECT_TRUE(memory.device->Read(0, kernel.address, absl::MakeSpan(begin)).ok());
        EXPECT_EQ(std::memcmp(begin, code.data(), 8), 0);
        EXPECT_TRUE(kernels.Release(kernel).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(kernels.statistics().kernels, 0u);
  EXPECT_EQ(kernels.statistics().uploads + kernels.statistics().hits, 1200u);
  EXPECT_EQ(memory.pool->statistics().live_states, 0u);
}

}  // namespace
}  // namespace packsmith::intel
