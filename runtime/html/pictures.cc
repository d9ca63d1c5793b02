#include "runtime/html/pictures.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/decode/fields/data.h"
#include "runtime/decode/fields/value.h"
#include "runtime/decode/sinks/paths.h"
#include "runtime/decode/sinks/text_sink.h"
#include "runtime/layout/format.h"
#include "runtime/layout/layout.h"

namespace packsmith::html {
namespace {

using tables::ComponentType;
using tables::Tiling;

// Larger images are shown with fewer texels; when a page has this many pixels, no more are added.
constexpr uint64_t kMostSide = 1024;
constexpr uint64_t kMostPixels = uint64_t{1} << 23;
// More than any GPU's images have.
constexpr uint64_t kLargestSide = uint64_t{1} << 16;

std::optional<layout::Scheme> SchemeOf(Tiling tiling) {
  using layout::Scheme;
  switch (tiling) {
    case Tiling::kLinear:
      return Scheme::kIntelLinear;
    case Tiling::kX:
      return Scheme::kIntelX;
    case Tiling::kY:
      return Scheme::kIntelY;
    case Tiling::kW:
      return Scheme::kIntelW;
    case Tiling::kYf:
      return Scheme::kIntelYf;
    case Tiling::kYs:
      return Scheme::kIntelYs;
    case Tiling::kTile4:
      return Scheme::kIntelTile4;
    case Tiling::kTile64:
      return Scheme::kIntelTile64;
    case Tiling::kTile64Xe2:
      return Scheme::kIntelTile64Xe2;
    case Tiling::kTwiddled:
      return Scheme::kAgxTwiddled;
    case Tiling::kUnknown:
    case Tiling::kCompressed:
      break;
  }
  return std::nullopt;
}

// Where a component of a texel goes in RGBA.
struct Channel {
  tables::Component component;
  std::vector<int> to;  // of 0 to 3
};

struct Texel {
  std::vector<Channel> channels;
  uint32_t bytes = 0;
};

// The names that formats give components: colours, luminance, intensity, depth, stencil.
std::vector<int> ChannelsOf(char letter) {
  switch (letter) {
    case 'R':
      return {0};
    case 'G':
      return {1};
    case 'B':
      return {2};
    case 'A':
      return {3};
    case 'L':
    case 'I':
    case 'D':
    case 'S':
      return {0, 1, 2};
    default:
      return {};
  }
}

std::optional<ComponentType> TypeOf(absl::string_view word) {
  constexpr std::pair<absl::string_view, ComponentType> kTypes[] = {
      {"unorm", ComponentType::kUnorm}, {"snorm", ComponentType::kSnorm},
      {"uint", ComponentType::kUint},   {"sint", ComponentType::kSint},
      {"float", ComponentType::kFloat},
  };
  for (const auto& [name, type] : kTypes) {
    if (absl::EqualsIgnoreCase(word, name)) return type;
  }
  return std::nullopt;
}

// "R8G8B8A8 Unorm": components of these widths, the lowest bits first. Empty: it is another name.
Texel ParseName(absl::string_view name) {
  const size_t space = name.find(' ');
  if (space == absl::string_view::npos) return {};
  const std::optional<ComponentType> type = TypeOf(name.substr(space + 1));
  if (!type) return {};
  Texel texel;
  uint32_t bit = 0;
  for (size_t i = 0; i < space;) {
    const char letter = name[i++];
    uint32_t width = 0;
    for (; i < space && absl::ascii_isdigit(static_cast<unsigned char>(name[i])); ++i) {
      width = width * 10 + static_cast<uint32_t>(name[i] - '0');
      if (width > 64) return {};
    }
    const std::vector<int> to = ChannelsOf(letter);
    if (width == 0 || (to.empty() && letter != 'X')) return {};
    texel.channels.push_back(
        {{0, static_cast<uint16_t>(bit), static_cast<uint8_t>(width), *type}, to});
    bit += width;
  }
  if (bit % 8 != 0) return {};
  texel.bytes = bit / 8;
  return texel;
}

Texel TexelOf(const tables::Tables& tables, const decode::ImageSeen& image) {
  if (image.texel == nullptr) return ParseName(image.format);
  Texel texel;
  texel.bytes = image.texel->bits / 8;
  for (const tables::Component& component : tables.components(*image.texel)) {
    const absl::string_view name = tables.string(component.name);
    if (component.type == ComponentType::kUnused || name.empty()) continue;
    texel.channels.push_back({component, ChannelsOf(name[0])});
  }
  // Of depth and stencil in one texel, depth is shown.
  const auto is = [&](const Channel& channel, char letter) {
    return tables.string(channel.component.name)[0] == letter;
  };
  if (std::any_of(texel.channels.begin(), texel.channels.end(),
                  [&](const Channel& one) { return is(one, 'D'); })) {
    std::erase_if(texel.channels, [&](const Channel& one) { return is(one, 'S'); });
  }
  return texel;
}

// A format whose elements have this size: layouts depend on nothing else. Null if there is none.
const layout::Format* FormatOf(uint32_t bytes) {
  for (const layout::Format& format : layout::Formats()) {
    if (format.block_B == bytes && !format.is_block_compressed() && !format.depth_or_stencil) {
      return &format;
    }
  }
  return nullptr;
}

struct Picture {
  uint64_t width = 0, height = 0;
  std::string rgba;  // empty: it cannot be shown
  std::string note;  // why, or what to know of it
};

Picture Refused(std::string why) { return {0, 0, "", std::move(why)}; }

double NumberOf(const decode::Value& value) {
  switch (value.kind) {
    case decode::ValueKind::kReal:
      return std::isfinite(value.real) ? value.real : 0;
    case decode::ValueKind::kSigned:
      return static_cast<double>(value.signed_value);
    default:
      return static_cast<double>(value.unsigned_value);
  }
}

// The texels of a level, one at a time.
class Texels {
 public:
  Texels(const Memory& memory, uint32_t space, uint64_t address, const layout::Layout& layout,
         uint32_t bytes)
      : memory_(memory), space_(space), address_(address), layout_(layout), bytes_(bytes) {
    // Most images are in one piece.
    all_ = memory.Read(space, address, layout.size_B());
  }

