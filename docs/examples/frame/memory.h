// The memory of a context: one zone and one pool for each base of the packets' offsets.

#ifndef PACKSMITH_DOCS_EXAMPLES_FRAME_MEMORY_H_
#define PACKSMITH_DOCS_EXAMPLES_FRAME_MEMORY_H_

#include <cstdint>
#include <memory>

#include "absl/strings/string_view.h"
#include "docs/examples/device.h"
#include "docs/examples/frame/part.h"
#include "docs/examples/must.h"
#include "runtime/intel/memory/border_colors.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/buffers.h"
#include "runtime/memory/device.h"
#include "runtime/memory/state_pool.h"
#include "runtime/memory/state_stream.h"

namespace frame {

namespace gpu = packsmith::gpu;
using example::Must;

class Memory {
 public:
  Memory(const Part& part, const example::DeviceOption& option);

  gpu::ZoneId Zone(absl::string_view name) const;
  gpu::Buffer NewBuffer(uint64_t size, absl::string_view name);

  const std::unique_ptr<gpu::Device> device;
  const std::unique_ptr<gpu::AddressSpace> space;
  const std::unique_ptr<gpu::Buffers> buffers;
  const std::unique_ptr<gpu::StatePool> kernel_pool, surface_pool, dynamic_pool;
  const std::unique_ptr<intel::BorderColors> border_colors;
  // Data of this frame alone.
  gpu::StateStream kernels, surfaces, dynamic;
};

}  // namespace frame

#endif  // PACKSMITH_DOCS_EXAMPLES_FRAME_MEMORY_H_
