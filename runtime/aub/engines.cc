#include "runtime/aub/engines.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace packsmith::aub {
namespace {

// Registers of the engines of another tile are this far above those of the first one.
// Source: intel/aubstream, command_streamer_helper.cpp.
constexpr uint32_t kTileStride = 0x1000000;
constexpr uint32_t kMostTiles = 4;

// Engines after the first one of their class.
// Sources: Linux, drivers/gpu/drm/i915/i915_reg.h (*_RING_BASE), drivers/gpu/drm/xe/regs/
// xe_engine_regs.h; intel/aubstream, command_streamer_helper.cpp.
struct Instance {
  absl::string_view alias;  // of the class
  uint32_t first;           // where the class's first engine has its registers
  uint32_t number, base;
};
constexpr Instance kInstances[] = {
    {"vcs", 0x12000, 1, 0x1c000},    {"vcs", 0x1c0000, 1, 0x1c4000},
    {"vcs", 0x1c0000, 2, 0x1d0000},  {"vcs", 0x1c0000, 3, 0x1d4000},
    {"vcs", 0x1c0000, 4, 0x1e0000},  {"vcs", 0x1c0000, 5, 0x1e4000},
    {"vcs", 0x1c0000, 6, 0x1f0000},  {"vcs", 0x1c0000, 7, 0x1f4000},
    {"vecs", 0x1c8000, 1, 0x1d8000}, {"vecs", 0x1c8000, 2, 0x1e8000},
    {"vecs", 0x1c8000, 3, 0x1f8000}, {"ccs", 0x1a000, 1, 0x1c000},
    {"ccs", 0x1a000, 2, 0x1e000},    {"ccs", 0x1a000, 3, 0x26000},
    {"bcs", 0x22000, 1, 0x3e0000},   {"bcs", 0x22000, 2, 0x3e2000},
    {"bcs", 0x22000, 3, 0x3e4000},   {"bcs", 0x22000, 4, 0x3e6000},
    {"bcs", 0x22000, 5, 0x3e8000},   {"bcs", 0x22000, 6, 0x3ea000},
    {"bcs", 0x22000, 7, 0x3ec000},   {"bcs", 0x22000, 8, 0x3ee000},
};

// Mesa's recordings have the first video engine here on all generations.
// Source: Mesa 24.3, src/intel/tools/aub_write.c.
constexpr uint32_t kVideoOfMesa = 0x12000;

const tables::Engine* Find(const tables::Tables& tables, absl::string_view name) {
  const uint32_t found = tables.FindEngine(name);
  return found == tables::kNone ? nullptr : &tables.engines()[found];
}

std::string EngineOfTile(const tables::Tables& tables, uint32_t base) {
  for (const tables::Engine& engine : tables.engines()) {
    if (engine.registers == base && base != 0) return std::string(tables.string(engine.name));
  }
  for (const Instance& one : kInstances) {
    const tables::Engine* const engine = Find(tables, one.alias);
    if (one.base == base && engine != nullptr && engine->registers == one.first) {
      return absl::StrCat(one.alias, one.number);
    }
  }
  const tables::Engine* const video = Find(tables, "vcs");
  return base == kVideoOfMesa && video != nullptr ? std::string(tables.string(video->name)) : "";
}

}  // namespace

std::string EngineAt(const tables::Tables& tables, uint32_t base) {
  const uint32_t tile = base / kTileStride;
  if (tile >= kMostTiles) return "";
  std::string name = EngineOfTile(tables, base % kTileStride);
  if (tile != 0 && !name.empty()) absl::StrAppend(&name, ":", tile);
  return name;
}

absl::string_view ClassOf(const tables::Tables& tables, absl::string_view engine) {
  engine = engine.substr(0, engine.find(':'));
  const tables::Engine* found = Find(tables, engine);
  // What dumps call it, if its kernel did not name it.
  if (found == nullptr && engine == "copy") found = Find(tables, "bcs");
  return found == nullptr ? absl::string_view() : tables.string(found->name);
}

std::optional<uint32_t> BaseOfEngine(const tables::Tables& tables, absl::string_view engine) {
  const absl::string_view name = ClassOf(tables, engine);
  if (name.empty()) return std::nullopt;
  const uint32_t first = Find(tables, name)->registers;
  const size_t colon = engine.find(':');
  uint32_t tile = 0;
  if (colon != absl::string_view::npos &&
      (!absl::SimpleAtoi(engine.substr(colon + 1), &tile) || tile >= kMostTiles)) {
    return std::nullopt;
  }
  for (const Instance& one : kInstances) {
    if (one.first == first && engine.substr(0, colon) == absl::StrCat(one.alias, one.number) &&
        Find(tables, one.alias)->registers == one.first) {
      return one.base + tile * kTileStride;
    }
  }
  return first + tile * kTileStride;
}

}  // namespace packsmith::aub
