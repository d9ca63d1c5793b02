// Thread payloads: what the registers of a shader's threads hold when they begin.
//
//   absl::StatusOr<ThreadPayload> payload =
//       PayloadOf(vertex, FactsOf(90), {.constant_units = 4});
//   payload->ToText();
//     r0       thread header
//     r1       URB handles of 8 output vertices
//     r2-r5    push constants
//     r6-r9    vertex element 0: x, y, z, w of 8 vertices
//     …
//
// A compiler learns from it where its inputs are, and the least start register; a debugger, what it
// sees in the registers of a thread. For the latter payload_packets.h reads the stages' structs
// back from packets.
//
// The hardware delivers, in this order: the thread header; what the packets of the stage ask for;
// from the start register on push constants, and after them data of the URB. Sources: PRMs, volume
// "3D Pipeline", "Thread Payload" of each stage; the positions that Mesa's compilers rely on.

#ifndef PACKSMITH_RUNTIME_INTEL_PIPELINE_THREAD_PAYLOAD_H_
#define PACKSMITH_RUNTIME_INTEL_PIPELINE_THREAD_PAYLOAD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/intel/device/generation_facts.h"
#include "runtime/intel/pipeline/stages.h"

namespace packsmith::intel {

enum class PayloadKind : uint8_t {
  kHeader,           // of the thread: pointers to state, scratch, ids
  kHeaderAndPixels,  // and in its second half what kPixels has (from Xe2 on)
  kPixels,           // of 16 pixels: masks, positions of 2x2 blocks, ids of samples, facing
  kOutputHandles,    // URB handles of what the threads write: a dword in each lane
  kPatchHandles,     // … of output patches
  kPointHandles,     // … of the input control points of one patch: a dword each
  kControlPoint,     // … of control point `index` of each patch
  kInputVertex,      // … of vertex `index` of each primitive
  kPrimitiveIds,     // a dword in each lane
  kTessU,
  kTessV,
  kTessW,         // coordinates of domain points: a float in each lane
  kBarycentrics,  // of mode `index`, the number of the bit in the mask
  kSourceDepth,   // floats
  kSourceW,
  kPositionOffsets,  // bytes x, y of each lane, in 1/16 pixel
  kCoverage,         // a dword of samples in each lane
  kSampleOffsets,    // of the samples of a pixel
  kDepthWPlanes,     // coefficients
  kPerspectivePlanes,
  kSharedPlanes,  // from Xe2 on: of depth, w and perspective barycentric coordinates
  kLinearPlanes,
  kLocalIds,     // x, y or z (`index` 0, 1, 2) of invocations: a word in each lane
  kRayStackIds,  // a word in each lane
  kInlineData,   // eight dwords of the packet
  // Of dispatches up to Gfx12: constants that all threads share, then each thread's own.
  kSharedConstants,
  kThreadConstants,
  kConstants,      // push constants: buffers 0 to 3, one after the other
  kVertexElement,  // element `index`: a register for each component
  kVertexData,     // URB slots of input vertex `index`
  kPatchData,      // URB slots of the patch
  // Planes of attribute `index`; of all attributes, five components in each register. Of several
  // polygons each register comes once for each of them, before the next register.
  kAttribute,
  kAttributes,
};

struct PayloadPart {
  PayloadKind kind = PayloadKind::kHeader;
  uint16_t first = 0;  // register
  uint16_t count = 1;
  uint8_t index = 0;
  uint8_t half = 0;  // of the lanes, 16 each: for SIMD32
};

// Registers are of GenerationFacts::register_bytes.
struct ThreadPayload {
  unsigned lanes = 8;
  unsigned polygons = 1;           // of pixel shaders
  std::vector<PayloadPart> parts;  // by register
  // The first register after what the hardware delivers before constants and URB data: the least
  // start register.
  unsigned before_start = 1;
  unsigned registers = 1;  // all of them

  // Null: the register is not part of the payload.
  const PayloadPart* At(unsigned reg) const;
  // What a part holds: "push constants".
  std::string DescriptionOf(const PayloadPart& part) const;
  // One line for each part: "r2-r5    push constants".
  std::string ToText() const;
};

// What a walker and its interface descriptor say of threads.
struct ComputeThreads {
  uint64_t kernel = 0;  // offset from the instruction base
  unsigned lanes = 16;  // 8 (not on Xe2), 16 or 32
  // Up to Gfx12: registers of constants.
  unsigned shared_registers = 0, thread_registers = 0;
  // From Gfx12.5 on.
  uint8_t local_ids = 0;  // that hardware makes: x, y and z, a bit each
  bool ray_stack_ids = false;
  bool inline_data = false;
};

// What the packets of a stage do not say.
struct PayloadInputs {
  uint32_t constant_units = 0;  // push constants: the sum of the four read lengths, in 32 bytes
};

// A start register of 0 is not chosen yet: the least one is taken.
// Errors: a width or way of dispatch that the generation lacks (InvalidArgument), a start register
// that is too low, or 128 registers that do not suffice (256 where
// GenerationFacts::has_register_blocks).
absl::StatusOr<ThreadPayload> PayloadOf(const VertexShader& shader, const GenerationFacts& facts,
                                        const PayloadInputs& inputs = {});
absl::StatusOr<ThreadPayload> PayloadOf(const TessControlShader& shader,
                                        const GenerationFacts& facts,
                                        const PayloadInputs& inputs = {});
absl::StatusOr<ThreadPayload> PayloadOf(const TessEvalShader& shader, const GenerationFacts& facts,
                                        const PayloadInputs& inputs = {});
absl::StatusOr<ThreadPayload> PayloadOf(const GeometryShader& shader, const GenerationFacts& facts,
                                        const PayloadInputs& inputs = {});
// Of the kernel with this many lanes: 8, 16 or 32. NotFound if the shader has none. Without
// `shader.constants` no constants are delivered, whatever `inputs` says.
absl::StatusOr<ThreadPayload> PayloadOf(const FragmentShader& shader, unsigned lanes,
                                        const GenerationFacts& facts,
                                        const PayloadInputs& inputs = {});
// Of its kernel of several polygons: NotFound if there is none.
absl::StatusOr<ThreadPayload> MultiPolygonPayloadOf(const FragmentShader& shader,
                                                    const GenerationFacts& facts,
                                                    const PayloadInputs& inputs = {});
// Tasks and meshes: they have no start register, and load constants themselves.
absl::StatusOr<ThreadPayload> PayloadOf(const WorkgroupProgram& group,
                                        const GenerationFacts& facts);
// Dispatches. From Gfx12.5 on kernels load constants themselves, from where the header says.
absl::StatusOr<ThreadPayload> PayloadOf(const ComputeThreads& threads,
                                        const GenerationFacts& facts);

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_PIPELINE_THREAD_PAYLOAD_H_
