// A block of decode tables that is built into a program. Generated sources define these.
#ifndef PACKSMITH_RUNTIME_TABLES_EMBEDDED_H_
#define PACKSMITH_RUNTIME_TABLES_EMBEDDED_H_

#include <cstddef>
#include <cstdint>

namespace packsmith::tables {

struct EmbeddedBlock {
  const uint64_t* words;
  size_t bytes;
};

}  // namespace packsmith::tables

#endif  // PACKSMITH_RUNTIME_TABLES_EMBEDDED_H_
