// The differences between two trails: streams are aligned packet by packet, then packets are
// compared field by field, and what their pointers reach in the same way.
//
//   const Comparison comparison = Compare(trail_a, trail_b);
//   if (comparison.counts.IsSame()) …
//
// Addresses are compared by what they point to: where the dump has packets, structures or data
// there, these are compared, and their place does not count. Other addresses are equal if they have
// the same offset in buffers that correspond: those that most addresses of equal offset agree on.
#ifndef PACKSMITH_RUNTIME_COMPARE_COMPARE_H_
#define PACKSMITH_RUNTIME_COMPARE_COMPARE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/compare/trail.h"

namespace packsmith::compare {

// Something that differs in a packet, or in what it points to.
struct Change {
  // From the packet to the record: the field with the pointer, then the record's name, and so on.
  std::vector<std::string> path;
  // Empty: the record itself is only on one side.
  std::string field;
  std::optional<std::string> a, b;  // values as text; empty: that side has none
};

enum class Kind : uint8_t { kChanged, kRemoved, kAdded };
enum class Of : uint8_t { kPacket, kRegister, kFact };

// Where a packet is.
struct Where {
  uint32_t submission = 0;
  uint64_t number = 0;  // in its submission, from 1; 0 for the state of a draw
  uint32_t space = 0;
  uint64_t address = 0;
  uint64_t draw = 0, dispatch = 0;
};

struct Difference {
  Kind kind = Kind::kChanged;
  std::string engine;
  std::string name;
  Of of = Of::kPacket;
  std::optional<Where> a, b;  // kPacket
  // kFact: one, with an empty path and the fact's name as the field. kChanged: what differs.
  // Otherwise the fields that are not zero, and nothing of what the packet
  // points to.
  std::vector<Change> changes;
};

struct Counts {
  uint64_t same = 0, changed = 0, removed = 0, added = 0;

  bool IsSame() const { return changed == 0 && removed == 0 && added == 0; }
};

struct Comparison {
  std::vector<Difference> differences;  // in the order of the streams
  Counts counts;                        // of packets, runs of unknown dwords, registers and facts
  // Differences in memory that other packets reach, too, are listed at the first of these. The
  // number of times that they were omitted.
  uint64_t repeated = 0;
};

struct CompareOptions {
  // Both trails are of one dump: an address is equal to itself only.
  bool one_dump = false;
};

Comparison Compare(const Trail& a, const Trail& b, const CompareOptions& options = {});

}  // namespace packsmith::compare

#endif  // PACKSMITH_RUNTIME_COMPARE_COMPARE_H_
