#include "runtime/tables/packet_finder.h"

#include <algorithm>

namespace packsmith::tables {

PacketFinder::PacketFinder(const Tables& tables, uint32_t stream, uint64_t engines,
                           absl::Span<const uint8_t> marks)
    : tables_(tables), stream_(stream), engines_(engines), marks_(marks) {
  for (const OpcodeGroup& group : tables.groups(tables.stream(stream).groups)) mask_ |= group.mask;
  // Key 0 belongs in slot 0; in other slots it means "empty".
  kinds_.resize(size_t{1} << kSlotBits);
  Fill(0, kinds_[0]);
}

void PacketFinder::Fill(uint32_t key, Kind& kind) const {
  kind = Kind{};
  kind.key = key;
  kind.container = tables_.FindPacket(stream_, engines_, key, 4);
  if (kind.container == kNone) return;
  if (kind.container < marks_.size()) kind.mark = marks_[kind.container];
  const Container& c = tables_.container(kind.container);
  const uint32_t align = tables_.stream(stream_).align;
  uint64_t most = c.bytes;
  if (c.length_leaf != kNone) {
    const Leaf& leaf = tables_.leaf(c.length_leaf);
    if (leaf.bit + leaf.width > 32 || leaf.width >= 32) return;
    const uint64_t least = uint64_t{c.length_bias} * c.length_unit;
    const uint32_t mask = (1u << leaf.width) - 1;
    most = least + uint64_t{mask} * c.length_unit;
    // LengthOf keeps other lengths within bounds.
    if (least < std::max<uint32_t>(c.identify_bytes, 1) || most > (1u << 24)) return;
    if (least % align != 0 || c.length_unit % align != 0) return;
    kind.length_shift = static_cast<uint8_t>(leaf.bit);
    kind.length_mask = mask;
    kind.length_unit = c.length_unit;
    kind.length_bytes = static_cast<uint32_t>(least);
  } else {
    if (c.parts.count != 0 || c.variants.count != 0 || c.bytes % align != 0) return;
    kind.length_bytes = c.bytes;
  }
  kind.plain = true;
}

}  // namespace packsmith::tables
