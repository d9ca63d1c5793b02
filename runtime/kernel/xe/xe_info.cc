#include "runtime/kernel/xe/xe_info.h"

#include <bit>
#include <cstring>
#include <iterator>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace packsmith::gpu {
namespace {

namespace api = uapi::xe;

using Bytes = std::vector<uint8_t>;

absl::Status Short(absl::string_view query, absl::string_view path) {
  return absl::DataLossError(absl::StrCat("the reply of DEVICE_QUERY (", query, ") on ", path,
                                          " ends before what it announces"));
}

absl::StatusOr<Bytes> Ask(const Calls& calls, api::Query query, absl::string_view name) {
  const std::string call = absl::StrCat("DEVICE_QUERY (", name, ")");
  api::device_query args = {};
  args.query = query;
  absl::Status status = calls.Do(call, api::kDeviceQuery, args);
  if (!status.ok()) return status;
  Bytes reply(args.size);
  if (reply.empty()) return reply;
  args.data = reinterpret_cast<uintptr_t>(reply.data());
  status = calls.Do(call, api::kDeviceQuery, args);
  if (!status.ok()) return status;
  return reply;
}

template <typename T>
T At(const Bytes& bytes, size_t offset) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

// A reply that is a count and as many structures.
template <typename T>
absl::StatusOr<std::vector<T>> AskList(const Calls& calls, api::Query query,
                                       absl::string_view name) {
  const absl::StatusOr<Bytes> reply = Ask(calls, query, name);
  if (!reply.ok()) return reply.status();
  if (reply->size() < sizeof(api::query_count)) return Short(name, calls.path());
  const uint32_t count = At<api::query_count>(*reply, 0).count;
  if (count > (reply->size() - sizeof(api::query_count)) / sizeof(T)) {
    return Short(name, calls.path());
  }
  std::vector<T> list(count);
  for (uint32_t i = 0; i < count; ++i) {
    list[i] = At<T>(*reply, sizeof(api::query_count) + i * sizeof(T));
  }
  return list;
}

struct ClassName {
  uint16_t engine_class;
  absl::string_view name;
};
// As jobs name them.
constexpr ClassName kClassNames[] = {
    {api::kRender, "render"},
    {api::kCompute, "compute"},
    {api::kCopy, "copy"},
    {api::kVideoDecode, "video"},
    {api::kVideoEnhance, "video-enhance"},
};

void AddEngines(const std::vector<api::engine>& engines, XeInfo& info) {
  for (const ClassName& one : kClassNames) {
    XeInfo::EngineKind kind;
    for (const api::engine& engine : engines) {
      if (engine.instance.engine_class != one.engine_class) continue;
      // Those of a queue must be of one GT.
      if (kind.engines.empty() || kind.engines.front().gt_id == engine.instance.gt_id) {
        kind.engines.push_back(engine.instance);
        kind.engines.back().pad = 0;
      }
    }
    if (kind.engines.empty()) continue;
    info.properties.engines.push_back(
        {std::string(one.name), static_cast<unsigned>(kind.engines.size())});
    info.engines.push_back(std::move(kind));
  }
}

void AddRegions(const std::vector<api::mem_region>& regions, XeInfo& info) {
  for (const api::mem_region& region : regions) {
    const bool system = region.mem_class == api::kSysmem;
    info.properties.regions.push_back(
        {.system = system,
         .size = region.total_size,
         .visible = system ? region.total_size : region.cpu_visible_size});
    // Of several of a kind, the first: tiles other than the first one have no engines of their own
    // here.
    uint32_t& place = system ? info.system_region : info.local_region;
    if (place == 0 && region.instance < 32) place = uint32_t{1} << region.instance;
  }
}

// Adds the topology of the main GT.
absl::Status AddTopology(const Bytes& reply, uint16_t gt, absl::string_view path, XeInfo& info) {
  std::vector<uint8_t> subslices;
  unsigned eus = 0;
  for (size_t at = 0; at < reply.size();) {
    if (reply.size() - at < sizeof(api::topology_mask)) return Short("GT_TOPOLOGY", path);
    const auto mask = At<api::topology_mask>(reply, at);
    at += sizeof(mask);
    if (mask.num_bytes > reply.size() - at) return Short("GT_TOPOLOGY", path);
    const absl::Span<const uint8_t> bytes(reply.data() + at, mask.num_bytes);
    at += mask.num_bytes;
    if (mask.gt_id != gt) continue;
    switch (mask.type) {
      case api::kDssGeometry:
      case api::kDssCompute:
        // Those that only some kinds of work can use count, too.
        if (subslices.size() < bytes.size()) subslices.resize(bytes.size());
        for (size_t i = 0; i < bytes.size(); ++i) subslices[i] |= bytes[i];
        break;
      case api::kEuPerDss:
      case api::kSimd16EuPerDss:
        for (const uint8_t byte : bytes) eus += static_cast<unsigned>(std::popcount(byte));
        break;
      default:
        break;
    }
  }
  unsigned count = 0;
  for (const uint8_t byte : subslices) count += static_cast<unsigned>(std::popcount(byte));
  // The interface does not say which of them form a slice.
  if (count != 0) info.properties.slices.push_back({std::vector<unsigned>(count, eus)});
  return absl::OkStatus();
}

// xe_pat.c: the tables of Gfx12 and DG2, of Meteor Lake, and of Xe2 and later.
constexpr XePat kGfx12Pat = {.coherent = 0, .uncached = 1, .display = 1, .compressed = 0};
constexpr XePat kXelpgPat = {.coherent = 3, .uncached = 1, .display = 1, .compressed = 0};
constexpr XePat kXe2Pat = {.coherent = 1, .uncached = 0, .display = 6, .compressed = 11};

const XePat& PatOf(unsigned ip_major) {
  constexpr unsigned kXe2 = 20;
  if (ip_major == 0) return kGfx12Pat;
  return ip_major < kXe2 ? kXelpgPat : kXe2Pat;
}

void AddHeaps(XeInfo& info) {
  DeviceProperties& properties = info.properties;
  const auto set = [&properties](Heap heap, bool has) {
    properties.has_heap[static_cast<int>(heap)] = has;
  };
  const bool local = info.local_region != 0;
  const bool compresses = info.pat.compressed != 0;
  set(Heap::kSystem, true);
  set(Heap::kSystemUncached, true);
  set(Heap::kSystemCompressed, compresses && !local);
  set(Heap::kLocal, local);
  set(Heap::kLocalVisible, local);
  set(Heap::kLocalPreferred, local);
  set(Heap::kLocalCompressed, compresses && local);
}

}  // namespace

