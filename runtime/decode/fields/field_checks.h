// Whether a record can have faults in its fields, tested a dword at a time.
#ifndef PACKSMITH_RUNTIME_DECODE_FIELDS_FIELD_CHECKS_H_
#define PACKSMITH_RUNTIME_DECODE_FIELDS_FIELD_CHECKS_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/fields/value.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

// Nearly all records are without faults and pass here; the others are checked field by field. Made
// for each container when its first record comes.
class FieldChecks {
 public:
  explicit FieldChecks(const tables::Tables& tables)
      : tables_(tables), checks_(tables.containers().size()) {}

  // True: no field of the record is wrong. False: one may be. The record must be complete.
  bool Passes(const RecordView& record) {
    if (!Passes(ChecksOf(record.container), record.bytes)) return false;
    for (const PlacedPart& placed : record.parts) {
      if (placed.bit % 8 != 0) return false;
      const tables::Container& part = tables_.container(placed.part->container);
      const Checks& checks = ChecksOf(part);
      uint64_t at = placed.bit / 8;
      for (uint64_t i = 0; i < placed.count; ++i, at += part.bytes) {
        if (!Passes(checks, record.bytes.subspan(at))) return false;
      }
    }
    return true;
  }

 private:
  // What reserved and forced bits must be, in four bytes.
  struct Word {
    uint32_t offset;  // bytes; the last four of a record may begin anywhere
    uint32_t mask;
    uint32_t value;
  };
  struct Limit {
    uint32_t bit, width;
    uint64_t least, most;  // of the bits
  };
  struct Checks {
    bool usable = false;
    uint64_t bytes = 0;
    std::vector<Word> words;
    std::vector<Limit> limits;
  };

  const Checks& ChecksOf(const tables::Container& container) {
    std::unique_ptr<Checks>& checks = checks_[tables_.IndexOf(container)];
    if (checks == nullptr) checks = Make(container);
    return *checks;
  }
  // Of a record's fixed part, or of one optional part, with which `bytes` begin.
  static bool Passes(const Checks& checks, absl::Span<const uint8_t> bytes) {
    if (!checks.usable || bytes.size() < checks.bytes) return false;
    uint8_t padded[4] = {};
    if (checks.bytes < 4) {
      std::memcpy(padded, bytes.data(), checks.bytes);
      bytes = padded;
    }
    uint32_t wrong = 0;
    for (const Word& word : checks.words) {
      uint32_t bits = 0;
      std::memcpy(&bits, bytes.data() + word.offset, 4);
      wrong |= (bits ^ word.value) & word.mask;
    }
    if (wrong != 0) return false;
    for (const Limit& limit : checks.limits) {
      const uint64_t raw = ReadBits(bytes, limit.bit, limit.width);
      if (raw < limit.least || raw > limit.most) return false;
    }
    return true;
  }
  std::unique_ptr<Checks> Make(const tables::Container& container) const;

  const tables::Tables& tables_;
  std::vector<std::unique_ptr<Checks>> checks_;
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_FIELDS_FIELD_CHECKS_H_
