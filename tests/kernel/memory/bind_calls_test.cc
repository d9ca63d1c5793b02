// How many calls of the kernel bind and unbind buffers, on the drivers that have such calls, and
// what is left when the kernel refuses some of it.
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/unique_fd.h"
#include "runtime/command/buffer_chunks.h"
#include "runtime/memory/buffer_sharing.h"
#include "runtime/memory/state_pool.h"
#include "tests/kernel/counting_connection.h"
#include "tests/kernel/memory/machine.h"

namespace packsmith::gpu {
namespace {

namespace asahi = uapi::asahi;
namespace xe = uapi::xe;

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint64_t kSize = 64 * kKiB;  // whole pages of every device

// What the kernel does with operations. Outlives connections.
struct Rules {
  size_t most = std::numeric_limits<size_t>::max();  // of one call
  std::set<uint64_t> refused;                        // addresses, to bind or to unbind at
  bool refuses_unbinding = false;
  bool refuses_jobs = false;  // once, for want of memory
  int asked = 0;              // calls
  std::set<uint64_t> bound;   // addresses
};

class BindConnection : public CountingConnection {
 public:
  BindConnection(capture::MockKernel& kernel, capture::MockDevice& device, const Gpu& gpu,
                 Rules& rules)
      : BindConnection(kernel, device,
                       gpu.driver == std::string("xe") ? xe::kGemCreate : asahi::kGemCreate,
                       rules) {}

  int Ioctl(uint32_t request, void* argument) override {
    if ((request == xe::kExec || request == asahi::kSubmit) &&
        std::exchange(rules_.refuses_jobs, false)) {
      return -ENOMEM;
    }
    if (request == xe::kVmBind) return BindOnXe(*static_cast<xe::vm_bind*>(argument));
    if (request == asahi::kVmBind) return BindOnAsahi(*static_cast<asahi::vm_bind*>(argument));
    return CountingConnection::Ioctl(request, argument);
  }
  int binds() const { return calls(xe::kVmBind) + calls(asahi::kVmBind); }
  int objects() const { return live(makes_object_); }

 private:
  BindConnection(capture::MockKernel& kernel, capture::MockDevice& device, uint32_t makes_object,
                 Rules& rules)
      : CountingConnection(kernel, device, /*injector=*/nullptr,
                           {{makes_object, uapi::drm::kGemClose}}),
        makes_object_(makes_object),
        rules_(rules) {}

  struct Op {
    uint64_t address;
    bool unbinds;
  };

  bool IsRefused(const Op& op) const {
    return op.unbinds == rules_.refuses_unbinding && rules_.refused.count(op.address) != 0;
  }
  void Note(const std::vector<Op>& ops) {
    for (const Op& op : ops) {
      if (op.unbinds) {
        rules_.bound.erase(op.address);
      } else {
        rules_.bound.insert(op.address);
      }
    }
  }

  // All or none.
  int BindOnXe(xe::vm_bind& args) {
    ++rules_.asked;
    std::vector<xe::vm_bind_op> given(args.num_binds);
    const void* const from =
        args.num_binds == 1 ? &args.bind : reinterpret_cast<const void*>(args.vector_of_binds);
    std::memcpy(given.data(), from, given.size() * sizeof(xe::vm_bind_op));
    std::vector<Op> ops;
    for (const xe::vm_bind_op& op : given) ops.push_back({op.addr, op.op == xe::kUnmap});
    if (ops.size() > rules_.most) return -ENOBUFS;
    for (const Op& op : ops) {
      if (IsRefused(op)) return -EINVAL;
    }
    const int result = CountingConnection::Ioctl(xe::kVmBind, &args);
    if (result >= 0) Note(ops);
    return result;
  }
  // Those before one that fails stay.
  int BindOnAsahi(const asahi::vm_bind& args) {
    ++rules_.asked;
    std::vector<asahi::gem_bind_op> given(args.num_binds);
    std::memcpy(given.data(), reinterpret_cast<const void*>(args.userptr),
                given.size() * sizeof(asahi::gem_bind_op));
    std::vector<Op> ops;
    int error = given.size() > rules_.most ? -ENOBUFS : 0;
    for (const asahi::gem_bind_op& one : given) {
      const Op op = {one.addr, (one.flags & asahi::kBindUnbind) != 0};
      if (error == 0 && IsRefused(op)) error = -EINVAL;
      if (error != 0) break;
      ops.push_back(op);
    }
    asahi::vm_bind some = args;
    some.num_binds = static_cast<uint32_t>(ops.size());
    const int result = ops.empty() ? 0 : CountingConnection::Ioctl(asahi::kVmBind, &some);
    if (result >= 0) Note(ops);
    return error != 0 ? error : result;
  }

