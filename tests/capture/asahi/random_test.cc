// Random calls: none harms, and those that fail have changed nothing.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tests/capture/asahi/client.h"
#include "tests/capture/sandbox.h"

namespace packsmith::capture {
namespace {

namespace asahi = uapi::asahi;
namespace drm = uapi::drm;

constexpr uint64_t kPage = asahi::kPage;
constexpr uint64_t kPages = 16, kRoom = SandboxMemory::kBegin;  // where arguments are
constexpr uint64_t kData = kRoom + 4096;                        // where what they point to is
constexpr uint64_t kProbe = kRoom + uint64_t{15} * 4096;        // where the test's own calls are
constexpr uint32_t kHandles = 16;                               // that are looked at

class AsahiRandom : public testing::Test {
 protected:
  AsahiRandom() { Reset(); }

  // A file with some of everything.
  void Reset() {
    file_ = machine_.kernel.Open(machine_.device.render_minor());
    for (int i = 0; i < 2; ++i) {
      asahi::vm_create vm = {Client::kKernelStart, Client::kKernelEnd, 0, 0};
      ASSERT_EQ(Probe(asahi::kVmCreate, vm), 0);
      asahi::gem_create object = {};
      object.size = 16 * kPage;
      object.flags = i == 0 ? 0 : asahi::kGemVmPrivate;
      object.vm_id = i == 0 ? 0 : 1;
      ASSERT_EQ(Probe(asahi::kGemCreate, object), 0);
      asahi::queue_create queue = {};
      queue.vm_id = 1;
      ASSERT_EQ(Probe(asahi::kQueueCreate, queue), 0);
      drm::syncobj_create syncobj = {0, i == 0 ? drm::kSyncobjCreateSignaled : 0};
      ASSERT_EQ(Probe(drm::kSyncobjCreate, syncobj), 0);
    }
    asahi::gem_bind_object times = {};
    times.flags = asahi::kObjectTimestamps;
    times.handle = 1;
    times.range = kPage;
    ASSERT_EQ(Probe(asahi::kGemBindObject, times), 0);
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
      asahi::gem_mmap_offset object = {handle, 0, 0};
      add(Probe(asahi::kGemMmapOffset, object));
      add(object.offset);
      asahi::vm_bind nothing = {handle, 0, sizeof(asahi::gem_bind_op), 0, 0};
      add(Probe(asahi::kVmBind, nothing));
      // A queue that is there wants commands.
      asahi::submit submit = {};
      submit.queue_id = handle;
      add(Probe(asahi::kSubmit, submit));
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
    // What is mapped, and whether there is an object for timestamps: work writes them at offset 0.
    asahi::cmd_compute compute = GoodCompute(kPage);
    compute.ts.end = {1, 0};
    const Commands commands = Commands().Compute(compute);
    std::copy(commands.bytes().begin(), commands.bytes().end(),
              memory_->bytes.begin() + static_cast<ptrdiff_t>(kProbe + 1024 - kRoom));
    asahi::submit submit = {};
    submit.cmdbuf = kProbe + 1024;
    submit.cmdbuf_size = static_cast<uint32_t>(commands.bytes().size());
    submit.queue_id = 1;
    machine_.seen.works.clear();
    add(Probe(asahi::kSubmit, submit));
    if (!machine_.seen.works.empty()) {
      for (const auto& [address, mapping] : machine_.seen.works.back()->memory->mappings()) {
        add(address), add(mapping.size), add(mapping.offset), add(mapping.flags);
        add(mapping.object->id());
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
        return kPage * Upto(64);
      case 6:
        return kAsahiEnd - kPage * Upto(3);
      default:
        return Upto(6);
    }
  }
  static constexpr uint64_t kAsahiEnd = 0x7fffff8000;

  Machine machine_;
  std::shared_ptr<SandboxMemory> memory_ = std::make_shared<SandboxMemory>(kPages * 4096);
  SandboxCaller caller_{memory_};
  std::shared_ptr<File> file_;
  std::mt19937_64 random_{13};
};

constexpr uint32_t kRequests[] = {
    asahi::kGetParams,     asahi::kGetTime,       asahi::kVmCreate,      asahi::kVmDestroy,
    asahi::kVmBind,        asahi::kVmBind,        asahi::kVmBind,        asahi::kGemCreate,
    asahi::kGemMmapOffset, asahi::kGemBindObject, asahi::kQueueCreate,   asahi::kQueueDestroy,
    asahi::kSubmit,        asahi::kSubmit,        asahi::kSubmit,        drm::kGemClose,
    drm::kSyncobjCreate,   drm::kSyncobjDestroy,  drm::kPrimeHandleToFd,
};

TEST_F(AsahiRandom, CallsThatFailChangeNothing) {
  int failed = 0, succeeded = 0;
  for (int i = 0; i < 1000; ++i) {
    // A structure of zeros in which a few fields are set; now and then all of it is noise.
    const uint32_t request = kRequests[Upto(std::size(kRequests))];
    std::vector<uint8_t> args(std::max<size_t>((request >> 16) & 0x3fff, 8));
    if (Upto(10) == 0) {
      for (uint8_t& byte : args) byte = static_cast<uint8_t>(random_());
    } else {
      for (uint64_t fields = Upto(5); fields > 0; --fields) {
        const uint64_t number = Number();
        const size_t width = Upto(2) == 0 ? 4 : 8;
        std::memcpy(args.data() + width * Upto(args.size() / width), &number, width);
      }
    }
    for (size_t at = 0; at < 1024; ++at) {
      Put(kData + 4 * at, static_cast<uint32_t>(Upto(4) == 0 ? Upto(4) : 0));
    }
    // A bind of one operation (several before a bad one stay), and a submission, that are right
    // but for one word.
    const uint32_t word = static_cast<uint32_t>(Number());
    if (request == asahi::kVmBind) {
      const asahi::gem_bind_op op = Map(1, kPage * (1 + Upto(64)), kPage * 4, kPage * Upto(8));
      Put(kData, op);
      if (Upto(2) == 0) Put(kData + 4 * Upto(sizeof(op) / 4), word);
      const asahi::vm_bind bind = {1, 1, sizeof(op), 0, kData};
      std::memcpy(args.data(), &bind, sizeof(bind));
    }
    if (request == asahi::kSubmit && Upto(4) != 0) {
      Commands commands;
      for (uint64_t count = 1 + Upto(3); count > 0; --count) {
        if (Upto(2) == 0) {
          commands.Render(GoodRender(kPage * Upto(64)));
        } else {
          asahi::cmd_compute compute = GoodCompute(kPage * Upto(64));
          compute.ts.start = {static_cast<uint32_t>(Upto(3)), static_cast<uint32_t>(8 * Upto(8))};
          commands.Compute(compute, Upto(2) == 0 ? 0 : asahi::kNoBarrier);
        }
      }
      std::copy(commands.bytes().begin(), commands.bytes().end(),
                memory_->bytes.begin() + static_cast<ptrdiff_t>(kData + 1024 - kRoom));
      if (Upto(2) == 0) Put(kData + 1024 + 4 * Upto(commands.bytes().size() / 4), word);
      asahi::submit submit = {};
      submit.syncs = kData;
      submit.cmdbuf = kData + 1024;
      submit.cmdbuf_size = static_cast<uint32_t>(commands.bytes().size());
      submit.queue_id = static_cast<uint32_t>(1 + Upto(2));
      submit.in_sync_count = static_cast<uint32_t>(Upto(3));
      submit.out_sync_count = static_cast<uint32_t>(Upto(3));
      for (uint64_t s = 0; s < 4; ++s) {
        Put(kData + 16 * s, Sync(static_cast<uint32_t>(1 + Upto(2)), Upto(3)));
      }
      std::memcpy(args.data(), &submit, sizeof(submit));
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

TEST_F(AsahiRandom, NoiseInEverySizeIsAnswered) {
  for (int i = 0; i < 10'000; ++i) {
    for (size_t at = 0; at < 1024; ++at) memory_->bytes[at] = static_cast<uint8_t>(random_());
    if (Upto(2) == 0) std::memset(memory_->bytes.data(), 0, 8 * Upto(64));
    const auto number = static_cast<uint32_t>(0x40 + Upto(13));
    const auto direction = static_cast<drm::Direction>(Upto(4));
    const uint32_t request = drm::Request(direction, number, Upto(1024));
    ASSERT_LE(file_->Ioctl(caller_, request, Upto(50) == 0 ? Number() : kRoom), 0);
    if (i % 512 == 0) Reset();
  }
}

// Command buffers of noise after good headers.
TEST_F(AsahiRandom, NoiseInCommandBuffersIsAnswered) {
  for (int i = 0; i < 10'000; ++i) {
    for (size_t at = 0; at < 2048; ++at) {
      memory_->bytes[8192 + at] = Upto(3) == 0 ? static_cast<uint8_t>(random_()) : 0;
    }
    Put(kRoom + 8192,
        asahi::cmd_header{static_cast<uint16_t>(Upto(6)), static_cast<uint16_t>(Upto(300)),
                          asahi::kNoBarrier, asahi::kNoBarrier});
    asahi::submit submit = {};
    submit.cmdbuf = kRoom + 8192;
    submit.cmdbuf_size = static_cast<uint32_t>(Upto(1024));
    submit.queue_id = 1;
    ASSERT_LE(Probe(asahi::kSubmit, submit), 0);
  }
}

}  // namespace
}  // namespace packsmith::capture
