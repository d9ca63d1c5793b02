#include "runtime/lint/setting_rules.h"

#include "absl/strings/str_format.h"
#include "runtime/decode/fields/value.h"

namespace packsmith::lint {

SettingRules::SettingRules(const tables::Tables& tables, Alarms& alarms)
    : tables_(tables), alarms_(alarms), keys_(tables) {
  for (const tables::Container& container : tables.containers()) {
    if (container.role != tables::Role::kOther) work_engines_ |= container.engines;
  }
}

bool SettingRules::IsState(const tables::Container& container) const {
  return container.role == tables::Role::kOther && container.operations.count == 0 &&
         container.flows.count == 0 && (container.engines & work_engines_) != 0;
}

void SettingRules::OnPacket(const decode::Record& record, const Place& place,
                            const CacheActionsDone& done, SettingState& state) {
  const tables::Container& container = *record.container;
  // A packet that waits or writes may follow work that settings alone have started.
  if (container.role != tables::Role::kOther || done.is_fence) {
    state.owners.clear();
    return;
  }
  if (!IsState(container)) return;
  if (!alarms_.Wants(RuleId::kOverwritten) || record.bytes.size() < 4) return;
  const uint32_t index = tables_.IndexOf(container);
  const auto owner = std::make_shared<SettingState::Owner>();
  owner->place = place;
  // It holds the packet's length, and may choose what of the state is set.
  owner->header = static_cast<uint32_t>(decode::ReadBits(record.bytes, 0, 32));
  keys_.ForEach(index, record.bytes, nullptr, record.space, [&](const decode::SettingKey& key) {
    // Writes of registers have effects of their own.
    if (key.what == decode::SettingKey::What::kRegister) return;
    std::shared_ptr<SettingState::Owner>& last = state.owners[key];
    if (last == owner) return;
    if (last != nullptr && --last->keys == 0 && last->header == owner->header) {
      alarms_.Raise(RuleId::kOverwritten, last->place, {},
                    absl::StrFormat("the packet at 0x%x sets it again", record.address));
    }
    last = owner;
    ++owner->keys;
  });
}

}  // namespace packsmith::lint
