// What a kernel saves of a hang, made of the submission that hung.
#ifndef PACKSMITH_RUNTIME_CAPTURE_EXECUTE_HANG_REPORT_H_
#define PACKSMITH_RUNTIME_CAPTURE_EXECUTE_HANG_REPORT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/capture/drm/executor.h"
#include "runtime/capture/drm/work.h"
#include "runtime/capture/execute/hang_place.h"

namespace packsmith::capture {

// The text of /sys/class/drm/cardN/error (i915) or of .../devcoredump/data (xe), with the memory
// that the driver wants in it, and what registers, and the firmware's messages, say after a hang of
// that kind. `place`: where the batch was; empty: at its beginning. `why` says what happened.
// `time_s`: of the hang, seconds since 1970. The ring is made up: a request that starts the batch.
//
// Unimplemented for other interfaces, whose kernels save nothing; otherwise the writers' errors.
absl::StatusOr<std::string> MakeHangReport(const Work& work, const std::optional<HangPlace>& place,
                                           absl::string_view why, int64_t time_s);

// Lines of the kernel's log about it, without times. `slot`: the device's PCI address. Empty for
// other interfaces.
std::string KernelLogOfHang(const Work& work, const std::optional<HangPlace>& place,
                            absl::string_view slot);

// Makes one of each submission that hangs.
class HangReporter : public Watcher {
 public:
  using PlaceOf = std::function<std::optional<HangPlace>(const Work& work)>;
  // Called with the kernel's lock held.
  using Deliver = std::function<void(const Work& work, const std::optional<HangPlace>& place,
                                     std::string report)>;

  // `place_of` may be empty: SimExecutor::PlaceOfHang() is one.
  HangReporter(PlaceOf place_of, Deliver deliver)
      : place_of_(std::move(place_of)), deliver_(std::move(deliver)) {}

  void OnDone(const Work& work, Outcome outcome, absl::string_view why) override;

 private:
  const PlaceOf place_of_;
  const Deliver deliver_;
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_EXECUTE_HANG_REPORT_H_
