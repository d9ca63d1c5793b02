// The commands around an address, in execution order.
#ifndef PACKSMITH_RUNTIME_HANG_NEARBY_COMMANDS_H_
#define PACKSMITH_RUNTIME_HANG_NEARBY_COMMANDS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/decode/decoder.h"
#include "runtime/dump/dump.h"
#include "runtime/tables/tables.h"

namespace packsmith::hang {

// A packet in a stream, or dwords that no packet matches.
struct Command {
  uint32_t space = 0;
  uint64_t address = 0;
  uint64_t size = 0;  // bytes
  uint32_t depth = 0;
  const tables::Container* container = nullptr;  // null: no packet matches
  std::vector<uint8_t> bytes;                    // the first ones, at most kMostBytes
  // Its ordinal among the packets of the submissions, and that of the last draw or dispatch up to
  // it, if there is one, as decode::Filter counts them.
  uint64_t ordinal = 0;
  std::optional<uint64_t> last_work;
  // The submission's index, and the number of draws in it up to this command.
  uint32_t submission = 0;
  uint64_t draws = 0;

  static constexpr size_t kMostBytes = 1024;

  uint32_t FirstDword() const;
  bool Contains(uint32_t in_space, uint64_t at) const {
    return space == in_space && at >= address && at - address < size;
  }
};

struct Passage {
  std::vector<Command> before;  // the last kBefore of them, in order
  std::optional<Command> at;    // holds the address; empty: the walk does not reach it
  std::vector<Command> after;
  // The packet of the submission's own stream that was being executed. If `at` is in a batch, this
  // is the packet that started the batch.
  std::optional<Command> outer;
  // The last batch that the submission's own stream had started and that was read to its end before
  // `at`: the packet that started it, and the batch's last packet.
  std::optional<Command> starter, last_of_batch;

  static constexpr size_t kBefore = 32;
  static constexpr size_t kAfter = 8;
};

// What is decoded, and how.
struct Walk {
  std::vector<Submission> submissions;
  decode::Options options = {};
};

// Decodes packets one after the other from `begin`, regardless of jumps, calls and ends: for places
// that no submission reaches.
Walk Sweep(const std::string& engine, uint32_t space, uint64_t begin);

// Decodes until it reaches the address.
Passage FindPassage(const tables::Tables& tables, const Dump& dump, const Walk& walk,
                    uint32_t space, uint64_t address);

}  // namespace packsmith::hang

#endif  // PACKSMITH_RUNTIME_HANG_NEARBY_COMMANDS_H_
