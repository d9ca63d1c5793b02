// Speaks to the xe driver itself: xe_client PAT, the index of page attributes with which the
// process' own memory may be bound. Prints what it has found to be good.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "packsmith/gfx12.h"
#include "packsmith/xe2.h"
#include "runtime/kernel/uapi/drm.h"
#include "runtime/kernel/uapi/xe.h"
#include "tests/clients/kernel_file.h"

namespace {

namespace drm = packsmith::uapi::drm;
namespace xe = packsmith::uapi::xe;
// These packets are the same from Gfx12 on, but for MI_SEMAPHORE_WAIT.
namespace gpu = packsmith::gfx12;

constexpr uint64_t kSecond = 1'000'000'000, kSize = 0x10000;
// Addresses of the GPU: of the object, whose first half has batches, and of the process' memory.
constexpr uint64_t kAt = 0x1000000, kUserAt = 0x8000000;

using Syncs = std::vector<xe::sync>;

xe::sync Sync(uint32_t syncobj, bool signal, uint64_t point = 0) {
  xe::sync sync = {};
  sync.type = point == 0 ? xe::kSyncSyncobj : xe::kSyncTimeline;
  sync.flags = signal ? xe::kSyncSignal : 0;
  sync.handle_or_address = syncobj;
  sync.timeline_value = point;
  return sync;
}
xe::sync UserFence(uint64_t address, uint64_t value) {
  xe::sync sync = {};
  sync.type = xe::kSyncUserFence;
  sync.flags = xe::kSyncSignal;
  sync.handle_or_address = address;
  sync.timeline_value = value;
  return sync;
}

class Client : public KernelFile {
 public:
  Client() {
    EXPECT(IsDriver("xe"));
    xe::vm_create vm = {};
    EXPECT_EQ(Call(xe::kVmCreate, vm), 0);
    vm_ = vm.vm_id;
    xe::gem_create object = {};
    object.size = kSize;
    object.placement = 1;  // the system's memory
    object.cpu_caching = xe::kCachingWc;
    EXPECT_EQ(Call(xe::kGemCreate, object), 0);
    object_ = object.handle;
    xe::gem_mmap_offset offset = {};
    offset.handle = object_;
    EXPECT_EQ(Call(xe::kGemMmapOffset, offset), 0);
    words_ = static_cast<volatile uint32_t*>(Mmap(offset.offset, kSize));
  }

  uint32_t Bind(std::vector<xe::vm_bind_op> ops, Syncs syncs) {
    xe::vm_bind args = {};
    args.vm_id = vm_;
    args.num_binds = static_cast<uint32_t>(ops.size());
    if (ops.size() == 1) {
      args.bind = ops[0];
    } else {
      args.vector_of_binds = AddressOf(ops[0]);
    }
    args.num_syncs = static_cast<uint32_t>(syncs.size());
    if (!syncs.empty()) args.syncs = AddressOf(syncs[0]);
    return static_cast<uint32_t>(Call(xe::kVmBind, args));
  }
  xe::vm_bind_op Map(uint64_t at, uint64_t offset, uint64_t range) const {
    xe::vm_bind_op op = {};
    op.obj = object_;
    op.obj_offset = offset;
    op.range = range;
    op.addr = at;
    op.op = xe::kMap;
    return op;
  }

  uint32_t Queue(const xe::engine_class_instance& engine) {
    xe::exec_queue_create args = {};
    args.width = 1;
    args.num_placements = 1;
    args.vm_id = vm_;
    args.instances = AddressOf(engine);
    EXPECT_EQ(Call(xe::kExecQueueCreate, args), 0);
    return args.exec_queue_id;
  }
  int Exec(uint32_t queue, uint64_t address, Syncs syncs) {
    xe::exec args = {};
    args.exec_queue_id = queue;
    args.address = address;
    args.num_batch_buffer = 1;
    args.num_syncs = static_cast<uint32_t>(syncs.size());
    if (!syncs.empty()) args.syncs = AddressOf(syncs[0]);
    return Call(xe::kExec, args);
  }
  // Waits until the qword at an address of the process is `value`.
  int WaitUser(uint64_t address, uint64_t value, uint32_t queue) {
    xe::wait_user_fence args = {};
    args.addr = address;
    args.op = xe::kEq;
    args.value = value;
    args.mask = ~uint64_t{0};
    args.timeout = 20 * kSecond;
    args.exec_queue_id = queue;
    return Call(xe::kWaitUserFence, args);
  }

