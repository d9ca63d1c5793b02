// Sees what the decoder does with a packet and with all that it points to, to be able to repeat it.
#ifndef PACKSMITH_RUNTIME_DECODE_WALK_OBSERVER_H_
#define PACKSMITH_RUNTIME_DECODE_WALK_OBSERVER_H_

#include <cstdint>

#include "runtime/decode/fields/fields.h"
#include "runtime/decode/record.h"
#include "runtime/decode/walk/shape_cache.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

// The memory that a pointer points to.
struct Target {
  uint32_t space;
  uint64_t address;
  bool base_known;  // false: the address misses its base
};

class Observer {
 public:
  virtual ~Observer() = default;
  // A pointer of the record `parent` is going to be followed; the records that it points to come
  // next.
  virtual void OnPointer(const FieldAt& at, const tables::Pointer& pointer, const Scope& scope,
                         const Target& target, uint64_t parent) = 0;
  // `shape`: the record's, or null.
  virtual void OnRecord(const Record& record, const Shape* shape) = 0;
  // What comes now does not follow from the records so far.
  virtual void OnUncertain() = 0;
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_WALK_OBSERVER_H_
