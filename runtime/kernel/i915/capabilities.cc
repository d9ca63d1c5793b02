#include "runtime/kernel/i915/capabilities.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

namespace packsmith::gpu::i915 {
namespace {

namespace api = uapi::i915;

// Of HAS_ALIASING_PPGTT: contexts have page tables of their own.
constexpr int32_t kFullPpgtt = 2;
// Of MMAP_GTT_VERSION: there is MMAP_OFFSET.
constexpr int32_t kHasMapOffset = 4;

// Local memory is bound in pages of this size. Source: Linux, intel_memory_region.c.
constexpr uint64_t kLocalPage = 64 << 10;

// Bytes of a query's answer; those of today's kernels have a few hundred.
constexpr int32_t kMostAnswer = 1 << 20;

struct ClassName {
  absl::string_view name;
  uint16_t engine_class;
  uint32_t ring;
  api::Param present;  // of kernels without the query; 0: always
};
constexpr ClassName kClasses[] = {
    {"render", api::kClassRender, api::kRingRender, api::Param{}},
    {"copy", api::kClassCopy, api::kRingBlt, api::kParamHasBlt},
    {"video", api::kClassVideo, api::kRingBsd, api::kParamHasBsd},
    {"video-enhance", api::kClassVideoEnhance, api::kRingVebox, api::kParamHasVebox},
    {"compute", api::kClassCompute, api::kRingDefault, api::Param{}},
};

// What a kernel answers that does not know a parameter or a query, or whose device has nothing of
// the kind.
bool IsAbsent(int error) { return error == EINVAL || error == ENODEV || error == EOPNOTSUPP; }

class Asker {
 public:
  explicit Asker(const Calls& calls) : calls_(calls) {}

  absl::StatusOr<Capabilities> Ask();

 private:
  // 0 if the kernel does not know it.
  absl::StatusOr<int32_t> Param(api::Param param);
  absl::Status Flag(api::Param param, bool& out);
  // The answer's bytes; empty: there is none.
  absl::StatusOr<std::vector<uint8_t>> Query(api::QueryId id, size_t head_size);
  absl::Status AskIdentity();
  absl::Status AskSubmission();
  absl::Status AskEngines();
  absl::Status AskRegions();
  absl::Status AskTopology();
  absl::Status AskSpace();
  absl::Status AskCaching();
  void SetHeaps();
  void AddEngine(uint16_t engine_class, uint16_t instance);

