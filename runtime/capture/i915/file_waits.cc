// The calls that wait for objects, or say whether they are in use.
#include <algorithm>
#include <utility>

#include "runtime/capture/i915/file.h"

namespace packsmith::capture::i915 {

namespace api = uapi::i915;

Result I915File::WaitForObject(Caller& caller, I915Object& object, bool for_write) {
  const auto before = for_write ? object.uses() : object.writes();
  const Result result = kernel().WaitUntil(caller, INT64_MAX, [&] { return AllDone(before); });
  object.SyncView();
  return result;
}

Result I915File::GemSetDomain(Caller& caller, api::gem_set_domain& args) {
  if (device_.info().discrete()) return -ENODEV;
  if (((args.write_domain | args.read_domains) & api::kGpuDomains) != 0) {
    return Refuse(-EINVAL, "domains of the GPU are the kernel's own");
  }
  if (args.write_domain != 0 && args.read_domains != args.write_domain) return -EINVAL;
  if (args.read_domains == 0) return 0;
  const std::shared_ptr<I915Object> object = FindI915Object(args.handle);
  if (!object) return -ENOENT;
  return WaitForObject(caller, *object, args.write_domain != 0);
}

Result I915File::GemSwFinish(Caller&, api::gem_sw_finish& args) {
  const std::shared_ptr<I915Object> object = FindI915Object(args.handle);
  if (!object) return -ENOENT;
  object->SyncView();
  return 0;
}

Result I915File::GemBusy(Caller&, api::gem_busy& args) {
  const std::shared_ptr<I915Object> object = FindI915Object(args.handle);
  if (!object) return -ENOENT;
  args.busy = object->busy();
  object->SyncView();
  return 0;
}

Result I915File::GemWait(Caller& caller, api::gem_wait& args) {
  if (args.flags != 0) return -EINVAL;
  const std::shared_ptr<I915Object> object = FindI915Object(args.bo_handle);
  if (!object) return -ENOENT;
  const auto before = object->uses();
  const int64_t start = MonotonicNow();
  const int64_t deadline = args.timeout_ns < 0 || args.timeout_ns > INT64_MAX - start
                               ? INT64_MAX
                               : start + args.timeout_ns;
  const Result result = kernel().WaitUntil(caller, deadline, [&] { return AllDone(before); });
  object->SyncView();
  // What is left of the time.
  if (args.timeout_ns > 0) {
    args.timeout_ns = std::max<int64_t>(0, args.timeout_ns - (MonotonicNow() - start));
  }
  return result;
}

Result I915File::GemThrottle(Caller& caller, uapi::drm::nothing&) {
  // What was submitted more than this long ago must be done.
  constexpr int64_t kAge = 20'000'000;
  const int64_t before = MonotonicNow() - kAge;
  std::vector<std::shared_ptr<Fence>> old;
  while (!recent_.empty() && (recent_.front().fence->done() || recent_.front().time < before)) {
    if (!recent_.front().fence->done()) old.push_back(recent_.front().fence);
    recent_.pop_front();
  }
  return kernel().WaitUntil(caller, INT64_MAX, [&] { return AllDone(old); });
}

}  // namespace packsmith::capture::i915
