// Copies, compared with copies element by element, and between pages that must not be touched.
#include "runtime/layout/copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "tests/layout/images.h"

// Before Highway: the sets that copies are made for.
#include "runtime/layout/vector_targets.h"
//
#include "hwy/targets.h"

namespace packsmith::layout {
namespace {

using ::testing::HasSubstr;

// Bytes that repeat only after a long period: those of one random number, multiplied.
void FillBytes(std::mt19937& random, absl::Span<uint8_t> bytes) {
  uint64_t number = random() | 1;
  for (uint8_t& byte : bytes) {
    number *= 6364136223846793005u;
    byte = static_cast<uint8_t>(number >> 56);
  }
}

// Memory that begins at the beginning of a page or ends at the end of one, with a page before and
// a page after it that fault.
class Guarded {
 public:
  enum class At { kBegin, kEnd };

  Guarded(size_t size_B, At at) {
    const size_t page_B = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    const size_t room_B = (size_B + page_B - 1) / page_B * page_B;
    mapped_B_ = room_B + 2 * page_B;
    base_ = static_cast<uint8_t*>(
        ::mmap(nullptr, mapped_B_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_NE(base_, MAP_FAILED);
    if (room_B != 0) {
      EXPECT_EQ(::mprotect(base_ + page_B, room_B, PROT_READ | PROT_WRITE), 0);
    }
    bytes_ = absl::MakeSpan(base_ + page_B + (at == At::kEnd ? room_B - size_B : 0), size_B);
  }
  ~Guarded() { ::munmap(base_, mapped_B_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  absl::Span<uint8_t> bytes() { return bytes_; }
  void Fill(std::mt19937& random) { FillBytes(random, bytes_); }

 private:
  uint8_t* base_;
  size_t mapped_B_;
  absl::Span<uint8_t> bytes_;
};

std::string Text(const Region& region) {
  return absl::StrCat("level ", region.level, ", layer ", region.layer, ", sample ",
                      region.sample.has_value() ? absl::StrCat(*region.sample) : "all", ", (",
                      region.x_el, ", ", region.y_el, ") ", region.w_el, "x", region.h_el);
}

Region RandomRegion(std::mt19937& random, const Layout& layout) {
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  const uint32_t level = below(static_cast<uint32_t>(layout.levels().size()));
  Region region = WholeLevel(layout, level, below(layout.levels()[level].layers));
  if (below(3) != 0) {
    region.x_el = below(region.w_el);
    region.y_el = below(region.h_el);
    region.w_el = 1 + below(region.w_el - region.x_el);
    region.h_el = 1 + below(region.h_el - region.y_el);
  }
  if (below(4) == 0) region.sample = below(layout.description().samples);
  return region;
}

// Copies one region in and out, every time with memory of a random alignment, and compares.
void TryRegion(std::mt19937& random, const Layout& layout, const Region& region) {
  SCOPED_TRACE(Text(layout.description()) + ": " + Text(region));
  const absl::StatusOr<CopyPlan> plan = CopyPlan::Make(layout, region);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const uint64_t stride_B = plan->linear_row_B() + random() % 3 * (random() % 40);
  const auto at = [&] { return random() % 2 == 0 ? Guarded::At::kBegin : Guarded::At::kEnd; };
  Guarded image(layout.size_B(), at()), linear(plan->linear_size_B(stride_B), at());
  image.Fill(random);
  linear.Fill(random);
  std::vector<uint8_t> expected(image.bytes().begin(), image.bytes().end());

  ASSERT_TRUE(
      CopyInByElement(layout, region, linear.bytes(), stride_B, absl::MakeSpan(expected)).ok());
  ASSERT_TRUE(plan->CopyIn(linear.bytes(), stride_B, image.bytes()).ok());
  ASSERT_TRUE(std::equal(expected.begin(), expected.end(), image.bytes().begin())) << "copied in";

  // Another image goes out, over the same linear memory, of which what lies between rows must stay.
  image.Fill(random);
  expected.assign(linear.bytes().begin(), linear.bytes().end());
  ASSERT_TRUE(
      CopyOutByElement(layout, region, image.bytes(), absl::MakeSpan(expected), stride_B).ok());
  ASSERT_TRUE(plan->CopyOut(image.bytes(), linear.bytes(), stride_B).ok());
  ASSERT_TRUE(std::equal(expected.begin(), expected.end(), linear.bytes().begin())) << "copied out";
}

TEST(Copy, RandomRegionsOfRandomImagesAreAsElementByElement) {
  std::mt19937 random(7);
  for (int round = 0; round < 120 && !testing::Test::HasFatalFailure(); ++round) {
    const Layout layout = LayOut(RandomImage(random, 200));
    for (int i = 0; i < 3; ++i) TryRegion(random, layout, RandomRegion(random, layout));
  }
}

// All sizes of elements in all tilings, with regions that have whole tiles, edges, and both.
TEST(Copy, EveryTilingAndElementSize) {
  std::mt19937 random(8);
  for (int s = 0; s < kSchemes; ++s) {
    for (const char* format :
         {"S8_UINT", "R16_UINT", "R8G8B8_UINT", "R32_FLOAT", "R16G16B16_UINT", "R32G32_UINT",
          "R32G32B32_UINT", "R32G32B32A32_UINT", "ETC2_RGB8", "ASTC_5x4"}) {
      for (const uint32_t samples : {1u, 2u, 4u}) {
        for (const bool swizzle : {false, true}) {
          ImageDescription image = Image(static_cast<Scheme>(s), format, 147, 83, 1, 1, samples);
          image.bit6_swizzle = swizzle;
          if (!Layout::Of(image).ok()) continue;
          const Layout layout = LayOut(image);
          TryRegion(random, layout, WholeLevel(layout, 0, 0));
          Region inside = WholeLevel(layout, 0, 0);
          inside.x_el = 1;
          inside.y_el = 3;
          inside.w_el -= 2;
          inside.h_el -= 3;
          TryRegion(random, layout, inside);
          inside.sample = samples - 1;
          TryRegion(random, layout, inside);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

// Formats of callers may have elements of any size.
TEST(Copy, AnElementSizeThatNoBuiltInFormatHasIsCopiedAllTheSame) {
  std::mt19937 random(12);
  for (const uint32_t block_B : {5u, 7u, 20u, 48u, 128u}) {
    const Format own = {"OWN", 1, 1, block_B, "", "", false};
    ImageDescription image = Image(Scheme::kUInterleaved, "R8_UINT", 147, 83);
    image.format = &own;
    const Layout layout = LayOut(image);
    TryRegion(random, layout, WholeLevel(layout, 0, 0));
  }
}

// Everything again for each instruction set that this machine has and copies were made for.
TEST(Copy, EverySetOfVectorInstructions) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::GetChosenTarget().Update(target);
    std::mt19937 random(11);
    for (const char* format :
         {"S8_UINT", "R16_UINT", "R8G8B8_UINT", "R32_FLOAT", "R16G16B16_UINT", "R32G32_UINT",
          "R32G32B32_UINT", "R32G32B32A32_UINT", "R64G64B64_UINT", "R64G64B64A64_UINT"}) {
      for (const Scheme scheme : {Scheme::kAgxTwiddled, Scheme::kUInterleaved, Scheme::kIntelX,
                                  Scheme::kIntelY, Scheme::kIntelW}) {
        const ImageDescription image = Image(scheme, format, 147, 83);
        if (!Layout::Of(image).ok()) continue;
        const Layout layout = LayOut(image);
        TryRegion(random, layout, WholeLevel(layout, 0, 0));
      }
    }
  }
  hwy::GetChosenTarget().DeInit();
}

// Large enough to bypass the cache, with memory whose alignment allows that and that does not;
// compared with the same copy in bands that are too small for it.
TEST(Copy, LargeImagesAreAsBandsOfThem) {
  std::mt19937 random(9);
  for (const auto& [scheme, format] :
       {std::pair(Scheme::kAgxTwiddled, "R8_UINT"), std::pair(Scheme::kIntelTile64, "R32_UINT"),
        std::pair(Scheme::kUInterleaved, "R8G8B8_UINT"),
        std::pair(Scheme::kAgxTwiddled, "R32G32B32A32_UINT")}) {
    const Layout layout = LayOut(Image(scheme, format, 3200, 3000));
    for (const uint32_t x_el : {0u, 5u}) {
      SCOPED_TRACE(std::string(format) + " from " + std::to_string(x_el));
      Region region = WholeLevel(layout, 0, 0);
      region.x_el = x_el;
      region.w_el -= x_el;
      const absl::StatusOr<CopyPlan> plan = CopyPlan::Make(layout, region);
      ASSERT_TRUE(plan.ok());
      const uint64_t stride_B = plan->linear_row_B();
      std::vector<uint8_t> linear(plan->linear_size_B(stride_B));
      FillBytes(random, absl::MakeSpan(linear));
      std::vector<uint8_t> expected(layout.size_B()), back(linear.size());
      for (uint32_t y = 0; y < region.h_el; y += 100) {
        Region band = region;
        band.y_el = y;
        band.h_el = 100;
        ASSERT_TRUE(CopyPlan::Make(layout, band)
                        ->CopyIn(absl::MakeSpan(linear).subspan(y * stride_B), stride_B,
                                 absl::MakeSpan(expected))
                        .ok());
      }
      for (const size_t offset_B : {0, 16}) {
        Guarded memory(offset_B + layout.size_B(), Guarded::At::kBegin);
        const absl::Span<uint8_t> image = memory.bytes().subspan(offset_B);
        ASSERT_TRUE(plan->CopyIn(linear, stride_B, image).ok());
        ASSERT_TRUE(std::equal(expected.begin(), expected.end(), image.begin()));
        std::fill(back.begin(), back.end(), 0);
        ASSERT_TRUE(plan->CopyOut(image, absl::MakeSpan(back), stride_B).ok());
        ASSERT_TRUE(back == linear);
      }
    }
  }
}

TEST(Copy, AnExecutorsTasksMakeUpTheWhole) {
  std::mt19937 random(10);
  for (const Scheme scheme : {Scheme::kAgxTwiddled, Scheme::kAgxLinear, Scheme::kUInterleaved}) {
    const Layout layout = LayOut(Image(scheme, "R8G8B8A8_UNORM", 500, 700));
    Region region = WholeLevel(layout, 0, 0);
    region.y_el = 10;
    region.h_el -= 17;
    const absl::StatusOr<CopyPlan> plan = CopyPlan::Make(layout, region);
    ASSERT_TRUE(plan.ok());
    const uint64_t stride_B = plan->linear_row_B() + 12;
    std::vector<uint8_t> linear(plan->linear_size_B(stride_B)), back = linear;
    FillBytes(random, absl::MakeSpan(linear));
    std::vector<uint8_t> image(layout.size_B()), expected = image;
    ASSERT_TRUE(plan->CopyIn(linear, stride_B, absl::MakeSpan(expected)).ok());

    size_t most = 0;
    const auto executor = [&](size_t tasks, absl::FunctionRef<void(size_t)> run) {
      most = tasks;
      std::vector<std::thread> threads;
      std::atomic<size_t> next = 0;
      for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
          for (size_t task = next++; task < tasks; task = next++) run(task);
        });
      }
      for (std::thread& thread : threads) thread.join();
    };
    ASSERT_TRUE(plan->CopyIn(linear, stride_B, absl::MakeSpan(image), executor).ok());
    EXPECT_GT(most, 1u);
    EXPECT_EQ(image, expected);
    ASSERT_TRUE(plan->CopyOut(image, absl::MakeSpan(back), stride_B, executor).ok());
    for (uint32_t y = 0; y < region.h_el; ++y) {
      ASSERT_EQ(std::memcmp(&back[y * stride_B], &linear[y * stride_B], plan->linear_row_B()), 0);
    }
  }
}

// Wherever samples lie in the image, those of a pixel are side by side in linear memory.
TEST(Copy, SamplesOfIntelsImagesComeTogetherToo) {
  std::mt19937 random(12);
  for (const Scheme scheme : {Scheme::kIntelY, Scheme::kIntelW, Scheme::kIntelYf, Scheme::kIntelYs,
                              Scheme::kIntelTile64, Scheme::kIntelTile64Xe2}) {
    for (const char* format : {"S8_UINT", "R8_UNORM", "Z32_FLOAT", "R32G32B32A32_UINT"}) {
      for (const uint32_t samples : {8u, 16u}) {
        const ImageDescription image = Image(scheme, format, 70, 30, 1, 2, samples);
        if (!Layout::Of(image).ok()) continue;
        const Layout layout = LayOut(image);
        Region region = WholeLevel(layout, 0, 1);
        TryRegion(random, layout, region);
        region.x_el = 3;
        region.w_el -= 5;
        TryRegion(random, layout, region);
        region.sample = 5;
        TryRegion(random, layout, region);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(Copy, SamplesComeOneByOneOrAllTogether) {
  const Layout layout = LayOut(Image(Scheme::kAgxTwiddled, "R8_UINT", 16, 16, 1, 1, 4));
  std::vector<uint8_t> image(layout.size_B());
  for (uint32_t y = 0; y < 16; ++y) {
    for (uint32_t x = 0; x < 16; ++x) {
      for (uint32_t s = 0; s < 4; ++s) {
        image[*layout.AddressOf({0, 0, x, y, s})] = static_cast<uint8_t>(s << 6 | (x ^ y));
      }
    }
  }
  Region region = WholeLevel(layout, 0, 0);
  std::vector<uint8_t> all(1024), one(256);
  ASSERT_TRUE(CopyPlan::Make(layout, region)->CopyOut(image, absl::MakeSpan(all), 64).ok());
  EXPECT_EQ(all[64 * 3 + 4 * 5 + 2], 2 << 6 | (3 ^ 5));
  region.sample = 2;
  ASSERT_TRUE(CopyPlan::Make(layout, region)->CopyOut(image, absl::MakeSpan(one), 16).ok());
  EXPECT_EQ(one[16 * 3 + 5], 2 << 6 | (3 ^ 5));
}

TEST(Copy, AnEmptyRegionIsNoError) {
  const Layout layout = LayOut(Image(Scheme::kAgxTwiddled, "R8_UINT", 16, 16));
  Region region;
  region.x_el = 16;
  const absl::StatusOr<CopyPlan> plan = CopyPlan::Make(layout, region);
  ASSERT_TRUE(plan.ok());
  std::vector<uint8_t> image(layout.size_B());
  EXPECT_TRUE(plan->CopyIn({}, 0, absl::MakeSpan(image)).ok());
  EXPECT_TRUE(plan->CopyOut(image, {}, 0).ok());
}

TEST(Copy, RegionsOutsideOfTheImageAreErrors) {
  const Layout layout = LayOut(Image(Scheme::kAgxTwiddled, "R8_UINT", 16, 16, 5, 2));
  const auto error = [&](auto change) {
    Region region = WholeLevel(layout, 0, 0);
    change(region);
    const absl::Status status = CopyPlan::Make(layout, region).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
    return std::string(status.message());
  };
  EXPECT_THAT(error([](auto& r) { r.level = 5; }), HasSubstr("level 5: the image has 5"));
  EXPECT_THAT(error([](auto& r) { r.layer = 2; }), HasSubstr("layer 2: the image has 2"));
  EXPECT_THAT(error([](auto& r) { r.sample = 1; }), HasSubstr("sample 1: the image has 1"));
  EXPECT_THAT(error([](auto& r) { r.x_el = 1; }), HasSubstr("(17, 16)"));
  EXPECT_THAT(error([](auto& r) { r.y_el = 0xffffffff; }), HasSubstr("4294967311"));
  EXPECT_THAT(error([](auto& r) { r.level = 1; }), HasSubstr("level 1, which has 8x8"));
}

TEST(Copy, MemoryThatIsTooSmallIsAnError) {
  const Layout layout = LayOut(Image(Scheme::kAgxTwiddled, "R8_UINT", 16, 16));
  const absl::StatusOr<CopyPlan> plan = CopyPlan::Make(layout, WholeLevel(layout, 0, 0));
  ASSERT_TRUE(plan.ok());
  std::vector<uint8_t> image(layout.size_B()), linear(256);
  const auto in = [&](size_t linear_B, uint64_t stride_B, size_t image_B) {
    return std::string(plan->CopyIn(absl::MakeSpan(linear).first(linear_B), stride_B,
                                    absl::MakeSpan(image).first(image_B))
                           .message());
  };
  EXPECT_EQ(in(256, 16, 256), "");
  EXPECT_THAT(in(256, 16, 255), HasSubstr("its memory only 255"));
  EXPECT_THAT(in(255, 16, 256), HasSubstr("do not fit into 255 B"));
  EXPECT_THAT(in(256, 17, 256), HasSubstr("17 B apart"));
  EXPECT_THAT(in(256, 15, 256), HasSubstr("overlap"));
  EXPECT_THAT(in(256, ~uint64_t{0}, 256), HasSubstr("do not fit"));
  EXPECT_FALSE(plan->CopyOut(image, absl::MakeSpan(linear).first(255), 16).ok());
}

TEST(Copy, PixelsBecomeBlocks) {
  const Layout layout = LayOut(Image(Scheme::kAgxTwiddled, "ASTC_10x8", 101, 33));
  const absl::StatusOr<Region> region = RegionOfPixels(layout, 0, 0, 20, 8, 81, 25);
  ASSERT_TRUE(region.ok());
  EXPECT_EQ(region->x_el, 2u);
  EXPECT_EQ(region->y_el, 1u);
  EXPECT_EQ(region->w_el, 9u);
  EXPECT_EQ(region->h_el, 4u);
  EXPECT_TRUE(CopyPlan::Make(layout, *region).ok());
  EXPECT_THAT(RegionOfPixels(layout, 0, 0, 20, 9, 1, 1).status().message(),
              HasSubstr("(20, 9) is not the corner of a block"));
}

}  // namespace
}  // namespace packsmith::layout
