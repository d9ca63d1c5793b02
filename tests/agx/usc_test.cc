#include "runtime/agx/usc.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "packsmith/agx_g13.h"
#include "tests/agx/built.h"

namespace packsmith::agx {
namespace {

using decode::Seen;
using decode::Story;
using gpu::BufferUse;
using gpu::BufferUses;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

namespace g13 = ::packsmith::agx_g13;
using G13 = g13::generation;
using Program = UscProgram<G13>;

constexpr uint64_t kUniforms = 0x1234560000;

Story TellProgram(const FakeMemory& memory, size_t size, uint64_t at) {
  decode::World world;
  world
      .PutBytes(at, {memory.bytes().begin(), memory.bytes().begin() + static_cast<ptrdiff_t>(size)})
      .PutBytes(kUniforms, std::vector<uint8_t>(1024, 1))
      .PutBytes(0x9000, std::vector<uint8_t>(64, 2))
      .Submit(at, 0, "usc");
  return decode::Tell(*FindGeneration("g13"), world);
}

TEST(Usc, RecordsAreTight) {
  FakeMemory memory(0x4000, 64);
  BufferUses uses;
  Program program(memory.get(), {}, uses);
  EXPECT_TRUE(program.Emit(g13::USC_Shared{.layout_ = g13::Shared_layout::Vertex_compute}));
  EXPECT_TRUE(program.Shader({.unk_2 = 3}, address(0x9000, 5)));
  EXPECT_TRUE(program.Emit(g13::USC_Registers{.register_count = 64}));
  const auto pipeline = program.End();
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  EXPECT_EQ(*pipeline, address(0x4000));
  EXPECT_EQ(program.size(), 4u + 6 + 4 + 2);
  EXPECT_THAT(std::vector<uint8_t>(memory.bytes().begin() + 16, memory.bytes().end()), Each(0xee));
  const Story story = TellProgram(memory, program.size(), 0x4000);
  EXPECT_THAT(story.Packets(),
              ElementsAre("USC Shared", "USC Shader", "USC Registers", "USC No Preshader"));
  EXPECT_EQ(story.Only("USC Shader").Number("Code"), 0x9000u);
  EXPECT_THAT(uses.all(), ElementsAre(BufferUse{5, gpu::kReads}));
}

TEST(Usc, EndsWithAPreshaderIfThereIsOne) {
  FakeMemory memory(0x4000, 64);
  BufferUses uses;
  Program program(memory.get(), {}, uses);
  ASSERT_TRUE(program.End(address(0x9000, 5)).ok());
  EXPECT_EQ(program.size(), 8u);
  EXPECT_EQ(TellProgram(memory, 8, 0x4000).Only("USC Preshader").Number("Code"), 0x9000u);
}

// Every way to load uniforms: each register is loaded once, from its place in memory, by records
// that reach it.
TEST(Usc, UniformsAreSplitWhereRecordsEnd) {
  for (uint32_t first = 0; first <= 512; first += first % 64 == 0 ? 2 : 62) {
    for (uint32_t halves = 0; first + halves <= 512; halves += 2) {
      FakeMemory memory(0x4000, 128);
      BufferUses uses;
      Program program(memory.get(), {}, uses);
      ASSERT_TRUE(program.Uniforms(first, address(kUniforms), halves))
          << first << ' ' << halves << ' ' << program.status();
      ASSERT_EQ(program.size(), Program::UniformBytes(first, halves));
      uint32_t next = first;
      for (size_t at = 0; at < program.size(); at += 8) {
        const uint8_t* const record = memory.bytes().data() + at;
        uint32_t start, count;
        uint64_t buffer;
        if (record[0] == memory.bytes()[0] && next < 256) {
          const auto low = g13::USC_Uniform::unpack(record);
          ASSERT_FALSE(g13::USC_Uniform::verify(record));
          start = low.start_halfs, count = low.size_halfs, buffer = low.buffer.gpu;
          ASSERT_LE(start + count, 256u);
        } else {
          const auto high = g13::USC_Uniform_High::unpack(record);
          ASSERT_FALSE(g13::USC_Uniform_High::verify(record));
          start = 256 + high.start_halfs, count = high.size_halfs, buffer = high.buffer.gpu;
        }
        ASSERT_EQ(start, next);
        ASSERT_LE(count, 64u);
        ASSERT_EQ(buffer, kUniforms + uint64_t{next - first} * 2);
        next += count;
      }
      ASSERT_EQ(next, first + halves);
    }
  }
}

TEST(Usc, UniformsThatNoRegisterHoldsAreRefused) {
  FakeMemory memory(0x4000, 256);
  BufferUses uses;
  Program program(memory.get(), {}, uses);
  EXPECT_FALSE(program.Uniforms(500, address(kUniforms), 13));
  EXPECT_THAT(std::string(program.status().message()), HasSubstr("the last register is 511"));
  EXPECT_EQ(program.size(), 0u);
}

TEST(Usc, UniformsThatCannotBeSplitAreRefusedAsAWhole) {
  FakeMemory memory(0x4000, 256);
  BufferUses uses;
  Program program(memory.get(), {}, uses);
  // From register 256 on they would begin in the middle of a dword.
  EXPECT_FALSE(program.Uniforms(255, address(kUniforms, 9), 2));
  EXPECT_THAT(std::string(program.status().message()), HasSubstr("buffer has low bits set"));
  EXPECT_EQ(program.size(), 0u);
  EXPECT_EQ(uses.size(), 0u);
}

TEST(Usc, ProgramsKeepRoomForTheirEnd) {
  for (size_t room = 0; room < 24; ++room) {
    FakeMemory memory(0x4000, room);
    BufferUses uses;
    Program program(memory.get(), {}, uses);
    const bool good = program.Emit(g13::USC_Registers{}) && program.Emit(g13::USC_Registers{});
    EXPECT_EQ(good, room >= 16) << room;
    EXPECT_EQ(program.End(address(0x9000)).ok(), room >= 16);
    EXPECT_LE(program.size(), room);
  }
}

TEST(Usc, AddressesCountFromTheBase) {
  constexpr uint64_t kBase = 0x1500000000;
  FakeMemory memory(kBase + 0x4000, 64, 2);
  BufferUses uses;
  Program program(memory.get(), ProgramBase(kBase), uses);
  EXPECT_TRUE(program.Shader({}, address(kBase + 0x9000, 5)));
  const auto pipeline = program.End();
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  EXPECT_EQ(*pipeline, address(0x4000, 2));
  EXPECT_EQ(g13::USC_Shader::unpack(memory.bytes().data()).code, address(0x9000));
}

TEST(Usc, CodeOutOfReachIsRefused) {
  constexpr uint64_t kBase = 0x1500000000;
  for (const uint64_t code : {kBase - 64, kBase + 0x100000000, uint64_t{0}}) {
    FakeMemory memory(kBase, 64);
    BufferUses uses;
    Program program(memory.get(), ProgramBase(kBase), uses);
    EXPECT_FALSE(program.Shader({}, code));
    EXPECT_THAT(std::string(program.status().message()), HasSubstr("within 4 GiB from the base"));
    EXPECT_FALSE(program.End(code).ok());
    EXPECT_THAT(memory.bytes(), Each(0xee));
  }
}

TEST(Usc, ProgramsAtOddPlacesCannotBeBound) {
  FakeMemory memory(0x4020, 64);
  BufferUses uses;
  Program program(memory.get(), {}, uses);
  EXPECT_THAT(std::string(program.End().status().message()), HasSubstr("pipeline has low bits"));
}

TEST(Usc, ValuesThatDoNotFitAreNamed) {
  FakeMemory memory(0x4000, 64);
  BufferUses uses;
  Program program(memory.get(), {}, uses);
  EXPECT_FALSE(program.Emit(g13::USC_Texture{.count = 128}));
  EXPECT_THAT(std::string(program.status().message()), HasSubstr("count needs more bits"));
  EXPECT_FALSE(program.End().ok());
}

TEST(Usc, OneShaderAndNothingAfterTheEnd) {
  FakeMemory memory(0x4000, 64);
  BufferUses uses;
  Program program(memory.get(), {}, uses);
  EXPECT_TRUE(program.Shader({}, address(0x9000)));
  ASSERT_TRUE(program.End().ok());
  EXPECT_FALSE(program.Emit(g13::USC_Registers{}));
  FakeMemory again(0x4000, 64);
  Program two(again.get(), {}, uses);
  EXPECT_TRUE(two.Shader({}, address(0x9000)));
  EXPECT_FALSE(two.Shader({}, address(0x9000)));
}

}  // namespace
}  // namespace packsmith::agx
