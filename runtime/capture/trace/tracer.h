// Follows the calls of programs to real GPU drivers, and makes of each submission what a mock
// kernel makes of it: Work, with the memory as the program had written it.
//
//   Tracer tracer(sink);
//   const Tracer::Interests interests = tracer.Open(file, minor, access);
//   // ioctl() of a program, if interests[number] is kBeforeAndAfter:
//   const uint64_t ticket = tracer.Before(file, call);
//   ... the call is passed on ...
//   tracer.After(file, ticket, call);
//
// The kernel checks calls; the tracer believes what succeeded, and what it cannot read it leaves
// out. No call makes it fail.
#ifndef PACKSMITH_RUNTIME_CAPTURE_TRACE_TRACER_H_
#define PACKSMITH_RUNTIME_CAPTURE_TRACE_TRACER_H_

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "runtime/base/mutex.h"
#include "runtime/capture/devices/device_info.h"
#include "runtime/capture/trace/call.h"
#include "runtime/capture/trace/file.h"

namespace packsmith::capture {

// Thread-safe.
class Tracer {
 public:
  // `sink` outlives the tracer.
  explicit Tracer(TraceSink& sink);

  // By the call's number in its table.
  using Interests = std::array<TraceInterest, 256>;
  // An open file of a device, by a number that no other open file has; it may be known already.
  // `minor` is that of its node.
  Interests Open(uint64_t file, int minor, TraceAccess& access);

  // Before a call is passed on: a number for After(). 0: nothing follows it.
  uint64_t Before(uint64_t file, const TracedCall& call);
  // After the call; `ticket` is what Before() returned, or 0 for calls that it was not told of.
  void After(uint64_t file, uint64_t ticket, const TracedCall& call);
  // The call of a ticket will not return: its thread is gone.
  void Forget(uint64_t ticket);

  // A copy of the file was closed, which may have been the last.
  void Close(uint64_t file);

  // Files of GPUs whose driver is not known here are not counted.
  uint64_t files() const;
  uint64_t submissions() const;

 private:
  struct Pending {
    std::shared_ptr<TracedFile> file;
    TracedFile::Finish finish;
  };
  // Null: the driver is not known.
  std::shared_ptr<TracedFile> Make(int minor, TraceAccess& access)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The device of the PCI id; null: it is not known.
  const DeviceInfo* DeviceOf(uint32_t pci_id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  TraceShared shared_ ABSL_GUARDED_BY(mutex_);
  std::deque<DeviceInfo> devices_ ABSL_GUARDED_BY(mutex_);  // with the ids that they have
  std::map<uint64_t, std::shared_ptr<TracedFile>> files_ ABSL_GUARDED_BY(mutex_);
  std::map<uint64_t, Pending> pending_ ABSL_GUARDED_BY(mutex_);
  uint64_t tickets_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_TRACE_TRACER_H_
