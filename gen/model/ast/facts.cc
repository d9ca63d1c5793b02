#include "gen/model/ast/facts.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace packsmith::model {

uint64_t EndOf(const Item& item) {
  if (item.kind != Item::Kind::kGroup) return uint64_t{item.bit} + item.width;
  return item.tail ? item.bit : uint64_t{item.bit} + uint64_t{item.count} * item.width;
}

bool IsReal(const Item& item) {
  return item.type == FieldType::kFloat || item.type == FieldType::kHalf ||
         item.type == FieldType::kUfixed || item.type == FieldType::kSfixed;
}

bool IsWhole(const Item& item) {
  switch (item.type) {
    case FieldType::kFloat:
    case FieldType::kHalf:
    case FieldType::kUfixed:
    case FieldType::kSfixed:
    case FieldType::kStruct:
      return false;
    default:
      return true;
  }
}

bool HasEncoding(const Item& item) {
  const Encoding& e = item.encoding;
  return e.minus != 0 || e.shift != 0 || e.log2 || e.groups != 0 || e.align != 0;
}

bool ZeroIsZero(const Item& item) {
  const Encoding& e = item.encoding;
  return e.minus == 0 && !e.log2 && e.groups == 0;
}

double MostReal(const Item& item) {
  switch (item.type) {
    case FieldType::kFloat:
      return std::numeric_limits<float>::max();
    case FieldType::kHalf:
      return 65504;
    default:
      return std::ldexp(1.0, static_cast<int>(item.width) - static_cast<int>(item.fraction_bits) -
                                 (item.type == FieldType::kSfixed ? 1 : 0));
  }
}

bool FitsReal(const Item& item, double value) {
  const double most = MostReal(item);
  if (item.type == FieldType::kFloat || item.type == FieldType::kHalf) {
    return value >= -most && value <= most;
  }
  return value < most && value >= (item.type == FieldType::kUfixed ? 0 : -most);
}

int64_t Least(const Item& item) {
  if (item.type == FieldType::kInt) return -static_cast<int64_t>(Ones(item.width - 1)) - 1;
  return static_cast<int64_t>(item.encoding.log2 ? 1 : item.encoding.minus);
}

int64_t Most(const Item& item) {
  const uint64_t most = item.type == FieldType::kInt ? Ones(item.width - 1) : MostValue(item);
  return static_cast<int64_t>(std::min<uint64_t>(most, std::numeric_limits<int64_t>::max()));
}

bool FitsSigned(uint64_t value, uint32_t width) {
  if (width >= 64) return true;
  const uint64_t top = value >> (width - 1);
  return top == 0 || top == ~uint64_t{0} >> (width - 1);
}

uint64_t MostValue(const Item& item) {
  const Encoding& e = item.encoding;
  const uint64_t raw = Ones(item.width);
  if (e.log2) return raw >= 63 ? ~uint64_t{0} : uint64_t{1} << raw;
  if (e.groups != 0) {
    return item.width >= 32 ? ~uint64_t{0} : (raw + 1) * e.groups;
  }
  if (e.shift != 0 && e.shift + item.width > 64) return ~uint64_t{0};
  const uint64_t shifted = raw << e.shift;
  return shifted + e.minus < shifted ? ~uint64_t{0} : shifted + e.minus;
}

bool CanEncode(const Encoding& e, uint64_t value) {
  if (e.log2) return IsPowerOfTwo(value);
  if (value < e.minus) return false;
  return e.align != 0 || ((value - e.minus) & Ones(e.shift)) == 0;
}

const std::vector<Value>& NamedValues(const Model& model, const Item& item) {
  if (item.type == FieldType::kEnum && item.type_index >= 0) {
    return model.enums[static_cast<size_t>(item.type_index)].values;
  }
  if (item.names.index >= 0) return model.enums[static_cast<size_t>(item.names.index)].values;
  return item.values;
}

}  // namespace packsmith::model
