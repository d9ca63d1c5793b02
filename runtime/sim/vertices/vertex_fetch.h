// Vertex fetch: the vertices of a draw as the vertex shader gets them.
//
//   absl::StatusOr<VertexFetch> fetch = VertexFetch::Make(memory, draw);
//   VertexWalk walk(*fetch);
//   while (walk.Next()) {
//     if (walk.vertex().index.restart) continue;
//     fetch->Fetch(walk.vertex());
//     Use(fetch->vue(), fetch->layout());
//   }
//
// Nothing depends on how many vertices a draw has: they are made one at a time, in any order.
//
// Sources: PRM volume 2 (3D pipeline), "Vertex Fetch"; 3DSTATE_VERTEX_ELEMENTS, 3DSTATE_VF_SGVS,
// 3DSTATE_VF. Inferred: an element's bits that lie outside its buffer are zero before they are
// converted, and components that its format lacks keep their defaults.
#ifndef PACKSMITH_RUNTIME_SIM_VERTICES_VERTEX_FETCH_H_
#define PACKSMITH_RUNTIME_SIM_VERTICES_VERTEX_FETCH_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/sim/memory_access.h"
#include "runtime/sim/vertices/primitives.h"
#include "runtime/sim/vertices/read_window.h"
#include "runtime/sim/vertices/vertex_draw.h"

namespace packsmith::sim {

// More than any hardware has.
inline constexpr uint32_t kMostVertexBuffers = 64;
inline constexpr uint32_t kMostVertexElements = 64;

// Where a dword of a vertex comes from.
struct VueDword {
  ComponentSource source = ComponentSource::kNothing;  // kNothing: a hole, not written (Gfx4)
  uint8_t element = 0;
  uint8_t component = 0;
  uint8_t half = 0;  // 1: the upper half of a component of 64 bits
};

// What one position of a draw's sequence of vertices stands for.
struct VertexIndex {
  bool restart = false;    // ends the strip; not a vertex
  uint32_t row = 0;        // of the buffers that advance by vertex
  uint32_t vertex_id = 0;  // the index without the base vertex, or the position; see
                           // VertexDraw::vertex_id_offset
};

struct Vertex {
  uint32_t instance = 0;  // from 0
  uint32_t number = 0;    // position in the instance
  VertexIndex index;
  uint32_t primitive_id = 0;
};

// What was asked of memory that does not exist.
struct FetchProblems {
  uint64_t indices_outside = 0;   // of the index buffer
  uint64_t elements_outside = 0;  // of their buffer, or in a null buffer
  uint64_t unmapped = 0;          // reads of unmapped memory; they give zeros
  uint64_t unmapped_address = 0;  // of the first of them
};

class VertexFetch {
 public:
  // `memory` must outlive this, and stay the same during the draw. InvalidArgument: the draw has
  // an index size other than 1, 2 or 4 bytes, too many buffers or elements, or an element that no
  // hardware has.
  static absl::StatusOr<VertexFetch> Make(const MemoryAccess& memory, VertexDraw draw);

  const VertexDraw& draw() const { return draw_; }
  // The dwords of a vertex.
  absl::Span<const VueDword> layout() const { return layout_; }
  const FetchProblems& problems() const { return problems_; }

  // The position `number`, below draw().vertex_count, of every instance.
  VertexIndex IndexAt(uint32_t number);
  // Memory has changed: nothing that was read before holds.
  void Forget();

  // Reads and converts a vertex; vue() and edge_flag() are of it until the next one.
  void Fetch(const Vertex& vertex);
  absl::Span<const uint32_t> vue() const { return vue_; }
  bool edge_flag() const { return edge_flag_; }

 private:
  // A dword that is not the same in all vertices.
  struct Made {
    uint32_t dword;
    VueDword from;
  };
  // An element that is read, and the dwords of it that are stored.
  struct Step {
    uint32_t element;
    std::optional<uint32_t> step;
    uint32_t first;  // of data_
    uint32_t count;
    std::optional<uint32_t> last_row;  // that its dwords are of; only if it advances by instance
  };

  VertexFetch(const MemoryAccess& memory, VertexDraw draw)
      : memory_(&memory), draw_(std::move(draw)) {}
  absl::Status Check() const;
  void LayOut();
  void Plan();
  uint32_t Constant(ComponentSource source) const;
  uint32_t ReadIndex(uint32_t number);
  // The bytes of an element; zeros where there are none.
  const uint8_t* ReadElement(const VertexElement& element, uint32_t row);
  const uint8_t* ReadMapped(ReadWindow& window, uint32_t space, uint64_t address, uint32_t size,
                            uint64_t most);

  const MemoryAccess* memory_;
  VertexDraw draw_;
  std::vector<VueDword> layout_;
  std::vector<Made> data_;
  std::vector<Made> ids_;
  std::vector<Step> steps_;
  ReadWindow index_window_;
  std::vector<ReadWindow> windows_;  // one for each buffer
  std::vector<uint32_t> vue_;
  bool edge_flag_ = true;
  FetchProblems problems_;
};

// The vertices of a draw in order, instance by instance, with restarts between them.
class VertexWalk {
 public:
  explicit VertexWalk(VertexFetch& fetch) : fetch_(&fetch) {}

  // False after the last one.
  bool Next();
  const Vertex& vertex() const { return vertex_; }
  // The next one will be the first of `instance`.
  void Seek(uint32_t instance);

 private:
  VertexFetch* fetch_;
  Vertex vertex_;
  uint64_t next_ = 0;        // position
  uint64_t instance_ = 0;    // of `next_`
  uint64_t in_strip_ = 0;    // vertices since the last restart
  uint64_t primitives_ = 0;  // of the strips before
};

// The primitives of a draw in order. Their vertices are positions in the instance.
class PrimitiveWalk {
 public:
  // Ends after `most_vertices`, since any number of them may make no primitive.
  PrimitiveWalk(VertexFetch& fetch, uint64_t most_vertices)
      : fetch_(&fetch),
        assembler_(fetch.draw().topology, fetch.draw().assembly),
        left_(most_vertices) {}

  // Null after the last one. Valid until the next call.
  const Primitive* Next();
  // It ended before the last one.
  bool stopped() const { return stopped_; }
  // Of the primitive that Next() returned.
  uint32_t instance() const { return instance_; }
  // Next() will return the first one of `instance`.
  void Seek(uint32_t instance);

 private:
  VertexFetch* fetch_;
  PrimitiveAssembler assembler_;
  uint32_t instance_ = 0;
  uint64_t next_instance_ = 0;
  uint64_t next_ = 0;  // position
  uint64_t left_;
  bool stopped_ = false;
};

// What the statistics of the input assembler (IA_VERTICES_COUNT, IA_PRIMITIVES_COUNT) grow by.
struct DrawCounts {
  uint64_t vertices = 0;  // restarts do not count
  uint64_t primitives = 0;
  bool exact = true;  // false: there were more indices than were allowed to be read
};

// Reads at most `most_indices` indices, and none if the draw cannot have restarts. Copies `fetch`,
// so that what it reads is not in the problems.
DrawCounts CountDraw(VertexFetch fetch, uint64_t most_indices);

// The vertices of a draw that goes on from `start_vertex` until a byte of vertex buffer 0
// (3DPRIM_END_OFFSET): the rows that end at or before it. 0 if the buffer has no pitch. Inferred:
// that a row which ends after it is not drawn.
uint32_t CountVerticesBefore(uint32_t end_offset, uint32_t start_vertex, uint32_t pitch);

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_VERTICES_VERTEX_FETCH_H_
