#include "runtime/agx/iterate.h"

#include <cmath>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "packsmith/pack.h"

namespace packsmith::agx {
namespace {

double AsFloat(uint32_t bits) { return __builtin_bit_cast(float, bits); }
uint32_t AsBits(double value) { return bits::real(static_cast<float>(value)); }

// Where a vertex's output has its position: x, y, z, w.
constexpr unsigned kZ = 2, kW = 3;

class Primitive {
 public:
  Primitive(absl::Span<const OutputWords> vertices, const Fragment& fragment)
      : vertices_(vertices), fragment_(fragment) {}

  // The sum of value(vertex), weighted by shares.
  template <class F>
  double Linear(const F& value) const {
    double sum = 0;
    for (size_t i = 0; i < vertices_.size(); ++i) sum += fragment_.shares[i] * value(i);
    return sum;
  }
  template <class F>
  double Perspective(const F& value) const {
    return Linear([&](size_t i) { return value(i) / W(i); }) / OneByW();
  }
  template <class F>
  double As(Shade shade, const F& value) const {
    return shade == Shade::kLinear ? Linear(value) : Perspective(value);
  }
  double OneByW() const {
    return Linear([&](size_t i) { return 1 / W(i); });
  }
  double Z() const {
    const double z = Linear([&](size_t i) { return AsFloat(vertices_[i][kZ]) / W(i); });
    return z * fragment_.z_scale + fragment_.z_translate;
  }

 private:
  double W(size_t vertex) const { return AsFloat(vertices_[vertex][kW]); }

  absl::Span<const OutputWords> vertices_;
  const Fragment& fragment_;
};

// The vertex that a flat varying comes from, or -1.
int FlatVertex(Shade shade) {
  switch (shade) {
    case Shade::kFlatVertex0:
      return 0;
    case Shade::kFlatVertex1:
      return 1;
    case Shade::kFlatVertex2:
      return 2;
    case Shade::kLinear:
    case Shade::kPerspective:
      break;
  }
  return -1;
}

}  // namespace

absl::StatusOr<uint32_t> Iterate(const OutputShape& shape, absl::Span<const Binding> bindings,
                                 unsigned reg, absl::Span<const OutputWords> vertices,
                                 const Fragment& fragment) {
  const std::optional<BoundRegister> bound = FindRegister(bindings, reg);
  if (!bound) {
    return absl::InvalidArgumentError(
        absl::StrFormat("no binding loads coefficient register %d", reg));
  }
  if (vertices.empty() || vertices.size() > 3) {
    return absl::InvalidArgumentError(
        absl::StrFormat("a primitive has 1 to 3 vertices, not %d", vertices.size()));
  }
  for (const OutputWords& vertex : vertices) {
    if (vertex.size() < shape.words()) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "a vertex has %d words, but its shader writes %d", vertex.size(), shape.words()));
    }
  }
  const Primitive primitive(vertices, fragment);
  const Shade shade = bound->binding.shade;
  switch (bound->binding.source) {
    case Source::kFragmentZ:
      return AsBits(primitive.Z());
    case Source::kPointCoord:
      return AsBits(bound->component < 2 ? fragment.point_coord[bound->component] : 0);
    case Source::kPrimitiveId:
      return fragment.primitive_id;
    case Source::kBarycentric:
      return AsBits(
          primitive.As(shade, [&](size_t i) { return i == bound->component ? 1.0 : 0.0; }));
    case Source::kVarying:
      break;
  }
  if (bound->slot == 0) return AsBits(primitive.OneByW());
  const std::optional<unsigned> word = shape.WordInSlot(bound->slot);
  if (!word) {
    if (shape.z && bound->slot == 1) return AsBits(primitive.Z());
    return absl::InvalidArgumentError(absl::StrFormat(
        "coefficient register %d is loaded from slot %d, but there are only %d slots", reg,
        bound->slot, shape.slots()));
  }
  if (const int flat = FlatVertex(shade); flat >= 0) {
    if (static_cast<size_t>(flat) >= vertices.size()) {
      return absl::InvalidArgumentError(
          absl::StrFormat("coefficient register %d is that of vertex %d, but the primitive has %d",
                          reg, flat, vertices.size()));
    }
    return vertices[static_cast<size_t>(flat)][*word];
  }
  if (bound->slot < shape.slots32()) {
    return AsBits(primitive.As(shade, [&](size_t i) { return AsFloat(vertices[i][*word]); }));
  }
  uint32_t pair = 0;
  for (unsigned half = 0; half < 2; ++half) {
    const double value = primitive.As(shade, [&](size_t i) {
      return double{bits::half_value(vertices[i][*word] >> (16 * half) & 0xffff)};
    });
    pair |= bits::half(static_cast<float>(value)) << (16 * half);
  }
  return pair;
}

}  // namespace packsmith::agx
