// Behaviour of hardware generations that is not in packet layouts: one column for each generation.
//
//   if constexpr (Gen::kFacts.stall_needs_company) …
//
// Code tests the fact, never the generation's number: a new generation is then its XML and a column
// at the end of kGenerationFacts. A column names all facts that hold, and inherits nothing from the
// one before it: a workaround applies to the generations that have it in their column.
//
// The existence of packets and fields is not here, because the XML has it: code tests for the
// member (`requires { pipe.dc_flush_enable; }`). Differences between devices of one
// generation are in runtime/intel/device/render_devices.h.
//
// Each fact has its source: PRM is the Programmer's Reference Manual, BSpec its successor, cited by
// page number, Wa_ is the vendor's number of a workaround. "found by Mesa" is what its drivers do
// without a manual's statement.

#ifndef PACKSMITH_RUNTIME_INTEL_DEVICE_GENERATION_FACTS_H_
#define PACKSMITH_RUNTIME_INTEL_DEVICE_GENERATION_FACTS_H_

#include <bit>
#include <cstddef>
#include <cstdint>

namespace packsmith::intel {

// Where binding tables are, and how pointers reach them: see binding_rules.h.
struct BindingRules {
  uint32_t block = 0;          // bytes for tables that one base reaches
  uint32_t alignment = 0;      // of tables, in bytes
  unsigned pointer_shift = 0;  // low bits of a table's offset that pointers omit
  bool own_base = false;       // that of 3DSTATE_BINDING_TABLE_POOL_ALLOC
  uint32_t first = 0;          // offset of the first table, in bytes
};

// Pixels that may be discarded wait for those before them, unless a register's bit disables it:
// whether the bit is for depth or for stencil.
enum class PixelMaskStall : uint8_t { kNone, kDepth, kStencil };

// The divisions of the third-level cache that are known to work: a table in l3.cc. kNone: software
// cannot choose.
enum class L3Division : uint8_t { kNone, kGfx8, kGfx9, kGfx11, kGfx12 };

// How software spreads pixels over pixel pipes of which some subslices are fused off: see
// slice_hashing.h. kNone: hardware does.
enum class PixelHashing : uint8_t { kNone, kTwoPipes, kThreePipes, kAnyPipes };

// What a pixel of a draw stands for that clears colours fast or resolves them: color_operations.h.
// kNone: it is not known, or the generation cannot.
enum class ColorScaling : uint8_t { kNone, kGfx8, kGfx9, kGfx12, kGfx125 };

// Which kernels of a pixel shader may be enabled together (PRM, 3DSTATE_PS, "8, 16 and 32 Pixel
// Dispatch Enable").
struct PixelRules {
  bool has_simd8 = false;  // (from Xe2 on a kernel has at least 16 lanes)
  // Shaders that run once for each sample have kernels of one width only.
  bool one_width_per_sample = false;
  // Such shaders have no SIMD32 kernel if pixels have several samples.
  bool simd32_not_per_sample = false;
  // Other shaders have none if pixels have 16 samples.
  bool simd32_not_of_16_samples = false;
  // A SIMD32 kernel must be accompanied by a narrower one.
  bool simd32_not_alone = false;
  // Threads may work on several polygons: on at most this many, with at most this many lanes in all
  // (PRM of Tiger Lake, 3DSTATE_PS, "Dual SIMD8 Dispatch Enable"; of Xe2 "Maximum Polys per
  // Thread"; Mesa's anv). 1: on one.
  unsigned most_polygons = 1, most_polygon_lanes = 0;
};

// The order of what threads of pixel shaders begin with: see thread_payload.h.
enum class PixelPayload : uint8_t { kGfx6, kXe2 };

// Tiles of 64 KiB.
enum class Tile64 : uint8_t { kNone, kGfx125, kXe2 };

// How images lie in memory, and how surface states count (PRMs, volume 5, "Memory Views" and
// "Memory Data Formats"; RENDER_SURFACE_STATE).
struct ImageRules {
  // With 64-KiB tiles, 4-KiB tiles are Tile4, and images of several samples are in the former;
  // without, both are in Y tiles.
  Tile64 tile64 = Tile64::kNone;
  bool stencil_in_w_tiles = false;
  // Where levels of depth and stencil begin, which packets of depth do not say: at multiples of 8 x
  // 4 texels, of 16 bits 8 x 8, stencil 16 x 8; otherwise 4 x 4, 8 x 4 and 8 x 8.
  bool wide_depth_levels = false;
  // Slices of 3D images are below each other without gaps, those of smaller levels side by side;
  // otherwise they are like layers.
  bool slices_are_packed = false;
  // Alignments and QPitch of surface states count pixels; otherwise elements, that is, blocks of
  // block-compressed formats.
  bool surfaces_count_pixels = false;
  uint32_t most_samples = 16;
};

struct GenerationFacts {
  unsigned version_x10 = 0;  // the description's version, times ten

