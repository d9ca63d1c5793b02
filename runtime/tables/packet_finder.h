// Tables::FindPacket for walks over many packets of one stream.
#ifndef PACKSMITH_RUNTIME_TABLES_PACKET_FINDER_H_
#define PACKSMITH_RUNTIME_TABLES_PACKET_FINDER_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "runtime/tables/tables.h"

namespace packsmith::tables {

// Caches results. Those bits of a packet's first word that any opcode of the stream covers identify
// the packet; they are the key of a direct-mapped table, so that most look-ups cost one comparison.
// Not thread-safe.
class PacketFinder {
 public:
  // The packet that a first word begins, and its length.
  struct Kind {
    uint32_t key;        // of the first word's opcode bits
    uint32_t container;  // kNone: no packet
    // If `plain`, the packet has ((first word >> length_shift) & length_mask) * length_unit +
    // length_bytes bytes, a multiple of the stream's alignment. Else use LengthOf.
    uint32_t length_mask;
    uint32_t length_bytes;
    uint8_t length_shift;
    uint8_t length_unit;
    bool plain;
    uint8_t mark;  // the container's

    uint32_t Bytes(uint32_t first_word) const {
      return ((first_word >> length_shift) & length_mask) * length_unit + length_bytes;
    }
  };

  // `marks` has one byte for each container, which saves the caller a further look-up, or is empty.
  // Tables and marks must outlive the finder.
  PacketFinder(const Tables& tables, uint32_t stream, uint64_t engines,
               absl::Span<const uint8_t> marks = {});

  // Of a first word all of whose four bytes exist. Valid until the next call.
  const Kind& Find(uint32_t first_word) {
    const uint32_t key = first_word & mask_;
    Kind& kind = kinds_[SlotOf(key)];
    if (kind.key != key) Fill(key, kind);
    return kind;
  }

  // As Tables::FindPacket: `bytes` of the first word exist.
  uint32_t Find(uint32_t first_word, uint64_t bytes) {
    if (bytes >= 4) return Find(first_word).container;
    return tables_.FindPacket(stream_, engines_, first_word, static_cast<uint32_t>(bytes));
  }

  // Bits of a first word of four bytes that may identify the packet.
  uint32_t mask() const { return mask_; }
  uint32_t stream() const { return stream_; }
  uint64_t engines() const { return engines_; }

 private:
  static constexpr int kSlotBits = 10;
  static uint32_t SlotOf(uint32_t key) { return (key * 0x9e3779b1u) >> (32 - kSlotBits); }
  void Fill(uint32_t key, Kind& kind) const;

  const Tables& tables_;
  uint32_t stream_;
  uint64_t engines_;
  absl::Span<const uint8_t> marks_;
  uint32_t mask_ = 0;
  std::vector<Kind> kinds_;
};

}  // namespace packsmith::tables

#endif  // PACKSMITH_RUNTIME_TABLES_PACKET_FINDER_H_
