// What is wrong with a record's length and with the values of its fields.
#ifndef PACKSMITH_RUNTIME_DECODE_FIELDS_FAULT_FINDER_H_
#define PACKSMITH_RUNTIME_DECODE_FIELDS_FAULT_FINDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/decode/fields/field_checks.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/fields/part_finder.h"
#include "runtime/decode/record.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

// Adds a fault, unless the record has very many.
void AddFault(FaultKind kind, uint64_t bit, uint64_t width, uint64_t value, std::string text,
              std::vector<Fault>& faults);

class FaultFinder {
 public:
  // Both must outlive the finder.
  FaultFinder(const tables::Tables& tables, PartFinder& parts)
      : tables_(tables), checks_(tables), parts_(parts) {}

  // Adds the faults of a record that should have `length` bytes. `own_length`: the record itself
  // states that length.
  void Find(const RecordView& record, uint64_t length, bool own_length, std::vector<Fault>& faults);

 private:
  void FindInLength(const RecordView& record, uint64_t length, uint64_t needed,
                    std::vector<Fault>& faults) const;
  void FindInField(const RecordView& record, uint64_t length, const FieldAt& at,
                   std::vector<Fault>& faults) const;
  void FindInReserved(absl::Span<const uint8_t> bytes, const FieldAt& at,
                      std::vector<Fault>& faults) const;
  void FindInRange(const FieldAt& at, uint64_t raw, std::vector<Fault>& faults) const;

  const tables::Tables& tables_;
  FieldChecks checks_;
  PartFinder& parts_;
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_FIELDS_FAULT_FINDER_H_
