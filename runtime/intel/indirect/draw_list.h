// Draws whose numbers lie in memory, as callers state them, and the ways in which they can be
// executed.
//
//   const DrawList list = {.arguments = {buffer.address, buffer.handle}, .draws = 50, .indexed =
//   true}; absl::StatusOr<DrawWay> way = ChooseDrawWay(list, {.has_kernel = true}, {});   // in
//   place
//
// Plain data, without a generation. IndirectDrawer (indirect_drawer.h) executes lists.

#ifndef PACKSMITH_RUNTIME_INTEL_INDIRECT_DRAW_LIST_H_
#define PACKSMITH_RUNTIME_INTEL_INDIRECT_DRAW_LIST_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "packsmith/pack.h"

namespace packsmith::intel {

// DrawArguments or IndexedDrawArguments of runtime/intel/batch/indirect.h, one after the other.
struct DrawList {
  address arguments = {};  // of the first draw: a multiple of 4, as all that follows
  uint32_t draws = 1;      // the most that there are
  uint32_t stride = 0;     // bytes from one draw's numbers to the next's; 0: without gaps
  bool indexed = false;
  // Address of a 32-bit count that limits the draws.
  std::optional<address> count = std::nullopt;
  // Only if MI_PREDICATE_RESULT is not 0.
  bool predicated = false;
  // Takes part in tile-based immediate-mode rendering, from Gfx12.5 on.
  bool tbimr = false;
  // What vertex shaders read of their draw: the first vertex (of an indexed draw the vertex offset)
  // and the first instance; the draw's number, from 0 on. From Gfx11 on 3DPRIMITIVE_EXTENDED has
  // both; before, the vertex buffers that IndirectDrawerOptions names.
  bool reads_base = false, reads_number = false;
  // Instance counts are multiplied by it: the views of multiview, for example.
  uint32_t instance_multiplier = 1;

  uint32_t Stride() const { return stride != 0 ? stride : ArgumentBytes(); }
  uint32_t ArgumentBytes() const { return indexed ? 20 : 16; }
};

enum class DrawWay : uint8_t {
  kNone,  // there are no draws
  // EXECUTE_INDIRECT_DRAW: one packet for all draws.
  kOnePacket,
  // The command streamer loads the numbers of each draw into registers, and waits for them.
  kClassic,
  // A kernel writes the draws into the batch, in room that is as long as all of them.
  kInPlace,
  // A kernel writes some draws at a time into a ring, until all have been executed.
  kRing,
};
const char* NameOf(DrawWay way);

// The numbers of draws from which on a way is worth its cost. Those of Mesa's anv are the default
// (generated_indirect_threshold, generated_indirect_ring_threshold).
struct DrawThresholds {
  uint32_t generated = 4;  // from here on in place
  uint32_t ring = 100;     // from here on in a ring; it is always one beyond kMostGeneratedDraws
};

// What the choice depends on, besides the draws.
struct DrawWayFacts {
  bool executes_indirect_draws = false;  // GenerationFacts::executes_indirect_draws
  bool has_kernel = false;
  // Of BatchOptions. A kernel writes jumps of first-level batches in the context's address space,
  // to addresses that do not change.
  bool second_level = false, relocations = false, global = false;
};

// One packet is chosen where it can express the draws; else a kernel, from as many draws as the
// thresholds say. Errors: InvalidArgument, a stride that is not a multiple of 4, or an instance
// multiplier of 0; FailedPrecondition, draws with a count that depend on a predicate, where no
// kernel can run: the classic way uses the predicate itself.
absl::StatusOr<DrawWay> ChooseDrawWay(const DrawList& list, const DrawWayFacts& facts,
                                      const DrawThresholds& thresholds);

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_INDIRECT_DRAW_LIST_H_