  // -- Caches, and what PIPE_CONTROL does to them (PRM and BSpec, PIPE_CONTROL) ------------------

  // The vertex cache is invalidated only together with a post-sync write.
  bool vertices_need_write = false;
  // … and after a PIPE_CONTROL that does nothing. On other generations such a packet may hang.
  bool vertices_need_nothing_before = false;
  // It compares only 32 bits of an address: see VertexReach.
  bool vertices_know_32_bits = false;
  // A stall must be combined with something to wait for.
  bool stall_needs_company = false;
  // A write-back of targets, or a depth stall, must follow a post-sync write in a packet of its
  // own, and that one a stall at the scoreboard (PRM of Sandy Bridge, volume 2 part 1,
  // PIPE_CONTROL).
  bool flush_needs_write_before = false;
  // At least every fourth PIPE_CONTROL must stall (PRM of Ivy Bridge, PIPE_CONTROL).
  bool fourth_pipe_must_stall = false;
  // A stall that writes back data must precede the invalidation of read-only caches (PRM of
  // Haswell, PIPE_CONTROL).
  bool invalidation_needs_data_flush_before = false;
  // Post-sync writes go through the page table that all programs share, and a bit of the packet
  // must say so (Mesa's crocus; for Gfx6, where contexts have another table, also Linux,
  // i915_gem_execbuffer.c).
  bool writes_are_global = false;
  // In the GPGPU pipeline a stall without a post-sync write must precede one with it.
  bool gpgpu_write_needs_stall = false;
  // In the GPGPU pipeline a post-sync write must itself stall (PRM of Broadwell, PIPE_CONTROL,
  // "Command Streamer Stall Enable").
  bool gpgpu_write_stalls = false;
  // The same for barriers: devices like ADL-N.
  bool wa_14014966230 = false;
  // The caches of targets and vertices cannot be written back or invalidated while the GPGPU
  // pipeline is selected. Selecting it has written them back.
  bool gpgpu_bars_3d_caches = false;
  // No pipeline is selected; what is emitted for compute may be on the compute engine, which has no
  // vertex cache to invalidate.
  bool compute_bars_vertices = false;
  // A flush of the depth cache must include a depth stall.
  bool wa_1409600907 = false;
  // Targets that were flushed reach memory only by a flush of the tile cache (found by Mesa; Gfx11
  // has such a flush, and its drivers do without it).
  bool targets_stay_in_tile_cache = false;

  // -- PIPELINE_SELECT (PRM, PIPELINE_SELECT) ----------------------------------------------------

  // There are two pipelines to select from. (From Xe2 on there are not: BSpec 55860.)
  bool selects_pipeline = false;
  // Before a selection all caches must be written back, then read-only ones invalidated.
  bool select_forgets = false;
  // 3DSTATE_CC_STATE_POINTERS without a valid pointer must precede the selection of GPGPU.
  bool select_takes_color_calc = false;
  // MEDIA_VFE_STATE must precede the selection of 3D.
  bool select_takes_media_state = false;

  // -- Bases that move (PRM, STATE_BASE_ADDRESS) -------------------------------------------------

