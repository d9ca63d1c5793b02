// Typed data: the values of vertices, indices and constants. Programs: where they end.
#ifndef PACKSMITH_RUNTIME_DECODE_FIELDS_DATA_H_
#define PACKSMITH_RUNTIME_DECODE_FIELDS_DATA_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "runtime/decode/fields/value.h"
#include "runtime/decode/record.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

// The value of one component; `element` has all bytes of its format.
Value DecodeComponent(const tables::Component& component, absl::Span<const uint8_t> element);

// The number of rows of a typed data record that are completely inside its bytes.
uint64_t RowsShown(const Record& record);

// Calls visit(row, element, bytes) for each element of each row that is shown, row by row. `row`
// counts as the packets do: the first is record.data_first. What an element means is in
// tables.components(*element.format), decoded by DecodeComponent.
template <class Visit>
void ForEachElement(const Record& record, const Visit& visit) {
  const uint64_t rows = RowsShown(record);
  for (uint64_t row = 0; row < rows; ++row) {
    for (const DataElement& element : record.elements) {
      visit(record.data_first + row, element,
            record.bytes.subspan(row * record.data_stride + element.offset,
                                 element.format->bits / 8));
    }
  }
}

struct CodeEnd {
  uint64_t bytes;  // up to the end of the last whole instruction
  bool found;      // that one is marked as the last
  bool unknown;  // what follows it is not an instruction that is described: more bytes do not help
};

// Walks the instructions of a program until one ends it.
CodeEnd FindCodeEnd(const tables::Tables& tables, const tables::DataKind& kind,
                    absl::Span<const uint8_t> code);

// An instruction that has the number of the binding table's element that it reaches.
struct Reached {
  tables::SurfaceUse use;
  uint64_t index;
};

// All of a program, in order; the same may come several times.
std::vector<Reached> FindReached(const tables::Tables& tables, const tables::DataKind& kind,
                                 absl::Span<const uint8_t> code);

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_FIELDS_DATA_H_
