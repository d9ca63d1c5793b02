// The settings that draws and dispatches use: earlier packets, shown once more with what they point
// to by then.
#ifndef PACKSMITH_RUNTIME_DECODE_WALK_BOUND_SETTINGS_H_
#define PACKSMITH_RUNTIME_DECODE_WALK_BOUND_SETTINGS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/walk/record_shower.h"
#include "runtime/decode/walk/settings.h"
#include "runtime/decode/walk/walk.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

// Options::bound.
class BoundSettings {
 public:
  // `walk` must outlive this.
  explicit BoundSettings(Walk& walk) : walk_(walk), tables_(walk.tables), rules_(walk.tables) {}

  // What is shown once more is counted anew.
  void BeginSubmission();
  // Whether the stream can have a draw or dispatch.
  bool HasWork(uint32_t stream) const { return rules_.HasWork(stream); }
  // Keeps what a packet sets; or shows the settings that it uses, if it is a draw or dispatch.
  // `id`: its record's.
  void KeepOrShow(const Shown& packet, uint64_t id);
  // The state is as after these packets, in stream order.
  void RememberAll(absl::Span<const std::shared_ptr<const Setting>> all);
  // Of a record of Walk::bound: whether no later packet has set the pointer.
  bool IsBound(const RecordView& record, const FieldAt& at, const tables::Pointer& pointer) const;

 private:
  void ShowAll(tables::Role role, uint64_t id);
  void ShowOne(const Setting& setting, uint64_t id);

  Walk& walk_;
  const tables::Tables& tables_;
  SettingRules rules_;
  uint64_t kept_ = 0;         // packets, of all submissions
  uint64_t before_work_ = 0;  // of them, those before the last draw or dispatch
  Costs costs_;               // of what was shown once more
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_WALK_BOUND_SETTINGS_H_
