// What the decoder has computed for one record and may reuse for similar ones.
#ifndef PACKSMITH_RUNTIME_DECODE_WALK_SHAPE_CACHE_H_
#define PACKSMITH_RUNTIME_DECODE_WALK_SHAPE_CACHE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/fields/masked_bytes.h"
#include "runtime/decode/fields/value.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

struct Trace;

// Whether the GPU reads or writes what the pointer points to, and its size is not stated: textures,
// render targets, where values are stored. Decoding does not read it.
inline bool IsUnread(const tables::Tables& tables, const tables::Pointer& pointer) {
  return pointer.target_kind == tables::TargetKind::kData &&
         tables.data(pointer.target).is_code == 0 && pointer.access != tables::Access::kNone &&
         pointer.size == tables::kNone && pointer.end == tables::kNone &&
         pointer.count == tables::kNone;
}

// A field that points somewhere in all records of a shape.
struct ShapePointer {
  FieldAt at;
  const tables::Pointer* pointer;  // null: depends on states; see Pointers::PointerOf()
  size_t number;                   // of the field among the record's pointers, from 0
  // The address is the field's bits, shifted, plus a base, in a space that is the same for all
  // records; plus `high` applied to the bits of another field, if it is not null.
  bool plain;
  const tables::Expression* high;
  uint64_t high_bit;
  uint32_t high_width;
  uint8_t high_shift;
  bool in_other_space;
  uint64_t address_mask;  // of the shifted bits
  bool somewhere;         // no count or size can be zero
  bool unread;            // IsUnread()
};

// Records whose bits give the same length, the same parts and the same valid pointers, and that
// have no faults in fields. The pointers' targets, and other fields, differ from record to record.
struct Shape {
  Shape();
  ~Shape();
  Shape(Shape&&);
  Shape& operator=(Shape&&);

  uint64_t number = 0;  // not 0, and never used again
  uint64_t bytes = 0;
  uint64_t stated_size = 0;  // `size` of ShapeCache::Find
  std::vector<PlacedPart> parts;
  std::vector<ShapePointer> pointers;
  // Bits that must be the same.
  MaskedBytes same;
  // And fields that have bounds.
  struct Limit {
    uint64_t bit;
    uint32_t width;
    uint64_t least, most;
  };
  std::vector<Limit> limits;
  // Fields that set or write something (Acts() in fields.h).
  std::vector<FieldAt> acting;
  absl::string_view name;  // the container's
  // asks_state: later packets must be read ahead. remembered: later packets may ask for the record,
  // or for parts of it. quiet: it only has to be shown, and its pointers followed.
  bool asks_state = false, remembered = false, quiet = false;
  // Some of its pointers are `unread`.
  bool has_unread = false;
  // The packet's flow follows from its bits alone.
  bool flows_by_bits = true;
  // Records being shown that need it.
  uint32_t users = 0;

  // What packets of the shape point to, if the decoder caches it.
  bool is_traced = false;
  std::vector<std::unique_ptr<Trace>> traces;
  size_t next_trace = 0;       // to replace when there are enough
  uint32_t without_trace = 0;  // packets without a matching trace, since a trace was made
  uint32_t back_off = 1;       // number of these before the next trace is made

  // Inline where it is called: each record comes here.
  [[gnu::always_inline]] bool Has(absl::Span<const uint8_t> record) const {
    if (!same.AreIn(record)) return false;
    for (const Limit& limit : limits) {
      const uint64_t raw = ReadBits(record.subspan(0, bytes), limit.bit, limit.width);
      if (raw < limit.least || raw > limit.most) return false;
    }
    return true;
  }
};

// The shapes of a decoder's records: the last few of each container.
class ShapeCache {
 public:
  static constexpr uint64_t kLongest = 256;  // bytes of a record with a shape

  // The tables must outlive the shapes.
  explicit ShapeCache(const tables::Tables& tables)
      : tables_(tables), last_(tables.containers().size()), kinds_(tables.containers().size()) {}

  // For Find(): only the record states its length.
  static constexpr uint64_t kOwnLength = ~uint64_t{0};

  // The shape of the record that `bytes` begin with, or null. `size`: its length if that is stated
  // elsewhere, or kOwnLength. Pointers to shapes stay valid, but Learn() may replace a shape's
  // content (and its number) while it has no users.
  Shape* Find(uint32_t container, absl::Span<const uint8_t> bytes, uint64_t size) {
    // The last shape is the most likely.
    Shape*& last = last_[container];
    if (last == nullptr || IsOf(*last, bytes, size)) return last;
    for (const std::unique_ptr<Shape>& shape : kinds_[container]->shapes) {
      if (shape == nullptr) break;
      if (IsOf(*shape, bytes, size)) return last = shape.get();
    }
    return nullptr;
  }

  // For a complete record that has no shape and no faults in fields. Null: no shape was made.
  Shape* Learn(const RecordView& record, uint64_t size);
  // Changes whenever a shape is replaced.
  uint64_t made() const { return last_number_; }

 private:
  // Some containers alternate between this many shapes (a draw's state and its end), and comparing
  // with all of them costs less than decoding a record.
  static constexpr size_t kMost = 8;
  static constexpr uint32_t kBackOff = 16;  // records of a container without a shape of theirs
  struct Kind {
    std::array<std::unique_ptr<Shape>, kMost> shapes;
    // Records without a shape since one was made.
    uint32_t without = 0;
    // The place of the next one.
    size_t next = 0;
  };

  static bool IsOf(const Shape& shape, absl::Span<const uint8_t> bytes, uint64_t size) {
    return shape.stated_size == size && shape.Has(bytes);
  }
  Shape Make(const RecordView& record, uint64_t size);

  const tables::Tables& tables_;
  std::vector<Shape*> last_;  // of each container, the last result of Find(); null: no shapes
  std::vector<std::unique_ptr<Kind>> kinds_;
  uint64_t last_number_ = 0;
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_WALK_SHAPE_CACHE_H_
