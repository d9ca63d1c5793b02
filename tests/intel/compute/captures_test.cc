// The packets of real drivers (tests/data/captures), made again from what their kernels need: all
// dwords are the same, except addresses of memory that each allocates for itself.
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/decode/decoder.h"
#include "runtime/dump/read.h"
#include "runtime/generations/generations.h"
#include "runtime/intel/compute/compute_state.h"
#include "runtime/intel/device/render_devices.h"
#include "tests/intel/batch/tested.h"
#include "tests/intel/compute/gpu_memory.h"

namespace packsmith::intel {
namespace {

struct Captured {
  std::string name;
  std::vector<uint32_t> dwords;
};

class CaptureSink : public decode::Sink {
 public:
  void OnSchema(const tables::Tables&) override {}
  void OnDevice(const Device&, uint64_t) override {}
  void OnSubmission(const Submission&, uint64_t) override {}
  void OnRecord(const decode::Record& record) override {
    if (record.type != decode::RecordType::kPacket && record.type != decode::RecordType::kStruct) {
      return;
    }
    Captured captured{std::string(record.name), {}};
    captured.dwords.resize(record.bytes.size() / 4);
    std::memcpy(captured.dwords.data(), record.bytes.data(), captured.dwords.size() * 4);
    records.push_back(std::move(captured));
  }
  void OnRemark(absl::string_view, bool) override {}
  void OnSummary(const decode::Summary&) override {}

