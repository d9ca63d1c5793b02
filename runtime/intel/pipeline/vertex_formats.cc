// The formats that the vertex fetch reads: PRM Skylake, volume 5, "Surface Formats", column "Vertex
// Buffer". What each of them consists of is the description's (xml/intel/surface_formats.xml), with
// which tests compare this table.

#include "runtime/intel/pipeline/vertex_formats.h"

#include <algorithm>
#include <iterator>

#include "runtime/intel/binding/surface.h"

namespace packsmith::intel {
namespace {

using F = SurfaceFormat;
using K = VertexFormatKind;

// In the order of their codes.
constexpr VertexFormat kVertexFormats[] = {
    {F::R32G32B32A32_FLOAT, 4, 16, 32, K::kFloat},
    {F::R32G32B32A32_SINT, 4, 16, 32, K::kInteger},
    {F::R32G32B32A32_UINT, 4, 16, 32, K::kInteger},
    {F::R32G32B32A32_UNORM, 4, 16, 32, K::kFloat},
    {F::R32G32B32A32_SNORM, 4, 16, 32, K::kFloat},
    {F::R64G64_FLOAT, 2, 16, 64, K::kFloat},
    {F::R32G32B32A32_SSCALED, 4, 16, 32, K::kFloat},
    {F::R32G32B32A32_USCALED, 4, 16, 32, K::kFloat},
    {F::R32G32B32A32_SFIXED, 4, 16, 32, K::kFloat},
    {F::R64G64_PASSTHRU, 2, 16, 64, K::kPassthrough},
    {F::R32G32B32_FLOAT, 3, 12, 32, K::kFloat},
    {F::R32G32B32_SINT, 3, 12, 32, K::kInteger},
    {F::R32G32B32_UINT, 3, 12, 32, K::kInteger},
    {F::R32G32B32_UNORM, 3, 12, 32, K::kFloat},
    {F::R32G32B32_SNORM, 3, 12, 32, K::kFloat},
    {F::R32G32B32_SSCALED, 3, 12, 32, K::kFloat},
    {F::R32G32B32_USCALED, 3, 12, 32, K::kFloat},
    {F::R32G32B32_SFIXED, 3, 12, 32, K::kFloat},
    {F::R16G16B16A16_UNORM, 4, 8, 16, K::kFloat},
    {F::R16G16B16A16_SNORM, 4, 8, 16, K::kFloat},
    {F::R16G16B16A16_SINT, 4, 8, 16, K::kInteger},
    {F::R16G16B16A16_UINT, 4, 8, 16, K::kInteger},
    {F::R16G16B16A16_FLOAT, 4, 8, 16, K::kFloat},
    {F::R32G32_FLOAT, 2, 8, 32, K::kFloat},
    {F::R32G32_SINT, 2, 8, 32, K::kInteger},
    {F::R32G32_UINT, 2, 8, 32, K::kInteger},
    {F::R32G32_UNORM, 2, 8, 32, K::kFloat},
    {F::R32G32_SNORM, 2, 8, 32, K::kFloat},
    {F::R64_FLOAT, 1, 8, 64, K::kFloat},
    {F::R16G16B16A16_SSCALED, 4, 8, 16, K::kFloat},
    {F::R16G16B16A16_USCALED, 4, 8, 16, K::kFloat},
    {F::R32G32_SSCALED, 2, 8, 32, K::kFloat},
    {F::R32G32_USCALED, 2, 8, 32, K::kFloat},
    {F::R32G32_SFIXED, 2, 8, 32, K::kFloat},
    {F::R64_PASSTHRU, 1, 8, 64, K::kPassthrough},
    {F::B8G8R8A8_UNORM, 4, 4, 8, K::kFloat},
    {F::R10G10B10A2_UNORM, 4, 4, 10, K::kFloat},
    {F::R10G10B10A2_UINT, 4, 4, 10, K::kInteger},
    {F::R8G8B8A8_UNORM, 4, 4, 8, K::kFloat},
    {F::R8G8B8A8_SNORM, 4, 4, 8, K::kFloat},
    {F::R8G8B8A8_SINT, 4, 4, 8, K::kInteger},
    {F::R8G8B8A8_UINT, 4, 4, 8, K::kInteger},
    {F::R16G16_UNORM, 2, 4, 16, K::kFloat},
    {F::R16G16_SNORM, 2, 4, 16, K::kFloat},
    {F::R16G16_SINT, 2, 4, 16, K::kInteger},
    {F::R16G16_UINT, 2, 4, 16, K::kInteger},
    {F::R16G16_FLOAT, 2, 4, 16, K::kFloat},
    {F::B10G10R10A2_UNORM, 4, 4, 10, K::kFloat},
    {F::R11G11B10_FLOAT, 3, 4, 11, K::kFloat},
    {F::R32_SINT, 1, 4, 32, K::kInteger},
    {F::R32_UINT, 1, 4, 32, K::kInteger},
    {F::R32_FLOAT, 1, 4, 32, K::kFloat},
    {F::R32_UNORM, 1, 4, 32, K::kFloat},
    {F::R32_SNORM, 1, 4, 32, K::kFloat},
    {F::R8G8B8A8_SSCALED, 4, 4, 8, K::kFloat},
    {F::R8G8B8A8_USCALED, 4, 4, 8, K::kFloat},
    {F::R16G16_SSCALED, 2, 4, 16, K::kFloat},
    {F::R16G16_USCALED, 2, 4, 16, K::kFloat},
    {F::R32_SSCALED, 1, 4, 32, K::kFloat},
    {F::R32_USCALED, 1, 4, 32, K::kFloat},
    {F::R8G8_UNORM, 2, 2, 8, K::kFloat},
    {F::R8G8_SNORM, 2, 2, 8, K::kFloat},
    {F::R8G8_SINT, 2, 2, 8, K::kInteger},
    {F::R8G8_UINT, 2, 2, 8, K::kInteger},
    {F::R16_UNORM, 1, 2, 16, K::kFloat},
    {F::R16_SNORM, 1, 2, 16, K::kFloat},
    {F::R16_SINT, 1, 2, 16, K::kInteger},
    {F::R16_UINT, 1, 2, 16, K::kInteger},
    {F::R16_FLOAT, 1, 2, 16, K::kFloat},
    {F::R8G8_SSCALED, 2, 2, 8, K::kFloat},
    {F::R8G8_USCALED, 2, 2, 8, K::kFloat},
    {F::R16_SSCALED, 1, 2, 16, K::kFloat},
    {F::R16_USCALED, 1, 2, 16, K::kFloat},
    {F::R8_UNORM, 1, 1, 8, K::kFloat},
    {F::R8_SNORM, 1, 1, 8, K::kFloat},
    {F::R8_SINT, 1, 1, 8, K::kInteger},
    {F::R8_UINT, 1, 1, 8, K::kInteger},
    {F::R8_SSCALED, 1, 1, 8, K::kFloat},
    {F::R8_USCALED, 1, 1, 8, K::kFloat},
    {F::R8G8B8_UNORM, 3, 3, 8, K::kFloat},
    {F::R8G8B8_SNORM, 3, 3, 8, K::kFloat},
    {F::R8G8B8_SSCALED, 3, 3, 8, K::kFloat},
    {F::R8G8B8_USCALED, 3, 3, 8, K::kFloat},
    {F::R64G64B64A64_FLOAT, 4, 32, 64, K::kFloat},
    {F::R64G64B64_FLOAT, 3, 24, 64, K::kFloat},
    {F::R16G16B16_FLOAT, 3, 6, 16, K::kFloat},
    {F::R16G16B16_UNORM, 3, 6, 16, K::kFloat},
    {F::R16G16B16_SNORM, 3, 6, 16, K::kFloat},
    {F::R16G16B16_SSCALED, 3, 6, 16, K::kFloat},
    {F::R16G16B16_USCALED, 3, 6, 16, K::kFloat},
    {F::R16G16B16_UINT, 3, 6, 16, K::kInteger},
    {F::R16G16B16_SINT, 3, 6, 16, K::kInteger},
    {F::R32_SFIXED, 1, 4, 32, K::kFloat},
    {F::R10G10B10A2_SNORM, 4, 4, 10, K::kFloat},
    {F::R10G10B10A2_USCALED, 4, 4, 10, K::kFloat},
    {F::R10G10B10A2_SSCALED, 4, 4, 10, K::kFloat},
    {F::R10G10B10A2_SINT, 4, 4, 10, K::kInteger},
    {F::B10G10R10A2_SNORM, 4, 4, 10, K::kFloat},
    {F::B10G10R10A2_USCALED, 4, 4, 10, K::kFloat},
    {F::B10G10R10A2_SSCALED, 4, 4, 10, K::kFloat},
    {F::B10G10R10A2_UINT, 4, 4, 10, K::kInteger},
    {F::B10G10R10A2_SINT, 4, 4, 10, K::kInteger},
    {F::R64G64B64A64_PASSTHRU, 4, 32, 64, K::kPassthrough},
    {F::R64G64B64_PASSTHRU, 3, 24, 64, K::kPassthrough},
    {F::R8G8B8_UINT, 3, 3, 8, K::kInteger},
    {F::R8G8B8_SINT, 3, 3, 8, K::kInteger},
};

}  // namespace

absl::Span<const VertexFormat> VertexFormats() { return kVertexFormats; }

const VertexFormat* FindVertexFormat(uint32_t format) {
  const VertexFormat* const found = std::lower_bound(
      std::begin(kVertexFormats), std::end(kVertexFormats), format,
      [](const VertexFormat& entry, uint32_t code) { return entry.format < code; });
  return found != std::end(kVertexFormats) && found->format == format ? found : nullptr;
}

}  // namespace packsmith::intel
