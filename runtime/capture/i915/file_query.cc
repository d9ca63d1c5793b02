// QUERY: what the device has, in structures of any size.
#include <cstring>
#include <vector>

#include "runtime/capture/i915/file.h"

namespace packsmith::capture::i915 {

namespace api = uapi::i915;

namespace {

using Bytes = std::vector<uint8_t>;

template <typename T>
void Append(Bytes& bytes, const T& value) {
  const auto* const begin = reinterpret_cast<const uint8_t*>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof(T));
}

void AppendBits(Bytes& bytes, uint64_t mask, size_t size) {
  for (size_t i = 0; i < size; ++i) bytes.push_back(static_cast<uint8_t>(mask >> (8 * i)));
}

// Slices, subslices and execution units, each as bit masks.
Bytes TopologyBytes(const Topology& topology) {
  const auto bytes_of = [](unsigned bits) { return static_cast<uint16_t>((bits + 7) / 8); };
  const uint16_t slice_bytes = bytes_of(topology.max_slices);
  const uint16_t subslice_bytes = bytes_of(topology.max_subslices);
  const uint16_t eu_bytes = bytes_of(topology.max_eus);
  Bytes bytes;
  Append(bytes, api::query_topology_info{.flags = 0,
                                         .max_slices = topology.max_slices,
                                         .max_subslices = topology.max_subslices,
                                         .max_eus_per_subslice = topology.max_eus,
                                         .subslice_offset = slice_bytes,
                                         .subslice_stride = subslice_bytes,
                                         .eu_offset = static_cast<uint16_t>(
                                             slice_bytes + topology.max_slices * subslice_bytes),
                                         .eu_stride = eu_bytes});
  AppendBits(bytes, topology.slice_mask, slice_bytes);
  for (unsigned slice = 0; slice < topology.max_slices; ++slice) {
    AppendBits(bytes, topology.subslice_masks[slice], subslice_bytes);
  }
  const uint64_t eus = (uint64_t{1} << topology.eus) - 1;
  for (unsigned slice = 0; slice < topology.max_slices; ++slice) {
    for (unsigned subslice = 0; subslice < topology.max_subslices; ++subslice) {
      const bool there = (topology.subslice_masks[slice] >> subslice & 1) != 0;
      AppendBits(bytes, there ? eus : 0, eu_bytes);
    }
  }
  return bytes;
}

Bytes EngineBytes(const DeviceInfo& info) {
  Bytes bytes;
  api::query_engine_info head = {};
  head.num_engines = static_cast<uint32_t>(info.engines.size());
  Append(bytes, head);
  for (const EngineInfo& engine : info.engines) {
    api::engine_info one = {};
    one.engine = {static_cast<uint16_t>(engine.engine_class), engine.instance};
    one.flags = api::kEngineHasLogicalInstance;
    one.capabilities = engine.capabilities;
    one.logical_instance = engine.instance;
    Append(bytes, one);
  }
  return bytes;
}

Bytes MemoryBytes(const DeviceInfo& info) {
  Bytes bytes;
  api::query_memory_regions head = {};
  head.num_regions = info.discrete() ? 2 : 1;
  Append(bytes, head);
  // What is unallocated is root's to know; others are told of all.
  api::memory_region_info system = {};
  system.region = {api::kMemorySystem, 0};
  system.probed_size = system.unallocated_size = kSystemMemoryBytes;
  system.probed_cpu_visible_size = system.unallocated_cpu_visible_size = kSystemMemoryBytes;
  Append(bytes, system);
  if (info.discrete()) {
    api::memory_region_info local = {};
    local.region = {api::kMemoryDevice, 0};
    local.probed_size = local.unallocated_size = info.vram_bytes;
    local.probed_cpu_visible_size = local.unallocated_cpu_visible_size = info.vram_visible_bytes;
    Append(bytes, local);
  }
  return bytes;
}

// Writes an answer whose head the caller must have cleared. The size of the answer, or a negative
// errno.
int32_t Give(const Caller& caller, const api::query_item& item, const Bytes& answer,
             size_t head_size) {
  const auto size = static_cast<int32_t>(answer.size());
  if (item.length == 0) return size;
  if (item.length < size) return -EINVAL;
  std::vector<uint8_t> head;
  if (const Result bad = caller.GetArray(item.data_ptr, head_size, head)) return bad;
  for (const uint8_t byte : head) {
    if (byte != 0) return -EINVAL;
  }
  return caller.memory()->Write(item.data_ptr, answer) ? size : -EFAULT;
}

int32_t PerfConfigs(const Caller& caller, const Traits& traits, const api::query_item& item) {
  if (!traits.perf) return -ENODEV;
  // The one that every kernel has, to test the counters.
  constexpr uint64_t kTestConfig = 1;
  switch (item.flags) {
    case api::kPerfConfigList: {
      constexpr int32_t kSize = sizeof(api::query_perf_config) + sizeof(kTestConfig);
      if (item.length == 0) return kSize;
      if (item.length < kSize) return -EINVAL;
      api::query_perf_config head = {};
      if (const Result bad = caller.Get(item.data_ptr, head)) return bad;
      if (head.flags != 0) return -EINVAL;
      head.n_configs = 1;
      if (const Result bad = caller.Put(item.data_ptr, head.n_configs)) return bad;
      if (const Result bad = caller.Put(item.data_ptr + sizeof(head), kTestConfig)) return bad;
      return kSize;
    }
    case api::kPerfConfigDataForUuid:
    case api::kPerfConfigDataForId: {
      // Of its registers nothing is known: it has none.
      constexpr int32_t kSize = sizeof(api::query_perf_config) + sizeof(api::perf_oa_config);
      if (item.length == 0) return kSize;
      if (item.length < kSize) return -EINVAL;
      api::query_perf_config head = {};
      if (const Result bad = caller.Get(item.data_ptr, head)) return bad;
      if (head.flags != 0) return -EINVAL;
      return -ENOENT;
    }
    default:
      return -EINVAL;
  }
}

}  // namespace

