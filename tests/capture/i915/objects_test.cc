// Objects: how they are made, mapped, shared and waited for.
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/capture/i915/client.h"

namespace packsmith::capture {
namespace {

namespace api = uapi::i915;
namespace drm = uapi::drm;
using ::testing::Each;
using ::testing::ElementsAre;

TEST(ObjectsTest, SizesAreWholePages) {
  Machine machine("skl");
  Client client(machine);
  api::gem_create create = {5000, 0, 0};
  ASSERT_EQ(client.Call(api::kGemCreate, create), 0);
  EXPECT_EQ(create.size, 8192u);
  EXPECT_EQ(create.handle, 1u);
}

TEST(ObjectsTest, AllWaysToMapShowTheSameMemory) {
  Machine machine("skl");
  Client client(machine);
  const uint32_t handle = client.Create(4096);
  client.Map(handle, api::kMmapOffsetWb)->bytes()[100] = 7;
  for (const uint64_t mode : {api::kMmapOffsetWc, api::kMmapOffsetUc, api::kMmapOffsetGtt}) {
    EXPECT_EQ(client.Map(handle, mode)->bytes()[100], 7);
  }
  // The short structure is MMAP_GTT.
  api::gem_mmap_gtt gtt = {handle, 0, 0};
  ASSERT_EQ(client.Call(api::kGemMmapGtt, gtt), 0);
  File::Mapped mapped;
  EXPECT_EQ(client.file->Mmap(client.caller, gtt.offset, 4096, mapped), 0);
}

TEST(ObjectsTest, TheOldCallMapsIntoTheProcess) {
  Machine machine("skl");
  Client client(machine);
  const uint32_t handle = client.Create(8192);
  client.Map(handle)->bytes()[4096] = 9;
  api::gem_mmap args = {handle, 0, 4096, 4096, 0, api::kMmapWc};
  ASSERT_EQ(client.Call(api::kGemMmap, args), 0);
  auto* const at = reinterpret_cast<uint8_t*>(args.addr_ptr);
  EXPECT_EQ(at[0], 9);
  at[1] = 8;
  EXPECT_EQ(client.Map(handle)->bytes()[4097], 8);
  munmap(at, 4096);
}

TEST(ObjectsTest, PwriteAndPreadCopy) {
  Machine machine("hsw");
  Client client(machine);
  const uint32_t handle = client.Create(8192);
  const uint64_t in = 0x1122334455667788;
  uint64_t out = 0;
  api::gem_pwrite write = {handle, 0, 4092, 8, AddressOf(in)};
  ASSERT_EQ(client.Call(api::kGemPwrite, write), 0);
  EXPECT_EQ(client.ReadWord(handle, 4092), 0x55667788u);
  api::gem_pread read = {handle, 0, 4092, 8, AddressOf(out)};
  ASSERT_EQ(client.Call(api::kGemPread, read), 0);
  EXPECT_EQ(out, in);
}

TEST(ObjectsTest, MemoryOfTheProcessIsUsedInPlace) {
  Machine machine("hsw");
  Client client(machine);
  void* const at = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  api::gem_userptr args = {reinterpret_cast<uint64_t>(at), 8192, api::kUserptrProbe, 0};
  ASSERT_EQ(client.Call(api::kGemUserptr, args), 0);
  std::vector<api::gem_exec_object2> objects = {Client::Object(args.handle),
                                                Client::Object(client.Create(4096))};
  ASSERT_EQ(client.Submit(objects), 0);
  const Mapping* const mapping = machine.watcher.works.at(0)->memory->Find(objects[0].offset);
  ASSERT_NE(mapping, nullptr);
  const uint8_t byte = 0x5a;
  EXPECT_TRUE(mapping->object->Write(4097, {&byte, 1}));
  EXPECT_EQ(static_cast<uint8_t*>(at)[4097], 0x5a);
  // What belongs to one process is not mapped nor given away.
  EXPECT_EQ(client.Map(args.handle), nullptr);
  drm::prime_handle prime = {args.handle, 0, 0};
  EXPECT_EQ(client.Call(drm::kPrimeHandleToFd, prime), -EINVAL);
  munmap(at, 8192);
}

TEST(ObjectsTest, AnImportedObjectIsKnownToTheDriver) {
  Machine machine("tgl");
  Client client(machine), other(machine);
  const uint32_t handle = client.Create(4096);
  drm::prime_handle prime = {handle, 0, 0};
  ASSERT_EQ(client.Call(drm::kPrimeHandleToFd, prime), 0);
  ASSERT_EQ(other.Call(drm::kPrimeFdToHandle, prime), 0);
  close(prime.fd);
  EXPECT_EQ(other.SubmitOne(prime.handle), 0);
  client.Map(handle)->bytes()[0] = 3;
  EXPECT_EQ(other.Map(prime.handle)->bytes()[0], 3);
}

TEST(ObjectsTest, LocalMemoryComesInItsOwnPages) {
  Machine machine("dg2");
  Client client(machine);
  api::gem_memory_class_instance regions[] = {{api::kMemoryDevice, 0}, {api::kMemorySystem, 0}};
  api::gem_create_ext_memory_regions extension = {};
  extension.num_regions = 2;
  extension.regions = AddressOf(regions);
  api::gem_create_ext create = {4096, 0, api::kCreateNeedsCpuAccess, AddressOf(extension)};
  ASSERT_EQ(client.Call(api::kGemCreateExt, create), 0);
  EXPECT_EQ(create.size, machine.info.vram_min_page);
  EXPECT_NE(client.Map(create.handle), nullptr);
  std::vector<api::gem_exec_object2> objects = {Client::Object(create.handle)};
  ASSERT_EQ(client.Submit(objects), 0);
  EXPECT_EQ(objects[0].offset % machine.info.vram_min_page, 0u);
}

TEST(ObjectsTest, PageAttributesReachTheSubmission) {
  Machine machine("mtl");
  Client client(machine);
  api::gem_create_ext_set_pat extension = {};
  extension.base.name = api::kCreateSetPat;
  extension.pat_index = 3;
  api::gem_create_ext create = {4096, 0, 0, AddressOf(extension)};
  ASSERT_EQ(client.Call(api::kGemCreateExt, create), 0);
  ASSERT_EQ(client.SubmitOne(create.handle), 0);
  EXPECT_EQ(machine.watcher.works.at(0)->memory->mappings().begin()->second.pat_index, 3u);
}

TEST(ObjectsTest, TilingIsKeptAndSaysHowTheDeviceSwizzles) {
  Machine machine("ilk");
  Client client(machine);
  const uint32_t handle = client.Create(65536);
  api::gem_set_tiling set = {handle, api::kTilingX, 1024, 99};
  ASSERT_EQ(client.Call(api::kGemSetTiling, set), 0);
  EXPECT_EQ(set.swizzle_mode, static_cast<uint32_t>(machine.info.swizzle_x));
  api::gem_get_tiling get = {handle, 0, 0, 0};
  ASSERT_EQ(client.Call(api::kGemGetTiling, get), 0);
  EXPECT_EQ(get.tiling_mode, api::kTilingX);
  EXPECT_EQ(get.swizzle_mode, static_cast<uint32_t>(machine.info.swizzle_x));
  set = {handle, api::kTilingNone, 1024, 99};
  ASSERT_EQ(client.Call(api::kGemSetTiling, set), 0);
  EXPECT_EQ(set.stride, 0u);
  EXPECT_EQ(set.swizzle_mode, 0u);
}

TEST(ObjectsTest, CachingIsThatOfThePlatformUntilItIsSet) {
  for (const auto& [name, caching] : {std::pair("skl", 1u), std::pair("byt", 0u)}) {
    SCOPED_TRACE(name);
    Machine machine(name);
    Client client(machine);
    api::gem_caching args = {client.Create(4096), 99};
    ASSERT_EQ(client.Call(api::kGemGetCaching, args), 0);
    EXPECT_EQ(args.caching, caching);
    args.caching = 1 - caching;
    ASSERT_EQ(client.Call(api::kGemSetCaching, args), 0);
    args.caching = 99;
    ASSERT_EQ(client.Call(api::kGemGetCaching, args), 0);
    EXPECT_EQ(args.caching, 1 - caching);
  }
}

TEST(ObjectsTest, AccessWaitsForTheWorkThatComesBefore) {
  Machine machine("skl");
  machine.kernel.set_patience(20'000'000);
  Client client(machine);
  const uint32_t data = client.Create(4096), batch = client.Create(4096);
  const auto submit = [&] {
    machine.Hold();
    std::vector<api::gem_exec_object2> objects = {Client::Object(data), Client::Object(batch)};
    objects[0].flags = api::kObjectWrite;
    // A context each: hangs of one would ban it.
    ASSERT_EQ(client.Submit(objects, 0, client.CreateContext()), 0);
  };
  uint32_t word = 0;
  submit();
  api::gem_set_domain domain = {data, api::kDomainCpu, 0};
  EXPECT_EQ(client.Call(api::kGemSetDomain, domain), 0);
  EXPECT_EQ(machine.watcher.hung.size(), 1u);
  submit();
  api::gem_pread read = {data, 0, 0, 4, AddressOf(word)};
  EXPECT_EQ(client.Call(api::kGemPread, read), 0);
  EXPECT_EQ(machine.watcher.hung.size(), 2u);
  submit();
  // The batch is only read: it may be read meanwhile, but not written.
  domain = {batch, api::kDomainCpu, 0};
  EXPECT_EQ(client.Call(api::kGemSetDomain, domain), 0);
  EXPECT_EQ(machine.watcher.hung.size(), 2u);
  domain = {batch, api::kDomainCpu, api::kDomainCpu};
  EXPECT_EQ(client.Call(api::kGemSetDomain, domain), 0);
  EXPECT_EQ(machine.watcher.hung.size(), 3u);
}

TEST(ObjectsTest, AdviceIsTakenAndAnObjectThatMayGoIsAWarningWhenItIsUsed) {
  Machine machine("skl");
  Client client(machine);
  const uint32_t handle = client.Create(4096);
  api::gem_madvise args = {handle, api::kMadvDontneed, 0};
  ASSERT_EQ(client.Call(api::kGemMadvise, args), 0);
  EXPECT_EQ(args.retained, 1u);
  ASSERT_EQ(client.SubmitOne(handle), 0);
  EXPECT_THAT(machine.watcher.warnings, ElementsAre(testing::HasSubstr("not needed")));
}

// Where a byte of a row is in a tiled object.
uint64_t TiledAddress(const DeviceInfo& info, uint32_t mode, uint64_t stride, uint64_t x,
                      uint64_t y) {
  if (mode == api::kTilingX) {
    const uint64_t tile = y / 8 * (stride / 512) + x / 512;
    const uint64_t address = tile * 4096 + y % 8 * 512 + x % 512;
    const bool swizzle = info.swizzle_x == Swizzle::k9_10;
    return swizzle ? address ^ ((address >> 9 ^ address >> 10) & 1) << 6 : address;
  }
  const uint64_t tile = y / 32 * (stride / 128) + x / 128;
  const uint64_t address = tile * 4096 + x % 128 / 16 * 512 + y % 32 * 16 + x % 16;
  return info.swizzle_y == Swizzle::k9 ? address ^ (address >> 9 & 1) << 6 : address;
}

TEST(ObjectsTest, TheApertureShowsTiledObjectsInRows) {
  for (const char* const name : {"gm45", "ilk", "ivb", "skl"}) {
    for (const uint32_t mode : {api::kTilingX, api::kTilingY}) {
      SCOPED_TRACE(testing::Message() << name << " " << mode);
      Machine machine(name);
      Client client(machine);
      constexpr uint64_t kStride = 1024, kSize = 3 * 65536 + 4096;
      const uint32_t handle = client.Create(kSize);
      api::gem_set_tiling set = {handle, mode, kStride, 0};
      ASSERT_EQ(client.Call(api::kGemSetTiling, set), 0);
      const auto tiled = client.Map(handle, api::kMmapOffsetWb);
      const auto rows = client.Map(handle, api::kMmapOffsetGtt);
      ASSERT_NE(tiled, rows);
      // From the view to the object.
      for (uint64_t y = 0; y < 64; ++y) {
        for (uint64_t x = 0; x < kStride; ++x) {
          rows->bytes()[y * kStride + x] = static_cast<uint8_t>(x * 3 + y * 7 + 1);
        }
      }
      api::gem_set_domain domain = {handle, api::kDomainCpu, api::kDomainCpu};
      ASSERT_EQ(client.Call(api::kGemSetDomain, domain), 0);
      for (uint64_t y = 0; y < 64; ++y) {
        for (uint64_t x = 0; x < kStride; ++x) {
          const uint64_t address = TiledAddress(machine.info, mode, kStride, x, y);
          ASSERT_EQ(tiled->bytes()[address], static_cast<uint8_t>(x * 3 + y * 7 + 1))
              << x << ", " << y;
        }
      }
      // And back, without what the other side holds being lost.
      tiled->bytes()[TiledAddress(machine.info, mode, kStride, 300, 20)] = 0xee;
      rows->bytes()[20 * kStride + 301] = 0xdd;
      ASSERT_EQ(client.SubmitOne(handle), 0);
      EXPECT_EQ(rows->bytes()[20 * kStride + 300], 0xee);
      EXPECT_EQ(tiled->bytes()[TiledAddress(machine.info, mode, kStride, 301, 20)], 0xdd);
    }
  }
}

TEST(ObjectsTest, AViewFollowsTheTilingThatIsSet) {
  Machine machine("ivb");
  Client client(machine);
  const uint32_t handle = client.Create(8192);
  api::gem_set_tiling set = {handle, api::kTilingX, 1024, 0};
  ASSERT_EQ(client.Call(api::kGemSetTiling, set), 0);
  const auto rows = client.Map(handle, api::kMmapOffsetGtt);
  rows->bytes()[1024] = 5;  // the second row
  set = {handle, api::kTilingNone, 0, 0};
  ASSERT_EQ(client.Call(api::kGemSetTiling, set), 0);
  EXPECT_EQ(rows->bytes()[1024], 0);
  EXPECT_EQ(rows->bytes()[512], 5);
  EXPECT_EQ(client.Map(handle)->bytes()[512], 5);
}

TEST(ObjectsTest, AClosedObjectLosesItsAddress) {
  Machine machine("skl");
  Client client(machine);
  std::vector<api::gem_exec_object2> objects = {Client::Object(client.Create(4096))};
  ASSERT_EQ(client.Submit(objects), 0);
  const uint64_t address = objects[0].offset;
  ASSERT_EQ(client.Close(objects[0].handle), 0);
  objects = {Client::Object(client.Create(4096))};
  ASSERT_EQ(client.Submit(objects), 0);
  EXPECT_EQ(objects[0].offset, address);
}

}  // namespace
}  // namespace packsmith::capture
