// Binding tables as OpenGL drivers make them: a shader uses some slots of each kind of surface, and
// its table has just these, group after group.
//
//   SurfaceUses uses;                                    // what the compiler found
//   uses[SurfaceGroup::kRenderTarget].SetFirst(2);
//   uses[SurfaceGroup::kTexture].Set(0).Set(5);
//   absl::StatusOr<SurfaceTableMap> map = SurfaceTableMap::Create(uses);
//   map->IndexOf(SurfaceGroup::kTexture, 5);             // 3: for the shader's messages
//   map->SlotOf(3);                                      // {kTexture, 5}
//   SurfaceGroupStates states;                           // what is bound: all slots, used or not
//   states[SurfaceGroup::kTexture] = textures;
//   uint32_t table[kMostTableSurfaces];
//   absl::Status status = map->Fill(states, null_surface, absl::MakeSpan(table));
//
// Vulkan's way, from descriptor sets, is in descriptor_placement.h.

#ifndef PACKSMITH_RUNTIME_INTEL_BINDING_SURFACE_GROUPS_H_
#define PACKSMITH_RUNTIME_INTEL_BINDING_SURFACE_GROUPS_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/intel/binding/table_limits.h"

namespace packsmith::intel {

// In the order of their entries. Render targets come first: messages number them from 0.
enum class SurfaceGroup : uint8_t {
  kRenderTarget,      // all that are bound, used or not: blend states count the same
  kRenderTargetRead,  // the same as textures, for shaders that read what they draw over
  kWorkGroups,        // the number of groups of a dispatch
  kTexture,
  kImage,
  kUniformBuffer,
  kStorageBuffer,
};
inline constexpr unsigned kSurfaceGroups = 7;

// Slots of each group: the numbers of Mesa's iris.
inline constexpr std::array<uint32_t, kSurfaceGroups> kMostGroupSlots = {8, 8, 1, 128, 64, 16, 32};

// For messages: "texture".
const char* NameOf(SurfaceGroup group);

// Something for each group.
template <class T>
struct PerSurfaceGroup {
  std::array<T, kSurfaceGroups> all = {};

  constexpr T& operator[](SurfaceGroup group) { return all[static_cast<size_t>(group)]; }
  constexpr const T& operator[](SurfaceGroup group) const {
    return all[static_cast<size_t>(group)];
  }
  friend bool operator==(const PerSurfaceGroup&, const PerSurfaceGroup&) = default;
};

// A set of slots: numbers below 128.
class SlotMask {
 public:
  static constexpr uint32_t kMost = 128;

  constexpr SlotMask() = default;
  constexpr explicit SlotMask(uint64_t low, uint64_t high = 0) : words_{low, high} {}

  // Numbers from 128 on are ignored.
  constexpr SlotMask& Set(uint32_t slot) {
    if (slot < kMost) words_[slot / 64] |= uint64_t{1} << slot % 64;
    return *this;
  }
  constexpr SlotMask& SetFirst(uint32_t count) {
    for (uint32_t slot = 0; slot < count && slot < kMost; ++slot) Set(slot);
    return *this;
  }
  constexpr bool Has(uint32_t slot) const {
    return slot < kMost && (words_[slot / 64] >> slot % 64 & 1) != 0;
  }
  constexpr uint32_t Count() const {
    return static_cast<uint32_t>(std::popcount(words_[0]) + std::popcount(words_[1]));
  }
  // Of those below `slot`, which is at most 128.
  constexpr uint32_t CountBelow(uint32_t slot) const {
    const auto below = [](uint64_t word, uint32_t bits) {
      return bits >= 64 ? word : word & ((uint64_t{1} << bits) - 1);
    };
    return static_cast<uint32_t>(std::popcount(below(words_[0], slot)) +
                                 (slot <= 64 ? 0 : std::popcount(below(words_[1], slot - 64))));
  }
  // The slot with `index` others below it; there must be one.
  uint32_t At(uint32_t index) const;
  // One more than the highest; 0 if there is none.
  constexpr uint32_t End() const {
    return words_[1] != 0 ? 128 - static_cast<uint32_t>(std::countl_zero(words_[1]))
                          : 64 - static_cast<uint32_t>(std::countl_zero(words_[0]));
  }

  friend bool operator==(const SlotMask&, const SlotMask&) = default;

 private:
  std::array<uint64_t, 2> words_ = {};
};

using SurfaceUses = PerSurfaceGroup<SlotMask>;
// Offsets of the surface states of each group's slots, from the base of surface states.
using SurfaceGroupStates = PerSurfaceGroup<absl::Span<const uint32_t>>;

struct SurfaceSlot {
  SurfaceGroup group = {};
  uint32_t slot = 0;

  friend bool operator==(const SurfaceSlot&, const SurfaceSlot&) = default;
};

// A plain value.
class SurfaceTableMap {
 public:
  static constexpr uint32_t kUnused = ~uint32_t{0};

  SurfaceTableMap() = default;  // of a shader without surfaces
  // InvalidArgument for a slot that its group does not have (kMostGroupSlots), and if more than
  // `most` slots are used, which lists how many each group uses.
  static absl::StatusOr<SurfaceTableMap> Create(const SurfaceUses& uses,
                                                uint32_t most = kMostTableSurfaces);

  uint32_t size() const { return first_[kSurfaceGroups]; }  // entries
  const SurfaceUses& uses() const { return uses_; }
  // The entries of a group.
  uint32_t first(SurfaceGroup group) const { return first_[static_cast<size_t>(group)]; }
  uint32_t count(SurfaceGroup group) const {
    return first_[static_cast<size_t>(group) + 1] - first(group);
  }

  // The entry of a slot; kUnused if it has none.
  uint32_t IndexOf(SurfaceGroup group, uint32_t slot) const {
    if (!uses_[group].Has(slot)) return kUnused;
    return first(group) + uses_[group].CountBelow(slot);
  }
  // The slot of an entry, which must be less than size().
  SurfaceSlot SlotOf(uint32_t index) const;

  // Writes the table: size() entries. Used slots beyond those of `states` get null_surface. Nothing
  // is written on an error: OutOfRange if `to` is too small.
  absl::Status Fill(const SurfaceGroupStates& states, uint32_t null_surface,
                    absl::Span<uint32_t> to) const;

 private:
  SurfaceUses uses_;
  std::array<uint32_t, kSurfaceGroups + 1> first_ = {};
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BINDING_SURFACE_GROUPS_H_
