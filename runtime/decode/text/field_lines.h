// Lines for people, a field a line: the only place that writes one.
//
//     Buffer Pitch                                  12  [B]
#ifndef PACKSMITH_RUNTIME_DECODE_TEXT_FIELD_LINES_H_
#define PACKSMITH_RUNTIME_DECODE_TEXT_FIELD_LINES_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "absl/base/attributes.h"
#include "absl/strings/string_view.h"
#include "runtime/decode/record.h"
#include "runtime/decode/text/chunk_writer.h"
#include "runtime/decode/text/digits.h"
#include "runtime/decode/text/line_template.h"
#include "runtime/decode/text/plan.h"
#include "runtime/dump/dump.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

// Characters that fields are indented by, below their record.
inline constexpr size_t kFieldIndent = 4;
inline constexpr size_t kNameWidth = 46;
// Lines are indented by skipping fewer of the spaces that names begin with.
inline constexpr size_t kMostIndent = 24;

// What a terminal takes for a change of colour; empty without colours.
struct Colors {
  explicit Colors(bool on) {
    if (!on) return;
    bold = "\x1b[1m";
    red = "\x1b[31m";
    plain = "\x1b[0m";
  }
  absl::string_view bold = "", red = "", plain = "";
};

// Copies a text that Texts has kept, or that is padded like those, to where there is as much room.
inline char* CopyPadded(absl::string_view text, char* to) {
  if (text.size() <= Texts::kReadable) {
    std::memcpy(to, text.data(), Texts::kReadable);
  } else {
    std::memcpy(to, text.data(), text.size());
  }
  return to + text.size();
}

// The names of fields and values as these lines have them.
std::unique_ptr<const FieldStyle> MakeTextStyle();

// The buffers of a dump, by the addresses in them.
class BufferNames {
 public:
  // Null: none.
  void Begin(const Dump* dump) {
    dump_ = dump;
    buffer_ = nullptr;
  }
  // Whether the dump names any.
  bool any() const { return dump_ != nullptr && !dump_->buffers.empty(); }
  // Writes in which buffer the address is, if the dump says so.
  void Put(uint32_t space, uint64_t address, ChunkWriter& out);

 private:
  const Dump* dump_ = nullptr;
  // The last one that was looked up.
  const Buffer* buffer_ = nullptr;
  uint64_t address_ = 0;
  uint32_t space_ = 0;
  std::string name_;
};

class FieldLines {
 public:
  // All must outlive this. `hide_zero`: fields that are zero are omitted.
  FieldLines(ChunkWriter& out, BufferNames& buffers, bool hide_zero)
      : out_(out), buffers_(buffers), hides_zero_(hide_zero) {}

  void Begin(const tables::Tables& tables) { tables_ = &tables; }
  // Addresses are in this space, unless their fields name another one.
  void SetSpace(uint32_t own) { own_space_ = own; }

  bool hides_zero() const { return hides_zero_; }
  bool Hides(const ShownField& field, uint64_t raw) const {
    return hides_zero_ && raw == 0 && !field.is_length;
  }
  // How many fields are omitted, after the record's size.
  void PutHidden(uint64_t hidden) { out_.Commit(Hidden(hidden, out_.Reserve(kRoomOfHidden))); }
  static char* Hidden(uint64_t hidden, char* to);
  static constexpr size_t kRoomOfHidden = 3 * kMostDigits;

  // Bytes that Line() may write: the texts, numbers, padding of the name, and bytes copied in
  // excess.
  static size_t RoomOf(const PlannedField& field, size_t indent) {
    return indent + field.text_bytes + 4 * kMostDigits + kNameWidth + Texts::kReadable;
  }
  // Whether Line() writes the name, an address and nothing else.
  bool IsOnlyItsValue(const ShownField& shown, size_t indent) const {
    const PlannedField& field = *shown.field;
    return field.form == ValueForm::kAddress && field.names == nullptr && field.unit.empty() &&
           shown.index < 0 && indent <= kMostIndent && !buffers_.any();
  }
  void Put(const Record& record, const ShownField& shown, size_t indent) {
    const size_t room = RoomOf(*shown.field, indent);
    out_.Commit(Line(record, shown, shown.raw, indent, out_.Reserve(room), room));
  }

  // Writes a line to `to`, the end of what is written, and returns its end. There are `room` bytes
  // after that, too. Inline: there are many, and `shown` need not pass through memory.
  ABSL_ATTRIBUTE_ALWAYS_INLINE char* Line(const Record& record, const ShownField& shown,
                                          uint64_t raw, size_t indent, char* to, size_t room) {
    const PlannedField& field = *shown.field;
    if (indent > kMostIndent) {
      std::memset(to, ' ', indent - kMostIndent);
      to += indent - kMostIndent;
      indent = kMostIndent;
    }
    to = CopyPadded(field.name.substr(kMostIndent - indent), to);
    if (shown.index >= 0) {
      const char* const begin = to - (field.name.size() - kMostIndent - kFieldIndent);
      to = CopyPadded(field.after_index, WriteDecimal(static_cast<uint64_t>(shown.index), to));
      const auto length = static_cast<size_t>(to - begin);
      const size_t spaces = length < kNameWidth ? kNameWidth - length : 1;
      std::memset(to, ' ', spaces);
      to += spaces;
    }
    uint64_t number = raw;
    switch (field.form) {
      case ValueForm::kBool:
        std::memcpy(to, raw != 0 ? "true " : "false", 5);
        to += raw != 0 ? 4 : 5;
        break;
      case ValueForm::kUnsigned:
        number = raw << field.shift;
        to = WriteDecimal(number, to);
        break;
      case ValueForm::kAddress:
        number = raw << field.shift;
        to = WriteHex(number, to);
        break;
      case ValueForm::kOther:
        to = Other(field, shown.width, raw, number, to);
        break;
    }
    if (field.names != nullptr) {
      const absl::string_view named = field.names->Find(number);
      if (!named.empty()) to = CopyPadded(named, to);
    }
    if (!field.unit.empty()) to = CopyPadded(field.unit, to);
    if (field.leaf->type == tables::LeafType::kAddress && raw != 0 && buffers_.any()) {
      out_.Commit(to);
      buffers_.Put(SpaceOf(record, field, shown.bit), number, out_);
      to = out_.Reserve(room);
    }
    *to = '\n';
    return to + 1;
  }

 private:
  // Values that are not written in one of the usual ways; `number` is the key of their names.
  char* Other(const PlannedField& field, uint32_t width, uint64_t raw, uint64_t& number,
              char* to) const;
  // The space of the address in a field.
  uint32_t SpaceOf(const Record& record, const PlannedField& field, uint64_t bit) const;

  ChunkWriter& out_;
  BufferNames& buffers_;
  const bool hides_zero_;
  const tables::Tables* tables_ = nullptr;
  uint32_t own_space_ = 0;
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_TEXT_FIELD_LINES_H_
