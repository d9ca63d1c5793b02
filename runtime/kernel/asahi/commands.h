// What a submission to Linux's asahi driver has, and how it is handed to the kernel.
#ifndef PACKSMITH_RUNTIME_KERNEL_ASAHI_COMMANDS_H_
#define PACKSMITH_RUNTIME_KERNEL_ASAHI_COMMANDS_H_

#include <cstdint>
#include <optional>
#include <variant>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"

namespace packsmith::gpu {

// A place for a time: see AsahiTimestamps.
struct AsahiTime {
  uint32_t object = 0;  // 0: none
  uint32_t offset = 0;  // bytes
};

// Memory that a command writes its results to.
struct AsahiAttachment {
  uint64_t address = 0, size = 0;
};

// What earlier commands must be done before one begins: nullopt: none; 0: all of the context's
// earlier submissions; N: the first N of that kind in this submission.
struct AsahiAfter {
  std::optional<uint16_t> renders = 0, computes = 0;
};

// The program that manages the stacks of shaders which spill registers.
struct AsahiHelper {
  uint32_t binary = 0;  // its address in the programs' window, with bit 0 set; 0: none
  uint32_t configuration = 0;
  uint64_t data = 0;
};

// A USC program that runs when a tile begins or ends.
struct AsahiTileProgram {
  uint32_t program = 0;    // its address in the programs' window, a multiple of 8; 0: none
  uint32_t resources = 0;  // what it binds, as the hardware's word
};

// A depth or stencil buffer, with the metadata of one that is compressed.
struct AsahiDepthBuffer {
  uint64_t address = 0, metadata = 0;
  uint32_t layer_stride = 0, metadata_layer_stride = 0;  // bytes
};

// A run of the compute data master.
struct AsahiCompute {
  uint64_t stream = 0;      // its first block
  uint64_t stream_end = 0;  // the byte after its last block
  uint64_t samplers = 0;    // a table of descriptors
  uint32_t sampler_count = 0;
  AsahiHelper helper = {};
  absl::Span<const AsahiAttachment> attachments = {};
  AsahiAfter after = {};
  AsahiTime begins = {}, ends = {};
};

// A render pass: what the vertex data master draws, tile by tile.
struct AsahiRender {
  uint64_t stream = 0;  // the first block of the vertex data master
  // Pixels of the image, and of a tile: 32 by 32, 32 by 16, or 16 by 16.
  uint16_t width = 0, height = 0;  // 1 to 16384
  uint8_t tile_width = 32, tile_height = 32;
  uint16_t layers = 1;               // 1 to 2048
  uint8_t samples = 1;               // 1, 2 or 4
  uint8_t bytes_per_sample = 4;      // in a tile's memory
  bool process_empty_tiles = false;  // also those without primitives: for clears
  bool vertex_scratch = false;       // vertex shaders spill registers
  bool cluster_vertices = true;
  bool integer_depth_bias = false;

  // What fills a tile when it begins, and stores it when it ends; the second pair is for passes
  // that the hardware splits because their primitives do not fit in memory.
  AsahiTileProgram load = {}, store = {}, partial_load = {}, partial_store = {};
  AsahiHelper vertex_helper = {}, fragment_helper = {};
  uint64_t samplers = 0;
  uint16_t sampler_count = 0;
  uint64_t scissors = 0, depth_biases = 0;  // arrays that PPP records index
  uint64_t visibility = 0;                  // results of occlusion queries

  AsahiDepthBuffer depth = {}, stencil = {};
  uint32_t clear_depth = 0;  // in the depth buffer's format
  uint8_t clear_stencil = 0;
  // Words of the hardware: ZLS control and pixels (depth and stencil buffers), PPP control and
  // multisample control.
  uint64_t zls_control = 0, multisample_control = 0;
  uint32_t zls_pixels = 0, ppp_control = 0;

  absl::Span<const AsahiAttachment> vertex_attachments = {}, fragment_attachments = {};
  AsahiAfter after = {};
  AsahiTime vertex_begins = {}, vertex_ends = {}, fragment_begins = {}, fragment_ends = {};
};

// Bytes of memory for all samples of a tile.
inline constexpr uint32_t kAsahiTileBytes = 32 << 10;
// InvalidArgument, with what does not fit, for an image that the kernel would not render to.
absl::Status CheckAsahiImage(uint32_t width, uint32_t height, uint32_t layers);
// The same for its tiles, whose samples have that many bytes.
absl::Status CheckAsahiTile(uint32_t width, uint32_t height, uint32_t samples, uint64_t bytes);

using AsahiCommand = std::variant<AsahiCompute, AsahiRender>;

struct AsahiLimits {
  uint32_t commands = 0;     // of a submission
  uint32_t attachments = 0;  // of a command and stage
};

using AsahiCommandBuffer = absl::InlinedVector<uint8_t, 512>;

// The command buffer of a submission. InvalidArgument if the kernel would not take it; `out` is
// then not specified.
absl::Status PackAsahiCommands(absl::Span<const AsahiCommand> commands, const AsahiLimits& limits,
                               AsahiCommandBuffer& out);

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_KERNEL_ASAHI_COMMANDS_H_
