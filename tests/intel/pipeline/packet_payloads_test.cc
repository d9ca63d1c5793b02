// Payloads of packets of a generation that is known at run time only: dumps may hold anything.
#include "runtime/intel/pipeline/packet_payloads.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace packsmith::intel {
namespace {

using testing::HasSubstr;

constexpr const char* kGenerations[] = {"gfx8", "gfx9", "gfx11", "gfx12", "gfx125", "xe2", "xe3"};
constexpr const char* kState[] = {
    "3DSTATE_VS",           "3DSTATE_HS",           "3DSTATE_DS",
    "3DSTATE_GS",           "3DSTATE_PS",           "3DSTATE_PS_EXTRA",
    "3DSTATE_WM",           "3DSTATE_SBE",          "3DSTATE_TASK_CONTROL",
    "3DSTATE_TASK_SHADER",  "3DSTATE_MESH_CONTROL", "3DSTATE_MESH_SHADER",
    "3DSTATE_CONSTANT_VS",  "3DSTATE_CONSTANT_HS",  "3DSTATE_CONSTANT_DS",
    "3DSTATE_CONSTANT_GS",  "3DSTATE_CONSTANT_PS",  "INTERFACE_DESCRIPTOR_DATA",
    "3DSTATE_CONSTANT_ALL",
};
constexpr const char* kWork[] = {"3DPRIMITIVE", "3DMESH_1D", "GPGPU_WALKER", "COMPUTE_WALKER",
                                 "EXECUTE_INDIRECT_DISPATCH"};
constexpr size_t kMostDwords = 64;

TEST(PacketPayloads, AnythingHasAPayloadOrAnError) {
  for (const char* generation : kGenerations) {
    SCOPED_TRACE(generation);
    std::mt19937 random(5);
    size_t known = 0, unknown = 0;
    for (int round = 0; round < 2000; ++round) {
      std::vector<std::vector<uint32_t>> dwords;
      std::vector<SeenPacket> state;
      // Some are cut off, and some bits are rare.
      const auto make = [&] {
        std::vector<uint32_t> packet(random() % 8 == 0 ? random() % kMostDwords : kMostDwords);
        const uint32_t mask = random() % 2 == 0 ? ~0u : static_cast<uint32_t>(random());
        for (uint32_t& dword : packet) dword = static_cast<uint32_t>(random()) & mask;
        return packet;
      };
      for (size_t i = 0; i <= std::size(kState); ++i) dwords.push_back(make());
      for (size_t i = 0; i < std::size(kState); ++i) {
        if (random() % 16 != 0) {
          state.push_back({kState[i], dwords[i], static_cast<int64_t>(random() % 4) - 1});
        }
      }
      for (const char* work : kWork) {
        const auto kernels = PayloadsOf(generation, {work, dwords.back()}, state);
        ASSERT_TRUE(kernels.ok()) << kernels.status();
        for (const KernelPayload& kernel : *kernels) {
          if (!kernel.payload.ok()) {
            EXPECT_FALSE(kernel.payload.status().message().empty());
            ++unknown;
            continue;
          }
          unsigned next = 0;
          for (const PayloadPart& part : kernel.payload->parts) {
            EXPECT_GE(part.first, next);
            next = unsigned{part.first} + part.count;
          }
          EXPECT_EQ(kernel.payload->registers, next);
          EXPECT_LE(next, 256u);
          ++known;
        }
      }
    }
    EXPECT_GT(known, 100u);
    EXPECT_GT(unknown, 100u);
  }
}

TEST(PacketPayloads, TheLastConstantsCount) {
  // Bits of Gfx12: 3DSTATE_VS is on, with one vertex in each lane, and reads two slots from r2 on.
  const uint32_t vertex[9] = {0x78100007, 0x1000, 0, 0, 0, 0, 2u << 20 | 1u << 11, 1u << 2 | 1, 0};
  // Three units in buffer 0, for vertices alone; two, for vertices and pixels; two, for pixels.
  const uint32_t own[11] = {0x78150009, 3};
  const uint32_t shared[4] = {0x786d0002 | 1u << 8 | 1u << 12, 1u << 16, 2, 0};
  const uint32_t other[4] = {0x786d0002 | 1u << 12, 1u << 16, 2, 0};
  const auto text = [&](const std::vector<SeenPacket>& constants) {
    std::vector<SeenPacket> state = constants;
    state.push_back({"3DSTATE_VS", vertex});
    const auto kernels = PayloadsOf("gfx12", {"3DPRIMITIVE", {}}, state);
    EXPECT_TRUE(kernels.ok() && kernels->size() == 1) << kernels.status();
    if (!kernels.ok() || kernels->size() != 1) return std::string();
    EXPECT_EQ(kernels->front().kernel, 0x1000u);
    EXPECT_TRUE(kernels->front().payload.ok()) << kernels->front().payload.status();
    return kernels->front().payload.ok() ? kernels->front().payload->ToText() : std::string();
  };
  const SeenPacket one = {"3DSTATE_CONSTANT_VS", own}, all = {"3DSTATE_CONSTANT_ALL", shared},
                   pixels = {"3DSTATE_CONSTANT_ALL", other};
  EXPECT_THAT(text({}), HasSubstr("r2-r5    vertex element 0"));
  EXPECT_THAT(text({one}), HasSubstr("r2-r4    push constants"));
  EXPECT_THAT(text({one, all}), HasSubstr("r2-r3    push constants"));
  EXPECT_THAT(text({all, one}), HasSubstr("r2-r4    push constants"));
  EXPECT_THAT(text({one, pixels}), HasSubstr("r2-r4    push constants"));
}

TEST(PacketPayloads, WhatIsNotThereIsNamed) {
  EXPECT_EQ(PayloadsOf("gfx7", {"3DPRIMITIVE", {}}, {}).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_THAT(PayloadsOf("gfx7", {"3DPRIMITIVE", {}}, {}).status().message(),
              HasSubstr("of gfx7 are not described; those of gfx8, gfx9"));
  const std::vector<uint32_t> walker(15);
  const auto kernels = PayloadsOf("gfx9", {"GPGPU_WALKER", walker}, {});
  ASSERT_TRUE(kernels.ok());
  ASSERT_EQ(kernels->size(), 1u);
  EXPECT_THAT(kernels->front().payload.status().message(),
              HasSubstr("no INTERFACE_DESCRIPTOR_DATA 0"));
  EXPECT_TRUE(PayloadsOf("gfx9", {"MEDIA_OBJECT", walker}, {})->empty());
}

}  // namespace
}  // namespace packsmith::intel
