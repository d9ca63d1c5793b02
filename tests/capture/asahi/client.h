// A program that uses a mock of the asahi driver, in this process.
#ifndef PACKSMITH_TESTS_CAPTURE_ASAHI_CLIENT_H_
#define PACKSMITH_TESTS_CAPTURE_ASAHI_CLIENT_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "runtime/capture/asahi/asahi.h"
#include "runtime/kernel/uapi/asahi.h"
#include "runtime/kernel/uapi/drm.h"
#include "tests/capture/program.h"

namespace packsmith::capture {

struct Machine : MachineWith<&MakeAsahi> {
  explicit Machine(absl::string_view name = "g13g") : MachineWith(name) {}
};

// A command buffer.
class Commands {
 public:
  Commands& Add(uint16_t type, const void* payload, size_t size,
                uint16_t vdm_barrier = uapi::asahi::kNoBarrier,
                uint16_t cdm_barrier = uapi::asahi::kNoBarrier) {
    const uapi::asahi::cmd_header header = {type, static_cast<uint16_t>(size), vdm_barrier,
                                            cdm_barrier};
    const auto* const head = reinterpret_cast<const uint8_t*>(&header);
    const auto* const body = static_cast<const uint8_t*>(payload);
    bytes_.insert(bytes_.end(), head, head + sizeof(header));
    bytes_.insert(bytes_.end(), body, body + size);
    return *this;
  }
  Commands& Render(const uapi::asahi::cmd_render& render,
                   uint16_t vdm_barrier = uapi::asahi::kNoBarrier,
                   uint16_t cdm_barrier = uapi::asahi::kNoBarrier) {
    return Add(uapi::asahi::kCmdRender, &render, sizeof(render), vdm_barrier, cdm_barrier);
  }
  Commands& Compute(const uapi::asahi::cmd_compute& compute,
                    uint16_t vdm_barrier = uapi::asahi::kNoBarrier,
                    uint16_t cdm_barrier = uapi::asahi::kNoBarrier) {
    return Add(uapi::asahi::kCmdCompute, &compute, sizeof(compute), vdm_barrier, cdm_barrier);
  }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

// Commands that every check accepts.
inline uapi::asahi::cmd_render GoodRender(uint64_t stream) {
  uapi::asahi::cmd_render render = {};
  render.vdm_ctrl_stream_base = stream;
  render.width_px = render.height_px = 64;
  render.layers = 1;
  render.utile_width_px = render.utile_height_px = 32;
  render.samples = 1;
  render.sample_size_B = 8;
  return render;
}
inline uapi::asahi::cmd_compute GoodCompute(uint64_t stream) {
  uapi::asahi::cmd_compute compute = {};
  compute.cdm_ctrl_stream_base = stream;
  compute.cdm_ctrl_stream_end = stream + 64;
  return compute;
}

// An open file. Methods that return handles expect the call to succeed.
struct Client : Program {
  // The kernel's part of address spaces that Vm() makes.
  static constexpr uint64_t kKernelStart = uint64_t{1} << 38,
                            kKernelEnd = kKernelStart + (uint64_t{1} << 30);

  explicit Client(Machine& machine) : Program(machine.kernel, machine.device) {}

  uint32_t Vm() {
    uapi::asahi::vm_create args = {kKernelStart, kKernelEnd, 0, 0};
    EXPECT_EQ(Call(uapi::asahi::kVmCreate, args), 0);
    return args.vm_id;
  }
  uint32_t Object(uint64_t size, uint32_t vm = 0) {
    uapi::asahi::gem_create args = {};
    args.size = size;
    args.vm_id = vm;
    args.flags = vm == 0 ? 0 : uapi::asahi::kGemVmPrivate;
    EXPECT_EQ(Call(uapi::asahi::kGemCreate, args), 0);
    return args.handle;
  }
  std::shared_ptr<SharedMemory> Memory(uint32_t handle) {
    uapi::asahi::gem_mmap_offset args = {handle, 0, 0};
    EXPECT_EQ(Call(uapi::asahi::kGemMmapOffset, args), 0);
    File::Mapped mapped;
    EXPECT_EQ(file->Mmap(caller, args.offset, 4096, mapped), 0);
    return mapped.memory;
  }
  uint32_t Queue(uint32_t vm, uint64_t usc_exec_base = 0) {
    uapi::asahi::queue_create args = {};
    args.vm_id = vm;
    args.priority = uapi::asahi::kPriorityMedium;
    args.usc_exec_base = usc_exec_base;
    EXPECT_EQ(Call(uapi::asahi::kQueueCreate, args), 0);
    return args.queue_id;
  }
  uint32_t Timestamps(uint32_t object, uint64_t offset, uint64_t range) {
    uapi::asahi::gem_bind_object args = {};
    args.op = uapi::asahi::kObjectBind;
    args.flags = uapi::asahi::kObjectTimestamps;
    args.handle = object;
    args.offset = offset;
    args.range = range;
    EXPECT_EQ(Call(uapi::asahi::kGemBindObject, args), 0);
    return args.object_handle;
  }

  Result Bind(uint32_t vm, const std::vector<uapi::asahi::gem_bind_op>& ops) {
    uapi::asahi::vm_bind args = {vm, static_cast<uint32_t>(ops.size()),
                                 sizeof(uapi::asahi::gem_bind_op), 0, AddressOf(ops[0])};
    return Call(uapi::asahi::kVmBind, args);
  }
  using Syncs = std::vector<uapi::asahi::sync>;
  Result Submit(uint32_t queue, const Commands& commands, Syncs in = {}, const Syncs& out = {}) {
    const auto waits = static_cast<uint32_t>(in.size());
    in.insert(in.end(), out.begin(), out.end());
    uapi::asahi::submit args = {};
    args.syncs = in.empty() ? 0 : AddressOf(in[0]);
    args.cmdbuf = commands.bytes().empty() ? 0 : AddressOf(commands.bytes()[0]);
    args.queue_id = queue;
    args.in_sync_count = waits;
    args.out_sync_count = static_cast<uint32_t>(out.size());
    args.cmdbuf_size = static_cast<uint32_t>(commands.bytes().size());
    return Call(uapi::asahi::kSubmit, args);
  }
};

inline constexpr uint32_t kReadWrite = uapi::asahi::kBindRead | uapi::asahi::kBindWrite;

inline uapi::asahi::gem_bind_op Map(uint32_t object, uint64_t address, uint64_t size,
                                    uint64_t offset = 0, uint32_t flags = kReadWrite) {
  return {flags, object, offset, size, address};
}
inline uapi::asahi::gem_bind_op Unmap(uint64_t address, uint64_t size) {
  return {uapi::asahi::kBindUnbind, 0, 0, size, address};
}
// Of a binary object, or of a point of a timeline.
inline uapi::asahi::sync Sync(uint32_t syncobj, uint64_t point = 0) {
  return {point == 0 ? uapi::asahi::kSyncSyncobj : uapi::asahi::kSyncTimeline, syncobj, point};
}

}  // namespace packsmith::capture

#endif  // PACKSMITH_TESTS_CAPTURE_ASAHI_CLIENT_H_
