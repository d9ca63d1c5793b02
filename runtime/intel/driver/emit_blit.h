// A generation's packets for copies and fills: XY_SRC_COPY_BLT and XY_COLOR_BLT up to Gfx11,
// XY_BLOCK_COPY_BLT and XY_FAST_COLOR_BLT from Gfx12 on, and MEM_COPY for bytes from Xe2 on. All
// are packets of the copy engine.

#ifndef PACKSMITH_RUNTIME_INTEL_DRIVER_EMIT_BLIT_H_
#define PACKSMITH_RUNTIME_INTEL_DRIVER_EMIT_BLIT_H_

#include <algorithm>
#include <cstdint>

#include "packsmith/pack.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/engines.h"
#include "runtime/intel/device/render_devices.h"
#include "runtime/intel/driver/blits.h"

namespace packsmith::intel {

template <class Gen>
constexpr BlitLimits BlitLimitsOf() {
  using G = typename Gen::Packets;
  if constexpr (requires { typename G::XY_BLOCK_COPY_BLT; }) {
    // Surfaces have at most 2^14 pixels a side, where the packet has their size.
    constexpr bool kHasTile4 = requires { G::XY_BLOCK_COPY_BLT::DESTINATION_TILING_4; };
    return {.most_pixel = 16,
            .most_coordinate = 1 << 14,
            .most_pitch = 1 << 18,
            .most_tiled_pitch = 1 << 20,
            .pitch_unit = 1,
            .tile = kHasTile4 ? SurfaceTiling::k4 : SurfaceTiling::kY,
            .takes_x = requires {G::XY_BLOCK_COPY_BLT::DESTINATION_TILING_X;
  }
};
}  // namespace packsmith::intel
else {
  return {};
}
}

// The caching policy of copies.
inline uint32_t CopyMocs(const CachePolicies& caching) {
  return caching.copied != 0 ? caching.copied : caching.cached;
}

// Whether a packet copies bytes. (Gfx12.5's MEM_COPY, which has no modes, is Ponte Vecchio's
// alone.)
template <class G>
concept CopiesBytes = requires {
  G::MEM_COPY::MODE_BYTE;
};

// The copies of one batch of the copy engine. Up to Gfx11 a register says whether surfaces that the
// packet calls tiled are in Y tiles; this sets it.
template <class Gen>
class BlitEmitter {
  using G = typename Gen::Packets;

 public:
  BlitEmitter(Batch<Gen>& batch, uint32_t mocs) : batch_(batch), mocs_(mocs) {}

  bool Emit(const Blit& blit) {
    if constexpr (requires { typename G::XY_BLOCK_COPY_BLT; }) {
      return EmitBlockCopy(blit);
    } else {
      return EmitSourceCopy(blit);
    }
  }

  // The destination of the blit in one color.
  bool Fill(const Blit& blit, const FillColor& color) {
    if constexpr (requires { typename G::XY_FAST_COLOR_BLT; }) {
      return EmitFastColor(blit, color);
    } else {
      return EmitColor(blit, color);
    }
  }

  // The register says X again, as other code in the same context expects it.
  bool Restore() {
    if constexpr (requires { typename G::XY_BLOCK_COPY_BLT; }) {
      return true;
    } else {
      return SetTiles(false, false);
    }
  }

  // Bytes, in packets that take them: false in `taken` if the generation has none.
  bool EmitBytes(const BufferCopy& copy, bool& taken) {
    if constexpr (CopiesBytes<G>) {
      using Copy = typename G::MEM_COPY;
      constexpr uint64_t kMost = uint64_t{1} << 24;
      taken = true;
      for (uint64_t done = 0; done < copy.size; done += kMost) {
        Copy packet{
            .copy_type = Copy::COPY_TYPE_LINEAR,
            .mode = Copy::MODE_BYTE,
            .transfer_width = static_cast<uint32_t>(std::min(kMost, copy.size - done)),
            .transfer_height = 1,
            .source_pitch = 1,
            .destination_pitch = 1,
            .source_address = {copy.source.address + copy.source_offset + done, copy.source.handle},
            .destination_address = {copy.destination.address + copy.destination_offset + done,
                                    copy.destination.handle},
            .destination_mocs = IndexOf(mocs_),
            .source_mocs = IndexOf(mocs_),
        };
        if (!batch_.Emit(packet)) return false;
      }
      return true;
    } else {
      taken = false;
      return true;
    }
  }

