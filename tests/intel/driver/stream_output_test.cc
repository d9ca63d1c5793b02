// Stream output of command buffers, executed: which packets are in effect at each draw, what is
// loaded and stored, and how many vertices a draw of what was written has.
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/intel/driver/draw_fixture.h"

namespace packsmith::intel {
namespace {

class StreamOutputTest : public DrawFixture {
 protected:
  StreamOutputTest() {
    written_ = machine_.BufferOf("written", DrawnBytes(4096, 0));
    sizes_ = machine_.BufferOf("sizes", DrawnBytes(64, 0));
  }
  std::unique_ptr<GraphicsPipeline> NewStreamPipeline(bool rasterize = true) {
    return NewPipeline(
        {.varyings = varyings_,
         .stream_output = {.varyings = streamed_, .strides = {24}, .rasterize = rasterize}});
  }
  StreamOutputBuffer Target(bool append = false) {
    return {.memory = At(written_), .size = 4096, .written = At(sizes_), .append = append};
  }
  // Stream output that is off has no function in its packet.
  bool StreamsOut(size_t work) {
    const std::vector<uint32_t> packet = StateOf(work, "3DSTATE_STREAMOUT");
    EXPECT_GE(packet.size(), 5u);
    return packet.size() >= 5 && packet[3] != 0;
  }