  std::vector<xe::engine> Engines() { return List<xe::engine>(xe::kQueryEngines); }
  std::vector<xe::gt> Gts() { return List<xe::gt>(xe::kQueryGtList); }

  // The object's memory.
  volatile uint32_t& Word(uint64_t offset) { return words_[offset / 4]; }
  uint64_t WordAddress(uint64_t offset) { return reinterpret_cast<uint64_t>(&words_[offset / 4]); }

 private:
  template <class Item>
  std::vector<Item> List(uint32_t query) {
    xe::device_query args = {};
    args.query = query;
    EXPECT_EQ(Call(xe::kDeviceQuery, args), 0);
    std::vector<uint8_t> bytes(args.size);
    args.data = AddressOf(bytes[0]);
    EXPECT_EQ(Call(xe::kDeviceQuery, args), 0);
    xe::query_count count = {};
    memcpy(&count, bytes.data(), sizeof(count));
    EXPECT(count.count > 0 && sizeof(count) + count.count * sizeof(Item) <= bytes.size());
    std::vector<Item> items(count.count);
    memcpy(items.data(), bytes.data() + sizeof(count), count.count * sizeof(Item));
    return items;
  }

  uint32_t vm_ = 0, object_ = 0;
  volatile uint32_t* words_ = nullptr;
};

// A batch in the object's first half.
class Batch {
 public:
  Batch(Client& client, uint64_t offset) : client_(client), begin_(offset), at_(offset) {}
  template <class Packet>
  Batch& Add(const Packet& packet) {
    const auto words = packsmith::packed(packet);
    for (unsigned i = 0; i < words.length; ++i, at_ += 4) client_.Word(at_) = words.dw[i];
    return *this;
  }
  Batch& Store(uint64_t address, uint32_t value) {
    return Add(gpu::MI_STORE_DATA_IMM{.address = address, .immediate_data = value});
  }
  // Ends it.
  uint64_t Address() {
    Add(gpu::MI_BATCH_BUFFER_END{});
    return kAt + begin_;
  }

