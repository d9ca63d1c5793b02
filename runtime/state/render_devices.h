// What partitions of on-chip memory depend on: how much of it a device has, and what its shared
// functions can take.
//
// Which device it is, a driver learns from the kernel (how many slices, how many banks of L3); a
// description of a command stream does not say. The table has what is known; whoever knows better
// fills in a RenderDevice.

#ifndef PACKSMITH_RUNTIME_STATE_RENDER_DEVICES_H_
#define PACKSMITH_RUNTIME_STATE_RENDER_DEVICES_H_

#include <array>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace packsmith::gpu {

// The stages that keep vertices in the URB, in the order of their parts.
enum class UrbStage : unsigned { kVertex, kHull, kDomain, kGeometry };
inline constexpr unsigned kUrbStages = 4;

struct RenderDevice {
  absl::string_view name;       // "skl gt2"; no two are alike
  absl::string_view platforms;  // as the descriptions call them, separated by blanks
  unsigned version = 0;         // of the generation, times ten
  unsigned slices = 1;
  unsigned l3_banks = 0;     // of all slices; 0: L3 is not partitioned by software
  unsigned l3_way_kb = 0;    // of one bank
  unsigned most_urb_kb = 0;  // of all slices, whatever L3 gives to it; 0: no such limit
  unsigned urb_kb = 0;       // of a slice, where L3 has no say in it; 0: it has
  unsigned push_constant_kb = 32;
  std::array<unsigned, kUrbStages> least_entries = {};  // of a stage that is active
  std::array<unsigned, kUrbStages> most_entries = {};
  // Compute engines take some of the URB: KB a bank.
  unsigned compute_kb_per_bank = 0;
};

absl::Span<const RenderDevice> RenderDevices();
// NotFound lists what there is.
absl::StatusOr<RenderDevice> FindRenderDevice(absl::string_view name);

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_STATE_RENDER_DEVICES_H_
