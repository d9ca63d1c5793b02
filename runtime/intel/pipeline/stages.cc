#include "runtime/intel/pipeline/stages.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "runtime/base/debug.h"

namespace packsmith::intel {
namespace {

constexpr uint32_t kKernelAlignment = 64;
constexpr uint32_t kScratchAlignment = 1024;
constexpr uint32_t kSurfaceAlignment = 64;
constexpr uint32_t kUsualRegisters = 128;
constexpr uint32_t kMostRegisters = 256;

absl::Status CheckScratch(absl::string_view stage, const ShaderScratch& scratch,
                          const GenerationFacts& facts) {
  if (scratch.bytes_per_thread == 0) return absl::OkStatus();
  if (facts.scratch_pointer_shift == 0) {
    if (const auto power = ScratchPower(scratch.bytes_per_thread); !power.ok()) {
      return absl::Status(power.status().code(),
                          absl::StrCat(stage, ": ", power.status().message()));
    }
    if (scratch.place.gpu % kScratchAlignment != 0) {
      return absl::InvalidArgumentError(absl::StrCat(stage, ": scratch memory at 0x",
                                                     absl::Hex(scratch.place.gpu),
                                                     "; it must begin at a multiple of 1 KiB"));
    }
    return absl::OkStatus();
  }
  if (scratch.surface == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(stage, " needs ", scratch.bytes_per_thread,
                     " bytes of scratch a thread, but has no surface of scratch: from Gfx12.5 on "
                     "ShaderScratch::surface must be set"));
  }
  if (scratch.surface % kSurfaceAlignment != 0) {
    return absl::InvalidArgumentError(absl::StrCat(stage, ": the surface state of scratch is at 0x",
                                                   absl::Hex(scratch.surface),
                                                   "; it must be at a multiple of 64 bytes"));
  }
  return absl::OkStatus();
}

}  // namespace

uint32_t SamplerGroups(uint32_t samplers, const GenerationFacts& facts) {
  if (facts.wa_1606682166) return 0;
  return (std::min(samplers, 16u) + 3) / 4;
}

absl::StatusOr<uint32_t> ScratchPower(uint32_t bytes_per_thread) {
  if (bytes_per_thread > kMostScratch) {
    return absl::OutOfRangeError(absl::StrCat(
        bytes_per_thread, " bytes of scratch a thread; it must be at most ", kMostScratch));
  }
  return ScratchCode(bytes_per_thread);
}

absl::Status CheckProgram(absl::string_view stage, const ShaderProgram& program,
                          const GenerationFacts& facts) {
  const uint32_t most = facts.has_register_blocks ? kMostRegisters : kUsualRegisters;
  if (program.registers > most) {
    return absl::OutOfRangeError(absl::StrCat(stage, " uses ", program.registers,
                                              " registers; a thread has at most ", most));
  }
  return CheckScratch(stage, program.scratch, facts);
}

absl::Status CheckEntry(absl::string_view stage, uint64_t offset) {
  if (offset % kKernelAlignment == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(stage, ": the kernel is at 0x", absl::Hex(offset),
                                                 "; it must be at a multiple of 64 bytes"));
}

absl::Status CheckGeometry(const GeometryShader& shader) {
  constexpr absl::string_view kStage = "geometry shader: ";
  if (shader.input_vertices == 0 || shader.input_vertices > 32) {
    return absl::OutOfRangeError(absl::StrCat(kStage, shader.input_vertices,
                                              " vertices in an input primitive; there must be 1 to "
                                              "32"));
  }
  if (shader.invocations == 0 || shader.invocations > 32) {
    return absl::OutOfRangeError(
        absl::StrCat(kStage, shader.invocations, " invocations; there must be 1 to 32"));
  }
  if (shader.output_vertex_bytes == 0 || shader.output_vertex_bytes % 32 != 0 ||
      shader.output_vertex_bytes > 1024) {
    return absl::OutOfRangeError(absl::StrCat(kStage, "an output vertex of ",
                                              shader.output_vertex_bytes,
                                              " bytes; it must be a multiple of 32, 32 to 1024"));
  }
  if (shader.control_bytes % 32 != 0 || shader.control_bytes > 480) {
    return absl::OutOfRangeError(absl::StrCat(kStage, "a control header of ", shader.control_bytes,
                                              " bytes; it must be a multiple of 32, 0 to 480"));
  }
  return absl::OkStatus();
}

absl::Status CheckStages(const ShaderStages& stages) {
  if ((stages.tess_control == nullptr) != (stages.tess_eval == nullptr)) {
    return absl::InvalidArgumentError(
        stages.tess_eval == nullptr
            ? "a tessellation control shader without a tessellation evaluation shader"
            : "a tessellation evaluation shader without a tessellation control shader: the "
              "tessellator reads its factors from what that one writes");
  }
  if (stages.vertex == nullptr && (stages.tess_eval != nullptr || stages.geometry != nullptr)) {
    return absl::InvalidArgumentError("tessellation or a geometry shader without a vertex shader");
  }
  return absl::OkStatus();
}

