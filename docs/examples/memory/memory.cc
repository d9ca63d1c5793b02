// What docs/memory.md shows, built and run. Each block of the page is here between
// "// Page: <name>" and "// End", and a test compares the two. Arguments: see device.h.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "docs/examples/device.h"
#include "docs/examples/must.h"
#include "packsmith/gfx9.h"
#include "runtime/command/chunks.h"
#include "runtime/intel/batch/gfx12.h"
#include "runtime/intel/binding/aux_tables.h"
#include "runtime/intel/memory/border_colors.h"
#include "runtime/intel/memory/driver_zones.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/buffers.h"
#include "runtime/memory/host_device.h"
#include "runtime/memory/residency.h"
#include "runtime/memory/state_pool.h"
#include "runtime/memory/state_stream.h"
#include "runtime/memory/zone_map.h"

namespace {

using example::Must;
using namespace packsmith::gpu;    // NOLINT: an example
using namespace packsmith::intel;  // NOLINT: an example
namespace gfx9 = packsmith::gfx9;

void Must(const packsmith::error& error) {
  if (!error) return;
  std::fprintf(stderr, "%s does not fit: reason %u\n", error.field,
               static_cast<unsigned>(error.why));
  std::exit(1);
}

void Own() {
  // Page: zones
  constexpr ZoneRow kMine[] = {
      {.name = "code", .begin = 4 * kKiB, .size = 4 * kGiB - 8 * kKiB},
      {.name = "state", .alignment = 4 * kGiB, .size = 4 * kGiB},
      {.name = "data", .alignment = 4 * kGiB, .below_top = 4 * kGiB},
  };
  const std::vector<Zone> zones = Must(LayOutZones(kMine, {.verx10 = 90}));
  // zones[1] is "state", 0x100000000..0x1ffffffff
  // End
  if (zones[1].begin != 0x100000000 || zones[1].end != 0x200000000) std::exit(1);
}

void Ranges() {
  // Page: ranges
  auto space = Must(AddressSpace::Create(Must(LayOutZones(IrisZones(), {.verx10 = 90}))));
  const ZoneId other = Must(space->FindZone("other"));

  const Range image = Must(space->Allocate(other, {.size = 5 * kMiB, .alignment = 64 * kKiB}));
  const Range kernel = Must(space->Allocate(other, {.size = 8 * kKiB,
                                                    .boundary = 4 * kGiB,
                                                    .guard = 4 * kKiB,
                                                    .placement = Placement::kHighest}));
  const Range there = Must(space->Allocate(other, {.size = kMiB, .address = 0x800000000}));

  Must(space->Free(other, image.handle));
  const absl::Status again = space->Free(other, image.handle);  // NotFound: it is freed already
  // End
  if (absl::IsNotFound(again) && there.address == 0x800000000 &&
      kernel.address == 0xfffffffeffffd000) {
    return;
  }
  std::fprintf(stderr, "a range is not where the page shows it: 0x%llx\n",
               static_cast<unsigned long long>(kernel.address));
  std::exit(1);
}

// A GPU that finds compression data through a table.
void Compression() {
  auto device = Must(HostDevice::Create());
  auto space = Must(AddressSpace::Create(Must(LayOutZones(AnvZones(), {.verx10 = 120}))));
  auto buffers = Buffers::Create(*device, *space, {});
  HostChunks chunks;
  Batch<Gfx12> batch(chunks);
  const packsmith::address scratch(0x1000, 1, packsmith::access::write);
  // Page: compression
  auto tables =
      Must(StatePool::Create(*buffers, *space, {.zone = Must(space->FindZone("aux tables"))}));
  auto aux = Must(AuxTable::Create(*tables, AuxTableHardwareOf<Gfx12>()));
  EmitAuxTableBase(batch, AuxEngine::kRender, aux->base());  // once for each context
  uint64_t known = aux->version();

  const ZoneId heap = Must(space->FindZone("high heap"));
  const Buffer image =
      Must(buffers->Create({.size = 2 * kMiB, .zone = heap, .alignment = aux->page()}));
  const Buffer data = Must(buffers->Create({.size = 2 * kMiB / 256, .zone = heap, .zeroed = true}));
  const AuxFormat format =
      Must(AuxFormatOf<Gfx12>(SurfaceFormat::R8G8B8A8_UNORM, SurfaceTiling::kY));
  Must(aux->Map(
      {.surface = image.address, .auxiliary = data.address, .size = image.size, .format = format}));

  // In a batch that uses it:
  if (aux->version() != known) EmitAuxInvalidation(batch, AuxEngine::kRender, scratch);
  known = aux->version();
  // With the batch's job:
  Residency residency(*buffers);
  Must(aux->AddTo(residency));
  // When the image is destroyed:
  Must(aux->Unmap(image.address, image.size));
  // End
  if (!batch.status().ok() || aux->Find(image.address).ok()) std::exit(1);
}

void All(const example::DeviceOption& option) {
  // Page: device
  auto device = option.Open({.device = {.family = "intel", .generation = "gfx9", .verx10 = 90}});
  auto space = Must(AddressSpace::Create(Must(LayOutZones(IrisZones(), {.verx10 = 90}))));
  auto buffers = Buffers::Create(*device, *space, {});
  // End

  // Page: buffers
  const ZoneId other = Must(space->FindZone("other"));
  const Buffer vertices = Must(buffers->Create({.size = 36, .zone = other, .name = "vertices"}));
  const float kTriangle[] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  std::memcpy(vertices.cpu, kTriangle, sizeof(kTriangle));

  const gfx9::VERTEX_BUFFER_STATE state{
      .buffer_pitch = 12,
      .address_modify_enable = true,
      .mocs = 4,
      .buffer_starting_address = {vertices.address, vertices.handle},
      .buffer_size = 36,
  };
  // End

  // Page: states
  const ZoneId dynamic = Must(space->FindZone("dynamic"));
  auto pool = Must(
      StatePool::Create(*buffers, *space, {.zone = dynamic, .name = "dynamic", .base = 8 * kGiB}));
  const State viewport = Must(pool->Allocate(gfx9::CC_VIEWPORT::length * 4, 32));
  uint32_t dwords[gfx9::CC_VIEWPORT::length];
  Must(gfx9::CC_VIEWPORT{.maximum_depth = 1}.pack(dwords));
  std::memcpy(viewport.cpu, dwords, sizeof(dwords));

  StateStream frame(*pool, 16 * kKiB);
  const State constants = Must(frame.Allocate(64, 32));
  // End
  std::memset(constants.cpu, 0, constants.size);

  // Page: colours
  auto colors = Must(BorderColors::Create(
      *buffers, {.zone = Must(space->FindZone("border colors")), .address = 8 * kGiB}));
  BorderColors::Entry red = {};
  red[0] = red[3] = 0x3f800000;  // 1.0
  const BorderColor color = Must(colors->Acquire(red));
  const gfx9::SAMPLER_STATE sampler{.border_color_pointer = color.offset};
  // End
  if (sampler.border_color_pointer != 64) std::exit(1);

  // Page: job
  const Buffer batch = Must(buffers->Create({.size = 4096, .zone = other, .name = "batch"}));
  auto* const words = reinterpret_cast<uint32_t*>(batch.cpu);
  uint32_t* to = words;
  const gfx9::STATE_BASE_ADDRESS bases{
      .general_state_mocs = 4,
      .stateless_data_port_access_mocs = 4,
      .surface_state_mocs = 4,
      .dynamic_state_base_address_modify_enable = true,
      .dynamic_state_mocs = 4,
      .dynamic_state_base_address = pool->base(),
      .indirect_object_mocs = 4,
      .instruction_mocs = 4,
      .dynamic_state_buffer_size_modify_enable = true,
      .dynamic_state_buffer_size = 0xfffff,
      .bindless_surface_state_mocs = 4,
  };
  Must(bases.pack(to));
  to += gfx9::STATE_BASE_ADDRESS::length;
  Must(gfx9::_3DSTATE_VERTEX_BUFFERS{}.pack(to, {&state, 1}));
  to += gfx9::_3DSTATE_VERTEX_BUFFERS::dwords_needed(1);
  const gfx9::_3DSTATE_VIEWPORT_STATE_POINTERS_CC pointer{.cc_viewport_pointer = viewport.offset};
  Must(pointer.pack(to));
  to += gfx9::_3DSTATE_VIEWPORT_STATE_POINTERS_CC::length;
  Must(gfx9::MI_BATCH_BUFFER_END{}.pack(to));
  to += gfx9::MI_BATCH_BUFFER_END::length;

  Residency residency(*buffers);
  Must(residency.Add(batch.handle, /*written=*/false));
  Must(residency.Add(viewport.buffer, /*written=*/false));
  state.for_each_address(
      [&](const packsmith::address& at, auto, auto, auto, packsmith::access how) {
        Must(residency.Add(at.buffer, how == packsmith::access::write));
      });
  const std::vector<Fence> before = Must(buffers->JobsBefore(residency.uses()));
  const Fence fence = Must(device->Submit({.engine = "render",
                                           .batch_address = batch.address,
                                           .batch_length = size_t(to - words) * 4,
                                           .residents = residency.residents(),
                                           .after = before}));
  Must(buffers->Use(residency.uses(), fence));
  // End

  // Page: wait
  // Until the GPU has read it; another reader would not have to wait.
  const bool mine = Must(buffers->Wait(vertices.handle, /*to_write=*/true, absl::Seconds(1)));
  // End
  if (!mine) std::exit(1);

  // Page: together
  const BufferOptions wanted[] = {{.size = 2 * kMiB, .zone = other, .name = "colour"},
                                  {.size = 2 * kMiB, .zone = other, .name = "depth"},
                                  {.size = 512 * kKiB, .zone = other, .name = "stencil"}};
  const std::vector<Buffer> targets = Must(buffers->CreateAll(wanted));  // all, or none
  // End
  std::vector<BufferHandle> handles;
  for (const Buffer& target : targets) handles.push_back(target.handle);
  Must(buffers->ReleaseAll(handles));

  // Page: adopt
  // For example of another process: the device knows its origin.
  const MemoryId memory = Must(device->Create({.size = 64 * kKiB, .use = kShared}));
  const Buffer window = Must(
      buffers->Adopt(memory, {.size = 64 * kKiB, .zone = other, .name = "window", .use = kShared}));
  // End
  Must(buffers->Release(window.handle));

  // Page: release
  Must(buffers->Release(batch.handle));  // kept until the job is done, then for the next buffer
  const bool done = Must(device->Wait(fence, absl::Seconds(1)));
  // End
  if (!done) std::exit(1);

  // Page: map
  const std::string json = ZoneMapJson(*space, [&](const Range& range) -> std::string {
    const auto buffer = buffers->Find(range.address);
    return buffer.ok() ? *buffers->Name(buffer->handle) : "";
  });
  const std::string picture = ZoneMapSvg(*space);
  // End
  if (json.find("\"name\":\"border colors\"") == std::string::npos || picture.empty()) std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  const example::DeviceOption option(argc, argv, "CORE");
  Own();
  Ranges();
  Compression();
  All(option);
  option.KeepCores();
  return 0;
}
