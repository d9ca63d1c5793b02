#include "runtime/lint/alarms.h"

#include <utility>

#include "absl/hash/hash.h"

namespace packsmith::lint {

Alarms::Alarms(AlarmSink& sink, absl::flat_hash_set<std::string> without, uint64_t most_of_a_rule)
    : sink_(sink), without_(std::move(without)), most_of_a_rule_(most_of_a_rule) {
  for (const RuleInfo& rule : BuiltInRules()) wanted_.push_back(Wants(rule.number));
}

void Alarms::OnSubmission(const Submission& submission) {
  engine_ = submission.engine;
  space_ = submission.space;
  batch_ = submission.batch_address;
}

void Alarms::Raise(RuleId id, const Place& place, const FieldPlace& field, std::string what) {
  if (!Wants(id)) return;
  const RuleInfo& info = InfoOf(id);
  Raise({info.number, info.severity, info.why, info.source}, place, field, std::move(what));
}

void Alarms::Raise(const RuleWords& words, const Place& place, const FieldPlace& field,
                   std::string what) {
  if (!Wants(words.number)) return;
  const size_t key = absl::HashOf(words.number, place.submission, place.space, place.address,
                                  place.record, field.bit, what);
  if (raised_.size() < kMostRemembered && !raised_.insert(key).second) return;
  Alarm alarm;
  alarm.number = std::string(words.number);
  alarm.severity = words.severity;
  ++counts_.by_severity[static_cast<size_t>(words.severity)];
  if (++counts_.by_rule[alarm.number] > most_of_a_rule_) {
    ++counts_.not_shown;
    return;
  }
  alarm.submission = place.submission;
  alarm.engine = engine_;
  alarm.space = place.space;
  alarm.address = place.address;
  const Buffer* const buffer =
      dump_ == nullptr ? nullptr : dump_->FindBuffer(place.space, place.address);
  if (buffer != nullptr) {
    alarm.buffer = buffer->name;
    alarm.offset = place.address - buffer->address;
  } else if (place.space == space_ && place.address >= batch_) {
    alarm.offset = place.address - batch_;
  }
  alarm.packet = std::string(place.packet);
  alarm.packet_address = place.packet_address;
  alarm.record = std::string(place.record);
  if (field.width != 0) {
    decode::AppendFieldName(field.name, alarm.field);
    alarm.bit = field.bit;
    alarm.width = field.width;
  }
  alarm.draw = place.draw;
  alarm.dispatch = place.dispatch;
  alarm.what = std::move(what);
  alarm.why = std::string(words.why);
  alarm.source = std::string(words.source);
  sink_.OnAlarm(alarm);
}

}  // namespace packsmith::lint
