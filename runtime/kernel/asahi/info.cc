#include "runtime/kernel/asahi/info.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <iterator>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/memory/device.h"

namespace packsmith::gpu {

namespace api = uapi::asahi;

absl::StatusOr<AsahiInfo> QueryAsahi(const Calls& calls) {
  AsahiInfo info;
  api::params_global& params = info.params;
  api::get_params args = {};
  args.pointer = reinterpret_cast<uintptr_t>(&params);
  args.size = sizeof(params);
  const int result = calls.Try(api::kGetParams, args);
  if (result == -ENOTTY || result == -EINVAL) {
    return absl::UnimplementedError(absl::StrCat(
        calls.path(), " has the interface of asahi from before Linux 6.16; update the kernel"));
  }
  if (result < 0) return calls.Error(-result, "GET_PARAMS");
  // More than any GPU's addresses have.
  constexpr uint64_t kMostAddresses = uint64_t{1} << 56;
  const uint64_t kernel = (std::min(params.vm_kernel_min_size, kMostAddresses) + api::kPage - 1) /
                          api::kPage * api::kPage;
  const uint64_t last = params.vm_end / api::kPage * api::kPage;
  const uint32_t clusters = params.num_clusters_total, dies = params.num_dies;
  if (last > kMostAddresses || last <= kernel || params.vm_start >= last - kernel || dies == 0 ||
      dies > clusters || clusters > std::size(params.core_masks)) {
    return absl::DataLossError(absl::StrFormat(
        "GET_PARAMS on %s: %d clusters on %d dies, addresses 0x%x..0x%x of which "
        "the kernel needs 0x%x",
        calls.path(), clusters, dies, params.vm_start, params.vm_end, params.vm_kernel_min_size));
  }
  info.begin = params.vm_start;
  info.end = last - kernel;
  info.kernel_end = last;

  DeviceProperties& properties = info.properties;
  properties.driver = "asahi";
  properties.revision = static_cast<uint16_t>(params.gpu_revision);
  // One more than addresses have: bits are never repeated above them.
  properties.address_bits = static_cast<unsigned>(std::bit_width(params.vm_end - 1)) + 1;
  properties.address_space = info.end - info.begin;
  properties.timestamp_hertz = params.command_timestamp_frequency_hz;
  properties.page = api::kPage;
  properties.engines = {{"render", 1}, {"compute", 1}};
  properties.has_heap[static_cast<int>(Heap::kSystem)] = true;
  properties.has_heap[static_cast<int>(Heap::kSystemUncached)] = true;
  properties.caches_scanout = true;
  properties.has_priorities = true;
  const uint32_t of_die = (clusters + dies - 1) / dies;
  for (uint32_t cluster = 0; cluster < clusters; ++cluster) {
    if (cluster % of_die == 0) properties.slices.emplace_back();
    properties.slices.back().eus.push_back(
        static_cast<unsigned>(std::popcount(params.core_masks[cluster])));
  }
  return info;
}

}  // namespace packsmith::gpu
