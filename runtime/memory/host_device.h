// A device that is only memory: page tables, checks, and dumps of submitted jobs.
//
//   auto device = HostDevice::Create({.device = {.generation = "gfx9"},
//                                     .core_prefix = "/tmp/job-"});
//   ...
//   absl::StatusOr<Fence> fence = (*device)->Submit(job);   // writes /tmp/job-000001.core
//
// `unpack /tmp/job-000001.core` shows the job, with the memory that it listed as resident: a
// pointer to memory that it uses and did not list, whether to a state or to a texture, is a fault
// there
// (`--fail-on=unmapped`), as it may be on a GPU. No GPU is simulated; a caller that can run batches
// sets Options::run, which accesses memory by Read() and Write(), as the page tables allow.

#ifndef PACKSMITH_RUNTIME_MEMORY_HOST_DEVICE_H_
#define PACKSMITH_RUNTIME_MEMORY_HOST_DEVICE_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/dump/device.h"
#include "runtime/memory/device.h"

namespace packsmith::gpu {

// Which of the memory that is bound in a job's space its core has. Buffers in bound memory that the
// core leaves out are in it by name, with the reason: "vertices (not resident)".
enum class CoreMemory : uint8_t {
  kResident,  // what the job listed, with the batch: what it may use
  kBound,     // everything, though a kernel need not have it resident
  kCaptured,  // what a kernel's dump of a hang has: the batch's memory, and memory with MemoryUse
              // kCaptured
};

class HostDevice : public Device {
 public:
  struct Options {
    packsmith::Device device = {};  // the hardware as dumps describe it
    uint64_t memory_bytes = std::numeric_limits<uint64_t>::max();  // more is ResourceExhausted
    unsigned address_bits = 48;                                    // or 57; 32 of Cherryview
    // Engines that jobs may name.
    std::vector<std::string> engines = {"render", "compute", "blitter",
                                        "copy",   "video",   "video-enhance"};
    // Each job is written to core_prefix + CoreName(fence) when it is submitted. Empty: none is.
    std::string core_prefix = {};
    CoreMemory core_memory = CoreMemory::kResident;
    // Runs a job when it is submitted. Waiting for the job returns its result. It may call Read()
    // and Write(), and no other method.
    std::function<absl::Status(HostDevice&, const Job&)> run = {};
    // Jobs are done when Complete() is called, not at once.
    bool complete_by_hand = false;
  };

  // InvalidArgument if address_bits is not 32 to 63.
  static absl::StatusOr<std::unique_ptr<HostDevice>> Create(Options options);
  static absl::StatusOr<std::unique_ptr<HostDevice>> Create();
  ~HostDevice() override;

  absl::StatusOr<MemoryId> Create(const MemoryOptions& options) override;
  absl::Status Destroy(MemoryId memory) override;
  absl::StatusOr<absl::Span<uint8_t>> Map(MemoryId memory) override;
  absl::Status Bind(const PageBinding& binding) override;
  absl::Status Unbind(uint32_t space, uint64_t address, uint64_t size) override;
  // "000001.core" for 1: names sort in the order of submission.
  static std::string CoreName(Fence fence);

  // In addition to Device's errors: InvalidArgument if the batch is not in a resident, if a memory
  // is listed twice, or if a fence to wait for does not exist. An error if a core could not be
  // written.
  absl::StatusOr<Fence> Submit(const Job& job) override;
  absl::StatusOr<bool> Wait(Fence fence, absl::Duration timeout) override;
  std::string generation() const override;
  uint64_t address_space() const override { return uint64_t{1} << options_.address_bits; }
  // Cores have the names as buffers.
  void SetName(MemoryId memory, uint64_t offset, uint64_t size, absl::string_view name) override;

  // Accesses memory as the GPU does. OutOfRange, with the nearest bound pages, for addresses that
  // are not bound; PermissionDenied for writes to pages that are not writable. Then nothing was
  // copied.
  absl::Status Read(uint32_t space, uint64_t address, absl::Span<uint8_t> out) const;
  absl::Status Write(uint32_t space, uint64_t address, absl::Span<const uint8_t> bytes);

  // A core of a job with the present content of memory: the part of its space, which is space 0 in
  // the core, that Options::core_memory selects; and the job as its only submission, whose index is
  // the number of jobs that were submitted before. The CPU must not write meanwhile.
  absl::Status WriteCore(const Job& job, const std::string& path) const;

  // With complete_by_hand: this job and all before it are done.
  void Complete(Fence fence);

  uint64_t memory_in_use() const;  // bytes

 private:
  class Core;

  explicit HostDevice(Options options);

  const Options options_;
  const std::unique_ptr<Core> core_;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_MEMORY_HOST_DEVICE_H_