  // Bases move only while 3D is selected.
  bool wa_1607854226 = false;
  // The caches of targets are written back before in the GPGPU pipeline, too. (PIPE_CONTROL must
  // not name them in later compute pipelines.)
  bool gpgpu_flushes_targets = false;
  // Invalidating the constant cache does not affect constants read through the data port: the data
  // port must be flushed instead.
  bool wa_14010840176 = false;
  // Instructions must be invalidated as well.
  bool wa_16013000631 = false;
  // On some devices the GPGPU pipeline must invalidate before the move:
  // RenderDevice::forgets_before_moves.
  bool wa_14014427904 = false;

  // -- Surface states (PRM and BSpec, RENDER_SURFACE_STATE; Mesa's isl) --------------------------

  uint64_t most_buffer_bytes = 0;  // of a buffer of bytes
  // Only surfaces with several layers are arrays.
  bool wa_1806565034 = false;
  // The state does not point to the surface of colour compression.
  bool ccs_found_by_tables = false;
  // The mode for compressed samples is that for compressed colour.
  bool mcs_is_ccs_e = false;
  // Scratch is a surface. (Xe3 counts its pitch in other units, which are unknown.)
  bool has_scratch_surfaces = false;
  // Bits of a bindless surface's handle in the extended message descriptor (PRM, volume "3D Media
  // GPGPU", bindless surfaces).
  unsigned surface_index_bits = 0;
  // Uniform buffers are read through the sampler (as Mesa's compiler does).
  bool uniforms_are_texels = false;

  // -- Binding tables (PRM, 3DSTATE_BINDING_TABLE_POINTERS_VS; Mesa's iris and anv) --------------

  BindingRules binder = {};  // one large block for each context
  BindingRules blocks = {};  // small blocks in the gigabyte before all surface states

  // -- Draws -------------------------------------------------------------------------------------

  // EXECUTE_INDIRECT_DRAW works on all devices. (Gfx12.5 has the packet, too.)
  bool executes_indirect_draws = false;
  // Every sampler count must be zero, regardless of the samplers of a shader.
  bool wa_1606682166 = false;
  // See PixelMaskStallFix. PRMs of Broadwell and Skylake, volume 2c, CACHE_MODE_1 "NP PMA Fix
  // Enable" and CACHE_MODE_0 "STC PMA Optimization Enable".
  PixelMaskStall pixel_mask_stall = PixelMaskStall::kNone;
  // 3DSTATE_CONSTANT_ALL misinterprets some bits of addresses: it may be used only for stages
  // without constants.
  bool wa_16011448509 = false;
  // 3DSTATE_PUSH_CONSTANT_ALLOC_* must be accompanied by a 3DSTATE_CONSTANT_ALL that empties all
  // stages: DG2; the same as Wa_18022330953 of MTL and ARL.
  bool wa_22011440098 = false;
  // A stall must follow 3DSTATE_SO_DECL_LIST.
  bool wa_1509820217 = false;
  // A 3DSTATE_STREAMOUT that turns stream output off must precede 3DSTATE_SO_DECL_LIST.
  bool wa_16011773973 = false;
  // A stall must follow the buffers of stream output (found by Mesa) …
  bool stream_output_buffers_need_stall = false;
  // … and one must precede them.
  bool wa_16011411144 = false;
  // A post-sync write must follow the packets of depth and stencil: Wa_14014097488 (Gfx11 to DG2),
  // Wa_1408224581 (Gfx12), Wa_14016712196 (Gfx12.5).
  bool depth_needs_write = false;
  // A stall must follow 3DSTATE_LINE_STIPPLE (found by Mesa).
  bool line_stipple_needs_stall = false;
  // 3DSTATE_VFG must disable its threshold: DG2, early ARL.
  bool wa_14014851047 = false;
  // A wait for pixel shaders is needed when draws start or stop writing depth or stencil: DG2,
  // early ARL.
  bool wa_18019816803 = false;
  // A barrier is needed when draws start or stop having depth bounds and a shader that discards
  // pixels.
  bool wa_14018283232 = false;