  // Empty: the dump does not have it.
  absl::Span<const uint8_t> At(uint64_t x, uint64_t y) const {
    const std::optional<uint64_t> offset =
        layout_.AddressOf({0, 0, static_cast<uint32_t>(x), static_cast<uint32_t>(y), 0});
    if (!offset) return {};
    if (*offset + bytes_ <= all_.size()) return all_.subspan(*offset, bytes_);
    const absl::Span<const uint8_t> some = memory_.Read(space_, address_ + *offset, bytes_);
    return some.size() == bytes_ ? some : absl::Span<const uint8_t>();
  }

 private:
  const Memory& memory_;
  const uint32_t space_;
  const uint64_t address_;
  const layout::Layout& layout_;
  const uint32_t bytes_;
  absl::Span<const uint8_t> all_;
};

// Colours of the texels as they are; numbers above 1 are scaled so that the largest is 1.
Picture Paint(const Texels& texels, const Texel& texel, uint64_t width, uint64_t height,
              uint64_t step) {
  Picture picture{(width + step - 1) / step, (height + step - 1) / step, "", ""};
  std::vector<float> values;
  values.reserve(picture.width * picture.height * 4);
  bool has_alpha = false, has_color = false;
  std::array<bool, 4> present{};
  for (const Channel& channel : texel.channels) {
    for (const int to : channel.to) present[static_cast<size_t>(to)] = true;
  }
  has_alpha = present[3];
  has_color = present[0] || present[1] || present[2];
  const bool only_red = present[0] && !present[1] && !present[2];
  uint64_t missing = 0;
  double largest = 1;
  bool any = false;
  for (uint64_t y = 0; y < height; y += step) {
    for (uint64_t x = 0; x < width; x += step) {
      std::array<float, 4> rgba = {0, 0, 0, 1};
      const absl::Span<const uint8_t> bytes = texels.At(x, y);
      if (bytes.empty()) {
        ++missing;
        values.insert(values.end(), {0, 0, 0, 0});
        continue;
      }
      any = any || std::any_of(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte != 0; });
      for (const Channel& channel : texel.channels) {
        const double value =
            std::max(NumberOf(decode::DecodeComponent(channel.component, bytes)), 0.0);
        for (const int to : channel.to) {
          rgba[static_cast<size_t>(to)] = static_cast<float>(value);
          if (to < 3) largest = std::max(largest, value);
        }
      }
      // One component is a grey picture, alpha alone too.
      if (only_red) rgba[1] = rgba[2] = rgba[0];
      if (!has_color && has_alpha) rgba[0] = rgba[1] = rgba[2] = rgba[3];
      values.insert(values.end(), rgba.begin(), rgba.end());
    }
  }
  if (missing == picture.width * picture.height) {
    return Refused("its memory is not in the dump");
  }
  picture.rgba.resize(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const double scaled =
        i % 4 == 3 ? static_cast<double>(values[i]) : static_cast<double>(values[i]) / largest;
    picture.rgba[i] =
        static_cast<char>(static_cast<uint8_t>(std::lround(std::clamp(scaled, 0.0, 1.0) * 255)));
  }
  const auto say = [&](std::string text) {
    absl::StrAppend(&picture.note, picture.note.empty() ? "" : "; ", text);
  };
  if (step > 1) say(absl::StrCat("one of ", step, " texels in each direction"));
  if (missing != 0) say("in part: the dump does not have all of its memory");
  if (largest > 1) say(absl::StrCat("white is ", largest));
  if (!any) say("all bytes are zero");
  return picture;
}

Picture MakePicture(const tables::Tables& tables, const Memory& memory, uint32_t space,
                    const decode::ImageSeen& image, uint64_t room) {
  if (image.tiling == Tiling::kCompressed) {
    return Refused("it is compressed, which only the GPU can undo");
  }
  const std::optional<layout::Scheme> scheme = SchemeOf(image.tiling);
  if (!scheme) return Refused("the description does not say how its texels are ordered");
  const Texel texel = TexelOf(tables, image);
  const layout::Format* const format = FormatOf(texel.bytes);
  if (texel.channels.empty() || format == nullptr) {
    return Refused(absl::StrCat("the format ", image.format.empty() ? "(unknown)" : image.format,
                                " cannot be converted to RGBA"));
  }
  if (image.width > kLargestSide || image.height > kLargestSide) return Refused("it is too large");
  if (memory.Read(space, image.address, 1).empty()) return Refused("its memory is not in the dump");
  layout::ImageDescription description;
  description.scheme = *scheme;
  description.format = format;
  description.width_px = static_cast<uint32_t>(image.width);
  description.height_px = static_cast<uint32_t>(image.height);
  description.stride_B = image.pitch;
  const absl::StatusOr<layout::Layout> layout = layout::Layout::Of(description);
  if (!layout.ok()) {
    return Refused(absl::StrCat("its layout is not possible: ", layout.status().message()));
  }
  const uint64_t step = (std::max(image.width, image.height) + kMostSide - 1) / kMostSide;
  if ((image.width / step + 1) * (image.height / step + 1) > room) {
    return Refused("the page has no room for more pictures");
  }
  const Texels texels(memory, space, image.address, *layout, texel.bytes);
  return Paint(texels, texel, image.width, image.height, step);
}

absl::string_view NameOf(Tiling tiling) {
  const std::optional<layout::Scheme> scheme = SchemeOf(tiling);
  if (tiling == Tiling::kLinear) return "linear";
  if (tiling == Tiling::kCompressed) return "compressed";
  return scheme ? layout::SchemeName(*scheme) : absl::string_view("unknown");
}

}  // namespace

