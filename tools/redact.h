// unpack --redact: a dump that can be shown to others. What decoding finds of commands and state
// stays, with all addresses; the rest of memory becomes zero: vertices, constants, images, programs
// and whatever else is there. Names of buffers and processes are replaced by numbers, and of other
// text from the dump only numbers stay.
#ifndef PACKSMITH_TOOLS_REDACT_H_
#define PACKSMITH_TOOLS_REDACT_H_

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "absl/strings/string_view.h"
#include "runtime/dump/dump.h"
#include "runtime/dump/error_state.h"
#include "runtime/tables/tables.h"
#include "tools/inputs.h"

namespace packsmith::tools {

// The dumps of one call, in order: state carries over from one to the next. A name has the same
// number in all of them.
class Redactor {
 public:
  Redactor();
  ~Redactor();

  // Rings must have been added, and recordings played. Afterwards the dump holds nothing of the
  // input. Nothing happens if it was redacted already. Values that commands and state hold
  // themselves stay.
  void Redact(const tables::Tables& tables, Dump& dump);

 private:
  class Reached;

  std::string Number(absl::string_view kind, const std::string& name);
  void RedactMemory(const tables::Tables& tables, Dump& dump);
  ErrorState Redacted(const ErrorState& state);

  // Of the present GPU.
  std::optional<Gpu> gpu_;
  std::unique_ptr<Reached> reached_;
  std::map<std::string, std::map<std::string, size_t>> numbers_;  // by kind and name
  // What backs the dumps that were redacted.
  std::set<std::weak_ptr<const void>, std::owner_less<>> done_;
};

// A line of a kernel's dump, of which numbers stay, and a few words that kernels write beside them;
// each other word becomes "…".
std::string RedactedLine(absl::string_view text);

// What a kernel says of a hang, up to the process that it names.
std::string RedactedReason(absl::string_view text);

}  // namespace packsmith::tools

#endif  // PACKSMITH_TOOLS_REDACT_H_
