#include "runtime/kernel/asahi/asahi_device.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/capture/devices/device_info.h"
#include "runtime/submission/submitter.h"
#include "tests/kernel/asahi/machine.h"

namespace packsmith::gpu {
namespace {

namespace asahi = uapi::asahi;

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint64_t kStream = 0x1100000000, kOther = 0x1200000000, kData = 0x1500000000;
constexpr absl::Duration kNoTime = absl::ZeroDuration(), kLong = absl::Seconds(60);

absl::StatusCode CodeOf(const absl::Status& status) { return status.code(); }
template <typename T>
absl::StatusCode CodeOf(const absl::StatusOr<T>& result) {
  return result.status().code();
}

// The last command of a submission, with its header.
template <typename T>
std::pair<asahi::cmd_header, T> LastCommand(const capture::Work& work) {
  std::pair<asahi::cmd_header, T> result = {};
  const size_t size = sizeof(asahi::cmd_header) + sizeof(T);
  EXPECT_GE(work.driver_words.size(), size);
  const char* const at = work.driver_words.data() + work.driver_words.size() - size;
  std::memcpy(&result.first, at, sizeof(asahi::cmd_header));
  std::memcpy(&result.second, at + sizeof(asahi::cmd_header), sizeof(T));
  return result;
}

class EveryChip : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, EveryChip,
                         ::testing::Values("m1", "m1-pro", "m1-max", "m1-ultra", "m2", "m2-pro",
                                           "m2-max", "m2-ultra"));

TEST_P(EveryChip, PropertiesAreThoseOfTheChip) {
  Machine machine(GetParam());
  const auto device = machine.Open();
  const capture::DeviceInfo& info = machine.device.info();
  const DeviceProperties& properties = device->properties();
  EXPECT_EQ(device->generation(), info.generation);
  EXPECT_EQ(properties.driver, "asahi");
  EXPECT_EQ(properties.revision, info.apple->revision);
  EXPECT_FALSE(properties.discrete);
  EXPECT_EQ(properties.page, 16384u);
  EXPECT_EQ(properties.address_bits, 40u);
  EXPECT_EQ(properties.timestamp_hertz, info.timestamp_hz);
  EXPECT_THAT(properties.slices, SizeIs(info.apple->dies));
  EXPECT_EQ(properties.subslices(), info.apple->clusters);
  unsigned cores = 0;
  for (const uint64_t mask : info.apple->core_masks) cores += std::popcount(mask);
  EXPECT_EQ(properties.eus(), cores);
  EXPECT_EQ(device->info().params.chip_id, info.chip_id);
  EXPECT_EQ(properties.address_space, device->info().end - device->info().begin);
}

TEST(AsahiDevice, TheOldInterfaceIsRefusedWithTheRemedy) {
  MachineOf<&capture::MakeOldAsahi> machine;
  const auto refused = AsahiDevice::Open(machine.Connect());
  EXPECT_EQ(CodeOf(refused), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("Linux 6.16"));
}

// Changes what the kernel says.
class Lying : public MockConnection {
 public:
  using Change = void (*)(asahi::params_global&);
  Lying(Machine& machine, Change change)
      : MockConnection(machine.kernel, machine.device), change_(change) {}
  int Ioctl(uint32_t request, void* argument) override {
    const int result = MockConnection::Ioctl(request, argument);
    if (request == asahi::kGetParams) {
      const uint64_t to = static_cast<asahi::get_params*>(argument)->pointer;
      change_(*reinterpret_cast<asahi::params_global*>(to));
    }
    return result;
  }