  // Mesa's iris and anv, for want of public manuals.
  PixelHashing pixel_hashing = PixelHashing::kNone;

  // -- Queries (PRM, PIPE_CONTROL; Mesa's iris and anv) ------------------------------------------

  // A PIPE_CONTROL with nothing but a depth stall must precede one that writes the count of
  // samples.
  bool depth_count_needs_stall_before = false;
  // The count of pixel shaders' invocations is four times too high: WaDividePSInvocationCountBy4.
  bool pixel_invocations_count_fourfold = false;
  // Stores of stream output's counters need a stall before what tells that they are done (found by
  // Mesa).
  bool stream_counts_need_stall = false;
  // Compute engines report performance counters, too (BSpec, MI_REPORT_PERF_COUNT).
  bool compute_engines_report = false;
  // Bits of timestamps that count; after the highest number comes 0.
  unsigned timestamp_bits = 36;
  // From the registers of the render engine to those of the first copy and compute engine, in bytes
  // (Linux, i915_reg.h and xe_engine_regs.h: the rings' bases; nothing asks where there is none).
  uint32_t copy_registers_offset = 0x20000, compute_registers_offset = 0x18000;

  // -- Compute (Mesa's iris and anv; PRM, MEDIA_VFE_STATE and 3DSTATE_PS for scratch) ------------

  // Of a thread's register.
  unsigned register_bytes = 32;
  // Shared local memory of a thread group, at most, in bytes.
  uint32_t most_shared_bytes = 0;
  // Threads of a group are not preempted (set by Mesa).
  bool bars_thread_preemption = false;
  // Low bits of a scratch surface's offset that pointers omit. 0: packets have its address.
  unsigned scratch_pointer_shift = 0;
  // Numbers of threads by which hardware finds a thread's scratch memory, of a subslice. 0: as many
  // as RenderDevice::threads.compute.
  unsigned scratch_threads = 0;
  // The subslices that these count, at least: of a slice, and of the device, whether they work or
  // not.
  unsigned scratch_subslices_of_slice = 0, scratch_subslices = 0;
  // Of pixel shaders, the subslices of a slice that their threads' numbers count, at least (Mesa's
  // intel_device_info.c, max_scratch_ids: 128 threads of a PSD in 8 subslices).
  unsigned pixel_scratch_subslices_of_slice = 0;
  // Stages share scratch memory: threads of all have different numbers.
  bool stages_share_scratch = false;
  // Bytes after a kernel's last instruction that may be fetched (Intel's compute-runtime,
  // getPaddingForISAAllocation).
  unsigned kernel_prefetch_bytes = 0;

  // -- Shaders -----------------------------------------------------------------------------------

  // Vertices, control points, patches or primitives that a thread of their stages works on.
  unsigned lanes = 8;
  // Threads have as many registers as their packet says, in blocks of 32; others have 128. (Mesa:
  // "Registers Per Thread" of Xe3.)
  bool has_register_blocks = false;
  // Threads of hull shaders work on one patch, or on a patch in each lane (PRM, 3DSTATE_HS,
  // "Dispatch Mode"; Gfx8 and Xe2 have no such field).
  bool hull_single_patch = false, hull_patch_per_lane = false;
  // 3DSTATE_GS counts pairs of threads (found by Mesa: half of the threads are programmed).
  bool geometry_threads_in_pairs = false;
  // A dispatcher of pixel shaders (PSD) has this many threads fewer than its packet's field, minus
  // 1, may say (Mesa: 3DSTATE_PS of Gfx8 takes the number minus 2).
  unsigned pixel_threads_reserved = 0;
  PixelRules pixel = {};
  PixelPayload pixel_payload = PixelPayload::kGfx6;
  // Payloads of pixel shaders may have offsets of samples and coefficients of planes (PRM of Ice
  // Lake, 3DSTATE_PS_EXTRA, "Requires ...").
  bool pixel_coefficients = false;
  // Tessellated patches are not spread over slices if a shader reads the primitive's id: DG2 and
  // early ARL.
  bool wa_14015055625 = false;

  // -- Rasterization -----------------------------------------------------------------------------

