// A device of Linux's asahi driver: Apple's GPUs from the M1 on, with the interface of Linux 6.16.
//
//   absl::StatusOr<std::unique_ptr<Connection>> node = OpenNode("/dev/dri/renderD128");
//   auto device = AsahiDevice::Open(*std::move(node), {});
//   ...
//   absl::StatusOr<Fence> fence = (*device)->SubmitRender(job, {.stream = first_block, …});
//
// A space is a VM of the kernel, and a context a queue; both are made when they are first needed.
// Programs have addresses of 32 bits, from JobBase "programs" on: a context has one such base, that
// of its first job.
#ifndef PACKSMITH_RUNTIME_KERNEL_ASAHI_ASAHI_DEVICE_H_
#define PACKSMITH_RUNTIME_KERNEL_ASAHI_ASAHI_DEVICE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/kernel/asahi/commands.h"
#include "runtime/kernel/asahi/contexts.h"
#include "runtime/kernel/asahi/info.h"
#include "runtime/kernel/asahi/spaces.h"
#include "runtime/kernel/asahi/timestamps.h"
#include "runtime/kernel/drm/connection.h"
#include "runtime/kernel/drm/drm_device_base.h"
#include "runtime/memory/device.h"

namespace packsmith::gpu {

class AsahiDevice : public DrmDeviceBase {
 public:
  struct Options {
    // The generation that the GPU must have, by the XML's name or alias; also that of one whose id
    // is in no description. Empty: any.
    std::string generation = {};
    // What jobs of the engine "render" that come by Submit() have besides their stream.
    AsahiRender plain_render = {.width = 64, .height = 64};
  };

  // NotFound if the generation is not known, FailedPrecondition if it is not Options::generation.
  // Unimplemented if the kernel has the interface from before Linux 6.16. Other errors are the
  // kernel's.
  static absl::StatusOr<std::unique_ptr<AsahiDevice>> Open(std::unique_ptr<Connection> connection,
                                                           Options options);
  static absl::StatusOr<std::unique_ptr<AsahiDevice>> Open(std::unique_ptr<Connection> connection) {
    return Open(std::move(connection), Options());
  }

  const AsahiInfo& info() const { return info_; }

  // PermissionDenied for kHigh and kHighest unless the kernel takes them. Unimplemented for
  // protected contexts.
  absl::StatusOr<uint32_t> CreateContext(const ContextOptions& options) override {
    return contexts_.Create(options);
  }
  absl::Status DestroyContext(uint32_t context) override { return contexts_.Destroy(context); }
  // From the outcomes of jobs, as far as they are known (see DrmDeviceBase::HasFailed()): the
  // kernel does not say. Jobs of a context that is not recoverable are refused from then on.
  absl::StatusOr<ContextState> StateOf(uint32_t space, uint32_t context) override;

  // Jobs with all that the hardware can be told. Of `job` are used: space, context, residents (all
  // streams in them), after, and the base "programs". InvalidArgument, besides Submit()'s errors,
  // for what the kernel would not take.
  absl::StatusOr<Fence> SubmitRender(const Job& job, const AsahiRender& render);
  absl::StatusOr<Fence> SubmitCompute(const Job& job, const AsahiCompute& compute);
  // Several at once. Each begins when AsahiCommand's member `after` allows.
  absl::StatusOr<Fence> SubmitCommands(const Job& job, absl::Span<const AsahiCommand> commands);

  // Room for `count` times.
  absl::StatusOr<AsahiTimestamps> CreateTimestamps(uint32_t count);
  // The present time of the clock that timestamps are taken from:
  // DeviceProperties::timestamp_hertz a second.
  absl::StatusOr<uint64_t> ReadClock() const;

 protected:
  absl::StatusOr<uint32_t> CreateObject(const MemoryOptions& options) override;
  absl::StatusOr<uint64_t> MapOffset(uint32_t handle, Heap heap) override;
  absl::Status BindLocked(uint32_t space, absl::Span<const BindStep> steps) override;
  absl::Status UnbindLocked(uint32_t space, absl::Span<const BindStep> steps) override;
  // A job of the engine "render" is Options::plain_render with the batch as its stream, one of
  // "compute" the batch.
  absl::Status Execute(const Submission& submission) override;

 private:
  friend class AsahiTimestamps;
  AsahiDevice(std::shared_ptr<Connection> connection, std::string generation, AsahiInfo info,
              Options options);

  // What binds these pages.
  static AsahiSpaces::Ops OpsOf(absl::Span<const BindStep> steps);
  absl::Status ExecuteCommands(const Submission& submission,
                               absl::Span<const AsahiCommand> commands);
  // The kernel's queue for a job.
  absl::StatusOr<uint32_t> QueueFor(const Job& job);

  const AsahiInfo info_;
  const Options options_;
  AsahiSpaces spaces_;
  AsahiContexts contexts_;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_KERNEL_ASAHI_ASAHI_DEVICE_H_
