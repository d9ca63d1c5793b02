// Where an engine stopped, as its registers say. Which register says what stands in the
// description: `dumped-as` is the name that dumps have for it, `means` what a field of it says.
#ifndef PACKSMITH_RUNTIME_HANG_STOP_H_
#define PACKSMITH_RUNTIME_HANG_STOP_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/dump/error_state.h"
#include "runtime/tables/tables.h"

namespace packsmith::hang {

// A number that one or several fields of registers say, and the dump's name of the first of these.
struct Said {
  std::string by;
  uint64_t value = 0;

  friend bool operator==(const Said&, const Said&) = default;
};

// Units that are not idle, by the register that says so. They are called as its fields are, without
// the word that says that the field is set for units that are idle.
struct Busy {
  std::string by;
  std::vector<std::string> units;
};

struct Stop {
  std::optional<Said> ring_head, ring_tail;  // bytes from the start of the ring
  std::optional<Said> ring_start;            // address of the ring, in the global space
  std::optional<Said> active_head;           // address of what the engine executes or fetches
  std::optional<Said> batch_head;            // address, only in a batch
  std::optional<Said> header;                // first dword of what it executes
  std::optional<Said> fault, fault_address;  // of the engine, else of the device
  bool fault_is_global = false;              // the address is one of the global space
  std::optional<uint64_t> request_head;      // where the request at fault begins in the ring
  // `active_head` with the fields of the register that says `ring_head`: in a ring, an engine's
  // active head is what the ring's head is.
  std::optional<uint64_t> active_ring_head;
  bool active_is_ring_head = false;  // both registers hold the same
  std::vector<Busy> busy;
};

// Bit i: the tables' engine i. All bits where the description does not know the engine.
uint64_t EngineMask(const tables::Tables& tables, const std::string& engine);

Stop StopOf(const tables::Tables& tables, const ErrorState& state, const ErrorEngine& engine);

}  // namespace packsmith::hang

#endif  // PACKSMITH_RUNTIME_HANG_STOP_H_
