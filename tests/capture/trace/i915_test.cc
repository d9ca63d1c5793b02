// The tracer on i915: what it makes of calls equals what the mock kernel says of them.
#include "runtime/capture/i915/i915.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "runtime/kernel/uapi/i915.h"
#include "tests/capture/trace/traced.h"

namespace packsmith::capture {
namespace {

namespace api = uapi::i915;

constexpr uint32_t kBatchEnd = 0x05000000;

class Machine : public TracedMachine {
 public:
  explicit Machine(absl::string_view name = "tgl") : TracedMachine(name, MakeI915) {}
};

class Client : public TracedClient {
 public:
  using TracedClient::TracedClient;

  uint32_t Create(uint64_t size) {
    api::gem_create args = {size, 0, 0};
    EXPECT_EQ(Call(api::kGemCreate, args), 0);
    return args.handle;
  }
  std::shared_ptr<SharedMemory> Map(uint32_t handle) {
    api::gem_mmap_offset args = {};
    args.handle = handle;
    args.flags = machine.info.discrete() ? api::kMmapOffsetFixed : api::kMmapOffsetWc;
    EXPECT_EQ(Call(api::kGemMmapOffset, args), 0);
    return MemoryAt(args.offset);
  }
  void Write(uint32_t handle, uint64_t offset, uint32_t value) {
    std::memcpy(Map(handle)->bytes().data() + offset, &value, sizeof(value));
  }
  static api::gem_exec_object2 Object(uint32_t handle) {
    api::gem_exec_object2 object = {};
    object.handle = handle;
    return object;
  }
  static api::gem_exec_object2 Pinned(uint32_t handle, uint64_t address) {
    api::gem_exec_object2 object = Object(handle);
    object.offset = address;
    object.flags = api::kObjectPinned | api::kObjectSupports48bAddress;
    return object;
  }
  Result Submit(std::vector<api::gem_exec_object2>& objects, uint64_t flags = api::kExecNoReloc,
                uint32_t context = 0) {
    api::gem_execbuffer2 args = {};
    args.buffers_ptr = reinterpret_cast<uint64_t>(objects.data());
    args.buffer_count = static_cast<uint32_t>(objects.size());
    args.flags = flags;
    args.rsvd1 = context;
    return Call(api::kGemExecbuffer2, args);
  }
  Result SubmitAt(uint32_t handle, uint64_t address, uint64_t flags = api::kExecNoReloc,
                  uint32_t context = 0) {
    std::vector<api::gem_exec_object2> objects = {Pinned(handle, address)};
    return Submit(objects, flags, context);
  }
};

TEST(TraceI915, SoftpinnedObjectsHaveTheirAddressesAndContent) {
  Machine machine;
  Client client(machine);
  const uint32_t data = client.Create(3 * 4096), batch = client.Create(8192);
  client.Write(data, 4096, 0x1234);
  client.Write(batch, 0, kBatchEnd);
  std::vector<api::gem_exec_object2> objects = {Client::Pinned(data, 0xffff'fffe'0000'0000),
                                                Client::Pinned(batch, 0x7000)};
  ASSERT_EQ(client.Submit(objects), 0);
  ASSERT_EQ(machine.tracer_view.works.size(), 1u);
  EXPECT_NE(machine.tracer_view.works[0].text.find("tgl 9a49"), std::string::npos);
  machine.ExpectSame();
}

TEST(TraceI915, ContentIsWhatTheProgramHadWrittenByEachSubmission) {
  Machine machine;
  Client client(machine);
  const uint32_t batch = client.Create(16384);
  for (uint32_t i = 0; i < 5; ++i) {
    client.Write(batch, 4096 * (i % 4), i);
    ASSERT_EQ(client.SubmitAt(batch, 0x10000), 0);
  }
  machine.ExpectSame();
}

TEST(TraceI915, APageThatBecomesZeroIsZeroInTheNextSubmission) {
  Machine machine;
  Client client(machine);
  const uint32_t batch = client.Create(4096);
  client.Write(batch, 8, 7);
  ASSERT_EQ(client.SubmitAt(batch, 0x10000), 0);
  client.Write(batch, 8, 0);
  ASSERT_EQ(client.SubmitAt(batch, 0x10000), 0);
  machine.ExpectSame();
}

TEST(TraceI915, ACallThatFailsChangesNothing) {
  Machine machine;
  Client client(machine);
  const uint32_t batch = client.Create(4096);
  client.Write(batch, 0, kBatchEnd);
  EXPECT_EQ(client.SubmitAt(batch, 0x10001), -EINVAL);
  EXPECT_EQ(client.SubmitAt(batch, 0x10000, api::kExecNoReloc, 77), -ENOENT);
  EXPECT_EQ(client.Close(99), -EINVAL);
  api::gem_create bad = {0, 0, 0};
  EXPECT_EQ(client.Call(api::kGemCreate, bad), -EINVAL);
  api::gem_context_destroy destroy = {55, 0};
  EXPECT_EQ(client.Call(api::kGemContextDestroy, destroy), -ENOENT);
  EXPECT_TRUE(machine.tracer_view.works.empty());
  ASSERT_EQ(client.SubmitAt(batch, 0x10000), 0);
  machine.ExpectSame();
}

TEST(TraceI915, AHandleThatIsUsedAgainIsAnotherObject) {
  Machine machine;
  Client client(machine);
  const uint32_t first = client.Create(4096);
  client.Write(first, 0, 11);
  ASSERT_EQ(client.SubmitAt(first, 0x10000), 0);
  ASSERT_EQ(client.Close(first), 0);
  const uint32_t second = client.Create(8192);
  ASSERT_EQ(second, first);
  client.Write(second, 4096, 22);
  ASSERT_EQ(client.SubmitAt(second, 0x10000), 0);
  machine.ExpectSame();
}

TEST(TraceI915, AHandleThatAnotherThreadGetsBeforeTheCloseReturnsIsItsNewObject) {
  Machine machine;
  Client client(machine);
  const uint32_t handle = client.Create(4096);
  uapi::drm::gem_close args = {handle, 0};
  ASSERT_EQ(
      client.Call(uapi::drm::kGemClose, args, [&] { EXPECT_EQ(client.Create(8192), handle); }), 0);
  client.Write(handle, 4096, 5);
  ASSERT_EQ(client.SubmitAt(handle, 0x10000), 0);
  machine.ExpectSame();
}

TEST(TraceI915, WhatTheKernelRelocatesIsInTheContent) {
  for (const char* name : {"hsw", "skl", "ilk"}) {
    Machine machine(name);
    Client client(machine);
    const uint32_t target = client.Create(4096), batch = client.Create(4096);
    client.Write(batch, 0, kBatchEnd);
    client.Write(target, 0, 1);
    api::gem_relocation_entry relocations[2] = {};
    relocations[0].target_handle = target;
    relocations[0].delta = 0x40;
    relocations[0].offset = 8;
    relocations[0].presumed_offset = ~uint64_t{0};
    relocations[0].read_domains = api::kDomainRender;
    relocations[1] = relocations[0];
    relocations[1].offset = 24;
    relocations[1].delta = static_cast<uint32_t>(-16);
    std::vector<api::gem_exec_object2> objects = {Client::Object(target), Client::Object(batch)};
    objects[1].relocs_ptr = AddressOf(relocations);
    objects[1].relocation_count = 2;
    ASSERT_EQ(client.Submit(objects, 0), 0) << name;
    ASSERT_EQ(client.Submit(objects, 0), 0) << name;  // nothing moves
    uint32_t word = 0;
    std::memcpy(&word, client.Map(batch)->bytes().data() + 8, sizeof(word));
    EXPECT_EQ(word, static_cast<uint32_t>(objects[0].offset) + 0x40) << name;
    machine.ExpectSame();
    for (auto& relocation : relocations) {
      relocation.target_handle = 0;  // a place in the list
      relocation.presumed_offset = ~uint64_t{0};
    }
    ASSERT_EQ(client.Submit(objects, api::kExecHandleLut), 0) << name;
    machine.ExpectSame();
  }
}

TEST(TraceI915, MemoryOfTheProcessIsReadAtTheSubmission) {
  Machine machine;
  Client client(machine);
  Pages pages(8192);
  pages.bytes[4097] = 9;
  api::gem_userptr args = {};
  args.user_ptr = reinterpret_cast<uint64_t>(pages.bytes);
  args.user_size = pages.size;
  args.flags = api::kUserptrReadOnly;
  ASSERT_EQ(client.Call(api::kGemUserptr, args), 0);
  const uint32_t batch = client.Create(4096);
  std::vector<api::gem_exec_object2> objects = {Client::Pinned(args.handle, 0x100000),
                                                Client::Pinned(batch, 0x7000)};
  ASSERT_EQ(client.Submit(objects), 0);
  pages.bytes[1] = 3;
  ASSERT_EQ(client.Submit(objects), 0);
  machine.ExpectSame();
}

TEST(TraceI915, WhatIsWrittenByCallsAndThroughDescriptorsIsRead) {
  Machine machine;
  Client client(machine), other(machine);
  const uint32_t written = client.Create(4096), shared = client.Create(8192);
  uint32_t value = 77;
  api::gem_pwrite pwrite = {written, 0, 16, sizeof(value), AddressOf(value)};
  ASSERT_EQ(client.Call(api::kGemPwrite, pwrite), 0);
  const int fd = client.Export(shared);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(pwrite64(fd, &value, sizeof(value), 4096), 4);
  const uint32_t imported = other.Import(fd);
  close(fd);
  ASSERT_EQ(client.SubmitAt(written, 0x10000), 0);
  ASSERT_EQ(client.SubmitAt(shared, 0x10000), 0);
  ASSERT_EQ(other.SubmitAt(imported, 0x20000), 0);
  // The same object in both files: text has its id.
  machine.ExpectSame();
}

TEST(TraceI915, AnImportedObjectOfAnUnknownOriginHasItsDescriptorsSize) {
  Machine machine;
  Client client(machine);
  // Made without the tracer.
  const auto file = machine.kernel.Open(machine.device->render_minor());
  OwnCaller caller;
  api::gem_create create = {8192, 0, 0};
  ASSERT_EQ(file->Ioctl(caller, api::kGemCreate, AddressOf(create)), 0);
  uapi::drm::prime_handle prime = {create.handle, 0, -1};
  ASSERT_EQ(file->Ioctl(caller, uapi::drm::kPrimeHandleToFd, AddressOf(prime)), 0);
  const uint32_t value = 4;
  ASSERT_EQ(pwrite64(prime.fd, &value, sizeof(value), 4096), 4);
  const uint32_t imported = client.Import(prime.fd);
  EXPECT_EQ(client.Import(prime.fd), imported);
  close(prime.fd);
  ASSERT_EQ(client.SubmitAt(imported, 0x20000), 0);
  machine.ExpectSame();
}

TEST(TraceI915, ObjectsOpenedByNameAreTheSame) {
  Machine machine;
  Client one(machine, /*render=*/false), two(machine, /*render=*/false);
  const uint32_t handle = one.Create(4096);
  one.Write(handle, 4, 6);
  uapi::drm::gem_flink flink = {handle, 0};
  ASSERT_EQ(one.Call(uapi::drm::kGemFlink, flink), 0);
  uapi::drm::gem_open open = {flink.name, 0, 0};
  ASSERT_EQ(two.Call(uapi::drm::kGemOpen, open), 0);
  ASSERT_EQ(two.SubmitAt(open.handle, 0x10000), 0);
  ASSERT_EQ(machine.tracer_view.works.size(), 1u);
  EXPECT_TRUE(machine.tracer_view.works[0].memory == machine.kernel_view.works[0].memory);
}

TEST(TraceI915, EnginesAreThoseOfTheContext) {
  Machine machine;
  Client client(machine);
  const uint32_t batch = client.Create(4096);
  struct {
    api::context_param_engines head = {};
    api::engine_class_instance names[3] = {{api::kClassCopy, 0},
                                           {api::kClassInvalid, api::kInstanceInvalidNone},
                                           {api::kClassVideo, 1}};
  } __attribute__((packed)) engines;
  struct {
    api::context_engines_load_balance head = {};
    api::engine_class_instance names[2] = {{api::kClassVideo, 0}, {api::kClassVideo, 1}};
  } __attribute__((packed)) balance;
  balance.head.base.name = api::kEnginesLoadBalance;
  balance.head.engine_index = 1;
  balance.head.num_siblings = 2;
  engines.head.extensions = AddressOf(balance);
  api::gem_context_create_ext_setparam set = {};
  set.param = {0, sizeof(engines), api::kContextEngines, AddressOf(engines)};
  api::gem_context_create_ext create = {0, api::kContextUseExtensions, AddressOf(set)};
  ASSERT_EQ(client.Call(api::kGemContextCreateExt, create), 0);
  for (const uint64_t engine : {2, 0, 1, 0}) {
    ASSERT_EQ(client.SubmitAt(batch, 0x10000, api::kExecNoReloc | engine, create.ctx_id), 0);
  }
  // Rings, with and without a choice.
  for (const uint64_t ring : {uint64_t{api::kRingRender}, uint64_t{api::kRingBlt},
                              api::kRingBsd | uint64_t{2} << api::kExecBsdShift,
                              uint64_t{api::kRingVebox}, uint64_t{api::kRingDefault}}) {
    ASSERT_EQ(client.SubmitAt(batch, 0x10000, api::kExecNoReloc | ring), 0);
  }
  // A list that is set later.
  api::gem_context_create_ext plain = {};
  ASSERT_EQ(client.Call(api::kGemContextCreateExt, plain), 0);
  engines.head.extensions = 0;
  api::gem_context_param param = {plain.ctx_id, sizeof(engines), api::kContextEngines,
                                  AddressOf(engines)};
  ASSERT_EQ(client.Call(api::kGemContextSetparam, param), 0);
  ASSERT_EQ(client.SubmitAt(batch, 0x10000, api::kExecNoReloc | 2, plain.ctx_id), 0);
  ASSERT_EQ(machine.tracer_view.works.size(), 10u);
  machine.ExpectSame();
}

TEST(TraceI915, AParallelSubmissionIsOneForEachBatch) {
  Machine machine;
  Client client(machine);
  struct {
    api::context_param_engines head = {};
    api::engine_class_instance names[1] = {{api::kClassInvalid, api::kInstanceInvalidNone}};
  } __attribute__((packed)) engines;
  struct {
    api::context_engines_parallel_submit head = {};
    api::engine_class_instance names[2] = {{api::kClassVideo, 0}, {api::kClassVideo, 1}};
  } __attribute__((packed)) parallel;
  parallel.head.base.name = api::kEnginesParallelSubmit;
  parallel.head.width = 2;
  parallel.head.num_siblings = 1;
  engines.head.extensions = AddressOf(parallel);
  api::gem_context_create_ext_setparam set = {};
  set.param = {0, sizeof(engines), api::kContextEngines, AddressOf(engines)};
  api::gem_context_create_ext create = {0, api::kContextUseExtensions, AddressOf(set)};
  ASSERT_EQ(client.Call(api::kGemContextCreateExt, create), 0);
  const uint32_t one = client.Create(4096), two = client.Create(4096);
  client.Write(one, 0, 1);
  client.Write(two, 0, 2);
  std::vector<api::gem_exec_object2> objects = {Client::Pinned(one, 0x10000),
                                                Client::Pinned(two, 0x20000)};
  ASSERT_EQ(client.Submit(objects, api::kExecNoReloc | api::kExecBatchFirst, create.ctx_id), 0);
  ASSERT_EQ(machine.tracer_view.works.size(), 2u);
  machine.ExpectSame();
}

TEST(TraceI915, DevicesWithLocalMemoryAreReadTheirWay) {
  Machine machine("dg2");
  Client client(machine);
  api::gem_create_ext create = {};
  create.size = 65536;
  ASSERT_EQ(client.Call(api::kGemCreateExt, create), 0);
  client.Write(create.handle, 4096, 3);
  ASSERT_EQ(client.SubmitAt(create.handle, 0x200000), 0);
  machine.ExpectSame();
}

TEST(TraceI915, MemoryThatCannotBeReadIsAWarning) {
  Machine machine;
  Client client(machine);
  const uint32_t batch = client.Create(4096);
  client.Write(batch, 0, 1);
  client.access.refuses = true;
  ASSERT_EQ(client.SubmitAt(batch, 0x10000), 0);
  ASSERT_EQ(machine.tracer_view.works.size(), 1u);
  EXPECT_EQ(machine.tracer_view.works[0].warnings,
            std::vector<std::string>{"GEM_EXECBUFFER2: the content of object 1 could not be read"});
}

TEST(TraceI915, WhatNobodyWantsIsCountedAndNotRead) {
  Machine machine;
  Client client(machine);
  const uint32_t batch = client.Create(4096);
  client.Write(batch, 0, 1);
  const int calls = client.access.calls;
  machine.tracer_view.wants = false;
  ASSERT_EQ(client.SubmitAt(batch, 0x10000), 0);
  EXPECT_EQ(client.access.calls, calls);
  EXPECT_TRUE(machine.tracer_view.works.empty());
  machine.tracer_view.wants = true;
  client.Write(batch, 4, 2);
  ASSERT_EQ(client.SubmitAt(batch, 0x10000), 0);
  ASSERT_EQ(machine.tracer_view.works.size(), 1u);
  EXPECT_EQ(machine.tracer_view.works[0].text, machine.kernel_view.works[1].text);
  EXPECT_TRUE(machine.tracer_view.works[0].memory == machine.kernel_view.works[1].memory);
}

TEST(TraceI915, AfterACopyOfTheFileIsClosedOthersAreTracedOn) {
  Machine machine;
  Client client(machine);
  const uint32_t batch = client.Create(4096);
  client.Write(batch, 0, 1);
  ASSERT_EQ(client.SubmitAt(batch, 0x10000), 0);
  machine.tracer.Close(client.file->number());
  client.Write(batch, 0, 2);
  ASSERT_EQ(client.SubmitAt(batch, 0x10000), 0);
  machine.ExpectSame();
}

TEST(TraceI915, CallsOfUnknownFilesAndTicketsAreIgnored) {
  Machine machine;
  Client client(machine);
  uapi::drm::gem_close args = {1, 0};
  const absl::Span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(&args), sizeof(args));
  const TracedCall call = {.request = uapi::drm::kGemClose,
                           .bytes = bytes,
                           .caller = client.caller,
                           .access = client.access};
  EXPECT_EQ(machine.tracer.Before(4711, call), 0u);
  machine.tracer.After(4711, 0, call);
  machine.tracer.After(client.file->number(), 4711, call);
  machine.tracer.Forget(4711);
  machine.tracer.Close(4711);
  // A structure that is cut off: what is missing is zero.
  machine.tracer.After(client.file->number(), 0,
                       {.request = api::kGemCreate,
                        .bytes = bytes.first(3),
                        .caller = client.caller,
                        .access = client.access});
}

}  // namespace
}  // namespace packsmith::capture
