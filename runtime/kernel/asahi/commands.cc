#include "runtime/kernel/asahi/commands.h"

#include <bit>
#include <cstddef>
#include <type_traits>

#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "runtime/kernel/uapi/asahi.h"

namespace packsmith::gpu {

namespace api = uapi::asahi;

namespace {

template <typename T>
void Append(const T& value, AsahiCommandBuffer& out) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto* const bytes = reinterpret_cast<const uint8_t*>(&value);
  out.insert(out.end(), bytes, bytes + sizeof(T));
}

api::helper_program PackHelper(const AsahiHelper& helper) {
  return {.binary = helper.binary, .cfg = helper.configuration, .data = helper.data};
}

api::bg_eot PackProgram(const AsahiTileProgram& program) {
  // What drivers set with each program that there is.
  constexpr uint32_t kEnabled = 4;
  return {.usc = program.program == 0 ? 0 : program.program | kEnabled,
          .rsrc_spec = program.resources};
}

api::zls_buffer PackBuffer(const AsahiDepthBuffer& buffer) {
  return {.base = buffer.address,
          .comp_base = buffer.metadata,
          .stride = buffer.layer_stride,
          .comp_stride = buffer.metadata_layer_stride};
}

api::timestamps PackTimes(const AsahiTime& begins, const AsahiTime& ends) {
  return {.start = {begins.object, begins.offset}, .end = {ends.object, ends.offset}};
}

// The interface's text has a product; the drivers for it set the quotient.
uint32_t MergeLimit(uint16_t pixels) {
  constexpr float kTan60 = 1.732051f;
  return std::bit_cast<uint32_t>(kTan60 / static_cast<float>(pixels));
}

class Packer {
 public:
  Packer(const AsahiLimits& limits, AsahiCommandBuffer& out) : limits_(limits), out_(out) {}

  absl::Status Add(const AsahiCompute& compute) {
    absl::Status status = SetAttachments(api::kCmdComputeAttachments, compute.attachments);
    if (status.ok()) status = Begin(api::kCmdCompute, sizeof(api::cmd_compute), compute.after);
    if (!status.ok()) return status;
    Append(
        api::cmd_compute{
            .flags = 0,
            .sampler_count = compute.sampler_count,
            .cdm_ctrl_stream_base = compute.stream,
            .cdm_ctrl_stream_end = compute.stream_end,
            .sampler_heap = compute.samplers,
            .helper = PackHelper(compute.helper),
            .ts = PackTimes(compute.begins, compute.ends),
        },
        out_);
    ++computes_;
    return absl::OkStatus();
  }

  absl::Status Add(const AsahiRender& render) {
    absl::Status status = Check(render);
    if (status.ok()) {
      status = SetAttachments(api::kCmdVertexAttachments, render.vertex_attachments);
    }
    if (status.ok()) {
      status = SetAttachments(api::kCmdFragmentAttachments, render.fragment_attachments);
    }
    if (status.ok()) status = Begin(api::kCmdRender, sizeof(api::cmd_render), render.after);
    if (!status.ok()) return status;
    api::cmd_render packed = {};
    if (render.vertex_scratch) packed.flags |= api::kRenderVertexScratch;
    if (render.process_empty_tiles) packed.flags |= api::kRenderProcessEmptyTiles;
    if (!render.cluster_vertices) packed.flags |= api::kRenderNoVertexClustering;
    if (render.integer_depth_bias) packed.flags |= api::kRenderDbiasIsInt;
    packed.isp_zls_pixels = render.zls_pixels;
    packed.vdm_ctrl_stream_base = render.stream;
    packed.vertex_helper = PackHelper(render.vertex_helper);
    packed.fragment_helper = PackHelper(render.fragment_helper);
    packed.isp_scissor_base = render.scissors;
    packed.isp_dbias_base = render.depth_biases;
    packed.isp_oclqry_base = render.visibility;
    packed.depth = PackBuffer(render.depth);
    packed.stencil = PackBuffer(render.stencil);
    packed.zls_ctrl = render.zls_control;
    packed.ppp_multisamplectl = render.multisample_control;
    packed.sampler_heap = render.samplers;
    packed.ppp_ctrl = render.ppp_control;
    packed.width_px = render.width;
    packed.height_px = render.height;
    packed.layers = render.layers;
    packed.sampler_count = render.sampler_count;
    packed.utile_width_px = render.tile_width;
    packed.utile_height_px = render.tile_height;
    packed.samples = render.samples;
    packed.sample_size_B = render.bytes_per_sample;
    packed.isp_merge_upper_x = MergeLimit(render.width);
    packed.isp_merge_upper_y = MergeLimit(render.height);
    packed.bg = PackProgram(render.load);
    packed.eot = PackProgram(render.store);
    packed.partial_bg = PackProgram(render.partial_load);
    packed.partial_eot = PackProgram(render.partial_store);
    packed.isp_bgobjdepth = render.clear_depth;
    packed.isp_bgobjvals = render.clear_stencil;
    packed.ts_vtx = PackTimes(render.vertex_begins, render.vertex_ends);
    packed.ts_frag = PackTimes(render.fragment_begins, render.fragment_ends);
    Append(packed, out_);
    ++renders_;
    return absl::OkStatus();
  }

