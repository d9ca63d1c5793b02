// The fields of a record, for comparison and as text.
//
//   for (const RecordField& field : FieldsOf(tables, record.container, record.bytes)) {
//     Print(field.name, TextOf(tables, field));
//   }
#ifndef PACKSMITH_RUNTIME_COMPARE_RECORD_FIELDS_H_
#define PACKSMITH_RUNTIME_COMPARE_RECORD_FIELDS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/compare/trail.h"
#include "runtime/tables/tables.h"

namespace packsmith::compare {

struct RecordField {
  std::string name;
  const tables::Leaf* leaf = nullptr;  // null: a dword that is not described
  uint64_t bit = 0;
  uint32_t width = 0;
  uint64_t raw = 0;
  const Address* address = nullptr;  // the item's, if the field is one of these
};

// In bit order, without opcodes and reserved bits; of data, and of what is not described, dwords.
std::vector<RecordField> FieldsOf(const tables::Tables& tables, const Item& item);

// The same of any record; `container` may be null. No field has an address.
std::vector<RecordField> FieldsOf(const tables::Tables& tables, const tables::Container* container,
                                  absl::Span<const uint8_t> bytes);

// "15", "0x1000", "true".
std::string NumberOf(const tables::Tables& tables, const RecordField& field);
// "RECTLIST"; empty if the value has no name.
absl::string_view NameOf(const tables::Tables& tables, const RecordField& field);
// "15 (RECTLIST)".
std::string TextOf(const tables::Tables& tables, const RecordField& field);

// The item's bits that none of its fields has: 1 for each of them, byte by byte.
std::vector<uint8_t> OtherBits(const Item& item, const std::vector<RecordField>& fields);

}  // namespace packsmith::compare

#endif  // PACKSMITH_RUNTIME_COMPARE_RECORD_FIELDS_H_