  const uint32_t makes_object_;
  Rules& rules_;
};

class BindCalls : public testing::TestWithParam<Gpu> {
 protected:
  BindCalls() {
    auto connection =
        std::make_unique<BindConnection>(kernel_.kernel, kernel_.device(), GetParam(), rules_);
    calls_ = connection.get();
    device_ = *kernel_.OpenOn(std::move(connection));
    Start({.cache_bytes = 0});
  }
  void Start(const Buffers::Options& options) {
    on_.reset();
    on_.emplace(*device_, device_->page(), options);
  }
  Buffers& buffers() { return *on_->buffers; }
  // Of memory of their own, "0" and so on.
  std::vector<BufferOptions> Wanted(size_t count) {
    static constexpr const char* kNames[] = {"0", "1", "2", "3", "4", "5", "6", "7"};
    std::vector<BufferOptions> wanted;
    for (size_t i = 0; i < count; ++i) {
      wanted.push_back(
          {.size = kSize, .zone = BuffersOn::kAll, .name = kNames[i], .dedicated = true});
    }
    return wanted;
  }
  // At addresses that are known.
  std::vector<BufferOptions> WantedAt(size_t count) {
    std::vector<BufferOptions> wanted = Wanted(count);
    for (size_t i = 0; i < count; ++i) wanted[i].address = AddressOf(i);
    return wanted;
  }
  static uint64_t AddressOf(size_t i) { return 32 * kMiB + i * 2 * kSize; }
  std::vector<BufferHandle> Must(const std::vector<BufferOptions>& wanted) {
    const auto made = buffers().CreateAll(wanted);
    EXPECT_TRUE(made.ok()) << made.status();
    std::vector<BufferHandle> handles;
    if (made.ok()) {
      for (const Buffer& buffer : *made) handles.push_back(buffer.handle);
    }
    return handles;
  }
  // Calls that `what` makes.
  template <typename What>
  int CallsOf(What what) {
    const int before = calls_->binds();
    what();
    return calls_->binds() - before;
  }
  uint64_t LiveRanges() { return on_->addresses->statistics(BuffersOn::kAll).live_ranges; }

