#ifndef PACKSMITH_TESTS_ORACLE_RECORDS_H_
#define PACKSMITH_TESTS_ORACLE_RECORDS_H_

// The parts of `unpack --format=jsonl` records that a comparison needs.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace packsmith {

struct RecordValue {
  enum class Kind { kNone, kBool, kInteger, kReal, kText };
  Kind kind = Kind::kNone;
  // kBool: 0 or 1. kInteger: the value as two's complement. kText: the value if it is hexadecimal.
  uint64_t bits = 0;
  bool negative = false;
  // kBool, kInteger and kReal.
  double real = 0;
  bool is_hex = false;
  // As written, for messages.
  std::string text;
};

struct RecordField {
  std::string name;
  // Inclusive, from the record's start. Both -1 if the record has none.
  int high_bit = -1;
  int low_bit = -1;
  RecordValue value;
  std::string enum_name;
  std::optional<uint64_t> raw;
};

struct RecordFault {
  std::string kind;
  int high_bit = -1;
  int low_bit = -1;
};

struct Record {
  std::string type;
  std::string name;
  // Line in the text, from 1.
  int line = 0;
  // Position in Records::records of the record it was reached from, -1 for none.
  int parent = -1;
  // Number of submissions before and with this one, minus 1; -1 before the first.
  int submission = -1;
  int index = -1;
  bool has_address = false;
  uint64_t address = 0;
  // Offset of a register, where the record is one.
  std::optional<uint64_t> register_offset;
  std::vector<uint32_t> dwords;
  // Byte-sized records and data, in place of dwords.
  std::vector<uint8_t> bytes;
  // Data: how much there is in all, of which the record may hold the beginning.
  uint64_t size = 0;
  std::vector<RecordField> fields;
  std::vector<RecordFault> faults;
};

// Unknown members and types are ignored. Record ids may restart with each `schema` or
// `submission` record: a parent is the latest record of that id.
absl::StatusOr<std::vector<Record>> ParseRecords(absl::string_view jsonl);

}  // namespace packsmith

#endif  // PACKSMITH_TESTS_ORACLE_RECORDS_H_
