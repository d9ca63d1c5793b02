// Golden (an invented GPU): names, for C++20.
// Made by packsmith from golden.xml. Do not edit.
//
//   packsmith::name(value)      the manual's name of an enumerator, nullptr if it has none
//   packsmith::to_text(packet)  the packet's name and its members, a line each
//   packsmith::names<T>         ::type, the manual's name of a type; ::fields, of its members
#ifndef PACKSMITH_GOLDEN_NAMES_H_
#define PACKSMITH_GOLDEN_NAMES_H_

#include "packsmith/golden.h"
#include "packsmith/names.h"

namespace packsmith::golden {

constexpr const char* name(Compare_Function value) {
  switch (static_cast<uint32_t>(value)) {
    case 0:
      return "Never";
    case 1:
      return "Less";
    case 7:
      return "Always";
  }
  return nullptr;
}

constexpr const char* name(Index_Format value) {
  switch (static_cast<uint32_t>(value)) {
    case 0:
      return "8 bits";
    case 1:
      return "16 bits";
    case 2:
      return "32 bits";
  }
  return nullptr;
}

}  // namespace packsmith::golden

namespace packsmith {

template <>
struct names<golden::VERTEX_BUFFER> {
  static constexpr const char* type = "VERTEX_BUFFER";
  static constexpr field_name fields[] = {
      {"pitch", "Pitch"},
      {"null", "Null"},
      {"starting_address", "Starting Address"},
  };
};
template <>
struct names<golden::Rectangle> {
  static constexpr const char* type = "Rectangle";
  static constexpr field_name fields[] = {
      {"left", "Left"},
      {"top", "Top"},
      {"right", "Right"},
      {"bottom", "Bottom"},
  };
};
template <>
struct names<golden::Count> {
  static constexpr const char* type = "Count";
  static constexpr field_name fields[] = {
      {"value", "Value"},
  };
};
template <>
struct names<golden::CACHE_MODE> {
  static constexpr const char* type = "CACHE_MODE";
  static constexpr field_name fields[] = {
      {"depth_cache_disable", "Depth Cache Disable"},
      {"depth_cache_disable_mask", "Depth Cache Disable Mask"},
  };
};
template <>
struct names<golden::_3DSTATE_DEPTH> {
  static constexpr const char* type = "3DSTATE_DEPTH";
  static constexpr field_name fields[] = {
      {"depth_test_enable", "Depth Test Enable"},
      {"depth_test_function", "Depth Test Function"},
      {"bias_constant", "Bias Constant"},
      {"tile_mode", "Tile Mode"},
      {"layer", "Layer"},
      {"format", "Format"},
  };
};
template <>
struct names<golden::SURFACE> {
  static constexpr const char* type = "SURFACE";
  static constexpr field_name fields[] = {
      {"width", "Width"},
      {"height", "Height"},
      {"row_pitch", "Row Pitch"},
      {"samples", "Samples"},
      {"registers", "Registers"},
      {"min_lod", "Min LOD"},
      {"lod_bias", "LOD Bias"},
      {"threads", "Threads"},
  };
};
template <>
struct names<golden::SHADER> {
  static constexpr const char* type = "SHADER";
  static constexpr field_name fields[] = {
      {"kernel", "Kernel"},
      {"scratch_size", "Scratch Size"},
      {"scratch", "Scratch"},
      {"descriptors", "Descriptors"},
  };
};
template <>
struct names<golden::TABLES> {
  static constexpr const char* type = "TABLES";
  static constexpr field_name fields[] = {
      {"half[0]", "Half[0]"},
      {"half[1]", "Half[1]"},
      {"row[0]", "Row[0]"},
      {"row[1]", "Row[1]"},
      {"row[2]", "Row[2]"},
      {"row[3]", "Row[3]"},
      {"row[4]", "Row[4]"},
      {"row[5]", "Row[5]"},
      {"row[6]", "Row[6]"},
      {"row[7]", "Row[7]"},
      {"row[8]", "Row[8]"},
      {"row[9]", "Row[9]"},
      {"row[10]", "Row[10]"},
      {"row[11]", "Row[11]"},
      {"row[12]", "Row[12]"},
      {"row[13]", "Row[13]"},
      {"row[14]", "Row[14]"},
      {"row[15]", "Row[15]"},
      {"enable[]", "Enable[]"},
      {"target[0].write_mask", "Target[0].Write Mask"},
      {"target[0].color", "Target[0].Color"},
      {"target[1].write_mask", "Target[1].Write Mask"},
      {"target[1].color", "Target[1].Color"},
      {"vertices.pitch", "Vertices.Pitch"},
      {"vertices.null", "Vertices.Null"},
      {"vertices.starting_address", "Vertices.Starting Address"},
      {"corner[0].x", "Corner[0].X"},
      {"corner[0].y", "Corner[0].Y"},
      {"corner[0].depth", "Corner[0].Depth"},
      {"corner[0].depth_bits", "Corner[0].Depth Bits"},
      {"corner[1].x", "Corner[1].X"},
      {"corner[1].y", "Corner[1].Y"},
      {"corner[1].depth", "Corner[1].Depth"},
      {"corner[1].depth_bits", "Corner[1].Depth Bits"},
  };
};
template <>
struct names<golden::STORE_DATA> {
  static constexpr const char* type = "STORE_DATA";
  static constexpr field_name fields[] = {
      {"store_qword", "Store Qword"},
      {"address", "Address"},
      {"data", "Data"},
  };
};
template <>
struct names<golden::LOAD_REGISTERS> {
  static constexpr const char* type = "LOAD_REGISTERS";
  static constexpr field_name fields[] = {
      {"byte_write_disables", "Byte Write Disables"},
  };
};
template <>
struct names<golden::VERTEX_BUFFERS> {
  static constexpr const char* type = "VERTEX_BUFFERS";
  static constexpr span<const field_name> fields = {};
};
template <>
struct names<golden::END> {
  static constexpr const char* type = "END";
  static constexpr span<const field_name> fields = {};
};
template <>
struct names<golden::Draw> {
  static constexpr const char* type = "Draw";
  static constexpr field_name fields[] = {
      {"index_format", "Index Format"},
      {"instances_present", "Instances Present"},
      {"scissors_present", "Scissors Present"},
      {"scissor_count", "Scissor Count"},
  };
};

}  // namespace packsmith

#endif  // PACKSMITH_GOLDEN_NAMES_H_
