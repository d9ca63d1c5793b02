// Holds batches against the workarounds that the GPU needs.
#ifndef PACKSMITH_RUNTIME_LINT_WORKAROUND_RULES_H_
#define PACKSMITH_RUNTIME_LINT_WORKAROUND_RULES_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "runtime/decode/record.h"
#include "runtime/lint/alarms.h"
#include "runtime/lint/cache_actions.h"
#include "runtime/lint/context.h"
#include "runtime/lint/platforms.h"
#include "runtime/tables/tables.h"

namespace packsmith::lint {

// Of one context. Keys are indices in the list of asks.
struct WorkaroundState {
  absl::flat_hash_map<uint32_t, uint64_t> met;    // number of the packet that did it last
  absl::flat_hash_map<uint32_t, Place> waiting;   // for a packet after this one
  absl::flat_hash_map<uint32_t, uint64_t> again;  // number of the packet that must be repeated
  uint64_t stalled = 0;                           // number of the last packet that stalled
};

class WorkaroundRules {
 public:
  // All must outlive this.
  WorkaroundRules(const tables::Tables& tables, const Product& product, Alarms& alarms);

  // Before the packet is counted among those that the context has seen.
  void OnPacket(const decode::Record& record, const Place& place, const CacheActionsDone& done,
                const Context& context, WorkaroundState& state);
  void OnStruct(const decode::Record& record, const Place& place);

 private:
  struct Asked {
    const tables::Ask* ask;
    const tables::Workaround* workaround;
    bool with_fence;  // what it asks for waits, as the end of a batch does
  };

  void Add(const tables::Workaround& workaround, const tables::Ask& ask);
  void CheckWork(const Place& place, const Context& context, WorkaroundState& state);
  // `record` is what the ask is about.
  void CheckOf(uint32_t index, const decode::Record& record, const Place& place,
               const Context& context, WorkaroundState& state);
  void CheckValue(const Asked& asked, const decode::Record& record, const Place& place);
  void Raise(RuleId id, const Asked& asked, const Place& place, const FieldPlace& field,
             std::string what);
  // What is asked for, in words.
  std::string Wanted(const Asked& asked) const;

  const tables::Tables& tables_;
  Alarms& alarms_;
  std::vector<Asked> asks_;
  std::vector<std::vector<uint32_t>> of_, with_;  // by container: indices in asks_
};

}  // namespace packsmith::lint

#endif  // PACKSMITH_RUNTIME_LINT_WORKAROUND_RULES_H_
