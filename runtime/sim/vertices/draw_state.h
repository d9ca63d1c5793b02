// The state that vertex fetch has from the packets of a stream, and the draw that a packet makes of
// it. The description says which field is what: pointers to vertices and indices, <element>,
// <step>, <draws>, and `means` (docs/xml.md, Data). No packet is known by name.
//
//   VertexDescription description(tables);
//   VertexState state(description);
//   state.See(container, bytes);  // each packet, in order
//   absl::StatusOr<VertexDraw> draw = state.Draw(container, bytes);
#ifndef PACKSMITH_RUNTIME_SIM_VERTICES_DRAW_STATE_H_
#define PACKSMITH_RUNTIME_SIM_VERTICES_DRAW_STATE_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/decode/fields/fields.h"
#include "runtime/sim/vertices/vertex_draw.h"
#include "runtime/sim/vertices/vertex_fetch.h"
#include "runtime/tables/tables.h"

namespace packsmith::sim {

// What the packets of a description mean to vertex fetch. Made once; the tables must outlive it.
class VertexDescription {
 public:
  explicit VertexDescription(const tables::Tables& tables);
  VertexDescription(const VertexDescription&) = delete;
  VertexDescription& operator=(const VertexDescription&) = delete;

  const tables::Tables& tables() const { return tables_; }
  // Whether a packet of this kind changes the state.
  bool Changes(const tables::Container& container) const {
    return uses_[tables_.IndexOf(container)].changes;
  }

 private:
  friend class VertexState;

  struct Use {
    bool changes = false;
    bool describes_elements = false;  // replaces the list of elements
    bool kept = false;                // expressions of draws refer to its latest packet
  };

  bool IsVertices(uint32_t data) const { return kinds_[data] == Kind::kVertices; }
  bool IsIndices(uint32_t data) const { return kinds_[data] == Kind::kIndices; }
  bool Matters(const tables::Leaf& leaf) const;

  enum class Kind : uint8_t { kOther, kVertices, kIndices };

  tables::Tables tables_;
  std::vector<Kind> kinds_;  // of data
  std::vector<Use> uses_;    // of containers
  decode::ChosenLeaves chosen_;
};

// The numbers of a draw that are not in its packet, but in registers or in memory. They take
// precedence over those in the packet.
struct DrawParameters {
  std::optional<bool> indexed;
  std::optional<uint32_t> start_vertex;
  std::optional<uint32_t> vertex_count;
  std::optional<uint32_t> instance_count;
  std::optional<uint32_t> start_instance;
  std::optional<int32_t> base_vertex;
  std::array<std::optional<uint32_t>, 3> parameters;
};

// Of one context. Cheap to copy.
class VertexState {
 public:
  // `description` must outlive this.
  explicit VertexState(VertexDescription& description) : description_(&description) {}

  // A packet with its addresses in address space `space`, or a structure that one points to (Gfx4-5
  // have the provoking vertices in one). Packets that vertex fetch does not read cost next to
  // nothing.
  void See(const tables::Container& container, absl::Span<const uint8_t> bytes, uint32_t space = 0);

  // What a packet that draws makes vertex fetch do. FailedPrecondition: its numbers are neither in
  // the packet nor in `parameters`, or the topology is not known; InvalidArgument: a vertex element
  // has a format that vertices cannot have.
  absl::StatusOr<VertexDraw> Draw(const tables::Container& container,
                                  absl::Span<const uint8_t> bytes,
                                  const DrawParameters& parameters = {}, uint32_t space = 0);

 private:
  struct Element {
    bool valid = false;
    bool has_format = false;
    uint64_t raw_format = 0;
    VertexElement is;
  };
  // A value that the hardware makes: where it goes.
  struct Generated {
    bool enabled = false;
    uint32_t element = 0;
    uint32_t component = 0;
    ComponentSource source = ComponentSource::kNothing;
  };
  static constexpr uint32_t kGenerated = 5;  // vertex id, instance id, three parameters

  std::optional<uint64_t> Evaluate(uint32_t expression, const decode::Scope& scope) const;
  void SeeMeaning(const tables::Extra& extra, const decode::FieldAt& at, uint64_t raw);
  void SeePointer(const tables::Extra& extra, const decode::FieldAt& at, const decode::Scope& scope,
                  uint64_t raw, uint32_t space, bool keeps);
  void SeeElement(const tables::Element& element, const decode::FieldAt& at,
                  const decode::Scope& scope, uint64_t raw);
  Element* ElementOf(const decode::FieldAt& at);

  VertexDescription* description_;
  std::vector<VertexBuffer> buffers_;
  IndexBuffer indices_ = {.size = 0};
  std::vector<Element> elements_;
  std::array<std::optional<uint32_t>, kMostVertexElements> steps_ = {};
  std::array<uint8_t, kMostVertexElements> enables_ = {};
  bool packed_ = false;
  std::array<Generated, kGenerated> generated_ = {};
  bool cut_sequential_ = false;
  bool vertex_id_offset_ = false;
  std::array<uint32_t, 3> parameters_ = {};
  std::string topology_;  // the name of the value
  AssemblyOptions assembly_;
  std::map<uint32_t, std::vector<uint8_t>> kept_;  // by container
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_VERTICES_DRAW_STATE_H_