  gpu::Buffer written_, sizes_;
  const Varying varyings_[1] = {Location(0)};
  const StreamedVarying streamed_[2] = {{.what = Varying::kPosition, .offset = 0},
                                        {.what = Location(0), .components = 3, .offset = 16}};
};
INSTANTIATE_TEST_SUITE_P(, StreamOutputTest, testing::ValuesIn(DriverGenerations()),
                         [](const auto& info) { return info.param; });

TEST_P(StreamOutputTest, VerticesAreWrittenBetweenBeginAndEnd) {
  const auto pipeline = NewStreamPipeline(), other = NewPipeline();
  auto commands = New();
  BindAll(*commands, *pipeline);
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  EXPECT_TRUE(commands->BeginStreamOutput({Target()})) << commands->status();
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  EXPECT_TRUE(commands->Bind(*other));  // of a pipeline without stream output
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  EXPECT_TRUE(commands->EndStreamOutput()) << commands->status();
  EXPECT_TRUE(commands->Bind(*pipeline));
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  machine_.Run(*commands);
  ASSERT_EQ(machine_.works.size(), 4u);
  EXPECT_FALSE(StreamsOut(0));
  EXPECT_TRUE(StreamsOut(1));
  EXPECT_FALSE(StreamsOut(2));
  EXPECT_FALSE(StreamsOut(3));
  // 24 bytes from vertex to vertex of buffer 0; four slots are read, in pairs.
  EXPECT_EQ(StateOf(1, "3DSTATE_STREAMOUT")[3] & 0xfff, 24u);
  EXPECT_EQ(StateOf(1, "3DSTATE_STREAMOUT")[2] & 0x1f, 1u);
  EXPECT_GE(Count("3DSTATE_SO_DECL_LIST"), 1u);
  EXPECT_EQ(machine_.problems, std::vector<std::string>());
}

TEST_P(StreamOutputTest, SizesAreStoredAndContinued) {
  const auto pipeline = NewStreamPipeline();
  const uint32_t before[] = {48, 7};
  std::memcpy(sizes_.cpu, before, sizeof(before));
  auto commands = New();
  BindAll(*commands, *pipeline);
  // From 48 on: nothing is executed that would add to it.
  EXPECT_TRUE(commands->BeginStreamOutput({Target(/*append=*/true)}));
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  EXPECT_TRUE(commands->EndStreamOutput()) << commands->status();
  machine_.Run(*commands);
  EXPECT_EQ(Load(sizes_, 0), 48u);
  EXPECT_EQ(Load(sizes_, 1), 7u);
  // From the beginning, whatever was there.
  ASSERT_TRUE(commands->Reset().ok());
  BindAll(*commands, *pipeline);
  EXPECT_TRUE(commands->BeginStreamOutput({Target()}));
  EXPECT_TRUE(commands->EndStreamOutput());
  machine_.Run(*commands);
  EXPECT_EQ(Load(sizes_, 0), 0u);
  EXPECT_EQ(machine_.problems, std::vector<std::string>());
}

TEST_P(StreamOutputTest, WhatWasWrittenIsDrawn) {
  const auto pipeline = NewStreamPipeline();
  auto commands = New();
  BindAll(*commands, *pipeline);
  EXPECT_TRUE(commands->BeginStreamOutput({Target()}));
  EXPECT_TRUE(commands->Draw({.vertices = 3}));
  EXPECT_TRUE(commands->EndStreamOutput());
  const VertexBuffer buffers[] = {{.memory = At(written_), .size = 4096, .stride = 24}};
  EXPECT_TRUE(commands->SetVertexBuffers(buffers));
  EXPECT_TRUE(commands->Draw({.vertices = 1}));
  bool first = true;
  machine_.shaders = [&](const sim::Work&, sim::WorkMemory& memory) {
    uint8_t bytes[4] = {9, 8, 7, 6}, read[4] = {};
    if (first) {
      memory.Write(tables::ClientKind::kStreamOutput, 0, written_.address, bytes);
    } else {
      memory.Read(tables::ClientKind::kVertexFetch, 0, written_.address, absl::MakeSpan(read));
      EXPECT_EQ(std::memcmp(read, bytes, 4), 0);
    }
    first = false;
  };
  machine_.Run(*commands);
  EXPECT_EQ(machine_.works.size(), 2u);
  EXPECT_EQ(machine_.problems, std::vector<std::string>());
}

TEST_P(StreamOutputTest, ADrawHasAsManyVerticesAsWereWritten) {
  const auto pipeline = NewPipeline();
  const struct {
    uint32_t bytes, offset, stride;
  } cases[] = {{240, 0, 24},    {239, 0, 24},       {264, 24, 24},       {64, 0, 16},
               {0, 0, 12},      {0xfffffffc, 0, 4}, {0xfffffff8, 0, 12}, {0xfffffffc, 0, 2044},
               {4088, 0, 2044}, {4084, 0, 2044}};
  for (const auto& one : cases) {
    SCOPED_TRACE(testing::Message() << one.bytes << " / " << one.stride);
    std::memcpy(sizes_.cpu, &one.bytes, 4);
    auto commands = New();
    BindAll(*commands, *pipeline);
    EXPECT_TRUE(commands->Draw(StreamOutputDraw{
        .written = At(sizes_), .offset = one.offset, .stride = one.stride, .instances = 2}))
        << commands->status();
    machine_.Run(*commands);
    const auto draws = DwordsOf("3DPRIMITIVE");
    ASSERT_FALSE(draws.empty());
    EXPECT_EQ(draws.back()[2], (one.bytes - one.offset) / one.stride);
    EXPECT_EQ(draws.back()[4], 2u);
  }
  EXPECT_EQ(machine_.problems, std::vector<std::string>());
}

TEST_P(StreamOutputTest, WhatDoesNotFitIsRefused) {
  const auto refuses = [&](const StreamOutput& output, const char* text) {
    vertex_.entry.start_register = 2;
    GraphicsPipelineOptions options{.varyings = varyings_, .stream_output = output};
    options.shaders.vertex = &vertex_;
    const auto pipeline = machine_.context->NewGraphicsPipeline(options);
    EXPECT_FALSE(pipeline.ok());
    EXPECT_NE(pipeline.status().message().find(text), std::string::npos) << pipeline.status();
  };
  const StreamedVarying other[] = {{.what = Location(5)}};
  refuses({.varyings = other, .strides = {16}}, "location 5, which no shader writes");
  refuses({.varyings = streamed_, .strides = {20}}, "stride of 20 bytes");
  refuses({.varyings = streamed_, .strides = {2052}}, "up to 2048");
  refuses({.varyings = streamed_, .strides = {24}, .rasterized_stream = 4}, "stream 4");

  auto commands = New();
  EXPECT_FALSE(commands->EndStreamOutput());
  EXPECT_EQ(commands->status().code(), absl::StatusCode::kFailedPrecondition);
  commands = New();
  EXPECT_TRUE(commands->BeginStreamOutput({Target()}));
  EXPECT_FALSE(commands->BeginStreamOutput({Target()}));
  commands = New();
  EXPECT_TRUE(commands->BeginStreamOutput({Target()}));
  EXPECT_NE(commands->End().message().find("EndStreamOutput()"), std::string::npos);
  commands = New();
  EXPECT_FALSE(commands->BeginStreamOutput({{.memory = At(written_), .size = 6}}));
  commands = New();
  EXPECT_FALSE(commands->BeginStreamOutput({{.memory = At(written_), .size = 64, .append = true}}));
  commands = New();
  EXPECT_FALSE(commands->Draw(StreamOutputDraw{.written = At(sizes_), .stride = 6}));
}

}  // namespace
}  // namespace packsmith::intel
