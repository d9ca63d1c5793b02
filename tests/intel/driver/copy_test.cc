// Copies of command buffers, executed: every byte is where it was asked for, and no other changed.
#include "runtime/layout/copy.h"

#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/intel/driver/machine.h"

namespace packsmith::intel {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes RandomBytes(size_t size, uint32_t seed) {
  std::minstd_rand random(seed);
  Bytes bytes(size);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random() >> 8);
  return bytes;
}

class CopyTest : public testing::TestWithParam<std::string> {
 protected:
  CopyTest() : machine_(GetParam()) {}
  ~CopyTest() override { EXPECT_EQ(machine_.problems, std::vector<std::string>()); }

  std::unique_ptr<CommandBuffer> New(Engine engine) {
    auto commands = machine_.context->NewCommandBuffer({.engine = engine});
    EXPECT_TRUE(commands.ok()) << commands.status();
    return *std::move(commands);
  }
  Bytes BytesOf(const gpu::Buffer& buffer, size_t size) {
    return Bytes(buffer.cpu, buffer.cpu + size);
  }
  Image NewImage(const char* format, uint32_t width, uint32_t height, bool linear = false,
                 uint32_t layers = 1, uint32_t levels = 1) {
    auto image = machine_.context->NewImage({.format = format,
                                             .width = width,
                                             .height = height,
                                             .layers = layers,
                                             .levels = levels,
                                             .linear = linear});
    EXPECT_TRUE(image.ok()) << image.status();
    return *std::move(image);
  }
  // The texels of a level and layer, row by row, as the CPU finds them.
  Bytes Texels(const Image& image, uint32_t level, uint32_t layer) {
    const auto plan =
        layout::CopyPlan::Make(image.placement, layout::WholeLevel(image.placement, level, layer));
    EXPECT_TRUE(plan.ok());
    Bytes bytes(plan->linear_size_B(plan->linear_row_B()));
    EXPECT_TRUE(plan->CopyOut(absl::MakeConstSpan(image.memory.cpu, image.placement.size_B()),
                              absl::MakeSpan(bytes), plan->linear_row_B())
                    .ok());
    return bytes;
  }
  void Fill(const Image& image, uint32_t level, uint32_t layer, const Bytes& bytes) {
    const auto plan =
        layout::CopyPlan::Make(image.placement, layout::WholeLevel(image.placement, level, layer));
    ASSERT_TRUE(plan.ok());
    ASSERT_TRUE(plan->CopyIn(bytes, plan->linear_row_B(),
                             absl::MakeSpan(image.memory.cpu, image.placement.size_B()))
                    .ok());
  }

  Machine machine_;
};
INSTANTIATE_TEST_SUITE_P(, CopyTest, testing::ValuesIn(DriverGenerations()),
                         [](const auto& info) { return info.param; });

TEST_P(CopyTest, BytesBetweenBuffersAtAnyOffset) {
  struct Case {
    uint64_t from, to, size;
  };
  const Case cases[] = {{0, 0, 1},        {3, 5, 1000},   {64, 128, 64},  {1, 65, 20000},
                        {7, 7, 8192 * 3}, {0, 0, 100000}, {12, 4, 40004}, {63, 2, 63},
                        {0, 4096, 8192},  {2, 6, 16386}};
  for (const Case& one : cases) {
    SCOPED_TRACE(testing::Message() << one.from << " " << one.to << " " << one.size);
    const Bytes content = RandomBytes(one.from + one.size + 9, 1);
    const gpu::Buffer source = machine_.BufferOf("source", content);
    const gpu::Buffer destination =
        machine_.BufferOf("destination", Bytes(one.to + one.size + 9, 0xee));
    auto commands = New(Engine::kCopy);
    ASSERT_TRUE(commands->Copy({.source = source,
                                .destination = destination,
                                .source_offset = one.from,
                                .destination_offset = one.to,
                                .size = one.size}))
        << commands->status();
    machine_.Run(*commands);
    Bytes expected(one.to + one.size + 9, 0xee);
    std::copy_n(content.begin() + one.from, one.size, expected.begin() + one.to);
    EXPECT_EQ(BytesOf(destination, expected.size()), expected);
  }
  EXPECT_EQ(machine_.engines[0], "copy");
}

