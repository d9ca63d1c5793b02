// Random calls: none harms, and those that fail have changed nothing.
#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/capture/i915/client.h"
#include "tests/capture/sandbox.h"

namespace packsmith::capture {
namespace {

namespace api = uapi::i915;
namespace drm = uapi::drm;

constexpr uint64_t kPages = 16, kRoom = SandboxMemory::kBegin;  // where arguments are
constexpr uint64_t kData = kRoom + 4096;                        // where what they point to is
constexpr uint64_t kProbe = kRoom + 15 * 4096;                  // where the test's own calls are
constexpr int kCalls = 400;                                     // on each platform
constexpr uint32_t kHandles = 20;                               // that are looked at

class RandomTest : public testing::TestWithParam<const char*> {
 protected:
  RandomTest() : machine_(GetParam()) { Reset(); }

  // A file with some of everything.
  void Reset() {
    file_ = machine_.kernel.Open(machine_.device->render_minor());
    for (int i = 0; i < 4; ++i) {
      api::gem_create object = {uint64_t{8192} << i, 0, 0};
      ASSERT_EQ(Probe(api::kGemCreate, object), 0);
    }
    for (int i = 0; i < 2; ++i) {
      api::gem_context_create_ext context = {};
      ASSERT_EQ(Probe(api::kGemContextCreateExt, context), 0);
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
    for (uint32_t handle = 0; handle < kHandles; ++handle) {
      api::gem_mmap_offset map = {};
      map.handle = handle;
      map.flags = machine_.info.discrete() ? api::kMmapOffsetFixed : api::kMmapOffsetWb;
      add(Probe(api::kGemMmapOffset, map));
      File::Mapped mapped;
      if (map.offset != 0 && file_->Mmap(caller_, map.offset, 4096, mapped) == 0) {
        const auto bytes =
            mapped.memory->bytes().first(std::min<size_t>(mapped.memory->bytes().size(), 65536));
        state.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      }
      api::gem_get_tiling tiling = {handle, 0, 0, 0};
      add(Probe(api::kGemGetTiling, tiling));
      add(tiling.tiling_mode);
      api::gem_caching caching = {handle, 0};
      add(Probe(api::kGemGetCaching, caching));
      add(caching.caching);
      for (uint64_t param = 3; param < 14; ++param) {
        // Asking for the space gives it an id.
        if (param == api::kContextVm) continue;
        api::gem_context_param context = {handle, 0, param, 0};
        add(Probe(api::kGemContextGetparam, context));
        add(context.value);
      }
      api::reset_stats stats = {};
      stats.ctx_id = handle;
      add(Probe(api::kGetResetStats, stats));
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
    // What new ones are called: the smallest numbers that nothing has.
    drm::gem_close close = {};
    api::gem_create object = {4096, 0, 0};
    add(Probe(api::kGemCreate, object));
    add(close.handle = object.handle);
    add(Probe(drm::kGemClose, close));
    api::gem_context_create_ext made = {};
    add(Probe(api::kGemContextCreateExt, made));
    add(made.ctx_id);
    api::gem_context_destroy unmade = {made.ctx_id, 0};
    add(Probe(api::kGemContextDestroy, unmade));
    api::gem_vm_control space = {};
    add(Probe(api::kGemVmCreate, space));
    add(space.vm_id);
    space.extensions = 0;
    add(Probe(api::kGemVmDestroy, space));
    drm::syncobj_create syncobj = {};
    add(Probe(drm::kSyncobjCreate, syncobj));
    add(syncobj.handle);
    drm::syncobj_destroy forgotten = {syncobj.handle, 0};
    add(Probe(drm::kSyncobjDestroy, forgotten));
    add(CountDescriptors());
    add(machine_.watcher.works.size());
    state.append(reinterpret_cast<const char*>(memory_->bytes.data()) + 4096,
                 memory_->bytes.size() - 8192);
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

  // A submission that is right but for a word of it, or of what it points to.
  std::vector<uint8_t> Execbuffer() {
    constexpr uint64_t kObjects = kData, kRelocations = kData + 1024, kFences = kData + 2048;
    const uint64_t count = 1 + Upto(3);
    for (uint64_t i = 0; i < count; ++i) {
      api::gem_exec_object2 object = Client::Object(static_cast<uint32_t>(1 + Upto(4)));
      if (Upto(3) == 0) {
        object.flags = api::kObjectPinned | api::kObjectSupports48bAddress;
        object.offset = 0x100000 * (1 + Upto(4));
      }
      if (Upto(3) == 0) {
        object.relocation_count = 1;
        object.relocs_ptr = kRelocations;
      }
      Put(kObjects + i * sizeof(object), object);
    }
    api::gem_relocation_entry relocation = {};
    relocation.target_handle = static_cast<uint32_t>(1 + Upto(4));
    relocation.presumed_offset = Number();
    Put(kRelocations, relocation);
    Put(kFences,
        api::gem_exec_fence{static_cast<uint32_t>(1 + Upto(3)), static_cast<uint32_t>(Upto(4))});
    api::gem_execbuffer2 args = {};
    args.buffers_ptr = kObjects;
    args.buffer_count = static_cast<uint32_t>(count);
    args.rsvd1 = Upto(3);
    constexpr uint64_t kFlags[] = {0, 0, api::kExecFenceOut, api::kExecNoReloc};
    args.flags = kFlags[Upto(4)];
    if (Upto(3) == 0) {
      args.flags |= api::kExecFenceArray;
      args.num_cliprects = 1;
      args.cliprects_ptr = kFences;
    }
    std::vector<uint8_t> bytes(sizeof(args));
    std::memcpy(bytes.data(), &args, sizeof(args));
    const uint64_t number = Number();
    const size_t width = Upto(2) == 0 ? 4 : 8;
    switch (Upto(4)) {
      case 0:
        std::memcpy(bytes.data() + width * Upto(bytes.size() / width), &number, width);
        break;
      case 1:
        std::memcpy(memory_->bytes.data() + (kObjects - kRoom) + width * Upto(112 / width), &number,
                    width);
        break;
      case 2:
        std::memcpy(memory_->bytes.data() + (kRelocations - kRoom) + width * Upto(32 / width),
                    &number, width);
        break;
      default:
        break;
    }
    return bytes;
  }

  Machine machine_;
  std::shared_ptr<SandboxMemory> memory_ = std::make_shared<SandboxMemory>(kPages * 4096);
  SandboxCaller caller_{memory_};
  std::shared_ptr<File> file_;
  std::mt19937_64 random_{19};
};

// One of each kind of address space.
INSTANTIATE_TEST_SUITE_P(Platforms, RandomTest,
                         testing::Values("gm45", "hsw", "skl", "tgl", "dg2"));

// The driver's calls, and those of the core that take handles.
constexpr uint32_t kRequests[] = {
    api::kGetparam,
    api::kGemBusy,
    api::kGemCreate,
    api::kGemPread,
    api::kGemPwrite,
    api::kGemSetDomain,
    api::kGemSwFinish,
    api::kGemSetTiling,
    api::kGemGetTiling,
    api::kGemMmapOffset,
    api::kGemMadvise,
    api::kGemExecbuffer2,
    api::kGemExecbuffer2,
    api::kGemExecbuffer2,
    api::kGemContextCreateExt,
    api::kGemContextDestroy,
    api::kGemSetCaching,
    api::kGemGetCaching,
    api::kRegRead,
    api::kGetResetStats,
    api::kGemUserptr,
    api::kGemContextGetparam,
    api::kGemContextSetparam,
    api::kGemContextSetparam,
    api::kPerfOpen,
    api::kQuery,
    api::kGemVmCreate,
    api::kGemVmDestroy,
    api::kGemCreateExt,
    drm::kGemClose,
    drm::kSyncobjCreate,
    drm::kSyncobjDestroy,
    drm::kPrimeHandleToFd,
};

TEST_P(RandomTest, CallsThatFailChangeNothing) {
  int failed = 0, succeeded = 0;
  for (int i = 0; i < kCalls; ++i) {
    // What arrays hold: noise of small numbers, as fences and engines are.
    for (size_t at = 0; at < 1024; ++at) {
      Put(kData + 4 * at, static_cast<uint32_t>(Upto(4) == 0 ? Upto(4) : 0));
    }
    // A structure of zeros in which a few fields are set; now and then all of it is noise.
    const uint32_t request = kRequests[Upto(std::size(kRequests))];
    const size_t size = (request >> 16) & 0x3fff;
    std::vector<uint8_t> args(std::max<size_t>(size, 8));
    if (request == api::kGemExecbuffer2 && Upto(8) != 0) {
      args = Execbuffer();
    } else if (request == api::kGemContextCreateExt && Upto(4) != 0) {
      // With extensions that are noise.
      const api::gem_context_create_ext made = {0, api::kContextUseExtensions, kData};
      std::memcpy(args.data(), &made, sizeof(made));
    } else if (Upto(10) == 0) {
      for (uint8_t& byte : args) byte = static_cast<uint8_t>(random_());
    } else {
      for (uint64_t fields = Upto(5); fields > 0; --fields) {
        const uint64_t number = Number();
        const size_t width = Upto(2) == 0 ? 4 : 8;
        std::memcpy(args.data() + width * Upto(args.size() / width), &number, width);
      }
    }
    // Queries stop at the item that fails; those before it are answered.
    if (request == api::kQuery) std::memset(args.data(), 0, 4), args[0] = 1;
    std::memcpy(memory_->bytes.data(), args.data(), args.size());
    const std::string before = State();
    const Result result = file_->Ioctl(caller_, request, kRoom);
    ASSERT_LE(result, 0);
    if (result < 0) {
      ++failed;
      ASSERT_TRUE(State() == before) << "call " << i << ", request " << std::hex << request;
    } else {
      ++succeeded;
      // A program that has closed its objects can see less: it begins again.
      caller_.installed.clear();
      if (succeeded % 8 == 0) Reset();
    }
  }
  // Both happen often, or the test would show nothing.
  EXPECT_GT(failed, kCalls / 4);
  EXPECT_GT(succeeded, kCalls / 10);
}

TEST_P(RandomTest, NoiseInEverySizeIsAnswered) {
  for (int i = 0; i < 10'000; ++i) {
    for (size_t at = 0; at < 1024; ++at) memory_->bytes[at] = static_cast<uint8_t>(random_());
    if (Upto(2) == 0) std::memset(memory_->bytes.data(), 0, 8 * Upto(16));
    if (Upto(2) == 0) {
      for (size_t at = 0; at < 64; at += 8) Put(kRoom + at, Number());
    }
    const auto number = static_cast<uint32_t>(drm::kDriverBase + Upto(0x40));
    const auto direction = static_cast<drm::Direction>(Upto(4));
    const uint32_t request = drm::Request(direction, number, Upto(1024));
    ASSERT_LE(file_->Ioctl(caller_, request, Upto(50) == 0 ? Number() : kRoom), 0);
    if (i % 512 == 0) Reset();
  }
}

}  // namespace
}  // namespace packsmith::capture
