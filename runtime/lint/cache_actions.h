// What a packet does to caches and to the pipeline.
#ifndef PACKSMITH_RUNTIME_LINT_CACHE_ACTIONS_H_
#define PACKSMITH_RUNTIME_LINT_CACHE_ACTIONS_H_

#include "runtime/decode/fields/fields.h"
#include "runtime/decode/record.h"
#include "runtime/tables/tables.h"

namespace packsmith::lint {

struct CacheActionsDone {
  bool is_fence = false;  // a packet that waits, flushes and invalidates, as its fields say
  tables::CacheActions actions = 0;
};

class CacheActionFinder {
 public:
  explicit CacheActionFinder(const tables::Tables& tables);

  CacheActionsDone Find(const decode::Record& packet);

 private:
  const tables::Tables& tables_;
  decode::ChosenLeaves acting_;
};

}  // namespace packsmith::lint

#endif  // PACKSMITH_RUNTIME_LINT_CACHE_ACTIONS_H_
