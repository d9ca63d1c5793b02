// How a driver divides the address space: which addresses it keeps for what.
#ifndef PACKSMITH_RUNTIME_LINT_ZONES_H_
#define PACKSMITH_RUNTIME_LINT_ZONES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/tables/tables.h"

namespace packsmith::lint {

struct Zone {
  std::string name;
  uint64_t begin = 0;
  uint64_t end = 0;  // the byte after the last one
  // The bases, by the description's names, whose offsets reach the zone; empty: it has no offsets.
  std::vector<std::string> bases = {};
  size_t line = 0;  // of the text, from 1
};

class Zones {
 public:
  Zones() = default;

  // One zone a line: BEGIN END NAME, or BEGIN END NAME: BASE, BASE. Numbers are hexadecimal; END is
  // the byte after the last one; # begins a comment. InvalidArgument names the line: not such a
  // line, an empty zone, or one that overlaps another; and a text without zones.
  static absl::StatusOr<Zones> Parse(absl::string_view text);

  // InvalidArgument names the line of a base that none of the descriptions has, and close names.
  // Several may be known: drivers divide the address space of all their GPUs alike.
  absl::Status CheckBases(absl::Span<const tables::Tables> known) const;

  // In the order of their addresses.
  absl::Span<const Zone> all() const { return all_; }
  // The zone that has the address, or null.
  const Zone* Find(uint64_t address) const;
  // Whether an offset from the base may point into the zone: it may if no zone is for the base.
  bool IsFor(const Zone& zone, absl::string_view base) const;

 private:
  std::vector<Zone> all_;
};

}  // namespace packsmith::lint

#endif  // PACKSMITH_RUNTIME_LINT_ZONES_H_
