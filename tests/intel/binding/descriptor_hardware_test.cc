#include "runtime/intel/binding/descriptor_hardware.h"

#include <gtest/gtest.h>

#include <random>

#include "runtime/base/addresses.h"
#include "tests/intel/batch/generation_list.h"

namespace packsmith::intel {
namespace {

template <class Gen>
class DescriptorHardwareTest : public testing::Test {};

using Generations = testing::Types<PACKSMITH_GENERATIONS()>;
TYPED_TEST_SUITE(DescriptorHardwareTest, Generations);

DescriptorSetup SetupOf(const DescriptorHardware& hardware) {
  auto setup = MakeDescriptorSetup(hardware, {.model = DescriptorModel::kDirect, .mocs = 6});
  EXPECT_TRUE(setup.ok()) << setup.status();
  return *setup;
}

// Merged states equal those that are packed as a whole.
TYPED_TEST(DescriptorHardwareTest, BuffersAreThoseOfSurfaceStates) {
  const DescriptorSetup setup = SetupOf(DescriptorHardwareOf<TypeParam>());
  std::mt19937_64 random(9);
  for (int i = 0; i < 5000; ++i) {
    const bool storage = i % 2 == 0;
    const bool texels = !storage && TypeParam::kVersion < 120;
    const unsigned bits = texels ? 31 : i % 100 == 0 ? 32 : 30;
    uint64_t size = 1 + (random() >> random() % 40) % (uint64_t{1} << bits);
    if (i % 5 == 0) size = (uint64_t{1} << bits) - (i % 4 == 0 ? 0 : random() % 64);
    size = (size + 15) & ~uint64_t{15};
    if (!texels && size > setup.hardware.most_bytes) size = setup.hardware.most_bytes;
    const uint64_t address = Canonical((random() >> random() % 20) & 0xfffffffffff0, 48);
    SurfaceDwords merged, whole;
    const absl::Status status =
        setup.WriteBuffer(storage ? DescriptorType::kStorageBuffer : DescriptorType::kUniformBuffer,
                          address, size, merged);
    ASSERT_TRUE(status.ok()) << status;
    ASSERT_TRUE(
        WriteSurface<TypeParam>(
            BufferSurface{.memory = address,
                          .writable = storage,
                          .size = size,
                          .stride = texels ? 16u : 1u,
                          .format = texels ? SurfaceFormat::R32G32B32A32_FLOAT : SurfaceFormat::RAW,
                          .mocs = 6},
            whole.data())
            .ok());
    ASSERT_EQ(merged, whole) << i << ": 0x" << std::hex << address << " 0x" << size;
  }
}

TYPED_TEST(DescriptorHardwareTest, WhatHardwareDoesNotKnowIsRefused) {
  const DescriptorSetup setup = SetupOf(DescriptorHardwareOf<TypeParam>());
  SurfaceDwords state = {1, 2, 3};
  const SurfaceDwords before = state;
  const auto refused = [&](DescriptorType type, uint64_t address, uint64_t size) {
    EXPECT_EQ(setup.WriteBuffer(type, address, size, state).code(),
              absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(state, before);
  };
  constexpr auto kStorage = DescriptorType::kStorageBuffer;
  refused(kStorage, 0x1000, 0);
  refused(kStorage, 0x1000, setup.hardware.most_bytes + 1);
  refused(DescriptorType::kUniformBuffer, 0x1000, uint64_t{1} << 33);
  refused(kStorage, uint64_t{1} << 48, 64);
  refused(kStorage, 0x8000800000000000, 64);
  EXPECT_TRUE(setup.WriteBuffer(kStorage, 0x1000, setup.hardware.most_bytes, state).ok());
}

// Page tables of five levels: addresses of 57 bits reach the state whole.
TEST(DescriptorAddressesTest, AreNotCutTo48BitsWhereTheAddressSpaceHas57) {
  const auto setup =
      MakeDescriptorSetup(DescriptorHardwareOf<Xe2>(),
                          {.model = DescriptorModel::kDirect, .mocs = 6, .address_bits = 57});
  ASSERT_TRUE(setup.ok()) << setup.status();
  unsigned place = 0;  // of the address in the state
  SurfaceState<Xe2> buffer;
  buffer.surface_base_address = {0x1000, 7};
  buffer.for_each_address([&](const packsmith::address& at, unsigned dword, auto, auto, auto) {
    if (at.buffer == 7) place = dword;
  });
  for (const uint64_t address : {uint64_t{1} << 47, uint64_t{1} << 50, uint64_t{1} << 56,
                                 Canonical(uint64_t{1} << 56, 57)}) {
    SurfaceDwords state;
    ASSERT_TRUE(setup->WriteBuffer(DescriptorType::kStorageBuffer, address, 64, state).ok());
    EXPECT_EQ(state[place] | uint64_t{state[place + 1]} << 32, Canonical(Plain(address, 57), 57));
  }
  SurfaceDwords state;
  EXPECT_EQ(
      setup->WriteBuffer(DescriptorType::kStorageBuffer, uint64_t{1} << 57, 64, state).message(),
      "0x200000000000000 is not an address of 57 bits");
  EXPECT_FALSE(
      MakeDescriptorSetup(DescriptorHardwareOf<Xe2>(), {.mocs = 6, .address_bits = 64}).ok());
}

TEST(DescriptorHandlesTest, HandlesHaveTheBitsThatAreKnown) {
  EXPECT_EQ(DescriptorHardwareOf<Gfx9>().surface_index_bits, 20u);
  EXPECT_EQ(DescriptorHardwareOf<Gfx12>().surface_index_bits, 20u);
  EXPECT_EQ(DescriptorHardwareOf<Gfx125>().surface_index_bits, 26u);
  EXPECT_EQ(DescriptorHardwareOf<Xe2>().surface_index_bits, 26u);
  const DescriptorSetup setup = SetupOf(DescriptorHardwareOf<Gfx9>());
  EXPECT_EQ(*setup.SurfaceHandle(5 * 64), 5u << 12);
  EXPECT_EQ(*setup.SurfaceHandle(0xfffff * 64), 0xfffffu << 12);
  EXPECT_FALSE(setup.SurfaceHandle(0x100000 * 64).ok());
  EXPECT_FALSE(setup.SurfaceHandle(32).ok());
  const DescriptorSetup wide = SetupOf(DescriptorHardwareOf<Gfx125>());
  EXPECT_EQ(*wide.SurfaceHandle(0x3ffffffull * 64), 0x3ffffffu << 6);
  EXPECT_FALSE(wide.SurfaceHandle(uint64_t{1} << 32).ok());
}

}  // namespace
}  // namespace packsmith::intel
