// --format=markdown: a page for bug trackers.
#ifndef PACKSMITH_TOOLS_COMMANDS_BUG_REPORT_H_
#define PACKSMITH_TOOLS_COMMANDS_BUG_REPORT_H_

#include <cstddef>
#include <vector>

#include "runtime/hang/events.h"
#include "tools/commands/arguments.h"
#include "tools/commands/command.h"
#include "tools/commands/plan.h"
#include "tools/inputs.h"

namespace packsmith::commands {

// GitHub's and GitLab's limits are higher; what is above the page must fit too.
inline constexpr size_t kMostMarkdownBytes = 59'000;

// Writes the report of the hang, the overview, and the state of one draw: the one that was asked
// for, the last one that the hung engine had begun, or the first one. `events`: what is known of
// hangs beside the dumps. Returns the exit code.
int WriteBugReport(const Arguments& arguments, const Plan& plan,
                   const std::vector<hang::Event>& events, tools::Inputs& inputs,
                   const DescribeDump& describe);

}  // namespace packsmith::commands

#endif  // PACKSMITH_TOOLS_COMMANDS_BUG_REPORT_H_
