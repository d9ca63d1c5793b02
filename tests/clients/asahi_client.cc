// Speaks to the asahi driver itself. Prints what it has found to be good.
#include <cstdint>
#include <cstring>
#include <vector>

#include "packsmith/agx_g13.h"
#include "runtime/kernel/uapi/asahi.h"
#include "runtime/kernel/uapi/drm.h"
#include "tests/clients/kernel_file.h"

namespace {

namespace asahi = packsmith::uapi::asahi;
// These records are the same in all generations.
namespace gpu = packsmith::agx_g13;

constexpr uint64_t kSecond = 1'000'000'000, kPage = asahi::kPage;
// Addresses of the GPU: the object, which has two control streams, and the kernel's part.
constexpr uint64_t kAt = 0x1000000, kCompute = kAt + 0x100, kKernel = uint64_t{1} << 38,
                   kKernelSize = uint64_t{1} << 30;

class Commands {
 public:
  template <class Payload>
  Commands& Add(uint16_t type, const Payload& payload) {
    const asahi::cmd_header header = {type, sizeof(payload), asahi::kNoBarrier, asahi::kNoBarrier};
    Append(&header, sizeof(header));
    Append(&payload, sizeof(payload));
    return *this;
  }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  void Append(const void* data, size_t size) {
    const auto* const bytes = static_cast<const uint8_t*>(data);
    bytes_.insert(bytes_.end(), bytes, bytes + size);
  }
  std::vector<uint8_t> bytes_;
};

class Client : public KernelFile {
 public:
  Client() {
    EXPECT(IsDriver("asahi"));
    asahi::vm_create vm = {kKernel, kKernel + kKernelSize, 0, 0};
    EXPECT_EQ(Call(asahi::kVmCreate, vm), 0);
    vm_ = vm.vm_id;
    asahi::queue_create queue = {};
    queue.vm_id = vm_;
    queue.priority = asahi::kPriorityMedium;
    queue.usc_exec_base = uint64_t{0x11} << 32;
    EXPECT_EQ(Call(asahi::kQueueCreate, queue), 0);
    queue_ = queue.queue_id;
  }

  uint32_t Object(uint64_t size) {
    asahi::gem_create args = {};
    args.size = size;
    args.flags = asahi::kGemWriteback;
    EXPECT_EQ(Call(asahi::kGemCreate, args), 0);
    return args.handle;
  }
  void* Memory(uint32_t object, uint64_t size) {
    asahi::gem_mmap_offset args = {object, 0, 0};
    EXPECT_EQ(Call(asahi::kGemMmapOffset, args), 0);
    return Mmap(args.offset, size);
  }
  void Bind(uint32_t object, uint64_t size, uint64_t at) {
    asahi::gem_bind_op op = {asahi::kBindRead | asahi::kBindWrite, object, 0, size, at};
    asahi::vm_bind args = {vm_, 1, sizeof(op), 0, AddressOf(op)};
    EXPECT_EQ(Call(asahi::kVmBind, args), 0);
  }
  uint32_t Timestamps(uint32_t object, uint64_t size) {
    asahi::gem_bind_object args = {};
    args.op = asahi::kObjectBind;
    args.flags = asahi::kObjectTimestamps;
    args.handle = object;
    args.range = size;
    EXPECT_EQ(Call(asahi::kGemBindObject, args), 0);
    return args.object_handle;
  }
  uint64_t Time() {
    asahi::get_time args = {};
    EXPECT_EQ(Call(asahi::kGetTime, args), 0);
    return args.gpu_timestamp;
  }
  int Submit(const Commands& commands, std::vector<asahi::sync> waits,
             const std::vector<asahi::sync>& signals) {
    asahi::submit args = {};
    args.in_sync_count = static_cast<uint32_t>(waits.size());
    args.out_sync_count = static_cast<uint32_t>(signals.size());
    waits.insert(waits.end(), signals.begin(), signals.end());
    args.syncs = waits.empty() ? 0 : AddressOf(waits[0]);
    args.cmdbuf = AddressOf(commands.bytes()[0]);
    args.cmdbuf_size = static_cast<uint32_t>(commands.bytes().size());
    args.queue_id = queue_;
    return Call(asahi::kSubmit, args);
  }