 private:
  static absl::Status Check(const AsahiRender& render) {
    absl::Status status = CheckAsahiImage(render.width, render.height, render.layers);
    if (status.ok()) {
      status = CheckAsahiTile(render.tile_width, render.tile_height, render.samples,
                              render.bytes_per_sample);
    }
    if (!status.ok()) return status;
    for (const AsahiTileProgram* const program :
         {&render.load, &render.store, &render.partial_load, &render.partial_store}) {
      if (program->program % 8 != 0) {
        return absl::InvalidArgumentError(absl::StrFormat(
            "the program of a tile at 0x%x is not at a multiple of 8", program->program));
      }
    }
    return absl::OkStatus();
  }

  // Attachments hold for the commands after them.
  absl::Status SetAttachments(api::Command kind, absl::Span<const AsahiAttachment> attachments) {
    if (attachments.size() > limits_.attachments) {
      return absl::InvalidArgumentError(
          absl::StrFormat("command %d has %d attachments: the kernel takes %d",
                          renders_ + computes_ + 1, attachments.size(), limits_.attachments));
    }
    bool& are_set = are_set_[kind - api::kCmdVertexAttachments];
    if (attachments.empty() && !are_set) return absl::OkStatus();
    are_set = !attachments.empty();
    Append(
        api::cmd_header{.cmd_type = kind,
                        .size = static_cast<uint16_t>(attachments.size() * sizeof(api::attachment)),
                        .vdm_barrier = api::kNoBarrier,
                        .cdm_barrier = api::kNoBarrier},
        out_);
    for (const AsahiAttachment& one : attachments) {
      Append(api::attachment{.pointer = one.address, .size = one.size, .pad = 0, .flags = 0}, out_);
    }
    return absl::OkStatus();
  }

  absl::Status Begin(api::Command kind, size_t size, const AsahiAfter& after) {
    uint16_t render = 0, compute = 0;
    absl::Status status = Barrier(after.renders, renders_, "render", render);
    if (status.ok()) status = Barrier(after.computes, computes_, "compute", compute);
    if (!status.ok()) return status;
    Append(api::cmd_header{.cmd_type = kind,
                           .size = static_cast<uint16_t>(size),
                           .vdm_barrier = render,
                           .cdm_barrier = compute},
           out_);
    return absl::OkStatus();
  }

  absl::Status Barrier(std::optional<uint16_t> after, unsigned before, absl::string_view kind,
                       uint16_t& barrier) const {
    barrier = after.value_or(api::kNoBarrier);
    if (!after.has_value() || *after <= before) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrFormat("command %d is to begin after %d %s commands, and %d are before it",
                        renders_ + computes_ + 1, *after, kind, before));
  }

  const AsahiLimits& limits_;
  AsahiCommandBuffer& out_;
  unsigned renders_ = 0, computes_ = 0;
  bool are_set_[3] = {};  // attachments: vertex, fragment, compute
};

}  // namespace

absl::Status CheckAsahiImage(uint32_t width, uint32_t height, uint32_t layers) {
  constexpr uint32_t kMostPixels = 16384, kMostLayers = 2048;
  if (width != 0 && width <= kMostPixels && height != 0 && height <= kMostPixels && layers != 0 &&
      layers <= kMostLayers) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "an image of %d by %d pixels and %d layers: it must have 1 to %d pixels each way and 1 to %d "
      "layers",
      width, height, layers, kMostPixels, kMostLayers));
}

absl::Status CheckAsahiTile(uint32_t width, uint32_t height, uint32_t samples, uint64_t bytes) {
  const bool is_tile = (width == 32 && height == 32) || (width == 32 && height == 16) ||
                       (width == 16 && height == 16);
  if (!is_tile) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "tiles of %d by %d pixels: they must be 32 by 32, 32 by 16 or 16 by 16", width, height));
  }
  if (samples != 1 && samples != 2 && samples != 4) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%d samples: the hardware has 1, 2 or 4", samples));
  }
  const uint64_t most = kAsahiTileBytes / (uint64_t{width} * height * samples);
  if (bytes > most) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%d samples of %d bytes: a tile of %d by %d pixels has room for %d bytes a "
                        "sample; choose a "
                        "smaller tile, or fewer or smaller formats",
                        samples, bytes, width, height, most));
  }
  return absl::OkStatus();
}

absl::Status PackAsahiCommands(absl::Span<const AsahiCommand> commands, const AsahiLimits& limits,
                               AsahiCommandBuffer& out) {
  if (commands.empty() || commands.size() > limits.commands) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "a submission of %d commands: it must have 1 to %d", commands.size(), limits.commands));
  }
  out.clear();
  Packer packer(limits, out);
  for (const AsahiCommand& command : commands) {
    const absl::Status status =
        std::visit([&packer](const auto& one) { return packer.Add(one); }, command);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace packsmith::gpu
