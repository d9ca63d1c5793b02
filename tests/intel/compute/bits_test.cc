// CFE_STATE and COMPUTE_WALKER beside tables of their bits, by hand. Source: BSpec, as Mesa's
// genxml has them. Of Xe2 and Xe3 there are no captures.
#include <array>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/intel/compute/compute_state.h"
#include "runtime/intel/device/render_devices.h"
#include "tests/intel/batch/tested.h"
#include "tests/intel/compute/gpu_memory.h"
#include "tests/intel/pipeline/bit_table.h"

namespace packsmith::intel {
namespace {

constexpr uint32_t kSubslices = 3;

RenderDevice DeviceOf(unsigned version) {
  for (const RenderDevice& device : RenderDevices()) {
    if (device.version == version) return device;
  }
  return RenderDevices().back();  // of the newest
}

template <class Gen>
class BitsTest : public testing::Test {
 protected:
  static constexpr bool kXe2 = Gen::kVersion >= 200, kXe3 = Gen::kVersion >= 300;
  using G = typename Gen::Packets;

  // A kernel with all that packets say of one.
  static ComputeKernel Kernel() {
    ComputeKernel kernel;
    kernel.simd16() = {.present = true, .offset = 0x12340, .buffer = 0};
    kernel.local_size = {8, 5, 1};
    kernel.shared_bytes = 5000;
    kernel.barriers = 4;
    kernel.constant_bytes = 96;
    kernel.inline_bytes = 32;
    kernel.local_ids = LocalIds::kHardware;
    kernel.local_id_components = 2;
    kernel.binding_table_entries = 7;
    kernel.samplers = 5;
    if (kXe3) kernel.registers = 96;
    return kernel;
  }
  // The packets of a dispatch.
  Dwords Dispatched(const ComputeKernel& kernel, const GroupCount& groups,
                    const DispatchOptions& options = {}) {
    Batch<Gen> batch(memory_.chunks);
    EXPECT_TRUE(compute_.Bind(kernel)) << compute_.status();
    EXPECT_TRUE(compute_.SetConstants(constants_)) << compute_.status();
    EXPECT_TRUE(compute_.Dispatch(batch, groups, options)) << compute_.status();
    EXPECT_TRUE(batch.End().ok());
    const BatchPart& part = batch.parts()[0];
    return Dwords(part.chunk.words.begin(), part.chunk.words.begin() + part.dwords);
  }
  // The packet in them that begins with these bits.
  static Dwords Find(const Dwords& packets, uint32_t first, size_t length) {
    for (size_t i = 0; i + length <= packets.size(); ++i) {
      if (packets[i] >> 16 != first) continue;
      const auto at = packets.begin() + static_cast<ptrdiff_t>(i);
      return Dwords(at, at + static_cast<ptrdiff_t>(length));
    }
    ADD_FAILURE() << "there is none";
    return Dwords(length);
  }
  // Their first halves.
  static constexpr uint32_t kFront = 0x7200, kWalker = 0x7208;

