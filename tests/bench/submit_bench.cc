// Jobs that are submitted through a device, beside the bare call of the driver with the same
// arguments.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "runtime/capture/devices/device_info.h"
#include "runtime/capture/i915/i915.h"
#include "runtime/capture/xe/xe.h"
#include "runtime/kernel/i915/i915_device.h"
#include "runtime/kernel/uapi/drm.h"
#include "runtime/kernel/uapi/i915.h"
#include "runtime/kernel/uapi/xe.h"
#include "runtime/kernel/xe/xe_device.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/buffers.h"
#include "tests/kernel/mock_connection.h"

namespace packsmith::gpu {
namespace {

namespace api = uapi::i915;

constexpr uint64_t kPage = 4096, kFirst = 0x100000;

// A connection to a mock whose calls that submit and wait can be left out: what remains is what
// this process does.
class BenchConnection : public MockConnection {
 public:
  BenchConnection(capture::MockKernel& kernel, capture::MockDevice& device, const bool& absent)
      : MockConnection(kernel, device), absent_(absent) {}

  int Ioctl(uint32_t request, void* argument) override {
    if (absent_) {
      if (request == api::kGemExecbuffer2 || request == uapi::xe::kExec ||
          request == uapi::drm::kSyncobjWait) {
        return 0;
      }
      if (request == uapi::drm::kSyncobjHandleToFd) {
        static_cast<uapi::drm::syncobj_handle*>(argument)->fd = -1;
        return 0;
      }
    }
    return MockConnection::Ioctl(request, argument);
  }
  int IoctlOn(int fd, uint32_t request, void* argument) override {
    if (!absent_) return MockConnection::IoctlOn(fd, request, argument);
    static_cast<uapi::drm::sync_file_info*>(argument)->status = 1;
    return 0;
  }

 private:
  const bool& absent_;
};

// A machine with one GPU. `make`: MakeI915 or MakeXe.
class Gpu {
 public:
  using Make = std::unique_ptr<capture::MockDevice> (*)(capture::MockKernel&,
                                                        const capture::DeviceInfo&);
  explicit Gpu(const char* name, Make make = capture::MakeI915) {
    const auto found = capture::FindDevice(name);
    info_ = *found->device;
    info_.pci_id = found->pci_id;
    device_ = &kernel_.Add(make(kernel_, info_));
  }
  std::unique_ptr<Connection> Connect() {
    return std::make_unique<BenchConnection>(kernel_, *device_, absent);
  }

  bool absent = false;

