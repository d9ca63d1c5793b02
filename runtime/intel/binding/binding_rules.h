// Where binding tables lie and how pointers reach them. The numbers of each generation are in
// runtime/intel/device/facts.h.
//
// Pointers to binding tables have few bits: they count from a base, and reach a block of tables
// behind it. When the block is full the base moves on. Two ways to arrange that are known, Mesa's
// iris has the first and anv the second:
//
//   kBinder   one large block for each context, as far as pointers reach or is enough
//   kBlocks   small blocks in the gigabyte before all surface states
//
// Up to Gfx9 (with kBlocks up to Gfx12) the base is that of the surface states: entries of tables
// count from it, too, and change when it moves. From then on tables have a base of their own.

#ifndef PACKSMITH_RUNTIME_INTEL_BINDING_BINDING_RULES_H_
#define PACKSMITH_RUNTIME_INTEL_BINDING_BINDING_RULES_H_

#include <cstdint>

#include "runtime/intel/device/facts.h"

namespace packsmith::intel {

enum class BindingModel : uint8_t { kBinder, kBlocks };

// A pointer that is 0 counts as none with kBinder.
constexpr const BindingRules& BindingRulesOf(BindingModel model, const GenerationFacts& facts) {
  return model == BindingModel::kBinder ? facts.binder : facts.blocks;
}

// Of a table. Shaders number surfaces by 8 bits, of which the highest have meanings of their own.
inline constexpr uint32_t kMostSurfaces = 240;

// How far offsets of surface states reach from a base, in bytes.
inline constexpr uint64_t kSurfaceReach = uint64_t{1} << 32;

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BINDING_BINDING_RULES_H_
