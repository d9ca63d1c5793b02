// What the GPU's firmware (GuC) said, from the messages and the log that a dump has of it.
#ifndef PACKSMITH_RUNTIME_HANG_FIRMWARE_EVENTS_H_
#define PACKSMITH_RUNTIME_HANG_FIRMWARE_EVENTS_H_

#include <string>
#include <vector>

#include "runtime/dump/dump.h"
#include "runtime/hang/events.h"

namespace packsmith::hang {

// Page faults that were not served, memory errors, resets, requests to leave an engine that were
// not answered, and failures of the firmware, in the order of the messages. Empty for dumps without
// messages.
std::vector<Event> EventsOfFirmware(const Dump& dump);

// The last messages of each direction, and the sections of the log, a line each.
inline constexpr size_t kShownMessages = 8;
std::vector<std::string> FirmwareLines(const Dump& dump);

}  // namespace packsmith::hang

#endif  // PACKSMITH_RUNTIME_HANG_FIRMWARE_EVENTS_H_
