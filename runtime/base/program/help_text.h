// The text of --help, taken apart. Blocks are separated by blank lines:
//
//   unpack shows what dumps say: packets, and more.      a paragraph
//
//   Examples:                                            a heading, and entries
//     unpack hang.core          all of it
//
//   unpack [options] FILE...    FILE is a dump           usage: begins with the program's name, and
//                               of some kind             has a [ or an option
//
//   What is shown:                                       a section of options
//     --format=FORMAT  text (default) or
//                      jsonl
//
//   Exit code: 0 good.                                   a paragraph that begins with "Exit code"
//
// An entry begins after two spaces. Two or more spaces separate its left side from its right side,
// which may begin on the next line, and goes on in lines that are indented by more than two spaces.
#ifndef PACKSMITH_RUNTIME_BASE_PROGRAM_HELP_TEXT_H_
#define PACKSMITH_RUNTIME_BASE_PROGRAM_HELP_TEXT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace packsmith::tools {

struct HelpEntry {
  std::string left, right;  // one line each
};

struct HelpSection {
  std::string title;  // may be empty
  std::vector<HelpEntry> entries;
};

struct HelpText {
  // The first sentence, without the program's name and the period: "shows what dumps say". Empty if
  // there is no paragraph.
  std::string summary;
  std::vector<std::string> paragraphs;  // one line each
  std::vector<HelpEntry> usage, examples;
  std::vector<HelpSection> sections;
  std::string exit_code;  // from "0 good" on; empty: none
};

// `name`: as users call the program, "unpack" or "unpack diff".
HelpText ParseHelp(absl::string_view name, absl::string_view text);

}  // namespace packsmith::tools

#endif  // PACKSMITH_RUNTIME_BASE_PROGRAM_HELP_TEXT_H_
