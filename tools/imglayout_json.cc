#include "tools/imglayout_json.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "rapidjson/document.h"
#include "rapidjson/error/en.h"
#include "rapidjson/stringbuffer.h"
#include "rapidjson/writer.h"
#include "runtime/base/closest.h"

namespace packsmith::layout {
namespace {

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

absl::Status Wrong(absl::string_view text) { return absl::InvalidArgumentError(text); }

}  // namespace

absl::StatusOr<Scheme> SchemeOf(absl::string_view name) {
  const std::optional<Scheme> scheme = FindScheme(name == "agx" ? "agx-twiddled" : name);
  if (scheme.has_value()) return *scheme;
  const std::string names = SchemeNames();
  const std::vector<absl::string_view> known =
      absl::StrSplit(names, absl::ByAnyChar(", "), absl::SkipEmpty());
  return Wrong(absl::StrCat("there is no layout '", name, "'; known layouts: ", names,
                            DidYouMean(name, known)));
}

absl::StatusOr<const Format*> FormatOf(absl::string_view name) {
  const Format* const format = FindFormat(name);
  if (format != nullptr) return format;
  Closest closest(name);
  for (const Format& known : Formats()) closest.Offer(known.name);
  return Wrong(absl::StrCat("there is no format '", name, "'; names are like R8G8B8A8_UNORM",
                            DidYouMean(closest)));
}

absl::StatusOr<Dim> DimOf(absl::string_view name) {
  if (name == "2d") return Dim::k2d;
  if (name == "3d") return Dim::k3d;
  if (name == "cube") return Dim::kCube;
  return Wrong(absl::StrCat("there is no dim '", name, "'; it must be 2d, 3d or cube",
                            DidYouMean(name, {"2d", "3d", "cube"})));
}

absl::Status SetUse(absl::string_view name, ImageDescription& image) {
  if (name == "renderable") {
    image.renderable = true;
  } else if (name == "writeable") {
    image.writeable = true;
  } else {
    return Wrong(absl::StrCat("there is no usage '", name, "'; it must be renderable or writeable",
                              DidYouMean(name, {"renderable", "writeable"})));
  }
  return absl::OkStatus();
}

absl::StatusOr<ImageDescription> ImageOfJson(absl::string_view line) {
  rapidjson::Document document;
  // Unknown names are repeated in the answer, which must be valid JSON too.
  document.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(
      line.data(), line.size());
  if (document.HasParseError()) {
    return Wrong(absl::StrCat("column ", document.GetErrorOffset() + 1, ": ",
                              rapidjson::GetParseError_En(document.GetParseError())));
  }
  if (!document.IsObject()) return Wrong("a description must be a JSON object");
  ImageDescription image;
  bool has_layout = false, has_width = false, has_height = false;
  for (rapidjson::SizeType i = 0; i < document.MemberCount(); ++i) {
    const auto& member = *(document.MemberBegin() + i);
    const absl::string_view key(member.name.GetString(), member.name.GetStringLength());
    const rapidjson::Value& value = member.value;
    if ((key == "layout" || key == "format" || key == "dim") && !value.IsString()) {
      return Wrong(absl::StrCat(key, " must be a string"));
    }
    const absl::string_view text =
        value.IsString() ? absl::string_view(value.GetString(), value.GetStringLength()) : "";
    uint32_t* number = nullptr;
    if (key == "width_px") number = &image.width_px, has_width = true;
    if (key == "height_px") number = &image.height_px, has_height = true;
    if (key == "layers") number = &image.layers;
    if (key == "levels") number = &image.levels;
    if (key == "samples") number = &image.samples;
    if (key == "align_w_el") number = &image.align_w_el;
    if (key == "align_h_el") number = &image.align_h_el;
    if (key == "mip_tail_level") number = &image.mip_tail_level;
    if (number != nullptr) {
      if (!value.IsUint()) return Wrong(absl::StrCat(key, " must be an integer below 2^32"));
      *number = value.GetUint();
    } else if (key == "stride_B") {
      if (!value.IsUint64()) return Wrong("stride_B must be an integer below 2^64");
      image.stride_B = value.GetUint64();
    } else if (key == "bit6_swizzle") {
      if (!value.IsBool()) return Wrong("bit6_swizzle must be true or false");
      image.bit6_swizzle = value.GetBool();
    } else if (key == "interleave_samples") {
      if (!value.IsBool()) return Wrong("interleave_samples must be true or false");
      image.interleave_samples = value.GetBool();
    } else if (key == "usage") {
      if (!value.IsArray()) return Wrong("usage must be an array of strings");
      for (const rapidjson::Value& use : value.GetArray()) {
        if (!use.IsString()) return Wrong("usage must be an array of strings");
        const absl::Status status = SetUse({use.GetString(), use.GetStringLength()}, image);
        if (!status.ok()) return status;
      }
    } else if (key == "layout") {
      const absl::StatusOr<Scheme> scheme = SchemeOf(text);
      if (!scheme.ok()) return scheme.status();
      image.scheme = *scheme;
      has_layout = true;
    } else if (key == "format") {
      const absl::StatusOr<const Format*> format = FormatOf(text);
      if (!format.ok()) return format.status();
      image.format = *format;
    } else if (key == "dim") {
      const absl::StatusOr<Dim> dim = DimOf(text);
      if (!dim.ok()) return dim.status();
      image.dim = *dim;
    } else {
      return Wrong(absl::StrCat("a description has no member '", key, "'"));
    }
  }
  if (!has_layout || image.format == nullptr || !has_width || !has_height) {
    return Wrong("a description must have layout, format, width_px and height_px");
  }
  return image;
}

std::string ToJson(const Layout& layout) {
  rapidjson::StringBuffer buffer;
  Writer json(buffer);
  const auto number = [&](const char* name, uint64_t value) {
    json.Key(name);
    json.Uint64(value);
  };
  json.StartObject();
  number("size_B", layout.size_B());
  number("layer_stride_B", layout.layer_stride_B());
  if (layout.sample_stride_B() != 0) number("sample_stride_B", layout.sample_stride_B());
  json.Key("levels");
  json.StartArray();
  for (size_t l = 0; l < layout.levels().size(); ++l) {
    const Level& level = layout.levels()[l];
    json.StartObject();
    number("level", l);
    number("offset_B", level.offset_B);
    number("size_B", level.size_B);
    number("tile_w_el", level.tile_w_el());
    number("tile_h_el", level.tile_h_el());
    if (level.tile_d_el() != 1) number("tile_d_el", level.tile_d_el());
    number("pitch_el", level.pitch_el);
    number("tile_row_stride_B", level.tile_row_stride_B);
    if (layout.layer_stride_B() == 0) {
      number("layers", level.layers);
      number("layer_stride_B", level.layer_stride_B);
    }
    if (level.x_el != 0 || level.y_el != 0) {
      number("x_el", level.x_el);
      number("y_el", level.y_el);
    }
    json.EndObject();
  }
  json.EndArray();
  if (const Metadata* const metadata = layout.metadata()) {
    json.Key("metadata");
    json.StartObject();
    number("offset_B", metadata->offset_B);
    number("layer_stride_B", metadata->layer_stride_B);
    json.Key("level_offsets_B");
    json.StartArray();
    for (int l = 0; l < metadata->levels; ++l) json.Uint64(metadata->level_offset_B[l]);
    json.EndArray();
    json.EndObject();
  }
  json.EndObject();
  return buffer.GetString();
}

std::string ErrorToJson(const absl::Status& status) {
  rapidjson::StringBuffer buffer;
  Writer json(buffer);
  json.StartObject();
  json.Key("error");
  json.String(status.message().data(), static_cast<rapidjson::SizeType>(status.message().size()));
  json.EndObject();
  return buffer.GetString();
}

}  // namespace packsmith::layout
