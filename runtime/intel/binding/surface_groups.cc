#include "runtime/intel/binding/surface_groups.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace packsmith::intel {

const char* NameOf(SurfaceGroup group) {
  switch (group) {
    case SurfaceGroup::kRenderTarget:
      return "render target";
    case SurfaceGroup::kRenderTargetRead:
      return "render target that is read";
    case SurfaceGroup::kWorkGroups:
      return "number of work groups";
    case SurfaceGroup::kTexture:
      return "texture";
    case SurfaceGroup::kImage:
      return "image";
    case SurfaceGroup::kUniformBuffer:
      return "uniform buffer";
    case SurfaceGroup::kStorageBuffer:
      return "storage buffer";
  }
  return "surface";
}

uint32_t SlotMask::At(uint32_t index) const {
  const auto low = static_cast<uint32_t>(std::popcount(words_[0]));
  const bool upper = index >= low;
  uint64_t word = words_[upper ? 1 : 0];
  for (uint32_t left = upper ? index - low : index; left != 0; --left) word &= word - 1;
  return (upper ? 64 : 0) + static_cast<uint32_t>(std::countr_zero(word));
}

absl::StatusOr<SurfaceTableMap> SurfaceTableMap::Create(const SurfaceUses& uses, uint32_t most) {
  SurfaceTableMap map;
  map.uses_ = uses;
  std::string counts;
  for (unsigned i = 0; i < kSurfaceGroups; ++i) {
    const SlotMask& mask = uses.all[i];
    const char* const name = NameOf(static_cast<SurfaceGroup>(i));
    if (mask.End() > kMostGroupSlots[i]) {
      return absl::InvalidArgumentError(
          absl::StrFormat("a shader uses %s %d; there may be %d, numbered from 0", name,
                          mask.End() - 1, kMostGroupSlots[i]));
    }
    map.first_[i + 1] = map.first_[i] + mask.Count();
    if (mask.Count() != 0) {
      absl::StrAppendFormat(&counts, "%s%d of \"%s\"", counts.empty() ? "" : ", ", mask.Count(),
                            name);
    }
  }
  if (map.size() > most) {
    return absl::InvalidArgumentError(
        absl::StrFormat("a shader uses %d surfaces (%s); a binding table has %d: use fewer, or "
                        "bindless handles",
                        map.size(), counts, most));
  }
  return map;
}

SurfaceSlot SurfaceTableMap::SlotOf(uint32_t index) const {
  unsigned group = 0;
  while (group + 1 < kSurfaceGroups && index >= first_[group + 1]) ++group;
  return {static_cast<SurfaceGroup>(group), uses_.all[group].At(index - first_[group])};
}

absl::Status SurfaceTableMap::Fill(const SurfaceGroupStates& states, uint32_t null_surface,
                                   absl::Span<uint32_t> to) const {
  if (to.size() < size()) {
    return absl::OutOfRangeError(
        absl::StrFormat("a binding table of %d entries; there is room for %d", size(), to.size()));
  }
  uint32_t* at = to.data();
  for (unsigned i = 0; i < kSurfaceGroups; ++i) {
    const absl::Span<const uint32_t> bound = states.all[i];
    const uint32_t end = uses_.all[i].End();
    for (uint32_t slot = 0; slot < end; ++slot) {
      if (uses_.all[i].Has(slot)) *at++ = slot < bound.size() ? bound[slot] : null_surface;
    }
  }
  return absl::OkStatus();
}

}  // namespace packsmith::intel
