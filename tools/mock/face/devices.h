// Open device files of the mock kernel.
#ifndef PACKSMITH_TOOLS_MOCK_FACE_DEVICES_H_
#define PACKSMITH_TOOLS_MOCK_FACE_DEVICES_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace packsmith::mock::face {

struct DeviceFile {
  uint32_t minor = 0;
  uint64_t file = 0;
};

// Whether the descriptor is an open device file of this run.
bool FindDeviceFile(int fd, DeviceFile& out);

// The node's path: "/dev/dri/renderD128".
inline constexpr size_t kMostNodePath = 32;
void NodePath(uint32_t minor, char (&out)[kMostNodePath]);

// Both return whether the call is the mock kernel's; `result` is then 0 or more, or a negative
// errno.
bool DeviceIoctl(int fd, unsigned long request, void* argument, long& result);
bool DeviceMmap(void* address, size_t size, int protection, int flags, int fd, off_t offset,
                long& result);

}  // namespace packsmith::mock::face

#endif  // PACKSMITH_TOOLS_MOCK_FACE_DEVICES_H_
