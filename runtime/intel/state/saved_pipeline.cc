#include "runtime/intel/state/saved_pipeline.h"

#include <cstddef>
#include <utility>

#include "runtime/base/type_name.h"

namespace packsmith::intel {
namespace {

absl::Status NotAPipeline() {
  return absl::DataLossError("these are not the packets of a pipeline of this generation");
}

// A hash of where each packet is: words of a build with another layout are not taken for this
// one's. (FNV-1a.)
uint32_t FingerprintOf(const StateLayout& layout) {
  uint32_t hash = 0x811c9dc5;
  const auto add = [&](uint32_t value) { hash = (hash ^ value) * 0x01000193; };
  for (unsigned i = 0; i < layout.packet_count; ++i) {
    const StatePacket& packet = layout.packets[i];
    if (packet.part == 0) continue;  // a companion, which is never a pipeline's
    for (const char c : TypeNameIn(packet.function)) add(static_cast<unsigned char>(c));
    add(packet.dwords);
    add(packet.addresses);
    add(packet.group);
  }
  return hash;
}

}  // namespace

bool SavePipeline(const StateLayout& layout, const PipelineCore& pipeline,
                  std::vector<uint32_t>& to) {
  if (!pipeline.status.ok()) return false;
  for (const PipelinePacket& packet : pipeline.packets) {
    if (!packet.dynamic.empty()) return false;
  }
  for (const StateAddress address : pipeline.addresses) {
    if (BufferOf(address) != 0) return false;
  }
  // The layout, and of each packet its index and its numbers of dwords and addresses, then all
  // dwords.
  to.push_back(FingerprintOf(layout));
  to.push_back(static_cast<uint32_t>(pipeline.packets.size()));
  for (const PipelinePacket& packet : pipeline.packets) {
    to.insert(to.end(), {packet.packet, packet.dwords, packet.addresses});
  }
  to.insert(to.end(), pipeline.dwords.begin(), pipeline.dwords.end());
  return true;
}

absl::Status LoadPipeline(const StateLayout& layout, absl::Span<const uint32_t> words,
                          PipelineCore& to) {
  constexpr size_t kHeader = 3;
  if (words.empty() || words[0] != FingerprintOf(layout)) return NotAPipeline();
  words.remove_prefix(1);
  if (words.empty() || words[0] > layout.packet_count || words.size() < 1 + words[0] * kHeader) {
    return NotAPipeline();
  }
  const absl::Span<const uint32_t> headers = words.subspan(1, words[0] * kHeader);
  const absl::Span<const uint32_t> dwords = words.subspan(1 + headers.size());
  std::vector<PipelinePacket> packets;
  std::vector<bool> seen(layout.packet_count);
  uint32_t dword = 0, address = 0;
  for (size_t i = 0; i < headers.size(); i += kHeader) {
    const uint32_t packet = headers[i], size = headers[i + 1], addresses = headers[i + 2];
    if (packet >= layout.packet_count || seen[packet]) return NotAPipeline();
    seen[packet] = true;
    const StatePacket& place = layout.packets[packet];
    const size_t most = size_t{place.dwords} + layout.places[place.group].behind;
    const bool fixed = (layout.fixed & StateGroup(place.group)) != 0;
    // A companion is never a pipeline's.
    if (place.part == 0 || (fixed ? size != most : size > most) || addresses > place.addresses ||
        size > dwords.size() - dword) {
      return NotAPipeline();
    }
    packets.push_back({packet, dword, size, address, addresses, {}});
    dword += size;
    address += addresses;
  }
  if (dword != dwords.size()) return NotAPipeline();
  to.packets = std::move(packets);
  to.dwords.assign(dwords.begin(), dwords.end());
  to.addresses.assign(address, StateAddress());
  return absl::OkStatus();
}

const PipelinePacket* FindPacket(const PipelineCore& pipeline, unsigned packet) {
  for (const PipelinePacket& one : pipeline.packets) {
    if (one.packet == packet) return &one;
  }
  return nullptr;
}

}  // namespace packsmith::intel
