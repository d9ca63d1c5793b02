// Dispatches, executed: each invocation runs exactly once, and sees the ids and constants that it
// should; a packet that is left out is noticed.
#include "runtime/intel/compute/compute_state.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/intel/batch/cache_rules.h"
#include "runtime/intel/batch/cache_tracker.h"
#include "runtime/intel/device/render_devices.h"
#include "tests/intel/batch/tested.h"
#include "tests/intel/compute/compute_hardware.h"
#include "tests/intel/compute/gpu_memory.h"

namespace packsmith::intel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

RenderDevice DeviceOf(unsigned version) {
  for (const RenderDevice& device : RenderDevices()) {
    if (device.version == version) return device;
  }
  return RenderDevices().back();  // of the newest
}

template <class Gen>
class ComputeStateTest : public testing::Test {
 protected:
  static constexpr bool kMedia = requires { typename Gen::Packets::GPGPU_WALKER; };
  static constexpr bool kSimd8 = ComputeFields<Gen>::LimitsOf(RenderDevice()).first_width == 0;

  ComputeStateTest() : code_(Must(memory_.buffers->Create({.size = 4096, .zone = memory_.low}))) {}

  ComputeKernel Kernel(std::array<uint32_t, 3> local_size) const {
    ComputeKernel kernel;
    for (unsigned i = kSimd8 ? 0 : 1; i < kSimdWidths; ++i) {
      kernel.entries[i] = {.present = true,
                           .offset = static_cast<uint32_t>(code_.address) + 64 * i,
                           .buffer = code_.handle};
    }
    kernel.local_size = local_size;
    return kernel;
  }
  // Ends the batch and runs it.
  std::string Run() {
    EXPECT_TRUE(batch_.End().ok()) << batch_.status();
    const std::string wrong = hardware_.Run(batch_.parts()[0].chunk.gpu);
    return wrong;
  }
  // Continues in a new batch.
  void Next() {
    batch_.Reset();
    hardware_.dispatches.clear();
    hardware_.names.clear();
  }

  GpuMemory memory_;
  gpu::Buffer code_;
  Batch<Gen> batch_{memory_.chunks};
  ComputeState<Gen> compute_{{.device = DeviceOf(Gen::kVersion), .subslices = 3}, memory_.states};
  ComputeHardware<Gen> hardware_{memory_};
};
TYPED_TEST_SUITE(ComputeStateTest, Generations);

// Where the local id of a lane is in a thread's constants.
uint32_t IdInMemory(const std::vector<uint8_t>& own, uint32_t lane, unsigned component,
                    uint32_t width, uint32_t register_bytes) {
  const uint32_t stride = std::max(2 * width, register_bytes);
  uint16_t id = 0xffff;
  const size_t at = component * stride + lane * 2;
  if (at + 2 <= own.size()) std::memcpy(&id, own.data() + at, 2);
  return id;
}

