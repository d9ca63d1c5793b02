// Jobs with fixed addresses, fences, contexts, and what hangs do.
#include <cerrno>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/capture/drm/work.h"
#include "tests/kernel/i915/rig.h"

namespace packsmith::gpu {
namespace {

namespace api = uapi::i915;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint64_t kBatch = 0x100000, kData = 0x200000;

// A rig with a batch and data.
struct Scene : Rig {
  explicit Scene(absl::string_view name, RigOptions options = {}, MemoryOptions data_options = {})
      : Rig(name, std::move(options)), batch(Place(kBatch)), data(Place(kData, data_options)) {
    Put(batch, {});
    residents = {data.AsResident(/*written=*/true), batch.AsResident()};
  }
  Job MakeJob() const {
    return {.batch_address = kBatch, .batch_length = 8, .residents = residents};
  }
  const capture::Work& work(size_t index = 0) const { return *machine.watcher.works.at(index); }

  Placed batch, data;
  std::vector<Resident> residents;
};

class SubmissionsOfEveryDevice : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, SubmissionsOfEveryDevice,
                         ::testing::Values("i965", "ilk", "snb", "hsw", "bdw", "skl", "icl", "tgl",
                                           "dg2", "mtl"));

TEST_P(SubmissionsOfEveryDevice, AJobRunsWithItsMemoryAtItsAddresses) {
  Scene scene(GetParam());
  const auto fence = scene.device->Submit(scene.MakeJob());
  ASSERT_TRUE(fence.ok()) << fence.status();
  EXPECT_EQ(*fence, 1u);
  EXPECT_TRUE(scene.WaitFor(*fence));
  ASSERT_THAT(scene.machine.watcher.works, SizeIs(1));
  const capture::Work& work = scene.work();
  EXPECT_EQ(work.engine, "render");
  ASSERT_THAT(work.streams, SizeIs(1));
  EXPECT_EQ(work.streams[0].address, kBatch);
  EXPECT_EQ(work.streams[0].length, 8u);
  const capture::Mapping* const mapping = work.memory->Find(kData);
  ASSERT_NE(mapping, nullptr);
  EXPECT_EQ(mapping->address, kData);
  EXPECT_EQ(mapping->flags & api::kObjectPinned, uint64_t{api::kObjectPinned});
  EXPECT_EQ(mapping->flags & api::kObjectAsync, uint64_t{api::kObjectAsync});
  EXPECT_EQ(mapping->flags & api::kObjectWrite, uint64_t{api::kObjectWrite});
  EXPECT_EQ(work.memory->Find(kBatch)->flags & api::kObjectWrite, 0u);
  EXPECT_FALSE(mapping->dumpable);
  EXPECT_THAT(scene.machine.watcher.warnings, IsEmpty());
}

TEST_P(SubmissionsOfEveryDevice, EachEngineTakesJobs) {
  Scene scene(GetParam());
  size_t jobs = 0;
  for (const DeviceProperties::Engine& engine : scene.device->properties().engines) {
    Job job = scene.MakeJob();
    job.engine = engine.name;
    const auto fence = scene.device->Submit(job);
    ASSERT_TRUE(fence.ok()) << engine.name << ": " << fence.status();
    EXPECT_TRUE(scene.WaitFor(*fence));
    std::string expected = engine.name;
    if (expected == "video-enhance") expected = "video enhance";
    EXPECT_EQ(scene.work(jobs++).engine, expected);
  }
  Job job = scene.MakeJob();
  job.engine = "knitting";
  const auto fence = scene.device->Submit(job);
  EXPECT_EQ(fence.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(fence.status().message(), HasSubstr("knitting"));
}

TEST(I915SubmissionTest, TheCopyEngineHasItsOtherNameToo) {
  Scene scene("skl");
  Job job = scene.MakeJob();
  job.engine = "blitter";
  ASSERT_TRUE(scene.device->Submit(job).ok());
  EXPECT_EQ(scene.work().engine, "copy");
}

TEST(I915SubmissionTest, AKernelWhoseJobsHaveNoTimelinesHasNone) {
  EXPECT_TRUE(Rig("skl").device->timelines().ok());
  Rig rig("skl", {.params = {{api::kParamHasExecTimelineFences, 0}}});
  const auto timelines = rig.device->timelines();
  EXPECT_EQ(timelines.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(timelines.status().message(), HasSubstr("Linux 5.8"));
}

TEST(I915SubmissionTest, AGpuThatIsGoneIsAnErrorThatNamesTheContext) {
  Injector injector;
  Scene scene("skl", {.injector = &injector});
  const auto context = scene.device->CreateContext({});
  Job job = scene.MakeJob();
  job.context = *context;
  job.engine = "copy";
  ASSERT_TRUE(scene.WaitFor(*scene.device->Submit(job)));
  injector.FailAfter(0, ENODEV);
  const auto fence = scene.device->Submit(job);
  EXPECT_EQ(fence.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(fence.status().message(), HasSubstr("engine copy, context 1 of space 0"));
}

TEST(I915SubmissionTest, AddressesOfTheUpperHalfAreCanonicalForTheKernel) {
  Rig rig("tgl");
  const Placed batch = rig.Place(0xffff800000100000), data = rig.Place(0x900000000000);
  rig.Put(batch, {});
  const std::vector<Resident> residents = {batch.AsResident(), data.AsResident()};
  ASSERT_TRUE(rig.device->Submit({.batch_address = batch.address, .residents = residents}).ok());
  EXPECT_EQ(rig.machine.watcher.works.at(0)->streams[0].address, 0x800000100000u);
  EXPECT_NE(rig.machine.watcher.works.at(0)->memory->Find(0x900000000000), nullptr);
}

TEST(I915SubmissionTest, TheBatchIsLastWhereTheKernelDoesNotTakeItFirst) {
  Scene scene("skl", {.params = {{api::kParamHasExecBatchFirst, 0}}});
  std::swap(scene.residents[0], scene.residents[1]);
  ASSERT_TRUE(scene.device->Submit(scene.MakeJob()).ok());
  EXPECT_EQ(scene.work().streams[0].address, kBatch);
}

TEST(I915SubmissionTest, BatchesBeginAnywhereInTheirMemoryAtMultiplesOfEight) {
  Scene scene("skl");
  Job job = scene.MakeJob();
  job.batch_address = kBatch + 0x40;
  job.batch_length = 12;
  ASSERT_TRUE(scene.device->Submit(job).ok());
  EXPECT_EQ(scene.work().streams[0].address, kBatch + 0x40);
  EXPECT_EQ(scene.work().streams[0].length, 16u);
  job.batch_address = kBatch + 4;
  EXPECT_EQ(scene.device->Submit(job).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(I915SubmissionTest, BatchesThatTheKernelCannotNameAreRefused) {
  Rig rig("skl");
  constexpr uint64_t kSize = uint64_t{6} << 30, kHigh = uint64_t{1} << 40;
  const auto memory = rig.device->Create({.size = kSize});
  ASSERT_TRUE(memory.ok()) << memory.status();
  ASSERT_TRUE(rig.device->Bind({.address = kHigh, .size = kSize, .memory = *memory}).ok());
  const Resident resident = {.memory = *memory, .address = kHigh, .size = kSize};
  Job job = {.batch_address = kHigh, .batch_length = 64, .residents = {&resident, 1}};
  EXPECT_TRUE(rig.device->Submit(job).ok());
  job.batch_address = kHigh + (uint64_t{5} << 30);
  EXPECT_EQ(rig.device->Submit(job).status().code(), absl::StatusCode::kInvalidArgument);
  job.batch_address = kHigh;
  job.batch_length = (uint64_t{1} << 32) - 4;
  EXPECT_EQ(rig.device->Submit(job).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(I915SubmissionTest, CapturedMemoryIsInDumpsWhereTheKernelTakesIt) {
  Scene scene("skl", {}, {.use = kCaptured});
  ASSERT_TRUE(scene.device->Submit(scene.MakeJob()).ok());
  EXPECT_TRUE(scene.work().memory->Find(kData)->dumpable);
  // Newer GPUs take it only of contexts that are not recoverable.
  for (const char* const name : {"dg2", "mtl"}) {
    Scene newer(name, {}, {.use = kCaptured});
    ASSERT_TRUE(newer.device->Submit(newer.MakeJob()).ok());
    EXPECT_FALSE(newer.work(0).memory->Find(kData)->dumpable);
    const auto context = newer.device->CreateContext({.recoverable = false});
    ASSERT_TRUE(context.ok());
    Job job = newer.MakeJob();
    job.context = *context;
    const auto fence = newer.device->Submit(job);
    ASSERT_TRUE(fence.ok()) << fence.status();
    EXPECT_TRUE(newer.work(1).memory->Find(kData)->dumpable);
  }
}

TEST(I915SubmissionTest, SharedMemoryIsSynchronizedWithOthers) {
  Scene scene("skl", {}, {.use = kShared});
  ASSERT_TRUE(scene.device->Submit(scene.MakeJob()).ok());
  EXPECT_EQ(scene.work().memory->Find(kData)->flags & api::kObjectAsync, 0u);
  EXPECT_NE(scene.work().memory->Find(kBatch)->flags & api::kObjectAsync, 0u);
}

TEST(I915SubmissionTest, CoherentMemoryOfMeteorLakeHasThatPageAttribute) {
  Scene scene("mtl");
  ASSERT_TRUE(scene.device->Submit(scene.MakeJob()).ok());
  EXPECT_EQ(scene.work().memory->Find(kData)->pat_index, 3u);
}

TEST(I915SubmissionTest, EachSpaceHasItsOwnPageTables) {
  Rig rig("skl");
  const Placed first = rig.Place(kBatch), second = rig.Place(kBatch, {}, /*space=*/7);
  rig.Put(first, {});
  rig.Put(second, {});
  const Resident one = first.AsResident(), two = second.AsResident();
  ASSERT_TRUE(rig.device->Submit({.batch_address = kBatch, .residents = {&one, 1}}).ok());
  ASSERT_TRUE(
      rig.device->Submit({.space = 7, .batch_address = kBatch, .residents = {&two, 1}}).ok());
  const auto& works = rig.machine.watcher.works;
  EXPECT_NE(works.at(0)->memory->Find(kBatch)->object, works.at(1)->memory->Find(kBatch)->object);
  EXPECT_NE(works.at(0)->context, works.at(1)->context);
}

// ---- Fences. ------------------------------------------------------------------------------------

TEST(I915SubmissionTest, AFenceIsDoneWhenTheJobIs) {
  Scene scene("skl");
  scene.machine.Hold();
  const auto fence = scene.device->Submit(scene.MakeJob());
  ASSERT_TRUE(fence.ok());
  EXPECT_FALSE(*scene.device->Wait(*fence, absl::ZeroDuration()));
  EXPECT_FALSE(*scene.device->Wait(*fence, absl::Milliseconds(2)));
  scene.machine.Release();
  EXPECT_TRUE(*scene.device->Wait(*fence, absl::Seconds(20)));
}

TEST(I915SubmissionTest, AJobBeginsAfterThoseThatItNames) {
  Scene scene("skl");
  const auto context = scene.device->CreateContext({});
  ASSERT_TRUE(context.ok());
  scene.machine.Hold();
  const auto first = scene.device->Submit(scene.MakeJob());
  ASSERT_TRUE(first.ok());
  Job job = scene.MakeJob();
  job.context = *context;
  job.after = {&*first, 1};
  const auto second = scene.device->Submit(job);
  ASSERT_TRUE(second.ok());
  // It has not begun.
  EXPECT_THAT(scene.machine.watcher.works, SizeIs(1));
  scene.machine.Release();
  EXPECT_TRUE(scene.WaitFor(*second));
  EXPECT_THAT(scene.machine.watcher.done, ::testing::ElementsAre(1u, 2u));
}

TEST(I915SubmissionTest, FencesGoToOtherDevices) {
  Scene scene("skl");
  auto opened = OpenOn(scene.machine);
  ASSERT_TRUE(opened.ok());
  I915Device& other = **opened;
  const auto memory = other.Create({.size = 4096});
  ASSERT_TRUE(other.Bind({.address = kBatch, .size = 4096, .memory = *memory}).ok());
  std::memcpy(other.Map(*memory)->data(), scene.batch.bytes.data(), 4096);
  scene.machine.Hold();
  const auto fence = scene.device->Submit(scene.MakeJob());
  ASSERT_TRUE(fence.ok());
  const auto file = scene.device->ExportFence(*fence);
  ASSERT_TRUE(file.ok()) << file.status();
  const auto imported = other.ImportFence(file->get());
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_FALSE(*other.Wait(*imported, absl::ZeroDuration()));
  const Resident resident = {.memory = *memory, .address = kBatch, .size = 4096};
  const auto last = other.Submit(
      {.batch_address = kBatch, .residents = {&resident, 1}, .after = {&*imported, 1}});
  ASSERT_TRUE(last.ok()) << last.status();
  EXPECT_THAT(scene.machine.watcher.works, SizeIs(1));
  scene.machine.Release();
  EXPECT_TRUE(*other.Wait(*last, absl::Seconds(20)));
  EXPECT_THAT(scene.machine.watcher.works, SizeIs(2));
}

// ---- Contexts. ----------------------------------------------------------------------------------

TEST(I915SubmissionTest, ContextsHaveNumbersThatAreNotUsedAgain) {
  Scene scene("skl");
  const auto first = scene.device->CreateContext({});
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE(scene.device->DestroyContext(*first).ok());
  const auto second = scene.device->CreateContext({});
  ASSERT_TRUE(second.ok());
  EXPECT_NE(*first, *second);
  EXPECT_EQ(scene.device->DestroyContext(*first).code(), absl::StatusCode::kNotFound);
  Job job = scene.MakeJob();
  job.context = *first;
  EXPECT_EQ(scene.device->Submit(job).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(scene.device->StateOf(0, *first).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(I915SubmissionTest, AContextTakesJobsOfItsSpaceAlone) {
  Scene scene("skl");
  const auto context = scene.device->CreateContext({.space = 3});
  ASSERT_TRUE(context.ok());
  Job job = scene.MakeJob();
  job.context = *context;
  const auto fence = scene.device->Submit(job);
  EXPECT_EQ(fence.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(fence.status().message(), HasSubstr("of space 3"));
}

TEST(I915SubmissionTest, HighPrioritiesNeedTheRight) {
  Scene scene("skl");
  EXPECT_TRUE(scene.device->CreateContext({.priority = Priority::kLow}).ok());
  for (const Priority priority : {Priority::kHigh, Priority::kHighest}) {
    EXPECT_EQ(scene.device->CreateContext({.priority = priority}).status().code(),
              absl::StatusCode::kPermissionDenied);
  }
  Scene old("hsw");
  EXPECT_TRUE(old.device->CreateContext({}).ok());
  EXPECT_EQ(old.device->CreateContext({.priority = Priority::kLow}).status().code(),
            absl::StatusCode::kUnimplemented);
}

TEST_P(SubmissionsOfEveryDevice, AHangIsAnErrorOfItsJobAndOthersGoOn) {
  Scene scene(GetParam());
  EXPECT_EQ(*scene.device->StateOf(0, 0), ContextState::kGood);
  const auto lost = scene.device->CreateContext({.recoverable = false});
  const auto other = scene.device->CreateContext({});
  ASSERT_TRUE(lost.ok() && other.ok());
  scene.machine.kernel.set_hang_at({2});
  const auto submit = [&](uint32_t context) {
    Job job = scene.MakeJob();
    job.context = context;
    return scene.device->Submit(job);
  };
  const auto good = submit(*other), hung = submit(*lost);
  ASSERT_TRUE(good.ok() && hung.ok());
  EXPECT_TRUE(scene.WaitFor(*good));
  const auto result = scene.device->Wait(*hung, absl::Seconds(20));
  EXPECT_EQ(result.status().code(), absl::StatusCode::kAborted);
  EXPECT_THAT(result.status().message(),
              AllOf(HasSubstr("job 2 (render, context 1) failed"),
                    HasSubstr("the kernel reports it in /sys/mock/drm/card*/error")));
  EXPECT_EQ(*scene.device->StateOf(0, *lost), ContextState::kLost);
  EXPECT_EQ(*scene.device->StateOf(0, *other), ContextState::kGood);
  // It takes no more jobs; others do.
  const auto refused = submit(*lost);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kAborted);
  EXPECT_THAT(refused.status().message(),
              AllOf(HasSubstr("context 1 of space 0 is lost"), HasSubstr("/error")));
  const auto after = submit(*other);
  ASSERT_TRUE(after.ok());
  EXPECT_TRUE(scene.WaitFor(*after));
  EXPECT_TRUE(scene.device->DestroyContext(*lost).ok());
}

TEST_P(SubmissionsOfEveryDevice, ARecoverableContextGoesOnUntilItHangsTooOften) {
  Scene scene(GetParam());
  scene.machine.kernel.set_hang_at({1, 3, 4, 5, 6});
  std::vector<Fence> fences;
  Fence last = 0;
  for (int job = 0; job < 2; ++job) {
    const auto fence = scene.device->Submit(scene.MakeJob());
    ASSERT_TRUE(fence.ok()) << fence.status();
    last = *fence;
    EXPECT_EQ(scene.device->Wait(last, absl::Seconds(20)).ok(), job == 1);
    EXPECT_EQ(*scene.device->StateOf(0, 0), ContextState::kHung);
  }
  absl::Status refused;
  for (int job = 0; job < 6 && refused.ok(); ++job) {
    const auto fence = scene.device->Submit(scene.MakeJob());
    refused = fence.status();
    if (fence.ok()) (void)scene.device->Wait(*fence, absl::Seconds(20));
  }
  EXPECT_EQ(refused.code(), absl::StatusCode::kAborted);
  EXPECT_EQ(*scene.device->StateOf(0, 0), ContextState::kLost);
}

}  // namespace
}  // namespace packsmith::gpu
