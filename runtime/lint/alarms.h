// Makes alarms of what the checks find: each once, with its place, unless its rule is turned off.
#ifndef PACKSMITH_RUNTIME_LINT_ALARMS_H_
#define PACKSMITH_RUNTIME_LINT_ALARMS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "runtime/decode/record.h"
#include "runtime/dump/dump.h"
#include "runtime/lint/alarm.h"
#include "runtime/lint/rules.h"

namespace packsmith::lint {

// Where something was found. Names are those of the tables.
struct Place {
  uint32_t submission = 0;
  uint32_t space = 0;
  uint64_t address = 0;
  uint64_t packet_address = 0;
  absl::string_view packet, record;
  uint64_t draw = 0, dispatch = 0;
};

// A field of the record; without a width: none.
struct FieldPlace {
  decode::FieldName name = {};
  uint64_t bit = 0;
  uint32_t width = 0;
};
inline FieldPlace PlaceOf(const decode::FieldAt& at) { return {at.name, at.bit, at.width}; }

// What an alarm says of its rule.
struct RuleWords {
  absl::string_view number;
  Severity severity = Severity::kWarning;
  absl::string_view why, source;
};

class Alarms {
 public:
  // `without`: numbers of rules, and of workarounds ("Wa_1409600907"). `most_of_a_rule`: more are
  // only counted. `sink` must outlive this.
  Alarms(AlarmSink& sink, absl::flat_hash_set<std::string> without, uint64_t most_of_a_rule);

  void OnDump(const Dump* dump) { dump_ = dump; }
  void OnSubmission(const Submission& submission);

  bool Wants(absl::string_view number) const { return !without_.contains(number); }
  bool Wants(RuleId id) const { return wanted_[static_cast<size_t>(id)]; }

  void Raise(RuleId id, const Place& place, const FieldPlace& field, std::string what);
  void Raise(const RuleWords& words, const Place& place, const FieldPlace& field, std::string what);

  const AlarmCounts& counts() const { return counts_; }

 private:
  // Alarms of which it is known that they were raised: structures are reached many times.
  static constexpr size_t kMostRemembered = size_t{1} << 20;

  AlarmSink& sink_;
  const absl::flat_hash_set<std::string> without_;
  const uint64_t most_of_a_rule_;
  std::vector<bool> wanted_;  // by RuleId
  const Dump* dump_ = nullptr;
  std::string engine_;
  uint32_t space_ = 0;
  uint64_t batch_ = 0;
  absl::flat_hash_set<size_t> raised_;  // hashes
  AlarmCounts counts_;
};

}  // namespace packsmith::lint

#endif  // PACKSMITH_RUNTIME_LINT_ALARMS_H_
