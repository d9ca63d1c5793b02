#include "runtime/decode/form_texts.h"

#include <algorithm>

namespace packsmith::decode {

FormText& FormTexts::Learn(const Record& record, size_t indent,
                           absl::Span<const ShownField> fields) {
  std::unique_ptr<FormText>& slot = texts_[SlotOf(record.form, indent)];
  if (slot == nullptr) slot = std::make_unique<FormText>();
  FormText& text = *slot;
  // Fields that varied do so at every indentation; their order is that of the form.
  const bool known = text.form == record.form;
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
  text.form = record.form;
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
