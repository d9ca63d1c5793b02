// What a dump of a hung GPU shows about the hang: a plain structure, made once, which report_text.h
// and report_json.h write.
//
//   HangReport report = MakeHangReport(tables, dump);
//
#ifndef PACKSMITH_RUNTIME_HANG_REPORT_H_
#define PACKSMITH_RUNTIME_HANG_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "runtime/dump/dump.h"
#include "runtime/hang/engine_state.h"
#include "runtime/hang/events.h"
#include "runtime/hang/firmware_versions.h"
#include "runtime/hang/nearby_commands.h"
#include "runtime/hang/verdict.h"
#include "runtime/tables/tables.h"

namespace packsmith::hang {

// A buffer, and how far an address is from it.
struct Neighbor {
  std::string name;
  uint64_t address = 0;
  uint64_t size = 0;
  // Bytes between the address and the buffer's end or beginning, whichever is nearer.
  uint64_t distance = 0;
  std::string tiling, access, flags;  // as Buffer has them
};

// An address, and the memory and buffers that the dump has there.
struct Place {
  uint32_t space = 0;
  uint64_t address = 0;
  bool mapped = false;  // the dump has its memory
  // The buffer that holds it; else the nearest ones.
  std::optional<Neighbor> holder;  // `distance` counts from its beginning
  std::optional<Neighbor> below, above;
};

// A request's progress, derived from the ring's head.
enum class Progress { kUnknown, kDone, kRuns, kWaits };

struct Request {
  ErrorRequest said;
  Progress progress = Progress::kUnknown;
};

struct Ring {
  uint64_t address = 0;  // in the global space
  uint64_t size = 0;     // bytes
};

// The state that was set for a draw or dispatch.
struct Address {
  std::string field;
  Place place;
};
struct Reached {
  std::string name;    // of the structure or the kind of data
  int64_t index = -1;  // in its table, or among several of the kind; -1: none
  std::string about;   // "vertex, simd 8"
  uint64_t size = 0;   // bytes
  Place place;
  std::vector<Address> addresses;  // that a structure has
};
struct Bound {
  std::string packet;
  uint64_t address = 0;            // of the packet
  std::vector<Address> addresses;  // that it has itself
  std::vector<Reached> reached;    // what it points to
};

struct Field {
  std::string name, value;
};

struct EngineReport {
  std::string name;
  bool hung = false;    // the kernel says so
  std::string process;  // whose work it was
  Stop stop;

  // Where the active head is. Empty: there is no such register.
  std::optional<Place> where;
  bool in_ring = false;
  // Decoding reaches it; else the commands around it were decoded from the start of its buffer.
  bool reached = false;
  std::vector<Command> commands;  // some around it
  std::vector<uint64_t> draws;    // of each command its number among the draws, or 0
  std::optional<size_t> active;   // the one that holds the active head
  std::optional<size_t> header;   // the one that the header belongs to, up to the active one
  std::string header_name;        // of the packet with that header, if there is one
  std::vector<Field> fields;      // of the command that the engine most likely stopped in
  // Sentences that say which registers agree, and which do not.
  std::vector<std::string> findings;

  std::optional<Ring> ring;
  std::vector<Request> requests;

  std::optional<Place> fault;  // the address that could not be read or written

  // The last draw or dispatch that the engine had begun, and the state that was set for it.
  std::optional<Command> work;
  // Its number among the draws of the dump, counted from 1 as `unpack --draw` does; empty for a
  // dispatch.
  std::optional<uint64_t> work_draw;
  std::vector<Bound> bound;
  size_t bound_left_out = 0;
};

// The state of a job of the GPU's firmware, according to its queue's memory.
enum class JobState {
  kUnknown,
  kNotBegun,  // the job at fault has not begun
  kRuns,      // a job has begun and not ended
  kEnded,     // all jobs that began have ended
};

struct Context {
  ErrorContext said;
  JobState state = JobState::kUnknown;
  bool at_fault = false;          // the kernel's reason names it
  std::string schedule_state;     // "registered, enabled"; empty: the dump does not say
  std::string work_status;        // of a parallel queue: "active"
  std::optional<double> seconds;  // that its last job has run
};

struct HangReport {
  std::string kind;    // "i915 error state"
  std::string reason;  // as the kernel says it
  std::string kernel, process, device, time;
  std::optional<uint32_t> pci_id;
  FirmwareVersions versions;
  std::vector<Verdict> verdicts;      // the best one first; empty: nothing speaks for any
  std::vector<std::string> warnings;  // sentences: what makes the dump or the verdict doubtful
  std::vector<Event> events;          // what the kernel and the firmware said
  std::vector<std::string> firmware;  // its last messages, and its log: a line each
  std::vector<EngineReport> engines;  // that hang, or whose work did not end
  std::vector<std::string> others;    // names of the rest
  std::vector<Context> contexts;      // queues of the GPU's firmware
  std::vector<Place> batches;         // of the job at fault
};

// For a dump with an error state, on which AddRings() was called. `events`: what is known from
// elsewhere, such as a kernel log; those that the dump itself has are added. Never fails: what the
// dump does not contain stays empty.
HangReport MakeHangReport(const tables::Tables& tables, const Dump& dump,
                          absl::Span<const Event> events = {});

}  // namespace packsmith::hang

#endif  // PACKSMITH_RUNTIME_HANG_REPORT_H_
