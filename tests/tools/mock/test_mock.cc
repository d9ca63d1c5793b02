// packsmith-mock with a device that has a few calls of its own: what the server, the launcher and
// the preload library do does not depend on the driver.
//
//   test_mock LIBRARY [--verbose] [--warnings] [--summary] [--no-ptrace] [--linger=SECONDS] APP
//   ARGS
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "runtime/capture/devices/device_info.h"
#include "runtime/capture/devices/virtual_files.h"
#include "runtime/capture/drm/file.h"
#include "runtime/capture/drm/kernel.h"
#include "tests/tools/mock/test_device.h"
#include "tools/mock/call_log.h"
#include "tools/mock/launcher.h"
#include "tools/mock/run.h"

namespace packsmith::mock {
namespace {

using capture::Caller;
using capture::MakeIoctl;
using capture::Result;

std::atomic<uint32_t> files_open = 0, objects_made = 0;

class CountedObject : public capture::Object {
 public:
  using Object::Object;
  ~CountedObject() override { --objects_made; }
};

class TestFile : public capture::File {
 public:
  TestFile(capture::MockDevice& device, uint64_t number, bool render)
      : File(device, number, render) {
    ++files_open;
  }
  ~TestFile() override { --files_open; }

 private:
  absl::Span<const capture::IoctlEntry> DriverIoctls() const override {
    static constexpr capture::IoctlEntry kEntries[] = {
        MakeIoctl<&TestFile::Double>(TEST_DOUBLE, "TEST_DOUBLE"),
        MakeIoctl<&TestFile::Create>(TEST_CREATE, "TEST_CREATE"),
        MakeIoctl<&TestFile::Sum>(TEST_SUM, "TEST_SUM"),
        MakeIoctl<&TestFile::State>(TEST_STATE, "TEST_STATE"),
        MakeIoctl<&TestFile::Map>(TEST_MAP, "TEST_MAP"),
    };
    return kEntries;
  }

  Result Double(Caller& caller, test_double& args) {
    if (args.in == TEST_REFUSED) return Refuse(-EDOM, "it is too much");
    if (args.in == TEST_WARNED) Warn(caller, "it is much");
    args.out = 2 * args.in;
    return 0;
  }

  Result Create(Caller&, test_create& args) {
    auto memory = capture::SharedMemory::Create(args.size, "test");
    if (memory == nullptr) return -errno;
    auto object = std::make_shared<CountedObject>(device(), kernel().NewObjectId(),
                                                  std::move(memory), args.size);
    ++objects_made;
    args.handle = AddObject(object);
    args.offset = kernel().MapOffset(object, 0);
    return 0;
  }

  Result Map(Caller& caller, test_map& args) {
    const auto object = FindObject(args.handle);
    if (object == nullptr) return -ENOENT;
    return caller.Map(*object->memory(), args.offset, args.size, args.address);
  }

  Result Sum(Caller& caller, test_sum& args) {
    std::vector<uint8_t> bytes;
    if (const Result bad = caller.GetArray(args.address, args.count, bytes)) return bad;
    args.sum = 0;
    for (const uint8_t byte : bytes) args.sum += byte;
    // Also in the other direction.
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(byte + 1);
    return caller.memory()->Write(args.address, bytes) ? 0 : -EFAULT;
  }

