// Shader stages: what a compiler knows of its programs.
//
//   VertexShader vertex{.entry = {.offset = 0x40, .start_register = 2}, .urb_read_length = 1};
//   FragmentShader fragment{.simd16 = ShaderEntry{.offset = 0x80, .start_register = 4}, .inputs =
//   1}; absl::Status status = AddShaders({.vertex = &vertex, .fragment = &fragment}, device,
//   pipeline);
//
// The structs are the same for all generations. stage_packets.h makes packets of them, varyings.h
// connects the outputs of one stage with the inputs of the next, and thread_payload.h says which
// registers a program's threads begin with.
//
// Offsets of kernels count from the instruction base and must be multiples of 64 bytes. Registers
// are those of the generation: 32 bytes up to Gfx12.5, 64 bytes from Xe2 on. Parts of URB entries
// are in units of 32 bytes, which is two slots.

#ifndef PACKSMITH_RUNTIME_INTEL_PIPELINE_STAGES_H_
#define PACKSMITH_RUNTIME_INTEL_PIPELINE_STAGES_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "packsmith/pack.h"
#include "runtime/intel/device/generation_facts.h"
#include "runtime/intel/pipeline/rasterization.h"

namespace packsmith::intel {

// Memory that each thread has for itself. Command buffers' pipelines (runtime/intel/driver) have it
// of the context if only `bytes_per_thread` is set.
struct ShaderScratch {
  // What the program needs; 0: nothing. Packets up to Gfx12 state the next power of two, from 1 KiB
  // to 2 MiB; later the surface does.
  uint32_t bytes_per_thread = 0;
  // Up to Gfx12: memory for all threads of the stage, from the general state base; a multiple of
  // 1 KiB.
  address place = {};
  // From Gfx12.5 on: the offset of the surface state that describes this memory, from the base of
  // bindless surface states; a multiple of 64 bytes, and not 0.
  uint32_t surface = 0;
};

// What programs of all stages have.
struct ShaderProgram {
  // Registers that a thread uses, up to 256; 0: 128. Xe3 allocates that many, in blocks of 32; on
  // earlier generations more than 128 are an error.
  uint32_t registers = 0;
  // Entries of the binding table, and samplers, that are prefetched. Threads may use more; entries
  // above 255 and samplers above 16 are not prefetched.
  uint32_t binding_table_entries = 0;
  uint32_t samplers = 0;
  ShaderScratch scratch = {};
  bool vector_mask = false;      // messages use the mask of whole 2x2 pixels (Vmask), not Dmask
  bool alternate_float = false;  // not IEEE 754
  bool writes_memory = false;    // by messages other than those to render targets
};

// One kernel.
struct ShaderEntry {
  uint64_t offset = 0;
  // The first register that holds constants, or, without constants, URB data. It must be above all
  // that the hardware delivers before them: see thread_payload.h.
  uint32_t start_register = 0;
};

// Bit i: the clip distance i clips, or culls.
struct ShaderDistances {
  uint8_t clip = 0;
  uint8_t cull = 0;
};

// SIMD8, and SIMD16 from Xe2 on.
struct VertexShader {
  ShaderProgram program = {};
  ShaderEntry entry = {};
  uint32_t urb_read_offset = 0;
  uint32_t urb_read_length = 0;    // of vertex elements, two in each unit
  ShaderDistances distances = {};  // if it is the last stage before the clipper
  bool cached = true;              // equal indices of a draw may share a vertex
  bool statistics = true;
};

// How many patches a thread works on.
enum class HullDispatch : uint8_t {
  kSinglePatch,   // lanes are control points: up to Gfx12.5
  kPatchPerLane,  // lanes are patches, 8 or, from Xe2 on, 16: from Gfx9 on
};

struct TessControlShader {
  ShaderProgram program = {};
  ShaderEntry entry = {};
  HullDispatch dispatch = HullDispatch::kSinglePatch;
  uint32_t instances = 1;  // threads for each patch (for each group of patches)
  uint32_t urb_read_offset = 0;
  uint32_t urb_read_length = 0;
  uint32_t input_control_points = 0;  // of a patch; for the payload
  bool vertex_handles = true;         // in the payload
  bool primitive_id = false;          // in the payload; from Gfx9 on
  // From Gfx12 on: patches that a thread with a patch in each lane waits for; 0: the default.
  uint32_t patch_count_threshold = 0;
  bool statistics = true;
};

// The fixed-function stage between the two programs.
enum class TessDomain : uint8_t { kQuad, kTriangle, kIsoline };
enum class TessSpacing : uint8_t { kEqual, kFractionalOdd, kFractionalEven };
enum class TessOutput : uint8_t { kPoint, kLine, kTriangleClockwise, kTriangleCounterClockwise };
// From Gfx12.5 on: whether the tessellated parts of patches are spread over all slices.
enum class TessDistribution : uint8_t { kOff, kStrict, kFree };

struct Tessellator {
  TessDomain domain = TessDomain::kTriangle;
  TessSpacing spacing = TessSpacing::kEqual;
  TessOutput output = TessOutput::kTriangleCounterClockwise;
  // DG2-G10 and G12 need kStrict (Wa_22012699309).
  TessDistribution distribution = TessDistribution::kFree;
};

// SIMD8 with one patch, and SIMD16 from Xe2 on.
struct TessEvalShader {
  ShaderProgram program = {};
  ShaderEntry entry = {};
  Tessellator tessellator = {};
  uint32_t patch_read_offset = 0;  // of the patch's URB entry
  uint32_t patch_read_length = 0;
  bool primitive_id = true;        // the program reads it
  ShaderDistances distances = {};  // if it is the last stage before the clipper
  bool statistics = true;
};

enum class GeometryOutput : uint8_t { kPoints, kLineStrip, kTriangleStrip };
// What the header of a program's output has for each vertex.
enum class GeometryControl : uint8_t { kCut, kStreamId };

// SIMD8, and SIMD16 from Xe2 on.
struct GeometryShader {
  ShaderProgram program = {};
  ShaderEntry entry = {};
  uint32_t urb_read_offset = 0;
  uint32_t urb_read_length = 0;  // of each vertex
  uint32_t input_vertices = 3;   // of a primitive, at most 32
  bool vertex_handles = true;    // in the payload
  bool primitive_id = false;     // in the payload
  uint32_t invocations = 1;      // at most 32
  GeometryOutput output = GeometryOutput::kTriangleStrip;
  uint32_t output_vertex_bytes = 32;  // a multiple of 32, at most 1024 (Vertex URB entries)
  GeometryControl control = GeometryControl::kCut;
  uint32_t control_bytes = 0;  // of the header; a multiple of 32
  uint32_t default_stream = 0;
  // The number of vertices that each invocation makes, if it is known.
  std::optional<uint32_t> output_vertices = {};
  bool discard_adjacency = false;
  ShaderDistances distances = {};
  bool statistics = true;
};

// What of a pixel's coverage a program reads.
enum class CoverageInput : uint8_t {
  kNone,
  kNormal,
  kInner,       // fully covered pixels: inner conservative rasterization, from Gfx9 on
  kAfterDepth,  // samples that have passed the depth test, from Gfx9 on
};
enum class PositionOffset : uint8_t { kNone, kCentroid, kSample };
// Depth that a program computes, compared with the rasterizer's.
enum class ComputedDepth : uint8_t { kNone, kAny, kGreaterOrEqual, kLessOrEqual };

// A kernel whose threads work on several polygons, each with its own lanes. From Gfx12 on: two
// polygons of 8 lanes (dual SIMD8), from Xe2 on also two of 16 and four of 8.
struct MultiPolygonEntry {
  ShaderEntry entry = {};
  uint32_t polygons = 2;
  uint32_t polygon_lanes = 8;

