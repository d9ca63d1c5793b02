// Where binding tables lie and how pointers reach them, generation by generation.
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

#ifndef PACKSMITH_RUNTIME_BINDING_BINDING_RULES_H_
#define PACKSMITH_RUNTIME_BINDING_BINDING_RULES_H_

#include <cstdint>

namespace packsmith::gpu {

enum class BindingModel : uint8_t { kBinder, kBlocks };

struct BindingRules {
  BindingModel model;
  unsigned from, to;       // versions times ten, both included
  uint32_t block;          // bytes that tables have from one base
  uint32_t alignment;      // of tables, in bytes
  unsigned pointer_shift;  // pointers hold the offset without so many bits
  bool own_base;           // that of 3DSTATE_BINDING_TABLE_POOL_ALLOC
  uint32_t first;          // offset of the first table
};

// A pointer that is 0 counts as none with kBinder.
inline constexpr BindingRules kBindingRules[] = {
    {BindingModel::kBinder, 80, 90, 64 << 10, 32, 0, false, 32},
    {BindingModel::kBinder, 110, 120, 512 << 10, 256, 3, true, 256},
    {BindingModel::kBinder, 125, 300, 1 << 20, 32, 0, true, 32},
    {BindingModel::kBlocks, 80, 120, 64 << 10, 32, 0, false, 0},
    {BindingModel::kBlocks, 125, 300, 64 << 10, 32, 0, true, 0},
};

constexpr BindingRules BindingRulesOf(BindingModel model, unsigned version) {
  for (const BindingRules& rules : kBindingRules) {
    if (rules.model == model && rules.from <= version && version <= rules.to) return rules;
  }
  return {};
}

// Of a table. Shaders number surfaces by 8 bits, of which the highest have meanings of their own.
inline constexpr uint32_t kMostSurfaces = 240;

// How far offsets of surface states reach from a base, in bytes.
inline constexpr uint64_t kSurfaceReach = uint64_t{1} << 32;

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_BINDING_BINDING_RULES_H_
