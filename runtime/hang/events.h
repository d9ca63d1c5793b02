// What the kernel and the GPU's firmware said about a hang while it happened: lines of a kernel log
// (kernel_events.h) and messages that are still in the dump (firmware_events.h).
#ifndef PACKSMITH_RUNTIME_HANG_EVENTS_H_
#define PACKSMITH_RUNTIME_HANG_EVENTS_H_

#include <cstdint>
#include <optional>
#include <string>

namespace packsmith::hang {

enum class EventKind {
  kPageFault,    // an access that was not served
  kCatError,     // the memory unit gave up a context
  kReset,        // an engine was reset; `why`, where it is said
  kResetFailed,  // that failed: the whole GPU was reset, or given up
  kPreemption,   // a context did not yield, or did not answer that it has
  kNotStarted,   // the job at fault had not begun
  kRefused,      // a command was refused
  kTimeout,      // a job took too long
  kSaved,        // a dump was saved
  kFirmware,     // the firmware itself failed
};

enum class EventOrigin {
  kLog,       // of the kernel
  kReason,    // the kernel's reason, at the head of the dump
  kFirmware,  // a message to or from the firmware, which the dump has
};

struct Event {
  EventOrigin origin = EventOrigin::kLog;
  EventKind kind = EventKind::kTimeout;
  std::string source;               // "GuC message at 0x2010", "kernel log, line 45"
  std::string text;                 // as it is shown
  std::string device;               // PCI address, "0000:03:00.0"; empty: not said
  std::optional<double> seconds;    // since the machine was started
  std::optional<uint32_t> queue;    // "GuC ID"; empty: not said, or unknown to the firmware
  std::optional<uint32_t> asid;     // number of the address space
  std::optional<uint64_t> address;  // of an access
  std::string access;               // "write"
  std::string unit;                 // of the GPU, that made the access
  std::string engine;               // or class of engines; may be empty
  std::string why;                  // of a reset
};

}  // namespace packsmith::hang

#endif  // PACKSMITH_RUNTIME_HANG_EVENTS_H_
