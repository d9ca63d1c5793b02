// The packets and states that a real driver submitted, from tests/data/captures.
#ifndef PACKSMITH_TESTS_INTEL_PIPELINE_CAPTURE_H_
#define PACKSMITH_TESTS_INTEL_PIPELINE_CAPTURE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace packsmith::intel {

using Dwords = std::vector<uint32_t>;

// All different packets and structures of a kind, by its name in the manual.
using Captured = std::map<std::string, std::set<Dwords>>;

// Of a generation: "gfx9". Empty if there is no capture of it.
const Captured& CaptureOf(absl::string_view generation);

}  // namespace packsmith::intel

#endif  // PACKSMITH_TESTS_INTEL_PIPELINE_CAPTURE_H_
