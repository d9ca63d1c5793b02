#include "runtime/decode/trace/trace.h"

#include <algorithm>

#include "runtime/decode/fields/fields.h"

namespace packsmith::decode {

void Trace::MakeSteps() {
  steps.clear();
  steps.reserve(guards.size());
  words.clear();
  for (const Guard& guard : guards) {
    const absl::Span<const uint8_t> varies = Of(guard, varying);
    Step& step = steps.emplace_back();
    if (guard.pointer != Guard::kBehind) {
      step.from = &guards[guard.parent].shape->pointers[guard.pointer];
    }
    step.chosen = guard.chosen || (step.from != nullptr && !step.from->plain);
    step.parent = guard.parent;
    step.before = guard.before;
    step.bytes = static_cast<uint32_t>(guard.bytes);
    step.distance = guard.distance;
    if (guard.finder != nullptr) {
      // The bytes after a short packet are part of its opcode, too.
      step.asks_finder = guard.bytes < 4;
      for (size_t i = 0; i < 4 && i < guard.bytes; ++i) {
        step.asks_finder |= (varies[i] & guard.finder->mask() >> 8 * i & 0xff) != 0;
      }
    }
    if (guard.shape != nullptr) {
      for (const Shape::Limit& limit : guard.shape->limits) {
        step.asks_limits |= HasBits(limit.bit, limit.width, varies);
      }
    }
    step.more = step.asks_finder || step.asks_limits || guard.has_kernel || !guard.reads.empty() ||
                !guard.remembered.empty() || !guard.sets.empty();
  }
  std::vector<bool> is_compared(guards.size());
  std::vector<uint8_t> run, mask;
  for (size_t i = 0; i < guards.size(); ++i) {
    if (is_compared[i]) continue;
    run.clear();
    mask.clear();
    for (size_t last = i, next = i; next < guards.size(); ++next) {
      const Guard& guard = guards[next];
      const bool is_behind =
          next == i || (guard.pointer == Guard::kBehind && guard.before == last &&
                        guard.distance == guards[last].bytes);
      if (!is_behind) continue;
      last = next;
      is_compared[next] = true;
      for (const uint8_t byte : Of(guard, seen)) run.push_back(byte);
      for (const uint8_t byte : Of(guard, varying)) mask.push_back(static_cast<uint8_t>(~byte));
    }
    steps[i].compared = static_cast<uint32_t>(run.size());
    steps[i].words = static_cast<uint32_t>(words.size());
    MaskedBytes::AddWords(run, mask, words);
    steps[i].words_count = static_cast<uint32_t>(words.size()) - steps[i].words;
  }
}

bool Trace::HasShapes() const {
  return std::all_of(guards.begin(), guards.end(), [](const Guard& guard) {
    return guard.shape == nullptr || guard.shape->number == guard.shape_number;
  });
}

bool Trace::Widen(const tables::Tables& tables, Guard& guard, absl::Span<const uint8_t> bytes) {
  if (guard.shape != nullptr && !guard.shape->Has(bytes)) return false;
  bytes = bytes.subspan(0, guard.bytes);
  const absl::Span<const uint8_t> was = Of(guard, seen), is_it = Of(guard, must);
  const absl::Span<uint8_t> varies = Of(guard, varying);
  std::vector<uint8_t> different(bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i) {
    different[i] = static_cast<uint8_t>((bytes[i] ^ was[i]) & ~varies[i]);
    if ((different[i] & is_it[i]) != 0) return false;
  }
  const auto is_zero = [](uint8_t byte) { return byte == 0; };
  if (std::all_of(different.begin(), different.end(), is_zero)) return true;
  std::vector<uint8_t> wider(varies.begin(), varies.end());
  if (guard.shape == nullptr) {
    std::fill(wider.begin(), wider.end(), uint8_t{0xff});
  } else {
    const Record& record = records[static_cast<size_t>(&guard - guards.data())];
    const RecordView view{*record.container, bytes, guard.shape->parts};
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
