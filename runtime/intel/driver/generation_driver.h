// The classes of this room for one generation, as a table: what Context chooses from when it is
// created. The build makes one for each generation from gfx.cc.in.

#ifndef PACKSMITH_RUNTIME_INTEL_DRIVER_GENERATION_DRIVER_H_
#define PACKSMITH_RUNTIME_INTEL_DRIVER_GENERATION_DRIVER_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/intel/binding/surface.h"
#include "runtime/intel/query/perf_delta.h"

namespace packsmith::intel {

class CommandBuffer;
struct CommandBufferOptions;
class Context;
class GraphicsPipeline;
struct GraphicsPipelineOptions;
struct PixelPipes;
class SavedReader;
class SlicePlan;
class StateUses;

struct GenerationDriver {
  const char* name;    // by the XML
  unsigned version;    // times ten
  SurfaceTiling tile;  // of images: Y, from Gfx12.5 on 4
  absl::StatusOr<std::unique_ptr<CommandBuffer>> (*new_command_buffer)(
      Context& context, const CommandBufferOptions& options);
  absl::StatusOr<std::unique_ptr<GraphicsPipeline>> (*new_graphics_pipeline)(
      const Context& context, const GraphicsPipelineOptions& options);
  absl::StatusOr<std::unique_ptr<GraphicsPipeline>> (*load_graphics_pipeline)(Context& context,
                                                                              SavedReader& from);
  // WriteSurface() of the generation.
  absl::Status (*write_scratch_surface)(const ScratchSurface& surface, uint32_t* dwords,
                                        StateUses* uses);
  // PlanSliceHashing() of the generation.
  absl::StatusOr<std::unique_ptr<SlicePlan>> (*plan_slices)(const PixelPipes& pipes);
  // CanReplicate() of the generation.
  bool replicates;
  // PerfQueryBytes() and ReadPerfQuery() of the generation.
  uint64_t perf_query_bytes;
  absl::StatusOr<PerfDelta> (*read_perf_query)(const uint8_t* memory, uint32_t id);
};

// All of them, the oldest first.
absl::Span<const GenerationDriver* const> GenerationDrivers();
// NotFound, with the known names.
absl::StatusOr<const GenerationDriver*> FindGenerationDriver(absl::string_view name);

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DRIVER_GENERATION_DRIVER_H_
