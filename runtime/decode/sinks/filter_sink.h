// Forwards selected records to another sink.
#ifndef PACKSMITH_RUNTIME_DECODE_SINKS_FILTER_SINK_H_
#define PACKSMITH_RUNTIME_DECODE_SINKS_FILTER_SINK_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/decode/record.h"

namespace packsmith::decode {

// The conditions for showing a record. What a shown record points to is shown, too.
struct Filter {
  // Its name matches one of these (MatchesGlob); empty: any name.
  std::vector<std::string> names;
  // At least a part of it is at or above `first` and below `end`.
  uint64_t first = 0;
  uint64_t end = ~uint64_t{0};
  // If `draw`: it is one of `packets` (ascending), or one of those from `first_packet` to
  // `last_packet`, or a target of these. They are ordinals among all packets and unknown runs of
  // the submissions' own streams.
  bool draw = false;
  std::vector<uint64_t> packets;
  uint64_t first_packet = 1, last_packet = 0;

  bool all() const { return names.empty() && first == 0 && end == ~uint64_t{0} && !draw; }
};

// `*` stands for any text, `?` for any character; case does not matter.
bool MatchesGlob(absl::string_view glob, absl::string_view text);

// Remarks and problems pass; submissions pass if something of them does. `next` must outlive the
// sink.
std::unique_ptr<Sink> MakeFilterSink(Sink& next, Filter filter);

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_SINKS_FILTER_SINK_H_
