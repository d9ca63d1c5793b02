// What a dump of a hung GPU says about the hang: a plain structure, made once, that text.h and
// json.h write.
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

#include "runtime/dump/dump.h"
#include "runtime/hang/passage.h"
#include "runtime/hang/stop.h"
#include "runtime/tables/tables.h"

namespace packsmith::hang {

// A buffer, and how far an address is from it.
struct Neighbor {
  std::string name;
  uint64_t address = 0;
  uint64_t size = 0;
  // Bytes between the address and its end, or its beginning, whichever is nearer.
  uint64_t distance = 0;
  std::string tiling, access, flags;  // as Buffer has them
};

// An address, and what the dump has there.
struct Place {
  uint32_t space = 0;
  uint64_t address = 0;
  bool mapped = false;  // the dump has its memory
  // The buffer that holds it; else those that lie nearest.
  std::optional<Neighbor> holder;  // `distance` counts from its beginning
  std::optional<Neighbor> below, above;
};

// How far a request has come, by the ring's head.
enum class Progress { kUnknown, kDone, kRuns, kWaits };

struct Request {
  ErrorRequest said;
  Progress progress = Progress::kUnknown;
};

struct Ring {
  uint64_t address = 0;  // in the global space
  uint64_t size = 0;     // bytes
};

// What a draw or dispatch found set.
struct Address {
  std::string field;
  Place place;
};
struct Reached {
  std::string name;    // of the structure or the kind of data
  int64_t index = -1;  // in its table, or of several of the kind
  std::string about;   // "vertex, simd 8"
  uint64_t size = 0;   // bytes
  Place place;
  std::vector<Address> addresses;  // that a structure has
};
struct Bound {
  std::string packet;
  uint64_t address = 0;            // of the packet
  std::vector<Address> addresses;  // that it has itself
  std::vector<Reached> reached;    // what it leads to
};

struct Field {
  std::string name, value;
};

struct EngineReport {
  std::string name;
  bool hung = false;    // the kernel says so
  std::string process;  // whose work it was
  Stop stop;

  // Where the active head is. Nothing: there is no such register.
  std::optional<Place> where;
  bool in_ring = false;
  bool reached = false;  // decoding comes to it; else what is around it was read from its buffer on
  std::vector<Command> commands;  // some around it
  std::vector<uint64_t> draws;    // of each command its number among the draws, or 0
  std::optional<size_t> active;   // which of them the active head is in
  std::optional<size_t> header;   // which of them the header is of, up to the active one
  std::string header_name;        // of the packet that begins like that, if one does
  std::vector<Field> fields;      // of the command that the engine most likely stopped in
  // What agrees and what does not, in sentences.
  std::vector<std::string> findings;

  std::optional<Ring> ring;
  std::vector<Request> requests;

  std::optional<Place> fault;  // the address that could not be read or written

  // The last draw or dispatch that the engine had begun, and what it found set.
  std::optional<Command> work;
  // Its number among the draws of the dump, counted from 1 as `unpack --draw` does; of a dispatch
  // there is none.
  std::optional<uint64_t> work_draw;
  std::vector<Bound> bound;
  size_t bound_left_out = 0;
};

// A job of the GPU's firmware, as far as its queue's memory says.
enum class JobState {
  kUnknown,
  kNotBegun,  // the job at fault has not begun
  kRuns,      // a job has begun and not ended
  kEnded,     // all that began has ended
};

struct Context {
  ErrorContext said;
  JobState state = JobState::kUnknown;
};

struct HangReport {
  std::string kind;    // "i915 error state"
  std::string reason;  // as the kernel says it
  std::string kernel, process, device, time;
  std::optional<uint32_t> pci_id;
  std::vector<EngineReport> engines;  // that hang, or whose work did not end
  std::vector<std::string> others;    // names of the rest
  std::vector<Context> contexts;      // queues of the GPU's firmware
  std::vector<Place> batches;         // of the job at fault
};

// Of a dump with an error state; AddRings() has seen it. Never fails: what the dump does not say is
// empty.
HangReport MakeHangReport(const tables::Tables& tables, const Dump& dump);

}  // namespace packsmith::hang

#endif  // PACKSMITH_RUNTIME_HANG_REPORT_H_
