#include "runtime/intel/memory/border_colors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "runtime/memory/host_device.h"

namespace packsmith::intel {
namespace {

constexpr gpu::ZoneId kZone{0};

class BorderColorsTest : public testing::Test {
 protected:
  BorderColorsTest()
      : device_(*gpu::HostDevice::Create()),
        addresses_(*gpu::AddressSpace::Create(
            {{"border colors", 8 * gpu::kGiB, 8 * gpu::kGiB + 256 * gpu::kKiB}})),
        buffers_(gpu::Buffers::Create(*device_, *addresses_, {})) {}

  std::unique_ptr<BorderColors> Make(uint32_t entries = 4096) {
    auto colors = BorderColors::Create(
        *buffers_, {.zone = kZone, .address = 8 * gpu::kGiB, .entries = entries});
    EXPECT_TRUE(colors.ok()) << colors.status();
    return *std::move(colors);
  }
  static BorderColors::Entry Color(uint32_t n) {
    BorderColors::Entry entry = {};
    entry[0] = n;
    entry[15] = ~n;
    return entry;
  }
  BorderColors::Entry At(const BorderColors& colors, uint64_t offset) {
    BorderColors::Entry entry;
    uint8_t bytes[64];
    EXPECT_TRUE(device_->Read(0, colors.buffer().address + offset, absl::MakeSpan(bytes)).ok());
    std::memcpy(entry.data(), bytes, 64);
    return entry;
  }

  std::unique_ptr<gpu::HostDevice> device_;
  std::unique_ptr<gpu::AddressSpace> addresses_;
  std::unique_ptr<gpu::Buffers> buffers_;
};

TEST_F(BorderColorsTest, LieAtTheAddressThatWasAskedFor) {
  auto colors = Make();
  EXPECT_EQ(colors->buffer().address, 8 * gpu::kGiB);
  const BorderColor color = *colors->Acquire(Color(5));
  EXPECT_EQ(color.offset, 64u) << "no offset is 0";
  EXPECT_EQ(color.buffer, colors->buffer().handle);
  EXPECT_EQ(At(*colors, color.offset), Color(5));
}

TEST_F(BorderColorsTest, EqualColorsShareAPlace) {
  auto colors = Make();
  const uint32_t a = colors->Acquire(Color(1))->offset;
  EXPECT_EQ(colors->Acquire(Color(1))->offset, a);
  EXPECT_NE(colors->Acquire(Color(2))->offset, a);
  EXPECT_EQ(colors->in_use(), 2u);
  ASSERT_TRUE(colors->Release(a).ok());
  EXPECT_EQ(colors->Acquire(Color(1))->offset, a) << "it has one user left";
  ASSERT_TRUE(colors->Release(a).ok());
  ASSERT_TRUE(colors->Release(a).ok());
  EXPECT_EQ(colors->in_use(), 1u);
}

TEST_F(BorderColorsTest, WhenAllAreInUseItIsAnErrorUntilOneIsReleased) {
  auto colors = Make();
  for (uint32_t i = 0; i < 4095; ++i) ASSERT_TRUE(colors->Acquire(Color(i)).ok());
  const auto full = colors->Acquire(Color(9999));
  EXPECT_EQ(full.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(colors->Acquire(Color(7)).ok()) << "one that is there can still be had";
  const uint32_t gone = colors->Acquire(Color(3))->offset;
  ASSERT_TRUE(colors->Release(gone).ok());
  ASSERT_TRUE(colors->Release(gone).ok());
  EXPECT_EQ(colors->Acquire(Color(9999))->offset, gone);
  EXPECT_EQ(At(*colors, gone), Color(9999));
}

TEST_F(BorderColorsTest, ReleasesOfWhatNobodyHasAreErrors) {
  auto colors = Make(16);
  const uint32_t a = colors->Acquire(Color(1))->offset;
  for (const uint32_t offset : {0u, a + 1, a + 64, 16u * 64, ~63u}) {
    EXPECT_EQ(colors->Release(offset).code(), absl::StatusCode::kNotFound) << offset;
  }
  ASSERT_TRUE(colors->Release(a).ok());
  EXPECT_EQ(colors->Release(a).code(), absl::StatusCode::kNotFound);
}

TEST_F(BorderColorsTest, TheGpuCannotWriteThem) {
  auto colors = Make();
  const uint8_t byte = 1;
  EXPECT_EQ(device_->Write(0, colors->buffer().address, {&byte, 1}).code(),
            absl::StatusCode::kPermissionDenied);
}

TEST_F(BorderColorsTest, NeedRoom) {
  EXPECT_FALSE(BorderColors::Create(*buffers_, {.zone = kZone, .entries = 1}).ok());
  EXPECT_FALSE(BorderColors::Create(*buffers_, {.zone = kZone, .entries = 5000}).ok());
  Make();
  EXPECT_EQ(buffers_->statistics().live, 0u) << "and give it back";
}

TEST_F(BorderColorsTest, RandomUsersFindTheirColors) {
  auto colors = Make(32);
  std::mt19937 random(1);
  std::multimap<uint32_t, uint32_t> held;
  for (int step = 0; step < 20000; ++step) {
    if (!held.empty() && random() % 2 == 0) {
      auto it = held.begin();
      std::advance(it, random() % held.size());
      ASSERT_EQ(At(*colors, it->first), Color(it->second));
      ASSERT_TRUE(colors->Release(it->first).ok());
      held.erase(it);
    } else {
      const uint32_t n = random() % 60;
      std::set<uint32_t> distinct;
      for (const auto& [offset, color] : held) distinct.insert(color);
      const auto color = colors->Acquire(Color(n));
      ASSERT_EQ(color.ok(), distinct.size() < 31 || distinct.count(n) == 1);
      if (color.ok()) held.emplace(color->offset, n);
    }
  }
}

TEST_F(BorderColorsTest, ThreadsMayShareThem) {
  auto colors = Make(64);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&colors, t] {
      std::mt19937 random(t);
      for (int i = 0; i < 2000; ++i) {
        const auto color = colors->Acquire(Color(random() % 8));
        ASSERT_TRUE(color.ok());
        EXPECT_TRUE(colors->Release(color->offset).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(colors->in_use(), 0u);
}

}  // namespace
}  // namespace packsmith::intel
