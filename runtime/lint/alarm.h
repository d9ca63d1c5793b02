// A broken rule, and where it goes.
#ifndef PACKSMITH_RUNTIME_LINT_ALARM_H_
#define PACKSMITH_RUNTIME_LINT_ALARM_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "runtime/lint/rules.h"

namespace packsmith::lint {

// Names may come from the input: who prints them escapes them.
struct Alarm {
  std::string number;
  Severity severity = Severity::kWarning;
  uint32_t submission = 0;
  std::string engine;
  uint32_t space = 0;
  uint64_t address = 0;  // of the record
  std::string buffer;    // that holds it; "": `offset` is from the start of the batch
  uint64_t offset = 0;   // bytes
  std::string packet;    // of the stream, by which the record was reached; "": a whole submission
  uint64_t packet_address = 0;
  std::string record;  // the packet itself, or what it points to
  std::string field;   // "": all of the record
  uint64_t bit = 0;    // of the field, from the start of the record
  uint32_t width = 0;
  uint64_t draw = 0, dispatch = 0;  // that the record belongs to; 0: none
  std::string what;                 // this case: values, names
  std::string why, source;
};

class AlarmSink {
 public:
  virtual ~AlarmSink() = default;
  virtual void OnAlarm(const Alarm& alarm) = 0;
};

struct AlarmCounts {
  std::array<uint64_t, tables::kSeverities> by_severity{};
  std::map<std::string, uint64_t> by_rule;
  uint64_t not_shown = 0;  // counted above, but not handed to the sink

  // Those of this severity and of higher ones.
  uint64_t From(Severity least) const {
    uint64_t all = 0;
    for (auto i = static_cast<size_t>(least); i < by_severity.size(); ++i) all += by_severity[i];
    return all;
  }
};

}  // namespace packsmith::lint

#endif  // PACKSMITH_RUNTIME_LINT_ALARM_H_
