// The device that an example runs on, as an option of each program:
//
//   PROGRAM [--device=host] CORE...       no kernel: each job is written to a file, and not run
//   PROGRAM --device=/dev/dri/renderD128  that GPU, or its mock
//   PROGRAM --device=first                the first GPU of the generation that the program is for

#ifndef PACKSMITH_DOCS_EXAMPLES_DEVICE_H_
#define PACKSMITH_DOCS_EXAMPLES_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/memory/device.h"
#include "runtime/memory/host_device.h"

namespace example {

class DeviceOption {
 public:
  // On a host the program has `cores` arguments: the files of its jobs, in order. Otherwise it has
  // none. `usage` shows them. Exits with code 2 if the arguments are others.
  DeviceOption(int argc, char** argv, const char* usage, size_t cores = 1);

  // The node's, which must be of the host's generation unless that is empty.
  std::unique_ptr<packsmith::gpu::Device> Open(packsmith::gpu::HostDevice::Options host) const;
  // Gives the files of a host's jobs their names.
  void KeepCores() const;

 private:
  std::string node_;  // empty: the host; "first": any
  std::vector<std::string> cores_;
};

}  // namespace example

#endif  // PACKSMITH_DOCS_EXAMPLES_DEVICE_H_
