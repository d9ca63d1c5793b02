// Holds the batches of dumps against rules.
//
//   const std::unique_ptr<LintSink> sink = MakeLintSink(alarms, {});
//   decode::Decoder decoder(tables, *sink, LintDecoding());
//   for (const Dump& dump : dumps) decoder.Decode(dump);
//   decoder.Finish();
//   if (sink->counts().From(Severity::kError) != 0) …
//
// Work and memory are linear in the packets and structures.
#ifndef PACKSMITH_RUNTIME_LINT_LINT_H_
#define PACKSMITH_RUNTIME_LINT_LINT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "runtime/decode/decoder.h"
#include "runtime/decode/record.h"
#include "runtime/lint/alarm.h"
#include "runtime/lint/platforms.h"
#include "runtime/lint/zones.h"

namespace packsmith::lint {

// Whether the input has all batches of a context. Rules about what was never set apply only then.
enum class History {
  kAuto,   // if the submissions that the dumps number are there from the first one on
  kWhole,  // it does
  kPart,   // there were batches before
};

struct LintOptions {
  // Numbers of rules that are turned off, and of workarounds: "Wa_1409600907".
  absl::flat_hash_set<std::string> without = {};
  // Handed to the sink of one rule's alarms; more are only counted.
  uint64_t most_of_a_rule = 100;
  // In place of what the dump says.
  std::optional<Product> product = {};
  History history = History::kAuto;
  // The driver's, for the rule about pointers that leave them; without: that is not checked.
  Zones zones = {};
};

class LintSink : public decode::Sink {
 public:
  virtual const AlarmCounts& counts() const = 0;
};

// `alarms` must outlive the sink.
std::unique_ptr<LintSink> MakeLintSink(AlarmSink& alarms, const LintOptions& options);

// How the decoder must decode for the sink.
inline decode::Options LintDecoding() {
  decode::Options options;
  options.leads = true;
  return options;
}

}  // namespace packsmith::lint

#endif  // PACKSMITH_RUNTIME_LINT_LINT_H_
