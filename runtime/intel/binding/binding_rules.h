// Where binding tables are, and how pointers reach them. runtime/intel/device/generation_facts.h
// has the numbers of each generation.
//
// Pointers to binding tables have few bits: they are offsets from a base, and reach one block of
// tables after it. When the block is full, the base moves. There are two arrangements; Mesa's iris
// uses the first and anv the second:
//
//   kBinder   one large block for each context, at most as large as pointers reach
//   kBlocks   small blocks in the gigabyte before all surface states
//
// Up to Gfx9 (with kBlocks up to Gfx12) the base is that of the surface states: entries of tables
// are offsets from it, too, and change when it moves. After that tables have their own base.

#ifndef PACKSMITH_RUNTIME_INTEL_BINDING_BINDING_RULES_H_
#define PACKSMITH_RUNTIME_INTEL_BINDING_BINDING_RULES_H_

#include <cstdint>

#include "runtime/intel/device/generation_facts.h"

namespace packsmith::intel {

enum class BindingModel : uint8_t { kBinder, kBlocks };

// With kBinder, a pointer of 0 means no table.
constexpr const BindingRules& BindingRulesOf(BindingModel model, const GenerationFacts& facts) {
  return model == BindingModel::kBinder ? facts.binder : facts.blocks;
}

// The range of offsets of surface states from a base, in bytes.
inline constexpr uint64_t kSurfaceReach = uint64_t{1} << 32;

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BINDING_BINDING_RULES_H_
