// Where an engine stopped, according to its registers. The description gives their meaning:
// `dumped-as` is a register's name in dumps, `means` the meaning of a field.
#ifndef PACKSMITH_RUNTIME_HANG_ENGINE_STATE_H_
#define PACKSMITH_RUNTIME_HANG_ENGINE_STATE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/dump/dump.h"
#include "runtime/dump/error_state.h"
#include "runtime/tables/tables.h"

namespace packsmith::hang {

// A number from one or several fields of registers, and the dump's name of the first register.
struct Said {
  std::string by;
  uint64_t value = 0;

  friend bool operator==(const Said&, const Said&) = default;
};

// Units that are not idle, by the register that reports them. Their names are those of its fields,
// without the word that marks a field that is set for idle units ("Done").
struct Busy {
  std::string by;
  std::vector<std::string> units;
  size_t executing = 0;  // how many of them are execution units
};

// The busy units of the 3D pipeline, which the description puts in order. A unit that does not
// finish takes nothing more, so that those before it fill up and stay busy, and those after it run
// empty. docs/hang.md has the figures for it.
struct BusyPipeline {
  std::vector<std::string> last;    // of the last busy stage: what does not finish
  std::vector<std::string> before;  // of busy stages before that one, front to back
  // Between two busy stages one is idle: the last busy units before that one. Either the stages in
  // between are off and keep nothing, or `last` has only a part of a primitive and waits for these.
  std::vector<std::string> before_gap;
  // Whether the dump has all stages after `last`: else one that is not in it may be the last one.
  bool rest_known = false;
  bool threads_known = false;  // registers say which execution units are idle
};

// "CL, the last busy unit of the pipeline; VFG, VS wait for it". Empty if nothing of it is busy.
std::string Describe(const BusyPipeline& pipeline);

struct Stop {
  std::optional<Said> ring_head, ring_tail;  // bytes from the start of the ring
  std::optional<Said> ring_start;            // address of the ring, in the global space
  std::optional<Said> active_head;           // address of what the engine executes or fetches
  std::optional<Said> batch_head;            // address, only in a batch
  std::optional<Said> header;                // first dword of what it executes
  std::optional<Said> fault, fault_address;  // of the engine, else of the device
  bool fault_is_global = false;              // the address is one of the global space
  std::optional<uint64_t> request_head;      // ring offset of the start of the request at fault
  // `active_head` masked to the fields of the register that gives `ring_head`: in a ring, an
  // engine's active head equals the ring's head.
  std::optional<uint64_t> active_ring_head;
  bool active_is_ring_head = false;  // both registers hold the same value
  std::vector<Busy> busy;
  BusyPipeline pipeline;
  bool units_known = false;  // registers of the engine say which units are idle
  // A command was refused: not zero. Address of the image of the context that the engine has
  // loaded, in the global space.
  std::optional<Said> instruction_error, current_context;
};

// Bit i: the tables' engine i. All bits if the description does not have the engine.
uint64_t EngineMask(const tables::Tables& tables, const std::string& engine);

// Whether a submission may have run on the engine. xe names a queue after the class of engines that
// it uses and a number of its own, so that the class alone counts there.
bool RunsOn(const Dump& dump, const Submission& submission, absl::string_view engine);

Stop StopOf(const tables::Tables& tables, const ErrorState& state, const ErrorEngine& engine);

}  // namespace packsmith::hang

#endif  // PACKSMITH_RUNTIME_HANG_ENGINE_STATE_H_