 private:
  // Where the field holds the entry's number alone.
  static constexpr uint32_t IndexOf(uint32_t mocs) { return mocs / 2; }

  bool EmitBlockCopy(const Blit& blit) requires requires { typename G::XY_BLOCK_COPY_BLT; }
  {
    using Copy = typename G::XY_BLOCK_COPY_BLT;
    // The source's field has the same values.
    const auto tiling = [](SurfaceTiling wanted) -> uint32_t {
      if (wanted == SurfaceTiling::kLinear) return Copy::DESTINATION_TILING_LINEAR;
      if constexpr (requires { Copy::DESTINATION_TILING_4; }) {
        return wanted == SurfaceTiling::kX ? Copy::DESTINATION_TILING_X
                                           : Copy::DESTINATION_TILING_4;
      } else {
        return Copy::DESTINATION_TILING_Y;
      }
    };
    const auto pitch = [](const BlitSurface& surface) {
      const uint32_t unit = surface.tiling == SurfaceTiling::kLinear ? 1 : 4;
      return surface.pitch / unit - 1;
    };
    Copy copy{
        .color_depth = blit.pixel == 1   ? Copy::COLOR_DEPTH_8_BIT
                       : blit.pixel == 2 ? Copy::COLOR_DEPTH_16_BIT
                       : blit.pixel == 4 ? Copy::COLOR_DEPTH_32_BIT
                       : blit.pixel == 8 ? Copy::COLOR_DEPTH_64_BIT
                                         : Copy::COLOR_DEPTH_128_BIT,
        .destination_pitch = pitch(blit.destination),
        .destination_mocs = mocs_,
        .destination_tiling = tiling(blit.destination.tiling),
        .destination_x1 = static_cast<int32_t>(blit.destination.x),
        .destination_y1 = static_cast<int32_t>(blit.destination.y),
        .destination_x2 = static_cast<int32_t>(blit.destination.x + blit.width),
        .destination_y2 = static_cast<int32_t>(blit.destination.y + blit.height),
        .destination_base_address = blit.destination.memory,
        .source_x1 = static_cast<int32_t>(blit.source.x),
        .source_y1 = static_cast<int32_t>(blit.source.y),
        .source_pitch = pitch(blit.source),
        .source_mocs = mocs_,
        .source_tiling = tiling(blit.source.tiling),
        .source_base_address = blit.source.memory,
    };
    if constexpr (requires { copy.destination_encrypt_en; }) {
      copy.destination_mocs = copy.source_mocs = IndexOf(mocs_);
    }
    if constexpr (requires { copy.destination_target_memory; }) {
      copy.destination_target_memory = copy.source_target_memory =
          Copy::DESTINATION_TARGET_MEMORY_SYSTEM;
    }
    if constexpr (requires { copy.destination_surface_width; }) {
      copy.destination_surface_type = copy.source_surface_type = Copy::DESTINATION_SURFACE_TYPE_2D;
      copy.destination_surface_width = blit.destination.x + blit.width - 1;
      copy.destination_surface_height = blit.destination.y + blit.height - 1;
      copy.source_surface_width = blit.source.x + blit.width - 1;
      copy.source_surface_height = blit.source.y + blit.height - 1;
      copy.destination_vertical_align = Copy::DESTINATION_VERTICAL_ALIGN_VALIGN_4;
      copy.source_vertical_align = Copy::SOURCE_VERTICAL_ALIGN_VALIGN_4;
      copy.destination_mip_tail_start_lod = copy.source_mip_tail_start_lod = 15;
    }
    return batch_.Emit(copy);
  }

