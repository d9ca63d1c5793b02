#include "tests/family/positions.h"

#include "packsmith/c/intel_bits.h"

struct intel_device_info {
  int ver, verx10;
};

#define FIELD(T, F, container, field) \
  { container, field, T##_##F##_start(d), T##_##F##_bits(d) }
#define LENGTH(T, container) \
  { container, 0, 0, T##_length(d) }

unsigned positions_of(int verx10, const struct answer** answers) {
  static struct answer all[16];
  const struct intel_device_info device = {verx10 / 10, verx10}, *d = &device;
  const struct answer now[] = {
      FIELD(RENDER_SURFACE_STATE, Width, "RENDER_SURFACE_STATE", "Width"),
      FIELD(RENDER_SURFACE_STATE, SurfaceBaseAddress, "RENDER_SURFACE_STATE",
            "Surface Base Address"),
      FIELD(RENDER_SURFACE_STATE, ShaderChannelSelectRed, "RENDER_SURFACE_STATE",
            "Shader Channel Select Red"),
      FIELD(_3DPRIMITIVE, InstanceCount, "3DPRIMITIVE", "Instance Count"),
      FIELD(PIPE_CONTROL, ImmediateData, "PIPE_CONTROL", "Immediate Data"),
      FIELD(MI_STORE_DATA_IMM, Address, "MI_STORE_DATA_IMM", "Address"),
      FIELD(COMPUTE_WALKER, PredicateEnable, "COMPUTE_WALKER", "Predicate Enable"),
      FIELD(GPGPU_WALKER, SIMDSize, "GPGPU_WALKER", "SIMD Size"),
      LENGTH(RENDER_SURFACE_STATE, "RENDER_SURFACE_STATE"),
      LENGTH(_3DPRIMITIVE, "3DPRIMITIVE"),
      LENGTH(_3DSTATE_VS, "3DSTATE_VS"),
      LENGTH(MI_NOOP, "MI_NOOP"),
      LENGTH(GPGPU_WALKER, "GPGPU_WALKER"),
  };
  const unsigned count = sizeof(now) / sizeof(now[0]);
  for (unsigned i = 0; i < count; ++i) all[i] = now[i];
  *answers = all;
  return count;
}
