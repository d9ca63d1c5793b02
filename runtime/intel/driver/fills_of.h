// Fills, and clears and resolves of depth and stencil, of command buffers of one generation:
// methods of CommandBufferOf.

#ifndef PACKSMITH_RUNTIME_INTEL_DRIVER_FILLS_OF_H_
#define PACKSMITH_RUNTIME_INTEL_DRIVER_FILLS_OF_H_

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "packsmith/pack.h"
#include "runtime/intel/driver/blits.h"
#include "runtime/intel/driver/command_buffer_of.h"

namespace packsmith::intel {

template <class Gen>
template <class F>
bool CommandBufferOf<Gen>::FillBlits(const F& fill, const gpu::Buffer& destination) {
  if (!CanRecord()) return false;
  if (options().engine != Engine::kCopy) {
    return Refuse(absl::UnimplementedError(absl::StrCat(
        "the ", NameOf(options().engine), " engine has no packet that fills images, or more than ",
        kMostStreamerCopyBytes, " bytes; record the fill in a command buffer of Engine::kCopy")));
  }
  const BlitLimits limits = BlitLimitsOf<Gen>();
  // Checked before anything is emitted.
  absl::Status planned =
      PlanFill(fill, limits, [](const Blit&, const FillColor&) { return false; });
  if (!planned.ok()) return Refuse(std::move(planned));
  if (!Order(destination, destination)) return false;
  planned = PlanFill(fill, limits, [&](const Blit& blit, const FillColor& color) {
    return blits_->Fill(blit, color);
  });
  return planned.ok() ? batch_.status().ok() : Refuse(std::move(planned));
}

template <class Gen>
bool CommandBufferOf<Gen>::Fill(const BufferFill& fill) {
  if (!CanRecord()) return false;
  if (absl::Status checked = CheckFill(fill); !checked.ok()) return Refuse(std::move(checked));
  if (fill.size == 0) return true;
  if (options().engine == Engine::kCopy || fill.size > kMostStreamerCopyBytes) {
    return FillBlits(fill, fill.destination);
  }
  if (!Use(fill.destination, CacheDomain::kOtherWrite)) return false;
  const uint64_t to = fill.destination.address + fill.offset;
  for (uint64_t done = 0; done < fill.size; done += 4) {
    if (!batch_.Emit(typename Gen::StoreData{.address = {to + done, fill.destination.handle},
                                             .immediate_data = fill.value})) {
      return false;
    }
  }
  return true;
}

template <class Gen>
bool CommandBufferOf<Gen>::Fill(const ImageFill& fill) {
  if (fill.destination.image == nullptr) {
    return Refuse(absl::InvalidArgumentError("a fill of an image without the image"));
  }
  return FillBlits(fill, fill.destination.image->memory);
}

template <class Gen>
bool CommandBufferOf<Gen>::Operate(const DepthOperationOptions& operation) {
  if (!CanDraw() || !Select(Pipeline::k3D)) return false;
  // The depth cache is written back before and after (PRM, 3DSTATE_WM_HZ_OP).
  constexpr CacheBarrier kDone{.flush = SetOf(CacheDomain::kDepth), .wait = true};
  ++changes_;
  return Track(draws_->targets()) && EmitTracked(kDone) && Check(draws_->Operate(operation)) &&
         EmitTracked(kDone);
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DRIVER_FILLS_OF_H_
