#include "runtime/submission/timeline_memory.h"

#include <memory>

#include "gtest/gtest.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/buffers.h"
#include "runtime/memory/host_device.h"
#include "runtime/submission/submitter.h"

namespace packsmith::gpu {
namespace {

class TimelineMemoryTest : public testing::Test {
 protected:
  const std::unique_ptr<HostDevice> device_ = *HostDevice::Create();
  const std::unique_ptr<AddressSpace> space_ =
      *AddressSpace::Create({{.name = "all", .begin = 1 << 20, .end = 1 << 30}});
  const std::unique_ptr<Buffers> buffers_ = Buffers::Create(*device_, *space_, {});
  const ZoneId zone_ = *space_->FindZone("all");
};

TEST_F(TimelineMemoryTest, EachTimelineHasEightBytesThatTheGpuReaches) {
  const auto values = TimelineMemory::Create(*buffers_, {.zone = zone_, .timelines = 3});
  ASSERT_TRUE(values.ok()) << values.status();
  const auto submitter = Submitter::Create(*device_, {});
  for (uint64_t i = 0; i < 3; ++i) {
    const TimelineId timeline = submitter->AddTimeline();
    const auto place = (*values)->PlaceOf(timeline);
    ASSERT_TRUE(place.ok()) << place.status();
    EXPECT_EQ(place->address % 8, 0u);
    EXPECT_EQ(*(*values)->Value(timeline), 0u);
    // What the GPU stores there the CPU reads.
    const uint64_t stored = 0x100000000 + i;
    ASSERT_TRUE(device_
                    ->Write(0, place->address,
                            absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(&stored), 8))
                    .ok());
    EXPECT_EQ(*(*values)->Value(timeline), stored);
    // And the reverse.
    ASSERT_TRUE((*values)->Store({timeline, 7 + i}).ok());
    uint64_t seen = 0;
    ASSERT_TRUE(
        device_->Read(0, place->address, absl::MakeSpan(reinterpret_cast<uint8_t*>(&seen), 8))
            .ok());
    EXPECT_EQ(seen, 7 + i);
    EXPECT_EQ(buffers_->Find(place->address)->handle, place->buffer);
  }
}

TEST_F(TimelineMemoryTest, ThereIsRoomForAsManyAsWereAskedFor) {
  const auto values = TimelineMemory::Create(*buffers_, {.zone = zone_, .timelines = 3});
  ASSERT_TRUE(values.ok()) << values.status();
  const auto beyond = static_cast<TimelineId>(3);
  EXPECT_EQ((*values)->PlaceOf(beyond).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ((*values)->Value(beyond).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ((*values)->Store({beyond, 1}).code(), absl::StatusCode::kOutOfRange);
  EXPECT_FALSE(TimelineMemory::Create(*buffers_, {.zone = zone_, .timelines = 0}).ok());
}

TEST_F(TimelineMemoryTest, ItsMemoryIsReleased) {
  { ASSERT_TRUE(TimelineMemory::Create(*buffers_, {.zone = zone_}).ok()); }
  EXPECT_EQ(buffers_->statistics().live, 0u);
}

}  // namespace
}  // namespace packsmith::gpu