  Rules rules_;
  KernelOf kernel_{GetParam()};
  BindConnection* calls_ = nullptr;
  std::unique_ptr<DrmDevice> device_;
  std::optional<BuffersOn> on_;
};

INSTANTIATE_TEST_SUITE_P(, BindCalls,
                         testing::Values(Gpu{"xe", "lnl"}, Gpu{"xe", "dg2"}, Gpu{"asahi", "m1"}),
                         testing::PrintToStringParamName());

TEST_P(BindCalls, BuffersThatAreMadeTogetherAreBoundByOneCall) {
  std::vector<BufferOptions> wanted = Wanted(6);
  // Two that share memory.
  wanted.push_back({.size = 256, .zone = BuffersOn::kAll, .name = "small"});
  wanted.push_back({.size = 256, .zone = BuffersOn::kAll, .name = "small, too"});
  std::vector<BufferHandle> handles;
  EXPECT_EQ(CallsOf([&] { handles = Must(wanted); }), 1);
  ASSERT_THAT(handles, SizeIs(8));
  EXPECT_THAT(rules_.bound, SizeIs(7));
  for (size_t i = 0; i < handles.size(); ++i) {
    EXPECT_EQ(*buffers().Name(handles[i]), wanted[i].name);
    EXPECT_NE(buffers().Get(handles[i])->cpu, nullptr);
  }
  EXPECT_EQ(CallsOf([&] { EXPECT_TRUE(buffers().ReleaseAll(handles).ok()); }), 1);
  EXPECT_THAT(rules_.bound, IsEmpty());
  EXPECT_EQ(calls_->objects(), 0);
}

TEST_P(BindCalls, OneByOneTheyTakeACallEach) {
  std::vector<BufferHandle> handles;
  EXPECT_EQ(CallsOf([&] {
              for (const BufferOptions& one : Wanted(6)) handles.push_back(on_->Must(one).handle);
            }),
            6);
  EXPECT_EQ(CallsOf([&] {
              for (const BufferHandle handle : handles) {
                EXPECT_TRUE(buffers().Release(handle).ok());
              }
            }),
            6);
}

TEST_P(BindCalls, WhatIsKeptForReuseTakesNoCallAndIsReturnedByOne) {
  Start({});
  std::vector<BufferHandle> handles = Must(Wanted(6));
  EXPECT_EQ(CallsOf([&] { EXPECT_TRUE(buffers().ReleaseAll(handles).ok()); }), 0);
  EXPECT_EQ(CallsOf([&] { handles = Must(Wanted(4)); }), 0);
  // Two of eight are there.
  EXPECT_EQ(CallsOf([&] {
              for (const BufferHandle handle : Must(Wanted(8))) handles.push_back(handle);
            }),
            1);
  EXPECT_TRUE(buffers().ReleaseAll(handles).ok());
  EXPECT_EQ(CallsOf([&] { EXPECT_TRUE(buffers().Trim().ok()); }), 1);
  EXPECT_EQ(calls_->objects(), 0);
}

TEST_P(BindCalls, AllThatIsThereAtTheEndIsUnboundByOneCall) {
  Must(Wanted(5));
  EXPECT_EQ(CallsOf([&] { on_->buffers = nullptr; }), 1);
  EXPECT_THAT(rules_.bound, IsEmpty());
  EXPECT_EQ(calls_->objects(), 0);
}

TEST_P(BindCalls, APoolGrowsByOneCallAndEndsByOne) {
  auto pool = *StatePool::Create(
      buffers(), *on_->addresses,
      {.zone = BuffersOn::kAll, .first_block = kSize, .largest_block = 16 * kSize});
  // Blocks of 64, 64, 128, 256, 512 KiB and 1 MiB.
  EXPECT_EQ(CallsOf([&] { EXPECT_TRUE(pool->Allocate(16 * kSize).ok()); }), 1);
  EXPECT_EQ(pool->statistics().blocks, 6u);
  EXPECT_EQ(CallsOf([&] { pool = nullptr; }), 1);
  EXPECT_EQ(calls_->objects(), 0);
}

TEST_P(BindCalls, ChunksOfABatchAreReturnedByOneCall) {
  Start({.cache_bytes = 0, .largest_shared = 0});
  BufferChunks chunks(buffers(), {.zone = BuffersOn::kAll});
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(chunks.NewChunk(16).ok());
  EXPECT_EQ(CallsOf([&] { EXPECT_TRUE(chunks.Release().ok()); }), 1);
}

TEST_P(BindCalls, AJobWithoutRoomHasWhatIsKeptReturnedByOneCall) {
  Start({});
  std::vector<BufferHandle> handles = Must(Wanted(6));
  const BufferHandle batch = handles.back();
  handles.pop_back();
  ASSERT_TRUE(buffers().ReleaseAll(handles).ok());
  const Resident resident = *buffers().ResidentOf(batch);
  const Job job = {.engine = GetParam().driver == std::string("asahi") ? "compute" : "render",
                   .batch_address = resident.address,
                   .batch_length = 64,
                   .residents = {&resident, 1}};
  rules_.refuses_jobs = true;
  EXPECT_EQ(CallsOf([&] { EXPECT_TRUE(buffers().Submit(job).ok()); }), 1);
  EXPECT_EQ(calls_->objects(), 1);
}

TEST_P(BindCalls, ImportsAreBoundByOneCall) {
  std::vector<BufferOptions> shared = Wanted(4);
  for (BufferOptions& one : shared) one.use = kShared;
  std::vector<UniqueFd> files;
  for (const BufferHandle handle : Must(shared)) {
    auto file = BufferSharing(buffers()).Export(handle);
    ASSERT_TRUE(file.ok()) << file.status();
    files.push_back(*std::move(file));
  }
  Rules rules;
  auto connection =
      std::make_unique<BindConnection>(kernel_.kernel, kernel_.device(), GetParam(), rules);
  const BindConnection& calls = *connection;
  const auto device = *kernel_.OpenOn(std::move(connection));
  BuffersOn on(*device, device->page());
  std::vector<BufferImport> imports;
  for (size_t i = 0; i < files.size(); ++i) {
    imports.push_back({.dma_buf = files[i].get(), .options = Wanted(4)[i]});
  }
  // The third has not as much.
  imports[2].options.size = 2 * kSize;
  const auto refused = BufferSharing(*on.buffers).ImportAll(imports);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.status().message()),
              AllOf(HasSubstr("buffer 3 of 4 (\"2\")"), HasSubstr("0x20000")));
  EXPECT_EQ(rules.asked, 0);
  EXPECT_EQ(on.buffers->statistics().memory_bytes, 0u);
  imports[2].options.size = kSize;
  const auto made = BufferSharing(*on.buffers).ImportAll(imports);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(calls.binds(), 1);
  EXPECT_THAT(rules.bound, SizeIs(4));
  for (size_t i = 0; i < made->size(); ++i) {
    EXPECT_EQ(*on.buffers->Name((*made)[i].handle), imports[i].options.name);
  }
  on.buffers = nullptr;
  EXPECT_EQ(calls.binds(), 2);
  EXPECT_THAT(rules.bound, IsEmpty());
}