  // Rectangular lines wider than a pixel are drawn without multisample rasterization, as
  // parallelograms: the rectangles of hardware differ from those that APIs require (Mesa's anv, for
  // generations before Gfx11).
  bool wide_lines_are_parallelograms = false;
  // PRMs, "MCS and CCS Buffers for Render Targets"; Mesa's blorp.
  ColorScaling color_scaling = ColorScaling::kNone;

  // -- The third-level cache and the URB (PRM, volume "L3 Cache and URB", and 3DSTATE_URB_VS) ----

  L3Division l3 = L3Division::kNone;
  // The division may change between draws, after the pipeline has been drained. On other
  // generations it is set at the beginning of a context.
  bool l3_changes_between_draws = false;
  bool local_memory_in_l3 = false;  // a division may have ways for shared local memory
  // Devices of one slice: the first chunk at which the stages' entries may begin.
  unsigned least_urb_start = 0;
  // Entries that a vertex shader needs before tessellation, if more than for others.
  unsigned least_tessellated_vertices = 0;
  // LeaveDomain() must be called before the URB is divided in another way.
  bool wa_16014912113 = false;
  // LeaveTasks() must be called between the last draw with tasks and the first one of vertices; the
  // same as Wa_16014390852.
  bool wa_14015814527 = false;
  // The number of URB entries from which on the setup unit reads vertices in blocks: of the domain
  // stage, and of the vertex stage.
  unsigned block_dereference_domain = 0, block_dereference_vertices = 0;

