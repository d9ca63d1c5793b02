#include "runtime/decode/text/template_cache.h"

namespace packsmith::decode {

ShapeTemplate& ShapeTemplates::Learn(const Record& record, size_t indent,
                                     absl::Span<const ShownField> fields) {
  std::unique_ptr<ShapeTemplate>& slot = templates_[SlotOf(record.shape, indent)];
  if (slot == nullptr) slot = std::make_unique<ShapeTemplate>();
  ShapeTemplate& made = *slot;
  // Fields that varied do so at every indentation; their order is that of the shape.
  const bool known = made.shape == record.shape;
  std::vector<uint8_t> mask(record.bytes.size());
  made.varies.resize(known ? made.varies.size() : 0);
  made.varies.resize(fields.size());
  for (size_t i = 0; i < fields.size(); ++i) {
    const ShownField& field = fields[i];
    const tables::LeafType type = field.field->leaf->type;
    if (type == tables::LeafType::kAddress || type == tables::LeafType::kOffset ||
        (known && ReadBits(made.bytes, field.bit, field.width) != field.raw)) {
      made.varies[i] = true;
    }
    if (!made.varies[i]) SetBits(field.bit, field.width, absl::MakeSpan(mask));
  }
  made.shape = record.shape;
  made.indent = indent;
  made.same = MaskedBytes(record.bytes, mask);
  made.bytes.assign(record.bytes.begin(), record.bytes.end());
  made.lines.Clear();
  return made;
}

}  // namespace packsmith::decode
