#include "runtime/kernel/open.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/kernel/asahi/asahi_device.h"
#include "runtime/kernel/drm/calls.h"
#include "runtime/kernel/drm/connection.h"
#include "runtime/kernel/i915/i915_device.h"
#include "runtime/kernel/xe/xe_device.h"

namespace packsmith::gpu {
namespace {

template <typename T>
absl::StatusOr<std::unique_ptr<DrmDevice>> OpenAs(std::unique_ptr<Connection> connection,
                                                  const std::string& generation) {
  typename T::Options options;
  options.generation = generation;
  absl::StatusOr<std::unique_ptr<T>> device = T::Open(std::move(connection), options);
  if (!device.ok()) return device.status();
  return *std::move(device);
}

constexpr BackEnd kBackEnds[] = {
    {"i915", OpenAs<I915Device>},
    {"xe", OpenAs<XeDevice>},
    {"asahi", OpenAs<AsahiDevice>},
};

absl::StatusOr<std::unique_ptr<DrmDevice>> OpenPath(const std::string& path,
                                                    const std::string& generation,
                                                    const Nodes& nodes) {
  absl::StatusOr<std::unique_ptr<Connection>> connection =
      nodes.open ? nodes.open(path) : OpenNode(path);
  if (!connection.ok()) return connection.status();
  const absl::StatusOr<std::string> driver = DriverNameOf(**connection);
  if (!driver.ok()) return driver.status();
  std::string known;
  for (const BackEnd& back_end : BackEnds()) {
    if (back_end.driver == *driver) return back_end.open(*std::move(connection), generation);
    absl::StrAppend(&known, known.empty() ? "" : ", ", back_end.driver);
  }
  return absl::UnimplementedError(absl::StrCat(path, " is a node of the driver ", *driver,
                                               "; devices can be opened of: ", known));
}

std::vector<std::string> List(const Nodes& nodes) {
  return nodes.list ? nodes.list() : RenderNodes();
}

}  // namespace

absl::Span<const BackEnd> BackEnds() { return kBackEnds; }

absl::StatusOr<std::unique_ptr<DrmDevice>> OpenDevice(const OpenOptions& options) {
  if (!options.path.empty()) return OpenPath(options.path, options.generation, options.nodes);
  std::string reasons;
  for (const std::string& path : List(options.nodes)) {
    auto device = OpenPath(path, options.generation, options.nodes);
    if (device.ok()) return device;
    absl::StrAppend(&reasons, "; ", path, ": ", device.status().message());
  }
  if (reasons.empty()) reasons = "; /dev/dri has no render node";
  return absl::NotFoundError(absl::StrCat("no GPU fits", reasons));
}

std::vector<ListedDevice> ListDevices(const Nodes& nodes) {
  std::vector<ListedDevice> devices;
  for (const std::string& path : List(nodes)) {
    ListedDevice& listed = devices.emplace_back();
    listed.path = path;
    const auto device = OpenPath(path, /*generation=*/"", nodes);
    listed.status = device.status();
    if (!device.ok()) continue;
    listed.generation = (*device)->generation();
    listed.properties = (*device)->properties();
  }
  return devices;
}

}  // namespace packsmith::gpu
