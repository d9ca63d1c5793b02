// Lines of a kernel log that tell of hangs: of i915 and xe, from dmesg or a journal.
//
//   std::vector<Event> events = ReadKernelLog(text);
//   HangReport report = MakeHangReport(tables, dump, EventsNear(dump, events));
#ifndef PACKSMITH_RUNTIME_HANG_KERNEL_EVENTS_H_
#define PACKSMITH_RUNTIME_HANG_KERNEL_EVENTS_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/dump/dump.h"
#include "runtime/hang/events.h"

namespace packsmith::hang {

// More events than this are not kept.
inline constexpr size_t kMostKernelEvents = 10000;

// What one line says; empty: nothing about a hang. Also for the reason at the head of a dump.
std::optional<Event> EventOfLine(absl::string_view line);

// All of a log, in its order. A message of several lines (a page fault) is one event. Text that is
// no log has no events. O(size).
std::vector<Event> ReadKernelLog(absl::string_view text);

// Those that may belong to the dump: not more than kEventSeconds before or after it, where both
// have the time since the machine was started; and only those of one GPU, where that is known:
// `device`, its PCI address ("0000:03:00.0", or "03:00.0"); if that is empty, the GPU of which
// alone the events near the dump say that a dump was saved. Events that lack the time or the device
// are among them.
inline constexpr double kEventSeconds = 5;
std::vector<Event> EventsNear(const Dump& dump, absl::Span<const Event> events,
                              absl::string_view device = "");

}  // namespace packsmith::hang

#endif  // PACKSMITH_RUNTIME_HANG_KERNEL_EVENTS_H_
