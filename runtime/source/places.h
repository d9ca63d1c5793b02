// Where a dump has packets, structures and data, as decoding reaches them.
#ifndef PACKSMITH_RUNTIME_SOURCE_PLACES_H_
#define PACKSMITH_RUNTIME_SOURCE_PLACES_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/dump/dump.h"
#include "runtime/source/designators.h"
#include "runtime/tables/tables.h"

namespace packsmith::source {

struct Places {
  struct Entry {
    uint32_t space;
    uint64_t address;
    uint32_t size;  // bytes
    bool is_packet;
    const tables::Container* container;
    std::vector<Target> targets;
  };
  // By space and address; none overlap.
  std::vector<Entry> entries;
  // Names of data, by where it begins.
  std::map<std::pair<uint32_t, uint64_t>, std::string> data;
};

Places FindPlaces(const tables::Tables& tables, const Dump& dump);

}  // namespace packsmith::source

#endif  // PACKSMITH_RUNTIME_SOURCE_PLACES_H_
