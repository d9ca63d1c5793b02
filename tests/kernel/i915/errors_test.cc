// Calls of the kernel that fail, each in turn.
#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>
#include <tuple>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "tests/capture/sandbox.h"
#include "tests/kernel/i915/rig.h"

namespace packsmith::gpu {
namespace {

using MapMode = I915Device::MapMode;

constexpr uint64_t kBatch = 0x100000, kData = 0x200000;

// How many pieces of memory the mock has, each in a descriptor.
int CountMemory() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const std::string target = std::filesystem::read_symlink(entry.path(), error).string();
    if (target.find("memfd:") != std::string::npos) ++count;
  }
  return count;
}

// Runs steps until one fails, and then undoes what was done, with calls that do not fail.
class Scenario {
 public:
  Scenario(capture::Machine& machine, Injector& injector, Counts& counts)
      : machine_(machine), injector_(injector), counts_(counts) {}

  absl::Status Run() {
    absl::Status status = Steps();
    met_ = injector_.failed();
    injector_.Stop();
    const absl::Status undone = Undo();
    EXPECT_TRUE(undone.ok()) << undone;
    if (device_ != nullptr) {
      EXPECT_EQ(counts_.objects, 0);
      // Context 0 lives as long as its space.
      EXPECT_LE(counts_.contexts, counts_.spaces);
      EXPECT_LE(counts_.spaces, 1);
    }
    device_.reset();
    machine_.watcher.works.clear();
    EXPECT_EQ(counts_.syncobjs, 0);
    return status;
  }
  // Whether the failure was met.
  bool met() const { return met_; }

 private:
  absl::Status Add(uint64_t address, const MemoryOptions& options, Placed& out) {
    const auto memory = device_->Create(options);
    if (!memory.ok()) return memory.status();
    memories_.push_back(*memory);
    const auto mapped = device_->Map(*memory);
    if (!mapped.ok()) return mapped.status();
    const absl::Status status =
        device_->Bind({.address = address, .size = options.size, .memory = *memory});
    if (!status.ok()) return status;
    bound_.push_back({address, options.size});
    out = {.memory = *memory, .address = address, .bytes = *mapped};
    return absl::OkStatus();
  }

  absl::Status Steps() {
    auto opened = OpenOn(machine_, {.injector = &injector_, .counts = &counts_});
    if (!opened.ok()) return opened.status();
    device_ = *std::move(opened);
    const uint64_t page = device_->properties().page;
    Placed batch, data;
    absl::Status status = Add(kBatch, {.size = page}, batch);
    if (status.ok()) status = Add(kData, {.size = page, .use = kShared}, data);
    if (!status.ok()) return status;
    batch.SetWord(0, 0x05000000);  // MI_BATCH_BUFFER_END
    const auto context = device_->CreateContext({.recoverable = false});
    if (!context.ok()) return context.status();
    contexts_.push_back(*context);
    const std::vector<Resident> residents = {data.AsResident(true), batch.AsResident()};
    const Relocation relocation = {
        .in = batch.memory, .offset = 64, .target = data.memory, .delta = 4};
    std::vector<Fence> fences;
    for (int i = 0; i < 3; ++i) {
      const auto fence = device_->Submit({.context = i == 1 ? *context : 0,
                                          .batch_address = kBatch,
                                          .residents = residents,
                                          .after = fences,
                                          .relocations = {&relocation, 1}});
      if (!fence.ok()) return fence.status();
      fences.push_back(*fence);
    }
    const auto file = device_->ExportFence(fences[0]);
    if (!file.ok()) return file.status();
    const auto imported = device_->ImportFence(file->get());
    if (!imported.ok()) return imported.status();
    fences.push_back(*imported);
    for (const Fence fence : fences) {
      const auto done = device_->Wait(fence, absl::Seconds(20));
      if (!done.ok()) return done.status();
      EXPECT_TRUE(*done);
    }
    const auto state = device_->StateOf(0, *context);
    if (!state.ok()) return state.status();
    const auto needed = device_->SetNeeded(data.memory, true);
    if (!needed.ok()) return needed.status();
    status = Others(batch, data);
    if (!status.ok()) return status;
    return Undo();
  }