  uint32_t lanes() const { return polygons * polygon_lanes; }
};

struct FragmentShader {
  ShaderProgram program = {};
  // The kernels that there are. Xe2 has no SIMD8.
  std::optional<ShaderEntry> simd8 = {}, simd16 = {}, simd32 = {};
  // Runs instead of SIMD8; from Xe2 on a SIMD16 kernel beside it runs only if there is no SIMD32
  // kernel, and if it has 16 lanes itself. Not for clears, resolves and coarse pixels.
  std::optional<MultiPolygonEntry> multi_polygon = {};
  uint32_t inputs = 0;     // attributes: FragmentInputs has their places
  bool constants = false;  // reads push constants; otherwise none are in the payload
  // A mask of kPerspectivePixel … kLinearSample (rasterization.h): see BarycentricsOf().
  uint8_t barycentrics = 0;
  bool source_depth = false;  // reads the depth, and the W, that the rasterizer computed
  bool source_w = false;
  CoverageInput coverage = CoverageInput::kNone;
  PositionOffset position_offset = PositionOffset::kNone;
  // From Gfx11 on.
  bool sample_offsets = false;
  bool depth_w_coefficients = false;
  bool perspective_coefficients = false;
  bool linear_coefficients = false;
  bool coarse_pixel_size = false;
  bool per_coarse_pixel = false;