absl::Status CheckMeshStages(const MeshStages& stages) {
  if (stages.mesh == nullptr) {
    if (stages.task == nullptr && stages.fragment == nullptr) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "a task or fragment shader without a mesh shader; set MeshStages::mesh");
  }
  const MeshShader& mesh = *stages.mesh;
  if (mesh.most_primitives == 0 || mesh.most_primitives > 1024) {
    return absl::OutOfRangeError(absl::StrCat("mesh shader: ", mesh.most_primitives,
                                              " primitives; there must be 1 to 1024"));
  }
  const struct {
    absl::string_view name;
    uint32_t bytes, units;
  } sizes[] = {{"primitive_pitch_bytes", mesh.primitive_pitch_bytes, 31},
               {"primitive_header_bytes", mesh.primitive_header_bytes, 63},
               {"primitive_read_bytes", mesh.primitive_read_bytes, 31},
               {"vertex_pitch_bytes", mesh.vertex_pitch_bytes, 31},
               {"vertex_header_bytes", mesh.vertex_header_bytes, 63},
               {"vertex_read_bytes", mesh.vertex_read_bytes, 31}};
  for (const auto& size : sizes) {
    if (size.bytes % 32 == 0 && size.bytes / 32 <= size.units) continue;
    return absl::OutOfRangeError(absl::StrCat("mesh shader: ", size.name, " is ", size.bytes,
                                              "; it must be a multiple of 32, at most ",
                                              size.units * 32));
  }
  return absl::OkStatus();
}

uint32_t RegisterBlocks(uint32_t registers) {
  const uint32_t blocks = (registers == 0 ? kUsualRegisters : registers) + 31;
  const uint32_t last = blocks / 32 - 1;
  return last < 6 ? last : 7;  // there is no size between 192 and 256
}

namespace {

absl::Status CheckPolygons(const FragmentShader& shader, const PixelRules& rules) {
  const MultiPolygonEntry& kernel = *shader.multi_polygon;
  const uint32_t polygons = kernel.polygons, lanes = kernel.polygon_lanes;
  const bool exists =
      (polygons == 2 && (lanes == 8 || lanes == 16)) || (polygons == 4 && lanes == 8);
  if (!exists || polygons > rules.most_polygons || kernel.lanes() > rules.most_polygon_lanes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "fragment shader: a kernel of ", polygons, " polygons with ", lanes, " lanes each; ",
        rules.most_polygons == 1   ? "threads of this generation work on one polygon"
        : rules.most_polygons == 2 ? "it must have 2 of 8"
                                   : "it must have 2 of 8, 2 of 16 or 4 of 8"));
  }
  if (shader.per_coarse_pixel) {
    return absl::InvalidArgumentError(
        "fragment shader: a kernel of several polygons that runs for coarse pixels; compile it for "
        "one polygon");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PixelWidths> ChoosePixelWidths(const FragmentShader& shader,
                                              const PixelTarget& target,
                                              const GenerationFacts& facts) {
  const PixelRules& rules = facts.pixel;
  if (!std::has_single_bit(target.samples) || target.samples > 16) {
    return absl::InvalidArgumentError(
        absl::StrCat(target.samples, " samples in each pixel; there must be 1, 2, 4, 8 or 16"));
  }
  if (shader.simd8.has_value() && !rules.has_simd8) {
    return absl::InvalidArgumentError(
        "fragment shader: a SIMD8 kernel; from Xe2 on kernels must be SIMD16 or SIMD32");
  }
  PixelWidths widths{.simd8 = shader.simd8.has_value(),
                     .simd16 = shader.simd16.has_value(),
                     .simd32 = shader.simd32.has_value(),
                     .multi_polygon = shader.multi_polygon.has_value()};
  const auto any = [&widths] {
    return widths.simd8 || widths.simd16 || widths.simd32 || widths.multi_polygon;
  };
  if (!any()) {
    return absl::InvalidArgumentError(
        "fragment shader: no kernel; at least one of simd8, simd16, simd32 and multi_polygon must "
        "be set");
  }
  if (widths.multi_polygon) {
    if (absl::Status status = CheckPolygons(shader, rules); !status.ok()) return status;
  }
  const bool wide_polygons = widths.multi_polygon && shader.multi_polygon->lanes() == 32;
  absl::string_view reason;
  const auto drop = [&](bool& width, absl::string_view why) {
    if (width) reason = why;
    width = false;
  };
  const bool no16 = DebugOn(DebugSwitch::kNo16);
  if (no16) drop(widths.simd16, "PACKSMITH_DEBUG=no16 forbids SIMD16 kernels");
  if (target.operation != PixelOperation::kDraw) {
    drop(widths.simd8, "SIMD8 kernels cannot clear or resolve");
    drop(widths.multi_polygon, "kernels of several polygons cannot clear or resolve");
  }
  if (shader.per_sample) {
    if (rules.simd32_not_per_sample && target.samples > 1) {
      constexpr absl::string_view kWhy =
          "SIMD32 kernels cannot run once for each of several samples";
      drop(widths.simd32, kWhy);
      if (wide_polygons) drop(widths.multi_polygon, kWhy);
    }
    if (widths.simd16 || widths.simd32) widths.simd8 = false;
    if (rules.one_width_per_sample && widths.simd32) widths.simd16 = false;
  } else if (rules.simd32_not_of_16_samples && target.samples == 16) {
    constexpr absl::string_view kWhy = "SIMD32 kernels cannot run for pixels of 16 samples";
    drop(widths.simd32, kWhy);
    if (wide_polygons) drop(widths.multi_polygon, kWhy);
  }
  if (widths.multi_polygon) widths.simd8 = false;
  if (rules.simd32_not_alone && !widths.simd8 && !widths.simd16 && !widths.multi_polygon) {
    drop(widths.simd32, "a SIMD32 kernel must be accompanied by a narrower one");
  }
  if (!any()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "fragment shader: no kernel is permitted: ", reason, "; compile it for ",
        no16                                                            ? "other widths"
        : target.operation != PixelOperation::kDraw || !rules.has_simd8 ? "SIMD16"
                                                                        : "SIMD8 or SIMD16"));
  }
  return widths;
}

