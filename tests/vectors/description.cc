#include "tests/vectors/description.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gen/model/load.h"
#include "gen/model/write/tables.h"

namespace packsmith::vectors {

using tables::Leaf;
using tables::LeafType;

bool IsReal(const Leaf& leaf) { return tables::IsReal(leaf.type); }

absl::StatusOr<std::unique_ptr<Description>> Description::Load(const std::string& path) {
  model::LoadResult loaded = model::Load(path, model::ReadFileFromDisk);
  if (loaded.diagnostics.has_errors()) return model::ToStatus(loaded);
  std::unique_ptr<Description> d(new Description);
  d->model_ = std::move(loaded.model);
  d->block_ = model::WriteTables(d->model_);
  const absl::StatusOr<tables::Tables> opened = tables::Tables::Open(
      {reinterpret_cast<const uint8_t*>(d->block_.data()), d->block_.size() * 8});
  if (!opened.ok()) return opened.status();
  d->tables_ = *opened;
  const auto add = [&](tables::Range range, const std::vector<model::FlatLeaf>& flat) {
    if (range.count != flat.size()) return false;
    static const model::Field& none = *new model::Field;
    d->items_.resize(std::max<size_t>(d->items_.size(), range.first + range.count));
    d->fields_.resize(d->items_.size());
    for (uint32_t i = 0; i < range.count; ++i) {
      d->items_[range.first + i] = flat[i].item;
      d->fields_[range.first + i] = flat[i].field != nullptr ? flat[i].field : &none;
    }
    return true;
  };
  for (const tables::Container& container : d->tables_->containers()) {
    const absl::string_view name = d->tables_->string(container.name);
    const int index = d->model_.FindContainer(name);
    if (index < 0) return absl::InternalError(absl::StrCat("no container ", name));
    const model::Flat flat = model::Flatten(d->model_, d->model_.containers[index]);
    if (!add(container.leaves, flat.leaves) || !add(container.tail_leaves, flat.tail_leaves)) {
      return absl::InternalError(absl::StrCat("the tables have other leaves of ", name));
    }
  }
  for (uint32_t i = 0; i < d->fields_.size(); ++i) {
    const Leaf& leaf = d->tables_->leaf(i);
    d->least_.push_back(IsValue(leaf) ? d->FindLeast(leaf) : std::nullopt);
  }
  return d;
}

bool Description::IsAllowed(const Leaf& leaf, const decode::Value& value) const {
  const model::Field& field = this->field(leaf);
  if (IsReal(leaf)) {
    if (!std::isfinite(value.real)) return false;
    if (field.nonzero != model::NotZero::kMayBeZero && value.real == 0) return false;
    if (field.min_real && value.real < *field.min_real) return false;
    if (field.max_real && value.real > *field.max_real) return false;
    if (field.min && value.real < static_cast<double>(*field.min)) return false;
    return !(field.max && value.real > static_cast<double>(*field.max));
  }
  if (leaf.type == LeafType::kInt) {
    if (field.nonzero != model::NotZero::kMayBeZero && value.signed_value == 0) return false;
    if (field.min && value.signed_value < *field.min) return false;
    if (field.max && value.signed_value > *field.max) return false;
  } else {
    const uint64_t v = value.unsigned_value;
    if (field.nonzero != model::NotZero::kMayBeZero && v == 0) return false;
    if (field.min && *field.min > 0 && v < static_cast<uint64_t>(*field.min)) return false;
    if (field.max && (*field.max < 0 || v > static_cast<uint64_t>(*field.max))) return false;
    if (field.multiple != 0 && v % field.multiple != 0) return false;
  }
  return true;
}

bool Description::IsGood(const Leaf& leaf, uint64_t raw) const {
  if ((raw & ~Ones(leaf.width)) != 0) return false;
  const decode::Value value = Decoded(leaf, raw);
  if (!IsAllowed(leaf, value)) return false;
  const model::Field& field = this->field(leaf);
  const std::vector<model::Value>& named =
      field.type == model::FieldType::kEnum ? model_.enums[field.type_index].values : field.values;
  const uint64_t number = decode::NumberOf(value, raw);
  for (const model::Value& v : named) {
    if (v.avoid && v.value == number) return false;
  }
  return Encoded(leaf, value) == raw;
}

decode::Value Description::ValueOf(const Leaf& leaf, uint64_t integer, double real) const {
  decode::Value value = Decoded(leaf, 0);
  value.unsigned_value = integer;
  value.signed_value = static_cast<int64_t>(integer);
  value.real = real;
  return value;
}

namespace {

// The first of the candidates that is good.
class Choice {
 public:
  Choice(const Description& d, const Leaf& leaf) : d_(d), leaf_(leaf) {}
  void Want(std::optional<uint64_t> raw) {
    if (!found && raw && d_.IsGood(leaf_, *raw)) found = raw;
  }
  std::optional<uint64_t> found;

