#include "runtime/intel/indirect/draw_list.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/intel/batch/generated_draws.h"
#include "runtime/intel/batch/indirect.h"

namespace packsmith::intel {

static_assert(sizeof(DrawArguments) == 16 && sizeof(IndexedDrawArguments) == 20,
              "DrawList::ArgumentBytes()");

const char* NameOf(DrawWay way) {
  switch (way) {
    case DrawWay::kNone:
      return "none";
    case DrawWay::kOnePacket:
      return "one packet";
    case DrawWay::kClassic:
      return "classic";
    case DrawWay::kInPlace:
      return "in place";
    case DrawWay::kRing:
      return "ring";
  }
  return "unknown";
}

absl::StatusOr<DrawWay> ChooseDrawWay(const DrawList& list, const DrawWayFacts& facts,
                                      const DrawThresholds& thresholds) {
  if (list.stride % 4 != 0) {
    return absl::InvalidArgumentError(absl::StrCat("the stride of draws in memory is ", list.stride,
                                                   " bytes; it must be a multiple of 4"));
  }
  if (list.instance_multiplier == 0) {
    return absl::InvalidArgumentError(
        "the instance counts of draws in memory are multiplied by 0; it must be at least 1");
  }
  if (list.draws == 0) return DrawWay::kNone;
  if (facts.executes_indirect_draws && list.Stride() == list.ArgumentBytes() && !list.reads_base &&
      !list.reads_number && list.instance_multiplier == 1) {
    return DrawWay::kOnePacket;
  }
  const bool can_generate =
      facts.has_kernel && !facts.second_level && !facts.relocations && !facts.global;
  const bool must_generate = list.predicated && list.count.has_value();
  if (can_generate && (must_generate || list.draws >= thresholds.generated)) {
    return list.draws >= thresholds.ring || list.draws > kMostGeneratedDraws ? DrawWay::kRing
                                                                             : DrawWay::kInPlace;
  }
  if (must_generate) {
    return absl::FailedPreconditionError(absl::StrCat(
        "draws with a count in memory cannot depend on a predicate without a kernel that writes "
        "them: ",
        !facts.has_kernel    ? "state a kernel"
        : facts.second_level ? "record them in a first-level batch"
                             : "record them in a batch without relocations, in the context's own "
                               "address space"));
  }
  return DrawWay::kClassic;
}

}  // namespace packsmith::intel