  GpuMemory memory_;
  const RenderDevice device_ = DeviceOf(Gen::kVersion);
  ComputeState<Gen> compute_{{.device = device_, .subslices = kSubslices}, memory_.states};
  const std::vector<uint8_t> constants_ = [] {
    std::vector<uint8_t> bytes(96);
    std::iota(bytes.begin(), bytes.end(), uint8_t{1});
    return bytes;
  }();
};
TYPED_TEST_SUITE(BitsTest, Generations);

TYPED_TEST(BitsTest, FrontEnds) {
  const uint64_t threads = uint64_t{this->device_.threads.compute} * kSubslices;
  const auto packet = [&](uint64_t scratch) {
    return StructureFromBits(6, {{0, 7, 4},
                                 {24, 26, 2},
                                 {27, 28, 2},
                                 {29, 31, 3},
                                 // The surface state: on Gfx12.5 in 16 bytes, later in 64.
                                 {42, 63, scratch, this->kXe2 ? 6u : 4u},
                                 {112, 127, threads}});
  };
  EXPECT_EQ(this->Find(this->Dispatched(this->Kernel(), {}), this->kFront, 6), packet(0));
  const bool has_scratch = TypeParam::kFacts.has_scratch_surfaces;
  ASSERT_EQ(this->compute_.SetScratch({.per_thread = 8192, .surface = 0x40c0}), has_scratch);
  if (!has_scratch) return;
  EXPECT_EQ(this->Find(this->Dispatched(this->Kernel(), {}), this->kFront, 6), packet(0x40c0));
}

TYPED_TEST(BitsTest, Walkers) {
  this->compute_.SetTables({.bindings = 0x1240, .samplers = 0x4560});
  const Dwords packets =
      this->Dispatched(this->Kernel(), {.x = 3, .y = 70000, .z = 5}, {.predicated = true});
  const bool xe2 = this->kXe2;
  const unsigned length = xe2 ? 40 : 39;
  const Dwords walker = this->Find(packets, this->kWalker, length);
  // Where the constants are that are not in the walker, is not for tables to decide.
  const uint32_t constants = walker[3];
  EXPECT_NE(constants, 0u);
  EXPECT_EQ(constants % 64, 0u);

  // 40 invocations: two threads of 16 lanes, and one of 8.
  Dwords expected = StructureFromBits(length, {{0, 7, length - 2},
                                               {8, 8, 1},
                                               {18, 23, 2},
                                               {24, 26, 2},
                                               {27, 28, 2},
                                               {29, 31, 3},
                                               {64, 80, 64},  // bytes of constants in memory
                                               {102, 127, constants, 6},
                                               {145, 146, 1},  // SIMD16
                                               {150, 152, 1},  // x, z, y
                                               {153, 153, 1},
                                               {154, 156, 3},  // x and y
                                               {157, 157, 1},
                                               {158, 159, 1},
                                               {160, 191, 0xff},
                                               {192, 201, 7},
                                               {202, 211, 4},
                                               {224, 255, 3},
                                               {256, 287, 70000},
                                               {288, 319, 5}});
  // The interface descriptor, the write after the work, inline data.
  const unsigned descriptor = xe2 ? 608 : 576, after = descriptor + 256, data = after + 160;
  const auto set = [&](unsigned base, const BitField& field) {
    SetBits({base + field.first, base + field.last, field.value, field.shift}, expected);
  };
  set(descriptor, {6, 31, 0x12340, 6});
  if (xe2) set(descriptor, {84, 84, 1});         // preemption of threads
  if (this->kXe3) set(descriptor, {90, 94, 2});  // 96 registers
  set(descriptor, {98, 100, 2});                 // 5 to 8 samplers
  set(descriptor, {101, 127, 0x4560, 5});
  set(descriptor, {128, 132, 7});
  set(descriptor, {133, 148, 0x1240, 5});
  set(descriptor, {160, 169, 3});
  set(descriptor, {176, 180, 4});  // 8 KiB
  set(descriptor, {188, 190, 3});  // 4 barriers
  if (xe2) {
    // How much local memory the groups take that run side by side.
    constexpr uint32_t kKib[] = {0, 16, 32, 64, 96, 128, 160, 192, 224, 256, 384};
    const uint32_t bytes = this->device_.threads.compute / 3 * 5000;
    uint32_t code = 0;
    while (kKib[code] * 1024 < bytes) ++code;
    set(descriptor, {224, 227, code});
  }
  set(after, {4, 10, this->device_.caching.cached});
  for (unsigned i = 0; i < 8; ++i) {
    uint32_t dword;
    std::memcpy(&dword, this->constants_.data() + 4 * i, 4);
    set(data, {32 * i, 32 * i + 31, dword});
  }
  EXPECT_EQ(walker, expected);
}

}  // namespace
}  // namespace packsmith::intel