 private:
  const Description& d_;
  const Leaf& leaf_;
};

double RealLimit(const std::optional<double>& real, const std::optional<int64_t>& integer) {
  return real ? *real : static_cast<double>(integer.value_or(0));
}

}  // namespace

std::optional<uint64_t> Description::FindLeast(const Leaf& leaf) const {
  const model::Field& field = this->field(leaf);
  Choice choice(*this, leaf);
  choice.Want(0);
  if (field.min || field.min_real) {
    choice.Want(Encoded(leaf, ValueOf(leaf, static_cast<uint64_t>(field.min.value_or(0)),
                                      RealLimit(field.min_real, field.min))));
  }
  if (field.max || field.max_real) {
    choice.Want(Encoded(leaf, ValueOf(leaf, static_cast<uint64_t>(field.max.value_or(0)),
                                      RealLimit(field.max_real, field.max))));
  }
  if (field.multiple != 0) choice.Want(Encoded(leaf, ValueOf(leaf, field.multiple, 0)));
  for (uint64_t raw = 1; raw < 256 && !choice.found; ++raw) choice.Want(raw);
  return choice.found;
}

std::optional<uint64_t> Description::Most(const Leaf& leaf) const {
  const model::Field& field = this->field(leaf);
  const uint64_t ones = Ones(leaf.width);
  Choice choice(*this, leaf);
  if (field.max || field.max_real) {
    choice.Want(Encoded(leaf, ValueOf(leaf, static_cast<uint64_t>(field.max.value_or(0)),
                                      RealLimit(field.max_real, field.max))));
  }
  if (field.encoding.groups != 0) choice.Want(0);  // as many as there can be
  switch (leaf.type) {
    case LeafType::kFloat:
      choice.Want(0x7f7fffff);
      break;
    case LeafType::kHalf:
      choice.Want(0x7bff);
      break;
    case LeafType::kInt:
    case LeafType::kSfixed:
      choice.Want(ones >> 1);
      break;
    case LeafType::kAddress:
    case LeafType::kOffset:
      if (leaf.shift < model_.address_bits) {
        const uint64_t most = ones & Ones(model_.address_bits - leaf.shift);
        choice.Want(most);
        // With more than 48 bits the tables read that as an address of 48; not without bit 47.
        if (leaf.shift < 47) choice.Want(most & ~(uint64_t{1} << (47 - leaf.shift)));
      }
      break;
    default:
      break;
  }
  // Downwards, for values that are multiples of something or to be avoided.
  for (uint64_t less = 0; less < 256 && less <= ones && !choice.found; ++less)
    choice.Want(ones - less);
  return choice.found;
}

std::optional<uint64_t> Description::Lowest(const Leaf& leaf) const {
  const model::Field& field = this->field(leaf);
  Choice choice(*this, leaf);
  if (field.min || field.min_real) {
    choice.Want(Encoded(leaf, ValueOf(leaf, static_cast<uint64_t>(field.min.value_or(0)),
                                      RealLimit(field.min_real, field.min))));
  }
  switch (leaf.type) {
    case LeafType::kFloat:
      choice.Want(0xff7fffff);
      break;
    case LeafType::kHalf:
      choice.Want(0xfbff);
      break;
    case LeafType::kInt:
    case LeafType::kSfixed:
      choice.Want(uint64_t{1} << (leaf.width - 1));
      break;
    default:
      break;
  }
  choice.Want(Least(leaf));
  return choice.found;
}

decode::Value Description::DefaultValue(const Leaf& leaf) const {
  const model::Field& field = this->field(leaf);
  if (field.default_real) {
    // Members are float unless that is too narrow.
    const bool wide = leaf.type != LeafType::kFloat && leaf.width > 24;
    return ValueOf(
        leaf, 0,
        wide ? *field.default_real : static_cast<double>(static_cast<float>(*field.default_real)));
  }
  if (field.default_value) return ValueOf(leaf, *field.default_value, 0);
  return Decoded(leaf, 0);
}

std::optional<uint64_t> Description::Default(const Leaf& leaf) const {
  const std::optional<uint64_t> raw = Encoded(leaf, DefaultValue(leaf));
  return raw && IsGood(leaf, *raw) ? raw : std::nullopt;
}

std::vector<decode::FieldAt> FieldsOf(const tables::Tables& tables,
                                      const tables::Container& container,
                                      absl::Span<const uint8_t> bytes) {
  std::vector<decode::FieldAt> fields;
  decode::ForEachField(tables, container, bytes, [&](const decode::FieldAt& at) {
    if (!at.cut) fields.push_back(at);
  });
  return fields;
}

std::string NameOf(const decode::FieldAt& at) {
  std::string name;
  decode::AppendFieldName(at.name, name);
  return name;
}

}  // namespace packsmith::vectors
