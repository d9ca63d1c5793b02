// What a record's pointers point to now: addresses, numbers and sizes, from fields, from earlier
// packets and from bases. Changes nothing.
#ifndef PACKSMITH_RUNTIME_DECODE_WALK_POINTERS_H_
#define PACKSMITH_RUNTIME_DECODE_WALK_POINTERS_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/decode/fields/addresses.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/walk/observer.h"
#include "runtime/decode/walk/shape_cache.h"
#include "runtime/decode/walk/walk.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

class Pointers {
 public:
  // `walk` must outlive this.
  explicit Pointers(Walk& walk);

  // The first of a field's pointers whose condition holds, or null.
  const tables::Pointer* PointerOf(const tables::Extra& extra, const Scope& scope) const;
  // Calls visit(at, pointer, scope, number) for each field that points somewhere now; `number`
  // counts the record's pointers from 0.
  template <class Visit>
  void ForEach(const RecordView& record, const Visit& visit) {
    size_t number = 0;
    ForEachField(tables_, fields_, record, [&](const FieldAt& at) {
      ++number;
      if (at.cut) return;
      const Scope scope(tables_, at, record.bytes, walk_.state().bases());
      const tables::Pointer* const pointer = PointerOf(tables_.extra(at.leaf->extra), scope);
      if (pointer == nullptr || (walk_.bound != nullptr && !IsBound(record, at, *pointer))) return;
      visit(at, *pointer, scope, number - 1);
    });
  }

  // Calls visit(at) for each field that may point somewhere.
  template <class Visit>
  void ForEachOf(const RecordView& record, const Visit& visit) {
    ForEachField(tables_, fields_, record, visit);
  }

  // The record is at Walk::record.
  Target TargetOf(const FieldAt& at, const tables::Pointer& pointer, const Scope& scope,
                  absl::Span<const uint8_t> bytes) const;
  // The same for a plain pointer. Inline where it is called: playing a trace does little else.
  [[gnu::always_inline]] Target PlainTarget(const ShapePointer& known,
                                            absl::Span<const uint8_t> bytes) const {
    Target target{known.in_other_space ? known.pointer->space : walk_.own_space, 0, true};
    target.address =
        ReadBits(bytes, known.at.bit, known.at.width) << known.at.leaf->shift & known.address_mask;
    if (known.high != nullptr) {
      target.address +=
          Apply(*known.high, ReadBits(bytes, known.high_bit, known.high_width) << known.high_shift);
    }
    if (known.pointer->relative != 0) target.address += walk_.record;
    if (known.pointer->base != tables::kNone) {
      const std::optional<uint64_t> base = walk_.state().Base(tables_, known.pointer->base);
      target.base_known = base.has_value();
      target.address += base.value_or(0);
    }
    target.address = MaskAddress(target.address, walk_.address_mask);
    return target;
  }
  // Either of them.
  Target TargetOf(const ShapePointer& known, const tables::Pointer& pointer, const Scope& scope,
                  absl::Span<const uint8_t> bytes) const {
    return known.plain ? PlainTarget(known, bytes) : TargetOf(known.at, pointer, scope, bytes);
  }

  bool HasMemory(const Target& target) const {
    return walk_.memory.Find(target.space, target.address) != nullptr;
  }
  // Whether it points to the beginning of a bare batch, and not to a stream.
  bool IsNull(const tables::Pointer& pointer, const Target& target) const {
    return target.address == walk_.bare_begin && pointer.target_kind != tables::TargetKind::kStream;
  }
  // No structures, or no bytes. Of data `size` is set, then.
  bool PointsNowhere(const tables::Pointer& pointer, const Scope& scope, const Target& target,
                     std::optional<uint64_t>& size) const;

  struct Count {
    uint64_t count;
    bool known;  // else `count` is the most that are read
  };
  // Of structures.
  Count CountOf(const tables::Pointer& pointer, const Scope& scope) const;
  // Whether both number and size of a table are stated.
  bool IsBoundedTable(const tables::Pointer& pointer) const;
  // Bytes of data at a target.
  uint64_t SizeOf(const tables::Pointer& pointer, const Scope& scope, const Target& target) const;
  struct Formatted {
    const tables::Format* format = nullptr;
    absl::string_view name;
  };
  Formatted FormatOf(const tables::Pointer& pointer, const Scope& scope) const;

  // The value of an expression; empty if it is kNone, or what it depends on is not known.
  std::optional<uint64_t> Evaluate(uint32_t expression, const Scope& scope) const;

 private:
  // CountOf() by the number alone, without the size of a bounded table.
  Count StatedCountOf(const tables::Pointer& pointer, const Scope& scope) const;
  // The value that a leaf of another packet has now.
  std::optional<uint64_t> StateOf(uint32_t container, uint32_t leaf) const;
  // While a packet is shown once more: whether no later packet has set the pointer.
  bool IsBound(const RecordView& record, const FieldAt& at, const tables::Pointer& pointer) const;

  Walk& walk_;
  const tables::Tables& tables_;
  ChosenLeaves fields_;
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_WALK_POINTERS_H_