 private:
  capture::DeviceInfo info_;
  capture::MockKernel kernel_;
  capture::MockDevice* device_ = nullptr;
};

// The call with its structures, filled for each submission.
void Bare(benchmark::State& state, bool absent) {
  const auto count = static_cast<size_t>(state.range(0));
  Gpu gpu("skl");
  const Calls calls(gpu.Connect());
  std::vector<uint32_t> handles;
  for (size_t i = 0; i < count; ++i) {
    api::gem_create create = {.size = kPage, .handle = 0, .pad = 0};
    if (!calls.Do("GEM_CREATE", api::kGemCreate, create).ok()) {
      return state.SkipWithError("the mock has no memory");
    }
    handles.push_back(create.handle);
  }
  const absl::StatusOr<Syncobj> done = Syncobj::Create(calls);
  if (!done.ok()) return state.SkipWithError("the mock has no syncobj");
  gpu.absent = absent;
  std::vector<api::gem_exec_object2> objects(count);
  const api::gem_exec_fence fence = {.handle = done->handle(), .flags = api::kFenceSignal};
  for (auto _ : state) {
    for (size_t i = 0; i < count; ++i) {
      objects[i] = {};
      objects[i].handle = handles[i];
      objects[i].offset = kFirst + i * kPage;
      objects[i].flags = api::kObjectPinned | api::kObjectSupports48bAddress | api::kObjectAsync;
    }
    api::gem_execbuffer2 args = {};
    args.buffers_ptr = reinterpret_cast<uintptr_t>(objects.data());
    args.buffer_count = static_cast<uint32_t>(count);
    args.cliprects_ptr = reinterpret_cast<uintptr_t>(&fence);
    args.num_cliprects = 1;
    args.flags = api::kExecBatchFirst | api::kExecFenceArray | api::kExecNoReloc |
                 api::kExecHandleLut | api::kRingRender;
    if (calls.Try(api::kGemExecbuffer2, args) < 0) return state.SkipWithError("refused");
    benchmark::DoNotOptimize(objects.data());
  }
}

// Through a device; with relocations, one in the batch for each buffer, none of which has moved.
template <typename Driver>
void SubmitBy(benchmark::State& state, const char* name, Gpu::Make make, bool absent,
              bool relocates, typename Driver::Options options = {}) {
  const auto count = static_cast<size_t>(state.range(0));
  Gpu gpu(name, make);
  auto opened = Driver::Open(gpu.Connect(), std::move(options));
  if (!opened.ok()) return state.SkipWithError(opened.status().ToString().c_str());
  Driver& device = **opened;
  std::vector<Resident> residents;
  std::vector<Relocation> relocations;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t address = kFirst + i * kPage;
    const auto memory = device.Create({.size = kPage});
    if (!memory.ok() || !device.Bind({.address = address, .size = kPage, .memory = *memory}).ok()) {
      return state.SkipWithError("the mock has no memory");
    }
    residents.push_back({.memory = *memory, .address = address, .written = false, .size = kPage});
    if (relocates) {
      relocations.push_back(
          {.in = residents[0].memory, .offset = 4 * (i % (kPage / 4)), .target = *memory});
    }
  }
  const Job job = {.batch_address = kFirst, .residents = residents, .relocations = relocations};
  if (!device.Submit(job).ok()) return state.SkipWithError("refused");
  gpu.absent = absent;
  for (auto _ : state) {
    if (!device.Submit(job).ok()) return state.SkipWithError("refused");
  }
}

void Submit(benchmark::State& state, const char* name, bool absent, bool relocates) {
  SubmitBy<I915Device>(state, name, capture::MakeI915, absent, relocates);
}
// The kernel is told of no buffers: it knows what is bound.
void SubmitXe(benchmark::State& state, bool absent, bool checks = true) {
  SubmitBy<XeDevice>(state, "lnl", capture::MakeXe, absent, /*relocates=*/false,
                     {.checks_residents = checks});
}

// The call of xe, with the syncs that a device's jobs have.
void BareXe(benchmark::State& state, bool absent) {
  namespace xe = uapi::xe;
  Gpu gpu("lnl", capture::MakeXe);
  const Calls calls(gpu.Connect());
  const absl::StatusOr<Syncobj> bound = Syncobj::Create(calls, /*signalled=*/true),
                                done = Syncobj::Create(calls);
  if (!bound.ok() || !done.ok()) return state.SkipWithError("the mock has no syncobj");
  xe::vm_create vm = {};
  xe::exec_queue_create queue = {};
  xe::engine_class_instance engine = {};
  const bool made = calls.Try(xe::kVmCreate, vm) >= 0;
  queue.width = queue.num_placements = 1;
  queue.vm_id = vm.vm_id;
  queue.instances = reinterpret_cast<uintptr_t>(&engine);
  if (!made || calls.Try(xe::kExecQueueCreate, queue) < 0) return state.SkipWithError("no queue");
  gpu.absent = absent;
  for (auto _ : state) {
    xe::sync syncs[2] = {};
    syncs[0].handle_or_address = bound->handle();
    syncs[1].handle_or_address = done->handle();
    syncs[1].flags = xe::kSyncSignal;
    xe::exec args = {};
    args.exec_queue_id = queue.exec_queue_id;
    args.num_syncs = 2;
    args.syncs = reinterpret_cast<uintptr_t>(syncs);
    args.address = kFirst;
    args.num_batch_buffer = 1;
    if (calls.Try(xe::kExec, args) < 0) return state.SkipWithError("refused");
    benchmark::DoNotOptimize(&args);
  }
}

// Pages that are bound and unbound, each by a call of its own or all by one.
void BindPages(benchmark::State& state, bool together) {
  const auto count = static_cast<size_t>(state.range(0));
  Gpu gpu("lnl", capture::MakeXe);
  auto opened = XeDevice::Open(gpu.Connect());
  if (!opened.ok()) return state.SkipWithError(opened.status().ToString().c_str());
  XeDevice& device = **opened;
  const auto memory = device.Create({.size = count * kPage});
  if (!memory.ok()) return state.SkipWithError("the mock has no memory");
  std::vector<PageBinding> bindings;
  for (size_t i = 0; i < count; ++i) {
    bindings.push_back(
        {.address = kFirst + 2 * i * kPage, .size = kPage, .memory = *memory, .offset = i * kPage});
  }
  for (auto _ : state) {
    absl::Status status;
    if (together) {
      status = device.BindAll(bindings);
      status.Update(device.UnbindAll(bindings));
    } else {
      for (const PageBinding& one : bindings) status.Update(device.Bind(one));
      for (const PageBinding& one : bindings) {
        status.Update(device.Unbind(one.space, one.address, one.size));
      }
    }
    if (!status.ok()) return state.SkipWithError("refused");
  }
}

// Buffers with memory of their own, made and given back one by one or together.
void MakeBuffers(benchmark::State& state, bool together) {
  const auto count = static_cast<size_t>(state.range(0));
  Gpu gpu("lnl", capture::MakeXe);
  auto opened = XeDevice::Open(gpu.Connect());
  if (!opened.ok()) return state.SkipWithError(opened.status().ToString().c_str());
  const auto addresses = AddressSpace::Create({{"all", kGiB, 64 * kGiB}});
  const auto buffers = Buffers::Create(**opened, **addresses, {.cache_bytes = 0});
  const std::vector<BufferOptions> wanted(
      count, {.size = 64 * kKiB, .zone = ZoneId{0}, .dedicated = true});
  std::vector<BufferHandle> handles(count);
  for (auto _ : state) {
    absl::Status status;
    if (together) {
      const auto made = buffers->CreateAll(wanted);
      if (!made.ok()) return state.SkipWithError("refused");
      for (size_t i = 0; i < count; ++i) handles[i] = (*made)[i].handle;
      status = buffers->ReleaseAll(handles);
    } else {
      for (size_t i = 0; i < count; ++i) {
        const auto made = buffers->Create(wanted[i]);
        if (!made.ok()) return state.SkipWithError("refused");
        handles[i] = made->handle;
      }
      for (const BufferHandle handle : handles) status.Update(buffers->Release(handle));
    }
    if (!status.ok()) return state.SkipWithError("refused");
  }
}

void Sizes(benchmark::internal::Benchmark* benchmark) { benchmark->Arg(10)->Arg(100)->Arg(1000); }

BENCHMARK_CAPTURE(Bare, mock, false)->Apply(Sizes)->Name("Bare");
BENCHMARK_CAPTURE(Submit, mock, "skl", false, false)->Apply(Sizes)->Name("Submit");
BENCHMARK_CAPTURE(Bare, alone, true)->Apply(Sizes)->Name("BareAlone");
BENCHMARK_CAPTURE(Submit, alone, "skl", true, false)->Apply(Sizes)->Name("SubmitAlone");
BENCHMARK_CAPTURE(Submit, pinned, "hsw", true, false)->Apply(Sizes)->Name("PinnedAlone");
BENCHMARK_CAPTURE(Submit, relocated, "hsw", true, true)->Apply(Sizes)->Name("RelocatedAlone");
BENCHMARK_CAPTURE(BareXe, mock, false)->Name("BareXe");
BENCHMARK_CAPTURE(SubmitXe, mock, false)->Apply(Sizes)->Name("SubmitXe");
BENCHMARK_CAPTURE(BareXe, alone, true)->Name("BareXeAlone");
BENCHMARK_CAPTURE(SubmitXe, alone, true)->Apply(Sizes)->Name("SubmitXeAlone");
BENCHMARK_CAPTURE(SubmitXe, unchecked, true, false)->Apply(Sizes)->Name("UncheckedXeAlone");
BENCHMARK_CAPTURE(BindPages, each, false)->Apply(Sizes)->Name("BindEach");
BENCHMARK_CAPTURE(BindPages, together, true)->Apply(Sizes)->Name("BindTogether");
BENCHMARK_CAPTURE(MakeBuffers, each, false)->Arg(10)->Arg(100)->Name("MakeEach");
BENCHMARK_CAPTURE(MakeBuffers, together, true)->Arg(10)->Arg(100)->Name("MakeTogether");

}  // namespace
}  // namespace packsmith::gpu
