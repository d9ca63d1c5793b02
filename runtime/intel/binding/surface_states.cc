#include "runtime/intel/binding/surface_states.h"

#include "absl/strings/str_format.h"

namespace packsmith::intel {

bool HasIntegers(uint32_t format) {
  switch (format) {
    case SurfaceFormat::R32G32B32A32_SINT:
    case SurfaceFormat::R32G32B32A32_UINT:
    case SurfaceFormat::R32G32B32_SINT:
    case SurfaceFormat::R32G32B32_UINT:
    case SurfaceFormat::R16G16B16A16_SINT:
    case SurfaceFormat::R16G16B16A16_UINT:
    case SurfaceFormat::R32G32_SINT:
    case SurfaceFormat::R32G32_UINT:
    case SurfaceFormat::X32_TYPELESS_G8X24_UINT:
    case SurfaceFormat::R10G10B10A2_UINT:
    case SurfaceFormat::R8G8B8A8_SINT:
    case SurfaceFormat::R8G8B8A8_UINT:
    case SurfaceFormat::R16G16_SINT:
    case SurfaceFormat::R16G16_UINT:
    case SurfaceFormat::R32_SINT:
    case SurfaceFormat::R32_UINT:
    case SurfaceFormat::X24_TYPELESS_G8_UINT:
    case SurfaceFormat::R8G8_SINT:
    case SurfaceFormat::R8G8_UINT:
    case SurfaceFormat::R16_SINT:
    case SurfaceFormat::R16_UINT:
    case SurfaceFormat::L8A8_UINT:
    case SurfaceFormat::L8A8_SINT:
    case SurfaceFormat::R8_SINT:
    case SurfaceFormat::R8_UINT:
    case SurfaceFormat::L8_UINT:
    case SurfaceFormat::L8_SINT:
    case SurfaceFormat::I8_UINT:
    case SurfaceFormat::I8_SINT:
    case SurfaceFormat::R16G16B16_UINT:
    case SurfaceFormat::R16G16B16_SINT:
    case SurfaceFormat::R10G10B10A2_SINT:
    case SurfaceFormat::B10G10R10A2_UINT:
    case SurfaceFormat::B10G10R10A2_SINT:
    case SurfaceFormat::R8G8B8_UINT:
    case SurfaceFormat::R8G8B8_SINT:
      return true;
    default:
      return false;
  }
}

}  // namespace packsmith::intel

namespace packsmith::intel::surface_errors {
namespace {

constexpr const char* kTilings[] = {"linear", "X", "Y", "W", "Yf", "Ys", "4", "64"};
constexpr const char* kModes[] = {"none", "MCS", "MCS with CCS", "CCS_D", "CCS_E", "HiZ"};

}  // namespace

absl::Status Zero(const char* what) {
  return absl::InvalidArgumentError(
      absl::StrFormat("a surface's %s is 0; it must be at least 1", what));
}

absl::Status NotMultipleOf4(const char* what, uint32_t value) {
  return absl::InvalidArgumentError(
      absl::StrFormat("a surface's %s is %d; it must be a multiple of 4", what, value));
}

absl::Status BufferSize(const BufferSurface& surface, uint64_t most) {
  return absl::InvalidArgumentError(
      absl::StrFormat("a buffer of %d bytes has %d entries of %d; there must be 1 to %d",
                      surface.size, surface.size / surface.stride, surface.stride, most));
}

absl::Status NoScratch(const char* generation) {
  return absl::InvalidArgumentError(
      absl::StrFormat("%s has no scratch surfaces, or they are not known", generation));
}

absl::Status ScratchSize(uint32_t per_thread) {
  return absl::InvalidArgumentError(
      absl::StrFormat("scratch of %d bytes for a thread; it must be a multiple of %d, at most %d",
                      per_thread, kScratchSurfaceUnit, kMostSurfaceScratch));
}

absl::Status Samples(uint32_t samples) {
  return absl::InvalidArgumentError(
      absl::StrFormat("a surface's samples are %d; they must be a power of two", samples));
}

absl::Status SampledLevels() {
  return absl::InvalidArgumentError(
      "a surface with several samples has one level: levels must be 1, first_level and least_level "
      "0");
}

absl::Status Layers(uint32_t first, uint32_t count) {
  return absl::InvalidArgumentError(absl::StrFormat(
      "a surface's %d layers from layer %d on end after layer %d, the last possible one", count,
      first, kMostLayers - 1));
}

absl::Status CubeLayers(uint32_t count) {
  return absl::InvalidArgumentError(
      absl::StrFormat("a cube's layers are %d; they must be a multiple of 6", count));
}

absl::Status Alignment(uint32_t horizontal, uint32_t vertical, const char* generation) {
  return absl::InvalidArgumentError(
      absl::StrFormat("%s cannot align images to %d by %d; see ImageSurface::horizontal_alignment",
                      generation, horizontal, vertical));
}

absl::Status NoSuchTiling(SurfaceTiling tiling, const char* generation) {
  const auto index = static_cast<size_t>(tiling);
  return absl::InvalidArgumentError(
      absl::StrFormat("%s has no surfaces of tiling %s", generation,
                      index < std::size(kTilings) ? kTilings[index] : "?"));
}

absl::Status NoSuchMode(AuxiliaryMode mode, const char* generation) {
  const auto index = static_cast<size_t>(mode);
  return absl::InvalidArgumentError(
      absl::StrFormat("%s has no surfaces with auxiliary mode %s", generation,
                      index < std::size(kModes) ? kModes[index] : "?"));
}

absl::Status NoAuxiliarySurface() {
  return absl::InvalidArgumentError(
      "a surface's auxiliary mode needs an auxiliary surface, with memory and pitch_tiles");
}

absl::Status ClearColor(uint32_t component) {
  return absl::InvalidArgumentError(absl::StrFormat(
      "a surface's clear colour has a component %d; on this generation it must be 0 or 1",
      component));
}

}  // namespace packsmith::intel::surface_errors
