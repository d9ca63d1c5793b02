// Draws and dispatches on AGX, with the bindings of the USC programs.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/decode/sinks/draws_sink.h"
#include "runtime/decode/sinks/uses_sink.h"
#include "runtime/generations/generations.h"
#include "tests/agx/frame.h"

namespace packsmith::agx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::vector<std::string> Lines(decode::World& world, uint64_t used_address = 0) {
  static const tables::Tables kTables = *FindGeneration("g13");
  decode::StringOutput output;
  std::unique_ptr<decode::Sink> sink = decode::MakeDrawsSink(output, true);
  if (used_address != 0) sink = decode::MakeUsesSink(output, used_address, true);
  decode::Options options;
  options.leads = options.bound.each = true;
  decode::Decoder decoder(kTables, *sink, options);
  decoder.Decode(world.dump());
  decoder.Finish();
  return absl::StrSplit(output.text(), '\n', absl::SkipEmpty());
}

TEST(AgxDraws, AreListedWithWhatTheirStateBinds) {
  decode::World world;
  PutFrame(world);
  const std::vector<std::string> draws = Lines(world);
  ASSERT_THAT(draws, SizeIs(4));
  // The first draw comes right after its state, the second one keeps it. A program has the stage
  // that calls it, unless it states its own.
  for (const size_t i : {0, 1}) {
    EXPECT_THAT(draws[i], HasSubstr(R"({"stage":"vertex","space":0,"address":"0x20000"})"));
    EXPECT_THAT(draws[i], HasSubstr(R"({"stage":"fragment","space":0,"address":"0x20100"})"));
    EXPECT_THAT(draws[i], HasSubstr(R"({"stage":"preshader","space":0,"address":"0x21000"})"));
    EXPECT_THAT(draws[i], Not(HasSubstr("compute")));
    EXPECT_THAT(draws[i],
                HasSubstr(R"("textures":[{"space":0,"address":"0x1100090000",)"
                          R"("format":"R8G8B8A8 Unorm","width":4,"height":4,"stage":"fragment",)"
                          R"("index":0}])"));
    EXPECT_THAT(draws[i], HasSubstr(R"("targets":[{"space":0,)"));
    EXPECT_THAT(draws[i], HasSubstr(R"("width":300,)"));
  }
  EXPECT_THAT(draws[0], HasSubstr(R"("topology":"Triangle strip","count":4,)"
                                  R"("instances":2,)"));
  EXPECT_THAT(draws[1], HasSubstr(R"("topology":"Triangles","count":6,)"));
  // The third one's counts are in memory.
  EXPECT_THAT(draws[2], HasSubstr(R"("topology":"Points")"));
  EXPECT_THAT(draws[2], Not(HasSubstr("\"count\"")));
  EXPECT_THAT(draws[3], HasSubstr(R"("count":3,"instances":1,)"));
}

TEST(AgxDraws, DispatchesAreListedWithTheirThreads) {
  decode::World world;
  PutCompute(world);
  const std::vector<std::string> dispatches = Lines(world);
  ASSERT_THAT(dispatches, SizeIs(3));
  EXPECT_THAT(dispatches[0], HasSubstr(R"("threads":[64,32,1])"));
  EXPECT_THAT(dispatches[1], Not(HasSubstr("threads")));
}

TEST(AgxDraws, TexelsAreUsedByTheDrawsWhoseProgramsBindThem) {
  decode::World world;
  PutFrame(world);
  const std::vector<std::string> uses = Lines(world, kTexels);
  std::vector<std::string> of_texture;
  for (const std::string& use : uses) {
    if (absl::StrContains(use, "\"Texture[0]\"")) of_texture.push_back(use);
  }
  ASSERT_THAT(of_texture, SizeIs(1));
  EXPECT_THAT(of_texture[0], HasSubstr(R"("packet":"PPP State")"));
  EXPECT_THAT(of_texture[0], HasSubstr(R"("access":"read","draws":[1,2,3,4],"dispatches":[]})"));
}

}  // namespace
}  // namespace packsmith::agx
