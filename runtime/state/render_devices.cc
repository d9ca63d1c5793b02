#include "runtime/state/render_devices.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace packsmith::gpu {
namespace {

using Entries = std::array<unsigned, kUrbStages>;

// A hull shader needs 1 entry and a geometry shader 2; vertex and domain shaders need more.
constexpr Entries Least(unsigned vertex, unsigned domain) { return {vertex, 1, domain, 2}; }

constexpr RenderDevice Gfx8(absl::string_view name, absl::string_view platforms, unsigned slices,
                            unsigned banks, Entries least, Entries most) {
  return {.name = name,
          .platforms = platforms,
          .version = 80,
          .slices = slices,
          .l3_banks = banks,
          .l3_way_kb = 2,
          .least_entries = least,
          .most_entries = most};
}
constexpr RenderDevice Gfx9(absl::string_view name, absl::string_view platforms, unsigned slices,
                            unsigned banks, Entries least, Entries most) {
  RenderDevice device = Gfx8(name, platforms, slices, banks, least, most);
  device.version = 90;
  device.most_urb_kb = 1008;
  if (banks == 1) device.l3_way_kb = 4;
  return device;
}
constexpr RenderDevice Gfx11(absl::string_view name, absl::string_view platforms, unsigned banks) {
  RenderDevice device = Gfx8(name, platforms, 1, banks, Least(64, 34), {2384, 1032, 2384, 1032});
  device.version = 110;
  device.l3_way_kb = 4;
  return device;
}
// Geometry: 1536 instead of 1548, Wa_18012660806; 1024 where there are at most 32 execution units.
constexpr RenderDevice Gfx12(absl::string_view name, unsigned banks, unsigned geometry) {
  RenderDevice device = Gfx8(name, "tgl rkl adls adlp adln rpls rplp", 1, banks, Least(64, 34),
                             {3576, 1548, 3576, geometry});
  device.version = 120;
  device.l3_way_kb = 4;
  device.compute_kb_per_bank = 4;
  return device;
}
// Kernels tell how large the URB is; this is what is taken where they do not.
constexpr RenderDevice FullWays(absl::string_view name, absl::string_view platforms,
                                unsigned version, Entries most) {
  return {.name = name,
          .platforms = platforms,
          .version = version,
          .urb_kb = 768,
          .least_entries = Least(64, 34),
          .most_entries = most};
}

// Sources: PRMs, volumes "L3 Cache and URB" and "3D Pipeline", 3DSTATE_URB_*; Mesa's
// intel_device_info.c, and intel_l3_config.c for ways.
constexpr RenderDevice kDevices[] = {
    Gfx8("bdw gt1", "bdw", 1, 2, Least(64, 34), {2560, 504, 1536, 690}),
    Gfx8("bdw gt2", "bdw", 1, 4, Least(64, 34), {2560, 504, 1536, 960}),
    Gfx8("bdw gt3", "bdw", 2, 8, Least(64, 34), {2560, 504, 1536, 960}),
    Gfx8("chv", "chv", 1, 2, Least(34, 34), {640, 80, 384, 256}),
    Gfx9("skl gt1", "skl", 1, 2, Least(64, 34), {928, 672, 1120, 640}),
    Gfx9("skl gt2", "skl", 1, 4, Least(64, 34), {1856, 672, 1120, 640}),
    Gfx9("skl gt3", "skl", 2, 8, Least(64, 34), {1856, 672, 1120, 640}),
    Gfx9("skl gt4", "skl", 3, 12, Least(64, 34), {1856, 672, 1120, 640}),
    Gfx9("kbl gt1", "kbl", 1, 2, Least(64, 34), {928, 672, 1120, 256}),
    Gfx9("kbl gt2", "kbl", 1, 4, Least(64, 34), {1856, 672, 1120, 640}),
    Gfx9("kbl gt3", "kbl", 2, 8, Least(64, 34), {1856, 672, 1120, 640}),
    Gfx9("kbl gt4", "kbl", 3, 12, Least(64, 34), {1856, 672, 1120, 640}),
    Gfx9("cfl gt1", "cfl cml", 1, 2, Least(64, 34), {928, 672, 1120, 256}),
    Gfx9("cfl gt2", "cfl cml", 1, 4, Least(64, 34), {1856, 672, 1120, 640}),
    Gfx9("cfl gt3", "cfl", 2, 8, Least(64, 34), {1856, 672, 1120, 640}),
    Gfx9("bxt 3x6", "bxt", 1, 2, Least(34, 34), {704, 256, 416, 256}),
    Gfx9("bxt 2x6", "bxt", 1, 1, Least(34, 34), {352, 128, 208, 128}),
    Gfx9("glk 3x6", "glk", 1, 2, Least(34, 34), {704, 256, 416, 256}),
    Gfx9("glk 2x6", "glk", 1, 2, Least(34, 34), {352, 128, 208, 128}),
    Gfx11("icl 8 banks", "icl", 8),
    Gfx11("icl 6 banks", "icl", 6),
    Gfx11("ehl", "ehl jsl", 4),
    Gfx12("tgl 8 banks", 8, 1536),
    Gfx12("tgl 6 banks", 6, 1536),
    Gfx12("tgl 4 banks", 4, 1536),
    Gfx12("tgl 4 banks 32 eus", 4, 1024),
    FullWays("dg1", "dg1", 120, {3576, 1548, 3576, 1536}),
    FullWays("dg2", "dg2 atsm", 125, {3832, 1548, 3576, 1536}),
    FullWays("mtl", "mtl", 125, {3832, 1548, 3576, 1548}),
    FullWays("arl", "arl", 125, {3832, 1548, 3576, 1536}),
    FullWays("xe2", "lnl bmg", 200, {3832, 1548, 3576, 1548}),
};

}  // namespace

absl::Span<const RenderDevice> RenderDevices() { return kDevices; }

absl::StatusOr<RenderDevice> FindRenderDevice(absl::string_view name) {
  std::vector<absl::string_view> names;
  for (const RenderDevice& device : kDevices) {
    if (device.name == name) return device;
    names.push_back(device.name);
  }
  return absl::NotFoundError(
      absl::StrCat("no device is called \"", name, "\"; there are ", absl::StrJoin(names, ", ")));
}

}  // namespace packsmith::gpu
