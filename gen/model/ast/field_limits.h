// What follows from what a description says of a field: what its bits can hold, and where it ends.
#ifndef PACKSMITH_GEN_MODEL_AST_FIELD_LIMITS_H_
#define PACKSMITH_GEN_MODEL_AST_FIELD_LIMITS_H_

#include <cstdint>
#include <vector>

#include "gen/model/ast/model.h"

namespace packsmith::model {

// `width` ones; 64 of them for any width from 64 on.
inline uint64_t Ones(uint32_t width) {
  return width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
}

inline bool IsPowerOfTwo(uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }

// The bit after the last one of an item, from where its own position counts. A tail ends where it
// starts: how often it repeats is not known.
uint64_t EndOf(const Item& item);

// Whether the field's value is a fraction: float, half or fixed point.
bool IsReal(const Field& field);
// Whether the field's value is an integer, so that it can be compared and calculated with.
bool IsWhole(const Field& field);
bool HasEncoding(const Field& field);
// Whether raw bits of zero mean the value zero, so that a test for it needs no decoding.
bool ZeroIsZero(const Field& field);

// Whether a real field can hold the value, rounded to what it can represent.
bool FitsReal(const Field& field, double value);

// The least and the largest value of an integer, clamped to what 64 signed bits hold.
int64_t Least(const Field& field);
int64_t Most(const Field& field);
// The largest value that an unsigned field can hold.
uint64_t MostValue(const Field& field);
// Whether `value`, in two's complement of 64 bits, fits a signed field of `width` bits.
bool FitsSigned(uint64_t value, uint32_t width);
// Whether some raw bits decode to `value`, whatever their number.
bool CanEncode(const Encoding& e, uint64_t value);

// The names that a field's values have: those of its enumeration, of the one that it takes names
// from, or its own.
const std::vector<Value>& NamedValues(const Model& model, const Field& field);

}  // namespace packsmith::model

#endif  // PACKSMITH_GEN_MODEL_AST_FIELD_LIMITS_H_
