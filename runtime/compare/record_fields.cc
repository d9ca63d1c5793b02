#include "runtime/compare/record_fields.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/fields/value.h"

namespace packsmith::compare {

std::vector<RecordField> FieldsOf(const tables::Tables& tables, const Item& item) {
  std::vector<RecordField> fields = FieldsOf(tables, item.container, item.bytes);
  for (RecordField& field : fields) {
    if (item.data_size != 0) field.name = absl::StrCat("byte ", field.bit / 8);
    const auto address =
        std::lower_bound(item.addresses.begin(), item.addresses.end(), field.bit,
                         [](const Address& one, uint64_t bit) { return one.bit < bit; });
    if (address != item.addresses.end() && address->bit == field.bit) field.address = &*address;
  }
  return fields;
}

std::vector<RecordField> FieldsOf(const tables::Tables& tables, const tables::Container* container,
                                  absl::Span<const uint8_t> bytes) {
  std::vector<RecordField> fields;
  const uint64_t bits = bytes.size() * 8;
  if (container == nullptr) {
    for (uint64_t bit = 0; bit < bits; bit += 32) {
      RecordField field;
      field.name = absl::StrCat("dword ", bit / 32);
      field.bit = bit;
      field.width = static_cast<uint32_t>(std::min<uint64_t>(32, bits - bit));
      field.raw = decode::ReadBits(bytes, bit, field.width);
      fields.push_back(std::move(field));
    }
    return fields;
  }
  constexpr uint16_t kNotShown = tables::kForced | tables::kMustBeZero | tables::kMustBeOne;
  decode::ForEachField(tables, *container, bytes, [&](const decode::FieldAt& at) {
    const tables::Leaf& leaf = *at.leaf;
    if (at.cut || at.width > 64 || (leaf.flags & kNotShown) != 0) return;
    if (leaf.extra != tables::kNone &&
        !decode::Scope(tables, at, bytes).Holds(tables.extra(leaf.extra).counts_when)) {
      return;
    }
    RecordField field;
    decode::AppendFieldName(at.name, field.name);
    field.leaf = &leaf;
    field.bit = at.bit;
    field.width = at.width;
    field.raw = decode::ReadBits(bytes, at.bit, at.width);
    fields.push_back(std::move(field));
  });
  return fields;
}

std::string NumberOf(const tables::Tables& tables, const RecordField& field) {
  if (field.leaf == nullptr) {
    return absl::StrFormat("%0*x", static_cast<int>((field.width + 3) / 4), field.raw);
  }
  const decode::Value value = decode::DecodeValue(tables, *field.leaf, field.width, field.raw);
  std::string text;
  switch (value.kind) {
    case decode::ValueKind::kBool:
      text = value.unsigned_value != 0 ? "true" : "false";
      break;
    case decode::ValueKind::kUnsigned:
      text = absl::StrCat(value.unsigned_value);
      break;
    case decode::ValueKind::kSigned:
      text = absl::StrCat(value.signed_value);
      break;
    case decode::ValueKind::kReal:
      text = absl::StrFormat("%.9g", value.real);
      break;
    case decode::ValueKind::kWide:
    case decode::ValueKind::kAddress:
      text = absl::StrFormat("0x%x", value.unsigned_value);
      break;
  }
  return text;
}

absl::string_view NameOf(const tables::Tables& tables, const RecordField& field) {
  if (field.leaf == nullptr) return "";
  return tables.ValueName(*field.leaf,
                          decode::NumberOfBits(tables, *field.leaf, field.width, field.raw));
}

std::string TextOf(const tables::Tables& tables, const RecordField& field) {
  std::string text = NumberOf(tables, field);
  const absl::string_view name = NameOf(tables, field);
  if (!name.empty()) absl::StrAppend(&text, " (", name, ")");
  return text;
}

std::vector<uint8_t> OtherBits(const Item& item, const std::vector<RecordField>& fields) {
  std::vector<uint8_t> other(item.bytes.size(), 0xff);
  for (const RecordField& field : fields) {
    decode::WriteBits(absl::MakeSpan(other), field.bit, field.width, 0);
  }
  return other;
}

}  // namespace packsmith::compare
