#include "runtime/memory/device.h"

#include <string>

namespace packsmith::gpu {

Device::~Device() = default;

std::string Device::generation() const { return {}; }

}  // namespace packsmith::gpu
