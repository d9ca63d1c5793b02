// What a dump has that a format cannot hold, in phrases for messages.

#ifndef PACKSMITH_RUNTIME_DUMP_LOSSES_H_
#define PACKSMITH_RUNTIME_DUMP_LOSSES_H_

#include <functional>
#include <string>
#include <vector>

#include "runtime/dump/dump.h"

namespace packsmith {

// What a format holds of a submission besides its address.
struct HeldOfSubmissions {
  bool engines = false;  // which engine, and which context
  bool lengths = false;  // of batches
  bool rings = false;    // the ring that the submission is part of
};

// A phrase for each kind of thing that the chosen submissions have and the format does not.
std::vector<std::string> LostOfSubmissions(const Dump& dump, const HeldOfSubmissions& held,
                                           const std::function<bool(const Submission&)>& chosen);

// What only GPU core dumps hold, or only the kernels' dumps: names of buffers are not among it.
std::vector<std::string> LostBesides(const Dump& dump);

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_DUMP_LOSSES_H_
