#include "docs/examples/device.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "docs/examples/must.h"
#include "runtime/kernel/open.h"

namespace example {

using namespace packsmith::gpu;  // NOLINT: an example

DeviceOption::DeviceOption(int argc, char** argv, const char* usage, size_t cores) {
  bool known = true;
  for (int i = 1; i < argc; ++i) {
    absl::string_view argument = argv[i];
    if (absl::ConsumePrefix(&argument, "--device=")) {
      node_ = argument == "host" ? "" : std::string(argument);
      known &= !argument.empty();
    } else {
      known &= !absl::StartsWith(argument, "-");
      cores_.emplace_back(argument);
    }
  }
  if (known && cores_.size() == (node_.empty() ? cores : 0)) return;
  std::fprintf(stderr, "usage: %s [--device=host] %s\n       %s --device=first|/dev/dri/NODE\n",
               argv[0], usage, argv[0]);
  std::exit(2);
}

std::unique_ptr<Device> DeviceOption::Open(HostDevice::Options host) const {
  if (!node_.empty()) {
    return Must(OpenDevice(
        {.path = node_ == "first" ? std::string() : node_, .generation = host.device.generation}));
  }
  host.core_prefix = cores_[0] + "-";
  return Must(HostDevice::Create(std::move(host)));
}

void DeviceOption::KeepCores() const {
  for (size_t i = 0; i < cores_.size(); ++i) {
    const std::string written = cores_[0] + "-" + HostDevice::CoreName(i + 1);
    if (std::rename(written.c_str(), cores_[i].c_str()) == 0) continue;
    std::perror(cores_[i].c_str());
    std::exit(1);
  }
}

}  // namespace example