// By ids from memory, from hardware, or counted by the kernel.
TYPED_TEST(ComputeStateTest, EachInvocationRunsExactlyOnceAndSeesItsId) {
  using Gen = TypeParam;
  std::mt19937 random(1);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  const uint32_t most = this->compute_.limits().threads;
  std::map<uint32_t, int> widths;
  int dispatched = 0;
  for (int round = 0; round < 300; ++round) {
    std::array<uint32_t, 3> local = {1 + below(40), 1 + below(9), 1 + below(5)};
    ComputeKernel kernel = this->Kernel(local);
    for (KernelEntry& entry : kernel.entries) entry.present &= below(4) != 0;
    kernel.local_ids = static_cast<LocalIds>(below(3));
    if (kernel.local_ids == LocalIds::kHardware) {
      if constexpr (TestFixture::kMedia) kernel.local_ids = LocalIds::kInMemory;
      std::array<uint32_t, 3> power = {1u << below(5), 1u << below(4), 1u << below(3)};
      power[below(3)] = 1 + below(20);
      kernel.local_size = local = power;
    }
    if (kernel.local_ids == LocalIds::kComputed) kernel.thread_data = ThreadData::kNumber;
    const uint32_t size = local[0] * local[1] * local[2];
    kernel.constant_bytes = 4 * below(40);
    const bool fits = [&] {
      if (kernel.local_ids == LocalIds::kHardware && size > 1024) return false;
      for (unsigned i = 0; i < kSimdWidths; ++i) {
        const uint32_t width = 8u << i;
        if (kernel.entries[i].present && (size + width - 1) / width <= most) return true;
      }
      return false;
    }();
    const std::array<uint8_t, 4> constants = {uint8_t(round), uint8_t(round >> 8), 3, 4};
    if (!this->compute_.Bind(kernel)) {
      const absl::Status status = this->compute_.TakeStatus();
      EXPECT_FALSE(fits) << status;
      continue;
    }
    ASSERT_TRUE(fits) << size;
    ASSERT_TRUE(this->compute_.SetConstants(constants));
    const GroupCount groups = {1 + below(3), 1 + below(2), 1 + below(2)};
    ASSERT_TRUE(this->compute_.Dispatch(this->batch_, groups)) << this->compute_.status();
    ASSERT_EQ(this->Run(), "");
    ASSERT_EQ(this->hardware_.dispatches.size(), 1u);
    const SeenDispatch& seen = this->hardware_.dispatches[0];
    const DispatchShape& shape = this->compute_.shape();
    const uint32_t width = shape.width();
    ++widths[width];
    ++dispatched;
    EXPECT_EQ(seen.kernel, kernel.entries[shape.entry].offset);
    std::map<std::array<uint32_t, 6>, int> times;
    for (const SeenThread& thread : seen.threads) {
      if (kernel.constant_bytes >= 4) {
        ASSERT_GE(thread.shared.size(), 4u);
        EXPECT_EQ(std::memcmp(thread.shared.data(), constants.data(), 4), 0);
      }
      std::vector<uint8_t> own = thread.own;
      if constexpr (!TestFixture::kMedia) {
        // The kernel finds its part after what all share.
        const size_t part = shape.thread_registers * size_t{Gen::kFacts.register_bytes};
        const size_t begin =
            shape.constant_registers * size_t{Gen::kFacts.register_bytes} + thread.number * part;
        ASSERT_LE(begin + part, thread.shared.size());
        own.assign(thread.shared.begin() + begin, thread.shared.begin() + begin + part);
      }
      uint32_t number = thread.number;
      if (kernel.local_ids == LocalIds::kComputed && TestFixture::kMedia) {
        ASSERT_GE(own.size(), 4u);
        std::memcpy(&number, own.data(), 4);
      }
      for (uint32_t lane = 0; lane < width; ++lane) {
        if ((thread.lanes >> lane & 1) == 0) continue;
        std::array<uint32_t, 3> id = {};
        if (kernel.local_ids == LocalIds::kHardware) {
          id = thread.local_ids[lane];
        } else if (kernel.local_ids == LocalIds::kInMemory) {
          for (unsigned i = 0; i < 3; ++i) {
            id[i] = IdInMemory(own, lane, i, width, Gen::kFacts.register_bytes);
          }
        } else {
          const uint32_t index = number * width + lane;
          id = {index % local[0], index / local[0] % local[1], index / local[0] / local[1]};
        }
        for (unsigned i = 0; i < 3; ++i) ASSERT_LT(id[i], local[i]) << round;
        ++times[{thread.group[0], thread.group[1], thread.group[2], id[0], id[1], id[2]}];
      }
    }
    EXPECT_EQ(times.size(), size_t{size} * groups.x * groups.y * groups.z) << round;
    for (const auto& [invocation, count] : times) ASSERT_EQ(count, 1) << round;
    this->Next();
    this->compute_.Resume(this->batch_);
  }
  EXPECT_GT(dispatched, 150);
  EXPECT_GE(widths.size(), TestFixture::kSimd8 ? 3u : 2u);
}

