// Bits of a record that are set but not described.
#ifndef PACKSMITH_RUNTIME_DECODE_FIELDS_UNDESCRIBED_H_
#define PACKSMITH_RUNTIME_DECODE_FIELDS_UNDESCRIBED_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/decode/fields/fields.h"
#include "runtime/decode/record.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

struct BitRun {
  uint64_t bit;    // from the start of the record
  uint32_t width;  // at most 32: runs end with their dword
  uint32_t value;
};

// In bit order; each run goes from the lowest to the highest bit that is set among neighbouring
// bits that are not described. Slow: only used on request.
std::vector<BitRun> Undescribed(const tables::Tables& tables, const RecordView& record);

// Counts a run of the record, if `seen` is not null.
inline void CountUndescribed(const Record& record, UndescribedSeen* seen) {
  if (seen == nullptr || seen->runs++ != 0) return;
  seen->first = {std::string(record.name), record.space, record.address,
                 record.type == RecordType::kRegister};
}

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_FIELDS_UNDESCRIBED_H_
