#include "docs/examples/frame/memory.h"

#include "docs/examples/must.h"
#include "runtime/intel/memory/driver_zones.h"
#include "runtime/memory/zones.h"

namespace frame {

using namespace packsmith::gpu;    // NOLINT: an example
using namespace packsmith::intel;  // NOLINT: an example

// Page: memory
Memory::Memory(const Part& part, const example::DeviceOption& option)
    : device(option.Open({.device = {.family = "intel",
                                     .generation = part.generation,
                                     .platform = part.platform,
                                     .verx10 = part.verx10}})),
      space(Must(AddressSpace::Create(
          Must(LayOutZones(ZonesFor(device->address_space()), {.verx10 = part.verx10}))))),
      buffers(Buffers::Create(*device, *space, {})),
      // Kernels are relative to 0, dynamic states to the border colours, to which pointers have few
      // bits.
      kernel_pool(Must(StatePool::Create(*buffers, *space,
                                         {.zone = Zone("shader"), .name = "kernels", .base = 0}))),
      surface_pool(
          Must(StatePool::Create(*buffers, *space, {.zone = Zone("surface"), .name = "surfaces"}))),
      dynamic_pool(Must(StatePool::Create(*buffers, *space,
                                          {.zone = Zone("dynamic"),
                                           .name = "dynamic",
                                           .base = space->zone(Zone("border colors")).begin}))),
      border_colors(Must(BorderColors::Create(*buffers, {.zone = Zone("border colors")}))),
      kernels(*kernel_pool, 16 * kKiB),
      surfaces(*surface_pool, 16 * kKiB),
      dynamic(*dynamic_pool, 16 * kKiB) {}
// End

ZoneId Memory::Zone(absl::string_view name) const { return Must(space->FindZone(name)); }

Buffer Memory::NewBuffer(uint64_t size, absl::string_view name) {
  return Must(buffers->Create({.size = size, .zone = Zone("other"), .name = name, .zeroed = true}));
}

}  // namespace frame
