// Properties of devices that are not in packets: on-chip memory, limits of shared functions,
// threads of stages, and the kernels' numbers of caching policies.
//
// Drivers learn from the kernel which device it is (how many slices, how many banks of L3). The
// table has what is known; callers with better values can fill in a RenderDevice.

#ifndef PACKSMITH_RUNTIME_INTEL_DEVICE_RENDER_DEVICES_H_
#define PACKSMITH_RUNTIME_INTEL_DEVICE_RENDER_DEVICES_H_

#include <array>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace packsmith::intel {

// The stages that keep vertices in the URB, in the order of their parts.
enum class UrbStage : unsigned { kVertex, kHull, kDomain, kGeometry };
inline constexpr unsigned kUrbStages = 4;

// The most threads that a stage may have at a time. Packets take one less: 3DSTATE_VS and the like
// for the whole device, 3DSTATE_PS for each of its dispatchers (PSD). CFE_STATE takes the number
// itself, MEDIA_VFE_STATE one less, each for all subslices that kernels report.
struct StageThreads {
  unsigned vertex = 0, hull = 0, domain = 0, geometry = 0;
  unsigned pixel = 0;    // of a dispatcher
  unsigned compute = 0;  // of a subslice; from Gfx12 on, of a dual subslice
};

// Values of fields called MOCS: the number of an entry in the kernel's table, times 2; before Gfx9
// the bits of a policy.
struct CachePolicies {
  unsigned cached = 0;  // memory that only the GPU uses
  unsigned shared = 0;  // memory that others access, displays for example
  unsigned uncached = 0;
  unsigned copied = 0;  // by the blitter; 0: as the other policies
  // Render targets, textures and constants, but not storage images: cached also in the data port's
  // first-level cache. 0: as `cached`.
  unsigned first_level = 0;
  unsigned stream_output = 0;  // for writes to buffers of stream output; 0: as `cached`
};

struct RenderDevice {
  absl::string_view name = {};       // "skl gt2"; unique
  absl::string_view platforms = {};  // names in the descriptions, separated by blanks
  unsigned version = 0;              // of the generation, times ten
  unsigned slices = 1;
  unsigned l3_banks = 0;     // of all slices; 0: L3 is not partitioned by software
  unsigned l3_way_kb = 0;    // of one bank
  unsigned most_urb_kb = 0;  // of all slices, regardless of L3; 0: no limit
  unsigned urb_kb = 0;       // of a slice, if it does not depend on L3; 0: it does
  unsigned push_constant_kb = 32;
  std::array<unsigned, kUrbStages> least_entries = {};  // of a stage that is active
  std::array<unsigned, kUrbStages> most_entries = {};
  // The part of the URB that compute engines take: KB for each bank.
  unsigned compute_kb_per_bank = 0;
  // The pipeline of tasks and meshes: entries of each, and the part of a slice's URB for push
  // constants. 0: there is none.
  unsigned most_mesh_entries = 0;
  unsigned mesh_push_constant_kb = 0;
  // Before a base moves, the caches of a compute pipeline must be invalidated, too: Wa_14014427904.
  bool forgets_before_moves = false;
  // Writes of timestamps and counts by PIPE_CONTROL need a stall of the command streamer: GT4 of
  // Gfx9 (found by Mesa).
  bool query_writes_need_stall = false;
  // 3DSTATE_SF has the width of lines in another field: Cherryview.
  bool other_line_width = false;
  // Numbers of threads of a subslice by which hardware finds scratch memory, where they are not
  // those of the generation. Cherryview numbers threads as if subslices of 6 execution units had 8
  // (Mesa's intel_device_info.c, max_scratch_ids). 0: as GenerationFacts::scratch_threads says.
  unsigned scratch_threads = 0;
  StageThreads threads;
  CachePolicies caching;
};

absl::Span<const RenderDevice> RenderDevices();
// The NotFound error lists the known names.
absl::StatusOr<RenderDevice> FindRenderDevice(absl::string_view name);

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DEVICE_RENDER_DEVICES_H_
