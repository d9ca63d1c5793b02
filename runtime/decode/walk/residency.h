// Pointers to memory that a job may not use, for dumps that have all memory that may be used
// (Dump::memory_is_complete).
#ifndef PACKSMITH_RUNTIME_DECODE_WALK_RESIDENCY_H_
#define PACKSMITH_RUNTIME_DECODE_WALK_RESIDENCY_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/walk/observer.h"
#include "runtime/decode/walk/shape_cache.h"
#include "runtime/decode/walk/walk.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

class Residency {
 public:
  // `walk` must outlive this.
  explicit Residency(Walk& walk) : walk_(walk), tables_(walk.tables) {}

  // Whether a pointer with IsUnread() points to memory that the submission may not use. False
  // unless the dump declares that it has all memory, and for records in tables of guessed length.
  bool IsForbidden(const tables::Pointer& pointer, const Target& target) const;
  // Whether that holds for any pointer of a record with a shape, which is at Walk::record.
  bool HasForbidden(const Shape& shape, absl::Span<const uint8_t> bytes) const;
  // The reason why the target has no memory.
  std::string WhyMissing(const FieldAt& at, const Target& target) const;

 private:
  Walk& walk_;
  const tables::Tables& tables_;
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_WALK_RESIDENCY_H_
