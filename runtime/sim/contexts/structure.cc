#include "runtime/sim/contexts/structure.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/decode/fields/value.h"

namespace packsmith::sim {

using tables::kNone;
using tables::Leaf;

absl::StatusOr<Structure> Structure::Find(const tables::Tables& tables, absl::string_view name) {
  const uint32_t index = tables.FindContainer(name);
  if (index == kNone) {
    return absl::NotFoundError(
        absl::StrCat(tables.generation(), " has no structure or register \"", name, "\""));
  }
  return Make(tables, index);
}

absl::StatusOr<Structure> Structure::Make(const tables::Tables& tables, uint32_t container) {
  const tables::Container& described = tables.container(container);
  if (described.kind == tables::ContainerKind::kPacket) {
    return absl::InvalidArgumentError(absl::StrCat("\"", tables.string(described.name),
                                                   "\" is a packet, not a structure or register"));
  }
  return Structure(tables, described);
}

StructureField Structure::Field(absl::string_view name) const {
  for (const Leaf& leaf : tables_.leaves(container_->leaves)) {
    if (tables_.string(leaf.name) == name) return StructureField(&leaf);
  }
  return StructureField();
}

absl::StatusOr<StructureField> Structure::Require(absl::string_view name) const {
  const StructureField field = Field(name);
  if (field) return field;
  return absl::NotFoundError(
      absl::StrCat(this->name(), " of ", tables_.generation(), " has no field \"", name, "\""));
}

const Leaf* Structure::UpperBits(const Leaf& leaf, uint64_t* scale) const {
  if (leaf.extra == kNone) return nullptr;
  const uint32_t high = tables_.extra(leaf.extra).high;
  if (high == kNone) return nullptr;
  const tables::Expression& expression = tables_.expression(high);
  if (expression.kind != tables::ExpressionKind::kLeaf || expression.multiply == 0) return nullptr;
  *scale = expression.multiply;
  return &tables_.leaf(expression.leaf);
}

uint64_t Structure::Get(absl::Span<const uint8_t> bytes, StructureField field) const {
  if (!field) return 0;
  const Leaf& leaf = *field.leaf_;
  uint64_t value = decode::NumberOfBits(tables_, leaf, leaf.width,
                                        decode::ReadBits(bytes, leaf.bit, leaf.width));
  uint64_t scale = 0;
  if (const Leaf* upper = UpperBits(leaf, &scale)) {
    value += decode::ReadBits(bytes, upper->bit, upper->width) * scale;
  }
  return value;
}

absl::Status Structure::Set(absl::Span<uint8_t> bytes, StructureField field, uint64_t value) const {
  if (!field) {
    if (value == 0) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(name(), " of ", tables_.generation(), " has no field for the value ", value));
  }
  const Leaf& leaf = *field.leaf_;
  const auto refuse = [&] {
    return absl::InvalidArgumentError(absl::StrCat("0x", absl::Hex(value), " does not fit \"",
                                                   tables_.string(leaf.name), "\" of ", name()));
  };
  uint64_t scale = 0;
  const Leaf* upper = UpperBits(leaf, &scale);
  const uint64_t high = upper != nullptr ? value / scale : 0;
  decode::Value low;
  low.unsigned_value = upper != nullptr ? value % scale : value;
  const std::optional<uint64_t> raw = decode::EncodeValue(tables_, leaf, low);
  if (!raw) return refuse();
  if (upper != nullptr) {
    if (upper->width < 64 && high >> upper->width != 0) return refuse();
    decode::WriteBits(bytes, upper->bit, upper->width, high);
  }
  decode::WriteBits(bytes, leaf.bit, leaf.width, *raw);
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> Structure::Dword(StructureField field, uint64_t value) const {
  std::vector<uint8_t> bytes(std::max<size_t>(size(), sizeof(uint32_t)));
  if (const absl::Status status = Set(absl::MakeSpan(bytes), field, value); !status.ok()) {
    return status;
  }
  return static_cast<uint32_t>(decode::ReadBits(bytes, 0, 32));
}

std::optional<uint64_t> Structure::NamedValue(StructureField field, absl::string_view name) const {
  if (!field) return std::nullopt;
  return tables_.NamedValueOf(*field.leaf_, name);
}

}  // namespace packsmith::sim