TEST_P(CopyTest, SmallCopiesOnTheRenderEngine) {
  const Bytes content = RandomBytes(4096, 2);
  const gpu::Buffer source = machine_.BufferOf("source", content);
  const gpu::Buffer destination = machine_.BufferOf("destination", Bytes(4096, 0));
  auto commands = New(Engine::kRender);
  EXPECT_TRUE(commands->Copy({.source = source, .destination = destination, .size = 256}));
  // What the first has written.
  EXPECT_TRUE(commands->Copy({.source = destination,
                              .destination = destination,
                              .source_offset = 4,
                              .destination_offset = 1024,
                              .size = 64}));
  machine_.Run(*commands);
  EXPECT_EQ(std::memcmp(destination.cpu, content.data(), 256), 0);
  EXPECT_EQ(std::memcmp(destination.cpu + 1024, content.data() + 4, 64), 0);
  EXPECT_EQ(machine_.engines[0], "render");
}

TEST_P(CopyTest, CopiesThatAnEngineLacksNameTheOneThatHasThem) {
  const gpu::Buffer buffer = machine_.BufferOf("buffer", Bytes(16384, 0));
  const Image image = NewImage("R8G8B8A8_UNORM", 16, 16);
  auto commands = New(Engine::kRender);
  EXPECT_FALSE(commands->Copy(
      {.source = buffer, .destination = buffer, .destination_offset = 8192, .size = 4100}));
  EXPECT_EQ(commands->status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_NE(commands->status().message().find("Engine::kCopy"), std::string::npos);
  commands = New(Engine::kRender);
  EXPECT_FALSE(commands->Copy({.source = buffer,
                               .destination = buffer,
                               .source_offset = 1,
                               .destination_offset = 8192,
                               .size = 4}));
  EXPECT_EQ(commands->status().code(), absl::StatusCode::kUnimplemented);
  commands = New(Engine::kRender);
  EXPECT_FALSE(commands->Copy(
      BufferImageCopy{.buffer = buffer, .image = {.image = &image}, .width = 4, .height = 4}));
  EXPECT_NE(commands->status().message().find("Engine::kCopy"), std::string::npos);
}

TEST_P(CopyTest, OutOfRangeNamesTheSizesAndRecordsNothing) {
  const gpu::Buffer small = machine_.BufferOf("small", Bytes(100, 0));
  const Image image = NewImage("R8G8B8A8_UNORM", 16, 16);
  const auto refuses = [&](const auto& copy, const char* text) {
    auto commands = New(Engine::kCopy);
    EXPECT_FALSE(commands->Copy(copy));
    EXPECT_EQ(commands->status().code(), absl::StatusCode::kOutOfRange) << commands->status();
    EXPECT_NE(commands->status().message().find(text), std::string::npos) << commands->status();
    EXPECT_EQ(commands->batch().dwords(), 0u);
    // The first error stays.
    const absl::Status first = commands->status();
    EXPECT_FALSE(commands->Copy(BufferCopy{.source = small, .destination = small, .size = 0}));
    EXPECT_EQ(commands->End(), first);
    EXPECT_EQ(machine_.context->Submit(*commands).status(), first);
  };
  const uint64_t size = small.size;
  refuses(BufferCopy{.source = small, .destination = small, .source_offset = size, .size = 1},
          "source");
  refuses(BufferCopy{.source = small, .destination = small, .size = size + 1}, "source");
  refuses(BufferImageCopy{.buffer = small,
                          .offset = size - 100,
                          .image = {.image = &image},
                          .width = 16,
                          .height = 16},
          "buffer");
  refuses(
      BufferImageCopy{
          .buffer = small, .image = {.image = &image, .x = 15}, .width = 2, .height = 1},
      "image");
  refuses(ImageCopy{.source = {.image = &image, .layer = 1},
                    .destination = {.image = &image},
                    .width = 1,
                    .height = 1},
          "1 layers");
}

TEST_P(CopyTest, ImagesOfAllTexelSizesGoThroughBuffers) {
  const struct {
    const char* format;
    uint32_t bytes;
  } formats[] = {{"R8_UNORM", 1},
                 {"R16_UNORM", 2},
                 {"R8G8B8A8_UNORM", 4},
                 {"R32G32_FLOAT", 8},
                 {"R32G32B32A32_FLOAT", 16}};
  for (const auto& [format, texel] : formats) {
    for (const bool linear : {false, true}) {
      SCOPED_TRACE(testing::Message() << format << (linear ? " linear" : " tiled"));
      const uint32_t width = 77, height = 45;
      const Bytes texels = RandomBytes(size_t{width} * height * texel, texel);
      Bytes with_offset(52, 0);
      with_offset.insert(with_offset.end(), texels.begin(), texels.end());
      const gpu::Buffer source = machine_.BufferOf("source", with_offset);
      const gpu::Buffer back = machine_.BufferOf("back", Bytes(width * height * texel, 0));
      const Image image = NewImage(format, width, height, linear);
      auto commands = New(Engine::kCopy);
      ASSERT_TRUE(commands->Copy(BufferImageCopy{.buffer = source,
                                                 .offset = 52,
                                                 .image = {.image = &image},
                                                 .width = width,
                                                 .height = height}))
          << commands->status();
      // Order is kept: this reads what the other writes.
      ASSERT_TRUE(commands->Copy(BufferImageCopy{.buffer = back,
                                                 .image = {.image = &image},
                                                 .width = width,
                                                 .height = height,
                                                 .to_image = false}))
          << commands->status();
      machine_.Run(*commands);
      EXPECT_EQ(Texels(image, 0, 0), texels);
      EXPECT_EQ(BytesOf(back, texels.size()), texels);
    }
  }
}

TEST_P(CopyTest, RectanglesOfLevelsAndLayers) {
  const Image from = NewImage("R8G8B8A8_UNORM", 130, 70, false, 3, 3);
  const Image to = NewImage("R8G8B8A8_UNORM", 200, 100, true, 4, 1);
  for (uint32_t layer = 0; layer < 3; ++layer) {
    for (uint32_t level = 0; level < 3; ++level) {
      Fill(from, level, layer, RandomBytes(Texels(from, level, layer).size(), level * 7 + layer));
    }
  }
  auto commands = New(Engine::kCopy);
  ASSERT_TRUE(
      commands->Copy(ImageCopy{.source = {.image = &from, .level = 1, .layer = 1, .x = 3, .y = 5},
                               .destination = {.image = &to, .layer = 2, .x = 11, .y = 60},
                               .width = 50,
                               .height = 20,
                               .layers = 2}))
      << commands->status();
  machine_.Run(*commands);
  for (uint32_t i = 0; i < 4; ++i) {
    const Bytes result = Texels(to, 0, i);
    Bytes expected(result.size(), 0);
    if (i >= 2) {
      const Bytes source = Texels(from, 1, i - 1);  // 65 by 35
      for (uint32_t y = 0; y < 20; ++y) {
        std::memcpy(&expected[((60 + y) * 200 + 11) * 4], &source[((5 + y) * 65 + 3) * 4], 200);
      }
    }
    EXPECT_EQ(result, expected) << i;
  }
}

TEST_P(CopyTest, RowsOfABufferMayBeApart) {
  const uint32_t width = 20, height = 9, pitch = 37;
  const Bytes content = RandomBytes(pitch * height, 5);
  const gpu::Buffer source = machine_.BufferOf("source", content);
  const Image image = NewImage("R8_UNORM", 64, 64);
  auto commands = New(Engine::kCopy);
  ASSERT_TRUE(commands->Copy(BufferImageCopy{.buffer = source,
                                             .row_pitch = pitch,
                                             .image = {.image = &image, .x = 7, .y = 8},
                                             .width = width,
                                             .height = height}))
      << commands->status();
  machine_.Run(*commands);
  Bytes expected(64 * 64, 0);
  for (uint32_t y = 0; y < height; ++y) {
    std::memcpy(&expected[(8 + y) * 64 + 7], &content[y * pitch], width);
  }
  EXPECT_EQ(Texels(image, 0, 0), expected);
}

TEST_P(CopyTest, BlocksOfCompressedFormats) {
  const Image from = NewImage("BC1_RGBA_UNORM", 64, 32), to = NewImage("BC1_RGBA_UNORM", 64, 32);
  Fill(from, 0, 0, RandomBytes(Texels(from, 0, 0).size(), 9));
  auto commands = New(Engine::kCopy);
  ASSERT_TRUE(commands->Copy(ImageCopy{.source = {.image = &from, .x = 4, .y = 8},
                                       .destination = {.image = &to, .x = 8, .y = 4},
                                       .width = 16,
                                       .height = 8}))
      << commands->status();
  machine_.Run(*commands);
  const Bytes source = Texels(from, 0, 0), result = Texels(to, 0, 0);
  Bytes expected(result.size(), 0);
  for (uint32_t y = 0; y < 2; ++y) {
    std::memcpy(&expected[((1 + y) * 16 + 2) * 8], &source[((2 + y) * 16 + 1) * 8], 32);
  }
  EXPECT_EQ(result, expected);
}

}  // namespace
}  // namespace packsmith::intel