// A kernel that adds its constant to a cell for each invocation, twice. Without a barrier between
// the dispatches the simulator objects.
TYPED_TEST(ComputeStateTest, KernelsActOnMemoryWithTheirConstants) {
  const gpu::Buffer cells = Must(
      this->memory_.buffers->Create({.size = 4096, .zone = this->memory_.low, .zeroed = true}));
  ComputeKernel kernel = this->Kernel({24, 1, 1});
  kernel.constant_bytes = 4;
  kernel.thread_data = ThreadData::kNumber;
  ASSERT_TRUE(this->compute_.Bind(kernel));
  this->hardware_.kernel = [&](const SeenDispatch& seen, sim::WorkMemory& memory) {
    for (const SeenThread& thread : seen.threads) {
      uint32_t constant, width = 8u << seen.simd;
      ASSERT_GE(thread.shared.size(), sizeof(constant));
      std::memcpy(&constant, thread.shared.data(), sizeof(constant));
      for (uint32_t lane = 0; lane < width; ++lane) {
        if ((thread.lanes >> lane & 1) == 0) continue;
        const uint64_t at =
            cells.address + 4 * (thread.group[0] * 24 + thread.number * width + lane);
        uint32_t cell = 0;
        const auto bytes = absl::MakeSpan(reinterpret_cast<uint8_t*>(&cell), sizeof(cell));
        EXPECT_EQ(memory.Read(tables::ClientKind::kDataPort, 0, at, bytes), sizeof(cell));
        cell += constant;
        EXPECT_EQ(memory.Write(tables::ClientKind::kDataPort, 0, at, bytes), sizeof(cell));
      }
    }
  };
  for (const bool barrier : {false, true}) {
    std::memset(cells.cpu, 0, 4096);
    for (const uint32_t constant : {5u, 100u}) {
      const auto bytes = reinterpret_cast<const uint8_t*>(&constant);
      ASSERT_TRUE(this->compute_.SetConstants({bytes, sizeof(constant)}));
      ASSERT_TRUE(this->compute_.Dispatch(this->batch_, {.x = 3}));
      if (!barrier) continue;
      ASSERT_TRUE(EmitBarrier(this->batch_, {.flush = SetOf(CacheDomain::kData), .wait = true},
                              {cells.address + 4088, cells.handle}, Pipeline::kGpgpu));
    }
    if (barrier) {
      ASSERT_EQ(this->Run(), "");
    } else {
      EXPECT_THAT(this->Run(), HasSubstr("before the data port sees"));
      this->Next();
      this->compute_.Forget();
    }
  }
  for (uint32_t i = 0; i < 80; ++i) {
    uint32_t cell;
    std::memcpy(&cell, cells.cpu + size_t{4} * i, sizeof(cell));
    EXPECT_EQ(cell, i < 72 ? 105u : 0u) << i;
  }
}

TYPED_TEST(ComputeStateTest, OnlyWhatHasChangedIsEmitted) {
  const auto emitted = [&] {
    EXPECT_EQ(this->Run(), "");
    std::vector<std::string> names = this->hardware_.names;
    names.pop_back();  // the end
    this->Next();
    return names;
  };
  ComputeKernel kernel = this->Kernel({8, 8, 1});
  kernel.constant_bytes = 64;
  kernel.thread_data = ThreadData::kNumber;
  ASSERT_TRUE(this->compute_.Bind(kernel));
  ASSERT_TRUE(this->compute_.Dispatch(this->batch_, {2, 2, 2}));
  if constexpr (TestFixture::kMedia) {
    EXPECT_THAT(emitted(), ElementsAre("PIPE_CONTROL", "MEDIA_VFE_STATE", "MEDIA_CURBE_LOAD",
                                       "MEDIA_INTERFACE_DESCRIPTOR_LOAD", "GPGPU_WALKER",
                                       "MEDIA_STATE_FLUSH"));
  } else {
    EXPECT_THAT(emitted(), ElementsAre("CFE_STATE", "COMPUTE_WALKER"));
  }
  const auto walk = [&] {
    EXPECT_TRUE(this->compute_.Dispatch(this->batch_, {1, 1, 1})) << this->compute_.status();
    return emitted();
  };
  const auto same = [&](std::vector<std::string> media) {
    if (!TestFixture::kMedia) return std::vector<std::string>{"COMPUTE_WALKER"};
    media.push_back("GPGPU_WALKER");
    media.push_back("MEDIA_STATE_FLUSH");
    return media;
  };
  EXPECT_EQ(walk(), same({}));
  const std::vector<uint8_t> constants(16, 7);
  ASSERT_TRUE(this->compute_.SetConstants(constants));
  EXPECT_EQ(walk(), same({"MEDIA_CURBE_LOAD"}));
  ASSERT_TRUE(this->compute_.SetConstants(constants));
  EXPECT_EQ(walk(), same({})) << "the same constants";
  this->compute_.SetTables({.bindings = 64});
  EXPECT_EQ(walk(), same({"MEDIA_INTERFACE_DESCRIPTOR_LOAD"}));
  // A smaller group needs fewer constants: the room stays.
  kernel.local_size = {8, 1, 1};
  ASSERT_TRUE(this->compute_.Bind(kernel));
  EXPECT_EQ(walk(), same({"MEDIA_CURBE_LOAD", "MEDIA_INTERFACE_DESCRIPTOR_LOAD"}));
  EXPECT_EQ(walk(), same({}));
  this->compute_.Forget();
  EXPECT_EQ(walk().size(), TestFixture::kMedia ? 6u : 2u);
  // Nothing to do.
  ASSERT_TRUE(this->compute_.Dispatch(this->batch_, {4, 0, 4}));
  EXPECT_THAT(emitted(), IsEmpty());
}

