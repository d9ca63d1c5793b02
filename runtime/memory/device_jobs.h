// What a device runs: jobs, which are batches with the memory that they use, and contexts of jobs.
#ifndef PACKSMITH_RUNTIME_MEMORY_DEVICE_JOBS_H_
#define PACKSMITH_RUNTIME_MEMORY_DEVICE_JOBS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "runtime/memory/device_memory.h"
#include "runtime/memory/kernel_timelines.h"

namespace packsmith::gpu {

// Memory that a job uses.
struct Resident {
  MemoryId memory = {};
  uint64_t address = 0;  // where its first byte is bound in the job's space
  bool written = false;
  uint64_t size = 0;  // bytes, of all of it: for counting the memory that a job needs
};

// A number for each job, from 1 up. 0 means no job, and counts as done.
using Fence = uint64_t;

// A base address that is set through the kernel driver, on GPUs where no packet sets it; by its
// name in the GPU's description.
struct JobBase {
  absl::string_view name;
  uint64_t address = 0;
};

// A word in memory that holds an address of another memory, for kernels that move memory.
struct Relocation {
  MemoryId in = {};     // the memory that has the word
  uint64_t offset = 0;  // of the word in it, in bytes: a multiple of 4
  MemoryId target = {};
  uint64_t delta = 0;    // the word is the address of the target's first byte, plus this
  bool written = false;  // the GPU writes to the target through this address
};

struct Job {
  uint32_t space = 0;
  uint32_t context = 0;
  std::string engine = "render";  // "compute", "copy", ...: as the device knows it
  uint64_t batch_address = 0;
  uint64_t batch_length = 0;                  // bytes, for information; a packet ends the batch
  absl::Span<const Resident> residents = {};  // each memory once, the batch's among them
  absl::Span<const Fence> after = {};         // begins when these are done
  absl::Span<const JobBase> bases = {};
  // For devices that move memory (DeviceProperties::moves_memory); others ignore them. All words of
  // the residents that hold addresses of residents, as they are bound: the kernel corrects those
  // whose target it has moved. Without any, nothing is moved: the job fails if the addresses are
  // not free (ResourceExhausted).
  absl::Span<const Relocation> relocations = {};
  // Values of Device::timelines(): the job begins when those to wait for are reached, which must
  // have been promised (else FailedPrecondition), and signals the others when it is done.
  absl::Span<const KernelPoint> waits = {}, signals = {};
};

// In what order the kernel runs jobs of different contexts. Without the right to it (CAP_SYS_NICE),
// kHigh and kHighest are PermissionDenied.
enum class Priority : uint8_t { kLow, kNormal, kHigh, kHighest };

struct ContextOptions {
  uint32_t space = 0;
  Priority priority = Priority::kNormal;
  // After a job that hung, the context goes on with the next one, whose state is then not what the
  // job before left. Otherwise it is lost.
  bool recoverable = true;
  bool protects = false;  // for memory of MemoryUse kProtected
};

enum class ContextState : uint8_t {
  kGood,
  kHung,   // one of its jobs hung or faulted
  kReset,  // the GPU was reset because of another context, while a job of this one ran
  kLost,   // it takes no more jobs: it hung, and is not recoverable, or hung too often
};

// What every Device has.
class DeviceJobs {
 public:
  // Starts a job and returns its fence. InvalidArgument if a resident is not bound at its address,
  // or if there is no such engine.
  virtual absl::StatusOr<Fence> Submit(const Job& job) = 0;
  // Whether the job was done before the timeout; a timeout of zero polls. A job that faulted or
  // hung is an error: Aborted.
  virtual absl::StatusOr<bool> Wait(Fence fence, absl::Duration timeout) = 0;
  // A context for jobs of one space: Job::context. Context 0 exists in each space. Jobs of one
  // context and engine begin in the order in which they are submitted. Unimplemented unless the
  // device has contexts; those that do not accept any number in Job::context.
  virtual absl::StatusOr<uint32_t> CreateContext(const ContextOptions& options);
  // Its jobs must be done.
  virtual absl::Status DestroyContext(uint32_t context);
  virtual absl::StatusOr<ContextState> StateOf(uint32_t space, uint32_t context);

 protected:
  ~DeviceJobs() = default;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_MEMORY_DEVICE_JOBS_H_
