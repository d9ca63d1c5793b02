// The tracer on asahi: what it makes of calls equals what the mock kernel says of them.
#include "runtime/kernel/uapi/asahi.h"

#include <gtest/gtest.h>

#include "runtime/capture/asahi/asahi.h"
#include "tests/capture/trace/traced.h"

namespace packsmith::capture {
namespace {

namespace asahi = uapi::asahi;

constexpr uint64_t kPage = asahi::kPage;
constexpr uint32_t kReadWrite = asahi::kBindRead | asahi::kBindWrite;

class Machine : public TracedMachine {
 public:
  Machine() : TracedMachine("g13g", MakeAsahi) {}
};

class Client : public TracedClient {
 public:
  using TracedClient::TracedClient;

  uint32_t Vm() {
    constexpr uint64_t kStart = uint64_t{1} << 38;
    asahi::vm_create args = {kStart, kStart + (uint64_t{1} << 30), 0, 0};
    EXPECT_EQ(Call(asahi::kVmCreate, args), 0);
    return args.vm_id;
  }
  uint32_t Create(uint64_t size) {
    asahi::gem_create args = {};
    args.size = size;
    EXPECT_EQ(Call(asahi::kGemCreate, args), 0);
    return args.handle;
  }
  void Write(uint32_t handle, uint64_t offset, uint32_t value) {
    asahi::gem_mmap_offset args = {handle, 0, 0};
    EXPECT_EQ(Call(asahi::kGemMmapOffset, args), 0);
    std::memcpy(MemoryAt(args.offset)->bytes().data() + offset, &value, sizeof(value));
  }
  uint32_t Queue(uint32_t vm, uint64_t usc_exec_base) {
    asahi::queue_create args = {};
    args.vm_id = vm;
    args.priority = asahi::kPriorityMedium;
    args.usc_exec_base = usc_exec_base;
    EXPECT_EQ(Call(asahi::kQueueCreate, args), 0);
    return args.queue_id;
  }
  Result Bind(uint32_t vm, const std::vector<asahi::gem_bind_op>& ops) {
    asahi::vm_bind args = {vm, static_cast<uint32_t>(ops.size()), sizeof(ops[0]), 0,
                           AddressOf(ops[0])};
    return Call(asahi::kVmBind, args);
  }
  Result Submit(uint32_t queue, const std::vector<uint8_t>& commands) {
    asahi::submit args = {};
    args.cmdbuf = AddressOf(commands[0]);
    args.queue_id = queue;
    args.cmdbuf_size = static_cast<uint32_t>(commands.size());
    return Call(asahi::kSubmit, args);
  }
};

template <typename T>
void Append(std::vector<uint8_t>& commands, asahi::Command type, const T& payload) {
  const asahi::cmd_header header = {type, sizeof(payload), asahi::kNoBarrier, asahi::kNoBarrier};
  const auto* const head = reinterpret_cast<const uint8_t*>(&header);
  const auto* const body = reinterpret_cast<const uint8_t*>(&payload);
  commands.insert(commands.end(), head, head + sizeof(header));
  commands.insert(commands.end(), body, body + sizeof(payload));
}

std::vector<uint8_t> RenderAndCompute(uint64_t stream) {
  asahi::cmd_render render = {};
  render.vdm_ctrl_stream_base = stream;
  render.width_px = render.height_px = 64;
  render.layers = 1;
  render.utile_width_px = render.utile_height_px = 32;
  render.samples = 1;
  render.sample_size_B = 8;
  render.eot.usc = 0x4000;
  asahi::cmd_compute compute = {};
  compute.cdm_ctrl_stream_base = stream + 1024;
  compute.cdm_ctrl_stream_end = stream + 1088;
  std::vector<uint8_t> commands;
  Append(commands, asahi::kCmdRender, render);
  Append(commands, asahi::kCmdCompute, compute);
  return commands;
}

TEST(TraceAsahi, EachCommandIsASubmissionWithWhatIsBound) {
  Machine machine;
  Client client(machine);
  const uint32_t vm = client.Vm(), queue = client.Queue(vm, 0x100000);
  const uint32_t streams = client.Create(2 * kPage - 1), repeated = client.Create(kPage);
  ASSERT_EQ(client.Bind(vm, {{kReadWrite, streams, 0, 2 * kPage, 0x40000},
                             {asahi::kBindRead | asahi::kBindSinglePage, repeated, 0, 8 * kPage,
                              0x800000}}),
            0);
  client.Write(streams, 4, 1);
  client.Write(repeated, 8, 2);
  ASSERT_EQ(client.Submit(queue, RenderAndCompute(0x40000)), 0);
  ASSERT_EQ(client.Bind(vm, {{asahi::kBindUnbind, 0, 0, kPage, 0x44000}}), 0);
  client.Write(streams, 4, 3);
  ASSERT_EQ(client.Submit(queue, RenderAndCompute(0x40000)), 0);
  ASSERT_EQ(machine.tracer_view.works.size(), 4u);
  machine.ExpectSame();
}

TEST(TraceAsahi, ACallThatFailsChangesNothing) {
  Machine machine;
  Client client(machine);
  const uint32_t vm = client.Vm(), queue = client.Queue(vm, 0), object = client.Create(kPage);
  ASSERT_EQ(client.Bind(vm, {{kReadWrite, object, 0, kPage, 0x40000}}), 0);
  EXPECT_EQ(client.Bind(vm, {{kReadWrite, object, 0, kPage, 0x40001}}), -EINVAL);
  EXPECT_EQ(client.Submit(queue, std::vector<uint8_t>(7)), -EINVAL);
  EXPECT_EQ(client.Submit(99, RenderAndCompute(0x40000)), -ENOENT);
  EXPECT_TRUE(machine.tracer_view.works.empty());
  ASSERT_EQ(client.Submit(queue, RenderAndCompute(0x40000)), 0);
  machine.ExpectSame();
}

TEST(TraceAsahi, AnObjectWhoseHandleIsClosedIsNotBoundAnyMore) {
  Machine machine;
  Client client(machine);
  const uint32_t vm = client.Vm(), queue = client.Queue(vm, 0);
  const uint32_t one = client.Create(kPage), two = client.Create(kPage);
  ASSERT_EQ(
      client.Bind(vm, {{kReadWrite, one, 0, kPage, 0x40000}, {kReadWrite, two, 0, kPage, 0x80000}}),
      0);
  ASSERT_EQ(client.Close(two), 0);
  ASSERT_EQ(client.Submit(queue, RenderAndCompute(0x40000)), 0);
  machine.ExpectSame();
}

}  // namespace
}  // namespace packsmith::capture
