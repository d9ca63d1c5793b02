#include "runtime/capture/asahi/commands.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace packsmith::capture {

namespace asahi = uapi::asahi;

namespace {

// Fields that the program does not know of are zero; those that this kernel does not know of are
// left alone.
template <typename T>
T Extended(absl::Span<const uint8_t> payload) {
  T value = {};
  std::memcpy(&value, payload.data(), std::min(payload.size(), sizeof(T)));
  return value;
}

Result CheckAttachments(absl::Span<const uint8_t> payload) {
  constexpr size_t kOne = sizeof(asahi::attachment);
  if (payload.size() % kOne != 0 || payload.size() / kOne > kAsahiMostAttachments) return -EINVAL;
  for (size_t at = 0; at < payload.size(); at += kOne) {
    const auto one = Extended<asahi::attachment>(payload.subspan(at, kOne));
    if (one.pad != 0 || one.flags != 0) return -EINVAL;
  }
  return 0;
}

// `before`: commands of the kind that came before in the submission.
bool BarrierIsGood(uint16_t barrier, size_t before) {
  return barrier == asahi::kNoBarrier || barrier <= before;
}

// Addresses of programs are 32 bits with flags in the lowest; 0: there is none.
void AddProgram(const asahi::bg_eot& program, uint64_t base, std::vector<WorkStream>& streams) {
  constexpr uint32_t kFlags = 7;
  if ((program.usc & ~kFlags) == 0) return;
  streams.push_back({.address = base + (program.usc & ~kFlags), .length = 0, .stream = "usc"});
}

}  // namespace

Result CheckAsahiRender(const asahi::cmd_render& render) {
  constexpr uint32_t kFlags = asahi::kRenderVertexScratch | asahi::kRenderProcessEmptyTiles |
                              asahi::kRenderNoVertexClustering | asahi::kRenderDbiasIsInt;
  constexpr uint32_t kMostPixels = 16384, kMostLayers = 2048;
  // Bytes of memory for the samples of a tile.
  constexpr uint32_t kTileMemory = 32 << 10;
  if ((render.flags & ~kFlags) != 0) return -EINVAL;
  if (render.width_px == 0 || render.width_px > kMostPixels || render.height_px == 0 ||
      render.height_px > kMostPixels || render.layers == 0 || render.layers > kMostLayers) {
    return -EINVAL;
  }
  const uint32_t width = render.utile_width_px, height = render.utile_height_px;
  const bool tile = (width == 32 && height == 32) || (width == 32 && height == 16) ||
                    (width == 16 && height == 16);
  if (!tile) return -EINVAL;
  if (render.samples != 1 && render.samples != 2 && render.samples != 4) return -EINVAL;
  return width * height * render.samples * render.sample_size_B > kTileMemory ? -EINVAL : 0;
}

Result ReadAsahiCommands(absl::Span<const uint8_t> buffer, std::vector<AsahiCommand>& out) {
  size_t renders = 0, computes = 0;
  // The last that set the attachments of each kind: vertex, fragment, compute.
  std::array<absl::Span<const uint8_t>, 3> attachments;
  while (!buffer.empty()) {
    if (buffer.size() < sizeof(asahi::cmd_header)) return -EINVAL;
    const auto header = Extended<asahi::cmd_header>(buffer.first(sizeof(asahi::cmd_header)));
    if (header.size > buffer.size() - sizeof(header)) return -EINVAL;
    const absl::Span<const uint8_t> whole = buffer.first(sizeof(header) + header.size);
    const absl::Span<const uint8_t> payload = whole.subspan(sizeof(header));
    buffer.remove_prefix(whole.size());
    AsahiCommand command;
    switch (header.cmd_type) {
      case asahi::kCmdVertexAttachments:
      case asahi::kCmdFragmentAttachments:
      case asahi::kCmdComputeAttachments:
        if (header.vdm_barrier != asahi::kNoBarrier || header.cdm_barrier != asahi::kNoBarrier) {
          return -EINVAL;
        }
        if (const Result bad = CheckAttachments(payload)) return bad;
        attachments[header.cmd_type - asahi::kCmdVertexAttachments] = whole;
        continue;
      case asahi::kCmdRender:
        command.render = Extended<asahi::cmd_render>(payload);
        if (const Result bad = CheckAsahiRender(*command.render)) return bad;
        break;
      case asahi::kCmdCompute:
        command.compute = Extended<asahi::cmd_compute>(payload);
        if (command.compute->flags != 0) return -EINVAL;
        break;
      default:
        return -EINVAL;
    }
    if (!BarrierIsGood(header.vdm_barrier, renders) ||
        !BarrierIsGood(header.cdm_barrier, computes)) {
      return -EINVAL;
    }
    command.vdm_barrier = header.vdm_barrier;
    command.cdm_barrier = header.cdm_barrier;
    for (size_t kind = 0; kind < attachments.size(); ++kind) {
      if ((kind == 2) == command.compute.has_value()) {
        command.words.append(attachments[kind].begin(), attachments[kind].end());
      }
    }
    command.words.append(whole.begin(), whole.end());
    ++(command.render ? renders : computes);
    if (renders + computes > kAsahiMostCommands) return -EINVAL;
    out.push_back(std::move(command));
  }
  return out.empty() ? -EINVAL : 0;
}

void DescribeAsahiCommand(const AsahiCommand& command, Work& work) {
  work.bases.push_back({"programs", command.programs});
  work.driver_words = command.words;
  if (command.render) {
    const asahi::cmd_render& render = *command.render;
    work.engine = "render";
    work.streams.push_back({.address = render.vdm_ctrl_stream_base, .length = 0, .stream = "vdm"});
    for (const asahi::bg_eot& program :
         {render.bg, render.eot, render.partial_bg, render.partial_eot}) {
      AddProgram(program, command.programs, work.streams);
    }
    return;
  }
  const asahi::cmd_compute& compute = *command.compute;
  work.engine = "compute";
  work.engine_class = 1;
  const bool ends = compute.cdm_ctrl_stream_end > compute.cdm_ctrl_stream_base;
  work.streams.push_back(
      {.address = compute.cdm_ctrl_stream_base,
       .length = ends ? compute.cdm_ctrl_stream_end - compute.cdm_ctrl_stream_base : 0,
       .stream = "cdm"});
}

}  // namespace packsmith::capture
