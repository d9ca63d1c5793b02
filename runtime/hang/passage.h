// The commands around an address, as an engine comes to them.
#ifndef PACKSMITH_RUNTIME_HANG_PASSAGE_H_
#define PACKSMITH_RUNTIME_HANG_PASSAGE_H_

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
  // it, if there is one. As decode::Filter counts them.
  uint64_t ordinal = 0;
  std::optional<uint64_t> last_work;
  // The submission's index, and how many draws there are in it up to this one.
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
  std::optional<Command> at;    // holds the address; none: the walk does not come to it
  std::vector<Command> after;
  // The packet of the submission's own stream that was being executed, and the end of it. Where
  // `at` lies in a batch, this is what started the batch.
  std::optional<Command> outer;
  // The last batch that the submission's own stream had started and that was read to its end
  // before `at`: the packet that started it, and its own last one.
  std::optional<Command> starter, last_of_batch;

  static constexpr size_t kBefore = 32;
  static constexpr size_t kAfter = 8;
};

// What is decoded, and how.
struct Walk {
  std::vector<Submission> submissions;
  decode::Options options = {};
};

// One packet after the other from `begin` on, whatever they say of where to go on: for places that
// no submission leads to.
Walk Sweep(const std::string& engine, uint32_t space, uint64_t begin);

// Goes until it comes to the address.
Passage FindPassage(const tables::Tables& tables, const Dump& dump, const Walk& walk,
                    uint32_t space, uint64_t address);

}  // namespace packsmith::hang

#endif  // PACKSMITH_RUNTIME_HANG_PASSAGE_H_
