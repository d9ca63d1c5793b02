// Units of the 3D pipeline, by the fields that report them idle.
#include "runtime/decode/fields/pipeline_units.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/decode/world.h"

namespace packsmith::decode {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(UnitOfField, IsItsNameWithoutTheWordForIdle) {
  EXPECT_EQ(UnitOfField("CS Done"), "CS");
  EXPECT_EQ(UnitOfField("IZBE Done 0"), "IZBE 0");
  EXPECT_EQ(UnitOfField("LSC SEQ0 Idle"), "LSC SEQ0");
  EXPECT_EQ(UnitOfField("RT DONE RENDER"), "RT DONE RENDER");
  EXPECT_EQ(UnitOfField("Done"), "Done");
}

TEST(PipelineUnits, AreInTheOrderOfThePipelineAndThoseOfOnePlaceInThatOfTheDescription) {
  const tables::Tables tables = TablesOf(R"(
    <packsmith family="test" generation="units" title="Units">
      <register name="A" dwords="1" offset="0x10" dumped-as="A">
        <field name="Clip Done" dword="0" bits="0" type="bool" means="idle" at="2"/>
        <field name="Fetch Done" dword="0" bits="1" type="bool" means="idle" at="1"/>
        <field name="Streamer Done" dword="0" bits="2" type="bool" means="idle"/>
        <field name="Row" dword="0" bits="3" type="bool" means="idle-execution"/>
      </register>
      <register name="B" dwords="1" offset="0x20" dumped-as="B">
        <field name="Z Idle" dword="0" bits="0" type="bool" means="idle" at="3"/>
        <field name="Pixel Done" dword="0" bits="1" type="bool" means="idle" at="3"/>
        <field name="Fetch Idle" dword="0" bits="2" type="bool" means="idle" at="1"/>
      </register>
    </packsmith>)");
  EXPECT_THAT(PipelineUnits(tables), ElementsAre(PipelineUnit{"Fetch", 1}, PipelineUnit{"Clip", 2},
                                                 PipelineUnit{"Z", 3}, PipelineUnit{"Pixel", 3}));
}

TEST(PipelineUnits, OfADescriptionWithoutPlacesAreNone) {
  EXPECT_THAT(PipelineUnits(Mini()), IsEmpty());
}

}  // namespace
}  // namespace packsmith::decode
