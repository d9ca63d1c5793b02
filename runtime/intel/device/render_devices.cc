#include "runtime/intel/device/render_devices.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace packsmith::intel {
namespace {

using Entries = std::array<unsigned, kUrbStages>;

// Values that all devices of a generation share; those below add the rest.
constexpr RenderDevice kGfx8 = {
    .version = 80,
    .l3_way_kb = 2,
    // A hull shader needs 1 entry, vertex and domain shaders need more. A geometry shader that
    // makes eight at a time needs 8; later ones 16, or a stall after each change of it.
    .least_entries = {64, 1, 34, 8},
    .threads = {504, 504, 504, 504, 64, 56},
    .caching = {.cached = 0x78, .shared = 0x18, .uncached = 0x20},
};
constexpr RenderDevice kGfx9 = [] {
  RenderDevice device = kGfx8;
  device.version = 90;
  device.most_urb_kb = 1008;
  device.least_entries[3] = 16;
  device.threads = {336, 336, 336, 336, 64, 56};
  device.caching = {.cached = 0x04, .shared = 0x02, .uncached = 0};
  return device;
}();
constexpr RenderDevice kGfx11 = [] {
  RenderDevice device = kGfx9;
  device.version = 110;
  device.l3_way_kb = 4;
  device.most_urb_kb = 0;
  device.most_entries = {2384, 1032, 2384, 1032};
  device.threads = {364, 224, 364, 224, 64, 56};
  device.caching = {.cached = 0x04, .shared = 0x02, .uncached = 0x06};
  return device;
}();
constexpr RenderDevice kGfx12 = [] {
  RenderDevice device = kGfx11;
  device.platforms = "tgl rkl adls adlp adln rpls rplp";
  device.version = 120;
  device.compute_kb_per_bank = 4;
  device.most_entries = {3576, 1548, 3576, 1536};
  device.threads = {546, 336, 546, 336, 64, 112};
  device.caching = {
      .cached = 0x04, .shared = 0x7a, .uncached = 0x06, .copied = 0x06, .first_level = 0x60};
  return device;
}();
constexpr RenderDevice kGfx125 = [] {
  RenderDevice device = kGfx12;
  device.version = 125;
  device.l3_way_kb = 0;
  device.compute_kb_per_bank = 0;
  device.urb_kb = 768;
  device.least_entries[3] = 2;
  device.most_entries = {3832, 1548, 3576, 1548};
  device.most_mesh_entries = 1548;
  device.mesh_push_constant_kb = 16;
  device.caching = {.cached = 0x06, .shared = 0x06, .uncached = 0x02, .copied = 0x04};
  return device;
}();

constexpr RenderDevice Device(RenderDevice device, absl::string_view name,
                              absl::string_view platforms) {
  device.name = name;
  device.platforms = platforms;
  return device;
}
constexpr RenderDevice Gfx8(absl::string_view name, unsigned slices, unsigned banks,
                            unsigned geometry, unsigned compute_threads) {
  RenderDevice device = Device(kGfx8, name, "bdw");
  device.slices = slices;
  device.l3_banks = banks;
  device.most_entries = {2560, 504, 1536, geometry};
  device.threads.compute = compute_threads;
  return device;
}
constexpr RenderDevice Cherryview() {
  RenderDevice device = Device(kGfx8, "chv", "chv");
  device.l3_banks = 2;
  device.least_entries[0] = 34;
  device.most_entries = {640, 80, 384, 256};
  device.threads = {80, 80, 80, 80, 64, 42};
  device.other_line_width = true;
  device.scratch_threads = 56;
  device.caching.uncached = 0;
  return device;
}
constexpr RenderDevice Gfx9(absl::string_view name, absl::string_view platforms, unsigned slices,
                            unsigned banks, unsigned vertex = 1856, unsigned geometry = 640,
                            unsigned compute_threads = 56) {
  RenderDevice device = Device(kGfx9, name, platforms);
  device.slices = slices;
  device.l3_banks = banks;
  device.most_entries = {vertex, 672, 1120, geometry};
  device.threads.compute = compute_threads;
  device.query_writes_need_stall = slices == 3;  // GT4
  return device;
}
// Broxton and Gemini Lake.
constexpr RenderDevice SmallGfx9(absl::string_view name, absl::string_view platforms,
                                 unsigned banks, unsigned threads, Entries most) {
  RenderDevice device = Device(kGfx9, name, platforms);
  device.l3_banks = banks;
  if (banks == 1) device.l3_way_kb = 4;
  device.least_entries[0] = 34;
  device.most_entries = most;
  device.threads = {threads, threads, threads, threads, 64, 36};
  return device;
}
constexpr RenderDevice Gfx11(absl::string_view name, absl::string_view platforms, unsigned banks) {
  RenderDevice device = Device(kGfx11, name, platforms);
  device.l3_banks = banks;
  return device;
}
// Geometry: 1536 instead of 1548, Wa_18012660806; 1024 where there are at most 32 execution units.
constexpr RenderDevice Gfx12(absl::string_view name, unsigned banks, unsigned geometry) {
  RenderDevice device = Device(kGfx12, name, kGfx12.platforms);
  device.l3_banks = banks;
  device.most_entries[3] = geometry;
  return device;
}
constexpr RenderDevice Dg1() {
  RenderDevice device = Device(kGfx12, "dg1", "dg1");
  device.l3_way_kb = 0;
  device.compute_kb_per_bank = 0;
  device.urb_kb = 768;
  device.caching = {.cached = 0x0a, .shared = 0x0a, .uncached = 0x02, .copied = 0x02};
  return device;
}
constexpr RenderDevice Dg2(absl::string_view name) {
  RenderDevice device = Device(kGfx125, name, name);
  device.most_entries[3] = 1536;  // Wa_18012660806
  return device;
}
constexpr RenderDevice AtsM() {
  RenderDevice device = Dg2("atsm");
  device.forgets_before_moves = true;
  return device;
}
constexpr RenderDevice MeteorLake(absl::string_view name, unsigned geometry) {
  RenderDevice device = Device(kGfx125, name, name);
  device.most_entries[3] = geometry;
  device.caching = {
      .cached = 0x02, .shared = 0x1c, .uncached = 0x0a, .copied = 0x12, .stream_output = 0x0a};
  return device;
}
constexpr RenderDevice Xe2() {
  RenderDevice device = Device(kGfx125, "xe2", "lnl bmg");
  device.version = 200;
  device.caching = {.cached = 0x02, .shared = 0x02, .uncached = 0x06, .copied = 0x02};
  return device;
}
// Panther Lake and Wildcat Lake. Mesa 24.3 has them with the values of Lunar Lake
// (intel_device_info.c, isl.c); Linux' xe_mocs.c, with its table. Execution units of a Xe-core: 8,
// in the topology that xe reports; threads of one: 8 in Mesa, up to 10 in Intel's compute-runtime,
// where kernels use fewer registers.
constexpr RenderDevice Xe3() {
  RenderDevice device = Device(Xe2(), "xe3", "ptl wcl");
  device.version = 300;
  device.threads.compute = 64;
  return device;
}

// Sources: PRMs, volumes "L3 Cache and URB" and "3D Pipeline", 3DSTATE_URB_*; Mesa's
// intel_device_info.c, intel_l3_config.c for ways, isl.c for caching, with what the tables in
// Linux' intel_mocs.c and xe_mocs.c say.
//
// From DG2 on kernels report the size of the URB and the number of threads, which depend on the
// enabled parts of the chip (DRM_I915_QUERY_HWCONFIG_BLOB, DRM_XE_DEVICE_QUERY_HWCONFIG); the
// values here are those that Mesa uses without a kernel.
constexpr RenderDevice kDevices[] = {
    Gfx8("bdw gt1", 1, 2, 690, 42),
    Gfx8("bdw gt2", 1, 4, 960, 56),
    Gfx8("bdw gt3", 2, 8, 960, 56),
    Cherryview(),
    Gfx9("skl gt1", "skl", 1, 2, 928),
    Gfx9("skl gt2", "skl", 1, 4),
    Gfx9("skl gt3", "skl", 2, 8),
    Gfx9("skl gt4", "skl", 3, 12),
    Gfx9("kbl gt1", "kbl", 1, 2, 928, 256, 42),
    Gfx9("kbl gt2", "kbl", 1, 4),
    Gfx9("kbl gt3", "kbl", 2, 8),
    Gfx9("kbl gt4", "kbl", 3, 12),
    Gfx9("cfl gt1", "cfl cml", 1, 2, 928, 256),
    Gfx9("cfl gt2", "cfl cml", 1, 4),
    Gfx9("cfl gt3", "cfl", 2, 8),
    SmallGfx9("bxt 3x6", "bxt", 2, 112, {704, 256, 416, 256}),
    SmallGfx9("bxt 2x6", "bxt", 1, 56, {352, 128, 208, 128}),
    SmallGfx9("glk 3x6", "glk", 2, 112, {704, 256, 416, 256}),
    SmallGfx9("glk 2x6", "glk", 2, 56, {352, 128, 208, 128}),
    Gfx11("icl 8 banks", "icl", 8),
    Gfx11("icl 6 banks", "icl", 6),
    Gfx11("ehl", "ehl jsl", 4),
    Gfx12("tgl 8 banks", 8, 1536),
    Gfx12("tgl 6 banks", 6, 1536),
    Gfx12("tgl 4 banks", 4, 1536),
    Gfx12("tgl 4 banks 32 eus", 4, 1024),
    Dg1(),
    Dg2("dg2"),
    AtsM(),
    MeteorLake("mtl", 1548),
    MeteorLake("arl", 1536),
    Xe2(),
    Xe3(),
};

}  // namespace

absl::Span<const RenderDevice> RenderDevices() { return kDevices; }

absl::StatusOr<RenderDevice> FindRenderDevice(absl::string_view name) {
  std::vector<absl::string_view> names;
  for (const RenderDevice& device : kDevices) {
    if (device.name == name) return device;
    names.push_back(device.name);
  }
  return absl::NotFoundError(absl::StrCat("no device is called \"", name,
                                          "\"; known devices: ", absl::StrJoin(names, ", ")));
}

}  // namespace packsmith::intel