TEST_P(BindCalls, AKernelThatTakesFewerOperationsIsAskedInParts) {
  rules_.most = 2;
  const std::vector<BufferHandle> handles = Must(Wanted(5));
  // 5, which it refuses, 2, 3, which it refuses, 1 and 2. (asahi is asked to undo what it refuses.)
  EXPECT_EQ(rules_.asked, GetParam().driver == std::string("xe") ? 5 : 7);
  EXPECT_EQ(calls_->binds(), 3);
  EXPECT_THAT(rules_.bound, SizeIs(5));
  EXPECT_TRUE(buffers().ReleaseAll(handles).ok());
  EXPECT_EQ(calls_->binds(), 6);
  EXPECT_THAT(rules_.bound, IsEmpty());
  EXPECT_EQ(calls_->objects(), 0);
}

TEST_P(BindCalls, TheBufferThatTheKernelRefusesIsNamedAndNoneIsThere) {
  for (size_t bad = 0; bad < 6; ++bad) {
    rules_.refused = {AddressOf(bad)};
    const auto made = buffers().CreateAll(WantedAt(6));
    EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(made.status().message()),
                AllOf(HasSubstr(absl::StrFormat("buffer %d of 6 (\"%d\"): ", bad + 1, bad)),
                      HasSubstr("VM_BIND")));
    EXPECT_THAT(rules_.bound, IsEmpty()) << bad;
    EXPECT_EQ(calls_->objects(), 0);
    EXPECT_EQ(LiveRanges(), 0u);
    EXPECT_EQ(buffers().statistics().live, 0u);
    EXPECT_EQ(buffers().statistics().created, 0u);
    EXPECT_EQ(buffers().statistics().memory_bytes, 0u);
  }
  rules_.refused = {};
  EXPECT_THAT(Must(WantedAt(6)), SizeIs(6));
}

TEST_P(BindCalls, WhatTheKernelDoesNotUnbindIsLostAndNothingElse) {
  const std::vector<BufferHandle> handles = Must(WantedAt(6));
  rules_.refuses_unbinding = true;
  rules_.refused = {AddressOf(1), AddressOf(4)};
  const absl::Status status = buffers().ReleaseAll(handles);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(rules_.bound, ElementsAre(AddressOf(1), AddressOf(4)));
  EXPECT_EQ(calls_->objects(), 2);
  EXPECT_EQ(LiveRanges(), 2u);
  EXPECT_EQ(buffers().statistics().live, 0u);
  EXPECT_EQ(buffers().statistics().lost_bytes, 2 * kSize);
  rules_.refused = {};
  EXPECT_EQ(CallsOf([&] { EXPECT_TRUE(buffers().Trim().ok()); }), 1);
  EXPECT_EQ(buffers().statistics().lost_bytes, 0u);
  EXPECT_THAT(rules_.bound, IsEmpty());
  EXPECT_EQ(calls_->objects(), 0);
}

}  // namespace
}  // namespace packsmith::gpu
