#include "runtime/capture/xe/queries.h"

#include <algorithm>
#include <ctime>
#include <iterator>
#include <type_traits>
#include <vector>

#include "absl/types/span.h"
#include "runtime/capture/devices/gpu_clock.h"

namespace packsmith::capture {

namespace xe = uapi::xe;

namespace {

// Bytes of a reply, appended.
class Reply {
 public:
  template <typename T>
  void Add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* const bytes = reinterpret_cast<const uint8_t*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof(T));
  }
  // A mask of whole words.
  void AddMask(uint16_t gt, xe::Topology type, absl::Span<const uint64_t> words) {
    Add(xe::topology_mask{.gt_id = gt,
                          .type = type,
                          .num_bytes = static_cast<uint32_t>(words.size() * sizeof(uint64_t))});
    for (const uint64_t word : words) Add(word);
  }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

Reply Engines(const XeDevice& device) {
  Reply reply;
  reply.Add(xe::query_count{static_cast<uint32_t>(device.info().engines.size()), 0});
  for (const EngineInfo& engine : device.info().engines) {
    reply.Add(xe::engine{.instance = {.engine_class = static_cast<uint16_t>(engine.engine_class),
                                      .engine_instance = engine.instance,
                                      .gt_id = engine.gt,
                                      .pad = 0},
                         .reserved = {}});
  }
  return reply;
}

Reply MemRegions(const XeDevice& device) {
  Reply reply;
  reply.Add(xe::query_count{static_cast<uint32_t>(device.regions().size()), 0});
  uint16_t instance = 0;
  for (const auto& region : device.regions()) {
    const uint64_t used = region->used;
    reply.Add(xe::mem_region{.mem_class = region->vram ? xe::kVram : xe::kSysmem,
                             .instance = instance++,
                             .min_page_size = region->min_page,
                             .total_size = region->size,
                             .used = used,
                             .cpu_visible_size = region->visible,
                             .cpu_visible_used = region->vram ? std::min(used, region->visible) : 0,
                             .reserved = {}});
  }
  return reply;
}

Reply Config(const XeDevice& device) {
  const DeviceInfo& info = device.info();
  const uint64_t values[] = {info.pci_id | uint64_t{info.revision} << 16,
                             info.discrete() ? xe::kConfigHasVram : 0, info.min_alignment,
                             info.xe_va_bits, kXeHighestPriority};
  Reply reply;
  reply.Add(xe::query_count{std::size(values), 0});
  for (const uint64_t value : values) reply.Add(value);
  return reply;
}

Reply GtList(const XeDevice& device) {
  const DeviceInfo& info = device.info();
  // The device's own memory is near where there is some.
  const uint64_t near = info.discrete() ? 2 : 1;
  Reply reply;
  reply.Add(xe::query_count{static_cast<uint32_t>(info.gts.size()), 0});
  for (const GtInfo& gt : info.gts) {
    reply.Add(xe::gt{.type = gt.media ? xe::kGtMedia : xe::kGtMain,
                     .tile_id = 0,
                     .gt_id = gt.id,
                     .pad = {},
                     .reference_clock = info.timestamp_hz,
                     .near_mem_regions = near,
                     .far_mem_regions = device.region_mask() & ~near,
                     .ip_ver_major = gt.ip_major,
                     .ip_ver_minor = gt.ip_minor,
                     .ip_ver_rev = gt.ip_revision,
                     .pad2 = 0,
                     .reserved = {}});
  }
  return reply;
}

constexpr uint64_t LowBits(unsigned count) {
  return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}

Reply GtTopology(const XeDevice& device) {
  const DeviceInfo& info = device.info();
  const Topology& units = info.topology;
  // A slice follows the one before.
  uint64_t subslices[2] = {};
  for (unsigned slice = 0; slice < units.max_slices; ++slice) {
    for (unsigned i = 0; i < units.max_subslices; ++i) {
      const unsigned bit = slice * units.max_subslices + i;
      if (slice < units.subslice_masks.size() && bit < 128 &&
          (units.subslice_masks[slice] >> i & 1) != 0) {
        subslices[bit / 64] |= uint64_t{1} << bit % 64;
      }
    }
  }
  Reply reply;
  for (const GtInfo& gt : info.gts) {
    // Media GTs have no shaders of their own.
    const auto of_main = [&gt](uint64_t mask) { return gt.media ? 0 : mask; };
    const uint64_t masks[2] = {of_main(subslices[0]), of_main(subslices[1])};
    reply.AddMask(gt.id, xe::kDssGeometry, masks);
    reply.AddMask(gt.id, xe::kDssCompute, masks);
    if (gt.reports_l3 && info.l3_banks != 0) {
      reply.AddMask(gt.id, xe::kL3Bank, {of_main(LowBits(info.l3_banks))});
    }
    reply.AddMask(gt.id, info.simd16_eus ? xe::kSimd16EuPerDss : xe::kEuPerDss,
                  {of_main(LowBits(units.eus))});
  }
  return reply;
}

// What the reply is given to: nothing, if only the size was asked for.
Result Give(const Caller& caller, xe::device_query& args, absl::Span<const uint8_t> reply,
            Result cannot_write = -EFAULT) {
  if (args.size == 0) {
    args.size = static_cast<uint32_t>(reply.size());
    return 0;
  }
  if (args.size != reply.size()) return -EINVAL;
  return caller.memory()->Write(args.data, reply) ? 0 : cannot_write;
}

uint64_t NowBy(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

Result EngineCycles(const XeDevice& device, const Caller& caller, xe::device_query& args) {
  xe::engine_cycles reply = {};
  if (args.size == 0) {
    args.size = sizeof(reply);
    return 0;
  }
  if (args.size != sizeof(reply)) return -EINVAL;
  if (const Result bad = caller.Get(args.data, reply)) return bad;
  switch (reply.clockid) {
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_REALTIME:
    case CLOCK_BOOTTIME:
    case CLOCK_TAI:
      break;
    default:
      return -EINVAL;
  }
  if (FindXeEngine(device.info(), reply.eci) == nullptr) return -EINVAL;
  reply.width = device.info().timestamp_bits;
  reply.cpu_timestamp = NowBy(reply.clockid);
  reply.engine_cycles = GpuTicks(device.info(), MonotonicNow());
  reply.cpu_delta = NowBy(reply.clockid) - reply.cpu_timestamp;
  return caller.Put(args.data, reply);
}

Result FirmwareVersion(const Caller& caller, xe::device_query& args) {
  xe::uc_fw_version reply = {};
  if (args.size == 0) {
    args.size = sizeof(reply);
    return 0;
  }
  if (args.size != sizeof(reply)) return -EINVAL;
  if (const Result bad = caller.Get(args.data, reply)) return bad;
  if (reply.pad != 0 || reply.pad2 != 0 || reply.reserved != 0) return -EINVAL;
  if (reply.uc_type == xe::kUcHuc) return -ENODEV;
  if (reply.uc_type != xe::kUcGuc) return -EINVAL;
  // The submission interface of current firmware; drivers offer compute queues from 1.1.3 on.
  reply.branch_ver = 0;
  reply.major_ver = 1;
  reply.minor_ver = 17;
  reply.patch_ver = 0;
  return caller.Put(args.data, reply);
}

}  // namespace

const EngineInfo* FindXeEngine(const DeviceInfo& info, const xe::engine_class_instance& engine) {
  for (const EngineInfo& one : info.engines) {
    if (static_cast<uint16_t>(one.engine_class) == engine.engine_class &&
        one.instance == engine.engine_instance && one.gt == engine.gt_id) {
      return &one;
    }
  }
  return nullptr;
}

Result AnswerXeQuery(const XeDevice& device, const Caller& caller, xe::device_query& args) {
  if (args.extensions != 0 || args.reserved[0] != 0 || args.reserved[1] != 0) return -EINVAL;
  switch (args.query) {
    case xe::kQueryEngines:
      return Give(caller, args, Engines(device).bytes());
    case xe::kQueryMemRegions:
      return Give(caller, args, MemRegions(device).bytes(), -ENOSPC);
    case xe::kQueryConfig:
      return Give(caller, args, Config(device).bytes());
    case xe::kQueryGtList:
      return Give(caller, args, GtList(device).bytes());
    case xe::kQueryHwconfig:
      // There is no table: drivers have their own, and a wrong one would be worse than none.
      return Give(caller, args, {});
    case xe::kQueryGtTopology:
      return Give(caller, args, GtTopology(device).bytes());
    case xe::kQueryEngineCycles:
      return EngineCycles(device, caller, args);
    case xe::kQueryUcFwVersion:
      return FirmwareVersion(caller, args);
    case xe::kQueryOaUnits: {
      // Without counters, as OBSERVATION says, too.
      Reply reply;
      reply.Add(xe::oa_units{});
      return Give(caller, args, reply.bytes());
    }
    default:
      return -EINVAL;
  }
}

}  // namespace packsmith::capture
