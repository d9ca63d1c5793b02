#include "gen/model/ast/field_limits.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace packsmith::model {

uint64_t EndOf(const Item& item) {
  const ItemBase& base = item.base();
  const Group* const group = item.group();
  if (group == nullptr) return uint64_t{base.bit} + base.width;
  return group->tail ? base.bit : uint64_t{base.bit} + uint64_t{group->count} * base.width;
}

bool IsReal(const Field& field) {
  switch (field.type) {
    case FieldType::kFloat:
    case FieldType::kHalf:
    case FieldType::kUfixed:
    case FieldType::kSfixed:
      return true;
    case FieldType::kUint:
    case FieldType::kInt:
    case FieldType::kBool:
    case FieldType::kAddress:
    case FieldType::kOffset:
    case FieldType::kEnum:
    case FieldType::kStruct:
      break;
  }
  return false;
}

bool IsWhole(const Field& field) { return !IsReal(field) && field.type != FieldType::kStruct; }

bool HasEncoding(const Field& field) {
  const Encoding& e = field.encoding;
  return e.minus != 0 || e.shift != 0 || e.log2 || e.groups != 0 || e.align != 0;
}

bool ZeroIsZero(const Field& field) {
  const Encoding& e = field.encoding;
  return e.minus == 0 && !e.log2 && e.groups == 0;
}

bool FitsReal(const Field& field, double value) {
  const auto within = [&](double most) { return value >= -most && value <= most; };
  const auto power = [&](uint32_t bits) {
    return std::ldexp(1.0, static_cast<int>(bits) - static_cast<int>(field.fraction_bits));
  };
  switch (field.type) {
    case FieldType::kFloat:
      return within(std::numeric_limits<float>::max());
    case FieldType::kHalf:
      return within(65504);
    case FieldType::kUfixed:
      return value >= 0 && value < power(field.width);
    case FieldType::kSfixed:
      return value >= -power(field.width - 1) && value < power(field.width - 1);
    case FieldType::kUint:
    case FieldType::kInt:
    case FieldType::kBool:
    case FieldType::kAddress:
    case FieldType::kOffset:
    case FieldType::kEnum:
    case FieldType::kStruct:
      break;
  }
  return false;
}

int64_t Least(const Field& field) {
  if (field.type == FieldType::kInt) return -static_cast<int64_t>(Ones(field.width - 1)) - 1;
  return static_cast<int64_t>(field.encoding.log2 ? 1 : field.encoding.minus);
}

int64_t Most(const Field& field) {
  const uint64_t most = field.type == FieldType::kInt ? Ones(field.width - 1) : MostValue(field);
  return static_cast<int64_t>(std::min<uint64_t>(most, std::numeric_limits<int64_t>::max()));
}

bool FitsSigned(uint64_t value, uint32_t width) {
  if (width >= 64) return true;
  const uint64_t top = value >> (width - 1);
  return top == 0 || top == ~uint64_t{0} >> (width - 1);
}

uint64_t MostValue(const Field& field) {
  const Encoding& e = field.encoding;
  const uint64_t raw = Ones(field.width);
  if (e.log2) return raw >= 63 ? ~uint64_t{0} : uint64_t{1} << raw;
  if (e.groups != 0) {
    return field.width >= 32 ? ~uint64_t{0} : (raw + 1) * e.groups;
  }
  if (e.shift != 0 && e.shift + field.width > 64) return ~uint64_t{0};
  const uint64_t shifted = raw << e.shift;
  return shifted + e.minus < shifted ? ~uint64_t{0} : shifted + e.minus;
}

bool CanEncode(const Encoding& e, uint64_t value) {
  if (e.log2) return IsPowerOfTwo(value);
  if (value < e.minus) return false;
  return e.align != 0 || ((value - e.minus) & Ones(e.shift)) == 0;
}

const std::vector<Value>& NamedValues(const Model& model, const Field& field) {
  if (field.type == FieldType::kEnum && field.type_index >= 0) {
    return model.enums[static_cast<size_t>(field.type_index)].values;
  }
  if (field.names.index >= 0) return model.enums[static_cast<size_t>(field.names.index)].values;
  return field.values;
}

}  // namespace packsmith::model
