// Checks names that a user typed against the tables of the inputs.
#ifndef PACKSMITH_TOOLS_WANTED_NAMES_H_
#define PACKSMITH_TOOLS_WANTED_NAMES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/base/closest.h"
#include "runtime/dump/dump.h"
#include "runtime/tables/tables.h"

namespace packsmith::tools {

// A name is valid if the tables of one of the inputs know it.
class WantedNames {
 public:
  // `filter`: globs of packets, structures, kinds of data and registers, as decode::Filter takes
  // them. `engine`, `stream`: empty if not given. `fields`: patterns as tools::FieldPattern has
  // them.
  WantedNames(absl::Span<const std::string> filter, absl::string_view engine,
              absl::string_view stream, absl::Span<const std::string> fields);

  // Removes the names that are in the tables, or among the dump's own names of registers.
  void Look(const tables::Tables& tables, const Dump& dump);
  bool all_found() const { return wanted_.empty(); }

  // InvalidArgument if a name is left: the option, the name, and similar names.
  absl::Status status() const;

 private:
  enum class Kind { kFilter, kEngine, kStream, kField };
  struct Wanted {
    Kind kind;
    std::string name;
    Closest closest;
  };
  static bool Knows(const tables::Tables& tables, const Dump& dump, Wanted& wanted);

  std::vector<Wanted> wanted_;
  std::string generation_;  // of the last tables
};

}  // namespace packsmith::tools

#endif  // PACKSMITH_TOOLS_WANTED_NAMES_H_
