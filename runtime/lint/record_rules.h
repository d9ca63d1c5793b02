// Rules about one packet or structure: its bits, values and length.
#ifndef PACKSMITH_RUNTIME_LINT_RECORD_RULES_H_
#define PACKSMITH_RUNTIME_LINT_RECORD_RULES_H_

#include <cstdint>

#include "runtime/decode/fields/fields.h"
#include "runtime/decode/record.h"
#include "runtime/lint/alarms.h"
#include "runtime/tables/tables.h"

namespace packsmith::lint {

class RecordRules {
 public:
  // Both must outlive this.
  RecordRules(const tables::Tables& tables, Alarms& alarms);

  // The engines that read the submission's streams, a bit each.
  void OnSubmission(const Submission& submission);
  // A packet, structure, or run of unknown dwords. Faults about pointers are PointerRules'.
  void Check(const decode::Record& record, const Place& place);

 private:
  void CheckFault(const decode::Record& record, const decode::Fault& fault, const Place& place);
  void CheckUnknown(const decode::Record& record, const Place& place);
  void CheckLength(const decode::Record& record, const Place& place);
  void CheckField(const decode::FieldAt& at, absl::Span<const uint8_t> bytes, const Place& place);
  // The field at a bit of the record.
  FieldPlace FieldAtBit(const decode::Record& record, uint64_t bit) const;

  const tables::Tables& tables_;
  Alarms& alarms_;
  decode::ChosenLeaves checked_;
  std::string stream_;
};

}  // namespace packsmith::lint

#endif  // PACKSMITH_RUNTIME_LINT_RECORD_RULES_H_
