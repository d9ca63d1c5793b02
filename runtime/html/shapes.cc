#include "runtime/html/shapes.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"

namespace packsmith::html {
namespace {

// Names as they are: the page puts them together.
class PlainStyle : public decode::FieldStyle {
 public:
  void Name(const decode::PlannedField&, absl::string_view name, std::string& to) const override {
    absl::StrAppend(&to, name);
  }
  void MovingName(absl::string_view name, std::string& to) const override {
    absl::StrAppend(&to, name);
  }
  void BeforeIndex(absl::string_view name, std::string& to) const override {
    absl::StrAppend(&to, name, "[");
  }
  void AfterIndex(absl::string_view name, std::string& to) const override {
    absl::StrAppend(&to, "]", name);
  }
  void ValueName(absl::string_view name, std::string& to) const override {
    absl::StrAppend(&to, name);
  }
  void Unit(absl::string_view unit, std::string& to) const override { absl::StrAppend(&to, unit); }
};

}  // namespace

Shapes::Shapes(const tables::Tables& tables, Messages& messages, uint32_t& shapes_before,
               uint32_t& fields_before, uint32_t& enums_before)
    : tables_(tables),
      messages_(messages),
      shapes_(shapes_before),
      fields_(fields_before),
      enums_(enums_before),
      plans_(tables, std::make_unique<PlainStyle>()) {}

int64_t Shapes::Shape::Find(uint64_t bit, const tables::Leaf* leaf) const {
  const auto found = std::find(fields.begin(), fields.end(), std::pair(bit, leaf));
  return found == fields.end() ? -1 : found - fields.begin();
}

const Shapes::Shape& Shapes::Of(const decode::Record& record) {
  if (record.shape != 0) {
    const auto known = by_decoder_.find(record.shape);
    if (known != by_decoder_.end()) return *known->second;
  }
  shown_.clear();
  decode::ForEachShown(tables_, plans_, record.view(),
                       [&](const decode::PlannedFields& fields, size_t i, uint64_t bit,
                           uint32_t width, uint64_t, int64_t index) {
                         shown_.push_back({&fields.fields[i], bit, width, index});
                       });
  std::unique_ptr<Shape>& shape = known_[shown_];
  if (shape == nullptr) {
    shape = std::make_unique<Shape>();
    Message message;
    message.Number(shown_.size());
    uint64_t before = 0;
    for (const Shown& one : shown_) {
      shape->fields.emplace_back(one.bit, one.field->leaf);
      message.Number(FieldOf(*one.field));
      // From the end of the field before it, or, if views overlap, from there backwards.
      message.Number(one.bit >= before ? (one.bit - before) << 1 : (before - one.bit) << 1 | 1);
      message.Number(one.width);
      message.Number(static_cast<uint64_t>(one.index + 1));
      before = one.bit + one.width;
    }
    shape->number = shapes_++;
    messages_.Add(MessageKind::kShape, message);
  }
  if (record.shape != 0) by_decoder_.emplace(record.shape, shape.get());
  return *shape;
}

uint32_t Shapes::FieldOf(const decode::PlannedField& field) {
  const auto known = field_numbers_.find(&field);
  if (known != field_numbers_.end()) return known->second;
  const tables::Leaf& leaf = *field.leaf;
  Message message;
  message.Number(messages_.Text(field.name));
  message.Number(field.after_index.empty() ? 0 : messages_.Text(field.after_index) + 1);
  static_assert(tables::kLastLeafType == tables::LeafType::kOffset,
                "FIELD_TYPES and decodeValue() in page/values.js need the new type, too");
  message.Number(static_cast<uint64_t>(leaf.type));
  message.Number(leaf.fraction_bits);
  message.Number(leaf.shift);
  message.Number(((leaf.flags & tables::kLog2) != 0 ? 1u : 0u) |
                 ((leaf.flags & tables::kLength) != 0 ? 2u : 0u));
  message.Number(tables_.address_bits());
  message.Number(field.unit.empty() ? 0 : messages_.Text(field.unit) + 1);
  message.Number(leaf.named == tables::kNone ? 0 : EnumOf(leaf.named) + 1);
  const bool has_extra = leaf.extra != tables::kNone;
  message.Wide(has_extra ? tables_.extra(leaf.extra).minus : 0);
  message.Wide(has_extra ? tables_.extra(leaf.extra).groups : 0);
  messages_.Add(MessageKind::kField, message);
  field_numbers_.emplace(&field, fields_);
  return fields_++;
}

uint32_t Shapes::EnumOf(uint32_t enumeration) {
  const auto known = enum_numbers_.find(enumeration);
  if (known != enum_numbers_.end()) return known->second;
  const auto values = tables_.values(tables_.enumeration(enumeration).values);
  Message message;
  message.Number(values.size());
  for (const tables::NamedValue& value : values) {
    message.Wide(value.value);
    message.Number(messages_.Text(tables_.string(value.name)));
  }
  messages_.Add(MessageKind::kEnum, message);
  enum_numbers_.emplace(enumeration, enums_);
  return enums_++;
}

}  // namespace packsmith::html
