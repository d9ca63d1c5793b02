// What becomes of a device when one of its calls to the kernel fails.
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tests/kernel/asahi/machine.h"
#include "tests/kernel/sweep.h"

namespace packsmith::gpu {
namespace {

namespace asahi = uapi::asahi;

constexpr uint64_t kStream = 0x1100000000, kData = 0x1500000000, kMore = 0x1600000000;

#define MUST(result) ASSERT_TRUE(result.ok()) << (result).status()
#define MUST_BE_OK(status) ASSERT_TRUE(status.ok()) << status

void Scenario(Steps& step, Injector& injector) {
  Machine machine("m1");
  CountingConnection* calls = nullptr;
  auto opened = step([&] {
    auto connection = machine.Connect(&injector);
    calls = connection.get();
    return AsahiDevice::Open(std::move(connection));
  });
  // A kernel that does not know the call says so with an error of the interface.
  MUST(opened);
  AsahiDevice& device = **opened;
  const auto context = step([&] { return device.CreateContext({.recoverable = false}); });
  MUST(context);
  std::vector<Place> places;
  for (const uint64_t address : {kStream, kData, kMore}) {
    const auto memory = step([&] { return device.Create({.size = kPage, .use = kShared}); });
    MUST(memory);
    const auto mapped = step([&] { return device.Map(*memory); });
    MUST(mapped);
    places.push_back({*memory, address, *mapped});
  }
  MUST_BE_OK(step([&] {
    return device.Bind({.address = kStream, .size = kPage, .memory = places[0].memory});
  }));
  const PageBinding both[] = {{.address = kData, .size = kPage, .memory = places[1].memory},
                              {.address = kMore, .size = kPage, .memory = places[2].memory}};
  MUST_BE_OK(step([&] { return device.BindAll(both); }));
  auto times = step([&] { return device.CreateTimestamps(2); });
  MUST(times);

  PlacedJob work({places[0], places[1], places[2]});
  const auto first = step([&] { return device.Submit(work.job); });
  MUST(first);
  EXPECT_EQ(*first, 1u);
  Job job = work.job;
  job.context = *context;
  const Fence after[] = {*first};
  job.after = after;
  AsahiRender render;
  render.stream = kStream;
  render.width = render.height = 64;
  render.fragment_ends = times->At(1);
  const auto second = step([&] { return device.SubmitRender(job, render); });
  MUST(second);
  EXPECT_EQ(*second, 2u);
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
  EXPECT_EQ(machine.seen.works.size(), 2u);
  EXPECT_NE(times->Read(1), 0u);
  MUST(step([&] { return device.ReadClock(); }));
  MUST_BE_OK(step([&] { return times->Free(); }));
  for (const uint32_t one : {0u, *context}) {
    const auto state = step([&] { return device.StateOf(0, one); });
    MUST(state);
    EXPECT_EQ(*state, ContextState::kGood);
  }
  {
    const auto buffer = step([&] { return device.Export(places[1].memory); });
    MUST(buffer);
    const auto again = step([&] { return device.Import(buffer->get()); });
    MUST(again);
    MUST_BE_OK(step([&] { return device.Destroy(again->memory); }));
  }
  MUST_BE_OK(step([&] { return device.Unbind(0, kStream, kPage); }));
  MUST_BE_OK(step([&] { return device.UnbindAll(both); }));
  for (const Place& place : places) {
    MUST_BE_OK(step([&] { return device.Destroy(place.memory); }));
  }
  MUST_BE_OK(step([&] { return device.DestroyContext(*context); }));

  EXPECT_EQ(calls->live(asahi::kGemCreate), 0);
  EXPECT_EQ(calls->maps(), 0u);
  EXPECT_EQ(calls->live(asahi::kVmCreate), 1);
  EXPECT_EQ(calls->live(asahi::kQueueCreate), 1);  // that of context 0
  // Two jobs, and the fence that was imported.
  EXPECT_LE(calls->live(uapi::drm::kSyncobjCreate), 3);
}

TEST(AsahiErrors, NothingIsLostAndNothingLeaks) { Sweep(Scenario); }

}  // namespace
}  // namespace packsmith::gpu
