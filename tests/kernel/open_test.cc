#include "runtime/kernel/open.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/capture/asahi/asahi.h"
#include "runtime/capture/devices/device_info.h"
#include "runtime/capture/i915/i915.h"
#include "runtime/capture/xe/xe.h"
#include "runtime/kernel/drm/connection.h"
#include "tests/kernel/mock_connection.h"

namespace packsmith::gpu {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// A machine with GPUs, by name, at /dev/dri/renderD128, ...129 and so on.
class Gpus {
 public:
  // `driver`: of Intel's.
  explicit Gpus(const std::vector<const char*>& names,
                capture::KernelDriver driver = capture::KernelDriver::kI915) {
    for (const char* const name : names) {
      infos_.push_back(std::make_unique<capture::DeviceInfo>(*capture::FindDevice(name)->device));
      infos_.back()->pci_id = capture::FindDevice(name)->pci_id;
      const capture::DeviceInfo& info = *infos_.back();
      devices_.push_back(&kernel_.Add(info.apple != nullptr ? capture::MakeAsahi(kernel_, info)
                                      : driver == capture::KernelDriver::kXe
                                          ? capture::MakeXe(kernel_, info)
                                          : capture::MakeI915(kernel_, info)));
    }
  }
  capture::DeviceInfo& info(size_t index) { return *infos_[index]; }
  Nodes nodes() {
    return {.list =
                [this] {
                  std::vector<std::string> paths;
                  for (size_t i = 0; i < devices_.size(); ++i) paths.push_back(PathOf(i));
                  return paths;
                },
            .open = [this](const std::string& path) -> absl::StatusOr<std::unique_ptr<Connection>> {
              for (size_t i = 0; i < devices_.size(); ++i) {
                if (PathOf(i) == path) {
                  return std::make_unique<MockConnection>(kernel_, *devices_[i]);
                }
              }
              return absl::NotFoundError(path + ": No such file or directory");
            }};
  }

 private:
  static std::string PathOf(size_t index) {
    return "/dev/dri/renderD" + std::to_string(128 + index);
  }