  // What not all devices have.
  absl::Status Others(const Placed& batch, const Placed& data) {
    const auto failed = [](const absl::Status& status) {
      return !status.ok() && status.code() != absl::StatusCode::kUnimplemented;
    };
    const auto shared = device_->Export(data.memory);
    if (!shared.ok()) return shared.status();
    // It is the same object: it lives until both are destroyed.
    const auto imported = device_->Import(shared->get());
    if (!imported.ok()) return imported.status();
    memories_.push_back(imported->memory);
    const bool discrete = device_->properties().discrete;
    const auto mapped =
        device_->MapAs(batch.memory, discrete ? MapMode::kFixed : MapMode::kWriteCombined);
    if (!mapped.ok()) return mapped.status();
    const auto tiled = device_->SetTiling(data.memory, I915Device::Tiling::kX, 512);
    if (failed(tiled.status())) return tiled.status();
    alignas(64 << 10) static uint8_t bytes[64 << 10];
    const auto user = device_->CreateFromUser(bytes);
    if (user.ok()) memories_.push_back(*user);
    return failed(user.status()) ? user.status() : absl::OkStatus();
  }

  absl::Status Undo() {
    while (!contexts_.empty()) {
      const absl::Status status = device_->DestroyContext(contexts_.back());
      if (!status.ok()) return status;
      contexts_.pop_back();
    }
    while (!bound_.empty()) {
      const absl::Status status = device_->Unbind(0, bound_.back().first, bound_.back().second);
      if (!status.ok()) return status;
      bound_.pop_back();
    }
    while (!memories_.empty()) {
      const absl::Status status = device_->Destroy(memories_.back());
      if (!status.ok()) return status;
      memories_.pop_back();
    }
    return absl::OkStatus();
  }

  capture::Machine& machine_;
  Injector& injector_;
  Counts& counts_;
  bool met_ = false;
  std::unique_ptr<I915Device> device_;
  std::vector<MemoryId> memories_;
  std::vector<std::pair<uint64_t, uint64_t>> bound_;
  std::vector<uint32_t> contexts_;
};

class EveryError : public ::testing::TestWithParam<std::tuple<const char*, int>> {};
INSTANTIATE_TEST_SUITE_P(, EveryError,
                         ::testing::Combine(::testing::Values("snb", "glk", "skl", "dg2", "mtl"),
                                            ::testing::Values(ENOMEM, EINTR, EAGAIN, EIO, ENOSPC,
                                                              ENODEV)));

TEST_P(EveryError, OfEachCallLosesAndLeaksNothing) {
  const auto [name, error] = GetParam();
  int calls = 0;
  for (bool met = true; met; ++calls) {
    SCOPED_TRACE(calls);
    const size_t descriptors = capture::CountDescriptors();
    absl::Status status;
    {
      // Its end closes the mock's own descriptors.
      capture::Machine machine(name);
      Injector injector;
      Counts counts;
      injector.FailAfter(calls, error);
      Scenario scenario(machine, injector, counts);
      status = scenario.Run();
      met = scenario.met();
      // The mock sees when it next looks at them that descriptors of objects are closed.
      MutexLock lock(machine.kernel.mutex());
      machine.kernel.shared_files().DropClosedObjects();
    }
    EXPECT_EQ(CountMemory(), 0);
    EXPECT_EQ(capture::CountDescriptors(), descriptors);
    if (!met) {
      EXPECT_TRUE(status.ok()) << status;
    }
    // mmap() says by EAGAIN that the process may not lock more memory.
    const bool locked = error == EAGAIN && absl::StrContains(status.message(), "mmap()");
    if ((error == EINTR || error == EAGAIN) && !locked) {
      EXPECT_TRUE(status.ok()) << status;
    }
    ASSERT_LT(calls, 200);
  }
  EXPECT_GT(calls, 40);
}

}  // namespace
}  // namespace packsmith::gpu
