// The places of a varying on its way from the vertex to the fragment shader.
//
//   vertex shader ──► word of its outputs ──► slot ──► coefficient register ──► fragment shader
//          (OutputShape, OutputLayout)             (CoefficientLayout, Binding)
//
// The hardware requires vertex outputs in a certain order (see OutputShape), so that the place of a
// varying depends on its interpolation in the fragment shader. The fragment shader, however, only
// reads coefficient registers, which bindings load from slots. So both shaders can be compiled
// separately: the fragment shader with a CoefficientLayout of its own inputs, the vertex shader
// with the words of its outputs looked up in OutputLayout::WordTable() when it runs. Link() makes
// the bindings. If both are known, OutputLayout::Of() gives the words before the vertex shader is
// compiled.
//
// Nothing here depends on a generation; varying_records.h makes records from it, and reads them.

#ifndef PACKSMITH_RUNTIME_AGX_VARYINGS_H_
#define PACKSMITH_RUNTIME_AGX_VARYINGS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace packsmith::agx {

enum class Interpolation : uint8_t { kSmooth, kFlat, kLinear };
inline constexpr int kInterpolations = 3;

// Varyings of 16 bits are in pairs, two components in a word.
enum class Precision : uint8_t { k32, k16 };

// The location identifies a varying in both shaders: 0 to 63.
inline constexpr unsigned kLocations = 64;
inline constexpr unsigned kMostClipDistances = 16;
inline constexpr unsigned kPositionWords = 4;

// -- Vertex outputs, as numbers ------------------------------------------------------------------

// The content of a word of the vertex outputs.
struct OutputWord {
  enum class Kind : uint8_t { kPosition, kVarying, kPointSize, kLayerViewport, kClipDistance };

  Kind kind = Kind::kPosition;
  Precision precision = Precision::k32;  // of varyings, as is the next
  Interpolation interpolation = Interpolation::kSmooth;
  unsigned index = 0;  // within its group: component of the position, number of a clip distance, …

  friend bool operator==(const OutputWord&, const OutputWord&) = default;
};

// The number of words of each kind that a vertex shader writes. Their order is: position, varyings
// of 32 bits, varyings of 16 bits (both: smooth, flat, linear), point size, layer and viewport in
// one word, clip distances.
struct OutputShape {
  std::array<uint8_t, kInterpolations> words32 = {}, words16 = {};  // by Interpolation
  bool point_size = false;
  bool layer_viewport = false;
  uint8_t clip_distances = 0;
  // Whether slot 1 is Z, since the fragment shader reads it. Does not affect the vertex shader.
  bool z = false;

  unsigned varying_words(Precision precision) const;
  unsigned varying_words() const {
    return varying_words(Precision::k32) + varying_words(Precision::k16);
  }
  unsigned words() const;

  std::optional<OutputWord> At(unsigned word) const;
  std::optional<unsigned> WordOf(const OutputWord& what) const;

  // Slots hold what is interpolated: W, Z if it is read, and all varyings.
  unsigned slots() const { return slots32() + varying_words(Precision::k16); }
  // Those of 32 bits, which come first.
  unsigned slots32() const { return 1u + z + varying_words(Precision::k32); }
  // Nothing for words that are not varyings, and so are not interpolated.
  std::optional<unsigned> SlotOf(unsigned word) const;
  // Nothing for W, Z and slots that do not exist.
  std::optional<unsigned> WordInSlot(unsigned slot) const;

  friend bool operator==(const OutputShape&, const OutputShape&) = default;
};

// -- Vertex outputs, by location -----------------------------------------------------------------

struct Output {
  uint8_t location = 0;
  uint8_t components = 4;  // one more than the highest that is written: 1 to 4
  Precision precision = Precision::k32;
  absl::string_view name = {};  // for messages
};

struct VertexOutputs {
  absl::Span<const Output> varyings = {};  // in any order
  bool point_size = false;
  bool layer_viewport = false;
  unsigned clip_distances = 0;  // the fragment shader reads copies, if any, that are varyings
};

// The source of an input's value. The hardware makes point and barycentric coordinates, without a
// vertex shader; also the primitive ID, unless a vertex shader writes its location.
enum class Source : uint8_t { kVarying, kFragmentZ, kPointCoord, kPrimitiveId, kBarycentric };

struct Input {
  uint8_t location = 0;
  uint8_t first = 0;       // component
  uint8_t components = 4;  // from `first` to the last one that is read
  Interpolation interpolation = Interpolation::kSmooth;  // primitive IDs are flat in any case
  Precision precision = Precision::k32;
  Source source = Source::kVarying;  // not kFragmentZ: see FragmentInputs
  absl::string_view name = {};       // for messages
};

struct FragmentInputs {
  absl::Span<const Input> inputs = {};  // in any order, each location once
  bool reads_z = false;
};

// A component of a varying, or two of them.
struct OutputPlace {
  uint8_t word = 0;
  Precision precision = Precision::k32;
  uint8_t half = 0;  // of the word, for 16 bits: 0 is the lower one

  friend bool operator==(const OutputPlace&, const OutputPlace&) = default;
};
struct OutputComponent {
  uint8_t location = 0;
  uint8_t component = 0;  // the first of two in a pair

  friend bool operator==(const OutputComponent&, const OutputComponent&) = default;
};

class OutputLayout {
 public:
  // Outputs that no input reads count as smooth; with `drop_unread` they have no word, for vertex
  // shaders that are compiled later.
  // InvalidArgument, with the name of the varying, for locations that are listed twice or do not
  // exist, for outputs and inputs of one location that differ in precision, and for more than the
  // hardware counts.
  static absl::StatusOr<OutputLayout> Of(const VertexOutputs& vertex,
                                         const FragmentInputs& fragment, bool drop_unread = false);