  ImageRules images = {};
};

// The columns, the oldest first. Those before Gfx8 have what batches and caches need: nothing of
// bindings and states is for these generations.
inline constexpr GenerationFacts kGenerationFacts[] = {
    {.version_x10 = 40, .writes_are_global = true},
    {.version_x10 = 45, .writes_are_global = true},
    {.version_x10 = 50, .writes_are_global = true},
    {
        .version_x10 = 60,
        .stall_needs_company = true,
        .flush_needs_write_before = true,
        .writes_are_global = true,
    },
    {
        .version_x10 = 70,
        .stall_needs_company = true,
        .fourth_pipe_must_stall = true,
        .selects_pipeline = true,
        .select_forgets = true,
    },
    {
        .version_x10 = 75,
        .stall_needs_company = true,
        .invalidation_needs_data_flush_before = true,
        .selects_pipeline = true,
        .select_forgets = true,
    },
    {
        .version_x10 = 80,
        .vertices_need_write = true,
        .vertices_know_32_bits = true,
        .stall_needs_company = true,
        .gpgpu_write_stalls = true,
        .selects_pipeline = true,
        .select_forgets = true,
        .select_takes_color_calc = true,
        .gpgpu_flushes_targets = true,
        .most_buffer_bytes = uint64_t{1} << 30,
        .surface_index_bits = 20,
        .uniforms_are_texels = true,
        .binder = {.block = 64 << 10, .alignment = 32, .first = 32},
        .blocks = {.block = 64 << 10, .alignment = 32},
        .pixel_mask_stall = PixelMaskStall::kDepth,
        .pixel_invocations_count_fourfold = true,
        .most_shared_bytes = 64 << 10,
        .kernel_prefetch_bytes = 512,
        .hull_single_patch = true,
        .geometry_threads_in_pairs = true,
        .pixel_threads_reserved = 1,
        .pixel = {.has_simd8 = true, .one_width_per_sample = true},
        .wide_lines_are_parallelograms = true,
        .color_scaling = ColorScaling::kGfx8,
        .l3 = L3Division::kGfx8,
        .l3_changes_between_draws = true,
        .local_memory_in_l3 = true,
        .least_urb_start = 4,
        .least_tessellated_vertices = 192,
        .block_dereference_domain = 324,
        .block_dereference_vertices = 192,
        .images = {.stencil_in_w_tiles = true,
                   .slices_are_packed = true,
                   .surfaces_count_pixels = true,
                   .most_samples = 8},
    },
    {
        .version_x10 = 90,
        .vertices_need_write = true,
        .vertices_need_nothing_before = true,
        .vertices_know_32_bits = true,
        .gpgpu_write_needs_stall = true,
        .selects_pipeline = true,
        .select_forgets = true,
        .select_takes_color_calc = true,
        .select_takes_media_state = true,
        .gpgpu_flushes_targets = true,
        .most_buffer_bytes = uint64_t{1} << 32,
        .surface_index_bits = 20,
        .uniforms_are_texels = true,
        .binder = {.block = 64 << 10, .alignment = 32, .first = 32},
        .blocks = {.block = 64 << 10, .alignment = 32},
        .pixel_mask_stall = PixelMaskStall::kStencil,
        .most_shared_bytes = 64 << 10,
        .scratch_subslices_of_slice = 4,
        .kernel_prefetch_bytes = 512,
        .hull_single_patch = true,
        .hull_patch_per_lane = true,
        .pixel = {.has_simd8 = true,
                  .one_width_per_sample = true,
                  .simd32_not_of_16_samples = true},
        .wide_lines_are_parallelograms = true,
        .color_scaling = ColorScaling::kGfx9,
        .l3 = L3Division::kGfx9,
        .l3_changes_between_draws = true,
        .local_memory_in_l3 = true,
        .block_dereference_domain = 324,
        .block_dereference_vertices = 192,
        .images = {.stencil_in_w_tiles = true},
    },
    {
        .version_x10 = 110,
        .selects_pipeline = true,
        .select_forgets = true,
        .gpgpu_flushes_targets = true,
        .most_buffer_bytes = uint64_t{1} << 32,
        .surface_index_bits = 20,
        .uniforms_are_texels = true,
        .binder = {.block = 512 << 10,
                   .alignment = 256,
                   .pointer_shift = 3,
                   .own_base = true,
                   .first = 256},
        .blocks = {.block = 64 << 10, .alignment = 32},
        .wa_1606682166 = true,
        .wa_1509820217 = true,
        .stream_output_buffers_need_stall = true,
        .depth_needs_write = true,
        .line_stipple_needs_stall = true,
        .pixel_hashing = PixelHashing::kTwoPipes,
        .depth_count_needs_stall_before = true,
        .stream_counts_need_stall = true,
        .most_shared_bytes = 64 << 10,
        .scratch_threads = 64,
        .scratch_subslices = 8,
        .pixel_scratch_subslices_of_slice = 8,
        .kernel_prefetch_bytes = 512,
        .hull_single_patch = true,
        .hull_patch_per_lane = true,
        .pixel = {.has_simd8 = true,
                  .one_width_per_sample = true,
                  .simd32_not_of_16_samples = true},
        .pixel_coefficients = true,
        .color_scaling = ColorScaling::kGfx9,
        .l3 = L3Division::kGfx11,
        .least_urb_start = 4,
        .block_dereference_domain = 324,
        .block_dereference_vertices = 192,
        .images = {.stencil_in_w_tiles = true},
    },
    {
        .version_x10 = 120,
        .wa_14014966230 = true,
        .gpgpu_bars_3d_caches = true,
        .wa_1409600907 = true,
        .targets_stay_in_tile_cache = true,
        .selects_pipeline = true,
        .wa_1607854226 = true,
        .gpgpu_flushes_targets = true,
        .wa_14010840176 = true,
        .most_buffer_bytes = uint64_t{1} << 32,
        .wa_1806565034 = true,
        .ccs_found_by_tables = true,
        .mcs_is_ccs_e = true,
        .surface_index_bits = 20,
        .binder = {.block = 512 << 10,
                   .alignment = 256,
                   .pointer_shift = 3,
                   .own_base = true,
                   .first = 256},
        .blocks = {.block = 64 << 10, .alignment = 32},
        .wa_16011448509 = true,
        .wa_1509820217 = true,
        .stream_output_buffers_need_stall = true,
        .depth_needs_write = true,
        .line_stipple_needs_stall = true,
        .pixel_hashing = PixelHashing::kThreePipes,
        .depth_count_needs_stall_before = true,
        .most_shared_bytes = 64 << 10,
        .bars_thread_preemption = true,
        .scratch_threads = 128,
        .scratch_subslices = 6,
        .pixel_scratch_subslices_of_slice = 8,
        .kernel_prefetch_bytes = 512,
        .hull_single_patch = true,
        .hull_patch_per_lane = true,
        .pixel = {.has_simd8 = true,
                  .simd32_not_per_sample = true,
                  .simd32_not_of_16_samples = true,
                  .simd32_not_alone = true,
                  .most_polygons = 2,
                  .most_polygon_lanes = 16},
        .pixel_coefficients = true,
        .color_scaling = ColorScaling::kGfx12,
        .l3 = L3Division::kGfx12,
        .least_urb_start = 4,
        .wa_16014912113 = true,
        .block_dereference_domain = 324,
        .block_dereference_vertices = 192,
        .images = {.wide_depth_levels = true},
    },
    {
        .version_x10 = 125,
        .gpgpu_bars_3d_caches = true,
        .targets_stay_in_tile_cache = true,
        .selects_pipeline = true,
        .wa_16013000631 = true,
        .wa_14014427904 = true,
        .most_buffer_bytes = uint64_t{1} << 32,
        .wa_1806565034 = true,
        .ccs_found_by_tables = true,
        .mcs_is_ccs_e = true,
        .has_scratch_surfaces = true,
        .surface_index_bits = 26,
        .binder = {.block = 1 << 20, .alignment = 32, .own_base = true, .first = 32},
        .blocks = {.block = 64 << 10, .alignment = 32, .own_base = true},
        .wa_22011440098 = true,
        .wa_1509820217 = true,
        .wa_16011773973 = true,
        .stream_output_buffers_need_stall = true,
        .wa_16011411144 = true,
        .depth_needs_write = true,
        .line_stipple_needs_stall = true,
        .wa_14014851047 = true,
        .wa_18019816803 = true,
        .pixel_hashing = PixelHashing::kAnyPipes,
        .depth_count_needs_stall_before = true,
        .compute_engines_report = true,
        .most_shared_bytes = 64 << 10,
        .scratch_pointer_shift = 4,
        .scratch_threads = 128,
        .scratch_subslices = 32,
        .stages_share_scratch = true,
        .kernel_prefetch_bytes = 512,
        .hull_single_patch = true,
        .hull_patch_per_lane = true,
        .pixel = {.has_simd8 = true,
                  .simd32_not_per_sample = true,
                  .simd32_not_of_16_samples = true,
                  .simd32_not_alone = true,
                  .most_polygons = 2,
                  .most_polygon_lanes = 16},
        .pixel_coefficients = true,
        .wa_14015055625 = true,
        .color_scaling = ColorScaling::kGfx125,
        .l3 = L3Division::kGfx12,
        .least_urb_start = 4,
        .wa_14015814527 = true,
        .block_dereference_domain = 324,
        .block_dereference_vertices = 192,
        .images = {.tile64 = Tile64::kGfx125, .wide_depth_levels = true},
    },
    {
        .version_x10 = 200,
        .compute_bars_vertices = true,
        .most_buffer_bytes = uint64_t{1} << 32,
        .wa_1806565034 = true,
        .ccs_found_by_tables = true,
        .has_scratch_surfaces = true,
        .surface_index_bits = 26,
        .binder = {.block = 1 << 20, .alignment = 32, .own_base = true, .first = 32},
        .blocks = {.block = 64 << 10, .alignment = 32, .own_base = true},
        .executes_indirect_draws = true,
        .stream_output_buffers_need_stall = true,
        .line_stipple_needs_stall = true,
        .wa_14018283232 = true,
        .depth_count_needs_stall_before = true,
        .compute_engines_report = true,
        .timestamp_bits = 64,
        .register_bytes = 64,
        .most_shared_bytes = 128 << 10,
        .scratch_pointer_shift = 6,
        .scratch_threads = 128,
        .stages_share_scratch = true,
        .kernel_prefetch_bytes = 0xe00,
        .lanes = 16,
        .hull_patch_per_lane = true,
        .pixel = {.simd32_not_per_sample = true,
                  .simd32_not_of_16_samples = true,
                  .most_polygons = 4,
                  .most_polygon_lanes = 32},
        .pixel_payload = PixelPayload::kXe2,
        .pixel_coefficients = true,
        .least_urb_start = 4,
        .block_dereference_domain = 656,
        .block_dereference_vertices = 384,
        .images = {.tile64 = Tile64::kXe2, .wide_depth_levels = true},
    },
    {
        .version_x10 = 300,
        .compute_bars_vertices = true,
        .most_buffer_bytes = uint64_t{1} << 32,
        .wa_1806565034 = true,
        .ccs_found_by_tables = true,
        .surface_index_bits = 26,
        .binder = {.block = 1 << 20, .alignment = 32, .own_base = true, .first = 32},
        .blocks = {.block = 64 << 10, .alignment = 32, .own_base = true},
        .executes_indirect_draws = true,
        .stream_output_buffers_need_stall = true,
        .line_stipple_needs_stall = true,
        .depth_count_needs_stall_before = true,
        .compute_engines_report = true,
        .timestamp_bits = 64,
        .register_bytes = 64,
        .most_shared_bytes = 128 << 10,
        .scratch_pointer_shift = 6,
        .scratch_threads = 128,
        .stages_share_scratch = true,
        .kernel_prefetch_bytes = 0xe00,
        .lanes = 16,
        .has_register_blocks = true,
        .hull_patch_per_lane = true,
        .pixel = {.simd32_not_per_sample = true,
                  .simd32_not_of_16_samples = true,
                  .most_polygons = 4,
                  .most_polygon_lanes = 32},
        .pixel_payload = PixelPayload::kXe2,
        .pixel_coefficients = true,
        .least_urb_start = 4,
        .block_dereference_domain = 656,
        .block_dereference_vertices = 384,
        .images = {.tile64 = Tile64::kXe2, .wide_depth_levels = true},
    },
};

// The column of a version, times ten; if there is none, that of the newest generation before it, or
// the oldest of all.
constexpr const GenerationFacts& FactsOf(unsigned version_x10) {
  const GenerationFacts* found = &kGenerationFacts[0];
  for (const GenerationFacts& column : kGenerationFacts) {
    if (column.version_x10 <= version_x10) found = &column;
  }
  return *found;
}

// Scratch memory of a thread, in bytes. Up to Gfx12 packets state its size (PRM, Per-Thread Scratch
// Space: the log2 of 1 to 2048 KiB), later surface states do (BSpec: the pitch less one is 63 to
// 262143).
inline constexpr uint32_t kLeastScratch = 1 << 10, kMostScratch = 2 << 20;
inline constexpr uint32_t kScratchSurfaceUnit = 64, kMostSurfaceScratch = 256 << 10;
// The most that a thread of a generation can have.
constexpr uint32_t MostScratch(const GenerationFacts& facts) {
  return facts.stages_share_scratch ? kMostSurfaceScratch : kMostScratch;
}
// The value of Per-Thread Scratch Space for these bytes, up to kMostScratch, or for the next power
// of two.
constexpr uint32_t ScratchCode(uint32_t bytes) {
  return bytes <= kLeastScratch
             ? 0
             : static_cast<uint32_t>(std::bit_width((bytes - 1) / kLeastScratch));
}

// The value of a field Scratch Space Buffer, from Gfx12.5 on, for a surface state at this offset.
constexpr uint32_t ScratchPointer(const GenerationFacts& facts, uint32_t surface_offset) {
  return surface_offset >> facts.scratch_pointer_shift;
}

// Where the render engine's registers begin: offsets of generated registers count those of an
// engine from here, and other engines have theirs at the same distance from their own base
// (<engine name="render" registers=…> of the descriptions; PRM, volume "Command Reference:
// Registers").
inline constexpr uint32_t kRenderRegisters = 0x2000;

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DEVICE_GENERATION_FACTS_H_