TYPED_TEST(ComputeStateTest, WhatAnotherPacketInvalidatesIsEmittedAgain) {
  using G = typename TypeParam::Packets;
  ComputeKernel kernel = this->Kernel({8, 8, 1});
  kernel.constant_bytes = 64;
  ASSERT_TRUE(this->compute_.Bind(kernel));
  ASSERT_TRUE(this->compute_.Dispatch(this->batch_, {2, 2, 2}));
  ASSERT_EQ(this->Run(), "");
  this->Next();
  this->compute_.template Emitted<typename G::STATE_BASE_ADDRESS>();
  ASSERT_TRUE(this->compute_.Dispatch(this->batch_, {2, 2, 2}));
  ASSERT_EQ(this->Run(), "");
  const auto has = [&](const char* name) {
    const auto& names = this->hardware_.names;
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  EXPECT_EQ(has("MEDIA_INTERFACE_DESCRIPTOR_LOAD"), TestFixture::kMedia);
  EXPECT_FALSE(has("MEDIA_VFE_STATE"));
  this->Next();
  this->compute_.template Emitted<typename G::PIPELINE_SELECT>();
  ASSERT_TRUE(this->compute_.Dispatch(this->batch_, {2, 2, 2}));
  ASSERT_EQ(this->Run(), "");
  EXPECT_EQ(has("MEDIA_VFE_STATE"), TestFixture::kMedia);
  EXPECT_EQ(has("MEDIA_CURBE_LOAD"), TestFixture::kMedia);
}

TYPED_TEST(ComputeStateTest, EachPacketIsNeeded) {
  ComputeKernel kernel = this->Kernel({8, 8, 1});
  kernel.constant_bytes = 64;
  ASSERT_TRUE(this->compute_.Bind(kernel));
  ASSERT_TRUE(this->compute_.Dispatch(this->batch_, {2, 1, 1}));
  kernel.constant_bytes = 4096;
  kernel.entries[2].offset += 128;
  ASSERT_TRUE(this->compute_.Bind(kernel));
  ASSERT_TRUE(this->compute_.Dispatch(this->batch_, {2, 1, 1}));
  ASSERT_EQ(this->Run(), "");
  const auto names = this->hardware_.names;
  const BatchPart& part = this->batch_.parts()[0];
  const std::vector<uint32_t> words(part.chunk.words.begin(),
                                    part.chunk.words.begin() + part.total);
  // Each packet in turn becomes no-ops. The last flush has an effect on what follows only.
  size_t at = 0, noticed = 0;
  for (size_t i = 0; i + 2 < names.size(); ++i) {
    const uint32_t length = (words[at] & 0xff) + 2;
    std::fill_n(part.chunk.words.begin() + at, length, 0u);
    ComputeHardware<TypeParam> hardware(this->memory_);
    const std::string wrong = hardware.Run(part.chunk.gpu);
    const bool walks = absl::StrContains(names[i], "WALKER");
    if (walks) {
      EXPECT_EQ(hardware.dispatches.size(), 1u);
    } else {
      EXPECT_NE(wrong, "") << names[i] << " " << i;
    }
    ++noticed;
    std::copy_n(words.begin() + at, length, part.chunk.words.begin() + at);
    at += length;
  }
  EXPECT_EQ(noticed, TestFixture::kMedia ? 11u : 2u);
}

TYPED_TEST(ComputeStateTest, SizesInMemoryAreThoseThatAreThereWhenItRuns) {
  ComputeKernel kernel = this->Kernel({16, 2, 1});
  ASSERT_TRUE(this->compute_.Bind(kernel));
  const gpu::Buffer sizes = Must(
      this->memory_.buffers->Create({.size = 4096, .zone = this->memory_.low, .zeroed = true}));
  ASSERT_TRUE(this->compute_.DispatchIndirect(this->batch_, {sizes.address + 8, sizes.handle}));
  const uint32_t groups[3] = {3, 2, 5};
  std::memcpy(sizes.cpu + 8, groups, sizeof(groups));
  ASSERT_EQ(this->Run(), "");
  ASSERT_EQ(this->hardware_.dispatches.size(), 1u);
  EXPECT_EQ(this->hardware_.dispatches[0].threads.size(), 30u * this->compute_.shape().threads);
  EXPECT_TRUE(this->batch_.uses().Known(sizes.handle, gpu::kReads));
  // One packet where it works on all devices.
  const auto& names = this->hardware_.names;
  EXPECT_EQ(std::count(names.begin(), names.end(), "EXECUTE_INDIRECT_DISPATCH"),
            TypeParam::kFacts.executes_indirect_draws ? 1 : 0);
}

TYPED_TEST(ComputeStateTest, ThePredicateIsTested) {
  using Gen = TypeParam;
  ASSERT_TRUE(this->compute_.Bind(this->Kernel({8, 1, 1})));
  for (const uint32_t result : {0u, 1u}) {
    ASSERT_TRUE(this->batch_.Emit(typename Gen::LoadRegisterConstant{
        .register_offset_ = Gen::PredicateResult::register_offset, .data_dword = result}));
    ASSERT_TRUE(this->compute_.Dispatch(this->batch_, {1, 1, 1}, {.predicated = true}));
  }
  ASSERT_EQ(this->Run(), "");
  EXPECT_EQ(this->hardware_.dispatches.size(), 1u);
}

TYPED_TEST(ComputeStateTest, TheWidthIsTheWidestThatNeedsNoScratchAndIsNotWiderThanTheGroup) {
  const auto width = [&](std::array<uint32_t, 3> size, uint32_t scratch16, uint32_t scratch32) {
    ComputeKernel kernel = this->Kernel(size);
    kernel.simd16().scratch = scratch16;
    kernel.simd32().scratch = scratch32;
    EXPECT_TRUE(this->compute_.Bind(kernel)) << this->compute_.status();
    return this->compute_.shape().width();
  };
  EXPECT_EQ(width({64, 1, 1}, 0, 0), 32u);
  EXPECT_EQ(width({64, 1, 1}, 0, 1024), 16u);
  EXPECT_EQ(width({16, 1, 1}, 0, 0), 16u);
  EXPECT_EQ(width({5, 1, 1}, 0, 0), TestFixture::kSimd8 ? 8u : 16u);
  if (TestFixture::kSimd8) {
    EXPECT_EQ(width({64, 1, 1}, 1024, 1024), 8u);
    // Too many threads of eight.
    EXPECT_EQ(width({8 * this->compute_.limits().threads + 1, 1, 1}, 1024, 2048), 16u);
  } else {
    EXPECT_EQ(width({64, 1, 1}, 1024, 1024), 16u);
  }
}

TYPED_TEST(ComputeStateTest, ThreadsHaveTheRegistersThatTheirKernelUses) {
  ComputeKernel kernel = this->Kernel({8, 8, 1});
  kernel.registers = 256;
  const ComputeLimits& limits = this->compute_.limits();
  if (limits.most_registers == 128) {
    EXPECT_FALSE(this->compute_.Bind(kernel));
    EXPECT_THAT(this->compute_.TakeStatus().message(),
                HasSubstr("uses 256 registers; a thread has at most 128"));
    return;
  }
  ASSERT_TRUE(EnableRegisterBlocks(this->batch_));
  std::vector<uint32_t> expected;
  for (const uint32_t registers : {0u, 256u, 200u, 160u, 96u, 20u, 128u, 256u}) {
    kernel.registers = registers;
    ASSERT_TRUE(this->compute_.Bind(kernel)) << this->compute_.status();
    ASSERT_TRUE(this->compute_.Dispatch(this->batch_, {1, 1, 1})) << this->compute_.status();
    const uint32_t blocks = (registers + 31) / 32 * 32;
    expected.push_back(registers == 0           ? 128
                       : limits.register_blocks ? (blocks > 192 ? 256 : blocks)
                       : registers > 128        ? 256
                                                : 128);
  }
  ASSERT_TRUE(this->compute_.RestoreMode(this->batch_));
  ASSERT_TRUE(this->compute_.RestoreMode(this->batch_));
  ASSERT_EQ(this->Run(), "");
  std::vector<uint32_t> seen;
  for (const SeenDispatch& dispatch : this->hardware_.dispatches) {
    seen.push_back(dispatch.registers);
  }
  EXPECT_EQ(seen, expected);
  // On, off, on, off; or once for all.
  const auto& names = this->hardware_.names;
  EXPECT_EQ(std::count(names.begin(), names.end(), "STATE_COMPUTE_MODE"),
            limits.register_blocks ? 1 : 4);
  // Half as many threads are in a group.
  kernel.local_size = {32, limits.threads / 2, 1};
  ASSERT_TRUE(this->compute_.Bind(kernel)) << this->compute_.status();
  kernel.local_size[1] += 1;
  EXPECT_FALSE(this->compute_.Bind(kernel));
  EXPECT_THAT(this->compute_.TakeStatus().message(),
              HasSubstr(absl::StrCat("a group has at most ", limits.threads / 2)));
  // Where the mode may be another one, it is emitted.
  ASSERT_TRUE(this->compute_.Bind(kernel = this->Kernel({8, 8, 1})));
  kernel.registers = 256;
  this->Next();
  ASSERT_TRUE(this->compute_.Bind(kernel));
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(this->compute_.Dispatch(this->batch_, {1, 1, 1}));
    this->compute_.Forget();
  }
  ASSERT_EQ(this->Run(), "");
  EXPECT_EQ(std::count(names.begin(), names.end(), "STATE_COMPUTE_MODE"),
            limits.register_blocks ? 0 : 2);
}