  const OutputShape& shape() const { return shape_; }
  // Nothing if it is not written.
  std::optional<OutputPlace> Find(unsigned location, unsigned component) const;
  std::optional<OutputComponent> At(unsigned word) const;
  // The number of components of a location that are written.
  unsigned ComponentsOf(unsigned location) const {
    return location < kLocations ? places_[location].components : 0;
  }

  // For each location the word of its first component, or kNotWritten: the table for a vertex
  // shader that was compiled separately.
  static constexpr uint16_t kNotWritten = 0xffff;
  std::array<uint16_t, kLocations> WordTable() const;

 private:
  struct Place {
    uint8_t word = 0;
    uint8_t components = 0;
    Precision precision = Precision::k32;
  };

  OutputShape shape_;
  std::array<Place, kLocations> places_ = {};
};

// -- Coefficient registers -----------------------------------------------------------------------

// What a coefficient register holds.
struct RegisterUse {
  Source source = Source::kVarying;
  bool w = false;         // the W coordinate; the other members are then unused
  uint8_t location = 0;   // of inputs
  uint8_t component = 0;  // the first of two in a pair

  friend bool operator==(const RegisterUse&, const RegisterUse&) = default;
};

// Where the fragment shader finds its inputs: W first, Z if it is read, then the inputs by
// location. One register holds a component, or a pair of them. Depends on the fragment shader only.
// The source of an input may still change before linking, for example from a varying to the
// coordinates of a point sprite: its registers stay the same.
class CoefficientLayout {
 public:
  static constexpr unsigned kW = 0;  // the register of W

  // InvalidArgument, with the name of the varying.
  static absl::StatusOr<CoefficientLayout> Of(const FragmentInputs& fragment);

  unsigned registers() const { return registers_; }
  bool reads_z() const { return reads_z_; }
  std::optional<unsigned> z() const;
  std::optional<unsigned> Find(unsigned location, unsigned component) const;
  std::optional<RegisterUse> At(unsigned reg) const;

 private:
  friend absl::StatusOr<class Linkage> Link(const OutputLayout&, const FragmentInputs&,
                                            const CoefficientLayout&, const struct LinkOptions&);
  struct Place {
    uint8_t base = 0;        // register
    uint8_t first = 0;       // component
    uint8_t components = 0;  // 0: not read
    Precision precision = Precision::k32;
    Source source = Source::kVarying;
  };
  static unsigned RegistersOf(const Place& place);

  unsigned registers_ = 1;
  bool reads_z_ = false;
  std::array<Place, kLocations> places_ = {};
};

// -- Bindings ------------------------------------------------------------------------------------

enum class Shade : uint8_t { kFlatVertex0, kFlatVertex1, kFlatVertex2, kLinear, kPerspective };

// Loads coefficient registers from slots, both in sequence.
struct Binding {
  Source source = Source::kVarying;
  Shade shade = Shade::kPerspective;
  uint8_t components = 1;  // 1 to 4: slots and registers
  uint8_t base_slot = 0;
  uint8_t base_register = 0;

  friend bool operator==(const Binding&, const Binding&) = default;
};

// The most bindings that a fragment shader can have.
inline constexpr unsigned kMostBindings = 127;

struct LinkOptions {
  uint8_t provoking_vertex = 0;  // whose value flat inputs have: 0, 1 or 2
  // Inputs that no vertex shader writes read W, that is, an undefined value. Otherwise they are an
  // error.
  bool allow_unwritten = false;
};

// Connects two shaders that were compiled separately.
class Linkage {
 public:
  // With Z, if the fragment shader reads it.
  const OutputShape& shape() const { return shape_; }
  unsigned registers() const { return registers_; }
  absl::Span<const Binding> bindings() const { return {bindings_.data(), count_}; }
  unsigned provoking_vertex() const { return provoking_vertex_; }
  // What the hardware must provide.
  bool primitive_id() const { return primitive_id_; }
  bool barycentrics() const { return barycentrics_; }

 private:
  friend absl::StatusOr<Linkage> Link(const OutputLayout&, const FragmentInputs&,
                                      const CoefficientLayout&, const LinkOptions&);
  bool Bind(const Binding& binding);

  OutputShape shape_;
  unsigned registers_ = 0;
  unsigned count_ = 0;
  uint8_t provoking_vertex_ = 0;
  bool primitive_id_ = false, barycentrics_ = false;
  std::array<Binding, kMostBindings> bindings_;
};

// `coefficients` must be those of `fragment`, and `outputs` laid out for it. InvalidArgument, with
// the name of the varying, for inputs that are not written, or whose interpolation or precision
// differs from that of the outputs, and for more bindings or slots than there are.
absl::StatusOr<Linkage> Link(const OutputLayout& outputs, const FragmentInputs& fragment,
                             const CoefficientLayout& coefficients,
                             const LinkOptions& options = {});
// For shaders that are both known.
absl::StatusOr<Linkage> Link(const VertexOutputs& vertex, const FragmentInputs& fragment,
                             const LinkOptions& options = {});

// Which binding loads a register, and from which slot.
struct BoundRegister {
  Binding binding;
  unsigned component = 0;
  unsigned slot = 0;
};
std::optional<BoundRegister> FindRegister(absl::Span<const Binding> bindings, unsigned reg);
// The first register that is loaded from a slot.
std::optional<unsigned> FindSlot(absl::Span<const Binding> bindings, unsigned slot);

}  // namespace packsmith::agx

#endif  // PACKSMITH_RUNTIME_AGX_VARYINGS_H_
