// What packsmith-collect saved beside a dump: the device's PCI address (about.json) and the
// kernel's log (dmesg.txt).
//
//   const Beside beside = ReadBeside("…/devcd3/data.zst");
//   const std::vector<Event> near = EventsNear(dump, beside.events, beside.device);
//   HangReport report = MakeHangReport(tables, dump, near);
#ifndef PACKSMITH_RUNTIME_HANG_BESIDE_H_
#define PACKSMITH_RUNTIME_HANG_BESIDE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/hang/events.h"

namespace packsmith::hang {

struct Beside {
  std::string device;  // "0000:03:00.0"
  std::vector<Event> events;
};

// Empty if the dump's folder is not one of packsmith-collect, by its about.json: the log of a
// folder in which others keep their dumps may be of another machine. Of a file that cannot be read,
// nothing. Not more than kMostOfLog bytes of the log are read, the last ones.
inline constexpr uint64_t kMostOfLog = uint64_t{16} << 20;
Beside ReadBeside(const std::string& dump_path);

}  // namespace packsmith::hang

#endif  // PACKSMITH_RUNTIME_HANG_BESIDE_H_
