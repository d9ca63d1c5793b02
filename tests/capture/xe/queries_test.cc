// What devices with the xe interface say of themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "tests/capture/xe/client.h"

namespace packsmith::capture {
namespace {

namespace xe = uapi::xe;
using testing::ElementsAre;

struct Reply {
  Result result = 0;
  std::vector<uint8_t> bytes;
  template <typename T>
  T At(size_t offset) const {
    T value = {};
    EXPECT_LE(offset + sizeof(T), bytes.size());
    if (offset + sizeof(T) <= bytes.size()) std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return value;
  }
};

// Both steps.
Reply Ask(Client& client, uint32_t query) {
  xe::device_query args = {};
  args.query = query;
  Reply reply;
  reply.result = client.Call(xe::kDeviceQuery, args);
  if (reply.result != 0 || args.size == 0) return reply;
  reply.bytes.resize(args.size);
  args.data = reinterpret_cast<uint64_t>(reply.bytes.data());
  reply.result = client.Call(xe::kDeviceQuery, args);
  return reply;
}

Reply Ask(const char* device, uint32_t query) {
  Machine machine(device);
  Client client(machine);
  return Ask(client, query);
}

std::vector<uint64_t> ConfigOf(const char* device) {
  const Reply reply = Ask(device, xe::kQueryConfig);
  std::vector<uint64_t> values;
  for (uint32_t i = 0; i < reply.At<xe::query_count>(0).count; ++i) {
    values.push_back(reply.At<uint64_t>(8 + 8 * i));
  }
  return values;
}

TEST(XeQueries, ReportTheDriversName) {
  Machine machine;
  Client client(machine);
  char name[3] = {};
  uapi::drm::version version = {};
  version.name_len = 2;
  version.name = AddressOf(name);
  EXPECT_EQ(client.Call(uapi::drm::kVersion, version), 0);
  EXPECT_STREQ(name, "xe");
  EXPECT_EQ(version.version_major, 1);
  EXPECT_EQ(version.version_minor, 1);
}

TEST(XeQueries, ConfigHasIdAlignmentAndPriorities) {
  EXPECT_THAT(ConfigOf("tgl"), ElementsAre(0x19a49, 0, 4096, 48, 1));
  EXPECT_THAT(ConfigOf("dg2"), ElementsAre(0x856a0, 1, 65536, 48, 1));
  EXPECT_THAT(ConfigOf("bmg")[1], 1u);
  EXPECT_THAT(ConfigOf("bmg")[2], 4096u);
  EXPECT_THAT(ConfigOf("ptl")[0] & 0xffff, 0xb080u);
}

TEST(XeQueries, EnginesAreThoseOfTheDeviceWithTheirGts) {
  const auto engines = [](const char* device) {
    const Reply reply = Ask(device, xe::kQueryEngines);
    std::string text;
    for (uint32_t i = 0; i < reply.At<xe::query_count>(0).count; ++i) {
      const auto one = reply.At<xe::engine>(8 + 32 * i).instance;
      text += std::to_string(one.engine_class) + "." + std::to_string(one.engine_instance) + "@" +
              std::to_string(one.gt_id) + " ";
    }
    return text;
  };
  EXPECT_EQ(engines("tgl"), "0.0@0 1.0@0 2.0@0 2.1@0 3.0@0 ");
  EXPECT_EQ(engines("dg2"), "0.0@0 1.0@0 2.0@0 2.1@0 3.0@0 3.1@0 4.0@0 ");
  EXPECT_EQ(engines("lnl"), "0.0@0 1.0@0 2.0@1 3.0@1 4.0@0 ");
}

TEST(XeQueries, MemoryOfDiscreteDevicesIsASecondRegion) {
  Machine machine("dg2");
  Client client(machine);
  Reply reply = Ask(client, xe::kQueryMemRegions);
  ASSERT_EQ(reply.At<xe::query_count>(0).count, 2u);
  ASSERT_EQ(reply.bytes.size(), 8 + 2 * 88u);
  const auto system = reply.At<xe::mem_region>(8), vram = reply.At<xe::mem_region>(8 + 88);
  EXPECT_EQ(system.mem_class, xe::kSysmem);
  EXPECT_EQ(system.min_page_size, 4096u);
  EXPECT_EQ(system.cpu_visible_size, 0u);
  EXPECT_EQ(vram.mem_class, xe::kVram);
  EXPECT_EQ(vram.instance, 1);
  EXPECT_EQ(vram.min_page_size, 65536u);
  EXPECT_EQ(vram.total_size, uint64_t{16} << 30);
  EXPECT_EQ(vram.used, 0u);

  const uint32_t object = client.Object(1 << 20, 0, xe::kCachingWc, 2);
  EXPECT_EQ(Ask(client, xe::kQueryMemRegions).At<xe::mem_region>(8 + 88).used, 1u << 20);
  uapi::drm::gem_close close = {object, 0};
  EXPECT_EQ(client.Call(uapi::drm::kGemClose, close), 0);
  EXPECT_EQ(Ask(client, xe::kQueryMemRegions).At<xe::mem_region>(8 + 88).used, 0u);
}

TEST(XeQueries, GtsHaveVersionsFromMeteorLakeOn) {
  const Reply tgl = Ask("tgl", xe::kQueryGtList);
  ASSERT_EQ(tgl.bytes.size(), 8u + 96);
  EXPECT_EQ(tgl.At<xe::gt>(8).reference_clock, 19'200'000u);
  EXPECT_EQ(tgl.At<xe::gt>(8).ip_ver_major, 0);
  EXPECT_EQ(tgl.At<xe::gt>(8).near_mem_regions, 1u);
  const Reply bmg = Ask("bmg", xe::kQueryGtList);
  ASSERT_EQ(bmg.bytes.size(), 8u + 2 * 96);
  EXPECT_EQ(bmg.At<xe::gt>(8).near_mem_regions, 2u);
  EXPECT_EQ(bmg.At<xe::gt>(8).far_mem_regions, 1u);
  EXPECT_EQ(bmg.At<xe::gt>(8).ip_ver_major, 20);
  EXPECT_EQ(bmg.At<xe::gt>(8).ip_ver_minor, 1);
  EXPECT_EQ(bmg.At<xe::gt>(8 + 96).type, xe::kGtMedia);
  EXPECT_EQ(Ask("mtl", xe::kQueryGtList).At<xe::gt>(8).ip_ver_minor, 71);
  EXPECT_EQ(Ask("ptl", xe::kQueryGtList).At<xe::gt>(8).ip_ver_major, 30);
}

// "gt.type=mask in hexadecimal (lowest eight bytes)".
std::string TopologyOf(const char* device) {
  const Reply reply = Ask(device, xe::kQueryGtTopology);
  std::string text;
  for (size_t at = 0; at < reply.bytes.size();) {
    const auto head = reply.At<xe::topology_mask>(at);
    char one[64];
    std::snprintf(one, sizeof(one), "%d.%d=%llx ", head.gt_id, head.type,
                  static_cast<unsigned long long>(reply.At<uint64_t>(at + 8)));
    text += one;
    at += 8 + head.num_bytes;
  }
  return text;
}

TEST(XeQueries, TopologyCountsUnitsAsThePlatformDoes) {
  EXPECT_EQ(TopologyOf("tgl"), "0.1=3f 0.2=3f 0.3=ff 0.4=ffff ");
  EXPECT_EQ(TopologyOf("dg2"), "0.1=ffffffff 0.2=ffffffff 0.3=ffffffff 0.4=ffff ");
  EXPECT_EQ(TopologyOf("mtl"), "0.1=ff 0.2=ff 0.3=ff 0.4=ffff 1.1=0 1.2=0 1.3=0 1.4=0 ");
  EXPECT_EQ(TopologyOf("lnl"), "0.1=ff 0.2=ff 0.3=ff 0.5=ff 1.1=0 1.2=0 1.3=0 1.5=0 ");
  // Without a mask of L3 banks for the media GT.
  EXPECT_EQ(TopologyOf("ptl"), "0.1=fff 0.2=fff 0.3=ffff 0.5=ff 1.1=0 1.2=0 1.5=0 ");
}

TEST(XeQueries, TopologyHasTheSizesOfTheKernelsMasks) {
  EXPECT_EQ(Ask("mtl", xe::kQueryGtTopology).bytes.size(), 160u);
  EXPECT_EQ(Ask("ptl", xe::kQueryGtTopology).bytes.size(), 144u);
}

TEST(XeQueries, EngineCyclesFollowTheClock) {
  Machine machine("tgl");
  Client client(machine);
  xe::engine_cycles cycles = {};
  cycles.clockid = CLOCK_MONOTONIC;
  xe::device_query args = {};
  args.query = xe::kQueryEngineCycles;
  args.size = sizeof(cycles);
  args.data = AddressOf(cycles);
  ASSERT_EQ(client.Call(xe::kDeviceQuery, args), 0);
  EXPECT_EQ(cycles.width, 36u);
  EXPECT_LT(cycles.engine_cycles, uint64_t{1} << 36);
  EXPECT_GT(cycles.cpu_timestamp, 0u);
  const xe::engine_cycles first = cycles;
  while (MonotonicNow() < static_cast<int64_t>(first.cpu_timestamp) + 2'000'000) {
  }
  ASSERT_EQ(client.Call(xe::kDeviceQuery, args), 0);
  const uint64_t passed = (cycles.engine_cycles - first.engine_cycles) & ((uint64_t{1} << 36) - 1);
  EXPECT_GE(passed, 2 * 19'200u);
  EXPECT_EQ(cycles.clockid, CLOCK_MONOTONIC);

  cycles.clockid = 99;
  EXPECT_EQ(client.Call(xe::kDeviceQuery, args), -EINVAL);
  cycles.clockid = CLOCK_REALTIME;
  cycles.eci.gt_id = 1;
  EXPECT_EQ(client.Call(xe::kDeviceQuery, args), -EINVAL);
  cycles.eci = {xe::kVmBindClass, 0, 0, 0};
  EXPECT_EQ(client.Call(xe::kDeviceQuery, args), -EINVAL);
  Machine newer("lnl");
  Client other(newer);
  cycles.eci = {};
  ASSERT_EQ(other.Call(xe::kDeviceQuery, args), 0);
  EXPECT_EQ(cycles.width, 64u);
}

TEST(XeQueries, FirmwareIsOneWithWhichDriversOfferComputeQueues) {
  Machine machine;
  Client client(machine);
  xe::uc_fw_version version = {};
  xe::device_query args = {};
  args.query = xe::kQueryUcFwVersion;
  args.size = sizeof(version);
  args.data = AddressOf(version);
  ASSERT_EQ(client.Call(xe::kDeviceQuery, args), 0);
  EXPECT_EQ(version.branch_ver, 0u);
  EXPECT_EQ(version.major_ver, 1u);
  EXPECT_GE(version.minor_ver, 2u);
  version.uc_type = xe::kUcHuc;
  EXPECT_EQ(client.Call(xe::kDeviceQuery, args), -ENODEV);
  version.uc_type = 2;
  EXPECT_EQ(client.Call(xe::kDeviceQuery, args), -EINVAL);
  version.uc_type = 0;
  version.pad2 = 1;
  EXPECT_EQ(client.Call(xe::kDeviceQuery, args), -EINVAL);
}

TEST(XeQueries, HwconfigIsEmptyAndThereAreNoCounters) {
  Machine machine;
  Client client(machine);
  const Reply table = Ask(client, xe::kQueryHwconfig);
  EXPECT_EQ(table.result, 0);
  EXPECT_TRUE(table.bytes.empty());
  EXPECT_EQ(Ask(client, xe::kQueryOaUnits).At<xe::oa_units>(0).num_oa_units, 0u);
}

TEST(XeQueries, RefuseWrongSizesPointersAndNumbers) {
  Machine machine;
  Client client(machine);
  struct Case {
    const char* what;
    uint32_t query, size;
    uint64_t data, extensions, reserved;
    Result result;
  };
  uint8_t room[4096];
  const uint64_t data = AddressOf(room);
  for (const Case& c : std::initializer_list<Case>{
           {"extension", xe::kQueryConfig, 0, 0, 1, 0, -EINVAL},
           {"reserved", xe::kQueryConfig, 0, 0, 0, 1, -EINVAL},
           {"PXP status", 9, 0, 0, 0, 0, -EINVAL},
           {"EU stall", 10, 0, 0, 0, 0, -EINVAL},
           {"unknown", ~0u, 0, 0, 0, 0, -EINVAL},
           {"size", xe::kQueryConfig, 47, data, 0, 0, -EINVAL},
           {"larger size", xe::kQueryConfig, 56, data, 0, 0, -EINVAL},
           {"pointer", xe::kQueryConfig, 48, 8, 0, 0, -EFAULT},
           {"pointer", xe::kQueryEngines, 8 + 5 * 32, 8, 0, 0, -EFAULT},
           {"pointer", xe::kQueryGtList, 8 + 96, 8, 0, 0, -EFAULT},
           {"pointer", xe::kQueryMemRegions, 8 + 88, 8, 0, 0, -ENOSPC},
           {"pointer", xe::kQueryEngineCycles, 40, 8, 0, 0, -EFAULT},
           {"size", xe::kQueryEngineCycles, 32, data, 0, 0, -EINVAL},
           {"size", xe::kQueryUcFwVersion, 31, data, 0, 0, -EINVAL},
           {"pointer", xe::kQueryUcFwVersion, 32, 8, 0, 0, -EFAULT},
           {"size", xe::kQueryHwconfig, 4, data, 0, 0, -EINVAL},
       }) {
    xe::device_query args = {};
    args.extensions = c.extensions;
    args.query = c.query;
    args.size = c.size;
    args.data = c.data;
    args.reserved[1] = c.reserved;
    EXPECT_EQ(client.Call(xe::kDeviceQuery, args), c.result) << c.what << " of query " << c.query;
  }
}

}  // namespace
}  // namespace packsmith::capture