 private:
  uint32_t vm_ = 0, queue_ = 0;
};

void Parameters(Client& client) {
  asahi::params_global params = {};
  asahi::get_params args = {};
  args.pointer = AddressOf(params);
  args.size = sizeof(params);
  EXPECT_EQ(client.Call(asahi::kGetParams, args), 0);
  EXPECT(params.gpu_generation >= 13 && params.num_clusters_total > 0);
  EXPECT(params.vm_start <= kAt && params.vm_end >= kKernel + kKernelSize);
  EXPECT(params.max_commands_per_submission > 1 && params.command_timestamp_frequency_hz > 0);
  printf("generation %u, variant %c\n", params.gpu_generation,
         static_cast<char>(params.gpu_variant));
  Good("parameters");
}

// One submission of both kinds: the times of each stage are in memory when it signals.
void Times(Client& client, uint32_t times, const volatile uint64_t* values) {
  asahi::cmd_render render = {};
  render.vdm_ctrl_stream_base = kAt;
  render.width_px = render.height_px = 64;
  render.layers = 1;
  render.utile_width_px = render.utile_height_px = 32;
  render.samples = 1;
  render.sample_size_B = 8;
  render.ts_vtx = {{times, 64}, {times, 72}};
  render.ts_frag = {{times, 80}, {times, 88}};
  asahi::cmd_compute compute = {};
  compute.cdm_ctrl_stream_base = kCompute;
  compute.cdm_ctrl_stream_end = kCompute + 64;
  compute.ts = {{times, 96}, {times, 104}};
  const asahi::attachment target = {kAt + kPage, kPage, 0, 0};
  const uint32_t done = client.Syncobj();
  const uint64_t before = client.Time();
  EXPECT_EQ(client.Submit(Commands()
                              .Add(asahi::kCmdFragmentAttachments, target)
                              .Add(asahi::kCmdRender, render)
                              .Add(asahi::kCmdCompute, compute),
                          {}, {{asahi::kSyncSyncobj, done, 0}}),
            0);
  EXPECT_EQ(client.Wait(done, 20 * kSecond), 0);
  const uint64_t after = client.Time();
  for (int i = 8; i < 14; i += 2) {
    EXPECT(before <= values[i] && values[i] <= values[i + 1] && values[i + 1] <= after);
  }
  EXPECT_EQ(values[7], 0);
  EXPECT_EQ(values[14], 0);
  Good("times");
}

// What is submitted waits for the CPU, and signals a point of the same timeline.
void Timelines(Client& client) {
  const uint32_t timeline = client.Syncobj();
  asahi::cmd_compute compute = {};
  compute.cdm_ctrl_stream_base = kCompute;
  compute.cdm_ctrl_stream_end = kCompute + 64;
  const Commands commands = Commands().Add(asahi::kCmdCompute, compute);
  client.Signal(timeline, 1);
  EXPECT_EQ(client.Submit(commands, {{asahi::kSyncTimeline, timeline, 1}},
                          {{asahi::kSyncTimeline, timeline, 2}}),
            0);
  EXPECT_EQ(client.Wait(timeline, 20 * kSecond, 2), 0);
  Good("timeline");
}

}  // namespace

int main() {
  Client client;
  Parameters(client);
  const uint32_t object = client.Object(4 * kPage), times = client.Object(kPage);
  client.Bind(object, 4 * kPage, kAt);
  auto* const bytes = static_cast<uint8_t*>(client.Memory(object, 4 * kPage));
  const auto draws = packsmith::packed(gpu::VDM_Stream_Terminate{});
  const auto dispatches = packsmith::packed(gpu::CDM_Stream_Terminate{});
  memcpy(bytes, draws.bytes, draws.size);
  memcpy(bytes + (kCompute - kAt), dispatches.bytes, dispatches.size);
  const auto* const values = static_cast<const volatile uint64_t*>(client.Memory(times, kPage));
  Times(client, client.Timestamps(times, kPage), values);
  Timelines(client);
  return 0;
}
