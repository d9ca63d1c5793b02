#include "runtime/memory/zone_map.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "runtime/base/addresses.h"

namespace packsmith::gpu {
namespace {

// Pixels; cells of a band.
constexpr int kCells = 128, kRows = 6, kCellWidth = 8, kCellHeight = 10, kTitle = 34, kMargin = 12;

class Json : public rapidjson::Writer<rapidjson::StringBuffer> {
 public:
  using Writer::Writer;
  void Text(const std::string& text) { String(text.data(), text.size()); }
  void Hex(uint64_t value) { Text(absl::StrFormat("0x%x", value)); }
  void Number(const char* name, uint64_t value) {
    Key(name);
    Uint64(value);
  }
};

std::string Escaped(const std::string& text) {
  return absl::StrReplaceAll(text,
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

// "1.5 MiB"
std::string Size(uint64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = bytes;
  int unit = 0;
  for (; value >= 1024 && unit < 6; ++unit) value /= 1024;
  return absl::StrFormat("%.4g %s", value, kUnits[unit]);
}

// The number of bytes in use, for each cell of [begin, begin + cells * cell).
struct Band {
  uint64_t begin = 0, cell = 0;
  std::vector<uint64_t> used;
};

Band BandOf(const AddressSpace& space, ZoneId id) {
  const Zone& zone = space.zone(id);
  const unsigned bits = space.address_bits();
  uint64_t first = std::numeric_limits<uint64_t>::max(), end = 0;
  Band band;
  // Two walks, between which the zone may change: what is then outside is not drawn.
  space.ForEach(id, [&](const RangeStretch& stretch) {
    // Guards may be far away from everything that is in use.
    if (stretch.range.handle == RangeHandle{}) return;
    const uint64_t at = Plain(stretch.range.address, bits);
    first = std::min(first, at);
    end = std::max(end, at + stretch.range.size);
  });
  if (end == 0) return band;
  constexpr uint64_t kAll = kCells * kRows;
  band.begin = std::max(first, zone.begin);
  band.cell = std::max<uint64_t>((end - band.begin + kAll - 1) / kAll, 1);
  band.used.resize((end - band.begin + band.cell - 1) / band.cell);
  const uint64_t past = band.begin + band.used.size() * band.cell;
  space.ForEach(id, [&](const RangeStretch& stretch) {
    if (!stretch.used) return;
    uint64_t at = std::max(Plain(stretch.range.address, bits), band.begin);
    const uint64_t last = std::min(Plain(stretch.range.address, bits) + stretch.range.size, past);
    while (at < last) {
      const uint64_t cell = (at - band.begin) / band.cell;
      const uint64_t next = std::min(band.begin + (cell + 1) * band.cell, last);
      band.used[cell] += next - at;
      at = next;
    }
  });
  return band;
}

}  // namespace

std::string ZoneMapJson(const AddressSpace& space, RangeNames names) {
  rapidjson::StringBuffer buffer;
  Json json(buffer);
  json.StartObject();
  json.Number("address_bits", space.address_bits());
  json.Key("zones");
  json.StartArray();
  for (size_t i = 0; i < space.zones().size(); ++i) {
    const ZoneId id = static_cast<ZoneId>(i);
    const Zone& zone = space.zone(id);
    const RangeStatistics s = space.statistics(id);
    json.StartObject();
    json.Key("name");
    json.Text(zone.name);
    json.Key("begin");
    json.Hex(zone.begin);
    json.Key("end");
    json.Hex(zone.end);
    json.Key("statistics");
    json.StartObject();
    json.Number("live_bytes", s.live_bytes);
    json.Number("guard_bytes", s.guard_bytes);
    json.Number("peak_bytes", s.peak_bytes);
    json.Number("free_bytes", s.free_bytes());
    json.Number("largest_hole", s.largest_hole);
    json.Number("live_ranges", s.live_ranges);
    json.Number("holes", s.holes);
    json.Number("allocations", s.allocations);
    json.Number("failures", s.failures);
    json.EndObject();
    json.Key("ranges");
    json.StartArray();
    // Names are looked up when the zone is no longer locked: the look-up may call the space.
    std::vector<Range> ranges;
    space.ForEach(id, [&](const RangeStretch& stretch) {
      if (stretch.used) ranges.push_back(stretch.range);
    });
    for (const Range& range : ranges) {
      json.StartObject();
      json.Key("address");
      json.Hex(range.address);
      json.Number("size", range.size);
      // A guard has no handle.
      const std::string name = range.handle == RangeHandle{} ? "" : names(range);
      if (!name.empty()) {
        json.Key("name");
        json.Text(name);
      }
      json.EndObject();
    }
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return buffer.GetString();
}

std::string ZoneMapSvg(const AddressSpace& space) {
  std::string bands;
  int y = kMargin;
  for (size_t i = 0; i < space.zones().size(); ++i) {
    const ZoneId id = static_cast<ZoneId>(i);
    const Zone& zone = space.zone(id);
    const RangeStatistics s = space.statistics(id);
    const Band band = BandOf(space, id);
    absl::StrAppendFormat(
        &bands,
        "<text x=\"%d\" y=\"%d\" class=\"name\">%s</text>\n"
        "<text x=\"%d\" y=\"%d\">0x%x..0x%x, %s; %s in %d ranges, %d holes, largest %s%s</text>\n",
        kMargin, y + 12, Escaped(zone.name), kMargin, y + 26, zone.begin, zone.end - 1,
        Size(zone.size()), Size(s.live_bytes), s.live_ranges, s.holes, Size(s.largest_hole),
        band.used.empty() ? "" : absl::StrFormat("; a cell is %s", Size(band.cell)));
    y += kTitle;
    const int rows = (band.used.size() + kCells - 1) / kCells;
    for (int row = 0; row < rows; ++row) {
      // Runs of cells of the same shade are one rectangle.
      const size_t end = std::min<size_t>(band.used.size(), (row + 1) * kCells);
      for (size_t cell = row * kCells, next; cell < end; cell = next) {
        const auto shade = [&](size_t at) {
          const double share = static_cast<double>(band.used[at]) / band.cell;
          // Any use is visible, and so is any hole.
          return share == 0 ? 0 : share >= 1 ? 8 : std::clamp<int>(std::lround(share * 8), 1, 7);
        };
        for (next = cell + 1; next < end && shade(next) == shade(cell);) ++next;
        absl::StrAppendFormat(&bands,
                              "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" class=\"u%d\">"
                              "<title>0x%x</title></rect>\n",
                              kMargin + static_cast<int>(cell - row * kCells) * kCellWidth,
                              y + row * kCellHeight, static_cast<int>(next - cell) * kCellWidth,
                              kCellHeight - 1, shade(cell),
                              Canonical(band.begin + cell * band.cell, space.address_bits()));
      }
    }
    y += rows * kCellHeight + kMargin;
  }
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\">\n"
      "<style>text { font: 11px sans-serif; fill: #444 } .name { font-weight: bold; fill: #000 }",
      kCells * kCellWidth + 2 * kMargin, y);
  for (int shade = 0; shade <= 8; ++shade) {
    absl::StrAppendFormat(&svg, " .u%d { fill: #%02x%02xff }", shade, 240 - shade * 24,
                          244 - shade * 16);
  }
  absl::StrAppend(&svg, "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n", bands,
                  "</svg>\n");
  return svg;
}

}  // namespace packsmith::gpu
