// A command that is asked about a file.
#ifndef PACKSMITH_TOOLS_BISECT_COMMAND_H_
#define PACKSMITH_TOOLS_BISECT_COMMAND_H_

#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace packsmith::bisect {

struct CommandLine {
  std::vector<std::string> words;  // {} stands for the file, also inside a word
  std::chrono::nanoseconds timeout{};
  bool shows_output = false;  // on standard error; else it is dropped
};

enum class Outcome { kYes, kNo, kSignal, kTimeout, kInterrupted };

// Runs it: yes is exit code 0. After the timeout, or when `interrupted` becomes nonzero, the
// command and what it has started (its process group) are killed. FailedPrecondition if it cannot
// be started: it does not exist, or is not a program.
absl::StatusOr<Outcome> Ask(const CommandLine& command, const std::string& file,
                            const volatile std::sig_atomic_t& interrupted);

}  // namespace packsmith::bisect

#endif  // PACKSMITH_TOOLS_BISECT_COMMAND_H_