void Pictures::OnDump(const Dump* dump) {
  dump_ = dump;
  known_.clear();
}

std::optional<uint32_t> Pictures::Of(const tables::Tables& tables, const decode::Record& record,
                                     Messages& messages) {
  if (dump_ == nullptr || record.type == decode::RecordType::kRegister) return std::nullopt;
  const std::optional<decode::ImageSeen> image = decode::ImageOf(tables, record);
  if (!image || image->width == 0 || image->height == 0) return std::nullopt;
  std::string key = absl::StrCat(record.space, " ", image->address, " ", image->format, " ",
                                 image->width, " ", image->height, " ", image->depth, " ",
                                 image->pitch, " ", static_cast<uint32_t>(image->tiling));
  const auto [known, is_new] = known_.try_emplace(std::move(key), count_);
  if (!is_new) return known->second;
  const Picture picture =
      MakePicture(tables, dump_->memory, record.space, *image, kMostPixels - pixels_);
  pixels_ += picture.width * picture.height;
  constexpr absl::string_view kUses[] = {"surface", "texture", "target"};
  Message message;
  message.Number(record.space);
  message.Wide(image->address);
  message.Wide(image->width);
  message.Wide(image->height);
  message.Wide(image->depth);
  message.Wide(image->pitch);
  message.Number(messages.Text(image->format));
  message.Number(messages.Text(NameOf(image->tiling)));
  message.Number(messages.Text(kUses[static_cast<size_t>(image->use)]));
  message.Inline(decode::Harmless(picture.note));
  message.Number(picture.rgba.empty() ? 0 : picture.width);
  message.Number(picture.rgba.empty() ? 0 : picture.height);
  message.Bytes(picture.rgba);
  messages.Add(MessageKind::kPicture, message);
  return count_++;
}

}  // namespace packsmith::html
