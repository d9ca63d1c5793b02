// Devices of Linux's GPU drivers, whichever driver it is.
//
//   absl::StatusOr<std::unique_ptr<DrmDevice>> device = OpenDevice({});  // the first GPU
//   if (!device.ok()) return device.status();
#ifndef PACKSMITH_RUNTIME_KERNEL_OPEN_H_
#define PACKSMITH_RUNTIME_KERNEL_OPEN_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/kernel/drm/drm_device.h"
#include "runtime/kernel/drm/properties.h"

namespace packsmith::gpu {

class Connection;

// The nodes of GPUs; tests have others than the system's. Empty: RenderNodes() and OpenNode() of
// connection.h.
struct Nodes {
  std::function<std::vector<std::string>()> list = {};
  std::function<absl::StatusOr<std::unique_ptr<Connection>>(const std::string& path)> open = {};
};

struct OpenOptions {
  // "/dev/dri/renderD128". Empty: the first render node that fits.
  std::string path = {};
  // The generation that the GPU must have, by the XML's name or alias ("gfx9", "skl"). Empty: any.
  std::string generation = {};
  Nodes nodes = {};
};

// By path: the errors of opening the node and of the driver's Open(); Unimplemented for other
// drivers than those of BackEnds(). The first that fits: NotFound, with the reason for each node
// that does not fit.
absl::StatusOr<std::unique_ptr<DrmDevice>> OpenDevice(const OpenOptions& options);

struct ListedDevice {
  std::string path;
  // Why it cannot be opened; the rest is then empty.
  absl::Status status;
  std::string generation;
  DeviceProperties properties;
};
// All render nodes.
std::vector<ListedDevice> ListDevices(const Nodes& nodes = {});

// A driver that devices are made for.
struct BackEnd {
  absl::string_view driver;  // as DRM_IOCTL_VERSION names it
  // `generation` as in OpenOptions.
  absl::StatusOr<std::unique_ptr<DrmDevice>> (*open)(std::unique_ptr<Connection> connection,
                                                     const std::string& generation);
};
absl::Span<const BackEnd> BackEnds();

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_KERNEL_OPEN_H_
