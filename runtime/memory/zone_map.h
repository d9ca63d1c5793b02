// Maps of an address space: as JSON and as a picture.

#ifndef PACKSMITH_RUNTIME_MEMORY_ZONE_MAP_H_
#define PACKSMITH_RUNTIME_MEMORY_ZONE_MAP_H_

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "runtime/memory/address_space.h"

namespace packsmith::gpu {

// The name of a live range; empty if it has none.
using RangeNames = absl::FunctionRef<std::string(const Range&)>;

// {"address_bits": …, "zones": [{"name", "begin", "end", "statistics": {…},
//   "ranges": [{"address", "size", "name"}]}]}. Addresses as "0x…" strings, sizes as numbers of
// bytes; `end` is the byte after the last one. Guards are ranges without a name.
std::string ZoneMapJson(const AddressSpace& space, RangeNames names);

// An SVG document: a band for each zone, from its first live range to its last one, in cells that
// are darker the more of them is in use. The size does not depend on the number of ranges.
std::string ZoneMapSvg(const AddressSpace& space);

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_MEMORY_ZONE_MAP_H_
