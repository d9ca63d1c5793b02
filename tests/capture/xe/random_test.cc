// Random calls: none harms, and those that fail have changed nothing.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tests/capture/sandbox.h"
#include "tests/capture/xe/client.h"

namespace packsmith::capture {
namespace {

namespace drm = uapi::drm;
namespace xe = uapi::xe;

constexpr uint64_t kPages = 16, kRoom = SandboxMemory::kBegin;  // where arguments are
constexpr uint64_t kData = kRoom + 4096;                        // where what they point to is
constexpr uint64_t kProbe = kRoom + uint64_t{15} * 4096;        // where the test's own calls are
constexpr uint32_t kHandles = 24;                               // that are looked at

class XeRandom : public testing::Test {
 protected:
  XeRandom() : machine_("dg2") {
    file_ = machine_.kernel.Open(machine_.device.render_minor());
    Reset();
  }

  // A file with some of everything.
  void Reset() {
    file_ = machine_.kernel.Open(machine_.device.render_minor());
    for (int i = 0; i < 2; ++i) {
      xe::vm_create vm = {};
      vm.flags = i == 0 ? xe::kVmScratchPage : xe::kVmLrMode;
      ASSERT_EQ(Probe(xe::kVmCreate, vm), 0);
    }
    for (int i = 0; i < 3; ++i) {
      xe::gem_create object = {};
      object.size = 0x40000;
      object.placement = i == 2 ? 2 : 1;
      object.cpu_caching = i == 0 ? xe::kCachingWb : xe::kCachingWc;
      object.vm_id = i == 1 ? 1 : 0;
      ASSERT_EQ(Probe(xe::kGemCreate, object), 0);
    }
    for (const uint16_t engine : {xe::kRender, xe::kCompute, xe::kVmBindClass}) {
      xe::exec_queue_create queue = {};
      queue.width = queue.num_placements = 1;
      queue.vm_id = 1;
      queue.instances = kProbe + 256;
      const xe::engine_class_instance instance = {engine, 0, 0, 0};
      Put(queue.instances, instance);
      ASSERT_EQ(Probe(xe::kExecQueueCreate, queue), 0);
    }
    for (int i = 0; i < 3; ++i) {
      drm::syncobj_create syncobj = {0, i == 0 ? drm::kSyncobjCreateSignaled : 0};
      ASSERT_EQ(Probe(drm::kSyncobjCreate, syncobj), 0);
    }
  }

  template <typename T>
  void Put(uint64_t address, const T& value) {
    std::memcpy(memory_->bytes.data() + (address - kRoom), &value, sizeof(value));
  }
  template <typename T>
  Result Probe(uint32_t request, T& args) {
    Put(kProbe, args);
    const Result result = file_->Ioctl(caller_, request, kProbe);
    std::memcpy(&args, memory_->bytes.data() + (kProbe - kRoom), sizeof(args));
    return result;
  }

  // All that programs can see of the file, and the process' memory but for the call's arguments.
  std::string State() {
    std::string state;
    const auto add = [&state](auto value) { state += std::to_string(value) + " "; };
    for (uint32_t handle = 1; handle < kHandles; ++handle) {
      xe::gem_mmap_offset object = {};
      object.handle = handle;
      add(Probe(xe::kGemMmapOffset, object));
      add(object.offset);
      xe::vm_bind nothing = {};
      nothing.vm_id = handle;
      add(Probe(xe::kVmBind, nothing));
      xe::exec_queue_get_property ban = {};
      ban.exec_queue_id = handle;
      add(Probe(xe::kExecQueueGetProperty, ban));
      add(ban.value);
      drm::syncobj_wait wait = {};
      wait.handles = kProbe + 512;
      wait.count_handles = 1;
      Put(wait.handles, handle);
      add(Probe(drm::kSyncobjWait, wait));
      drm::syncobj_timeline_array query = {kProbe + 512, kProbe + 520, 1,
                                           drm::kSyncobjQueryLastSubmitted};
      Put(query.points, uint64_t{0});
      add(Probe(drm::kSyncobjQuery, query));
      uint64_t point = 0;
      std::memcpy(&point, memory_->bytes.data() + (query.points - kRoom), sizeof(point));
      add(point);
    }
    // What is mapped.
    xe::exec exec = {};
    exec.exec_queue_id = 1;
    exec.num_batch_buffer = 1;
    machine_.seen.works.clear();
    if (Probe(xe::kExec, exec) == 0 && !machine_.seen.works.empty()) {
      for (const auto& [address, mapping] : machine_.seen.works.back()->memory->mappings()) {
        add(address), add(mapping.size), add(mapping.offset), add(mapping.flags);
        add(mapping.object ? mapping.object->id() : 0);
      }
    }
    add(CountDescriptors());
    state.append(memory_->bytes.begin() + 4096, memory_->bytes.end() - 4096);
    return state;
  }

  uint64_t Upto(uint64_t count) { return random_() % count; }