  bool EmitSourceCopy(const Blit& blit) {
    using Copy = typename G::XY_SRC_COPY_BLT;
    constexpr uint32_t kCopySource = 0xcc, kAllBytes = 3;  // the raster operation SRCCOPY
    const auto tiled = [](const BlitSurface& surface) {
      return surface.tiling != SurfaceTiling::kLinear;
    };
    const auto pitch = [&](const BlitSurface& surface) {
      return static_cast<int32_t>(surface.pitch / (tiled(surface) ? 4 : 1));
    };
    if (!SetTiles(blit.source.tiling == SurfaceTiling::kY,
                  blit.destination.tiling == SurfaceTiling::kY)) {
      return false;
    }
    return batch_.Emit(Copy{
        .destination_tiling_enable = tiled(blit.destination),
        .source_tiling_enable = tiled(blit.source),
        ._32bpp_byte_mask = blit.pixel == 4 ? kAllBytes : 0,
        .destination_pitch = pitch(blit.destination),
        .raster_operation = kCopySource,
        .color_depth = blit.pixel == 1   ? Copy::COLOR_DEPTH_8_BIT
                       : blit.pixel == 2 ? Copy::COLOR_DEPTH_565
                                         : Copy::COLOR_DEPTH_32_BIT,
        .destination_x1_coordinate = static_cast<int32_t>(blit.destination.x),
        .destination_y1_coordinate = static_cast<int32_t>(blit.destination.y),
        .destination_x2_coordinate = static_cast<int32_t>(blit.destination.x + blit.width),
        .destination_y2_coordinate = static_cast<int32_t>(blit.destination.y + blit.height),
        .destination_base_address = blit.destination.memory,
        .source_x1_coordinate = static_cast<int32_t>(blit.source.x),
        .source_y1_coordinate = static_cast<int32_t>(blit.source.y),
        .source_pitch = pitch(blit.source),
        .source_base_address = blit.source.memory,
    });
  }

  bool EmitFastColor(const Blit& blit, const FillColor& color) requires requires {
    typename G::XY_FAST_COLOR_BLT;
  }
  {
    using Packet = typename G::XY_FAST_COLOR_BLT;
    const BlitSurface& to = blit.destination;
    const bool linear = to.tiling == SurfaceTiling::kLinear;
    Packet packet{
        .color_depth = blit.pixel == 1   ? Packet::COLOR_DEPTH_8_BIT
                       : blit.pixel == 2 ? Packet::COLOR_DEPTH_16_BIT
                       : blit.pixel == 4 ? Packet::COLOR_DEPTH_32_BIT
                       : blit.pixel == 8 ? Packet::COLOR_DEPTH_64_BIT
                                         : Packet::COLOR_DEPTH_128_BIT,
        .destination_pitch = to.pitch / (linear ? 1 : 4) - 1,
        .destination_x1 = static_cast<int32_t>(to.x),
        .destination_y1 = static_cast<int32_t>(to.y),
        .destination_x2 = static_cast<int32_t>(to.x + blit.width),
        .destination_y2 = static_cast<int32_t>(to.y + blit.height),
        .destination_base_address = to.memory,
        .fill_color = {color[0], color[1], color[2], color[3]},
    };
    if (!linear) {
      if constexpr (requires { Packet::DESTINATION_TILING_4; }) {
        packet.destination_tiling = to.tiling == SurfaceTiling::kX ? Packet::DESTINATION_TILING_X
                                                                   : Packet::DESTINATION_TILING_4;
      } else {
        packet.destination_tiling = Packet::DESTINATION_TILING_Y;
      }
    }
    if constexpr (requires { packet.destination_encrypt_en; }) {
      packet.destination_mocs = IndexOf(mocs_);
    } else if constexpr (requires { packet.destination_mocs; }) {
      packet.destination_mocs = mocs_;
    }
    if constexpr (requires { Packet::DESTINATION_TARGET_MEMORY_SYSTEM; }) {
      packet.destination_target_memory = Packet::DESTINATION_TARGET_MEMORY_SYSTEM;
    } else if constexpr (requires { Packet::DESTINATION_TARGET_MEMORY_SYSTEM_MEM; }) {
      packet.destination_target_memory = Packet::DESTINATION_TARGET_MEMORY_SYSTEM_MEM;
    }
    if constexpr (requires { packet.destination_surface_width; }) {
      packet.destination_surface_type = Packet::DESTINATION_SURFACE_TYPE_2D;
      packet.destination_surface_width = to.x + blit.width - 1;
      packet.destination_surface_height = to.y + blit.height - 1;
      packet.destination_vertical_align = Packet::DESTINATION_VERTICAL_ALIGN_VALIGN_4;
      packet.destination_mip_tail_start_lod = 15;
    }
    return batch_.Emit(packet);
  }