TYPED_TEST(ComputeStateTest, ALocalSizeMayBeSetLater) {
  ComputeKernel kernel = this->Kernel({0, 0, 0});
  kernel.local_ids = LocalIds::kInMemory;
  ASSERT_TRUE(this->compute_.Bind(kernel));
  EXPECT_FALSE(this->compute_.Dispatch(this->batch_, {1, 1, 1}));
  EXPECT_THAT(this->compute_.TakeStatus().message(), HasSubstr("call SetLocalSize()"));
  for (const uint32_t size : {3u, 200u}) {
    ASSERT_TRUE(this->compute_.SetLocalSize({size, 1, 1}));
    ASSERT_TRUE(this->compute_.Dispatch(this->batch_, {1, 1, 1}));
  }
  ASSERT_EQ(this->Run(), "");
  EXPECT_EQ(this->hardware_.dispatches[0].threads.size(), 1u);
  EXPECT_EQ(this->hardware_.dispatches[1].threads.size(), 7u);
  ASSERT_TRUE(this->compute_.Bind(this->Kernel({8, 1, 1})));
  EXPECT_FALSE(this->compute_.SetLocalSize({9, 1, 1}));
  EXPECT_THAT(this->compute_.TakeStatus().message(), HasSubstr("compiled for groups of 8x1x1"));
}

