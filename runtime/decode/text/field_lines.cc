#include "runtime/decode/text/field_lines.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/decode/fields/value.h"
#include "runtime/decode/sinks/text_sink.h"

namespace packsmith::decode {
namespace {

class TextStyle : public FieldStyle {
 public:
  void Name(const PlannedField&, absl::string_view name, std::string& to) const override {
    MovingName(name, to);
  }
  void MovingName(absl::string_view name, std::string& to) const override {
    BeforeName(to);
    absl::StrAppend(&to, name);
    to.append(name.size() < kNameWidth ? kNameWidth - name.size() : 1, ' ');
  }
  void BeforeIndex(absl::string_view name, std::string& to) const override {
    BeforeName(to);
    absl::StrAppend(&to, name, "[");
  }
  void AfterIndex(absl::string_view name, std::string& to) const override {
    absl::StrAppend(&to, "]", name);
  }
  void ValueName(absl::string_view name, std::string& to) const override {
    absl::StrAppend(&to, " (", name, ")");
  }
  void Unit(absl::string_view unit, std::string& to) const override {
    if (!unit.empty()) absl::StrAppend(&to, "  [", unit, "]");
  }

 private:
  static void BeforeName(std::string& to) { to.append(kMostIndent + kFieldIndent, ' '); }
};

}  // namespace

std::unique_ptr<const FieldStyle> MakeTextStyle() { return std::make_unique<TextStyle>(); }

void BufferNames::Put(uint32_t space, uint64_t address, ChunkWriter& out) {
  if (!any()) return;
  // The same address often comes again.
  if (buffer_ == nullptr || address != address_ || space != space_) {
    buffer_ = dump_->FindBuffer(space, address);
    address_ = address;
    space_ = space;
    if (buffer_ != nullptr) name_ = Harmless(buffer_->name);
  }
  if (buffer_ == nullptr) return;
  out.Put("  in ");
  out.Put(name_.empty() ? absl::string_view("a buffer") : name_);
  out.Put('+');
  out.Hex(address - buffer_->address);
}

char* FieldLines::Hidden(uint64_t hidden, char* to) {
  if (hidden == 0) return to;
  *to++ = ',';
  *to++ = ' ';
  to = WriteDecimal(hidden, to);
  std::memcpy(to, hidden == 1 ? " field zero " : " fields zero", 12);
  return to + (hidden == 1 ? 11 : 12);
}

char* FieldLines::Other(const PlannedField& field, uint32_t width, uint64_t raw, uint64_t& number,
                        char* to) const {
  const Value value = DecodeValue(*tables_, *field.leaf, width, raw);
  number = NumberOf(value, raw);
  switch (value.kind) {
    case ValueKind::kBool:
      std::memcpy(to, value.unsigned_value != 0 ? "true " : "false", 5);
      return to + (value.unsigned_value != 0 ? 4 : 5);
    case ValueKind::kUnsigned:
      return WriteDecimal(value.unsigned_value, to);
    case ValueKind::kSigned:
      return WriteSignedDecimal(value.signed_value, to);
    case ValueKind::kReal: {
      if (std::isfinite(value.real)) return WriteReal(value.real, to);
      const std::string text = absl::StrFormat("%f (0x%x)", value.real, raw);
      return to + text.copy(to, kMostDigits);
    }
    case ValueKind::kWide:
    case ValueKind::kAddress:
      return WriteHex(value.unsigned_value, to);
  }
  return to;
}

uint32_t FieldLines::SpaceOf(const Record& record, const PlannedField& field, uint64_t bit) const {
  if (field.leaf->extra == tables::kNone) return own_space_;
  const uint32_t index = tables_->extra(field.leaf->extra).pointer;
  if (index == tables::kNone) return own_space_;
  const tables::Pointer& pointer = tables_->pointer(index);
  if (pointer.space == 0) return own_space_;
  // A field of a part, or of an item of the tail, depends on others of the same.
  const uint64_t base = bit - field.bit;
  const absl::Span<const tables::Leaf> tail = tables_->leaves(record.container->tail_leaves);
  const bool in_tail = std::any_of(tail.begin(), tail.end(),
                                   [&](const tables::Leaf& leaf) { return &leaf == field.leaf; });
  const Scope scope(*tables_, *record.container, record.bytes, in_tail ? 0 : base,
                    in_tail ? base : 0);
  return decode::SpaceOf(pointer, scope, own_space_);
}

}  // namespace packsmith::decode
