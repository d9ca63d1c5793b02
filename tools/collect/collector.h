// Collects a dump: takes it from the kernel into the store, and has the kernel drop it only when it
// is safe there.
#ifndef PACKSMITH_TOOLS_COLLECT_COLLECTOR_H_
#define PACKSMITH_TOOLS_COLLECT_COLLECTOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/collect/source.h"
#include "tools/collect/store.h"

namespace packsmith::collect {

struct CollectOptions {
  std::string root;  // stands for the root of the file system; empty: the real one
  std::vector<std::string> drivers = {"xe", "i915"};  // dumps of others are left alone
  uint64_t max_dump = uint64_t{4} << 30;              // bytes that are read of one dump
  int level = 1;                                      // of zstd
  bool keep = false;                                  // the kernel's copy
};

// One line for the user.
struct Outcome {
  bool failed = false;  // the dump is not safe
  std::string message;  // empty: there was nothing to do
};

// Collects one dump. Thread-safe.
Outcome Collect(const Source& source, const Store& store, const CollectOptions& options);

// Collects all that the kernel has, each device's in a thread of its own, after looking after what
// an earlier run left.
std::vector<Outcome> CollectAll(const Store& store, const CollectOptions& options);

}  // namespace packsmith::collect

#endif  // PACKSMITH_TOOLS_COLLECT_COLLECTOR_H_
