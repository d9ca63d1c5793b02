// No command that a driver of Intel's GPUs writes is unknown: each one of drivers.tsv is found by
// its opcode, on its engines, in its length.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gen/model/load.h"
#include "runtime/generations/generations.h"
#include "runtime/tables/tables.h"

namespace packsmith {
namespace {

using tables::Container;
using tables::Tables;

// As drivers name it, with what their definitions say.
struct Command {
  int line = 0;
  std::string name;
  std::vector<std::string> generations, engines;
  uint32_t mask = 0, value = 0, bias = 0;
  std::vector<uint32_t> dwords;  // its forms; empty: of variable length
  bool has_fields = false;       // their definitions say more than its opcode and length
  std::string here;              // its name here
  bool is_none = false;          // the generations do not have it
};

uint32_t Hex(absl::string_view text) {
  uint32_t value = 0;
  EXPECT_TRUE(absl::SimpleHexAtoi(text, &value)) << text;
  return value;
}

uint32_t Decimal(absl::string_view text) {
  uint32_t value = 0;
  EXPECT_TRUE(absl::SimpleAtoi(text, &value)) << text;
  return value;
}

std::vector<Command> ReadCommands() {
  const absl::StatusOr<std::string> text = model::ReadFileFromDisk("tests/generations/drivers.tsv");
  EXPECT_TRUE(text.ok()) << text.status();
  std::vector<Command> all;
  int line = 0;
  for (const absl::string_view row : absl::StrSplit(text.value_or(""), '\n')) {
    if (++line == 1 || row.empty()) continue;
    const std::vector<std::string> cells = absl::StrSplit(row, '\t');
    EXPECT_EQ(cells.size(), 9u) << row;
    if (cells.size() != 9) continue;
    Command& one = all.emplace_back();
    one.line = line;
    one.name = cells[0];
    one.generations = absl::StrSplit(cells[1], ' ');
    one.mask = Hex(cells[2]);
    one.value = Hex(cells[3]);
    if (cells[4] != "variable") {
      for (const absl::string_view form : absl::StrSplit(cells[4], '/')) {
        one.dwords.push_back(Decimal(form));
      }
    }
    one.bias = Decimal(cells[5]);
    one.engines = absl::StrSplit(cells[6], ' ');
    one.has_fields = cells[7] == "yes";
    one.is_none = absl::StartsWith(cells[8], "none: ");
    one.here = cells[8].empty() ? cells[0] : cells[8];
  }
  return all;
}

// The packet's first dword in the form of this length; the length is its lowest bits.
uint32_t FirstDword(const Command& command, uint32_t dwords) {
  return command.value | (dwords < command.bias ? 0 : dwords - command.bias);
}

// The packet that an engine reads there; null if there is none. What the generation's engines lack
// is read by the render engine.
const Container* Find(const Tables& tables, absl::string_view engine, uint32_t first) {
  uint32_t index = tables.FindEngine(engine);
  if (index == tables::kNone) index = tables.FindEngine("render");
  const uint32_t found = tables.FindPacket(0, uint64_t{1} << index, first, 4);
  return found == tables::kNone ? nullptr : &tables.containers()[found];
}

bool HasFields(const Tables& tables, const Container& packet) {
  const auto says = [&](const tables::Leaf& leaf) {
    return (leaf.flags & (tables::kForced | tables::kLength | tables::kMustBeZero)) == 0;
  };
  const absl::Span<const tables::Leaf> leaves = tables.leaves(packet.leaves);
  return packet.tail_size != 0 || std::any_of(leaves.begin(), leaves.end(), says);
}

bool HasLength(const Container& packet, uint32_t dwords) {
  return packet.variable != 0 || (packet.bytes <= 4 * dwords && 4 * dwords <= packet.max_bytes);
}

TEST(CommandsOfDrivers, AreAllThatWereFound) {
  size_t commands = 0;
  for (const Command& command : ReadCommands()) commands += command.generations.size();
  EXPECT_EQ(commands, 345u);
}

TEST(CommandsOfDrivers, AreFoundByTheirOpcodes) {
  for (const Command& command : ReadCommands()) {
    if (command.is_none) continue;
    const std::vector<uint32_t> forms =
        command.dwords.empty() ? std::vector<uint32_t>{command.bias} : command.dwords;
    for (const std::string& generation : command.generations) {
      const absl::StatusOr<Tables> tables = FindGeneration(generation);
      ASSERT_TRUE(tables.ok()) << tables.status();
      for (const std::string& engine : command.engines) {
        SCOPED_TRACE(absl::StrCat("drivers.tsv:", command.line, ": ", command.name, " of ",
                                  generation, ", ", engine, " engine"));
        bool has_length = command.dwords.empty();
        for (const uint32_t dwords : forms) {
          const Container* const packet = Find(*tables, engine, FirstDword(command, dwords));
          ASSERT_NE(packet, nullptr) << "no packet has the opcode";
          EXPECT_EQ(tables->string(packet->name), command.here);
          EXPECT_EQ(packet->identify_value & command.mask, command.value & packet->identify_mask);
          EXPECT_TRUE(!command.has_fields || HasFields(*tables, *packet)) << "no field";
          has_length |= HasLength(*packet, dwords);
        }
        EXPECT_TRUE(has_length) << "none of the lengths";
      }
    }
  }
}

// A reason that no longer holds must be removed.
TEST(CommandsOfDrivers, AreNotThereIfAReasonSaysSo) {
  for (const Command& command : ReadCommands()) {
    if (!command.is_none) continue;
    for (const std::string& generation : command.generations) {
      const absl::StatusOr<Tables> tables = FindGeneration(generation);
      ASSERT_TRUE(tables.ok()) << tables.status();
      EXPECT_EQ(Find(*tables, command.engines[0], FirstDword(command, command.dwords[0])), nullptr)
          << command.name << " of " << generation;
    }
  }
}

// What is described by its opcode and length alone says so.
TEST(CommandsOfDrivers, SayThatNoMoreIsPublic) {
  for (const Command& command : ReadCommands()) {
    if (command.is_none || command.has_fields) continue;
    for (const std::string& generation : command.generations) {
      const absl::StatusOr<Tables> tables = FindGeneration(generation);
      ASSERT_TRUE(tables.ok()) << tables.status();
      const uint32_t dwords = command.dwords.empty() ? command.bias : command.dwords[0];
      const Container* const packet =
          Find(*tables, command.engines[0], FirstDword(command, dwords));
      if (packet == nullptr || HasFields(*tables, *packet)) continue;
      if (packet->bytes == 4 && packet->length_leaf == tables::kNone) continue;  // all there is
      EXPECT_THAT(std::string(tables->string(packet->doc)), testing::HasSubstr("public"))
          << command.name << " of " << generation;
    }
  }
}

}  // namespace
}  // namespace packsmith
