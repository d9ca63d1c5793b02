#include "runtime/kernel/xe/xe_device.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/debug.h"
#include "runtime/capture/devices/device_info.h"
#include "runtime/capture/devices/gpu_clock.h"
#include "tests/kernel/xe/machine.h"

namespace packsmith::gpu {
namespace {

namespace xe = uapi::xe;

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint64_t kBatch = 0x100000, kData = 0x200000, kMore = 0x300000;
constexpr absl::Duration kNoTime = absl::ZeroDuration(), kLong = absl::Seconds(60);

absl::StatusCode CodeOf(const absl::Status& status) { return status.code(); }
template <typename T>
absl::StatusCode CodeOf(const absl::StatusOr<T>& result) {
  return result.status().code();
}

class EveryDevice : public ::testing::TestWithParam<const char*> {
 protected:
  Machine machine_{GetParam()};
  std::unique_ptr<XeDevice> device_ = machine_.Open();
};
INSTANTIATE_TEST_SUITE_P(, EveryDevice,
                         ::testing::Values("tgl", "rkl", "adlp", "dg1", "dg2", "mtl", "arl", "lnl",
                                           "bmg", "ptl", "wcl"));

TEST_P(EveryDevice, PropertiesAreThoseOfTheDevice) {
  const capture::DeviceInfo& info = machine_.device.info();
  const DeviceProperties& properties = device_->properties();
  EXPECT_EQ(device_->generation(), info.generation);
  EXPECT_EQ(properties.driver, "xe");
  EXPECT_EQ(properties.pci_id, info.pci_id);
  EXPECT_EQ(properties.revision, info.revision);
  EXPECT_EQ(properties.discrete, info.discrete());
  EXPECT_EQ(properties.address_bits, info.xe_va_bits);
  EXPECT_EQ(properties.address_space, uint64_t{1} << info.xe_va_bits);
  EXPECT_EQ(properties.timestamp_hertz, info.timestamp_hz);
  EXPECT_EQ(properties.page, info.min_alignment);
  EXPECT_EQ(properties.subslices(), info.topology.subslices());
  EXPECT_EQ(properties.eus(), info.topology.eu_total());
  EXPECT_TRUE(properties.has_priorities);
  EXPECT_FALSE(properties.moves_memory);
  ASSERT_THAT(properties.regions, SizeIs(info.discrete() ? 2 : 1));
  EXPECT_TRUE(properties.regions[0].system);
  EXPECT_EQ(properties.regions[0].size, capture::kSystemMemoryBytes);
  if (info.discrete()) {
    EXPECT_FALSE(properties.regions[1].system);
    EXPECT_EQ(properties.regions[1].size, info.vram_bytes);
    EXPECT_EQ(properties.regions[1].visible, info.vram_visible_bytes);
  }
  unsigned engines = 0;
  for (const DeviceProperties::Engine& engine : properties.engines) engines += engine.count;
  EXPECT_EQ(engines, info.engines.size());
  EXPECT_EQ(properties.engines.front().name, "render");
}

TEST_P(EveryDevice, MemoryOfEachHeapIsBoundAndSeenByTheCpu) {
  uint64_t address = 0x1000000;
  for (int i = 0; i < kHeaps; ++i) {
    const auto heap = static_cast<Heap>(i);
    const uint64_t page = device_->properties().page;
    if (!device_->properties().has_heap[i]) {
      EXPECT_EQ(CodeOf(device_->Create({.size = page, .heap = heap})),
                absl::StatusCode::kUnimplemented);
      continue;
    }
    for (const uint8_t use : {kOrdinary, kScanout, kShared}) {
      const Place place = machine_.Make(*device_, address, heap, 0, use);
      if (CpuCanSee(heap)) {
        EXPECT_THAT(place.bytes, SizeIs(page));
        EXPECT_EQ(place.word(0), 0u);
        place.bytes[5] = 17;
        EXPECT_EQ((*device_->Map(place.memory))[5], 17);
      } else {
        EXPECT_EQ(CodeOf(device_->Map(place.memory)), absl::StatusCode::kFailedPrecondition);
      }
      EXPECT_EQ(CodeOf(device_->Destroy(place.memory)), absl::StatusCode::kFailedPrecondition);
      EXPECT_TRUE(device_->Unbind(0, address, page).ok());
      EXPECT_TRUE(device_->Destroy(place.memory).ok());
      address += 0x100000;
    }
  }
  EXPECT_THAT(machine_.seen.warnings, IsEmpty());
}

TEST_P(EveryDevice, HeapsAreTheGpusOwnWhereItHasMemory) {
  const capture::DeviceInfo& info = machine_.device.info();
  const auto has = [&](Heap heap) {
    return device_->properties().has_heap[static_cast<int>(heap)];
  };
  const bool compresses = info.pat.compressed != 0;
  EXPECT_TRUE(has(Heap::kSystem) && has(Heap::kSystemUncached));
  EXPECT_EQ(has(Heap::kLocal), info.discrete());
  EXPECT_EQ(has(Heap::kLocalVisible), info.discrete());
  EXPECT_EQ(has(Heap::kLocalPreferred), info.discrete());
  EXPECT_EQ(has(Heap::kSystemCompressed), compresses && !info.discrete());
  EXPECT_EQ(has(Heap::kLocalCompressed), compresses && info.discrete());
}

TEST_P(EveryDevice, AJobLeavesItsValuesInMemory) {
  machine_.Execute();
  const Place batch = machine_.Make(*device_, kBatch), data = machine_.Make(*device_, kData);
  machine_.Write(batch, {{kData + 4, 0x1234}, {kData + 8, 0x5678}});
  const PlacedJob work(batch, {data});
  for (const DeviceProperties::Engine& engine : device_->properties().engines) {
    if (engine.name == "video" || engine.name == "video-enhance") continue;
    std::memset(data.bytes.data(), 0, 16);
    Job job = work.job;
    job.engine = engine.name;
    const auto fence = device_->Submit(job);
    ASSERT_TRUE(fence.ok()) << fence.status();
    EXPECT_EQ(*device_->Wait(*fence, kLong), true);
    EXPECT_EQ(data.word(1), 0x1234u) << engine.name;
    EXPECT_EQ(data.word(2), 0x5678u) << engine.name;
    EXPECT_EQ(machine_.seen.works.back()->engine, engine.name);
  }
  EXPECT_THAT(machine_.seen.warnings, IsEmpty());
}

TEST_P(EveryDevice, ClocksAreReadTogether) {
  const uint64_t before = capture::GpuTicks(machine_.device.info(), capture::MonotonicNow());
  const auto clocks = device_->ReadClocks("render");
  ASSERT_TRUE(clocks.ok()) << clocks.status();
  EXPECT_GE(clocks->ticks, before);
  EXPECT_EQ(clocks->tick_bits, machine_.device.info().timestamp_bits);
  EXPECT_LE(clocks->cpu_ns, static_cast<uint64_t>(capture::MonotonicNow()));
  EXPECT_NE(clocks->cpu_ns, 0u);
  EXPECT_EQ(CodeOf(device_->ReadClocks("knitting")), absl::StatusCode::kInvalidArgument);
}

TEST(XeDevice, BindingsAreAsTheMemoryNeedsThem) {
  Machine machine("lnl");
  const auto device = machine.Open();
  const Place batch = machine.Make(*device, kBatch, Heap::kSystem, 0, kCaptured);
  machine.Make(*device, kData, Heap::kSystemUncached);
  machine.Make(*device, kMore, Heap::kSystemCompressed);
  const auto read_only = device->Create({.size = 4096});
  ASSERT_TRUE(
      device->Bind({.address = 0x400000, .size = 4096, .memory = *read_only, .writable = false})
          .ok());
  ASSERT_TRUE(device->Submit(PlacedJob(batch, {}).job).ok());
  const capture::AddressMap& map = *machine.seen.works.back()->memory;
  const capture::PatInfo& pat = machine.device.info().pat;
  const auto bit = [&](uint32_t mask, uint64_t address) {
    return (mask >> map.Find(address)->pat_index & 1) != 0;
  };
  EXPECT_TRUE(map.Find(kBatch)->dumpable);
  EXPECT_TRUE(map.Find(kBatch)->writable);
  EXPECT_TRUE(bit(pat.coherent, kBatch));
  EXPECT_FALSE(map.Find(kData)->dumpable);
  EXPECT_FALSE(bit(pat.coherent, kData));
  EXPECT_FALSE(bit(pat.compressed, kData));
  EXPECT_TRUE(bit(pat.compressed, kMore));
  EXPECT_FALSE(map.Find(0x400000)->writable);
  // What is read-only cannot be listed as written.
  const Place written = {*read_only, 0x400000, {}};
  EXPECT_EQ(CodeOf(device->Submit(PlacedJob(batch, {written}).job)),
            absl::StatusCode::kInvalidArgument);
}

TEST(XeDevice, TheSwitchForDumpsOfHangsCapturesAllMemory) {
  Machine machine("lnl");
  const auto device = machine.Open();
  machine.Make(*device, kData);
  SetDebug(static_cast<uint32_t>(DebugSwitch::kCapture));
  const Place batch = machine.Make(*device, kBatch);
  machine.Make(*device, kMore);
  SetDebug(0);
  ASSERT_TRUE(device->Submit(PlacedJob(batch, {}).job).ok());
  const capture::AddressMap& map = *machine.seen.works.back()->memory;
  EXPECT_FALSE(map.Find(kData)->dumpable) << "made before it was on";
  EXPECT_TRUE(map.Find(kBatch)->dumpable);
  EXPECT_TRUE(map.Find(kMore)->dumpable);
}

TEST(XeDevice, LargePagesAreRequired) {
  Machine machine("dg2");
  const auto device = machine.Open();
  EXPECT_EQ(device->properties().page, 65536u);
  EXPECT_EQ(CodeOf(device->Create({.size = 4096})), absl::StatusCode::kInvalidArgument);
  const auto memory = device->Create({.size = 65536 * 2, .heap = Heap::kLocal});
  ASSERT_TRUE(memory.ok()) << memory.status();
  EXPECT_EQ(CodeOf(device->Bind({.address = 0x11000, .size = 65536, .memory = *memory})),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(
      device->Bind({.address = 0x10000, .size = 65536, .memory = *memory, .offset = 65536}).ok());
}

TEST(XeDevice, ManyPagesAreBoundByOneCallOrNone) {
  Machine machine;
  auto connection = machine.Connect();
  CountingConnection& calls = *connection;
  const auto device = *XeDevice::Open(std::move(connection));
  const Place batch = machine.Make(*device, kBatch);
  const auto memory = device->Create({.size = 16 * 4096});
  std::vector<PageBinding> bindings;
  for (uint64_t i = 0; i < 16; ++i) {
    bindings.push_back(
        {.address = kData + 8192 * i, .size = 4096, .memory = *memory, .offset = 4096 * (15 - i)});
  }
  const int before = calls.calls(xe::kVmBind);
  // The last is not free: nothing is bound.
  bindings.push_back({.address = kBatch, .size = 4096, .memory = *memory});
  EXPECT_EQ(CodeOf(device->BindAll(bindings)), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(calls.calls(xe::kVmBind), before);
  EXPECT_EQ(CodeOf(device->Unbind(0, kData, 4096)), absl::StatusCode::kNotFound);
  // Another space, too.
  bindings.back() = {.space = 1, .address = kBatch, .size = 4096, .memory = *memory};
  EXPECT_EQ(CodeOf(device->BindAll(bindings)), absl::StatusCode::kInvalidArgument);
  bindings.pop_back();
  ASSERT_TRUE(device->BindAll(bindings).ok());
  EXPECT_EQ(calls.calls(xe::kVmBind), before + 1);
  ASSERT_TRUE(device->Submit(PlacedJob(batch, {}).job).ok());
  const capture::AddressMap& map = *machine.seen.works.back()->memory;
  EXPECT_EQ(map.Find(kData + 8192 * 3)->offset, 4096u * 12);
  EXPECT_TRUE(device->Unbind(0, bindings.back().address, 4096).ok());
  // It is not there any more: nothing is unbound.
  EXPECT_EQ(CodeOf(device->UnbindAll(bindings)), absl::StatusCode::kNotFound);
  EXPECT_EQ(CodeOf(device->Destroy(*memory)), absl::StatusCode::kFailedPrecondition);
  bindings.pop_back();
  EXPECT_EQ(calls.calls(xe::kVmBind), before + 2);
  EXPECT_TRUE(device->UnbindAll(bindings).ok());
  EXPECT_EQ(calls.calls(xe::kVmBind), before + 3);
  ASSERT_TRUE(device->Submit(PlacedJob(batch, {}).job).ok());
  EXPECT_EQ(machine.seen.works.back()->memory->Find(kData), nullptr);
  EXPECT_TRUE(device->Destroy(*memory).ok());
}

// The kernel unbinds only when earlier jobs are done, and binds after that. The next job must not
// begin before.
TEST(XeDevice, JobsWaitForWhatWasBoundBeforeThem) {
  Machine machine;
  machine.kernel.set_executor(&machine.gate);
  const auto device = machine.Open();
  const Place batch = machine.Make(*device, kBatch), old = machine.Make(*device, kData);
  const auto other = device->CreateContext({});
  const auto fresh = device->Create({.size = 4096});
  ASSERT_TRUE(device->Submit(PlacedJob(batch, {old}).job).ok());
  ASSERT_TRUE(device->Unbind(0, kData, 4096).ok());
  ASSERT_TRUE(device->Bind({.address = kData, .size = 4096, .memory = *fresh}).ok());
  const PlacedJob second(batch, {{*fresh, kData, {}}});
  Job job = second.job;
  job.context = *other;
  const auto fence = device->Submit(job);
  ASSERT_TRUE(fence.ok()) << fence.status();
  EXPECT_EQ(*device->Wait(*fence, kNoTime), false);
  EXPECT_THAT(machine.seen.works, SizeIs(1));
  machine.gate.open = true;
  machine.kernel.Advance();
  EXPECT_EQ(*device->Wait(*fence, kLong), true);
  ASSERT_THAT(machine.seen.works, SizeIs(2));
  const auto object_at = [&](size_t work) {
    return machine.seen.works[work]->memory->Find(kData)->object->id();
  };
  EXPECT_NE(object_at(0), object_at(1));
}

TEST(XeDevice, SpacesAreApart) {
  Machine machine;
  machine.Execute();
  const auto device = machine.Open();
  const Place data[] = {machine.Make(*device, kData),
                        machine.Make(*device, kData, Heap::kSystem, 7)};
  const Place batch = machine.Make(*device, kBatch, Heap::kSystem, 7);
  machine.Write(batch, {{kData, 5}});
  PlacedJob work(batch, {data[1]});
  work.job.space = 7;
  const auto fence = device->Submit(work.job);
  ASSERT_TRUE(fence.ok()) << fence.status();
  EXPECT_EQ(*device->Wait(*fence, kLong), true);
  EXPECT_EQ(data[0].word(0), 0u);
  EXPECT_EQ(data[1].word(0), 5u);
}

TEST(XeDevice, ContextsAreOrderedByFences) {
  Machine machine;
  machine.Execute();
  const auto device = machine.Open();
  const Place data = machine.Make(*device, kData), first = machine.Make(*device, kBatch),
              second = machine.Make(*device, kMore);
  machine.Write(first, {{kData, 1}});
  machine.Write(second, {{kData, 2}});
  const auto low = device->CreateContext({.priority = Priority::kLow});
  const auto normal = device->CreateContext({});
  const PlacedJob one(first, {data}), two(second, {data});
  Job job = one.job;
  job.context = *low;
  const auto begun = device->Submit(job);
  job = two.job;
  job.context = *normal;
  const Fence after[] = {*begun};
  job.after = after;
  const auto fence = device->Submit(job);
  ASSERT_TRUE(fence.ok()) << fence.status();
  EXPECT_EQ(*device->Wait(*fence, kLong), true);
  EXPECT_EQ(data.word(0), 2u);
  ASSERT_THAT(machine.seen.works, SizeIs(2));
  EXPECT_NE(machine.seen.works[0]->context, machine.seen.works[1]->context);
  EXPECT_TRUE(device->DestroyContext(*low).ok());
  EXPECT_TRUE(device->DestroyContext(*normal).ok());
}

TEST(XeDevice, ContextsThatDoNotExistAreRefused) {
  Machine machine;
  const auto device = machine.Open();
  const Place batch = machine.Make(*device, kBatch);
  PlacedJob work(batch, {});
  work.job.context = 3;
  EXPECT_EQ(CodeOf(device->Submit(work.job)), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(device->StateOf(0, 3)), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(device->DestroyContext(3)), absl::StatusCode::kNotFound);
  // One of another space.
  const auto context = device->CreateContext({.space = 1});
  work.job.context = *context;
  EXPECT_EQ(CodeOf(device->Submit(work.job)), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(device->DestroyContext(*context).ok());
  EXPECT_EQ(CodeOf(device->StateOf(1, *context)), absl::StatusCode::kInvalidArgument);
}

TEST(XeDevice, HighPrioritiesNeedTheRightToThem) {
  Machine machine;
  const auto device = machine.Open();
  for (const Priority priority : {Priority::kHigh, Priority::kHighest}) {
    const auto refused = device->CreateContext({.priority = priority});
    EXPECT_EQ(CodeOf(refused), absl::StatusCode::kPermissionDenied);
    EXPECT_THAT(refused.status().message(), HasSubstr("CAP_SYS_NICE"));
  }
  EXPECT_EQ(CodeOf(device->CreateContext({.protects = true})), absl::StatusCode::kUnimplemented);
}

TEST(XeDevice, EnginesThatDoNotExistAreRefusedWithThoseThatDo) {
  Machine machine;
  const auto device = machine.Open();
  const Place batch = machine.Make(*device, kBatch);
  PlacedJob work(batch, {});
  work.job.engine = "compute";  // from DG2 on
  const auto refused = device->Submit(work.job);
  EXPECT_EQ(CodeOf(refused), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.status().message(),
              AllOf(HasSubstr("\"compute\""), HasSubstr("render, copy, video, video-enhance")));
}

TEST(XeDevice, AHangIsReportedAndARecoverableContextGoesOn) {
  Machine machine;
  machine.kernel.set_hang_at({2});
  const auto device = machine.Open();
  const Place batch = machine.Make(*device, kBatch);
  const auto context = device->CreateContext({});
  const auto other = device->CreateContext({});
  PlacedJob work(batch, {});
  work.job.context = *context;
  const auto good = device->Submit(work.job), bad = device->Submit(work.job);
  EXPECT_EQ(*device->Wait(*good, kLong), true);
  const auto waited = device->Wait(*bad, kLong);
  EXPECT_EQ(CodeOf(waited), absl::StatusCode::kAborted);
  EXPECT_THAT(
      std::string(waited.status().message()),
      AllOf(HasSubstr("job 2 (render, context 1)"), HasSubstr("/sys/mock/devcoredump/data")));
  // Asking again says the same.
  EXPECT_EQ(device->Wait(*bad, kNoTime).status(), waited.status());
  EXPECT_EQ(*device->StateOf(0, *context), ContextState::kHung);
  EXPECT_EQ(*device->StateOf(0, *other), ContextState::kGood);
  EXPECT_EQ(*device->StateOf(0, 0), ContextState::kGood);
  for (const uint32_t next : {*context, *other, 0u}) {
    work.job.context = next;
    const auto fence = device->Submit(work.job);
    ASSERT_TRUE(fence.ok()) << fence.status();
    EXPECT_EQ(*device->Wait(*fence, kLong), true);
  }
  EXPECT_EQ(*device->StateOf(0, *context), ContextState::kHung);
}

TEST(XeDevice, ARecoverableContextGoesOnBeforeItsStateWasAskedFor) {
  Machine machine;
  machine.kernel.set_hang_at({1});
  const auto device = machine.Open();
  const PlacedJob work(machine.Make(*device, kBatch), {});
  ASSERT_TRUE(device->Submit(work.job).ok());
  const auto fence = device->Submit(work.job);
  ASSERT_TRUE(fence.ok()) << fence.status();
  EXPECT_EQ(*device->Wait(*fence, kLong), true);
  EXPECT_EQ(*device->StateOf(0, 0), ContextState::kHung);
}

TEST(XeDevice, AContextThatIsNotRecoverableIsLost) {
  Machine machine;
  machine.kernel.set_hang_at({1});
  const auto device = machine.Open();
  PlacedJob work(machine.Make(*device, kBatch), {});
  const auto context = device->CreateContext({.recoverable = false});
  work.job.context = *context;
  ASSERT_TRUE(device->Submit(work.job).ok());
  for (int i = 0; i < 2; ++i) {
    const auto refused = device->Submit(work.job);
    EXPECT_EQ(CodeOf(refused), absl::StatusCode::kAborted);
    EXPECT_THAT(std::string(refused.status().message()),
                AllOf(HasSubstr("context 1 of space 0 is lost"), HasSubstr("devcoredump/data")));
  }
  EXPECT_EQ(*device->StateOf(0, *context), ContextState::kLost);
  EXPECT_TRUE(device->DestroyContext(*context).ok());
  work.job.context = 0;
  EXPECT_TRUE(device->Submit(work.job).ok());
}

TEST(XeDevice, AGpuThatIsGoneIsAnErrorThatNamesTheContext) {
  Machine machine;
  Injector injector;
  auto opened = XeDevice::Open(machine.Connect(&injector));
  ASSERT_TRUE(opened.ok()) << opened.status();
  XeDevice& device = **opened;
  PlacedJob work(machine.Make(device, kBatch), {});
  work.job.context = *device.CreateContext({});
  work.job.engine = "copy";
  ASSERT_EQ(*device.Wait(*device.Submit(work.job), kLong), true);
  injector.FailAfter(0, ENODEV);
  const auto fence = device.Submit(work.job);
  EXPECT_EQ(CodeOf(fence), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(fence.status().message()),
              HasSubstr("engine copy, context 1 of space 0"));
}

TEST(XeDevice, TheCopyEngineHasItsOtherNameToo) {
  Machine machine;
  const auto device = machine.Open();
  PlacedJob work(machine.Make(*device, kBatch), {});
  work.job.engine = "blitter";
  ASSERT_TRUE(device->Submit(work.job).ok());
  EXPECT_EQ(machine.seen.works.back()->engine, "copy");
}

TEST(XeDevice, AValueIsStoredWhenTheJobIsDone) {
  Machine machine;
  machine.kernel.set_executor(&machine.gate);
  const auto device = machine.Open();
  const Place batch = machine.Make(*device, kBatch), data = machine.Make(*device, kData);
  const PlacedJob work(batch, {data});
  const auto* const place = reinterpret_cast<const uint64_t*>(data.bytes.data() + 8);
  const auto fence = device->SubmitAndStore(work.job, {.address = kData + 8, .value = 42});
  ASSERT_TRUE(fence.ok()) << fence.status();
  EXPECT_EQ(*device->WaitForValue(place, 42, kNoTime), false);
  EXPECT_EQ(*device->WaitForValue(place, 42, absl::Milliseconds(1), XeDevice::QueueName{}), false);
  machine.gate.open = true;
  machine.kernel.Advance();
  EXPECT_EQ(*device->WaitForValue(place, 42, kLong, XeDevice::QueueName{}), true);
  EXPECT_EQ(*device->WaitForValue(place, 43, kNoTime), false);
  EXPECT_EQ(*device->Wait(*fence, kNoTime), true);
}

TEST(XeDevice, ValuesAreStoredOnlyWhereTheJobWrites) {
  Machine machine;
  const auto device = machine.Open();
  const Place batch = machine.Make(*device, kBatch), data = machine.Make(*device, kData);
  const PlacedJob work(batch, {data});
  for (const uint64_t address : {kData + 4, kData + 4096, kBatch + 8, kMore, ~uint64_t{7}}) {
    EXPECT_EQ(CodeOf(device->SubmitAndStore(work.job, {.address = address, .value = 1})),
              absl::StatusCode::kInvalidArgument)
        << address;
  }
  EXPECT_THAT(machine.seen.works, IsEmpty());
  EXPECT_TRUE(device->SubmitAndStore(work.job, {.address = kData + 4088, .value = 1}).ok());
}

TEST(XeDevice, WithoutTheCheckAJobNeedsNoResidents) {
  Machine machine;
  machine.Execute();
  const auto device = machine.Open({.checks_residents = false});
  const Place batch = machine.Make(*device, kBatch), data = machine.Make(*device, kData);
  machine.Write(batch, {{kData + 4, 0x1234}});
  const auto fence = device->Submit({.batch_address = kBatch});
  ASSERT_TRUE(fence.ok()) << fence.status();
  EXPECT_EQ(*device->Wait(*fence, kLong), true);
  EXPECT_EQ(data.word(1), 0x1234u);
  const auto stored =
      device->SubmitAndStore({.batch_address = kBatch}, {.address = kData + 8, .value = 42});
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(*device->Wait(*stored, kLong), true);
  EXPECT_EQ(data.word(2), 42u);
  // What the check would have found is the caller's.
  const Resident wrong = {.memory = data.memory, .address = kMore};
  EXPECT_TRUE(device->Submit({.batch_address = kBatch, .residents = {&wrong, 1}}).ok());
  EXPECT_EQ(CodeOf(device->Submit({.engine = "fax", .batch_address = kBatch})),
            absl::StatusCode::kInvalidArgument);
  // With it, the same job is refused.
  const auto checking = machine.Open();
  EXPECT_EQ(CodeOf(checking->Submit({.batch_address = kBatch})),
            absl::StatusCode::kInvalidArgument);
}

TEST(XeDevice, WaitingForAValueEndsWhenTheJobHangs) {
  Machine machine;
  machine.kernel.set_hang_at({1});
  const auto device = machine.Open();
  const Place batch = machine.Make(*device, kBatch), data = machine.Make(*device, kData);
  const PlacedJob work(batch, {data});
  ASSERT_TRUE(device->SubmitAndStore(work.job, {.address = kData, .value = 1}).ok());
  const auto* const place = reinterpret_cast<const uint64_t*>(data.bytes.data());
  const auto waited = device->WaitForValue(place, 1, kLong, XeDevice::QueueName{});
  EXPECT_EQ(CodeOf(waited), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(waited.status().message()), HasSubstr("context 0 (render) of space 0"));
  EXPECT_EQ(*device->StateOf(0, 0), ContextState::kHung);
}

TEST(XeDevice, MemoryOfTheProcessIsMemoryOfTheGpu) {
  Machine machine;
  machine.Execute();
  void* const own = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const absl::Span<uint8_t> bytes(static_cast<uint8_t*>(own), 8192);
  {
    const auto device = machine.Open();
    EXPECT_EQ(CodeOf(device->CreateFromUser(bytes.subspan(8, 4096))),
              absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(CodeOf(device->CreateFromUser(bytes.subspan(0, 100))),
              absl::StatusCode::kInvalidArgument);
    const auto memory = device->CreateFromUser(bytes);
    ASSERT_TRUE(memory.ok()) << memory.status();
    EXPECT_EQ(device->Map(*memory)->data(), bytes.data());
    ASSERT_TRUE(
        device->Bind({.address = kData, .size = 4096, .memory = *memory, .offset = 4096}).ok());
    const Place batch = machine.Make(*device, kBatch);
    machine.Write(batch, {{kData + 12, 0xabcd}});
    const PlacedJob work(batch, {{*memory, kData, {}}});
    const auto fence = device->Submit(work.job);
    ASSERT_TRUE(fence.ok()) << fence.status();
    EXPECT_EQ(*device->Wait(*fence, kLong), true);
    EXPECT_EQ(CodeOf(device->Export(*memory)), absl::StatusCode::kFailedPrecondition);
    ASSERT_TRUE(device->Unbind(0, kData, 4096).ok());
    EXPECT_TRUE(device->Destroy(*memory).ok());
    EXPECT_EQ(CodeOf(device->Map(*memory)), absl::StatusCode::kNotFound);
    // Of what is still there, the device's end leaves the process its memory.
    EXPECT_TRUE(device->CreateFromUser(bytes).ok());
  }
  uint32_t word = 0;
  std::memcpy(&word, bytes.data() + 4096 + 12, 4);
  EXPECT_EQ(word, 0xabcdu);
  munmap(own, 8192);
}

TEST(XeDevice, AddressesThatAreNotBoundHangUnlessThereIsAScratchPage) {
  for (const bool scratch_page : {false, true}) {
    Machine machine;
    machine.Execute();
    const auto device = machine.Open({.scratch_page = scratch_page});
    const Place batch = machine.Make(*device, kBatch), data = machine.Make(*device, kData);
    machine.Write(batch, {{kMore, 1}, {kData, 2}});
    const PlacedJob work(batch, {data});
    const auto fence = device->Submit(work.job);
    ASSERT_TRUE(fence.ok()) << fence.status();
    const auto waited = device->Wait(*fence, kLong);
    if (scratch_page) {
      EXPECT_EQ(*waited, true);
      EXPECT_EQ(data.word(0), 2u);
    } else {
      EXPECT_EQ(CodeOf(waited), absl::StatusCode::kAborted);
      EXPECT_EQ(data.word(0), 0u);
    }
  }
}

TEST(XeDevice, JobsOfADeviceWithPageFaultsHaveNoFences) {
  Machine machine("lnl");
  machine.Execute();
  const auto device = machine.Open({.page_faults = true});
  const Place batch = machine.Make(*device, kBatch), data = machine.Make(*device, kData);
  machine.Write(batch, {{kData, 7}});
  PlacedJob work(batch, {data});
  const auto refused = device->Submit(work.job);
  EXPECT_EQ(CodeOf(refused), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("SubmitWithoutFence()"));
  const absl::Status status =
      device->SubmitWithoutFence(work.job, {.address = kData + 8, .value = 3});
  ASSERT_TRUE(status.ok()) << status;
  const auto* const place = reinterpret_cast<const uint64_t*>(data.bytes.data() + 8);
  EXPECT_EQ(*device->WaitForValue(place, 3, kLong, XeDevice::QueueName{}), true);
  EXPECT_EQ(data.word(0), 7u);
  // There was no fence 1.
  const Fence after[] = {1};
  work.job.after = after;
  EXPECT_EQ(CodeOf(device->SubmitWithoutFence(work.job, {.address = kData + 8, .value = 4})),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(device->Unbind(0, kData, 4096).ok());
  EXPECT_TRUE(device->Destroy(data.memory).ok());
}

TEST(XeDevice, PageFaultsNeedHardwareThatHasThem) {
  Machine machine("tgl");
  const auto refused = XeDevice::Open(machine.Connect(), {.page_faults = true});
  EXPECT_EQ(CodeOf(refused), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("no page faults"));
}

TEST(XeDevice, MemoryAndFencesGoFromDeviceToDevice) {
  Machine machine;
  machine.kernel.set_executor(&machine.gate);
  const auto one = machine.Open(), two = machine.Open();
  const Place shared = machine.Make(*one, kData, Heap::kSystem, 0, kShared);
  const Place batch = machine.Make(*one, kBatch), other_batch = machine.Make(*two, kBatch);
  const auto buffer = one->Export(shared.memory);
  ASSERT_TRUE(buffer.ok()) << buffer.status();
  const auto imported = two->Import(buffer->get());
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(imported->size, 4096u);
  ASSERT_TRUE(two->Bind({.address = kMore, .size = 4096, .memory = imported->memory}).ok());
  shared.bytes[9] = 99;
  EXPECT_EQ((*two->Map(imported->memory))[9], 99);
  EXPECT_EQ(CodeOf(one->Export(batch.memory)), absl::StatusCode::kFailedPrecondition);

  const auto first = one->Submit(PlacedJob(batch, {}).job);
  const auto file = one->ExportFence(*first);
  ASSERT_TRUE(file.ok()) << file.status();
  const auto fence = two->ImportFence(file->get());
  ASSERT_TRUE(fence.ok()) << fence.status();
  PlacedJob work(other_batch, {});
  const Fence after[] = {*fence};
  work.job.after = after;
  const auto second = two->Submit(work.job);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_THAT(machine.seen.works, SizeIs(1));
  EXPECT_EQ(*two->Wait(*second, kNoTime), false);
  machine.gate.open = true;
  machine.kernel.Advance();
  EXPECT_EQ(*two->Wait(*second, kLong), true);
  EXPECT_EQ(*two->Wait(*fence, kNoTime), true);
  EXPECT_THAT(machine.seen.works, SizeIs(2));
}

// Changes replies to a query.
class Lying : public MockConnection {
 public:
  using Change = void (*)(absl::Span<uint32_t> words);
  Lying(Machine& machine, uint32_t query, Change change)
      : MockConnection(machine.kernel, machine.device), query_(query), change_(change) {}
  int Ioctl(uint32_t request, void* argument) override {
    const auto& args = *static_cast<xe::device_query*>(argument);
    const bool is_reply = request == xe::kDeviceQuery && args.data != 0 && args.query == query_;
    const int result = MockConnection::Ioctl(request, argument);
    if (is_reply) change_({reinterpret_cast<uint32_t*>(args.data), args.size / 4});
    return result;
  }

 private:
  const uint32_t query_;
  const Change change_;
};

TEST(XeDevice, RepliesThatDoNotFitTogetherAreAnError) {
  Machine machine("bmg");
  const auto code = [&](uint32_t query, Lying::Change change) {
    return CodeOf(XeDevice::Open(std::make_unique<Lying>(machine, query, change)));
  };
  using Words = absl::Span<uint32_t>;
  const auto bad = absl::StatusCode::kDataLoss;
  EXPECT_EQ(code(xe::kQueryConfig, [](Words) {}), absl::StatusCode::kOk);
  for (const uint32_t query :
       {xe::kQueryConfig, xe::kQueryGtList, xe::kQueryEngines, xe::kQueryMemRegions}) {
    EXPECT_EQ(code(query, [](Words words) { words[0] = 0xffffffff; }), bad) << query;
    EXPECT_EQ(code(query, [](Words words) { words[0] += 1; }), bad) << query;
  }
  EXPECT_EQ(code(xe::kQueryConfig, [](Words words) { words[0] = 4; }), bad);
  EXPECT_EQ(code(xe::kQueryConfig, [](Words words) { words[2 + 2 * 2] = 0; }), bad);
  EXPECT_EQ(code(xe::kQueryConfig, [](Words words) { words[2 + 2 * 2] = 4097; }), bad);
  EXPECT_EQ(code(xe::kQueryConfig, [](Words words) { words[2 + 2 * 3] = 64; }), bad);
  EXPECT_EQ(code(xe::kQueryGtTopology, [](Words words) { words[1] = 0xffffffff; }), bad);
  // The rest is then no whole record.
  EXPECT_EQ(code(xe::kQueryGtTopology, [](Words words) { words[1] = 4 * words.size() - 12; }), bad);
  // No GT is for shaders.
  EXPECT_EQ(code(xe::kQueryGtList, [](Words words) { words[0] = 0; }),
            absl::StatusCode::kUnavailable);
}

TEST(XeDevice, TheGenerationCanBeNamed) {
  Machine machine;
  EXPECT_EQ(machine.Open({.generation = "tgl"})->generation(), "gfx12");
  const auto unknown = XeDevice::Open(machine.Connect(), {.generation = "gfx99"});
  EXPECT_EQ(CodeOf(unknown), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(unknown.status().message()), HasSubstr("/dev/dri/mock"));
  const auto other = XeDevice::Open(machine.Connect(), {.generation = "xe2"});
  EXPECT_EQ(CodeOf(other), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(other.status().message()), HasSubstr("is a GPU of gfx12, not of xe2"));
}

TEST(XeHwconfig, EntriesAreKeysWithValues) {
  const uint32_t words[] = {3, 1, 16, 70, 2, 5, 6, 9, 0};
  const auto table = ParseHwconfig(words);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_THAT(table->at(3), ElementsAre(16));
  EXPECT_THAT(table->at(70), ElementsAre(5, 6));
  EXPECT_THAT(table->at(9), IsEmpty());
  EXPECT_TRUE(ParseHwconfig({})->empty());
}

TEST(XeHwconfig, ATableThatEndsTooEarlyIsRefused) {
  const uint32_t words[] = {3, 2, 16, 70};
  EXPECT_TRUE(ParseHwconfig(words).ok());
  for (const size_t size : {1, 2, 3}) {
    EXPECT_EQ(CodeOf(ParseHwconfig(absl::MakeSpan(words).first(size))),
              absl::StatusCode::kDataLoss);
  }
  const uint32_t huge[] = {3, 0xffffffff, 16};
  EXPECT_EQ(CodeOf(ParseHwconfig(huge)), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace packsmith::gpu