 private:
  Client& client_;
  const uint64_t begin_;
  uint64_t at_;
};

constexpr uint64_t kResult = 0x8000;

void Stores(Client& client, const std::vector<xe::engine>& engines) {
  uint32_t number = 0;
  for (const xe::engine& engine : engines) {
    const uint32_t queue = client.Queue(engine.instance), done = client.Syncobj();
    const uint64_t result = kResult + 64 * number;
    const uint32_t value = 0xabc00000 + number++;
    Batch batch(client, 0x100);
    batch.Store(kAt + result, value);
    EXPECT_EQ(client.Exec(queue, batch.Address(), {Sync(done, true)}), 0);
    EXPECT_EQ(client.Wait(done, 20 * kSecond), 0);
    EXPECT_EQ(client.Word(result), value);
    EXPECT_EQ(client.Word(result + 4), 0);
  }
  printf("engines: %u\n", number);
  Good("stores");
}

void UserFences(Client& client, uint32_t queue) {
  const uint64_t fence = kResult + 0x1000;
  Batch batch(client, 0x200);
  batch.Store(kAt + fence + 64, 77);
  EXPECT_EQ(client.Exec(queue, batch.Address(), {UserFence(kAt + fence, 0x123456789a)}), 0);
  EXPECT_EQ(client.WaitUser(client.WordAddress(fence), 0x123456789a, queue), 0);
  EXPECT_EQ(client.Word(fence + 64), 77);
  Good("user fence");
}

// The later work is submitted first; both wait for the CPU.
void Timelines(Client& client, uint32_t first, uint32_t second) {
  const uint32_t timeline = client.Syncobj();
  const uint64_t result = kResult + 0x1100;
  Batch copies(client, 0x300), stores(client, 0x400);
  copies.Add(gpu::MI_COPY_MEM_MEM{.destination_memory_address = kAt + result + 4,
                                  .source_memory_address = kAt + result});
  stores.Store(kAt + result, 0x5555);
  const uint64_t copy = copies.Address(), store = stores.Address();
  // Points exist from when something is to signal them.
  EXPECT_EQ(client.Exec(second, copy, {Sync(timeline, false, 1), Sync(timeline, true, 2)}),
            static_cast<uint64_t>(EINVAL));
  client.Signal(timeline, 1);
  EXPECT_EQ(client.Exec(first, store, {Sync(timeline, false, 1), Sync(timeline, true, 2)}), 0);
  EXPECT_EQ(client.Exec(second, copy, {Sync(timeline, false, 2), Sync(timeline, true, 3)}), 0);
  EXPECT_EQ(client.Wait(timeline, 20 * kSecond, 3), 0);
  EXPECT_EQ(client.Word(result), 0x5555);
  EXPECT_EQ(client.Word(result + 4), 0x5555);
  Good("timeline");
}

template <class Packet>
Packet Wait(uint64_t address, uint32_t value) {
  return {.compare_operation = Packet::COMPARE_OPERATION_SAD_EQUAL_SDD,
          .wait_mode = Packet::WAIT_MODE_POLLING_MODE,
          .semaphore_data_dword = value,
          .semaphore_address = address};
}

// The GPU waits in one batch for what it stores in another one.
void Semaphores(Client& client, uint32_t first, uint32_t second) {
  const uint64_t semaphore = kResult + 0x1200;
  const uint32_t done = client.Syncobj(), stored = client.Syncobj();
  Batch waits(client, 0x500), stores(client, 0x600);
  if (client.Gts()[0].ip_ver_major >= 20) {
    waits.Add(Wait<packsmith::xe2::MI_SEMAPHORE_WAIT>(kAt + semaphore, 9));
  } else {
    waits.Add(Wait<gpu::MI_SEMAPHORE_WAIT>(kAt + semaphore, 9));
  }
  waits.Store(kAt + semaphore + 8, 10);
  stores.Store(kAt + semaphore, 9);
  EXPECT_EQ(client.Exec(first, waits.Address(), {Sync(done, true)}), 0);
  EXPECT_EQ(client.Wait(done, kSecond / 100), static_cast<uint64_t>(ETIME));
  EXPECT_EQ(client.Word(semaphore + 8), 0);
  EXPECT_EQ(client.Exec(second, stores.Address(), {Sync(stored, true)}), 0);
  EXPECT_EQ(client.Wait(done, 20 * kSecond), 0);
  EXPECT_EQ(client.Word(semaphore + 8), 10);
  Good("semaphore");
}

void Times(Client& client, const xe::engine_class_instance& engine, uint32_t queue) {
  const uint64_t result = kResult + 0x1300;
  const auto cycles = [&] {
    xe::engine_cycles value = {};
    value.eci = engine;
    value.clockid = CLOCK_MONOTONIC;
    xe::device_query args = {};
    args.query = xe::kQueryEngineCycles;
    args.size = sizeof(value);
    args.data = AddressOf(value);
    EXPECT_EQ(client.Call(xe::kDeviceQuery, args), 0);
    return value;
  };
  const uint64_t before = cycles().engine_cycles;
  const uint32_t done = client.Syncobj();
  Batch batch(client, 0x700);
  for (uint32_t half = 0; half < 8; half += 4) {
    batch.Add(gpu::MI_STORE_REGISTER_MEM{.register_address = gpu::TIMESTAMP::register_offset + half,
                                         .memory_address = kAt + result + half});
  }
  EXPECT_EQ(client.Exec(queue, batch.Address(), {Sync(done, true)}), 0);
  EXPECT_EQ(client.Wait(done, 20 * kSecond), 0);
  const xe::engine_cycles after = cycles();
  const uint64_t time = client.Word(result) | uint64_t{client.Word(result + 4)} << 32;
  const uint64_t counted = time & (~uint64_t{0} >> (64 - after.width));
  EXPECT(before <= counted && counted <= after.engine_cycles);
  Good("times");
}

// The process' own memory, bound together with a second view of the object, and unbound again.
void Binds(Client& client, uint32_t queue, uint16_t pat) {
  void* const own =
      mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT(own != MAP_FAILED);
  auto* const words = static_cast<volatile uint32_t*>(own);
  xe::vm_bind_op user = {};
  user.obj_offset = reinterpret_cast<uint64_t>(own);
  user.range = kSize;
  user.addr = kUserAt;
  user.op = xe::kMapUserptr;
  user.pat_index = pat;
  const uint32_t bound = client.Syncobj(), done = client.Syncobj();
  EXPECT_EQ(client.Bind({user, client.Map(kUserAt + kSize, 0, kSize)}, {Sync(bound, true)}), 0);
  Batch batch(client, 0x800);
  batch.Store(kUserAt + 0x40, 0x600d);
  batch.Store(kUserAt + kSize + kResult + 0x1400, 0x600e);
  EXPECT_EQ(client.Exec(queue, batch.Address(), {Sync(bound, false), Sync(done, true)}), 0);
  EXPECT_EQ(client.Wait(done, 20 * kSecond), 0);
  EXPECT_EQ(words[16], 0x600d);
  EXPECT_EQ(client.Word(kResult + 0x1400), 0x600e);
  xe::vm_bind_op unmap = {};
  unmap.range = 2 * kSize;
  unmap.addr = kUserAt;
  unmap.op = xe::kUnmap;
  EXPECT_EQ(client.Bind({unmap}, {}), 0);
  Good("binds");
}

// A store to what is not bound is a fault: the queue is banned, others go on.
void Faults(Client& client, const xe::engine_class_instance& engine) {
  const uint32_t bad = client.Queue(engine), good = client.Queue(engine);
  const uint32_t failed = client.Syncobj(), done = client.Syncobj();
  Batch faults(client, 0x900), stores(client, 0xa00);
  faults.Store(kUserAt + 0x40, 1);
  stores.Store(kAt + kResult + 0x1500, 2);
  EXPECT_EQ(client.Exec(bad, faults.Address(), {Sync(failed, true)}), 0);
  EXPECT_EQ(client.Wait(failed, 20 * kSecond), 0);
  xe::exec_queue_get_property ban = {};
  ban.exec_queue_id = bad;
  ban.property = xe::kPropertyBan;
  EXPECT_EQ(client.Call(xe::kExecQueueGetProperty, ban), 0);
  EXPECT_EQ(ban.value, 1);
  EXPECT_EQ(client.Exec(bad, kAt + 0xa00, {}), static_cast<uint64_t>(ECANCELED));
  EXPECT_EQ(client.Exec(good, stores.Address(), {Sync(done, true)}), 0);
  EXPECT_EQ(client.Wait(done, 20 * kSecond), 0);
  EXPECT_EQ(client.Word(kResult + 0x1500), 2);
  Good("fault");
}

}  // namespace

int main(int argc, char** argv) {
  EXPECT(argc == 2);
  Client client;
  const uint32_t bound = client.Syncobj();
  EXPECT_EQ(client.Bind({client.Map(kAt, 0, kSize)}, {Sync(bound, true)}), 0);
  EXPECT_EQ(client.Wait(bound, 20 * kSecond), 0);
  const std::vector<xe::engine> engines = client.Engines();
  EXPECT_EQ(engines[0].instance.engine_class, xe::kRender);
  const xe::engine_class_instance& render = engines[0].instance;
  const uint32_t first = client.Queue(render), second = client.Queue(render);
  Stores(client, engines);
  UserFences(client, first);
  Timelines(client, first, second);
  Semaphores(client, first, second);
  Times(client, render, first);
  Binds(client, first, static_cast<uint16_t>(atoi(argv[1])));
  Faults(client, render);
  return 0;
}