  const Calls& calls_;
  Capabilities out_;
};

absl::StatusOr<int32_t> Asker::Param(api::Param param) {
  int32_t value = 0;
  api::getparam args = {};
  args.param = param;
  args.value = reinterpret_cast<uintptr_t>(&value);
  const int result = calls_.Try(api::kGetparam, args);
  if (result >= 0) return value;
  if (IsAbsent(-result)) return 0;
  return calls_.Error(-result, absl::StrCat("GETPARAM ", static_cast<int>(param)));
}

absl::Status Asker::Flag(api::Param param, bool& out) {
  const absl::StatusOr<int32_t> value = Param(param);
  out = value.ok() && *value > 0;
  return value.status();
}

absl::StatusOr<std::vector<uint8_t>> Asker::Query(api::QueryId id, size_t head_size) {
  std::vector<uint8_t> bytes;
  // First for the size, then for the content.
  for (int pass = 0; pass < 2; ++pass) {
    api::query_item item = {};
    item.query_id = id;
    item.length = static_cast<int32_t>(bytes.size());
    item.data_ptr = reinterpret_cast<uintptr_t>(bytes.data());
    api::query args = {};
    args.num_items = 1;
    args.items_ptr = reinterpret_cast<uintptr_t>(&item);
    const int result = calls_.Try(api::kQuery, args);
    const int error = result < 0 ? -result : item.length < 0 ? -item.length : 0;
    if (IsAbsent(error)) return std::vector<uint8_t>();
    if (error != 0) return calls_.Error(error, absl::StrCat("QUERY ", static_cast<int>(id)));
    if (item.length > kMostAnswer) {
      return absl::InternalError(absl::StrCat(calls_.path(), ": QUERY ", static_cast<int>(id),
                                              " is answered by ", item.length, " bytes"));
    }
    if (pass == 0) bytes.resize(static_cast<size_t>(item.length));
  }
  if (bytes.size() < head_size) bytes.clear();
  return bytes;
}

// The structure at an offset of an answer; zeros beyond its end.
template <typename T>
T At(const std::vector<uint8_t>& bytes, size_t offset) {
  T value = {};
  if (offset <= bytes.size() && bytes.size() - offset >= sizeof(T)) {
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
  }
  return value;
}

absl::Status Asker::AskIdentity() {
  DeviceProperties& properties = out_.properties;
  properties.driver = "i915";
  const absl::StatusOr<int32_t> id = Param(api::kParamChipsetId);
  if (!id.ok()) return id.status();
  properties.pci_id = static_cast<uint16_t>(*id);
  const absl::StatusOr<int32_t> revision = Param(api::kParamRevision);
  if (!revision.ok()) return revision.status();
  properties.revision = static_cast<uint16_t>(*revision);
  const absl::StatusOr<int32_t> hertz = Param(api::kParamCsTimestampFrequency);
  if (!hertz.ok()) return hertz.status();
  properties.timestamp_hertz = static_cast<uint32_t>(*hertz);
  return absl::OkStatus();
}

absl::Status Asker::AskSubmission() {
  bool has_fences = false, has_softpin = false;
  const std::pair<api::Param, bool*> flags[] = {
      {api::kParamHasExecFenceArray, &has_fences},
      {api::kParamHasExecSoftpin, &has_softpin},
      {api::kParamHasExecBatchFirst, &out_.has_batch_first},
      {api::kParamHasExecAsync, &out_.has_async},
      {api::kParamHasExecCapture, &out_.has_capture},
      {api::kParamHasExecTimelineFences, &out_.has_timeline_fences},
      {api::kParamHasUserptrProbe, &out_.has_user_probe},
      {api::kParamNumFencesAvail, &out_.has_fences},
  };
  for (const auto& [param, out] : flags) {
    const absl::Status status = Flag(param, *out);
    if (!status.ok()) return status;
  }
  const absl::StatusOr<int32_t> maps = Param(api::kParamMmapGttVersion);
  if (!maps.ok()) return maps.status();
  out_.has_map_offset = *maps >= kHasMapOffset;
  const absl::StatusOr<int32_t> ppgtt = Param(api::kParamHasAliasingPpgtt);
  if (!ppgtt.ok()) return ppgtt.status();
  out_.has_spaces = *ppgtt >= kFullPpgtt;
  out_.properties.moves_memory = !out_.has_spaces;
  const absl::StatusOr<int32_t> scheduler = Param(api::kParamHasScheduler);
  if (!scheduler.ok()) return scheduler.status();
  out_.properties.has_priorities = (*scheduler & api::kSchedulerPriority) != 0;
  if (!has_fences || !has_softpin) {
    return absl::FailedPreconditionError(
        absl::StrCat(calls_.path(),
                     ": the kernel cannot order submissions by syncobjs, or has no fixed "
                     "addresses; Linux 4.14 or later is required"));
  }
  return absl::OkStatus();
}

void Asker::AddEngine(uint16_t engine_class, uint16_t instance) {
  const auto* const known =
      std::find_if(std::begin(kClasses), std::end(kClasses),
                   [&](const ClassName& name) { return name.engine_class == engine_class; });
  if (known == std::end(kClasses)) return;
  std::vector<DeviceProperties::Engine>& named = out_.properties.engines;
  size_t i = 0;
  while (i < named.size() && named[i].name != known->name) ++i;
  if (i == named.size()) {
    named.push_back({std::string(known->name), 0});
    out_.engines.push_back({known->ring, {}});
  }
  ++named[i].count;
  out_.engines[i].instances.push_back({engine_class, instance});
}

absl::Status Asker::AskEngines() {
  const auto bytes = Query(api::kQueryEngineInfo, sizeof(api::query_engine_info));
  if (!bytes.ok()) return bytes.status();
  const uint32_t count = At<api::query_engine_info>(*bytes, 0).num_engines;
  for (uint32_t i = 0; i < count; ++i) {
    const size_t offset = sizeof(api::query_engine_info) + size_t{i} * sizeof(api::engine_info);
    if (offset + sizeof(api::engine_info) > bytes->size()) break;
    const auto engine = At<api::engine_info>(*bytes, offset).engine;
    AddEngine(engine.engine_class, engine.engine_instance);
  }
  if (!out_.engines.empty()) return absl::OkStatus();
  // Kernels without the query name the engines one by one.
  AddEngine(api::kClassRender, 0);
  for (const ClassName& name : kClasses) {
    if (name.present == api::Param{}) continue;
    bool present = false;
    const absl::Status status = Flag(name.present, present);
    if (!status.ok()) return status;
    if (present) AddEngine(name.engine_class, 0);
  }
  return absl::OkStatus();
}

absl::Status Asker::AskRegions() {
  const auto bytes = Query(api::kQueryMemoryRegions, sizeof(api::query_memory_regions));
  if (!bytes.ok()) return bytes.status();
  const uint32_t count = At<api::query_memory_regions>(*bytes, 0).num_regions;
  for (uint32_t i = 0; i < count; ++i) {
    const size_t offset =
        sizeof(api::query_memory_regions) + size_t{i} * sizeof(api::memory_region_info);
    if (offset + sizeof(api::memory_region_info) > bytes->size()) break;
    const auto region = At<api::memory_region_info>(*bytes, offset);
    const bool system = region.region.memory_class == api::kMemorySystem;
    // Kernels before 6.0 do not say what CPUs can map: it is all.
    const uint64_t visible = system || region.probed_cpu_visible_size == 0
                                 ? region.probed_size
                                 : region.probed_cpu_visible_size;
    out_.properties.regions.push_back(
        {.system = system, .size = region.probed_size, .visible = visible});
    if (system) continue;
    out_.properties.discrete = true;
    out_.properties.page = kLocalPage;
    if (visible < region.probed_size) out_.cpu_sees_all_local = false;
  }
  return absl::OkStatus();
}

absl::Status Asker::AskTopology() {
  const auto answer = Query(api::kQueryTopologyInfo, sizeof(api::query_topology_info));
  if (!answer.ok()) return answer.status();
  const std::vector<uint8_t>& bytes = *answer;
  const auto head = At<api::query_topology_info>(bytes, 0);
  // The masks must be in the answer, and each as long as what it is of.
  const size_t masks = bytes.empty() ? 0 : bytes.size() - sizeof(head);
  const size_t subslices = size_t{head.max_slices} * head.max_subslices;
  if (size_t{head.subslice_offset} * 8 < head.max_slices ||
      size_t{head.subslice_stride} * 8 < head.max_subslices ||
      size_t{head.eu_stride} * 8 < head.max_eus_per_subslice ||
      head.subslice_offset + size_t{head.max_slices} * head.subslice_stride > masks ||
      head.eu_offset + subslices * head.eu_stride > masks) {
    return absl::InternalError(
        absl::StrCat(calls_.path(), ": the topology that the kernel answers has ", bytes.size(),
                     " bytes, which is not what its head says"));
  }
  // Bit `index` of a mask that begins at `offset`, after the head.
  const auto bit = [&](size_t offset, unsigned index) {
    const auto byte = At<uint8_t>(bytes, sizeof(head) + offset + index / 8);
    return (byte >> (index % 8) & 1) != 0;
  };
  for (unsigned slice = 0; slice < head.max_slices; ++slice) {
    if (!bit(0, slice)) continue;
    DeviceProperties::Slice& made = out_.properties.slices.emplace_back();
    for (unsigned subslice = 0; subslice < head.max_subslices; ++subslice) {
      if (!bit(head.subslice_offset + size_t{slice} * head.subslice_stride, subslice)) continue;
      const size_t place = size_t{slice} * head.max_subslices + subslice;
      unsigned eus = 0;
      for (unsigned eu = 0; eu < head.max_eus_per_subslice; ++eu) {
        if (bit(head.eu_offset + place * head.eu_stride, eu)) ++eus;
      }
      made.eus.push_back(eus);
    }
  }
  return absl::OkStatus();
}

absl::Status Asker::AskSpace() {
  api::gem_context_param args = {};
  args.param = api::kContextGttSize;
  const absl::Status status = calls_.Do("GEM_CONTEXT_GETPARAM", api::kGemContextGetparam, args);
  if (!status.ok()) return status;
  out_.properties.address_space = args.value;
  // Addresses of page tables that have fewer bits are written in the form of 48, too.
  out_.properties.address_bits = out_.has_spaces ? 48 : 32;
  return absl::OkStatus();
}

absl::Status Asker::AskCaching() {
  const absl::Status status = Flag(api::kParamHasLlc, out_.cached_at_first);
  if (!status.ok()) return status;
  if (out_.properties.discrete) return absl::OkStatus();  // always coherent
  out_.caching = CachingBy::kCall;
  if (out_.cached_at_first) return absl::OkStatus();
  // Whether the GPU can look into the CPU's caches is found by asking for it.
  api::gem_create create = {};
  create.size = 4096;
  absl::Status tried = calls_.Do("GEM_CREATE", api::kGemCreate, create);
  if (!tried.ok()) return tried;
  api::gem_caching set = {.handle = create.handle, .caching = api::kCachingCached};
  const int result = calls_.Try(api::kGemSetCaching, set);
  if (result == -ENODEV) {
    out_.properties.coherent = false;
  } else if (result == -EOPNOTSUPP) {
    out_.caching = CachingBy::kPageTable;
  } else if (result < 0) {
    tried = calls_.Error(-result, "GEM_SET_CACHING");
  }
  const absl::Status closed = calls_.CloseObject(create.handle);
  return tried.ok() ? closed : tried;
}

void Asker::SetHeaps() {
  const bool discrete = out_.properties.discrete;
  const std::pair<Heap, bool> heaps[] = {
      {Heap::kSystem, true},
      // The kernel alone chooses how system memory of discrete GPUs is cached.
      {Heap::kSystemUncached, !discrete},
      {Heap::kLocal, discrete},
      {Heap::kLocalVisible, discrete},
      {Heap::kLocalPreferred, discrete},
      {Heap::kLocalCompressed, discrete},
  };
  // The kernel maps it as it maps all system memory of discrete GPUs. Source: i915_drm.h
  // (I915_MMAP_OFFSET_FIXED).
  out_.properties.caches_scanout = discrete;
  for (const auto& [heap, has] : heaps) out_.properties.has_heap[static_cast<int>(heap)] = has;
}

absl::StatusOr<Capabilities> Asker::Ask() {
  absl::Status status = AskIdentity();
  if (status.ok()) status = AskSubmission();
  if (status.ok()) status = AskEngines();
  if (status.ok()) status = AskRegions();
  if (status.ok()) status = AskTopology();
  if (status.ok()) status = AskSpace();
  if (status.ok()) status = AskCaching();
  if (!status.ok()) return status;
  out_.captures_if_recoverable = !out_.properties.discrete && out_.caching != CachingBy::kPageTable;
  SetHeaps();
  return std::move(out_);
}

}  // namespace

absl::StatusOr<Capabilities> AskCapabilities(const Calls& calls) { return Asker(calls).Ask(); }

std::optional<size_t> FindEngine(const Capabilities& capabilities, absl::string_view name) {
  if (name == "blitter") name = "copy";
  const std::vector<DeviceProperties::Engine>& engines = capabilities.properties.engines;
  for (size_t i = 0; i < engines.size(); ++i) {
    if (engines[i].name == name) return i;
  }
  return std::nullopt;
}

}  // namespace packsmith::gpu::i915