absl::StatusOr<std::map<uint32_t, std::vector<uint32_t>>> ParseHwconfig(
    absl::Span<const uint32_t> words) {
  std::map<uint32_t, std::vector<uint32_t>> table;
  while (!words.empty()) {
    if (words.size() < 2 || words[1] > words.size() - 2) {
      return absl::DataLossError("the table of hwconfig ends in the middle of an entry");
    }
    table[words[0]].assign(words.begin() + 2, words.begin() + 2 + words[1]);
    words.remove_prefix(2 + words[1]);
  }
  return table;
}

absl::StatusOr<XeInfo> QueryXe(const Calls& calls) {
  XeInfo info;
  DeviceProperties& properties = info.properties;
  properties.driver = "xe";
  properties.has_priorities = true;

  const auto config = AskList<uint64_t>(calls, api::kQueryConfig, "CONFIG");
  if (!config.ok()) return config.status();
  if (config->size() < 5) return Short("CONFIG", calls.path());
  properties.pci_id = static_cast<uint16_t>((*config)[0]);
  properties.revision = static_cast<uint16_t>((*config)[0] >> 16);
  properties.discrete = ((*config)[1] & api::kConfigHasVram) != 0;
  properties.page = (*config)[2];
  const uint64_t bits = (*config)[3];
  if (!std::has_single_bit(properties.page) || properties.page < 4096 || bits < 32 || bits > 63) {
    return absl::DataLossError(absl::StrCat("DEVICE_QUERY (CONFIG) on ", calls.path(),
                                            " has a page of ", properties.page,
                                            " bytes and addresses of ", bits, " bits"));
  }
  properties.address_bits = static_cast<unsigned>(bits);
  properties.address_space = uint64_t{1} << bits;
  info.highest_priority = (*config)[4];

  const auto gts = AskList<api::gt>(calls, api::kQueryGtList, "GT_LIST");
  if (!gts.ok()) return gts.status();
  const api::gt* main = nullptr;
  for (const api::gt& gt : *gts) {
    if (gt.type == api::kGtMain && main == nullptr) main = &gt;
  }
  if (main == nullptr) return absl::UnavailableError(calls.path() + " has no GT for shaders");
  properties.timestamp_hertz = main->reference_clock;
  info.ip_major = main->ip_ver_major;
  info.ip_minor = main->ip_ver_minor;
  info.pat = PatOf(info.ip_major);

  const auto engines = AskList<api::engine>(calls, api::kQueryEngines, "ENGINES");
  if (!engines.ok()) return engines.status();
  AddEngines(*engines, info);
  const auto regions = AskList<api::mem_region>(calls, api::kQueryMemRegions, "MEM_REGIONS");
  if (!regions.ok()) return regions.status();
  AddRegions(*regions, info);
  AddHeaps(info);

  const absl::StatusOr<Bytes> topology = Ask(calls, api::kQueryGtTopology, "GT_TOPOLOGY");
  if (!topology.ok()) return topology.status();
  const absl::Status status = AddTopology(*topology, main->gt_id, calls.path(), info);
  if (!status.ok()) return status;

  const absl::StatusOr<Bytes> hwconfig = Ask(calls, api::kQueryHwconfig, "HWCONFIG");
  if (!hwconfig.ok()) return hwconfig.status();
  std::vector<uint32_t> words(hwconfig->size() / sizeof(uint32_t));
  if (!words.empty()) std::memcpy(words.data(), hwconfig->data(), words.size() * sizeof(uint32_t));
  auto table = ParseHwconfig(words);
  if (!table.ok()) return table.status();
  info.hwconfig = *std::move(table);
  return info;
}

}  // namespace packsmith::gpu