  bool per_sample = false;          // runs once for each sample
  bool pulls_barycentrics = false;  // by messages; Gfx9 to Gfx12.5 have a bit for this
  bool kills_pixels = false;        // discards
  bool writes_sample_mask = false;  // oMask
  bool writes_stencil = false;      // from Gfx9 on
  ComputedDepth computed_depth = ComputedDepth::kNone;
  bool writes_color = true;
  bool dual_source = false;  // a second color for blending
  bool early_tests = false;  // depth and stencil are tested before, whatever the program does
  bool statistics = true;
};

// What pixels are written for.
enum class PixelOperation : uint8_t { kDraw, kFastClear, kPartialResolve, kFullResolve };
struct PixelTarget {
  uint32_t samples = 1;  // of a pixel: 1, 2, 4, 8 or 16
  PixelOperation operation = PixelOperation::kDraw;
};

// Threads that work together on one group of tasks or meshes. From Gfx12.5 on.
struct WorkgroupProgram {
  ShaderProgram program = {};
  uint64_t entry = 0;
  uint32_t simd = 16;           // lanes: 8 (not on Xe2), 16 or 32
  uint32_t invocations = 1;     // of a group, at most 1024
  uint32_t local_bytes = 0;     // of shared local memory
  uint32_t barriers = 0;        // at most 2
  bool local_ids = true;        // x of each invocation, in the payload
  bool inline_data = true;      // eight dwords of 3DSTATE_*_SHADER_DATA, in the payload
  uint32_t indirect_bytes = 0;  // of indirect data that the program reads
  bool draw_id = false;         // reads the first extended parameter of the draw
  uint32_t most_groups = 512;   // that are in flight
  bool statistics = true;
};
struct TaskShader {
  WorkgroupProgram group = {};
};

enum class MeshOutput : uint8_t { kPoints, kLines, kTriangles };
enum class MeshIndices : uint8_t { kBytesOfDword, kBytes, kWords, kDwords };

struct MeshShader {
  WorkgroupProgram group = {};
  MeshOutput output = MeshOutput::kTriangles;
  MeshIndices indices = MeshIndices::kDwords;
  uint32_t most_primitives = 1;  // at most 1024
  // URB data of each primitive and vertex: the distance between two, and the part that fragment
  // shaders read, which begins after the header. Multiples of 32 bytes; 0: none.
  uint32_t primitive_pitch_bytes = 0;
  uint32_t primitive_header_bytes = 0, primitive_read_bytes = 0;
  uint32_t vertex_pitch_bytes = 32;
  uint32_t vertex_header_bytes = 0, vertex_read_bytes = 0;
  ShaderDistances distances = {};
};

// The programs of a pipeline; null: the stage is off. Tessellation needs both of its programs.
struct ShaderStages {
  const VertexShader* vertex = nullptr;
  const TessControlShader* tess_control = nullptr;
  const TessEvalShader* tess_eval = nullptr;
  const GeometryShader* geometry = nullptr;
  const FragmentShader* fragment = nullptr;
  // The fragment shader reads the primitive's id: see FragmentInputs.
  bool fragment_reads_primitive_id = false;
  PixelTarget target = {};
};
struct MeshStages {
  const TaskShader* task = nullptr;
  const MeshShader* mesh = nullptr;
  const FragmentShader* fragment = nullptr;
  PixelTarget target = {};
};

// -- Rules that need no packets ------------------------------------------------------------------

// The value of Sampler Count: groups of four. Zero where no sampler may be prefetched
// (Wa_1606682166).
uint32_t SamplerGroups(uint32_t samplers, const GenerationFacts& facts);

// The value of Per-Thread Scratch Space up to Gfx12: a power of two in KiB. An error above 2 MiB.
absl::StatusOr<uint32_t> ScratchPower(uint32_t bytes_per_thread);

// Checks a program, and its entry if it has one, for a stage ("vertex shader").
absl::Status CheckProgram(absl::string_view stage, const ShaderProgram& program,
                          const GenerationFacts& facts);
absl::Status CheckEntry(absl::string_view stage, uint64_t offset);

// Whether a geometry shader's sizes and counts can be stated.
absl::Status CheckGeometry(const GeometryShader& shader);
// Whether the stages can be a pipeline: both programs of tessellation or none, and a vertex shader.
absl::Status CheckStages(const ShaderStages& stages);
// … and those of a mesh: its sizes, and no other stage without a mesh shader.
absl::Status CheckMeshStages(const MeshStages& stages);

// The value of Registers Per Thread on Xe3: blocks of 32 registers minus 1; the largest is 256.
uint32_t RegisterBlocks(uint32_t registers);

// Which kernels of a pixel shader are enabled.
struct PixelWidths {
  bool simd8 = false, simd16 = false, simd32 = false;
  bool multi_polygon = false;
};
// Those that the shader has and the hardware permits together: PixelRules. An error if none is
// left, with the width that is missing, or for polygons that a thread cannot work on.
absl::StatusOr<PixelWidths> ChoosePixelWidths(const FragmentShader& shader,
                                              const PixelTarget& target,
                                              const GenerationFacts& facts);

// The kernels of a pixel shader by slot: Kernel Start Pointer 0, 1, 2.
struct PixelKernels {
  // Null: the slot is not used. Unused slots hold the first kernel's offset in packets.
  const ShaderEntry* slots[3] = {};
  const ShaderEntry* first = nullptr;  // that of slot 0, or the narrowest, enabled or not
};
// PRM, 3DSTATE_PS, "Kernel Start Pointer": the narrowest kernel is in slot 0 if it is SIMD8 or the
// only one, SIMD32 in slot 1 and SIMD16 in slot 2 beside others. From Xe2 on SIMD16 is in slot 0
// and SIMD32 in slot 1. A kernel of several polygons is in slot 0 (Mesa's anv).
PixelKernels PlacePixelKernels(const FragmentShader& shader, PixelWidths widths,
                               const GenerationFacts& facts);

// What AddRasterization() must know of a fragment shader; null: it is off.
PixelTraits TraitsOf(const FragmentShader* shader);

// Threads of a group, and the lanes of the last one.
struct GroupThreads {
  uint32_t threads = 0;
  uint32_t last_mask = 0;
};
absl::StatusOr<GroupThreads> SplitGroup(absl::string_view stage, const WorkgroupProgram& group,
                                        const GenerationFacts& facts);

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_PIPELINE_STAGES_H_
