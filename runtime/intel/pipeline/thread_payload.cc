#include "runtime/intel/pipeline/thread_payload.h"

#include <algorithm>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace packsmith::intel {
namespace {

constexpr unsigned kUnitBytes = 32;  // of URB data and of constants
constexpr unsigned kSlotsOfUnit = 2;
constexpr unsigned kComponents = 4;
constexpr unsigned kBarycentricModes = 6;
constexpr unsigned kHalf = 16;   // lanes
constexpr uint64_t kMost = 256;  // registers of any thread

uint64_t RoundUp(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

// Appends parts, register after register.
class Builder {
 public:
  Builder(absl::string_view stage, unsigned lanes, const GenerationFacts& facts,
          unsigned polygons = 1)
      : stage_(stage), facts_(facts) {
    payload_.lanes = lanes;
    payload_.polygons = polygons;
  }

  void Add(PayloadKind kind, uint64_t count = 1, unsigned index = 0, unsigned half = 0) {
    if (count == 0 || full()) return;
    next_ += count;
    if (full()) return;
    payload_.parts.push_back({kind, static_cast<uint16_t>(next_ - count),
                              static_cast<uint16_t>(count), static_cast<uint8_t>(index),
                              static_cast<uint8_t>(half)});
  }
  // No thread has that many registers: nothing more is appended, and Finish() refuses.
  bool full() const { return next_ > kMost; }
  // A dword in each of this many lanes.
  uint64_t Dwords(unsigned lanes) const { return RoundUp(lanes * 4, facts_.register_bytes); }

  // The rest begins with the start register, if there is any.
  void Start(uint32_t start, const PayloadInputs& inputs) {
    if (full()) return;
    payload_.before_start = static_cast<unsigned>(next_);
    if (start == 0) start = payload_.before_start;
    start_ = start;
    at_start_ = next_;
    next_ = std::max<uint64_t>(next_, start);
    Add(PayloadKind::kConstants,
        RoundUp(uint64_t{inputs.constant_units} * kUnitBytes, facts_.register_bytes));
  }

  absl::StatusOr<ThreadPayload> Finish() {
    const bool delivers =
        start_.has_value() && !payload_.parts.empty() && payload_.parts.back().first >= at_start_;
    if (delivers && *start_ < at_start_) {
      return absl::InvalidArgumentError(absl::StrCat(stage_, ": the start register is ", *start_,
                                                     "; it must be at least ", at_start_,
                                                     ", after what the hardware delivers first"));
    }
    const uint64_t most = facts_.has_register_blocks ? kMost : kMost / 2;
    if (next_ > most) {
      return absl::ResourceExhaustedError(
          absl::StrCat(stage_, ": the payload takes ", full() ? "more than " : "",
                       full() ? kMost : next_, " registers; a thread has ", most,
                       ": read fewer inputs in registers, and the others by URB messages"));
    }
    payload_.registers =
        payload_.parts.empty() ? 0 : payload_.parts.back().first + payload_.parts.back().count;
    return std::move(payload_);
  }

 private:
  absl::string_view stage_;
  const GenerationFacts& facts_;
  ThreadPayload payload_;
  uint64_t next_ = 0, at_start_ = 0;
  std::optional<uint32_t> start_;
};

absl::string_view ModeName(unsigned mode) {
  constexpr absl::string_view kNames[kBarycentricModes] = {
      "perspective, pixel", "perspective, centroid", "perspective, sample",
      "linear, pixel",      "linear, centroid",      "linear, sample"};
  return kNames[std::min(mode, kBarycentricModes - 1)];
}

std::string Describe(const PayloadPart& part, const ThreadPayload& payload) {
  const unsigned lanes = payload.lanes;
  const std::string half = lanes == 2 * kHalf ? absl::StrFormat(", lanes %u-%u", part.half * kHalf,
                                                                part.half * kHalf + kHalf - 1)
                                              : std::string();
  const std::string each =
      payload.polygons == 1 ? std::string()
                            : absl::StrCat(", each register for ", payload.polygons, " polygons");
  switch (part.kind) {
    case PayloadKind::kHeader:
      return "thread header";
    case PayloadKind::kHeaderAndPixels:
      return absl::StrCat("thread header; masks and positions of pixels", half);
    case PayloadKind::kPixels:
      return absl::StrCat("masks and positions of pixels", half);
    case PayloadKind::kOutputHandles:
      return absl::StrCat("URB handles of ", lanes, " outputs");
    case PayloadKind::kPatchHandles:
      return absl::StrCat("URB handles of ", lanes, " output patches");
    case PayloadKind::kPointHandles:
      return "URB handles of 32 input control points";
    case PayloadKind::kControlPoint:
      return absl::StrCat("URB handles of control point ", part.index, " in ", lanes, " patches");
    case PayloadKind::kInputVertex:
      return absl::StrCat("URB handles of vertex ", part.index, " of ", lanes, " primitives");
    case PayloadKind::kPrimitiveIds:
      return absl::StrCat("ids of ", lanes, " primitives");
    case PayloadKind::kTessU:
      return "u of domain points";
    case PayloadKind::kTessV:
      return "v of domain points";
    case PayloadKind::kTessW:
      return "w of domain points";
    case PayloadKind::kBarycentrics:
      return absl::StrCat("barycentric coordinates (", ModeName(part.index), ")", half);
    case PayloadKind::kSourceDepth:
      return absl::StrCat("depth", half);
    case PayloadKind::kSourceW:
      return absl::StrCat("w", half);
    case PayloadKind::kPositionOffsets:
      return "offsets of positions";
    case PayloadKind::kCoverage:
      return absl::StrCat("coverage", half);
    case PayloadKind::kSampleOffsets:
      return "offsets of samples";
    case PayloadKind::kDepthWPlanes:
      return absl::StrCat("coefficients of depth and w", each);
    case PayloadKind::kPerspectivePlanes:
      return absl::StrCat("coefficients of perspective barycentric coordinates", each);
    case PayloadKind::kSharedPlanes:
      return absl::StrCat("coefficients of depth, w and perspective barycentric coordinates", each);
    case PayloadKind::kLinearPlanes:
      return absl::StrCat("coefficients of linear barycentric coordinates", each);
    case PayloadKind::kLocalIds:
      return absl::StrCat("local ids ", std::string(1, "xyz"[part.index % 3]), " of ", lanes,
                          " invocations");
    case PayloadKind::kRayStackIds:
      return absl::StrCat("stack ids of ", lanes, " rays");
    case PayloadKind::kInlineData:
      return "inline data";
    case PayloadKind::kSharedConstants:
      return "constants that all threads share";
    case PayloadKind::kThreadConstants:
      return "constants of the thread";
    case PayloadKind::kConstants:
      return "push constants";
    case PayloadKind::kVertexElement:
      return absl::StrCat("vertex element ", part.index, ": x, y, z, w of ", lanes, " vertices");
    case PayloadKind::kVertexData:
      return absl::StrCat("URB data of vertex ", part.index);
    case PayloadKind::kPatchData:
      return "URB data of the patch";
    case PayloadKind::kAttribute:
      return absl::StrCat("planes of attribute ", part.index, each);
    case PayloadKind::kAttributes:
      return absl::StrCat("planes of attributes, five components in each register", each);
  }
  return {};
}

}  // namespace

const PayloadPart* ThreadPayload::At(unsigned reg) const {
  for (const PayloadPart& part : parts) {
    if (reg >= part.first && reg < unsigned{part.first} + part.count) return &part;
  }
  return nullptr;
}

std::string ThreadPayload::DescriptionOf(const PayloadPart& part) const {
  return Describe(part, *this);
}

std::string ThreadPayload::ToText() const {
  std::string text;
  for (const PayloadPart& part : parts) {
    const std::string place =
        part.count == 1 ? absl::StrCat("r", part.first)
                        : absl::StrCat("r", part.first, "-r", part.first + part.count - 1);
    absl::StrAppendFormat(&text, "%-8s %s\n", place, Describe(part, *this));
  }
  return text;
}

absl::StatusOr<ThreadPayload> PayloadOf(const VertexShader& shader, const GenerationFacts& facts,
                                        const PayloadInputs& inputs) {
  Builder builder("vertex shader", facts.lanes, facts);
  builder.Add(PayloadKind::kHeader);
  builder.Add(PayloadKind::kOutputHandles);
  builder.Start(shader.entry.start_register, inputs);
  const uint64_t elements = uint64_t{shader.urb_read_length} * kSlotsOfUnit;
  for (unsigned i = 0; i < elements && !builder.full(); ++i) {
    builder.Add(PayloadKind::kVertexElement, kComponents, i);
  }
  return builder.Finish();
}

absl::StatusOr<ThreadPayload> PayloadOf(const TessControlShader& shader,
                                        const GenerationFacts& facts, const PayloadInputs& inputs) {
  const bool single = shader.dispatch == HullDispatch::kSinglePatch;
  if (single ? !facts.hull_single_patch : !facts.hull_patch_per_lane) {
    return absl::InvalidArgumentError(
        absl::StrCat("tessellation control shader: threads of this generation do not work on ",
                     single ? "a single patch" : "a patch in each lane"));
  }
  Builder builder("tessellation control shader", facts.lanes, facts);
  builder.Add(PayloadKind::kHeader);
  if (single) {
    if (shader.vertex_handles) builder.Add(PayloadKind::kPointHandles, builder.Dwords(32));
  } else {
    builder.Add(PayloadKind::kPatchHandles);
    if (shader.primitive_id) builder.Add(PayloadKind::kPrimitiveIds);
    const uint32_t points = shader.vertex_handles ? shader.input_control_points : 0;
    for (unsigned i = 0; i < points && !builder.full(); ++i) {
      builder.Add(PayloadKind::kControlPoint, 1, i);
    }
  }
  builder.Start(shader.entry.start_register, inputs);
  if (shader.urb_read_length != 0 && !single) {
    return absl::UnimplementedError(
        "tessellation control shader: where URB data are in the registers of a patch in each lane "
        "is not known; read them by URB messages, with urb_read_length 0");
  }
  const uint64_t registers =
      RoundUp(uint64_t{shader.urb_read_length} * kUnitBytes, facts.register_bytes);
  const uint32_t read = registers == 0 ? 0 : shader.input_control_points;
  for (unsigned i = 0; i < read && !builder.full(); ++i) {
    builder.Add(PayloadKind::kVertexData, registers, i);
  }
  return builder.Finish();
}

absl::StatusOr<ThreadPayload> PayloadOf(const TessEvalShader& shader, const GenerationFacts& facts,
                                        const PayloadInputs& inputs) {
  Builder builder("tessellation evaluation shader", facts.lanes, facts);
  builder.Add(PayloadKind::kHeader);
  builder.Add(PayloadKind::kTessU);
  builder.Add(PayloadKind::kTessV);
  builder.Add(PayloadKind::kTessW);
  builder.Add(PayloadKind::kOutputHandles);
  builder.Start(shader.entry.start_register, inputs);
  builder.Add(PayloadKind::kPatchData,
              RoundUp(uint64_t{shader.patch_read_length} * kUnitBytes, facts.register_bytes));
  return builder.Finish();
}

absl::StatusOr<ThreadPayload> PayloadOf(const GeometryShader& shader, const GenerationFacts& facts,
                                        const PayloadInputs& inputs) {
  Builder builder("geometry shader", facts.lanes, facts);
  builder.Add(PayloadKind::kHeader);
  builder.Add(PayloadKind::kOutputHandles);
  if (shader.primitive_id) builder.Add(PayloadKind::kPrimitiveIds);
  const uint32_t handles = shader.vertex_handles ? shader.input_vertices : 0;
  for (unsigned i = 0; i < handles && !builder.full(); ++i) {
    builder.Add(PayloadKind::kInputVertex, 1, i);
  }
  builder.Start(shader.entry.start_register, inputs);
  const uint64_t registers = uint64_t{shader.urb_read_length} * kSlotsOfUnit * kComponents;
  const uint32_t read = registers == 0 ? 0 : shader.input_vertices;
  for (unsigned i = 0; i < read && !builder.full(); ++i) {
    builder.Add(PayloadKind::kVertexData, registers, i);
  }
  return builder.Finish();
}

namespace {

// Of a kernel with this many lanes, of all polygons together.
absl::StatusOr<ThreadPayload> PixelPayloadOf(const FragmentShader& shader, const ShaderEntry& entry,
                                             unsigned lanes, unsigned polygons,
                                             const GenerationFacts& facts,
                                             const PayloadInputs& inputs) {
  if (!facts.pixel_coefficients &&
      (shader.sample_offsets || shader.depth_w_coefficients || shader.perspective_coefficients ||
       shader.linear_coefficients)) {
    return absl::UnimplementedError(
        "fragment shader: offsets of samples or coefficients of planes; payloads have them from "
        "Gfx11 on");
  }
  const bool xe2 = facts.pixel_payload == PixelPayload::kXe2;
  const unsigned halves = lanes == 2 * kHalf ? 2 : 1;
  const unsigned width = std::min(lanes, kHalf);
  Builder builder("fragment shader", lanes, facts, polygons);
  const uint64_t floats = builder.Dwords(width);
  if (!xe2) builder.Add(PayloadKind::kHeader);
  for (unsigned half = 0; half < halves; ++half) {
    const bool shared = xe2 && half == 0;
    builder.Add(shared ? PayloadKind::kHeaderAndPixels : PayloadKind::kPixels, 1, 0, half);
  }
  const bool offsets = shader.position_offset != PositionOffset::kNone;
  for (unsigned half = 0; half < halves; ++half) {
    for (unsigned mode = 0; mode < kBarycentricModes; ++mode) {
      if ((shader.barycentrics >> mode & 1) == 0) continue;
      builder.Add(PayloadKind::kBarycentrics, 2 * floats, mode, half);
    }
    if (shader.source_depth) builder.Add(PayloadKind::kSourceDepth, floats, 0, half);
    if (shader.source_w) builder.Add(PayloadKind::kSourceW, floats, 0, half);
    if (offsets && !xe2) builder.Add(PayloadKind::kPositionOffsets, 1, 0, half);
    if (shader.coverage != CoverageInput::kNone) {
      builder.Add(PayloadKind::kCoverage, floats, 0, half);
    }
  }
  if (offsets && xe2) builder.Add(PayloadKind::kPositionOffsets);
  if (xe2) {
    if (shader.sample_offsets) builder.Add(PayloadKind::kSampleOffsets);
    if (shader.depth_w_coefficients || shader.perspective_coefficients) {
      builder.Add(PayloadKind::kSharedPlanes, polygons);
    }
  } else {
    if (shader.depth_w_coefficients) builder.Add(PayloadKind::kDepthWPlanes, polygons);
    if (shader.perspective_coefficients) builder.Add(PayloadKind::kPerspectivePlanes, polygons);
  }
  if (shader.linear_coefficients) builder.Add(PayloadKind::kLinearPlanes, polygons);
  if (shader.sample_offsets && !xe2) builder.Add(PayloadKind::kSampleOffsets);
  builder.Start(entry.start_register, shader.constants ? inputs : PayloadInputs{});
  if (xe2) {
    constexpr unsigned kComponentsOfRegister = 5;
    builder.Add(PayloadKind::kAttributes,
                polygons * RoundUp(uint64_t{shader.inputs} * kComponents, kComponentsOfRegister));
  } else {
    for (unsigned i = 0; i < shader.inputs && !builder.full(); ++i) {
      builder.Add(PayloadKind::kAttribute, uint64_t{2} * polygons, i);
    }
  }
  return builder.Finish();
}

}  // namespace

absl::StatusOr<ThreadPayload> PayloadOf(const FragmentShader& shader, unsigned lanes,
                                        const GenerationFacts& facts, const PayloadInputs& inputs) {
  const std::optional<ShaderEntry>& entry = lanes == 8    ? shader.simd8
                                            : lanes == 16 ? shader.simd16
                                                          : shader.simd32;
  if (lanes == 8 && !facts.pixel.has_simd8) {
    return absl::InvalidArgumentError(
        "fragment shader: a kernel of 8 lanes; from Xe2 on kernels have 16 or 32");
  }
  if ((lanes != 8 && lanes != 16 && lanes != 32) || !entry.has_value()) {
    return absl::NotFoundError(
        absl::StrCat("fragment shader: there is no kernel of ", lanes, " lanes"));
  }
  return PixelPayloadOf(shader, *entry, lanes, 1, facts, inputs);
}

absl::StatusOr<ThreadPayload> MultiPolygonPayloadOf(const FragmentShader& shader,
                                                    const GenerationFacts& facts,
                                                    const PayloadInputs& inputs) {
  if (!shader.multi_polygon.has_value()) {
    return absl::NotFoundError("fragment shader: there is no kernel of several polygons");
  }
  const MultiPolygonEntry& kernel = *shader.multi_polygon;
  FragmentShader alone = shader;
  alone.simd8 = alone.simd16 = alone.simd32 = std::nullopt;
  if (const auto widths = ChoosePixelWidths(alone, {}, facts); !widths.ok()) {
    return widths.status();
  }
  return PixelPayloadOf(shader, kernel.entry, kernel.lanes(), kernel.polygons, facts, inputs);
}

absl::StatusOr<ThreadPayload> PayloadOf(const WorkgroupProgram& group,
                                        const GenerationFacts& facts) {
  constexpr absl::string_view kStage = "task or mesh shader";
  if (const auto threads = SplitGroup(kStage, group, facts); !threads.ok()) {
    return threads.status();
  }
  Builder builder(kStage, group.simd, facts);
  builder.Add(PayloadKind::kHeader);
  if (group.local_ids) {
    builder.Add(PayloadKind::kLocalIds, RoundUp(uint64_t{group.simd} * 2, facts.register_bytes));
  }
  if (group.inline_data) builder.Add(PayloadKind::kInlineData);
  builder.Start(0, {});
  return builder.Finish();
}

absl::StatusOr<ThreadPayload> PayloadOf(const ComputeThreads& threads,
                                        const GenerationFacts& facts) {
  constexpr absl::string_view kStage = "compute shader";
  const bool exists =
      threads.lanes == 16 || threads.lanes == 32 || (threads.lanes == 8 && facts.pixel.has_simd8);
  if (!exists) {
    return absl::InvalidArgumentError(
        absl::StrCat(kStage, ": a kernel of ", threads.lanes, " lanes; kernels have ",
                     facts.pixel.has_simd8 ? "8, 16 or 32" : "16 or 32"));
  }
  Builder builder(kStage, threads.lanes, facts);
  builder.Add(PayloadKind::kHeader);
  const uint64_t words = RoundUp(uint64_t{threads.lanes} * 2, facts.register_bytes);
  for (unsigned i = 0; i < 3; ++i) {
    if ((threads.local_ids >> i & 1) != 0) builder.Add(PayloadKind::kLocalIds, words, i);
  }
  if (threads.ray_stack_ids) builder.Add(PayloadKind::kRayStackIds, words);
  if (threads.inline_data) builder.Add(PayloadKind::kInlineData);
  builder.Add(PayloadKind::kSharedConstants, threads.shared_registers);
  builder.Add(PayloadKind::kThreadConstants, threads.thread_registers);
  builder.Start(0, {});
  return builder.Finish();
}

}  // namespace packsmith::intel
