#include "runtime/sim/contexts/image_start.h"

#include <algorithm>

#include "runtime/decode/fields/fields.h"
#include "runtime/decode/fields/value.h"
#include "runtime/sim/contexts/context_image.h"

namespace packsmith::sim {

absl::StatusOr<InheritedState> StartFromImage(const tables::Tables& tables,
                                              absl::string_view engine,
                                              absl::Span<const uint8_t> list, Streamer& streamer) {
  ContextImage::Options options;
  options.engine = engine;
  options.engine_base = BaseOfImage(tables, engine, list);
  const absl::StatusOr<ContextImage> image = ContextImage::Parse(tables, options, list);
  if (!image.ok()) return image.status();
  InheritedState state;
  image->Load(list, [&](const ImageRegister& one, uint32_t value) {
    streamer.registers().Write(one.offset, value);
    ++state.registers;
  });
  // Packets that set state are between the loads.
  const uint32_t stream = tables.FindStream(options.stream);
  const uint64_t engines = uint64_t{1} << tables.FindEngine(engine);
  uint64_t length = 0;
  for (uint64_t at = 0; at < image->parsed_bytes(); at += std::max<uint64_t>(length, 4)) {
    const absl::Span<const uint8_t> rest = list.subspan(at, image->parsed_bytes() - at);
    const auto first = static_cast<uint32_t>(std::min<size_t>(rest.size(), 4));
    const auto word = static_cast<uint32_t>(decode::ReadBits(rest, 0, first * 8));
    const uint32_t index = tables.FindPacket(stream, engines, word, first);
    length = tables.UnknownBytes(stream, word);
    if (index == tables::kNone) continue;
    const tables::Container& packet = tables.container(index);
    length = decode::LengthOf(tables, packet, rest);
    if (length <= rest.size() && streamer.Inherit(packet, rest.first(length))) {
      state.packets.push_back({&packet, at, rest.first(length)});
    }
  }
  return state;
}

}  // namespace packsmith::sim
