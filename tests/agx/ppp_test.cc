#include "runtime/agx/ppp.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "packsmith/agx_g13.h"
#include "tests/agx/built.h"
#include "tests/agx/frame.h"

namespace packsmith::agx {
namespace {

using gpu::BufferUse;
using gpu::BufferUses;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

using G13 = g13::generation;
using Record = PppRecord<G13>;

constexpr uint64_t kPlace = 0x1500000000;

g13::PPP_Header Culling() {
  g13::PPP_Header header{.w_clamp = true, .cull = true};
  header.w_clamp_state.w_clamp = 1.0f;
  header.cull_state.cull_back = true;
  return header;
}

TEST(Ppp, RecordsAreAsLongAsTheirHeadersSay) {
  FakeMemory memory(kPlace, 64);
  BufferUses uses;
  const auto block = WritePpp<G13>(memory.get(), uses, Culling());
  ASSERT_TRUE(block.ok()) << block.status();
  EXPECT_EQ(block->size_words, 3u);
  EXPECT_EQ(block->pointer_hi, 0x15u);
  EXPECT_EQ(block->pointer_lo, address(0));
  EXPECT_THAT(std::vector<uint8_t>(memory.bytes().begin() + 12, memory.bytes().end()), Each(0xee));
  const g13::PPP_Header back = g13::PPP_Header::unpack(memory.bytes().data(), 12);
  EXPECT_TRUE(back.cull_state.cull_back);
  EXPECT_EQ(back.w_clamp_state.w_clamp, 1.0f);
}

TEST(Ppp, NoteBuffersOfShaders) {
  FakeMemory memory(kPlace, 64);
  BufferUses uses;
  g13::PPP_Header header{.fragment_shader = true};
  header.fragment_shader_word_1.pipeline = address(0x1000, 3);
  header.fragment_shader_word_2.cf_bindings = address(0x2000, 4);
  ASSERT_TRUE(WritePpp<G13>(memory.get(), uses, header).ok());
  EXPECT_THAT(uses.all(), ElementsAre(BufferUse{3, gpu::kReads}, BufferUse{4, gpu::kReads}));
}

TEST(Ppp, RefuseWhatDoesNotFitAndWriteNothing) {
  BufferUses uses;
  FakeMemory small(kPlace, 8);
  EXPECT_EQ(WritePpp<G13>(small.get(), uses, Culling()).status().code(),
            absl::StatusCode::kResourceExhausted);
  FakeMemory far(uint64_t{1} << 40, 64);
  EXPECT_THAT(std::string(WritePpp<G13>(far.get(), uses, Culling()).status().message()),
              HasSubstr("pointer_hi"));
  FakeMemory memory(kPlace, 64);
  g13::PPP_Header header = Culling();
  header.output_size = true;
  header.varying_counts_32 = true;
  header.varying_counts_32_state.flat = 256;
  EXPECT_THAT(std::string(WritePpp<G13>(memory.get(), uses, header).status().message()),
              HasSubstr("flat"));
  for (const FakeMemory* one : {&small, &far, &memory}) EXPECT_THAT(one->bytes(), Each(0xee));
}

TEST(Ppp, TheLongestRecordFits) {
  std::vector<g13::Region_clip> clips(16);
  std::vector<g13::Viewport> viewports(16);
  uint8_t ones[4] = {0xff, 0xff, 0xff, 0xff};
  g13::PPP_Header header = g13::PPP_Header::unpack(ones);
  FakeMemory memory(kPlace, 1024);
  BufferUses uses;
  const auto block = WritePpp<G13>(memory.get(), uses, header, clips, viewports);
  ASSERT_TRUE(block.ok()) << block.status();
  EXPECT_EQ(block->size_words * 4, header.bytes_needed());
  EXPECT_EQ(MostPppBytes<G13>(), 1020u);
}

// --- Merging

absl::StatusOr<std::vector<uint8_t>> Merged(const std::vector<g13::PPP_Header>& headers) {
  std::vector<Record> records;
  for (const g13::PPP_Header& header : headers) {
    auto record = Record::Of(header);
    if (!record.ok()) return record.status();
    records.push_back(*record);
  }
  std::vector<const Record*> pointers;
  for (const Record& record : records) pointers.push_back(&record);
  FakeMemory memory(kPlace, 1020);
  BufferUses uses;
  const auto block = MergePpp<G13>(memory.get(), uses, pointers);
  if (!block.ok()) {
    EXPECT_THAT(memory.bytes(), Each(0xee));
    return block.status();
  }
  return std::vector<uint8_t>(memory.bytes().begin(),
                              memory.bytes().begin() + block->size_words * 4);
}

TEST(Merging, PutsPartsIntoTheOrderOfTheDescription) {
  g13::PPP_Header late{.fragment_control = true, .output_size = true};
  late.fragment_control_state.scissor_enable = true;
  late.output_size_state.count = 9;
  const auto merged = Merged({Culling(), late});
  ASSERT_TRUE(merged.ok()) << merged.status();
  ASSERT_EQ(merged->size(), 20u);
  const g13::PPP_Header back = g13::PPP_Header::unpack(merged->data(), 20);
  EXPECT_TRUE(back.fragment_control_state.scissor_enable);
  EXPECT_EQ(back.w_clamp_state.w_clamp, 1.0f);
  EXPECT_TRUE(back.cull_state.cull_back);
  EXPECT_EQ(back.output_size_state.count, 9u);
  // As if it had been packed at once.
  std::vector<uint8_t> at_once(20);
  ASSERT_FALSE(back.pack(at_once.data()));
  EXPECT_EQ(*merged, at_once);
}

TEST(Merging, OrsPartsThatSeveralHave) {
  g13::PPP_Header pipeline{.fragment_control = true, .fragment_front_face = true};
  pipeline.fragment_control_state.pass_type = g13::Pass_type::Punch_through;
  pipeline.fragment_front_face_state.depth_function = g13::ZS_Func::Lequal;
  g13::PPP_Header draw = pipeline;
  draw.fragment_control_state = {.scissor_enable = true};
  draw.fragment_front_face_state = {.stencil_reference = 0x80};
  const auto merged = Merged({pipeline, draw});
  ASSERT_TRUE(merged.ok()) << merged.status();
  const g13::PPP_Header back =
      g13::PPP_Header::unpack(merged->data(), static_cast<unsigned>(merged->size()));
  EXPECT_TRUE(back.fragment_control_state.scissor_enable);
  EXPECT_EQ(back.fragment_control_state.pass_type, g13::Pass_type::Punch_through);
  EXPECT_EQ(back.fragment_front_face_state.depth_function, g13::ZS_Func::Lequal);
  EXPECT_EQ(back.fragment_front_face_state.stencil_reference, 0x80u);
}

TEST(Merging, RefusesAFieldThatTwoSetDifferently) {
  g13::PPP_Header a{.fragment_front_face = true}, b{.fragment_front_face = true};
  a.fragment_front_face_state.depth_function = g13::ZS_Func::Less;   // 1
  b.fragment_front_face_state.depth_function = g13::ZS_Func::Equal;  // 2: together they were Lequal
  EXPECT_THAT(std::string(Merged({a, b}).status().message()),
              HasSubstr("fragment_front_face_state.depth_function is set differently"));
  EXPECT_TRUE(Merged({a, a}).ok());
}

TEST(Merging, RepeatedPartsNeedTheSameCount) {
  const g13::Viewport two[2] = {{.translate_x = 1}, {.translate_x = 2}};
  const g13::Region_clip one[1] = {{.max_x = 3}};
  const auto viewports = Record::Of({.viewport = true, .viewport_count = 2}, {}, two);
  const auto clips = Record::Of({.region_clip = true}, one);
  const auto others = Record::Of(Culling());
  ASSERT_TRUE(viewports.ok() && clips.ok() && others.ok());
  FakeMemory memory(kPlace, 1020);
  BufferUses uses;
  const Record* differ[] = {&*viewports, &*clips};
  EXPECT_THAT(std::string(MergePpp<G13>(memory.get(), uses, differ).status().message()),
              HasSubstr("region_clips takes 8 bytes in one record, but 16"));
  const Record* good[] = {&*others, &*viewports};
  const auto block = MergePpp<G13>(memory.get(), uses, good);
  ASSERT_TRUE(block.ok()) << block.status();
  EXPECT_EQ(g13::PPP_Header::viewports(memory.bytes().data(), block->size_words * 4)[1].translate_x,
            2.0f);
}

TEST(Merging, KeepsTheBuffersOfAllRecords) {
  g13::PPP_Header header{.fragment_shader = true};
  header.fragment_shader_word_1.pipeline = address(0x1000, 3);
  const auto shader = Record::Of(header);
  const auto others = Record::Of(Culling());
  ASSERT_TRUE(shader.ok() && others.ok());
  FakeMemory memory(kPlace, 1020);
  BufferUses uses;
  const Record* both[] = {&*others, &*shader};
  ASSERT_TRUE(MergePpp<G13>(memory.get(), uses, both).ok());
  EXPECT_THAT(uses.all(), ElementsAre(BufferUse{3, gpu::kReads}));
}

TEST(Merging, OfManyRandomPiecesIsTheWhole) {
  const std::vector<uint8_t> whole = WholePppRecord().get();
  const unsigned size = static_cast<unsigned>(whole.size());
  const g13::PPP_Header all = g13::PPP_Header::unpack(whole.data(), size);
  const auto clips = g13::PPP_Header::region_clips(whole.data(), size);
  const auto viewports = g13::PPP_Header::viewports(whole.data(), size);
  uint32_t header_bits;
  std::memcpy(&header_bits, whole.data(), 4);
  for (uint32_t seed = 1; seed < 200; ++seed) {
    // Each presence bit goes to one of two records; the count of viewports to both.
    const uint32_t mine = seed * 2654435761u;
    std::vector<Record> records;
    for (const uint32_t mask : {mine, ~mine}) {
      uint8_t head[4];
      const uint32_t bits = header_bits & (mask | 0xf000);
      std::memcpy(head, &bits, 4);
      const g13::PPP_Header flags = g13::PPP_Header::unpack(head);
      g13::PPP_Header part = all;
      part.fragment_control = flags.fragment_control;
      part.fragment_control_2 = flags.fragment_control_2;
      part.fragment_front_face = flags.fragment_front_face;
      part.fragment_front_face_2 = flags.fragment_front_face_2;
      part.fragment_front_stencil = flags.fragment_front_stencil;
      part.fragment_back_face = flags.fragment_back_face;
      part.fragment_back_face_2 = flags.fragment_back_face_2;
      part.fragment_back_stencil = flags.fragment_back_stencil;
      part.depth_bias_scissor = flags.depth_bias_scissor;
      part.region_clip = flags.region_clip;
      part.viewport = flags.viewport;
      part.w_clamp = flags.w_clamp;
      part.output_select = flags.output_select;
      part.varying_counts_32 = flags.varying_counts_32;
      part.varying_counts_16 = flags.varying_counts_16;
      part.cull = flags.cull;
      part.cull_2 = flags.cull_2;
      part.fragment_shader = flags.fragment_shader;
      part.occlusion_query = flags.occlusion_query;
      part.occlusion_query_2 = flags.occlusion_query_2;
      part.output_unknown = flags.output_unknown;
      part.output_size = flags.output_size;
      part.varying_word_2 = flags.varying_word_2;
      const std::vector<g13::Region_clip> c = {clips[0], clips[1]};
      const std::vector<g13::Viewport> v = {viewports[0], viewports[1]};
      const auto record = Record::Of(
          part, part.region_clip ? span<const g13::Region_clip>(c) : span<const g13::Region_clip>(),
          part.viewport ? span<const g13::Viewport>(v) : span<const g13::Viewport>());
      ASSERT_TRUE(record.ok()) << record.status();
      records.push_back(*record);
    }
    FakeMemory memory(kPlace, whole.size());
    BufferUses uses;
    const Record* both[] = {&records[0], &records[1]};
    const auto block = MergePpp<G13>(memory.get(), uses, both);
    ASSERT_TRUE(block.ok()) << block.status();
    EXPECT_EQ(memory.bytes(), whole) << seed;
  }
}

}  // namespace
}  // namespace packsmith::agx