  std::vector<std::unique_ptr<capture::DeviceInfo>> infos_;
  capture::MockKernel kernel_;
  std::vector<capture::MockDevice*> devices_;
};

TEST(OpenDeviceTest, OpensTheNodeThatIsNamed) {
  Gpus gpus({"skl", "tgl"});
  const auto device = OpenDevice({.path = "/dev/dri/renderD129", .nodes = gpus.nodes()});
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_EQ((*device)->generation(), "gfx12");
  EXPECT_EQ((*device)->properties().driver, "i915");
}

TEST(OpenDeviceTest, OpensTheFirstThatFits) {
  Gpus gpus({"skl", "tgl", "tgl_gt1"});
  EXPECT_EQ((*OpenDevice({.nodes = gpus.nodes()}))->generation(), "gfx9");
  const auto device = OpenDevice({.generation = "tgl", .nodes = gpus.nodes()});
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_EQ((*device)->properties().pci_id, gpus.info(1).pci_id);
}

TEST(OpenDeviceTest, SaysWhyNoneFits) {
  Gpus gpus({"skl", "icl"});
  const auto device = OpenDevice({.generation = "gfx12", .nodes = gpus.nodes()});
  EXPECT_EQ(device.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(device.status().message(),
              AllOf(HasSubstr("renderD128"), HasSubstr("is a GPU of gfx9, not of gfx12"),
                    HasSubstr("renderD129"), HasSubstr("is a GPU of gfx11, not of gfx12")));
  EXPECT_THAT(OpenDevice({.nodes = Gpus({}).nodes()}).status().message(),
              HasSubstr("/dev/dri has no render node"));
  EXPECT_EQ(OpenDevice({.path = "/dev/dri/renderD7", .nodes = gpus.nodes()}).status().code(),
            absl::StatusCode::kNotFound);
}

// Whatever GPUs the machine of the test has.
TEST(OpenDeviceTest, WithoutNodesItIsThoseOfTheSystem) {
  const size_t nodes = RenderNodes().size();
  EXPECT_THAT(ListDevices(), SizeIs(nodes));
  const auto device = OpenDevice({});
  if (nodes == 0) {
    EXPECT_EQ(device.status().code(), absl::StatusCode::kNotFound);
    EXPECT_THAT(device.status().message(), HasSubstr("/dev/dri has no render node"));
  } else if (!device.ok()) {
    EXPECT_THAT(device.status().message(), HasSubstr(RenderNodes().front()));
  }
}

TEST(OpenDeviceTest, AnUnknownPciIdNeedsAGeneration) {
  Gpus gpus({"skl"});
  gpus.info(0).pci_id = 0x1234;
  EXPECT_FALSE(OpenDevice({.nodes = gpus.nodes()}).ok());
  const auto device = OpenDevice({.generation = "gfx9", .nodes = gpus.nodes()});
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_EQ((*device)->generation(), "gfx9");
}

TEST(OpenDeviceTest, ListsAllWithWhatTheyHaveOrWhyTheyCannotBeOpened) {
  Gpus gpus({"skl", "dg2", "icl"});
  gpus.info(2).pci_id = 0x1234;
  const std::vector<ListedDevice> devices = ListDevices(gpus.nodes());
  ASSERT_THAT(devices, SizeIs(3));
  EXPECT_EQ(devices[0].path, "/dev/dri/renderD128");
  EXPECT_EQ(devices[0].generation, "gfx9");
  EXPECT_FALSE(devices[0].properties.discrete);
  EXPECT_EQ(devices[1].generation, "gfx125");
  EXPECT_TRUE(devices[1].properties.discrete);
  EXPECT_EQ(devices[2].status.code(), absl::StatusCode::kNotFound);
}

TEST(OpenDeviceTest, TheNodesDriverDecides) {
  Gpus gpus({"tgl", "lnl", "m1", "m2"}, capture::KernelDriver::kXe);
  const std::vector<ListedDevice> devices = ListDevices(gpus.nodes());
  ASSERT_THAT(devices, SizeIs(4));
  for (const ListedDevice& device : devices) EXPECT_TRUE(device.status.ok()) << device.status;
  EXPECT_EQ(devices[0].properties.driver, "xe");
  EXPECT_EQ(devices[1].generation, "xe2");
  EXPECT_EQ(devices[2].properties.driver, "asahi");
  const auto device = OpenDevice({.generation = "agx_g14", .nodes = gpus.nodes()});
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_EQ((*device)->generation(), "agx_g14");
}

// A node that says that its driver is another one.
class Stranger : public Connection {
 public:
  Stranger() : Connection("/dev/dri/renderD128") {}
  int Ioctl(uint32_t request, void* argument) override {
    if (request != uapi::drm::kVersion) return -EINVAL;
    auto& version = *static_cast<uapi::drm::version*>(argument);
    const std::string name = "nouveau";
    std::memcpy(reinterpret_cast<char*>(version.name), name.data(), name.size());
    version.name_len = name.size();
    return 0;
  }
  int IoctlOn(int, uint32_t, void*) override { return -EINVAL; }
  int Map(uint64_t, uint64_t, uint8_t*&) override { return -EINVAL; }
  void Unmap(uint8_t*, uint64_t) override {}
};

TEST(OpenDeviceTest, DriversWithoutABackEndAreUnimplemented) {
  const auto device = OpenDevice(
      {.path = "/dev/dri/renderD128",
       .nodes = {.open = [](const std::string&) { return std::make_unique<Stranger>(); }}});
  EXPECT_EQ(device.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(device.status().message(), AllOf(HasSubstr("nouveau"), HasSubstr("i915, xe, asahi")));
}

}  // namespace
}  // namespace packsmith::gpu
