// Finds packets whose settings are all overwritten before any draw or dispatch used them.
#ifndef PACKSMITH_RUNTIME_LINT_SETTING_RULES_H_
#define PACKSMITH_RUNTIME_LINT_SETTING_RULES_H_

#include <cstdint>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "runtime/decode/record.h"
#include "runtime/decode/walk/settings.h"
#include "runtime/lint/alarms.h"
#include "runtime/lint/cache_actions.h"
#include "runtime/tables/tables.h"

namespace packsmith::lint {

// Of one context.
struct SettingState {
  struct Owner {
    Place place;
    uint32_t header = 0;
    size_t keys = 0;  // that no later packet has set
  };
  // Since the last packet that may have used settings.
  absl::flat_hash_map<decode::SettingKey, std::shared_ptr<Owner>> owners;
};

class SettingRules {
 public:
  // Both must outlive this.
  SettingRules(const tables::Tables& tables, Alarms& alarms);

  void OnPacket(const decode::Record& record, const Place& place, const CacheActionsDone& done,
                SettingState& state);

 private:
  // Whether the packet only sets state, for draws or dispatches.
  bool IsState(const tables::Container& container) const;

  const tables::Tables& tables_;
  Alarms& alarms_;
  const decode::SettingRules keys_;
  uint64_t work_engines_ = 0;
};

}  // namespace packsmith::lint

#endif  // PACKSMITH_RUNTIME_LINT_SETTING_RULES_H_