  Result State(Caller&, test_state& args) {
    args.files = files_open;
    args.objects = objects_made;
    return 0;
  }
};

class TestDevice : public capture::MockDevice {
 public:
  using MockDevice::MockDevice;
  Version version() const override {
    return {.name = "test", .major = 3, .minor = 2, .patch = 1, .date = "2026", .description = "a"};
  }
  std::shared_ptr<capture::File> MakeFile(uint64_t number, bool render) override {
    return std::make_shared<TestFile>(*this, number, render);
  }
};

void Require(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(3);
}

void AddFiles(capture::VirtualFiles& files, std::string& written) {
  const std::string device = "/sys/devices/pci0000:00/0000:00:02.0";
  Require(files.AddDirectory("/dev/dri", {.kind = capture::DirectoryKind::kOwned}));
  Require(files.AddDirectory("/sys/class/drm", {.kind = capture::DirectoryKind::kOwned}));
  Require(files.AddDirectory(device, {.kind = capture::DirectoryKind::kOwned}));
  Require(files.AddFile(device + "/uevent", {.content = "DRIVER=test\nPCI_CLASS=30000\n"
                                                        "PCI_ID=8086:9A49\n"
                                                        "PCI_SUBSYS_ID=8086:2212\n"
                                                        "PCI_SLOT_NAME=0000:00:02.0\n"}));
  Require(files.AddFile(device + "/vendor", {.content = "0x8086\n"}));
  Require(files.AddFile(device + "/device", {.content = "0x9a49\n"}));
  Require(files.AddFile(device + "/subsystem_vendor", {.content = "0x8086\n"}));
  Require(files.AddFile(device + "/subsystem_device", {.content = "0x2212\n"}));
  Require(files.AddFile(device + "/revision", {.content = "0x01\n"}));
  Require(files.AddFile(device + "/control", {.content = "",
                                              .make = [&written] { return written; },
                                              .write =
                                                  [&written](absl::string_view text) {
                                                    written = std::string(text);
                                                    return 0;
                                                  },
                                              .mode = 0644}));
  Require(files.AddLink(device + "/subsystem", "../../../bus/pci"));
  for (const char* const node : {"card0", "renderD128"}) {
    const uint32_t minor = node[0] == 'c' ? 0 : 128;
    const std::string name = node;
    Require(files.AddDevice("/dev/dri/" + name, 226, minor));
    Require(files.AddFile(device + "/drm/" + name + "/uevent",
                          {.content = "MAJOR=226\nMINOR=" + std::to_string(minor) +
                                      "\nDEVNAME=dri/" + name + "\nDEVTYPE=drm_minor\n"}));
    Require(files.AddLink(device + "/drm/" + name + "/device", "../../../0000:00:02.0"));
    Require(files.AddLink("/sys/class/drm/" + name,
                          "../../devices/pci0000:00/0000:00:02.0/drm/" + name));
    Require(files.AddLink("/sys/dev/char/226:" + std::to_string(minor),
                          "../../devices/pci0000:00/0000:00:02.0/drm/" + name));
  }
}

// Root may read the memory of all processes: this one no longer.
void GiveUpPtrace() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  constexpr uint32_t kPtrace = uint32_t{1} << CAP_SYS_PTRACE;
  if (syscall(SYS_capget, &header, data) != 0) std::abort();
  data[0].effective &= ~kPtrace;
  data[0].permitted &= ~kPtrace;
  if (syscall(SYS_capset, &header, data) != 0) std::abort();
}

int Main(int argc, char** argv) {
  Launcher launcher("packsmith-mock");
  CallLog::Options log_options;
  RunOptions options;
  int at = 1;
  if (at < argc) options.library = argv[at++];
  for (; at < argc && argv[at][0] == '-'; ++at) {
    if (std::strcmp(argv[at], "--verbose") == 0) log_options.calls = true;
    if (std::strcmp(argv[at], "--warnings") == 0) log_options.warnings = true;
    if (std::strcmp(argv[at], "--no-ptrace") == 0) GiveUpPtrace();
    if (std::strcmp(argv[at], "--summary") == 0) options.summary = true;
    if (std::strncmp(argv[at], "--linger=", 9) == 0) {
      options.linger_seconds = std::atof(argv[at] + 9);
    }
  }
  options.arguments.assign(argv + at, argv + argc);
  if (options.arguments.empty()) return 2;
  CallLog log(log_options);
  std::string written = "nothing";
  capture::VirtualFiles files;
  AddFiles(files, written);
  capture::MockKernel kernel;
  kernel.AddWatcher(&log);
  const auto found = capture::FindDevice("tgl");
  Require(found.status());
  kernel.Add(std::make_unique<TestDevice>(kernel, *found->device));
  return Run(launcher, kernel, files, log, options);
}

}  // namespace
}  // namespace packsmith::mock

int main(int argc, char** argv) { return packsmith::mock::Main(argc, argv); }
