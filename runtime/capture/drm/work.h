// What a driver hands to the kernel to be executed.
#ifndef PACKSMITH_RUNTIME_CAPTURE_DRM_WORK_H_
#define PACKSMITH_RUNTIME_CAPTURE_DRM_WORK_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/capture/drm/address_map.h"

namespace packsmith::capture {

struct DeviceInfo;

// A stream that an engine reads.
struct WorkStream {
  uint64_t address = 0;  // GPU address in the work's space
  uint64_t length = 0;   // bytes; 0: the interface does not say
  // Name of the stream in the XML; empty: the engine's first.
  std::string stream = {};
};

struct WorkBase {
  std::string name;  // as the XML calls the base
  uint64_t address = 0;
};

// One submission. Shared by the kernel's queues, the executor and the records.
struct Work {
  uint64_t number = 0;  // of all submissions of the kernel, from 1
  const DeviceInfo* device = nullptr;
  absl::string_view interface;  // "i915", "xe", "asahi"
  int minor = 0;                // of the render node
  pid_t pid = 0;
  std::string process;
  uint64_t file = 0;     // number of the open file, from 1
  uint64_t context = 0;  // number of the context or queue in the whole kernel, from 1: its state
                         // lives on from one work to the next on the same engine
  // As dumps name it: "render", "copy", "video", "video enhance", "compute".
  std::string engine;
  uint32_t engine_instance = 0;
  // The engine's class as the interface numbers it.
  uint32_t engine_class = 0;

  // All memory that the GPU can reach. Null is never.
  std::shared_ptr<const AddressMap> memory;
  // Whether the addresses are those of the global page table, as all are before Gfx6.
  bool global = false;
  // Only what the driver named for this submission is in `memory`; other addresses fault.
  bool memory_is_complete = true;
  // Reads of unmapped addresses are zeros and writes to them have no effect.
  bool scratch_page = false;

  std::vector<WorkStream> streams;
  std::vector<WorkBase> bases;
  // The driver's structures of this submission, for records that are to have them.
  std::string driver_words;

  // What the hardware would not take or the driver did not mean, found when it was submitted: each
  // begins with the call's name.
  std::vector<std::string> warnings;
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_DRM_WORK_H_
