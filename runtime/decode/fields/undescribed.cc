#include "runtime/decode/fields/undescribed.h"

#include <algorithm>

#include "runtime/decode/fields/value.h"

namespace packsmith::decode {

std::vector<BitRun> Undescribed(const tables::Tables& tables, const RecordView& record) {
  const absl::Span<const uint8_t> bytes = record.bytes;
  std::vector<uint32_t> described((bytes.size() + 3) / 4);
  ForEachField(tables, record, [&](const FieldAt& at) {
    if (at.leaf->extra != tables::kNone &&
        !Scope(tables, at, bytes).Holds(tables.extra(at.leaf->extra).counts_when)) {
      return;
    }
    for (uint64_t bit = at.bit; bit < at.bit + at.width;) {
      const uint64_t end = std::min(at.bit + at.width, bit / 32 * 32 + 32);
      const uint64_t n = end - bit;
      described[bit / 32] |= (n == 32 ? ~0u : (1u << n) - 1) << bit % 32;
      bit = end;
    }
  });
  std::vector<BitRun> runs;
  for (size_t i = 0; i < described.size(); ++i) {
    const auto width = static_cast<uint32_t>(std::min<size_t>(32, (bytes.size() - i * 4) * 8));
    const auto word = static_cast<uint32_t>(ReadBits(bytes, i * 32, width));
    uint32_t rest = word & ~described[i];
    while (rest != 0) {
      const int low = __builtin_ctz(rest);
      // Up to the next bit that is described.
      const uint32_t above = described[i] >> low;
      const int gap = above == 0 ? 32 - low : __builtin_ctz(above);
      const uint32_t mask = (gap >= 32 ? ~0u : (1u << gap) - 1) << low;
      const uint32_t set = rest & mask;
      runs.push_back({i * 32 + static_cast<uint64_t>(low),
                      static_cast<uint32_t>(32 - __builtin_clz(set) - low), set >> low});
      rest &= ~mask;
    }
  }
  return runs;
}

}  // namespace packsmith::decode
