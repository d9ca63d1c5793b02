// Which packets' settings are in effect: the last of each kind, and where packets change only some
// of what their kind can hold, the last that has set each of those.
#ifndef PACKSMITH_RUNTIME_DECODE_WALK_SETTINGS_H_
#define PACKSMITH_RUNTIME_DECODE_WALK_SETTINGS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/dump/dump.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

// What can be set independently: a container, and a part of it.
struct SettingKey {
  enum class What : uint32_t {
    kAll,       // all that a packet sets
    kRegister,  // a register that it loads, by its offset
    kPart,      // an optional part, by its number
    kPointer,   // a pointer with its own condition, by its leaf
    kSlot,      // one of several pieces of data, by its number
    kElement,   // an element of data that has a packet of its own, by its number
    kBase,      // a base with its own condition, by its index
  };
  uint32_t container;
  What what;
  uint64_t number;

  bool operator==(const SettingKey&) const = default;
  bool operator<(const SettingKey& other) const;
  template <class H>
  friend H AbslHashValue(H h, const SettingKey& key) {
    return H::combine(std::move(h), key.container, static_cast<uint32_t>(key.what), key.number);
  }
};

class SettingRules {
 public:
  // The tables must outlive this.
  explicit SettingRules(const tables::Tables& tables);

  // Calls visit(key) for all that a packet of a submission in `space` sets; for none if it does not
  // set state: flow control, or a single dword. `memory` may be null: then pointers are not
  // followed.
  void ForEach(uint32_t container, absl::Span<const uint8_t> packet, const Memory* memory,
               uint32_t space, absl::FunctionRef<void(const SettingKey&)> visit) const;
  // The key that the pointer at a field belongs to. `packet`: the record is a packet, not a
  // packet's target. Empty: the key of the pointer to the record.
  std::optional<SettingKey> KeyOf(const RecordView& record, const FieldAt& at,
                                  const tables::Pointer& pointer, bool packet) const;
  // Whether the stream can have a draw or dispatch.
  bool HasWork(uint32_t stream) const { return has_work_[stream]; }

 private:
  // The bases that a packet sets, of those that it need not set.
  void Bases(uint32_t container, absl::Span<const uint8_t> packet,
             absl::FunctionRef<void(const SettingKey&)> visit) const;
  // In a record that consists of parts, absent parts remain unchanged.
  void Parts(uint32_t container, absl::Span<const uint8_t> record,
             absl::FunctionRef<void(const SettingKey&)> visit) const;
  // The record with parts that a packet points to, without a base; empty if there is none.
  absl::Span<const uint8_t> RecordAt(const tables::Container& container,
                                     absl::Span<const uint8_t> packet, const tables::Leaf& leaf,
                                     const Memory& memory, uint32_t space) const;

  const tables::Tables& tables_;
  std::vector<bool> by_register_;                // by container: loads registers
  std::vector<bool> selective_;                  // by container: has pointers of their own
  std::vector<bool> sets_bases_;                 // by container: it need not set all of them
  std::vector<uint32_t> elements_;               // by container: the number's expression, or kNone
  std::vector<std::vector<uint32_t>> to_parts_;  // by container: leaves that point to parts
  std::vector<bool> has_work_;                   // by stream
};

// A packet as it was when it was decoded.
struct Setting {
  uint32_t container = 0;
  uint32_t stream = 0;
  uint32_t space = 0;
  uint64_t address = 0;
  uint32_t depth = 0;
  uint32_t submission = 0;  // its index
  uint64_t order = 0;       // among all packets that were kept
  std::vector<uint8_t> bytes;
};

// The packets whose settings are in effect in one stream of a context.
class Settings {
 public:
  // The last packet that has set what the key names, or null.
  const Setting* Find(const SettingKey& key) const {
    const auto found = all_.find(key);
    return found == all_.end() ? nullptr : found->second.get();
  }
  void Set(const SettingKey& key, std::shared_ptr<const Setting> setting) {
    all_[key] = std::move(setting);
  }
  // In stream order, each once. Valid as long as this.
  std::vector<std::shared_ptr<const Setting>> All() const;

 private:
  absl::flat_hash_map<SettingKey, std::shared_ptr<const Setting>> all_;
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_WALK_SETTINGS_H_
