// Shows the rows of vertices and indices that a draw reads.
#ifndef PACKSMITH_RUNTIME_DECODE_WALK_DRAW_DATA_H_
#define PACKSMITH_RUNTIME_DECODE_WALK_DRAW_DATA_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/record.h"
#include "runtime/decode/walk/drawn_data.h"
#include "runtime/decode/walk/walk.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

class DrawData {
 public:
  // `walk` must outlive this.
  explicit DrawData(Walk& walk);

  // Notes what a packet says of data that draws read.
  void Describe(const RecordView& record);
  // Shows the data that a draw reads, below it.
  void Show(const tables::Container& container, absl::Span<const uint8_t> bytes, uint64_t parent);
  // Shows rows of a slot from `first` on, at most `most`. `number`: the slot's, or -1. Returns the
  // bytes that are shown.
  absl::Span<const uint8_t> ShowRows(absl::string_view name, const DrawnData::Slot& slot,
                                     absl::Span<const DataElement> elements, int64_t number,
                                     uint64_t first, uint64_t most, uint64_t parent);

 private:
  void DescribeSlot(const RecordView& record, const FieldAt& at, const Scope& scope);
  void DescribeElement(const RecordView& record, const FieldAt& at, const Scope& scope,
                       uint32_t& described, uint64_t& number);
  DrawnData::Read ReadOf(const tables::Draw& draw, const Scope& scope) const;
  // Shows the indices that are read. Returns the least of them; empty if there is none.
  std::optional<uint64_t> ShowIndices(const tables::Draw& draw, const DrawnData::Read& read,
                                      uint64_t parent);
  void ShowSlot(const tables::Draw& draw, const DrawnData::Rows& rows, size_t number,
                const DrawnData::Read& read, uint64_t parent);

  Walk& walk_;
  const tables::Tables& tables_;
  ChosenLeaves fields_;
  std::vector<DataElement> elements_;
  std::vector<uint8_t> bytes_;
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_WALK_DRAW_DATA_H_
