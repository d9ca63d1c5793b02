#include "tests/intel/binding/descriptor_world.h"

#include "runtime/intel/batch/gfx125.h"
#include "runtime/intel/batch/gfx9.h"
#include "runtime/intel/binding/descriptor_hardware.h"
#include "runtime/intel/memory/driver_zones.h"

namespace packsmith::intel {
namespace {

bool IsDirect(DescriptorModel model) {
  return model == DescriptorModel::kDirect || model == DescriptorModel::kBuffer;
}

}  // namespace

DescriptorHardware HardwareFor(DescriptorModel model) {
  return IsDirect(model) ? DescriptorHardwareOf<Gfx125>() : DescriptorHardwareOf<Gfx9>();
}

DescriptorWorld::DescriptorWorld(DescriptorModel model)
    : memory(AnvZones(), IsDirect(model) ? 125 : 90, IsDirect(model) ? "gfx125" : "gfx9") {
  const char* const surfaces = IsDirect(model) ? "dynamic visible" : "internal surface states";
  const uint64_t base = memory.Begin(surfaces);
  states = memory.Pool(surfaces, base);
  if (!IsDirect(model)) bindless = memory.Pool("bindless surface states", base);
  gpu::StatePool& named = bindless == nullptr ? *states : *bindless;
  DescriptorSetupOptions options{.model = model,
                                 .surface_base = base,
                                 .sampler_base = memory.Begin("dynamic state"),
                                 .mocs = 4,
                                 .null_surface = Value(named.Allocate(kSurfaceStateBytes)).offset};
  // Handles and the tables' entries are relative to different bases.
  if (bindless != nullptr) options.bindless_base = memory.Begin("bindless surface states");
  setup = Value(MakeDescriptorSetup(HardwareFor(model), options));
}

DescriptorPoolOptions DescriptorWorld::PoolOptions(uint32_t max_sets,
                                                   absl::Span<const DescriptorCount> counts,
                                                   uint32_t inline_blocks) const {
  return {.max_sets = max_sets,
          .counts = counts,
          .inline_blocks = inline_blocks,
          .records = memory.Zone(direct() ? "dynamic visible" : "indirect descriptors"),
          .samplers = memory.Zone(direct() ? "dynamic visible" : "dynamic state"),
          .surfaces = memory.Zone(direct() ? "dynamic visible" : "internal surface states")};
}

gpu::Buffer DescriptorWorld::NewBuffer(uint64_t size) {
  return Value(memory.buffers->Create({.size = size, .zone = memory.Zone("high heap")}));
}

DescriptorImage DescriptorWorld::NewImage() {
  DescriptorImage image{.buffer = ++serial, .depth = 100 + serial};
  for (uint32_t& dword : image.state) dword = ++serial * 0x01010101;
  if (!direct()) {
    const gpu::State state = Value(bindless->Allocate(kSurfaceStateBytes));
    std::memcpy(state.cpu, image.state.data(), kSurfaceStateBytes);
    image.offset = state.offset;
  }
  return image;
}

DescriptorSampler DescriptorWorld::NewSampler() {
  DescriptorSampler sampler{.offset = ++serial * kSamplerStride};
  for (uint32_t& dword : sampler.state) dword = ++serial * 0x10001;
  return sampler;
}

std::vector<uint8_t> DescriptorWorld::Read(uint64_t address, size_t bytes) {
  std::vector<uint8_t> read(bytes);
  EXPECT_TRUE(memory.host->Read(0, address, absl::MakeSpan(read)).ok()) << address;
  return read;
}

std::vector<uint8_t> Content(const DescriptorSet& set) {
  const DescriptorSetStorage& storage = *set.storage();
  const DescriptorSetMemory& memory = storage.memory();
  const auto& layout = *storage.layout();
  const DescriptorSetSizes sizes =
      layout.SizesOf(layout.bindings().empty() ? 0 : storage.CountOf(layout.bindings().back()));
  std::vector<uint8_t> bytes;
  const auto add = [&](const void* from, size_t size) {
    if (size == 0) return;
    const auto* const begin = static_cast<const uint8_t*>(from);
    bytes.insert(bytes.end(), begin, begin + size);
  };
  add(memory.records, sizes.record_bytes);
  add(memory.samplers, sizes.sampler_bytes);
  add(memory.surfaces, sizes.surface_bytes);
  for (const DescriptorSetStorage::Slot& slot : storage.slots()) {
    const uint64_t values[] = {slot.surface, slot.buffer, static_cast<uint64_t>(slot.type),
                               slot.written};
    add(values, sizeof(values));
  }
  for (const DescriptorSampler& sampler : storage.samplers()) {
    add(sampler.state.data(), sizeof(sampler.state));
  }
  for (const DescriptorSetStorage::Dynamic& dynamic : storage.dynamics()) {
    const uint64_t values[] = {dynamic.address, dynamic.size, dynamic.room, dynamic.buffer};
    add(values, sizeof(values));
  }
  return bytes;
}

}  // namespace packsmith::intel