PixelKernels PlacePixelKernels(const FragmentShader& shader, PixelWidths widths,
                               const GenerationFacts& facts) {
  const ShaderEntry* const simd8 = widths.simd8 ? &*shader.simd8 : nullptr;
  const ShaderEntry* const simd16 = widths.simd16 ? &*shader.simd16 : nullptr;
  const ShaderEntry* const simd32 = widths.simd32 ? &*shader.simd32 : nullptr;
  const ShaderEntry* const polygons = widths.multi_polygon ? &shader.multi_polygon->entry : nullptr;
  PixelKernels kernels;
  kernels.first = polygons != nullptr         ? polygons
                  : shader.simd8.has_value()  ? &*shader.simd8
                  : shader.simd16.has_value() ? &*shader.simd16
                  : shader.simd32.has_value() ? &*shader.simd32
                                              : &shader.multi_polygon->entry;
  if (!facts.pixel.has_simd8) {
    kernels.slots[0] = polygons != nullptr ? polygons : simd16;
    kernels.slots[1] = simd32;
    if (polygons != nullptr && simd32 == nullptr && shader.multi_polygon->lanes() == 16) {
      kernels.slots[1] = simd16;
    }
    return kernels;
  }
  const ShaderEntry* const narrow = polygons != nullptr ? polygons : simd8;
  const int count = (narrow != nullptr) + widths.simd16 + widths.simd32;
  if (count == 1) {
    kernels.slots[0] = narrow != nullptr ? narrow : simd16 != nullptr ? simd16 : simd32;
    return kernels;
  }
  kernels.slots[0] = narrow;
  kernels.slots[1] = simd32;
  kernels.slots[2] = simd16;
  return kernels;
}

PixelTraits TraitsOf(const FragmentShader* shader) {
  if (shader == nullptr) return {.writes_color = false};
  PixelTraits traits{.barycentric = shader->barycentrics,
                     .writes_color = shader->writes_color,
                     .dual_source = shader->dual_source};
  if (shader->early_tests) {
    traits.tests = TestOrder::kBeforeShader;
  } else if (shader->program.writes_memory) {
    traits.tests = TestOrder::kShaderRunsAlways;
  }
  // Without a color output no thread would be started (found by Mesa; harmless with one).
  traits.force_dispatch = shader->program.writes_memory || shader->kills_pixels;
  return traits;
}

absl::StatusOr<GroupThreads> SplitGroup(absl::string_view stage, const WorkgroupProgram& group,
                                        const GenerationFacts& facts) {
  const bool known = group.simd == 8 || group.simd == 16 || group.simd == 32;
  if (!known || group.simd < facts.lanes) {
    return absl::InvalidArgumentError(absl::StrCat(stage, ": SIMD", group.simd, "; it must be SIMD",
                                                   facts.lanes == 8 ? "8, SIMD16" : "16",
                                                   " or SIMD32"));
  }
  if (group.invocations == 0 || group.invocations > 1024) {
    return absl::OutOfRangeError(absl::StrCat(stage, ": ", group.invocations,
                                              " invocations in a group; there must be 1 to 1024"));
  }
  const uint32_t rest = group.invocations % group.simd;
  const uint32_t lanes = rest == 0 ? group.simd : rest;
  return GroupThreads{.threads = (group.invocations + group.simd - 1) / group.simd,
                      .last_mask = ~uint32_t{0} >> (32 - lanes)};
}

}  // namespace packsmith::intel
