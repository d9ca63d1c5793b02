// The settings that draws and dispatches use: earlier packets, shown once more with what they point
// to by then. Part of the Decoder.
#include <optional>
#include <utility>
#include <vector>

#include "runtime/decode/decoder.h"

namespace packsmith::decode {

void Decoder::KeepOrShowBound(uint32_t index, const Frame& frame, absl::Span<const uint8_t> bytes,
                              uint64_t id) {
  // The contents of programs and tables are shown again with the pointers to them.
  if (bound_ != nullptr || !rules_->HasWork(stream_)) return;
  const tables::Container& container = tables_.container(index);
  if (container.role != tables::Role::kOther) {
    if (options_.bound.each || (draw_ != 0 && draw_ == options_.bound.draw) ||
        (dispatch_ != 0 && dispatch_ == options_.bound.dispatch)) {
      ShowBound(container.role, id);
    }
    // For a dispatch, the work before it may be a draw.
    if (container.role == tables::Role::kDraw || options_.bound.dispatch != 0) {
      after_work_ = settings_;
    }
    return;
  }
  if (options_.bound.each && container.serves == static_cast<uint8_t>(tables::Role::kOther)) return;
  std::shared_ptr<Setting> setting;
  rules_->ForEach(index, bytes, memory_, frame.space, [&](const SettingKey& key) {
    if (setting == nullptr) {
      setting = std::make_shared<Setting>();
      *setting = {index,       stream_,     frame.space, frame.address,
                  frame.depth, submission_, settings_++, {bytes.begin(), bytes.end()}};
    }
    state_->settings[stream_].Set(key, setting);
  });
}

void Decoder::ShowBound(tables::Role role, uint64_t id) {
  // All of this has been decoded before: it affects neither the summary nor later packets.
  const Summary summary = summary_;
  const std::vector<std::optional<uint64_t>> bases = state_->bases;
  const std::vector<std::vector<uint8_t>> last = state_->last;
  const uint64_t most_packets = std::exchange(most_packets_, most_packets_ * kBoundRepeats);
  const uint64_t most_structs = std::exchange(most_structs_, most_structs_ * kBoundRepeats);
  const uint64_t packets = std::exchange(packets_, bound_packets_);
  const uint64_t structs = std::exchange(structs_, bound_structs_);
  const uint64_t here = here_;
  const uint32_t stream = stream_;
  looked_ahead_ = false;
  for (const std::shared_ptr<const Setting>& setting : state_->settings[stream].All()) {
    const auto serves = static_cast<tables::Role>(tables_.container(setting->container).serves);
    if (serves != tables::Role::kOther && serves != role) continue;
    if (!options_.bound.each && setting->order >= after_work_) continue;
    ShowSetting(*setting, id);
    here_ = here;
    stream_ = stream;
  }
  bound_packets_ = std::exchange(packets_, packets);
  bound_structs_ = std::exchange(structs_, structs);
  most_packets_ = most_packets;
  most_structs_ = most_structs;
  state_->bases = bases;
  state_->last = last;
  ++state_->changes;
  const uint64_t problems = summary_.problems;
  summary_ = summary;
  summary_.problems = problems;
}

void Decoder::RememberAll(absl::Span<const std::shared_ptr<const Setting>> all) {
  for (const std::shared_ptr<const Setting>& setting : all) {
    const tables::Container& container = tables_.container(setting->container);
    const PlacedParts parts = parts_.Place(container, setting->bytes);
    const RecordView view{container, setting->bytes, parts};
    Remember(setting->container, view);
    if (!actions_[setting->container].sets_or_writes) continue;
    ForEachField(tables_, acting_, view, [&](const FieldAt& at) {
      const Scope scope(tables_, at, setting->bytes);
      SetBase(at, setting->bytes, scope.Holds(tables_.extra(at.leaf->extra).sets_when));
    });
  }
  // Where structures are follows from all bases.
  ++state_->looks;
  for (const std::shared_ptr<const Setting>& setting : all) {
    if (!actions_[setting->container].points_to_remembered) continue;
    LookBehind(setting->container, setting->bytes, setting->address);
  }
  for (const auto& [container, ahead] : state_->ahead) {
    if (ahead.look == state_->looks) RememberBytes(actions_[container].memory, ahead.bytes);
  }
}

void Decoder::DecodeExecuted(const Dump& dump, const Submission& submission, const Setting& work,
                             const Settings& settings) {
  sink_.OnDump(&dump);
  const uint64_t parent = BeginSubmission(dump, submission);
  stream_ = work.stream;
  state_->settings[stream_] = settings;
  RememberAll(settings.All());
  here_ = work.address;
  stored_.clear();
  Packet(work.container, Frame{work.space, work.address, ~uint64_t{0}, 0}, work.bytes, work.bytes,
         work.bytes.size(), parent, nullptr);
  sink_.OnDump(nullptr);
}

void Decoder::ShowSetting(const Setting& setting, uint64_t id) {
  const tables::Container& container = tables_.container(setting.container);
  const PlacedParts parts = parts_.Place(container, setting.bytes);
  const RecordView view{container, setting.bytes, parts};
  faults_.clear();
  stored_.clear();
  record_ = setting.address;
  bound_ = &setting;
  CheckFields(view, setting.bytes.size(), true);
  Targets leads;
  if (actions_[setting.container].pointers && options_.follow != Follow::kNone) {
    CheckPointers(view, nullptr, leads);
  }
  const uint32_t submission = std::exchange(submission_, setting.submission);
  bound_itself_ = true;
  const uint64_t own = EmitDescribed(RecordType::kPacket, view, setting.space, setting.address, id,
                                     setting.depth, -1, nullptr);
  bound_itself_ = false;
  submission_ = submission;
  if (actions_[setting.container].sets_or_writes) {
    SetsAndWrites(view, nullptr, setting.space, setting.address, own);
  }
  if (options_.follow == Follow::kAll) FollowPointers(view, leads, own, 0);
  bound_ = nullptr;
}

bool Decoder::IsBound(const RecordView& record, const FieldAt& at,
                      const tables::Pointer& pointer) const {
  const bool packet = record.bytes.data() == bound_->bytes.data();
  const std::optional<SettingKey> key = rules_->KeyOf(record, at, pointer, packet);
  if (!key) return true;
  const Setting* const last = state_->settings[bound_->stream].Find(*key);
  return last == nullptr || last == bound_;
}

void Decoder::SayLead(const FieldAt& at, const tables::Pointer& pointer, const Scope& scope,
                      const Target& target) {
  uint64_t size = 0;
  switch (pointer.target_kind) {
    case tables::TargetKind::kStruct: {
      const Count count = CountOf(pointer, scope);
      const uint64_t bytes = tables_.container(pointer.target).bytes;
      size = Evaluate(pointer.size, scope).value_or(count.count * bytes);
      break;
    }
    case tables::TargetKind::kData:
      if (tables_.data(pointer.target).is_code == 0) size = SizeOf(pointer, scope, target);
      break;
    case tables::TargetKind::kStream:
      break;
  }
  sink_.OnLead({&at, &pointer, target.space, target.address, size});
}

}  // namespace packsmith::decode
