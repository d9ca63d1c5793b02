// A device with the calls that all drivers share, and three of its own.
#ifndef PACKSMITH_TESTS_CAPTURE_DRM_TEST_DEVICE_H_
#define PACKSMITH_TESTS_CAPTURE_DRM_TEST_DEVICE_H_

#include <cerrno>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/capture/devices/device_info.h"
#include "runtime/capture/drm/file.h"
#include "runtime/capture/drm/kernel.h"

namespace packsmith::capture {

struct CreateArgs {
  uint64_t size;
  uint32_t handle, pad;
  uint64_t map_offset;
};
struct SubmitArgs {
  uint32_t queue, object;  // object: 0 or a handle whose first dword must be 1 for it to end
  uint32_t wait, signal;   // handles of synchronization objects; 0: none
};
inline constexpr uint32_t kTestCreate =
    uapi::drm::Request(uapi::drm::kInOut, 0x40, sizeof(CreateArgs));
inline constexpr uint32_t kTestSubmit =
    uapi::drm::Request(uapi::drm::kIn, 0x41, sizeof(SubmitArgs));

class TestFile : public File {
 public:
  using File::File;

 protected:
  absl::Span<const IoctlEntry> DriverIoctls() const override {
    static constexpr IoctlEntry kEntries[] = {
        MakeIoctl<&TestFile::Create>(kTestCreate, "CREATE"),
        MakeIoctl<&TestFile::Submit>(kTestSubmit, "SUBMIT"),
    };
    return kEntries;
  }

 private:
  Result Create(Caller&, CreateArgs& args) {
    if (args.pad != 0) return -EINVAL;
    std::shared_ptr<SharedMemory> memory = SharedMemory::Create(args.size, "test");
    if (!memory) return -errno;
    auto object =
        std::make_shared<Object>(device(), kernel().NewObjectId(), std::move(memory), args.size);
    args.map_offset = kernel().MapOffset(object, 0);
    args.handle = AddObject(std::move(object));
    return 0;
  }

  Result Submit(Caller& caller, SubmitArgs& args) {
    Job job;
    job.work = std::make_shared<Work>();
    job.work->number = kernel().NewWorkNumber();
    job.work->device = &device().info();
    job.work->pid = caller.pid();
    job.work->context = args.queue;
    auto map = std::make_shared<AddressMap>();
    if (args.object != 0) {
      std::shared_ptr<Object> object = FindObject(args.object);
      if (!object) return -ENOENT;
      map->Map({.address = 0x1000, .size = object->size(), .object = std::move(object)});
    }
    job.work->memory = std::move(map);
    job.done = std::make_shared<Fence>();
    if (args.wait != 0) {
      const auto wait = FindSyncobj(args.wait);
      if (!wait) return -ENOENT;
      if (!wait->fence()) return Refuse(-EINVAL, "nothing to wait for");
      job.after.push_back(wait->fence());
    }
    if (args.signal != 0) {
      const auto signal = FindSyncobj(args.signal);
      if (!signal) return -ENOENT;
      signal->Replace(job.done);
    }
    kernel().OnSubmit(job.work);
    kernel().scheduler().Add(args.queue, std::move(job));
    return 0;
  }
};

class TestDevice : public MockDevice {
 public:
  using MockDevice::MockDevice;
  Version version() const override {
    return {.name = "test", .major = 1, .minor = 2, .date = "20260101", .description = "For tests"};
  }
  std::shared_ptr<File> MakeFile(uint64_t number, bool render) override {
    return std::make_shared<TestFile>(*this, number, render);
  }
};

// Work waits until the first dword of its memory is 1; 2 is a hang.
class TestExecutor : public Executor {
 public:
  Outcome Execute(const Work& work, std::string& why) override {
    ++calls;
    const Mapping* const mapping = work.memory->Find(0x1000);
    if (mapping == nullptr) return Outcome::kDone;
    uint32_t value = 0;
    mapping->object->Read(0, {reinterpret_cast<uint8_t*>(&value), sizeof(value)});
    why = value == 2 ? "a two" : "";
    return value == 0 ? Outcome::kWaiting : value == 2 ? Outcome::kHung : Outcome::kDone;
  }
  int calls = 0;
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_TESTS_CAPTURE_DRM_TEST_DEVICE_H_
