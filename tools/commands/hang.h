// --hang: the report of a hang alone; --ecode: what the code of one can tell.
#ifndef PACKSMITH_TOOLS_COMMANDS_HANG_H_
#define PACKSMITH_TOOLS_COMMANDS_HANG_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/dump/dump.h"
#include "runtime/hang/events.h"
#include "tools/commands/arguments.h"
#include "tools/commands/command.h"
#include "tools/inputs.h"

namespace packsmith::commands {

// What the kernel's log says that --dmesg names; nothing without it. An error: it cannot be read.
absl::StatusOr<std::vector<hang::Event>> ReadEvents(const Arguments& arguments);

// Those of `events` that may belong to the dump at `path`, or, if --dmesg is not given, what
// packsmith-collect saved beside it. --device selects a GPU.
std::vector<hang::Event> EventsOf(const Arguments& arguments,
                                  const std::vector<hang::Event>& events, const Dump& dump,
                                  const std::string& path);

// --ecode. Returns the exit code.
int ShowEcode(const Arguments& arguments);

// `events`: what is known beside the dumps. Returns the exit code.
int ShowHangs(const Arguments& arguments, const std::vector<hang::Event>& events,
              tools::Inputs& inputs, const DescribeDump& describe);

}  // namespace packsmith::commands

#endif  // PACKSMITH_TOOLS_COMMANDS_HANG_H_