TYPED_TEST(ComputeStateTest, WhatDoesNotFitIsNamedAndChangesNothing) {
  ASSERT_TRUE(this->compute_.Bind(this->Kernel({8, 8, 1})));
  const auto refused = [&](const ComputeKernel& kernel) {
    EXPECT_FALSE(this->compute_.Bind(kernel));
    EXPECT_EQ(this->compute_.shape().local[1], 8u) << "the earlier kernel stays";
    return std::string(this->compute_.TakeStatus().message());
  };
  const uint32_t threads = this->compute_.limits().threads;
  ComputeKernel kernel = this->Kernel({32 * threads, 2, 1});
  kernel.local_size[0] = std::min(kernel.local_size[0], 1024u);
  kernel.local_size[1] = 32 * threads / kernel.local_size[0] + 1;
  EXPECT_THAT(refused(kernel), HasSubstr(absl::StrCat("a group has at most ", threads)));
  kernel = this->Kernel({8, 8, 1});
  kernel.local_size[2] = ~0u;
  EXPECT_THAT(refused(kernel), HasSubstr("each must be from 1 to"));
  kernel = this->Kernel({8, 8, 1});
  kernel.shared_bytes = TypeParam::kFacts.most_shared_bytes + 1;
  EXPECT_THAT(refused(kernel), HasSubstr("bytes of shared local memory; a group has at most"));
  kernel = this->Kernel({8, 8, 1});
  kernel.barriers = this->compute_.limits().barriers + 1;
  EXPECT_THAT(refused(kernel), HasSubstr("barriers; a group has at most"));
  kernel = this->Kernel({8, 8, 1});
  kernel.constant_bytes = kMostConstantBytes + 1;
  EXPECT_THAT(refused(kernel), HasSubstr("put the rest into a buffer"));
  kernel = this->Kernel({8, 8, 1});
  kernel.simd32().offset = 32;
  EXPECT_THAT(refused(kernel), HasSubstr("multiples of 64"));
  kernel = this->Kernel({8, 8, 1});
  kernel.entries = {};
  EXPECT_THAT(refused(kernel), HasSubstr("no entry for any SIMD width"));
  kernel = this->Kernel({3, 5, 2});
  kernel.local_ids = LocalIds::kHardware;
  EXPECT_THAT(refused(kernel), HasSubstr("use LocalIds::kInMemory"));
  kernel = this->Kernel({8, 8, 1});
  kernel.constant_bytes = 64;
  kernel.inline_bytes = 36;
  EXPECT_THAT(refused(kernel), HasSubstr("constants in the walker"));
  if (!TestFixture::kSimd8) {
    kernel = this->Kernel({8, 8, 1});
    kernel.simd8() = {.present = true};
    EXPECT_THAT(refused(kernel), HasSubstr("the least width is 16"));
  }

  EXPECT_FALSE(this->compute_.SetConstants(std::vector<uint8_t>(16), kMostConstantBytes - 15));
  EXPECT_THAT(this->compute_.TakeStatus().message(), HasSubstr("at offset 8145; there are 8160"));
  EXPECT_FALSE(this->compute_.SetScratch({.per_thread = 3000, .surface = 5}));
  EXPECT_THAT(this->compute_.TakeStatus().message(), HasSubstr("scratch"));

  kernel = this->Kernel({8, 8, 1});
  for (KernelEntry& entry : kernel.entries) entry.scratch = 2000;
  ASSERT_TRUE(this->compute_.Bind(kernel));
  EXPECT_FALSE(this->compute_.Dispatch(this->batch_, {1, 1, 1}));
  EXPECT_THAT(this->compute_.TakeStatus().message(), HasSubstr("2000 bytes of scratch memory"));
  EXPECT_EQ(this->batch_.dwords(), 0u);
}

