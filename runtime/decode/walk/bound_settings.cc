#include "runtime/decode/walk/bound_settings.h"

#include <optional>
#include <utility>

#include "runtime/decode/walk/streams.h"

namespace packsmith::decode {
namespace {

// What is shown once more may be this many times as much as what is shown.
constexpr uint64_t kBoundRepeats = 16;

uint64_t Times(uint64_t most) {
  return most > ~uint64_t{0} / kBoundRepeats ? ~uint64_t{0} : most * kBoundRepeats;
}

}  // namespace

void BoundSettings::BeginSubmission() {
  before_work_ = kept_;
  costs_ = {0, 0, Times(walk_.costs.most_packets), Times(walk_.costs.most_structs)};
}

void BoundSettings::KeepOrShow(const Shown& packet, uint64_t id) {
  // The contents of programs and tables are shown again with the pointers to them.
  if (walk_.bound != nullptr || !rules_.HasWork(walk_.stream)) return;
  const tables::Container& container = tables_.container(packet.container);
  const Options::Bound& bound = walk_.options.bound;
  if (container.role != tables::Role::kOther) {
    const Emitter::Owner& owner = walk_.out.owner();
    if (bound.each || (owner.draw != 0 && owner.draw == bound.draw) ||
        (owner.dispatch != 0 && owner.dispatch == bound.dispatch)) {
      ShowAll(container.role, id);
    }
    // For a dispatch, the work before it may be a draw.
    if (container.role == tables::Role::kDraw || bound.dispatch != 0) before_work_ = kept_;
    return;
  }
  if (bound.each && container.serves == static_cast<uint8_t>(tables::Role::kOther)) return;
  std::shared_ptr<Setting> setting;
  rules_.ForEach(packet.container, packet.now, &walk_.memory.memory(), packet.space,
                 [&](const SettingKey& key) {
                   if (setting == nullptr) {
                     setting = std::make_shared<Setting>();
                     *setting = {packet.container, walk_.stream,
                                 packet.space,     packet.address,
                                 packet.depth,     walk_.out.owner().submission,
                                 kept_++,          {packet.now.begin(), packet.now.end()}};
                   }
                   walk_.context->settings[walk_.stream].Set(key, setting);
                 });
}

void BoundSettings::ShowAll(tables::Role role, uint64_t id) {
  // All of this has been decoded before: it affects neither the summary nor later packets.
  const Summary summary = walk_.out.summary();
  const ContextState::Checkpoint before = walk_.state().Mark();
  std::swap(walk_.costs, costs_);
  const uint64_t here = walk_.here;
  const uint32_t stream = walk_.stream;
  walk_.looked_ahead = false;
  for (const std::shared_ptr<const Setting>& setting : walk_.context->settings[stream].All()) {
    const auto serves = static_cast<tables::Role>(tables_.container(setting->container).serves);
    if (serves != tables::Role::kOther && serves != role) continue;
    if (!walk_.options.bound.each && setting->order >= before_work_) continue;
    ShowOne(*setting, id);
    walk_.here = here;
    walk_.stream = stream;
  }
  std::swap(walk_.costs, costs_);
  walk_.state().RollBack(before);
  walk_.state().Invalidate();
  const uint64_t problems = walk_.out.summary().problems;
  walk_.out.summary() = summary;
  walk_.out.summary().problems = problems;
}

void BoundSettings::ShowOne(const Setting& setting, uint64_t id) {
  Shown shown;
  shown.container = setting.container;
  shown.bytes = shown.now = setting.bytes;
  shown.length = setting.bytes.size();
  shown.space = setting.space;
  shown.address = setting.address;
  shown.parent = id;
  shown.depth = setting.depth;
  shown.again = true;
  shown.submission = setting.submission;
  walk_.bound = &setting;
  walk_.shower->Show(nullptr, shown);
  walk_.bound = nullptr;
}

void BoundSettings::RememberAll(absl::Span<const std::shared_ptr<const Setting>> all) {
  for (const std::shared_ptr<const Setting>& setting : all) {
    const tables::Container& container = tables_.container(setting->container);
    const PlacedParts parts = walk_.parts.Place(container, setting->bytes);
    const RecordView view{container, setting->bytes, parts};
    walk_.shower->Remember(setting->container, view);
    walk_.shower->SetBases(view);
  }
  // Where structures are follows from all bases.
  walk_.context->ahead.Clear();
  for (const std::shared_ptr<const Setting>& setting : all) {
    if (!walk_.actions.of[setting->container].points_to_remembered) continue;
    walk_.streams->NoteTargets(setting->container, setting->bytes, setting->address);
  }
  walk_.context->ahead.ForEach([&](uint32_t container, absl::Span<const uint8_t> bytes) {
    walk_.state().Remember(walk_.actions.of[container].memory, bytes);
  });
}

bool BoundSettings::IsBound(const RecordView& record, const FieldAt& at,
                            const tables::Pointer& pointer) const {
  const Setting& bound = *walk_.bound;
  const bool packet = record.bytes.data() == bound.bytes.data();
  const std::optional<SettingKey> key = rules_.KeyOf(record, at, pointer, packet);
  if (!key) return true;
  const Setting* const last = walk_.context->settings[bound.stream].Find(*key);
  return last == nullptr || last == &bound;
}

}  // namespace packsmith::decode
