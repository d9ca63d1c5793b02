#include "runtime/decode/trees.h"

#include <algorithm>

#include "runtime/decode/fields.h"

namespace packsmith::decode {

void Tree::MakeSteps() {
  steps.clear();
  steps.reserve(nodes.size());
  words.clear();
  for (const TreeNode& node : nodes) {
    const absl::Span<const uint8_t> varies = Of(node, varying);
    Step& step = steps.emplace_back();
    if (node.pointer != TreeNode::kBehind) {
      step.from = &nodes[node.parent].form->pointers[node.pointer];
    }
    step.chosen = node.chosen || (step.from != nullptr && !step.from->plain);
    step.parent = node.parent;
    step.before = node.before;
    step.bytes = static_cast<uint32_t>(node.bytes);
    step.distance = node.distance;
    if (node.finder != nullptr) {
      // The bytes after a short packet are part of its opcode, too.
      step.asks_finder = node.bytes < 4;
      for (size_t i = 0; i < 4 && i < node.bytes; ++i) {
        step.asks_finder |= (varies[i] & node.finder->mask() >> 8 * i & 0xff) != 0;
      }
    }
    if (node.form != nullptr) {
      for (const Form::Limit& limit : node.form->limits) {
        step.asks_limits |= HasBits(limit.bit, limit.width, varies);
      }
    }
    step.more = step.asks_finder || step.asks_limits || node.has_kernel || !node.asked.empty() ||
                !node.remembered.empty() || !node.sets.empty();
  }
  std::vector<bool> is_compared(nodes.size());
  std::vector<uint8_t> run, mask;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (is_compared[i]) continue;
    run.clear();
    mask.clear();
    for (size_t last = i, next = i; next < nodes.size(); ++next) {
      const TreeNode& node = nodes[next];
      const bool is_behind =
          next == i || (node.pointer == TreeNode::kBehind && node.before == last &&
                        node.distance == nodes[last].bytes);
      if (!is_behind) continue;
      last = next;
      is_compared[next] = true;
      for (const uint8_t byte : Of(node, said)) run.push_back(byte);
      for (const uint8_t byte : Of(node, varying)) mask.push_back(static_cast<uint8_t>(~byte));
    }
    steps[i].compared = static_cast<uint32_t>(run.size());
    steps[i].words = static_cast<uint32_t>(words.size());
    MaskedBytes::AddWords(run, mask, words);
    steps[i].words_count = static_cast<uint32_t>(words.size()) - steps[i].words;
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
  const auto is_zero = [](uint8_t byte) { return byte == 0; };
  if (std::all_of(different.begin(), different.end(), is_zero)) return true;
  std::vector<uint8_t> wider(varies.begin(), varies.end());
  if (node.form == nullptr) {
    std::fill(wider.begin(), wider.end(), uint8_t{0xff});
  } else {
    const Record& record = records[static_cast<size_t>(&node - nodes.data())];
    const RecordView view{*record.container, bytes, node.form->parts};
    ForEachField(tables, view, [&](const FieldAt& at) {
      if (HasBits(at.bit, at.width, different)) SetBits(at.bit, at.width, absl::MakeSpan(wider));
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
