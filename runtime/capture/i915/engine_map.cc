#include "runtime/capture/i915/engine_map.h"

#include <vector>

#include "runtime/capture/i915/extensions.h"
#include "runtime/kernel/uapi/i915.h"

namespace packsmith::capture::i915 {

namespace api = uapi::i915;

namespace {

// Reads the extensions of a list whose engines are known.
class ExtensionReader {
 public:
  ExtensionReader(const I915Device& device, const Caller& caller, EngineMap& map)
      : device_(device), caller_(caller), map_(map) {}

  Result Take(uint32_t name, uint64_t address) {
    switch (name) {
      case api::kEnginesLoadBalance:
        return LoadBalance(address);
      case api::kEnginesBond:
        return Bond(address);
      case api::kEnginesParallelSubmit:
        return ParallelSubmit(address);
      default:
        return -EINVAL;
    }
  }

 private:
  // The engines that follow a structure. All must exist.
  Result ReadEngines(uint64_t address, size_t count, std::vector<EngineInfo>& out) {
    std::vector<api::engine_class_instance> names;
    if (const Result bad = caller_.GetArray(address, count, names)) return bad;
    for (const api::engine_class_instance& name : names) {
      const EngineInfo* const engine = device_.FindEngine(name.engine_class, name.engine_instance);
      if (engine == nullptr) return -EINVAL;
      out.push_back(*engine);
    }
    return 0;
  }

  static bool SameClass(const std::vector<EngineInfo>& engines) {
    for (const EngineInfo& engine : engines) {
      if (engine.engine_class != engines[0].engine_class) return false;
    }
    return true;
  }

  Result LoadBalance(uint64_t address) {
    if (!device_.traits().execlists) return -ENODEV;
    api::context_engines_load_balance head = {};
    if (const Result bad = caller_.Get(address, head)) return bad;
    if (head.engine_index >= map_.engines.size()) return -EINVAL;
    ContextEngine& engine = map_.engines[head.engine_index];
    if (!engine.engines.empty()) return -EEXIST;
    if (head.flags != 0 || head.mbz64 != 0) return -EINVAL;
    if (head.num_siblings == 0) return 0;
    std::vector<EngineInfo> siblings;
    if (const Result bad = ReadEngines(address + sizeof(head), head.num_siblings, siblings)) {
      return bad;
    }
    if (!SameClass(siblings)) return -EINVAL;
    engine.engines = siblings;
    engine.is_virtual = siblings.size() > 1;
    return 0;
  }

  Result Bond(uint64_t address) {
    if (!device_.traits().bonds) return -ENODEV;
    api::context_engines_bond head = {};
    if (const Result bad = caller_.Get(address, head)) return bad;
    if (head.virtual_index >= map_.engines.size()) return -EINVAL;
    const ContextEngine& engine = map_.engines[head.virtual_index];
    if (engine.engines.empty() || engine.is_virtual || engine.width > 1) return -EINVAL;
    if (head.flags != 0) return -EINVAL;
    for (const uint64_t zero : head.mbz64) {
      if (zero != 0) return -EINVAL;
    }
    if (device_.FindEngine(head.master.engine_class, head.master.engine_instance) == nullptr) {
      return -EINVAL;
    }
    std::vector<EngineInfo> bonds;
    // Bonds of an engine that is not virtual have no effect.
    return ReadEngines(address + sizeof(head), head.num_bonds, bonds);
  }

  Result ParallelSubmit(uint64_t address) {
    if (!device_.traits().execlists) return -ENODEV;
    api::context_engines_parallel_submit head = {};
    if (const Result bad = caller_.Get(address, head)) return bad;
    if (!device_.traits().guc && head.num_siblings != 1) return -EINVAL;
    if (head.engine_index >= map_.engines.size()) return -EINVAL;
    ContextEngine& engine = map_.engines[head.engine_index];
    if (!engine.engines.empty()) return -EINVAL;
    if (head.flags != 0 || head.mbz16 != 0) return -EINVAL;
    for (const uint64_t zero : head.mbz64) {
      if (zero != 0) return -EINVAL;
    }
    if (head.width < 2 || head.num_siblings < 1) return -EINVAL;
    std::vector<EngineInfo> engines;
    const size_t count = size_t{head.width} * head.num_siblings;
    if (const Result bad = ReadEngines(address + sizeof(head), count, engines)) return bad;
    if (!SameClass(engines)) return -EINVAL;
    // Batches of these engines cannot wait for each other.
    if (engines[0].engine_class == EngineClass::kRender ||
        engines[0].engine_class == EngineClass::kCompute) {
      return -EINVAL;
    }
    // Batch i runs on an engine that follows the one of batch i - 1.
    for (size_t lane = 1; lane < head.width; ++lane) {
      for (size_t sibling = 0; sibling < head.num_siblings; ++sibling) {
        const EngineInfo& before = engines[(lane - 1) * head.num_siblings + sibling];
        const EngineInfo& after = engines[lane * head.num_siblings + sibling];
        if (after.instance != before.instance + 1) return -EINVAL;
      }
    }
    engine.engines = engines;
    engine.width = head.width;
    return 0;
  }

  const I915Device& device_;
  const Caller& caller_;
  EngineMap& map_;
};

}  // namespace

EngineMap RingEngines(const I915Device& device) {
  constexpr api::engine_class_instance kRings[] = {
      {api::kClassRender, 0}, {api::kClassRender, 0},       {api::kClassVideo, 0},
      {api::kClassCopy, 0},   {api::kClassVideoEnhance, 0}, {api::kClassVideo, 1}};
  EngineMap map;
  for (const api::engine_class_instance& ring : kRings) {
    ContextEngine& engine = map.engines.emplace_back();
    const EngineInfo* const found = device.FindEngine(ring.engine_class, ring.engine_instance);
    if (found != nullptr) engine.engines.push_back(*found);
  }
  return map;
}

Result ReadEngineMap(const I915Device& device, const Caller& caller, uint64_t address,
                     uint32_t size, EngineMap& out) {
  if (size < sizeof(api::context_param_engines)) return -EINVAL;
  const uint32_t bytes = size - static_cast<uint32_t>(sizeof(api::context_param_engines));
  if (bytes % sizeof(api::engine_class_instance) != 0) return -EINVAL;
  const uint32_t count = bytes / sizeof(api::engine_class_instance);
  if (count > api::kExecRingMask + 1) return -EINVAL;
  api::context_param_engines head = {};
  if (const Result bad = caller.Get(address, head)) return bad;
  std::vector<api::engine_class_instance> names;
  if (const Result bad = caller.GetArray(address + sizeof(head), count, names)) return bad;
  EngineMap map = {.own = true, .engines = std::vector<ContextEngine>(count)};
  for (uint32_t i = 0; i < count; ++i) {
    if (names[i].engine_class == api::kClassInvalid &&
        names[i].engine_instance == api::kInstanceInvalidNone) {
      continue;
    }
    const EngineInfo* const engine =
        device.FindEngine(names[i].engine_class, names[i].engine_instance);
    if (engine == nullptr) return -ENOENT;
    map.engines[i].engines.push_back(*engine);
  }
  ExtensionReader reader(device, caller, map);
  if (const Result bad = WalkExtensions(caller, head.extensions, [&](uint32_t name, uint64_t at) {
        return reader.Take(name, at);
      })) {
    return bad;
  }
  out = std::move(map);
  return 0;
}

}  // namespace packsmith::capture::i915
