#include "runtime/intel/pipeline/output.h"

#include "absl/strings/str_cat.h"

namespace packsmith::intel {
namespace {

BlendFactor WithAlphaOne(BlendFactor factor) {
  if (factor == BlendFactor::kSrc1Alpha) return BlendFactor::kOne;
  if (factor == BlendFactor::kOneMinusSrc1Alpha) return BlendFactor::kZero;
  return factor;
}

}  // namespace

HardwareFactors HardwareFactorsOf(const BlendTarget& target, bool alpha_to_one) {
  const auto factor = [&](BlendFactor from, BlendOp op) {
    if (op == BlendOp::kMin || op == BlendOp::kMax) return BlendFactor::kOne;
    return alpha_to_one ? WithAlphaOne(from) : from;
  };
  HardwareFactors factors{.src_color = factor(target.src_color, target.color_op),
                          .dst_color = factor(target.dst_color, target.color_op),
                          .src_alpha = factor(target.src_alpha, target.alpha_op),
                          .dst_alpha = factor(target.dst_alpha, target.alpha_op)};
  for (BlendFactor used :
       {factors.src_color, factors.dst_color, factors.src_alpha, factors.dst_alpha}) {
    factors.second_color |= used >= BlendFactor::kSrc1Color;
  }
  return factors;
}

namespace output_errors {

absl::Status Targets(size_t count) {
  return absl::InvalidArgumentError(
      absl::StrCat(count, " targets of blending; there can be at most ", kMostBlendTargets));
}

absl::Status WriteMask(size_t target, uint32_t mask) {
  return absl::InvalidArgumentError(absl::StrCat("target ", target, ": the write mask is ", mask,
                                                 "; it has four bits, red to alpha"));
}

absl::Status SecondColor(size_t target) {
  return absl::InvalidArgumentError(absl::StrCat(
      "target ", target,
      ": blending with a shader's second colour is possible for target 0 only, without others"));
}

absl::Status NoBounds(const char* generation) {
  return absl::InvalidArgumentError(
      absl::StrCat(generation, " has no depth bounds test; Gfx12 and later have it"));
}

absl::Status Bounds(float least, float most) {
  return absl::InvalidArgumentError(
      absl::StrCat("depth bounds ", least, " to ", most, "; the first must not exceed the second"));
}

absl::Status StencilReference(const char* generation) {
  return absl::InvalidArgumentError(
      absl::StrCat(generation,
                   " has stencil references in COLOR_CALC_STATE: set them in ColorConstants, and "
                   "leave those of DepthStencil at 0"));
}

absl::Status ConstantStencilReference(const char* generation) {
  return absl::InvalidArgumentError(
      absl::StrCat(generation,
                   " has stencil references in 3DSTATE_WM_DEPTH_STENCIL: set them in DepthStencil, "
                   "and leave those of ColorConstants at 0"));
}

}  // namespace output_errors
}  // namespace packsmith::intel
