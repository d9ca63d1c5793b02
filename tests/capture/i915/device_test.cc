// What the device says of itself, what contexts keep, and queries.
#include <bit>
#include <cerrno>
#include <cstring>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/capture/i915/client.h"

namespace packsmith::capture {
namespace {

namespace api = uapi::i915;

// One of each generation, and those that differ in what is asked.
constexpr const char* kDevices[] = {"i965", "gm45", "ilk",  "snb", "ivb", "byt", "hsw",
                                    "bdw",  "chv",  "skl",  "glk", "icl", "ehl", "tgl",
                                    "rkl",  "adls", "adlp", "dg1", "dg2", "mtl", "skl_gt4"};

// The answer to one query item, or its length if that is an error.
int32_t Query(Client& client, uint64_t id, uint32_t flags, std::vector<uint8_t>& out) {
  api::query_item item = {id, 0, flags, 0};
  api::query args = {1, 0, AddressOf(item)};
  EXPECT_EQ(client.Call(api::kQuery, args), 0);
  if (item.length < 0) return item.length;
  const int32_t size = item.length;
  out.assign(static_cast<size_t>(size), 0);
  item.data_ptr = reinterpret_cast<uint64_t>(out.data());
  EXPECT_EQ(client.Call(api::kQuery, args), 0);
  EXPECT_EQ(item.length, size);
  return item.length;
}

class DeviceTest : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Platforms, DeviceTest, testing::ValuesIn(kDevices));

TEST_P(DeviceTest, SaysWhatDriversNeedToStart) {
  Machine machine(GetParam());
  Client client(machine);
  int32_t value = 0;
  ASSERT_EQ(client.GetParam(api::kParamChipsetId, value), 0);
  EXPECT_EQ(value, machine.info.pci_id);
  ASSERT_EQ(client.GetParam(api::kParamRevision, value), 0);
  EXPECT_EQ(value, machine.info.revision);
  ASSERT_EQ(client.GetParam(api::kParamCsTimestampFrequency, value), 0);
  EXPECT_EQ(static_cast<uint32_t>(value), machine.info.timestamp_hz);
  for (const int32_t param :
       {api::kParamHasExecbuf2, api::kParamHasWaitTimeout, api::kParamHasExecSoftpin,
        api::kParamHasExecFenceArray, api::kParamHasExecTimelineFences, api::kParamMmapVersion}) {
    ASSERT_EQ(client.GetParam(param, value), 0);
    EXPECT_EQ(value, 1) << param;
  }
  ASSERT_EQ(client.GetParam(api::kParamMmapGttVersion, value), 0);
  EXPECT_EQ(value, 4);
  ASSERT_EQ(client.GetParam(api::kParamHasContextIsolation, value), 0);
  EXPECT_NE(value & 1, 0);
  uapi::drm::version version = {};
  ASSERT_EQ(client.Call(uapi::drm::kVersion, version), 0);
  EXPECT_EQ(version.name_len, 4u);
  uint64_t size = 0;
  ASSERT_EQ(client.GetContextParam(0, api::kContextGttSize, size), 0);
  EXPECT_EQ(size, machine.info.ppgtt == Ppgtt::kFull ? uint64_t{1} << machine.info.ppgtt_bits
                                                     : machine.info.ggtt_bytes);
}

TEST_P(DeviceTest, TheTopologyIsThatOfTheDevice) {
  Machine machine(GetParam());
  Client client(machine);
  const Topology& topology = machine.info.topology;
  std::vector<uint8_t> bytes;
  const int32_t length = Query(client, api::kQueryTopologyInfo, 0, bytes);
  if (!machine.info.reports_topology()) {
    EXPECT_EQ(length, -ENODEV);
    return;
  }
  api::query_topology_info head = {};
  ASSERT_GE(bytes.size(), sizeof(head));
  std::memcpy(&head, bytes.data(), sizeof(head));
  EXPECT_EQ(head.max_slices, topology.max_slices);
  unsigned slices = 0, subslices = 0, eus = 0;
  const uint8_t* const data = bytes.data() + sizeof(head);
  const auto bit = [&](size_t base, unsigned index) {
    return data[base + index / 8] >> index % 8 & 1;
  };
  for (unsigned slice = 0; slice < head.max_slices; ++slice) {
    slices += bit(0, slice);
    for (unsigned subslice = 0; subslice < head.max_subslices; ++subslice) {
      subslices += bit(head.subslice_offset + slice * head.subslice_stride, subslice);
      for (unsigned eu = 0; eu < head.max_eus_per_subslice; ++eu) {
        eus += bit(head.eu_offset + (slice * head.max_subslices + subslice) * head.eu_stride, eu);
      }
    }
  }
  EXPECT_EQ(slices, topology.slices());
  EXPECT_EQ(subslices, topology.subslices());
  EXPECT_EQ(eus, topology.eu_total());
  EXPECT_EQ(bytes.size(), sizeof(head) + head.eu_offset +
                              size_t{head.max_slices} * head.max_subslices * head.eu_stride);
  int32_t value = 0;
  ASSERT_EQ(client.GetParam(api::kParamEuTotal, value), 0);
  EXPECT_EQ(static_cast<unsigned>(value), eus);
  ASSERT_EQ(client.GetParam(api::kParamSubsliceTotal, value), 0);
  EXPECT_EQ(static_cast<unsigned>(value), subslices);
}

TEST_P(DeviceTest, EnginesAreListedAndCanBeUsed) {
  Machine machine(GetParam());
  Client client(machine);
  std::vector<uint8_t> bytes;
  ASSERT_GT(Query(client, api::kQueryEngineInfo, 0, bytes), 0);
  api::query_engine_info head = {};
  std::memcpy(&head, bytes.data(), sizeof(head));
  ASSERT_EQ(head.num_engines, machine.info.engines.size());
  const uint32_t batch = client.Create(4096);
  for (uint32_t i = 0; i < head.num_engines; ++i) {
    api::engine_info info = {};
    std::memcpy(&info, bytes.data() + sizeof(head) + i * sizeof(info), sizeof(info));
    EXPECT_EQ(info.capabilities, machine.info.engines[i].capabilities);
    struct {
      uint64_t extensions = 0;
      api::engine_class_instance engine;
    } list;
    list.engine = info.engine;
    const uint32_t context = client.CreateContext();
    ASSERT_EQ(client.SetContextParam(context, api::kContextEngines, AddressOf(list), 12), 0);
    ASSERT_EQ(client.SubmitOne(batch, 0, context), 0);
    EXPECT_EQ(machine.watcher.works.back()->engine_class, info.engine.engine_class);
    EXPECT_EQ(machine.watcher.works.back()->engine_instance, info.engine.engine_instance);
  }
}

TEST_P(DeviceTest, MemoryRegionsAreThoseOfTheDevice) {
  Machine machine(GetParam());
  Client client(machine);
  std::vector<uint8_t> bytes;
  ASSERT_GT(Query(client, api::kQueryMemoryRegions, 0, bytes), 0);
  const size_t count = machine.info.discrete() ? 2 : 1;
  ASSERT_EQ(bytes.size(),
            sizeof(api::query_memory_regions) + count * sizeof(api::memory_region_info));
  api::memory_region_info last = {};
  std::memcpy(&last, bytes.data() + bytes.size() - sizeof(last), sizeof(last));
  EXPECT_EQ(last.region.memory_class, count - 1);
  EXPECT_EQ(last.probed_size,
            machine.info.discrete() ? machine.info.vram_bytes : kSystemMemoryBytes);
}

TEST(QueriesTest, AnItemThatFailsSaysSoInItsLengthAndOthersGoOn) {
  Machine machine("tgl");
  Client client(machine);
  uint8_t small[4] = {};
  api::query_item items[] = {
      {99, 0, 0, 0},
      {api::kQueryHwconfigBlob, 0, 0, 0},
      {api::kQueryGeometrySubslices, 0, 0, 0},
      {api::kQueryEngineInfo, 0, 1, 0},
      {api::kQueryEngineInfo, 4, 0, AddressOf(small)},
      {api::kQueryEngineInfo, 1 << 20, 0, 8},
      {api::kQueryPerfConfig, 0, 7, 0},
      {api::kQueryEngineInfo, 0, 0, 0},
  };
  api::query args = {std::size(items), 0, AddressOf(items)};
  ASSERT_EQ(client.Call(api::kQuery, args), 0);
  std::vector<int32_t> lengths;
  for (const auto& item : items) lengths.push_back(item.length);
  EXPECT_THAT(lengths, testing::ElementsAre(-EINVAL, -ENODEV, -ENODEV, -EINVAL, -EINVAL, -EFAULT,
                                            -EINVAL, 16 + 5 * 56));
}

TEST(QueriesTest, ANonZeroHeadIsRefused) {
  Machine machine("tgl");
  Client client(machine);
  std::vector<uint8_t> bytes(4096);
  bytes[0] = 1;
  for (const uint64_t id :
       {api::kQueryTopologyInfo, api::kQueryEngineInfo, api::kQueryMemoryRegions}) {
    api::query_item item = {id, 4096, 0, reinterpret_cast<uint64_t>(bytes.data())};
    api::query args = {1, 0, AddressOf(item)};
    ASSERT_EQ(client.Call(api::kQuery, args), 0);
    EXPECT_EQ(item.length, -EINVAL) << id;
  }
}

TEST(QueriesTest, GeometrySubslicesAreOfTheRenderEngine) {
  Machine machine("dg2");
  Client client(machine);
  std::vector<uint8_t> geometry, topology;
  EXPECT_GT(Query(client, api::kQueryGeometrySubslices, 0, geometry), 0);
  EXPECT_GT(Query(client, api::kQueryTopologyInfo, 0, topology), 0);
  EXPECT_EQ(geometry, topology);
  EXPECT_EQ(Query(client, api::kQueryGeometrySubslices, api::kClassCopy, geometry), -EINVAL);
}

TEST(QueriesTest, TheListOfCountersHoldsTheKernelsOwn) {
  Machine machine("skl");
  Client client(machine);
  std::vector<uint8_t> bytes;
  ASSERT_EQ(Query(client, api::kQueryPerfConfig, api::kPerfConfigList, bytes), 56);
  uint64_t count = 0, id = 0;
  std::memcpy(&count, bytes.data(), 8);
  std::memcpy(&id, bytes.data() + 48, 8);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(id, 1u);
}

TEST(QueriesTest, TheTimestampRunsInTheDevicesFrequency) {
  Machine machine("tgl");
  Client client(machine);
  const int64_t before = MonotonicNow();
  api::reg_read first = {api::kRegTimestamp | api::kRegTwice, 0}, second = first;
  ASSERT_EQ(client.Call(api::kRegRead, first), 0);
  const int64_t until = MonotonicNow() + 5'000'000;
  while (MonotonicNow() < until) {
  }
  ASSERT_EQ(client.Call(api::kRegRead, second), 0);
  const int64_t after = MonotonicNow();
  const uint64_t ticks =
      (second.val - first.val) & ((uint64_t{1} << machine.info.timestamp_bits) - 1);
  EXPECT_GE(ticks, 5u * machine.info.timestamp_hz / 1000 - 1);
  EXPECT_LE(ticks,
            static_cast<uint64_t>(after - before) * machine.info.timestamp_hz / 1'000'000'000 + 1);
}

TEST(ContextsTest, ParametersAreKept) {
  Machine machine("tgl");
  Client client(machine);
  const uint32_t context = client.CreateContext();
  const struct {
    uint64_t param, initial, value;
  } kParams[] = {{api::kContextRecoverable, 1, 0},
                 {api::kContextNoErrorCapture, 0, 1},
                 {api::kContextBannable, 1, 1},
                 {api::kContextPersistence, 1, 0},
                 {api::kContextPriority, 0, static_cast<uint64_t>(-512)}};
  for (const auto& [param, initial, value] : kParams) {
    SCOPED_TRACE(param);
    uint64_t got = 77;
    ASSERT_EQ(client.GetContextParam(context, param, got), 0);
    EXPECT_EQ(got, initial);
    ASSERT_EQ(client.SetContextParam(context, param, value), 0);
    ASSERT_EQ(client.GetContextParam(context, param, got), 0);
    EXPECT_EQ(got, value);
    // Others have what every new one has.
    ASSERT_EQ(client.GetContextParam(0, param, got), 0);
    EXPECT_EQ(got, initial);
  }
}

TEST(ContextsTest, AnAddressSpaceIsSharedByThoseThatAreGivenIt) {
  Machine machine("skl");
  Client client(machine);
  const uint32_t first = client.CreateContext(), second = client.CreateContext();
  uint64_t space = 0, got = 0;
  ASSERT_EQ(client.GetContextParam(first, api::kContextVm, space), 0);
  ASSERT_EQ(client.SetContextParam(second, api::kContextVm, space), 0);
  ASSERT_EQ(client.GetContextParam(second, api::kContextVm, got), 0);
  // Who asks has an id that others do not take away.
  EXPECT_NE(got, space);
  api::gem_vm_control control = {};
  control.vm_id = static_cast<uint32_t>(space);
  EXPECT_EQ(client.Call(api::kGemVmDestroy, control), 0);
  control.vm_id = static_cast<uint32_t>(got);
  EXPECT_EQ(client.Call(api::kGemVmDestroy, control), 0);
  // An object has one address in both, and another in a space of its own.
  const uint32_t handle = client.Create(4096);
  std::vector<api::gem_exec_object2> objects = {Client::Pinned(handle, 0x5000000)};
  ASSERT_EQ(client.Submit(objects, 0, first), 0);
  objects = {Client::Object(handle)};
  ASSERT_EQ(client.Submit(objects, 0, second), 0);
  EXPECT_EQ(objects[0].offset, 0x5000000u);
  objects = {Client::Object(handle)};
  ASSERT_EQ(client.Submit(objects), 0);
  EXPECT_NE(objects[0].offset, 0x5000000u);
}

TEST(ContextsTest, MadeSpacesLiveUntilTheLastContextGoes) {
  Machine machine("skl");
  Client client(machine);
  api::gem_vm_control space = {};
  ASSERT_EQ(client.Call(api::kGemVmCreate, space), 0);
  api::gem_context_create_ext_setparam extension = {};
  extension.param.param = api::kContextVm;
  extension.param.value = space.vm_id;
  api::gem_context_create_ext create = {0, api::kContextUseExtensions, AddressOf(extension)};
  ASSERT_EQ(client.Call(api::kGemContextCreateExt, create), 0);
  ASSERT_EQ(client.Call(api::kGemVmDestroy, space), 0);
  EXPECT_EQ(client.Call(api::kGemVmDestroy, space), -ENOENT);
  EXPECT_EQ(client.SubmitOne(client.Create(4096), 0, create.ctx_id), 0);
}

TEST(ContextsTest, BalancedEnginesRunOnOneOfThem) {
  Machine machine("icl");
  Client client(machine);
  struct {
    api::context_engines_load_balance head = {};
    api::engine_class_instance siblings[2] = {{api::kClassVideo, 1}, {api::kClassVideo, 0}};
  } balance;
  balance.head.base.name = api::kEnginesLoadBalance;
  balance.head.num_siblings = 2;
  struct {
    uint64_t extensions = 0;
    api::engine_class_instance engine = {api::kClassInvalid, api::kInstanceInvalidNone};
  } list;
  list.extensions = AddressOf(balance);
  const uint32_t context = client.CreateContext();
  ASSERT_EQ(client.SetContextParam(context, api::kContextEngines, AddressOf(list), 12), 0);
  ASSERT_EQ(client.SubmitOne(client.Create(4096), 0, context), 0);
  EXPECT_EQ(machine.watcher.works.at(0)->engine, "video");
}

TEST(ContextsTest, UnitsOfIceLakeCanBeHalved) {
  Machine machine("icl");
  Client client(machine);
  api::gem_context_param_sseu sseu = {};
  uint64_t value = AddressOf(sseu);
  api::gem_context_param get = {0, sizeof(sseu), api::kContextSseu, value};
  ASSERT_EQ(client.Call(api::kGemContextGetparam, get), 0);
  EXPECT_EQ(std::popcount(sseu.subslice_mask), 8);
  sseu.subslice_mask = 0x0f;
  ASSERT_EQ(client.SetContextParam(0, api::kContextSseu, AddressOf(sseu), sizeof(sseu)), 0);
  sseu.subslice_mask = 0;
  ASSERT_EQ(client.Call(api::kGemContextGetparam, get), 0);
  EXPECT_EQ(sseu.subslice_mask, 0x0fu);
}

TEST(ContextsTest, IdsAreUsedAgain) {
  Machine machine("skl");
  Client client(machine);
  const uint32_t first = client.CreateContext();
  api::gem_context_destroy destroy = {first, 0};
  ASSERT_EQ(client.Call(api::kGemContextDestroy, destroy), 0);
  EXPECT_EQ(client.Call(api::kGemContextDestroy, destroy), -ENOENT);
  EXPECT_EQ(client.CreateContext(), first);
}

}  // namespace
}  // namespace packsmith::capture
