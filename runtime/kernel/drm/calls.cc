#include "runtime/kernel/drm/calls.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "absl/strings/str_cat.h"
#include "runtime/kernel/uapi/drm.h"

namespace packsmith::gpu {
namespace {

namespace api = uapi::drm;

// CLOCK_MONOTONIC, which the calls' deadlines are in.
int64_t Deadline(absl::Duration timeout) {
  if (timeout <= absl::ZeroDuration()) return 0;
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t begin = now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
  const int64_t length = absl::ToInt64Nanoseconds(timeout);  // saturates
  return length > INT64_MAX - begin ? INT64_MAX : begin + length;
}

int Repeat(Connection& connection, uint32_t request, void* argument) {
  for (;;) {
    const int result = connection.Ioctl(request, argument);
    if (result != -EINTR && result != -EAGAIN) return result;
  }
}

}  // namespace

absl::Status StatusOfErrno(int error, absl::string_view call, absl::string_view path) {
  absl::StatusCode code = absl::ErrnoToStatusCode(error);
  if (error == ENOMEM || error == ENOSPC) code = absl::StatusCode::kResourceExhausted;
  if (error == EIO || error == ECANCELED) code = absl::StatusCode::kAborted;
  if (error == ENODEV) code = absl::StatusCode::kUnavailable;
  return absl::Status(code, absl::StrCat(call, " on ", path, ": ", strerror(error)));
}

absl::StatusOr<std::string> DriverNameOf(Connection& connection) {
  char name[64] = {};
  api::version version = {};
  version.name_len = sizeof(name) - 1;
  version.name = reinterpret_cast<uintptr_t>(name);
  const int result = Repeat(connection, api::kVersion, &version);
  if (result < 0) return StatusOfErrno(-result, "VERSION", connection.path());
  return std::string(name, std::min<uint64_t>(version.name_len, sizeof(name) - 1));
}

int Calls::TryPointer(uint32_t request, void* argument) const {
  return Repeat(*connection_, request, argument);
}

uint64_t Calls::Capability(uint64_t capability) const {
  api::get_cap args = {.capability = capability, .value = 0};
  return Try(api::kGetCap, args) < 0 ? 0 : args.value;
}

absl::StatusOr<absl::Span<uint8_t>> Calls::Map(uint64_t offset, uint64_t size) const {
  uint8_t* bytes = nullptr;
  int result;
  do {
    result = connection_->Map(offset, size, bytes);
  } while (result == -EINTR);
  if (result < 0) return Error(-result, "mmap()");
  return absl::MakeSpan(bytes, static_cast<size_t>(size));
}

void Calls::Unmap(absl::Span<uint8_t> bytes) const {
  connection_->Unmap(bytes.data(), bytes.size());
}

absl::Status Calls::CloseObject(uint32_t handle) const {
  api::gem_close args = {.handle = handle, .pad = 0};
  return Do("GEM_CLOSE", api::kGemClose, args);
}

absl::StatusOr<UniqueFd> Calls::ExportObject(uint32_t handle) const {
  api::prime_handle args = {.handle = handle, .flags = O_CLOEXEC | O_RDWR, .fd = -1};
  const absl::Status status = Do("PRIME_HANDLE_TO_FD", api::kPrimeHandleToFd, args);
  if (!status.ok()) return status;
  return UniqueFd(args.fd);
}

absl::StatusOr<uint32_t> Calls::ImportObject(int fd) const {
  api::prime_handle args = {.handle = 0, .flags = 0, .fd = fd};
  const absl::Status status = Do("PRIME_FD_TO_HANDLE", api::kPrimeFdToHandle, args);
  if (!status.ok()) return status;
  return args.handle;
}

absl::StatusOr<uint32_t> Calls::CreateSyncobj(bool signalled) const {
  api::syncobj_create args = {.handle = 0, .flags = signalled ? api::kSyncobjCreateSignaled : 0};
  const absl::Status status = Do("SYNCOBJ_CREATE", api::kSyncobjCreate, args);
  if (!status.ok()) return status;
  return args.handle;
}

absl::Status Calls::DestroySyncobj(uint32_t handle) const {
  api::syncobj_destroy args = {.handle = handle, .pad = 0};
  return Do("SYNCOBJ_DESTROY", api::kSyncobjDestroy, args);
}

absl::StatusOr<bool> Calls::WaitSyncobj(uint32_t handle, absl::Duration timeout) const {
  api::syncobj_wait args = {};
  args.handles = reinterpret_cast<uintptr_t>(&handle);
  args.count_handles = 1;
  args.timeout_nsec = Deadline(timeout);
  return WaitResult(Try(api::kSyncobjWait, args), "SYNCOBJ_WAIT");
}

absl::StatusOr<bool> Calls::WaitResult(int result, absl::string_view name) const {
  if (result == -ETIME) return false;
  if (result >= 0) return true;
  absl::Status error = Error(-result, name);
  // Aborted would say that the job has failed, and so does not run any more.
  if (absl::IsAborted(error)) error = absl::InternalError(error.message());
  return error;
}

absl::StatusOr<UniqueFd> Calls::ExportSyncFile(uint32_t handle) const {
  api::syncobj_handle args = {};
  args.handle = handle;
  args.flags = api::kSyncobjFdSyncFile;
  args.fd = -1;
  const absl::Status status = Do("SYNCOBJ_HANDLE_TO_FD", api::kSyncobjHandleToFd, args);
  if (!status.ok()) return status;
  return UniqueFd(args.fd);
}

absl::Status Calls::ImportSyncFile(uint32_t handle, int fd) const {
  api::syncobj_handle args = {};
  args.handle = handle;
  args.flags = api::kSyncobjFdSyncFile;
  args.fd = fd;
  return Do("SYNCOBJ_FD_TO_HANDLE", api::kSyncobjFdToHandle, args);
}

absl::StatusOr<UniqueFd> Calls::ExportSyncobj(uint32_t handle) const {
  api::syncobj_handle args = {};
  args.handle = handle;
  args.fd = -1;
  const absl::Status status = Do("SYNCOBJ_HANDLE_TO_FD", api::kSyncobjHandleToFd, args);
  if (!status.ok()) return status;
  return UniqueFd(args.fd);
}

absl::StatusOr<uint32_t> Calls::ImportSyncobj(int fd) const {
  api::syncobj_handle args = {};
  args.fd = fd;
  const absl::Status status = Do("SYNCOBJ_FD_TO_HANDLE", api::kSyncobjFdToHandle, args);
  if (!status.ok()) return status;
  return args.handle;
}

absl::StatusOr<uint64_t> Calls::QueryTimeline(uint32_t handle, TimelineValue value) const {
  uint64_t point = 0;
  api::syncobj_timeline_array args = {};
  args.handles = reinterpret_cast<uintptr_t>(&handle);
  args.points = reinterpret_cast<uintptr_t>(&point);
  args.count_handles = 1;
  args.flags = value == TimelineValue::kPromised ? api::kSyncobjQueryLastSubmitted : 0;
  const absl::Status status = Do("SYNCOBJ_QUERY", api::kSyncobjQuery, args);
  if (!status.ok()) return status;
  return point;
}

absl::Status Calls::SignalTimeline(uint32_t handle, uint64_t point) const {
  api::syncobj_timeline_array args = {};
  args.handles = reinterpret_cast<uintptr_t>(&handle);
  args.points = reinterpret_cast<uintptr_t>(&point);
  args.count_handles = 1;
  return Do("SYNCOBJ_TIMELINE_SIGNAL", api::kSyncobjTimelineSignal, args);
}

absl::StatusOr<bool> Calls::WaitTimeline(uint32_t handle, uint64_t point, TimelineValue until,
                                         absl::Duration timeout) const {
  api::syncobj_timeline_wait args = {};
  args.handles = reinterpret_cast<uintptr_t>(&handle);
  args.points = reinterpret_cast<uintptr_t>(&point);
  args.timeout_nsec = Deadline(timeout);
  args.count_handles = 1;
  args.flags =
      until == TimelineValue::kPromised ? api::kSyncobjWaitAvailable : api::kSyncobjWaitForSubmit;
  return WaitResult(Try(api::kSyncobjTimelineWait, args), "SYNCOBJ_TIMELINE_WAIT");
}

absl::Status Calls::DoOn(int fd, absl::string_view name, uint32_t request, void* argument) const {
  int result;
  do {
    result = connection_->IoctlOn(fd, request, argument);
  } while (result == -EINTR || result == -EAGAIN);
  if (result == -ENOTTY) {
    return absl::UnimplementedError(absl::StrCat(name, ": the kernel has no such call"));
  }
  return result < 0 ? Error(-result, name) : absl::OkStatus();
}

// The flags of both calls: 1 for readers, 2 for writers, who wait for all and whom all wait for.
// Source: Linux, dma-buf.h (DMA_BUF_SYNC_READ, DMA_BUF_SYNC_WRITE).
absl::StatusOr<UniqueFd> Calls::ExportDmaBufFences(int dma_buf, bool to_write) const {
  api::dma_buf_sync_file args = {.flags = to_write ? 2u : 1u, .fd = -1};
  const absl::Status status =
      DoOn(dma_buf, "DMA_BUF_EXPORT_SYNC_FILE", api::kDmaBufExportSyncFile, &args);
  if (!status.ok()) return status;
  return UniqueFd(args.fd);
}

absl::Status Calls::AddDmaBufFence(int dma_buf, int sync_file, bool written) const {
  api::dma_buf_sync_file args = {.flags = written ? 2u : 1u, .fd = sync_file};
  return DoOn(dma_buf, "DMA_BUF_IMPORT_SYNC_FILE", api::kDmaBufImportSyncFile, &args);
}

absl::Status Calls::OutcomeOfSyncobj(uint32_t handle, absl::Status& outcome) const {
  // Aborted would say that the job has failed.
  const auto not_aborted = [](const absl::Status& error) {
    return absl::IsAborted(error) ? absl::InternalError(error.message()) : error;
  };
  const absl::StatusOr<UniqueFd> file = ExportSyncFile(handle);
  if (!file.ok()) return not_aborted(file.status());
  api::sync_file_info info = {};
  const absl::Status asked = DoOn(file->get(), "SYNC_IOC_FILE_INFO", api::kSyncFileInfo, &info);
  if (!asked.ok()) return not_aborted(asked);
  outcome = info.status >= 0 ? absl::OkStatus() : absl::AbortedError(strerror(-info.status));
  return absl::OkStatus();
}

}  // namespace packsmith::gpu
