// The text that a sink has written for the fields of records of one shape, for later ones.
#ifndef PACKSMITH_RUNTIME_DECODE_TEXT_RECORD_TEMPLATE_H_
#define PACKSMITH_RUNTIME_DECODE_TEXT_RECORD_TEMPLATE_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/decode/fields/masked_bytes.h"
#include "runtime/decode/fields/value.h"
#include "runtime/decode/record.h"
#include "runtime/decode/text/plan.h"

namespace packsmith::decode {

// A field of a record, from ForEachShown().
struct ShownField {
  const PlannedField* field;
  uint64_t bit;
  uint64_t raw;
  int64_t index;
  uint32_t width;
  bool is_length;
};

// The fields of a shape's records. Most hold the same value in record after record, and their text
// is kept in one piece; the others, addresses and what else was seen to vary, are between such
// pieces and are written each time.
struct RecordTemplate {
  struct Varying {
    ShownField field;  // without its bits
    size_t text_end;   // of the text before it
  };

  uint64_t shape = 0;
  size_t indent = 0;
  MaskedBytes same;  // the fields whose text this is
  // The record's name, up to `name_end`, and what comes between it and the fields if it is always
  // the same, up to `head_end`.
  std::string head;
  size_t name_end = 0, head_end = 0;
  std::string text;
  size_t text_size = 0;  // the part of it that is used
  std::vector<Varying> varying;
  size_t room = 0;     // for writing all of it
  uint64_t zeros = 0;  // fields that are in no text because they are zero

  // For Learn(): a record, and the fields that have varied, in their order.
  std::vector<uint8_t> bytes;
  std::vector<bool> varies;
};

// A fixed number of them, of a bounded length. A record of a shape that is new here, or in which a
// field has changed for the first time, is written field by field, and the text is made anew: at
// most once for each field.
class RecordTemplates {
 public:
  static constexpr size_t kMostText = 32 * 1024;

  RecordTemplates() : texts_(kEntries) {}

  // Or null.
  const RecordTemplate* Find(const Record& record, size_t indent) const {
    const RecordTemplate* const text = texts_[SlotOf(record.shape, indent)].get();
    if (text == nullptr || text->shape != record.shape || text->indent != indent) return nullptr;
    return text->same.AreIn(record.bytes) ? text : nullptr;
  }

  // Whether Learn() pays: not for shapes that occur once or twice, or that will be part of a trace.
  bool IsWorth(const Record& record) {
    uint8_t& seen = seen_[record.shape % kEntries];
    seen = static_cast<uint8_t>(std::min(seen + 1, kBackOff + 1));
    return seen > kBackOff;
  }
  // For a record that Find() does not find: determines which of `fields`, all that it shows, vary.
  // The result has that in `varies`; the caller fills it with text.
  RecordTemplate& Learn(const Record& record, size_t indent, absl::Span<const ShownField> fields);
  // If it could not be filled, or is longer than kMostText.
  void Drop(RecordTemplate& text) { text.shape = 0; }

 private:
  static constexpr size_t kEntries = 512;
  static constexpr int kBackOff = 2;

  // Shapes are numbered consecutively, and most come at only one depth.
  static size_t SlotOf(uint64_t shape, size_t indent) { return (shape + indent * 37) % kEntries; }

  std::vector<std::unique_ptr<RecordTemplate>> texts_;
  std::array<uint8_t, kEntries> seen_{};  // how often IsWorth() was asked for shapes, about
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_TEXT_RECORD_TEMPLATE_H_