  // Numbers that calls are likely to take in earnest, and some that they must not.
  uint64_t Number() {
    switch (Upto(12)) {
      case 0:
        return random_();
      case 1:
        return ~uint64_t{0} - Upto(4096);
      case 2:
        return uint64_t{1} << Upto(64);
      case 3:
        return kData + 8 * Upto(1024);
      case 4:
        return kRoom + kPages * 4096 - Upto(64);  // the end of memory
      case 5:
        return 4096 * Upto(64);
      case 6:
        return (uint64_t{1} << 48) - 4096 * Upto(3);
      default:
        return Upto(6);
    }
  }

  Machine machine_;
  std::shared_ptr<SandboxMemory> memory_ = std::make_shared<SandboxMemory>(kPages * 4096);
  SandboxCaller caller_{memory_};
  std::shared_ptr<File> file_;
  std::mt19937_64 random_{19};
};

// The driver's calls, and those of the core that take handles.
constexpr uint32_t kRequests[] = {
    xe::kDeviceQuery,
    xe::kGemCreate,
    xe::kGemMmapOffset,
    xe::kVmCreate,
    xe::kVmDestroy,
    xe::kVmBind,
    xe::kVmBind,
    xe::kExecQueueCreate,
    xe::kExecQueueDestroy,
    xe::kExecQueueGetProperty,
    xe::kExec,
    xe::kExec,
    xe::kWaitUserFence,
    xe::kObservation,
    drm::kGemClose,
    drm::kSyncobjCreate,
    drm::kSyncobjDestroy,
    drm::kPrimeHandleToFd,
};

TEST_F(XeRandom, CallsThatFailChangeNothing) {
  int failed = 0, succeeded = 0;
  for (int i = 0; i < 1000; ++i) {
    // A structure of zeros in which a few fields are set; now and then all of it is noise.
    const uint32_t request = kRequests[Upto(std::size(kRequests))];
    const size_t size = (request >> 16) & 0x3fff;
    std::vector<uint8_t> args(std::max<size_t>(size, 8));
    if (Upto(10) == 0) {
      for (uint8_t& byte : args) byte = static_cast<uint8_t>(random_());
    } else {
      for (uint64_t fields = Upto(5); fields > 0; --fields) {
        const uint64_t number = Number();
        const size_t width = Upto(2) == 0 ? 4 : 8;
        std::memcpy(args.data() + width * Upto(args.size() / width), &number, width);
      }
    }
    // A bind, or work, that is right but for one word.
    if (request == xe::kVmBind && Upto(2) == 0) {
      xe::vm_bind bind = {};
      bind.vm_id = 1;
      bind.num_binds = 1;
      bind.bind = Map(1, 4096 * Upto(64), 0x10000, 4096 * Upto(32));
      std::memcpy(args.data(), &bind, sizeof(bind));
      const uint64_t number = Number();
      if (Upto(3) != 0) std::memcpy(args.data() + 4 * Upto(34), &number, 4);
    }
    if (request == xe::kExec && Upto(2) == 0) {
      xe::exec exec = {};
      exec.exec_queue_id = 1 + static_cast<uint32_t>(Upto(2));
      exec.num_batch_buffer = 1;
      exec.address = Number();
      exec.num_syncs = static_cast<uint32_t>(Upto(3));
      exec.syncs = kData;
      std::memcpy(args.data(), &exec, sizeof(exec));
    }
    // A wait must end.
    if (request == xe::kWaitUserFence) std::memset(args.data() + 40, 0, 8);
    // What arrays hold: noise of small numbers, as syncs and operations are.
    for (size_t at = 0; at < 1024; ++at) {
      Put(kData + 4 * at, static_cast<uint32_t>(Upto(4) == 0 ? Upto(4) : 0));
    }
    std::memcpy(memory_->bytes.data(), args.data(), args.size());
    const std::string before = State();
    const Result result = file_->Ioctl(caller_, request, kRoom);
    ASSERT_LE(result, 0);
    if (result < 0) {
      ++failed;
      ASSERT_EQ(State(), before) << "call " << i << ", request " << std::hex << request;
    } else {
      ++succeeded;
      // A program that has lost its queue or has too much can see less: it begins again.
      caller_.installed.clear();
      if (succeeded % 8 == 0) Reset();
    }
  }
  // Both happen often, or the test would show nothing.
  EXPECT_GT(failed, 300);
  EXPECT_GT(succeeded, 100);
}

TEST_F(XeRandom, NoiseInEverySizeIsAnswered) {
  for (int i = 0; i < 10'000; ++i) {
    for (size_t at = 0; at < 1024; ++at) memory_->bytes[at] = static_cast<uint8_t>(random_());
    if (Upto(2) == 0) std::memset(memory_->bytes.data(), 0, 8 * Upto(64));
    const auto number = static_cast<uint32_t>(0x40 + Upto(16));
    const auto direction = static_cast<drm::Direction>(Upto(4));
    const uint32_t request = drm::Request(direction, number, Upto(1024));
    // A wait must end.
    if (number == 0x4a) std::memset(memory_->bytes.data() + 40, 0, 8);
    ASSERT_LE(file_->Ioctl(caller_, request, Upto(50) == 0 ? Number() : kRoom), 0);
    if (i % 512 == 0) Reset();
  }
}

}  // namespace
}  // namespace packsmith::capture
