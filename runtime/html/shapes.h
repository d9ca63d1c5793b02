// The fields of records, for the page: many records have the same ones in the same places.
#ifndef PACKSMITH_RUNTIME_HTML_SHAPES_H_
#define PACKSMITH_RUNTIME_HTML_SHAPES_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "runtime/decode/record.h"
#include "runtime/decode/text/plan.h"
#include "runtime/html/messages.h"
#include "runtime/tables/tables.h"

namespace packsmith::html {

class Shapes {
 public:
  // Both must outlive this.
  Shapes(const tables::Tables& tables, Messages& messages, uint32_t& shapes_before,
         uint32_t& fields_before, uint32_t& enums_before);

  struct Shape {
    uint32_t number;
    // Bit and leaf of each field, in the order of the message.
    std::vector<std::pair<uint64_t, const tables::Leaf*>> fields;
    // The place of a field; -1: it is not shown.
    int64_t Find(uint64_t bit, const tables::Leaf* leaf) const;
  };
  // Of a record with a container. Adds messages for what has not come before.
  const Shape& Of(const decode::Record& record);

 private:
  // As records have it; equal ones are one shape.
  struct Shown {
    const decode::PlannedField* field;
    uint64_t bit;
    uint32_t width;
    int64_t index;
    bool operator==(const Shown&) const = default;
    template <class H>
    friend H AbslHashValue(H h, const Shown& s) {
      return H::combine(std::move(h), s.field, s.bit, s.width, s.index);
    }
  };

  uint32_t FieldOf(const decode::PlannedField& field);
  uint32_t EnumOf(uint32_t enumeration);

  const tables::Tables& tables_;
  Messages& messages_;
  // Numbers go on when the description changes.
  uint32_t &shapes_, &fields_, &enums_;
  decode::Plans plans_;
  std::vector<Shown> shown_;
  absl::flat_hash_map<std::vector<Shown>, std::unique_ptr<Shape>> known_;
  absl::flat_hash_map<uint64_t, const Shape*> by_decoder_;  // by Record::shape
  absl::flat_hash_map<const decode::PlannedField*, uint32_t> field_numbers_;
  absl::flat_hash_map<uint32_t, uint32_t> enum_numbers_;
};

}  // namespace packsmith::html

#endif  // PACKSMITH_RUNTIME_HTML_SHAPES_H_
