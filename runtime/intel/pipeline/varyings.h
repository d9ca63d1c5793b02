// Varyings: the values that the last stage before the rasterizer writes for each vertex, and those
// that a fragment shader reads.
//
//   const Varying written[] = {Location(0), Location(3)};
//   absl::StatusOr<VertexLayout> vertex = MakeVertexLayout(written);
//   FragmentInputs inputs;
//   inputs.Add({.what = Location(3)});
//   inputs.Add({.what = Location(0), .interpolation = Interpolation::kFlat});
//   absl::StatusOr<AttributePlan> plan = PlanAttributes(*vertex, inputs);
//   absl::Status status = AddAttributes(*plan, pipeline);             // varying_packets.h
//
// A vertex in the URB (its VUE) is an array of slots of 16 bytes, four components each. The setup
// back end (SBE) reads a run of them, and makes attributes for the fragment shader: attribute i is
// the i-th input. Of the first 16 attributes each may take any slot of the run, or a constant;
// attributes from 16 on take the slot of their own number, counted from the beginning of the run.
// (PRM, volume "3D Pipeline - Setup Back End", 3DSTATE_SBE and 3DSTATE_SBE_SWIZ.)

#ifndef PACKSMITH_RUNTIME_INTEL_PIPELINE_VARYINGS_H_
#define PACKSMITH_RUNTIME_INTEL_PIPELINE_VARYINGS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace packsmith::intel {

// What a slot holds. Values from kFirstLocation on are locations.
enum class Varying : uint8_t {
  // x: the shading rate of coarse pixels, y: the layer (render target array index), z: the
  // viewport, w: the size of points. Always the first slot.
  kHeader,
  kPosition,
  kClipDistances0to3,
  kClipDistances4to7,
  kPrimitiveId,  // x
  // The two sides of GL: where both are written, the slot of a back color follows its front color.
  kFrontColor0,
  kBackColor0,
  kFrontColor1,
  kBackColor1,
  kFog,
  kPointCoordinate,  // read only: made by the rasterizer
  kPadding,
  kFirstLocation,
};
inline constexpr unsigned kMostLocations = 32;
constexpr Varying Location(unsigned n) {
  return static_cast<Varying>(static_cast<unsigned>(Varying::kFirstLocation) + n);
}
// "location 3", "clip distances 0 to 3"
std::string NameOf(Varying varying);

inline constexpr unsigned kMostSlots = 64;

// A vertex in the URB.
struct VertexLayout {
  std::array<Varying, kMostSlots> slots = {};
  unsigned count = 0;

  std::optional<unsigned> SlotOf(Varying what) const;
  // The size of a vertex's entry, in 64 bytes: what PartitionUrb() takes.
  unsigned entry_units() const { return (count + 3) / 4; }
  // What a following stage reads to have all of it, in 32 bytes.
  unsigned read_length() const { return (count + 1) / 2; }
};

// How locations are placed.
enum class LocationPlacement : uint8_t {
  kPacked,    // those that are written, without gaps
  kByNumber,  // location n has the n-th place, so that stages can be compiled independently
};
// The layout of what a program writes, with the header and the position, which are always there.
// The order is fixed by the hardware up to the clip distances, and then that of Varying. An error
// if a varying is written twice, or cannot be written.
absl::StatusOr<VertexLayout> MakeVertexLayout(
    absl::Span<const Varying> written, LocationPlacement placement = LocationPlacement::kPacked);

// Gives the position this many slots, one after the other: of primitives that are drawn once for
// each view (runtime/intel/state/multiview.h). SlotOf() finds the first one. OutOfRange if there is
// no room.
absl::Status RepeatPosition(unsigned positions, VertexLayout& layout);

enum class Interpolation : uint8_t { kPerspective, kLinear, kFlat };
enum class InterpolationPlace : uint8_t { kPixel, kCentroid, kSample };

struct FragmentInput {
  Varying what = Varying::kFirstLocation;
  Interpolation interpolation = Interpolation::kPerspective;
  InterpolationPlace place = InterpolationPlace::kPixel;
  // Replaced by the place in the point when points are drawn (GL_COORD_REPLACE).
  bool point_sprite = false;
};

inline constexpr unsigned kMostInputs = 32;
inline constexpr unsigned kMostOverrides = 16;  // of the first attributes

// What a fragment shader reads: input i is attribute i of its payload.
struct FragmentInputs {
  std::array<FragmentInput, kMostInputs> inputs = {};
  unsigned count = 0;
  bool two_sided_colors = false;        // kFrontColor takes the back color of back faces
  bool sprite_origin_is_below = false;  // of points: GL's lower left, not the upper left

  // False if there are kMostInputs already.
  bool Add(const FragmentInput& input) {
    if (count == kMostInputs) return false;
    inputs[count++] = input;
    return true;
  }
  absl::Span<const FragmentInput> all() const { return {inputs.data(), count}; }
};

// The mask of barycentric coordinates that the inputs need: FragmentShader::barycentrics. Flat
// inputs need none. With `per_sample` all places are samples.
uint8_t BarycentricsOf(const FragmentInputs& inputs, bool per_sample);

// Where an attribute comes from.
struct AttributeSource {
  enum class Kind : uint8_t {
    kSlot,
    kSlotByFacing,  // this slot, or the next one for back faces
    kConstant,      // 0, 0, 0, 1: nothing writes it
    kPrimitiveId,   // made by the rasterizer
    kPoint,         // the place in the point; 0, 0, 0, 1 in lines and triangles
  };
  Kind kind = Kind::kSlot;
  uint8_t slot = 0;  // of the vertex
};

// What 3DSTATE_SBE and 3DSTATE_SBE_SWIZ say.
struct AttributePlan {
  unsigned count = 0;
  unsigned first_slot = 0;  // of the run; even
  unsigned slots = 2;       // of the run; even
  std::array<AttributeSource, kMostInputs> sources = {};
  // Attributes have sources other than the slots of their own numbers. May be set in any case.
  bool overrides = false;
  uint32_t flat = 0;     // bit i: attribute i is not interpolated
  uint32_t sprites = 0;  // bit i: attribute i is replaced when points are drawn
  bool sprite_origin_is_below = false;
  std::optional<unsigned> primitive_id = {};  // the attribute that the rasterizer makes

  bool IsOwnSlot(unsigned attribute) const {
    const AttributeSource& source = sources[attribute];
    return source.kind == AttributeSource::Kind::kSlot && source.slot == first_slot + attribute;
  }
};

// Errors: an attribute from the 17th on that does not take the slot of its number, or inputs that
// are further apart than a run of 32 slots.
absl::StatusOr<AttributePlan> PlanAttributes(const VertexLayout& vertex,
                                             const FragmentInputs& inputs);

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_PIPELINE_VARYINGS_H_