  bool EmitColor(const Blit& blit, const FillColor& color) {
    using Packet = typename G::XY_COLOR_BLT;
    constexpr uint32_t kCopyPattern = 0xf0, kAllBytes = 3;  // the raster operation PATCOPY
    const BlitSurface& to = blit.destination;
    const bool tiled = to.tiling != SurfaceTiling::kLinear;
    const bool y_tiled = to.tiling == SurfaceTiling::kY;
    if (!SetTiles(y_tiled, y_tiled)) return false;
    return batch_.Emit(Packet{
        .tiling_enable = tiled,
        ._32bpp_byte_mask = blit.pixel == 4 ? kAllBytes : 0,
        .destination_pitch = static_cast<int32_t>(to.pitch / (tiled ? 4 : 1)),
        .raster_operation = kCopyPattern,
        .color_depth = blit.pixel == 1   ? Packet::COLOR_DEPTH_8_BIT
                       : blit.pixel == 2 ? Packet::COLOR_DEPTH_565
                                         : Packet::COLOR_DEPTH_32_BIT,
        .destination_x1_coordinate = static_cast<int32_t>(to.x),
        .destination_y1_coordinate = static_cast<int32_t>(to.y),
        .destination_x2_coordinate = static_cast<int32_t>(to.x + blit.width),
        .destination_y2_coordinate = static_cast<int32_t>(to.y + blit.height),
        .destination_base_address = to.memory,
        .solid_pattern_color = color[0],
    });
  }

  // The register applies to copies that the engine has not begun, too: they end first.
  bool SetTiles(bool source, bool destination) {
    if (source == source_y_ && destination == destination_y_) return true;
    using Control = typename G::BCS_SWCTRL;
    const auto dwords = packed(
        Control{.tile_y_source = source, .tile_y_destination = destination, .mask = kTileBits});
    if (!EmitFlush(batch_, EngineKind::kCopy) ||
        !batch_.Emit(typename Gen::LoadRegisterConstant{
            .register_offset_ = Control::register_offset, .data_dword = dwords.dw[0]})) {
      return false;
    }
    source_y_ = source;
    destination_y_ = destination;
    return true;
  }
  // The bits of the register that are written, as its mask has them.
  static constexpr uint32_t kTileBits = [] {
    if constexpr (requires(typename G::BCS_SWCTRL r) { r.tile_y_source; }) {
      return packed(typename G::BCS_SWCTRL{.tile_y_source = true, .tile_y_destination = true})
          .dw[0];
    } else {
      return 0u;
    }
  }();

  Batch<Gen>& batch_;
  const uint32_t mocs_;
  bool source_y_ = false, destination_y_ = false;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DRIVER_EMIT_BLIT_H_