  std::vector<Captured> records;
};

// What the driver was told to dispatch.
struct CapturedRun {
  const char* capture;
  const char* device;
  uint32_t subslices;
  unsigned file;      // of the capture
  unsigned dispatch;  // in the file
  std::array<uint32_t, 3> local_size;
  uint32_t constant_bytes, shared_bytes, barriers, samplers, binding_table_entries, scratch;
  GroupCount groups;
};
constexpr CapturedRun kRuns[] = {
    {"skl-gl-compute", "skl gt2", 3, 1, 0, {8, 4, 1}, 0, 1024, 1, 0, 4, 0, {8, 4, 2}},
    {"icl-gl-compute", "icl 8 banks", 8, 1, 0, {8, 4, 1}, 0, 1024, 1, 0, 4, 0, {8, 4, 2}},
    {"tgl-gl-compute", "tgl 8 banks", 6, 1, 0, {8, 4, 1}, 0, 1024, 1, 0, 4, 0, {8, 4, 2}},
    {"dg2-gl-compute", "dg2", 32, 1, 0, {8, 4, 1}, 0, 1024, 1, 0, 0, 0, {8, 4, 2}},
    // hasvk rounds what it loads up to its own structure, and has samplers.
    {"bdw-vk-compute", "bdw gt2", 3, 2, 0, {64, 1, 1}, 512, 4096, 1, 1, 7, 0, {7, 5, 2}},
    {"bdw-vk-compute", "bdw gt2", 3, 3, 1, {64, 1, 1}, 32, 0, 0, 0, 4, 65536, {3, 1, 1}},
};

template <class Gen>
class CapturesTest : public testing::Test {};
TYPED_TEST_SUITE(CapturesTest, Generations);

template <class P>
std::vector<P> AllOf(const std::vector<Captured>& records, const char* name) {
  std::vector<P> found;
  for (const Captured& record : records) {
    if (record.name == name && record.dwords.size() == P::length) {
      found.push_back(P::unpack(record.dwords.data()));
    }
  }
  return found;
}
template <class P>
std::vector<uint32_t> Dwords(const P& packet) {
  std::vector<uint32_t> dwords(P::length);
  EXPECT_FALSE(packet.pack(dwords.data()));
  return dwords;
}
// The packet of a batch.
template <class P>
P FindIn(absl::Span<const uint32_t> words) {
  for (size_t i = 0; i + P::length <= words.size(); ++i) {
    if (P::matches(words[i])) return P::unpack(&words[i]);
  }
  ADD_FAILURE();
  return {};
}

TYPED_TEST(CapturesTest, TheDriversPacketsAreMade) {
  using Gen = TypeParam;
  using G = typename Gen::Packets;
  using Descriptor = typename G::INTERFACE_DESCRIPTOR_DATA;
  int runs = 0;
  for (const CapturedRun& run : kRuns) {
    const RenderDevice device = Must(FindRenderDevice(run.device));
    if (device.version != Gen::kVersion) continue;
    SCOPED_TRACE(absl::StrCat(run.capture, " ", run.file));
    const Dump dump = Must(
        ReadDump(absl::StrCat("tests/data/captures/", run.capture, "/0", run.file, ".core.zst")));
    CaptureSink sink;
    const auto tables = FindGeneration(Gen::kName);
    decode::Decoder decoder(*tables, sink, {});
    decoder.Decode(dump);
    decoder.Finish();
    const auto& records = sink.records;

    GpuMemory memory;
    Batch<Gen> batch(memory.chunks);
    ComputeState<Gen> compute({.device = device, .subslices = run.subslices}, memory.states);
    ComputeKernel kernel;
    kernel.local_size = run.local_size;
    kernel.constant_bytes = run.constant_bytes;
    kernel.shared_bytes = run.shared_bytes;
    kernel.barriers = run.barriers;
    kernel.samplers = run.samplers;
    kernel.binding_table_entries = run.binding_table_entries;
    kernel.thread_data = ThreadData::kNumber;
    const auto bind = [&](const Descriptor& theirs) {
      kernel.simd16() = {.present = true,
                         .offset = static_cast<uint32_t>(theirs.kernel_start_pointer),
                         .buffer = 0,
                         .scratch = run.scratch};
      ASSERT_TRUE(compute.Bind(kernel)) << compute.status();
      compute.SetTables(
          {.bindings = theirs.binding_table_pointer, .samplers = theirs.sampler_state_pointer});
    };

    if constexpr (ComputeFields<Gen>::kMedia) {
      const auto fronts = AllOf<typename G::MEDIA_VFE_STATE>(records, "MEDIA_VFE_STATE");
      const auto loads = AllOf<typename G::MEDIA_CURBE_LOAD>(records, "MEDIA_CURBE_LOAD");
      const auto walkers = AllOf<typename G::GPGPU_WALKER>(records, "GPGPU_WALKER");
      const auto descriptors = AllOf<Descriptor>(records, "INTERFACE_DESCRIPTOR_DATA");
      ASSERT_GT(fronts.size(), run.dispatch);
      ASSERT_GT(descriptors.size(), run.dispatch);
      const Descriptor& theirs = descriptors[run.dispatch];
      bind(theirs);
      if (run.scratch != 0) {
        ASSERT_TRUE(
            compute.SetScratch({.per_thread = run.scratch,
                                .base = {fronts[run.dispatch].scratch_space_base_pointer.gpu}}));
      }
      ASSERT_TRUE(compute.Dispatch(batch, run.groups)) << compute.status();
      ASSERT_TRUE(batch.End().ok());
      const auto words = batch.parts()[0].chunk.words;
      EXPECT_EQ(Dwords(FindIn<typename G::MEDIA_VFE_STATE>(words)), Dwords(fronts[run.dispatch]));
      EXPECT_EQ(Dwords(FindIn<typename G::GPGPU_WALKER>(words)), Dwords(walkers[run.dispatch]));
      auto load = FindIn<typename G::MEDIA_CURBE_LOAD>(words);
      load.curbe_data_start_address = loads[run.dispatch].curbe_data_start_address;
      EXPECT_EQ(Dwords(load), Dwords(loads[run.dispatch]));
      const auto at = FindIn<typename G::MEDIA_INTERFACE_DESCRIPTOR_LOAD>(words);
      uint32_t descriptor[Descriptor::length];
      ASSERT_TRUE(
          memory.device
              ->Read(0, at.interface_descriptor_data_start_address,
                     absl::MakeSpan(reinterpret_cast<uint8_t*>(descriptor), sizeof(descriptor)))
              .ok());
      EXPECT_EQ(Dwords(Descriptor::unpack(descriptor)), Dwords(theirs));
    } else {
      auto walkers = AllOf<typename G::COMPUTE_WALKER>(records, "COMPUTE_WALKER");
      const auto fronts = AllOf<typename G::CFE_STATE>(records, "CFE_STATE");
      ASSERT_GT(walkers.size(), run.dispatch);
      auto theirs = walkers[run.dispatch];
      bind(theirs.body.interface_descriptor);
      ASSERT_TRUE(compute.Dispatch(batch, run.groups)) << compute.status();
      ASSERT_TRUE(batch.End().ok());
      const auto words = batch.parts()[0].chunk.words;
      EXPECT_EQ(Dwords(FindIn<typename G::CFE_STATE>(words)), Dwords(fronts[run.dispatch]));
      // Mesa 22.3 left it 0; since 23.1 it sets the width.
      theirs.body.message_simd = G::COMPUTE_WALKER_BODY::MESSAGE_SIMD_SIMD16;
      EXPECT_EQ(Dwords(FindIn<typename G::COMPUTE_WALKER>(words)), Dwords(theirs));
    }
    ++runs;
  }
  EXPECT_GE(runs, 1);
}

}  // namespace
}  // namespace packsmith::intel