TYPED_TEST(ComputeStateTest, WithoutMemoryOrRoomNothingChanges) {
  using Gen = TypeParam;
  ComputeKernel kernel = this->Kernel({8, 8, 1});
  kernel.constant_bytes = 2048;
  ASSERT_TRUE(this->compute_.Bind(kernel));
  // Chunks that are too small for a dispatch.
  gpu::BufferChunks none(*this->memory_.buffers, {.zone = this->memory_.low, .most_chunks = 0});
  Batch<Gen> batch(none);
  EXPECT_FALSE(this->compute_.Dispatch(batch, {1, 1, 1}));
  EXPECT_TRUE(this->compute_.status().ok());
  EXPECT_FALSE(batch.status().ok());
  ASSERT_TRUE(this->compute_.Dispatch(this->batch_, {1, 1, 1}));
  EXPECT_EQ(this->Run(), "") << "all of it is still emitted";
}

TYPED_TEST(ComputeStateTest, WithoutItsStreamNothingIsDispatched) {
  auto stream = std::make_unique<gpu::StateStream>(*this->memory_.pool, 4096);
  ComputeState<TypeParam> compute({.device = DeviceOf(TypeParam::kVersion), .subslices = 3},
                                  *stream);
  ComputeKernel kernel = this->Kernel({8, 8, 1});
  kernel.constant_bytes = 64;
  ASSERT_TRUE(compute.Bind(kernel));
  stream.reset();
  EXPECT_FALSE(compute.Dispatch(this->batch_, {1, 1, 1}));
  EXPECT_TRUE(absl::IsFailedPrecondition(compute.status())) << compute.status();
  EXPECT_EQ(this->batch_.dwords(), 0u);
}

TYPED_TEST(ComputeStateTest, TheBatchListsAllBuffersAndSoDoesTheNextOne) {
  ComputeKernel kernel = this->Kernel({8, 8, 1});
  kernel.constant_bytes = 64;
  ASSERT_TRUE(this->compute_.Bind(kernel));
  ASSERT_TRUE(this->compute_.Dispatch(this->batch_, {1, 1, 1}));
  EXPECT_TRUE(this->batch_.uses().Known(this->code_.handle, gpu::kReads));
  const size_t uses = this->batch_.uses().all().size();
  EXPECT_GE(uses, 2u);
  Batch<TypeParam> next(this->memory_.chunks);
  this->compute_.Resume(next);
  ASSERT_TRUE(this->compute_.Dispatch(next, {1, 1, 1}));
  EXPECT_EQ(next.uses().all().size(), uses);
}

