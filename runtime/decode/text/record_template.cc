#include "runtime/decode/text/record_template.h"

#include <algorithm>

namespace packsmith::decode {

RecordTemplate& RecordTemplates::Learn(const Record& record, size_t indent,
                                       absl::Span<const ShownField> fields) {
  std::unique_ptr<RecordTemplate>& slot = texts_[SlotOf(record.shape, indent)];
  if (slot == nullptr) slot = std::make_unique<RecordTemplate>();
  RecordTemplate& text = *slot;
  // Fields that varied do so at every indentation; their order is that of the shape.
  const bool known = text.shape == record.shape;
  std::vector<uint8_t> mask(record.bytes.size());
  text.varies.resize(known ? text.varies.size() : 0);
  text.varies.resize(fields.size());
  for (size_t i = 0; i < fields.size(); ++i) {
    const ShownField& field = fields[i];
    const tables::LeafType type = field.field->leaf->type;
    if (type == tables::LeafType::kAddress || type == tables::LeafType::kOffset ||
        (known && ReadBits(text.bytes, field.bit, field.width) != field.raw)) {
      text.varies[i] = true;
    }
    if (!text.varies[i]) SetBits(field.bit, field.width, absl::MakeSpan(mask));
  }
  text.shape = record.shape;
  text.indent = indent;
  text.same = MaskedBytes(record.bytes, mask);
  text.bytes.assign(record.bytes.begin(), record.bytes.end());
  text.head.clear();
  text.text.clear();
  text.varying.clear();
  text.text_size = 0;
  text.room = 0;
  text.zeros = 0;
  return text;
}

}  // namespace packsmith::decode
