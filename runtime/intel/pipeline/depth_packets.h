// The packets of depth_targets.h: 3DSTATE_DEPTH_BUFFER, 3DSTATE_STENCIL_BUFFER,
// 3DSTATE_HIER_DEPTH_BUFFER, 3DSTATE_CLEAR_PARAMS and 3DSTATE_WM_HZ_OP.
//
//   absl::Status status = SetDepthTargets({.depth = &depth, .stencil = &stencil, .mocs = mocs},
//                                         state);
//   status = EmitDepthOperation({.clear_depth = true, .width = 256, .height = 128}, scratch,
//   batch);
//
// Sources: PRMs, these packets, and volume "3D Pipeline: Windower", "Hierarchical Depth Buffer";
// Mesa's isl.

#ifndef PACKSMITH_RUNTIME_INTEL_PIPELINE_DEPTH_PACKETS_H_
#define PACKSMITH_RUNTIME_INTEL_PIPELINE_DEPTH_PACKETS_H_

#include <bit>
#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "packsmith/pack.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/pipeline/depth_targets.h"
#include "runtime/intel/pipeline/put.h"
#include "runtime/intel/pipeline/samples.h"

namespace packsmith::intel {

template <class Gen>
struct DepthPackets {
  using G = typename Gen::Packets;
  typename G::_3DSTATE_DEPTH_BUFFER depth;
  typename G::_3DSTATE_STENCIL_BUFFER stencil;
  typename G::_3DSTATE_HIER_DEPTH_BUFFER hierarchical;
};

// InvalidArgument for formats, tilings, shapes and layers that the generation does not have, sizes
// that differ, hierarchical depth without depth, and compression before Gfx12. `packets` is then
// undefined.
template <class Gen>
absl::Status DescribeDepthTargets(const DepthTargets& targets, DepthPackets<Gen>& packets);

// Sets all packets, whichever of the buffers there are.
template <class Gen>
absl::Status SetDepthTargets(const DepthTargets& targets, DrawState<Gen>& state);

template <class Gen>
absl::Status DescribeDepthOperation(const DepthOperationOptions& options,
                                    typename Gen::Packets::_3DSTATE_WM_HZ_OP& packet);

// Operates on the depth targets that were last emitted, whose packets must be in the batch: set
// them, and flush the draw state, with 3DSTATE_MULTISAMPLE of the same number of samples. Emits the
// operation, the post-sync write that it takes effect with (8 bytes at `scratch` are overwritten),
// and a packet that ends it. Caches are the caller's: a depth flush and stall before and after, as
// between draws that write depth and read it.
template <class Gen>
absl::Status EmitDepthOperation(const DepthOperationOptions& options, const address& scratch,
                                Batch<Gen>& batch);

// -- Implementation -----------------------------------------------------------------------------

// How a generation tiles depth buffers: false if it cannot.
template <class Packet>
bool SetDepthTiling(SurfaceTiling tiling, Packet& packet) {
  if constexpr (requires { Packet::TILED_MODE_TILE4; }) {
    if (tiling != SurfaceTiling::k4 && tiling != SurfaceTiling::k64) return false;
    packet.tiled_mode =
        tiling == SurfaceTiling::k4 ? Packet::TILED_MODE_TILE4 : Packet::TILED_MODE_TILE64;
    return true;
  } else if constexpr (requires { Packet::TILED_RESOURCE_MODE_TILEYS; }) {
    packet.tiled_resource_mode = tiling == SurfaceTiling::kYf   ? Packet::TILED_RESOURCE_MODE_TILEYF
                                 : tiling == SurfaceTiling::kYs ? Packet::TILED_RESOURCE_MODE_TILEYS
                                                                : Packet::TILED_RESOURCE_MODE_NONE;
    return tiling == SurfaceTiling::kY || tiling == SurfaceTiling::kYf ||
           tiling == SurfaceTiling::kYs;
  } else if constexpr (requires { Packet::TILED_MODE_TILEYS; }) {
    packet.tiled_mode = tiling == SurfaceTiling::kYf   ? Packet::TILED_MODE_TILEYF
                        : tiling == SurfaceTiling::kYs ? Packet::TILED_MODE_TILEYS
                                                       : Packet::TILED_MODE_NONE;
    return tiling == SurfaceTiling::kY || tiling == SurfaceTiling::kYf ||
           tiling == SurfaceTiling::kYs;
  } else if constexpr (requires { packet.stencil_buffer_enable; }) {
    return tiling == SurfaceTiling::kW;
  } else {
    return tiling == SurfaceTiling::kY;
  }
}

// Compression, and the first level in the tail.
template <class Gen, class Packet>
absl::Status SetDepthStorage(const ImageSurface& image, const char* what, Packet& packet) {
  if (!SetDepthTiling(image.tiling, packet)) {
    return depth_errors::Tiling(what, image.tiling, Gen::kName);
  }
  if constexpr (requires { packet.mip_tail_start_lod; }) {
    const bool has_tails = image.tiling == SurfaceTiling::kYf ||
                           image.tiling == SurfaceTiling::kYs ||
                           image.tiling == SurfaceTiling::k4 || image.tiling == SurfaceTiling::k64;
    if (has_tails) packet.mip_tail_start_lod = image.mip_tail_level;
  }
  if (image.auxiliary.mode == AuxiliaryMode::kNone || image.auxiliary.mode == AuxiliaryMode::kHiz) {
    return absl::OkStatus();
  }
  if (image.auxiliary.mode != AuxiliaryMode::kCcsE) {
    return depth_errors::NoCompression(what, Gen::kName);
  }
  const uint32_t code = image.auxiliary.compression_format;
  const auto set = [&](auto& member) {
    member = static_cast<std::remove_reference_t<decltype(member)>>(code);
  };
  if constexpr (requires { packet.control_surface_enable; }) {
    packet.control_surface_enable = true;
    if constexpr (requires { packet.depth_buffer_compression_enable; }) {
      packet.depth_buffer_compression_enable = true;
    } else {
      packet.stencil_compression_enable = true;
    }
    if constexpr (requires { packet.compression_mode; }) {
      packet.compression_mode = true;
      set(packet.render_compression_format);
    }
  } else if constexpr (requires { packet.compression_format; }) {
    set(packet.compression_format);
  } else if constexpr (requires { packet.render_compression_format; }) {
    set(packet.render_compression_format);
  } else {
    return depth_errors::NoCompression(what, Gen::kName);
  }
  return absl::OkStatus();
}

// The size and the layers of an image. lod: the member's name differs between the packets.
template <class Gen, class Packet>
absl::Status SetDepthShape(const ImageSurface& image, const char* what, Packet& packet) {
  constexpr bool kHas3d = requires { Packet::SURFACE_TYPE_SURFTYPE_3D; };
  const bool is_3d = image.shape == SurfaceShape::k3D;
  if (is_3d && !kHas3d) return depth_errors::Shape(what, Gen::kName);
  if (image.width == 0) return depth_errors::Zero(what, "width");
  if (image.height == 0) return depth_errors::Zero(what, "height");
  const uint32_t slices = is_3d ? image.depth : image.layers;
  if (slices == 0 || image.layers == 0 || slices > 2048 ||
      uint64_t{image.first_layer} + image.layers > 2048) {
    return depth_errors::Layers(what, image.first_layer, image.layers);
  }
  // Faces of cubes are layers here.
  packet.surface_type = Packet::SURFACE_TYPE_SURFTYPE_2D;
  if constexpr (kHas3d) {
    if (is_3d) packet.surface_type = Packet::SURFACE_TYPE_SURFTYPE_3D;
    if (image.shape == SurfaceShape::k1D) packet.surface_type = Packet::SURFACE_TYPE_SURFTYPE_1D;
  }
  packet.width = image.width - 1;
  packet.height = image.height - 1;
  packet.depth = slices - 1;
  packet.minimum_array_element = image.first_layer;
  packet.render_target_view_extent = image.layers - 1;
  if constexpr (requires { packet.lod; }) {
    packet.lod = image.first_level;
  } else {
    packet.surf_lod = image.first_level;
  }
  return absl::OkStatus();
}

// The address, pitches and caching policy.
template <class Packet>
absl::Status SetDepthMemory(const ImageSurface& image, const char* what, Packet& packet) {
  if (image.memory.gpu == 0) return depth_errors::Zero(what, "address");
  if (image.pitch == 0) return depth_errors::Zero(what, "pitch");
  if (image.qpitch % 4 != 0) return depth_errors::NotMultipleOf4(what, image.qpitch);
  packet.surface_base_address = image.memory;
  packet.surface_pitch = image.pitch - 1;
  packet.surface_qpitch = image.qpitch / 4;
  packet.mocs = image.mocs;
  return absl::OkStatus();
}

template <class Gen>
absl::Status DescribeDepthBuffer(const DepthTargets& targets,
                                 typename Gen::Packets::_3DSTATE_DEPTH_BUFFER& packet) {
  using Packet = typename Gen::Packets::_3DSTATE_DEPTH_BUFFER;
  packet.surface_type = Packet::SURFACE_TYPE_SURFTYPE_NULL;
  packet.surface_format = Packet::SURFACE_FORMAT_D32_FLOAT;
  packet.mocs = targets.mocs;
  if constexpr (requires { packet.stencil_write_enable; }) {
    packet.stencil_write_enable = targets.stencil != nullptr;
  }
  if (targets.depth == nullptr) {
    // Without depth, this packet has the stencil buffer's size, where stencil's own has none.
    using Stencil = typename Gen::Packets::_3DSTATE_STENCIL_BUFFER;
    constexpr bool kOwnSize = requires(Stencil s) { s.surface_type; };
    return kOwnSize || targets.stencil == nullptr
               ? absl::OkStatus()
               : SetDepthShape<Gen>(*targets.stencil, "stencil", packet);
  }
  const ImageSurface& image = *targets.depth;
  if (image.format == SurfaceFormat::R24_UNORM_X8_TYPELESS) {
    packet.surface_format = Packet::SURFACE_FORMAT_D24_UNORM_X8_UINT;
  } else if (image.format == SurfaceFormat::R16_UNORM) {
    packet.surface_format = Packet::SURFACE_FORMAT_D16_UNORM;
  } else if (image.format != SurfaceFormat::R32_FLOAT) {
    return depth_errors::Format("depth", image.format);
  }
  packet.depth_write_enable = true;
  packet.hierarchical_depth_buffer_enable = targets.hierarchical.memory.gpu != 0;
  if (absl::Status s = SetDepthShape<Gen>(image, "depth", packet); !s.ok()) return s;
  if (absl::Status s = SetDepthStorage<Gen>(image, "depth", packet); !s.ok()) return s;
  return SetDepthMemory(image, "depth", packet);
}

template <class Gen>
absl::Status DescribeStencilBuffer(const DepthTargets& targets,
                                   typename Gen::Packets::_3DSTATE_STENCIL_BUFFER& packet) {
  using Packet = typename Gen::Packets::_3DSTATE_STENCIL_BUFFER;
  packet.mocs = targets.mocs;
  if constexpr (requires { packet.surface_type; }) {
    packet.surface_type = Packet::SURFACE_TYPE_SURFTYPE_NULL;
  }
  if (targets.stencil == nullptr) return absl::OkStatus();
  const ImageSurface& image = *targets.stencil;
  if (image.format != SurfaceFormat::R8_UINT) return depth_errors::Format("stencil", image.format);
  if constexpr (requires { packet.stencil_buffer_enable; }) {
    packet.stencil_buffer_enable = true;
  } else {
    packet.stencil_write_enable = true;
    if (absl::Status s = SetDepthShape<Gen>(image, "stencil", packet); !s.ok()) return s;
  }
  if (absl::Status s = SetDepthStorage<Gen>(image, "stencil", packet); !s.ok()) return s;
  return SetDepthMemory(image, "stencil", packet);
}

template <class Gen>
absl::Status DescribeDepthTargets(const DepthTargets& targets, DepthPackets<Gen>& packets) {
  auto& depth = packets.depth;
  auto& stencil = packets.stencil;
  auto& hierarchical = packets.hierarchical;
  if (targets.depth != nullptr && targets.stencil != nullptr &&
      (targets.depth->width != targets.stencil->width ||
       targets.depth->height != targets.stencil->height)) {
    return depth_errors::SizesDiffer(*targets.depth, *targets.stencil);
  }
  if (absl::Status s = DescribeDepthBuffer<Gen>(targets, depth); !s.ok()) return s;
  if (absl::Status s = DescribeStencilBuffer<Gen>(targets, stencil); !s.ok()) return s;
  hierarchical.mocs = targets.mocs;
  const HierarchicalDepth& from = targets.hierarchical;
  if (from.memory.gpu == 0) return absl::OkStatus();
  if (targets.depth == nullptr) return depth_errors::NoDepth();
  if (from.pitch == 0) return depth_errors::Zero("hierarchical depth", "pitch");
  if (from.qpitch % 4 != 0) {
    return depth_errors::NotMultipleOf4("hierarchical depth", from.qpitch);
  }
  using Hierarchical = typename Gen::Packets::_3DSTATE_HIER_DEPTH_BUFFER;
  hierarchical.mocs = targets.depth->mocs;
  hierarchical.surface_base_address = from.memory;
  hierarchical.surface_pitch = from.pitch - 1;
  hierarchical.surface_qpitch = from.qpitch / 4;
  if constexpr (requires { Hierarchical::TILED_MODE_TILE4; }) {
    hierarchical.tiled_mode = Hierarchical::TILED_MODE_TILE4;
  }
  if constexpr (requires(Hierarchical h) { h.hierarchical_depth_buffer_write_thru_enable; }) {
    hierarchical.hierarchical_depth_buffer_write_thru_enable = from.write_through;
  }
  return absl::OkStatus();
}

template <class Gen>
absl::Status SetDepthTargets(const DepthTargets& targets, DrawState<Gen>& state) {
  using G = typename Gen::Packets;
  DepthPackets<Gen> packets;
  absl::Status status = DescribeDepthTargets<Gen>(targets, packets);
  if (status.ok()) status = PutPacket(state, packets.depth);
  if (status.ok()) status = PutPacket(state, packets.stencil);
  if (status.ok()) status = PutPacket(state, packets.hierarchical);
  if constexpr (requires { typename G::_3DSTATE_CLEAR_PARAMS; }) {
    if (status.ok()) {
      const bool valid = targets.hierarchical.memory.gpu != 0;
      status = PutPacket(state, typename G::_3DSTATE_CLEAR_PARAMS{
                                    .depth_clear_value = valid ? targets.clear_depth : 0,
                                    .depth_clear_value_valid = valid});
    }
  }
  return status;
}

template <class Gen>
absl::Status DescribeDepthOperation(const DepthOperationOptions& from,
                                    typename Gen::Packets::_3DSTATE_WM_HZ_OP& packet) {
  DepthRectangle rectangle;
  absl::Status status = CheckDepthOperation(from, kMostSamples<Gen>, rectangle);
  if (!status.ok()) return status;
  const bool clears = from.operation == DepthOperation::kClear;
  packet.depth_buffer_clear_enable = clears && from.clear_depth;
  packet.stencil_buffer_clear_enable = clears && from.clear_stencil;
  packet.full_surface_depth_and_stencil_clear = clears && rectangle.whole;
  packet.depth_buffer_resolve_enable = from.operation == DepthOperation::kResolveDepth;
  packet.hierarchical_depth_buffer_resolve_enable =
      from.operation == DepthOperation::kResolveHierarchical;
  packet.number_of_multisamples = bits::log2(from.samples);
  packet.sample_mask = 0xffff;
  packet.stencil_clear_value = clears && from.clear_stencil ? from.stencil_value : 0;
  if constexpr (requires { packet.depth_clear_value; }) packet.depth_clear_value = from.depth_value;
  packet.clear_rectangle_x_min = rectangle.x_min;
  packet.clear_rectangle_y_min = rectangle.y_min;
  packet.clear_rectangle_x_max = rectangle.x_max;
  packet.clear_rectangle_y_max = rectangle.y_max;
  return absl::OkStatus();
}

template <class Gen>
absl::Status EmitDepthOperation(const DepthOperationOptions& options, const address& scratch,
                                Batch<Gen>& batch) {
  using Operation = typename Gen::Packets::_3DSTATE_WM_HZ_OP;
  using Pipe = typename Gen::PipeControl;
  Operation operation;
  if (absl::Status s = DescribeDepthOperation<Gen>(options, operation); !s.ok()) return s;
  {
    typename Batch<Gen>::Group group(batch, 2 * Operation::length + Pipe::length);
    group.Emit(operation,
               Pipe{.post_sync_operation = Pipe::POST_SYNC_OPERATION_WRITE_IMMEDIATE_DATA,
                    .address = {scratch.gpu, scratch.buffer, access::write}},
               Operation());
  }
  return batch.status();
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_PIPELINE_DEPTH_PACKETS_H_
