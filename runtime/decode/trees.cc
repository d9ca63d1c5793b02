#include "runtime/decode/trees.h"

#include <algorithm>

#include "runtime/decode/fields.h"

namespace packsmith::decode {

void Tree::MakeSteps() {
  steps.clear();
  steps.reserve(nodes.size());
  words.clear();
  for (const TreeNode& node : nodes) {
    const absl::Span<const uint8_t> was = Of(node, said), varies = Of(node, varying);
    Step& step = steps.emplace_back();
    if (node.pointer != TreeNode::kBehind) {
      step.from = &nodes[node.parent].form->pointers[node.pointer];
    }
    step.chosen = node.chosen || (step.from != nullptr && !step.from->plain);
    step.asks = !node.asked.empty();
    step.has_kernel = node.has_kernel;
    step.remembered = !node.remembered.empty();
    step.sets = !node.sets.empty();
    step.parent = node.parent;
    step.before = node.before;
    step.bytes = static_cast<uint32_t>(node.bytes);
    step.distance = node.distance;
    for (size_t at = 0; at < node.bytes; at += 8) {
      // The last eight bytes of a record may begin anywhere.
      const size_t offset = node.bytes < 8 ? 0 : std::min<size_t>(at, node.bytes - 8);
      Word word{offset, 0, 0};
      for (size_t i = at - offset; i < 8 && offset + i < node.bytes; ++i) {
        word.mask |= uint64_t{static_cast<uint8_t>(~varies[offset + i])} << 8 * i;
        word.value |= uint64_t{was[offset + i]} << 8 * i;
      }
      word.value &= word.mask;
      if (word.mask != 0) words.push_back(word);
    }
    step.words_end = static_cast<uint32_t>(words.size());
    if (node.finder != nullptr) {
      step.asks_finder = node.bytes < 4;
      for (size_t i = 0; i < 4 && i < node.bytes; ++i) {
        step.asks_finder |= (varies[i] & node.finder->mask() >> 8 * i & 0xff) != 0;
      }
    }
    if (node.form == nullptr) continue;
    for (const Form::Limit& limit : node.form->limits) {
      for (uint64_t bit = limit.bit; bit < limit.bit + limit.width; ++bit) {
        step.asks_limits |= (varies[bit / 8] >> bit % 8 & 1) != 0;
      }
    }
  }
}

bool Tree::HasForms() const {
  return std::all_of(nodes.begin(), nodes.end(), [](const TreeNode& node) {
    return node.form == nullptr || node.form->number == node.form_number;
  });
}

bool Tree::Widen(const tables::Tables& tables, TreeNode& node, absl::Span<const uint8_t> bytes) {
  if (node.form != nullptr && !node.form->Has(bytes)) return false;
  bytes = bytes.subspan(0, node.bytes);
  const absl::Span<const uint8_t> was = Of(node, said), is_it = Of(node, must);
  const absl::Span<uint8_t> varies = Of(node, varying);
  std::vector<uint8_t> different(bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i) {
    different[i] = static_cast<uint8_t>((bytes[i] ^ was[i]) & ~varies[i]);
    if ((different[i] & is_it[i]) != 0) return false;
  }
  std::vector<uint8_t> wider(varies.begin(), varies.end());
  if (node.form == nullptr) {
    std::fill(wider.begin(), wider.end(), uint8_t{0xff});
  } else {
    const Record& record = records[static_cast<size_t>(&node - nodes.data())];
    const RecordView view{*record.container, bytes, node.form->parts};
    ForEachField(tables, view, [&](const FieldAt& at) {
      const auto is_different = [&] {
        for (uint64_t bit = at.bit; bit < at.bit + at.width; ++bit) {
          if ((different[bit / 8] >> bit % 8 & 1) != 0) return true;
        }
        return false;
      };
      if (is_different()) SetBits(at.bit, at.width, absl::MakeSpan(wider));
    });
    // Bits of no field, too.
    for (size_t i = 0; i < wider.size(); ++i) wider[i] |= different[i];
  }
  for (size_t i = 0; i < wider.size(); ++i) {
    varies[i] = static_cast<uint8_t>(wider[i] & ~is_it[i]);
  }
  return true;
}

}  // namespace packsmith::decode
