// A program that uses a mocked device, in this process.
#ifndef PACKSMITH_TESTS_CAPTURE_I915_CLIENT_H_
#define PACKSMITH_TESTS_CAPTURE_I915_CLIENT_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "runtime/capture/devices/device_info.h"
#include "runtime/capture/drm/file.h"
#include "runtime/capture/drm/kernel.h"
#include "runtime/capture/i915/i915.h"
#include "runtime/kernel/uapi/drm.h"
#include "runtime/kernel/uapi/i915.h"

namespace packsmith::capture {

// Executes nothing, and says what the test tells it to say.
class FakeExecutor : public Executor {
 public:
  Outcome Execute(const Work& work, std::string& why) override {
    if (hangs.contains(work.number)) {
      why = "the test says so";
      return Outcome::kHung;
    }
    if (held) return Outcome::kWaiting;
    return Outcome::kDone;
  }
  void ForgetContext(uint64_t context) override { forgotten.insert(context); }

  bool held = false;         // all work waits
  std::set<uint64_t> hangs;  // by number
  std::set<uint64_t> forgotten;
};

class FakeWatcher : public Watcher {
 public:
  void OnSubmit(const std::shared_ptr<const Work>& work) override { works.push_back(work); }
  void OnDone(const Work& work, Outcome outcome, absl::string_view) override {
    (outcome == Outcome::kHung ? hung : done).push_back(work.number);
  }
  void OnWarning(pid_t, absl::string_view call, absl::string_view text) override {
    warnings.push_back(std::string(call) + ": " + std::string(text));
  }

  std::vector<std::shared_ptr<const Work>> works;
  std::vector<uint64_t> done, hung;
  std::vector<std::string> warnings;
};

// A kernel with one device.
class Machine {
 public:
  explicit Machine(absl::string_view name) {
    const auto found = FindDevice(name);
    EXPECT_TRUE(found.ok()) << found.status();
    info = *found->device;
    info.pci_id = found->pci_id;
    kernel.AddWatcher(&watcher);
    kernel.set_executor(&executor);
    device = &kernel.Add(MakeI915(kernel, info));
  }
  // Work that was held goes on.
  void Release() {
    {
      MutexLock lock(kernel.mutex());
      executor.held = false;
    }
    kernel.Advance();
  }
  void Hold() {
    MutexLock lock(kernel.mutex());
    executor.held = true;
  }

  FakeExecutor executor;
  FakeWatcher watcher;
  DeviceInfo info;
  MockKernel kernel;
  MockDevice* device = nullptr;
};

// An open file.
class Client {
 public:
  explicit Client(Machine& machine)
      : machine(machine), file(machine.kernel.Open(machine.device->render_minor())) {}

  template <typename T>
  int Call(uint32_t request, T& argument) {
    return file->Ioctl(caller, request, reinterpret_cast<uint64_t>(&argument));
  }

  uint32_t Create(uint64_t size) {
    uapi::i915::gem_create create = {.size = size, .handle = 0, .pad = 0};
    EXPECT_EQ(Call(uapi::i915::kGemCreate, create), 0);
    return create.handle;
  }
  int Close(uint32_t handle) {
    uapi::drm::gem_close close = {.handle = handle, .pad = 0};
    return Call(uapi::drm::kGemClose, close);
  }
  // The memory of an object, as a view of mmap() shows it.
  std::shared_ptr<SharedMemory> Map(uint32_t handle, uint64_t flags) {
    uapi::i915::gem_mmap_offset args = {};
    args.handle = handle;
    args.flags = flags;
    if (Call(uapi::i915::kGemMmapOffset, args) != 0) return nullptr;
    File::Mapped mapped;
    if (file->Mmap(caller, args.offset, 4096, mapped) != 0) return nullptr;
    return mapped.memory;
  }
  std::shared_ptr<SharedMemory> Map(uint32_t handle) {
    return Map(handle,
               machine.info.discrete() ? uapi::i915::kMmapOffsetFixed : uapi::i915::kMmapOffsetWb);
  }
  uint32_t ReadWord(uint32_t handle, uint64_t offset) {
    uint32_t word = 0;
    const auto memory = Map(handle);
    EXPECT_NE(memory, nullptr);
    if (memory) std::memcpy(&word, memory->bytes().data() + offset, sizeof(word));
    return word;
  }
  uint32_t CreateSyncobj(uint32_t flags = 0) {
    uapi::drm::syncobj_create create = {.handle = 0, .flags = flags};
    EXPECT_EQ(Call(uapi::drm::kSyncobjCreate, create), 0);
    return create.handle;
  }
  // 0 if it is signalled now, -ETIME if it is not.
  int PollSyncobj(uint32_t handle) {
    uapi::drm::syncobj_wait wait = {};
    wait.handles = reinterpret_cast<uint64_t>(&handle);
    wait.count_handles = 1;
    return Call(uapi::drm::kSyncobjWait, wait);
  }
  int GetParam(int32_t param, int32_t& value) {
    uapi::i915::getparam args = {};
    args.param = param;
    args.value = reinterpret_cast<uint64_t>(&value);
    return Call(uapi::i915::kGetparam, args);
  }
  int GetContextParam(uint32_t context, uint64_t param, uint64_t& value) {
    uapi::i915::gem_context_param args = {context, 0, param, 0};
    const int result = Call(uapi::i915::kGemContextGetparam, args);
    value = args.value;
    return result;
  }
  int SetContextParam(uint32_t context, uint64_t param, uint64_t value, uint32_t size = 0) {
    uapi::i915::gem_context_param args = {context, size, param, value};
    return Call(uapi::i915::kGemContextSetparam, args);
  }
  uint32_t CreateContext() {
    uapi::i915::gem_context_create_ext create = {};
    EXPECT_EQ(Call(uapi::i915::kGemContextCreateExt, create), 0);
    return create.ctx_id;
  }
  // Submits the objects, of which the last is the batch.
  int Submit(std::vector<uapi::i915::gem_exec_object2>& objects, uint64_t flags = 0,
             uint32_t context = 0) {
    uapi::i915::gem_execbuffer2 args = {};
    args.buffers_ptr = reinterpret_cast<uint64_t>(objects.data());
    args.buffer_count = static_cast<uint32_t>(objects.size());
    args.flags = flags;
    args.rsvd1 = context;
    return Call(uapi::i915::kGemExecbuffer2, args);
  }
  int SubmitOne(uint32_t handle, uint64_t flags = 0, uint32_t context = 0) {
    std::vector<uapi::i915::gem_exec_object2> objects = {Object(handle)};
    return Submit(objects, flags, context);
  }
  static uapi::i915::gem_exec_object2 Object(uint32_t handle) {
    uapi::i915::gem_exec_object2 object = {};
    object.handle = handle;
    return object;
  }
  static uapi::i915::gem_exec_object2 Pinned(uint32_t handle, uint64_t address) {
    uapi::i915::gem_exec_object2 object = Object(handle);
    object.offset = address;
    object.flags = uapi::i915::kObjectPinned | uapi::i915::kObjectSupports48bAddress;
    return object;
  }

  Machine& machine;
  OwnCaller caller;
  std::shared_ptr<File> file;
};

template <typename T>
uint64_t AddressOf(T& value) {
  return reinterpret_cast<uint64_t>(&value);
}

}  // namespace packsmith::capture

#endif  // PACKSMITH_TESTS_CAPTURE_I915_CLIENT_H_
