// A device of Linux's xe driver: Intel's GPUs from Gfx12 on.
//
//   absl::StatusOr<std::unique_ptr<Connection>> node = OpenNode("/dev/dri/renderD128");
//   auto device = XeDevice::Open(*std::move(node), {});
//   ...
//   absl::StatusOr<Fence> fence = (*device)->Submit(job);
//
// A space is a VM of the kernel, and a context has an exec queue for each kind of engine that its
// jobs name; both are made when they are first needed. Calls of Bind() are made at once, so that
// their errors are theirs, and take effect asynchronously: jobs wait for them in the kernel, the
// CPU does not. BindAll() is one call for many pages.
#ifndef PACKSMITH_RUNTIME_KERNEL_XE_XE_DEVICE_H_
#define PACKSMITH_RUNTIME_KERNEL_XE_XE_DEVICE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "runtime/kernel/drm/connection.h"
#include "runtime/kernel/drm/drm_device_base.h"
#include "runtime/kernel/xe/contexts.h"
#include "runtime/kernel/xe/spaces.h"
#include "runtime/kernel/xe/xe_info.h"
#include "runtime/memory/device.h"

namespace packsmith::gpu {

class XeDevice : public DrmDeviceBase {
 public:
  struct Options {
    // The generation that the GPU must have, by the XML's name or alias; also that of one whose id
    // is in no description. Empty: any.
    std::string generation = {};
    // Loads from addresses that are not bound give 0, and stores to them are dropped. Otherwise
    // they hang the job.
    bool scratch_page = false;
    // The kernel fills page tables when the GPU touches them, and jobs may run for any time. Such
    // jobs have no fences: SubmitWithoutFence() is the only way to submit. Unbind() does not wait
    // for them.
    bool page_faults = false;
    // The kernel allocates memory when it is first bound or mapped: ResourceExhausted may then come
    // from Bind() and Map().
    bool defer_memory = false;
    // Each job's residents are checked: that they are bound where the job says, and that the batch
    // is in one of them. The kernel needs no list of them; without the check a job may list none,
    // and submitting takes the same time for any number. Wrong addresses are then the GPU's to
    // find.
    bool checks_residents = true;
  };

  // NotFound if the generation is not known, FailedPrecondition if it is not Options::generation.
  // Other errors are the kernel's.
  static absl::StatusOr<std::unique_ptr<XeDevice>> Open(std::unique_ptr<Connection> connection,
                                                        Options options);
  static absl::StatusOr<std::unique_ptr<XeDevice>> Open(std::unique_ptr<Connection> connection) {
    return Open(std::move(connection), Options());
  }

  const XeInfo& info() const { return info_; }

  // PermissionDenied for kHigh and kHighest without CAP_SYS_NICE; both are the same. Unimplemented
  // for protected contexts.
  absl::StatusOr<uint32_t> CreateContext(const ContextOptions& options) override {
    return contexts_.Create(options);
  }
  absl::Status DestroyContext(uint32_t context) override { return contexts_.Destroy(context); }
  // kHung for a context that is recoverable, and kLost for another one. When a job hangs, the
  // kernel ends those after it on the same engine, too.
  absl::StatusOr<ContextState> StateOf(uint32_t space, uint32_t context) override {
    return contexts_.StateOf({space, context});
  }

  // Memory of this process as memory of the device. It must exist until Destroy(), and be whole
  // pages (DeviceProperties::page). Map() returns the same bytes.
  absl::StatusOr<MemoryId> CreateFromUser(absl::Span<uint8_t> bytes) {
    return AddUser(kNoHandle, bytes);
  }

  // A value that is stored in memory when a job is done.
  struct Store {
    uint64_t address = 0;  // a multiple of 8, in a resident that the job writes
    uint64_t value = 0;
  };
  absl::StatusOr<Fence> SubmitAndStore(const Job& job, const Store& store);
  // Only stores the value when the job is done. What there is to know of it is the value.
  absl::Status SubmitWithoutFence(const Job& job, const Store& store);
  // A kind of engine of a context.
  struct QueueName {
    uint32_t space = 0, context = 0;
    absl::string_view engine = "render";
  };
  // Whether the value at `place` (a multiple of 8) was at least `value` before the time is up; a
  // timeout of zero polls. With `queue`: Aborted if a job there hangs meanwhile.
  absl::StatusOr<bool> WaitForValue(const uint64_t* place, uint64_t value, absl::Duration timeout,
                                    std::optional<QueueName> queue = std::nullopt);

  // The GPU's clock and the CPU's at about the same time.
  struct Clocks {
    uint64_t ticks = 0;        // DeviceProperties::timestamp_hertz a second
    unsigned tick_bits = 0;    // that count; above, ticks are zero
    uint64_t cpu_ns = 0;       // CLOCK_MONOTONIC, when reading began
    uint64_t duration_ns = 0;  // of reading
  };
  absl::StatusOr<Clocks> ReadClocks(absl::string_view engine) const;

 protected:
  absl::StatusOr<uint32_t> CreateObject(const MemoryOptions& options) override;
  absl::StatusOr<uint64_t> MapOffset(uint32_t handle, Heap heap) override;
  absl::Status BindLocked(uint32_t space, absl::Span<const BindStep> steps) override;
  absl::Status UnbindLocked(uint32_t space, absl::Span<const BindStep> steps) override;
  absl::Status Execute(const Submission& submission) override {
    return Execute(submission, nullptr);
  }

 private:
  XeDevice(std::shared_ptr<Connection> connection, std::string generation, XeInfo info,
           Options options, std::string dump);

  absl::Status Execute(const Submission& submission, const Store* store);
  // Execute(), after checking the store.
  absl::Status ExecuteAndStore(const Submission& submission, const Store& store);
  // As jobs call it: a name of DeviceProperties, or "blitter", which is "copy".
  absl::StatusOr<size_t> FindEngine(absl::string_view engine) const;
  uint16_t PatOf(const Object& object) const;

  const std::string dump_;
  const XeInfo info_;
  const Options options_;
  XeSpaces spaces_;
  XeContexts contexts_;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_KERNEL_XE_XE_DEVICE_H_
