// The calls that all GPU drivers of Linux share, with their errors as values.
#ifndef PACKSMITH_RUNTIME_KERNEL_DRM_CALLS_H_
#define PACKSMITH_RUNTIME_KERNEL_DRM_CALLS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "runtime/base/unique_fd.h"
#include "runtime/kernel/drm/connection.h"

namespace packsmith::gpu {

// An errno as a status: the code that callers of Device expect, and "GEM_CREATE on
// /dev/dri/renderD128: Cannot allocate memory". ENOMEM and ENOSPC are ResourceExhausted, EIO and
// ECANCELED (the context is lost) Aborted, ENODEV (the GPU is gone) Unavailable.
absl::Status StatusOfErrno(int error, absl::string_view call, absl::string_view path);

// The name of a node's driver: "i915", "xe", "asahi".
absl::StatusOr<std::string> DriverNameOf(Connection& connection);

// Thread-safe.
class Calls {
 public:
  explicit Calls(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}

  // Repeats the call while it is interrupted or must be made again (EINTR, EAGAIN): 0 or more, or
  // the negative of an errno. The structure's content is then the kernel's answer.
  template <typename T>
  int Try(uint32_t request, T& argument) const {
    static_assert(std::is_trivially_copyable_v<T> && std::is_standard_layout_v<T>);
    return TryPointer(request, &argument);
  }
  // The same; `name` is for messages: "GEM_CREATE".
  template <typename T>
  absl::Status Do(absl::string_view name, uint32_t request, T& argument) const {
    const int result = Try(request, argument);
    return result < 0 ? Error(-result, name) : absl::OkStatus();
  }
  absl::Status Error(int error, absl::string_view name) const {
    return StatusOfErrno(error, name, path());
  }

  absl::StatusOr<std::string> DriverName() const { return DriverNameOf(*connection_); }
  // 0: the kernel does not have the capability.
  uint64_t Capability(uint64_t capability) const;

  absl::StatusOr<absl::Span<uint8_t>> Map(uint64_t offset, uint64_t size) const;
  void Unmap(absl::Span<uint8_t> bytes) const;

  // ---- Objects. ----
  absl::Status CloseObject(uint32_t handle) const;
  absl::StatusOr<UniqueFd> ExportObject(uint32_t handle) const;  // a dma-buf
  // The handle; an object that the file has already keeps its own.
  absl::StatusOr<uint32_t> ImportObject(int fd) const;

  // ---- Synchronization objects. ----
  absl::StatusOr<uint32_t> CreateSyncobj(bool signalled = false) const;
  absl::Status DestroySyncobj(uint32_t handle) const;
  // Whether the fence was signalled before the time is up; a timeout of zero polls.
  absl::StatusOr<bool> WaitSyncobj(uint32_t handle, absl::Duration timeout) const;
  // The present fence as a sync file, and a syncobj's fence from one.
  absl::StatusOr<UniqueFd> ExportSyncFile(uint32_t handle) const;
  absl::Status ImportSyncFile(uint32_t handle, int fd) const;
  // All of a syncobj, for other files: its points and its fence.
  absl::StatusOr<UniqueFd> ExportSyncobj(uint32_t handle) const;
  absl::StatusOr<uint32_t> ImportSyncobj(int fd) const;

  // ---- Points of synchronization objects that are timelines. ----
  // A point is promised when work that signals it, or a later one, has been submitted.
  enum class TimelineValue : uint8_t { kPromised, kReached };
  // The last one; 0: there is none.
  absl::StatusOr<uint64_t> QueryTimeline(uint32_t handle, TimelineValue value) const;
  absl::Status SignalTimeline(uint32_t handle, uint64_t point) const;
  // Whether the point was promised, or reached, before the time is up.
  absl::StatusOr<bool> WaitTimeline(uint32_t handle, uint64_t point, TimelineValue until,
                                    absl::Duration timeout) const;

  // Of a dma-buf: its implicit fences as a sync file, those that who writes or reads must wait for,
  // and another one for them. Unimplemented before Linux 6.0.
  absl::StatusOr<UniqueFd> ExportDmaBufFences(int dma_buf, bool to_write) const;
  absl::Status AddDmaBufFence(int dma_buf, int sync_file, bool written) const;
  // Of a signalled fence: sets `outcome` to Ok, or to Aborted with the error with which the kernel
  // ended the work. Errors are those of asking.
  absl::Status OutcomeOfSyncobj(uint32_t handle, absl::Status& outcome) const;

  const std::string& path() const { return connection_->path(); }
  Connection& connection() const { return *connection_; }

 private:
  int TryPointer(uint32_t request, void* argument) const;
  absl::StatusOr<bool> WaitResult(int result, absl::string_view name) const;
  absl::Status DoOn(int fd, absl::string_view name, uint32_t request, void* argument) const;

  const std::shared_ptr<Connection> connection_;
};

// A syncobj that is destroyed with its owner.
class Syncobj {
 public:
  static absl::StatusOr<Syncobj> Create(const Calls& calls, bool signalled = false) {
    const absl::StatusOr<uint32_t> handle = calls.CreateSyncobj(signalled);
    if (!handle.ok()) return handle.status();
    return Syncobj(calls, *handle);
  }
  // Another file's; the caller keeps the descriptor.
  static absl::StatusOr<Syncobj> Import(const Calls& calls, int fd) {
    const absl::StatusOr<uint32_t> handle = calls.ImportSyncobj(fd);
    if (!handle.ok()) return handle.status();
    return Syncobj(calls, *handle);
  }
  Syncobj(Syncobj&& other) noexcept
      : calls_(other.calls_), handle_(std::exchange(other.handle_, 0)) {}
  Syncobj& operator=(Syncobj&& other) noexcept {
    std::swap(calls_, other.calls_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  // What the kernel says to it changes nothing: the file's end destroys it, too.
  ~Syncobj() {
    if (handle_ != 0) calls_->DestroySyncobj(handle_).IgnoreError();
  }

  uint32_t handle() const { return handle_; }

 private:
  Syncobj(const Calls& calls, uint32_t handle) : calls_(&calls), handle_(handle) {}
  const Calls* calls_;
  uint32_t handle_;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_KERNEL_DRM_CALLS_H_