 private:
  const Change change_;
};

TEST(AsahiDevice, ParametersThatDoNotFitTogetherAreAnError) {
  Machine machine;
  const auto code = [&](Lying::Change change) {
    return CodeOf(AsahiDevice::Open(std::make_unique<Lying>(machine, change)));
  };
  using Params = asahi::params_global;
  const auto bad = absl::StatusCode::kDataLoss;
  EXPECT_EQ(code([](Params&) {}), absl::StatusCode::kOk);
  EXPECT_EQ(code([](Params& p) { p.num_dies = 0; }), bad);
  EXPECT_EQ(code([](Params& p) { p.num_dies = 0xffffffff; }), bad);
  EXPECT_EQ(code([](Params& p) { p.num_clusters_total = 65; }), bad);
  EXPECT_EQ(code([](Params& p) { p.vm_end = 0; }), bad);
  EXPECT_EQ(code([](Params& p) { p.vm_end = ~uint64_t{0}; }), bad);
  EXPECT_EQ(code([](Params& p) { p.vm_start = p.vm_end; }), bad);
  EXPECT_EQ(code([](Params& p) { p.vm_kernel_min_size = ~uint64_t{0}; }), bad);
  EXPECT_EQ(code([](Params& p) { p.chip_id = 0x1234; }), absl::StatusCode::kNotFound);
}

TEST(AsahiDevice, MemoryIsBoundAndSeenByTheCpu) {
  Machine machine;
  const auto device = machine.Open();
  for (int i = 0; i < kHeaps; ++i) {
    const auto heap = static_cast<Heap>(i);
    const auto memory = device->Create({.size = 2 * kPage, .heap = heap});
    if (heap != Heap::kSystem && heap != Heap::kSystemUncached) {
      EXPECT_EQ(CodeOf(memory), absl::StatusCode::kUnimplemented);
      continue;
    }
    ASSERT_TRUE(memory.ok()) << memory.status();
    const auto bytes = device->Map(*memory);
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    EXPECT_THAT(*bytes, SizeIs(2 * kPage));
    (*bytes)[3] = 7;
    EXPECT_EQ((*device->Map(*memory))[3], 7);
    const PageBinding binding = {
        .address = kData, .size = kPage, .memory = *memory, .offset = kPage};
    ASSERT_TRUE(device->Bind(binding).ok());
    EXPECT_EQ(CodeOf(device->Bind(binding)), absl::StatusCode::kAlreadyExists);
    EXPECT_EQ(CodeOf(device->Destroy(*memory)), absl::StatusCode::kFailedPrecondition);
    EXPECT_TRUE(device->Unbind(0, kData, kPage).ok());
    EXPECT_TRUE(device->Destroy(*memory).ok());
  }
  EXPECT_EQ(CodeOf(device->Create({.size = 4096})), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(device->Create({.size = kPage, .use = kProtected})),
            absl::StatusCode::kUnimplemented);
}

TEST(AsahiDevice, TheKernelsAddressesAreRefused) {
  Machine machine;
  const auto device = machine.Open();
  const auto memory = device->Create({.size = 2 * kPage});
  const uint64_t begin = device->info().begin, end = device->info().end;
  const auto bind = [&](uint64_t address, uint64_t size) {
    return CodeOf(device->Bind({.address = address, .size = size, .memory = *memory}));
  };
  EXPECT_EQ(bind(begin - kPage, kPage), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(bind(end - kPage, 2 * kPage), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(bind(end, kPage), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(bind(kData + 4096, kPage), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(bind(begin, kPage), absl::StatusCode::kOk);
  EXPECT_EQ(bind(end - kPage, kPage), absl::StatusCode::kOk);
}

TEST(AsahiDevice, WhatTheJobMayNotWriteIsBoundReadOnly) {
  Machine machine;
  const auto device = machine.Open();
  const Place stream = machine.Make(*device, kStream);
  const auto memory = device->Create({.size = kPage});
  ASSERT_TRUE(
      device->Bind({.address = kData, .size = kPage, .memory = *memory, .writable = false}).ok());
  ASSERT_TRUE(device->Submit(PlacedJob({stream}).job).ok());
  const capture::AddressMap& map = *machine.seen.works.back()->memory;
  EXPECT_TRUE(map.Find(kStream)->writable);
  EXPECT_FALSE(map.Find(kData)->writable);
}

TEST(AsahiDevice, ManyPagesAreBoundOrNone) {
  Machine machine;
  auto connection = machine.Connect();
  CountingConnection& calls = *connection;
  const auto device = *AsahiDevice::Open(std::move(connection));
  const Place stream = machine.Make(*device, kStream);
  const auto one = device->Create({.size = kPage}), two = device->Create({.size = kPage});
  std::vector<PageBinding> bindings = {{.address = kData, .size = kPage, .memory = *one},
                                       {.address = kData + kPage, .size = kPage, .memory = *two},
                                       {.address = kStream, .size = kPage, .memory = *one}};
  const auto is_bound = [&](uint64_t address) {
    EXPECT_TRUE(device->Submit(PlacedJob({stream}).job).ok());
    return machine.seen.works.back()->memory->Find(address) != nullptr;
  };
  EXPECT_EQ(CodeOf(device->BindAll(bindings)), absl::StatusCode::kAlreadyExists);
  EXPECT_FALSE(is_bound(kData));
  bindings.pop_back();
  const int before = calls.calls(asahi::kVmBind);
  ASSERT_TRUE(device->BindAll(bindings).ok());
  EXPECT_EQ(calls.calls(asahi::kVmBind), before + 1);
  EXPECT_TRUE(is_bound(kData));
  EXPECT_TRUE(is_bound(kData + kPage));
  EXPECT_TRUE(device->UnbindAll(bindings).ok());
  EXPECT_EQ(calls.calls(asahi::kVmBind), before + 2);
  EXPECT_FALSE(is_bound(kData));
  EXPECT_FALSE(is_bound(kData + kPage));
  EXPECT_EQ(CodeOf(device->UnbindAll(bindings)), absl::StatusCode::kNotFound);
  // The kernel keeps the operations before one that it refuses: here, that of an object that has
  // disappeared.
  uapi::drm::gem_close close = {.handle = 3, .pad = 0};
  ASSERT_EQ(calls.Ioctl(uapi::drm::kGemClose, &close), 0);
  EXPECT_EQ(CodeOf(device->BindAll(bindings)), absl::StatusCode::kNotFound);
  EXPECT_FALSE(is_bound(kData));
  EXPECT_EQ(CodeOf(device->Unbind(0, kData, kPage)), absl::StatusCode::kNotFound);
}

TEST(AsahiDevice, APlainJobIsItsStream) {
  Machine machine;
  const auto device = machine.Open();
  const Place stream = machine.Make(*device, kStream);
  PlacedJob work({stream});
  const JobBase bases[] = {{"programs", 0x1100000000}};
  work.job.bases = bases;
  const auto computed = device->Submit(work.job);
  ASSERT_TRUE(computed.ok()) << computed.status();
  EXPECT_EQ(*device->Wait(*computed, kLong), true);
  const capture::Work& compute = *machine.seen.works.back();
  EXPECT_EQ(compute.engine, "compute");
  ASSERT_THAT(compute.streams, SizeIs(1));
  EXPECT_EQ(compute.streams[0].address, kStream);
  EXPECT_EQ(compute.streams[0].length, 64u);
  EXPECT_EQ(compute.streams[0].stream, "cdm");
  ASSERT_THAT(compute.bases, SizeIs(1));
  EXPECT_EQ(compute.bases[0].address, 0x1100000000u);

  work.job.engine = "render";
  const auto rendered = device->Submit(work.job);
  ASSERT_TRUE(rendered.ok()) << rendered.status();
  EXPECT_EQ(*device->Wait(*rendered, kLong), true);
  const capture::Work& render = *machine.seen.works.back();
  EXPECT_EQ(render.engine, "render");
  ASSERT_THAT(render.streams, SizeIs(1));
  EXPECT_EQ(render.streams[0].stream, "vdm");
  EXPECT_EQ(LastCommand<asahi::cmd_render>(render).second.width_px, 64);

  work.job.engine = "copy";
  const auto refused = device->Submit(work.job);
  EXPECT_EQ(CodeOf(refused), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("render, compute"));
  EXPECT_THAT(machine.seen.warnings, IsEmpty());
}

TEST(AsahiDevice, ARenderPassHasAllOfItsStructure) {
  Machine machine;
  const auto device = machine.Open();
  const Place stream = machine.Make(*device, kStream);
  const PlacedJob work({stream});
  const AsahiAttachment colour[] = {{.address = kData, .size = 0x4000}};
  AsahiRender render;
  render.stream = kStream + 64;
  render.width = 1920;
  render.height = 1080;
  render.tile_height = 16;
  render.samples = 4;
  render.bytes_per_sample = 8;
  render.layers = 6;
  render.process_empty_tiles = true;
  render.cluster_vertices = false;
  render.load = {.program = 0x1000, .resources = 0x11};
  render.store = {.program = 0x2000, .resources = 0x22};
  render.vertex_helper = {.binary = 0x3001, .configuration = 4, .data = 5};
  render.scissors = kData;
  render.depth = {.address = kData, .metadata = kOther, .layer_stride = 7};
  render.clear_depth = 0x3f800000;
  render.clear_stencil = 0xff;
  render.zls_control = 0x123;
  render.fragment_attachments = colour;
  ASSERT_TRUE(device->SubmitRender(work.job, render).ok());
  const capture::Work& done = *machine.seen.works.back();
  const auto [header, packed] = LastCommand<asahi::cmd_render>(done);
  EXPECT_EQ(header.cmd_type, asahi::kCmdRender);
  EXPECT_EQ(packed.flags, asahi::kRenderProcessEmptyTiles | asahi::kRenderNoVertexClustering);
  EXPECT_EQ(packed.vdm_ctrl_stream_base, kStream + 64);
  EXPECT_EQ(packed.width_px, 1920);
  EXPECT_EQ(packed.height_px, 1080);
  EXPECT_EQ(packed.layers, 6);
  EXPECT_EQ(packed.utile_width_px, 32);
  EXPECT_EQ(packed.utile_height_px, 16);
  EXPECT_EQ(packed.samples, 4);
  EXPECT_EQ(packed.sample_size_B, 8);
  EXPECT_FLOAT_EQ(std::bit_cast<float>(packed.isp_merge_upper_x), 1.7320508f / 1920);
  EXPECT_FLOAT_EQ(std::bit_cast<float>(packed.isp_merge_upper_y), 1.7320508f / 1080);
  EXPECT_EQ(packed.bg.usc & ~7u, 0x1000u);
  EXPECT_EQ(packed.bg.rsrc_spec, 0x11u);
  EXPECT_EQ(packed.eot.usc & ~7u, 0x2000u);
  EXPECT_EQ(packed.partial_bg.usc, 0u);
  EXPECT_EQ(packed.vertex_helper.binary, 0x3001u);
  EXPECT_EQ(packed.vertex_helper.data, 5u);
  EXPECT_EQ(packed.isp_scissor_base, kData);
  EXPECT_EQ(packed.depth.base, kData);
  EXPECT_EQ(packed.depth.comp_base, kOther);
  EXPECT_EQ(packed.depth.stride, 7u);
  EXPECT_EQ(packed.isp_bgobjdepth, 0x3f800000u);
  EXPECT_EQ(packed.isp_bgobjvals, 0xffu);
  EXPECT_EQ(packed.zls_ctrl, 0x123u);
  // Before it, the attachments.
  asahi::attachment attachment = {};
  std::memcpy(&attachment, done.driver_words.data() + sizeof(asahi::cmd_header),
              sizeof(attachment));
  EXPECT_EQ(attachment.pointer, kData);
  EXPECT_EQ(attachment.size, 0x4000u);
  // Its streams: the vertices' and the two programs.
  EXPECT_THAT(done.streams, SizeIs(3));
}

// A render pass that is held, and waits for a dispatch: each with what only this device knows.
TEST(AsahiDevice, QueuesHandOverRenderPassesAndDispatches) {
  Machine machine;
  const auto device = machine.Open();
  const Place stream = machine.Make(*device, kStream);
  const PlacedJob work({stream});
  const auto submitter = Submitter::Create(*device, {});
  const QueueId render = submitter->AddQueue({.engine = "render"});
  const QueueId compute = submitter->AddQueue({.engine = "compute"});
  const TimelinePoint computed = {submitter->AddTimeline(), 1};
  AsahiRender pass;
  pass.stream = kStream;
  pass.width = 1920;
  pass.height = 1080;
  const auto drawn = submitter->Submit(
      render, {.residents = work.job.residents,
               .waits = {&computed, 1},
               .submit = [&](const Job& job) { return device->SubmitRender(job, pass); }});
  ASSERT_TRUE(drawn.ok()) << drawn.status();
  EXPECT_THAT(machine.seen.works, IsEmpty());
  AsahiCompute dispatch;
  dispatch.stream = kStream + 128;
  dispatch.stream_end = kStream + 192;
  ASSERT_TRUE(
      submitter
          ->Submit(compute,
                   {.residents = work.job.residents,
                    .signals = {&computed, 1},
                    .submit = [&](const Job& job) { return device->SubmitCompute(job, dispatch); }})
          .ok());
  EXPECT_EQ(*submitter->Wait(*drawn, kLong), true);
  ASSERT_THAT(machine.seen.works, SizeIs(2));
  EXPECT_EQ(machine.seen.works[0]->engine, "compute");
  const auto [header, packed] = LastCommand<asahi::cmd_render>(*machine.seen.works[1]);
  EXPECT_EQ(packed.width_px, 1920);
  EXPECT_EQ(packed.height_px, 1080);
}

TEST(AsahiDevice, AGpuThatIsGoneIsAnErrorThatNamesTheContext) {
  Machine machine;
  Injector injector;
  auto opened = AsahiDevice::Open(machine.Connect(&injector), {});
  ASSERT_TRUE(opened.ok()) << opened.status();
  AsahiDevice& device = **opened;
  PlacedJob work({machine.Make(device, kStream)});
  work.job.context = *device.CreateContext({});
  ASSERT_EQ(*device.Wait(*device.Submit(work.job), kLong), true);
  injector.FailAfter(0, ENODEV);
  const auto fence = device.Submit(work.job);
  EXPECT_EQ(CodeOf(fence), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(fence.status().message()),
              HasSubstr("engine compute, context 1 of space 0"));
}

TEST(AsahiDevice, CommandsOfASubmissionWaitAsTheySay) {
  Machine machine;
  machine.kernel.set_executor(&machine.gate);
  const auto device = machine.Open();
  const Place stream = machine.Make(*device, kStream);
  const PlacedJob work({stream});
  AsahiRender render;
  render.stream = kStream;
  render.width = render.height = 32;
  AsahiCompute alone;
  alone.stream = kStream + 128;
  alone.stream_end = kStream + 192;
  alone.after = {.renders = std::nullopt, .computes = std::nullopt};
  AsahiCompute later = alone;
  later.after = {.renders = 1, .computes = std::nullopt};
  const AsahiCommand commands[] = {render, alone, later};
  const auto fence = device->SubmitCommands(work.job, commands);
  ASSERT_TRUE(fence.ok()) << fence.status();
  // The render pass and the first compute command have begun.
  ASSERT_THAT(machine.seen.works, SizeIs(2));
  EXPECT_EQ(machine.seen.works[1]->engine, "compute");
  EXPECT_EQ(*device->Wait(*fence, kNoTime), false);
  machine.gate.open = true;
  machine.kernel.Advance();
  EXPECT_EQ(*device->Wait(*fence, kLong), true);
  EXPECT_THAT(machine.seen.works, SizeIs(3));
}

TEST(AsahiDevice, AttachmentsHoldForOneCommandOnly) {
  Machine machine;
  const auto device = machine.Open();
  const Place stream = machine.Make(*device, kStream);
  const PlacedJob work({stream});
  const AsahiAttachment results[] = {{kData, 64}, {kOther, 128}};
  AsahiCompute with;
  with.stream = kStream;
  with.stream_end = kStream + 64;
  with.attachments = results;
  AsahiCompute without = with;
  without.attachments = {};
  const AsahiCommand commands[] = {with, without};
  ASSERT_TRUE(device->SubmitCommands(work.job, commands).ok());
  ASSERT_THAT(machine.seen.works, SizeIs(2));
  constexpr size_t kCommand = sizeof(asahi::cmd_header) + sizeof(asahi::cmd_compute);
  EXPECT_THAT(machine.seen.works[0]->driver_words,
              SizeIs(sizeof(asahi::cmd_header) + 2 * sizeof(asahi::attachment) + kCommand));
  // The list that was set for it has none.
  EXPECT_THAT(machine.seen.works[1]->driver_words, SizeIs(sizeof(asahi::cmd_header) + kCommand));
}

TEST(AsahiDevice, CommandsThatTheKernelWouldNotTakeAreRefused) {
  Machine machine;
  const auto device = machine.Open();
  const Place stream = machine.Make(*device, kStream);
  const PlacedJob work({stream});
  AsahiRender good;
  good.stream = kStream;
  good.width = good.height = 64;
  const auto code = [&](const auto& change) {
    AsahiRender render = good;
    change(render);
    return CodeOf(device->SubmitRender(work.job, render));
  };
  const std::vector<AsahiAttachment> many(17);
  EXPECT_EQ(code([](AsahiRender&) {}), absl::StatusCode::kOk);
  const size_t works = machine.seen.works.size();
  const auto bad = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(code([](AsahiRender& r) { r.width = 0; }), bad);
  EXPECT_EQ(code([](AsahiRender& r) { r.height = 16385; }), bad);
  EXPECT_EQ(code([](AsahiRender& r) { r.layers = 2049; }), bad);
  EXPECT_EQ(code([](AsahiRender& r) { r.tile_width = 16; }), bad);
  EXPECT_EQ(code([](AsahiRender& r) { r.samples = 3; }), bad);
  EXPECT_EQ(code([](AsahiRender& r) { r.bytes_per_sample = 64; }), bad);
  EXPECT_EQ(code([](AsahiRender& r) { r.load.program = 4; }), bad);
  EXPECT_EQ(code([](AsahiRender& r) { r.after.renders = 1; }), bad);
  EXPECT_EQ(code([&](AsahiRender& r) { r.vertex_attachments = many; }), bad);
  EXPECT_EQ(code([](AsahiRender& r) { r.stream = kData; }), bad);
  AsahiCompute unbound;
  unbound.stream = kData;
  const AsahiCommand commands[] = {good, unbound};
  EXPECT_EQ(CodeOf(device->SubmitCommands(work.job, commands)), bad);
  EXPECT_EQ(CodeOf(device->SubmitCommands(work.job, {})), bad);
  EXPECT_EQ(CodeOf(device->SubmitCommands(work.job, std::vector<AsahiCommand>(65, good))), bad);
  EXPECT_THAT(machine.seen.works, SizeIs(works));
}

TEST(AsahiDevice, TimesAreReadAsValues) {
  Machine machine;
  const auto device = machine.Open();
  const Place stream = machine.Make(*device, kStream);
  const PlacedJob work({stream});
  auto times = device->CreateTimestamps(5000);
  ASSERT_TRUE(times.ok()) << times.status();
  EXPECT_EQ(times->count(), 5000u);
  EXPECT_EQ(times->Read(4999), 0u);
  AsahiCompute compute;
  compute.stream = kStream;
  compute.stream_end = kStream + 64;
  compute.begins = times->At(0);
  compute.ends = times->At(4999);
  AsahiRender render;
  render.stream = kStream;
  render.width = render.height = 64;
  render.vertex_begins = times->At(1);
  render.vertex_ends = times->At(2);
  render.fragment_begins = times->At(3);
  render.fragment_ends = times->At(4);
  const auto before = device->ReadClock();
  const AsahiCommand commands[] = {compute, render};
  const auto fence = device->SubmitCommands(work.job, commands);
  ASSERT_TRUE(fence.ok()) << fence.status();
  ASSERT_EQ(*device->Wait(*fence, kLong), true);
  const auto after = device->ReadClock();
  EXPECT_LE(*before, times->Read(0));
  EXPECT_LE(times->Read(0), times->Read(4999));
  EXPECT_LE(times->Read(4999), *after);
  for (uint32_t i = 1; i < 4; ++i) EXPECT_LE(times->Read(i), times->Read(i + 1));
  EXPECT_LE(*before, times->Read(1));
  EXPECT_LE(times->Read(4), *after);
  EXPECT_EQ(times->Read(5), 0u);
  EXPECT_TRUE(times->Free().ok());
  EXPECT_EQ(CodeOf(device->CreateTimestamps(0)), absl::StatusCode::kInvalidArgument);
}

TEST(AsahiDevice, AContextHasOneBaseOfPrograms) {
  Machine machine;
  const auto device = machine.Open();
  const Place stream = machine.Make(*device, kStream);
  PlacedJob work({stream});
  const JobBase one[] = {{"programs", kStream}}, other[] = {{"programs", kOther}},
                unknown[] = {{"surfaces", 1}};
  work.job.bases = unknown;
  EXPECT_EQ(CodeOf(device->Submit(work.job)), absl::StatusCode::kInvalidArgument);
  work.job.bases = one;
  EXPECT_TRUE(device->Submit(work.job).ok());
  work.job.bases = other;
  const auto refused = device->Submit(work.job);
  EXPECT_EQ(CodeOf(refused), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.status().message()),
              AllOf(HasSubstr("0x1200000000"), HasSubstr("0x1100000000")));
  work.job.context = *device->CreateContext({});
  EXPECT_TRUE(device->Submit(work.job).ok());
  EXPECT_EQ(machine.seen.works.back()->bases[0].address, kOther);
}

TEST(AsahiDevice, ContextsAreOrderedByFences) {
  Machine machine;
  machine.kernel.set_executor(&machine.gate);
  const auto device = machine.Open();
  const Place stream = machine.Make(*device, kStream);
  PlacedJob work({stream});
  const auto low = device->CreateContext({.priority = Priority::kLow});
  ASSERT_TRUE(low.ok()) << low.status();
  const auto first = device->Submit(work.job);
  work.job.context = *low;
  const Fence after[] = {*first};
  work.job.after = after;
  const auto second = device->Submit(work.job);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_THAT(machine.seen.works, SizeIs(1));
  machine.gate.open = true;
  machine.kernel.Advance();
  EXPECT_EQ(*device->Wait(*second, kLong), true);
  ASSERT_THAT(machine.seen.works, SizeIs(2));
  EXPECT_NE(machine.seen.works[0]->context, machine.seen.works[1]->context);
  EXPECT_TRUE(device->DestroyContext(*low).ok());
  EXPECT_EQ(CodeOf(device->Submit(work.job)), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(device->DestroyContext(*low)), absl::StatusCode::kNotFound);
}

TEST(AsahiDevice, HighPrioritiesAreReserved) {
  Machine machine;
  const auto device = machine.Open();
  for (const Priority priority : {Priority::kHigh, Priority::kHighest}) {
    EXPECT_EQ(CodeOf(device->CreateContext({.priority = priority})),
              absl::StatusCode::kPermissionDenied);
  }
  EXPECT_EQ(CodeOf(device->CreateContext({.protects = true})), absl::StatusCode::kUnimplemented);
}

TEST(AsahiDevice, AHangIsReportedAndOthersGoOn) {
  for (const bool recoverable : {true, false}) {
    Machine machine;
    machine.kernel.set_hang_at({2});
    const auto device = machine.Open();
    const Place stream = machine.Make(*device, kStream);
    PlacedJob work({stream});
    const auto context = device->CreateContext({.recoverable = recoverable});
    work.job.context = *context;
    const auto good = device->Submit(work.job);
    EXPECT_EQ(*device->StateOf(0, *context), ContextState::kGood);
    const auto bad = device->Submit(work.job);
    EXPECT_EQ(*device->Wait(*good, kLong), true);
    const auto waited = device->Wait(*bad, kLong);
    EXPECT_EQ(CodeOf(waited), absl::StatusCode::kAborted);
    EXPECT_THAT(std::string(waited.status().message()), HasSubstr("job 2 (compute, context 1)"));
    EXPECT_EQ(*device->StateOf(0, *context),
              recoverable ? ContextState::kHung : ContextState::kLost);
    EXPECT_EQ(*device->StateOf(0, 0), ContextState::kGood);
    EXPECT_EQ(CodeOf(device->Submit(work.job)),
              recoverable ? absl::StatusCode::kOk : absl::StatusCode::kAborted);
    work.job.context = 0;
    const auto next = device->Submit(work.job);
    ASSERT_TRUE(next.ok()) << next.status();
    EXPECT_EQ(*device->Wait(*next, kLong), true);
  }
}

TEST(AsahiDevice, AHangThatNobodyWaitedForIsFound) {
  Machine machine;
  machine.kernel.set_hang_at({1});
  const auto device = machine.Open();
  const PlacedJob work({machine.Make(*device, kStream)});
  ASSERT_TRUE(device->Submit(work.job).ok());
  EXPECT_EQ(*device->StateOf(0, 0), ContextState::kHung);
}

TEST(AsahiDevice, MemoryAndFencesGoFromDeviceToDevice) {
  Machine machine;
  machine.kernel.set_executor(&machine.gate);
  const auto one = machine.Open(), two = machine.Open();
  const Place shared = machine.Make(*one, kData, 0, kShared);
  const Place stream = machine.Make(*one, kStream), other = machine.Make(*two, kStream);
  const auto buffer = one->Export(shared.memory);
  ASSERT_TRUE(buffer.ok()) << buffer.status();
  const auto imported = two->Import(buffer->get());
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(imported->size, kPage);
  ASSERT_TRUE(two->Bind({.address = kOther, .size = kPage, .memory = imported->memory}).ok());
  shared.bytes[9] = 99;
  EXPECT_EQ((*two->Map(imported->memory))[9], 99);
  EXPECT_EQ(CodeOf(one->Export(stream.memory)), absl::StatusCode::kFailedPrecondition);

  const auto first = one->Submit(PlacedJob({stream}).job);
  const auto file = one->ExportFence(*first);
  ASSERT_TRUE(file.ok()) << file.status();
  const auto fence = two->ImportFence(file->get());
  ASSERT_TRUE(fence.ok()) << fence.status();
  PlacedJob work({other});
  const Fence after[] = {*fence};
  work.job.after = after;
  const auto second = two->Submit(work.job);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(*two->Wait(*second, kNoTime), false);
  EXPECT_THAT(machine.seen.works, SizeIs(1));
  machine.gate.open = true;
  machine.kernel.Advance();
  EXPECT_EQ(*two->Wait(*second, kLong), true);
}

}  // namespace
}  // namespace packsmith::gpu