TYPED_TEST(ComputeStateTest, InlineConstantsAreInTheWalkerAndOthersInMemory) {
  if constexpr (!TestFixture::kMedia) {
    ComputeKernel kernel = this->Kernel({8, 8, 1});
    kernel.constant_bytes = 48;
    kernel.inline_bytes = 32;
    std::vector<uint8_t> constants(48);
    for (size_t i = 0; i < constants.size(); ++i) constants[i] = static_cast<uint8_t>(i);
    ASSERT_TRUE(this->compute_.Bind(kernel));
    ASSERT_TRUE(this->compute_.SetConstants(constants));
    ASSERT_TRUE(this->compute_.Dispatch(this->batch_, {1, 1, 1}));
    const uint64_t used = this->memory_.states.used();
    // Those in the walker take no new memory.
    constants[3] = 99;
    ASSERT_TRUE(this->compute_.SetConstants(absl::MakeSpan(constants).subspan(0, 32)));
    ASSERT_TRUE(this->compute_.Dispatch(this->batch_, {1, 1, 1}));
    EXPECT_EQ(this->memory_.states.used(), used);
    ASSERT_EQ(this->Run(), "");
    for (const unsigned i : {0, 1}) {
      const SeenThread& thread = this->hardware_.dispatches[i].threads[0];
      EXPECT_EQ(thread.inline_data[3], i == 0 ? 3 : 99);
      EXPECT_EQ(thread.inline_data[31], 31);
      EXPECT_EQ(thread.shared[0], 32);
      EXPECT_EQ(thread.shared[15], 47);
    }
  }
}

TYPED_TEST(ComputeStateTest, ScratchIsEncoded) {
  using Gen = TypeParam;
  using Front = typename ComputeFields<Gen>::Front;
  ComputeKernel kernel = this->Kernel({8, 8, 1});
  for (KernelEntry& entry : kernel.entries) entry.scratch = 4096;
  ComputeScratch scratch{.per_thread = 8192, .base = {}, .surface = 0x1240};
  if constexpr (TestFixture::kMedia) scratch.base = {this->code_.address, this->code_.handle};
  if (!TestFixture::kMedia && !Gen::kFacts.has_scratch_surfaces) {
    EXPECT_FALSE(this->compute_.SetScratch(scratch));
    return;
  }
  if constexpr (TestFixture::kMedia) {
    // A power of two, from 1 KiB to 2 MiB.
    for (const uint32_t wrong : {512u, 1025u, 3000u, 4u << 20}) {
      ComputeScratch other = scratch;
      other.per_thread = wrong;
      EXPECT_FALSE(this->compute_.SetScratch(other)) << wrong;
      EXPECT_THAT(this->compute_.TakeStatus().message(), HasSubstr("from 1024 to 2097152"));
    }
    for (const uint32_t right : {1024u, 2u << 20}) {
      ComputeScratch other = scratch;
      other.per_thread = right;
      EXPECT_TRUE(this->compute_.SetScratch(other)) << this->compute_.TakeStatus();
    }
  }
  ASSERT_TRUE(this->compute_.SetScratch(scratch)) << this->compute_.status();
  ASSERT_TRUE(this->compute_.Bind(kernel));
  ASSERT_TRUE(this->compute_.Dispatch(this->batch_, {1, 1, 1}));
  ASSERT_EQ(this->Run(), "");
  const auto words = this->batch_.parts()[0].chunk.words;
  size_t at = 0;
  while (!Front::matches(words[at])) ++at;
  const Front front = Front::unpack(&words[at]);
  if constexpr (TestFixture::kMedia) {
    EXPECT_EQ(front.per_thread_scratch_space, 3u);
    EXPECT_EQ(front.scratch_space_base_pointer.gpu, this->code_.address);
    EXPECT_TRUE(this->batch_.uses().Known(this->code_.handle, gpu::kWrites));
  } else {
    // The pointer has bits 31:6 of the offset, from bit 10 on: BSpec, CFE_STATE; Xe2 counts states.
    EXPECT_EQ(front.scratch_space_buffer, Gen::kFacts.register_bytes == 64 ? 0x49u : 0x124u);
  }
}

}  // namespace
}  // namespace packsmith::intel
