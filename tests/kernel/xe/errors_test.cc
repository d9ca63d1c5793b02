// What becomes of a device when one of its calls to the kernel fails.
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tests/kernel/sweep.h"
#include "tests/kernel/xe/machine.h"

namespace packsmith::gpu {
namespace {

namespace xe = uapi::xe;

constexpr uint64_t kBatch = 0x100000, kData = 0x200000, kMore = 0x300000;

#define MUST(result) ASSERT_TRUE(result.ok()) << (result).status()
#define MUST_BE_OK(status) ASSERT_TRUE(status.ok()) << status

void Scenario(Steps& step, Injector& injector) {
  Machine machine("bmg");
  machine.Execute();
  CountingConnection* calls = nullptr;
  auto opened = step([&] {
    auto connection = machine.Connect(&injector);
    calls = connection.get();
    return XeDevice::Open(std::move(connection));
  });
  MUST(opened);
  XeDevice& device = **opened;
  const auto context = step([&] { return device.CreateContext({.recoverable = false}); });
  MUST(context);
  std::vector<Place> places;
  for (const auto& [address, heap] :
       {std::pair(kBatch, Heap::kSystem), std::pair(kData, Heap::kLocalVisible),
        std::pair(kMore, Heap::kSystemUncached)}) {
    Place place;
    place.address = address;
    const auto memory = step(
        [&, heap = heap] { return device.Create({.size = 4096, .heap = heap, .use = kShared}); });
    MUST(memory);
    place.memory = *memory;
    const auto mapped = step([&] { return device.Map(*memory); });
    MUST(mapped);
    place.bytes = *mapped;
    places.push_back(place);
  }
  const Place &batch = places[0], &data = places[1], &more = places[2];
  MUST_BE_OK(
      step([&] { return device.Bind({.address = kBatch, .size = 4096, .memory = batch.memory}); }));
  const PageBinding both[] = {{.address = kData, .size = 4096, .memory = data.memory},
                              {.address = kMore, .size = 4096, .memory = more.memory}};
  MUST_BE_OK(step([&] { return device.BindAll(both); }));
  machine.Write(batch, {{kData, 11}, {kMore + 4, 12}});

  const PlacedJob work(batch, {data, more});
  const auto first = step([&] { return device.Submit(work.job); });
  MUST(first);
  EXPECT_EQ(*first, 1u);
  Job job = work.job;
  job.context = *context;
  job.engine = "copy";
  const Fence after[] = {*first};
  job.after = after;
  const auto second =
      step([&] { return device.SubmitAndStore(job, {.address = kMore + 64, .value = 13}); });
  MUST(second);
  EXPECT_EQ(*second, 2u);
  const auto* const stored = reinterpret_cast<const uint64_t*>(more.bytes.data() + 64);
  const auto value = step([&] {
    return device.WaitForValue(stored, 13, absl::Seconds(60),
                               XeDevice::QueueName{.context = *context, .engine = "copy"});
  });
  MUST(value);
  EXPECT_TRUE(*value);
  {
    const auto file = step([&] { return device.ExportFence(*second); });
    MUST(file);
    const auto imported = step([&] { return device.ImportFence(file->get()); });
    MUST(imported);
    const auto done = step([&] { return device.Wait(*imported, absl::Seconds(60)); });
    MUST(done);
    EXPECT_TRUE(*done);
  }
  for (const Fence fence : {*first, *second}) {
    const auto done = step([&] { return device.Wait(fence, absl::Seconds(60)); });
    MUST(done);
    EXPECT_TRUE(*done);
  }
  EXPECT_EQ(data.word(0), 11u);
  EXPECT_EQ(more.word(1), 12u);
  for (const uint32_t one : {0u, *context}) {
    const auto state = step([&] { return device.StateOf(0, one); });
    MUST(state);
    EXPECT_EQ(*state, ContextState::kGood);
  }
  MUST(step([&] { return device.ReadClocks("render"); }));
  {
    const auto buffer = step([&] { return device.Export(data.memory); });
    MUST(buffer);
    const auto again = step([&] { return device.Import(buffer->get()); });
    MUST(again);
    EXPECT_NE(again->memory, data.memory);
    MUST_BE_OK(step([&] { return device.Destroy(again->memory); }));
  }
  MUST_BE_OK(step([&] { return device.Unbind(0, batch.address, 4096); }));
  MUST_BE_OK(step([&] { return device.UnbindAll(both); }));
  for (const Place& place : places) {
    MUST_BE_OK(step([&] { return device.Destroy(place.memory); }));
  }
  MUST_BE_OK(step([&] { return device.DestroyContext(*context); }));

  EXPECT_EQ(calls->live(xe::kGemCreate), 0);
  EXPECT_EQ(calls->maps(), 0u);
  EXPECT_EQ(calls->live(xe::kVmCreate), 1);
  EXPECT_EQ(calls->live(xe::kExecQueueCreate), 1);  // that of context 0
  // The space's timeline, two jobs, and the fence that was imported.
  EXPECT_LE(calls->live(uapi::drm::kSyncobjCreate), 4);
}

TEST(XeErrors, NothingIsLostAndNothingLeaks) { Sweep(Scenario); }

}  // namespace
}  // namespace packsmith::gpu
