// unpack's options: what a user asks for.
#ifndef PACKSMITH_TOOLS_COMMANDS_ARGUMENTS_H_
#define PACKSMITH_TOOLS_COMMANDS_ARGUMENTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "runtime/base/program/facts.h"
#include "tools/draws.h"

namespace packsmith::commands {

struct Arguments {
  std::vector<std::string> files;
  std::string generation, engine, address, stream, input_format, format = "text", follow = "all";
  std::vector<std::string> xml, tables;
  std::string output, color = "auto", kernels, disassembler, convert, data;
  std::string filter, fail_on;  // lists
  tools::DrawQuestions questions;
  std::optional<std::string> describe, ecode;
  std::string dmesg;   // a file
  std::string device;  // a PCI address
  bool redact = false;
  bool list = false;
  bool contexts = false;
  bool page_tables = false;
  bool hide_zero = false, no_offsets = false, strict = false, no_pager = false;
  bool hang = false, continue_past_end = false, run = false, registers = false;
  std::string until, watch;  // hexadecimal addresses
  uint64_t max_commands = 10'000'000, max_seconds = 0;
  uint64_t draw_vertices = 64;
  // Limits; 0: the defaults.
  uint64_t max_input = 0, max_packets = 0, max_structs = 0, max_code = 0, max_stores = 0;
  uint32_t max_calls = 0, max_pointers = 0;

  // The number of the user's own descriptions.
  size_t own() const { return xml.size() + tables.size(); }
};

// Reads the command line into `arguments`. An exit code: there is nothing left to do, because help
// or the version was printed, or because the command line is wrong, which was said. `verbs`: the
// subcommands.
std::optional<int> ParseArguments(int argc, char** argv, absl::Span<const tools::Verb> verbs,
                                  Arguments& arguments);

}  // namespace packsmith::commands

#endif  // PACKSMITH_TOOLS_COMMANDS_ARGUMENTS_H_
