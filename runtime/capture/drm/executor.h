// Who executes submissions, and who is told of them.
#ifndef PACKSMITH_RUNTIME_CAPTURE_DRM_EXECUTOR_H_
#define PACKSMITH_RUNTIME_CAPTURE_DRM_EXECUTOR_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "runtime/capture/drm/work.h"

namespace packsmith::capture {

enum class Outcome {
  kDone,
  kWaiting,  // for a value in memory: Execute() is called again for the same work
  kHung,     // it faulted, or would never end
};

// Called with the kernel's lock held; one work at a time.
class Executor {
 public:
  virtual ~Executor() = default;
  // Executes the work's streams, in order, on its memory. `why` is set for kHung; for kWaiting it
  // may say for what: "for MI_SEMAPHORE_WAIT at 0x1000".
  virtual Outcome Execute(const Work& work, std::string& why) = 0;
  // The work will not be executed any further: it was banned, or its context is gone.
  virtual void Forget(const Work& work) { (void)work; }
  // The context will submit nothing more.
  virtual void ForgetContext(uint64_t context) { (void)context; }
};

// Watches the kernel. Called with the kernel's lock held; methods do nothing unless overridden.
class Watcher {
 public:
  virtual ~Watcher() = default;
  // Before any of it is executed; for each queue in the order of submission.
  virtual void OnSubmit(const std::shared_ptr<const Work>&) {}
  // `outcome` is kDone or kHung; `why` says why it hung.
  virtual void OnDone(const Work&, Outcome, absl::string_view /*why*/) {}
  // Something that the kernel accepts and that is wrong all the same. `call` is its ioctl.
  virtual void OnWarning(pid_t, absl::string_view /*call*/, absl::string_view /*text*/) {}
  // A call that failed, for logs: `result` is a negative errno.
  virtual void OnRefused(pid_t, absl::string_view /*call*/, int /*result*/,
                         absl::string_view /*why*/) {}
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_DRM_EXECUTOR_H_
