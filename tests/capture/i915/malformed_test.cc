// Calls that the kernel refuses, each with its errno.
#include <sys/mman.h>

#include <cerrno>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/capture/i915/client.h"

namespace packsmith::capture {
namespace {

namespace api = uapi::i915;
namespace drm = uapi::drm;

struct Case {
  const char* what;
  const char* device;
  int result;
  std::function<int(Client&)> call;
};
std::ostream& operator<<(std::ostream& out, const Case& one) {
  return out << one.device << ": " << one.what;
}

class MalformedTest : public testing::TestWithParam<Case> {};

TEST_P(MalformedTest, IsRefused) {
  Machine machine(GetParam().device);
  Client client(machine);
  EXPECT_EQ(GetParam().call(client), GetParam().result);
}

// A call with a structure of some size at an address where nothing is.
int AtBadAddress(Client& client, uint32_t request) {
  return client.file->Ioctl(client.caller, request, 8);
}

// ---- Objects. ----

int Create(Client& client, uint64_t size) {
  api::gem_create args = {size, 0, 0};
  return client.Call(api::kGemCreate, args);
}

int CreateExt(Client& client, uint64_t size, uint32_t flags,
              const std::vector<api::gem_memory_class_instance>& regions) {
  api::gem_create_ext_memory_regions extension = {};
  extension.num_regions = static_cast<uint32_t>(regions.size());
  extension.regions = reinterpret_cast<uint64_t>(regions.data());
  api::gem_create_ext args = {size, 0, flags, AddressOf(extension)};
  return client.Call(api::kGemCreateExt, args);
}

template <typename Extension>
int CreateWith(Client& client, Extension& extension) {
  api::gem_create_ext args = {4096, 0, 0, AddressOf(extension)};
  return client.Call(api::kGemCreateExt, args);
}

int Tile(Client& client, uint32_t mode, uint32_t stride) {
  api::gem_set_tiling args = {client.Create(65536), mode, stride, 0};
  return client.Call(api::kGemSetTiling, args);
}

int MapOffset(Client& client, uint64_t flags, uint64_t extensions = 0) {
  api::gem_mmap_offset args = {client.Create(4096), 0, 0, flags, extensions};
  return client.Call(api::kGemMmapOffset, args);
}

int Domain(Client& client, uint32_t read, uint32_t write) {
  api::gem_set_domain args = {client.Create(4096), read, write};
  return client.Call(api::kGemSetDomain, args);
}

int Userptr(Client& client, uint64_t address, uint64_t size, uint32_t flags) {
  api::gem_userptr args = {address, size, flags, 0};
  return client.Call(api::kGemUserptr, args);
}

int Caching(Client& client, uint32_t caching) {
  api::gem_caching args = {client.Create(4096), caching};
  return client.Call(api::kGemSetCaching, args);
}

// An address in the middle of memory that nothing uses.
uint64_t UnmappedAddress() {
  void* const at =
      mmap(nullptr, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  munmap(at, 1 << 20);
  return reinterpret_cast<uint64_t>(at);
}

const Case kObjectCases[] = {
    {"no size", "skl", -EINVAL, [](Client& c) { return Create(c, 0); }},
    {"a size that overflows", "skl", -EINVAL, [](Client& c) { return Create(c, ~uint64_t{0}); }},
    {"more pages than are counted", "skl", -E2BIG,
     [](Client& c) { return Create(c, uint64_t{1} << 43); }},
    {"an unreadable structure", "skl", -EFAULT,
     [](Client& c) { return AtBadAddress(c, api::kGemCreate); }},
    {"unknown flags of create", "dg2", -EINVAL,
     [](Client& c) {
       return CreateExt(c, 4096, 2, {{0, 0}});
     }},
    {"a region that is not there", "skl", -EINVAL,
     [](Client& c) {
       return CreateExt(c, 4096, 0, {{1, 0}});
     }},
    {"a second instance of a region", "dg2", -EINVAL,
     [](Client& c) {
       return CreateExt(c, 4096, 0, {{1, 1}});
     }},
    {"more regions than there are", "dg2", -EINVAL,
     [](Client& c) {
       return CreateExt(c, 4096, 0, {{0, 0}, {1, 0}, {0, 0}});
     }},
    {"a region twice", "dg2", -EINVAL,
     [](Client& c) {
       return CreateExt(c, 4096, 0, {{1, 0}, {1, 0}});
     }},
    {"no regions", "dg2", -EINVAL, [](Client& c) { return CreateExt(c, 4096, 0, {}); }},
    {"CPU access to local memory alone", "dg2", -EINVAL,
     [](Client& c) {
       return CreateExt(c, 4096, api::kCreateNeedsCpuAccess, {{1, 0}});
     }},
    {"regions at a bad address", "dg2", -EFAULT,
     [](Client& c) {
       api::gem_create_ext_memory_regions extension = {};
       extension.num_regions = 1;
       extension.regions = 8;
       return CreateWith(c, extension);
     }},
    {"an extension at a bad address", "dg2", -EFAULT,
     [](Client& c) {
       api::gem_create_ext args = {4096, 0, 0, 8};
       return c.Call(api::kGemCreateExt, args);
     }},
    {"an unknown extension", "skl", -EINVAL,
     [](Client& c) {
       api::user_extension extension = {};
       extension.name = 99;
       return CreateWith(c, extension);
     }},
    {"flags of an extension", "skl", -EINVAL,
     [](Client& c) {
       api::gem_create_ext_set_pat extension = {};
       extension.base.flags = 1;
       return CreateWith(c, extension);
     }},
    {"reserved words of an extension", "skl", -EINVAL,
     [](Client& c) {
       api::gem_create_ext_set_pat extension = {};
       extension.base.rsvd[3] = 1;
       return CreateWith(c, extension);
     }},
    {"regions in two extensions", "dg2", -EINVAL,
     [](Client& c) {
       api::gem_memory_class_instance region = {};
       api::gem_create_ext_memory_regions extensions[2] = {};
       for (auto& extension : extensions) {
         extension.num_regions = 1;
         extension.regions = AddressOf(region);
       }
       extensions[0].base.next_extension = AddressOf(extensions[1]);
       return CreateWith(c, extensions[0]);
     }},
    {"a chain without end", "mtl", -E2BIG,
     [](Client& c) {
       api::gem_create_ext_set_pat extension = {};
       extension.base.name = api::kCreateSetPat;
       extension.base.next_extension = AddressOf(extension);
       return CreateWith(c, extension);
     }},
    {"protected content", "tgl", -ENODEV,
     [](Client& c) {
       api::gem_create_ext_protected_content extension = {};
       extension.base.name = api::kCreateProtectedContent;
       return CreateWith(c, extension);
     }},
    {"page attributes before Meteor Lake", "dg2", -ENODEV,
     [](Client& c) {
       api::gem_create_ext_set_pat extension = {};
       extension.base.name = api::kCreateSetPat;
       return CreateWith(c, extension);
     }},
    {"page attributes that are not in the table", "mtl", -EINVAL,
     [](Client& c) {
       api::gem_create_ext_set_pat extension = {};
       extension.base.name = api::kCreateSetPat;
       extension.pat_index = 5;
       return CreateWith(c, extension);
     }},
    {"closing what is not open", "skl", -EINVAL, [](Client& c) { return c.Close(77); }},
    {"an unknown mode of tiling", "skl", -EINVAL, [](Client& c) { return Tile(c, 3, 512); }},
    {"no stride", "skl", -EINVAL, [](Client& c) { return Tile(c, api::kTilingX, 0); }},
    {"a stride of half a tile", "skl", -EINVAL,
     [](Client& c) { return Tile(c, api::kTilingX, 256); }},
    {"a stride that is too large", "skl", -EINVAL,
     [](Client& c) { return Tile(c, api::kTilingY, 0x800 * 128 + 128); }},
    {"tiling without fences", "dg2", -EOPNOTSUPP,
     [](Client& c) { return Tile(c, api::kTilingNone, 0); }},
    {"tiling of nothing", "skl", -ENOENT,
     [](Client& c) {
       api::gem_get_tiling args = {5, 0, 0, 0};
       return c.Call(api::kGemGetTiling, args);
     }},
    {"caching of discrete devices", "dg1", -ENODEV,
     [](Client& c) { return Caching(c, api::kCachingCached); }},
    {"caching since Meteor Lake", "mtl", -EOPNOTSUPP,
     [](Client& c) { return Caching(c, api::kCachingCached); }},
    {"caching without snooping", "i965", -ENODEV,
     [](Client& c) { return Caching(c, api::kCachingCached); }},
    {"an unknown caching", "skl", -EINVAL, [](Client& c) { return Caching(c, 3); }},
    {"caching of nothing", "skl", -ENOENT,
     [](Client& c) {
       api::gem_caching args = {9, 0};
       return c.Call(api::kGemGetCaching, args);
     }},
    {"an unknown way to map", "skl", -EINVAL, [](Client& c) { return MapOffset(c, 5); }},
    {"extensions of a map's offset", "skl", -EINVAL,
     [](Client& c) {
       api::user_extension extension = {};
       return MapOffset(c, api::kMmapOffsetWb, AddressOf(extension));
     }},
    {"the fixed way without local memory", "tgl", -ENODEV,
     [](Client& c) { return MapOffset(c, api::kMmapOffsetFixed); }},
    {"another way with local memory", "dg2", -ENODEV,
     [](Client& c) { return MapOffset(c, api::kMmapOffsetWb); }},
    {"the aperture of a device that has none", "dg2", -ENODEV,
     [](Client& c) { return MapOffset(c, api::kMmapOffsetGtt); }},
    {"mapping nothing", "skl", -ENOENT,
     [](Client& c) {
       api::gem_mmap_offset args = {9, 0, 0, api::kMmapOffsetWb, 0};
       return c.Call(api::kGemMmapOffset, args);
     }},
    {"the old way to map on discrete devices", "dg2", -EOPNOTSUPP,
     [](Client& c) {
       api::gem_mmap args = {c.Create(4096), 0, 0, 4096, 0, 0};
       return c.Call(api::kGemMmap, args);
     }},
    {"a map that passes the end", "skl", -EINVAL,
     [](Client& c) {
       api::gem_mmap args = {c.Create(4096), 0, 4096, 4096, 0, 0};
       return c.Call(api::kGemMmap, args);
     }},
    {"domains of the GPU", "skl", -EINVAL,
     [](Client& c) { return Domain(c, api::kDomainRender, 0); }},
    {"a domain that is written and not read", "skl", -EINVAL,
     [](Client& c) { return Domain(c, api::kDomainCpu, api::kDomainGtt); }},
    {"domains of discrete devices", "dg2", -ENODEV,
     [](Client& c) { return Domain(c, api::kDomainCpu, 0); }},
    {"advice that is unknown", "skl", -EINVAL,
     [](Client& c) {
       api::gem_madvise args = {c.Create(4096), 2, 0};
       return c.Call(api::kGemMadvise, args);
     }},
    {"a read past the end", "skl", -EINVAL,
     [](Client& c) {
       uint64_t word = 0;
       api::gem_pread args = {c.Create(4096), 0, 4092, 8, AddressOf(word)};
       return c.Call(api::kGemPread, args);
     }},
    {"a range that overflows", "skl", -EINVAL,
     [](Client& c) {
       uint64_t word = 0;
       api::gem_pwrite args = {c.Create(4096), 0, ~uint64_t{0} - 3, 8, AddressOf(word)};
       return c.Call(api::kGemPwrite, args);
     }},
    {"a read to nowhere", "skl", -EFAULT,
     [](Client& c) {
       api::gem_pread args = {c.Create(4096), 0, 0, 8, 8};
       return c.Call(api::kGemPread, args);
     }},
    {"reads of discrete devices", "dg2", -EOPNOTSUPP,
     [](Client& c) {
       uint64_t word = 0;
       api::gem_pread args = {c.Create(4096), 0, 0, 8, AddressOf(word)};
       return c.Call(api::kGemPread, args);
     }},
    {"user memory that is no whole pages", "skl", -EINVAL,
     [](Client& c) { return Userptr(c, 0x10000, 100, 0); }},
    {"no user memory", "skl", -EINVAL, [](Client& c) { return Userptr(c, 0x10000, 0, 0); }},
    {"memory of the kernel", "skl", -EFAULT,
     [](Client& c) { return Userptr(c, 0xffff800000000000, 4096, 0); }},
    {"user memory that is not mapped", "skl", -EFAULT,
     [](Client& c) { return Userptr(c, UnmappedAddress(), 4096, api::kUserptrProbe); }},
    {"unsynchronized user memory", "skl", -ENODEV,
     [](Client& c) { return Userptr(c, 0x10000, 4096, api::kUserptrUnsynchronized); }},
    {"unknown flags of user memory", "skl", -EINVAL,
     [](Client& c) { return Userptr(c, 0x10000, 4096, 4); }},
    {"read-only user memory before Gfx8", "hsw", -ENODEV,
     [](Client& c) { return Userptr(c, 0x10000, 4096, api::kUserptrReadOnly); }},
    {"flags of wait", "skl", -EINVAL,
     [](Client& c) {
       api::gem_wait args = {c.Create(4096), 1, 0};
       return c.Call(api::kGemWait, args);
     }},
    {"waiting for nothing", "skl", -ENOENT,
     [](Client& c) {
       api::gem_wait args = {4, 0, 0};
       return c.Call(api::kGemWait, args);
     }},
    {"busy of nothing", "skl", -ENOENT,
     [](Client& c) {
       api::gem_busy args = {4, 0};
       return c.Call(api::kGemBusy, args);
     }},
};
INSTANTIATE_TEST_SUITE_P(Objects, MalformedTest, testing::ValuesIn(kObjectCases));

// ---- Contexts and address spaces. ----

int Engines(Client& client, const std::vector<uint32_t>& words, uint32_t bytes,
            uint64_t extensions = 0) {
  std::vector<uint8_t> list(8 + 4 * words.size());
  std::memcpy(list.data(), &extensions, 8);
  if (!words.empty()) std::memcpy(list.data() + 8, words.data(), 4 * words.size());
  return client.SetContextParam(client.CreateContext(), api::kContextEngines,
                                reinterpret_cast<uint64_t>(list.data()), bytes);
}
constexpr uint32_t kNone = 0xffffffff;
constexpr uint32_t Engine(uint32_t engine_class, uint32_t instance) {
  return instance << 16 | engine_class;
}

int Balance(Client& client, uint16_t index, const std::vector<uint32_t>& siblings,
            uint32_t flags = 0) {
  std::vector<uint8_t> bytes(sizeof(api::context_engines_load_balance) + 4 * siblings.size());
  api::context_engines_load_balance head = {};
  head.base.name = api::kEnginesLoadBalance;
  head.engine_index = index;
  head.num_siblings = static_cast<uint16_t>(siblings.size());
  head.flags = flags;
  std::memcpy(bytes.data(), &head, sizeof(head));
  std::memcpy(bytes.data() + sizeof(head), siblings.data(), 4 * siblings.size());
  return Engines(client, {kNone, Engine(0, 0)}, 16, reinterpret_cast<uint64_t>(bytes.data()));
}

int Parallel(Client& client, uint16_t width, uint16_t siblings,
             const std::vector<uint32_t>& engines, uint16_t index = 0) {
  std::vector<uint8_t> bytes(sizeof(api::context_engines_parallel_submit) + 4 * engines.size());
  api::context_engines_parallel_submit head = {};
  head.base.name = api::kEnginesParallelSubmit;
  head.engine_index = index;
  head.width = width;
  head.num_siblings = siblings;
  std::memcpy(bytes.data(), &head, sizeof(head));
  std::memcpy(bytes.data() + sizeof(head), engines.data(), 4 * engines.size());
  return Engines(client, {kNone, Engine(0, 0)}, 16, reinterpret_cast<uint64_t>(bytes.data()));
}

int CreateContextWith(Client& client, uint32_t flags, uint64_t extensions) {
  api::gem_context_create_ext args = {0, flags, extensions};
  return client.Call(api::kGemContextCreateExt, args);
}

const Case kContextCases[] = {
    {"flags of a context", "skl", -EINVAL, [](Client& c) { return CreateContextWith(c, 4, 0); }},
    {"one timeline without queues", "hsw", -EINVAL,
     [](Client& c) { return CreateContextWith(c, api::kContextSingleTimeline, 0); }},
    {"extensions at a bad address", "skl", -EFAULT,
     [](Client& c) { return CreateContextWith(c, api::kContextUseExtensions, 8); }},
    {"a clone", "skl", -EINVAL,
     [](Client& c) {
       api::user_extension extension = {};
       extension.name = api::kContextCreateClone;
       return CreateContextWith(c, api::kContextUseExtensions, AddressOf(extension));
     }},
    {"a parameter of another context", "skl", -EINVAL,
     [](Client& c) {
       api::gem_context_create_ext_setparam extension = {};
       extension.param.ctx_id = c.CreateContext();
       extension.param.param = api::kContextRecoverable;
       return CreateContextWith(c, api::kContextUseExtensions, AddressOf(extension));
     }},
    {"protected content", "tgl", -ENODEV,
     [](Client& c) {
       api::gem_context_create_ext_setparam extension = {};
       extension.param.param = api::kContextProtectedContent;
       extension.param.value = 1;
       return CreateContextWith(c, api::kContextUseExtensions, AddressOf(extension));
     }},
    {"destroying the file's own context", "skl", -ENOENT,
     [](Client& c) {
       api::gem_context_destroy args = {0, 0};
       return c.Call(api::kGemContextDestroy, args);
     }},
    {"destroying with padding", "skl", -EINVAL,
     [](Client& c) {
       api::gem_context_destroy args = {c.CreateContext(), 1};
       return c.Call(api::kGemContextDestroy, args);
     }},
    {"a parameter that is unknown", "skl", -EINVAL,
     [](Client& c) { return c.SetContextParam(0, 77, 0); }},
    {"a parameter that is no more", "skl", -EINVAL,
     [](Client& c) { return c.SetContextParam(0, api::kContextNoZeromap, 1); }},
    {"a context that is unknown", "skl", -ENOENT,
     [](Client& c) { return c.SetContextParam(5, api::kContextRecoverable, 0); }},
    {"the size of a plain parameter", "skl", -EINVAL,
     [](Client& c) { return c.SetContextParam(0, api::kContextRecoverable, 0, 8); }},
    {"a priority of root", "skl", -EPERM,
     [](Client& c) { return c.SetContextParam(0, api::kContextPriority, 512); }},
    {"a priority that is too high", "skl", -EINVAL,
     [](Client& c) { return c.SetContextParam(0, api::kContextPriority, 1024); }},
    {"a priority that is too low", "skl", -EINVAL,
     [](Client& c) {
       return c.SetContextParam(0, api::kContextPriority, static_cast<uint64_t>(-1024));
     }},
    {"a priority of rings", "hsw", -ENODEV,
     [](Client& c) { return c.SetContextParam(0, api::kContextPriority, 0); }},
    {"never to be banned", "skl", -EPERM,
     [](Client& c) { return c.SetContextParam(0, api::kContextBannable, 0); }},
    {"an end with the file, without interruption", "bdw", -ENODEV,
     [](Client& c) { return c.SetContextParam(0, api::kContextPersistence, 0); }},
    {"the address space of the file's own context", "skl", -EINVAL,
     [](Client& c) { return c.SetContextParam(0, api::kContextVm, 1); }},
    {"an address space that is unknown", "skl", -ENOENT,
     [](Client& c) { return c.SetContextParam(c.CreateContext(), api::kContextVm, 9); }},
    {"address spaces before Gfx8", "hsw", -ENODEV,
     [](Client& c) { return c.SetContextParam(c.CreateContext(), api::kContextVm, 1); }},
    {"a list of engines that ends within one", "skl", -EINVAL,
     [](Client& c) { return Engines(c, {Engine(0, 0)}, 10); }},
    {"a list of engines that is too short", "skl", -EINVAL,
     [](Client& c) { return Engines(c, {Engine(0, 0)}, 4); }},
    {"too many engines", "skl", -EINVAL,
     [](Client& c) { return Engines(c, std::vector<uint32_t>(65, kNone), 8 + 4 * 65); }},
    {"an engine that is not there", "skl", -ENOENT,
     [](Client& c) { return Engines(c, {Engine(api::kClassCompute, 0)}, 12); }},
    {"engines of a context in use", "skl", -EINVAL,
     [](Client& c) {
       uint64_t head = 0, size = 0;
       const uint32_t context = c.CreateContext();
       EXPECT_EQ(c.GetContextParam(context, api::kContextGttSize, size), 0);
       return c.SetContextParam(context, api::kContextEngines, AddressOf(head), 8);
     }},
    {"balance before Gfx8", "hsw", -ENODEV,
     [](Client& c) { return Balance(c, 0, {Engine(2, 0)}); }},
    {"balance of no place", "skl", -EINVAL,
     [](Client& c) { return Balance(c, 2, {Engine(2, 0)}); }},
    {"balance of a place that is taken", "skl", -EEXIST,
     [](Client& c) { return Balance(c, 1, {Engine(2, 0)}); }},
    {"balance with flags", "skl", -EINVAL,
     [](Client& c) { return Balance(c, 0, {Engine(2, 0)}, 1); }},
    {"balance of an engine that is not there", "skl", -EINVAL,
     [](Client& c) { return Balance(c, 0, {Engine(2, 1)}); }},
    {"balance of different classes", "skl", -EINVAL,
     [](Client& c) {
       return Balance(c, 0, {Engine(2, 0), Engine(1, 0)});
     }},
    {"parallel render", "dg2", -EINVAL,
     [](Client& c) {
       return Parallel(c, 2, 1, {Engine(0, 0), Engine(0, 0)});
     }},
    {"a parallel of one", "dg2", -EINVAL,
     [](Client& c) { return Parallel(c, 1, 1, {Engine(2, 0)}); }},
    {"parallel engines that do not follow each other", "dg2", -EINVAL,
     [](Client& c) {
       return Parallel(c, 2, 1, {Engine(2, 1), Engine(2, 0)});
     }},
    {"parallel siblings without a scheduler", "tgl", -EINVAL,
     [](Client& c) {
       return Parallel(c, 2, 2, {Engine(2, 0), Engine(2, 0), Engine(2, 1), Engine(2, 1)});
     }},
    {"a parallel of a place that is taken", "dg2", -EINVAL,
     [](Client& c) {
       return Parallel(c, 2, 1, {Engine(2, 0), Engine(2, 1)}, 1);
     }},
    {"units of a platform that has them fixed", "skl", -ENODEV,
     [](Client& c) {
       api::gem_context_param_sseu sseu = {};
       return c.SetContextParam(0, api::kContextSseu, AddressOf(sseu), sizeof(sseu));
     }},
    {"units without a slice", "icl", -EINVAL,
     [](Client& c) {
       api::gem_context_param_sseu sseu = {};
       return c.SetContextParam(0, api::kContextSseu, AddressOf(sseu), sizeof(sseu));
     }},
    {"an address space before Gfx8", "hsw", -ENODEV,
     [](Client& c) {
       api::gem_vm_control args = {};
       return c.Call(api::kGemVmCreate, args);
     }},
    {"flags of an address space", "skl", -EINVAL,
     [](Client& c) {
       api::gem_vm_control args = {0, 1, 0};
       return c.Call(api::kGemVmCreate, args);
     }},
    {"destroying an unknown address space", "skl", -ENOENT,
     [](Client& c) {
       api::gem_vm_control args = {0, 0, 3};
       return c.Call(api::kGemVmDestroy, args);
     }},
    {"reset statistics with flags", "skl", -EINVAL,
     [](Client& c) {
       api::reset_stats args = {0, 1, 0, 0, 0, 0};
       return c.Call(api::kGetResetStats, args);
     }},
    {"reset statistics of nothing", "skl", -ENOENT,
     [](Client& c) {
       api::reset_stats args = {3, 0, 0, 0, 0, 0};
       return c.Call(api::kGetResetStats, args);
     }},
};
INSTANTIATE_TEST_SUITE_P(Contexts, MalformedTest, testing::ValuesIn(kContextCases));

// ---- The device. ----

const Case kDeviceCases[] = {
    {"a parameter that is unknown", "skl", -EINVAL,
     [](Client& c) {
       int32_t value = 0;
       return c.GetParam(1000, value);
     }},
    {"a parameter of the past", "skl", -ENODEV,
     [](Client& c) {
       int32_t value = 0;
       return c.GetParam(api::kParamIrqActive, value);
     }},
    {"slices since Gfx12.5", "dg2", -EINVAL,
     [](Client& c) {
       int32_t value = 0;
       return c.GetParam(api::kParamSliceMask, value);
     }},
    {"units before Gfx7.5", "ivb", -ENODEV,
     [](Client& c) {
       int32_t value = 0;
       return c.GetParam(api::kParamEuTotal, value);
     }},
    {"a value to nowhere", "skl", -EFAULT,
     [](Client& c) {
       api::getparam args = {api::kParamChipsetId, 0, 8};
       return c.Call(api::kGetparam, args);
     }},
    {"a register that may not be read", "skl", -EINVAL,
     [](Client& c) {
       api::reg_read args = {0x2000, 0};
       return c.Call(api::kRegRead, args);
     }},
    {"counters of the whole GPU", "skl", -EACCES,
     [](Client& c) {
       uint64_t properties[] = {2, 1};
       api::perf_open_param args = {0, 1, AddressOf(properties)};
       return c.Call(api::kPerfOpen, args);
     }},
    {"counters without properties", "skl", -EINVAL,
     [](Client& c) {
       api::perf_open_param args = {0, 0, 0};
       return c.Call(api::kPerfOpen, args);
     }},
    {"counters before Gfx7.5", "ivb", -EOPNOTSUPP,
     [](Client& c) {
       api::perf_open_param args = {0, 0, 0};
       return c.Call(api::kPerfOpen, args);
     }},
    {"a query with flags", "skl", -EINVAL,
     [](Client& c) {
       api::query args = {0, 1, 0};
       return c.Call(api::kQuery, args);
     }},
    {"a query of nothing", "skl", -EINVAL,
     [](Client& c) {
       api::query_item item = {};
       api::query args = {1, 0, AddressOf(item)};
       return c.Call(api::kQuery, args);
     }},
    {"queries at a bad address", "skl", -EFAULT,
     [](Client& c) {
       api::query args = {1, 0, 8};
       return c.Call(api::kQuery, args);
     }},
    {"a call of displays on a render node", "skl", -EACCES,
     [](Client& c) { return c.file->Ioctl(c.caller, api::kGemEntervt, 0); }},
    {"a call that is unknown", "skl", -EINVAL,
     [](Client& c) { return c.file->Ioctl(c.caller, drm::Request(drm::kNone, 0x9f, 0), 0); }},
};
INSTANTIATE_TEST_SUITE_P(Device, MalformedTest, testing::ValuesIn(kDeviceCases));

// ---- Submissions. ----

using Change = std::function<void(api::gem_execbuffer2&, api::gem_exec_object2&)>;
int Submit(Client& client, const Change& change) {
  api::gem_exec_object2 object = Client::Object(client.Create(4096));
  api::gem_execbuffer2 args = {};
  args.buffers_ptr = AddressOf(object);
  args.buffer_count = 1;
  change(args, object);
  return client.Call(api::kGemExecbuffer2, args);
}

int Relocate(Client& client, const std::function<void(api::gem_relocation_entry&)>& change) {
  api::gem_relocation_entry relocation = {};
  relocation.presumed_offset = 1;
  return Submit(client, [&](api::gem_execbuffer2&, api::gem_exec_object2& object) {
    object.relocation_count = 1;
    object.relocs_ptr = AddressOf(relocation);
    relocation.target_handle = object.handle;
    change(relocation);
  });
}

// A case of EXECBUFFER2 in which `statement` changes `args` and `object`.
#define SUBMIT(what, device, result, statement)                                         \
  {                                                                                     \
    what, device, result, [](Client& c) {                                               \
      return Submit(c, [&](api::gem_execbuffer2& args, api::gem_exec_object2& object) { \
        (void)args, (void)object, (void)c;                                              \
        statement;                                                                      \
      });                                                                               \
    }                                                                                   \
  }
#define RELOCATE(what, device, result, statement)                                    \
  {                                                                                  \
    what, device, result, [](Client& c) {                                            \
      return Relocate(c, [&](api::gem_relocation_entry& relocation) { statement; }); \
    }                                                                                \
  }

const Case kSubmissionCases[] = {
    SUBMIT("a submission that is right", "skl", 0, (void)0),
    SUBMIT("no objects", "skl", -EINVAL, args.buffer_count = 0),
    SUBMIT("too many objects", "skl", -EINVAL, args.buffer_count = 0x80000000),
    SUBMIT("more objects than are there", "skl", -EFAULT, args.buffer_count = 0x7fffffff),
    SUBMIT("objects at a bad address", "skl", -EFAULT, args.buffers_ptr = 8),
    SUBMIT("unknown flags", "skl", -EINVAL, args.flags = uint64_t{1} << 22),
    SUBMIT("constants' modes", "skl", -EINVAL, args.flags = 1 << 6),
    SUBMIT("the resource streamer", "hsw", -EINVAL, args.flags = api::kExecResourceStreamer),
    SUBMIT("cliprects", "skl", -EINVAL, args.num_cliprects = 1),
    SUBMIT("DR1", "skl", -EINVAL, args.DR1 = 1),
    SUBMIT("DR4 as an old X server sends it", "skl", 0, args.DR4 = 0xffffffff),
    SUBMIT("a batch whose begin is not aligned", "skl", -EINVAL, args.batch_start_offset = 4),
    SUBMIT("a batch whose length is not aligned", "skl", -EINVAL, args.batch_len = 12),
    SUBMIT("a batch that begins at the end", "skl", -EINVAL, args.batch_start_offset = 4096),
    SUBMIT("a batch that passes the end", "skl", -EINVAL, args.batch_len = 4104),
    SUBMIT("a batch that is written", "skl", -EINVAL, object.flags = api::kObjectWrite),
    SUBMIT("a secure batch", "skl", -EPERM, args.flags = api::kExecSecure),
    SUBMIT("a secure batch since Gfx11", "tgl", -ENODEV, args.flags = api::kExecSecure),
    SUBMIT("a context that is unknown", "skl", -ENOENT, args.rsvd1 = 3),
    SUBMIT("a ring that is unknown", "skl", -EINVAL, args.flags = 5),
    SUBMIT("a ring that is not there", "i965", -EINVAL, args.flags = api::kRingBlt),
    SUBMIT("the second BSD of the render ring", "skl", -EINVAL, args.flags = 2 << 13),
    SUBMIT("a third BSD", "skl_gt4", -EINVAL, args.flags = api::kRingBsd | 3 << 13),
    SUBMIT("a reset of stream output on Gfx9", "skl", -EINVAL, args.flags = api::kExecGen7SolReset),
    SUBMIT("an object that is unknown", "skl", -ENOENT, object.handle = 99),
    SUBMIT("unknown flags of an object", "skl", -EINVAL, object.flags = 1 << 8),
    SUBMIT("an object in the global page table", "skl", -EINVAL, object.flags = api::kObjectNeedsGtt),
    SUBMIT("an alignment that is not a power of two", "skl", -EINVAL, object.alignment = 12288),
    SUBMIT("an alignment beyond the address space", "skl", -ENOSPC,
           object.alignment = uint64_t{1} << 63),
    SUBMIT("a padding of half a page", "skl", -EINVAL, object.flags = api::kObjectPadToSize;
           object.pad_to_size = 2048),
    SUBMIT("a padding beyond the address space", "skl", -ENOSPC,
           object.flags = api::kObjectPadToSize;
           object.pad_to_size = ~uint64_t{4095}),
    SUBMIT("an address that is not canonical", "skl", -EINVAL,
           object = Client::Pinned(object.handle, uint64_t{1} << 47)),
    SUBMIT("an address within a page", "skl", -EINVAL,
           object = Client::Pinned(object.handle, 0x100040)),
    SUBMIT("an address that the alignment forbids", "skl", -EINVAL,
           object = Client::Pinned(object.handle, 0x101000);
           object.alignment = 0x10000),
    SUBMIT("an address above 4 GiB without a word", "skl", -EINVAL,
           object = Client::Pinned(object.handle, uint64_t{1} << 32);
           object.flags = api::kObjectPinned),
    SUBMIT("an address beyond the address space", "ehl", -EINVAL,
           object = Client::Pinned(object.handle, uint64_t{1} << 36)),
    SUBMIT("a capture of a recoverable context", "dg2", -EINVAL, object.flags = api::kObjectCapture),
    SUBMIT("a capture on Gfx9", "skl", 0, object.flags = api::kObjectCapture),
    SUBMIT("both kinds of sync file", "skl", -EINVAL,
           args.flags = api::kExecFenceIn | api::kExecFenceSubmit),
    SUBMIT("a sync file that is none", "skl", -EINVAL, args.flags = api::kExecFenceIn; args.rsvd2 = 0),
    SUBMIT("a descriptor that is not open", "skl", -EINVAL, args.flags = api::kExecFenceIn;
           args.rsvd2 = 0xffffffff),
    SUBMIT("fences at a bad address", "skl", -EFAULT, args.flags = api::kExecFenceArray;
           args.num_cliprects = 1; args.cliprects_ptr = 8),
    SUBMIT("fences and extensions", "skl", -EINVAL,
           args.flags = api::kExecFenceArray | api::kExecUseExtensions),
    SUBMIT("extensions with a count", "skl", -EINVAL, args.flags = api::kExecUseExtensions;
           args.num_cliprects = 1),
    SUBMIT("extensions at a bad address", "skl", -EFAULT, args.flags = api::kExecUseExtensions;
           args.cliprects_ptr = 8),
    {"relocations since Gfx12", "adlp", -EINVAL,
     [](Client& c) { return Relocate(c, [](api::gem_relocation_entry&) {}); }},
    RELOCATE("relocations of Tiger Lake", "tgl", 0, (void)relocation),
    RELOCATE("a target that is not in the list", "skl", -ENOENT, relocation.target_handle = 9),
    RELOCATE("two domains that are written", "skl", -EINVAL, relocation.write_domain = 6),
    RELOCATE("a domain of the CPU", "skl", -EINVAL, relocation.read_domains = api::kDomainCpu),
    RELOCATE("a relocation past the end", "skl", -EINVAL, relocation.offset = 4092),
    RELOCATE("a relocation at the end", "hsw", 0, relocation.offset = 4092),
    RELOCATE("a relocation that overflows", "skl", -EINVAL, relocation.offset = ~uint64_t{3}),
    RELOCATE("a relocation that is not aligned", "skl", -EINVAL, relocation.offset = 2),
    SUBMIT("relocations at a bad address", "skl", -EFAULT, object.relocation_count = 1;
           object.relocs_ptr = 8),
    SUBMIT("more relocations than are there", "skl", -EFAULT, object.relocation_count = 0xffffffff;
           object.relocs_ptr = AddressOf(args)),
    {"objects that overlap", "skl", -ENOSPC,
     [](Client& c) {
       std::vector<api::gem_exec_object2> objects = {Client::Pinned(c.Create(8192), 0x100000),
                                                     Client::Pinned(c.Create(4096), 0x101000)};
       return c.Submit(objects);
     }},
    {"an object at two addresses", "skl", -EINVAL,
     [](Client& c) {
       const uint32_t handle = c.Create(4096);
       std::vector<api::gem_exec_object2> objects = {Client::Pinned(handle, 0x100000),
                                                     Client::Pinned(handle, 0x200000)};
       return c.Submit(objects);
     }},
    {"a local object that is not aligned", "dg2", -EINVAL,
     [](Client& c) {
       api::gem_memory_class_instance region = {api::kMemoryDevice, 0};
       api::gem_create_ext_memory_regions extension = {};
       extension.num_regions = 1;
       extension.regions = AddressOf(region);
       api::gem_create_ext create = {4096, 0, 0, AddressOf(extension)};
       EXPECT_EQ(c.Call(api::kGemCreateExt, create), 0);
       EXPECT_EQ(create.size, 65536u);
       std::vector<api::gem_exec_object2> objects = {Client::Pinned(create.handle, 0x101000)};
       return c.Submit(objects);
     }},
    {"user memory that has gone", "skl", -EFAULT,
     [](Client& c) {
       void* const at =
           mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
       api::gem_userptr args = {reinterpret_cast<uint64_t>(at), 4096, 0, 0};
       EXPECT_EQ(c.Call(api::kGemUserptr, args), 0);
       munmap(at, 4096);
       return c.SubmitOne(args.handle);
     }},
};
INSTANTIATE_TEST_SUITE_P(Submissions, MalformedTest, testing::ValuesIn(kSubmissionCases));

}  // namespace
}  // namespace packsmith::capture
