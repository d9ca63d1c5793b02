// What is known of a program: what its manual page and its completions are made of.
#ifndef PACKSMITH_RUNTIME_BASE_PROGRAM_FACTS_H_
#define PACKSMITH_RUNTIME_BASE_PROGRAM_FACTS_H_

#include <string>
#include <vector>

#include "runtime/base/program/help_text.h"

namespace packsmith::tools {

struct ProgramOption {
  enum class Value { kNone, kOptional, kRequired };
  enum class Kind { kAny, kFile, kFolder };

  std::vector<std::string> names;  // "-o", "--output"
  Value value = Value::kNone;
  std::string value_name;            // as --help has it: "FILE"; empty: it has none
  Kind kind = Kind::kAny;            // of the value, by that name
  std::vector<std::string> choices;  // OneOf()'s; empty: any value
  std::string about;                 // the right side of its entry in --help; may be empty
};

// A subcommand.
struct Verb {
  const char* name;
  int (*run)(int argc, char** argv);  // argv[0] is its name
  const char* about = "";             // "what differs between two dumps"
};

struct ProgramFacts {
  std::string name;     // as users call it: "unpack", "unpack diff"
  std::string version;  // "0.1.0"
  HelpText help;
  std::vector<ProgramOption> options;
  std::vector<Verb> verbs;
};

// The name with - for the spaces: "unpack-diff", which is the name of its page.
std::string PageName(const std::string& program);

}  // namespace packsmith::tools

#endif  // PACKSMITH_RUNTIME_BASE_PROGRAM_FACTS_H_
