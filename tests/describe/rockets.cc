#include "tests/describe/rockets.h"

#include <gtest/gtest.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "gen/model/load.h"
#include "gen/model/write/tables.h"

namespace packsmith::describe {

References::References(const std::vector<std::string>& texts) {
  for (size_t i = 0; i < texts.size(); ++i) {
    const model::LoadResult result = model::Load(
        absl::StrCat(i, ".xml"), [&](const std::string& path) -> absl::StatusOr<std::string> {
          size_t number = 0;
          while (number < texts.size() && path != absl::StrCat(number, ".xml")) ++number;
          if (number == texts.size()) return absl::NotFoundError(path);
          return texts[number];
        });
    EXPECT_TRUE(model::ToStatus(result).ok()) << model::ToStatus(result);
    blocks_.push_back(std::make_unique<std::vector<uint64_t>>(model::WriteTables(result.model)));
    const auto tables = tables::Tables::Open(
        {reinterpret_cast<const uint8_t*>(blocks_.back()->data()), blocks_.back()->size() * 8});
    EXPECT_TRUE(tables.ok()) << tables.status();
    absl::StatusOr<Reference> reference = Reference::Open(*tables);
    EXPECT_TRUE(reference.ok()) << reference.status();
    references_.push_back(*std::move(reference));
  }
}

const char kRocket1[] = R"(
<packsmith family="acme" generation="rocket1" title="Acme Rocket 1" aliases="1 one">
  <engine name="render" aliases="rcs 0"/>
  <engine name="copy" aliases="bcs 1"/>
  <data name="bytes"><doc>Anything.</doc></data>
  <base name="heap"><doc>SET_HEAP sets it.</doc></base>
  <stream name="commands"/>
  <enum name="Compare">
    <doc>When a comparison passes.</doc>
    <value name="Never" value="0"/>
    <value name="Less" value="1"/>
    <value name="Always" value="7"/>
  </enum>
  <packet name="CLEAR" dwords="3" alias="WIPE,ERASE" length="Length" bias="2" engines="render">
    <doc>Fills the render target.</doc>
    <source>The manual, page 7.</source>
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="0x10"/>
    <field name="Length" dword="0" bits="7:0" type="uint"/>
    <field name="Red Level" dword="1" bits="7:0" type="uint"/>
    <field name="Green" dword="1" bits="15:8" type="uint"/>
    <field name="Mode" dword="1" bits="17:16" type="uint">
      <value name="Fast" value="0"/>
      <value name="Slow" value="1"/>
    </field>
    <field name="Limit" dword="1" bits="27:20" type="uint" max="9"/>
    <reserved dword="1" bits="31" must="one"/>
    <field name="Colors" dword="2" bits="31:6" type="offset">
      <doc>Where the colors stand.</doc>
      <points to="bytes" base="heap" size="Limit*4" access="read"/>
    </field>
  </packet>
  <packet name="COPY" dwords="1" engines="copy"><doc>Copies.</doc>
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="0x10"/>
  </packet>
  <struct name="Border" dwords="5">
    <doc>What lies beyond.</doc>
    <field name="Compare" dword="0" bits="2:0" type="Compare"/>
    <group name="Edge" count="2" dword="1" size="32">
      <field name="Width" dword="0" bits="7:0" type="uint" minus="1"/>
    </group>
    <group count="2" dword="3" size="32">
      <field name="Channel" dword="0" bits="31:0" type="float"/>
    </group>
  </struct>
  <register name="CACHE_MODE" offset="0x7004" dwords="1">
    <doc>Chicken bits.</doc>
    <field name="Disable" dword="0" bits="3" type="bool"/>
  </register>
  <register name="LATER" offset="0x7010" dwords="1">
    <doc>More.</doc>
    <field name="All" dword="0" bits="31:0" type="uint"/>
  </register>
</packsmith>)";

const char kRocket2[] = R"(
<packsmith generation="rocket2" extends="0.xml" title="Acme Rocket 2" aliases="2 two">
  <remove packet="COPY"/>
  <enum name="Compare">
    <doc>When a comparison passes.</doc>
    <value name="Never" value="0"/>
    <value name="Smaller" value="1"/>
    <value name="Equal" value="2"/>
    <value name="Always" value="3"/>
  </enum>
  <packet name="CLEAR" dwords="4" alias="WIPE,ERASE" length="Length" bias="2" engines="render">
    <doc>Fills the render target, faster.</doc>
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="0x11"/>
    <field name="Length" dword="0" bits="7:0" type="uint"/>
    <field name="Level" dword="1" bits="7:0" type="uint"/>
    <field name="Green" dword="2" bits="15:8" type="uint"/>
    <field name="Mode" dword="1" bits="17:16" type="uint">
      <value name="Fast" value="0"/>
      <value name="Faster" value="2"/>
    </field>
    <field name="Limit" dword="1" bits="27:20" type="uint" max="10" default="3"/>
    <field name="Depth" dword="3" bits="31:0" type="float"/>
  </packet>
  <struct name="Only Here" dwords="1"><doc>New.</doc>
    <field name="X" dword="0" bits="31:0" type="uint"/>
  </struct>
</packsmith>)";

}  // namespace packsmith::describe
