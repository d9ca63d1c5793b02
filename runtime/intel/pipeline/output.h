// What happens to fragments, as an API states it: depth and stencil tests, blending.
//
//   const BlendTarget targets[] = {BlendTarget::Over()};
//   absl::Status status = AddDepthStencil({.depth_test = true, .depth_write = true,
//                                          .depth_compare = Compare::kLess}, pipeline);
//   status = AddColorBlend({.targets = targets}, {}, pipeline);
//   …
//   status = SetBlendStates({.targets = targets}, {}, dynamic, batch, state);
//
// output_packets.h makes packets of it. Names and values are Vulkan's.

#ifndef PACKSMITH_RUNTIME_INTEL_PIPELINE_OUTPUT_H_
#define PACKSMITH_RUNTIME_INTEL_PIPELINE_OUTPUT_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/intel/binding/samplers.h"  // Compare

namespace packsmith::intel {

inline constexpr size_t kMostBlendTargets = 8;

enum class BlendFactor : uint8_t {
  kZero,
  kOne,
  kSrcColor,
  kOneMinusSrcColor,
  kDstColor,
  kOneMinusDstColor,
  kSrcAlpha,
  kOneMinusSrcAlpha,
  kDstAlpha,
  kOneMinusDstAlpha,
  kConstantColor,
  kOneMinusConstantColor,
  kConstantAlpha,
  kOneMinusConstantAlpha,
  kSrcAlphaSaturate,
  kSrc1Color,
  kOneMinusSrc1Color,
  kSrc1Alpha,
  kOneMinusSrc1Alpha,
};
enum class BlendOp : uint8_t { kAdd, kSubtract, kReverseSubtract, kMin, kMax };
enum class LogicOp : uint8_t {
  kClear,
  kAnd,
  kAndReverse,
  kCopy,
  kAndInverted,
  kNoOp,
  kXor,
  kOr,
  kNor,
  kEquivalent,
  kInvert,
  kOrReverse,
  kCopyInverted,
  kOrInverted,
  kNand,
  kSet,
};

// Components of a colour, a bit each.
inline constexpr uint8_t kRed = 1, kGreen = 2, kBlue = 4, kAlpha = 8;

struct BlendTarget {
  bool enable = false;
  BlendFactor src_color = BlendFactor::kOne, dst_color = BlendFactor::kZero;
  BlendOp color_op = BlendOp::kAdd;
  BlendFactor src_alpha = BlendFactor::kOne, dst_alpha = BlendFactor::kZero;
  BlendOp alpha_op = BlendOp::kAdd;
  uint8_t write_mask = kRed | kGreen | kBlue | kAlpha;

  // Colours that cover what was drawn before by their alpha.
  static constexpr BlendTarget Over() {
    return {.enable = true,
            .src_color = BlendFactor::kSrcAlpha,
            .dst_color = BlendFactor::kOneMinusSrcAlpha,
            .src_alpha = BlendFactor::kSrcAlpha,
            .dst_alpha = BlendFactor::kOneMinusSrcAlpha};
  }
};

struct ColorBlend {
  absl::Span<const BlendTarget> targets = {};  // up to 8; none: no colour is written
  // Replaces blending of all targets: the bits of integers and normalized colours.
  bool logic_op_enable = false;
  LogicOp logic_op = LogicOp::kCopy;
  bool alpha_to_coverage = false, alpha_to_coverage_dither = false;
  bool alpha_to_one = false;
  bool dither = false;
  // OpenGL's alpha test, with the reference of ColorConstants.
  bool alpha_test = false;
  Compare alpha_compare = Compare::kAlways;
};

// Values that change more often than pipelines: the constants of blending, and references.
struct ColorConstants {
  std::array<float, 4> blend = {};  // red, green, blue, alpha
  float alpha_reference = 0;
  // Gfx8: those of DepthStencil. Later generations have them in its packet: here they must be 0.
  uint32_t front_stencil_reference = 0, back_stencil_reference = 0;

  friend bool operator==(const ColorConstants&, const ColorConstants&) = default;
};

enum class StencilOp : uint8_t {
  kKeep,
  kZero,
  kReplace,
  kIncrementAndClamp,
  kDecrementAndClamp,
  kInvert,
  kIncrementAndWrap,
  kDecrementAndWrap,
};

struct StencilFace {
  StencilOp fail = StencilOp::kKeep;        // the stencil test fails
  StencilOp depth_fail = StencilOp::kKeep;  // only the depth test fails
  StencilOp pass = StencilOp::kKeep;        // both pass
  Compare compare = Compare::kAlways;       // of the reference with the stored value
  uint8_t compare_mask = 0xff, write_mask = 0xff;
  uint8_t reference = 0;  // on Gfx8 in ColorConstants

  friend bool operator==(const StencilFace&, const StencilFace&) = default;
};

struct DepthStencil {
  bool depth_test = false;
  bool depth_write = false;  // with depth_test only, as in all APIs
  Compare depth_compare = Compare::kAlways;
  bool stencil_test = false;
  StencilFace front = {}, back = {};
  // The stored depth must be in these bounds: from Gfx12 on.
  bool bounds_test = false;
  float min_bound = 0, max_bound = 1;
};

// The factors of a target as hardware needs them: it multiplies for minimum and maximum, too, which
// APIs do not; and a second colour's alpha is not affected by alpha_to_one.
struct HardwareFactors {
  BlendFactor src_color, dst_color, src_alpha, dst_alpha;
  bool second_color = false;  // any of them needs the shader's second colour
};
HardwareFactors HardwareFactorsOf(const BlendTarget& target, bool alpha_to_one);

namespace output_errors {
absl::Status Targets(size_t count);
absl::Status WriteMask(size_t target, uint32_t mask);
absl::Status SecondColor(size_t target);
absl::Status NoBounds(const char* generation);
absl::Status Bounds(float least, float most);
absl::Status StencilReference(const char* generation);
absl::Status ConstantStencilReference(const char* generation);
}  // namespace output_errors

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_PIPELINE_OUTPUT_H_
