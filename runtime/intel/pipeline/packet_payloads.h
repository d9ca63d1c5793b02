// Thread payloads of a draw or dispatch, from the packets that it finds set: for debuggers, which
// learn only at run time of which generation they are.
//
//   const SeenPacket draw = {"3DPRIMITIVE", dwords};
//   absl::StatusOr<std::vector<KernelPayload>> kernels = PayloadsOf("gfx9", draw, state);
//   for (const KernelPayload& kernel : *kernels) {
//     if (kernel.payload.ok()) std::fputs(kernel.payload->ToText().c_str(), stdout);
//   }
//
// Packets become shaders again (payload_packets.h), and these payloads (thread_payload.h): what a
// compiler relies on, and what a debugger shows, is computed by the same code.

#ifndef PACKSMITH_RUNTIME_INTEL_PIPELINE_PACKET_PAYLOADS_H_
#define PACKSMITH_RUNTIME_INTEL_PIPELINE_PACKET_PAYLOADS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/intel/pipeline/thread_payload.h"

namespace packsmith::intel {

// A packet, or a structure that one points to.
struct SeenPacket {
  absl::string_view name;  // by the description: "3DSTATE_VS"
  absl::Span<const uint32_t> dwords;
  int64_t index = -1;  // of a structure in its table
};

struct KernelPayload {
  absl::string_view stage;  // "vertex shader"
  uint64_t kernel = 0;      // offset from the instruction base
  // Errors of PayloadOf(); Unimplemented for ways of dispatch whose payloads are not described;
  // NotFound if a packet that it depends on is not there.
  absl::StatusOr<ThreadPayload> payload;
};

// Of the kernels of all stages that are on, in the order of the pipeline; a fragment shader has one
// for each width. Of several packets of a name, the last one counts. None for work without kernels
// that are known: draws of rectangles without a shader, media objects. NotFound, with the known
// names: the generation is not one of them.
absl::StatusOr<std::vector<KernelPayload>> PayloadsOf(absl::string_view generation,
                                                      const SeenPacket& work,
                                                      absl::Span<const SeenPacket> state);

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_PIPELINE_PACKET_PAYLOADS_H_