Result I915File::Query(Caller& caller, api::query& args) {
  if (args.flags != 0) return -EINVAL;
  const DeviceInfo& info = device_.info();
  const auto answer = [&](const api::query_item& item) -> int32_t {
    switch (item.query_id) {
      case api::kQueryTopologyInfo:
        if (item.flags != 0) return -EINVAL;
        if (!info.reports_topology()) return -ENODEV;
        return Give(caller, item, TopologyBytes(info.topology), sizeof(uint16_t));
      case api::kQueryEngineInfo:
        if (item.flags != 0) return -EINVAL;
        return Give(caller, item, EngineBytes(info), sizeof(api::query_engine_info));
      case api::kQueryPerfConfig:
        return PerfConfigs(caller, traits_, item);
      case api::kQueryMemoryRegions:
        if (item.flags != 0) return -EINVAL;
        return Give(caller, item, MemoryBytes(info), sizeof(api::query_memory_regions));
      case api::kQueryGeometrySubslices: {
        if (traits_.version < 1250) return -ENODEV;
        const auto engine_class = static_cast<uint16_t>(item.flags);
        const EngineInfo* const engine =
            device_.FindEngine(engine_class, static_cast<uint16_t>(item.flags >> 16));
        if (engine == nullptr || engine->engine_class != EngineClass::kRender) return -EINVAL;
        return Give(caller, item, TopologyBytes(info.topology), sizeof(uint16_t));
      }
      case api::kQueryGucSubmissionVersion: {
        if (!traits_.guc) return -ENODEV;
        Bytes bytes;
        Append(bytes,
               api::query_guc_submission_version{.branch = 0, .major = 1, .minor = 9, .patch = 0});
        return Give(caller, item, bytes, bytes.size());
      }
      case api::kQueryHwconfigBlob:
        // The table is in a firmware that nobody may redistribute in this form.
        return -ENODEV;
      default:
        return -EINVAL;
    }
  };
  for (uint32_t i = 0; i < args.num_items; ++i) {
    const uint64_t address = args.items_ptr + uint64_t{i} * sizeof(api::query_item);
    api::query_item item = {};
    if (const Result bad = caller.Get(address, item)) return bad;
    if (item.query_id == 0) return -EINVAL;
    const int32_t length = answer(item);
    if (length == item.length) continue;
    if (const Result bad = caller.Put(address + offsetof(api::query_item, length), length)) {
      return bad;
    }
  }
  return 0;
}

}  // namespace packsmith::capture::i915
